/* Binding: words in place and copied, layouts of both ABIs, and mini tables that no message can have.
 *
 * Tables are damaged where they lie and mended again; the fields of a table are found through upb's own
 * functions.
 */
#include "fixture.h"

#include "bind.h"
#include "plan.h"
#include "sentence.h"
#include "upb_layout.h"

#include "upb/port/def.inc"

enum {
  HOST = sizeof(void *) == 8 ? BJVM_COMPILE_ABI64 : BJVM_COMPILE_ABI32,
  FOREIGN = sizeof(void *) == 8 ? BJVM_COMPILE_ABI32 : BJVM_COMPILE_ABI64,
  /* Files are little-endian: elsewhere no word stands in one as the machine needs it. */
  IN_PLACE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
};

static const bjvm_image *compile(const fixture *f, const char *type, uint32_t flags) {
  const upb_MessageDef *def = test_find_message(f->pool, type);
  const void *data;
  size_t size;
  bjvm_error error = {0};
  const bjvm_image *image = NULL;
  bjvm_status status = bjvm_compile(&def, 1, flags, f->arena, &data, &size, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s", type, error.message);
  status = bjvm_image_load(data, size, f->arena, &image, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s at %zu", type, error.message, error.offset);
  return image;
}

static const upb_MiniTable *table_of(const fixture *f, const char *type) {
  return upb_MessageDef_MiniTable(test_find_message(f->pool, type));
}

static const bjvm_plan *bind(const fixture *f, const bjvm_image *image, const upb_MiniTable *table) {
  const bjvm_plan *plan = NULL;
  bjvm_error error = {0};
  bjvm_status status = bjvm_image_bind(image, NULL, table, f->arena, &plan, &error);
  cr_assert_eq(status, BJVM_OK, "%s", error.message);
  return plan;
}

/* -- In place ------------------------------------------------------------------------------------------- */

static const char *const types[] = {"cases.v3.T",   "cases.v3.Maps", "cases.v3.Wkt",
                                    "cases.v3.Rec", "cases.v2.P2",   "cases.ed.Ed"};

/* Whether all plans of the closure but those of map entries are in place. */
static size_t count_in_place(const bjvm_plan *plan, size_t *all) {
  const bjvmi_binding *b = plan->binding;
  size_t count = 0;
  *all = 0;
  for (uint32_t i = 0; i < b->image->message_count; i++) {
    const bjvm_plan *p = b->slots[i].plan;
    if (!p || p->flags & BJVMI_MESSAGE_ENTRY || p->word_count == 0) continue;
    count += bjvm_plan_in_place(p);
    ++*all;
  }
  return count;
}

Test(bind, prebound_is_in_place) {
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    static const struct {
      uint32_t flags;
      bool in_place;
    } rows[] = {{0, false}, {HOST, IN_PLACE}, {FOREIGN, false}, {HOST | BJVM_COMPILE_MINI, IN_PLACE}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
      const bjvm_image *image = compile(&f, types[i], rows[k].flags);
      const bjvm_plan *plan = bind(&f, image, table_of(&f, types[i]));
      size_t all, count = count_in_place(plan, &all);
      if (rows[k].in_place) cr_expect_eq(count, all, "%s: %zu of %zu", types[i], count, all);
      cr_expect_eq(bjvm_plan_in_place(plan), rows[k].in_place, "%s, row %zu", types[i], k);
      if (rows[k].in_place)
        cr_expect(plan->words >= image->words && plan->words < image->words + image->word_count);
      const bjvm_plan *only = NULL;
      bjvm_error error = {0};
      bjvm_status status =
          bjvm_image_bind_in_place(image, NULL, table_of(&f, types[i]), f.arena, &only, &error);
      cr_expect_eq(status, rows[k].in_place ? BJVM_OK : BJVM_PLAN_MISMATCH, "%s, row %zu", types[i], k);
      if (status)
        cr_expect_str_eq(error.message, report_of("the words in the file are not those this machine needs"));
      cr_expect_eq((only != NULL), rows[k].in_place);
    }
  }
  fixture_close(&f);
}

/* Map entries and extensions have no place in a message; a portable file does for them. */
Test(bind, entries_are_in_place) {
  fixture f = fixture_open();
  const bjvm_plan *plan = bind(&f, compile(&f, "cases.v3.Maps", 0), table_of(&f, "cases.v3.Maps"));
  const bjvmi_binding *b = plan->binding;
  size_t entries = 0;
  for (uint32_t i = 0; i < b->image->message_count; i++) {
    if (!(b->image->messages[i].flags & BJVMI_MESSAGE_ENTRY)) continue;
    cr_expect_eq(bjvm_plan_in_place(b->slots[i].plan), IN_PLACE, "message %u", i);
    entries++;
  }
  cr_expect_gt(entries, 5);
  fixture_close(&f);
}

/* One offset that is not the machine's makes that message a copy, which is bound right. */
Test(bind, wrong_layout_is_rebound) {
  fixture f = fixture_open();
  const bjvm_image *image = compile(&f, "cases.v3.T", HOST);
  bjvmi_word *words = (bjvmi_word *)(uintptr_t)image->words;
  const upb_MiniTable *table = table_of(&f, "cases.v3.T");
  const char *json = "{\"i32\":5,\"str\":\"x\",\"sub\":{\"i64\":\"6\"}}";
  for (uint32_t i = 0; i < 3; i++) {
    bjvmi_word had = words[i];
    uint32_t offset = bjvmi_le16(had.offset);
    words[i].offset = bjvmi_le16((uint16_t)(offset + (i == 2 ? 60000 : 8)));
    const bjvm_plan *plan = bind(&f, image, table);
    cr_expect_not(bjvm_plan_in_place(plan));
    cr_expect_eq(plan->words[i].offset, offset);
    upb_Message *msg = upb_Message_New(table, f.arena);
    cr_expect_eq(bjvm_decode(plan, json, strlen(json), msg, f.arena, NULL, NULL), BJVM_OK);
    cr_expect_str_eq(fixture_json(&f, "cases.v3.T", msg), json);
    words[i] = had;
  }
  cr_expect_eq(bjvm_plan_in_place(bind(&f, image, table)), IN_PLACE);
  fixture_close(&f);
}

/* What runs in place prints what a copy prints, under every variant of the words too. */
Test(bind, in_place_prints_the_same) {
  fixture f = fixture_open();
  const char *json = "{\"i32\":5,\"i64\":\"7\",\"color\":\"RED\",\"sub\":{}}";
  upb_Message *msg = fixture_read_ok(&f, "cases.v3.T", json);
  const bjvm_plan *plans[] = {bind(&f, compile(&f, "cases.v3.T", 0), table_of(&f, "cases.v3.T")),
                              bind(&f, compile(&f, "cases.v3.T", HOST), table_of(&f, "cases.v3.T"))};
  for (uint32_t flags = 0; flags < 64; flags++) {
    char text[2][8192];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
      bjvm_encode_options options = {.size = sizeof options, .flags = flags};
      bjvm_output out = bjvm_output_fixed(text[i], sizeof text[i]);
      cr_assert_eq(bjvm_plan_prepare(plans[i], flags, f.arena), BJVM_OK);
      cr_assert_eq(bjvm_encode(plans[i], msg, &options, &out, NULL), BJVM_OK, "flags %u", flags);
      size[i] = out.size;
    }
    cr_expect(size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0, "flags %u", flags);
  }
  fixture_close(&f);
}

/* RAM of a bound plan: the words are not in it when they are in the file. */
Test(bind, in_place_saves_memory) {
  fixture f = fixture_open();
  static _Alignas(16) char block[1 << 16];
  size_t needed[2];
  for (int i = 0; i < 2; i++) {
    const bjvm_image *image = compile(&f, "cases.v3.T", i ? HOST : 0);
    bjvm_status status = BJVM_OUT_OF_MEMORY;
    for (needed[i] = 128; status == BJVM_OUT_OF_MEMORY; needed[i] += 8) {
      upb_Arena *arena = upb_Arena_Init(block, needed[i], NULL);
      const bjvm_plan *plan;
      status = bjvm_image_bind(image, NULL, table_of(&f, "cases.v3.T"), arena, &plan, NULL);
      upb_Arena_Free(arena);
    }
    cr_assert_eq(status, BJVM_OK);
  }
  if (IN_PLACE) cr_expect_lt(needed[1] + 400, needed[0], "%zu and %zu bytes", needed[1], needed[0]);
  fixture_close(&f);
}

/* -- Tables --------------------------------------------------------------------------------------------- */

static void same_verdict(const fixture *f, const upb_MessageDef *def) {
  cr_expect(bjvmi_table_is_sound(upb_MessageDef_MiniTable(def)), "%s", upb_MessageDef_FullName(def));
  for (int i = 0; i < upb_MessageDef_NestedMessageCount(def); i++)
    same_verdict(f, upb_MessageDef_NestedMessage(def, i));
}

Test(bind, real_tables_are_sound) {
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    const upb_FileDef *file = upb_MessageDef_File(test_find_message(f.pool, types[i]));
    for (int k = 0; k < upb_FileDef_TopLevelMessageCount(file); k++)
      same_verdict(&f, upb_FileDef_TopLevelMessage(file, k));
  }
  fixture_close(&f);
}

static upb_MiniTableField *field_of(const upb_MiniTable *t, uint32_t number) {
  const upb_MiniTableField *f = upb_MiniTable_FindFieldByNumber(t, number);
  cr_assert_not_null(f, "field %u", number);
  return (upb_MiniTableField *)(uintptr_t)f;
}

static uint32_t number_of(const fixture *f, const char *type, const char *name) {
  const upb_FieldDef *field = upb_MessageDef_FindFieldByName(test_find_message(f->pool, type), name);
  cr_assert_not_null(field, "%s.%s", type, name);
  return upb_FieldDef_Number(field);
}

/* A schema with every form: hasbits, a oneof, an array, a map, an enum, messages, strings. */
static void fill(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "M", arena);
  google_protobuf_OneofDescriptorProto *o = google_protobuf_DescriptorProto_add_oneof_decl(m, arena);
  google_protobuf_OneofDescriptorProto_set_name(o, fixture_text(arena, "o"));
  o = google_protobuf_DescriptorProto_add_oneof_decl(m, arena);
  google_protobuf_OneofDescriptorProto_set_name(o, fixture_text(arena, "p"));
  fixture_field(m, "a", 1, kUpb_FieldType_Int32, false, NULL, arena);
  fixture_field(m, "b", 2, kUpb_FieldType_Message, false, ".g.M", arena);
  fixture_field(m, "c", 3, kUpb_FieldType_Message, false, ".g.M", arena);
  fixture_field(m, "d", 4, kUpb_FieldType_String, true, NULL, arena);
  static const int kinds[] = {kUpb_FieldType_Int64, kUpb_FieldType_Message, kUpb_FieldType_Int64,
                              kUpb_FieldType_String};
  for (int i = 0; i < 4; i++) {
    const char *name = i == 0 ? "e" : i == 1 ? "f" : i == 2 ? "g" : "h";
    google_protobuf_FieldDescriptorProto *f =
        fixture_field(m, name, 5 + i, kinds[i], false, i == 1 ? ".g.M" : NULL, arena);
    google_protobuf_FieldDescriptorProto_set_oneof_index(f, i / 2);
  }
  google_protobuf_DescriptorProto *entry = google_protobuf_DescriptorProto_add_nested_type(m, arena);
  google_protobuf_DescriptorProto_set_name(entry, fixture_text(arena, "IEntry"));
  google_protobuf_MessageOptions_set_map_entry(google_protobuf_DescriptorProto_mutable_options(entry, arena),
                                               true);
  fixture_field(entry, "key", 1, kUpb_FieldType_String, false, NULL, arena);
  fixture_field(entry, "value", 2, kUpb_FieldType_Int32, false, NULL, arena);
  fixture_field(m, "i", 9, kUpb_FieldType_Message, true, ".g.M.IEntry", arena);
  fixture_field(m, "j", 100, kUpb_FieldType_Bool, false, NULL, arena);
}

enum { MODE, OFFSET, PRESENCE, TYPE, NUMBER };

/* Damage to one field of M, each of which would have a VM follow what is no pointer, or leave the message.
 * `like`: the value is taken from that field. */
static const struct {
  uint32_t number;
  int what;
  uint32_t like;
  int value;
  const char *why;
} odd[] = {
    {1, OFFSET, 0, 0, "over upb's own bytes"},
    {1, OFFSET, 0, 65528, "outside of the message"},
    {1, OFFSET, 2, 0, "an integer where a message is"},
    {2, OFFSET, 3, 0, "two messages at one place"},
    {2, OFFSET, 1, 0, "a message where an integer is"},
    {2, PRESENCE, 3, 0, "two fields with one hasbit"},
    {2, PRESENCE, 0, 1, "a hasbit in upb's own bytes"},
    {2, PRESENCE, 0, 32767, "a hasbit outside of the message"},
    {2, PRESENCE, 0, 0, "a message without presence"},
    {1, PRESENCE, 2, 0, "presence where there is none"},
    {4, PRESENCE, 2, 0, "an array with presence"},
    {9, PRESENCE, 2, 0, "a map with presence"},
    {9, PRESENCE, 5, 0, "a map in a oneof"},
    {4, OFFSET, 9, 0, "an array where a map is"},
    {4, MODE, 9, 0, "an array that is a map"},
    {9, MODE, 4, 0, "a map that is an array"},
    {1, MODE, 5, 0, "an integer of another size"},
    {2, MODE, 100, 0, "a message of the size of a bool"},
    {4, MODE, 1, 0, "an array that is one value"},
    {5, PRESENCE, 7, 0, "a member of another oneof"},
    {5, OFFSET, 7, 0, "data of another oneof"},
    {5, OFFSET, 2, 0, "a member where a message is"},
    {5, PRESENCE, 0, ~66, "a case that is not aligned"},
    {5, PRESENCE, 0, ~0, "a case in upb's own bytes"},
    {5, PRESENCE, 0, ~32764, "a case outside of the message"},
    {5, PRESENCE, 2, 0, "a member with a hasbit"},
    {1, TYPE, 0, kUpb_FieldType_Float, "another type"},
    {1, TYPE, 0, kUpb_FieldType_Bool, "another type"},
    {5, TYPE, 0, kUpb_FieldType_Message, "an integer that is a message"},
    {100, NUMBER, 0, 101, "a field that is not there"},
    {2, NUMBER, 0, 9, "numbers that do not ascend"},
};

static void put(upb_MiniTableField *f, int what, const upb_MiniTableField *like, int value) {
  switch (what) {
    case MODE: f->UPB_ONLYBITS(mode) = like->UPB_ONLYBITS(mode); break;
    case OFFSET: f->UPB_ONLYBITS(offset) = like ? like->UPB_ONLYBITS(offset) : (uint16_t)value; break;
    case PRESENCE: f->presence = like ? like->presence : (int16_t)value; break;
    case TYPE: f->UPB_PRIVATE(descriptortype) = (uint8_t)value; break;
    default: f->UPB_ONLYBITS(number) = (uint32_t)value; break;
  }
}

Test(bind, odd_tables_are_refused) {
  fixture f = fixture_made(fill);
  const upb_MiniTable *table = table_of(&f, "g.M");
  for (size_t k = 0; k < 2; k++) {
    const bjvm_image *image = compile(&f, "g.M", k ? HOST : 0);
    bind(&f, image, table);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
      upb_MiniTableField *field = field_of(table, odd[i].number), had = *field;
      put(field, odd[i].what, odd[i].like ? field_of(table, odd[i].like) : NULL, odd[i].value);
      const bjvm_plan *plan = NULL;
      bjvm_error error = {0};
      bjvm_status status = bjvm_image_bind(image, NULL, table, f.arena, &plan, &error);
      cr_expect_eq(status, BJVM_PLAN_MISMATCH, "row %zu, %s: %s", i, odd[i].why, bjvm_status_name(status));
      cr_expect_null(plan);
      *field = had;
    }
    bind(&f, image, table);
  }
  fixture_close(&f);
}

/* Sizes and the search's own numbers. */
Test(bind, odd_messages_are_refused) {
  fixture f = fixture_made(fill);
  upb_MiniTable *table = (upb_MiniTable *)(uintptr_t)table_of(&f, "g.M");
  const upb_MiniTable had = *table;
  cr_assert(bjvmi_table_is_sound(table));
  table->UPB_PRIVATE(size) = 16;
  cr_expect_not(bjvmi_table_is_sound(table));
  table->UPB_PRIVATE(size) = (uint16_t)(had.UPB_PRIVATE(size) - 8);
  cr_expect_not(bjvmi_table_is_sound(table));
  table->UPB_PRIVATE(size) = had.UPB_PRIVATE(size);
  table->UPB_PRIVATE(dense_below) = 10; /* field 100 is the tenth */
  cr_expect_not(bjvmi_table_is_sound(table));
  table->UPB_PRIVATE(dense_below) = 11;
  cr_expect_not(bjvmi_table_is_sound(table));
  table->UPB_PRIVATE(dense_below) = had.UPB_PRIVATE(dense_below);
  cr_expect(bjvmi_table_is_sound(table));
  fixture_close(&f);
}

/* Binds in vain; the report names `what`. */
static void refuse(const fixture *f, const bjvm_image *image, const upb_MiniTable *table, const char *what) {
  const bjvm_plan *plan;
  bjvm_error error = {0};
  char expected[256];
  cr_expect_eq(bjvm_image_bind(image, NULL, table, f->arena, &plan, NULL), BJVM_PLAN_MISMATCH, "%s", what);
  cr_expect_eq(bjvm_image_bind(image, NULL, table, f->arena, &plan, &error), BJVM_PLAN_MISMATCH, "%s", what);
#ifdef BJVM_SIZE_SMALL
  const char *status = bjvm_status_name(BJVM_PLAN_MISMATCH);
#else
  const char *status = bjvm_status_text(BJVM_PLAN_MISMATCH);
#endif
  snprintf(expected, sizeof expected, "%s: %s", status, what);
  cr_expect_str_eq(error.message, expected, "%s: got \"%s\"", what, error.message);
}

/* A map whose entry has another key or value than the plan's, and a message that is not linked. */
Test(bind, odd_links_are_refused) {
  fixture f = fixture_made(fill);
  const upb_MiniTable *table = table_of(&f, "g.M"), *entry = table_of(&f, "g.M.IEntry");
  const bjvm_image *image = compile(&f, "g.M", 0);
  for (uint32_t number = 1; number <= 2; number++) {
    upb_MiniTableField *field = field_of(entry, number), had = *field;
    put(field, TYPE, NULL, kUpb_FieldType_Int64);
    refuse(&f, image, table, "field 9 of g.M");
    *field = had;
  }
  upb_MiniTableField *b = field_of(table, 2);
  const upb_MiniTable **link = (const upb_MiniTable **)(void *)((char *)b + b->UPB_PRIVATE(submsg_ofs) * 4);
  *link = NULL;
  refuse(&f, image, table, "field 2 of g.M");
  *link = entry;
  refuse(&f, image, table, "field 2 of g.M");
  *link = table;
  bind(&f, image, table);
  fixture_close(&f);
}

/* Of a nested message too, and of one that does not fit as a whole. */
Test(bind, names_what_does_not_fit) {
  fixture f = fixture_open();
  const upb_MiniTable *table = table_of(&f, "cases.v3.T"), *mini = table_of(&f, "cases.v3.Mini");
  const bjvm_image *image = compile(&f, "cases.v3.T", 0);
  const bjvm_plan *plan;
  bjvm_error error = {0};
  static const struct {
    bool nested;
    uint32_t number;
    int what, value;
    const char *name;
  } rows[] = {
      {true, 1, TYPE, kUpb_FieldType_Float, "field 1 of cases.v3.Mini"},
      {true, 2, TYPE, kUpb_FieldType_Bytes, "field 2 of cases.v3.Mini"},
      {true, 2, OFFSET, 65528, "cases.v3.Mini"},
      {false, 3, TYPE, kUpb_FieldType_Double, "field 3 of cases.v3.T"},
      {false, 1, TYPE, kUpb_FieldType_Float, "field 1 of cases.v3.T"},
      {false, 16, OFFSET, 65528, "cases.v3.T"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    upb_MiniTableField *field = field_of(rows[i].nested ? mini : table, rows[i].number), had = *field;
    put(field, rows[i].what, NULL, rows[i].value);
    refuse(&f, image, table, rows[i].name);
    *field = had;
  }
  cr_expect_eq(bjvm_image_bind(image, "cases.v3.Nope", table, f.arena, &plan, &error), BJVM_PLAN_UNBOUND);
  cr_expect_str_eq(error.message, report_of("the file has no message type of that name"));
  bind(&f, image, table);
  fixture_close(&f);
}

Test(bind, arguments) {
  fixture f = fixture_made(fill);
  const upb_MiniTable *table = table_of(&f, "g.M");
  const bjvm_image *image = compile(&f, "g.M", 0);
  const bjvm_plan *plan;
  cr_expect_eq(number_of(&f, "g.M", "j"), 100);
  cr_expect_eq(bjvm_image_bind(NULL, NULL, table, f.arena, &plan, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_bind(image, NULL, NULL, f.arena, &plan, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_bind(image, NULL, table, NULL, &plan, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_bind_in_place(image, NULL, table, f.arena, NULL, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_bind(image, "g.N", table, f.arena, &plan, NULL), BJVM_PLAN_UNBOUND);
  cr_expect_eq(bjvm_image_bind(image, "g.M.IEntry", table, f.arena, &plan, NULL), BJVM_PLAN_UNBOUND);
  fixture_close(&f);
}
