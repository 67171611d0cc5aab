/* The tables for people and the JSON for programs.
 *
 * Tables are Markdown that also reads well as it is. A ratio is the time of the peer by the time of bjvm, so
 * more is better for bjvm; the geometric means of yyjson and simdjson leave out the cases whose decode builds
 * hash tables, which those do not do.
 */
#include <math.h>
#include <string.h>

#include "bjvm/plan.h"
#include "variants.h"

static const char *const direction_names[BENCH_DIRECTIONS] = {"encode", "decode"};

/* -- Geometric means ------------------------------------------------------------------------------------ */

typedef enum choice { ALL, WITHOUT_MAPS, MAPS_ONLY } choice;

static bool chosen(const bench_result *result, choice which) {
  bool maps = strcmp(result->name, "map") == 0 || strcmp(result->name, "struct") == 0;
  return which == ALL || maps == (which == MAPS_ONLY);
}

/* 0: nothing to take the mean of. */
static double geomean(const bench_result *results, size_t count, int direction, size_t peer, choice which,
                      bool alias) {
  double sum = 0;
  int n = 0;
  for (size_t i = 0; i < count; i++) {
    const bench_figure *f = &results[i].figures[direction][peer];
    double ratio = alias ? f->alias_ratio : f->ratio;
    if (!f->present || ratio <= 0 || !chosen(&results[i], which)) continue;
    sum += log(ratio);
    n++;
  }
  return n ? exp(sum / n) : 0;
}

/* How far the median of bjvm lies above its minimum, on average: 0 on a machine with nothing else to do. */
static double noise(const bench_result *results, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    for (int d = 0; d < BENCH_DIRECTIONS; d++)
      sum += results[i].figures[d][0].median_ns / results[i].figures[d][0].min_ns - 1;
  return count ? sum / (double)(count * BENCH_DIRECTIONS) : 0;
}

static size_t retaken(const bench_result *results, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += results[i].retaken;
  return sum;
}

/* -- What was measured ---------------------------------------------------------------------------------- */

static void cpu_model(char *out, size_t size) {
  char line[256];
  snprintf(out, size, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL) return;
  while (fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (colon == NULL || strncmp(line, "model name", 10) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(out, size, "%s", colon + 2);
    break;
  }
  fclose(file);
}

/* -- Tables --------------------------------------------------------------------------------------------- */

static void times_row(FILE *out, const bench_result *result, int direction) {
  fprintf(out, "| %-10s | %9.0f |", result->name, result->json_bytes);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const bench_figure *f = &result->figures[direction][p];
    if (f->present) fprintf(out, " %11.1f |", f->median_ns);
    else fprintf(out, " %11s |", "-");
  }
  fputc('\n', out);
}

static void ratio_row(FILE *out, const bench_result *result, int direction) {
  fprintf(out, "| %-10s |", result->name);
  for (size_t p = 1; p < BENCH_PEERS; p++) {
    const bench_figure *f = &result->figures[direction][p];
    if (!bench_peers[p]->in_ratio[direction]) continue;
    char text[64] = "-";
    if (f->present) snprintf(text, sizeof text, "%.2f [%.2f %.2f]", f->ratio, f->q1, f->q3);
    fprintf(out, " %21s |", text);
  }
  fputc('\n', out);
}

static void rule(FILE *out, int columns, int width) {
  for (int i = 0; i < columns; i++) {
    fputs(" ", out);
    for (int j = 1; j < width; j++) fputc('-', out);
    fputs(": |", out);
  }
  fputc('\n', out);
}

static void times_table(FILE *out, const bench_result *results, size_t count, int direction) {
  fprintf(out, "\n## %s: median ns per message\n\n| %-10s | %9s |", direction_names[direction], "case",
          "JSON B");
  for (size_t p = 0; p < BENCH_PEERS; p++) fprintf(out, " %11s |", bench_peers[p]->name);
  fputs("\n| :--------- | --------: |", out);
  rule(out, BENCH_PEERS, 11);
  for (size_t i = 0; i < count; i++) times_row(out, &results[i], direction);
}

static void geomean_row(FILE *out, const bench_result *results, size_t count, int direction, const char *name,
                        choice which) {
  fprintf(out, "| %-10s |", name);
  for (size_t p = 1; p < BENCH_PEERS; p++) {
    if (!bench_peers[p]->in_ratio[direction]) continue;
    double mean = geomean(results, count, direction, p, which, false);
    char text[64] = "-";
    if (mean > 0) snprintf(text, sizeof text, "%.2f", mean);
    fprintf(out, " %21s |", text);
  }
  fputc('\n', out);
}

static void ratio_table(FILE *out, const bench_result *results, size_t count, int direction) {
  int columns = 0;
  fprintf(out, "\n## %s: time of the peer / time of bjvm, median of rounds [quartiles]\n\n| %-10s |",
          direction_names[direction], "case");
  for (size_t p = 1; p < BENCH_PEERS; p++) {
    if (!bench_peers[p]->in_ratio[direction]) continue;
    fprintf(out, " %21s |", bench_peers[p]->name);
    columns++;
  }
  fputs("\n| :--------- |", out);
  rule(out, columns, 21);
  for (size_t i = 0; i < count; i++) ratio_row(out, &results[i], direction);
  geomean_row(out, results, count, direction, "geomean", ALL);
  geomean_row(out, results, count, direction, "  no maps", WITHOUT_MAPS);
  geomean_row(out, results, count, direction, "  maps", MAPS_ONLY);
}

/* bjvm_alias against the rest, for who reads with aliasing. */
static void alias_line(FILE *out, const bench_result *results, size_t count) {
  fputs("\nWith BJVM_DECODE_ALIAS, geometric means (no maps / maps):", out);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    double without = geomean(results, count, BENCH_DECODE, p, WITHOUT_MAPS, true);
    double maps = geomean(results, count, BENCH_DECODE, p, MAPS_ONLY, true);
    if (without > 0 || maps > 0) fprintf(out, " %s %.2f / %.2f", bench_peers[p]->name, without, maps);
    if (p == BENCH_PEERS - 1) fputc('\n', out);
  }
}

static void memory_table(FILE *out, const bench_result *results, size_t count) {
  fputs("\n## decode: bytes taken from the arena, mean\n\n", out);
  fputs("| case       |   binary B |       bjvm | bjvm_alias |        upb | upb_binary | bjvm / binary |\n",
        out);
  fputs("| :--------- | ---------: | ---------: | ---------: | ---------: | ---------: | ------------: |\n",
        out);
  static const bench_peer *const columns[] = {&bench_bjvm, &bench_bjvm_alias, &bench_upb, &bench_upb_binary};
  for (size_t i = 0; i < count; i++) {
    double bytes[4] = {0};
    fprintf(out, "| %-10s | %10.0f |", results[i].name, results[i].binary_bytes);
    for (size_t c = 0; c < 4; c++) {
      for (size_t p = 0; p < BENCH_PEERS; p++)
        if (bench_peers[p] == columns[c]) bytes[c] = results[i].figures[BENCH_DECODE][p].arena_bytes;
      if (bytes[c] > 0) fprintf(out, " %10.0f |", bytes[c]);
      else fprintf(out, " %10s |", "-");
    }
    if (bytes[3] > 0) fprintf(out, " %13.2f |\n", bytes[0] / bytes[3]);
    else fprintf(out, " %13s |\n", "-");
  }
}

/* With an arena block and an output block of the caller's that suffice, nothing should call malloc. */
static void mallocs_line(FILE *out, const bench_result *results, size_t count) {
  if (!bench_allocations_counted) {
    fputs("\nCalls of malloc are not counted in this build.\n", out);
    return;
  }
  fputs("\nCalls of malloc an operation, warm:", out);
  const char *comma = "";
  for (size_t i = 0; i < count; i++) {
    for (int d = 0; d < BENCH_DIRECTIONS; d++) {
      for (size_t p = 0; p < BENCH_PEERS; p++) {
        const bench_figure *f = &results[i].figures[d][p];
        if (!f->present || f->mallocs <= 0) continue;
        fprintf(out, "%s %s %s %s %.2f (%.0f bytes)", comma, bench_peers[p]->name, results[i].name,
                direction_names[d], f->mallocs, f->malloc_bytes);
        comma = ",";
      }
    }
  }
  fputs(*comma ? "; all others none.\n" : " none, of any peer.\n", out);
}

static void heading(FILE *out, const bench_result *results, size_t count, const bench_settings *settings) {
  char cpu[128];
  cpu_model(cpu, sizeof cpu);
  fprintf(out, "# bjvm benchmark\n\n");
  fprintf(
      out,
      "- machine: %s, pinned to cpu %d; noise (median over minimum of bjvm): %.1f %%, %zu slices retaken\n",
      cpu, settings->cpu, noise(results, count) * 100, retaken(results, count));
  fprintf(out, "- bjvm: %s, %s; dispatch %s, kernels %s\n", BENCH_COMPILER, BENCH_FLAGS, bjvm_dispatch_name(),
          settings->kernels);
  fprintf(out, "- upb: %s, %s\n", BENCH_UPB_VERSION, BENCH_UPB_BUILD);
  fprintf(out, "- %d rounds, each measurement at least %.1f ms\n", settings->rounds,
          settings->batch_ns / 1e6);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const bench_peer *peer = bench_peers[p];
    const char *missing = bench_peer_missing(peer);
    fprintf(out, "- peer %s: %s", peer->name, peer->what);
    if (peer->version) fprintf(out, "; version %s", peer->version);
    fprintf(out, "%s%s\n", missing ? "; MISSING: " : "", missing ? missing : "");
  }
}

void bench_report_table(FILE *out, const bench_result *results, size_t count,
                        const bench_settings *settings) {
  heading(out, results, count, settings);
  for (int d = 0; d < BENCH_DIRECTIONS && count; d++) {
    times_table(out, results, count, d);
    ratio_table(out, results, count, d);
  }
  if (count == 0) return;
  alias_line(out, results, count);
  memory_table(out, results, count);
  mallocs_line(out, results, count);
}

/* -- JSON ----------------------------------------------------------------------------------------------- */

/* `text` is ours or the compiler's: quotes and backslashes are all there is to escape. */
static void json_string(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    if ((unsigned char)*text >= 0x20) fputc(*text, out);
  }
  fputc('"', out);
}

static void json_member(FILE *out, const char *name, const char *value, const char *end) {
  fprintf(out, "    \"%s\": ", name);
  json_string(out, value);
  fprintf(out, "%s\n", end);
}

/* What each peer is and does, and why those that are missing are. */
static void json_peers(FILE *out) {
  fputs("    \"peers\": {", out);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const bench_peer *peer = bench_peers[p];
    fprintf(out, "%s\n      \"%s\": {\"what\": ", p ? "," : "", peer->name);
    json_string(out, peer->what);
    if (peer->version) {
      fputs(", \"version\": ", out);
      json_string(out, peer->version);
    }
    fprintf(out, ", \"encode\": %s, \"decode\": true}", peer->has_encode ? "true" : "false");
  }
  fputs("\n    },\n    \"missing\": {", out);
  const char *comma = "";
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const char *missing = bench_peer_missing(bench_peers[p]);
    if (missing == NULL) continue;
    fprintf(out, "%s\"%s\": ", comma, bench_peers[p]->name);
    json_string(out, missing);
    comma = ", ";
  }
  fputs("}\n", out);
}

static void json_meta(FILE *out, const bench_result *results, size_t count, const bench_settings *settings) {
  char cpu[128];
  cpu_model(cpu, sizeof cpu);
  fputs("  \"meta\": {\n", out);
  json_member(out, "compiler", BENCH_COMPILER, ",");
  json_member(out, "flags", BENCH_FLAGS, ",");
  json_member(out, "upb", BENCH_UPB_VERSION, ",");
  json_member(out, "upb_build", BENCH_UPB_BUILD, ",");
  json_member(out, "cpu", cpu, ",");
  json_member(out, "dispatch", bjvm_dispatch_name(), ",");
  json_member(out, "kernels", settings->kernels, ",");
  fprintf(out, "    \"pinned_to\": %d,\n    \"rounds\": %d,\n    \"batch_ms\": %g,\n", settings->cpu,
          settings->rounds, settings->batch_ns / 1e6);
  fprintf(out, "    \"quick\": %s,\n    \"noise\": %.4f,\n    \"retaken\": %zu,\n",
          settings->quick ? "true" : "false", noise(results, count), retaken(results, count));
  fputs("    \"cases\": [", out);
  for (size_t i = 0; i < count; i++) fprintf(out, "%s\"%s\"", i ? ", " : "", results[i].name);
  fputs("],\n", out);
  json_peers(out);
  fputs("  },\n", out);
}

static void json_figures(FILE *out, const bench_figure *figures, int direction) {
  const char *comma = "";
  fprintf(out, ",\n      \"%s\": {", direction_names[direction]);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const bench_figure *f = &figures[p];
    if (!f->present) continue;
    fprintf(out,
            "%s\n        \"%s\": {\"min_ns\": %.2f, \"median_ns\": %.2f, \"ratio\": %.4f, \"q1\": %.4f, "
            "\"q3\": %.4f",
            comma, bench_peers[p]->name, f->min_ns, f->median_ns, f->ratio, f->q1, f->q3);
    if (f->alias_ratio > 0) fprintf(out, ", \"alias_ratio\": %.4f", f->alias_ratio);
    if (f->arena_bytes > 0) fprintf(out, ", \"arena_bytes\": %.1f", f->arena_bytes);
    if (f->mallocs >= 0)
      fprintf(out, ", \"mallocs\": %.3f, \"malloc_bytes\": %.1f", f->mallocs, f->malloc_bytes);
    fputc('}', out);
    comma = ",";
  }
  fputs("\n      }", out);
}

static void json_cases(FILE *out, const bench_result *results, size_t count) {
  fputs("  \"cases\": {", out);
  for (size_t i = 0; i < count; i++) {
    const bench_result *r = &results[i];
    fprintf(out, "%s\n    \"%s\": {\n      \"messages\": %zu, \"json_bytes\": %.1f, \"binary_bytes\": %.1f",
            i ? "," : "", r->name, r->messages, r->json_bytes, r->binary_bytes);
    for (int d = 0; d < BENCH_DIRECTIONS; d++) json_figures(out, r->figures[d], d);
    fputs("\n    }", out);
  }
  fputs("\n  },\n", out);
}

/* One object of geometric means: a peer's name and its mean. Documents only: just such peers, over map and struct. */
static void json_means(FILE *out, const bench_result *results, size_t count, const char *name, bool maps,
                       bool alias, const char *end) {
  fprintf(out, "  \"%s\": {", name);
  for (int d = 0; d < BENCH_DIRECTIONS; d++) {
    const char *comma = "";
    fprintf(out, "%s\n    \"%s\": {", d ? "," : "", direction_names[d]);
    for (size_t p = 0; p < BENCH_PEERS; p++) {
      bool documents = bench_peers[p]->documents;
      if (maps && !documents) continue;
      double mean = geomean(results, count, d, p, maps ? MAPS_ONLY : documents ? WITHOUT_MAPS : ALL, alias);
      if (mean <= 0) continue;
      fprintf(out, "%s\n      \"%s\": %.4f", comma, bench_peers[p]->name, mean);
      comma = ",";
    }
    fputs("\n    }", out);
  }
  fprintf(out, "\n  }%s\n", end);
}

/* Over all cases; for peers that build no hash tables over all but map and struct, and those have a mean of their
 * own. `_alias` is the same against bjvm_alias. */
static void json_geomeans(FILE *out, const bench_result *results, size_t count, const char *end) {
  json_means(out, results, count, "geomean", false, false, ",");
  json_means(out, results, count, "geomean_maps", true, false, ",");
  json_means(out, results, count, "geomean_alias", false, true, ",");
  json_means(out, results, count, "geomean_maps_alias", true, true, end);
}

void bench_report_json(FILE *out, const bench_result *results, size_t count,
                       const bench_variant_result *variants, size_t variant_count,
                       const bench_settings *settings) {
  fputs("{\n", out);
  json_meta(out, results, count, settings);
  json_cases(out, results, count);
  json_geomeans(out, results, count, variant_count ? "," : "");
  if (variant_count) bench_variants_json(out, variants, variant_count);
  fputs("}\n", out);
}
