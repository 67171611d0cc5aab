/* FieldMask paths between snake_case and lowerCamelCase.
 *
 * time_text.c is the neighbour for the other text forms; splitting at commas is the caller's.
 * Kept: what one function accepts, the other turns back into the same bytes.
 * Source: the ProtoJSON page of the Protocol Buffers documentation.
 */
#include "camel.h"
#include "time_text.h"

char *bjvmi_mask_to_camel(char *out, const char *p, size_t size, const char **bad) {
  const char *end = p + size;
  for (; p < end; p++) {
    if (bjvmi_is_upper(*p) || (*p == '_' && (end - p < 2 || !bjvmi_is_lower(p[1])))) {
      *bad = p;
      return NULL;
    }
    *out++ = *p == '_' ? bjvmi_to_upper(*++p) : *p;
  }
  return out;
}

char *bjvmi_mask_to_snake(char *out, const char *p, size_t size, const char **bad) {
  for (const char *end = p + size; p < end; p++) {
    if (*p == '_') {
      *bad = p;
      return NULL;
    }
    *out = '_';
    out += bjvmi_is_upper(*p);
    *out++ = bjvmi_to_lower(*p);
  }
  return out;
}
