/* Proof runs for the number code: too long for a unit test, kept runnable.
 *
 *   float_proof floats [first last]   every float32 bit pattern of the range (default all 2^32): prints the
 *                                     shortest, closest decimal and reads it back bit for bit
 *   float_proof doubles N seed        N random doubles, and the hard cases, against the exact oracle
 *
 * Floats are checked by reading: the two shorter neighbours of the printed decimal must read as other
 * floats, and half a unit beside it must lie, as a double, on the far side of the value. Where equal
 * doubles leave that open, and for every 4096th pattern anyway, the oracle of bignum.h decides. Exit status
 * 1 at the first fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/bignum.h"
#include "num.h"

static int fault(const char *what, uint64_t bits, const char *text) {
  printf("FAULT %s: bits 0x%llx, text %s\n", what, (unsigned long long)bits, text);
  return 1;
}

static float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static uint32_t bits_of_float(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static uint64_t bits_of_double(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static bjvmi_num decimal(uint64_t digits, int64_t e10) {
  return (bjvmi_num){.mantissa = digits, .exponent = e10};
}

static bool reads_as_float(uint64_t digits, int64_t e10, float v) {
  bjvmi_num num = decimal(digits, e10);
  float back;
  return bjvmi_num_to_float(&num, &back) == BJVM_OK && back == v;
}

/* The sign of digits * 10^e10 - v as far as doubles tell it. */
static int side(uint64_t digits, int64_t e10, double v) {
  bjvmi_num num = decimal(digits, e10);
  double d;
  if (bjvmi_num_to_double(&num, &d) != BJVM_OK) return 0;
  return (d > v) - (d < v);
}

/* One positive float, not 0. */
static int check_float(uint32_t bits, unsigned long *exact) {
  float v = float_of(bits), back;
  char text[BJVMI_NUM_ROOM + 1], *end = bjvmi_num_print_float(text, v);
  bjvmi_num num;
  *end = 0;
  if (bjvmi_num_scan(text, end, &num) != BJVM_OK || num.end != end) return fault("scan", bits, text);
  if (bjvmi_num_to_float(&num, &back) != BJVM_OK || bits_of_float(back) != bits)
    return fault("read", bits, text);
  uint64_t d = num.mantissa;
  int64_t k = num.exponent;
  for (; d % 10 == 0; d /= 10) k++;
  if (d > 999999999) return fault("more than 9 digits", bits, text);
  if (d >= 10 && (reads_as_float(d / 10, k + 1, v) || reads_as_float(d / 10 + 1, k + 1, v))) {
    return fault("not the shortest", bits, text);
  }
  bool open = side(10 * d - 5, k - 1, v) >= 0 || side(10 * d + 5, k - 1, v) <= 0;
  if (open || (bits & 4095) == 0) {
    const char *what = oracle_print_fault(&oracle_float, bits, text);
    ++*exact;
    if (what) return fault(what, bits, text);
  }
  return 0;
}

/* The negative twin prints as the same text behind a minus sign. */
static int check_negative(uint32_t bits) {
  char text[BJVMI_NUM_ROOM + 1], positive[BJVMI_NUM_ROOM + 1];
  char *end = bjvmi_num_print_float(text, float_of(bits));
  char *positive_end = bjvmi_num_print_float(positive, float_of(bits & 0x7fffffff));
  bjvmi_num num;
  float back;
  *end = 0;
  if (text[0] != '-' || end - text != positive_end - positive + 1) return fault("sign", bits, text);
  if (memcmp(text + 1, positive, (size_t)(positive_end - positive)) != 0) return fault("sign", bits, text);
  if (bjvmi_num_scan(text, end, &num) != BJVM_OK || bjvmi_num_to_float(&num, &back) != BJVM_OK) {
    return fault("read", bits, text);
  }
  return bits_of_float(back) == bits ? 0 : fault("read", bits, text);
}

static int prove_floats(uint64_t first, uint64_t last) {
  unsigned long exact = 0, checked = 0, skipped = 0;
  for (uint64_t i = first; i <= last; i++) {
    uint32_t bits = (uint32_t)i;
    if ((bits & 0x7f800000) == 0x7f800000) {
      skipped++;
      continue;
    }
    if (bits & 0x80000000 ? check_negative(bits) : bits && check_float(bits, &exact)) return 1;
    checked++;
  }
  printf("floats 0x%08llx..0x%08llx: %lu right, %lu of them by the oracle too, %lu not finite\n",
         (unsigned long long)first, (unsigned long long)last, checked, exact, skipped);
  return 0;
}

static int check_double(uint64_t bits) {
  char text[BJVMI_NUM_ROOM + 1];
  double v, back;
  memcpy(&v, &bits, sizeof v);
  char *end = bjvmi_num_print_double(text, v);
  bjvmi_num num;
  *end = 0;
  if (bjvmi_num_scan(text, end, &num) != BJVM_OK || num.end != end) return fault("scan", bits, text);
  if (bjvmi_num_to_double(&num, &back) != BJVM_OK || bits_of_double(back) != bits)
    return fault("read", bits, text);
  const char *what = bits ? oracle_print_fault(&oracle_double, bits, text) : NULL;
  return what ? fault(what, bits, text) : 0;
}

/* A random decimal near the range's ends or anywhere, of 1 to 40 digits, read both ways and by the oracle. */
static int check_reading(uint64_t *state) {
  char text[64];
  uint64_t r = oracle_random(state);
  int count = 1 + (int)(r % 40), e10 = (int)(r >> 32) % 680 - 360;
  for (int i = 0; i < count; i++) text[i] = (char)('0' + oracle_random(state) % 10);
  if (text[0] == '0') text[0] = '7';
  bignum b;
  bignum_set_digits(&b, text, (size_t)count);
  int size = count + snprintf(text + count, sizeof text - (size_t)count, "e%d", e10);
  bjvmi_num num;
  double v, slow;
  if (bjvmi_num_scan(text, text + size, &num) != BJVM_OK) return fault("scan", 0, text);
  bjvm_status status = bjvmi_num_to_double(&num, &v), slow_status = bjvmi_num_to_double_slow(&num, &slow);
  uint64_t bits = status == BJVM_OK ? bits_of_double(v) : (uint64_t)0x7ff << 52;
  if (status != slow_status || (status == BJVM_OK && bits != bits_of_double(slow)))
    return fault("slow", bits, text);
  return oracle_reads_as(&oracle_double, &b, e10, bits) ? 0 : fault("rounding", bits, text);
}

static int prove_doubles(unsigned long count, uint64_t state) {
  unsigned long checked = 0;
  for (uint64_t e = 0; e < 2047; e++) { /* the powers of two and their neighbours */
    for (int64_t near = -3; near <= 3; near++) {
      uint64_t bits = (uint64_t)((int64_t)(e << 52) + near);
      if (bits >> 52 >= 0x7ff) continue;
      if (check_double(bits)) return 1;
      checked++;
    }
  }
  for (int e = -323; e <= 308; e++) { /* the powers of ten, their multiples and neighbours */
    for (uint64_t digit = 1; digit <= 99; digit++) {
      bjvmi_num num = decimal(digit, e);
      double v;
      if (bjvmi_num_to_double(&num, &v) != BJVM_OK) continue;
      uint64_t bits = bits_of_double(v);
      if (check_double(bits) || (bits && check_double(bits - 1))) return 1;
      if (check_double(bits + 1)) return 1;
      checked += 3;
    }
  }
  for (unsigned long i = 0; i < count; i++) {
    uint64_t bits = oracle_random(&state) & INT64_MAX;
    if (i % 4 == 1) bits &= ~(uint64_t)0 << (oracle_random(&state) % 52);      /* few bits */
    if (i % 4 == 2) bits = (bits & 0x001fffffffffffff) | (uint64_t)1023 << 52; /* about 1 to 4 */
    if (i % 4 == 3) bits = (bits >> 12) % ((uint64_t)1 << (1 + oracle_random(&state) % 52)); /* subnormal */
    if (bits >> 52 >= 0x7ff) bits ^= (uint64_t)1 << 62;
    if (check_double(bits) || check_reading(&state)) return 1;
    checked++;
  }
  printf("doubles: %lu printed and read back right, %lu decimals read right\n", checked, count);
  return 0;
}

int main(int argc, char **argv) {
  if (argc >= 2 && strcmp(argv[1], "floats") == 0 && (argc == 2 || argc == 4)) {
    uint64_t first = argc == 4 ? strtoull(argv[2], NULL, 0) : 0;
    uint64_t last = argc == 4 ? strtoull(argv[3], NULL, 0) : UINT32_MAX;
    return prove_floats(first, last > UINT32_MAX ? UINT32_MAX : last);
  }
  if (argc == 4 && strcmp(argv[1], "doubles") == 0) {
    return prove_doubles(strtoul(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
  }
  fprintf(stderr, "usage: float_proof floats [first last] | doubles N seed\n");
  return 2;
}
