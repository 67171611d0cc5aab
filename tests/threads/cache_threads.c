/* The plan cache under several threads: all get the same plans and print the same text, from a cache that
 * starts empty.
 *
 * A plain main program, for ThreadSanitizer (Criterion's processes do not go with it). Each round is a fresh
 * cache; every thread asks for all types, starting at another one, and prints a message that links nested
 * types, extensions, an Any and option variants, so that the threads meet while plans are made. Usage:
 * cache_threads [ROUNDS]
 */
#define _XOPEN_SOURCE 700 /* barriers */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "support.h"

enum {
  MAX_THREADS = 8,
  MAX_TYPES = 256,
};

/* P2 { ext_num 5; ext_msg { ext_num 7 } ext_du { seconds 1 } }, and Holder { any { v3.Mini { n 1 } } }. */
static const char p2_wire[] = "\xa0\x06\x05\xb2\x06\x03\xa0\x06\x07\xca\x06\x02\x08\x01";
static const char p2_text[] = "{\"[cases.v2.ext_num]\":5,\"[cases.v2.ext_msg]\":{\"[cases.v2.ext_num]\":7},"
                              "\"[cases.v2.ext_du]\":\"1s\"}";
static const char holder_wire[] = "\x0a\x19\x0a\x13"
                                  "x.com/cases.v3.Mini\x12\x02\x08\x01";
static const char holder_text[] = "{\"any\":{\"@type\":\"x.com/cases.v3.Mini\",\"n\":1}}";
/* T { sub { sub { mini { n: 1 } } } i64: 3 }; its text has no other name and no default that a variant
 * changes but int64. */
static const char t_wire[] = "\x18\x03\x8a\x01\x08\x8a\x01\x05\x92\x01\x02\x08\x01";
static const char t_text[] = "{\"i64\":\"3\",\"sub\":{\"sub\":{\"mini\":{\"n\":1}}}}";
static const char t_number_text[] = "{\"i64\":3,\"sub\":{\"sub\":{\"mini\":{\"n\":1}}}}";

typedef struct shared {
  const upb_DefPool *pool;
  bjvm_cache *cache;
  const upb_MessageDef *types[MAX_TYPES];
  size_t type_count;
  pthread_barrier_t start;
} shared;

typedef struct worker {
  shared *all;
  size_t index;
  const bjvm_plan *plans[MAX_TYPES];
  size_t failures;
} worker;

static void fail(worker *w, const char *what, const char *name) {
  fprintf(stderr, "thread %zu: %s: %s\n", w->index, what, name);
  w->failures++;
}

static void print(worker *w, const char *type, const char *wire, size_t size, uint32_t flags,
                  const char *expected) {
  shared *all = w->all;
  upb_Arena *arena = upb_Arena_New();
  const upb_MessageDef *def = test_find_message(all->pool, type);
  const upb_Message *msg = test_parse(all->pool, def, wire, size, arena);
  bjvm_encode_options options = {
      .size = sizeof options, .flags = flags, .registry = bjvm_cache_registry(all->cache), .scratch = arena};
  bjvm_output out = bjvm_output_heap();
  bjvm_error error = {0};
  const bjvm_plan *plan = bjvm_cache_find(all->cache, type, strlen(type), NULL);
  if (!plan || !msg || bjvm_encode(plan, msg, &options, &out, &error) != BJVM_OK) {
    fail(w, error.message, type);
  } else if (out.size != strlen(expected) || memcmp(out.data, expected, out.size) != 0) {
    fail(w, "another text", type);
  }
  bjvm_output_free(&out);
  upb_Arena_Free(arena);
}

static void print_all(worker *w) {
  print(w, "cases.v2.P2", p2_wire, sizeof p2_wire - 1, 0, p2_text);
  print(w, "cases.v2.P2", p2_wire, sizeof p2_wire - 1, BJVM_ENCODE_ASCII, p2_text);
  print(w, "cases.v2.Holder", holder_wire, sizeof holder_wire - 1, 0, holder_text);
  print(w, "cases.v2.Holder", holder_wire, sizeof holder_wire - 1, BJVM_ENCODE_PROTO_NAMES, holder_text);
  print(w, "cases.v3.T", t_wire, sizeof t_wire - 1, 0, t_text);
  print(w, "cases.v3.T", t_wire, sizeof t_wire - 1, BJVM_ENCODE_INT64_AS_NUMBERS, t_number_text);
}

static void *run(void *context) {
  worker *w = (worker *)context;
  shared *all = w->all;
  pthread_barrier_wait(&all->start);
  if (w->index % 2) print_all(w);
  for (size_t i = 0; i < all->type_count; i++) {
    size_t k = (i + w->index * 7) % all->type_count;
    w->plans[k] = bjvm_cache_get(all->cache, all->types[k], NULL);
    if (!w->plans[k] || !bjvm_cache_has(all->cache, all->types[k])) {
      fail(w, "no plan", upb_MessageDef_FullName(all->types[k]));
    }
  }
  print_all(w);
  return NULL;
}

static void collect(shared *all, const upb_MessageDef *message) {
  if (upb_MessageDef_IsMapEntry(message) || all->type_count == MAX_TYPES) return;
  all->types[all->type_count++] = message;
  for (int i = 0; i < upb_MessageDef_NestedMessageCount(message); i++) {
    collect(all, upb_MessageDef_NestedMessage(message, i));
  }
}

static void collect_files(shared *all) {
  static const char *const anchors[] = {"cases.v3.T", "cases.v2.P2", "google.protobuf.Struct"};
  for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++) {
    const upb_FileDef *file = upb_MessageDef_File(test_find_message(all->pool, anchors[i]));
    for (int k = 0; k < upb_FileDef_TopLevelMessageCount(file); k++) {
      collect(all, upb_FileDef_TopLevelMessage(file, k));
    }
  }
}

static size_t run_round(shared *all, size_t threads) {
  static worker workers[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  size_t failures = 0;
  all->cache = bjvm_cache_new(all->pool);
  pthread_barrier_init(&all->start, NULL, (unsigned)threads);
  for (size_t i = 0; i < threads; i++) {
    workers[i] = (worker){.all = all, .index = i};
    if (pthread_create(&ids[i], NULL, run, &workers[i]) != 0) exit(2);
  }
  for (size_t i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (size_t i = 0; i < threads; i++) {
    if (memcmp(workers[i].plans, workers[0].plans, sizeof workers[0].plans) != 0)
      fail(&workers[i], "other plans", "");
    failures += workers[i].failures;
  }
  pthread_barrier_destroy(&all->start);
  bjvm_cache_free(all->cache);
  return failures;
}

int main(int argc, char **argv) {
  static shared all;
  char path[1024];
  int rounds = argc > 1 ? atoi(argv[1]) : 30;
  const char *folder = getenv("BJVM_TESTS_DIR");
  snprintf(path, sizeof path, "%s/cases/cases.binpb", folder ? folder : "tests");
  upb_DefPool *pool = test_pool_load(path);
  all.pool = pool;
  collect_files(&all);
  size_t failures = 0;
  for (int i = 0; i < rounds && !failures; i++) {
    failures += run_round(&all, 2 + (size_t)i % (MAX_THREADS - 1));
  }
  upb_DefPool_Free(pool);
  printf("%d rounds, %zu types, %zu failures\n", rounds, all.type_count, failures);
  return failures != 0;
}
