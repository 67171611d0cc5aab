/* Kernels: the loops over bytes, each in a portable form and in wide forms that give the same results.
 *
 * Private to bjvm. A kernel allocates nothing, keeps no state and knows nothing of messages or plans.
 * The form is chosen once, when a plan is loaded, and travels as a `const bjvmi_kernels *`.
 */
#ifndef BJVM_KERNELS_H_
#define BJVM_KERNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sparse_rows.h"

/* Printing strings. */
typedef enum bjvmi_escape_result {
  BJVMI_ESCAPE_DONE, /* *src == end: all of it is written */
  BJVMI_ESCAPE_ROOM, /* fewer than BJVMI_ESCAPE_STEP bytes are left before `limit`: make room, call again */
  BJVMI_ESCAPE_BAD,  /* *src points at a byte that is not valid UTF-8 */
} bjvmi_escape_result;

enum {
  BJVMI_ESCAPE_STEP =
      64, /* room the escape kernels want before each step; they write nothing at or past limit */
  BJVMI_ESCAPE_ASCII =
      1, /* flags: \u escapes for every non-ASCII character (surrogate pairs, lower-case hex) */
  BJVMI_ESCAPE_HTML = 2, /* flags: \u escapes for < > & and U+2028, U+2029 */
};

/* Reading strings: what bjvmi_kernels.scan found before the closing quote. */
enum {
  BJVMI_STRING_ESCAPES = 1,  /* at least one backslash */
  BJVMI_STRING_NONASCII = 2, /* at least one byte >= 0x80; the bytes are not checked yet */
};

typedef struct bjvmi_kernels {
  const char *name; /* "portable", "sse2", "neon", ... */

  /* Copies [*src, end) to *out as the inside of a JSON string: escapes `"`, `\`, \b \f \n \r \t and the rest
   * below U+0020 as \u00xx (lower-case hex), everything else (DEL too) raw, or as `flags` say. Checks UTF-8.
   * Advances *src and *out to whole characters; everything before *src has been written, so a caller may
   * make room or report the error and its place. */
  bjvmi_escape_result (*escape)(const char **src, const char *end, char **out, char *limit, unsigned flags);

  /* From the byte after an opening quote, finds the first byte in [p, end) that is a quote not escaped, or a
   * control character (< 0x20), or `end`. A backslash skips the byte after it (whatever it is, except that it
   * stops at a control character or end). Returns its place; sets *flags (BJVMI_STRING_*) for the bytes
   * before. */
  const char *(*scan)(const char *p, const char *end, unsigned *flags);

  /* NULL if [p, p+size) is valid UTF-8 (no overlong forms, surrogates, > U+10FFFF, truncation), else the
   * first byte of the first bad sequence. */
  const char *(*utf8)(const char *p, size_t size);

  /* Standard base64 with padding; writes exactly (size + 2) / 3 * 4 bytes, nothing beyond; returns the
   * end. */
  char *(*base64_encode)(char *out, const uint8_t *p, size_t size);

  /* Reads standard and URL-safe alphabets, also mixed; padding none or exact (AA==, AA, not AA=); unused
   * trailing bits are ignored. Returns the end of the bytes written, or NULL and *bad = the offending
   * place in [p, p+size]. `out` has room for (size + 3) / 4 * 3 bytes; may be in place (out == p). */
  uint8_t *(*base64_decode)(uint8_t *out, const char *p, size_t size, const char **bad);

#ifndef BJVM_SIZE_SMALL
  /* Reads the rows of a message into `bits` (room for all rows) and takes the lowest two bits of each but those of CASES,
   * whose words it writes to `found` in the order of the rows (room for one more than there are). */
  bjvmi_rows_found (*read_rows)(const bjvmi_rows *rows, const char *msg, uint64_t *bits, uint16_t *found);
#endif
} bjvmi_kernels;

extern const bjvmi_kernels bjvmi_kernels_portable;
#if defined(__SSE2__) && !defined(BJVM_PORTABLE_KERNELS) && !defined(BJVM_SIZE_SMALL)
#define BJVMI_HAVE_SSE2 1
extern const bjvmi_kernels bjvmi_kernels_sse2;
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&              \
    !defined(BJVM_PORTABLE_KERNELS) && !defined(BJVM_SIZE_SMALL)
#define BJVMI_HAVE_NEON 1
extern const bjvmi_kernels bjvmi_kernels_neon;
#endif

/* The fastest form for this machine. */
const bjvmi_kernels *bjvmi_kernels_best(void);

/* All forms that this build and machine can run, the portable one first; the array ends with NULL. For
 * tests. */
const bjvmi_kernels *const *bjvmi_kernels_all(void);

/* Unescapes the inside of a JSON string [p, end) (as `scan` bounded it) into `out` (room end - p; may not
 * overlap). Returns the end of the bytes written, or NULL and *bad = the backslash of the bad escape: unknown
 * letter, bad hex, lone surrogate. Raw bytes are copied unchecked (check them with `utf8`); \u0000 gives a
 * NUL byte. */
char *bjvmi_string_unescape(char *out, const char *p, const char *end, const char **bad);

#endif /* BJVM_KERNELS_H_ */
