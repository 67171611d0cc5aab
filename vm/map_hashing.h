/* How upb hashes the keys of maps, as far as that is known.
 *
 * Private to bjvm. Neither hash is public: that of an integer joins its halves, that of a string is _upb_Hash
 * with a seed that is the address of a variable inside upb. Both are guessed when an image is bound and the
 * guess is tried out on upb's own look-up (upb_layout.h); where it does not hold, decode_map.c fills maps by the
 * public call.
 */
#ifndef BJVM_MAP_HASHING_H_
#define BJVM_MAP_HASHING_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct bjvmi_map_hashing {
  uint64_t seed; /* of the hash of strings */
  bool strings;  /* the guess holds for maps whose keys are strings */
  bool integers; /* and for those whose keys are integers that fit a pointer */
} bjvmi_map_hashing;

#endif /* BJVM_MAP_HASHING_H_ */
