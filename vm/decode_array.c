/* Arrays in the decode VM.
 *
 * Neighbours: decode_vm.c walks arrays of messages itself and calls here for arrays of scalars. Invariant: an
 * array's size never covers a slot that is not written: elements are written behind it and the size is set
 * afterwards, also on every error.
 */
#include "decode.h"

enum { FIRST_CAPACITY = 4 }; /* as in upb's binary decoder, in one piece with the array */

static unsigned size_lg2(bjvmi_kind kind) {
  switch (bjvmi_kind_size(kind)) {
    case 1: return 0;
    case 4: return 2;
    case 8: return 3;
    default: return 4;
  }
}

upb_Array *bjvmi_decode_array_open(bjvmi_decoder *vm, void *slot, bjvmi_kind kind) {
  upb_Array *array = (upb_Array *)bjvmi_upb_pointer(slot);
  if (array) {
    if (upb_Array_IsFrozen(array)) vm->status = BJVM_FROZEN;
    return upb_Array_IsFrozen(array) ? NULL : array;
  }
  unsigned lg2 = kind >= BJVMI_KIND_STRING && kind <= BJVMI_KIND_BYTES
                     ? (sizeof(upb_StringView) == 16 ? 4 : 3)
                     : size_lg2(kind);
  if (!bjvmi_decode_charge(vm, sizeof(upb_Array) + ((size_t)FIRST_CAPACITY << lg2))) return NULL;
  vm->status = BJVM_OUT_OF_MEMORY;
  array = bjvmi_upb_array_new(vm->arena, FIRST_CAPACITY, lg2);
  if (!array) return NULL;
  vm->status = BJVM_OK;
  bjvmi_upb_set_pointer(slot, array);
  return array;
}

/* Room for one more element behind `used` written ones, whose number becomes the array's size first. */
static bool grow(bjvmi_decoder *vm, upb_Array *array, size_t used) {
  size_t capacity = upb_Array_Capacity(array);
  size_t more = capacity ? capacity : FIRST_CAPACITY;
  size_t bytes = more << bjvmi_upb_array_lg2(array);
  bjvmi_upb_array_set_size(array, used);
  if (!bjvmi_decode_charge(vm, bytes)) return false;
  if (upb_Array_Reserve(array, capacity + more, vm->arena)) return true;
  vm->status = BJVM_OUT_OF_MEMORY;
  return false;
}

upb_Message *bjvmi_decode_append(bjvmi_decoder *vm, bjvmi_decode_frame *f, const upb_MiniTable *table) {
  upb_Array *array = (upb_Array *)f->at;
  size_t n = upb_Array_Size(array);
  if (!bjvmi_decode_count(vm)) return NULL;
  if (n == upb_Array_Capacity(array) && !grow(vm, array, n)) return NULL;
  upb_Message *m = bjvmi_decode_new(vm, table);
  if (!m) return NULL;
  ((upb_Message **)upb_Array_MutableDataPtr(array))[n] = m;
  bjvmi_upb_array_set_size(array, n + 1);
  return m;
}

/* One element into `dst`. */
static bjvmi_read read_element(bjvmi_decoder *vm, const char **p, const bjvm_plan *plan, const bjvmi_word *w,
                               void *dst) {
  const char *start = *p;
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  if (kind == BJVMI_KIND_STRING && *start == '"') {
    *p = bjvmi_decode_string(vm, start, dst);
    return *p ? BJVMI_READ_VALUE : BJVMI_READ_FAIL;
  }
  bjvmi_read r = bjvmi_decode_scalar(vm, p, plan, w, dst);
  if (r == BJVMI_READ_NULL) {
    bjvmi_decode_fail(vm, BJVM_NULL_ELEMENT, start, "a value");
    return BJVMI_READ_FAIL;
  }
  return r;
}

static inline bool fits(int64_t v, bool is_signed) {
  return v == (is_signed ? (int64_t)(int32_t)v : (int64_t)(uint32_t)v);
}

/* A plain integer of 32 bits, the most common element; NULL: something else. */
static inline const char *plain_integer(const char *p, bool is_signed, uint32_t *v) {
  int64_t n;
  p = bjvmi_short_int(p, &n);
  if (!p || !fits(n, is_signed)) return NULL;
  *v = (uint32_t)n;
  return p;
}

/* -- Many plain elements at once, each with a comma right behind it. Where an element ends is known from where the commas
 * or quotes of 64 bytes are, and not from its digits or letters: so none waits for the one before, which takes some 20
 * cycles, and several are under way at once. Both take up to `room` elements and return where the next one begins; what
 * they do not take is left to the slow twin, the loop over one element at a time. */

#if BJVMI_SHORT_WINDOWS
/* Bytes that may be read from the start of a window on, as a string in it is copied by 32; what of these a token boundary
 * does not promise. */
enum { WINDOW_READS = 64 + BJVMI_SHORT_MAX + 1, WINDOW_MORE = WINDOW_READS - (int)BJVMI_DECODE_PAD };

static bool has_window(const bjvmi_decoder *vm, const char *p) {
  return (uintptr_t)p + WINDOW_MORE <= vm->safe;
}

static const char *plain_integers(const bjvmi_decoder *vm, const char *p, bool is_signed, uint32_t *to,
                                  size_t room, size_t *count) {
  size_t n = 0;
  *count = 0;
  while (has_window(vm, p)) {
    const char *window = p;
    for (uint64_t commas = bjvmi_short_all_of(p, ','); commas != 0; commas &= commas - 1) {
      const char *end = window + __builtin_ctzll(commas);
      int64_t v;
      if (n == room || !bjvmi_short_int_until(p, end, &v) || !fits(v, is_signed)) return p;
      to[n] = (uint32_t)v;
      *count = ++n;
      p = end + 1;
    }
    if (p == window) return p;
  }
  return p;
}

static const char *plain_strings(bjvmi_decoder *vm, const char *p, upb_StringView *to, size_t room,
                                 size_t *count) {
  size_t n = 0;
  *count = 0;
  while (has_window(vm, p)) {
    const char *window = p;
    uint64_t quotes = bjvmi_short_all_of(p, '"');
    uint64_t other = bjvmi_short_all_odd(p) & ~quotes;
    if (*p != '"') return p;
    while ((quotes &= quotes - 1) != 0) { /* the one at p is behind us, the next one closes */
      const char *end = window + __builtin_ctzll(quotes);
      size_t size = (size_t)(end - p) - 1;
      bool odd = (other & (quotes ^ (quotes - 1))) != 0;
      if (n == room || size > BJVMI_SHORT_MAX || odd || end[1] != ',' || end[2] != '"') return p;
      if (!bjvmi_decode_plain_view(vm, p + 1, size, &to[n])) return p;
      *count = ++n;
      p = end + 2;
      quotes &= quotes - 1;
      if (quotes == 0) break;
    }
    if (p == window) return p;
  }
  return p;
}
#endif

/* As many elements as these take. */
static const char *plain_elements(bjvmi_decoder *vm, const char *p, bjvmi_kind kind, void *to, size_t room,
                                  size_t *count) {
  *count = 0;
#if BJVMI_SHORT_WINDOWS
  switch (kind) {
    case BJVMI_KIND_INT32: return plain_integers(vm, p, true, (uint32_t *)to, room, count);
    case BJVMI_KIND_UINT32: return plain_integers(vm, p, false, (uint32_t *)to, room, count);
    case BJVMI_KIND_STRING: return plain_strings(vm, p, (upb_StringView *)to, room, count);
    default: break;
  }
#else
  (void)vm;
  (void)kind;
  (void)to;
  (void)room;
#endif
  return p;
}

const char *bjvmi_decode_array(bjvmi_decoder *vm, const char *p, const bjvm_plan *plan, const bjvmi_word *w,
                               bjvmi_decode_frame *f) {
  upb_Array *array = (upb_Array *)f->at;
  unsigned lg2 = bjvmi_upb_array_lg2(array);
  size_t n = upb_Array_Size(array);
  size_t capacity = upb_Array_Capacity(array);
  char *data = (char *)upb_Array_MutableDataPtr(array);
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  bool is_signed = kind == BJVMI_KIND_INT32;
  bool integers = is_signed || kind == BJVMI_KIND_UINT32;
  bool has_plain = BJVMI_SHORT_WINDOWS && (integers || kind == BJVMI_KIND_STRING);
  bool many =
      false; /* more elements at once are worth a try: the array has just grown, or the last one took some */
  f->pc = w;
  f->plan = plan;
  p = bjvmi_decode_token(vm, p);
  if (*p == ']') return p + 1;
  for (;;) {
    const char *q;
    if (__builtin_expect(n == capacity, 0)) {
      if (!grow(vm, array, n)) break;
      capacity = upb_Array_Capacity(array);
      data = (char *)upb_Array_MutableDataPtr(array);
      many = has_plain && n > 0;
    }
    if (many) {
      size_t count;
      size_t room = capacity - n < vm->elements_left ? capacity - n : vm->elements_left;
      p = plain_elements(vm, p, kind, data + (n << lg2), room, &count);
      vm->elements_left -= count;
      n += count;
      many = count > 0;
      if (__builtin_expect(vm->status != BJVM_OK, 0)) break;
      p = bjvmi_decode_token(vm, p);
      if (n == capacity) continue;
    }
    if (__builtin_expect(vm->elements_left-- == 0, 0)) {
      vm->status = BJVM_ELEMENT_LIMIT;
      break;
    }
    void *dst = data + (n << lg2);
    if (integers && (q = plain_integer(p, is_signed, (uint32_t *)dst)) != NULL) {
      p = q;
      n++;
    } else {
      bjvmi_read r = read_element(vm, &p, plan, w, dst);
      if (__builtin_expect(r == BJVMI_READ_FAIL, 0)) break;
      n += r == BJVMI_READ_VALUE;
    }
    p = bjvmi_decode_token(vm, p);
    if (__builtin_expect(*p != ',', 0)) {
      if (*p != ']') break;
      bjvmi_upb_array_set_size(array, n);
      return p + 1;
    }
    p = bjvmi_decode_token(vm, p + 1);
  }
  bjvmi_upb_array_set_size(array, n);
  if (vm->status == BJVM_OK) {
    f->place = BJVMI_PLACE_NONE;
    return bjvmi_decode_unexpected(vm, p, "',' or ']'");
  }
  if (!vm->fault && !vm->fault_at) bjvmi_decode_fail(vm, vm->status, p, NULL);
  return NULL;
}
