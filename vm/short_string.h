/* Short strings: the first bytes of a string token looked at in registers, before a kernel is called.
 *
 * Private to the VMs. Most strings are shorter than 32 bytes, and for these a call through a pointer costs as
 * much as the work. Each function is allowed to give up; the kernels are its slow twin.
 */
#ifndef BJVM_SHORT_STRING_H_
#define BJVM_SHORT_STRING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels.h"
#include "neon.h"

#ifdef BJVMI_HAVE_SSE2
#include <emmintrin.h>
#endif
#if defined(BJVMI_HAVE_SSE2) || defined(BJVMI_HAVE_NEON)
#define BJVMI_SHORT_STRINGS 1
#else
#define BJVMI_SHORT_STRINGS 0
#endif

/* Builds that check every read: sanitizers, and BJVM_CHECKED_READS for valgrind. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_HWADDRESS__) || defined(__SANITIZE_THREAD__) ||      \
    defined(BJVM_CHECKED_READS)
#define BJVMI_CHECKED_READS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(hwaddress_sanitizer) ||                                \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BJVMI_CHECKED_READS 1
#endif
#endif
#ifndef BJVMI_CHECKED_READS
#define BJVMI_CHECKED_READS 0
#endif

/* Whether n bytes at p may be read because they lie in one page with the first, which must be there to be read. Never in
 * a build that checks reads or has the portable kernels, nor where memory may be tagged in smaller pieces (AArch64). */
static inline bool bjvmi_short_in_page(const char *p, size_t n) {
#if defined(BJVMI_HAVE_SSE2) && !BJVMI_CHECKED_READS
  return ((uintptr_t)p & 4095) <= 4096 - n;
#else
  (void)p;
  (void)n;
  return false;
#endif
}

enum { BJVMI_SHORT_MAX = 31 }; /* the longest string these functions accept */

/* Which of 16 bytes JSON does not print as they are: control, quote, backslash, not ASCII. */
#ifdef BJVMI_HAVE_SSE2
typedef uint32_t bjvmi_short_mask; /* a bit for each byte */

/* In the highest bit of each byte: it is set below ' ' and, as the difference saturates, from 0x80 on. */
static inline __m128i bjvmi_short_odd_bytes(__m128i v) {
  __m128i odd = _mm_subs_epi8(v, _mm_set1_epi8(' '));
  odd = _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
  return _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
}

static inline bjvmi_short_mask bjvmi_short_odd(__m128i v) {
  return (uint32_t)_mm_movemask_epi8(bjvmi_short_odd_bytes(v));
}

static inline bjvmi_short_mask bjvmi_short_odd_at(const char *p) {
  return bjvmi_short_odd(_mm_loadu_si128((const __m128i *)(const void *)p));
}

static inline size_t bjvmi_short_first(bjvmi_short_mask mask) { return (size_t)__builtin_ctz(mask); }

/* A bit for each of the 64 bytes at p: those that are `c`, and those that are odd. */
static inline uint64_t bjvmi_short_all_of(const char *p, char c) {
  const __m128i wanted = _mm_set1_epi8(c);
  uint64_t mask = 0;
  for (unsigned i = 0; i < 64; i += 16) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
    mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted)) << i;
  }
  return mask;
}

static inline uint64_t bjvmi_short_all_odd(const char *p) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < 64; i += 16) mask |= (uint64_t)bjvmi_short_odd_at(p + i) << i;
  return mask;
}
#elif defined(BJVMI_HAVE_NEON)
typedef uint64_t bjvmi_short_mask; /* four bits for each byte */

static inline bjvmi_short_mask bjvmi_short_odd_at(const char *p) {
  return bjvmi_neon_mask(bjvmi_neon_odd(bjvmi_neon_load(p)));
}

static inline size_t bjvmi_short_first(bjvmi_short_mask mask) { return bjvmi_neon_first(mask); }
#endif

/* The length of the plain ASCII string that starts at p, up to its closing quote; more than BJVMI_SHORT_MAX
 * where it is longer or holds anything else. Reads 32 bytes. */
static inline size_t bjvmi_short_length(const char *p) {
#if BJVMI_SHORT_STRINGS
  bjvmi_short_mask stop = bjvmi_short_odd_at(p);
  if (__builtin_expect(stop != 0, 1)) {
    size_t n = bjvmi_short_first(stop);
    return p[n] == '"' ? n : BJVMI_SHORT_MAX + 1;
  }
  stop = bjvmi_short_odd_at(p + 16);
  if (stop != 0) {
    size_t n = 16 + bjvmi_short_first(stop);
    if (p[n] == '"') return n;
  }
#else
  (void)p;
#endif
  return BJVMI_SHORT_MAX + 1;
}

/* Whether the n bytes at a and b are equal; reads no others. Without a call for the sizes that names have. */
static inline bool bjvmi_short_equal(const char *a, const char *b, size_t n) {
#ifdef BJVM_SIZE_SMALL
  return memcmp(a, b, n) == 0;
#else
  uint64_t x[2];
  uint64_t y[2];
  if (n > 16) return memcmp(a, b, n) == 0;
  if (n >= 8) {
    memcpy(&x[0], a, 8);
    memcpy(&y[0], b, 8);
    memcpy(&x[1], a + n - 8, 8);
    memcpy(&y[1], b + n - 8, 8);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
  }
  if (n >= 4) {
    uint32_t u[2];
    uint32_t v[2];
    memcpy(&u[0], a, 4);
    memcpy(&v[0], b, 4);
    memcpy(&u[1], a + n - 4, 4);
    memcpy(&v[1], b + n - 4, 4);
    return ((u[0] ^ v[0]) | (u[1] ^ v[1])) == 0;
  }
  return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
#endif
}

/* The number of decimal digits at the front of the 8 bytes at p, and their value. Reads 8 bytes. */
static inline size_t bjvmi_short_digits(const char *p, uint64_t *value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && UINTPTR_MAX > 0xffffffffu
  uint64_t v;
  memcpy(&v, p, 8);
  v ^= 0x3030303030303030u; /* a digit is now 0 to 9 */
  uint64_t other =
      ((v + 0x7676767676767676u) | v) & 0x8080808080808080u; /* right up to the first that is none */
  size_t n = 8;
  if (other) {
    unsigned at = (unsigned)__builtin_ctzll(other); /* 8 * n + 7 */
    n = at / 8;
    *value = 0;
    if (n == 0) return 0;
    v <<= 71 - at; /* the digits at the high end, zeros before them */
  }
  v = v * 10 + (v >> 8);
  v = (((v & 0x000000ff000000ffu) * 0x000f424000000064u) +
       (((v >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u)) >>
      32;
  *value = v;
  return n;
#else
  uint32_t v = 0;
  size_t n = 0;
  for (; n < 8 && (uint8_t)(p[n] - '0') <= 9; n++) v = v * 10 + (uint8_t)(p[n] - '0');
  *value = v;
  return n;
#endif
}

/* How often `c` stands in [p, p + n). */
static inline size_t bjvmi_short_count(const char *p, size_t n, char c) {
  size_t count = 0;
#ifdef BJVMI_HAVE_SSE2
  const __m128i wanted = _mm_set1_epi8(c);
  const __m128i zero = _mm_setzero_si128();
  for (; n >= 16; p += 16, n -= 16) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i ones = _mm_sub_epi8(zero, _mm_cmpeq_epi8(v, wanted));
    __m128i sums = _mm_sad_epu8(ones, zero); /* of each half */
    count += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
  }
#elif defined(BJVMI_HAVE_NEON)
  const uint8x16_t wanted = vdupq_n_u8((uint8_t)c);
  for (; n >= 16; p += 16, n -= 16) {
    uint8x16_t ones = vshrq_n_u8(vceqq_u8(bjvmi_neon_load(p), wanted), 7);
    count += vaddvq_u8(ones);
  }
#endif
  for (; n > 0; p++, n--) count += *p == c;
  return count;
}

/* The place in [p, p + n) behind the last `c`, n: behind all of it; 0: there is none. */
static inline size_t bjvmi_short_behind_last(const char *p, size_t n, char c) {
#ifdef BJVMI_HAVE_SSE2
  const __m128i wanted = _mm_set1_epi8(c);
  for (; n >= 16; n -= 16) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + n - 16));
    uint32_t found = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted));
    if (found) return n + 16 - (size_t)__builtin_clz(found);
  }
#endif
  while (n > 0 && p[n - 1] != c) n--;
  return n;
}

/* Copies n <= 32 bytes in units of 8: rounds up to that what it reads and writes. */
static inline void bjvmi_short_copy(char *to, const char *from, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    uint64_t v;
    memcpy(&v, from + i, 8);
    memcpy(to + i, &v, 8);
  }
}

/* Copies the n bytes at p, 1 to BJVMI_SHORT_MAX, to `out` (32 bytes of room) and tells whether all of them are
 * ASCII that JSON prints as it is. May give up.
 *
 * It loads as much whatever n is: choosing the loads by n costs a misprediction a string (25 to 29 % of
 * printing the benchmark's complex and repeated messages on x86-64). The bytes around the string are masked
 * off, and no fault can come of loading them; but it is a read beyond the object, so checking builds leave it
 * out. */
#if BJVMI_SHORT_STRINGS && !BJVMI_CHECKED_READS && defined(BJVMI_HAVE_SSE2)
/* The 32 bytes behind p, unless they leave its page. */
static inline bool bjvmi_short_plain(char *out, const char *p, size_t n) {
  if (__builtin_expect(!bjvmi_short_in_page(p, 32), 0)) return false;
  __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
  _mm_storeu_si128((__m128i *)(void *)out, low);
  _mm_storeu_si128((__m128i *)(void *)(out + 16), high);
  uint32_t odd = bjvmi_short_odd(low) | bjvmi_short_odd(high) << 16;
  return (odd & (((uint32_t)1 << n) - 1)) == 0;
}
#elif BJVMI_SHORT_STRINGS && !BJVMI_CHECKED_READS
/* The up to three aligned 16 bytes that the string lies in: memory tags (MTE) are checked by these, and unlike
 * on x86-64 a read that stays in the page is not safe for that. Where there are fewer, the last of them again.
 */
static inline bool bjvmi_short_plain(char *out, const char *p, size_t n) {
  static const uint8_t counting[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  size_t skip = (uintptr_t)p & 15, last = (skip + n - 1) & 48;
  const char *first = p - skip;
  uint8x16_t a = bjvmi_neon_load(first), b = bjvmi_neon_load(first + (last < 16 ? last : 16)),
             c = bjvmi_neon_load(first + last);
  uint8x16_t from = vaddq_u8(bjvmi_neon_load(counting), vdupq_n_u8((uint8_t)skip)),
             size = vdupq_n_u8((uint8_t)n);
  uint8x16_t low = vqtbl2q_u8((uint8x16x2_t){{a, b}}, from), high = vqtbl2q_u8((uint8x16x2_t){{b, c}}, from);
  bjvmi_neon_store(out, low);
  bjvmi_neon_store(out + 16, high);
  low = vandq_u8(bjvmi_neon_odd(low), vcltq_u8(bjvmi_neon_load(counting), size));
  high = vandq_u8(bjvmi_neon_odd(high), vcltq_u8(bjvmi_neon_load(counting + 16), size));
  return bjvmi_neon_mask(vorrq_u8(low, high)) == 0;
}
#else
static inline bool bjvmi_short_plain(char *out, const char *p, size_t n) {
  (void)out;
  (void)p;
  (void)n;
  return false;
}
#endif

enum { BJVMI_MIDDLE_LEAST = 32, BJVMI_MIDDLE_MAX = 64 }; /* lengths between which the next function copies */

/* The same for n bytes between these two: the first 32 and the last 32, which overlap. Stays inside the string. */
static inline bool bjvmi_middle_plain(char *out, const char *p, size_t n) {
#if BJVMI_SHORT_STRINGS && defined(BJVMI_HAVE_SSE2)
  const size_t places[4] = {0, 16, n - 32, n - 16};
  __m128i odd = _mm_setzero_si128();
  for (int i = 0; i < 4; i++) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + places[i]));
    _mm_storeu_si128((__m128i *)(void *)(out + places[i]), v);
    odd = _mm_or_si128(odd, bjvmi_short_odd_bytes(v));
  }
  return _mm_movemask_epi8(odd) == 0;
#elif BJVMI_SHORT_STRINGS && defined(BJVMI_HAVE_NEON)
  const size_t places[4] = {0, 16, n - 32, n - 16};
  uint8x16_t odd = vdupq_n_u8(0);
  for (int i = 0; i < 4; i++) {
    uint8x16_t v = bjvmi_neon_load(p + places[i]);
    bjvmi_neon_store(out + places[i], v);
    odd = vorrq_u8(odd, bjvmi_neon_odd(v));
  }
  return vmaxvq_u8(odd) == 0;
#else
  (void)out;
  (void)p;
  (void)n;
  return false;
#endif
}

/* What is more than a few instructions: inline, but once in the small build, in decode_scalar.c. */
#ifdef BJVM_SIZE_SMALL
#define BJVMI_SHORT_ONCE
#else
#define BJVMI_SHORT_ONCE static inline
#endif

/* An integer of up to 19 digits with a sign: the place behind it, or NULL where the slow twin must look (another
 * spelling, a bad number, or one beyond int64_t). Reads at most 26 bytes. */
BJVMI_SHORT_ONCE const char *bjvmi_short_int(const char *p, int64_t *v);

#if !defined(BJVM_SIZE_SMALL) || defined(BJVMI_SHORT_DEFINE)
static const uint32_t bjvmi_powers_of_ten[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

BJVMI_SHORT_ONCE const char *bjvmi_short_int(const char *p, int64_t *v) {
  bool negative = *p == '-';
  p += negative;
  uint64_t n;
  size_t digits = bjvmi_short_digits(p, &n);
  if (digits == 8) {
    uint64_t low;
    size_t more = bjvmi_short_digits(p + 8, &low);
    if (more == 8) {
      n = n * 100000000 + low;
      more = bjvmi_short_digits(p + 16, &low);
      if (more > 3) return NULL; /* 19 digits fit 64 bits */
      digits += 8;
    }
    n = n * bjvmi_powers_of_ten[more] + low;
    if (n > INT64_MAX) return NULL;
    digits += more;
  }
  if (digits == 0 || (*p == '0' && digits > 1)) return NULL;
  p += digits;
  if (*p == '.' || (*p | 0x20) == 'e') return NULL;
  *v = negative ? -(int64_t)n : (int64_t)n;
  return p;
}
#endif

#ifndef BJVM_SIZE_SMALL
/* The same, with what most integers are, up to 7 digits, before the call. */
static inline const char *bjvmi_short_int32(const char *p, int64_t *v) {
  size_t negative = *p == '-';
  uint64_t n;
  const char *first = p + negative;
  size_t digits = bjvmi_short_digits(first, &n);
  const char *end = first + digits;
  if (__builtin_expect(digits - 1 < 7 && (*end == ',' || *end == '}') && (*first != '0' || digits == 1), 1)) {
    *v = (int64_t)((n ^ (0 - (uint64_t)negative)) + negative);
    return end;
  }
  return bjvmi_short_int(p, v);
}
#endif

/* Whether 64 bytes can be looked at together. */
#if !defined(BJVM_SIZE_SMALL) && defined(BJVMI_HAVE_SSE2) && UINTPTR_MAX > 0xffffffffu
#define BJVMI_SHORT_WINDOWS 1
#else
#define BJVMI_SHORT_WINDOWS 0
#endif

#if BJVMI_SHORT_WINDOWS
/* The value of the digits at the front of 8 bytes, n of them (0 to 8). *bad gets bits where one is no digit. */
static inline uint64_t bjvmi_short_group(const char *p, size_t n, uint64_t *bad) {
  uint64_t v;
  memcpy(&v, p, 8);
  v = (v ^ 0x3030303030303030u) << 4 * (8 - n) << 4 * (8 - n); /* in two, as n may be 0 */
  *bad |= ((v + 0x7676767676767676u) | v) & 0x8080808080808080u;
  v = v * 10 + (v >> 8);
  return (((v & 0x000000ff000000ffu) * 0x000f424000000064u) +
          (((v >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u)) >>
         32;
}

/* Whether [p, end) is an integer of up to 15 digits as bjvmi_short_int reads it, and its value. Without a branch on its
 * length. Reads 17 bytes. */
static inline bool bjvmi_short_int_until(const char *p, const char *end, int64_t *value) {
  size_t negative = *p == '-';
  p += negative;
  size_t n = (size_t)(end - p);
  size_t first = n < 8 ? n : 8;
  size_t more = n - first;
  uint64_t bad = 0;
  if (n - 1 > 14) return false;
  uint64_t v =
      bjvmi_short_group(p, first, &bad) * bjvmi_powers_of_ten[more] + bjvmi_short_group(p + 8, more, &bad);
  if (bad != 0 || (*p == '0' && n > 1)) return false;
  *value = (int64_t)((v ^ (0 - (uint64_t)negative)) + negative);
  return true;
}
#endif

#endif /* BJVM_SHORT_STRING_H_ */
