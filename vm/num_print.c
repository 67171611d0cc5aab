/* Shortest printing of double and float.
 *
 * After Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020; the interval and its bounds
 * as in U. Adams, "Ryu: fast float-to-string conversion", PLDI 2018). v = c * 2^q. With k =
 * floor(log10(width of the rounding interval)), the interval holds at most one multiple of 10^(k+1), which
 * is then the shortest decimal but for trailing zeros, and at least one multiple of 10^k, of which the
 * closest to v is taken otherwise. One product gives x = v / 10^k; the half width is the same power of ten
 * shifted, so both decisions are comparisons of fixed-point numbers. Where 60 bits cannot decide them, 124
 * do: see `careful`.
 */
#include "num_wide.h"

/* digits * 10^exponent */
typedef struct decimal {
  uint64_t digits;
  int32_t exponent;
} decimal;

/* x = v / 10^k, and the half width of the interval in 4.124 fixed point */
typedef struct scaled {
  bjvmi_num_fixed x;
  uint64_t tens; /* floor(x / 10) */
  bjvmi_num_u128 half_width;
  bool narrow; /* v is a power of two: the half of the interval below it has half the width */
  bool even;   /* the ends of the interval belong to it */
} scaled;

static bjvmi_num_u128 shift_right(bjvmi_num_u128 v, unsigned shift) { /* 1 <= shift <= 63 */
  return (bjvmi_num_u128){v.hi >> shift, v.hi << (64 - shift) | v.lo >> shift};
}

static bjvmi_num_u128 subtract(bjvmi_num_u128 a, bjvmi_num_u128 b) {
  return (bjvmi_num_u128){a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo};
}

/* The sign of a - b in 4.124 fixed point. All that is compared is computed with an error below 2^-70 and
 * is, if not equal, at least 2^-66 apart for every double and float (`gen_num_tables.py --prove`), so what
 * is nearer than 2^-68 is equal. */
static int compare(bjvmi_num_u128 a, bjvmi_num_u128 b) {
  bool less = a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
  bjvmi_num_u128 distance = less ? subtract(b, a) : subtract(a, b);
  if (distance.hi == 0 && distance.lo < (uint64_t)1 << 56) return 0;
  return less ? -1 : 1;
}

static bool inside(const scaled *s, bjvmi_num_u128 distance, bjvmi_num_u128 half_width) {
  int order = compare(distance, half_width);
  return order < 0 || (order == 0 && s->even);
}

/* Decides with all bits. Needed for ties and interval ends that are decimals, and for powers of two. */
BJVMI_NUM_COLD static uint64_t careful(const scaled *s) {
  const bjvmi_num_u128 ten = {(uint64_t)10 << 60, 0}, half = {(uint64_t)1 << 59, 0};
  bjvmi_num_u128 fraction = shift_right(s->x.fraction, 4);
  bjvmi_num_u128 above = {(s->x.whole - 10 * s->tens) << 60 | fraction.hi, fraction.lo};
  bjvmi_num_u128 lower_half = s->narrow ? shift_right(s->half_width, 1) : s->half_width;
  if (inside(s, above, lower_half)) return s->tens * 10;
  if (inside(s, subtract(ten, above), s->half_width)) return s->tens * 10 + 10;
  int order = compare(fraction, half);
  bool up = order > 0 || (order == 0 && (s->x.whole & 1)) || !inside(s, fraction, lower_half);
  return s->x.whole + up;
}

static bool near(uint64_t a, uint64_t b) { return a - b + 2 <= 4; }

/* The digits to print of v = c * 2^q; some zeros may trail. */
BJVMI_NUM_HOT decimal shortest(uint64_t c, int32_t q, bool narrow) {
  int32_t k = narrow ? bjvmi_num_log10_pow2_narrow(q) : bjvmi_num_log10_pow2(q);
  bjvmi_num_u128 power = bjvmi_num_pow10(-k);
  unsigned shift = (unsigned)(q + bjvmi_num_log2_pow10(-k) + 1); /* 1 to 4, as 1 <= 2^q / 10^k < 40/3 */
  bjvmi_num_fixed x = bjvmi_num_mul_fixed(c << shift, power);
  uint64_t tens = x.whole / 10;
  /* 4.60 fixed point, rounded down: from the tens below up to x, from there up to the next tens */
  uint64_t above = (x.whole - 10 * tens) << 60 | x.fraction.hi >> 4;
  uint64_t below = ((uint64_t)10 << 60) - above;
  uint64_t half_width = power.hi >> (5 - shift);
  uint64_t half = (uint64_t)1 << 63;
  if (narrow || near(above, half_width) || near(below, half_width) || near(x.fraction.hi, half)) {
    scaled s = {x, tens, shift_right(power, 5 - shift), narrow, !(c & 1)};
    return (decimal){careful(&s), k};
  }
  /* which one it is depends on the data: masks, as a branch would be mispredicted */
  unsigned down = above < half_width, up = below < half_width;
  uint64_t fine = x.whole + (x.fraction.hi >> 63), coarse = (tens + up) * 10;
  return (decimal){fine ^ ((fine ^ coarse) & (0 - (uint64_t)(down | up))), k};
}

#ifdef BJVM_SIZE_SMALL

/* ECMAScript Number::toString: the digits, with a point or zeros where they belong. */
static __attribute__((noinline)) char *lay_out(char *out, decimal d) {
  char digits[20];
  int32_t count = (int32_t)(bjvmi_num_print_u64(digits, d.digits) - digits);
  int32_t whole = d.exponent + count; /* digits in front of the point */
  while (count > 1 && digits[count - 1] == '0') count--;
  int32_t places = whole > 21 || whole <= -6 ? 1 : whole; /* the same as printed */
  if (places <= 0) {
    *out++ = '0';
    *out++ = '.';
    for (int32_t i = places; i < 0; i++) *out++ = '0';
  }
  for (int32_t i = 0; i < count || i < places; i++) {
    if (i == places && places > 0) *out++ = '.';
    *out++ = i < count ? digits[i] : '0';
  }
  if (places == whole) return out;
  *out++ = 'e';
  *out++ = whole < 1 ? '-' : '+';
  return bjvmi_num_print_u32(out, (uint32_t)(whole < 1 ? 1 - whole : whole - 1));
}

#else

/* Sixteen or seventeen digits and more than one way to lay them out. `words` are the first 16 as text, first
 * lowest, `last` is the 17th; `count` of them matter; the first is worth 10^point. */
typedef struct text {
  uint64_t words[2];
  uint64_t last;
  int32_t count;
  int32_t point;
} text;

BJVMI_NUM_HOT text to_text(decimal d) {
  int32_t point = d.exponent + 16;
  if (d.digits < 1000000000) { /* a float */
    d.digits *= 100000000;
    point -= 8;
  }
  while (d.digits < 1000000000000000) { /* subnormal */
    d.digits *= 10;
    point--;
  }
  uint64_t shorter = d.digits < 10000000000000000; /* times 10 if so, without a branch */
  d.digits += (d.digits * 9) & (0 - shorter);
  point -= (int32_t)shorter;
  uint32_t first = (uint32_t)(d.digits / 1000000000);
  uint32_t rest = (uint32_t)(d.digits - (uint64_t)first * 1000000000);
  uint32_t second = rest / 10;
  uint64_t last = rest - second * 10;
  uint64_t w0 = bjvmi_num_split8(first), w1 = bjvmi_num_split8(second);
  uint64_t w = w1 ? w1 : w0;
  int32_t count = (w1 ? 16 : 8) - (int32_t)(bjvmi_num_clz(w) / 8);
  count += (17 - count) & -(int32_t)(last != 0); /* no branch here either */
  return (text){{w0 | BJVMI_NUM_ZEROS, w1 | BJVMI_NUM_ZEROS}, last | '0', count, point};
}

/* All 17 digits, then zeros, 24 bytes in all. */
static void write_plain(char *out, const text *t) {
  bjvmi_num_store8(out, t->words[0]);
  bjvmi_num_store8(out + 8, t->words[1]);
  bjvmi_num_store8(out + 16, (BJVMI_NUM_ZEROS & ~(uint64_t)0xff) | t->last);
}

/* The digits with a point after the first `whole` of them, 1 <= whole <= 7. */
static void write_pointed(char *out, const text *t, int32_t whole) {
  unsigned shift = 8 * (unsigned)whole;
  uint64_t before = ((uint64_t)1 << shift) - 1, after = ~before << 8;
  bjvmi_num_store8(out, (t->words[0] & before) | (uint64_t)'.' << shift | (t->words[0] << 8 & after));
  bjvmi_num_store8(out + 8, t->words[0] >> 56 | t->words[1] << 8);
  bjvmi_num_store8(out + 16, t->words[1] >> 56 | t->last << 8);
}

/* The same for 8 <= whole <= 16: what follows moves by one, 8 bytes and the 17th digit. */
static void write_pointed_late(char *out, const text *t, int32_t whole) {
  write_plain(out, t);
  uint64_t moved = bjvmi_num_load8(out + whole);
  out[17] = out[16];
  out[whole] = '.';
  bjvmi_num_store8(out + whole + 1, moved);
}

static char *write_scientific(char *out, const text *t) {
  write_pointed(out, t, 1);
  out += t->count == 1 ? 1 : t->count + 1;
  *out++ = 'e';
  *out++ = t->point < 0 ? '-' : '+';
  return bjvmi_num_print_u32(out, (uint32_t)(t->point < 0 ? -t->point : t->point));
}

/* ECMAScript Number::toString. */
static __attribute__((noinline)) char *lay_out(char *out, decimal d) {
  text t = to_text(d);
  int32_t whole = t.point + 1;
  if (whole > 0 && whole < t.count) {
    if (whole < 8) {
      write_pointed(out, &t, whole);
    } else {
      write_pointed_late(out, &t, whole);
    }
    return out + t.count + 1;
  }
  if (whole > 0 && whole <= 21) {
    write_plain(out, &t);
    return out + whole;
  }
  if (whole <= 0 && whole > -6) {
    bjvmi_num_store8(out, BJVMI_NUM_ZEROS - ((uint64_t)('0' - '.') << 8)); /* "0.000000" */
    out += 2 - whole;
    write_plain(out, &t);
    return out + t.count;
  }
  return write_scientific(out, &t);
}

#endif

/* v = c * 2^q, c not 0. */
BJVMI_NUM_HOT char *print_finite(char *out, uint64_t c, int32_t q, bool narrow) {
  if (q <= 0 && q > -53) {
    uint64_t whole = c >> -q;
    if (whole << -q == c) return bjvmi_num_print_u64(out, whole); /* below 2^53: every digit is needed */
  }
  return lay_out(out, shortest(c, q, narrow));
}

/* The same for c below that of normal numbers, 0 too. */
BJVMI_NUM_COLD static char *print_subnormal(char *out, uint64_t c, int32_t q) {
  if (c != 0) return print_finite(out, c, q, false);
  *out = '0';
  return out + 1;
}

char *bjvmi_num_print_double(char *out, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  *out = '-';
  out += bits >> 63;
  uint64_t c = bits & (((uint64_t)1 << 52) - 1);
  int32_t biased = (int32_t)(bits >> 52 & 0x7ff);
  if (biased != 0) return print_finite(out, c | (uint64_t)1 << 52, biased - 1075, c == 0 && biased > 1);
  return print_subnormal(out, c, -1074);
}

char *bjvmi_num_print_float(char *out, float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  *out = '-';
  out += bits >> 31;
  uint32_t c = bits & (((uint32_t)1 << 23) - 1);
  int32_t biased = (int32_t)(bits >> 23 & 0xff);
  if (biased != 0) return print_finite(out, c | (uint32_t)1 << 23, biased - 150, c == 0 && biased > 1);
  return print_subnormal(out, c, -149);
}
