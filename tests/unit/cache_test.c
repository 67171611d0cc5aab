/* The plan cache and its registry: plans are made once, lazily, and only for what belongs to the pool. */
#define _XOPEN_SOURCE 700 /* strnlen */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "cache_impl.h"
#include "google/protobuf/descriptor.upb.h"
#include "plan.h"
#include "support.h"
#include "upb/reflection/message.h"
#include "upb/wire/encode.h"

/* -- Schemas made on the spot --------------------------------------------------------------------------- */

static upb_StringView text_in(upb_Arena *arena, const char *text) {
  size_t size = strlen(text);
  char *copy = (char *)upb_Arena_Malloc(arena, size + 1);
  memcpy(copy, text, size + 1);
  return upb_StringView_FromDataAndSize(copy, size);
}

static void add_field(google_protobuf_DescriptorProto *message, const char *name, int number, int type,
                      bool repeated, const char *type_name, upb_Arena *arena) {
  google_protobuf_FieldDescriptorProto *f = google_protobuf_DescriptorProto_add_field(message, arena);
  google_protobuf_FieldDescriptorProto_set_name(f, text_in(arena, name));
  google_protobuf_FieldDescriptorProto_set_number(f, number);
  google_protobuf_FieldDescriptorProto_set_type(f, type);
  google_protobuf_FieldDescriptorProto_set_label(
      f, repeated ? google_protobuf_FieldDescriptorProto_LABEL_REPEATED
                  : google_protobuf_FieldDescriptorProto_LABEL_OPTIONAL);
  if (type_name) google_protobuf_FieldDescriptorProto_set_type_name(f, text_in(arena, type_name));
}

/* message A { B b = 1; int32 n = 2; }   message B { A a = 1; map<string, A> by_name = 2; repeated B list = 3;
 * } */
static void add_mutual(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *a = google_protobuf_FileDescriptorProto_add_message_type(file, arena);
  google_protobuf_DescriptorProto_set_name(a, text_in(arena, "A"));
  add_field(a, "b", 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, ".m.B", arena);
  add_field(a, "n", 2, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  google_protobuf_DescriptorProto *b = google_protobuf_FileDescriptorProto_add_message_type(file, arena);
  google_protobuf_DescriptorProto_set_name(b, text_in(arena, "B"));
  add_field(b, "a", 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, ".m.A", arena);
  add_field(b, "by_name", 2, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, true, ".m.B.ByNameEntry",
            arena);
  add_field(b, "list", 3, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, true, ".m.B", arena);
  google_protobuf_DescriptorProto *entry = google_protobuf_DescriptorProto_add_nested_type(b, arena);
  google_protobuf_DescriptorProto_set_name(entry, text_in(arena, "ByNameEntry"));
  add_field(entry, "key", 1, google_protobuf_FieldDescriptorProto_TYPE_STRING, false, NULL, arena);
  add_field(entry, "value", 2, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, ".m.A", arena);
  google_protobuf_MessageOptions *options = google_protobuf_DescriptorProto_mutable_options(entry, arena);
  google_protobuf_MessageOptions_set_map_entry(options, true);
}

/* messages M0 ... with M<i> { M<i+1> next = 1; int32 n = 2; }, the last one referring to M0. */
static void add_chain(google_protobuf_FileDescriptorProto *file, int count, upb_Arena *arena) {
  for (int i = 0; i < count; i++) {
    char name[20], next[24];
    snprintf(name, sizeof name, "M%d", i);
    snprintf(next, sizeof next, ".m.M%d", (i + 1) % count);
    google_protobuf_DescriptorProto *m = google_protobuf_FileDescriptorProto_add_message_type(file, arena);
    google_protobuf_DescriptorProto_set_name(m, text_in(arena, name));
    add_field(m, "next", 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, next, arena);
    add_field(m, "n", 2, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  }
}

static void add_file(upb_DefPool *pool, const char *name, int chain) {
  upb_Arena *arena = upb_Arena_New();
  google_protobuf_FileDescriptorProto *file = google_protobuf_FileDescriptorProto_new(arena);
  google_protobuf_FileDescriptorProto_set_name(file, text_in(arena, name));
  google_protobuf_FileDescriptorProto_set_package(file, text_in(arena, "m"));
  google_protobuf_FileDescriptorProto_set_syntax(file, text_in(arena, "proto3"));
  if (chain) add_chain(file, chain, arena);
  else add_mutual(file, arena);
  upb_Status status;
  upb_Status_Clear(&status);
  cr_assert_not_null(upb_DefPool_AddFile(pool, file, &status), "%s", upb_Status_ErrorMessage(&status));
  upb_Arena_Free(arena);
}

static upb_DefPool *cases_pool(void) {
  char path[1024];
  snprintf(path, sizeof path, "%s/cases/cases.binpb", getenv("BJVM_TESTS_DIR"));
  return test_pool_load(path);
}

/* Prints a message given in protobuf binary. */
static void check_json(bjvm_cache *cache, const upb_DefPool *pool, const char *type, const char *wire,
                       size_t size, uint32_t flags, const char *expected) {
  upb_Arena *arena = upb_Arena_New();
  const upb_MessageDef *def = test_find_message(pool, type);
  const upb_Message *msg = test_parse(pool, def, wire, size, arena);
  bjvm_encode_options options = {
      .size = sizeof options, .flags = flags, .registry = bjvm_cache_registry(cache), .scratch = arena};
  bjvm_output out = bjvm_output_heap();
  bjvm_error error = {0};
  const bjvm_plan *plan = bjvm_cache_get(cache, def, &error);
  cr_assert_not_null(plan, "%s", error.message);
  cr_assert_not_null(msg);
  bjvm_status status = bjvm_encode(plan, msg, &options, &out, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s at %s", type, error.message, error.path);
  cr_assert(out.size == strlen(expected) && memcmp(out.data, expected, out.size) == 0, "%.*s", (int)out.size,
            out.data);
  bjvm_output_free(&out);
  upb_Arena_Free(arena);
}
#define CHECK_JSON(cache, pool, type, wire, flags, expected)                                                 \
  check_json(cache, pool, type, wire, sizeof(wire) - 1, flags, expected)

/* -- Plans ---------------------------------------------------------------------------------------------- */

Test(cache, the_same_plan_every_time) {
  upb_DefPool *pool = cases_pool();
  bjvm_cache *cache = bjvm_cache_new(pool);
  const upb_MessageDef *def = test_find_message(pool, "cases.v3.T");
  cr_assert_not(bjvm_cache_has(cache, def));
  cr_assert_eq(bjvm_cache_size(cache), 0);
  const bjvm_plan *plan = bjvm_cache_get(cache, def, NULL);
  cr_assert_not_null(plan);
  cr_assert_eq(bjvm_cache_get(cache, def, NULL), plan);
  cr_assert_eq(bjvm_cache_find(cache, "cases.v3.T", 10, NULL), plan);
  cr_assert_eq(bjvm_cache_find(cache, "cases.v3.TX", 10, NULL), plan, "the size counts, not a NUL");
  cr_assert(bjvm_cache_has(cache, def));
  cr_assert_eq(bjvm_cache_size(cache), 1);
  cr_assert_eq(bjvm_plan_table(plan), upb_MessageDef_MiniTable(def));
  size_t size;
  const char *name = bjvm_plan_name(plan, &size);
  cr_assert(size == 10 && memcmp(name, "cases.v3.T", 10) == 0);
  bjvm_cache_free(cache);
  bjvm_cache_free(NULL);
  upb_DefPool_Free(pool);
}

Test(cache, unknown_and_foreign_types) {
  upb_DefPool *pool = cases_pool();
  upb_DefPool *other = upb_DefPool_New();
  add_file(other, "m.proto", 0);
  bjvm_cache *cache = bjvm_cache_new(pool);
  bjvm_error error = {0};
  cr_assert_null(bjvm_cache_find(cache, "no.such.Type", 12, &error));
  cr_assert_eq(error.code, BJVM_PLAN_UNBOUND);
  cr_assert_not_null(strstr(error.message, "no.such.Type"), "%s", error.message);
  cr_assert_null(bjvm_cache_find(cache, "", 0, NULL));
  cr_assert_null(bjvm_cache_find(cache, "cases.v3.Color", 14, NULL), "an enum");
  char longest[5000];
  memset(longest, 'x', sizeof longest);
  cr_assert_null(bjvm_cache_find(cache, longest, sizeof longest, &error));
  cr_assert_lt(strnlen(error.message, sizeof error.message), sizeof error.message);
  cr_assert_null(bjvm_cache_get(cache, test_find_message(other, "m.A"), &error), "of another pool");
  cr_assert_eq(error.code, BJVM_PLAN_UNBOUND);
  cr_assert_eq(bjvm_cache_size(cache), 0);
  bjvm_cache_free(cache);
  upb_DefPool_Free(other);
  upb_DefPool_Free(pool);
}

/* Names are found again by a hash of some of their bytes. The two differ in one that is not among these. */
Test(cache, names_that_hash_alike) {
  enum { SIZE = 32 };
  char names[3][SIZE + 1] = {"m.AbcdefgXijklmnopqrstuvwxyz0123", "m.AbcdefgYijklmnopqrstuvwxyz0123",
                             "m.AbcdefgZijklmnopqrstuvwxyz0123"};
  upb_DefPool *pool = upb_DefPool_New();
  upb_Arena *arena = upb_Arena_New();
  google_protobuf_FileDescriptorProto *file = google_protobuf_FileDescriptorProto_new(arena);
  google_protobuf_FileDescriptorProto_set_name(file, text_in(arena, "m.proto"));
  google_protobuf_FileDescriptorProto_set_package(file, text_in(arena, "m"));
  for (int i = 0; i < 2; i++)
    google_protobuf_DescriptorProto_set_name(
        google_protobuf_FileDescriptorProto_add_message_type(file, arena), text_in(arena, names[i] + 2));
  upb_Status status;
  upb_Status_Clear(&status);
  cr_assert_not_null(upb_DefPool_AddFile(pool, file, &status), "%s", upb_Status_ErrorMessage(&status));
  bjvm_cache *cache = bjvm_cache_new(pool);
  const void *key = bjvmi_cache_name_key(names[0], SIZE);
  for (int i = 1; i < 3; i++) cr_assert_eq(bjvmi_cache_name_key(names[i], SIZE), key, "%s", names[i]);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 2; i++) {
      const bjvm_plan *plan = bjvm_cache_find(cache, names[i], SIZE, NULL);
      cr_assert_eq(plan, bjvm_cache_get(cache, test_find_message(pool, names[i]), NULL), "%s", names[i]);
    }
    cr_assert_null(bjvm_cache_find(cache, names[2], SIZE, NULL));
    cr_assert_null(bjvm_cache_find(cache, names[0], SIZE - 1, NULL));
  }
  bjvm_cache_free(cache);
  upb_Arena_Free(arena);
  upb_DefPool_Free(pool);
}

/* An Any may name one; as a message of its own it must not be run, its memory is laid out otherwise. */
Test(cache, map_entries_are_refused) {
  upb_DefPool *pool = upb_DefPool_New();
  add_file(pool, "m.proto", 0);
  bjvm_cache *cache = bjvm_cache_new(pool);
  const bjvm_registry *registry = bjvm_cache_registry(cache);
  cr_assert_not_null(upb_DefPool_FindMessageByName(pool, "m.B.ByNameEntry"));
  cr_assert_null(bjvm_cache_find(cache, "m.B.ByNameEntry", 15, NULL));
  cr_assert_null(registry->find_message(registry->context, "m.B.ByNameEntry", 15, &(bjvm_status){BJVM_OK}));
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

Test(cache, nested_types_are_linked_when_met) {
  upb_DefPool *pool = upb_DefPool_New();
  add_file(pool, "m.proto", 0);
  bjvm_cache *cache = bjvm_cache_new(pool);
  const upb_MessageDef *a = test_find_message(pool, "m.A"), *b = test_find_message(pool, "m.B");
  cr_assert_not_null(bjvm_cache_get(cache, a, NULL));
  cr_assert_not(bjvm_cache_has(cache, b));
  CHECK_JSON(cache, pool, "m.A", "\x10\x05", 0, "{\"n\":5}");
  cr_assert_not(bjvm_cache_has(cache, b), "no B was in the message");
  CHECK_JSON(cache, pool, "m.A", "\x0a\x04\x0a\x02\x10\x07", 0, "{\"b\":{\"a\":{\"n\":7}}}");
  cr_assert(bjvm_cache_has(cache, b));
  cr_assert_eq(bjvm_cache_size(cache), 2);
  CHECK_JSON(cache, pool, "m.B", "\x1a\x02\x1a\x00\x12\x07\x0a\x01k\x12\x02\x10\x01", 0,
             "{\"byName\":{\"k\":{\"n\":1}},\"list\":[{\"list\":[{}]}]}");
  cr_assert_eq(bjvm_cache_size(cache), 2, "map entries are not counted");
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

Test(cache, variants_are_made_when_asked_for) {
  upb_DefPool *pool = upb_DefPool_New();
  add_file(pool, "m.proto", 0);
  bjvm_cache *cache = bjvm_cache_new(pool);
  for (int round = 0; round < 2; round++) {
    CHECK_JSON(cache, pool, "m.B", "\x0a\x00", BJVM_ENCODE_EMIT_DEFAULTS | BJVM_ENCODE_PROTO_NAMES,
               "{\"a\":{\"n\":0},\"by_name\":{},\"list\":[]}");
    CHECK_JSON(cache, pool, "m.B", "\x0a\x00", BJVM_ENCODE_EMIT_DEFAULTS,
               "{\"a\":{\"n\":0},\"byName\":{},\"list\":[]}");
    CHECK_JSON(cache, pool, "m.B", "\x12\x07\x0a\x01k\x12\x02\x10\x01", BJVM_ENCODE_PROTO_NAMES,
               "{\"by_name\":{\"k\":{\"n\":1}}}");
  }
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

Test(cache, many_types_and_a_pool_that_grows) {
  enum { COUNT = 2000 };
  upb_DefPool *pool = upb_DefPool_New();
  add_file(pool, "chain.proto", COUNT);
  bjvm_cache *cache = bjvm_cache_new(pool);
  const bjvm_plan *plans[COUNT];
  for (int i = 0; i < COUNT; i++) {
    char name[20];
    int size = snprintf(name, sizeof name, "m.M%d", i);
    plans[i] = bjvm_cache_find(cache, name, (size_t)size, NULL);
    cr_assert_not_null(plans[i], "%s", name);
    cr_assert_eq(bjvm_cache_size(cache), (size_t)i + 1);
  }
  for (int i = 0; i < COUNT; i++) {
    char name[20];
    int size = snprintf(name, sizeof name, "m.M%d", i);
    cr_assert_eq(bjvm_cache_find(cache, name, (size_t)size, NULL), plans[i], "%s", name);
  }
  add_file(pool, "m.proto", 0);
  CHECK_JSON(cache, pool, "m.A", "\x10\x05", 0, "{\"n\":5}");
  CHECK_JSON(cache, pool, "m.M1999", "\x0a\x02\x10\x03", 0, "{\"next\":{\"n\":3}}");
  cr_assert_eq(bjvm_cache_size(cache), COUNT + 1, "links go to the plans that are there");
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

/* A message of the same type from another pool has another mini table: the words of this cache do not fit
 * it. */
Test(cache, a_link_checks_the_mini_table) {
  upb_DefPool *pool = upb_DefPool_New(), *twin = upb_DefPool_New();
  add_file(pool, "m.proto", 0);
  add_file(twin, "m.proto", 0);
  bjvm_cache *cache = bjvm_cache_new(pool);
  const bjvm_plan *plan = bjvm_cache_find(cache, "m.A", 3, NULL);
  cr_assert_not_null(plan);
  bjvm_status status = BJVM_OK;
  const upb_MiniTable *theirs = upb_MessageDef_MiniTable(test_find_message(twin, "m.B"));
  const upb_MiniTable *ours = upb_MessageDef_MiniTable(test_find_message(pool, "m.B"));
  uint16_t sub = plan->words[0].sub;
  cr_assert_null(plan->binding->link(plan->binding, sub, theirs, &status));
  cr_assert_eq(status, BJVM_PLAN_MISMATCH);
  cr_assert_eq(bjvm_cache_size(cache), 1);
  const bjvm_plan *linked = plan->binding->link(plan->binding, sub, ours, &status);
  cr_assert_eq(linked, bjvm_cache_find(cache, "m.B", 3, NULL));
  cr_assert_eq(plan->binding->link(plan->binding, sub, ours, &status), linked);
  bjvm_cache_free(cache);
  upb_DefPool_Free(twin);
  upb_DefPool_Free(pool);
}

/* -- Registry ------------------------------------------------------------------------------------------- */

Test(cache, registry_finds_messages) {
  upb_DefPool *pool = cases_pool();
  bjvm_cache *cache = bjvm_cache_new(pool);
  const bjvm_registry *r = bjvm_cache_registry(cache);
  cr_assert_eq(r->size, sizeof *r);
  cr_assert_eq(r->find_message(r->context, "cases.v3.Mini", 13, &(bjvm_status){BJVM_OK}),
               bjvm_cache_find(cache, "cases.v3.Mini", 13, NULL));
  cr_assert_null(r->find_message(r->context, "cases.v3.Min", 12, &(bjvm_status){BJVM_OK}));
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

Test(cache, registry_finds_extensions) {
  static const char *const names[] = {
      "cases.v2.ext_num",   "cases.v2.ext_list",          "cases.v2.ext_msg",     "cases.v2.ext_shade",
      "cases.v2.other_ext", "cases.v2.Scope.scoped_list", "cases.v2.Scope.scoped"};
  upb_DefPool *pool = cases_pool();
  bjvm_cache *cache = bjvm_cache_new(pool);
  const bjvm_registry *r = bjvm_cache_registry(cache);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const upb_FieldDef *field = upb_DefPool_FindExtensionByName(pool, names[i]);
    cr_assert_not_null(field, "%s", names[i]);
    const upb_MiniTableExtension *table = upb_FieldDef_MiniTableExtension(field);
    /* By table first for every other one: both ways lead to the same. */
    const bjvm_extension *x =
        i % 2 ? r->find_extension_by_table(r->context, table, &(bjvm_status){BJVM_OK}) : NULL;
    const bjvm_extension *y =
        r->find_extension(r->context, names[i], strlen(names[i]), &(bjvm_status){BJVM_OK});
    cr_assert_not_null(y, "%s", names[i]);
    cr_assert(!x || x == y, "%s", names[i]);
    cr_assert_eq(r->find_extension_by_table(r->context, table, &(bjvm_status){BJVM_OK}), y, "%s", names[i]);
    cr_assert_eq(y->table, table);
    cr_assert(y->name_size == strlen(names[i]) && memcmp(y->name, names[i], y->name_size) == 0, "%s",
              names[i]);
  }
  cr_assert_null(r->find_extension(r->context, "cases.v2.no_ext", 15, &(bjvm_status){BJVM_OK}));
  cr_assert_null(r->find_extension(r->context, "cases.v2.P2", 11, &(bjvm_status){BJVM_OK}), "a message");
  cr_assert_eq(bjvm_cache_size(cache), 0, "extensions compile no message type");
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

/* Twice: the second time everything is found and nothing is made. */
Test(cache, extensions_are_printed) {
  upb_DefPool *pool = cases_pool();
  bjvm_cache *cache = bjvm_cache_new(pool);
  for (int round = 0; round < 2; round++) {
    CHECK_JSON(cache, pool, "cases.v2.P2", "\xa0\x06\x05\xb2\x06\x03\xa0\x06\x07", 0,
               "{\"[cases.v2.ext_num]\":5,\"[cases.v2.ext_msg]\":{\"[cases.v2.ext_num]\":7}}");
  }
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}

Test(cache, an_extension_of_another_pool_is_not_found) {
  upb_DefPool *pool = cases_pool(), *twin = cases_pool();
  bjvm_cache *cache = bjvm_cache_new(pool);
  const bjvm_registry *r = bjvm_cache_registry(cache);
  const upb_FieldDef *field = upb_DefPool_FindExtensionByName(twin, "cases.v2.ext_num");
  cr_assert_null(r->find_extension_by_table(r->context, upb_FieldDef_MiniTableExtension(field),
                                            &(bjvm_status){BJVM_OK}));
  bjvm_cache_free(cache);
  upb_DefPool_Free(twin);
  upb_DefPool_Free(pool);
}

/* T.sub inside itself `levels` times, in protobuf binary, through the registry's codec. */
static bool binary_goes(bjvm_cache *cache, const upb_DefPool *pool, int levels) {
  upb_Arena *arena = upb_Arena_New();
  const upb_MessageDef *def = test_find_message(pool, "cases.v3.T");
  const upb_FieldDef *sub = upb_MessageDef_FindFieldByName(def, "sub");
  const upb_MiniTable *table = upb_MessageDef_MiniTable(def);
  const bjvm_registry *r = bjvm_cache_registry(cache);
  upb_Message *root = upb_Message_New(table, arena), *at = root;
  for (int i = 1; i < levels; i++) at = upb_Message_Mutable(at, sub, arena).msg;
  char *data;
  size_t size;
  bjvm_status written = r->encode(r->context, root, table, arena, &data, &size);
  cr_assert(written == BJVM_OK || written == BJVM_DEPTH, "%d levels", levels);
  /* Reading obeys the same depth as writing, whoever wrote. */
  if (written == BJVM_DEPTH) {
    int any_depth = (int)upb_EncodeOptions_MaxDepth(UINT16_MAX);
    cr_assert_eq(upb_Encode(root, table, any_depth, arena, &data, &size), kUpb_EncodeStatus_Ok);
  }
  bool ok = r->decode(r->context, data, size, upb_Message_New(table, arena), table, arena) == BJVM_OK;
  upb_Arena_Free(arena);
  cr_assert_eq(ok, written == BJVM_OK, "%d levels", levels);
  return ok;
}

Test(cache, registry_reads_binary_to_the_depth_asked_for) {
  upb_DefPool *pool = cases_pool();
  bjvm_cache *cache = bjvm_cache_new(pool);
  cr_assert(binary_goes(cache, pool, 1000));
  cr_assert_not(binary_goes(cache, pool, 1100), "the default is 1000");
  bjvm_cache_set_max_depth(cache, 1000);
  cr_assert(binary_goes(cache, pool, 3000), "three levels of binary for one of JSON");
  cr_assert_not(binary_goes(cache, pool, 3100));
  bjvm_cache_set_max_depth(cache, UINT32_MAX);
  cr_assert(binary_goes(cache, pool, 5000));
  bjvm_cache_set_max_depth(cache, 0);
  cr_assert(binary_goes(cache, pool, 1000), "never less than the default");
  const bjvm_registry *r = bjvm_cache_registry(cache);
  const upb_MiniTable *table = upb_MessageDef_MiniTable(test_find_message(pool, "cases.v3.T"));
  upb_Arena *arena = upb_Arena_New();
  cr_assert_eq(r->decode(r->context, "\x08", 1, upb_Message_New(table, arena), table, arena),
               BJVM_ANY_CONTENT, "cut off");
  upb_Arena_Free(arena);
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
}
