/* The command line: one table of options, from which parsing, hints and help are made.
 *
 * main.c has chosen the command. A long option takes its argument as --opt=value or --opt value; the flags of
 * the codec are accepted by encode and decode alike, so that a tool can pass one set to both. Invariant: an
 * error line has been printed whenever parsing returns false.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bjvm/codec.h"
#include "cli.h"

enum {
  FOR_CODEC = BJVMI_FOR_ENCODE | BJVMI_FOR_DECODE,
  FOR_SCHEMA = BJVMI_FOR_COMPILE | BJVMI_FOR_DUMP | FOR_CODEC,
  FOR_COMPILING = BJVMI_FOR_COMPILE | BJVMI_FOR_DUMP,
  FOR_ALL = FOR_SCHEMA | BJVMI_FOR_VERIFY | BJVMI_FOR_LINT,
};

typedef enum option_id {
  OPTION_HELP,
  OPTION_DESCRIPTOR_SET,
  OPTION_PLAN,
  OPTION_TYPE,
  OPTION_IMPORT,
  OPTION_OUTPUT,
  OPTION_EMIT,
  OPTION_HEADER,
  OPTION_SYMBOL,
  OPTION_DEPFILE,
  OPTION_ABI,
  OPTION_MINI,
  OPTION_STREAM,
  OPTION_EXTENSIONS,
  OPTION_STATS,
  OPTION_MAX_DEPTH,
  OPTION_INDENT,
  OPTION_FLAGS, /* sets bits */
} option_id;

typedef struct option {
  const char *name;
  char letter;
  const char *argument; /* NULL: takes none */
  option_id id;
  unsigned commands;
  uint32_t encode_flags;
  uint32_t decode_flags;
  const char *help;
} option;

static const option table[] = {
    {"descriptor-set", 0, "FILE", OPTION_DESCRIPTOR_SET, FOR_SCHEMA | BJVMI_FOR_LINT, 0, 0,
     "the schema: a FileDescriptorSet with all its imports"},
    {"plan", 0, "FILE", OPTION_PLAN, BJVMI_FOR_DUMP | BJVMI_FOR_VERIFY | FOR_CODEC, 0, 0,
     "a plan file; one with mini descriptors needs no schema"},
    {"proto-path", 'I', "DIR", OPTION_IMPORT, FOR_COMPILING, 0, 0,
     "where FILE.proto and its imports are looked for (default: .)"},
    {"type", 0, "NAME", OPTION_TYPE, FOR_SCHEMA, 0, 0, "full name of the message type"},
    {"output", 'o', "FILE", OPTION_OUTPUT, FOR_SCHEMA, 0, 0, "where to write; - or none: standard output"},
    {"emit", 0, "FORM", OPTION_EMIT, BJVMI_FOR_COMPILE, 0, 0,
     "blob (default), c: a C source, asm: a source beside the plan file"},
    {"header", 0, "FILE", OPTION_HEADER, BJVMI_FOR_COMPILE, 0, 0,
     "with c and asm: also a header with size, fingerprints and names"},
    {"symbol", 0, "NAME", OPTION_SYMBOL, BJVMI_FOR_COMPILE, 0, 0,
     "with c and asm: the array's name (default: that of the output file)"},
    {"depfile", 0, "FILE", OPTION_DEPFILE, BJVMI_FOR_COMPILE, 0, 0,
     "what the output was made from, as a rule for make and ninja"},
    {"mini-descriptors", 0, NULL, OPTION_MINI, FOR_COMPILING, 0, 0,
     "with these a program can build its mini tables from the plan"},
    {"abi", 0, "BITS", OPTION_ABI, FOR_COMPILING, 0, 0,
     "lay it out for pointers of 32 or 64 bits, to be used in place"},
    {"extensions", 0, NULL, OPTION_EXTENSIONS, FOR_COMPILING, 0, 0,
     "also the extensions that the set has for the types"},
    {"stats", 0, NULL, OPTION_STATS, BJVMI_FOR_COMPILE, 0, 0,
     "tell on standard error where the bytes of the plan go"},
    {"stream", 0, NULL, OPTION_STREAM, FOR_CODEC, 0, 0,
     "many messages: binary behind varint lengths, JSON one a line"},
    {"use-proto-names", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_PROTO_NAMES, 0,
     "encode: field names as in the .proto file"},
    {"enums-as-ints", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_ENUMS_AS_INTS, 0,
     "encode: enum values as numbers"},
    {"emit-defaults", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_EMIT_DEFAULTS, 0,
     "encode: also fields without presence that have their default"},
    {"sort-map-keys", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_SORT_MAP_KEYS, 0,
     "encode: map entries in the order of their keys"},
    {"int64-as-numbers", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_INT64_AS_NUMBERS, 0,
     "encode: 64-bit integers without quotes"},
    {"pretty", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_PRETTY, 0, "encode: one member a line"},
    {"indent", 0, "N", OPTION_INDENT, FOR_CODEC, BJVM_ENCODE_PRETTY, 0,
     "encode: --pretty with N blanks a level, 1 to 16 (default 2)"},
    {"ascii", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_ASCII, 0, "encode: non-ASCII as \\u escapes"},
    {"html-safe", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_HTML_SAFE, 0,
     "encode: < > & and U+2028/2029 as \\u escapes"},
    {"ignore-unknown", 0, NULL, OPTION_FLAGS, FOR_CODEC, 0, BJVM_DECODE_IGNORE_UNKNOWN,
     "decode: skip unknown names, drop unknown enum names"},
    {"last-wins", 0, NULL, OPTION_FLAGS, FOR_CODEC, 0, BJVM_DECODE_LAST_WINS,
     "decode: a name given twice is no error, the last counts"},
    {"case-insensitive-enums", 0, NULL, OPTION_FLAGS, FOR_CODEC, 0, BJVM_DECODE_CASE_INSENSITIVE_ENUMS,
     "decode: ASCII case of enum names does not matter"},
    {"check-required", 0, NULL, OPTION_FLAGS, FOR_CODEC, BJVM_ENCODE_CHECK_REQUIRED,
     BJVM_DECODE_CHECK_REQUIRED, "a missing required field is an error"},
    {"max-depth", 0, "N", OPTION_MAX_DEPTH, FOR_CODEC, 0, 0,
     "objects and arrays inside one another, 1 to 65535 (default 100)"},
    {"help", 'h', NULL, OPTION_HELP, FOR_ALL, 0, 0, "this text"},
};
enum { TABLE_COUNT = sizeof table / sizeof table[0] };

/* -- Help ----------------------------------------------------------------------------------------------- */

void bjvmi_options_help(const bjvmi_command *command) {
  for (const option *o = table; o < table + TABLE_COUNT; o++) {
    if (!(o->commands & command->mask)) continue;
    char left[40];
    snprintf(left, sizeof left, "%c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
             o->letter ? "," : " ", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    printf("  %-30s  %s\n", left, o->help);
  }
}

/* -- Errors --------------------------------------------------------------------------------------------- */

static bool usage_error(const bjvmi_options *options, const char *what, const char *word, const char *hint) {
  bjvmi_report("planc", "%s '%s'%s (see planc %s --help)", what, word, hint, options->command);
  return false;
}

static bool unknown_option(const bjvmi_options *options, unsigned mask, const char *word) {
  char name[80];
  size_t size = strcspn(word, "=");
  if (size >= sizeof name) size = sizeof name - 1;
  memcpy(name, word, size);
  name[size] = 0;
  bjvmi_nearest nearest = {.word = name + strspn(name, "-")};
  for (const option *o = table; o < table + TABLE_COUNT; o++) {
    if (o->commands & mask) bjvmi_nearest_offer(&nearest, o->name);
  }
  return usage_error(options, "unknown option", name, bjvmi_nearest_hint(&nearest, "--"));
}

/* -- Parsing -------------------------------------------------------------------------------------------- */

/* A number without sign or blanks, from 1 to `max`; 0 if it is none. */
static uint32_t parse_number(const char *text, uint32_t max) {
  uint32_t value = 0;
  for (const char *p = text; *p; p++) {
    if (*p < '0' || *p > '9' || value > max) return 0;
    value = value * 10 + (uint32_t)(*p - '0');
  }
  return value <= max ? value : 0;
}

static bool set_once(const bjvmi_options *options, const char **place, const char *value, const option *o) {
  if (*place) return usage_error(options, "option given twice:", o->name, "");
  *place = value;
  return true;
}

static bool set_number(const bjvmi_options *options, uint32_t *place, uint32_t max, const char *value,
                       const option *o) {
  *place = parse_number(value, max);
  if (*place) return true;
  bjvmi_report("planc", "--%s takes a number from 1 to %u, not '%s' (see planc %s --help)", o->name,
               (unsigned)max, value, options->command);
  return false;
}

static bool set_emit(bjvmi_options *options, const char *value) {
  static const char *const forms[] = {"blob", "c", "asm"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(value, forms[i]) != 0) continue;
    options->emit = (bjvmi_emit)i;
    return true;
  }
  return usage_error(options, "--emit takes blob, c or asm, not", value, "");
}

static bool set_abi(bjvmi_options *options, const char *value) {
  options->abi = strcmp(value, "32") == 0 ? 32 : strcmp(value, "64") == 0 ? 64 : 0;
  return options->abi ? true : usage_error(options, "--abi takes 32 or 64, not", value, "");
}

static bool set_symbol(bjvmi_options *options, const char *value, const option *o) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                    digits[] = "0123456789";
  size_t size = strspn(value, letters);
  while (size && value[size]) {
    size_t more = strspn(value + size, letters) + strspn(value + size, digits);
    if (!more) break;
    size += more;
  }
  if (!size || value[size]) return usage_error(options, "--symbol takes a C identifier, not", value, "");
  return set_once(options, &options->symbol, value, o);
}

static bool apply(bjvmi_options *options, const option *o, const char *value) {
  options->encode_flags |= o->encode_flags;
  options->decode_flags |= o->decode_flags;
  switch (o->id) {
    case OPTION_HELP: options->help = true; break;
    case OPTION_DESCRIPTOR_SET: return set_once(options, &options->descriptor_set, value, o);
    case OPTION_PLAN: return set_once(options, &options->plan, value, o);
    case OPTION_IMPORT: options->imports[options->import_count++] = value; break;
    case OPTION_EMIT: return set_emit(options, value);
    case OPTION_HEADER: return set_once(options, &options->header, value, o);
    case OPTION_SYMBOL: return set_symbol(options, value, o);
    case OPTION_DEPFILE: return set_once(options, &options->depfile, value, o);
    case OPTION_ABI: return set_abi(options, value);
    case OPTION_MINI: options->mini = true; break;
    case OPTION_STREAM: options->stream = true; break;
    case OPTION_TYPE: options->types[options->type_count++] = value; break;
    case OPTION_OUTPUT: return set_once(options, &options->output, value, o);
    case OPTION_EXTENSIONS: options->extensions = true; break;
    case OPTION_STATS: options->stats = true; break;
    case OPTION_MAX_DEPTH: return set_number(options, &options->max_depth, BJVMI_MAX_DEPTH, value, o);
    case OPTION_INDENT: return set_number(options, &options->indent, 16, value, o);
    case OPTION_FLAGS: break;
  }
  return true;
}

static const option *find_long(const char *name, size_t size, unsigned mask) {
  for (const option *o = table; o < table + TABLE_COUNT; o++) {
    if ((o->commands & mask) && strlen(o->name) == size && memcmp(o->name, name, size) == 0) return o;
  }
  return NULL;
}

static const option *find_short(char letter, unsigned mask) {
  for (const option *o = table; o < table + TABLE_COUNT; o++) {
    if ((o->commands & mask) && o->letter && o->letter == letter) return o;
  }
  return NULL;
}

/* One option at argv[*at], with its argument; *at moves to the last word used. */
static bool parse_option(bjvmi_options *options, unsigned mask, int argc, char **argv, int *at) {
  const char *word = argv[*at];
  const option *o;
  const char *value = NULL;
  if (word[1] == '-') {
    size_t size = strcspn(word + 2, "=");
    o = find_long(word + 2, size, mask);
    if (word[2 + size]) value = word + 2 + size + 1;
  } else {
    o = find_short(word[1], mask);
    if (word[2]) value = word + 2;
    if (o && !o->argument && value) o = NULL; /* letters are not bundled */
  }
  if (!o) return unknown_option(options, mask, word);
  if (!o->argument && value) return usage_error(options, "option takes no value:", word, "");
  if (o->argument && !value) {
    if (*at + 1 >= argc) return usage_error(options, "option needs a value:", word, "");
    value = argv[++*at];
  }
  if (value && !*value) return usage_error(options, "option needs a value:", word, "");
  return apply(options, o, value);
}

bool bjvmi_options_parse(bjvmi_options *options, const bjvmi_command *command, int argc, char **argv,
                         int from) {
  memset(options, 0, sizeof *options);
  options->command = command->name;
  options->types = (const char **)calloc((size_t)argc + 1, sizeof(char *));
  options->files = (const char **)calloc((size_t)argc + 1, sizeof(char *));
  options->imports = (const char **)calloc((size_t)argc + 1, sizeof(char *));
  if (!options->types || !options->files || !options->imports) {
    bjvmi_report("planc", "out of memory");
    return false;
  }
  bool only_files = false;
  for (int i = from; i < argc; i++) {
    if (only_files || argv[i][0] != '-' || !argv[i][1]) {
      options->files[options->file_count++] = argv[i];
    } else if (strcmp(argv[i], "--") == 0) {
      only_files = true;
    } else if (!parse_option(options, command->mask, argc, argv, &i)) {
      return false;
    }
  }
  return true;
}
