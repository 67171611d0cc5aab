/* The registry over a DefPool: what an Any or an extension name in a text refers to.
 *
 * The VMs call these functions through bjvm_registry. Names are looked up in the pool's own tables, which are
 * only read, and what they lead to in the cache (cache.c). Extensions are compiled and bound one by one, when
 * first met, and found again by mini table without a lock. Also upb's binary codec for the content of an Any,
 * which vm must not link by itself; wire_read.c reads ahead of it.
 */
#include <stddef.h>
#include <string.h>

#include "bjvm/compile.h"
#include "cache_impl.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"
#include "wire_read.h"

/* -- Messages ------------------------------------------------------------------------------------------- */

static const bjvm_plan *find_message(void *context, const char *full_name, size_t size, bjvm_status *status) {
  bjvm_error error;
  const bjvm_plan *plan = bjvm_cache_find((bjvm_cache *)context, full_name, size, &error);
  if (!plan && error.code != BJVM_PLAN_UNBOUND) *status = error.code; /* UNBOUND: there is no such type */
  return plan;
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

/* The lock is held. */
static const bjvm_extension *bind_extension(bjvm_cache *cache, const upb_FieldDef *field, const void *data,
                                            size_t size, bjvm_status *status) {
  bjvm_error error;
  bjvmi_binding *binding = bjvmi_cache_bind(cache, data, size, &error);
  if (!binding) {
    *status = error.code;
    return NULL;
  }
  const upb_MiniTableExtension *table = upb_FieldDef_MiniTableExtension(field);
  const bjvm_extension *extension = bjvmi_bind_extension(binding, 0, table, status);
  if (extension && !bjvmi_pointer_table_add(&cache->extensions, table, extension, cache->arena)) {
    *status = BJVM_OUT_OF_MEMORY;
    return NULL;
  }
  return extension;
}

static const bjvm_extension *create_extension(bjvm_cache *cache, const upb_FieldDef *field,
                                              bjvm_status *status) {
  upb_Arena *scratch = upb_Arena_New();
  *status = BJVM_OUT_OF_MEMORY;
  if (!scratch) return NULL;
  const void *data;
  size_t size;
  bjvm_error error;
  const bjvm_extension *extension = NULL;
  *status = bjvm_compile_extension(field, scratch, &data, &size, &error);
  if (*status == BJVM_OK) extension = bind_extension(cache, field, data, size, status);
  upb_Arena_Free(scratch);
  return extension;
}

static const bjvm_extension *get_extension(bjvm_cache *cache, const upb_FieldDef *field,
                                           bjvm_status *status) {
  const void *key = upb_FieldDef_MiniTableExtension(field);
  const void *found = bjvmi_pointer_table_get(&cache->extensions, key);
  if (found) return (const bjvm_extension *)found;
  pthread_mutex_lock(&cache->lock);
  found = bjvmi_pointer_table_get(&cache->extensions, key);
  if (!found) found = create_extension(cache, field, status);
  pthread_mutex_unlock(&cache->lock);
  return (const bjvm_extension *)found;
}

static const bjvm_extension *find_extension(void *context, const char *full_name, size_t size,
                                            bjvm_status *status) {
  bjvm_cache *cache = (bjvm_cache *)context;
  const upb_FieldDef *field = upb_DefPool_FindExtensionByNameWithSize(cache->pool, full_name, size);
  return field ? get_extension(cache, field, status) : NULL;
}

static const bjvm_extension *find_extension_by_table(void *context, const upb_MiniTableExtension *table,
                                                     bjvm_status *status) {
  bjvm_cache *cache = (bjvm_cache *)context;
  const void *found = bjvmi_pointer_table_get(&cache->extensions, table);
  if (found) return (const bjvm_extension *)found;
  /* Asked of the extension registry first: the pool itself asserts that it knows the table. */
  const upb_ExtensionRegistry *known = upb_DefPool_ExtensionRegistry(cache->pool);
  const upb_MiniTable *extendee = upb_MiniTableExtension_Extendee(table);
  if (upb_ExtensionRegistry_Lookup(known, extendee, upb_MiniTableExtension_Number(table)) != table)
    return NULL;
  return get_extension(cache, upb_DefPool_FindExtensionByMiniTable(cache->pool, table), status);
}

/* -- The binary codec ----------------------------------------------------------------------------------- */

static bjvm_status decode(void *context, const char *data, size_t size, upb_Message *msg,
                          const upb_MiniTable *table, upb_Arena *arena) {
  const char *rest = bjvmi_wire_read(data, size, msg, table);
  size -= (size_t)(rest - data);
  if (size == 0) return BJVM_OK;
  bjvm_cache *cache = (bjvm_cache *)context;
  uint32_t options = __atomic_load_n(&cache->decode_options, __ATOMIC_RELAXED);
  const upb_ExtensionRegistry *known = upb_DefPool_ExtensionRegistry(cache->pool);
  /* The bytes outlive what is made of them: an Any in an Any is not copied once a level. */
  options |= kUpb_DecodeOption_AliasString;
  switch (upb_Decode(rest, size, msg, table, known, (int)options, arena)) {
    case kUpb_DecodeStatus_Ok: return BJVM_OK;
    case kUpb_DecodeStatus_OutOfMemory: return BJVM_OUT_OF_MEMORY;
    case kUpb_DecodeStatus_MaxDepthExceeded: return BJVM_DEPTH;
    default: return BJVM_ANY_CONTENT;
  }
}

static bjvm_status encode_status(upb_EncodeStatus status) {
  switch (status) {
    case kUpb_EncodeStatus_Ok: return BJVM_OK;
    case kUpb_EncodeStatus_OutOfMemory: return BJVM_OUT_OF_MEMORY;
    case kUpb_EncodeStatus_MaxDepthExceeded: return BJVM_DEPTH;
    default: return BJVM_ANY_CONTENT;
  }
}

enum { ENCODE_BLOCK = 1024 }; /* bytes on the C stack, enough for most contents */

/* upb's encoder wants an arena that can grow, and stops the program where there is none: a fixed one gets a copy. */
static bjvm_status encode_into_fixed(const upb_Message *msg, const upb_MiniTable *table, int options,
                                     upb_Arena *arena, char **data, size_t *size) {
  char *bytes;
  _Alignas(max_align_t) char block[ENCODE_BLOCK];
  upb_Arena *growing = upb_Arena_Init(block, sizeof block, &upb_alloc_global);
  if (!growing) return BJVM_OUT_OF_MEMORY;
  bjvm_status status = encode_status(upb_Encode(msg, table, options, growing, &bytes, size));
  if (status == BJVM_OK) {
    *data = (char *)upb_Arena_Malloc(arena, *size);
    if (!*data) status = BJVM_OUT_OF_MEMORY;
  }
  if (status == BJVM_OK && *size) memcpy(*data, bytes, *size);
  upb_Arena_Free(growing);
  return status;
}

/* Deterministic, so that equal texts give equal bytes: a map inside an Any would otherwise stand in hash
 * order. upb recurses on the C stack: the depth is the one that reading uses (bjvm_cache_set_max_depth). */
static bjvm_status encode(void *context, const upb_Message *msg, const upb_MiniTable *table, upb_Arena *arena,
                          char **data, size_t *size) {
  bjvm_cache *cache = (bjvm_cache *)context;
  uint16_t depth = (uint16_t)(__atomic_load_n(&cache->decode_options, __ATOMIC_RELAXED) >> 16);
  uint32_t options = upb_EncodeOptions_MaxDepth(depth) | kUpb_EncodeOption_Deterministic;
  if (!upb_Arena_GetUpbAlloc(arena)) return encode_into_fixed(msg, table, (int)options, arena, data, size);
  return encode_status(upb_Encode(msg, table, (int)options, arena, data, size));
}

bjvm_registry bjvmi_registry_make(bjvm_cache *cache) {
  return (bjvm_registry){.size = sizeof(bjvm_registry),
                         .context = cache,
                         .find_message = find_message,
                         .find_extension = find_extension,
                         .find_extension_by_table = find_extension_by_table,
                         .decode = decode,
                         .encode = encode};
}
