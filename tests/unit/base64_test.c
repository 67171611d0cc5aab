/* Every form of base64 against a plain reference: all lengths, all bad places, both alphabets, padding, in
 * place. */
#define _DEFAULT_SOURCE
#include <criterion/criterion.h>
#include <string.h>

#include "guard.h"
#include "kernels.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Bit by bit. */
static size_t encode(char *out, const uint8_t *p, size_t size) {
  size_t n = 0;
  for (size_t bit = 0; bit < size * 8; bit += 6) {
    unsigned v = 0;
    for (size_t k = bit; k < bit + 6; k++)
      v = v << 1 | (k < size * 8 ? (unsigned)p[k / 8] >> (7 - k % 8) & 1u : 0u);
    out[n++] = standard[v];
  }
  while (n % 4 != 0) out[n++] = '=';
  return n;
}

static int value(char c) {
  if (c == '-') return 62;
  if (c == '_') return 63;
  const char *at = c ? strchr(standard, c) : NULL;
  return at ? (int)(at - standard) : -1;
}

/* Returns the bytes written, or -1 and *bad: the first byte that no right text could have there, or the size.
 */
static ptrdiff_t decode(uint8_t *out, const char *p, size_t size, size_t *bad) {
  size_t n = 0, letters = 0;
  uint32_t bits = 0;
  while (letters < size && value(p[letters]) >= 0) {
    bits = bits << 6 | (uint32_t)value(p[letters]);
    letters++;
    if (letters % 4 != 1) out[n++] = (uint8_t)(bits >> (6 - 2 * ((letters - 1) % 4)));
  }
  size_t most = letters % 4 < 2 ? 0 : 4 - letters % 4, pads = 0;
  while (letters + pads < size && pads < most && p[letters + pads] == '=') pads++;
  *bad = letters + pads;
  if (letters + pads < size || letters % 4 == 1 || (pads != 0 && pads != most)) return -1;
  return (ptrdiff_t)n;
}

static char *text_end, *out_end;

/* Decodes with every form, into just enough room before a guard page and in place. */
static void check_decode(const char *text, size_t size, const char *what, size_t row) {
  uint8_t want[1024];
  size_t want_bad, room = (size + 3) / 4 * 3;
  ptrdiff_t n = decode(want, text, size, &want_bad);
  for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
    for (int in_place = 0; in_place < 2; in_place++) {
      /* In place the text ends at the guard page, and so does, with the text a multiple of 4, no more than
       * its room. */
      char *p = memcpy(text_end - size, text, size);
      uint8_t *o = in_place ? (uint8_t *)p : (uint8_t *)out_end - room;
      if (in_place && room > size) continue; /* such a text has less than 4 letters of room behind it */
      const char *bad = NULL;
      uint8_t *got = (*form)->base64_decode(o, p, size, &bad);
      if (n < 0) {
        cr_assert(!got && bad == p + want_bad,
                  "%s, row %zu, size %zu, form %s, in place %d: bad place %td, want %zu", what, row, size,
                  (*form)->name, in_place, bad ? bad - p : -1, want_bad);
      } else {
        cr_assert(got == o + n && memcmp(o, want, (size_t)n) == 0,
                  "%s, row %zu, size %zu, form %s, in place %d", what, row, size, (*form)->name, in_place);
      }
    }
  }
}

static void setup(void) {
  text_end = guard_end(1024);
  out_end = guard_end(1024);
}

Test(base64, encode_all_lengths, .init = setup) {
  uint64_t state = 1;
  for (size_t row = 0; row < 300 * 8; row++) {
    size_t size = row % 300, shift = row / 300 % 2 ? row % 64 : 0;
    uint8_t *p = (uint8_t *)text_end - size - shift;
    for (size_t i = 0; i < size; i++)
      p[i] = row < 300 ? (uint8_t)(255 * (row & 1)) : (uint8_t)guard_random(&state);
    char want[512];
    size_t n = encode(want, p, size);
    for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
      char *o = out_end - n, *got = (*form)->base64_encode(o, p, size);
      cr_assert(got == out_end && memcmp(o, want, n) == 0, "row %zu, size %zu, form %s", row, size,
                (*form)->name);
      o = memset(out_end - n - 64, '#', n + 64); /* none beyond: the bytes behind keep what they had */
      (*form)->base64_encode(o, p, size);
      for (size_t i = n; i < n + 64; i++)
        cr_assert(o[i] == '#', "row %zu, byte %zu, form %s", row, i, (*form)->name);
    }
  }
}

Test(base64, decode_all_lengths_and_bad_places, .init = setup) {
  static const char bad[] = {'=', '!', '\0', ' ', '\n',   '@',    '[',    '`',    '{',   ',',
                             '.', ':', '*',  '^', '\x7F', '\x80', '\xC1', '\xAB', '\xFF'};
  uint64_t state = 2;
  char text[256] = "";
  for (size_t size = 0; size <= 200; size++) {
    for (size_t i = 0; i < size; i++) text[i] = standard[guard_random(&state) % 64];
    check_decode(text, size, "right", size);
    for (size_t at = 0; at < size; at++) {
      char was = text[at];
      for (size_t b = 0; b < sizeof bad; b++) {
        text[at] = bad[b];
        check_decode(text, size, "bad byte", at);
      }
      text[at] = was;
    }
    for (size_t pads = 1; pads <= 4; pads++) {
      memset(text + size, '=', pads);
      check_decode(text, size + pads, "padding", pads);
    }
  }
}

Test(base64, every_byte_at_every_place_of_a_block, .init = setup) {
  char text[96];
  for (size_t at = 0; at < 64; at++) {
    for (unsigned c = 0; c < 256; c++) {
      memset(text, 'Q', sizeof text);
      text[at] = (char)c;
      check_decode(text, sizeof text, "byte", c);
    }
  }
}

Test(base64, alphabets_and_padding, .init = setup) {
  static const struct {
    const char *text, *bytes;
    int bad; /* -1: right */
  } table[] = {
      {"", "", -1},
      {"AA==", "0", -1},
      {"AA", "0", -1},
      {"AA=", NULL, 3},
      {"A", NULL, 1},
      {"A=", NULL, 1},
      {"A===", NULL, 1},
      {"=", NULL, 0},
      {"====", NULL, 0},
      {"AAA=", "00", -1},
      {"AAA", "00", -1},
      {"AAA==", NULL, 4},
      {"AAAA=", NULL, 4},
      {"AA=A", NULL, 3},
      {"AA==AA", NULL, 4},
      {"AA===", NULL, 4},
      {"AB==", "0", -1},
      {"AAB", "00", -1},
      {"-_8", "\xFB\xFF", -1},
      {"+/8=", "\xFB\xFF", -1},
      {"-/8", "\xFB\xFF", -1},
      {"+_8=", "\xFB\xFF", -1},
      {"AAAAA", NULL, 5},
      {"A A=", NULL, 1},
      {"AQID", "\1\2\3", -1},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t size = strlen(table[i].text), bad = 0;
    uint8_t out[16];
    ptrdiff_t n = decode(out, table[i].text, size, &bad);
    cr_assert((n < 0 ? (int)bad : -1) == table[i].bad, "reference, row %zu: %s", i, table[i].text);
    for (ptrdiff_t k = 0; k < n; k++) {
      char want = table[i].bytes[k] == '0' ? '\0' : table[i].bytes[k];
      cr_assert((char)out[k] == want, "reference, row %zu: %s", i, table[i].text);
    }
    check_decode(table[i].text, size, table[i].text, i);
  }
  /* Both alphabets mixed, long enough for the wide forms. */
  uint64_t state = 3;
  char text[256] = "";
  for (size_t row = 0; row < 20000; row++) {
    size_t size = guard_random(&state) % 200;
    for (size_t i = 0; i < size; i++) {
      unsigned v = guard_random(&state) % 96;
      text[i] = v < 64 ? standard[v] : "+-/_"[v % 4];
    }
    check_decode(text, size, "mixed", row);
  }
}
