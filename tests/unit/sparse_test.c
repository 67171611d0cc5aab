/* Wide messages printed by a list of the words in question, against the same messages printed word by word. */
#include "fixture.h"
#include "plan.h"
#include "sparse.h"

#ifndef BJVM_SIZE_SMALL

enum { FIELDS = 400, PICKED = 10, OPTIONAL = 150 };

/* Fields 1 to PICKED are one oneof, those up to OPTIONAL have a hasbit where they can; every sort in turn. */
static const struct {
  int type;
  bool repeated;
  const char *value, *zero;
} sorts[] = {
    {google_protobuf_FieldDescriptorProto_TYPE_INT32, false, "-7", "0"},
    {google_protobuf_FieldDescriptorProto_TYPE_STRING, false, "\"text\"", "\"\""},
    {google_protobuf_FieldDescriptorProto_TYPE_DOUBLE, false, "-0", "0"},
    {google_protobuf_FieldDescriptorProto_TYPE_BOOL, false, "true", "false"},
    {google_protobuf_FieldDescriptorProto_TYPE_BYTES, false, "\"AAAA\"", "\"\""},
    {google_protobuf_FieldDescriptorProto_TYPE_INT64, false, "\"4294967296\"", "\"0\""},
    {google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, "{\"f399\":[1],\"f2\":2.5}", "{}"},
    {google_protobuf_FieldDescriptorProto_TYPE_INT32, true, "[0,1]", "[]"},
};
enum { SORTS = sizeof sorts / sizeof *sorts };

static void add_oneof(google_protobuf_DescriptorProto *m, const char *name, upb_Arena *arena) {
  google_protobuf_OneofDescriptorProto_set_name(google_protobuf_DescriptorProto_add_oneof_decl(m, arena),
                                                fixture_text(arena, name));
}

static void add_wide(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "Wide", arena);
  char name[32];
  int oneofs = 1;
  add_oneof(m, "pick", arena);
  for (int i = 1; i <= FIELDS; i++) {
    int sort = i % SORTS;
    bool message = sorts[sort].type == google_protobuf_FieldDescriptorProto_TYPE_MESSAGE;
    snprintf(name, sizeof name, "f%d", i);
    google_protobuf_FieldDescriptorProto *f = fixture_field(
        m, name, i, sorts[sort].type, i > PICKED && sorts[sort].repeated, message ? ".g.Wide" : NULL, arena);
    if (i <= PICKED) google_protobuf_FieldDescriptorProto_set_oneof_index(f, 0);
    if (i <= PICKED || i > OPTIONAL || message || sorts[sort].repeated) continue;
    google_protobuf_FieldDescriptorProto_set_proto3_optional(f, true);
    google_protobuf_FieldDescriptorProto_set_oneof_index(f, oneofs++);
  }
  for (int i = PICKED + 1; i <= OPTIONAL; i++) { /* synthetic oneofs come last */
    int sort = i % SORTS;
    if (sorts[sort].type == google_protobuf_FieldDescriptorProto_TYPE_MESSAGE || sorts[sort].repeated)
      continue;
    snprintf(name, sizeof name, "_f%d", i);
    add_oneof(m, name, arena);
  }
}

static const char *value_of(int field, bool zero) {
  int sort = field % SORTS;
  if (field <= PICKED && sorts[sort].repeated) sort = 0;
  return zero ? sorts[sort].zero : sorts[sort].value;
}

static const char *print(const fixture *f, const bjvm_plan *plan, const upb_Message *msg, uint32_t flags) {
  bjvm_output out = bjvm_output_arena(f->arena);
  bjvm_encode_options options = fixture_encode_options(f, flags);
  cr_assert_eq(bjvm_encode(plan, msg, &options, &out, NULL), BJVM_OK);
  char *text = (char *)upb_Arena_Malloc(f->arena, out.size + 1);
  memcpy(text, out.data, out.size);
  text[out.size] = 0;
  return text;
}

/* Prints both ways; returns the text. */
static const char *same_both_ways(const fixture *f, const upb_Message *msg, uint32_t flags) {
  const bjvm_plan *plan = fixture_plan(f, "g.Wide");
  const bjvmi_sparse *sparse = plan->sparse;
  cr_assert_not_null(sparse);
  const char *fast = print(f, plan, msg, flags);
  ((bjvm_plan *)(uintptr_t)plan)->sparse = NULL;
  const char *slow = print(f, plan, msg, flags);
  ((bjvm_plan *)(uintptr_t)plan)->sparse = sparse;
  cr_assert_str_eq(fast, slow);
  return fast;
}

static const uint32_t flag_sets[] = {0, BJVM_ENCODE_PROTO_NAMES, BJVM_ENCODE_EMIT_DEFAULTS,
                                     BJVM_ENCODE_INT64_AS_NUMBERS | BJVM_ENCODE_ASCII, BJVM_ENCODE_PRETTY};

static void check(const fixture *f, const char *json) {
  upb_Message *msg = fixture_read_ok(f, "g.Wide", json);
  for (size_t i = 0; i < sizeof flag_sets / sizeof *flag_sets; i++) {
    const char *text = same_both_ways(f, msg, flag_sets[i]);
    upb_Message *again = fixture_read_ok(f, "g.Wide", text);
    cr_assert_str_eq(same_both_ways(f, again, flag_sets[i]), text);
  }
}

Test(sparse, every_field_alone_and_with_its_zero) {
  fixture f = fixture_made(add_wide);
  char json[256];
  check(&f, "{}");
  for (int i = 1; i <= FIELDS; i++) {
    for (int zero = 0; zero < 2; zero++) {
      snprintf(json, sizeof json, "{\"f%d\":%s}", i, value_of(i, zero));
      check(&f, json);
      upb_Message *msg = fixture_read_ok(&f, "g.Wide", json);
      if (!zero) cr_assert_neq(strstr(same_both_ways(&f, msg, 0), "\"f"), NULL, "%s", json);
    }
  }
  fixture_close(&f);
}

Test(sparse, random_sets_of_fields) {
  fixture f = fixture_made(add_wide);
  static char json[FIELDS * 64];
  uint64_t state = 1;
  for (int round = 0; round < 400; round++) {
    unsigned one_in = 1u << (round % 9);
    char *p = json + sprintf(json, "{");
    for (int i = round % 2 ? PICKED : PICKED + 1; i <= FIELDS; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if ((state >> 33) % one_in != 0) continue;
      p += sprintf(p, "%s\"f%d\":%s", p[-1] == '{' ? "" : ",", i, value_of(i, (state >> 60) == 0));
    }
    strcpy(p, "}");
    check(&f, json);
  }
  fixture_close(&f);
}

/* The lists of open messages share one store: when it is full, the rest is printed word by word, and what an inner message
 * took is there again for the next. */
Test(sparse, nested_messages_share_the_store) {
  fixture f = fixture_made(add_wide);
  for (unsigned depth = 1; depth <= 60; depth++) {
    char *json = fixture_nested(
        "{\"f16\":1,\"f19\":true,\"f14\":", "{\"f22\":{\"f30\":{}},\"f38\":{\"f399\":[3]}}", "}", depth);
    check(&f, json);
    free(json);
  }
  fixture_close(&f);
}

Test(sparse, paths_of_errors_are_the_same) {
  fixture f = fixture_made(add_wide);
  const bjvm_plan *plan = fixture_plan(&f, "g.Wide");
  upb_Message *msg = fixture_read_ok(&f, "g.Wide", "{\"f14\":{\"f22\":{\"f9\":\"x\",\"f301\":\"-1\"}}}");
  upb_Message *inner = (upb_Message *)(uintptr_t)msg;
  for (int i = 14; i <= 22; i += 8) {
    const upb_FieldDef *field =
        upb_MessageDef_FindFieldByNumber(test_find_message(f.pool, "g.Wide"), (uint32_t)i);
    inner = (upb_Message *)(uintptr_t)upb_Message_GetFieldByDef(inner, field).msg_val;
  }
  const upb_FieldDef *text = upb_MessageDef_FindFieldByNumber(test_find_message(f.pool, "g.Wide"), 9);
  upb_MessageValue bad = {.str_val = upb_StringView_FromString("\xff")};
  cr_assert(upb_Message_SetFieldByDef(inner, text, bad, f.arena));
  bjvm_output out = bjvm_output_arena(f.arena);
  bjvm_error error;
  cr_assert_eq(bjvm_encode(plan, msg, NULL, &out, &error), BJVM_BAD_UTF8);
  cr_expect_str_eq(error.path, "f14.f22.f9");
  fixture_close(&f);
}

/* What is not wide enough, or too wide, has no index. */
static int fields;

static void add_some(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "Some", arena);
  char name[32];
  for (int i = 1; i <= fields; i++) {
    snprintf(name, sizeof name, "f%d", i);
    fixture_field(m, name, i, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  }
}

Test(sparse, limits) {
  static const int counts[] = {BJVMI_SPARSE_LEAST - 1, BJVMI_SPARSE_LEAST, BJVMI_SPARSE_MOST,
                               BJVMI_SPARSE_MOST + 1};
  for (int i = 0; i < 4; i++) {
    fields = counts[i];
    fixture f = fixture_made(add_some);
    const bjvm_plan *plan = fixture_plan(&f, "g.Some");
    cr_expect_eq(plan->sparse != NULL, i == 1 || i == 2, "%d fields", fields);
    fixture_close(&f);
  }
}

#else

Test(sparse, small_builds_have_no_index) {
  fixture f = fixture_open();
  cr_expect_null(fixture_plan(&f, "cases.v3.Maps")->sparse);
  fixture_close(&f);
}

#endif
