/* The plan compiler: every rule of vm/plan_format.h that a compiled file has to keep.
 *
 * Schemas come from tests/cases/cases.binpb; what no .proto file can say, or would be long, is built with
 * upb's own descriptor API. A small reader looks into the files; it shares nothing with the loader of vm but
 * the format's header.
 */
#include "bjvm/compile.h"
#include "google/protobuf/descriptor.upb.h"
#include "plan_format.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Schemas -------------------------------------------------------------------------------------------- */

typedef google_protobuf_FileDescriptorProto file_proto;
typedef google_protobuf_DescriptorProto message_proto;
typedef google_protobuf_FieldDescriptorProto field_proto;
typedef google_protobuf_EnumDescriptorProto enum_proto;

/* All that a test makes, freed behind it. */
static upb_Arena *arena;
static upb_DefPool *pools[400];
static size_t pool_count;

static void set_up(void) { arena = upb_Arena_New(); }

static void tear_down(void) {
  while (pool_count > 0) upb_DefPool_Free(pools[--pool_count]);
  upb_Arena_Free(arena);
}

TestSuite(compile, .init = set_up, .fini = tear_down);

static upb_DefPool *new_pool(void) {
  cr_assert_lt(pool_count, sizeof pools / sizeof *pools);
  return pools[pool_count++] = upb_DefPool_New();
}

static upb_StringView view(const char *s) {
  size_t size = strlen(s);
  char *copy = upb_Arena_Malloc(arena, size + 1);
  memcpy(copy, s, size + 1);
  return upb_StringView_FromDataAndSize(copy, size);
}

static const char *print(const char *format, int number) {
  char text[64];
  snprintf(text, sizeof text, format, number);
  return view(text).data;
}

static void add_file(upb_DefPool *pool, const file_proto *file) {
  upb_Status status;
  upb_Status_Clear(&status);
  const upb_FileDef *def = upb_DefPool_AddFile(pool, file, &status);
  cr_assert(def != NULL, "%s", upb_Status_ErrorMessage(&status));
}

static google_protobuf_FileDescriptorSet *read_cases(void) {
  const char *folder = getenv("BJVM_TESTS_DIR");
  char path[1024];
  snprintf(path, sizeof path, "%s/cases/cases.binpb", folder ? folder : "tests");
  FILE *f = fopen(path, "rb");
  cr_assert(f != NULL, "tests/cases/cases.binpb is not there");
  char *data = upb_Arena_Malloc(arena, 1 << 20);
  size_t size = fread(data, 1, 1 << 20, f);
  fclose(f);
  google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_parse(data, size, arena);
  cr_assert(set != NULL);
  return set;
}

/* The pool of cases.binpb; well-known types first, then the rest in the order given or in the opposite
 * one. */
static upb_DefPool *load_cases(bool backwards) {
  upb_DefPool *pool = new_pool();
  size_t count;
  const file_proto *const *files = google_protobuf_FileDescriptorSet_file(read_cases(), &count);
  for (int own = 0; own < 2; own++)
    for (size_t i = 0; i < count; i++) {
      const file_proto *file = files[backwards ? count - 1 - i : i];
      if ((strncmp(google_protobuf_FileDescriptorProto_name(file).data, "google/", 7) != 0) == own)
        add_file(pool, file);
    }
  return pool;
}

static file_proto *new_file(const char *name, const char *package, const char *syntax) {
  file_proto *file = google_protobuf_FileDescriptorProto_new(arena);
  google_protobuf_FileDescriptorProto_set_name(file, view(name));
  google_protobuf_FileDescriptorProto_set_package(file, view(package));
  google_protobuf_FileDescriptorProto_set_syntax(file, view(syntax));
  return file;
}

static message_proto *new_message(file_proto *file, const char *name) {
  message_proto *m = google_protobuf_FileDescriptorProto_add_message_type(file, arena);
  google_protobuf_DescriptorProto_set_name(m, view(name));
  return m;
}

/* Adds a field; `type` is an upb_FieldType, `sub` the full name of its message or enum type or NULL. */
static field_proto *new_field(message_proto *m, const char *name, int number, int type, const char *sub) {
  field_proto *f = google_protobuf_DescriptorProto_add_field(m, arena);
  google_protobuf_FieldDescriptorProto_set_name(f, view(name));
  google_protobuf_FieldDescriptorProto_set_number(f, number);
  google_protobuf_FieldDescriptorProto_set_type(f, type);
  google_protobuf_FieldDescriptorProto_set_label(f, google_protobuf_FieldDescriptorProto_LABEL_OPTIONAL);
  if (sub != NULL) google_protobuf_FieldDescriptorProto_set_type_name(f, view(sub));
  return f;
}

static void set_repeated(field_proto *f) {
  google_protobuf_FieldDescriptorProto_set_label(f, google_protobuf_FieldDescriptorProto_LABEL_REPEATED);
}

static enum_proto *new_enum(file_proto *file, const char *name) {
  enum_proto *e = google_protobuf_FileDescriptorProto_add_enum_type(file, arena);
  google_protobuf_EnumDescriptorProto_set_name(e, view(name));
  return e;
}

static google_protobuf_EnumValueDescriptorProto *new_value(enum_proto *e, const char *name, int number) {
  google_protobuf_EnumValueDescriptorProto *v = google_protobuf_EnumDescriptorProto_add_value(e, arena);
  google_protobuf_EnumValueDescriptorProto_set_name(v, view(name));
  google_protobuf_EnumValueDescriptorProto_set_number(v, number);
  return v;
}

static void allow_alias(enum_proto *e) {
  google_protobuf_EnumOptions_set_allow_alias(google_protobuf_EnumDescriptorProto_mutable_options(e, arena),
                                              true);
}

/* Sets the option (pb.enumvalue.json).string, extension 998 with a string in its field 1. */
static void set_json_name(google_protobuf_EnumValueDescriptorProto *v, const char *name) {
  char bytes[64] = "\xb2\x3e";
  size_t size = strlen(name);
  bytes[2] = (char)(size + 2);
  bytes[3] = 0x0a;
  bytes[4] = (char)size;
  memcpy(bytes + 5, name, size);
  google_protobuf_EnumValueOptions *o = google_protobuf_EnumValueOptions_parse(bytes, size + 5, arena);
  cr_assert(o != NULL);
  google_protobuf_EnumValueDescriptorProto_set_options(v, o);
}

static const upb_MessageDef *find(const upb_DefPool *pool, const char *name) {
  const upb_MessageDef *m = upb_DefPool_FindMessageByName(pool, name);
  cr_assert(m != NULL, "no type %s", name);
  return m;
}

/* A pool with one file, and its message `name`. */
static const upb_MessageDef *find_in(const file_proto *file, const char *name) {
  upb_DefPool *pool = new_pool();
  add_file(pool, file);
  return find(pool, name);
}

/* -- The reader ----------------------------------------------------------------------------------------- */

typedef struct plan {
  const char *data;
  size_t size;
  const bjvmi_message *messages;
  const bjvmi_word *words;
  const bjvmi_key *keys;
  const uint8_t *slots;
  const bjvmi_enum *enums;
  const bjvmi_value *values;
  const bjvmi_extension *extensions;
  const uint32_t *roots;
  const char *names;
  uint32_t sizes[BJVMI_SECTION_COUNT];
} plan;

static const void *section(plan *p, uint32_t kind) {
  const bjvmi_section_entry *table = (const void *)(p->data + BJVMI_HEADER_SIZE);
  cr_assert_eq(bjvmi_le32(table[kind].kind), kind);
  p->sizes[kind] = bjvmi_le32(table[kind].size);
  return p->data + bjvmi_le32(table[kind].offset);
}

static plan open_plan(const void *data, size_t size) {
  plan p = {.data = data, .size = size};
  p.messages = section(&p, BJVMI_SECTION_MESSAGES);
  p.words = section(&p, BJVMI_SECTION_WORDS);
  p.keys = section(&p, BJVMI_SECTION_KEYS);
  p.slots = section(&p, BJVMI_SECTION_SLOTS);
  p.enums = section(&p, BJVMI_SECTION_ENUMS);
  p.values = section(&p, BJVMI_SECTION_VALUES);
  p.extensions = section(&p, BJVMI_SECTION_EXTENSIONS);
  p.roots = section(&p, BJVMI_SECTION_ROOTS);
  p.names = section(&p, BJVMI_SECTION_NAMES);
  const bjvmi_header *h = data;
  if (bjvmi_le32(h->section_count) > BJVMI_SECTION_MINI) section(&p, BJVMI_SECTION_MINI);
  return p;
}

static uint32_t count_of(const plan *p, bjvmi_section kind, size_t record) {
  return (uint32_t)(p->sizes[kind] / record);
}

static uint32_t message_count(const plan *p) {
  return count_of(p, BJVMI_SECTION_MESSAGES, sizeof(bjvmi_message));
}
static uint32_t enum_count(const plan *p) { return count_of(p, BJVMI_SECTION_ENUMS, sizeof(bjvmi_enum)); }

static plan compile(const upb_MessageDef *root, uint32_t flags) {
  const void *data = NULL;
  size_t size = 0;
  bjvm_error error = {0};
  bjvm_status status = bjvm_compile(&root, 1, flags, arena, &data, &size, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s", error.path, error.message);
  return open_plan(data, size);
}

static bool is_name(const plan *p, uint32_t offset, size_t size, const char *name) {
  return strlen(name) == size && memcmp(p->names + offset, name, size) == 0;
}

static uint32_t message_index(const plan *p, const char *name) {
  for (uint32_t i = 0; i < message_count(p); i++)
    if (is_name(p, bjvmi_le32(p->messages[i].name), bjvmi_le16(p->messages[i].name_size), name)) return i;
  return UINT32_MAX;
}

static const bjvmi_message *message_of(const plan *p, const char *name) {
  uint32_t index = message_index(p, name);
  cr_assert_neq(index, UINT32_MAX, "no message %s", name);
  return &p->messages[index];
}

static const bjvmi_enum *enum_of(const plan *p, const char *name) {
  for (uint32_t i = 0; i < enum_count(p); i++)
    if (is_name(p, bjvmi_le32(p->enums[i].name), bjvmi_le16(p->enums[i].name_size), name))
      return &p->enums[i];
  cr_assert_fail("no enum %s", name);
  return NULL;
}

static const bjvmi_word *words_of(const plan *p, const bjvmi_message *m) {
  return p->words + bjvmi_le32(m->first_word);
}

static uint32_t slot_of(const plan *p, const bjvmi_table *t, uint32_t at) {
  const uint8_t *slots = p->slots + bjvmi_le32(t->first_slot);
  if (bjvmi_le16(t->key_count) <= BJVMI_KEYS_NARROW) return slots[at];
  return slots[2 * at] | (uint32_t)slots[2 * at + 1] << 8;
}

/* What `name` stands for, or -1. */
static int look_up(const plan *p, const bjvmi_table *t, const char *name, size_t size) {
  if (t->key_count == 0) return -1;
  uint32_t at = bjvmi_key_hash(bjvmi_le32(t->seed), name, size);
  for (uint32_t probe = 0; probe <= t->max_probe; probe++, at++) {
    uint32_t slot = slot_of(p, t, at & ((1u << t->slots_log2) - 1));
    if (slot == 0) return -1;
    const bjvmi_key *key = &p->keys[bjvmi_le32(t->first_key) + slot - 1];
    if (bjvmi_le16(key->size) == size && memcmp(p->names + bjvmi_le32(key->name), name, size) == 0)
      return bjvmi_le16(key->index);
  }
  return -1;
}

static const bjvmi_word *word_of(const plan *p, const char *message, const char *field) {
  const bjvmi_message *m = message_of(p, message);
  int index = look_up(p, &m->keys, field, strlen(field));
  cr_assert_geq(index, 0, "no field %s in %s", field, message);
  return words_of(p, m) + index;
}

/* The key tables of messages and enums: each key is found, none twice, and other names are not. */
static void check_table(const plan *p, const bjvmi_table *t) {
  uint32_t count = bjvmi_le16(t->key_count);
  uint32_t room = count <= BJVMI_KEYS_NARROW ? 2 * count : 4 * count / 3;
  cr_assert(count == 0 ? t->slots_log2 == 0 : (1u << t->slots_log2) >= room);
  uint32_t used = 0;
  for (uint32_t i = 0; count != 0 && i < 1u << t->slots_log2; i++) used += slot_of(p, t, i) != 0;
  cr_assert_eq(used, count);
  for (uint32_t i = 0; i < count; i++) {
    const bjvmi_key *key = &p->keys[bjvmi_le32(t->first_key) + i];
    char name[300];
    size_t size = bjvmi_le16(key->size);
    cr_assert_lt(size, sizeof name - 1);
    memcpy(name, p->names + bjvmi_le32(key->name), size);
    cr_assert_eq(look_up(p, t, name, size), bjvmi_le16(key->index), "key %.*s", (int)size, name);
    name[size] = '\x01';
    cr_assert_eq(look_up(p, t, name, size + 1), -1);
    if (size > 0) name[size - 1] = '\x01';
    cr_assert_eq(look_up(p, t, name, size), size > 0 ? -1 : bjvmi_le16(key->index));
  }
}

/* What holds for every file. */
static void check_plan(const plan *p) {
  const bjvmi_header *h = (const void *)p->data;
  cr_assert_eq((uintptr_t)p->data % BJVMI_PLAN_ALIGN, 0);
  cr_assert(memcmp(h->magic, BJVMI_MAGIC, 4) == 0);
  cr_assert_eq(bjvmi_le16(h->major), BJVMI_FORMAT_MAJOR);
  cr_assert_eq(bjvmi_le32(h->total_size), p->size);
  cr_assert_eq(bjvmi_le64(h->checksum),
               bjvmi_checksum(p->data + BJVMI_CHECKSUM_FROM, p->size - BJVMI_CHECKSUM_FROM));
  bool mini = p->sizes[BJVMI_SECTION_MINI] > 0;
  cr_assert_eq(bjvmi_le16(h->minor), mini || h->layout ? 1 : 0);
  uint32_t count = bjvmi_le32(h->section_count);
  cr_assert_eq(count, mini ? BJVMI_SECTION_COUNT : BJVMI_SECTION_MINI);
  size_t end = BJVMI_HEADER_SIZE + count * sizeof(bjvmi_section_entry);
  const bjvmi_section_entry *table = (const void *)(p->data + BJVMI_HEADER_SIZE);
  for (uint32_t i = 0; i < count; i++) {
    size_t offset = bjvmi_le32(table[i].offset);
    cr_assert_eq(offset, (end + 7) / 8 * 8);
    for (; end < offset; end++) cr_assert_eq(p->data[end], 0);
    end = offset + bjvmi_le32(table[i].size);
  }
  cr_assert_eq(end, p->size);
  for (size_t i = 1; i <= BJVMI_NAME_PAD; i++) cr_assert_eq(p->names[p->sizes[BJVMI_SECTION_NAMES] - i], 0);
  for (uint32_t i = 0; i < message_count(p); i++) check_table(p, &p->messages[i].keys);
  for (uint32_t i = 0; i < enum_count(p); i++) check_table(p, &p->enums[i].keys);
}

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
      {"twoWords", ",\"twoWords\":", ",\"two_words\":", 0},
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

/* -- Closures ------------------------------------------------------------------------------------------- */

static uint32_t entry_count(const plan *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < message_count(p); i++) count += p->messages[i].flags == BJVMI_MESSAGE_ENTRY;
  return count;
}

Test(compile, shallow_and_closure) {
  upb_DefPool *pool = load_cases(false);
  plan deep = compile(find(pool, "cases.v3.Rec"), 0);
  plan flat = compile(find(pool, "cases.v3.Rec"), BJVM_COMPILE_SHALLOW);
  check_plan(&deep);
  check_plan(&flat);
  cr_expect_eq(bjvmi_le16(word_of(&deep, "cases.v3.Rec", "child")->sub), 0);
  cr_expect_eq(bjvmi_le16(word_of(&flat, "cases.v3.Rec", "child")->sub), 0);
  static const struct {
    const char *name;
    int deep, flat; /* flags; -1: not there */
    int kind;
  } rows[] = {
      {"cases.v3.Rec", 0, 0, BJVMI_KIND_MESSAGE},
      {"google.protobuf.Any", 0, BJVMI_MESSAGE_EXTERNAL, BJVMI_KIND_ANY},
      {"google.protobuf.Struct", 0, BJVMI_MESSAGE_EXTERNAL, BJVMI_KIND_STRUCT},
      {"google.protobuf.Value", 0, BJVMI_MESSAGE_EXTERNAL, BJVMI_KIND_VALUE},
      {"google.protobuf.ListValue", 0, -1, BJVMI_KIND_LIST_VALUE},
  };
  cr_expect_eq(entry_count(&deep), 2, "of Rec.by and of Struct.fields");
  cr_expect_eq(entry_count(&flat), 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_expect_eq(message_of(&deep, rows[i].name)->flags, rows[i].deep, "%s", rows[i].name);
    cr_expect_eq(message_of(&deep, rows[i].name)->kind, rows[i].kind, "%s", rows[i].name);
    uint32_t index = message_index(&flat, rows[i].name);
    cr_expect_eq(index == UINT32_MAX ? -1 : flat.messages[index].flags, rows[i].flat, "%s", rows[i].name);
    if (rows[i].flat != BJVMI_MESSAGE_EXTERNAL) continue;
    const bjvmi_message *m = &flat.messages[index];
    cr_expect_eq(m->kind, rows[i].kind);
    cr_expect(m->first_word == 0 && m->word_count == 0 && m->keys.key_count == 0);
  }
}

Test(compile, roots_come_first_and_once) {
  upb_DefPool *pool = load_cases(false);
  const upb_MessageDef *roots[] = {find(pool, "cases.v3.Mini"), find(pool, "cases.v3.T"),
                                   find(pool, "cases.v3.Mini")};
  const void *data;
  size_t size;
  cr_assert_eq(bjvm_compile(roots, 3, BJVM_COMPILE_SHALLOW, arena, &data, &size, NULL), BJVM_OK);
  plan p = open_plan(data, size);
  check_plan(&p);
  cr_expect_eq(message_count(&p), 3, "Mini, T, Quiet");
  cr_expect_eq(p.sizes[BJVMI_SECTION_ROOTS], 8);
  cr_expect_eq(message_index(&p, "cases.v3.Mini"), 0);
  cr_expect_eq(message_index(&p, "cases.v3.T"), 1);
  cr_expect_eq(message_of(&p, "cases.v3.Mini")->flags, 0);
  cr_expect_eq(message_of(&p, "cases.v3.Quiet")->flags, BJVMI_MESSAGE_EXTERNAL);
  cr_expect_eq(bjvmi_le16(word_of(&p, "cases.v3.T", "mini")->sub), 0);
}

/* A chain of types, and two that refer to each other at its end. */
Test(compile, deep_and_mutual_recursion) {
  enum { DEPTH = 20000 };
  file_proto *file = new_file("deep.proto", "d", "proto3");
  for (int i = 0; i < DEPTH; i++) {
    message_proto *m = new_message(file, print("M%d", i));
    new_field(m, "next", 1, kUpb_FieldType_Message, print(".d.M%d", i + 1 < DEPTH ? i + 1 : DEPTH - 2));
  }
  upb_DefPool *pool = new_pool();
  add_file(pool, file);
  plan p = compile(find(pool, "d.M0"), 0);
  cr_expect_eq(message_count(&p), DEPTH);
  cr_expect_eq(bjvmi_le16(p.words[2 * (DEPTH - 1)].sub), DEPTH - 2);
  p = compile(find(pool, "d.M19999"), 0);
  cr_expect_eq(message_count(&p), 2);
  p = compile(find(pool, "d.M19999"), BJVM_COMPILE_SHALLOW);
  cr_expect_eq(p.messages[1].flags, BJVMI_MESSAGE_EXTERNAL);
}

Test(compile, same_schema_same_bytes) {
  static const char *const names[] = {"cases.v3.T", "cases.v3.Wkt", "cases.v3.Maps", "cases.v2.P2",
                                      "cases.ed.Ed"};
  upb_DefPool *one = load_cases(false);
  upb_DefPool *two = load_cases(true);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    plan a = compile(find(one, names[i]), BJVM_COMPILE_EXTENSIONS);
    plan b = compile(find(one, names[i]), BJVM_COMPILE_EXTENSIONS);
    plan c = compile(find(two, names[i]), BJVM_COMPILE_EXTENSIONS);
    check_plan(&a);
    cr_expect(a.size == b.size && memcmp(a.data, b.data, a.size) == 0, "%s", names[i]);
    cr_expect(a.size == c.size && memcmp(a.data, c.data, a.size) == 0, "%s", names[i]);
  }
}

/* Neither mini descriptors nor a layout make another schema, and both depend on nothing but the
 * descriptors. */
Test(compile, fingerprints) {
  static const uint32_t flags[] = {0, BJVM_COMPILE_MINI, BJVM_COMPILE_ABI32, BJVM_COMPILE_ABI64,
                                   BJVM_COMPILE_MINI | BJVM_COMPILE_ABI64};
  enum { COUNT = sizeof flags / sizeof flags[0] };
  upb_DefPool *one = load_cases(false);
  upb_DefPool *two = load_cases(true);
  uint64_t schema[COUNT], layout[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    plan a = compile(find(one, "cases.v2.P2"), flags[i] | BJVM_COMPILE_EXTENSIONS);
    plan b = compile(find(two, "cases.v2.P2"), flags[i] | BJVM_COMPILE_EXTENSIONS);
    cr_expect(a.size == b.size && memcmp(a.data, b.data, a.size) == 0, "%zu", i);
    const bjvmi_header *h = (const void *)a.data;
    schema[i] = h->schema;
    layout[i] = h->layout;
    cr_expect_eq(schema[i], schema[0], "%zu", i);
    cr_expect_eq((layout[i] != 0), (flags[i] >= BJVM_COMPILE_ABI32), "%zu", i);
    if (!h->layout) check_plan(&a);
  }
  cr_expect_neq(layout[2], layout[3]);
  cr_expect_eq(layout[3], layout[4]);
  plan other = compile(find(one, "cases.v3.T"), 0);
  cr_expect_neq(((const bjvmi_header *)(const void *)other.data)->schema, schema[0]);
}

/* A full name that another begins with is a part of it. */
Test(compile, full_names_are_shared) {
  file_proto *file = new_file("full.proto", "full.names", "proto3");
  message_proto *a = new_message(file, "A");
  google_protobuf_DescriptorProto_set_name(google_protobuf_DescriptorProto_add_nested_type(a, arena),
                                           view("Inner"));
  new_field(a, "inner", 1, kUpb_FieldType_Message, ".full.names.A.Inner");
  new_field(a, "other", 2, kUpb_FieldType_Message, ".full.names.Ab");
  new_message(file, "Ab");
  plan p = compile(find_in(file, "full.names.A"), 0);
  check_plan(&p);
  cr_expect_eq(message_of(&p, "full.names.A")->name, message_of(&p, "full.names.A.Inner")->name);
  cr_expect_neq(message_of(&p, "full.names.Ab")->name, message_of(&p, "full.names.A")->name);
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

Test(compile, extensions) {
  static const struct {
    const char *name;
    int kind, form;
    uint32_t number;
  } rows[] = {
      {"cases.v2.Scope.scoped", BJVMI_KIND_STRING, BJVMI_FORM_ALWAYS, 120},
      {"cases.v2.Scope.scoped_list", BJVMI_KIND_MESSAGE, BJVMI_FORM_ARRAY, 121},
      {"cases.v2.extCamel_text", BJVMI_KIND_STRING, BJVMI_FORM_ALWAYS, 104},
      {"cases.v2.ext_du", BJVMI_KIND_DURATION, BJVMI_FORM_ALWAYS, 105},
      {"cases.v2.ext_far", BJVMI_KIND_INT32, BJVMI_FORM_ALWAYS, 536870911},
      {"cases.v2.ext_list", BJVMI_KIND_INT32, BJVMI_FORM_ARRAY, 101},
      {"cases.v2.ext_long", BJVMI_KIND_INT64, BJVMI_FORM_ALWAYS, 106},
      {"cases.v2.ext_msg", BJVMI_KIND_MESSAGE, BJVMI_FORM_ALWAYS, 102},
      {"cases.v2.ext_num", BJVMI_KIND_INT32, BJVMI_FORM_ALWAYS, 100},
      {"cases.v2.ext_shade", BJVMI_KIND_ENUM, BJVMI_FORM_ALWAYS, 103},
      {"cases.v2.extbox", BJVMI_KIND_MESSAGE, BJVMI_FORM_ALWAYS, 107},
      {"cases.v2.other_ext", BJVMI_KIND_INT32, BJVMI_FORM_ALWAYS,
       5}, /* of Other, reached through scoped_list */
  };
  enum { COUNT = sizeof rows / sizeof *rows };
  plan p = compile(find(load_cases(false), "cases.v2.P2"), BJVM_COMPILE_EXTENSIONS);
  check_plan(&p);
  cr_assert_eq(count_of(&p, BJVMI_SECTION_EXTENSIONS, sizeof(bjvmi_extension)), COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    const bjvmi_extension *x = &p.extensions[i];
    const bjvmi_word *w = p.words + bjvmi_le32(x->first_word);
    cr_expect(is_name(&p, bjvmi_le32(x->name), bjvmi_le16(x->name_size), rows[i].name), "%s", rows[i].name);
    cr_expect_eq(w[0].op, BJVMI_OP(rows[i].kind, rows[i].form), "%s", rows[i].name);
    cr_expect_eq(bjvmi_le32(w[0].number), rows[i].number);
    cr_expect_eq(w[1].op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENSION));
    char encoded[64];
    snprintf(encoded, sizeof encoded, ",\"[%s]\":", rows[i].name);
    cr_expect(is_name(&p, bjvmi_le32(w[0].name), w[0].name_len, encoded), "%s", rows[i].name);
    const char *extendee = i + 1 < COUNT ? "cases.v2.P2" : "cases.v2.Other";
    cr_expect_eq(bjvmi_le16(x->extendee), message_index(&p, extendee));
  }
  cr_expect_eq(message_of(&p, "cases.v2.ExtBox")->flags, 0);
  cr_expect_eq(message_of(&p, "google.protobuf.Duration")->kind, BJVMI_KIND_DURATION);
}

/* Sorted over all extendees, and the types reached in the order of full names. */
Test(compile, extensions_are_sorted) {
  file_proto *file = new_file("ext.proto", "x", "proto2");
  for (int i = 0; i < 40; i++) {
    message_proto *m = new_message(file, print("M%02d", i));
    google_protobuf_DescriptorProto_ExtensionRange *range =
        google_protobuf_DescriptorProto_add_extension_range(m, arena);
    google_protobuf_DescriptorProto_ExtensionRange_set_start(range, 100);
    google_protobuf_DescriptorProto_ExtensionRange_set_end(range, 200);
    if (i == 0) continue;
    field_proto *f = google_protobuf_FileDescriptorProto_add_extension(file, arena);
    google_protobuf_FieldDescriptorProto_set_name(f, view(print("ext%02d", (i * 7 + 3) % 40)));
    google_protobuf_FieldDescriptorProto_set_number(f, 100 + i);
    google_protobuf_FieldDescriptorProto_set_type(f, kUpb_FieldType_Message);
    google_protobuf_FieldDescriptorProto_set_label(f, google_protobuf_FieldDescriptorProto_LABEL_OPTIONAL);
    google_protobuf_FieldDescriptorProto_set_type_name(f, view(print(".x.M%02d", i)));
    google_protobuf_FieldDescriptorProto_set_extendee(f, view(i < 30 ? ".x.M00" : ".x.M05"));
  }
  plan p = compile(find_in(file, "x.M00"), BJVM_COMPILE_EXTENSIONS);
  check_plan(&p);
  uint32_t count = count_of(&p, BJVMI_SECTION_EXTENSIONS, sizeof(bjvmi_extension));
  cr_assert_eq(count, 39);
  cr_expect_eq(message_count(&p), 40);
  int last_type = 0;
  for (uint32_t i = 0; i < count; i++) {
    const char *name = p.names + bjvmi_le32(p.extensions[i].name);
    if (i > 0) cr_expect_lt(memcmp(p.names + bjvmi_le32(p.extensions[i - 1].name), name, 7), 0);
    if (bjvmi_le16(p.extensions[i].extendee) != 0) continue;
    int type = bjvmi_le16(p.words[bjvmi_le32(p.extensions[i].first_word)].sub);
    cr_expect_eq(type, last_type + 1, "%.7s", name);
    last_type = type;
  }
}

Test(compile, one_extension) {
  upb_DefPool *pool = load_cases(false);
  static const struct {
    const char *name, *type;
    uint32_t messages, enums;
  } rows[] = {
      {"cases.v2.ext_num", NULL, 1, 0},
      {"cases.v2.ext_msg", "cases.v2.P2", 1, 0},
      {"cases.v2.ext_du", "google.protobuf.Duration", 2, 0},
      {"cases.v2.ext_shade", NULL, 1, 1},
      {"cases.v2.Scope.scoped_list", "cases.v2.Other", 2, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const void *data;
    size_t size;
    const upb_FieldDef *f = upb_DefPool_FindExtensionByName(pool, rows[i].name);
    cr_assert_eq(bjvm_compile_extension(f, arena, &data, &size, NULL), BJVM_OK);
    plan p = open_plan(data, size);
    check_plan(&p);
    cr_expect_eq(p.sizes[BJVMI_SECTION_EXTENSIONS], sizeof(bjvmi_extension));
    cr_expect_eq(p.sizes[BJVMI_SECTION_WORDS], 2 * sizeof(bjvmi_word));
    cr_expect_eq(p.sizes[BJVMI_SECTION_ROOTS], 0);
    cr_expect_eq(message_count(&p), rows[i].messages, "%s", rows[i].name);
    cr_expect_eq(enum_count(&p), rows[i].enums);
    cr_expect_eq(bjvmi_le16(p.extensions->extendee), message_index(&p, "cases.v2.P2"));
    if (rows[i].type) cr_expect_eq(bjvmi_le16(p.words->sub), message_index(&p, rows[i].type));
    for (uint32_t j = 0; j < message_count(&p); j++)
      cr_expect_eq(p.messages[j].flags, BJVMI_MESSAGE_EXTERNAL);
  }
}

/* -- Memory --------------------------------------------------------------------------------------------- */

static long allocations_left;
static upb_alloc_func *real_alloc;

static void *failing_alloc(upb_alloc *alloc, void *p, size_t old, size_t size, size_t *actual) {
  if (size > 0 && allocations_left-- <= 0) return NULL;
  return real_alloc(alloc, p, old, size, actual);
}

/* Each allocation of upb's global allocator fails in turn, then the caller's arena is too small. */
Test(compile, out_of_memory) {
  upb_DefPool *pool = load_cases(false);
  const upb_MessageDef *m = find(pool, "cases.v3.Lots");
  real_alloc = upb_alloc_global.func;
  upb_alloc_global.func = failing_alloc;
  bjvm_status status = BJVM_OUT_OF_MEMORY;
  long k = 0;
  for (; k < 1000 && status != BJVM_OK; k++) {
    const void *data = NULL;
    size_t size = 0;
    bjvm_error error = {0};
    allocations_left = 1000;
    upb_Arena *result = upb_Arena_New();
    allocations_left = k;
    status = bjvm_compile(&m, 1, 0, result, &data, &size, &error);
    allocations_left = 1000;
    cr_assert(status == BJVM_OK || (status == BJVM_OUT_OF_MEMORY && data == NULL && error.code == status));
    upb_Arena_Free(result);
  }
  cr_assert_eq(status, BJVM_OK);
  cr_expect_gt(k, 5, "%ld allocations", k);
  static char block[4096];
  const void *data;
  size_t size;
  upb_Arena *small = upb_Arena_Init(block, sizeof block, NULL);
  cr_expect_eq(bjvm_compile(&m, 1, 0, small, &data, &size, NULL), BJVM_OUT_OF_MEMORY);
}
