/* Reading of double and float: known cases, borders, and comparison with an exact oracle (bignum.h). */
#define _DEFAULT_SOURCE /* for guard.h */

#include "guard.h"
#include "num_fixture.h"

#ifndef BJVM_SIZE_SMALL
/* The text where the plain readers want it: 64 bytes can be read, `behind` follows it. NULL: too long for them. */
static const char *padded(const bjvmi_num *num, char behind, char room[128]) {
  size_t size = (size_t)(num->end - num->start);
  if (size > 60) return NULL;
  memset(room, behind, 128);
  memcpy(room, num->start, size);
  return room;
}

/* What the plain readers take must be what the others make of it. */
static void check_plain(const bjvmi_num *num, bjvm_status status, const double *d, const float *f) {
  static const char behind[] = {0, ',', '}', ']', ' '};
  char room[128];
  for (size_t i = 0; i < sizeof behind; i++) {
    const char *text = padded(num, behind[i], room);
    if (!text) return;
    double got_d = 0;
    float got_f = 0;
    const char *end = d ? bjvmi_num_plain_double(text, &got_d) : bjvmi_num_plain_float(text, &got_f);
    if (!end) continue;
    cr_assert(status == BJVM_OK && end - text == num->end - num->start, "%.60s: took %td bytes", text,
              end - text);
    if (d) cr_assert(double_bits(got_d) == double_bits(*d), "%.60s: %a, should be %a", text, got_d, *d);
    else
      cr_assert(float_bits(got_f) == float_bits(*f), "%.60s: %a, should be %a", text, (double)got_f,
                (double)*f);
  }
}

/* No more than BJVMI_NUM_PLAIN bytes are read, whatever they are: behind them is a page without access. */
Test(num_parse, plain_readers_stay_inside) {
  char *p = guard_end(4096) - BJVMI_NUM_PLAIN;
  uint64_t state = 42;
  size_t taken = 0;
  for (int i = 0; i < 200000; i++) {
    double d;
    float f;
    for (size_t k = 0; k < BJVMI_NUM_PLAIN; k++) p[k] = "0123456789000000"[oracle_random(&state) % 16];
    size_t digits = oracle_random(&state) % 18, places = oracle_random(&state) % 30;
    if (oracle_random(&state) % 2) p[0] = '-';
    p[digits + 1] = "..,e"[oracle_random(&state) % 4];
    if (digits + 2 + places < BJVMI_NUM_PLAIN) p[digits + 2 + places] = ".,}e"[oracle_random(&state) % 4];
    const char *end = bjvmi_num_plain_double(p, &d), *float_end = bjvmi_num_plain_float(p, &f);
    cr_assert(!end || end < p + BJVMI_NUM_PLAIN, "%.42s", p);
    cr_assert(!float_end || float_end < p + BJVMI_NUM_PLAIN, "%.42s", p);
    taken += end != NULL;
  }
  cr_expect_gt(taken, 20000);
}
#endif

/* Reads all ways, which must agree; the bits of infinity for out of range. */
static uint64_t read_double(const bjvmi_num *num) {
  double v = 0, slow = 0;
  bjvm_status status = bjvmi_num_to_double(num, &v), slow_status = bjvmi_num_to_double_slow(num, &slow);
  cr_assert(status == BJVM_OK || status == BJVM_OUT_OF_RANGE);
  cr_assert(status == slow_status && double_bits(v) == double_bits(slow),
            "%.*s: %a by the fast way, %a by the slow", (int)(num->end - num->start), num->start, v, slow);
#ifndef BJVM_SIZE_SMALL
  check_plain(num, status, &v, NULL);
#endif
  return status == BJVM_OK ? double_bits(v) : double_infinity | (uint64_t)num->negative << 63;
}

static uint32_t read_float(const bjvmi_num *num) {
  float v = 0, slow = 0;
  bjvm_status status = bjvmi_num_to_float(num, &v), slow_status = bjvmi_num_to_float_slow(num, &slow);
  cr_assert(status == BJVM_OK || status == BJVM_OUT_OF_RANGE);
  cr_assert(status == slow_status && float_bits(v) == float_bits(slow),
            "%.*s: %a by the fast way, %a by the slow", (int)(num->end - num->start), num->start, (double)v,
            (double)slow);
#ifndef BJVM_SIZE_SMALL
  check_plain(num, status, NULL, &v);
#endif
  return status == BJVM_OK ? float_bits(v) : float_infinity | (uint32_t)num->negative << 31;
}

Test(num_parse, reads_known_doubles) {
  static const struct {
    const char *text;
    uint64_t bits;
  } cases[] = {
      {"0", 0},
      {"-0", 0x8000000000000000},
      {"-0.0e400", 0x8000000000000000},
      {"0e999999999", 0},
      {"1", 0x3ff0000000000000},
      {"-1.5", 0xbff8000000000000},
      {"0.1", 0x3fb999999999999a},
      {"0.3", 0x3fd3333333333333},
      {"0.30000000000000004", 0x3fd3333333333334},
      {"9.5e-3", 0x3f8374bc6a7ef9db},
      {"1e22", 0x4480f0cf064dd592},
      {"1e23", 0x44b52d02c7e14af6},
      {"8.41e21", 0x447c7e83209e90b2},
      {"9007199254740991", 0x433fffffffffffff},
      {"9007199254740993", 0x4340000000000000},
      {"9007199254740993.0", 0x4340000000000000},
      {"9007199254740993.00000000000000000000000000001", 0x4340000000000001},
      {"9007199254740992.99999999999999999999999999999", 0x4340000000000000},
      {"9007199254740994.99999999999999999999999999999", 0x4340000000000001},
      {"9007199254740995", 0x4340000000000002},
      {"4503599627370496.5", 0x4330000000000000},
      {"4503599627370497.5", 0x4330000000000002},
      {"4503599627370497.4999999999", 0x4330000000000001},
      {"1152921504606846976.0001", 0x43b0000000000000},
      {"5e-324", 1},
      {"4.9406564584124654e-324", 1},
      {"2.4703282292062327e-324", 0},
      {"2.4703282292062328e-324", 1},
      {"7.4109846876186981e-324", 1},
      {"7.4109846876186982e-324", 2},
      {"1e-323", 2},
      {"1e-324", 0},
      {"-1e-400", 0x8000000000000000},
      {"1e-99999999999999999999", 0},
      {"2.2250738585072011e-308", 0x000fffffffffffff},
      {"2.2250738585072012e-308", 0x0010000000000000},
      {"2.2250738585072014e-308", 0x0010000000000000},
      {"2.225073858507201136e-308", 0x000fffffffffffff},
      {"1.7976931348623157e308", 0x7fefffffffffffff},
      {"1.7976931348623158e308", 0x7fefffffffffffff},
      {"1.7976931348623158079e308", 0x7fefffffffffffff},
      {"1.7976931348623158080e308", 0x7ff0000000000000},
      {"-1.8e308", 0xfff0000000000000},
      {"1e309", 0x7ff0000000000000},
      {"1e99999999999999999999", 0x7ff0000000000000},
      {"17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709"
       "6330286416"
       "69288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027006985"
       "5571366959"
       "622842914819860834936475292719074168444365510704342711559699508093042880177904174497791",
       0x7fefffffffffffff}, /* half way to 2^1024, less 1 */
      {"17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709"
       "6330286416"
       "69288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027006985"
       "5571366959"
       "622842914819860834936475292719074168444365510704342711559699508093042880177904174497792",
       0x7ff0000000000000},
      {"6.631236846766476e-316", 0x0000000008000000},
      {"3.2378839133029012895883524125015321748630094719e-319", 0x000000000000ffff},
      {"1.0000000000000000000000000000001e-5000", 0},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    bjvmi_num num;
    cr_assert(scan_all(cases[i].text, strlen(cases[i].text), &num) == BJVM_OK, "%s", cases[i].text);
    uint64_t bits = read_double(&num);
    cr_expect(bits == cases[i].bits, "%s: %016" PRIx64 ", expected %016" PRIx64, cases[i].text, bits,
              cases[i].bits);
  }
}

Test(num_parse, reads_known_floats) {
  static const struct {
    const char *text;
    uint32_t bits;
  } cases[] = {
      {"0", 0},
      {"-0", 0x80000000},
      {"0.1", 0x3dcccccd},
      {"16777217", 0x4b800000},
      {"16777217.0000000000000000000000000000001", 0x4b800001},
      {"16777219", 0x4b800002},
      {"1.000000178813934326171875", 0x3f800002},   /* half way, to even */
      {"1.00000017881393432617187499", 0x3f800001}, /* through double: 0x3f800002 */
      {"1.00000017881393432617187501", 0x3f800002},
      {"1.4e-45", 1},
      {"7.006492321624085e-46", 0},
      {"7.0064923216240862e-46", 1},
      {"1e-46", 0},
      {"-1e-9999", 0x80000000},
      {"1.17549435e-38", 0x00800000},
      {"1.1754942e-38", 0x007fffff},
      {"3.4028235e38", 0x7f7fffff},
      {"3.4028235677973367e38", 0x7f800000},
      {"3.4028235677973362e38", 0x7f7fffff},
      {"340282356779733661637539395458142568447", 0x7f7fffff},
      {"340282356779733661637539395458142568448", 0x7f800000},
      {"1e39", 0x7f800000},
      {"-1e300", 0xff800000},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    bjvmi_num num;
    cr_assert(scan_all(cases[i].text, strlen(cases[i].text), &num) == BJVM_OK, "%s", cases[i].text);
    uint32_t bits = read_float(&num);
    cr_expect(bits == cases[i].bits, "%s: %08" PRIx32 ", expected %08" PRIx32, cases[i].text, bits,
              cases[i].bits);
  }
}

/* The exact decimal of m * 2^e * 10^-e... for e < 0: m * 5^-e, with its point -e digits from the right. */
static size_t exact_digits(uint64_t m, int e, char *out) {
  bignum b;
  bignum_set(&b, m);
  bignum_mul_pow5(&b, -e);
  size_t count = 0;
  while (b.n) {
    uint64_t carry = 0;
    for (int i = b.n - 1; i >= 0; i--) {
      carry = carry << 32 | b.limb[i];
      b.limb[i] = (uint32_t)(carry / 10);
      carry %= 10;
    }
    while (b.n && b.limb[b.n - 1] == 0) b.n--;
    out[count++] = (char)('0' + carry);
  }
  for (size_t i = 0; i < count / 2; i++) {
    char c = out[i];
    out[i] = out[count - 1 - i];
    out[count - 1 - i] = c;
  }
  return count;
}

/* Half way between two doubles, all its digits written out, and a hair to both sides, near and far behind. */
Test(num_parse, reads_half_way_doubles) {
  uint64_t state = 3;
  for (int i = 0; i < 400; i++) {
    uint64_t bits = oracle_random(&state) >> 1;
    if (i < 100) bits = oracle_random(&state) >> (12 + oracle_random(&state) % 52); /* subnormal */
    if (i == 100) bits = 0x000fffffffffffff;
    if (i == 101) bits = 0;
    bits = i > 101 ? bits % ((uint64_t)1074 << 52) : bits; /* below 1: many digits */
    uint64_t m;
    int e;
    oracle_split(&oracle_double, bits, &m, &e);
    char *text = malloc(4000);
    size_t count = exact_digits(2 * m + 1, e - 1, text);
    cr_assert(count < 800);
    for (int side = -1; side <= 1; side++) {
      for (size_t zeros = 0; zeros <= 2000; zeros += 1000) { /* the difference, so many digits later */
        size_t n = count;
        char last = text[count - 1]; /* always 5 */
        if (side != 0) {
          if (side < 0) text[n - 1] = '4';
          memset(text + n, side < 0 ? '9' : '0', zeros);
          n += zeros;
          text[n++] = side < 0 ? '9' : '1';
        }
        int e10 = e - 1 - (int)(n - count);
        size_t size = n + (size_t)sprintf(text + n, "e%d", e10);
        bjvmi_num num;
        cr_assert(scan_all(text, size, &num) == BJVM_OK);
        uint64_t expected = side < 0 ? bits : side > 0 ? bits + 1 : bits + (bits & 1);
        uint64_t got = read_double(&num);
        cr_assert(got == expected, "above %016" PRIx64 " side %d zeros %zu: %016" PRIx64, bits, side, zeros,
                  got);
        text[count - 1] = last;
      }
    }
    free(text);
  }
}

Test(num_parse, reads_a_million_digits) {
  static const struct {
    const char *head;
    char fill;
    const char *tail;
    uint64_t bits;
  } cases[] = {
      {"9007199254740993.", '0', "1", 0x4340000000000001},
      {"9007199254740993.", '0', "", 0x4340000000000000},
      {"9007199254740992.", '9', "", 0x4340000000000000},
      {"0.", '0', "1e1000001", 0x3ff0000000000000},
      {"1", '0', "e-1000000", 0x3ff0000000000000},
      {"", '9', "", 0x7ff0000000000000},
      {"0.", '0', "123", 0},
      {"0.", '3', "", 0x3fd5555555555555},
      {"-", '6', "e-1000000", 0xbfe5555555555555},
      {"1e-", '0', "1", 0x3fb999999999999a},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_t size;
    char *text = long_text(cases[i].head, cases[i].fill, 1000000, cases[i].tail, &size);
    bjvmi_num num;
    cr_assert(scan_all(text, size, &num) == BJVM_OK);
    uint64_t bits = read_double(&num);
    cr_expect(bits == cases[i].bits, "%s%c...%s: %016" PRIx64, cases[i].head, cases[i].fill, cases[i].tail,
              bits);
    free(text);
  }
}

/* A random decimal of `count` digits, with a point somewhere and an exponent; returns its size. */
static size_t random_decimal(uint64_t *state, size_t count, int spread, char *text, bignum *value, int *e10) {
  char digits[800];
  for (size_t i = 0; i < count; i += 16) {
    uint64_t r = oracle_random(state);
    for (size_t j = i; j < i + 16 && j < count; j++, r >>= 4) digits[j] = (char)('0' + (r & 15) * 10 / 16);
  }
  if (digits[0] == '0') digits[0] = '1';
  size_t point = 1 + oracle_random(state) % count;
  int first =
      (int)(oracle_random(state) % (uint64_t)(2 * spread)) - spread; /* the power of ten of the first digit */
  int written = first - (int)(point - 1);
  *e10 = first - (int)(count - 1);
  bignum_set_digits(value, digits, count);
  int n = sprintf(text, "%.*s%s%.*se%+d", (int)point, digits, point < count ? "." : "", (int)(count - point),
                  digits + point, written);
  return (size_t)n;
}

Test(num_parse, reads_random_decimals_as_the_oracle) {
  uint64_t state = 4;
  char text[1000];
  for (int i = 0; i < 120000; i++) {
    size_t count = i % 8 == 0 ? 1 + oracle_random(&state) % 800 : 1 + oracle_random(&state) % 40;
    bignum value;
    int e10;
    bjvmi_num num;
    bool is_float = i % 3 == 0;
    size_t size = random_decimal(&state, count, is_float ? 48 : 328, text, &value, &e10);
    cr_assert(scan_all(text, size, &num) == BJVM_OK, "%s", text);
    uint64_t bits = is_float ? read_float(&num) : read_double(&num);
    cr_assert(oracle_reads_as(is_float ? &oracle_float : &oracle_double, &value, e10, bits), "%s: %" PRIx64,
              text, bits);
  }
}

#ifndef BJVM_SIZE_SMALL
Test(num_parse, plain_reading_takes_what_it_should) {
  static const struct {
    const char *text;
    int taken; /* bytes; 0: left to the others */
  } cases[] = {
      {"0", 1},
      {"-0", 2},
      {"7,", 1},
      {"12.5}", 4},
      {"-12.5]", 5},
      {"0.000123", 8},
      {"123456789012345", 15},
      {"1234567.123456789012", 20},
      {"0.1234567890123456789", 21},
      {"0.9999999999999999999", 21},
      {"0.12345678901234567890", 0},
      {"0.01234567890123456789", 22},
      {"0.09999999999999999999", 22},
      {"0.012345678901234567890", 0},
      {"0.00012345678901234567", 22},
      {"-0.00001234567890123456789", 26},
      {"0.00009999999999999999999", 25},
      {"0.000099999999999999999990", 0},
      {"0.000001234567890123456789", 0},
      {"0.000000000000000000000001", 0},
      {"0.00000000000000000000001", 25},
      {"0.00000000000000000000000", 25},
      {"1.2345678901234567890", 0},
      {"12.345678901234567890", 0},
      {"0.123456789012345678", 20},
      {"9007199254740993.0", 0},
      {"1.0000000000000000000", 0},
      {"", 0},
      {"-", 0},
      {".5", 0},
      {"1.", 0},
      {"1.,", 0},
      {"-.5", 0},
      {"01", 0},
      {"00.5", 0},
      {"-01.5", 0},
      {"1e5", 0},
      {"1.5E5", 0},
      {"1.5.5", 3},
      {"+1", 0},
      {"x", 0},
      {"1234567890123456", 0},
      {"--1", 0},
      {"\"1\"", 0},
      {"1.2345678", 9},
      {"12345678", 8},
      {"12345678.", 0},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char room[128] = {0};
    double d;
    float f;
    memcpy(room, cases[i].text, strlen(cases[i].text));
    const char *end = bjvmi_num_plain_double(room, &d), *float_end = bjvmi_num_plain_float(room, &f);
    cr_assert(end == float_end && (end ? end - room : 0) == cases[i].taken, "%s: %td taken, should be %d",
              cases[i].text, end ? end - room : 0, cases[i].taken);
  }
}
#endif

/* Reading texts of all kinds gives the same, fast or slow: read_double and read_float compare. */
/* Small decimals, whose zeros in front are not counted: every number of zeros and digits. */
Test(num_parse, small_decimals) {
  uint64_t state = 20261130;
  for (int round = 0; round < 200000; round++) {
    char text[64] = "0.";
    int zeros = round % 12, digits = 1 + round / 12 % 22;
    for (int i = 0; i < zeros + digits; i++) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      text[2 + i] = i < zeros ? '0' : (char)('0' + (round & 1024 ? 9 : (state >> 33) % 10));
    }
    text[2 + zeros + digits] = 0;
    bjvmi_num num;
    cr_assert_eq(scan_all(text, strlen(text), &num), BJVM_OK);
    (void)read_double(&num);
    (void)read_float(&num);
  }
}

Test(num_parse, fast_and_slow_reading_agree) {
  uint64_t state = 7;
  char text[1000];
  for (int i = 0; i < 100000; i++) {
    bignum value;
    int e10;
    bjvmi_num num;
    size_t size =
        random_decimal(&state, 17 + oracle_random(&state) % 5, i % 2 ? 330 : 25, text, &value, &e10);
    cr_assert(scan_all(text, size, &num) == BJVM_OK);
    read_double(&num);
    read_float(&num);
  }
}
