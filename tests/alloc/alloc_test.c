/* Allocation k fails, for every k: `alloc_test SET`.
 *
 * For compiling, getting a plan from a cache, printing to an arena and reading from JSON: first only
 * allocation k fails, then every one from k on. The answer must be OUT_OF_MEMORY or success; after a failed
 * read the message must still be memory that upb can walk. All memory is counted: nothing may be left when
 * the owners are freed.
 *
 * The program is linked with --wrap for malloc, calloc, realloc and free, so that what bjvm and upb take
 * passes here. Arena blocks are made small, or one block would serve a whole call and nothing could fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/support.h"
#include "bjvm/bjvm.h"
#include "upb/message/copy.h"

enum { BLOCK_SIZE = 256, MAX_K = 20000 };

/* -- The allocator -------------------------------------------------------------------------------------- */

static struct {
  bool on;      /* count and fail */
  bool all;     /* every allocation from `at` on fails, not only that one */
  bool hit;     /* one has been refused */
  size_t at;    /* 0-based */
  size_t count; /* allocations since it was turned on */
  long live;    /* blocks not freed, always counted */
} memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *block);

static bool refuse(void) {
  if (!memory.on) return false;
  size_t k = memory.count++;
  bool refused = k == memory.at || (memory.all && k > memory.at);
  memory.hit |= refused;
  return refused;
}

void *__wrap_malloc(size_t size) {
  void *block = refuse() ? NULL : __real_malloc(size);
  memory.live += block != NULL;
  return block;
}

void *__wrap_calloc(size_t count, size_t size) {
  void *block = refuse() ? NULL : __real_calloc(count, size);
  memory.live += block != NULL;
  return block;
}

void *__wrap_realloc(void *old, size_t size) {
  void *block = refuse() ? NULL : __real_realloc(old, size);
  memory.live += block != NULL && old == NULL;
  return block;
}

void __wrap_free(void *block) {
  memory.live -= block != NULL;
  __real_free(block);
}

static void fail_at(size_t k, bool all) {
  memory.on = true;
  memory.all = all;
  memory.at = k;
  memory.count = 0;
}

static void fail_off(void) { memory.on = false; }

/* -- The operations ------------------------------------------------------------------------------------- */

typedef struct context {
  const upb_DefPool *pool;
  const upb_MessageDef *def;
  bjvm_cache *cache;
  const bjvm_plan *plan;
  const char *json;
  size_t json_size;
  const upb_Message *msg;
  size_t runs, failures, printed; /* printed: of the operation at hand */
} context;

/* What an operation came to. A status that is neither is a failure of the test. */
typedef bjvm_status operation(context *c, size_t k, bool all);

static bjvm_status run_compile(context *c, size_t k, bool all) {
  upb_Arena *arena = upb_Arena_New();
  const void *data;
  size_t size;
  bjvm_error error = {.code = BJVM_OK};
  fail_at(k, all);
  bjvm_status status = bjvm_compile(&c->def, 1, BJVM_COMPILE_EXTENSIONS, arena, &data, &size, &error);
  fail_off();
  upb_Arena_Free(arena);
  return status == error.code ? status : BJVM_BAD_ARGUMENT;
}

static bjvm_status run_load(context *c, size_t k, bool all) {
  upb_Arena *arena = upb_Arena_New();
  const void *data;
  size_t size;
  const bjvm_image *image;
  const bjvm_plan *plan;
  bjvm_status status = bjvm_compile(&c->def, 1, BJVM_COMPILE_EXTENSIONS, arena, &data, &size, NULL);
  fail_at(k, all);
  if (status == BJVM_OK) status = bjvm_image_load(data, size, arena, &image, NULL);
  if (status == BJVM_OK)
    status = bjvm_image_bind(image, NULL, upb_MessageDef_MiniTable(c->def), arena, &plan, NULL);
  if (status == BJVM_OK) status = bjvm_plan_prepare(plan, BJVM_ENCODE_PROTO_NAMES, arena);
  fail_off();
  upb_Arena_Free(arena);
  return status;
}

static bjvm_status run_cache(context *c, size_t k, bool all) {
  bjvm_error error = {.code = BJVM_OK};
  bjvm_status status = BJVM_OK;
  fail_at(k, all);
  bjvm_cache *cache = bjvm_cache_new(c->pool);
  const bjvm_plan *plan = cache != NULL ? bjvm_cache_get(cache, c->def, &error) : NULL;
  if (cache != NULL && plan == NULL) status = error.code == BJVM_OK ? BJVM_BAD_ARGUMENT : error.code;
  fail_off();
  if (cache == NULL) return BJVM_OUT_OF_MEMORY;
  /* A cache that failed once must serve when memory is back. */
  if (plan == NULL && bjvm_cache_get(cache, c->def, &error) == NULL) status = BJVM_BAD_ARGUMENT;
  bjvm_cache_free(cache);
  return status;
}

static bjvm_status print_with(context *c, bjvm_cache *cache, uint32_t flags, size_t k, bool all) {
  upb_Arena *arena = upb_Arena_New();
  bjvm_error error = {.code = BJVM_OK};
  const bjvm_plan *plan = bjvm_cache_get(cache, c->def, NULL);
  bjvm_encode_options options = {
      .size = sizeof options, .flags = flags, .registry = bjvm_cache_registry(cache), .scratch = arena};
  bjvm_output output = bjvm_output_arena(arena);
  fail_at(k, all);
  bjvm_status status = bjvm_encode(plan, c->msg, &options, &output, &error);
  fail_off();
  if (status != BJVM_OK && output.size != 0) status = BJVM_BAD_ARGUMENT;
  upb_Arena_Free(arena);
  return status == error.code ? status : BJVM_BAD_ARGUMENT;
}

static bjvm_status run_encode(context *c, size_t k, bool all) {
  return print_with(c, c->cache, BJVM_ENCODE_SORT_MAP_KEYS, k, all);
}

/* With a new cache: plans of nested types, of Any contents and words for the flags are made in the call. */
static bjvm_status run_encode_cold(context *c, size_t k, bool all) {
  bjvm_cache *cache = bjvm_cache_new(c->pool);
  bjvm_status status = print_with(c, cache, BJVM_ENCODE_EMIT_DEFAULTS, k, all);
  if (print_with(c, cache, BJVM_ENCODE_EMIT_DEFAULTS, MAX_K, false) != BJVM_OK) status = BJVM_BAD_ARGUMENT;
  bjvm_cache_free(cache);
  return status;
}

static bjvm_status read_with(context *c, bjvm_cache *cache, size_t k, bool all) {
  upb_Arena *arena = upb_Arena_New(), *scratch = upb_Arena_New(), *other = upb_Arena_New();
  bjvm_error error = {.code = BJVM_OK};
  const bjvm_plan *plan = bjvm_cache_get(cache, c->def, NULL);
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(c->def), arena);
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(cache), .scratch = scratch};
  fail_at(k, all);
  bjvm_status status = bjvm_decode(plan, c->json, c->json_size, msg, arena, &options, &error);
  fail_off();
  upb_Arena_Free(scratch);
  /* Whatever is in the message must be whole: upb and reflection walk all of it. */
  char *data, where[128];
  size_t size;
  if (!test_serialize(msg, c->def, other, &data, &size)) status = BJVM_BAD_ARGUMENT;
  bool same = test_same(c->pool, c->def, msg, c->msg, where, sizeof where);
  if (status == BJVM_OK && !same) status = BJVM_BAD_ARGUMENT;
  upb_Arena_Free(other);
  upb_Arena_Free(arena);
  return status == error.code ? status : BJVM_BAD_ARGUMENT;
}

static bjvm_status run_decode(context *c, size_t k, bool all) { return read_with(c, c->cache, k, all); }

static bjvm_status run_decode_cold(context *c, size_t k, bool all) {
  bjvm_cache *cache = bjvm_cache_new(c->pool);
  bjvm_status status = read_with(c, cache, k, all);
  if (read_with(c, cache, MAX_K, false) != BJVM_OK) status = BJVM_BAD_ARGUMENT;
  bjvm_cache_free(cache);
  return status;
}

/* The document once more into a message that has it: under last_wins all of that is remembered. */
static bjvm_status run_decode_over(context *c, size_t k, bool all) {
  upb_Arena *arena = upb_Arena_New(), *scratch = upb_Arena_New();
  bjvm_error error = {.code = BJVM_OK};
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(c->def), arena);
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = BJVM_DECODE_LAST_WINS,
                                 .registry = bjvm_cache_registry(c->cache),
                                 .scratch = scratch};
  (void)bjvm_decode(c->plan, c->json, c->json_size, msg, arena, &options, NULL);
  fail_at(k, all);
  bjvm_status status = bjvm_decode(c->plan, c->json, c->json_size, msg, arena, &options, &error);
  fail_off();
  char *data;
  size_t size;
  if (!test_serialize(msg, c->def, scratch, &data, &size)) status = BJVM_BAD_ARGUMENT;
  upb_Arena_Free(scratch);
  upb_Arena_Free(arena);
  return status == error.code ? status : BJVM_BAD_ARGUMENT;
}

/* -- All k ---------------------------------------------------------------------------------------------- */

static void complain(context *c, const char *name, size_t k, bool all, const char *what) {
  c->failures++;
  if (c->printed++ < 5)
    printf("FAIL %s, allocation %zu%s: %s\n", name, k, all ? " and all after it" : "", what);
}

static void run(context *c, const char *name, operation *op, bool all) {
  size_t k = 0, refused = 0, survived = 0;
  c->printed = 0;
  for (; k < MAX_K; k++) {
    long live = memory.live;
    memory.hit = false;
    c->runs++;
    bjvm_status status = op(c, k, all);
    bool hit = memory.hit;
    if (memory.live != live) complain(c, name, k, all, "memory is not given back");
    if (status != BJVM_OK && status != BJVM_OUT_OF_MEMORY)
      complain(c, name, k, all, bjvm_status_name(status));
    if (status == BJVM_OUT_OF_MEMORY && !hit) complain(c, name, k, all, "out of memory without a refusal");
    refused += status == BJVM_OUT_OF_MEMORY;
    survived += status == BJVM_OK && hit;
    if (!hit) break;
  }
  if (refused == 0) complain(c, name, k, all, "no allocation to refuse");
  printf("%-12s %5zu allocations, one%s refused: %zu out of memory, %zu got by\n", name, k,
         all ? " and all after it" : "", refused, survived);
}

static const char document[] =
    "{\"id\":5,\"child\":{\"id\":7,\"kids\":[{},{\"id\":1},{\"by\":{\"a\":{},\"b\":{\"id\":1},\"c\":{\"id\":"
    "2},"
    "\"a long key that is not inline anywhere 0123456789\":{\"val\":\"a long string value that is not inline "
    "either, "
    "so that it takes memory of its own, escaped or not: \\u00e9\\n\"}}}]},"
    "\"st\":{\"null\":null,\"yes\":true,\"number\":-1.25,\"text\":\"na\xc3\xafve\",\"list\":[1,2.5,\"three\","
    "[[]],"
    "{\"deep\":{\"er\":[]}},null,true]},\"val\":[0,1,2,3,4,5,6,7,8,9,{\"x\":[]}],"
    "\"any\":{\"any\":{\"ts\":\"2001-02-03T04:05:06.789Z\",\"fm\":\"fooBar,baz.quX\",\"wb\":\"aGVsbG8=\","
    "\"ws\":\"s\","
    "\"@type\":\"type.googleapis.com/cases.v3.Wkt\"},\"@type\":\"type.googleapis.com/cases.v3.Rec\"},"
    "\"by\":{\"1\":{},\"2\":{},\"3\":{},\"4\":{},\"5\":{},\"6\":{},\"7\":{},\"8\":{},\"9\":{\"left\":{\"id\":"
    "4}}},"
    "\"kids\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}],\"right\":{\"val\":\"end\"}}";

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: alloc_test SET\n");
    return 2;
  }
  static const struct {
    const char *name;
    operation *op;
  } operations[] = {{"compile", run_compile},
                    {"load", run_load},
                    {"cache", run_cache},
                    {"encode", run_encode},
                    {"encode-cold", run_encode_cold},
                    {"decode", run_decode},
                    {"decode-cold", run_decode_cold},
                    {"decode-over", run_decode_over}};
  upb_DefPool *pool = test_pool_load(argv[1]);
  upb_Arena_SetMaxBlockSize(BLOCK_SIZE);
  context c = {.pool = pool, .def = test_find_message(pool, "cases.v3.Rec"), .json = document};
  c.json_size = sizeof document - 1;
  c.cache = bjvm_cache_new(pool);
  upb_Arena *arena = upb_Arena_New();
  bjvm_error error = {.code = BJVM_OK};
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(c.cache), .scratch = arena};
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(c.def), arena);
  c.plan = bjvm_cache_get(c.cache, c.def, &error);
  if (c.plan == NULL || bjvm_decode(c.plan, c.json, c.json_size, msg, arena, &options, &error) != BJVM_OK) {
    printf("FAIL the document itself: %s at %zu: %s\n", bjvm_status_name(error.code), error.offset,
           error.message);
    return 1;
  }
  c.msg = msg;
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    run(&c, operations[i].name, operations[i].op, false);
    run(&c, operations[i].name, operations[i].op, true);
  }
  upb_Arena_Free(arena);
  bjvm_cache_free(c.cache);
  upb_DefPool_Free(pool);
  if (memory.live != 0) complain(&c, "end", 0, false, "memory is not given back");
  printf("%zu passed, %zu failed\n", c.failures < c.runs ? c.runs - c.failures : 0, c.failures);
  return c.failures != 0;
}
