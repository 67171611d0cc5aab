/* Numbers: printing and reading, exact, without locale, printf, strtod or double detours.
 *
 * Private to bjvm. Printing functions write at `out` and return the end of what counts; they may
 * scribble up to BJVMI_NUM_ROOM bytes from `out`, so the caller provides that much room. No function
 * here allocates, fails by anything but its return value, or keeps state.
 */
#ifndef BJVM_NUM_H_
#define BJVM_NUM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bjvm/status.h"

/* Longest text is -2.2250738585072014e-308 (24 bytes); 8-byte stores may run past it. */
#define BJVMI_NUM_ROOM 40

char *bjvmi_num_print_u32(char *out, uint32_t v);
char *bjvmi_num_print_i32(char *out, int32_t v);
char *bjvmi_num_print_u64(char *out, uint64_t v);
char *bjvmi_num_print_i64(char *out, int64_t v);

/* The fewest digits that read back to the same value (the closest of them to it), laid out as ECMAScript
 * Number::toString does, except that negative zero is "-0". `v` must be finite. */
char *bjvmi_num_print_double(char *out, double v);
char *bjvmi_num_print_float(char *out, float v);

/* A scanned JSON number. value = (negative ? -1 : 1) * mantissa * 10^exponent, exactly so unless `more`
 * is set: then further significant, not all zero, digits follow and the text is needed. */
typedef struct bjvmi_num {
  uint64_t mantissa; /* the first 19 significant digits; trailing zeros may have been dropped into exponent */
  int64_t exponent;  /* decimal; saturates at +-2^40 */
  bool negative;     /* a minus sign was there, also for -0 */
  bool more;         /* more than 19 significant digits, the rest not all zero */
  const char *start; /* the text [start, end), sign included */
  const char *end;
} bjvmi_num;

/* Scans the longest JSON number (RFC 8259 grammar) at the front of [p, limit): digits as far as they go, in
 * linear time. On success returns BJVM_OK and num->end is the first byte after it. On failure returns
 * BJVM_BAD_NUMBER (or BJVM_TRUNCATED if the text ended where more was needed, as in "-" or "1e") and
 * num->end points at the offending byte. Never reads at or beyond limit. */
bjvm_status bjvmi_num_scan(const char *p, const char *limit, bjvmi_num *num);

/* Exact conversions, judged on the digits: 1.0, 1e2 and 100e-2 are integers, 1e-400 and
 * 1.0000000000000001 are not. Return BJVM_OK, BJVM_NOT_INTEGER or BJVM_OUT_OF_RANGE. -0 is 0. */
bjvm_status bjvmi_num_to_i32(const bjvmi_num *num, int32_t *v);
bjvm_status bjvmi_num_to_u32(const bjvmi_num *num, uint32_t *v);
bjvm_status bjvmi_num_to_i64(const bjvmi_num *num, int64_t *v);
bjvm_status bjvmi_num_to_u64(const bjvmi_num *num, uint64_t *v);

/* Correctly rounded (to nearest, ties to even) for any number of digits; float directly, never through
 * double. Underflow gives the nearest value, a subnormal or (signed) zero. BJVM_OUT_OF_RANGE on overflow. */
bjvm_status bjvmi_num_to_double(const bjvmi_num *num, double *v);
bjvm_status bjvmi_num_to_float(const bjvmi_num *num, float *v);

/* A number of the plainest form, at most 19 digits with or without a point and no exponent, scanned and
 * converted in one go; returns its end, or NULL where the functions above must look (another form, or not a
 * number). BJVMI_NUM_PLAIN bytes must be readable at p; what follows the number is not looked at. Not in a build
 * with BJVM_SIZE_SMALL. */
enum { BJVMI_NUM_PLAIN = 41 }; /* a sign, 15 digits, a point, 3 times 8 bytes */
const char *bjvmi_num_plain_double(const char *p, double *v);
const char *bjvmi_num_plain_float(const char *p, float *v);

/* The slow twins: plain, obviously right, used as fallback and by the tests that compare. */
bjvm_status bjvmi_num_to_double_slow(const bjvmi_num *num, double *v);
bjvm_status bjvmi_num_to_float_slow(const bjvmi_num *num, float *v);

#endif /* BJVM_NUM_H_ */
