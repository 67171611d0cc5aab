/* The plan cache: a plan for each message type of a DefPool, compiled when it is first asked for or first
 * met.
 *
 * Each type is compiled alone (BJVM_COMPILE_SHALLOW) and bound with two callbacks, through which the VMs
 * reach back: link_nested finds the plan of a type that another one refers to, make_variant prepares the
 * words for a set of options. compile.c, image.c and bind.c do the work; pointer_table.h is what the hit path
 * reads. Invariant: the lock is taken by the public functions and the two callbacks, never by what they call
 * (creating a plan meets no other type), and what is published never changes.
 */
#include "bjvm/cache.h"

#include <stdlib.h>
#include <string.h>

#include "bjvm/compile.h"
#include "cache_impl.h"
#include "upb/wire/decode.h"

enum {
  /* Levels of binary protobuf that one level of JSON can stand for: Struct, its map entry, Value. */
  BINARY_LEVELS = 3,
  /* Depth for the content of an Any unless bjvm_cache_set_max_depth asks for more. upb's decoder recurses on
   * the C stack, measured at about 400 bytes a level: 1000 levels fit into the small stacks that some systems
   * give to threads (512 KB), and hold three times what BJVM_DEFAULT_MAX_DEPTH needs. */
  BINARY_DEPTH = 1000,
  BINARY_DEPTH_MAX = 65535, /* upb's option has 16 bits */
};

void bjvmi_cache_fail(bjvm_error *error, bjvm_status code, const char *text, const char *name, size_t size) {
  if (!error) return;
  memset(error, 0, sizeof *error);
  error->code = code;
  size_t length = strlen(text); /* our own sentences, all shorter than the field */
  memcpy(error->message, text, length);
  if (!name) return;
  size_t room = sizeof error->message - length - 4;
  size_t cut = size < room ? size : room;
  error->message[length] = ' ';
  error->message[length + 1] = '\'';
  memcpy(error->message + length + 2, name, cut);
  error->message[length + 2 + cut] = '\'';
}

/* -- Making plans (under the lock) ---------------------------------------------------------------------- */

static bjvm_cache *cache_of(const bjvmi_binding *binding) { return (bjvm_cache *)binding->context; }

static const bjvm_plan *link_nested(bjvmi_binding *binding, uint32_t message, const upb_MiniTable *table,
                                    bjvm_status *status);
static const bjvmi_variant *make_variant(const bjvm_plan *plan, uint32_t flags);

bjvmi_binding *bjvmi_cache_bind(bjvm_cache *cache, const void *data, size_t size, bjvm_error *error) {
  void *bytes = upb_Arena_Malloc(cache->arena, size);
  const bjvm_image *image;
  bjvmi_binding *binding = NULL;
  if (bytes) {
    memcpy(bytes, data, size);
    if (bjvm_image_load(bytes, size, cache->arena, &image, error) != BJVM_OK) return NULL;
    binding = bjvmi_binding_new(image, cache->arena);
  }
  if (!binding) {
    bjvmi_cache_fail(error, BJVM_OUT_OF_MEMORY, "no memory for a plan", NULL, 0);
    return NULL;
  }
  binding->link = link_nested;
  binding->make_variant = make_variant;
  binding->context = cache;
  return binding;
}

/* The binding of a type compiled alone. What the compiler needs besides its result goes with the scratch
 * arena, and so does everything of a type that cannot be compiled, however often it is asked for. */
static bjvmi_binding *compile_alone(bjvm_cache *cache, const upb_MessageDef *message, bjvm_error *error) {
  upb_Arena *scratch = upb_Arena_New();
  if (!scratch) {
    bjvmi_cache_fail(error, BJVM_OUT_OF_MEMORY, "no memory to compile a plan", NULL, 0);
    return NULL;
  }
  const void *data;
  size_t size;
  bjvmi_binding *binding = NULL;
  if (bjvm_compile(&message, 1, BJVM_COMPILE_SHALLOW, scratch, &data, &size, error) == BJVM_OK) {
    binding = bjvmi_cache_bind(cache, data, size, error);
  }
  upb_Arena_Free(scratch);
  return binding;
}

/* A map entry has no JSON form of its own, and its words have no names. Types of other pools are none of
 * ours. */
static bool is_ours(const bjvm_cache *cache, const upb_MessageDef *message) {
  return !upb_MessageDef_IsMapEntry(message) &&
         upb_DefPool_FindMessageByName(cache->pool, upb_MessageDef_FullName(message)) == message;
}

static const bjvm_plan *create_plan(bjvm_cache *cache, const upb_MessageDef *message, bjvm_error *error) {
  const char *name = upb_MessageDef_FullName(message);
  if (!is_ours(cache, message)) {
    bjvmi_cache_fail(error, BJVM_PLAN_UNBOUND, "not a message type of the cache's pool:", name, strlen(name));
    return NULL;
  }
  bjvmi_binding *binding = compile_alone(cache, message, error);
  if (!binding) return NULL;
  uint32_t root = bjvmi_le32(binding->image->roots[0]);
  bjvm_status status = BJVM_OK;
  bjvmi_misfit bad;
  const bjvm_plan *plan = bjvmi_bind_message(binding, root, upb_MessageDef_MiniTable(message), &status, &bad);
  if (!plan) {
    bjvmi_cache_fail(error, status, "the plan does not bind to the mini table of", name, strlen(name));
    return NULL;
  }
  plan = bjvmi_slot_publish(&binding->slots[root], plan);
  if (!bjvmi_pointer_table_add(&cache->plans, message, plan, cache->arena)) {
    bjvmi_cache_fail(error, BJVM_OUT_OF_MEMORY, "no memory for a plan", NULL, 0);
    return NULL;
  }
  return plan;
}

static const bjvm_plan *get_locked(bjvm_cache *cache, const upb_MessageDef *message, bjvm_error *error) {
  const bjvm_plan *plan = (const bjvm_plan *)bjvmi_pointer_table_get(&cache->plans, message);
  return plan ? plan : create_plan(cache, message, error);
}

/* -- Called by the VMs ---------------------------------------------------------------------------------- */

/* A type that is only named in the image: the plan it has in the cache. */
static const bjvm_plan *link_external(bjvmi_binding *binding, const bjvmi_message *record,
                                      const upb_MiniTable *table, bjvm_status *status) {
  bjvm_cache *cache = cache_of(binding);
  const char *name = binding->image->names + bjvmi_le32(record->name);
  const upb_MessageDef *def =
      upb_DefPool_FindMessageByNameWithSize(cache->pool, name, bjvmi_le16(record->name_size));
  if (!def) {
    *status = BJVM_PLAN_UNBOUND;
    return NULL;
  }
  if (upb_MessageDef_MiniTable(def) != table) {
    *status = BJVM_PLAN_MISMATCH; /* a message of another pool, or a generated table of the same name */
    return NULL;
  }
  bjvm_error error;
  const bjvm_plan *plan = get_locked(cache, def, &error);
  if (!plan) *status = error.code;
  return plan;
}

static const bjvm_plan *link_locked(bjvmi_binding *binding, uint32_t message, const upb_MiniTable *table,
                                    bjvm_status *status) {
  bjvmi_slot *slot = &binding->slots[message];
  const bjvm_plan *plan = bjvmi_slot_load(slot);
  if (plan) return plan; /* another thread was first */
  const bjvmi_message *record = &binding->image->messages[message];
  bjvmi_misfit bad;
  plan = record->flags & BJVMI_MESSAGE_EXTERNAL ? link_external(binding, record, table, status)
                                                : bjvmi_bind_message(binding, message, table, status, &bad);
  return plan ? bjvmi_slot_publish(slot, plan) : NULL;
}

static const bjvm_plan *link_nested(bjvmi_binding *binding, uint32_t message, const upb_MiniTable *table,
                                    bjvm_status *status) {
  bjvm_cache *cache = cache_of(binding);
  pthread_mutex_lock(&cache->lock);
  const bjvm_plan *plan = link_locked(binding, message, table, status);
  pthread_mutex_unlock(&cache->lock);
  return plan;
}

static const bjvmi_variant *make_variant(const bjvm_plan *plan, uint32_t flags) {
  bjvm_cache *cache = cache_of(plan->binding);
  pthread_mutex_lock(&cache->lock);
  const bjvmi_variant *variant = bjvmi_variant_build(plan, flags, cache->arena); /* or another thread's */
  pthread_mutex_unlock(&cache->lock);
  return variant;
}

/* -- Public --------------------------------------------------------------------------------------------- */

bjvm_cache *bjvm_cache_new(const upb_DefPool *pool) {
  bjvm_cache *cache = pool ? (bjvm_cache *)calloc(1, sizeof *cache) : NULL;
  if (!cache) return NULL;
  cache->arena = upb_Arena_New();
  if (!cache->arena || pthread_mutex_init(&cache->lock, NULL) != 0) {
    if (cache->arena) upb_Arena_Free(cache->arena);
    free(cache);
    return NULL;
  }
  cache->pool = pool;
  cache->registry = bjvmi_registry_make(cache);
  bjvm_cache_set_max_depth(cache, BJVM_DEFAULT_MAX_DEPTH);
  return cache;
}

void bjvm_cache_free(bjvm_cache *cache) {
  if (!cache) return;
  pthread_mutex_destroy(&cache->lock);
  upb_Arena_Free(cache->arena);
  free(cache);
}

void bjvm_cache_set_max_depth(bjvm_cache *cache, uint32_t max_depth) {
  uint32_t depth =
      max_depth < BINARY_DEPTH_MAX / BINARY_LEVELS ? max_depth * BINARY_LEVELS : BINARY_DEPTH_MAX;
  if (!cache) return;
  if (depth < BINARY_DEPTH) depth = BINARY_DEPTH;
  __atomic_store_n(&cache->decode_options, upb_DecodeOptions_MaxDepth((uint16_t)depth), __ATOMIC_RELAXED);
}

static const bjvm_plan *null_argument(bjvm_error *error) {
  bjvmi_cache_fail(error, BJVM_BAD_ARGUMENT, "an argument is NULL", NULL, 0);
  return NULL;
}

const bjvm_plan *bjvm_cache_get(bjvm_cache *cache, const upb_MessageDef *message, bjvm_error *error) {
  if (!cache || !message) return null_argument(error);
  const bjvm_plan *plan = (const bjvm_plan *)bjvmi_pointer_table_get(&cache->plans, message);
  if (plan) return plan;
  pthread_mutex_lock(&cache->lock);
  plan = get_locked(cache, message, error);
  pthread_mutex_unlock(&cache->lock);
  return plan;
}

/* The plan of a name that was asked for before. Looking it up in the pool, which hashes and compares with more care, and
 * then in `plans` takes three times as long. */
static const bjvmi_named_plan *find_named(const bjvm_cache *cache, const void *key) {
  return key ? (const bjvmi_named_plan *)bjvmi_pointer_table_get(&cache->names, key) : NULL;
}

/* Without memory for it the name is looked up in the pool again. */
static void remember_name(bjvm_cache *cache, const void *key, const char *name, const bjvm_plan *plan) {
  pthread_mutex_lock(&cache->lock);
  bjvmi_named_plan *named = NULL;
  if (!find_named(cache, key)) named = (bjvmi_named_plan *)upb_Arena_Malloc(cache->arena, sizeof *named);
  if (named) {
    *named = (bjvmi_named_plan){plan, name, strlen(name)};
    bjvmi_pointer_table_add(&cache->names, key, named, cache->arena);
  }
  pthread_mutex_unlock(&cache->lock);
}

const bjvm_plan *bjvm_cache_find(bjvm_cache *cache, const char *full_name, size_t size, bjvm_error *error) {
  if (!cache || !full_name) return null_argument(error);
  const void *key = bjvmi_cache_name_key(full_name, size);
  const bjvmi_named_plan *named = find_named(cache, key);
  if (named && named->size == size && memcmp(named->name, full_name, size) == 0) return named->plan;
  const upb_MessageDef *message = upb_DefPool_FindMessageByNameWithSize(cache->pool, full_name, size);
  if (!message) {
    bjvmi_cache_fail(error, BJVM_PLAN_UNBOUND, "the pool has no message type", full_name, size);
    return NULL;
  }
  const bjvm_plan *plan = bjvm_cache_get(cache, message, error);
  if (plan && key && !named) remember_name(cache, key, upb_MessageDef_FullName(message), plan);
  return plan;
}

const bjvm_registry *bjvm_cache_registry(bjvm_cache *cache) { return cache ? &cache->registry : NULL; }

size_t bjvm_cache_size(const bjvm_cache *cache) {
  return cache ? bjvmi_pointer_table_count(&cache->plans) : 0;
}

bool bjvm_cache_has(const bjvm_cache *cache, const upb_MessageDef *message) {
  return cache && message && bjvmi_pointer_table_get(&cache->plans, message) != NULL;
}
