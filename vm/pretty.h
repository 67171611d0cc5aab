/* The formatter behind BJVM_ENCODE_PRETTY: compact JSON in, one member a line out.
 *
 * Private to bjvm. It stands between the staging block and the output, so that the loop never asks about
 * layout.
 */
#ifndef BJVM_PRETTY_H_
#define BJVM_PRETTY_H_

#include "encode.h"

typedef struct bjvmi_pretty {
  uint32_t indent;
  size_t depth;
  bool in_string;
  bool escaped;    /* the last byte was a backslash in a string */
  bool after_open; /* the last byte opened an object or array */
  size_t used;     /* of `block`, which gathers small pieces */
  char block[256];
} bjvmi_pretty;

/* Formats the next piece of compact JSON, all of it. False when the output refused. */
bool bjvmi_pretty_put(bjvmi_encoder *vm, const char *data, size_t size);

#endif /* BJVM_PRETTY_H_ */
