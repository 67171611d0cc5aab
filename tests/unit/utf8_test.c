/* Every form of the UTF-8 validator against table 3-7 of the Unicode Standard, row by row. */
#define _DEFAULT_SOURCE
#include <criterion/criterion.h>
#include <string.h>

#include "guard.h"
#include "kernels.h"

/* Table 3-7: lead bytes, range of the second byte, length. Further bytes are 80..BF. */
static const struct row {
  uint8_t lead_low, lead_high, low, high;
  size_t length;
} rows[] = {
    {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static size_t sequence(const uint8_t *p, size_t left) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct row *r = &rows[i];
    if (p[0] < r->lead_low || p[0] > r->lead_high) continue;
    if (left < r->length) return 0;
    if (r->length > 1 && (p[1] < r->low || p[1] > r->high)) return 0;
    for (size_t k = 2; k < r->length; k++) {
      if (p[k] < 0x80 || p[k] > 0xBF) return 0;
    }
    return r->length;
  }
  return 0;
}

static const char *reference(const char *p, size_t size) {
  for (size_t i = 0, n; i < size; i += n) {
    n = sequence((const uint8_t *)p + i, size - i);
    if (n == 0) return p + i;
  }
  return NULL;
}

static void check(const char *p, size_t size, const char *what, size_t row) {
  const char *want = reference(p, size);
  for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
    const char *got = (*form)->utf8(p, size);
    if (got == want) continue;
    cr_assert_fail("%s, row %zu, size %zu, form %s: got %td, want %td", what, row, size, (*form)->name,
                   got ? got - p : -1, want ? want - p : -1);
  }
}

static const uint8_t borders[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                  0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
enum { BORDERS = sizeof borders };

Test(utf8, borders_of_every_row) {
  char *end = guard_end(256);
  /* Alone: all of one and two bytes, then four bytes of borders (three with ASCII behind). */
  for (size_t i = 0; i < 0x10000; i++) {
    end[-2] = (char)(i >> 8);
    end[-1] = (char)i;
    check(end - 2, 2, "pair", i);
    check(end - 1, 1, "byte", i);
  }
  /* Four bytes of borders in ASCII or in two-byte characters, at each place of a block and at the end. */
  for (size_t i = 0; i < BORDERS * BORDERS * BORDERS * BORDERS; i++) {
    char four[4] = {(char)borders[i % BORDERS], (char)borders[i / BORDERS % BORDERS],
                    (char)borders[i / BORDERS / BORDERS % BORDERS],
                    (char)borders[i / BORDERS / BORDERS / BORDERS]};
    size_t size = 34 + i % 37, at = i % 3 == 0 ? size - 4 : i / 3 % (size - 3);
    for (size_t k = 0; k < size; k++)
      (end - size)[k] = i % 5 == 0 ? (char)(k % 2 == at % 2 ? 0xC3 : 0xA4) : 'a';
    memcpy(end - size + at, four, 4);
    check(end - size, size, "four", i);
    check(end - size + at, size - at, "four at the front", i);
  }
}

Test(utf8, every_code_point) {
  char *end = guard_end(256), *start = end - 100;
  size_t n = 0;
  for (uint32_t v = 0; v < 0x110000; v++) {
    char *o = start + n;
    if (v < 0x80) *o++ = (char)v;
    else if (v < 0x800) *o++ = (char)(0xC0 | v >> 6);
    else if (v < 0x10000) *o++ = (char)(0xE0 | v >> 12);
    else *o++ = (char)(0xF0 | v >> 18);
    if (v >= 0x10000) *o++ = (char)(0x80 | (v >> 12 & 63));
    if (v >= 0x800) *o++ = (char)(0x80 | (v >> 6 & 63));
    if (v >= 0x80) *o++ = (char)(0x80 | (v & 63));
    bool surrogate = v >= 0xD800 && v < 0xE000;
    n = (size_t)(o - start);
    if (n < 90 && !surrogate) continue;
    for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
      const char *got = (*form)->utf8(start, n), *want = surrogate ? o - 3 : NULL;
      cr_assert(got == want, "up to U+%04X, form %s", v, (*form)->name);
    }
    n = 0;
  }
}

Test(utf8, every_length_and_place) {
  static const char *const bits[] = {"\x80",         "\xC3",         "\xC3\xA4",         "\xE2\x82",
                                     "\xE2\x82\xAC", "\xF0\x9F\x98", "\xF0\x9F\x98\x80", "\xED\xA0\x80",
                                     "\xFF"};
  char *end = guard_end(512);
  for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
    size_t n = strlen(bits[b]);
    for (size_t size = n; size <= 200; size++) {
      for (size_t shift = 0; shift < 2; shift++) {
        char *start = end - size - (shift ? 1 + (size + b) % 63 : 0);
        memset(start, 'x', (size_t)(end - start));
        for (size_t at = 0; at + n <= size; at++) {
          memcpy(start + at, bits[b], n);
          check(start, size, bits[b], at);
          memset(start + at, 'x', n);
        }
      }
    }
  }
}

Test(utf8, random) {
  static const char *const text[] = {"a", "bcdefghijklm", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  char *end = guard_end(1024);
  uint64_t state = 88172645463325252u;
  for (size_t row = 0; row < 200000; row++) {
    char buffer[512];
    size_t size = 0, goal = guard_random(&state) % 300, kinds = 1 + guard_random(&state) % 5;
    while (size < goal) {
      const char *bit = text[guard_random(&state) % kinds];
      memcpy(buffer + size, bit, strlen(bit));
      size += strlen(bit);
    }
    if (size && row % 4 != 0) buffer[guard_random(&state) % size] ^= (char)(1u << guard_random(&state) % 8);
    if (size && row % 8 == 1) size -= 1;
    memcpy(end - size, buffer, size);
    check(end - size, size, "random", row);
  }
}
