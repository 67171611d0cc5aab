/* The formatter: turns compact JSON, fed in pieces, into JSON with one member a line.
 *
 * Neighbours: encode_output.c feeds it and takes what it writes. Invariant: it changes white space only;
 * empty objects and arrays stay `{}` and `[]`. Its input is the VM's own output, valid by construction.
 */
#include "pretty.h"

static bool flush(bjvmi_encoder *vm) {
  bjvmi_pretty *s = vm->pretty;
  size_t n = s->used;
  s->used = 0;
  return bjvmi_encode_put(vm, s->block, n);
}

static bool put(bjvmi_encoder *vm, const char *data, size_t size) {
  bjvmi_pretty *s = vm->pretty;
  if (size > sizeof s->block - s->used && !flush(vm)) return false;
  if (size > sizeof s->block) return bjvmi_encode_put(vm, data, size);
  memcpy(s->block + s->used, data, size);
  s->used += size;
  return true;
}

static bool new_line(bjvmi_encoder *vm) {
  static const char blanks[] = "\n                                ";
  enum { WIDTH = sizeof blanks - 2 };
  size_t n = vm->pretty->depth * vm->pretty->indent;
  if (!put(vm, blanks, 1 + (n < WIDTH ? n : WIDTH))) return false;
  for (n -= n < WIDTH ? n : WIDTH; n > 0; n -= n < WIDTH ? n : WIDTH) {
    if (!put(vm, blanks + 1, n < WIDTH ? n : WIDTH)) return false;
  }
  return true;
}

/* The byte behind the string token that p is inside of, or `end`. */
static const char *string_end(bjvmi_pretty *s, const char *p, const char *end) {
  for (; p < end; p++) {
    if (s->escaped) {
      s->escaped = false;
    } else if (*p == '\\') {
      s->escaped = true;
    } else if (*p == '"') {
      s->in_string = false;
      return p + 1;
    }
  }
  return end;
}

/* The end of the run of bytes from p that are passed on unchanged: up to a mark that moves the layout. */
static const char *plain_end(bjvmi_pretty *s, const char *p, const char *end) {
  while (p < end) {
    if (s->in_string) {
      p = string_end(s, p, end);
    } else if (*p == '"') {
      s->in_string = true;
      p++;
    } else if (*p == ',' || *p == ':' || *p == '{' || *p == '[' || *p == '}' || *p == ']') {
      return p;
    } else {
      p++;
    }
  }
  return p;
}

static bool put_mark(bjvmi_encoder *vm, char c) {
  bjvmi_pretty *s = vm->pretty;
  bool opened = s->after_open;
  s->after_open = false;
  switch (c) {
    case ',': return put(vm, ",", 1) && new_line(vm);
    case ':': return put(vm, ": ", 2);
    case '{':
    case '[':
      if (opened && !new_line(vm)) return false;
      s->depth++;
      s->after_open = true;
      return put(vm, &c, 1);
    default:
      s->depth--;
      if (!opened && !new_line(vm)) return false;
      return put(vm, &c, 1);
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
      if (!put(vm, data, (size_t)(run - data))) return false;
    }
    if (run < end && !put_mark(vm, *run++)) return false;
    data = run;
  }
  return flush(vm);
}
