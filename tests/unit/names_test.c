/* Names of fields: which .proto names a plan stores and which it derives, and that reading and printing do not
 * tell the difference.
 *
 * What a name stands for is said once more here, from the descriptors alone: the first field, by number, that
 * has it as its JSON name, else the one that has it as its .proto name.
 */
#include "fixture.h"
#include "plan.h"

/* -- Schemas -------------------------------------------------------------------------------------------- */

typedef struct field {
  const char *proto, *json; /* json NULL: what the .proto name gives */
} field;

/* A pool with the message g.M of `count` fields, which are int32 and numbered from 1. NULL: upb does not take
 * them. */
static upb_DefPool *pool_of(const field *fields, int count, const char *syntax) {
  upb_Arena *arena = upb_Arena_New();
  google_protobuf_FileDescriptorProto *file = google_protobuf_FileDescriptorProto_new(arena);
  google_protobuf_FileDescriptorProto_set_name(file, fixture_text(arena, "g.proto"));
  google_protobuf_FileDescriptorProto_set_package(file, fixture_text(arena, "g"));
  google_protobuf_FileDescriptorProto_set_syntax(file, fixture_text(arena, syntax));
  google_protobuf_DescriptorProto *m = fixture_message(file, "M", arena);
  for (int i = 0; i < count; i++) {
    google_protobuf_FieldDescriptorProto *f =
        fixture_field(m, fields[i].proto, i + 1, kUpb_FieldType_Int32, false, NULL, arena);
    if (fields[i].json)
      google_protobuf_FieldDescriptorProto_set_json_name(f, fixture_text(arena, fields[i].json));
  }
  upb_DefPool *pool = upb_DefPool_New();
  upb_Status status;
  upb_Status_Clear(&status);
  const upb_FileDef *def = upb_DefPool_AddFile(pool, file, &status);
  upb_Arena_Free(arena);
  if (def) return pool;
  upb_DefPool_Free(pool);
  return NULL;
}

static fixture fixture_with(const field *fields, int count) {
  upb_DefPool *pool = pool_of(fields, count, "proto2");
  cr_assert_not_null(pool);
  return fixture_of(pool);
}

/* The number of the field that `name` stands for, or 0. */
static uint32_t meaning(const upb_MessageDef *m, const char *name) {
  uint32_t count = (uint32_t)upb_MessageDef_FieldCount(m);
  for (int proto = 0; proto < 2; proto++)
    for (uint32_t i = 1; i <= count; i++) {
      const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(m, i);
      if (strcmp(proto ? upb_FieldDef_Name(f) : upb_FieldDef_JsonName(f), name) == 0) return i;
    }
  return 0;
}

/* The number of the field that reading {"name":7} sets; 0: there is none of that name. */
static uint32_t read_one(const fixture *f, const char *name) {
  const upb_MessageDef *m = test_find_message(f->pool, "g.M");
  upb_Message *msg = fixture_new(f, "g.M");
  size_t size = strlen(name);
  char *json = (char *)malloc(size + 8);
  memcpy(json, "{\"", 2);
  memcpy(json + 2, name, size);
  memcpy(json + 2 + size, "\":7}", 5);
  bjvm_status s = fixture_merge(f, "g.M", json, 0, msg);
  free(json);
  if (s != BJVM_OK) cr_assert_eq(s, BJVM_UNKNOWN_FIELD, "%s: %s", name, bjvm_status_name(s));
  uint32_t found = 0;
  for (uint32_t i = 1; i <= (uint32_t)upb_MessageDef_FieldCount(m); i++) {
    bool set = upb_Message_GetFieldByDef(msg, upb_MessageDef_FindFieldByNumber(m, i)).int32_val == 7;
    if (set) cr_assert_eq(found, 0, "%s: two fields", name);
    if (set) found = i;
  }
  cr_assert_eq(found != 0, s == BJVM_OK, "%s", name);
  return found;
}

static const char *print(const fixture *f, const upb_Message *msg, uint32_t flags) {
  bjvm_error error = {0};
  bjvm_output out = bjvm_output_arena(f->arena);
  bjvm_encode_options options = fixture_encode_options(f, flags);
  bjvm_status s = bjvm_encode(fixture_plan(f, "g.M"), msg, &options, &out, &error);
  cr_assert_eq(s, BJVM_OK, "%s", error.message);
  char *text = (char *)upb_Arena_Malloc(f->arena, out.size + 1);
  memcpy(text, out.data, out.size);
  text[out.size] = 0;
  return text;
}

/* -- What is derived ------------------------------------------------------------------------------------ */

/* The flags of the name of field `number`. */
static uint32_t name_flags(const fixture *f, uint32_t number) {
  const bjvm_plan *plan = fixture_plan(f, "g.M");
  return bjvmi_name_flags(plan->names, plan->words[number - 1].name) & (BJVMI_NAME_ALT | BJVMI_NAME_DERIVED);
}

Test(names, what_is_derived) {
  enum { SAME = 0, ALT = BJVMI_NAME_ALT, DERIVED = BJVMI_NAME_DERIVED };
  static const struct {
    field field;
    uint32_t flags;
  } rows[] = {
      {{"ab", NULL}, SAME},     {{"a_b", NULL}, DERIVED},    {{"_a", NULL}, DERIVED},
      {{"a__b", NULL}, ALT},    {{"a_", NULL}, ALT},         {{"a1_b", NULL}, DERIVED},
      {{"a_1", NULL}, ALT},     {{"a_1b", NULL}, ALT},       {{"a_b1_c", NULL}, DERIVED},
      {{"aB", NULL}, SAME},     {{"Ab", NULL}, SAME},        {{"AB", NULL}, SAME},
      {{"a_B", NULL}, ALT},     {{"A_b", NULL}, ALT},        {{"aB_c", NULL}, ALT},
      {{"__a", NULL}, ALT},     {{"_", NULL}, ALT},          {{"a_b", "ab"}, ALT},
      {{"a_b", "aB"}, DERIVED}, {{"a_b", "a_b"}, SAME},      {{"a__b", "a_B"}, ALT},
      {{"a_b_c", "a_bC"}, ALT}, {{"a_b_c", "aB_c"}, ALT},    {{"a_b", "aB<"}, ALT},
      {{"a_b", "A_b"}, ALT},    {{"_a", "A"}, DERIVED},      {{"_a_b", "AB"}, DERIVED},
      {{"a_b", "a.B"}, ALT},    {{"a_b", "a\xc3\x84"}, ALT}, {{"a_b", "a\"B"}, ALT},
      {{"a_bc", "aB"}, ALT},    {{"a_b", "aBc"}, ALT},       {{"a_b", "aBC"}, ALT},
      {{"x", "aB"}, ALT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *proto = rows[i].field.proto;
    fixture f = fixture_with(&rows[i].field, 1);
    cr_expect_eq(name_flags(&f, 1), rows[i].flags, "row %zu: %s, %u", i, proto, name_flags(&f, 1));
    cr_expect_eq(read_one(&f, proto), 1, "row %zu: %s", i, proto);
    upb_Message *msg = fixture_new(&f, "g.M");
    upb_MessageValue seven = {.int32_val = 7};
    upb_Message_SetFieldByDef(msg, upb_MessageDef_Field(test_find_message(f.pool, "g.M"), 0), seven, f.arena);
    char expected[32];
    snprintf(expected, sizeof expected, "{\"%s\":7}", proto);
    cr_expect_str_eq(print(&f, msg, BJVM_ENCODE_PROTO_NAMES), expected);
    cr_expect_str_eq(print(&f, msg, BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE),
                     expected);
    fixture_close(&f);
  }
}

/* A JSON name goes before a .proto name, stored or derived. */
Test(names, json_names_win) {
  static const struct {
    field fields[2];
    uint32_t flags[2];
  } rows[] = {
      {{{"a_b", "x"}, {"y", "a_b"}}, {BJVMI_NAME_ALT, BJVMI_NAME_ALT}},
      {{{"a_b", NULL}, {"y", "a_b"}}, {BJVMI_NAME_DERIVED, BJVMI_NAME_ALT}},
      {{{"y", "a_b"}, {"a_b", NULL}}, {BJVMI_NAME_ALT, BJVMI_NAME_DERIVED}},
      {{{"aB", "x"}, {"a_b", NULL}}, {BJVMI_NAME_ALT, BJVMI_NAME_DERIVED}},
      {{{"a_b", "c_d"}, {"c_d", NULL}}, {BJVMI_NAME_ALT, BJVMI_NAME_DERIVED}},
  };
  static const char *const texts[] = {"a_b", "aB",  "a__b", "x",    "y",   "c_d",
                                      "cD",  "A_b", "a_B",  "_a_b", "a_b_"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fixture f = fixture_with(rows[i].fields, 2);
    const upb_MessageDef *m = test_find_message(f.pool, "g.M");
    for (uint32_t n = 1; n <= 2; n++)
      cr_expect_eq(name_flags(&f, n), rows[i].flags[n - 1], "row %zu: %u", i, n);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
      cr_expect_eq(read_one(&f, texts[t]), meaning(m, texts[t]), "row %zu: %s", i, texts[t]);
    fixture_close(&f);
  }
}

/* What a .proto name is derived from is the JSON name of no other field: the compiler counts on it. */
Test(names, json_names_differ) {
  static const char *const syntaxes[] = {"proto2", "proto3"};
  static const field rows[][2] = {{{"a_b", NULL}, {"aB", NULL}},
                                  {{"aB", NULL}, {"a_b", NULL}},
                                  {{"a__b", NULL}, {"a_b", NULL}},
                                  {{"x", "aB"}, {"a_b", NULL}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (size_t s = 0; s < 2; s++)
      cr_expect_null(pool_of(rows[i], 2, syntaxes[s]), "row %zu, %s", i, syntaxes[s]);
}

/* -- Reading -------------------------------------------------------------------------------------------- */

/* Random names of few letters, so that they meet: each text of up to five of them is read as the descriptors
 * say. */
enum { LETTERS = 5, LONGEST = 5, FIELDS = 6, SCHEMAS = 150 };
static const char letters[] = "abB_1";

static uint64_t state = 1;

static uint32_t below(uint32_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % limit;
}

/* The text with that number among all of up to LONGEST letters; false: there are no more. */
static bool text_number(uint32_t number, char *to) {
  uint32_t size = 0;
  for (uint32_t many = 1; size <= LONGEST && number >= many; many *= LETTERS, size++) number -= many;
  for (uint32_t i = 0; i < size && size <= LONGEST; i++, number /= LETTERS) to[i] = letters[number % LETTERS];
  to[size <= LONGEST ? size : 0] = 0;
  return size <= LONGEST;
}

static const char *random_name(char *to, bool identifier) {
  uint32_t size = 1 + below(LONGEST);
  for (uint32_t i = 0; i < size; i++) to[i] = letters[below(identifier && i == 0 ? LETTERS - 1 : LETTERS)];
  to[size] = 0;
  return to;
}

Test(names, read_as_the_descriptors_say) {
  int schemas = 0, derived = 0, stored = 0;
  while (schemas < SCHEMAS) {
    field fields[FIELDS];
    char names[2 * FIELDS][LONGEST + 1], text[LONGEST + 1];
    int count = 1 + (int)below(FIELDS);
    for (int i = 0; i < count; i++) {
      fields[i].proto = random_name(names[2 * i], true);
      fields[i].json = below(3) ? NULL : random_name(names[2 * i + 1], false);
    }
    upb_DefPool *pool = pool_of(fields, count, "proto2");
    if (!pool) continue; /* the same name twice */
    schemas++;
    fixture f = fixture_of(pool);
    const upb_MessageDef *m = test_find_message(pool, "g.M");
    const bjvm_plan *plan = fixture_plan(&f, "g.M");
    for (int i = 0; i < count; i++) {
      derived += name_flags(&f, (uint32_t)i + 1) == BJVMI_NAME_DERIVED;
      stored += name_flags(&f, (uint32_t)i + 1) == BJVMI_NAME_ALT;
    }
    for (uint32_t n = 0; text_number(n, text); n++) {
      int index = bjvmi_plan_find_key(plan, text, strlen(text));
      if (index < 0) index = bjvmi_plan_find_derived(plan, text, strlen(text));
      cr_assert_eq((uint32_t)(index + 1), meaning(m, text), "%s is field %d", text, index + 1);
    }
    for (int i = 0; i < 2 * count; i++) {
      const char *name = i % 2 ? upb_FieldDef_JsonName(upb_MessageDef_Field(m, i / 2)) : fields[i / 2].proto;
      cr_assert_eq(read_one(&f, name), meaning(m, name), "%s", name);
    }
    fixture_close(&f);
  }
  cr_expect(derived > 20 && stored > 100, "%d derived, %d stored", derived, stored);
}

/* One field under both of its names is one field twice. */
Test(names, both_names_are_a_duplicate) {
  static const field fields[] = {{"two_words", NULL}, {"other", NULL}};
  static const struct {
    const char *json;
    uint32_t flags;
    bjvm_status status;
    int32_t value;
  } rows[] = {
      {"{\"two_words\":1}", 0, BJVM_OK, 1},
      {"{\"twoWords\":1,\"two_words\":2}", 0, BJVM_DUPLICATE_FIELD, 0},
      {"{\"two_words\":1,\"twoWords\":2}", 0, BJVM_DUPLICATE_FIELD, 0},
      {"{\"two_words\":1,\"two_words\":2}", 0, BJVM_DUPLICATE_FIELD, 0},
      {"{\"two_words\":1,\"other\":3,\"twoWords\":2}", BJVM_DECODE_LAST_WINS, BJVM_OK, 2},
      {"{\"twoWords\":1,\"two_words\":2}", BJVM_DECODE_LAST_WINS, BJVM_OK, 2},
      {"{\"two\\u005fwords\":4}", 0, BJVM_OK, 4},
      {"{\"\\u0074wo_words\":4}", 0, BJVM_OK, 4},
      {"{\"two_Words\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"two__words\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"two_words_\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"_two_words\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"two_word\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"two_word\\u0000\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"two_{ords\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"_\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
      {"{\"\":4}", 0, BJVM_UNKNOWN_FIELD, 0},
  };
  fixture f = fixture_with(fields, 2);
  const upb_FieldDef *first = upb_MessageDef_Field(test_find_message(f.pool, "g.M"), 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    upb_Message *msg = fixture_new(&f, "g.M");
    bjvm_status s = fixture_merge(&f, "g.M", rows[i].json, rows[i].flags, msg);
    cr_expect_eq(s, rows[i].status, "%s: %s", rows[i].json, bjvm_status_name(s));
    if (s == BJVM_OK)
      cr_expect_eq(upb_Message_GetFieldByDef(msg, first).int32_val, rows[i].value, "%s", rows[i].json);
  }
  fixture_close(&f);
}

/* Derived it is longer, and before that shorter, than what can be compared at its place in a text. */
#define LONG_NAME "a_name_that_is_too_long_to_be_compared_in_one_go_at_its_place_in_the_text"

static void add_list(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "M", arena);
  fixture_field(m, "first_name", 1, kUpb_FieldType_Int32, false, NULL, arena);
  fixture_field(m, LONG_NAME, 2, kUpb_FieldType_Int32, false, NULL, arena);
  fixture_field(m, "x_y", 3, kUpb_FieldType_Int32, false, NULL, arena);
  m = fixture_message(file, "List", arena);
  fixture_field(m, "item_list", 1, kUpb_FieldType_Message, true, ".g.M", arena);
}

/* Once a text has had many look-ups the order of its members is expected to come again: in every item here it
 * is that of the one before, until it is not. */
Test(names, an_order_of_proto_names_is_learned) {
  static const char *const items[] = {
      ("{\"x_y\":3,\"" LONG_NAME "\":2,\"first_name\":1}"),
      "{\"xY\":3,\"aNameThatIsTooLongToBeComparedInOneGoAtItsPlaceInTheText\":2,\"first_name\":1}",
      "{\"first_name\":1,\"x_y\":3}",
  };
  static const struct {
    const char *last;
    bjvm_status status;
  } rows[] = {
      {"{\"x_y\":3}", BJVM_OK},
      {"{\"xY\":3}", BJVM_OK},
      {"{\"x_Y\":3}", BJVM_UNKNOWN_FIELD},
      {"{\"x_y_\":3}", BJVM_UNKNOWN_FIELD},
      {"{\"x_\":3}", BJVM_UNKNOWN_FIELD},
      {"{\"first_name\":3}", BJVM_OK},
      {"{\"first_names\":3}", BJVM_UNKNOWN_FIELD},
      {"{\"first_nam\":3}", BJVM_UNKNOWN_FIELD},
      {"{\"x_y\":1,\"first_name\":1,\"x_y\":2}", BJVM_DUPLICATE_FIELD},
      {"{\"x_y\":1,\"first_name\":1,\"xY\":2}", BJVM_DUPLICATE_FIELD},
  };
  enum { MANY = 30 };
  fixture f = fixture_made(add_list);
  for (size_t i = 0; i < sizeof items / sizeof *items; i++)
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      char json[MANY * 160], *p = json + sprintf(json, "{\"item_list\":[");
      for (int n = 0; n < MANY; n++) p += sprintf(p, "%s,", items[i]);
      sprintf(p, "%s]}", rows[r].last);
      bjvm_status s = fixture_merge(&f, "g.List", json, 0, fixture_new(&f, "g.List"));
      cr_expect_eq(s, rows[r].status, "%s behind %s: %s", rows[r].last, items[i], bjvm_status_name(s));
      /* Cut anywhere: in a block of its own, so that reading on is found out. */
      for (size_t cut = (size_t)(p - json); r == 0 && cut < strlen(json); cut++) {
        char *piece = (char *)malloc(cut);
        memcpy(piece, json, cut);
        s = bjvm_decode(fixture_plan(&f, "g.List"), piece, cut, fixture_new(&f, "g.List"), f.arena, NULL,
                        NULL);
        cr_expect_eq(s, BJVM_TRUNCATED, "%zu: %s", cut, bjvm_status_name(s));
        free(piece);
      }
    }
  fixture_close(&f);
}

/* -- Many and long names -------------------------------------------------------------------------------- */

/* `name_x_y`, and behind every third one `_1`, which cannot be derived; x and y count. */
static const char *counted_name(upb_Arena *arena, int n) {
  char name[24];
  snprintf(name, sizeof name, "item_%c_%c%s", 'a' + n / 26, 'a' + n % 26, n % 3 ? "" : "_1");
  return fixture_text(arena, name).data;
}

/* Reads a text with .proto names, prints it with these and with JSON names, and reads that. */
static void check_fields(const field *fields, int count) {
  fixture f = fixture_with(fields, count);
  size_t size = 4;
  for (int i = 0; i < count; i++) size += strlen(fields[i].proto) + 16;
  char *json = (char *)upb_Arena_Malloc(f.arena, size), *p = json;
  for (int i = 0; i < count; i++) p += sprintf(p, "%c\"%s\":%d", i ? ',' : '{', fields[i].proto, i + 1);
  strcpy(p, "}");
  upb_Message *msg = fixture_read_ok(&f, "g.M", json);
  cr_assert(strcmp(print(&f, msg, BJVM_ENCODE_PROTO_NAMES), json) == 0);
  cr_assert(strcmp(print(&f, msg, BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_ASCII), json) == 0);
  cr_assert(strcmp(print(&f, msg, 0), json) != 0);
  upb_Message *again = fixture_read_ok(&f, "g.M", print(&f, msg, 0));
  cr_assert(strcmp(print(&f, again, BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_INT64_AS_NUMBERS), json) == 0);
  fixture_close(&f);
}

Test(names, many_fields) {
  static const int counts[] = {1, 2, 63, 64, 65, 127, 128, 254, 255, 256, 300, 600};
  upb_Arena *arena = upb_Arena_New();
  field fields[600];
  for (int i = 0; i < 600; i++) fields[i] = (field){counted_name(arena, i), NULL};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) check_fields(fields, counts[i]);
  upb_Arena_Free(arena);
}

/* A name of `size` bytes, `_x` over and over. */
static char *long_name(upb_Arena *arena, size_t size) {
  char *name = (char *)upb_Arena_Malloc(arena, size + 1);
  for (size_t i = 0; i < size; i++) name[i] = i % 2 ? (char)('a' + i / 2 % 26) : '_';
  if (size % 2) name[0] = 'z', name[size - 1] = 'z';
  name[size] = 0;
  return name;
}

/* Around the sizes at which the hash, the copy, and the header of a name change. */
Test(names, long_names) {
  static const size_t sizes[] = {2,
                                 4,
                                 5,
                                 6,
                                 7,
                                 8,
                                 9,
                                 14,
                                 15,
                                 16,
                                 17,
                                 18,
                                 30,
                                 32,
                                 33,
                                 34,
                                 64,
                                 200,
                                 250,
                                 251,
                                 252,
                                 253,
                                 254,
                                 255,
                                 256,
                                 257,
                                 258,
                                 500,
                                 502,
                                 504,
                                 506,
                                 508,
                                 510,
                                 512,
                                 3000,
                                 3001,
                                 20001,
                                 BJVMI_NAME_MAX - 5,
                                 BJVMI_NAME_MAX - 4};
  enum { COUNT = sizeof sizes / sizeof *sizes };
  upb_Arena *arena = upb_Arena_New();
  field fields[COUNT + 1];
  for (size_t i = 0; i < COUNT; i++) {
    fields[i] = (field){long_name(arena, sizes[i]), NULL};
    check_fields(&fields[i], 1);
  }
  /* Between them one that is stored and longer than its JSON name. */
  fields[COUNT] = fields[COUNT / 2];
  char *stored = long_name(arena, 700);
  stored[1] = '_';
  fields[COUNT / 2] = (field){stored, "short"};
  check_fields(fields, COUNT + 1);
  upb_Arena_Free(arena);
}

/* A name is compared whole: of every length that the guess at it takes, with each of its bytes changed. */
Test(names, one_byte_off) {
  upb_Arena *arena = upb_Arena_New();
  for (size_t size = 1; size <= 70; size++) {
    char *name = (char *)upb_Arena_Malloc(arena, size + 1);
    for (size_t i = 0; i < size; i++) name[i] = (char)('a' + (i * 7 + size) % 26);
    name[size] = 0;
    const field one = {name, NULL};
    fixture f = fixture_with(&one, 1);
    cr_expect_eq(read_one(&f, name), 1, "size %zu", size);
    for (size_t i = 0; i < size; i++) {
      char was = name[i];
      name[i] = '~';
      cr_expect_eq(read_one(&f, name), 0, "size %zu, byte %zu", size, i);
      name[i] = was;
    }
    fixture_close(&f);
  }
  upb_Arena_Free(arena);
}

/* A .proto name longer than any name may be does not become shorter by being derived. */
Test(names, the_longest_name) {
  upb_Arena *arena = upb_Arena_New();
  const field f = {long_name(arena, BJVMI_NAME_MAX - 3), NULL};
  upb_DefPool *pool = pool_of(&f, 1, "proto3");
  cr_assert_not_null(pool);
  const upb_MessageDef *m = test_find_message(pool, "g.M");
  const void *data;
  size_t size;
  cr_expect_eq(bjvm_compile(&m, 1, 0, arena, &data, &size, NULL), BJVM_PLAN_LIMIT);
  upb_DefPool_Free(pool);
  upb_Arena_Free(arena);
}

/* -- Printing ------------------------------------------------------------------------------------------- */

/* Names of every sort beside each other, under every set of options that changes words. */
Test(names, printed_under_all_options) {
  static const field fields[] = {
      {"first_name", NULL},
      {"plain", NULL},
      {"a__b", NULL},
      {"angle_bracket", "<&>"},
      {"accent_name", "\xc3\xa9T"},
      {"quote_name", "say \"hi\""},
      {"last_name_of", NULL},
      {"_lead", NULL},
      {"a_name_that_is_stored_since_it_is_not_what_it_is_called_in_json", "j"},
  };
  static const char proto_text[] =
      "{\"first_name\":7,\"plain\":7,\"a__b\":7,\"angle_bracket\":7,\"accent_name\":7,\"quote_name\":7,"
      "\"last_name_of\":7,\"_lead\":7,"
      "\"a_name_that_is_stored_since_it_is_not_what_it_is_called_in_json\":7}";
  enum { COUNT = sizeof fields / sizeof *fields, ALL = 64 };
  fixture f = fixture_with(fields, COUNT);
  upb_Message *msg = fixture_read_ok(&f, "g.M", proto_text);
  const char *json = "{\"firstName\":7,\"plain\":7,\"aB\":7,\"<&>\":7,\"\xc3\xa9T\":7,\"say \\\"hi\\\"\":7,"
                     "\"lastNameOf\":7,\"Lead\":7,\"j\":7}";
  for (uint32_t flags = 0; flags < ALL; flags++) {
    const char *text = print(&f, msg, flags);
    if (flags & BJVM_ENCODE_PROTO_NAMES) cr_expect_str_eq(text, proto_text, "%u: %s", flags, text);
    else if (!(flags & (BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE)))
      cr_expect_str_eq(text, json, "%u", flags);
    upb_Message *again = fixture_read_ok(&f, "g.M", text);
    cr_expect_str_eq(print(&f, again, 0), json, "%u", flags);
  }
  fixture_close(&f);
}

/* A plan from a file whose variant was prepared, bound in place or copied; no heap, no cache. */
Test(names, prepared_plans) {
  static const field fields[] = {{"first_name", NULL}, {"a__b", NULL}, {"last_name_of", NULL}};
  static const uint32_t layouts[] = {0, sizeof(void *) == 8 ? BJVM_COMPILE_ABI64 : BJVM_COMPILE_ABI32};
  static const char text[] = "{\"first_name\":1,\"a__b\":2,\"last_name_of\":3}";
  for (size_t i = 0; i < 2; i++) {
    fixture f = fixture_with(fields, 3);
    const upb_MessageDef *m = test_find_message(f.pool, "g.M");
    const void *data;
    size_t size;
    const bjvm_image *image;
    const bjvm_plan *plan;
    cr_assert_eq(bjvm_compile(&m, 1, layouts[i], f.arena, &data, &size, NULL), BJVM_OK);
    cr_assert_eq(bjvm_image_load(data, size, f.arena, &image, NULL), BJVM_OK);
    cr_assert_eq(bjvm_image_bind(image, NULL, upb_MessageDef_MiniTable(m), f.arena, &plan, NULL), BJVM_OK);
    upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(m), f.arena);
    cr_assert_eq(bjvm_decode(plan, text, strlen(text), msg, f.arena, NULL, NULL), BJVM_OK);
    bjvm_encode_options options = {.size = sizeof options, .flags = BJVM_ENCODE_PROTO_NAMES};
    char room[256];
    bjvm_output out = bjvm_output_fixed(room, sizeof room);
    cr_expect_eq(bjvm_encode(plan, msg, &options, &out, NULL), BJVM_PLAN_VARIANT);
    cr_assert_eq(bjvm_plan_prepare(plan, BJVM_ENCODE_PROTO_NAMES, f.arena), BJVM_OK);
    out = bjvm_output_fixed(room, sizeof room);
    cr_assert_eq(bjvm_encode(plan, msg, &options, &out, NULL), BJVM_OK);
    cr_expect(out.size == strlen(text) && memcmp(room, text, out.size) == 0, "%.*s", (int)out.size, room);
    fixture_close(&f);
  }
}

/* The path of an error has the names that are printed. */
Test(names, paths_of_errors) {
  fixture f = fixture_open();
  bjvm_error error = {0};
  bjvm_decode_options options = fixture_decode_options(&f, 0);
  static const char json[] = "{\"two_words\":1,\"camelAlready\":true}";
  upb_Message *names = fixture_new(&f, "cases.v3.Names");
  cr_expect_neq(
      bjvm_decode(fixture_plan(&f, "cases.v3.Names"), json, strlen(json), names, f.arena, &options, &error),
      BJVM_OK);
  cr_expect_str_eq(error.path, "camelAlready");
  static const char wrong[] = "{\"two_words\":true}";
  cr_expect_neq(
      bjvm_decode(fixture_plan(&f, "cases.v3.Names"), wrong, strlen(wrong), names, f.arena, &options, &error),
      BJVM_OK);
  cr_expect_str_eq(error.path, "twoWords");
  fixture_close(&f);
}
