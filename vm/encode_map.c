/* Maps in the encode VM: their entries in hash order or sorted, their keys, and whole maps of scalars.
 *
 * Neighbours: encode_vm.c walks maps with message values itself, through the same functions. Invariant: a map
 * is not changed while it is printed; sorted entries live in the call's scratch arena.
 */
#include "encode.h"

static int compare_strings(upb_StringView a, upb_StringView b) {
  size_t n = a.size < b.size ? a.size : b.size;
  int c = n ? memcmp(a.data, b.data, n) : 0; /* the order of UTF-8 bytes is that of code points */
  return c ? c : (a.size > b.size) - (a.size < b.size);
}

static bool less(bjvmi_kind kind, const upb_MessageValue *a, const upb_MessageValue *b) {
  switch (kind) {
    case BJVMI_KIND_BOOL: return a->bool_val < b->bool_val;
    case BJVMI_KIND_INT32: return a->int32_val < b->int32_val;
    case BJVMI_KIND_UINT32: return a->uint32_val < b->uint32_val;
    case BJVMI_KIND_INT64:
    case BJVMI_KIND_INT64_NUMBER: return a->int64_val < b->int64_val;
    case BJVMI_KIND_UINT64:
    case BJVMI_KIND_UINT64_NUMBER: return a->uint64_val < b->uint64_val;
    default: return compare_strings(a->str_val, b->str_val) < 0;
  }
}

static void sift_down(bjvmi_map_entry *e, size_t root, size_t count, bjvmi_kind kind) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= count) return;
    if (child + 1 < count && less(kind, &e[child].key, &e[child + 1].key)) child++;
    if (!less(kind, &e[root].key, &e[child].key)) return;
    bjvmi_map_entry t = e[root];
    e[root] = e[child];
    e[child] = t;
    root = child;
  }
}

/* Heapsort: no recursion, no memory, n log n whatever the keys. Keys are distinct. */
static void sort_entries(bjvmi_map_entry *e, size_t count, bjvmi_kind kind) {
  for (size_t i = count / 2; i-- > 0;) sift_down(e, i, count, kind);
  for (size_t i = count; i-- > 1;) {
    bjvmi_map_entry t = e[0];
    e[0] = e[i];
    e[i] = t;
    sift_down(e, 0, i, kind);
  }
}

static const bjvmi_map_entry *sorted_entries(bjvmi_encoder *vm, const upb_Map *map, bjvmi_kind kind,
                                             size_t count) {
  if (!vm->scratch) {
    vm->status = BJVM_SCRATCH;
    return NULL;
  }
  bjvmi_map_entry *e = (bjvmi_map_entry *)upb_Arena_Malloc(vm->scratch, (count + !count) * sizeof *e);
  if (!e) {
    vm->status = BJVM_OUT_OF_MEMORY;
    return NULL;
  }
  bjvmi_map_walk walk = {0, 0, 0};
  size_t n = 0;
  while (n < count && bjvmi_upb_map_next(map, &walk, &e[n].key, &e[n].value)) n++;
  sort_entries(e, n, kind);
  return e;
}

bool bjvmi_encode_map_begin(bjvmi_encoder *vm, bjvmi_encode_frame *f, const upb_Map *map,
                            const bjvm_plan *entry) {
  f->at = map;
  f->u.walk = (bjvmi_map_walk){0, 0, 0};
  f->entries = NULL;
  f->extension = 0;
  f->count = map ? (uint32_t)bjvmi_upb_map_size(map) : 0;
  if (!(vm->flags & BJVM_ENCODE_SORT_MAP_KEYS) || f->count < 2) return true;
  f->u.index = 0;
  f->entries = sorted_entries(vm, map, BJVMI_OP_KIND(entry->words[0].op), f->count);
  return f->entries != NULL;
}

/* Takes the next entry; false at the end. */
static bool next_entry(bjvmi_encode_frame *f, upb_MessageValue *key, upb_MessageValue *value) {
  if (f->entries) {
    if (f->u.index >= f->count) return false;
    *key = f->entries[f->u.index].key;
    *value = f->entries[f->u.index].value;
    f->u.index++;
    return true;
  }
  return f->count && bjvmi_upb_map_next((const upb_Map *)f->at, &f->u.walk, key, value);
}

/* A key with its quotes and the colon. */
static char *put_key(bjvmi_encoder *vm, char *out, bjvmi_kind kind, const upb_MessageValue *key) {
  if (kind == BJVMI_KIND_STRING) {
    out = bjvmi_encode_string(vm, out, key->str_val.data, key->str_val.size);
    if (!out) return NULL;
    *out++ = ':';
    return out;
  }
  *out++ = '"';
  switch (kind) {
    case BJVMI_KIND_BOOL: out = bjvmi_encode_bool(out, key->bool_val); break;
    case BJVMI_KIND_INT32: out = bjvmi_num_print_i32(out, key->int32_val); break;
    case BJVMI_KIND_UINT32: out = bjvmi_num_print_u32(out, key->uint32_val); break;
    case BJVMI_KIND_INT64:
    case BJVMI_KIND_INT64_NUMBER: out = bjvmi_num_print_i64(out, key->int64_val); break;
    default: out = bjvmi_num_print_u64(out, key->uint64_val); break;
  }
  *out++ = '"';
  *out++ = ':';
  return out;
}

#define ROOM()                                                                                               \
  if (__builtin_expect(out > vm->soft, 0)) {                                                                 \
    out = bjvmi_encode_grow(vm, out);                                                                        \
    if (!out) return NULL;                                                                                   \
  }

char *bjvmi_encode_map_next(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const void **child) {
  upb_MessageValue key;
  upb_MessageValue value;
  bjvmi_kind kind = BJVMI_OP_KIND(f->plan->words[0].op);
  ROOM();
  *child = NULL;
#ifndef BJVM_SIZE_SMALL
  if (kind == BJVMI_KIND_STRING && !f->entries) { /* in line */
    const upb_Map *map = (const upb_Map *)f->at;
    const upb_tabent *e = f->extension < f->count ? bjvmi_upb_map_take(map, &f->u.walk) : NULL;
    if (!e) return out;
    *out = ',';
    out += f->extension++ != 0;
    *child = bjvmi_upb_map_message_value(e);
    upb_StringView name = bjvmi_upb_map_string_key(e);
    out = bjvmi_encode_string(vm, out, name.data, name.size);
    if (!out) return NULL;
    *out++ = ':';
    return out;
  }
#endif
  if (!next_entry(f, &key, &value)) return out;
  *out = ',';
  out += f->extension++ != 0;
  *child = value.msg_val;
  return put_key(vm, out, kind, &key);
}

/* The entries one by one, whatever they are and however they come. */
static char *put_entries(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const bjvm_plan *entry,
                         const bjvmi_word *words) {
  upb_MessageValue key;
  upb_MessageValue value;
  while (next_entry(f, &key, &value)) {
    ROOM();
    *out = ',';
    out += f->extension++ != 0;
    out = put_key(vm, out, BJVMI_OP_KIND(words[0].op), &key);
    if (!out) return NULL;
    ROOM();
    out = bjvmi_encode_scalar(vm, out, entry, &words[1], &value);
    if (!out) return NULL;
  }
  return out;
}

#ifndef BJVM_SIZE_SMALL
/* The same for a map in table order, with strings in line. `f->extension` counts what was taken, for a report. */
static char *put_slots(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const bjvm_plan *entry,
                       const bjvmi_word *words) {
  const upb_Map *map = (const upb_Map *)f->at;
  const bjvmi_kind key_kind = BJVMI_OP_KIND(words[0].op);
  const bool strings = BJVMI_OP_KIND(words[1].op) == BJVMI_KIND_STRING;
  bool first = true;
  while (f->extension < f->count && bjvmi_upb_map_turn(map, &f->u.walk)) {
    const upb_tabent *group = bjvmi_upb_map_group(map, &f->u.walk);
    for (uint32_t bits = f->u.walk.bits; bits; bits &= bits - 1) {
      const upb_tabent *e = &group[__builtin_ctz(bits)];
      ROOM();
      *out = ',';
      out += !first;
      first = false;
      f->extension++;
      if (key_kind == BJVMI_KIND_STRING) {
        upb_StringView key = bjvmi_upb_map_string_key(e);
        out = bjvmi_encode_string(vm, out, key.data, key.size);
        if (!out) return NULL;
        *out++ = ':';
      } else {
        upb_MessageValue key;
        bjvmi_upb_map_get_key(map, e, &key);
        out = put_key(vm, out, key_kind, &key);
      }
      ROOM();
      if (strings) {
        upb_StringView value = bjvmi_upb_map_string_value(e);
        out = bjvmi_encode_string(vm, out, value.data, value.size);
      } else {
        upb_MessageValue value;
        bjvmi_upb_map_get_value(map, e, &value);
        out = bjvmi_encode_scalar(vm, out, entry, &words[1], &value);
      }
      if (!out) return NULL;
    }
  }
  return out;
}
#endif

char *bjvmi_encode_map(bjvmi_encoder *vm, char *out, bjvmi_encode_frame *f, const bjvm_plan *entry) {
  const bjvm_plan *own = bjvmi_encode_plan(vm, entry);
  if (!own) return NULL;
  *out++ = '{';
#ifndef BJVM_SIZE_SMALL
  if (!f->entries) {
    out = put_slots(vm, out, f, entry, own->words);
  } else
#endif
    out = put_entries(vm, out, f, entry, own->words);
  if (!out) return NULL;
  ROOM();
  *out++ = '}';
  return out;
}

#undef ROOM
