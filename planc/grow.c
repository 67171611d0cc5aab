/* Growing arrays and hash maps in the temporary arena of a compilation.
 *
 * Both double; what they leave behind is freed with the arena, at most as much again as is in use. The order
 * of a map's slots depends on addresses and is never looked at, so nothing of it can get into a file.
 */
#include "compiler.h"

#include <string.h>

enum {
  FIRST_CAPACITY = 256, /* bytes */
  FIRST_SLOTS = 64,     /* a power of two */
};

struct bjvmi_map_slot {
  uint32_t hash;
  uint32_t value1; /* 1 + value; 0: free */
};

void *bjvmi_bytes_reserve(bjvmi_compiler *c, bjvmi_bytes *bytes, size_t size) {
  if (c->status != BJVM_OK) return NULL;
  if (size <= bytes->capacity) return bytes->data;
  size_t capacity = bytes->capacity ? bytes->capacity : FIRST_CAPACITY;
  while (capacity < size) {
    if (capacity > SIZE_MAX / 2) {
      bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "the plan is larger than the address space");
      return NULL;
    }
    capacity *= 2;
  }
  char *data = upb_Arena_Realloc(c->temp, bytes->data, bytes->capacity, capacity);
  if (data == NULL) {
    bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory to compile a plan");
    return NULL;
  }
  bytes->data = data;
  bytes->capacity = capacity;
  return data;
}

void *bjvmi_bytes_add(bjvmi_compiler *c, bjvmi_bytes *bytes, size_t size) {
  char *data = bjvmi_bytes_reserve(c, bytes, bytes->size + size);
  if (data == NULL) return NULL;
  data += bytes->size;
  bytes->size += size;
  return data;
}

uint32_t bjvmi_map_next(const bjvmi_map *map, uint32_t hash, uint32_t *at) {
  if (map->slots == NULL) return BJVMI_NONE;
  for (;;) {
    const struct bjvmi_map_slot *slot = &map->slots[(*at)++ & map->mask];
    if (slot->value1 == 0) return BJVMI_NONE;
    if (slot->hash == hash) return slot->value1 - 1;
  }
}

static void put(struct bjvmi_map_slot *slots, uint32_t mask, struct bjvmi_map_slot slot) {
  uint32_t at = slot.hash & mask;
  while (slots[at].value1 != 0) at = (at + 1) & mask;
  slots[at] = slot;
}

static bool grow_map(bjvmi_compiler *c, bjvmi_map *map) {
  if (c->status != BJVM_OK) return false;
  size_t slot_count = map->slots ? ((size_t)map->mask + 1) * 2 : FIRST_SLOTS;
  struct bjvmi_map_slot *slots = NULL;
  if (slot_count <= UINT32_MAX / sizeof *slots) slots = upb_Arena_Malloc(c->temp, slot_count * sizeof *slots);
  if (slots == NULL) {
    bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory to compile a plan");
    return false;
  }
  memset(slots, 0, slot_count * sizeof *slots);
  uint32_t mask = (uint32_t)slot_count - 1;
  for (uint32_t i = 0; map->slots != NULL && i <= map->mask; i++)
    if (map->slots[i].value1 != 0) put(slots, mask, map->slots[i]);
  map->slots = slots;
  map->mask = mask;
  return true;
}

void bjvmi_map_insert(bjvmi_compiler *c, bjvmi_map *map, uint32_t hash, uint32_t value) {
  if (map->slots == NULL || map->count >= map->mask / 2)
    if (!grow_map(c, map)) return;
  put(map->slots, map->mask, (struct bjvmi_map_slot){hash, value + 1});
  map->count++;
}
