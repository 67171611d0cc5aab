/* A small builder of plan files, for the tests of the loader and the verifier, independent of the plan
 * compiler.
 *
 * blob_sample makes one valid file that has nearly every sort of record; the enums below name its records, so
 * that a test can say what it breaks. Records have the machine's byte order until blob_finish lays them out: a
 * file is little-endian everywhere, and what a test changes in it goes through blob_put.
 */
#ifndef BJVM_TESTS_BLOB_H_
#define BJVM_TESTS_BLOB_H_

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

enum { BLOB_CAPACITY = 69632, BLOB_NAMES = 66560 };

/* Records as they are added, and the finished file. */
typedef struct blob {
  bjvmi_message messages[32];
  bjvmi_word words[1024];
  bjvmi_key keys[320];
  uint8_t slots[1280];
  bjvmi_enum enums[8];
  bjvmi_value values[32];
  bjvmi_extension extensions[4];
  uint32_t roots[4];
  char names[BLOB_NAMES];
  char mini[1024];
  uint16_t minor; /* of the format: 0; 1 or more: there is a section of mini descriptors */
  uint32_t count[BJVMI_SECTION_COUNT];
  uint32_t offset[BJVMI_SECTION_COUNT]; /* in the file */
  uint32_t key_first;
  _Alignas(8) char file[BLOB_CAPACITY];
  size_t size;
} blob;

/* -- Little-endian -------------------------------------------------------------------------------------- */

/* Stores the low `width` bytes of `value` as a file has them. */
static inline void blob_put(void *to, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; i++) ((char *)to)[i] = (char)(value >> 8 * i);
}

#define BLOB_SET(field, value) blob_put(&(field), (uint64_t)(value), sizeof(field))

/* Header and section table at the front of a file. */
static inline void blob_put_header(char *file, const bjvmi_header *h, const bjvmi_section_entry *table) {
  bjvmi_header *to = (bjvmi_header *)(void *)file;
  bjvmi_section_entry *entries = (bjvmi_section_entry *)(void *)(file + sizeof *to);
  *to = *h;
  BLOB_SET(to->major, h->major);
  BLOB_SET(to->minor, h->minor);
  BLOB_SET(to->flags, h->flags);
  BLOB_SET(to->total_size, h->total_size);
  BLOB_SET(to->schema, h->schema);
  BLOB_SET(to->layout, h->layout);
  BLOB_SET(to->section_count, h->section_count);
  for (uint32_t i = 0; i < h->section_count; i++) {
    BLOB_SET(entries[i].kind, table[i].kind);
    BLOB_SET(entries[i].offset, table[i].offset);
    BLOB_SET(entries[i].size, table[i].size);
  }
}

static inline bjvmi_key blob_key_native(const bjvmi_key *k) {
  return (bjvmi_key){bjvmi_le32(k->name), bjvmi_le16(k->size), bjvmi_le16(k->index)};
}

static inline uint32_t blob_root_native(const uint32_t *root) { return bjvmi_le32(*root); }

/* Swaps what stands in the file's sections, if this machine is not little-endian. */
static inline void blob_swap_records(blob *b) {
#define SWAP(section, type, native)                                                                          \
  for (uint32_t i = 0; i < b->count[BJVMI_SECTION_##section]; i++) {                                         \
    type *record = (type *)(void *)(b->file + b->offset[BJVMI_SECTION_##section]) + i;                       \
    *record = native(record);                                                                                \
  }
  SWAP(MESSAGES, bjvmi_message, bjvmi_message_native)
  SWAP(WORDS, bjvmi_word, bjvmi_word_native)
  SWAP(KEYS, bjvmi_key, blob_key_native)
  SWAP(ENUMS, bjvmi_enum, bjvmi_enum_native)
  SWAP(VALUES, bjvmi_value, bjvmi_value_native)
  SWAP(EXTENSIONS, bjvmi_extension, bjvmi_extension_native)
  SWAP(ROOTS, uint32_t, blob_root_native)
#undef SWAP
}

/* -- Records -------------------------------------------------------------------------------------------- */

static inline uint32_t blob_raw(blob *b, const char *name) {
  uint32_t at = b->count[BJVMI_SECTION_NAMES];
  memcpy(b->names + at, name, strlen(name));
  b->count[BJVMI_SECTION_NAMES] += (uint32_t)strlen(name);
  return at;
}

/* Header and encoded form as they stand; `flags` as given, with LONG where it belongs. */
static inline uint32_t blob_encoded(blob *b, const char *encoded, uint8_t flags) {
  size_t length = strlen(encoded);
  bool is_long = length > BJVMI_NAME_SHORT_MAX;
  uint32_t at = b->count[BJVMI_SECTION_NAMES] + (is_long ? BJVMI_NAME_LONG_HEADER : BJVMI_NAME_HEADER);
  if (is_long) blob_put(b->names + at - BJVMI_NAME_LONG_HEADER, length, 2);
  b->names[at - 2] = (char)(is_long ? 0 : length);
  b->names[at - 1] = (char)(flags | (is_long ? BJVMI_NAME_LONG : 0));
  b->count[BJVMI_SECTION_NAMES] = at;
  blob_raw(b, encoded);
  return at;
}

/* `"text"` between a comma and a colon. */
static inline uint32_t blob_field_name(blob *b, const char *json, uint8_t flags) {
  char encoded[600];
  snprintf(encoded, sizeof encoded, ",\"%s\":", json);
  return blob_encoded(b, encoded, flags);
}

static inline bjvmi_message *blob_message(blob *b, const char *name, bjvmi_kind kind, uint8_t flags) {
  bjvmi_message *m = &b->messages[b->count[BJVMI_SECTION_MESSAGES]++];
  *m = (bjvmi_message){.name = *name ? blob_raw(b, name) : 0,
                       .name_size = (uint16_t)strlen(name),
                       .kind = (uint8_t)kind,
                       .flags = flags,
                       .first_word = b->count[BJVMI_SECTION_WORDS]};
  b->key_first = b->count[BJVMI_SECTION_KEYS];
  return m;
}

static inline void blob_key(blob *b, const char *name, uint16_t index) {
  b->keys[b->count[BJVMI_SECTION_KEYS]++] = (bjvmi_key){blob_raw(b, name), (uint16_t)strlen(name), index};
}

static inline bjvmi_word *blob_word(blob *b, bjvmi_message *m, uint8_t op, uint32_t number, uint16_t sub,
                                    uint32_t name) {
  bjvmi_word *w = &b->words[b->count[BJVMI_SECTION_WORDS]++];
  uint32_t length = name ? bjvmi_name_length(b->names, name) : 0;
  *w = (bjvmi_word){
      .op = op, .name_len = (uint8_t)(length > 255 ? 0 : length), .sub = sub, .number = number, .name = name};
  if (m) m->word_count++;
  return w;
}

/* A field with a plain name: word and key. */
static inline void blob_field(blob *b, bjvmi_message *m, bjvmi_kind kind, bjvmi_form form, uint32_t number,
                              uint16_t sub, const char *name) {
  blob_word(b, m, BJVMI_OP(kind, form), number, sub, blob_field_name(b, name, 0));
  blob_key(b, name, (uint16_t)(m->word_count - 1));
}

/* Slots for the keys added since the record was begun. */
static inline bjvmi_table blob_table(blob *b) {
  bjvmi_table t = {.first_key = b->key_first,
                   .first_slot = b->count[BJVMI_SECTION_SLOTS],
                   .key_count = (uint16_t)(b->count[BJVMI_SECTION_KEYS] - b->key_first)};
  if (t.key_count == 0) return (bjvmi_table){0};
  while (1u << t.slots_log2 < 2u * t.key_count) t.slots_log2++;
  bool wide = t.key_count > BJVMI_KEYS_NARROW;
  uint8_t *slots = b->slots + t.first_slot;
  uint32_t mask = (1u << t.slots_log2) - 1;
  for (uint32_t i = 0; i < t.key_count; i++) {
    const bjvmi_key *k = &b->keys[t.first_key + i];
    uint32_t at = bjvmi_key_hash(t.seed, b->names + k->name, k->size), probe = 0;
    while (bjvmi_slot_at(slots, wide, (at + probe) & mask)) probe++;
    blob_put(slots + (((at + probe) & mask) << wide), i + 1, wide ? 2 : 1);
    if (probe > t.max_probe) t.max_probe = (uint8_t)probe;
  }
  b->count[BJVMI_SECTION_SLOTS] += (mask + 1) << wide;
  return t;
}

static inline void blob_end(blob *b, bjvmi_message *m, bjvmi_end_form form) {
  blob_word(b, NULL, BJVMI_OP(BJVMI_KIND_END, form), 0, 0, 0);
  m->keys = blob_table(b);
}

static inline void blob_entry(blob *b, bjvmi_kind key, bjvmi_kind value, uint16_t sub) {
  bjvmi_message *m = blob_message(b, "", BJVMI_KIND_MESSAGE, BJVMI_MESSAGE_ENTRY);
  blob_word(b, m, BJVMI_OP(key, BJVMI_FORM_ALWAYS), 1, 0, 0);
  blob_word(b, m, BJVMI_OP(value, BJVMI_FORM_ALWAYS), 2, sub, 0);
  blob_end(b, m, BJVMI_END_MESSAGE);
}

static inline void blob_value(blob *b, bjvmi_enum *e, int32_t number, const char *name) {
  char encoded[64];
  snprintf(encoded, sizeof encoded, "\"%s\"", name ? name : "");
  b->values[b->count[BJVMI_SECTION_VALUES]++] = (bjvmi_value){number, name ? blob_encoded(b, encoded, 0) : 0};
  if (name) blob_key(b, name, (uint16_t)e->value_count);
  e->value_count++;
}

static inline bjvmi_enum *blob_enum(blob *b, const char *name, uint16_t flags) {
  bjvmi_enum *e = &b->enums[b->count[BJVMI_SECTION_ENUMS]++];
  *e = (bjvmi_enum){.name = blob_raw(b, name),
                    .name_size = (uint16_t)strlen(name),
                    .flags = flags,
                    .first_value = b->count[BJVMI_SECTION_VALUES]};
  b->key_first = b->count[BJVMI_SECTION_KEYS];
  return e;
}

/* Gives the file its right checksum. */
static inline void blob_seal(char *file, size_t size) {
  uint64_t sum = bjvmi_checksum(file + BJVMI_CHECKSUM_FROM, size - BJVMI_CHECKSUM_FROM);
  blob_put(file + offsetof(bjvmi_header, checksum), sum, sizeof sum);
}

/* A mini descriptor; "" where there is none. */
static inline void blob_mini(blob *b, const char *mini) {
  size_t size = strlen(mini);
  assert(size < 128);
  char *to = b->mini + b->count[BJVMI_SECTION_MINI];
  to[0] = (char)size;
  memcpy(to + 1, mini, size);
  b->count[BJVMI_SECTION_MINI] += (uint32_t)size + 1;
}

/* Lays the records out as a file. */
static inline void blob_finish(blob *b) {
  static const size_t record[BJVMI_SECTION_COUNT] = {
      sizeof(bjvmi_message), sizeof(bjvmi_word),      sizeof(bjvmi_key), 1, sizeof(bjvmi_enum),
      sizeof(bjvmi_value),   sizeof(bjvmi_extension), sizeof(uint32_t),  1, 1};
  const void *from[BJVMI_SECTION_COUNT] = {b->messages, b->words,      b->keys,  b->slots, b->enums,
                                           b->values,   b->extensions, b->roots, b->names, b->mini};
  b->count[BJVMI_SECTION_NAMES] += BJVMI_NAME_PAD;
  bjvmi_header h = {.magic = {'B', 'J', 'V', 'M'},
                    .major = BJVMI_FORMAT_MAJOR,
                    .minor = b->minor,
                    .schema = 0x0123456789abcdefu,
                    .section_count = b->minor ? BJVMI_SECTION_COUNT : BJVMI_SECTION_MINI};
  bjvmi_section_entry table[BJVMI_SECTION_COUNT];
  size_t at = sizeof h + h.section_count * sizeof table[0];
  for (uint32_t i = 0; i < h.section_count; i++) {
    at = (at + 7) & ~(size_t)7;
    table[i] = (bjvmi_section_entry){i, (uint32_t)at, (uint32_t)(b->count[i] * record[i])};
    b->offset[i] = (uint32_t)at;
    assert(at + table[i].size <= BLOB_CAPACITY);
    memcpy(b->file + at, from[i], table[i].size);
    at += table[i].size;
  }
  b->size = (at + 7) & ~(size_t)7;
  h.total_size = (uint32_t)b->size;
  blob_swap_records(b);
  blob_put_header(b->file, &h, table);
  blob_seal(b->file, b->size);
}

/* -- The sample ----------------------------------------------------------------------------------------- */

/* Its messages. */
enum {
  S_ORDER,
  S_TAGS,     /* map entry: int32 to string */
  S_BY_NAME,  /* map entry: string to Order */
  S_STAMP,    /* Timestamp */
  S_SPAN,     /* Duration */
  S_MASK,     /* FieldMask */
  S_BOX,      /* Int32Value */
  S_STRUCT,   /* Struct */
  S_MEMBERS,  /* its map entry */
  S_VALUE,    /* Value */
  S_LIST,     /* ListValue */
  S_ANY,      /* Any */
  S_ELSEWHERE /* external */
};

/* Its words: those of Order first, then the first word of each other record. */
enum {
  W_ID,
  W_FLAG,
  W_NAME,   /* string, escaped JSON name */
  W_COLOR,  /* enum */
  W_PARENT, /* message */
  W_TAGS,
  W_BY_NAME,
  W_STAMP,
  W_SPAN,
  W_MASK,
  W_BOX,
  W_DATA, /* Struct */
  W_ANY,
  W_NULL,
  W_UNIT_PRICE, /* oneof, with an ALT name */
  W_KAESE,      /* oneof, not ASCII */
  W_MANY,       /* repeated enum */
  W_FAR,        /* external message */
  W_LONG,       /* a name of 300 bytes */
  W_ORDER_END,
  W_TAGS_ENTRY,
  W_BY_NAME_ENTRY = W_TAGS_ENTRY + 3,
  W_STAMP_WORDS = W_BY_NAME_ENTRY + 3,
  W_SPAN_WORDS = W_STAMP_WORDS + 3,
  W_MASK_WORDS = W_SPAN_WORDS + 3,
  W_BOX_WORDS = W_MASK_WORDS + 2,
  W_STRUCT_WORDS = W_BOX_WORDS + 2,
  W_MEMBERS_ENTRY = W_STRUCT_WORDS + 2,
  W_VALUE_WORDS = W_MEMBERS_ENTRY + 3,
  W_LIST_WORDS = W_VALUE_WORDS + 7,
  W_ANY_WORDS = W_LIST_WORDS + 2,
  W_EXT_ONE = W_ANY_WORDS + 3,
  W_EXT_MANY = W_EXT_ONE + 2,
  W_COUNT = W_EXT_MANY + 2
};

/* Its enums and values. */
enum { E_COLOR, E_NULL };
enum { V_MINUS, V_RED, V_HOLE, V_BLUE, V_GREEN, V_FAR, V_NULL };

static inline void blob_sample_enums(blob *b) {
  bjvmi_enum *e = blob_enum(b, "acme.Color", BJVMI_ENUM_CLOSED);
  blob_value(b, e, -2147483647 - 1, "MINUS");
  blob_value(b, e, 0, "RED");
  blob_value(b, e, 1, NULL);
  blob_value(b, e, 2, "BLUE");
  blob_value(b, e, 3, "GREEN");
  blob_value(b, e, 2147483647, "FAR");
  blob_key(b, "ROT", V_RED); /* an alias */
  e->dense_min = 0;
  e->dense_first = V_RED;
  e->dense_count = 4;
  e->keys = blob_table(b);
  e = blob_enum(b, "google.protobuf.NullValue", 0);
  blob_value(b, e, 0, "NULL_VALUE");
  e->dense_count = 1;
  e->keys = blob_table(b);
}

#define WORD(kind, form) BJVMI_OP(BJVMI_KIND_##kind, BJVMI_FORM_##form)
#define FIELD(kind, form, number, sub, name)                                                                 \
  blob_field(b, m, BJVMI_KIND_##kind, BJVMI_FORM_##form, number, sub, name)

static inline void blob_sample_order(blob *b) {
  bjvmi_message *m = blob_message(b, "acme.Order", BJVMI_KIND_MESSAGE, BJVMI_MESSAGE_EXTENDABLE);
  FIELD(INT32, HASBIT, 1, 0, "id");
  FIELD(BOOL, IMPLICIT, 2, 0, "flag");
  blob_word(b, m, WORD(STRING, IMPLICIT), 3, 0, blob_field_name(b, "a\\\"b\\\\\\u0001", BJVMI_NAME_ESCAPED));
  blob_key(b, "a\"b\\\1", W_NAME);
  FIELD(ENUM, IMPLICIT, 4, E_COLOR, "color");
  FIELD(MESSAGE, HASBIT, 5, S_ORDER, "parent");
  FIELD(MAP, ARRAY, 6, S_TAGS, "tags");
  FIELD(MAP, ARRAY, 7, S_BY_NAME, "byName");
  FIELD(TIMESTAMP, HASBIT, 8, S_STAMP, "stamp");
  FIELD(DURATION, HASBIT, 9, S_SPAN, "span");
  FIELD(FIELD_MASK, HASBIT, 10, S_MASK, "mask");
  FIELD(WRAPPER, HASBIT, 11, S_BOX, "box");
  FIELD(STRUCT, HASBIT, 12, S_STRUCT, "data");
  FIELD(ANY, ARRAY, 13, S_ANY, "any");
  FIELD(NULL_VALUE, HASBIT, 14, E_NULL, "nil");
  uint32_t name = blob_field_name(b, "unitPrice", BJVMI_NAME_ALT);
  blob_field_name(b, "unit_price", 0);
  blob_word(b, m, WORD(DOUBLE, ONEOF), 15, 0, name);
  blob_key(b, "unitPrice", W_UNIT_PRICE);
  blob_key(b, "unit_price", W_UNIT_PRICE);
  blob_word(b, m, WORD(BYTES, ONEOF), 16, 0, blob_field_name(b, "k\xc3\xa4se<", BJVMI_NAME_SPECIAL));
  blob_key(b, "k\xc3\xa4se<", W_KAESE);
  FIELD(ENUM, ARRAY, 17, E_COLOR, "many");
  FIELD(MESSAGE, ARRAY, 18, S_ELSEWHERE, "far");
  char long_name[301];
  memset(long_name, 'x', 300);
  long_name[300] = 0;
  FIELD(UINT64, HASBIT, 536870911, 0, long_name);
  m->required_count = 1;
  blob_end(b, m, BJVMI_END_EXTENDABLE);
}

static inline void blob_sample_well_known(blob *b) {
  bjvmi_message *m = blob_message(b, "google.protobuf.Timestamp", BJVMI_KIND_TIMESTAMP, 0);
  FIELD(INT64, IMPLICIT, 1, 0, "seconds");
  FIELD(INT32, IMPLICIT, 2, 0, "nanos");
  blob_end(b, m, BJVMI_END_MESSAGE);
  m = blob_message(b, "google.protobuf.Duration", BJVMI_KIND_DURATION, 0);
  FIELD(INT64, IMPLICIT, 1, 0, "seconds");
  FIELD(INT32, IMPLICIT, 2, 0, "nanos");
  blob_end(b, m, BJVMI_END_MESSAGE);
  m = blob_message(b, "google.protobuf.FieldMask", BJVMI_KIND_FIELD_MASK, 0);
  FIELD(STRING, ARRAY, 1, 0, "paths");
  blob_end(b, m, BJVMI_END_MESSAGE);
  m = blob_message(b, "google.protobuf.Int32Value", BJVMI_KIND_WRAPPER, 0);
  FIELD(INT32, IMPLICIT, 1, 0, "value");
  blob_end(b, m, BJVMI_END_MESSAGE);
  m = blob_message(b, "google.protobuf.Struct", BJVMI_KIND_STRUCT, 0);
  FIELD(MAP, ARRAY, 1, S_MEMBERS, "fields");
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_entry(b, BJVMI_KIND_STRING, BJVMI_KIND_VALUE, S_VALUE);
  m = blob_message(b, "google.protobuf.Value", BJVMI_KIND_VALUE, 0);
  FIELD(NULL_VALUE, ONEOF, 1, E_NULL, "nullValue");
  FIELD(DOUBLE, ONEOF, 2, 0, "numberValue");
  FIELD(STRING, ONEOF, 3, 0, "stringValue");
  FIELD(BOOL, ONEOF, 4, 0, "boolValue");
  FIELD(STRUCT, ONEOF, 5, S_STRUCT, "structValue");
  FIELD(LIST_VALUE, ONEOF, 6, S_LIST, "listValue");
  blob_end(b, m, BJVMI_END_MESSAGE);
  m = blob_message(b, "google.protobuf.ListValue", BJVMI_KIND_LIST_VALUE, 0);
  FIELD(VALUE, ARRAY, 1, S_VALUE, "values");
  blob_end(b, m, BJVMI_END_MESSAGE);
  m = blob_message(b, "google.protobuf.Any", BJVMI_KIND_ANY, 0);
  FIELD(STRING, IMPLICIT, 1, 0, "typeUrl");
  FIELD(BYTES, IMPLICIT, 2, 0, "value");
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_message(b, "acme.Elsewhere", BJVMI_KIND_MESSAGE, BJVMI_MESSAGE_EXTERNAL);
}

static inline void blob_extension(blob *b, const char *name, const char *bracketed, uint8_t op,
                                  uint32_t number, uint16_t sub) {
  b->extensions[b->count[BJVMI_SECTION_EXTENSIONS]++] =
      (bjvmi_extension){b->count[BJVMI_SECTION_WORDS], S_ORDER, (uint16_t)strlen(name), blob_raw(b, name)};
  blob_word(b, NULL, op, number, sub, blob_field_name(b, bracketed, 0));
  blob_word(b, NULL, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENSION), 0, 0, 0);
}

/* -- Mini descriptors ----------------------------------------------------------------------------------- */

/* A digit of upb's base 92. */
static inline char blob_digit(uint32_t value) {
  char c = ' ';
  for (; value > 0; value--) do
      c++;
    while (c == '"' || c == '\'' || c == '\\');
  return c;
}

/* A number in digits that begin at `min` and hold `bits` each, low ones first. */
static inline char *blob_number(char *to, uint32_t min, uint32_t bits, uint32_t value) {
  do {
    *to++ = blob_digit(min + (value & ((1u << bits) - 1)));
    value >>= bits;
  } while (value > 0);
  return to;
}

enum { DIGIT_MODIFIER = 42, DIGIT_SKIP = 60 };

static inline uint32_t blob_type(const blob *b, const bjvmi_word *w) {
  static const uint8_t types[BJVMI_KIND_MESSAGE] = {13, 6, 7, 9, 10, 1, 0, 15, 14, 12, 12};
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  if (kind >= BJVMI_KIND_MESSAGE) return 17;
  return kind == BJVMI_KIND_ENUM && b->enums[w->sub].flags & BJVMI_ENUM_CLOSED ? 18 : types[kind];
}

static inline char *blob_mini_word(const blob *b, char *to, const bjvmi_word *w, uint32_t last,
                                   bool required) {
  bjvmi_form form = BJVMI_OP_FORM(w->op);
  if (w->number != last + 1) to = blob_number(to, DIGIT_SKIP, 5, w->number - last);
  *to++ = blob_digit(blob_type(b, w) + (form == BJVMI_FORM_ARRAY ? 20 : 0));
  if (form == BJVMI_FORM_IMPLICIT || required) to = blob_number(to, DIGIT_MODIFIER, 4, required ? 2 : 4);
  return to;
}

/* What a message has for a mini descriptor: its words say it, the first fields with hasbits are the required
 * ones. */
static inline void blob_mini_of(const blob *b, const bjvmi_message *m, char *to) {
  uint32_t last = 0, required = m->required_count;
  const char *part = "^";
  if (!(m->flags & BJVMI_MESSAGE_EXTERNAL)) *to++ = m->flags & BJVMI_MESSAGE_ENTRY ? '%' : '$';
  if (m->flags & BJVMI_MESSAGE_EXTENDABLE) to = blob_number(to, DIGIT_MODIFIER, 4, 4);
  for (uint32_t i = 0; i < m->word_count; i++) {
    const bjvmi_word *w = &b->words[m->first_word + i];
    bool is_required = required > 0 && BJVMI_OP_FORM(w->op) == BJVMI_FORM_HASBIT;
    to = blob_mini_word(b, to, w, last, is_required);
    required -= is_required;
    last = w->number;
  }
  for (uint32_t i = 0; i < m->word_count; i++) {
    if (BJVMI_OP_FORM(b->words[m->first_word + i].op) != BJVMI_FORM_ONEOF) continue;
    *to++ = *part;
    part = "|";
    to = blob_number(to, 0, 6, b->words[m->first_word + i].number);
  }
  *to = 0;
}

/* Color: 0, 2 and 3 in one digit; 2^31 - 1 and -2^31 in another. */
static inline void blob_mini_of_color(char *to) {
  *to++ = '!';
  *to++ = blob_digit(1 + 4 + 8);
  to = blob_number(to, DIGIT_SKIP, 5, 0x7fffffff - 5);
  *to++ = blob_digit(1 + 2);
  *to = 0;
}

static inline void blob_mini_of_extension(const blob *b, const bjvmi_extension *x, char *to) {
  *to++ = '#';
  *blob_mini_word(b, to, &b->words[x->first_word], 0, false) = 0;
}

/* All of the sample's; number `which` of them is `instead` (NULL: what it should be). */
static inline void blob_sample_minis(blob *b, uint32_t which, const char *instead) {
  char mini[256];
  uint32_t messages = b->count[BJVMI_SECTION_MESSAGES], enums = messages + b->count[BJVMI_SECTION_ENUMS];
  uint32_t count = enums + b->count[BJVMI_SECTION_EXTENSIONS];
  for (uint32_t i = 0; i < count; i++) {
    *mini = 0;
    if (i < messages) blob_mini_of(b, &b->messages[i], mini);
    else if (i == messages + E_COLOR) blob_mini_of_color(mini);
    else if (i >= enums) blob_mini_of_extension(b, &b->extensions[i - enums], mini);
    blob_mini(b, instead && i == which ? instead : mini);
  }
}

/* The records of a valid file with all of this, not laid out; freed with free(). */
static inline blob *blob_sample_records(void) {
  blob *b = calloc(1, sizeof *b);
  assert(b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  blob_sample_order(b);
  blob_entry(b, BJVMI_KIND_INT32, BJVMI_KIND_STRING, 0);
  blob_entry(b, BJVMI_KIND_STRING, BJVMI_KIND_MESSAGE, S_ORDER);
  blob_sample_well_known(b);
  blob_sample_enums(b);
  blob_extension(b, "acme.one", "[acme.one]", WORD(INT32, ALWAYS), 100, 0);
  blob_extension(b, "acme.many", "[acme.many]", WORD(MESSAGE, ARRAY), 101, S_ORDER);
  b->roots[b->count[BJVMI_SECTION_ROOTS]++] = S_ORDER;
  b->roots[b->count[BJVMI_SECTION_ROOTS]++] = S_STAMP;
  assert(b->count[BJVMI_SECTION_WORDS] == W_COUNT);
  return b;
}

/* The file. */
static inline blob *blob_sample(void) {
  blob *b = blob_sample_records();
  blob_finish(b);
  return b;
}

/* The same with mini descriptors, of which `which` is replaced unless `instead` is NULL. */
static inline blob *blob_sample_mini(uint32_t which, const char *instead) {
  blob *b = blob_sample_records();
  b->minor = 1;
  blob_sample_minis(b, which, instead);
  blob_finish(b);
  return b;
}

#undef WORD
#undef FIELD

#endif /* BJVM_TESTS_BLOB_H_ */
