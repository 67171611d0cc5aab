/* Reading of double and float, correctly rounded.
 *
 * After Eisel-Lemire (D. Lemire, "Number parsing at a gigabyte per second", 2021; N. Mushtak and D. Lemire,
 * "Fast number parsing without fallback", 2023): the mantissa times 128 bits of the power of ten gives 192
 * bits, and an error bound tells whether they decide the rounding. Where they do not, a long division of
 * big integers does, on the digits of the text (W. Clinger, "How to read floating point numbers
 * accurately", 1990, calls for no less). Clinger's own short cut, a division of doubles, is left out: it
 * depends on the rounding mode and on x87 precision.
 */
#include "num_wide.h"

typedef struct format {
  int32_t bits;      /* of the significand, the highest included */
  int32_t lowest;    /* the smallest subnormal is 2^lowest */
  int32_t zero;      /* 2^64 * 10^e for e below this is less than half of it */
  int32_t huge;      /* 10^e for e above this is out of range */
  uint64_t infinity; /* as bits */
} format;

static const format double_format = {53, -1074, -342, 308, (uint64_t)0x7ff << 52};
static const format float_format = {24, -149, -64, 38, (uint64_t)0xff << 23};

/* How sure we are of what follows the 64 bits we have. */
typedef enum tail {
  TAIL_ZERO,   /* nothing follows */
  TAIL_SOME,   /* more than 0, less than 1 unit */
  TAIL_UNSURE, /* about 1 unit, a little less, the same or more */
} tail;

/* Rounds (top + tail) * 2^e, top >= 2^62, to the bits of a number without sign; infinity if too large.
 * False if an unsure tail matters. */
BJVMI_NUM_HOT bool round_to(const format *f, uint64_t top, tail rest_is, int32_t e, uint64_t *bits) {
  int32_t shift = 64 - f->bits - (top >> 63 ? 0 : 1);
  if (e + shift < f->lowest) shift = f->lowest - e;
  *bits = 0;
  if (shift > 64) return rest_is != TAIL_UNSURE; /* below half of the smallest */
  uint64_t m = shift == 64 ? 0 : top >> shift;
  uint64_t rest = top << (64 - shift), unit = (uint64_t)1 << (64 - shift), half = (uint64_t)1 << 63;
  if (rest_is == TAIL_UNSURE && rest + unit == half) return false;
  m += (rest > half) |
       ((rest == half) & ((rest_is != TAIL_ZERO) | (unsigned)(m & 1))); /* no branch: it is a coin toss */
  /* the highest bit of a normal m adds one to the exponent, as does a carry into the next power of two */
  *bits = ((uint64_t)(e + shift - f->lowest) << (f->bits - 1)) + m;
  if (*bits > f->infinity) *bits = f->infinity;
  return true;
}

/* mantissa * 10^exponent, mantissa not 0. False if 192 bits do not decide. */
BJVMI_NUM_HOT bool read_fast(const format *f, uint64_t mantissa, int64_t exponent, uint64_t *bits) {
  *bits = exponent < f->zero ? 0 : f->infinity;
  if (exponent < f->zero || exponent > f->huge) return true;
  int32_t q = (int32_t)exponent;
  unsigned zeros = bjvmi_num_clz(mantissa);
  uint64_t w = mantissa << zeros;
  bjvmi_num_fixed x = bjvmi_num_mul_fixed(w, bjvmi_num_pow10(q));
  tail rest = x.fraction.hi | x.fraction.lo ? TAIL_SOME : TAIL_ZERO;
  if (q < 0 || q > BJVMI_POW10_EXACT) {
    /* the power was rounded down by less than 1: the product is too small by more than 0, less than w */
    rest = x.fraction.hi == UINT64_MAX && x.fraction.lo > ~w ? TAIL_UNSURE : TAIL_SOME;
  }
  return round_to(f, x.whole, rest, bjvmi_num_log2_pow10(q) - (int32_t)zeros + 1, bits);
}

/* ---- big integers, just large enough ---- */

enum {
  /* A number half way between two doubles has at most 768 significant digits; what follows the first 770
   * matters only by being there, and a digit 1 stands for it. */
  MAX_DIGITS = 770,
  /* 771 digits are below 2^2562. Their last one is worth at least 10^(-326 - 771), so the divisor is at
   * most 5^1097, below 2^2548. Both are aligned to the longer one, and the dividend doubles once more: 81
   * limbs. */
  BIG_LIMBS = 84,
  SMALLEST = -326, /* a first digit worth 10^e, e below this: less than half of any number */
  LARGEST = 310,   /* e above this: out of range */
};

typedef struct big {
  uint32_t count; /* the highest limb is not 0 */
  uint32_t limb[BIG_LIMBS];
} big;

static void multiply_add(big *b, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t i = 0; i < b->count; i++) {
    carry += (uint64_t)b->limb[i] * factor;
    b->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0) b->limb[b->count++] = (uint32_t)carry;
}

static void multiply_pow5(big *b, int64_t e) {
  for (; e >= 13; e -= 13) multiply_add(b, 1220703125, 0);
  for (; e > 0; e--) multiply_add(b, 5, 0);
}

static void shift_left(big *b, uint32_t bits) {
  uint32_t limbs = bits / 32;
  if (limbs != 0) {
    for (uint32_t i = b->count; i-- > 0;) b->limb[i + limbs] = b->limb[i];
    for (uint32_t i = 0; i < limbs; i++) b->limb[i] = 0;
    b->count += limbs;
  }
  if (bits % 32 != 0) multiply_add(b, (uint32_t)1 << bits % 32, 0);
}

static int32_t bit_length(const big *b) {
  return (int32_t)(b->count * 32 + 32 - bjvmi_num_clz(b->limb[b->count - 1]));
}

static bool at_least(const big *a, const big *b) {
  if (a->count != b->count) return a->count > b->count;
  uint32_t i = a->count;
  while (i-- > 0) {
    if (a->limb[i] != b->limb[i]) return a->limb[i] > b->limb[i];
  }
  return true;
}

static void subtract_from(big *a, const big *b) { /* a >= b */
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    uint64_t v = (uint64_t)a->limb[i] - (i < b->count ? b->limb[i] : 0) - borrow;
    a->limb[i] = (uint32_t)v;
    borrow = v >> 63;
  }
  while (a->count > 0 && a->limb[a->count - 1] == 0) a->count--;
}

/* The significant digits as an integer, nine at a time; returns the power of ten it is multiplied with. */
static int64_t read_big(const bjvmi_num_parts *parts, big *b) {
  int64_t count = 0;
  uint32_t group = 0, scale = 1;
  const char *p = parts->digits;
  b->count = 0;
  for (; p < parts->end && count < MAX_DIGITS; p++) {
    if (*p == '.') continue;
    group = group * 10 + (uint32_t)(*p - '0');
    scale *= 10;
    count++;
    if (scale == 1000000000) {
      multiply_add(b, scale, group);
      group = 0;
      scale = 1;
    }
  }
  multiply_add(b, scale, group);
  if (p < parts->end) { /* the last digit is not 0 */
    multiply_add(b, 10, 1);
    count++;
  }
  return parts->first - (count - 1);
}

/* Divides a by b into 64 bits of quotient (the highest set), a tail and a power of two. */
static uint64_t divide(big *a, big *b, tail *rest, int32_t *e) {
  int32_t longer = bit_length(a) - bit_length(b);
  shift_left(longer > 0 ? b : a, (uint32_t)(longer > 0 ? longer : -longer));
  *e += longer;
  if (!at_least(a, b)) {
    shift_left(a, 1);
    *e -= 1;
  }
  uint64_t quotient = 0;
  for (int i = 0; i < 64; i++) {
    bool one = at_least(a, b);
    if (one) subtract_from(a, b);
    quotient = quotient << 1 | one;
    shift_left(a, 1);
  }
  *e -= 63;
  *rest = a->count != 0 ? TAIL_SOME : TAIL_ZERO;
  return quotient;
}

BJVMI_NUM_COLD static uint64_t read_slow(const format *f, const bjvmi_num *num) {
  bjvmi_num_parts parts = bjvmi_num_split(num);
  if (parts.digits == parts.end || parts.first < SMALLEST) return 0;
  if (parts.first > LARGEST) return f->infinity;
  big dividend, divisor = {.count = 1, .limb = {1}};
  int64_t e = read_big(&parts, &dividend);
  if (e >= 0) {
    multiply_pow5(&dividend, e);
  } else {
    multiply_pow5(&divisor, -e);
  }
  tail rest;
  int32_t e2 = (int32_t)e;
  uint64_t quotient = divide(&dividend, &divisor, &rest, &e2), bits;
  round_to(f, quotient, rest, e2, &bits);
  return bits;
}

/* ---- both ---- */

static uint64_t read_bits(const format *f, const bjvmi_num *num) {
  uint64_t bits, next;
  if (num->mantissa == 0) return 0;
  if (!read_fast(f, num->mantissa, num->exponent, &bits)) return read_slow(f, num);
  if (!num->more) return bits;
  /* the value lies between these two */
  if (read_fast(f, num->mantissa + 1, num->exponent, &next) && next == bits) return bits;
  return read_slow(f, num);
}

static bjvm_status give_double(uint64_t bits, bool negative, double *v) {
  if (bits == double_format.infinity) return BJVM_OUT_OF_RANGE;
  bits |= (uint64_t)negative << 63;
  memcpy(v, &bits, sizeof bits);
  return BJVM_OK;
}

static bjvm_status give_float(uint64_t bits, bool negative, float *v) {
  if (bits == float_format.infinity) return BJVM_OUT_OF_RANGE;
  uint32_t word = (uint32_t)bits | (uint32_t)negative << 31;
  memcpy(v, &word, sizeof word);
  return BJVM_OK;
}

/* ---- plain spellings, in one go ---- */

#ifndef BJVM_SIZE_SMALL
/* Appends the digits at the front of the 8 bytes at *p; returns how many. */
static inline unsigned append_digits(const char **p, uint64_t *value) {
  uint64_t digits = bjvmi_num_load8(*p) ^ BJVMI_NUM_ZEROS;
  uint64_t stop = (digits | (digits + 0x7676767676767676u)) & 0x8080808080808080u;
  unsigned count = stop ? bjvmi_num_ctz(stop) / 8 : 8;
  digits = count ? digits << (64 - 8 * count) : 0;
  *value = *value * bjvmi_num_pow10_exact(count) + bjvmi_num_join8(digits);
  *p += count;
  return count;
}

/* A number of at most 19 digits, zeros of a small one not counted, without an exponent: its digits, how many follow the
 * point, and its end. NULL: something else. Reads at most 40 bytes. */
BJVMI_NUM_HOT const char *scan_plain(const char *p, uint64_t *mantissa, unsigned *fraction) {
  const char *first = p;
  uint64_t m = 0;
  unsigned count = append_digits(&p, &m);
  if (count == 8) count += append_digits(&p, &m);
  if (__builtin_expect(count - 1 > 14 || (count > 1 && *first == '0'), 0)) return NULL;
  *fraction = 0;
  if (*p == '.') {
    p++;
    unsigned more = append_digits(&p, &m);
    uint64_t front = m; /* and 0 to 16 more follow */
    if (more == 8) more += append_digits(&p, &m);
    if (more == 16) more += append_digits(&p, &m);
    if (__builtin_expect(more == 0, 0)) return NULL;
    if (count + more > 19 && (count > 1 || more == 24 || front >= bjvmi_num_pow10_exact(27 - more)))
      return NULL;
    *fraction = more;
  }
  *mantissa = m;
  return (*p | 0x20) == 'e' ? NULL : p;
}

/* The bits of the plain number at p, its sign apart; returns its end or NULL. */
BJVMI_NUM_HOT const char *read_plain(const format *f, const char *p, uint64_t *bits, bool *negative) {
  uint64_t mantissa;
  unsigned fraction;
  *negative = *p == '-';
  *bits = 0;
  p = scan_plain(p + *negative, &mantissa, &fraction);
  if (__builtin_expect(!p, 0)) return NULL;
  return mantissa == 0 || read_fast(f, mantissa, -(int64_t)fraction, bits) ? p : NULL;
}

const char *bjvmi_num_plain_double(const char *p, double *v) {
  uint64_t bits;
  bool negative;
  p = read_plain(&double_format, p, &bits, &negative);
  return p && give_double(bits, negative, v) == BJVM_OK ? p : NULL;
}

const char *bjvmi_num_plain_float(const char *p, float *v) {
  uint64_t bits;
  bool negative;
  p = read_plain(&float_format, p, &bits, &negative);
  return p && give_float(bits, negative, v) == BJVM_OK ? p : NULL;
}
#endif

bjvm_status bjvmi_num_to_double(const bjvmi_num *num, double *v) {
  return give_double(read_bits(&double_format, num), num->negative, v);
}

bjvm_status bjvmi_num_to_float(const bjvmi_num *num, float *v) {
  return give_float(read_bits(&float_format, num), num->negative, v);
}

bjvm_status bjvmi_num_to_double_slow(const bjvmi_num *num, double *v) {
  return give_double(read_slow(&double_format, num), num->negative, v);
}

bjvm_status bjvmi_num_to_float_slow(const bjvmi_num *num, float *v) {
  return give_float(read_slow(&float_format, num), num->negative, v);
}
