/* The paths for short strings: every length, alignment and byte, against plain loops, at the ends of pages. */
#define _DEFAULT_SOURCE
#include <criterion/criterion.h>
#include <string.h>

#include "guard.h"
#include "short_string.h"

enum { PAGE_PLACES = 80, NOT_SHORT = BJVMI_SHORT_MAX + 1 };

static char *end;

static void setup(void) { end = guard_end(8192); }

static bool is_plain(char c) { return (uint8_t)c >= 0x20 && (uint8_t)c < 0x80 && c != '"' && c != '\\'; }

/* Ends of strings: at the guard page, around the border of two pages, and around 16 bytes. */
static char *place_of(size_t i) { return i < 16 ? end - i : end - 4096 + 40 - (ptrdiff_t)i; }

static void check_plain(const char *p, size_t n, const char *what, size_t row) {
  char out[34];
  bool want = true;
  for (size_t i = 0; i < n; i++) want = want && is_plain(p[i]);
  memset(out, '#', sizeof out);
  bool got = bjvmi_short_plain(out, p, n);
  cr_assert(!got || want, "%s, row %zu, size %zu: plain", what, row, n);
  cr_assert(!got || memcmp(out, p, n) == 0, "%s, row %zu, size %zu: wrong bytes", what, row, n);
  cr_assert(out[32] == '#' && out[33] == '#', "%s, row %zu, size %zu: wrote too far", what, row, n);
  bool may_give_up = !BJVMI_SHORT_STRINGS || BJVMI_CHECKED_READS || ((uintptr_t)p & 4095) > 4096 - 32;
  cr_assert(got || !want || may_give_up, "%s, row %zu, size %zu: gave up", what, row, n);
}

Test(short_string, plain_in_all_places, .init = setup) {
  memset(end - 8192, '"', 8192); /* what is around the string does not count */
  for (size_t n = 1; n <= BJVMI_SHORT_MAX; n++) {
    for (size_t i = 0; i < PAGE_PLACES; i++) {
      char *p = place_of(i) - n;
      for (size_t k = 0; k < n; k++) p[k] = (char)('a' + (i + k) % 26);
      check_plain(p, n, "letters", i);
      for (size_t k = 0; k < n; k++) {
        char was = p[k];
        p[k] = "\x1F\"\\\x80"[(i + k) % 4];
        check_plain(p, n, "odd", k);
        p[k] = was;
      }
      memset(p, '"', n);
    }
  }
}

Test(short_string, plain_of_every_byte, .init = setup) {
  for (size_t c = 0; c < 256; c++) {
    for (size_t at = 0; at < BJVMI_SHORT_MAX; at++) {
      char text[64] = "abcdefghijklmnopqrstuvwxyz01234";
      text[at] = (char)c;
      check_plain(text, BJVMI_SHORT_MAX, "byte", c);
    }
  }
}

/* Longer ones, which are read and written to their last byte and no further. */
Test(short_string, middle_of_every_byte, .init = setup) {
  bool can = BJVMI_SHORT_STRINGS;
#if !defined(BJVMI_HAVE_SSE2) && !defined(BJVMI_HAVE_NEON)
  can = false;
#endif
  for (size_t n = BJVMI_MIDDLE_LEAST; n <= BJVMI_MIDDLE_MAX; n++) {
    char *p = end - n;
    char out[BJVMI_MIDDLE_MAX + 1];
    for (size_t k = 0; k < n; k++) p[k] = (char)('a' + k % 26);
    memset(out, '#', sizeof out);
    cr_assert_eq(bjvmi_middle_plain(out, p, n), can, "size %zu", n);
    if (can) cr_assert(memcmp(out, p, n) == 0 && out[n] == '#', "size %zu: wrong bytes", n);
    for (size_t k = 0; k < n; k++) {
      char was = p[k];
      for (int c = 0; c < 256; c++) {
        p[k] = (char)c;
        cr_assert_eq(bjvmi_middle_plain(out, p, n), can && is_plain((char)c), "size %zu, byte %d at %zu", n,
                     c, k);
      }
      p[k] = was;
    }
  }
}

/* The length reads 32 bytes, which a decoder's input has behind every token. */
static void check_length(const char *p, const char *what, size_t row) {
  size_t want = 0;
  while (want <= BJVMI_SHORT_MAX && is_plain(p[want])) want++;
  if (want <= BJVMI_SHORT_MAX && p[want] != '"') want = NOT_SHORT;
  size_t got = bjvmi_short_length(p);
  if (BJVMI_SHORT_STRINGS && want <= BJVMI_SHORT_MAX)
    cr_assert(got == want, "%s, row %zu: %zu, want %zu", what, row, got, want);
  else cr_assert(got > BJVMI_SHORT_MAX, "%s, row %zu: %zu, want none", what, row, got);
}

Test(short_string, length_of_every_byte_and_place, .init = setup) {
  char *p = end - 32;
  for (size_t c = 0; c < 256; c++) {
    for (size_t at = 0; at < 32; at++) {
      memset(p, '~', 32);
      p[at] = (char)c;
      check_length(p, "byte", c * 32 + at);
      if (at + 1 < 32) p[at + 1] = '"';
      check_length(p, "byte, then a quote", c * 32 + at);
    }
  }
}

Test(short_string, count_at_all_lengths, .init = setup) {
  uint64_t state = 5;
  for (size_t n = 0; n <= 600; n++) {
    size_t want = 0;
    for (size_t i = 0; i < n; i++) {
      end[(ptrdiff_t)(i - n)] =
          n % 3 == 0 || guard_random(&state) % 4 == 0 ? ',' : (char)guard_random(&state);
      want += end[(ptrdiff_t)(i - n)] == ',';
    }
    cr_assert(bjvmi_short_count(end - n, n, ',') == want, "size %zu: %zu, want %zu", n,
              bjvmi_short_count(end - n, n, ','), want);
  }
}

Test(short_string, equal_at_all_lengths, .init = setup) {
  char other[64];
  for (size_t n = 0; n <= 40; n++) {
    char *p = end - n;
    memset(p, 'x', n);
    memset(other, 'x', sizeof other);
    cr_assert(bjvmi_short_equal(p, other, n), "size %zu", n);
    for (size_t i = 0; i < n; i++) {
      other[i] ^= 0x40;
      cr_assert(!bjvmi_short_equal(p, other, n), "size %zu, byte %zu", n, i);
      other[i] ^= 0x40;
    }
  }
}

#ifndef BJVM_SIZE_SMALL
/* Texts of digits and what may stand among or behind them: the path for 32 bits against the one for all. */
Test(short_string, integers_of_few_digits) {
  static const char letters[] = "0123456789012345678901234567890-.eE,}] ";
  uint64_t state = 7;
  for (size_t row = 0; row < 200000; row++) {
    char text[40];
    size_t digits = guard_random(&state) % 12;
    for (size_t i = 0; i < sizeof text; i++)
      text[i] = i < digits ? (char)('0' + guard_random(&state) % 10)
                           : letters[guard_random(&state) % (sizeof letters - 1)];
    if (guard_random(&state) % 4 == 0) text[0] = '-';
    if (guard_random(&state) % 2 == 0) text[digits] = ",}"[row % 2];
    int64_t want = 0, got = 0;
    const char *want_end = bjvmi_short_int(text, &want);
    const char *got_end = bjvmi_short_int32(text, &got);
    cr_assert(got_end == want_end && got == want, "row %zu, %.40s: %lld, want %lld", row, text,
              (long long)got, (long long)want);
  }
}
#endif
