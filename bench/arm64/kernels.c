/* One kernel alone, over and over, for a counter of instructions:   kernels FORM ROW N
 *
 * Without arguments lists the rows, one `ROW BYTES` a line; BYTES is the size of the input. The checks are those of
 * tests/unit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { SIZE = 3072 };

typedef enum work { ESCAPE, SCAN, UTF8, ENCODE, DECODE } work;

static const struct row {
  const char *name, *text; /* repeated up to SIZE */
  work kernel;
} rows[] = {
    {"escape-ascii", "plain text of the usual kind ", ESCAPE},
    {"escape-quotes", "sixteen bytes \"\n", ESCAPE},
    {"escape-2-byte", "\xD1\x82\xD0\xB5\xD0\xBA\xD1\x81\xD1\x82", ESCAPE},
    {"escape-3-byte", "\xE6\x96\x87\xE5\xAD\x97\xE5\x88\x97", ESCAPE},
    {"scan-ascii", "plain text of the usual kind ", SCAN},
    {"scan-escapes", "sixteen bytes \\\"", SCAN},
    {"utf8-ascii", "plain text of the usual kind ", UTF8},
    {"utf8-2-byte", "\xD1\x82\xD0\xB5\xD0\xBA\xD1\x81\xD1\x82", UTF8},
    {"utf8-3-byte", "\xE6\x96\x87\xE5\xAD\x97\xE5\x88\x97", UTF8},
    {"base64-encode", "any bytes", ENCODE},
    {"base64-decode", "QUJDREVG", DECODE},
};
enum { ROWS = sizeof rows / sizeof *rows };

static char input[SIZE], output[2 * SIZE + BJVMI_ESCAPE_STEP];

/* Whole repetitions of the row's text, so that no character is cut off; returns the size. */
static size_t fill(const struct row *row) {
  size_t n = strlen(row->text), size = 0;
  for (; size + n <= SIZE; size += n) memcpy(input + size, row->text, n);
  return size;
}

static bool run(const bjvmi_kernels *form, work kernel, size_t size) {
  const char *src = input, *bad;
  char *out = output;
  unsigned flags;
  switch (kernel) {
    case ESCAPE:
      return form->escape(&src, input + size, &out, output + sizeof output, 0) == BJVMI_ESCAPE_DONE;
    case SCAN: return form->scan(input, input + size, &flags) == input + size;
    case UTF8: return form->utf8(input, size) == NULL;
    case ENCODE: return form->base64_encode(output, (const uint8_t *)input, size) != NULL;
    case DECODE: return form->base64_decode((uint8_t *)output, input, size, &bad) != NULL;
  }
  return false;
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < ROWS; i++) {
    size_t size = fill(&rows[i]);
    if (argc < 4) {
      printf("%s %zu\n", rows[i].name, size);
      continue;
    }
    if (strcmp(rows[i].name, argv[2]) != 0) continue;
    for (const bjvmi_kernels *const *form = bjvmi_kernels_all(); *form; form++) {
      if (strcmp((*form)->name, argv[1]) != 0) continue;
      for (long n = strtol(argv[3], NULL, 10); n > 0; n--) {
        if (!run(*form, rows[i].kernel, size)) return 1;
      }
      return 0;
    }
  }
  return argc < 4 ? 0 : 2;
}
