/* Well-known types in the decode VM: Timestamp, Duration, FieldMask, the wrappers, and Any.
 *
 * Neighbours: decode_vm.c; time_text.c and mask.c know the text forms. An Any's content is read into a
 * message in scratch and packed when its object ends. Its @type may stand anywhere: it is looked for once,
 * and what the search passes over is noted, so that Anys inside are not searched again and the cost stays
 * linear.
 */
#include "decode.h"
#include "time_text.h"

static void store(void *msg, const bjvmi_word *w, uint64_t v) {
  void *slot = bjvmi_upb_mut(msg, w->offset);
  if (BJVMI_OP_KIND(w->op) == BJVMI_KIND_INT64) {
    bjvmi_upb_set_u64(slot, v);
  } else {
    bjvmi_upb_set_u32(slot, (uint32_t)v);
  }
  bjvmi_decode_set_presence(msg, w);
}

const char *bjvmi_decode_time(bjvmi_decoder *vm, const char *p, const bjvm_plan *sub, void *msg) {
  char buffer[64];
  const char *text = p + 1;
  int64_t seconds = 0;
  int32_t nanos = 0;
  bool timestamp = sub->kind == BJVMI_KIND_TIMESTAMP;
  if (*p != '"')
    return bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p,
                             timestamp ? "a timestamp in quotes" : "a duration in quotes");
  size_t size = bjvmi_short_length(text);
  const char *q = text + size + 1;
  if (__builtin_expect(size > BJVMI_SHORT_MAX, 0))
    q = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &text, &size);
  if (__builtin_expect(!q, 0)) return NULL;
  if (timestamp ? bjvmi_timestamp_read(text, size, &seconds, &nanos) != NULL
                : bjvmi_duration_read(text, size, &seconds, &nanos) != NULL) {
    return timestamp ? bjvmi_decode_fail(vm, BJVM_BAD_TIMESTAMP, p,
                                         "YYYY-MM-DDThh:mm:ss[.fraction]Z, or an offset for the Z")
                     : bjvmi_decode_fail(vm, BJVM_BAD_DURATION, p, "seconds with an s, such as \"1.5s\"");
  }
  store(msg, &sub->words[0], (uint64_t)seconds);
  store(msg, &sub->words[1], (uint64_t)(uint32_t)nanos);
  return q;
}

const char *bjvmi_decode_wrapper(bjvmi_decoder *vm, const char *p, const bjvm_plan *sub, void *msg) {
  const bjvmi_word *w = sub->words;
  upb_MessageValue v;
  const char *start = p;
  memset(&v, 0, sizeof v);
  switch (bjvmi_decode_scalar(vm, &p, sub, w, &v)) {
    case BJVMI_READ_VALUE: break;
    case BJVMI_READ_NULL: return bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, start, "a value");
    case BJVMI_READ_DROP: return p;
    default: return NULL;
  }
  memcpy(bjvmi_upb_mut(msg, w->offset), &v, bjvmi_word_size(w));
  bjvmi_decode_set_presence(msg, w);
  return p;
}

/* -- FieldMask ------------------------------------------------------------------------------------------ */

static bool add_path(bjvmi_decoder *vm, upb_Array *paths, const char *p, size_t size) {
  const char *bad;
  upb_MessageValue v;
  if (size == 0) vm->status = BJVM_BAD_FIELD_MASK;
  if (size == 0 || !bjvmi_decode_count(vm) || !bjvmi_decode_charge(vm, sizeof(upb_StringView))) return false;
  char *copy = (char *)bjvmi_decode_alloc(vm, 2 * size);
  if (!copy) return false;
  char *end = bjvmi_mask_to_snake(copy, p, size, &bad);
  if (!end) {
    vm->status = BJVM_BAD_FIELD_MASK;
    return false;
  }
  upb_Arena_ShrinkLast(vm->arena, copy, 2 * size, (size_t)(end - copy));
  vm->memory_left += 2 * size - (size_t)(end - copy);
  v.str_val = upb_StringView_FromDataAndSize(copy, (size_t)(end - copy));
  if (upb_Array_Append(paths, v, vm->arena)) return true;
  vm->status = BJVM_OUT_OF_MEMORY;
  return false;
}

const char *bjvmi_decode_field_mask(bjvmi_decoder *vm, const char *p, const bjvm_plan *sub, void *msg) {
  char buffer[256];
  const char *text;
  size_t size;
  if (*p != '"') return bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "field paths in quotes");
  const char *q = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &text, &size);
  if (!q) return NULL;
  upb_Array *paths = bjvmi_decode_array_open(vm, bjvmi_upb_mut(msg, sub->words[0].offset), BJVMI_KIND_STRING);
  if (!paths) return bjvmi_decode_fail(vm, vm->status, p, NULL);
  while (size > 0) {
    const char *comma = (const char *)memchr(text, ',', size);
    size_t n = comma ? (size_t)(comma - text) : size;
    bool more = comma != NULL;
    if (!add_path(vm, paths, text, n) || (more && n + 1 == size)) {
      if (vm->status == BJVM_OK) vm->status = BJVM_BAD_FIELD_MASK;
      bool paths_wrong = vm->status == BJVM_BAD_FIELD_MASK;
      return bjvmi_decode_fail(vm, vm->status, p,
                               paths_wrong ? "lowerCamelCase paths joined by commas" : NULL);
    }
    text += n + more;
    size -= n + more;
  }
  return q;
}

/* -- Any: finding @type --------------------------------------------------------------------------------- */

/* Where a text's objects have their @type: made by one search, asked by the Anys inside. Open addressing by
 * object offset. */
typedef struct type_note {
  size_t object; /* offset of the brace + 1; 0: free */
  size_t type;   /* offset of the @type's value */
} type_note;

struct bjvmi_type_notes {
  type_note *slots;
  size_t capacity; /* a power of two, or 0 */
  size_t count;
  size_t until; /* everything before this offset has been searched */
};

static bjvmi_type_notes *notes_of(bjvmi_decoder *vm) {
  if (vm->notes) return vm->notes;
  vm->notes = (bjvmi_type_notes *)upb_Arena_Malloc(vm->scratch, sizeof *vm->notes);
  if (vm->notes) memset(vm->notes, 0, sizeof *vm->notes);
  return vm->notes;
}

static type_note *note_slot(type_note *slots, size_t capacity, size_t object) {
  size_t i = (object * (size_t)0x9e3779b9u) & (capacity - 1);
  while (slots[i].object && slots[i].object != object + 1) i = (i + 1) & (capacity - 1);
  return &slots[i];
}

static bool grow_notes(bjvmi_decoder *vm, bjvmi_type_notes *n) {
  size_t capacity = n->capacity ? n->capacity * 2 : 32;
  type_note *slots = (type_note *)upb_Arena_Malloc(vm->scratch, capacity * sizeof *slots);
  if (!slots) return false;
  memset(slots, 0, capacity * sizeof *slots);
  for (size_t i = 0; i < n->capacity; i++) {
    if (n->slots[i].object) *note_slot(slots, capacity, n->slots[i].object - 1) = n->slots[i];
  }
  n->slots = slots;
  n->capacity = capacity;
  return true;
}

static bool add_note(bjvmi_decoder *vm, size_t object, size_t type) {
  bjvmi_type_notes *n = vm->notes;
  if (n->count * 2 >= n->capacity && !grow_notes(vm, n)) {
    vm->status = BJVM_OUT_OF_MEMORY;
    return false;
  }
  type_note *slot = note_slot(n->slots, n->capacity, object);
  if (slot->object) return true; /* a second @type is an error when that Any is read */
  slot->object = object + 1;
  slot->type = type;
  n->count++;
  return true;
}

/* Reads over the object whose brace is at p, noting the @type of every object in it. The frames above f are
 * its stack; a frame's `at` holds the object's offset. */
static const char *search(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p) {
  bjvmi_decode_frame *base = f;
  char buffer[8];
  const char *text;
  size_t size;
  for (;;) {
    bool object = *p == '{';
    if (object || *p == '[') {
      if (f + 1 >= vm->frame_limit) {
        return bjvmi_decode_fail(vm, f + 1 < vm->frame_end ? BJVM_SCRATCH : BJVM_DEPTH, p, NULL);
      }
      f++;
      f->kind = object ? BJVMI_DECODE_SKIP_OBJECT : BJVMI_DECODE_SKIP_ARRAY;
      f->at = (void *)(uintptr_t)bjvmi_decode_offset(vm, p);
      p = bjvmi_decode_token(vm, p + 1);
      if (*p != (object ? '}' : ']')) {
        if (object) goto name;
        continue;
      }
      p++;
      f--;
    } else if (!(p = bjvmi_decode_skip(vm, f, p))) {
      return NULL;
    }
    for (;;) {
      if (f == base) return p;
      object = f->kind == BJVMI_DECODE_SKIP_OBJECT;
      p = bjvmi_decode_token(vm, p);
      if (*p != (object ? '}' : ']')) break;
      p++;
      f--;
    }
    if (*p != ',') return bjvmi_decode_unexpected(vm, p, object ? "',' or '}'" : "',' or ']'");
    p = bjvmi_decode_token(vm, p + 1);
    if (!object) continue;
  name:
    if (*p != '"') return bjvmi_decode_unexpected(vm, p, "a name in quotes");
    size = 0;
    p = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &text, &size);
    if (!p) return NULL;
    bool type = size == 5 && memcmp(text, "@type", 5) == 0;
    p = bjvmi_decode_token(vm, p);
    if (*p != ':') return bjvmi_decode_unexpected(vm, p, "':'");
    p = bjvmi_decode_token(vm, p + 1);
    if (type && !add_note(vm, (size_t)(uintptr_t)f->at, bjvmi_decode_offset(vm, p))) {
      return bjvmi_decode_fail(vm, vm->status, p, NULL);
    }
  }
}

/* The window, to come back to after a search. */
typedef struct window {
  uintptr_t safe;
  const char *end;
} window;

static window save(const bjvmi_decoder *vm) { return (window){vm->safe, vm->end}; }

static void go_back(bjvmi_decoder *vm, window w) {
  vm->safe = w.safe;
  vm->end = w.end;
}

/* The @type string of the object at p, copied to the arena of the message; returns its end, or NULL with status
 * set. */
static const char *read_type(bjvmi_decoder *vm, const char *p, upb_StringView *url) {
  const char *fault = p;
  vm->key = p;
  if (*p == '"') {
    p = bjvmi_decode_string(vm, p, url);
    if (!p) return NULL;
    size_t name = bjvmi_short_behind_last(url->data, url->size, '/');
    if (name > 1 && name < url->size) return p;
    return bjvmi_decode_fail(vm, BJVM_ANY_TYPE, fault,
                             "a type URL such as \"type.googleapis.com/pkg.Message\"");
  }
  return bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "a type URL in quotes");
}

/* The first member, when that is @type: the usual case. Returns the place behind it and *found, or p: another member
 * comes first, or NULL. */
static const char *type_is_first(bjvmi_decoder *vm, const char *p, upb_StringView *url, bool *found) {
  char buffer[64];
  const char *text;
  size_t size;
  *found = false;
  if (*p != '"') return bjvmi_decode_unexpected(vm, p, "a name in quotes");
  const char *q = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &text, &size);
  if (!q) return NULL;
  if (size != 5 || memcmp(text, "@type", 5) != 0) return p;
  q = bjvmi_decode_token(vm, q);
  if (*q != ':') return bjvmi_decode_unexpected(vm, q, "':'");
  *found = true;
  return read_type(vm, bjvmi_decode_token(vm, q + 1), url);
}

/* The @type string at p, a place in the text before the window: copied, with zero bytes behind it, and read
 * there. */
static bool read_type_apart(bjvmi_decoder *vm, const char *p, upb_StringView *url) {
  unsigned flags = 0;
  window w = save(vm);
  const char *end = vm->json + vm->size;
  vm->end = end;
  if (*p != '"') return read_type(vm, p, url) != NULL;
  const char *q = bjvmi_decode_close_quote(vm, p, &flags);
  if (!q) return false;
  size_t size = (size_t)(q + 1 - p);
  char *copy = (char *)upb_Arena_Malloc(vm->scratch, size + BJVMI_DECODE_PAD);
  if (!copy) {
    bjvmi_decode_fail(vm, BJVM_OUT_OF_MEMORY, p, NULL);
    return false;
  }
  memcpy(copy, p, size);
  memset(copy + size, 0, BJVMI_DECODE_PAD);
  vm->end = copy + size;
  uint32_t options = vm->flags;
  vm->flags &= ~(uint32_t)BJVM_DECODE_ALIAS; /* the copy is no place to point into */
  bool ok = read_type(vm, copy, url) != NULL;
  vm->flags = options;
  if (!ok && vm->fault >= copy && vm->fault <= copy + size)
    bjvmi_decode_fail(vm, vm->status, p, vm->expected);
  vm->key = p;
  go_back(vm, w);
  return ok;
}

/* The @type of the object at p by the notes, after a search if this part of the text has not had one. */
static bool type_is_noted(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p, upb_StringView *url) {
  size_t object = bjvmi_decode_offset(vm, p);
  window w = save(vm);
  bjvmi_type_notes *n = notes_of(vm);
  if (!n) {
    bjvmi_decode_fail(vm, BJVM_OUT_OF_MEMORY, p, NULL);
    return false;
  }
  if (object >= n->until) {
    const char *end = search(vm, f, p);
    if (!end) return false;
    n->until = bjvmi_decode_offset(vm, end);
    go_back(vm, w);
  }
  const type_note *slot = n->capacity ? note_slot(n->slots, n->capacity, object) : NULL;
  if (!slot || !slot->object) {
    bjvmi_decode_fail(vm, BJVM_ANY_FORM, p, "a member \"@type\"");
    return false;
  }
  /* The value may lie before a tail that is being read, or in it. */
  bool in_tail = w.safe == UINTPTR_MAX && vm->end != vm->json + vm->size;
  if (in_tail && slot->type >= vm->tail_at)
    return read_type(vm, vm->tail + (slot->type - vm->tail_at), url) != NULL;
  return read_type_apart(vm, vm->json + slot->type, url);
}

/* -- Any: opening and closing --------------------------------------------------------------------------- */

static const bjvm_plan *resolve(bjvmi_decoder *vm, upb_StringView url, bjvm_status *status) {
  size_t i = bjvmi_short_behind_last(url.data, url.size, '/');
  return vm->registry->find_message(vm->registry->context, url.data + i, url.size - i, status);
}

const char *bjvmi_decode_any_open(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p,
                                  const bjvm_plan *sub, void *msg, bjvmi_decode_any **state) {
  const bjvm_registry *r = vm->registry;
  upb_StringView url = {NULL, 0};
  bool found;
  window w = save(vm);
  const char *q = bjvmi_decode_token(vm, p + 1);
  *state = NULL;
  if (*q == '}') return q + 1;
  if (!r || !r->find_message || !r->encode) return bjvmi_decode_fail(vm, BJVM_NO_REGISTRY, p, NULL);
  if (!vm->scratch) return bjvmi_decode_fail(vm, BJVM_SCRATCH, p, NULL);
  q = type_is_first(vm, q, &url, &found);
  if (!q) return NULL;
  if (!found) {
    go_back(vm, w);
    if (!type_is_noted(vm, f, p, &url)) return NULL;
    q = p + 1;
  }
  bjvm_status status = BJVM_ANY_TYPE;
  const bjvm_plan *plan = resolve(vm, url, &status);
  if (!plan) {
    return bjvmi_decode_fail_key(vm, status);
  }
  bjvmi_decode_any *any = (bjvmi_decode_any *)upb_Arena_Malloc(vm->scratch, sizeof *any);
  upb_Message *content = bjvmi_upb_new(plan->table, vm->scratch);
  if (!any || !content) return bjvmi_decode_fail(vm, BJVM_OUT_OF_MEMORY, p, NULL);
  *any = (bjvmi_decode_any){.any = (upb_Message *)msg,
                            .any_plan = sub,
                            .plan = plan,
                            .content = content,
                            .arena = vm->arena,
                            .url = url,
                            .type_seen = found};
  vm->arena = vm->scratch;
  *state = any;
  return q;
}

bool bjvmi_decode_any_close(bjvmi_decoder *vm, bjvmi_decode_any *any) {
  const bjvmi_word *w = any->any_plan->words;
  char *data;
  size_t size;
  vm->arena = any->arena;
  const bjvm_registry *r = vm->registry;
  vm->status = r->encode(r->context, any->content, any->plan->table, vm->arena, &data, &size);
  if (vm->status != BJVM_OK) return false;
  if (!bjvmi_decode_charge(vm, size)) return false;
  bjvmi_upb_set_string(bjvmi_upb_mut(any->any, w[0].offset), any->url.data, any->url.size);
  bjvmi_decode_set_presence(any->any, &w[0]);
  bjvmi_upb_set_string(bjvmi_upb_mut(any->any, w[1].offset), data, size);
  bjvmi_decode_set_presence(any->any, &w[1]);
  return true;
}

static const char *member_again(bjvmi_decoder *vm, bool *seen) {
  if (*seen) return bjvmi_decode_fail_key(vm, BJVM_DUPLICATE_FIELD);
  *seen = true;
  return vm->json;
}

const char *bjvmi_decode_any_member(bjvmi_decoder *vm, bjvmi_decode_frame *f, const char *p, bool *is_value) {
  bjvmi_decode_any *any = (bjvmi_decode_any *)f->at;
  char buffer[64];
  const char *text;
  size_t size;
  vm->key = p;
  p = bjvmi_decode_short(vm, p, buffer, sizeof buffer, &text, &size);
  if (!p) return NULL;
  p = bjvmi_decode_token(vm, p);
  if (*p != ':') return bjvmi_decode_unexpected(vm, p, "':'");
  p = bjvmi_decode_token(vm, p + 1);
  *is_value = size == 5 && memcmp(text, "value", 5) == 0;
  bool type = size == 5 && memcmp(text, "@type", 5) == 0;
  if (*is_value) return member_again(vm, &any->value_seen) ? p : NULL;
  if (type) return member_again(vm, &any->type_seen) ? bjvmi_decode_skip(vm, f, p) : NULL;
  if (vm->flags & BJVM_DECODE_IGNORE_UNKNOWN) return bjvmi_decode_skip(vm, f, p);
  return bjvmi_decode_fail_key(vm, BJVM_UNKNOWN_FIELD);
}
