/* The seam to upb: what bound words and vm/upb_layout.h read and write in a message, against upb's public
 * accessors.
 *
 * For every field of a schema that has every sort of field, a value is set through reflection and read raw,
 * then written raw and read through reflection; presence too. A new version of upb that lays messages out
 * otherwise fails here first.
 */
#include "fixture.h"
#include "plan.h"
#include "upb/reflection/message.h"
#include "upb_map.h"

/* Counts what has been compared, so that the test can say that nothing was left out. */
typedef struct tally {
  bool types[19][3]; /* by upb_FieldType; single, repeated, map value */
  bool keys[19];     /* map keys */
  bool forms[BJVMI_FORM_COUNT];
  size_t extensions;
} tally;

static bjvmi_kind kind_of(const bjvmi_word *w) { return (bjvmi_kind)BJVMI_OP_KIND(w->op); }
static bjvmi_form form_of(const bjvmi_word *w) { return (bjvmi_form)BJVMI_OP_FORM(w->op); }

static bool is_message(const upb_FieldDef *field) { return upb_FieldDef_CType(field) == kUpb_CType_Message; }

/* The n-th of a field's values: never zero, different for different n. Messages are new. */
static upb_MessageValue make_value(const fixture *f, const upb_FieldDef *field, int n) {
  upb_MessageValue v;
  memset(&v, 0, sizeof v);
  switch (upb_FieldDef_CType(field)) {
    case kUpb_CType_Bool: v.bool_val = true; break;
    case kUpb_CType_Float: v.float_val = -1.5f * (float)(n + 1); break;
    case kUpb_CType_Double: v.double_val = 1e100 * (n + 1); break;
    case kUpb_CType_Int32: v.int32_val = -100000 - n; break;
    case kUpb_CType_Enum: {
      const upb_EnumDef *e = upb_FieldDef_EnumSubDef(field);
      /* an open enum of a zero only takes any number */
      v.int32_val = upb_EnumDef_ValueCount(e) > 1 ? upb_EnumValueDef_Number(upb_EnumDef_Value(e, 1)) : 7;
      break;
    }
    case kUpb_CType_UInt32: v.uint32_val = 4000000000u + (uint32_t)n; break;
    case kUpb_CType_Int64: v.int64_val = -5000000000000 - n; break;
    case kUpb_CType_UInt64: v.uint64_val = 18000000000000000000u + (uint64_t)n; break;
    case kUpb_CType_String:
    case kUpb_CType_Bytes: {
      char *text = (char *)upb_Arena_Malloc(f->arena, 32);
      v.str_val = upb_StringView_FromDataAndSize(text, (size_t)sprintf(text, "text %d", n));
      break;
    }
    default:
      v.msg_val = upb_Message_New(upb_MessageDef_MiniTable(upb_FieldDef_MessageSubDef(field)), f->arena);
      break;
  }
  return v;
}

/* The value at `at`, read as the VMs read one of the kind. */
static upb_MessageValue read_raw(bjvmi_kind kind, const void *at) {
  upb_MessageValue v;
  memset(&v, 0, sizeof v);
  switch (bjvmi_kind_size(kind)) {
    case 1: v.bool_val = *(const bool *)at; break;
    case 4: v.uint32_val = bjvmi_upb_u32(at); break;
    case 8:
      if (kind >= BJVMI_KIND_MESSAGE && kind <= BJVMI_KIND_MAP)
        v.msg_val = (const upb_Message *)bjvmi_upb_pointer(at);
      else v.uint64_val = bjvmi_upb_u64(at);
      break;
    default: v.str_val = bjvmi_upb_string(at); break;
  }
  return v;
}

static void write_raw(bjvmi_kind kind, void *at, upb_MessageValue v) {
  switch (bjvmi_kind_size(kind)) {
    case 1: *(bool *)at = v.bool_val; break;
    case 4: bjvmi_upb_set_u32(at, v.uint32_val); break;
    case 8:
      if (kind >= BJVMI_KIND_MESSAGE && kind <= BJVMI_KIND_MAP)
        bjvmi_upb_set_pointer(at, (void *)(uintptr_t)v.msg_val);
      else bjvmi_upb_set_u64(at, v.uint64_val);
      break;
    default: bjvmi_upb_set_string(at, v.str_val.data, v.str_val.size); break;
  }
}

static bool equal(const upb_FieldDef *field, upb_MessageValue a, upb_MessageValue b) {
  switch (upb_FieldDef_CType(field)) {
    case kUpb_CType_Bool: return a.bool_val == b.bool_val;
    case kUpb_CType_Float:
    case kUpb_CType_Int32:
    case kUpb_CType_UInt32:
    case kUpb_CType_Enum: return a.uint32_val == b.uint32_val;
    case kUpb_CType_Double:
    case kUpb_CType_Int64:
    case kUpb_CType_UInt64: return a.uint64_val == b.uint64_val;
    case kUpb_CType_String:
    case kUpb_CType_Bytes: return upb_StringView_IsEqual(a.str_val, b.str_val);
    default: return a.msg_val == b.msg_val;
  }
}

static void check_equal(const upb_FieldDef *field, upb_MessageValue a, upb_MessageValue b, const char *what) {
  cr_assert(equal(field, a, b), "%s: %s", upb_FieldDef_FullName(field), what);
}

/* -- Single fields -------------------------------------------------------------------------------------- */

static bool raw_presence(const void *msg, const bjvmi_word *w) {
  switch (form_of(w)) {
    case BJVMI_FORM_HASBIT: return bjvmi_upb_hasbit(msg, w->presence);
    case BJVMI_FORM_ONEOF: return bjvmi_upb_oneof_case(msg, w->presence) == w->number;
    default: {
      static const char zero[sizeof(upb_StringView)];
      return memcmp(bjvmi_upb_at(msg, w->offset), zero, bjvmi_kind_size(kind_of(w))) != 0;
    }
  }
}

static void set_raw_presence(void *msg, const bjvmi_word *w) {
  if (form_of(w) == BJVMI_FORM_HASBIT) bjvmi_upb_set_hasbit(msg, w->presence);
  if (form_of(w) == BJVMI_FORM_ONEOF) bjvmi_upb_set_oneof_case(msg, w->presence, w->number);
}

static bool is_set(const upb_Message *msg, const upb_FieldDef *field) {
  if (upb_FieldDef_HasPresence(field)) return upb_Message_HasFieldByDef(msg, field);
  upb_MessageValue zero;
  memset(&zero, 0, sizeof zero);
  return !equal(field, upb_Message_GetFieldByDef(msg, field), zero);
}

/* No field but `field` counts as set, neither way. */
static void check_others_unset(const bjvm_plan *plan, const upb_MessageDef *def, const upb_Message *msg,
                               const upb_FieldDef *field) {
  for (uint32_t i = 0; i < plan->word_count; i++) {
    const bjvmi_word *w = &plan->words[i];
    const upb_FieldDef *other = upb_MessageDef_FindFieldByNumber(def, w->number);
    if (other == field || upb_FieldDef_IsRepeated(other)) continue;
    cr_assert_not(raw_presence(msg, w), "%s set, and %s too", upb_FieldDef_FullName(field),
                  upb_FieldDef_FullName(other));
    cr_assert_not(is_set(msg, other));
  }
}

static void check_single(const fixture *f, const bjvm_plan *plan, const upb_MessageDef *def,
                         const bjvmi_word *w, const upb_FieldDef *field, tally *t) {
  for (int n = 0; n < 3; n++) {
    upb_MessageValue v = make_value(f, field, n);
    upb_Message *msg = upb_Message_New(plan->table, f->arena);
    cr_assert_not(raw_presence(msg, w), "%s is unset at first", upb_FieldDef_FullName(field));
    upb_Message_SetFieldByDef(msg, field, v, f->arena);
    cr_assert(raw_presence(msg, w), "%s", upb_FieldDef_FullName(field));
    check_equal(field, read_raw(kind_of(w), bjvmi_upb_at(msg, w->offset)), v, "set by accessor, read raw");
    check_others_unset(plan, def, msg, field);
    upb_Message_ClearFieldByDef(msg, field);
    cr_assert_not(raw_presence(msg, w), "%s after clearing", upb_FieldDef_FullName(field));

    msg = upb_Message_New(plan->table, f->arena);
    write_raw(kind_of(w), bjvmi_upb_mut(msg, w->offset), v);
    set_raw_presence(msg, w);
    cr_assert(is_set(msg, field), "%s", upb_FieldDef_FullName(field));
    check_equal(field, upb_Message_GetFieldByDef(msg, field), v, "written raw, read by accessor");
    check_others_unset(plan, def, msg, field);
    if (form_of(w) == BJVMI_FORM_HASBIT) {
      bjvmi_upb_clear_hasbit(msg, w->presence);
      cr_assert_not(upb_Message_HasFieldByDef(msg, field), "%s", upb_FieldDef_FullName(field));
    }
    if (form_of(w) == BJVMI_FORM_ONEOF) {
      const upb_OneofDef *o = upb_FieldDef_ContainingOneof(field);
      cr_assert_eq(upb_Message_WhichOneofByDef(msg, o), field);
    }
  }
  /* an explicit zero is present */
  if (form_of(w) != BJVMI_FORM_IMPLICIT && !is_message(field)) {
    upb_MessageValue zero;
    memset(&zero, 0, sizeof zero);
    upb_Message *msg = upb_Message_New(plan->table, f->arena);
    upb_Message_SetFieldByDef(msg, field, zero, f->arena);
    cr_assert(raw_presence(msg, w), "%s set to zero", upb_FieldDef_FullName(field));
  }
  t->types[upb_FieldDef_Type(field)][0] = true;
  t->forms[form_of(w)] = true;
}

/* -- Repeated fields ------------------------------------------------------------------------------------ */

static size_t element_size(bjvmi_kind kind) { return bjvmi_kind_size(kind); }

static void check_array_of(const fixture *f, const upb_FieldDef *field, bjvmi_kind kind,
                           const upb_Array *array, const upb_MessageValue *values, size_t count) {
  (void)f;
  cr_assert_eq((size_t)1 << bjvmi_upb_array_lg2(array), element_size(kind), "%s",
               upb_FieldDef_FullName(field));
  cr_assert_eq(upb_Array_Size(array), count);
  for (size_t i = 0; i < count; i++) {
    const char *at = (const char *)upb_Array_DataPtr(array) + (i << bjvmi_upb_array_lg2(array));
    check_equal(field, read_raw(kind, at), values[i], "element read raw");
    check_equal(field, upb_Array_Get(array, i), values[i], "element by accessor");
  }
}

static void check_repeated(const fixture *f, const bjvm_plan *plan, const bjvmi_word *w,
                           const upb_FieldDef *field, tally *t) {
  enum { COUNT = 37 };
  upb_MessageValue values[COUNT];
  for (int i = 0; i < COUNT; i++) values[i] = make_value(f, field, i);
  upb_Message *msg = upb_Message_New(plan->table, f->arena);
  cr_assert_null(bjvmi_upb_pointer(bjvmi_upb_at(msg, w->offset)));
  upb_Array *array = upb_Message_Mutable(msg, field, f->arena).array;
  cr_assert_eq(bjvmi_upb_pointer(bjvmi_upb_at(msg, w->offset)), array, "%s", upb_FieldDef_FullName(field));
  for (int i = 0; i < COUNT; i++) cr_assert(upb_Array_Append(array, values[i], f->arena));
  check_array_of(f, field, kind_of(w), array, values, COUNT);

  msg = upb_Message_New(plan->table, f->arena);
  unsigned lg2 = 0;
  while ((size_t)1 << lg2 < element_size(kind_of(w))) lg2++;
  array = bjvmi_upb_array_new(f->arena, 0, lg2);
  bjvmi_upb_set_pointer(bjvmi_upb_mut(msg, w->offset), array);
  cr_assert(upb_Array_Reserve(array, COUNT, f->arena));
  for (size_t i = 0; i < COUNT; i++) {
    write_raw(kind_of(w), (char *)upb_Array_MutableDataPtr(array) + (i << lg2), values[i]);
    bjvmi_upb_array_set_size(array, i + 1);
  }
  cr_assert_eq(upb_Message_GetFieldByDef(msg, field).array_val, array);
  check_array_of(f, field, kind_of(w), array, values, COUNT);
  /* an array made raw takes what the accessors add */
  cr_assert(upb_Array_Append(array, values[0], f->arena));
  check_equal(field, upb_Array_Get(array, COUNT), values[0], "appended behind raw elements");
  t->types[upb_FieldDef_Type(field)][1] = true;
  t->forms[BJVMI_FORM_ARRAY] = true;
}

/* -- Maps ----------------------------------------------------------------------------------------------- */

/* The entry's words say how upb's iterator gives key and value: as upb_MessageValue, not as stored in a
 * message. */
static void check_map(const fixture *f, const bjvm_plan *plan, const bjvmi_word *w, const upb_FieldDef *field,
                      tally *t) {
  const upb_MessageDef *entry = upb_FieldDef_MessageSubDef(field);
  const upb_FieldDef *key_field = upb_MessageDef_FindFieldByNumber(entry, 1);
  const upb_FieldDef *value_field = upb_MessageDef_FindFieldByNumber(entry, 2);
  bjvm_status status = BJVM_OK;
  const bjvm_plan *sub = bjvmi_plan_link(plan, w, &status);
  cr_assert_not_null(sub, "%s: %s", upb_FieldDef_FullName(field), bjvm_status_name(status));
  cr_assert_eq(sub->word_count, 2);
  upb_Message *msg = upb_Message_New(plan->table, f->arena);
  cr_assert_null(bjvmi_upb_pointer(bjvmi_upb_at(msg, w->offset)));
  upb_Map *map = upb_Message_Mutable(msg, field, f->arena).map;
  cr_assert_eq(bjvmi_upb_pointer(bjvmi_upb_at(msg, w->offset)), map, "%s", upb_FieldDef_FullName(field));
  size_t count = upb_FieldDef_CType(key_field) == kUpb_CType_Bool ? 1 : 21;
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(bjvmi_upb_map_size(map), i);
    cr_assert(
        upb_Map_Set(map, make_value(f, key_field, (int)i), make_value(f, value_field, (int)i), f->arena));
  }
  cr_assert_eq(bjvmi_upb_map_size(map), count);
  size_t iter = kUpb_Map_Begin, seen = 0;
  upb_MessageValue key, value, got;
  while (upb_Map_Next(map, &key, &value, &iter)) {
    cr_assert(upb_Map_Get(map, read_raw(kind_of(&sub->words[0]), &key), &got), "%s: key read raw",
              upb_FieldDef_FullName(field));
    check_equal(value_field, read_raw(kind_of(&sub->words[1]), &value), got, "map value read raw");
    seen++;
  }
  cr_assert_eq(seen, count);
  /* bjvm's own walk finds the same entries in the same order, also in a table sized beforehand */
  bjvmi_map_walk walk = {0, 0, 0};
  upb_MessageValue walked_key, walked;
  memset(&walked_key, 0, sizeof walked_key);
  memset(&walked, 0, sizeof walked);
  iter = kUpb_Map_Begin;
  while (upb_Map_Next(map, &key, &value, &iter)) {
    cr_assert(bjvmi_upb_map_next(map, &walk, &walked_key, &walked));
    check_equal(key_field, read_raw(kind_of(&sub->words[0]), &walked_key),
                read_raw(kind_of(&sub->words[0]), &key), "map key walked");
    check_equal(value_field, read_raw(kind_of(&sub->words[1]), &walked),
                read_raw(kind_of(&sub->words[1]), &value), "map value walked");
  }
  cr_assert_not(bjvmi_upb_map_next(map, &walk, &walked_key, &walked));
  upb_Map *sized = upb_Map_New(f->arena, upb_FieldDef_CType(key_field), upb_FieldDef_CType(value_field));
  cr_assert(bjvmi_upb_map_reserve(sized, 100, f->arena));
  iter = kUpb_Map_Begin;
  while (upb_Map_Next(map, &key, &value, &iter)) cr_assert(upb_Map_Set(sized, key, value, f->arena));
  cr_assert_eq(upb_Map_Size(sized), count);
  iter = kUpb_Map_Begin;
  while (upb_Map_Next(map, &key, &value, &iter)) cr_assert(upb_Map_Get(sized, key, &got));
  /* a map hung in raw is found by the accessors */
  upb_Map *own = upb_Map_New(f->arena, upb_FieldDef_CType(key_field), upb_FieldDef_CType(value_field));
  bjvmi_upb_set_pointer(bjvmi_upb_mut(msg, w->offset), own);
  cr_assert_eq(upb_Message_GetFieldByDef(msg, field).map_val, own);
  t->keys[upb_FieldDef_Type(key_field)] = true;
  t->types[upb_FieldDef_Type(value_field)][2] = true;
}

/* -- Types ---------------------------------------------------------------------------------------------- */

static void check_word(const bjvm_plan *plan, const bjvmi_word *w, const upb_FieldDef *field) {
  const upb_MiniTableField *m = upb_FieldDef_MiniTable(field);
  cr_assert_not_null(field, "field %u", w->number);
  cr_assert_eq(w->offset, bjvmi_upb_offset(m));
  if (form_of(w) == BJVMI_FORM_HASBIT || form_of(w) == BJVMI_FORM_ONEOF)
    cr_assert_eq(w->presence, bjvmi_upb_presence(m));
  if (!upb_FieldDef_IsRepeated(field)) {
    cr_assert_eq(bjvmi_kind_size(kind_of(w)), bjvmi_upb_value_size(m), "%s", upb_FieldDef_FullName(field));
    cr_assert_leq((size_t)w->offset + bjvmi_kind_size(kind_of(w)), bjvmi_upb_message_size(plan->table));
  }
  cr_assert_eq(bjvmi_upb_is_required(plan->table, w->number), upb_FieldDef_IsRequired(field), "%s",
               upb_FieldDef_FullName(field));
}

static void check_type(const fixture *f, const char *type, tally *t) {
  const upb_MessageDef *def = test_find_message(f->pool, type);
  const bjvm_plan *plan = fixture_plan(f, type);
  cr_assert_eq(plan->word_count, upb_MessageDef_FieldCount(def));
  for (uint32_t i = 0; i < plan->word_count; i++) {
    const bjvmi_word *w = &plan->words[i];
    const upb_FieldDef *field = upb_MessageDef_FindFieldByNumber(def, w->number);
    check_word(plan, w, field);
    if (upb_FieldDef_IsMap(field)) check_map(f, plan, w, field, t);
    else if (upb_FieldDef_IsRepeated(field)) check_repeated(f, plan, w, field, t);
    else check_single(f, plan, def, w, field, t);
  }
}

/* -- Extensions ----------------------------------------------------------------------------------------- */

static bool has_extension(const upb_Message *msg, const upb_FieldDef *field) {
  if (upb_FieldDef_IsRepeated(field)) return upb_Message_GetFieldByDef(msg, field).array_val != NULL;
  return upb_Message_HasFieldByDef(msg, field);
}

static void check_extension(const fixture *f, const char *name, tally *t) {
  const bjvm_registry *r = bjvm_cache_registry(f->cache);
  const upb_FieldDef *field = upb_DefPool_FindExtensionByName(f->pool, name);
  cr_assert_not_null(field, "%s", name);
  bjvm_status status = BJVM_OK;
  const bjvm_extension *x = r->find_extension(r->context, name, strlen(name), &status);
  cr_assert_not_null(x, "%s", name);
  cr_assert(x->name_size == strlen(name) && memcmp(x->name, name, x->name_size) == 0);
  cr_assert_eq(x, r->find_extension_by_table(r->context, upb_FieldDef_MiniTableExtension(field), &status));
  const bjvmi_word *w = x->plan->words;
  cr_assert_eq(w->number, upb_FieldDef_Number(field));
  cr_assert_eq(w->offset, 0);
  upb_Message *msg = upb_Message_New(x->plan->table, f->arena);
  const upb_MessageValue *value = NULL;
  cr_assert_not(bjvmi_upb_has_extension(msg, x->table));
  cr_assert_null(bjvmi_upb_next_extension(msg, 0, &value));
  upb_MessageValue v = make_value(f, field, 3);
  if (upb_FieldDef_IsRepeated(field)) {
    upb_Array *array = upb_Array_New(f->arena, upb_FieldDef_CType(field));
    upb_Array_Append(array, v, f->arena);
    v.array_val = array;
  }
  cr_assert(upb_Message_SetFieldByDef(msg, field, v, f->arena));
  cr_assert(bjvmi_upb_has_extension(msg, x->table));
  cr_assert_eq(bjvmi_upb_next_extension(msg, 0, &value), x->table);
  cr_assert_null(bjvmi_upb_next_extension(msg, w->number, &(const upb_MessageValue *){NULL}));
  bool array = form_of(w) == BJVMI_FORM_ARRAY;
  if (array) cr_assert_eq(bjvmi_upb_pointer(value), v.array_val, "%s", name);
  else check_equal(field, read_raw(kind_of(w), value), v, "extension read raw");
  bjvmi_upb_clear_extension(msg, x->table);
  cr_assert_not(has_extension(msg, field), "%s", name);

  upb_MessageValue *slot = bjvmi_upb_extension(msg, x->table, f->arena);
  cr_assert_not_null(slot);
  if (array) bjvmi_upb_set_pointer(slot, (void *)(uintptr_t)v.array_val);
  else write_raw(kind_of(w), slot, v);
  cr_assert(has_extension(msg, field), "%s", name);
  upb_MessageValue got = upb_Message_GetFieldByDef(msg, field);
  if (array) cr_assert_eq(got.array_val, v.array_val);
  else check_equal(field, got, v, "extension written raw");
  cr_assert_eq(bjvmi_upb_extension(msg, x->table, f->arena), slot, "the same place again");
  t->extensions++;
}

/* -- The tests ------------------------------------------------------------------------------------------ */

Test(probe, every_sort_of_field) {
  static const char *const types[] = {"cases.v3.T",    "cases.v3.Opt",    "cases.v3.One",    "cases.v3.Rep",
                                      "cases.v3.Maps", "cases.v3.Wkt",    "cases.v3.WktRep", "cases.v2.P2",
                                      "cases.v2.Need", "cases.v2.Holder", "cases.ed.Ed",     "cases.ed.Must",
                                      "cases.v3.Lots", "cases.v3.Order",  "cases.v3.Small"};
  static const char *const extensions[] = {
      "cases.v2.ext_num",       "cases.v2.ext_list",  "cases.v2.ext_msg",      "cases.v2.ext_shade",
      "cases.v2.extCamel_text", "cases.v2.ext_du",    "cases.v2.ext_long",     "cases.v2.extbox",
      "cases.v2.ext_far",       "cases.v2.other_ext", "cases.v2.Scope.scoped", "cases.v2.Scope.scoped_list",
      "cases.ed.ed_num",        "cases.ed.ed_box",    "cases.ed.ed_tones"};
  tally t;
  memset(&t, 0, sizeof t);
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) check_type(&f, types[i], &t);
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) check_extension(&f, extensions[i], &t);
  for (int type = kUpb_FieldType_Double; type <= kUpb_FieldType_SInt64; type++) {
    cr_assert(t.types[type][0], "no single field of type %d", type);
    cr_assert(t.types[type][1], "no repeated field of type %d", type);
    bool key = type != kUpb_FieldType_Double && type != kUpb_FieldType_Float &&
               type != kUpb_FieldType_Group && type != kUpb_FieldType_Message &&
               type != kUpb_FieldType_Bytes && type != kUpb_FieldType_Enum;
    cr_assert_eq(t.keys[type], key, "map keys of type %d", type);
  }
  cr_assert(t.forms[BJVMI_FORM_IMPLICIT] && t.forms[BJVMI_FORM_HASBIT] && t.forms[BJVMI_FORM_ONEOF] &&
            t.forms[BJVMI_FORM_ARRAY]);
  fixture_close(&f);
}

/* Extensions come out by number, whatever the order they went in; empty repeated ones do not come out. */
Test(probe, extensions_in_order) {
  static const char *const names[] = {"cases.v2.ext_far", "cases.v2.ext_long", "cases.v2.ext_num",
                                      "cases.v2.Scope.scoped"};
  static const uint32_t numbers[] = {100, 106, 120, 536870911};
  fixture f = fixture_open();
  upb_Message *msg = fixture_new(&f, "cases.v2.P2");
  for (size_t i = 0; i < 4; i++) {
    const upb_FieldDef *field = upb_DefPool_FindExtensionByName(f.pool, names[i]);
    upb_Message_SetFieldByDef(msg, field, make_value(&f, field, 1), f.arena);
  }
  upb_Message_Mutable(msg, upb_DefPool_FindExtensionByName(f.pool, "cases.v2.ext_list"), f.arena);
  const upb_MessageValue *value;
  uint32_t after = 0;
  for (size_t i = 0; i < 4; i++) {
    const upb_MiniTableExtension *e = bjvmi_upb_next_extension(msg, after, &value);
    cr_assert_not_null(e);
    after = upb_MiniTableExtension_Number(e);
    cr_assert_eq(after, numbers[i]);
  }
  cr_assert_null(bjvmi_upb_next_extension(msg, after, &value));
  fixture_close(&f);
}

/* Every value type a map can have, and every key type with it, on a schema made for it. */
static const int key_types[] = {3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 18};
static const int value_types[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18};
enum {
  KEY_TYPES = sizeof key_types / sizeof *key_types,
  VALUE_TYPES = sizeof value_types / sizeof *value_types
};

static void add_maps(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_EnumDescriptorProto *e = google_protobuf_FileDescriptorProto_add_enum_type(file, arena);
  google_protobuf_EnumDescriptorProto_set_name(e, fixture_text(arena, "E"));
  for (int i = 0; i < 2; i++) {
    google_protobuf_EnumValueDescriptorProto *v = google_protobuf_EnumDescriptorProto_add_value(e, arena);
    google_protobuf_EnumValueDescriptorProto_set_name(v, fixture_text(arena, i ? "E_ONE" : "E_ZERO"));
    google_protobuf_EnumValueDescriptorProto_set_number(v, i);
  }
  google_protobuf_DescriptorProto *m = fixture_message(file, "AllMaps", arena);
  char name[32], entry_name[32], type_name[64];
  for (int k = 0; k < KEY_TYPES; k++) {
    for (int v = 0; v < VALUE_TYPES; v++) {
      snprintf(name, sizeof name, "m%dx%d", k, v);
      snprintf(entry_name, sizeof entry_name, "M%dx%dEntry", k, v);
      snprintf(type_name, sizeof type_name, ".g.AllMaps.%s", entry_name);
      google_protobuf_DescriptorProto *entry = google_protobuf_DescriptorProto_add_nested_type(m, arena);
      google_protobuf_DescriptorProto_set_name(entry, fixture_text(arena, entry_name));
      google_protobuf_MessageOptions_set_map_entry(
          google_protobuf_DescriptorProto_mutable_options(entry, arena), true);
      fixture_field(entry, "key", 1, key_types[k], false, NULL, arena);
      fixture_field(entry, "value", 2, value_types[v], false,
                    value_types[v] == 11   ? ".g.AllMaps"
                    : value_types[v] == 14 ? ".g.E"
                                           : NULL,
                    arena);
      fixture_field(m, name, k * VALUE_TYPES + v + 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, true,
                    type_name, arena);
    }
  }
}

Test(probe, every_key_type_with_every_value_type) {
  tally t;
  memset(&t, 0, sizeof t);
  fixture f = fixture_made(add_maps);
  check_type(&f, "g.AllMaps", &t);
  for (int i = 0; i < VALUE_TYPES; i++) cr_assert(t.types[value_types[i]][2]);
  for (int i = 0; i < KEY_TYPES; i++) cr_assert(t.keys[key_types[i]]);
  fixture_close(&f);
}

/* -- Insertion into maps -------------------------------------------------------------------------------- */

enum { ENTRIES = 3000 };

/* The n-th key: of many lengths, with and without a zero byte, close to each other. */
static upb_MessageValue nth_key(upb_CType type, int n, upb_Arena *arena) {
  upb_MessageValue key;
  memset(&key, 0, sizeof key);
  switch (type) {
    case kUpb_CType_String: {
      size_t size = (size_t)(n % 97);
      char *text = (char *)upb_Arena_Malloc(arena, size + 16);
      memset(text, n % 3 ? 'k' : 0, size);
      key.str_val = upb_StringView_FromDataAndSize(text, size + (size_t)sprintf(text + size, "%d", n));
      break;
    }
    case kUpb_CType_Int32: key.int32_val = n * (n % 2 ? 1 : -65536); break;
    case kUpb_CType_UInt32: key.uint32_val = 4294967295u - (uint32_t)n; break;
    case kUpb_CType_Bool: key.bool_val = n != 0; break;
    default: key.int64_val = n * (n % 2 ? INT64_C(4294967297) : INT64_C(-1)); break;
  }
  return key;
}

static bjvmi_map_put put_as_decoder(upb_Map *map, const bjvmi_map_hashing *h, const upb_MessageValue *key,
                                    const upb_MessageValue *value, upb_Arena *arena) {
  if (!bjvmi_upb_map_hashed(map, h)) return BJVMI_MAP_OTHERWISE;
  bool string = bjvmi_upb_map_strings(map);
  uint32_t hash = bjvmi_upb_map_hash(map, h, string, key);
  return bjvmi_upb_map_put(map, h, string, hash, false, key, value, arena);
}

/* As the decoder does it: here where upb's way is known, by the public call else. Whether it was new. */
static bool insert(upb_Map *map, const bjvmi_map_hashing *h, upb_MessageValue key, upb_MessageValue value,
                   upb_Arena *arena, size_t *here) {
  bjvmi_map_put put = put_as_decoder(map, h, &key, &value, arena);
  cr_assert(put != BJVMI_MAP_NO_MEMORY);
  if (put == BJVMI_MAP_OTHERWISE)
    return upb_Map_Insert(map, key, value, arena) == kUpb_MapInsertStatus_Inserted;
  ++*here;
  return put == BJVMI_MAP_PUT;
}

/* Every key is found with its value by upb, and by a walk once; upb can take it out again. */
static void check_filled(upb_Map *map, upb_CType type, int count, upb_Arena *arena) {
  upb_MessageValue key, value;
  size_t walked = 0, iter = kUpb_Map_Begin;
  cr_assert(upb_Map_Size(map) == (size_t)count);
  while (upb_Map_Next(map, &key, &value, &iter)) walked++;
  cr_assert(walked == (size_t)count);
  for (int i = 0; i < count; i++) {
    cr_assert(upb_Map_Get(map, nth_key(type, i, arena), &value) && value.int32_val == i, "key %d of %d", i,
              count);
  }
  for (int i = 0; i < count; i += 2) {
    cr_assert(upb_Map_Delete(map, nth_key(type, i, arena), &value) && value.int32_val == i, "key %d of %d", i,
              count);
  }
  for (int i = 0; i < count; i++)
    cr_assert(upb_Map_Get(map, nth_key(type, i, arena), NULL) == (i % 2 == 1), "key %d of %d", i, count);
}

/* A map made here starts as upb's own does. */
Test(probe, new_maps_are_maps_of_upb) {
  upb_Arena *arena = upb_Arena_New();
  for (int key = kUpb_CType_Bool; key <= kUpb_CType_String; key++) {
    if (key == kUpb_CType_Float || key == kUpb_CType_Double || key == kUpb_CType_Enum ||
        key == kUpb_CType_Message)
      continue;
    for (int value = kUpb_CType_Bool; value <= kUpb_CType_Bytes; value++) {
      upb_Map *theirs = upb_Map_New(arena, (upb_CType)key, (upb_CType)value);
      upb_Map *ours = bjvmi_upb_map_new((upb_CType)key, (upb_CType)value, 7, arena);
      cr_assert(ours && memcmp(ours, theirs, bjvmi_upb_map_head()) == 0, "key %d, value %d", key, value);
      cr_assert(upb_Map_Size(ours) == 0 && !upb_Map_IsFrozen(ours));
    }
  }
  upb_Arena_Free(arena);
}

/* Where upb hashes otherwise than is guessed, everything works but decoding of maps is slower: that must not go
 * unnoticed. */
Test(probe, hashes_of_upb_are_known) {
  const bjvmi_map_hashing known = bjvmi_upb_map_hashing();
  cr_assert(known.strings && known.integers);
  bjvmi_map_hashing wrong = known;
  wrong.seed ^= 8;
  cr_assert(!bjvmi_upb_map_try_strings(&wrong), "a wrong seed passes");
}

Test(probe, maps_filled_here_are_maps_of_upb) {
  static const upb_CType types[] = {kUpb_CType_String, kUpb_CType_Int32, kUpb_CType_UInt32, kUpb_CType_Int64,
                                    kUpb_CType_Bool};
  static const int counts[] = {1, 2, 3, 5, 8, 13, 14, 15, 100, ENTRIES};
  const bjvmi_map_hashing known = bjvmi_upb_map_hashing();
  const bjvmi_map_hashing unknown = {0};
  for (size_t row = 0; row < sizeof types / sizeof *types; row++) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      int count = types[row] == kUpb_CType_Bool ? (counts[c] > 2 ? 2 : counts[c]) : counts[c];
      for (int form = 0; form < 4; form++) {
        upb_Arena *arena = upb_Arena_New();
        upb_Map *map = upb_Map_New(arena, types[row], kUpb_CType_Int32);
        const bjvmi_map_hashing *h = form & 1 ? &known : &unknown;
        upb_MessageValue value;
        size_t here = 0;
        memset(&value, 0, sizeof value);
        if (form & 2) cr_assert(bjvmi_upb_map_reserve(map, (size_t)count, arena));
        for (int i = 0; i < count; i++) {
          value.int32_val = i;
          cr_assert(insert(map, h, nth_key(types[row], i, arena), value, arena, &here), "key %d of %d", i,
                    count);
        }
        value.int32_val = -1; /* a key that is there is left alone */
        for (int i = 0; i < count; i++) {
          upb_MessageValue key = nth_key(types[row], i, arena);
          bjvmi_map_put put = put_as_decoder(map, h, &key, &value, arena);
          cr_assert(put == BJVMI_MAP_TAKEN || put == BJVMI_MAP_OTHERWISE, "key %d of %d", i, count);
        }
        bool fits = types[row] != kUpb_CType_Int64 || sizeof(void *) >= 8; /* others are kept as strings */
        cr_assert((here > 0) == (form & 1 && fits));
        check_filled(map, types[row], count, arena);
        upb_Arena_Free(arena);
      }
    }
  }
}
