/* simdjson as a peer: its DOM parser reads a text into a document, its string builder prints that document. Like
 * yyjson it knows no schema. The library is C++: peer_simdjson.cc does the work, this is the struct of functions.
 *
 * It brings its own memory, a parser that is used again and again: nothing else is offered.
 */
#include "peer.h"

#ifdef BENCH_HAVE_SIMDJSON
#include <stdlib.h>

#include "peer_simdjson.h"

typedef struct state {
  const bench_case *bcase;
  simdjson_state *simdjson;
} state;

static const char *missing(void) { return NULL; }

static void close_state(void *opaque) {
  state *s = opaque;
  simdjson_state_free(s->simdjson);
  free(s);
}

static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  (void)memory, (void)cache;
  state *s = malloc(sizeof *s);
  if (s == NULL) return NULL;
  *s = (state){bcase, simdjson_state_new(bcase->json, bcase->decode_only ? 0 : bcase->count)};
  if (s->simdjson) return s;
  free(s);
  return NULL;
}

static bool encode(void *opaque, size_t first, size_t count) {
  const state *s = opaque;
  bench_text text;
  simdjson_print(s->simdjson, first, count, &text);
  return text.size > 0;
}

static bool decode(void *opaque, size_t first, size_t count) {
  const state *s = opaque;
  return simdjson_read(s->simdjson, s->bcase->json, first, count);
}

static bool encode_one(void *opaque, size_t index, bench_text *text) {
  const state *s = opaque;
  simdjson_print(s->simdjson, index, 1, text);
  return text->size > 0;
}
#else
#define BENCH_SIMDJSON_VERSION NULL
static const char *missing(void) {
  return "not found when this was built, or no C++ compiler: run bench/fetch_peers.sh (not with sanitizers)";
}
static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  return (void)bcase, (void)memory, (void)cache, NULL;
}
static void close_state(void *state) { (void)state; }
static bool encode(void *state, size_t first, size_t count) {
  return (void)state, (void)first, (void)count, false;
}
static bool decode(void *state, size_t first, size_t count) { return encode(state, first, count); }
static bool encode_one(void *state, size_t index, bench_text *text) {
  return (void)state, (void)index, (void)text, false;
}
#endif

const bench_peer bench_simdjson = {
    .name = "simdjson",
    .what = "string builder (that of simdjson::minify) of a parsed document, dom::parser::parse; both kept",
    .json = true,
    .has_encode = true,
    .in_ratio = {true, true},
    .documents = true,
    .version = BENCH_SIMDJSON_VERSION,
    .missing = missing,
    .open = open_state,
    .close = close_state,
    .encode = encode,
    .decode = decode,
    .encode_one = encode_one,
};
