/* The decode VM's state, shared by its loop (decode_vm.c), its kernels (decode_*.c) and its entry (decode.c).
 *
 * Private to bjvm. One object per call, on the caller's stack; nothing in it is shared by threads.
 *
 * The window: the text is read in place until fewer than BJVMI_DECODE_PAD bytes are left; then the rest is
 * copied once into `tail`, which has as many zero bytes behind it. So from every token boundary
 * (bjvmi_decode_check) that many bytes may be read without a bounds check, and nothing beyond the text ever
 * is. A zero byte ends every token; at `end` it means truncation.
 */
#ifndef BJVM_DECODE_H_
#define BJVM_DECODE_H_

#include "bjvm/codec.h"
#include "num.h"
#include "plan.h"
#include "short_string.h"
#include "upb/message/map.h"
#include "upb_layout.h"

enum {
  BJVMI_DECODE_PAD = 48,    /* readable bytes at a token boundary */
  BJVMI_DECODE_LEARN = 16,  /* look-ups after which the order of members is learned: short texts do without */
  BJVMI_DECODE_ORDERS = 64, /* pairs of members remembered */
  BJVMI_DECODE_EXTENSIONS = 32, /* extension names of open objects remembered without scratch */
#ifdef BJVM_SIZE_SMALL
  BJVMI_DECODE_WAITING = 0,
#else
  BJVMI_DECODE_WAITING = 48, /* entries of open maps that wait to be put in */
#endif
};

typedef enum bjvmi_decode_frame_kind {
  BJVMI_DECODE_TOP,
  BJVMI_DECODE_MESSAGE, /* an object with a message's members; at: the message */
  BJVMI_DECODE_ARRAY,   /* an array; at: the upb_Array */
  BJVMI_DECODE_MAP,     /* an object with a map's entries; at: the upb_Map, NULL until it has some */
  BJVMI_DECODE_ANY_VALUE, /* an Any around a well-known type: members @type and value; at: the bjvmi_decode_any */
  BJVMI_DECODE_SKIP_OBJECT,
  BJVMI_DECODE_SKIP_ARRAY,
} bjvmi_decode_frame_kind;

/* An Any being read; in scratch. */
typedef struct bjvmi_decode_any {
  upb_Message *any; /* the target, its plan */
  const bjvm_plan *any_plan;
  const bjvm_plan *plan; /* of the content */
  upb_Message *content;  /* in scratch */
  upb_Arena *arena;      /* the arena outside */
  upb_StringView url;    /* in the arena outside */
  bool type_seen;
  bool value_seen;
  bool field_seen; /* a field of the content with the JSON name @type */
} bjvmi_decode_any;

/* Which part of an object or array a failure is about, for the field path. */
typedef enum bjvmi_place {
  BJVMI_PLACE_NONE, /* itself */
  BJVMI_PLACE_NEXT, /* ARRAY: the element that comes behind those stored */
  BJVMI_PLACE_LAST, /* ARRAY: the element stored last; MESSAGE, MAP: the member or entry of pc or key */
} bjvmi_place;

typedef struct bjvmi_decode_frame {
  const bjvmi_word *pc; /* MESSAGE: the member being read; ARRAY, MAP: the field's word */
  const bjvm_plan
      *plan; /* MESSAGE: its plan; ARRAY: the elements' plan or that of pc; MAP: the entry's plan */
  void *at;
  union {
    struct {
      uint64_t seen;         /* members used in this text, the first 64 */
      uint64_t nulls;        /* members of oneofs among them that were null */
      uint64_t *wide;        /* both for the others: as many words of each; or NULL */
      bjvmi_decode_any *any; /* the Any whose content this is, or NULL */
    } message;
    struct {
      size_t first; /* size of the array before this text */
    } array;
    struct {
      upb_MessageValue key; /* of the entry being read */
      void *slot;           /* where the map hangs */
      upb_Map *merge; /* entries go into `at` first and in the end into this map, which had some; or NULL */
    } map;
  } u;
  uint16_t first; /* MESSAGE: where its names start in vm->extensions; MAP: its entries in vm->waiting */
  uint8_t kind;
  uint8_t place; /* bjvmi_place */
} bjvmi_decode_frame;

/* What a field held before a text under BJVM_DECODE_LAST_WINS touched it; in scratch. */
typedef struct bjvmi_decode_undo {
  struct bjvmi_decode_undo *next;
  void *msg;
  const bjvmi_word *word; /* the field; of a oneof: the member that was set */
  upb_MessageValue value;
  size_t size; /* of an array */
} bjvmi_decode_undo;

/* A member that once followed another, and was not found by guessing forward. */
typedef struct bjvmi_decode_order {
  const bjvmi_word *before; /* END: the member was the first */
  const bjvmi_word *member;
  bool derived; /* the text had its .proto name, which is derived */
} bjvmi_decode_order;

/* An entry of an open map that is read, and not yet in the map. */
typedef struct bjvmi_decode_entry {
  upb_MessageValue key;
  upb_MessageValue value;
  const char *at; /* the opening quote of the key */
} bjvmi_decode_entry;

typedef struct bjvmi_type_notes bjvmi_type_notes; /* decode_wkt.c: where objects have their @type */

typedef struct bjvmi_decoder {
  uintptr_t safe;  /* at a token boundary p <= safe, or the window moves */
  const char *end; /* of the window */
  size_t tail_at;  /* offset in the text of what `tail` holds */
  const char *json;
  size_t size;
  const bjvmi_kernels *kernels;
  upb_Arena *arena;
  const char *key; /* the opening quote of the name or map key read last */
  bjvmi_decode_frame *frames;
  bjvmi_decode_frame *frame_end;   /* one past the deepest allowed frame */
  bjvmi_decode_frame *frame_limit; /* what wide seen bits, growing down from frame_end, have left */
  size_t elements_left;
  size_t memory_left;
  /* Words below this index take one look at `seen`: 64, none under BJVM_DECODE_LAST_WINS. */
  size_t plain_members;
  /* From here to waiting_count: zero at first, and cleared together. */
  upb_Arena *scratch;
  const bjvm_registry *registry;
  uint32_t flags;
  bjvm_status status;
  const char *fault;         /* the offending byte, when status is set; then */
  size_t fault_at;           /* its offset in the text */
  const char *expected;      /* what was wanted, for the report; static text or NULL */
  bjvmi_decode_frame *frame; /* the current one when a run fails */
  /* The text before this offset has been looked at for the sizes of maps: by commas, by braces. */
  size_t guessed[2];
  bjvmi_decode_undo *undo;
  bjvmi_type_notes *notes;
  const struct bjvm_extension **extensions; /* names of extensions used in open objects; NULL: never one */
  uint32_t extension_count;
  uint32_t extension_capacity;
  /* Names that had to be looked up, up to BJVMI_DECODE_LEARN; from then on `orders` is in use. */
  uint32_t misses;
  size_t waiting_count;
#ifndef BJVM_SIZE_SMALL
  bjvmi_decode_order orders[BJVMI_DECODE_ORDERS];
#endif
  /* Entries of a map inside another stand behind those of that; behind all of them, the one being read. */
  bjvmi_decode_entry waiting[BJVMI_DECODE_WAITING + 1];
  bool extension_made; /* the entry of the extension met last was not there before */
  const struct bjvm_extension *inline_extensions[BJVMI_DECODE_EXTENSIONS];
  char tail[2 * BJVMI_DECODE_PAD];
  bjvmi_decode_frame inline_frames[BJVM_DEFAULT_MAX_DEPTH + 1];
} bjvmi_decoder;

_Static_assert((int)BJVMI_DECODE_PAD > (int)BJVMI_NUM_PLAIN && (int)BJVMI_DECODE_PAD > BJVMI_SHORT_MAX + 1,
               "a number or a short string in its quotes is looked at without asking");

/* What reading a value came to. */
typedef enum bjvmi_read {
  BJVMI_READ_FAIL,  /* status and fault are set */
  BJVMI_READ_VALUE, /* stored */
  BJVMI_READ_NULL,  /* null: leave the target */
  BJVMI_READ_DROP,  /* an unknown enum name under ignore_unknown: leave the target */
} bjvmi_read;

/* -- decode.c: failures, window ------------------------------------------------------------------------- */

/* Sets the failure; at the end of the text it becomes TRUNCATED. Returns NULL. */
const char *bjvmi_decode_fail(bjvmi_decoder *vm, bjvm_status status, const char *fault, const char *expected);
/* The same at the name or map key read last. */
const char *bjvmi_decode_fail_key(bjvmi_decoder *vm, bjvm_status status);
/* The same for an unexpected byte: SYNTAX or TRUNCATED. */
const char *bjvmi_decode_unexpected(bjvmi_decoder *vm, const char *p, const char *expected);
/* Moves the window to the tail; returns p there. */
const char *bjvmi_decode_refill(bjvmi_decoder *vm, const char *p);
/* Skips white space (the byte at p is some, or a control character). */
const char *bjvmi_decode_blanks(bjvmi_decoder *vm, const char *p);

/* The offset in the text of a place in it or in the tail. */
static inline size_t bjvmi_decode_offset(const bjvmi_decoder *vm, const char *p) {
  uintptr_t in_tail = (uintptr_t)p - (uintptr_t)vm->tail;
  if (in_tail < sizeof vm->tail) return vm->tail_at + in_tail;
  return (size_t)(p - vm->json);
}

/* A token boundary. */
static inline const char *bjvmi_decode_check(bjvmi_decoder *vm, const char *p) {
  return __builtin_expect((uintptr_t)p > vm->safe, 0) ? bjvmi_decode_refill(vm, p) : p;
}

/* A token boundary where white space may stand. */
static inline const char *bjvmi_decode_token(bjvmi_decoder *vm, const char *p) {
  p = bjvmi_decode_check(vm, p);
  return __builtin_expect((uint8_t)*p <= ' ', 0) ? bjvmi_decode_blanks(vm, p) : p;
}

/* Counts memory of the message; false with status set at the limit. */
static inline bool bjvmi_decode_charge(bjvmi_decoder *vm, size_t size) {
  size = (size + 7) & ~(size_t)7; /* as an arena rounds */
  if (__builtin_expect(size > vm->memory_left, 0)) {
    vm->status = BJVM_ARENA_LIMIT;
    return false;
  }
  vm->memory_left -= size;
  return true;
}

/* Memory of the message; NULL with status set. */
static inline void *bjvmi_decode_alloc(bjvmi_decoder *vm, size_t size) {
  if (!bjvmi_decode_charge(vm, size)) return NULL;
  void *p = upb_Arena_Malloc(vm->arena, size);
  if (__builtin_expect(!p, 0)) {
    vm->status = BJVM_OUT_OF_MEMORY;
    vm->memory_left +=
        (size + 7) & ~(size_t)7; /* the slow twin asks again, and must not find the limit instead */
  }
  return p;
}

/* Copies the n <= BJVMI_SHORT_MAX bytes at `from`, where 32 can be read, to `place`, the arena's last allocation.
 * Where the arena has the room it copies 32 whatever n is, as a loop that n ends costs a misprediction a string;
 * what lies behind the allocation belongs to nobody yet. */
static inline void bjvmi_decode_copy_short(bjvmi_decoder *vm, char *place, const char *from, size_t n) {
  if (BJVMI_SHORT_STRINGS && !BJVMI_CHECKED_READS &&
      __builtin_expect(bjvmi_upb_arena_room(vm->arena) >= 32, 1)) {
    memcpy(place, from, 32);
    return;
  }
  bjvmi_short_copy(place, from, n); /* an arena's blocks are multiples of 8 bytes */
}

/* The size <= BJVMI_SHORT_MAX bytes of a string at p, plain ASCII, into an upb_StringView; false: no memory. */
static inline __attribute__((always_inline)) bool bjvmi_decode_plain_view(bjvmi_decoder *vm, const char *p,
                                                                          size_t size, void *dst) {
  if (__builtin_expect(vm->flags & BJVM_DECODE_ALIAS, 0)) {
    bjvmi_upb_set_string(dst, vm->json + bjvmi_decode_offset(vm, p), size);
  } else {
    char *copy = (char *)bjvmi_decode_alloc(vm, size);
    if (__builtin_expect(!copy, 0)) return false;
    bjvmi_decode_copy_short(vm, copy, p, size);
    bjvmi_upb_set_string(dst, copy, size);
  }
  return true;
}

/* A string token of up to BJVMI_SHORT_MAX bytes of plain ASCII into an upb_StringView; NULL where
 * bjvmi_decode_long_string must look, or report that there is no memory. */
static inline __attribute__((always_inline)) const char *bjvmi_decode_plain_string(bjvmi_decoder *vm,
                                                                                   const char *p, void *dst) {
  size_t length = bjvmi_short_length(p + 1);
  if (__builtin_expect(length > BJVMI_SHORT_MAX, 0)) return NULL;
  return __builtin_expect(bjvmi_decode_plain_view(vm, p + 1, length, dst), 1) ? p + length + 2 : NULL;
}

/* Memory that need not outlive the call: scratch, or else the message's, counted. NULL with status set. */
static inline char *bjvmi_decode_temporary(bjvmi_decoder *vm, size_t size) {
  if (!vm->scratch) return (char *)bjvmi_decode_alloc(vm, size);
  char *p = (char *)upb_Arena_Malloc(vm->scratch, size);
  if (!p) vm->status = BJVM_OUT_OF_MEMORY;
  return p;
}

static inline upb_Message *bjvmi_decode_new(bjvmi_decoder *vm, const upb_MiniTable *table) {
  if (!bjvmi_decode_charge(vm, bjvmi_upb_message_size(table))) return NULL;
  upb_Message *m = bjvmi_upb_new(table, vm->arena);
  if (__builtin_expect(!m, 0)) vm->status = BJVM_OUT_OF_MEMORY;
  return m;
}

/* Counts an element or entry; false with status set at the limit. */
static inline bool bjvmi_decode_count(bjvmi_decoder *vm) {
  if (__builtin_expect(vm->elements_left-- == 0, 0)) {
    vm->status = BJVM_ELEMENT_LIMIT;
    return false;
  }
  return true;
}

static inline bool bjvmi_decode_is_null(const char *p) { return memcmp(p, "null", 4) == 0; }

/* The plan that a message-shaped word refers to; NULL with status set. */
static inline const bjvm_plan *bjvmi_decode_sub(bjvmi_decoder *vm, const bjvm_plan *plan,
                                                const bjvmi_word *w) {
  const bjvm_plan *sub = bjvmi_slot_load(&plan->slots[w->sub]);
  if (__builtin_expect(sub == NULL, 0)) sub = bjvmi_plan_link(plan, w, &vm->status);
  return sub;
}

/* -- decode_vm.c ---------------------------------------------------------------------------------------- */

/* Reads one value into `msg`; returns the place behind it, or NULL with status, fault and frame set. */
const char *bjvmi_decode_run(bjvmi_decoder *vm, const bjvm_plan *plan, upb_Message *msg, const char *p);

/* -- decode_scalar.c: values. Each advances *p behind the value; p is at its first byte, at a token boundary. --- */

/* Any scalar of w's kind into 16 bytes at `dst`: the slow twin of the loop's inline paths. */
bjvmi_read bjvmi_decode_scalar(bjvmi_decoder *vm, const char **p, const bjvm_plan *plan, const bjvmi_word *w,
                               void *dst);
/* A string token into an upb_StringView. Return the place behind it, or NULL. */
const char *bjvmi_decode_string(bjvmi_decoder *vm, const char *p, void *dst);
const char *bjvmi_decode_long_string(bjvmi_decoder *vm, const char *p, void *dst);
const char *bjvmi_decode_bytes(bjvmi_decoder *vm, const char *p, void *dst);
/* A string token unescaped into `buffer` if it fits (then *text points there or into the window and *size is
 * set); a longer one gives *text NULL. UTF-8 is checked. */
const char *bjvmi_decode_short(bjvmi_decoder *vm, const char *p, char *buffer, size_t capacity,
                               const char **text, size_t *size);
/* A number token without quotes, of JSON's grammar. Returns the place behind it, or NULL. */
const char *bjvmi_decode_bare_number(bjvmi_decoder *vm, const char *p, bjvmi_num *num);
/* Checks the inside [p, q) of a string token: UTF-8 and escapes. */
bool bjvmi_decode_check_string(bjvmi_decoder *vm, const char *p, const char *q, unsigned flags);
/* Finds the closing quote of a string token whose opening quote is at p; NULL with status set. */
const char *bjvmi_decode_close_quote(bjvmi_decoder *vm, const char *p, unsigned *flags);

/* -- decode_key.c --------------------------------------------------------------------------------------- */

/* What a member's name turned out to be. */
typedef enum bjvmi_key_result {
  BJVMI_KEY_FAIL,
  BJVMI_KEY_FIELD,     /* one of the message's own words */
  BJVMI_KEY_EXTENSION, /* an extension's word, with its plan and the place of its value */
  BJVMI_KEY_SKIPPED,   /* the member was read over, or was null */
} bjvmi_key_result;

/* A member whose name has been read. */
typedef struct bjvmi_member {
  const char *p; /* behind the colon; SKIPPED: behind the value */
  const bjvmi_word *word;
  const bjvm_plan *plan;
  void *msg;
  bool derived; /* FIELD: found by a .proto name that is derived */
} bjvmi_member;

/* Reads a name and its colon by the tables; p is at the opening quote. */
bjvmi_key_result bjvmi_decode_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p,
                                  bjvmi_member *member);
/* A member is used, in a case the loop does not settle itself: false if it was used before and may not be
 * again, or, with status OK, if it is no member: a field may have the name @type, which in an Any is the
 * key. Under last_wins remembers what the field holds, or puts that back. */
bool bjvmi_decode_use(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w);
/* Among the seen bits the one of a field named @type, 0: there is none. Set from the start in an Any, it leads
 * that name to bjvmi_decode_use. */
uint64_t bjvmi_decode_type_bit(const bjvm_plan *plan);
/* The oneof member of that index was null, which sets nothing. */
void bjvmi_decode_note_null(bjvmi_decode_frame *f, size_t index);
/* Whether the oneof member in force was set by this text, so that `w` must not be set too. */
bool bjvmi_decode_oneof_taken(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w);
/* Wide seen bits for a message of more than 64 fields. */
bool bjvmi_decode_wide_begin(bjvmi_decoder *vm, bjvmi_decode_frame *f);
void bjvmi_decode_wide_end(bjvmi_decoder *vm, bjvmi_decode_frame *f);
/* Reads over one value, checking its syntax; frames above f are its stack. */
const char *bjvmi_decode_skip(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p);

/* -- decode_copy.c -------------------------------------------------------------------------------------- */

/* A copy of a message of that plan which shares with it what no text changes in place; NULL with status set.
 * Needs scratch. */
const upb_Message *bjvmi_decode_copy(bjvmi_decoder *vm, const bjvm_plan *plan, const upb_Message *from);

/* -- decode_array.c, decode_map.c ----------------------------------------------------------------------- */

/* The array of a repeated field, made if need be; NULL with status set. */
upb_Array *bjvmi_decode_array_open(bjvmi_decoder *vm, void *slot, bjvmi_kind kind);
/* A whole array of scalars; p is behind the bracket; f is its frame. */
const char *bjvmi_decode_array(bjvmi_decoder *vm, const char *p, const bjvm_plan *plan, const bjvmi_word *w,
                               bjvmi_decode_frame *f);
/* Appends a new message to the frame's array. */
upb_Message *bjvmi_decode_append(bjvmi_decoder *vm, bjvmi_decode_frame *f, const upb_MiniTable *table);

/* Opens a map frame on the map of `slot`. */
bool bjvmi_decode_map_open(bjvmi_decoder *vm, bjvmi_decode_frame *f, void *slot);
/* The key and colon of the next entry into f->u.map.key; p is at the opening quote. */
const char *bjvmi_decode_map_any_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p);
/* The same, shorter where the key is a plain string. */
static inline const char *bjvmi_decode_map_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
#ifndef BJVM_SIZE_SMALL
  if (BJVMI_OP_KIND(f->plan->words[0].op) == BJVMI_KIND_STRING) {
    size_t length = bjvmi_short_length(p + 1);
    if (__builtin_expect(length <= BJVMI_SHORT_MAX && p[length + 2] == ':', 1)) {
      vm->key = p;
      f->place = BJVMI_PLACE_LAST;
      f->u.map.key.str_val = upb_StringView_FromDataAndSize(p + 1, length);
      return p + length + 3;
    }
  }
#endif
  return bjvmi_decode_map_any_key(vm, f, p);
}
/* Where the value of the entry being read belongs, before it is taken. */
static inline upb_MessageValue *bjvmi_decode_map_value(bjvmi_decoder *vm) {
#ifdef BJVM_SIZE_SMALL
  return &vm->waiting[0].value;
#else
  return &vm->waiting[vm->waiting_count].value;
#endif
}
/* Takes the entry of that value and the frame's key, at once or when the map closes; false for a duplicate or without
 * memory. */
bool bjvmi_decode_map_insert(bjvmi_decoder *vm, bjvmi_decode_frame *f);
/* Ends the map: puts in what waits, and merges it into what was there. */
bool bjvmi_decode_map_close(bjvmi_decoder *vm, bjvmi_decode_frame *f);
/* A failure: if among the entries that wait there is a duplicate, that is the failure, as it came first in the
 * text. */
void bjvmi_decode_map_settle(bjvmi_decoder *vm);
/* A whole map of scalars; p is at the brace. */
const char *bjvmi_decode_map(bjvmi_decoder *vm, const char *p, bjvmi_decode_frame *f);

/* -- decode_wkt.c --------------------------------------------------------------------------------------- */

const char *bjvmi_decode_time(bjvmi_decoder *vm, const char *p, const bjvm_plan *sub, void *msg);
const char *bjvmi_decode_field_mask(bjvmi_decoder *vm, const char *p, const bjvm_plan *sub, void *msg);
const char *bjvmi_decode_wrapper(bjvmi_decoder *vm, const char *p, const bjvm_plan *sub, void *msg);

/* Starts an Any; p is at its brace. *state is the open Any (NULL: it was `{}`, read completely). Returns the place
 * behind the brace, or behind the member @type where that comes first: then type_seen is set. */
const char *bjvmi_decode_any_open(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p,
                                  const bjvm_plan *sub, void *msg, bjvmi_decode_any **state);
/* Packs the content into the Any. */
bool bjvmi_decode_any_close(bjvmi_decoder *vm, bjvmi_decode_any *state);
/* A member of an Any around a well-known type: *is_value tells that p is at its value, else it was read
 * over. */
const char *bjvmi_decode_any_member(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p, bool *is_value);

/* Bytes of the field in its message. */
static inline size_t bjvmi_word_size(const bjvmi_word *w) {
  return BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY ? sizeof(void *) : bjvmi_kind_size(BJVMI_OP_KIND(w->op));
}

/* Whether the field is a repeated one and no map. */
static inline bool bjvmi_word_is_array(const bjvmi_word *w) {
  return BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY && BJVMI_OP_KIND(w->op) != BJVMI_KIND_MAP;
}

/* Whether it is one message. */
static inline bool bjvmi_word_is_message(const bjvmi_word *w) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  return BJVMI_OP_FORM(w->op) != BJVMI_FORM_ARRAY && kind >= BJVMI_KIND_MESSAGE && kind <= BJVMI_KIND_ANY;
}

static inline void bjvmi_decode_set_presence(void *msg, const bjvmi_word *w) {
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: bjvmi_upb_set_hasbit(msg, w->presence); break;
    case BJVMI_FORM_ONEOF: bjvmi_upb_set_oneof_case(msg, w->presence, w->number); break;
    default: break;
  }
}

#endif /* BJVM_DECODE_H_ */
