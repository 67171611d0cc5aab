/* Memory that ends where a page without access begins, so that one byte too far crashes the test. */
#ifndef BJVM_TESTS_GUARD_H_
#define BJVM_TESTS_GUARD_H_

#ifndef _DEFAULT_SOURCE
#error "define _DEFAULT_SOURCE before the first header, for MAP_ANONYMOUS"
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The end of at least `size` bytes of memory; lives as long as the process. */
static inline char *guard_end(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
  char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE) != 0) abort();
  return p + room;
}

/* Repeatable random numbers (an xorshift, Marsaglia 2003). */
static inline uint32_t guard_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state >> 16);
}

#endif /* BJVM_TESTS_GUARD_H_ */
