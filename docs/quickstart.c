/* A first result: protobuf's own descriptors as JSON and back, and how long that takes.
 *
 *     quickstart PROTO_DIR SCHEMA.binpb
 *
 * SCHEMA.binpb is a FileDescriptorSet of the .proto files in PROTO_DIR, made by protoc (docs/quickstart.sh does). The set is a
 * protobuf message itself: it is printed as JSON by bjvm, read back, compared, and the same is done by upb's own JSON codec,
 * in turns. Exits with 1 if anything differs.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bjvm/bjvm.h"
#include "google/protobuf/descriptor.upb.h"
#include "upb/json/decode.h"
#include "upb/json/encode.h"
#include "upb/message/compare.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

static const char TYPE[] = "google.protobuf.FileDescriptorSet";

enum { ROUNDS = 15 };

/* What the program works with from beginning to end. */
typedef struct job {
  upb_Arena *arena;
  upb_DefPool *pool; /* the files of the set, for the types it is made of */
  bjvm_cache *cache;
  const bjvm_plan *plan;
  const upb_MessageDef *def;
  const upb_Message *set;
  const char *json;
  size_t json_size;
} job;

/* One of the four things that are timed; false: it failed. */
typedef bool timed_func(job *j, upb_Arena *arena);

static void fail(const char *what, const char *why) {
  fprintf(stderr, "quickstart: %s: %s\n", what, why);
  exit(1);
}

/* -- Files ---------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *size, upb_Arena *arena) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) fail(path, "cannot be read");
  *size = (size_t)ftell(file);
  rewind(file);
  char *data = (char *)upb_Arena_Malloc(arena, *size + 1);
  if (!data || fread(data, 1, *size, file) != *size) fail(path, "cannot be read");
  fclose(file);
  return data;
}

static void write_file(const char *path, const char *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fputc('\n', file) == EOF || fclose(file) != 0)
    fail(path, "cannot be written");
}

/* The JSON goes beside the schema. */
static const char *json_path(const char *schema, upb_Arena *arena) {
  static const char name[] = "descriptors.json";
  const char *slash = strrchr(schema, '/');
  size_t folder = slash ? (size_t)(slash - schema) + 1 : 0;
  char *path = (char *)upb_Arena_Malloc(arena, folder + sizeof name);
  memcpy(path, schema, folder);
  memcpy(path + folder, name, sizeof name);
  return path;
}

/* -- The schema ----------------------------------------------------------------------------------------- */

/* The pool of the files in the set: what it says about descriptors comes from its own descriptor.proto. */
static size_t add_files(job *j, const char *data, size_t size) {
  size_t count;
  upb_Status status;
  upb_Status_Clear(&status);
  const google_protobuf_FileDescriptorSet *set =
      google_protobuf_FileDescriptorSet_parse(data, size, j->arena);
  if (!set) fail("the descriptor set", "not a FileDescriptorSet");
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  for (size_t i = 0; i < count; i++) {
    if (!upb_DefPool_AddFile(j->pool, files[i], &status))
      fail("the schema", upb_Status_ErrorMessage(&status));
  }
  return count;
}

/* The set as a message of that pool's own type, extensions included. */
static void parse_set(job *j, const char *data, size_t size) {
  j->def = upb_DefPool_FindMessageByName(j->pool, TYPE);
  if (!j->def) fail("the schema", "has no descriptor.proto");
  const upb_MiniTable *table = upb_MessageDef_MiniTable(j->def);
  upb_Message *set = upb_Message_New(table, j->arena);
  if (upb_Decode(data, size, set, table, upb_DefPool_ExtensionRegistry(j->pool), 0, j->arena) !=
      kUpb_DecodeStatus_Ok)
    fail("the descriptor set", "cannot be read");
  j->set = set;
}

/* -- What is timed -------------------------------------------------------------------------------------- */

static bool encode_bjvm(job *j, upb_Arena *arena) {
  bjvm_encode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(j->cache), .scratch = arena};
  bjvm_output out = bjvm_output_arena(arena);
  return bjvm_encode(j->plan, j->set, &options, &out, NULL) == BJVM_OK && out.size == j->json_size;
}

static bool decode_bjvm(job *j, upb_Arena *arena) {
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(j->cache), .scratch = arena};
  upb_Message *msg = upb_Message_New(bjvm_plan_table(j->plan), arena);
  return bjvm_decode(j->plan, j->json, j->json_size, msg, arena, &options, NULL) == BJVM_OK;
}

static bool encode_upb(job *j, upb_Arena *arena) {
  upb_Status status;
  upb_Status_Clear(&status);
  char *text = (char *)upb_Arena_Malloc(arena, 2 * j->json_size);
  size_t size = upb_JsonEncode(j->set, j->def, j->pool, 0, text, 2 * j->json_size, &status);
  return size != (size_t)-1 && size < 2 * j->json_size;
}

static bool decode_upb(job *j, upb_Arena *arena) {
  upb_Status status;
  upb_Status_Clear(&status);
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(j->def), arena);
  return upb_JsonDecode(j->json, j->json_size, msg, j->def, j->pool, 0, arena, &status);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double time_once(timed_func *run, job *j) {
  upb_Arena *arena = upb_Arena_New();
  double start = now();
  bool ok = run(j, arena);
  double took = now() - start;
  upb_Arena_Free(arena);
  if (!ok) fail("a timed run", "failed");
  return took;
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Medians in microseconds; the four take turns, so that all meet the same disturbances. */
static void time_all(job *j, timed_func *const runs[4], double medians[4]) {
  static double times[4][ROUNDS];
  for (int round = -2; round < ROUNDS; round++) { /* two to warm up */
    for (int k = 0; k < 4; k++) {
      double took = time_once(runs[k], j);
      if (round >= 0) times[k][round] = took;
    }
  }
  for (int k = 0; k < 4; k++) {
    qsort(times[k], ROUNDS, sizeof(double), compare_times);
    medians[k] = times[k][ROUNDS / 2];
  }
}

/* -- The steps ------------------------------------------------------------------------------------------ */

static void print_json(job *j) {
  bjvm_error error;
  bjvm_output out = bjvm_output_arena(j->arena);
  bjvm_encode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(j->cache), .scratch = j->arena};
  if (bjvm_encode(j->plan, j->set, &options, &out, &error) != BJVM_OK) {
    fprintf(stderr, "at %s\n", error.path);
    fail("encode", error.message);
  }
  j->json = out.data;
  j->json_size = out.size;
}

static upb_Message *read_back(job *j) {
  bjvm_error error;
  upb_Message *msg = upb_Message_New(bjvm_plan_table(j->plan), j->arena);
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(j->cache), .scratch = j->arena};
  if (bjvm_decode(j->plan, j->json, j->json_size, msg, j->arena, &options, &error) != BJVM_OK) {
    fprintf(stderr, "at %s, line %u, column %u\n", error.path, error.line, error.column);
    fail("decode", error.message);
  }
  return msg;
}

/* Equal as messages, and as protobuf binary. */
static void check_equal(job *j, const upb_Message *back) {
  const upb_MiniTable *table = upb_MessageDef_MiniTable(j->def);
  char *a, *b;
  size_t a_size = 0, b_size = 0;
  if (!upb_Message_IsEqual(j->set, back, table, 0)) fail("the message read back", "is another message");
  int options = kUpb_EncodeOption_Deterministic;
  bool ok = upb_Encode(j->set, table, options, j->arena, &a, &a_size) == kUpb_EncodeStatus_Ok;
  ok = ok && upb_Encode(back, table, options, j->arena, &b, &b_size) == kUpb_EncodeStatus_Ok;
  if (!ok) fail("upb", "cannot write the message as binary");
  if (a_size != b_size || memcmp(a, b, a_size) != 0) fail("the message read back", "has another binary form");
}

/* upb's codec must read what bjvm prints, to the same message. */
static void check_peer(job *j) {
  upb_Status status;
  upb_Status_Clear(&status);
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(j->def), j->arena);
  if (!upb_JsonDecode(j->json, j->json_size, msg, j->def, j->pool, 0, j->arena, &status))
    fail("upb's JSON codec", upb_Status_ErrorMessage(&status));
  if (!upb_Message_IsEqual(j->set, msg, upb_MessageDef_MiniTable(j->def), 0))
    fail("upb's JSON codec", "reads another message from bjvm's JSON");
}

static void tell_plan(job *j) {
  const void *data;
  size_t size;
  bjvm_error error;
  if (bjvm_compile(&j->def, 1, 0, j->arena, &data, &size, &error) != BJVM_OK) fail("compile", error.message);
  printf("plan      %zu types compiled, each when first met; as one plan file %zu bytes\n",
         bjvm_cache_size(j->cache), size);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: quickstart PROTO_DIR SCHEMA.binpb\n");
    return 2;
  }
  static timed_func *const runs[4] = {encode_bjvm, encode_upb, decode_bjvm, decode_upb};
  job j = {.arena = upb_Arena_New(), .pool = upb_DefPool_New()};
  bjvm_error error;
  double us[4];
  size_t size;
  const char *data = read_file(argv[2], &size, j.arena);
  size_t files = add_files(&j, data, size);
  parse_set(&j, data, size);
  printf("schema    %zu .proto files of %s, %zu bytes as a %s\n", files, argv[1], size, TYPE);

  j.cache = bjvm_cache_new(j.pool);
  j.plan = j.cache ? bjvm_cache_get(j.cache, j.def, &error) : NULL;
  if (!j.plan) fail("the plan", error.message);
  print_json(&j);
  const char *path = json_path(argv[2], j.arena);
  write_file(path, j.json, j.json_size);
  printf("encoded   %zu bytes of JSON, in %s\n", j.json_size, path);
  tell_plan(&j);
  check_equal(&j, read_back(&j));
  printf("decoded   back to an equal message, byte for byte the same protobuf binary\n");
  check_peer(&j);

  time_all(&j, runs, us);
  double mb = (double)j.json_size / 1e6;
  printf("\n          %10s %10s   (kernels %s, dispatch %s; median of %d rounds in turns)\n", "bjvm",
         "upb's JSON", bjvm_plan_kernels(j.plan), bjvm_dispatch_name(), ROUNDS);
  printf("encode    %7.0f us %7.0f us   %.1f times faster, %.0f MB/s\n", us[0], us[1], us[1] / us[0],
         mb / us[0] * 1e6);
  printf("decode    %7.0f us %7.0f us   %.1f times faster, %.0f MB/s\n", us[2], us[3], us[3] / us[2],
         mb / us[2] * 1e6);
  printf("          upb is the library linked here; Debian's is built with its assertions on, which cost it "
         "some time\n");
  bjvm_cache_free(j.cache);
  upb_DefPool_Free(j.pool);
  upb_Arena_Free(j.arena);
  return 0;
}
