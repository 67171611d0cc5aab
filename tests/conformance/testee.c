/* Testee of the official conformance runner: reads requests from standard input and answers on standard
 * output, binary through upb's codec and JSON through bjvm.
 *
 *     testee SET [--plan FILE] [--guard] [--compile FILE]
 *
 * SET is a FileDescriptorSet with conformance.proto and the test message protos. --plan takes plans from a
 * compiled file instead of a cache; --compile writes that file and ends. --guard places JSON input right
 * before a page that cannot be read, unpadded, so that a read beyond the end ends the program. A line on
 * standard error says what ran.
 *
 * Each message of the pipe is a 32-bit little-endian size and that many bytes (ConformanceRequest,
 * ConformanceResponse).
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/support.h"
#include "bjvm/bjvm.h"
#include "upb/reflection/message.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

static const char *const roots[] = {
    "protobuf_test_messages.proto2.TestAllTypesProto2",
    "protobuf_test_messages.proto3.TestAllTypesProto3",
    "protobuf_test_messages.editions.TestAllTypesEdition2023",
    "protobuf_test_messages.editions.proto2.TestAllTypesProto2",
    "protobuf_test_messages.editions.proto3.TestAllTypesProto3",
};
enum { ROOT_COUNT = sizeof roots / sizeof roots[0] };

/* Numbers of conformance.proto's enums and fields that are named here. */
enum { FORMAT_PROTOBUF = 1, FORMAT_JSON = 2, CATEGORY_JSON_IGNORE_UNKNOWN = 3 };

typedef struct testee {
  upb_DefPool *pool;
  bjvm_cache *cache;
  const bjvm_plan *plans[ROOT_COUNT]; /* bound from a file; with a cache all NULL */
  bool guard;
  const upb_MessageDef *request_def, *response_def;
} testee;

/* -- Pipe ----------------------------------------------------------------------------------------------- */

static bool read_exactly(void *data, size_t size) { return fread(data, 1, size, stdin) == size; }

/* The next request in memory of `arena`; false at the end of the input. */
static bool read_request(upb_Arena *arena, char **data, size_t *size) {
  unsigned char head[4];
  if (!read_exactly(head, sizeof head)) return false;
  *size = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
  *data = upb_Arena_Malloc(arena, *size + 1);
  return *data != NULL && read_exactly(*data, *size);
}

static void write_response(const char *data, size_t size) {
  unsigned char head[4] = {(unsigned char)size, (unsigned char)(size >> 8), (unsigned char)(size >> 16),
                           (unsigned char)(size >> 24)};
  fwrite(head, 1, sizeof head, stdout);
  fwrite(data, 1, size, stdout);
  fflush(stdout);
}

/* -- Fields of the two messages, by name ---------------------------------------------------------------- */

static bool get_string(const testee *t, const upb_Message *request, const char *name, upb_StringView *value) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByName(t->request_def, name);
  *value = upb_Message_GetFieldByDef(request, f).str_val;
  return upb_FieldDef_HasPresence(f) && upb_Message_HasFieldByDef(request, f);
}

static int get_enum(const testee *t, const upb_Message *request, const char *name) {
  return upb_Message_GetFieldByDef(request, upb_MessageDef_FindFieldByName(t->request_def, name)).int32_val;
}

static void set_string(const testee *t, upb_Message *response, const char *name, const char *data,
                       size_t size, upb_Arena *arena) {
  char *copy = upb_Arena_Malloc(arena, size + 1);
  if (copy == NULL) abort();
  if (size > 0) memcpy(copy, data, size);
  upb_MessageValue value = {.str_val = upb_StringView_FromDataAndSize(copy, size)};
  if (!upb_Message_SetFieldByDef(response, upb_MessageDef_FindFieldByName(t->response_def, name), value,
                                 arena))
    abort();
}

static void set_text(const testee *t, upb_Message *response, const char *name, const char *text,
                     upb_Arena *arena) {
  set_string(t, response, name, text, strlen(text), arena);
}

/* -- Plans ---------------------------------------------------------------------------------------------- */

static bool compile_plans(const testee *t, const char *path) {
  const upb_MessageDef *defs[ROOT_COUNT];
  upb_Arena *arena = upb_Arena_New();
  bjvm_error error;
  const void *data;
  size_t size;
  for (int i = 0; i < ROOT_COUNT; i++) defs[i] = test_find_message(t->pool, roots[i]);
  if (bjvm_compile(defs, ROOT_COUNT, BJVM_COMPILE_EXTENSIONS, arena, &data, &size, &error) != BJVM_OK) {
    fprintf(stderr, "testee: compile: %s %s\n", bjvm_status_name(error.code), error.message);
    return false;
  }
  FILE *file = fopen(path, "wb");
  bool done = file != NULL && fwrite(data, 1, size, file) == size;
  if (file != NULL && fclose(file) != 0) done = false;
  upb_Arena_Free(arena);
  return done;
}

/* Binds all roots of a plan file; what it takes lives as long as the program. */
static bool load_plans(testee *t, const char *path, upb_Arena *arena) {
  size_t size;
  char *data = test_read_file(path, &size);
  const bjvm_image *image;
  bjvm_error error;
  if (bjvm_image_load(data, size, arena, &image, &error) != BJVM_OK) {
    fprintf(stderr, "testee: %s: %s %s\n", path, bjvm_status_name(error.code), error.message);
    return false;
  }
  for (int i = 0; i < ROOT_COUNT; i++) {
    const upb_MiniTable *table = upb_MessageDef_MiniTable(test_find_message(t->pool, roots[i]));
    if (bjvm_image_bind(image, roots[i], table, arena, &t->plans[i], &error) == BJVM_OK) continue;
    fprintf(stderr, "testee: bind %s: %s %s\n", roots[i], bjvm_status_name(error.code), error.message);
    return false;
  }
  return true;
}

static const bjvm_plan *plan_of(const testee *t, const upb_MessageDef *def, bjvm_error *error) {
  for (int i = 0; i < ROOT_COUNT; i++)
    if (t->plans[i] != NULL && strcmp(upb_MessageDef_FullName(def), roots[i]) == 0) return t->plans[i];
  return bjvm_cache_get(t->cache, def, error);
}

/* -- One request ---------------------------------------------------------------------------------------- */

/* A copy of the text that ends where a page begins that cannot be read. */
static char *guarded_copy(const char *data, size_t size, char **block, size_t *block_size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
  *block_size = (pages + 1) * page;
  *block = mmap(NULL, *block_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*block == MAP_FAILED || mprotect(*block + pages * page, page, PROT_NONE) != 0) abort();
  return memcpy(*block + pages * page - size, data, size);
}

static bjvm_status decode_json(const testee *t, const upb_MessageDef *def, upb_StringView json,
                               upb_Message *msg, bool ignore_unknown, upb_Arena *arena, bjvm_error *error) {
  const bjvm_plan *plan = plan_of(t, def, error);
  if (plan == NULL) return error->code;
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = ignore_unknown ? BJVM_DECODE_IGNORE_UNKNOWN : 0,
                                 .registry = bjvm_cache_registry(t->cache),
                                 .scratch = arena};
  if (!t->guard) return bjvm_decode(plan, json.data, json.size, msg, arena, &options, error);
  char *block;
  size_t block_size;
  char *copy = guarded_copy(json.data, json.size, &block, &block_size);
  bjvm_status status = bjvm_decode(plan, copy, json.size, msg, arena, &options, error);
  munmap(block, block_size);
  return status;
}

/* Reads the payload into a new message. NULL: `response` says why. */
static upb_Message *read_payload(const testee *t, const upb_Message *request, const upb_MessageDef *def,
                                 upb_Message *response, upb_Arena *arena) {
  const upb_MiniTable *table = upb_MessageDef_MiniTable(def);
  upb_Message *msg = upb_Message_New(table, arena);
  upb_StringView payload;
  bjvm_error error;
  if (get_string(t, request, "protobuf_payload", &payload)) {
    const upb_ExtensionRegistry *extensions = upb_DefPool_ExtensionRegistry(t->pool);
    if (upb_Decode(payload.data, payload.size, msg, table, extensions, 0, arena) == kUpb_DecodeStatus_Ok)
      return msg;
    set_text(t, response, "parse_error", "not valid protobuf binary", arena);
    return NULL;
  }
  if (!get_string(t, request, "json_payload", &payload)) {
    set_text(t, response, "skipped", "only binary and JSON", arena);
    return NULL;
  }
  bool ignore_unknown = get_enum(t, request, "test_category") == CATEGORY_JSON_IGNORE_UNKNOWN;
  if (decode_json(t, def, payload, msg, ignore_unknown, arena, &error) == BJVM_OK) return msg;
  set_text(t, response, "parse_error", error.message, arena);
  return NULL;
}

static void write_binary(const testee *t, const upb_MessageDef *def, const upb_Message *msg,
                         upb_Message *response, upb_Arena *arena) {
  char *data;
  size_t size;
  if (upb_Encode(msg, upb_MessageDef_MiniTable(def), 0, arena, &data, &size) == kUpb_EncodeStatus_Ok)
    set_string(t, response, "protobuf_payload", data, size, arena);
  else set_text(t, response, "serialize_error", "upb cannot encode the message", arena);
}

static void write_json(const testee *t, const upb_MessageDef *def, const upb_Message *msg,
                       upb_Message *response, upb_Arena *arena) {
  bjvm_error error;
  const bjvm_plan *plan = plan_of(t, def, &error);
  bjvm_encode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(t->cache), .scratch = arena};
  bjvm_output output = bjvm_output_arena(arena);
  if (plan != NULL && bjvm_encode(plan, msg, &options, &output, &error) == BJVM_OK)
    set_string(t, response, "json_payload", output.data, output.size, arena);
  else set_text(t, response, "serialize_error", error.message, arena);
}

static void answer(const testee *t, const upb_Message *request, upb_Message *response, upb_Arena *arena) {
  upb_StringView type;
  get_string(t, request, "message_type", &type);
  const upb_MessageDef *def = upb_DefPool_FindMessageByNameWithSize(t->pool, type.data, type.size);
  int format = get_enum(t, request, "requested_output_format");
  if (def == NULL) {
    set_text(t, response, "runtime_error", "no such message type", arena);
    return;
  }
  if (format != FORMAT_PROTOBUF && format != FORMAT_JSON) {
    set_text(t, response, "skipped", "only binary and JSON", arena);
    return;
  }
  upb_Message *msg = read_payload(t, request, def, response, arena);
  if (msg == NULL) return;
  if (format == FORMAT_PROTOBUF) write_binary(t, def, msg, response, arena);
  else write_json(t, def, msg, response, arena);
}

static bool serve_one(const testee *t) {
  upb_Arena *arena = upb_Arena_New();
  char *data;
  size_t size;
  bool more = read_request(arena, &data, &size);
  if (more) {
    upb_Message *response = upb_Message_New(upb_MessageDef_MiniTable(t->response_def), arena);
    const upb_Message *request = test_parse(t->pool, t->request_def, data, size, arena);
    if (request != NULL) answer(t, request, response, arena);
    else set_text(t, response, "runtime_error", "the request cannot be read", arena);
    if (!test_serialize(response, t->response_def, arena, &data, &size)) abort();
    write_response(data, size);
  }
  upb_Arena_Free(arena);
  return more;
}

int main(int argc, char **argv) {
  testee t = {0};
  const char *plan_path = NULL;
  if (argc < 2) {
    fprintf(stderr, "usage: testee SET [--plan FILE] [--guard] [--compile FILE]\n");
    return 2;
  }
  t.pool = test_pool_load(argv[1]);
  t.cache = bjvm_cache_new(t.pool);
  t.request_def = test_find_message(t.pool, "conformance.ConformanceRequest");
  t.response_def = test_find_message(t.pool, "conformance.ConformanceResponse");
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--guard") == 0) t.guard = true;
    if (strcmp(argv[i], "--plan") == 0 && i + 1 < argc) plan_path = argv[++i];
    if (strcmp(argv[i], "--compile") == 0 && i + 1 < argc) return compile_plans(&t, argv[++i]) ? 0 : 1;
  }
  upb_Arena *arena = upb_Arena_New();
  if (plan_path != NULL && !load_plans(&t, plan_path, arena)) return 1;
  bjvm_error error;
  const bjvm_plan *plan = plan_of(&t, test_find_message(t.pool, roots[0]), &error);
  fprintf(stderr, "testee: dispatch %s, kernels %s, plans from %s, input %s\n", bjvm_dispatch_name(),
          plan != NULL ? bjvm_plan_kernels(plan) : "?", plan_path != NULL ? "a file" : "a cache",
          t.guard ? "before a guard page" : "as it comes");
  while (serve_one(&t)) continue;
  upb_Arena_Free(arena);
  bjvm_cache_free(t.cache);
  upb_DefPool_Free(t.pool);
  return 0;
}
