/* What the tests of both codecs share: plans over the schema of the case tables, messages from JSON, JSON
 * from messages, and schemas made on the spot.
 *
 * Everything lives until fixture_close. Helpers that end in _ok fail the test when the call does.
 */
#ifndef BJVM_TESTS_FIXTURE_H_
#define BJVM_TESTS_FIXTURE_H_

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "google/protobuf/descriptor.upb.h"
#include "support.h"
#include "upb/reflection/message.h"

typedef struct fixture {
  upb_DefPool *pool;
  bjvm_cache *cache;
  upb_Arena *arena;   /* messages and texts */
  upb_Arena *scratch; /* of the calls */
} fixture;

static inline fixture fixture_of(upb_DefPool *pool) {
  return (fixture){pool, bjvm_cache_new(pool), upb_Arena_New(), upb_Arena_New()};
}

/* The schema in tests/cases. */
static inline fixture fixture_open(void) {
  char path[1024];
  const char *folder = getenv("BJVM_TESTS_DIR");
  cr_assert_not_null(folder, "BJVM_TESTS_DIR names the folder of the tests");
  snprintf(path, sizeof path, "%s/cases/cases.binpb", folder);
  return fixture_of(test_pool_load(path));
}

static inline void fixture_close(fixture *f) {
  upb_Arena_Free(f->scratch);
  upb_Arena_Free(f->arena);
  bjvm_cache_free(f->cache);
  upb_DefPool_Free(f->pool);
}

static inline const bjvm_plan *fixture_plan(const fixture *f, const char *type) {
  bjvm_error error = {0};
  const bjvm_plan *plan = bjvm_cache_find(f->cache, type, strlen(type), &error);
  cr_assert_not_null(plan, "%s: %s", type, error.message);
  return plan;
}

static inline upb_Message *fixture_new(const fixture *f, const char *type) {
  return upb_Message_New(upb_MessageDef_MiniTable(test_find_message(f->pool, type)), f->arena);
}

static inline bjvm_decode_options fixture_decode_options(const fixture *f, uint32_t flags) {
  return (bjvm_decode_options){.size = sizeof(bjvm_decode_options),
                               .flags = flags,
                               .registry = bjvm_cache_registry(f->cache),
                               .scratch = f->scratch};
}

static inline bjvm_encode_options fixture_encode_options(const fixture *f, uint32_t flags) {
  return (bjvm_encode_options){.size = sizeof(bjvm_encode_options),
                               .flags = flags,
                               .registry = bjvm_cache_registry(f->cache),
                               .scratch = f->scratch};
}

/* Decodes into an existing message. */
static inline bjvm_status fixture_merge(const fixture *f, const char *type, const char *json, uint32_t flags,
                                        upb_Message *msg) {
  bjvm_decode_options options = fixture_decode_options(f, flags);
  return bjvm_decode(fixture_plan(f, type), json, strlen(json), msg, f->arena, &options, NULL);
}

static inline void fixture_merge_ok(const fixture *f, const char *type, const char *json, uint32_t flags,
                                    upb_Message *msg) {
  bjvm_error error = {0};
  bjvm_decode_options options = fixture_decode_options(f, flags);
  bjvm_status s = bjvm_decode(fixture_plan(f, type), json, strlen(json), msg, f->arena, &options, &error);
  cr_assert_eq(s, BJVM_OK, "%s %s: %s at %s, byte %zu", type, json, error.message, error.path, error.offset);
}

static inline upb_Message *fixture_read_ok(const fixture *f, const char *type, const char *json) {
  upb_Message *msg = fixture_new(f, type);
  fixture_merge_ok(f, type, json, 0, msg);
  return msg;
}

/* The message as JSON with sorted maps, NUL-terminated, in the fixture's arena. */
static inline const char *fixture_json(const fixture *f, const char *type, const upb_Message *msg) {
  bjvm_error error = {0};
  bjvm_output out = bjvm_output_arena(f->arena);
  bjvm_encode_options options = fixture_encode_options(f, BJVM_ENCODE_SORT_MAP_KEYS);
  bjvm_status s = bjvm_encode(fixture_plan(f, type), msg, &options, &out, &error);
  cr_assert_eq(s, BJVM_OK, "%s: %s at %s", type, error.message, error.path);
  char *text = (char *)upb_Arena_Malloc(f->arena, out.size + 1);
  memcpy(text, out.data, out.size);
  text[out.size] = 0;
  return text;
}

/* -- Schemas made on the spot --------------------------------------------------------------------------- */

static inline upb_StringView fixture_text(upb_Arena *arena, const char *text) {
  size_t size = strlen(text);
  char *copy = (char *)upb_Arena_Malloc(arena, size + 1);
  memcpy(copy, text, size + 1);
  return upb_StringView_FromDataAndSize(copy, size);
}

static inline google_protobuf_DescriptorProto *fixture_message(google_protobuf_FileDescriptorProto *file,
                                                               const char *name, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = google_protobuf_FileDescriptorProto_add_message_type(file, arena);
  google_protobuf_DescriptorProto_set_name(m, fixture_text(arena, name));
  return m;
}

/* A field; type_name NULL for scalars. */
static inline google_protobuf_FieldDescriptorProto *fixture_field(google_protobuf_DescriptorProto *message,
                                                                  const char *name, int number, int type,
                                                                  bool repeated, const char *type_name,
                                                                  upb_Arena *arena) {
  google_protobuf_FieldDescriptorProto *f = google_protobuf_DescriptorProto_add_field(message, arena);
  google_protobuf_FieldDescriptorProto_set_name(f, fixture_text(arena, name));
  google_protobuf_FieldDescriptorProto_set_number(f, number);
  google_protobuf_FieldDescriptorProto_set_type(f, type);
  google_protobuf_FieldDescriptorProto_set_label(
      f, repeated ? google_protobuf_FieldDescriptorProto_LABEL_REPEATED
                  : google_protobuf_FieldDescriptorProto_LABEL_OPTIONAL);
  if (type_name) google_protobuf_FieldDescriptorProto_set_type_name(f, fixture_text(arena, type_name));
  return f;
}

/* A proto3 file of package g; `fill` adds its types. */
static inline fixture fixture_made(void (*fill)(google_protobuf_FileDescriptorProto *, upb_Arena *)) {
  upb_DefPool *pool = upb_DefPool_New();
  fixture f = fixture_of(pool);
  google_protobuf_FileDescriptorProto *file = google_protobuf_FileDescriptorProto_new(f.arena);
  google_protobuf_FileDescriptorProto_set_name(file, fixture_text(f.arena, "g.proto"));
  google_protobuf_FileDescriptorProto_set_package(file, fixture_text(f.arena, "g"));
  google_protobuf_FileDescriptorProto_set_syntax(file, fixture_text(f.arena, "proto3"));
  fill(file, f.arena);
  upb_Status status;
  upb_Status_Clear(&status);
  cr_assert_not_null(upb_DefPool_AddFile(pool, file, &status), "%s", upb_Status_ErrorMessage(&status));
  return f;
}

/* Reads `json` into a new message of the type, with these options. */
static inline bjvm_status fixture_decode_with(const fixture *f, const char *type, const char *json,
                                              bjvm_decode_options options, bjvm_error *error) {
  return bjvm_decode(fixture_plan(f, type), json, strlen(json), fixture_new(f, type), f->arena, &options,
                     error);
}

/* `times` times open, inner, as many times close. Frees with free. */
static inline char *fixture_nested(const char *open, const char *inner, const char *close, unsigned times) {
  size_t a = strlen(open), b = strlen(close), c = strlen(inner);
  char *json = (char *)malloc((a + b) * times + c + 1);
  char *p = json;
  for (unsigned i = 0; i < times; i++, p += a) memcpy(p, open, a);
  memcpy(p, inner, c);
  p += c;
  for (unsigned i = 0; i < times; i++, p += b) memcpy(p, close, b);
  *p = 0;
  return json;
}

#endif /* BJVM_TESTS_FIXTURE_H_ */
