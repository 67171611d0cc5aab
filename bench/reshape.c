/* The same messages in other texts: pretty, reversed, with members that nobody knows.
 *
 * Works on compact JSON that is known to be right, by recursion, and needs the descriptor only to tell a message from a
 * map, whose members are all known. variants.c checks that what comes out is read as the same message.
 */
#include <stdlib.h>
#include <string.h>

#include "variants.h"

enum { MEMBERS_LIMIT = 512, NAME_LIMIT = 256 };

typedef struct writer {
  bench_reshaping how;
  char *data; /* NULL: only `size` is counted */
  size_t size;
  int level;
  size_t members; /* of messages, those of the schema, so far */
} writer;

/* What a value is read by: `map` with `def` that of its values, or a message; both none for scalars. */
typedef struct type {
  const upb_MessageDef *def;
  bool map;
} type;

static const char *copy_value(writer *w, const char *p, type t);

static void put(writer *w, const char *data, size_t size) {
  if (w->data) memcpy(w->data + w->size, data, size);
  w->size += size;
}

static void new_line(writer *w) {
  if (w->how != BENCH_PRETTY) return;
  put(w, "\n", 1);
  for (int i = 0; i < w->level; i++) put(w, "  ", 2);
}

static const char *end_of_string(const char *p) {
  for (p++; *p != '"'; p++)
    if (*p == '\\') p++;
  return p + 1;
}

static const char *end_of_value(const char *p) {
  int level = 0;
  do {
    if (*p == '"') {
      p = end_of_string(p);
      continue;
    }
    if (level == 0 && strchr(",]}", *p)) break;
    level += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
    p++;
  } while (*p && (level > 0 || !strchr(",]}", *p)));
  return p;
}

static type type_of_member(type t, const char *name, size_t size) {
  if (t.map || t.def == NULL) return (type){t.def, false};
  char text[NAME_LIMIT];
  snprintf(text, sizeof text, "%.*s", (int)size, name);
  const upb_FieldDef *f = upb_MessageDef_FindByJsonNameWithSize(t.def, name, size);
  if (f == NULL) bench_die("no such field", text);
  const upb_MessageDef *sub = upb_FieldDef_MessageSubDef(f);
  if (!upb_FieldDef_IsMap(f)) return (type){sub, false};
  return (type){upb_FieldDef_MessageSubDef(upb_MessageDef_FindFieldByNumber(sub, 2)), true};
}

static void copy_member(writer *w, const char *p, type t) {
  const char *end = end_of_string(p);
  put(w, p, (size_t)(end - p));
  put(w, ": ", w->how == BENCH_PRETTY ? 2 : 1);
  copy_value(w, end + 1, type_of_member(t, p + 1, (size_t)(end - p) - 2));
}

/* As a newer schema would have them. */
static void put_unknown(writer *w) {
  static const char *const texts[] = {
      "Note\":\"added by a later version\"",
      "Count\":1048576",
      "Flags\":[true,false,null,7]",
      "Detail\":{\"kind\":\"late\",\"parts\":[{\"n\":1},{\"n\":2.5e3}]}",
      "Ratio\":0.375",
  };
  char name[NAME_LIMIT];
  size_t n = w->members / 2;
  int size = snprintf(name, sizeof name, ",\"later%zu%s", n % 20, texts[n % (sizeof texts / sizeof *texts)]);
  put(w, name, (size_t)size);
}

static const char *copy_object(writer *w, const char *p, type t) {
  const char *members[MEMBERS_LIMIT];
  size_t count = 0;
  for (p++; *p != '}'; p += *p == ',') {
    if (count == MEMBERS_LIMIT) bench_die("too many members", "reshape");
    members[count++] = p;
    p = end_of_value(end_of_string(p) + 1);
  }
  put(w, "{", 1);
  w->level++;
  for (size_t i = 0; i < count; i++) {
    if (i) put(w, ",", 1);
    new_line(w);
    copy_member(w, members[w->how == BENCH_REVERSED ? count - 1 - i : i], t);
    if (w->how == BENCH_UNKNOWN && !t.map && ++w->members % 2 == 0) put_unknown(w);
  }
  w->level--;
  if (count) new_line(w);
  put(w, "}", 1);
  return p + 1;
}

static const char *copy_list(writer *w, const char *p, type t) {
  const char *first = ++p;
  put(w, "[", 1);
  w->level++;
  for (; *p != ']'; p += *p == ',') {
    if (p != first) put(w, ",", 1);
    new_line(w);
    p = copy_value(w, p, t);
  }
  w->level--;
  if (p != first) new_line(w);
  put(w, "]", 1);
  return p + 1;
}

static const char *copy_value(writer *w, const char *p, type t) {
  if (*p == '{') return copy_object(w, p, t);
  if (*p == '[') return copy_list(w, p, t);
  const char *end = end_of_value(p);
  put(w, p, (size_t)(end - p));
  return end;
}

bench_text bench_reshape(bench_text text, const upb_MessageDef *def, bench_reshaping how, upb_Arena *arena) {
  writer count = {.how = how};
  copy_value(&count, text.data, (type){def, false});
  writer w = {.how = how, .data = upb_Arena_Malloc(arena, count.size + BENCH_PADDING)};
  if (w.data == NULL) bench_die("out of memory", "reshape");
  copy_value(&w, text.data, (type){def, false});
  memset(w.data + w.size, 0, BENCH_PADDING);
  return (bench_text){w.data, w.size};
}
