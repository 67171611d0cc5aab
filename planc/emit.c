/* A compiled plan as something to build with: the file itself, a C source, an assembler source, a header, a
 * depfile; and its statistics.
 *
 * cmd_compile.c has compiled and verified it. Texts are put together in memory and written by files.c.
 * Invariant: what is written depends on plan and options alone, so that a build that runs twice makes the
 * same files.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bjvm/buffer.h"
#include "bjvm/plan.h"
#include "cli.h"
#include "image.h"

enum { SYMBOL_MAX = 200, PATH_SIZE = 4096 };

/* A text being written; `ok` is sticky. */
typedef struct page {
  bjvm_output out;
  bool ok;
} page;

static void put_text(page *p, const char *text, size_t size) {
  if (p->ok && p->out.capacity - p->out.size < size) p->ok = p->out.grow(&p->out, size);
  if (!p->ok) return;
  memcpy(p->out.data + p->out.size, text, size);
  p->out.size += size;
}

static void __attribute__((format(printf, 2, 3))) put(page *p, const char *format, ...) {
  char line[2 * PATH_SIZE];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  put_text(p, line, size < (int)sizeof line ? (size_t)size : sizeof line - 1);
}

static bool finish(page *p, const char *path) {
  bool ok = p->ok;
  if (!ok) bjvmi_report("planc", "out of memory");
  ok = ok && bjvmi_file_write(path, p->out.data, p->out.size);
  bjvm_output_free(&p->out);
  return ok;
}

/* -- Names ---------------------------------------------------------------------------------------------- */

/* What a text is as a C identifier. */
static void to_identifier(char *to, const char *from, size_t size, bool upper) {
  size_t n = 0;
  if (size && isdigit((unsigned char)from[0])) to[n++] = '_';
  for (size_t i = 0; i < size && n < SYMBOL_MAX - 1; i++) {
    unsigned char c = (unsigned char)from[i];
    to[n++] = (char)(isalnum(c) && c < 0x80 ? upper ? toupper(c) : c : '_');
  }
  to[n] = 0;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The array's name: as given, or that of the output file without what follows its first dot. */
static void symbol_of(const bjvmi_options *options, char symbol[SYMBOL_MAX]) {
  const char *name = options->symbol                                        ? options->symbol
                     : options->output && strcmp(options->output, "-") != 0 ? base_name(options->output)
                                                                            : "plan";
  to_identifier(symbol, name, options->symbol ? strlen(name) : strcspn(name, "."), false);
}

/* The plan file beside an assembler source: the same name, ending in .bjp. */
static void blob_path(const bjvmi_options *options, char path[PATH_SIZE]) {
  const char *dot = strrchr(base_name(options->output), '.');
  int stem = dot ? (int)(dot - options->output) : (int)strlen(options->output);
  snprintf(path, PATH_SIZE, "%.*s.bjp", stem, options->output);
}

/* -- Sources -------------------------------------------------------------------------------------------- */

static void put_macros(page *p, const char *symbol, const bjvm_image *image, size_t size) {
  char upper[SYMBOL_MAX], type[SYMBOL_MAX];
  to_identifier(upper, symbol, strlen(symbol), true);
  put(p, "#define %s_SIZE %zuu /* bytes */\n", upper, size);
  put(p, "#define %s_ALIGN %d\n", upper, BJVMI_PLAN_ALIGN);
  put(p, "#define %s_SCHEMA 0x%016llxu /* fingerprint of the schema */\n", upper,
      (unsigned long long)bjvmi_le64(image->header->schema));
  put(p, "#define %s_LAYOUT 0x%016llxu /* fingerprint of the layout it is prebound for; 0: portable */\n",
      upper, (unsigned long long)bjvmi_le64(image->header->layout));
  put(p, "\n/* The types it was compiled for, for bjvm_image_bind. */\n#define %s_TYPE_COUNT %zu\n", upper,
      bjvm_image_root_count(image));
  for (size_t i = 0; i < bjvm_image_root_count(image); i++) {
    size_t length;
    const char *name = bjvm_image_root_name(image, i, &length);
    to_identifier(type, name, length, true);
    put(p, "#define %s_TYPE_%s \"%.*s\"\n", upper, type, (int)length, name);
  }
}

static bool emit_header(const bjvmi_options *options, const bjvm_image *image, size_t size) {
  page p = {bjvm_output_heap(), true};
  char symbol[SYMBOL_MAX], guard[SYMBOL_MAX];
  symbol_of(options, symbol);
  to_identifier(guard, base_name(options->header), strlen(base_name(options->header)), true);
  put(&p, "/* A plan file, made by planc. */\n#ifndef %s_\n#define %s_\n\n", guard, guard);
  put_macros(&p, symbol, image, size);
  put(&p, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/* Aligned for bjvm_image_load. */\n");
  put(&p, "extern const unsigned char %s[%zu];\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* %s_ */\n",
      symbol, size, guard);
  return finish(&p, options->header);
}

static void put_bytes(page *p, const unsigned char *data, size_t size) {
  for (size_t i = 0; i < size; i++)
    put(p, "%s%u,%s", i % 20 ? "" : "    ", data[i], i % 20 == 19 ? "\n" : "");
  if (size % 20) put(p, "\n");
}

static bool emit_c(const bjvmi_options *options, const bjvm_image *image, const void *data, size_t size) {
  page p = {bjvm_output_heap(), true};
  char symbol[SYMBOL_MAX];
  symbol_of(options, symbol);
  put(&p, "/* A plan file, made by planc. */\n");
  if (options->header) {
    put(&p, "#include \"%s\"\n\n", base_name(options->header));
  } else {
    put_macros(&p, symbol, image, size);
    put(&p, "\nextern const unsigned char %s[%zu];\n\n", symbol, size);
  }
  put(&p, "_Alignas(%d) const unsigned char %s[%zu] = {\n", BJVMI_PLAN_ALIGN, symbol, size);
  put_bytes(&p, (const unsigned char *)data, size);
  put(&p, "};\n");
  return finish(&p, options->output);
}

static bool emit_asm(const bjvmi_options *options, const void *data, size_t size) {
  page p = {bjvm_output_heap(), true};
  char symbol[SYMBOL_MAX], blob[PATH_SIZE];
  symbol_of(options, symbol);
  blob_path(options, blob);
  put(&p, "/* A plan file, made by planc. */\n    .section .rodata.%s, \"a\"\n    .balign %d\n", symbol,
      BJVMI_PLAN_ALIGN);
  put(&p, "    .globl %s\n    .type %s, %%object\n    .size %s, %zu\n%s:\n    .incbin \"%s\"\n", symbol,
      symbol, symbol, size, symbol, blob);
  put(&p, "    .section .note.GNU-stack, \"\", %%progbits\n");
  return bjvmi_file_write(blob, (const char *)data, size) && finish(&p, options->output);
}

/* -- Depfile -------------------------------------------------------------------------------------------- */

/* A path as it must stand in a rule. */
static void put_path(page *p, const char *path) {
  for (const char *at = path; *at; at++) {
    if (*at == ' ' || *at == '#' || *at == '\\') put_text(p, "\\", 1);
    if (*at == '$') put_text(p, "$", 1);
    put_text(p, at, 1);
  }
}

/* The file that an import names, in the first folder that has it. Imports that come with the compiler are in
 * none. */
static void put_import(page *p, const bjvmi_options *options, const char *name) {
  char path[PATH_SIZE];
  size_t count = options->import_count ? options->import_count : 1;
  for (size_t i = 0; i < count; i++) {
    const char *folder = options->import_count ? options->imports[i] : ".";
    if (strcmp(folder, ".") == 0) snprintf(path, sizeof path, "%s", name);
    else snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0) continue;
    put(p, " \\\n  ");
    put_path(p, path);
    return;
  }
}

static bool emit_depfile(const bjvmi_options *options, const bjvmi_descriptors *schema) {
  page p = {bjvm_output_heap(), true};
  char blob[PATH_SIZE];
  put_path(&p, options->output);
  if (options->header) {
    put(&p, " ");
    put_path(&p, options->header);
  }
  if (options->emit == BJVMI_EMIT_ASM) {
    blob_path(options, blob);
    put(&p, " ");
    put_path(&p, blob);
  }
  put(&p, ":");
  if (options->descriptor_set) {
    put(&p, " \\\n  ");
    put_path(&p, options->descriptor_set);
  }
  for (size_t i = 0; !options->descriptor_set && i < schema->file_count; i++)
    put_import(&p, options, upb_FileDef_Name(schema->files[i]));
  put(&p, "\n");
  return finish(&p, options->depfile);
}

bool bjvmi_emit_plan(const bjvmi_options *options, const bjvmi_descriptors *schema, const bjvm_image *image,
                     const void *data, size_t size) {
  bool ok = true;
  switch (options->emit) {
    case BJVMI_EMIT_BLOB: ok = bjvmi_file_write(options->output, (const char *)data, size); break;
    case BJVMI_EMIT_C: ok = emit_c(options, image, data, size); break;
    case BJVMI_EMIT_ASM: ok = emit_asm(options, data, size); break;
  }
  if (ok && options->header) ok = emit_header(options, image, size);
  return ok && options->depfile ? emit_depfile(options, schema) : ok;
}

/* -- Statistics ----------------------------------------------------------------------------------------- */

static void print_row(const char *what, size_t records, size_t bytes, size_t size, size_t fields) {
  fprintf(stderr, "%-12s %9zu %9zu %6.1f%% %8.1f\n", what, records, bytes,
          100.0 * (double)bytes / (double)size, (double)bytes / (double)fields);
}

/* Fields of messages and extensions; those of map entries belong to their map. */
static size_t count_fields(const bjvm_image *image) {
  size_t fields = image->extension_count;
  for (uint32_t i = 0; i < image->message_count; i++)
    if (!(image->messages[i].flags & BJVMI_MESSAGE_ENTRY))
      fields += bjvmi_le16(image->messages[i].word_count);
  return fields;
}

void bjvmi_emit_stats(const bjvm_image *image, size_t size) {
  const size_t bytes[BJVMI_SECTION_COUNT] = {image->message_count * sizeof(bjvmi_message),
                                             image->word_count * sizeof(bjvmi_word),
                                             image->key_count * sizeof(bjvmi_key),
                                             image->slot_count,
                                             image->enum_count * sizeof(bjvmi_enum),
                                             image->value_count * sizeof(bjvmi_value),
                                             image->extension_count * sizeof(bjvmi_extension),
                                             image->root_count * sizeof(uint32_t),
                                             image->names_size,
                                             image->mini_size};
  size_t fields = count_fields(image), per = fields ? fields : 1, rest = size;
  fprintf(stderr, "%-12s %9s %9s %7s %8s\n", "section", "records", "bytes", "share", "a field");
  for (int i = 0; i < BJVMI_SECTION_COUNT; i++) {
    const bjvmi_section_format *format = &bjvmi_section_formats[i];
    print_row(bjvmi_section_name((bjvmi_section)i), bytes[i] / format->record, bytes[i], size, per);
    rest -= bytes[i];
  }
  print_row("frame", 1, rest, size, per); /* header, section table, gaps */
  print_row("all", 1, size, size, per);
  fprintf(stderr, "%zu fields, %.1f bytes a field\n", fields, (double)size / (double)per);
}
