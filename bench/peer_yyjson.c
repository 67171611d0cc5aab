/* yyjson as a peer: reading a text into a document, writing that document. It knows no schema; what it does
 * is the least that reading or writing the same bytes can cost.
 *
 * Memory comes from its pool allocator over the block that the others have their arena in. The documents it
 * writes are parsed when the case is opened.
 */
#include <stdlib.h>

#include "peer.h"

#ifdef BENCH_HAVE_YYJSON
#include <yyjson.h>

typedef struct yyjson_state {
  const bench_case *bcase;
  bench_memory *memory;
  yyjson_doc **docs;
} yyjson_state;

static void close_state(void *opaque) {
  yyjson_state *state = opaque;
  for (size_t i = 0; state->docs && i < state->bcase->count; i++) yyjson_doc_free(state->docs[i]);
  free(state->docs);
  free(state);
}

static yyjson_doc *read_text(bench_text text, const yyjson_alc *memory) {
  return yyjson_read_opts((char *)(uintptr_t)text.data, text.size, YYJSON_READ_NOFLAG, memory, NULL);
}

static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  (void)cache;
  yyjson_state *state = calloc(1, sizeof *state);
  if (state == NULL) return NULL;
  *state = (yyjson_state){bcase, memory, calloc(bcase->count, sizeof(yyjson_doc *))};
  bool ok = state->docs != NULL;
  for (size_t i = 0; ok && i < bcase->count && !bcase->decode_only; i++)
    ok = (state->docs[i] = read_text(bcase->json[i], NULL)) != NULL;
  if (ok) return state;
  close_state(state);
  return NULL;
}

static inline char *write_doc(const yyjson_state *state, size_t index, size_t *size) {
  yyjson_alc alc;
  yyjson_alc_pool_init(&alc, state->memory->output, BENCH_BLOCK_SIZE);
  return yyjson_write_opts(state->docs[index], YYJSON_WRITE_NOFLAG, &alc, size, NULL);
}

static inline yyjson_doc *read_doc(const yyjson_state *state, bench_text text) {
  yyjson_alc alc;
  yyjson_alc_pool_init(&alc, state->memory->arena, BENCH_BLOCK_SIZE);
  return read_text(text, &alc);
}

static bool encode(void *opaque, size_t first, size_t count) {
  bool ok = true;
  size_t size;
  for (size_t i = first; i < first + count; i++) ok &= write_doc(opaque, i, &size) != NULL;
  return ok;
}

static bool decode(void *opaque, size_t first, size_t count) {
  const yyjson_state *state = opaque;
  bool ok = true;
  for (size_t i = first; i < first + count; i++) ok &= read_doc(state, state->bcase->json[i]) != NULL;
  return ok;
}

static bool encode_one(void *opaque, size_t index, bench_text *text) {
  text->data = write_doc(opaque, index, &text->size);
  return text->data != NULL;
}

static const char *missing(void) { return NULL; }
#else
#define YYJSON_VERSION_STRING NULL
static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  (void)bcase, (void)memory, (void)cache;
  return NULL;
}
static bool encode(void *state, size_t first, size_t count) {
  return (void)state, (void)first, (void)count, false;
}
static bool decode(void *state, size_t first, size_t count) { return encode(state, first, count); }
static bool encode_one(void *state, size_t index, bench_text *text) {
  return (void)state, (void)index, (void)text, false;
}
static void close_state(void *state) { free(state); }
static const char *missing(void) {
  return "not found when this was built: install libyyjson-dev or run bench/fetch_peers.sh";
}
#endif

const bench_peer bench_yyjson = {
    .name = "yyjson",
    .what = "yyjson_write_opts of a parsed document, yyjson_read_opts; pool allocator",
    .json = true,
    .has_encode = true,
    .in_ratio = {true, true},
    .documents = true,
    .version = YYJSON_VERSION_STRING,
    .missing = missing,
    .open = open_state,
    .close = close_state,
    .encode = encode,
    .decode = decode,
    .encode_one = encode_one,
};
