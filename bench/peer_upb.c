/* upb's own codecs as peers: its JSON codec, which walks descriptors, and its binary one for the same
 * messages. */
#include <stdlib.h>

#include "peer.h"
#include "upb/json/decode.h"
#include "upb/json/encode.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

typedef struct upb_state {
  const bench_case *bcase;
  bench_memory *memory;
  const upb_ExtensionRegistry *extensions;
} upb_state;

static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  (void)cache;
  upb_state *state = malloc(sizeof *state);
  if (state == NULL) return NULL;
  *state = (upb_state){bcase, memory, upb_DefPool_ExtensionRegistry(bcase->schema->pool)};
  return state;
}

/* -- JSON ----------------------------------------------------------------------------------------------- */

static inline size_t encode_json(const upb_state *state, size_t index) {
  const bench_case *bcase = state->bcase;
  return upb_JsonEncode(bcase->messages[index], bcase->def, bcase->schema->pool, 0, state->memory->output,
                        BENCH_BLOCK_SIZE, NULL);
}

static inline upb_Message *decode_json(const upb_state *state, bench_text text, upb_Arena *arena) {
  const bench_case *bcase = state->bcase;
  upb_Message *msg = upb_Message_New(bcase->table, arena);
  int options = bcase->ignore_unknown ? upb_JsonDecode_IgnoreUnknown : 0;
  bool ok = upb_JsonDecode(text.data, text.size, msg, bcase->def, bcase->schema->pool, options, arena, NULL);
  return ok ? msg : NULL;
}

static bool json_encode(void *opaque, size_t first, size_t count) {
  bool ok = true;
  for (size_t i = first; i < first + count; i++) ok &= encode_json(opaque, i) < BENCH_BLOCK_SIZE;
  return ok;
}

static bool json_decode(void *opaque, size_t first, size_t count) {
  const upb_state *state = opaque;
  bool ok = true;
  for (size_t i = first; i < first + count; i++) {
    upb_Arena *arena = upb_Arena_Init(state->memory->arena, BENCH_BLOCK_SIZE, NULL);
    ok &= decode_json(state, state->bcase->json[i], arena) != NULL;
  }
  return ok;
}

static bool json_encode_one(void *opaque, size_t index, bench_text *text) {
  const upb_state *state = opaque;
  *text = (bench_text){state->memory->output, encode_json(state, index)};
  return text->size < BENCH_BLOCK_SIZE;
}

static upb_Message *json_decode_one(void *opaque, bench_text text, upb_Arena *arena) {
  return decode_json(opaque, text, arena);
}

/* -- Binary --------------------------------------------------------------------------------------------- */

/* upb writes from the end of a block of its arena to the front; the text stays there. */
static inline bool encode_binary(const upb_state *state, size_t index, bench_text *text) {
  upb_Arena *arena = upb_Arena_Init(state->memory->output, BENCH_BLOCK_SIZE, NULL);
  char *data;
  bool ok = upb_Encode(state->bcase->messages[index], state->bcase->table, 0, arena, &data, &text->size) ==
            kUpb_EncodeStatus_Ok;
  text->data = data;
  return ok;
}

static inline upb_Message *decode_binary(const upb_state *state, bench_text text, upb_Arena *arena) {
  upb_Message *msg = upb_Message_New(state->bcase->table, arena);
  bool ok = upb_Decode(text.data, text.size, msg, state->bcase->table, state->extensions, 0, arena) ==
            kUpb_DecodeStatus_Ok;
  return ok ? msg : NULL;
}

static bool binary_encode(void *opaque, size_t first, size_t count) {
  bool ok = true;
  bench_text text;
  for (size_t i = first; i < first + count; i++) ok &= encode_binary(opaque, i, &text);
  return ok;
}

static bool binary_decode(void *opaque, size_t first, size_t count) {
  const upb_state *state = opaque;
  bool ok = true;
  for (size_t i = first; i < first + count; i++) {
    upb_Arena *arena = upb_Arena_Init(state->memory->arena, BENCH_BLOCK_SIZE, NULL);
    ok &= decode_binary(state, state->bcase->binary[i], arena) != NULL;
  }
  return ok;
}

static bool binary_encode_one(void *opaque, size_t index, bench_text *text) {
  return encode_binary(opaque, index, text);
}

static upb_Message *binary_decode_one(void *opaque, bench_text text, upb_Arena *arena) {
  return decode_binary(opaque, text, arena);
}

const bench_peer bench_upb = {
    .name = "upb",
    .what = "upb_JsonEncode, upb_JsonDecode",
    .json = true,
    .has_encode = true,
    .in_ratio = {true, true},
    .open = open_state,
    .close = free,
    .encode = json_encode,
    .decode = json_decode,
    .encode_one = json_encode_one,
    .decode_one = json_decode_one,
};

const bench_peer bench_upb_binary = {
    .name = "upb_binary",
    .what = "upb_Encode, upb_Decode of the same messages in protobuf binary",
    .has_encode = true,
    .in_ratio = {false, true},
    .open = open_state,
    .close = free,
    .encode = binary_encode,
    .decode = binary_decode,
    .encode_one = binary_encode_one,
    .decode_one = binary_decode_one,
};
