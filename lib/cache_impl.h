/* The plan cache from inside. Private to lib: cache.c makes plans, registry.c resolves Any and extensions. */
#ifndef BJVM_CACHE_IMPL_H_
#define BJVM_CACHE_IMPL_H_

#include <pthread.h>
#include <string.h>

#include "bjvm/cache.h"
#include "plan.h"
#include "pointer_table.h"

struct bjvm_cache {
  const upb_DefPool *pool;
  bjvmi_pointer_table plans;      /* upb_MessageDef to bjvm_plan */
  bjvmi_pointer_table extensions; /* upb_MiniTableExtension to bjvm_extension */
  bjvmi_pointer_table names;      /* bjvmi_cache_name_key of a full name to bjvmi_named_plan */
  bjvm_registry registry;
  uint32_t decode_options; /* of upb_Decode, for the contents of an Any; atomic */
  pthread_mutex_t lock;    /* held by whoever adds a plan, an extension, a slot or a variant */
  upb_Arena *arena;        /* all memory of the cache, itself excepted; used under the lock */
};

/* A plan that was asked for by its full name, which is the pool's string. */
typedef struct bjvmi_named_plan {
  const bjvm_plan *plan;
  const char *name;
  size_t size;
} bjvmi_named_plan;

/* A hash of a full name, as a key; NULL: the name is short. The first, middle and last 8 bytes go into it, which is all
 * of most names. Of two names with the same key the second is looked up in the pool whenever it is asked for. */
static inline const void *bjvmi_cache_name_key(const char *name, size_t size) {
  uint64_t first, middle, last;
  if (size < 8) return NULL;
  memcpy(&first, name, 8);
  memcpy(&middle, name + size / 2 - 4, 8);
  memcpy(&last, name + size - 8, 8);
  uint64_t hash = first * 0x94d049bb133111ebu ^ middle * 0xbf58476d1ce4e5b9u;
  hash ^= (last ^ size) * 0x9e3779b97f4a7c15u;
  return (const void *)(uintptr_t)(hash >> 32 | 1);
}

/* Loads compiled bytes, which lie in `scratch`, into the cache's arena and gives them a binding whose nested
 * plans are linked through the cache. The lock is held. NULL on failure, told in `error`. */
bjvmi_binding *bjvmi_cache_bind(bjvm_cache *cache, const void *data, size_t size, bjvm_error *error);

/* The registry over a cache. */
bjvm_registry bjvmi_registry_make(bjvm_cache *cache);

/* Fills `error`, if not NULL: code and the sentence `text`, followed by `name` in quotes if that is not
 * NULL. */
void bjvmi_cache_fail(bjvm_error *error, bjvm_status code, const char *text, const char *name, size_t size);

#endif /* BJVM_CACHE_IMPL_H_ */
