/* The plan cache: plans for the message types of a DefPool, made when first asked for. */
#ifndef BJVM_CACHE_H_
#define BJVM_CACHE_H_

#include "bjvm/codec.h"
#include "bjvm/plan.h"
#include "upb/reflection/def.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A cache of plans over one DefPool. All functions but free may be called from many threads; finding a plan
 * that is there takes no lock and writes nothing. Owns its plans: they live until bjvm_cache_free, which
 * comes before upb_DefPool_Free. */
typedef struct bjvm_cache bjvm_cache;

/* A new cache over `pool`. Types may be added to the pool later, while no other thread uses pool or cache.
 * NULL: out of memory, or no pool. */
BJVM_API bjvm_cache *bjvm_cache_new(const upb_DefPool *pool);

/* Frees the cache and all its plans. NULL does nothing. */
BJVM_API void bjvm_cache_free(bjvm_cache *cache);

/* The plan of a message type of the pool, compiled at the first call. Types it refers to are compiled when a
 * message or text that has them is met first. NULL on failure, told in `error` if that is not NULL:
 * OUT_OF_MEMORY, PLAN_LIMIT, PLAN_UNBOUND (of another pool, a map entry), BAD_ARGUMENT (NULL). */
BJVM_API const bjvm_plan *bjvm_cache_get(bjvm_cache *cache, const upb_MessageDef *message, bjvm_error *error);

/* The same by full name (`size` bytes). NULL with PLAN_UNBOUND when the pool has no such type. */
BJVM_API const bjvm_plan *bjvm_cache_find(bjvm_cache *cache, const char *full_name, size_t size,
                                          bjvm_error *error);

/* The registry over the pool, for bjvm_encode_options.registry and bjvm_decode_options.registry: every
 * type and extension of the pool resolves. Lives as long as the cache. */
BJVM_API const bjvm_registry *bjvm_cache_registry(bjvm_cache *cache);

/* Tells the cache the greatest max_depth its registry is used with, if that is more than a few times
 * BJVM_DEFAULT_MAX_DEPTH: the binary content of an Any is then read to the depth this needs (three levels for
 * one of Struct; at most 65535). upb reads binary by recursion, about 400 bytes of stack a level. Any
 * thread. */
BJVM_API void bjvm_cache_set_max_depth(bjvm_cache *cache, uint32_t max_depth);

/* How many message types have been compiled so far. */
BJVM_API size_t bjvm_cache_size(const bjvm_cache *cache);

/* Whether the plan of `message` has been compiled. */
BJVM_API bool bjvm_cache_has(const bjvm_cache *cache, const upb_MessageDef *message);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_CACHE_H_ */
