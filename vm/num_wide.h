/* What the number files share: wide multiplication, byte order, digits in words, powers of ten.
 *
 * Private to num_int.c, num_print.c and num_parse.c (and their tests); time_text.c takes the digits in words. Everything here is integer
 * arithmetic, so no floating-point environment, x87 precision or locale can change a result.
 */
#ifndef BJVM_NUM_WIDE_H_
#define BJVM_NUM_WIDE_H_

#include <stdint.h>
#include <string.h>

#include "num.h"
#include "num_tables.h"

/* For what runs rarely: kept out of its caller, whose registers it would take. */
#ifdef __GNUC__
#define BJVMI_NUM_COLD __attribute__((cold, noinline))
#else
#define BJVMI_NUM_COLD
#endif

/* For what is to be made anew for the constants of each caller. */
#if defined(__GNUC__) && !defined(BJVM_SIZE_SMALL)
#define BJVMI_NUM_HOT static inline __attribute__((always_inline))
#else
#define BJVMI_NUM_HOT static
#endif

/* 64 x 64 -> 128 bits from 32-bit halves: for compilers without a 128-bit type. Always compiled; the unit
 * test compares it with the other form. */
static inline bjvmi_num_u128 bjvmi_num_mul_portable(uint64_t a, uint64_t b) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t low = a0 * b0;
  uint64_t mid = a1 * b0 + (low >> 32); /* at most 2^64 - 2^32: no carry is lost */
  uint64_t mid2 = a0 * b1 + (uint32_t)mid;
  bjvmi_num_u128 r = {a1 * b1 + (mid >> 32) + (mid2 >> 32), (mid2 << 32) | (uint32_t)low};
  return r;
}

static inline bjvmi_num_u128 bjvmi_num_mul(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(BJVM_NO_INT128)
  __extension__ typedef unsigned __int128 wide;
  wide product = (wide)a * b;
  bjvmi_num_u128 r = {(uint64_t)(product >> 64), (uint64_t)product};
  return r;
#else
  return bjvmi_num_mul_portable(a, b);
#endif
}

/* A 64-bit integer with 128 bits behind the binary point. */
typedef struct bjvmi_num_fixed {
  uint64_t whole;
  bjvmi_num_u128 fraction;
} bjvmi_num_fixed;

/* a * b / 2^128, exactly. */
static inline bjvmi_num_fixed bjvmi_num_mul_fixed(uint64_t a, bjvmi_num_u128 b) {
  bjvmi_num_u128 high = bjvmi_num_mul(a, b.hi), low = bjvmi_num_mul(a, b.lo);
  uint64_t middle = high.lo + low.hi;
  bjvmi_num_fixed r = {high.hi + (middle < low.hi), {middle, low.lo}};
  return r;
}

/* Zero bits above the highest, below the lowest set bit. v must not be 0. */
static inline unsigned bjvmi_num_clz(uint64_t v) {
#ifdef __GNUC__
  return (unsigned)__builtin_clzll(v);
#else
  unsigned n = 0;
  for (; !(v >> 63); v <<= 1) n++;
  return n;
#endif
}

static inline unsigned bjvmi_num_ctz(uint64_t v) {
#ifdef __GNUC__
  return (unsigned)__builtin_ctzll(v);
#else
  unsigned n = 0;
  for (; !(v & 1); v >>= 1) n++;
  return n;
#endif
}

/* Little-endian words on every machine: the first byte of the text is the lowest of the word. */
static inline uint64_t bjvmi_num_load8(const char *p) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
#else
  uint64_t v = 0;
  for (int i = 7; i >= 0; i--) v = (v << 8) | (unsigned char)p[i];
  return v;
#endif
}

static inline void bjvmi_num_store8(char *p, uint64_t v) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(p, &v, 8);
#else
  for (int i = 0; i < 8; i++) p[i] = (char)(v >> (8 * i));
#endif
}

#define BJVMI_NUM_ZEROS 0x3030303030303030u /* "00000000" */

/* The 8 decimal digits of v < 10^8, one a byte, the first digit lowest. Lanes are halved by multiplying with
 * rounded-up reciprocals, exact for what a lane can hold: 10486 / 2^20 below 10^4, 103 / 2^10 below 100. The quotient q of
 * x stays in its lane and the rest, x - d * q, goes to the one above: (x << n) - q * ((d << n) - 1) in one step. */
static inline uint64_t bjvmi_num_split8(uint32_t v) {
  uint64_t upper = v / 10000;
  uint64_t fours = ((uint64_t)v << 32) - upper * (((uint64_t)10000 << 32) - 1);
  uint64_t hundreds = ((fours * 10486) >> 20) & 0x0000007f0000007fu;
  uint64_t twos = (fours << 16) - hundreds * ((100 << 16) - 1);
  uint64_t tens = ((twos * 103) >> 10) & 0x000f000f000f000fu;
  return (twos << 8) - tens * ((10 << 8) - 1);
}

/* The number in 8 digit values, first lowest: pairs, fours, all, each step one multiplication. */
static inline uint64_t bjvmi_num_join8(uint64_t digits) {
  digits = ((digits * (1 + (10 << 8))) >> 8) & 0x00ff00ff00ff00ffu;
  digits = ((digits * (1 + (100 << 16))) >> 16) & 0x0000ffff0000ffffu;
  return (digits * (1 + ((uint64_t)10000 << 32))) >> 32;
}

/* floor(log2(10^e)) for |e| < 400, floor(log10(2^e)) and floor(log10(3/4 * 2^e)) for -1100 <= e < 1000:
 * checked by gen_num_tables.py --prove. Right shifts of negative numbers are arithmetic wherever upb
 * compiles. */
static inline int32_t bjvmi_num_log2_pow10(int32_t e) { return (e * 217706) >> 16; }
static inline int32_t bjvmi_num_log10_pow2(int32_t e) { return (e * 1262611) >> 22; }
static inline int32_t bjvmi_num_log10_pow2_narrow(int32_t e) { return (e * 1262611 - 524031) >> 22; }

#ifdef BJVM_SIZE_SMALL
uint64_t bjvmi_num_pow5(uint32_t e); /* 5^e for 0 <= e <= 27 */
#endif

/* 10^e for 0 <= e <= 19. */
static inline uint64_t bjvmi_num_pow10_exact(unsigned e) {
#ifdef BJVM_SIZE_SMALL
  return bjvmi_num_pow5(e) << e;
#else
  return bjvmi_num_pow10_words[e];
#endif
}

#ifdef BJVM_SIZE_SMALL
bjvmi_num_u128 bjvmi_num_pow10(int32_t e);
#else
/* floor(10^e / 2^(floor(log2(10^e)) - 127)): the leading 128 bits, the highest set.
 * BJVMI_POW10_MIN <= e <= BJVMI_POW10_MAX. Exact for 0 <= e <= BJVMI_POW10_EXACT, else a little less. */
static inline bjvmi_num_u128 bjvmi_num_pow10(int32_t e) { return bjvmi_num_pow10_table[e - BJVMI_POW10_MIN]; }
#endif

/* The significand of a scanned number, found again in its text: for numbers of many digits. */
typedef struct bjvmi_num_parts {
  const char
      *digits; /* [digits, end): first to last digit that is not 0; a point may lie between; empty for 0 */
  const char *end;
  int64_t first; /* value of the first digit is digit * 10^first */
  int64_t last;  /* the same of the last one */
} bjvmi_num_parts;

bjvmi_num_parts bjvmi_num_split(const bjvmi_num *num);

#endif /* BJVM_NUM_WIDE_H_ */
