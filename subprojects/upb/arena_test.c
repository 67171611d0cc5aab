// upb's inline arena functions (compiled here, perhaps with a sanitizer) and the prebuilt library (compiled without)
// must keep the same books. A shrink compiled with upb's ASan code poisons the freed tail, the library then puts an
// array there without lifting the poison, and the read that follows is reported: use-after-poison in a correct
// program. overlay/upb/port/def.inc prevents it; this test fails without it.
#include "upb/mem/arena.h"
#include "upb/message/array.h"

#include <stdint.h>
#include <string.h>

// Mixes inline calls with library calls at every size up to past a block's end. Returns 0 when all is well.
static int take_turns(upb_Arena *arena, size_t step) {
  for (size_t size = 1; size < 3000; size += step) {
    char *bytes = upb_Arena_Malloc(arena, size);
    if (bytes == NULL) return 1;
    memset(bytes, 1, size);
    bytes = upb_Arena_Realloc(arena, bytes, size, size + 9);
    if (bytes == NULL) return 1;
    memset(bytes, 2, size + 9);
    upb_Arena_ShrinkLast(arena, bytes, size + 9, 1);

    upb_Array *array = upb_Array_New(arena, kUpb_CType_Int32);
    upb_MessageValue value;
    memset(&value, 0, sizeof value);
    value.int32_val = 7;
    if (array == NULL || !upb_Array_Append(array, value, arena)) return 1;
    if (upb_Array_Size(array) != 1 || upb_Array_Get(array, 0).int32_val != 7) return 1;
  }
  return 0;
}

// A block of the caller's is filled to its last byte and not beyond: no guard bytes are lost to either half.
static int fill_block(void) {
  uint64_t block[64];
  size_t count = 0;
  upb_Arena *arena = upb_Arena_Init(block, sizeof block, NULL);
  if (arena == NULL) return 1;
  for (char *bytes; (bytes = upb_Arena_Malloc(arena, 8)) != NULL; count++) memset(bytes, 3, 8);
  upb_Arena_Free(arena);
  return count * 8 + 128 < sizeof block;
}

int main(void) {
  for (size_t step = 1; step < 40; step++) {
    upb_Arena *arena = upb_Arena_New();
    if (arena == NULL || take_turns(arena, step)) return 1;
    upb_Arena_Free(arena);
  }
  return fill_block();
}
