/* How upb lays out maps: walking over one, and putting entries into its hash table.
 *
 * Private to bjvm; see upb_layout.h. What is written here is a table as upb itself would make it, on which all of its own
 * functions work; the probe test asks them. Where it cannot be known how upb hashes keys (map_hashing.h), the public call
 * is left.
 */
#ifndef BJVM_UPB_MAP_H_
#define BJVM_UPB_MAP_H_

#include "map_hashing.h"
#include "upb/hash/common.h"
#include "upb/hash/int_table.h"
#include "upb/hash/str_table.h"
#include "upb/message/internal/map.h"
#include "upb/message/map.h"
#include "upb_layout.h"

#include "upb/port/def.inc"

static inline size_t bjvmi_upb_map_size(const upb_Map *map) { return _upb_Map_Size(map); }

static inline const upb_table *bjvmi_upb_map_table(const upb_Map *map) {
  return map->UPB_PRIVATE(is_strtable) ? &map->t.strtable.t : &map->t.inttable.t;
}

/* A walk over a map in table order, which is the order of upb's own iterator. Start with all zero.
 *
 * Keys and values lie anywhere in the arena, and a walk that waits for one after the other does little else. So slots
 * are looked at in groups, one group ahead of the one that is taken: what its entries point to is fetched meanwhile. */
enum { BJVMI_MAP_GROUP = 16 }; /* slots looked at together; at most 32 */

typedef struct bjvmi_map_walk {
  uint32_t bits;  /* the slots of the group in hand that hold an entry and have not been taken */
  uint32_t ahead; /* the slots of the group behind it that hold an entry */
  size_t next;    /* the first slot not looked at: two groups from the start of the one in hand */
} bjvmi_map_walk;

/* Which of the `count` slots at `slot` hold an entry. Without a branch: whether a slot is in use is random. */
static inline uint32_t bjvmi_upb_map_used(const upb_tabent *slot, size_t count) {
  uint32_t bits = 0;
#ifndef BJVM_SIZE_SMALL
  if (count == BJVMI_MAP_GROUP) { /* unrolled: four instructions a slot instead of seven */
#if defined(__clang__)
#pragma clang loop unroll(full)
#elif defined(__GNUC__)
#pragma GCC unroll 16
#endif
    for (size_t i = BJVMI_MAP_GROUP; i-- > 0;) bits = bits * 2 + !upb_tabent_isempty(&slot[i]);
    return bits;
  }
#endif
  while (count-- > 0) bits = bits * 2 + !upb_tabent_isempty(&slot[count]);
  return bits;
}

/* Fetches what the entries of a group point to. */
static inline void bjvmi_upb_map_fetch(const upb_Map *map, const upb_tabent *group, uint32_t bits) {
  bool keys = map->UPB_PRIVATE(is_strtable);
  bool values = map->val_size == 0 || map->val_size == sizeof(void *);
  for (; bits; bits &= bits - 1) {
    const upb_tabent *e = &group[__builtin_ctz(bits)];
    if (keys) __builtin_prefetch(e->key.str);
    if (values) __builtin_prefetch((const void *)(uintptr_t)e->val.val);
  }
}

/* Fetches the bytes of a group's values that are strings: their views have arrived. */
static inline void bjvmi_upb_map_fetch_strings(const upb_tabent *group, uint32_t bits) {
  for (; bits; bits &= bits - 1)
    __builtin_prefetch(((const upb_StringView *)upb_value_getptr(group[__builtin_ctz(bits)].val))->data);
}

/* Goes on to the next group that has entries; false at the end. */
static __attribute__((noinline, unused)) bool bjvmi_upb_map_turn(const upb_Map *map, bjvmi_map_walk *walk) {
  const upb_table *t = bjvmi_upb_map_table(map);
  size_t slots = upb_table_size(t);
  do {
    if (walk->ahead == 0 && walk->next >= slots) return false;
    walk->bits = walk->ahead;
    walk->ahead = 0;
    if (walk->next < slots) {
      size_t count = slots - walk->next < BJVMI_MAP_GROUP ? slots - walk->next : BJVMI_MAP_GROUP;
      walk->ahead = bjvmi_upb_map_used(&t->entries[walk->next], count);
      bjvmi_upb_map_fetch(map, &t->entries[walk->next], walk->ahead);
    }
    walk->next += BJVMI_MAP_GROUP;
  } while (walk->bits == 0);
  if (map->val_size == UPB_MAPTYPE_STRING)
    bjvmi_upb_map_fetch_strings(&t->entries[walk->next - 2 * BJVMI_MAP_GROUP], walk->bits);
  return true;
}

/* The group in hand of a walk. */
static inline const upb_tabent *bjvmi_upb_map_group(const upb_Map *map, const bjvmi_map_walk *walk) {
  return &bjvmi_upb_map_table(map)->entries[walk->next - 2 * BJVMI_MAP_GROUP];
}

/* The string that is the key, or the value, of an entry. */
static inline upb_StringView bjvmi_upb_map_string_key(const upb_tabent *e) { return upb_key_strview(e->key); }

static inline upb_StringView bjvmi_upb_map_string_value(const upb_tabent *e) {
  return *(const upb_StringView *)upb_value_getptr(e->val);
}

/* The message that is the value of an entry. */
static inline const void *bjvmi_upb_map_message_value(const upb_tabent *e) {
  return upb_value_getconstptr(e->val);
}

/* A key or value that is no string is the first bytes of its word: all 8 are copied, whatever its size, as gcc
 * makes `rep movs` of a size that varies. */
static inline void bjvmi_upb_map_get_key(const upb_Map *map, const upb_tabent *e, upb_MessageValue *key) {
  if (!map->UPB_PRIVATE(is_strtable)) {
    memcpy(key, &e->key.num, sizeof e->key.num);
  } else if (map->key_size == UPB_MAPTYPE_STRING) {
    key->str_val = bjvmi_upb_map_string_key(e);
  } else {
    memcpy(key, e->key.str->data, 8);
  }
}

static inline void bjvmi_upb_map_get_value(const upb_Map *map, const upb_tabent *e, upb_MessageValue *value) {
  if (map->val_size == UPB_MAPTYPE_STRING) {
    value->str_val = bjvmi_upb_map_string_value(e);
  } else {
    memcpy(value, &e->val, sizeof e->val);
  }
}

/* Takes the next entry; NULL at the end. */
static inline const upb_tabent *bjvmi_upb_map_take(const upb_Map *map, bjvmi_map_walk *walk) {
  if (walk->bits == 0 && !bjvmi_upb_map_turn(map, walk)) return NULL;
  const upb_tabent *e = &bjvmi_upb_map_group(map, walk)[__builtin_ctz(walk->bits)];
  walk->bits &= walk->bits - 1;
  return e;
}

/* The same with its key and value; false at the end. */
static inline bool bjvmi_upb_map_next(const upb_Map *map, bjvmi_map_walk *walk, upb_MessageValue *key,
                                      upb_MessageValue *value) {
  const upb_tabent *e = bjvmi_upb_map_take(map, walk);
  if (!e) return false;
  bjvmi_upb_map_get_key(map, e, key);
  bjvmi_upb_map_get_value(map, e, value);
  return true;
}

_Static_assert(sizeof(upb_strtable) == sizeof(upb_table) && sizeof(upb_inttable) == sizeof(upb_table),
               "both sorts of hash table are a upb_table");

/* What makes upb choose the smallest table that takes `count` entries: it takes an eighth off, and one more than that. */
static inline size_t bjvmi_upb_map_expect(size_t count) { return count > 1 ? count - 1 : count; }

/* Makes the hash table of an empty map large enough for `count` entries at once: growing by doubling hashes
 * every key again each time, and leaves the smaller tables in the arena. Both sorts of table start alike.
 * False: out of memory. */
static inline bool bjvmi_upb_map_reserve(upb_Map *map, size_t count, upb_Arena *arena) {
  assert(_upb_Map_Size(map) == 0 && !map->UPB_PRIVATE(is_frozen));
  upb_strtable table; /* a failing init leaves a mask without entries behind: never in the map itself */
  if (!upb_strtable_init(&table, bjvmi_upb_map_expect(count), arena)) return false;
  map->t.strtable = table;
  return true;
}

/* Bytes of a map that tell what it is, in front of its table. */
static inline size_t bjvmi_upb_map_head(void) {
  return offsetof(upb_Map, UPB_PRIVATE(is_strtable)) + sizeof(((upb_Map *)0)->UPB_PRIVATE(is_strtable));
}

/* A new map with a hash table for `count` entries, 0: of upb's own first size. NULL: out of memory. A map made by upb
 * first and sized then would leave its first table behind in the arena. */
static inline upb_Map *bjvmi_upb_map_new(upb_CType key, upb_CType value, size_t count, upb_Arena *arena) {
  if (count == 0) return upb_Map_New(arena, key, value);
  upb_Map *map = (upb_Map *)upb_Arena_Malloc(arena, sizeof *map);
  if (!map) return NULL;
  size_t key_size = _upb_Map_CTypeSize(key);
  map->key_size = (char)key_size;
  map->val_size = (char)_upb_Map_CTypeSize(value);
  map->UPB_PRIVATE(is_frozen) = false;
  map->UPB_PRIVATE(is_strtable) = key_size == UPB_MAPTYPE_STRING || key_size > sizeof(uintptr_t);
  return upb_strtable_init(&map->t.strtable, bjvmi_upb_map_expect(count), arena) ? map : NULL;
}

/* -- Insertion into maps, hashing once ------------------------------------------------------------------ */

/* upb_Map_Insert looks for the key, takes it out and puts it in, each time from its hash on; what an insertion
 * needs is one look and one place. So the entry is linked here, in upb's own way: chained scatter tables with
 * Brent's variation (R. P. Brent, "Reducing the retrieval time of scatter storage techniques", 1973), in which a
 * chain starts at its keys' main slot, and an entry that holds the main slot of another chain gives way. */
_Static_assert(sizeof(upb_value) == 8, "a table holds a value as a word of 8 bytes");
_Static_assert(sizeof(upb_key) == sizeof(void *), "a key is an integer or a pointer");
_Static_assert(sizeof(((upb_table *)0)->mask) == 4 && sizeof(((upb_table *)0)->count) == 4,
               "tables count with 32 bits");
_Static_assert(offsetof(upb_SizePrefixString, data) == sizeof(uint32_t),
               "a string key has 32 bits of size before it");

/* The first `size` bytes of a value, 1, 4 or 8, as the low bytes of a word in memory. Not by memcpy of a size that
 * varies: gcc makes `rep movs` of it, which takes as long as all the rest of an insertion. */
static inline uint64_t bjvmi_upb_map_bytes(const upb_MessageValue *v, size_t size) {
  uint64_t word = 0;
  switch (size) {
    case 1: memcpy(&word, v, 1); break;
    case 4: memcpy(&word, v, 4); break;
    default: memcpy(&word, v, 8); break;
  }
  return word;
}

/* An integer key as upb's table has it. */
static inline uintptr_t bjvmi_upb_map_integer(const upb_MessageValue *v, size_t size) {
  uintptr_t word = 0;
  switch (size) {
    case 1: memcpy(&word, v, 1); break;
    case 4: memcpy(&word, v, 4); break;
    default: memcpy(&word, v, sizeof word); break;
  }
  return word;
}

/* What the table holds for a value; false: out of memory. */
static inline bool bjvmi_upb_map_value(const upb_MessageValue *v, size_t size, upb_value *held,
                                       upb_Arena *arena) {
  if (size == UPB_MAPTYPE_STRING) {
    upb_StringView *view = (upb_StringView *)upb_Arena_Malloc(arena, sizeof *view);
    if (!view) return false;
    *view = v->str_val;
    *held = upb_value_ptr(view);
  } else {
    held->val = bjvmi_upb_map_bytes(v, size);
  }
  return true;
}

typedef enum bjvmi_map_put {
  BJVMI_MAP_PUT,
  BJVMI_MAP_TAKEN,     /* the key is there; nothing was changed */
  BJVMI_MAP_OTHERWISE, /* the public call has to do it, as the table must grow; or see bjvmi_upb_map_place */
  BJVMI_MAP_NO_MEMORY,
} bjvmi_map_put;

static inline uint32_t bjvmi_upb_hash_integer(uintptr_t key) {
  uint64_t wide = key;
  return (uint32_t)wide ^ (uint32_t)(wide >> 32);
}

static inline uint32_t bjvmi_upb_hash_string(const bjvmi_map_hashing *h, const char *data, size_t size) {
#if BJVMI_MAP_HASH_WORDS
  if (__builtin_expect(h->words && size - BJVMI_MAP_WORDS_MIN <= BJVMI_MAP_WORDS_MAX - BJVMI_MAP_WORDS_MIN,
                       1))
    return bjvmi_map_hash_words(h, data, size);
#endif
  return _upb_Hash(data, size, h->seed);
}

static inline uint32_t bjvmi_upb_hash_key(const bjvmi_map_hashing *h, bool string, upb_key key) {
  return string ? bjvmi_upb_hash_string(h, key.str->data, key.str->size) : bjvmi_upb_hash_integer(key.num);
}

/* A free slot of the table, which is not full, looked for from `at` on. */
static inline upb_tabent *bjvmi_upb_map_free(upb_table *t, size_t at) {
  do at = (at + 1) & t->mask;
  while (!upb_tabent_isempty(&t->entries[at]));
  return &t->entries[at];
}

/* The entry of a new key: an empty slot in its chain, whose value and key the caller stores. There is one, as the
 * table is not full. `heads`: what holds a main slot is known to be of the chain that starts there. */
static inline upb_tabent *bjvmi_upb_map_link(upb_table *t, const bjvmi_map_hashing *h, bool string,
                                             uint32_t hash, bool heads) {
  upb_tabent *mine = &t->entries[hash & t->mask];
  t->count++;
  if (upb_tabent_isempty(mine)) {
    upb_tabent_clearnext(mine);
    return mine;
  }
  upb_tabent *empty = bjvmi_upb_map_free(t, hash & t->mask);
  upb_tabent *before = heads ? mine : &t->entries[bjvmi_upb_hash_key(h, string, mine->key) & t->mask];
  if (before == mine) { /* the same chain: second in it */
    empty->next = mine->next;
    upb_tabent_setnext(mine, empty);
    return empty;
  }
  *empty = *mine; /* another chain: what holds the slot moves, and its predecessor follows it */
  while (upb_tabent_next(before) != mine) before = upb_tabent_next(before);
  upb_tabent_setnext(before, empty);
  upb_tabent_clearnext(mine);
  return mine;
}

/* upb grows a table rather than fill its last eighth. */
static inline bool bjvmi_upb_map_full(const upb_table *t) {
  uint32_t size = t->mask + 1;
  return t->count >= size - size / 8;
}

/* The chain that a key of this hash would be in; NULL: empty. */
static inline const upb_tabent *bjvmi_upb_map_chain(const upb_table *t, uint32_t hash) {
  const upb_tabent *e = &t->entries[hash & t->mask];
  return upb_tabent_isempty(e) ? NULL : e;
}

static inline const upb_tabent *bjvmi_upb_map_after(const upb_tabent *e) {
  return upb_tabent_hasnext(e) ? upb_tabent_next(e) : NULL;
}

/* upb's copy of a string key; NULL: out of memory. */
static inline const upb_SizePrefixString *bjvmi_upb_map_key(upb_StringView key, upb_Arena *arena) {
  char *copy = (char *)upb_Arena_Malloc(arena, sizeof(uint32_t) + key.size + 1);
  if (!copy) return NULL;
  uint32_t size = (uint32_t)key.size;
  memcpy(copy, &size, sizeof size);
  if (key.size - 1 < 32 && bjvmi_upb_arena_room(arena) >= 40 && bjvmi_short_in_page(key.data, 32)) {
    memmove(copy + sizeof size, key.data,
            32); /* whatever its size: no branch, and no call; the key may lie in front */
  } else {
    memcpy(copy + sizeof size, key.data, key.size);
  }
  copy[sizeof size + key.size] = 0;
  return (const upb_SizePrefixString *)(const void *)copy;
}

/* Whether the map's keys are strings. */
static inline bool bjvmi_upb_map_strings(const upb_Map *map) { return map->key_size == UPB_MAPTYPE_STRING; }

/* Whether the hash of the map's keys is known: if not, only the public call adds to it. (Integers wider than a pointer
 * are kept as strings.) */
static inline bool bjvmi_upb_map_hashed(const upb_Map *map, const bjvmi_map_hashing *h) {
  if (!map->UPB_PRIVATE(is_strtable)) return h->integers;
  return h->strings && bjvmi_upb_map_strings(map);
}

/* The hash of a key of such a map. */
static inline uint32_t bjvmi_upb_map_hash(const upb_Map *map, const bjvmi_map_hashing *h, bool string,
                                          const upb_MessageValue *key) {
  if (!string) return bjvmi_upb_hash_integer(bjvmi_upb_map_integer(key, (size_t)map->key_size));
  return bjvmi_upb_hash_string(h, key->str_val.data, key->str_val.size);
}

/* Whether `count` new entries fit the table as it is. */
static inline bool bjvmi_upb_map_takes(const upb_Map *map, size_t count) {
  const upb_table *t = bjvmi_upb_map_table(map);
  uint32_t size = t->mask + 1;
  return t->count + count <= size - size / 8;
}

/* Key and value as the table holds them; false: out of memory. */
static inline bool bjvmi_upb_map_content(const upb_Map *map, bool string, const upb_MessageValue *key,
                                         const upb_MessageValue *value, upb_Arena *arena, upb_key *k,
                                         upb_value *v) {
  *v = (upb_value){0};
  if (string) k->str = bjvmi_upb_map_key(key->str_val, arena);
  else k->num = bjvmi_upb_map_integer(key, (size_t)map->key_size);
  return !(string && !k->str) && bjvmi_upb_map_value(value, (size_t)map->val_size, v, arena);
}

static inline bool bjvmi_upb_map_same(bool string, upb_key held, const upb_MessageValue *key,
                                      uintptr_t integer) {
  if (!string) return held.num == integer;
  return held.str->size == key->str_val.size &&
         memcmp(held.str->data, key->str_val.data, key->str_val.size) == 0;
}

/* Adds an entry of a hashed map if its main slot is free, and then its key is new; OTHERWISE: it is not. The table takes
 * it. */
static inline bjvmi_map_put bjvmi_upb_map_place(upb_Map *map, bool string, uint32_t hash,
                                                const upb_MessageValue *key, const upb_MessageValue *value,
                                                upb_Arena *arena) {
  upb_table *t = string ? &map->t.strtable.t : &map->t.inttable.t;
  upb_tabent *e = &t->entries[hash & t->mask];
  upb_key k;
  upb_value v;
  if (!upb_tabent_isempty(e)) return BJVMI_MAP_OTHERWISE;
  if (!bjvmi_upb_map_content(map, string, key, value, arena, &k, &v)) return BJVMI_MAP_NO_MEMORY;
  t->count++;
  e->key = k;
  e->val = v;
  upb_tabent_clearnext(e);
  return BJVMI_MAP_PUT;
}

/* Adds an entry to a hashed map whose keys are strings or not; see bjvmi_upb_map_link for `heads`. */
static inline bjvmi_map_put bjvmi_upb_map_put(upb_Map *map, const bjvmi_map_hashing *h, bool string,
                                              uint32_t hash, bool heads, const upb_MessageValue *key,
                                              const upb_MessageValue *value, upb_Arena *arena) {
  assert(!map->UPB_PRIVATE(is_frozen));
  upb_table *t = string ? &map->t.strtable.t : &map->t.inttable.t;
  upb_key k;
  upb_value v;
  uintptr_t integer = string ? 0 : bjvmi_upb_map_integer(key, (size_t)map->key_size);
  if (bjvmi_upb_map_full(t) || (string && key->str_val.size > UINT32_MAX)) return BJVMI_MAP_OTHERWISE;
  for (const upb_tabent *e = bjvmi_upb_map_chain(t, hash); e; e = bjvmi_upb_map_after(e)) {
    if (bjvmi_upb_map_same(string, e->key, key, integer)) return BJVMI_MAP_TAKEN;
  }
  if (!bjvmi_upb_map_content(map, string, key, value, arena, &k, &v)) return BJVMI_MAP_NO_MEMORY;
  upb_tabent *e = bjvmi_upb_map_link(t, h, string, hash, heads);
  e->key = k;
  e->val = v;
  return BJVMI_MAP_PUT;
}

enum { BJVMI_MAP_TRIES = 12, BJVMI_MAP_TRY_SLOTS = 16 };

/* Whether upb finds a string key in the slot of a table that our hash says. */
static inline bool bjvmi_upb_map_try_string(const bjvmi_map_hashing *h, char letter) {
  upb_tabent entries[BJVMI_MAP_TRY_SLOTS];
  upb_strtable table = {{entries, 1, BJVMI_MAP_TRY_SLOTS - 1}};
  uint32_t words[5]; /* a upb_SizePrefixString: its size, then its bytes */
  char text[sizeof words - sizeof(uint32_t)];
  upb_value found;
  uint32_t size = (uint32_t)(letter & 15) + 1;
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(letter + (char)i);
  words[0] = size;
  memcpy(&words[1], text, sizeof text);
  memset(entries, 0, sizeof entries);
  upb_tabent *e = &entries[bjvmi_upb_hash_string(h, text, size) & table.t.mask];
  e->key.str = (const upb_SizePrefixString *)words;
  upb_tabent_clearnext(e);
  return upb_strtable_lookup2(&table, text, size, &found);
}

static inline bool bjvmi_upb_map_try_integer(uintptr_t key) {
  upb_tabent entries[BJVMI_MAP_TRY_SLOTS];
  upb_inttable table = {{entries, 1, BJVMI_MAP_TRY_SLOTS - 1}};
  upb_value found;
  memset(entries, 0, sizeof entries);
  upb_tabent *e = &entries[bjvmi_upb_hash_integer(key) & table.t.mask];
  e->key.num = key;
  upb_tabent_clearnext(e);
  return upb_inttable_lookup(&table, key, &found);
}

/* The variable whose address is the seed has no name that can be reached, but stands close in front of this one, which
 * has: where, depends on the machine (8 bytes on x86-64, 336 on AArch64). Other upbs may not have it at all. */
extern const uint64_t kWyhashSalt[] __attribute__((weak));

enum { BJVMI_MAP_SEED_STEP = 8, BJVMI_MAP_SEED_FAR = 512 };

static inline bool bjvmi_upb_map_try_strings(const bjvmi_map_hashing *h) {
  for (int i = 0; i < BJVMI_MAP_TRIES; i++) {
    if (!bjvmi_upb_map_try_string(h, (char)('!' + 7 * i))) return false;
  }
  return true;
}

/* Whether bjvmi_map_hash_words gives upb's hash of strings, for a string of each length. */
static inline void bjvmi_upb_map_try_words(bjvmi_map_hashing *h) {
#if BJVMI_MAP_HASH_WORDS
  static const char text[] = "the quick brown fox jumps over";
  h->state = h->seed ^ kWyhashSalt[0];
  h->constant = kWyhashSalt[1];
  h->words = true;
  for (size_t n = BJVMI_MAP_WORDS_MIN; n <= BJVMI_MAP_WORDS_MAX; n++)
    h->words &= bjvmi_map_hash_words(h, text + n / 2, n) == _upb_Hash(text + n / 2, n, h->seed);
#else
  h->words = false;
#endif
}

/* Finds out how upb hashes keys. A wrong guess passes once in 2^48 times (four bits a try). */
static inline bjvmi_map_hashing bjvmi_upb_map_hashing(void) {
  bjvmi_map_hashing h = {.strings = false, .integers = true};
  for (uintptr_t far = BJVMI_MAP_SEED_STEP; kWyhashSalt != NULL && far <= BJVMI_MAP_SEED_FAR && !h.strings;
       far += BJVMI_MAP_SEED_STEP) {
    h.seed = (uint64_t)((uintptr_t)kWyhashSalt - far);
    h.strings = bjvmi_upb_map_try_strings(&h);
  }
  if (h.strings) bjvmi_upb_map_try_words(&h);
  for (uintptr_t i = 0; i < BJVMI_MAP_TRIES && h.integers; i++)
    h.integers = bjvmi_upb_map_try_integer((uintptr_t)UINT64_C(0x9e3779b97f4a7c15) * (i + 1) >> i);
  return h;
}

#include "upb/port/undef.inc"

#endif /* BJVM_UPB_MAP_H_ */
