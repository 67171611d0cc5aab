/* Counts what the operations ask of malloc. The linker puts these in place of the C library's (--wrap) for all
 * that is linked statically; each thread has counts of its own, so that counting shares nothing. */
#include <stdlib.h>

#include "bench.h"

#ifdef BENCH_COUNTS_ALLOCATIONS
const bool bench_allocations_counted = true;

static _Thread_local bench_allocations counts;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static void count(size_t bytes) {
  counts.calls++;
  counts.bytes += bytes;
}

void *__wrap_malloc(size_t size) {
  count(size);
  return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size) {
  count(number * size);
  return __real_calloc(number, size);
}

void *__wrap_realloc(void *block, size_t size) {
  count(size);
  return __real_realloc(block, size);
}

bench_allocations bench_allocations_now(void) { return counts; }
#else
const bool bench_allocations_counted = false;

bench_allocations bench_allocations_now(void) { return (bench_allocations){0, 0}; }
#endif
