/* Mini tables from a plan file's own mini descriptors: messages for a program with neither generated code nor
 * reflection.
 *
 * verify_mini.c first finds the mini descriptors well-formed and in step with the words, so the words tell
 * what each table is linked to; bind.c then checks what upb made of them, as it does with any table. Only the form
 * of upb's builder that takes a buffer is used: the buffer holds all that it may want to note, and the heap
 * is never asked. Kept: a failure leaves nothing behind but used arena memory.
 */
#include <assert.h>
#include <string.h>

#include "bjvm/plan.h"
#include "image.h"
#include "mini.h"
#include "tables.h"
#include "text.h"
#include "upb/mini_descriptor/decode.h"

enum {
  NOTE_SIZE = 16,    /* bytes that upb notes for a field or half a oneof: two numbers of 16 bits, two enums */
  TABLE_EXTRA = 64,  /* spared for each table: alignment, and what a later upb may add */
  ARENA_EXTRA = 256, /* what an arena takes of its block for itself */
};

/* -- Building messages ---------------------------------------------------------------------------------- */

/* A workshop: one block of the caller's arena in which upb builds with an arena of its own. upb 36 follows a
 * NULL when memory runs out between the fields of a table and its links, so the block is as large as all
 * tables need; what is left goes back in the end. */
typedef struct workshop {
  upb_Arena *arena;
  char *block;
  size_t size;
  void *notes;
  size_t notes_size;
} workshop;

/* Bytes of one table: itself, its fields, and a pointer for each field that is linked. */
static size_t table_size(const bjvm_image *image, const bjvmi_message *m) {
  size_t size = sizeof(upb_MiniTable) + TABLE_EXTRA + m->word_count * sizeof(upb_MiniTableField);
  for (uint32_t i = 0; i < m->word_count; i++)
    size += bjvmi_shapes[BJVMI_OP_KIND(image->words[m->first_word + i].op)] != BJVMI_SHAPE_SCALAR
                ? sizeof(void *)
                : 0;
  return size;
}

/* Room for what upb notes while it builds the table of `mini`: two notes for each oneof, one for each other
 * field. A version that notes oneofs alone uses less. */
static size_t notes_size(const bjvmi_message *m, const bjvmi_mini *mini) {
  size_t notes = (size_t)m->word_count + 2;
  for (uint32_t i = 0; i < mini->size; i++) notes += mini->data[i] == '~';
  return notes * NOTE_SIZE;
}

/* Adds up the tables. While upb builds one it takes as many fields and links as its mini descriptor has
 * characters. */
static size_t workshop_size(const bjvm_image *image, size_t *notes) {
  bjvmi_mini_walk walk = bjvmi_mini_begin(image);
  bjvmi_mini mini;
  size_t size = ARENA_EXTRA, longest = 0;
  *notes = 0;
  for (uint32_t i = 0; i < image->message_count && bjvmi_mini_next(&walk, &mini); i++) {
    const bjvmi_message m = bjvmi_message_native(&image->messages[i]);
    size_t its_notes = notes_size(&m, &mini);
    size += table_size(image, &m);
    if (mini.size > longest) longest = mini.size;
    if (its_notes > *notes) *notes = its_notes;
  }
  return size + longest * (sizeof(upb_MiniTableField) + sizeof(void *));
}

static bool workshop_open(workshop *shop, const bjvm_image *image, upb_Arena *arena) {
  size_t wanted = workshop_size(image, &shop->notes_size);
  shop->notes = upb_Arena_Malloc(arena, shop->notes_size);
  shop->size = (wanted + 7) / 8 * 8;
  shop->block = (char *)upb_Arena_Malloc(arena, shop->size);
  shop->arena = shop->notes && shop->block ? upb_Arena_Init(shop->block, shop->size, NULL) : NULL;
  return shop->arena != NULL;
}

/* Gives back what lies behind the last table. The workshop's arena itself lies there too. */
static void workshop_close(workshop *shop, upb_Arena *arena) {
  const char *end = (const char *)upb_Arena_Malloc(shop->arena, 8);
  if (end && end >= shop->block && end < shop->block + shop->size)
    upb_Arena_ShrinkLast(arena, shop->block, shop->size, (size_t)(end - shop->block));
}

/* There is memory enough: what upb refuses is beyond its limits. */
static bjvm_status build_in(workshop *shop, const bjvm_tables *t, bjvmi_mini_walk *walk) {
  bjvmi_mini mini;
  for (uint32_t i = 0; i < t->image->message_count; i++) {
    const void *had = shop->notes;
    if (!bjvmi_mini_next(walk, &mini)) return BJVM_PLAN_CORRUPT;
    if (mini.size == 0) continue;
    t->messages[i] = upb_MiniTable_BuildWithBuf(mini.data, mini.size, kUpb_MiniTablePlatform_Native,
                                                shop->arena, &shop->notes, &shop->notes_size, NULL);
    assert(shop->notes == had);
    (void)had;
    if (!t->messages[i]) return BJVM_PLAN_LIMIT;
  }
  return BJVM_OK;
}

static bjvm_status build_messages(const bjvm_tables *t, bjvmi_mini_walk *walk, upb_Arena *arena) {
  workshop shop;
  if (!workshop_open(&shop, t->image, arena)) return BJVM_OUT_OF_MEMORY;
  bjvm_status status = build_in(&shop, t, walk);
  workshop_close(&shop, arena);
  return status;
}

/* -- Enums ---------------------------------------------------------------------------------------------- */

static bjvm_status build_enums(const bjvm_tables *t, bjvmi_mini_walk *walk, upb_Arena *arena) {
  bjvmi_mini mini;
  for (uint32_t i = 0; i < t->image->enum_count; i++) {
    if (!bjvmi_mini_next(walk, &mini)) return BJVM_PLAN_CORRUPT;
    if (mini.size == 0) continue;
    t->enums[i] = upb_MiniTableEnum_Build(mini.data, mini.size, arena, NULL);
    if (!t->enums[i]) return BJVM_OUT_OF_MEMORY;
  }
  return BJVM_OK;
}

/* -- Linking -------------------------------------------------------------------------------------------- */

/* Links the field of one word. A message of another file has no table, and the field stays without. */
static bool link_word(const bjvm_tables *t, upb_MiniTable *table, const bjvmi_word *file_word) {
  const bjvmi_word w = bjvmi_word_native(file_word);
  upb_MiniTableField *f = (upb_MiniTableField *)(uintptr_t)upb_MiniTable_FindFieldByNumber(table, w.number);
  switch ((bjvmi_shape)bjvmi_shapes[BJVMI_OP_KIND(w.op)]) {
    case BJVMI_SHAPE_ENUM:
      return f && (!t->enums[w.sub] || upb_MiniTable_SetSubEnum(table, f, t->enums[w.sub]));
    case BJVMI_SHAPE_MESSAGE:
    case BJVMI_SHAPE_MAP:
      return f && (!t->messages[w.sub] || upb_MiniTable_SetSubMessage(table, f, t->messages[w.sub]));
    case BJVMI_SHAPE_SCALAR:
    case BJVMI_SHAPE_CONTROL: break;
  }
  return f != NULL;
}

static bjvm_status link_messages(const bjvm_tables *t) {
  for (uint32_t i = 0; i < t->image->message_count; i++) {
    const bjvmi_message m = bjvmi_message_native(&t->image->messages[i]);
    if (!t->messages[i]) continue;
    for (uint32_t k = 0; k < m.word_count; k++)
      if (!link_word(t, t->messages[i], &t->image->words[m.first_word + k])) return BJVM_PLAN_MISMATCH;
  }
  return BJVM_OK;
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

static bool link_extension(const bjvm_tables *t, upb_MiniTableExtension *table, const bjvmi_word *file_word) {
  const bjvmi_word w = bjvmi_word_native(file_word);
  bjvmi_shape shape = (bjvmi_shape)bjvmi_shapes[BJVMI_OP_KIND(w.op)];
  if (shape == BJVMI_SHAPE_ENUM && t->enums[w.sub])
    return upb_MiniTableExtension_SetSubEnum(table, t->enums[w.sub]);
  if (shape == BJVMI_SHAPE_MESSAGE) return upb_MiniTableExtension_SetSubMessage(table, t->messages[w.sub]);
  return true;
}

/* An extension of a message that is not in the file has no table. */
static bjvm_status build_extensions(const bjvm_tables *t, bjvmi_mini_walk *walk, upb_Arena *arena) {
  bjvmi_mini mini;
  for (uint32_t i = 0; i < t->image->extension_count; i++) {
    const bjvmi_extension x = bjvmi_extension_native(&t->image->extensions[i]);
    if (!bjvmi_mini_next(walk, &mini)) return BJVM_PLAN_CORRUPT;
    if (!t->messages[x.extendee]) continue;
    t->extensions[i] =
        upb_MiniTableExtension_Build(mini.data, mini.size, t->messages[x.extendee], arena, NULL);
    if (!t->extensions[i]) return BJVM_OUT_OF_MEMORY;
    if (!link_extension(t, t->extensions[i], &t->image->words[x.first_word])) return BJVM_PLAN_MISMATCH;
  }
  return BJVM_OK;
}

/* -- All of them ---------------------------------------------------------------------------------------- */

static bjvm_tables *tables_new(const bjvm_image *image, upb_Arena *arena) {
  size_t pointers = (size_t)image->message_count + image->enum_count + image->extension_count;
  bjvm_tables *t = (bjvm_tables *)upb_Arena_Malloc(arena, sizeof *t + pointers * sizeof(void *));
  if (!t) return NULL;
  memset(t, 0, sizeof *t + pointers * sizeof(void *));
  t->image = image;
  t->messages = (upb_MiniTable **)(t + 1);
  t->enums = (upb_MiniTableEnum **)(t->messages + image->message_count);
  t->extensions = (upb_MiniTableExtension **)(t->enums + image->enum_count);
  return t;
}

static bjvm_status build(const bjvm_tables *t, upb_Arena *arena) {
  bjvmi_mini_walk walk = bjvmi_mini_begin(t->image);
  bjvm_status status = build_messages(t, &walk, arena);
  if (status == BJVM_OK) status = build_enums(t, &walk, arena);
  if (status == BJVM_OK) status = link_messages(t);
  return status == BJVM_OK ? build_extensions(t, &walk, arena) : status;
}

static bjvm_status fail(bjvm_error *error, bjvm_status status, bjvmi_fault fault) {
  bjvmi_image_report(error, status, 0, NULL, 0, fault);
  return status;
}

bjvm_status bjvm_image_build_tables(const bjvm_image *image, upb_Arena *arena, const bjvm_tables **tables,
                                    bjvm_error *error) {
  if (!image || !arena || !tables) return fail(error, BJVM_BAD_ARGUMENT, BJVMI_FAULT_ARGUMENT_NULL);
  *tables = NULL;
  if (!bjvm_image_has_tables(image)) return fail(error, BJVM_PLAN_UNBOUND, BJVMI_FAULT_NO_MINIS);
  if (bjvmi_verify_mini(image, error) != BJVM_OK) return BJVM_PLAN_CORRUPT;
  bjvm_tables *t = tables_new(image, arena);
  if (!t) return fail(error, BJVM_OUT_OF_MEMORY, BJVMI_FAULT_NO_TABLE_MEMORY);
  bjvm_status status = build(t, arena);
  if (status != BJVM_OK) return fail(error, status, BJVMI_FAULT_TABLES_NOT_BUILT);
  *tables = t;
  return BJVM_OK;
}

bool bjvm_image_has_tables(const bjvm_image *image) { return image && image->mini_size > 0; }

const upb_MiniTable *bjvm_tables_message(const bjvm_tables *tables, const char *full_name) {
  int index = tables ? bjvmi_image_find_message(tables->image, full_name) : -1;
  return index < 0 ? NULL : tables->messages[index];
}

size_t bjvm_tables_extension_count(const bjvm_tables *tables) {
  return tables ? tables->image->extension_count : 0;
}

const upb_MiniTableExtension *bjvm_tables_extension(const bjvm_tables *tables, size_t index) {
  return index < bjvm_tables_extension_count(tables) ? tables->extensions[index] : NULL;
}

bjvm_status bjvm_image_bind_own(const bjvm_image *image, const char *full_name, upb_Arena *arena,
                                const bjvm_plan **plan, bjvm_error *error) {
  const bjvm_tables *tables;
  if (!plan) return fail(error, BJVM_BAD_ARGUMENT, BJVMI_FAULT_ARGUMENT_NULL);
  *plan = NULL;
  bjvm_status status = bjvm_image_build_tables(image, arena, &tables, error);
  if (status != BJVM_OK) return status;
  const upb_MiniTable *table = bjvm_tables_message(tables, full_name);
  if (!table) return fail(error, BJVM_PLAN_UNBOUND, BJVMI_FAULT_NO_TYPE);
  return bjvm_image_bind(image, full_name, table, arena, plan, error);
}
