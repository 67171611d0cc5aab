/* The two entry points of the plan compiler, and the layout of the file.
 *
 * What the other files leave in the sections is laid end to end behind header and section table, each on an
 * 8-byte boundary, in the caller's arena. Everything else lives in a temporary arena and is gone when a call
 * returns. The bytes depend on the descriptors and flags alone: no address, hash order or byte order of the
 * machine gets into them.
 */
#include "compiler.h"

#include <stdio.h>
#include <string.h>

void bjvmi_fail(bjvmi_compiler *c, bjvm_status status, const char *subject, const char *message) {
  if (c->status != BJVM_OK) return;
  c->status = status;
  bjvm_error *error = c->error;
  if (error == NULL) return;
  memset(error, 0, sizeof *error);
  error->code = status;
  if (subject != NULL) {
    int size = snprintf(error->path, sizeof error->path, "%s", subject);
    if (size >= (int)sizeof error->path) memcpy(error->path + sizeof error->path - 4, "...", 4);
  }
  snprintf(error->message, sizeof error->message, "%s", message);
}

/* -- Records -------------------------------------------------------------------------------------------- */

static void put_messages(bjvmi_compiler *c) {
  for (uint32_t i = 0; i < bjvmi_type_count(c) && c->status == BJVM_OK; i++) {
    bjvmi_message record = bjvmi_type_at(c, i)->record;
    if (!(record.flags & BJVMI_MESSAGE_ENTRY)) {
      const bjvmi_full_name *name = bjvmi_full_name_at(c, record.name);
      record.name = bjvmi_le32(name->offset);
      record.name_size = bjvmi_le16((uint16_t)name->size);
    }
    record.first_word = bjvmi_le32(record.first_word);
    record.word_count = bjvmi_le16(record.word_count);
    record.required_count = bjvmi_le16(record.required_count);
    record.keys = bjvmi_keys_le(&record.keys);
    void *to = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_MESSAGES], sizeof record);
    if (to != NULL) memcpy(to, &record, sizeof record);
  }
}

static void put_root(bjvmi_compiler *c, uint32_t index) {
  uint32_t *root = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_ROOTS], sizeof *root);
  if (root != NULL) *root = bjvmi_le32(index);
}

/* -- The file ------------------------------------------------------------------------------------------- */

static size_t align_up(size_t size) {
  return (size + BJVMI_PLAN_ALIGN - 1) & ~(size_t)(BJVMI_PLAN_ALIGN - 1);
}

/* Mini descriptors, or a layout: what the first version of the format does not have. */
static bool is_plain(const bjvmi_compiler *c) {
  return c->sections[BJVMI_SECTION_MINI].size == 0 && c->layout == 0;
}

/* Without mini descriptors their section, the last one, is left out. */
static uint32_t section_count(const bjvmi_compiler *c) {
  return c->sections[BJVMI_SECTION_MINI].size > 0 ? BJVMI_SECTION_COUNT : BJVMI_SECTION_MINI;
}

static size_t table_end(const bjvmi_compiler *c) {
  return BJVMI_HEADER_SIZE + section_count(c) * sizeof(bjvmi_section_entry);
}

/* Fills the section table and returns the size of the file. */
static size_t lay_out(const bjvmi_compiler *c, bjvmi_section_entry *table) {
  size_t end = table_end(c);
  for (uint32_t i = 0; i < section_count(c); i++) {
    size_t offset = align_up(end);
    end = offset + c->sections[i].size;
    table[i].kind = bjvmi_le32(i);
    table[i].offset = bjvmi_le32((uint32_t)offset);
    table[i].size = bjvmi_le32((uint32_t)c->sections[i].size);
    /* Offsets inside the pool have wrapped by then, and nobody gets to see them. */
    if (end > UINT32_MAX || end < c->sections[i].size) return SIZE_MAX;
  }
  return end;
}

/* The lowest that has all that is in the file. */
static uint16_t minor_version(const bjvmi_compiler *c) {
  if (c->derived) return BJVMI_FORMAT_MINOR;
  return is_plain(c) ? BJVMI_FORMAT_MINOR_PLAIN : BJVMI_FORMAT_MINOR_MINI;
}

static void write_header(const bjvmi_compiler *c, char *file, size_t size) {
  bjvmi_header header = {0};
  memcpy(header.magic, BJVMI_MAGIC, sizeof header.magic);
  header.major = bjvmi_le16(BJVMI_FORMAT_MAJOR);
  header.minor = bjvmi_le16(minor_version(c));
  header.total_size = bjvmi_le32((uint32_t)size);
  header.section_count = bjvmi_le32(section_count(c));
  header.schema = bjvmi_le64(c->schema);
  header.layout = bjvmi_le64(c->layout);
  if (c->layout)
    header.flags = bjvmi_le32(c->flags & BJVM_COMPILE_ABI32 ? BJVMI_HEADER_32BIT : BJVMI_HEADER_64BIT);
  memcpy(file, &header, sizeof header);
  header.checksum = bjvmi_le64(bjvmi_checksum(file + BJVMI_CHECKSUM_FROM, size - BJVMI_CHECKSUM_FROM));
  memcpy(file, &header, sizeof header);
}

/* Puts the file together in `arena`. */
static void write_file(bjvmi_compiler *c, upb_Arena *arena, const void **data, size_t *size) {
  if (c->status != BJVM_OK) return;
  bjvmi_section_entry table[BJVMI_SECTION_COUNT];
  size_t total = lay_out(c, table);
  if (total == SIZE_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, NULL, "the plan is larger than 4 GiB");
    return;
  }
  char *file = upb_Arena_Malloc(arena, total);
  if (file == NULL) {
    bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory for the plan");
    return;
  }
  memset(file, 0, total);
  memcpy(file + BJVMI_HEADER_SIZE, table, section_count(c) * sizeof table[0]);
  for (uint32_t i = 0; i < section_count(c); i++) {
    const bjvmi_bytes *section = &c->sections[i];
    if (section->size > 0) memcpy(file + bjvmi_le32(table[i].offset), section->data, section->size);
  }
  write_header(c, file, total);
  *data = file;
  *size = total;
}

/* -- Entry points --------------------------------------------------------------------------------------- */

static bool begin(bjvmi_compiler *c, uint32_t flags, bjvm_error *error) {
  memset(c, 0, sizeof *c);
  c->flags = flags;
  c->error = error;
  c->temp = upb_Arena_New();
  if (c->temp == NULL) {
    bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory to compile a plan");
    return false;
  }
  bjvmi_names_begin(c);
  return true;
}

/* Of what is in the sections when neither mini descriptors nor a layout are: these make no other schema. */
static void fingerprint(bjvmi_compiler *c) {
  for (uint32_t i = 0; i < BJVMI_SECTION_MINI && c->status == BJVM_OK; i++) {
    const bjvmi_bytes *section = &c->sections[i];
    const uint64_t piece[2] = {bjvmi_le64(c->schema),
                               bjvmi_le64(bjvmi_checksum(section->data, section->size))};
    c->schema = bjvmi_checksum(piece, sizeof piece);
  }
}

/* Compiles what has been put on the lists, writes the file and frees the temporary arena. */
static bjvm_status finish(bjvmi_compiler *c, upb_Arena *arena, const void **data, size_t *size) {
  bjvmi_schema_compile(c);
  bjvmi_enums_compile(c);
  bjvmi_names_place_full(c);
  bjvmi_enums_place_names(c);
  bjvmi_names_end(c);
  put_messages(c);
  fingerprint(c);
  bjvmi_mini_compile(c);
  bjvmi_mini_prebind(c);
  write_file(c, arena, data, size);
  upb_Arena_Free(c->temp);
  return c->status;
}

static void refuse_null(bjvmi_compiler *c) { bjvmi_fail(c, BJVM_BAD_ARGUMENT, NULL, "an argument is NULL"); }

static void add_root(bjvmi_compiler *c, const upb_MessageDef *root) {
  if (!root) {
    refuse_null(c);
    return;
  }
  if (upb_MessageDef_IsMapEntry(root)) {
    /* Its record has no names: it cannot be printed or read by itself. */
    bjvmi_fail(c, BJVM_BAD_ARGUMENT, upb_MessageDef_FullName(root), "a map entry has no plan of its own");
    return;
  }
  uint32_t before = bjvmi_type_count(c);
  uint32_t index = bjvmi_schema_type(c, root, false);
  if (index == before) put_root(c, index);
}

bjvm_status bjvm_compile(const upb_MessageDef *const *roots, size_t count, uint32_t flags, upb_Arena *arena,
                         const void **data, size_t *size, bjvm_error *error) {
  bjvmi_compiler c;
  if (!begin(&c, flags, error)) return c.status;
  const uint32_t both = BJVM_COMPILE_ABI32 | BJVM_COMPILE_ABI64;
  const uint32_t known = BJVM_COMPILE_SHALLOW | BJVM_COMPILE_EXTENSIONS | BJVM_COMPILE_MINI | both;
  if (!roots || !arena || !data || !size) refuse_null(&c);
  if (count == 0) bjvmi_fail(&c, BJVM_BAD_ARGUMENT, NULL, "no message type was given");
  if (flags & ~known) bjvmi_fail(&c, BJVM_BAD_ARGUMENT, NULL, "a flag that this library does not know");
  if ((flags & both) == both)
    bjvmi_fail(&c, BJVM_BAD_ARGUMENT, NULL, "a plan can be laid out for one ABI only");
  for (size_t i = 0; i < count && c.status == BJVM_OK; i++) add_root(&c, roots[i]);
  return finish(&c, arena, data, size);
}

bjvm_status bjvm_compile_extension(const upb_FieldDef *extension, upb_Arena *arena, const void **data,
                                   size_t *size, bjvm_error *error) {
  bjvmi_compiler c;
  if (!begin(&c, BJVM_COMPILE_SHALLOW, error)) return c.status;
  if (!extension || !arena || !data || !size) refuse_null(&c);
  else if (upb_FieldDef_IsExtension(extension)) bjvmi_schema_extension(&c, extension);
  else bjvmi_fail(&c, BJVM_BAD_ARGUMENT, upb_FieldDef_FullName(extension), "not an extension");
  return finish(&c, arena, data, size);
}
