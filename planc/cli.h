/* The program planc from inside: what its files share. The plan compiler itself is compile.c, behind bjvm/compile.h.
 *
 * main.c picks the command, options.c reads the command line, cmd_*.c do the work with descriptor_set.c (descriptor sets),
 * files.c (reading and writing) and report.c (error lines with a caret). One thread runs a command.
 */
#ifndef BJVM_CLI_H_
#define BJVM_CLI_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bjvm/status.h"
#include "upb/mem/arena.h"
#include "upb/reflection/def.h"

/* Exit codes. */
enum {
  BJVMI_EXIT_DONE = 0,
  BJVMI_EXIT_BAD_INPUT = 1,
  BJVMI_EXIT_BAD_USAGE = 2,
};

enum {
  BJVMI_MAX_DEPTH = 65535, /* greatest --max-depth: the depth of upb's binary codec has 16 bits */
  BJVMI_BINARY_LEVELS =
      3, /* levels of binary that one level of JSON can stand for: Struct, its map entry, Value */
  BJVMI_STACK_SIZE = 64 << 20, /* bytes; upb's binary codec recurses, at most 65535 times about 400 bytes */
};

/* -- options.c -------------------------------------------------------------------------------------------------- */

/* What a command line asks for. Strings are those of argv. */
typedef struct bjvmi_options {
  const char *command;
  bool help;
  const char *descriptor_set;
  const char **types;
  size_t type_count;
  const char *output; /* NULL: standard output */
  bool extensions;
  bool stats;
  uint32_t encode_flags;
  uint32_t decode_flags;
  uint32_t max_depth; /* 0: the default */
  uint32_t indent;    /* 0: the default */
  const char **files;
  size_t file_count;
} bjvmi_options;

/* A subcommand. */
typedef struct bjvmi_command {
  const char *name;
  unsigned mask;       /* its bit in the option table */
  const char *usage;   /* what follows the name in the usage line */
  const char *summary; /* one line for `planc --help` */
  const char *text;    /* paragraphs for `planc NAME --help` */
  int (*run)(const bjvmi_options *options);
} bjvmi_command;

enum {
  BJVMI_FOR_COMPILE = 1,
  BJVMI_FOR_DUMP = 2,
  BJVMI_FOR_VERIFY = 4,
  BJVMI_FOR_ENCODE = 8,
  BJVMI_FOR_DECODE = 16,
  BJVMI_FOR_LINT = 32,
};

/* Reads argv[from...] for `command`. Returns false after an error line; then the exit code is BJVMI_EXIT_BAD_USAGE. The lists in
 * *options are malloc'ed, also on failure. */
bool bjvmi_options_parse(bjvmi_options *options, const bjvmi_command *command, int argc, char **argv,
                         int from);

/* Prints the table of the command's options to standard output. */
void bjvmi_options_help(const bjvmi_command *command);

/* -- nearest.c -------------------------------------------------------------------------------------------------- */

/* Finds the name a user may have meant. Start with {word}, offer candidates, read `found` (NULL: nothing is near). */
typedef struct bjvmi_nearest {
  const char *word;
  const char *found;
  size_t distance;
} bjvmi_nearest;

void bjvmi_nearest_offer(bjvmi_nearest *nearest, const char *candidate);

/* -- files.c ---------------------------------------------------------------------------------------------------- */

/* The content of a file, malloc'ed. */
typedef struct bjvmi_file {
  const char *name; /* for error lines: the path, or <stdin> */
  char *data;
  size_t size;
} bjvmi_file;

/* Reads a file of any size, standard input if path is NULL or "-". False after an error line. */
bool bjvmi_file_read(bjvmi_file *file, const char *path);

void bjvmi_file_free(bjvmi_file *file);

/* Writes everything to `path` (NULL or "-": standard output). A regular file is replaced at once when all of it has been written, and stays
 * as it was on failure. False after an error line. */
bool bjvmi_file_write(const char *path, const char *data, size_t size);

/* -- report.c --------------------------------------------------------------------------------------------------- */

/* One error line: `where: error: message`. Control characters in the message are not passed on to the terminal. */
void bjvmi_report(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The report of a failed call: one line `file:line:col: error: message (path ..., CODE)`; for an error in a text
 * (error->line not 0) also its line, cut to 80 columns, and a caret. text may be NULL. */
void bjvmi_report_error(const char *where, const bjvm_error *error, const char *text, size_t size);

/* -- descriptor_set.c --------------------------------------------------------------------------------------------------- */

/* A descriptor set, loaded. */
typedef struct bjvmi_descriptors {
  const char *name;
  upb_DefPool *pool;
  const upb_FileDef **files;
  size_t file_count;
  upb_Arena *arena;
} bjvmi_descriptors;

/* Loads a FileDescriptorSet with its files in any order. False after an error line. Close it in either case. */
bool bjvmi_descriptors_open(bjvmi_descriptors *schema, const char *path);

/* The message type of that full name; NULL after an error line. */
const upb_MessageDef *bjvmi_descriptors_find(const bjvmi_descriptors *schema, const char *type);

void bjvmi_descriptors_close(bjvmi_descriptors *schema);

/* -- commands --------------------------------------------------------------------------------------------------- */

int bjvmi_cmd_compile(const bjvmi_options *options);
int bjvmi_cmd_dump(const bjvmi_options *options);
int bjvmi_cmd_verify(const bjvmi_options *options);
int bjvmi_cmd_encode(const bjvmi_options *options);
int bjvmi_cmd_decode(const bjvmi_options *options);
int bjvmi_cmd_lint(const bjvmi_options *options);

/* Compiles the options' types into bytes that have been loaded and verified again, in `arena`. False after an error line. */
struct bjvm_image;
bool bjvmi_compile_types(const bjvmi_options *options, upb_Arena *arena, const void **data, size_t *size,
                         const struct bjvm_image **image);

#endif /* BJVM_CLI_H_ */
