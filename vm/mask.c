/* FieldMask paths between snake_case and lowerCamelCase.
 *
 * time_text.c is the neighbour for the other text forms; splitting at commas is the caller's.
 * Kept: what one function accepts, the other turns back into the same bytes.
 * Source: the ProtoJSON page of the Protocol Buffers documentation.
 */
#include "time_text.h"

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

char *bjvmi_mask_to_camel(char *out, const char *p, size_t size, const char **bad) {
  const char *end = p + size;
  for (; p < end; p++) {
    if (is_upper(*p) || (*p == '_' && (end - p < 2 || !is_lower(p[1])))) {
      *bad = p;
      return NULL;
    }
    if (*p == '_') {
      p++;
      *out++ = (char)(*p - 'a' + 'A');
    } else {
      *out++ = *p;
    }
  }
  return out;
}

char *bjvmi_mask_to_snake(char *out, const char *p, size_t size, const char **bad) {
  for (const char *end = p + size; p < end; p++) {
    if (*p == '_') {
      *bad = p;
      return NULL;
    }
    if (is_upper(*p)) {
      *out++ = '_';
      *out++ = (char)(*p - 'A' + 'a');
    } else {
      *out++ = *p;
    }
  }
  return out;
}
