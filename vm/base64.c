/* Base64 in plain C: three bytes to four letters and back.
 *
 * string_avx2.c and string_neon.c hold wide forms that come here for the last bytes and for the place of an
 * error.
 * Kept: the encoder writes (size + 2) / 3 * 4 bytes and none beyond; the decoder reads a group before it
 * writes it, so it may work in place.
 * Source: RFC 4648 sections 4 and 5 (both alphabets), 3.2 (padding).
 */
#include "kernels_impl.h"

const char bjvmi_base64_letters[64] = {
    'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P',
    'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z', 'a', 'b', 'c', 'd', 'e', 'f',
    'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v',
    'w', 'x', 'y', 'z', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '/',
};

static char *encode_group(char *out, uint32_t bits) {
  out[0] = bjvmi_base64_letters[bits >> 18];
  out[1] = bjvmi_base64_letters[bits >> 12 & 63];
  out[2] = bjvmi_base64_letters[bits >> 6 & 63];
  out[3] = bjvmi_base64_letters[bits & 63];
  return out + 4;
}

char *bjvmi_base64_encode_portable(char *out, const uint8_t *p, size_t size) {
  for (; size >= 3; size -= 3, p += 3)
    out = encode_group(out, (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2]);
  if (size == 0) return out;
  out = encode_group(out, (uint32_t)p[0] << 16 | (size == 2 ? (uint32_t)p[1] << 8 : 0));
  out[-1] = '=';
  if (size == 1) out[-2] = '=';
  return out;
}

#define V BJVMI_BASE64_VALUE
#define ROW(c, v) [c] = V | (v)
const uint8_t bjvmi_base64_values[256] = {
    ROW('A', 0),  ROW('B', 1),  ROW('C', 2),  ROW('D', 3),  ROW('E', 4),  ROW('F', 5),  ROW('G', 6),
    ROW('H', 7),  ROW('I', 8),  ROW('J', 9),  ROW('K', 10), ROW('L', 11), ROW('M', 12), ROW('N', 13),
    ROW('O', 14), ROW('P', 15), ROW('Q', 16), ROW('R', 17), ROW('S', 18), ROW('T', 19), ROW('U', 20),
    ROW('V', 21), ROW('W', 22), ROW('X', 23), ROW('Y', 24), ROW('Z', 25), ROW('a', 26), ROW('b', 27),
    ROW('c', 28), ROW('d', 29), ROW('e', 30), ROW('f', 31), ROW('g', 32), ROW('h', 33), ROW('i', 34),
    ROW('j', 35), ROW('k', 36), ROW('l', 37), ROW('m', 38), ROW('n', 39), ROW('o', 40), ROW('p', 41),
    ROW('q', 42), ROW('r', 43), ROW('s', 44), ROW('t', 45), ROW('u', 46), ROW('v', 47), ROW('w', 48),
    ROW('x', 49), ROW('y', 50), ROW('z', 51), ROW('0', 52), ROW('1', 53), ROW('2', 54), ROW('3', 55),
    ROW('4', 56), ROW('5', 57), ROW('6', 58), ROW('7', 59), ROW('8', 60), ROW('9', 61), ROW('+', 62),
    ROW('-', 62), ROW('/', 63), ROW('_', 63),
};
#undef ROW

/* The place in the text after the last whole group where it stops being right, or NULL. `n` letters were read
 * up to p. That is the first byte no right text could have here, or `end` if more had to follow. */
static const char *check_padding(const char *p, const char *end, unsigned n) {
  unsigned missing = n == 0 ? 0 : 4 - n;
  if (p == end) return n == 1 ? p : NULL;
  if (n < 2) return p;
  for (; missing > 0; missing--, p++) {
    if (p == end || *p != '=') return p;
  }
  return p == end ? NULL : p;
}

uint8_t *bjvmi_base64_decode_portable(uint8_t *out, const char *text, size_t size, const char **bad) {
  const uint8_t *p = (const uint8_t *)text, *end = p + size;
  while (end - p >= 4) {
    uint32_t a = bjvmi_base64_values[p[0]], b = bjvmi_base64_values[p[1]], c = bjvmi_base64_values[p[2]],
             d = bjvmi_base64_values[p[3]];
    if (!(a & b & c & d & V)) break;
    uint32_t bits = (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);
    out[0] = (uint8_t)(bits >> 16);
    out[1] = (uint8_t)(bits >> 8);
    out[2] = (uint8_t)bits;
    out += 3;
    p += 4;
  }
  uint32_t bits = 0;
  unsigned n = 0;
  for (; p < end && bjvmi_base64_values[*p]; p++, n++)
    bits |= (uint32_t)(bjvmi_base64_values[*p] & 63) << (18 - 6 * n);
  const char *wrong = check_padding((const char *)p, (const char *)end, n);
  if (wrong) {
    *bad = wrong;
    return NULL;
  }
  if (n > 1) *out++ = (uint8_t)(bits >> 16);
  if (n > 2) *out++ = (uint8_t)(bits >> 8);
  return out;
}
