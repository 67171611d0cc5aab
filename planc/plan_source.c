/* Plans for planc encode and decode: from a descriptor set, from a plan file, or from both.
 *
 * A descriptor set gives everything through a plan cache. A plan file gives the plan; its mini descriptors
 * give the mini tables and a registry for Any and extensions, or a descriptor set does. Invariant: an error
 * line has been printed whenever opening fails, and what was opened until then is closed by
 * bjvmi_source_close.
 */
#include <stdio.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "cli.h"
#include "plan.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

uint16_t bjvmi_binary_depth(const bjvmi_options *options) {
  uint32_t depth = options->max_depth ? options->max_depth : BJVM_DEFAULT_MAX_DEPTH;
  depth = depth * BJVMI_BINARY_LEVELS + 1;
  return (uint16_t)(depth < BJVMI_MAX_DEPTH ? depth : BJVMI_MAX_DEPTH);
}

static bool out_of_memory(void) {
  bjvmi_report("planc", "out of memory");
  return false;
}

static bool failed(const char *where, const bjvm_error *error) {
  bjvmi_report_error(where, error, NULL, 0);
  return false;
}

/* -- From a descriptor set ------------------------------------------------------------------------------ */

static bool open_schema(bjvmi_source *s) {
  if (!bjvmi_descriptors_open(&s->schema, s->options->descriptor_set)) return false;
  s->cache = bjvm_cache_new(s->schema.pool);
  if (!s->cache) return out_of_memory();
  if (s->options->max_depth) bjvm_cache_set_max_depth(s->cache, s->options->max_depth);
  s->extensions = upb_DefPool_ExtensionRegistry(s->schema.pool);
  s->registry = bjvm_cache_registry(s->cache);
  return true;
}

static bool plan_of_schema(bjvmi_source *s) {
  bjvm_error error;
  const upb_MessageDef *def = bjvmi_descriptors_find(&s->schema, s->options->types[0]);
  if (!def) return false;
  s->type = upb_MessageDef_FullName(def);
  s->table = upb_MessageDef_MiniTable(def);
  s->plan = bjvm_cache_get(s->cache, def, &error);
  return s->plan ? true : failed(s->schema.name, &error);
}

/* -- From a plan file ----------------------------------------------------------------------------------- */

bool bjvmi_image_open(bjvmi_file *file, const char *path, upb_Arena *arena, const bjvm_image **image) {
  bjvm_error error;
  if (!bjvmi_file_read(file, path)) return false;
  if (bjvm_image_load(file->data, file->size, arena, image, &error) == BJVM_OK &&
      bjvmi_verify_mini(*image, &error) == BJVM_OK)
    return true;
  char where[64] = "";
  if (error.code == BJVM_PLAN_CORRUPT) snprintf(where, sizeof where, "byte %zu, ", error.offset);
  bjvmi_report(file->name, "%s (%s%s)", error.message[0] ? error.message : bjvm_status_text(error.code),
               where, bjvm_status_name(error.code));
  return false;
}

/* The type asked for, or the only one the file was compiled for. NULL after an error line. */
static const char *choose_type(bjvmi_source *s, const bjvm_image *image) {
  size_t size;
  if (s->options->type_count) return s->options->types[0] + (s->options->types[0][0] == '.');
  size_t count = bjvm_image_root_count(image);
  if (count != 1) {
    bjvmi_report(s->file.name, "the plan has %zu message types; name one with --type", count);
    return NULL;
  }
  const char *name = bjvm_image_root_name(image, 0, &size);
  char *copy = (char *)upb_Arena_Malloc(s->arena, size + 1);
  if (!copy) {
    out_of_memory();
    return NULL;
  }
  memcpy(copy, name, size);
  copy[size] = 0;
  return copy;
}

static void unknown_type(const bjvmi_source *s, const bjvm_image *image) {
  bjvmi_nearest nearest = {.word = s->type};
  static char roots[16][256]; /* candidates must outlive the search */
  for (size_t i = 0; i < 16 && i < bjvm_image_root_count(image); i++) {
    size_t size;
    const char *name = bjvm_image_root_name(image, i, &size);
    snprintf(roots[i], sizeof roots[i], "%.*s", (int)size, name);
    bjvmi_nearest_offer(&nearest, roots[i]);
  }
  bjvmi_report(s->file.name, "no message type '%s' in the plan%s", s->type, bjvmi_nearest_hint(&nearest, ""));
}

/* The registry that the VMs see passes on to that of the file, and adds upb's binary codec. */
static const bjvm_plan *find_message(void *context, const char *name, size_t size, bjvm_status *status) {
  const bjvmi_source *s = (const bjvmi_source *)context;
  return s->inner->find_message(s->inner->context, name, size, status);
}

static const bjvm_extension *find_extension(void *context, const char *name, size_t size,
                                            bjvm_status *status) {
  const bjvmi_source *s = (const bjvmi_source *)context;
  return s->inner->find_extension(s->inner->context, name, size, status);
}

static const bjvm_extension *find_by_table(void *context, const upb_MiniTableExtension *table,
                                           bjvm_status *status) {
  const bjvmi_source *s = (const bjvmi_source *)context;
  return s->inner->find_extension_by_table(s->inner->context, table, status);
}

static bjvm_status decode_binary(void *context, const char *data, size_t size, upb_Message *msg,
                                 const upb_MiniTable *table, upb_Arena *arena) {
  const bjvmi_source *s = (const bjvmi_source *)context;
  uint32_t options = upb_DecodeOptions_MaxDepth(bjvmi_binary_depth(s->options));
  switch (upb_Decode(data, size, msg, table, s->extensions, (int)options, arena)) {
    case kUpb_DecodeStatus_Ok: return BJVM_OK;
    case kUpb_DecodeStatus_OutOfMemory: return BJVM_OUT_OF_MEMORY;
    default: return BJVM_ANY_CONTENT;
  }
}

static bjvm_status encode_binary(void *context, const upb_Message *msg, const upb_MiniTable *table,
                                 upb_Arena *arena, char **data, size_t *size) {
  const bjvmi_source *s = (const bjvmi_source *)context;
  uint32_t options =
      upb_EncodeOptions_MaxDepth(bjvmi_binary_depth(s->options)) | kUpb_EncodeOption_Deterministic;
  switch (upb_Encode(msg, table, (int)options, arena, data, size)) {
    case kUpb_EncodeStatus_Ok: return BJVM_OK;
    case kUpb_EncodeStatus_OutOfMemory: return BJVM_OUT_OF_MEMORY;
    default: return BJVM_ANY_CONTENT;
  }
}

static bool make_extensions(bjvmi_source *s, const bjvm_tables *tables) {
  upb_ExtensionRegistry *known = upb_ExtensionRegistry_New(s->arena);
  if (!known) return out_of_memory();
  for (size_t i = 0; i < bjvm_tables_extension_count(tables); i++) {
    const upb_MiniTableExtension *e = bjvm_tables_extension(tables, i);
    if (e && upb_ExtensionRegistry_Add(known, e) == kUpb_ExtensionRegistryStatus_OutOfMemory)
      return out_of_memory();
  }
  s->extensions = known;
  return true;
}

static bool make_registry(bjvmi_source *s, const bjvm_tables *tables) {
  bjvm_error error;
  s->inner = (bjvm_registry *)upb_Arena_Malloc(s->arena, 2 * sizeof *s->inner);
  if (!s->inner) return out_of_memory();
  s->own = s->inner + 1;
  if (bjvm_tables_registry(tables, s->options->encode_flags, s->arena, s->inner, &error) != BJVM_OK)
    return failed(s->file.name, &error);
  *s->own = (bjvm_registry){.size = sizeof *s->own,
                            .context = s,
                            .find_message = find_message,
                            .find_extension = find_extension,
                            .find_extension_by_table = find_by_table,
                            .decode = decode_binary,
                            .encode = encode_binary};
  s->registry = s->own;
  return make_extensions(s, tables);
}

/* Everything from the file. */
static bool plan_of_image(bjvmi_source *s, const bjvm_image *image) {
  const bjvm_tables *tables;
  bjvm_error error;
  bjvm_status status = BJVM_OK;
  if (!bjvm_image_has_tables(image)) {
    bjvmi_report(s->file.name, "the plan has no mini descriptors (planc compile --mini-descriptors); "
                               "without them --descriptor-set is needed");
    return false;
  }
  if (bjvm_image_build_tables(image, s->arena, &tables, &error) != BJVM_OK)
    return failed(s->file.name, &error);
  if (!make_registry(s, tables)) return false;
  s->plan = s->inner->find_message(s->inner->context, s->type, strlen(s->type), &status);
  if (!s->plan) {
    unknown_type(s, image);
    return false;
  }
  s->table = bjvm_plan_table(s->plan);
  return true;
}

/* The plan from the file, the rest from the set. */
static bool plan_of_both(bjvmi_source *s, const bjvm_image *image) {
  bjvm_error error;
  const upb_MessageDef *def = bjvmi_descriptors_find(&s->schema, s->type);
  if (!def) return false;
  s->table = upb_MessageDef_MiniTable(def);
  if (bjvm_image_bind(image, s->type, s->table, s->arena, &s->plan, &error) != BJVM_OK)
    return failed(s->file.name, &error);
  return bjvm_plan_prepare(s->plan, s->options->encode_flags, s->arena) == BJVM_OK || out_of_memory();
}

static bool open_plan(bjvmi_source *s) {
  const bjvm_image *image;
  s->arena = upb_Arena_New();
  if (!s->arena) return out_of_memory();
  if (!bjvmi_image_open(&s->file, s->options->plan, s->arena, &image)) return false;
  s->type = choose_type(s, image);
  if (!s->type) return false;
  return s->options->descriptor_set ? plan_of_both(s, image) : plan_of_image(s, image);
}

/* -- Both ----------------------------------------------------------------------------------------------- */

bool bjvmi_source_open(bjvmi_source *s, const bjvmi_options *options) {
  *s = (bjvmi_source){.options = options};
  if (options->descriptor_set && !open_schema(s)) return false;
  return options->plan ? open_plan(s) : plan_of_schema(s);
}

void bjvmi_source_close(bjvmi_source *s) {
  if (s->arena) upb_Arena_Free(s->arena);
  bjvmi_file_free(&s->file);
  bjvm_cache_free(s->cache);
  bjvmi_descriptors_close(&s->schema);
}
