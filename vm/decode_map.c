/* Maps in the decode VM.
 *
 * Neighbours: decode_vm.c walks maps with message values through the same functions. Entries wait in the
 * decoder until their map closes (the small build puts them in as they come), so that a duplicate is known only
 * then; a failure before that asks for one first. Duplicates are counted within this text only: a map that had
 * entries gets the new ones by way of a map of their own, merged when the text's object ends. Under last_wins a
 * map that was there is not changed at all.
 */
#include "decode.h"
#include "upb_map.h"

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

bool bjvmi_decode_map_open(bjvmi_decoder *vm, bjvmi_decode_frame *f, void *slot) {
  upb_Map *map = (upb_Map *)bjvmi_upb_pointer(slot);
  f->u.map.merge = NULL;
  f->u.map.slot = slot;
  f->at = map;
#ifndef BJVM_SIZE_SMALL
  f->first = (uint16_t)vm->waiting_count;
#endif
  if (!map) return true;
  if (upb_Map_IsFrozen(map)) {
    vm->status = BJVM_FROZEN;
    return false;
  }
  if (bjvmi_upb_map_size(map) == 0 && !(vm->flags & BJVM_DECODE_LAST_WINS)) return true;
  f->u.map.merge = map;
  f->at = NULL;
  return true;
}

/* -- Putting entries in --------------------------------------------------------------------------------- */

/* The map that the frame's entries go into, made if need be. `count` is about how many there will be, 0: nobody knows;
 * where there is no memory for a table of that size, the map grows. NULL with status set. */
static upb_Map *map_of(bjvmi_decoder *vm, bjvmi_decode_frame *f, size_t count) {
  upb_Map *map = (upb_Map *)f->at;
  if (map) {
    if (count > 0 && bjvmi_upb_map_size(map) == 0) (void)bjvmi_upb_map_reserve(map, count, vm->arena);
    return map;
  }
  if (!bjvmi_decode_charge(vm, MAP_COST)) return NULL;
  upb_CType key = ctype(BJVMI_OP_KIND(f->plan->words[0].op));
  upb_CType value = ctype(BJVMI_OP_KIND(f->plan->words[1].op));
  map = bjvmi_upb_map_new(key, value, count, vm->arena);
  if (!map && count) map = bjvmi_upb_map_new(key, value, 0, vm->arena);
  if (!map) {
    vm->status = BJVM_OUT_OF_MEMORY;
    return NULL;
  }
  f->at = map;
  if (!f->u.map.merge) bjvmi_upb_set_pointer(f->u.map.slot, map);
  return map;
}

static void fail_duplicate(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_decode_entry *e) {
  f->u.map.key = e->key;
  f->place = BJVMI_PLACE_LAST;
  vm->key = e->at;
  bjvmi_decode_fail_key(vm, BJVM_DUPLICATE_KEY);
}

/* By the public call, which replaces a value that is there. */
static bool insert_or_replace(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_decode_entry *e) {
  switch (upb_Map_Insert((upb_Map *)f->at, e->key, e->value, vm->arena)) {
    case kUpb_MapInsertStatus_Inserted: return true;
    case kUpb_MapInsertStatus_Replaced:
      if (vm->flags & BJVM_DECODE_LAST_WINS) return true;
      fail_duplicate(vm, f, e);
      return false;
    default: vm->status = BJVM_OUT_OF_MEMORY; return false;
  }
}

#ifdef BJVM_SIZE_SMALL
static bool put_entry(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  bjvmi_decode_entry *e = &vm->waiting[0];
  e->key = f->u.map.key;
  e->at = vm->key;
  return map_of(vm, f, 0) && insert_or_replace(vm, f, e);
}

static bool put_waiting(bjvmi_decoder *vm, bjvmi_decode_frame *f, size_t more) {
  (void)vm;
  (void)f;
  (void)more;
  return true;
}

void bjvmi_decode_map_settle(bjvmi_decoder *vm) { (void)vm; }
#else
/* About how many entries the map has from the key at p on: commas up to the first closing brace, or, where the values
 * are messages, closing braces up to the first two in a row. Strings and values may hold all of these, so it is no more
 * than a guess. What a false one can cost is bounded: an entry has at least 6 bytes, no byte of the text is counted
 * twice by the same rule, and a call that limits memory gets no guesses. */
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
  size_t left = vm->size - at;
  size_t size;
  bool messages = BJVMI_OP_KIND(entry->words[1].op) == BJVMI_KIND_MESSAGE;
  size_t *guessed = &vm->guessed[messages];
  if (vm->memory_left < SIZE_MAX / 2 || at < *guessed) return 0;
  p = vm->json + at; /* not in the tail, where the window may be */
  const char *end = p + (left < GUESS_LOOK ? left : GUESS_LOOK);
  size_t count = 1 + (messages ? count_braces(p, end, &size) : count_commas(p, end, &size));
  *guessed = at + size;
  size_t most = size / ENTRY_MIN < vm->elements_left ? size / ENTRY_MIN : vm->elements_left;
  if (count > most) count = most;
  /* In a block that cannot grow, a wrong guess must leave room for what the text really holds. */
  if (count * ENTRY_COST > bjvmi_upb_arena_room(vm->arena) / 4 && !upb_Arena_GetUpbAlloc(vm->arena)) return 0;
  return count;
}

/* Puts in an entry of a hashed map; see bjvmi_upb_map_link for `heads`. */
static inline bool put_hashed(bjvmi_decoder *vm, bjvmi_decode_frame *f, bool string, uint32_t hash,
                              bool heads, const bjvmi_decode_entry *e) {
  const bjvmi_map_hashing *h = &f->plan->binding->hashing;
  switch (bjvmi_upb_map_put((upb_Map *)f->at, h, string, hash, heads, &e->key, &e->value, vm->arena)) {
    case BJVMI_MAP_PUT: return true;
    case BJVMI_MAP_NO_MEMORY: vm->status = BJVM_OUT_OF_MEMORY; return false;
    default: return insert_or_replace(vm, f, e);
  }
}

/* Puts in entries whose map is hashed. All hashes come first, as none waits for another. Into a map that is empty go,
 * next, those whose main slot is free, so that nobody else ever holds a main slot and no entry has to give way and be
 * hashed again for that. A key that is there twice is among those left over, which come in the order of the text. */
static inline __attribute__((always_inline)) bool
put_all(bjvmi_decoder *vm, bjvmi_decode_frame *f, bool string, const bjvmi_decode_entry *e, size_t count) {
  const bjvmi_map_hashing *h = &f->plan->binding->hashing;
  upb_Map *map = (upb_Map *)f->at;
  uint32_t hashes[BJVMI_DECODE_WAITING];
  uint8_t left[BJVMI_DECODE_WAITING];
  size_t left_count = 0;
  bool heads = bjvmi_upb_map_size(map) == 0 && bjvmi_upb_map_takes(map, count);
  for (size_t i = 0; i < count; i++) hashes[i] = bjvmi_upb_map_hash(map, h, string, &e[i].key);
  for (size_t i = 0; i < count; i++) {
    bjvmi_map_put put = BJVMI_MAP_OTHERWISE;
    if (heads) put = bjvmi_upb_map_place(map, string, hashes[i], &e[i].key, &e[i].value, vm->arena);
    if (__builtin_expect(put == BJVMI_MAP_NO_MEMORY, 0)) {
      vm->status = BJVM_OUT_OF_MEMORY;
      return false;
    }
    left[left_count] = (uint8_t)i;
    left_count += put == BJVMI_MAP_OTHERWISE;
  }
  for (size_t i = 0; i < left_count; i++) {
    if (!put_hashed(vm, f, string, hashes[left[i]], heads, &e[left[i]])) return false;
  }
  return true;
}

/* Puts `count` entries into the map, which they may be the first of. `more`: about how many are still to come. */
static bool put_entries(bjvmi_decoder *vm, bjvmi_decode_frame *f, const bjvmi_decode_entry *e, size_t count,
                        size_t more) {
  upb_Map *map = map_of(vm, f, count + more);
  if (!map) return false;
  if (!bjvmi_upb_map_hashed(map, &f->plan->binding->hashing)) {
    for (size_t i = 0; i < count; i++) {
      if (!insert_or_replace(vm, f, &e[i])) return false;
    }
    return true;
  }
  bool string = BJVMI_OP_KIND(f->plan->words[0].op) == BJVMI_KIND_STRING;
  return string ? put_all(vm, f, true, e, count) : put_all(vm, f, false, e, count);
}

/* Puts in the entries that wait. They did so that the table is made once and in the right size. */
static bool put_waiting(bjvmi_decoder *vm, bjvmi_decode_frame *f, size_t more) {
  size_t count = vm->waiting_count - f->first;
  vm->waiting_count = f->first;
  return count == 0 || put_entries(vm, f, vm->waiting + f->first, count, more);
}

/* Takes the entry whose value stands in the first free place to wait. */
static bool put_entry(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  bjvmi_decode_entry *e = &vm->waiting[vm->waiting_count];
  e->key = f->u.map.key;
  e->at = vm->key;
  if (__builtin_expect(vm->waiting_count < BJVMI_DECODE_WAITING, 1)) {
    vm->waiting_count++;
    return true;
  }
  if (f->first == BJVMI_DECODE_WAITING) /* all that wait belong to the maps around this one */
    return put_entries(vm, f, e, 1, f->at ? 0 : guess_entries(vm, f->plan, e->at));
  if (!put_waiting(vm, f, guess_entries(vm, f->plan, e->at))) return false;
  vm->waiting[vm->waiting_count++] = *e;
  return true;
}

static bool same_key(bool string, const upb_MessageValue *a, const upb_MessageValue *b) {
  if (!string) return a->uint64_val == b->uint64_val;
  return a->str_val.size == b->str_val.size && memcmp(a->str_val.data, b->str_val.data, a->str_val.size) == 0;
}

/* The first of the entries [e, end) of a map that is there already, or `end`. */
static const bjvmi_decode_entry *find_duplicate(const bjvmi_decode_frame *f, const bjvmi_decode_entry *e,
                                                const bjvmi_decode_entry *end) {
  bool string = BJVMI_OP_KIND(f->plan->words[0].op) == BJVMI_KIND_STRING;
  for (const bjvmi_decode_entry *x = e; x < end; x++) {
    if (f->at && upb_Map_Get((const upb_Map *)f->at, x->key, NULL)) return x;
    for (const bjvmi_decode_entry *y = e; y < x; y++) {
      if (same_key(string, &x->key, &y->key)) return x;
    }
  }
  return end;
}

void bjvmi_decode_map_settle(bjvmi_decoder *vm) {
  if (vm->flags & BJVM_DECODE_LAST_WINS) return;
  const bjvmi_decode_entry *end = vm->waiting + vm->waiting_count;
  for (bjvmi_decode_frame *f = vm->frame; f > vm->frames; f--) {
    if (f->kind != BJVMI_DECODE_MAP) continue;
    const bjvmi_decode_entry *own = vm->waiting + f->first;
    const bjvmi_decode_entry *e = own < end ? find_duplicate(f, own, end) : end;
    if (e < end) {
      fail_duplicate(vm, f, e);
      vm->frame = f;
    }
    end = own < end ? own : end;
  }
}
#endif

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
  if (!put_waiting(vm, f, 0)) return false;
  if (!f->u.map.merge || !f->at) return true;
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
/* A plain integer; NULL where the slow twin must look. */
static inline const char *plain_key(bjvmi_kind kind, const char *p, upb_MessageValue *key) {
  int64_t v;
  memset(key, 0, sizeof *key);
  if (kind == BJVMI_KIND_BOOL || kind == BJVMI_KIND_STRING) return NULL;
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

const char *bjvmi_decode_map_any_key(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
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

bool bjvmi_decode_map_insert(bjvmi_decoder *vm, bjvmi_decode_frame *f) {
  size_t cost = ENTRY_COST;
  bjvmi_kind kind = BJVMI_OP_KIND(f->plan->words[1].op);
  if (BJVMI_OP_KIND(f->plan->words[0].op) == BJVMI_KIND_STRING) cost += f->u.map.key.str_val.size;
  if (kind == BJVMI_KIND_STRING || kind == BJVMI_KIND_BYTES) cost += sizeof(upb_StringView);
  return bjvmi_decode_count(vm) && bjvmi_decode_charge(vm, cost) && put_entry(vm, f);
}

/* -- Maps of scalars ------------------------------------------------------------------------------------ */

/* One entry; NULL on failure. */
static const char *read_entry(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  const char *start;
  p = bjvmi_decode_map_key(vm, f, p);
  if (!p) return NULL;
  p = start = bjvmi_decode_token(vm, p);
  upb_MessageValue *v = bjvmi_decode_map_value(vm);
  if (BJVMI_OP_KIND(f->plan->words[1].op) == BJVMI_KIND_STRING && *p == '"') {
    p = bjvmi_decode_string(vm, p, v);
    if (p && bjvmi_decode_map_insert(vm, f)) return p;
    return vm->fault ? NULL : bjvmi_decode_fail(vm, vm->status, start, NULL);
  }
  memset(v, 0, sizeof *v);
  switch (bjvmi_decode_scalar(vm, &p, f->plan, &f->plan->words[1], v)) {
    case BJVMI_READ_VALUE:
      if (bjvmi_decode_map_insert(vm, f)) return p;
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
  if (bjvmi_decode_map_close(vm, f)) return p;
  return vm->fault ? NULL : bjvmi_decode_fail(vm, vm->status, p, NULL);
}
