/* "Did you mean ...": the candidates nearest to a word that was not found.
 *
 * Used for options, commands and message types. The measure is the number of letters inserted, dropped,
 * changed or swapped, case not counted; a word too far from everything gets no suggestion.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum {
  LONGEST = 128, /* letters; longer words get no suggestion */
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Three rows of the table of distances between the beginnings of both words are enough. */
static size_t distance(const char *a, const char *b) {
  size_t m = strlen(a), n = strlen(b);
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  if (m > LONGEST || n > LONGEST) return SIZE_MAX;
  for (size_t j = 0; j <= n; j++) above[j] = j;
  for (size_t i = 1; i <= m; i++) {
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !same);
      bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = least(row[j], before[j - 2] + 1);
    }
    size_t *spare = before;
    before = above;
    above = row;
    row = spare;
  }
  return above[n];
}

void bjvmi_nearest_offer(bjvmi_nearest *nearest, const char *candidate) {
  size_t d = distance(nearest->word, candidate);
  const char *dot = strrchr(candidate, '.');
  if (dot && strcmp(dot + 1, nearest->word) == 0) d = 1; /* only the package was left out */
  size_t limit = strlen(nearest->word) / 3 + 1;
  if (d > limit || (nearest->count && d > nearest->distance)) return;
  if (d < nearest->distance) nearest->count = 0;
  nearest->distance = d;
  if (nearest->count < BJVMI_NEAREST_MAX) nearest->found[nearest->count++] = candidate;
}

const char *bjvmi_nearest_hint(bjvmi_nearest *nearest, const char *dashes) {
  size_t n = 0;
  nearest->hint[0] = 0;
  for (size_t i = 0; i < nearest->count && n < sizeof nearest->hint; i++) {
    const char *before = i == 0 ? "; did you mean " : i + 1 == nearest->count ? " or " : ", ";
    const char *behind = i + 1 == nearest->count ? "?" : "";
    n += (size_t)snprintf(nearest->hint + n, sizeof nearest->hint - n, "%s'%s%s'%s", before, dashes,
                          nearest->found[i], behind);
  }
  return nearest->hint;
}
