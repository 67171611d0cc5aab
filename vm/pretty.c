/* The formatter: turns compact JSON, fed in pieces, into JSON with one member a line.
 *
 * Neighbours: encode_output.c feeds it and takes what it writes. Invariant: it changes white space only; empty objects and
 * arrays stay `{}` and `[]`. Its input is the VM's own output, valid by construction.
 */
#include "pretty.h"

static bool new_line(bjvmi_encoder *vm) {
  static const char blanks[] = "                                ";
  size_t n = vm->pretty->depth * vm->pretty->indent;
  if (!bjvmi_encode_put(vm, "\n", 1)) return false;
  for (; n > 0; n -= n < 32 ? n : 32) {
    if (!bjvmi_encode_put(vm, blanks, n < 32 ? n : 32)) return false;
  }
  return true;
}

/* The end of the run of bytes from p that are passed on unchanged. */
static const char *plain_end(bjvmi_pretty *s, const char *p, const char *end) {
  for (; p < end; p++) {
    if (s->escaped) {
      s->escaped = false;
    } else if (s->in_string) {
      s->escaped = *p == '\\';
      s->in_string = *p != '"';
    } else if (*p == '"') {
      s->in_string = true;
    } else if (*p == ',' || *p == ':' || *p == '{' || *p == '[' || *p == '}' || *p == ']') {
      return p;
    }
  }
  return p;
}

static bool put_mark(bjvmi_encoder *vm, char c) {
  bjvmi_pretty *s = vm->pretty;
  bool opened = s->after_open;
  s->after_open = false;
  switch (c) {
    case ',': return bjvmi_encode_put(vm, ",", 1) && new_line(vm);
    case ':': return bjvmi_encode_put(vm, ": ", 2);
    case '{':
    case '[':
      if (opened && !new_line(vm)) return false;
      s->depth++;
      s->after_open = true;
      return bjvmi_encode_put(vm, &c, 1);
    default:
      s->depth--;
      if (!opened && !new_line(vm)) return false;
      return bjvmi_encode_put(vm, &c, 1);
  }
}

bool bjvmi_pretty_put(bjvmi_encoder *vm, const char *data, size_t size) {
  bjvmi_pretty *s = vm->pretty;
  const char *end = data + size;
  while (data < end) {
    const char *run = plain_end(s, data, end);
    if (run > data) {
      if (s->after_open && !new_line(vm)) return false;
      s->after_open = false;
      if (!bjvmi_encode_put(vm, data, (size_t)(run - data))) return false;
    }
    if (run < end && !put_mark(vm, *run++)) return false;
    data = run;
  }
  return true;
}
