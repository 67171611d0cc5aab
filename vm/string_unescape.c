/* The inside of a JSON string turned into its bytes.
 *
 * Works behind `scan`, which bounded the string, on strings with a backslash; `utf8` checks the raw bytes.
 * Kept: the output never gets ahead of the input, so stores as wide as a load from [p, end) stay in the room
 * of end - p bytes.
 * Source: RFC 8259 section 7.
 */
#include "kernels_impl.h"
#ifdef BJVMI_HAVE_SSE2
#include "string_wide.h"
#else
#include "neon.h"
#endif

#ifdef BJVM_SIZE_SMALL

/* The byte of a letter after a backslash, 0 for none. */
static char simple(unsigned letter) {
  static const char pairs[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
  for (const char *p = pairs; *p; p += 2)
    if ((uint8_t)*p == letter) return p[1];
  return 0;
}

/* The value of a hex digit plus 1, 0 for none. */
static unsigned hex_value(unsigned c) {
  if (c - '0' < 10) return c - '0' + 1;
  c |= 0x20;
  return c - 'a' < 6 ? c - 'a' + 11 : 0;
}

#else

static const char simple_bytes[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};
static char simple(unsigned letter) { return letter < 128 ? simple_bytes[letter] : 0; }

/* The value of a hex digit with HEX set, 0 for another byte. */
enum { HEX = 0x80 };
static const uint8_t hex_values[256] = {
    ['0'] = HEX | 0,  ['1'] = HEX | 1,  ['2'] = HEX | 2,  ['3'] = HEX | 3,  ['4'] = HEX | 4,
    ['5'] = HEX | 5,  ['6'] = HEX | 6,  ['7'] = HEX | 7,  ['8'] = HEX | 8,  ['9'] = HEX | 9,
    ['a'] = HEX | 10, ['b'] = HEX | 11, ['c'] = HEX | 12, ['d'] = HEX | 13, ['e'] = HEX | 14,
    ['f'] = HEX | 15, ['A'] = HEX | 10, ['B'] = HEX | 11, ['C'] = HEX | 12, ['D'] = HEX | 13,
    ['E'] = HEX | 14, ['F'] = HEX | 15,
};

#endif

enum { BAD_UNIT = 0x10000 };

/* The unit of the \uXXXX at p, or BAD_UNIT. */
static uint32_t read_unit(const char *p, const char *end) {
  if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return BAD_UNIT;
#ifdef BJVM_SIZE_SMALL
  uint32_t unit = 0;
  for (int i = 2; i < 6; i++) {
    unsigned value = hex_value((uint8_t)p[i]);
    if (!value) return BAD_UNIT;
    unit = unit << 4 | (value - 1);
  }
  return unit;
#else
  uint32_t a = hex_values[(uint8_t)p[2]], b = hex_values[(uint8_t)p[3]], c = hex_values[(uint8_t)p[4]],
           d = hex_values[(uint8_t)p[5]];
  if (!(a & b & c & d & HEX)) return BAD_UNIT;
  return (a & 15) << 12 | (b & 15) << 8 | (c & 15) << 4 | (d & 15);
#endif
}

static char *put_point(char *o, uint32_t v) {
  if (v < 0x80) {
    *o = (char)v;
    return o + 1;
  }
  if (v < 0x800) {
    o[0] = (char)(0xC0 | v >> 6);
    o[1] = (char)(0x80 | (v & 0x3F));
    return o + 2;
  }
  if (v < 0x10000) {
    o[0] = (char)(0xE0 | v >> 12);
    o[1] = (char)(0x80 | (v >> 6 & 0x3F));
    o[2] = (char)(0x80 | (v & 0x3F));
    return o + 3;
  }
  o[0] = (char)(0xF0 | v >> 18);
  o[1] = (char)(0x80 | (v >> 12 & 0x3F));
  o[2] = (char)(0x80 | (v >> 6 & 0x3F));
  o[3] = (char)(0x80 | (v & 0x3F));
  return o + 4;
}

/* The escape at the backslash p; next.p == NULL when it is bad. */
static bjvmi_places unescape_one(const char *p, const char *end, char *o) {
  const bjvmi_places bad = {NULL, o};
  unsigned letter = end - p < 2 ? 0 : (uint8_t)p[1];
  char byte = simple(letter);
  if (byte) {
    *o = byte;
    return (bjvmi_places){p + 2, o + 1};
  }
  uint32_t unit = read_unit(p, end);
  if (unit == BAD_UNIT) return bad;
  if (unit - 0xD800 >= 0x800) return (bjvmi_places){p + 6, put_point(o, unit)};
  if (unit >= 0xDC00) return bad;
  uint32_t low = read_unit(p + 6, end);
  if (low - 0xDC00 >= 0x400) return bad;
  return (bjvmi_places){p + 12, put_point(o, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))};
}

/* Copies up to the next backslash or end; returns how many bytes. */
static size_t copy_plain(const char *p, size_t size, char *o) {
  size_t i = 0;
#ifdef BJVMI_HAVE_SSE2
  for (; size - i >= 16; i += 16) {
    __m128i v = bjvmi_load16(p + i);
    bjvmi_store16(o + i, v);
    unsigned mask = bjvmi_mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    if (mask) return i + bjvmi_first(mask);
  }
#elif defined(BJVMI_HAVE_NEON)
  for (; size - i >= 16; i += 16) {
    uint8x16_t v = bjvmi_neon_load(p + i);
    bjvmi_neon_store(o + i, v);
    uint64_t mask = bjvmi_neon_mask(vceqq_u8(v, vdupq_n_u8('\\')));
    if (mask) return i + bjvmi_neon_first(mask);
  }
#else
  for (; size - i >= BJVMI_LANES; i += BJVMI_LANES) {
    bjvmi_lanes x = bjvmi_load_word(p + i), y = x ^ BJVMI_EACH('\\');
    if ((y - BJVMI_EACH(1)) & ~y & BJVMI_EACH(0x80)) break;
    bjvmi_store_word(o + i, x);
  }
#endif
  for (; i < size && p[i] != '\\'; i++) o[i] = p[i];
  return i;
}

char *bjvmi_string_unescape(char *out, const char *p, const char *end, const char **bad) {
  while (p < end) {
    if (*p != '\\') { /* in a row of escapes each would wait for the place that this finds */
      size_t size = copy_plain(p, (size_t)(end - p), out);
      p += size;
      out += size;
      if (p == end) return out;
    }
    bjvmi_places next = unescape_one(p, end, out);
    if (!next.p) {
      *bad = p;
      return NULL;
    }
    p = next.p;
    out = next.o;
  }
  return out;
}
