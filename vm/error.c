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

/* A map key, fit for a report, with a backslash before what would end its quotes. */
static void add_quoted(bjvmi_text *t, const char *s, size_t size) {
  bool valid = bjvmi_kernels_portable.utf8(s, size) == NULL;
  for (size_t i = 0; i < size; i++) {
    char c = s[i];
    if (c == '"' || c == '\\') bjvmi_text_string(t, "\\");
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
    default: add_quoted(path, key->str_val.data, key->str_val.size); break;
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

static void add_hex(bjvmi_text *t, const char *front, uint32_t value, int digits) {
  bjvmi_text_string(t, front);
  while (digits-- > 0) bjvmi_text_fill(t, "0123456789ABCDEF"[value >> 4 * digits & 15], 1);
  bjvmi_text_string(t, ">");
}

#ifdef BJVM_SIZE_SMALL
/* The bytes of a token, in ASCII. */
static void add_visible(bjvmi_text *t, const char *p, size_t size) {
  for (; size > 0; p++, size--) {
    if ((uint8_t)(*p - ' ') < 0x7f - ' ') bjvmi_text_bytes(t, p, 1);
    else add_hex(t, "<0x", (uint8_t)*p, 2);
  }
}
#else
/* What has no look of its own: controls, blanks other than the common one, marks of direction and of joining,
 * fillers. Variation selectors are not among them; they belong to what they vary. */
static const struct {
  uint32_t first, last;
} invisible[] = {
    {0x80, 0xa0},     {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},
    {0x1680, 0x1680}, {0x17b4, 0x17b5},   {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f},
    {0x205f, 0x206f}, {0x3000, 0x3000},   {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
    {0xfff9, 0xfffb}, {0xe0000, 0xe00ff},
};

/* Adds the character at p, which is valid UTF-8, by its number if it cannot be seen. Returns its bytes, or 0. */
static size_t add_invisible(bjvmi_text *t, const char *p) {
  const uint8_t *s = (const uint8_t *)p;
  if (*s < 0xc0) return 0;
  size_t size = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
  uint32_t c = *s & (0x7fu >> size);
  for (size_t i = 1; i < size; i++) c = c << 6 | (s[i] & 0x3f);
  for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++) {
    if (c < invisible[i].first || c > invisible[i].last) continue;
    add_hex(t, "<U+", c, c > 0xffff ? 5 : 4);
    return size;
  }
  return 0;
}

/* The bytes of a token. Those that are no character, and characters that cannot be seen, become numbers. */
static void add_visible(bjvmi_text *t, const char *p, size_t size) {
  const char *end = p + size;
  const char *bad = bjvmi_kernels_portable.utf8(p, size);
  while (p < end) {
    uint8_t c = (uint8_t)*p;
    size_t n = p == bad ? 0 : add_invisible(t, p);
    if (p == bad || c < ' ' || c == 0x7f) add_hex(t, "<0x", c, 2);
    else if (n == 0) bjvmi_text_bytes(t, p, 1);
    p += n ? n : 1;
    if (bad && p > bad) bad = bjvmi_kernels_portable.utf8(p, (size_t)(end - p));
  }
}
#endif

void bjvmi_error_add_token(bjvmi_text *message, const char *text, size_t size, size_t offset) {
  if (offset >= size) {
    bjvmi_text_string(message, "the end of the text");
    return;
  }
  const char *p = text + offset;
  if (size - offset >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
    bjvmi_text_string(message, "a byte order mark");
    return;
  }
  size_t n = token_size(p, size - offset);
  bool cut = n > TOKEN_MAX;
  if (cut) n = TOKEN_MAX;
  while (cut && n > 1 && ((uint8_t)p[n] & 0xc0) == 0x80) n--; /* whole characters */
  bjvmi_text_string(message, "'");
  add_visible(message, p, n);
  bjvmi_text_string(message, cut ? "...'" : "'");
}
