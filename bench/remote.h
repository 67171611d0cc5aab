/* What the benchmark and a peer in a process of its own say to each other, over the peer's standard input and output.
 *
 * The benchmark sends a request and what it announces; the peer does it and sends a reply and what that announces.
 * Both run on one machine: numbers are as they lie in memory. The peer ends when its input does.
 */
#ifndef BJVM_BENCH_REMOTE_H_
#define BJVM_BENCH_REMOTE_H_

#include "slices.h"

typedef enum remote_command {
  /* Bytes: the name of the message type and a zero byte. `number`: messages of the pool, which follow: for each a
   * size_t and the binary text, a size_t and the JSON. */
  REMOTE_OPEN,
  /* `number`: of a message. Replies with its JSON. */
  REMOTE_ENCODE,
  /* Bytes: JSON. Replies with the message in binary. */
  REMOTE_DECODE,
  REMOTE_CUT,  /* `batch_ns`, `decode`. Replies with `slices`. */
  REMOTE_TIME, /* `slices`, `decode`. Replies with `ns` and `retaken`. */
} remote_command;

typedef struct remote_request {
  remote_command command;
  bool decode; /* of what is timed */
  size_t number;
  size_t bytes; /* that follow */
  double batch_ns;
  bench_slices slices;
} remote_request;

typedef struct remote_reply {
  bool ok;
  double ns; /* a message */
  size_t retaken;
  size_t bytes; /* that follow */
  bench_slices slices;
} remote_reply;

#endif /* BJVM_BENCH_REMOTE_H_ */
