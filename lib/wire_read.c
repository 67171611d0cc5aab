/* Reading simple fields of the binary form, ahead of upb_Decode.
 *
 * The content of an Any is mostly a few scalars and strings, and to set up upb_Decode costs more than to read them.
 * Binary messages can be cut behind any field and merged again, so this reader may stop at any field and leave the
 * rest to upb_Decode (registry.c): what it does not know, what is malformed, and every status. Which fields are set
 * differs from message to message; branches are on the four wire types, and how varints of different types are stored
 * stands in a table.
 *
 * Invariant: what is stored is a whole field, exactly as upb_Decode stores it; wire_test.c compares the two.
 */
#include "wire_read.h"

#include <stdint.h>
#include <string.h>

#include "kernels.h"
#include "short_string.h"
#include "upb/base/descriptor_constants.h"
#include "upb/wire/types.h"
#include "upb_layout.h"

#if BJVMI_WIRE_READS

/* Bytes from the start of a field that are read whatever its size: a tag of 2 bytes and a varint of 10, or a length of 2
 * and 8 bytes of a string. */
enum { FIELD_READS = 12 };

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* How a field of each of upb's types is read. */
typedef struct kind {
  uint64_t value;   /* of a varint: the bits that are stored */
  uint64_t refused; /* bits that must not be there */
  uint8_t wire;     /* the wire type; NOT_SIMPLE: left to upb */
  uint8_t zigzag;   /* 1: the sign is in the lowest bit */
} kind;

enum { NOT_SIMPLE = 0xff };

/* An enum that upb calls so is a closed one. A bool has this form where it is 0 or 1. */
static const kind kinds[] = {
    [0] = {.wire = NOT_SIMPLE},
    [kUpb_FieldType_Double] = {.wire = kUpb_WireType_64Bit},
    [kUpb_FieldType_Float] = {.wire = kUpb_WireType_32Bit},
    [kUpb_FieldType_Int64] = {.wire = kUpb_WireType_Varint, .value = UINT64_MAX},
    [kUpb_FieldType_UInt64] = {.wire = kUpb_WireType_Varint, .value = UINT64_MAX},
    [kUpb_FieldType_Int32] = {.wire = kUpb_WireType_Varint, .value = UINT32_MAX},
    [kUpb_FieldType_Fixed64] = {.wire = kUpb_WireType_64Bit},
    [kUpb_FieldType_Fixed32] = {.wire = kUpb_WireType_32Bit},
    [kUpb_FieldType_Bool] = {.wire = kUpb_WireType_Varint, .value = UINT8_MAX, .refused = ~UINT64_C(1)},
    [kUpb_FieldType_String] = {.wire = kUpb_WireType_Delimited},
    [kUpb_FieldType_Group] = {.wire = NOT_SIMPLE},
    [kUpb_FieldType_Message] = {.wire = NOT_SIMPLE},
    [kUpb_FieldType_Bytes] = {.wire = kUpb_WireType_Delimited},
    [kUpb_FieldType_UInt32] = {.wire = kUpb_WireType_Varint, .value = UINT32_MAX},
    [kUpb_FieldType_Enum] = {.wire = NOT_SIMPLE},
    [kUpb_FieldType_SFixed32] = {.wire = kUpb_WireType_32Bit},
    [kUpb_FieldType_SFixed64] = {.wire = kUpb_WireType_64Bit},
    [kUpb_FieldType_SInt32] = {.wire = kUpb_WireType_Varint, .value = UINT32_MAX, .zigzag = 1},
    [kUpb_FieldType_SInt64] = {.wire = kUpb_WireType_Varint, .value = UINT64_MAX, .zigzag = 1},
};

/* Bytes to read, of which FIELD_READS from the start of each field are there. The strings of the message point to `place`,
 * which has what is at `first`. */
typedef struct span {
  const char *first, *end, *place;
} span;

/* -- Numbers -------------------------------------------------------------------------------------------- */

/* Takes the highest bit out of each of 8 bytes. */
static inline uint64_t join_sevens(uint64_t v) {
  v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
  v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
  return (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* A varint of 9 or 10 bytes, of which `v` has the first 8. NULL: it has bits that no value has. */
static const char *read_long_varint(const char *p, uint64_t v, uint64_t *value) {
  uint64_t ninth = (uint8_t)p[8], tenth = (uint8_t)p[9];
  *value = join_sevens(v) | (ninth & 0x7f) << 56;
  if (ninth < 0x80) return p + 9;
  *value |= tenth << 63;
  return tenth <= 1 ? p + 10 : NULL;
}

/* A tag or a length: one or two bytes. */
static inline const char *read_short_varint(const char *p, uint32_t *value) {
  *value = (uint8_t)*p++;
  if (__builtin_expect(*value < 0x80, 1)) return p;
  *value += ((uint32_t)(uint8_t)*p - 1) << 7;
  return (uint8_t)*p++ < 0x80 ? p : NULL;
}

static inline const char *read_varint(const char *p, uint64_t *value) {
  uint64_t v = bjvmi_upb_u64(p);
  if ((v & 0x80) == 0) {
    *value = v & 0x7f;
    return p + 1;
  }
  uint64_t last = ~v & HIGH_BITS;
  if (__builtin_expect(last == 0, 0)) return read_long_varint(p, v, value);
  *value = join_sevens(v & (last ^ (last - 1)));
  return p + (size_t)__builtin_ctzll(last) / 8 + 1;
}

/* Stores 1, 4 or 8 bytes: they lie in one of the units of 8 bytes that a message consists of. */
static inline void store_number(upb_Message *msg, uint32_t offset, const kind *k, uint64_t v) {
  void *unit = bjvmi_upb_mut(msg, offset & ~7u);
  unsigned shift = offset * 8 % 64;
  v &= k->value;
  v = v >> k->zigzag ^ (0 - (v & k->zigzag));
  bjvmi_upb_set_u64(unit, (bjvmi_upb_u64(unit) & ~(k->value << shift)) | (v & k->value) << shift);
}

/* The fields' readers return the place behind the value, NULL where it is left to upb. */

static inline const char *read_number(const char *p, const char *end, const kind *k, upb_Message *msg,
                                      uint32_t offset) {
  uint64_t v;
  p = read_varint(p, &v);
  if (!p || p > end || v & k->refused) return NULL;
  store_number(msg, offset, k, v);
  return p;
}

static inline const char *read_fixed32(const char *p, const char *end, void *at) {
  if (end - p < 4) return NULL;
  bjvmi_upb_set_u32(at, bjvmi_upb_u32(p));
  return p + 4;
}

static inline const char *read_fixed64(const char *p, const char *end, void *at) {
  if (end - p < 8) return NULL;
  bjvmi_upb_set_u64(at, bjvmi_upb_u64(p));
  return p + 8;
}

/* -- Strings -------------------------------------------------------------------------------------------- */

/* Whether the string is UTF-8. Where it is shorter, 8 bytes are there to be read. */
static inline bool is_utf8(const char *p, size_t size) {
  uint64_t bits = 0;
  if (size < 8) {
    bits = size ? bjvmi_upb_u64(p) << (64 - 8 * size) : 0;
  } else {
    for (size_t i = 0; i < size - 8; i += 8) bits |= bjvmi_upb_u64(p + i);
    bits |= bjvmi_upb_u64(p + size - 8);
  }
  return __builtin_expect((bits & HIGH_BITS) == 0, 1) || !bjvmi_kernels_best()->utf8(p, size);
}

static inline const char *read_string(const char *p, const span *in, bool checked, void *at) {
  uint32_t size;
  p = read_short_varint(p, &size);
  if (!p || (ptrdiff_t)size > in->end - p || (checked && !is_utf8(p, size))) return NULL;
  bjvmi_upb_set_string(at, in->place + (p - in->first), size);
  return p + size;
}

/* -- Fields --------------------------------------------------------------------------------------------- */

static inline void set_presence(upb_Message *msg, const upb_MiniTableField *f) {
  if (bjvmi_upb_has_hasbit(f)) bjvmi_upb_set_hasbit(msg, bjvmi_upb_presence(f));
  else if (bjvmi_upb_has_oneof(f))
    bjvmi_upb_set_oneof_case(msg, bjvmi_upb_presence(f), upb_MiniTableField_Number(f));
}

static inline const upb_MiniTableField *find_field(const upb_MiniTable *table, uint32_t dense,
                                                   uint32_t number) {
  if (__builtin_expect(number - 1 < dense, 1)) return upb_MiniTable_GetFieldByIndex(table, number - 1);
  return upb_MiniTable_FindFieldByNumber(table, number);
}

static inline const char *read_value(const char *p, const span *in, unsigned wire, upb_Message *msg,
                                     const upb_MiniTableField *f) {
  unsigned type = bjvmi_upb_wire_kind(f);
  const kind *k = &kinds[type];
  uint32_t offset = bjvmi_upb_offset(f);
  void *at = bjvmi_upb_mut(msg, offset);
  if (k->wire != wire || !bjvmi_upb_is_single(f)) return NULL;
  if (wire == kUpb_WireType_Varint) return read_number(p, in->end, k, msg, offset);
  if (wire == kUpb_WireType_Delimited) return read_string(p, in, type == kUpb_FieldType_String, at);
  return wire == kUpb_WireType_32Bit ? read_fixed32(p, in->end, at) : read_fixed64(p, in->end, at);
}

/* Reads the fields that start before `stop`; returns the first that it left. */
static inline const char *read_fields(const span *in, const char *stop, upb_Message *msg,
                                      const upb_MiniTable *table) {
  const char *p = in->first;
  uint32_t dense = bjvmi_upb_dense_below(table);
  while (p < stop) {
    uint32_t tag;
    const char *q = read_short_varint(p, &tag);
    if (!q) return p;
    const upb_MiniTableField *f = find_field(table, dense, tag >> 3);
    if (!f) return p;
    q = read_value(q, in, tag & 7, msg, f);
    if (!q) return p;
    set_presence(msg, f);
    p = q;
  }
  return p;
}

/* Fewer than FIELD_READS bytes, from a copy that has as many. */
static const char *read_tail(const char *p, const char *end, upb_Message *msg, const upb_MiniTable *table) {
  char copy[2 * FIELD_READS] = {0};
  size_t size = (size_t)(end - p);
  memcpy(copy, p, size);
  const span in = {copy, copy + size, p};
  return p + (read_fields(&in, in.end, msg, table) - copy);
}

const char *bjvmi_wire_read(const char *data, size_t size, upb_Message *msg, const upb_MiniTable *table) {
  if (size == 0 || size > INT32_MAX) return data;
  const span in = {data, data + size, data};
  if (bjvmi_short_in_page(in.end - 1, FIELD_READS)) return read_fields(&in, in.end, msg, table);
  const char *p = data;
  if (size >= FIELD_READS) p = read_fields(&in, in.end - FIELD_READS + 1, msg, table);
  return (size_t)(in.end - p) < FIELD_READS ? read_tail(p, in.end, msg, table) : p;
}

#else

const char *bjvmi_wire_read(const char *data, size_t size, upb_Message *msg, const upb_MiniTable *table) {
  (void)size;
  (void)msg;
  (void)table;
  return data;
}

#endif /* BJVMI_WIRE_READS */
