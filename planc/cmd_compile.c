/* planc compile, dump and verify: the commands about plan files.
 *
 * descriptor_set.c loads descriptor sets (protoc.c makes them of .proto files), compile.c compiles,
 * vm/image.c loads, verifies and lists, emit.c writes. Invariant: what compile writes has been read back and
 * verified.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bjvm/buffer.h"
#include "bjvm/compile.h"
#include "bjvm/plan.h"
#include "cli.h"
#include "plan.h"

/* A plan that has been compiled. */
typedef struct product {
  bjvmi_descriptors schema;
  upb_Arena *arena;
  const void *data;
  size_t size;
  const bjvm_image *image;
} product;

static int usage_error(const bjvmi_options *options, const char *what) {
  bjvmi_report("planc", "%s (see planc %s --help)", what, options->command);
  return BJVMI_EXIT_BAD_USAGE;
}

/* -- compile -------------------------------------------------------------------------------------------- */

/* The schema: a descriptor set as given, or made of .proto files. */
static bool open_schema(bjvmi_descriptors *schema, const bjvmi_options *options) {
  char path[BJVMI_TEMPORARY_NAME];
  if (options->descriptor_set) return bjvmi_descriptors_open(schema, options->descriptor_set);
  *schema = (bjvmi_descriptors){0};
  if (!bjvmi_protoc_run(options, path)) return false;
  bool ok = bjvmi_descriptors_open(schema, path);
  unlink(path);
  schema->name = options->files[0];
  return ok;
}

static uint32_t compile_flags(const bjvmi_options *options) {
  return (options->extensions ? BJVM_COMPILE_EXTENSIONS : 0u) | (options->mini ? BJVM_COMPILE_MINI : 0u) |
         (options->abi == 32 ? BJVM_COMPILE_ABI32 : 0u) | (options->abi == 64 ? BJVM_COMPILE_ABI64 : 0u);
}

static bool compile_types(product *p, const bjvmi_options *options) {
  const upb_MessageDef **roots =
      (const upb_MessageDef **)upb_Arena_Malloc(p->arena, options->type_count * sizeof(upb_MessageDef *));
  bjvm_error error = {.code = BJVM_OUT_OF_MEMORY};
  bool ok = roots != NULL;
  for (size_t i = 0; ok && i < options->type_count; i++) {
    roots[i] = bjvmi_descriptors_find(&p->schema, options->types[i]);
    if (!roots[i]) return false;
  }
  ok = ok &&
       bjvm_compile(roots, options->type_count, compile_flags(options), p->arena, &p->data, &p->size,
                    &error) == BJVM_OK &&
       bjvm_image_load(p->data, p->size, p->arena, &p->image, &error) == BJVM_OK;
  if (!ok) bjvmi_report_error(p->schema.name, &error, NULL, 0);
  return ok;
}

/* Compiles what the options ask for. False after an error line. Close it in either case. */
static bool product_open(product *p, const bjvmi_options *options) {
  *p = (product){.arena = upb_Arena_New()};
  return p->arena && open_schema(&p->schema, options) && compile_types(p, options);
}

static void product_close(product *p) {
  bjvmi_descriptors_close(&p->schema);
  if (p->arena) upb_Arena_Free(p->arena);
}

/* Whether all files are .proto files. */
static bool are_protos(const bjvmi_options *options) {
  for (size_t i = 0; i < options->file_count; i++) {
    const char *dot = strrchr(options->files[i], '.');
    if (!dot || strcmp(dot, ".proto") != 0) return false;
  }
  return true;
}

/* What is wrong with the options of compile, or NULL. */
static const char *compile_fault(const bjvmi_options *options) {
  bool standard = !options->output || strcmp(options->output, "-") == 0;
  if (options->descriptor_set && options->file_count) return "give --descriptor-set or FILE.proto, not both";
  if (!options->descriptor_set && !options->file_count) return "--descriptor-set or FILE.proto is missing";
  if (!are_protos(options)) return "compile takes FILE.proto; name types with --type";
  if (!options->type_count) return "--type is missing";
  if (options->header && options->emit == BJVMI_EMIT_BLOB) return "--header goes with --emit=c or asm";
  if (standard && options->emit == BJVMI_EMIT_ASM) return "--emit=asm writes two files; use -o FILE";
  if (standard && options->depfile) return "--depfile needs -o FILE";
  if (standard && options->emit == BJVMI_EMIT_BLOB && isatty(STDOUT_FILENO))
    return "a plan file is binary and is not written to a terminal; use -o FILE";
  return NULL;
}

int bjvmi_cmd_compile(const bjvmi_options *options) {
  const char *fault = compile_fault(options);
  if (fault) return usage_error(options, fault);
  product p;
  bool ok = product_open(&p, options) && bjvmi_emit_plan(options, &p.schema, p.image, p.data, p.size);
  if (ok && options->stats) bjvmi_emit_stats(p.image, p.size);
  product_close(&p);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}

/* -- dump ----------------------------------------------------------------------------------------------- */

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

/* The file named by --plan or as FILE; NULL: none. */
static const char *plan_path(const bjvmi_options *options) {
  return options->plan ? options->plan : options->files[0];
}

/* Whether that is standard input and nobody has sent it anywhere. */
static bool is_terminal(const char *path) {
  return (!path || strcmp(path, "-") == 0) && isatty(STDIN_FILENO);
}

static bool dump_file(const bjvmi_options *options) {
  upb_Arena *arena = upb_Arena_New();
  const bjvm_image *image;
  bjvmi_file file = {0};
  bool ok =
      arena && bjvmi_image_open(&file, plan_path(options), arena, &image) && print_listing(image, options);
  bjvmi_file_free(&file);
  if (arena) upb_Arena_Free(arena);
  return ok;
}

static bool dump_compiled(const bjvmi_options *options) {
  product p;
  bool ok = product_open(&p, options) && print_listing(p.image, options);
  product_close(&p);
  return ok;
}

int bjvmi_cmd_dump(const bjvmi_options *options) {
  bool schema = options->descriptor_set || options->type_count;
  if (schema && (options->plan || (options->descriptor_set && options->file_count)))
    return usage_error(options, "give FILE.bjp or --descriptor-set, not both");
  if (schema && !options->descriptor_set && !options->file_count)
    return usage_error(options, "--descriptor-set or FILE.proto is missing");
  if (schema && !options->type_count) return usage_error(options, "--type is missing");
  if (schema && !are_protos(options))
    return usage_error(options, "--type goes with a schema, not with FILE.bjp");
  if (!schema && options->file_count + (options->plan != NULL) > 1)
    return usage_error(options, "more than one FILE");
  /* Without this, a forgotten FILE looks like a program that hangs. */
  if (!schema && is_terminal(plan_path(options)))
    return usage_error(options, "a plan file is binary and is not read from a terminal; give FILE.bjp");
  bool ok = schema ? dump_compiled(options) : dump_file(options);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}

/* -- verify --------------------------------------------------------------------------------------------- */

static bool verify_file(const char *path) {
  upb_Arena *arena = upb_Arena_New();
  const bjvm_image *image;
  bjvmi_file file = {0};
  bool ok = arena && bjvmi_image_open(&file, path, arena, &image);
  if (ok) {
    unsigned count = image->message_count;
    printf("%s: ok, %u %s, %zu bytes\n", file.name, count, count == 1 ? "message" : "messages", file.size);
  }
  bjvmi_file_free(&file);
  if (arena) upb_Arena_Free(arena);
  return ok;
}

int bjvmi_cmd_verify(const bjvmi_options *options) {
  if (!options->file_count && !options->plan) return usage_error(options, "FILE.bjp is missing");
  bool ok = !options->plan || verify_file(options->plan);
  for (size_t i = 0; i < options->file_count; i++) ok = verify_file(options->files[i]) && ok;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    bjvmi_report("<stdout>", "cannot write");
    ok = false;
  }
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}
