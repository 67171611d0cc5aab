/* What errors say: `error_test SET ERRORS_TXT`.
 *
 * The table gives texts with a caret under the expected byte, and messages that cannot be printed; code,
 * offset, line, column and path are compared. Then a document is cut at every byte: each cut is an error at
 * the place of the cut, and all memory under the arena comes back. Last, the depth limit from both sides, in
 * both directions. Depends on the public headers only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/support.h"
#include "bjvm/bjvm.h"
#include "upb/reflection/message.h"

enum { MAX_TEXT = 4096, MAX_LEVELS = 512 };

typedef struct context {
  upb_DefPool *pool;
  bjvm_cache *cache;
  size_t passed, failed;
} context;

/* One row of the table. */
typedef struct row {
  int line; /* of the table's file */
  bool print;
  char status[32], type[64], path[256], opts[64];
  char text[MAX_TEXT];
  size_t size;
  bool has_caret;
  size_t offset;
  uint32_t text_line, column;
} row;

/* -- Reading the table ---------------------------------------------------------------------------------- */

static bool is_caret(const char *line) {
  size_t blanks = strspn(line, " \t");
  return line[blanks] == '^' && line[blanks + 1] == 0;
}

static bool starts_row(const char *line) {
  return strncmp(line, "== ", 3) == 0 || strncmp(line, "=> ", 3) == 0;
}

/* Appends a line of the table to the text, with <<hh>> undone. If `caret` characters into the line as written
 * there is a byte to mark (caret >= 0), its place is noted. */
static void add_line(row *r, const char *line, int caret) {
  size_t start = r->size;
  uint32_t column = 1;
  int character = 0;
  for (const char *p = line;; character++) {
    if (character == caret) {
      r->has_caret = true;
      r->offset = r->size;
      r->column = column;
    }
    if (*p == 0) break;
    if (p[0] == '<' && p[1] == '<') {
      char hex[3] = {p[2], p[3], 0};
      test_unhex(hex);
      r->text[r->size++] = hex[0];
      character += 5;
      p += 6;
    } else {
      do r->text[r->size++] = *p++;
      while (((unsigned char)*p & 0xc0) == 0x80);
    }
    column++;
  }
  if (r->has_caret && r->offset >= start && r->text_line == 0) {
    r->text_line = 1;
    for (size_t i = 0; i < start; i++) r->text_line += r->text[i] == '\n';
  }
}

/* The characters before the caret: a tab counts as one. */
static int caret_place(const char *line) {
  return line != NULL && is_caret(line) ? (int)strspn(line, " \t") : -1;
}

/* Reads the next row at *next (lines are cut at newlines already, `end` is behind the last). */
static bool next_row(char **lines, size_t count, size_t *next, row *r) {
  while (*next < count && !starts_row(lines[*next])) ++*next;
  if (*next == count) return false;
  memset(r, 0, sizeof *r);
  const char *head = lines[*next];
  r->line = (int)*next + 1;
  r->print = head[1] == '>';
  if (sscanf(head + 3, "%31s %63s %255s %63s", r->status, r->type, r->path, r->opts) < 3) return false;
  if (strcmp(r->path, "-") == 0) r->path[0] = 0;
  bool first = true;
  for (++*next; *next < count && !starts_row(lines[*next]); ++*next) {
    const char *line = lines[*next];
    if (is_caret(line)) continue;
    if (line[0] == '#' || (line[0] == 0 && (*next + 1 == count || lines[*next + 1][0] == '#'))) break;
    if (!first) r->text[r->size++] = '\n';
    first = false;
    add_line(r, line, caret_place(*next + 1 < count ? lines[*next + 1] : NULL));
  }
  return true;
}

/* -- Judging a row -------------------------------------------------------------------------------------- */

static uint32_t decode_flags(const char *opts) {
  return (strstr(opts, "ignore_unknown") != NULL ? BJVM_DECODE_IGNORE_UNKNOWN : 0u) |
         (strstr(opts, "check_required") != NULL ? BJVM_DECODE_CHECK_REQUIRED : 0u);
}

static void judge(context *c, const row *r, bjvm_status status, const bjvm_error *e) {
  char what[640] = "";
  if (status == BJVM_OK) snprintf(what, sizeof what, "accepted");
  else if (status != e->code)
    snprintf(what, sizeof what, "status %s, report %s", bjvm_status_name(status), bjvm_status_name(e->code));
  else if (strcmp(bjvm_status_name(status), r->status) != 0)
    snprintf(what, sizeof what, "code is %s", bjvm_status_name(status));
  else if (r->has_caret && e->offset != r->offset)
    snprintf(what, sizeof what, "offset is %zu, not %zu", e->offset, r->offset);
  else if (r->has_caret && (e->line != r->text_line || e->column != r->column))
    snprintf(what, sizeof what, "place is %u:%u, not %u:%u", e->line, e->column, r->text_line, r->column);
  else if (r->print && (e->line != 0 || e->column != 0))
    snprintf(what, sizeof what, "line and column without a text: %u:%u", e->line, e->column);
  else if (strcmp(e->path, r->path) != 0)
    snprintf(what, sizeof what, "path is '%s', not '%s'", e->path, r->path);
  else if (e->message[0] == 0) snprintf(what, sizeof what, "no message");
  if (what[0] == 0) {
    c->passed++;
    return;
  }
  c->failed++;
  printf("FAIL errors.txt:%d: %s\n  %.*s\n  %s\n", r->line, what, (int)r->size, r->text,
         status != BJVM_OK ? e->message : "");
}

static void run_row(context *c, row *r) {
  upb_Arena *arena = upb_Arena_New();
  bjvm_error error = {.code = BJVM_OK};
  const upb_MessageDef *def = test_find_message(c->pool, r->type);
  const bjvm_plan *plan = bjvm_cache_get(c->cache, def, &error);
  bjvm_status status;
  if (r->print) {
    size_t size = test_unhex(r->text);
    const upb_Message *msg = test_parse(c->pool, def, r->text, size, arena);
    bool check = strstr(r->opts, "check_required") != NULL;
    bjvm_encode_options options = {.size = sizeof options,
                                   .flags = check ? BJVM_ENCODE_CHECK_REQUIRED : 0u,
                                   .registry = bjvm_cache_registry(c->cache),
                                   .scratch = arena};
    bjvm_output output = bjvm_output_arena(arena);
    if (msg == NULL) printf("errors.txt:%d: not a message\n", r->line);
    status = msg != NULL ? bjvm_encode(plan, msg, &options, &output, &error) : BJVM_OK;
    if (status != BJVM_OK && output.size != 0) status = BJVM_OK; /* something stayed in the output */
  } else {
    char *text = malloc(r->size > 0 ? r->size : 1);
    memcpy(text, r->text, r->size);
    bjvm_decode_options options = {.size = sizeof options,
                                   .flags = decode_flags(r->opts),
                                   .registry = bjvm_cache_registry(c->cache),
                                   .scratch = arena};
    upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(def), arena);
    status = bjvm_decode(plan, text, r->size, msg, arena, &options, &error);
    free(text);
  }
  judge(c, r, status, &error);
  upb_Arena_Free(arena);
}

static void run_table(context *c, const char *path) {
  size_t size, count = 1, next = 0;
  char *data = test_read_file(path, &size);
  for (char *p = data; *p != 0; p++) count += *p == '\n';
  char **lines = calloc(count, sizeof *lines);
  char *p = data;
  for (size_t i = 0; i < count; i++) {
    lines[i] = p;
    p += strcspn(p, "\n");
    if (*p != 0) *p++ = 0;
  }
  static row r;
  while (next_row(lines, count, &next, &r)) run_row(c, &r);
  free(lines);
  free(data);
}

/* -- A document cut at every byte ----------------------------------------------------------------------- */

/* Counts what an arena has from it. */
typedef struct counting_alloc {
  upb_alloc base; /* first */
  size_t live;
} counting_alloc;

static void *count_alloc(upb_alloc *alloc, void *old, size_t old_size, size_t size, size_t *actual) {
  counting_alloc *counting = (counting_alloc *)alloc;
  (void)old_size;
  (void)actual;
  if (size == 0) {
    counting->live -= old != NULL;
    free(old);
    return NULL;
  }
  counting->live += old == NULL;
  return realloc(old, size);
}

/* About 2 KB with every construct: nesting, escapes, raw UTF-8, numbers, all well-known types, Any with the
 * type last. */
static const char document[] =
    "{\n"
    "  \"id\": -12.5e1,\n"
    "  \"child\": {\"id\": \"7\", \"kids\": [{}, {\"id\": 1}, {\"kids\": [], \"by\": {\"a\": {}, "
    "\"b\\u00e9\\n\": "
    "{\"id\": 100e-2}}}]},\n"
    "  \"st\": {\"null\": null, \"yes\": true, \"no\": false, \"number\": -1.25E+10, \"text\": "
    "\"na\xc3\xafve "
    "\xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\xa6\x8a \\ud83e\\udd8a \\\"q\\\" \\\\ \\/ \\b\\f\\n\\r\\t\",\n"
    "    \"list\": [1, 2.5, \"three\", [[]], {\"deep\": {\"er\": []}}, null, true]},\n"
    "  \"val\": [0, -0.0, 123456789012345678, "
    "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"],\n"
    "  \"any\": {\"any\": {\"@type\": \"type.googleapis.com/cases.v3.Wkt\", \"ts\": "
    "\"2001-02-03T04:05:06.789Z\", "
    "\"du\": \"-1.5s\", \"fm\": \"fooBar,baz.quX\", \"em\": {}, \"nil\": null, \"wk\": true, \"wi\": 5, "
    "\"wu\": \"6\",\n"
    "      \"wl\": \"-7\", \"wul\": 8, \"wf\": 0.1, \"wd\": \"-Infinity\", \"ws\": \"s\", \"wb\": "
    "\"aGVsbG8=\", "
    "\"val\": {\"a\": [1]}, \"lv\": [{}, 1], \"st\": {}, \"any\": {}},\n"
    "    \"kids\": [{\"id\": 3}], \"@type\": \"type.googleapis.com/cases.v3.Rec\"},\n"
    "  \"by\": {\"\": {}, \"key\": {\"left\": {\"id\": 4, \"right\": {}}}, \"\xe6\xbc\xa2\": {\"st\": "
    "{\"x\": 0}}},\n"
    "  \"kids\": [{\"id\": 1, \"child\": {\"id\": 2, \"child\": {\"id\": 3, \"child\": {\"id\": 4, \"kids\": "
    "[{\"by\": {\"x\": "
    "{\"by\": {\"y\": {\"val\": null}}}}}]}}}}, {\"any\": {\"@type\": "
    "\"type.googleapis.com/google.protobuf.Duration\", \"value\": \"1.000000001s\"}},\n"
    "    {\"any\": {\"value\": \"2001-02-03T04:05:06+07:00\", \"@type\": "
    "\"type.googleapis.com/google.protobuf.Timestamp\"}},\n"
    "    {\"any\": {\"@type\": \"type.googleapis.com/cases.v3.Rep\", \"i32\": [1, 20, -300], \"db\": [1e-7, "
    "\"NaN\", "
    "2.2250738585072014e-308], \"raw\": [\"\", \"AAAA\", \"_-8\"], \"ok\": [true, false], \"color\": "
    "[\"RED\", 2, -1],\n"
    "      \"str\": [\"\\u0000\", \"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\", "
    "\"a long text without anything special that spans more than one vector of any kernel there is, to the "
    "end\"], "
    "\"u64\": [18446744073709551615, \"0\"], \"sub\": [{\"sub\": [{\"sub\": []}, {}]}]}},\n"
    "    {\"st\": {\"a\": {\"b\": {\"c\": {\"d\": {\"e\": {\"f\": [1, [2, [3, [4, [5]]]]]}}}}}}}],\n"
    "  \"right\": {\"val\": \"end\", \"kids\": [{\"id\": 2147483647}, {\"id\": \"-2147483648\"}, {\"id\": "
    "0e999999999}]}\n"
    "}";

static void cut_at(context *c, const bjvm_plan *plan, size_t size, size_t whole) {
  counting_alloc counting = {{count_alloc}, 0};
  upb_Arena *arena = upb_Arena_Init(NULL, 0, &counting.base);
  bjvm_error error = {.code = BJVM_OK};
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(c->cache), .scratch = arena};
  char *text = malloc(size > 0 ? size : 1);
  memcpy(text, document, size);
  upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
  bjvm_status status = bjvm_decode(plan, text, size, msg, arena, &options, &error);
  free(text);
  upb_Arena_Free(arena);
  bool right = size == whole ? status == BJVM_OK : status == BJVM_TRUNCATED && error.offset == size;
  /* A character of several bytes that is cut may also be told as bad UTF-8, at its first byte; what is left
   * of a number may be another number, or none. */
  if (!right && status == BJVM_BAD_UTF8)
    right = ((unsigned char)document[size] & 0xc0) == 0x80 && size - error.offset < 4;
  if (!right && size < whole && (status == BJVM_NOT_INTEGER || status == BJVM_BAD_NUMBER))
    right = strspn(document + error.offset, "+-.0123456789eE") > size - error.offset;
  if (right && counting.live == 0) {
    c->passed++;
    return;
  }
  c->failed++;
  size_t from = size < 20 ? 0 : size - 20;
  printf("FAIL cut at %zu, after ...%.*s: %s at %zu: %s; %zu blocks not freed\n", size, (int)(size - from),
         document + from, bjvm_status_name(status), error.offset, status != BJVM_OK ? error.message : "",
         counting.live);
}

static void run_cuts(context *c) {
  bjvm_error error;
  size_t whole = sizeof document - 1;
  const bjvm_plan *plan = bjvm_cache_find(c->cache, "cases.v3.Rec", strlen("cases.v3.Rec"), &error);
  for (size_t size = 0; size <= whole; size++) cut_at(c, plan, size, whole);
}

/* -- Depth ---------------------------------------------------------------------------------------------- */

/* The shapes of nesting: what opens and closes a level, and what is innermost. A level may be two deep. */
static const struct {
  const char *type, *start, *open, *inner, *close, *end;
  size_t at_start, per_level; /* depth of `start` and of a level; `inner` counts as one more */
  uint32_t flags;
} shapes[] = {
    {"cases.v3.T", "", "{\"sub\":", "{}", "}", "", 0, 1, 0},
    {"cases.v3.Rep", "", "{\"sub\":[", "{}", "]}", "", 0, 2, 0},
    {"cases.v3.Maps", "", "{\"vDeep\":{\"1\":", "{}", "}}", "", 0, 2, 0},
    {"cases.v3.Wkt", "{\"val\":", "[", "[]", "]", "}", 1, 1, 0},
    {"cases.v3.Wkt", "{\"lv\":", "[", "[]", "]", "}", 1, 1, 0},
    {"cases.v3.Wkt", "{\"st\":", "{\"a\":", "{}", "}", "}", 1, 1, 0},
    {"cases.v3.T", "{\"nope\":", "[", "[]", "]", "}", 1, 1, BJVM_DECODE_IGNORE_UNKNOWN},
    {"cases.v3.T", "{\"nope\":", "{\"a\":", "{}", "}", "}", 1, 1, BJVM_DECODE_IGNORE_UNKNOWN},
    {"cases.v3.Rec", "", "{\"any\":{\"@type\":\"type.googleapis.com/cases.v3.Rec\",\"child\":", "{}", "}}",
     "", 0, 2, 0},
};

static char *build(size_t shape, size_t depth, size_t *size) {
  size_t levels = (depth - shapes[shape].at_start - 1) / shapes[shape].per_level;
  char *text = malloc(MAX_LEVELS * 80), *p = text;
  p += sprintf(p, "%s", shapes[shape].start);
  for (size_t i = 0; i < levels; i++) p += sprintf(p, "%s", shapes[shape].open);
  p += sprintf(p, "%s", shapes[shape].inner);
  for (size_t i = 0; i < levels; i++) p += sprintf(p, "%s", shapes[shape].close);
  p += sprintf(p, "%s", shapes[shape].end);
  *size = (size_t)(p - text);
  return text;
}

static bjvm_status read_deep(context *c, const bjvm_plan *plan, size_t shape, size_t depth,
                             uint32_t max_depth, upb_Message *msg, upb_Arena *arena, bjvm_error *error) {
  size_t size;
  char *text = build(shape, depth, &size);
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = shapes[shape].flags,
                                 .max_depth = max_depth,
                                 .registry = bjvm_cache_registry(c->cache),
                                 .scratch = arena};
  bjvm_status status = bjvm_decode(plan, text, size, msg, arena, &options, error);
  free(text);
  return status;
}

static void expect(context *c, size_t shape, const char *what, bjvm_status got, bjvm_status want) {
  if (got == want) {
    c->passed++;
    return;
  }
  c->failed++;
  printf("FAIL depth, %s %s...: %s: %s, not %s\n", shapes[shape].type, shapes[shape].open, what,
         bjvm_status_name(got), bjvm_status_name(want));
}

static bjvm_status print_deep(context *c, const bjvm_plan *plan, const upb_Message *msg, uint32_t max_depth,
                              upb_Arena *arena, bjvm_error *error) {
  bjvm_encode_options options = {.size = sizeof options,
                                 .max_depth = max_depth,
                                 .registry = bjvm_cache_registry(c->cache),
                                 .scratch = arena};
  bjvm_output output = bjvm_output_arena(arena);
  return bjvm_encode(plan, msg, &options, &output, error);
}

static void run_shape(context *c, size_t shape) {
  upb_Arena *arena = upb_Arena_New();
  bjvm_error error = {.code = BJVM_OK};
  const char *type = shapes[shape].type;
  const bjvm_plan *plan = bjvm_cache_find(c->cache, type, strlen(type), &error);
  const upb_MiniTable *table = bjvm_plan_table(plan);
  size_t step = shapes[shape].per_level;
  size_t allowed = step == 2 ? 99 : 100; /* the deepest within the limit */
  upb_Message *msg = upb_Message_New(table, arena);
  expect(c, shape, "reading at the limit", read_deep(c, plan, shape, allowed, 0, msg, arena, &error),
         BJVM_OK);
  expect(c, shape, "printing at the limit", print_deep(c, plan, msg, 0, arena, &error), BJVM_OK);
  msg = upb_Message_New(table, arena);
  expect(c, shape, "reading beyond", read_deep(c, plan, shape, allowed + step, 0, msg, arena, &error),
         BJVM_DEPTH);
  msg = upb_Message_New(table, arena);
  expect(c, shape, "reading 101 of 300", read_deep(c, plan, shape, allowed + step, 300, msg, arena, &error),
         BJVM_OK);
  if (shapes[shape].flags != 0) { /* nothing is there to be printed */
    upb_Arena_Free(arena);
    return;
  }
  expect(c, shape, "printing beyond", print_deep(c, plan, msg, 0, arena, &error), BJVM_DEPTH);
  expect(c, shape, "printing 101 of 300", print_deep(c, plan, msg, 300, arena, &error), BJVM_OK);
  upb_Arena_Free(arena);
}

/* -- Limits, and what is missing in the options --------------------------------------------------------- */

static const char any_text[] = "{\"any\":{\"n\":1,\"@type\":\"type.googleapis.com/cases.v3.Mini\"}}";

static const struct {
  const char *what, *type, *json;
  bjvm_status want;
  uint32_t max_depth;
  size_t max_input, max_elements, max_memory;
  bool registry, scratch, frozen;
} limits[] = {
    {"input as large as allowed", "cases.v3.T", "{\"i32\":1}", BJVM_OK, 0, 9, 0, 0, true, true, false},
    {"input too large", "cases.v3.T", "{\"i32\":1}", BJVM_INPUT_LIMIT, 0, 8, 0, 0, true, true, false},
    {"as many elements as allowed", "cases.v3.Rep", "{\"i32\":[1,2],\"str\":[\"\"]}", BJVM_OK, 0, 0, 3, 0,
     true, true, false},
    {"too many elements", "cases.v3.Rep", "{\"i32\":[1,2],\"str\":[\"\"]}", BJVM_ELEMENT_LIMIT, 0, 0, 2, 0,
     true, true, false},
    {"too many entries", "cases.v3.Maps", "{\"kI32\":{\"1\":1,\"2\":2}}", BJVM_ELEMENT_LIMIT, 0, 0, 1, 0,
     true, true, false},
    {"too much memory", "cases.v3.Rep",
     "{\"str\":[\"a text that takes more than the limit, in any case, a hundred "
     "bytes are more than sixty-four\"]}",
     BJVM_ARENA_LIMIT, 0, 0, 0, 64, true, true, false},
    {"Any with all it needs", "cases.v3.Wkt", any_text, BJVM_OK, 0, 0, 0, 0, true, true, false},
    {"Any without a registry", "cases.v3.Wkt", any_text, BJVM_NO_REGISTRY, 0, 0, 0, 0, false, true, false},
    {"Any without scratch", "cases.v3.Wkt", any_text, BJVM_SCRATCH, 0, 0, 0, 0, true, false, false},
    {"great depth without scratch", "cases.v3.T", "{}", BJVM_SCRATCH, 101, 0, 0, 0, true, false, false},
    {"a small depth", "cases.v3.T", "{\"sub\":{\"sub\":{}}}", BJVM_DEPTH, 2, 0, 0, 0, true, false, false},
    {"a frozen message", "cases.v3.T", "{\"i32\":1}", BJVM_FROZEN, 0, 0, 0, 0, true, true, true},
};

static void run_limits(context *c) {
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    upb_Arena *arena = upb_Arena_New();
    bjvm_error error = {.code = BJVM_OK};
    const bjvm_plan *plan = bjvm_cache_find(c->cache, limits[i].type, strlen(limits[i].type), &error);
    bjvm_decode_options options = {.size = sizeof options,
                                   .max_depth = limits[i].max_depth,
                                   .max_input = limits[i].max_input,
                                   .max_elements = limits[i].max_elements,
                                   .max_memory = limits[i].max_memory,
                                   .registry = limits[i].registry ? bjvm_cache_registry(c->cache) : NULL,
                                   .scratch = limits[i].scratch ? arena : NULL};
    upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), arena);
    if (limits[i].frozen) upb_Message_Freeze(msg, bjvm_plan_table(plan));
    bjvm_status got = bjvm_decode(plan, limits[i].json, strlen(limits[i].json), msg, arena, &options, &error);
    bool right = got == limits[i].want && (got == BJVM_OK || error.code == got);
    c->passed += right;
    c->failed += !right;
    if (!right)
      printf("FAIL %s: %s, not %s\n", limits[i].what, bjvm_status_name(got),
             bjvm_status_name(limits[i].want));
    upb_Arena_Free(arena);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: error_test SET ERRORS_TXT\n");
    return 2;
  }
  context c = {.pool = test_pool_load(argv[1])};
  c.cache = bjvm_cache_new(c.pool);
  run_table(&c, argv[2]);
  printf("table: %zu passed, %zu failed\n", c.passed, c.failed);
  run_cuts(&c);
  printf("with cuts of a document of %zu bytes: %zu passed, %zu failed\n", sizeof document - 1, c.passed,
         c.failed);
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) run_shape(&c, i);
  run_limits(&c);
  printf("%zu passed, %zu failed\n", c.passed, c.failed);
  bjvm_cache_free(c.cache);
  upb_DefPool_Free(c.pool);
  return c.failed != 0;
}
