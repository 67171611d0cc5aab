/* Printing of double and float: known cases, borders, and comparison with an exact oracle (bignum.h). */
#include "num_fixture.h"

Test(num_print, prints_known_doubles) {
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

Test(num_print, prints_known_floats) {
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

Test(num_print, doubles_come_back) {
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

Test(num_print, floats_come_back) {
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

Test(num_print, prints_as_the_oracle) {
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

/* The oracle itself: right prints pass, and each kind of wrong print is seen. */
Test(num_print, oracle_sees_faults) {
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
