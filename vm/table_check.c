/* Whether a mini table is one that messages can be laid out by: the part of binding that looks at a table
 * alone.
 *
 * Tables come from generated code, from reflection, or from a file (tables.c); the VMs read and write where
 * they say. bind.c asks here once for each message it binds. Kept: in a table that passes, fields are sorted
 * as upb's search expects, all they use lies inside the message, no two fields share a byte or a hasbit, and
 * members of one oneof share theirs with one another only; so a pointer is never anything that was stored as
 * something else. Takes linear time and 800 bytes of stack.
 */
#include "bind.h"
#include "upb_layout.h"

enum {
  WINDOW = 256, /* bytes of the message looked at in one go */
  OWNER_FREE = 0,
  OWNER_FIELD = 1,     /* alone */
  OWNER_HASBITS = 2,   /* each bit is somebody's */
  OWNER_CASE = 0x4000, /* and upwards: the case of the oneof that has it at 4 * (owner - OWNER_CASE) */
  OWNER_DATA = 0x8000, /* and upwards: the same of what its members hold */
};

typedef struct window {
  uint32_t first;
  uint16_t owners[WINDOW]; /* of each byte */
  uint8_t hasbits[WINDOW]; /* that are taken, as they lie in the message */
} window;

/* Gives the bytes from `at` on, as far as they lie in the window, to `owner`. False: one of them is
 * another's. */
static bool claim(window *w, uint32_t at, size_t size, uint16_t owner) {
  for (uint32_t i = at; i < at + size; i++) {
    if (i < w->first || i >= w->first + WINDOW) continue;
    uint16_t *had = &w->owners[i - w->first];
    if (*had != OWNER_FREE && (*had != owner || owner == OWNER_FIELD)) return false;
    *had = owner;
  }
  return true;
}

static bool claim_hasbit(window *w, uint32_t index) {
  uint32_t byte = index / 8;
  uint8_t bit = (uint8_t)(1u << index % 8);
  if (!claim(w, byte, 1, OWNER_HASBITS)) return false;
  if (byte < w->first || byte >= w->first + WINDOW) return true;
  if (w->hasbits[byte - w->first] & bit) return false;
  w->hasbits[byte - w->first] |= bit;
  return true;
}

static bool claim_field(window *w, const upb_MiniTableField *f) {
  uint32_t presence = bjvmi_upb_presence(f);
  uint16_t owner = OWNER_FIELD;
  if (bjvmi_upb_has_oneof(f)) {
    owner = (uint16_t)(OWNER_DATA + presence / 4);
    if (!claim(w, presence, 4, (uint16_t)(OWNER_CASE + presence / 4))) return false;
  }
  if (bjvmi_upb_has_hasbit(f) && !claim_hasbit(w, presence)) return false;
  return claim(w, bjvmi_upb_offset(f), bjvmi_upb_value_size(f), owner);
}

/* Whether what the fields use from byte `first` on, as far as a window reaches, is used once. */
static bool is_apart(const upb_MiniTable *t, uint32_t first) {
  window w = {.first = first};
  if (!claim(&w, 0, BJVMI_UPB_RESERVED, OWNER_FIELD)) return false;
  for (int i = 0; i < upb_MiniTable_FieldCount(t); i++)
    if (!claim_field(&w, upb_MiniTable_GetFieldByIndex(t, (uint32_t)i))) return false;
  return true;
}

static bool is_inside(const upb_MiniTableField *f, size_t size) {
  uint32_t presence = bjvmi_upb_presence(f);
  if (bjvmi_upb_offset(f) + bjvmi_upb_value_size(f) > size) return false;
  if (bjvmi_upb_has_oneof(f)) return presence % 4 == 0 && presence + 4 <= size;
  return presence / 8 < size;
}

bool bjvmi_table_is_sound(const upb_MiniTable *t) {
  uint32_t count = (uint32_t)upb_MiniTable_FieldCount(t);
  uint32_t dense = bjvmi_upb_dense_below(t);
  size_t size = bjvmi_upb_message_size(t);
  uint32_t last = 0;
  if (size < BJVMI_UPB_RESERVED || dense > count) return false;
  for (uint32_t i = 0; i < count; i++) {
    const upb_MiniTableField *f = upb_MiniTable_GetFieldByIndex(t, i);
    uint32_t number = upb_MiniTableField_Number(f);
    if (number <= last || (i < dense && number != i + 1) || !is_inside(f, size)) return false;
    last = number;
  }
  for (uint32_t first = 0; first < size; first += WINDOW)
    if (!is_apart(t, first)) return false;
  return true;
}
