/* The one file that knows how upb lays out messages, arrays, maps and extensions.
 *
 * Private to bjvm. Everything else reaches upb's insides through these functions, which the probe test
 * compares with upb's public accessors for every kind of field. Each layout fact that is used stands here as
 * a static assert. Offsets and presence come from bound words, which bind.c took from the live mini table.
 */
#ifndef BJVM_UPB_LAYOUT_H_
#define BJVM_UPB_LAYOUT_H_

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "upb/base/string_view.h"
#include "upb/hash/common.h"
#include "upb/hash/str_table.h"
#include "upb/mem/arena.h"
#include "upb/message/array.h"
#include "upb/message/internal/array.h"
#include "upb/message/internal/extension.h"
#include "upb/message/internal/map.h"
#include "upb/message/internal/message.h"
#include "upb/message/map.h"
#include "upb/message/message.h"
#include "upb/message/value.h"
#include "upb/mini_table/extension.h"
#include "upb/mini_table/field.h"
#include "upb/mini_table/internal/field.h"
#include "upb/mini_table/internal/message.h"
#include "upb/mini_table/message.h"

#include "upb/port/def.inc"

_Static_assert(sizeof(upb_StringView) == 2 * sizeof(void *), "a string is a pointer and a size");
_Static_assert(offsetof(upb_StringView, data) == 0 && offsetof(upb_StringView, size) == sizeof(void *),
               "a string's pointer comes first");
_Static_assert(sizeof(((upb_MiniTableField *)0)->presence) == 2, "presence has 16 bits");
_Static_assert(sizeof(((upb_MiniTableField *)0)->UPB_ONLYBITS(offset)) == 2, "offsets have 16 bits");
_Static_assert(UPB_MALLOC_ALIGN % 8 == 0, "an arena hands out multiples of 8 bytes");
_Static_assert(sizeof(bool) == 1, "a bool is a byte");
_Static_assert(sizeof(upb_MessageValue) == 16 || sizeof(void *) == 4, "a value holds a string view");

/* -- Mini tables (bind time) ---------------------------------------------------------------------------- */

static inline uint16_t bjvmi_upb_offset(const upb_MiniTableField *f) { return f->UPB_ONLYBITS(offset); }

static inline bool bjvmi_upb_has_hasbit(const upb_MiniTableField *f) { return f->presence > 0; }

static inline bool bjvmi_upb_has_oneof(const upb_MiniTableField *f) { return f->presence < 0; }

/* Hasbit index (bits from the start of the message) or byte offset of the oneof case; 0: neither. */
static inline uint16_t bjvmi_upb_presence(const upb_MiniTableField *f) {
  return f->presence >= 0 ? (uint16_t)f->presence : (uint16_t)~f->presence;
}

/* The size of a value of the field in a message or array: 1, 4, 8 or that of a string view. */
static inline size_t bjvmi_upb_value_size(const upb_MiniTableField *f) {
  switch (UPB_PRIVATE(_upb_MiniTableField_GetRep)(f)) {
    case kUpb_FieldRep_1Byte: return 1;
    case kUpb_FieldRep_4Byte: return 4;
    case kUpb_FieldRep_8Byte: return 8;
    default: return sizeof(upb_StringView);
  }
}

/* Bytes at the start of every message that upb keeps for itself. */
enum { BJVMI_UPB_RESERVED = sizeof(struct upb_Message) };

/* The number of first fields that upb finds by subtraction: their numbers are 1, 2, ... */
static inline uint32_t bjvmi_upb_dense_below(const upb_MiniTable *t) { return t->UPB_PRIVATE(dense_below); }

/* Bytes of a message of this table. */
static inline size_t bjvmi_upb_message_size(const upb_MiniTable *t) { return t->UPB_PRIVATE(size); }

/* Whether the field is required: required fields have the lowest hasbits, from bit 64 on. */
static inline bool bjvmi_upb_is_required(const upb_MiniTable *t, uint32_t number) {
  const upb_MiniTableField *f = upb_MiniTable_FindFieldByNumber(t, number);
  return f && f->presence >= 64 && f->presence - 64 < (int)t->UPB_PRIVATE(required_count);
}

/* -- Messages ------------------------------------------------------------------------------------------- */

static inline const void *bjvmi_upb_at(const void *base, uint32_t offset) {
  return (const char *)base + offset;
}

static inline void *bjvmi_upb_mut(void *base, uint32_t offset) { return (char *)base + offset; }

static inline bool bjvmi_upb_hasbit(const void *msg, uint32_t index) {
  return ((((const uint8_t *)msg)[index >> 3] >> (index & 7)) & 1) != 0;
}

static inline void bjvmi_upb_set_hasbit(void *msg, uint32_t index) {
  ((uint8_t *)msg)[index >> 3] |= (uint8_t)(1u << (index & 7));
}

static inline void bjvmi_upb_clear_hasbit(void *msg, uint32_t index) {
  ((uint8_t *)msg)[index >> 3] &= (uint8_t) ~(1u << (index & 7));
}

static inline uint32_t bjvmi_upb_oneof_case(const void *msg, uint32_t offset) {
  uint32_t v;
  memcpy(&v, (const char *)msg + offset, 4);
  return v;
}

static inline void bjvmi_upb_set_oneof_case(void *msg, uint32_t offset, uint32_t number) {
  memcpy((char *)msg + offset, &number, 4);
}

static inline uint32_t bjvmi_upb_u32(const void *p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}

static inline uint64_t bjvmi_upb_u64(const void *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

static inline upb_StringView bjvmi_upb_string(const void *p) {
  upb_StringView v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline void *bjvmi_upb_pointer(const void *p) {
  void *v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline void bjvmi_upb_set_u32(void *p, uint32_t v) { memcpy(p, &v, 4); }

static inline void bjvmi_upb_set_u64(void *p, uint64_t v) { memcpy(p, &v, 8); }

static inline void bjvmi_upb_set_pointer(void *p, void *v) { memcpy(p, &v, sizeof v); }

static inline void bjvmi_upb_set_string(void *p, const char *data, size_t size) {
  upb_StringView v = {data, size};
  memcpy(p, &v, sizeof v);
}

/* A new message, all zero; NULL: out of memory. */
static inline upb_Message *bjvmi_upb_new(const upb_MiniTable *t, upb_Arena *arena) {
  return _upb_Message_New(t, arena);
}

/* -- Arrays --------------------------------------------------------------------------------------------- */

static inline upb_Array *bjvmi_upb_array_new(upb_Arena *arena, size_t capacity, unsigned size_lg2) {
  return UPB_PRIVATE(_upb_Array_New)(arena, capacity, (int)size_lg2);
}

/* Declares the first `size` elements written. Only after they are. */
static inline void bjvmi_upb_array_set_size(upb_Array *array, size_t size) {
  assert(size <= upb_Array_Capacity(array));
  array->UPB_ONLYBITS(size) = size;
}

/* log2 of the size of an element: what the array itself says. */
static inline unsigned bjvmi_upb_array_lg2(const upb_Array *array) {
  return (unsigned)UPB_PRIVATE(_upb_Array_ElemSizeLg2)(array);
}

/* -- Maps ----------------------------------------------------------------------------------------------- */

static inline size_t bjvmi_upb_map_size(const upb_Map *map) { return _upb_Map_Size(map); }

static inline const upb_table *bjvmi_upb_map_table(const upb_Map *map) {
  return map->UPB_PRIVATE(is_strtable) ? &map->t.strtable.t : &map->t.inttable.t;
}

/* A walk over a map in table order, which is the order of upb's own iterator. Start with all zero. */
enum { BJVMI_MAP_GROUP = 32 }; /* slots looked at together; at most 64 */

typedef struct bjvmi_map_walk {
  uint64_t bits; /* the slots below `next`, a group of them, that hold an entry and have not been taken */
  size_t next;   /* the first slot not looked at */
} bjvmi_map_walk;

/* Which of the `count` slots from `first` on hold an entry. Without a branch: whether a slot is in use is
 * random. */
static inline uint64_t bjvmi_upb_map_used(const upb_table *t, size_t first, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; i++) bits |= (uint64_t)!upb_tabent_isempty(&t->entries[first + i]) << i;
  return bits;
}

/* Fetches what the entries of a group point to: their keys and values lie anywhere in the arena, and a walk
 * that waits for one after the other does little else. */
static inline void bjvmi_upb_map_fetch(const upb_Map *map, const upb_tabent *group, uint64_t bits) {
  bool keys = map->UPB_PRIVATE(is_strtable);
  bool values = map->val_size == 0 || map->val_size == sizeof(void *);
  for (; bits; bits &= bits - 1) {
    const upb_tabent *e = &group[__builtin_ctzll(bits)];
    if (keys) __builtin_prefetch(e->key.str);
    if (values) __builtin_prefetch((const void *)(uintptr_t)e->val.val);
  }
}

/* Takes the next entry; false at the end. */
static inline bool bjvmi_upb_map_next(const upb_Map *map, bjvmi_map_walk *walk, upb_MessageValue *key,
                                      upb_MessageValue *value) {
  const upb_table *t = bjvmi_upb_map_table(map);
  size_t slots = upb_table_size(t);
  while (walk->bits == 0) {
    if (walk->next >= slots) return false;
    size_t count = slots - walk->next < BJVMI_MAP_GROUP ? slots - walk->next : BJVMI_MAP_GROUP;
    walk->bits = bjvmi_upb_map_used(t, walk->next, count);
    bjvmi_upb_map_fetch(map, &t->entries[walk->next], walk->bits);
    walk->next += BJVMI_MAP_GROUP;
  }
  const upb_tabent *group = &t->entries[walk->next - BJVMI_MAP_GROUP];
  const upb_tabent *e = &group[__builtin_ctzll(walk->bits)];
  walk->bits &= walk->bits - 1;
  uint64_t later = walk->bits & (walk->bits - 1);
  if (map->val_size == 0 && later) { /* a string: its view has arrived, its bytes have not */
    const upb_StringView *view = (const upb_StringView *)upb_value_getptr(group[__builtin_ctzll(later)].val);
    __builtin_prefetch(view->data);
  }
  if (map->UPB_PRIVATE(is_strtable)) {
    _upb_map_fromkey(upb_key_strview(e->key), key, (size_t)map->key_size);
  } else {
    memcpy(key, &e->key.num, (size_t)map->key_size);
  }
  _upb_map_fromvalue(e->val, value, (size_t)map->val_size);
  return true;
}

_Static_assert(sizeof(upb_strtable) == sizeof(upb_table) && sizeof(upb_inttable) == sizeof(upb_table),
               "both sorts of hash table are a upb_table");

/* Makes the hash table of an empty map large enough for `count` entries at once: growing by doubling hashes
 * every key again each time, and leaves the smaller tables in the arena. Both sorts of table start alike.
 * False: out of memory. */
static inline bool bjvmi_upb_map_reserve(upb_Map *map, size_t count, upb_Arena *arena) {
  assert(_upb_Map_Size(map) == 0 && !map->UPB_PRIVATE(is_frozen));
  upb_strtable table; /* a failing init leaves a mask without entries behind: never in the map itself */
  if (!upb_strtable_init(&table, count, arena)) return false;
  map->t.strtable = table;
  return true;
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

/* The value of an extension of `msg`, created (all zero) if it is not there; NULL: out of memory. */
static inline upb_MessageValue *bjvmi_upb_extension(upb_Message *msg, const upb_MiniTableExtension *e,
                                                    upb_Arena *arena) {
  const upb_Extension *had = UPB_PRIVATE(_upb_Message_Getext)(msg, e);
  if (had) return (upb_MessageValue *)(uintptr_t)&had->data;
  upb_Extension *made = UPB_PRIVATE(_upb_Message_GetOrCreateExtension)(msg, e, arena);
  if (!made) return NULL;
  memset(&made->data, 0, sizeof made->data);
  return &made->data;
}

/* Whether the extension has an entry in `msg`. */
static inline bool bjvmi_upb_has_extension(const upb_Message *msg, const upb_MiniTableExtension *e) {
  return UPB_PRIVATE(_upb_Message_Getext)(msg, e) != NULL;
}

/* Takes the extension's entry out of `msg` again; used when a text unsets what it had created. */
static inline void bjvmi_upb_clear_extension(upb_Message *msg, const upb_MiniTableExtension *e) {
  upb_Message_Internal *in = UPB_PRIVATE(_upb_Message_GetInternal)(msg);
  if (!in) return;
  for (uint32_t i = 0; i < in->size; i++) {
    upb_TaggedAuxPtr p = in->aux_data[i];
    if (upb_TaggedAuxPtr_IsCanonicalExtension(p) && upb_TaggedAuxPtr_CanonicalExtension(p)->ext == e) {
      in->aux_data[i] = in->aux_data[in->size - 1];
      in->size--;
      return;
    }
  }
}

/* The extension of `msg` with the lowest number above `after` that has a value (empty repeated ones do not);
 * NULL when there is none. Its value is stored in *value. */
static inline const upb_MiniTableExtension *bjvmi_upb_next_extension(const upb_Message *msg, uint32_t after,
                                                                     const upb_MessageValue **value) {
  const upb_Message_Internal *in = UPB_PRIVATE(_upb_Message_GetInternal)(msg);
  const upb_Extension *best = NULL;
  for (uint32_t i = 0; in && i < in->size; i++) {
    if (!upb_TaggedAuxPtr_IsCanonicalExtension(in->aux_data[i])) continue;
    const upb_Extension *e = upb_TaggedAuxPtr_CanonicalExtension(in->aux_data[i]);
    uint32_t number = upb_MiniTableExtension_Number(e->ext);
    if (number <= after || (best && number >= upb_MiniTableExtension_Number(best->ext))) continue;
    if (!UPB_PRIVATE(_upb_Extension_IsEmpty)(e)) best = e;
  }
  if (!best) return NULL;
  *value = &best->data;
  return best->ext;
}

#include "upb/port/undef.inc"

#endif /* BJVM_UPB_LAYOUT_H_ */
