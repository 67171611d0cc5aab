/* Any bytes as a plan file: what the verifier accepts must be safe to use.
 *
 * An accepted file is listed, bound to the mini tables of the case tables' schema and to the tables it brings itself, and
 * run: messages filled field by field are printed with every set of options, texts are read, cut short and whole. Only
 * misbehaviour is a failure; a changed plan may well give changed texts.
 *
 * The mutator changes fields of records and repairs size and checksum, so that the verifier sees every change and part of
 * the files get past it. At the end the program says how many.
 */
#include <stdbool.h>

#include "fuzz.h"
#include "plan_format.h"
#include "upb/message/accessors.h"
#include "upb/message/array.h"
#include "upb/message/map.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static struct { unsigned long files, accepted, bound, own_tables, printed, read; } counts;

static void tell_counts(void) {
  fprintf(
      stderr,
      "plan_fuzz: %lu files, %lu accepted (%.1f %%), %lu plans bound to the schema, %lu to their own tables, "
      "%lu texts printed, %lu read\n",
      counts.files, counts.accepted,
      counts.files ? 100.0 * (double)counts.accepted / (double)counts.files : 0, counts.bound,
      counts.own_tables, counts.printed, counts.read);
}

/* xorshift (Marsaglia 2003) */
static uint32_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state >> 16);
}

/* -- Messages ------------------------------------------------------------------------------------------- */

enum { FILL_DEPTH = 4, FILL_ELEMENTS = 3 };

static upb_MessageValue scalar(const upb_MiniTableField *f, uint64_t *state) {
  static const char *const texts[] = {"",           "a",   "plain", "quote\"s\\", "\xC3\xA4\xE2\x82\xAC",
                                      "2024-02-29", "\x01"};
  static const double numbers[] = {0, 1, -1.5, 1e300, 5e-324, 3.4e38};
  upb_MessageValue v;
  uint32_t r = next(state);
  memset(&v, 0, sizeof v);
  switch (upb_MiniTableField_CType(f)) {
    case kUpb_CType_Bool: v.bool_val = r & 1; break;
    case kUpb_CType_Float: v.float_val = (float)(r % 1000) / 8; break;
    case kUpb_CType_Double: v.double_val = numbers[r % 6]; break;
    case kUpb_CType_Int32:
    case kUpb_CType_UInt32: v.uint32_val = r % 3 ? r % 10 : r; break;
    case kUpb_CType_Enum: v.int32_val = (int32_t)(r % 3 ? r % 5 : r); break;
    case kUpb_CType_Int64:
    case kUpb_CType_UInt64: v.uint64_val = r % 3 ? r : (uint64_t)r << 32; break;
    default: v.str_val = upb_StringView_FromString(texts[r % 7]); break;
  }
  return v;
}

static upb_Message *filled(const upb_MiniTable *table, upb_Arena *arena, int depth, uint64_t *state);

static bool value_of(const upb_MiniTableField *f, upb_Arena *arena, int depth, uint64_t *state,
                     upb_MessageValue *v) {
  if (!upb_MiniTableField_IsSubMessage(f)) {
    *v = scalar(f, state);
    return true;
  }
  const upb_MiniTable *sub = upb_MiniTable_SubMessage(f);
  if (sub == NULL || depth == 0) return false;
  v->msg_val = filled(sub, arena, depth - 1, state);
  return true;
}

static void fill_map(upb_Message *msg, const upb_MiniTableField *f, upb_Arena *arena, int depth,
                     uint64_t *state) {
  const upb_MiniTable *entry = upb_MiniTable_MapEntrySubMessage(f);
  upb_Map *map = entry ? upb_Message_GetOrCreateMutableMap(msg, entry, f, arena) : NULL;
  for (uint32_t n = next(state) % FILL_ELEMENTS + 1; map != NULL && n > 0; n--) {
    upb_MessageValue value;
    const upb_MiniTableField *key = upb_MiniTable_MapKey(entry), *of = upb_MiniTable_MapValue(entry);
    if (value_of(of, arena, depth, state, &value)) upb_Map_Insert(map, scalar(key, state), value, arena);
  }
}

static void fill_field(upb_Message *msg, const upb_MiniTableField *f, upb_Arena *arena, int depth,
                       uint64_t *state) {
  upb_MessageValue v;
  if (upb_MiniTableField_IsMap(f)) {
    fill_map(msg, f, arena, depth, state);
  } else if (upb_MiniTableField_IsArray(f)) {
    for (uint32_t n = next(state) % FILL_ELEMENTS + 1; n > 0; n--)
      if (value_of(f, arena, depth, state, &v))
        upb_Array_Append(upb_Message_GetOrCreateMutableArray(msg, f, arena), v, arena);
  } else if (value_of(f, arena, depth, state, &v)) {
    upb_Message_SetBaseField(msg, f, &v);
  }
}

static upb_Message *filled(const upb_MiniTable *table, upb_Arena *arena, int depth, uint64_t *state) {
  upb_Message *msg = upb_Message_New(table, arena);
  for (int i = 0; i < upb_MiniTable_FieldCount(table); i++)
    if (next(state) % 4 != 0)
      fill_field(msg, upb_MiniTable_GetFieldByIndex(table, (uint32_t)i), arena, depth, state);
  return msg;
}

/* -- Running an accepted plan --------------------------------------------------------------------------- */

static void read_text(const bjvm_plan *plan, const char *text, size_t size, uint32_t flags) {
  upb_Arena *arena = upb_Arena_New(), *scratch = upb_Arena_New();
  bjvm_decode_options options = {.size = sizeof options, .flags = flags, .scratch = scratch};
  bjvm_output out = bjvm_output_arena(arena);
  bjvm_error error = {.code = BJVM_OK};
  char *copy = fuzz_copy(text, size, 0);
  upb_Message *msg = fuzz_new(plan, arena);
  bjvm_status status = bjvm_decode(plan, copy, size, msg, arena, &options, &error);
  fuzz_check_report(status, &error, size);
  counts.read += status == BJVM_OK;
  bjvm_encode(plan, msg, NULL, &out, &error);
  free(copy);
  upb_Arena_Free(scratch);
  upb_Arena_Free(arena);
}

static void print_and_read(const bjvm_plan *plan, const upb_Message *msg, uint32_t flags, uint64_t *state) {
  upb_Arena *arena = upb_Arena_New();
  bjvm_encode_options options = {.size = sizeof options, .flags = flags, .scratch = arena};
  bjvm_output out = bjvm_output_arena(arena);
  bjvm_error error = {.code = BJVM_OK};
  bjvm_status status = bjvm_encode(plan, msg, &options, &out, &error);
  fuzz_check_report(status, &error, SIZE_MAX);
  if (status == BJVM_OK) {
    counts.printed++;
    read_text(plan, out.data, out.size, next(state) & 15);
    read_text(plan, out.data, out.size * (next(state) % 256) / 256, BJVM_DECODE_IGNORE_UNKNOWN);
    if (out.size > 0) out.data[next(state) % out.size] = "{}[]\",:0n\\ "[next(state) % 11];
    read_text(plan, out.data, out.size, next(state) & 15);
  }
  upb_Arena_Free(arena);
}

static void run_plan(const bjvm_plan *plan, upb_Arena *arena, uint64_t *state) {
  static const uint32_t variants[] = {0, BJVM_ENCODE_EMIT_DEFAULTS | BJVM_ENCODE_PROTO_NAMES,
                                      BJVM_ENCODE_ENUMS_AS_INTS | BJVM_ENCODE_INT64_AS_NUMBERS |
                                          BJVM_ENCODE_ASCII,
                                      BJVM_ENCODE_SORT_MAP_KEYS | BJVM_ENCODE_PRETTY | BJVM_ENCODE_HTML_SAFE};
  static const char *const texts[] = {"{}", "{\"a\":1,\"b\":[{}],\"c\":{\"d\":null}}", "[]", "null", "\"\""};
  /* One set of options a run, by the file: all of them at once would cost more than they find. */
  uint32_t flags = variants[next(state) % (sizeof variants / sizeof variants[0])];
  if (bjvm_plan_prepare(plan, flags, arena) == BJVM_OK) {
    print_and_read(plan, fuzz_new(plan, arena), flags, state);
    print_and_read(plan, filled(bjvm_plan_table(plan), arena, FILL_DEPTH, state), flags, state);
  }
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) read_text(plan, texts[i], strlen(texts[i]), 0);
}

static bool swallow(void *context, const char *text, size_t size) {
  size_t *sum = (size_t *)context;
  for (size_t i = 0; i < size; i++) *sum += (uint8_t)text[i];
  return true;
}

static bool root_name(const bjvm_image *image, size_t index, char *name, size_t room) {
  size_t size;
  const char *full = bjvm_image_root_name(image, index, &size);
  if (size >= room) return false;
  memcpy(name, full, size);
  name[size] = 0;
  return true;
}

/* Binds every root to the schema's table of that name. */
static void run_on_schema(const bjvm_image *image, uint64_t *state) {
  const fuzz_world *world = fuzz_open();
  for (size_t i = 0; i < bjvm_image_root_count(image); i++) {
    char name[256];
    if (!root_name(image, i, name, sizeof name)) continue;
    const upb_MessageDef *def = upb_DefPool_FindMessageByName(world->pool, name);
    if (def == NULL) continue;
    upb_Arena *arena = upb_Arena_New();
    const bjvm_plan *plan;
    bjvm_error error = {.code = BJVM_OK};
    bjvm_status status = bjvm_image_bind(image, name, upb_MessageDef_MiniTable(def), arena, &plan, &error);
    fuzz_check_report(status, &error, SIZE_MAX);
    if (status == BJVM_OK) {
      counts.bound++;
      run_plan(plan, arena, state);
    }
    upb_Arena_Free(arena);
  }
}

/* Extensions are printed and read like fields, and run words of the file too. */
static void run_extensions(const bjvm_plan *plan, const bjvm_tables *tables, const bjvm_registry *registry,
                           upb_Arena *arena, uint64_t *state) {
  bjvm_encode_options encode = {.size = sizeof encode, .registry = registry, .scratch = arena};
  bjvm_decode_options decode = {.size = sizeof decode, .registry = registry, .scratch = arena};
  upb_Message *msg = filled(bjvm_plan_table(plan), arena, 1, state);
  bool any = false;
  for (size_t i = 0; i < bjvm_tables_extension_count(tables); i++) {
    const upb_MiniTableExtension *table = bjvm_tables_extension(tables, i);
    if (table == NULL || upb_MiniTableExtension_Extendee(table) != bjvm_plan_table(plan)) continue;
    const upb_MiniTableField *f = upb_MiniTableExtension_ToField(table);
    if (!upb_MiniTableField_IsScalar(f) || upb_MiniTableField_IsSubMessage(f)) continue;
    upb_MessageValue v = scalar(f, state);
    if (!upb_Message_SetExtension(msg, table, &v, arena)) return;
    any = true;
  }
  bjvm_output out = bjvm_output_arena(arena);
  if (!any || bjvm_encode(plan, msg, &encode, &out, NULL) != BJVM_OK) return;
  counts.printed++;
  counts.read +=
      bjvm_decode(plan, out.data, out.size, fuzz_new(plan, arena), arena, &decode, NULL) == BJVM_OK;
}

/* Builds the file's own tables and binds every root to its own. */
static void run_on_own_tables(const bjvm_image *image, uint64_t *state) {
  upb_Arena *arena = upb_Arena_New();
  const bjvm_tables *tables;
  bjvm_error error = {.code = BJVM_OK};
  bjvm_status status = bjvm_image_build_tables(image, arena, &tables, &error);
  fuzz_check_report(status, &error, SIZE_MAX);
  bjvm_registry registry;
  bool has_registry = status == BJVM_OK && bjvm_tables_registry(tables, 0, arena, &registry, NULL) == BJVM_OK;
  for (size_t i = 0; status == BJVM_OK && i < bjvm_image_root_count(image); i++) {
    char name[256];
    const bjvm_plan *plan;
    if (!root_name(image, i, name, sizeof name)) continue;
    const upb_MiniTable *table = bjvm_tables_message(tables, name);
    if (table == NULL || bjvm_image_bind(image, name, table, arena, &plan, NULL) != BJVM_OK) continue;
    counts.own_tables++;
    run_plan(plan, arena, state);
    if (!has_registry) continue;
    plan = registry.find_message(registry.context, name, strlen(name), &status);
    FUZZ_CHECK(plan != NULL, "%s is bound but not in the registry", name);
    run_extensions(plan, tables, &registry, arena, state);
  }
  upb_Arena_Free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (counts.files++ == 0) atexit(tell_counts);
  upb_Arena *arena = upb_Arena_New();
  char *copy = fuzz_copy(data, size, 0); /* malloc aligns to 8 bytes and more */
  const bjvm_image *image;
  bjvm_error error = {.code = BJVM_OK};
  bjvm_status status = bjvm_image_load(copy, size, arena, &image, &error);
  fuzz_check_report(status, &error, size);
  if (status == BJVM_OK) {
    uint64_t state = bjvmi_checksum(data, size) | 1;
    size_t sum = 0;
    counts.accepted++;
    FUZZ_CHECK(bjvm_image_dump(image, swallow, &sum), "a listing that stops");
    run_on_schema(image, &state);
    if (bjvm_image_has_tables(image)) run_on_own_tables(image, &state);
  }
  free(copy);
  upb_Arena_Free(arena);
  return 0;
}

/* -- The mutator ---------------------------------------------------------------------------------------- */

/* The sizes of a record's fields, in order. */
static const uint8_t field_sizes[BJVMI_SECTION_COUNT][16] = {
    [BJVMI_SECTION_MESSAGES] = {4, 2, 1, 1, 4, 2, 2, 4, 4, 4, 2, 1, 1},
    [BJVMI_SECTION_WORDS] = {1, 1, 2, 2, 2, 4, 4},
    [BJVMI_SECTION_KEYS] = {4, 2, 2},
    [BJVMI_SECTION_SLOTS] = {1},
    [BJVMI_SECTION_ENUMS] = {4, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 1, 1},
    [BJVMI_SECTION_VALUES] = {4, 4},
    [BJVMI_SECTION_EXTENSIONS] = {4, 2, 2, 4},
    [BJVMI_SECTION_ROOTS] = {4},
    [BJVMI_SECTION_NAMES] = {1},
    [BJVMI_SECTION_MINI] = {1},
};

static uint32_t get(const uint8_t *p, unsigned size) {
  uint32_t v = 0;
  for (unsigned i = 0; i < size; i++) v |= (uint32_t)p[i] << (8 * i);
  return v;
}

static void put(uint8_t *p, unsigned size, uint32_t v) {
  for (unsigned i = 0; i < size; i++) p[i] = (uint8_t)(v >> (8 * i));
}

/* One field of one record: a little more or less, another record's, a bit, anything. */
static void change_record(uint8_t *section, size_t size, const uint8_t *sizes, uint64_t *state) {
  size_t record = 0, fields = 0, at = 0;
  for (; fields < 16 && sizes[fields] > 0; fields++) record += sizes[fields];
  if (record == 0 || size < record) return;
  uint32_t field = next(state) % (uint32_t)fields;
  for (uint32_t i = 0; i < field; i++) at += sizes[i];
  uint8_t *p = section + next(state) % (uint32_t)(size / record) * record + at;
  const uint8_t *other = section + next(state) % (uint32_t)(size / record) * record + at;
  uint32_t v = get(p, sizes[field]);
  switch (next(state) % 6) {
    case 0: v += next(state) % 3 + 1; break;
    case 1: v -= next(state) % 3 + 1; break;
    case 2:
    case 3: v = get(other, sizes[field]); break;
    case 4: v ^= 1u << next(state) % (8 * sizes[field]); break;
    default: v = next(state) >> next(state) % 32; break;
  }
  put(p, sizes[field], v);
}

/* Changes that a verifier can hardly object to, so that enough files get past it. */
static void change_gently(uint8_t *section, uint32_t kind, size_t size, uint64_t *state) {
  static const uint8_t scalars[] = {BJVMI_KIND_BOOL,   BJVMI_KIND_INT32,  BJVMI_KIND_UINT32,
                                    BJVMI_KIND_INT64,  BJVMI_KIND_UINT64, BJVMI_KIND_FLOAT,
                                    BJVMI_KIND_DOUBLE, BJVMI_KIND_STRING, BJVMI_KIND_BYTES};
  uint32_t r = next(state);
  if (size < 48) return; /* the largest record */
  if (kind == BJVMI_SECTION_WORDS) {
    uint8_t *w = section + next(state) % (uint32_t)(size / 16) * 16;
    const uint8_t *other = section + next(state) % (uint32_t)(size / 16) * 16;
    if (r % 4 == 0 && BJVMI_OP_KIND(w[0]) < BJVMI_KIND_ENUM)
      w[0] = BJVMI_OP(scalars[next(state) % sizeof scalars], BJVMI_OP_FORM(w[0]));
    else if (r % 4 == 1 && BJVMI_OP_KIND(w[0]) != BJVMI_KIND_END)
      w[0] = (uint8_t)((w[0] & ~7u) | next(state) % 3);
    else if (r % 4 == 2) put(w + 8, 4, get(w + 8, 4) + next(state) % 5);
    else if (w[0] == other[0]) memcpy(w + 6, other + 6, 2);
  } else if (kind == BJVMI_SECTION_KEYS) {
    uint8_t *key = section + next(state) % (uint32_t)(size / 8) * 8;
    put(key + 6, 2, get(key + 6, 2) + (r & 1 ? 1 : UINT32_MAX));
  } else if (kind == BJVMI_SECTION_MESSAGES) {
    uint8_t *m = section + next(state) % (uint32_t)(size / 32) * 32;
    put(m + 14, 2, r % 3);
  } else if (kind == BJVMI_SECTION_ENUMS) {
    section[next(state) % (uint32_t)(size / 48) * 48 + 6] ^= BJVMI_ENUM_CLOSED;
  } else if (kind == BJVMI_SECTION_VALUES) {
    uint8_t *v = section + next(state) % (uint32_t)(size / 8) * 8;
    put(v, 4, get(v, 4) + (r & 1 ? 1 : UINT32_MAX));
  }
}

static void change_any(uint8_t *data, size_t size, uint64_t *state) {
  data[next(state) % (uint32_t)size] ^= (uint8_t)(1u << next(state) % 8);
}

static void change_section(uint8_t *data, size_t size, uint64_t *state) {
  uint32_t count = get(data + offsetof(bjvmi_header, section_count), 4);
  if (count == 0 || count > BJVMI_SECTION_COUNT || size < BJVMI_HEADER_SIZE + count * 12) return;
  const uint8_t *entry = data + BJVMI_HEADER_SIZE + next(state) % count * 12;
  uint32_t kind = get(entry, 4), offset = get(entry + 4, 4), bytes = get(entry + 8, 4);
  if (kind >= BJVMI_SECTION_COUNT || offset > size || bytes > size - offset || bytes == 0) return;
  if (next(state) % 2 == 0) change_gently(data + offset, kind, bytes, state);
  else change_record(data + offset, bytes, field_sizes[kind], state);
}

/* Replaces the input by a plan as the compiler makes it: libFuzzer keeps refused files too, and what is made of these is
 * refused again. Each is compiled once. Returns its size, 0 if there is no room. */
static size_t start_again(uint8_t *data, size_t max_size, uint64_t *state) {
  static const uint32_t flags[] = {0,
                                   BJVM_COMPILE_EXTENSIONS | BJVM_COMPILE_MINI,
                                   BJVM_COMPILE_MINI,
                                   BJVM_COMPILE_MINI | BJVM_COMPILE_ABI64,
                                   BJVM_COMPILE_ABI64,
                                   BJVM_COMPILE_ABI32};
  enum { SORTS = sizeof flags / sizeof flags[0] };
  static struct {
    const void *data;
    size_t size;
  } plans[FUZZ_TYPES][SORTS];
  static upb_Arena *arena;
  uint32_t type = next(state) % FUZZ_TYPES, sort = next(state) % SORTS;
  const upb_MessageDef *def = fuzz_open()->defs[type];
  if (arena == NULL) arena = upb_Arena_New();
  const void **plan = &plans[type][sort].data;
  size_t *size = &plans[type][sort].size;
  if (*plan == NULL && bjvm_compile(&def, 1, flags[sort], arena, plan, size, NULL) != BJVM_OK) return 0;
  if (*size > max_size) return 0;
  memcpy(data, *plan, *size);
  return *size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  size_t fresh = next(&state) % 2 ? start_again(data, max_size, &state) : 0;
  if (fresh > 0) size = fresh;
  if (size < BJVMI_HEADER_SIZE) return size;
  for (uint32_t n = next(&state) % 8 == 0 ? 4 : 1; n > 0; n--) {
    if (next(&state) % 16 == 0) change_any(data, size, &state);
    else change_section(data, size, &state);
  }
  if (next(&state) % 64 == 0) size -= next(&state) % (uint32_t)(size - BJVMI_HEADER_SIZE + 1);
  put(data + offsetof(bjvmi_header, total_size), 4, (uint32_t)size);
  uint64_t sum = bjvmi_checksum(data + BJVMI_CHECKSUM_FROM, size - BJVMI_CHECKSUM_FROM);
  put(data + offsetof(bjvmi_header, checksum), 4, (uint32_t)sum);
  put(data + offsetof(bjvmi_header, checksum) + 4, 4, (uint32_t)(sum >> 32));
  return size;
}
