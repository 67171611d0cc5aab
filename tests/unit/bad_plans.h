/* Plan files with one fault each, for the tests of the loader and the verifier.
 *
 * A row of bad_rows overwrites one or two fields of the sample (blob.h) and names the sentence it expects; the
 * report must point at the first field overwritten unless the row says otherwise. Of the rows for one check the first
 * is the one that would be safe without it. A row of bad_mini_rows
 * replaces a piece of one of the sample's mini descriptors. Whoever uses a row repairs the checksum.
 */
#ifndef BJVM_TESTS_BAD_PLANS_H_
#define BJVM_TESTS_BAD_PLANS_H_

#include "bjvm/plan.h"
#include "blob.h"

/* A row that does not fit the sample is an error of the test. */
static inline void bad_stop(const char *what, const char *piece) {
  fprintf(stderr, "%s: %s\n", what, piece);
  abort();
}

enum {
  BASE_FILE = BJVMI_SECTION_COUNT, /* offset from the start of the file */
  NO_PATCH = 100,
};

typedef struct bad_patch {
  int base;         /* bjvmi_section, BASE_FILE or NO_PATCH */
  const char *find; /* a piece of the name pool that `offset` counts from, or NULL */
  size_t offset;
  size_t width;
  uint64_t value;
} bad_patch;

typedef struct bad_row {
  int line;
  const char *text;
  bad_patch first, second;
  bool elsewhere; /* the fault is not reported at the first patch */
  bjvm_status status;
} bad_row;

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
/* Minor version 1 and the flags behind it. */
#define MINOR_1_FLAGS(flags)                                                                                 \
  { BASE_FILE, NULL, offsetof(bjvmi_header, minor), 6, 1 | (uint64_t)(flags) << 16 }
#define ROOT(index, value)                                                                                   \
  { BJVMI_SECTION_ROOTS, NULL, (index)*4, 4, value }

static const bad_row bad_rows[] = {
    /* The header. */
    OTHER(BJVM_PLAN_MAGIC, "the file does not begin with BJVM", HEADER(magic[0], 'X')),
    OTHER(BJVM_PLAN_VERSION,
          "the plan has another major version of the format; this library reads 1.0 to 1.2",
          HEADER(major, 2)),
    OTHER(BJVM_PLAN_VERSION, "the plan's format is newer than this library, which reads 1.0 to 1.2",
          HEADER(minor, 3)),
    BAD("the header has flags its version lacks", HEADER(flags, BJVMI_HEADER_32BIT)),
    BAD2("the header has flags its version lacks", HEADER(flags, BJVMI_HEADER_32BIT), HEADER(layout, 1)),
    FAR2("the header has unknown flags", MINOR_1_FLAGS(3), HEADER(layout, 1)),
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
    BAD("message 0: unknown flags", MSG(S_ORDER, flags, 8 | BJVMI_MESSAGE_EXTENDABLE)),
    BAD("message 0: unknown flags", MSG(S_ORDER, flags, 8)),
    BAD("message 1: a map entry with other flags",
        MSG(S_TAGS, flags, BJVMI_MESSAGE_ENTRY | BJVMI_MESSAGE_EXTERNAL)),
    BAD("message 1: a map entry with other flags",
        MSG(S_TAGS, flags, BJVMI_MESSAGE_ENTRY | BJVMI_MESSAGE_EXTENDABLE)),
    BAD("message 1: a map entry of a well-known kind", MSG(S_TAGS, kind, BJVMI_KIND_ANY)),
    BAD("message 1: a map entry without exactly two words", MSG(S_TAGS, word_count, 1)),
    BAD("message 1: a map entry without exactly two words", MSG(S_TAGS, word_count, 3)),
    BAD("message 1: a map entry with keys", MSG(S_TAGS, keys.key_count, 1)),
    BAD("message 12: an external message with words", MSG(S_ELSEWHERE, word_count, 1)),
    BAD("message 12: an external message with keys", MSG(S_ELSEWHERE, keys.key_count, 1)),
    BAD("message 3: a well-known type that is extendable", MSG(S_STAMP, flags, BJVMI_MESSAGE_EXTENDABLE)),
    BAD2("message 3: a well-known type that is extendable", MSG(S_STAMP, flags, BJVMI_MESSAGE_EXTENDABLE),
         W(W_STAMP_WORDS + 2, op, BJVMI_OP(BJVMI_KIND_END, BJVMI_END_EXTENDABLE))),
    BAD("message 0: more required fields than fields", MSG(S_ORDER, required_count, 20)),
    BAD("message 4: its words lie outside their section or overlap others",
        MSG(S_SPAN, first_word, W_STAMP_WORDS)),
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
    BAD("word 0: the flags of the name do not tell what it is", NAME(",\"id\":", (size_t)-1, 1, 64)),
    FAR("word 0: the flags of the name do not tell what it is", NAME(",\"id\":", 2, 1, '<')),
    BAD("word 2: the flags of the name do not tell what it is", NAME(",\"a\\\"b", (size_t)-1, 1, 0)),
    BAD("word 15: the flags of the name do not tell what it is", NAME(",\"k\xc3\xa4se", (size_t)-1, 1, 0)),
    BAD("word 0: a derived name, which the file's version lacks",
        NAME(",\"id\":", (size_t)-1, 1, BJVMI_NAME_DERIVED)),
    BAD2("word 0: a derived name that does not differ", NAME(",\"id\":", (size_t)-1, 1, BJVMI_NAME_DERIVED),
         HEADER(minor, 2)),
    BAD("word 14: a third name for one field", NAME(",\"unit_price\":", (size_t)-1, 1, BJVMI_NAME_DERIVED)),
    FAR2("word 55: a derived name from other bytes than A-Za-z0-9",
         NAME(",\"[acme.many]\":", (size_t)-1, 1, BJVMI_NAME_DERIVED), HEADER(minor, 2)),
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
    BAD("message 4: its slots lie outside their section or overlap others",
        MSG(S_SPAN, keys.first_slot, 64)), /* those of Timestamp, which has the same keys */
    BAD("message 0: its slots lie outside their section or overlap others",
        MSG(S_ORDER, keys.first_slot, 0xffffffff)),
    BAD("message 3: its slots lie outside their section or overlap others", MSG(S_STAMP, keys.first_slot, 0)),
    BAD("message 4: its keys lie outside their section or overlap others", MSG(S_SPAN, keys.first_key, 20)),
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
    BAD("enum 1: its values lie outside their section or overlap others", EN(E_NULL, first_value, V_RED)),
    BAD("enum 0: its values lie outside their section or overlap others",
        EN(E_COLOR, first_value, 0xffffffff)),
    BAD("enum 1: its values lie outside their section or overlap others", EN(E_NULL, first_value, 0)),
    FAR("enum 0: its values lie outside their section or overlap others",
        EN(E_COLOR, value_count, 0xffffffff)),
    BAD("enum 1: the dense run is longer than the values", EN(E_NULL, dense_count, 2)),
    BAD("enum 0: the dense run is longer than the values", EN(E_COLOR, dense_count, 6)),
    BAD("enum 0: the values do not ascend", V(V_FAR, number, 3)),
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
    BAD("enum 0: a second name for an enum value", NAME("\"RED\"", (size_t)-1, 1, BJVMI_NAME_DERIVED)),
    BAD("enum 0: a key for something its owner lacks", KEY(37, index, 6)),
    BAD("enum 1: its keys lie outside their section or overlap others", EN(E_NULL, keys.first_key, 37)),
    /* Extensions. */
    BAD("extension 0: the name lies outside the pool", EXT(0, name, 0xfffffff0)),
    BAD("extension 0: the extendee lies outside its section", EXT(0, extendee, 13)),
    BAD("extension 0: the extendee is a map entry", EXT(0, extendee, S_TAGS)),
    BAD("extension 1: its words lie outside their section or overlap others", EXT(1, first_word, W_EXT_ONE)),
    BAD("extension 0: its words lie outside their section or overlap others",
        EXT(0, first_word, W_COUNT - 1)),
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
static inline size_t bad_place(const blob *b, const bad_patch *p) {
  size_t base = p->base == BASE_FILE ? 0 : b->offset[p->base];
  if (!p->find) return base + p->offset;
  size_t length = strlen(p->find);
  for (size_t at = base; at + length <= b->size; at++)
    if (memcmp(b->file + at, p->find, length) == 0) return at + p->offset;
  bad_stop("not in the pool", p->find);
  return 0;
}

static inline void bad_apply(blob *b, const bad_patch *p) {
  if (p->base != NO_PATCH) blob_put(b->file + bad_place(b, p), p->value, p->width);
}

/* -- Mini descriptors ----------------------------------------------------------------------------------- */

/* Among the sample's mini descriptors: those of messages, by their number, then these. */
enum { M_COLOR = S_ELSEWHERE + 1, M_NULL, M_EXT_ONE, M_EXT_MANY };

typedef struct bad_mini_row {
  const char *text;
  uint32_t which;
  const char *find, *instead; /* this piece of what stands there is replaced; NULL: all of it */
} bad_mini_row;

static const bad_mini_row bad_mini_rows[] = {
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
    {"message 3: a number in the mini descriptor is too long", S_STAMP, "$", "$`_______"},
    {"message 3: a number in the mini descriptor is too large", S_STAMP, "$", "$______~"},
    {"message 3: a number in the mini descriptor is too large", S_STAMP, "$", "$`_____c"},
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
    {"enum 0: the mini descriptor has another enum number", M_COLOR, "!/", "!-"},
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
static inline void bad_mini(const bad_mini_row *r, char *to, size_t capacity) {
  blob *b = blob_sample_mini(0, NULL);
  const uint8_t *at = (const uint8_t *)b->mini;
  for (uint32_t i = 0; i < r->which; i++) at += 1 + *at;
  char whole[256];
  memcpy(whole, at + 1, *at);
  whole[*at] = 0;
  const char *piece = r->find ? strstr(whole, r->find) : whole;
  if (!piece) bad_stop("not in the mini descriptor", r->find);
  size_t cut = r->find ? strlen(r->find) : strlen(whole);
  snprintf(to, capacity, "%.*s%s%s", (int)(piece - whole), whole, r->instead, piece + cut);
  free(b);
}

/* -- What no patch can make ----------------------------------------------------------------------------- */

static inline bjvmi_message *bad_begin(blob *b, const char *name, bjvmi_kind kind, uint8_t flags) {
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  return blob_message(b, name, kind, flags);
}

/* A file of `size` bytes that has nothing but its header and section table. */
static inline void bad_frame(blob *b, uint16_t minor, const bjvmi_section_entry *table, uint32_t count,
                             size_t size) {
  const bjvmi_header h = {.magic = {'B', 'J', 'V', 'M'},
                          .major = BJVMI_FORMAT_MAJOR,
                          .minor = minor,
                          .total_size = (uint32_t)size,
                          .section_count = count};
  blob_put_header(b->file, &h, table);
  b->size = size;
}

/* One with two sections of zeros. */
static inline void bad_sections(blob *b, uint16_t minor, bjvmi_section_entry first,
                                bjvmi_section_entry second) {
  const bjvmi_section_entry table[] = {first, second};
  bad_frame(b, minor, table, 2, 128);
}

static inline void bad_header_cut(blob *b) { bad_frame(b, 0, NULL, 0, BJVMI_HEADER_SIZE - 4); }

static inline void bad_section_table_cut(blob *b) {
  bad_frame(b, 0, NULL, 0, BJVMI_HEADER_SIZE);
  BLOB_SET(((bjvmi_header *)(void *)b->file)->section_count, 1);
}

static inline void bad_section_order(blob *b) {
  bad_sections(b, 0, (bjvmi_section_entry){BJVMI_SECTION_NAMES, 88, 36},
               (bjvmi_section_entry){BJVMI_SECTION_ROOTS, 124, 0});
}

static inline void bad_section_overlap(blob *b) {
  bad_sections(b, 1, (bjvmi_section_entry){BJVMI_SECTION_NAMES, 88, 36},
               (bjvmi_section_entry){BJVMI_SECTION_MINI, 100, 0});
}

static inline void bad_section_align(blob *b) {
  bad_sections(b, 0, (bjvmi_section_entry){BJVMI_SECTION_ROOTS, 89, 0},
               (bjvmi_section_entry){BJVMI_SECTION_NAMES, 89, 36});
}

static inline void bad_section_size(blob *b) {
  bad_sections(b, 0, (bjvmi_section_entry){BJVMI_SECTION_ROOTS, 88, 2},
               (bjvmi_section_entry){BJVMI_SECTION_NAMES, 90, 36});
}

static inline void bad_dirt_behind(blob *b) {
  bad_sections(b, 0, (bjvmi_section_entry){BJVMI_SECTION_ROOTS, 88, 0},
               (bjvmi_section_entry){BJVMI_SECTION_NAMES, 88, 36});
  b->file[127] = 1;
}

static inline void bad_pool_small(blob *b) {
  bad_sections(b, 0, (bjvmi_section_entry){BJVMI_SECTION_ROOTS, 88, 0},
               (bjvmi_section_entry){BJVMI_SECTION_NAMES, 88, BJVMI_NAME_PAD - 1});
}

/* A bool whose encoded name stands at `name`. */
static inline void bad_field(blob *b, bjvmi_message *m, uint32_t name) {
  blob_word(b, m, BJVMI_OP(BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT), m->word_count + 1u, 0, name);
}

static inline void bad_end(blob *b, bjvmi_message *m) {
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_finish(b);
}

/* A thousand fields of one name of 6000 bytes. */
static inline void bad_names_shared(blob *b) {
  static char encoded[6001];
  memset(encoded, 'x', 6000);
  memcpy(encoded, ",\"", 2);
  memcpy(encoded + 5998, "\":", 2);
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_encoded(b, encoded, 0);
  for (int i = 0; i < 1000; i++) bad_field(b, m, name);
  bad_end(b, m);
}

/* The header of a name says that its length stands in two bytes, which it does not need. */
static inline void bad_name_length_size(blob *b) {
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  b->count[BJVMI_SECTION_NAMES] += 2;
  uint32_t name = blob_field_name(b, "a", 0);
  blob_put(b->names + name - BJVMI_NAME_LONG_HEADER, 5, 2);
  bad_field(b, m, name);
  b->words[0].name_len = 5;
  b->names[name - 2] = 0;
  b->names[name - 1] = BJVMI_NAME_LONG;
  bad_end(b, m);
}

/* A name that its JSON name's ALT is followed by may not have one itself; the message would be read past its
 * name. */
static inline void bad_third_name(blob *b) {
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_field_name(b, "aB", BJVMI_NAME_ALT);
  blob_field_name(b, "a_b", BJVMI_NAME_ALT);
  bad_field(b, m, name);
  bad_end(b, m);
}

/* The header of a name says whether that of its ALT is long, and must be right. */
static inline void bad_second_name_size(blob *b) {
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_field_name(b, "aB", BJVMI_NAME_ALT | BJVMI_NAME_ALT_LONG);
  b->count[BJVMI_SECTION_NAMES] += 2; /* where the long length would be */
  blob_field_name(b, "a_b", 0);
  bad_field(b, m, name);
  bad_end(b, m);
}

/* A field whose .proto name is derived from `json`, which is followed by another one if `flags` say so. */
static inline void bad_derived(blob *b, uint16_t minor, const char *json, uint8_t flags) {
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  uint32_t name = blob_field_name(b, json, BJVMI_NAME_DERIVED | flags);
  blob_field_name(b, "a_b", 0);
  bad_field(b, m, name);
  b->minor = minor;
  bad_end(b, m);
}

static inline void bad_derived_too_new(blob *b) { bad_derived(b, 1, "aB", 0); }
static inline void bad_derived_second_name(blob *b) { bad_derived(b, 2, "aB", BJVMI_NAME_ALT); }
static inline void bad_derived_second_long(blob *b) { bad_derived(b, 2, "aB", BJVMI_NAME_ALT_LONG); }
static inline void bad_derived_bytes(blob *b) { bad_derived(b, 2, "a_Bc", 0); }
static inline void bad_derived_special(blob *b) { bad_derived(b, 2, "aB<", BJVMI_NAME_SPECIAL); }
static inline void bad_derived_escaped(blob *b) { bad_derived(b, 2, "aB\\n", BJVMI_NAME_ESCAPED); }
static inline void bad_derived_same(blob *b) { bad_derived(b, 2, "ab1", 0); }

/* Within the limit before it is derived, and longer by one byte behind. */
static inline void bad_derived_long(blob *b) {
  static char encoded[BJVMI_NAME_MAX + 1];
  memset(encoded, 'x', BJVMI_NAME_MAX);
  memcpy(encoded, ",\"X", 3);
  memcpy(encoded + BJVMI_NAME_MAX - 2, "\":", 2);
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  bad_field(b, m, blob_encoded(b, encoded, BJVMI_NAME_DERIVED));
  b->minor = 2;
  bad_end(b, m);
}

static inline void bad_message_kind(blob *b) {
  bad_begin(b, "a.M", BJVMI_KIND_STRING, BJVMI_MESSAGE_EXTERNAL);
  blob_finish(b);
}

static inline void bad_entry_keys(blob *b) {
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_message *m = blob_message(b, "", BJVMI_KIND_MESSAGE, BJVMI_MESSAGE_ENTRY);
  blob_word(b, m, BJVMI_OP(BJVMI_KIND_INT32, BJVMI_FORM_ALWAYS), 1, 0, 0);
  blob_word(b, m, BJVMI_OP(BJVMI_KIND_INT32, BJVMI_FORM_ALWAYS), 2, 0, 0);
  blob_key(b, "key", 0);
  bad_end(b, m);
}

/* The shapes that well-known types must have are not asked of external ones; sizes of those that are there
 * are. */
static inline void bad_well_known_count(blob *b) {
  bjvmi_message *m = bad_begin(b, "google.protobuf.Timestamp", BJVMI_KIND_TIMESTAMP, 0);
  blob_field(b, m, BJVMI_KIND_INT64, BJVMI_FORM_IMPLICIT, 1, 0, "seconds");
  blob_field(b, m, BJVMI_KIND_INT32, BJVMI_FORM_IMPLICIT, 2, 0, "nanos");
  blob_field(b, m, BJVMI_KIND_INT32, BJVMI_FORM_IMPLICIT, 3, 0, "zone");
  blob_end(b, m, BJVMI_END_MESSAGE);
  blob_message(b, "google.protobuf.Any", BJVMI_KIND_ANY, BJVMI_MESSAGE_EXTERNAL);
  blob_finish(b);
}

/* Two words get the same name: their keys are alike, and the second leads to the first. */
static inline void bad_key_twice(blob *b) {
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  blob_field(b, m, BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT, 1, 0, "a");
  blob_field(b, m, BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT, 2, 0, "a");
  bad_end(b, m);
}

/* 256 keys take slots of two bytes, which begin at byte 1 here. */
static inline void bad_slots_odd(blob *b) {
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  b->count[BJVMI_SECTION_SLOTS] = 1;
  for (uint32_t i = 1; i <= BJVMI_KEYS_NARROW + 1; i++) {
    char name[8];
    snprintf(name, sizeof name, "f%u", (unsigned)i);
    blob_field(b, m, BJVMI_KIND_BOOL, BJVMI_FORM_IMPLICIT, i, 0, name);
  }
  bad_end(b, m);
}

static inline void bad_hole(blob *b) {
  b->count[BJVMI_SECTION_NAMES] = BJVMI_NAME_HEADER;
  bjvmi_enum *e = blob_enum(b, "a.E", 0);
  blob_value(b, e, 0, "ZERO");
  blob_value(b, e, 5, NULL);
  e->keys = blob_table(b);
  blob_finish(b);
}

static inline void bad_sample_of_minis(blob *b, int more) {
  blob *sample = blob_sample_records();
  *b = *sample;
  free(sample);
  b->minor = 1;
  blob_sample_minis(b, 0, NULL);
  b->count[BJVMI_SECTION_MINI] += (uint32_t)more;
  blob_finish(b);
}

static inline void bad_mini_missing(blob *b) { bad_sample_of_minis(b, -1); }
static inline void bad_mini_left(blob *b) { bad_sample_of_minis(b, 1); }

/* The kind of Value is in a oneof, which has no hasbit. */
static inline void bad_mini_required(blob *b) {
  blob *sample = blob_sample_records();
  *b = *sample;
  free(sample);
  b->minor = 1;
  b->messages[S_VALUE].required_count = 1;
  blob_sample_minis(b, S_VALUE, "$.N 1/33^!|#|$|%|&|(");
  blob_finish(b);
}

/* Longer by one byte than a name may be. */
static inline void bad_name_long(blob *b) {
  static char encoded[BJVMI_NAME_MAX + 2];
  memset(encoded, 'x', BJVMI_NAME_MAX + 1);
  memcpy(encoded, ",\"", 2);
  memcpy(encoded + BJVMI_NAME_MAX - 1, "\":", 2);
  bjvmi_message *m = bad_begin(b, "a.M", BJVMI_KIND_MESSAGE, 0);
  bad_field(b, m, blob_encoded(b, encoded, 0));
  bad_end(b, m);
}

/* Not sealed. */
static inline void bad_checksum(blob *b) {
  bad_sample_of_minis(b, 0);
  b->file[offsetof(bjvmi_header, schema)] ^= 1;
}

typedef struct bad_file {
  const char *text;
  void (*make)(blob *b);
} bad_file;

static const bad_file bad_files[] = {
    {"the file ends inside its header", bad_header_cut},
    {"the checksum differs", bad_checksum},
    {"the file ends inside its section table", bad_section_table_cut},
    {"the sections are not in order", bad_section_order},
    {"the section overlaps what is in front of it", bad_section_overlap},
    {"the section is not aligned", bad_section_align},
    {"the section's size is not a multiple of its records", bad_section_size},
    {"a byte behind the last section is not 0", bad_dirt_behind},
    {"the name pool has no room for its padding", bad_pool_small},
    {"word 234: long names are shared by too many records", bad_names_shared},
    {"word 0: the name's length has the wrong size", bad_name_length_size},
    {"word 0: the name is too long", bad_name_long},
    {"word 0: the second name's length has the wrong size", bad_second_name_size},
    {"word 0: a third name for one field", bad_third_name},
    {"word 0: a derived name, which the file's version lacks", bad_derived_too_new},
    {"word 0: a second name beside the derived one", bad_derived_second_name},
    {"word 0: a second name beside the derived one", bad_derived_second_long},
    {"word 0: a derived name from other bytes than A-Za-z0-9", bad_derived_bytes},
    {"word 0: a derived name from other bytes than A-Za-z0-9", bad_derived_special},
    {"word 0: a derived name from other bytes than A-Za-z0-9", bad_derived_escaped},
    {"word 0: a derived name that does not differ", bad_derived_same},
    {"word 0: the derived name is too long", bad_derived_long},
    {"message 0: the kind is not one of a message", bad_message_kind},
    {"message 0: a map entry with keys", bad_entry_keys},
    {"message 0: a well-known type with another number of fields", bad_well_known_count},
    {"message 0: two keys with the same name", bad_key_twice},
    {"message 0: wide slots at an odd place", bad_slots_odd},
    {"enum 0: a hole outside the dense run", bad_hole},
    {"extension 1: its mini descriptor is not there", bad_mini_missing},
    {"bytes behind the last mini descriptor", bad_mini_left},
    {"message 9: a required field without a hasbit", bad_mini_required},
};

/* The file, not on the stack; free with free(). */
static inline blob *bad_made(const bad_file *f) {
  blob *b = (blob *)calloc(1, sizeof *b);
  if (!b) abort();
  f->make(b);
  if (f->make != bad_checksum) blob_seal(b->file, b->size);
  return b;
}

#endif /* BJVM_TESTS_BAD_PLANS_H_ */
