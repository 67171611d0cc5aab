/* simdjson for C: what peer_simdjson.c needs of it, in peer_simdjson.cc. */
#ifndef BJVM_BENCH_PEER_SIMDJSON_H_
#define BJVM_BENCH_PEER_SIMDJSON_H_

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simdjson_state simdjson_state;

/* Parses `count` texts into documents of their own, which the printing functions then print. NULL on failure. */
simdjson_state *simdjson_state_new(const bench_text *texts, size_t count);
void simdjson_state_free(simdjson_state *state);

/* Parses texts[first] and on, each in the place of the one before. False: one is no JSON. */
bool simdjson_read(simdjson_state *state, const bench_text *texts, size_t first, size_t count);

/* Prints documents, each in the place of the one before; *text is where the last one lies until the next call. */
void simdjson_print(simdjson_state *state, size_t first, size_t count, bench_text *text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_BENCH_PEER_SIMDJSON_H_ */
