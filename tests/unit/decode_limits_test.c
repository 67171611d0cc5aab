/* bjvm_decode: its limits. Input, elements, memory, depth; arenas that are full; what is asked for too much at once.
 *
 * Each limit is one unit too small and just enough, for every sort of value that could get around it.
 */
#include "fixture.h"
#include "samples.h"
#include <time.h>

/* -- Limits --------------------------------------------------------------------------------------------- */

Test(decode_limits, input_limit) {
  fixture f = fixture_open();
  bjvm_decode_options options = fixture_decode_options(&f, 0);
  options.max_input = 7;
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{\"n\":1}", options, NULL), BJVM_OK);
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{\"n\":1} ", options, NULL), BJVM_INPUT_LIMIT);
  fixture_close(&f);
}

/* Each row has exactly `count` elements and entries in all. */
Test(decode_limits, element_limit) {
  static const struct {
    const char *type, *json;
    size_t count;
  } rows[] = {
      {"cases.v3.Rep", "{\"i32\":[1,2,3]}", 3},
      {"cases.v3.Rep", "{\"i32\":[1],\"str\":[\"a\"],\"mini\":[{}]}", 3},
      {"cases.v3.Rep", "{\"sub\":[{\"i32\":[1]},{\"i32\":[2]}]}", 4},
      {"cases.v3.Maps", "{\"kI32\":{\"1\":1,\"2\":2}}", 2},
      {"cases.v3.Maps", "{\"vMini\":{\"a\":{},\"b\":{}}}", 2},
      {"google.protobuf.Value", "{\"a\":[1,2],\"b\":{}}", 4},
      {"cases.v3.Wkt", "{\"fm\":\"a,b,c\"}", 3},
      {"cases.v3.Wkt", "{\"any\":{\"@type\":\"t/cases.v3.Rep\",\"i32\":[1,2]}}", 2},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t limit = 1; limit <= rows[i].count + 1; limit++) {
      bjvm_decode_options options = fixture_decode_options(&f, 0);
      bjvm_error error = {0};
      options.max_elements = limit;
      bjvm_status s = fixture_decode_with(&f, rows[i].type, rows[i].json, options, &error);
      cr_expect_eq(s, limit < rows[i].count ? BJVM_ELEMENT_LIMIT : BJVM_OK, "%s, limit %zu: %s", rows[i].json,
                   limit, bjvm_status_name(s));
      if (s != BJVM_OK)
        cr_expect(error.offset > 0 && error.offset < strlen(rows[i].json), "%s: %zu", rows[i].json,
                  error.offset);
    }
  }
  fixture_close(&f);
}

/* Where the limit suffices, a block without room is the failure that is reported, whatever is left of the limit:
 * what was not given must not be counted. */
Test(decode_limits, out_of_memory_is_no_memory_limit) {
  static const struct {
    const char *type, *json;
  } rows[] = {
      {"cases.v3.T", "{\"str\":\"0123456789abcdef\"}"},
      {"google.protobuf.Value", "\"0123456789abcdef\""},
      {"cases.v3.Rep", "{\"str\":[\"0123456789abcdef\"]}"},
      {"cases.v3.Maps", "{\"vStr\":{\"a\":\"0123456789abcdef\"}}"},
  };
  static _Alignas(16) char block[1024];
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const bjvm_plan *plan = fixture_plan(&f, rows[i].type);
    bjvm_decode_options options = {.size = sizeof options, .max_memory = 1};
    while (fixture_decode_with(&f, rows[i].type, rows[i].json, options, NULL) != BJVM_OK)
      options.max_memory++;
    for (size_t room = 64; room < sizeof block; room += 8) {
      upb_Arena *arena = upb_Arena_Init(block, room, NULL);
      upb_Message *msg = arena ? upb_Message_New(bjvm_plan_table(plan), arena) : NULL;
      if (!msg) continue;
      bjvm_status s = bjvm_decode(plan, rows[i].json, strlen(rows[i].json), msg, arena, &options, NULL);
      cr_expect(s == BJVM_OK || s == BJVM_OUT_OF_MEMORY, "%s, %zu bytes of room, limit %zu: %s", rows[i].json,
                room, options.max_memory, bjvm_status_name(s));
    }
  }
  fixture_close(&f);
}

/* Whatever the limit, the message stays one that can be printed, written as binary and compared. */
Test(decode_limits, memory_limit_leaves_a_valid_message) {
  static const sample more[] = {
      {"cases.v2.P2", "{\"[cases.v2.ext_msg]\":{\"name\":\"abc\",\"list\":[1,2,3]},\"[cases.v2.Scope.scoped_"
                      "list]\":[{\"o\":1}],"
                      "\"[cases.v2.ext_du]\":\"1s\",\"[cases.v2.extbox]\":{\"b\":1}}"},
      {"cases.v3.WktRep",
       "{\"val\":[{\"a\":[1]},null],\"ws\":[\"x\"],\"any\":[{\"@type\":\"t/cases.v3.T\",\"str\":\"s\"}]}"},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES + 2; i++) {
    const sample *row = i < SAMPLES ? &samples[i] : &more[i - SAMPLES];
    bool done = false;
    for (size_t limit = 1; !done && limit < 20000; limit++) {
      bjvm_decode_options options = fixture_decode_options(&f, 0);
      upb_Message *msg = fixture_new(&f, row->type);
      options.max_memory = limit;
      bjvm_error error = {0};
      bjvm_status s = bjvm_decode(fixture_plan(&f, row->type), row->json, strlen(row->json), msg, f.arena,
                                  &options, &error);
      done = s == BJVM_OK;
      cr_assert(done || s == BJVM_ARENA_LIMIT, "%s, limit %zu: %s %s", row->json, limit, bjvm_status_name(s),
                error.message);
      char *data;
      size_t size;
      const upb_MiniTable *table = bjvm_plan_table(fixture_plan(&f, row->type));
      cr_assert_eq(upb_Encode(msg, table, 0, f.arena, &data, &size), kUpb_EncodeStatus_Ok);
      bjvm_output out = bjvm_output_arena(f.arena);
      bjvm_encode_options print = fixture_encode_options(&f, 0);
      bjvm_encode(fixture_plan(&f, row->type), msg, &print, &out, NULL); /* an unfinished Value has no form */
    }
    cr_assert(done, "%s", row->json);
  }
  fixture_close(&f);
}

/* The limit is on what is asked for, not on what upb's arena takes in blocks for it: within a small factor
 * the arena obeys. */
Test(decode_limits, memory_limit_holds_for_every_sort_of_value) {
  enum { COUNT = 100000, LIMIT = 100000, FACTOR = 4 };
  static const struct {
    const char *type, *head, *element, *tail;
  } rows[] = {
      {"cases.v3.Rep", "{\"i32\":[", "1", "]}"},
      {"cases.v3.Rep", "{\"str\":[", "\"\"", "]}"},
      {"cases.v3.Rep", "{\"raw\":[", "\"AA\"", "]}"},
      {"cases.v3.Rep", "{\"mini\":[", "{}", "]}"},
      {"cases.v3.Rep", "{\"sub\":[", "{\"i32\":[],\"str\":[],\"ok\":[]}", "]}"},
      {"cases.v3.Maps", "{\"vMini\":{", "\"%d\":{}", "}}"},
      {"cases.v3.Maps", "{\"vDeep\":{", "\"%d\":{\"kI32\":{}}", "}}"},
      {"cases.v3.Maps", "{\"vStr\":{", "\"%d\":\"\"", "}}"},
      {"google.protobuf.ListValue", "[", "null", "]"},
      {"google.protobuf.ListValue", "[", "[]", "]"},
      {"google.protobuf.ListValue", "[", "{}", "]"},
      {"google.protobuf.FieldMask", "\"", "a", "\""},
      {"cases.v2.P2", "{\"[cases.v2.Scope.scoped_list]\":[", "{\"[cases.v2.other_ext]\":1}", "]}"},
      {"cases.v3.WktRep", "{\"any\":[", "{}", "]}"},
      {"cases.v3.WktRep", "{\"any\":[", "{\"@type\":\"t/cases.v3.Mini\"}", "]}"},
  };
  fixture f = fixture_open();
  char *json = (char *)malloc(COUNT * 40);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t n = (size_t)sprintf(json, "%s", rows[i].head);
    for (int k = 0; k < COUNT; k++) {
      if (k) json[n++] = ',';
      const char *number = strstr(rows[i].element, "%d");
      if (number) {
        n += (size_t)sprintf(json + n, "%.*s%d%s", (int)(number - rows[i].element), rows[i].element, k,
                             number + 2);
      } else {
        n += (size_t)sprintf(json + n, "%s", rows[i].element);
      }
    }
    n += (size_t)sprintf(json + n, "%s", rows[i].tail);
    upb_Arena *arena = upb_Arena_New();
    const bjvm_plan *plan = fixture_plan(&f, rows[i].type);
    bjvm_decode_options options = fixture_decode_options(&f, 0);
    options.max_memory = LIMIT;
    bjvm_status s =
        bjvm_decode(plan, json, n, upb_Message_New(bjvm_plan_table(plan), arena), arena, &options, NULL);
    size_t taken = upb_Arena_SpaceAllocated(arena, NULL);
    cr_expect_eq(s, BJVM_ARENA_LIMIT, "%s%s: %s", rows[i].head, rows[i].element, bjvm_status_name(s));
    cr_expect_leq(taken, (size_t)FACTOR * LIMIT, "%s%s: %zu bytes", rows[i].head, rows[i].element, taken);
    upb_Arena_Free(arena);
  }
  free(json);
  fixture_close(&f);
}

/* A short text over a large target: what last_wins keeps and copies is memory too. */
Test(decode_limits, last_wins_obeys_the_memory_limit) {
  static const struct {
    const char *type, *field, *entry;
  } rows[] = {{"cases.v3.Maps", "kI32", "\"7\":1"},
              {"cases.v3.Maps", "vStr", "\"7\":\"\""},
              {"cases.v3.Wkt", "st", "\"7\":1"}};
  enum { ENTRIES = 5000, TIMES = 40, LIMIT = 10000, SLACK = 1 << 20 };
  fixture f = fixture_open();
  char *json = (char *)malloc(ENTRIES * 20);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t n = (size_t)sprintf(json, "{\"%s\":{", rows[i].field);
    for (int k = 0; k < ENTRIES; k++) {
      n += (size_t)sprintf(json + n, strcmp(rows[i].field, "vStr") ? "%s\"%d\":1" : "%s\"%d\":\"\"",
                           k ? "," : "", k);
    }
    sprintf(json + n, "}}");
    upb_Message *msg = fixture_read_ok(&f, rows[i].type, json);
    n = (size_t)sprintf(json, "{");
    for (int k = 0; k < TIMES; k++) {
      n += (size_t)sprintf(json + n, "%s\"%s\":{%s}", k ? "," : "", rows[i].field, rows[i].entry);
    }
    n += (size_t)sprintf(json + n, "}");
    size_t before = upb_Arena_SpaceAllocated(f.arena, NULL);
    bjvm_decode_options options = fixture_decode_options(&f, BJVM_DECODE_LAST_WINS);
    options.max_memory = LIMIT;
    bjvm_status s = bjvm_decode(fixture_plan(&f, rows[i].type), json, n, msg, f.arena, &options, NULL);
    size_t grown = upb_Arena_SpaceAllocated(f.arena, NULL) - before;
    cr_expect_leq(grown, SLACK, "%s: %s, %zu bytes of text took %zu bytes", rows[i].field,
                  bjvm_status_name(s), n, grown);
  }
  free(json);
  fixture_close(&f);
}

/* Each extension takes an entry of upb's, whatever its value takes. */
Test(decode_limits, extensions_are_memory) {
  static const struct {
    const char *json;
    size_t least; /* entries times their three words */
  } rows[] = {
      {"{\"[cases.v2.ext_num]\":1}", 3 * sizeof(void *)},
      {"{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_long]\":\"1\"}", 6 * sizeof(void *)},
      {"{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_shade]\":1,\"[cases.v2.ext_far]\":1}", 9 * sizeof(void *)}};
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bjvm_decode_options options = fixture_decode_options(&f, 0);
    bjvm_error error = {0};
    for (options.max_memory = 1; options.max_memory < rows[i].least; options.max_memory++)
      cr_expect_eq(fixture_decode_with(&f, "cases.v2.P2", rows[i].json, options, &error), BJVM_ARENA_LIMIT);
    cr_expect(error.offset > 0 && error.offset < strlen(rows[i].json), "%zu", error.offset);
    options.max_memory = 3 * rows[i].least;
    cr_expect_eq(fixture_decode_with(&f, "cases.v2.P2", rows[i].json, options, &error), BJVM_OK);
  }
  fixture_close(&f);
}

/* What was in the message is copied without recursion, and counted. */
Test(decode_limits, last_wins_over_a_deep_message) {
  enum { LEVELS = 300000 };
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.Rec");
  const upb_FieldDef *child = upb_MessageDef_FindFieldByName(def, "child");
  upb_Message *top = fixture_new(&f, "cases.v3.Rec"), *at = top;
  for (int i = 0; i < LEVELS; i++) at = upb_Message_Mutable(at, child, f.arena).msg;
  const char *text = "{\"child\":{\"id\":1},\"child\":{\"child\":{\"id\":2}}}";
  bjvm_decode_options options = fixture_decode_options(&f, BJVM_DECODE_LAST_WINS);
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Rec");
  options.max_memory = LEVELS;
  cr_expect_eq(bjvm_decode(plan, text, strlen(text), top, f.arena, &options, NULL), BJVM_ARENA_LIMIT);
  options.max_memory = 0;
  cr_assert_eq(bjvm_decode(plan, text, strlen(text), top, f.arena, &options, NULL), BJVM_OK);
  unsigned levels = 0;
  const upb_FieldDef *id = upb_MessageDef_FindFieldByName(def, "id");
  for (const upb_Message *m = top; m; m = upb_Message_GetFieldByDef(m, child).msg_val, levels++)
    cr_expect_eq(upb_Message_GetFieldByDef(m, id).int32_val, levels == 2 ? 2 : 0);
  cr_expect_eq(levels, LEVELS + 1);
  fixture_close(&f);
}

/* -- Depth ---------------------------------------------------------------------------------------------- */

/* Objects and arrays inside one another. */
typedef struct nest {
  const char *type;
  const char *open;  /* one level (two where it opens two) */
  const char *inner; /* the innermost value */
  const char *close;
  unsigned levels; /* that `open` adds */
} nest;

static const nest nests[] = {
    {"cases.v3.Rec", "{\"child\":", "{}", "}", 1},
    {"cases.v3.Rec", "{\"kids\":[", "{}", "]}", 2},
    {"cases.v3.Rec", "{\"by\":{\"k\":", "{}", "}}", 2},
    {"cases.v3.Rec", "{\"left\":", "{}", "}", 1},
    {"google.protobuf.Value", "[", "[]", "]", 1},
    {"google.protobuf.Value", "{\"a\":", "{}", "}", 1},
    {"google.protobuf.ListValue", "[", "[]", "]", 1},
    {"google.protobuf.Struct", "{\"a\":", "{}", "}", 1},
    {"google.protobuf.Any", "{\"@type\":\"t/google.protobuf.Any\",\"value\":", "{}", "}", 1},
    {"cases.v3.Maps", "{\"vDeep\":{\"1\":", "{}", "}}", 2},
    {"cases.v2.P2", "{\"[cases.v2.ext_msg]\":", "{}", "}", 1},
};
enum { NESTS = sizeof nests / sizeof *nests };

/* At the limit it reads and prints, one level more and neither does. */
static void check_depth(const nest *n, uint32_t max_depth) {
  fixture f = fixture_open();
  bjvm_cache_set_max_depth(f.cache, max_depth ? max_depth : BJVM_DEFAULT_MAX_DEPTH);
  uint32_t limit = max_depth ? max_depth : BJVM_DEFAULT_MAX_DEPTH;
  unsigned times = (limit - 1) / n->levels; /* and the innermost value is one */
  bjvm_decode_options in = fixture_decode_options(&f, 0);
  bjvm_encode_options out_options = fixture_encode_options(&f, 0);
  in.max_depth = out_options.max_depth = max_depth;
  char *json = fixture_nested(n->open, n->inner, n->close, times);
  upb_Message *msg = fixture_new(&f, n->type);
  bjvm_error error = {0};
  const bjvm_plan *plan = fixture_plan(&f, n->type);
  bjvm_status s = bjvm_decode(plan, json, strlen(json), msg, f.arena, &in, &error);
  cr_assert_eq(s, BJVM_OK, "%s x %u: %s %s", n->open, times, bjvm_status_name(s), error.message);
  bjvm_output out = bjvm_output_heap();
  s = bjvm_encode(plan, msg, &out_options, &out, &error);
  cr_assert_eq(s, BJVM_OK, "%s x %u: %s", n->open, times, error.message);
  cr_assert(out.size == strlen(json) && memcmp(out.data, json, out.size) == 0);
  bjvm_output_free(&out);
  free(json);

  json = fixture_nested(n->open, n->inner, n->close, times + 1);
  s = bjvm_decode(plan, json, strlen(json), fixture_new(&f, n->type), f.arena, &in, &error);
  cr_assert_eq(s, BJVM_DEPTH, "%s x %u: %s", n->open, times + 1, bjvm_status_name(s));
  in.max_depth = limit + n->levels;
  upb_Message *deeper = fixture_new(&f, n->type);
  bjvm_cache_set_max_depth(f.cache, limit + n->levels);
  s = bjvm_decode(plan, json, strlen(json), deeper, f.arena, &in, &error);
  cr_assert_eq(s, BJVM_OK, "%s x %u with a higher limit: %s", n->open, times + 1, error.message);
  out = bjvm_output_heap();
  s = bjvm_encode(plan, deeper, &out_options, &out, &error);
  cr_assert_eq(s, BJVM_DEPTH, "%s x %u: %s", n->open, times + 1, bjvm_status_name(s));
  cr_assert_eq(out.size, 0);
  bjvm_output_free(&out);
  free(json);
  fixture_close(&f);
}

Test(decode_limits, depth_limit_both_ways) {
  static const uint32_t limits[] = {0, 2, 3, 10, 99, 100, 101, 250};
  for (size_t i = 0; i < NESTS; i++) {
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) check_depth(&nests[i], limits[k]);
  }
}

Test(decode_limits, ten_thousand_levels) {
  for (size_t i = 0; i < NESTS; i++) {
    if (strstr(nests[i].type, "Any"))
      continue; /* each Any holds a copy of what is inside: quadratic by nature */
    check_depth(&nests[i], 10000);
  }
}

Test(decode_limits, skipped_values_count_too) {
  fixture f = fixture_open();
  char json[1024];
  for (unsigned levels = 98; levels <= 100; levels++) {
    size_t n = (size_t)snprintf(json, sizeof json, "{\"nope\":");
    for (unsigned i = 0; i < levels; i++) json[n++] = '[';
    for (unsigned i = 0; i < levels; i++) json[n++] = ']';
    json[n++] = '}';
    json[n] = 0;
    bjvm_status s = fixture_decode_with(&f, "cases.v3.Mini", json,
                                        fixture_decode_options(&f, BJVM_DECODE_IGNORE_UNKNOWN), NULL);
    cr_assert_eq(s, levels < 100 ? BJVM_OK : BJVM_DEPTH, "%u: %s", levels, bjvm_status_name(s));
  }
  fixture_close(&f);
}

Test(decode_limits, great_depth_needs_scratch) {
  fixture f = fixture_open();
  bjvm_decode_options options = {.size = sizeof options, .max_depth = 101};
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{}", options, NULL), BJVM_SCRATCH);
  options.scratch = f.scratch;
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{}", options, NULL), BJVM_OK);
  options.max_depth = UINT32_MAX;
  bjvm_status s = fixture_decode_with(&f, "cases.v3.Mini", "{}", options, NULL);
  cr_assert_neq(s, BJVM_OK, "%s", bjvm_status_name(s));
  fixture_close(&f);
}

/* An older caller's struct is shorter; what is behind its size counts as 0. */
Test(decode_limits, options_end_at_their_size) {
  fixture f = fixture_open();
  bjvm_decode_options options = {.size = offsetof(bjvm_decode_options, max_input), .max_input = 1};
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{}", options, NULL), BJVM_OK);
  options.size = sizeof options;
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{}", options, NULL), BJVM_INPUT_LIMIT);
  options.size = sizeof options + 100; /* a newer caller's */
  options.max_input = 2;
  cr_assert_eq(fixture_decode_with(&f, "cases.v3.Mini", "{}", options, NULL), BJVM_OK);
  fixture_close(&f);
}

/* Maps are sized by the commas before the first closing brace, which a text may lie about: maps inside one another around one
 * long string must not each take room for its commas. */
Test(decode_limits, guesses_of_map_sizes_are_bounded) {
  enum { LEVELS = 48, COMMAS = 64000 };
  fixture f = fixture_open();
  char *json = (char *)malloc(COMMAS + LEVELS * 32);
  char *p = json;
  for (int i = 0; i < LEVELS; i++) p += sprintf(p, "{\"vDeep\":{\"1\":");
  p += sprintf(p, "{\"vStr\":{\"k\":\"");
  memset(p, ',', COMMAS);
  p += COMMAS;
  p += sprintf(p, "\"}}");
  for (int i = 0; i < LEVELS; i++) p += sprintf(p, "}}");
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Maps");
  for (int limited = 0; limited < 2; limited++) {
    upb_Arena *arena = upb_Arena_New();
    bjvm_decode_options o = {.size = sizeof o, .max_memory = limited ? 200000 : 0};
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    cr_expect_eq(bjvm_decode(plan, json, (size_t)(p - json), msg, arena, &o, NULL), BJVM_OK);
    cr_expect_lt(upb_Arena_SpaceAllocated(arena, NULL), limited ? 400000 : 1500000, "%zu",
                 (size_t)upb_Arena_SpaceAllocated(arena, NULL));
    upb_Arena_Free(arena);
  }
  free(json);
  fixture_close(&f);
}

/* A wrong guess must not take the room of what the text really holds: what fits a block fits every larger one. */
Test(decode_limits, guesses_leave_room_in_fixed_blocks) {
  fixture f = fixture_open();
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Maps");
  char json[1200];
  char *p = json + sprintf(json, "{\"vStr\":{\"a\":\"");
  memset(p, ',', 900);
  sprintf(p + 900, "\"}}");
  bool fits = false;
  for (size_t size = 800; size < 12000; size += 40) {
    void *block = malloc(size);
    upb_Arena *arena = upb_Arena_Init(block, size, NULL);
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    bjvm_status s = msg ? bjvm_decode(plan, json, strlen(json), msg, arena, NULL, NULL) : BJVM_OUT_OF_MEMORY;
    cr_assert(s == BJVM_OK || (s == BJVM_OUT_OF_MEMORY && !fits), "%zu bytes", size);
    fits = s == BJVM_OK;
    free(block);
  }
  cr_assert(fits);
  fixture_close(&f);
}

Test(decode_limits, skipped_values_count_against_the_element_limit) {
  fixture f = fixture_open();
  const char *texts[] = {"{\"nope\":[1,2,3,4,5,6]}", "{\"nope\":{\"a\":1,\"b\":[2,3],\"c\":4}}"};
  for (int i = 0; i < 2; i++) {
    bjvm_decode_options o = fixture_decode_options(&f, BJVM_DECODE_IGNORE_UNKNOWN);
    o.max_elements = 4;
    cr_expect_eq(fixture_decode_with(&f, "cases.v3.T", texts[i], o, NULL), BJVM_ELEMENT_LIMIT, "%s",
                 texts[i]);
    o.max_elements = 6;
    cr_expect_eq(fixture_decode_with(&f, "cases.v3.T", texts[i], o, NULL), BJVM_OK, "%s", texts[i]);
  }
  fixture_close(&f);
}

/* A million digits are judged in linear time: refused within 10 ms even when the machine is busy (typically 2). */
Test(decode_limits, a_million_digits_are_refused_at_once) {
  enum { DIGITS = 1000000 };
  fixture f = fixture_open();
  char *json = (char *)malloc(DIGITS + 32);
  size_t n = (size_t)sprintf(json, "{\"i64\":");
  memset(json + n, '7', DIGITS);
  json[n + DIGITS] = '}';
  double best = 1e9;
  for (int i = 0; i < 20; i++) {
    bjvm_decode_options o = fixture_decode_options(&f, 0);
    upb_Message *msg = fixture_new(&f, "cases.v3.T");
    clock_t start = clock();
    bjvm_status s = bjvm_decode(fixture_plan(&f, "cases.v3.T"), json, n + DIGITS + 1, msg, f.arena, &o, NULL);
    double ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
    cr_assert_eq(s, BJVM_OUT_OF_RANGE);
    if (ms < best) best = ms;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__has_feature) && !defined(BJVM_TESTS_EMULATED)
  cr_expect_lt(best, 10.0, "%.1f ms", best);
#endif
  free(json);
  fixture_close(&f);
}

/* Out of memory while a map is sized or filled: the message can still be read into, and a guess that does not fit is no failure. */
Test(decode_limits, a_full_arena_leaves_maps_whole) {
  fixture f = fixture_open();
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Maps");
  char *json = (char *)malloc(60000);
  for (size_t block_size = 2048; block_size < 40000; block_size += 1000) {
    void *block = malloc(block_size);
    upb_Arena *arena = upb_Arena_Init(block, block_size, NULL);
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    const char *first = "{\"kStr\":{},\"kI32\":{}}";
    cr_assert_eq(bjvm_decode(plan, first, strlen(first), msg, arena, NULL, NULL), BJVM_OK);
    char *p = json + sprintf(json, "{\"kStr\":{");
    for (int i = 0; i < 3000; i++) p += sprintf(p, "%s\"k%d\":%d", i ? "," : "", i, i);
    p += sprintf(p, "}}");
    cr_assert_eq(bjvm_decode(plan, json, (size_t)(p - json), msg, arena, NULL, NULL), BJVM_OUT_OF_MEMORY);
    const char *last = "{\"kStr\":{\"z\":1}}";
    bjvm_status s = bjvm_decode(plan, last, strlen(last), msg, arena, NULL, NULL);
    cr_expect(s == BJVM_OK || s == BJVM_OUT_OF_MEMORY);
    upb_Arena_Free(arena);
    free(block);
  }
  void *block = malloc(7096);
  upb_Arena *arena = upb_Arena_Init(block, 7096, NULL);
  char *p = json + sprintf(json, "{\"vStr\":{\"k\":\"");
  memset(p, ',', 3000);
  p += 3000;
  p += sprintf(p, "\"}}");
  upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
  cr_expect_eq(bjvm_decode(plan, json, (size_t)(p - json), msg, arena, NULL, NULL), BJVM_OK);
  free(block);
  free(json);
  fixture_close(&f);
}

/* An Any reads into an arena that cannot grow, as long as it fits. */
Test(decode_limits, an_any_in_a_fixed_arena) {
  fixture f = fixture_open();
  const bjvm_plan *plan = fixture_plan(&f, "google.protobuf.Any");
  char json[6000];
  for (int n = 10; n < 5500; n += 500) {
    void *block = malloc(4096);
    upb_Arena *arena = upb_Arena_Init(block, 4096, NULL);
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    int size = sprintf(json, "{\"@type\":\"a/cases.v3.Mini\",\"s\":\"%0*d\"}", n, 7);
    bjvm_decode_options o = fixture_decode_options(&f, 0);
    bjvm_status s = bjvm_decode(plan, json, (size_t)size, msg, arena, &o, NULL);
    cr_expect_eq(s, n < 3500 ? BJVM_OK : n > 4096 ? BJVM_OUT_OF_MEMORY : s, "%d: %s", n, bjvm_status_name(s));
    free(block);
  }
  fixture_close(&f);
}

/* Content that binary protobuf nests more deeply than the cache was told of is an error, not a stack overflow. */
Test(decode_limits, an_any_too_deep_to_pack) {
  enum { LEVELS = 15000 };
  fixture f = fixture_open();
  char *json = (char *)malloc(2 * LEVELS + 100);
  char *p = json + sprintf(json, "{\"@type\":\"a/google.protobuf.ListValue\",\"value\":");
  memset(p, '[', LEVELS);
  memset(p + LEVELS, ']', LEVELS);
  p += 2 * LEVELS;
  *p++ = '}';
  bjvm_decode_options o = fixture_decode_options(&f, 0);
  o.max_depth = 1000000;
  bjvm_status s = bjvm_decode(fixture_plan(&f, "google.protobuf.Any"), json, (size_t)(p - json),
                              fixture_new(&f, "google.protobuf.Any"), f.arena, &o, NULL);
  cr_expect_eq(s, BJVM_DEPTH);
  free(json);
  fixture_close(&f);
}

/* A registry that says it is shorter than ours would be read beyond its end. */
Test(decode_limits, a_registry_of_another_size_is_refused) {
  fixture f = fixture_open();
  bjvm_decode_options o = fixture_decode_options(&f, 0);
  bjvm_registry registry = *o.registry;
  o.registry = &registry;
  cr_expect_eq(fixture_decode_with(&f, "cases.v3.Mini", "{\"n\":1}", o, NULL), BJVM_OK);
  registry.size--;
  cr_expect_eq(fixture_decode_with(&f, "cases.v3.Mini", "{\"n\":1}", o, NULL), BJVM_BAD_ARGUMENT);
  bjvm_output out = bjvm_output_heap();
  bjvm_encode_options e = {.size = sizeof e, .registry = &registry};
  upb_Message *msg = fixture_read_ok(&f, "cases.v3.Mini", "{\"n\":5}");
  cr_expect_eq(bjvm_encode(fixture_plan(&f, "cases.v3.Mini"), msg, &e, &out, NULL), BJVM_BAD_ARGUMENT);
  bjvm_output_free(&out);
  fixture_close(&f);
}
