/* Documents that are as hard as can be, each beside a plain one of the same shape and size.
 *
 * Text and message are made side by side, the message by reflection, so that what is read can be checked. Nothing depends
 * on the machine but the names that collide: they are looked for in the table of the plan at hand.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "plan.h"
#include "upb/message/array.h"
#include "upb/message/map.h"
#include "upb/reflection/message.h"
#include "variants.h"

enum {
  DIGITS = 800,
  LEVELS = BJVM_DEFAULT_MAX_DEPTH,
  PLAIN_LEVELS = 4,
  BLANKS = 1000, /* of a run of white space */
  NAMES = 64,    /* different names that collide */
  NAME_TRIES = 200000,
  NAME_ROOM = 24,
};

struct bench_document {
  upb_Arena *arena;
  const upb_MessageDef *def;
  const bjvm_plan *plan;
  upb_Message *msg;
  char *data;
  size_t size, room;
  uint64_t seed;
};

/* -- Text and message ----------------------------------------------------------------------------------- */

static void put(bench_document *d, const char *data, size_t size) {
  if (size > d->room - d->size) bench_die("a document does not fit", upb_MessageDef_FullName(d->def));
  memcpy(d->data + d->size, data, size);
  d->size += size;
}

static void puts_to(bench_document *d, const char *text) { put(d, text, strlen(text)); }

static void put_times(bench_document *d, const char *text, size_t times) {
  for (size_t i = 0; i < times; i++) puts_to(d, text);
}

static uint64_t draw(bench_document *d) {
  d->seed = d->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = d->seed;
  return x ^ x >> 29;
}

static size_t below(bench_document *d, size_t limit) { return (size_t)(draw(d) >> 8) % limit; }

static const upb_FieldDef *field(const upb_MessageDef *def, const char *name) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByName(def, name);
  if (f == NULL) bench_die("no such field", name);
  return f;
}

static upb_MessageValue string(bench_document *d, const char *data, size_t size) {
  char *copy = upb_Arena_Malloc(d->arena, size + 1);
  if (copy == NULL) bench_die("out of memory", "document");
  memcpy(copy, data, size);
  return (upb_MessageValue){.str_val = upb_StringView_FromDataAndSize(copy, size)};
}

static upb_Array *list(bench_document *d, upb_Message *msg, const upb_FieldDef *f) {
  upb_Array *array = upb_Message_Mutable(msg, f, d->arena).array;
  if (array == NULL) bench_die("out of memory", "document");
  return array;
}

static void append(bench_document *d, upb_Array *array, upb_MessageValue value) {
  if (!upb_Array_Append(array, value, d->arena)) bench_die("out of memory", "document");
}

/* A new message at the end of a list of them. */
static upb_Message *append_message(bench_document *d, upb_Message *msg, const upb_FieldDef *f) {
  upb_Message *sub = upb_Message_New(upb_MessageDef_MiniTable(upb_FieldDef_MessageSubDef(f)), d->arena);
  if (sub == NULL) bench_die("out of memory", "document");
  append(d, list(d, msg, f), (upb_MessageValue){.msg_val = sub});
  return sub;
}

/* -- Strings -------------------------------------------------------------------------------------------- */

/* One string, `written` over and over, which means `value`. */
static void one_string(bench_document *d, size_t bytes, const char *written, const char *value) {
  size_t times = bytes / strlen(written), size = strlen(value);
  char *all = malloc(times * size);
  if (all == NULL) bench_die("out of memory", "document");
  for (size_t i = 0; i < times; i++) memcpy(all + i * size, value, size);
  puts_to(d, "{\"body\":\"");
  put_times(d, written, times);
  puts_to(d, "\"}");
  upb_Message_SetFieldByDef(d->msg, field(d->def, "body"), string(d, all, times * size), d->arena);
  free(all);
}

static void fill_hex(bench_document *d, size_t bytes, bool plain) {
  one_string(d, bytes, plain ? "A" : "\\u0041", "A");
}

static void fill_pairs(bench_document *d, size_t bytes, bool plain) {
  one_string(d, bytes, plain ? "\xf0\x9f\x98\x80" : "\\ud83d\\ude00", "\xf0\x9f\x98\x80");
}

static void fill_quotes(bench_document *d, size_t bytes, bool plain) {
  one_string(d, bytes, plain ? "aaaa" : "\\\"\\\\", plain ? "aaaa" : "\"\\");
}

static void fill_controls(bench_document *d, size_t bytes, bool plain) {
  one_string(d, bytes, plain ? "a" : "\\u0001", plain ? "a" : "\x01");
}

/* -- Numbers -------------------------------------------------------------------------------------------- */

/* A list of what `number` writes to a text of DIGITS + 16 bytes. strtod is exact. */
static void numbers(bench_document *d, size_t bytes, void (*number)(bench_document *, char *)) {
  upb_Array *array = list(d, d->msg, field(d->def, "disk_window"));
  char text[DIGITS + 16];
  puts_to(d, "{\"diskWindow\":[");
  for (const char *comma = ""; d->size < bytes; comma = ",") {
    number(d, text);
    puts_to(d, comma);
    puts_to(d, text);
    append(d, array, (upb_MessageValue){.double_val = strtod(text, NULL)});
  }
  puts_to(d, "]}");
}

static void short_number(bench_document *d, char *text) {
  snprintf(text, DIGITS, "%zu.%zu", below(d, 1000), 1 + below(d, 9));
}

static void random_double(bench_document *d, char *text, uint64_t exponent) {
  uint64_t bits = exponent << 52 | draw(d) >> 12;
  double value;
  memcpy(&value, &bits, sizeof value);
  snprintf(text, DIGITS, "%.17g", value);
}

static void digits_17(bench_document *d, char *text) { random_double(d, text, 1 + below(d, 2046)); }
static void subnormal(bench_document *d, char *text) { random_double(d, text, 0); }

static void digits_many(bench_document *d, char *text) {
  text[0] = '1';
  for (size_t i = 1; i < DIGITS; i++) text[i] = (char)('0' + below(d, 10));
  strcpy(text + DIGITS, "e-1090");
}

/* All digits of (2 m + 1) 2^-1075, which lies half way between two doubles, and zeros; a 1 at the end, every second time,
 * makes it a little more than half way. That is (2 m + 1) 5^1075 / 10^1075. */
static void half_way(bench_document *d, char *text) {
  enum { LIMBS = 100, BASE = 1000000000, EXPONENT = 1075 };
  uint64_t odd = (UINT64_C(1) << 53) | draw(d) >> 11 | 1;
  uint32_t limbs[LIMBS] = {(uint32_t)(odd % BASE), (uint32_t)(odd / BASE)};
  size_t used = 2;
  for (int i = 0; i < EXPONENT; i++) {
    uint64_t carry = 0;
    for (size_t j = 0; j < used || carry; j++) {
      if (j == used) used++;
      carry += UINT64_C(5) * limbs[j];
      limbs[j] = (uint32_t)(carry % BASE);
      carry /= BASE;
    }
  }
  size_t size = (size_t)snprintf(text, DIGITS, "%u", limbs[used - 1]);
  for (size_t j = used - 1; j > 0; j--) size += (size_t)snprintf(text + size, 10, "%09u", limbs[j - 1]);
  size_t zeros = DIGITS - size;
  memset(text + size, '0', zeros);
  text[DIGITS - 1] = (char)('0' + (draw(d) >> 63));
  snprintf(text + DIGITS, 16, "e-%zu", EXPONENT + zeros);
}

static void fill_digits_800(bench_document *d, size_t bytes, bool plain) {
  numbers(d, bytes, plain ? digits_many : half_way);
}

static void fill_digits_17(bench_document *d, size_t bytes, bool plain) {
  numbers(d, bytes, plain ? short_number : digits_17);
}

static void fill_subnormals(bench_document *d, size_t bytes, bool plain) {
  numbers(d, bytes, plain ? short_number : subnormal);
}

/* -- Names that the schema lacks ------------------------------------------------------------------------ */

/* What a look-up of a name that is not there costs: slots looked at, and more for each name of the same length. */
static unsigned cost(const bjvm_plan *plan, const char *name, size_t size) {
  const bjvmi_table *table = &plan->keys;
  const bjvm_image *image = plan->binding->image;
  bool wide = table->key_count > BJVMI_KEYS_NARROW;
  uint32_t mask = (1u << table->slots_log2) - 1, at = bjvmi_key_hash(table->seed, name, size);
  unsigned sum = 0;
  for (uint32_t probe = 0; probe <= table->max_probe; probe++) {
    uint32_t slot = bjvmi_slot_at(image->slots + table->first_slot, wide, (at + probe) & mask);
    if (slot == 0) break;
    sum += bjvmi_le16(image->keys[table->first_key + slot - 1].size) == size ? 3 : 1;
  }
  return sum;
}

static size_t draw_name(bench_document *d, char *name, size_t size) {
  for (size_t i = 0; i < size; i++) name[i] = (char)('a' + below(d, 26));
  name[size] = 0;
  return size;
}

/* The worst of many, by their cost: each goes to the place of the cheapest so far. */
static void find_colliding(bench_document *d, char names[][NAME_ROOM]) {
  unsigned costs[NAMES] = {0};
  for (int try = 0; try < NAME_TRIES; try++) {
    char name[NAME_ROOM];
    unsigned c = cost(d->plan, name, draw_name(d, name, 10 + below(d, 4)));
    size_t cheapest = 0;
    for (size_t i = 1; i < NAMES; i++)
      if (costs[i] < costs[cheapest]) cheapest = i;
    if (c <= costs[cheapest]) continue;
    costs[cheapest] = c;
    strcpy(names[cheapest], name);
  }
}

static void fill_colliding(bench_document *d, size_t bytes, bool plain) {
  char names[NAMES][NAME_ROOM] = {{0}};
  if (plain)
    for (size_t i = 0; i < NAMES; i++) draw_name(d, names[i], 10 + i % 4);
  else find_colliding(d, names);
  puts_to(d, "{");
  for (size_t i = 0; d->size < bytes; i++) {
    if (i) puts_to(d, ",");
    puts_to(d, "\"");
    puts_to(d, names[below(d, NAMES)]);
    puts_to(d, "\":1");
  }
  puts_to(d, "}");
}

static void fill_unknown_nesting(bench_document *d, size_t bytes, bool plain) {
  size_t levels = plain ? PLAIN_LEVELS - 1 : LEVELS - 1;
  for (const char *start = "{\"x\":"; d->size < bytes; start = ",\"x\":") {
    puts_to(d, start);
    put_times(d, "[", levels);
    put_times(d, "]", levels);
  }
  puts_to(d, "}");
}

/* -- Maps ----------------------------------------------------------------------------------------------- */

static void insert(bench_document *d, const char *name, upb_MessageValue key) {
  upb_Map *map = upb_Message_Mutable(d->msg, field(d->def, name), d->arena).map;
  if (map == NULL || !upb_Map_Set(map, key, string(d, "v", 1), d->arena)) bench_die("out of memory", name);
}

static void fill_map_keys(bench_document *d, size_t bytes, bool plain) {
  for (unsigned i = 0; d->size < bytes; i++) {
    char key[40];
    if (plain) draw_name(d, key, 31);
    else snprintf(key, sizeof key, "customers/europe/north/%08u", i);
    puts_to(d, i ? ",\"" : "{\"attributes\":{\"");
    puts_to(d, key);
    puts_to(d, "\":\"v\"");
    insert(d, "attributes", string(d, key, strlen(key)));
  }
  puts_to(d, "}}");
}

/* upb hashes an integer by joining its halves with xor: with equal halves all have hash 0. */
static void fill_map_integers(bench_document *d, size_t bytes, bool plain) {
  for (uint32_t i = 0; d->size < bytes; i++) {
    char text[40];
    uint64_t half = UINT64_C(1000000000) + i;
    int64_t key = (int64_t)(half << 32 | (plain ? draw(d) >> 32 : half));
    snprintf(text, sizeof text, "\"%lld\":\"v\"", (long long)key);
    puts_to(d, i ? "," : "{\"namesById\":{");
    puts_to(d, text);
    insert(d, "names_by_id", (upb_MessageValue){.int64_val = key});
  }
  puts_to(d, "}}");
}

/* -- Structure ------------------------------------------------------------------------------------------ */

/* Both messages and lists are levels. The innermost list is empty. */
static void fill_nesting(bench_document *d, size_t bytes, bool plain) {
  const upb_FieldDef *f = field(d->def, "nested_type");
  size_t messages = plain ? PLAIN_LEVELS / 2 : LEVELS / 2;
  for (const char *start = "{\"nestedType\":["; d->size < bytes; start = ",") {
    upb_Message *msg = d->msg;
    puts_to(d, start);
    for (size_t i = 1; i < messages; i++) msg = append_message(d, msg, f);
    put_times(d, "{\"nestedType\":[", messages - 1);
    put_times(d, "]}", messages - 1);
  }
  puts_to(d, "]}");
}

static void fill_empty(bench_document *d, size_t bytes, bool plain) {
  const upb_FieldDef *f = field(d->def, "items");
  const upb_MessageDef *item = upb_FieldDef_MessageSubDef(f);
  for (const char *start = "{\"items\":["; d->size < bytes; start = ",") {
    upb_Message *msg = append_message(d, d->msg, f);
    puts_to(d, start);
    puts_to(d, plain ? "{\"sku\":\"abcdefgh\",\"quantity\":12}" : "{}");
    if (!plain) continue;
    upb_Message_SetFieldByDef(msg, field(item, "sku"), string(d, "abcdefgh", 8), d->arena);
    upb_Message_SetFieldByDef(msg, field(item, "quantity"), (upb_MessageValue){.int32_val = 12}, d->arena);
  }
  puts_to(d, "]}");
}

static void put_blanks(bench_document *d) {
  for (int i = 0; i < BLANKS; i++) put(d, &"    \n\t\r "[below(d, 8)], 1);
}

static void fill_blanks(bench_document *d, size_t bytes, bool plain) {
  upb_Array *array = list(d, d->msg, field(d->def, "numbers"));
  puts_to(d, "{\"numbers\":[1");
  append(d, array, (upb_MessageValue){.int32_val = 1});
  while (d->size < bytes) {
    if (!plain) put_blanks(d);
    puts_to(d, ",");
    if (!plain) put_blanks(d);
    puts_to(d, "12345");
    append(d, array, (upb_MessageValue){.int32_val = 12345});
  }
  puts_to(d, "]}");
}

static void fill_bad_end(bench_document *d, size_t bytes, bool plain) {
  upb_Array *array = list(d, d->msg, field(d->def, "words"));
  for (const char *start = "{\"words\":[\""; d->size < bytes; start = ",\"") {
    puts_to(d, start);
    puts_to(d, "abcdefgh\"");
    append(d, array, string(d, "abcdefgh", 8));
  }
  puts_to(d, plain ? "]}" : "]]");
}

/* -- All of them ---------------------------------------------------------------------------------------- */

#define STRINGS "bench.Strings"
#define WIDE "bench.Wide"
#define REPEATED "bench.Repeated"

static const char plain_letters[] = "a string of letters";
static const char plain_numbers[] = "numbers of two to four digits";

const bench_worst bench_worsts[] = {
    {
        .name = "colliding_names",
        .type = WIDE,
        .fill = fill_colliding,
        .what = "unknown names that need the most probes among 300 fields",
        .plain = "unknown names at random",
        .ignore_unknown = true,
    },
    {
        .name = "map_keys",
        .type = "bench.Maps",
        .fill = fill_map_keys,
        .what = "string keys of one length and prefix",
        .plain = "string keys of that length at random",
    },
    {
        .name = "map_integers",
        .type = "bench.Maps",
        .fill = fill_map_integers,
        .what = "integer keys of one hash",
        .plain = "integer keys at random",
        .known = "upb hashes integers without a seed, so that one chain can hold all",
    },
    {
        .name = "hex_escapes",
        .type = STRINGS,
        .fill = fill_hex,
        .what = "every byte a \\u0041",
        .plain = plain_letters,
    },
    {
        .name = "surrogates",
        .type = STRINGS,
        .fill = fill_pairs,
        .what = "surrogate pairs in hex",
        .plain = "the characters themselves",
    },
    {
        .name = "quotes",
        .type = STRINGS,
        .fill = fill_quotes,
        .what = "every byte a quote or backslash",
        .plain = plain_letters,
        .encode = true,
    },
    {
        .name = "controls",
        .type = STRINGS,
        .fill = fill_controls,
        .what = "every byte a \\u0001",
        .plain = plain_letters,
        .encode = true,
    },
    {
        .name = "digits_800",
        .type = WIDE,
        .fill = fill_digits_800,
        .what = "800 digits half way between two doubles",
        .plain = "800 digits at random",
    },
    {
        .name = "digits_17",
        .type = WIDE,
        .fill = fill_digits_17,
        .what = "doubles of 17 digits",
        .plain = plain_numbers,
        .encode = true,
    },
    {
        .name = "subnormals",
        .type = WIDE,
        .fill = fill_subnormals,
        .what = "subnormal doubles of 17 digits",
        .plain = plain_numbers,
        .encode = true,
    },
    {
        .name = "nesting",
        .type = "google.protobuf.DescriptorProto",
        .fill = fill_nesting,
        .what = "messages in lists, 100 levels deep",
        .plain = "the same, 4 levels deep",
        .encode = true,
    },
    {
        .name = "unknown_nesting",
        .type = "bench.Simple",
        .fill = fill_unknown_nesting,
        .what = "unknown lists 100 levels deep",
        .plain = "unknown lists 4 levels deep",
        .ignore_unknown = true,
    },
    {
        .name = "empty",
        .type = REPEATED,
        .fill = fill_empty,
        .what = "empty messages",
        .plain = "messages of two members",
        .encode = true,
    },
    {
        .name = "white_space",
        .type = REPEATED,
        .fill = fill_blanks,
        .what = "runs of 1000 blanks, tabs and line breaks",
        .plain = "no white space",
    },
    {
        .name = "bad_end",
        .type = REPEATED,
        .fill = fill_bad_end,
        .what = "the last byte is wrong",
        .plain = "the right text",
        .invalid = true,
    },
};
const size_t bench_worst_count = sizeof bench_worsts / sizeof *bench_worsts;

bench_text bench_worst_make(const bench_worst *worst, size_t bytes, bool plain, const upb_MessageDef *def,
                            const bjvm_plan *plan, upb_Arena *arena, upb_Message **msg) {
  bench_document d = {
      .arena = arena, .def = def, .plan = plan, .room = bytes + 4 * DIGITS, .seed = plain ? 1 : 2};
  d.data = upb_Arena_Malloc(arena, d.room + BENCH_PADDING);
  d.msg = upb_Message_New(upb_MessageDef_MiniTable(def), arena);
  if (d.data == NULL || d.msg == NULL) bench_die("out of memory", worst->name);
  worst->fill(&d, bytes, plain);
  memset(d.data + d.size, 0, BENCH_PADDING);
  *msg = d.msg;
  return (bench_text){d.data, d.size};
}
