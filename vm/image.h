/* Records of an image in the machine's byte order, and what each kind of opcode needs.
 *
 * Private to bjvm: for image.c, verify*.c and dump.c. The records themselves stay in the file and are never
 * changed; these copies cost nothing on a little-endian machine.
 */
#ifndef BJVM_IMAGE_H_
#define BJVM_IMAGE_H_

#include "plan.h"

static inline bjvmi_table bjvmi_table_native(const bjvmi_table *t) {
  bjvmi_table n = *t;
  n.first_key = bjvmi_le32(t->first_key);
  n.first_slot = bjvmi_le32(t->first_slot);
  n.seed = bjvmi_le32(t->seed);
  n.key_count = bjvmi_le16(t->key_count);
  return n;
}

static inline bjvmi_message bjvmi_message_native(const bjvmi_message *m) {
  bjvmi_message n = *m;
  n.name = bjvmi_le32(m->name);
  n.name_size = bjvmi_le16(m->name_size);
  n.first_word = bjvmi_le32(m->first_word);
  n.word_count = bjvmi_le16(m->word_count);
  n.required_count = bjvmi_le16(m->required_count);
  n.keys = bjvmi_table_native(&m->keys);
  return n;
}

static inline bjvmi_enum bjvmi_enum_native(const bjvmi_enum *e) {
  bjvmi_enum n = {
      .name = bjvmi_le32(e->name),
      .name_size = bjvmi_le16(e->name_size),
      .flags = bjvmi_le16(e->flags),
      .first_value = bjvmi_le32(e->first_value),
      .value_count = bjvmi_le32(e->value_count),
      .dense_min = (int32_t)bjvmi_le32((uint32_t)e->dense_min),
      .dense_first = bjvmi_le32(e->dense_first),
      .dense_count = bjvmi_le32(e->dense_count),
      .reserved = bjvmi_le32(e->reserved),
      .keys = bjvmi_table_native(&e->keys),
  };
  return n;
}

static inline bjvmi_value bjvmi_value_native(const bjvmi_value *v) {
  return (bjvmi_value){(int32_t)bjvmi_le32((uint32_t)v->number), bjvmi_le32(v->name)};
}

static inline bjvmi_extension bjvmi_extension_native(const bjvmi_extension *x) {
  return (bjvmi_extension){bjvmi_le32(x->first_word), bjvmi_le16(x->extendee), bjvmi_le16(x->name_size),
                           bjvmi_le32(x->name)};
}

/* Slot `at` of a table: 1 + index of a key, or 0. */
static inline uint32_t bjvmi_slot_at(const uint8_t *slots, bool wide, uint32_t at) {
  uint16_t v;
  if (!wide) return slots[at];
  memcpy(&v, slots + 2 * (size_t)at, 2);
  return bjvmi_le16(v);
}

/* bjvmi_key_hash where it need not be inline. */
uint32_t bjvmi_image_hash(uint32_t seed, const char *name, size_t size);

/* Sections: the size of a record, and how it must be aligned in the file. */
typedef struct bjvmi_section_format {
  uint8_t record;
  uint8_t align;
} bjvmi_section_format;
extern const bjvmi_section_format bjvmi_section_formats[BJVMI_SECTION_COUNT];

/* dump.c. The name of a section in listings. */
const char *bjvmi_section_name(bjvmi_section section);

/* What is wrong with a plan file, from fault.def. */
typedef enum bjvmi_fault {
  BJVMI_FAULT_NONE,
#define X(name, number, text) BJVMI_FAULT_##name = number,
#include "fault.def"
#undef X
} bjvmi_fault;

/* fault.c. Fills a report, if there is one: the code, a place in the file, and "what index: sentence" (what
 * NULL: the sentence alone) of the fault. NONE: the text of the code. */
void bjvmi_image_report(bjvm_error *error, bjvm_status code, size_t offset, const char *what, uint32_t index,
                        bjvmi_fault fault);

#endif /* BJVM_IMAGE_H_ */
