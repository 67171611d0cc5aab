/* What bench.c, check.c, measure.c and report.c share. */
#ifndef BJVM_BENCH_BENCH_H_
#define BJVM_BENCH_BENCH_H_

#include <stdio.h>

#include "peer.h"

enum { BENCH_MAX_CASES = 64 };

/* One peer on one case in one direction, nanoseconds a message. Ratios are the peer's time by bjvm's, round
 * by round. */
typedef struct bench_figure {
  bool present;
  double min_ns, median_ns;
  double ratio, q1, q3;         /* median and quartiles */
  double alias_ratio;           /* the median with bjvm_alias in place of bjvm; decode only */
  double arena_bytes;           /* taken from the arena by a decode; 0 where that is not known */
  double mallocs, malloc_bytes; /* an operation; negative: not counted in this build */
} bench_figure;

typedef struct bench_result {
  const char *name;
  size_t messages;
  double json_bytes, binary_bytes; /* means */
  size_t retaken;                  /* slices of time taken again because another process came between */
  bench_figure figures[BENCH_DIRECTIONS][BENCH_PEERS];
} bench_result;

/* Which peers take part. bjvm always does: ratios are to it. */
typedef struct bench_selection {
  bool peers[BENCH_PEERS];
} bench_selection;

/* An open case: a state for each peer that takes part (NULL: missing, or left out). */
typedef struct bench_run {
  bench_case *bcase;
  bench_memory *memory;
  bjvm_cache *cache;
  void *states[BENCH_PEERS];
} bench_run;

typedef struct bench_settings {
  int rounds;
  double batch_ns; /* the least time of one measurement */
  int cpu;         /* what the process is pinned to; -1: could not be */
  bool quick;
  char kernels[32]; /* that bjvm's plans run with */
} bench_settings;

/* The blocks of one thread. Both end the program on failure, as all functions here do. */
void bench_memory_make(bench_memory *memory);
void bench_memory_free(bench_memory *memory);

/* check.c: opens the peers selected on a case, makes the texts and checks every peer's output on every message. Ends
 * the program with status 1 when a check fails. */
void bench_run_open(bench_run *run, bench_case *bcase, bench_memory *memory, bjvm_cache *cache,
                    const bench_selection *selection);
void bench_run_check(const bench_run *run);
void bench_run_close(bench_run *run);

/* measure.c */
void bench_measure(const bench_run *run, const bench_settings *settings, bench_result *result);
/* `count` operations of one peer, over and over the messages: for profilers. False: one has failed. */
bool bench_operations(const bench_run *run, size_t peer, bench_direction direction, size_t count);

/* What quantile() and the like are made of: sorts `n` values; the one below which the share `q` of them
 * lies, interpolated. */
void bench_sort(double *values, int n);
double bench_quantile(const double *sorted, int n, double q);

/* allocations.c: calls of malloc, calloc and realloc by the calling thread so far, and the bytes asked for.
 * Only those of what is linked statically (bjvm, upb) are seen. */
typedef struct bench_allocations {
  size_t calls, bytes;
} bench_allocations;
extern const bool bench_allocations_counted; /* false: the linker cannot */
bench_allocations bench_allocations_now(void);

/* threads.c: prints how the throughput of bjvm grows from one thread to `threads`. */
void bench_threads(bench_case *bcase, bench_direction direction, int threads, int rounds, bjvm_cache *cache);

/* cold.c: prints what it costs to get to the first message. `type` NULL: the usual types. */
void bench_cold(const bench_schema *schema, const char *type, int rounds, bench_memory *memory);

/* report.c */
void bench_report_table(FILE *out, const bench_result *results, size_t count, const bench_settings *settings);
struct bench_variant_result;
/* `variant_count` 0: without the member `variants`. */
void bench_report_json(FILE *out, const bench_result *results, size_t count,
                       const struct bench_variant_result *variants, size_t variant_count,
                       const bench_settings *settings);

#endif /* BJVM_BENCH_BENCH_H_ */
