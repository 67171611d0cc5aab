/* Fields by number, through upb's accessors: what generated code would be, for a schema that comes as data. A field that the
 * schema does not have reads as its zero and is not written. */
#ifndef BJVM_FIRMWARE_FIELDS_H_
#define BJVM_FIRMWARE_FIELDS_H_

#include <string.h>

#include "bjvm/plan.h"
#include "upb/message/accessors.h"
#include "upb/message/array.h"
#include "upb/message/map.h"

/* A message and its table: no accessor can do without it. */
typedef struct record {
  upb_Message *msg;
  const upb_MiniTable *table;
} record;

static inline const upb_MiniTableField *field(record r, uint32_t number) {
  return upb_MiniTable_FindFieldByNumber(r.table, number);
}

static inline record record_new(const bjvm_plan *plan, upb_Arena *arena) {
  const upb_MiniTable *table = bjvm_plan_table(plan);
  return (record){upb_Message_New(table, arena), table};
}

static inline uint32_t get_u32(record r, uint32_t number) {
  const upb_MiniTableField *f = field(r, number);
  return f ? upb_Message_GetUInt32(r.msg, f, 0) : 0;
}

static inline int32_t get_enum(record r, uint32_t number) {
  const upb_MiniTableField *f = field(r, number);
  return f ? upb_Message_GetInt32(r.msg, f, 0) : 0;
}

static inline upb_StringView get_string(record r, uint32_t number) {
  const upb_MiniTableField *f = field(r, number);
  upb_StringView none = {NULL, 0};
  return f ? upb_Message_GetString(r.msg, f, none) : none;
}

/* msg is NULL where the field is not set. */
static inline record get_message(record r, uint32_t number) {
  const upb_MiniTableField *f = field(r, number);
  if (!f) return (record){NULL, NULL};
  return (record){upb_Message_GetMutableMessage(r.msg, f), upb_MiniTable_SubMessage(f)};
}

static inline const upb_Map *get_map(record r, uint32_t number) {
  const upb_MiniTableField *f = field(r, number);
  return f ? upb_Message_GetMap(r.msg, f) : NULL;
}

static inline void set_u32(record r, uint32_t number, uint32_t v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldUInt32(r.msg, f, v);
}

static inline void set_i32(record r, uint32_t number, int32_t v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldInt32(r.msg, f, v);
}

static inline void set_u64(record r, uint32_t number, uint64_t v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldUInt64(r.msg, f, v);
}

static inline void set_i64(record r, uint32_t number, int64_t v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldInt64(r.msg, f, v);
}

static inline void set_bool(record r, uint32_t number, bool v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldBool(r.msg, f, v);
}

static inline void set_double(record r, uint32_t number, double v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldDouble(r.msg, f, v);
}

static inline void set_float(record r, uint32_t number, float v) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldFloat(r.msg, f, v);
}

/* The bytes stay where they are. */
static inline void set_bytes(record r, uint32_t number, const void *data, size_t size) {
  const upb_MiniTableField *f = field(r, number);
  if (f) upb_Message_SetBaseFieldString(r.msg, f, upb_StringView_FromDataAndSize((const char *)data, size));
}

static inline void set_text(record r, uint32_t number, const char *text) {
  set_bytes(r, number, text, strlen(text));
}

/* A new, empty sub-message. msg is NULL: no memory or no such field. */
static inline record add_message(record r, uint32_t number, upb_Arena *arena) {
  const upb_MiniTableField *f = field(r, number);
  record sub = {NULL, f ? upb_MiniTable_SubMessage(f) : NULL};
  if (!sub.table) return sub;
  sub.msg = upb_Message_New(sub.table, arena);
  if (sub.msg) upb_Message_SetBaseFieldMessage(r.msg, f, sub.msg);
  return sub;
}

static inline bool add_i32(record r, uint32_t number, int32_t v, upb_Arena *arena) {
  const upb_MiniTableField *f = field(r, number);
  upb_Array *array = f ? upb_Message_GetOrCreateMutableArray(r.msg, f, arena) : NULL;
  upb_MessageValue value = {.int32_val = v};
  return array && upb_Array_Append(array, value, arena);
}

static inline bool put_counter(record r, uint32_t number, const char *name, uint32_t v, upb_Arena *arena) {
  const upb_MiniTableField *f = field(r, number);
  upb_Map *map =
      f ? upb_Message_GetOrCreateMutableMap(r.msg, upb_MiniTable_MapEntrySubMessage(f), f, arena) : NULL;
  upb_MessageValue key = {.str_val = upb_StringView_FromDataAndSize(name, strlen(name))};
  upb_MessageValue value = {.uint32_val = v};
  return map && upb_Map_Insert(map, key, value, arena) != kUpb_MapInsertStatus_OutOfMemory;
}

#endif /* BJVM_FIRMWARE_FIELDS_H_ */
