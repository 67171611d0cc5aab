/* Slices of time: long enough for the clock's grain and short enough to lie between two switches to other processes.
 * One in which the process was put aside says nothing about the operation and is taken again.
 */
#define _GNU_SOURCE
#include "slices.h"

#include <sys/resource.h>
#include <time.h>

enum {
  SLICE_NS = 200000, /* a scheduler gives a process some milliseconds */
  ATTEMPTS = 20,     /* at a slice, before it is taken as it is */
  LONG_NS = 20000000 /* a pass that is warm after two */
};

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long times_put_aside(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Negative: an operation has failed. */
static double time_once(bench_operation *operation, void *state, size_t first, size_t count, size_t repeats) {
  bool ok = true;
  double start = now_ns();
  for (size_t i = 0; i < repeats; i++) ok &= operation(state, first, count);
  double elapsed = now_ns() - start;
  return ok ? elapsed : -1;
}

static double time_slice(bench_operation *operation, void *state, size_t first, size_t count, size_t repeats,
                         size_t *retaken) {
  double elapsed = 0;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    long before = times_put_aside();
    elapsed = time_once(operation, state, first, count, repeats);
    if (elapsed < 0 || times_put_aside() == before) break;
    ++*retaken;
  }
  return elapsed;
}

double bench_slices_time(bench_operation *operation, void *state, size_t count, const bench_slices *slices,
                         size_t *retaken) {
  double elapsed = 0;
  for (size_t pass = 0; pass < slices->passes; pass++) {
    for (size_t first = 0; first < count; first += slices->messages) {
      size_t messages = first + slices->messages < count ? slices->messages : count - first;
      double slice = time_slice(operation, state, first, messages, slices->repeats, retaken);
      if (slice < 0) return -1;
      elapsed += slice;
    }
  }
  return elapsed / (double)(count * slices->passes * slices->repeats);
}

bench_slices bench_slices_cut(bench_operation *operation, void *state, size_t count, double batch_ns) {
  double pass = time_once(operation, state, 0, count, 1);
  for (int i = pass < LONG_NS ? 0 : 2; i < 3; i++) {
    double again = time_once(operation, state, 0, count, 1);
    if (again < pass) pass = again;
  }
  bench_slices s = {.messages = count, .repeats = 1};
  if (pass < 0) return s;
  if (pass < SLICE_NS) s.repeats = (size_t)(SLICE_NS / pass) + 1;
  else s.messages = (size_t)((double)count * SLICE_NS / pass) + 1;
  s.passes = (size_t)(batch_ns / (pass * (double)s.repeats)) + 1;
  return s;
}
