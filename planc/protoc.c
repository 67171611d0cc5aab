/* .proto files: the protoc or buf on PATH makes a descriptor set of them.
 *
 * planc has no parser of its own. protoc is tried first, buf if there is none or if it fails (an older protoc
 * knows no editions). What they say goes to standard error as it is, but for what protoc says of files that
 * buf then takes. Invariant: when this fails, no temporary file is left.
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

/* Runs the command; its exit code, or NOT_THERE. What it says goes to `errors` instead of standard error, if
 * that is a file (>= 0). */
static int run(words *w, int errors) {
  pid_t child;
  int status;
  posix_spawn_file_actions_t actions;
  w->list[w->count] = NULL;
  if (posix_spawn_file_actions_init(&actions) != 0) return 1;
  bool ready = errors < 0 || posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) == 0;
  bool started = ready && posix_spawnp(&child, w->list[0], &actions, NULL, w->list, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started) return NOT_THERE;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* -- protoc --------------------------------------------------------------------------------------------- */

/* protoc --include_imports --descriptor_set_out=OUT -IDIR... FILE... */
static int run_protoc(const bjvmi_options *options, words *w, const char *out, int errors) {
  add(w, "protoc", "");
  add(w, "--include_imports", "");
  add(w, "--descriptor_set_out=", out);
  for (size_t i = 0; i < options->import_count; i++) add(w, "-I", options->imports[i]);
  if (options->import_count == 0) add(w, "-I", ".");
  for (size_t i = 0; i < options->file_count; i++) add_file(options, w, options->files[i]);
  return run(w, errors);
}

/* -- buf ------------------------------------------------------------------------------------------------ */

/* `text` in double quotes, with `escape` in front of those in it, and of that itself if it is a backslash.
 * Returns the end. */
static char *put_quoted(char *to, const char *text, char escape) {
  *to++ = '"';
  for (; *text; text++) {
    if (*text == '"' || (*text == '\\' && escape == '\\')) *to++ = escape;
    *to++ = *text;
  }
  *to++ = '"';
  *to = 0;
  return to;
}

/* buf takes a list of paths for each --path, as a line of CSV. */
static void add_path(words *w, const char *path) {
  char *quoted = (char *)upb_Arena_Malloc(w->arena, 2 * strlen(path) + 3);
  if (quoted) put_quoted(quoted, path, '"');
  add(w, "--path", "");
  add(w, quoted ? quoted : path, "");
}

/* The folders that there are, freed of links and dots, each once, in `list`. Their number. */
static size_t real_folders(const bjvmi_options *options, upb_Arena *arena, const char **list) {
  size_t count = 0;
  for (size_t i = 0; i < options->import_count; i++) {
    char *path = realpath(options->imports[i], NULL);
    char *copy = path ? (char *)upb_Arena_Malloc(arena, strlen(path) + 1) : NULL;
    size_t k = 0;
    if (copy) strcpy(copy, path);
    free(path);
    while (copy && k < count && strcmp(list[k], copy) != 0) k++;
    if (copy && k == count) list[count++] = copy;
  }
  return count;
}

/* A configuration that has every folder as a module of the input "/". NULL: no memory. */
static const char *modules_of(const char *const *folders, size_t count, upb_Arena *arena) {
  static const char head[] = "{\"version\":\"v2\",\"modules\":[", each[] = "{\"path\":}";
  size_t size = sizeof head + 2;
  for (size_t i = 0; i < count; i++) size += sizeof each + 2 * strlen(folders[i]) + 3;
  char *config = (char *)upb_Arena_Malloc(arena, size), *to = config;
  if (!config) return NULL;
  to += sprintf(to, "%s", head);
  for (size_t i = 0; i < count; i++) {
    to += sprintf(to, "%s{\"path\":", i ? "," : "");
    to = put_quoted(to, folders[i] + 1, '\\');
    *to++ = '}';
  }
  strcpy(to, "]}");
  return config;
}

/* One folder is an input of its own, which may have a buf.yaml; several are modules of one. */
static void add_input(const bjvmi_options *options, words *w) {
  const char **folders =
      (const char **)upb_Arena_Malloc(w->arena, (options->import_count + 1) * sizeof(char *));
  size_t count = folders ? real_folders(options, w->arena, folders) : 0;
  const char *config = count > 1 ? modules_of(folders, count, w->arena) : NULL;
  add(w, config ? "/" : count ? folders[0] : options->import_count ? options->imports[0] : ".", "");
  if (!config) return;
  add(w, "--config", "");
  add(w, config, "");
}

/* buf build INPUT --as-file-descriptor-set -o OUT#format=binpb --path FILE... */
static int run_buf(const bjvmi_options *options, words *w, const char *out) {
  w->count = 0;
  add(w, "buf", "");
  add(w, "build", "");
  add_input(options, w);
  add(w, "--as-file-descriptor-set", "");
  add(w, "-o", "");
  add(w, out, "#format=binpb");
  for (size_t i = 0; i < options->file_count; i++) {
    char *path = realpath(options->files[i], NULL);
    add_path(w, path ? path : options->files[i]);
    free(path);
  }
  return run(w, -1);
}

/* -- Either --------------------------------------------------------------------------------------------- */

/* Passes on what protoc has said. */
static void show(int errors) {
  char block[4096];
  ssize_t n;
  if (lseek(errors, 0, SEEK_SET) != 0) return;
  while ((n = read(errors, block, sizeof block)) > 0)
    if (write(STDERR_FILENO, block, (size_t)n) != n) return;
}

/* A file without a name, or -1. */
static int nameless_file(void) {
  char path[] = "/tmp/planc.XXXXXX";
  int fd = mkstemp(path);
  if (fd >= 0) unlink(path);
  return fd;
}

/* What protoc has against a file is no matter if buf knows better. */
static bool run_either(const bjvmi_options *options, words *w, const char *out) {
  int errors = nameless_file();
  int protoc = run_protoc(options, w, out, errors);
  int buf = protoc == 0 ? 0 : run_buf(options, w, out);
  if (errors >= 0 && (protoc == 0 || buf != 0)) show(errors);
  if (errors >= 0) close(errors);
  if (buf == 0) return true;
  if (protoc == NOT_THERE && buf == NOT_THERE)
    bjvmi_report("planc", "neither protoc nor buf is on PATH; compile the .proto files to a descriptor set");
  else bjvmi_report(options->files[0], "%s cannot compile it", protoc == NOT_THERE ? "buf" : "protoc");
  return false;
}

bool bjvmi_protoc_run(const bjvmi_options *options, char path[BJVMI_TEMPORARY_NAME]) {
  words w = {.arena = upb_Arena_New()};
  size_t most = 2 * options->file_count + options->import_count + 16; /* of either command */
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
