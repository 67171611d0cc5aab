/* Reading: where the text lies in memory, what the target holds already, and every limit. What a text means is tested by the
 * case tables, where an error is told to be by tests/errors. */
#define _DEFAULT_SOURCE
#include "fixture.h"
#include "guard.h"
#include "upb/wire/encode.h"

/* -- Where the text lies ---------------------------------------------------------------------------------------- */

typedef struct sample {
  const char *type;
  const char *json;
} sample;

/* Between them every sort of token, name and end. */
static const sample samples[] = {
    {"cases.v3.T",
     "{\"i32\":-2147483648,\"u32\":4294967295,\"i64\":\"-9223372036854775808\",\"u64\":\"18446744073709551615\","
     "\"fl\":1.5e-3,\"db\":\"-Infinity\",\"ok\":true,\"str\":\"a\\u00e9\\ud83d\\ude80b\",\"raw\":\"AAECAwQF\","
     "\"color\":\"BLUE\",\"sub\":{\"mini\":{\"n\":1}},\"sparse\":2147483647,\"quiet\":{}}"},
    {"cases.v3.T",
     " { \"str\" : \"0123456789012345678901234567890123456789012345678901234567890123456789\" ,\t\"ok\":false\n}\r\n"},
    {"cases.v3.Rep",
     "{\"i32\":[1,22,333,-4444],\"str\":[\"\",\"x\",\"\\n\"],\"ok\":[true,false],\"mini\":[{},{\"n\":7,\"s\":\"z\"}],"
     "\"db\":[0.1,1e300],\"raw\":[\"\",\"AA==\"],\"color\":[\"RED\",3]}"},
    {"cases.v3.Maps",
     "{\"kI32\":{\"1\":2,\"-3\":4},\"kOk\":{\"true\":1},\"vStr\":{\"a\":\"b\",\"\\u0063\":\"d\"},\"vMini\":{\"k\":{\"n\":1}}}"},
    {"cases.v3.One", "{\"pb\":\"text\",\"outside\":5,\"sb\":\"second\"}"},
    {"cases.v3.Wkt",
     "{\"ts\":\"2001-02-03T04:05:06.789Z\",\"du\":\"-1.5s\",\"st\":{\"a\":[1,true,null,\"s\",{}]},\"val\":[[]],\"fm\":\"a.bC,d\","
     "\"wl\":\"12\",\"em\":{},\"any\":{\"n\":5,\"@type\":\"t/cases.v3.Mini\"}}"},
    {"cases.v2.P2", "{\"grp\":{\"g\":1,\"deeper\":{\"d\":2}},\"[cases.v2.ext_list]\":[1,2],\"shade\":\"MID\"}"},
    {"google.protobuf.Int32Value", "123456789"},
    {"google.protobuf.Value", "\"lone\""},
    {"google.protobuf.ListValue", "[1.25,[],{}]"},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* A page without access begins where the text ends, for the whole text and everything it begins with. */
Test(decode, no_byte_past_the_text_is_read) {
  static const uint32_t flags[] = {0, BJVM_DECODE_ALIAS, BJVM_DECODE_LAST_WINS, BJVM_DECODE_IGNORE_UNKNOWN};
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t size = strlen(samples[i].json);
    char *end = guard_end(size);
    const bjvm_plan *plan = fixture_plan(&f, samples[i].type);
    for (size_t n = 0; n <= size; n++) {
      for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        bjvm_decode_options options = fixture_decode_options(&f, flags[k]);
        bjvm_error error = {0};
        upb_Message *msg = fixture_new(&f, samples[i].type);
        memcpy(end - n, samples[i].json, n);
        bjvm_status s = bjvm_decode(plan, end - n, n, msg, f.arena, &options, &error);
        if (n == size) cr_assert_eq(s, BJVM_OK, "%s: %s", samples[i].json, error.message);
        if (s != BJVM_OK) cr_assert_leq(error.offset, n, "%s cut to %zu", samples[i].json, n);
      }
    }
  }
  fixture_close(&f);
}

Test(decode, nothing_is_read_of_an_empty_text) {
  fixture f = fixture_open();
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.T");
  bjvm_error error = {0};
  upb_Message *msg = fixture_new(&f, "cases.v3.T");
  cr_assert_eq(bjvm_decode(plan, NULL, 0, msg, f.arena, NULL, &error), BJVM_TRUNCATED);
  cr_assert_eq(bjvm_decode(plan, guard_end(8), 0, msg, f.arena, NULL, &error), BJVM_TRUNCATED);
  cr_assert_eq(error.offset, 0);
  cr_assert_eq(bjvm_decode(plan, NULL, 1, msg, f.arena, NULL, &error), BJVM_BAD_ARGUMENT);
  cr_assert_eq(bjvm_decode(NULL, "{}", 2, msg, f.arena, NULL, &error), BJVM_BAD_ARGUMENT);
  cr_assert_eq(bjvm_decode(plan, "{}", 2, NULL, f.arena, NULL, &error), BJVM_BAD_ARGUMENT);
  cr_assert_eq(bjvm_decode(plan, "{}", 2, msg, NULL, NULL, &error), BJVM_BAD_ARGUMENT);
  fixture_close(&f);
}

/* With padding the end of the text is not copied: everything else stays the same, whatever the text is cut to. */
Test(decode, padded_texts_read_alike) {
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t size = strlen(samples[i].json);
    char *text = (char *)calloc(1, size + 64);
    const bjvm_plan *plan = fixture_plan(&f, samples[i].type);
    for (size_t n = 0; n <= size; n++) {
      bjvm_decode_options plain = fixture_decode_options(&f, 0);
      bjvm_decode_options padded = fixture_decode_options(&f, BJVM_DECODE_PADDED);
      bjvm_error a = {0};
      bjvm_error b = {0};
      memset(text, 0, size + 64);
      memcpy(text, samples[i].json, n);
      bjvm_status s = bjvm_decode(plan, text, n, fixture_new(&f, samples[i].type), f.arena, &plain, &a);
      bjvm_status t = bjvm_decode(plan, text, n, fixture_new(&f, samples[i].type), f.arena, &padded, &b);
      cr_assert_eq(s, t, "%s cut to %zu: %s, %s", samples[i].json, n, bjvm_status_name(s), bjvm_status_name(t));
      cr_assert(a.offset == b.offset && strcmp(a.path, b.path) == 0, "%s cut to %zu", samples[i].json, n);
    }
    free(text);
  }
  fixture_close(&f);
}

/* Every text whose end falls at each place of the last 64 bytes, so that each token meets the copied tail. */
Test(decode, the_window_moves_at_every_place) {
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    upb_Message *expected = fixture_read_ok(&f, samples[i].type, samples[i].json);
    size_t size = strlen(samples[i].json);
    for (size_t before = 0; before < 70; before++) {
      for (size_t after = 0; after < 70; after += 23) {
        char *end = guard_end(before + size + after);
        char *start = end - before - size - after;
        upb_Message *msg = fixture_new(&f, samples[i].type);
        bjvm_decode_options options = fixture_decode_options(&f, 0);
        memset(start, ' ', before);
        memcpy(start + before, samples[i].json, size);
        memset(start + before + size, '\n', after);
        bjvm_status s = bjvm_decode(fixture_plan(&f, samples[i].type), start, before + size + after, msg, f.arena, &options, NULL);
        cr_assert_eq(s, BJVM_OK, "%s, %zu blanks before", samples[i].json, before);
        cr_assert(upb_Message_IsEqual(expected, msg, bjvm_plan_table(fixture_plan(&f, samples[i].type)), 0));
      }
    }
  }
  fixture_close(&f);
}

Test(decode, a_value_at_the_front_of_a_longer_text) {
  static const struct {
    const char *type;
    const char *json;
    size_t used;
  } rows[] = {
      {"cases.v3.Mini", "{}", 2},
      {"cases.v3.Mini", "{}{}", 2},
      {"cases.v3.Mini", "{}}", 2},
      {"cases.v3.Mini", "  {\"n\":1} \n", 9},
      {"cases.v3.Mini", "{\"n\":1},{\"n\":2}", 7},
      {"cases.v3.Mini", "{}garbage \x80\xff", 2},
      {"google.protobuf.Int32Value", "12,13", 2},
      {"google.protobuf.Int32Value", "12 13", 2},
      {"google.protobuf.Int32Value", "\"12\"\"13\"", 4},
      {"google.protobuf.StringValue", "\n\"a\"b", 4},
      {"google.protobuf.ListValue", "[[]]]", 4},
      {"google.protobuf.Value", "nullnull", 4},
      {"google.protobuf.BoolValue", "true]", 4},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bjvm_error error = {0};
    bjvm_decode_options options = fixture_decode_options(&f, 0);
    size_t used = 77;
    const bjvm_plan *plan = fixture_plan(&f, rows[i].type);
    bjvm_status s = bjvm_decode_prefix(plan, rows[i].json, strlen(rows[i].json), &used,
                                       fixture_new(&f, rows[i].type), f.arena, &options, &error);
    cr_assert_eq(s, BJVM_OK, "%s: %s", rows[i].json, error.message);
    cr_assert_eq(used, rows[i].used, "%s: %zu", rows[i].json, used);
    s = bjvm_decode_prefix(plan, rows[i].json, strlen(rows[i].json), NULL, fixture_new(&f, rows[i].type), f.arena,
                           &options, &error);
    cr_assert_eq(s, BJVM_OK, "nobody asked for the size");
  }
  size_t used = 77;
  bjvm_status s = bjvm_decode_prefix(fixture_plan(&f, "cases.v3.Mini"), "{\"n\":x}", 7, &used,
                                     fixture_new(&f, "cases.v3.Mini"), f.arena, NULL, NULL);
  cr_assert_eq(s, BJVM_SYNTAX);
  cr_assert_eq(used, 0);
  /* a number that the end of the text may cut */
  char *text = guard_end(2) - 2;
  memcpy(text, "12", 2);
  s = bjvm_decode_prefix(fixture_plan(&f, "google.protobuf.Int32Value"), text, 2, &used,
                         fixture_new(&f, "google.protobuf.Int32Value"), f.arena, NULL, NULL);
  cr_assert_eq(s, BJVM_OK);
  cr_assert_eq(used, 2);
  fixture_close(&f);
}

/* -- Strings ------------------------------------------------------------------------------------------------------ */

static bool inside(upb_StringView s, const char *text) { return s.data >= text && s.data + s.size <= text + strlen(text); }

static upb_StringView string_field(const fixture *f, const char *type, const upb_Message *msg, const char *name) {
  const upb_FieldDef *field = upb_MessageDef_FindFieldByName(test_find_message(f->pool, type), name);
  return upb_Message_GetFieldByDef(msg, field).str_val;
}

Test(decode, alias_points_into_the_text) {
  static const char *const texts[] = {
      "{\"s\":\"short\"}",
      "{\"s\":\"short\"}                                                                            ",
      "                                                                          {\"s\":\"short\"}",
      "{\"s\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}",
      "{\"s\":\"\xc3\xa9\"}",
      "{\"s\":\"\"}",
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    upb_Message *plain = fixture_new(&f, "cases.v3.Mini");
    upb_Message *alias = fixture_new(&f, "cases.v3.Mini");
    fixture_merge_ok(&f, "cases.v3.Mini", texts[i], 0, plain);
    fixture_merge_ok(&f, "cases.v3.Mini", texts[i], BJVM_DECODE_ALIAS, alias);
    upb_StringView s = string_field(&f, "cases.v3.Mini", plain, "s");
    upb_StringView t = string_field(&f, "cases.v3.Mini", alias, "s");
    cr_assert(s.size == t.size && memcmp(s.data, t.data, s.size) == 0, "%s", texts[i]);
    cr_assert(inside(t, texts[i]), "%s", texts[i]);
    cr_assert_not(s.size && inside(s, texts[i]), "%s", texts[i]);
  }
  const char *escaped = "{\"s\":\"a\\u0062\"}";
  upb_Message *msg = fixture_new(&f, "cases.v3.Mini");
  fixture_merge_ok(&f, "cases.v3.Mini", escaped, BJVM_DECODE_ALIAS, msg);
  upb_StringView s = string_field(&f, "cases.v3.Mini", msg, "s");
  cr_assert(s.size == 2 && memcmp(s.data, "ab", 2) == 0 && !inside(s, escaped));
  fixture_close(&f);
}

/* Of an Any nothing may point into the text but its type URL: its content is binary. */
Test(decode, alias_keeps_values_that_outlive_the_text_only_where_it_says) {
  fixture f = fixture_open();
  const char *json = "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"s\":\"inner\"},\"ws\":\"wrapped\",\"st\":{\"key\":\"value\"}}";
  upb_Message *msg = fixture_new(&f, "cases.v3.Wkt");
  fixture_merge_ok(&f, "cases.v3.Wkt", json, BJVM_DECODE_ALIAS, msg);
  cr_assert_str_eq(fixture_json(&f, "cases.v3.Wkt", msg),
                   "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"s\":\"inner\"},\"st\":{\"key\":\"value\"},\"ws\":\"wrapped\"}");
  fixture_close(&f);
}

Test(decode, a_string_of_a_megabyte) {
  enum { SIZE = 1 << 20 };
  fixture f = fixture_open();
  char *json = (char *)malloc(SIZE + 16);
  for (int kind = 0; kind < 3; kind++) {
    size_t n = 6;
    memcpy(json, "{\"s\":\"", 6);
    while (n + 8 < SIZE) {
      const char *piece = kind == 0 ? "abcdefgh" : kind == 1 ? "\\u00e9\\n" : "\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80";
      memcpy(json + n, piece, 8);
      n += 8;
    }
    memcpy(json + n, "\"}", 3);
    upb_Message *msg = fixture_new(&f, "cases.v3.Mini");
    fixture_merge_ok(&f, "cases.v3.Mini", json, 0, msg);
    size_t pieces = (n - 6) / 8;
    cr_assert_eq(string_field(&f, "cases.v3.Mini", msg, "s").size, pieces * (kind == 1 ? 3 : 8));
    json[n - 8] = '\x01'; /* a control character at the far end */
    bjvm_error error = {0};
    cr_assert_eq(bjvm_decode(fixture_plan(&f, "cases.v3.Mini"), json, n + 2, fixture_new(&f, "cases.v3.Mini"), f.arena, NULL, &error),
                 BJVM_CONTROL_CHAR);
    cr_assert_eq(error.offset, n - 8);
  }
  free(json);
  fixture_close(&f);
}

/* -- What the target holds already -------------------------------------------------------------------------------- */

Test(decode, merges_into_what_is_there) {
  static const struct {
    const char *type, *before, *text, *after;
  } rows[] = {
      {"cases.v3.T", "{\"i32\":1,\"str\":\"a\"}", "{\"str\":\"b\"}", "{\"i32\":1,\"str\":\"b\"}"},
      {"cases.v3.T", "{\"i32\":1}", "{\"i32\":null}", "{\"i32\":1}"},
      {"cases.v3.T", "{\"i32\":1}", "{\"i32\":0}", "{}"},
      {"cases.v3.T", "{\"sub\":{\"i32\":1,\"sub\":{\"ok\":true}}}", "{\"sub\":{\"u32\":2,\"sub\":{}}}",
       "{\"sub\":{\"i32\":1,\"u32\":2,\"sub\":{\"ok\":true}}}"},
      {"cases.v3.Opt", "{\"i32\":0,\"str\":\"\"}", "{}", "{\"i32\":0,\"str\":\"\"}"},
      {"cases.v3.Rep", "{\"i32\":[1],\"str\":[\"a\"],\"mini\":[{\"n\":1}]}", "{\"i32\":[2,3],\"str\":[],\"mini\":[{}]}",
       "{\"i32\":[1,2,3],\"str\":[\"a\"],\"mini\":[{\"n\":1},{}]}"},
      {"cases.v3.Rep", "{\"i32\":[1]}", "{\"i32\":null}", "{\"i32\":[1]}"},
      {"cases.v3.Maps", "{\"kI32\":{\"1\":1,\"2\":2}}", "{\"kI32\":{\"2\":22,\"3\":33}}",
       "{\"kI32\":{\"1\":1,\"2\":22,\"3\":33}}"},
      {"cases.v3.Maps", "{\"vMini\":{\"a\":{\"n\":1,\"s\":\"x\"}}}", "{\"vMini\":{\"a\":{\"n\":2},\"b\":{}}}",
       "{\"vMini\":{\"a\":{\"n\":2},\"b\":{}}}"},
      {"cases.v3.Maps", "{\"vStr\":{\"a\":\"b\"}}", "{\"vStr\":{}}", "{\"vStr\":{\"a\":\"b\"}}"},
      {"cases.v3.One", "{\"pb\":\"x\"}", "{\"pa\":1}", "{\"pa\":1}"},
      {"cases.v3.One", "{\"pb\":\"x\"}", "{\"pa\":null}", "{\"pb\":\"x\"}"},
      {"cases.v3.One", "{\"pm\":{\"n\":1}}", "{\"pm\":{\"s\":\"y\"}}", "{\"pm\":{\"n\":1,\"s\":\"y\"}}"},
      {"cases.v3.One", "{\"pb\":\"x\"}", "{\"pm\":{}}", "{\"pm\":{}}"},
      {"cases.v3.One", "{\"pb\":\"x\"}", "{\"pb\":\"y\"}", "{\"pb\":\"y\"}"},
      {"cases.v3.Wkt", "{\"st\":{\"a\":1,\"b\":{\"c\":2}}}", "{\"st\":{\"b\":{\"d\":3}}}", "{\"st\":{\"a\":1,\"b\":{\"d\":3}}}"},
      {"cases.v3.Wkt", "{\"val\":{\"a\":1}}", "{\"val\":{\"b\":2}}", "{\"val\":{\"a\":1,\"b\":2}}"},
      {"cases.v3.Wkt", "{\"val\":{\"a\":1}}", "{\"val\":[2]}", "{\"val\":[2]}"},
      {"cases.v3.Wkt", "{\"val\":[1]}", "{\"val\":[2]}", "{\"val\":[1,2]}"},
      {"cases.v3.Wkt", "{\"val\":\"s\"}", "{\"val\":null}", "{\"val\":null}"},
      {"cases.v3.Wkt", "{\"fm\":\"a\"}", "{\"fm\":\"b\"}", "{\"fm\":\"a,b\"}"},
      {"cases.v3.Wkt", "{\"ts\":\"2001-02-03T04:05:06.7Z\"}", "{\"ts\":\"2002-02-03T04:05:06Z\"}", "{\"ts\":\"2002-02-03T04:05:06Z\"}"},
      {"cases.v3.Wkt", "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"n\":1}}", "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"s\":\"a\"}}",
       "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"s\":\"a\"}}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_list]\":[1],\"[cases.v2.ext_msg]\":{\"x\":1}}",
       "{\"[cases.v2.ext_list]\":[2],\"[cases.v2.ext_msg]\":{\"name\":\"n\"}}",
       "{\"[cases.v2.ext_list]\":[1,2],\"[cases.v2.ext_msg]\":{\"x\":1,\"name\":\"n\"}}"},
      {"cases.v2.P2", "{\"grp\":{\"g\":1}}", "{\"grp\":{\"tag\":\"t\"}}", "{\"grp\":{\"g\":1,\"tag\":\"t\"}}"},
  };
  static const uint32_t flags[] = {0, BJVM_DECODE_LAST_WINS};
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < 2; k++) {
      upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].before);
      fixture_merge_ok(&f, rows[i].type, rows[i].text, flags[k], msg);
      const char *got = fixture_json(&f, rows[i].type, msg);
      cr_expect_str_eq(got, rows[i].after, "%s + %s (flags %u): %s", rows[i].before, rows[i].text, flags[k], got);
    }
  }
  fixture_close(&f);
}

/* last_wins drops what this text wrote, and nothing else. */
Test(decode, last_wins_restores_what_was_there) {
  static const struct {
    const char *type, *before, *text, *after;
  } rows[] = {
      {"cases.v3.T", "{}", "{\"i32\":1,\"i32\":2}", "{\"i32\":2}"},
      {"cases.v3.T", "{}", "{\"i32\":1,\"i32\":null}", "{}"},
      {"cases.v3.T", "{\"i32\":9}", "{\"i32\":1,\"i32\":null}", "{\"i32\":9}"},
      {"cases.v3.Opt", "{\"i32\":9}", "{\"i32\":1,\"i32\":null}", "{\"i32\":9}"},
      {"cases.v3.Opt", "{}", "{\"i32\":1,\"i32\":null}", "{}"},
      {"cases.v3.T", "{\"sub\":{\"i32\":9}}", "{\"sub\":{\"u32\":1},\"sub\":{\"ok\":true}}", "{\"sub\":{\"i32\":9,\"ok\":true}}"},
      {"cases.v3.T", "{}", "{\"sub\":{\"u32\":1},\"sub\":{\"ok\":true}}", "{\"sub\":{\"ok\":true}}"},
      {"cases.v3.Rep", "{\"i32\":[9]}", "{\"i32\":[1],\"i32\":[2]}", "{\"i32\":[9,2]}"},
      {"cases.v3.Rep", "{}", "{\"i32\":[1],\"i32\":[2]}", "{\"i32\":[2]}"},
      {"cases.v3.Rep", "{}", "{\"mini\":[{\"n\":1}],\"mini\":[{\"s\":\"a\"}]}", "{\"mini\":[{\"s\":\"a\"}]}"},
      {"cases.v3.Maps", "{\"kI32\":{\"9\":9}}", "{\"kI32\":{\"1\":1},\"kI32\":{\"2\":2}}", "{\"kI32\":{\"2\":2,\"9\":9}}"},
      {"cases.v3.Maps", "{\"kI32\":{\"9\":9}}", "{\"kI32\":{\"9\":1},\"kI32\":{\"2\":2}}", "{\"kI32\":{\"2\":2,\"9\":9}}"},
      {"cases.v3.Maps", "{}", "{\"kI32\":{\"1\":1,\"1\":2}}", "{\"kI32\":{\"1\":2}}"},
      {"cases.v3.One", "{}", "{\"pa\":1,\"pb\":\"x\"}", "{\"pb\":\"x\"}"},
      {"cases.v3.One", "{}", "{\"pb\":\"x\",\"pk\":true,\"pm\":{\"n\":1},\"pk\":null}", NULL},
      {"cases.v3.One", "{}", "{\"pm\":{\"n\":1},\"pa\":7,\"pb\":\"x\",\"pa\":null}", NULL},
      {"cases.v3.One", "{\"pb\":\"there\"}", "{\"pk\":true,\"pm\":{\"n\":1},\"pk\":null}", NULL},
      {"cases.v3.One", "{\"pm\":{\"n\":1}}", "{\"pk\":true,\"pb\":\"x\",\"pk\":null}", NULL},
      {"cases.v3.One", "{\"pm\":{\"n\":1}}", "{\"pa\":5,\"pm\":{\"s\":\"y\"},\"pa\":null,\"pm\":null}", NULL},
      {"cases.v3.One", "{}", "{\"pv\":{\"a\":1},\"pk\":true,\"pb\":\"x\",\"pk\":null,\"pv\":null}", NULL},
      {"cases.v3.Wkt", "{\"st\":{\"a\":1}}", "{\"st\":{\"b\":1},\"st\":{\"c\":1}}", "{\"st\":{\"a\":1,\"c\":1}}"},
      {"cases.v3.Wkt", "{}", "{\"fm\":\"a\",\"fm\":\"b\"}", "{\"fm\":\"b\"}"},
      {"cases.v2.P2", "{}", "{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_num]\":2}", "{\"[cases.v2.ext_num]\":2}"},
      {"cases.v2.P2", "{}", "{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_num]\":null}", "{}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_list]\":[9]}", "{\"[cases.v2.ext_list]\":[1],\"[cases.v2.ext_list]\":[2]}",
       "{\"[cases.v2.ext_list]\":[9,2]}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_num]\":9}", "{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_num]\":null}",
       "{\"[cases.v2.ext_num]\":9}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_msg]\":{\"x\":9}}",
       "{\"[cases.v2.ext_msg]\":{\"name\":\"a\"},\"[cases.v2.ext_msg]\":{\"on\":true}}",
       "{\"[cases.v2.ext_msg]\":{\"x\":9,\"on\":true}}"},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].before);
    fixture_merge_ok(&f, rows[i].type, rows[i].text, BJVM_DECODE_LAST_WINS, msg);
    const char *got = fixture_json(&f, rows[i].type, msg); /* must not crash whatever it says */
    if (!rows[i].after) printf("# %s + %s: %s\n", rows[i].before, rows[i].text, got);
    if (rows[i].after) cr_expect_str_eq(got, rows[i].after, "%s + %s: %s", rows[i].before, rows[i].text, got);
  }
  fixture_close(&f);
}

Test(decode, unknown_enum_names_leave_the_field_as_it_was) {
  static const struct {
    const char *type, *before, *text, *after;
  } rows[] = {
      {"cases.v3.T", "{\"color\":\"RED\"}", "{\"color\":\"NOPE\"}", "{\"color\":\"RED\"}"},
      {"cases.v3.Opt", "{}", "{\"color\":\"NOPE\"}", "{}"},
      {"cases.v3.One", "{}", "{\"pe\":\"NOPE\"}", "{}"},
      {"cases.v3.One", "{\"pb\":\"x\"}", "{\"pe\":\"NOPE\"}", "{\"pb\":\"x\"}"},
      {"cases.v3.Rep", "{}", "{\"color\":[\"RED\",\"NOPE\",\"BLUE\"]}", "{\"color\":[\"RED\",\"BLUE\"]}"},
      {"cases.v3.Maps", "{}", "{\"vColor\":{\"a\":\"NOPE\",\"b\":\"RED\"}}", "{\"vColor\":{\"b\":\"RED\"}}"},
      {"cases.v2.P2", "{}", "{\"shade\":77}", "{}"},
      {"cases.v2.P2", "{}", "{\"[cases.v2.ext_shade]\":\"NOPE\"}", "{}"},
      {"cases.v2.P2", "{}", "{\"[cases.v2.ext_shade]\":77}", "{}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_shade]\":\"MID\"}", "{\"[cases.v2.ext_shade]\":77}", "{\"[cases.v2.ext_shade]\":\"MID\"}"},
      {"cases.ed.Ed", "{}", "{\"[cases.ed.ed_tones]\":[\"NOPE\"]}", "{}"},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].before);
    fixture_merge_ok(&f, rows[i].type, rows[i].text, BJVM_DECODE_IGNORE_UNKNOWN, msg);
    const char *got = fixture_json(&f, rows[i].type, msg);
    cr_expect_str_eq(got, rows[i].after, "%s + %s: %s", rows[i].before, rows[i].text, got);
  }
  fixture_close(&f);
}
