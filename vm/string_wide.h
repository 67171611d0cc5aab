/* Pieces of 16 bytes and less that string_sse2.c and string_avx2.c share, each compiled for its instructions.
 *
 * Private to those two and string_unescape.c. No load leaves [p, p + size): a short string is covered by two
 * loads that overlap.
 * Source: RFC 8259 section 7.
 */
#ifndef BJVM_STRING_WIDE_H_
#define BJVM_STRING_WIDE_H_

#include <emmintrin.h>

#include "kernels_impl.h"

BJVMI_INLINE __m128i bjvmi_load16(const void *p) { return _mm_loadu_si128((const __m128i *)p); }
BJVMI_INLINE void bjvmi_store16(void *p, __m128i v) { _mm_storeu_si128((__m128i *)p, v); }
BJVMI_INLINE __m128i bjvmi_load8(const void *p) { return _mm_loadl_epi64((const __m128i *)p); }
BJVMI_INLINE void bjvmi_store8(void *p, __m128i v) { _mm_storel_epi64((__m128i *)p, v); }
BJVMI_INLINE unsigned bjvmi_mask16(__m128i v) { return (unsigned)_mm_movemask_epi8(v); }
BJVMI_INLINE unsigned bjvmi_first(unsigned mask) { return (unsigned)__builtin_ctz(mask); }

/* One bit for each byte that may not be copied as raw ASCII: the highest of each, which the difference that saturates
 * sets below ' ' and from 0x80 on. */
BJVMI_INLINE unsigned bjvmi_marked16(__m128i v, bool html) {
  __m128i hit = _mm_subs_epi8(v, _mm_set1_epi8(' '));
  hit = _mm_or_si128(hit, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
  hit = _mm_or_si128(hit, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
  if (html) { /* < and > differ in bit 1 */
    hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_or_si128(v, _mm_set1_epi8(2)), _mm_set1_epi8('>')));
    hit = _mm_or_si128(hit, _mm_cmpeq_epi8(v, _mm_set1_epi8('&')));
  }
  return bjvmi_mask16(hit);
}

/* Copies the raw ASCII at the front of [p, p + size), size below 16, and returns how much it was; the rest of
 * [o, o + size) is scratch. */
BJVMI_INLINE size_t bjvmi_copy_short(const char *p, size_t size, char *o, bool html) {
  if (size >= 8) {
    __m128i low = bjvmi_load8(p), high = bjvmi_load8(p + size - 8);
    bjvmi_store8(o, low);
    bjvmi_store8(o + size - 8, high);
    unsigned mask = bjvmi_marked16(_mm_unpacklo_epi64(low, high), html);
    if (mask == 0) return size;
    return mask & 0xFF ? bjvmi_first(mask) : size - 8 + bjvmi_first(mask >> 8);
  }
  if (size >= 4) {
    uint32_t low = bjvmi_load32(p), high = bjvmi_load32(p + size - 4);
    bjvmi_store32(o, low);
    bjvmi_store32(o + size - 4, high);
    __m128i v = _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)low), _mm_cvtsi32_si128((int)high));
    unsigned mask = bjvmi_marked16(v, html) & 0xFF;
    if (mask == 0) return size;
    return mask & 0xF ? bjvmi_first(mask) : size - 4 + bjvmi_first(mask >> 4);
  }
  return bjvmi_copy_bytes(p, size, o, html);
}

/* The same for a size of 0 to 31. */
BJVMI_INLINE size_t bjvmi_copy_most(const char *p, size_t size, char *o, bool html) {
  if (size < 16) return bjvmi_copy_short(p, size, o, html);
  __m128i low = bjvmi_load16(p), high = bjvmi_load16(p + size - 16);
  bjvmi_store16(o, low);
  bjvmi_store16(o + size - 16, high);
  unsigned mask = bjvmi_marked16(low, html);
  if (mask) return bjvmi_first(mask);
  mask = bjvmi_marked16(high, html);
  return mask ? size - 16 + bjvmi_first(mask) : size;
}

/* Writes the escapes among the first 16 bytes of [p, p + 32), bytes that are already copied to o; `mask`
 * marks those to look at, the first of them ASCII. Behind each escape the rest of the block is copied anew,
 * without looking again. Stops before a non-ASCII byte, and when room gets short. */
BJVMI_INLINE bjvmi_places bjvmi_escape_block(const char *p, char *o, char *limit, unsigned mask) {
  unsigned from = 0; /* bytes of the block that are done */
  do {
    unsigned k = bjvmi_first(mask), c = (uint8_t)p[k];
    o += k - from;
    if (c >= 0x80 || limit - o < 6 + 16) return (bjvmi_places){p + k, o};
    o = bjvmi_escape_ascii(o, c, bjvmi_escape_kinds[c]);
    from = k + 1;
    bjvmi_store16(o, bjvmi_load16(p + from));
    mask &= mask - 1;
  } while (mask);
  return (bjvmi_places){p + 16, o + (16 - from)};
}

/* What a block of up to 32 bytes says to a scan: one bit a byte. */
typedef struct bjvmi_scan_masks {
  uint32_t stop; /* control, quote, backslash */
  uint32_t high; /* >= 0x80 */
} bjvmi_scan_masks;

/* Walks the stops of one block of `width` bytes at p. Returns true when the scan ends there, at *place; else
 * *place is where to go on: the next block, or a backslash whose next byte lies beyond the block. */
BJVMI_INLINE bool bjvmi_scan_block(const char *p, unsigned width, bjvmi_scan_masks masks, const char **place,
                                   unsigned *found) {
  uint32_t stop = masks.stop;
  unsigned at = width;
  bool ended = false;
  while (stop) {
    unsigned k = bjvmi_first(stop);
    if (p[k] != '\\') {
      at = k;
      ended = true;
      break;
    }
    *found |= BJVMI_STRING_ESCAPES;
    if (k == width - 1) {
      at = k;
      break;
    }
    if ((uint8_t)p[k + 1] < 0x20) {
      at = k + 1;
      ended = true;
      break;
    }
    stop &= ~(UINT32_C(3) << k);
  }
  uint32_t before = at == 32 ? UINT32_MAX : (UINT32_C(1) << at) - 1;
  if (masks.high & before) *found |= BJVMI_STRING_NONASCII;
  *place = p + at;
  return ended;
}

BJVMI_INLINE bjvmi_scan_masks bjvmi_scan16(__m128i v) {
  __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
  __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
  return (bjvmi_scan_masks){bjvmi_mask16(_mm_or_si128(control, hit)), bjvmi_mask16(v)};
}

#endif /* BJVM_STRING_WIDE_H_ */
