/* Error lines, and the place in the text under them.
 *
 * Everything planc says on standard error goes through here. Invariant: one error is one line, plus two (the
 * line of the text and a caret) when it is about a JSON text; what came from a file is cleaned of characters
 * that could steer a terminal. Columns on the screen are those of utf8proc: 2 for wide characters, 0 for
 * combining ones.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "cli.h"

enum {
  MESSAGE_SIZE = 2048, /* longest error line, cut beyond */
  COLUMNS = 80,        /* of the line of text that is shown */
  BEFORE = 40,         /* of these, before the caret when the line is cut */
  ELLIPSIS = 3,        /* columns of "..." */
};

/* One character as it is shown. */
typedef struct glyph {
  size_t size;       /* bytes in the text */
  int width;         /* columns */
  const char *shown; /* what stands for it; NULL: its own bytes */
} glyph;

/* Controls, the marks that change the direction of what follows, and what hides between others: a zero width space, a byte order
 * mark. */
static bool is_unsafe(utf8proc_int32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200b || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* The character at p. A tab is one blank; bytes that are no UTF-8 and what is unsafe are question marks. */
static glyph glyph_at(const char *p, const char *end) {
  utf8proc_int32_t c;
  utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)p, (utf8proc_ssize_t)(end - p), &c);
  if (size <= 0) return (glyph){1, 1, "?"};
  if (c == '\t') return (glyph){1, 1, " "};
  if (is_unsafe(c)) return (glyph){(size_t)size, 1, "?"};
  return (glyph){(size_t)size, utf8proc_charwidth(c), NULL};
}

static void print_clean(const char *text, size_t size) {
  for (const char *p = text, *end = text + size; p < end;) {
    glyph g = glyph_at(p, end);
    fwrite(g.shown ? g.shown : p, 1, g.shown ? 1 : g.size, stderr);
    p += g.size;
  }
}

void bjvmi_report(const char *where, const char *format, ...) {
  char line[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  print_clean(where, strlen(where));
  fputs(": error: ", stderr);
  print_clean(line, strlen(line));
  fputc('\n', stderr);
}

/* -- The place in the text ------------------------------------------------------------------------------ */

/* The start of the character before p; bytes that are no UTF-8 count one each. */
static const char *step_back(const char *p, const char *start) {
  for (const char *q = p - 1; q >= start && p - q <= 4; q--) {
    if (((unsigned char)*q & 0xc0) == 0x80) continue;
    return glyph_at(q, p).size == (size_t)(p - q) ? q : p - 1;
  }
  return p - 1;
}

/* Goes back from `at` while the characters fit into `columns`. A pile of combining marks has no width but an
 * end: four bytes for every column, then it is cut. */
static const char *window_start(const char *at, const char *line, int columns) {
  const char *p = at;
  int width = 0;
  while (p > line && at - p < 4 * columns) {
    const char *q = step_back(p, line);
    width += glyph_at(q, p).width;
    if (width > columns) break;
    p = q;
  }
  return p;
}

/* The same onwards. */
static const char *window_end(const char *at, const char *end, int columns) {
  const char *p = at;
  int width = 0;
  while (p < end && p - at < 4 * columns) {
    glyph g = glyph_at(p, end);
    width += g.width;
    if (width > columns) break;
    p += g.size;
  }
  return p;
}

static int width_of(const char *p, const char *end) {
  int width = 0;
  while (p < end) {
    glyph g = glyph_at(p, end);
    width += g.width;
    p += g.size;
  }
  return width;
}

/* Prints the part of [line, end) around `at`, and the caret. */
static void show(const char *line, const char *at, const char *end) {
  const char *from = line, *to = window_end(line, end, COLUMNS);
  if (to < end) {
    from = window_start(at, line, BEFORE);
    if (from > line) from = window_start(at, line, BEFORE - ELLIPSIS);
    int used = width_of(from, at) + (from > line ? ELLIPSIS : 0);
    to = window_end(at, end, COLUMNS - used);
    if (to < end) to = window_end(at, end, COLUMNS - used - ELLIPSIS);
  }
  int column = width_of(from, at) + (from > line ? ELLIPSIS : 0);
  /* A combining mark stands over the character before it. */
  if (at < end && at > line && glyph_at(at, end).width == 0 && column) column--;
  if (from > line) fputs("...", stderr);
  print_clean(from, (size_t)(to - from));
  fputs(to < end ? "...\n" : "\n", stderr);
  fprintf(stderr, "%*s^\n", column, "");
}

static void show_place(const char *text, size_t size, size_t offset) {
  const char *at = text + (offset < size ? offset : size);
  const char *line = at, *end = at;
  while (line > text && line[-1] != '\n') line--;
  while (end < text + size && *end != '\n') end++;
  if (end > at && end[-1] == '\r') end--;
  show(line, at, end);
}

void bjvmi_report_error(const char *where, const bjvm_error *error, const char *text, size_t size) {
  const char *comma = error->path[0] ? ", " : "";
  const char *word = error->path[0] ? "path " : "";
  const char *code = bjvm_status_name(error->code);
  char place[64] = "";
  if (error->line) snprintf(place, sizeof place, ":%u:%u", (unsigned)error->line, (unsigned)error->column);
  char name[MESSAGE_SIZE];
  snprintf(name, sizeof name, "%s%s", where, place);
  bjvmi_report(name, "%s (%s%s%s%s)", error->message[0] ? error->message : bjvm_status_text(error->code),
               word, error->path, comma, code);
  if (error->line && text) show_place(text, size, error->offset);
}
