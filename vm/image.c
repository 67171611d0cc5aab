/* Loading a plan file, and look-ups in a loaded one.
 *
 * This file checks the frame: header, checksum, section table. What stands in the sections is checked by
 * verify.c, once. After that every look-up here trusts the records, and nothing here writes to the file.
 * Kept: an image exists only of a file that passed both; its pointers are never NULL (an absent section
 * points at the header and has no records).
 */
#include "image.h"
#include "camel.h"
#include "short_string.h"

const uint8_t bjvmi_shapes[BJVMI_KIND_COUNT] = {
#define KIND(name, number, shape, mnemonic, synopsis) [number] = BJVMI_SHAPE_##shape,
#include "ops.def"
#undef KIND
};

const bjvmi_section_format bjvmi_section_formats[BJVMI_SECTION_COUNT] = {
    [BJVMI_SECTION_MESSAGES] = {sizeof(bjvmi_message), 4},
    [BJVMI_SECTION_WORDS] = {sizeof(bjvmi_word), 4},
    [BJVMI_SECTION_KEYS] = {sizeof(bjvmi_key), 4},
    [BJVMI_SECTION_SLOTS] = {1, 2},
    [BJVMI_SECTION_ENUMS] = {sizeof(bjvmi_enum), 4},
    [BJVMI_SECTION_VALUES] = {sizeof(bjvmi_value), 4},
    [BJVMI_SECTION_EXTENSIONS] = {sizeof(bjvmi_extension), 4},
    [BJVMI_SECTION_ROOTS] = {sizeof(uint32_t), 4},
    [BJVMI_SECTION_NAMES] = {1, 1},
    [BJVMI_SECTION_MINI] = {1, 1},
};

/* -- Loading -------------------------------------------------------------------------------------------- */

_Static_assert(BJVMI_FORMAT_MAJOR == 1 && BJVMI_FORMAT_MINOR == 2, "fault.def says so twice");

/* Where the sections were found. */
typedef struct layout {
  uint32_t offset[BJVMI_SECTION_COUNT];
  uint32_t size[BJVMI_SECTION_COUNT];
} layout;

static bjvm_status fail(bjvm_error *error, bjvm_status code, size_t offset, bjvmi_fault fault) {
  bjvmi_image_report(error, code, offset, NULL, 0, fault);
  return code;
}

static bjvm_status corrupt(bjvm_error *error, size_t offset, bjvmi_fault fault) {
  return fail(error, BJVM_PLAN_CORRUPT, offset, fault);
}

/* What is wrong with the flags, which tell of a layout and nothing else. */
static bjvmi_fault layout_fault(const bjvmi_header *h) {
  uint32_t flags = bjvmi_le32(h->flags);
  if (flags == 0) return h->layout ? BJVMI_FAULT_LAYOUT_WITHOUT_FLAG : BJVMI_FAULT_NONE;
  if (bjvmi_le16(h->minor) == BJVMI_FORMAT_MINOR_PLAIN) return BJVMI_FAULT_FLAGS_TOO_NEW;
  if (flags != BJVMI_HEADER_32BIT && flags != BJVMI_HEADER_64BIT) return BJVMI_FAULT_HEADER_FLAGS;
  return h->layout ? BJVMI_FAULT_NONE : BJVMI_FAULT_FLAG_WITHOUT_LAYOUT;
}

static bjvm_status check_header(const char *data, size_t size, bjvm_error *error) {
  if (size < 4 || memcmp(data, BJVMI_MAGIC, 4) != 0)
    return fail(error, BJVM_PLAN_MAGIC, 0, BJVMI_FAULT_MAGIC);
  if (size < BJVMI_HEADER_SIZE) return corrupt(error, size, BJVMI_FAULT_HEADER_CUT);

  const bjvmi_header *h = (const bjvmi_header *)(const void *)data;
  if (bjvmi_le16(h->major) != BJVMI_FORMAT_MAJOR)
    return fail(error, BJVM_PLAN_VERSION, offsetof(bjvmi_header, major), BJVMI_FAULT_MAJOR_VERSION);
  /* An older minor version has less in it. A newer one adds what this verifier does not know and will not let
   * pass. */
  if (bjvmi_le16(h->minor) > BJVMI_FORMAT_MINOR)
    return fail(error, BJVM_PLAN_VERSION, offsetof(bjvmi_header, minor), BJVMI_FAULT_MINOR_VERSION);
  bjvmi_fault fault = layout_fault(h);
  if (fault) return corrupt(error, offsetof(bjvmi_header, flags), fault);
  if (bjvmi_le32(h->total_size) != size)
    return corrupt(error, offsetof(bjvmi_header, total_size), BJVMI_FAULT_FILE_SIZE);
  for (size_t i = 0; i < sizeof h->reserved / sizeof h->reserved[0]; i++)
    if (h->reserved[i])
      return corrupt(error, offsetof(bjvmi_header, reserved) + 4 * i, BJVMI_FAULT_HEADER_RESERVED);
  if (bjvmi_le64(h->checksum) != bjvmi_checksum(data + BJVMI_CHECKSUM_FROM, size - BJVMI_CHECKSUM_FROM))
    return corrupt(error, offsetof(bjvmi_header, checksum), BJVMI_FAULT_CHECKSUM);
  return BJVM_OK;
}

/* The first byte that is not 0, or `end`. */
static size_t skip_zeros(const char *data, size_t at, size_t end) {
  while (at < end && data[at] == 0) at++;
  return at;
}

/* What is wrong with a section that may begin at `from` or later. */
static bjvmi_fault section_fault(const bjvmi_section_entry *s, uint64_t from, uint64_t file_size) {
  const bjvmi_section_format *format = &bjvmi_section_formats[s->kind];
  if (s->offset < from) return BJVMI_FAULT_SECTION_OVERLAP;
  if (s->offset % format->align) return BJVMI_FAULT_SECTION_ALIGN;
  if (s->size % format->record) return BJVMI_FAULT_SECTION_SIZE;
  if ((uint64_t)s->offset + s->size > file_size) return BJVMI_FAULT_SECTION_OUTSIDE;
  return BJVMI_FAULT_NONE;
}

/* Sections ascend by kind and by place; between them and behind them stand only zeros. */
static bjvm_status check_sections(const char *data, size_t size, layout *l, bjvm_error *error) {
  const bjvmi_header *h = (const bjvmi_header *)(const void *)data;
  const bjvmi_section_entry *table = (const bjvmi_section_entry *)(const void *)(data + BJVMI_HEADER_SIZE);
  uint32_t count = bjvmi_le32(h->section_count);
  if (count > BJVMI_SECTION_COUNT)
    return corrupt(error, offsetof(bjvmi_header, section_count), BJVMI_FAULT_SECTION_COUNT);
  size_t end = BJVMI_HEADER_SIZE + count * sizeof *table;
  if (end > size) return corrupt(error, size, BJVMI_FAULT_SECTION_TABLE_CUT);

  /* Mini descriptors came with 1.1. */
  uint32_t section_limit =
      bjvmi_le16(h->minor) == BJVMI_FORMAT_MINOR_PLAIN ? BJVMI_SECTION_MINI : BJVMI_SECTION_COUNT;
  uint32_t next_kind = 0;
  for (uint32_t i = 0; i < count; i++) {
    bjvmi_section_entry s = {bjvmi_le32(table[i].kind), bjvmi_le32(table[i].offset),
                             bjvmi_le32(table[i].size)};
    size_t place = (size_t)((const char *)&table[i] - data);
    if (s.kind >= section_limit) return corrupt(error, place, BJVMI_FAULT_SECTION_KIND);
    if (s.kind < next_kind) return corrupt(error, place, BJVMI_FAULT_SECTION_ORDER);
    bjvmi_fault fault = section_fault(&s, end, size);
    if (fault) return corrupt(error, place, fault);
    size_t dirt = skip_zeros(data, end, s.offset);
    if (dirt < s.offset) return corrupt(error, dirt, BJVMI_FAULT_DIRT_BETWEEN);
    l->offset[s.kind] = s.offset;
    l->size[s.kind] = s.size;
    next_kind = s.kind + 1;
    end = s.offset + s.size;
  }
  size_t dirt = skip_zeros(data, end, size);
  if (dirt < size) return corrupt(error, dirt, BJVMI_FAULT_DIRT_BEHIND);
  return BJVM_OK;
}

static bjvm_image open_sections(const char *data, const layout *l) {
  bjvm_image image = {.header = (const void *)data};
#define OPEN(section, records, count)                                                                        \
  image.records = (const void *)(data + l->offset[section]);                                                 \
  image.count = l->size[section] / bjvmi_section_formats[section].record
  OPEN(BJVMI_SECTION_MESSAGES, messages, message_count);
  OPEN(BJVMI_SECTION_WORDS, words, word_count);
  OPEN(BJVMI_SECTION_KEYS, keys, key_count);
  OPEN(BJVMI_SECTION_SLOTS, slots, slot_count);
  OPEN(BJVMI_SECTION_ENUMS, enums, enum_count);
  OPEN(BJVMI_SECTION_VALUES, values, value_count);
  OPEN(BJVMI_SECTION_EXTENSIONS, extensions, extension_count);
  OPEN(BJVMI_SECTION_ROOTS, roots, root_count);
  OPEN(BJVMI_SECTION_NAMES, names, names_size);
  OPEN(BJVMI_SECTION_MINI, mini, mini_size);
#undef OPEN
  return image;
}

bjvm_status bjvm_image_load(const void *data, size_t size, upb_Arena *arena, const bjvm_image **image,
                            bjvm_error *error) {
  if (!data || !arena || !image) return fail(error, BJVM_BAD_ARGUMENT, 0, BJVMI_FAULT_ARGUMENT_NULL);
  if ((uintptr_t)data % BJVMI_PLAN_ALIGN) return fail(error, BJVM_BAD_ARGUMENT, 0, BJVMI_FAULT_NOT_ALIGNED);

  layout l = {{0}, {0}};
  bjvm_status status = check_header(data, size, error);
  if (status == BJVM_OK) status = check_sections(data, size, &l, error);
  if (status != BJVM_OK) return status;

  bjvm_image opened = open_sections(data, &l);
  status = bjvmi_verify(&opened, size, error);
  if (status != BJVM_OK) return status;

  bjvm_image *loaded = upb_Arena_Malloc(arena, sizeof *loaded);
  if (!loaded) return fail(error, BJVM_OUT_OF_MEMORY, 0, BJVMI_FAULT_NO_IMAGE_MEMORY);
  *loaded = opened;
  *image = loaded;
  return BJVM_OK;
}

/* -- Roots ---------------------------------------------------------------------------------------------- */

size_t bjvm_image_root_count(const bjvm_image *image) { return image ? image->root_count : 0; }

const char *bjvm_image_root_name(const bjvm_image *image, size_t index, size_t *size) {
  bool there = image && index < image->root_count;
  const bjvmi_message *m = there ? &image->messages[bjvmi_le32(image->roots[index])] : NULL;
  if (size) *size = m ? bjvmi_le16(m->name_size) : 0;
  if (!m) return NULL;
  return image->names + bjvmi_le32(m->name);
}

int bjvmi_image_find_name(const bjvm_image *image, const char *name, size_t size) {
  for (uint32_t i = 0; i < image->message_count; i++) {
    const bjvmi_message *m = &image->messages[i];
    if (m->flags & BJVMI_MESSAGE_ENTRY || bjvmi_le16(m->name_size) != size) continue;
    if (memcmp(image->names + bjvmi_le32(m->name), name, size) == 0) return (int)i;
  }
  return -1;
}

int bjvmi_image_find_message(const bjvm_image *image, const char *name) {
  if (name) return bjvmi_image_find_name(image, name, strlen(name));
  return image->root_count ? (int)bjvmi_le32(image->roots[0]) : -1;
}

/* -- Names to indexes ----------------------------------------------------------------------------------- */

uint32_t bjvmi_image_hash(uint32_t seed, const char *name, size_t size) {
  return bjvmi_key_hash(seed, name, size);
}

/* A walk over the keys of a table whose names may have the hash `at`. */
typedef struct probe {
  const bjvmi_key *keys;
  const uint8_t *slots;
  uint32_t mask;
  uint32_t at;
  uint32_t end;
  bool wide;
} probe;

static inline probe probe_begin(const bjvm_image *image, const bjvmi_table *table, uint32_t hash) {
  return (probe){.keys = image->keys + table->first_key,
                 .slots = image->slots + table->first_slot,
                 .mask = (1u << table->slots_log2) - 1,
                 .at = hash,
                 .end = hash + table->max_probe + 1u,
                 .wide = table->key_count > BJVMI_KEYS_NARROW};
}

/* NULL: there are no more. */
static inline const bjvmi_key *probe_next(probe *p) {
  if (p->at == p->end) return NULL;
  uint32_t slot = bjvmi_slot_at(p->slots, p->wide, p->at++ & p->mask);
  return slot ? &p->keys[slot - 1] : NULL;
}

static inline bool is_key(const bjvm_image *image, const bjvmi_key *key, const char *name, size_t size) {
  return bjvmi_le16(key->size) == size && bjvmi_short_equal(image->names + bjvmi_le32(key->name), name, size);
}

int bjvmi_table_find(const bjvm_image *image, const bjvmi_table *table, const char *name, size_t size) {
  if (table->key_count == 0) return -1;
  probe p = probe_begin(image, table, bjvmi_key_hash(table->seed, name, size));
  const bjvmi_key *key;
  while ((key = probe_next(&p)) != NULL)
    if (is_key(image, key, name, size)) return bjvmi_le16(key->index);
  return -1;
}

/* The size of the JSON name that `name` may be derived from; 0: there is none. */
static size_t json_size(const char *name, size_t size) {
  size_t n = 0;
  for (size_t i = 0; i < size; i++, n++) {
    if (bjvmi_is_upper(name[i])) return 0;
    if (name[i] == '_' && (++i == size || !bjvmi_is_lower(name[i]))) return 0;
  }
  return n == size ? 0 : n;
}

/* The next byte of that JSON name. */
static char next_json_byte(const char **p) {
  char c = *(*p)++;
  return c == '_' ? bjvmi_to_upper(*(*p)++) : c;
}

/* bjvmi_key_hash of that JSON name, which has `size` bytes; it may be of any length, so it is not put together
 * anywhere. */
static uint32_t json_hash(uint32_t seed, const char *name, size_t size) {
  uint64_t h = bjvmi_key_hash_begin(seed, size);
  uint64_t v = 0; /* the last 8 bytes, the newest on top */
  char whole[8];
  for (size_t i = 0; i < size; i++) {
    if (i >= 8 && i % 8 == 0) h = bjvmi_key_hash_block(h, v);
    char c = next_json_byte(&name);
    v = v >> 8 | (uint64_t)(uint8_t)c << 56;
    if (size < sizeof whole) whole[i] = c;
  }
  return size < sizeof whole ? bjvmi_image_hash(seed, whole, size) : bjvmi_key_hash_end(h, v);
}

static bool is_json_name(const char *json, size_t size, const char *name) {
  for (size_t i = 0; i < size; i++)
    if (json[i] != next_json_byte(&name)) return false;
  return true;
}

int bjvmi_table_find_json(const bjvm_image *image, const bjvmi_table *table, const char *name, size_t size) {
  size_t n = json_size(name, size);
  if (n == 0 || table->key_count == 0) return -1;
  probe p = probe_begin(image, table, json_hash(table->seed, name, n));
  const bjvmi_key *key;
  while ((key = probe_next(&p)) != NULL)
    if (bjvmi_le16(key->size) == n && is_json_name(image->names + bjvmi_le32(key->name), n, name))
      return bjvmi_le16(key->index);
  return -1;
}

static bool equal_folded(const char *a, const char *b, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (bjvmi_to_lower(a[i]) != bjvmi_to_lower(b[i])) return false;
  return true;
}

/* As bjvmi_table_find, but upper and lower case of ASCII letters are the same; the first key in order
 * wins. */
static int find_folded(const bjvm_image *image, const bjvmi_table *table, const char *name, size_t size) {
  const bjvmi_key *keys = image->keys + table->first_key;
  for (uint32_t i = 0; i < table->key_count; i++)
    if (bjvmi_le16(keys[i].size) == size && equal_folded(image->names + bjvmi_le32(keys[i].name), name, size))
      return bjvmi_le16(keys[i].index);
  return -1;
}

/* -- Enums ---------------------------------------------------------------------------------------------- */

/* The index of `number` among the ascending values [low, high), or `high` of the call if it is not there. */
static uint32_t bisect(const bjvmi_value *values, uint32_t low, uint32_t high, int32_t number) {
  uint32_t end = high;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int32_t there = bjvmi_value_native(&values[middle]).number;
    if (there == number) return middle;
    if (there < number) low = middle + 1;
    else high = middle;
  }
  return end;
}

/* The record of `number`, NULL if there is none. */
static const bjvmi_value *find_value(const bjvm_image *image, const bjvmi_enum *e, int32_t number) {
  const bjvmi_value *values = image->values + e->first_value;
  uint64_t delta = (uint64_t)((int64_t)number - e->dense_min);
  if (delta < e->dense_count) return &values[e->dense_first + (uint32_t)delta];
  bool below = e->dense_count && number < e->dense_min;
  uint32_t low = below ? 0 : e->dense_first + e->dense_count;
  uint32_t high = below ? e->dense_first : e->value_count;
  if (e->dense_count == 0) low = 0;
  uint32_t found = bisect(values, low, high, number);
  return found < high ? &values[found] : NULL;
}

const char *bjvmi_enum_name(const bjvm_image *image, uint32_t index, int32_t number, uint32_t *size) {
  bjvmi_enum e = bjvmi_enum_native(&image->enums[index]);
  const bjvmi_value *value = find_value(image, &e, number);
  uint32_t name = value ? bjvmi_le32(value->name) : 0;
  if (name == 0) return NULL;
  *size = bjvmi_name_length(image->names, name);
  return image->names + name;
}

static int32_t number_of(const bjvm_image *image, const bjvmi_enum *e, uint32_t value) {
  return bjvmi_value_native(&image->values[bjvmi_le32(e->first_value) + value]).number;
}

static
#ifndef BJVM_SIZE_SMALL
    __attribute__((noinline))
#endif
    bool
    find_number(const bjvm_image *image, const bjvmi_enum *e, const char *name, size_t size, bool fold,
                int32_t *number) {
  const bjvmi_table keys = bjvmi_table_native(&e->keys);
  int found = bjvmi_table_find(image, &keys, name, size);
  if (found < 0 && fold) found = find_folded(image, &keys, name, size);
  if (found < 0) return false;
  *number = number_of(image, e, (uint32_t)found);
  return true;
}

bool bjvmi_enum_number(const bjvm_image *image, uint32_t index, const char *name, size_t size, bool fold,
                       int32_t *number) {
  const bjvmi_enum *e = &image->enums[index];
#ifndef BJVM_SIZE_SMALL
  /* Most names are found in the first slot; what else there is would cost registers. */
  const bjvmi_table keys = bjvmi_table_native(&e->keys);
  if (__builtin_expect(keys.key_count - 1u < BJVMI_KEYS_NARROW, 1)) {
    probe p = probe_begin(image, &keys, bjvmi_key_hash(keys.seed, name, size));
    uint32_t slot = p.slots[p.at & p.mask];
    if (slot && is_key(image, &p.keys[slot - 1], name, size)) {
      *number = number_of(image, e, bjvmi_le16(p.keys[slot - 1].index));
      return true;
    }
  }
#endif
  return find_number(image, e, name, size, fold, number);
}

bool bjvmi_enum_is_closed(const bjvm_image *image, uint32_t index) {
  return bjvmi_le16(image->enums[index].flags) & BJVMI_ENUM_CLOSED;
}
