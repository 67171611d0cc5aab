/* Bounded text: what vm needs of printf, without stdio.
 *
 * Private to bjvm. A text is a caller's block. What does not fit is cut at a whole UTF-8 character and
 * replaced by "..." (where the block has room for that), and a NUL always ends it.
 */
#ifndef BJVM_TEXT_H_
#define BJVM_TEXT_H_

#include <stddef.h>
#include <stdint.h>

#include "bjvm/status.h"

typedef struct bjvmi_text {
  char *data;
  size_t size;     /* without the NUL */
  size_t capacity; /* with the NUL; at least 1 */
} bjvmi_text;

/* An empty text in `data`, which has `capacity` >= 1 bytes. */
bjvmi_text bjvmi_text_init(char *data, size_t capacity);

/* Appending. Numbers are right-aligned in `width` characters; wider ones are printed whole. */
void bjvmi_text_bytes(bjvmi_text *text, const char *bytes, size_t size);
void bjvmi_text_string(bjvmi_text *text, const char *string);
void bjvmi_text_fill(bjvmi_text *text, char fill, size_t count);
void bjvmi_text_unsigned(bjvmi_text *text, uint64_t value, size_t width);
void bjvmi_text_signed(bjvmi_text *text, int64_t value, size_t width);
/* What a status means; in a small build its name, which programs have anyway. */
void bjvmi_text_status(bjvmi_text *text, bjvm_status status);
void bjvmi_text_hex(bjvmi_text *text, uint64_t value); /* always 16 digits */

#endif /* BJVM_TEXT_H_ */
