/* What the sentences of reports say. Codes and places are tested by tests/errors. */
#include "fixture.h"
#include "kernels.h"

/* `found` is how the sentence ends; `small` how it does in a small build, which keeps to ASCII, where that differs. */
typedef struct row {
  const char *text;
  size_t size; /* 0: all of it */
  bjvm_status status;
  const char *found, *small;
} row;

static bjvm_error error_of(fixture *f, const char *type, const row *r) {
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
    bjvm_error error = error_of(&f, "cases.v3.T", &rows[i]);
    check_ends(&rows[i], error.message);
  }
  fixture_close(&f);
}

Test(sentence, names_a_byte_order_mark) {
  static const row rows[] = {
      {"\xef\xbb\xbf{\"i32\":1}", 0, BJVM_SYNTAX, "expected an object, found a byte order mark", NULL},
      {"\xef\xbb\xbf", 0, BJVM_SYNTAX, "found a byte order mark", NULL},
      {" \xef\xbb\xbf{}", 0, BJVM_SYNTAX, "found a byte order mark", NULL},
      {"\xef\xbb\xbftrue", 0, BJVM_SYNTAX, "found a byte order mark", NULL},
      {"{}\xef\xbb\xbf{}", 0, BJVM_TRAILING, "found a byte order mark", NULL},
      {"{\"i32\":\xef\xbb\xbf[]}", 0, BJVM_SYNTAX, "found a byte order mark", NULL},
      {"\xef\xbb", 0, BJVM_SYNTAX, "found '<0xEF><0xBB>'", NULL},
      {"\xef\xbb{}", 0, BJVM_SYNTAX, "found '<0xEF><0xBB>'", NULL},
      {"\xff\xfe{\0}\0", 6, BJVM_SYNTAX, "found '<0xFF><0xFE>'", NULL}, /* UTF-16 */
      {"\xfe\xff\0{\0}", 6, BJVM_SYNTAX, "found '<0xFE><0xFF>'", NULL},
      {"{\"\xef\xbb\xbfi32\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"<U+FEFF>i32\"'", "'\"<0xEF><0xBB><0xBF>i32\"'"},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, shows_bytes_that_are_no_character) {
  static const row rows[] = {
      {"{\"i32\":\0}", 9, BJVM_SYNTAX, "found '<0x00>'", NULL},
      {"{\"i32\":\x1b[31m}", 0, BJVM_SYNTAX, "found '<0x1B>'", NULL},
      {"{\"i32\":\x7f}", 0, BJVM_SYNTAX, "found '<0x7F>'", NULL},
      {"{\"i32\":x\x01y}", 0, BJVM_SYNTAX, "found 'x'", NULL},
      {"{\"i32\":\xc3}", 0, BJVM_SYNTAX, "found '<0xC3>'", NULL},
      {"{\"i32\":\xc3\xa4\xa4\xe2\x82}", 0, BJVM_SYNTAX, "found '\xc3\xa4<0xA4><0xE2><0x82>'",
       "found '<0xC3><0xA4><0xA4><0xE2><0x82>'"},
      {"{\"i32\":\xed\xa0\x80}", 0, BJVM_SYNTAX, "found '<0xED><0xA0><0x80>'", NULL},
      {"{\"str\":\"na\xefve\"}", 0, BJVM_BAD_UTF8, "expected a character in UTF-8, found '<0xEF>ve'", NULL},
      {"{\"str\":\"a\xe2\x82\"}", 0, BJVM_BAD_UTF8, "found '<0xE2><0x82>'", NULL},
      {"{\"str\":\"a\xe2\x82", 0, BJVM_TRUNCATED, "found the end of the text", NULL},
      {"{\"str\":\"a\tb\"}", 0, BJVM_CONTROL_CHAR, "or a closing quote, found '<0x09>'", NULL},
      {"{\"str\":\"a\\x41\"}", 0, BJVM_BAD_ESCAPE, "found '\\x41'", NULL},
      {"{\"color\":\"a\x7f\"}", 0, BJVM_UNKNOWN_ENUM, "found '\"a<0x7F>\"'", NULL},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, shows_what_cannot_be_seen) {
  static const row rows[] = {
      {"{\"i32\":\xc2\xa0null}", 0, BJVM_SYNTAX, "found '<U+00A0>null'", "found '<0xC2><0xA0>null'"},
      {"{\"i32\":1\xe2\x80\x8b}", 0, BJVM_SYNTAX, "found '<U+200B>'", "found '<0xE2><0x80><0x8B>'"},
      {"{\"i32\":\xf3\xa0\x80\x81}", 0, BJVM_SYNTAX, "found '<U+E0001>'", "found '<0xF3><0xA0><0x80><0x81>'"},
      {"{\"st\xe2\x80\x8br\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"st<U+200B>r\"'", "'\"st<0xE2><0x80><0x8B>r\"'"},
      {"{\"color\":\"\xe2\x80\xaeX\"}", 0, BJVM_UNKNOWN_ENUM, "'\"<U+202E>X\"'", "'\"<0xE2><0x80><0xAE>X\"'"},
      {"{\"\xc2\x85\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"<U+0085>\"'", "'\"<0xC2><0x85>\"'"},
  };
  check_rows(rows, sizeof rows / sizeof *rows);
}

Test(sentence, leaves_letters_as_they_are) {
  static const row rows[] = {
      {"{\xe2\x80\x9ci\xe2\x80\x9d:1}", 0, BJVM_SYNTAX, "found '\xe2\x80\x9ci\xe2\x80\x9d'",
       "found '<0xE2><0x80><0x9C>i<0xE2><0x80><0x9D>'"},
      {"{\"stra\xc3\x9fs\":1}", 0, BJVM_UNKNOWN_FIELD, "'\"stra\xc3\x9fs\"'", "'\"stra<0xC3><0x9F>s\"'"},
      {"{\"i32\":\xf0\x9f\x9a\x80}", 0, BJVM_SYNTAX, "found '\xf0\x9f\x9a\x80'",
       "found '<0xF0><0x9F><0x9A><0x80>'"},
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
    const row r = {text, n, BJVM_SYNTAX, "", NULL};
    bjvm_error error = error_of(&f, "cases.v3.T", &r);
    cr_assert(bjvmi_kernels_portable.utf8(error.message, strlen(error.message)) == NULL, "U+%04X",
              (unsigned)c);
  }
  fixture_close(&f);
}
