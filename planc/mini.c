/* upb's mini descriptors: into the plan file, and as the source of a layout that words are prebound for.
 *
 * upb itself encodes them from its definitions. A layout is what upb's builder makes of one for a platform
 * with pointers of 32 or 64 bits, on whatever machine the compiler runs. Kept: mini descriptors go into the
 * section in the order vm/mini.h walks it; the words are those of a portable file but for offset and
 * presence.
 */
#include "compiler.h"

#include "mini.h"
#include "upb/mini_descriptor/decode.h"
#include "upb_layout.h"

static void no_memory(bjvmi_compiler *c) {
  bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory for a mini descriptor");
}

static upb_StringView of_message(bjvmi_compiler *c, const upb_MessageDef *def) {
  upb_StringView mini = {NULL, 0};
  if (!upb_MessageDef_MiniDescriptorEncode(def, c->temp, &mini)) no_memory(c);
  return mini;
}

/* -- The section ---------------------------------------------------------------------------------------- */

/* Appends a mini descriptor behind its length. */
static void put(bjvmi_compiler *c, upb_StringView mini) {
  bjvmi_bytes *section = &c->sections[BJVMI_SECTION_MINI];
  size_t rest = mini.size;
  if (rest >> (7 * BJVMI_MINI_LENGTH_MAX)) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "its mini descriptor is longer than a plan can hold");
    return;
  }
  do {
    char *to = bjvmi_bytes_add(c, section, 1);
    if (to == NULL) return;
    *to = (char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  char *to = bjvmi_bytes_add(c, section, mini.size);
  if (to != NULL && mini.size > 0) memcpy(to, mini.data, mini.size);
}

static void put_message(bjvmi_compiler *c, const bjvmi_type *type) {
  upb_StringView mini = {NULL, 0};
  c->subject = upb_MessageDef_FullName(type->def);
  if (type->record.word_count > BJVMI_MINI_FIELDS_MAX)
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "more fields than a mini table can have");
  if (!(type->record.flags & BJVMI_MESSAGE_EXTERNAL)) mini = of_message(c, type->def);
  put(c, mini);
}

static void put_enum(bjvmi_compiler *c, const upb_EnumDef *def) {
  upb_StringView mini = {NULL, 0};
  c->subject = upb_EnumDef_FullName(def);
  if (upb_EnumDef_IsClosed(def) && !upb_EnumDef_MiniDescriptorEncode(def, c->temp, &mini)) no_memory(c);
  put(c, mini);
}

static void put_extension(bjvmi_compiler *c, const upb_FieldDef *def) {
  upb_StringView mini = {NULL, 0};
  c->subject = upb_FieldDef_FullName(def);
  if (!upb_FieldDef_MiniDescriptorEncode(def, c->temp, &mini)) no_memory(c);
  put(c, mini);
}

void bjvmi_mini_compile(bjvmi_compiler *c) {
  if (!(c->flags & BJVM_COMPILE_MINI)) return;
  for (uint32_t i = 0; i < bjvmi_type_count(c) && c->status == BJVM_OK; i++)
    put_message(c, bjvmi_type_at(c, i));
  for (uint32_t i = 0; i < bjvmi_enum_count(c) && c->status == BJVM_OK; i++)
    put_enum(c, bjvmi_enum_def(c, i));
  const upb_FieldDef **extensions = (const upb_FieldDef **)(void *)c->extensions.data;
  size_t count = c->extensions.size / sizeof *extensions;
  for (size_t i = 0; i < count && c->status == BJVM_OK; i++) put_extension(c, extensions[i]);
}

/* -- Layouts -------------------------------------------------------------------------------------------- */

/* The mini table of a message as it would be on the platform. Only its numbers may be looked at. NULL after a
 * failure. It is built in a block that holds all upb can want, as vm/tables.c does and says why. */
static const upb_MiniTable *build(bjvmi_compiler *c, const bjvmi_type *type, upb_MiniTablePlatform platform) {
  enum { NOTE_SIZE = 16, FIELD_SIZE = sizeof(upb_MiniTableField) + sizeof(void *), EXTRA = 512 };
  upb_StringView mini = of_message(c, type->def);
  if (c->status != BJVM_OK) return NULL;
  size_t notes_size = (2 * mini.size + 2) * NOTE_SIZE;
  size_t size = mini.size * FIELD_SIZE + EXTRA;
  void *notes = upb_Arena_Malloc(c->temp, notes_size);
  void *block = upb_Arena_Malloc(c->temp, size);
  upb_Arena *arena = notes != NULL && block != NULL ? upb_Arena_Init(block, size, NULL) : NULL;
  const upb_MiniTable *table = NULL;
  if (arena != NULL)
    table = upb_MiniTable_BuildWithBuf(mini.data, mini.size, platform, arena, &notes, &notes_size, NULL);
  if (table == NULL) no_memory(c);
  return table;
}

/* Fills in one word and adds to the fingerprint. */
static void prebind_word(bjvmi_compiler *c, const upb_MiniTable *table, bjvmi_word *w) {
  const upb_MiniTableField *f = upb_MiniTable_FindFieldByNumber(table, bjvmi_le32(w->number));
  if (f == NULL) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "its mini descriptor lacks a field");
    return;
  }
  w->offset = bjvmi_le16(bjvmi_upb_offset(f));
  w->presence = bjvmi_le16(bjvmi_upb_presence(f));
  const uint64_t piece[2] = {bjvmi_le64(c->layout),
                             bjvmi_le64((uint64_t)bjvmi_upb_offset(f) << 16 | bjvmi_upb_presence(f))};
  c->layout = bjvmi_checksum(piece, sizeof piece);
}

void bjvmi_mini_prebind(bjvmi_compiler *c) {
  bool is_32 = (c->flags & BJVM_COMPILE_ABI32) != 0;
  if (!(c->flags & (BJVM_COMPILE_ABI32 | BJVM_COMPILE_ABI64)) || c->status != BJVM_OK) return;
  bjvmi_word *words = (bjvmi_word *)(void *)c->sections[BJVMI_SECTION_WORDS].data;
  c->layout = is_32 ? 32 : 64;
  for (uint32_t i = 0; i < bjvmi_type_count(c) && c->status == BJVM_OK; i++) {
    const bjvmi_type *type = bjvmi_type_at(c, i);
    if (type->record.flags & (BJVMI_MESSAGE_EXTERNAL | BJVMI_MESSAGE_ENTRY)) continue;
    c->subject = upb_MessageDef_FullName(type->def);
    const upb_MiniTable *table =
        build(c, type, is_32 ? kUpb_MiniTablePlatform_32Bit : kUpb_MiniTablePlatform_64Bit);
    for (uint32_t k = 0; k < type->record.word_count && c->status == BJVM_OK; k++)
      prebind_word(c, table, &words[type->record.first_word + k]);
  }
  if (c->layout == 0) c->layout = 1; /* 0 is no layout */
}
