/* Streams of messages for planc encode and decode --stream.
 *
 * Input is taken as it comes, so that planc can stand in the middle of a pipe that never ends; memory holds
 * one message and what was read with it. Invariant: output is written before input is waited for, in whole
 * messages, and those before a bad one are written too. Unlike the output of one message, that of a stream is
 * not replaced at once but written as it is made.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bjvm/codec.h"
#include "cli.h"

enum {
  READ_SIZE = 65536,     /* bytes asked for at a time */
  PENDING_SIZE = 262144, /* bytes of output that are not kept longer, input or not */
  LENGTH_BYTES = 10,     /* of the longest varint */
};
#define MESSAGE_MAX ((uint64_t)INT32_MAX) /* bytes; what protobuf allows */

static bool is_standard(const char *path) { return !path || strcmp(path, "-") == 0; }

bool bjvmi_stream_open(bjvmi_stream *s, const char *input, const char *output, bjvm_output *pending) {
  *s = (bjvmi_stream){.name = is_standard(input) ? "<stdin>" : input,
                      .out_name = is_standard(output) ? "<stdout>" : output,
                      .in = STDIN_FILENO,
                      .out = STDOUT_FILENO,
                      .pending = pending};
  if (!is_standard(input)) s->in = open(input, O_RDONLY | O_CLOEXEC);
  if (s->in < 0) {
    bjvmi_report(s->name, "cannot open: %s", strerror(errno));
    return false;
  }
  if (!is_standard(output)) s->out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (s->out < 0) bjvmi_report(s->out_name, "cannot write: %s", strerror(errno));
  return s->out >= 0;
}

bool bjvmi_stream_close(bjvmi_stream *s) {
  bool ok = true;
  free(s->data);
  if (s->in > STDERR_FILENO) close(s->in);
  if (s->out > STDERR_FILENO) ok = close(s->out) == 0;
  if (!ok) bjvmi_report(s->out_name, "cannot write: %s", strerror(errno));
  return ok;
}

bool bjvmi_stream_flush(bjvmi_stream *s) {
  const char *at = s->pending->data;
  while (s->pending->size) {
    ssize_t n = write(s->out, at, s->pending->size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      bjvmi_report(s->out_name, "cannot write: %s", strerror(errno));
      return false;
    }
    at += n;
    s->pending->size -= (size_t)n;
  }
  return true;
}

/* -- Reading -------------------------------------------------------------------------------------------- */

/* Room for READ_SIZE more bytes behind what is there, which moves to the front. */
static bool make_room(bjvmi_stream *s) {
  if (s->at > 0) memmove(s->data, s->data + s->at, s->size - s->at);
  s->size -= s->at;
  s->at = 0;
  if (s->capacity - s->size >= READ_SIZE) return true;
  size_t larger = s->capacity + (s->capacity > READ_SIZE ? s->capacity : READ_SIZE);
  char *data = larger > s->capacity ? (char *)realloc(s->data, larger) : NULL;
  if (!data) {
    bjvmi_report(s->name, "out of memory");
    return false;
  }
  s->data = data;
  s->capacity = larger;
  return true;
}

/* Reads more. False after an error line; at the end of the input sets `ended`. */
static bool refill(bjvmi_stream *s) {
  if (!make_room(s) || !bjvmi_stream_flush(s)) return false;
  ssize_t n;
  do n = read(s->in, s->data + s->size, READ_SIZE);
  while (n < 0 && errno == EINTR);
  if (n < 0) bjvmi_report(s->name, "cannot read: %s", strerror(errno));
  if (n > 0) s->size += (size_t)n;
  s->ended = n == 0;
  return n >= 0;
}

/* Output that has piled up goes out, input or not. */
static bool begin(bjvmi_stream *s) { return s->pending->size < PENDING_SIZE || bjvmi_stream_flush(s); }

static int malformed(const bjvmi_stream *s, const char *what) {
  bjvmi_report(s->name, "message %zu: %s", s->number + 1, what);
  return -1;
}

/* The length in front of the next message: 1 and *length; 0 at the end; -1 after an error line. */
static int read_length(bjvmi_stream *s, uint64_t *length) {
  *length = 0;
  for (unsigned i = 0; i < LENGTH_BYTES; i++) {
    if (s->at + i == s->size && !s->ended && !refill(s)) return -1;
    if (s->at + i == s->size) return i == 0 ? 0 : malformed(s, "the input ends inside its length");
    uint8_t b = (uint8_t)s->data[s->at + i];
    *length |= (uint64_t)(b & 0x7f) << (7 * i);
    if (b & 0x80) continue;
    s->at += i + 1;
    return *length <= MESSAGE_MAX ? 1 : malformed(s, "longer than 2 GB");
  }
  return malformed(s, "its length is no varint");
}

int bjvmi_stream_next_binary(bjvmi_stream *s, const char **data, size_t *size) {
  uint64_t length;
  if (!begin(s)) return -1;
  int found = read_length(s, &length);
  if (found != 1) return found;
  while (s->size - s->at < length && !s->ended)
    if (!refill(s)) return -1;
  if (s->size - s->at < length) return malformed(s, "the input ends inside it");
  *data = s->data + s->at;
  *size = (size_t)length;
  s->at += (size_t)length;
  s->number++;
  return 1;
}

static bool is_blank(const char *p, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (!strchr(" \t\r\n", p[i]) || !p[i]) return false;
  return true;
}

/* The next line, blank or not, without its end. 1, 0 or -1 as above. */
static int next_line(bjvmi_stream *s, const char **data, size_t *size) {
  size_t seen = 0;
  const char *end = NULL;
  while (
      !(end = s->data ? (const char *)memchr(s->data + s->at + seen, '\n', s->size - s->at - seen) : NULL) &&
      !s->ended) {
    seen = s->size - s->at;
    if (!refill(s)) return -1;
  }
  if (s->at == s->size) return 0;
  *data = s->data + s->at;
  *size = end ? (size_t)(end - *data) : s->size - s->at;
  s->at += *size + (end ? 1 : 0);
  s->line++;
  return 1;
}

int bjvmi_stream_next_line(bjvmi_stream *s, const char **data, size_t *size) {
  if (!begin(s)) return -1;
  for (;;) {
    int found = next_line(s, data, size);
    if (found != 1) return found;
    if (is_blank(*data, *size)) continue;
    s->number++;
    return 1;
  }
}
