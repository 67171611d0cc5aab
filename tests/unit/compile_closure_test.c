/* The plan compiler: what one file holds beside its first type. Closures, recursion, extensions, and what is left
 * when memory runs out on the way.
 */
#include "compile_fixture.h"

TestSuite(compile_closure, .init = set_up, .fini = tear_down);

/* -- Closures ------------------------------------------------------------------------------------------- */

static uint32_t entry_count(const plan *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < message_count(p); i++) count += p->messages[i].flags == BJVMI_MESSAGE_ENTRY;
  return count;
}

Test(compile_closure, shallow_and_closure) {
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

Test(compile_closure, roots_come_first_and_once) {
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
Test(compile_closure, deep_and_mutual_recursion) {
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

Test(compile_closure, same_schema_same_bytes) {
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
/* The same bytes on every machine: these checksums, over whole files, hold for 32 and 64 bits and both byte orders. They
 * change with the plan format and with tests/cases. */
Test(compile_closure, same_bytes_on_every_machine) {
  static const struct {
    const char *type;
    uint32_t flags;
    size_t size;
    uint64_t checksum;
  } rows[] = {
      {"cases.v3.T", 0, 2173, UINT64_C(0x50ec4551f57cd5ad)},
      {"cases.v3.Maps", 0, 4876, UINT64_C(0x5b8097c3b06d93ce)},
      {"cases.v3.Wkt", BJVM_COMPILE_MINI, 3276, UINT64_C(0xec71bbb4052c7290)},
      {"cases.v2.P2", BJVM_COMPILE_EXTENSIONS | BJVM_COMPILE_MINI, 3152, UINT64_C(0x2436ee7e8978d5a9)},
      {"cases.v3.Rep", BJVM_COMPILE_ABI32, 1844, UINT64_C(0xc9d19abc71e9fa94)},
      {"cases.v3.Rep", BJVM_COMPILE_ABI64, 1844, UINT64_C(0xe12a4113d8cb922b)},
  };
  upb_DefPool *pool = load_cases(false);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const upb_MessageDef *root = find(pool, rows[i].type);
    const void *data;
    size_t size;
    cr_assert_eq(bjvm_compile(&root, 1, rows[i].flags, arena, &data, &size, NULL), BJVM_OK);
    uint64_t checksum = bjvmi_le64(((const bjvmi_header *)data)->checksum);
    cr_expect(size == rows[i].size && checksum == rows[i].checksum, "row %zu: %zu bytes, checksum 0x%016llx",
              i, size, (unsigned long long)checksum);
  }
}

Test(compile_closure, fingerprints) {
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
Test(compile_closure, full_names_are_shared) {
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

Test(compile_closure, extensions) {
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
Test(compile_closure, extensions_are_sorted) {
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

Test(compile_closure, one_extension) {
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
Test(compile_closure, out_of_memory) {
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
