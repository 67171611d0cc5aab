/* UTF-8 validation in plain C: words of ASCII at a time, then sequence by sequence.
 *
 * bjvmi_utf8_decode (kernels_impl.h) knows the sequences; string_sse2.c, string_avx2.c and string_neon.c hold
 * wide forms that come here for the place of an error. Kept: no read outside [p, p + size).
 * Source: the Unicode Standard 15, table 3-7.
 */
#include "kernels_impl.h"

const char *bjvmi_utf8_portable(const char *p, size_t size) {
  const char *end = p + size;
  while (p < end) {
    while ((size_t)(end - p) >= 2 * BJVMI_LANES) {
      bjvmi_lanes x = bjvmi_load_word(p) | bjvmi_load_word(p + BJVMI_LANES);
      if (x & BJVMI_EACH(0x80)) break;
      p += 2 * BJVMI_LANES;
    }
    while (p < end && (uint8_t)*p < 0x80) p++;
    while (p < end && (uint8_t)*p >= 0x80) {
      uint32_t point;
      unsigned length = bjvmi_utf8_decode(p, end, &point);
      if (length == 0) return p;
      p += length;
    }
  }
  return NULL;
}
