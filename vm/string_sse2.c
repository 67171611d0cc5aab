/* The SSE2 forms: strings printed, scanned and validated 16 bytes at a time. Every x86-64 can run them.
 *
 * string_wide.h has the pieces shared with string_avx2.c; base64 stays portable here, as SSE2 lacks a byte
 * shuffle.
 * Kept: loads inside [p, end), stores below `limit`: each step starts with BJVMI_ESCAPE_STEP bytes of room
 * and looks again before the second of two special characters.
 * Source: RFC 8259 section 7; the Unicode Standard 15, table 3-7.
 */
#include "kernels.h"

#ifdef BJVMI_HAVE_SSE2
#include "string_wide.h"

/* Non-ASCII inside a block that is copied already is only checked; `mask` marks the bytes that need a look.
 * Returns how many bytes of the block are done, or stops at what it cannot do: an escape, a bad sequence, one
 * that leaves the block. */
static unsigned check_block(const char *p, const char *end, unsigned mask, unsigned flags) {
  while (mask) {
    unsigned k = bjvmi_first(mask);
    uint32_t point;
    if ((uint8_t)p[k] < 0x80 || flags) return k;
    unsigned size = bjvmi_utf8_decode(p + k, end, &point);
    if (size == 0 || k + size > 16) return k;
    mask &= ~(((1u << size) - 1) << k);
  }
  return 16;
}

BJVMI_INLINE bjvmi_escape_result escape(const char **src, const char *end, char **out, char *limit,
                                        unsigned flags, bool html) {
  const char *p = *src;
  char *o = *out;
  bjvmi_escape_result result = BJVMI_ESCAPE_DONE;
  while (p < end) {
    if (limit - o < BJVMI_ESCAPE_STEP) {
      result = BJVMI_ESCAPE_ROOM;
      break;
    }
    size_t left = (size_t)(end - p), done;
    if (left >= 32) {
      __m128i v = bjvmi_load16(p);
      bjvmi_store16(o, v);
      unsigned mask = bjvmi_marked16(v, html);
      if (mask && (uint8_t)p[bjvmi_first(mask)] < 0x80) {
        bjvmi_places next = bjvmi_escape_block(p, o, limit, mask);
        p = next.p;
        o = next.o;
        continue;
      }
      done = mask ? check_block(p, end, mask, flags) : 16;
    } else {
      done = bjvmi_copy_most(p, left, o, html);
    }
    p += done;
    o += done;
    if (done == left || (done == 16 && left >= 32)) continue;
    bjvmi_places next = bjvmi_escape_special(p, end, o, limit, flags);
    if (!next.p) {
      result = BJVMI_ESCAPE_BAD;
      break;
    }
    p = next.p;
    o = next.o;
  }
  *src = p;
  *out = o;
  return result;
}

bjvmi_escape_result bjvmi_escape_sse2(const char **src, const char *end, char **out, char *limit,
                                      unsigned flags) {
  if (flags & BJVMI_ESCAPE_HTML) return escape(src, end, out, limit, flags, true);
  return escape(src, end, out, limit, flags, false);
}

static const char *scan(const char *p, const char *end, unsigned *flags) {
  unsigned found = 0, tail;
  while (end - p >= 16) {
    if (bjvmi_scan_block(p, 16, bjvmi_scan16(bjvmi_load16(p)), &p, &found)) {
      *flags = found;
      return p;
    }
  }
  p = bjvmi_scan_portable(p, end, &tail);
  *flags = found | tail;
  return p;
}

static const char *utf8(const char *p, size_t size) {
  const char *end = p + size;
  while (end - p >= 16) {
    unsigned mask = bjvmi_mask16(bjvmi_load16(p));
    if (mask == 0) {
      p += 16;
      continue;
    }
    p += bjvmi_first(mask);
    do {
      uint32_t point;
      unsigned length = bjvmi_utf8_decode(p, end, &point);
      if (length == 0) return p;
      p += length;
    } while (p < end && (uint8_t)*p >= 0x80);
  }
  return bjvmi_utf8_portable(p, (size_t)(end - p));
}

const bjvmi_kernels bjvmi_kernels_sse2 = {
    "sse2",
    bjvmi_escape_sse2,
    scan,
    utf8,
    bjvmi_base64_encode_portable,
    bjvmi_base64_decode_portable,
    bjvmi_rows_read_sse2,
};
#endif
