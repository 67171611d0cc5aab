/* Table 3-7 by pairs of bytes, for the forms that validate UTF-8 by looking nibbles up.
 *
 * Private to string_avx2.c and string_neon.c. A byte and the one before it have a fault when the high nibble of
 * the first, the low nibble of the first and the high nibble of the second all allow it: the AND of three
 * look-ups. A third or fourth byte is told from two continuations too many by looking two and three bytes back.
 * Source: the Unicode Standard 15, table 3-7. Method: Keiser and Lemire, "Validating UTF-8 in less than one
 * instruction per byte" (2020).
 */
#ifndef BJVM_UTF8_FAULTS_H_
#define BJVM_UTF8_FAULTS_H_

#include "kernels_impl.h"

/* What may be wrong, one bit for each kind of fault; as signed bytes. */
enum {
  SHORT = 0x01,     /* lead, then no continuation */
  LONG = 0x02,      /* ASCII, then a continuation */
  OVER3 = 0x04,     /* E0 80..9F */
  LARGE = 0x08,     /* F4 90..BF, F5..FF 90..BF */
  SURROGATE = 0x10, /* ED A0..BF */
  OVER2 = 0x20,     /* C0..C1 and a continuation */
  OVER4 = 0x40,     /* F0 80..8F; the same bit for F5..FF 80..8F, which differ in the low nibble */
  TWO = -0x80,      /* two continuations: a fault unless two or three bytes back a lead asks for it */
  ANY = SHORT | LONG | TWO,
  BEYOND = ANY | LARGE | OVER4,
};

#define BJVMI_UTF8_FIRST_HIGH                                                                                \
  LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG, TWO, TWO, TWO, TWO, SHORT | OVER2, SHORT,                  \
      SHORT | OVER3 | SURROGATE, SHORT | LARGE | OVER4
#define BJVMI_UTF8_FIRST_LOW                                                                                 \
  ANY | OVER2 | OVER3 | OVER4, ANY | OVER2, ANY, ANY, ANY | LARGE, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND,   \
      BEYOND, BEYOND, BEYOND, BEYOND | SURROGATE, BEYOND, BEYOND
#define BJVMI_UTF8_SECOND_HIGH                                                                               \
  SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, LONG | TWO | OVER2 | OVER3 | OVER4,                \
      LONG | TWO | OVER2 | OVER3 | LARGE, LONG | TWO | OVER2 | SURROGATE | LARGE,                            \
      LONG | TWO | OVER2 | SURROGATE | LARGE, SHORT, SHORT, SHORT, SHORT

/* The start of the character that is cut off at p, or p. What is before p is well-formed but for that, and at
 * least three bytes. */
BJVMI_INLINE const char *bjvmi_back_to_character(const char *p) {
  const uint8_t *b = (const uint8_t *)p;
  if (b[-1] >= 0xC0) return p - 1;
  if (b[-2] >= 0xE0) return p - 2;
  return b[-3] >= 0xF0 ? p - 3 : p;
}

#endif /* BJVM_UTF8_FAULTS_H_ */
