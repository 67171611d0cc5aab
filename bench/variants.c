/* Text variants and worst cases: made, checked and timed as the pools are, each beside the plain text.
 *
 * A variant is one case whose messages are two or three spans: plain, the text in question, and for worst cases that text
 * twice as long. Peers and spans take turns within each round, so that ratios between spans are as good as those
 * between peers. A peer that refuses a text, or reads another message, is left out and named; bjvm must not.
 */
#include <stdlib.h>
#include <string.h>

#include "upb/message/compare.h"
#include "variants.h"

enum {
  WORST_BYTES = 100000,
  SQUARE_BYTES = 20000, /* of those known to take quadratic time */
  ATTEMPTS = 3,         /* at a doubling that looks superlinear, before it is believed */
  FURTHER = 2,          /* times larger documents are asked then */
};

/* Twice the text should take twice the time; four times is quadratic. In between lie noise and what no longer fits a cache or
 * is no longer learned by the branch predictor. */
static const double superlinear = 3;

static const struct {
  const char *name, *what;
  const char *pool;
  bench_reshaping how;
} reshaped[] = {
    {"pretty_complex", "complex with line breaks and an indent of 2", "complex", BENCH_PRETTY},
    {"reversed_complex", "complex, members in reverse order", "complex", BENCH_REVERSED},
    {"unknown_complex", "complex, every third member unknown", "complex", BENCH_UNKNOWN},
    {"pretty_order", "order with line breaks and an indent of 2", "order", BENCH_PRETTY},
    {"reversed_order", "order, members in reverse order", "order", BENCH_REVERSED},
    {"unknown_order", "order, every third member unknown", "order", BENCH_UNKNOWN},
};
enum { RESHAPED = sizeof reshaped / sizeof *reshaped };

typedef struct span {
  size_t first, count;
} span;

/* An open variant. */
typedef struct variant {
  const char *name;
  const bench_worst *worst; /* NULL: a pool in other texts */
  size_t scale;             /* of its documents */
  bench_case bcase;
  bench_memory *memory;
  const bjvm_plan *plan;
  span spans[BENCH_SPANS]; /* BENCH_TWICE has none in a pool */
  void *states[BENCH_PEERS];
} variant;

const char *bench_variant_name(size_t index) {
  if (index < RESHAPED) return reshaped[index].name;
  return index - RESHAPED < bench_worst_count ? bench_worsts[index - RESHAPED].name : NULL;
}

const char *bench_variant_what(size_t index) {
  return index < RESHAPED ? reshaped[index].what : bench_worsts[index - RESHAPED].what;
}

const char *bench_variant_plain(size_t index) {
  return index < RESHAPED ? "compact, in the order of the fields" : bench_worsts[index - RESHAPED].plain;
}

/* -- Making --------------------------------------------------------------------------------------------- */

static size_t find_pool(const char *name) {
  size_t i = 0;
  while (strcmp(bench_case_name(i), name) != 0) i++;
  return i;
}

/* As many messages and texts again, behind those that are there. */
static void grow(bench_case *bcase, size_t count) {
  bcase->messages = realloc(bcase->messages, count * sizeof *bcase->messages);
  bcase->json = realloc(bcase->json, count * sizeof *bcase->json);
  bcase->binary = realloc(bcase->binary, count * sizeof *bcase->binary);
  if (!bcase->messages || !bcase->json || !bcase->binary) bench_die("out of memory", bcase->name);
  bcase->count = count;
}

static void make_plain_texts(bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  bench_run run;
  bench_selection none = {{false}};
  bench_run_open(&run, bcase, memory, cache, &none);
  bench_run_close(&run);
}

static void make_reshaped(variant *v, size_t index, const bench_schema *schema, bjvm_cache *cache) {
  bench_case *bcase = &v->bcase;
  bench_case_make(bcase, find_pool(reshaped[index].pool), schema, SIZE_MAX);
  make_plain_texts(bcase, v->memory, cache);
  size_t count = bcase->count;
  grow(bcase, 2 * count);
  bcase->ignore_unknown = reshaped[index].how == BENCH_UNKNOWN;
  for (size_t i = 0; i < count; i++) {
    bcase->messages[count + i] = bcase->messages[i];
    bcase->binary[count + i] = bcase->binary[i];
    bcase->json[count + i] = bench_reshape(bcase->json[i], bcase->def, reshaped[index].how, bcase->arena);
  }
  v->spans[BENCH_PLAIN] = (span){0, count};
  v->spans[BENCH_TEXT] = (span){count, count};
}

static void make_worst(variant *v, const bench_worst *worst, const bench_schema *schema) {
  bench_case *bcase = &v->bcase;
  *bcase = (bench_case){.name = worst->name, .schema = schema};
  bcase->ignore_unknown = worst->ignore_unknown;
  bcase->decode_only = !worst->encode;
  bcase->def = upb_DefPool_FindMessageByName(schema->pool, worst->type);
  if (bcase->def == NULL) bench_die("no such type", worst->type);
  bcase->table = upb_MessageDef_MiniTable(bcase->def);
  bcase->arena = upb_Arena_New();
  if (bcase->arena == NULL) bench_die("out of memory", worst->name);
  grow(bcase, BENCH_SPANS);
  v->worst = worst;
  for (size_t s = 0; s < BENCH_SPANS; s++) {
    bcase->binary[s] = (bench_text){NULL, 0};
    v->spans[s] = (span){s, 1};
  }
}

static void make_documents(variant *v) {
  bench_case *bcase = &v->bcase;
  size_t bytes = v->scale * (v->worst->known ? SQUARE_BYTES : WORST_BYTES);
  for (size_t s = 0; s < BENCH_SPANS; s++)
    bcase->json[s] = bench_worst_make(v->worst, s == BENCH_TWICE ? 2 * bytes : bytes, s == BENCH_PLAIN,
                                      bcase->def, v->plan, bcase->arena, &bcase->messages[s]);
}

/* -- Opening and checks --------------------------------------------------------------------------------- */

static bool takes_part(size_t peer, const bench_selection *selection) {
  const bench_peer *p = bench_peers[peer];
  return (selection->peers[peer] || p == &bench_bjvm) && p->json && !bench_peer_remote(p) &&
         !bench_peer_missing(p);
}

static bool invalid(const variant *v, size_t s) { return v->worst && v->worst->invalid && s != BENCH_PLAIN; }

/* NULL: right. */
static const char *check_reads(const variant *v, size_t peer, size_t index, bench_text text, bool wrong) {
  const bench_peer *p = bench_peers[peer];
  if (p->decode_one == NULL) {
    bool read = p->decode(v->states[peer], index, 1);
    return read == !wrong ? NULL : wrong ? "reads what is wrong" : "refuses the text";
  }
  upb_Arena *arena = upb_Arena_Init(v->memory->arena, BENCH_BLOCK_SIZE, NULL);
  const upb_Message *msg = p->decode_one(v->states[peer], text, arena);
  if (wrong) return msg ? "reads what is wrong" : NULL;
  if (msg == NULL) return "refuses the text";
  int options = kUpb_CompareOption_IncludeUnknownFields;
  bool same = upb_Message_IsEqual(msg, v->bcase.messages[index], v->bcase.table, options);
  return same ? NULL : "reads another message";
}

static const char *check_prints(const variant *v, size_t peer, size_t index) {
  bench_text text;
  if (!bench_peers[peer]->encode_one(v->states[peer], index, &text)) return "does not print the message";
  return check_reads(v, 0, index, text, false) ? "prints another message" : NULL;
}

/* The error must be where it is: at the last byte. */
static bool error_is_last(const variant *v, size_t index) {
  upb_Arena *arena = upb_Arena_Init(v->memory->arena, BENCH_BLOCK_SIZE, NULL);
  bench_text text = v->bcase.json[index];
  bjvm_error error;
  bjvm_status status =
      bjvm_decode(v->plan, text.data, text.size, upb_Message_New(v->bcase.table, arena), arena, NULL, &error);
  return status != BJVM_OK && error.offset == text.size - 1;
}

static const char *check_peer(const variant *v, size_t peer) {
  for (size_t s = 0; s < BENCH_SPANS; s++) {
    for (size_t i = v->spans[s].first; i < v->spans[s].first + v->spans[s].count; i++) {
      const char *why = check_reads(v, peer, i, v->bcase.json[i], invalid(v, s));
      bool prints = v->worst && v->worst->encode && bench_peers[peer]->has_encode;
      if (why == NULL && prints) why = check_prints(v, peer, i);
      if (why == NULL && peer == 0 && invalid(v, s) && !error_is_last(v, i))
        why = "finds the error elsewhere";
      if (why) return why;
    }
  }
  return NULL;
}

static void close_peer(variant *v, size_t peer) {
  if (v->states[peer]) bench_peers[peer]->close(v->states[peer]);
  v->states[peer] = NULL;
}

/* bjvm first: it reads what the others print. */
static void open_peers(variant *v, bjvm_cache *cache, const bench_selection *selection,
                       bench_variant_result *result) {
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    if (!takes_part(p, selection)) continue;
    v->states[p] = bench_peers[p]->open(&v->bcase, v->memory, cache);
    result->left_out[p] = v->states[p] ? check_peer(v, p) : "refuses the text";
    if (result->left_out[p] == NULL) continue;
    if (p == 0) bench_die(v->name, result->left_out[p]);
    close_peer(v, p);
  }
}

static void open_variant(variant *v, size_t index, size_t scale, const bench_schema *schema,
                         bench_memory *memory, bjvm_cache *cache) {
  *v = (variant){.name = bench_variant_name(index), .scale = scale, .memory = memory};
  if (index < RESHAPED) make_reshaped(v, index, schema, cache);
  else make_worst(v, &bench_worsts[index - RESHAPED], schema);
  v->plan = bjvm_cache_get(cache, v->bcase.def, NULL);
  if (v->plan == NULL) bench_die("no plan", v->name);
  if (v->worst) make_documents(v);
}

/* -- Timing --------------------------------------------------------------------------------------------- */

/* One peer on one span. */
typedef struct turn {
  size_t peer;
  bench_span span;
  const variant *variant;
  bench_operation *operation;
  bench_slices slices;
  double *samples;
} turn;

enum { TURNS = BENCH_PEERS * BENCH_SPANS };

typedef struct timing {
  turn turns[TURNS];
  size_t count;
  double *work;
  int rounds;
  size_t retaken;
} timing;

/* A text that is wrong has to be refused. */
static bool take(void *opaque, size_t first, size_t count) {
  const turn *t = opaque;
  void *state = t->variant->states[t->peer];
  first += t->variant->spans[t->span].first;
  if (!invalid(t->variant, t->span)) return t->operation(state, first, count);
  bool refused = true;
  for (size_t i = first; i < first + count; i++) refused &= !t->operation(state, i, 1);
  return refused;
}

static void add_turn(timing *t, const variant *v, size_t peer, size_t s, bench_direction direction,
                     const bench_settings *settings) {
  const bench_peer *p = bench_peers[peer];
  turn *new = &t->turns[t->count++];
  *new = (turn){.peer = peer, .span = (bench_span)s, .variant = v};
  new->operation = direction == BENCH_ENCODE ? p->encode : p->decode;
  new->samples = calloc((size_t)settings->rounds, sizeof(double));
  if (new->samples == NULL) bench_die("out of memory", v->name);
  new->slices = bench_slices_cut(take, new, v->spans[s].count, settings->batch_ns);
  if (new->slices.passes == 0) bench_die("an operation failed", p->name);
}

static const turn *find_turn(const timing *t, size_t peer, bench_span s) {
  for (size_t i = 0; i < t->count; i++)
    if (t->turns[i].peer == peer && t->turns[i].span == s) return &t->turns[i];
  return NULL;
}

static void run_rounds(timing *t) {
  uint64_t seed = 1;
  for (int round = 0; round < t->rounds; round++) {
    for (size_t i = t->count; i > 1; i--) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      size_t j = (size_t)(seed >> 33) % i;
      turn other = t->turns[j];
      t->turns[j] = t->turns[i - 1];
      t->turns[i - 1] = other;
    }
    for (size_t i = 0; i < t->count; i++) {
      turn *now = &t->turns[i];
      size_t count = now->variant->spans[now->span].count;
      now->samples[round] = bench_slices_time(take, now, count, &now->slices, &t->retaken);
      if (now->samples[round] < 0)
        bench_die("an operation failed while being timed", bench_peers[now->peer]->name);
    }
  }
}

static void start_timing(timing *t, const variant *v, bench_direction direction,
                         const bench_settings *settings) {
  *t = (timing){.rounds = settings->rounds};
  t->work = calloc((size_t)settings->rounds, sizeof(double));
  if (t->work == NULL) bench_die("out of memory", v->name);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    if (v->states[p] == NULL || (direction == BENCH_ENCODE && !bench_peers[p]->has_encode)) continue;
    for (size_t s = 0; s < BENCH_SPANS; s++)
      if (v->spans[s].count) add_turn(t, v, p, s, direction, settings);
  }
}

static void end_timing(timing *t) {
  for (size_t i = 0; i < t->count; i++) free(t->turns[i].samples);
  free(t->work);
}

/* -- Figures -------------------------------------------------------------------------------------------- */

static const double *sort_ratios(timing *t, const turn *a, const turn *b) {
  for (int i = 0; i < t->rounds; i++) t->work[i] = a->samples[i] / b->samples[i];
  bench_sort(t->work, t->rounds);
  return t->work;
}

static double median_ratio(timing *t, const turn *a, const turn *b) {
  return bench_quantile(sort_ratios(t, a, b), t->rounds, 0.5);
}

static double quantile(timing *t, const turn *a, double q) {
  memcpy(t->work, a->samples, (size_t)t->rounds * sizeof *t->work);
  bench_sort(t->work, t->rounds);
  return bench_quantile(t->work, t->rounds, q);
}

/* Mean bytes a message of a span: of the text that is read, or of what bjvm prints. */
static double mean_bytes(const variant *v, bench_span s, bench_direction direction) {
  size_t sum = 0;
  for (size_t i = v->spans[s].first; i < v->spans[s].first + v->spans[s].count; i++) {
    bench_text text = v->bcase.json[i];
    if (direction == BENCH_ENCODE && !bench_bjvm.encode_one(v->states[0], i, &text))
      bench_die("encoding failed", v->name);
    sum += text.size;
  }
  return v->spans[s].count ? (double)sum / (double)v->spans[s].count : 0;
}

static void summarize(timing *t, const variant *v, bench_direction direction, bench_variant_figure *figures) {
  double bytes = mean_bytes(v, BENCH_TEXT, direction), plain_bytes = mean_bytes(v, BENCH_PLAIN, direction);
  const turn *own = find_turn(t, 0, BENCH_TEXT);
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const turn *text = find_turn(t, p, BENCH_TEXT), *plain = find_turn(t, p, BENCH_PLAIN);
    const turn *twice = find_turn(t, p, BENCH_TWICE);
    if (text == NULL) continue;
    bench_variant_figure *f = &figures[p];
    f->figure = (bench_figure){.present = true, .mallocs = -1};
    f->figure.min_ns = quantile(t, text, 0);
    f->figure.median_ns = quantile(t, text, 0.5);
    f->figure.ratio = median_ratio(t, text, own);
    f->figure.q1 = bench_quantile(t->work, t->rounds, 0.25);
    f->figure.q3 = bench_quantile(t->work, t->rounds, 0.75);
    f->ns_byte = f->figure.median_ns / bytes;
    f->plain_ns_byte = quantile(t, plain, 0.5) / plain_bytes;
    f->factor = median_ratio(t, text, plain) * (v->worst ? plain_bytes / bytes : 1);
    if (twice) f->doubling = median_ratio(t, twice, text);
  }
}

/* What is superlinear is so in every attempt, while noise is not: the attempt with the least doubling counts. */
static void measure_direction(const variant *v, bench_direction direction, const bench_settings *settings,
                              bench_variant_result *result) {
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    timing t;
    start_timing(&t, v, direction, settings);
    run_rounds(&t);
    bench_variant_figure figures[BENCH_PEERS] = {{.factor = 0}};
    summarize(&t, v, direction, figures);
    result->retaken += t.retaken;
    end_timing(&t);
    bench_variant_figure *kept = result->figures[direction];
    if (attempt == 0 || figures[0].doubling < kept[0].doubling) memcpy(kept, figures, sizeof figures);
    if (kept[0].doubling <= superlinear) return;
    if (result->known) break;
  }
  result->superlinear = true;
}

static void measure_at(size_t index, size_t scale, const bench_schema *schema, bench_memory *memory,
                       bjvm_cache *cache, const bench_selection *selection, const bench_settings *settings,
                       bench_variant_result *result) {
  variant v;
  open_variant(&v, index, scale, schema, memory, cache);
  *result = (bench_variant_result){.name = v.name, .messages = v.spans[BENCH_TEXT].count};
  result->known = v.worst ? v.worst->known : NULL;
  for (size_t s = 0; s < BENCH_SPANS; s++) result->bytes[s] = mean_bytes(&v, (bench_span)s, BENCH_DECODE);
  open_peers(&v, cache, selection, result);
  if (v.worst && v.worst->encode) measure_direction(&v, BENCH_ENCODE, settings, result);
  measure_direction(&v, BENCH_DECODE, settings, result);
  for (size_t p = 0; p < BENCH_PEERS; p++) close_peer(&v, p);
  bench_case_free(&v.bcase);
}

/* What is superlinear is so further up too, while a cache is outgrown but once. */
void bench_variant_measure(size_t index, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache,
                           const bench_selection *selection, const bench_settings *settings,
                           bench_variant_result *result) {
  measure_at(index, 1, schema, memory, cache, selection, settings, result);
  if (!result->superlinear || result->known) return;
  bench_selection none = {{false}};
  bench_variant_result further;
  measure_at(index, FURTHER, schema, memory, cache, &none, settings, &further);
  result->superlinear = further.superlinear;
}
