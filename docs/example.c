/* The example of README.md: JSON to a message and back, with the types of a descriptor set.
 *
 *     example SCHEMA.binpb TYPE '{"json":...}'
 */
#include <stdio.h>
#include <string.h>

// [readme]
#include "bjvm/bjvm.h"

/* Prints `json` again in canonical form; false with the reason on standard error. */
static bool tidy(bjvm_cache *cache, const char *type, const char *json) {
  bjvm_error error;
  upb_Arena *arena = upb_Arena_New();
  bjvm_output out = bjvm_output_heap();
  const bjvm_plan *plan = bjvm_cache_find(cache, type, strlen(type), &error);
  upb_Message *msg = plan ? upb_Message_New(bjvm_plan_table(plan), arena) : NULL;
  bool ok = msg && bjvm_decode(plan, json, strlen(json), msg, arena, NULL, &error) == BJVM_OK &&
            bjvm_encode(plan, msg, NULL, &out, &error) == BJVM_OK;
  if (ok) printf("%.*s\n", (int)out.size, out.data);
  else fprintf(stderr, "%u:%u: %s (%s)\n", error.line, error.column, error.message, error.path);
  bjvm_output_free(&out);
  upb_Arena_Free(arena);
  return ok;
}
// [/readme]

#include <stdlib.h>

#include "google/protobuf/descriptor.upb.h"

/* All bytes of a file, in `arena`; ends the program if it cannot be read. */
static const char *read_file(const char *path, size_t *size, upb_Arena *arena) {
  FILE *file = fopen(path, "rb");
  char *data = NULL;
  if (file && fseek(file, 0, SEEK_END) == 0) {
    *size = (size_t)ftell(file);
    rewind(file);
    data = (char *)upb_Arena_Malloc(arena, *size + 1);
    if (data && fread(data, 1, *size, file) != *size) data = NULL;
  }
  if (file) fclose(file);
  if (!data) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  return data;
}

/* A pool with the files of a FileDescriptorSet, which has them in an order that resolves. */
static upb_DefPool *load_schema(const char *path, upb_Arena *arena) {
  size_t size, count = 0;
  const char *data = read_file(path, &size, arena);
  const google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_parse(data, size, arena);
  const google_protobuf_FileDescriptorProto *const *files =
      set ? google_protobuf_FileDescriptorSet_file(set, &count) : NULL;
  upb_DefPool *pool = upb_DefPool_New();
  upb_Status status;
  upb_Status_Clear(&status);
  for (size_t i = 0; files && i < count; i++) {
    if (upb_DefPool_AddFile(pool, files[i], &status)) continue;
    fprintf(stderr, "%s: %s\n", path, upb_Status_ErrorMessage(&status));
    exit(2);
  }
  return pool;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: example SCHEMA.binpb TYPE JSON\n");
    return 2;
  }
  upb_Arena *arena = upb_Arena_New();
  upb_DefPool *pool = load_schema(argv[1], arena);
  bjvm_cache *cache = bjvm_cache_new(pool);
  bool ok = cache && tidy(cache, argv[2], argv[3]);
  bjvm_cache_free(cache); /* before its pool */
  upb_DefPool_Free(pool);
  upb_Arena_Free(arena);
  return ok ? 0 : 1;
}
