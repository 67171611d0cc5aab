/* Wide messages printed by a list of the words in question, against the same messages printed word by word; and the lists
 * themselves against the words asked one by one.
 */
#define _DEFAULT_SOURCE
#include "fixture.h"
#include "guard.h"
#include "plan.h"
#include "sparse.h"
#include "upb_layout.h"

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

/* -- Lists against the words asked one by one ------------------------------------------------------------ */

/* A message type: `sorts` over and over until there are `width` fields, numbered with steps of `stride`. Large letters: with a
 * hasbit. `o` is a member of a oneof that ends before the next `|`. */
typedef struct shape {
  const char *sorts;
  int width;
  int stride;
} shape;

static const shape *made;

static int type_of_sort(char sort) {
  switch (sort) {
    case 'b':
    case 'B': return google_protobuf_FieldDescriptorProto_TYPE_BOOL;
    case 's':
    case 'S': return google_protobuf_FieldDescriptorProto_TYPE_STRING;
    case 'y':
    case 'Y': return google_protobuf_FieldDescriptorProto_TYPE_BYTES;
    case 'd':
    case 'D': return google_protobuf_FieldDescriptorProto_TYPE_DOUBLE;
    case 'f': return google_protobuf_FieldDescriptorProto_TYPE_FLOAT;
    case 'M':
    case 'm': return google_protobuf_FieldDescriptorProto_TYPE_MESSAGE;
    default: return google_protobuf_FieldDescriptorProto_TYPE_INT32; /* i, I, r, o */
  }
}

static void add_map_entry(google_protobuf_DescriptorProto *m, upb_Arena *arena) {
  google_protobuf_DescriptorProto *entry = google_protobuf_DescriptorProto_add_nested_type(m, arena);
  google_protobuf_DescriptorProto_set_name(entry, fixture_text(arena, "E"));
  fixture_field(entry, "key", 1, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  fixture_field(entry, "value", 2, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  google_protobuf_MessageOptions *options = google_protobuf_DescriptorProto_mutable_options(entry, arena);
  google_protobuf_MessageOptions_set_map_entry(options, true);
}

/* The entry type of a map is named after it; so one field is a map, and the others are arrays of messages. */
static google_protobuf_FieldDescriptorProto *add_one(google_protobuf_DescriptorProto *m, int i, char sort,
                                                     upb_Arena *arena) {
  char name[32];
  bool message = sort == 'm' || sort == 'M';
  snprintf(name, sizeof name, "f%d", i);
  bool map = sort == 'm' && i < (int)strlen(made->sorts);
  if (map) snprintf(name, sizeof name, "e");
  return fixture_field(m, name, 1 + i * made->stride, type_of_sort(sort), sort == 'r' || sort == 'm',
                       message ? map ? ".g.Shape.E" : ".g.Shape" : NULL, arena);
}

static void add_shape(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "Shape", arena);
  google_protobuf_FieldDescriptorProto *optional[BJVMI_SPARSE_MOST];
  size_t optional_count = 0;
  int oneof = -1;
  bool open = false;
  char name[32];
  const char *sort = made->sorts;
  if (strchr(sort, 'm')) add_map_entry(m, arena);
  for (int i = 0; i < made->width; sort++) {
    if (!*sort) sort = made->sorts;
    if (*sort == '|') open = false;
    if (*sort == '|') continue;
    google_protobuf_FieldDescriptorProto *f = add_one(m, i, *sort, arena);
    if (*sort == 'o' && !open) {
      snprintf(name, sizeof name, "one%d", ++oneof);
      add_oneof(m, name, arena);
      open = true;
    }
    if (*sort == 'o') google_protobuf_FieldDescriptorProto_set_oneof_index(f, oneof);
    if (*sort < 'a' && *sort != 'M') optional[optional_count++] = f;
    i++;
  }
  for (size_t i = 0; i < optional_count; i++) {
    snprintf(name, sizeof name, "_o%zu", i);
    add_oneof(m, name, arena);
    google_protobuf_FieldDescriptorProto_set_proto3_optional(optional[i], true);
    google_protobuf_FieldDescriptorProto_set_oneof_index(optional[i], ++oneof);
  }
}

static bool is_there(const char *msg, const bjvmi_word *w) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  const char *value = msg + w->offset;
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: return bjvmi_upb_hasbit(msg, w->presence);
    case BJVMI_FORM_ONEOF: return bjvmi_upb_oneof_case(msg, w->presence) == w->number;
    case BJVMI_FORM_ARRAY: return bjvmi_upb_pointer(value) != NULL;
    default: break;
  }
  if (kind == BJVMI_KIND_STRING || kind == BJVMI_KIND_BYTES) return bjvmi_upb_string(value).size != 0;
  for (size_t i = 0; i < bjvmi_kind_size(kind); i++)
    if (value[i]) return true;
  return false;
}

/* Sets the field; where that is told by bytes, by a bit of any of them. */
static void set_field(char *msg, const bjvmi_word *w, uint64_t *random) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  size_t size = bjvmi_kind_size(kind);
  char *value = msg + w->offset;
  char byte = (char)(1 << guard_random(random) % 8);
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: bjvmi_upb_set_hasbit(msg, w->presence); return;
    case BJVMI_FORM_ONEOF: bjvmi_upb_set_oneof_case(msg, w->presence, w->number); return;
    case BJVMI_FORM_ARRAY: value[guard_random(random) % sizeof(void *)] = byte; return;
    default: break;
  }
  if (kind == BJVMI_KIND_STRING || kind == BJVMI_KIND_BYTES)
    value[sizeof(char *) + guard_random(random) % sizeof(size_t)] = byte;
  else value[guard_random(random) % size] = byte;
}

/* What must not put the field into a list: bytes of a value whose presence is told elsewhere, the pointer of an empty
 * string, a case that is another field's or none's. */
static void set_decoy(char *msg, const bjvmi_word *w, uint64_t *random) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  bjvmi_form form = (bjvmi_form)BJVMI_OP_FORM(w->op);
  bool text = kind == BJVMI_KIND_STRING || kind == BJVMI_KIND_BYTES;
  if (form == BJVMI_FORM_ONEOF && guard_random(random) % 4 == 0)
    bjvmi_upb_set_oneof_case(msg, w->presence, guard_random(random) % 3 ? w->number + 1 : UINT32_MAX);
  if (form == BJVMI_FORM_HASBIT || form == BJVMI_FORM_ONEOF || (form == BJVMI_FORM_IMPLICIT && text))
    memset(msg + w->offset, 0x55, text ? sizeof(char *) : 1);
}

static void expect_list(const bjvm_plan *plan, const bjvmi_kernels *kernels, const char *msg, size_t room) {
  static bjvmi_word list[BJVMI_SPARSE_MOST + 1];
  uint16_t expected[BJVMI_SPARSE_MOST];
  size_t count = 0;
  for (uint16_t i = 0; i < plan->word_count; i++)
    if (is_there(msg, &plan->words[i])) expected[count++] = i;
  memset(list, 0xee, sizeof list);
  size_t got = bjvmi_sparse_list(plan->sparse, kernels, plan->word_count, plan->words, msg, list, room);
  cr_assert_eq(got, count < room ? count : room, "%s %d %s: %zu of %zu, room %zu", made->sorts, made->width,
               kernels->name, got, count, room);
  size_t same = 0;
  while (same < count && got < room && memcmp(&list[same], &plan->words[expected[same]], sizeof *list) == 0)
    same++;
  cr_assert(got == room || same == count, "%s %d %s: word %zu of %zu", made->sorts, made->width,
            kernels->name, same, count);
  const char *behind = (const char *)(list + room);
  const char *end = (const char *)list + sizeof list;
  while (behind < end && *behind == (char)0xee) behind++;
  cr_assert(behind == end, "%s %d %s: room %zu", made->sorts, made->width, kernels->name, room);
}

static void expect_lists(const bjvm_plan *plan, const char *msg, uint64_t *random) {
  const size_t rooms[] = {BJVMI_SPARSE_MOST + 1, BJVMI_SPARSE_LIST, 1 + guard_random(random) % 16};
  for (const bjvmi_kernels *const *k = bjvmi_kernels_all(); *k; k++)
    for (size_t i = 0; i < 3; i++) expect_list(plan, *k, msg, rooms[i]);
}

/* `msg` ends where memory does. */
static void random_lists(const bjvm_plan *plan, char *msg, size_t size, uint64_t *random) {
  static const unsigned one_in[] = {1, 2, 5, 20, 60, 200};
  for (int round = 0; round < 60; round++) {
    memset(msg, 0, size);
    if (round % 2) memset(msg, 0x77, BJVMI_UPB_RESERVED);
    if (round % 3 == 0)
      for (uint32_t i = 0; i < plan->word_count; i++) set_decoy(msg, &plan->words[i], random);
    unsigned chance = one_in[round % 6];
    for (uint32_t i = 0; i < plan->word_count; i++)
      if (guard_random(random) % chance == 0) set_field(msg, &plan->words[i], random);
    expect_lists(plan, msg, random);
  }
  for (uint32_t i = 0; i < plan->word_count; i++) {
    memset(msg, 0, size);
    set_field(msg, &plan->words[i], random);
    expect_lists(plan, msg, random);
  }
}

Test(sparse, lists_have_the_words_that_are_set) {
  static const char *const patterns[] = {
      "i", "b",  "s",         "d",  "r",          "I",      "MMMB", "bbbbbbbbbbbbbbbbbi",
      "o", "o|", "oo|iboso|", "bd", "misbdyfrIM", "SDYIBM", "rsm",  "ioooooo|bbbsssdddrrrSBDIM"};
  static const int widths[] = {32, 33, 40, 65, 100, 300, 1024};
  uint64_t random = 88172645463325252u;
  for (size_t s = 0; s < sizeof patterns / sizeof *patterns; s++) {
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
      shape one = {patterns[s], widths[w], w % 3 == 1 ? 7 : 1};
      made = &one;
      fixture f = fixture_made(add_shape);
      const bjvm_plan *plan = fixture_plan(&f, "g.Shape");
      size_t size = bjvmi_upb_message_size(plan->table);
      cr_assert_not_null(plan->sparse, "%s %d", one.sorts, one.width);
      cr_assert_eq(plan->word_count, one.width);
      random_lists(plan, guard_end(size) - size, size, &random);
      fixture_close(&f);
    }
  }
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
