/* How long operations take: whole passes over a case's messages, timed in slices. For a peer in a process of its own too,
 * which times itself. */
#ifndef BJVM_BENCH_SLICES_H_
#define BJVM_BENCH_SLICES_H_

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` operations in a row on the messages from number `first` on. False: one has failed. */
typedef bool bench_operation(void *state, size_t first, size_t count);

/* How passes are cut: slices of `messages`, each done `repeats` times over. */
typedef struct bench_slices {
  size_t messages, repeats;
  size_t passes; /* of a measurement, each of them `repeats` times; 0: takes no part */
} bench_slices;

/* So that a measurement takes at least `batch_ns`. Also warms what there is to warm. `passes` 0: an operation has
 * failed. */
bench_slices bench_slices_cut(bench_operation *operation, void *state, size_t count, double batch_ns);

/* One measurement: nanoseconds a message, negative if an operation has failed. *retaken grows by the slices that
 * were taken again because another process came between. */
double bench_slices_time(bench_operation *operation, void *state, size_t count, const bench_slices *slices,
                         size_t *retaken);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_BENCH_SLICES_H_ */
