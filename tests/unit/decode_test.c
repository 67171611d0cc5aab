/* Reading: where the text lies in memory, what the target holds already, schemas of unusual shape. Limits are in
 * decode_limits_test.c. What a text means is tested by the case tables, where an error is told to be by tests/errors. */
#define _DEFAULT_SOURCE
#include "fixture.h"
#include "guard.h"
#include "samples.h"
#include "upb/message/compare.h"
#include "upb/wire/encode.h"

/* -- Where the text lies -------------------------------------------------------------------------------- */

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

/* With padding the end of the text is not copied: everything else stays the same, whatever the text is cut
 * to. */
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
      cr_assert_eq(s, t, "%s cut to %zu: %s, %s", samples[i].json, n, bjvm_status_name(s),
                   bjvm_status_name(t));
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
        bjvm_status s = bjvm_decode(fixture_plan(&f, samples[i].type), start, before + size + after, msg,
                                    f.arena, &options, NULL);
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
    s = bjvm_decode_prefix(plan, rows[i].json, strlen(rows[i].json), NULL, fixture_new(&f, rows[i].type),
                           f.arena, &options, &error);
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

/* -- Strings -------------------------------------------------------------------------------------------- */

static bool inside(upb_StringView s, const char *text) {
  return s.data >= text && s.data + s.size <= text + strlen(text);
}

static upb_StringView string_field(const fixture *f, const char *type, const upb_Message *msg,
                                   const char *name) {
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
  const char *json = "{\"any\":{\"@type\":\"t/"
                     "cases.v3.Mini\",\"s\":\"inner\"},\"ws\":\"wrapped\",\"st\":{\"key\":\"value\"}}";
  upb_Message *msg = fixture_new(&f, "cases.v3.Wkt");
  fixture_merge_ok(&f, "cases.v3.Wkt", json, BJVM_DECODE_ALIAS, msg);
  cr_assert_str_eq(fixture_json(&f, "cases.v3.Wkt", msg),
                   "{\"any\":{\"@type\":\"t/"
                   "cases.v3.Mini\",\"s\":\"inner\"},\"st\":{\"key\":\"value\"},\"ws\":\"wrapped\"}");
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
      const char *piece = kind == 0   ? "abcdefgh"
                          : kind == 1 ? "\\u00e9\\n"
                                      : "\xf0\x9f\x9a\x80\xf0\x9f\x9a\x80";
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
    cr_assert_eq(bjvm_decode(fixture_plan(&f, "cases.v3.Mini"), json, n + 2, fixture_new(&f, "cases.v3.Mini"),
                             f.arena, NULL, &error),
                 BJVM_CONTROL_CHAR);
    cr_assert_eq(error.offset, n - 8);
  }
  free(json);
  fixture_close(&f);
}

/* -- What the target holds already ---------------------------------------------------------------------- */

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
      {"cases.v3.Rep", "{\"i32\":[1],\"str\":[\"a\"],\"mini\":[{\"n\":1}]}",
       "{\"i32\":[2,3],\"str\":[],\"mini\":[{}]}",
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
      {"cases.v3.Wkt", "{\"st\":{\"a\":1,\"b\":{\"c\":2}}}", "{\"st\":{\"b\":{\"d\":3}}}",
       "{\"st\":{\"a\":1,\"b\":{\"d\":3}}}"},
      {"cases.v3.Wkt", "{\"val\":{\"a\":1}}", "{\"val\":{\"b\":2}}", "{\"val\":{\"a\":1,\"b\":2}}"},
      {"cases.v3.Wkt", "{\"val\":{\"a\":1}}", "{\"val\":[2]}", "{\"val\":[2]}"},
      {"cases.v3.Wkt", "{\"val\":[1]}", "{\"val\":[2]}", "{\"val\":[1,2]}"},
      {"cases.v3.Wkt", "{\"val\":\"s\"}", "{\"val\":null}", "{\"val\":null}"},
      {"cases.v3.Wkt", "{\"fm\":\"a\"}", "{\"fm\":\"b\"}", "{\"fm\":\"a,b\"}"},
      {"cases.v3.Wkt", "{\"ts\":\"2001-02-03T04:05:06.7Z\"}", "{\"ts\":\"2002-02-03T04:05:06Z\"}",
       "{\"ts\":\"2002-02-03T04:05:06Z\"}"},
      {"cases.v3.Wkt", "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"n\":1}}",
       "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"s\":\"a\"}}",
       "{\"any\":{\"@type\":\"t/cases.v3.Mini\",\"s\":\"a\"}}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_list]\":[1],\"[cases.v2.ext_msg]\":{\"x\":1}}",
       "{\"[cases.v2.ext_list]\":[2],\"[cases.v2.ext_msg]\":{\"name\":\"n\"}}",
       "{\"[cases.v2.ext_list]\":[1,2],\"[cases.v2.ext_msg]\":{\"x\":1,\"name\":\"n\"}}"},
      {"cases.v2.P2", "{\"grp\":{\"g\":1}}", "{\"grp\":{\"tag\":\"t\"}}",
       "{\"grp\":{\"g\":1,\"tag\":\"t\"}}"},
  };
  static const uint32_t flags[] = {0, BJVM_DECODE_LAST_WINS};
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < 2; k++) {
      upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].before);
      fixture_merge_ok(&f, rows[i].type, rows[i].text, flags[k], msg);
      const char *got = fixture_json(&f, rows[i].type, msg);
      cr_expect_str_eq(got, rows[i].after, "%s + %s (flags %u): %s", rows[i].before, rows[i].text, flags[k],
                       got);
    }
  }
  fixture_close(&f);
}

/* Longer than what an arena puts side by side with it, so that a pointer to it differs in more than its last
 * byte. */
#define LONG50 "0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCD"
#define LONG LONG50 LONG50 LONG50 LONG50 LONG50 LONG50 LONG50 LONG50 LONG50 LONG50

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
      {"cases.v3.T", "{\"sub\":{\"i32\":9}}", "{\"sub\":{\"u32\":1},\"sub\":{\"ok\":true}}",
       "{\"sub\":{\"i32\":9,\"ok\":true}}"},
      {"cases.v3.T", "{}", "{\"sub\":{\"u32\":1},\"sub\":{\"ok\":true}}", "{\"sub\":{\"ok\":true}}"},
      {"cases.v3.T", "{\"sub\":{\"i32\":9}}",
       "{\"sub\":{\"u32\":1},\"sub\":{\"str\":\"2\"},\"sub\":{\"ok\":true}}",
       "{\"sub\":{\"i32\":9,\"ok\":true}}"},
      {"cases.v3.Wkt", "{\"lv\":[1]}", "{\"lv\":[2],\"lv\":[3],\"lv\":[4]}", "{\"lv\":[1,4]}"},
      {"cases.v3.Rep", "{\"i32\":[9]}", "{\"i32\":[1],\"i32\":[2]}", "{\"i32\":[9,2]}"},
      {"cases.v3.Rep", "{}", "{\"i32\":[1],\"i32\":[2]}", "{\"i32\":[2]}"},
      {"cases.v3.Rep", "{}", "{\"mini\":[{\"n\":1}],\"mini\":[{\"s\":\"a\"}]}", "{\"mini\":[{\"s\":\"a\"}]}"},
      {"cases.v3.Maps", "{\"kI32\":{\"9\":9}}", "{\"kI32\":{\"1\":1},\"kI32\":{\"2\":2}}",
       "{\"kI32\":{\"2\":2,\"9\":9}}"},
      {"cases.v3.Maps", "{\"kI32\":{\"9\":9}}", "{\"kI32\":{\"9\":1},\"kI32\":{\"2\":2}}",
       "{\"kI32\":{\"2\":2,\"9\":9}}"},
      {"cases.v3.Maps", "{}", "{\"kI32\":{\"1\":1,\"1\":2}}", "{\"kI32\":{\"1\":2}}"},
      {"cases.v3.One", "{}", "{\"pa\":1,\"pb\":\"x\"}", "{\"pb\":\"x\"}"},
      {"cases.v3.One", "{}", "{\"pb\":\"" LONG "\",\"pk\":true,\"pm\":{\"n\":1},\"pk\":null}",
       "{\"pm\":{\"n\":1}}"},
      {"cases.v3.One", "{}", "{\"pm\":{\"n\":1},\"pk\":true,\"pb\":\"" LONG "\",\"pk\":null}",
       "{\"pb\":\"" LONG "\"}"},
      {"cases.v3.One", "{}", "{\"pm\":{\"n\":1},\"pa\":7,\"pb\":\"" LONG "\",\"pa\":null}",
       "{\"pb\":\"" LONG "\"}"},
      {"cases.v3.One", "{\"pb\":\"" LONG "\"}", "{\"pk\":true,\"pm\":{\"n\":1},\"pk\":null}",
       "{\"pm\":{\"n\":1}}"},
      {"cases.v3.One", "{\"pm\":{\"n\":1}}", "{\"pk\":true,\"pb\":\"" LONG "\",\"pk\":null}",
       "{\"pb\":\"" LONG "\"}"},
      {"cases.v3.One", "{\"pb\":\"" LONG "\"}", "{\"pk\":true,\"pk\":null}", "{\"pb\":\"" LONG "\"}"},
      {"cases.v3.One", "{\"pm\":{\"n\":1}}", "{\"pa\":5,\"pm\":{\"s\":\"y\"},\"pa\":null,\"pm\":null}", NULL},
      {"cases.v3.One", "{}", "{\"pv\":{\"a\":1},\"pk\":true,\"pb\":\"x\",\"pk\":null,\"pv\":null}",
       "{\"pv\":null}"},
      {"cases.v3.Wkt", "{\"st\":{\"a\":1}}", "{\"st\":{\"b\":1},\"st\":{\"c\":1}}",
       "{\"st\":{\"a\":1,\"c\":1}}"},
      {"cases.v3.Wkt", "{}", "{\"fm\":\"a\",\"fm\":\"b\"}", "{\"fm\":\"b\"}"},
      {"cases.v2.P2", "{}", "{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_num]\":2}",
       "{\"[cases.v2.ext_num]\":2}"},
      {"cases.v2.P2", "{}", "{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_num]\":null}", "{}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_list]\":[9]}",
       "{\"[cases.v2.ext_list]\":[1],\"[cases.v2.ext_list]\":[2]}", "{\"[cases.v2.ext_list]\":[9,2]}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_num]\":9}", "{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_num]\":null}",
       "{\"[cases.v2.ext_num]\":9}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_msg]\":{\"x\":9}}",
       "{\"[cases.v2.ext_msg]\":{\"name\":\"a\"},\"[cases.v2.ext_msg]\":{\"on\":true}}",
       "{\"[cases.v2.ext_msg]\":{\"x\":9,\"on\":true}}"},
      /* What is inside of a message that is taken back. */
      {"cases.v3.Maps", "{\"kI32\":{}}", "{\"kI32\":{\"1\":1},\"kI32\":{\"2\":2}}", "{\"kI32\":{\"2\":2}}"},
      {"cases.v3.Rec", "{\"child\":{\"child\":{\"id\":1},\"kids\":[{\"id\":2}],\"by\":{\"a\":{}}}}",
       "{\"child\":{\"child\":{\"id\":3},\"kids\":[{\"id\":4}],\"by\":{\"a\":{\"id\":5},\"b\":{}}},"
       "\"child\":{\"child\":{\"kids\":[{}]},\"kids\":[{\"id\":6}],\"by\":{\"c\":{}}}}",
       "{\"child\":{\"child\":{\"id\":1,\"kids\":[{}]},\"kids\":[{\"id\":2},{\"id\":6}],\"by\":{\"a\":{},"
       "\"c\":{}}}}"},
      {"cases.v3.Rec", "{\"child\":{\"by\":{},\"kids\":[],\"st\":{}}}",
       "{\"child\":{\"by\":{\"a\":{}},\"kids\":[{}],\"st\":{\"a\":1}},\"child\":{\"id\":1},\"child\":{\"id\":"
       "2}}",
       "{\"child\":{\"id\":2,\"st\":{}}}"},
      {"cases.v3.Rec", "{\"child\":{\"left\":{\"id\":1},\"val\":[1],\"st\":{\"a\":[1]}}}",
       "{\"child\":{\"left\":{\"id\":2},\"val\":[2],\"st\":{\"a\":[2],\"b\":2}},\"child\":{\"right\":{\"id\":"
       "3}},"
       "\"child\":{\"left\":{\"child\":{}}}}",
       "{\"child\":{\"st\":{\"a\":[1]},\"val\":[1],\"left\":{\"id\":1,\"child\":{}}}}"},
      {"cases.v2.P2",
       "{\"sub\":{\"[cases.v2.ext_msg]\":{\"x\":1,\"list\":[1]},\"[cases.v2.ext_num]\":2,\"[cases.v2.ext_"
       "list]\":[3]}}",
       "{\"sub\":{\"[cases.v2.ext_msg]\":{\"x\":4,\"list\":[4]},\"[cases.v2.ext_num]\":4,\"[cases.v2.ext_"
       "list]\":[4],"
       "\"[cases.v2.ext_long]\":\"4\"},\"sub\":{\"[cases.v2.ext_msg]\":{\"list\":[5]},\"[cases.v2.ext_list]"
       "\":[5]}}",
       "{\"sub\":{\"[cases.v2.ext_num]\":2,\"[cases.v2.ext_list]\":[3,5],\"[cases.v2.ext_msg]\":{\"x\":1,"
       "\"list\":[1,5]"
       "}}}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_msg]\":{\"sub\":{\"x\":1}}}",
       "{\"[cases.v2.ext_msg]\":{\"sub\":{\"x\":2,\"name\":\"a\"}},\"[cases.v2.ext_msg]\":{\"sub\":{\"on\":"
       "true}}}",
       "{\"[cases.v2.ext_msg]\":{\"sub\":{\"x\":1,\"on\":true}}}"},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].before);
    fixture_merge_ok(&f, rows[i].type, rows[i].text, BJVM_DECODE_LAST_WINS, msg);
    char *data;
    size_t size;
    const upb_MiniTable *table = bjvm_plan_table(fixture_plan(&f, rows[i].type));
    cr_assert_eq(upb_Encode(msg, table, 0, f.arena, &data, &size), kUpb_EncodeStatus_Ok);
    const char *got = fixture_json(&f, rows[i].type, msg); /* NULL: whatever it says, it must be a message */
    if (rows[i].after) cr_expect_str_eq(got, rows[i].after, "%s + %s: %s", rows[i].before, rows[i].text, got);
  }
  fixture_close(&f);
}

/* Unknown fields of what is taken back stay. */
Test(decode, last_wins_keeps_unknown_fields) {
  static const char before[] = "\x12\x07\x08\x09\xfa\x3f\x02zz";
  static const char after[] = "\x12\x09\x08\x09\x12\x00\xfa\x3f\x02zz";
  fixture f = fixture_open();
  const upb_MiniTable *table = bjvm_plan_table(fixture_plan(&f, "cases.v3.Rec"));
  upb_Message *msg = fixture_new(&f, "cases.v3.Rec");
  cr_assert_eq(upb_Decode(before, sizeof before - 1, msg, table, NULL, 0, f.arena), kUpb_DecodeStatus_Ok);
  const char *text = "{\"child\":{\"id\":1},\"child\":{\"child\":{}}}";
  fixture_merge_ok(&f, "cases.v3.Rec", text, BJVM_DECODE_LAST_WINS, msg);
  char *data;
  size_t size;
  cr_assert_eq(upb_Encode(msg, table, 0, f.arena, &data, &size), kUpb_EncodeStatus_Ok);
  cr_expect(size == sizeof after - 1 && memcmp(data, after, size) == 0, "%zu bytes", size);
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
      {"cases.v2.P2", "{\"[cases.v2.ext_shade]\":\"MID\"}", "{\"[cases.v2.ext_shade]\":77}",
       "{\"[cases.v2.ext_shade]\":\"MID\"}"},
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

/* In an Any @type is the key, wherever it stands and whatever field of the content is called so. */
Test(decode, type_of_an_any_is_no_field) {
  static const struct {
    const char *type, *text, *after;
    uint32_t flags;
  } rows[] = {
      {"cases.v3.Words", "{\"@type\":3,\"key\":1}", "{\"@type\":3,\"key\":1}", 0},
      {"google.protobuf.Any", "{\"message\":1,\"@type\":\"t/cases.v3.Words\"}",
       "{\"@type\":\"t/cases.v3.Words\",\"message\":1}", 0},
      {"google.protobuf.Any", "{\"toString\":1,\"@type\":\"t/cases.v3.Words\",\"key\":2}",
       "{\"@type\":\"t/cases.v3.Words\",\"toString\":1,\"key\":2}", 0},
      {"google.protobuf.Any", "{\"toString\":1, \"@type\" : \"t/cases.v3.Words\"}",
       "{\"@type\":\"t/cases.v3.Words\",\"toString\":1}", BJVM_DECODE_LAST_WINS},
      {"google.protobuf.Any", "{\"toString\":1,\"@type\":\"t/cases.v3.Words\"}",
       "{\"@type\":\"t/cases.v3.Words\",\"toString\":1}", BJVM_DECODE_LAST_WINS},
      {"google.protobuf.Any", "{\"at_type\":4,\"@type\":\"t/cases.v3.Words\"}",
       "{\"@type\":\"t/cases.v3.Words\",\"@type\":4}", 0},
      {"google.protobuf.Any", "{\"@type\":\"t/cases.v3.Words\",\"toString\":1,\"@type\":3}", NULL, 0},
      {"google.protobuf.Any", "{\"@type\":\"t/cases.v3.Words\",\"@type\":\"t/cases.v3.Words\"}", NULL,
       BJVM_DECODE_LAST_WINS},
      {"google.protobuf.Any", "{\"at_type\":4,\"@type\":\"t/cases.v3.Words\",\"at_type\":5}", NULL, 0},
      {"google.protobuf.Any", "{\"at_type\":4,\"@type\":\"t/cases.v3.Words\",\"at_type\":5}",
       "{\"@type\":\"t/cases.v3.Words\",\"@type\":5}", BJVM_DECODE_LAST_WINS},
      {"google.protobuf.Any", "{\"toString\":1,\"@type\":3}", NULL, 0},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    upb_Message *msg = fixture_new(&f, rows[i].type);
    bjvm_status s = fixture_merge(&f, rows[i].type, rows[i].text, rows[i].flags, msg);
    bool ok = rows[i].after != NULL;
    cr_expect_eq(s == BJVM_OK, ok, "%s: %s", rows[i].text, bjvm_status_name(s));
    if (ok && s == BJVM_OK)
      cr_expect_str_eq(fixture_json(&f, rows[i].type, msg), rows[i].after, "%s", rows[i].text);
  }
  fixture_close(&f);
}

/* Nothing breaks if the caller's two arenas are one. */
Test(decode, scratch_may_be_the_arena_of_the_message) {
  static const uint32_t flags[] = {0, BJVM_DECODE_LAST_WINS, BJVM_DECODE_ALIAS};
  fixture f = fixture_open();
  for (size_t i = 0; i < SAMPLES; i++) {
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
      upb_Message *expected = fixture_read_ok(&f, samples[i].type, samples[i].json);
      upb_Message *msg = fixture_new(&f, samples[i].type);
      bjvm_decode_options options = fixture_decode_options(&f, flags[k]);
      options.scratch = f.arena;
      const bjvm_plan *plan = fixture_plan(&f, samples[i].type);
      bjvm_status s =
          bjvm_decode(plan, samples[i].json, strlen(samples[i].json), msg, f.arena, &options, NULL);
      cr_assert_eq(s, BJVM_OK, "%s: %s", samples[i].json, bjvm_status_name(s));
      cr_assert(upb_Message_IsEqual(expected, msg, bjvm_plan_table(plan), 0), "%s", samples[i].json);
    }
  }
  fixture_close(&f);
}

/* A missing required field, wherever the message that lacks it stands in the text; with it all is well. */
Test(decode, required_fields_are_looked_for_when_asked) {
  static const struct {
    const char *type, *json;
    bjvm_status expected;
  } rows[] = {
      {"cases.v2.Need", "{\"id\":1,\"tag\":\"t\"}", BJVM_OK},
      {"cases.v2.Need", "{\"id\":1}", BJVM_REQUIRED},
      {"cases.v2.Need", "{\"id\":null,\"tag\":\"t\"}", BJVM_REQUIRED},
      {"cases.v2.Need", "{\"id\":1,\"tag\":\"t\",\"more\":{}}", BJVM_REQUIRED},
      {"cases.ed.Must", "{\"tag\":\"t\"}", BJVM_REQUIRED},
      {"google.protobuf.Any", "{\"@type\":\"t/cases.v2.Need\",\"id\":1}", BJVM_REQUIRED},
      {"google.protobuf.Any", "{\"id\":1,\"tag\":\"\",\"@type\":\"t/cases.v2.Need\"}", BJVM_OK},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int check = 0; check < 2; check++) {
      upb_Message *msg = fixture_new(&f, rows[i].type);
      uint32_t flags = check ? BJVM_DECODE_CHECK_REQUIRED : 0;
      bjvm_status s = fixture_merge(&f, rows[i].type, rows[i].json, flags, msg);
      cr_expect_eq(s, check ? rows[i].expected : BJVM_OK, "%s: %s", rows[i].json, bjvm_status_name(s));
    }
  }
  fixture_close(&f);
}

/* -- Frozen targets ------------------------------------------------------------------------------------- */

/* Where in the message the frozen part hangs: a path of field names ("": the message itself). */
static void freeze_at(const fixture *f, const char *type, upb_Message *msg, const char *name) {
  const upb_MessageDef *def = test_find_message(f->pool, type);
  if (!*name) {
    upb_Message_Freeze(msg, upb_MessageDef_MiniTable(def));
    return;
  }
  const upb_FieldDef *field = upb_MessageDef_FindFieldByName(def, name);
  if (!field) field = upb_DefPool_FindExtensionByName(f->pool, name);
  cr_assert_not_null(field, "%s", name);
  upb_MessageValue v = upb_Message_GetFieldByDef(msg, field);
  const upb_MessageDef *sub = upb_FieldDef_MessageSubDef(field);
  if (upb_FieldDef_IsMap(field)) {
    const upb_MessageDef *value = upb_FieldDef_MessageSubDef(upb_MessageDef_FindFieldByNumber(sub, 2));
    upb_Map_Freeze((upb_Map *)(uintptr_t)v.map_val, value ? upb_MessageDef_MiniTable(value) : NULL);
  } else if (upb_FieldDef_IsRepeated(field)) {
    upb_Array_Freeze((upb_Array *)(uintptr_t)v.array_val, sub ? upb_MessageDef_MiniTable(sub) : NULL);
  } else {
    upb_Message_Freeze((upb_Message *)(uintptr_t)v.msg_val, upb_MessageDef_MiniTable(sub));
  }
}

Test(decode, frozen_targets_are_refused_and_stay_as_they_were) {
  static const struct {
    const char *type, *before, *frozen, *text;
  } rows[] = {
      {"cases.v3.T", "{\"i32\":1}", "", "{\"i32\":2}"},
      {"cases.v3.T", "{\"i32\":1}", "", "{}"},
      {"cases.v3.T", "{\"sub\":{\"i32\":1}}", "sub", "{\"sub\":{\"i32\":2}}"},
      {"cases.v3.T", "{\"sub\":{\"i32\":1}}", "sub", "{\"sub\":{}}"},
      {"cases.v3.Rep", "{\"i32\":[1]}", "i32", "{\"i32\":[2]}"},
      {"cases.v3.Rep", "{\"str\":[\"a\"]}", "str", "{\"str\":[\"b\"]}"},
      {"cases.v3.Rep", "{\"mini\":[{}]}", "mini", "{\"mini\":[{\"n\":1}]}"},
      {"cases.v3.Maps", "{\"kI32\":{\"1\":1}}", "k_i32", "{\"kI32\":{\"2\":2}}"},
      {"cases.v3.Maps", "{\"vMini\":{\"a\":{}}}", "v_mini", "{\"vMini\":{\"a\":{\"n\":1}}}"},
      {"cases.v3.One", "{\"pm\":{\"n\":1}}", "pm", "{\"pm\":{\"n\":2}}"},
      {"cases.v3.One", "{\"pdu\":\"1s\"}", "pdu", "{\"pdu\":\"2s\"}"},
      {"cases.v3.One", "{\"pw\":1}", "pw", "{\"pw\":2}"},
      {"cases.v3.One", "{\"pv\":1}", "pv", "{\"pv\":2}"},
      {"cases.v3.Wkt", "{\"st\":{}}", "st", "{\"st\":{\"a\":1}}"},
      {"cases.v3.Wkt", "{\"st\":{\"a\":1}}", "st", "{\"st\":{\"b\":1}}"},
      {"cases.v3.Wkt", "{\"lv\":[]}", "lv", "{\"lv\":[1]}"},
      {"cases.v3.Wkt", "{\"fm\":\"a\"}", "fm", "{\"fm\":\"b\"}"},
      {"cases.v3.Wkt", "{\"any\":{}}", "any", "{\"any\":{\"@type\":\"t/cases.v3.Mini\"}}"},
      {"google.protobuf.Value", "{}", "struct_value", "{\"a\":1}"},
      {"google.protobuf.Value", "{\"b\":1}", "struct_value", "{\"a\":1}"},
      {"google.protobuf.Value", "[]", "list_value", "[1]"},
      {"google.protobuf.Value", "[2]", "list_value", "[1]"},
      {"cases.v2.P2", "{\"grp\":{}}", "grp", "{\"grp\":{\"g\":1}}"},
      {"cases.v2.P2", "{\"list\":[1]}", "list", "{\"list\":[1]}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_list]\":[1]}", "cases.v2.ext_list", "{\"[cases.v2.ext_list]\":[2]}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_msg]\":{\"x\":1}}", "cases.v2.ext_msg",
       "{\"[cases.v2.ext_msg]\":{\"x\":2}}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_du]\":\"1s\"}", "cases.v2.ext_du", "{\"[cases.v2.ext_du]\":\"2s\"}"},
      {"cases.v2.P2", "{\"[cases.v2.ext_num]\":1}", "", "{\"[cases.v2.ext_num]\":2}"},
      {"google.protobuf.Timestamp", "\"1970-01-01T00:00:00Z\"", "", "\"1970-01-01T00:00:01Z\""},
      {"google.protobuf.Any", "{}", "", "{\"@type\":\"t/cases.v3.Mini\"}"},
      {"google.protobuf.Int32Value", "1", "", "2"},
  };
  static const uint32_t flags[] = {0, BJVM_DECODE_LAST_WINS};
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < 2; k++) {
      bool clones = k == 1; /* last_wins keeps a copy: nothing frozen is changed, but the call may go on */
      upb_Message *msg = fixture_read_ok(&f, rows[i].type, rows[i].before);
      freeze_at(&f, rows[i].type, msg, rows[i].frozen);
      bjvm_status s = fixture_merge(&f, rows[i].type, rows[i].text, flags[k], msg);
      cr_expect(s == BJVM_FROZEN || clones, "%s, %s frozen, + %s: %s", rows[i].before, rows[i].frozen,
                rows[i].text, bjvm_status_name(s));
      if (s == BJVM_OK) continue;
      const char *got = fixture_json(&f, rows[i].type, msg);
      cr_expect_str_eq(got, rows[i].before, "%s, %s frozen, + %s (flags %u): now %s", rows[i].before,
                       rows[i].frozen, rows[i].text, flags[k], got);
    }
  }
  fixture_close(&f);
}

/* A frozen Struct or ListValue inside a Value that is not frozen, with nothing in it yet. */
Test(decode, frozen_empty_members_of_a_value) {
  static const struct {
    const char *type, *field, *text, *expected;
  } rows[] = {
      {"google.protobuf.Struct", "struct_value", "{\"a\":1}", "{}"},
      {"google.protobuf.ListValue", "list_value", "[1]", "[]"},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < 2; i++) {
    const upb_MessageDef *def = test_find_message(f.pool, "google.protobuf.Value");
    upb_Message *value = fixture_new(&f, "google.protobuf.Value");
    upb_Message *inner = fixture_new(&f, rows[i].type);
    upb_Message_Freeze(inner, upb_MessageDef_MiniTable(test_find_message(f.pool, rows[i].type)));
    upb_MessageValue v = {.msg_val = inner};
    upb_Message_SetFieldByDef(value, upb_MessageDef_FindFieldByName(def, rows[i].field), v, f.arena);
    bjvm_status s = fixture_merge(&f, "google.protobuf.Value", rows[i].text, 0, value);
    cr_expect_eq(s, BJVM_FROZEN, "%s: %s", rows[i].type, bjvm_status_name(s));
    cr_expect_str_eq(fixture_json(&f, "google.protobuf.Value", value), rows[i].expected, "%s", rows[i].type);
  }
  fixture_close(&f);
}

/* -- Schemas of unusual shape --------------------------------------------------------------------------- */

enum { WIDE = 500 };

/* message Wide { int32 field_1 = 1; ... every third repeated string; Wide again = 501; oneof of fields 600 to
 * 799 } */
static void add_wide(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "Wide", arena);
  char name[32];
  for (int i = 1; i <= WIDE; i++) {
    snprintf(name, sizeof name, "field_%d", i);
    bool text = i % 3 == 0;
    fixture_field(m, name, i,
                  text ? google_protobuf_FieldDescriptorProto_TYPE_STRING
                       : google_protobuf_FieldDescriptorProto_TYPE_INT32,
                  text, NULL, arena);
  }
  fixture_field(m, "again", WIDE + 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, ".g.Wide",
                arena);
  google_protobuf_OneofDescriptorProto *o = google_protobuf_DescriptorProto_add_oneof_decl(m, arena);
  google_protobuf_OneofDescriptorProto_set_name(o, fixture_text(arena, "which"));
  for (int i = 600; i < 800; i++) {
    snprintf(name, sizeof name, "one_%d", i);
    google_protobuf_FieldDescriptorProto_set_oneof_index(
        fixture_field(m, name, i, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena), 0);
  }
}

Test(decode, a_message_of_five_hundred_fields) {
  fixture f = fixture_made(add_wide);
  char *json = (char *)malloc(200000);
  for (int nested_too = 0; nested_too < 2; nested_too++) {
    size_t n = 0;
    for (int level = 0; level <= nested_too; level++) {
      n += (size_t)sprintf(json + n, level ? ",\"again\":{" : "{");
      for (int i = 1; i <= WIDE; i++) {
        n += (size_t)sprintf(json + n, i % 3 ? "%s\"field%d\":%d" : "%s\"field%d\":[\"%d\"]",
                             i > 1 ? "," : "", i, i * 7);
      }
    }
    for (int level = 0; level <= nested_too; level++) json[n++] = '}';
    json[n] = 0;
    upb_Message *msg = fixture_read_ok(&f, "g.Wide", json);
    cr_assert_str_eq(fixture_json(&f, "g.Wide", msg), json);
  }
  /* each field twice, first behind the other, then with everything between */
  for (int i = 1; i <= WIDE; i += 13) {
    for (int far = 0; far < 2; far++) {
      size_t n = (size_t)sprintf(json, i % 3 ? "{\"field%d\":1" : "{\"field%d\":[]", i);
      for (int k = 1; far && k <= WIDE; k++) {
        if (k != i && k % 3) n += (size_t)sprintf(json + n, ",\"field_%d\":1", k);
      }
      size_t at = n + 1;
      sprintf(json + n, i % 3 ? ",\"field_%d\":1}" : ",\"field_%d\":[]}", i);
      bjvm_error error = {0};
      cr_assert_eq(fixture_decode_with(&f, "g.Wide", json, fixture_decode_options(&f, 0), &error),
                   BJVM_DUPLICATE_FIELD, "field %d", i);
      cr_assert_eq(error.offset, at);
      cr_assert_eq(
          fixture_decode_with(&f, "g.Wide", json, fixture_decode_options(&f, BJVM_DECODE_LAST_WINS), &error),
          BJVM_OK);
    }
  }
  free(json);
  fixture_close(&f);
}

Test(decode, members_of_a_wide_oneof) {
  fixture f = fixture_made(add_wide);
  char json[200];
  for (int a = 600; a < 800; a += 3) {
    for (int b = 600; b < 800; b += 7) {
      if (a == b) continue;
      snprintf(json, sizeof json, "{\"one_%d\":1,\"one_%d\":2}", a, b);
      cr_assert_eq(fixture_decode_with(&f, "g.Wide", json, fixture_decode_options(&f, 0), NULL),
                   BJVM_DUPLICATE_ONEOF, "%s", json);
      snprintf(json, sizeof json, "{\"one_%d\":null,\"one_%d\":2}", a, b);
      cr_assert_eq(fixture_decode_with(&f, "g.Wide", json, fixture_decode_options(&f, 0), NULL), BJVM_OK,
                   "%s", json);
    }
  }
  /* a null of another member is no excuse, wherever its bit falls */
  for (int a = 600; a < 799; a++) {
    snprintf(json, sizeof json, "{\"one_%d\":null,\"one_600\":1,\"one_799\":2}", a == 600 ? 700 : a);
    cr_expect_eq(fixture_decode_with(&f, "g.Wide", json, fixture_decode_options(&f, 0), NULL),
                 BJVM_DUPLICATE_ONEOF, "%s", json);
  }
  fixture_close(&f);
}

/* Wide messages inside one another take the room of frames: fewer levels than the limit without scratch, all
 * with it. */
Test(decode, wide_messages_deep_down) {
  fixture f = fixture_made(add_wide);
  char *json = fixture_nested("{\"again\":", "{\"field499\":1}", "}", 99);
  bjvm_decode_options options = {.size = sizeof options};
  cr_assert_eq(fixture_decode_with(&f, "g.Wide", json, options, NULL), BJVM_SCRATCH);
  options.scratch = f.scratch;
  cr_assert_eq(fixture_decode_with(&f, "g.Wide", json, options, NULL), BJVM_OK);
  free(json);
  json = fixture_nested("{\"again\":", "{\"field499\":1}", "}", 100);
  cr_assert_eq(fixture_decode_with(&f, "g.Wide", json, options, NULL), BJVM_DEPTH);
  free(json);
  fixture_close(&f);
}

/* message A { B b = 1; int32 n = 2; repeated B list = 3; }  message B { A a = 1; map<string, A> ... } */
static void add_mutual(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *a = fixture_message(file, "A", arena);
  fixture_field(a, "b", 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, ".g.B", arena);
  fixture_field(a, "n", 2, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  fixture_field(a, "list", 3, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, true, ".g.B", arena);
  google_protobuf_DescriptorProto *b = fixture_message(file, "B", arena);
  fixture_field(b, "a", 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, false, ".g.A", arena);
}

Test(decode, a_type_is_compiled_when_a_text_has_it) {
  fixture f = fixture_made(add_mutual);
  const upb_MessageDef *a = test_find_message(f.pool, "g.A");
  const upb_MessageDef *b = test_find_message(f.pool, "g.B");
  fixture_plan(&f, "g.A");
  cr_assert(bjvm_cache_has(f.cache, a) && !bjvm_cache_has(f.cache, b));
  fixture_read_ok(&f, "g.A", "{\"n\":1,\"b\":null,\"list\":null}");
  cr_assert_not(bjvm_cache_has(f.cache, b), "no B was in the text");
  upb_Message *msg = fixture_read_ok(&f, "g.A", "{\"list\":[{\"a\":{\"b\":{\"a\":{\"n\":3}}}}]}");
  cr_assert(bjvm_cache_has(f.cache, b));
  cr_assert_eq(bjvm_cache_size(f.cache), 2);
  cr_assert_str_eq(fixture_json(&f, "g.A", msg), "{\"list\":[{\"a\":{\"b\":{\"a\":{\"n\":3}}}}]}");
  fixture_close(&f);
}

/* message S { F f = 1; }  enum F { 0, 1, 2147483647, -5 } */
static void add_sparse(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  static const struct {
    const char *name;
    int32_t number;
  } values[] = {{"F_ZERO", 0}, {"F_ONE", 1}, {"F_MAX", 2147483647}, {"F_MINUS", -5}};
  google_protobuf_EnumDescriptorProto *e = google_protobuf_FileDescriptorProto_add_enum_type(file, arena);
  google_protobuf_EnumDescriptorProto_set_name(e, fixture_text(arena, "F"));
  for (size_t i = 0; i < 4; i++) {
    google_protobuf_EnumValueDescriptorProto *v = google_protobuf_EnumDescriptorProto_add_value(e, arena);
    google_protobuf_EnumValueDescriptorProto_set_name(v, fixture_text(arena, values[i].name));
    google_protobuf_EnumValueDescriptorProto_set_number(v, values[i].number);
  }
  google_protobuf_DescriptorProto *m = fixture_message(file, "S", arena);
  fixture_field(m, "f", 1, google_protobuf_FieldDescriptorProto_TYPE_ENUM, false, ".g.F", arena);
}

Test(decode, a_sparse_enum_takes_bytes) {
  fixture f = fixture_made(add_sparse);
  const upb_MessageDef *def = test_find_message(f.pool, "g.S");
  const void *data;
  size_t size;
  cr_assert_eq(bjvm_compile(&def, 1, 0, f.arena, &data, &size, NULL), BJVM_OK);
  cr_assert_lt(size, 1024, "%zu bytes", size);
  static const char *const texts[] = {"{\"f\":\"F_ONE\"}", "{\"f\":\"F_MAX\"}",   "{\"f\":\"F_MINUS\"}",
                                      "{\"f\":2}",         "{\"f\":-2147483648}", "{\"f\":2147483646}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cr_assert_str_eq(fixture_json(&f, "g.S", fixture_read_ok(&f, "g.S", texts[i])), texts[i]);
  }
  fixture_close(&f);
}

/* The loop reads plain integers eight digits at a time: every length, alone and in arrays, against the exact
 * value. */
Test(decode, integers_of_every_length) {
  static const char digits[] = "1234567891234567891";
  fixture f = fixture_open();
  for (int n = 1; n <= 19; n++) {
    for (int minus = 0; minus < 2; minus++) {
      char text[32], json[200];
      snprintf(text, sizeof text, "%s%.*s", minus ? "-" : "", n, digits);
      long long v = strtoll(text, NULL, 10);
      const char *sign = minus ? "-" : "";
      snprintf(json, sizeof json, "{\"i64\":%s,\"s64\":\"%s\"}", text, text);
      char expected[200];
      snprintf(expected, sizeof expected, "{\"i64\":\"%lld\",\"s64\":\"%lld\"}", v, v);
      cr_expect_str_eq(fixture_json(&f, "cases.v3.T", fixture_read_ok(&f, "cases.v3.T", json)), expected);
      if (n > 9) continue;
      snprintf(json, sizeof json, "{\"i32\":%s,\"s32\":\"%s\"}", text, text);
      snprintf(expected, sizeof expected, "{\"i32\":%lld,\"s32\":%lld}", v, v);
      cr_expect_str_eq(fixture_json(&f, "cases.v3.T", fixture_read_ok(&f, "cases.v3.T", json)), expected);
      snprintf(json, sizeof json, "{\"i32\":[%s,%s0],\"i64\":[%s]}", text, n < 9 ? text : sign, text);
      snprintf(expected, sizeof expected, "{\"i32\":[%lld,%lld],\"i64\":[\"%lld\"]}", v, n < 9 ? v * 10 : 0,
               v);
      cr_expect_str_eq(fixture_json(&f, "cases.v3.Rep", fixture_read_ok(&f, "cases.v3.Rep", json)), expected);
    }
  }
  fixture_close(&f);
}

/* -- The order of members ------------------------------------------------------------------------------- */

enum { ITEM_FIELDS = 30 };

static void add_item(google_protobuf_FileDescriptorProto *file, upb_Arena *arena) {
  google_protobuf_DescriptorProto *m = fixture_message(file, "Item", arena);
  char name[32];
  for (int i = 1; i <= ITEM_FIELDS; i++) {
    snprintf(name, sizeof name, "%c%d", 'a' + i * 7 % 26, i);
    fixture_field(m, name, i, google_protobuf_FieldDescriptorProto_TYPE_INT32, false, NULL, arena);
  }
  fixture_field(m, "items", ITEM_FIELDS + 1, google_protobuf_FieldDescriptorProto_TYPE_MESSAGE, true,
                ".g.Item", arena);
}

/* An item with the members of `order`, some left out; returns the end. */
static char *put_item(char *p, const int *order, unsigned leave_out) {
  char *start = p;
  *p++ = '{';
  for (int i = 0; i < ITEM_FIELDS; i++) {
    if (leave_out >> (order[i] % 16) & 1) continue;
    p += sprintf(p, "%s\"%c%d\":%d", p - start > 1 ? "," : "", 'a' + order[i] * 7 % 26, order[i],
                 order[i] * 1000 + i % 2);
  }
  *p++ = '}';
  return p;
}

/* Orders that repeat are learned in the course of a text: what was learned must never be taken for another member, and a
 * member given twice is still found. */
Test(decode, members_in_every_order) {
  fixture f = fixture_made(add_item);
  char *json = (char *)malloc(1000000);
  int order[ITEM_FIELDS];
  uint64_t state = 7;
  for (int round = 0; round < 60; round++) {
    char *p = json + sprintf(json, "{\"items\":[");
    char *expected = (char *)malloc(1000000);
    char *e = expected + sprintf(expected, "{\"items\":[");
    for (int item = 0; item < 100; item++) {
      int sorted[ITEM_FIELDS];
      unsigned leave_out = round % 3 == 2 ? (unsigned)guard_random(&state) & 0xffff : 0;
      for (int i = 0; i < ITEM_FIELDS; i++) {
        sorted[i] = i + 1;
        if (item == 0 || item == 50) order[i] = ITEM_FIELDS - i;
      }
      int swaps = round % 4 == 0 ? 0 : item % 10 == 9 ? 5 : 0;
      if (item == 0 || item == 50) swaps = round % 2 ? 100 : 0;
      for (; swaps > 0; swaps--) {
        size_t a = guard_random(&state) % ITEM_FIELDS, b = guard_random(&state) % ITEM_FIELDS;
        int t = order[a];
        order[a] = order[b];
        order[b] = t;
      }
      if (item) *p++ = ',', *e++ = ',';
      char *q = put_item(p, order, leave_out);
      /* the same values in the order of the fields */
      *e++ = '{';
      bool first = true;
      for (int i = 0; i < ITEM_FIELDS; i++) {
        if (leave_out >> (sorted[i] % 16) & 1) continue;
        int at = 0;
        while (order[at] != sorted[i]) at++;
        e += sprintf(e, "%s\"%c%d\":%d", first ? "" : ",", 'a' + sorted[i] * 7 % 26, sorted[i],
                     sorted[i] * 1000 + at % 2);
        first = false;
      }
      *e++ = '}';
      p = q;
    }
    strcpy(p, "]}");
    strcpy(e, "]}");
    upb_Message *msg = fixture_read_ok(&f, "g.Item", json);
    cr_assert_str_eq(fixture_json(&f, "g.Item", msg), expected, "round %d", round);
    char *twice = strrchr(json, '}') - 2; /* the last item's closing brace */
    sprintf(twice, ",\"%c%d\":1}]}", 'a' + order[0] * 7 % 26, order[0]);
    bjvm_error error = {0};
    bjvm_status s = fixture_decode_with(&f, "g.Item", json, fixture_decode_options(&f, 0), &error);
    if (round % 3 != 2) cr_assert_eq(s, BJVM_DUPLICATE_FIELD, "round %d: %s", round, error.message);
    free(expected);
  }
  free(json);
  fixture_close(&f);
}
