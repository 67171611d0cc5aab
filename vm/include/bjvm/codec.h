/* Encoding messages as JSON and decoding JSON into messages, with a plan. */
#ifndef BJVM_CODEC_H_
#define BJVM_CODEC_H_

#include <stdbool.h>

#include "bjvm/plan.h"
#include "bjvm/status.h"
#include "upb/mem/arena.h"
#include "upb/message/message.h"
#include "upb/mini_table/extension.h"
#include "upb/mini_table/extension_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Depth limit where options give none: objects and arrays inside one another, of every sort. */
enum { BJVM_DEFAULT_MAX_DEPTH = 100 };

/* -- Output --------------------------------------------------------------------------------------------- */

/* Where JSON goes: a window of memory, and a hook that makes it larger or empties it.
 *
 * Text is appended at data + size. When fewer than `room` bytes are free, `grow` is called: it must provide
 * capacity - size >= room, by moving to a larger block, or by consuming data[0, size) and setting size to 0.
 * It returns false to refuse. A NULL `grow` means a fixed block: what does not fit is counted only, nothing
 * is written at or past data + capacity, and the call ends with BJVM_OVERFLOW and `needed` = the exact
 * capacity that would have done. Use the functions below to make one. One thread at a time. */
typedef struct bjvm_output {
  char *data;
  size_t size;
  size_t capacity;
  size_t needed; /* set by a fixed output: size after a call that had succeeded */
  bool (*grow)(struct bjvm_output *output, size_t room);
  void *context; /* for `grow` */
} bjvm_output;

/* A caller's block of `capacity` bytes. data may be NULL when capacity is 0 (to ask for the size). */
BJVM_API bjvm_output bjvm_output_fixed(char *data, size_t capacity);

/* Memory from `arena`, growing; data belongs to the arena. A refusal is BJVM_OUT_OF_MEMORY (NULL: always). */
BJVM_API bjvm_output bjvm_output_arena(upb_Arena *arena);

/* A block of `capacity` bytes (>= 1024) that is handed to `write` whenever it is full, and by
 * bjvm_output_flush at the end. `sink` must outlive the output. A `write` that returns false ends the call
 * with BJVM_SINK, and so does one of the three that is NULL. */
typedef struct bjvm_sink {
  bjvm_write_func *write;
  void *context;
} bjvm_sink;
BJVM_API bjvm_output bjvm_output_sink(char *data, size_t capacity, bjvm_sink *sink);

/* Hands what is left in a sink's block to `write`. For other outputs does nothing. False when `write`
 * refused. */
BJVM_API bool bjvm_output_flush(bjvm_output *output);

/* -- Registry ------------------------------------------------------------------------------------------- */

/* The plan of an extension; from a registry. */
typedef struct bjvm_extension bjvm_extension;

/* Resolves the types that a schema does not name: contents of Any, extensions. Given by the caller;
 * bjvm/cache.h makes one from a DefPool. Its functions are called from many threads at once if calls that
 * share it are. */
typedef struct bjvm_registry {
  size_t size;   /* sizeof(bjvm_registry); less is refused as BAD_ARGUMENT */
  void *context; /* first argument of the functions */
  /* The plan of the message type `full_name` (not NUL-terminated). NULL when there is none, and also on
   * failure: then *status is set, else it is left alone. */
  const bjvm_plan *(*find_message)(void *context, const char *full_name, size_t size, bjvm_status *status);
  /* An extension by full name (without brackets), or by mini table; NULL as above. NULL functions: no
   * extensions. One of another message is returned too; the caller compares its extendee. */
  const bjvm_extension *(*find_extension)(void *context, const char *full_name, size_t size,
                                          bjvm_status *status);
  const bjvm_extension *(*find_extension_by_table)(void *context, const upb_MiniTableExtension *table,
                                                   bjvm_status *status);
  /* upb's binary codec, for the contents of an Any; NULL: Any fails with NO_REGISTRY. They return OK,
   * OUT_OF_MEMORY, DEPTH or ANY_CONTENT. `data` outlives `msg`, which may point into it. The arena may
   * be a fixed block, which upb_Encode itself does not take. */
  bjvm_status (*decode)(void *context, const char *data, size_t size, upb_Message *msg,
                        const upb_MiniTable *table, upb_Arena *arena);
  bjvm_status (*encode)(void *context, const upb_Message *msg, const upb_MiniTable *table, upb_Arena *arena,
                        char **data, size_t *size);
} bjvm_registry;

/* Binds every message type and extension of a plan file to the mini tables built from it
 * (bjvm_image_build_tables), and fills in a registry over them: Any and extensions without reflection, and
 * find_message gives the plan of each type.
 *
 * All plans are prepared for `encode_flags` (BJVM_ENCODE_*; 0: for plain output and for reading; see
 * bjvm_plan_prepare). Memory comes from `arena`; the registry's functions use it, so it must live as long.
 * Left NULL: decode and encode, which Any needs; set them to functions that call upb's binary codec, so that
 * a program without Any does not link it. Errors: PLAN_UNBOUND (the file lacks a type that another one has a
 * field of), PLAN_MISMATCH, OUT_OF_MEMORY, BAD_ARGUMENT. `error` may be NULL. */
BJVM_API bjvm_status bjvm_tables_registry(const bjvm_tables *tables, uint32_t encode_flags, upb_Arena *arena,
                                          bjvm_registry *registry, bjvm_error *error);

/* -- Printing ------------------------------------------------------------------------------------------- */

enum {
  BJVM_ENCODE_PROTO_NAMES = 1,      /* .proto field names, inside Any too */
  BJVM_ENCODE_EMIT_DEFAULTS = 2,    /* also every field without presence that has its default */
  BJVM_ENCODE_ENUMS_AS_INTS = 4,    /* enum values as numbers; NullValue stays null */
  BJVM_ENCODE_INT64_AS_NUMBERS = 8, /* 64-bit integers bare */
  BJVM_ENCODE_ASCII = 16,           /* non-ASCII as \u escapes */
  BJVM_ENCODE_HTML_SAFE = 32,       /* < > & and U+2028/2029 as \u escapes */
  BJVM_ENCODE_SORT_MAP_KEYS = 64,   /* needs `scratch` */
  BJVM_ENCODE_PRETTY = 128,         /* one member a line, `indent` blanks a level */
  BJVM_ENCODE_CHECK_REQUIRED = 256, /* a missing required field is an error */
};

/* Options of bjvm_encode. Set `size` to sizeof and what you do not need to 0; NULL options mean all 0. A flag
 * that this library does not know is BAD_ARGUMENT. */
typedef struct bjvm_encode_options {
  size_t size;
  uint32_t flags;     /* BJVM_ENCODE_* */
  uint32_t max_depth; /* 0: BJVM_DEFAULT_MAX_DEPTH; more than that needs `scratch` */
  uint32_t indent;    /* blanks a level with BJVM_ENCODE_PRETTY; 0: 2; at most 16 */
  const bjvm_registry
      *registry;      /* for Any and extensions; without it an Any fails and extensions are not printed */
  upb_Arena *scratch; /* memory of the call (Any, sorted maps, great depth); the caller frees it */
} bjvm_encode_options;

/* Prints `msg` as canonical ProtoJSON, appended to `output`.
 *
 * `plan` is the plan of the message's type, `msg` a message made with its mini table (bjvm_plan_table): a message does
 * not know its type, so another one is undefined behaviour. On success output->size has grown by the text (no newline at the
 * end). On failure output->size is what it was (a sink may have received a part). Returns the status;
 * `error`, if not NULL, tells the field path. Allocates nothing itself. Threads: `plan`, `msg` and `options`
 * may be shared, `output` may not. Source: ProtoJSON format, protobuf.dev. */
BJVM_API bjvm_status bjvm_encode(const bjvm_plan *plan, const upb_Message *msg,
                                 const bjvm_encode_options *options, bjvm_output *output, bjvm_error *error);

/* -- Reading -------------------------------------------------------------------------------------------- */

enum {
  BJVM_DECODE_IGNORE_UNKNOWN = 1, /* skip unknown names, drop unknown enum names */
  BJVM_DECODE_LAST_WINS = 2,      /* a name given twice: the last value replaces the earlier one whole */
  BJVM_DECODE_CASE_INSENSITIVE_ENUMS = 4, /* ASCII case of enum names does not matter */
  BJVM_DECODE_CHECK_REQUIRED = 8,         /* a missing required field is an error */
  BJVM_DECODE_ALIAS = 16,  /* strings without escapes point into the text, which must outlive the message */
  BJVM_DECODE_PADDED = 32, /* 64 zero bytes follow the text: spares a copy of its end */
};

/* Options of bjvm_decode. Set `size` to sizeof and what you do not need to 0; NULL options mean all 0. A flag
 * that this library does not know is BAD_ARGUMENT. */
typedef struct bjvm_decode_options {
  size_t size;
  uint32_t flags;                /* BJVM_DECODE_* */
  uint32_t max_depth;            /* 0: BJVM_DEFAULT_MAX_DEPTH; more than that needs `scratch` */
  size_t max_input;              /* bytes of text; 0: no limit */
  size_t max_elements;           /* array elements and map entries in all; 0: no limit */
  size_t max_memory;             /* bytes taken from the message's arena; 0: no limit */
  const bjvm_registry *registry; /* for Any and extensions; without it both are errors */
  upb_Arena
      *scratch; /* memory of the call (Any, great depth, wide messages deep down); the caller frees it */
} bjvm_decode_options;

/* Reads one JSON value, and nothing after it but white space, into `msg`, an existing message made with
 * the plan's mini table.
 *
 * Fields in the text are set, repeated fields appended to, maps and sub-messages merged into. `json` need not
 * be NUL-terminated, nothing beyond json + size is read (but see BJVM_DECODE_PADDED). New memory comes from
 * `arena`. On failure `msg` is valid memory with unspecified content, and `error`, if not NULL, tells offset,
 * line, column, field path and reason. Threads: `plan`, `json` and `options` may be shared, `msg` and `arena`
 * may not. Source: RFC 8259; ProtoJSON format, protobuf.dev. */
BJVM_API bjvm_status bjvm_decode(const bjvm_plan *plan, const char *json, size_t size, upb_Message *msg,
                                 upb_Arena *arena, const bjvm_decode_options *options, bjvm_error *error);

/* The same for one value at the front of a longer text: stops behind it and stores in *used the bytes it
 * took, leading white space included. */
BJVM_API bjvm_status bjvm_decode_prefix(const bjvm_plan *plan, const char *json, size_t size, size_t *used,
                                        upb_Message *msg, upb_Arena *arena,
                                        const bjvm_decode_options *options, bjvm_error *error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_CODEC_H_ */
