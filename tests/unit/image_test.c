/* Loading, look-ups and the listing of a valid image, and the small texts that go with them.
 *
 * The file comes from blob.h; what is refused, and why, is verify_test.c's business.
 */
#include <criterion/criterion.h>

#include "bjvm/plan.h"
#include "blob.h"
#include "plan.h"
#include "sentence.h"
#include "text.h"

static const bjvm_image *load(const blob *b) {
  const bjvm_image *image = NULL;
  bjvm_error error = {.message = ""};
  bjvm_status status = bjvm_image_load(b->file, b->size, upb_Arena_New(), &image, &error);
  cr_assert_eq(status, BJVM_OK, "%zu: %s", error.offset, error.message);
  return image;
}

Test(image, arguments) {
  blob *b = blob_sample();
  upb_Arena *arena = upb_Arena_New();
  const bjvm_image *image = NULL;
  bjvm_error error;
  cr_expect_eq(bjvm_image_load(NULL, 0, arena, &image, &error), BJVM_BAD_ARGUMENT);
  cr_expect_eq(error.code, BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_load(b->file, b->size, NULL, &image, NULL), BJVM_BAD_ARGUMENT);
  cr_expect_eq(bjvm_image_load(b->file, b->size, arena, NULL, NULL), BJVM_BAD_ARGUMENT);
  for (size_t shift = 1; shift < 8; shift++) {
    cr_expect_eq(bjvm_image_load(b->file + shift, b->size - shift, arena, &image, &error), BJVM_BAD_ARGUMENT);
    cr_expect_str_eq(error.message, report_of("a plan file must be aligned to 8 bytes"));
  }
  cr_expect_null(image);
}

Test(image, no_memory) {
  blob *b = blob_sample();
  _Alignas(16) char memory[128]; /* an arena's own block fits, an image does not */
  upb_Arena *arena = upb_Arena_Init(memory, sizeof memory, NULL);
  cr_assert(arena);
  while (upb_Arena_Malloc(arena, 8)) {
  }
  const bjvm_image *image = NULL;
  bjvm_error error;
  cr_assert_eq(bjvm_image_load(b->file, b->size, arena, &image, &error), BJVM_OUT_OF_MEMORY);
  cr_assert_eq(error.code, BJVM_OUT_OF_MEMORY);
  cr_assert_null(image);
}

Test(image, roots) {
  const bjvm_image *image = load(blob_sample());
  static const char *const expected[] = {"acme.Order", "google.protobuf.Timestamp"};
  size_t size;
  cr_assert_eq(bjvm_image_root_count(image), 2);
  for (size_t i = 0; i < 2; i++) {
    const char *name = bjvm_image_root_name(image, i, &size);
    cr_expect(size == strlen(expected[i]) && memcmp(name, expected[i], size) == 0, "root %zu", i);
  }
  cr_expect_null(bjvm_image_root_name(image, 2, &size));
  cr_expect_null(bjvm_image_root_name(image, SIZE_MAX, &size));
}

/* The index a name leads to in message `m`, with the name in a block of its exact size. */
static int find(const bjvm_image *image, const bjvmi_message *m, const char *name) {
  size_t size = strlen(name);
  char *exact = malloc(size ? size : 1);
  cr_assert(exact);
  memcpy(exact, name, size);
  const bjvmi_table keys = bjvmi_table_native(&m->keys);
  int found = bjvmi_table_find(image, &keys, exact, size);
  free(exact);
  return found;
}

Test(image, finds_keys) {
  const bjvm_image *image = load(blob_sample());
  const bjvmi_message *order = &image->messages[S_ORDER];
  static const struct {
    const char *name;
    int word;
  } rows[] = {
      {"id", W_ID},
      {"flag", W_FLAG},
      {"a\"b\\\1", W_NAME},
      {"unitPrice", W_UNIT_PRICE},
      {"unit_price", W_UNIT_PRICE},
      {"k\xc3\xa4se<", W_KAESE},
      {"byName", W_BY_NAME},
      {"", -1},
      {"i", -1},
      {"id ", -1},
      {"ID", -1},
      {"a\\\"b\\\\\\u0001", -1},
      {"unitprice", -1},
      {"seconds", -1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    cr_expect_eq(find(image, order, rows[i].name), rows[i].word, "\"%s\"", rows[i].name);
  cr_expect_eq(find(image, &image->messages[S_TAGS], "key"), -1);
  cr_expect_eq(find(image, &image->messages[S_ELSEWHERE], "id"), -1);

  for (uint32_t i = 0; i < image->message_count; i++) {
    const bjvmi_table t = bjvmi_table_native(&image->messages[i].keys);
    for (uint32_t k = t.first_key; k < t.first_key + t.key_count; k++) {
      const bjvmi_key key = blob_key_native(&image->keys[k]);
      cr_expect_eq(bjvmi_table_find(image, &t, image->names + key.name, key.size), key.index,
                   "message %u, key %u", i, k);
    }
  }
}

/* A name no key has ends the search after max_probe + 1 slots, also where no slot is free. */
Test(image, full_table) {
  blob *b = calloc(1, sizeof *b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_message *m = blob_message(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  blob_field(b, m, BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT, 1, 0, "a");
  blob_word(b, NULL, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE), 0, 0, 0);
  m->keys = (bjvmi_table){.key_count = 1, .max_probe = 255};
  b->slots[b->count[BJVMI_SECTION_SLOTS]++] = 1;
  blob_finish(b);
  const bjvm_image *image = load(b);
  cr_expect_eq(find(image, &image->messages[0], "a"), 0);
  cr_expect_eq(find(image, &image->messages[0], "b"), -1);
}

static void expect_name(const bjvm_image *image, uint32_t index, int32_t number, const char *expected) {
  uint32_t size = 0;
  const char *name = bjvmi_enum_name(image, index, number, &size);
  if (!expected) {
    cr_expect_null(name, "%d", number);
    return;
  }
  cr_assert_not_null(name, "%d", number);
  cr_expect(size == strlen(expected) && memcmp(name, expected, size) == 0, "%d: %.*s", number, (int)size,
            name);
}

Test(image, enum_names) {
  const bjvm_image *image = load(blob_sample());
  static const struct {
    int32_t number;
    const char *name;
  } rows[] = {
      {INT32_MIN, "\"MINUS\""},
      {INT32_MIN + 1, NULL},
      {-1, NULL},
      {0, "\"RED\""},
      {1, NULL},
      {2, "\"BLUE\""},
      {3, "\"GREEN\""},
      {4, NULL},
      {INT32_MAX - 1, NULL},
      {INT32_MAX, "\"FAR\""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    expect_name(image, E_COLOR, rows[i].number, rows[i].name);
  expect_name(image, E_NULL, 0, "\"NULL_VALUE\"");
  expect_name(image, E_NULL, 1, NULL);
  expect_name(image, E_NULL, -1, NULL);
  cr_expect(bjvmi_enum_is_closed(image, E_COLOR));
  cr_expect_not(bjvmi_enum_is_closed(image, E_NULL));
}

/* Enums without a dense run, with a run at either end of the number range, and with names that differ by
 * case. */
Test(image, enum_runs) {
  blob *b = calloc(1, sizeof *b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_enum *e = blob_enum(b, "a.Sparse", 0);
  static const int32_t sparse[] = {INT32_MIN, -7, 0, 100, 101, 5000, INT32_MAX};
  static const char *const names[] = {"Low", "lOW", "zero", "h", "hi", "LOW", "top"};
  for (size_t i = 0; i < 7; i++) blob_value(b, e, sparse[i], names[i]);
  e->keys = blob_table(b);
  e = blob_enum(b, "a.Ends", 0);
  blob_value(b, e, INT32_MIN, "A");
  blob_value(b, e, INT32_MAX - 1, "B");
  blob_value(b, e, INT32_MAX, "C");
  e->dense_min = INT32_MAX - 1;
  e->dense_first = 1;
  e->dense_count = 2;
  e->keys = blob_table(b);
  e = blob_enum(b, "a.None", 0);
  e->keys = blob_table(b);
  blob_finish(b);
  const bjvm_image *image = load(b);

  for (size_t i = 0; i < 7; i++) {
    char expected[16];
    snprintf(expected, sizeof expected, "\"%s\"", names[i]);
    expect_name(image, 0, sparse[i], expected);
    expect_name(image, 0, (int32_t)((uint32_t)sparse[i] ^ 0x10000), NULL);
  }
  expect_name(image, 1, INT32_MIN, "\"A\"");
  expect_name(image, 1, INT32_MAX - 1, "\"B\"");
  expect_name(image, 1, INT32_MAX, "\"C\"");
  expect_name(image, 1, 0, NULL);
  expect_name(image, 2, 0, NULL);

  int32_t number = 42;
  cr_expect(bjvmi_enum_number(image, 0, "LOW", 3, true, &number) && number == 5000,
            "an exact name goes first");
  cr_expect(bjvmi_enum_number(image, 0, "lOW", 3, true, &number) && number == -7);
  cr_expect(bjvmi_enum_number(image, 0, "low", 3, true, &number) && number == INT32_MIN,
            "then the first key");
  cr_expect_not(bjvmi_enum_number(image, 0, "low", 3, false, &number));
  cr_expect_not(bjvmi_enum_number(image, 2, "low", 3, true, &number));
}

Test(image, enum_numbers) {
  const bjvm_image *image = load(blob_sample());
  static const struct {
    const char *name;
    bool fold, found;
    int32_t number;
  } rows[] = {
      {"RED", false, true, 0},      {"ROT", false, true, 0},      {"FAR", false, true, INT32_MAX},
      {"rot", true, true, 0},       {"gReEn", true, true, 3},     {"MINUS", true, true, INT32_MIN},
      {"red", false, false, 0},     {"\"RED\"", false, false, 0}, {"", true, false, 0},
      {"RE", true, false, 0},       {"REDD", true, false, 0},     {"r\x65\xc3\xa4", true, false, 0},
      {"MIN\x15S", true, false, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int32_t number = 42;
    bool found = bjvmi_enum_number(image, E_COLOR, rows[i].name, strlen(rows[i].name), rows[i].fold, &number);
    cr_expect_eq(found, rows[i].found, "%s", rows[i].name);
    cr_expect_eq(number, rows[i].found ? rows[i].number : 42, "%s", rows[i].name);
  }
}

/* -- The listing ---------------------------------------------------------------------------------------- */

typedef struct paper {
  char text[16384];
  size_t size;
  size_t calls_left; /* refuses afterwards */
} paper;

static bool print(void *context, const char *text, size_t size) {
  paper *p = context;
  if (p->calls_left == 0) return false;
  p->calls_left--;
  cr_assert(p->size + size < sizeof p->text);
  memcpy(p->text + p->size, text, size);
  p->size += size;
  p->text[p->size] = 0;
  return true;
}

Test(image, listing) {
  const bjvm_image *image = load(blob_sample());
  static paper p, again;
  p.calls_left = again.calls_left = SIZE_MAX;
  cr_assert(bjvm_image_dump(image, print, &p));
  cr_assert(bjvm_image_dump(image, print, &again));
  cr_assert_str_eq(p.text, again.text);
  static const char *const lines[] = {
      ", schema 0123456789abcdef, portable\nroot acme.Order\nroot google.protobuf.Timestamp\n",
      "\nmessage 0 acme.Order: message, extendable, 19 words, 1 required, 20 keys in 64 slots, at most ",
      "\n     0  int32.has                 1  \"id\"\n",
      "\n     2  string                    3  \"a\\\"b\\\\\\u0001\"\n",
      "\n     5  map[]                     6  \"tags\" -> entry 1, int32 to string\n",
      "\n    14  double.oneof             15  \"unitPrice\" or \"unit_price\"\n",
      "\n    19  end.ext\n",
      "\nmessage 1: entry, 2 words, 0 keys\n    20  int32.always              1\n",
      "\nmessage 12 acme.Elsewhere: message, external\n",
      "\nenum 0 acme.Color: closed, 6 values, dense from 0 to 3, 6 keys in 16 slots, at most ",
      "\n  -2147483648  \"MINUS\"\n            0  \"RED\"\n            1  hole\n",
      "\nextension 1 acme.many of acme.Order\n    55  message[]               101  \"[acme.many]\" -> acme",
      "\n  words            912 bytes        57 of 16\n",
      "\n37 fields, ",
  };
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    cr_expect(strstr(p.text, lines[i]), "not in the listing: %s", lines[i]);
  char long_name[303];
  memset(long_name, 'x', sizeof long_name);
  long_name[0] = long_name[301] = '"';
  long_name[302] = 0;
  cr_expect(strstr(p.text, long_name), "a name longer than the buffer is whole");
}

Test(image, listing_prebound) {
  blob *b = blob_sample();
  bjvmi_header *h = (bjvmi_header *)(void *)b->file;
  BLOB_SET(h->minor, 1);
  BLOB_SET(h->flags, BJVMI_HEADER_64BIT);
  BLOB_SET(h->layout, 0xfe);
  bjvmi_word *words = (bjvmi_word *)(void *)(b->file + b->offset[BJVMI_SECTION_WORDS]);
  BLOB_SET(words[W_ID].offset, 8);
  BLOB_SET(words[W_ID].presence, 65);
  blob_seal(b->file, b->size);
  static paper p;
  p.calls_left = SIZE_MAX;
  cr_assert(bjvm_image_dump(load(b), print, &p));
  cr_expect(strstr(p.text, ", prebound for 64 bits, layout 00000000000000fe\n"));
  cr_expect(strstr(p.text, "  int32.has                 1  at     8 /    65  \"id\"\n"));
}

/* A refused write ends the listing, wherever it happens, and nothing is written afterwards. */
Test(image, listing_refused) {
  const bjvm_image *image = load(blob_sample());
  static paper whole, part;
  whole.calls_left = SIZE_MAX;
  cr_assert(bjvm_image_dump(image, print, &whole));
  size_t calls = SIZE_MAX - whole.calls_left;
  cr_assert(calls > 10);
  for (size_t k = 0; k < calls; k++) {
    part.size = 0;
    part.text[0] = 0;
    part.calls_left = k;
    cr_expect_not(bjvm_image_dump(image, print, &part), "%zu", k);
    cr_expect(part.size < whole.size && memcmp(part.text, whole.text, part.size) == 0, "%zu", k);
  }
}

/* -- Texts ---------------------------------------------------------------------------------------------- */

Test(image, status_names) {
  static const struct {
    bjvm_status status;
    const char *name, *text;
  } all[] = {
#define X(name, number, text) {BJVM_##name, #name, text},
#include "bjvm/status.def"
#undef X
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    cr_expect_str_eq(bjvm_status_name(all[i].status), all[i].name);
    cr_expect_str_eq(bjvm_status_text(all[i].status), all[i].text);
  }
  cr_expect_eq(BJVM_OK, 0);
  cr_expect_str_eq(bjvm_status_name((bjvm_status)19), "?");
  cr_expect_str_eq(bjvm_status_text((bjvm_status)19), "?");
}

Test(image, text) {
  char block[64];
  bjvmi_text t = bjvmi_text_init(block, sizeof block);
  cr_expect_str_eq(block, "");
  bjvmi_text_unsigned(&t, UINT64_MAX, 0);
  bjvmi_text_string(&t, " ");
  bjvmi_text_signed(&t, INT64_MIN, 0);
  bjvmi_text_signed(&t, -5, 4);
  bjvmi_text_unsigned(&t, 0, 3);
  cr_expect_str_eq(block, "18446744073709551615 -9223372036854775808  -5  0");
  t = bjvmi_text_init(block, sizeof block);
  bjvmi_text_hex(&t, 0x0123456789abcdefu);
  cr_expect_str_eq(block, "0123456789abcdef");

  /* Cut at every length, in one piece and byte by byte; the byte behind the block stays. */
  for (size_t capacity = 1; capacity < 16; capacity++) {
    char expected[] = "abc  123.....";
    size_t size = strlen(expected);
    if (size >= capacity) {
      size = capacity - 1;
      memcpy(expected + (size < 3 ? size : size - 3), size < 3 ? "" : "...", size < 3 ? 1 : 4);
    }
    memset(block, '#', sizeof block);
    t = bjvmi_text_init(block, capacity);
    bjvmi_text_string(&t, "abc");
    bjvmi_text_unsigned(&t, 123, 5);
    bjvmi_text_fill(&t, '.', 5);
    cr_expect_str_eq(block, expected, "capacity %zu", capacity);
    cr_expect_eq(block[capacity], '#', "capacity %zu", capacity);
  }
  /* Never inside a character. */
  t = bjvmi_text_init(block, 8);
  bjvmi_text_string(&t, "abc\xe2\x82\xac\xe2\x82\xac");
  cr_expect_str_eq(block, "abc...");
}
