/* Random messages through bjvm and through upb's own JSON codec:
 *
 *     diff_test SET [COUNT [SEED [DESCRIPTOR_SET]]]
 *
 * For each message: bjvm reads back what bjvm prints, and printing again gives the same bytes; bjvm reads
 * what upb prints; upb reads what bjvm prints; both print the same bytes where their formats agree; each set
 * of print options reads back; of texts with a small damage both take the same, as the same message; two
 * messages in one text or one target come out as last_wins, ignore_unknown and merging say. Messages are
 * compared by reflection, not by either codec. Where upb is known to be wrong by docs/protojson.md, or to
 * print in another layout, a row of `exceptions` says so and counts. A failure prints the message's number;
 * `diff_test SET 1 SEED+NUMBER` makes that message alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/support.h"
#include "bjvm/bjvm.h"
#include "random_message.h"
#include "upb/json/decode.h"
#include "upb/json/encode.h"
#include "upb/message/array.h"
#include "upb/reflection/message.h"

enum { MAX_FAILURES = 20, PADDING = 64 };

static const char *const type_names[] = {
    "cases.v3.T",        "cases.v3.Rep",
    "cases.v3.Opt",      "cases.v3.One",
    "cases.v3.Maps",     "cases.v3.Wkt",
    "cases.v3.WktRep",   "cases.v3.Rec",
    "cases.v3.Look",     "cases.v3.Names",
    "cases.v3.Words",    "cases.v3.Small",
    "cases.v3.Order",    "cases.v3.Lots",
    "cases.v3.HasDense", "cases.v3.Dep",
    "cases.v2.P2",       "cases.v2.Need",
    "cases.v2.Holder",   "cases.ed.Ed",
    "cases.ed.Must",     "google.protobuf.FileDescriptorProto",
};
enum { TYPE_COUNT = sizeof type_names / sizeof type_names[0] };

typedef struct diff {
  upb_DefPool *pool;
  bjvm_cache *cache;
  const upb_MessageDef *types[TYPE_COUNT];
  size_t type_count;
  uint64_t seed;
  size_t messages, failed_messages, failures, same_bytes;
  size_t mutants[2][2]; /* damaged texts: taken by bjvm, taken by upb */
} diff;

/* One message and what was made of it. */
typedef struct sample {
  diff *d;
  uint64_t number;
  const upb_MessageDef *def;
  const bjvm_plan *plan;
  upb_Arena *arena;
  const upb_Message *msg;
  traits has;
  upb_StringView bjvm_text, upb_text; /* data NULL: refused */
} sample;

/* -- Where upb differs and bjvm is right ---------------------------------------------------------------- */

typedef enum check { BYTES, BJVM_READS_UPB, UPB_READS_BJVM, UPB_PRINTS, MUTANT } check;

static bool has_floats(const sample *s) { return s->has.floats; }

static bool is_type(const sample *s, const char *name) {
  return strcmp(upb_MessageDef_FullName(s->def), name) == 0;
}

/* Schemas with JSON names that need escapes. */
static bool has_odd_names(const sample *s) {
  return is_type(s, "cases.v3.Names") || is_type(s, "cases.ed.Ed");
}

static bool uses_well_known_types(const sample *s) {
  static const char *const names[] = {"cases.v3.One", "cases.v3.Maps", "cases.v3.Wkt",   "cases.v3.WktRep",
                                      "cases.v3.Rec", "cases.v2.P2",   "cases.v3.Small", "cases.v2.Holder"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (is_type(s, names[i])) return true;
  return false;
}

static bool has_empty_any(const sample *s) { return s->has.empty_any; }

/* A number without quotes and with 16 digits or more. */
static bool has_long_number(const sample *s) {
  const char *text = s->bjvm_text.data;
  size_t run = 0;
  bool quoted = false;
  for (size_t i = 0; i < s->bjvm_text.size; i++) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit && run == 0) quoted = i > 0 && text[i - 1] == '"';
    run = digit ? run + 1 : 0;
    if (run >= 16 && !quoted) return true;
  }
  return false;
}

static bool has_extensions(const sample *s) { return s->has.extensions; }

static struct {
  check what;
  bool (*applies)(const sample *s);
  const char *reason;
  size_t count;
} exceptions[] = {
    {BYTES, has_floats,
     "upb prints floats with %g, of 17 or 9 digits where 15 or 6 do not read back; bjvm the shortest", 0},
    {UPB_PRINTS, has_empty_any, "upb refuses to print an empty Any, which is {}", 0},
    {UPB_READS_BJVM, has_empty_any, "upb refuses to read {} as an empty Any", 0},
    {BYTES, has_odd_names, "upb prints JSON names without escaping them", 0},
    {BJVM_READS_UPB, has_odd_names, "upb prints JSON names without escaping them", 0},
    {MUTANT, has_long_number, "upb reads 9999999999999999 without quotes through double", 0},
    {BYTES, has_extensions, "upb prints extensions in the order they were set, bjvm by number", 0},
};

/* Damaged texts that upb takes and bjvm must refuse, by the code that bjvm gives. */
static struct {
  bjvm_status code;
  const char *reason;
  size_t count;
} lax[] = {
    {BJVM_BAD_UTF8, "upb does not check UTF-8 in names, skipped text and strings of proto2", 0},
    {BJVM_DUPLICATE_FIELD, "upb merges a name given twice", 0},
    {BJVM_DUPLICATE_KEY, "upb takes the last of a map key given twice", 0},
    {BJVM_BAD_TIMESTAMP, "upb checks neither the calendar nor the clock", 0},
    {BJVM_BAD_DURATION, "upb takes more spellings of a duration", 0},
    {BJVM_BAD_NUMBER, "upb takes leading zeros in quotes", 0},
    {BJVM_UNKNOWN_ENUM, "upb takes unknown numbers of closed enums", 0},
    {BJVM_NOT_INTEGER, "upb goes through double: 99e-1604280312 is 0 for it", 0},
    {BJVM_BAD_FIELD_MASK, "upb takes empty paths and underscores", 0},
};

/* The other way round, by what upb says. */
static struct {
  const char *message;
  const char *reason;
  size_t count;
} strict[] = {
    {"Non-number characters in quoted integer", "upb refuses 1e2, 1.0 and -0 in quotes", 0},
    {"Unknown enumerator", "upb refuses an enum's number in quotes", 0},
    {"Expected: '['", "upb refuses null for a list of NullValue", 0},
    {"didn't contain a '@type'", "upb refuses {} as an empty Any", 0},
};

static bool upb_is_lax(bjvm_status code) {
  for (size_t i = 0; i < sizeof lax / sizeof lax[0]; i++)
    if (lax[i].code == code) return ++lax[i].count;
  return false;
}

static bool upb_is_strict(const char *message) {
  for (size_t i = 0; i < sizeof strict / sizeof strict[0]; i++)
    if (strstr(message, strict[i].message) != NULL) return ++strict[i].count;
  return false;
}

/* Counts and allows a difference that a row explains. */
static bool excused(const sample *s, check what) {
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++) {
    if (exceptions[i].what != what || !exceptions[i].applies(s)) continue;
    exceptions[i].count++;
    return true;
  }
  return false;
}

/* -- Failures ------------------------------------------------------------------------------------------- */

static void show(const char *name, upb_StringView text) {
  if (text.data != NULL) printf("  %s: %.*s\n", name, (int)(text.size < 1500 ? text.size : 1500), text.data);
}

static void fail(const sample *s, const char *what, const char *detail) {
  diff *d = s->d;
  if (++d->failures > MAX_FAILURES) return;
  printf("FAIL seed %llu, %s: %s: %s\n", (unsigned long long)(d->seed + s->number),
         upb_MessageDef_FullName(s->def), what, detail);
  show("bjvm", s->bjvm_text);
  show("upb ", s->upb_text);
}

/* -- The two codecs ------------------------------------------------------------------------------------- */

static upb_StringView bjvm_print(const sample *s, const upb_Message *msg, uint32_t flags, bjvm_error *error) {
  bjvm_encode_options options = {.size = sizeof options,
                                 .flags = flags,
                                 .registry = bjvm_cache_registry(s->d->cache),
                                 .scratch = s->arena};
  bjvm_output output = bjvm_output_arena(s->arena);
  if (bjvm_encode(s->plan, msg, &options, &output, error) != BJVM_OK)
    return upb_StringView_FromDataAndSize(NULL, 0);
  return upb_StringView_FromDataAndSize(output.data, output.size);
}

/* Reads a copy of exactly the text's size, so that a memory checker sees a read past the end. With PADDED the
 * padding is full of what could be taken for a part of the text; with ALIAS the copy stays. */
static upb_Message *bjvm_read(const sample *s, upb_StringView text, uint32_t flags, bjvm_error *error) {
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(s->def), s->arena);
  bjvm_decode_options options = {.size = sizeof options,
                                 .flags = flags,
                                 .registry = bjvm_cache_registry(s->d->cache),
                                 .scratch = s->arena};
  size_t padding = (flags & BJVM_DECODE_PADDED) != 0 ? PADDING : 0;
  bool keep = (flags & BJVM_DECODE_ALIAS) != 0;
  char *copy = keep ? upb_Arena_Malloc(s->arena, text.size + padding) : malloc(text.size + padding);
  memcpy(copy, text.data, text.size);
  for (size_t i = 0; i < padding; i++) copy[text.size + i] = "\"\\0]}x,"[(s->number + i) % 7];
  bjvm_status status = bjvm_decode(s->plan, copy, text.size, msg, s->arena, &options, error);
  if (!keep) free(copy);
  return status == BJVM_OK ? msg : NULL;
}

static upb_StringView upb_print(const sample *s, upb_Status *status) {
  size_t capacity = 1 << 14;
  for (;;) {
    char *text = upb_Arena_Malloc(s->arena, capacity);
    upb_Status_Clear(status);
    size_t size = upb_JsonEncode(s->msg, s->def, s->d->pool, 0, text, capacity, status);
    if (size == (size_t)-1 || !upb_Status_IsOk(status)) return upb_StringView_FromDataAndSize(NULL, 0);
    if (size < capacity) return upb_StringView_FromDataAndSize(text, size);
    capacity = size + 1;
  }
}

static upb_Message *upb_read(const sample *s, upb_StringView text, upb_Status *status) {
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(s->def), s->arena);
  upb_Status_Clear(status);
  return upb_JsonDecode(text.data, text.size, msg, s->def, s->d->pool, 0, s->arena, status) ? msg : NULL;
}

/* -- Checks --------------------------------------------------------------------------------------------- */

static void compare(const sample *s, const char *what, const upb_Message *got) {
  char where[256];
  if (!test_same(s->d->pool, s->def, s->msg, got, where, sizeof where)) fail(s, what, where);
}

static void check_round_trip(const sample *s, const char *what, uint32_t flags, uint32_t read_flags) {
  bjvm_error error = {.code = BJVM_OK};
  char label[96];
  upb_StringView text = bjvm_print(s, s->msg, flags, &error);
  snprintf(label, sizeof label, "%s, flags %u and %u", what, flags, read_flags);
  if (text.data == NULL) {
    fail(s, label, error.message);
    return;
  }
  const upb_Message *again = bjvm_read(s, text, read_flags, &error);
  if (again == NULL) {
    fail(s, label, error.message);
    show("text", text);
    return;
  }
  compare(s, label, again);
  if ((flags & BJVM_ENCODE_SORT_MAP_KEYS) == 0) return;
  upb_StringView second = bjvm_print(s, again, flags, &error);
  if (!upb_StringView_IsEqual(text, second)) fail(s, label, "printed again, the text is another");
}

static void check_upb_text(sample *s) {
  bjvm_error error = {.code = BJVM_OK};
  upb_Status status;
  s->upb_text = upb_print(s, &status);
  if (s->upb_text.data == NULL) {
    if (!excused(s, UPB_PRINTS)) fail(s, "upb does not print it", upb_Status_ErrorMessage(&status));
    return;
  }
  if (upb_StringView_IsEqual(s->bjvm_text, s->upb_text)) s->d->same_bytes++;
  else if (!excused(s, BYTES)) fail(s, "the bytes differ", "");
  const upb_Message *got = bjvm_read(s, s->upb_text, 0, &error);
  char where[256];
  if (got != NULL && test_same(s->d->pool, s->def, s->msg, got, where, sizeof where)) return;
  if (!excused(s, BJVM_READS_UPB)) fail(s, "bjvm reads upb's text", got == NULL ? error.message : where);
}

static void check_upb_reads(const sample *s) {
  upb_Status status;
  char where[256];
  const upb_Message *got = upb_read(s, s->bjvm_text, &status);
  if (got != NULL && test_same(s->d->pool, s->def, s->msg, got, where, sizeof where)) return;
  if (!excused(s, UPB_READS_BJVM))
    fail(s, "upb reads bjvm's text", got == NULL ? upb_Status_ErrorMessage(&status) : where);
}

typedef struct collected {
  char *data;
  size_t size, capacity;
} collected;

static bool collect(void *context, const char *text, size_t size) {
  collected *c = context;
  if (size > c->capacity - c->size) return false;
  memcpy(c->data + c->size, text, size);
  c->size += size;
  return true;
}

/* Through a small block that is emptied again and again: the same text. */
static void check_sink(const sample *s) {
  char block[1024];
  bjvm_error error = {.code = BJVM_OK};
  collected all = {upb_Arena_Malloc(s->arena, s->bjvm_text.size), 0, s->bjvm_text.size};
  bjvm_sink sink = {collect, &all};
  bjvm_output output = bjvm_output_sink(block, sizeof block, &sink);
  bjvm_encode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(s->d->cache), .scratch = s->arena};
  if (bjvm_encode(s->plan, s->msg, &options, &output, &error) != BJVM_OK || !bjvm_output_flush(&output))
    fail(s, "printing into a sink", error.message);
  else if (!upb_StringView_IsEqual(s->bjvm_text, upb_StringView_FromDataAndSize(all.data, all.size)))
    fail(s, "a sink gets another text", "");
}

/* At the front of a longer text: the bytes used are told. */
static void check_prefix(const sample *s) {
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(s->def), s->arena);
  bjvm_error error = {.code = BJVM_OK};
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(s->d->cache), .scratch = s->arena};
  size_t used = 0, size = s->bjvm_text.size;
  char *longer = upb_Arena_Malloc(s->arena, size + 2);
  longer[0] = ' ';
  memcpy(longer + 1, s->bjvm_text.data, size);
  longer[size + 1] = "}x1\"\0 "[s->number % 6];
  bjvm_status status = bjvm_decode_prefix(s->plan, longer, size + 2, &used, msg, s->arena, &options, &error);
  if (status != BJVM_OK) fail(s, "at the front of a longer text", error.message);
  else if (used != size + 1) fail(s, "at the front of a longer text", "the bytes used are told wrong");
  else compare(s, "at the front of a longer text", msg);
}

/* A copy of the text with one or two small changes. */
static upb_StringView mutate(const sample *s, generator *g) {
  static const char alphabet[] = "{}[]:,\"\\/0123456789-+.eEntfalsu bz\t\n_AQ=\x80\xc3\xf4\xff\x01";
  size_t size = s->bjvm_text.size;
  char *text = upb_Arena_Malloc(s->arena, size + 8);
  memcpy(text, s->bjvm_text.data, size);
  for (uint32_t count = 1 + random_below(g, 2); count > 0 && size > 0; count--) {
    size_t at = random_below(g, (uint32_t)size);
    char c = alphabet[random_below(g, sizeof alphabet - 1)];
    switch (random_below(g, 4)) {
      case 0: text[at] = c; break;
      case 1: memmove(text + at, text + at + 1, --size - at); break;
      case 2: memmove(text + at + 1, text + at, size++ - at), text[at] = c; break;
      default: text[at] = text[random_below(g, (uint32_t)size)]; break;
    }
  }
  return upb_StringView_FromDataAndSize(text, size);
}

/* A damaged text: whatever comes of it is a whole message, and where both codecs take it, the same message.
 * */
static void check_mutant(sample *s, generator *g) {
  bjvm_error error = {.code = BJVM_OK};
  upb_Status status;
  char where[256];
  upb_StringView text = mutate(s, g), whole = s->bjvm_text;
  const upb_Message *got = bjvm_read(s, text, 0, &error), *other = upb_read(s, text, &status);
  s->bjvm_text = text;
  s->upb_text.data = NULL;
  s->d->mutants[got != NULL][other != NULL]++;
  if (got != NULL && other != NULL && !test_same(s->d->pool, s->def, got, other, where, sizeof where)) {
    if (!excused(s, MUTANT)) fail(s, "a damaged text is read differently", where);
  } else if (got != NULL && other == NULL && !upb_is_strict(upb_Status_ErrorMessage(&status))) {
    fail(s, "upb refuses a damaged text", upb_Status_ErrorMessage(&status));
  } else if (got == NULL && other != NULL && !upb_is_lax(error.code)) {
    fail(s, "only upb takes a damaged text", error.message);
  }
  s->bjvm_text = whole;
}

/* -- Two messages in one: options of reading, merging --------------------------------------------------- */

/* Members of both objects in one object. */
static upb_StringView join(const sample *s, upb_StringView a, upb_StringView b) {
  char *text = upb_Arena_Malloc(s->arena, a.size + b.size);
  size_t size = a.size - 1; /* without the closing brace */
  memcpy(text, a.data, size);
  if (a.size > 2 && b.size > 2) text[size++] = ',';
  memcpy(text + size, b.data + 1, b.size - 1);
  return upb_StringView_FromDataAndSize(text, size + b.size - 1);
}

static void expect_message(const sample *s, const char *what, upb_StringView text, const upb_Message *want,
                           const upb_Message *got, const bjvm_error *error) {
  char where[256];
  if (got != NULL && test_same(s->d->pool, s->def, want, got, where, sizeof where)) return;
  fail(s, what, got == NULL ? error->message : where);
  show("text", text);
}

/* last_wins: what the second half of the text sets replaces the first whole, everything else stays. */
static void check_last_wins(const sample *s, const upb_Message *second, upb_StringView second_text) {
  bjvm_error error = {.code = BJVM_OK};
  upb_StringView text = join(s, s->bjvm_text, second_text);
  const upb_Message *got = bjvm_read(s, text, BJVM_DECODE_LAST_WINS, &error);
  upb_Message *want = bjvm_read(s, s->bjvm_text, 0, &error);
  if (want == NULL) return; /* told by the round trip */
  const upb_FieldDef *f;
  upb_MessageValue value;
  size_t iter = (size_t)kUpb_Message_Begin;
  while (upb_Message_Next(second, s->def, s->d->pool, &f, &value, &iter)) {
    /* An empty list of an extension is there for reflection, and is not printed. */
    if (upb_FieldDef_IsExtension(f) && upb_FieldDef_IsRepeated(f) && upb_Array_Size(value.array_val) == 0)
      continue;
    upb_Message_ClearFieldByDef(want, f);
    if (!upb_Message_SetFieldByDef(want, f, value, s->arena)) return;
  }
  expect_message(s, "last_wins", text, want, got, &error);
}

/* ignore_unknown: the whole second message under a name that is none changes nothing. */
static void check_ignore_unknown(const sample *s, upb_StringView second_text) {
  static const char name[] = "{\"no such name\":";
  bjvm_error error = {.code = BJVM_OK};
  char *text = upb_Arena_Malloc(s->arena, sizeof name + second_text.size + 1);
  memcpy(text, name, sizeof name - 1);
  memcpy(text + sizeof name - 1, second_text.data, second_text.size);
  text[sizeof name - 1 + second_text.size] = '}';
  upb_StringView unknown = upb_StringView_FromDataAndSize(text, sizeof name + second_text.size);
  upb_StringView all = s->number % 2 == 0 ? join(s, unknown, s->bjvm_text) : join(s, s->bjvm_text, unknown);
  expect_message(s, "ignore_unknown", all, s->msg, bjvm_read(s, all, BJVM_DECODE_IGNORE_UNKNOWN, &error),
                 &error);
  if (bjvm_read(s, all, 0, &error) != NULL || error.code != BJVM_UNKNOWN_FIELD)
    fail(s, "an unknown name without ignore_unknown", bjvm_status_name(error.code));
}

/* Reading into a message that has content merges as upb's binary decoder does. Well-known types are left out:
 * their JSON says all of them, their binary only what is not zero. */
static void check_merge(const sample *s, const upb_Message *second, upb_StringView second_text) {
  bjvm_error error = {.code = BJVM_OK};
  char *first_data, *data;
  size_t first_size, size;
  upb_Message *got = bjvm_read(s, s->bjvm_text, 0, &error);
  bjvm_decode_options options = {
      .size = sizeof options, .registry = bjvm_cache_registry(s->d->cache), .scratch = s->arena};
  if (got == NULL) return;
  if (bjvm_decode(s->plan, second_text.data, second_text.size, got, s->arena, &options, &error) != BJVM_OK) {
    fail(s, "merging", error.message);
    return;
  }
  if (!test_serialize(s->msg, s->def, s->arena, &first_data, &first_size)) return;
  if (!test_serialize(second, s->def, s->arena, &data, &size)) return;
  char *both = upb_Arena_Malloc(s->arena, first_size + size + 1);
  if (first_size > 0) memcpy(both, first_data, first_size);
  if (size > 0) memcpy(both + first_size, data, size);
  const upb_Message *want = test_parse(s->d->pool, s->def, both, first_size + size, s->arena);
  if (want != NULL) expect_message(s, "merging", second_text, want, got, &error);
}

static void check_pairs(const sample *s, generator *g) {
  bjvm_error error = {.code = BJVM_OK};
  const upb_Message *second = random_message(g, s->def);
  upb_StringView text = bjvm_print(s, second, 0, &error);
  if (text.data == NULL) {
    fail(s, "bjvm does not print it", error.message);
    return;
  }
  check_last_wins(s, second, text);
  check_ignore_unknown(s, text);
  if (!uses_well_known_types(s)) check_merge(s, second, text);
}

static const uint32_t read_flag_sets[] = {0, BJVM_DECODE_ALIAS, BJVM_DECODE_PADDED,
                                          BJVM_DECODE_ALIAS | BJVM_DECODE_PADDED};

static void run_one(diff *d, uint64_t number) {
  generator g = {d->seed + number, d->pool, upb_Arena_New(), 3, {false, false, false}};
  sample s = {.d = d, .number = number, .arena = g.arena};
  bjvm_error error = {.code = BJVM_OK};
  s.def = d->types[random_below(&g, (uint32_t)d->type_count)];
  s.msg = random_message(&g, s.def);
  s.has = g.has;
  s.plan = bjvm_cache_get(d->cache, s.def, &error);
  size_t failures = d->failures;
  d->messages++;
  if (s.plan != NULL) s.bjvm_text = bjvm_print(&s, s.msg, 0, &error);
  if (s.bjvm_text.data != NULL) {
    check_round_trip(&s, "bjvm reads bjvm's text", BJVM_ENCODE_SORT_MAP_KEYS, 0);
    check_round_trip(&s, "options", random_below(&g, BJVM_ENCODE_PRETTY << 1),
                     read_flag_sets[random_below(&g, 4)]);
    check_sink(&s);
    check_prefix(&s);
    for (int i = 0; i < 3; i++) check_mutant(&s, &g);
    check_pairs(&s, &g);
    check_upb_text(&s);
    check_upb_reads(&s);
  } else {
    fail(&s, "bjvm does not print it", error.message);
  }
  d->failed_messages += d->failures != failures;
  upb_Arena_Free(g.arena);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: diff_test SET [COUNT [SEED [DESCRIPTOR_SET]]]\n");
    return 2;
  }
  diff d = {.pool = test_pool_load(argv[1])};
  uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 200000;
  d.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 20230;
  if (argc > 4) {
    size_t size;
    char *data = test_read_file(argv[4], &size);
    test_pool_add(d.pool, data, size);
    free(data);
  }
  d.cache = bjvm_cache_new(d.pool);
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    const upb_MessageDef *def = upb_DefPool_FindMessageByName(d.pool, type_names[i]);
    if (def != NULL) d.types[d.type_count++] = def;
  }
  for (uint64_t i = 0; i < count; i++) run_one(&d, i);

  printf("%zu messages of %zu types, %zu printed alike to the byte\n", d.messages, d.type_count,
         d.same_bytes);
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
    printf("%8zu allowed: %s\n", exceptions[i].count, exceptions[i].reason);
  printf("damaged texts: both took %zu, both refused %zu, only upb took %zu, only bjvm took %zu\n",
         d.mutants[1][1], d.mutants[0][0], d.mutants[0][1], d.mutants[1][0]);
  for (size_t i = 0; i < sizeof lax / sizeof lax[0]; i++)
    printf("%8zu allowed: %s\n", lax[i].count, lax[i].reason);
  for (size_t i = 0; i < sizeof strict / sizeof strict[0]; i++)
    printf("%8zu allowed: %s\n", strict[i].count, strict[i].reason);
  if (d.failures > MAX_FAILURES) printf("... and %zu failures more\n", d.failures - MAX_FAILURES);
  printf("%zu passed, %zu failed\n", d.messages - d.failed_messages, d.failed_messages);
  bjvm_cache_free(d.cache);
  upb_DefPool_Free(d.pool);
  return d.failures != 0;
}
