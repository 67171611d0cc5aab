/* What it costs to get to the first message: compile, load, bind, and the cache's first plan and use.
 *
 * Everything is done anew each round, on arenas that start in a warm block; the cache takes its memory from
 * malloc, as it does in programs. Costs are also given by message type and by field: all types that can be
 * reached from the root, entries of maps apart.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "bjvm/bjvm.h"
#include "upb/message/array.h"
#include "upb/reflection/message.h"

enum { MAX_TYPES = 1024 };

typedef enum phase {
  COMPILE,
  LOAD,      /* and verify */
  BIND,      /* to the mini tables of the DefPool */
  CACHE_GET, /* in an empty cache: the root alone is compiled */
  FIRST_USE, /* one message printed and read: what it has is compiled as it is met */
  WARM_USE,  /* the same once more */
  CACHE_ALL, /* every type that is left */
  PHASES
} phase;

typedef struct subject {
  const upb_MessageDef *root;
  const upb_MessageDef *types[MAX_TYPES];
  size_t type_count, field_count;
  size_t used_types, used_fields; /* that the cache has compiled after the first use */
  size_t file_size;
  upb_Arena *arena;
  const upb_Message *msg; /* with a message of each type the root has fields of */
  double *samples[PHASES];
  double median[PHASES]; /* ns */
} subject;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* -- Types ---------------------------------------------------------------------------------------------- */

static void add_type(subject *s, const upb_MessageDef *type) {
  for (size_t i = 0; i < s->type_count; i++)
    if (s->types[i] == type) return;
  if (s->type_count == MAX_TYPES) bench_die("too many types", upb_MessageDef_FullName(s->root));
  s->types[s->type_count++] = type;
}

/* The list grows while it is walked. */
static void find_types(subject *s) {
  add_type(s, s->root);
  for (size_t i = 0; i < s->type_count; i++) {
    for (int f = 0; f < upb_MessageDef_FieldCount(s->types[i]); f++) {
      const upb_MessageDef *sub = upb_FieldDef_MessageSubDef(upb_MessageDef_Field(s->types[i], f));
      if (sub) add_type(s, sub);
    }
  }
}

static void drop_map_entries(subject *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->type_count; i++) {
    if (upb_MessageDef_IsMapEntry(s->types[i])) continue;
    s->types[kept++] = s->types[i];
    s->field_count += (size_t)upb_MessageDef_FieldCount(s->types[i]);
  }
  s->type_count = kept;
}

/* -- A message ------------------------------------------------------------------------------------------ */

/* An empty message of the type can be printed: no required fields, and none of those that have no JSON
 * without content. */
static bool may_be_empty(const upb_MessageDef *type) {
  upb_WellKnown known = upb_MessageDef_WellKnownType(type);
  if (known == kUpb_WellKnown_Any || known == kUpb_WellKnown_Value) return false;
  for (int i = 0; i < upb_MessageDef_FieldCount(type); i++)
    if (upb_FieldDef_IsRequired(upb_MessageDef_Field(type, i))) return false;
  return true;
}

static void add_member(upb_Message *msg, const upb_FieldDef *field, upb_Arena *arena) {
  const upb_MessageDef *sub = upb_FieldDef_MessageSubDef(field);
  if (sub == NULL || upb_FieldDef_IsMap(field) || !may_be_empty(sub)) return;
  if (upb_FieldDef_IsRepeated(field)) {
    upb_MessageValue item = {.msg_val = upb_Message_New(upb_MessageDef_MiniTable(sub), arena)};
    if (!upb_Array_Append(upb_Message_Mutable(msg, field, arena).array, item, arena))
      bench_die("out of memory", "message");
  } else {
    upb_Message_Mutable(msg, field, arena);
  }
}

static void make_message(subject *s) {
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(s->root), s->arena);
  for (int i = 0; i < upb_MessageDef_FieldCount(s->root); i++)
    add_member(msg, upb_MessageDef_Field(s->root, i), s->arena);
  s->msg = msg;
}

/* -- Phases --------------------------------------------------------------------------------------------- */

/* From *start to now; and starts anew. */
static double lap(double *start) {
  double now = now_ns(), elapsed = now - *start;
  *start = now;
  return elapsed;
}

static void time_file(subject *s, const bench_memory *memory, int round) {
  upb_Arena *arena = upb_Arena_Init(memory->arena, BENCH_BLOCK_SIZE, NULL);
  const void *file;
  const bjvm_image *image;
  const bjvm_plan *plan;
  const char *name = upb_MessageDef_FullName(s->root);
  double start = now_ns();
  if (bjvm_compile(&s->root, 1, 0, arena, &file, &s->file_size, NULL) != BJVM_OK)
    bench_die("does not compile", name);
  s->samples[COMPILE][round] = lap(&start);
  if (bjvm_image_load(file, s->file_size, arena, &image, NULL) != BJVM_OK) bench_die("does not load", name);
  s->samples[LOAD][round] = lap(&start);
  if (bjvm_image_bind(image, NULL, upb_MessageDef_MiniTable(s->root), arena, &plan, NULL) != BJVM_OK)
    bench_die("does not bind", name);
  s->samples[BIND][round] = lap(&start);
}

static void use(const subject *s, const bjvm_plan *plan, const bench_memory *memory) {
  const char *name = upb_MessageDef_FullName(s->root);
  bjvm_output out = bjvm_output_fixed(memory->output, BENCH_BLOCK_SIZE);
  upb_Arena *arena = upb_Arena_Init(memory->arena, BENCH_BLOCK_SIZE, NULL);
  upb_Message *msg = upb_Message_New(upb_MessageDef_MiniTable(s->root), arena);
  if (bjvm_encode(plan, s->msg, NULL, &out, NULL) != BJVM_OK) bench_die("does not print", name);
  if (bjvm_decode(plan, out.data, out.size, msg, arena, NULL, NULL) != BJVM_OK)
    bench_die("does not read", name);
}

static void count_used(subject *s, const bjvm_cache *cache) {
  s->used_types = s->used_fields = 0;
  for (size_t i = 0; i < s->type_count; i++) {
    if (!bjvm_cache_has(cache, s->types[i])) continue;
    s->used_types++;
    s->used_fields += (size_t)upb_MessageDef_FieldCount(s->types[i]);
  }
}

static void time_cache(subject *s, const upb_DefPool *pool, const bench_memory *memory, int round) {
  bjvm_cache *cache = bjvm_cache_new(pool);
  if (cache == NULL) bench_die("out of memory", "plan cache");
  double start = now_ns();
  const bjvm_plan *plan = bjvm_cache_get(cache, s->root, NULL);
  if (plan == NULL) bench_die("no plan", upb_MessageDef_FullName(s->root));
  s->samples[CACHE_GET][round] = lap(&start);
  use(s, plan, memory);
  s->samples[FIRST_USE][round] = lap(&start);
  use(s, plan, memory);
  s->samples[WARM_USE][round] = lap(&start);
  count_used(s, cache);
  start = now_ns();
  for (size_t i = 0; i < s->type_count; i++)
    if (bjvm_cache_get(cache, s->types[i], NULL) == NULL)
      bench_die("no plan", upb_MessageDef_FullName(s->types[i]));
  s->samples[CACHE_ALL][round] =
      lap(&start) + s->samples[CACHE_GET][round] + s->samples[FIRST_USE][round] - s->samples[WARM_USE][round];
  bjvm_cache_free(cache);
}

/* -- All of it ------------------------------------------------------------------------------------------ */

static void measure(subject *s, const bench_schema *schema, const char *type, int rounds,
                    const bench_memory *memory) {
  *s = (subject){.root = upb_DefPool_FindMessageByName(schema->pool, type), .arena = upb_Arena_New()};
  if (s->root == NULL) bench_die("the schema has no such type", type);
  find_types(s);
  drop_map_entries(s);
  make_message(s);
  for (int p = 0; p < PHASES; p++) {
    s->samples[p] = calloc((size_t)rounds, sizeof(double));
    if (s->samples[p] == NULL) bench_die("out of memory", type);
  }
  for (int i = 0; i < rounds; i++) {
    time_file(s, memory, i);
    time_cache(s, schema->pool, memory, i);
  }
  for (int p = 0; p < PHASES; p++) {
    bench_sort(s->samples[p], rounds);
    s->median[p] = bench_quantile(s->samples[p], rounds, 0.5);
    free(s->samples[p]);
  }
  upb_Arena_Free(s->arena);
}

static void print_cost(double ns, size_t types, size_t fields) {
  printf(" %8.1f %8.0f %6.0f |", ns / 1e3, ns / (double)types, ns / (double)fields);
}

static void print_files(const subject *subjects, size_t count) {
  printf("Plan files. Each cost: us in all, ns a message type, ns a field.\n\n"
         "| type                                     | types | fields | file B | B/field |            "
         "compile       |      load and verify     |   MB/s |           bind           |\n"
         "| :--------------------------------------- | ----: | -----: | -----: | ------: | "
         "-----------------------: | -----------------------: | -----: | -----------------------: |\n");
  for (size_t i = 0; i < count; i++) {
    const subject *s = &subjects[i];
    printf("| %-40s | %5zu | %6zu | %6zu | %7.1f |", upb_MessageDef_FullName(s->root), s->type_count,
           s->field_count, s->file_size, (double)s->file_size / (double)s->field_count);
    print_cost(s->median[COMPILE], s->type_count, s->field_count);
    print_cost(s->median[LOAD], s->type_count, s->field_count);
    printf(" %6.0f |", (double)s->file_size / s->median[LOAD] * 1e3);
    print_cost(s->median[BIND], s->type_count, s->field_count);
    putchar('\n');
  }
}

/* The first use is of a message that has one of each type the root has fields of; what the use itself costs
 * is in `warm`. */
static void print_cache(const subject *subjects, size_t count) {
  printf("\nThe cache. Each cost: us in all, ns a type, ns a field, of the types made by then.\n\n"
         "| type                                     |     plan of the root     | types | fields |  first "
         "message with it   |  warm us |         all types        |\n"
         "| :--------------------------------------- | -----------------------: | ----: | -----: | "
         "-----------------------: | -------: | -----------------------: |\n");
  for (size_t i = 0; i < count; i++) {
    const subject *s = &subjects[i];
    printf("| %-40s |", upb_MessageDef_FullName(s->root));
    print_cost(s->median[CACHE_GET], 1, (size_t)upb_MessageDef_FieldCount(s->root));
    printf(" %5zu | %6zu |", s->used_types, s->used_fields);
    print_cost(s->median[CACHE_GET] + s->median[FIRST_USE], s->used_types, s->used_fields);
    printf(" %8.1f |", s->median[WARM_USE] / 1e3);
    print_cost(s->median[CACHE_ALL], s->type_count, s->field_count);
    putchar('\n');
  }
}

void bench_cold(const bench_schema *schema, const char *type, int rounds, bench_memory *memory) {
  static const char *const usual[] = {"bench.Wide", "bench.Complex", "google.protobuf.FileDescriptorSet"};
  size_t count = type ? 1 : sizeof usual / sizeof *usual;
  subject *subjects = calloc(count, sizeof *subjects);
  if (subjects == NULL) bench_die("out of memory", "types");
  memset(memory->arena, 0, 1 << 20); /* pages in */
  memset(memory->output, 0, 1 << 20);
  for (size_t i = 0; i < count; i++) measure(&subjects[i], schema, type ? type : usual[i], rounds, memory);
  printf("Medians of %d rounds.\n", rounds);
  print_files(subjects, count);
  print_cache(subjects, count);
  free(subjects);
}
