/* planc compile, dump and verify: the commands about plan files.
 *
 * descriptor_set.c loads descriptor sets, compile.c compiles, vm/image.c loads, verifies and lists. Invariant: what compile writes has been read
 * back and verified.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bjvm/buffer.h"
#include "bjvm/compile.h"
#include "bjvm/plan.h"
#include "cli.h"
#include "plan.h"

static int usage_error(const bjvmi_options *options, const char *what) {
  bjvmi_report("planc", "%s (see planc %s --help)", what, options->command);
  return BJVMI_EXIT_BAD_USAGE;
}

static bool compile_from(const bjvmi_descriptors *schema, const bjvmi_options *options, upb_Arena *arena,
                         const void **data, size_t *size, const bjvm_image **image) {
  const upb_MessageDef **roots =
      (const upb_MessageDef **)upb_Arena_Malloc(arena, options->type_count * sizeof(upb_MessageDef *));
  bjvm_error error = {.code = BJVM_OUT_OF_MEMORY};
  bool ok = roots != NULL;
  for (size_t i = 0; ok && i < options->type_count; i++) {
    roots[i] = bjvmi_descriptors_find(schema, options->types[i]);
    if (!roots[i]) return false;
  }
  uint32_t flags = options->extensions ? BJVM_COMPILE_EXTENSIONS : 0;
  ok = ok && bjvm_compile(roots, options->type_count, flags, arena, data, size, &error) == BJVM_OK &&
       bjvm_image_load(*data, *size, arena, image, &error) == BJVM_OK;
  if (!ok) bjvmi_report_error(schema->name, &error, NULL, 0);
  return ok;
}

bool bjvmi_compile_types(const bjvmi_options *options, upb_Arena *arena, const void **data, size_t *size,
                         const bjvm_image **image) {
  bjvmi_descriptors schema;
  bool ok = bjvmi_descriptors_open(&schema, options->descriptor_set) &&
            compile_from(&schema, options, arena, data, size, image);
  bjvmi_descriptors_close(&schema);
  return ok;
}

/* -- compile ---------------------------------------------------------------------------------------------------- */

static void print_stats(const bjvm_image *image, size_t size) {
  fprintf(stderr,
          "roots %u\nmessages %u\nfields %u\nnames %u\nenums %u\nenum values %u\nextensions %u\n"
          "name bytes %u\nbytes %zu\n",
          (unsigned)image->root_count, (unsigned)image->message_count, (unsigned)image->word_count,
          (unsigned)image->key_count, (unsigned)image->enum_count, (unsigned)image->value_count,
          (unsigned)image->extension_count, (unsigned)image->names_size, size);
}

int bjvmi_cmd_compile(const bjvmi_options *options) {
  if (options->file_count) return usage_error(options, "compile takes no FILE; name types with --type");
  if (!options->descriptor_set) return usage_error(options, "--descriptor-set is missing");
  if (!options->type_count) return usage_error(options, "--type is missing");
  bool standard = !options->output || strcmp(options->output, "-") == 0;
  if (standard && isatty(STDOUT_FILENO)) {
    return usage_error(options, "a plan file is binary and is not written to a terminal; use -o FILE");
  }
  upb_Arena *arena = upb_Arena_New();
  const void *data;
  size_t size;
  const bjvm_image *image;
  bool ok = arena && bjvmi_compile_types(options, arena, &data, &size, &image) &&
            bjvmi_file_write(options->output, (const char *)data, size);
  if (ok && options->stats) print_stats(image, size);
  if (arena) upb_Arena_Free(arena);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}

/* -- dump ------------------------------------------------------------------------------------------------------- */

static bool append(void *context, const char *text, size_t size) {
  bjvm_output *out = (bjvm_output *)context;
  if (out->capacity - out->size < size && !out->grow(out, size)) return false;
  memcpy(out->data + out->size, text, size);
  out->size += size;
  return true;
}

static bool print_listing(const bjvm_image *image, const bjvmi_options *options) {
  bjvm_output out = bjvm_output_heap();
  bool ok = bjvm_image_dump(image, append, &out);
  if (!ok) bjvmi_report("planc", "out of memory");
  ok = ok && bjvmi_file_write(options->output, out.data, out.size);
  bjvm_output_free(&out);
  return ok;
}

static bool load_file(bjvmi_file *file, const char *path, upb_Arena *arena, const bjvm_image **image) {
  bjvm_error error;
  if (!bjvmi_file_read(file, path)) return false;
  if (bjvm_image_load(file->data, file->size, arena, image, &error) == BJVM_OK) return true;
  char where[64] = "";
  if (error.code == BJVM_PLAN_CORRUPT) snprintf(where, sizeof where, "byte %zu, ", error.offset);
  bjvmi_report(file->name, "%s (%s%s)", error.message[0] ? error.message : bjvm_status_text(error.code),
               where, bjvm_status_name(error.code));
  return false;
}

int bjvmi_cmd_dump(const bjvmi_options *options) {
  bool schema = options->descriptor_set || options->type_count;
  if (schema && options->file_count)
    return usage_error(options, "give FILE.bjp or --descriptor-set, not both");
  if (schema && !options->descriptor_set) return usage_error(options, "--descriptor-set is missing");
  if (schema && !options->type_count) return usage_error(options, "--type is missing");
  if (options->file_count > 1) return usage_error(options, "more than one FILE");
  upb_Arena *arena = upb_Arena_New();
  const void *data;
  size_t size;
  const bjvm_image *image;
  bjvmi_file file = {0};
  bool ok = arena != NULL;
  if (ok && schema) ok = bjvmi_compile_types(options, arena, &data, &size, &image);
  if (ok && !schema) ok = load_file(&file, options->files[0], arena, &image);
  ok = ok && print_listing(image, options);
  bjvmi_file_free(&file);
  if (arena) upb_Arena_Free(arena);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}

/* -- verify ----------------------------------------------------------------------------------------------------- */

static bool verify_file(const char *path) {
  upb_Arena *arena = upb_Arena_New();
  const bjvm_image *image;
  bjvmi_file file = {0};
  bool ok = arena && load_file(&file, path, arena, &image);
  if (ok) printf("%s: ok, %u messages, %zu bytes\n", file.name, (unsigned)image->message_count, file.size);
  bjvmi_file_free(&file);
  if (arena) upb_Arena_Free(arena);
  return ok;
}

int bjvmi_cmd_verify(const bjvmi_options *options) {
  if (!options->file_count) return usage_error(options, "FILE.bjp is missing");
  bool ok = true;
  for (size_t i = 0; i < options->file_count; i++) ok = verify_file(options->files[i]) && ok;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    bjvmi_report("<stdout>", "cannot write");
    ok = false;
  }
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}
