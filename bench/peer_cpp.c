/* The C++ JSON codec of libprotobuf as a peer, in a process of its own: the library is built for a newer C library than
 * this program may run with. cpp_process.cc is that process. It is started for each case, on the cpu that this one
 * is pinned to, and told over pipes what to do, a measurement at a time, so that its turns lie between
 * those of the others; it takes the times itself, as slices.c does here.
 *
 * Where it is: in BENCH_CPP_PROGRAM, a file that the build makes on demand, started by BENCH_CPP_LOADER.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"
#include "remote.h"
#include "upb/wire/decode.h"

#ifdef BENCH_CPP_PROGRAM
extern char **environ;

typedef struct cpp_state {
  const bench_case *bcase;
  bench_memory *memory;
  pid_t process;
  FILE *to, *from;
} cpp_state;

/* -- The process ---------------------------------------------------------------------------------------- */

static bool start(cpp_state *state) {
  static char *const arguments[] = {BENCH_CPP_LOADER, "--library-path", BENCH_CPP_LIBRARIES,
                                    BENCH_CPP_PROGRAM, NULL};
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) return false;
  if (pipe2(from, O_CLOEXEC) != 0) return close(to[0]), close(to[1]), false;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  bool ok = posix_spawn(&state->process, BENCH_CPP_LOADER, &actions, NULL, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  state->to = fdopen(to[1], "wb");
  state->from = fdopen(from[0], "rb");
  return ok && state->to && state->from;
}

/* Its input ends, and so does the process. False: badly. */
static bool stop(cpp_state *state) {
  int status = -1;
  if (state->to) fclose(state->to);
  if (state->from) fclose(state->from);
  return state->process > 0 && waitpid(state->process, &status, 0) == state->process && status == 0;
}

static void close_state(void *opaque) {
  cpp_state *state = opaque;
  stop(state);
  free(state);
}

static const char *find_missing(void) {
  if (access(BENCH_CPP_PROGRAM, X_OK) != 0) return "not built: ninja -C build bench/cpp_process";
  cpp_state state = {0};
  bool ok = start(&state);
  ok &= stop(&state);
  return ok ? NULL : "bench/cpp_process does not run here";
}

static const char *missing(void) {
  static const char *answer;
  static bool asked;
  if (!asked) answer = find_missing();
  asked = true;
  return answer;
}

/* Sends the request and its bytes, takes the reply; what follows that is left to the caller. */
static bool ask(cpp_state *state, const remote_request *request, const char *bytes, remote_reply *reply) {
  return fwrite(request, sizeof *request, 1, state->to) == 1 &&
         fwrite(bytes, 1, request->bytes, state->to) == request->bytes && fflush(state->to) == 0 &&
         fread(reply, sizeof *reply, 1, state->from) == 1 && reply->ok;
}

/* The bytes that the reply announces lie in the output block. */
static bool ask_text(cpp_state *state, const remote_request *request, const char *bytes, bench_text *text) {
  remote_reply reply;
  if (!ask(state, request, bytes, &reply) || reply.bytes > BENCH_BLOCK_SIZE) return false;
  *text = (bench_text){state->memory->output, reply.bytes};
  return fread(state->memory->output, 1, reply.bytes, state->from) == reply.bytes;
}

/* -- A case --------------------------------------------------------------------------------------------- */

static bool send_text(FILE *to, bench_text text) {
  return fwrite(&text.size, sizeof text.size, 1, to) == 1 && fwrite(text.data, 1, text.size, to) == text.size;
}

static bool send_case(cpp_state *state) {
  const bench_case *bcase = state->bcase;
  const char *type = upb_MessageDef_FullName(bcase->def);
  remote_request request = {.command = REMOTE_OPEN, .number = bcase->count, .bytes = strlen(type) + 1};
  bool ok = fwrite(&request, sizeof request, 1, state->to) == 1 &&
            fwrite(type, 1, request.bytes, state->to) == request.bytes;
  for (size_t i = 0; ok && i < bcase->count; i++)
    ok = send_text(state->to, bcase->binary[i]) && send_text(state->to, bcase->json[i]);
  remote_reply reply;
  return ok && fflush(state->to) == 0 && fread(&reply, sizeof reply, 1, state->from) == 1 && reply.ok;
}

static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  (void)cache;
  cpp_state *state = calloc(1, sizeof *state);
  if (state == NULL) return NULL;
  state->bcase = bcase;
  state->memory = memory;
  signal(SIGPIPE, SIG_IGN); /* a process that has died shows in what is read from it */
  if (start(state) && send_case(state)) return state;
  close_state(state);
  return NULL;
}

/* -- Operations ----------------------------------------------------------------------------------------- */

static bool encode_one(void *opaque, size_t index, bench_text *text) {
  remote_request request = {.command = REMOTE_ENCODE, .number = index};
  return ask_text(opaque, &request, "", text);
}

/* It sends in binary what it has read; upb makes a message of that, to be compared. */
static upb_Message *decode_one(void *opaque, bench_text text, upb_Arena *arena) {
  cpp_state *state = opaque;
  const bench_case *bcase = state->bcase;
  remote_request request = {.command = REMOTE_DECODE, .bytes = text.size};
  bench_text binary;
  if (!ask_text(state, &request, text.data, &binary)) return NULL;
  upb_Message *msg = upb_Message_New(bcase->table, arena);
  const upb_ExtensionRegistry *extensions = upb_DefPool_ExtensionRegistry(bcase->schema->pool);
  bool ok =
      upb_Decode(binary.data, binary.size, msg, bcase->table, extensions, 0, arena) == kUpb_DecodeStatus_Ok;
  return ok ? msg : NULL;
}

static bench_slices cut(void *opaque, bench_direction direction, double batch_ns) {
  remote_request request = {.command = REMOTE_CUT, .decode = direction == BENCH_DECODE, .batch_ns = batch_ns};
  remote_reply reply;
  return ask(opaque, &request, "", &reply) ? reply.slices : (bench_slices){0};
}

static double measure(void *opaque, bench_direction direction, const bench_slices *slices, size_t *retaken) {
  remote_request request = {.command = REMOTE_TIME, .decode = direction == BENCH_DECODE, .slices = *slices};
  remote_reply reply;
  if (!ask(opaque, &request, "", &reply)) return -1;
  *retaken += reply.retaken;
  return reply.ns;
}
#else
#define BENCH_CPP_VERSION NULL
static const char *missing(void) {
  return "no libprotobuf for C++ when this was built, or no C++ compiler: run bench/fetch_peers.sh (not with "
         "sanitizers)";
}
static void *open_state(const bench_case *bcase, bench_memory *memory, bjvm_cache *cache) {
  return (void)bcase, (void)memory, (void)cache, NULL;
}
static void close_state(void *state) { (void)state; }
static bool encode_one(void *state, size_t index, bench_text *text) {
  return (void)state, (void)index, (void)text, false;
}
static upb_Message *decode_one(void *state, bench_text text, upb_Arena *arena) {
  return (void)state, (void)text, (void)arena, NULL;
}
static bench_slices cut(void *state, bench_direction direction, double batch_ns) {
  return (void)state, (void)direction, (void)batch_ns, (bench_slices){0};
}
static double measure(void *state, bench_direction direction, const bench_slices *slices, size_t *retaken) {
  return (void)state, (void)direction, (void)slices, (void)retaken, -1;
}
#endif

const bench_peer bench_cpp = {
    .name = "cpp",
    .what = "C++ MessageToJsonString, JsonStringToMessage of generated messages, in a process of its own",
    .json = true,
    .has_encode = true,
    .in_ratio = {true, true},
    .version = BENCH_CPP_VERSION,
    .missing = missing,
    .open = open_state,
    .close = close_state,
    .cut = cut,
    .time = measure,
    .encode_one = encode_one,
    .decode_one = decode_one,
};
