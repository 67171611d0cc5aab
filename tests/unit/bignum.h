/* An exact oracle for reading and printing floating point, on big integers.
 *
 * Written for the tests and independent of vm/: it never computes a result, it only compares a decimal with
 * the ends of the rounding interval of the result it is given. Slow, and plain enough to be checked by eye.
 */
#ifndef BJVM_TESTS_BIGNUM_H_
#define BJVM_TESTS_BIGNUM_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BIGNUM_LIMBS = 192 }; /* 6144 bits: 800 digits, scaled by 2^1076 or against 10^1150 */

typedef struct bignum {
  int n;
  uint32_t limb[BIGNUM_LIMBS];
} bignum;

static inline void bignum_mul_add(bignum *b, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (int i = 0; i < b->n; i++) {
    carry += (uint64_t)b->limb[i] * factor;
    b->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) {
    if (b->n == BIGNUM_LIMBS) __builtin_trap();
    b->limb[b->n++] = (uint32_t)carry;
  }
}

static inline void bignum_set(bignum *b, uint64_t v) {
  b->n = 0;
  for (; v; v >>= 32) b->limb[b->n++] = (uint32_t)v;
}

static inline void bignum_set_digits(bignum *b, const char *digits, size_t count) {
  b->n = 0;
  for (size_t i = 0; i < count; i++) bignum_mul_add(b, 10, (uint32_t)(digits[i] - '0'));
}

static inline void bignum_mul_pow5(bignum *b, int e) {
  for (; e >= 12; e -= 12) bignum_mul_add(b, 244140625, 0);
  for (; e > 0; e--) bignum_mul_add(b, 5, 0);
}

static inline void bignum_mul_pow2(bignum *b, int e) {
  if (b->n == 0) return;
  int limbs = e / 32;
  if (b->n + limbs > BIGNUM_LIMBS) __builtin_trap();
  memmove(b->limb + limbs, b->limb, (size_t)b->n * sizeof b->limb[0]);
  memset(b->limb, 0, (size_t)limbs * sizeof b->limb[0]);
  b->n += limbs;
  bignum_mul_add(b, (uint32_t)1 << e % 32, 0);
}

static inline int bignum_cmp(const bignum *a, const bignum *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (int i = a->n - 1; i >= 0; i--) {
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  }
  return 0;
}

/* The sign of decimal * 10^e10 - binary * 2^e2. */
static inline int oracle_cmp(const bignum *decimal, int e10, uint64_t binary, int e2) {
  bignum a = *decimal, b;
  bignum_set(&b, binary);
  bignum_mul_pow5(e10 >= 0 ? &a : &b, e10 >= 0 ? e10 : -e10);
  int twos = e10 - e2; /* a * 2^e10 against b * 2^e2 */
  bignum_mul_pow2(twos >= 0 ? &a : &b, twos >= 0 ? twos : -twos);
  return bignum_cmp(&a, &b);
}

typedef struct oracle_format {
  int bits, lowest, highest; /* of the significand; exponents of its last bit */
} oracle_format;

static const oracle_format oracle_double = {53, -1074, 971};
static const oracle_format oracle_float = {24, -149, 104};

/* A number's bits without the sign as m * 2^e. */
static inline void oracle_split(const oracle_format *f, uint64_t bits, uint64_t *m, int *e) {
  int biased = (int)(bits >> (f->bits - 1));
  *m = bits & (((uint64_t)1 << (f->bits - 1)) - 1);
  if (biased) *m |= (uint64_t)1 << (f->bits - 1);
  *e = f->lowest + (biased ? biased - 1 : 0);
}

/* Does decimal * 10^e10 round to these bits (to nearest, ties to even)? The bits of infinity are a number
 * like others here. */
static inline bool oracle_reads_as(const oracle_format *f, const bignum *decimal, int e10, uint64_t bits) {
  uint64_t m;
  int e;
  oracle_split(f, bits, &m, &e);
  bool even = !(m & 1);
  if (m) {
    bool narrow = m == (uint64_t)1 << (f->bits - 1) && e > f->lowest;
    int below =
        narrow ? oracle_cmp(decimal, e10, 4 * m - 1, e - 2) : oracle_cmp(decimal, e10, 2 * m - 1, e - 1);
    if (below < 0 || (below == 0 && !even)) return false;
  }
  if (e > f->highest) return true; /* infinity */
  int above = oracle_cmp(decimal, e10, 2 * m + 1, e - 1);
  return above < 0 || (above == 0 && even);
}

static inline bool oracle_reads_u64_as(const oracle_format *f, uint64_t decimal, int e10, uint64_t bits) {
  bignum b;
  bignum_set(&b, decimal);
  return oracle_reads_as(f, &b, e10, bits);
}

/* ECMAScript Number::toString of digits * 10^e10, written down naively; no zeros trail the digits. */
static inline void oracle_lay_out(char *out, uint64_t digits, int e10) {
  char s[24];
  int k = snprintf(s, sizeof s, "%llu", (unsigned long long)digits), n = e10 + k;
  if (k <= n && n <= 21) {
    out += sprintf(out, "%s", s);
    for (int i = k; i < n; i++) *out++ = '0';
    *out = 0;
  } else if (0 < n && n <= 21) {
    sprintf(out, "%.*s.%s", n, s, s + n);
  } else if (-6 < n && n <= 0) {
    sprintf(out, "0.%.*s%s", -n, "000000", s);
  } else if (k == 1) {
    sprintf(out, "%se%+d", s, n - 1);
  } else {
    sprintf(out, "%.1s.%se%+d", s, s + 1, n - 1);
  }
}

/* The digits of a printed positive number, without zeros at either end, and their power of ten. */
static inline bool oracle_parse(const char *s, uint64_t *digits, int *e10) {
  int e = 0;
  bool point = false;
  *digits = 0;
  for (; *s && *s != 'e'; s++) {
    if (*s == '.') {
      point = true;
      continue;
    }
    if (*s < '0' || *s > '9') return false;
    if (*digits > (UINT64_MAX - 9) / 10) { /* zeros to the right of 17 digits */
      if (*s != '0') return false;
      e++;
      continue;
    }
    *digits = *digits * 10 + (uint64_t)(*s - '0');
    e -= point;
  }
  if (*s == 'e') {
    int written = 0, used = 0;
    if (sscanf(s + 1, "%d%n", &written, &used) != 1 || s[1 + used]) return false;
    e += written;
  }
  for (; *digits && *digits % 10 == 0; *digits /= 10) e++;
  *e10 = e;
  return true;
}

/* Is `text` the one right print of a positive number? NULL if so, else what is wrong. */
static inline const char *oracle_print_fault(const oracle_format *f, uint64_t bits, const char *text) {
  uint64_t d = 0, m;
  int k = 0, e;
  char expected[64];
  if (!oracle_parse(text, &d, &k) || d == 0) return "not a number";
  oracle_lay_out(expected, d, k);
  if (strcmp(expected, text) != 0) return "layout";
  if (!oracle_reads_u64_as(f, d, k, bits)) return "does not read back";
  oracle_split(f, bits, &m, &e);
  bignum between;
  bignum_set(&between, 2 * d - 1); /* of (d - 1/2) * 10^k and v, twice */
  int order = oracle_cmp(&between, k, m, e + 1);
  if ((order > 0 || (order == 0 && (d & 1))) && d > 1 && oracle_reads_u64_as(f, d - 1, k, bits))
    return "closer below";
  bignum_set(&between, 2 * d + 1);
  order = oracle_cmp(&between, k, m, e + 1);
  if ((order < 0 || (order == 0 && (d & 1))) && oracle_reads_u64_as(f, d + 1, k, bits)) return "closer above";
  if (d == 1) { /* the next below with one digit is 9 * 10^(k-1) */
    bignum_set(&between, 19);
    if (oracle_cmp(&between, k - 1, m, e + 1) >= 0 && oracle_reads_u64_as(f, 9, k - 1, bits))
      return "nine is closer";
  }
  if (d >= 10 &&
      (oracle_reads_u64_as(f, d / 10, k + 1, bits) || oracle_reads_u64_as(f, d / 10 + 1, k + 1, bits))) {
    return "not the shortest";
  }
  return NULL;
}

/* splitmix64: the tests' source of random bits. */
static inline uint64_t oracle_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif /* BJVM_TESTS_BIGNUM_H_ */
