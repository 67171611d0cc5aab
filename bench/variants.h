/* What the files about text variants and worst cases share: the same messages written otherwise (reshape.c), and documents
 * made to be as hard to read or to print as can be (worst.c). variants.c measures both, variants_report.c prints.
 */
#ifndef BJVM_BENCH_VARIANTS_H_
#define BJVM_BENCH_VARIANTS_H_

#include "bench.h"

/* The texts of a case: what it is compared with, itself, and itself twice as long (worst cases only). */
typedef enum bench_span { BENCH_PLAIN, BENCH_TEXT, BENCH_TWICE, BENCH_SPANS } bench_span;

/* -- reshape.c ------------------------------------------------------------------------------------------ */

typedef enum bench_reshaping { BENCH_PRETTY, BENCH_REVERSED, BENCH_UNKNOWN } bench_reshaping;

/* Writes `text`, compact and right JSON of a message of type `def`, anew: with line breaks and two blanks a level; with
 * the members of each object from the last to the first; with every third member of messages one that they do not
 * have. Memory comes from `arena`, BENCH_PADDING zero bytes follow. */
bench_text bench_reshape(bench_text text, const upb_MessageDef *def, bench_reshaping how, upb_Arena *arena);

/* -- worst.c -------------------------------------------------------------------------------------------- */

typedef struct bench_document bench_document; /* under construction */

typedef struct bench_worst {
  const char *name, *type;
  const char *what, *plain; /* for the list: the document, and what it is compared with */
  void (*fill)(bench_document *d, size_t bytes, bool plain);
  bool ignore_unknown;
  bool encode;  /* worth printing too */
  bool invalid; /* the last byte is wrong; the plain one is right */
  const char
      *known; /* why its time grows faster than its size, which is no failure then, and why it is smaller
                      * than the others; else NULL */
} bench_worst;

extern const bench_worst bench_worsts[];
extern const size_t bench_worst_count;

/* Makes a document of about `bytes`, and in *msg the message that it says. `plan` is that of its type. */
bench_text bench_worst_make(const bench_worst *worst, size_t bytes, bool plain, const upb_MessageDef *def,
                            const bjvm_plan *plan, upb_Arena *arena, upb_Message **msg);

/* -- variants.c ----------------------------------------------------------------------------------------- */

/* One peer in one direction. What is compared with the plain text is the time of a message where the messages are the
 * same, else the time of a byte. */
typedef struct bench_variant_figure {
  bench_figure figure; /* of BENCH_TEXT */
  double ns_byte, plain_ns_byte;
  double factor;   /* median of the rounds: as slow as that, by the plain text */
  double doubling; /* time of twice the text by that of the text; 0: not measured */
} bench_variant_figure;

typedef struct bench_variant_result {
  const char *name;
  size_t messages;
  double bytes[BENCH_SPANS];         /* mean of the texts */
  const char *left_out[BENCH_PEERS]; /* why a peer takes no part; NULL: it does, or was not asked to */
  const char *known;
  bool superlinear;
  size_t retaken;
  bench_variant_figure figures[BENCH_DIRECTIONS][BENCH_PEERS];
} bench_variant_result;

/* The name of a variant, NULL past the end, and what it is. */
const char *bench_variant_name(size_t index);
const char *bench_variant_what(size_t index);
/* What it is compared with. */
const char *bench_variant_plain(size_t index);

/* Makes, checks and measures variant `index` with the peers selected that can take part. */
void bench_variant_measure(size_t index, const bench_schema *schema, bench_memory *memory, bjvm_cache *cache,
                           const bench_selection *selection, const bench_settings *settings,
                           bench_variant_result *result);

/* -- variants_report.c ---------------------------------------------------------------------------------- */

void bench_variants_table(FILE *out, const bench_variant_result *results, size_t count);
/* The member `variants` of the JSON, without a comma. */
void bench_variants_json(FILE *out, const bench_variant_result *results, size_t count);

#endif /* BJVM_BENCH_VARIANTS_H_ */
