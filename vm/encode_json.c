/* Struct, ListValue and Value in the encode VM: JSON inside JSON, in a loop of its own.
 *
 * Neighbours: encode_vm.c, whose loop does the same for any plan and is the twin: it prints these where map keys are
 * sorted, and in the small build. But half of what it does for a value of one word is to find out what to do next, and
 * a Value holds nothing but Values: here an object's or list's values follow one another with one jump for each.
 * Invariants: as in encode_vm.c; the frames are those that its loop would make, so a failure is reported alike.
 */
#include "encode.h"

#ifndef BJVM_SIZE_SMALL

/* Numbers of the members of google.protobuf.Value. */
enum { NULL_VALUE = 1, NUMBER, STRING, BOOL, STRUCT, LIST };

static inline const void *value_at(const void *value, const bjvmi_word *words, uint32_t member) {
  return bjvmi_upb_at(value, words[member - 1].offset);
}

#define ROOM()                                                                                               \
  if (__builtin_expect(out > vm->soft, 0)) {                                                                 \
    out = bjvmi_encode_grow(vm, out);                                                                        \
    if (!out) goto failed;                                                                                   \
  }

/* Prints `child`, a Value: one that holds no others goes on here, at `next`, and the others at `open`: nothing comes behind it. Which member it has is as good as random, so
 * strings, bools and null are one case. */
#define PUT_VALUE(next)                                                                                      \
  which = bjvmi_upb_oneof_case(child, words[0].presence);                                                    \
  if (__builtin_expect(which - 1 >= LIST, 0)) goto empty_value;                                              \
  if ((1u << STRING | 1u << BOOL | 1u << NULL_VALUE) >> which & 1) {                                         \
    out = put_text(vm, out, which, child, words);                                                            \
    if (__builtin_expect(!out, 0)) goto failed;                                                              \
    goto next;                                                                                               \
  }                                                                                                          \
  if (which == NUMBER) {                                                                                     \
    double number = *(const double *)value_at(child, words, NUMBER);                                         \
    if (__builtin_expect(!bjvmi_double_is_finite(number), 0)) goto not_finite;                               \
    out = bjvmi_num_print_double(out, number);                                                               \
    goto next;                                                                                               \
  }                                                                                                          \
  goto open;

/* A literal as a string that has no quotes: 0 null, 1 false, 2 true. */
typedef struct literal {
  char text[8];
  size_t size;
} literal;

static const literal literals[3] = {{"null", 4}, {"false", 5}, {"true", 4}};

static inline char *put_text(bjvmi_encoder *vm, char *out, uint32_t which, const void *child,
                             const bjvmi_word *words) {
  upb_StringView text = bjvmi_upb_string(value_at(child, words, STRING));
  uint32_t is_bool = which == BOOL;
  const literal *l = &literals[is_bool + (is_bool & *(const uint8_t *)value_at(child, words, BOOL))];
  size_t quote = which == STRING;
  size_t mask = 0 - quote; /* as the compiler would make a branch of a choice */
  text.data = (const char *)(((uintptr_t)text.data & mask) | ((uintptr_t)l->text & ~mask));
  text.size = (text.size & mask) | (l->size & ~mask);
  if (__builtin_expect(text.size - 1 < BJVMI_SHORT_MAX && vm->escape_flags == 0, 1)) {
    *out = '"';
    if (__builtin_expect(bjvmi_short_plain(out + quote, text.data, text.size), 1)) {
      out += text.size + quote;
      *out = '"';
      return out + quote;
    }
  }
  if (quote) return bjvmi_encode_long_string(vm, out, text.data, text.size);
  memcpy(out, l->text, sizeof l->text);
  return out + l->size;
}

char *bjvmi_encode_json(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const bjvm_plan *sub,
                        const void *child) {
  bjvmi_encode_frame *const bottom = f;
  const bjvmi_word *words = sub->words; /* of the value in hand: Value's, but for these two */
  const bjvm_plan *value = sub;         /* the plan of a Value */
  uint32_t which;                       /* member of the Value in hand */
  ROOM();
  if (sub->kind == BJVMI_KIND_STRUCT) goto struct_value;
  if (sub->kind == BJVMI_KIND_LIST_VALUE) goto list_value;
  PUT_VALUE(resume)

open:
  if (which == LIST) goto open_list;
  sub = bjvmi_encode_sub(vm, value, &words[STRUCT - 1]);
  if (__builtin_expect(!sub, 0)) goto failed;
  child = bjvmi_upb_pointer(value_at(child, words, STRUCT));
struct_value:
  if (__builtin_expect(++f >= vm->frame_end, 0)) goto too_deep;
  f->kind = BJVMI_ENCODE_MAP;
  f->plan = bjvmi_encode_sub(vm, sub, sub->words);
  if (__builtin_expect(!f->plan, 0)) goto failed_open;
  f->at = bjvmi_upb_pointer(bjvmi_upb_at(child, sub->words->offset));
  f->entries = NULL;
  f->u.walk = (bjvmi_map_walk){0, 0, 0};
  f->extension = 0;
  value = bjvmi_encode_sub(vm, f->plan, &f->plan->words[1]);
  if (__builtin_expect(!value, 0)) goto failed;
  words = value->words;
  f->count = f->at ? (uint32_t)bjvmi_upb_map_size((const upb_Map *)f->at) : 0;
  *out++ = '{';

member : {
  ROOM();
  const upb_tabent *e =
      f->extension < f->count ? bjvmi_upb_map_take((const upb_Map *)f->at, &f->u.walk) : NULL;
  if (!e) goto close_struct;
  upb_StringView name = bjvmi_upb_map_string_key(e);
  *out = ',';
  out += f->extension++ != 0;
  out = bjvmi_encode_string(vm, out, name.data, name.size);
  if (__builtin_expect(!out, 0)) goto failed;
  *out++ = ':';
  ROOM();
  child = bjvmi_upb_map_message_value(e);
  PUT_VALUE(member)
}

close_struct:
  *out++ = '}';
  f--;
  goto resume;

open_list:
  sub = bjvmi_encode_sub(vm, value, &words[LIST - 1]);
  if (__builtin_expect(!sub, 0)) goto failed;
  child = bjvmi_upb_pointer(value_at(child, words, LIST));
list_value:
  if (__builtin_expect(++f >= vm->frame_end, 0)) goto too_deep;
  f->kind = BJVMI_ENCODE_ARRAY;
  f->plan = bjvmi_encode_sub(vm, sub, sub->words);
  if (__builtin_expect(!f->plan, 0)) goto failed_open;
  f->at = bjvmi_upb_pointer(bjvmi_upb_at(child, sub->words->offset));
  f->u.index = 0;
  value = f->plan;
  words = value->words;
  *out++ = '[';

element : {
  const upb_Array *array = (const upb_Array *)f->at;
  ROOM();
  if (!array || f->u.index >= upb_Array_Size(array)) {
    *out++ = ']';
    f--;
    goto resume;
  }
  *out = ',';
  out += f->u.index != 0;
  child = ((const void *const *)upb_Array_DataPtr(array))[f->u.index++];
  PUT_VALUE(element)
}

resume:
  if (f == bottom) return out;
  if (f->kind == BJVMI_ENCODE_ARRAY) {
    value = f->plan;
    words = value->words;
    goto element;
  }
  value = bjvmi_encode_sub(vm, f->plan, &f->plan->words[1]);
  words = value->words;
  goto member;

empty_value:
  vm->status = BJVM_EMPTY_VALUE;
  goto failed;
not_finite:
  vm->status = BJVM_NOT_FINITE;
  goto failed;
too_deep:
  vm->status = BJVM_DEPTH;
  f = vm->frame_end;
failed_open:
  f--;
failed:
  vm->frame = f;
  return NULL;
}

#undef PUT_VALUE
#undef ROOM

#endif
