/* The program planc from inside: what its files share. The plan compiler itself is compile.c, behind
 * bjvm/compile.h.
 *
 * main.c picks the command, options.c reads the command line, cmd_*.c do the work with descriptor_set.c
 * (descriptor sets), files.c (reading and writing), protoc.c (.proto files), plan_source.c (plans for the
 * codec), stream.c (many messages), emit.c (C and assembler) and report.c (error lines with a caret). One
 * thread runs a command.
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

/* -- options.c ------------------------------------------------------------------------------------------ */

/* The forms of a compiled plan. */
typedef enum bjvmi_emit { BJVMI_EMIT_BLOB, BJVMI_EMIT_C, BJVMI_EMIT_ASM } bjvmi_emit;

/* What a command line asks for. Strings are those of argv. */
typedef struct bjvmi_options {
  const char *command;
  bool help;
  const char *descriptor_set;
  const char *plan;
  const char **imports; /* folders of .proto files */
  size_t import_count;
  const char **types;
  size_t type_count;
  const char *output; /* NULL: standard output */
  bjvmi_emit emit;
  const char *header;
  const char *symbol;
  const char *depfile;
  uint32_t abi; /* 32, 64, or 0 */
  bool mini;
  bool extensions;
  bool stats;
  bool stream;
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

/* Reads argv[from...] for `command`. Returns false after an error line; then the exit code is
 * BJVMI_EXIT_BAD_USAGE. The lists in *options are malloc'ed, also on failure. */
bool bjvmi_options_parse(bjvmi_options *options, const bjvmi_command *command, int argc, char **argv,
                         int from);

/* Prints the table of the command's options to standard output. */
void bjvmi_options_help(const bjvmi_command *command);

/* -- nearest.c ------------------------------------------------------------------------------------------ */

/* Finds the names a user may have meant. Start with {word}, offer candidates, which must outlive the search,
 * then ask for the hint. */
enum { BJVMI_NEAREST_MAX = 3, BJVMI_HINT_SIZE = 1024 };
typedef struct bjvmi_nearest {
  const char *word;
  const char *found[BJVMI_NEAREST_MAX]; /* equally near */
  size_t count;
  size_t distance;
  char hint[BJVMI_HINT_SIZE];
} bjvmi_nearest;

void bjvmi_nearest_offer(bjvmi_nearest *nearest, const char *candidate);

/* `; did you mean 'a' or 'b'?`, or nothing if nothing is near. `dashes` stand in front of each name. Lives as
 * long as *nearest. */
const char *bjvmi_nearest_hint(bjvmi_nearest *nearest, const char *dashes);

/* -- files.c -------------------------------------------------------------------------------------------- */

/* The content of a file, malloc'ed. */
typedef struct bjvmi_file {
  const char *name; /* for error lines: the path, or <stdin> */
  char *data;
  size_t size;
} bjvmi_file;

/* Reads a file of any size, standard input if path is NULL or "-". False after an error line. */
bool bjvmi_file_read(bjvmi_file *file, const char *path);

void bjvmi_file_free(bjvmi_file *file);

/* Writes everything to `path` (NULL or "-": standard output). A regular file is replaced at once when all of
 * it has been written, and stays as it was on failure. False after an error line. */
bool bjvmi_file_write(const char *path, const char *data, size_t size);

/* -- report.c ------------------------------------------------------------------------------------------- */

/* One error line: `where: error: message`. Control characters in the message are not passed on to the
 * terminal. */
void bjvmi_report(const char *where, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The report of a failed call: one line `file:line:col: error: message (path ..., CODE)`; for an error in a
 * text (error->line not 0) also its line, cut to 80 columns, and a caret. text may be NULL. */
void bjvmi_report_error(const char *where, const bjvm_error *error, const char *text, size_t size);

/* -- descriptor_set.c ----------------------------------------------------------------------------------- */

/* A descriptor set, loaded. */
typedef struct bjvmi_descriptors {
  const char *name;
  upb_DefPool *pool;
  const upb_FileDef **files;
  size_t file_count;
  upb_Arena *arena;
} bjvmi_descriptors;

/* Loads a FileDescriptorSet with its files in any order. False after an error line. Close it in either
 * case. */
bool bjvmi_descriptors_open(bjvmi_descriptors *schema, const char *path);

/* The message type of that full name; NULL after an error line. */
const upb_MessageDef *bjvmi_descriptors_find(const bjvmi_descriptors *schema, const char *type);

void bjvmi_descriptors_close(bjvmi_descriptors *schema);

/* -- plan_source.c -------------------------------------------------------------------------------------- */

/* Where encode and decode have a message type from: a descriptor set, a plan file with mini descriptors, or
 * both (the plan from the file, the mini tables from the set). */
typedef struct bjvmi_source {
  const bjvmi_options *options;
  const char *type; /* full name */
  const struct bjvm_plan *plan;
  const upb_MiniTable *table;
  const upb_ExtensionRegistry *extensions;
  const struct bjvm_registry *registry;
  bjvmi_descriptors schema; /* what it owns, from here on */
  struct bjvm_cache *cache;
  bjvmi_file file;
  struct bjvm_registry *own;   /* over the plan file */
  struct bjvm_registry *inner; /* what `own` asks */
  upb_Arena *arena;
} bjvmi_source;

/* Finds the type the options ask for. False after an error line. Close it in either case. */
bool bjvmi_source_open(bjvmi_source *source, const bjvmi_options *options);

void bjvmi_source_close(bjvmi_source *source);

/* The depth for upb's binary codec that holds whatever --max-depth lets through. */
uint16_t bjvmi_binary_depth(const bjvmi_options *options);

/* Reads and loads a plan file; the image is in `arena`. False after an error line. */
struct bjvm_image;
bool bjvmi_image_open(bjvmi_file *file, const char *path, upb_Arena *arena, const struct bjvm_image **image);

/* -- stream.c ------------------------------------------------------------------------------------------- */

/* A stream of messages: input that is read as it comes, output that is written before more input is waited
 * for. */
typedef struct bjvmi_stream {
  const char *name; /* for error lines */
  int in;
  int out;
  const char *out_name;
  char *data; /* [at, size) has been read and not used */
  size_t at;
  size_t size;
  size_t capacity;
  bool ended;
  size_t number;               /* of the message last read, from 1 */
  size_t line;                 /* and of its line */
  struct bjvm_output *pending; /* what has not been written yet */
} bjvmi_stream;

/* Opens input and output (NULL or "-": standard ones). False after an error line. Close it in either case. */
bool bjvmi_stream_open(bjvmi_stream *stream, const char *input, const char *output,
                       struct bjvm_output *pending);

/* The next message: the binary behind its length, or a line that is not blank. Valid until the next call. 1:
 * there is one; 0: the input is at its end; -1 after an error line. */
int bjvmi_stream_next_binary(bjvmi_stream *stream, const char **data, size_t *size);
int bjvmi_stream_next_line(bjvmi_stream *stream, const char **data, size_t *size);

/* Writes what is pending. False after an error line. */
bool bjvmi_stream_flush(bjvmi_stream *stream);

/* Closes both. False after an error line. */
bool bjvmi_stream_close(bjvmi_stream *stream);

/* -- protoc.c ------------------------------------------------------------------------------------------- */

/* Has the options' .proto files compiled by the protoc or buf on PATH into a descriptor set, a temporary file
 * whose name is stored in `path`. False after an error line. The caller removes the file. */
enum { BJVMI_TEMPORARY_NAME = 64 };
bool bjvmi_protoc_run(const bjvmi_options *options, char path[BJVMI_TEMPORARY_NAME]);

/* -- emit.c --------------------------------------------------------------------------------------------- */

/* Writes a compiled plan in the form the options ask for, with header and depfile. False after an error
 * line. */
bool bjvmi_emit_plan(const bjvmi_options *options, const bjvmi_descriptors *schema,
                     const struct bjvm_image *image, const void *data, size_t size);

/* Tells on standard error where the bytes of a plan go. */
void bjvmi_emit_stats(const struct bjvm_image *image, size_t size);

/* -- commands ------------------------------------------------------------------------------------------- */

int bjvmi_cmd_compile(const bjvmi_options *options);
int bjvmi_cmd_dump(const bjvmi_options *options);
int bjvmi_cmd_verify(const bjvmi_options *options);
int bjvmi_cmd_encode(const bjvmi_options *options);
int bjvmi_cmd_decode(const bjvmi_options *options);
int bjvmi_cmd_lint(const bjvmi_options *options);

#endif /* BJVM_CLI_H_ */
