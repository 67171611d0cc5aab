/* Random messages, see random_message.h.
 *
 * Fields are set with probability one half, less where messages get deep. Values come from short lists of
 * hard ones, from random bits, and from small numbers, in equal parts. Well-known types get what they may
 * hold: times in range, field mask paths that come back, a Value with a kind and a finite number, an Any of a
 * type of the pool.
 */
#include "random_message.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../common/support.h"
#include "upb/message/array.h"
#include "upb/message/map.h"
#include "upb/reflection/message.h"

static void fill(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth);

/* -- Numbers -------------------------------------------------------------------------------------------- */

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t next64(generator *g) {
  uint64_t z = g->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint32_t random_below(generator *g, uint32_t limit) { return (uint32_t)((next64(g) >> 32) * limit >> 32); }

static bool chance(generator *g, uint32_t percent) { return random_below(g, 100) < percent; }

static uint64_t random_bits(generator *g) {
  static const uint64_t hard[] = {
      0,
      1,
      9,
      10,
      99,
      100,
      9999,
      10000,
      99999999,
      100000000,
      INT32_MAX,
      (uint64_t)INT32_MAX + 1,
      UINT32_MAX,
      (uint64_t)UINT32_MAX + 1,
      9007199254740991,
      9007199254740992,
      9007199254740993,
      9999999999999999,
      10000000000000000,
      INT64_MAX,
      (uint64_t)INT64_MAX + 1,
      UINT64_MAX,
      UINT64_MAX - 1,
      (uint64_t)INT32_MIN,
  };
  switch (random_below(g, 3)) {
    case 0: return hard[random_below(g, sizeof hard / sizeof hard[0])];
    case 1: return next64(g) >> random_below(g, 64);
    default: return random_below(g, 200);
  }
}

static double random_double(generator *g, bool finite) {
  static const double hard[] = {0.0,  -0.0,     DBL_MIN,  DBL_MAX, -DBL_MAX,     4.9406564584124654e-324,
                                1e21, 1e-7,     1e-6,     1e20,    123456.0,     0.1,
                                0.3,  1.0 / 3,  5e-324,   2.5,     1e22,         1e23,
                                1e15, 1e16,     1e17,     -1.5,    4294967296.0, 9007199254740993.0,
                                NAN,  INFINITY, -INFINITY};
  for (;;) {
    double value;
    uint64_t bits = next64(g);
    switch (random_below(g, 4)) {
      case 0: value = hard[random_below(g, sizeof hard / sizeof hard[0])]; break;
      case 1: memcpy(&value, &bits, sizeof value); break;
      case 2: value = (double)(int64_t)random_bits(g); break;
      default: value = (double)((int64_t)random_below(g, 2000000) - 1000000) / 1000.0; break;
    }
    if (isfinite(value) || !finite) return value;
  }
}

static float random_float(generator *g) {
  static const float hard[] = {0.0f,     -0.0f,       FLT_MIN,     FLT_MAX,  -FLT_MAX,
                               1.4e-45f, 16777216.0f, 16777217.0f, 0.1f,     1e-10f,
                               3.4e38f,  8388608.5f,  NAN,         INFINITY, -INFINITY};
  float value;
  uint32_t bits = (uint32_t)next64(g);
  switch (random_below(g, 3)) {
    case 0: return hard[random_below(g, sizeof hard / sizeof hard[0])];
    case 1: memcpy(&value, &bits, sizeof value); return value;
    default: return (float)((int32_t)random_below(g, 2000000) - 1000000) / 1000.0f;
  }
}

static bool double_is_special(double value) { return value != 0 || signbit(value); }

/* -- Strings -------------------------------------------------------------------------------------------- */

static upb_StringView view_of(generator *g, const char *data, size_t size) {
  char *copy = upb_Arena_Malloc(g->arena, size + 1);
  memcpy(copy, data, size);
  return upb_StringView_FromDataAndSize(copy, size);
}

/* UTF-8 of a code point that is no surrogate; returns the size. */
static size_t put_utf8(char *out, uint32_t c) {
  if (c < 0x80) return out[0] = (char)c, 1;
  if (c < 0x800) return out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
  if (c < 0x10000) {
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 63));
    out[2] = (char)(0x80 | (c & 63));
    return 3;
  }
  out[0] = (char)(0xf0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 63));
  out[2] = (char)(0x80 | (c >> 6 & 63));
  out[3] = (char)(0x80 | (c & 63));
  return 4;
}

static uint32_t random_code_point(generator *g) {
  static const uint32_t hard[] = {0,      '"',    '\\', '/',   '\n',  '\r',    '\t',     '\b',   '\f',
                                  0x1f,   0x7f,   0x80, 0x7ff, 0x800, 0xd7ff,  0xe000,   0xffff, 0x10000,
                                  0x2028, 0x2029, '<',  '>',   '&',   0x1f98a, 0x10ffff, 0xfeff, 0xe9};
  switch (random_below(g, 6)) {
    case 0: return hard[random_below(g, sizeof hard / sizeof hard[0])];
    case 1: return random_below(g, 0x20);
    case 2: return 0x3000 + random_below(g, 0x7000);
    default: return 0x20 + random_below(g, 0x5f);
  }
}

static upb_StringView random_string(generator *g) {
  char text[4 * 80];
  size_t size = 0;
  uint32_t count = chance(g, 20) ? random_below(g, 80) : random_below(g, 10);
  bool plain = chance(g, 50);
  while (count-- > 0) size += put_utf8(text + size, plain ? 'a' + random_below(g, 26) : random_code_point(g));
  return view_of(g, text, size);
}

static upb_StringView random_bytes(generator *g) {
  char data[64];
  uint32_t size = random_below(g, chance(g, 20) ? sizeof data : 6);
  for (uint32_t i = 0; i < size; i++) data[i] = (char)next64(g);
  return view_of(g, data, size);
}

/* A path such as foo_bar.baz that a field mask prints and reads without loss. */
static upb_StringView random_path(generator *g) {
  char text[64];
  size_t size = 0;
  for (uint32_t words = 1 + random_below(g, 4); words > 0; words--) {
    if (size > 0) text[size++] = chance(g, 30) ? '.' : '_';
    for (uint32_t letters = 1 + random_below(g, 5); letters > 0; letters--)
      text[size++] = (char)('a' + random_below(g, 26));
  }
  return view_of(g, text, size);
}

/* -- Values --------------------------------------------------------------------------------------------- */

static int32_t random_enum(generator *g, const upb_EnumDef *e) {
  if (!upb_EnumDef_IsClosed(e) && chance(g, 20)) return (int32_t)random_bits(g);
  int count = upb_EnumDef_ValueCount(e);
  return upb_EnumValueDef_Number(upb_EnumDef_Value(e, (int)random_below(g, (uint32_t)count)));
}

static upb_MessageValue random_value(generator *g, const upb_FieldDef *f, int depth) {
  upb_MessageValue v = upb_MessageValue_Zero();
  switch (upb_FieldDef_CType(f)) {
    case kUpb_CType_Bool: v.bool_val = chance(g, 50); break;
    case kUpb_CType_Float:
      v.float_val = random_float(g);
      g->has.floats |= double_is_special((double)v.float_val);
      break;
    case kUpb_CType_Double:
      v.double_val = random_double(g, false);
      g->has.floats |= double_is_special(v.double_val);
      break;
    case kUpb_CType_Int32: v.int32_val = (int32_t)random_bits(g); break;
    case kUpb_CType_UInt32: v.uint32_val = (uint32_t)random_bits(g); break;
    case kUpb_CType_Int64: v.int64_val = (int64_t)random_bits(g); break;
    case kUpb_CType_UInt64: v.uint64_val = random_bits(g); break;
    case kUpb_CType_Enum: v.int32_val = random_enum(g, upb_FieldDef_EnumSubDef(f)); break;
    case kUpb_CType_String: v.str_val = random_string(g); break;
    case kUpb_CType_Bytes: v.str_val = random_bytes(g); break;
    case kUpb_CType_Message: {
      const upb_MessageDef *def = upb_FieldDef_MessageSubDef(f);
      upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(def), g->arena);
      fill(g, msg, def, depth + 1);
      v.msg_val = msg;
      break;
    }
  }
  return v;
}

static bool is_null_value(const upb_FieldDef *f) {
  return upb_FieldDef_CType(f) == kUpb_CType_Enum &&
         strcmp(upb_EnumDef_FullName(upb_FieldDef_EnumSubDef(f)), "google.protobuf.NullValue") == 0;
}

static void set_array(generator *g, upb_Message *msg, const upb_FieldDef *f, int depth) {
  upb_Array *array = upb_Message_Mutable(msg, f, g->arena).array;
  for (uint32_t count = random_below(g, chance(g, 10) ? 12 : 4); count > 0; count--) {
    upb_MessageValue v = random_value(g, f, depth);
    if (is_null_value(f)) v.int32_val = 0;
    if (!upb_Array_Append(array, v, g->arena)) return;
  }
}

static void set_map(generator *g, upb_Message *msg, const upb_FieldDef *f, int depth) {
  const upb_MessageDef *entry = upb_FieldDef_MessageSubDef(f);
  const upb_FieldDef *key = upb_MessageDef_FindFieldByNumber(entry, 1);
  const upb_FieldDef *value = upb_MessageDef_FindFieldByNumber(entry, 2);
  upb_Map *map = upb_Message_Mutable(msg, f, g->arena).map;
  for (uint32_t count = random_below(g, 4); count > 0; count--) {
    upb_MessageValue k = random_value(g, key, depth), v = random_value(g, value, depth);
    if (is_null_value(value)) v.int32_val = 0;
    if (!upb_Map_Set(map, k, v, g->arena)) return;
  }
}

static void set_field(generator *g, upb_Message *msg, const upb_FieldDef *f, int depth) {
  if (upb_FieldDef_IsExtension(f)) g->has.extensions = true;
  if (upb_FieldDef_IsMap(f)) {
    set_map(g, msg, f, depth);
  } else if (upb_FieldDef_IsRepeated(f)) {
    set_array(g, msg, f, depth);
  } else {
    upb_MessageValue v = random_value(g, f, depth);
    if (is_null_value(f)) v.int32_val = 0;
    if (!upb_Message_SetFieldByDef(msg, f, v, g->arena)) return;
  }
}

/* -- Well-known types ----------------------------------------------------------------------------------- */

static void set_number(generator *g, upb_Message *msg, const upb_MessageDef *def, int number, int64_t value) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(def, (uint32_t)number);
  upb_MessageValue v = upb_MessageValue_Zero();
  if (upb_FieldDef_CType(f) == kUpb_CType_Int64) v.int64_val = value;
  else v.int32_val = (int32_t)value;
  (void)!upb_Message_SetFieldByDef(msg, f, v, g->arena);
}

static int64_t random_nanos(generator *g) {
  static const int64_t unit[] = {1, 1000, 1000000};
  if (chance(g, 30)) return 0;
  int64_t step = unit[random_below(g, 3)];
  return (int64_t)random_below(g, (uint32_t)(1000000000 / step)) * step;
}

static void fill_timestamp(generator *g, upb_Message *msg, const upb_MessageDef *def) {
  static const int64_t first = -62135596800, last = 253402300799; /* years 0001 and 9999 */
  int64_t seconds = chance(g, 10) ? (chance(g, 50) ? first : last)
                                  : first + (int64_t)(next64(g) % (uint64_t)(last - first));
  if (chance(g, 40)) seconds = (int64_t)random_below(g, 2000000000);
  set_number(g, msg, def, 1, seconds);
  set_number(g, msg, def, 2, random_nanos(g));
}

static void fill_duration(generator *g, upb_Message *msg, const upb_MessageDef *def) {
  static const int64_t most = 315576000000;
  int64_t seconds = chance(g, 50) ? random_below(g, 1000) : (int64_t)(next64(g) % (uint64_t)most);
  int64_t sign = chance(g, 50) ? 1 : -1;
  if (chance(g, 30)) seconds = 0;
  set_number(g, msg, def, 1, sign * seconds);
  set_number(g, msg, def, 2, sign * random_nanos(g));
}

static void fill_field_mask(generator *g, upb_Message *msg, const upb_MessageDef *def) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByNumber(def, 1);
  for (uint32_t count = random_below(g, 4); count > 0; count--) {
    upb_MessageValue v = {.str_val = random_path(g)};
    if (!upb_Array_Append(upb_Message_Mutable(msg, f, g->arena).array, v, g->arena)) return;
  }
}

/* null, number, string, bool, struct, list: members 1 to 6 of the oneof. */
static void fill_value(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth) {
  const upb_FieldDef *f =
      upb_MessageDef_FindFieldByNumber(def, 1 + random_below(g, depth < g->max_depth ? 6 : 4));
  upb_MessageValue v = random_value(g, f, depth);
  if (upb_FieldDef_Number(f) == 1) v.int32_val = 0;
  if (upb_FieldDef_Number(f) == 2) {
    v.double_val = random_double(g, true);
    g->has.floats |= double_is_special(v.double_val);
  }
  (void)!upb_Message_SetFieldByDef(msg, f, v, g->arena);
}

static void fill_any(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth) {
  static const char *const types[] = {"cases.v3.Mini",         "cases.v3.T",
                                      "cases.v3.Quiet",        "google.protobuf.Duration",
                                      "google.protobuf.Value", "google.protobuf.StringValue",
                                      "cases.v3.Maps"};
  if (depth >= g->max_depth || chance(g, 10)) {
    g->has.empty_any = true;
    return;
  }
  const upb_MessageDef *inner =
      upb_DefPool_FindMessageByName(g->pool, types[random_below(g, sizeof types / sizeof types[0])]);
  if (inner == NULL) return;
  upb_Message *content = upb_Message_New(upb_MessageDef_MiniTable(inner), g->arena);
  fill(g, content, inner, depth + 1);
  char *data, url[128] = "type.googleapis.com/";
  size_t size;
  if (!test_serialize(content, inner, g->arena, &data, &size)) return;
  strcat(url, upb_MessageDef_FullName(inner));
  upb_MessageValue v = {.str_val = view_of(g, url, strlen(url))};
  (void)!upb_Message_SetFieldByDef(msg, upb_MessageDef_FindFieldByNumber(def, 1), v, g->arena);
  v.str_val = upb_StringView_FromDataAndSize(data, size);
  (void)!upb_Message_SetFieldByDef(msg, upb_MessageDef_FindFieldByNumber(def, 2), v, g->arena);
}

/* -- Messages ------------------------------------------------------------------------------------------- */

static void set_oneofs(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth) {
  for (int i = 0; i < upb_MessageDef_RealOneofCount(def); i++) {
    const upb_OneofDef *oneof = upb_MessageDef_Oneof(def, i);
    if (!chance(g, 60)) continue;
    const upb_FieldDef *f =
        upb_OneofDef_Field(oneof, (int)random_below(g, (uint32_t)upb_OneofDef_FieldCount(oneof)));
    if (!upb_FieldDef_IsSubMessage(f) || depth < g->max_depth) set_field(g, msg, f, depth);
  }
}

static int by_number(const void *a, const void *b) {
  uint32_t x = upb_FieldDef_Number(*(const upb_FieldDef *const *)a);
  uint32_t y = upb_FieldDef_Number(*(const upb_FieldDef *const *)b);
  return (x > y) - (x < y);
}

static void set_extensions(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth) {
  size_t count;
  const upb_FieldDef **all = upb_DefPool_GetAllExtensions(g->pool, def, &count);
  if (count > 1)
    qsort(all, count, sizeof *all, by_number); /* the pool's order differs from process to process */
  for (size_t i = 0; i < count; i++)
    if (chance(g, 15) && (!upb_FieldDef_IsSubMessage(all[i]) || depth < g->max_depth))
      set_field(g, msg, all[i], depth);
  upb_gfree(all);
}

static void fill_plain(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth) {
  int count = upb_MessageDef_FieldCount(def);
  /* Wide messages and deep ones get fewer fields, or sizes explode. */
  uint32_t percent = depth == 0 ? 50 : depth == 1 ? 25 : 12;
  for (int i = 0; i < count; i++) {
    const upb_FieldDef *f = upb_MessageDef_Field(def, i);
    if (upb_FieldDef_RealContainingOneof(f) != NULL) continue;
    if (upb_FieldDef_IsSubMessage(f) && depth >= g->max_depth) continue;
    if (chance(g, upb_FieldDef_IsSubMessage(f) ? percent / 2 : percent) || upb_FieldDef_IsRequired(f))
      set_field(g, msg, f, depth);
  }
  set_oneofs(g, msg, def, depth);
  if (upb_MessageDef_ExtensionRangeCount(def) > 0) set_extensions(g, msg, def, depth);
}

static void fill(generator *g, upb_Message *msg, const upb_MessageDef *def, int depth) {
  switch (upb_MessageDef_WellKnownType(def)) {
    case kUpb_WellKnown_Timestamp: fill_timestamp(g, msg, def); break;
    case kUpb_WellKnown_Duration: fill_duration(g, msg, def); break;
    case kUpb_WellKnown_FieldMask: fill_field_mask(g, msg, def); break;
    case kUpb_WellKnown_Value: fill_value(g, msg, def, depth); break;
    case kUpb_WellKnown_Any: fill_any(g, msg, def, depth); break;
    default: fill_plain(g, msg, def, depth); break;
  }
}

upb_Message *random_message(generator *g, const upb_MessageDef *def) {
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(def), g->arena);
  fill(g, msg, def, 0);
  return msg;
}
