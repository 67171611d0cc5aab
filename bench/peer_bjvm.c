/* bjvm as a peer, in four ways: the plan from the cache, the plan from a file, strings left where they are, and
 * texts with padding behind them.
 *
 * A plan from a file is compiled, loaded and bound when the case is opened, as a program with embedded plans
 * does at start. Options are NULL, as most callers have it, but for Any, which takes a registry and scratch
 * memory.
 */
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "peer.h"

typedef struct bjvm_state {
  const bench_case *bcase;
  bench_memory *memory;
  const bjvm_plan *plan;
  upb_Arena *arena; /* of a loaded plan; else NULL */
  bjvm_output output;
  bool any;
  bjvm_encode_options encode_options;
  bjvm_decode_options decode_options;
} bjvm_state;

/* -- Opening -------------------------------------------------------------------------------------------- */

static bool has_any(const upb_MessageDef *def) {
  for (int i = 0; i < upb_MessageDef_FieldCount(def); i++) {
    const upb_MessageDef *sub = upb_FieldDef_MessageSubDef(upb_MessageDef_Field(def, i));
    if (sub != NULL && upb_MessageDef_WellKnownType(sub) == kUpb_WellKnown_Any) return true;
  }
  return false;
}

static bjvm_state *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  bjvm_state *state = calloc(1, sizeof *state);
  if (state == NULL) return NULL;
  state->bcase = bcase;
  state->memory = memory;
  state->any = has_any(bcase->def);
  state->output = bjvm_output_fixed(memory->output, BENCH_BLOCK_SIZE);
  state->encode_options = (bjvm_encode_options){.size = sizeof state->encode_options};
  state->decode_options = (bjvm_decode_options){.size = sizeof state->decode_options};
  if (bcase->ignore_unknown) state->decode_options.flags = BJVM_DECODE_IGNORE_UNKNOWN;
  if (state->any)
    state->encode_options.registry = state->decode_options.registry = bjvm_cache_registry(cache);
  return state;
}

static void close_state(void *opaque) {
  bjvm_state *state = opaque;
  if (state->arena) upb_Arena_Free(state->arena);
  free(state);
}

static void *finish(bjvm_state *state) {
  if (state->plan) return state;
  close_state(state);
  return NULL;
}

static void *open_cached(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  bjvm_state *state = open_state(bcase, memory, cache);
  if (state == NULL) return NULL;
  state->plan = bjvm_cache_get(cache, bcase->def, NULL);
  return finish(state);
}

static void *open_alias(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  bjvm_state *state = open_cached(bcase, memory, cache);
  if (state) state->decode_options.flags |= BJVM_DECODE_ALIAS;
  return state;
}

static void *open_padded(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  bjvm_state *state = open_cached(bcase, memory, cache);
  if (state) state->decode_options.flags |= BJVM_DECODE_PADDED;
  return state;
}

static void *open_loaded(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  bjvm_state *state = open_state(bcase, memory, cache);
  if (state == NULL) return NULL;
  state->arena = upb_Arena_New();
  const void *file;
  size_t size;
  const bjvm_image *image;
  if (state->arena == NULL ||
      bjvm_compile(&bcase->def, 1, BJVM_COMPILE_EXTENSIONS, state->arena, &file, &size, NULL) != BJVM_OK ||
      bjvm_image_load(file, size, state->arena, &image, NULL) != BJVM_OK ||
      bjvm_image_bind(image, NULL, bcase->table, state->arena, &state->plan, NULL) != BJVM_OK)
    state->plan = NULL;
  return finish(state);
}

/* -- Operations ----------------------------------------------------------------------------------------- */

static inline bool encode_message(bjvm_state *state, size_t index) {
  const bjvm_encode_options *options = NULL;
  if (state->any) {
    state->encode_options.scratch = upb_Arena_Init(state->memory->scratch, BENCH_BLOCK_SIZE, NULL);
    options = &state->encode_options;
  }
  state->output.size = 0;
  return bjvm_encode(state->plan, state->bcase->messages[index], options, &state->output, NULL) == BJVM_OK;
}

static inline upb_Message *decode_text(bjvm_state *state, bench_text text, upb_Arena *arena) {
  const bjvm_decode_options *options = NULL;
  if (state->any)
    state->decode_options.scratch = upb_Arena_Init(state->memory->scratch, BENCH_BLOCK_SIZE, NULL);
  if (state->any || state->decode_options.flags) options = &state->decode_options;
  upb_Message *msg = upb_Message_New(state->bcase->table, arena);
  bjvm_status status = bjvm_decode(state->plan, text.data, text.size, msg, arena, options, NULL);
  return status == BJVM_OK ? msg : NULL;
}

static bool encode(void *opaque, size_t first, size_t count) {
  bjvm_state *state = opaque;
  bool ok = true;
  for (size_t i = first; i < first + count; i++) ok &= encode_message(state, i);
  return ok;
}

static bool decode(void *opaque, size_t first, size_t count) {
  bjvm_state *state = opaque;
  bool ok = true;
  for (size_t i = first; i < first + count; i++) {
    upb_Arena *arena = upb_Arena_Init(state->memory->arena, BENCH_BLOCK_SIZE, NULL);
    ok &= decode_text(state, state->bcase->json[i], arena) != NULL;
  }
  return ok;
}

static bool encode_one(void *opaque, size_t index, bench_text *text) {
  bjvm_state *state = opaque;
  bool ok = encode_message(state, index);
  *text = (bench_text){state->output.data, state->output.size};
  return ok;
}

static upb_Message *decode_one(void *opaque, bench_text text, upb_Arena *arena) {
  return decode_text(opaque, text, arena);
}

const bench_peer bench_bjvm = {
    .name = "bjvm",
    .what = "plan from the cache, strings copied",
    .json = true,
    .has_encode = true,
    .in_ratio = {true, true},
    .open = open_cached,
    .close = close_state,
    .encode = encode,
    .decode = decode,
    .encode_one = encode_one,
    .decode_one = decode_one,
};

const bench_peer bench_bjvm_loaded = {
    .name = "bjvm_loaded",
    .what = "plan from a file, loaded and bound",
    .json = true,
    .has_encode = true,
    .in_ratio = {true, true},
    .open = open_loaded,
    .close = close_state,
    .encode = encode,
    .decode = decode,
    .encode_one = encode_one,
    .decode_one = decode_one,
};

const bench_peer bench_bjvm_alias = {
    .name = "bjvm_alias",
    .what = "plan from the cache, BJVM_DECODE_ALIAS",
    .json = true,
    .in_ratio = {false, true},
    .open = open_alias,
    .close = close_state,
    .decode = decode,
    .decode_one = decode_one,
};

const bench_peer bench_bjvm_padded = {
    .name = "bjvm_padded",
    .what = "plan from the cache, BJVM_DECODE_PADDED",
    .json = true,
    .in_ratio = {false, true},
    .open = open_padded,
    .close = close_state,
    .decode = decode,
    .decode_one = decode_one,
};
