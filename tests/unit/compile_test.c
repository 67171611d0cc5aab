/* The plan compiler: every rule of vm/plan_format.h that a compiled file has to keep.
 *
 * Schemas come from tests/cases/cases.binpb; what no .proto file can say, or would be long, is built with
 * upb's own descriptor API (compile_fixture.h). Several types in one file: compile_closure_test.c.
 */
#include "compile_fixture.h"

TestSuite(compile, .init = set_up, .fini = tear_down);

/* -- Words ---------------------------------------------------------------------------------------------- */

Test(compile, kinds_and_forms) {
  static const struct {
    const char *type, *field;
    int kind, form;
  } rows[] = {
#define ROW(type, field, kind, form) {"cases." type, field, BJVMI_KIND_##kind, BJVMI_FORM_##form}
      ROW("v3.T", "i32", INT32, IMPLICIT),        ROW("v3.T", "u32", UINT32, IMPLICIT),
      ROW("v3.T", "i64", INT64, IMPLICIT),        ROW("v3.T", "u64", UINT64, IMPLICIT),
      ROW("v3.T", "s32", INT32, IMPLICIT),        ROW("v3.T", "s64", INT64, IMPLICIT),
      ROW("v3.T", "x32", UINT32, IMPLICIT),       ROW("v3.T", "x64", UINT64, IMPLICIT),
      ROW("v3.T", "y32", INT32, IMPLICIT),        ROW("v3.T", "y64", INT64, IMPLICIT),
      ROW("v3.T", "fl", FLOAT, IMPLICIT),         ROW("v3.T", "db", DOUBLE, IMPLICIT),
      ROW("v3.T", "ok", BOOL, IMPLICIT),          ROW("v3.T", "str", STRING, IMPLICIT),
      ROW("v3.T", "raw", BYTES, IMPLICIT),        ROW("v3.T", "color", ENUM, IMPLICIT),
      ROW("v3.T", "sub", MESSAGE, HASBIT),        ROW("v3.T", "quiet", MESSAGE, HASBIT),
      ROW("v3.Opt", "i32", INT32, HASBIT),        ROW("v3.Opt", "nil", NULL_VALUE, HASBIT),
      ROW("v3.One", "pa", INT32, ONEOF),          ROW("v3.One", "pm", MESSAGE, ONEOF),
      ROW("v3.One", "pn", NULL_VALUE, ONEOF),     ROW("v3.One", "pv", VALUE, ONEOF),
      ROW("v3.One", "pw", WRAPPER, ONEOF),        ROW("v3.One", "pdu", DURATION, ONEOF),
      ROW("v3.One", "outside", INT32, IMPLICIT),  ROW("v3.One", "sb", STRING, ONEOF),
      ROW("v3.Rep", "i32", INT32, ARRAY),         ROW("v3.Rep", "color", ENUM, ARRAY),
      ROW("v3.Rep", "sub", MESSAGE, ARRAY),       ROW("v3.Maps", "k_i32", MAP, ARRAY),
      ROW("v3.Wkt", "any", ANY, HASBIT),          ROW("v3.Wkt", "ts", TIMESTAMP, HASBIT),
      ROW("v3.Wkt", "du", DURATION, HASBIT),      ROW("v3.Wkt", "st", STRUCT, HASBIT),
      ROW("v3.Wkt", "val", VALUE, HASBIT),        ROW("v3.Wkt", "lv", LIST_VALUE, HASBIT),
      ROW("v3.Wkt", "fm", FIELD_MASK, HASBIT),    ROW("v3.Wkt", "em", MESSAGE, HASBIT),
      ROW("v3.Wkt", "nil", NULL_VALUE, IMPLICIT), ROW("v3.Wkt", "wk", WRAPPER, HASBIT),
      ROW("v3.Wkt", "wb", WRAPPER, HASBIT),       ROW("v3.WktRep", "nil", NULL_VALUE, ARRAY),
      ROW("v3.WktRep", "ts", TIMESTAMP, ARRAY),   ROW("v2.P2", "x", INT32, HASBIT),
      ROW("v2.P2", "shade", ENUM, HASBIT),        ROW("v2.P2", "tight", INT32, ARRAY),
      ROW("v2.P2", "grp", MESSAGE, HASBIT),       ROW("v2.P2", "mypart", MESSAGE, ARRAY),
      ROW("v2.P2", "wbox", MESSAGE, ONEOF),       ROW("v2.P2", "levels", MAP, ARRAY),
      ROW("v2.Need", "id", INT32, HASBIT),        ROW("ed.Ed", "plain", INT32, HASBIT),
      ROW("ed.Ed", "hush", INT32, IMPLICIT),      ROW("ed.Ed", "boxed", MESSAGE, HASBIT),
      ROW("ed.Ed", "boxes", MESSAGE, ARRAY),      ROW("ed.Ed", "stop", MESSAGE, ONEOF),
      ROW("ed.Ed", "hushMood", ENUM, IMPLICIT),   ROW("ed.Ed", "tones", ENUM, ARRAY),
#undef ROW
  };
  upb_DefPool *pool = load_cases(false);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    plan p = compile(find(pool, rows[i].type), 0);
    const bjvmi_word *w = word_of(&p, rows[i].type, rows[i].field);
    cr_expect(w->op == BJVMI_OP(rows[i].kind, rows[i].form), "%s.%s: op %d, form %d", rows[i].type,
              rows[i].field, BJVMI_OP_KIND(w->op), BJVMI_OP_FORM(w->op));
    cr_expect(w->offset == 0 && w->presence == 0);
    check_plan(&p);
  }
}

Test(compile, words_are_sorted_and_ended) {
  static const uint32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 9, 1000, 536870911};
  plan p = compile(find(load_cases(false), "cases.v3.Order"), 0);
  const bjvmi_message *m = message_of(&p, "cases.v3.Order");
  cr_assert_eq(bjvmi_le16(m->word_count), 10);
  for (int i = 0; i < 10; i++) cr_expect_eq(bjvmi_le32(words_of(&p, m)[i].number), numbers[i]);
  cr_expect_eq(words_of(&p, m)[10].op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE));
  cr_expect_eq(look_up(&p, &m->keys, "ninth", 5), 7);
  cr_expect_eq(bjvmi_le32(p.roots[0]), 0);
  cr_expect_eq(p.sizes[BJVMI_SECTION_ROOTS], 4);
}

Test(compile, required_and_extendable) {
  upb_DefPool *pool = load_cases(false);
  plan p = compile(find(pool, "cases.v2.Need"), 0);
  cr_expect_eq(bjvmi_le16(message_of(&p, "cases.v2.Need")->required_count), 2);
  p = compile(find(pool, "cases.ed.Must"), 0);
  cr_expect_eq(bjvmi_le16(message_of(&p, "cases.ed.Must")->required_count), 1);
  p = compile(find(pool, "cases.v2.P2"), 0);
  const bjvmi_message *m = message_of(&p, "cases.v2.P2");
  cr_expect_eq(m->flags, BJVMI_MESSAGE_EXTENDABLE);
  cr_expect_eq(words_of(&p, m)[bjvmi_le16(m->word_count)].op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENDABLE));
  cr_expect_eq(p.sizes[BJVMI_SECTION_EXTENSIONS], 0);
}

Test(compile, map_entries) {
  upb_DefPool *pool = load_cases(false);
  for (uint32_t flags = 0; flags <= BJVM_COMPILE_SHALLOW; flags++) {
    plan p = compile(find(pool, "cases.v3.Maps"), flags);
    check_plan(&p);
    const bjvmi_word *w = word_of(&p, "cases.v3.Maps", "vTs");
    const bjvmi_message *entry = &p.messages[bjvmi_le16(w->sub)];
    cr_assert_eq(entry->flags, BJVMI_MESSAGE_ENTRY);
    cr_expect_eq(bjvmi_le16(entry->word_count), 2);
    cr_expect_eq(bjvmi_le16(entry->keys.key_count), 0);
    const bjvmi_word *words = words_of(&p, entry);
    cr_expect_eq(words[0].op, BJVMI_OP(BJVMI_KIND_STRING, BJVMI_FORM_ALWAYS));
    cr_expect_eq(words[1].op, BJVMI_OP(BJVMI_KIND_TIMESTAMP, BJVMI_FORM_ALWAYS));
    cr_expect(words[0].name == 0 && words[0].name_len == 0 && words[1].name == 0 && words[1].name_len == 0);
    cr_expect_eq(words[2].op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE));
    cr_expect_eq(p.messages[bjvmi_le16(words[1].sub)].flags, flags ? BJVMI_MESSAGE_EXTERNAL : 0);
    w = word_of(&p, "cases.v3.Maps", "vDeep");
    words = words_of(&p, &p.messages[bjvmi_le16(w->sub)]);
    cr_expect_eq(bjvmi_le16(words[1].sub), 0, "a value of the root's type is the root's record");
  }
}

/* -- Names ---------------------------------------------------------------------------------------------- */

Test(compile, names) {
  static const struct {
    const char *key, *encoded, *alt;
    uint32_t flags;
  } rows[] = {
      {"twoWords", ",\"twoWords\":", NULL, BJVMI_NAME_DERIVED},
      {"camelAlready", ",\"camelAlready\":", NULL, 0},
      {"renamed", ",\"renamed\":", ",\"plain\":", 0},
      {"say \"hi\"", ",\"say \\\"hi\\\"\":", ",\"quoted\":", BJVMI_NAME_ESCAPED},
      {"back\\slash", ",\"back\\\\slash\":", ",\"slashed\":", BJVMI_NAME_ESCAPED},
      {"tab\tnew\nline", ",\"tab\\tnew\\nline\":", ",\"tabbed\":", BJVMI_NAME_ESCAPED},
      {"\xc3\xa9\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x9a\x80",
       ",\"\xc3\xa9\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x9a\x80\":", ",\"accent\":", BJVMI_NAME_SPECIAL},
      {"a.b[0]", ",\"a.b[0]\":", ",\"dotted\":", 0},
      {"map/of", ",\"map/of\":", ",\"map_of\":", 0},
      {"\x01\x1f\b\f\r\x7f", ",\"\\u0001\\u001f\\b\\f\\r\x7f\":", ",\"controls\":", BJVMI_NAME_ESCAPED},
      {"<&>", ",\"<&>\":", ",\"angles\":", BJVMI_NAME_SPECIAL},
      {"a<\"", ",\"a<\\\"\":", ",\"mixed\":", BJVMI_NAME_SPECIAL | BJVMI_NAME_ESCAPED},
  };
  size_t count;
  google_protobuf_FileDescriptorSet *set = read_cases();
  file_proto *const *files = google_protobuf_FileDescriptorSet_mutable_file(set, &count);
  upb_DefPool *pool = new_pool();
  for (size_t i = 0; i < count; i++) {
    size_t messages = 0;
    message_proto *const *m = google_protobuf_FileDescriptorProto_mutable_message_type(files[i], &messages);
    for (size_t j = 0; j < messages; j++) {
      if (!upb_StringView_IsEqual(google_protobuf_DescriptorProto_name(m[j]), view("Names"))) continue;
      static const char *const more[] = {"controls", "angles", "mixed"};
      for (int k = 0; k < 3; k++)
        google_protobuf_FieldDescriptorProto_set_json_name(
            new_field(m[j], more[k], 101 + k, kUpb_FieldType_Int32, NULL), view(rows[9 + k].key));
    }
    add_file(pool, files[i]);
  }
  plan p = compile(find(pool, "cases.v3.Names"), 0);
  check_plan(&p);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const bjvmi_word *w = word_of(&p, "cases.v3.Names", rows[i].key);
    uint32_t name = bjvmi_le32(w->name);
    uint32_t length = bjvmi_name_length(p.names, name);
    cr_expect(is_name(&p, name, length, rows[i].encoded), "%s: %.*s", rows[i].key, (int)length,
              p.names + name);
    cr_expect_eq(w->name_len, length);
    uint32_t alt_flag = rows[i].alt ? BJVMI_NAME_ALT : 0;
    cr_expect_eq(bjvmi_name_flags(p.names, name), rows[i].flags | alt_flag, "%s", rows[i].key);
    if (rows[i].alt == NULL) continue;
    uint32_t alt = bjvmi_name_alt(p.names, name);
    cr_expect(is_name(&p, alt, bjvmi_name_length(p.names, alt), rows[i].alt), "%s", rows[i].key);
    cr_expect_eq(bjvmi_name_flags(p.names, alt), 0);
    const char *proto = rows[i].alt + 2; /* without quotes and colon it is a key as well */
    cr_expect_eq(look_up(&p, &message_of(&p, "cases.v3.Names")->keys, proto, strlen(proto) - 2),
                 (int)(w - words_of(&p, message_of(&p, "cases.v3.Names"))));
  }
}

Test(compile, json_names_win) {
  static const struct {
    const char *type, *name;
    uint32_t number;
  } rows[] = {
      {"cases.v2.Swap", "swap_b", 1},      {"cases.v2.Swap", "swap_a", 2},
      {"cases.ed.Legacy", "out_word", 1},  {"cases.ed.Legacy", "in_word", 2},
      {"cases.ed.Legacy", "otherWord", 3}, {"cases.ed.Legacy", "other_word", 3},
  };
  upb_DefPool *pool = load_cases(false);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    plan p = compile(find(pool, rows[i].type), 0);
    check_plan(&p);
    cr_expect_eq(bjvmi_le32(word_of(&p, rows[i].type, rows[i].name)->number), rows[i].number, "%s",
                 rows[i].name);
  }
  plan p = compile(find(pool, "cases.v2.Swap"), 0);
  cr_expect_eq(bjvmi_le16(message_of(&p, "cases.v2.Swap")->keys.key_count), 2);
}

Test(compile, names_are_pooled) {
  file_proto *file = new_file("pool.proto", "p", "proto3");
  message_proto *a = new_message(file, "A");
  message_proto *b = new_message(file, "B");
  new_field(a, "the_same", 1, kUpb_FieldType_Int32, NULL);
  new_field(a, "b", 2, kUpb_FieldType_Message, ".p.B");
  new_field(b, "the_same", 5, kUpb_FieldType_Bool, NULL);
  google_protobuf_FieldDescriptorProto_set_json_name(new_field(b, "b", 6, kUpb_FieldType_Bool, NULL),
                                                     view("other"));
  plan p = compile(find_in(file, "p.A"), 0);
  check_plan(&p);
  const bjvmi_word *w = word_of(&p, "p.A", "theSame");
  cr_expect_eq(w->name, word_of(&p, "p.B", "theSame")->name);
  cr_expect_neq(word_of(&p, "p.A", "b")->name, word_of(&p, "p.B", "b")->name, "one has an ALT form");
  const bjvmi_key *key = &p.keys[bjvmi_le32(message_of(&p, "p.B")->keys.first_key)];
  cr_expect_eq(bjvmi_le32(key->name), bjvmi_le32(w->name) + 2, "a raw name lies in its encoded form");
}

Test(compile, long_names) {
  char name[BJVMI_NAME_MAX + 2];
  memset(name, 'n', sizeof name);
  static const struct {
    size_t size;
    int name_len;
  } rows[] = {{251, 255}, {252, 0}, {BJVMI_NAME_MAX - 4, 0}, {BJVMI_NAME_MAX - 3, -1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    file_proto *file = new_file("long.proto", "l", "proto3");
    field_proto *f = new_field(new_message(file, "M"), "f", 1, kUpb_FieldType_Int32, NULL);
    name[rows[i].size] = 0;
    google_protobuf_FieldDescriptorProto_set_json_name(f, view(name));
    name[rows[i].size] = 'n';
    const upb_MessageDef *m = find_in(file, "l.M");
    if (rows[i].name_len < 0) {
      const void *data;
      size_t size;
      bjvm_error error;
      cr_expect_eq(bjvm_compile(&m, 1, 0, arena, &data, &size, &error), BJVM_PLAN_LIMIT);
      cr_expect_str_eq(error.path, "l.M.f");
      continue;
    }
    plan p = compile(m, 0);
    const bjvmi_word *w = p.words;
    cr_expect_eq(w->name_len, rows[i].name_len);
    cr_expect_eq(bjvmi_name_length(p.names, bjvmi_le32(w->name)), rows[i].size + 4);
    cr_expect_eq(look_up(&p, &p.messages[0].keys, name, rows[i].size), 0);
  }
}

/* -- Well-known types ----------------------------------------------------------------------------------- */

/* Builds google.protobuf.`name` with the fields `types` (0 ends them; negative: repeated) and tells its
 * kind. */
static int kind_of_fake(const char *name, const int *types, bool in_oneof) {
  file_proto *file = new_file("fake.proto", "google.protobuf", "proto3");
  message_proto *m = new_message(file, name);
  if (in_oneof)
    google_protobuf_OneofDescriptorProto_set_name(google_protobuf_DescriptorProto_add_oneof_decl(m, arena),
                                                  view("o"));
  for (int i = 0; types[i] != 0; i++) {
    field_proto *f = new_field(m, print("f%d", i + 1), i + 1, abs(types[i]), NULL);
    if (types[i] < 0) set_repeated(f);
    if (in_oneof) google_protobuf_FieldDescriptorProto_set_oneof_index(f, 0);
  }
  char full[64];
  snprintf(full, sizeof full, "google.protobuf.%s", name);
  plan p = compile(find_in(file, full), 0);
  check_plan(&p);
  return p.messages[0].kind;
}

Test(compile, well_known_shapes) {
  enum { I32 = kUpb_FieldType_Int32, I64 = kUpb_FieldType_Int64, STR = kUpb_FieldType_String };
  enum { BYT = kUpb_FieldType_Bytes, DBL = kUpb_FieldType_Double, U64 = kUpb_FieldType_UInt64 };
  static const struct {
    const char *name;
    int types[4];
    bool in_oneof;
    int kind;
  } rows[] = {
      {"Timestamp", {I64, I32}, false, BJVMI_KIND_TIMESTAMP},
      {"Timestamp", {I64}, false, BJVMI_KIND_MESSAGE},
      {"Timestamp", {I32, I32}, false, BJVMI_KIND_MESSAGE},
      {"Timestamp", {I64, I32, I32}, false, BJVMI_KIND_MESSAGE},
      {"Timestamp", {-I64, I32}, false, BJVMI_KIND_MESSAGE},
      {"Timestamp", {I64, I32}, true, BJVMI_KIND_MESSAGE},
      {"Duration", {I64, I32}, false, BJVMI_KIND_DURATION},
      {"Duration", {U64, I32}, false, BJVMI_KIND_MESSAGE},
      {"FieldMask", {-STR}, false, BJVMI_KIND_FIELD_MASK},
      {"FieldMask", {STR}, false, BJVMI_KIND_MESSAGE},
      {"FieldMask", {-BYT}, false, BJVMI_KIND_MESSAGE},
      {"Any", {STR, BYT}, false, BJVMI_KIND_ANY},
      {"Any", {STR, STR}, false, BJVMI_KIND_MESSAGE},
      {"DoubleValue", {DBL}, false, BJVMI_KIND_WRAPPER},
      {"DoubleValue", {I64}, false, BJVMI_KIND_MESSAGE},
      {"StringValue", {STR}, false, BJVMI_KIND_WRAPPER},
      {"StringValue", {STR}, true, BJVMI_KIND_MESSAGE},
      {"UInt64Value", {U64}, false, BJVMI_KIND_WRAPPER},
      {"UInt64Value", {-U64}, false, BJVMI_KIND_MESSAGE},
      {"Struct", {STR}, false, BJVMI_KIND_MESSAGE},
      {"Value", {I32}, false, BJVMI_KIND_MESSAGE},
      {"ListValue", {-STR}, false, BJVMI_KIND_MESSAGE},
      {"Empty", {0}, false, BJVMI_KIND_MESSAGE},
      {"Elsewhere", {I64, I32}, false, BJVMI_KIND_MESSAGE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    cr_expect_eq(kind_of_fake(rows[i].name, rows[i].types, rows[i].in_oneof), rows[i].kind, "row %zu, %s", i,
                 rows[i].name);
}

Test(compile, value_family) {
  plan p = compile(find(load_cases(false), "google.protobuf.Struct"), 0);
  check_plan(&p);
  cr_expect_eq(message_of(&p, "google.protobuf.Struct")->kind, BJVMI_KIND_STRUCT);
  cr_expect_eq(message_of(&p, "google.protobuf.Value")->kind, BJVMI_KIND_VALUE);
  cr_expect_eq(message_of(&p, "google.protobuf.ListValue")->kind, BJVMI_KIND_LIST_VALUE);
  cr_expect_eq(word_of(&p, "google.protobuf.Value", "nullValue")->op,
               BJVMI_OP(BJVMI_KIND_NULL_VALUE, BJVMI_FORM_ONEOF));
  cr_expect_eq(word_of(&p, "google.protobuf.ListValue", "values")->op,
               BJVMI_OP(BJVMI_KIND_VALUE, BJVMI_FORM_ARRAY));
}

/* The messages of struct.proto, for a test to spoil. */
static file_proto *struct_file(message_proto **value, message_proto **list) {
  size_t count, messages;
  file_proto *const *files = google_protobuf_FileDescriptorSet_mutable_file(read_cases(), &count);
  for (size_t i = 0; i < count; i++) {
    upb_StringView name = google_protobuf_FileDescriptorProto_name(files[i]);
    if (!upb_StringView_IsEqual(name, view("google/protobuf/struct.proto"))) continue;
    message_proto *const *m = google_protobuf_FileDescriptorProto_mutable_message_type(files[i], &messages);
    for (size_t j = 0; j < messages; j++) {
      upb_StringView type = google_protobuf_DescriptorProto_name(m[j]);
      if (upb_StringView_IsEqual(type, view("Value"))) *value = m[j];
      if (upb_StringView_IsEqual(type, view("ListValue"))) *list = m[j];
    }
    return files[i];
  }
  cr_assert_fail("struct.proto is not in the set");
  return NULL;
}

/* With one of Struct, Value and ListValue spoilt all three are ordinary messages. */
Test(compile, value_family_stands_together) {
  for (int spoil = 0; spoil < 4; spoil++) {
    message_proto *value = NULL, *list = NULL;
    size_t count;
    file_proto *file = struct_file(&value, &list);
    cr_assert(value != NULL && list != NULL);
    field_proto *const *f = google_protobuf_DescriptorProto_mutable_field(value, &count);
    if (spoil == 1) new_field(value, "extra", 7, kUpb_FieldType_Int32, NULL);
    if (spoil == 2) {
      google_protobuf_OneofDescriptorProto_set_name(
          google_protobuf_DescriptorProto_add_oneof_decl(value, arena), view("second"));
      google_protobuf_FieldDescriptorProto_set_oneof_index(f[5], 1);
    }
    if (spoil == 3) new_field(list, "extra", 2, kUpb_FieldType_Int32, NULL);
    plan p = compile(find_in(file, "google.protobuf.Struct"), 0);
    check_plan(&p);
    for (uint32_t k = 0; k < message_count(&p); k++)
      cr_expect(spoil == 0 || p.messages[k].kind == BJVMI_KIND_MESSAGE, "spoil %d, message %u", spoil, k);
    cr_expect(spoil != 0 || p.messages[0].kind == BJVMI_KIND_STRUCT);
  }
}

/* -- Enums ---------------------------------------------------------------------------------------------- */

/* A message M with one field, of an enum E whose values V0, V1, ... have these numbers. */
static file_proto *enum_file(const int32_t *numbers, size_t count) {
  file_proto *file = new_file("enum.proto", "e", "proto3");
  enum_proto *e = new_enum(file, "E");
  for (size_t i = 0; i < count; i++) new_value(e, print("V%d", (int)i), numbers[i]);
  new_field(new_message(file, "M"), "e", 1, kUpb_FieldType_Enum, ".e.E");
  return file;
}

/* Looks a number up as the VM does: subtraction in the run, bisection before and after. Its record, or
 * NULL. */
static const bjvmi_value *find_number(const plan *p, const bjvmi_enum *e, int32_t number) {
  const bjvmi_value *values = p->values + bjvmi_le32(e->first_value);
  uint32_t first = bjvmi_le32(e->dense_first), count = bjvmi_le32(e->dense_count);
  int64_t at = (int64_t)number - (int32_t)bjvmi_le32((uint32_t)e->dense_min);
  if (at >= 0 && at < count) return values[first + at].name ? &values[first + at] : NULL;
  uint32_t low = at < 0 ? 0 : first + count, high = at < 0 ? first : bjvmi_le32(e->value_count);
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int32_t n = (int32_t)bjvmi_le32((uint32_t)values[middle].number);
    if (n == number) return &values[middle];
    if (n < number) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

static bool prints_as(const plan *p, const bjvmi_enum *e, int32_t number, const char *encoded) {
  const bjvmi_value *v = find_number(p, e, number);
  if (v == NULL) return false;
  uint32_t name = bjvmi_le32(v->name);
  return is_name(p, name, bjvmi_name_length(p->names, name), encoded);
}

Test(compile, enum_runs) {
  static const struct {
    int32_t numbers[12];
    uint32_t count, dense_first, dense_count, value_count;
    int32_t dense_min;
  } rows[] = {
      {{0}, 1, 0, 1, 1, 0},
      {{0, 1, 2, 3}, 4, 0, 4, 4, 0},
      {{0, 2}, 2, 0, 3, 3, 0},
      {{0, 3}, 2, 0, 4, 4, 0},                             /* two holes, two values */
      {{0, 4}, 2, 1, 1, 2, 4},                             /* three holes are too many */
      {{0, 1, 2147483647, -5}, 4, 1, 2, 4, 0},             /* sparse */
      {{0, 1, 2, 100, 101, 102, 103}, 7, 3, 4, 7, 100},    /* the longer run */
      {{0, 1000, 1001, 1003, 1004, -1}, 6, 2, 5, 7, 1000}, /* with a hole */
      {{0, 2, 4, 6, 8, 10}, 6, 0, 11, 11, 0},              /* every second number */
      {{0, 3, 6, 9}, 4, 2, 4, 6, 6},                       /* every third: two at a time */
      {{0, 2147483647, -2147483647 - 1}, 3, 2, 1, 3, 2147483647},
      {{0, 1, 2, 3, 8, 9, 10, 11}, 8, 0, 12, 12, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    plan p = compile(find_in(enum_file(rows[i].numbers, rows[i].count), "e.M"), 0);
    check_plan(&p);
    const bjvmi_enum *e = enum_of(&p, "e.E");
    cr_expect_eq(bjvmi_le32(e->dense_count), rows[i].dense_count, "row %zu: count %u", i,
                 bjvmi_le32(e->dense_count));
    cr_expect_eq(bjvmi_le32(e->dense_first), rows[i].dense_first, "row %zu: first %u", i,
                 bjvmi_le32(e->dense_first));
    cr_expect_eq((int32_t)bjvmi_le32((uint32_t)e->dense_min), rows[i].dense_min, "row %zu", i);
    cr_expect_eq(bjvmi_le32(e->value_count), rows[i].value_count, "row %zu", i);
    for (uint32_t j = 0; j < rows[i].count; j++) {
      char encoded[16];
      snprintf(encoded, sizeof encoded, "\"V%u\"", j);
      cr_expect(prints_as(&p, e, rows[i].numbers[j], encoded), "row %zu, number %d", i, rows[i].numbers[j]);
    }
    cr_expect_null(find_number(&p, e, 7777));
  }
}

/* The chosen run against trying all of them. */
Test(compile, enum_runs_are_widest) {
  uint32_t state = 1;
  for (int round = 0; round < 200; round++) {
    int32_t numbers[24] = {0};
    uint32_t count = 2 + (uint32_t)round % 22;
    for (uint32_t i = 1; i < count; i++) {
      state = state * 1103515245u + 12345u;
      numbers[i] =
          numbers[i - 1] + 1 + (int32_t)((state >> 16) % 5 == 0 ? (state >> 20) % 9 : (state >> 20) % 3);
    }
    uint32_t widest = 0;
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t j = i; j < count; j++)
        if (numbers[j] - numbers[i] + 1 <= 2 * (int32_t)(j - i + 1) && j - i + 1 > widest) widest = j - i + 1;
    plan p = compile(find_in(enum_file(numbers, count), "e.M"), 0);
    const bjvmi_enum *e = enum_of(&p, "e.E");
    uint32_t holes = bjvmi_le32(e->value_count) - count;
    cr_assert_eq(bjvmi_le32(e->dense_count) - holes, widest, "round %d", round);
    cr_assert_leq(holes, widest);
  }
}

Test(compile, sparse_enum_is_small) {
  static const int32_t numbers[] = {0, 1, 2147483647, -5};
  plan p = compile(find_in(enum_file(numbers, 4), "e.M"), 0);
  cr_expect_lt(p.size, 1024, "%zu bytes", p.size);
}

Test(compile, enum_names) {
  upb_DefPool *pool = load_cases(false);
  plan p = compile(find(pool, "cases.v3.T"), 0);
  const bjvmi_enum *e = enum_of(&p, "cases.v3.Twin");
  cr_expect_eq(bjvmi_le32(e->value_count), 3);
  cr_expect_eq(bjvmi_le16(e->keys.key_count), 6);
  cr_expect(prints_as(&p, e, 1, "\"TWIN_ALPHA\"") && prints_as(&p, e, 2, "\"TWIN_BETA\""));
  cr_expect_eq(look_up(&p, &e->keys, "TWIN_A", 6), 1);
  cr_expect_eq(look_up(&p, &e->keys, "twin_bee", 8), 2);
  cr_expect_eq(look_up(&p, &e->keys, "TWIN_BEE", 8), -1);
  e = enum_of(&p, "cases.v3.Color");
  cr_expect_eq((int32_t)bjvmi_le32((uint32_t)e->dense_min), -1);
  cr_expect_eq(look_up(&p, &e->keys, "INFRA", 5), 0);
  cr_expect_eq(e->flags, 0);
  cr_expect_eq(enum_count(&p), 4);
  p = compile(find(pool, "cases.ed.Ed"), 0);
  cr_expect_eq(bjvmi_le16(enum_of(&p, "cases.ed.Tone")->flags), BJVMI_ENUM_CLOSED);
  cr_expect_eq(bjvmi_le16(enum_of(&p, "cases.ed.Mood")->flags), 0);
}

/* Declared out of order, with aliases: the first declared is printed. */
Test(compile, enum_aliases_in_any_order) {
  file_proto *file = new_file("enum.proto", "e", "proto3");
  enum_proto *e = new_enum(file, "E");
  allow_alias(e);
  static const int32_t numbers[] = {0, 7, 5, 7, 0, 5, 6, 7};
  for (int i = 0; i < 8; i++) new_value(e, print("V%d", i), numbers[i]);
  new_field(new_message(file, "M"), "e", 1, kUpb_FieldType_Enum, ".e.E");
  plan p = compile(find_in(file, "e.M"), 0);
  check_plan(&p);
  const bjvmi_enum *r = enum_of(&p, "e.E");
  cr_expect(prints_as(&p, r, 0, "\"V0\"") && prints_as(&p, r, 7, "\"V1\""));
  cr_expect(prints_as(&p, r, 5, "\"V2\"") && prints_as(&p, r, 6, "\"V6\""));
  for (int i = 0; i < 8; i++) {
    int index = look_up(&p, &r->keys, print("V%d", i), 2);
    cr_assert_geq(index, 0);
    cr_expect_eq((int32_t)bjvmi_le32((uint32_t)p.values[index].number), numbers[i], "V%d", i);
  }
}

Test(compile, enum_json_names) {
  file_proto *file = new_file("enum.proto", "e", "proto3");
  enum_proto *e = new_enum(file, "E");
  allow_alias(e);
  new_value(e, "ZERO", 0);
  set_json_name(new_value(e, "ONE", 1), "eins \"1\"");
  set_json_name(new_value(e, "UNO", 1), "uno!");
  set_json_name(new_value(e, "TWO", 2), "zwei"); /* upb itself stops at names that two values share */
  new_field(new_message(file, "M"), "e", 1, kUpb_FieldType_Enum, ".e.E");
  plan p = compile(find_in(file, "e.M"), 0);
  check_plan(&p);
  const bjvmi_enum *r = enum_of(&p, "e.E");
  cr_expect(prints_as(&p, r, 0, "\"ZERO\""));
  cr_expect(prints_as(&p, r, 1, "\"eins \\\"1\\\"\""));
  cr_expect(prints_as(&p, r, 2, "\"zwei\""));
  static const struct {
    const char *name;
    int index;
  } rows[] = {{"ZERO", 0}, {"eins \"1\"", 1}, {"ONE", 1}, {"uno!", 1}, {"UNO", 1}, {"zwei", 2}, {"TWO", 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    cr_expect_eq(look_up(&p, &r->keys, rows[i].name, strlen(rows[i].name)), rows[i].index, "%s",
                 rows[i].name);
  cr_expect_eq(bjvmi_le16(r->keys.key_count), 7);
}

/* -- Sizes and limits ----------------------------------------------------------------------------------- */

Test(compile, many_fields) {
  file_proto *file = new_file("many.proto", "m", "proto3");
  message_proto *m = new_message(file, "M");
  for (int i = 500; i > 0; i--) new_field(m, print("item_%03d", i), i * 3, kUpb_FieldType_Int32, NULL);
  plan p = compile(find_in(file, "m.M"), 0);
  check_plan(&p);
  cr_expect_eq(bjvmi_le16(p.messages[0].word_count), 500);
  cr_expect_eq(bjvmi_le16(p.messages[0].keys.key_count), 1000);
  cr_expect_leq(p.messages[0].keys.max_probe, 12, "%d", p.messages[0].keys.max_probe);
  for (uint32_t i = 0; i < 500; i++) cr_assert_eq(bjvmi_le32(p.words[i].number), (i + 1) * 3);
}

/* Names of 6 and 7 bytes that differ at the end only. */
Test(compile, similar_keys) {
  static const char *const formats[] = {"it_%03d", "item%03d", "abcdefghitem%03d", "a%d", "%06d_x"};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    file_proto *file = new_file("enum.proto", "e", "proto3");
    enum_proto *e = new_enum(file, "E");
    for (int j = 0; j < 100; j++) new_value(e, print(i == 4 ? "v%05d" : formats[i], j), j);
    new_field(new_message(file, "M"), "e", 1, kUpb_FieldType_Enum, ".e.E");
    plan p = compile(find_in(file, "e.M"), 0);
    check_plan(&p);
    cr_expect_leq(p.enums[0].keys.max_probe, 5, "%s: %d", formats[i], p.enums[0].keys.max_probe);
  }
}

static bjvm_error fail_to_compile(const upb_MessageDef *m, bjvm_status expected) {
  const void *data = NULL;
  size_t size = 0;
  bjvm_error error = {0};
  bjvm_status status = bjvm_compile(&m, 1, 0, arena, &data, &size, &error);
  cr_expect_eq(status, expected, "status %d", status);
  cr_expect_eq(error.code, expected);
  cr_expect_eq(bjvm_compile(&m, 1, 0, arena, &data, &size, NULL), expected);
  cr_expect_null(data);
  return error;
}

static file_proto *huge_enum(int count, int step, int names) {
  file_proto *file = new_file("enum.proto", "e", "proto3");
  enum_proto *e = new_enum(file, "E");
  if (names > 1) allow_alias(e);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < names; j++) new_value(e, print(j ? "A%d" : "V%d", i), i * step);
  new_field(new_message(file, "M"), "e", 1, kUpb_FieldType_Enum, ".e.E");
  return file;
}

Test(compile, enum_limits) {
  plan p = compile(find_in(huge_enum(65535, 1, 1), "e.M"), 0);
  const bjvmi_enum *e = enum_of(&p, "e.E");
  cr_expect_eq(bjvmi_le32(e->dense_count), 65535);
  cr_expect_eq(look_up(&p, &e->keys, "V65534", 6), 65534);
  cr_expect_lt(e->keys.max_probe, 64);
  p = compile(find_in(huge_enum(40000, 2, 1), "e.M"), 0); /* with holes it would have too many records */
  cr_expect_eq(bjvmi_le32(enum_of(&p, "e.E")->value_count), 40000);
  cr_expect_eq(look_up(&p, &p.enums[0].keys, "V39999", 6), 39999);
  bjvm_error error = fail_to_compile(find_in(huge_enum(65536, 1, 1), "e.M"), BJVM_PLAN_LIMIT);
  cr_expect_str_eq(error.path, "e.E");
  for (int count = 255; count <= 257; count++) { /* around the width of slots */
    p = compile(find_in(huge_enum(count, 1, 1), "e.M"), 0);
    check_plan(&p);
  }
  error = fail_to_compile(find_in(huge_enum(33000, 1, 2), "e.M"), BJVM_PLAN_LIMIT); /* 66000 names */
  cr_expect_str_eq(error.path, "e.E");
}

Test(compile, message_limits) {
  file_proto *file = new_file("many.proto", "m", "proto3");
  message_proto *all = new_message(file, "All");
  for (int i = 1; i <= 66000; i++) {
    new_message(file, print("M%d", i));
    if (i <= 300) new_field(all, print("f%d", i), i, kUpb_FieldType_Message, print(".m.M%d", i));
  }
  /* More types than a plan holds, reached through messages of 300 fields each. */
  size_t count;
  message_proto *const *m = google_protobuf_FileDescriptorProto_mutable_message_type(file, &count);
  for (int i = 1; i <= 299; i++)
    for (int j = 1; j <= 220; j++)
      new_field(m[i], print("g%d", j), j, kUpb_FieldType_Message,
                print(".m.M%d", 300 + (i - 1) * 220 + j > 66000 ? 1 : 300 + (i - 1) * 220 + j));
  bjvm_error error = fail_to_compile(find_in(file, "m.All"), BJVM_PLAN_LIMIT);
  cr_expect(strncmp(error.path, "m.M", 3) == 0, "%s", error.path);
}

Test(compile, two_abis) {
  upb_DefPool *pool = load_cases(false);
  const upb_MessageDef *m = find(pool, "cases.v3.T");
  const void *data;
  size_t size;
  cr_expect_eq(bjvm_compile(&m, 1, BJVM_COMPILE_ABI32 | BJVM_COMPILE_ABI64, arena, &data, &size, NULL),
               BJVM_BAD_ARGUMENT);
}

Test(compile, bad_arguments) {
  upb_DefPool *pool = load_cases(false);
  bjvm_error error = fail_to_compile(find(pool, "cases.v3.Maps.KI32Entry"), BJVM_BAD_ARGUMENT);
  cr_expect_str_eq(error.path, "cases.v3.Maps.KI32Entry");
  const void *data;
  size_t size;
  cr_expect_eq(bjvm_compile(NULL, 0, 0, arena, &data, &size, &error), BJVM_BAD_ARGUMENT);
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(find(pool, "cases.v3.T"), 1);
  cr_expect_eq(bjvm_compile_extension(f, arena, &data, &size, &error), BJVM_BAD_ARGUMENT);
}
