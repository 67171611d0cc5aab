/* What the tests of the plan compiler share: schemas built by hand, and a small reader of plan files, which shares
 * nothing with the loader of vm but the format's header.
 */
#ifndef BJVM_TESTS_COMPILE_FIXTURE_H_
#define BJVM_TESTS_COMPILE_FIXTURE_H_

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

static inline void set_up(void) { arena = upb_Arena_New(); }

static inline void tear_down(void) {
  while (pool_count > 0) upb_DefPool_Free(pools[--pool_count]);
  upb_Arena_Free(arena);
}

static inline upb_DefPool *new_pool(void) {
  cr_assert_lt(pool_count, sizeof pools / sizeof *pools);
  return pools[pool_count++] = upb_DefPool_New();
}

static inline upb_StringView view(const char *s) {
  size_t size = strlen(s);
  char *copy = upb_Arena_Malloc(arena, size + 1);
  memcpy(copy, s, size + 1);
  return upb_StringView_FromDataAndSize(copy, size);
}

static inline const char *print(const char *format, int number) {
  char text[64];
  snprintf(text, sizeof text, format, number);
  return view(text).data;
}

static inline void add_file(upb_DefPool *pool, const file_proto *file) {
  upb_Status status;
  upb_Status_Clear(&status);
  const upb_FileDef *def = upb_DefPool_AddFile(pool, file, &status);
  cr_assert(def != NULL, "%s", upb_Status_ErrorMessage(&status));
}

static inline google_protobuf_FileDescriptorSet *read_cases(void) {
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
static inline upb_DefPool *load_cases(bool backwards) {
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

static inline file_proto *new_file(const char *name, const char *package, const char *syntax) {
  file_proto *file = google_protobuf_FileDescriptorProto_new(arena);
  google_protobuf_FileDescriptorProto_set_name(file, view(name));
  google_protobuf_FileDescriptorProto_set_package(file, view(package));
  google_protobuf_FileDescriptorProto_set_syntax(file, view(syntax));
  return file;
}

static inline message_proto *new_message(file_proto *file, const char *name) {
  message_proto *m = google_protobuf_FileDescriptorProto_add_message_type(file, arena);
  google_protobuf_DescriptorProto_set_name(m, view(name));
  return m;
}

/* Adds a field; `type` is an upb_FieldType, `sub` the full name of its message or enum type or NULL. */
static inline field_proto *new_field(message_proto *m, const char *name, int number, int type,
                                     const char *sub) {
  field_proto *f = google_protobuf_DescriptorProto_add_field(m, arena);
  google_protobuf_FieldDescriptorProto_set_name(f, view(name));
  google_protobuf_FieldDescriptorProto_set_number(f, number);
  google_protobuf_FieldDescriptorProto_set_type(f, type);
  google_protobuf_FieldDescriptorProto_set_label(f, google_protobuf_FieldDescriptorProto_LABEL_OPTIONAL);
  if (sub != NULL) google_protobuf_FieldDescriptorProto_set_type_name(f, view(sub));
  return f;
}

static inline void set_repeated(field_proto *f) {
  google_protobuf_FieldDescriptorProto_set_label(f, google_protobuf_FieldDescriptorProto_LABEL_REPEATED);
}

static inline enum_proto *new_enum(file_proto *file, const char *name) {
  enum_proto *e = google_protobuf_FileDescriptorProto_add_enum_type(file, arena);
  google_protobuf_EnumDescriptorProto_set_name(e, view(name));
  return e;
}

static inline google_protobuf_EnumValueDescriptorProto *new_value(enum_proto *e, const char *name,
                                                                  int number) {
  google_protobuf_EnumValueDescriptorProto *v = google_protobuf_EnumDescriptorProto_add_value(e, arena);
  google_protobuf_EnumValueDescriptorProto_set_name(v, view(name));
  google_protobuf_EnumValueDescriptorProto_set_number(v, number);
  return v;
}

static inline void allow_alias(enum_proto *e) {
  google_protobuf_EnumOptions_set_allow_alias(google_protobuf_EnumDescriptorProto_mutable_options(e, arena),
                                              true);
}

/* Sets the option (pb.enumvalue.json).string, extension 998 with a string in its field 1. */
static inline void set_json_name(google_protobuf_EnumValueDescriptorProto *v, const char *name) {
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

static inline const upb_MessageDef *find(const upb_DefPool *pool, const char *name) {
  const upb_MessageDef *m = upb_DefPool_FindMessageByName(pool, name);
  cr_assert(m != NULL, "no type %s", name);
  return m;
}

/* A pool with one file, and its message `name`. */
static inline const upb_MessageDef *find_in(const file_proto *file, const char *name) {
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

static inline const void *section(plan *p, uint32_t kind) {
  const bjvmi_section_entry *table = (const void *)(p->data + BJVMI_HEADER_SIZE);
  cr_assert_eq(bjvmi_le32(table[kind].kind), kind);
  p->sizes[kind] = bjvmi_le32(table[kind].size);
  return p->data + bjvmi_le32(table[kind].offset);
}

static inline plan open_plan(const void *data, size_t size) {
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

static inline uint32_t count_of(const plan *p, bjvmi_section kind, size_t record) {
  return (uint32_t)(p->sizes[kind] / record);
}

static inline uint32_t message_count(const plan *p) {
  return count_of(p, BJVMI_SECTION_MESSAGES, sizeof(bjvmi_message));
}
static inline uint32_t enum_count(const plan *p) {
  return count_of(p, BJVMI_SECTION_ENUMS, sizeof(bjvmi_enum));
}

static inline plan compile(const upb_MessageDef *root, uint32_t flags) {
  const void *data = NULL;
  size_t size = 0;
  bjvm_error error = {0};
  bjvm_status status = bjvm_compile(&root, 1, flags, arena, &data, &size, &error);
  cr_assert_eq(status, BJVM_OK, "%s: %s", error.path, error.message);
  return open_plan(data, size);
}

static inline bool is_name(const plan *p, uint32_t offset, size_t size, const char *name) {
  return strlen(name) == size && memcmp(p->names + offset, name, size) == 0;
}

static inline uint32_t message_index(const plan *p, const char *name) {
  for (uint32_t i = 0; i < message_count(p); i++)
    if (is_name(p, bjvmi_le32(p->messages[i].name), bjvmi_le16(p->messages[i].name_size), name)) return i;
  return UINT32_MAX;
}

static inline const bjvmi_message *message_of(const plan *p, const char *name) {
  uint32_t index = message_index(p, name);
  cr_assert_neq(index, UINT32_MAX, "no message %s", name);
  return &p->messages[index];
}

static inline const bjvmi_enum *enum_of(const plan *p, const char *name) {
  for (uint32_t i = 0; i < enum_count(p); i++)
    if (is_name(p, bjvmi_le32(p->enums[i].name), bjvmi_le16(p->enums[i].name_size), name))
      return &p->enums[i];
  cr_assert_fail("no enum %s", name);
  return NULL;
}

static inline const bjvmi_word *words_of(const plan *p, const bjvmi_message *m) {
  return p->words + bjvmi_le32(m->first_word);
}

static inline uint32_t slot_of(const plan *p, const bjvmi_table *t, uint32_t at) {
  const uint8_t *slots = p->slots + bjvmi_le32(t->first_slot);
  if (bjvmi_le16(t->key_count) <= BJVMI_KEYS_NARROW) return slots[at];
  return slots[2 * at] | (uint32_t)slots[2 * at + 1] << 8;
}

/* What `name` stands for, or -1. */
static inline int look_up(const plan *p, const bjvmi_table *t, const char *name, size_t size) {
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

/* Whether the .proto name of a word is left to be derived, and is `field`. */
static inline bool is_derived_name(const plan *p, const bjvmi_word *w, const char *field) {
  uint32_t name = bjvmi_le32(w->name);
  if (!(bjvmi_name_flags(p->names, name) & BJVMI_NAME_DERIVED)) return false;
  const char *json = p->names + name + 2, *end = p->names + name + bjvmi_name_length(p->names, name) - 2;
  for (; json < end && *field; json++, field++) {
    bool upper = *json >= 'A' && *json <= 'Z';
    if (upper && *field++ != '_') return false;
    if (*field != (upper ? *json + 32 : *json)) return false;
  }
  return json == end && *field == 0;
}

/* The index of the word that is read by the name `field`, or -1. */
static inline int field_index(const plan *p, const bjvmi_message *m, const char *field) {
  int index = look_up(p, &m->keys, field, strlen(field));
  for (int i = 0; index < 0 && i < bjvmi_le16(m->word_count); i++)
    if (is_derived_name(p, words_of(p, m) + i, field)) index = i;
  return index;
}

static inline const bjvmi_word *word_of(const plan *p, const char *message, const char *field) {
  const bjvmi_message *m = message_of(p, message);
  int index = field_index(p, m, field);
  cr_assert_geq(index, 0, "no field %s in %s", field, message);
  return words_of(p, m) + index;
}

/* The key tables of messages and enums: each key is found, none twice, and other names are not. */
static inline void check_table(const plan *p, const bjvmi_table *t) {
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

/* Whether a .proto name is left to be derived. */
static inline bool has_derived(const plan *p) {
  bool derived = false;
  for (uint32_t i = 0; i < count_of(p, BJVMI_SECTION_WORDS, sizeof(bjvmi_word)); i++) {
    uint32_t name = bjvmi_le32(p->words[i].name);
    derived |= name != 0 && (bjvmi_name_flags(p->names, name) & BJVMI_NAME_DERIVED);
  }
  return derived;
}

/* What holds for every file. */
static inline void check_plan(const plan *p) {
  const bjvmi_header *h = (const void *)p->data;
  cr_assert_eq((uintptr_t)p->data % BJVMI_PLAN_ALIGN, 0);
  cr_assert(memcmp(h->magic, BJVMI_MAGIC, 4) == 0);
  cr_assert_eq(bjvmi_le16(h->major), BJVMI_FORMAT_MAJOR);
  cr_assert_eq(bjvmi_le32(h->total_size), p->size);
  cr_assert_eq(bjvmi_le64(h->checksum),
               bjvmi_checksum(p->data + BJVMI_CHECKSUM_FROM, p->size - BJVMI_CHECKSUM_FROM));
  bool mini = p->sizes[BJVMI_SECTION_MINI] > 0;
  cr_assert_eq(bjvmi_le16(h->minor), has_derived(p) ? 2 : mini || h->layout ? 1 : 0);
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

#endif
