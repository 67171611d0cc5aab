/* Every check of the loader and the verifier, each with a file that only it refuses.
 *
 * A row overwrites one or two fields of the sample (blob.h), repairs the checksum, and names the sentence it
 * expects; the report must point at the first field overwritten unless the row says otherwise. Behind the
 * table: files cut short, files damaged at random, and the limits. The bytes lie in a block of exactly their
 * size, for AddressSanitizer.
 */
#include <criterion/criterion.h>

#include "bjvm/plan.h"
#include "blob.h"
#include "plan.h"
#include "sentence.h"
#include "verify.h"

enum {
  BASE_FILE = BJVMI_SECTION_COUNT, /* offset from the start of the file */
  NO_PATCH = 100,
};

typedef struct patch {
  int base;         /* bjvmi_section, BASE_FILE or NO_PATCH */
  const char *find; /* a piece of the name pool that `offset` counts from, or NULL */
  size_t offset;
  size_t width;
  uint64_t value;
} patch;

typedef struct row {
  int line;
  const char *text;
  patch first, second;
  bool elsewhere; /* the fault is not reported at the first patch */
  bjvm_status status;
} row;

/* Patches of one field: of a record; of the header; of a section's entry; of `find` in the pool. */
#define AT(section, type, index, field, value)                                                               \
  {                                                                                                          \
    BJVMI_SECTION_##section, NULL, (index) * sizeof(type) + offsetof(type, field),                           \
        sizeof(((type *)0)->field), value                                                                    \
  }
#define HEADER(field, value)                                                                                 \
  { BASE_FILE, NULL, offsetof(bjvmi_header, field), sizeof(((bjvmi_header *)0)->field), value }
#define ENTRY(section, field, value)                                                                         \
  {                                                                                                          \
    BASE_FILE, NULL,                                                                                         \
        BJVMI_HEADER_SIZE + BJVMI_SECTION_##section * sizeof(bjvmi_section_entry) +                          \
            offsetof(bjvmi_section_entry, field),                                                            \
        4, value                                                                                             \
  }
#define NAME(find, delta, width, value)                                                                      \
  { BJVMI_SECTION_NAMES, find, delta, width, value }
#define NONE                                                                                                 \
  { NO_PATCH, NULL, 0, 0, 0 }

#define BAD(text, first)                                                                                     \
  { __LINE__, text, first, NONE, false, BJVM_PLAN_CORRUPT }
#define BAD2(text, first, second)                                                                            \
  { __LINE__, text, first, second, false, BJVM_PLAN_CORRUPT }
#define FAR(text, first)                                                                                     \
  { __LINE__, text, first, NONE, true, BJVM_PLAN_CORRUPT }
#define FAR2(text, first, second)                                                                            \
  { __LINE__, text, first, second, true, BJVM_PLAN_CORRUPT }
#define OTHER(status, text, first)                                                                           \
  { __LINE__, text, first, NONE, false, status }

#define MSG(index, field, value) AT(MESSAGES, bjvmi_message, index, field, value)
#define W(index, field, value) AT(WORDS, bjvmi_word, index, field, value)
#define OP(index, kind, form) W(index, op, BJVMI_OP(BJVMI_KIND_##kind, BJVMI_FORM_##form))
#define KEY(index, field, value) AT(KEYS, bjvmi_key, index, field, value)
#define SLOT(index, value)                                                                                   \
  { BJVMI_SECTION_SLOTS, NULL, index, 1, value }
#define EN(index, field, value) AT(ENUMS, bjvmi_enum, index, field, value)
#define V(index, field, value) AT(VALUES, bjvmi_value, index, field, value)
#define EXT(index, field, value) AT(EXTENSIONS, bjvmi_extension, index, field, value)
/* A table of 256 keys in 512 slots. */
#define WIDE(index)                                                                                          \
  {                                                                                                          \
    BJVMI_SECTION_MESSAGES, NULL, (index) * sizeof(bjvmi_message) + offsetof(bjvmi_message, keys.key_count), \
        3, 256 | 9 << 16                                                                                     \
  }
#define ROOT(index, value)                                                                                   \
  { BJVMI_SECTION_ROOTS, NULL, (index)*4, 4, value }

static const row rows[] = {
    /* The header. */
    OTHER(BJVM_PLAN_MAGIC, "the file does not begin with BJVM", HEADER(magic[0], 'X')),
    OTHER(BJVM_PLAN_VERSION,
          "the plan has another major version of the format; this library reads 1.0 to 1.1",
          HEADER(major, 2)),
    OTHER(BJVM_PLAN_VERSION, "the plan's format is newer than this library, which reads 1.0 to 1.1",
          HEADER(minor, 2)),
    BAD("the header has flags its version lacks", HEADER(flags, BJVMI_HEADER_32BIT)),
    BAD2("the header has unknown flags", HEADER(flags, 3), HEADER(minor, 1)),
    BAD2("the header has unknown flags", HEADER(flags, 4), HEADER(minor, 1)),
    BAD2("the header has a layout's flag but no layout", HEADER(flags, 1), HEADER(minor, 1)),
    FAR("the header has a layout but not its flag", HEADER(layout, 1)),
    BAD("the header tells another file size", HEADER(total_size, 64)),
    BAD("a reserved field of the header is not 0", HEADER(reserved[3], 1)),
    BAD("the file has too many sections", HEADER(section_count, 11)),
    /* The section table. */
    BAD("the section's kind is unknown",
        ENTRY(NAMES, kind, BJVMI_SECTION_MINI)), /* in a file of format 1.0 */
    BAD2("the section's kind is unknown", ENTRY(NAMES, kind, 10), HEADER(minor, 1)),
    BAD("the sections are not in order", ENTRY(WORDS, kind, 0)),
    FAR("the section overlaps what is in front of it", ENTRY(KEYS, offset, 200)),
    FAR("the section's size is not a multiple of its records", ENTRY(ENUMS, size, 95)),
    FAR("the section lies outside the file", ENTRY(NAMES, size, 0xffffffff)),
    FAR("the section lies outside the file", ENTRY(NAMES, offset, 0xfffffff0)),
    FAR("a byte between sections is not 0", ENTRY(ROOTS, size, 4)),
    FAR("a byte behind the last section is not 0", ENTRY(NAMES, size, 64)),
    /* The pool. */
    FAR("the padding of the name pool is not 0", NAME("[acme.many]\":", 13 + 31, 1, 1)),
    FAR("the padding of the name pool is not 0", NAME("[acme.many]\":", 13, 1, 'x')),
    /* Message records. */
    BAD("message 0: the name lies outside the pool", MSG(S_ORDER, name, 0x7fffffff)),
    FAR("message 0: the name lies outside the pool", MSG(S_ORDER, name_size, 0xffff)),
    FAR("message 3: the full name is empty", MSG(S_STAMP, name_size, 0)),
    BAD("message 1: a map entry with a name", MSG(S_TAGS, name, 8)),
    FAR("message 1: a map entry with a name", MSG(S_TAGS, name_size, 1)),
    BAD("message 3: a full name with other bytes than A-Za-z0-9_.",
        NAME("google.protobuf.Timestamp", 6, 1, '"')),
    BAD("message 0: the kind is not one of a message", MSG(S_ORDER, kind, BJVMI_KIND_STRING)),
    BAD("message 0: the kind is not one of a message", MSG(S_ORDER, kind, BJVMI_KIND_MAP)),
    BAD("message 0: the kind is not one of a message", MSG(S_ORDER, kind, 200)),
    BAD("message 0: unknown flags", MSG(S_ORDER, flags, 8)),
    BAD("message 1: a map entry with other flags",
        MSG(S_TAGS, flags, BJVMI_MESSAGE_ENTRY | BJVMI_MESSAGE_EXTERNAL)),
    BAD("message 1: a map entry of a well-known kind", MSG(S_TAGS, kind, BJVMI_KIND_ANY)),
    BAD("message 1: a map entry without exactly two words", MSG(S_TAGS, word_count, 3)),
    BAD("message 1: a map entry with keys", MSG(S_TAGS, keys.key_count, 1)),
    BAD("message 12: an external message with words", MSG(S_ELSEWHERE, word_count, 1)),
    BAD("message 12: an external message with keys", MSG(S_ELSEWHERE, keys.key_count, 1)),
    BAD("message 3: a well-known type that is extendable", MSG(S_STAMP, flags, BJVMI_MESSAGE_EXTENDABLE)),
    BAD("message 0: more required fields than fields", MSG(S_ORDER, required_count, 20)),
    BAD("message 0: its words lie outside their section or overlap others",
        MSG(S_ORDER, first_word, 0xffffffff)),
    BAD("message 1: its words lie outside their section or overlap others", MSG(S_TAGS, first_word, 0)),
    FAR("message 0: its words lie outside their section or overlap others",
        MSG(S_ORDER, word_count, W_COUNT)),
    /* Words: opcode. */
    BAD("word 0: an unknown opcode", W(W_ID, op, 0xff)),
    BAD("word 0: an unknown opcode", W(W_ID, op, BJVMI_OP(BJVMI_KIND_INT32, 6))),
    BAD("word 0: an opcode that only binding makes", OP(W_ID, INT64_NUMBER, HASBIT)),
    BAD("word 0: an opcode that only binding makes", OP(W_ID, UINT64_NUMBER, IMPLICIT)),
    BAD("word 0: a form that its kind cannot have here", OP(W_ID, INT32, ALWAYS)),
    BAD("word 0: a form that its kind cannot have here", OP(W_ID, INT32, ARRAY_ALWAYS)),
    BAD("word 0: a form that its kind cannot have here", W(W_ID, op, BJVMI_OP(BJVMI_KIND_END, 0))),
    BAD("word 3: a form that its kind cannot have here", OP(W_COLOR, ENUM, ALWAYS)),
    BAD("word 4: a form that its kind cannot have here", OP(W_PARENT, MESSAGE, IMPLICIT)),
    BAD("word 4: a form that its kind cannot have here", OP(W_PARENT, MESSAGE, ALWAYS)),
    BAD("word 5: a form that its kind cannot have here", OP(W_TAGS, MAP, HASBIT)),
    BAD("word 5: a form that its kind cannot have here", OP(W_TAGS, MAP, ARRAY_ALWAYS)),
    /* Words: operands. */
    BAD("word 0: an offset in a portable file", W(W_ID, offset, 8)),
    BAD("word 0: a presence in a portable file", W(W_ID, presence, 1)),
    BAD("word 0: a scalar with a sub record", W(W_ID, sub, 1)),
    BAD("word 3: its enum lies outside the section", W(W_COLOR, sub, 2)),
    BAD("word 13: its enum lies outside the section", W(W_NULL, sub, 0xffff)),
    BAD("word 4: its message lies outside the section", W(W_PARENT, sub, 13)),
    BAD("word 5: its message lies outside the section", W(W_TAGS, sub, 0xffff)),
    BAD("word 4: a map entry outside a map", W(W_PARENT, sub, S_TAGS)),
    BAD("word 5: a map whose message is no map entry", W(W_TAGS, sub, S_ORDER)),
    BAD("word 4: its message is of another kind", W(W_PARENT, sub, S_STAMP)),
    BAD("word 7: its message is of another kind", W(W_STAMP, sub, S_SPAN)),
    BAD("word 7: its message is of another kind", W(W_STAMP, sub, S_ORDER)),
    BAD("word 0: not a field number", W(W_ID, number, 0)),
    BAD("word 18: not a field number", W(W_LONG, number, 1 << 29)),
    BAD("word 1: the field numbers do not ascend", W(W_FLAG, number, 1)),
    /* Words: names. */
    BAD("word 0: the name lies outside the pool", W(W_ID, name, 0)),
    BAD("word 0: the name lies outside the pool", W(W_ID, name, 3)),
    BAD("word 0: the name lies outside the pool", W(W_ID, name, 0xffffffff)),
    FAR("word 55: the name reaches beyond the pool", NAME(",\"[acme.many]\":", (size_t)-2, 1, 255)),
    FAR("word 18: the name reaches beyond the pool", NAME(",\"xxxx", (size_t)-4, 2, 60000)),
    BAD("word 18: a short length beside the long one", NAME(",\"xxxx", (size_t)-2, 1, 48)),
    FAR("word 18: the name's length has the wrong size", NAME(",\"xxxx", (size_t)-4, 2, 255)),
    BAD("word 0: a second name that is not there is long",
        NAME(",\"id\":", (size_t)-1, 1, BJVMI_NAME_ALT_LONG)),
    FAR("word 0: the name's length differs from its header's", W(W_ID, name_len, 0)),
    FAR("word 0: the name's length differs from its header's", W(W_ID, name_len, 7)),
    FAR("word 18: the name's length differs from its header's", W(W_LONG, name_len, 48)),
    BAD("word 0: the name lacks its quotes", NAME(",\"id\":", 0, 1, ' ')),
    FAR("word 0: the name lacks its quotes", NAME(",\"id\":", 1, 1, 'x')),
    FAR("word 0: the name lacks its quotes", NAME(",\"id\":", 4, 1, '\\')),
    FAR("word 0: the name lacks its quotes", NAME(",\"id\":", 5, 1, ',')),
    FAR2("word 0: the name lacks its quotes", NAME(",\"id\":", (size_t)-2, 1, 3), W(W_ID, name_len, 3)),
    BAD("word 0: a raw control character in the name", NAME(",\"id\":", 2, 1, 31)),
    BAD("word 0: a raw quote in the name", NAME(",\"id\":", 3, 1, '"')),
    BAD("word 0: a bad escape in the name", NAME(",\"id\":", 3, 1, '\\')),
    BAD("word 0: a bad escape in the name", NAME(",\"id\":", 2, 1, '\\')),
    FAR("word 2: a bad escape in the name", NAME("\\u0001", 5, 1, 'g')),
    FAR("word 2: a bad escape in the name", NAME("\\u0001", 2, 2, 'd' | '8' << 8)),
    FAR("word 2: a bad escape in the name", NAME("\\u0001", 1, 1, 0)),
    BAD("word 15: the name is not valid UTF-8", NAME("k\xc3\xa4se", 1, 1, 0xff)),
    FAR("word 15: the name is not valid UTF-8", NAME("k\xc3\xa4se", 2, 1, 'x')),
    BAD("word 0: the flags of the name do not tell what it is",
        NAME(",\"id\":", (size_t)-1, 1, BJVMI_NAME_SPECIAL)),
    BAD("word 0: the flags of the name do not tell what it is",
        NAME(",\"id\":", (size_t)-1, 1, BJVMI_NAME_ESCAPED)),
    BAD("word 0: the flags of the name do not tell what it is", NAME(",\"id\":", (size_t)-1, 1, 32)),
    FAR("word 0: the flags of the name do not tell what it is", NAME(",\"id\":", 2, 1, '<')),
    BAD("word 2: the flags of the name do not tell what it is", NAME(",\"a\\\"b", (size_t)-1, 1, 0)),
    BAD("word 15: the flags of the name do not tell what it is", NAME(",\"k\xc3\xa4se", (size_t)-1, 1, 0)),
    BAD("word 14: the name lacks its quotes", NAME(",\"unit_price\":", 0, 1, 'x')),
    BAD("word 14: the flags of the name do not tell what it is", NAME(",\"unit_price\":", (size_t)-1, 1, 4)),
    FAR("word 14: a raw control character in the name", NAME(",\"unit_price\":", 6, 1, '\n')),
    /* END words and entries. */
    BAD("word 19: the words lack their end", W(W_ORDER_END, op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE))),
    BAD("word 19: the words lack their end", W(W_ORDER_END, op, 0)),
    BAD("word 28: the words lack their end",
        W(W_STAMP_WORDS + 2, op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENDABLE))),
    BAD("word 22: the words lack their end",
        W(W_TAGS_ENTRY + 2, op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENSION))),
    FAR("word 19: an end with operands", W(W_ORDER_END, sub, 1)),
    FAR("word 19: an end with operands", W(W_ORDER_END, name_len, 1)),
    BAD("word 20: a kind that no map key has", OP(W_TAGS_ENTRY, DOUBLE, ALWAYS)),
    BAD("word 20: a kind that no map key has", OP(W_TAGS_ENTRY, BYTES, ALWAYS)),
    BAD("word 20: a kind that no map key has", OP(W_TAGS_ENTRY, ENUM, ALWAYS)),
    BAD("word 20: a form that its kind cannot have here", OP(W_TAGS_ENTRY, INT32, IMPLICIT)),
    BAD("word 21: a form that its kind cannot have here", OP(W_TAGS_ENTRY + 1, STRING, ARRAY)),
    BAD("word 24: a form that its kind cannot have here", OP(W_BY_NAME_ENTRY + 1, MAP, ALWAYS)),
    BAD("word 21: an opcode that only binding makes", OP(W_TAGS_ENTRY + 1, INT64_NUMBER, ALWAYS)),
    BAD("word 24: its message is of another kind", W(W_BY_NAME_ENTRY + 1, sub, S_VALUE)),
    BAD("word 20: a map entry's fields are 1 and 2", W(W_TAGS_ENTRY, number, 3)),
    BAD("word 21: a map entry's fields are 1 and 2", W(W_TAGS_ENTRY + 1, number, 1)),
    BAD("word 20: a map entry's field has a name", W(W_TAGS_ENTRY, name, 8)),
    FAR("word 20: a map entry's field has a name", W(W_TAGS_ENTRY, name_len, 8)),
    /* Well-known types. */
    BAD("word 26: not the field its well-known type has", OP(W_STAMP_WORDS, INT32, IMPLICIT)),
    BAD("word 26: not the field its well-known type has", OP(W_STAMP_WORDS, INT64, ARRAY)),
    BAD("word 30: not the field its well-known type has", OP(W_SPAN_WORDS + 1, INT32, ONEOF)),
    BAD("word 30: a field that its well-known type does not have", W(W_SPAN_WORDS + 1, number, 3)),
    BAD("word 32: not the field its well-known type has", OP(W_MASK_WORDS, STRING, IMPLICIT)),
    BAD("word 34: not the field its well-known type has", OP(W_BOX_WORDS, INT32, ARRAY)),
    BAD("word 34: not the field its well-known type has", OP(W_BOX_WORDS, ENUM, IMPLICIT)),
    BAD("word 34: a field that its well-known type does not have", W(W_BOX_WORDS, number, 2)),
    FAR2("word 36: not the field its well-known type has", OP(W_STRUCT_WORDS, STRING, ARRAY),
         W(W_STRUCT_WORDS, sub, 0)),
    BAD("word 36: the map of a Struct is not one of string to Value", W(W_STRUCT_WORDS, sub, S_BY_NAME)),
    BAD("word 36: the map of a Struct is not one of string to Value", W(W_STRUCT_WORDS, sub, S_TAGS)),
    BAD("word 41: not the field its well-known type has", OP(W_VALUE_WORDS, ENUM, ONEOF)),
    BAD("word 44: not the field its well-known type has", OP(W_VALUE_WORDS + 3, INT32, ONEOF)),
    BAD("word 42: not the field its well-known type has", OP(W_VALUE_WORDS + 1, DOUBLE, HASBIT)),
    BAD("word 48: not the field its well-known type has", OP(W_LIST_WORDS, VALUE, HASBIT)),
    BAD("word 50: not the field its well-known type has", OP(W_ANY_WORDS, STRING, ONEOF)),
    BAD("word 51: not the field its well-known type has", OP(W_ANY_WORDS + 1, STRING, IMPLICIT)),
    /* Key tables. */
    BAD("message 0: more slots than keys can need", MSG(S_ORDER, keys.slots_log2, 18)),
    BAD("message 0: more slots than keys can need", MSG(S_ORDER, keys.slots_log2, 255)),
    BAD("message 0: fewer slots than keys", MSG(S_ORDER, keys.slots_log2, 4)),
    BAD2("message 0: wide slots at an odd place", MSG(S_ORDER, keys.first_slot, 1), WIDE(S_ORDER)),
    BAD("message 0: its slots lie outside their section or overlap others",
        MSG(S_ORDER, keys.first_slot, 0xffffffff)),
    BAD("message 3: its slots lie outside their section or overlap others", MSG(S_STAMP, keys.first_slot, 0)),
    BAD("message 0: its keys lie outside their section or overlap others",
        MSG(S_ORDER, keys.first_key, 0xffffffff)),
    BAD("message 3: its keys lie outside their section or overlap others", MSG(S_STAMP, keys.first_key, 1)),
    BAD("message 0: a slot leads to no key", SLOT(0, 21)),
    BAD("message 0: a key for something its owner lacks", KEY(0, index, 19)),
    BAD("message 0: the name lies outside the pool", KEY(0, name, 0xffffff00)),
    FAR("message 0: a key that its hash does not find", MSG(S_ORDER, keys.seed, 7)),
    FAR("message 0: a key that its hash does not find", MSG(S_ORDER, keys.max_probe, 0)),
    FAR("message 4: a key that its hash does not find", NAME("nanosgoogle.protobuf.FieldMask", 0, 1, 'm')),
    /* Enums. */
    BAD("enum 0: the name lies outside the pool", EN(E_COLOR, name, 0xffffffff)),
    FAR("enum 0: the full name is empty", EN(E_COLOR, name_size, 0)),
    BAD("enum 0: unknown flags", EN(E_COLOR, flags, 2)),
    BAD("enum 0: a reserved field is not 0", EN(E_COLOR, reserved, 1)),
    BAD("enum 0: its values lie outside their section or overlap others",
        EN(E_COLOR, first_value, 0xffffffff)),
    BAD("enum 1: its values lie outside their section or overlap others", EN(E_NULL, first_value, 0)),
    FAR("enum 0: its values lie outside their section or overlap others",
        EN(E_COLOR, value_count, 0xffffffff)),
    BAD("enum 0: the dense run is longer than the values", EN(E_COLOR, dense_count, 6)),
    FAR("enum 0: the dense run is longer than the values", EN(E_COLOR, dense_first, 0xffffffff)),
    BAD("enum 0: the values do not ascend", V(V_RED, number, (uint32_t)INT32_MIN)),
    FAR("enum 0: the dense run is not consecutive", EN(E_COLOR, dense_min, 1)),
    BAD("enum 0: the dense run is not consecutive", V(V_GREEN, number, 4)),
    FAR("enum 0: the dense run is not consecutive", EN(E_COLOR, dense_count, 5)),
    BAD("enum 0: a hole outside the dense run", V(V_FAR, name, 0)),
    BAD("enum 0: a key for a hole", KEY(37, index, V_HOLE)),
    FAR("enum 0: a key for a hole", V(V_BLUE, name, 0)),
    BAD("enum 0: the name lies outside the pool", V(V_RED, name, 2)),
    BAD("enum 0: the name lacks its quotes", NAME("\"RED\"", 0, 1, ',')),
    FAR("enum 0: the name lacks its quotes", NAME("\"RED\"", 4, 1, ',')),
    FAR("enum 0: the name lacks its quotes", NAME("\"RED\"", (size_t)-2, 1, 1)),
    BAD("enum 0: a raw quote in the name", NAME("\"RED\"", 2, 1, '"')),
    BAD("enum 0: a raw control character in the name", NAME("\"RED\"", 2, 1, '\t')),
    BAD("enum 0: a second name for an enum value", NAME("\"RED\"", (size_t)-1, 1, BJVMI_NAME_ALT)),
    BAD("enum 0: a key for something its owner lacks", KEY(37, index, 6)),
    BAD("enum 1: its keys lie outside their section or overlap others", EN(E_NULL, keys.first_key, 37)),
    /* Extensions. */
    BAD("extension 0: the name lies outside the pool", EXT(0, name, 0xfffffff0)),
    BAD("extension 0: the extendee lies outside its section", EXT(0, extendee, 13)),
    BAD("extension 0: the extendee is a map entry", EXT(0, extendee, S_TAGS)),
    BAD("extension 0: its words lie outside their section or overlap others",
        EXT(0, first_word, W_COUNT - 1)),
    BAD("extension 1: its words lie outside their section or overlap others", EXT(1, first_word, W_EXT_ONE)),
    BAD("word 53: a form that its kind cannot have here", OP(W_EXT_ONE, INT32, HASBIT)),
    BAD("word 53: a form that its kind cannot have here", OP(W_EXT_ONE, MAP, ARRAY)),
    BAD("word 55: its message is of another kind", W(W_EXT_MANY, sub, S_ANY)),
    BAD("word 53: not a field number", W(W_EXT_ONE, number, 0)),
    BAD("word 54: the words lack their end",
        W(W_EXT_ONE + 1, op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_MESSAGE))),
    /* Roots. */
    BAD("root 1: the message lies outside its section", ROOT(1, 13)),
    BAD("root 0: the message is a map entry", ROOT(0, S_TAGS)),
};

/* The place of a patch in the file. */
static size_t place(const blob *b, const patch *p) {
  size_t base = p->base == BASE_FILE ? 0 : b->offset[p->base];
  if (!p->find) return base + p->offset;
  size_t length = strlen(p->find);
  for (size_t at = base; at + length <= b->size; at++)
    if (memcmp(b->file + at, p->find, length) == 0) return at + p->offset;
  cr_assert_fail("no %s in the pool", p->find);
  return 0;
}

static void apply(blob *b, const patch *p) {
  if (p->base != NO_PATCH) blob_put(b->file + place(b, p), p->value, p->width);
}

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
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const row *r = &rows[i];
    blob *b = blob_sample();
    size_t at = place(b, &r->first);
    apply(b, &r->first);
    apply(b, &r->second);
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

/* Two words of Order get the same name: their keys are alike, and the second leads to the first. */
Test(verify, equal_keys) {
  blob *b = blob_sample();
  bjvmi_key *keys = (bjvmi_key *)(void *)(b->file + b->offset[BJVMI_SECTION_KEYS]);
  uint8_t *slots = (uint8_t *)b->file + b->offset[BJVMI_SECTION_SLOTS];
  bjvmi_message *order = (bjvmi_message *)(void *)(b->file + b->offset[BJVMI_SECTION_MESSAGES]);
  keys[1] = keys[0];
  uint32_t mask = (1u << order->keys.slots_log2) - 1, at = bjvmi_key_hash(0, "id", 2);
  while (slots[at & mask] != 1) at++;
  order->keys.max_probe = 255;
  for (uint32_t i = 0; i <= mask; i++)
    if (slots[i] == 0) slots[i] = 2; /* wherever key 1 is looked for, it is there */
  blob_seal(b->file, b->size);
  const bjvm_image *image;
  bjvm_error error;
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
  cr_assert_str_eq(error.message, report_of("message 0: two keys with the same name"));
}

/* The shapes that well-known types must have are not asked of external ones; sizes of those that are there
 * are. */
Test(verify, well_known_sizes) {
  blob *b = calloc(1, sizeof *b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_message *m = blob_message(b, "google.protobuf.Timestamp", BJVMI_KIND_TIMESTAMP, 0);
  blob_field(b, m, BJVMI_KIND_INT64, BJVMI_FORM_IMPLICIT, 1, 0, "seconds");
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_message(b, "google.protobuf.Any", BJVMI_KIND_ANY, BJVMI_MESSAGE_EXTERNAL);
  blob_finish(b);
  const bjvm_image *image;
  bjvm_error error;
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
  cr_assert_str_eq(error.message, report_of("message 0: a well-known type with another number of fields"));
  cr_assert_eq(error.offset, b->offset[BJVMI_SECTION_MESSAGES] + offsetof(bjvmi_message, word_count));
}

/* A name that its JSON name's ALT is followed by may not have one itself; the message would be read past its
 * name. */
Test(verify, third_name) {
  blob *b = calloc(1, sizeof *b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_message *m = blob_message(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_field_name(b, "aB", BJVMI_NAME_ALT);
  blob_field_name(b, "a_b", BJVMI_NAME_ALT);
  blob_word(b, m, BJVMI_OP(BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT), 1, 0, name);
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_finish(b);
  const bjvm_image *image;
  bjvm_error error;
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
  cr_assert_str_eq(error.message, report_of("word 0: a third name for one field"));
}

/* The header of a name says whether that of its ALT is long, and must be right. */
Test(verify, second_name_size) {
  blob *b = calloc(1, sizeof *b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_message *m = blob_message(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_field_name(b, "aB", BJVMI_NAME_ALT | BJVMI_NAME_ALT_LONG);
  b->count[BJVMI_SECTION_NAMES] += 2; /* where the long length would be */
  blob_field_name(b, "a_b", 0);
  blob_word(b, m, BJVMI_OP(BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT), 1, 0, name);
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_finish(b);
  const bjvm_image *image;
  bjvm_error error;
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_PLAN_CORRUPT);
  cr_assert_str_eq(error.message, report_of("word 0: the second name's length has the wrong size"));
}

/* A file whose records share one long name is refused before it has cost more than its size allows. */
Test(verify, shared_names) {
  blob *b = calloc(1, sizeof *b);
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  char *encoded = calloc(1, 6001);
  memset(encoded, 'x', 6000);
  memcpy(encoded, ",\"", 2);
  memcpy(encoded + 5998, "\":", 2);
  bjvmi_message *m = blob_message(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_encoded(b, encoded, 0);
  for (uint32_t i = 1; i <= 1000; i++)
    blob_word(b, m, BJVMI_OP(BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT), i, 0, name);
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_finish(b);
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

/* Among the sample's mini descriptors: those of messages, by their number, then these. */
enum { M_COLOR = S_ELSEWHERE + 1, M_NULL, M_EXT_ONE, M_EXT_MANY };

typedef struct mini_row {
  const char *text;
  uint32_t which;
  const char *find, *instead; /* this piece of what stands there is replaced; NULL: all of it */
} mini_row;

static const mini_row mini_rows[] = {
    {"message 0: not the mini descriptor of a message", S_ORDER, NULL, ""},
    {"message 0: not the mini descriptor of a message", S_ORDER, "$P", "%P"},
    {"message 0: not the mini descriptor of a message", S_ORDER, "$P", "!P"},
    {"message 0: a message set with fields", S_ORDER, NULL, "&"},
    {"message 3: a message set with fields", S_STAMP, NULL, "&"},
    {"message 12: a mini descriptor of an external message", S_ELSEWHERE, NULL, "$"},
    {"message 1: not the mini descriptor of a map entry", S_TAGS, "%", "$"},
    {"message 0: an unknown modifier in the mini descriptor", S_ORDER, "$P", "$PM"},
    {"message 0: the message is extendable in one place only", S_ORDER, "$P", "$"},
    {"message 0: the message is extendable in one place only", S_ORDER, "$P", "$M"},
    {"message 3: the message is extendable in one place only", S_STAMP, "$+", "$P+"},
    {"message 0: a number in the mini descriptor is too long", S_ORDER, "$P", "$PLLLLLLLL"},
    {"message 3: a number in the mini descriptor is too long", S_STAMP, "$", "$````````"},
    {"message 3: a number in the mini descriptor is too large", S_STAMP, "$", "$______~"},
    {"message 3: the mini descriptor lacks a field", S_STAMP, NULL, "$"},
    {"message 3: the mini descriptor lacks a field", S_STAMP, "(P", ""},
    {"message 3: the mini descriptor lacks a field", S_STAMP, "(P", "\xff"},
    {"message 3: the mini descriptor lacks a field", S_STAMP, "(P", "\x1f"},
    {"message 3: the mini descriptor lacks a field", S_STAMP, "(P", "\""},
    {"message 3: the mini descriptor lacks a field", S_STAMP, "(P", "'"},
    {"message 3: the mini descriptor lacks a field", S_STAMP, "(P", "``P"},
    {"message 3: an unknown type in the mini descriptor", S_STAMP, "(P", "5P"},
    {"message 3: an unknown type in the mini descriptor", S_STAMP, "(P", "I"},
    {"message 3: the mini descriptor has another field number", S_STAMP, "(P", "a(P"},
    {"message 3: the mini descriptor has another field number", S_STAMP, "(P", "_(P"},
    {"message 3: the mini descriptor has another type for the field", S_STAMP, "(P", ")P"},
    {"message 0: the mini descriptor has another type for the field", S_ORDER, "1P4", "0P4"},
    {"message 0: the enum is closed in one place only", S_ORDER, "4P", ".P"},
    {"message 3: the field is repeated in one place only", S_STAMP, "(P", "<"},
    {"message 5: the field is repeated in one place only", S_MASK, NULL, "$1"},
    {"message 3: the field has presence in one place only", S_STAMP, "(P", "("},
    {"message 0: the field has presence in one place only", S_ORDER, "(N", "(P"},
    {"message 0: the mini descriptor has another number of required fields", S_ORDER, "(N", "("},
    {"message 9: a required field without a hasbit", S_VALUE, "$. ", "$.N "},
    {"message 3: an unknown modifier in the mini descriptor", S_STAMP, "(P", "(PM"},
    {"message 3: a field that cannot be packed is", S_STAMP, "(P", "(Q"},
    {"message 5: a field that cannot be packed is", S_MASK, NULL, "$EM"},
    {"message 3: UTF-8 is asked of a field that is no string", S_STAMP, "(P", "(X"},
    {"message 3: a field's modifiers contradict each other", S_STAMP, "(P", "(R"},
    {"message 5: a field's modifiers contradict each other", S_MASK, NULL, "$EP"},
    {"message 3: the mini descriptor goes on behind its fields", S_STAMP, "(P", "(P("},
    {"message 3: the mini descriptor goes on behind its fields", S_STAMP, "(P", "(P^!"},
    {"message 9: the mini descriptor lacks its oneofs", S_VALUE, "^!|#|$|%|&|(", ""},
    {"message 9: the mini descriptor lacks its oneofs", S_VALUE, "^!|", "3!|"},
    {"message 9: an empty oneof in the mini descriptor", S_VALUE, "^!|", "^~!|"},
    {"message 9: an empty oneof in the mini descriptor", S_VALUE, "|(", "|(~"},
    {"message 9: a number in the mini descriptor is too long", S_VALUE, "|(", "|(((((((("},
    {"message 9: a member of a oneof that is not one", S_VALUE, "|(", "|)"},
    {"message 0: a member of a oneof that is not one", S_ORDER, "^1|2", "^1|!"},
    {"message 9: the mini descriptor goes on behind its oneofs", S_VALUE, "|(", "|(}"},
    {"message 9: the mini descriptor goes on behind its oneofs", S_VALUE, "|(", "|(\\"},
    {"message 9: a oneof of the mini descriptor lacks members", S_VALUE, "|(", ""},
    {"message 9: a oneof of the mini descriptor lacks members", S_VALUE, "|(", "|(~("},
    {"message 1: the mini descriptor lacks a field", S_TAGS, NULL, "%("},
    {"message 1: the mini descriptor has another type for the field", S_TAGS, NULL, "%(("},
    {"message 1: the mini descriptor has another field number", S_TAGS, NULL, "%(a1"},
    {"message 1: a map entry with a required field", S_TAGS, NULL, "%(1N"},
    {"message 2: a map entry with a group", S_BY_NAME, NULL, "%12"},
    {"message 1: the field is repeated in one place only", S_TAGS, NULL, "%(E"},
    {"message 1: the mini descriptor goes on behind its fields", S_TAGS, NULL, "%(11"},
    {"message 1: the mini descriptor goes on behind its fields", S_TAGS, NULL, "%(1^!"},
    {"enum 0: not the mini descriptor of an enum", M_COLOR, NULL, ""},
    {"enum 0: not the mini descriptor of an enum", M_COLOR, "!/", "$/"},
    {"enum 0: the mini descriptor has another enum number", M_COLOR, "!/", "!0"},
    {"enum 0: the mini descriptor has another enum number", M_COLOR, "!/", "! /"},
    {"enum 0: the mini descriptor lacks an enum number", M_COLOR, NULL, "!/"},
    {"enum 0: a number in the mini descriptor is too long", M_COLOR, "!/", "!/________"},
    {"enum 0: a character that no mini descriptor of an enum has", M_COLOR, "!/", "!/B"},
    {"enum 0: a character that no mini descriptor of an enum has", M_COLOR, "!/", "!/\xff"},
    {"enum 1: a mini descriptor of an open enum", M_NULL, NULL, "!!"},
    {"extension 0: not the mini descriptor of an extension", M_EXT_ONE, NULL, ""},
    {"extension 0: not the mini descriptor of an extension", M_EXT_ONE, "#", "$"},
    {"extension 0: the mini descriptor lacks a field", M_EXT_ONE, "#", "#P"},
    {"extension 0: an extension with such a modifier", M_EXT_ONE, "(", "(N"},
    {"extension 0: an extension with such a modifier", M_EXT_ONE, "(", "(P"},
    {"extension 0: the mini descriptor has another field number", M_EXT_ONE, NULL, "#("},
    {"extension 1: the field is repeated in one place only", M_EXT_MANY, "G", "3"},
    {"extension 0: the mini descriptor goes on behind its field", M_EXT_ONE, "(", "(("},
    {"extension 0: the mini descriptor goes on behind its field", M_EXT_ONE, "(", "(^!"},
};

/* The sample's mini descriptor `which` with a piece of it replaced. */
static void replace_mini(const mini_row *r, char *to, size_t capacity) {
  blob *b = blob_sample_mini(0, NULL);
  const uint8_t *at = (const uint8_t *)b->mini;
  for (uint32_t i = 0; i < r->which; i++) at += 1 + *at;
  char whole[256];
  memcpy(whole, at + 1, *at);
  whole[*at] = 0;
  const char *piece = r->find ? strstr(whole, r->find) : whole;
  cr_assert(piece, "%s: no %s in %s", r->text, r->find, whole);
  size_t cut = r->find ? strlen(r->find) : strlen(whole);
  snprintf(to, capacity, "%.*s%s%s", (int)(piece - whole), whole, r->instead, piece + cut);
  free(b);
}

Test(verify, accepts_minis) {
  blob *b = blob_sample_mini(0, NULL);
  const bjvm_image *image;
  bjvm_error error = {.message = ""};
  cr_assert_eq(load(b->file, b->size, &image, &error), BJVM_OK, "%zu: %s", error.offset, error.message);
  cr_assert(bjvm_image_has_tables(image));
  cr_assert(use(image) > 0);
}

Test(verify, each_check_of_minis) {
  for (size_t i = 0; i < sizeof mini_rows / sizeof mini_rows[0]; i++) {
    const mini_row *r = &mini_rows[i];
    char mini[256];
    replace_mini(r, mini, sizeof mini);
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
