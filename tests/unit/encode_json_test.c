/* bjvm_encode: Struct, ListValue and Value, which a loop of their own prints where map keys are not sorted.
 *
 * The slow twin is the loop for any plan, which prints them with sorted keys. The expected text is put together here from
 * what that gives for each single value, in the order of upb's iterator; failures must be reported alike by both.
 */
#include <math.h>

#include "fixture.h"

enum { ROUNDS = 4000, TEXT_ROOM = 1 << 18, DEEPEST = 5 };

typedef enum fault { NO_FAULT, EMPTY, NOT_A_NUMBER, BAD_STRING, BAD_KEY, FAULTS } fault;

typedef struct tree {
  fixture f;
  const upb_MessageDef *value, *list, *object, *member;
  uint64_t state;
  fault fault;
  uint32_t values;   /* made so far */
  uint32_t fault_at; /* the value that gets the fault */
  char *text;        /* expected */
  size_t size;
} tree;

static uint32_t pick(tree *t, uint32_t below) {
  t->state = t->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(t->state >> 33) % below;
}

static tree tree_open(void) {
  tree t = {.f = fixture_open(), .state = 20261130, .text = (char *)malloc(TEXT_ROOM)};
  t.value = test_find_message(t.f.pool, "google.protobuf.Value");
  t.list = test_find_message(t.f.pool, "google.protobuf.ListValue");
  t.object = test_find_message(t.f.pool, "google.protobuf.Struct");
  t.member = upb_FieldDef_MessageSubDef(upb_MessageDef_Field(t.object, 0));
  return t;
}

static void tree_close(tree *t) {
  free(t->text);
  fixture_close(&t->f);
}

/* -- Making ---------------------------------------------------------------------------------------------- */

static const upb_FieldDef *field_of(const upb_MessageDef *type, const char *name) {
  return upb_MessageDef_FindFieldByName(type, name);
}

static upb_StringView random_string(tree *t, bool bad) {
  static const char *const odd[] = {"\"", "\\",   "\n", "\xc3\xa9", "\xf0\x9f\x98\x80",
                                    "<",  "\x01", "/",  "\x7f"};
  char *text = (char *)upb_Arena_Malloc(t->f.arena, 128);
  size_t size = 0, wanted = pick(t, 10) ? pick(t, 34) : pick(t, 100);
  while (size < wanted) {
    const char *piece = pick(t, 60) ? "k" : odd[pick(t, sizeof odd / sizeof *odd)];
    if (*piece == 'k') text[size++] = (char)('a' + pick(t, 26));
    else
      for (; *piece; piece++) text[size++] = *piece;
  }
  if (bad) text[size++] = (char)0xff;
  return upb_StringView_FromDataAndSize(text, size);
}

static double random_number(tree *t) {
  switch (pick(t, 5)) {
    case 0: return (double)pick(t, 1000) - 500;
    case 1: return -0.0;
    case 2: return (double)pick(t, 1u << 30) / 7;
    case 3: return 1e300 * (pick(t, 9) + 1);
    default: return (double)pick(t, 100000) / 1000;
  }
}

static void fill_value(tree *t, upb_Message *value, int depth);

static void fill_object(tree *t, upb_Message *object, int depth, uint32_t most) {
  const upb_FieldDef *fields = upb_MessageDef_Field(t->object, 0);
  for (uint32_t n = pick(t, most + 1); n > 0; n--) {
    bool bad = t->fault == BAD_KEY && t->values == t->fault_at;
    upb_MessageValue key = {.str_val = random_string(t, bad)}, value;
    value.msg_val = upb_Message_New(upb_MessageDef_MiniTable(t->value), t->f.arena);
    fill_value(t, (upb_Message *)(uintptr_t)value.msg_val, depth - 1);
    upb_Map_Set(upb_Message_Mutable(object, fields, t->f.arena).map, key, value, t->f.arena);
  }
  if (pick(t, 3) == 0) (void)upb_Message_Mutable(object, fields, t->f.arena); /* there, and maybe empty */
}

static void fill_list(tree *t, upb_Message *list, int depth, uint32_t most) {
  const upb_FieldDef *values = upb_MessageDef_Field(t->list, 0);
  for (uint32_t n = pick(t, most + 1); n > 0; n--) {
    upb_MessageValue value = {.msg_val = upb_Message_New(upb_MessageDef_MiniTable(t->value), t->f.arena)};
    fill_value(t, (upb_Message *)(uintptr_t)value.msg_val, depth - 1);
    upb_Array_Append(upb_Message_Mutable(list, values, t->f.arena).array, value, t->f.arena);
  }
}

static void fill_value(tree *t, upb_Message *value, int depth) {
  static const char *const names[] = {"null_value",   "bool_value",   "number_value",
                                      "string_value", "struct_value", "list_value"};
  bool hit = t->values++ == t->fault_at;
  uint32_t which = pick(t, depth > 0 ? 6 : 4);
  upb_MessageValue v = {.uint64_val = 0};
  if (hit && t->fault == EMPTY) return;
  if (hit && t->fault == NOT_A_NUMBER) which = 2;
  if (hit && t->fault == BAD_STRING) which = 3;
  const upb_FieldDef *field = field_of(t->value, names[which]);
  switch (which) {
    case 0: break;
    case 1: v.bool_val = pick(t, 2); break;
    case 2: v.double_val = hit && t->fault == NOT_A_NUMBER ? NAN : random_number(t); break;
    case 3: v.str_val = random_string(t, hit && t->fault == BAD_STRING); break;
    case 4:
      fill_object(t, upb_Message_Mutable(value, field, t->f.arena).msg, depth, pick(t, 8) ? 6 : 60);
      return;
    default: fill_list(t, upb_Message_Mutable(value, field, t->f.arena).msg, depth, 5); return;
  }
  upb_Message_SetFieldByDef(value, field, v, t->f.arena);
}

/* -- Expecting ------------------------------------------------------------------------------------------- */

static void expect_text(tree *t, const char *text, size_t size) {
  cr_assert_lt(t->size + size, TEXT_ROOM);
  memcpy(t->text + t->size, text, size);
  t->size += size;
}

/* By the twin: a message that holds no map of more than one entry. */
static void expect_leaf(tree *t, const upb_Message *value) {
  bjvm_output out = bjvm_output_arena(t->f.arena);
  bjvm_encode_options options = fixture_encode_options(&t->f, BJVM_ENCODE_SORT_MAP_KEYS);
  cr_assert_eq(bjvm_encode(fixture_plan(&t->f, "google.protobuf.Value"), value, &options, &out, NULL),
               BJVM_OK);
  expect_text(t, out.data, out.size);
}

static void expect_key(tree *t, upb_StringView key) {
  upb_Message *value = upb_Message_New(upb_MessageDef_MiniTable(t->value), t->f.arena);
  upb_Message_SetFieldByDef(value, field_of(t->value, "string_value"), (upb_MessageValue){.str_val = key},
                            t->f.arena);
  expect_leaf(t, value);
  expect_text(t, ":", 1);
}

static void expect_value(tree *t, const upb_Message *value);

static void expect_object(tree *t, const upb_Message *object) {
  const upb_Map *map = upb_Message_GetFieldByDef(object, upb_MessageDef_Field(t->object, 0)).map_val;
  size_t at = kUpb_Map_Begin;
  upb_MessageValue key, value;
  expect_text(t, "{", 1);
  for (bool first = true; map && upb_Map_Next(map, &key, &value, &at); first = false) {
    if (!first) expect_text(t, ",", 1);
    expect_key(t, key.str_val);
    expect_value(t, value.msg_val);
  }
  expect_text(t, "}", 1);
}

static void expect_list(tree *t, const upb_Message *list) {
  const upb_Array *array = upb_Message_GetFieldByDef(list, upb_MessageDef_Field(t->list, 0)).array_val;
  expect_text(t, "[", 1);
  for (size_t i = 0; array && i < upb_Array_Size(array); i++) {
    if (i > 0) expect_text(t, ",", 1);
    expect_value(t, upb_Array_Get(array, i).msg_val);
  }
  expect_text(t, "]", 1);
}

static void expect_value(tree *t, const upb_Message *value) {
  const upb_FieldDef *object = field_of(t->value, "struct_value"), *list = field_of(t->value, "list_value");
  if (upb_Message_HasFieldByDef(value, object)) {
    expect_object(t, upb_Message_GetFieldByDef(value, object).msg_val);
  } else if (upb_Message_HasFieldByDef(value, list)) {
    expect_list(t, upb_Message_GetFieldByDef(value, list).msg_val);
  } else {
    expect_leaf(t, value);
  }
}

/* -- Tests ----------------------------------------------------------------------------------------------- */

/* A message of one of the three types, as large as the round makes it; `*type` is its name. */
static upb_Message *make(tree *t, const char **type) {
  static const char *const types[] = {"google.protobuf.Value", "google.protobuf.Struct",
                                      "google.protobuf.ListValue"};
  uint32_t which = pick(t, 3);
  int depth = (int)pick(t, DEEPEST);
  *type = types[which];
  upb_Message *msg = fixture_new(&t->f, *type);
  t->values = 0;
  if (which == 0) fill_value(t, msg, depth);
  if (which == 1) fill_object(t, msg, depth, 40);
  if (which == 2) fill_list(t, msg, depth, 10);
  return msg;
}

static void expect(tree *t, const char *type, const upb_Message *msg) {
  t->size = 0;
  if (strcmp(type, "google.protobuf.Value") == 0) expect_value(t, msg);
  else if (strcmp(type, "google.protobuf.Struct") == 0) expect_object(t, msg);
  else expect_list(t, msg);
}

/* Into memory that grows by little, so that room ends everywhere. */
static void check_growing(const tree *t, const char *type, const upb_Message *msg) {
  bjvm_output out = bjvm_output_heap();
  bjvm_encode_options options = fixture_encode_options(&t->f, 0);
  cr_assert_eq(bjvm_encode(fixture_plan(&t->f, type), msg, &options, &out, NULL), BJVM_OK);
  cr_assert(out.size == t->size && memcmp(out.data, t->text, t->size) == 0, "%.*s\nexpected %.*s",
            (int)out.size, out.data, (int)t->size, t->text);
  bjvm_output_free(&out);
}

/* Into a block of any size. */
static void check_fixed(tree *t, const char *type, const upb_Message *msg) {
  size_t room = pick(t, (uint32_t)t->size + 8);
  char *block = (char *)malloc(room + 1);
  bjvm_output out = bjvm_output_fixed(block, room);
  bjvm_encode_options options = fixture_encode_options(&t->f, 0);
  bjvm_status s = bjvm_encode(fixture_plan(&t->f, type), msg, &options, &out, NULL);
  cr_assert_eq(s, room < t->size ? BJVM_OVERFLOW : BJVM_OK);
  if (s == BJVM_OK) cr_assert(out.size == t->size && memcmp(block, t->text, t->size) == 0);
  else cr_assert_eq(out.needed, t->size);
  free(block);
}

/* Escaping of all that is not ASCII, which short strings have no short cut for. */
static void check_ascii(const tree *t, const char *type, const upb_Message *msg) {
  bjvm_output out = bjvm_output_arena(t->f.arena);
  bjvm_encode_options options = fixture_encode_options(&t->f, BJVM_ENCODE_ASCII);
  cr_assert_eq(bjvm_encode(fixture_plan(&t->f, type), msg, &options, &out, NULL), BJVM_OK);
  upb_Message *back = fixture_new(&t->f, type);
  bjvm_decode_options read = fixture_decode_options(&t->f, 0);
  bjvm_error error = {0};
  bjvm_status s = bjvm_decode(fixture_plan(&t->f, type), out.data, out.size, back, t->f.arena, &read, &error);
  if (s != BJVM_OK && error.code == BJVM_DUPLICATE_KEY) return;
  cr_assert_eq(s, BJVM_OK, "%s: %.*s", error.message, (int)out.size, out.data);
  for (size_t i = 0; i < out.size; i++) cr_assert_lt((unsigned char)out.data[i], 0x80);
  cr_assert_str_eq(fixture_json(&t->f, type, back), fixture_json(&t->f, type, msg));
}

Test(encode_json, like_the_loop_for_any_plan) {
  tree t = tree_open();
  size_t long_ones = 0;
  for (int i = 0; i < ROUNDS; i++) {
    const char *type;
    t.fault = NO_FAULT;
    upb_Message *msg = make(&t, &type);
    expect(&t, type, msg);
    check_growing(&t, type, msg);
    check_fixed(&t, type, msg);
    check_ascii(&t, type, msg);
    long_ones += t.size > 2000;
    upb_Arena_Free(t.f.arena);
    t.f.arena = upb_Arena_New();
  }
  cr_expect_gt(long_ones, ROUNDS / 100);
  tree_close(&t);
}

typedef struct failure {
  bjvm_status status;
  bjvm_error error;
} failure;

static failure fail_with(const tree *t, const char *type, const upb_Message *msg, uint32_t flags,
                         uint32_t depth) {
  failure f;
  bjvm_output out = bjvm_output_arena(t->f.arena);
  bjvm_encode_options options = fixture_encode_options(&t->f, flags);
  options.max_depth = depth;
  f.status = bjvm_encode(fixture_plan(&t->f, type), msg, &options, &out, &f.error);
  if (f.status != BJVM_OK) cr_assert_eq(out.size, 0, "nothing is left of a text that failed");
  return f;
}

static void compare(failure a, failure b) {
  cr_assert_eq(a.status, b.status, "%s, %s", a.error.message, b.error.message);
  if (a.status == BJVM_OK) return;
  cr_assert_str_eq(a.error.path, b.error.path);
  cr_assert_str_eq(a.error.message, b.error.message);
}

Test(encode_json, fails_like_the_loop_for_any_plan) {
  static const bjvm_status statuses[FAULTS] = {BJVM_OK, BJVM_EMPTY_VALUE, BJVM_NOT_FINITE, BJVM_BAD_UTF8,
                                               BJVM_BAD_UTF8};
  tree t = tree_open();
  size_t failures[FAULTS] = {0};
  for (int i = 0; i < ROUNDS; i++) {
    const char *type;
    t.fault = (fault)(1 + pick(&t, FAULTS - 1));
    t.fault_at = pick(&t, 12);
    upb_Message *msg = make(&t, &type);
    failure plain = fail_with(&t, type, msg, 0, 0);
    compare(plain, fail_with(&t, type, msg, BJVM_ENCODE_SORT_MAP_KEYS, 0));
    if (plain.status != BJVM_OK) cr_assert_eq(plain.status, statuses[t.fault]);
    failures[t.fault] += plain.status != BJVM_OK;
    upb_Arena_Free(t.f.arena);
    t.f.arena = upb_Arena_New();
  }
  for (int i = 1; i < FAULTS; i++) cr_expect_gt(failures[i], ROUNDS / 20, "fault %d", i);
  tree_close(&t);
}

/* The depth that is allowed is the same, and so is the place where it ends: one branch, so both meet it alike. */
Test(encode_json, as_deep_as_the_loop_for_any_plan) {
  static const char *const shapes[][2] = {
      {"{\"a\":", "}"}, {"[", "]"}, {"{\"a\":[", "]}"}, {"[{\"b\":", "}]"}};
  tree t = tree_open();
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    char *json = fixture_nested(shapes[i][0], "[]", shapes[i][1], 12);
    upb_Message *msg = fixture_read_ok(&t.f, "google.protobuf.Value", json);
    size_t refused = 0;
    for (uint32_t depth = 1; depth < 40; depth++) {
      failure plain = fail_with(&t, "google.protobuf.Value", msg, 0, depth);
      compare(plain, fail_with(&t, "google.protobuf.Value", msg, BJVM_ENCODE_SORT_MAP_KEYS, depth));
      refused += plain.status == BJVM_DEPTH;
    }
    cr_expect(refused >= 12 && refused < 39);
    free(json);
  }
  tree_close(&t);
}

/* Inside messages: what follows is printed too, and the path has the member in front. */
Test(encode_json, inside_messages) {
  static const char text[] =
      "{\"st\":{\"a\":[1,{\"b\":2}]},\"val\":[true,[null,3]],\"lv\":[{\"x\":4}],\"wi\":7}";
  tree t = tree_open();
  const upb_MessageDef *wkt = test_find_message(t.f.pool, "cases.v3.Wkt");
  upb_Message *msg = fixture_read_ok(&t.f, "cases.v3.Wkt", text);
  bjvm_output out = bjvm_output_arena(t.f.arena);
  cr_assert_eq(bjvm_encode(fixture_plan(&t.f, "cases.v3.Wkt"), msg, NULL, &out, NULL), BJVM_OK);
  cr_expect(out.size == sizeof text - 1 && memcmp(out.data, text, out.size) == 0, "%.*s", (int)out.size,
            out.data);
  /* val[1][1] loses what it holds */
  const upb_FieldDef *list = field_of(t.value, "list_value"), *values = upb_MessageDef_Field(t.list, 0);
  const upb_Message *value = upb_Message_GetFieldByDef(msg, field_of(wkt, "val")).msg_val;
  for (int i = 0; i < 2; i++) {
    const upb_Message *inner = upb_Message_GetFieldByDef(value, list).msg_val;
    value = upb_Array_Get(upb_Message_GetFieldByDef(inner, values).array_val, 1).msg_val;
  }
  upb_Message_ClearFieldByDef((upb_Message *)(uintptr_t)value, field_of(t.value, "number_value"));
  failure plain = fail_with(&t, "cases.v3.Wkt", msg, 0, 0);
  cr_expect_eq(plain.status, BJVM_EMPTY_VALUE);
  cr_expect_str_eq(plain.error.path, "val[1][1]");
  compare(plain, fail_with(&t, "cases.v3.Wkt", msg, BJVM_ENCODE_SORT_MAP_KEYS, 0));
  /* the first frame does not fit: the field is named */
  static const char *const fields[][2] = {
      {"{\"st\":{}}", "st"}, {"{\"lv\":[]}", "lv"}, {"{\"val\":{}}", "val"}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    msg = fixture_read_ok(&t.f, "cases.v3.Wkt", fields[i][0]);
    plain = fail_with(&t, "cases.v3.Wkt", msg, 0, 1);
    cr_expect_eq(plain.status, BJVM_DEPTH);
    cr_expect_str_eq(plain.error.path, fields[i][1]);
    compare(plain, fail_with(&t, "cases.v3.Wkt", msg, BJVM_ENCODE_SORT_MAP_KEYS, 1));
  }
  tree_close(&t);
}
