/* Adding to a pointer table. Reading is in the header, inline.
 *
 * cache.c keeps plans and extensions in such tables. Invariant: at most half of the entries are taken, so
 * every probe ends; an entry's value is stored before its key, and a table's entries before the table.
 */
#include "pointer_table.h"

#include <string.h>

enum {
  FIRST_LOG2 = 5, /* 32 entries: a small service fits without growing */
};

static void insert(bjvmi_pointer_slots *slots, const void *key, const void *value) {
  size_t mask = ((size_t)1 << slots->log2) - 1;
  size_t i = bjvmi_pointer_hash(key, slots->log2);
  while (slots->entries[i].key) i = (i + 1) & mask;
  slots->entries[i].value = value;
  __atomic_store_n(&slots->entries[i].key, key, __ATOMIC_RELEASE);
}

static bool grow(bjvmi_pointer_table *table, upb_Arena *arena) {
  const bjvmi_pointer_slots *old = table->slots;
  unsigned log2 = old ? old->log2 + 1 : FIRST_LOG2;
  size_t bytes = sizeof(bjvmi_pointer_slots) + (sizeof(bjvmi_pointer_entry) << log2);
  bjvmi_pointer_slots *slots = (bjvmi_pointer_slots *)upb_Arena_Malloc(arena, bytes);
  if (!slots) return false;
  memset(slots, 0, bytes);
  slots->log2 = log2;
  for (size_t i = 0; old && i < (size_t)1 << old->log2; i++) {
    if (old->entries[i].key) insert(slots, old->entries[i].key, old->entries[i].value);
  }
  __atomic_store_n(&table->slots, slots, __ATOMIC_RELEASE);
  return true;
}

bool bjvmi_pointer_table_add(bjvmi_pointer_table *table, const void *key, const void *value,
                             upb_Arena *arena) {
  size_t room = table->slots ? (size_t)1 << table->slots->log2 : 0;
  if ((table->count + 1) * 2 > room && !grow(table, arena)) return false;
  insert(table->slots, key, value);
  __atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELAXED);
  return true;
}
