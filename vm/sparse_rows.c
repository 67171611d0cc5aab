/* The rows of a wide message read, in portable, SSE2, AVX2 and NEON form, and the first two bits of each turned into words.
 *
 * Neighbours: sparse.c, which lays out the rows and takes what is left; kernels.c chooses the form. Kept: no load leaves the
 * bytes of a row.
 *
 * All rows are read before anything is asked of one: a branch on bytes that are not in the cache yet would keep those of the
 * next row from being fetched meanwhile. And which bits are set is random, so that a branch on them costs as much as forty
 * instructions: what is done to a row is the same for all messages of a type.
 */
#include "sparse_rows.h"

#include "kernels_impl.h"
#include "neon.h"
#include "plan_format.h"

#ifndef BJVM_SIZE_SMALL

#ifdef BJVMI_HAVE_SSE2
#include <emmintrin.h>
#endif
#ifdef BJVMI_HAVE_AVX2
#include <immintrin.h>
#endif

BJVMI_INLINE uint64_t hasbits(const char *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return bjvmi_le64(v);
}

/* The word of the lowest bit, if there is one; in any case something is written to found[count]. */
BJVMI_INLINE size_t take(uint64_t bits, const uint16_t *words, uint16_t *found, size_t count) {
  found[count] = words[(unsigned)__builtin_ctzll(bits | (uint64_t)1 << (BJVMI_ROW - 1))];
  return count + (bits != 0);
}

/* Reads the rows of one sort by `read` (an expression of p), from row i on, and takes two bits of each: nearly all that there
 * are where few fields are set. */
#define TAKE(sort, read)                                                                                     \
  for (size_t end = r->starts[BJVMI_ROW_##sort + 1]; i < end; i++, words += BJVMI_ROW) {                     \
    const char *p = msg + rows[i].offset;                                                                    \
    uint64_t b = (read)&rows[i].mask;                                                                        \
    result.count = take(b, words, found, result.count);                                                      \
    b &= b - 1;                                                                                              \
    result.count = take(b, words, found, result.count);                                                      \
    b &= b - 1;                                                                                              \
    bits[i] = b;                                                                                             \
    result.left |= b;                                                                                        \
  }
#define READ_ALL()                                                                                           \
  bjvmi_rows_found result = {0, 0};                                                                          \
  const bjvmi_row *rows = r->rows;                                                                           \
  const uint16_t *words = r->words;                                                                          \
  size_t i = 0;                                                                                              \
  TAKE(HASBITS, hasbits(p))                                                                                  \
  TAKE(UNITS_1, units_1(p))                                                                                  \
  TAKE(UNITS_4, units_4(p))                                                                                  \
  TAKE(UNITS_8, units_8(p))                                                                                  \
  for (size_t end = r->starts[BJVMI_ROW_CASES + 1]; i < end; i++)                                            \
    bits[i] = units_4(msg + rows[i].offset) & rows[i].mask;                                                  \
  return result

/* -- Portable --------------------------------------------------------------------------------------------- */

#define EACH_UNIT(type)                                                                                      \
  uint64_t bits = 0;                                                                                         \
  for (size_t i = BJVMI_ROW; i-- > 0;) {                                                                     \
    type v;                                                                                                  \
    memcpy(&v, p + i * sizeof v, sizeof v);                                                                  \
    bits = bits * 2 + (v != 0);                                                                              \
  }                                                                                                          \
  return bits

static uint64_t units_1(const char *p) { EACH_UNIT(uint8_t); }
static uint64_t units_4(const char *p) { EACH_UNIT(uint32_t); }
static uint64_t units_8(const char *p) { EACH_UNIT(uint64_t); }

bjvmi_rows_found bjvmi_rows_read_portable(const bjvmi_rows *r, const char *msg, uint64_t *bits,
                                          uint16_t *found) {
  READ_ALL();
}

/* -- SSE2. Packing saturates: what is not zero does not become zero. ---------------------------------------- */

#ifdef BJVMI_HAVE_SSE2

BJVMI_INLINE __m128i load16(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }

/* 32 bytes to 8 times 16 bits, one for each 4 bytes; */
BJVMI_INLINE __m128i pack_4(const char *p) { return _mm_packs_epi32(load16(p), load16(p + 16)); }

/* 64 bytes to as many, one for each 8. */
BJVMI_INLINE __m128i pack_8(const char *p) { return _mm_packs_epi32(pack_4(p), pack_4(p + 32)); }

BJVMI_INLINE uint64_t zeros(__m128i bytes) {
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
}

BJVMI_INLINE uint64_t not_zero(__m128i a, __m128i b, __m128i c, __m128i d) {
  return ~(zeros(a) | zeros(b) << 16 | zeros(c) << 32 | zeros(d) << 48);
}

BJVMI_INLINE uint64_t units_1_sse2(const char *p) {
  return not_zero(load16(p), load16(p + 16), load16(p + 32), load16(p + 48));
}

BJVMI_INLINE __m128i bytes_4(const char *p) { return _mm_packs_epi16(pack_4(p), pack_4(p + 32)); }

BJVMI_INLINE uint64_t units_4_sse2(const char *p) {
  return not_zero(bytes_4(p), bytes_4(p + 64), bytes_4(p + 128), bytes_4(p + 192));
}

BJVMI_INLINE __m128i bytes_8(const char *p) { return _mm_packs_epi16(pack_8(p), pack_8(p + 64)); }

BJVMI_INLINE uint64_t units_8_sse2(const char *p) {
  return not_zero(bytes_8(p), bytes_8(p + 128), bytes_8(p + 256), bytes_8(p + 384));
}

#define units_1 units_1_sse2
#define units_4 units_4_sse2
#define units_8 units_8_sse2
bjvmi_rows_found bjvmi_rows_read_sse2(const bjvmi_rows *r, const char *msg, uint64_t *bits, uint16_t *found) {
  READ_ALL();
}
#undef units_1
#undef units_4
#undef units_8

#endif

/* -- AVX2: the same in each half of a vector; then the halves are put in order. ------------------------------ */

#ifdef BJVMI_HAVE_AVX2

#define AVX2 __attribute__((target("avx2,bmi")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,bmi")))

AVX2_INLINE __m256i load32(const char *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
AVX2_INLINE __m256i pack_4_avx2(const char *p) { return _mm256_packs_epi32(load32(p), load32(p + 32)); }
AVX2_INLINE __m256i pack_8_avx2(const char *p) {
  return _mm256_packs_epi32(pack_4_avx2(p), pack_4_avx2(p + 64));
}

AVX2_INLINE uint64_t not_zero_avx2(__m256i a, __m256i b) {
  uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, _mm256_setzero_si256()));
  uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, _mm256_setzero_si256()));
  return ~(low | high << 32);
}

AVX2_INLINE uint64_t units_1_avx2(const char *p) { return not_zero_avx2(load32(p), load32(p + 32)); }

/* 128 bytes; four bytes of a half are 16 bytes of the message. */
AVX2_INLINE __m256i bytes_4_avx2(const char *p) {
  __m256i v = _mm256_packs_epi16(pack_4_avx2(p), pack_4_avx2(p + 64));
  return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

AVX2_INLINE uint64_t units_4_avx2(const char *p) {
  return not_zero_avx2(bytes_4_avx2(p), bytes_4_avx2(p + 128));
}

/* 256 bytes; two bytes of a half are 16 bytes of the message. */
AVX2_INLINE __m256i bytes_8_avx2(const char *p) {
  const __m256i order =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  __m256i v = _mm256_packs_epi16(pack_8_avx2(p), pack_8_avx2(p + 128));
  return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(v, 0xd8), order);
}

AVX2_INLINE uint64_t units_8_avx2(const char *p) {
  return not_zero_avx2(bytes_8_avx2(p), bytes_8_avx2(p + 256));
}

#define units_1 units_1_avx2
#define units_4 units_4_avx2
#define units_8 units_8_avx2
AVX2 bjvmi_rows_found bjvmi_rows_read_avx2(const bjvmi_rows *r, const char *msg, uint64_t *bits,
                                           uint16_t *found) {
  READ_ALL();
}
#undef units_1
#undef units_4
#undef units_8

#endif

/* -- NEON. Narrowing saturates too. --------------------------------------------------------------------------- */

#ifdef BJVMI_HAVE_NEON

BJVMI_INLINE uint64_t not_zero_neon(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
  const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t ab = vpaddq_u8(vandq_u8(vtstq_u8(a, a), bit), vandq_u8(vtstq_u8(b, b), bit));
  uint8x16_t cd = vpaddq_u8(vandq_u8(vtstq_u8(c, c), bit), vandq_u8(vtstq_u8(d, d), bit));
  uint8x16_t sums = vpaddq_u8(ab, cd);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

BJVMI_INLINE uint64_t units_1_neon(const char *p) {
  return not_zero_neon(bjvmi_neon_load(p), bjvmi_neon_load(p + 16), bjvmi_neon_load(p + 32),
                       bjvmi_neon_load(p + 48));
}

/* 16 bytes to four times 16 bits, one for each 4 bytes; */
BJVMI_INLINE uint16x4_t four_4(const char *p) { return vqmovn_u32(vreinterpretq_u32_u8(bjvmi_neon_load(p))); }

/* 64 bytes to 16, one for each 4. */
BJVMI_INLINE uint8x16_t bytes_4_neon(const char *p) {
  uint16x8_t low = vcombine_u16(four_4(p), four_4(p + 16));
  uint16x8_t high = vcombine_u16(four_4(p + 32), four_4(p + 48));
  return vcombine_u8(vqmovn_u16(low), vqmovn_u16(high));
}

BJVMI_INLINE uint64_t units_4_neon(const char *p) {
  return not_zero_neon(bytes_4_neon(p), bytes_4_neon(p + 64), bytes_4_neon(p + 128), bytes_4_neon(p + 192));
}

/* 32 bytes to four times 16 bits, one for each 8 bytes; */
BJVMI_INLINE uint16x4_t four_8(const char *p) {
  uint32x2_t low = vqmovn_u64(vreinterpretq_u64_u8(bjvmi_neon_load(p)));
  uint32x2_t high = vqmovn_u64(vreinterpretq_u64_u8(bjvmi_neon_load(p + 16)));
  return vqmovn_u32(vcombine_u32(low, high));
}

/* 128 bytes to 16, one for each 8. */
BJVMI_INLINE uint8x16_t bytes_8_neon(const char *p) {
  uint16x8_t low = vcombine_u16(four_8(p), four_8(p + 32));
  uint16x8_t high = vcombine_u16(four_8(p + 64), four_8(p + 96));
  return vcombine_u8(vqmovn_u16(low), vqmovn_u16(high));
}

BJVMI_INLINE uint64_t units_8_neon(const char *p) {
  return not_zero_neon(bytes_8_neon(p), bytes_8_neon(p + 128), bytes_8_neon(p + 256), bytes_8_neon(p + 384));
}

#define units_1 units_1_neon
#define units_4 units_4_neon
#define units_8 units_8_neon
bjvmi_rows_found bjvmi_rows_read_neon(const bjvmi_rows *r, const char *msg, uint64_t *bits, uint16_t *found) {
  READ_ALL();
}
#undef units_1
#undef units_4
#undef units_8

#endif

#undef EACH_UNIT
#undef READ_ALL
#undef TAKE

#endif
