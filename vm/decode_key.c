/* Names in the decode VM: look-up, duplicates, what last_wins takes back, and values that are read over.
 *
 * Neighbours: decode_vm.c guesses the next name and comes here when the guess is wrong. Invariants: only an exact compare of the
 * unescaped name accepts it; an unknown name costs its length; reading over a value obeys the same depth limit as reading it.
 */
#include "decode.h"
#include "upb/message/copy.h"

enum { NAME_ROOM = 256 }; /* a name with escapes that is longer goes to temporary memory */

/* -- Reading over a value -------------------------------------------------------------------------------------------- */

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

/* -- Duplicates --------------------------------------------------------------------------------------------------------- */

bool bjvmi_decode_wide_begin(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  size_t bytes = ((size_t)f->plan->word_count / 64) * sizeof(uint64_t); /* the first 64 are in the frame */
  size_t frames = (bytes + sizeof *f - 1) / sizeof *f;
  if ((size_t)(vm->frame_limit - f) > frames + 1) {
    vm->frame_limit -= frames;
    f->u.message.wide = (uint64_t *)(void *)vm->frame_limit;
  } else {
    vm->status = BJVM_SCRATCH;
    if (!vm->scratch) return false;
    vm->status = BJVM_OUT_OF_MEMORY;
    f->u.message.wide = (uint64_t *)upb_Arena_Malloc(vm->scratch, bytes);
    if (!f->u.message.wide) return false;
    vm->status = BJVM_OK;
  }
  memset(f->u.message.wide, 0, bytes);
  return true;
}

void bjvmi_decode_wide_end(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  if ((void *)f->u.message.wide != (void *)vm->frame_limit) return; /* from scratch */
  size_t bytes = ((size_t)f->plan->word_count / 64) * sizeof(uint64_t);
  vm->frame_limit += (bytes + sizeof *f - 1) / sizeof *f;
}

static bool was_seen(const bjvmi_decode_frame *f, size_t index) {
  uint64_t bits = index < 64 ? f->u.message.seen : f->u.message.wide[index / 64 - 1];
  return (bits >> (index & 63) & 1) != 0;
}

bool bjvmi_decode_seen_wide(bjvmi_decoder *vm, bjvmi_decode_frame *f, size_t index, const bjvmi_word *w) {
  if (was_seen(f, index)) return bjvmi_decode_seen_again(vm, f, w);
  f->u.message.wide[index / 64 - 1] |= (uint64_t)1 << (index & 63);
  return true;
}

bool bjvmi_decode_oneof_taken(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w) {
  const bjvm_plan *plan = f->plan;
  uint32_t number = bjvmi_upb_oneof_case(f->at, w->presence);
  size_t low = 0;
  size_t high = plan->word_count;
  if (number == w->number || (vm->flags & BJVM_DECODE_LAST_WINS)) return false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (plan->words[middle].number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == plan->word_count || plan->words[low].number != number || !was_seen(f, low)) return false;
  if (f->u.message.nulls >> (low & 63) & 1) return false; /* it was null here: set before this text */
  bjvmi_decode_fail_at(vm, BJVM_DUPLICATE_ONEOF, vm->key_at);
  return true;
}

/* -- last_wins -------------------------------------------------------------------------------------------------------- */

static bool holds_something(const void *msg, const bjvmi_word *w) {
  static const char zero[sizeof(upb_StringView)];
  const void *slot = bjvmi_upb_at(msg, w->offset);
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: return bjvmi_upb_hasbit(msg, w->presence);
    case BJVMI_FORM_ONEOF: return bjvmi_upb_oneof_case(msg, w->presence) != 0;
    case BJVMI_FORM_ARRAY: return bjvmi_upb_pointer(slot) != NULL;
    default: return memcmp(slot, zero, bjvmi_word_size(w)) != 0;
  }
}

/* A message that was there is changed in place by what follows: keep a copy of it as it was. */
static bool keep_message(bjvmi_decoder *vm, const bjvm_plan *plan, const bjvmi_word *w,
                         bjvmi_decode_undo *u) {
  bjvmi_form form = BJVMI_OP_FORM(w->op);
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  if (form == BJVMI_FORM_ARRAY || kind < BJVMI_KIND_MESSAGE || kind > BJVMI_KIND_ANY) return true;
  if (form == BJVMI_FORM_ONEOF && u->presence != w->number) return true;
  const bjvm_plan *sub = bjvmi_decode_sub(vm, plan, w);
  if (!sub) return false;
  const upb_Message *had = u->value.msg_val;
  u->value.msg_val = upb_Message_DeepClone(had, sub->table, vm->arena);
  if (!u->value.msg_val) vm->status = BJVM_OUT_OF_MEMORY;
  return u->value.msg_val != NULL;
}

bool bjvmi_decode_remember(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w) {
  void *msg = f->at;
  const void *slot = bjvmi_upb_at(msg, w->offset);
  if (!holds_something(msg, w)) return true;
  vm->status = BJVM_SCRATCH;
  if (!vm->scratch) return false;
  vm->status = BJVM_OUT_OF_MEMORY;
  bjvmi_decode_undo *u = (bjvmi_decode_undo *)upb_Arena_Malloc(vm->scratch, sizeof *u);
  if (!u) return false;
  vm->status = BJVM_OK;
  memset(u, 0, sizeof *u);
  u->msg = msg;
  u->word = w;
  memcpy(&u->value, slot, bjvmi_word_size(w));
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_HASBIT) u->presence = 1;
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF) u->presence = bjvmi_upb_oneof_case(msg, w->presence);
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY && BJVMI_OP_KIND(w->op) != BJVMI_KIND_MAP) {
    u->size = upb_Array_Size((const upb_Array *)bjvmi_upb_pointer(slot));
  }
  if (!keep_message(vm, f->plan, w, u)) return false;
  u->next = vm->undo;
  vm->undo = u;
  return true;
}

/* Puts the field back to what it held before this text; `u` is NULL where that was nothing. */
static void restore(void *msg, const bjvmi_word *w, const bjvmi_decode_undo *u) {
  static const upb_MessageValue zero;
  bjvmi_form form = BJVMI_OP_FORM(w->op);
  void *slot = bjvmi_upb_mut(msg, w->offset);
  if (form == BJVMI_FORM_ONEOF && !u && bjvmi_upb_oneof_case(msg, w->presence) != w->number) return;
  memcpy(slot, u ? &u->value : &zero, bjvmi_word_size(w));
  if (form == BJVMI_FORM_HASBIT && !u) bjvmi_upb_clear_hasbit(msg, w->presence);
  if (form == BJVMI_FORM_ONEOF) bjvmi_upb_set_oneof_case(msg, w->presence, u ? u->presence : 0);
  if (form == BJVMI_FORM_ARRAY && BJVMI_OP_KIND(w->op) != BJVMI_KIND_MAP && u) {
    bjvmi_upb_array_set_size((upb_Array *)bjvmi_upb_pointer(slot), u->size);
  }
}

bool bjvmi_decode_seen_again(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_word *w) {
  if (!(vm->flags & BJVM_DECODE_LAST_WINS)) {
    bjvmi_decode_fail_at(vm, BJVM_DUPLICATE_FIELD, vm->key_at);
    return false;
  }
  const bjvmi_decode_undo *u = vm->undo;
  while (u && (u->msg != f->at || u->word != w)) u = u->next;
  restore(f->at, w, u);
  return true;
}

/* -- Extensions --------------------------------------------------------------------------------------------------------- */

static bool note_extension(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x, bool *again) {
  *again = false;
  for (uint32_t i = f->extensions; i < vm->extension_count; i++) {
    if (vm->extensions[i] == x) *again = true;
  }
  if (*again) return true;
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

/* The place of the extension's value in the message, with an array in it if it is repeated: upb wants one there. */
static void *extension_slot(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x) {
  const bjvmi_word *w = x->plan->words;
  upb_Message *msg = (upb_Message *)f->at;
  bool had = bjvmi_upb_has_extension(msg, x->table);
  vm->extension_made = !had;
  upb_Array *array = NULL;
  if (!had && BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY) {
    void *slot = NULL;
    array = bjvmi_decode_array_open(vm, &slot, BJVMI_OP_KIND(w->op));
    if (!array) return NULL;
  }
  upb_MessageValue *v = bjvmi_upb_extension(msg, x->table, vm->arena);
  if (!v) vm->status = BJVM_OUT_OF_MEMORY;
  if (v && array) bjvmi_upb_set_pointer(v, array);
  return v;
}

static bjvmi_key_result extension_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvm_extension *x,
                                      bjvmi_member *m) {
  bool again;
  const bjvmi_word *w = x->plan->words;
  if (x->plan->table != f->plan->table) {
    bjvmi_decode_fail_at(vm, BJVM_EXTENSION_RANGE, vm->key_at);
    return BJVMI_KEY_FAIL;
  }
  if (!note_extension(vm, f, x, &again)) goto failed;
  if (again) {
    if (!(vm->flags & BJVM_DECODE_LAST_WINS)) {
      bjvmi_decode_fail_at(vm, BJVM_DUPLICATE_FIELD, vm->key_at);
      return BJVMI_KEY_FAIL;
    }
    bjvmi_upb_clear_extension((upb_Message *)f->at, x->table);
  }
  m->p = bjvmi_decode_token(vm, m->p);
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  bool array = BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY;
  if (bjvmi_decode_is_null(m->p) && (array || (kind != BJVMI_KIND_VALUE && kind != BJVMI_KIND_NULL_VALUE))) {
    m->p += 4;
    return BJVMI_KEY_SKIPPED;
  }
  m->word = w;
  m->plan = x->plan;
  m->msg = extension_slot(vm, f, x);
  f->place = BJVMI_PLACE_LAST;
  if (m->msg) return BJVMI_KEY_EXTENSION;
failed:
  bjvmi_decode_fail_at(vm, vm->status, vm->key_at);
  return BJVMI_KEY_FAIL;
}

/* -- Look-up ----------------------------------------------------------------------------------------------------------- */

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
static bjvmi_key_result tolerated_value(bjvmi_decoder *vm, bjvmi_decode_any *any, const char **p) {
  const char *q = bjvmi_decode_token(vm, *p);
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
      bjvmi_decode_fail_at(vm, BJVM_DUPLICATE_FIELD, vm->key_at);
    } else {
      any->type_seen = true;
      *result = skip_value(vm, f, p);
    }
    return true;
  }
  if (!is_tolerated(f, name, size)) return false;
  *result = tolerated_value(vm, any, p);
  return true;
}

static bjvmi_key_result unknown_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char **p,
                                    const char *name, size_t size) {
  if (vm->flags & BJVM_DECODE_IGNORE_UNKNOWN) return skip_value(vm, f, p);
  bool extension = size > 1 && name[0] == '[';
  bjvmi_decode_fail_at(vm, extension ? BJVM_UNKNOWN_EXTENSION : BJVM_UNKNOWN_FIELD, vm->key_at);
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
  if (index >= 0) {
    m->word = &own->words[index];
    return BJVMI_KEY_FIELD;
  }
  bool bracketed = size > 2 && name[0] == '[' && name[size - 1] == ']';
  if (bracketed && (own->flags & BJVMI_MESSAGE_EXTENDABLE) && r && r->find_extension) {
    bjvm_status status = BJVM_OK;
    const bjvm_extension *x = r->find_extension(r->context, name + 1, size - 2, &status);
    if (status != BJVM_OK) {
      bjvmi_decode_fail_at(vm, status, vm->key_at);
      return BJVMI_KEY_FAIL;
    }
    if (x) return extension_key(vm, f, x, m);
  }
  return unknown_key(vm, f, &m->p, name, size);
}

bjvmi_key_result bjvmi_decode_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p, bjvmi_member *m) {
  char buffer[NAME_ROOM];
  const char *name;
  size_t size;
  vm->key_at = bjvmi_decode_offset(vm, p);
  f->place = BJVMI_PLACE_NONE;
  m->p = p;
  const char *q = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &name, &size);
  if (!q) return BJVMI_KEY_FAIL;
  q = bjvmi_decode_token(vm, q);
  if (*q != ':') {
    bjvmi_decode_unexpected(vm, q, "':'");
    return BJVMI_KEY_FAIL;
  }
  m->p = q + 1;
  return resolve(vm, f, name, size, m);
}
