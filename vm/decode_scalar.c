/* Scalars in the decode VM: numbers, booleans, strings, bytes and enum values, in every accepted spelling.
 *
 * Neighbours: decode_vm.c has inline paths for the plain spellings, which come here when they meet anything
 * else; num_*.c and the string kernels do the work. Invariant: a function advances past a whole token or
 * reports where it is wrong.
 */
#define BJVMI_SHORT_DEFINE
#include "decode.h"

const char *bjvmi_decode_close_quote(bjvmi_decoder *vm, const char *p, unsigned *flags) {
  const char *q = vm->kernels->scan(p + 1, vm->end, flags);
  if (q < vm->end && *q == '"') return q;
  if (q >= vm->end) return bjvmi_decode_fail(vm, BJVM_TRUNCATED, q, "a closing quote");
  return bjvmi_decode_fail(vm, BJVM_CONTROL_CHAR, q, "an escape for it, or a closing quote");
}

/* Checks each escape of [p, q) by unescaping it alone (a surrogate pair counts as one). */
static bool check_escapes(bjvmi_decoder *vm, const char *p, const char *q) {
  char sink[16];
  const char *bad;
  while ((p = (const char *)memchr(p, '\\', (size_t)(q - p))) != NULL) {
    size_t n = q - p >= 2 && p[1] == 'u' ? 6 : 2;
    if (n == 6 && q - p >= 12 && p[6] == '\\' && (p[2] | 0x20) == 'd' && p[3] >= '8' &&
        (p[3] <= '9' || p[3] == 'a' || p[3] == 'b' || p[3] == 'A' || p[3] == 'B')) {
      n = 12;
    }
    if ((size_t)(q - p) < n) n = (size_t)(q - p);
    if (!bjvmi_string_unescape(sink, p, p + n, &bad)) {
      bjvmi_decode_fail(vm, BJVM_BAD_ESCAPE, bad,
                        "\\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX, surrogates in pairs");
      return false;
    }
    p += n;
  }
  return true;
}

static bool check_utf8(bjvmi_decoder *vm, const char *p, const char *q) {
  const char *bad = vm->kernels->utf8(p, (size_t)(q - p));
  if (!bad) return true;
  bjvmi_decode_fail(vm, BJVM_BAD_UTF8, bad, "a character in UTF-8");
  return false;
}

bool bjvmi_decode_check_string(bjvmi_decoder *vm, const char *p, const char *q, unsigned flags) {
  if ((flags & BJVMI_STRING_NONASCII) && !check_utf8(vm, p, q)) return false;
  return !(flags & BJVMI_STRING_ESCAPES) || check_escapes(vm, p, q);
}

const char *bjvmi_decode_short(bjvmi_decoder *vm, const char *p, char *buffer, size_t capacity,
                               const char **text, size_t *size) {
  unsigned flags = 0;
  size_t length = bjvmi_short_length(p + 1);
  if (__builtin_expect(length <= BJVMI_SHORT_MAX, 1)) {
    *text = p + 1;
    *size = length;
    return p + length + 2;
  }
  const char *q = bjvmi_decode_close_quote(vm, p, &flags);
  if (!q) return NULL;
  size_t n = (size_t)(q - p - 1);
  if ((flags & BJVMI_STRING_NONASCII) && !check_utf8(vm, p + 1, q)) return NULL;
  *text = p + 1;
  *size = n;
  if (!(flags & BJVMI_STRING_ESCAPES)) return q + 1;
  if (n > capacity) buffer = bjvmi_decode_temporary(vm, n);
  if (!buffer) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  const char *bad;
  const char *end = bjvmi_string_unescape(buffer, p + 1, q, &bad);
  if (!end)
    return bjvmi_decode_fail(vm, BJVM_BAD_ESCAPE, bad,
                             "\\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX, surrogates in pairs");
  *text = buffer;
  *size = (size_t)(end - buffer);
  return q + 1;
}

/* -- Strings and bytes ---------------------------------------------------------------------------------- */

static const char *read_escaped(bjvmi_decoder *vm, const char *p, const char *q, void *dst) {
  const char *bad;
  size_t n = (size_t)(q - p - 1);
  char *copy = (char *)bjvmi_decode_alloc(vm, n);
  if (!copy) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  char *end = bjvmi_string_unescape(copy, p + 1, q, &bad);
  if (!end)
    return bjvmi_decode_fail(vm, BJVM_BAD_ESCAPE, bad,
                             "\\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\uXXXX, surrogates in pairs");
  upb_Arena_ShrinkLast(vm->arena, copy, n, (size_t)(end - copy));
  vm->memory_left += n - (size_t)(end - copy);
  bjvmi_upb_set_string(dst, copy, (size_t)(end - copy));
  return q + 1;
}

const char *bjvmi_decode_string(bjvmi_decoder *vm, const char *p, void *dst) {
  const char *q = bjvmi_decode_plain_string(vm, p, dst);
  return q ? q : bjvmi_decode_long_string(vm, p, dst);
}

const char *bjvmi_decode_long_string(bjvmi_decoder *vm, const char *p, void *dst) {
  unsigned flags = 0;
  if (__builtin_expect(vm->status != BJVM_OK, 0)) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  const char *q = vm->kernels->scan(p + 1, vm->end, &flags);
  if (__builtin_expect(q >= vm->end || *q != '"', 0)) return bjvmi_decode_close_quote(vm, p, &flags);
  if (__builtin_expect(flags != 0, 0)) {
    if ((flags & BJVMI_STRING_NONASCII) && !check_utf8(vm, p + 1, q)) return NULL;
    if (flags & BJVMI_STRING_ESCAPES) return read_escaped(vm, p, q, dst);
  }
  size_t n = (size_t)(q - p - 1);
  if (vm->flags & BJVM_DECODE_ALIAS) {
    bjvmi_upb_set_string(dst, vm->json + bjvmi_decode_offset(vm, p + 1), n);
    return q + 1;
  }
  char *copy = (char *)bjvmi_decode_alloc(vm, n);
  if (__builtin_expect(!copy, 0)) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  memcpy(copy, p + 1, n);
  bjvmi_upb_set_string(dst, copy, n);
  return q + 1;
}

const char *bjvmi_decode_bytes(bjvmi_decoder *vm, const char *p, void *dst) {
  unsigned flags = 0;
  const char *bad;
  const char *text = p + 1;
  const char *q = bjvmi_decode_close_quote(vm, p, &flags);
  if (!q) return NULL;
  size_t n = (size_t)(q - text);
  if (flags & BJVMI_STRING_ESCAPES) {
    char none[1];
    if (!bjvmi_decode_short(vm, p, none, 0, &text, &n)) return NULL;
  }
  size_t room = (n + 3) / 4 * 3;
  uint8_t *copy = (uint8_t *)bjvmi_decode_alloc(vm, room);
  if (!copy) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  uint8_t *end = vm->kernels->base64_decode(copy, text, n, &bad);
  if (!end) return bjvmi_decode_fail(vm, BJVM_BAD_BASE64, p, "standard or URL-safe base64, padded or not");
  upb_Arena_ShrinkLast(vm->arena, copy, room, (size_t)(end - copy));
  vm->memory_left += room - (size_t)(end - copy);
  bjvmi_upb_set_string(dst, (const char *)copy, (size_t)(end - copy));
  return q + 1;
}

/* -- Numbers -------------------------------------------------------------------------------------------- */

enum { QUOTED_ROOM = 64 }; /* a quoted number with escapes that is longer goes to temporary memory */

/* Whether a byte cannot follow a number: the token goes on, so the number is badly spelled, as 01, 1.5.2 or
 * 0x1. */
static bool runs_on(char c) {
  return (uint8_t)(c - '0') <= 9 || (uint8_t)((c | 0x20) - 'a') < 26 || c == '.' || c == '+' || c == '-' ||
         c == '_';
}

const char *bjvmi_decode_bare_number(bjvmi_decoder *vm, const char *p, bjvmi_num *num) {
  bjvm_status s = bjvmi_num_scan(p, vm->end, num);
  if (s == BJVM_TRUNCATED) return bjvmi_decode_fail(vm, s, vm->end, "a number");
  if (s != BJVM_OK || (num->end < vm->end && runs_on(*num->end))) {
    return bjvmi_decode_fail(vm, BJVM_SYNTAX, p, "a number");
  }
  return num->end;
}

/* A number token, bare or quoted, into *num; *p moves behind it. `buffer` keeps an unescaped text alive. */
static bool read_number(bjvmi_decoder *vm, const char **p, char *buffer, bjvmi_num *num,
                        const char *expected) {
  const char *start = *p;
  if (*start == '"') {
    const char *text;
    size_t size;
    const char *q = bjvmi_decode_short(vm, start, buffer, QUOTED_ROOM, &text, &size);
    if (!q) return false;
    if (bjvmi_num_scan(text, text + size, num) != BJVM_OK || num->end != text + size) {
      bjvmi_decode_fail(vm, BJVM_BAD_NUMBER, start, expected);
      return false;
    }
    *p = q;
    return true;
  }
  if (*start != '-' && (uint8_t)(*start - '0') > 9) {
    bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, start, expected);
    return false;
  }
  return (*p = bjvmi_decode_bare_number(vm, start, num)) != NULL;
}

static const char *expected_number(bjvmi_kind kind) {
  switch (kind) {
    case BJVMI_KIND_INT32: return "an integer from -2147483648 to 2147483647";
    case BJVMI_KIND_UINT32: return "an integer from 0 to 4294967295";
    case BJVMI_KIND_INT64: return "an integer from -9223372036854775808 to 9223372036854775807";
    case BJVMI_KIND_UINT64: return "an integer from 0 to 18446744073709551615";
    case BJVMI_KIND_FLOAT: return "a number that a float can hold";
    default: return "a number that a double can hold";
  }
}

static bjvmi_read read_numeric(bjvmi_decoder *vm, const char **p, bjvmi_kind kind, void *dst) {
  char buffer[QUOTED_ROOM];
  bjvmi_num num;
  bjvm_status s;
  const char *start = *p;
  if (!read_number(vm, p, buffer, &num, expected_number(kind))) return BJVMI_READ_FAIL;
  switch (kind) {
    case BJVMI_KIND_INT32: s = bjvmi_num_to_i32(&num, (int32_t *)dst); break;
    case BJVMI_KIND_UINT32: s = bjvmi_num_to_u32(&num, (uint32_t *)dst); break;
    case BJVMI_KIND_INT64: s = bjvmi_num_to_i64(&num, (int64_t *)dst); break;
    case BJVMI_KIND_UINT64: s = bjvmi_num_to_u64(&num, (uint64_t *)dst); break;
    case BJVMI_KIND_FLOAT: s = bjvmi_num_to_float(&num, (float *)dst); break;
    default: s = bjvmi_num_to_double(&num, (double *)dst); break;
  }
  if (s == BJVM_OK) return BJVMI_READ_VALUE;
  bjvmi_decode_fail(vm, s, start, expected_number(kind));
  return BJVMI_READ_FAIL;
}

/* The three words of float and double, in quotes; false: something else. */
static bool read_special(const char **p, bjvmi_kind kind, void *dst) {
  static const struct {
    const char *text;
    size_t size;
    uint32_t f;
    uint64_t d;
  } words[] = {
      {"\"NaN\"", 5, 0x7fc00000, 0x7ff8000000000000},
      {"\"Infinity\"", 10, 0x7f800000, 0x7ff0000000000000},
      {"\"-Infinity\"", 11, 0xff800000, 0xfff0000000000000},
  };
  for (size_t i = 0; i < 3; i++) {
    if (memcmp(*p, words[i].text, words[i].size) != 0) continue;
    if (kind == BJVMI_KIND_FLOAT) {
      bjvmi_upb_set_u32(dst, words[i].f);
    } else {
      bjvmi_upb_set_u64(dst, words[i].d);
    }
    *p += words[i].size;
    return true;
  }
  return false;
}

/* A quoted float that has escapes may still spell one of the words: unescape it and look again. */
static bool read_escaped_special(bjvmi_decoder *vm, const char **p, bjvmi_kind kind, void *dst) {
  char text[16 + BJVMI_DECODE_PAD];
  char buffer[QUOTED_ROOM * 2];
  unsigned flags = 0;
  const char *inside;
  size_t size;
  const char *q = vm->kernels->scan(*p + 1, vm->end, &flags);
  if (q >= vm->end || *q != '"' || !(flags & BJVMI_STRING_ESCAPES) || (size_t)(q - *p) > sizeof buffer)
    return false;
  if (!bjvmi_decode_short(vm, *p, buffer, sizeof buffer, &inside, &size) || size > 12) return false;
  memset(text, 0, sizeof text);
  text[0] = '"';
  memcpy(text + 1, inside, size);
  text[size + 1] = '"';
  const char *t = text;
  if (!read_special(&t, kind, dst) || t != text + size + 2) return false;
  *p = q + 1;
  return true;
}

static bjvmi_read read_float(bjvmi_decoder *vm, const char **p, bjvmi_kind kind, void *dst) {
  if (**p == '"') {
    if (read_special(p, kind, dst) || read_escaped_special(vm, p, kind, dst)) return BJVMI_READ_VALUE;
    if (vm->status != BJVM_OK) return BJVMI_READ_FAIL;
  }
  return read_numeric(vm, p, kind, dst);
}

/* -- Booleans, enums ------------------------------------------------------------------------------------ */

static bjvmi_read read_bool(bjvmi_decoder *vm, const char **p, void *dst) {
  if (memcmp(*p, "true", 4) == 0) {
    *(bool *)dst = true;
    *p += 4;
    return BJVMI_READ_VALUE;
  }
  if (memcmp(*p, "false", 5) == 0) {
    *(bool *)dst = false;
    *p += 5;
    return BJVMI_READ_VALUE;
  }
  bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, *p, "true or false");
  return BJVMI_READ_FAIL;
}

static bjvmi_read unknown_enum(bjvmi_decoder *vm, const char *start) {
  if (vm->flags & BJVM_DECODE_IGNORE_UNKNOWN) return BJVMI_READ_DROP;
  bjvmi_decode_fail(vm, BJVM_UNKNOWN_ENUM, start, NULL);
  return BJVMI_READ_FAIL;
}

static bjvmi_read read_enum_name(bjvmi_decoder *vm, const char **p, const bjvm_plan *plan, uint32_t sub,
                                 void *dst) {
  char buffer[256];
  const char *name;
  size_t size;
  int32_t number;
  const bjvm_image *image = plan->binding->image;
  const char *start = *p;
  const char *q = bjvmi_decode_short(vm, start, buffer, sizeof buffer, &name, &size);
  if (!q) return BJVMI_READ_FAIL;
  bool fold = (vm->flags & BJVM_DECODE_CASE_INSENSITIVE_ENUMS) != 0;
  *p = q;
  if (bjvmi_enum_number(image, sub, name, size, fold, &number)) {
    bjvmi_upb_set_u32(dst, (uint32_t)number);
    return BJVMI_READ_VALUE;
  }
  bjvmi_num num;
  if (bjvmi_num_scan(name, name + size, &num) == BJVM_OK && num.end == name + size &&
      bjvmi_num_to_i32(&num, &number) == BJVM_OK) {
    uint32_t ignored;
    if (!bjvmi_enum_is_closed(image, sub) || bjvmi_enum_name(image, sub, number, &ignored)) {
      bjvmi_upb_set_u32(dst, (uint32_t)number);
      return BJVMI_READ_VALUE;
    }
  }
  return unknown_enum(vm, start);
}

static bjvmi_read read_enum(bjvmi_decoder *vm, const char **p, const bjvm_plan *plan, const bjvmi_word *w,
                            void *dst) {
  const bjvm_image *image = plan->binding->image;
  const char *start = *p;
  int32_t number = 0;
  uint32_t ignored;
  if (*start == '"') return read_enum_name(vm, p, plan, w->sub, dst);
  if (*start != '-' && (uint8_t)(*start - '0') > 9) {
    bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, start, "the name or number of an enum value");
    return BJVMI_READ_FAIL;
  }
  if (read_numeric(vm, p, BJVMI_KIND_INT32, &number) == BJVMI_READ_FAIL) return BJVMI_READ_FAIL;
  if (bjvmi_enum_is_closed(image, w->sub) && !bjvmi_enum_name(image, w->sub, number, &ignored)) {
    return unknown_enum(vm, start);
  }
  bjvmi_upb_set_u32(dst, (uint32_t)number);
  return BJVMI_READ_VALUE;
}

/* -- Any of them ---------------------------------------------------------------------------------------- */

static bjvmi_read read_text(bjvmi_decoder *vm, const char **p, bjvmi_kind kind, void *dst) {
  const char *start = *p;
  if (*start != '"') {
    bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, start, "a string");
    return BJVMI_READ_FAIL;
  }
  const char *q =
      kind == BJVMI_KIND_STRING ? bjvmi_decode_string(vm, start, dst) : bjvmi_decode_bytes(vm, start, dst);
  if (!q) return BJVMI_READ_FAIL;
  *p = q;
  return BJVMI_READ_VALUE;
}

bjvmi_read bjvmi_decode_scalar(bjvmi_decoder *vm, const char **p, const bjvm_plan *plan, const bjvmi_word *w,
                               void *dst) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  if (**p == 'n' && bjvmi_decode_is_null(*p)) {
    *p += 4;
    if (kind != BJVMI_KIND_NULL_VALUE) return BJVMI_READ_NULL;
    bjvmi_upb_set_u32(dst, 0);
    return BJVMI_READ_VALUE;
  }
  switch (kind) {
    case BJVMI_KIND_BOOL: return read_bool(vm, p, dst);
    case BJVMI_KIND_FLOAT:
    case BJVMI_KIND_DOUBLE: return read_float(vm, p, kind, dst);
    case BJVMI_KIND_STRING:
    case BJVMI_KIND_BYTES: return read_text(vm, p, kind, dst);
    case BJVMI_KIND_ENUM:
    case BJVMI_KIND_NULL_VALUE: return read_enum(vm, p, plan, w, dst);
    default: return read_numeric(vm, p, kind, dst);
  }
}
