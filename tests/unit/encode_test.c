/* Printing: every sort of output at every size, layout, long names and long values. What is printed is tested
 * by the case tables, how deep by decode_test.c, the outputs by themselves by output_test.c. */
#include "fixture.h"

/* Messages of every sort, with values around the sizes where the window moves. */
typedef struct sample {
  const char *type;
  const char *json;
} sample;

#define TEXT50 "0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCD"
#define TEXT500 TEXT50 TEXT50 TEXT50 TEXT50 TEXT50 TEXT50 TEXT50 TEXT50 TEXT50 TEXT50

static const sample samples[] = {
    {"cases.v3.Mini", "{}"},
    {"cases.v3.Mini", "{\"n\":-1,\"s\":\"\xc3\xa9\\n\\u0001\"}"},
    {"cases.v3.Mini", "{\"s\":\"" TEXT500 TEXT500 TEXT500 "\"}"},
    {"cases.v3.T",
     "{\"i32\":-2147483648,\"u64\":\"18446744073709551615\",\"fl\":1.1754944e-38,\"db\":-2.2250738585072014e-"
     "308,\"ok\":true,"
     "\"raw\":\"AAECAwQFBgcICQoLDA0ODw==\",\"color\":\"BLUE\",\"sub\":{\"sub\":{\"mini\":{}}}}"},
    {"cases.v3.Rep", "{\"i32\":[1,22,333],\"db\":[0.5,\"NaN\",\"-Infinity\"],\"str\":[\"\",\"" TEXT500
                     "\",\"x\"],\"raw\":[\"\",\"AAAA\"],\"color\":[\"RED\",9],"
                     "\"mini\":[{},{\"n\":1}]}"},
    {"cases.v3.Maps",
     "{\"kI32\":{\"-1\":2},\"vStr\":{\"key\":\"" TEXT500 "\"},\"vMini\":{\"a\":{\"n\":1},\"b\":{}}}"},
    {"cases.v3.Wkt", "{\"any\":{\"@type\":\"t/"
                     "cases.v3.Mini\",\"n\":5},\"ts\":\"2001-02-03T04:05:06.789Z\",\"st\":{\"a\":[1,null,{}]}"
                     ",\"fm\":\"a.bC\",\"wl\":\"7\"}"},
    {"cases.v3.Names",
     "{\"say \\\"hi\\\"\":1,\"tab\\tnew\\nline\":2,\"\xc3\xa9\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x9a\x80\":3}"},
    {"cases.v2.P2", "{\"grp\":{\"g\":1},\"[cases.v2.ext_num]\":5,\"[cases.v2.ext_list]\":[1,2]}"},
    {"google.protobuf.Value", "[[],{},[{}],\"\"]"},
    {"google.protobuf.Int32Value", "123456789"},
};
enum { SAMPLES = sizeof samples / sizeof *samples, GUARD = 0x5a };

static bjvm_status encode(const fixture *f, const char *type, const upb_Message *msg, uint32_t flags,
                          bjvm_output *out) {
  bjvm_encode_options options = fixture_encode_options(f, flags);
  return bjvm_encode(fixture_plan(f, type), msg, &options, out, NULL);
}

/* -- Outputs -------------------------------------------------------------------------------------------- */

/* With every capacity, and with every text in front of it: the exact need is told, no byte behind the end is
 * touched. */
Test(encode, fixed_blocks_of_every_size) {
  static const size_t fronts[] = {0, 1, 100, 1000};
  static const uint32_t layouts[] = {0, BJVM_ENCODE_PRETTY};
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    upb_Message *msg = fixture_read_ok(&f, samples[i].type, samples[i].json);
    for (size_t k = 0; k < sizeof fronts / sizeof *fronts * 2; k++) {
      uint32_t flags = BJVM_ENCODE_SORT_MAP_KEYS | layouts[k % 2];
      size_t front = fronts[k / 2];
      bjvm_output whole = bjvm_output_heap();
      cr_assert_eq(encode(&f, samples[i].type, msg, flags, &whole), BJVM_OK);
      size_t size = whole.size;
      unsigned char *block = (unsigned char *)malloc(front + size + 64);
      for (size_t capacity = front; capacity <= front + size + 1; capacity++) {
        memset(block, GUARD, front + size + 64);
        bjvm_output out = bjvm_output_fixed((char *)block, capacity);
        out.size = front;
        bjvm_status s = encode(&f, samples[i].type, msg, flags, &out);
        bool fits = capacity >= front + size;
        cr_assert_eq(s, fits ? BJVM_OK : BJVM_OVERFLOW, "%s, capacity %zu of %zu: %s", samples[i].type,
                     capacity, front + size, bjvm_status_name(s));
        cr_assert_eq(out.needed, front + size, "%s, capacity %zu: %zu", samples[i].type, capacity,
                     out.needed);
        cr_assert_eq(out.size, fits ? front + size : front);
        if (fits) cr_assert_eq(memcmp(block + front, whole.data, size), 0);
        for (size_t b = 0; b < front; b++) cr_assert_eq(block[b], GUARD);
        for (size_t b = capacity; b < front + size + 64; b++)
          cr_assert_eq(block[b], GUARD, "capacity %zu, byte %zu", capacity, b);
      }
      free(block);
      bjvm_output_free(&whole);
    }
  }
  fixture_close(&f);
}

Test(encode, no_block_tells_the_size) {
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    upb_Message *msg = fixture_read_ok(&f, samples[i].type, samples[i].json);
    bjvm_output none = bjvm_output_fixed(NULL, 0);
    cr_assert_eq(encode(&f, samples[i].type, msg, 0, &none), BJVM_OVERFLOW);
    cr_assert_eq(none.needed, strlen(fixture_json(&f, samples[i].type, msg)));
  }
  fixture_close(&f);
}

/* Collects what a sink is given. */
typedef struct receiver {
  char *data;
  size_t size;
  size_t budget; /* calls before it refuses */
} receiver;

static bool receive(void *context, const char *text, size_t size) {
  receiver *r = (receiver *)context;
  if (r->budget-- == 0) return false;
  r->data = (char *)realloc(r->data, r->size + size + 1);
  memcpy(r->data + r->size, text, size);
  r->size += size;
  return true;
}

Test(encode, sinks_of_every_block_size) {
  fixture f = fixture_open();
  char block[1024 + 400];
  for (size_t i = 0; i < SAMPLES; i++) {
    upb_Message *msg = fixture_read_ok(&f, samples[i].type, samples[i].json);
    const char *expected = fixture_json(&f, samples[i].type, msg);
    for (size_t capacity = 1024; capacity <= sizeof block; capacity++) {
      receiver r = {.budget = SIZE_MAX};
      bjvm_sink sink = {receive, &r};
      bjvm_output out = bjvm_output_sink(block, capacity, &sink);
      cr_assert_eq(encode(&f, samples[i].type, msg, BJVM_ENCODE_SORT_MAP_KEYS, &out), BJVM_OK, "%s, %zu",
                   samples[i].type, capacity);
      cr_assert_eq(encode(&f, samples[i].type, msg, BJVM_ENCODE_SORT_MAP_KEYS, &out), BJVM_OK,
                   "again, appended");
      cr_assert(bjvm_output_flush(&out));
      size_t size = strlen(expected);
      cr_assert_eq(r.size, 2 * size, "%s, %zu: %zu", samples[i].type, capacity, r.size);
      cr_assert(memcmp(r.data, expected, size) == 0 && memcmp(r.data + size, expected, size) == 0);
      free(r.data);
    }
  }
  fixture_close(&f);
}

/* A block below the least size is refused cleanly once it would have to be emptied, and is never overrun. */
Test(encode, sinks_that_are_too_small) {
  fixture f = fixture_open();
  unsigned char block[1024 + 64];
  for (size_t i = 0; i < SAMPLES; i++) {
    upb_Message *msg = fixture_read_ok(&f, samples[i].type, samples[i].json);
    for (size_t capacity = 0; capacity < 1024; capacity += 1 + capacity / 16) {
      receiver r = {.budget = SIZE_MAX};
      bjvm_sink sink = {receive, &r};
      memset(block, GUARD, sizeof block);
      bjvm_output out = bjvm_output_sink((char *)block, capacity, &sink);
      bjvm_status s = encode(&f, samples[i].type, msg, 0, &out);
      cr_assert(s == BJVM_OK || s == BJVM_SINK, "%s, %zu: %s", samples[i].type, capacity,
                bjvm_status_name(s));
      for (size_t b = capacity; b < sizeof block; b++)
        cr_assert_eq(block[b], GUARD, "capacity %zu, byte %zu", capacity, b);
      free(r.data);
    }
  }
  fixture_close(&f);
}

Test(encode, a_sink_may_refuse_at_any_call) {
  fixture f = fixture_open();
  upb_Message *msg = fixture_read_ok(&f, "cases.v3.Mini", samples[2].json);
  char block[1024];
  for (size_t budget = 0; budget < 3; budget++) {
    receiver r = {.budget = budget};
    bjvm_sink sink = {receive, &r};
    bjvm_output out = bjvm_output_sink(block, sizeof block, &sink);
    bjvm_status s = encode(&f, "cases.v3.Mini", msg, 0, &out);
    if (s == BJVM_OK) cr_assert(budget > 0 || !bjvm_output_flush(&out));
    else cr_assert_eq(s, BJVM_SINK, "%s", bjvm_status_name(s));
    free(r.data);
  }
  fixture_close(&f);
}

Test(encode, growing_outputs_are_appended_to) {
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    upb_Message *msg = fixture_read_ok(&f, samples[i].type, samples[i].json);
    const char *expected = fixture_json(&f, samples[i].type, msg);
    size_t size = strlen(expected);
    bjvm_output outs[2] = {bjvm_output_heap(), bjvm_output_arena(f.arena)};
    for (size_t k = 0; k < 2; k++) {
      for (size_t n = 1; n < 40; n++) {
        cr_assert_eq(encode(&f, samples[i].type, msg, BJVM_ENCODE_SORT_MAP_KEYS, &outs[k]), BJVM_OK);
        cr_assert_eq(outs[k].size, n * size);
        cr_assert_eq(memcmp(outs[k].data + (n - 1) * size, expected, size), 0);
        cr_assert_eq(memcmp(outs[k].data, expected, size), 0, "what stood there moved along");
      }
    }
    bjvm_output_free(&outs[0]);
  }
  fixture_close(&f);
}

/* After a failure the output holds what it held. */
Test(encode, a_failure_takes_back_what_was_written) {
  fixture f = fixture_open();
  upb_Message *msg = fixture_read_ok(&f, "cases.v3.Rep", samples[4].json);
  const upb_FieldDef *field =
      upb_MessageDef_FindFieldByName(test_find_message(f.pool, "cases.v3.Rep"), "mini");
  upb_Message *bad = fixture_new(&f, "cases.v3.Mini");
  upb_MessageValue v = {.str_val = upb_StringView_FromDataAndSize("\xff", 1)};
  upb_Message_SetFieldByDef(
      bad, upb_MessageDef_FindFieldByName(test_find_message(f.pool, "cases.v3.Mini"), "s"), v, f.arena);
  v.msg_val = bad;
  upb_Array_Append(upb_Message_Mutable(msg, field, f.arena).array, v, f.arena);
  char block[4096];
  bjvm_output outs[3] = {bjvm_output_heap(), bjvm_output_arena(f.arena),
                         bjvm_output_fixed(block, sizeof block)};
  for (size_t k = 0; k < 3; k++) {
    upb_Message *good = fixture_read_ok(&f, "cases.v3.Mini", "{\"n\":1}");
    cr_assert_eq(encode(&f, "cases.v3.Mini", good, 0, &outs[k]), BJVM_OK);
    bjvm_error error = {0};
    bjvm_status s = bjvm_encode(fixture_plan(&f, "cases.v3.Rep"), msg, NULL, &outs[k], &error);
    cr_assert_eq(s, BJVM_BAD_UTF8);
    cr_assert_str_eq(error.path, "mini[2].s");
    cr_assert(outs[k].size == 7 && memcmp(outs[k].data, "{\"n\":1}", 7) == 0);
  }
  bjvm_output_free(&outs[0]);
  fixture_close(&f);
}

Test(encode, arguments_that_are_not_valid) {
  fixture f = fixture_open();
  upb_Message *msg = fixture_new(&f, "cases.v3.Mini");
  bjvm_output out = bjvm_output_arena(f.arena);
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Mini");
  bjvm_encode_options options = {.size = sizeof options, .indent = 17};
  cr_assert_eq(bjvm_encode(NULL, msg, NULL, &out, NULL), BJVM_BAD_ARGUMENT);
  cr_assert_eq(bjvm_encode(plan, NULL, NULL, &out, NULL), BJVM_BAD_ARGUMENT);
  cr_assert_eq(bjvm_encode(plan, msg, NULL, NULL, NULL), BJVM_BAD_ARGUMENT);
  cr_assert_eq(bjvm_encode(plan, msg, &options, &out, NULL), BJVM_BAD_ARGUMENT);
  options = (bjvm_encode_options){.size = sizeof options, .max_depth = 101};
  cr_assert_eq(bjvm_encode(plan, msg, &options, &out, NULL), BJVM_SCRATCH);
  options = (bjvm_encode_options){.size = offsetof(bjvm_encode_options, max_depth), .max_depth = 101};
  cr_assert_eq(bjvm_encode(plan, msg, &options, &out, NULL), BJVM_OK, "behind its size a struct counts as 0");
  upb_Message *map = fixture_read_ok(&f, "cases.v3.Maps", "{\"kI32\":{\"1\":1,\"2\":2}}");
  options = (bjvm_encode_options){.size = sizeof options, .flags = BJVM_ENCODE_SORT_MAP_KEYS};
  cr_assert_eq(bjvm_encode(fixture_plan(&f, "cases.v3.Maps"), map, &options, &out, NULL), BJVM_SCRATCH);
  fixture_close(&f);
}

/* -- Layout --------------------------------------------------------------------------------------------- */

Test(encode, pretty_layout) {
  static const struct {
    const char *type, *json, *pretty;
    uint32_t indent;
  } rows[] = {
      {"cases.v3.Mini", "{}", "{}", 0},
      {"cases.v3.Mini", "{\"n\":1,\"s\":\"{a:[,]}\"}", "{\n  \"n\": 1,\n  \"s\": \"{a:[,]}\"\n}", 0},
      {"cases.v3.Mini", "{\"s\":\"\\\"\\\\\"}", "{\n    \"s\": \"\\\"\\\\\"\n}", 4},
      {"cases.v3.T", "{\"mini\":{\"n\":1},\"quiet\":{}}",
       "{\n \"mini\": {\n  \"n\": 1\n },\n \"quiet\": {}\n}", 1},
      {"cases.v3.Rep", "{\"i32\":[1,2]}", "{\n  \"i32\": [\n    1,\n    2\n  ]\n}", 0},
      {"google.protobuf.Value", "[]", "[]", 0},
      {"google.protobuf.Value", "[[],{}]", "[\n  [],\n  {}\n]", 0},
      {"google.protobuf.Value", "{\"\":[{}]}", "{\n  \"\": [\n    {}\n  ]\n}", 0},
      {"google.protobuf.Int32Value", "5", "5", 0},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].json);
    bjvm_encode_options options = fixture_encode_options(&f, BJVM_ENCODE_PRETTY);
    bjvm_output out = bjvm_output_heap();
    options.indent = rows[i].indent;
    cr_assert_eq(bjvm_encode(fixture_plan(&f, rows[i].type), msg, &options, &out, NULL), BJVM_OK);
    cr_assert(out.size == strlen(rows[i].pretty) && memcmp(out.data, rows[i].pretty, out.size) == 0,
              "%s: %.*s", rows[i].json, (int)out.size, out.data);
    bjvm_output_free(&out);
  }
  fixture_close(&f);
}

/* A deep message in the widest layout: line after line of more blanks than a block holds. */
Test(encode, pretty_and_deep) {
  fixture f = fixture_open();
  char json[1000];
  size_t n = 0;
  for (int i = 0; i < 100; i++) json[n++] = '[';
  for (int i = 0; i < 100; i++) json[n++] = ']';
  json[n] = 0;
  upb_Message *msg = fixture_read_ok(&f, "google.protobuf.ListValue", json);
  bjvm_encode_options options = fixture_encode_options(&f, BJVM_ENCODE_PRETTY);
  bjvm_output out = bjvm_output_heap();
  options.indent = 16;
  cr_assert_eq(bjvm_encode(fixture_plan(&f, "google.protobuf.ListValue"), msg, &options, &out, NULL),
               BJVM_OK);
  cr_assert_eq(out.size, 200 + 2 * 99 + 16 * (99 * 100 / 2 + 98 * 99 / 2));
  bjvm_output_free(&out);
  fixture_close(&f);
}

/* -- Names and values of any length --------------------------------------------------------------------- */

static const size_t lengths[] = {1,   13,  14,  15,  29,  30,  61,  62,   63,   64,  250,
                                 251, 252, 253, 254, 255, 256, 300, 1024, 1500, 5000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* message Long: for each length a string field, an int32 field whose JSON name needs escapes, and a value of
 * enum E. */
static void add_long(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "Long", arena);
  google_protobuf_EnumDescriptorProto *e = google_protobuf_FileDescriptorProto_add_enum_type(file, arena);
  google_protobuf_EnumDescriptorProto_set_name(e, fixture_text(arena, "E"));
  char name[6000];
  for (size_t i = 0; i < LENGTHS; i++) {
    memset(name, 'a', sizeof name);
    name[lengths[i]] = 0;
    if (lengths[i] > 3) snprintf(name + lengths[i] - 3, 8, "%03zu", i);
    google_protobuf_EnumValueDescriptorProto *v = google_protobuf_EnumDescriptorProto_add_value(e, arena);
    google_protobuf_EnumValueDescriptorProto_set_number(v, (int)i);
    google_protobuf_EnumValueDescriptorProto_set_name(v, fixture_text(arena, name));
    name[0] = 'f';
    fixture_field(m, name, (int)i * 2 + 1, google_protobuf_FieldDescriptorProto_TYPE_STRING, i % 2 == 0, NULL,
                  arena);
    /* the same with characters that some options escape */
    name[0] = 'g';
    google_protobuf_FieldDescriptorProto *g = fixture_field(
        m, name, (int)i * 2 + 2, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
    char json[6100];
    snprintf(json, sizeof json, "<%s\xc3\xa9\n\">", name);
    google_protobuf_FieldDescriptorProto_set_json_name(g, fixture_text(arena, json));
  }
  fixture_field(m, "e", 1000, google_protobuf_FieldDescriptorProto_TYPE_ENUM, true, ".g.E", arena);
}

Test(encode, long_names) {
  static const uint32_t flags[] = {0,
                                   BJVM_ENCODE_ASCII,
                                   BJVM_ENCODE_HTML_SAFE,
                                   BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE,
                                   BJVM_ENCODE_PROTO_NAMES,
                                   BJVM_ENCODE_EMIT_DEFAULTS,
                                   BJVM_ENCODE_PRETTY};
  fixture f = fixture_made(add_long);
  const upb_MessageDef *def = test_find_message(f.pool, "g.Long");
  const upb_MiniTable *table = upb_MessageDef_MiniTable(def);
  for (int step = 1; step < 4; step++) {
    upb_Message *msg = fixture_new(&f, "g.Long");
    for (int i = 0; i < upb_MessageDef_FieldCount(def); i += step) {
      const upb_FieldDef *field = upb_MessageDef_Field(def, i);
      upb_MessageValue v = {0};
      if (upb_FieldDef_IsRepeated(field)) {
        upb_Array *array = upb_Message_Mutable(msg, field, f.arena).array;
        for (int32_t k = 0; k < (upb_FieldDef_CType(field) == kUpb_CType_Enum ? LENGTHS : 2); k++) {
          v = (upb_MessageValue){.int32_val = k};
          if (upb_FieldDef_CType(field) == kUpb_CType_String) v.str_val = upb_StringView_FromString("s");
          upb_Array_Append(array, v, f.arena);
        }
        continue;
      }
      if (upb_FieldDef_CType(field) == kUpb_CType_String) v.str_val = upb_StringView_FromString("x");
      else v.int32_val = i + 1;
      upb_Message_SetFieldByDef(msg, field, v, f.arena);
    }
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
      bjvm_output out = bjvm_output_heap();
      bjvm_error error = {0};
      cr_assert_eq(encode(&f, "g.Long", msg, flags[k], &out), BJVM_OK);
      upb_Message *back = fixture_new(&f, "g.Long");
      bjvm_decode_options options = fixture_decode_options(&f, 0);
      bjvm_status s =
          bjvm_decode(fixture_plan(&f, "g.Long"), out.data, out.size, back, f.arena, &options, &error);
      cr_assert_eq(s, BJVM_OK, "flags %u: %s at byte %zu", flags[k], error.message, error.offset);
      cr_assert(test_same(f.pool, def, msg, back, error.message, sizeof error.message), "flags %u: %s",
                flags[k], error.message);
      for (size_t b = 0; b < out.size; b++) {
        if (flags[k] & BJVM_ENCODE_ASCII) cr_assert((unsigned char)out.data[b] < 0x80);
        if (flags[k] & BJVM_ENCODE_HTML_SAFE) cr_assert(out.data[b] != '<' && out.data[b] != '>');
      }
      /* and through a fixed block that is just large enough, and one byte short */
      char *block = (char *)malloc(out.size);
      bjvm_output fixed = bjvm_output_fixed(block, out.size);
      cr_assert_eq(encode(&f, "g.Long", msg, flags[k], &fixed), BJVM_OK);
      cr_assert_eq(memcmp(block, out.data, out.size), 0);
      fixed = bjvm_output_fixed(block, out.size - 1);
      cr_assert_eq(encode(&f, "g.Long", msg, flags[k], &fixed), BJVM_OVERFLOW);
      cr_assert_eq(fixed.needed, out.size);
      free(block);
      bjvm_output_free(&out);
    }
  }
  (void)table;
  fixture_close(&f);
}

Test(encode, strings_and_bytes_of_a_megabyte) {
  enum { SIZE = 1 << 20 };
  static const uint32_t flags[] = {0, BJVM_ENCODE_ASCII, BJVM_ENCODE_PRETTY};
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.T");
  char *text = (char *)malloc(SIZE);
  for (int kind = 0; kind < 3; kind++) {
    for (size_t i = 0; i < SIZE; i += 4)
      memcpy(text + i, kind == 0 ? "abcd" : kind == 1 ? "\x01\"\\\n" : "\xf0\x9f\x9a\x80", 4);
    upb_Message *msg = fixture_new(&f, "cases.v3.T");
    upb_MessageValue v = {.str_val = upb_StringView_FromDataAndSize(text, SIZE)};
    upb_Message_SetFieldByDef(msg, upb_MessageDef_FindFieldByName(def, "str"), v, f.arena);
    v.str_val.size = SIZE - 1;
    upb_Message_SetFieldByDef(msg, upb_MessageDef_FindFieldByName(def, "raw"), v, f.arena);
    for (size_t k = 0; k < 3; k++) {
      bjvm_output out = bjvm_output_heap();
      cr_assert_eq(encode(&f, "cases.v3.T", msg, flags[k], &out), BJVM_OK);
      upb_Message *back = fixture_new(&f, "cases.v3.T");
      cr_assert_eq(bjvm_decode(fixture_plan(&f, "cases.v3.T"), out.data, out.size, back, f.arena, NULL, NULL),
                   BJVM_OK);
      char where[200];
      cr_assert(test_same(f.pool, def, msg, back, where, sizeof where), "%s", where);
      char *block = (char *)malloc(out.size);
      bjvm_output fixed = bjvm_output_fixed(block, out.size);
      cr_assert_eq(encode(&f, "cases.v3.T", msg, flags[k], &fixed), BJVM_OK);
      cr_assert_eq(memcmp(block, out.data, out.size), 0);
      free(block);
      bjvm_output_free(&out);
    }
  }
  free(text);
  fixture_close(&f);
}

/* Options that are compiled into the words, each set on its own, against the plain text with the words
 * changed by hand. */
Test(encode, variants_of_one_message) {
  static const struct {
    uint32_t flags;
    const char *expected;
  } rows[] = {
      {0, "{\"numOne\":1,\"big\":\"2\",\"color\":\"RED\",\"maybe\":0}"},
      {BJVM_ENCODE_PROTO_NAMES, "{\"num_one\":1,\"big\":\"2\",\"color\":\"RED\",\"maybe\":0}"},
      {BJVM_ENCODE_INT64_AS_NUMBERS, "{\"numOne\":1,\"big\":2,\"color\":\"RED\",\"maybe\":0}"},
      {BJVM_ENCODE_ENUMS_AS_INTS, "{\"numOne\":1,\"big\":\"2\",\"color\":1,\"maybe\":0}"},
      {BJVM_ENCODE_EMIT_DEFAULTS, "{\"numOne\":1,\"big\":\"2\",\"db\":0,\"ok\":false,\"str\":\"\",\"raw\":"
                                  "\"\",\"color\":\"RED\",\"list\":[],\"table\":{},\"maybe\":0}"},
      {BJVM_ENCODE_EMIT_DEFAULTS | BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_INT64_AS_NUMBERS |
           BJVM_ENCODE_ENUMS_AS_INTS,
       "{\"num_one\":1,\"big\":2,\"db\":0,\"ok\":false,\"str\":\"\",\"raw\":\"\",\"color\":1,\"list\":[],"
       "\"table\":{},\"maybe\":0}"},
  };
  fixture f = fixture_open();
  upb_Message *msg =
      fixture_read_ok(&f, "cases.v3.Small", "{\"numOne\":1,\"big\":2,\"color\":1,\"maybe\":0}");
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      bjvm_output out = bjvm_output_heap();
      cr_assert_eq(encode(&f, "cases.v3.Small", msg, rows[i].flags, &out), BJVM_OK);
      cr_assert(out.size == strlen(rows[i].expected) && memcmp(out.data, rows[i].expected, out.size) == 0,
                "%.*s", (int)out.size, out.data);
      bjvm_output_free(&out);
    }
  }
  fixture_close(&f);
}

/* A fixed block that is said to hold more than it has: what follows is counted and nothing is written. */
Test(encode, a_full_fixed_output_is_only_counted) {
  fixture f = fixture_open();
  upb_Message *msg = fixture_read_ok(&f, "cases.v3.Mini", "{\"n\":5}");
  char block[4] = "abcd";
  bjvm_output outputs[2] = {bjvm_output_fixed(NULL, 0), bjvm_output_fixed(block, sizeof block)};
  for (int i = 0; i < 2; i++) {
    outputs[i].size = 6;
    cr_expect_eq(bjvm_encode(fixture_plan(&f, "cases.v3.Mini"), msg, NULL, &outputs[i], NULL), BJVM_OVERFLOW);
    cr_expect_eq(outputs[i].needed, 13);
  }
  cr_expect(memcmp(block, "abcd", 4) == 0);
  fixture_close(&f);
}
