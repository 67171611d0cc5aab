/* How upb hashes the keys of maps, as far as that is known.
 *
 * Private to bjvm. Neither hash is public: that of an integer joins its halves, that of a string is _upb_Hash
 * with a seed that is the address of a variable inside upb. Both are guessed when an image is bound and the
 * guess is tried out on upb's own look-up (upb_map.h); where it does not hold, decode_map.c fills maps by the
 * public call.
 */
#ifndef BJVM_MAP_HASHING_H_
#define BJVM_MAP_HASHING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct bjvmi_map_hashing {
  uint64_t seed;     /* of the hash of strings */
  uint64_t state;    /* what bjvmi_map_hash_words starts from */
  uint64_t constant; /* and mixes in */
  bool strings;      /* the guess holds for maps whose keys are strings */
  bool integers;     /* and for those whose keys are integers that fit a pointer */
  bool words;        /* bjvmi_map_hash_words gives the hash of short strings */
} bjvmi_map_hashing;

#if defined(__SIZEOF_INT128__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BJVMI_MAP_HASH_WORDS 1
#else
#define BJVMI_MAP_HASH_WORDS 0
#endif

enum {
  BJVMI_MAP_WORDS_MIN = 4,
  BJVMI_MAP_WORDS_MAX = 16
}; /* bytes of a string that bjvmi_map_hash_words takes */

#if BJVMI_MAP_HASH_WORDS
/* The two halves of a product of 128 bits, joined. */
static inline uint64_t bjvmi_map_mix(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 wide;
  wide product = (wide)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash of a string of 4 to 16 bytes, without a branch: the lengths of keys are random, and upb's own (wyhash, by Wang
 * Yi, in the form that Abseil has for hash tables) chooses its loads by them. These are the first and the last 8 bytes, or
 * 4 of a string of up to 8; here both are put together from words of 4 bytes. */
static inline uint32_t bjvmi_map_hash_words(const bjvmi_map_hashing *h, const char *p, size_t size) {
  bool more = size > 8;
  size_t step = (size_t)more * 4;
  uint64_t mask = (uint64_t)0 - more;
  const char *last = p + size - 4;
  uint32_t first[2];
  uint32_t end[2];
  memcpy(&first[0], p, 4);
  memcpy(&first[1], p + step, 4);
  memcpy(&end[0], last - step, 4);
  memcpy(&end[1], last, 4);
  uint64_t a = first[0] | ((uint64_t)first[1] << 32 & mask);
  uint64_t b = (uint64_t)end[1] << 8 * step | (end[0] & mask);
  uint64_t w = bjvmi_map_mix(a ^ h->constant, b ^ h->state);
  return (uint32_t)bjvmi_map_mix(w, h->constant ^ size);
}
#endif

#endif /* BJVM_MAP_HASHING_H_ */
