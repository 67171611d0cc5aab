/* The mini section: one mini descriptor after the other, in the order of the records they belong to.
 *
 * Private to bjvm. verify_mini.c checks them, tables.c builds mini tables from them, dump.c lists them.
 */
#ifndef BJVM_MINI_H_
#define BJVM_MINI_H_

#include "plan.h"

enum {
  BJVMI_MINI_LENGTH_MAX = 4, /* bytes of a length: 28 bits */
  /* Fields of a message with a mini descriptor. A message holds 65535 bytes, so that no table can have more;
   * and upb counts them with 16 bits, some values of which have a meaning of their own. */
  BJVMI_MINI_FIELDS_MAX = 65000,
};

/* A walk through the section. Start at its two ends. */
typedef struct bjvmi_mini_walk {
  const uint8_t *at;
  const uint8_t *end;
} bjvmi_mini_walk;

typedef struct bjvmi_mini {
  const char *data;
  uint32_t size;
} bjvmi_mini;

static inline bjvmi_mini_walk bjvmi_mini_begin(const bjvm_image *image) {
  return (bjvmi_mini_walk){image->mini, image->mini + image->mini_size};
}

/* The next mini descriptor. False: there is none, or its length is not well-formed; then `at` stands before
 * it. */
static inline bool bjvmi_mini_next(bjvmi_mini_walk *walk, bjvmi_mini *mini) {
  const uint8_t *p = walk->at;
  uint32_t size = 0;
  for (unsigned i = 0; i < BJVMI_MINI_LENGTH_MAX && p < walk->end; i++) {
    uint8_t b = *p++;
    size |= (uint32_t)(b & 0x7f) << (7 * i);
    if (b & 0x80) continue;
    if ((b == 0 && i > 0) || size > (size_t)(walk->end - p)) return false;
    *mini = (bjvmi_mini){(const char *)p, size};
    walk->at = p + size;
    return true;
  }
  return false;
}

#endif /* BJVM_MINI_H_ */
