/* Key tables: the names that may stand in a text, and the hash slots that find them.
 *
 * A table is open-addressed, at most half full (one with slots of two bytes three quarters), probed linearly.
 * Several seeds are tried and the one with the shortest longest probe is kept; the work is bounded by a
 * number of tries that shrinks as tables grow, so that a table costs nearly linear time. No table leaves here
 * in which a key is further than max_probe from its slot.
 */
#include "compiler.h"

#include <string.h>

enum {
  TRIES_MAX = 256,
  TRIES_MIN = 4,
  TRIES_WORK = 8192, /* keys placed in all tries of a table, beyond TRIES_MIN: about 50 us */
  GOOD_PROBE = 3,    /* not worth a further try */
  PROBE_MAX = 255,   /* bjvmi_table.max_probe has 8 bits */
};

void bjvmi_keys_begin(bjvmi_compiler *c) {
  c->key_owner++;
  c->first_key = (uint32_t)(c->sections[BJVMI_SECTION_KEYS].size / sizeof(bjvmi_key));
}

void bjvmi_keys_add(bjvmi_compiler *c, uint32_t raw_index, uint32_t index) {
  if (c->status != BJVM_OK) return;
  bjvmi_raw *raw = bjvmi_raw_at(c, raw_index);
  if (raw->owner == c->key_owner) return;
  raw->owner = c->key_owner;
  bjvmi_key *key = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_KEYS], sizeof *key);
  if (key == NULL) return;
  key->name = bjvmi_le32(raw->offset);
  key->size = bjvmi_le16((uint16_t)raw->size);
  key->index = bjvmi_le16((uint16_t)index);
}

static bool is_wide(const bjvmi_table *table) { return table->key_count > BJVMI_KEYS_NARROW; }

static size_t slots_size(const bjvmi_table *table) {
  return (size_t)1 << table->slots_log2 << is_wide(table);
}

/* Puts `key1` into slot `at`, if that is free. */
static bool take_slot(uint8_t *slots, bool wide, size_t at, uint32_t key1) {
  if (!wide) {
    if (slots[at] != 0) return false;
    slots[at] = (uint8_t)key1;
    return true;
  }
  if (slots[2 * at] != 0 || slots[2 * at + 1] != 0) return false;
  slots[2 * at] = (uint8_t)key1;
  slots[2 * at + 1] = (uint8_t)(key1 >> 8);
  return true;
}

/* Places the keys with table->seed. Returns the longest probe, or `limit` if there is one that long. */
static uint32_t place(const bjvmi_compiler *c, const bjvmi_table *table, uint8_t *slots, uint32_t limit) {
  const bjvmi_key *keys =
      (const bjvmi_key *)(const void *)c->sections[BJVMI_SECTION_KEYS].data + table->first_key;
  const char *names = c->sections[BJVMI_SECTION_NAMES].data;
  uint32_t mask = (1u << table->slots_log2) - 1;
  uint32_t longest = 0;
  memset(slots, 0, slots_size(table));
  for (uint32_t i = 0; i < table->key_count; i++) {
    uint32_t at = bjvmi_key_hash(table->seed, names + bjvmi_le32(keys[i].name), bjvmi_le16(keys[i].size));
    uint32_t probe = 0;
    while (!take_slot(slots, is_wide(table), at & mask, i + 1)) {
      if (++probe >= limit) return limit;
      at++;
    }
    if (probe > longest) longest = probe;
  }
  return longest;
}

/* Finds the best seed. Returns its longest probe. */
static uint32_t choose_seed(const bjvmi_compiler *c, bjvmi_table *table, uint8_t *slots) {
  uint32_t tries = (uint32_t)TRIES_WORK / table->key_count;
  if (tries < TRIES_MIN) tries = TRIES_MIN;
  if (tries > TRIES_MAX) tries = TRIES_MAX;
  uint32_t best = PROBE_MAX + 1;
  uint32_t best_seed = 0;
  for (table->seed = 0; table->seed < tries && best > GOOD_PROBE; table->seed++) {
    uint32_t longest = place(c, table, slots, best);
    if (longest >= best) continue;
    best = longest;
    best_seed = table->seed;
  }
  table->seed = best_seed;
  return best;
}

/* Half full, or three quarters where a slot costs two bytes: a message of 300 names then has 1 KB of slots
 * and not 2. */
static uint8_t slots_log2_for(size_t key_count) {
  bool wide = key_count > BJVMI_KEYS_NARROW;
  size_t wanted = wide ? (4 * key_count + 2) / 3 : 2 * key_count;
  uint8_t log2 = 0;
  while (((size_t)1 << log2) < wanted) log2++;
  return log2;
}

bjvmi_table bjvmi_keys_end(bjvmi_compiler *c) {
  bjvmi_table table = {0};
  if (c->status != BJVM_OK) return table;
  size_t key_count = c->sections[BJVMI_SECTION_KEYS].size / sizeof(bjvmi_key) - c->first_key;
  if (key_count == 0) return table;
  if (key_count > BJVMI_INDEX_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "it has more names than a plan can hold");
    return table;
  }
  bjvmi_bytes *slots = &c->sections[BJVMI_SECTION_SLOTS];
  table.first_key = c->first_key;
  table.key_count = (uint16_t)key_count;
  table.slots_log2 = slots_log2_for(key_count);
  if (is_wide(&table) && slots->size % 2 != 0) {
    char *filler = bjvmi_bytes_add(c, slots, 1);
    if (filler == NULL) return table;
    *filler = 0;
  }
  table.first_slot = (uint32_t)slots->size;
  uint8_t *room = bjvmi_bytes_add(c, slots, slots_size(&table));
  if (room == NULL) return table;
  uint32_t longest = choose_seed(c, &table, room);
  if (longest > PROBE_MAX)
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "its names collide beyond what a plan can hold");
  else place(c, &table, room, longest + 1);
  table.max_probe = (uint8_t)longest;
  return table;
}

bjvmi_table bjvmi_keys_le(const bjvmi_table *table) {
  bjvmi_table le = *table;
  le.first_key = bjvmi_le32(table->first_key);
  le.first_slot = bjvmi_le32(table->first_slot);
  le.seed = bjvmi_le32(table->seed);
  le.key_count = bjvmi_le16(table->key_count);
  return le;
}
