/* planc encode and decode: messages from protobuf binary to JSON, or back; one, or a stream of them.
 *
 * plan_source.c finds the plan, the library does the JSON side, upb the binary side, with a depth that covers
 * --max-depth; stream.c reads and writes streams. Invariant: of one message nothing is written unless all of
 * it was good; of a stream all messages before the first bad one are.
 */
#include <stdio.h>
#include <string.h>

#include "bjvm/bjvm.h"
#include "cli.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

enum { BLOCK_SIZE = 65536 }; /* bytes of memory that messages of a stream share before the heap is asked */

/* Everything a run holds. */
typedef struct session {
  const bjvmi_options *options;
  const char *name; /* of the input */
  size_t number;    /* of the message in a stream; 0: there is no stream */
  size_t line;      /* of the text in a stream */
  bjvmi_source source;
  bjvm_output out;    /* what is to be written */
  upb_Arena *arena;   /* the message */
  upb_Arena *scratch; /* of the codec */
  upb_Message *msg;
} session;

/* What encode and decode have for one message, appended to session.out. */
typedef bool convert_func(session *s, const char *data, size_t size);

static int usage_error(const bjvmi_options *options, const char *what) {
  bjvmi_report("planc", "%s (see planc %s --help)", what, options->command);
  return BJVMI_EXIT_BAD_USAGE;
}

static bool is_standard(const char *path) { return strcmp(path, "-") == 0; }

/* BJVMI_EXIT_DONE when the command line makes sense. */
static int check_usage(const bjvmi_options *options) {
  if (!options->descriptor_set && !options->plan)
    return usage_error(options, "a schema is missing: --descriptor-set or --plan");
  if (!options->type_count && !options->plan) return usage_error(options, "--type is missing");
  if (options->type_count > 1) return usage_error(options, "more than one --type");
  if (options->file_count > 1) return usage_error(options, "more than one FILE");
  if (options->stream && options->encode_flags & BJVM_ENCODE_PRETTY)
    return usage_error(options, "--stream has one message a line; it does not go with --pretty");
  int standard = (options->descriptor_set && is_standard(options->descriptor_set)) +
                 (options->plan && is_standard(options->plan)) +
                 (!options->file_count || is_standard(options->files[0]));
  if (standard > 1) return usage_error(options, "the schema and the message cannot both be standard input");
  return BJVMI_EXIT_DONE;
}

static bool out_of_memory(void) {
  bjvmi_report("planc", "out of memory");
  return false;
}

/* An error line about the message at work. */
static void report(const session *s, const char *what, const char *why) {
  if (s->number) bjvmi_report(s->name, "message %zu: %s %s: %s", s->number, what, s->source.type, why);
  else bjvmi_report(s->name, "%s %s: %s", what, s->source.type, why);
}

/* The same from the library, with the line of a text. In a stream the line is that of the whole input. */
static void report_error(const session *s, bjvm_error *error, const char *text, size_t size) {
  char message[sizeof error->message];
  if (s->number) {
    memcpy(message, error->message, sizeof message);
    snprintf(error->message, sizeof error->message, "message %zu: %.*s", s->number, (int)sizeof message - 40,
             message);
    if (error->line) error->line += (uint32_t)s->line - 1;
  }
  bjvmi_report_error(s->name, error, text, size);
}

/* Appends to the output. */
static bool append(session *s, const char *data, size_t size) {
  if (s->out.capacity - s->out.size < size && !s->out.grow(&s->out, size)) return out_of_memory();
  if (size) memcpy(s->out.data + s->out.size, data, size);
  s->out.size += size;
  return true;
}

/* -- encode --------------------------------------------------------------------------------------------- */

static bool read_binary(session *s, const char *data, size_t size) {
  uint32_t options =
      upb_DecodeOptions_MaxDepth(bjvmi_binary_depth(s->options)) | kUpb_DecodeOption_AliasString;
  upb_DecodeStatus status =
      upb_Decode(data, size, s->msg, s->source.table, s->source.extensions, (int)options, s->arena);
  if (status == kUpb_DecodeStatus_Ok) return true;
  const char *why = status == kUpb_DecodeStatus_Malformed ? "the binary is malformed or cut off"
                    : status == kUpb_DecodeStatus_BadUtf8 ? "a string is not valid UTF-8"
                    : status == kUpb_DecodeStatus_MaxDepthExceeded
                        ? "nested more deeply than --max-depth allows"
                        : upb_DecodeStatus_String(status);
  report(s, "not a binary", why);
  return false;
}

static bool encode(session *s, const char *data, size_t size) {
  bjvm_encode_options options = {.size = sizeof options,
                                 .flags = s->options->encode_flags,
                                 .max_depth = s->options->max_depth,
                                 .indent = s->options->indent,
                                 .registry = s->source.registry,
                                 .scratch = s->scratch};
  bjvm_error error;
  if (!read_binary(s, data, size)) return false;
  if (bjvm_encode(s->source.plan, s->msg, &options, &s->out, &error) == BJVM_OK) return append(s, "\n", 1);
  report_error(s, &error, NULL, 0);
  return false;
}

/* -- decode --------------------------------------------------------------------------------------------- */

static bool append_length(session *s, size_t length) {
  char varint[10];
  size_t size = 0;
  for (; length > 0x7f; length >>= 7) varint[size++] = (char)((length & 0x7f) | 0x80);
  varint[size++] = (char)length;
  return append(s, varint, size);
}

/* Deterministic: the same text gives the same bytes, maps too. */
static bool write_binary(session *s) {
  uint32_t options =
      upb_EncodeOptions_MaxDepth(bjvmi_binary_depth(s->options)) | kUpb_EncodeOption_Deterministic;
  char *data;
  size_t size;
  upb_EncodeStatus status = upb_Encode(s->msg, s->source.table, (int)options, s->arena, &data, &size);
  if (status == kUpb_EncodeStatus_Ok) return (!s->number || append_length(s, size)) && append(s, data, size);
  report(s, "cannot write a binary",
         status == kUpb_EncodeStatus_MaxDepthExceeded ? "too deep for the binary form"
                                                      : upb_EncodeStatus_String(status));
  return false;
}

static bool decode(session *s, const char *data, size_t size) {
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = s->options->decode_flags | BJVM_DECODE_ALIAS,
                                 .max_depth = s->options->max_depth,
                                 .registry = s->source.registry,
                                 .scratch = s->scratch};
  bjvm_error error;
  if (bjvm_decode(s->source.plan, data, size, s->msg, s->arena, &options, &error) == BJVM_OK)
    return write_binary(s);
  report_error(s, &error, data, size);
  return false;
}

/* -- One message, many messages ------------------------------------------------------------------------- */

/* Converts one message with memory of its own; `block` may be NULL. */
static bool convert(session *s, convert_func *function, char *block, const char *data, size_t size) {
  s->arena = upb_Arena_Init(block, block ? BLOCK_SIZE : 0, &upb_alloc_global);
  s->scratch = upb_Arena_New();
  s->msg = s->arena && s->scratch ? upb_Message_New(s->source.table, s->arena) : NULL;
  bool ok = s->msg ? function(s, data, size) : out_of_memory();
  if (s->scratch) upb_Arena_Free(s->scratch);
  if (s->arena) upb_Arena_Free(s->arena);
  return ok;
}

static bool convert_one(session *s, convert_func *function) {
  bjvmi_file input;
  bool ok = bjvmi_file_read(&input, s->options->files[0]);
  s->name = input.name;
  ok = ok && convert(s, function, NULL, input.data, input.size) &&
       bjvmi_file_write(s->options->output, s->out.data, s->out.size);
  bjvmi_file_free(&input);
  return ok;
}

static bool convert_stream(session *s, convert_func *function, bool lines) {
  static _Alignas(16) char block[BLOCK_SIZE];
  bjvmi_stream stream;
  bool ok = bjvmi_stream_open(&stream, s->options->files[0], s->options->output, &s->out);
  int found = ok ? 1 : -1;
  s->name = stream.name;
  while (ok && found == 1) {
    const char *data;
    size_t size, kept;
    found = lines ? bjvmi_stream_next_line(&stream, &data, &size)
                  : bjvmi_stream_next_binary(&stream, &data, &size);
    if (found != 1) break;
    s->number = stream.number;
    s->line = stream.line;
    kept = s->out.size;
    ok = convert(s, function, block, data, size);
    if (!ok) s->out.size = kept; /* whole messages only */
  }
  ok = ok && found == 0;
  if (stream.in >= 0 && stream.out >= 0) ok = bjvmi_stream_flush(&stream) && ok;
  return bjvmi_stream_close(&stream) && ok;
}

static int run(const bjvmi_options *options, convert_func *function, bool lines) {
  int usage = check_usage(options);
  if (usage != BJVMI_EXIT_DONE) return usage;
  session s = {.options = options, .out = bjvm_output_heap()};
  bool ok = bjvmi_source_open(&s.source, options) &&
            (options->stream ? convert_stream(&s, function, lines) : convert_one(&s, function));
  bjvm_output_free(&s.out);
  bjvmi_source_close(&s.source);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}

int bjvmi_cmd_encode(const bjvmi_options *options) { return run(options, encode, false); }

int bjvmi_cmd_decode(const bjvmi_options *options) { return run(options, decode, true); }
