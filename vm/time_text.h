/* The text forms of google.protobuf.Timestamp, Duration and FieldMask.
 *
 * Private to bjvm. Pure functions over bytes; the VM reads and writes the messages' fields.
 * Source: RFC 3339; the ProtoJSON page of the Protocol Buffers documentation.
 */
#ifndef BJVM_TIME_TEXT_H_
#define BJVM_TIME_TEXT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BJVMI_TIMESTAMP_MIN (-62135596800) /* 0001-01-01T00:00:00Z */
#define BJVMI_TIMESTAMP_MAX 253402300799   /* 9999-12-31T23:59:59Z */
#define BJVMI_DURATION_MAX 315576000000    /* seconds, either sign */
#define BJVMI_NANOS 1000000000
#define BJVMI_TIME_ROOM 48 /* bytes the printing functions may touch from `out` */

/* Range checks of a value that is to be printed or was read. */
static inline bool bjvmi_timestamp_valid(int64_t seconds, int32_t nanos) { /* range; nanos 0..999999999 */
  return seconds >= BJVMI_TIMESTAMP_MIN && seconds <= BJVMI_TIMESTAMP_MAX && (uint32_t)nanos < BJVMI_NANOS;
}
bool bjvmi_duration_valid(int64_t seconds, int32_t nanos); /* range; same sign */

/* Print a valid value, without quotes, with 0, 3, 6 or 9 fraction digits; return the end. */
char *bjvmi_timestamp_print(char *out, int64_t seconds, int32_t nanos);
char *bjvmi_duration_print(char *out, int64_t seconds, int32_t nanos);

/* Read all of [p, p+size): no blanks, nothing left over. NULL when right, else the offending place.
 * Timestamp: YYYY-MM-DDThh:mm:ss[.1-9 digits](Z|+-hh:mm), upper case T and Z, every part range-checked with the
 * calendar (no 24:00, no :60, no 30 February), offset hours <= 23 and minutes <= 59, the instant in
 * 0001..9999 after the offset.
 * Duration: [-]digits[.1-9 digits]s, at least one digit before the point, in range; the sign applies to nanos
 * also for -0.5s. */
const char *bjvmi_timestamp_read(const char *p, size_t size, int64_t *seconds, int32_t *nanos);
const char *bjvmi_duration_read(const char *p, size_t size, int64_t *seconds, int32_t *nanos);

/* One FieldMask path, snake_case to lowerCamelCase and back. `out` has room for `size` bytes (to_camel) or 2
 * * size bytes (to_snake). Return the end, or NULL and *bad = the offending byte where the path would not
 * come back the same: to_camel: an upper-case letter, or an underscore not followed by a lower-case letter;
 * to_snake: an underscore. Dots, digits and other bytes pass through. */
char *bjvmi_mask_to_camel(char *out, const char *p, size_t size, const char **bad);
char *bjvmi_mask_to_snake(char *out, const char *p, size_t size, const char **bad);

#endif /* BJVM_TIME_TEXT_H_ */
