/* Helpers of the plain-main test programs, see support.h.
 *
 * Comparing goes through reflection and knows nothing of bjvm, so that a mistake in bjvm's view of a message
 * cannot hide itself. Test code may recurse and may end the program.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "google/protobuf/descriptor.upb.h"
#include "upb/message/array.h"
#include "upb/message/map.h"
#include "upb/reflection/message.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

/* -- Files and schemas ---------------------------------------------------------------------------------- */

static void die(const char *what, const char *name) {
  fprintf(stderr, "%s: %s\n", name, what);
  exit(2);
}

char *test_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) die("cannot open", path);
  size_t used = 0, capacity = 1 << 16;
  char *data = malloc(capacity + 1);
  while (data != NULL) {
    used += fread(data + used, 1, capacity - used, file);
    if (used < capacity) break;
    capacity *= 2;
    data = realloc(data, capacity + 1);
  }
  if (data == NULL || ferror(file)) die("cannot read", path);
  fclose(file);
  data[used] = 0;
  *size = used;
  return data;
}

void test_pool_add(upb_DefPool *pool, const char *data, size_t size) {
  upb_Arena *arena = upb_Arena_New();
  const google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_parse(data, size, arena);
  if (set == NULL) die("not a FileDescriptorSet", "descriptor set");
  size_t count;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  for (size_t i = 0; i < count; i++) {
    upb_Status status;
    upb_Status_Clear(&status);
    if (upb_DefPool_AddFile(pool, files[i], &status) == NULL)
      die(upb_Status_ErrorMessage(&status), "descriptor set");
  }
  upb_Arena_Free(arena);
}

upb_DefPool *test_pool_load(const char *path) {
  size_t size;
  char *data = test_read_file(path, &size);
  upb_DefPool *pool = upb_DefPool_New();
  test_pool_add(pool, data, size);
  free(data);
  return pool;
}

const upb_MessageDef *test_find_message(const upb_DefPool *pool, const char *full_name) {
  const upb_MessageDef *def = upb_DefPool_FindMessageByName(pool, full_name);
  if (def == NULL) die("no such message type", full_name);
  return def;
}

upb_Message *test_parse(const upb_DefPool *pool, const upb_MessageDef *def, const char *data, size_t size,
                        upb_Arena *arena) {
  const upb_MiniTable *table = upb_MessageDef_MiniTable(def);
  upb_Message *msg = upb_Message_New(table, arena);
  const upb_ExtensionRegistry *extensions = upb_DefPool_ExtensionRegistry(pool);
  int options = (int)upb_DecodeOptions_MaxDepth(TEST_DEPTH);
  if (msg == NULL) return NULL;
  return upb_Decode(data, size, msg, table, extensions, options, arena) == kUpb_DecodeStatus_Ok ? msg : NULL;
}

bool test_serialize(const upb_Message *msg, const upb_MessageDef *def, upb_Arena *arena, char **data,
                    size_t *size) {
  int options = (int)upb_EncodeOptions_MaxDepth(TEST_DEPTH) | kUpb_EncodeOption_Deterministic;
  return upb_Encode(msg, upb_MessageDef_MiniTable(def), options, arena, data, size) == kUpb_EncodeStatus_Ok;
}

/* -- Comparing ------------------------------------------------------------------------------------------ */

typedef struct comparer {
  const upb_DefPool *pool;
  upb_Arena *arena; /* for the contents of Any */
  char *where;
  size_t size;
} comparer;

static bool same_message(comparer *c, const upb_MessageDef *def, const upb_Message *a, const upb_Message *b);

/* Puts `name` in front of the path told so far. Always false, for `return differ(...)`. */
static bool differ(comparer *c, const char *name, const char *what) {
  if (c->size == 0) return false;
  char old[512];
  snprintf(old, sizeof old, "%s", c->where);
  snprintf(c->where, c->size, "%s%s%s%s", name, what, old[0] != 0 ? "." : "", old);
  return false;
}

static bool same_double(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static bool same_string(upb_StringView a, upb_StringView b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool same_value(comparer *c, const upb_FieldDef *f, upb_MessageValue a, upb_MessageValue b) {
  switch (upb_FieldDef_CType(f)) {
    case kUpb_CType_Bool: return a.bool_val == b.bool_val;
    case kUpb_CType_Float: return same_double((double)a.float_val, (double)b.float_val);
    case kUpb_CType_Double: return same_double(a.double_val, b.double_val);
    case kUpb_CType_Int32:
    case kUpb_CType_Enum: return a.int32_val == b.int32_val;
    case kUpb_CType_UInt32: return a.uint32_val == b.uint32_val;
    case kUpb_CType_Int64: return a.int64_val == b.int64_val;
    case kUpb_CType_UInt64: return a.uint64_val == b.uint64_val;
    case kUpb_CType_String:
    case kUpb_CType_Bytes: return same_string(a.str_val, b.str_val);
    case kUpb_CType_Message: return same_message(c, upb_FieldDef_MessageSubDef(f), a.msg_val, b.msg_val);
  }
  return false;
}

static bool same_array(comparer *c, const upb_FieldDef *f, const upb_Array *a, const upb_Array *b) {
  size_t size = a != NULL ? upb_Array_Size(a) : 0;
  if (size != (b != NULL ? upb_Array_Size(b) : 0)) return differ(c, upb_FieldDef_Name(f), ": sizes differ");
  for (size_t i = 0; i < size; i++) {
    char index[32];
    snprintf(index, sizeof index, "[%zu]", i);
    if (!same_value(c, f, upb_Array_Get(a, i), upb_Array_Get(b, i)))
      return differ(c, upb_FieldDef_Name(f), index);
  }
  return true;
}

static bool same_map(comparer *c, const upb_FieldDef *f, const upb_Map *a, const upb_Map *b) {
  size_t size = a != NULL ? upb_Map_Size(a) : 0;
  if (size != (b != NULL ? upb_Map_Size(b) : 0)) return differ(c, upb_FieldDef_Name(f), ": sizes differ");
  if (size == 0) return true;
  const upb_FieldDef *value = upb_MessageDef_FindFieldByNumber(upb_FieldDef_MessageSubDef(f), 2);
  upb_MessageValue key, in_a, in_b;
  size_t iter = kUpb_Map_Begin;
  while (upb_Map_Next(a, &key, &in_a, &iter)) {
    if (!upb_Map_Get(b, key, &in_b)) return differ(c, upb_FieldDef_Name(f), ": keys differ");
    if (!same_value(c, value, in_a, in_b)) return differ(c, upb_FieldDef_Name(f), "{}");
  }
  return true;
}

static bool same_field(comparer *c, const upb_FieldDef *f, const upb_Message *a, const upb_Message *b) {
  upb_MessageValue in_a = upb_Message_GetFieldByDef(a, f), in_b = upb_Message_GetFieldByDef(b, f);
  if (upb_FieldDef_IsMap(f)) return same_map(c, f, in_a.map_val, in_b.map_val);
  if (upb_FieldDef_IsRepeated(f)) return same_array(c, f, in_a.array_val, in_b.array_val);
  if (upb_FieldDef_HasPresence(f)) {
    bool has = upb_Message_HasFieldByDef(a, f);
    if (has != upb_Message_HasFieldByDef(b, f))
      return differ(c, upb_FieldDef_Name(f), has ? ": gone" : ": extra");
    if (!has) return true;
  }
  return same_value(c, f, in_a, in_b) || differ(c, upb_FieldDef_Name(f), "");
}

/* Extensions of `a` that are set are the same in `b`. An empty list counts as not set. */
static bool extensions_in(comparer *c, const upb_MessageDef *def, const upb_Message *a,
                          const upb_Message *b) {
  const upb_FieldDef *f;
  upb_MessageValue value;
  size_t iter = (size_t)kUpb_Message_Begin;
  while (upb_Message_Next(a, def, c->pool, &f, &value, &iter))
    if (upb_FieldDef_IsExtension(f) && !same_field(c, f, a, b)) return false;
  return true;
}

static size_t unknown_bytes(const upb_Message *msg, upb_Arena *arena, char **data) {
  upb_StringView chunk;
  uintptr_t iter = kUpb_Message_UnknownBegin;
  size_t size = 0;
  *data = NULL;
  while (upb_Message_NextUnknown(msg, &chunk, &iter)) {
    *data = upb_Arena_Realloc(arena, *data, size, size + chunk.size);
    memcpy(*data + size, chunk.data, chunk.size);
    size += chunk.size;
  }
  return size;
}

static bool same_unknown(comparer *c, const upb_Message *a, const upb_Message *b) {
  char *in_a, *in_b;
  size_t size = unknown_bytes(a, c->arena, &in_a);
  return size == unknown_bytes(b, c->arena, &in_b) && (size == 0 || memcmp(in_a, in_b, size) == 0);
}

/* 1 the same, 0 not, -1: not to be compared as a message (type unknown, content broken). */
static int same_any(comparer *c, const upb_MessageDef *def, const upb_Message *a, const upb_Message *b) {
  const upb_FieldDef *url = upb_MessageDef_FindFieldByNumber(def, 1);
  const upb_FieldDef *value = upb_MessageDef_FindFieldByNumber(def, 2);
  upb_StringView name = upb_Message_GetFieldByDef(a, url).str_val;
  if (!same_string(name, upb_Message_GetFieldByDef(b, url).str_val)) return 0;
  for (size_t i = name.size; i > 0; i--) {
    if (name.data[i - 1] != '/') continue;
    name = upb_StringView_FromDataAndSize(name.data + i, name.size - i);
    break;
  }
  const upb_MessageDef *inner = upb_DefPool_FindMessageByNameWithSize(c->pool, name.data, name.size);
  if (name.size == 0 || inner == NULL) return -1;
  upb_StringView in_a = upb_Message_GetFieldByDef(a, value).str_val,
                 in_b = upb_Message_GetFieldByDef(b, value).str_val;
  const upb_Message *msg_a = test_parse(c->pool, inner, in_a.data, in_a.size, c->arena);
  const upb_Message *msg_b = test_parse(c->pool, inner, in_b.data, in_b.size, c->arena);
  if (msg_a == NULL || msg_b == NULL) return -1;
  return same_message(c, inner, msg_a, msg_b);
}

static bool same_message(comparer *c, const upb_MessageDef *def, const upb_Message *a, const upb_Message *b) {
  if (!same_unknown(c, a, b)) return differ(c, "", "(unknown fields)");
  if (upb_MessageDef_WellKnownType(def) == kUpb_WellKnown_Any) {
    int answer = same_any(c, def, a, b);
    if (answer >= 0) return answer == 1 || differ(c, "", "(any)");
  }
  for (int i = 0; i < upb_MessageDef_FieldCount(def); i++)
    if (!same_field(c, upb_MessageDef_Field(def, i), a, b)) return false;
  return extensions_in(c, def, a, b) && extensions_in(c, def, b, a);
}

bool test_same(const upb_DefPool *pool, const upb_MessageDef *def, const upb_Message *a, const upb_Message *b,
               char *where, size_t size) {
  comparer c = {pool, upb_Arena_New(), where, size};
  if (size > 0) where[0] = 0;
  bool same = same_message(&c, def, a, b);
  upb_Arena_Free(c.arena);
  return same;
}

/* -- Text ----------------------------------------------------------------------------------------------- */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

size_t test_unescape(char *text) {
  char *out = text;
  for (const char *in = text; *in != 0; in++) {
    if (*in != '\\') {
      *out++ = *in;
      continue;
    }
    *out++ = (char)(hex_digit(in[1]) * 16 + hex_digit(in[2]));
    in += 2;
  }
  return (size_t)(out - text);
}

size_t test_unhex(char *text) {
  size_t size = strlen(text) / 2;
  for (size_t i = 0; i < size; i++)
    text[i] = (char)(hex_digit(text[2 * i]) * 16 + hex_digit(text[2 * i + 1]));
  return size;
}
