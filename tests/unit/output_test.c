/* Outputs: the contract of each form by itself, then the same message through every form and every small
 * capacity. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "support.h"

enum { SINK_BLOCK = 1024 };

/* What a sink was given. It refuses when `budget` calls have been made. */
typedef struct receiver {
  char *data;
  size_t size;
  size_t calls;
  size_t budget;
} receiver;

static bool receive(void *context, const char *text, size_t size) {
  receiver *r = (receiver *)context;
  if (r->calls++ >= r->budget) return false;
  r->data = (char *)realloc(r->data, r->size + size + 1);
  memcpy(r->data + r->size, text, size);
  r->size += size;
  return true;
}

static void fill(bjvm_output *out, char c, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (out->size == out->capacity) cr_assert(out->grow(out, 1));
    out->data[out->size++] = c;
  }
}

/* Fills step by step and checks that all is there. */
static void check_growing(bjvm_output *out) {
  static const size_t rooms[] = {1, 7, 64, 500, 1024, 5000, 70000};
  size_t expected = 0;
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    if (out->capacity - out->size < rooms[i]) cr_assert(out->grow(out, rooms[i]), "room %zu", rooms[i]);
    cr_assert_geq(out->capacity - out->size, rooms[i], "room %zu", rooms[i]);
    cr_assert_eq(out->size, expected);
    memset(out->data + out->size, (int)('a' + i), rooms[i]);
    out->size += rooms[i];
    expected += rooms[i];
  }
  for (size_t i = 0, at = 0; i < sizeof rooms / sizeof *rooms; at += rooms[i++]) {
    cr_assert_eq(out->data[at], (char)('a' + i), "piece %zu", i);
    cr_assert_eq(out->data[at + rooms[i] - 1], (char)('a' + i), "piece %zu", i);
  }
}

Test(output, fixed_form_has_no_hook) {
  char block[16];
  bjvm_output out = bjvm_output_fixed(block, sizeof block);
  cr_assert_null(out.grow);
  cr_assert_eq(out.data, block);
  cr_assert_eq(out.capacity, sizeof block);
  cr_assert_eq(out.size, 0);
  cr_assert(bjvm_output_flush(&out));
  out = bjvm_output_fixed(NULL, 0);
  cr_assert_eq(out.capacity, 0);
  out = bjvm_output_fixed(NULL, 10);
  cr_assert_eq(out.capacity, 0, "no block has no capacity");
}

Test(output, arena_form_grows) {
  upb_Arena *arena = upb_Arena_New();
  bjvm_output out = bjvm_output_arena(arena);
  cr_assert_null(out.data);
  check_growing(&out);
  cr_assert(bjvm_output_flush(&out));
  bjvm_output before = out;
  cr_assert_not(out.grow(&out, SIZE_MAX - 10), "a size that cannot be");
  cr_assert_eq(out.data, before.data);
  cr_assert_eq(out.size, before.size);
  upb_Arena_Free(arena);
}

Test(output, arena_form_takes_what_is_left_of_a_fixed_block) {
  static char block[4096];
  upb_Arena *arena = upb_Arena_Init(block, sizeof block, NULL);
  bjvm_output out = bjvm_output_arena(arena);
  fill(&out, 'x', 1100);
  cr_assert(out.grow(&out, 1200), "less than twice, but there");
  cr_assert_not(out.grow(&out, 100000));
  cr_assert_eq(out.size, 1100);
  upb_Arena_Free(arena);
}

Test(output, heap_form_grows_and_is_used_again) {
  bjvm_output out = bjvm_output_heap();
  check_growing(&out);
  cr_assert_not(out.grow(&out, SIZE_MAX - 10), "a size that cannot be");
  size_t capacity = out.capacity;
  out.size = 0;
  check_growing(&out);
  cr_assert_eq(out.capacity, capacity);
  cr_assert(bjvm_output_flush(&out));
  bjvm_output_free(&out);
  cr_assert_null(out.data);
  cr_assert_eq(out.capacity, 0);
  check_growing(&out);
  bjvm_output_free(&out);
  bjvm_output_free(&out);
}

Test(output, sink_form_hands_over_and_empties) {
  char block[SINK_BLOCK];
  receiver r = {.budget = SIZE_MAX};
  bjvm_sink sink = {receive, &r};
  bjvm_output out = bjvm_output_sink(block, sizeof block, &sink);
  cr_assert(bjvm_output_flush(&out));
  cr_assert_eq(r.calls, 0, "nothing to hand over");
  fill(&out, 'x', 3000);
  cr_assert_eq(r.size, 2 * SINK_BLOCK);
  cr_assert(bjvm_output_flush(&out));
  cr_assert_eq(r.size, 3000);
  cr_assert_eq(out.size, 0);
  cr_assert_not(out.grow(&out, SINK_BLOCK + 1), "more than the block");
  free(r.data);
}

Test(output, sink_form_refused) {
  char block[SINK_BLOCK];
  receiver r = {.budget = 1};
  bjvm_sink sink = {receive, &r};
  bjvm_output out = bjvm_output_sink(block, sizeof block, &sink);
  fill(&out, 'x', SINK_BLOCK + 10);
  cr_assert_not(out.grow(&out, SINK_BLOCK));
  cr_assert_eq(out.size, 10, "nothing is lost by a refusal");
  cr_assert_not(bjvm_output_flush(&out));
  free(r.data);
}

/* -- Through bjvm_encode -------------------------------------------------------------------------------- */

typedef struct fixture {
  upb_DefPool *pool;
  bjvm_cache *cache;
  upb_Arena *arena;
  const bjvm_plan *plan;
  const upb_Message *msg;
  char *expected;
  size_t size;
} fixture;

/* A Rep with 200 strings and numbers, and what it prints, put together by hand. */
static void set_up(fixture *f) {
  char path[1024];
  snprintf(path, sizeof path, "%s/cases/cases.binpb", getenv("BJVM_TESTS_DIR"));
  f->pool = test_pool_load(path);
  f->cache = bjvm_cache_new(f->pool);
  f->arena = upb_Arena_New();
  f->expected = (char *)malloc(100000);
  char *wire = (char *)malloc(100000);
  size_t n = 0, at = 0;
  at += (size_t)sprintf(f->expected + at, "{\"str\":[");
  for (int i = 0; i < 200; i++) {
    char text[40];
    int length = snprintf(text, sizeof text, "\xc3\xa9t\xc3\xa9 %d\n%.*s", i, i % 20, "....................");
    wire[n++] = (char)(14 << 3 | 2);
    wire[n++] = (char)length;
    memcpy(wire + n, text, (size_t)length);
    n += (size_t)length;
    at += (size_t)sprintf(f->expected + at, "%s\"\xc3\xa9t\xc3\xa9 %d\\n%.*s\"", i ? "," : "", i, i % 20,
                          "....................");
  }
  at += (size_t)sprintf(f->expected + at, "]}");
  f->size = at;
  const upb_MessageDef *def = test_find_message(f->pool, "cases.v3.Rep");
  f->plan = bjvm_cache_get(f->cache, def, NULL);
  cr_assert_not_null(f->plan);
  f->msg = test_parse(f->pool, def, wire, n, f->arena);
  cr_assert_not_null(f->msg);
  free(wire);
}

static void tear_down(fixture *f) {
  free(f->expected);
  upb_Arena_Free(f->arena);
  bjvm_cache_free(f->cache);
  upb_DefPool_Free(f->pool);
}

Test(output, every_form_gets_the_same_text) {
  fixture f;
  set_up(&f);
  bjvm_output out = bjvm_output_heap();
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(bjvm_encode(f.plan, f.msg, NULL, &out, NULL), BJVM_OK);
    cr_assert_eq(out.size, f.size * (size_t)(i + 1), "appended");
    cr_assert_eq(memcmp(out.data + f.size * (size_t)i, f.expected, f.size), 0);
  }
  bjvm_output_free(&out);

  out = bjvm_output_arena(f.arena);
  cr_assert_eq(bjvm_encode(f.plan, f.msg, NULL, &out, NULL), BJVM_OK);
  cr_assert_eq(out.size, f.size);
  cr_assert_eq(memcmp(out.data, f.expected, f.size), 0);

  for (size_t capacity = 1024; capacity < 1100; capacity++) {
    char block[1100];
    receiver r = {.budget = SIZE_MAX};
    bjvm_sink sink = {receive, &r};
    out = bjvm_output_sink(block, capacity, &sink);
    cr_assert_eq(bjvm_encode(f.plan, f.msg, NULL, &out, NULL), BJVM_OK, "block of %zu", capacity);
    cr_assert(bjvm_output_flush(&out));
    cr_assert_eq(r.size, f.size, "block of %zu", capacity);
    cr_assert_eq(memcmp(r.data, f.expected, f.size), 0, "block of %zu", capacity);
    free(r.data);
  }
  tear_down(&f);
}

Test(output, fixed_form_tells_the_exact_size_and_writes_nothing_beyond) {
  fixture f;
  set_up(&f);
  char *block = (char *)malloc(f.size + 64);
  for (size_t capacity = 0; capacity <= f.size + 1; capacity++) {
    memset(block, '#', f.size + 64);
    bjvm_output out = bjvm_output_fixed(capacity ? block : NULL, capacity);
    bool fits = capacity >= f.size;
    cr_assert_eq(bjvm_encode(f.plan, f.msg, NULL, &out, NULL), fits ? BJVM_OK : BJVM_OVERFLOW, "%zu",
                 capacity);
    cr_assert_eq(out.needed, f.size, "capacity %zu: needed %zu", capacity, out.needed);
    cr_assert_eq(out.size, fits ? f.size : 0, "capacity %zu", capacity);
    for (size_t i = capacity; i < f.size + 64; i++)
      cr_assert_eq(block[i], '#', "capacity %zu byte %zu", capacity, i);
  }
  free(block);
  tear_down(&f);
}

Test(output, refusals_have_their_codes) {
  fixture f;
  set_up(&f);
  static char memory[2048];
  char block[1024];
  bjvm_error error;
  upb_Arena *small = upb_Arena_Init(memory, sizeof memory, NULL);
  bjvm_output out = bjvm_output_arena(small);
  cr_assert_eq(bjvm_encode(f.plan, f.msg, NULL, &out, &error), BJVM_OUT_OF_MEMORY);
  cr_assert_eq(error.code, BJVM_OUT_OF_MEMORY);
  cr_assert_eq(out.size, 0);
  upb_Arena_Free(small);
  for (size_t budget = 0; budget < 4; budget++) {
    receiver r = {.budget = budget};
    bjvm_sink sink = {receive, &r};
    out = bjvm_output_sink(block, sizeof block, &sink);
    cr_assert_eq(bjvm_encode(f.plan, f.msg, NULL, &out, &error), BJVM_SINK, "budget %zu", budget);
    cr_assert_eq(error.code, BJVM_SINK);
    cr_assert_eq(memcmp(r.size ? r.data : "", f.expected, r.size), 0);
    free(r.data);
  }
  tear_down(&f);
}
