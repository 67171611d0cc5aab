/* planc encode and decode: one message from protobuf binary to JSON, or back.
 *
 * The library does the JSON side through a plan cache over the descriptor set, upb the binary side, with a depth that covers
 * --max-depth. Invariant: the whole input is read before anything else and nothing is written unless all of it was good.
 */
#include <string.h>

#include "bjvm/bjvm.h"
#include "cli.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

/* Everything a run holds. */
typedef struct session {
  const bjvmi_options *options;
  bjvmi_descriptors schema;
  bjvmi_file input;
  const upb_MessageDef *type;
  bjvm_cache *cache;
  const bjvm_plan *plan;
  upb_Arena *arena;   /* the message */
  upb_Arena *scratch; /* of the codec */
  upb_Message *msg;
} session;

static int usage_error(const bjvmi_options *options, const char *what) {
  bjvmi_report("planc", "%s (see planc %s --help)", what, options->command);
  return BJVMI_EXIT_BAD_USAGE;
}

/* BJVMI_EXIT_DONE when the command line makes sense. */
static int check_usage(const bjvmi_options *options) {
  if (!options->descriptor_set) return usage_error(options, "--descriptor-set is missing");
  if (!options->type_count) return usage_error(options, "--type is missing");
  if (options->type_count > 1) return usage_error(options, "more than one --type");
  if (options->file_count > 1) return usage_error(options, "more than one FILE");
  bool standard_set = strcmp(options->descriptor_set, "-") == 0;
  if (standard_set && (!options->file_count || strcmp(options->files[0], "-") == 0)) {
    return usage_error(options, "the descriptor set and the message cannot both be standard input");
  }
  return BJVMI_EXIT_DONE;
}

static bool out_of_memory(void) {
  bjvmi_report("planc", "out of memory");
  return false;
}

static bool open_plan(session *s) {
  bjvm_error error;
  s->cache = bjvm_cache_new(s->schema.pool);
  if (!s->cache) return out_of_memory();
  if (s->options->max_depth) bjvm_cache_set_max_depth(s->cache, s->options->max_depth);
  s->plan = bjvm_cache_get(s->cache, s->type, &error);
  if (!s->plan) bjvmi_report_error(s->schema.name, &error, NULL, 0);
  return s->plan != NULL;
}

static bool open_session(session *s, const bjvmi_options *options) {
  *s = (session){.options = options};
  if (!bjvmi_descriptors_open(&s->schema, options->descriptor_set)) return false;
  s->type = bjvmi_descriptors_find(&s->schema, options->types[0]);
  if (!s->type || !open_plan(s) || !bjvmi_file_read(&s->input, options->files[0])) return false;
  s->arena = upb_Arena_New();
  s->scratch = upb_Arena_New();
  if (!s->arena || !s->scratch) return out_of_memory();
  s->msg = upb_Message_New(upb_MessageDef_MiniTable(s->type), s->arena);
  return s->msg ? true : out_of_memory();
}

static void close_session(session *s) {
  if (s->scratch) upb_Arena_Free(s->scratch);
  if (s->arena) upb_Arena_Free(s->arena);
  bjvm_cache_free(s->cache);
  bjvmi_file_free(&s->input);
  bjvmi_descriptors_close(&s->schema);
}

/* The depth for upb that holds whatever --max-depth lets through. */
static uint16_t binary_depth(const bjvmi_options *options) {
  uint32_t depth = options->max_depth ? options->max_depth : BJVM_DEFAULT_MAX_DEPTH;
  depth = depth * BJVMI_BINARY_LEVELS + 1;
  return (uint16_t)(depth < BJVMI_MAX_DEPTH ? depth : BJVMI_MAX_DEPTH);
}

/* -- encode ----------------------------------------------------------------------------------------------------- */

static bool read_binary(session *s) {
  uint32_t options = upb_DecodeOptions_MaxDepth(binary_depth(s->options)) | kUpb_DecodeOption_AliasString;
  upb_DecodeStatus status =
      upb_Decode(s->input.data, s->input.size, s->msg, upb_MessageDef_MiniTable(s->type),
                 upb_DefPool_ExtensionRegistry(s->schema.pool), (int)options, s->arena);
  if (status == kUpb_DecodeStatus_Ok) return true;
  const char *why = status == kUpb_DecodeStatus_Malformed ? "the binary is malformed or cut off"
                    : status == kUpb_DecodeStatus_BadUtf8 ? "a string is not valid UTF-8"
                    : status == kUpb_DecodeStatus_MaxDepthExceeded
                        ? "nested more deeply than --max-depth allows"
                        : upb_DecodeStatus_String(status);
  bjvmi_report(s->input.name, "not a binary %s: %s", upb_MessageDef_FullName(s->type), why);
  return false;
}

static bool encode(session *s, bjvm_output *out) {
  bjvm_encode_options options = {.size = sizeof options,
                                 .flags = s->options->encode_flags,
                                 .max_depth = s->options->max_depth,
                                 .indent = s->options->indent,
                                 .registry = bjvm_cache_registry(s->cache),
                                 .scratch = s->scratch};
  bjvm_error error;
  if (bjvm_encode(s->plan, s->msg, &options, out, &error) != BJVM_OK) {
    bjvmi_report_error(s->input.name, &error, NULL, 0);
    return false;
  }
  if (out->size == out->capacity && !out->grow(out, 1)) return out_of_memory();
  out->data[out->size++] = '\n';
  return true;
}

int bjvmi_cmd_encode(const bjvmi_options *options) {
  int usage = check_usage(options);
  if (usage != BJVMI_EXIT_DONE) return usage;
  session s;
  bjvm_output out = bjvm_output_heap();
  bool ok = open_session(&s, options) && read_binary(&s) && encode(&s, &out) &&
            bjvmi_file_write(options->output, out.data, out.size);
  bjvm_output_free(&out);
  close_session(&s);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}

/* -- decode ----------------------------------------------------------------------------------------------------- */

static bool decode(session *s) {
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = s->options->decode_flags | BJVM_DECODE_ALIAS,
                                 .max_depth = s->options->max_depth,
                                 .registry = bjvm_cache_registry(s->cache),
                                 .scratch = s->scratch};
  bjvm_error error;
  if (bjvm_decode(s->plan, s->input.data, s->input.size, s->msg, s->arena, &options, &error) == BJVM_OK)
    return true;
  bjvmi_report_error(s->input.name, &error, s->input.data, s->input.size);
  return false;
}

/* Deterministic: the same text gives the same bytes, maps too. */
static bool write_binary(session *s) {
  uint32_t options = upb_EncodeOptions_MaxDepth(binary_depth(s->options)) | kUpb_EncodeOption_Deterministic;
  char *data;
  size_t size;
  upb_EncodeStatus status =
      upb_Encode(s->msg, upb_MessageDef_MiniTable(s->type), (int)options, s->arena, &data, &size);
  if (status == kUpb_EncodeStatus_Ok) return bjvmi_file_write(s->options->output, data, size);
  const char *why = status == kUpb_EncodeStatus_MaxDepthExceeded ? "too deep for the binary form"
                                                                 : upb_EncodeStatus_String(status);
  bjvmi_report(s->input.name, "cannot write a binary %s: %s", upb_MessageDef_FullName(s->type), why);
  return false;
}

int bjvmi_cmd_decode(const bjvmi_options *options) {
  int usage = check_usage(options);
  if (usage != BJVMI_EXIT_DONE) return usage;
  session s;
  bool ok = open_session(&s, options) && decode(&s) && write_binary(&s);
  close_session(&s);
  return ok ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}
