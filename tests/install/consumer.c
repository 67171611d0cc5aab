/* A program of somebody else's: built against an installed bjvm with what pkg-config says and nothing more. It uses
 * upb itself, as every caller does, and looks into a map that bjvm has filled: both must use the same upb.
 *
 *   consumer CASES.binpb
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "google/protobuf/descriptor.upb.h"
#include "upb/message/map.h"
#include "upb/reflection/message.h"

static upb_DefPool *load(const char *path, upb_Arena *arena) {
  static char data[1 << 20];
  FILE *f = fopen(path, "rb");
  size_t size = f ? fread(data, 1, sizeof data, f) : 0;
  if (f) fclose(f);
  google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_parse(data, size, arena);
  upb_DefPool *pool = upb_DefPool_New();
  upb_Status status;
  upb_Status_Clear(&status);
  size_t count = 0;
  const google_protobuf_FileDescriptorProto *const *files =
      set ? google_protobuf_FileDescriptorSet_file(set, &count) : NULL;
  for (size_t i = 0; i < count; i++) upb_DefPool_AddFile(pool, files[i], &status);
  return pool;
}

int main(int argc, char **argv) {
  static const char json[] = "{\"kStr\":{\"one\":1,\"two\":2,\"three\":3}}";
  upb_Arena *arena = upb_Arena_New();
  upb_DefPool *pool = load(argc > 1 ? argv[1] : "", arena);
  bjvm_cache *cache = bjvm_cache_new(pool);
  bjvm_error error;
  const bjvm_plan *plan = bjvm_cache_find(cache, "cases.v3.Maps", 13, &error);
  upb_Message *msg = plan ? upb_Message_New(bjvm_plan_table(plan), arena) : NULL;
  if (!msg || bjvm_decode(plan, json, strlen(json), msg, arena, NULL, &error) != BJVM_OK) {
    printf("not read: %s\n", error.message);
    return 1; // what leaks then is not the point
  }
  const upb_MessageDef *def = upb_DefPool_FindMessageByName(pool, "cases.v3.Maps");
  const upb_FieldDef *field = upb_MessageDef_FindFieldByName(def, "k_str");
  const upb_Map *map = upb_Message_GetFieldByDef(msg, field).map_val;
  upb_MessageValue key = {.str_val = upb_StringView_FromString("two")};
  upb_MessageValue value = {.int32_val = 0};
  bool found = upb_Map_Get(map, key, &value);
  printf("%zu entries, two is %d\n", upb_Map_Size(map), found ? value.int32_val : -1);
  bjvm_cache_free(cache);
  upb_DefPool_Free(pool);
  upb_Arena_Free(arena);
  return found && value.int32_val == 2 ? 0 : 1;
}
