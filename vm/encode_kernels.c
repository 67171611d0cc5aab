/* The encode VM's kernels: strings, bytes, floats, enum values, names that need care, repeated scalars.
 *
 * Neighbours: encode_vm.c calls them with a slack of room and gets the same back. Invariant: each asks for
 * room (ROOM) before it writes more than a slack, and leaves at least the room a handler may use after its
 * value (TAIL).
 */
#include "encode.h"
#include "short_string.h"

enum { TAIL = 128 }; /* what a handler, or the end of a value, may write after a kernel without asking */

#define ROOM()                                                                                               \
  if (__builtin_expect(out > vm->soft, 0)) {                                                                 \
    out = bjvmi_encode_grow(vm, out);                                                                        \
    if (!out) return NULL;                                                                                   \
  }

char *bjvmi_encode_long_string(bjvmi_encoder *vm, char *out, const char *data, size_t size) {
  *out++ = '"';
#ifndef BJVM_SIZE_SMALL
  if (size - BJVMI_MIDDLE_LEAST <= BJVMI_MIDDLE_MAX - BJVMI_MIDDLE_LEAST && vm->escape_flags == 0 &&
      vm->hard - out >= BJVMI_MIDDLE_MAX + TAIL && bjvmi_middle_plain(out, data, size)) {
    out += size;
    *out++ = '"';
    return out;
  }
#endif
  out = bjvmi_encode_inside(vm, out, data, size);
  if (__builtin_expect(!out, 0)) return NULL;
  *out++ = '"';
  return out;
}

char *bjvmi_encode_inside(bjvmi_encoder *vm, char *out, const char *data, size_t size) {
  if (size == 0) return out; /* data may be NULL */
  const char *end = data + size;
  for (;;) {
    bjvmi_escape_result r = vm->kernels->escape(&data, end, &out, vm->hard - TAIL, vm->escape_flags);
    if (__builtin_expect(r == BJVMI_ESCAPE_DONE, 1)) return out;
    if (r == BJVMI_ESCAPE_BAD) {
      vm->status = BJVM_BAD_UTF8;
      return NULL;
    }
    out = bjvmi_encode_grow(vm, out);
    if (!out) return NULL;
  }
}

char *bjvmi_encode_bytes(bjvmi_encoder *vm, char *out, const char *data, size_t size) {
  const uint8_t *p = (const uint8_t *)data;
  *out++ = '"';
  while (size > 0) {
    size_t fit = (size_t)(vm->hard - TAIL - out) / 4 * 3; /* whole groups: only the last piece is padded */
    size_t n = size < fit ? size : fit;
    out = vm->kernels->base64_encode(out, p, n);
    p += n;
    size -= n;
    if (size == 0) break;
    out = bjvmi_encode_grow(vm, out);
    if (!out) return NULL;
  }
  *out++ = '"';
  return out;
}

static char *print_special(char *out, bool nan, bool negative) {
  const char *text = nan ? "\"NaN\"" : negative ? "\"-Infinity\"" : "\"Infinity\"";
  size_t n = nan ? 5 : negative ? 11 : 10;
  memcpy(out, text, n);
  return out + n;
}

char *bjvmi_encode_double(char *out, double v) {
  uint64_t bits;
  memcpy(&bits, &v, 8);
  if (__builtin_expect((bits >> 52 & 0x7ff) == 0x7ff, 0))
    return print_special(out, bits << 12 != 0, bits >> 63 != 0);
  return bjvmi_num_print_double(out, v);
}

char *bjvmi_encode_float(char *out, float v) {
  uint32_t bits;
  memcpy(&bits, &v, 4);
  if (__builtin_expect((bits >> 23 & 0xff) == 0xff, 0))
    return print_special(out, bits << 9 != 0, bits >> 31 != 0);
  return bjvmi_num_print_float(out, v);
}

/* A pooled text of any length, as it is. */
static char *put_text(bjvmi_encoder *vm, char *out, const char *text, size_t size) {
  while (size > 0) {
    ROOM();
    size_t n = (size_t)(vm->hard - TAIL - out);
    if (n > size) n = size;
    memcpy(out, text, n);
    out += n;
    text += n;
    size -= n;
  }
  return out;
}

/* A pooled text with escapes already in it, under `ascii` or `html_safe`: the existing escapes stay, the
 * other characters are escaped as the options say. [text, text + size) is the inside of a JSON string. */
static char *put_escaped(bjvmi_encoder *vm, char *out, const char *text, size_t size) {
  const char *end = text + size;
  while (text < end) {
    const char *run = text;
    while (run < end && *run != '\\' && *run != '"') run++;
    for (;;) {
      bjvmi_escape_result r = vm->kernels->escape(&text, run, &out, vm->hard - TAIL, vm->escape_flags);
      if (r == BJVMI_ESCAPE_DONE) break;
      out = bjvmi_encode_grow(vm, out); /* a name is valid UTF-8: only room can be missing */
      if (!out) return NULL;
    }
    size_t n = run == end ? 0 : *run == '\\' ? 2 : 1;
    memcpy(out, run, n);
    out += n;
    text = run + n;
  }
  return out;
}

static char *put_name(bjvmi_encoder *vm, char *out, const char *names, uint32_t name) {
  size_t size = bjvmi_name_length(names, name);
  if (vm->escape_flags && (bjvmi_name_flags(names, name) & BJVMI_NAME_SPECIAL)) {
    return put_escaped(vm, out, names + name, size);
  }
  return put_text(vm, out, names + name, size);
}

char *bjvmi_encode_name(bjvmi_encoder *vm, char *out, const char *names, uint32_t name, char separator) {
  if (separator == '{') {
    /* The pooled name begins with a comma: write the brace instead and skip it. */
    *out++ = '{';
    size_t size = bjvmi_name_length(names, name) - 1;
    if (vm->escape_flags && (bjvmi_name_flags(names, name) & BJVMI_NAME_SPECIAL)) {
      out = put_escaped(vm, out, names + name + 1, size);
    } else {
      out = put_text(vm, out, names + name + 1, size);
    }
  } else {
    out = put_name(vm, out, names, name);
  }
  if (!out) return NULL;
  ROOM();
  return out;
}

char *bjvmi_encode_enum(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, uint32_t sub, int32_t number) {
  uint32_t size;
  const bjvm_image *image = plan->binding->image;
  const char *name = bjvmi_enum_name(image, sub, number, &size);
  if (__builtin_expect(!name, 0)) return bjvmi_num_print_i32(out, number);
  if (__builtin_expect(size > 192 || vm->escape_flags, 0)) {
    out = put_name(vm, out, image->names, (uint32_t)(name - image->names));
    if (out) ROOM();
    return out;
  }
  for (size_t i = 0; i < size; i += 16) memcpy(out + i, name + i, 16);
  return out + size;
}

static char *print_i64(char *out, int64_t v, bool quoted) {
  *out = '"';
  out = bjvmi_num_print_i64(out + quoted, v);
  *out = '"';
  return out + quoted;
}

static char *print_u64(char *out, uint64_t v, bool quoted) {
  *out = '"';
  out = bjvmi_num_print_u64(out + quoted, v);
  *out = '"';
  return out + quoted;
}

char *bjvmi_encode_scalar(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, const bjvmi_word *w,
                          const void *value) {
  switch (BJVMI_OP_KIND(w->op)) {
    case BJVMI_KIND_BOOL: return bjvmi_encode_bool(out, *(const bool *)value);
    case BJVMI_KIND_INT32: return bjvmi_num_print_i32(out, (int32_t)bjvmi_upb_u32(value));
    case BJVMI_KIND_UINT32: return bjvmi_num_print_u32(out, bjvmi_upb_u32(value));
    case BJVMI_KIND_INT64: return print_i64(out, (int64_t)bjvmi_upb_u64(value), true);
    case BJVMI_KIND_UINT64: return print_u64(out, bjvmi_upb_u64(value), true);
    case BJVMI_KIND_INT64_NUMBER: return print_i64(out, (int64_t)bjvmi_upb_u64(value), false);
    case BJVMI_KIND_UINT64_NUMBER: return print_u64(out, bjvmi_upb_u64(value), false);
    case BJVMI_KIND_FLOAT: return bjvmi_encode_float(out, *(const float *)value);
    case BJVMI_KIND_DOUBLE: return bjvmi_encode_double(out, *(const double *)value);
    case BJVMI_KIND_STRING: {
      upb_StringView s = bjvmi_upb_string(value);
      return bjvmi_encode_string(vm, out, s.data, s.size);
    }
    case BJVMI_KIND_BYTES: {
      upb_StringView s = bjvmi_upb_string(value);
      return bjvmi_encode_bytes(vm, out, s.data, s.size);
    }
    case BJVMI_KIND_ENUM: return bjvmi_encode_enum(vm, out, plan, w->sub, (int32_t)bjvmi_upb_u32(value));
    default: memcpy(out, "null", 4); return out + 4;
  }
}

#ifdef BJVM_SIZE_SMALL

char *bjvmi_encode_array(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, const bjvmi_word *w,
                         const upb_Array *array) {
  size_t size = array ? upb_Array_Size(array) : 0;
  const char *data = array ? (const char *)upb_Array_DataPtr(array) : NULL;
  size_t step = bjvmi_kind_size(BJVMI_OP_KIND(w->op));
  *out++ = '[';
  for (size_t i = 0; i < size; i++) {
    ROOM();
    *out = ',';
    out += i != 0;
    out = bjvmi_encode_scalar(vm, out, plan, w, data + i * step);
    if (!out) return NULL;
  }
  ROOM();
  *out++ = ']';
  return out;
}

#else

/* One loop per kind, so that the kind is asked once an array. `sep` is the bracket before the first element. */
#define EACH(print)                                                                                          \
  for (; i < size; i++) {                                                                                    \
    ROOM();                                                                                                  \
    *out++ = sep;                                                                                            \
    sep = ',';                                                                                               \
    out = (print);                                                                                           \
    if (!out) return NULL;                                                                                   \
  }                                                                                                          \
  break

/* By itself, as the inside of bjvmi_encode_string wants registers. */
static __attribute__((noinline)) char *put_strings(bjvmi_encoder *vm, char *out,
                                                   const upb_StringView *strings, size_t size) {
  char sep = '[';
  for (size_t i = 0; i < size; i++) { /* strings may be NULL where there are none */
    ROOM();
    *out++ = sep;
    sep = ',';
    out = bjvmi_encode_string(vm, out, strings[i].data, strings[i].size);
    if (!out) return NULL;
  }
  return out;
}

char *bjvmi_encode_array(bjvmi_encoder *vm, char *out, const bjvm_plan *plan, const bjvmi_word *w,
                         const upb_Array *array) {
  size_t size = array ? upb_Array_Size(array) : 0;
  const void *data = array ? upb_Array_DataPtr(array) : NULL;
  const upb_StringView *strings = (const upb_StringView *)data;
  size_t i = 0;
  char sep = '[';
  switch (BJVMI_OP_KIND(w->op)) {
    case BJVMI_KIND_BOOL: EACH(bjvmi_encode_bool(out, ((const bool *)data)[i]));
    case BJVMI_KIND_INT32: EACH(bjvmi_num_print_i32(out, ((const int32_t *)data)[i]));
    case BJVMI_KIND_UINT32: EACH(bjvmi_num_print_u32(out, ((const uint32_t *)data)[i]));
    case BJVMI_KIND_INT64: EACH(print_i64(out, ((const int64_t *)data)[i], true));
    case BJVMI_KIND_UINT64: EACH(print_u64(out, ((const uint64_t *)data)[i], true));
    case BJVMI_KIND_INT64_NUMBER: EACH(print_i64(out, ((const int64_t *)data)[i], false));
    case BJVMI_KIND_UINT64_NUMBER: EACH(print_u64(out, ((const uint64_t *)data)[i], false));
    case BJVMI_KIND_FLOAT: EACH(bjvmi_encode_float(out, ((const float *)data)[i]));
    case BJVMI_KIND_DOUBLE: EACH(bjvmi_encode_double(out, ((const double *)data)[i]));
    case BJVMI_KIND_STRING: out = put_strings(vm, out, strings, size); break;
    case BJVMI_KIND_BYTES: EACH(bjvmi_encode_bytes(vm, out, strings[i].data, strings[i].size));
    case BJVMI_KIND_ENUM: EACH(bjvmi_encode_enum(vm, out, plan, w->sub, ((const int32_t *)data)[i]));
    default: EACH((char *)memcpy(out, "null", 4) + 4);
  }
  if (!out) return NULL;
  ROOM();
  if (size == 0) *out++ = '[';
  *out++ = ']';
  return out;
}

#undef EACH

#endif

#undef ROOM
