/* The benchmark program: options, then case by case make, check, measure; at the end the report.
 *
 * corpus.c makes the messages, peer_*.c are what is compared, check.c looks at every output before measure.c
 * times it. One process, pinned to one cpu. Exit status: 0 done, 1 a check failed or something is missing, 2
 * bad usage.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char usage[] =
    "Usage: bench [options]\n"
    "\n"
    "Measures bjvm and its peers on a corpus of messages and prints tables. Every output is checked first.\n"
    "\n"
    "      --cases A,B       only these cases (default: all)\n"
    "      --rounds N        rounds, 1 to 1000 (default 31; 15 with --quick)\n"
    "      --quick           shorter measurements: all cases within a minute\n"
    "      --json FILE       also writes everything as JSON\n"
    "      --cpu N           pins to cpu N (default: the one it starts on)\n"
    "      --list            lists cases and peers\n"
    "      --callgrind CASE DIR N\n"
    "                        no checks and no times: runs N operations of one case in direction DIR (encode "
    "or\n"
    "                        decode), in a function bench_operations, for a profiler\n"
    "      --peer NAME       which peer --callgrind runs (default bjvm)\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 1 a check failed, 2 bad usage.\n";

typedef struct options {
  bench_settings settings;
  bool selected[BENCH_MAX_CASES];
  bool some_selected;
  const char *json;
  int cpu; /* -1: the one at hand */
  bool list;
  size_t profile_count; /* 0: no --callgrind */
  size_t profile_case, profile_peer;
  bench_direction profile_direction;
} options;

/* -- Arguments ------------------------------------------------------------------------------------------ */

static _Noreturn void bad_usage(const char *what, const char *argument) {
  fprintf(stderr, "bench: %s: %s\n\n%s", what, argument, usage);
  exit(2);
}

static const char *next_argument(int argc, char **argv, int *i) {
  if (*i + 1 >= argc) bad_usage("needs an argument", argv[*i]);
  return argv[++*i];
}

static long number(const char *text, long lo, long hi) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < lo || value > hi) bad_usage("not a number in range", text);
  return value;
}

static size_t find_case(const char *name, size_t size) {
  for (size_t i = 0; bench_case_name(i); i++)
    if (strlen(bench_case_name(i)) == size && memcmp(bench_case_name(i), name, size) == 0) return i;
  bad_usage("no such case", name);
}

static size_t find_peer(const char *name) {
  for (size_t i = 0; i < BENCH_PEERS; i++) {
    if (strcmp(bench_peers[i]->name, name) != 0) continue;
    if (bench_peers[i]->missing) bad_usage(bench_peers[i]->missing, name);
    return i;
  }
  bad_usage("no such peer", name);
}

static void select_cases(options *o, const char *names) {
  for (;;) {
    size_t size = strcspn(names, ",");
    o->selected[find_case(names, size)] = true;
    if (names[size] == 0) break;
    names += size + 1;
  }
  o->some_selected = true;
}

static void read_profile(options *o, int argc, char **argv, int *i) {
  const char *name = next_argument(argc, argv, i);
  o->profile_case = find_case(name, strlen(name));
  const char *direction = next_argument(argc, argv, i);
  if (strcmp(direction, "encode") == 0) o->profile_direction = BENCH_ENCODE;
  else if (strcmp(direction, "decode") == 0) o->profile_direction = BENCH_DECODE;
  else bad_usage("neither encode nor decode", direction);
  o->profile_count = (size_t)number(next_argument(argc, argv, i), 1, 1000000000);
}

static void read_option(options *o, int argc, char **argv, int *i) {
  const char *arg = argv[*i];
  if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
    fputs(usage, stdout);
    exit(0);
  } else if (strcmp(arg, "--cases") == 0) {
    select_cases(o, next_argument(argc, argv, i));
  } else if (strcmp(arg, "--rounds") == 0) {
    o->settings.rounds = (int)number(next_argument(argc, argv, i), 1, 1000);
  } else if (strcmp(arg, "--quick") == 0) {
    o->settings.quick = true;
  } else if (strcmp(arg, "--json") == 0) {
    o->json = next_argument(argc, argv, i);
  } else if (strcmp(arg, "--cpu") == 0) {
    o->cpu = (int)number(next_argument(argc, argv, i), 0, CPU_SETSIZE - 1);
  } else if (strcmp(arg, "--list") == 0) {
    o->list = true;
  } else if (strcmp(arg, "--callgrind") == 0) {
    read_profile(o, argc, argv, i);
  } else if (strcmp(arg, "--peer") == 0) {
    o->profile_peer = find_peer(next_argument(argc, argv, i));
  } else {
    bad_usage("unknown argument", arg);
  }
}

static void read_options(options *o, int argc, char **argv) {
  *o = (options){.cpu = -1};
  for (int i = 1; i < argc; i++) read_option(o, argc, argv, &i);
  if (o->profile_count && o->profile_direction == BENCH_ENCODE && !bench_peers[o->profile_peer]->has_encode)
    bad_usage("has no encode", bench_peers[o->profile_peer]->name);
  if (o->settings.rounds == 0) o->settings.rounds = o->settings.quick ? 15 : 31;
  o->settings.batch_ns = o->settings.quick ? 2e6 : 3e6;
}

/* -- Work ----------------------------------------------------------------------------------------------- */

static int pin(int cpu) {
  cpu_set_t set;
  if (cpu < 0) cpu = sched_getcpu();
  if (cpu < 0) return -1;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? cpu : -1;
}

static void list(void) {
  for (size_t i = 0; bench_case_name(i); i++) printf("case %s\n", bench_case_name(i));
  for (size_t i = 0; i < BENCH_PEERS; i++)
    printf("peer %s: %s%s%s\n", bench_peers[i]->name, bench_peers[i]->what,
           bench_peers[i]->missing ? "; missing: " : "",
           bench_peers[i]->missing ? bench_peers[i]->missing : "");
}

static void make_memory(bench_memory *memory) {
  memory->arena = malloc(BENCH_BLOCK_SIZE);
  memory->scratch = malloc(BENCH_BLOCK_SIZE);
  memory->output = malloc(BENCH_BLOCK_SIZE);
  if (!memory->arena || !memory->scratch || !memory->output) bench_die("out of memory", "blocks");
}

static void free_memory(bench_memory *memory) {
  free(memory->arena);
  free(memory->scratch);
  free(memory->output);
}

static void ask_kernels(bench_settings *settings, bjvm_cache *cache) {
  static const char name[] = "bench.Tag";
  const bjvm_plan *plan = bjvm_cache_find(cache, name, strlen(name), NULL);
  snprintf(settings->kernels, sizeof settings->kernels, "%s", plan ? bjvm_plan_kernels(plan) : "unknown");
}

static void profile(const options *o, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache) {
  bench_case bcase;
  bench_run run;
  bench_case_make(&bcase, o->profile_case, schema);
  bench_run_open(&run, &bcase, memory, cache);
  /* Once, so that nothing is compiled lazily any more. */
  bool ok = bench_operations(&run, o->profile_peer, BENCH_DECODE, 1);
  if (!ok || !bench_operations(&run, o->profile_peer, o->profile_direction, o->profile_count))
    bench_die("an operation failed", bcase.name);
  bench_run_close(&run);
  bench_case_free(&bcase);
}

static size_t measure_cases(const options *o, const bench_schema *schema, bench_memory *memory,
                            bjvm_cache *cache, bench_result *results) {
  size_t count = 0;
  for (size_t i = 0; bench_case_name(i); i++) {
    if (o->some_selected && !o->selected[i]) continue;
    bench_case bcase;
    bench_run run;
    fprintf(stderr, "%s\n", bench_case_name(i));
    bench_case_make(&bcase, i, schema);
    bench_run_open(&run, &bcase, memory, cache);
    bench_run_check(&run);
    bench_measure(&run, &o->settings, &results[count++]);
    bench_run_close(&run);
    bench_case_free(&bcase);
  }
  return count;
}

static void measure(options *o, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache) {
  static bench_result results[BENCH_MAX_CASES];
  FILE *json = NULL;
  if (o->json && (json = fopen(o->json, "w")) == NULL) bench_die("cannot write", o->json);
  o->settings.cpu = pin(o->cpu);
  if (o->settings.cpu < 0) fprintf(stderr, "bench: not pinned to a cpu\n");
  ask_kernels(&o->settings, cache);
  size_t count = measure_cases(o, schema, memory, cache, results);
  bench_report_table(stdout, results, count, &o->settings);
  if (json) {
    bench_report_json(json, results, count, &o->settings);
    if (fclose(json) != 0) bench_die("cannot write", o->json);
  }
}

int main(int argc, char **argv) {
  options o;
  read_options(&o, argc, argv);
  if (o.list) {
    list();
    return 0;
  }
  bench_schema schema;
  bench_memory memory;
  bench_schema_load(&schema, BENCH_CORPUS);
  make_memory(&memory);
  bjvm_cache *cache = bjvm_cache_new(schema.pool);
  if (cache == NULL) bench_die("out of memory", "plan cache");
  if (o.profile_count) profile(&o, &schema, &memory, cache);
  else measure(&o, &schema, &memory, cache);
  bjvm_cache_free(cache);
  free_memory(&memory);
  bench_schema_free(&schema);
  return fflush(stdout) == 0 ? 0 : 1;
}
