/* Every check of the loader and the verifier, by the files of bad_plans.h; and files cut short, files damaged
 * at random, and the limits.
 *
 * That a file is refused by one check alone is shown by golden/bad_plans.c. The bytes lie in a block of
 * exactly their size, for AddressSanitizer.
 */
#include <criterion/criterion.h>

#include "bad_plans.h"
#include "bjvm/plan.h"
#include "plan.h"
#include "sentence.h"
#include "verify.h"

/* Loads a copy of exactly `size` bytes and checks its mini descriptors; the arena and the copy live as long as the test. */
static bjvm_status load(const char *file, size_t size, const bjvm_image **image, bjvm_error *error) {
  char *copy = malloc(size ? size : 1);
  cr_assert(copy);
  memcpy(copy, file, size);
  bjvm_status status = bjvm_image_load(copy, size, upb_Arena_New(), image, error);
  return status == BJVM_OK ? bjvmi_verify_mini(*image, error) : status;
}

static bool nowhere(void *context, const char *text, size_t size) {
  size_t *sum = context;
  for (size_t i = 0; i < size; i++) *sum += (unsigned char)text[i];
  return true;
}

/* Everything that reads an image. */
static size_t use(const bjvm_image *image) {
  size_t sum = 0, size = 0;
  bjvm_image_dump(image, nowhere, &sum);
  for (size_t i = 0; i < bjvm_image_root_count(image); i++)
    if (bjvm_image_root_name(image, i, &size)) sum += size;
  static const char *const names[] = {"", "id", "unit_price", "RED", "red", "seconds", "k\xc3\xa4se<"};
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    size_t length = strlen(names[n]);
    for (uint32_t i = 0; i < image->message_count; i++) {
      const bjvmi_table keys = bjvmi_table_native(&image->messages[i].keys);
      sum += (size_t)(1 + bjvmi_table_find(image, &keys, names[n], length));
    }
    int32_t number;
    for (uint32_t i = 0; i < image->enum_count; i++)
      sum += bjvmi_enum_number(image, i, names[n], length, n % 2, &number);
  }
  static const int32_t numbers[] = {INT32_MIN, -1, 0, 1, 2, 3, 4, 1000, INT32_MAX};
  for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
    for (uint32_t i = 0; i < image->enum_count; i++) {
      uint32_t length;
      const char *name = bjvmi_enum_name(image, i, numbers[n], &length);
      if (name) sum += (unsigned char)name[length - 1] + bjvmi_enum_is_closed(image, i);
    }
  return sum;
}

Test(verify, accepts_the_sample) {
  blob *b = blob_sample();
  const bjvm_image *image;
  bjvm_error error = {.message = ""};
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_OK, "%zu: %s", error.offset, error.message);
  cr_assert(use(image) > 0);
}

Test(verify, each_check) {
  for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
    const bad_row *r = &bad_rows[i];
    blob *b = blob_sample();
    size_t at = bad_place(b, &r->first);
    bad_apply(b, &r->first);
    bad_apply(b, &r->second);
    blob_seal(b->file, b->size);
    const bjvm_image *image = NULL;
    bjvm_error error;
    memset(&error, 'x', sizeof error);
    bjvm_status status = load(b->file, b->size, &image, &error);
    cr_expect_eq(status, r->status, "line %d: status %s", r->line, bjvm_status_name(status));
    if (status == BJVM_OK) continue;
    cr_expect_str_eq(error.message, report_of(r->text), "line %d: got \"%s\"", r->line, error.message);
    cr_expect_eq(error.code, r->status, "line %d", r->line);
    cr_expect(error.line == 0 && error.column == 0 && error.path[0] == 0, "line %d", r->line);
    cr_expect(r->elsewhere || error.offset == at, "line %d: at %zu, not %zu", r->line, error.offset, at);
    cr_expect_leq(error.offset, b->size, "line %d", r->line);
    cr_expect_eq(load(b->file, b->size, &image, NULL), r->status, "line %d", r->line);
    cr_expect_null(image, "line %d", r->line);
    free(b);
  }
}

Test(verify, checksum) {
  blob *b = blob_sample();
  const bjvm_image *image;
  bjvm_error error;
  for (size_t at = 16; at < b->size; at += at < 64 ? 1 : 37) {
    b->file[at] ^= 1;
    cr_expect_neq(load(b->file, b->size, &image, &error), BJVM_OK, "byte %zu", at);
    b->file[at] ^= 1;
  }
  b->file[200] ^= 1;
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
  cr_assert_str_eq(error.message, report_of("the checksum differs"));
  cr_assert_eq(error.offset, offsetof(bjvmi_header, checksum));
}

/* Cut short anywhere, as it is and with a header that knows of it. */
Test(verify, truncated) {
  blob *b = blob_sample();
  const bjvm_image *image;
  bjvm_error error;
  size_t last_name_end = b->offset[BJVMI_SECTION_NAMES] + b->count[BJVMI_SECTION_NAMES];
  for (size_t size = 0; size < b->size; size++) {
    bjvm_status expected = size < 4 ? BJVM_PLAN_MAGIC : BJVM_PLAN_CORRUPT;
    cr_expect_eq(load(b->file, size, &image, &error), expected, "%zu bytes", size);
    if (size >= 4 && size < BJVMI_HEADER_SIZE)
      cr_expect_str_eq(error.message, report_of("the file ends inside its header"));
    if (size < BJVMI_HEADER_SIZE || size >= last_name_end) continue;
    blob copy = *b;
    blob_put(copy.file + offsetof(bjvmi_header, total_size), size, 4);
    blob_seal(copy.file, size);
    cr_expect_eq(load(copy.file, size, &image, &error), BJVM_PLAN_CORRUPT, "%zu bytes, sealed", size);
    if (size < BJVMI_HEADER_SIZE + sizeof(bjvmi_section_entry) * BJVMI_SECTION_MINI)
      cr_expect_str_eq(error.message, report_of("the file ends inside its section table"));
  }
}

/* Each section but the names, a byte too far. */
Test(verify, misaligned_sections) {
  for (uint32_t i = 0; i < BJVMI_SECTION_NAMES; i++) {
    blob *b = blob_sample();
    bjvmi_section_entry *e = (bjvmi_section_entry *)(void *)(b->file + BJVMI_HEADER_SIZE) + i;
    BLOB_SET(e->offset, b->offset[i] + 1);
    blob_seal(b->file, b->size);
    const bjvm_image *image;
    bjvm_error error;
    cr_expect_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT, "section %u", i);
    cr_expect_str_eq(error.message, report_of("the section is not aligned"), "section %u: %s", i,
                     error.message);
    cr_expect_eq(error.offset, BJVMI_HEADER_SIZE + i * sizeof *e, "section %u", i);
    free(b);
  }
}

Test(verify, each_file) {
  for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
    blob *b = bad_made(&bad_files[i]);
    const bjvm_image *image = NULL;
    bjvm_error error = {.message = ""};
    cr_expect_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT, "%s", bad_files[i].text);
    cr_expect_str_eq(error.message, report_of(bad_files[i].text), "%s: got \"%s\"", bad_files[i].text,
                     error.message);
    free(b);
  }
}

/* A file whose records share one long name is refused before it has cost more than its size allows. */
Test(verify, shared_names) {
  blob *b = bad_made(&(bad_file){"", bad_names_shared});
  const bjvm_image *image;
  bjvm_error error;
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
  const char *said = report_of("long names are shared by too many records");
  cr_assert(strstr(error.message, said), "%s", error.message);
  size_t word = (error.offset - b->offset[BJVMI_SECTION_WORDS]) / sizeof(bjvmi_word);
  size_t budget = b->size * BJVMI_VERIFY_NAME_FACTOR + BJVMI_VERIFY_NAME_FLOOR - 3; /* "a.M" */
  cr_assert_eq(word, budget / 6000);
}

/* The longest encoded name is accepted up to its limit and no further. */
Test(verify, longest_name) {
  enum { POOL = 4 + 3 + 4 + BJVMI_NAME_MAX + 1 + BJVMI_NAME_PAD };
  for (uint32_t length = BJVMI_NAME_MAX; length <= BJVMI_NAME_MAX + 1; length++) {
    size_t words = 64 + 12 * 3, message = words + 4, size;
    const bjvmi_section_entry table[3] = {{BJVMI_SECTION_MESSAGES, (uint32_t)message, 32},
                                          {BJVMI_SECTION_WORDS, (uint32_t)message + 32, 32},
                                          {BJVMI_SECTION_NAMES, (uint32_t)message + 64, POOL}};
    size = message + 64 + POOL;
    char *file = calloc(1, size), *names = file + message + 64;
    const bjvmi_header h = {
        .magic = {'B', 'J', 'V', 'M'}, .major = 1, .total_size = (uint32_t)size, .section_count = 3};
    const bjvmi_message m = {.name = 4, .name_size = 3, .kind = BJVMI_KIND_MESSAGE, .word_count = 1};
    bjvmi_word w[2] = {{.op = BJVMI_OP(BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT), .number = 1, .name = 11},
                       {.op = BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE)}};
    memcpy(names + 4, "a.M", 3);
    blob_put(names + 7, length, 2);
    blob_put(names + 9, BJVMI_NAME_LONG << 8, 2);
    memset(names + 11, 'x', length);
    memcpy(names + 11, ",\"", 2);
    memcpy(names + 11 + length - 2, "\":", 2);
    blob_put_header(file, &h, table);
    *(bjvmi_message *)(void *)(file + message) = bjvmi_message_native(&m);
    for (size_t i = 0; i < 2; i++)
      ((bjvmi_word *)(void *)(file + message + 32))[i] = bjvmi_word_native(&w[i]);
    blob_seal(file, size);
    const bjvm_image *image;
    bjvm_error error = {.message = ""};
    bjvm_status status = load(file, size, &image, &error);
    cr_expect_eq(status, length > BJVMI_NAME_MAX ? BJVM_PLAN_CORRUPT : BJVM_OK, "%u: %s", length,
                 error.message);
    if (status) cr_expect_str_eq(error.message, report_of("word 0: the name is too long"));
    else cr_expect(use(image) > 0);
  }
}

/* A prebound file carries offsets; whether they are true is seen when it is bound. */
Test(verify, prebound) {
  blob *b = blob_sample();
  bjvmi_word *words = (bjvmi_word *)(void *)(b->file + b->offset[BJVMI_SECTION_WORDS]);
  bjvmi_header *h = (bjvmi_header *)(void *)b->file;
  BLOB_SET(h->minor, 1);
  BLOB_SET(h->flags, BJVMI_HEADER_64BIT);
  BLOB_SET(h->layout, 1);
  BLOB_SET(words[W_ID].offset, 8);
  BLOB_SET(words[W_ID].presence, 64);
  blob_seal(b->file, b->size);
  const bjvm_image *image;
  bjvm_error error = {.message = ""};
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_OK, "%s", error.message);
  cr_assert(use(image) > 0);
}

/* A file may do without sections, but not without the padding of the pool. */
Test(verify, empty) {
  _Alignas(8) char file[64 + 12 + 36] = {0};
  const bjvmi_header h = {
      .magic = {'B', 'J', 'V', 'M'}, .major = 1, .total_size = sizeof file, .section_count = 1};
  bjvmi_section_entry names = {BJVMI_SECTION_NAMES, 76, 36};
  blob_put_header(file, &h, &names);
  blob_seal(file, sizeof file);
  const bjvm_image *image;
  bjvm_error error;
  cr_assert_eq(load(file, sizeof file, &image, &error), BJVM_OK);
  cr_assert_eq(bjvm_image_root_count(image), 0);
  cr_assert(use(image) > 0);
  names.size = 31;
  blob_put_header(file, &h, &names);
  blob_seal(file, sizeof file);
  cr_assert_eq(load(file, sizeof file, &image, &error), BJVM_PLAN_CORRUPT);
  cr_assert_str_eq(error.message, report_of("the name pool has no room for its padding"));
}

/* -- Mini descriptors ----------------------------------------------------------------------------------- */

Test(verify, accepts_minis) {
  blob *b = blob_sample_mini(0, NULL);
  const bjvm_image *image;
  bjvm_error error = {.message = ""};
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_OK, "%zu: %s", error.offset, error.message);
  cr_assert(bjvm_image_has_tables(image));
  cr_assert(use(image) > 0);
}

Test(verify, each_check_of_minis) {
  for (size_t i = 0; i < sizeof bad_mini_rows / sizeof bad_mini_rows[0]; i++) {
    const bad_mini_row *r = &bad_mini_rows[i];
    char mini[256];
    bad_mini(r, mini, sizeof mini);
    blob *b = blob_sample_mini(r->which, mini);
    const bjvm_image *image = NULL;
    bjvm_error error = {.message = ""};
    cr_expect_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT, "row %zu: %s", i, mini);
    cr_expect_str_eq(error.message, report_of(r->text), "row %zu, %s: got \"%s\"", i, mini, error.message);
    cr_expect(error.offset >= b->offset[BJVMI_SECTION_MINI] && error.offset <= b->size, "row %zu", i);
    free(b);
  }
}

/* The section itself: a length that goes on, one that is longer than it need be, one that leads outside,
 * bytes left. */
Test(verify, mini_lengths) {
  static const struct {
    const char *bytes, *text;
    size_t at, size;
  } cases[] = {
      {"\x80\x80\x80\x80", "message 0: its mini descriptor is not there", 0, 4},
      {"\x80\x00", "message 0: its mini descriptor is not there", 0, 2},
      {"\xff\x7f", "message 0: its mini descriptor is not there", 0, 2},
  };
  const bjvm_image *image;
  bjvm_error error;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    blob *b = blob_sample_mini(0, NULL);
    memcpy(b->file + b->offset[BJVMI_SECTION_MINI], cases[i].bytes, cases[i].size);
    blob_seal(b->file, b->size);
    cr_expect_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT, "%zu", i);
    cr_expect_str_eq(error.message, report_of(cases[i].text), "%zu: %s", i, error.message);
    cr_expect_eq(error.offset, b->offset[BJVMI_SECTION_MINI], "%zu", i);
    free(b);
  }
  for (int more = -1; more <= 1; more += 2) {
    blob *b = blob_sample_records();
    b->minor = 1;
    blob_sample_minis(b, 0, NULL);
    b->count[BJVMI_SECTION_MINI] += (uint32_t)more;
    blob_finish(b);
    cr_expect_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
    cr_expect_str_eq(error.message, report_of(more > 0 ? "bytes behind the last mini descriptor"
                                                       : "extension 1: its mini descriptor is not there"));
    free(b);
  }
}

/* -- Files in the repository ---------------------------------------------------------------------------- */

/* One field of a line of the table; moves *line behind it. */
static char *field_of(char **line) {
  char *field = *line;
  size_t size = strcspn(field, "\t\n");
  *line = field + size + (field[size] != 0);
  field[size] = 0;
  return field;
}

/* The file of that name, 0 bytes behind it; its size in *size. */
static char *read_golden(const char *name, size_t *size) {
  const char *tests = getenv("BJVM_TESTS_DIR");
  char path[1024];
  cr_assert_not_null(tests, "BJVM_TESTS_DIR names the folder of the tests");
  snprintf(path, sizeof path, "%s/golden/bad/%s", tests, name);
  FILE *f = fopen(path, "rb");
  cr_assert(f, "%s", path);
  char *data = calloc(1, BLOB_CAPACITY + 1);
  *size = fread(data, 1, BLOB_CAPACITY, f);
  fclose(f);
  return data;
}

/* The files that golden/bad_plans.c has made, one for each check. */
Test(verify, golden_files) {
  size_t size;
  unsigned count = 0;
  char *table = read_golden("table.tsv", &size), *line = strchr(table, '\n') + 1;
  for (; *line; count++) {
    const char *name = field_of(&line), *status = field_of(&line), *offset = field_of(&line);
    (void)field_of(&line);
    const char *message = report_of(field_of(&line));
    char *file = read_golden(name, &size);
    const bjvm_image *image;
    bjvm_error error = {.message = ""};
    cr_expect_str_eq(bjvm_status_name(load(file, size, &image, &error)), status, "%s", name);
    cr_expect_eq(error.offset, strtoul(offset, NULL, 10), "%s: at %zu", name, error.offset);
    cr_expect_str_eq(error.message, message, "%s: %s", name, error.message);
    free(file);
  }
  cr_expect_geq(count, 144, "%u files", count);
  free(table);
}

/* Older files have no mini descriptors and no layout, and are read. */
Test(verify, older_minor) {
  blob *b = blob_sample();
  const bjvm_image *image;
  cr_assert_eq(((const bjvmi_header *)(const void *)b->file)->minor, 0);
  cr_assert_eq(load(b->file, b->size, &image, NULL), BJVM_OK);
  cr_assert_not(bjvm_image_has_tables(image));
}

static uint32_t random_next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

/* Whatever passes must be safe to use. */
Test(verify, random_damage) {
  enum { TRIES = 100000 };
  blob *b = blob_sample();
  char *file = malloc(b->size);
  uint64_t state = 1;
  unsigned passed = 0;
  size_t sum = 0;
  _Alignas(16) char memory[4096];
  cr_assert(file);
  for (unsigned i = 0; i < TRIES; i++) {
    memcpy(file, b->file, b->size);
    for (uint32_t n = 1 + random_next(&state) % 3; n > 0; n--) {
      /* Half of the damage goes to records, which are the smaller part of the file. */
      size_t end = n % 2 ? b->size : b->offset[BJVMI_SECTION_NAMES];
      size_t at = 24 + random_next(&state) % (end - 24);
      uint32_t how = random_next(&state) % 4;
      char bit = (char)(1 << random_next(&state) % 8);
      file[at] = how == 0   ? (char)random_next(&state)
                 : how == 1 ? (char)(file[at] + 1)
                            : (char)(file[at] ^ bit);
    }
    blob_seal(file, b->size);
    upb_Arena *arena = upb_Arena_Init(memory, sizeof memory, NULL);
    const bjvm_image *image;
    bjvm_error error;
    bjvm_status status = bjvm_image_load(file, b->size, arena, &image, &error);
    if (status == BJVM_OK) {
      sum += use(image);
      passed++;
    } else {
      cr_assert(error.offset <= b->size && error.message[0], "try %u", i);
    }
    upb_Arena_Free(arena);
  }
  cr_assert(passed > TRIES / 100 && passed < TRIES / 2 && sum > 0, "%u passed", passed);
}
