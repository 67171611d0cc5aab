/* The NEON forms for AArch64, every one of which can run them: strings printed, scanned and validated 32
 * bytes at a time, base64 48 bytes at a time.
 *
 * neon.h has the masks; utf8.c and base64.c do the tails and find the place of an error.
 * Kept: loads inside [p, end), stores below `limit` or inside the room the contract gives.
 * Source: RFC 8259 section 7; the Unicode Standard 15, table 3-7; RFC 4648. Method of the validation: Keiser
 * and Lemire, "Validating UTF-8 in less than one instruction per byte" (2020).
 */
#include "kernels_impl.h"
#include "neon.h"
#include "utf8_faults.h"

#ifdef BJVMI_HAVE_NEON

/* Thirty-two bytes, or what a comparison said of them. */
typedef struct pair {
  uint8x16_t low, high;
} pair;

BJVMI_INLINE pair load_pair(const char *p) { return (pair){bjvmi_neon_load(p), bjvmi_neon_load(p + 16)}; }

BJVMI_INLINE void store_pair(char *p, pair v) {
  bjvmi_neon_store(p, v.low);
  bjvmi_neon_store(p + 16, v.high);
}

BJVMI_INLINE bool any(uint8x16_t hit) { return bjvmi_neon_mask(hit) != 0; }
BJVMI_INLINE uint8x16_t either(pair v) { return vorrq_u8(v.low, v.high); }
BJVMI_INLINE bool is_ascii(uint8x16_t v) { return vmaxvq_u8(v) < 0x80; }

/* The first byte of 32 that is hit, 32 for none. */
BJVMI_INLINE unsigned first_of(pair hit) {
  uint64_t low = bjvmi_neon_mask(hit.low), high = bjvmi_neon_mask(hit.high);
  if (low) return bjvmi_neon_first(low);
  return high ? 16 + bjvmi_neon_first(high) : 32;
}

/* Control, quote, backslash. */
BJVMI_INLINE uint8x16_t specials(uint8x16_t v) {
  uint8x16_t quoting = vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')), vceqq_u8(v, vdupq_n_u8('\\')));
  return vorrq_u8(vcltq_u8(v, vdupq_n_u8(0x20)), quoting);
}

/* What may not be copied as raw ASCII. */
BJVMI_INLINE uint8x16_t marked(uint8x16_t v, bool html) {
  uint8x16_t hit = bjvmi_neon_odd(v);
  if (!html) return hit;
  uint8x16_t angle = vceqq_u8(vorrq_u8(v, vdupq_n_u8(2)), vdupq_n_u8('>')); /* < and > differ in bit 1 */
  return vorrq_u8(hit, vorrq_u8(angle, vceqq_u8(v, vdupq_n_u8('&'))));
}

/* -- UTF-8. --------------------------------------------------------------------------------------------- */

static const int8_t first_high[16] = {BJVMI_UTF8_FIRST_HIGH};
static const int8_t first_low[16] = {BJVMI_UTF8_FIRST_LOW};
static const int8_t second_high[16] = {BJVMI_UTF8_SECOND_HIGH};

BJVMI_INLINE uint8x16_t look_up(const int8_t *table, uint8x16_t at) {
  return vqtbl1q_u8(vreinterpretq_u8_s8(vld1q_s8(table)), at);
}

/* Nonzero bytes where v is not well-formed, with `before` the 16 bytes before it. Does not see a sequence cut
 * off at the end of v. */
BJVMI_INLINE uint8x16_t utf8_faults(uint8x16_t before, uint8x16_t v) {
  uint8x16_t b1 = vextq_u8(before, v, 15), b2 = vextq_u8(before, v, 14), b3 = vextq_u8(before, v, 13);
  uint8x16_t faults = look_up(first_high, vshrq_n_u8(b1, 4));
  faults = vandq_u8(faults, look_up(first_low, vandq_u8(b1, vdupq_n_u8(15))));
  faults = vandq_u8(faults, look_up(second_high, vshrq_n_u8(v, 4)));
  /* TWO is right where a third or fourth byte is due: E0.. two back, F0.. three back. */
  uint8x16_t due = vorrq_u8(vcgeq_u8(b2, vdupq_n_u8(0xE0)), vcgeq_u8(b3, vdupq_n_u8(0xF0)));
  return veorq_u8(faults, vandq_u8(due, vdupq_n_u8(0x80)));
}

/* The same for 32 bytes. */
BJVMI_INLINE bool has_faults(uint8x16_t before, pair v) {
  uint8x16_t faults = vorrq_u8(utf8_faults(before, v.low), utf8_faults(v.low, v.high));
  return vmaxvq_u32(vreinterpretq_u32_u8(faults)) != 0;
}

/* Two loops, so that the compiler does not schedule the look-ups of the second into the first. */
static const char *utf8(const char *p, size_t size) {
  const char *start = p, *end = p + size;
  bool right = true;
  while (right && end - p >= 32) {
    while (end - p >= 32 && is_ascii(either(load_pair(p)))) p += 32;
    uint8x16_t before = vdupq_n_u8(0);
    bool ascii = false;
    while (end - p >= 32 && !ascii) { /* up to a block of ASCII, which may still cut off a sequence */
      pair v = load_pair(p);
      right = !has_faults(before, v);
      if (!right) break;
      ascii = is_ascii(either(v));
      before = v.high;
      p += 32;
    }
  }
  if (p > start) p = bjvmi_back_to_character(p);
  return bjvmi_utf8_portable(p, (size_t)(end - p));
}

/* -- Printing. ------------------------------------------------------------------------------------------ */

/* Copies the raw ASCII at the front of [p, p + size), size below 16, and returns how much it was; the rest of
 * [o, o + size) is scratch. */
BJVMI_INLINE size_t copy_short(const char *p, size_t size, char *o, bool html) {
  if (size >= 8) {
    uint8x8_t low = vld1_u8((const uint8_t *)p), high = vld1_u8((const uint8_t *)p + size - 8);
    vst1_u8((uint8_t *)o, low);
    vst1_u8((uint8_t *)o + size - 8, high);
    uint64_t mask = bjvmi_neon_mask(marked(vcombine_u8(low, high), html));
    if (mask == 0) return size;
    unsigned k = bjvmi_neon_first(mask);
    return k < 8 ? k : size - 16 + k;
  }
  if (size >= 4) {
    uint32_t low = bjvmi_load32(p), high = bjvmi_load32(p + size - 4);
    bjvmi_store32(o, low);
    bjvmi_store32(o + size - 4, high);
    uint8x8_t v = vcreate_u8(low | (uint64_t)high << 32);
    uint64_t mask = bjvmi_neon_mask(marked(vcombine_u8(v, v), html));
    if (mask == 0) return size;
    unsigned k = bjvmi_neon_first(mask);
    return k < 4 ? k : size - 8 + k;
  }
  return bjvmi_copy_bytes(p, size, o, html);
}

/* The same for a size of 0 to 31. */
BJVMI_INLINE size_t copy_most(const char *p, size_t size, char *o, bool html) {
  if (size < 16) return copy_short(p, size, o, html);
  pair v = {bjvmi_neon_load(p), bjvmi_neon_load(p + size - 16)};
  bjvmi_neon_store(o, v.low);
  bjvmi_neon_store(o + size - 16, v.high);
  unsigned k = first_of((pair){marked(v.low, html), marked(v.high, html)});
  return k < 16 ? k : size - 32 + k;
}

/* Writes the escapes among the first 16 bytes of [p, p + 32), bytes that are already copied to o; `mask`
 * marks those to look at, the first of them ASCII. Behind each escape the rest of the block is copied anew,
 * without looking again. Stops before a non-ASCII byte, and when room gets short. */
BJVMI_INLINE bjvmi_places escape_block(const char *p, char *o, char *limit, uint64_t mask) {
  unsigned from = 0;       /* bytes of the block that are done */
  mask &= UINT64_MAX / 15; /* one bit a byte */
  do {
    unsigned k = bjvmi_neon_first(mask), c = (uint8_t)p[k];
    o += k - from;
    if (c >= 0x80 || limit - o < 6 + 16) return (bjvmi_places){p + k, o};
    o = bjvmi_escape_ascii(o, c, bjvmi_escape_kinds[c]);
    from = k + 1;
    bjvmi_neon_store(o, bjvmi_neon_load(p + from));
    mask &= mask - 1;
  } while (mask);
  return (bjvmi_places){p + 16, o + (16 - from)};
}

/* How many of the 32 bytes at p, well-formed but for the end, are whole characters: 29 to 32. */
BJVMI_INLINE unsigned whole_characters(const char *p) {
  return 32 - (unsigned)(p + 32 - bjvmi_back_to_character(p + 32));
}

/* A block that begins a character and has something that is not raw ASCII: how many bytes from its start may
 * stay as they were copied. */
BJVMI_INLINE unsigned raw_bytes(const char *p, pair v, bool flags) {
  pair negative = {vcltzq_s8(vreinterpretq_s8_u8(v.low)), vcltzq_s8(vreinterpretq_s8_u8(v.high))};
  pair special = {specials(v.low), specials(v.high)};
  if (!any(either(special)))
    return flags || has_faults(vdupq_n_u8(0), v) ? first_of(negative) : whole_characters(p);
  unsigned first = first_of(special), high = first_of(negative);
  return first > high && (flags || has_faults(vdupq_n_u8(0), v)) ? high : first;
}

BJVMI_INLINE bjvmi_escape_result escape_all(const char **src, const char *end, char **out, char *limit,
                                            unsigned flags, bool html) {
  const char *p = *src;
  char *o = *out;
  bjvmi_escape_result result = BJVMI_ESCAPE_DONE;
  while (p < end) {
    if (limit - o < BJVMI_ESCAPE_STEP) {
      result = BJVMI_ESCAPE_ROOM;
      break;
    }
    size_t left = (size_t)(end - p), done = 32;
    if (left >= 32) {
      pair v = load_pair(p);
      store_pair(o, v);
      pair hit = {marked(v.low, html), marked(v.high, html)};
      if (any(either(hit))) {
        uint64_t low = bjvmi_neon_mask(hit.low);
        if (low && (uint8_t)p[bjvmi_neon_first(low)] < 0x80) {
          bjvmi_places next = escape_block(p, o, limit, low);
          p = next.p;
          o = next.o;
          continue;
        }
        done = html ? first_of(hit) : raw_bytes(p, v, flags != 0);
      }
    } else {
      done = copy_most(p, left, o, html);
    }
    p += done;
    o += done;
    if (done == left || done >= 29) continue; /* 29 and more: at a character, but not known of which kind */
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

static bjvmi_escape_result escape(const char **src, const char *end, char **out, char *limit,
                                  unsigned flags) {
  if (flags & BJVMI_ESCAPE_HTML) return escape_all(src, end, out, limit, flags, true);
  return escape_all(src, end, out, limit, flags, false);
}

/* -- Scanning. ------------------------------------------------------------------------------------------ */

/* Walks the stops of the 16 bytes v at p. Returns true when the scan ends there, at *place; else *place is
 * where to go on: the next block, or a backslash whose next byte lies beyond the block. */
BJVMI_INLINE bool scan_block(const char *p, uint8x16_t v, uint64_t stop, const char **place,
                             unsigned *found) {
  unsigned at = 16;
  bool ended = false;
  while (stop) {
    unsigned k = bjvmi_neon_first(stop);
    if (p[k] != '\\') {
      at = k;
      ended = true;
      break;
    }
    *found |= BJVMI_STRING_ESCAPES;
    if (k == 15) {
      at = k;
      break;
    }
    if ((uint8_t)p[k + 1] < 0x20) {
      at = k + 1;
      ended = true;
      break;
    }
    stop &= ~(UINT64_C(0xFF) << 4 * k);
  }
  uint64_t high = bjvmi_neon_mask(vcltzq_s8(vreinterpretq_s8_u8(v)));
  if (at < 16) high &= (UINT64_C(1) << 4 * at) - 1;
  if (high) *found |= BJVMI_STRING_NONASCII;
  *place = p + at;
  return ended;
}

static const char *scan(const char *p, const char *end, unsigned *flags) {
  unsigned found = 0, tail;
  uint8x16_t seen = vdupq_n_u8(0); /* of the blocks that were passed whole */
  bool ended = false;
  while (end - p >= 16 && !ended) {
    if (end - p >= 32) {
      pair v = load_pair(p);
      if (!any(vorrq_u8(specials(v.low), specials(v.high)))) {
        seen = vorrq_u8(seen, either(v));
        p += 32;
        continue;
      }
    }
    uint8x16_t v = bjvmi_neon_load(p);
    ended = scan_block(p, v, bjvmi_neon_mask(specials(v)), &p, &found);
  }
  if (!ended) {
    p = bjvmi_scan_portable(p, end, &tail);
    found |= tail;
  }
  *flags = is_ascii(seen) ? found : found | BJVMI_STRING_NONASCII;
  return p;
}

/* -- Base64. -------------------------------------------------------------------------------------------- */

BJVMI_INLINE uint8x16x4_t load_table(const uint8_t *p) {
  return (uint8x16x4_t){{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

/* Sixteen times three bytes a b c to the letters of their four times six bits. */
BJVMI_INLINE uint8x16x4_t to_letters(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16x4_t letters) {
  const uint8x16_t six = vdupq_n_u8(63);
  uint8x16_t second = vsliq_n_u8(vshrq_n_u8(b, 4), a, 4); /* low bits of a above the high bits of b */
  uint8x16_t third = vsliq_n_u8(vshrq_n_u8(c, 6), b, 2);
  return (uint8x16x4_t){{
      vqtbl4q_u8(letters, vshrq_n_u8(a, 2)),
      vqtbl4q_u8(letters, vandq_u8(second, six)),
      vqtbl4q_u8(letters, vandq_u8(third, six)),
      vqtbl4q_u8(letters, vandq_u8(c, six)),
  }};
}

static char *encode(char *out, const uint8_t *p, size_t size) {
  if (size < 24) return bjvmi_base64_encode_portable(out, p, size);
  const uint8x16x4_t letters = load_table((const uint8_t *)bjvmi_base64_letters);
  for (; size >= 48; size -= 48, p += 48, out += 64) {
    uint8x16x3_t v = vld3q_u8(p);
    vst4q_u8((uint8_t *)out, to_letters(v.val[0], v.val[1], v.val[2], letters));
  }
  if (size >= 24) { /* the same with the low halves alone */
    uint8x8x3_t v = vld3_u8(p);
    uint8x8_t zero = vdup_n_u8(0);
    uint8x16x4_t text = to_letters(vcombine_u8(v.val[0], zero), vcombine_u8(v.val[1], zero),
                                   vcombine_u8(v.val[2], zero), letters);
    uint8x8x4_t low = {{vget_low_u8(text.val[0]), vget_low_u8(text.val[1]), vget_low_u8(text.val[2]),
                        vget_low_u8(text.val[3])}};
    vst4_u8((uint8_t *)out, low);
    size -= 24;
    p += 24;
    out += 32;
  }
  return bjvmi_base64_encode_portable(out, p, size);
}

/* The table of values, of which a look-up takes 64 bytes: out of range is 0, as for a byte that is no letter.
 */
typedef struct value_table {
  uint8x16x4_t low, high; /* of bytes 0x00 to 0x3F, 0x40 to 0x7F */
} value_table;

BJVMI_INLINE uint8x16_t to_value(uint8x16_t v, const value_table *table) {
  uint8x16_t low = vqtbl4q_u8(table->low, v);
  return vorrq_u8(low, vqtbl4q_u8(table->high, veorq_u8(v, vdupq_n_u8(0x40))));
}

/* Sixteen times four letters of either alphabet to three bytes; false if there is another byte among them. A
 * value has the bit above its six set, which the insertions overwrite or shift out. */
BJVMI_INLINE bool to_bytes(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d, const value_table *table,
                           uint8x16x3_t *bytes) {
  a = to_value(a, table);
  b = to_value(b, table);
  c = to_value(c, table);
  d = to_value(d, table);
  if (vminvq_u8(vandq_u8(vandq_u8(a, b), vandq_u8(c, d))) < BJVMI_BASE64_VALUE) return false;
  bytes->val[0] = vsliq_n_u8(vshrq_n_u8(b, 4), a, 2);
  bytes->val[1] = vsliq_n_u8(vshrq_n_u8(c, 2), b, 4);
  bytes->val[2] = vsliq_n_u8(d, c, 6);
  return true;
}

/* Each step has read 64 or 32 letters before it stores, so it may work in place. */
static uint8_t *decode(uint8_t *out, const char *text, size_t size, const char **bad) {
  if (size < 32) return bjvmi_base64_decode_portable(out, text, size, bad);
  const uint8_t *p = (const uint8_t *)text;
  const value_table table = {load_table(bjvmi_base64_values), load_table(bjvmi_base64_values + 64)};
  uint8x16x3_t bytes;
  for (; size >= 64; size -= 64, p += 64, out += 48) {
    uint8x16x4_t v = vld4q_u8(p);
    if (!to_bytes(v.val[0], v.val[1], v.val[2], v.val[3], &table, &bytes)) break;
    vst3q_u8(out, bytes);
  }
  if (size >= 32) { /* once more with low halves, twice the same */
    uint8x8x4_t v = vld4_u8(p);
    if (to_bytes(vcombine_u8(v.val[0], v.val[0]), vcombine_u8(v.val[1], v.val[1]),
                 vcombine_u8(v.val[2], v.val[2]), vcombine_u8(v.val[3], v.val[3]), &table, &bytes)) {
      uint8x8x3_t low = {{vget_low_u8(bytes.val[0]), vget_low_u8(bytes.val[1]), vget_low_u8(bytes.val[2])}};
      vst3_u8(out, low);
      size -= 32;
      p += 32;
      out += 24;
    }
  }
  return bjvmi_base64_decode_portable(out, (const char *)p, size, bad);
}

const bjvmi_kernels bjvmi_kernels_neon = {"neon", escape, scan, utf8, encode, decode, bjvmi_rows_read_neon};
#endif
