/* What is compared: one struct of functions for each peer.
 *
 * All peers but one live in this process, and that one is told what to do turn by turn (peer_cpp.c). All get the same memory: an arena block that each operation starts anew (a message and all that hangs
 * on it, or a document, lives there), and an output block that stays warm. Nothing is freed and, as long as
 * the blocks suffice, nothing comes from malloc.
 */
#ifndef BJVM_BENCH_PEER_H_
#define BJVM_BENCH_PEER_H_

#include "bjvm/cache.h"
#include "corpus.h"
#include "slices.h"

/* Blocks of this size hold the largest document of the corpus many times over; only what is used is ever
 * touched. */
enum { BENCH_BLOCK_SIZE = 16 << 20 };

typedef struct bench_memory {
  char *arena;   /* of an operation */
  char *scratch; /* of an operation that needs memory beside its result (Any) */
  char *output;
} bench_memory;

typedef enum bench_direction { BENCH_ENCODE, BENCH_DECODE, BENCH_DIRECTIONS } bench_direction;

typedef struct bench_peer {
  const char *name;
  const char *what; /* for the list of peers */
  bool json;        /* decode reads bench_case.json, and encode gives JSON; otherwise protobuf binary */
  bool has_encode;  /* otherwise only decode is there */
  bool in_ratio[BENCH_DIRECTIONS]; /* whether the tables have a ratio to it */
  bool documents;                  /* knows no schema and builds no hash tables: map and struct apart */
  const char *version;             /* of the library; NULL: bjvm's or upb's own */

  /* Why it cannot be had; NULL: it is there. No function: it always is. */
  const char *(*missing)(void);

  /* Makes what the peer needs once for a case. NULL on failure. `bcase`, `memory`, `cache` outlive the
   * state. */
  void *(*open)(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache);
  void (*close)(void *state);

  /* What is timed. NULL for a peer in a process of its own. */
  bench_operation *encode, *decode;
  /* Only of such a peer: bench_slices_cut and bench_slices_time over there, on the messages of the case. */
  bench_slices (*cut)(void *state, bench_direction direction, double batch_ns);
  double (*time)(void *state, bench_direction direction, const bench_slices *slices, size_t *retaken);

  /* One operation, for the checks. The text lies in the output block. */
  bool (*encode_one)(void *state, size_t index, bench_text *text);
  /* Reads `text` (JSON or binary, as `json` says) into a new message of `arena`; NULL for a peer whose result
   * is none. */
  upb_Message *(*decode_one)(void *state, bench_text text, upb_Arena *arena);
} bench_peer;

extern const bench_peer bench_bjvm, bench_bjvm_loaded, bench_bjvm_alias, bench_bjvm_padded;
extern const bench_peer bench_upb, bench_upb_binary;
extern const bench_peer bench_yyjson, bench_simdjson, bench_cpp;

/* All of them, bjvm first, NULL at the end. */
extern const bench_peer *const bench_peers[];
enum { BENCH_PEERS = 9 };

const char *bench_peer_missing(const bench_peer *peer);
/* In a process of its own: not for profilers, and its memory is not looked at. */
static inline bool bench_peer_remote(const bench_peer *peer) { return peer->time != NULL; }

#endif /* BJVM_BENCH_PEER_H_ */
