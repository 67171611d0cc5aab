/* Numbers: tables of known cases, borders of every type, and comparison with an exact oracle (bignum.h). */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bignum.h"
#include "num.h"
#include "num_wide.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define NONE BJVM_BAD_NUMBER /* in a table: not scanned at all */

static double double_of(uint64_t bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static uint64_t double_bits(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static uint32_t float_bits(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static const uint64_t double_infinity = (uint64_t)0x7ff << 52;
static const uint32_t float_infinity = (uint32_t)0xff << 23;

/* The text in memory of its own size, so that a sanitizer sees a read past its limit. */
static bjvm_status scan_all(const char *text, size_t size, bjvmi_num *num) {
  bjvm_status status = bjvmi_num_scan(text, text + size, num);
  if (status == BJVM_OK)
    cr_assert(num->end == text + size, "%.60s: scanned %td bytes", text, num->end - text);
  return status;
}

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

/* head, then `count` times `fill`, then tail; to be freed. */
static char *long_text(const char *head, char fill, size_t count, const char *tail, size_t *size) {
  size_t a = strlen(head), b = strlen(tail);
  char *text = malloc(a + count + b + 1);
  memcpy(text, head, a);
  memset(text + a, fill, count);
  memcpy(text + a + count, tail, b + 1);
  *size = a + count + b;
  return text;
}

/* ---- the arithmetic underneath ---- */

Test(num, multiplications_agree) {
  static const uint64_t edges[] = {
      0, 1, 2, 0xffffffff, 0x100000000, 0xffffffff00000000, UINT64_MAX - 1, UINT64_MAX};
  uint64_t state = 1;
  for (size_t i = 0; i < 100000; i++) {
    uint64_t a = i < 64 ? edges[i % 8] : oracle_random(&state),
             b = i < 64 ? edges[i / 8] : oracle_random(&state);
    bjvmi_num_u128 x = bjvmi_num_mul(a, b), y = bjvmi_num_mul_portable(a, b);
    cr_assert(x.hi == y.hi && x.lo == y.lo && x.lo == a * b, "%" PRIx64 " * %" PRIx64, a, b);
  }
}

/* 10^e = (table value + less than 1) * 2^(log2 - 127); equal where it says exact. */
Test(num, powers_of_ten) {
  for (int e = BJVMI_POW10_MIN; e <= BJVMI_POW10_MAX; e++) {
    bjvmi_num_u128 power = bjvmi_num_pow10(e);
    int exponent = bjvmi_num_log2_pow10(e) - 127;
    cr_assert(power.hi >> 63, "10^%d", e);
    for (int next = 0; next <= 1; next++) { /* 10^-e * 2^exponent * (value + next) against 1 */
      bignum a, b;
      bignum_set(&a, power.hi);
      bignum_mul_pow2(&a, 64);
      for (int i = 0; i < 2; i++) a.limb[i] = (uint32_t)(power.lo >> (32 * i));
      if (next) bignum_mul_add(&a, 1, 1);
      bignum_set(&b, 1);
      bignum_mul_pow5(e < 0 ? &a : &b, e < 0 ? -e : e);
      int twos = exponent - e;
      bignum_mul_pow2(twos >= 0 ? &a : &b, twos >= 0 ? twos : -twos);
      int order = bignum_cmp(&a, &b);
      if (next) {
        cr_assert(order > 0, "10^%d is larger", e);
      } else if (e >= 0 && e <= BJVMI_POW10_EXACT) {
        cr_assert(order == 0, "10^%d is exact", e);
      } else {
        cr_assert(order < 0, "10^%d is smaller", e);
      }
    }
  }
}

/* ---- integers ---- */

Test(num, prints_integers) {
  char expected[32], text[BJVMI_NUM_ROOM];
  uint64_t state = 2, values[4000];
  size_t count = 0;
  for (uint64_t p = 1, i = 0; i < 20; p *= 10, i++) {
    values[count++] = p - 1;
    values[count++] = p;
    values[count++] = p + 1;
  }
  for (int i = 0; i < 64; i++) {
    values[count++] = (uint64_t)1 << i;
    values[count++] = ~(uint64_t)0 >> i;
  }
  while (count < COUNT(values)) {
    uint64_t r = oracle_random(&state);
    values[count++] = r >> (oracle_random(&state) % 64);
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t v = values[i];
    for (int kind = 0; kind < 6; kind++) {
      int64_t s = kind & 1 ? (int64_t)(0 - v) : (int64_t)v;
      int n = kind < 2   ? sprintf(expected, "%" PRId64, s)
              : kind < 4 ? sprintf(expected, "%" PRId32, (int32_t)s)
              : kind < 5 ? sprintf(expected, "%" PRIu64, v)
                         : sprintf(expected, "%" PRIu32, (uint32_t)v);
      char *end = kind < 2   ? bjvmi_num_print_i64(text, s)
                  : kind < 4 ? bjvmi_num_print_i32(text, (int32_t)s)
                  : kind < 5 ? bjvmi_num_print_u64(text, v)
                             : bjvmi_num_print_u32(text, (uint32_t)v);
      cr_assert(end - text == n && memcmp(text, expected, (size_t)n) == 0, "%s", expected);
    }
  }
  for (uint32_t v = 0; v < 100000000; v += v < 200000 ? 1 : 9973) { /* all of one lane, samples of both */
    uint64_t digits = bjvmi_num_split8(v);
    uint32_t back = 0;
    for (int i = 0; i < 8; i++) back = back * 10 + (uint32_t)(digits >> (8 * i) & 0xff);
    cr_assert(back == v && !(digits & 0xf0f0f0f0f0f0f0f0), "%" PRIu32, v);
  }
}

enum { OK = BJVM_OK, FRAC = BJVM_NOT_INTEGER, BIG = BJVM_OUT_OF_RANGE };

typedef struct integer_case {
  const char *text;
  int i32, u32, i64, u64; /* statuses */
  int64_t value;          /* where OK; as int64 for u64 too */
} integer_case;

static const integer_case integer_cases[] = {
    {"0", OK, OK, OK, OK, 0},
    {"-0", OK, OK, OK, OK, 0},
    {"-0.000e5", OK, OK, OK, OK, 0},
    {"0e999999999", OK, OK, OK, OK, 0},
    {"0e-999999999", OK, OK, OK, OK, 0},
    {"0.0e99999999999999999999999999", OK, OK, OK, OK, 0},
    {"1", OK, OK, OK, OK, 1},
    {"1.0", OK, OK, OK, OK, 1},
    {"1e2", OK, OK, OK, OK, 100},
    {"1E+2", OK, OK, OK, OK, 100},
    {"100e-2", OK, OK, OK, OK, 1},
    {"1.5e1", OK, OK, OK, OK, 15},
    {"0.0000001234e10", OK, OK, OK, OK, 1234},
    {"0.00000000000000000000000000000000000001234e41", OK, OK, OK, OK, 1234},
    {"12340000000000000000000000000000000000e-34", OK, OK, OK, OK, 1234},
    {"12340000000000000000000000000000000000e-35", FRAC, FRAC, FRAC, FRAC, 0},
    {"0.1", FRAC, FRAC, FRAC, FRAC, 0},
    {"1.5", FRAC, FRAC, FRAC, FRAC, 0},
    {"-1.5", FRAC, FRAC, FRAC, FRAC, 0},
    {"1e-1", FRAC, FRAC, FRAC, FRAC, 0},
    {"1e-19", FRAC, FRAC, FRAC, FRAC, 0},
    {"1e-20", FRAC, FRAC, FRAC, FRAC, 0},
    {"1e-400", FRAC, FRAC, FRAC, FRAC, 0},
    {"1e-99999999999999999999999", FRAC, FRAC, FRAC, FRAC, 0},
    {"1.0000000000000001", FRAC, FRAC, FRAC, FRAC, 0},
    {"1.00000000000000000000000000000000000001", FRAC, FRAC, FRAC, FRAC, 0},
    {"99999999999999999999999999.5", FRAC, FRAC, FRAC, FRAC, 0},
    {"123456789012345678901234567890e-1", BIG, BIG, BIG, BIG, 0},
    {"123456789012345678901234567891e-1", FRAC, FRAC, FRAC, FRAC, 0},
    {"1e19", BIG, BIG, BIG, OK, (int64_t)10000000000000000000u},
    {"1e20", BIG, BIG, BIG, BIG, 0},
    {"1e400", BIG, BIG, BIG, BIG, 0},
    {"1e99999999999999999999999", BIG, BIG, BIG, BIG, 0},
    {"-1", OK, BIG, OK, BIG, -1},
    {"-1e0", OK, BIG, OK, BIG, -1},
    {"2147483647", OK, OK, OK, OK, INT32_MAX},
    {"2147483647.000", OK, OK, OK, OK, INT32_MAX},
    {"21474836470e-1", OK, OK, OK, OK, INT32_MAX},
    {"2.147483647e9", OK, OK, OK, OK, INT32_MAX},
    {"2147483647.5", FRAC, FRAC, FRAC, FRAC, 0},
    {"2147483648", BIG, OK, OK, OK, (int64_t)INT32_MAX + 1},
    {"2.147483648e9", BIG, OK, OK, OK, (int64_t)INT32_MAX + 1},
    {"-2147483648", OK, BIG, OK, BIG, INT32_MIN},
    {"-2147483648.0", OK, BIG, OK, BIG, INT32_MIN},
    {"-2147483649", BIG, BIG, OK, BIG, (int64_t)INT32_MIN - 1},
    {"4294967295", BIG, OK, OK, OK, UINT32_MAX},
    {"4294967.295e3", BIG, OK, OK, OK, UINT32_MAX},
    {"4294967296", BIG, BIG, OK, OK, (int64_t)UINT32_MAX + 1},
    {"9007199254740993", BIG, BIG, OK, OK, 9007199254740993},
    {"9223372036854775807", BIG, BIG, OK, OK, INT64_MAX},
    {"9223372036854775807.0", BIG, BIG, OK, OK, INT64_MAX},
    {"9.223372036854775807e18", BIG, BIG, OK, OK, INT64_MAX},
    {"9223372036854775807000e-3", BIG, BIG, OK, OK, INT64_MAX},
    {"9223372036854775807.5", FRAC, FRAC, FRAC, FRAC, 0},
    {"9223372036854775808", BIG, BIG, BIG, OK, INT64_MIN},
    {"9223372036854775808e0", BIG, BIG, BIG, OK, INT64_MIN},
    {"-9223372036854775808", BIG, BIG, OK, BIG, INT64_MIN},
    {"-92233720368547758.08e2", BIG, BIG, OK, BIG, INT64_MIN},
    {"-9223372036854775809", BIG, BIG, BIG, BIG, 0},
    {"18446744073709551615", BIG, BIG, BIG, OK, -1},
    {"18446744073709551615.000000000000000000000000", BIG, BIG, BIG, OK, -1},
    {"1.8446744073709551615e19", BIG, BIG, BIG, OK, -1},
    {"0.00018446744073709551615e23", BIG, BIG, BIG, OK, -1},
    {"184467440737095516150e-1", BIG, BIG, BIG, OK, -1},
    {"18446744073709551615.1", FRAC, FRAC, FRAC, FRAC, 0},
    {"18446744073709551614", BIG, BIG, BIG, OK, -2},
    {"18446744073709551610", BIG, BIG, BIG, OK, -6},
    {"18446744073709551616", BIG, BIG, BIG, BIG, 0},
    {"18446744073709551620", BIG, BIG, BIG, BIG, 0},
    {"28446744073709551615", BIG, BIG, BIG, BIG, 0},
    {"184467440737095516149", BIG, BIG, BIG, BIG, 0},
    {"123456789012345678901", BIG, BIG, BIG, BIG, 0},
    {"-18446744073709551615", BIG, BIG, BIG, BIG, 0},
    {"99999999999999999999", BIG, BIG, BIG, BIG, 0},
};

static void check_integer(const char *name, const bjvmi_num *num, const integer_case *c) {
  int32_t i32 = 77;
  uint32_t u32 = 77;
  int64_t i64 = 77;
  uint64_t u64 = 77;
  int a = (int)bjvmi_num_to_i32(num, &i32), b = (int)bjvmi_num_to_u32(num, &u32);
  int d = (int)bjvmi_num_to_i64(num, &i64), e = (int)bjvmi_num_to_u64(num, &u64);
  cr_expect(a == c->i32 && (a != OK || i32 == c->value), "%s: i32 status %d, %" PRId32, name, a, i32);
  cr_expect(b == c->u32 && (b != OK || u32 == c->value), "%s: u32 status %d, %" PRIu32, name, b, u32);
  cr_expect(d == c->i64 && (d != OK || i64 == c->value), "%s: i64 status %d, %" PRId64, name, d, i64);
  cr_expect(e == c->u64 && (e != OK || u64 == (uint64_t)c->value), "%s: u64 status %d, %" PRIu64, name, e,
            u64);
}

Test(num, reads_integers_exactly) {
  for (size_t i = 0; i < COUNT(integer_cases); i++) {
    const integer_case *c = &integer_cases[i];
    bjvmi_num num;
    cr_assert(scan_all(c->text, strlen(c->text), &num) == BJVM_OK, "%s", c->text);
    check_integer(c->text, &num, c);
  }
}

Test(num, reads_integers_of_any_length) {
  static const struct {
    const char *head;
    char fill;
    size_t count;
    const char *tail;
    integer_case expected;
  } cases[] = {
      {"1.", '0', 100000, "", {"", OK, OK, OK, OK, 1}},
      {"1.", '0', 100000, "1", {"", FRAC, FRAC, FRAC, FRAC, 0}},
      {"0.", '0', 1000000, "7e1000001", {"", OK, OK, OK, OK, 7}},
      {"0.", '0', 1000000, "7e1000000", {"", FRAC, FRAC, FRAC, FRAC, 0}},
      {"7", '0', 1000000, "e-1000000", {"", OK, OK, OK, OK, 7}},
      {"7", '0', 1000000, "e-1000001", {"", FRAC, FRAC, FRAC, FRAC, 0}},
      {"-7", '0', 1000000, "e-1000000", {"", OK, BIG, OK, BIG, -7}},
      {"1", '0', 1000000, "", {"", BIG, BIG, BIG, BIG, 0}},
      {"", '9', 1000000, "", {"", BIG, BIG, BIG, BIG, 0}},
      {"", '9', 1000000, ".5", {"", FRAC, FRAC, FRAC, FRAC, 0}},
      {"", '9', 1000000, "e-999999", {"", FRAC, FRAC, FRAC, FRAC, 0}},
      {"0.", '0', 1000000, "", {"", OK, OK, OK, OK, 0}},
      {"5e", '0', 1000000, "", {"", OK, OK, OK, OK, 5}},
      {"5e-", '0', 1000000, "1", {"", FRAC, FRAC, FRAC, FRAC, 0}},
      {"5e", '9', 1000000, "", {"", BIG, BIG, BIG, BIG, 0}},
      {"18446744073709551615.", '0', 1000, "", {"", BIG, BIG, BIG, OK, -1}},
      {"18446744073709551615", '0', 1000, "e-1000", {"", BIG, BIG, BIG, OK, -1}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_t size;
    char *text = long_text(cases[i].head, cases[i].fill, cases[i].count, cases[i].tail, &size), name[80];
    bjvmi_num num;
    snprintf(name, sizeof name, "%s%c...%s", cases[i].head, cases[i].fill, cases[i].tail);
    cr_assert(scan_all(text, size, &num) == BJVM_OK, "%s", name);
    check_integer(name, &num, &cases[i].expected);
    free(text);
  }
}

/* ---- scanning ---- */

Test(num, scans_what_it_should) {
  static const struct {
    const char *text;
    bjvm_status status;
    int end; /* bytes from the start */
  } cases[] = {
      {"", BJVM_TRUNCATED, 0},
      {"-", BJVM_TRUNCATED, 1},
      {"1.", BJVM_TRUNCATED, 2},
      {"1e", BJVM_TRUNCATED, 2},
      {"1E+", BJVM_TRUNCATED, 3},
      {"-1.5e-", BJVM_TRUNCATED, 6},
      {"12345678.", BJVM_TRUNCATED, 9},
      {"x", BJVM_BAD_NUMBER, 0},
      {"+1", BJVM_BAD_NUMBER, 0},
      {".5", BJVM_BAD_NUMBER, 0},
      {"--1", BJVM_BAD_NUMBER, 1},
      {"-x", BJVM_BAD_NUMBER, 1},
      {"-.5", BJVM_BAD_NUMBER, 1},
      {"-Infinity", BJVM_BAD_NUMBER, 1},
      {"1.x", BJVM_BAD_NUMBER, 2},
      {"1.e5", BJVM_BAD_NUMBER, 2},
      {"1..5", BJVM_BAD_NUMBER, 2},
      {"123456789.,", BJVM_BAD_NUMBER, 10},
      {"1e,", BJVM_BAD_NUMBER, 2},
      {"1e+,", BJVM_BAD_NUMBER, 3},
      {"1e+-1", BJVM_BAD_NUMBER, 3},
      {"1e.5", BJVM_BAD_NUMBER, 2},
      {"NaN", BJVM_BAD_NUMBER, 0},
      {" 1", BJVM_BAD_NUMBER, 0},
      {"\xff", BJVM_BAD_NUMBER, 0},
      {"0", BJVM_OK, 1},
      {"01", BJVM_OK, 1},
      {"-01", BJVM_OK, 2},
      {"00", BJVM_OK, 1},
      {"0x10", BJVM_OK, 1},
      {"0.5", BJVM_OK, 3},
      {"0e1", BJVM_OK, 3},
      {"1,2", BJVM_OK, 1},
      {"1.5.5", BJVM_OK, 3},
      {"1e5e5", BJVM_OK, 3},
      {"1e5.5", BJVM_OK, 3},
      {"1-2", BJVM_OK, 1},
      {"12 ", BJVM_OK, 2},
      {"1234567890", BJVM_OK, 10},
      {"1234567:", BJVM_OK, 7},
      {"12345678:", BJVM_OK, 8},
      {"1234567/", BJVM_OK, 7},
      {"123456789012345678901234567890]", BJVM_OK, 30},
      {"1\xb0\xb1\xb2\xb3\xb4\xb5\xb6\xb7", BJVM_OK, 1},
      {"12\xff\x30\x30\x30\x30\x30\x30", BJVM_OK, 2},
      {"0.12345678901234567890123456789e-10}", BJVM_OK, 35},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_t size = strlen(cases[i].text);
    char *text = malloc(size ? size : 1); /* exact, for the sanitizers */
    memcpy(text, cases[i].text, size);
    bjvmi_num num;
    bjvm_status status = bjvmi_num_scan(text, text + size, &num);
    cr_expect(status == cases[i].status && num.end - text == cases[i].end && num.start == text,
              "'%s': status %d at %td, expected %d at %d", cases[i].text, status, num.end - text,
              cases[i].status, cases[i].end);
    free(text);
  }
}

Test(num, scan_takes_numbers_apart) {
  static const struct {
    const char *text;
    uint64_t mantissa;
    int64_t exponent;
    bool more;
  } cases[] = {
      {"-0", 0, 0, false},
      {"123.25e-7", 12325, -9, false},
      {"9999999999999999999", 9999999999999999999u, 0, false},
      {"0.9999999999999999999", 9999999999999999999u, -19, false},
      {"0.00000000000000000000123", 123, -23, false},
      {"12345678901234567890", 1234567890123456789, 1, false},
      {"12345678901234567891", 1234567890123456789, 1, true},
      {"1234567890.12345678900000000000000", 1234567890123456789, -9, false},
      {"1234567890.12345678900000000000001", 1234567890123456789, -9, true},
      {"1e99999999999999999999", 1, (int64_t)1 << 40, false},
      {"1e-99999999999999999999", 1, -((int64_t)1 << 40), false},
      {"12345678901234567891e99999999999999999999", 1234567890123456789, (int64_t)1 << 40, true},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    bjvmi_num num;
    cr_assert(scan_all(cases[i].text, strlen(cases[i].text), &num) == BJVM_OK, "%s", cases[i].text);
    uint64_t m = num.mantissa;
    int64_t e = num.exponent;
    for (; m && m % 10 == 0 && e < cases[i].exponent; m /= 10) e++;
    cr_expect(m == cases[i].mantissa && e == cases[i].exponent && num.more == cases[i].more,
              "%s: %" PRIu64 " e%" PRId64 " more %d", cases[i].text, m, e, num.more);
    cr_expect(num.negative == (cases[i].text[0] == '-'), "%s", cases[i].text);
  }
}

/* Every limit within a long number and every length of digits: as the same text cut off there. */
Test(num, scan_obeys_its_limit) {
  const char *whole = "-12345678901234.56789012345678901234567e-1234567890";
  for (size_t size = 0; size <= strlen(whole); size++) {
    char *text = malloc(size ? size : 1);
    memcpy(text, whole, size);
    bjvmi_num num, again;
    bjvm_status status = bjvmi_num_scan(text, text + size, &num);
    bool cut = size <= 1 || size == 16 || size == 40 || size == 41;
    cr_expect(status == (cut ? BJVM_TRUNCATED : BJVM_OK) && num.end == text + size, "%.*s", (int)size, whole);
    bjvm_status inside = bjvmi_num_scan(whole, whole + size, &again);
    cr_expect(inside == status && again.mantissa == num.mantissa && again.exponent == num.exponent, "%.*s",
              (int)size, whole);
    free(text);
  }
}

/* ---- reading floating point ---- */

Test(num, reads_known_doubles) {
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

Test(num, reads_known_floats) {
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
Test(num, reads_half_way_doubles) {
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

Test(num, reads_a_million_digits) {
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

Test(num, reads_random_decimals_as_the_oracle) {
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

/* ---- printing floating point ---- */

Test(num, prints_known_doubles) {
  static const struct {
    double v;
    const char *text;
  } cases[] = {
      {0.0, "0"},
      {-0.0, "-0"},
      {1.0, "1"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {21.37, "21.37"},
      {1013.25, "1013.25"},
      {1234567.5, "1234567.5"},
      {12345678.5, "12345678.5"},
      {123456789.25, "123456789.25"},
      {1234567890123.5, "1234567890123.5"},
      {1234567890123456.8, "1234567890123456.8"},
      {4503599627370495.5, "4503599627370495.5"},
      {9007199254740991.0, "9007199254740991"},
      {9007199254740992.0, "9007199254740992"},
      {9007199254740994.0, "9007199254740994"},
      {123456789012345680000.0, "123456789012345680000"},
      {1e20, "100000000000000000000"},
      {999999999999999900000.0, "999999999999999900000"},
      {1e21, "1e+21"},
      {1.5e21, "1.5e+21"},
      {8.41e21, "8.41e+21"},
      {1e22, "1e+22"},
      {1e23, "1e+23"},
      {9.5e-3, "0.0095"},
      {0.000001, "0.000001"},
      {-0.0000012345678901234567, "-0.0000012345678901234567"},
      {9.999999999999997e-7, "9.999999999999997e-7"},
      {1e-7, "1e-7"},
      {1.5e-10, "1.5e-10"},
      {5e-324, "5e-324"},
      {1e-323, "1e-323"},
      {1.5e-323, "1.5e-323"},
      {2.2250738585072011e-308, "2.225073858507201e-308"},
      {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {9.5367431640625e-7, "9.5367431640625e-7"},
      {2e-44, "2e-44"},
      {9007199254740993e3, "9007199254740993000"},
      {5.764607523034235e39, "5.764607523034235e+39"},
      {5.684341886080802e-14, "5.684341886080802e-14"}, /* 2^-44; ...801 is closer but outside */
      {2.220446049250313e-16, "2.220446049250313e-16"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[BJVMI_NUM_ROOM + 1], *end = bjvmi_num_print_double(text, cases[i].v);
    *end = 0;
    cr_expect(strcmp(text, cases[i].text) == 0, "%s: printed %s", cases[i].text, text);
  }
}

Test(num, prints_known_floats) {
  static const struct {
    float v;
    const char *text;
  } cases[] = {
      {0.0f, "0"},
      {-0.0f, "-0"},
      {0.1f, "0.1"},
      {21.37f, "21.37"},
      {-1013.25f, "-1013.25"},
      {16777216.0f, "16777216"},
      {33554432.0f, "33554432"},
      {33554436.0f, "33554436"},
      {1e10f, "10000000000"},
      {1e20f, "100000000000000000000"},
      {1e21f, "1e+21"},
      {0.000001f, "0.000001"},
      {1e-7f, "1e-7"},
      {1e-45f, "1e-45"},
      {3e-45f, "3e-45"},
      {1.1754942e-38f, "1.1754942e-38"},
      {1.17549435e-38f, "1.1754944e-38"},
      {3.4028235e38f, "3.4028235e+38"},
      {8388608.5f, "8388608"},
      {4194304.5f, "4194304.5"},
      {9.8e-45f, "1e-44"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char text[BJVMI_NUM_ROOM + 1], *end = bjvmi_num_print_float(text, cases[i].v);
    *end = 0;
    cr_expect(strcmp(text, cases[i].text) == 0, "%s: printed %s", cases[i].text, text);
  }
}

/* Random bits, few significant bits, telemetry, integers: the value i of the sequence. */
static uint64_t sample_double(uint64_t *state, int i) {
  uint64_t r = oracle_random(state);
  uint64_t bits = r;
  if (i % 8 == 1) bits = double_bits((double)(r % 10000000) / 1000);
  if (i % 8 == 2) bits = double_bits((double)(r >> 11) / 9007199254740992.0);
  if (i % 8 == 3) bits = r & ~(uint64_t)0 << (oracle_random(state) % 53);
  if (i % 8 == 4) bits = double_bits((double)(r >> (r % 60)));
  if (i % 8 == 5) bits = r & 0x800fffffffffffff;
  return (bits & double_infinity) == double_infinity ? bits ^ (uint64_t)1 << 62 : bits;
}

Test(num, doubles_come_back) {
  uint64_t state = 5;
  for (int i = 0; i < 1200000; i++) {
    uint64_t bits = sample_double(&state, i);
    char text[BJVMI_NUM_ROOM + 1], *end = bjvmi_num_print_double(text, double_of(bits));
    bjvmi_num num;
    double back;
    *end = 0;
    cr_assert(scan_all(text, (size_t)(end - text), &num) == BJVM_OK, "%s", text);
    cr_assert(bjvmi_num_to_double(&num, &back) == BJVM_OK && double_bits(back) == bits, "%s: %016" PRIx64,
              text, bits);
  }
}

Test(num, floats_come_back) {
  for (uint64_t i = 0; i < 1 << 20; i++) {
    uint32_t bits = (uint32_t)(i << 12 | (i * 2654435761u >> 20 & 0xfff)); /* spread, all low bits in use */
    if ((bits & float_infinity) == float_infinity) continue;
    char text[BJVMI_NUM_ROOM + 1], *end = bjvmi_num_print_float(text, float_of(bits));
    bjvmi_num num;
    float back;
    *end = 0;
    cr_assert(scan_all(text, (size_t)(end - text), &num) == BJVM_OK, "%s", text);
    cr_assert(bjvmi_num_to_float(&num, &back) == BJVM_OK && float_bits(back) == bits, "%s: %08" PRIx32, text,
              bits);
  }
}

Test(num, prints_as_the_oracle) {
  uint64_t state = 6;
  char text[BJVMI_NUM_ROOM + 1];
  for (int i = 0; i < 150000; i++) {
    uint64_t bits = sample_double(&state, i) & INT64_MAX;
    if (i < 2046) bits = (uint64_t)(i + 1) << 52; /* all powers of two */
    if (bits == 0) continue;
    char *end = bjvmi_num_print_double(text, double_of(bits));
    *end = 0;
    const char *fault = oracle_print_fault(&oracle_double, bits, text);
    cr_assert(!fault, "%s: %s, %016" PRIx64, text, fault, bits);
    uint32_t word = (uint32_t)(oracle_random(&state) & INT32_MAX);
    if (i < 254) word = (uint32_t)(i + 1) << 23;
    if (word == 0 || (word & float_infinity) == float_infinity) continue;
    end = bjvmi_num_print_float(text, float_of(word));
    *end = 0;
    fault = oracle_print_fault(&oracle_float, word, text);
    cr_assert(!fault, "%s: %s, %08" PRIx32, text, fault, word);
  }
}

/* Reading texts of all kinds gives the same, fast or slow: read_double and read_float compare. */
#ifndef BJVM_SIZE_SMALL
Test(num, plain_reading_takes_what_it_should) {
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
      {"0.1234567890123456789", 0},
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

Test(num, fast_and_slow_reading_agree) {
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

/* The oracle itself: right prints pass, and each kind of wrong print is seen. */
Test(num, oracle_sees_faults) {
  static const struct {
    double v;
    const char *text;
    const char *fault; /* NULL: none */
  } cases[] = {
      {0.3, "0.3", NULL},
      {0.3, "0.30", "layout"},
      {0.3, "3e-1", "layout"},
      {0.3, "0.30000000000000004", "does not read back"},
      {0.3, "0.29999999999999999", "not the shortest"},
      {5e-324, "4e-324", "closer above"},
      {5e-324, "6e-324", "closer below"},
      {5e-324, "5e-324", NULL},
      {2e-323, "2e-323", NULL},
      {5.684341886080802e-14, "5.684341886080801e-14", "does not read back"},
      {9007199254740993e3, "9007199254740993024", "not the shortest"},
      {1.0, "x", "not a number"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const char *fault = oracle_print_fault(&oracle_double, double_bits(cases[i].v), cases[i].text);
    bool same = fault == cases[i].fault || (fault && cases[i].fault && strcmp(fault, cases[i].fault) == 0);
    cr_expect(same, "%s: %s", cases[i].text, fault ? fault : "no fault");
  }
  cr_expect(!oracle_reads_u64_as(&oracle_double, 9007199254740993, 0, double_bits(9007199254740994.0)));
  cr_expect(oracle_reads_u64_as(&oracle_double, 9007199254740993, 0, double_bits(9007199254740992.0)));
  cr_expect(!oracle_reads_u64_as(&oracle_float, 16777217, 0, float_bits(16777218.0f)));
}
