/* The verifier's checks of words: those of a message, a map entry, an extension, and the fixed ones of
 * well-known types.
 *
 * What is allowed follows from a kind's shape (ops.def) and from where the word stands; no opcode is asked
 * for by name, but for the two that only binding makes. Message records have been checked before, so `sub`
 * may be followed. Kept: a VM that runs these words meets only forms its handlers know, ends each run at its
 * END, and finds well-known types as it expects them.
 */
#include "verify.h"

#define F(form) (1u << BJVMI_FORM_##form)
#define K(kind) (1u << BJVMI_KIND_##kind)

enum { NUMBER_MAX = (1 << 29) - 1 }; /* the largest field number of protobuf */

/* The forms a shape may have in a file. ALWAYS fields and ARRAY_ALWAYS come into being when a plan is
 * bound. */
static const uint8_t file_forms[BJVMI_PLACE_COUNT][BJVMI_SHAPE_CONTROL + 1] = {
    [BJVMI_PLACE_FIELD] =
        {
            [BJVMI_SHAPE_SCALAR] = F(IMPLICIT) | F(HASBIT) | F(ONEOF) | F(ARRAY),
            [BJVMI_SHAPE_ENUM] = F(IMPLICIT) | F(HASBIT) | F(ONEOF) | F(ARRAY),
            [BJVMI_SHAPE_MESSAGE] = F(HASBIT) | F(ONEOF) | F(ARRAY),
            [BJVMI_SHAPE_MAP] = F(ARRAY),
        },
    [BJVMI_PLACE_ENTRY] =
        {
            [BJVMI_SHAPE_SCALAR] = F(ALWAYS),
            [BJVMI_SHAPE_ENUM] = F(ALWAYS),
            [BJVMI_SHAPE_MESSAGE] = F(ALWAYS),
        },
    [BJVMI_PLACE_EXTENSION] =
        {
            [BJVMI_SHAPE_SCALAR] = F(ALWAYS) | F(ARRAY),
            [BJVMI_SHAPE_ENUM] = F(ALWAYS) | F(ARRAY),
            [BJVMI_SHAPE_MESSAGE] = F(ALWAYS) | F(ARRAY),
        },
};

static const uint32_t entry_key_kinds = K(BOOL) | K(INT32) | K(UINT32) | K(INT64) | K(UINT64) | K(STRING);
static const uint32_t bound_kinds = K(INT64_NUMBER) | K(UINT64_NUMBER);

static bool check_op(const bjvmi_check *c, const bjvmi_word *at, bjvmi_place place) {
  unsigned kind = BJVMI_OP_KIND(at->op), form = BJVMI_OP_FORM(at->op);
  if (kind >= BJVMI_KIND_COUNT || form >= BJVMI_FORM_COUNT)
    return bjvmi_check_fail(c, &at->op, BJVMI_FAULT_OPCODE);
  if (bound_kinds >> kind & 1) return bjvmi_check_fail(c, &at->op, BJVMI_FAULT_OPCODE_BOUND);
  if (!(file_forms[place][bjvmi_shapes[kind]] >> form & 1))
    return bjvmi_check_fail(c, &at->op, BJVMI_FAULT_FORM);
  return true;
}

static bool check_message_sub(const bjvmi_check *c, const bjvmi_word *at, uint32_t sub) {
  const bjvm_image *image = c->image;
  if (sub >= image->message_count) return bjvmi_check_fail(c, &at->sub, BJVMI_FAULT_SUB_OUTSIDE);
  const bjvmi_message *m = &image->messages[sub];
  bool entry = m->flags & BJVMI_MESSAGE_ENTRY;
  if (bjvmi_shapes[BJVMI_OP_KIND(at->op)] == BJVMI_SHAPE_MAP)
    return entry ? true : bjvmi_check_fail(c, &at->sub, BJVMI_FAULT_MAP_SUB);
  if (entry) return bjvmi_check_fail(c, &at->sub, BJVMI_FAULT_ENTRY_SUB);
  if (m->kind != BJVMI_OP_KIND(at->op)) return bjvmi_check_fail(c, &at->sub, BJVMI_FAULT_SUB_KIND);
  return true;
}

static bool check_sub(const bjvmi_check *c, const bjvmi_word *at) {
  uint32_t sub = bjvmi_le16(at->sub);
  switch ((bjvmi_shape)bjvmi_shapes[BJVMI_OP_KIND(at->op)]) {
    case BJVMI_SHAPE_ENUM:
      return sub < c->image->enum_count ? true : bjvmi_check_fail(c, &at->sub, BJVMI_FAULT_ENUM_OUTSIDE);
    case BJVMI_SHAPE_MESSAGE:
    case BJVMI_SHAPE_MAP: return check_message_sub(c, at, sub);
    case BJVMI_SHAPE_SCALAR:
    case BJVMI_SHAPE_CONTROL: break;
  }
  return sub == 0 ? true : bjvmi_check_fail(c, &at->sub, BJVMI_FAULT_SCALAR_SUB);
}

static void enter_word(bjvmi_check *c, const bjvmi_word *at) {
  c->what = "word";
  c->index = (uint32_t)(at - c->image->words);
}

/* What all words have: a known opcode, its operand, and a place in the message only if the file is
 * prebound. */
static bool check_common(const bjvmi_check *c, const bjvmi_word *at, bjvmi_place place) {
  if (!check_op(c, at, place) || !check_sub(c, at)) return false;
  if (c->image->header->layout == 0) {
    if (at->offset) return bjvmi_check_fail(c, &at->offset, BJVMI_FAULT_PORTABLE_OFFSET);
    if (at->presence) return bjvmi_check_fail(c, &at->presence, BJVMI_FAULT_PORTABLE_PRESENCE);
  }
  return true;
}

static bool check_field(bjvmi_check *c, const bjvmi_word *at, bjvmi_place place, uint32_t below) {
  if (!check_common(c, at, place)) return false;
  uint32_t number = bjvmi_le32(at->number);
  if (number == 0 || number > NUMBER_MAX) return bjvmi_check_fail(c, &at->number, BJVMI_FAULT_NUMBER);
  if (number <= below) return bjvmi_check_fail(c, &at->number, BJVMI_FAULT_NUMBER_ORDER);
  return bjvmi_check_field_name(c, &at->name, bjvmi_le32(at->name), at->name_len);
}

static bool check_end(bjvmi_check *c, const bjvmi_word *at, bjvmi_end_form form) {
  enter_word(c, at);
  if (at->op != BJVMI_OP(BJVMI_KIND_END, form)) return bjvmi_check_fail(c, &at->op, BJVMI_FAULT_NO_END);
  if (at->name_len || at->offset || at->presence || at->sub || at->number || at->name)
    return bjvmi_check_fail(c, at, BJVMI_FAULT_END_OPERANDS);
  return true;
}

static bool check_entry(bjvmi_check *c, const bjvmi_word *words) {
  for (uint32_t i = 0; i < 2; i++) {
    const bjvmi_word *at = &words[i];
    enter_word(c, at);
    if (!check_common(c, at, BJVMI_PLACE_ENTRY)) return false;
    if (i == 0 && !(entry_key_kinds >> BJVMI_OP_KIND(at->op) & 1))
      return bjvmi_check_fail(c, &at->op, BJVMI_FAULT_ENTRY_KEY_KIND);
    if (bjvmi_le32(at->number) != i + 1) return bjvmi_check_fail(c, &at->number, BJVMI_FAULT_ENTRY_NUMBERS);
    if (at->name || at->name_len) return bjvmi_check_fail(c, &at->name, BJVMI_FAULT_ENTRY_FIELD_NAME);
  }
  return check_end(c, &words[2], BJVMI_END_MESSAGE);
}

/* -- Well-known types ----------------------------------------------------------------------------------- */

enum { SINGULAR = F(IMPLICIT) | F(HASBIT) };

#define SCALARS                                                                                              \
  (K(BOOL) | K(INT32) | K(UINT32) | K(INT64) | K(UINT64) | K(FLOAT) | K(DOUBLE) | K(STRING) | K(BYTES))

/* The kinds that the words of the well-known types may be, type after type. */
static const uint32_t well_known_kinds[] = {
    K(INT64),      K(INT32),                                                /* Timestamp, Duration */
    K(STRING),                                                              /* FieldMask */
    SCALARS,                                                                /* wrappers */
    K(MAP),                                                                 /* Struct */
    K(NULL_VALUE), K(DOUBLE), K(STRING), K(BOOL), K(STRUCT), K(LIST_VALUE), /* Value */
    K(VALUE),                                                               /* ListValue */
    K(STRING),     K(BYTES),                                                /* Any */
};

/* The words a well-known type must have, numbered from 1: how many, the form of all, where their kinds
 * are. */
typedef struct well_known {
  uint8_t count;
  uint8_t forms;
  uint8_t first;
} well_known;

static const well_known well_knowns[BJVMI_KIND_COUNT] = {
    [BJVMI_KIND_TIMESTAMP] = {2, SINGULAR, 0},   [BJVMI_KIND_DURATION] = {2, SINGULAR, 0},
    [BJVMI_KIND_FIELD_MASK] = {1, F(ARRAY), 2},  [BJVMI_KIND_WRAPPER] = {1, SINGULAR, 3},
    [BJVMI_KIND_STRUCT] = {1, F(ARRAY), 4},      [BJVMI_KIND_VALUE] = {6, F(ONEOF), 5},
    [BJVMI_KIND_LIST_VALUE] = {1, F(ARRAY), 11}, [BJVMI_KIND_ANY] = {2, SINGULAR, 12},
};

/* The entry of a Struct's map: string to Value. */
static bool is_struct_entry(const bjvm_image *image, const bjvmi_word *map) {
  const bjvmi_message *entry = &image->messages[bjvmi_le16(map->sub)];
  const bjvmi_word *words = image->words + bjvmi_le32(entry->first_word);
  return BJVMI_OP_KIND(words[0].op) == BJVMI_KIND_STRING && BJVMI_OP_KIND(words[1].op) == BJVMI_KIND_VALUE;
}

static bool check_well_known(bjvmi_check *c, const bjvmi_message *record, const bjvmi_word *words) {
  const well_known *expected = &well_knowns[record->kind];
  if (expected->count == 0) return true; /* an ordinary message */
  if (bjvmi_le16(record->word_count) != expected->count)
    return bjvmi_check_fail(c, &record->word_count, BJVMI_FAULT_WELL_KNOWN_COUNT);
  for (uint32_t i = 0; i < expected->count; i++) {
    const bjvmi_word *at = &words[i];
    enter_word(c, at);
    if (bjvmi_le32(at->number) != i + 1)
      return bjvmi_check_fail(c, &at->number, BJVMI_FAULT_WELL_KNOWN_NUMBER);
    if (!(well_known_kinds[expected->first + i] >> BJVMI_OP_KIND(at->op) & 1) ||
        !(expected->forms >> BJVMI_OP_FORM(at->op) & 1))
      return bjvmi_check_fail(c, &at->op, BJVMI_FAULT_WELL_KNOWN_FIELD);
  }
  if (record->kind == BJVMI_KIND_STRUCT && !is_struct_entry(c->image, &words[0]))
    return bjvmi_check_fail(c, &words[0].sub, BJVMI_FAULT_STRUCT_MAP);
  return true;
}

/* -- Runs of words -------------------------------------------------------------------------------------- */

bool bjvmi_check_words(bjvmi_check *c, const bjvmi_message *file_record) {
  const bjvmi_message m = bjvmi_message_native(file_record);
  if (m.flags & BJVMI_MESSAGE_EXTERNAL) return true;
  const bjvmi_word *words = c->image->words + m.first_word;
  if (m.flags & BJVMI_MESSAGE_ENTRY) return check_entry(c, words);

  uint32_t below = 0;
  for (uint32_t i = 0; i < m.word_count; i++) {
    enter_word(c, &words[i]);
    if (!check_field(c, &words[i], BJVMI_PLACE_FIELD, below)) return false;
    below = bjvmi_le32(words[i].number);
  }
  bjvmi_end_form form = m.flags & BJVMI_MESSAGE_EXTENDABLE ? BJVMI_END_EXTENDABLE : BJVMI_END_MESSAGE;
  if (!check_end(c, &words[m.word_count], form)) return false;

  c->what = "message";
  c->index = (uint32_t)(file_record - c->image->messages);
  return check_well_known(c, file_record, words);
}

bool bjvmi_check_extension_words(bjvmi_check *c, const bjvmi_extension *file_record) {
  const bjvmi_word *words = c->image->words + bjvmi_le32(file_record->first_word);
  enter_word(c, words);
  return check_field(c, words, BJVMI_PLACE_EXTENSION, 0) && check_end(c, words + 1, BJVMI_END_EXTENSION);
}
