/* Every form of escape and scan, and unescape, against plain references, with guard pages behind input and
 * output. */
#define _DEFAULT_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "guard.h"
#include "kernels.h"

static char *in_end, *out_end;

static void setup(void) {
  in_end = guard_end(1024);
  out_end = guard_end(8192);
}

/* Length and code point of the character at p, 0 when it is not well-formed: decoded, then encoded again. */
static size_t decode(const uint8_t *p, size_t left, uint32_t *v) {
  size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : p[0] >= 0xC0 ? 2 : 0;
  if (n == 0 || n > left) return 0;
  *v = n == 1 ? p[0] : n == 4 ? p[0] & 0x0Fu : n == 3 ? p[0] & 0x0Fu : p[0] & 0x1Fu;
  for (size_t i = 1; i < n; i++) {
    if ((p[i] & 0xC0) != 0x80) return 0;
    *v = *v << 6 | (p[i] & 0x3Fu);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return *v < least[n] || *v > 0x10FFFF || (*v >= 0xD800 && *v < 0xE000) ? 0 : n;
}

static char *unit(char *o, unsigned v) { return o + sprintf(o, "\\u%04x", v); }

/* What printing gives, and how much of the input is right. */
typedef struct printed {
  char text[4096];
  size_t size, good;
} printed;

static void reference(printed *r, const char *p, size_t size, unsigned flags) {
  char *o = r->text;
  size_t i = 0, n;
  for (uint32_t v; i < size && (n = decode((const uint8_t *)p + i, size - i, &v)) != 0; i += n) {
    const char *letter = v && v < 128 ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", (int)v) : NULL;
    bool html = v == '<' || v == '>' || v == '&' || v == 0x2028 || v == 0x2029;
    if (letter && !strchr("bfnrt", (int)v)) o += sprintf(o, "\\%c", letter[1]);
    else if (v < 0x20 || (html && (flags & BJVMI_ESCAPE_HTML)) ||
             (v > 127 && v < 0x10000 && (flags & BJVMI_ESCAPE_ASCII)))
      o = unit(o, v);
    else if (v >= 0x10000 && (flags & BJVMI_ESCAPE_ASCII))
      o = unit(unit(o, 0xD7C0 + (v >> 10)), 0xDC00 + (v & 0x3FF));
    else o = (char *)memcpy(o, p + i, n) + n;
  }
  r->size = (size_t)(o - r->text);
  r->good = i;
}

static void check_once(const bjvmi_kernels *form, const printed *want, const char *p, size_t size,
                       unsigned flags, const char *what, size_t row) {
  const char *src = p;
  size_t room = want->size + BJVMI_ESCAPE_STEP;
  char *o = out_end - room;
  bjvmi_escape_result got = form->escape(&src, p + size, &o, out_end, flags);
  bjvmi_escape_result result = want->good == size ? BJVMI_ESCAPE_DONE : BJVMI_ESCAPE_BAD;
  cr_assert(got == result && src == p + want->good,
            "%s, row %zu, size %zu, flags %u, form %s: result %d at %td, want %d at %zu", what, row, size,
            flags, form->name, (int)got, src - p, (int)result, want->good);
  cr_assert(o - (out_end - room) == (ptrdiff_t)want->size &&
                memcmp(out_end - room, want->text, want->size) == 0,
            "%s, row %zu, size %zu, flags %u, form %s: wrote %.*s", what, row, size, flags, form->name,
            (int)(o - (out_end - room)), out_end - room);
}

/* In pieces of `room` bytes, each right before the guard page. */
static void check_pieces(const bjvmi_kernels *form, const printed *want, const char *p, size_t size,
                         unsigned flags, size_t room, size_t row) {
  const char *src = p;
  bjvmi_escape_result got = BJVMI_ESCAPE_ROOM;
  size_t written = 0;
  while (got == BJVMI_ESCAPE_ROOM) {
    const char *before = src;
    char *o = out_end - room;
    got = form->escape(&src, p + size, &o, out_end, flags);
    size_t n = (size_t)(o - (out_end - room));
    cr_assert(written + n <= want->size && memcmp(want->text + written, out_end - room, n) == 0,
              "row %zu, room %zu, form %s: piece at %zu", row, room, form->name, written);
    written += n;
    if (got != BJVMI_ESCAPE_ROOM) break;
    cr_assert(out_end - o < BJVMI_ESCAPE_STEP, "row %zu, room %zu, form %s: gave up with %td left", row, room,
              form->name, out_end - o);
    cr_assert((src > before) == (room >= BJVMI_ESCAPE_STEP), "row %zu, room %zu, form %s: no step", row, room,
              form->name);
    if (room < BJVMI_ESCAPE_STEP) return;
  }
  cr_assert(written == want->size && src == p + want->good &&
                got == (want->good == size ? BJVMI_ESCAPE_DONE : BJVMI_ESCAPE_BAD),
            "row %zu, room %zu, form %s: end at %td", row, room, form->name, src - p);
}

static void check_escape(const char *p, size_t size, unsigned flags, const char *what, size_t row) {
  static printed want;
  reference(&want, p, size, flags);
  for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
    check_once(*form, &want, p, size, flags, what, row);
    if (row % 4 == 0) check_pieces(*form, &want, p, size, flags, 50 + row / 4 % 60, row);
  }
}

static const char *const specials[] = {"\"",
                                       "\\",
                                       "\x1F",
                                       "\n",
                                       "\x7F",
                                       "<",
                                       ">",
                                       "&",
                                       "\xC3\xA4",
                                       "\xE2\x80\xA8",
                                       "\xE2\x82\xAC",
                                       "\xF0\x9F\x98\x80",
                                       "\x80",
                                       "\xED\xA0\x80",
                                       "\xC0\xAF",
                                       "\xF0\x9F\x98"};
enum { SPECIALS = sizeof specials / sizeof *specials };

Test(string, escape_all_lengths_and_places, .init = setup) {
  for (size_t size = 0; size <= 200; size++) {
    for (size_t s = 0; s < SPECIALS; s++) {
      size_t n = strlen(specials[s]);
      for (size_t at = 0; at + n <= size || (at == 0 && s == 0);
           at += size > 70 && s ? 1 + (size + at) % 3 : 1) {
        char *p = in_end - size - (at % 2 ? (at + s) % 64 : 0);
        memset(p, '~', (size_t)(in_end - p));
        if (size >= n) memcpy(p + at, specials[s], n);
        check_escape(p, size, (unsigned)(at + s + size) % 4, specials[s], at);
        check_escape(p, size, 0, specials[s], at);
      }
    }
  }
}

Test(string, escape_every_byte_and_character, .init = setup) {
  for (unsigned flags = 0; flags < 4; flags++) {
    for (size_t v = 0; v < 0x110000; v += v < 0x3000 || v > 0x10FF00 || (v > 0xD700 && v < 0xE100) ? 1 : 97) {
      char text[4], *o = text;
      if (v < 0x80) *o++ = (char)v;
      else if (v < 0x800) *o++ = (char)(0xC0 | v >> 6);
      else if (v < 0x10000) *o++ = (char)(0xE0 | v >> 12);
      else *o++ = (char)(0xF0 | v >> 18);
      if (v >= 0x10000) *o++ = (char)(0x80 | (v >> 12 & 63));
      if (v >= 0x800) *o++ = (char)(0x80 | (v >> 6 & 63));
      if (v >= 0x80) *o++ = (char)(0x80 | (v & 63));
      size_t n = (size_t)(o - text), size = n + v % 45, at = v % (size - n + 1);
      memset(in_end - size, 'k', size);
      memcpy(in_end - size + at, text, n);
      check_escape(in_end - size, size, flags, "character", v);
    }
  }
}

Test(string, escape_bad_utf8, .init = setup) {
  static const uint8_t borders[] = {0x22, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1,
                                    0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5};
  enum { N = sizeof borders };
  for (size_t i = 0; i < N * N * N * N; i++) {
    char four[] = {(char)borders[i % N], (char)borders[i / N % N], (char)borders[i / N / N % N],
                   (char)borders[i / N / N / N]};
    size_t size = 4 + i % 67, at = i / 3 % (size - 3);
    memset(in_end - size, 'u', size);
    memcpy(in_end - size + at, four, 4);
    check_escape(in_end - size, size, 0, "borders", i);
  }
}

Test(string, escape_random, .init = setup) {
  static const char *const text[] = {"a",
                                     "quick brown fox jumps",
                                     "\xC3\xA4",
                                     "\xE2\x82\xAC",
                                     "\xF0\x9F\x98\x80",
                                     "\"",
                                     "\n",
                                     "\\\\\\\\",
                                     "\x01",
                                     "<&>",
                                     "\xE2\x80\xA9"};
  uint64_t state = 11;
  for (size_t row = 0; row < 60000; row++) {
    char buffer[512];
    size_t size = 0, goal = guard_random(&state) % 300, from = guard_random(&state) % 11,
           kinds = 1 + guard_random(&state) % 11;
    while (size < goal) {
      const char *bit = text[(from + guard_random(&state) % kinds) % 11];
      memcpy(buffer + size, bit, strlen(bit));
      size += strlen(bit);
    }
    if (size && row % 3 == 0) buffer[guard_random(&state) % size] ^= (char)(1u << guard_random(&state) % 8);
    memcpy(in_end - size, buffer, size);
    check_escape(in_end - size, size, row % 2 ? 0 : (unsigned)row / 2 % 4, "random", row);
  }
}

/* Scanning. */

static void check_scan(const char *p, size_t size, const char *what, size_t row) {
  unsigned want = 0;
  size_t i = 0;
  for (; i < size && p[i] != '"' && (uint8_t)p[i] >= 0x20; i++) {
    if ((uint8_t)p[i] >= 0x80) want |= BJVMI_STRING_NONASCII;
    if (p[i] != '\\') continue;
    want |= BJVMI_STRING_ESCAPES;
    if (i + 1 == size || (uint8_t)p[i + 1] < 0x20) continue;
    i++;
    if ((uint8_t)p[i] >= 0x80) want |= BJVMI_STRING_NONASCII;
  }
  for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
    unsigned flags = 99;
    const char *got = (*form)->scan(p, p + size, &flags);
    cr_assert(got == p + i && flags == want,
              "%s, row %zu, size %zu, form %s: at %td flags %u, want %zu flags %u", what, row, size,
              (*form)->name, got - p, flags, i, want);
  }
}

Test(string, scan_all_lengths_and_places, .init = setup) {
  static const char bits[][3] = {"\"",     "\\\"",   "\\\\",   "\\",     "\x1F", "\x7F", "\x80",
                                 "\\\xFF", "\\\x1F", "\xFF\"", "\"\xFF", " ",    "\\\n"};
  for (size_t size = 0; size <= 200; size++) {
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
      size_t n = strlen(bits[b]);
      for (size_t at = 0; at + n <= size; at++) {
        char *p = in_end - size - (at % 2 ? (at + b) % 64 : 0);
        memset(p, 'x', size);
        memcpy(p + at, bits[b], n);
        check_scan(p, size, bits[b], at);
        if (at + n >= size) continue;
        in_end[-1] = '"'; /* and a quote further on */
        check_scan(p, size, bits[b], at);
      }
    }
    memset(in_end - size, '\0', size); /* the byte 0 is a control character as well */
    check_scan(in_end - size, size, "zeros", size);
  }
}

Test(string, scan_random, .init = setup) {
  uint64_t state = 12;
  for (size_t row = 0; row < 300000; row++) {
    size_t size = guard_random(&state) % 150, density = 1 + guard_random(&state) % 40;
    for (size_t i = 0; i < size; i++) {
      unsigned v = guard_random(&state);
      in_end[(ptrdiff_t)(i - size)] =
          v % density ? 'x' : "\\\\\\\\\"\x80\xC3\x1Fxxxx\\\\xx"[v / density % 16];
    }
    check_scan(in_end - size, size, "random", row);
  }
}

/* Unescaping. */

static size_t put(char *o, uint32_t v) {
  if (v < 0x80) return o[0] = (char)v, 1;
  if (v < 0x800) return o[0] = (char)(0xC0 | v >> 6), o[1] = (char)(0x80 | (v & 63)), 2;
  if (v < 0x10000)
    return o[0] = (char)(0xE0 | v >> 12), o[1] = (char)(0x80 | (v >> 6 & 63)), o[2] = (char)(0x80 | (v & 63)),
           3;
  o[0] = (char)(0xF0 | v >> 18), o[1] = (char)(0x80 | (v >> 12 & 63)), o[2] = (char)(0x80 | (v >> 6 & 63)),
  o[3] = (char)(0x80 | (v & 63));
  return 4;
}

/* want == NULL: bad at `bad`. Input and the room of the output end at guard pages. */
static void check_unescape(const char *text, size_t size, const char *want, size_t n, size_t want_bad,
                           size_t row) {
  char *p = memcpy(in_end - size, text, size), *o = out_end - size;
  const char *bad = NULL;
  char *got = bjvmi_string_unescape(o, p, in_end, &bad);
  if (want) cr_assert(got == o + n && memcmp(o, want, n) == 0, "row %zu: %.*s", row, (int)size, text);
  else
    cr_assert(!got && bad == p + want_bad, "row %zu: %.*s: bad place %td, want %zu", row, (int)size, text,
              bad ? bad - p : -1, want_bad);
}

Test(string, unescape_table, .init = setup) {
  static const struct {
    const char *text, *want;
    size_t bad;
  } table[] = {
      {"", "", 0},
      {"plain", "plain", 0},
      {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 0},
      {"caf\xC3\xA9\\u00e9\\u00E9", "caf\xC3\xA9\xC3\xA9\xC3\xA9", 0},
      {"\\ud83d\\uDE00", "\xF0\x9F\x98\x80", 0},
      {"raw \xFF bytes pass", "raw \xFF bytes pass", 0},
      {"0123456789abcdef\\n0123456789abcdef", "0123456789abcdef\n0123456789abcdef", 0},
      {"ab\\x", NULL, 2},
      {"ab\\", NULL, 2},
      {"\\u", NULL, 0},
      {"\\u12", NULL, 0},
      {"\\u12g4", NULL, 0},
      {"\\u-123", NULL, 0},
      {"\\U0041", NULL, 0},
      {"\\a", NULL, 0},
      {"\\'", NULL, 0},
      {"\\0", NULL, 0},
      {"\\\xC3", NULL, 0},
      {"\\n\\ud800", NULL, 2},
      {"\\n\\udc00", NULL, 2},
      {"\\ud800x", NULL, 0},
      {"\\ud800\\u0041", NULL, 0},
      {"\\ud800\\ud800", NULL, 0},
      {"\\ud83d\\n", NULL, 0},
      {"\\udbff\\udfff", "\xF4\x8F\xBF\xBF", 0},
      {"\\udfff\\udfff", NULL, 0},
      {"\\ud83d\\ude0", NULL, 0},
      {"\\ud83d\\ude00\\ude00", NULL, 12},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t n = table[i].want ? strlen(table[i].want) : 0;
    check_unescape(table[i].text, strlen(table[i].text), table[i].want, n, table[i].bad, i);
  }
  check_unescape("a\\u0000b", 8, "a\0b", 3, 0, 0);
}

Test(string, unescape_every_unit_and_pair, .init = setup) {
  static const char digits[2][17] = {"0123456789abcdef", "0123456789ABCDEF"};
  for (uint32_t v = 0; v < 0x10000; v++) {
    for (int upper = 0; upper < 2; upper++) {
      const char *d = digits[upper];
      char text[] = {'x', '\\', 'u', d[v >> 12], d[v >> 8 & 15], d[v >> 4 & 15], d[v & 15], 'y'},
           want[8] = "x";
      size_t n = 1 + put(want + 1, v);
      want[n] = 'y';
      check_unescape(text, 8, v >= 0xD800 && v < 0xE000 ? NULL : want, n + 1, 1, v);
    }
  }
  for (uint32_t v = 0xD000; v < 0x10000; v++) { /* as the first and as the second of two */
    char text[16], want[8];
    snprintf(text, sizeof text, "\\u%04x\\udc00", v);
    bool high = v >= 0xD800 && v < 0xDC00, low = v >= 0xDC00 && v < 0xE000;
    size_t n = put(want, high ? 0x10000 + ((v - 0xD800) << 10) : v);
    check_unescape(text, 12, high ? want : NULL, n, low ? 0 : 6, v);
    snprintf(text, sizeof text, "\\udbff\\u%04x", v);
    check_unescape(text, 12, low ? want : NULL, put(want, 0x10FC00 + (v - 0xDC00)), 0, v);
  }
  for (uint32_t v = 0x10000; v < 0x110000; v++) {
    uint32_t high = 0xD7C0 + (v >> 10), low = 0xDC00 + (v & 0x3FF);
    const char *d = digits[v & 1];
    char text[] = {'\\', 'u', d[high >> 12], d[high >> 8 & 15], d[high >> 4 & 15], d[high & 15],
                   '\\', 'u', d[low >> 12],  d[low >> 8 & 15],  d[low >> 4 & 15],  d[low & 15]};
    char want[4];
    check_unescape(text, 12, want, put(want, v), 0, v);
  }
}

/* What is printed reads back; the printer above is checked against its own reference. */
Test(string, unescape_random, .init = setup) {
  static printed escaped;
  uint64_t state = 13;
  for (size_t row = 0; row < 60000; row++) {
    char text[512];
    size_t size = 0, goal = guard_random(&state) % 200;
    while (size < goal) {
      uint32_t v = guard_random(&state), kind = guard_random(&state) % 16;
      v = kind < 10    ? 'a' + v % 26
          : kind == 10 ? v % 128
          : kind == 11 ? v % 0xD800
          : kind == 12 ? 0x10000 + v % 0x100000
                       : '\\';
      size += put(text + size, v);
    }
    reference(&escaped, text, size, (unsigned)row % 4);
    check_unescape(escaped.text, escaped.size, text, size, 0, row);
  }
}
