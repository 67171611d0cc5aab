/* bjvm_decode: arrays of integers and strings, which are read many elements at a time where each is plain and has a
 * comma right behind it.
 *
 * The slow twin is the loop over one element at a time. A blank in front of each comma sends every element there and
 * changes nothing else, so each text is read twice, with and without.
 */
#include "fixture.h"

enum { TEXT_ROOM = 20000, ROUNDS = 6000 };

typedef struct pair {
  uint64_t state;
  char text[TEXT_ROOM], spaced[TEXT_ROOM]; /* the same but for the blanks */
  size_t size, spaced_size;
  size_t place[TEXT_ROOM + 1]; /* of each byte of `text`, and its end, in `spaced` */
} pair;

static uint32_t pick(pair *a, uint32_t below) {
  a->state = a->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(a->state >> 33) % below;
}

static void add(pair *a, const char *text) {
  for (; *text; text++) {
    a->place[a->size] = a->spaced_size;
    a->text[a->size++] = *text;
    a->spaced[a->spaced_size++] = *text;
  }
  a->place[a->size] = a->spaced_size;
}

static void add_comma(pair *a) {
  a->spaced[a->spaced_size++] = ' ';
  add(a, ",");
}

static void add_integer(pair *a, bool is_signed, uint32_t odd) {
  static const char *const others[] = {"-0",
                                       "007",
                                       "1e3",
                                       "12.0",
                                       "\"5\"",
                                       "1.5",
                                       "2147483647",
                                       "-1",
                                       "-2147483648",
                                       "2147483648",
                                       "-2147483649",
                                       "4294967295",
                                       "4294967296",
                                       "null",
                                       "1a",
                                       "-",
                                       "+1",
                                       "0x10",
                                       "9999999999",
                                       "\"-7\"",
                                       "12345678901234567890",
                                       "",
                                       "true",
                                       "123456789012345",
                                       "000000001",
                                       "1234567890123456"};
  char text[32];
  if (pick(a, odd) == 0) {
    add(a, others[pick(a, sizeof others / sizeof *others)]);
    return;
  }
  uint32_t v = (pick(a, 65536) << 16 | pick(a, 65536)) >> pick(a, 32);
  if (is_signed) snprintf(text, sizeof text, "%d", (int32_t)v);
  else snprintf(text, sizeof text, "%u", v);
  add(a, text);
}

/* None with a quote too few or too many: a blank would be part of a string then. */
static void add_string(pair *a, uint32_t odd) {
  static const char *const others[] = {
      "\"\\n\"", "\"a\\\"b\"", "\"\\u00e9\"", "\"\xc3\xa9\"", "\"bad \xff\"", "\"tab\there\"", "null", "7",
      "\"a\",",  "\"x\" ",     " \"y\"",      "\"\\ud800\"",  "\"a,b\"",      "\"x\"\"y\"",    ""};
  if (pick(a, odd) == 0) {
    add(a, others[pick(a, sizeof others / sizeof *others)]);
    return;
  }
  char text[120];
  size_t size = pick(a, 12) ? pick(a, 24) : pick(a, 100);
  text[0] = '"';
  for (size_t i = 1; i <= size; i++) text[i] = (char)("abcdefghij klmno,:[]{}'/"[pick(a, 24)]);
  text[size + 1] = '"';
  text[size + 2] = 0;
  add(a, text);
}

static void make(pair *a, int kind, uint32_t odd) {
  static const char *const names[] = {"{\"i32\":[", "{\"u32\":[", "{\"str\":["};
  a->size = a->spaced_size = 0;
  add(a, names[kind]);
  uint32_t count = pick(a, pick(a, 3) ? 30 : 200);
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) add_comma(a);
    if (kind == 2) add_string(a, odd);
    else add_integer(a, kind == 0, odd);
  }
  add(a, pick(a, 20) ? "]" : "}");
  add(a, "}");
}

/* Reads the first `size` bytes, which lie at the end of their own memory, and gives the content as binary. */
static bjvm_status read_text(const fixture *f, const char *text, size_t size, bjvm_decode_options options,
                             bjvm_error *error, upb_StringView *content) {
  char *own = (char *)malloc(size + 1);
  memcpy(own + 1, text, size);
  upb_Message *msg = fixture_new(f, "cases.v3.Rep");
  bjvm_status s = bjvm_decode(fixture_plan(f, "cases.v3.Rep"), own + 1, size, msg, f->arena, &options, error);
  const upb_MiniTable *table = bjvm_plan_table(fixture_plan(f, "cases.v3.Rep"));
  char *data;
  cr_assert_eq(upb_Encode(msg, table, 0, f->arena, &data, &content->size), kUpb_EncodeStatus_Ok);
  content->data = data;
  free(own);
  return s;
}

/* Where the first `size` bytes end in `spaced`: in front of the blank. */
static size_t end_of(const pair *a, size_t size) { return size ? a->place[size - 1] + 1 : 0; }

static void compare(const fixture *f, const pair *a, size_t size, bjvm_decode_options options) {
  bjvm_error error[2] = {{0}, {0}};
  upb_StringView content[2];
  bjvm_status s = read_text(f, a->text, size, options, &error[0], &content[0]);
  bjvm_status twin = read_text(f, a->spaced, end_of(a, size), options, &error[1], &content[1]);
  cr_assert_eq(s, twin, "%s, not %s: %.*s", bjvm_status_name(s), bjvm_status_name(twin), (int)size, a->text);
  cr_assert(upb_StringView_IsEqual(content[0], content[1]), "%.*s", (int)size, a->text);
  if (s == BJVM_OK) return;
  size_t at = error[0].offset == size ? end_of(a, size) : a->place[error[0].offset];
  cr_assert_eq(at, error[1].offset, "byte %zu, and %zu: %.*s", error[0].offset, error[1].offset, (int)size,
               a->text);
  cr_assert_str_eq(error[0].path, error[1].path);
}

Test(decode_array, many_at_once_and_one_by_one) {
  fixture f = fixture_open();
  pair *a = (pair *)malloc(sizeof *a);
  a->state = 20261130;
  for (int round = 0; round < ROUNDS; round++) {
    make(a, round % 3, round % 2 ? 1000 : 20);
    bjvm_decode_options options = fixture_decode_options(&f, 0);
    compare(&f, a, a->size, options);
    compare(&f, a, pick(a, (uint32_t)a->size), options);
    options.max_elements = 1 + pick(a, 60);
    compare(&f, a, a->size, options);
    if (round % 100 == 0) {
      upb_Arena_Free(f.arena);
      f.arena = upb_Arena_New();
    }
  }
  free(a);
  fixture_close(&f);
}

/* Memory that ends anywhere: what was taken stays, the failure is told, nothing is read or written beyond. */
Test(decode_array, memory_ends) {
  fixture f = fixture_open();
  pair *a = (pair *)malloc(sizeof *a);
  a->state = 7;
  for (int kind = 0; kind < 3; kind++) {
    do make(a, kind, UINT32_MAX);
    while (a->size < 600 || a->text[a->size - 2] != ']');
    bool done = false;
    for (size_t limit = 8; !done && limit < 20000; limit += 8) {
      bjvm_decode_options options = fixture_decode_options(&f, 0);
      options.max_memory = limit;
      bjvm_error error = {0};
      upb_StringView content;
      bjvm_status s = read_text(&f, a->text, a->size, options, &error, &content);
      done = s == BJVM_OK;
      cr_assert(done || s == BJVM_ARENA_LIMIT, "%s at limit %zu", bjvm_status_name(s), limit);
      cr_assert(done || (error.offset > 0 && error.offset < a->size));
    }
    cr_assert(done);
    done = false;
    for (size_t size = 512; !done && size < 40000; size += 8) {
      char *block = (char *)malloc(size);
      upb_Arena *fixed = upb_Arena_Init(block, size, NULL);
      upb_Message *msg =
          fixed ? upb_Message_New(bjvm_plan_table(fixture_plan(&f, "cases.v3.Rep")), fixed) : NULL;
      if (msg) {
        bjvm_status s =
            bjvm_decode(fixture_plan(&f, "cases.v3.Rep"), a->text, a->size, msg, fixed, NULL, NULL);
        done = s == BJVM_OK;
        cr_assert(done || s == BJVM_OUT_OF_MEMORY, "%s with %zu bytes", bjvm_status_name(s), size);
      }
      if (fixed) upb_Arena_Free(fixed);
      free(block);
    }
    cr_assert(done);
  }
  free(a);
  fixture_close(&f);
}
