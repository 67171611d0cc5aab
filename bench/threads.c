/* One plan shared by threads: how much more they do together than one alone.
 *
 * Each thread has its own memory and call state and a cpu of its own, as far as there are enough; plan,
 * messages and texts are shared. Rounds of one thread and rounds of all take turns, and the ratio is formed
 * within a round. Wall time is what users get, but it also tells of whatever else the machine does; the time
 * the threads have been running does not, and shows alone what sharing costs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

enum { ROUND_NS = 20000000 /* of one thread: short enough for some rounds to be left alone by others */ };

typedef struct worker {
  pthread_t id;
  pthread_barrier_t *start;
  int cpu; /* -1: wherever */
  bench_memory memory;
  void *state;
  bool (*operation)(void *state, size_t first, size_t count);
  size_t messages, passes;
  double begin_ns, end_ns, running_ns;
  bool ok;
} worker;

typedef struct times {
  double wall_ns, running_ns; /* a pass of one thread; running: the mean of the threads */
} times;

static double clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void move_to(int cpu) {
  cpu_set_t set;
  if (cpu < 0) return;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
    fprintf(stderr, "bench: a thread is not pinned to cpu %d\n", cpu);
}

static void *work(void *opaque) {
  worker *w = opaque;
  move_to(w->cpu);
  pthread_barrier_wait(w->start);
  double running = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  w->begin_ns = clock_ns(CLOCK_MONOTONIC);
  w->ok = true;
  for (size_t i = 0; i < w->passes; i++) w->ok &= w->operation(w->state, 0, w->messages);
  w->end_ns = clock_ns(CLOCK_MONOTONIC);
  w->running_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - running;
  return NULL;
}

/* The first `count` workers at the same time. */
static times run_together(worker *workers, int count) {
  pthread_barrier_t start;
  if (pthread_barrier_init(&start, NULL, (unsigned)count) != 0) bench_die("no barrier", "threads");
  for (int i = 0; i < count; i++) {
    workers[i].start = &start;
    if (pthread_create(&workers[i].id, NULL, work, &workers[i]) != 0) bench_die("no thread", "threads");
  }
  double begin = 0, end = 0, running = 0;
  for (int i = 0; i < count; i++) {
    pthread_join(workers[i].id, NULL);
    if (!workers[i].ok) bench_die("an operation failed", "threads");
    if (i == 0 || workers[i].begin_ns < begin) begin = workers[i].begin_ns;
    if (i == 0 || workers[i].end_ns > end) end = workers[i].end_ns;
    running += workers[i].running_ns;
  }
  pthread_barrier_destroy(&start);
  double passes = (double)workers->passes;
  return (times){(end - begin) / passes, running / count / passes};
}

/* The cpus this process may use, in turn. */
static void give_cpus(worker *workers, int count) {
  cpu_set_t set;
  int cpu = -1;
  bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  for (int i = 0; i < count; i++) {
    workers[i].cpu = -1;
    for (int tries = 0; known && tries < CPU_SETSIZE && workers[i].cpu < 0; tries++) {
      cpu = (cpu + 1) % CPU_SETSIZE;
      if (CPU_ISSET((size_t)cpu, &set)) workers[i].cpu = cpu;
    }
  }
}

static worker *open_workers(bench_case *bcase, bench_direction direction, int count, bjvm_cache *cache) {
  worker *workers = calloc((size_t)count, sizeof *workers);
  if (workers == NULL) bench_die("out of memory", "threads");
  for (int i = 0; i < count; i++) {
    worker *w = &workers[i];
    bench_memory_make(&w->memory);
    w->state = bench_bjvm.open(bcase, &w->memory, cache);
    if (w->state == NULL) bench_die("cannot be opened", bcase->name);
    w->operation = direction == BENCH_ENCODE ? bench_bjvm.encode : bench_bjvm.decode;
    w->messages = bcase->count;
    w->passes = 1;
  }
  give_cpus(workers, count);
  return workers;
}

static void choose_passes(worker *workers, int count) {
  run_together(workers, count); /* warms all of them */
  double pass = run_together(workers, 1).wall_ns;
  for (int i = 0; i < count; i++) workers[i].passes = (size_t)(ROUND_NS / pass) + 1;
}

static void print_ratio(const char *what, double *values, int rounds) {
  bench_sort(values, rounds);
  printf("| %-34s | %6.2f | %6.2f %6.2f | %6.2f |\n", what, bench_quantile(values, rounds, 0.5),
         bench_quantile(values, rounds, 0.25), bench_quantile(values, rounds, 0.75), values[rounds - 1]);
}

static void report(worker *workers, int threads, int rounds) {
  double *wall = calloc((size_t)rounds * 3, sizeof *wall);
  if (wall == NULL) bench_die("out of memory", "threads");
  double *running = wall + rounds, *share = running + rounds;
  double best = 0;
  for (int i = 0; i < rounds; i++) {
    times one = run_together(workers, 1), all = run_together(workers, threads);
    if (i == 0 || one.running_ns < best) best = one.running_ns;
    wall[i] = threads * one.wall_ns / all.wall_ns;
    running[i] = threads * one.running_ns / all.running_ns;
    share[i] = threads * all.running_ns / all.wall_ns;
  }
  printf("one thread: %.1f ns a message at best\n\n", best / (double)workers->messages);
  printf("| %-34s | median | quartiles     |   best |\n", "throughput, all by one");
  printf("| :--------------------------------- | -----: | ------------: | -----: |\n");
  print_ratio("wall time", wall, rounds);
  print_ratio("time the threads were running", running, rounds);
  print_ratio("cpus they had between them", share, rounds);
  if (bench_quantile(share, rounds, 0.5) < 0.95 * threads)
    printf("\nThe machine gave the threads less than a cpu each: only the time they were running tells of "
           "sharing.\n");
  free(wall);
}

void bench_threads(bench_case *bcase, bench_direction direction, int threads, int rounds, bjvm_cache *cache) {
  worker *workers = open_workers(bcase, direction, threads, cache);
  printf("%s %s: %d threads, one plan, %zu messages, %d rounds\n", bcase->name,
         direction == BENCH_ENCODE ? "encode" : "decode", threads, bcase->count, rounds);
  choose_passes(workers, threads);
  report(workers, threads, rounds);
  for (int i = 0; i < threads; i++) {
    bench_bjvm.close(workers[i].state);
    bench_memory_free(&workers[i].memory);
  }
  free(workers);
}
