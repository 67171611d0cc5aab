/* Mini tables from a plan file's mini descriptors: the same as those upb makes from definitions, from fixed
 * memory, and never a crash, whatever the file says.
 *
 * The schema is that of the case tables. What the verifier refuses is verify_test.c's business, what binding
 * refuses bind_test.c's.
 */
#include "fixture.h"

#include "blob.h"
#include "mini.h"
#include "sentence.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"
#include "upb_layout.h"

/* A plan file of one type and all it refers to. */
typedef struct compiled {
  const void *data;
  size_t size;
  const bjvm_image *image;
} compiled;

static compiled compile(const fixture *f, const upb_MessageDef *def, uint32_t flags) {
  compiled c;
  bjvm_error error = {0};
  bjvm_status status = bjvm_compile(&def, 1, flags, f->arena, &c.data, &c.size, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s", upb_MessageDef_FullName(def), error.message);
  status = bjvm_image_load(c.data, c.size, f->arena, &c.image, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s at %zu", upb_MessageDef_FullName(def), error.message, error.offset);
  return c;
}

static void same_field(const char *type, const upb_MiniTableField *a, const upb_MiniTableField *b) {
  uint32_t number = upb_MiniTableField_Number(a);
  cr_expect_eq(number, upb_MiniTableField_Number(b), "%s", type);
  cr_expect_eq(bjvmi_upb_offset(a), bjvmi_upb_offset(b), "%s field %u", type, number);
  cr_expect_eq(a->presence, b->presence, "%s field %u", type, number);
  cr_expect_eq(upb_MiniTableField_Type(a), upb_MiniTableField_Type(b), "%s field %u", type, number);
  cr_expect_eq(upb_MiniTableField_IsClosedEnum(a), upb_MiniTableField_IsClosedEnum(b), "%s field %u", type,
               number);
  cr_expect_eq(upb_MiniTableField_IsPacked(a), upb_MiniTableField_IsPacked(b), "%s field %u", type, number);
  cr_expect_eq(upb_MiniTableField_IsMap(a), upb_MiniTableField_IsMap(b), "%s field %u", type, number);
  cr_expect_eq(upb_MiniTableField_IsArray(a), upb_MiniTableField_IsArray(b), "%s field %u", type, number);
}

static void same_table(const char *type, const upb_MiniTable *a, const upb_MiniTable *b) {
  cr_assert_eq(upb_MiniTable_FieldCount(a), upb_MiniTable_FieldCount(b), "%s", type);
  cr_expect_eq(bjvmi_upb_message_size(a), bjvmi_upb_message_size(b), "%s", type);
  cr_expect_eq(bjvmi_upb_dense_below(a), bjvmi_upb_dense_below(b), "%s", type);
  for (int i = 0; i < upb_MiniTable_FieldCount(a); i++)
    same_field(type, upb_MiniTable_GetFieldByIndex(a, (uint32_t)i),
               upb_MiniTable_GetFieldByIndex(b, (uint32_t)i));
}

static void check_file(fixture *f, const upb_FileDef *file) {
  for (int i = 0; i < upb_FileDef_TopLevelMessageCount(file); i++) {
    const upb_MessageDef *def = upb_FileDef_TopLevelMessage(file, i);
    compiled c = compile(f, def, BJVM_COMPILE_MINI | BJVM_COMPILE_EXTENSIONS);
    bjvm_error error = {0};
    const bjvm_tables *tables;
    cr_assert(bjvm_image_has_tables(c.image));
    bjvm_status status = bjvm_image_build_tables(c.image, f->arena, &tables, &error);
    cr_assert_eq(status, BJVM_OK, "%s: %s", upb_MessageDef_FullName(def), error.message);
    for (uint32_t m = 0; m < c.image->message_count; m++) {
      const bjvmi_message *record = &c.image->messages[m];
      if (record->flags & (BJVMI_MESSAGE_ENTRY | BJVMI_MESSAGE_EXTERNAL)) continue;
      char name[200];
      snprintf(name, sizeof name, "%.*s", bjvmi_le16(record->name_size),
               c.image->names + bjvmi_le32(record->name));
      same_table(name, bjvm_tables_message(tables, name),
                 upb_MessageDef_MiniTable(test_find_message(f->pool, name)));
    }
    const bjvm_plan *plan;
    const upb_MiniTable *table = bjvm_tables_message(tables, NULL);
    status = bjvm_image_bind(c.image, NULL, table, f->arena, &plan, &error);
    cr_assert_eq(status, BJVM_OK, "%s: %s", upb_MessageDef_FullName(def), error.message);
    cr_expect_eq(bjvm_plan_table(plan), table);
  }
}

Test(tables, same_as_of_definitions) {
  fixture f = fixture_open();
  static const char *const types[] = {"cases.v3.T",          "cases.v2.P2",
                                      "cases.ed.Ed",         "google.protobuf.Struct",
                                      "google.protobuf.Any", "google.protobuf.Timestamp"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    check_file(&f, upb_MessageDef_File(test_find_message(f.pool, types[i])));
  fixture_close(&f);
}

/* Texts that between them have every sort of field. */
static const struct {
  const char *type, *json;
} texts[] = {
    {"cases.v3.T", "{\"i32\":-5,\"str\":\"x\\u00e9\",\"color\":\"RED\",\"sub\":{\"sub\":{\"i64\":\"7\"}}}"},
    {"cases.v3.Mini", "{\"n\":1,\"s\":\"abc\"}"},
    {"google.protobuf.Struct", "{\"a\":{\"b\":[1,null,true,\"x\",{}]}}"},
    {"google.protobuf.Timestamp", "\"2024-01-02T03:04:05.000006Z\""},
};

/* There and back with tables of the file's own in a fixed block, as a firmware would. */
Test(tables, round_trip) {
  static _Alignas(16) char block[65536];
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    compiled c = compile(&f, test_find_message(f.pool, texts[i].type), BJVM_COMPILE_MINI);
    upb_Arena *arena = upb_Arena_Init(block, sizeof block, NULL);
    bjvm_error error = {0};
    const bjvm_plan *plan = NULL;
    bjvm_status status = bjvm_image_bind_own(c.image, texts[i].type, arena, &plan, &error);
    cr_assert_eq(status, BJVM_OK, "%s: %s", texts[i].type, error.message);
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    status = bjvm_decode(plan, texts[i].json, strlen(texts[i].json), msg, arena, NULL, &error);
    cr_assert_eq(status, BJVM_OK, "%s: %s", texts[i].type, error.message);
    char text[512];
    bjvm_output out = bjvm_output_fixed(text, sizeof text);
    cr_assert_eq(bjvm_encode(plan, msg, NULL, &out, &error), BJVM_OK, "%s", error.message);
    const char *expected = fixture_json(&f, texts[i].type, fixture_read_ok(&f, texts[i].type, texts[i].json));
    cr_expect(out.size == strlen(expected) && memcmp(text, expected, out.size) == 0, "%s: %.*s",
              texts[i].type, (int)out.size, text);
    upb_Arena_Free(arena);
  }
  fixture_close(&f);
}

/* Any block that is too small is an error, the first that is not gives a plan. */
Test(tables, no_memory) {
  static _Alignas(16) char block[65536];
  fixture f = fixture_open();
  compiled c =
      compile(&f, test_find_message(f.pool, "cases.v2.P2"), BJVM_COMPILE_MINI | BJVM_COMPILE_EXTENSIONS);
  size_t refused = 0, size = 256;
  for (bjvm_status status = BJVM_OUT_OF_MEMORY; status != BJVM_OK; size += 8) {
    cr_assert_leq(size, sizeof block);
    upb_Arena *arena = upb_Arena_Init(block, size, NULL);
    bjvm_error error = {0};
    const bjvm_plan *plan;
    status = bjvm_image_bind_own(c.image, NULL, arena, &plan, &error);
    cr_assert(status == BJVM_OK || status == BJVM_OUT_OF_MEMORY, "%zu bytes: %s", size,
              bjvm_status_name(status));
    cr_assert_eq((plan == NULL), (status != BJVM_OK));
    refused += status != BJVM_OK;
    upb_Arena_Free(arena);
  }
  cr_assert_gt(refused, 50);
  fixture_close(&f);
}

Test(tables, arguments) {
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.T");
  compiled with = compile(&f, def, BJVM_COMPILE_MINI), without = compile(&f, def, 0);
  const bjvm_tables *tables = (const bjvm_tables *)&f;
  const bjvm_plan *plan = (const bjvm_plan *)&f;
  bjvm_error error;
  cr_expect_eq(bjvm_image_build_tables(NULL, f.arena, &tables, &error), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_build_tables(with.image, NULL, &tables, &error), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_build_tables(with.image, f.arena, NULL, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_bind_own(with.image, NULL, f.arena, NULL, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_not(bjvm_image_has_tables(without.image));
  cr_expect_eq(bjvm_image_build_tables(without.image, f.arena, &tables, &error), BJVM_PLAN_UNBOUND);
  cr_expect_null(tables);
  cr_expect_str_eq(error.message, report_of("the file has no mini descriptors"));
  cr_expect_eq(bjvm_image_bind_own(without.image, NULL, f.arena, &plan, &error), BJVM_PLAN_UNBOUND);
  cr_expect_null(plan);
  cr_expect_eq(bjvm_image_bind_own(with.image, "no.Such", f.arena, &plan, &error), BJVM_PLAN_UNBOUND);
  cr_assert_eq(bjvm_image_build_tables(with.image, f.arena, &tables, NULL), BJVM_OK);
  cr_expect_null(bjvm_tables_message(tables, "no.Such"));
  cr_expect_null(bjvm_tables_extension(tables, bjvm_tables_extension_count(tables)));
  fixture_close(&f);
}

/* Extensions of the file's own tables are what upb's binary codec reads and writes. */
Test(tables, extensions) {
  fixture f = fixture_open();
  compiled c =
      compile(&f, test_find_message(f.pool, "cases.v2.P2"), BJVM_COMPILE_MINI | BJVM_COMPILE_EXTENSIONS);
  const bjvm_tables *tables;
  cr_assert_eq(bjvm_image_build_tables(c.image, f.arena, &tables, NULL), BJVM_OK);
  const upb_MiniTable *table = bjvm_tables_message(tables, NULL);
  upb_ExtensionRegistry *registry = upb_ExtensionRegistry_New(f.arena);
  size_t count = bjvm_tables_extension_count(tables), known = 0;
  cr_assert_gt(count, 0);
  for (size_t i = 0; i < count; i++) {
    const upb_MiniTableExtension *e = bjvm_tables_extension(tables, i);
    if (!e) continue;
    cr_expect_eq(upb_ExtensionRegistry_Add(registry, e), kUpb_ExtensionRegistryStatus_Ok);
    known += upb_MiniTableExtension_Extendee(e) == table && upb_MiniTableExtension_Number(e) == 100;
  }
  cr_expect_eq(known, 1, "cases.v2.ext_num");
  upb_Message *msg = upb_Message_New(table, f.arena);
  cr_assert_eq(upb_Decode("\xa0\x06\x05", 3, msg, table, registry, 0, f.arena), kUpb_DecodeStatus_Ok);
  const upb_MessageValue *value;
  const upb_MiniTableExtension *set = bjvmi_upb_next_extension(msg, 0, &value);
  cr_assert_not_null(set);
  cr_expect_eq(upb_MiniTableExtension_Number(set), 100);
  fixture_close(&f);
}

/* Everything of a file in one registry: nested types, extensions, and what is prepared for options. */
Test(tables, registry) {
  static _Alignas(16) char block[1 << 17];
  fixture f = fixture_open();
  compiled c =
      compile(&f, test_find_message(f.pool, "cases.v2.P2"), BJVM_COMPILE_MINI | BJVM_COMPILE_EXTENSIONS);
  upb_Arena *arena = upb_Arena_Init(block, sizeof block, NULL);
  const bjvm_tables *tables;
  bjvm_registry r;
  bjvm_error error = {0};
  const uint32_t flags = BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_ENUMS_AS_INTS;
  cr_assert_eq(bjvm_image_build_tables(c.image, arena, &tables, NULL), BJVM_OK);
  cr_assert_eq(bjvm_tables_registry(tables, flags, arena, &r, &error), BJVM_OK, "%s", error.message);
  cr_expect(r.size == sizeof r && !r.decode && !r.encode);
  bjvm_status status = BJVM_OK;
  const bjvm_plan *plan = r.find_message(r.context, "cases.v2.P2", 11, &status);
  cr_assert_not_null(plan);
  cr_expect_eq(bjvm_plan_table(plan), bjvm_tables_message(tables, NULL));
  cr_expect_null(r.find_message(r.context, "cases.v2.P2", 10, &status));
  const bjvm_extension *e = r.find_extension(r.context, "cases.v2.ext_num", 16, &status);
  cr_assert_not_null(e);
  cr_expect_null(r.find_extension(r.context, "cases.v2.ext_num", 15, &status));
  cr_expect_eq(r.find_extension_by_table(r.context, e->table, &status), e);
  cr_expect_eq(status, BJVM_OK);

  const char *json = "{\"[cases.v2.ext_num]\":5}";
  upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
  bjvm_decode_options in = {.size = sizeof in, .registry = &r};
  cr_assert_eq(bjvm_decode(plan, json, strlen(json), msg, arena, &in, &error), BJVM_OK, "%s", error.message);
  for (uint32_t k = 0; k < 2; k++) {
    char text[200];
    bjvm_encode_options out_options = {.size = sizeof out_options, .flags = k ? flags : 0, .registry = &r};
    bjvm_output out = bjvm_output_fixed(text, sizeof text);
    cr_assert_eq(bjvm_encode(plan, msg, &out_options, &out, &error), BJVM_OK, "%s", error.message);
    cr_expect(out.size == strlen(json) && memcmp(text, json, out.size) == 0, "%.*s", (int)out.size, text);
  }
  cr_expect_eq(bjvm_tables_registry(NULL, 0, arena, &r, &error), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_tables_registry(tables, 0, NULL, &r, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_tables_registry(tables, 0, arena, NULL, NULL), BJVM_BAD_ARGUMENT);
  upb_Arena_Free(arena);

  /* Too little memory, at every size. */
  size_t size = 8192;
  for (status = BJVM_OUT_OF_MEMORY; status == BJVM_OUT_OF_MEMORY; size += 16) {
    cr_assert_leq(size, sizeof block);
    arena = upb_Arena_Init(block, size, NULL);
    if (bjvm_image_build_tables(c.image, arena, &tables, NULL) == BJVM_OK)
      status = bjvm_tables_registry(tables, flags, arena, &r, NULL);
    upb_Arena_Free(arena);
  }
  cr_expect_eq(status, BJVM_OK);
  fixture_close(&f);
}

/* A member named twice passes the verifier, which keeps no list; upb refuses it. */
Test(tables, oneof_member_twice) {
  blob *b = blob_sample_mini(S_VALUE, "$. 1/33^!|#|$|%|&|&");
  const bjvm_image *image;
  bjvm_error error = {.message = ""};
  upb_Arena *arena = upb_Arena_New();
  cr_assert_eq(bjvm_image_load(b->file, b->size, arena, &image, &error), BJVM_OK, "%s", error.message);
  const bjvm_tables *tables;
  cr_expect_eq(bjvm_image_build_tables(image, arena, &tables, &error), BJVM_PLAN_LIMIT);
  cr_expect_null(tables);
  upb_Arena_Free(arena);
}

/* The sample itself, with an external message: its tables are built, but not bound. */
Test(tables, external_message) {
  blob *b = blob_sample_mini(0, NULL);
  const bjvm_image *image;
  bjvm_error error = {.message = ""};
  upb_Arena *arena = upb_Arena_New();
  cr_assert_eq(bjvm_image_load(b->file, b->size, arena, &image, &error), BJVM_OK, "%s", error.message);
  const bjvm_tables *tables;
  cr_assert_eq(bjvm_image_build_tables(image, arena, &tables, &error), BJVM_OK, "%s", error.message);
  cr_expect_not_null(bjvm_tables_message(tables, NULL));
  cr_expect_null(bjvm_tables_message(tables, "acme.Elsewhere"));
  const bjvm_plan *plan;
  cr_expect_neq(bjvm_image_bind_own(image, NULL, arena, &plan, &error), BJVM_OK);
  cr_expect_eq(bjvm_image_bind_own(image, "google.protobuf.Struct", arena, &plan, &error), BJVM_OK, "%s",
               error.message);
  upb_Arena_Free(arena);
}

/* Wide messages, at and beyond what upb can hold: a table or a limit, never a crash. */
Test(tables, wide_messages) {
  static const struct {
    uint32_t fields;
    char type;
    bjvm_status status;
  } rows[] = {
      {1000, ' ', BJVM_OK},
      {8000, ' ', BJVM_OK},
      {8300, ' ', BJVM_PLAN_LIMIT},
      {65000, '/', BJVM_OK},
      {65001, '/', BJVM_PLAN_CORRUPT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    /* By hand: a message of that many doubles or bools without presence, all of one name. */
    size_t count = rows[i].fields, mini = 1 + 2 * count, words = (count + 1) * sizeof(bjvmi_word);
    size_t at = BJVMI_HEADER_SIZE + 5 * sizeof(bjvmi_section_entry) + 4, length = mini > 0x3fff ? 3 : 2,
           size = at + 32 + words + 4 + 64 + length + mini;
    char *file = calloc(1, size + 8), *pool = file + at + 32 + words + 4, *text = pool + 64;
    bjvmi_section_entry table[5] = {
        {BJVMI_SECTION_MESSAGES, (uint32_t)at, 32},
        {BJVMI_SECTION_WORDS, (uint32_t)at + 32, (uint32_t)words},
        {BJVMI_SECTION_ROOTS, (uint32_t)(at + 32 + words), 4},
        {BJVMI_SECTION_NAMES, (uint32_t)(pool - file), 64},
        {BJVMI_SECTION_MINI, (uint32_t)(text - file), (uint32_t)(length + mini)},
    };
    bjvmi_header h = {.magic = {'B', 'J', 'V', 'M'},
                      .major = 1,
                      .minor = 1,
                      .total_size = (uint32_t)size,
                      .section_count = 5};
    bjvmi_message m = {.name = 12, .name_size = 1, .kind = BJVMI_KIND_MESSAGE, .word_count = (uint16_t)count};
    blob_put_header(file, &h, table);
    *(bjvmi_message *)(void *)(file + at) = bjvmi_message_native(&m);
    bjvmi_word *w = (bjvmi_word *)(void *)(file + at + 32);
    bjvmi_kind kind = rows[i].type == '/' ? BJVMI_KIND_BOOL : BJVMI_KIND_DOUBLE;
    for (uint32_t k = 0; k < count; k++) {
      bjvmi_word word = {
          .op = BJVMI_OP(kind, BJVMI_FORM_IMPLICIT), .name_len = 5, .number = k + 1, .name = 4};
      w[k] = bjvmi_word_native(&word);
    }
    w[count].op = BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE);
    memcpy(pool + 2, "\5\0,\"x\":\0\0\0M", 11);
    for (size_t rest = mini, more = 1; more; rest >>= 7) {
      more = rest > 0x7f;
      *text++ = (char)((rest & 0x7f) | more << 7);
    }
    *text++ = '$';
    for (uint32_t k = 0; k < count; k++) {
      *text++ = rows[i].type;
      *text++ = 'P';
    }
    blob_seal(file, size);
    upb_Arena *arena = upb_Arena_New();
    const bjvm_image *image;
    const bjvm_plan *plan;
    bjvm_error error = {.message = ""};
    bjvm_status status = bjvm_image_load(file, size, arena, &image, &error);
    cr_assert_eq(status, BJVM_OK, "row %zu: %zu %s", i, error.offset, error.message);
    status = bjvm_image_bind_own(image, NULL, arena, &plan, &error);
    cr_expect_eq(status, rows[i].status, "row %zu: %s", i, bjvm_status_name(status));
    upb_Arena_Free(arena);
    free(file);
  }
}

/* -- Damage --------------------------------------------------------------------------------------------- */

static uint32_t random_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

/* Builds, binds and runs what a damaged file says; true if it got as far as a message. */
static bool run(const char *file, size_t size, const char *json) {
  static _Alignas(16) char block[1 << 17];
  upb_Arena *arena = upb_Arena_Init(block, sizeof block, NULL);
  const bjvm_image *image;
  const bjvm_plan *plan;
  bool ran = bjvm_image_load(file, size, arena, &image, NULL) == BJVM_OK &&
             bjvm_image_bind_own(image, NULL, arena, &plan, NULL) == BJVM_OK;
  if (ran) {
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    char text[4096];
    bjvm_output out = bjvm_output_fixed(text, sizeof text);
    (void)bjvm_decode(plan, json, strlen(json), msg, arena, NULL, NULL);
    (void)bjvm_encode(plan, msg, NULL, &out, NULL);
    char *data;
    size_t length;
    (void)upb_Encode(msg, bjvm_plan_table(plan), 0, arena, &data, &length);
  }
  upb_Arena_Free(arena);
  return ran;
}

/* The damage falls on words and mini descriptors alike, so that now and then both still say the same. */
static void damage(const compiled *c, char *file, uint64_t *state) {
  const bjvm_image *image = c->image;
  size_t words = (size_t)((const char *)image->words - (const char *)c->data);
  size_t mini = (size_t)((const char *)image->mini - (const char *)c->data);
  for (uint32_t n = 1 + random_next(state) % 2; n > 0; n--) {
    size_t from = random_next(state) % 2 ? words : mini;
    size_t size = from == words ? image->word_count * sizeof(bjvmi_word) : image->mini_size;
    size_t at = from + random_next(state) % size;
    uint32_t how = random_next(state), value = random_next(state);
    if (how % 2) file[at] = (char)value;
    else file[at] = (char)(file[at] ^ (char)(1 << value % 8));
  }
}

Test(tables, random_damage) {
  enum { TRIES = 100000 };
  fixture f = fixture_open();
  uint64_t state = 7;
  unsigned passed = 0;
  for (size_t i = 0; i < 2; i++) {
    compiled c = compile(&f, test_find_message(f.pool, texts[i * 2].type), BJVM_COMPILE_MINI);
    char *file = (char *)malloc(c.size);
    for (unsigned t = 0; t < TRIES / 2; t++) {
      memcpy(file, c.data, c.size);
      damage(&c, file, &state);
      blob_seal(file, c.size);
      passed += run(file, c.size, texts[i * 2].json);
    }
    free(file);
  }
  cr_assert(passed > TRIES / 1000 && passed < TRIES / 2, "%u passed", passed);
  fixture_close(&f);
}
