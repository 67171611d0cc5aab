/* A hash table from pointers to pointers that is read without a lock while one thread adds to it.
 *
 * Private to lib. Entries are never changed or removed. Readers take no lock and write nothing; whoever adds
 * holds the owner's lock. Growing publishes a larger copy; readers that still look into the smaller one find
 * what it had, and what they miss there they look up again under the lock. All copies stay in the arena until
 * that is freed: the sizes double, so together they take less than twice the last one.
 */
#ifndef BJVM_POINTER_TABLE_H_
#define BJVM_POINTER_TABLE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upb/mem/arena.h"

typedef struct bjvmi_pointer_entry {
  const void *key; /* published last; NULL: free */
  const void *value;
} bjvmi_pointer_entry;

typedef struct bjvmi_pointer_slots {
  unsigned log2;
  bjvmi_pointer_entry entries[];
} bjvmi_pointer_slots;

/* All zero: an empty table. */
typedef struct bjvmi_pointer_table {
  bjvmi_pointer_slots *slots; /* published atomically; NULL: nothing was added yet */
  size_t count;               /* written atomically */
} bjvmi_pointer_table;

static inline size_t bjvmi_pointer_hash(const void *key, unsigned log2) {
  return (size_t)((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u >> (64 - log2));
}

/* The value of `key`, or NULL. Any thread, at any time. */
static inline const void *bjvmi_pointer_table_get(const bjvmi_pointer_table *table, const void *key) {
  const bjvmi_pointer_slots *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE);
  if (!slots) return NULL;
  size_t mask = ((size_t)1 << slots->log2) - 1;
  for (size_t i = bjvmi_pointer_hash(key, slots->log2);; i = (i + 1) & mask) {
    const void *found = __atomic_load_n(&slots->entries[i].key, __ATOMIC_ACQUIRE);
    if (found == key) return slots->entries[i].value;
    if (!found) return NULL;
  }
}

/* Any thread, at any time. */
static inline size_t bjvmi_pointer_table_count(const bjvmi_pointer_table *table) {
  return __atomic_load_n(&table->count, __ATOMIC_RELAXED);
}

/* Adds a pair; neither is NULL and the key is not there yet. The owner's lock is held. False: out of memory,
 * nothing was added. */
bool bjvmi_pointer_table_add(bjvmi_pointer_table *table, const void *key, const void *value,
                             upb_Arena *arena);

#endif /* BJVM_POINTER_TABLE_H_ */
