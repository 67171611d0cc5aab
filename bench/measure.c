/* Timing: wall time of whole passes over the messages, peers taking turns in random order.
 *
 * Each round measures every peer once, and ratios are formed within a round: what slows the machine for
 * longer than a round slows both sides. All peers do the same messages in the same order. A measurement is as
 * many passes as make up batch_ns, timed in slices long enough for the clock's grain and short enough to lie
 * between two switches to other processes; a slice in which the process was put aside says nothing about the
 * peer and is taken again. Medians and quartiles keep out what remains.
 */
#include <stdint.h>
#include <stdlib.h>

#include "bench.h"

/* -- Numbers -------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void bench_sort(double *values, int n) { qsort(values, (size_t)n, sizeof *values, compare); }

double bench_quantile(const double *sorted, int n, double q) {
  double at = q * (n - 1);
  int below = (int)at;
  int above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/* The quantile of a[i] / b[i]. */
static double ratio_quantile(const double *a, const double *b, int n, double q, double *work) {
  for (int i = 0; i < n; i++) work[i] = a[i] / b[i];
  bench_sort(work, n);
  return bench_quantile(work, n, q);
}

/* -- One case ------------------------------------------------------------------------------------------- */

typedef struct timing {
  const bench_run *run;
  bench_direction direction;
  bench_slices slices[BENCH_PEERS]; /* no passes: takes no part */
  double *samples[BENCH_PEERS];
  size_t retaken;
} timing;

static bench_operation *operation_of(const timing *t, size_t peer) {
  return t->direction == BENCH_ENCODE ? bench_peers[peer]->encode : bench_peers[peer]->decode;
}

/* One measurement: nanoseconds a message. */
static double time_passes(timing *t, size_t peer) {
  const bench_peer *p = bench_peers[peer];
  void *state = t->run->states[peer];
  const bench_slices *slices = &t->slices[peer];
  double ns =
      p->time ? p->time(state, t->direction, slices, &t->retaken)
              : bench_slices_time(operation_of(t, peer), state, t->run->bcase->count, slices, &t->retaken);
  if (ns < 0) bench_die("an operation failed while being timed", p->name);
  return ns;
}

static bench_slices cut(const timing *t, size_t peer, double batch_ns) {
  const bench_peer *p = bench_peers[peer];
  void *state = t->run->states[peer];
  bench_slices slices = p->cut
                            ? p->cut(state, t->direction, batch_ns)
                            : bench_slices_cut(operation_of(t, peer), state, t->run->bcase->count, batch_ns);
  if (slices.passes == 0) bench_die("an operation failed", p->name);
  return slices;
}

static void shuffle(size_t *order, uint64_t *seed) {
  for (size_t i = BENCH_PEERS; i > 1; i--) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    size_t j = (size_t)(*seed >> 33) % i;
    size_t other = order[j];
    order[j] = order[i - 1];
    order[i - 1] = other;
  }
}

static void run_rounds(timing *t, int rounds) {
  size_t order[BENCH_PEERS];
  uint64_t seed = 1;
  for (size_t i = 0; i < BENCH_PEERS; i++) order[i] = i;
  for (int round = 0; round < rounds; round++) {
    shuffle(order, &seed);
    for (size_t i = 0; i < BENCH_PEERS; i++) {
      size_t p = order[i];
      if (t->slices[p].passes > 0) t->samples[p][round] = time_passes(t, p);
    }
  }
}

static void summarize_ratios(const timing *t, int rounds, double *work, bench_figure *figures) {
  const double *own = t->samples[0], *alias = NULL;
  for (size_t p = 0; p < BENCH_PEERS; p++)
    if (bench_peers[p] == &bench_bjvm_alias && t->slices[p].passes > 0) alias = t->samples[p];
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    if (t->slices[p].passes == 0) continue;
    figures[p].ratio = ratio_quantile(t->samples[p], own, rounds, 0.5, work);
    figures[p].q1 = ratio_quantile(t->samples[p], own, rounds, 0.25, work);
    figures[p].q3 = ratio_quantile(t->samples[p], own, rounds, 0.75, work);
    if (alias) figures[p].alias_ratio = ratio_quantile(t->samples[p], alias, rounds, 0.5, work);
  }
}

/* After the ratios: sorting takes the rounds out of step. */
static void summarize_times(timing *t, int rounds, bench_figure *figures) {
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    if (t->slices[p].passes == 0) continue;
    bench_sort(t->samples[p], rounds);
    figures[p].present = true;
    figures[p].min_ns = t->samples[p][0];
    figures[p].median_ns = bench_quantile(t->samples[p], rounds, 0.5);
  }
}

static void measure_direction(const bench_run *run, const bench_settings *settings, bench_direction direction,
                              bench_result *result) {
  bench_figure *figures = result->figures[direction];
  timing t = {.run = run, .direction = direction};
  int rounds = settings->rounds;
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    t.samples[p] = calloc((size_t)rounds, sizeof(double));
    if (t.samples[p] == NULL) bench_die("out of memory", run->bcase->name);
    bool takes_part = run->states[p] && (direction == BENCH_DECODE || bench_peers[p]->has_encode);
    if (takes_part) t.slices[p] = cut(&t, p, settings->batch_ns);
  }
  run_rounds(&t, rounds);
  double *work = calloc((size_t)rounds, sizeof(double));
  if (work == NULL) bench_die("out of memory", run->bcase->name);
  summarize_ratios(&t, rounds, work, figures);
  summarize_times(&t, rounds, figures);
  free(work);
  result->retaken += t.retaken;
  for (size_t p = 0; p < BENCH_PEERS; p++) free(t.samples[p]);
}

/* -- Memory --------------------------------------------------------------------------------------------- */

/* The mean of the bytes a decode takes from its arena: how far the next allocation has moved in a block that
 * holds all. */
static double arena_bytes(const bench_run *run, size_t peer) {
  const bench_case *bcase = run->bcase;
  const bench_text *texts = bench_peers[peer]->json ? bcase->json : bcase->binary;
  size_t total = 0;
  for (size_t i = 0; i < bcase->count; i++) {
    upb_Arena *arena = upb_Arena_Init(run->memory->arena, BENCH_BLOCK_SIZE, NULL);
    char *start = upb_Arena_Malloc(arena, 8);
    if (bench_peers[peer]->decode_one(run->states[peer], texts[i], arena) == NULL)
      bench_die("decoding failed", bench_peers[peer]->name);
    char *end = upb_Arena_Malloc(arena, 8);
    total += (size_t)(end - start) - 8;
  }
  return (double)total / (double)bcase->count;
}

/* After the timing: what is made lazily or grows once has been made. */
static void count_allocations(const bench_run *run, size_t peer, bench_direction direction,
                              bench_figure *figure) {
  const bench_peer *p = bench_peers[peer];
  figure->mallocs = figure->malloc_bytes = -1;
  if (!bench_allocations_counted || bench_peer_remote(p)) return;
  bench_allocations before = bench_allocations_now();
  if (!(direction == BENCH_ENCODE ? p->encode : p->decode)(run->states[peer], 0, run->bcase->count))
    bench_die("an operation failed", p->name);
  bench_allocations after = bench_allocations_now();
  figure->mallocs = (double)(after.calls - before.calls) / (double)run->bcase->count;
  figure->malloc_bytes = (double)(after.bytes - before.bytes) / (double)run->bcase->count;
}

static double mean_size(const bench_text *texts, size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) total += texts[i].size;
  return (double)total / (double)count;
}

void bench_measure(const bench_run *run, const bench_settings *settings, bench_result *result) {
  const bench_case *bcase = run->bcase;
  *result = (bench_result){.name = bcase->name, .messages = bcase->count};
  result->json_bytes = mean_size(bcase->json, bcase->count);
  result->binary_bytes = mean_size(bcase->binary, bcase->count);
  for (int d = 0; d < BENCH_DIRECTIONS; d++) measure_direction(run, settings, (bench_direction)d, result);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    for (int d = 0; d < BENCH_DIRECTIONS; d++) {
      bench_figure *f = &result->figures[d][p];
      if (f->present) count_allocations(run, p, (bench_direction)d, f);
    }
    bench_figure *f = &result->figures[BENCH_DECODE][p];
    if (f->present && bench_peers[p]->decode_one && !bench_peer_remote(bench_peers[p]))
      f->arena_bytes = arena_bytes(run, p);
  }
}

__attribute__((noinline)) bool bench_operations(const bench_run *run, size_t peer, bench_direction direction,
                                                size_t count) {
  const bench_peer *p = bench_peers[peer];
  bool (*operation)(void *, size_t, size_t) = direction == BENCH_ENCODE ? p->encode : p->decode;
  bool ok = true;
  for (size_t left = count; left > 0;) {
    size_t now = left < run->bcase->count ? left : run->bcase->count;
    ok &= operation(run->states[peer], 0, now);
    left -= now;
  }
  return ok;
}
