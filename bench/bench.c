/* The benchmark program: options, then case by case make, check, measure; at the end the report.
 *
 * corpus.c makes the messages, peer_*.c are what is compared, check.c looks at every output before measure.c
 * times it. One process, pinned to one cpu. threads.c and cold.c measure what has no place in the tables. variants.c measures other texts
 * and worst cases. Exit status: 0 done, 1 a check failed or something is missing or superlinear, 2 bad usage.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "variants.h"

static const char usage[] =
    "Usage: bench [options]\n"
    "\n"
    "Measures bjvm and its peers on a corpus of messages and prints tables. Every output is checked first.\n"
    "\n"
    "      --cases A,B       only these cases, or `all` (default: all; none with --variants); text\n"
    "                        variants go by their names too\n"
    "      --variants        text variants and worst cases: other texts of the same messages, and documents\n"
    "                        made to be hard, each also at twice its size. Beside bjvm the peers upb, "
    "yyjson\n"
    "                        and simdjson, unless --peers says otherwise. Status 1 if twice the text takes\n"
    "                        more than three times as long\n"
    "      --rounds N        rounds, 1 to 1000 (default 31; 15 with --quick)\n"
    "      --quick           shorter measurements: all cases within a minute\n"
    "      --peers A,B       only these peers beside bjvm (default: all)\n"
    "      --json FILE       also writes everything as JSON\n"
    "      --cpu N           pins to cpu N (default: the one it starts on)\n"
    "      --list            lists cases and peers\n"
    "      --callgrind CASE DIR N\n"
    "                        no checks and no times: N operations of a case (or `all`) in direction DIR\n"
    "                        (encode, decode or both) on its first N messages, over and over if it has "
    "fewer,\n"
    "                        each in one call of the function bench_operations, for a profiler. Prints the\n"
    "                        build and a line for each call: case, direction, operations, bytes of text\n"
    "      --peer NAME       which peer --callgrind runs (default bjvm)\n"
    "      --threads N CASE DIR\n"
    "                        throughput of N threads (2 to 64) that share a plan, against one\n"
    "      --cold            costs of compile, load, bind and first use\n"
    "      --schema FILE     the FileDescriptorSet for --cold (default: that of the corpus)\n"
    "      --type NAME       the message type for --cold (default: three of the corpus)\n"
    "      --write CASE BYTES FILE\n"
    "                        writes the messages of a case to FILE.json, one a line, and FILE.binpb, each "
    "behind\n"
    "                        its length as a varint, over and over until there are BYTES of JSON\n"
    "      --write-pool CASE DIR N\n"
    "                        the same to DIR/CASE.json and DIR/CASE.binpb, the first N messages once\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 1 a check failed or a worst case is superlinear, 2 bad usage.\n";

typedef enum mode { MEASURE, LIST, PROFILE, THREADS, COLD, WRITE } mode;

typedef struct options {
  mode mode;
  bench_settings settings;
  bench_selection selection;
  bool selected[BENCH_MAX_CASES];
  bool variants[BENCH_MAX_CASES];
  bench_selection variant_peers;
  const char *json;
  int cpu;                           /* -1: the one at hand */
  bool directions[BENCH_DIRECTIONS]; /* of --callgrind and --threads */
  size_t operations;                 /* of --callgrind; messages of --write-pool */
  size_t profile_peer;
  int threads;
  const char *schema, *type; /* of --cold; NULL: the usual */
  size_t write_bytes;        /* of --write; 0: each message once */
  const char *write_name;
  const char *write_folder; /* of --write-pool */
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
    if (bench_peer_missing(bench_peers[i])) bad_usage(bench_peer_missing(bench_peers[i]), name);
    return i;
  }
  bad_usage("no such peer", name);
}

static bool select_variant(options *o, const char *name, size_t size) {
  for (size_t i = 0; bench_variant_name(i); i++) {
    if (strlen(bench_variant_name(i)) != size || memcmp(bench_variant_name(i), name, size) != 0) continue;
    return o->variants[i] = true;
  }
  return false;
}

static void select_all_variants(options *o) {
  for (size_t i = 0; bench_variant_name(i); i++) o->variants[i] = true;
}

static void select_cases(options *o, const char *names) {
  for (;;) {
    size_t size = strcspn(names, ",");
    if (size == 3 && memcmp(names, "all", 3) == 0) memset(o->selected, true, sizeof o->selected);
    else if (!select_variant(o, names, size)) o->selected[find_case(names, size)] = true;
    if (names[size] == 0) break;
    names += size + 1;
  }
}

/* One name, or `all`. */
static void select_case(options *o, const char *name) {
  memset(o->selected, strcmp(name, "all") == 0, sizeof o->selected);
  if (!o->selected[0]) o->selected[find_case(name, strlen(name))] = true;
}

static void select_peers(options *o, const char *names) {
  char name[32];
  for (;;) {
    size_t size = strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", (int)size, names);
    o->selection.peers[find_peer(name)] = true;
    if (names[size] == 0) break;
    names += size + 1;
  }
}

static void read_direction(options *o, const char *name) {
  bool both = strcmp(name, "both") == 0 && o->mode == PROFILE;
  o->directions[BENCH_ENCODE] = both || strcmp(name, "encode") == 0;
  o->directions[BENCH_DECODE] = both || strcmp(name, "decode") == 0;
  if (!o->directions[BENCH_ENCODE] && !o->directions[BENCH_DECODE]) bad_usage("no direction", name);
}

static void read_profile(options *o, int argc, char **argv, int *i) {
  o->mode = PROFILE;
  select_case(o, next_argument(argc, argv, i));
  read_direction(o, next_argument(argc, argv, i));
  o->operations = (size_t)number(next_argument(argc, argv, i), 1, 1000000000);
}

static void read_threads(options *o, int argc, char **argv, int *i) {
  o->mode = THREADS;
  o->threads = (int)number(next_argument(argc, argv, i), 2, 64);
  const char *name = next_argument(argc, argv, i);
  o->selected[find_case(name, strlen(name))] = true;
  read_direction(o, next_argument(argc, argv, i));
}

static void read_write(options *o, int argc, char **argv, int *i) {
  o->mode = WRITE;
  const char *name = next_argument(argc, argv, i);
  o->selected[find_case(name, strlen(name))] = true;
  o->write_bytes = (size_t)number(next_argument(argc, argv, i), 1, 4000000000);
  o->write_name = next_argument(argc, argv, i);
}

static void read_write_pool(options *o, int argc, char **argv, int *i) {
  o->mode = WRITE;
  o->write_name = next_argument(argc, argv, i);
  o->selected[find_case(o->write_name, strlen(o->write_name))] = true;
  o->write_folder = next_argument(argc, argv, i);
  o->operations = (size_t)number(next_argument(argc, argv, i), 1, BENCH_POOL_SIZE);
}

static void read_option(options *o, int argc, char **argv, int *i) {
  const char *arg = argv[*i];
  if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
    fputs(usage, stdout);
    exit(0);
  } else if (strcmp(arg, "--cases") == 0) {
    select_cases(o, next_argument(argc, argv, i));
  } else if (strcmp(arg, "--variants") == 0) {
    select_all_variants(o);
  } else if (strcmp(arg, "--rounds") == 0) {
    o->settings.rounds = (int)number(next_argument(argc, argv, i), 1, 1000);
  } else if (strcmp(arg, "--quick") == 0) {
    o->settings.quick = true;
  } else if (strcmp(arg, "--json") == 0) {
    o->json = next_argument(argc, argv, i);
  } else if (strcmp(arg, "--cpu") == 0) {
    o->cpu = (int)number(next_argument(argc, argv, i), 0, CPU_SETSIZE - 1);
  } else if (strcmp(arg, "--list") == 0) {
    o->mode = LIST;
  } else if (strcmp(arg, "--peers") == 0) {
    select_peers(o, next_argument(argc, argv, i));
  } else if (strcmp(arg, "--threads") == 0) {
    read_threads(o, argc, argv, i);
  } else if (strcmp(arg, "--write") == 0) {
    read_write(o, argc, argv, i);
  } else if (strcmp(arg, "--write-pool") == 0) {
    read_write_pool(o, argc, argv, i);
  } else if (strcmp(arg, "--cold") == 0) {
    o->mode = COLD;
  } else if (strcmp(arg, "--schema") == 0) {
    o->schema = next_argument(argc, argv, i);
  } else if (strcmp(arg, "--type") == 0) {
    o->type = next_argument(argc, argv, i);
  } else if (strcmp(arg, "--callgrind") == 0) {
    read_profile(o, argc, argv, i);
  } else if (strcmp(arg, "--peer") == 0) {
    o->profile_peer = find_peer(next_argument(argc, argv, i));
  } else {
    bad_usage("unknown argument", arg);
  }
}

static bool any(const bool *flags, size_t count) { return memchr(flags, true, count) != NULL; }

/* The peers that the variants are about, when none are named: those that read the same text, each in one way. */
static void select_variant_peers(options *o) {
  static const bench_peer *const usual[] = {&bench_upb, &bench_yyjson, &bench_simdjson};
  o->variant_peers = o->selection;
  if (any(o->selection.peers, BENCH_PEERS)) return;
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    for (size_t p = 0; p < BENCH_PEERS; p++) o->variant_peers.peers[p] |= bench_peers[p] == usual[i];
}

static void read_options(options *o, int argc, char **argv) {
  *o = (options){.cpu = -1};
  for (int i = 1; i < argc; i++) read_option(o, argc, argv, &i);
  select_variant_peers(o);
  if (any(o->variants, BENCH_MAX_CASES) && o->mode != MEASURE && o->mode != LIST)
    bad_usage("cannot be had together", "text variants and another mode");
  if (!any(o->selected, BENCH_MAX_CASES) && !any(o->variants, BENCH_MAX_CASES))
    memset(o->selected, true, sizeof o->selected);
  if (!any(o->selection.peers, BENCH_PEERS)) memset(o->selection.peers, true, BENCH_PEERS);
  if (o->mode == PROFILE && o->directions[BENCH_ENCODE] && !bench_peers[o->profile_peer]->has_encode)
    bad_usage("has no encode", bench_peers[o->profile_peer]->name);
  if (o->mode == PROFILE && bench_peer_remote(bench_peers[o->profile_peer]))
    bad_usage("runs in another process", bench_peers[o->profile_peer]->name);
  if ((o->schema || o->type) && o->mode != COLD)
    bad_usage("goes with --cold", o->schema ? "--schema" : "--type");
  if (o->schema && !o->type) bad_usage("needs --type", "--schema");
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
  for (size_t i = 0; bench_variant_name(i); i++)
    printf("variant %s: %s\n", bench_variant_name(i), bench_variant_what(i));
  for (size_t i = 0; i < BENCH_PEERS; i++) {
    const char *missing = bench_peer_missing(bench_peers[i]);
    printf("peer %s: %s%s%s\n", bench_peers[i]->name, bench_peers[i]->what, missing ? "; missing: " : "",
           missing ? missing : "");
  }
}

void bench_memory_make(bench_memory *memory) {
  memory->arena = malloc(BENCH_BLOCK_SIZE);
  memory->scratch = malloc(BENCH_BLOCK_SIZE);
  memory->output = malloc(BENCH_BLOCK_SIZE);
  if (!memory->arena || !memory->scratch || !memory->output) bench_die("out of memory", "blocks");
}

void bench_memory_free(bench_memory *memory) {
  free(memory->arena);
  free(memory->scratch);
  free(memory->output);
}

static void ask_kernels(bench_settings *settings, bjvm_cache *cache) {
  static const char name[] = "bench.Tag";
  const bjvm_plan *plan = bjvm_cache_find(cache, name, strlen(name), NULL);
  snprintf(settings->kernels, sizeof settings->kernels, "%s", plan ? bjvm_plan_kernels(plan) : "unknown");
}

/* What must be the same for instruction counts to be. */
static void print_build(bjvm_cache *cache) {
  bench_settings settings;
  ask_kernels(&settings, cache);
  printf("build %s, %s, %s, dispatch %s, kernels %s, upb: %s\n", BENCH_COMPILER, BENCH_MACHINE, BENCH_FLAGS,
         bjvm_dispatch_name(), settings.kernels, BENCH_UPB_VERSION);
}

static void profile_run(const bench_run *run, const options *o, bench_direction direction) {
  const bench_case *bcase = run->bcase;
  const bench_peer *peer = bench_peers[o->profile_peer];
  const bench_text *texts = peer->json ? bcase->json : bcase->binary;
  size_t bytes = 0;
  for (size_t i = 0; i < o->operations; i++) bytes += texts[i % bcase->count].size;
  /* Once, so that nothing is compiled lazily any more. */
  bool ok = (direction == BENCH_ENCODE ? peer->encode : peer->decode)(run->states[o->profile_peer], 0,
                                                                      bcase->count);
  if (!ok || !bench_operations(run, o->profile_peer, direction, o->operations))
    bench_die("an operation failed", bcase->name);
  printf("%s %s %zu %zu\n", bcase->name, direction == BENCH_ENCODE ? "encode" : "decode", o->operations,
         bytes);
}

static void profile(const options *o, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache) {
  bench_selection selection = {{false}};
  selection.peers[o->profile_peer] = true;
  print_build(cache);
  for (size_t i = 0; bench_case_name(i); i++) {
    if (!o->selected[i]) continue;
    bench_case bcase;
    bench_run run;
    bench_case_make(&bcase, i, schema, o->operations);
    bench_run_open(&run, &bcase, memory, cache, &selection);
    for (int d = 0; d < BENCH_DIRECTIONS; d++)
      if (o->directions[d]) profile_run(&run, o, (bench_direction)d);
    bench_run_close(&run);
    bench_case_free(&bcase);
  }
}

/* The one case that --threads and --write are about, with its texts. */
static void open_selected(const options *o, bench_case *bcase, bench_run *run, const bench_schema *schema,
                          bench_memory *memory, bjvm_cache *cache) {
  bench_selection none = {{false}};
  size_t index = 0;
  while (!o->selected[index]) index++;
  bench_case_make(bcase, index, schema, o->operations ? o->operations : SIZE_MAX);
  bench_run_open(run, bcase, memory, cache, &none);
}

static void threads(const options *o, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache) {
  bench_case bcase;
  bench_run run;
  open_selected(o, &bcase, &run, schema, memory, cache);
  bench_threads(&bcase, o->directions[BENCH_ENCODE] ? BENCH_ENCODE : BENCH_DECODE, o->threads,
                o->settings.rounds, cache);
  bench_run_close(&run);
  bench_case_free(&bcase);
}

static FILE *create(const options *o, const char *ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s%s", o->write_folder ? o->write_folder : "", o->write_folder ? "/" : "",
           o->write_name, ending);
  FILE *file = fopen(path, "wb");
  if (file == NULL) bench_die("cannot write", path);
  return file;
}

static void put_varint(FILE *file, size_t value) {
  for (; value >= 0x80; value >>= 7) fputc((int)(value & 0x7f) | 0x80, file);
  fputc((int)value, file);
}

static void write_streams(const options *o, const bench_schema *schema, bench_memory *memory,
                          bjvm_cache *cache) {
  bench_case bcase;
  bench_run run;
  open_selected(o, &bcase, &run, schema, memory, cache);
  FILE *json = create(o, ".json"), *binary = create(o, ".binpb");
  size_t count = 0;
  for (size_t written = 0; o->write_bytes ? written < o->write_bytes : count < bcase.count; count++) {
    bench_text line = bcase.json[count % bcase.count], message = bcase.binary[count % bcase.count];
    fwrite(line.data, 1, line.size, json);
    fputc('\n', json);
    put_varint(binary, message.size);
    fwrite(message.data, 1, message.size, binary);
    written += line.size + 1;
  }
  bool bad = ferror(json) || ferror(binary);
  bad |= fclose(json) != 0;
  bad |= fclose(binary) != 0;
  if (bad) bench_die("cannot write", o->write_name);
  printf("%s %zu\n", upb_MessageDef_FullName(bcase.def), count);
  bench_run_close(&run);
  bench_case_free(&bcase);
}

static size_t measure_cases(const options *o, const bench_schema *schema, bench_memory *memory,
                            bjvm_cache *cache, bench_result *results) {
  size_t count = 0;
  for (size_t i = 0; bench_case_name(i); i++) {
    if (!o->selected[i]) continue;
    bench_case bcase;
    bench_run run;
    fprintf(stderr, "%s\n", bench_case_name(i));
    bench_case_make(&bcase, i, schema, SIZE_MAX);
    bench_run_open(&run, &bcase, memory, cache, &o->selection);
    bench_run_check(&run);
    bench_measure(&run, &o->settings, &results[count++]);
    bench_run_close(&run);
    bench_case_free(&bcase);
  }
  return count;
}

static size_t measure_variants(const options *o, const bench_schema *schema, bench_memory *memory,
                               bjvm_cache *cache, bench_variant_result *results) {
  size_t count = 0;
  for (size_t i = 0; bench_variant_name(i); i++) {
    if (!o->variants[i]) continue;
    fprintf(stderr, "%s\n", bench_variant_name(i));
    bench_variant_measure(i, schema, memory, cache, &o->variant_peers, &o->settings, &results[count++]);
  }
  return count;
}

/* False: a worst case that is not known to be is superlinear. */
static bool linear(const bench_variant_result *results, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (results[i].superlinear && !results[i].known) return false;
  return true;
}

static bool measure(options *o, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache) {
  static bench_result results[BENCH_MAX_CASES];
  static bench_variant_result variants[BENCH_MAX_CASES];
  FILE *json = NULL;
  if (o->json && (json = fopen(o->json, "w")) == NULL) bench_die("cannot write", o->json);
  o->settings.cpu = pin(o->cpu);
  if (o->settings.cpu < 0) fprintf(stderr, "bench: not pinned to a cpu\n");
  ask_kernels(&o->settings, cache);
  size_t count = measure_cases(o, schema, memory, cache, results);
  size_t variant_count = measure_variants(o, schema, memory, cache, variants);
  bench_report_table(stdout, results, count, &o->settings);
  if (variant_count) bench_variants_table(stdout, variants, variant_count);
  if (json) {
    bench_report_json(json, results, count, variants, variant_count, &o->settings);
    if (fclose(json) != 0) bench_die("cannot write", o->json);
  }
  return linear(variants, variant_count);
}

int main(int argc, char **argv) {
  options o;
  read_options(&o, argc, argv);
  if (o.mode == LIST) {
    list();
    return 0;
  }
  bench_schema schema;
  bench_memory memory;
  bench_schema_load(&schema, o.schema ? o.schema : BENCH_CORPUS);
  bench_memory_make(&memory);
  bool ok = true;
  bjvm_cache *cache = bjvm_cache_new(schema.pool);
  if (cache == NULL) bench_die("out of memory", "plan cache");
  switch (o.mode) {
    case PROFILE: profile(&o, &schema, &memory, cache); break;
    case THREADS: threads(&o, &schema, &memory, cache); break;
    case COLD: bench_cold(&schema, o.type, o.settings.rounds, &memory); break;
    case WRITE: write_streams(&o, &schema, &memory, cache); break;
    case MEASURE:
    case LIST: ok = measure(&o, &schema, &memory, cache); break;
  }
  bjvm_cache_free(cache);
  bench_memory_free(&memory);
  bench_schema_free(&schema);
  return fflush(stdout) == 0 && ok ? 0 : 1;
}
