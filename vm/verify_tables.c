/* The verifier's checks of key tables and enums.
 *
 * A key table is proved by using it: each key is looked up by its own name and must lead to itself, which
 * also shows that no two keys of a table are alike. Kept: a probe sequence stays inside the slots, a slot
 * leads to a key of its own table, a key to a word or value of its owner; every enum number that the dense
 * run or bisection can reach is where they expect it.
 */
#include "verify.h"

enum { SLOTS_LOG2_MAX = 17 }; /* 65535 keys, half full */

static bool check_slots(const bjvmi_check *c, const bjvmi_table *t) {
  const uint8_t *slots = c->image->slots + t->first_slot;
  bool wide = t->key_count > BJVMI_KEYS_NARROW;
  uint32_t count = 1u << t->slots_log2;
  for (uint32_t i = 0; i < count; i++)
    if (bjvmi_slot_at(slots, wide, i) > t->key_count)
      return bjvmi_check_fail(c, slots + ((size_t)i << wide), BJVMI_FAULT_SLOT);
  return true;
}

/* Follows the probe sequence of key `k` up to the key itself. */
static bool check_reach(bjvmi_check *c, const bjvmi_table *t, const bjvmi_key *k, const char *name,
                        uint32_t size) {
  const bjvmi_key *keys = c->image->keys + t->first_key;
  const uint8_t *slots = c->image->slots + t->first_slot;
  bool wide = t->key_count > BJVMI_KEYS_NARROW;
  uint32_t mask = (1u << t->slots_log2) - 1;
  uint32_t hash = bjvmi_image_hash(t->seed, name, size);
  for (uint32_t probe = 0; probe <= t->max_probe; probe++) {
    uint32_t slot = bjvmi_slot_at(slots, wide, (hash + probe) & mask);
    if (slot == 0) break;
    const bjvmi_key *other = &keys[slot - 1];
    if (other == k) return true;
    if (bjvmi_le16(other->size) != size) continue;
    /* A key further on may not have been checked yet. */
    if (!bjvmi_check_raw_name(c, &other->name, bjvmi_le32(other->name), size)) return false;
    if (memcmp(c->image->names + bjvmi_le32(other->name), name, size) == 0)
      return bjvmi_check_fail(c, k, BJVMI_FAULT_KEY_TWICE);
  }
  return bjvmi_check_fail(c, k, BJVMI_FAULT_KEY_UNREACHED);
}

static bool check_key(bjvmi_check *c, const bjvmi_table *t, const bjvmi_key *at, uint32_t owned) {
  uint32_t name = bjvmi_le32(at->name);
  uint32_t size = bjvmi_le16(at->size);
  if (bjvmi_le16(at->index) >= owned) return bjvmi_check_fail(c, &at->index, BJVMI_FAULT_KEY_INDEX);
  return bjvmi_check_raw_name(c, &at->name, name, size) &&
         check_reach(c, t, at, c->image->names + name, size);
}

/* Checks the table of a record with `owned` words or values. A table without keys is never looked into. */
bool bjvmi_check_table(bjvmi_check *c, bjvmi_table_cursors *cursors, const bjvmi_table *file_table,
                       uint32_t owned) {
  const bjvm_image *image = c->image;
  const bjvmi_table t = bjvmi_table_native(file_table);
  if (t.key_count == 0) return true;
  if (t.slots_log2 > SLOTS_LOG2_MAX)
    return bjvmi_check_fail(c, &file_table->slots_log2, BJVMI_FAULT_SLOTS_MANY);
  if (t.key_count > 1u << t.slots_log2)
    return bjvmi_check_fail(c, &file_table->slots_log2, BJVMI_FAULT_SLOTS_FEW);
  bool wide = t.key_count > BJVMI_KEYS_NARROW;
  if (wide && t.first_slot % 2) return bjvmi_check_fail(c, &file_table->first_slot, BJVMI_FAULT_SLOTS_ODD);
  if (!bjvmi_cursor_take(&cursors->slots, t.first_slot, (uint64_t)1 << t.slots_log2 << wide,
                         image->slot_count))
    return bjvmi_check_fail(c, &file_table->first_slot, BJVMI_FAULT_SLOTS_OUTSIDE);
  if (!bjvmi_cursor_take(&cursors->keys, t.first_key, t.key_count, image->key_count))
    return bjvmi_check_fail(c, &file_table->first_key, BJVMI_FAULT_KEYS_OUTSIDE);
  if (!check_slots(c, &t)) return false;
  for (uint32_t i = 0; i < t.key_count; i++)
    if (!check_key(c, &t, &image->keys[t.first_key + i], owned)) return false;
  return true;
}

/* -- Enums ---------------------------------------------------------------------------------------------- */

static bool check_values(bjvmi_check *c, const bjvmi_enum *e) {
  const bjvmi_value *values = c->image->values + e->first_value;
  int64_t below = (int64_t)INT32_MIN - 1;
  for (uint32_t i = 0; i < e->value_count; i++) {
    const bjvmi_value v = bjvmi_value_native(&values[i]);
    if (v.number <= below) return bjvmi_check_fail(c, &values[i].number, BJVMI_FAULT_VALUES_ORDER);
    below = v.number;
    bool dense = i - e->dense_first < e->dense_count; /* below dense_first the difference is huge */
    if (dense && v.number != (int64_t)e->dense_min + (i - e->dense_first))
      return bjvmi_check_fail(c, &values[i].number, BJVMI_FAULT_DENSE_GAP);
    if (v.name == 0) {
      if (!dense) return bjvmi_check_fail(c, &values[i].name, BJVMI_FAULT_HOLE);
    } else if (!bjvmi_check_value_name(c, &values[i].name, v.name)) {
      return false;
    }
  }
  return true;
}

/* A name must not lead to a hole: its number is not one of the enum's. */
static bool check_value_keys(const bjvmi_check *c, const bjvmi_enum *e) {
  const bjvmi_key *keys = c->image->keys + e->keys.first_key;
  for (uint32_t i = 0; i < e->keys.key_count; i++)
    if (c->image->values[e->first_value + bjvmi_le16(keys[i].index)].name == 0)
      return bjvmi_check_fail(c, &keys[i].index, BJVMI_FAULT_HOLE_KEY);
  return true;
}

static bool check_enum(bjvmi_check *c, bjvmi_cursor *values, bjvmi_table_cursors *tables,
                       const bjvmi_enum *at) {
  const bjvmi_enum e = bjvmi_enum_native(at);
  if (!bjvmi_check_full_name(c, &at->name, e.name, e.name_size)) return false;
  if (e.flags & ~BJVMI_ENUM_CLOSED) return bjvmi_check_fail(c, &at->flags, BJVMI_FAULT_FLAGS);
  if (e.reserved) return bjvmi_check_fail(c, &at->reserved, BJVMI_FAULT_ENUM_RESERVED);
  if (!bjvmi_cursor_take(values, e.first_value, e.value_count, c->image->value_count))
    return bjvmi_check_fail(c, &at->first_value, BJVMI_FAULT_VALUES_OUTSIDE);
  if ((uint64_t)e.dense_first + e.dense_count > e.value_count)
    return bjvmi_check_fail(c, &at->dense_count, BJVMI_FAULT_DENSE_LONG);
  return check_values(c, &e) && bjvmi_check_table(c, tables, &at->keys, e.value_count) &&
         check_value_keys(c, &e);
}

bool bjvmi_check_enums(bjvmi_check *c) {
  bjvmi_cursor values = {0};
  bjvmi_table_cursors tables = {{0}, {0}};
  for (uint32_t i = 0; i < c->image->enum_count; i++) {
    c->what = "enum";
    c->index = i;
    if (!check_enum(c, &values, &tables, &c->image->enums[i])) return false;
  }
  return true;
}
