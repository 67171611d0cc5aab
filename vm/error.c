/* The text of error reports: field paths, places, tokens.
 *
 * Neighbours: encode.c and decode.c, after a failure. Invariant: what goes into a report is valid UTF-8
 * without control characters, whatever the text held.
 */
#include "error.h"

enum { TOKEN_MAX = 40 }; /* bytes of an offending token that a report repeats */

void bjvmi_error_add_name(bjvmi_text *path, const char *names, uint32_t name) {
  uint32_t size = bjvmi_name_length(names, name);
  if (path->size > 0 && size > 4 && names[name + 2] != '[') bjvmi_text_string(path, ".");
  bjvmi_text_bytes(path, names + name + 2, size - 4); /* without `,"` and `":` */
}

void bjvmi_error_add_index(bjvmi_text *path, uint64_t index) {
  bjvmi_text_string(path, "[");
  bjvmi_text_unsigned(path, index, 0);
  bjvmi_text_string(path, "]");
}

/* A byte string, fit for a report; `quoted`: with a backslash before what would end its quotes. */
static void add_clean(bjvmi_text *t, const char *s, size_t size, bool quoted) {
  bool valid = bjvmi_kernels_portable.utf8(s, size) == NULL;
  for (size_t i = 0; i < size; i++) {
    char c = s[i];
    if (quoted && (c == '"' || c == '\\')) bjvmi_text_string(t, "\\");
    if ((uint8_t)c < ' ' || (uint8_t)c == 0x7f || (!valid && (uint8_t)c >= 0x80)) c = '?';
    bjvmi_text_bytes(t, &c, 1);
  }
}

void bjvmi_error_add_key(bjvmi_text *path, bjvmi_kind kind, const upb_MessageValue *key) {
  bjvmi_text_string(path,
                    "[\""); /* quoted, as in the text, whatever the kind: no one takes it for an index */
  switch (kind) {
    case BJVMI_KIND_BOOL: bjvmi_text_string(path, key->bool_val ? "true" : "false"); break;
    case BJVMI_KIND_INT32: bjvmi_text_signed(path, key->int32_val, 0); break;
    case BJVMI_KIND_UINT32: bjvmi_text_unsigned(path, key->uint32_val, 0); break;
    case BJVMI_KIND_INT64: bjvmi_text_signed(path, key->int64_val, 0); break;
    case BJVMI_KIND_UINT64: bjvmi_text_unsigned(path, key->uint64_val, 0); break;
    default: add_clean(path, key->str_val.data, key->str_val.size, true); break;
  }
  bjvmi_text_string(path, "\"]");
}

void bjvmi_error_place(bjvm_error *error, const char *text, size_t size) {
  size_t end = error->offset < size ? error->offset : size;
  uint32_t line = 1;
  uint32_t column = 1;
  for (size_t i = 0; i < end; i++) {
    uint8_t c = (uint8_t)text[i];
    if (c == '\n' || (c == '\r' && !(i + 1 < size && text[i + 1] == '\n'))) {
      line++;
      column = 1;
    } else if ((c & 0xc0) != 0x80) {
      column++;
    }
  }
  error->line = line;
  error->column = column;
}

/* The length of the token at the front of [p, p+size): a string with its quotes, a run of plain bytes, or one
 * mark. */
static size_t token_size(const char *p, size_t size) {
  size_t n = 1;
  if (*p == '"') {
    while (n < size && p[n] != '"' && (uint8_t)p[n] >= ' ') n += p[n] == '\\' && n + 1 < size ? 2 : 1;
    return n < size && p[n] == '"' ? n + 1 : n < size ? n : size;
  }
  if (memchr("{}[],:", *p, 6) || (uint8_t)*p < ' ') return 1;
  while (n < size && (uint8_t)p[n] > ' ' && !memchr("{}[],:\"", p[n], 7)) n++;
  return n;
}

void bjvmi_error_add_token(bjvmi_text *message, const char *text, size_t size, size_t offset) {
  if (offset >= size) {
    bjvmi_text_string(message, "the end of the text");
    return;
  }
  const char *p = text + offset;
  size_t n = token_size(p, size - offset);
  bool cut = n > TOKEN_MAX;
  if (cut) n = TOKEN_MAX;
  while (cut && n > 1 && ((uint8_t)p[n] & 0xc0) == 0x80) n--; /* whole characters */
  bjvmi_text_string(message, "'");
  add_clean(message, p, n, false);
  bjvmi_text_string(message, cut ? "...'" : "'");
}
