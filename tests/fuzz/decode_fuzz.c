/* Any bytes as JSON: decode, encode what came out, decode that, and have the same message and the same text.
 *
 * Beside it: a refused text leaves a message that can still be printed, and the same text read into a small block of
 * memory either gives the same or is refused for want of memory. The first FUZZ_HEAD bytes choose type and options.
 */
#include "fuzz.h"

/* The options an input can choose; those of encode that give a text which does not come back the same are left out. */
static const uint32_t encode_choices = BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_EMIT_DEFAULTS |
                                       BJVM_ENCODE_ENUMS_AS_INTS | BJVM_ENCODE_INT64_AS_NUMBERS |
                                       BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE | BJVM_ENCODE_PRETTY;

typedef struct run {
  const fuzz_world *world;
  const bjvm_plan *plan;
  const upb_MessageDef *def;
  upb_Arena *arena, *scratch;
  bjvm_encode_options encode;
} run;

static bjvm_output print(const run *r, const upb_Message *msg, bjvm_status *status, bjvm_error *error) {
  bjvm_output out = bjvm_output_arena(r->arena);
  *status = bjvm_encode(r->plan, msg, &r->encode, &out, error);
  return out;
}

/* What was read must be printed, and read again, to the same. */
static void round_trip(const run *r, const upb_Message *msg) {
  bjvm_error error = {.code = BJVM_OK};
  bjvm_status status;
  char where[512] = "";
  bjvm_output first = print(r, msg, &status, &error);
  FUZZ_CHECK(status == BJVM_OK, "read but not printed: %s at %s", error.message, error.path);
  if (fuzz_ambiguous(&first)) return;
  bjvm_decode_options options = {.size = sizeof options, .max_depth = FUZZ_DEPTH, .scratch = r->scratch};
  options.registry = bjvm_cache_registry(r->world->cache);
  upb_Message *again = fuzz_new(r->plan, r->arena);
  status = bjvm_decode(r->plan, first.data, first.size, again, r->arena, &options, &error);
  FUZZ_CHECK(status == BJVM_OK, "printed but not read: %s at %s: %.*s", error.message, error.path,
             (int)first.size, first.data);
  bjvm_output second = print(r, again, &status, &error);
  FUZZ_CHECK(
      status == BJVM_OK && second.size == first.size && memcmp(first.data, second.data, first.size) == 0,
      "other text the second time:\n%.*s\n%.*s", (int)first.size, first.data, (int)second.size, second.data);
  FUZZ_CHECK(test_same(r->world->pool, r->def, msg, again, where, sizeof where), "another message: %s",
             where);
}

/* A message that a failure left behind: both codecs can walk it, whatever they make of it. */
static void still_valid(const run *r, const upb_Message *msg) {
  bjvm_status status;
  char *data;
  size_t size;
  print(r, msg, &status, NULL);
  (void)test_serialize(msg, r->def, r->arena, &data, &size);
}

/* The same call with `room` bytes of memory and no more. */
static void with_little_memory(const run *r, const char *json, size_t size,
                               const bjvm_decode_options *options, size_t room, bjvm_status want) {
  char *block = (char *)malloc(FUZZ_BLOCK);
  upb_Arena *arena = upb_Arena_Init(block, room, NULL);
  upb_Message *msg = arena != NULL ? upb_Message_New(bjvm_plan_table(r->plan), arena) : NULL;
  if (msg != NULL) {
    bjvm_status status = bjvm_decode(r->plan, json, size, msg, arena, options, NULL);
    FUZZ_CHECK(status == want || status == BJVM_OUT_OF_MEMORY, "%s with little memory, %s with plenty",
               bjvm_status_name(status), bjvm_status_name(want));
    still_valid(r, msg);
  }
  if (arena != NULL) upb_Arena_Free(arena);
  free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < FUZZ_HEAD) return 0;
  const fuzz_world *world = fuzz_open();
  size_t type = data[0] % FUZZ_TYPES;
  run r = {world, world->plans[type], world->defs[type], upb_Arena_New(), upb_Arena_New(), {0}};
  r.encode = (bjvm_encode_options){.size = sizeof r.encode,
                                   .flags = (data[2] & encode_choices) | BJVM_ENCODE_SORT_MAP_KEYS,
                                   .max_depth = FUZZ_DEPTH,
                                   .registry = bjvm_cache_registry(world->cache),
                                   .scratch = r.scratch};
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = data[1] & 63,
                                 .max_depth = FUZZ_DEPTH,
                                 .max_elements = data[3] & 1 ? 5 : 0,
                                 .max_memory = data[3] & 4 ? (size_t)(data[3] >> 3) * 64 : 0,
                                 .registry = bjvm_cache_registry(world->cache),
                                 .scratch = r.scratch};
  size_t text_size = size - FUZZ_HEAD, used = 0;
  char *json = fuzz_copy(data + FUZZ_HEAD, text_size, options.flags & BJVM_DECODE_PADDED ? 64 : 0);
  upb_Message *msg = fuzz_new(r.plan, r.arena);
  bjvm_error error = {.code = BJVM_OK};
  bjvm_status status;
  if (data[3] & 2) {
    status = bjvm_decode_prefix(r.plan, json, text_size, &used, msg, r.arena, &options, &error);
    FUZZ_CHECK(status != BJVM_OK || used <= text_size, "used %zu of %zu", used, text_size);
  } else {
    status = bjvm_decode(r.plan, json, text_size, msg, r.arena, &options, &error);
  }
  fuzz_check_report(status, &error, text_size);
  if (status == BJVM_OK) round_trip(&r, msg);
  else still_valid(&r, msg);
  if (data[3] & 8 && !(data[3] & 2))
    with_little_memory(&r, json, text_size, &options, (size_t)(data[3] >> 3) * 96 + 64, status);
  upb_Arena_Free(r.arena);
  upb_Arena_Free(r.scratch);
  free(json);
  return 0;
}
