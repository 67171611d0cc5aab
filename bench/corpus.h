/* The messages that are timed. */
#ifndef BJVM_BENCH_CORPUS_H_
#define BJVM_BENCH_CORPUS_H_

#include "text.h"
#include "upb/mem/arena.h"
#include "upb/message/message.h"
#include "upb/mini_table/message.h"
#include "upb/reflection/def.h"

enum { BENCH_POOL_SIZE = 1024 }; /* different messages of a case, except where there is but one document */

/* The schema of the corpus. `set` is the FileDescriptorSet it came from. */
typedef struct bench_schema {
  upb_DefPool *pool;
  bench_text set;
} bench_schema;

/* One case: its messages and, once check.c has made them, their texts. */
typedef struct bench_case {
  const char *name;
  const bench_schema *schema;
  const upb_MessageDef *def;
  const upb_MiniTable *table;
  upb_Arena *arena;
  size_t count;
  upb_Message **messages;
  bench_text *json;    /* as bjvm prints it; what every peer reads; BENCH_PADDING zero bytes follow each */
  bench_text *binary;  /* as upb prints it; they do here too */
  bool ignore_unknown; /* the texts have members that the schema lacks: read with the option to skip them */
  bool decode_only;    /* the texts need not be JSON, and nothing is printed */
} bench_case;

/* Loads a FileDescriptorSet from `path`. Ends the program on failure, as all of the functions here do. */
void bench_schema_load(bench_schema *schema, const char *path);
void bench_schema_free(bench_schema *schema);

/* The name of the case with that index, NULL past the end. */
const char *bench_case_name(size_t index);

/* Makes the messages of case `index`, `limit` at most: the same ones in every run and on every machine. */
void bench_case_make(bench_case *bcase, size_t index, const bench_schema *schema, size_t limit);
void bench_case_free(bench_case *bcase);

/* Says why and ends the program with status 1. */
_Noreturn void bench_die(const char *what, const char *detail);

#endif /* BJVM_BENCH_CORPUS_H_ */
