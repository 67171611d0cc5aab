/* The corpus: a seeded generator of messages, one function per shape.
 *
 * Goes through reflection only, so that no peer has a hand in what is measured. A field without a word about
 * it is present with p = 0.5. Values are drawn from the ranges a real message of that shape has; doubles keep
 * all their digits, which is the slow and the usual case. The seed of a case depends on its name alone:
 * leaving out other cases does not change it.
 */
#include "corpus.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "google/protobuf/descriptor.upb.h"
#include "upb/message/array.h"
#include "upb/message/map.h"
#include "upb/reflection/message.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"

enum {
  STRING_LIMIT = 8192,       /* bytes of the longest string or bytes value */
  WIDE_SET = 5,              /* fields that a Wide has */
  MESSAGES_BLOCK = 64 << 20, /* malloc maps what is as large as this anew; messages and texts fit */
};

void bench_die(const char *what, const char *detail) {
  fprintf(stderr, "bench: %s: %s\n", what, detail);
  exit(1);
}

/* -- Schema --------------------------------------------------------------------------------------------- */

static bench_text read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) bench_die("cannot open", path);
  char *data = NULL;
  size_t size = 0, got = 0;
  do {
    data = realloc(data, size + 65536);
    if (data == NULL) bench_die("out of memory", path);
    got = fread(data + size, 1, 65536, file);
    size += got;
  } while (got > 0);
  if (ferror(file)) bench_die("cannot read", path);
  fclose(file);
  return (bench_text){data, size};
}

void bench_schema_load(bench_schema *schema, const char *path) {
  schema->set = read_file(path);
  schema->pool = upb_DefPool_New();
  upb_Arena *arena = upb_Arena_New();
  const google_protobuf_FileDescriptorSet *set =
      google_protobuf_FileDescriptorSet_parse(schema->set.data, schema->set.size, arena);
  if (set == NULL) bench_die("not a FileDescriptorSet", path);
  size_t count;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  for (size_t i = 0; i < count; i++) {
    upb_Status status;
    upb_Status_Clear(&status);
    if (upb_DefPool_AddFile(schema->pool, files[i], &status) == NULL)
      bench_die(path, upb_Status_ErrorMessage(&status));
  }
  upb_Arena_Free(arena);
}

void bench_schema_free(bench_schema *schema) {
  upb_DefPool_Free(schema->pool);
  free((char *)(uintptr_t)schema->set.data);
}

/* -- Chance --------------------------------------------------------------------------------------------- */

typedef struct maker {
  uint64_t state;
  const bench_schema *schema;
  upb_Arena *arena;
} maker;

/* A Weyl sequence through a mixer of two multiplications: every seed gives a full period. */
static uint64_t draw(maker *m) {
  m->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = m->state;
  x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  x = (x ^ (x >> 29)) * UINT64_C(0xd6e8feb86659fd93);
  return x ^ (x >> 32);
}

/* lo <= result <= hi */
static int64_t range(maker *m, int64_t lo, int64_t hi) {
  return lo + (int64_t)(draw(m) % (uint64_t)(hi - lo + 1));
}

static bool coin(maker *m) { return draw(m) >> 63; }

static double real(maker *m, double lo, double hi) {
  return lo + (hi - lo) * ((double)(draw(m) >> 11) / 9007199254740992.0);
}

static uint64_t seed_of(const char *name) {
  uint64_t seed = 20230;
  for (; *name; name++) seed = seed * 131 + (unsigned char)*name;
  return seed;
}

/* -- Text ----------------------------------------------------------------------------------------------- */

static upb_MessageValue string_value(maker *m, const char *data, size_t size) {
  char *copy = upb_Arena_Malloc(m->arena, size + 1);
  if (copy == NULL) bench_die("out of memory", "corpus");
  memcpy(copy, data, size);
  return (upb_MessageValue){.str_val = upb_StringView_FromDataAndSize(copy, size)};
}

static upb_MessageValue word(maker *m, int64_t lo, int64_t hi) {
  char text[STRING_LIMIT];
  size_t size = (size_t)range(m, lo, hi);
  for (size_t i = 0; i < size; i++) text[i] = (char)('a' + range(m, 0, 25));
  return string_value(m, text, size);
}

/* Words with blanks and full stops, as a description has. */
static upb_MessageValue prose(maker *m, int64_t lo, int64_t hi) {
  char text[STRING_LIMIT];
  size_t size = (size_t)range(m, lo, hi);
  for (size_t i = 0; i < size; i++) {
    int64_t dice = range(m, 0, 35);
    text[i] = dice < 26    ? (char)('a' + dice)
              : dice < 33  ? ' '
              : dice == 33 ? '.'
                           : (char)('A' + range(m, 0, 25));
  }
  return string_value(m, text, size);
}

static upb_MessageValue octets(maker *m, int64_t lo, int64_t hi) {
  char data[STRING_LIMIT];
  size_t size = (size_t)range(m, lo, hi);
  for (size_t i = 0; i < size; i++) data[i] = (char)draw(m);
  return string_value(m, data, size);
}

static size_t put_utf8(char *out, uint32_t c) {
  if (c < 0x80) return out[0] = (char)c, 1;
  if (c < 0x800) return out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
  size_t n = 0;
  if (c < 0x10000) {
    out[n++] = (char)(0xe0 | c >> 12);
  } else {
    out[n++] = (char)(0xf0 | c >> 18);
    out[n++] = (char)(0x80 | (c >> 12 & 63));
  }
  out[n++] = (char)(0x80 | (c >> 6 & 63));
  out[n++] = (char)(0x80 | (c & 63));
  return n;
}

/* Runs of one script: ASCII, Latin, Cyrillic, Chinese, emoji. */
static upb_MessageValue unicode(maker *m, int64_t lo, int64_t hi) {
  static const uint32_t first[] = {'a', 0xc0, 0x410, 0x4e00, 0x1f600};
  static const uint32_t last[] = {'z', 0xff, 0x44f, 0x9fa5, 0x1f64f};
  char text[STRING_LIMIT];
  size_t size = 0, chars = (size_t)range(m, lo, hi);
  size_t script = 0, left = 0;
  for (; chars > 0; chars--, left--) {
    if (left == 0) {
      left = (size_t)range(m, 1, 12);
      script = (size_t)range(m, 0, 4);
    }
    size += put_utf8(text + size, (uint32_t)range(m, first[script], last[script]));
  }
  return string_value(m, text, size);
}

/* One byte in four needs an escape: what a log line with code in it looks like at its worst. */
static upb_MessageValue escapes(maker *m, int64_t lo, int64_t hi) {
  static const char special[] = "\"\\\n\t\r\b\f\x01\x1f\"\\\n\"\\\n\t";
  char text[STRING_LIMIT];
  size_t size = (size_t)range(m, lo, hi);
  for (size_t i = 0; i < size; i++)
    text[i] = range(m, 0, 3) ? (char)('a' + range(m, 0, 25)) : special[range(m, 0, sizeof special - 2)];
  return string_value(m, text, size);
}

/* -- Fields --------------------------------------------------------------------------------------------- */

/* A message under construction. */
typedef struct node {
  upb_Message *msg;
  const upb_MessageDef *def;
} node;

static node new_node(maker *m, const upb_MessageDef *def) {
  node n = {upb_Message_New(upb_MessageDef_MiniTable(def), m->arena), def};
  if (n.msg == NULL) bench_die("out of memory", "corpus");
  return n;
}

static const upb_FieldDef *field(node n, const char *name) {
  const upb_FieldDef *f = upb_MessageDef_FindFieldByName(n.def, name);
  if (f == NULL) bench_die("no such field", name);
  return f;
}

static upb_MutableMessageValue mutable_of(maker *m, node n, const upb_FieldDef *f) {
  upb_MutableMessageValue value = upb_Message_Mutable(n.msg, f, m->arena);
  if (value.msg == NULL) bench_die("out of memory", "corpus");
  return value;
}

static void set(maker *m, node n, const upb_FieldDef *f, upb_MessageValue value) {
  if (!upb_Message_SetFieldByDef(n.msg, f, value, m->arena)) bench_die("out of memory", "corpus");
}

static void put(maker *m, node n, const char *name, upb_MessageValue value) {
  set(m, n, field(n, name), value);
}

static void put_int32(maker *m, node n, const char *name, int64_t lo, int64_t hi) {
  put(m, n, name, (upb_MessageValue){.int32_val = (int32_t)range(m, lo, hi)});
}

static void put_int64(maker *m, node n, const char *name, int64_t lo, int64_t hi) {
  put(m, n, name, (upb_MessageValue){.int64_val = range(m, lo, hi)});
}

static void put_double(maker *m, node n, const char *name, double lo, double hi) {
  put(m, n, name, (upb_MessageValue){.double_val = real(m, lo, hi)});
}

static node put_node(maker *m, node n, const char *name) {
  const upb_FieldDef *f = field(n, name);
  return (node){mutable_of(m, n, f).msg, upb_FieldDef_MessageSubDef(f)};
}

static void append(maker *m, node n, const upb_FieldDef *f, upb_MessageValue value) {
  if (!upb_Array_Append(mutable_of(m, n, f).array, value, m->arena)) bench_die("out of memory", "corpus");
}

static node append_node(maker *m, node n, const char *name) {
  const upb_FieldDef *f = field(n, name);
  node element = new_node(m, upb_FieldDef_MessageSubDef(f));
  append(m, n, f, (upb_MessageValue){.msg_val = element.msg});
  return element;
}

static void insert(maker *m, node n, const upb_FieldDef *f, upb_MessageValue key, upb_MessageValue value) {
  if (!upb_Map_Set(mutable_of(m, n, f).map, key, value, m->arena)) bench_die("out of memory", "corpus");
}

static node insert_node(maker *m, node n, const char *name, upb_MessageValue key) {
  const upb_FieldDef *f = field(n, name);
  const upb_FieldDef *value_field = upb_MessageDef_FindFieldByNumber(upb_FieldDef_MessageSubDef(f), 2);
  node value = new_node(m, upb_FieldDef_MessageSubDef(value_field));
  insert(m, n, f, key, (upb_MessageValue){.msg_val = value.msg});
  return value;
}

/* Seconds from 1970 to 9999; `digits` of a fraction, the last of them not zero. */
static void fill_time(maker *m, node n, int digits) {
  put_int64(m, n, "seconds", 0, INT64_C(253402300799));
  int64_t step = digits == 9 ? 1 : digits == 6 ? 1000 : 1000000;
  int64_t nanos = digits == 0 ? 0 : (range(m, 0, 1000000000 / step / 10 - 1) * 10 + range(m, 1, 9)) * step;
  put(m, n, "nanos", (upb_MessageValue){.int32_val = (int32_t)nanos});
}

/* -- Any field ------------------------------------------------------------------------------------------ */

static upb_MessageValue scalar(maker *m, const upb_FieldDef *f) {
  upb_MessageValue value;
  memset(&value, 0, sizeof value);
  uint64_t bits = draw(m) >> range(m, 0, 40); /* small numbers are the usual ones */
  switch (upb_FieldDef_CType(f)) {
    case kUpb_CType_Bool: value.bool_val = bits & 1; break;
    case kUpb_CType_Float: value.float_val = (float)real(m, -1000, 1000); break;
    case kUpb_CType_Double: value.double_val = real(m, -1000, 1000); break;
    case kUpb_CType_Int32: value.int32_val = (int32_t)(uint32_t)(bits >> 24); break;
    case kUpb_CType_UInt32: value.uint32_val = (uint32_t)(bits >> 24); break;
    case kUpb_CType_Int64: value.int64_val = (int64_t)bits; break;
    case kUpb_CType_UInt64: value.uint64_val = bits; break;
    case kUpb_CType_Enum: value.int32_val = (int32_t)range(m, 1, 2); break;
    case kUpb_CType_String: return word(m, 5, 24);
    case kUpb_CType_Bytes: return octets(m, 4, 35);
    default: bench_die("not a scalar", upb_FieldDef_Name(f));
  }
  return value;
}

/* Every scalar field of `n` with p = 0.5. Others stay out. */
static void fill_scalars(maker *m, node n) {
  for (int i = 0; i < upb_MessageDef_FieldCount(n.def); i++) {
    const upb_FieldDef *f = upb_MessageDef_Field(n.def, i);
    if (!upb_FieldDef_IsSubMessage(f) && !upb_FieldDef_IsRepeated(f) && coin(m)) set(m, n, f, scalar(m, f));
  }
}

static upb_MessageValue single(maker *m, const upb_FieldDef *f) {
  if (!upb_FieldDef_IsSubMessage(f)) return scalar(m, f);
  node n = new_node(m, upb_FieldDef_MessageSubDef(f));
  if (upb_MessageDef_WellKnownType(n.def) == kUpb_WellKnown_Timestamp) fill_time(m, n, 3);
  else fill_scalars(m, n);
  return (upb_MessageValue){.msg_val = n.msg};
}

/* Sets any field of any kind; repeated ones get one to four elements or entries. */
static void fill_field(maker *m, node n, const upb_FieldDef *f) {
  if (!upb_FieldDef_IsRepeated(f)) {
    set(m, n, f, single(m, f));
    return;
  }
  const upb_MessageDef *entry = upb_FieldDef_IsMap(f) ? upb_FieldDef_MessageSubDef(f) : NULL;
  for (int64_t i = range(m, 1, 4); i > 0; i--) {
    if (entry == NULL) {
      append(m, n, f, single(m, f));
    } else {
      upb_MessageValue key = single(m, upb_MessageDef_FindFieldByNumber(entry, 1));
      insert(m, n, f, key, single(m, upb_MessageDef_FindFieldByNumber(entry, 2)));
    }
  }
}

/* -- Shapes --------------------------------------------------------------------------------------------- */

static void fill_simple(maker *m, node n) {
  if (coin(m)) put(m, n, "name", word(m, 5, 24));
  if (coin(m)) put_int32(m, n, "count", 0, 1 << 20);
  if (coin(m)) put_int64(m, n, "total", 0, INT64_C(1) << 40);
  if (coin(m)) put_double(m, n, "score", 0, 1000);
  if (coin(m)) put(m, n, "active", (upb_MessageValue){.bool_val = true});
  if (coin(m)) put_int32(m, n, "level", 1, 2);
}

static void fill_address(maker *m, node n) {
  put(m, n, "street", prose(m, 8, 24));
  put(m, n, "city", word(m, 4, 14));
  put(m, n, "state", word(m, 2, 2));
  put(m, n, "zip_code", word(m, 5, 5));
  put(m, n, "country", word(m, 2, 10));
}

static void fill_tag(maker *m, node n) {
  put(m, n, "key", word(m, 3, 12));
  put(m, n, "value", word(m, 3, 12));
}

static void fill_complex(maker *m, node n) {
  put(m, n, "id", word(m, 5, 14));
  put(m, n, "name", word(m, 5, 24));
  put_int32(m, n, "age", 1, 99);
  fill_address(m, put_node(m, n, "address"));
  for (int64_t i = range(m, 1, 5); i > 0; i--) append(m, n, field(n, "emails"), word(m, 8, 20));
  for (int64_t i = range(m, 1, 3); i > 0; i--) fill_address(m, append_node(m, n, "other_addresses"));
  fill_tag(m, append_node(m, n, "tags"));
  upb_MessageValue key = word(m, 3, 12);
  insert(m, n, field(n, "labels"), key, word(m, 3, 12));
  key = (upb_MessageValue){.int32_val = (int32_t)range(m, 1, 1000)};
  fill_address(m, insert_node(m, n, "address_by_id", key));
  put(m, n, coin(m) ? "phone" : "pager", word(m, 8, 12));
  put(m, n, "avatar", octets(m, 10, 59));
  fill_time(m, put_node(m, n, "created_at"), 9);
  fill_time(m, put_node(m, n, "updated_at"), 9);
  put_int32(m, n, "level", 1, 2);
}

static void fill_repeated(maker *m, node n) {
  for (int64_t i = range(m, 50, 200); i > 0; i--)
    append(m, n, field(n, "numbers"),
           (upb_MessageValue){.int32_val = (int32_t)(uint32_t)draw(m) >> range(m, 0, 20)});
  for (int64_t i = range(m, 50, 200); i > 0; i--) append(m, n, field(n, "words"), word(m, 3, 17));
  for (int64_t i = range(m, 10, 30); i > 0; i--) {
    node item = append_node(m, n, "items");
    put(m, item, "sku", word(m, 6, 12));
    put_int32(m, item, "quantity", 1, 1000);
    put_int64(m, item, "price_micros", 1000000, INT64_C(100000000000));
    put(m, item, "gift", (upb_MessageValue){.bool_val = true});
  }
}

static void fill_maps(maker *m, node n) {
  for (int64_t i = range(m, 20, 80); i > 0; i--) {
    upb_MessageValue key = word(m, 5, 15);
    insert(m, n, field(n, "attributes"), key, word(m, 5, 20));
  }
  for (int64_t i = range(m, 20, 80); i > 0; i--) {
    upb_MessageValue key = {.int64_val = (int64_t)draw(m)};
    insert(m, n, field(n, "names_by_id"), key, word(m, 5, 20));
  }
  for (int64_t i = range(m, 10, 30); i > 0; i--) fill_tag(m, insert_node(m, n, "tags", word(m, 5, 15)));
}

static void fill_times(maker *m, node n) {
  fill_time(m, put_node(m, n, "created"), 0);
  fill_time(m, put_node(m, n, "modified"), 3);
  fill_time(m, put_node(m, n, "expires"), 9);
}

static void fill_telemetry(maker *m, node n) {
  static const double tops[] = {90, 1000, 1, 100, 5000, 1e-3, 1e6};
  for (int i = 0; i < upb_MessageDef_FieldCount(n.def); i++) {
    double top = tops[i % 7];
    put_double(m, n, upb_FieldDef_Name(upb_MessageDef_Field(n.def, i)), i % 2 ? 0 : -top, top);
  }
}

static void fill_strings(maker *m, node n) {
  put(m, n, "title", prose(m, 3, 17));
  put(m, n, "body", prose(m, 100, 2000));
  put(m, n, "unicode", unicode(m, 20, 200));
  put(m, n, "escaped", escapes(m, 50, 250));
  put(m, n, "digest", octets(m, 8, 31));
  put(m, n, "payload", octets(m, 1024, 5120));
}

static void fill_deep(maker *m, node n) {
  for (int64_t level = range(m, 3, 7); level > 0; level--) {
    put(m, n, "name", word(m, 3, 12));
    put_int32(m, n, "depth", 1, 1000);
    if (level > 1) n = put_node(m, n, "child");
  }
}

static void fill_any_from(maker *m, node any, node content) {
  char url[128], *data;
  size_t size;
  int written = snprintf(url, sizeof url, "type.googleapis.com/%s", upb_MessageDef_FullName(content.def));
  put(m, any, "type_url", string_value(m, url, (size_t)written));
  if (upb_Encode(content.msg, upb_MessageDef_MiniTable(content.def), 0, m->arena, &data, &size) !=
      kUpb_EncodeStatus_Ok)
    bench_die("cannot serialize", upb_MessageDef_FullName(content.def));
  put(m, any, "value", string_value(m, data, size));
}

static void fill_any(maker *m, node n) {
  node scalars = new_node(m, upb_DefPool_FindMessageByName(m->schema->pool, "bench.Scalars"));
  fill_scalars(m, scalars);
  fill_any_from(m, put_node(m, n, "scalars"), scalars);
  node time = new_node(m, upb_DefPool_FindMessageByName(m->schema->pool, "google.protobuf.Timestamp"));
  fill_time(m, time, 9);
  fill_any_from(m, put_node(m, n, "time"), time);
}

static void fill_wide(maker *m, node n) {
  int count = upb_MessageDef_FieldCount(n.def);
  bool taken[1024] = {false};
  for (int i = 0; i < WIDE_SET;) {
    int index = (int)range(m, 0, count - 1);
    if (taken[index]) continue;
    taken[index] = true;
    fill_field(m, n, upb_MessageDef_Field(n.def, index));
    i++;
  }
}

static void fill_order(maker *m, node n) {
  put(m, n, "id", word(m, 16, 16));
  put(m, n, "self_link", word(m, 30, 60));
  put(m, n, "status", word(m, 6, 10));
  put(m, n, "created", word(m, 20, 20));
  put(m, n, "description", prose(m, 20, 100));
  put(m, n, "region", word(m, 8, 12));
  put_int32(m, n, "line_count", 1, 100);
  node amount = put_node(m, n, "amount");
  put(m, amount, "currency", word(m, 3, 3));
  put_int64(m, amount, "units", 1, 1000000);
  node customer = put_node(m, n, "customer");
  put(m, customer, "id", word(m, 12, 12));
  put(m, customer, "email", word(m, 10, 25));
}

static void fill_order_list(maker *m, node n) {
  for (int i = 0; i < 20; i++) fill_order(m, append_node(m, n, "items"));
}

/* -- Struct --------------------------------------------------------------------------------------------- */

static void fill_struct_members(maker *m, node n, int64_t lo, int64_t hi, int depth);

static void fill_value(maker *m, node n, int depth) {
  switch (range(m, 0, depth > 0 ? 6 : 4)) {
    case 0:
    case 1: put(m, n, "string_value", word(m, 4, 20)); break;
    case 2:
      put(m, n, "number_value", (upb_MessageValue){.double_val = (double)range(m, 0, 9999999) / 100});
      break;
    case 3: put(m, n, "bool_value", (upb_MessageValue){.bool_val = coin(m)}); break;
    case 4: put(m, n, "null_value", (upb_MessageValue){.int32_val = 0}); break;
    case 5: fill_struct_members(m, put_node(m, n, "struct_value"), 2, 5, depth - 1); break;
    default: {
      node list = put_node(m, n, "list_value");
      for (int64_t i = range(m, 1, 4); i > 0; i--) fill_value(m, append_node(m, list, "values"), depth - 1);
    }
  }
}

static void fill_struct_members(maker *m, node n, int64_t lo, int64_t hi, int depth) {
  for (int64_t i = range(m, lo, hi); i > 0; i--)
    fill_value(m, insert_node(m, n, "fields", word(m, 4, 12)), depth);
}

static void fill_struct(maker *m, node n) { fill_struct_members(m, n, 3, 15, 2); }

/* The schema itself: protobuf's own files and the corpus. */
static void fill_descriptor(maker *m, node n) {
  const upb_ExtensionRegistry *extensions = upb_DefPool_ExtensionRegistry(m->schema->pool);
  if (upb_Decode(m->schema->set.data, m->schema->set.size, n.msg, upb_MessageDef_MiniTable(n.def), extensions,
                 0, m->arena) != kUpb_DecodeStatus_Ok)
    bench_die("cannot parse", "the descriptor set");
}

/* -- Cases ---------------------------------------------------------------------------------------------- */

typedef struct shape {
  const char *name;
  const char *type;
  size_t count;
  void (*fill)(maker *m, node n);
} shape;

static const shape shapes[] = {
    {"simple", "bench.Simple", BENCH_POOL_SIZE, fill_simple},
    {"complex", "bench.Complex", BENCH_POOL_SIZE, fill_complex},
    {"scalars", "bench.Scalars", BENCH_POOL_SIZE, fill_scalars},
    {"repeated", "bench.Repeated", BENCH_POOL_SIZE, fill_repeated},
    {"map", "bench.Maps", BENCH_POOL_SIZE, fill_maps},
    {"struct", "google.protobuf.Struct", BENCH_POOL_SIZE, fill_struct},
    {"timestamp", "bench.Times", BENCH_POOL_SIZE, fill_times},
    {"double", "bench.Telemetry", BENCH_POOL_SIZE, fill_telemetry},
    {"string", "bench.Strings", BENCH_POOL_SIZE, fill_strings},
    {"deep", "bench.Node", BENCH_POOL_SIZE, fill_deep},
    {"any", "bench.AnyPair", BENCH_POOL_SIZE, fill_any},
    {"wide", "bench.Wide", BENCH_POOL_SIZE, fill_wide},
    {"order", "bench.OrderList", BENCH_POOL_SIZE, fill_order_list},
    {"descriptor", "google.protobuf.FileDescriptorSet", 1, fill_descriptor},
};

const char *bench_case_name(size_t index) {
  return index < sizeof shapes / sizeof *shapes ? shapes[index].name : NULL;
}

void bench_case_make(bench_case *bcase, size_t index, const bench_schema *schema, size_t limit) {
  const shape *s = &shapes[index];
  memset(bcase, 0, sizeof *bcase);
  bcase->name = s->name;
  bcase->schema = schema;
  bcase->def = upb_DefPool_FindMessageByName(schema->pool, s->type);
  if (bcase->def == NULL) bench_die("no such type", s->type);
  bcase->table = upb_MessageDef_MiniTable(bcase->def);
  /* One block that is the kernel's own answer, so that the messages lie alike whatever was measured
   * before. */
  bcase->arena = upb_Arena_NewSized(MESSAGES_BLOCK);
  bcase->count = s->count < limit ? s->count : limit;
  bcase->messages = calloc(bcase->count, sizeof *bcase->messages);
  bcase->json = calloc(bcase->count, sizeof *bcase->json);
  bcase->binary = calloc(bcase->count, sizeof *bcase->binary);
  if (!bcase->arena || !bcase->messages || !bcase->json || !bcase->binary)
    bench_die("out of memory", s->name);
  maker m = {seed_of(s->name), schema, bcase->arena};
  for (size_t i = 0; i < bcase->count; i++) {
    node n = new_node(&m, bcase->def);
    s->fill(&m, n);
    bcase->messages[i] = n.msg;
  }
}

void bench_case_free(bench_case *bcase) {
  free(bcase->messages);
  free(bcase->json);
  free(bcase->binary);
  upb_Arena_Free(bcase->arena);
}
