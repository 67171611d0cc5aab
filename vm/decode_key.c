/* Names in the decode VM: look-up, duplicates, what last_wins takes back, and values that are read over.
 *
 * Neighbours: decode_vm.c guesses the next name and comes here when the guess is wrong. Invariants: only an
 * exact compare of the unescaped name accepts it; an unknown name costs its length; reading over a value
 * obeys the same depth limit as reading it.
 */
#include "camel.h"
#include "decode.h"

enum { NAME_ROOM = 256 }; /* a name with escapes that is longer goes to temporary memory */

/* -- Reading over a value ------------------------------------------------------------------------------- */

static const char *skip_scalar(bjvmi_decoder *vm, const char *p) {
  unsigned flags = 0;
  bjvmi_num num;
  const char *q;
  switch (*p) {
    case '"':
      q = bjvmi_decode_close_quote(vm, p, &flags);
      return q && bjvmi_decode_check_string(vm, p + 1, q, flags) ? q + 1 : NULL;
    case 't':
      if (memcmp(p, "true", 4) == 0) return p + 4;
      break;
    case 'f':
      if (memcmp(p, "false", 5) == 0) return p + 5;
      break;
    case 'n':
      if (bjvmi_decode_is_null(p)) return p + 4;
      break;
    default:
      if (*p != '-' && (uint8_t)(*p - '0') > 9) break;
      return bjvmi_decode_bare_number(vm, p, &num);
  }
  return bjvmi_decode_unexpected(vm, p, "a value");
}

/* A name and its colon, in an object that is read over. */
static const char *skip_name(bjvmi_decoder *vm, const char *p) {
  if (*p != '"') return bjvmi_decode_unexpected(vm, p, "a name in quotes");
  p = skip_scalar(vm, p);
  if (!p) return NULL;
  p = bjvmi_decode_token(vm, p);
  if (*p != ':') return bjvmi_decode_unexpected(vm, p, "':'");
  return bjvmi_decode_token(vm, p + 1);
}

const char *bjvmi_decode_skip(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  bjvmi_decode_frame *base = f;
  for (;;) {
    bool object = *p == '{';
    if (object || *p == '[') {
      if (f + 1 >= vm->frame_limit) {
        return bjvmi_decode_fail(vm, f + 1 < vm->frame_end ? BJVM_SCRATCH : BJVM_DEPTH, p, NULL);
      }
      f++;
      f->kind = object ? BJVMI_DECODE_SKIP_OBJECT : BJVMI_DECODE_SKIP_ARRAY;
      p = bjvmi_decode_token(vm, p + 1);
      if (*p != (object ? '}' : ']')) {
        if (object && !(p = skip_name(vm, p))) return NULL;
        continue;
      }
      p++;
      f--;
    } else if (!(p = skip_scalar(vm, p))) {
      return NULL;
    }
    /* A value is behind us: close what ends here, go on with what does not. */
    for (;;) {
      if (f == base) return p;
      if (!bjvmi_decode_count(vm)) return bjvmi_decode_fail(vm, vm->status, p, NULL);
      object = f->kind == BJVMI_DECODE_SKIP_OBJECT;
      p = bjvmi_decode_token(vm, p);
      if (*p != (object ? '}' : ']')) break;
      p++;
      f--;
    }
    if (*p != ',') return bjvmi_decode_unexpected(vm, p, object ? "',' or '}'" : "',' or ']'");
    p = bjvmi_decode_token(vm, p + 1);
    if (object && !(p = skip_name(vm, p))) return NULL;
  }
}

/* -- Duplicates ----------------------------------------------------------------------------------------- */

/* Words of wide bits of each sort: the first 64 are in the frame. */
static size_t wide_words(const bjvmi_decode_frame *f) { return f->plan->word_count / 64; }

static size_t wide_frames(const bjvmi_decode_frame *f) {
  size_t bytes = 2 * wide_words(f) * sizeof(uint64_t);
  return (bytes + sizeof *f - 1) / sizeof *f;
}

bool bjvmi_decode_wide_begin(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  size_t bytes = 2 * wide_words(f) * sizeof(uint64_t);
  size_t frames = wide_frames(f);
  if (vm->scratch) {
    f->u.message.wide = (uint64_t *)upb_Arena_Malloc(vm->scratch, bytes);
    if (!f->u.message.wide) vm->status = BJVM_OUT_OF_MEMORY;
  } else if ((size_t)(vm->frame_limit - f) > frames + 1) {
    vm->frame_limit -= frames;
    f->u.message.wide = (uint64_t *)(void *)vm->frame_limit;
  } else {
    vm->status = BJVM_SCRATCH;
  }
  if (!f->u.message.wide) return false;
  memset(f->u.message.wide, 0, bytes);
  return true;
}

void bjvmi_decode_wide_end(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  if ((void *)f->u.message.wide == (void *)vm->frame_limit) vm->frame_limit += wide_frames(f);
}

/* The words that hold the bits of member `index`. */
static uint64_t *seen_bits(bjvmi_decode_frame *f, size_t index) {
  return index < 64 ? &f->u.message.seen : &f->u.message.wide[index / 64 - 1];
}

static uint64_t *null_bits(bjvmi_decode_frame *f, size_t index) {
  return index < 64 ? &f->u.message.nulls : &f->u.message.wide[wide_words(f) + index / 64 - 1];
}

static bool is_set(const uint64_t *bits, size_t index) { return (*bits >> (index & 63) & 1) != 0; }

void bjvmi_decode_note_null(bjvmi_decode_frame *f, size_t index) {
  *null_bits(f, index) |= (uint64_t)1 << (index & 63);
}

/* The index of a field number among the words, or word_count. */
static size_t find_number(const bjvm_plan *plan, uint32_t number) {
  size_t low = 0;
  size_t high = plan->word_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (plan->words[middle].number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < plan->word_count && plan->words[low].number == number ? low : plan->word_count;
}

/* The index of the member that is set in w's oneof, if this text has set it; else word_count. */
static size_t set_by_text(bjvmi_decode_frame *f, const bjvmi_word *w) {
  size_t index = find_number(f->plan, bjvmi_upb_oneof_case(f->at, w->presence));
  if (index == f->plan->word_count || !is_set(seen_bits(f, index), index)) return f->plan->word_count;
  return is_set(null_bits(f, index), index) ? f->plan->word_count : index; /* null: it was set before */
}

bool bjvmi_decode_oneof_taken(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w) {
  if (vm->flags & BJVM_DECODE_LAST_WINS) return false;
  size_t index = set_by_text(f, w);
  if (index == f->plan->word_count || &f->plan->words[index] == w) return false;
  bjvmi_decode_fail_key(vm, BJVM_DUPLICATE_ONEOF);
  return true;
}

/* -- last_wins: what fields held before, and putting it back -------------------------------------------- */

static bool holds_something(const void *msg, const bjvmi_word *w) {
  static const char zero[sizeof(upb_StringView)];
  const void *slot = bjvmi_upb_at(msg, w->offset);
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_HASBIT) return bjvmi_upb_hasbit(msg, w->presence);
  return memcmp(slot, zero, bjvmi_word_size(w)) != 0;
}

static const bjvmi_decode_undo *find_undo(const bjvmi_decoder *vm, const void *msg, const bjvmi_word *w) {
  bool oneof = BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF;
  const bjvmi_decode_undo *u = vm->undo;
  while (u && !(u->msg == msg && (u->word == w || (oneof && BJVMI_OP_FORM(u->word->op) == BJVMI_FORM_ONEOF &&
                                                   u->word->presence == w->presence)))) {
    u = u->next;
  }
  return u;
}

/* A copy of a message as it is now, since what follows changes it in place. */
static bool clone(bjvmi_decoder *vm, const bjvm_plan *plan, const bjvmi_word *w, upb_MessageValue *v) {
  const bjvm_plan *sub = bjvmi_decode_sub(vm, plan, w);
  if (sub) v->msg_val = bjvmi_decode_copy(vm, sub, v->msg_val);
  return sub && v->msg_val;
}

/* Remembers the value of `w` in `msg`, which holds something. A message is changed in place by what follows:
 * of that a copy is kept. */
static bool remember(bjvmi_decoder *vm, const bjvm_plan *plan, void *msg, const bjvmi_word *w) {
  const void *slot = bjvmi_upb_at(msg, w->offset);
  vm->status = BJVM_SCRATCH;
  if (!vm->scratch) return false;
  vm->status = BJVM_OUT_OF_MEMORY;
  bjvmi_decode_undo *u = (bjvmi_decode_undo *)upb_Arena_Malloc(vm->scratch, sizeof *u);
  if (!u) return false;
  memset(u, 0, sizeof *u);
  u->msg = msg;
  u->word = w;
  memcpy(&u->value, slot, bjvmi_word_size(w));
  if (bjvmi_word_is_array(w)) u->size = upb_Array_Size((const upb_Array *)bjvmi_upb_pointer(slot));
  vm->status = BJVM_OK;
  if (bjvmi_word_is_message(w) && !clone(vm, plan, w, &u->value)) return false;
  u->next = vm->undo;
  vm->undo = u;
  vm->status = BJVM_OK;
  return true;
}

/* The first use of a member: its oneof's or its own content, unless this text has written it. */
static bool remember_member(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w) {
  if (BJVMI_OP_FORM(w->op) != BJVMI_FORM_ONEOF) {
    return !holds_something(f->at, w) || remember(vm, f->plan, f->at, w);
  }
  size_t index = find_number(f->plan, bjvmi_upb_oneof_case(f->at, w->presence));
  if (index == f->plan->word_count || set_by_text(f, w) == index || find_undo(vm, f->at, w)) return true;
  return remember(vm, f->plan, f->at, &f->plan->words[index]);
}

/* `plan` is that of the word. The field may be given once more: what is kept is not handed out itself. */
static bool put_back(bjvmi_decoder *vm, const bjvm_plan *plan, void *msg, const bjvmi_decode_undo *u) {
  const bjvmi_word *w = u->word;
  void *slot = bjvmi_upb_mut(msg, w->offset);
  upb_MessageValue v = u->value;
  if (bjvmi_word_is_message(w) && !clone(vm, plan, w, &v)) return false;
  memcpy(slot, &v, bjvmi_word_size(w));
  if (bjvmi_word_is_array(w)) bjvmi_upb_array_set_size((upb_Array *)bjvmi_upb_pointer(slot), u->size);
  bjvmi_decode_set_presence(msg, w);
  return true;
}

static void clear(void *msg, const bjvmi_word *w) {
  memset(bjvmi_upb_mut(msg, w->offset), 0, bjvmi_word_size(w));
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_HASBIT) bjvmi_upb_clear_hasbit(msg, w->presence);
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF) bjvmi_upb_set_oneof_case(msg, w->presence, 0);
}

/* Drops what this text wrote to the field. A oneof member that another has replaced since has nothing left to
 * drop. */
static bool drop(bjvmi_decoder *vm, const bjvm_plan *plan, void *msg, const bjvmi_word *w) {
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF && bjvmi_upb_oneof_case(msg, w->presence) != w->number)
    return true;
  const bjvmi_decode_undo *u = find_undo(vm, msg, w);
  clear(msg, w);
  return !u || put_back(vm, plan, msg, u);
}

/* Whether `w`, a word of an Any's content, is a field that has the name of the key. */
static bool is_type(const bjvm_plan *plan, const bjvmi_word *w) {
  static const char encoded[] = ",\"@type\":";
  enum { LENGTH = sizeof encoded - 1 };
  return w->name_len == LENGTH && memcmp(plan->names + w->name, encoded, LENGTH) == 0;
}

/* Whether it is the key that has been read: only the guess at a name takes it for the field, the look-up knows
 * it. Else the field was called by its .proto name, and is new at first. */
static bool is_key(const bjvmi_decoder *vm, bjvmi_decode_frame *f, size_t index) {
  if (memcmp(vm->key, "\"@type\":", 8) == 0) return true;
  if (!f->u.message.any->field_seen) *seen_bits(f, index) &= ~((uint64_t)1 << (index & 63));
  f->u.message.any->field_seen = true;
  return false;
}

uint64_t bjvmi_decode_type_bit(const bjvm_plan *plan) {
  int index = bjvmi_plan_find_key(plan, "@type", 5);
  return index >= 0 && index < 64 ? (uint64_t)1 << index : 0;
}

bool bjvmi_decode_use(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w) {
  size_t index = (size_t)(w - f->plan->words);
  uint64_t bit = (uint64_t)1 << (index & 63);
  bool last_wins = (vm->flags & BJVM_DECODE_LAST_WINS) != 0;
  if (f->u.message.any && is_type(f->plan, w) && is_key(vm, f, index)) return false;
  if (is_set(seen_bits(f, index), index)) {
    if (last_wins) {
      if (!drop(vm, f->plan, f->at, w)) {
        bjvmi_decode_fail_key(vm, vm->status);
        return false;
      }
      *null_bits(f, index) &= ~bit;
    } else {
      bjvmi_decode_fail_key(vm, BJVM_DUPLICATE_FIELD);
    }
    return last_wins;
  }
  if (last_wins && !remember_member(vm, f, w)) {
    bjvmi_decode_fail_key(vm, vm->status);
    return false;
  }
  *seen_bits(f, index) |= bit;
  return true;
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

static bool note_extension(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x, bool *again) {
  *again = false;
  for (uint32_t i = f->first; i < vm->extension_count; i++) {
    if (vm->extensions[i] == x) *again = true;
  }
  if (*again) return true;
  if (vm->extension_capacity == 0) {
    vm->extensions = vm->inline_extensions;
    vm->extension_capacity = BJVMI_DECODE_EXTENSIONS;
  }
  if (vm->extension_count == vm->extension_capacity) {
    uint32_t capacity = vm->extension_capacity * 2;
    vm->status = BJVM_SCRATCH;
    if (!vm->scratch || capacity > UINT16_MAX) return false;
    vm->status = BJVM_OUT_OF_MEMORY;
    const bjvm_extension **list =
        (const bjvm_extension **)upb_Arena_Malloc(vm->scratch, capacity * sizeof *list);
    if (!list) return false;
    vm->status = BJVM_OK;
    memcpy(list, vm->extensions, vm->extension_count * sizeof *list);
    vm->extensions = list;
    vm->extension_capacity = capacity;
  }
  vm->extensions[vm->extension_count++] = x;
  return true;
}

/* What upb wants in the entry of an extension from the start: an array, or a message. */
static bool extension_content(bjvmi_decoder *vm, const bjvm_extension *x, void **content) {
  const bjvmi_word *w = x->plan->words;
  *content = NULL;
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY) {
    return bjvmi_decode_array_open(vm, content, BJVMI_OP_KIND(w->op)) != NULL;
  }
  if (!bjvmi_word_is_message(w)) return true;
  const bjvm_plan *sub = bjvmi_decode_sub(vm, x->plan, w);
  if (sub) *content = bjvmi_decode_new(vm, sub->table);
  return *content != NULL;
}

/* The place of the extension's value in the message; NULL with status set. */
static void *extension_slot(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x) {
  upb_Message *msg = (upb_Message *)f->at;
  void *content = NULL;
  vm->extension_made = !bjvmi_upb_has_extension(msg, x->table);
  if (vm->extension_made &&
      !(bjvmi_decode_charge(vm, BJVMI_UPB_EXTENSION_COST) && extension_content(vm, x, &content)))
    return NULL;
  upb_MessageValue *v = bjvmi_upb_extension(msg, x->table, vm->arena);
  if (!v) vm->status = BJVM_OUT_OF_MEMORY;
  if (v && content) bjvmi_upb_set_pointer(v, content);
  return v;
}

/* An extension named again, or for the first time, under last_wins. */
static bool prepare_extension(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x, bool again) {
  upb_Message *msg = (upb_Message *)f->at;
  const bjvmi_word *w = x->plan->words;
  if (!bjvmi_upb_has_extension(msg, x->table)) return true;
  upb_MessageValue *slot = bjvmi_upb_extension(msg, x->table, vm->arena);
  if (!again) return remember(vm, x->plan, slot, w);
  const bjvmi_decode_undo *u = find_undo(vm, slot, w);
  if (u) {
    return put_back(vm, x->plan, slot, u);
  }
  bjvmi_upb_clear_extension(msg, x->table);
  return true;
}

/* Whether the null at p leaves an extension unset. */
static bool null_unsets(const char *p, const bjvmi_word *w) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  bool has_null = kind == BJVMI_KIND_VALUE || kind == BJVMI_KIND_NULL_VALUE;
  return bjvmi_decode_is_null(p) && (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY || !has_null);
}

static bjvmi_key_result extension_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x,
                                      bjvmi_member *m) {
  bool again = false;
  bool last_wins = (vm->flags & BJVM_DECODE_LAST_WINS) != 0;
  if (x->plan->table != f->plan->table) {
    vm->status = BJVM_EXTENSION_RANGE;
  } else if (note_extension(vm, f, x, &again)) {
    if (again && !last_wins) vm->status = BJVM_DUPLICATE_FIELD;
  }
  if (vm->status == BJVM_OK && last_wins) prepare_extension(vm, f, x, again);
  if (vm->status != BJVM_OK) goto failed;
  m->p = bjvmi_decode_token(vm, m->p);
  if (null_unsets(m->p, x->plan->words)) {
    m->p += 4;
    return BJVMI_KEY_SKIPPED;
  }
  m->word = x->plan->words;
  m->plan = x->plan;
  m->msg = extension_slot(vm, f, x);
  if (m->msg) return BJVMI_KEY_EXTENSION;
failed:
  bjvmi_decode_fail_key(vm, vm->status);
  return BJVMI_KEY_FAIL;
}

/* -- Look-up -------------------------------------------------------------------------------------------- */

/* `"value":{}` in an Any of an Empty. */
static bool is_tolerated(const bjvmi_decode_frame *f, const char *name, size_t size) {
  static const char empty[] = "google.protobuf.Empty";
  size_t n;
  const char *type = bjvm_plan_name(f->plan, &n);
  return size == 5 && memcmp(name, "value", 5) == 0 && n == sizeof empty - 1 && memcmp(type, empty, n) == 0;
}

static bjvmi_key_result skip_value(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char **p) {
  const char *q = bjvmi_decode_token(vm, *p);
  q = bjvmi_decode_skip(vm, f, q);
  if (!q) return BJVMI_KEY_FAIL;
  *p = q;
  return BJVMI_KEY_SKIPPED;
}

/* `"value":{}` in an Any of an Empty, behind the colon. */
static bjvmi_key_result tolerated_value(bjvmi_decoder *vm, const bjvmi_decode_frame *f, bjvmi_decode_any *any,
                                        const char **p) {
  const char *q = bjvmi_decode_token(vm, *p);
  if (f + 1 >= vm->frame_limit) {
    bjvmi_decode_fail(vm, f + 1 < vm->frame_end ? BJVM_SCRATCH : BJVM_DEPTH, q, NULL);
    return BJVMI_KEY_FAIL;
  }
  if (*q == '{' && !any->value_seen) {
    any->value_seen = true;
    q = bjvmi_decode_token(vm, q + 1);
    if (*q == '}') {
      *p = q + 1;
      return BJVMI_KEY_SKIPPED;
    }
  }
  bjvmi_decode_fail(vm, BJVM_ANY_FORM, q, "an empty object");
  return BJVMI_KEY_FAIL;
}

/* A name inside an Any that is not the content's: @type, or what is tolerated. False: it is the content's. */
static bool any_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char **p, const char *name, size_t size,
                    bjvmi_key_result *result) {
  bjvmi_decode_any *any = f->u.message.any;
  if (size == 5 && memcmp(name, "@type", 5) == 0) {
    *result = BJVMI_KEY_FAIL;
    if (any->type_seen) {
      bjvmi_decode_fail_key(vm, BJVM_DUPLICATE_FIELD);
    } else {
      any->type_seen = true;
      *result = skip_value(vm, f, p);
    }
    return true;
  }
  if (!is_tolerated(f, name, size)) return false;
  *result = tolerated_value(vm, f, any, p);
  return true;
}

static bjvmi_key_result unknown_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char **p,
                                    const char *name, size_t size) {
  if (vm->flags & BJVM_DECODE_IGNORE_UNKNOWN) return skip_value(vm, f, p);
  bool extension = size > 1 && name[0] == '[';
  bjvmi_decode_fail_key(vm, extension ? BJVM_UNKNOWN_EXTENSION : BJVM_UNKNOWN_FIELD);
  return BJVMI_KEY_FAIL;
}

/* The name is read and m->p is behind its colon. */
static bjvmi_key_result resolve(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *name, size_t size,
                                bjvmi_member *m) {
  const bjvm_plan *own = f->plan;
  const bjvm_registry *r = vm->registry;
  bjvmi_key_result result;
  if (f->u.message.any && any_key(vm, f, &m->p, name, size, &result)) return result;
  int index = bjvmi_plan_find_key(own, name, size);
  m->derived = index < 0;
  if (m->derived) index = bjvmi_plan_find_derived(own, name, size);
  if (index >= 0) {
    m->word = &own->words[index];
    return BJVMI_KEY_FIELD;
  }
  bool bracketed = size > 2 && name[0] == '[' && name[size - 1] == ']';
  if (bracketed && (own->flags & BJVMI_MESSAGE_EXTENDABLE) && r && r->find_extension) {
    bjvm_status status = BJVM_OK;
    const bjvm_extension *x = r->find_extension(r->context, name + 1, size - 2, &status);
    if (status != BJVM_OK) {
      bjvmi_decode_fail_key(vm, status);
      return BJVMI_KEY_FAIL;
    }
    if (x) return extension_key(vm, f, x, m);
  }
  return unknown_key(vm, f, &m->p, name, size);
}

#ifndef BJVM_SIZE_SMALL
/* Texts that keep an order of their own, such as that of the alphabet: what followed a member before may follow it again. */
static bjvmi_decode_order *order_of(bjvmi_decoder *vm, const bjvmi_word *before) {
  return &vm->orders[(uintptr_t)before / sizeof *before % BJVMI_DECODE_ORDERS];
}

/* The place behind the name and the colon at p, if that name is derived from the encoded one at `from`, which
 * has n bytes; or NULL. */
static const char *behind_derived(const char *p, const char *from, size_t n) {
  const char *end = p + BJVMI_DECODE_PAD - 1;
  for (size_t i = 1; i < n; i++) {
    if (bjvmi_is_upper(from[i]) && *p++ != '_') return NULL;
    if (p >= end || *p++ != bjvmi_to_lower(from[i])) return NULL;
  }
  return p;
}

/* The member that followed `before` when that was looked up last, if it is the one whose name is at *p, which
 * then moves behind the colon; or NULL. */
static const bjvmi_word *learned(bjvmi_decoder *vm, const bjvm_plan *plan, const bjvmi_word *before,
                                 const char **p) {
  if (vm->misses < BJVMI_DECODE_LEARN) return NULL;
  const bjvmi_decode_order *o = order_of(vm, before);
  uintptr_t at = (uintptr_t)o->member - (uintptr_t)plan->words;
  if (o->before != before || at >= plan->word_count * sizeof *before) return NULL;
  size_t n = o->member->name_len;
  const char *name = plan->names + o->member->name;
  if (n - 1 >= BJVMI_DECODE_PAD) return NULL;
  if (__builtin_expect(o->derived, 0)) {
    const char *behind = behind_derived(*p, name, n);
    if (!behind) return NULL;
    *p = behind;
    return o->member;
  }
  if (!bjvmi_short_equal(*p, name + 1, n - 1)) return NULL;
  *p += n - 1;
  return o->member;
}

static void learn(bjvmi_decoder *vm, const bjvmi_word *before, const bjvmi_word *member, bool derived) {
  if (vm->misses < BJVMI_DECODE_LEARN) {
    if (++vm->misses == BJVMI_DECODE_LEARN) memset(vm->orders, 0, sizeof vm->orders);
    return;
  }
  *order_of(vm, before) = (bjvmi_decode_order){before, member, derived};
}
#endif

bjvmi_key_result bjvmi_decode_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p, bjvmi_member *m) {
  char buffer[NAME_ROOM];
  const char *name;
  size_t size;
  vm->key = p;
  f->place = BJVMI_PLACE_NONE;
  m->p = p;
#ifndef BJVM_SIZE_SMALL
  m->word = learned(vm, f->plan, f->pc, &m->p);
  if (m->word) {
    f->place = BJVMI_PLACE_LAST;
    return BJVMI_KEY_FIELD;
  }
#endif
  const char *q = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &name, &size);
  if (!q) return BJVMI_KEY_FAIL;
  q = bjvmi_decode_token(vm, q);
  if (*q != ':') {
    bjvmi_decode_unexpected(vm, q, "':'");
    return BJVMI_KEY_FAIL;
  }
  m->p = q + 1;
  bjvmi_key_result r = resolve(vm, f, name, size, m);
  if (r != BJVMI_KEY_FAIL) f->place = BJVMI_PLACE_LAST;
#ifndef BJVM_SIZE_SMALL
  if (r == BJVMI_KEY_FIELD) learn(vm, f->pc, m->word, m->derived);
#endif
  return r;
}
