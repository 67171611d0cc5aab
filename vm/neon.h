/* NEON for AArch64 in a few words: 16 bytes, and a mask of four bits for each of them.
 *
 * Private to string_neon.c, string_unescape.c and short_string.h. Empty where kernels.h does not say
 * BJVMI_HAVE_NEON. NEON has nothing like SSE2's movemask; narrowing 16-bit lanes by a shift of four leaves
 * half of each byte, in order, in 64 bits.
 * Source: Arm, "Porting x86 vector bitmask optimizations to Arm NEON" (2022).
 */
#ifndef BJVM_NEON_H_
#define BJVM_NEON_H_

#include "kernels.h"

#ifdef BJVMI_HAVE_NEON
#include <arm_neon.h>

static inline uint8x16_t bjvmi_neon_load(const void *p) { return vld1q_u8((const uint8_t *)p); }
static inline void bjvmi_neon_store(void *p, uint8x16_t v) { vst1q_u8((uint8_t *)p, v); }

/* The four bits of byte i of [hit], a comparison's result: 0 or 15 at bit 4 * i. */
static inline uint64_t bjvmi_neon_mask(uint8x16_t hit) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);
}

/* The first byte of a mask that is not 0. */
static inline unsigned bjvmi_neon_first(uint64_t mask) { return (unsigned)__builtin_ctzll(mask) / 4; }

/* Not printable as it is in a JSON string: control, quote, backslash, and by the signed comparison all from
 * 0x80 on. */
static inline uint8x16_t bjvmi_neon_odd(uint8x16_t v) {
  uint8x16_t low = vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
  return vorrq_u8(low, vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')), vceqq_u8(v, vdupq_n_u8('\\'))));
}
#endif

#endif /* BJVM_NEON_H_ */
