/* The encode VM's state, shared by its loop (encode_vm.c), its kernels (encode_*.c) and its entry (encode.c).
 *
 * Private to bjvm. One object per call, on the caller's stack; nothing in it is shared by threads.
 */
#ifndef BJVM_ENCODE_H_
#define BJVM_ENCODE_H_

#include "bjvm/codec.h"
#include "num.h"
#include "plan.h"
#include "sparse.h"
#include "upb_map.h"

enum {
  /* Every handler may write this much without asking: a name (255 and the overhang of its wide copy), a
   * scalar, the quotes and brackets around it. */
  BJVMI_ENCODE_SLACK = 384,
  /* Where text waits while a fixed output is full or a formatter stands between. At least twice the slack. */
  BJVMI_ENCODE_STAGING = 768,
};

typedef enum bjvmi_encode_frame_kind {
  BJVMI_ENCODE_TOP,     /* below the first value */
  BJVMI_ENCODE_MESSAGE, /* an object whose words run; pc, plan, at: where it goes on after a call */
  BJVMI_ENCODE_ARRAY,   /* repeated messages; pc: the field's word, plan: the elements', at: the array */
  BJVMI_ENCODE_MAP,     /* a map with message values; pc: the map's word, plan: the entry's, at: the map */
  BJVMI_ENCODE_ANY,     /* an Any around a well-known type; owes a closing brace */
} bjvmi_encode_frame_kind;

/* A map's entries in the order they are printed, taken out for sorting. */
typedef struct bjvmi_map_entry {
  upb_MessageValue key;
  upb_MessageValue value;
} bjvmi_map_entry;

typedef struct bjvmi_encode_frame {
  const bjvmi_word *pc;
  const bjvm_plan *plan;
  const void *at;
  const bjvmi_map_entry *entries; /* MAP: sorted entries, or NULL */
  union {
    size_t index;        /* ARRAY, sorted MAP: of the element that comes next */
    bjvmi_map_walk walk; /* MAP, not sorted */
    struct {             /* MESSAGE, while its extensions are printed: */
      const bjvm_plan *plan;
      const void *msg;
    } owner;
  } u;
  uint32_t
      extension;  /* MESSAGE: the number of the extension printed last; MAP: how many entries were taken */
  uint32_t count; /* MAP: how many entries there are */
  bjvmi_encode_frame_kind kind;
} bjvmi_encode_frame;

typedef struct bjvmi_encoder {
  char *soft;  /* a handler may start while out <= soft */
  char *hard;  /* the end of the window */
  char *begin; /* the start of the window */
  const bjvmi_kernels *kernels;
  bjvm_output *output;
  bjvmi_encode_frame *frames;
  bjvmi_encode_frame *frame_end; /* one past the deepest allowed frame */
  const bjvmi_word *pc;          /* the word that failed */
  const bjvm_plan *plan;
  size_t start;    /* output->size at the call */
  size_t position; /* fixed output: bytes of text so far, also those that did not fit */
  /* From here to list_size: zero at first, and cleared together. */
  unsigned escape_flags;
  uint32_t variant; /* option flags that select bound words; 0: the plan's own */
  uint32_t flags;
  bjvm_status status;
  const bjvm_registry *registry;
  upb_Arena *scratch;
  bjvmi_encode_frame *frame; /* the current one when a run fails */
  struct bjvmi_pretty *pretty;
  bool staged;      /* the window is `staging` */
  size_t list_size; /* what is in use of `list` */
#ifndef BJVM_SIZE_SMALL
  bjvmi_word list[BJVMI_SPARSE_LIST]; /* lists of words of open messages, one behind the other */
#endif
  char staging[BJVMI_ENCODE_STAGING];
  bjvmi_encode_frame inline_frames[BJVM_DEFAULT_MAX_DEPTH + 1];
} bjvmi_encoder;

/* -- encode_output.c: the window ------------------------------------------------------------------------ */

void bjvmi_encode_stage(bjvmi_encoder *vm); /* moves the window to the staging block */
/* Room for a slack again; NULL on failure, status set. */
char *bjvmi_encode_grow(bjvmi_encoder *vm, char *out);
/* Hands over the last of the staging block; the call's status. */
bjvm_status bjvmi_encode_unstage(bjvmi_encoder *vm, char *out);
void bjvmi_encode_abandon(bjvmi_encoder *vm); /* after a failure: output as it was */
/* Appends bytes to the output as they are. */
bool bjvmi_encode_put(bjvmi_encoder *vm, const char *data, size_t size);
bool bjvmi_output_is_sink(const bjvm_output *output); /* output.c */

static inline void bjvmi_encode_window(bjvmi_encoder *vm, char *begin, char *hard) {
  vm->begin = begin;
  vm->hard = hard;
  vm->soft = hard - BJVMI_ENCODE_SLACK;
}

/* Sets the first window. */
static inline void bjvmi_encode_open(bjvmi_encoder *vm) {
  bjvm_output *o = vm->output;
  vm->start = vm->position = o->size;
  if (__builtin_expect(vm->pretty || !o->data || o->capacity < BJVMI_ENCODE_SLACK ||
                           o->size > o->capacity - BJVMI_ENCODE_SLACK,
                       0)) {
    bjvmi_encode_stage(vm); /* a growing output is asked for room when the block is full, or at the end */
  } else {
    bjvmi_encode_window(vm, o->data + o->size, o->data + o->capacity);
  }
}

/* Hands over the rest; the call's status. */
static inline bjvm_status bjvmi_encode_close(bjvmi_encoder *vm, char *out) {
  bjvm_output *o = vm->output;
  if (__builtin_expect(vm->staged, 0)) return bjvmi_encode_unstage(vm, out);
  o->size = (size_t)(out - o->data);
  if (!o->grow) o->needed = o->size; /* a fixed output that did not suffice is staged */
  return BJVM_OK;
}

/* -- encode_vm.c ---------------------------------------------------------------------------------------- */

/* Prints one message; returns the end, or NULL with vm->status, frame, pc and plan telling the place. */
char *bjvmi_encode_run(bjvmi_encoder *vm, const bjvm_plan *plan, const upb_Message *msg, char *out);

/* -- encode_kernels.c: whatever has a loop of its own. Each returns the new end, or NULL with vm->status set. --- */

/* A string with its quotes; the loops ask bjvmi_encode_string. */
char *bjvmi_encode_long_string(bjvmi_encoder *vm, char *out, const char *data, size_t size);
/* The inside of a JSON string: `data` escaped, without quotes. */
char *bjvmi_encode_inside(bjvmi_encoder *vm, char *out, const char *data, size_t size);
char *bjvmi_encode_bytes(bjvmi_encoder *vm, char *out, const char *data, size_t size);
char *bjvmi_encode_double(char *out, double v);
char *bjvmi_encode_float(char *out, float v);
char *bjvmi_encode_enum(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, uint32_t sub, int32_t number);
/* One scalar of `kind` at `value`, without a name; `w` for its sub. */
char *bjvmi_encode_scalar(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, const bjvmi_word *w,
                          const void *value);
/* A whole repeated field of scalars, brackets included. */
char *bjvmi_encode_array(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, const bjvmi_word *w,
                         const upb_Array *array);
/* An encoded name that a handler cannot copy: long, or printed otherwise under these options. */
char *bjvmi_encode_name(bjvmi_encoder *vm, char *out, const char *names, uint32_t name, char separator);

/* -- encode_map.c --------------------------------------------------------------------------------------- */

/* Prepares `f` for the entries of a map (sorts them when asked to). False on failure. */
bool bjvmi_encode_map_begin(bjvmi_encoder *vm, bjvmi_encode_frame *f, const upb_Map *map,
                            const bjvm_plan *entry);
/* Takes the next entry of the frame's map, whose values are messages, and prints its separator and key; *child is its
 * value, or NULL at the end. */
char *bjvmi_encode_map_next(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const void **child);
/* A whole map of scalars, braces included; `f` is a free frame to work in. */
char *bjvmi_encode_map(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const bjvm_plan *entry);

/* -- encode_json.c -------------------------------------------------------------------------------------- */

#ifndef BJVM_SIZE_SMALL
/* A whole Struct, ListValue or Value, keys in table order; `f` is the frame below it. Sets vm->frame on failure. */
char *bjvmi_encode_json(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const bjvm_plan *sub,
                        const void *child);
#endif

/* -- encode_wkt.c --------------------------------------------------------------------------------------- */

char *bjvmi_encode_timestamp(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg);
char *bjvmi_encode_duration(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg);
char *bjvmi_encode_field_mask(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg);

/* The content of an Any, unpacked. `out` has `{"@type":"..."` written when it returns and plan and msg are
 * set; an empty Any is `{}` with *plan NULL. */
char *bjvmi_encode_any(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg,
                       const bjvm_plan **plan, const upb_Message **content);

/* A string with its quotes. Most are short and plain: without a call then. */
#ifdef BJVM_SIZE_SMALL
static inline
#else
static inline __attribute__((always_inline))
#endif
    char *
    bjvmi_encode_string(bjvmi_encoder *vm, char *out, const char *data, size_t size) {
#ifndef BJVM_SIZE_SMALL
  if (__builtin_expect(size - 1 < BJVMI_SHORT_MAX && vm->escape_flags == 0, 1) &&
      bjvmi_short_plain(out + 1, data, size)) {
    *out = '"';
    out[size + 1] = '"';
    return out + size + 2;
  }
#endif
  return bjvmi_encode_long_string(vm, out, data, size);
}

/* 8 bytes of room. Without a branch: which it is is random. */
static inline char *bjvmi_encode_bool(char *out, bool v) {
  static const char words[2][8] = {"false", "true"};
  memcpy(out, words[v], 8);
  return out + 5 - v;
}

static inline bool bjvmi_double_is_finite(double v) {
  uint64_t bits;
  memcpy(&bits, &v, 8);
  return (bits >> 52 & 0x7ff) != 0x7ff;
}

/* -- encode.c ------------------------------------------------------------------------------------------- */

/* The plan to run in the place of `plan`, with words and names for the call's options; NULL with status
 * set. */
static inline const bjvm_plan *bjvmi_encode_plan(bjvmi_encoder *vm, const bjvm_plan *plan) {
  if (__builtin_expect(vm->variant == 0, 1)) return plan;
  const bjvm_plan *own = bjvmi_plan_variant(plan, vm->variant);
  if (!own) vm->status = plan->binding->make_variant ? BJVM_OUT_OF_MEMORY : BJVM_PLAN_VARIANT;
  return own;
}

/* The plan that a message-shaped word refers to; NULL with status set. */
static inline const bjvm_plan *bjvmi_encode_sub(bjvmi_encoder *vm, const bjvm_plan *plan,
                                                const bjvmi_word *w) {
  const bjvm_plan *sub = bjvmi_slot_load(&plan->slots[w->sub]);
  if (__builtin_expect(sub == NULL, 0)) sub = bjvmi_plan_link(plan, w, &vm->status);
  return sub;
}

#endif /* BJVM_ENCODE_H_ */
