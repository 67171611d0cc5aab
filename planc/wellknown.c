/* Well-known types, by name and by shape.
 *
 * A well-known kind makes the VMs rely on certain words being there, and anyone may declare a
 * google.protobuf.Timestamp of his own. So the name alone is not believed: a type that has the name but not
 * the shape is an ordinary message. Struct, Value and ListValue rely on each other and are believed together
 * or not at all.
 */
#include "compiler.h"

/* Whether field `number` of `m` is there, singular, outside oneofs, and of scalar kind `kind`. */
static bool is_scalar(const upb_MessageDef *m, uint32_t number, uint8_t kind) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(m, number);
  return f != NULL && !upb_FieldDef_IsRepeated(f) && upb_FieldDef_RealContainingOneof(f) == NULL &&
         bjvmi_schema_scalar(f) == kind;
}

static bool has_fields(const upb_MessageDef *m, int count) {
  return upb_MessageDef_FieldCount(m) == count && upb_MessageDef_ExtensionRangeCount(m) == 0;
}

static bool is_time(const upb_MessageDef *m) {
  return has_fields(m, 2) && is_scalar(m, 1, BJVMI_KIND_INT64) && is_scalar(m, 2, BJVMI_KIND_INT32);
}

static bool is_any(const upb_MessageDef *m) {
  return has_fields(m, 2) && is_scalar(m, 1, BJVMI_KIND_STRING) && is_scalar(m, 2, BJVMI_KIND_BYTES);
}

static bool is_wrapper(const upb_MessageDef *m, uint8_t kind) {
  return has_fields(m, 1) && is_scalar(m, 1, kind);
}

static bool is_field_mask(const upb_MessageDef *m) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(m, 1);
  return has_fields(m, 1) && f != NULL && upb_FieldDef_IsRepeated(f) &&
         bjvmi_schema_scalar(f) == BJVMI_KIND_STRING;
}

/* -- Struct, Value, ListValue --------------------------------------------------------------------------- */

/* The message type of field `number`, if it is one of the well-known name `which`. */
static const upb_MessageDef *sub_of(const upb_MessageDef *m, uint32_t number, upb_WellKnown which,
                                    bool repeated) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(m, number);
  if (f == NULL || !upb_FieldDef_IsSubMessage(f) || upb_FieldDef_IsRepeated(f) != repeated) return NULL;
  const upb_MessageDef *sub = upb_FieldDef_MessageSubDef(f);
  return upb_MessageDef_WellKnownType(sub) == which ? sub : NULL;
}

/* The Value that a Struct-like type is a map of, or NULL. */
static const upb_MessageDef *value_of_struct(const upb_MessageDef *m) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(m, 1);
  if (!has_fields(m, 1) || f == NULL || !upb_FieldDef_IsMap(f)) return NULL;
  const upb_MessageDef *entry = upb_FieldDef_MessageSubDef(f);
  if (!is_scalar(entry, 1, BJVMI_KIND_STRING)) return NULL;
  return sub_of(entry, 2, kUpb_WellKnown_Value, false);
}

/* The Value that a ListValue-like type repeats, or NULL. */
static const upb_MessageDef *value_of_list(const upb_MessageDef *m) {
  return has_fields(m, 1) ? sub_of(m, 1, kUpb_WellKnown_Value, true) : NULL;
}

/* Whether `m` has the six members of Value, all in one oneof. */
static bool is_value(const upb_MessageDef *m) {
  if (!has_fields(m, 6)) return false;
  const upb_OneofDef *oneof = NULL;
  for (uint32_t number = 1; number <= 6; number++) {
    const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(m, number);
    const upb_OneofDef *of = f ? upb_FieldDef_RealContainingOneof(f) : NULL;
    if (of == NULL || (oneof != NULL && of != oneof)) return false;
    oneof = of;
  }
  return upb_FieldDef_Type(upb_MessageDef_FindFieldByNumber(m, 1)) == kUpb_FieldType_Enum &&
         bjvmi_schema_scalar(upb_MessageDef_FindFieldByNumber(m, 2)) == BJVMI_KIND_DOUBLE &&
         bjvmi_schema_scalar(upb_MessageDef_FindFieldByNumber(m, 3)) == BJVMI_KIND_STRING &&
         bjvmi_schema_scalar(upb_MessageDef_FindFieldByNumber(m, 4)) == BJVMI_KIND_BOOL;
}

/* Whether Value, and the Struct and the ListValue in it, are all as they should be. */
static bool is_value_family(const upb_MessageDef *value) {
  if (value == NULL || !is_value(value)) return false;
  const upb_EnumDef *null = upb_FieldDef_EnumSubDef(upb_MessageDef_FindFieldByNumber(value, 1));
  const upb_MessageDef *structure = sub_of(value, 5, kUpb_WellKnown_Struct, false);
  const upb_MessageDef *list = sub_of(value, 6, kUpb_WellKnown_ListValue, false);
  return bjvmi_enums_is_null(null) && structure != NULL && list != NULL &&
         value_of_struct(structure) == value && value_of_list(list) == value;
}

/* -- All of them ---------------------------------------------------------------------------------------- */

uint8_t bjvmi_wellknown_kind(const upb_MessageDef *m) {
  uint8_t kind = BJVMI_KIND_MESSAGE;
  bool fits = false;
#define CASE(name, its_kind, shape)                                                                          \
  case kUpb_WellKnown_##name:                                                                                \
    kind = BJVMI_KIND_##its_kind;                                                                            \
    fits = shape;                                                                                            \
    break;
  switch (upb_MessageDef_WellKnownType(m)) {
    CASE(Any, ANY, is_any(m))
    CASE(FieldMask, FIELD_MASK, is_field_mask(m))
    CASE(Duration, DURATION, is_time(m))
    CASE(Timestamp, TIMESTAMP, is_time(m))
    CASE(DoubleValue, WRAPPER, is_wrapper(m, BJVMI_KIND_DOUBLE))
    CASE(FloatValue, WRAPPER, is_wrapper(m, BJVMI_KIND_FLOAT))
    CASE(Int64Value, WRAPPER, is_wrapper(m, BJVMI_KIND_INT64))
    CASE(UInt64Value, WRAPPER, is_wrapper(m, BJVMI_KIND_UINT64))
    CASE(Int32Value, WRAPPER, is_wrapper(m, BJVMI_KIND_INT32))
    CASE(UInt32Value, WRAPPER, is_wrapper(m, BJVMI_KIND_UINT32))
    CASE(StringValue, WRAPPER, is_wrapper(m, BJVMI_KIND_STRING))
    CASE(BytesValue, WRAPPER, is_wrapper(m, BJVMI_KIND_BYTES))
    CASE(BoolValue, WRAPPER, is_wrapper(m, BJVMI_KIND_BOOL))
    CASE(Value, VALUE, is_value_family(m))
    CASE(ListValue, LIST_VALUE, is_value_family(value_of_list(m)))
    CASE(Struct, STRUCT, is_value_family(value_of_struct(m)))
    case kUpb_WellKnown_Unspecified: break;
  }
#undef CASE
  return fits ? kind : BJVMI_KIND_MESSAGE;
}
