/* What the tests of numbers share: doubles as bits, texts of any length, scanning to the last byte. */
#ifndef BJVM_TESTS_NUM_FIXTURE_H_
#define BJVM_TESTS_NUM_FIXTURE_H_

#include "bignum.h"
#include "num.h"
#include "num_wide.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static inline double double_of(uint64_t bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static inline float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static inline uint64_t double_bits(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static inline uint32_t float_bits(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static const uint64_t double_infinity = (uint64_t)0x7ff << 52;
static const uint32_t float_infinity = (uint32_t)0xff << 23;

/* The text in memory of its own size, so that a sanitizer sees a read past its limit. */
static inline bjvm_status scan_all(const char *text, size_t size, bjvmi_num *num) {
  bjvm_status status = bjvmi_num_scan(text, text + size, num);
  if (status == BJVM_OK)
    cr_assert(num->end == text + size, "%.60s: scanned %td bytes", text, num->end - text);
  return status;
}

/* head, then `count` times `fill`, then tail; to be freed. */
static inline char *long_text(const char *head, char fill, size_t count, const char *tail, size_t *size) {
  size_t a = strlen(head), b = strlen(tail);
  char *text = malloc(a + count + b + 1);
  memcpy(text, head, a);
  memset(text + a, fill, count);
  memcpy(text + a + count, tail, b + 1);
  *size = a + count + b;
  return text;
}

#endif
