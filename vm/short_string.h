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

#if defined(__SSE2__) && !defined(BJVM_PORTABLE_KERNELS) && !defined(BJVM_SIZE_SMALL)
#include <emmintrin.h>
#define BJVMI_SHORT_STRINGS 1
#else
#define BJVMI_SHORT_STRINGS 0
#endif

/* Builds that check every read: sanitizers, and BJVM_CHECKED_READS for valgrind. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(BJVM_CHECKED_READS)
#define BJVMI_CHECKED_READS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define BJVMI_CHECKED_READS 1
#endif
#endif
#ifndef BJVMI_CHECKED_READS
#define BJVMI_CHECKED_READS 0
#endif

/* Whether n bytes at p can be read because they lie in one page with the first, which must be there to be read. Never
 * in a build that checks reads. */
static inline bool bjvmi_short_in_page(const char *p, size_t n) {
  return !BJVMI_CHECKED_READS && ((uintptr_t)p & 4095) <= 4096 - n;
}

enum { BJVMI_SHORT_MAX = 31 }; /* the longest string these functions accept */

/* The length of the plain ASCII string that starts at p, up to its closing quote; more than BJVMI_SHORT_MAX
 * where it is longer or holds anything else. Reads 32 bytes. */
static inline size_t bjvmi_short_length(const char *p) {
#if BJVMI_SHORT_STRINGS
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i blank = _mm_set1_epi8(0x20);
  __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
  /* Signed: bytes from 0x80 on are below 0x20 too. */
  __m128i odd = _mm_or_si128(_mm_cmplt_epi8(a, blank), _mm_cmpeq_epi8(a, slash));
  __m128i end = _mm_cmpeq_epi8(a, quote);
  uint32_t stop = (uint32_t)_mm_movemask_epi8(_mm_or_si128(odd, end));
  if (__builtin_expect(stop != 0, 1)) {
    size_t n = (size_t)__builtin_ctz(stop);
    return p[n] == '"' ? n : BJVMI_SHORT_MAX + 1;
  }
  a = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
  odd = _mm_or_si128(_mm_cmplt_epi8(a, blank), _mm_cmpeq_epi8(a, slash));
  end = _mm_cmpeq_epi8(a, quote);
  stop = (uint32_t)_mm_movemask_epi8(_mm_or_si128(odd, end));
  if (stop != 0) {
    size_t n = 16 + (size_t)__builtin_ctz(stop);
    if (p[n] == '"') return n;
  }
#else
  (void)p;
#endif
  return BJVMI_SHORT_MAX + 1;
}

/* Whether the n bytes at a and b are equal; reads no others. Without a call for the sizes that names have. */
static inline bool bjvmi_short_equal(const char *a, const char *b, size_t n) {
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
}

static const uint32_t bjvmi_powers_of_ten[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* The number of decimal digits at the front of the 8 bytes at p, and their value. Reads 8 bytes. */
static inline size_t bjvmi_short_digits(const char *p, uint64_t *value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && UINTPTR_MAX > 0xffffffffu
  uint64_t v;
  memcpy(&v, p, 8);
  v ^= 0x3030303030303030u; /* a digit is now 0 to 9 */
  uint64_t other =
      ((v + 0x7676767676767676u) | v) & 0x8080808080808080u; /* right up to the first that is none */
  size_t n = other ? (size_t)__builtin_ctzll(other) / 8 : 8;
  *value = 0;
  if (n == 0) return 0;
  v <<= 64 - 8 * n; /* the digits at the high end, zeros before them */
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
#if BJVMI_SHORT_STRINGS
  const __m128i wanted = _mm_set1_epi8(c);
  const __m128i zero = _mm_setzero_si128();
  for (; n >= 16; p += 16, n -= 16) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i ones = _mm_sub_epi8(zero, _mm_cmpeq_epi8(v, wanted));
    __m128i sums = _mm_sad_epu8(ones, zero); /* of each half */
    count += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
  }
#endif
  for (; n > 0; p++, n--) count += *p == c;
  return count;
}

/* Copies n <= 32 bytes in units of 8: rounds up to that what it reads and writes. */
static inline void bjvmi_short_copy(char *to, const char *from, size_t n) {
  for (size_t i = 0; i < n; i += 8) {
    uint64_t v;
    memcpy(&v, from + i, 8);
    memcpy(to + i, &v, 8);
  }
}

#if BJVMI_SHORT_STRINGS
/* Bit i: byte i of v must not be printed as it is. Signed: bytes from 0x80 on are below 0x20 too. */
static inline uint32_t bjvmi_short_odd(__m128i v) {
  __m128i odd = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
  odd = _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
  odd = _mm_or_si128(odd, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
  return (uint32_t)_mm_movemask_epi8(odd);
}
#endif

/* Copies the n <= BJVMI_SHORT_MAX bytes at p to `out` (32 bytes of room) and tells whether all of them are
 * ASCII that JSON prints as it is. Gives up near the end of a page.
 *
 * It loads 32 bytes whatever n is: choosing the loads by n costs a misprediction a string (25 to 29 % of
 * printing the benchmark's complex and repeated messages). The bytes behind the string are masked off and
 * never leave the same page, so no fault can come of it; but it is a read beyond the object, so checking
 * builds leave it out. */
static inline bool bjvmi_short_plain(char *out, const char *p, size_t n) {
#if BJVMI_SHORT_STRINGS && !BJVMI_CHECKED_READS
  if (__builtin_expect(!bjvmi_short_in_page(p, 32), 0)) return false;
  __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
  _mm_storeu_si128((__m128i *)(void *)out, low);
  _mm_storeu_si128((__m128i *)(void *)(out + 16), high);
  uint32_t odd = bjvmi_short_odd(low) | bjvmi_short_odd(high) << 16;
  return (odd & (((uint32_t)1 << n) - 1)) == 0;
#else
  (void)out;
  (void)p;
  (void)n;
  return false;
#endif
}

/* Up to 15 digits with a sign: the place behind them, or NULL where the slow twin must look (another
 * spelling, a longer or a bad number). Reads at most 20 bytes. */
static inline const char *bjvmi_short_int(const char *p, int64_t *v) {
  bool negative = *p == '-';
  p += negative;
  uint64_t n;
  size_t digits = bjvmi_short_digits(p, &n);
  if (digits == 8) {
    uint64_t low;
    size_t more = bjvmi_short_digits(p + 8, &low);
    if (more == 8) return NULL;
    n = n * bjvmi_powers_of_ten[more] + low;
    digits += more;
  }
  if (digits == 0 || (*p == '0' && digits > 1)) return NULL;
  p += digits;
  if (*p == '.' || (*p | 0x20) == 'e') return NULL;
  *v = negative ? -(int64_t)n : (int64_t)n;
  return p;
}

#endif /* BJVM_SHORT_STRING_H_ */
