/* How upb lays out messages, arrays and extensions; upb_map.h knows of its maps, and nothing else of its insides.
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

#include "short_string.h"
#include "upb/base/string_view.h"
#include "upb/mem/arena.h"
#include "upb/mem/internal/arena.h"
#include "upb/message/array.h"
#include "upb/message/internal/array.h"
#include "upb/message/internal/extension.h"
#include "upb/message/internal/message.h"
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
_Static_assert(kUpb_Message_Align == 8, "a message is aligned to and consists of units of 8 bytes");
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

/* The type that upb's binary decoder goes by: an open enum is an int32 here, a string that is not checked is bytes. */
static inline unsigned bjvmi_upb_wire_kind(const upb_MiniTableField *f) {
  return f->UPB_PRIVATE(descriptortype);
}

/* Whether the field has one value, in the message itself. */
static inline bool bjvmi_upb_is_single(const upb_MiniTableField *f) {
  return (f->UPB_ONLYBITS(mode) & (kUpb_FieldMode_Mask | kUpb_LabelFlags_IsExtension)) ==
         kUpb_FieldMode_Scalar;
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

/* Bytes that may be written behind the arena's last allocation: they belong to nobody yet. */
static inline size_t bjvmi_upb_arena_room(upb_Arena *arena) { return UPB_PRIVATE(_upb_ArenaHas)(arena); }

/* A new message, all zero; NULL: out of memory. Most are small: clearing more than the message has, where there is
 * room for it, spares the call of memset. */
static inline upb_Message *bjvmi_upb_new(const upb_MiniTable *t, upb_Arena *arena) {
#if BJVMI_SHORT_STRINGS && !BJVMI_CHECKED_READS
  enum { SMALL = 64 };
  size_t size = bjvmi_upb_message_size(t);
  if (__builtin_expect(size <= SMALL && bjvmi_upb_arena_room(arena) >= 2 * SMALL, 1)) {
    void *m = upb_Arena_Malloc(arena, size);
    memset(m, 0, SMALL);
    return (upb_Message *)m;
  }
#endif
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

/* A copy of the array with the same elements and no room for more; NULL: out of memory. */
static inline upb_Array *bjvmi_upb_array_copy(const upb_Array *from, upb_Arena *arena) {
  size_t size = upb_Array_Size(from);
  upb_Array *copy = bjvmi_upb_array_new(arena, size, bjvmi_upb_array_lg2(from));
  if (!copy) return NULL;
  if (size)
    memcpy(upb_Array_MutableDataPtr(copy), upb_Array_DataPtr(from), size << bjvmi_upb_array_lg2(from));
  bjvmi_upb_array_set_size(copy, size);
  return copy;
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

/* Bytes in the arena: of an entry, and of one that is new. */
enum {
  BJVMI_UPB_EXTENSION_SIZE = sizeof(upb_Extension),
  /* With its place in a list that doubles and leaves the smaller ones behind. */
  BJVMI_UPB_EXTENSION_COST = sizeof(upb_Extension) + 4 * sizeof(upb_TaggedAuxPtr),
};

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

/* -- Copies of messages --------------------------------------------------------------------------------- */

/* A message's list of unknown fields and extensions: its length, and its bytes in the arena. */
static inline uint32_t bjvmi_upb_list_count(const upb_Message *msg) {
  const upb_Message_Internal *in = UPB_PRIVATE(_upb_Message_GetInternal)(msg);
  return in ? in->size : 0;
}

static inline size_t bjvmi_upb_list_size(const upb_Message *msg) {
  uint32_t count = bjvmi_upb_list_count(msg);
  return count ? sizeof(upb_Message_Internal) + count * sizeof(upb_TaggedAuxPtr) : 0;
}

/* A copy of the message that is not frozen, with a list of its own that has the same entries; NULL: out of
 * memory. */
static inline upb_Message *bjvmi_upb_copy(const upb_Message *from, const upb_MiniTable *t, upb_Arena *arena) {
  size_t size = bjvmi_upb_list_size(from);
  upb_Message *copy = (upb_Message *)upb_Arena_Malloc(arena, bjvmi_upb_message_size(t));
  upb_Message_Internal *list = size ? (upb_Message_Internal *)upb_Arena_Malloc(arena, size) : NULL;
  if (!copy || (size && !list)) return NULL;
  memcpy(copy, from, bjvmi_upb_message_size(t));
  memset(copy, 0, sizeof *copy);
  if (!list) return copy;
  memcpy(list, UPB_PRIVATE(_upb_Message_GetInternal)(from), size);
  list->capacity = list->size;
  UPB_PRIVATE(_upb_Message_SetInternal)(copy, list);
  return copy;
}

/* The extension that stands at `i` of the list; NULL: something else does. */
static inline const upb_MiniTableExtension *bjvmi_upb_list_extension(const upb_Message *msg, uint32_t i) {
  upb_TaggedAuxPtr p = UPB_PRIVATE(_upb_Message_GetInternal)(msg)->aux_data[i];
  return upb_TaggedAuxPtr_IsCanonicalExtension(p) ? upb_TaggedAuxPtr_CanonicalExtension(p)->ext : NULL;
}

/* Puts a copy of that extension's entry in its place; its value, or NULL: out of memory. */
static inline upb_MessageValue *bjvmi_upb_list_copy(upb_Message *msg, uint32_t i, upb_Arena *arena) {
  upb_TaggedAuxPtr *p = &UPB_PRIVATE(_upb_Message_GetInternal)(msg)->aux_data[i];
  upb_Extension *copy = (upb_Extension *)upb_Arena_Malloc(arena, sizeof *copy);
  if (!copy) return NULL;
  *copy = *upb_TaggedAuxPtr_CanonicalExtension(*p);
  *p = upb_TaggedAuxPtr_MakeCanonicalExtension(copy);
  return &copy->data;
}

#include "upb/port/undef.inc"

#endif /* BJVM_UPB_LAYOUT_H_ */
