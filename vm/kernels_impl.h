/* What the kernel files share: loads and stores, the UTF-8 step, the table of escapes, the portable forms.
 *
 * Private to the kernels (string_*.c, utf8.c, base64.c, kernels.c); everyone else includes kernels.h.
 * All reads stay inside [p, end), all writes below `limit`, whatever the alignment and byte order.
 * Source: the Unicode Standard 15, table 3-7 (well-formed UTF-8); RFC 8259 section 7 (escapes).
 */
#ifndef BJVM_KERNELS_IMPL_H_
#define BJVM_KERNELS_IMPL_H_

#include <string.h>

#include "kernels.h"

#define BJVMI_INLINE static inline __attribute__((always_inline))

#if defined(BJVMI_HAVE_SSE2) && (defined(__GNUC__) || defined(__clang__))
#define BJVMI_HAVE_AVX2 1 /* compiled for AVX2 function by function; run only where the machine has it */
extern const bjvmi_kernels bjvmi_kernels_avx2;
#endif

/* The portable forms, also the tails of the wide ones. */
bjvmi_escape_result bjvmi_escape_portable(const char **src, const char *end, char **out, char *limit,
                                          unsigned flags);
const char *bjvmi_scan_portable(const char *p, const char *end, unsigned *flags);
const char *bjvmi_utf8_portable(const char *p, size_t size);
char *bjvmi_base64_encode_portable(char *out, const uint8_t *p, size_t size);
uint8_t *bjvmi_base64_decode_portable(uint8_t *out, const char *p, size_t size, const char **bad);
#ifdef BJVMI_HAVE_SSE2
bjvmi_escape_result bjvmi_escape_sse2(const char **src, const char *end, char **out, char *limit,
                                      unsigned flags);
#endif

/* What to do with a byte when printing: 0 raw, else the letter after the backslash ('u': \u00xx), or one of:
 */
enum {
  BJVMI_KIND_HTML = 1,       /* \u00xx under BJVMI_ESCAPE_HTML, else raw */
  BJVMI_KIND_NONASCII = 128, /* first byte of a sequence, or bad */
};
#ifdef BJVM_SIZE_SMALL
enum { BJVMI_ESCAPE_KINDS = 128 };
#else
enum { BJVMI_ESCAPE_KINDS = 256 };
#endif
extern const uint8_t bjvmi_escape_kinds[BJVMI_ESCAPE_KINDS];

BJVMI_INLINE unsigned bjvmi_escape_kind(unsigned c) {
  return c < BJVMI_ESCAPE_KINDS ? bjvmi_escape_kinds[c] : BJVMI_KIND_NONASCII;
}

/* Copies the raw ASCII at the front of [p, p + size) byte by byte, for what is too short for vectors; returns how much it
 * was. */
BJVMI_INLINE size_t bjvmi_copy_bytes(const char *p, size_t size, char *o, bool html) {
  size_t i = 0;
  for (; i < size; i++) {
    unsigned kind = bjvmi_escape_kind((uint8_t)p[i]);
    if (kind && (kind != BJVMI_KIND_HTML || html)) break;
    o[i] = p[i];
  }
  return i;
}

/* The 64 letters of base64, and for each byte the value of the letter with BJVMI_BASE64_VALUE set, or 0 for a
 * byte that is none in either alphabet. */
enum { BJVMI_BASE64_VALUE = 0x80 };
extern const char bjvmi_base64_letters[64];
extern const uint8_t bjvmi_base64_values[256];

/* Places of input and output, moved together. */
typedef struct bjvmi_places {
  const char *p; /* NULL: the bytes given were not valid UTF-8 */
  char *o;
} bjvmi_places;

/* The most that one character needs: \ud83d\ude00. */
enum { BJVMI_ESCAPE_MOST = 12 };

/* Writes the run of non-ASCII characters at p, as long as BJVMI_ESCAPE_MOST bytes of room are left. On a bad
 * sequence returns the place before it; the next call, starting there, returns p == NULL. */
bjvmi_places bjvmi_escape_multi(const char *p, const char *end, char *o, char *limit, unsigned flags);

BJVMI_INLINE uint32_t bjvmi_load32(const void *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

BJVMI_INLINE void bjvmi_store32(void *p, uint32_t v) { memcpy(p, &v, sizeof v); }

/* Several bytes at once in plain C: the machine's word. */
typedef size_t bjvmi_lanes;
#define BJVMI_LANES sizeof(bjvmi_lanes)
#define BJVMI_EACH(byte) ((bjvmi_lanes)-1 / 255 * (byte))

BJVMI_INLINE bjvmi_lanes bjvmi_load_word(const char *p) {
  bjvmi_lanes v;
  memcpy(&v, p, sizeof v);
  return v;
}

BJVMI_INLINE void bjvmi_store_word(char *p, bjvmi_lanes v) { memcpy(p, &v, sizeof v); }

/* The high bit of each byte that is below 0x20, a quote or a backslash. Any bit means there is such a byte,
 * and the lowest one is right; those above it may be false, by a borrow. */
BJVMI_INLINE bjvmi_lanes bjvmi_word_specials(bjvmi_lanes x) {
  bjvmi_lanes hit = (x - BJVMI_EACH(0x20)) | ((x ^ BJVMI_EACH('"')) - BJVMI_EACH(1)) |
                    ((x ^ BJVMI_EACH('\\')) - BJVMI_EACH(1));
  return hit & ~x & BJVMI_EACH(0x80);
}

BJVMI_INLINE bool bjvmi_utf8_tail(unsigned byte) { return (byte & 0xC0) == 0x80; }

/* The length of the well-formed sequence at s (*s >= 0x80) and its code point, or 0. Table 3-7 read as: the
 * right number of 80..BF bytes, and a value that needs this length, is no surrogate and is at most 10FFFF. */
BJVMI_INLINE unsigned bjvmi_utf8_decode(const char *s, const char *end, uint32_t *point) {
  const uint8_t *p = (const uint8_t *)s;
  size_t left = (size_t)(end - s);
  uint32_t lead = p[0];
  if (lead < 0xE0) {
    if (lead < 0xC2 || left < 2 || !bjvmi_utf8_tail(p[1])) return 0;
    *point = (lead & 0x1F) << 6 | (p[1] & 0x3F);
    return 2;
  }
  if (lead < 0xF0) {
    if (left < 3 || !bjvmi_utf8_tail(p[1]) || !bjvmi_utf8_tail(p[2])) return 0;
    uint32_t v = (lead & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    *point = v;
    return v >= 0x800 && v - 0xD800 >= 0x800 ? 3 : 0;
  }
  if (left < 4 || !bjvmi_utf8_tail(p[1]) || !bjvmi_utf8_tail(p[2]) || !bjvmi_utf8_tail(p[3])) return 0;
  uint32_t v =
      (lead & 0x0F) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
  *point = v; /* lead F8..FF: bit 3 makes it larger than 10FFFF */
  return v - 0x10000 < 0x100000 ? 4 : 0;
}

BJVMI_INLINE char bjvmi_hex_digit(unsigned v) { return "0123456789abcdef"[v & 15]; }

/* Writes \uxxxx, lower case; six bytes. */
BJVMI_INLINE char *bjvmi_escape_unit(char *o, unsigned unit) {
  o[0] = '\\';
  o[1] = 'u';
  o[2] = bjvmi_hex_digit(unit >> 12);
  o[3] = bjvmi_hex_digit(unit >> 8);
  o[4] = bjvmi_hex_digit(unit >> 4);
  o[5] = bjvmi_hex_digit(unit);
  return o + 6;
}

/* Writes the ASCII character c, marked with a kind that is not 0, as its escape. */
BJVMI_INLINE char *bjvmi_escape_ascii(char *o, unsigned c, unsigned kind) {
  if (kind == 'u' || kind == BJVMI_KIND_HTML) return bjvmi_escape_unit(o, c);
  o[0] = '\\';
  o[1] = (char)kind;
  return o + 2;
}

/* Writes the character at p, any but a raw ASCII one; BJVMI_ESCAPE_MOST bytes of room. */
BJVMI_INLINE bjvmi_places bjvmi_escape_special(const char *p, const char *end, char *o, char *limit,
                                               unsigned flags) {
  unsigned c = (uint8_t)*p, kind = bjvmi_escape_kind(c);
  if (kind == BJVMI_KIND_NONASCII) return bjvmi_escape_multi(p, end, o, limit, flags);
  return (bjvmi_places){p + 1, bjvmi_escape_ascii(o, c, kind)};
}

#endif /* BJVM_KERNELS_IMPL_H_ */
