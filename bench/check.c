/* Opening a case, and the checks before anything is timed: a fast wrong answer is no answer.
 *
 * Every message goes through every peer. What is read must equal the message that was printed
 * (upb_Message_IsEqual); the ways of bjvm must agree byte for byte; what others print must give the same
 * message when bjvm reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "upb/message/compare.h"

const bench_peer *const bench_peers[BENCH_PEERS + 1] = {
    &bench_bjvm,       &bench_bjvm_loaded, &bench_bjvm_alias, &bench_bjvm_padded, &bench_upb,
    &bench_upb_binary, &bench_yyjson,      &bench_simdjson,   &bench_cpp,         NULL,
};

const char *bench_peer_missing(const bench_peer *peer) { return peer->missing ? peer->missing() : NULL; }

static _Noreturn void fail(const bench_run *run, size_t peer, size_t index, const char *what) {
  char where[160];
  snprintf(where, sizeof where, "case %s, message %zu, peer %s", run->bcase->name, index,
           bench_peers[peer]->name);
  bench_die(what, where);
}

/* -- Opening -------------------------------------------------------------------------------------------- */

static bench_text keep(const bench_run *run, bench_text text) {
  char *copy = upb_Arena_Malloc(run->bcase->arena, text.size + BENCH_PADDING);
  if (copy == NULL) bench_die("out of memory", run->bcase->name);
  memcpy(copy, text.data, text.size);
  memset(copy + text.size, 0, BENCH_PADDING);
  return (bench_text){copy, text.size};
}

/* The texts that all peers read: JSON from bjvm, binary from upb. */
static void make_texts(const bench_run *run, size_t peer, bench_text *texts) {
  for (size_t i = 0; i < run->bcase->count; i++) {
    bench_text text;
    if (!bench_peers[peer]->encode_one(run->states[peer], i, &text)) fail(run, peer, i, "encoding failed");
    texts[i] = keep(run, text);
  }
}

void bench_run_open(bench_run *run, bench_case *bcase, bench_memory *memory, bjvm_cache *cache,
                    const bench_selection *selection) {
  *run = (bench_run){.bcase = bcase, .memory = memory, .cache = cache};
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    const bench_peer *peer = bench_peers[p];
    bool makes_texts = peer == &bench_bjvm || peer == &bench_upb_binary;
    if (bench_peer_missing(peer) || !(selection->peers[p] || makes_texts)) continue;
    run->states[p] = peer->open(bcase, memory, cache);
    if (run->states[p] == NULL) fail(run, p, 0, "cannot be opened");
    if (makes_texts) make_texts(run, p, peer->json ? bcase->json : bcase->binary);
    if (selection->peers[p] || peer == &bench_bjvm) continue;
    peer->close(run->states[p]);
    run->states[p] = NULL;
  }
}

void bench_run_close(bench_run *run) {
  for (size_t p = 0; p < BENCH_PEERS; p++)
    if (run->states[p]) bench_peers[p]->close(run->states[p]);
}

/* -- Checks --------------------------------------------------------------------------------------------- */

/* `reader` reads `text` and finds message `index` in it, or `peer` is to blame. */
static void check_reads(const bench_run *run, size_t reader, size_t peer, size_t index, bench_text text,
                        const char *what) {
  upb_Arena *arena = upb_Arena_Init(run->memory->arena, BENCH_BLOCK_SIZE, NULL);
  const upb_Message *msg = bench_peers[reader]->decode_one(run->states[reader], text, arena);
  int options = kUpb_CompareOption_IncludeUnknownFields;
  if (msg == NULL || !upb_Message_IsEqual(msg, run->bcase->messages[index], run->bcase->table, options))
    fail(run, peer, index, what);
}

static void check_encode(const bench_run *run, size_t peer, size_t index) {
  const bench_peer *p = bench_peers[peer];
  bench_text text;
  if (!p->encode_one(run->states[peer], index, &text)) fail(run, peer, index, "encoding failed");
  if (p == &bench_bjvm || p == &bench_bjvm_loaded) {
    const bench_text *want = &run->bcase->json[index];
    if (text.size != want->size || memcmp(text.data, want->data, text.size) != 0)
      fail(run, peer, index, "encoding gave other bytes than the plan from the cache");
  } else if (p->json) {
    check_reads(run, 0, peer, index, text, "bjvm does not find the message in its text");
  }
}

static void check_message(const bench_run *run, size_t peer, size_t index) {
  const bench_peer *p = bench_peers[peer];
  bench_text text = p->json ? run->bcase->json[index] : run->bcase->binary[index];
  if (p->has_encode) check_encode(run, peer, index);
  if (p->decode_one) check_reads(run, peer, peer, index, text, "decoding gave another message");
}

void bench_run_check(const bench_run *run) {
  for (size_t p = 0; p < BENCH_PEERS; p++) {
    if (run->states[p] == NULL) continue;
    for (size_t i = 0; i < run->bcase->count; i++) check_message(run, p, i);
    if (bench_peer_remote(bench_peers[p])) continue;
    if (!bench_peers[p]->decode(run->states[p], 0, run->bcase->count)) fail(run, p, 0, "decoding all failed");
  }
}
