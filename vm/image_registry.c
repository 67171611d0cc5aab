/* A registry over one plan file: Any and extensions without reflection.
 *
 * Everything in the file is bound to the mini tables that tables.c has built from it, in one binding, so that
 * the plans of nested types and of extensions find each other. The VMs call the functions below through
 * bjvm_registry. Kept: nothing is bound later, so that looking something up writes nothing and needs no lock.
 */
#include <string.h>

#include "bind.h"
#include "bjvm/codec.h"
#include "image.h"
#include "tables.h"

/* The context of the registry's functions. */
typedef struct image_registry {
  bjvmi_binding *binding;
  const bjvm_extension **extensions; /* by record; NULL: of a message that is not in the file */
} image_registry;

static const bjvm_plan *find_message(void *context, const char *full_name, size_t size, bjvm_status *status) {
  const image_registry *r = (const image_registry *)context;
  int index = bjvmi_image_find_name(r->binding->image, full_name, size);
  (void)status;
  return index < 0 ? NULL : bjvmi_slot_load(&r->binding->slots[index]);
}

static const bjvm_extension *find_extension(void *context, const char *full_name, size_t size,
                                            bjvm_status *status) {
  const image_registry *r = (const image_registry *)context;
  (void)status;
  for (uint32_t i = 0; i < r->binding->image->extension_count; i++) {
    const bjvm_extension *e = r->extensions[i];
    if (e && e->name_size == size && memcmp(e->name, full_name, size) == 0) return e;
  }
  return NULL;
}

static const bjvm_extension *find_extension_by_table(void *context, const upb_MiniTableExtension *table,
                                                     bjvm_status *status) {
  const image_registry *r = (const image_registry *)context;
  (void)status;
  for (uint32_t i = 0; i < r->binding->image->extension_count; i++)
    if (r->extensions[i] && r->extensions[i]->table == table) return r->extensions[i];
  return NULL;
}

/* -- Making one ----------------------------------------------------------------------------------------- */

static image_registry *registry_new(const bjvm_tables *tables, upb_Arena *arena) {
  size_t pointers = tables->image->extension_count * sizeof(void *);
  image_registry *r = (image_registry *)upb_Arena_Malloc(arena, sizeof *r + pointers);
  if (!r) return NULL;
  memset(r, 0, sizeof *r + pointers);
  r->extensions = (const bjvm_extension **)(r + 1);
  r->binding = bjvmi_binding_new(tables->image, arena);
  return r->binding ? r : NULL;
}

static bool bind_extensions(const image_registry *r, const bjvm_tables *tables, bjvm_status *status) {
  for (uint32_t i = 0; i < tables->image->extension_count; i++) {
    if (!tables->extensions[i]) continue;
    r->extensions[i] = bjvmi_bind_extension(r->binding, i, tables->extensions[i], status);
    if (!r->extensions[i]) return false;
  }
  return true;
}

/* The words of all plans for one set of options. */
static bool prepare(const image_registry *r, uint32_t flags, upb_Arena *arena) {
  const bjvm_image *image = r->binding->image;
  flags &= BJVMI_VARIANT_FLAGS;
  if (!flags) return true;
  for (uint32_t i = 0; i < image->message_count; i++) {
    const bjvm_plan *plan = r->binding->slots[i].plan;
    if (plan && !bjvmi_variant_build(plan, flags, arena)) return false;
  }
  for (uint32_t i = 0; i < image->extension_count; i++)
    if (r->extensions[i] && !bjvmi_variant_build(r->extensions[i]->plan, flags, arena)) return false;
  return true;
}

static bjvm_status fail(bjvm_error *error, bjvm_status status) {
  bjvmi_image_report(error, status, 0, NULL, 0, BJVMI_FAULT_NONE);
  return status;
}

bjvm_status bjvm_tables_registry(const bjvm_tables *tables, uint32_t encode_flags, upb_Arena *arena,
                                 bjvm_registry *registry, bjvm_error *error) {
  bjvm_status status = BJVM_OK;
  bjvmi_misfit bad;
  if (!tables || !arena || !registry || encode_flags & ~BJVMI_ENCODE_FLAGS)
    return fail(error, BJVM_BAD_ARGUMENT);
  image_registry *r = registry_new(tables, arena);
  if (!r) return fail(error, BJVM_OUT_OF_MEMORY);
  const upb_MiniTable *const *messages = (const upb_MiniTable *const *)tables->messages;
  if (!bjvmi_bind_all(r->binding, messages, &status, &bad) || !bind_extensions(r, tables, &status))
    return fail(error, status);
  if (!prepare(r, encode_flags, arena)) return fail(error, BJVM_OUT_OF_MEMORY);
  *registry = (bjvm_registry){.size = sizeof *registry,
                              .context = r,
                              .find_message = find_message,
                              .find_extension = find_extension,
                              .find_extension_by_table = find_extension_by_table};
  return BJVM_OK;
}
