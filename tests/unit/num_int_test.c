/* Scanning of numbers, integers in and out, and the arithmetic and tables underneath: tables of known cases, borders of
 * every type, and comparison with an exact oracle (bignum.h). */
#include "num_fixture.h"

/* ---- the arithmetic underneath ---- */

Test(num_int, multiplications_agree) {
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
Test(num_int, powers_of_ten) {
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

Test(num_int, prints_integers) {
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

Test(num_int, reads_integers_exactly) {
  for (size_t i = 0; i < COUNT(integer_cases); i++) {
    const integer_case *c = &integer_cases[i];
    bjvmi_num num;
    cr_assert(scan_all(c->text, strlen(c->text), &num) == BJVM_OK, "%s", c->text);
    check_integer(c->text, &num, c);
  }
}

Test(num_int, reads_integers_of_any_length) {
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

Test(num_int, scans_what_it_should) {
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

Test(num_int, scan_takes_numbers_apart) {
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
Test(num_int, scan_obeys_its_limit) {
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
