/* What the fuzz targets share: the schema of the case tables, a plan for each of its types, and how a target says that a
 * promise was broken.
 *
 * An input of decode_fuzz and encode_fuzz starts with FUZZ_HEAD bytes that choose type, options and limits; what follows
 * is the text or the binary message. seeds/make_seeds.py writes the same.
 */
#ifndef BJVM_TESTS_FUZZ_H_
#define BJVM_TESTS_FUZZ_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "support.h"
#include "upb/reflection/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The types an input can choose, by index. New ones go at the end: seeds name them by number. */
static const char *const fuzz_types[] = {
    "cases.v3.T",          "cases.v3.Rep",           "cases.v3.Opt",      "cases.v3.One",
    "cases.v3.Maps",       "cases.v3.Wkt",           "cases.v3.WktRep",   "cases.v3.Names",
    "cases.v3.Words",      "cases.v3.Look",          "cases.v3.Rec",      "cases.v3.Order",
    "cases.v3.Small",      "cases.v3.Lots",          "cases.v3.HasDense", "cases.v2.P2",
    "cases.v2.Need",       "cases.v2.Other",         "cases.v2.Swap",     "cases.v2.Holder",
    "cases.ed.Ed",         "cases.ed.Must",          "cases.v3.Mini",     "cases.v3.Quiet",
    "google.protobuf.Any", "google.protobuf.Struct",
};

enum {
  FUZZ_TYPES = sizeof fuzz_types / sizeof fuzz_types[0],
  FUZZ_HEAD = 4,        /* type, decode flags, encode flags low, limits */
  FUZZ_DEPTH = 100,     /* of every call */
  FUZZ_BLOCK = 1 << 14, /* of memory, for runs that must get by with less */
};

typedef struct fuzz_world {
  upb_DefPool *pool;
  bjvm_cache *cache;
  const bjvm_plan *plans[FUZZ_TYPES];
  const upb_MessageDef *defs[FUZZ_TYPES];
} fuzz_world;

/* Prints the broken promise and ends the program, which both libFuzzer and the replay take for a failure. */
#define FUZZ_CHECK(ok, ...)                                                                                  \
  do {                                                                                                       \
    if (!(ok)) {                                                                                             \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #ok);                                               \
      fprintf(stderr, __VA_ARGS__);                                                                          \
      fprintf(stderr, "\n");                                                                                 \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

/* Made at the first call and kept. */
static inline const fuzz_world *fuzz_open(void) {
  static fuzz_world w;
  if (w.pool != NULL) return &w;
  w.pool = test_pool_load(BJVM_FUZZ_SET);
  w.cache = bjvm_cache_new(w.pool);
  for (size_t i = 0; i < FUZZ_TYPES; i++) {
    bjvm_error error = {.code = BJVM_OK};
    w.defs[i] = test_find_message(w.pool, fuzz_types[i]);
    w.plans[i] = bjvm_cache_get(w.cache, w.defs[i], &error);
    FUZZ_CHECK(w.plans[i] != NULL, "%s: %s", fuzz_types[i], error.message);
  }
  return &w;
}

static inline upb_Message *fuzz_new(const bjvm_plan *plan, upb_Arena *arena) {
  upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
  FUZZ_CHECK(msg != NULL, "no memory for a message");
  return msg;
}

/* A copy in a block of exactly this size plus `padding` zero bytes, so that a checker sees a read past its end. */
static inline char *fuzz_copy(const void *data, size_t size, size_t padding) {
  char *copy = (char *)malloc(size + padding > 0 ? size + padding : 1);
  FUZZ_CHECK(copy != NULL, "no memory for a copy");
  if (size > 0) memcpy(copy, data, size);
  memset(copy + size, 0, padding);
  return copy;
}

static inline bool fuzz_has(const bjvm_output *text, const char *part) {
  size_t size = strlen(part);
  for (size_t i = 0; i + size <= text->size; i++)
    if (memcmp(text->data + i, part, size) == 0) return true;
  return false;
}

/* Whether the text may be read as another message than it was printed from, rightly: with .proto names the two fields
 * of cases.v2.Swap have each other's, a NullValue field is null whatever its number, and in an Any a field of the name
 * @type stands beside the type. */
static inline bool fuzz_ambiguous(const bjvm_output *text) {
  if (fuzz_has(text, "\"swap_") || fuzz_has(text, ",\"@type\":")) return true;
  return fuzz_has(text, "null") &&
         (fuzz_has(text, "nil\"") || fuzz_has(text, "Nil\"") || fuzz_has(text, "\"pn\""));
}

/* What every report must be, whatever the failure. */
static inline void fuzz_check_report(bjvm_status status, const bjvm_error *error, size_t size) {
  FUZZ_CHECK(status == error->code, "returned %d, reported %d", (int)status, (int)error->code);
  FUZZ_CHECK(status == BJVM_OK || error->message[0] != 0, "%s without a sentence", bjvm_status_name(status));
  FUZZ_CHECK(memchr(error->message, 0, sizeof error->message) != NULL, "a sentence without an end");
  FUZZ_CHECK(memchr(error->path, 0, sizeof error->path) != NULL, "a path without an end");
  FUZZ_CHECK(error->offset <= size, "offset %zu in %zu bytes", error->offset, size);
}

#endif /* BJVM_TESTS_FUZZ_H_ */
