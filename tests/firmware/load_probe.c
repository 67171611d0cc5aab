/* What it costs to come from a plan file in flash to bound plans: the node's, in a const array, with its own mini tables.
 *
 * Prints one line for each step: the time (the least of many), and the bytes of the static block it took. With an argument,
 * each step is done once and nothing is printed: for a profiler that counts inside of the four functions.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bjvm/codec.h"

#include PLAN_HEADER

enum { STEPS = 3, TIMES = 2000, BLOCK_SIZE = 16 * 1024, PAINT = 0xa5 };

static const char *const names[STEPS] = {"load and verify", "mini tables", "bind all types"};
static _Alignas(16) unsigned char block[BLOCK_SIZE];

/* What the steps leave to one another. */
typedef struct opened {
  const bjvm_image *image;
  const bjvm_tables *tables;
  bjvm_registry registry;
} opened;

static bjvm_status step(int which, opened *o, upb_Arena *arena) {
  switch (which) {
    case 0: return bjvm_image_load(node_plan, sizeof node_plan, arena, &o->image, NULL);
    case 1: return bjvm_image_build_tables(o->image, arena, &o->tables, NULL);
    default: return bjvm_tables_registry(o->tables, 0, arena, &o->registry, NULL);
  }
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Bytes of the block that have been written to in front of the arena's own, which lie at its end. */
static size_t painted_over(void) {
  size_t used = BLOCK_SIZE - 256;
  while (used > 0 && block[used - 1] == PAINT) used--;
  return used;
}

int main(int argc, char **argv) {
  static uint64_t least[STEPS];
  size_t taken[STEPS] = {0};
  (void)argv;
  for (int i = 0; i < (argc > 1 ? 1 : TIMES); i++) {
    if (i == 0) memset(block, PAINT, sizeof block);
    upb_Arena *arena = upb_Arena_Init(block, sizeof block, NULL);
    opened o;
    for (int k = 0; k < STEPS; k++) {
      uint64_t from = now();
      if (step(k, &o, arena) != BJVM_OK) return 1;
      uint64_t time = now() - from;
      if (i == 0 || time < least[k]) least[k] = time;
      if (i == 0) taken[k] = painted_over();
    }
    upb_Arena_Free(arena);
  }
  if (argc > 1) return 0;
  for (int k = 0; k < STEPS; k++)
    printf("%-16s %8llu ns %6zu bytes\n", names[k], (unsigned long long)least[k],
           taken[k] - (k ? taken[k - 1] : 0));
  return 0;
}
