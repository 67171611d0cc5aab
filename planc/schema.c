/* From descriptors to words: which message types a plan has, and what each of their fields becomes.
 *
 * Types are put on a list when first met and worked off in that order, breadth first, so that no schema,
 * however deep or cyclic, makes the compiler recurse, and the order depends on nothing but the descriptors.
 * Words refer to types by their place on the list, which is known before the type itself is compiled.
 */
#include "compiler.h"

#include <stdlib.h>
#include <string.h>

/* -- The list of types ---------------------------------------------------------------------------------- */

uint32_t bjvmi_schema_type(bjvmi_compiler *c, const upb_MessageDef *def, bool external) {
  uint32_t hash = bjvmi_pointer_hash(def);
  uint32_t at = hash;
  for (uint32_t i; (i = bjvmi_map_next(&c->type_map, hash, &at)) != BJVMI_NONE;)
    if (bjvmi_type_at(c, i)->def == def) return i;
  uint32_t index = bjvmi_type_count(c);
  if (index >= BJVMI_INDEX_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, upb_MessageDef_FullName(def), "more message types than a plan can hold");
    return BJVMI_NONE;
  }
  bjvmi_type *type = bjvmi_bytes_add(c, &c->types, sizeof *type);
  if (type == NULL) return BJVMI_NONE;
  memset(type, 0, sizeof *type);
  type->def = def;
  bool entry = upb_MessageDef_IsMapEntry(def);
  type->record.kind = entry ? BJVMI_KIND_MESSAGE : bjvmi_wellknown_kind(def);
  if (external) type->record.flags = BJVMI_MESSAGE_EXTERNAL;
  else if (entry) type->record.flags = BJVMI_MESSAGE_ENTRY;
  else if (upb_MessageDef_ExtensionRangeCount(def) > 0) type->record.flags = BJVMI_MESSAGE_EXTENDABLE;
  bjvmi_map_insert(c, &c->type_map, hash, index);
  return index;
}

/* Whether `def`, flagged a map entry, has the two fields that a map opcode counts on. A descriptor set can
 * say anything; protoc itself makes no others. */
static bool is_entry_shaped(const upb_MessageDef *def) {
  const upb_FieldDef *key = upb_MessageDef_FindFieldByNumber(def, 1);
  const upb_FieldDef *value = upb_MessageDef_FindFieldByNumber(def, 2);
  if (upb_MessageDef_FieldCount(def) != 2 || upb_MessageDef_ExtensionRangeCount(def) > 0) return false;
  if (key == NULL || upb_FieldDef_IsRepeated(key) || upb_FieldDef_RealContainingOneof(key) != NULL)
    return false;
  if (value == NULL || upb_FieldDef_IsRepeated(value) || upb_FieldDef_RealContainingOneof(value) != NULL)
    return false;
  switch (bjvmi_schema_scalar(key)) {
    case BJVMI_KIND_BOOL:
    case BJVMI_KIND_INT32:
    case BJVMI_KIND_UINT32:
    case BJVMI_KIND_INT64:
    case BJVMI_KIND_UINT64:
    case BJVMI_KIND_STRING: return true;
    default: return false;
  }
}

/* The index of the type of a message field. Map entries are never external: a map opcode needs their
 * words. */
static uint32_t sub_type(bjvmi_compiler *c, const upb_FieldDef *f) {
  const upb_MessageDef *def = upb_FieldDef_MessageSubDef(f);
  bool entry = upb_MessageDef_IsMapEntry(def);
  if (entry && (!upb_FieldDef_IsMap(f) || !is_entry_shaped(def))) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, upb_FieldDef_FullName(f), "a map entry that is not part of a proper map");
    return BJVMI_NONE;
  }
  return bjvmi_schema_type(c, def, (c->flags & BJVM_COMPILE_SHALLOW) && !entry);
}

/* -- Words ---------------------------------------------------------------------------------------------- */

uint8_t bjvmi_schema_scalar(const upb_FieldDef *f) {
  switch (upb_FieldDef_Type(f)) {
    case kUpb_FieldType_Bool: return BJVMI_KIND_BOOL;
    case kUpb_FieldType_Int32:
    case kUpb_FieldType_SInt32:
    case kUpb_FieldType_SFixed32: return BJVMI_KIND_INT32;
    case kUpb_FieldType_UInt32:
    case kUpb_FieldType_Fixed32: return BJVMI_KIND_UINT32;
    case kUpb_FieldType_Int64:
    case kUpb_FieldType_SInt64:
    case kUpb_FieldType_SFixed64: return BJVMI_KIND_INT64;
    case kUpb_FieldType_UInt64:
    case kUpb_FieldType_Fixed64: return BJVMI_KIND_UINT64;
    case kUpb_FieldType_Float: return BJVMI_KIND_FLOAT;
    case kUpb_FieldType_Double: return BJVMI_KIND_DOUBLE;
    case kUpb_FieldType_String: return BJVMI_KIND_STRING;
    case kUpb_FieldType_Bytes: return BJVMI_KIND_BYTES;
    case kUpb_FieldType_Enum:
    case kUpb_FieldType_Group:
    case kUpb_FieldType_Message: break;
  }
  return BJVMI_KIND_COUNT;
}

/* The kind of a field, and the record it needs in *sub. */
static uint8_t field_kind(bjvmi_compiler *c, const upb_FieldDef *f, uint16_t *sub) {
  uint8_t kind = bjvmi_schema_scalar(f);
  *sub = 0;
  if (kind != BJVMI_KIND_COUNT) return kind;
  bool is_enum = upb_FieldDef_IsEnum(f);
  uint32_t index = is_enum ? bjvmi_enums_index(c, upb_FieldDef_EnumSubDef(f)) : sub_type(c, f);
  if (index == BJVMI_NONE) return 0;
  *sub = (uint16_t)index;
  if (is_enum) return bjvmi_enums_kind(c, index);
  return upb_FieldDef_IsMap(f) ? BJVMI_KIND_MAP : bjvmi_type_at(c, index)->record.kind;
}

/* How a field of an ordinary message is there. A synthetic oneof (proto3 `optional`) is a hasbit. */
static uint8_t field_form(const upb_FieldDef *f) {
  if (upb_FieldDef_IsRepeated(f)) return BJVMI_FORM_ARRAY;
  if (upb_FieldDef_RealContainingOneof(f) != NULL) return BJVMI_FORM_ONEOF;
  return upb_FieldDef_HasPresence(f) ? BJVMI_FORM_HASBIT : BJVMI_FORM_IMPLICIT;
}

/* Appends a word; `name` NULL: it has none. */
static void put_word(bjvmi_compiler *c, uint8_t op, uint16_t sub, uint32_t number, const bjvmi_name *name) {
  bjvmi_word *word = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_WORDS], sizeof *word);
  if (word == NULL) return;
  memset(word, 0, sizeof *word);
  word->op = op;
  word->sub = bjvmi_le16(sub);
  word->number = bjvmi_le32(number);
  if (name == NULL) return;
  word->name = bjvmi_le32(name->offset);
  if (name->length <= UINT8_MAX) word->name_len = (uint8_t)name->length;
}

static void put_field(bjvmi_compiler *c, const upb_FieldDef *f, uint8_t form, const bjvmi_name *name) {
  uint16_t sub;
  uint8_t kind = field_kind(c, f, &sub);
  put_word(c, BJVMI_OP(kind, form), sub, upb_FieldDef_Number(f), name);
}

static void put_end(bjvmi_compiler *c, uint8_t form) {
  put_word(c, BJVMI_OP(BJVMI_KIND_END, form), 0, 0, NULL);
}

static uint32_t word_count(const bjvmi_compiler *c) {
  return (uint32_t)(c->sections[BJVMI_SECTION_WORDS].size / sizeof(bjvmi_word));
}

/* -- Messages ------------------------------------------------------------------------------------------- */

/* A field at work, with the names it is read by. */
typedef struct member {
  const upb_FieldDef *def;
  uint32_t number;
  uint32_t raw;
  uint32_t alt;
} member;

static int compare_members(const void *a, const void *b) {
  uint32_t x = ((const member *)a)->number;
  uint32_t y = ((const member *)b)->number;
  return x < y ? -1 : x > y;
}

/* The fields by number, in c->scratch. NULL when there are none, or after a failure. */
static member *sorted_members(bjvmi_compiler *c, const upb_MessageDef *def, uint32_t count) {
  member *members = bjvmi_bytes_reserve(c, &c->scratch, (size_t)count * sizeof *members);
  if (members == NULL) return NULL;
  bool sorted = true;
  for (uint32_t i = 0; i < count; i++) {
    const upb_FieldDef *f = upb_MessageDef_Field(def, (int)i);
    members[i] = (member){f, upb_FieldDef_Number(f), BJVMI_NONE, BJVMI_NONE};
    sorted = sorted && (i == 0 || members[i - 1].number < members[i].number);
  }
  if (!sorted) qsort(members, count, sizeof *members, compare_members);
  return members;
}

/* JSON names first: a .proto name that is another field's JSON name is not read as its own field. */
static bjvmi_table put_keys(bjvmi_compiler *c, const member *members, uint32_t count) {
  bjvmi_keys_begin(c);
  for (uint32_t i = 0; i < count; i++) bjvmi_keys_add(c, members[i].raw, i);
  for (uint32_t i = 0; i < count; i++) bjvmi_keys_add(c, members[i].alt, i);
  return bjvmi_keys_end(c);
}

/* Appends the words of a message or a map entry and returns its number of required fields. */
static uint16_t put_fields(bjvmi_compiler *c, member *members, uint32_t count, bool entry) {
  uint32_t required = 0;
  for (uint32_t i = 0; i < count && c->status == BJVM_OK; i++) {
    const upb_FieldDef *f = members[i].def;
    if (entry) {
      put_field(c, f, BJVMI_FORM_ALWAYS, NULL);
      continue;
    }
    c->subject = upb_FieldDef_FullName(f);
    bjvmi_name name = bjvmi_names_field(c, upb_FieldDef_JsonName(f), upb_FieldDef_Name(f));
    members[i].raw = name.raw;
    members[i].alt = name.alt;
    put_field(c, f, field_form(f), &name);
    if (upb_FieldDef_IsRequired(f)) required++;
  }
  return (uint16_t)required;
}

static void compile_words(bjvmi_compiler *c, const upb_MessageDef *def, bjvmi_message *record) {
  bool entry = (record->flags & BJVMI_MESSAGE_ENTRY) != 0;
  uint32_t count = (uint32_t)upb_MessageDef_FieldCount(def);
  if (count > BJVMI_INDEX_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "the message has more fields than a plan can hold");
    return;
  }
  member *members = sorted_members(c, def, count);
  record->first_word = word_count(c);
  record->word_count = (uint16_t)count;
  record->required_count = put_fields(c, members, count, entry);
  put_end(c, record->flags & BJVMI_MESSAGE_EXTENDABLE ? BJVMI_END_EXTENDABLE : BJVMI_END_MESSAGE);
  c->subject = upb_MessageDef_FullName(def);
  if (!entry && c->status == BJVM_OK) record->keys = put_keys(c, members, count);
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

void bjvmi_schema_extension(bjvmi_compiler *c, const upb_FieldDef *extension) {
  uint16_t sub;
  const upb_FieldDef **slot = bjvmi_bytes_add(c, &c->extensions, sizeof *slot);
  if (slot == NULL) return;
  *slot = extension;
  bjvmi_schema_type(c, upb_FieldDef_ContainingType(extension), true);
  field_kind(c, extension, &sub);
}

static int compare_extensions(const void *a, const void *b) {
  const upb_FieldDef *x = *(const upb_FieldDef *const *)a;
  const upb_FieldDef *y = *(const upb_FieldDef *const *)b;
  return strcmp(upb_FieldDef_FullName(x), upb_FieldDef_FullName(y));
}

/* Notes all extensions of `def` that the pool knows. upb 36 does not survive running out of memory inside
 * GetAllExtensions, and offers no other way to walk them. */
static void note_extensions(bjvmi_compiler *c, const upb_MessageDef *def) {
  size_t count = 0;
  const upb_DefPool *pool = upb_FileDef_Pool(upb_MessageDef_File(def));
  const upb_FieldDef **all = upb_DefPool_GetAllExtensions(pool, def, &count);
  if (all == NULL) {
    if (count > 0) bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory to compile a plan");
    return;
  }
  if (count > 1) qsort(all, count, sizeof *all, compare_extensions);
  for (size_t i = 0; i < count && c->status == BJVM_OK; i++) bjvmi_schema_extension(c, all[i]);
  upb_gfree(all);
}

static void compile_extension(bjvmi_compiler *c, const upb_FieldDef *f) {
  c->subject = upb_FieldDef_FullName(f);
  uint32_t extendee = bjvmi_schema_type(c, upb_FieldDef_ContainingType(f), true);
  bjvmi_name name = bjvmi_names_extension(c, c->subject);
  bjvmi_extension *record = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_EXTENSIONS], sizeof *record);
  if (record == NULL) return;
  record->first_word = bjvmi_le32(word_count(c));
  record->extendee = bjvmi_le16((uint16_t)extendee);
  record->name_size = bjvmi_le16((uint16_t)bjvmi_raw_at(c, name.raw)->size);
  record->name = bjvmi_le32(bjvmi_raw_at(c, name.raw)->offset);
  put_field(c, f, upb_FieldDef_IsRepeated(f) ? BJVMI_FORM_ARRAY : BJVMI_FORM_ALWAYS, &name);
  put_end(c, BJVMI_END_EXTENSION);
}

/* -- All of it ------------------------------------------------------------------------------------------ */

static void compile_type(bjvmi_compiler *c, uint32_t index) {
  const upb_MessageDef *def = bjvmi_type_at(c, index)->def;
  bjvmi_message record = bjvmi_type_at(c, index)->record;
  c->subject = upb_MessageDef_FullName(def);
  if (!(record.flags & BJVMI_MESSAGE_ENTRY)) record.name = bjvmi_names_full(c, c->subject);
  if (c->status != BJVM_OK) return;
  if (!(record.flags & BJVMI_MESSAGE_EXTERNAL)) compile_words(c, def, &record);
  if (record.flags & BJVMI_MESSAGE_EXTENDABLE && c->flags & BJVM_COMPILE_EXTENSIONS) note_extensions(c, def);
  /* Only now: the list may have moved while the type was compiled. */
  bjvmi_type_at(c, index)->record = record;
}

void bjvmi_schema_compile(bjvmi_compiler *c) {
  for (uint32_t i = 0; i < bjvmi_type_count(c) && c->status == BJVM_OK; i++) compile_type(c, i);
  const upb_FieldDef **extensions = (const upb_FieldDef **)(void *)c->extensions.data;
  size_t count = c->extensions.size / sizeof *extensions;
  /* Sorted over all extendees, so that a full name can be looked up by bisection. */
  if (count > 1) qsort(extensions, count, sizeof *extensions, compare_extensions);
  for (size_t i = 0; i < count && c->status == BJVM_OK; i++) compile_extension(c, extensions[i]);
}
