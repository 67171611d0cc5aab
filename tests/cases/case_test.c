/* Runs the case table through the C API: every line with plans from a cache, and again with plans loaded from
 * a compiled file. `case_test SET TABLE [--kind K] [--id ID]` prints each failure, a table of kinds, and the
 * totals. `case_test SET --compare` reads lines `type hex hex` and answers `same` or where the two messages
 * differ; run_cli.py uses it, so that both runs judge alike.
 *
 * Text goes in from a block of exactly its size, so that a memory checker sees a read past the end. What is
 * printed is printed three times: to a growing output, to a block that just fits, to a block one byte short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/support.h"
#include "bjvm/bjvm.h"

enum { MAX_KINDS = 64, MAX_TYPES = 64, MAX_ANSWERS = 8 };

typedef enum outcome { PASSED, FAILED, NOT_YET } outcome;

typedef struct tally {
  const char *kind;
  size_t count[3];
} tally;

/* One line of the table; the strings are cut out of it in place. */
typedef struct test_case {
  const char *id, *kind, *type, *op, *opts;
  char *input;
  char *answers[MAX_ANSWERS];
  size_t answer_count;
} test_case;

/* What a case is run with. */
typedef struct runner {
  const upb_DefPool *pool;
  bjvm_cache *cache;
  const bjvm_image *image; /* NULL: plans come from the cache */
  upb_Arena *arena;        /* of the image and its plans */
  const bjvm_plan *plans[MAX_TYPES];
  const upb_MessageDef *types[MAX_TYPES];
  size_t type_count;
  const char *source;
  tally kinds[MAX_KINDS];
  size_t kind_count;
} runner;

/* -- Options -------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  uint32_t encode, decode;
} option_table[] = {
    {"ignore_unknown", 0, BJVM_DECODE_IGNORE_UNKNOWN},
    {"last_wins", 0, BJVM_DECODE_LAST_WINS},
    {"case_insensitive_enums", 0, BJVM_DECODE_CASE_INSENSITIVE_ENUMS},
    {"check_required", BJVM_ENCODE_CHECK_REQUIRED, BJVM_DECODE_CHECK_REQUIRED},
    {"emit_defaults", BJVM_ENCODE_EMIT_DEFAULTS, 0},
    {"use_proto_names", BJVM_ENCODE_PROTO_NAMES, 0},
    {"enums_as_ints", BJVM_ENCODE_ENUMS_AS_INTS, 0},
    {"int64_as_numbers", BJVM_ENCODE_INT64_AS_NUMBERS, 0},
    {"sort_map_keys", BJVM_ENCODE_SORT_MAP_KEYS, 0},
};

/* The flags of a comma-separated list; false for an option that is not in the table above. */
static bool read_options(const char *opts, uint32_t *encode, uint32_t *decode) {
  *encode = *decode = 0;
  while (*opts != 0) {
    size_t size = strcspn(opts, ","), i = 0, count = sizeof option_table / sizeof option_table[0];
    while (i < count &&
           (strlen(option_table[i].name) != size || memcmp(option_table[i].name, opts, size) != 0))
      i++;
    if (i == count) return false;
    *encode |= option_table[i].encode;
    *decode |= option_table[i].decode;
    opts += size + (opts[size] == ',');
  }
  return true;
}

/* -- Plans ---------------------------------------------------------------------------------------------- */

static bool add_type(runner *r, const char *name) {
  for (size_t i = 0; i < r->type_count; i++)
    if (strcmp(upb_MessageDef_FullName(r->types[i]), name) == 0) return true;
  if (r->type_count == MAX_TYPES) return false;
  r->types[r->type_count++] = test_find_message(r->pool, name);
  return true;
}

/* Compiles all types of the table into one file, loads and binds it, and makes the words for every option of
 * the table. */
static bool load_plans(runner *r, bjvm_error *error) {
  const void *data;
  size_t size;
  if (bjvm_compile(r->types, r->type_count, BJVM_COMPILE_EXTENSIONS, r->arena, &data, &size, error) !=
      BJVM_OK)
    return false;
  if (bjvm_image_load(data, size, r->arena, &r->image, error) != BJVM_OK) return false;
  for (size_t i = 0; i < r->type_count; i++) {
    const char *name = upb_MessageDef_FullName(r->types[i]);
    const upb_MiniTable *table = upb_MessageDef_MiniTable(r->types[i]);
    if (bjvm_image_bind(r->image, name, table, r->arena, &r->plans[i], error) != BJVM_OK) return false;
  }
  return true;
}

static const bjvm_plan *plan_of(runner *r, const upb_MessageDef *def, uint32_t flags, bjvm_error *error) {
  if (r->image == NULL) return bjvm_cache_get(r->cache, def, error);
  size_t i = 0;
  while (r->types[i] != def) i++;
  if (flags != 0 && bjvm_plan_prepare(r->plans[i], flags, r->arena) != BJVM_OK) return NULL;
  return r->plans[i];
}

/* -- Running one case ----------------------------------------------------------------------------------- */

static outcome fail(const runner *r, const test_case *t, const char *what, const char *detail) {
  printf("FAIL %s (%s, %s, %s): %s%s%.600s\n", t->id, t->kind, t->op, r->source, what,
         detail[0] != 0 ? ": " : "", detail);
  return FAILED;
}

static bool wants_error(const test_case *t) {
  for (size_t i = 0; i < t->answer_count; i++)
    if (strcmp(t->answers[i], "error") == 0) return true;
  return false;
}

static outcome refused(const runner *r, const test_case *t, const bjvm_error *error) {
  char text[512];
  if (error->code == BJVM_UNSUPPORTED) return NOT_YET;
  if (wants_error(t)) {
    if (error->message[0] != 0 && error->code != BJVM_OK) return PASSED;
    return fail(r, t, "refused, but the report is empty", bjvm_status_name(error->code));
  }
  snprintf(text, sizeof text, "%s at %zu, path '%s': %s", bjvm_status_name(error->code), error->offset,
           error->path, error->message);
  return fail(r, t, "refused, but is right", text);
}

static outcome judge_message(const runner *r, const test_case *t, const upb_MessageDef *def,
                             const upb_Message *msg, upb_Arena *arena) {
  char where[512] = "";
  char *data;
  size_t size;
  for (size_t i = 0; i < t->answer_count; i++) {
    if (strncmp(t->answers[i], "pb:", 3) != 0) continue;
    char *hex = strcpy(upb_Arena_Malloc(arena, strlen(t->answers[i])), t->answers[i] + 3);
    size = test_unhex(hex);
    const upb_Message *want = test_parse(r->pool, def, hex, size, arena);
    if (want == NULL) return fail(r, t, "the answer is no message", "");
    if (!test_same(r->pool, def, want, msg, where, sizeof where)) continue;
    /* The message must also be what upb takes for a message. */
    if (!test_serialize(msg, def, arena, &data, &size)) return fail(r, t, "upb cannot encode the result", "");
    const upb_Message *again = test_parse(r->pool, def, data, size, arena);
    if (again == NULL) return fail(r, t, "upb cannot read back the result", "");
    return test_same(r->pool, def, want, again, where, sizeof where) ? PASSED
                                                                     : fail(r, t, "read back differs", where);
  }
  return where[0] != 0 ? fail(r, t, "the message differs", where)
                       : fail(r, t, "accepted, but must be refused", "");
}

static outcome run_decode(runner *r, const test_case *t, const upb_MessageDef *def, upb_Arena *arena) {
  uint32_t encode, decode;
  bjvm_error error = {.code = BJVM_OK};
  if (!read_options(t->opts, &encode, &decode)) return NOT_YET;
  const bjvm_plan *plan = plan_of(r, def, 0, &error);
  if (plan == NULL) return fail(r, t, "no plan", error.message);
  bjvm_decode_options options = {
      .size = sizeof options, .flags = decode, .registry = bjvm_cache_registry(r->cache), .scratch = arena};
  char *copy = strcpy(malloc(strlen(t->input) + 1), t->input);
  size_t size = test_unescape(copy);
  char *json = memcpy(malloc(size > 0 ? size : 1), copy, size);
  free(copy);
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(def), arena);
  bjvm_status status = bjvm_decode(plan, json, size, msg, arena, &options, &error);
  free(json);
  if (status != BJVM_OK)
    return status == error.code ? refused(r, t, &error) : fail(r, t, "status and report differ", "");
  return judge_message(r, t, def, msg, arena);
}

/* The same text into a block that just fits, and what a block one byte short says. */
static outcome check_fixed(const runner *r, const test_case *t, const bjvm_plan *plan, const upb_Message *msg,
                           const bjvm_encode_options *options, const bjvm_output *want) {
  char *block = malloc(want->size);
  bjvm_output output = bjvm_output_fixed(block, want->size);
  bjvm_status status = bjvm_encode(plan, msg, options, &output, NULL);
  bool same = status == BJVM_OK && output.size == want->size && memcmp(block, want->data, want->size) == 0;
  output = bjvm_output_fixed(block, want->size - 1);
  block[want->size - 1] = '#';
  status = bjvm_encode(plan, msg, options, &output, NULL);
  bool counted = status == BJVM_OVERFLOW && output.needed == want->size && output.size == 0;
  bool kept = block[want->size - 1] == '#';
  free(block);
  if (!same) return fail(r, t, "a block of the exact size gets another text", bjvm_status_name(status));
  if (!kept) return fail(r, t, "a short block is written past its end", "");
  return counted ? PASSED : fail(r, t, "a short block is not told the size", bjvm_status_name(status));
}

static outcome judge_text(const runner *r, const test_case *t, const char *text, size_t size) {
  for (size_t i = 0; i < t->answer_count; i++) {
    if (strncmp(t->answers[i], "json:", 5) != 0) continue;
    char *want = strcpy(malloc(strlen(t->answers[i])), t->answers[i] + 5);
    size_t want_size = test_unescape(want);
    bool same = want_size == size && memcmp(want, text, size) == 0;
    free(want);
    if (same) return PASSED;
  }
  char got[600];
  snprintf(got, sizeof got, "%.*s", (int)(size < 500 ? size : 500), text);
  return fail(r, t, wants_error(t) ? "printed, but must be refused" : "another text", got);
}

static outcome run_encode(runner *r, const test_case *t, const upb_MessageDef *def, upb_Arena *arena) {
  uint32_t encode, decode;
  bjvm_error error = {.code = BJVM_OK};
  if (!read_options(t->opts, &encode, &decode)) return NOT_YET;
  const bjvm_plan *plan = plan_of(r, def, encode, &error);
  if (plan == NULL) return fail(r, t, "no plan", error.message);
  char *input = strcpy(upb_Arena_Malloc(arena, strlen(t->input) + 1), t->input);
  size_t size = test_unhex(input);
  const upb_Message *msg = test_parse(r->pool, def, input, size, arena);
  if (msg == NULL) return wants_error(t) ? PASSED : fail(r, t, "upb cannot read the input", "");
  bjvm_encode_options options = {
      .size = sizeof options, .flags = encode, .registry = bjvm_cache_registry(r->cache), .scratch = arena};
  bjvm_output output = bjvm_output_heap();
  bjvm_status status = bjvm_encode(plan, msg, &options, &output, &error);
  outcome o;
  if (status != BJVM_OK) {
    o = status == error.code ? refused(r, t, &error) : fail(r, t, "status and report differ", "");
    if (o == PASSED && output.size != 0) o = fail(r, t, "refused, but something stays in the output", "");
  } else {
    o = judge_text(r, t, output.data, output.size);
    if (o == PASSED) o = check_fixed(r, t, plan, msg, &options, &output);
  }
  bjvm_output_free(&output);
  return o;
}

/* -- The table ------------------------------------------------------------------------------------------ */

/* Cuts a line at its tabs. Returns false for a comment or an empty line. */
static bool cut_case(char *line, test_case *t) {
  char *column[6 + MAX_ANSWERS];
  size_t count = 0;
  if (line[0] == '#' || line[0] == 0) return false;
  for (char *next = line; next != NULL && count < 6 + MAX_ANSWERS; count++) {
    column[count] = next;
    next = strchr(next, '\t');
    if (next != NULL) *next++ = 0;
  }
  if (count < 7) return false;
  *t = (test_case){column[0], column[1], column[2], column[3], column[4], column[5], {0}, count - 6};
  memcpy(t->answers, column + 6, (count - 6) * sizeof column[0]);
  return true;
}

static tally *tally_of(runner *r, const char *kind) {
  size_t i = 0;
  while (i < r->kind_count && strcmp(r->kinds[i].kind, kind) != 0) i++;
  if (i == r->kind_count && r->kind_count < MAX_KINDS) r->kinds[r->kind_count++].kind = kind;
  return &r->kinds[i];
}

static void run_all(runner *r, const test_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    upb_Arena *arena = upb_Arena_New();
    const upb_MessageDef *def = test_find_message(r->pool, cases[i].type);
    bool decode = strcmp(cases[i].op, "decode") == 0;
    outcome o = decode ? run_decode(r, &cases[i], def, arena) : run_encode(r, &cases[i], def, arena);
    tally_of(r, cases[i].kind)->count[o]++;
    upb_Arena_Free(arena);
  }
}

static size_t report(const runner *r, size_t total[3]) {
  memset(total, 0, 3 * sizeof total[0]);
  printf("%-16s %8s %8s %8s   (%s)\n", "kind", "passed", "failed", "not yet", r->source);
  for (size_t i = 0; i < r->kind_count; i++) {
    const tally *t = &r->kinds[i];
    printf("%-16s %8zu %8zu %8zu\n", t->kind, t->count[PASSED], t->count[FAILED], t->count[NOT_YET]);
    for (int o = 0; o < 3; o++) total[o] += t->count[o];
  }
  printf("%-16s %8zu %8zu %8zu   of %zu\n\n", "all", total[PASSED], total[FAILED], total[NOT_YET],
         total[PASSED] + total[FAILED] + total[NOT_YET]);
  return total[FAILED];
}

/* Lines `type<TAB>hex<TAB>hex` on standard input; one line of answer each. */
static int compare_lines(const upb_DefPool *pool) {
  size_t capacity = 1 << 24;
  char *line = malloc(capacity);
  while (fgets(line, (int)capacity, stdin) != NULL) {
    upb_Arena *arena = upb_Arena_New();
    char where[512];
    line[strcspn(line, "\n")] = 0;
    char *a = strchr(line, '\t'), *b = a != NULL ? strchr(a + 1, '\t') : NULL;
    if (b == NULL) return 2;
    *a++ = *b++ = 0;
    const upb_MessageDef *def = test_find_message(pool, line);
    size_t size_a = test_unhex(a), size_b = test_unhex(b);
    const upb_Message *msg_a = test_parse(pool, def, a, size_a, arena),
                      *msg_b = test_parse(pool, def, b, size_b, arena);
    if (msg_a == NULL || msg_b == NULL) puts("not a message");
    else puts(test_same(pool, def, msg_a, msg_b, where, sizeof where) ? "same" : where);
    upb_Arena_Free(arena);
  }
  free(line);
  return 0;
}

static size_t read_table(runner *r, char *data, const char *kind, const char *id, test_case **cases) {
  size_t count = 0, lines = 1;
  for (const char *p = data; *p != 0; p++) lines += *p == '\n';
  *cases = calloc(lines, sizeof **cases);
  for (char *line = data; line != NULL;) {
    char *next = strchr(line, '\n');
    if (next != NULL) *next++ = 0;
    test_case t;
    if (cut_case(line, &t) && (kind == NULL || strcmp(kind, t.kind) == 0) &&
        (id == NULL || strcmp(id, t.id) == 0)) {
      (*cases)[count++] = t;
      if (!add_type(r, t.type)) return 0;
    }
    line = next;
  }
  return count;
}

int main(int argc, char **argv) {
  const char *kind = NULL, *id = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: case_test SET (TABLE [--kind K] [--id ID] | --compare)\n");
    return 2;
  }
  upb_DefPool *pool = test_pool_load(argv[1]);
  if (strcmp(argv[2], "--compare") == 0) return compare_lines(pool);
  for (int i = 3; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--kind") == 0) kind = argv[i + 1];
    if (strcmp(argv[i], "--id") == 0) id = argv[i + 1];
  }
  size_t size, total[3], loaded_total[3], failed = 0;
  char *data = test_read_file(argv[2], &size);
  runner cached = {.pool = pool, .cache = bjvm_cache_new(pool), .source = "plans from a cache"};
  test_case *cases;
  size_t count = read_table(&cached, data, kind, id, &cases);
  runner loaded = cached;
  loaded.source = "plans from a file";
  loaded.arena = upb_Arena_New();

  run_all(&cached, cases, count);
  failed += report(&cached, total);
  bjvm_error error = {.code = BJVM_OK};
  if (load_plans(&loaded, &error)) {
    run_all(&loaded, cases, count);
    failed += report(&loaded, loaded_total);
  } else {
    printf("FAIL no plans from a file: %s: %s\n", bjvm_status_name(error.code), error.message);
    failed += loaded_total[FAILED] = count;
    loaded_total[PASSED] = 0;
  }
  printf("%zu passed, %zu failed\n", total[PASSED] + loaded_total[PASSED], failed);

  upb_Arena_Free(loaded.arena);
  bjvm_cache_free(cached.cache);
  upb_DefPool_Free(pool);
  free(cases);
  free(data);
  return failed != 0 || count == 0;
}
