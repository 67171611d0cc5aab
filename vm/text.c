/* Bounded text: append bytes and numbers to a caller's block.
 *
 * For the sentences of the verifier and the lines of the listing; the codecs have their own number printers
 * (num.h). Kept: size < capacity and data[size] == 0 after every call, so that a text can be handed out at
 * any time.
 */
#include "text.h"

#include <stdbool.h>
#include <string.h>

enum { NUMBER_SIZE = 21 }; /* a sign and the 20 digits of 2^64 - 1 */

bjvmi_text bjvmi_text_init(char *data, size_t capacity) {
  data[0] = 0;
  return (bjvmi_text){.data = data, .size = 0, .capacity = capacity};
}

/* Ends a full text with dots, in the place of whole UTF-8 characters. */
static void mark_cut(bjvmi_text *text) {
  if (text->capacity < sizeof "...") return;
  size_t end = text->capacity - sizeof "...";
  while (end > 0 && ((uint8_t)text->data[end] & 0xc0) == 0x80) end--;
  memcpy(text->data + end, "...", sizeof "...");
  text->size = end + 3;
  text->capacity = text->size + 1; /* it takes nothing more */
}

void bjvmi_text_bytes(bjvmi_text *text, const char *bytes, size_t size) {
  size_t room = text->capacity - 1 - text->size;
  bool cut = size > room;
  if (cut) size = room;
  memcpy(text->data + text->size, bytes, size);
  text->size += size;
  text->data[text->size] = 0;
  if (cut) mark_cut(text); /* once marked, it stays as it is */
}

void bjvmi_text_string(bjvmi_text *text, const char *string) {
  bjvmi_text_bytes(text, string, strlen(string));
}

void bjvmi_text_status(bjvmi_text *text, bjvm_status status) {
#ifdef BJVM_SIZE_SMALL
  bjvmi_text_string(text, bjvm_status_name(status));
#else
  bjvmi_text_string(text, bjvm_status_text(status));
#endif
}

void bjvmi_text_fill(bjvmi_text *text, char fill, size_t count) {
  while (count-- > 0) bjvmi_text_bytes(text, &fill, 1);
}

static void append_number(bjvmi_text *text, uint64_t magnitude, bool negative, size_t width) {
  char digits[NUMBER_SIZE];
  char *p = digits + NUMBER_SIZE;
  do {
    *--p = (char)('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude);
  if (negative) *--p = '-';
  size_t size = (size_t)(digits + NUMBER_SIZE - p);
  if (size < width) bjvmi_text_fill(text, ' ', width - size);
  bjvmi_text_bytes(text, p, size);
}

void bjvmi_text_unsigned(bjvmi_text *text, uint64_t value, size_t width) {
  append_number(text, value, false, width);
}

void bjvmi_text_signed(bjvmi_text *text, int64_t value, size_t width) {
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  append_number(text, magnitude, value < 0, width);
}

void bjvmi_text_hex(bjvmi_text *text, uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4)
    bjvmi_text_fill(text, "0123456789abcdef"[value >> shift & 15], 1);
}
