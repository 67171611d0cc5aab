/* Strings printed and scanned in plain C, a machine word at a time; the portable table.
 *
 * Next to it: string_sse2.c, string_avx2.c and string_neon.c, which give the same results faster and use the
 * pieces here for what they do rarely. utf8.c and base64.c hold the other portable kernels.
 * Kept: reads inside [p, end), writes below `limit`, any alignment, either byte order.
 * Source: RFC 8259 section 7.
 */
#include "kernels_impl.h"

#define U 'u'
#define N BJVMI_KIND_NONASCII
#define H BJVMI_KIND_HTML
#define N16 N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N
const uint8_t bjvmi_escape_kinds[BJVMI_ESCAPE_KINDS] = {
    U,   U,   U,   U,   U,   U,   U,   U,   'b', 't', 'n', U, 'f',  'r', U, U, /* 00 */
    U,   U,   U,   U,   U,   U,   U,   U,   U,   U,   U,   U, U,    U,   U, U, /* 10 */
    0,   0,   '"', 0,   0,   0,   H,   0,   0,   0,   0,   0, 0,    0,   0, 0, /* 20: " & */
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, H,    0,   H, 0, /* 30: < > */
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,    0,   0, 0, /* 40 */
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, '\\', 0,   0, 0, /* 50: \ */
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,    0,   0, 0, /* 60 */
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,    0,   0, 0, /* 70 */
#ifndef BJVM_SIZE_SMALL
    N16, N16, N16, N16, N16, N16, N16, N16,
#endif
};
#undef U
#undef N
#undef H
#undef N16

/* One character as \u escapes, a pair of surrogates above the basic plane. */
static char *escape_point(char *o, uint32_t point) {
  if (point < 0x10000) return bjvmi_escape_unit(o, point);
  o = bjvmi_escape_unit(o, 0xD800 + ((point - 0x10000) >> 10));
  return bjvmi_escape_unit(o, 0xDC00 + (point & 0x3FF));
}

static bool is_escaped(uint32_t point, unsigned flags) {
  if (flags & BJVMI_ESCAPE_ASCII) return true;
  return (flags & BJVMI_ESCAPE_HTML) && (point == 0x2028 || point == 0x2029);
}

bjvmi_places bjvmi_escape_multi(const char *p, const char *end, char *o, char *limit, unsigned flags) {
  const char *start = p;
  do {
    uint32_t point;
    unsigned size = bjvmi_utf8_decode(p, end, &point);
    if (size == 0) return (bjvmi_places){p == start ? NULL : p, o};
    if (is_escaped(point, flags)) {
      o = escape_point(o, point);
      p += size;
      continue;
    }
    o[0] = p[0];
    o[1] = p[1];
    if (size > 2) o[2] = p[2];
    if (size > 3) o[3] = p[3];
    o += size;
    p += size;
  } while (p < end && (uint8_t)*p >= 0x80 && limit - o >= BJVMI_ESCAPE_MOST);
  return (bjvmi_places){p, o};
}

/* The high bits of a word with anything that bjvmi_escape_kind marks in it; may be true of more, never of
 * less. */
static bjvmi_lanes marked(bjvmi_lanes x, bool html) {
  bjvmi_lanes hit = bjvmi_word_specials(x) | x;
  if (html) { /* < and > differ in bit 1 */
    hit |= (((x | BJVMI_EACH(2)) ^ BJVMI_EACH('>')) - BJVMI_EACH(1)) & ~x;
    hit |= ((x ^ BJVMI_EACH('&')) - BJVMI_EACH(1)) & ~x;
  }
  return hit & BJVMI_EACH(0x80);
}

/* Copies raw ASCII, at most `size` bytes, all of which have room; returns how many it was. */
static size_t copy_raw(const char *p, size_t size, char *o, bool html) {
  size_t i = 0;
  while (size - i >= BJVMI_LANES) {
    bjvmi_lanes x = bjvmi_load_word(p + i);
    if (marked(x, html)) break;
    bjvmi_store_word(o + i, x);
    i += BJVMI_LANES;
  }
  for (; i < size; i++) {
    unsigned kind = bjvmi_escape_kind((uint8_t)p[i]);
    if (kind && (kind != BJVMI_KIND_HTML || html)) break;
    o[i] = p[i];
  }
  return i;
}

bjvmi_escape_result bjvmi_escape_portable(const char **src, const char *end, char **out, char *limit,
                                          unsigned flags) {
  const char *p = *src;
  char *o = *out;
  bjvmi_escape_result result = BJVMI_ESCAPE_DONE;
  bool html = (flags & BJVMI_ESCAPE_HTML) != 0;
  while (p < end) {
    if (limit - o < BJVMI_ESCAPE_STEP) {
      result = BJVMI_ESCAPE_ROOM;
      break;
    }
    size_t left = (size_t)(end - p), room = (size_t)(limit - o) - BJVMI_ESCAPE_MOST;
    size_t raw = copy_raw(p, left < room ? left : room, o, html);
    p += raw;
    o += raw;
    if (p == end || raw == room) continue;
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

/* Scans one byte, or a backslash and the byte after it. Returns p itself where the scan ends. */
static const char *scan_one(const char *p, const char *end, unsigned *flags) {
  unsigned c = (uint8_t)*p;
  if (c < 0x20 || c == '"') return p;
  if (c >= 0x80) *flags |= BJVMI_STRING_NONASCII;
  if (c != '\\') return p + 1;
  *flags |= BJVMI_STRING_ESCAPES;
  p++;
  if (p == end || (uint8_t)*p < 0x20) return p;
  if ((uint8_t)*p >= 0x80) *flags |= BJVMI_STRING_NONASCII;
  return p + 1;
}

const char *bjvmi_scan_portable(const char *p, const char *end, unsigned *flags) {
  unsigned found = 0;
  while (p < end) {
    if ((size_t)(end - p) >= BJVMI_LANES) {
      bjvmi_lanes x = bjvmi_load_word(p);
      if (!bjvmi_word_specials(x)) {
        if (x & BJVMI_EACH(0x80)) found |= BJVMI_STRING_NONASCII;
        p += BJVMI_LANES;
        continue;
      }
    }
    const char *stop = (size_t)(end - p) < BJVMI_LANES ? end : p + BJVMI_LANES;
    while (p < stop) {
      /* A backslash whose skipped byte ends the scan leaves p one further: then p is a control or end. */
      const char *next = scan_one(p, end, &found);
      if (next == p) {
        *flags = found;
        return p;
      }
      p = next;
    }
  }
  *flags = found;
  return p;
}

const bjvmi_kernels bjvmi_kernels_portable = {
    "portable",
    bjvmi_escape_portable,
    bjvmi_scan_portable,
    bjvmi_utf8_portable,
    bjvmi_base64_encode_portable,
    bjvmi_base64_decode_portable,
#ifndef BJVM_SIZE_SMALL
    bjvmi_rows_read_portable,
#endif
};
