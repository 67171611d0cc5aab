/* The encode VM's loop: runs the bound words of a plan against a message and writes JSON.
 *
 * Neighbours: encode.c sets up and reports, encode_kernels.c, encode_map.c and encode_wkt.c hold everything
 * that has a loop of its own. Invariants: a handler starts with BJVMI_ENCODE_SLACK bytes of room (ROOM) and
 * writes less; the position `out` lives in a register; frames hold all state of nested values, there is no C
 * recursion.
 *
 * The registers: pc (the word), msg (its message), plan, out, f (frame), sep (what separates the next name:
 * `{` before the first member, `,` afterwards). A name is stored as `,"name":`: it is copied whole and its
 * first byte patched with sep.
 */
#include "encode.h"

#if defined(BJVM_DISPATCH_SWITCH) || !defined(__GNUC__)
#define USE_SWITCH 1
#else
#define USE_SWITCH 0
#endif

/* Copies the encoded name at `src`; `len` <= 255. Wide copies may run past it by 15 bytes, inside the pool's
 * padding. */
static inline char *copy_name(char *out, const char *src, size_t len, char sep) {
  memcpy(out, src, 16);
  if (len > 16) {
    memcpy(out + 16, src + 16, 16);
    for (size_t i = 32; i < len; i += 16) memcpy(out + i, src + i, 16);
  }
  out[0] = sep;
  return out + len;
}

static inline bool is_zero(const void *p, bjvmi_kind kind) {
  switch (kind) {
    case BJVMI_KIND_BOOL: return *(const uint8_t *)p == 0;
    case BJVMI_KIND_STRING:
    case BJVMI_KIND_BYTES: return bjvmi_upb_string(p).size == 0;
    case BJVMI_KIND_INT64:
    case BJVMI_KIND_UINT64:
    case BJVMI_KIND_INT64_NUMBER:
    case BJVMI_KIND_UINT64_NUMBER:
    case BJVMI_KIND_DOUBLE: return bjvmi_upb_u64(p) == 0;
    default: return bjvmi_upb_u32(p) == 0;
  }
}

#ifndef BJVM_SIZE_SMALL
static inline char *print_quoted_i64(char *out, int64_t v) {
  *out++ = '"';
  out = bjvmi_num_print_i64(out, v);
  *out++ = '"';
  return out;
}

static inline char *print_quoted_u64(char *out, uint64_t v) {
  *out++ = '"';
  out = bjvmi_num_print_u64(out, v);
  *out++ = '"';
  return out;
}
#endif

/* The first missing required field of `msg` goes to vm->pc. */
static bool check_required(bjvmi_encoder *vm, const bjvm_plan *plan, const void *msg) {
  for (uint32_t i = 0; i < plan->word_count; i++) {
    if (!bjvmi_upb_is_required(plan->table, plan->words[i].number)) continue;
    if (bjvmi_upb_hasbit(msg, plan->words[i].presence)) continue;
    vm->pc = &plan->words[i] + 1;
    vm->status = BJVM_REQUIRED;
    return false;
  }
  return true;
}

#ifdef BJVM_SIZE_SMALL
/* Whether the field of a word is printed; an end always is. */
static bool is_printed(const void *msg, const bjvmi_word *w) {
  const void *value = bjvmi_upb_at(msg, w->offset);
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  const void *many;
  if (kind == BJVMI_KIND_END) return true;
  switch ((bjvmi_form)BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_IMPLICIT: return !is_zero(value, kind);
    case BJVMI_FORM_HASBIT: return bjvmi_upb_hasbit(msg, w->presence);
    case BJVMI_FORM_ONEOF: return bjvmi_upb_oneof_case(msg, w->presence) == w->number;
    case BJVMI_FORM_ARRAY:
      many = bjvmi_upb_pointer(value);
      if (!many) return false;
      if (kind == BJVMI_KIND_MAP) return bjvmi_upb_map_size((const upb_Map *)many) > 0;
      return upb_Array_Size((const upb_Array *)many) > 0;
    default: return true;
  }
}

/* Room for one handler, and the name of the field with its separator. */
static char *put_name(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, const bjvmi_word *w, char sep) {
  if (out > vm->soft) {
    out = bjvmi_encode_grow(vm, out);
    if (!out) return NULL;
  }
  if (w->name_len) return copy_name(out, plan->names + w->name, w->name_len, sep);
  return bjvmi_encode_name(vm, out, plan->names, w->name, sep);
}
#endif

#ifndef BJVM_SIZE_SMALL
/* The words to run for a wide message: those that may have something to print, or all. */
static const bjvmi_word *some_words(bjvmi_encoder *vm, const bjvm_plan *plan, const bjvmi_word *words,
                                    const void *msg) {
  size_t room = BJVMI_SPARSE_LIST - vm->list_size;
  bjvmi_word *list = vm->list + vm->list_size;
  if (room == 0 || (vm->variant & BJVM_ENCODE_EMIT_DEFAULTS)) return words;
  size_t count = bjvmi_sparse_list(plan->sparse, vm->kernels, plan->word_count, words, msg, list, room);
  if (count == room) return words;
  list[count] = words[plan->word_count];
  list[count].op = BJVMI_OP(BJVMI_KIND_END, BJVMI_END_SPARSE);
  list[count].offset = (uint16_t)vm->list_size; /* where the list starts, and ends when its message does */
  vm->list_size += count + 1;
  return list;
}
#endif

/* -- The loop. Labels are KIND_FORM; macros are defined here and undefined below. ----------------------- */

/* Room for one handler. */
#define ROOM()                                                                                               \
  if (__builtin_expect(out > vm->soft, 0)) {                                                                 \
    out = bjvmi_encode_grow(vm, out);                                                                        \
    if (!out) goto failed;                                                                                   \
  }

/* The field's name, with its separator. */
#ifdef BJVM_SIZE_SMALL
#define NAME()                                                                                               \
  out = put_name(vm, out, plan, pc, sep);                                                                    \
  if (!out) goto failed;                                                                                     \
  sep = ','
#else
#define NAME()                                                                                               \
  ROOM();                                                                                                    \
  if (__builtin_expect(pc->name_len != 0, 1)) {                                                              \
    out = copy_name(out, plan->names + pc->name, pc->name_len, sep);                                         \
  } else {                                                                                                   \
    out = bjvmi_encode_name(vm, out, plan->names, pc->name, sep);                                            \
    if (!out) goto failed;                                                                                   \
  }                                                                                                          \
  sep = ','
#endif

#define CHECK(expression)                                                                                    \
  out = (expression);                                                                                        \
  if (__builtin_expect(!out, 0)) goto failed

#define VALUE() bjvmi_upb_at(msg, pc->offset)

#if USE_SWITCH
#define DISPATCH() goto dispatch
#else
#define DISPATCH() goto *labels[pc->op]
#endif
#define NEXT()                                                                                               \
  pc++;                                                                                                      \
  DISPATCH()

/* The presence tests of a kind: all lead to KIND_ALWAYS, or on. */
#define PRESENCE(kind)                                                                                       \
  kind##_IMPLICIT : if (!is_zero(VALUE(), BJVMI_KIND_##kind)) goto kind##_ALWAYS;                            \
  NEXT();                                                                                                    \
  kind##_HASBIT : if (bjvmi_upb_hasbit(msg, pc->presence)) goto kind##_ALWAYS;                               \
  NEXT();                                                                                                    \
  kind##_ONEOF : if (bjvmi_upb_oneof_case(msg, pc->presence) == pc->number) goto kind##_ALWAYS;              \
  NEXT();

/* A scalar: name, then `print` (an expression that gives the new out). */
#define SCALAR(kind, print)                                                                                  \
  PRESENCE(kind)                                                                                             \
  kind##_ALWAYS : NAME();                                                                                    \
  out = (print);                                                                                             \
  NEXT();

/* The same where printing may fail. */
#define FALLIBLE(kind, print)                                                                                \
  PRESENCE(kind)                                                                                             \
  kind##_ALWAYS : NAME();                                                                                    \
  CHECK(print);                                                                                              \
  NEXT();

#define ROW_SCALAR(name)                                                                                     \
  LABEL(name, IMPLICIT, name##_IMPLICIT)                                                                     \
  LABEL(name, HASBIT, name##_HASBIT)                                                                         \
  LABEL(name, ONEOF, name##_ONEOF)                                                                           \
  LABEL(name, ALWAYS, name##_ALWAYS)                                                                         \
  LABEL(name, ARRAY, scalar_array)                                                                           \
  LABEL(name, ARRAY_ALWAYS, scalar_array_always)
#define ROW_ENUM(name) ROW_SCALAR(name)
#define ROW_MESSAGE(name)                                                                                    \
  LABEL(name, HASBIT, message_hasbit)                                                                        \
  LABEL(name, ONEOF, message_oneof)                                                                          \
  LABEL(name, ALWAYS, message_always)                                                                        \
  LABEL(name, ARRAY, message_array)                                                                          \
  LABEL(name, ARRAY_ALWAYS, message_array_always)
#define ROW_MAP(name)                                                                                        \
  LABEL(name, ARRAY, map)                                                                                    \
  LABEL(name, ARRAY_ALWAYS, map_always)
#define ROW_CONTROL(name)                                                                                    \
  LABEL_END(MESSAGE, end_message)                                                                            \
  LABEL_END(EXTENDABLE, end_extendable)                                                                      \
  LABEL_END(EXTENSION, end_extension)                                                                        \
  LABEL_END(SPARSE, end_sparse)
#define KIND(name, number, shape, mnemonic, synopsis) ROW_##shape(name)

char *bjvmi_encode_run(bjvmi_encoder *vm, const bjvm_plan *plan, const upb_Message *top, char *out) {
#if !USE_SWITCH
#define LABEL(kind, form, label) [BJVMI_OP(BJVMI_KIND_##kind, BJVMI_FORM_##form)] = &&label,
#define LABEL_END(form, label) [BJVMI_OP(BJVMI_KIND_END, BJVMI_END_##form)] = &&label,
  static const void *const labels[256] = {
#include "ops.def"
  };
#undef LABEL
#undef LABEL_END
#endif
  bjvmi_encode_frame *f = vm->frames;
  const bjvmi_word *pc = NULL;
  const void *msg = NULL;
  const void *child = top;     /* the message-shaped value that `value` prints, and */
  const bjvm_plan *sub = plan; /* its plan */
  char sep = '{';

  f->kind = BJVMI_ENCODE_TOP;
  goto value;

#ifdef BJVM_SIZE_SMALL
/* Presence first, then one set of handlers for each shape. */
dispatch:
  while (!is_printed(msg, pc)) pc++;
  bool repeated = BJVMI_OP_FORM(pc->op) >= BJVMI_FORM_ARRAY;
  switch ((bjvmi_shape)bjvmi_shapes[BJVMI_OP_KIND(pc->op)]) {
    case BJVMI_SHAPE_SCALAR:
    case BJVMI_SHAPE_ENUM:
      if (repeated) goto scalar_array_always;
      NAME();
      CHECK(bjvmi_encode_scalar(vm, out, plan, pc, VALUE()));
      NEXT();
    case BJVMI_SHAPE_MESSAGE:
      if (repeated) goto message_array_always;
      goto message_always;
    case BJVMI_SHAPE_MAP: goto map_always;
    case BJVMI_SHAPE_CONTROL: break;
  }
  if (pc->op == BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENDABLE)) goto end_extendable;
  if (pc->op == BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENSION)) goto end_extension;
  goto end_message;
#elif USE_SWITCH
/* clang-format off */
#define LABEL(kind, form, label) case BJVMI_OP(BJVMI_KIND_##kind, BJVMI_FORM_##form): goto label;
#define LABEL_END(form, label) case BJVMI_OP(BJVMI_KIND_END, BJVMI_END_##form): goto label;
/* clang-format on */
dispatch:
  switch (pc->op) {
#include "ops.def"
    default: __builtin_unreachable(); /* the verifier lets no other opcode through */
  }
#undef LABEL
#undef LABEL_END
#else
  if (0) DISPATCH();
#endif

#ifndef BJVM_SIZE_SMALL
  SCALAR(BOOL, bjvmi_encode_bool(out, *(const bool *)VALUE()))
  SCALAR(INT32, bjvmi_num_print_i32(out, (int32_t)bjvmi_upb_u32(VALUE())))
  SCALAR(UINT32, bjvmi_num_print_u32(out, bjvmi_upb_u32(VALUE())))
  SCALAR(INT64, print_quoted_i64(out, (int64_t)bjvmi_upb_u64(VALUE())))
  SCALAR(UINT64, print_quoted_u64(out, bjvmi_upb_u64(VALUE())))
  SCALAR(INT64_NUMBER, bjvmi_num_print_i64(out, (int64_t)bjvmi_upb_u64(VALUE())))
  SCALAR(UINT64_NUMBER, bjvmi_num_print_u64(out, bjvmi_upb_u64(VALUE())))
  SCALAR(FLOAT, bjvmi_encode_float(out, *(const float *)VALUE()))
  SCALAR(DOUBLE, bjvmi_encode_double(out, *(const double *)VALUE()))
  SCALAR(NULL_VALUE, (char *)memcpy(out, "null", 4) + 4)
  FALLIBLE(STRING,
           bjvmi_encode_string(vm, out, bjvmi_upb_string(VALUE()).data, bjvmi_upb_string(VALUE()).size))
  FALLIBLE(BYTES, bjvmi_encode_bytes(vm, out, bjvmi_upb_string(VALUE()).data, bjvmi_upb_string(VALUE()).size))
  FALLIBLE(ENUM, bjvmi_encode_enum(vm, out, plan, pc->sub, (int32_t)bjvmi_upb_u32(VALUE())))

scalar_array : {
  const upb_Array *array = (const upb_Array *)bjvmi_upb_pointer(VALUE());
  if (array && upb_Array_Size(array) > 0) goto scalar_array_always;
  NEXT();
}
message_hasbit:
  if (bjvmi_upb_hasbit(msg, pc->presence)) goto message_always;
  NEXT();
message_oneof:
  if (bjvmi_upb_oneof_case(msg, pc->presence) == pc->number) goto message_always;
  NEXT();
message_array : {
  const upb_Array *array = (const upb_Array *)bjvmi_upb_pointer(VALUE());
  if (array && upb_Array_Size(array) > 0) goto message_array_always;
  NEXT();
}
map : {
  const upb_Map *map = (const upb_Map *)bjvmi_upb_pointer(VALUE());
  if (map && bjvmi_upb_map_size(map) > 0) goto map_always;
  NEXT();
}
#endif

/* Repeated scalars: one kernel call. */
scalar_array_always : {
  NAME();
  if (f + 1 >= vm->frame_end) goto too_deep;
  CHECK(bjvmi_encode_array(vm, out, plan, pc, (const upb_Array *)bjvmi_upb_pointer(VALUE())));
  NEXT();
}

/* Single messages of every kind. The caller's state is saved before the value runs; small leaves return at
 * once. */
message_always : {
  child = bjvmi_upb_pointer(VALUE());
  NAME();
  sub = bjvmi_encode_sub(vm, plan, pc);
  if (__builtin_expect(!sub, 0)) goto failed;
  if (sub->kind == BJVMI_KIND_TIMESTAMP) { /* the leaf met most: nothing to save and take up again */
    CHECK(bjvmi_encode_timestamp(vm, out, sub, child));
    NEXT();
  }
  f->pc = pc + 1;
  f->plan = plan;
  f->at = msg;
  goto value;
}

message_array_always : {
  NAME();
  sub = bjvmi_encode_sub(vm, plan, pc);
  if (__builtin_expect(!sub, 0)) goto failed;
  f->pc = pc + 1;
  f->plan = plan;
  f->at = msg;
  child = bjvmi_upb_pointer(VALUE());
  goto array_value;
}

map_always : {
  NAME();
  sub = bjvmi_encode_sub(vm, plan, pc);
  if (__builtin_expect(!sub, 0)) goto failed;
  f->pc = pc + 1;
  f->plan = plan;
  f->at = msg;
  child = bjvmi_upb_pointer(VALUE());
  goto map_value;
}

#ifndef BJVM_SIZE_SMALL
end_sparse:
  vm->list_size = pc->offset;
  if (!(plan->flags & BJVMI_MESSAGE_EXTENDABLE)) goto end_message;
#endif
end_extendable:
  if (vm->registry && vm->registry->find_extension_by_table) {
    f->u.owner.msg = msg;
    f->u.owner.plan = plan;
    f->extension = 0;
    goto next_extension;
  }
end_message : {
  ROOM();
  *out = '{'; /* the object is empty if sep still is the brace */
  out += sep == '{';
  *out++ = '}';
  f--;
  goto resume;
}

/* Extensions run as words of their own with the entry's value as their message. */
end_extension:
next_extension : {
  const upb_MessageValue *value = NULL;
  const upb_MiniTableExtension *e = NULL;
  const bjvm_extension *x = NULL;
  msg = f->u.owner.msg;
  plan = f->u.owner.plan;
  do {
    e = bjvmi_upb_next_extension((const upb_Message *)msg, f->extension, &value);
    if (!e) goto end_message;
    f->extension = upb_MiniTableExtension_Number(e);
    x = vm->registry->find_extension_by_table(vm->registry->context, e, &vm->status);
    if (__builtin_expect(vm->status != BJVM_OK, 0)) goto failed;
  } while (!x); /* one that the registry does not know is an unknown field */
  plan = bjvmi_encode_plan(vm, x->plan);
  if (__builtin_expect(!plan, 0)) goto no_words;
  pc = plan->words;
  msg = value;
  DISPATCH();
}

  /* -- Values: `child` is printed by its plan `sub`, then the current frame goes on. */
value:
  ROOM();
  switch (sub->kind) {
    case BJVMI_KIND_MESSAGE: goto object_value;
    case BJVMI_KIND_TIMESTAMP: CHECK(bjvmi_encode_timestamp(vm, out, sub, child)); goto resume;
    case BJVMI_KIND_DURATION: CHECK(bjvmi_encode_duration(vm, out, sub, child)); goto resume;
    case BJVMI_KIND_FIELD_MASK: CHECK(bjvmi_encode_field_mask(vm, out, sub, child)); goto resume;
    case BJVMI_KIND_WRAPPER: {
      const bjvm_plan *own = bjvmi_encode_plan(vm, sub);
      if (__builtin_expect(!own, 0)) goto failed;
      const bjvmi_word *w = own->words;
      CHECK(bjvmi_encode_scalar(vm, out, sub, w, bjvmi_upb_at(child, w->offset)));
      goto resume;
    }
#ifndef BJVM_SIZE_SMALL
    case BJVMI_KIND_STRUCT:
    case BJVMI_KIND_LIST_VALUE:
    case BJVMI_KIND_VALUE: goto json_value;
#else
    case BJVMI_KIND_STRUCT:
    case BJVMI_KIND_LIST_VALUE: goto json_container;
    case BJVMI_KIND_VALUE: goto any_json_value;
#endif
    default: goto any_value;
  }

#ifndef BJVM_SIZE_SMALL
json_value:
  if (__builtin_expect(!(vm->flags & BJVM_ENCODE_SORT_MAP_KEYS), 1)) {
    out = bjvmi_encode_json(vm, out, f, sub, child);
    if (__builtin_expect(!out, 0)) goto failed_below;
    goto resume;
  }
  if (sub->kind == BJVMI_KIND_VALUE) goto any_json_value;
#else
json_container:
#endif
  if (__builtin_expect(f + 1 >= vm->frame_end, 0)) goto too_deep; /* here, while plan and pc tell the field */
  plan = sub;
  pc = plan->words;
  child = bjvmi_upb_pointer(bjvmi_upb_at(child, pc->offset));
  sub = bjvmi_encode_sub(vm, plan, pc);
  if (__builtin_expect(!sub, 0)) goto failed;
  pc++;
  if (plan->kind == BJVMI_KIND_LIST_VALUE) goto array_value;
  goto map_value;

object_value:
  if (__builtin_expect(++f >= vm->frame_end, 0)) goto too_deep;
  f->kind = BJVMI_ENCODE_MESSAGE;
  plan = bjvmi_encode_plan(vm, sub);
  msg = child;
  sep = '{';
  if (__builtin_expect(!plan, 0)) goto no_words;
  pc = plan->words;
#ifndef BJVM_SIZE_SMALL
  if (__builtin_expect(plan->sparse != NULL, 0)) pc = some_words(vm, plan, pc, msg);
#endif
  if (__builtin_expect(vm->flags & BJVM_ENCODE_CHECK_REQUIRED, 0) && plan->required_count) {
    f->pc = pc;
    f->plan = plan;
    f->at = msg;
    if (!check_required(vm, plan, msg)) goto failed_required;
  }
  DISPATCH();

/* Message-shaped elements of the array `child` (NULL: none) by `sub`; the word is pc[-1]. */
array_value:
  if (__builtin_expect(++f >= vm->frame_end, 0)) goto too_deep;
  f->kind = BJVMI_ENCODE_ARRAY;
  f->pc = pc;
  f->plan = sub;
  f->at = child;
  f->u.index = 0;
  *out++ = '[';
  goto array_next;

/* The map `child` (NULL: empty) by its entry plan `sub`. */
map_value:
  if (__builtin_expect(++f >= vm->frame_end, 0)) goto too_deep;
  f->kind = BJVMI_ENCODE_MAP;
  f->pc = pc;
  f->plan = sub;
  if (!bjvmi_encode_map_begin(vm, f, (const upb_Map *)child, sub)) goto failed;
  if (BJVMI_OP_KIND(sub->words[1].op) < BJVMI_KIND_MESSAGE) {
    CHECK(bjvmi_encode_map(vm, out, f, sub));
    f--;
    goto resume;
  }
  *out++ = '{';
  sep = 0;
  goto map_next;

any_json_value : {
  const bjvmi_word *w = sub->words;
  uint32_t which = bjvmi_upb_oneof_case(child, w->presence);
  const void *value;
  if (which < 1 || which > 6) {
    vm->status = BJVM_EMPTY_VALUE;
    goto failed;
  }
  w += which - 1;
  value = bjvmi_upb_at(child, w->offset);
  switch (which) {
    case 5:
    case 6: /* Struct, ListValue */
      child = bjvmi_upb_pointer(value);
      sub = bjvmi_encode_sub(vm, sub, w);
      if (__builtin_expect(!sub, 0)) goto failed;
      goto value;
    case 3:
      CHECK(bjvmi_encode_string(vm, out, bjvmi_upb_string(value).data, bjvmi_upb_string(value).size));
      break;
    case 2:
      if (__builtin_expect(!bjvmi_double_is_finite(*(const double *)value), 0)) {
        vm->status = BJVM_NOT_FINITE;
        goto failed;
      }
      out = bjvmi_num_print_double(out, *(const double *)value);
      break;
#ifndef BJVM_SIZE_SMALL
    case 4: out = bjvmi_encode_bool(out, *(const bool *)value); break;
    case 1:
      memcpy(out, "null", 4);
      out += 4;
      break;
#endif
    default: CHECK(bjvmi_encode_scalar(vm, out, sub, w, value));
  }
  goto resume;
}

any_value : {
  const upb_Message *content = NULL;
  const bjvm_plan *content_plan = NULL;
  if (__builtin_expect(f + 1 >= vm->frame_end, 0)) goto too_deep;
  CHECK(bjvmi_encode_any(vm, out, sub, child, &content_plan, &content));
  if (!content_plan) goto resume;
  sub = content_plan;
  child = content;
  if (sub->kind == BJVMI_KIND_MESSAGE) {
    f++;
    f->kind = BJVMI_ENCODE_MESSAGE;
    plan = bjvmi_encode_plan(vm, sub);
    msg = child;
    sep = ',';
    if (__builtin_expect(!plan, 0)) goto no_words;
    pc = plan->words;
    if ((vm->flags & BJVM_ENCODE_CHECK_REQUIRED) && plan->required_count && !check_required(vm, plan, msg)) {
      goto failed_required;
    }
    DISPATCH();
  }
  f++;
  f->kind = BJVMI_ENCODE_ANY;
  memcpy(out, ",\"value\":", 9);
  out += 9;
  goto value;
}

  /* -- A value is finished: the current frame goes on. */
resume:
  switch (f->kind) {
    case BJVMI_ENCODE_MESSAGE:
      pc = f->pc;
      plan = f->plan;
      msg = f->at;
      sep = ',';
      DISPATCH();
    case BJVMI_ENCODE_ARRAY: goto array_next;
    case BJVMI_ENCODE_MAP: goto map_next;
    case BJVMI_ENCODE_ANY:
      ROOM();
      *out++ = '}';
      f--;
      goto resume;
    default: return out;
  }

array_next : {
  const upb_Array *array = (const upb_Array *)f->at;
  ROOM();
  if (array && f->u.index < upb_Array_Size(array)) {
    *out = ',';
    out += f->u.index != 0;
    child = ((const void *const *)upb_Array_DataPtr(array))[f->u.index++];
    sub = f->plan;
    if (sub->kind == BJVMI_KIND_MESSAGE) goto object_value;
    goto value;
  }
  *out++ = ']';
  f--;
  goto resume;
}

map_next:
  CHECK(bjvmi_encode_map_next(vm, out, f, &child));
  if (child) {
    sub = bjvmi_encode_sub(vm, f->plan, &f->plan->words[1]);
    if (__builtin_expect(!sub, 0)) goto failed;
    goto value;
  }
  *out++ = '}';
  f--;
  goto resume;

no_words: /* for these options */
  pc = NULL;
  goto failed;
too_deep:
  vm->status = BJVM_DEPTH;
failed:
  vm->pc = pc;
failed_required:
  vm->plan = plan;
  vm->frame = f < vm->frame_end ? f : vm->frame_end - 1;
  return NULL;
#ifndef BJVM_SIZE_SMALL
failed_below: /* in frames of its own, the last of which it left */
  vm->pc = pc;
  vm->plan = plan;
  return NULL;
#endif
}

#undef KIND
#undef ROW_CONTROL
#undef ROW_MAP
#undef ROW_MESSAGE
#undef ROW_ENUM
#undef ROW_SCALAR
#undef FALLIBLE
#undef SCALAR
#undef PRESENCE
#undef NEXT
#undef DISPATCH
#undef VALUE
#undef CHECK
#undef NAME
#undef ROOM
