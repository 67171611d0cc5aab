/* Reading whole inputs and writing whole outputs.
 *
 * The commands of planc read everything, work in memory and write at the end. Invariant: an output file
 * either holds all of the result or what it held before. The new content goes to a temporary file beside it,
 * which is renamed over it.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum {
  READ_FIRST = 65536, /* bytes of the first read; doubled while the file goes on */
};

/* -- Reading -------------------------------------------------------------------------------------------- */

/* Room for at least one more byte in the block. */
static bool make_room(bjvmi_file *file, size_t *capacity) {
  if (file->size < *capacity) return true;
  size_t larger = *capacity ? *capacity * 2 : READ_FIRST;
  char *data = larger > *capacity ? (char *)realloc(file->data, larger) : NULL;
  if (!data) return false;
  file->data = data;
  *capacity = larger;
  return true;
}

static bool read_all(bjvmi_file *file, int fd) {
  size_t capacity = 0;
  for (;;) {
    if (!make_room(file, &capacity)) {
      bjvmi_report(file->name, "out of memory");
      return false;
    }
    ssize_t n = read(fd, file->data + file->size, capacity - file->size);
    if (n == 0) return true;
    if (n > 0) file->size += (size_t)n;
    if (n < 0 && errno != EINTR) {
      bjvmi_report(file->name, "cannot read: %s", strerror(errno));
      return false;
    }
  }
}

bool bjvmi_file_read(bjvmi_file *file, const char *path) {
  bool standard = !path || strcmp(path, "-") == 0;
  *file = (bjvmi_file){.name = standard ? "<stdin>" : path};
  int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    bjvmi_report(file->name, "cannot open: %s", strerror(errno));
    return false;
  }
  bool ok = read_all(file, fd);
  if (!standard) close(fd);
  return ok;
}

void bjvmi_file_free(bjvmi_file *file) {
  free(file->data);
  file->data = NULL;
  file->size = 0;
}

/* -- Writing -------------------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data += n;
    size -= (size_t)n;
  }
  return true;
}

static bool cannot_write(const char *where) {
  bjvmi_report(where, "cannot write: %s", strerror(errno));
  return false;
}

/* Devices and pipes cannot be replaced; they are written to. */
static bool write_through(const char *path, const char *data, size_t size) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return cannot_write(path);
  bool ok = write_all(fd, data, size);
  if (!ok) cannot_write(path);
  if (close(fd) != 0 && ok) ok = cannot_write(path);
  return ok;
}

/* What the file had, or what a new file gets. */
static mode_t mode_of(const struct stat *existing) {
  if (existing) return existing->st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static bool write_temporary(int fd, mode_t mode, const char *data, size_t size) {
  bool ok = fchmod(fd, mode) == 0 && write_all(fd, data, size);
  int saved = errno;
  if (close(fd) != 0 && ok) return false;
  errno = saved;
  return ok;
}

static bool replace(const char *path, const struct stat *existing, const char *data, size_t size) {
  size_t length = strlen(path);
  char *temporary = (char *)malloc(length + sizeof ".XXXXXX");
  if (!temporary) return cannot_write(path);
  memcpy(temporary, path, length);
  memcpy(temporary + length, ".XXXXXX", sizeof ".XXXXXX");
  int fd = mkstemp(temporary);
  bool ok = fd >= 0 && write_temporary(fd, mode_of(existing), data, size) && rename(temporary, path) == 0;
  if (!ok) {
    cannot_write(path);
    if (fd >= 0) unlink(temporary);
  }
  free(temporary);
  return ok;
}

static bool write_file(const char *path, const char *data, size_t size) {
  struct stat status;
  bool there = stat(path, &status) == 0;
  if (there && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return cannot_write(path);
  }
  if (there && !S_ISREG(status.st_mode)) return write_through(path, data, size);
  /* Through a symbolic link, the file it names is replaced and not the link. */
  char *real = there ? realpath(path, NULL) : NULL;
  bool ok = replace(real ? real : path, there ? &status : NULL, data, size);
  free(real);
  return ok;
}

bool bjvmi_file_write(const char *path, const char *data, size_t size) {
  if (path && strcmp(path, "-") != 0) return write_file(path, data, size);
  return write_all(STDOUT_FILENO, data, size) || cannot_write("<stdout>");
}
