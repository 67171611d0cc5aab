/* Maps in the decode VM.
 *
 * Neighbours: decode_vm.c walks maps with message values through the same functions. Duplicates are counted
 * within this text only: a map that had entries gets the new ones by way of a map of their own, merged when
 * the text's object ends. Under last_wins a map that was there is not changed at all.
 */
#include "decode.h"

enum {
  KEY_ROOM = 64,  /* an escaped key that is no string is longer only by junk, and goes to temporary memory */
  MAP_COST = 224, /* bytes of an empty map with its first table; for the memory limit */
  ENTRY_COST =
      48, /* bytes an entry takes in upb's tables besides its key, at half load; for the memory limit */
};

static upb_CType ctype(bjvmi_kind kind) {
  switch (kind) {
    case BJVMI_KIND_BOOL: return kUpb_CType_Bool;
    case BJVMI_KIND_INT32: return kUpb_CType_Int32;
    case BJVMI_KIND_UINT32: return kUpb_CType_UInt32;
    case BJVMI_KIND_INT64: return kUpb_CType_Int64;
    case BJVMI_KIND_UINT64: return kUpb_CType_UInt64;
    case BJVMI_KIND_FLOAT: return kUpb_CType_Float;
    case BJVMI_KIND_DOUBLE: return kUpb_CType_Double;
    case BJVMI_KIND_STRING: return kUpb_CType_String;
    case BJVMI_KIND_BYTES: return kUpb_CType_Bytes;
    case BJVMI_KIND_ENUM:
    case BJVMI_KIND_NULL_VALUE: return kUpb_CType_Enum;
    default: return kUpb_CType_Message;
  }
}

/* Of about `count` entries; 0: nobody knows. The count is a guess: where there is no memory for it, the map grows. */
static upb_Map *new_map(bjvmi_decoder *vm, const bjvm_plan *entry, size_t count) {
  upb_CType key = ctype(BJVMI_OP_KIND(entry->words[0].op));
  upb_CType value = ctype(BJVMI_OP_KIND(entry->words[1].op));
  if (!bjvmi_decode_charge(vm, MAP_COST)) return NULL;
  upb_Map *map = bjvmi_upb_map_new(key, value, count, vm->arena);
  if (!map && count) map = bjvmi_upb_map_new(key, value, 0, vm->arena);
  if (!map) vm->status = BJVM_OUT_OF_MEMORY;
  return map;
}

#ifndef BJVM_SIZE_SMALL
/* About how many entries the map at p has: commas up to the first closing brace, or, where the values are messages,
 * closing braces up to the first two in a row. Strings and values may hold all of these, so it is no more than a
 * guess. What a false one can cost is bounded: an entry has at least 6 bytes, no byte of the text is counted twice by
 * the same rule, and a call that limits memory gets no guesses. */
enum { GUESS_LOOK = 65536, ENTRY_MIN = 6 };

static size_t count_commas(const char *p, const char *end, size_t *size) {
  const char *brace = (const char *)memchr(p, '}', (size_t)(end - p));
  *size = (size_t)((brace ? brace : end) - p);
  return bjvmi_short_count(p, *size, ',');
}

static size_t count_braces(const char *p, const char *end, size_t *size) {
  size_t count = 0;
  const char *q = p;
  while (end - q > 1 && (q = (const char *)memchr(q, '}', (size_t)(end - q - 1))) != NULL && q[1] != '}') {
    count++;
    q++;
  }
  *size = (size_t)((q ? q : end) - p);
  return count;
}

static size_t guess_entries(bjvmi_decoder *vm, const bjvm_plan *entry, const char *p) {
  size_t at = bjvmi_decode_offset(vm, p);
  size_t size;
  bool messages = BJVMI_OP_KIND(entry->words[1].op) == BJVMI_KIND_MESSAGE;
  size_t *guessed = &vm->guessed[messages];
  if (vm->memory_left < SIZE_MAX / 2 || at < *guessed) return 0;
  const char *end = vm->end - p > GUESS_LOOK ? p + GUESS_LOOK : vm->end;
  size_t count = 1 + (messages ? count_braces(p, end, &size) : count_commas(p, end, &size));
  *guessed = at + size;
  size_t most = size / ENTRY_MIN < vm->elements_left ? size / ENTRY_MIN : vm->elements_left;
  if (count > most) count = most;
  /* In a block that cannot grow, a wrong guess must leave room for what the text really holds. */
  if (count * ENTRY_COST > bjvmi_upb_arena_room(vm->arena) / 4 && !upb_Arena_GetUpbAlloc(vm->arena)) return 0;
  return count;
}
#else
static size_t guess_entries(bjvmi_decoder *vm, const bjvm_plan *entry, const char *p) {
  (void)vm;
  (void)entry;
  (void)p;
  return 0;
}
#endif

bool bjvmi_decode_map_open(bjvmi_decoder *vm, bjvmi_decode_frame *f, void *slot, const bjvm_plan *entry,
                           const char *p) {
  upb_Map *map = (upb_Map *)bjvmi_upb_pointer(slot);
  f->u.map.merge = NULL;
  f->u.map.slot = slot;
  if (map && upb_Map_IsFrozen(map)) {
    vm->status = BJVM_FROZEN;
    return false;
  }
  if (map && (bjvmi_upb_map_size(map) > 0 || vm->flags & BJVM_DECODE_LAST_WINS)) {
    f->u.map.merge = map;
    map = NULL;
  }
  size_t count = guess_entries(vm, entry, p);
  if (!map) {
    map = new_map(vm, entry, count);
    if (!map) return false;
  } else if (count > 0) {
    (void)bjvmi_upb_map_reserve(map, count, vm->arena);
  }
  f->at = map;
  if (!f->u.map.merge) bjvmi_upb_set_pointer(slot, map);
  return true;
}

static bool insert(bjvmi_decoder *vm, upb_Map *map, upb_MessageValue key, upb_MessageValue value) {
  if (upb_Map_Insert(map, key, value, vm->arena) != kUpb_MapInsertStatus_OutOfMemory) return true;
  vm->status = BJVM_OUT_OF_MEMORY;
  return false;
}

/* Under last_wins the map that was there must stay as it was: the new one takes over its other entries and
 * its place. */
static bool replace(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  upb_MessageValue key;
  upb_MessageValue value;
  size_t iter = kUpb_Map_Begin;
  upb_Map *map = (upb_Map *)f->at;
  while (upb_Map_Next(f->u.map.merge, &key, &value, &iter)) {
    if (upb_Map_Get(map, key, NULL)) continue;
    if (!bjvmi_decode_charge(vm, ENTRY_COST) || !insert(vm, map, key, value)) return false;
  }
  bjvmi_upb_set_pointer(f->u.map.slot, map);
  return true;
}

bool bjvmi_decode_map_close(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  upb_MessageValue key;
  upb_MessageValue value;
  size_t iter = kUpb_Map_Begin;
  if (!f->u.map.merge) return true;
  if (vm->flags & BJVM_DECODE_LAST_WINS) return replace(vm, f);
  while (upb_Map_Next((upb_Map *)f->at, &key, &value, &iter)) {
    if (!insert(vm, f->u.map.merge, key, value)) return false;
  }
  return true;
}

/* -- Keys ----------------------------------------------------------------------------------------------- */

static bool string_key(bjvmi_decoder *vm, const char *text, size_t size, bool escaped,
                       upb_MessageValue *key) {
  if (escaped) {
    /* `text` is in a buffer that ends with the caller: upb copies the key, but the report of an error may
     * want it too. */
    char *copy = bjvmi_decode_temporary(vm, size);
    if (!copy) return false;
    memcpy(copy, text, size);
    text = copy;
  }
  key->str_val = upb_StringView_FromDataAndSize(text, size);
  return true;
}

static bool bool_key(const char *text, size_t size, upb_MessageValue *key) {
  key->bool_val = size == 4;
  return (size == 4 && memcmp(text, "true", 4) == 0) || (size == 5 && memcmp(text, "false", 5) == 0);
}

static bjvm_status number_key(bjvmi_kind kind, const char *text, size_t size, upb_MessageValue *key) {
  bjvmi_num num;
  if (bjvmi_num_scan(text, text + size, &num) != BJVM_OK || num.end != text + size) return BJVM_BAD_NUMBER;
  switch (kind) {
    case BJVMI_KIND_INT32: return bjvmi_num_to_i32(&num, &key->int32_val);
    case BJVMI_KIND_UINT32: return bjvmi_num_to_u32(&num, &key->uint32_val);
    case BJVMI_KIND_INT64: return bjvmi_num_to_i64(&num, &key->int64_val);
    default: return bjvmi_num_to_u64(&num, &key->uint64_val);
  }
}

#ifndef BJVM_SIZE_SMALL
/* A short key of plain ASCII or a plain integer; NULL where the slow twin must look. */
static inline const char *plain_key(bjvmi_kind kind, const char *p, upb_MessageValue *key) {
  int64_t v;
  memset(key, 0, sizeof *key);
  if (kind == BJVMI_KIND_STRING) {
    size_t length = bjvmi_short_length(p + 1);
    if (__builtin_expect(length > BJVMI_SHORT_MAX, 0)) return NULL;
    key->str_val = upb_StringView_FromDataAndSize(p + 1, length);
    return p + length + 2;
  }
  if (kind == BJVMI_KIND_BOOL) return NULL;
  p = bjvmi_short_int(p + 1, &v);
  if (__builtin_expect(!p || *p != '"', 0)) return NULL;
  switch (kind) {
    case BJVMI_KIND_INT32: key->int32_val = (int32_t)v; return v == (int32_t)v ? p + 1 : NULL;
    case BJVMI_KIND_UINT32: key->uint32_val = (uint32_t)v; return v == (int64_t)(uint32_t)v ? p + 1 : NULL;
    case BJVMI_KIND_UINT64: key->uint64_val = (uint64_t)v; return v >= 0 ? p + 1 : NULL;
    default: key->int64_val = v; return p + 1;
  }
}
#endif

static const char *slow_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  char buffer[KEY_ROOM];
  const char *text;
  size_t size;
  bjvmi_kind kind = BJVMI_OP_KIND(f->plan->words[0].op);
  upb_MessageValue *key = &f->u.map.key;
  const char *q = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &text, &size);
  if (!q) return NULL;
  memset(key, 0, sizeof *key);
  if (kind == BJVMI_KIND_STRING) {
    if (!string_key(vm, text, size, text == buffer, key)) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  } else if (kind == BJVMI_KIND_BOOL) {
    if (!bool_key(text, size, key)) return bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "\"true\" or \"false\"");
  } else {
    bjvm_status s = number_key(kind, text, size, key);
    if (s != BJVM_OK) return bjvmi_decode_fail(vm, s, p, "an integer in quotes");
  }
  return q;
}

const char *bjvmi_decode_map_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  f->place = BJVMI_PLACE_NONE;
  vm->key = p;
  const char *q = NULL;
#ifndef BJVM_SIZE_SMALL
  q = plain_key(BJVMI_OP_KIND(f->plan->words[0].op), p, &f->u.map.key);
#endif
  if (__builtin_expect(!q, 0)) q = slow_key(vm, f, p);
  if (__builtin_expect(!q, 0)) return NULL;
  f->place = BJVMI_PLACE_LAST;
  q = bjvmi_decode_token(vm, q);
  if (*q != ':') return bjvmi_decode_unexpected(vm, q, "':'");
  return q + 1;
}

/* By the public call, which replaces a value that is there. */
static bool insert_or_replace(bjvmi_decoder *vm, bjvmi_decode_frame *f, const upb_MessageValue *value) {
  switch (upb_Map_Insert((upb_Map *)f->at, f->u.map.key, *value, vm->arena)) {
    case kUpb_MapInsertStatus_Inserted: return true;
    case kUpb_MapInsertStatus_Replaced:
      if (vm->flags & BJVM_DECODE_LAST_WINS) return true;
      bjvmi_decode_fail_key(vm, BJVM_DUPLICATE_KEY);
      return false;
    default: vm->status = BJVM_OUT_OF_MEMORY; return false;
  }
}

bool bjvmi_decode_map_insert(bjvmi_decoder *vm, bjvmi_decode_frame *f, const upb_MessageValue *value) {
  size_t cost = ENTRY_COST;
  bjvmi_kind kind = BJVMI_OP_KIND(f->plan->words[1].op);
  if (BJVMI_OP_KIND(f->plan->words[0].op) == BJVMI_KIND_STRING) cost += f->u.map.key.str_val.size;
  if (kind == BJVMI_KIND_STRING || kind == BJVMI_KIND_BYTES) cost += sizeof(upb_StringView);
  if (!bjvmi_decode_count(vm)) return false;
  if (!bjvmi_decode_charge(vm, cost)) return false;
#ifndef BJVM_SIZE_SMALL
  switch (bjvmi_upb_map_put((upb_Map *)f->at, &f->plan->binding->hashing, &f->u.map.key, value, vm->arena)) {
    case BJVMI_MAP_PUT: return true;
    case BJVMI_MAP_NO_MEMORY: vm->status = BJVM_OUT_OF_MEMORY; return false;
    default: break;
  }
#endif
  return insert_or_replace(vm, f, value);
}

/* -- Maps of scalars ------------------------------------------------------------------------------------ */

/* One entry; NULL on failure. */
static const char *read_entry(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  upb_MessageValue v;
  const char *start;
  p = bjvmi_decode_map_key(vm, f, p);
  if (!p) return NULL;
  p = start = bjvmi_decode_token(vm, p);
  memset(&v, 0, sizeof v);
  switch (bjvmi_decode_scalar(vm, &p, f->plan, &f->plan->words[1], &v)) {
    case BJVMI_READ_VALUE:
      if (bjvmi_decode_map_insert(vm, f, &v)) return p;
      return vm->fault ? NULL : bjvmi_decode_fail(vm, vm->status, start, NULL);
    case BJVMI_READ_NULL: return bjvmi_decode_fail(vm, BJVM_NULL_ELEMENT, start, "a value");
    case BJVMI_READ_DROP: return p;
    default: return NULL;
  }
}

/* All entries and the closing brace. */
static const char *read_entries(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  for (;;) {
    if (*p != '"') {
      f->place = BJVMI_PLACE_NONE;
      return bjvmi_decode_unexpected(vm, p, "a name in quotes");
    }
    p = read_entry(vm, f, p);
    if (!p) return NULL;
    p = bjvmi_decode_token(vm, p);
    if (*p != ',') break;
    p = bjvmi_decode_token(vm, p + 1);
  }
  if (*p == '}') return p + 1;
  f->place = BJVMI_PLACE_NONE;
  return bjvmi_decode_unexpected(vm, p, "',' or '}'");
}

const char *bjvmi_decode_map(bjvmi_decoder *vm, const char *p, bjvmi_decode_frame *f) {
  p = bjvmi_decode_token(vm, p + 1);
  if (*p == '}') {
    p++;
  } else {
    p = read_entries(vm, f, p);
    if (!p) return NULL;
  }
  if (!bjvmi_decode_map_close(vm, f)) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  return p;
}
