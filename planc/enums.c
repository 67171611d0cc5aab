/* Enum records: values sorted by number, the dense run among them, and the key table over all their names.
 *
 * A run is found by subtraction and may have as many holes as values, so that an enum costs at most two value
 * records for each number it declares, wherever in int32 its numbers lie. One number has one record, whose
 * name is that of the value declared first; aliases are keys only.
 */
#include "compiler.h"

#include <stdlib.h>
#include <string.h>

static bjvmi_enum_type *enum_at(const bjvmi_compiler *c, uint32_t index) {
  return (bjvmi_enum_type *)(void *)c->enums.data + index;
}

uint32_t bjvmi_enum_count(const bjvmi_compiler *c) {
  return (uint32_t)(c->enums.size / sizeof(bjvmi_enum_type));
}

const upb_EnumDef *bjvmi_enum_def(const bjvmi_compiler *c, uint32_t index) { return enum_at(c, index)->def; }

bool bjvmi_enums_is_null(const upb_EnumDef *def) {
  return strcmp(upb_EnumDef_FullName(def), "google.protobuf.NullValue") == 0;
}

uint8_t bjvmi_enums_kind(const bjvmi_compiler *c, uint32_t index) { return enum_at(c, index)->kind; }

uint32_t bjvmi_enums_index(bjvmi_compiler *c, const upb_EnumDef *def) {
  uint32_t hash = bjvmi_pointer_hash(def);
  uint32_t at = hash;
  for (uint32_t i; (i = bjvmi_map_next(&c->enum_map, hash, &at)) != BJVMI_NONE;)
    if (enum_at(c, i)->def == def) return i;
  uint32_t index = bjvmi_enum_count(c);
  if (index >= BJVMI_INDEX_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, upb_EnumDef_FullName(def), "more enums than a plan can hold");
    return BJVMI_NONE;
  }
  bjvmi_enum_type *type = bjvmi_bytes_add(c, &c->enums, sizeof *type);
  if (type == NULL) return BJVMI_NONE;
  type->def = def;
  type->kind = bjvmi_enums_is_null(def) ? BJVMI_KIND_NULL_VALUE : BJVMI_KIND_ENUM;
  bjvmi_map_insert(c, &c->enum_map, hash, index);
  return index;
}

/* -- Sorting -------------------------------------------------------------------------------------------- */

/* A declared value, and where its number's record stands among those of the enum. */
typedef struct declared {
  const upb_EnumValueDef *def;
  int32_t number;
  uint32_t position;
} declared;

/* By number, then in the order of declaration. */
static int compare(const void *a, const void *b) {
  const declared *x = a;
  const declared *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

/* All declared values, sorted, in c->scratch. */
static declared *sorted_values(bjvmi_compiler *c, const upb_EnumDef *def, uint32_t count) {
  declared *values = bjvmi_bytes_reserve(c, &c->scratch, (size_t)count * sizeof *values);
  if (values == NULL) return NULL;
  bool sorted = true;
  for (uint32_t i = 0; i < count; i++) {
    const upb_EnumValueDef *v = upb_EnumDef_Value(def, (int)i);
    values[i] = (declared){v, upb_EnumValueDef_Number(v), i};
    sorted = sorted && (i == 0 || values[i - 1].number <= values[i].number);
  }
  if (!sorted) qsort(values, count, sizeof *values, compare);
  return values;
}

/* -- The dense run -------------------------------------------------------------------------------------- */

typedef struct run {
  uint32_t first; /* among the different numbers */
  uint32_t count; /* of different numbers in it */
  uint32_t holes;
} run;

static run make_run(const int32_t *numbers, uint32_t first, uint32_t last) {
  uint32_t count = last - first + 1;
  return (run){first, count, (uint32_t)numbers[last] - (uint32_t)numbers[first] + 1 - count};
}

/* With slack[i] = numbers[i] - 2i, the run from i to j has no more holes than values exactly if
 * slack[j] <= slack[i] + 1. */
static int64_t slack(const int32_t *numbers, uint32_t i) { return numbers[i] - 2 * (int64_t)i; }

/* The run of most values with no more holes than values, in linear time. The widest run starts where slack is
 * higher than anywhere before: those starts are stacked, highest on top. With j falling from the end, a start
 * that has met its j will meet no wider one and is taken off. `stack` has room for `count` numbers. */
static run widest_run(const int32_t *numbers, uint32_t count, uint32_t *stack) {
  uint32_t depth = 0;
  for (uint32_t i = 0; i < count; i++)
    if (depth == 0 || slack(numbers, i) > slack(numbers, stack[depth - 1])) stack[depth++] = i;
  run best = {0, 0, 0};
  for (uint32_t j = count; j-- > 0;) {
    while (depth > 0 && slack(numbers, j) <= slack(numbers, stack[depth - 1]) + 1) {
      uint32_t i = stack[--depth];
      if (j - i + 1 > best.count) best = make_run(numbers, i, j);
    }
  }
  return best;
}

/* The longest run without holes. */
static run solid_run(const int32_t *numbers, uint32_t count) {
  run best = {0, 0, 0};
  for (uint32_t first = 0, i = 0; i < count; i++) {
    if (i > 0 && (int64_t)numbers[i] != (int64_t)numbers[i - 1] + 1) first = i;
    if (i - first + 1 > best.count) best = (run){first, i - first + 1, 0};
  }
  return best;
}

/* -- Records -------------------------------------------------------------------------------------------- */

/* Appends one value record. */
static void put_value(bjvmi_compiler *c, int32_t number, uint32_t name) {
  bjvmi_value *value = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_VALUES], sizeof *value);
  if (value == NULL) return;
  value->number = (int32_t)bjvmi_le32((uint32_t)number);
  value->name = bjvmi_le32(name);
}

/* Appends the records of the sorted values and notes the position of each. Returns how many there are. */
static uint32_t put_values(bjvmi_compiler *c, declared *values, uint32_t count, const run *dense) {
  uint32_t position = 0; /* of the next record */
  uint32_t distinct = 0; /* how many different numbers so far */
  for (uint32_t i = 0; i < count && c->status == BJVM_OK; i++) {
    int32_t number = values[i].number;
    if (i > 0 && values[i - 1].number == number) {
      values[i].position = position - 1;
      continue;
    }
    if (distinct > dense->first && distinct < dense->first + dense->count)
      for (int32_t hole = values[i - 1].number + 1; hole < number; hole++, position++) put_value(c, hole, 0);
    put_value(c, number, bjvmi_names_value(c, upb_EnumValueDef_JsonName(values[i].def)).offset);
    values[i].position = position++;
    distinct++;
  }
  return position;
}

/* JSON names first, so that they win over the names in the .proto file. */
static bjvmi_table put_keys(bjvmi_compiler *c, const declared *values, uint32_t count) {
  bjvmi_keys_begin(c);
  for (uint32_t i = 0; i < count && c->status == BJVM_OK; i++)
    bjvmi_keys_add(c, bjvmi_names_raw(c, upb_EnumValueDef_JsonName(values[i].def)), values[i].position);
  for (uint32_t i = 0; i < count && c->status == BJVM_OK; i++)
    bjvmi_keys_add(c, bjvmi_names_raw(c, upb_EnumValueDef_Name(values[i].def)), values[i].position);
  return bjvmi_keys_end(c);
}

/* Chooses the run for the sorted values. */
static run choose_run(bjvmi_compiler *c, const declared *values, uint32_t count) {
  int32_t *numbers = upb_Arena_Malloc(c->temp, (size_t)count * sizeof *numbers);
  uint32_t *stack = upb_Arena_Malloc(c->temp, (size_t)count * sizeof *stack);
  if (numbers == NULL || stack == NULL) {
    bjvmi_fail(c, BJVM_OUT_OF_MEMORY, NULL, "no memory to compile a plan");
    return (run){0, 0, 0};
  }
  uint32_t distinct = 0;
  for (uint32_t i = 0; i < count; i++)
    if (i == 0 || values[i - 1].number != values[i].number) numbers[distinct++] = values[i].number;
  run dense = widest_run(numbers, distinct, stack);
  /* Keys refer to records with 16 bits. */
  if (distinct + dense.holes > BJVMI_INDEX_MAX) dense = solid_run(numbers, distinct);
  if (distinct > BJVMI_INDEX_MAX)
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "the enum has more values than a plan can hold");
  return dense;
}

static void compile_enum(bjvmi_compiler *c, const upb_EnumDef *def, bjvmi_enum *record) {
  c->subject = upb_EnumDef_FullName(def);
  record->name = bjvmi_names_full(c, c->subject);
  uint32_t count = (uint32_t)upb_EnumDef_ValueCount(def);
  declared *values = sorted_values(c, def, count);
  if (values == NULL || count == 0) return;
  run dense = choose_run(c, values, count);
  if (c->status != BJVM_OK) return;

  uint32_t first_value = (uint32_t)(c->sections[BJVMI_SECTION_VALUES].size / sizeof(bjvmi_value));
  uint32_t value_count = put_values(c, values, count, &dense);
  bjvmi_table keys = put_keys(c, values, count);
  if (c->status != BJVM_OK) return;
  const bjvmi_value *records =
      (const bjvmi_value *)(const void *)c->sections[BJVMI_SECTION_VALUES].data + first_value;
  record->flags = bjvmi_le16(upb_EnumDef_IsClosed(def) ? BJVMI_ENUM_CLOSED : 0);
  record->first_value = bjvmi_le32(first_value);
  record->value_count = bjvmi_le32(value_count);
  record->dense_min = records[dense.first].number;
  record->dense_first = bjvmi_le32(dense.first);
  record->dense_count = bjvmi_le32(dense.count + dense.holes);
  record->keys = bjvmi_keys_le(&keys);
}

void bjvmi_enums_compile(bjvmi_compiler *c) {
  uint32_t count = bjvmi_enum_count(c);
  bjvmi_enum *records = bjvmi_bytes_add(c, &c->sections[BJVMI_SECTION_ENUMS], count * sizeof *records);
  if (records == NULL) return;
  memset(records, 0, count * sizeof *records);
  for (uint32_t i = 0; i < count && c->status == BJVM_OK; i++)
    compile_enum(c, enum_at(c, i)->def, &records[i]);
}

void bjvmi_enums_place_names(bjvmi_compiler *c) {
  bjvmi_enum *records = (bjvmi_enum *)(void *)c->sections[BJVMI_SECTION_ENUMS].data;
  for (uint32_t i = 0; i < bjvmi_enum_count(c) && c->status == BJVM_OK; i++) {
    const bjvmi_full_name *name = bjvmi_full_name_at(c, records[i].name);
    records[i].name = bjvmi_le32(name->offset);
    records[i].name_size = bjvmi_le16((uint16_t)name->size);
  }
}
