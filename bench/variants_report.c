/* Tables and JSON of the text variants and worst cases. Columns are the peers that have a figure anywhere. */
#include "variants.h"

static const char *const direction_names[BENCH_DIRECTIONS] = {"encode", "decode"};

typedef double number_of(const bench_variant_figure *figure);

static double ns_byte(const bench_variant_figure *f) { return f->ns_byte; }
static double ratio(const bench_variant_figure *f) { return f->figure.ratio; }
static double factor(const bench_variant_figure *f) { return f->factor; }
static double doubling(const bench_variant_figure *f) { return f->doubling; }

typedef struct column {
  const char *heading;
  number_of *number;
  size_t first_peer; /* 1: without bjvm itself */
} column;

static bool measured(const bench_variant_result *results, size_t count, int direction, size_t peer) {
  for (size_t i = 0; i < count; i++)
    if (results[i].figures[direction][peer].figure.present) return true;
  return false;
}

static void table(FILE *out, const bench_variant_result *results, size_t count, int direction,
                  const column *columns, size_t column_count) {
  bool shown[BENCH_PEERS];
  for (size_t p = 0; p < BENCH_PEERS; p++) shown[p] = measured(results, count, direction, p);
  fprintf(out, "| %-16s |", "text");
  for (size_t c = 0; c < column_count; c++)
    for (size_t p = columns[c].first_peer; p < BENCH_PEERS; p++)
      if (shown[p]) fprintf(out, " %s%s |", bench_peers[p]->name, columns[c].heading);
  fputs("\n| :--------------- |", out);
  for (size_t c = 0; c < column_count; c++)
    for (size_t p = columns[c].first_peer; p < BENCH_PEERS; p++)
      if (shown[p]) fputs(" ---: |", out);
  fputc('\n', out);
  for (size_t i = 0; i < count; i++) {
    if (!results[i].figures[direction][0].figure.present) continue;
    fprintf(out, "| %-16s |", results[i].name);
    for (size_t c = 0; c < column_count; c++) {
      for (size_t p = columns[c].first_peer; p < BENCH_PEERS; p++) {
        double number = columns[c].number(&results[i].figures[direction][p]);
        if (!shown[p]) continue;
        if (number > 0) fprintf(out, " %.2f |", number);
        else fputs(" - |", out);
      }
    }
    fputc('\n', out);
  }
}

static void left_out(FILE *out, const bench_variant_result *results, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t p = 0; p < BENCH_PEERS; p++)
      if (results[i].left_out[p])
        fprintf(out, "- %s is not compared on %s: it %s\n", bench_peers[p]->name, results[i].name,
                results[i].left_out[p]);
}

static void superlinear(FILE *out, const bench_variant_result *results, size_t count) {
  bool all = true;
  for (size_t i = 0; i < count; i++) {
    const bench_variant_result *r = &results[i];
    if (!r->superlinear) continue;
    all = false;
    fprintf(out, "- SUPERLINEAR%s: %s%s%s\n", r->known ? ", known" : "", r->name, r->known ? ": " : "",
            r->known ? r->known : "");
  }
  if (all) fputs("- twice the text takes about twice the time in every case\n", out);
}

void bench_variants_table(FILE *out, const bench_variant_result *results, size_t count) {
  static const column times[] = {{" ns/B", ns_byte, 0}, {" / bjvm", ratio, 1}};
  static const column growth[] = {{": by plain", factor, 0}, {": 2N / N", doubling, 0}};
  fputs("\n# Text variants and worst cases\n\n", out);
  for (size_t i = 0; bench_variant_name(i); i++)
    fprintf(out, "- %s: %s (plain: %s)\n", bench_variant_name(i), bench_variant_what(i),
            bench_variant_plain(i));
  for (int d = BENCH_DIRECTIONS - 1; d >= 0; d--) {
    if (!measured(results, count, d, 0)) continue;
    fprintf(out, "\n## %s: median ns a byte, and time of the peer / time of bjvm\n\n", direction_names[d]);
    table(out, results, count, d, times, 2);
    fprintf(
        out,
        "\n## %s: time by that of the plain text (a message of a pool, else a byte), and of twice the text "
        "by that of the text\n\n",
        direction_names[d]);
    table(out, results, count, d, growth, 2);
  }
  fputc('\n', out);
  size_t retaken = 0;
  for (size_t i = 0; i < count; i++) retaken += results[i].retaken;
  fprintf(out, "- %zu slices retaken\n", retaken);
  left_out(out, results, count);
  superlinear(out, results, count);
}

/* -- JSON ----------------------------------------------------------------------------------------------- */

static void json_direction(FILE *out, const bench_variant_result *r, int direction) {
  const char *comma = "";
  fprintf(out, ",\n      \"%s\": {", direction_names[direction]);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const bench_variant_figure *v = &r->figures[direction][p];
    const bench_figure *f = &v->figure;
    if (!f->present) continue;
    fprintf(out,
            "%s\n        \"%s\": {\"min_ns\": %.2f, \"median_ns\": %.2f, \"ratio\": %.4f, \"q1\": %.4f, "
            "\"q3\": %.4f, \"ns_byte\": %.4f, \"plain_ns_byte\": %.4f, \"factor\": %.4f",
            comma, bench_peers[p]->name, f->min_ns, f->median_ns, f->ratio, f->q1, f->q3, v->ns_byte,
            v->plain_ns_byte, v->factor);
    if (v->doubling > 0) fprintf(out, ", \"doubling\": %.4f", v->doubling);
    fputc('}', out);
    comma = ",";
  }
  fputs("\n      }", out);
}

/* The reasons and names are this program's own, without anything to escape. */
static void json_variant(FILE *out, const bench_variant_result *r) {
  fprintf(out, "\n    \"%s\": {\n      \"messages\": %zu, \"json_bytes\": %.1f, \"plain_bytes\": %.1f,",
          r->name, r->messages, r->bytes[BENCH_TEXT], r->bytes[BENCH_PLAIN]);
  fprintf(out, " \"superlinear\": %s,\n      \"left_out\": {", r->superlinear ? "true" : "false");
  const char *comma = "";
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    if (r->left_out[p] == NULL) continue;
    fprintf(out, "%s\"%s\": \"%s\"", comma, bench_peers[p]->name, r->left_out[p]);
    comma = ", ";
  }
  fputc('}', out);
  if (r->known) fprintf(out, ",\n      \"known\": \"%s\"", r->known);
  for (int d = 0; d < BENCH_DIRECTIONS; d++)
    if (r->figures[d][0].figure.present) json_direction(out, r, d);
  fputs("\n    }", out);
}

void bench_variants_json(FILE *out, const bench_variant_result *results, size_t count) {
  fputs("  \"variants\": {", out);
  for (size_t i = 0; i < count; i++) {
    if (i) fputc(',', out);
    json_variant(out, &results[i]);
  }
  fputs("\n  }\n", out);
}
