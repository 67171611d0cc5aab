/* What reads ahead of upb_Decode (lib/wire_read.c), against upb_Decode alone:
 *
 *     wire_test SET [COUNT [SEED [DESCRIPTOR_SET...]]]
 *
 * The fields that it took must leave the same bytes in the message as when upb reads them, and upb, going on behind them,
 * must end with the status and the message that it has when it reads everything. The input: random messages of every
 * type of the sets, whole, cut at every byte and damaged, and a table of edge cases that says how much is taken. Each
 * lies at the end of a page, with no byte behind it, and inside one, with bytes behind it that look like more. Messages
 * that consist of simple fields only must be taken whole.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/support.h"
#include "../unit/guard.h"
#include "google/protobuf/descriptor.upb.h"
#include "random_message.h"
#include "upb/mini_table/message.h"
#include "upb/reflection/message.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"
#include "upb_layout.h"
#include "wire_read.h"

enum {
  MAX_FAILURES = 20,
  MAX_TYPES = 2000,
  ROOM = 1 << 16, /* bytes; longer messages are left out */
  BEHIND = 64,    /* bytes behind a message inside a page */
  MUTANTS = 12,   /* damaged forms of each message */
  LONG_STRING = 1 << 14,
  LAST_SHORT_TAG = 2047, /* the last field number with a tag of two bytes */
};

typedef struct wire_test {
  upb_DefPool *pool;
  const upb_MessageDef *types[MAX_TYPES];
  size_t type_count;
  uint64_t seed;
  char *page_end;
  char inside[ROOM + BEHIND];
  size_t inputs, accepted, whole, partly, simple, rows, failures;
} wire_test;

/* -- Comparing ------------------------------------------------------------------------------------------ */

static void fail(wire_test *t, const upb_MessageDef *def, upb_StringView data, const char *what) {
  if (++t->failures > MAX_FAILURES) return;
  printf("FAIL %s: %s:", upb_MessageDef_FullName(def), what);
  for (size_t i = 0; i < data.size && i < 200; i++) printf(" %02x", (uint8_t)data.data[i]);
  printf("\n");
}

/* What comes of the bytes with upb alone. */
static upb_DecodeStatus decode(const wire_test *t, const upb_MessageDef *def, upb_StringView data,
                               upb_Message *msg, upb_Arena *arena) {
  int options = (int)upb_DecodeOptions_MaxDepth(TEST_DEPTH) | kUpb_DecodeOption_AliasString;
  return upb_Decode(data.data, data.size, msg, upb_MessageDef_MiniTable(def),
                    upb_DefPool_ExtensionRegistry(t->pool), options, arena);
}

static bool same_bytes(const upb_MessageDef *def, const upb_Message *a, const upb_Message *b,
                       upb_Arena *arena) {
  char *text_a, *text_b;
  size_t size_a, size_b;
  return test_serialize(a, def, arena, &text_a, &size_a) && test_serialize(b, def, arena, &text_b, &size_b) &&
         size_a == size_b && (size_a == 0 || memcmp(text_a, text_b, size_a) == 0);
}

/* Reads `data` both ways. Returns how much was taken before upb. */
static size_t check_here(wire_test *t, const upb_MessageDef *def, upb_StringView data) {
  upb_Arena *arena = upb_Arena_New();
  const upb_MiniTable *table = upb_MessageDef_MiniTable(def);
  upb_Message *fast = upb_Message_New(table, arena), *front = upb_Message_New(table, arena),
              *all = upb_Message_New(table, arena);
  size_t taken = (size_t)(bjvmi_wire_read(data.data, data.size, fast, table) - data.data);
  upb_StringView taken_part = {data.data, taken}, rest = {data.data + taken, data.size - taken};

  /* The messages are compared as memory: nothing that was taken is outside of it, and strings are not copied. */
  if (taken > data.size) fail(t, def, data, "read too far");
  else if (decode(t, def, taken_part, front, arena) != kUpb_DecodeStatus_Ok)
    fail(t, def, data, "upb refuses what was taken");
  else if (memcmp(fast, front, bjvmi_upb_message_size(table)) != 0)
    fail(t, def, data, "upb reads what was taken otherwise");

  upb_DecodeStatus want = decode(t, def, data, all, arena);
  upb_DecodeStatus got = rest.size ? decode(t, def, rest, fast, arena) : kUpb_DecodeStatus_Ok;
  if (got != want) fail(t, def, data, "another status");
  else if (got == kUpb_DecodeStatus_Ok && !same_bytes(def, fast, all, arena))
    fail(t, def, data, "another message");
  t->inputs++;
  t->accepted += want == kUpb_DecodeStatus_Ok;
  t->whole += taken == data.size;
  t->partly += taken != 0 && taken != data.size;
  upb_Arena_Free(arena);
  return taken;
}

/* In both places. Behind the copy inside a page lies what goes on like a varint, or like another field. */
static size_t check(wire_test *t, const upb_MessageDef *def, upb_StringView data) {
  upb_StringView at_end = {t->page_end - data.size, data.size}, inside = {t->inside, data.size};
  if (data.size) {
    memcpy(t->page_end - data.size, data.data, data.size);
    memcpy(t->inside, data.data, data.size);
  }
  size_t taken = check_here(t, def, at_end);
  for (int i = 0; i < 2; i++) {
    memset(t->inside + data.size, i ? 0x08 : 0x80, BEHIND);
    if (check_here(t, def, inside) != taken) fail(t, def, data, "more or less taken elsewhere");
  }
  return taken;
}

/* -- Random messages ------------------------------------------------------------------------------------ */

/* Whether the field as it is set is one that has to be taken. */
static bool is_simple(const upb_FieldDef *f, upb_MessageValue value) {
  if (upb_FieldDef_IsRepeated(f) || upb_FieldDef_IsSubMessage(f) || upb_FieldDef_IsExtension(f) ||
      upb_FieldDef_Number(f) > LAST_SHORT_TAG)
    return false;
  switch (upb_FieldDef_CType(f)) {
    case kUpb_CType_Enum: return !upb_EnumDef_IsClosed(upb_FieldDef_EnumSubDef(f));
    case kUpb_CType_String:
    case kUpb_CType_Bytes: return value.str_val.size < LONG_STRING;
    default: return true;
  }
}

static bool all_simple(const wire_test *t, const upb_MessageDef *def, const upb_Message *msg) {
  const upb_FieldDef *f;
  upb_MessageValue value;
  size_t at = (size_t)kUpb_Message_Begin;
  while (upb_Message_Next(msg, def, t->pool, &f, &value, &at))
    if (!is_simple(f, value)) return false;
  return true;
}

/* One or two changes: a byte, a longer spelling of a varint, a piece taken out or doubled. */
static upb_StringView damage(generator *g, upb_StringView data) {
  char *copy = (char *)upb_Arena_Malloc(g->arena, 4 * data.size + 8);
  size_t size = data.size;
  memcpy(copy, data.data, size);
  for (uint32_t i = 1 + random_below(g, 2); i > 0 && size > 0; i--) {
    size_t at = random_below(g, (uint32_t)size), piece = random_below(g, (uint32_t)(size - at) + 1);
    switch (random_below(g, 5)) {
      case 0: copy[at] = (char)random_below(g, 256); break;
      case 1: copy[at] ^= (char)(1 << random_below(g, 8)); break;
      case 2:
        memmove(copy + at + 1, copy + at, size++ - at);
        copy[at] |= (char)0x80;
        copy[at + 1] = (char)(random_below(g, 2) ? 0 : 0x80);
        break;
      case 3:
        memmove(copy + at, copy + at + piece, size - at - piece);
        size -= piece;
        break;
      default:
        if (size + piece > 2 * data.size) break;
        memmove(copy + at + piece, copy + at, size - at);
        size += piece;
    }
  }
  return upb_StringView_FromDataAndSize(copy, size);
}

static void run_one(wire_test *t, uint64_t number) {
  generator g = {.state = t->seed + number, .pool = t->pool, .arena = upb_Arena_New(), .max_depth = 2};
  const upb_MessageDef *def = t->types[number % t->type_count];
  const upb_Message *msg = random_message(&g, def);
  char *bytes;
  upb_StringView data;
  if (!test_serialize(msg, def, g.arena, &bytes, &data.size)) abort();
  data.data = bytes;
  if (data.size < ROOM / 4) {
    size_t taken = check(t, def, data);
    bool simple = BJVMI_WIRE_READS && all_simple(t, def, msg);
    if (simple && taken != data.size) fail(t, def, data, "simple, and not taken");
    t->simple += simple && data.size != 0;
    size_t step = 1 + data.size / 64; /* of long ones a sample */
    for (size_t cut = 0; cut < data.size; cut += step)
      check(t, def, upb_StringView_FromDataAndSize(data.data, cut));
    for (int i = 0; i < MUTANTS; i++) check(t, def, damage(&g, data));
  }
  upb_Arena_Free(g.arena);
}

/* -- Edge cases ----------------------------------------------------------------------------------------- */

/* How many bytes are taken, and the bytes. */
static const struct {
  const char *type, *hex;
  size_t taken;
} rows[] = {
    {"cases.v3.T", "", 0},
    /* int32: negative in ten bytes, in five, beyond 32 bits, a bit beyond 64, eleven bytes */
    {"cases.v3.T", "08ffffffffffffffffff01", 11},
    {"cases.v3.T", "08ffffffff0f", 6},
    {"cases.v3.T", "08ffffffffffffffff7f", 10},
    {"cases.v3.T", "088180808010", 6},
    {"cases.v3.T", "08ffffffffffffffffff02", 0},
    {"cases.v3.T", "08ffffffffffffffffff7f", 0},
    {"cases.v3.T", "08ffffffffffffffffff8101", 0},
    {"cases.v3.T", "0880808080808080808000", 11},
    {"cases.v3.T", "08808080808080808000", 10},
    /* longer than they need to be */
    {"cases.v3.T", "08818000", 4},
    {"cases.v3.T", "880001", 3},
    {"cases.v3.T", "88800001", 0},
    {"cases.v3.T", "7281006b", 4},
    {"cases.v3.T", "728180006b", 0},
    {"cases.v3.T", "08018800020803", 7},
    /* zigzag */
    {"cases.v3.T", "2801", 2},
    {"cases.v3.T", "28ffffffff0f", 6},
    {"cases.v3.T", "2881808080f0ffffff7f", 10},
    {"cases.v3.T", "30ffffffffffffffffff01", 11},
    /* bool: 0, 1, 2, 128, 2^32 */
    {"cases.v3.T", "6800", 2},
    {"cases.v3.T", "6801", 2},
    {"cases.v3.T", "680168006801", 6},
    {"cases.v3.T", "6802", 0},
    {"cases.v3.T", "688001", 0},
    {"cases.v3.T", "68808080801068018080", 0},
    {"cases.v3.T", "68818000", 4},
    /* set to zero, the last one wins, fields out of order */
    {"cases.v3.T", "08001000180020002800300068007200", 16},
    {"cases.v3.T", "080708090800", 6},
    {"cases.v3.T", "720361626372017a", 8},
    {"cases.v3.T", "68017001", 2},
    {"cases.v3.T", "800107680108ff01", 8},
    /* cut short */
    {"cases.v3.T", "0801080280", 4},
    {"cases.v3.T", "08", 0},
    {"cases.v3.T", "0880", 0},
    {"cases.v3.T", "3d010203", 0},
    {"cases.v3.T", "4101020304050607", 0},
    {"cases.v3.T", "7203", 0},
    {"cases.v3.T", "72036162", 0},
    {"cases.v3.T", "08017a8001", 2},
    {"cases.v3.T", "7affffffff07", 0},
    {"cases.v3.T", "7affffffffffffffffff01", 0},
    /* field 0, field 2^29 - 1, unknown ones, wrong wire types, groups */
    {"cases.v3.T", "0001", 0},
    {"cases.v3.T", "0801800000", 2},
    {"cases.v3.T", "f8ffffff0f01", 0},
    {"cases.v3.T", "0801b801010802", 2},
    {"cases.v3.T", "08010d010000000802", 2},
    {"cases.v3.T", "3801", 0},
    {"cases.v3.T", "39010203040506070808", 0},
    {"cases.v3.T", "5501020304", 0},
    {"cases.v3.T", "0a0101", 0},
    {"cases.v3.T", "08010b0c", 2},
    {"cases.v3.T", "08010c", 2},
    {"cases.v3.T", "08010e", 2},
    {"cases.v3.T", "08010f", 2},
    {"cases.v3.T", "080183010801840108", 2},
    /* sub-messages, repeated fields, maps */
    {"cases.v3.T", "08018a010208020803", 2},
    {"cases.v3.Rep", "0801", 0},
    {"cases.v3.Rep", "0a020102", 0},
    {"cases.v3.Maps", "0a00", 0},
    /* UTF-8 where upb checks it, and where not */
    {"cases.v3.T", "7202c3a9", 4},
    {"cases.v3.T", "7204f09fa68a", 6},
    {"cases.v3.T", "7201c3", 0},
    {"cases.v3.T", "7202c080", 0},
    {"cases.v3.T", "7203eda080", 0},
    {"cases.v3.T", "7204f4908080", 0},
    {"cases.v3.T", "720a6162636465666768c3a9", 12},
    {"cases.v3.T", "720a61626364656667c328a9", 0},
    {"cases.v3.T", "0801720a6162636465666768ffa90802", 2},
    {"cases.v3.T", "7a02c080", 4},
    {"cases.v2.P2", "1202c080", 4},
    {"cases.ed.Ed", "4202c080", 4},
    {"cases.ed.Ed", "5202c080", 0},
    /* presence by bits: a set zero */
    {"cases.v3.Opt", "0800", 2},
    {"cases.v3.Opt", "0800720068007d00000000", 6},
    {"cases.v3.Lots", "88020090020190080a", 9},
    /* oneof: one after another, before and behind a message, the same again */
    {"cases.v3.One", "0801120161", 5},
    {"cases.v3.One", "12016108012001", 7},
    {"cases.v3.One", "08011a02080508023801", 2},
    {"cases.v3.One", "1a0208050801", 0},
    {"cases.v3.One", "08011a000801", 2},
    {"cases.v3.One", "a00105aa010161b2010162", 11},
    /* closed enums, required fields, extensions */
    {"cases.v2.P2", "08013001", 2},
    {"cases.v2.P2", "30630801", 0},
    {"cases.v2.P2", "0801a0060108a00608", 2},
    {"cases.v2.Need", "0801", 2},
    {"cases.v2.Need", "120178", 3},
    {"cases.v2.Need", "", 0},
    {"cases.v3.Quiet", "", 0},
    {"cases.v3.Quiet", "0801", 0},
};

static void run_rows(wire_test *t) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char hex[128];
    snprintf(hex, sizeof hex, "%s", rows[i].hex);
    upb_StringView data = {hex, test_unhex(hex)};
    const upb_MessageDef *def = test_find_message(t->pool, rows[i].type);
    size_t taken = check(t, def, data), want = BJVMI_WIRE_READS ? rows[i].taken : 0;
    if (taken != want) {
      printf("row %zu: %zu bytes taken, not %zu\n", i, taken, want);
      fail(t, def, data, "not what the row says");
    }
    t->rows++;
  }
}

/* Strings of every length up to some, whose data are at every distance from the ends of the pages, with a byte that
 * is not ASCII everywhere in them; then the longest that is taken and the shortest that is not. */
static void run_strings(wire_test *t) {
  const upb_MessageDef *def = test_find_message(t->pool, "cases.v3.T");
  static char data[ROOM];
  for (size_t size = 0; size < 40; size++) {
    for (size_t odd = 0; odd <= size; odd++) {
      memset(data, 'a', sizeof data);
      data[0] = 0x72;
      data[1] = (char)size;
      data[2 + odd] = odd < size ? (char)0xc3 : 0x68;
      data[3 + odd] = odd < size ? (char)0xa9 : 0x01;
      bool whole = odd == size || odd + 1 < size;
      size_t all = 2 + size + (odd == size ? 2 : 0);
      if (check(t, def, upb_StringView_FromDataAndSize(data, all)) != (BJVMI_WIRE_READS && whole ? all : 0))
        fail(t, def, upb_StringView_FromDataAndSize(data, all), "a string");
    }
  }
  memset(data, 'a', sizeof data);
  memcpy(data, "\x72\xff\x7f", 3);
  upb_StringView longest = {data, 3 + LONG_STRING - 1};
  if (check(t, def, longest) != (BJVMI_WIRE_READS ? longest.size : 0))
    fail(t, def, longest, "the longest string");
  memcpy(data, "\x72\x80\x80\x01", 4);
  upb_StringView longer = {data, 4 + LONG_STRING};
  if (check(t, def, longer) != 0) fail(t, def, longer, "too long a string");
}

/* -- Types ---------------------------------------------------------------------------------------------- */

static void add_type(wire_test *t, const upb_MessageDef *def) {
  if (!upb_MessageDef_IsMapEntry(def) && t->type_count < MAX_TYPES) t->types[t->type_count++] = def;
  for (int i = 0; i < upb_MessageDef_NestedMessageCount(def); i++)
    add_type(t, upb_MessageDef_NestedMessage(def, i));
}

/* The types of a set; its files go into the pool unless they are there. */
static void add_set(wire_test *t, const char *path) {
  size_t size, count;
  char *data = test_read_file(path, &size);
  upb_Arena *arena = upb_Arena_New();
  google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_parse(data, size, arena);
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  for (size_t i = 0; i < count; i++) {
    upb_Status status;
    upb_Status_Clear(&status);
    upb_StringView name = google_protobuf_FileDescriptorProto_name(files[i]);
    if (upb_DefPool_FindFileByNameWithSize(t->pool, name.data, name.size)) continue;
    const upb_FileDef *file = upb_DefPool_AddFile(t->pool, files[i], &status);
    for (int k = 0; file && k < upb_FileDef_TopLevelMessageCount(file); k++)
      add_type(t, upb_FileDef_TopLevelMessage(file, k));
  }
  upb_Arena_Free(arena);
  free(data);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: wire_test SET [COUNT [SEED [DESCRIPTOR_SET...]]]\n");
    return 2;
  }
  static wire_test t;
  t.pool = upb_DefPool_New();
  t.page_end = guard_end(ROOM);
  t.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1130;
  uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
  add_set(&t, argv[1]);
  for (int i = 4; i < argc; i++) add_set(&t, argv[i]);
  run_rows(&t);
  run_strings(&t);
  for (uint64_t i = 0; i < count; i++) run_one(&t, i);
  printf("%zu inputs of %zu types, %zu of them messages: %zu taken whole, %zu in part\n", t.inputs,
         t.type_count, t.accepted, t.whole, t.partly);
  printf("%zu rows of edge cases, %zu random messages that had to be taken whole\n", t.rows, t.simple);
  printf("%zu passed, %zu failed\n", t.inputs - t.failures, t.failures);
  upb_DefPool_Free(t.pool);
  return t.failures != 0 || (BJVMI_WIRE_READS && count > 1000 && t.simple < count / 50);
}
