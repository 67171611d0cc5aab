/* The AVX2 forms: strings printed, scanned and validated 32 bytes at a time; base64 24 bytes at a time.
 *
 * Compiled for AVX2 function by function and chosen by kernels.c where the machine has it. string_wide.h has
 * the pieces for short strings, string_sse2.c the printing with flags, utf8.c and base64.c the tails and the
 * place of an error.
 * Kept: loads inside [p, end), stores below `limit` or inside the room the contract gives.
 * Source: RFC 8259 section 7; the Unicode Standard 15, table 3-7; RFC 4648. Methods: Keiser and Lemire,
 * "Validating UTF-8 in less than one instruction per byte" (2020); Mula and Lemire, "Faster base64 encoding
 * and decoding using AVX2 instructions" (2018).
 */
#include "kernels.h"
#include "kernels_impl.h"

#ifdef BJVMI_HAVE_AVX2
#include <immintrin.h>

#include "string_wide.h"
#include "utf8_faults.h"

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

AVX2_INLINE __m256i load32(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
AVX2_INLINE void store32(void *p, __m256i v) { _mm256_storeu_si256((__m256i *)p, v); }
AVX2_INLINE uint32_t mask32(__m256i v) { return (uint32_t)_mm256_movemask_epi8(v); }
AVX2_INLINE __m256i each(int byte) { return _mm256_set1_epi8((char)byte); }
AVX2_INLINE __m256i high_nibbles(__m256i v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), each(15)); }

/* A table of 16 bytes, one copy for each half. */
#define TABLE(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

/* Control, quote, backslash: one bit a byte. */
AVX2_INLINE uint32_t specials32(__m256i v) {
  __m256i hit = _mm256_cmpeq_epi8(_mm256_min_epu8(v, each(0x1F)), v);
  hit = _mm256_or_si256(hit, _mm256_cmpeq_epi8(v, each('"')));
  return mask32(_mm256_or_si256(hit, _mm256_cmpeq_epi8(v, each('\\'))));
}

/* Nonzero bytes where [v] is not well-formed, with b1, b2, b3 the bytes one, two and three places before.
 * Does not see a sequence cut off at the end of v. */
AVX2_INLINE __m256i utf8_faults(__m256i v, __m256i b1, __m256i b2, __m256i b3) {
  const __m256i first_high = TABLE(BJVMI_UTF8_FIRST_HIGH);
  const __m256i first_low = TABLE(BJVMI_UTF8_FIRST_LOW);
  const __m256i second_high = TABLE(BJVMI_UTF8_SECOND_HIGH);
  __m256i pair = _mm256_and_si256(_mm256_shuffle_epi8(first_high, high_nibbles(b1)),
                                  _mm256_shuffle_epi8(first_low, _mm256_and_si256(b1, each(15))));
  pair = _mm256_and_si256(pair, _mm256_shuffle_epi8(second_high, high_nibbles(v)));
  /* Bit 7 where a third or fourth byte is due: E0.. two back, F0.. three back. */
  __m256i due =
      _mm256_or_si256(_mm256_subs_epu8(b2, each(0xE0 - 0x80)), _mm256_subs_epu8(b3, each(0xF0 - 0x80)));
  return _mm256_xor_si256(pair, _mm256_and_si256(due, each(0x80)));
}

/* The faults of 32 bytes that begin a character: zeros stand for what is before. */
AVX2_INLINE __m256i first_faults(__m256i v) {
  __m256i before = _mm256_permute2x128_si256(v, v, 0x08); /* low half zero, high half = low half of v */
  return utf8_faults(v, _mm256_alignr_epi8(v, before, 15), _mm256_alignr_epi8(v, before, 14),
                     _mm256_alignr_epi8(v, before, 13));
}

/* How many of the 32 bytes at p, well-formed but for the end, are whole characters: 29 to 32. */
AVX2_INLINE unsigned whole_characters(const char *p) {
  const uint8_t *b = (const uint8_t *)p;
  return b[31] >= 0xC0 ? 31 : b[30] >= 0xE0 ? 30 : b[29] >= 0xF0 ? 29 : 32;
}

/* A block with something that is not raw ASCII: how many bytes from its start may stay as they were copied.
 */
AVX2_INLINE unsigned raw_bytes(const char *p, __m256i v, uint32_t specials, uint32_t high) {
  unsigned first = specials ? bjvmi_first(specials) : 32;
  uint32_t before = specials ? (UINT32_C(1) << first) - 1 : UINT32_MAX;
  if ((high & before) == 0) return first;
  __m256i faults = first_faults(v);
  if (!_mm256_testz_si256(faults, faults)) return bjvmi_first(high);
  return specials ? first : whole_characters(p);
}

AVX2 static bjvmi_escape_result escape(const char **src, const char *end, char **out, char *limit,
                                       unsigned flags) {
  if (flags) return bjvmi_escape_sse2(src, end, out, limit, flags);
  const char *p = *src;
  char *o = *out;
  bjvmi_escape_result result = BJVMI_ESCAPE_DONE;
  while (p < end) {
    if (limit - o < BJVMI_ESCAPE_STEP) {
      result = BJVMI_ESCAPE_ROOM;
      break;
    }
    size_t left = (size_t)(end - p), done;
    if (left >= 32) {
      __m256i v = load32(p);
      store32(o, v);
      uint32_t specials = specials32(v), high = mask32(v), low = (specials | high) & 0xFFFF;
      if (low && (uint8_t)p[bjvmi_first(low)] < 0x80) {
        bjvmi_places next = bjvmi_escape_block(p, o, limit, low);
        p = next.p;
        o = next.o;
        continue;
      }
      done = specials | high ? raw_bytes(p, v, specials, high) : 32;
    } else {
      done = bjvmi_copy_most(p, left, o, false);
    }
    p += done;
    o += done;
    if (done == left || done >= 29) continue; /* 29 and more: at a character, but not known of which kind */
    bjvmi_places next = bjvmi_escape_special(p, end, o, limit, flags);
    if (!next.p) {
      result = BJVMI_ESCAPE_BAD;
      break;
    }
    p = next.p;
    o = next.o;
  }
  *src = p;
  *out = o;
  return result;
}

AVX2 static const char *scan(const char *p, const char *end, unsigned *flags) {
  unsigned found = 0, tail;
  while (end - p >= 32) {
    __m256i v = load32(p);
    if (bjvmi_scan_block(p, 32, (bjvmi_scan_masks){specials32(v), mask32(v)}, &p, &found)) {
      *flags = found;
      return p;
    }
  }
  while (end - p >= 16) {
    if (bjvmi_scan_block(p, 16, bjvmi_scan16(bjvmi_load16(p)), &p, &found)) {
      *flags = found;
      return p;
    }
  }
  p = bjvmi_scan_portable(p, end, &tail);
  *flags = found | tail;
  return p;
}

AVX2 static const char *utf8(const char *p, size_t size) {
  const char *end = p + size;
  if (size < 32) return bjvmi_utf8_portable(p, size);
  __m256i v = load32(p);
  bool ascii = mask32(v) == 0;
  if (!ascii) {
    __m256i faults = first_faults(v);
    if (!_mm256_testz_si256(faults, faults)) return bjvmi_utf8_portable(p, size);
  }
  for (p += 32; end - p >= 32; p += 32) {
    v = load32(p);
    bool now = mask32(v) == 0;
    if (!(now && ascii)) { /* a block of ASCII after one that is not may still cut off a sequence */
      __m256i faults = utf8_faults(v, load32(p - 1), load32(p - 2), load32(p - 3));
      if (!_mm256_testz_si256(faults, faults)) break;
    }
    ascii = now;
  }
  p = bjvmi_back_to_character(p);
  return bjvmi_utf8_portable(p, (size_t)(end - p));
}

/* Twelve bytes in the low end of each half to sixteen values of six bits. Three bytes a b c are laid out as
 * the 16-bit pair (b a)(c b); a multiplication is the shift that brings each six bits to their place. */
AVX2_INLINE __m256i split_bits(__m256i v) {
  v = _mm256_shuffle_epi8(v, TABLE(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  __m256i odd =
      _mm256_mulhi_epu16(_mm256_and_si256(v, _mm256_set1_epi32(0x0FC0FC00)), _mm256_set1_epi32(0x04000040));
  __m256i even =
      _mm256_mullo_epi16(_mm256_and_si256(v, _mm256_set1_epi32(0x003F03F0)), _mm256_set1_epi32(0x01000010));
  return _mm256_or_si256(odd, even);
}

/* Values 0..63 to letters: what to add, by class: 0..25 class 13, 26..51 class 0, then each value its own. */
AVX2_INLINE __m256i to_letters(__m256i v) {
  const __m256i add = TABLE('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                            '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
  __m256i class = _mm256_subs_epu8(v, each(51));
  class = _mm256_or_si256(class, _mm256_and_si256(_mm256_cmpgt_epi8(each(26), v), each(13)));
  return _mm256_add_epi8(v, _mm256_shuffle_epi8(add, class));
}

AVX2 static char *encode(char *out, const uint8_t *p, size_t size) {
  for (; size >= 28; size -= 24, p += 24, out += 32) {
    __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(bjvmi_load16(p)), bjvmi_load16(p + 12), 1);
    store32(out, to_letters(split_bits(v)));
  }
  return bjvmi_base64_encode_portable(out, p, size);
}

/* Letters of either alphabet to values; false if there is another byte among them. */
AVX2_INLINE bool to_values(__m256i v, __m256i *values) {
  /* A bit for each row 2x..7x of the ASCII table, and for each column the rows in which it is a letter. */
  const __m256i row = TABLE(0, 0, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i columns = TABLE(2 + 8 + 32, 62, 62, 62, 62, 62, 62, 62, 62, 62, 4 + 8 + 16 + 32, 1 + 4 + 16,
                                4 + 16, 1 + 4 + 16, 4 + 16, 1 + 4 + 8 + 16);
  const __m256i add = TABLE(0, 0, 63 - '/', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0);
  /* In row 2x the value does not grow with the letter: + and - are 62, / is 63. */
  const __m256i more = TABLE(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0);
  __m256i high = high_nibbles(v), low = _mm256_and_si256(v, each(15));
  __m256i fits = _mm256_and_si256(_mm256_shuffle_epi8(row, high), _mm256_shuffle_epi8(columns, low));
  if (mask32(_mm256_cmpeq_epi8(fits, _mm256_setzero_si256()))) return false;
  __m256i sum = _mm256_add_epi8(v, _mm256_shuffle_epi8(add, high));
  __m256i signs = _mm256_and_si256(_mm256_cmpeq_epi8(high, each(2)), _mm256_shuffle_epi8(more, low));
  __m256i underscore = _mm256_and_si256(_mm256_cmpeq_epi8(v, each('_')), each(63 - ('_' - 'A')));
  *values = _mm256_add_epi8(sum, _mm256_or_si256(signs, underscore));
  return true;
}

/* Thirty-two values to 24 bytes at the front. */
AVX2_INLINE __m256i join_bits(__m256i v) {
  v = _mm256_maddubs_epi16(v, _mm256_set1_epi32(0x01400140)); /* pairs: first * 64 + second */
  v = _mm256_madd_epi16(v, _mm256_set1_epi32(0x00011000));    /* pairs of pairs: first * 4096 + second */
  v = _mm256_shuffle_epi8(v, TABLE(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
}

/* Each step stores 32 bytes for 24; 44 letters left promise room for 33. In place, the store stays within
 * what was read. */
AVX2 static uint8_t *decode(uint8_t *out, const char *p, size_t size, const char **bad) {
  __m256i values;
  for (; size >= 44 && to_values(load32(p), &values); size -= 32, p += 32, out += 24)
    store32(out, join_bits(values));
  return bjvmi_base64_decode_portable(out, p, size, bad);
}

const bjvmi_kernels bjvmi_kernels_avx2 = {"avx2", escape, scan, utf8, encode, decode, bjvmi_rows_read_avx2};
#endif
