/* Any bytes as a binary message: what upb can read is printed or refused; what is printed is read back to the same.
 *
 * The text must be the same through every sort of output. The first FUZZ_HEAD bytes choose type and options.
 */
#include "fuzz.h"

typedef struct run {
  const fuzz_world *world;
  const bjvm_plan *plan;
  const upb_MessageDef *def;
  upb_Arena *arena, *scratch;
  bjvm_encode_options options;
} run;

typedef struct pile {
  char *data;
  size_t size, capacity;
} pile;

static bool pile_write(void *context, const char *text, size_t size) {
  pile *p = (pile *)context;
  if (p->capacity - p->size < size) return false;
  memcpy(p->data + p->size, text, size);
  p->size += size;
  return true;
}

/* A block that just fits, one that is a byte short, and a sink. */
static void other_outputs(const run *r, const upb_Message *msg, const bjvm_output *want) {
  char *block = (char *)malloc(want->size + 1);
  bjvm_output out = bjvm_output_fixed(block, want->size);
  bjvm_status status = bjvm_encode(r->plan, msg, &r->options, &out, NULL);
  FUZZ_CHECK(status == BJVM_OK && out.size == want->size && memcmp(block, want->data, out.size) == 0,
             "a block that fits: %s", bjvm_status_name(status));
  block[want->size - 1] = '#';
  out = bjvm_output_fixed(block, want->size - 1);
  status = bjvm_encode(r->plan, msg, &r->options, &out, NULL);
  FUZZ_CHECK(status == BJVM_OVERFLOW && out.needed == want->size && block[want->size - 1] == '#',
             "a short block: %s, %zu of %zu", bjvm_status_name(status), out.needed, want->size);
  char window[1024];
  pile all = {block, 0, want->size};
  bjvm_sink sink = {pile_write, &all};
  out = bjvm_output_sink(window, sizeof window, &sink);
  status = bjvm_encode(r->plan, msg, &r->options, &out, NULL);
  FUZZ_CHECK(status == BJVM_OK && bjvm_output_flush(&out) && all.size == want->size &&
                 memcmp(block, want->data, all.size) == 0,
             "a sink: %s", bjvm_status_name(status));
  free(block);
}

/* With maps in the order of their tables, which for Struct is another loop: what fails then fails too, and what does not
 * is as long. */
static void unsorted(const run *r, const upb_Message *msg, bjvm_status sorted_status, size_t sorted_size) {
  bjvm_error error = {.code = BJVM_OK};
  bjvm_encode_options options = r->options;
  options.flags &= ~(uint32_t)BJVM_ENCODE_SORT_MAP_KEYS;
  bjvm_output out = bjvm_output_arena(r->arena);
  bjvm_status status = bjvm_encode(r->plan, msg, &options, &out, &error);
  fuzz_check_report(status, &error, SIZE_MAX);
  FUZZ_CHECK((status == BJVM_OK) == (sorted_status == BJVM_OK) && out.size == sorted_size,
             "not sorted: %s, %zu bytes; sorted: %s, %zu", bjvm_status_name(status), out.size,
             bjvm_status_name(sorted_status), sorted_size);
}

/* Read back what was printed. Unknown fields have no JSON form, neither here nor inside an Any, and a NullValue is null
 * whatever its number: a message with an Any or a null is
 * only held to the text. */
static void read_back(const run *r, upb_Message *msg, const bjvm_output *first) {
  char where[512] = "";
  bjvm_error error = {.code = BJVM_OK};
  if (fuzz_ambiguous(first)) return;
  bjvm_decode_options options = {.size = sizeof options, .max_depth = FUZZ_DEPTH, .scratch = r->scratch};
  options.registry = bjvm_cache_registry(r->world->cache);
  upb_Message *again = fuzz_new(r->plan, r->arena);
  bjvm_status status = bjvm_decode(r->plan, first->data, first->size, again, r->arena, &options, &error);
  FUZZ_CHECK(status == BJVM_OK, "printed but not read: %s at %s: %.*s", error.message, error.path,
             (int)first->size, first->data);
  bjvm_output second = bjvm_output_arena(r->arena);
  status = bjvm_encode(r->plan, again, &r->options, &second, &error);
  FUZZ_CHECK(status == BJVM_OK && second.size == first->size &&
                 memcmp(first->data, second.data, second.size) == 0,
             "other text the second time: %s\n%.*s\n%.*s", error.message, (int)first->size, first->data,
             (int)second.size, second.data);
  if (fuzz_has(first, "@type") || fuzz_has(first, "null")) return;
  upb_Message_DiscardUnknown(msg, r->def, r->world->pool,
                             4 * FUZZ_DEPTH); /* a level of Struct is three messages */
  FUZZ_CHECK(test_same(r->world->pool, r->def, msg, again, where, sizeof where), "another message: %s\n%.*s",
             where, (int)first->size, first->data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < FUZZ_HEAD) return 0;
  const fuzz_world *world = fuzz_open();
  size_t type = data[0] % FUZZ_TYPES;
  run r = {world, world->plans[type], world->defs[type], upb_Arena_New(), upb_Arena_New(), {0}};
  r.options = (bjvm_encode_options){.size = sizeof r.options,
                                    .flags = data[2] | BJVM_ENCODE_SORT_MAP_KEYS |
                                             (data[3] & 1 ? (uint32_t)BJVM_ENCODE_CHECK_REQUIRED : 0),
                                    .max_depth = FUZZ_DEPTH,
                                    .registry = bjvm_cache_registry(world->cache),
                                    .scratch = r.scratch};
  char *binary = fuzz_copy(data + FUZZ_HEAD, size - FUZZ_HEAD, 0);
  upb_Message *msg = test_parse(world->pool, r.def, binary, size - FUZZ_HEAD, r.arena);
  if (msg != NULL) {
    bjvm_error error = {.code = BJVM_OK};
    bjvm_output out = bjvm_output_arena(r.arena);
    bjvm_status status = bjvm_encode(r.plan, msg, &r.options, &out, &error);
    fuzz_check_report(status, &error, SIZE_MAX);
    FUZZ_CHECK(status == BJVM_OK || out.size == 0, "refused, but %zu bytes stay", out.size);
    unsorted(&r, msg, status, out.size);
    if (status == BJVM_OK) {
      other_outputs(&r, msg, &out);
      read_back(&r, msg, &out);
    }
  }
  upb_Arena_Free(r.arena);
  upb_Arena_Free(r.scratch);
  free(binary);
  return 0;
}
