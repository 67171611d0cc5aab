/* .proto files: the protoc or buf on PATH makes a descriptor set of them.
 *
 * planc has no parser of its own. protoc is tried first, buf if there is none or if it fails (an older protoc
 * knows no editions). What they say goes to standard error as it is. Invariant: when this fails, no temporary
 * file is left.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

enum { NOT_THERE = 127 };

/* Words of a command line; memory from the arena of the run. */
typedef struct words {
  upb_Arena *arena;
  char **list;
  size_t count;
} words;

/* Appends a word of two pieces. */
static void add(words *w, const char *a, const char *b) {
  size_t size = strlen(a) + strlen(b) + 1;
  char *word = (char *)upb_Arena_Malloc(w->arena, size);
  if (word) snprintf(word, size, "%s%s", a, b);
  w->list[w->count++] = word;
}

/* What stands behind `folder` in the path of `file`, both freed of links and dots; NULL: the file is not in
 * it. malloc'ed. */
static char *path_inside(const char *folder, const char *file) {
  char *from = realpath(folder, NULL), *path = realpath(file, NULL), *rest = NULL;
  size_t size = from ? strlen(from) : 0;
  if (size == 1) size = 0; /* the root itself */
  if (from && path && strncmp(path, from, size) == 0 && path[size] == '/') rest = strdup(path + size + 1);
  free(from);
  free(path);
  return rest;
}

/* Appends a .proto file as protoc wants it: beginning with the folder it is in, letter by letter. */
static void add_file(const bjvmi_options *options, words *w, const char *file) {
  size_t count = options->import_count ? options->import_count : 1;
  for (size_t i = 0; i < count; i++) {
    const char *folder = options->import_count ? options->imports[i] : ".";
    char *rest = path_inside(folder, file);
    if (!rest) continue;
    char *path = (char *)upb_Arena_Malloc(w->arena, strlen(folder) + 2);
    if (path) snprintf(path, strlen(folder) + 2, "%s/", folder);
    add(w, options->import_count && path ? path : "", rest);
    free(rest);
    return;
  }
  add(w, file, ""); /* protoc will say it */
}

/* Runs the command; its exit code, or NOT_THERE. */
static int run(words *w) {
  pid_t child;
  int status;
  w->list[w->count] = NULL;
  if (posix_spawnp(&child, w->list[0], NULL, NULL, w->list, environ) != 0) return NOT_THERE;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* protoc --include_imports --descriptor_set_out=OUT -IDIR... FILE... */
static int run_protoc(const bjvmi_options *options, words *w, const char *out) {
  add(w, "protoc", "");
  add(w, "--include_imports", "");
  add(w, "--descriptor_set_out=", out);
  for (size_t i = 0; i < options->import_count; i++) add(w, "-I", options->imports[i]);
  if (options->import_count == 0) add(w, "-I", ".");
  for (size_t i = 0; i < options->file_count; i++) add_file(options, w, options->files[i]);
  return run(w);
}

/* buf build DIR --as-file-descriptor-set -o OUT#format=binpb --path FILE... */
static int run_buf(const bjvmi_options *options, words *w, const char *out) {
  char target[BJVMI_TEMPORARY_NAME + 16];
  snprintf(target, sizeof target, "%s#format=binpb", out);
  w->count = 0;
  add(w, "buf", "");
  add(w, "build", "");
  add(w, options->import_count ? options->imports[0] : ".", "");
  add(w, "--as-file-descriptor-set", "");
  add(w, "-o", "");
  add(w, target, "");
  for (size_t i = 0; i < options->file_count; i++) {
    add(w, "--path", "");
    add(w, options->files[i], "");
  }
  return run(w);
}

static bool run_either(const bjvmi_options *options, words *w, const char *out) {
  int protoc = run_protoc(options, w, out);
  if (protoc == 0) return true;
  int buf = run_buf(options, w, out);
  if (buf == 0) return true;
  if (protoc == NOT_THERE && buf == NOT_THERE)
    bjvmi_report("planc", "neither protoc nor buf is on PATH; compile the .proto files to a descriptor set");
  else bjvmi_report(options->files[0], "%s cannot compile it", protoc == NOT_THERE ? "buf" : "protoc");
  return false;
}

bool bjvmi_protoc_run(const bjvmi_options *options, char path[BJVMI_TEMPORARY_NAME]) {
  words w = {.arena = upb_Arena_New()};
  size_t most = 2 * options->file_count + options->import_count + 16;
  w.list = w.arena ? (char **)upb_Arena_Malloc(w.arena, most * sizeof(char *)) : NULL;
  snprintf(path, BJVMI_TEMPORARY_NAME, "/tmp/planc.XXXXXX");
  int fd = w.list ? mkstemp(path) : -1;
  if (fd < 0) bjvmi_report("planc", "no temporary file: %s", strerror(errno));
  bool ok = fd >= 0 && run_either(options, &w, path);
  if (fd >= 0) close(fd);
  if (fd >= 0 && !ok) unlink(path);
  if (w.arena) upb_Arena_Free(w.arena);
  return ok;
}
