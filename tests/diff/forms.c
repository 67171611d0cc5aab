/* What this build makes of the same inputs, as fingerprints: random messages of every test schema printed under several options,
 * read back and written as binary, and the descriptors as one large document.
 *
 *   forms CASES.binpb DESCRIPTORS.binpb [COUNT]
 *
 * tests/run.sh compares the output of all builds: dispatch forms, kernel forms and compilers must not differ by a byte. The last line names
 * the form and is left out of the comparison.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "diff/random_message.h"
#include "support.h"
#include "upb/wire/encode.h"

static const char *const type_names[] = {
    "cases.v3.T",     "cases.v3.Rep",    "cases.v3.Opt",      "cases.v3.One",   "cases.v3.Maps",
    "cases.v3.Wkt",   "cases.v3.WktRep", "cases.v3.Rec",      "cases.v3.Names", "cases.v3.Small",
    "cases.v3.Order", "cases.v3.Lots",   "cases.v3.HasDense", "cases.v2.P2",    "cases.ed.Ed",
    "cases.v3.Look",  "cases.v3.Words",  "cases.v3.Dep",      "cases.v2.Need",  "cases.v2.Holder",
    "cases.ed.Must",
};

static const uint32_t flag_sets[] = {
    0,
    BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_EMIT_DEFAULTS,
    BJVM_ENCODE_ENUMS_AS_INTS | BJVM_ENCODE_INT64_AS_NUMBERS,
    BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE | BJVM_ENCODE_PRETTY,
};
enum { FLAG_SETS = sizeof flag_sets / sizeof flag_sets[0], DEFAULT_COUNT = 10000 };

/* FNV-1a. */
static void add(uint64_t *h, const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) *h = (*h ^ (uint8_t)p[i]) * 0x100000001b3u;
}

static void fail(const char *what, const char *type, const bjvm_error *e) {
  printf("%s of %s: %s at %zu, path '%s'\n", what, type, e->message, e->offset, e->path);
  exit(1);
}

/* Prints `msg` under every set of options and reads the first text back; adds all of it to *h. */
static void add_message(bjvm_cache *cache, const upb_MessageDef *def, const upb_Message *msg,
                        upb_Arena *arena, uint64_t *h) {
  bjvm_error e;
  const bjvm_plan *plan = bjvm_cache_get(cache, def, &e);
  const char *type = upb_MessageDef_FullName(def);
  if (!plan) fail("plan", type, &e);
  bjvm_output first = bjvm_output_arena(arena);
  for (size_t i = 0; i < FLAG_SETS; i++) {
    bjvm_output out = bjvm_output_arena(arena);
    /* Sorted always: upb's hash order differs from process to process. */
    bjvm_encode_options o = {
        .size = sizeof o, .flags = flag_sets[i] | BJVM_ENCODE_SORT_MAP_KEYS, .scratch = arena};
    o.registry = bjvm_cache_registry(cache);
    if (bjvm_encode(plan, msg, &o, &out, &e) != BJVM_OK) fail("printing", type, &e);
    add(h, out.data, out.size);
    if (i == 0) first = out;
  }
  bjvm_decode_options o = {.size = sizeof o, .scratch = arena, .registry = bjvm_cache_registry(cache)};
  upb_Message *back = upb_Message_New(upb_MessageDef_MiniTable(def), arena);
  if (bjvm_decode(plan, first.data, first.size, back, arena, &o, &e) != BJVM_OK) fail("reading", type, &e);
  char *data;
  size_t size;
  int options = kUpb_EncodeOption_Deterministic | (int)upb_EncodeOptions_MaxDepth(1000);
  if (upb_Encode(back, upb_MessageDef_MiniTable(def), options, arena, &data, &size) != kUpb_EncodeStatus_Ok)
    exit(1);
  add(h, data, size);
}

static void random_messages(const upb_DefPool *pool, bjvm_cache *cache, const char *type, size_t count) {
  uint64_t h = 0xcbf29ce484222325u;
  const upb_MessageDef *def = test_find_message(pool, type);
  for (size_t i = 0; i < count; i++) {
    upb_Arena *arena = upb_Arena_New();
    generator g = {.state = 7000000 + i, .pool = pool, .arena = arena, .max_depth = 3};
    add_message(cache, def, random_message(&g, def), arena, &h);
    upb_Arena_Free(arena);
  }
  printf("%s: %zu messages, %016" PRIx64 "\n", type, count, h);
}

static void document(const char *path) {
  uint64_t h = 0xcbf29ce484222325u;
  size_t size;
  char *data = test_read_file(path, &size);
  upb_DefPool *pool = test_pool_load(path);
  bjvm_cache *cache = bjvm_cache_new(pool);
  upb_Arena *arena = upb_Arena_New();
  const upb_MessageDef *def = test_find_message(pool, "google.protobuf.FileDescriptorSet");
  upb_Message *msg = test_parse(pool, def, data, size, arena);
  add_message(cache, def, msg, arena, &h);
  printf("descriptors: %zu bytes, %016" PRIx64 "\n", size, h);
  upb_Arena_Free(arena);
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
  free(data);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: forms CASES.binpb DESCRIPTORS.binpb [COUNT]\n");
    return 2;
  }
  size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : DEFAULT_COUNT;
  upb_DefPool *pool = test_pool_load(argv[1]);
  bjvm_cache *cache = bjvm_cache_new(pool);
  for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
    random_messages(pool, cache, type_names[i], count);
  document(argv[2]);
  bjvm_error e;
  const bjvm_plan *plan = bjvm_cache_get(cache, test_find_message(pool, type_names[0]), &e);
  printf("form: dispatch %s, kernels %s\n", bjvm_dispatch_name(), plan ? bjvm_plan_kernels(plan) : "?");
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
  return 0;
}
