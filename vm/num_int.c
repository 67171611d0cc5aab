/* Scanning of JSON numbers, integers in and out, and the tables of the number files.
 *
 * num_print.c prints floating point, num_parse.c reads it, num_wide.h holds what all three share. Digits are
 * handled eight at a time in a 64-bit word (SWAR), in either byte order. A scanned number stands for its
 * digits exactly: where 19 of them are not enough, the text is walked again, in time linear in its length.
 */
#define BJVMI_NUM_TABLES_DEFINE
#include "kernels.h"
#include "num_wide.h"

#ifdef BJVMI_HAVE_SSE2
#include <emmintrin.h>
#endif

/* An exponent stops growing here; no text can be long enough to bring it back into range. */
#define EXPONENT_STOP ((int64_t)100000000000000000)
#define EXPONENT_LIMIT ((int64_t)1 << 40)

#ifdef BJVM_SIZE_SMALL
uint64_t bjvmi_num_pow5(uint32_t e) {
  uint64_t v = 1;
  for (; e >= 13; e -= 13) v *= 1220703125; /* 5^13, the largest of 32 bits */
  for (; e > 0; e--) v *= 5;
  return v;
}

bjvmi_num_u128 bjvmi_num_pow10(int32_t e) {
  int32_t step = (e - BJVMI_POW10_STEP_MIN * BJVMI_POW10_STEP) / BJVMI_POW10_STEP;
  int32_t rest = e - (step + BJVMI_POW10_STEP_MIN) * BJVMI_POW10_STEP;
  const uint64_t *row = bjvmi_num_pow10_small[step];
  uint64_t factor = bjvmi_num_pow5((uint32_t)rest);
  bjvmi_num_u128 middle = bjvmi_num_mul(row[1], factor), low = bjvmi_num_mul(row[2], factor);
  bjvmi_num_u128 high = bjvmi_num_mul(row[0], factor);
  /* high:p1:p0 = the upper 192 of the 256 bits; below 2^255, so no carry leaves the top */
  uint64_t p0 = middle.lo + low.hi;
  uint64_t carry = p0 < low.hi;
  uint64_t p1 = high.lo + middle.hi;
  uint64_t top = high.hi + (p1 < middle.hi);
  p1 += carry;
  top += p1 < carry;
  if (top == 0) return (bjvmi_num_u128){p1, p0}; /* a factor of 1 */
  unsigned shift = bjvmi_num_clz(top);
  bjvmi_num_u128 r = {top << shift | p1 >> (64 - shift), p1 << shift | p0 >> (64 - shift)};
  return r;
}
#endif

/* ---- printing ---- */

/* v < 10^8 without leading zeros. */
static char *print_short(char *out, uint32_t v) {
  uint64_t digits = bjvmi_num_split8(v);
  unsigned skip = bjvmi_num_ctz(digits | (uint64_t)1 << 56) / 8;
  bjvmi_num_store8(out, (digits | BJVMI_NUM_ZEROS) >> (8 * skip));
  return out + 8 - skip;
}

static char *print_8(char *out, uint32_t v) {
  bjvmi_num_store8(out, bjvmi_num_split8(v) | BJVMI_NUM_ZEROS);
  return out + 8;
}

/* Two numbers below 10^8, one behind the other, all 16 digits. */
static char *print_16(char *out, uint32_t first, uint32_t second) {
#if defined(BJVMI_HAVE_SSE2) && !defined(BJVM_SIZE_SMALL)
  /* The steps of bjvmi_num_split8 for both at once, with the quotient and the rest of each in lanes half as wide. */
  __m128i v = _mm_unpacklo_epi64(_mm_cvtsi32_si128((int)first), _mm_cvtsi32_si128((int)second));
  __m128i q =
      _mm_srli_epi64(_mm_mul_epu32(v, _mm_set1_epi32((int)0xd1b71759)), 45); /* 2^45 / 10^4, rounded up */
  v = _mm_sub_epi64(v, _mm_mul_epu32(q, _mm_set1_epi32(10000)));
  v = _mm_or_si128(q, _mm_slli_epi64(v, 32));
  q = _mm_srli_epi16(_mm_mulhi_epu16(v, _mm_set1_epi16(5243)), 3); /* 2^19 / 10^2 */
  v = _mm_sub_epi16(v, _mm_mullo_epi16(q, _mm_set1_epi16(100)));
  v = _mm_or_si128(q, _mm_slli_epi32(v, 16));
  q = _mm_mulhi_epu16(v, _mm_set1_epi16(6554)); /* 2^16 / 10 */
  v = _mm_sub_epi16(v, _mm_mullo_epi16(q, _mm_set1_epi16(10)));
  v = _mm_or_si128(q, _mm_slli_epi16(v, 8));
  _mm_storeu_si128((__m128i *)(void *)out, _mm_or_si128(v, _mm_set1_epi8('0')));
  return out + 16;
#else
  return print_8(print_8(out, first), second);
#endif
}

char *bjvmi_num_print_u32(char *out, uint32_t v) {
  if (v < 100000000) return print_short(out, v);
  uint32_t upper = v / 100000000;
  return print_8(print_short(out, upper), v - upper * 100000000);
}

char *bjvmi_num_print_u64(char *out, uint64_t v) {
  if (v < 100000000) return print_short(out, (uint32_t)v);
  uint64_t upper = v / 100000000;
  uint32_t lower = (uint32_t)(v - upper * 100000000);
  if (upper < 100000000) return print_8(print_short(out, (uint32_t)upper), lower);
  uint32_t top = (uint32_t)(upper / 100000000);
  out = print_short(out, top);
  return print_16(out, (uint32_t)(upper - (uint64_t)top * 100000000), lower);
}

char *bjvmi_num_print_i32(char *out, int32_t v) {
  *out = '-';
  return bjvmi_num_print_u32(out + (v < 0), v < 0 ? 0 - (uint32_t)v : (uint32_t)v);
}

char *bjvmi_num_print_i64(char *out, int64_t v) {
  *out = '-';
  return bjvmi_num_print_u64(out + (v < 0), v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* ---- scanning ---- */

static bool is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

#ifdef BJVM_SIZE_SMALL

/* Appends the digits at the front of [p, limit) to *value (modulo 2^64); returns their end. */
static const char *read_digits(const char *p, const char *limit, uint64_t *value) {
  while (p < limit && is_digit(*p)) *value = *value * 10 + (unsigned char)(*p++ - '0');
  return p;
}

#else

/* Appends the digits at the front of [p, limit) to *value (modulo 2^64); returns their end. */
static const char *read_digits(const char *p, const char *limit, uint64_t *value) {
  uint64_t v = *value;
  while (limit - p >= 8) {
    uint64_t digits = bjvmi_num_load8(p) ^ BJVMI_NUM_ZEROS;
    /* marks bytes above 9; a carry can only reach bytes after the first marked one */
    uint64_t stop = (digits | (digits + 0x7676767676767676u)) & 0x8080808080808080u;
    if (stop != 0) {
      unsigned count = bjvmi_num_ctz(stop) / 8;
      if (count != 0) v = v * bjvmi_num_pow10_exact(count) + bjvmi_num_join8(digits << (64 - 8 * count));
      *value = v;
      return p + count;
    }
    v = v * 100000000 + bjvmi_num_join8(digits);
    p += 8;
  }
  while (p < limit && is_digit(*p)) v = v * 10 + (unsigned char)(*p++ - '0');
  *value = v;
  return p;
}

#endif

/* The digits of an exponent; saturates. */
static const char *read_exponent(const char *p, const char *limit, int64_t *value) {
  int64_t v = 0;
  for (; p < limit && is_digit(*p); p++) {
    if (v < EXPONENT_STOP) v = v * 10 + (*p - '0');
  }
  *value = v;
  return p;
}

static int64_t clamp_exponent(int64_t e) {
  return e > EXPONENT_LIMIT ? EXPONENT_LIMIT : e < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : e;
}

/* The value of a digit at p as a power of ten, given where the point is. */
static int64_t place(const char *p, const char *point) { return p < point ? point - p - 1 : point - p; }

bjvmi_num_parts bjvmi_num_split(const bjvmi_num *num) {
  const char *begin = num->start + num->negative, *end = begin, *point = NULL;
  for (; end < num->end && (is_digit(*end) || *end == '.'); end++) {
    if (*end == '.') point = end;
  }
  if (!point) point = end;
  int64_t exponent = 0;
  if (end < num->end) {
    const char *p = end + 1;
    bool minus = *p == '-';
    read_exponent(p + (minus || *p == '+'), num->end, &exponent);
    if (minus) exponent = -exponent;
  }
  while (begin < end && (*begin == '0' || *begin == '.')) begin++;
  while (begin < end && (end[-1] == '0' || end[-1] == '.')) end--;
  bjvmi_num_parts parts = {begin, end, 0, 0};
  if (begin < end) {
    parts.first = place(begin, point) + exponent;
    parts.last = place(end - 1, point) + exponent;
  }
  return parts;
}

/* More than 19 digits, leading zeros included: takes the first 19 that count. */
BJVMI_NUM_COLD static void scan_long(bjvmi_num *num) {
  bjvmi_num_parts parts = bjvmi_num_split(num);
  uint64_t mantissa = 0;
  int count = 0;
  for (const char *p = parts.digits; p < parts.end && count < 19; p++) {
    if (*p == '.') continue;
    mantissa = mantissa * 10 + (unsigned char)(*p - '0');
    count++;
  }
  int64_t exponent = count == 0 ? 0 : parts.first - (count - 1);
  num->mantissa = mantissa;
  num->exponent = clamp_exponent(exponent);
  num->more = parts.last < exponent;
}

static bjvm_status bad_number(bjvmi_num *num, const char *p, const char *limit) {
  num->end = p;
  return p < limit ? BJVM_BAD_NUMBER : BJVM_TRUNCATED;
}

bjvm_status bjvmi_num_scan(const char *p, const char *limit, bjvmi_num *num) {
  *num = (bjvmi_num){.start = p, .negative = p < limit && *p == '-'};
  p += num->negative;
  const char *begin = p;
  uint64_t mantissa = 0;
  int64_t exponent = 0;
  ptrdiff_t count = 0; /* digits that may matter */
  if (p < limit && *p == '0') {
    p++;
  } else {
    p = read_digits(p, limit, &mantissa);
    if (p == begin) return bad_number(num, p, limit);
    count = p - begin;
  }
  if (p < limit && *p == '.') {
    const char *fraction = ++p;
    p = read_digits(p, limit, &mantissa);
    if (p == fraction) return bad_number(num, p, limit);
    count += p - fraction;
    exponent = fraction - p;
  }
  if (p < limit && (*p == 'e' || *p == 'E')) {
    p++;
    bool minus = p < limit && *p == '-';
    if (p < limit && (*p == '-' || *p == '+')) p++;
    const char *digits = p;
    int64_t written;
    p = read_exponent(p, limit, &written);
    if (p == digits) return bad_number(num, p, limit);
    exponent = clamp_exponent(exponent + (minus ? -written : written));
  }
  num->mantissa = mantissa;
  num->exponent = exponent;
  num->end = p;
  if (count > 19) scan_long(num);
  return BJVM_OK;
}

/* ---- exact integers ---- */

/* value * 10 + digit, unless that is more than 64 bits hold. */
static bjvm_status append_digit(uint64_t value, unsigned digit, uint64_t *out) {
  if (value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit) return BJVM_OUT_OF_RANGE;
  *out = value * 10 + digit;
  return BJVM_OK;
}

/* At least 20 digits count: the 20th fits if it is the last, then every other number is too large. */
static bjvm_status long_magnitude(const bjvmi_num *num, uint64_t *v) {
  bjvmi_num_parts parts = bjvmi_num_split(num);
  if (parts.last < 0) return BJVM_NOT_INTEGER;
  if (num->exponent > 1) return BJVM_OUT_OF_RANGE;
  return append_digit(num->mantissa, (unsigned char)(parts.end[-1] - '0'), v);
}

/* The absolute value as an integer. */
static bjvm_status magnitude(const bjvmi_num *num, uint64_t *v) {
  uint64_t mantissa = num->mantissa;
  int64_t exponent = num->exponent;
  if (num->more) return long_magnitude(num, v);
  if (exponent == 0 || mantissa == 0) {
    *v = mantissa;
    return BJVM_OK;
  }
  if (exponent < 0) { /* mantissa < 10^19 */
    if (exponent < -19) return BJVM_NOT_INTEGER;
    uint64_t unit = bjvmi_num_pow10_exact((unsigned)-exponent);
    *v = mantissa / unit;
    return *v * unit == mantissa ? BJVM_OK : BJVM_NOT_INTEGER;
  }
  if (exponent > 19) return BJVM_OUT_OF_RANGE;
  uint64_t factor = bjvmi_num_pow10_exact((unsigned)exponent);
  if (mantissa > UINT64_MAX / factor) return BJVM_OUT_OF_RANGE;
  *v = mantissa * factor;
  return BJVM_OK;
}

bjvm_status bjvmi_num_to_u64(const bjvmi_num *num, uint64_t *v) {
  uint64_t m;
  bjvm_status status = magnitude(num, &m);
  if (status != BJVM_OK) return status;
  if (num->negative && m != 0) return BJVM_OUT_OF_RANGE;
  *v = m;
  return BJVM_OK;
}

bjvm_status bjvmi_num_to_i64(const bjvmi_num *num, int64_t *v) {
  uint64_t m;
  bjvm_status status = magnitude(num, &m);
  if (status != BJVM_OK) return status;
  if (m > (uint64_t)INT64_MAX + num->negative) return BJVM_OUT_OF_RANGE;
  *v = num->negative ? (m == 0 ? 0 : -(int64_t)(m - 1) - 1) : (int64_t)m;
  return BJVM_OK;
}

bjvm_status bjvmi_num_to_u32(const bjvmi_num *num, uint32_t *v) {
  uint64_t m;
  bjvm_status status = bjvmi_num_to_u64(num, &m);
  if (status != BJVM_OK) return status;
  if (m > UINT32_MAX) return BJVM_OUT_OF_RANGE;
  *v = (uint32_t)m;
  return BJVM_OK;
}

bjvm_status bjvmi_num_to_i32(const bjvmi_num *num, int32_t *v) {
  int64_t m;
  bjvm_status status = bjvmi_num_to_i64(num, &m);
  if (status != BJVM_OK) return status;
  if (m < INT32_MIN || m > INT32_MAX) return BJVM_OUT_OF_RANGE;
  *v = (int32_t)m;
  return BJVM_OK;
}
