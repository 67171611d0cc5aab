/* What the sentences of reports say. Codes and places are tested by tests/errors. */
#include "fixture.h"
#include "kernels.h"

/* `found` is how the sentence ends; `small` how it does in a small build, which keeps to ASCII, where that differs. */
typedef struct row {
  const char *text;
  size_t size; /* 0: all of it */
  bjvm_status status;
  const char *found, *small;
  const char *type; /* NULL: cases.v3.T */
} row;

static bjvm_error error_of(fixture *f, const row *r) {
  const char *type = r->type ? r->type : "cases.v3.T";
  bjvm_error error = {0};
  bjvm_decode_options options = fixture_decode_options(f, 0);
  bjvm_status s = bjvm_decode(fixture_plan(f, type), r->text, r->size ? r->size : strlen(r->text),
                              fixture_new(f, type), f->arena, &options, &error);
  cr_assert_eq(s, r->status, "%s: %s, %s", r->text, bjvm_status_name(s), error.message);
  return error;
}

static void check_ends(const row *r, const char *message) {
  const char *end = r->found;
#ifdef BJVM_SIZE_SMALL
  if (r->small) end = r->small;
#endif
  size_t size = strlen(message), n = strlen(end);
  cr_expect(size >= n && strcmp(message + size - n, end) == 0, "%s: \"%s\" does not end in \"%s\"", r->text,
            message, end);
}

static void check_rows(const row *rows, size_t count) {
  fixture f = fixture_open();
  for (size_t i = 0; i < count; i++) {
    bjvm_error error = error_of(&f, &rows[i]);
    check_ends(&rows[i], error.message);
  }
  fixture_close(&f);
}

Test(sentence, names_a_byte_order_mark) {
  static const row rows[] = {
      {"\xef\xbb\xbf{\"i32\":1}", 0, BJVM_SYNTAX, "expected an object, found a byte order mark", NULL, NULL},
      {"\xef\xbb\xbf", 0, BJVM_SYNTAX, "found a byte order mark", NULL, NULL},
      {" \xef\xbb\xbf{}", 0, BJVM_SYNTAX, "found a byte order mark", NULL, NULL},
      {"\xef\xbb\xbftrue", 0, BJVM_SYNTAX, "found a byte order mark", NULL, NULL},
      {"{}\xef\xbb\xbf{}", 0, BJVM_TRAILING, "found a byte order mark", NULL, NULL},
      {"{\"i32\":\xef\xbb\xbf[]}", 0, BJVM_SYNTAX, "found a byte order mark", NULL, NULL},
      {"\xef\xbb", 0, BJVM_SYNTAX, "found '<0xEF><0xBB>'", NULL, NULL},
      {"\xef\xbb{}", 0, BJVM_SYNTAX, "found '<0xEF><0xBB>'", NULL, NULL},
      {"\xff\xfe{\0}\0", 6, BJVM_SYNTAX, "found '<0xFF><0xFE>'", NULL, NULL}, /* UTF-16 */
      {"\xfe\xff\0{\0}", 6, BJVM_SYNTAX, "found '<0xFE><0xFF>'", NULL, NULL},
      {"{\"\xef\xbb\xbfi32\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"<U+FEFF>i32\"'", "'\"<0xEF><0xBB><0xBF>i32\"'",
       NULL},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, shows_bytes_that_are_no_character) {
  static const row rows[] = {
      {"{\"i32\":\0}", 9, BJVM_SYNTAX, "found '<0x00>'", NULL, NULL},
      {"{\"i32\":\x1b[31m}", 0, BJVM_SYNTAX, "found '<0x1B>'", NULL, NULL},
      {"{\"i32\":\x7f}", 0, BJVM_SYNTAX, "found '<0x7F>'", NULL, NULL},
      {"{\"i32\":x\x01y}", 0, BJVM_SYNTAX, "found 'x'", NULL, NULL},
      {"{\"i32\":\xc3}", 0, BJVM_SYNTAX, "found '<0xC3>'", NULL, NULL},
      {"{\"i32\":\xc3\xa4\xa4\xe2\x82}", 0, BJVM_SYNTAX, "found '\xc3\xa4<0xA4><0xE2><0x82>'",
       "found '<0xC3><0xA4><0xA4><0xE2><0x82>'", NULL},
      {"{\"i32\":\xed\xa0\x80}", 0, BJVM_SYNTAX, "found '<0xED><0xA0><0x80>'", NULL, NULL},
      {"{\"str\":\"na\xefve\"}", 0, BJVM_BAD_UTF8, "expected a character in UTF-8, found '<0xEF>ve'", NULL,
       NULL},
      {"{\"str\":\"a\xe2\x82\"}", 0, BJVM_BAD_UTF8, "found '<0xE2><0x82>'", NULL, NULL},
      {"{\"str\":\"a\xe2\x82", 0, BJVM_TRUNCATED, "found the end of the text", NULL, NULL},
      {"{\"str\":\"a\tb\"}", 0, BJVM_CONTROL_CHAR, "or a closing quote, found '<0x09>'", NULL, NULL},
      {"{\"str\":\"a\\x41\"}", 0, BJVM_BAD_ESCAPE, "found '\\x41'", NULL, NULL},
      {"{\"color\":\"a\x7f\"}", 0, BJVM_UNKNOWN_ENUM, "'\"a<0x7F>\"'", NULL, NULL},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, shows_what_cannot_be_seen) {
  static const row rows[] = {
      {"{\"i32\":\xc2\xa0null}", 0, BJVM_SYNTAX, "found '<U+00A0>null'", "found '<0xC2><0xA0>null'", NULL},
      {"{\"i32\":1\xe2\x80\x8b}", 0, BJVM_SYNTAX, "found '<U+200B>'", "found '<0xE2><0x80><0x8B>'", NULL},
      {"{\"i32\":\xf3\xa0\x80\x81}", 0, BJVM_SYNTAX, "found '<U+E0001>'", "found '<0xF3><0xA0><0x80><0x81>'",
       NULL},
      {"{\"st\xe2\x80\x8br\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"st<U+200B>r\"'", "'\"st<0xE2><0x80><0x8B>r\"'",
       NULL},
      {"{\"color\":\"\xe2\x80\xaeX\"}", 0, BJVM_UNKNOWN_ENUM, "'\"<U+202E>X\"'", "'\"<0xE2><0x80><0xAE>X\"'",
       NULL},
      {"{\"\xc2\x85\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"<U+0085>\"'", "'\"<0xC2><0x85>\"'", NULL},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, leaves_letters_as_they_are) {
  static const row rows[] = {
      {"{\xe2\x80\x9ci\xe2\x80\x9d:1}", 0, BJVM_SYNTAX, "found '\xe2\x80\x9ci\xe2\x80\x9d'",
       "found '<0xE2><0x80><0x9C>i<0xE2><0x80><0x9D>'", NULL},
      {"{\"stra\xc3\x9fs\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"stra\xc3\x9fs\"'", "'\"stra<0xC3><0x9F>s\"'",
       NULL},
      {"{\"i32\":\xf0\x9f\x9a\x80}", 0, BJVM_SYNTAX, "found '\xf0\x9f\x9a\x80'",
       "found '<0xF0><0x9F><0x9A><0x80>'", NULL},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, names_the_type) {
  static const row rows[] = {
      {"{\"nope\":1}", 0, BJVM_UNKNOWN_FIELD, "in cases.v3.T: '\"nope\"'", NULL, NULL},
      {"{\"color\":\"GREN\"}", 0, BJVM_UNKNOWN_ENUM, "in cases.v3.Color: '\"GREN\"'", NULL, NULL},
      {"{\"color\":[\"RED\",\"GREN\"]}", 0, BJVM_UNKNOWN_ENUM, "in cases.v3.Color: '\"GREN\"'", NULL,
       "cases.v3.Rep"},
      {"{\"vColor\":{\"a\":\"GREN\"}}", 0, BJVM_UNKNOWN_ENUM, "in cases.v3.Color: '\"GREN\"'", NULL,
       "cases.v3.Maps"},
      {"{\"pe\":\"GREN\"}", 0, BJVM_UNKNOWN_ENUM, "in cases.v3.Color: '\"GREN\"'", NULL, "cases.v3.One"},
      {"{\"shade\":77}", 0, BJVM_UNKNOWN_ENUM, "in cases.v2.Shade: '77'", NULL, "cases.v2.P2"},
      {"{\"many\":[77]}", 0, BJVM_UNKNOWN_ENUM, "in cases.v2.Shade: '77'", NULL, "cases.v2.P2"},
      {"{\"[cases.v2.ext_num]\":1,\"[cases.v2.ext_shade]\":\"GREN\"}", 0, BJVM_UNKNOWN_ENUM,
       "in cases.v2.Shade: '\"GREN\"'", NULL, "cases.v2.P2"},
      {"{\"nil\":\"GREN\"}", 0, BJVM_UNKNOWN_ENUM, "in google.protobuf.NullValue: '\"GREN\"'", NULL,
       "cases.v2.Holder"},
      {"{\"any\":{\"@type\":\"x/cases.v3.T\",\"color\":\"GREN\"}}", 0, BJVM_UNKNOWN_ENUM,
       "in cases.v3.Color: '\"GREN\"'", NULL, "cases.v2.Holder"},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

/* Every character but the controls: the report stays valid UTF-8, and fits. */
Test(sentence, survives_every_character) {
  fixture f = fixture_open();
  char text[256];
  for (uint32_t c = 0x80; c <= 0x10ffff; c += c < 0x10000 ? 1 : 251) {
    size_t n = 0;
    if (c >= 0xd800 && c < 0xe000) continue;
    text[n++] = '{';
    for (int i = 0; i < 20; i++) {
      if (c < 0x800) text[n++] = (char)(0xc0 | c >> 6);
      else {
        if (c < 0x10000) text[n++] = (char)(0xe0 | c >> 12);
        else {
          text[n++] = (char)(0xf0 | c >> 18);
          text[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        }
        text[n++] = (char)(0x80 | (c >> 6 & 0x3f));
      }
      text[n++] = (char)(0x80 | (c & 0x3f));
    }
    const row r = {text, n, BJVM_SYNTAX, "", NULL, NULL};
    bjvm_error error = error_of(&f, &r);
    cr_assert(bjvmi_kernels_portable.utf8(error.message, strlen(error.message)) == NULL, "U+%04X",
              (unsigned)c);
  }
  fixture_close(&f);
}
