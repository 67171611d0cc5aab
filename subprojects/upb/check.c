// The configure-time test: a upb that compiles and links this has what bjvm is written against. It names the entry
// points that came last (upb_MiniTable_BuildWithBuf) next to the ones that pull in the whole library, so that a
// missing libutf8_range or a too new C library shows here and not at the end of the build.
#include "upb/json/decode.h"
#include "upb/json/encode.h"
#include "upb/mem/arena.h"
#include "upb/mini_descriptor/decode.h"
#include "upb/mini_table/message.h"
#include "upb/reflection/def.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

#include <stddef.h>

int main(void) {
  upb_Arena *arena = upb_Arena_New();
  upb_DefPool *pool = upb_DefPool_New();
  upb_Status status;
  void *buf = NULL;
  size_t buf_size = 0;
  const upb_MiniTable *table =
      upb_MiniTable_BuildWithBuf("$", 1, kUpb_MiniTablePlatform_Native, arena, &buf, &buf_size, &status);
  void *volatile keep[] = {(void *)(size_t)&upb_JsonEncode, (void *)(size_t)&upb_JsonDecode,
                           (void *)(size_t)&upb_Encode, (void *)(size_t)&upb_Decode};
  int missing = table == NULL || keep[0] == NULL;
  upb_DefPool_Free(pool);
  upb_Arena_Free(arena);
  return missing;
}
