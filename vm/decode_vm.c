/* The decode VM's loop: reads JSON by the bound words of a plan into a message.
 *
 * Neighbours: decode.c sets up and reports; decode_key.c looks names up, decode_scalar.c, decode_array.c,
 * decode_map.c and decode_wkt.c read everything that has a loop of its own. Invariants: at every token
 * boundary BJVMI_DECODE_PAD bytes are readable (decode.h); frames hold all state of open values, there is no
 * C recursion; a message is valid memory at any moment.
 *
 * The registers: p (the text), w (the word predicted, then met), msg (where its value goes), plan, f (frame).
 * The next name is guessed to be that of the next word and compared whole, quotes and colon included; only a
 * miss asks the tables.
 */
#include "decode.h"

#if defined(__SSE2__) && !defined(BJVM_PORTABLE_KERNELS)
#include <emmintrin.h>
#endif

#if defined(BJVM_DISPATCH_SWITCH) || !defined(__GNUC__)
#define USE_SWITCH 1
#else
#define USE_SWITCH 0
#endif

enum { GUESSES = 6 }; /* names compared before the tables are asked, which cost as much as about so many */

#if defined(__SSE2__) && !defined(BJVM_PORTABLE_KERNELS)
/* A bit for each of 16 bytes that differ. */
static inline uint32_t differ(const char *p, const char *q) {
  __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
  __m128i b = _mm_loadu_si128((const __m128i *)(const void *)q);
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) ^ 0xffff;
}
#endif

/* Whether the first n bytes (0 < n < BJVMI_DECODE_PAD) are equal; 16 bytes of both may be read. */
static inline bool same(const char *p, const char *q, size_t n) {
#if defined(__SSE2__) && !defined(BJVM_PORTABLE_KERNELS)
  uint32_t first = differ(p, q);
  if (n < 16) return (first << (32 - n)) == 0;
  if (first) return false;
  for (size_t i = 16; i + 16 < n; i += 16)
    if (differ(p + i, q + i)) return false;
  return differ(p + n - 16, q + n - 16) == 0; /* without a call, which would cost the loop its registers */
#elif defined(BJVMI_HAVE_NEON)
  uint64_t differ = ~bjvmi_neon_mask(vceqq_u8(bjvmi_neon_load(p), bjvmi_neon_load(q)));
  if (n < 16) return differ << (64 - 4 * n) == 0;
  return differ == 0 && memcmp(p + 16, q + 16, n - 16) == 0;
#else
  return memcmp(p, q, n) == 0;
#endif
}

/* Whether the first 4 bytes are equal: a name with its quotes and colon has no fewer, but for the empty one, which is left
 * to the tables. Most of the names that are not the one looked for differ there. */
static inline bool same_start(const char *p, const char *q) {
  uint32_t a;
  uint32_t b;
  memcpy(&a, p, 4);
  memcpy(&b, q, 4);
  return a == b;
}

/* The same inside quotes, or bare. */
static inline const char *simple_int64(const char *p, int64_t *v) {
  if (*p != '"') return bjvmi_short_int(p, v);
  p = bjvmi_short_int(p + 1, v);
  return p && *p == '"' ? p + 1 : NULL;
}

#ifndef BJVM_SIZE_SMALL
/* Whether a number may be followed by this byte, in the plainest of texts. At the end of the text there is
 * none to read. */
static inline bool ends_number(char c) { return c == ',' || c == '}' || c == ']'; }
#endif

/* Which member of google.protobuf.Value begins with this byte; a number where none does. By a table, as it is random and
 * a tree of compares is guessed wrong more than once. */
static inline uint32_t value_case(char c) {
#ifdef BJVM_SIZE_SMALL
  switch (c) {
    case '{': return 5;
    case '[': return 6;
    case '"': return 3;
    case 't':
    case 'f': return 4;
    case 'n': return 1;
    default: return 2;
  }
#else
  enum { NUMBER = 2 };
  static const uint8_t cases[256] = {['{'] = 5 - NUMBER, ['['] = 6 - NUMBER, ['"'] = 3 - NUMBER,
                                     ['t'] = 4 - NUMBER, ['f'] = 4 - NUMBER, ['n'] = 0xff};
  return (uint8_t)(cases[(uint8_t)c] + NUMBER);
#endif
}

/* Whether the value at p is a null that does not set the field. */
static inline bool leaves_unset(const char *p, const bjvmi_word *w) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  return *p == 'n' && kind != BJVMI_KIND_VALUE && kind != BJVMI_KIND_NULL_VALUE;
}

/* -- The loop. Labels are kinds; macros are defined here and undefined below. --------------------------- */

#define ROW_SCALAR(name) ROW(name, name, scalar_array)
#define ROW_ENUM(name) ROW(name, name, scalar_array)
#define ROW_MESSAGE(name)                                                                                    \
  LABEL(name, HASBIT, message)                                                                               \
  LABEL(name, ONEOF, oneof)                                                                                  \
  LABEL(name, ALWAYS, message)                                                                               \
  LABEL(name, ARRAY, message_array)
#define ROW_MAP(name) LABEL(name, ARRAY, map)
#define ROW_CONTROL(name)
#define ROW(name, label, array)                                                                              \
  LABEL(name, IMPLICIT, label)                                                                               \
  LABEL(name, HASBIT, label)                                                                                 \
  LABEL(name, ONEOF, oneof)                                                                                  \
  LABEL(name, ALWAYS, label)                                                                                 \
  LABEL(name, ARRAY, array)
#define KIND(name, number, shape, mnemonic, synopsis) ROW_##shape(name)

#define SLOT() bjvmi_upb_mut(msg, w->offset)

/* Whether w is a member of a oneof that this text has set otherwise. */
#define ONEOF_TAKEN()                                                                                        \
  (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF && bjvmi_upb_oneof_case(msg, w->presence) != 0 &&                \
   !leaves_unset(p, w) && bjvmi_decode_oneof_taken(vm, f, w))

/* A member's value is stored: presence, then the next member. */
#define STORED()                                                                                             \
  if (BJVMI_OP_FORM(w->op) != BJVMI_FORM_IMPLICIT) bjvmi_decode_set_presence(msg, w);                        \
  goto next_member

const char *bjvmi_decode_run(bjvmi_decoder *vm, const bjvm_plan *plan, upb_Message *top, const char *p) {
#if !USE_SWITCH
#define LABEL(kind, form, label) [BJVMI_OP(BJVMI_KIND_##kind, BJVMI_FORM_##form)] = &&label,
  static const void *const labels[256] = {
#include "ops.def"
  };
#undef LABEL
#endif
  bjvmi_decode_frame *f = vm->frames;
  const bjvmi_word *w = NULL;
  void *msg = NULL;
  void *child = top;           /* the message-shaped target that `value` reads into, and */
  const bjvm_plan *sub = plan; /* its plan */

  f->kind = BJVMI_DECODE_TOP;
  goto value;

  /* -- Members of an object ----------------------------------------------------------------------------- */

open_object: /* p is at the brace of `child` */
  if (__builtin_expect(f + 1 >= vm->frame_limit, 0)) goto too_deep;
  f++;
  f->kind = BJVMI_DECODE_MESSAGE;
  f->place = BJVMI_PLACE_LAST; /* until a failure is about the object itself */
  f->plan = plan = sub;
  f->at = msg = child;
  f->u.message.seen = 0;
  f->u.message.nulls = 0;
  f->u.message.wide = NULL;
  f->u.message.any = NULL;
  f->first = (uint16_t)vm->extension_count;
  w = plan->words;
  f->pc = w + plan->word_count; /* no member yet */
  if (__builtin_expect(plan->word_count > 64, 0) && !bjvmi_decode_wide_begin(vm, f)) goto failed_here;
  p = bjvmi_decode_token(vm, p + 1);
  if (*p == '}') goto close_object;

member: /* p is at a name, w the word it is guessed to name */
  if (__builtin_expect(*p != '"', 0)) goto no_name;
name : {
  /* Members mostly come in the order of their numbers, with some left out. END has no name and ends the
   * guessing. */
  size_t n;
  for (size_t guesses = 0;;) {
    const char *encoded = plan->names + w->name + 1; /* something readable in END too */
    n = w->name_len;
    if (same_start(p, encoded) && n - 1 < BJVMI_DECODE_PAD && same(p, encoded, n - 1)) break;
    if (n == 0 || ++guesses == GUESSES) goto look_up;
    w++;
  }
  vm->key = p;
  p += n - 1;
}
member_found:
  f->pc = w;
  {
    size_t index = (size_t)(w - plan->words);
    uint64_t seen = f->u.message.seen;
    if (__builtin_expect(index < vm->plain_members && !(seen >> index & 1), 1)) {
      f->u.message.seen = seen | (uint64_t)1 << index;
    } else if (!bjvmi_decode_use(vm, f, w)) {
      if (vm->status != BJVM_OK) goto failed;
      p = vm->key; /* the @type of an Any, and no member */
      f->pc = NULL;
      goto look_up;
    }
  }
dispatch_value:
  p = bjvmi_decode_token(vm, p);

#ifdef BJVM_SIZE_SMALL
  if (ONEOF_TAKEN()) goto failed;
  { /* One handler for all integers; what else is no string goes to the slow twin at once. */
    bjvmi_kind kind = BJVMI_OP_KIND(w->op);
    bool many = BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY;
    bool wide = kind == BJVMI_KIND_INT64 || kind == BJVMI_KIND_UINT64;
    int64_t v = 0;
    if (kind == BJVMI_KIND_MAP) goto map;
    if (bjvmi_shapes[kind] == BJVMI_SHAPE_MESSAGE) {
      if (many) goto message_array;
      goto message;
    }
    if (many) goto scalar_array;
    if (kind == BJVMI_KIND_STRING) goto STRING;
    if (kind < BJVMI_KIND_INT32 || kind > BJVMI_KIND_UINT64) goto slow_scalar;
    const char *q = wide ? simple_int64(p, &v) : bjvmi_short_int(p, &v);
    bool fits = kind == BJVMI_KIND_INT32    ? v == (int32_t)v
                : kind == BJVMI_KIND_UINT32 ? v == (int64_t)(uint32_t)v
                                            : v >= 0 || kind == BJVMI_KIND_INT64;
    if (!q || !fits) goto slow_scalar;
    if (wide) bjvmi_upb_set_u64(SLOT(), (uint64_t)v);
    else bjvmi_upb_set_u32(SLOT(), (uint32_t)v);
    p = q;
    STORED();
  }
#else

#if USE_SWITCH
/* clang-format off */
#define LABEL(kind, form, label) case BJVMI_OP(BJVMI_KIND_##kind, BJVMI_FORM_##form): goto label;
  /* clang-format on */
  for (unsigned op = w->op;; op = BJVMI_OP(BJVMI_OP_KIND(op), BJVMI_FORM_ALWAYS)) {
    switch (op) {
#include "ops.def"
      default: __builtin_unreachable(); /* the verifier lets no other opcode through */
    }
  oneof:
    if (ONEOF_TAKEN()) goto failed;
  }
#undef LABEL
#else
  goto *labels[w->op];
oneof: /* and then as a field that is no member of one */
  if (ONEOF_TAKEN()) goto failed;
  goto *labels[BJVMI_OP(BJVMI_OP_KIND(w->op), BJVMI_FORM_ALWAYS)];
#endif

BOOL:
  if (memcmp(p, "true", 4) == 0) {
    *(bool *)SLOT() = true;
    p += 4;
  } else if (memcmp(p, "false", 5) == 0) {
    *(bool *)SLOT() = false;
    p += 5;
  } else {
    goto slow_scalar;
  }
  STORED();

INT32 : {
  int64_t v;
  const char *q = bjvmi_short_int32(p, &v);
  if (__builtin_expect(!q || v != (int32_t)v, 0)) goto slow_scalar;
  bjvmi_upb_set_u32(SLOT(), (uint32_t)v);
  p = q;
  STORED();
}

UINT32 : {
  int64_t v;
  const char *q = bjvmi_short_int32(p, &v);
  if (__builtin_expect(!q || v != (int64_t)(uint32_t)v, 0)) goto slow_scalar;
  bjvmi_upb_set_u32(SLOT(), (uint32_t)v);
  p = q;
  STORED();
}

INT64:
INT64_NUMBER : {
  int64_t v;
  const char *q = simple_int64(p, &v);
  if (__builtin_expect(!q, 0)) goto slow_scalar;
  bjvmi_upb_set_u64(SLOT(), (uint64_t)v);
  p = q;
  STORED();
}

UINT64:
UINT64_NUMBER : {
  int64_t v;
  const char *q = simple_int64(p, &v);
  if (__builtin_expect(!q || v < 0, 0)) goto slow_scalar;
  bjvmi_upb_set_u64(SLOT(), (uint64_t)v);
  p = q;
  STORED();
}

#endif

STRING : {
  if (__builtin_expect(*p != '"', 0)) goto slow_scalar;
  const char *q = bjvmi_decode_plain_string(vm, p, SLOT());
  if (__builtin_expect(q != NULL, 1)) {
    p = q;
    STORED();
  }
  p = bjvmi_decode_long_string(vm, p, SLOT());
  if (__builtin_expect(!p, 0)) goto failed;
  STORED();
}

#ifndef BJVM_SIZE_SMALL
BYTES : {
  if (__builtin_expect(*p != '"', 0)) goto slow_scalar;
  p = bjvmi_decode_bytes(vm, p, SLOT());
  if (__builtin_expect(!p, 0)) goto failed;
  STORED();
}

DOUBLE : {
  double v;
  const char *q = bjvmi_num_plain_double(p, &v);
  if (__builtin_expect(!q || !ends_number(*q), 0)) goto slow_scalar;
  memcpy(SLOT(), &v, 8);
  p = q;
  STORED();
}

FLOAT : {
  float v;
  const char *q = bjvmi_num_plain_float(p, &v);
  if (__builtin_expect(!q || !ends_number(*q), 0)) goto slow_scalar;
  memcpy(SLOT(), &v, 4);
  p = q;
  STORED();
}

ENUM : {
  int32_t number;
  size_t length = *p == '"' ? bjvmi_short_length(p + 1) : BJVMI_SHORT_MAX + 1;
  if (__builtin_expect(length > BJVMI_SHORT_MAX, 0)) goto slow_scalar;
  if (!bjvmi_enum_number(plan->binding->image, w->sub, p + 1, length, false, &number)) goto slow_scalar;
  bjvmi_upb_set_u32(SLOT(), (uint32_t)number);
  p += length + 2;
  STORED();
}

NULL_VALUE:
#endif
slow_scalar : {
  union {
    upb_MessageValue value;
    uint64_t words[2];
  } v;
  v.words[0] = v.words[1] = 0;
  const char *q = p;
  bjvmi_read r = bjvmi_decode_scalar(vm, &q, plan, w, &v);
  p = q;
  switch (r) {
    case BJVMI_READ_VALUE: break;
    case BJVMI_READ_NULL: goto null_member;
    case BJVMI_READ_DROP:
      if (msg != f->at && vm->extension_made)
        bjvmi_upb_clear_extension((upb_Message *)f->at, plan->extension);
      goto null_member;
    default: goto failed;
  }
  switch (BJVMI_OP_KIND(w->op)) {
    case BJVMI_KIND_BOOL: *(bool *)SLOT() = v.value.bool_val; break;
    case BJVMI_KIND_INT64:
    case BJVMI_KIND_UINT64:
    case BJVMI_KIND_DOUBLE: memcpy(SLOT(), &v, 8); break;
    case BJVMI_KIND_STRING:
    case BJVMI_KIND_BYTES: memcpy(SLOT(), &v, sizeof(upb_StringView)); break;
    default: memcpy(SLOT(), &v, 4); break;
  }
  STORED();
}

null_member: /* read over; the target stays as it was */
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF) {
    bjvmi_decode_note_null(f, (size_t)(w - plan->words));
  }
  goto next_member;

scalar_array : {
  if (__builtin_expect(*p != '[', 0)) goto no_array;
  upb_Array *array = bjvmi_decode_array_open(vm, SLOT(), BJVMI_OP_KIND(w->op));
  if (__builtin_expect(!array, 0)) goto failed_here;
  if (__builtin_expect(f + 1 >= vm->frame_limit, 0)) goto too_deep;
  f++;
  f->kind = BJVMI_DECODE_ARRAY;
  f->place = BJVMI_PLACE_NEXT;
  f->at = array;
  f->u.array.first = upb_Array_Size(array);
  p = bjvmi_decode_array(vm, p + 1, plan, w, f);
  if (__builtin_expect(!p, 0)) goto failed;
  f--;
  goto next_member;
}

no_array: /* a repeated field that is no array: null, or an error */
  if (bjvmi_decode_is_null(p)) {
    p += 4;
    goto next_member;
  }
  bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "an array");
  goto failed;

message : {
  bool had;
  if (__builtin_expect(*p == 'n', 0) && BJVMI_OP_KIND(w->op) != BJVMI_KIND_VALUE && bjvmi_decode_is_null(p)) {
    p += 4;
    goto null_member;
  }
  sub = bjvmi_decode_sub(vm, plan, w);
  if (__builtin_expect(!sub, 0)) goto failed_here;
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: had = bjvmi_upb_hasbit(msg, w->presence); break;
    case BJVMI_FORM_ONEOF: had = bjvmi_upb_oneof_case(msg, w->presence) == w->number; break;
    default: had = true; break; /* an extension: zero until set */
  }
  child = had ? bjvmi_upb_pointer(SLOT()) : NULL;
  if (__builtin_expect(!child, 1)) {
    child = bjvmi_decode_new(vm, sub->table);
    if (__builtin_expect(!child, 0)) goto failed_here;
    bjvmi_upb_set_pointer(SLOT(), child);
    bjvmi_decode_set_presence(msg, w);
  } else if (upb_Message_IsFrozen((const upb_Message *)child)) {
    bjvmi_decode_fail(vm, BJVM_FROZEN, p, NULL);
    goto failed;
  }
  goto value;
}

message_array : {
  if (__builtin_expect(*p != '[', 0)) goto no_array;
  sub = bjvmi_decode_sub(vm, plan, w);
  if (__builtin_expect(!sub, 0)) goto failed_here;
  child = SLOT();
  goto open_array;
}

map : {
  if (__builtin_expect(*p != '{', 0)) {
    if (bjvmi_decode_is_null(p)) {
      p += 4;
      goto next_member;
    }
    bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "an object");
    goto failed;
  }
  sub = bjvmi_decode_sub(vm, plan, w);
  if (__builtin_expect(!sub, 0)) goto failed_here;
  child = SLOT();
  goto open_map;
}

next_member: /* behind a member's value; w is its word */
  w++;
behind_member: /* the same; w is the word guessed to come next */
  p = bjvmi_decode_check(vm, p);
  if (__builtin_expect(memcmp(p, ",\"", 2) == 0 && msg == f->at, 1)) {
    p++;
    goto name;
  }
  p = bjvmi_decode_token(vm, p);
  if (*p == ',') {
    p = bjvmi_decode_token(vm, p + 1);
    if (__builtin_expect(msg != f->at, 0)) goto after_extension;
    goto member;
  }
  if (__builtin_expect(*p != '}', 0)) goto no_comma;
close_object:
  p++;
  if (__builtin_expect(vm->flags & BJVM_DECODE_CHECK_REQUIRED, 0) && f->plan->required_count) {
    const bjvm_plan *own = f->plan;
    for (uint32_t i = 0; i < own->word_count; i++) {
      const bjvmi_word *r = &own->words[i];
      if (!bjvmi_upb_is_required(own->table, r->number) || bjvmi_upb_hasbit(f->at, r->presence)) continue;
      f->pc = r;
      f->place = BJVMI_PLACE_LAST;
      bjvmi_decode_fail(vm, BJVM_REQUIRED, p - 1, NULL);
      goto failed;
    }
  }
  vm->extension_count = f->first;
  if (__builtin_expect(f->u.message.wide != NULL, 0)) bjvmi_decode_wide_end(vm, f);
  if (__builtin_expect(f->u.message.any != NULL, 0) && !bjvmi_decode_any_close(vm, f->u.message.any))
    goto failed_here;
  f--;
  goto resume;

after_extension: /* an extension's word says nothing about the next name */
  msg = f->at;
  plan = f->plan;
  w = plan->words + plan->word_count;
  goto member;

look_up : {
  bjvmi_member m; /* an object of its own: the registers' addresses are never taken */
  bjvmi_key_result r = bjvmi_decode_key(vm, f, p, &m);
  p = m.p;
  if (r == BJVMI_KEY_FIELD) {
    w = m.word;
    goto member_found;
  }
  if (r == BJVMI_KEY_SKIPPED) goto behind_member;
  if (r == BJVMI_KEY_FAIL) goto failed;
  f->pc = w = m.word;
  plan = m.plan;
  msg = m.msg;
  goto dispatch_value;
}

no_name:
  f->place = BJVMI_PLACE_NONE;
  bjvmi_decode_unexpected(vm, p, "a name in quotes");
  goto failed;
no_comma:
  f->place = BJVMI_PLACE_NONE;
  bjvmi_decode_unexpected(vm, p, f->kind == BJVMI_DECODE_ARRAY ? "',' or ']'" : "',' or '}'");
  goto failed;

  /* -- Values: `child` is read by its plan `sub`, then the current frame goes on ------------------------ */

value:
  /* The two that messages are made of, without the jump through a table. */
  if (__builtin_expect(sub->kind == BJVMI_KIND_MESSAGE && *p == '{', 1)) goto open_object;
  if (sub->kind == BJVMI_KIND_VALUE) goto json_value;
  switch (sub->kind) {
    case BJVMI_KIND_MESSAGE: bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "an object"); goto failed;
    case BJVMI_KIND_TIMESTAMP:
    case BJVMI_KIND_DURATION: p = bjvmi_decode_time(vm, p, sub, child); break;
    case BJVMI_KIND_FIELD_MASK: p = bjvmi_decode_field_mask(vm, p, sub, child); break;
    case BJVMI_KIND_WRAPPER: p = bjvmi_decode_wrapper(vm, p, sub, child); break;
    case BJVMI_KIND_STRUCT:
    case BJVMI_KIND_LIST_VALUE: {
      bool is_list = sub->kind == BJVMI_KIND_LIST_VALUE;
      if (*p != (is_list ? '[' : '{')) {
        bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, is_list ? "an array" : "an object");
        goto failed;
      }
      plan = sub;
      w = plan->words;
      child = bjvmi_upb_mut(child, w->offset);
      sub = bjvmi_decode_sub(vm, plan, w);
      if (__builtin_expect(!sub, 0)) goto failed_here;
      if (is_list) goto open_array;
      goto open_map;
    }
    default: goto any_value;
  }
  if (__builtin_expect(!p, 0)) goto failed;
  goto resume;

json_value : { /* google.protobuf.Value: the first byte tells which of the six */
  uint32_t which = value_case(*p);
  w = &sub->words[which - 1];
  plan = sub;
  msg = child;
  switch (which) {
    case 5:
    case 6: {
      sub = bjvmi_decode_sub(vm, plan, w);
      if (__builtin_expect(!sub, 0)) goto failed_here;
      bool had = bjvmi_upb_oneof_case(msg, w->presence) == which;
      child = had ? bjvmi_upb_pointer(SLOT()) : NULL;
      if (!child) {
        child = bjvmi_decode_new(vm, sub->table);
        if (__builtin_expect(!child, 0)) goto failed_here;
        bjvmi_upb_set_pointer(SLOT(), child);
        bjvmi_upb_set_oneof_case(msg, w->presence, which);
      } else if (upb_Message_IsFrozen((const upb_Message *)child)) {
        bjvmi_decode_fail(vm, BJVM_FROZEN, p, NULL);
        goto failed;
      }
      goto value;
    }
    case 3: {
      const char *q = bjvmi_decode_plain_string(vm, p, SLOT());
      p = __builtin_expect(q != NULL, 1) ? q : bjvmi_decode_long_string(vm, p, SLOT());
      if (__builtin_expect(!p, 0)) goto failed;
      break;
    }
    case 2: {
      double v;
      const char *q = NULL;
#ifndef BJVM_SIZE_SMALL
      q = bjvmi_num_plain_double(p, &v);
      if (__builtin_expect(q && !ends_number(*q), 0)) q = NULL;
#endif
      if (__builtin_expect(!q, 0)) {
        if (*p != '-' && (uint8_t)(*p - '0') > 9) {
          bjvmi_decode_unexpected(vm, p, "a value");
          goto failed;
        }
        q = p;
        if (bjvmi_decode_scalar(vm, &q, plan, w, &v) != BJVMI_READ_VALUE) goto failed;
      }
      memcpy(SLOT(), &v, 8);
      p = q;
      break;
    }
    case 1:
      if (!bjvmi_decode_is_null(p)) goto slow_value;
      bjvmi_upb_set_u32(SLOT(), 0); /* the number of an enum */
      p += 4;
      break;
    default: { /* a bool */
      if (memcmp(p, "true", 4) == 0) {
        *(bool *)SLOT() = true;
        p += 4;
        break;
      }
    slow_value:;
      const char *q = p;
      if (bjvmi_decode_scalar(vm, &q, plan, w, SLOT()) != BJVMI_READ_VALUE) goto failed;
      p = q;
    }
  }
  bjvmi_upb_set_oneof_case(msg, w->presence, which);
  goto resume;
}

any_value : {
  bjvmi_decode_any *any;
  if (*p != '{') {
    bjvmi_decode_fail(vm, BJVM_WRONG_TYPE, p, "an object");
    goto failed;
  }
  if (__builtin_expect(f + 1 >= vm->frame_limit, 0)) goto too_deep;
  p = bjvmi_decode_any_open(vm, f, p, sub, child, &any);
  if (__builtin_expect(!p, 0)) goto failed;
  if (!any) goto resume;
  sub = any->plan;
  child = any->content;
  f++;
  if (sub->kind != BJVMI_KIND_MESSAGE) {
    f->kind = BJVMI_DECODE_ANY_VALUE;
    f->at = any;
    if (__builtin_expect(any->type_seen, 1)) goto any_next;
    p = bjvmi_decode_token(vm, p);
    goto any_member;
  }
  f->kind = BJVMI_DECODE_MESSAGE;
  f->place = BJVMI_PLACE_LAST;
  f->plan = plan = sub;
  f->at = msg = child;
  f->u.message.seen = bjvmi_decode_type_bit(plan);
  f->u.message.nulls = 0;
  f->u.message.wide = NULL;
  f->u.message.any = any;
  f->first = (uint16_t)vm->extension_count;
  w = plan->words;
  f->pc = w + plan->word_count;
  if (__builtin_expect(plan->word_count > 64, 0) && !bjvmi_decode_wide_begin(vm, f)) goto failed_here;
  if (__builtin_expect(any->type_seen, 1)) goto behind_member;
  p = bjvmi_decode_token(vm, p);
  goto member;
}

any_member : { /* p is at a name of an Any around a well-known type */
  bjvmi_decode_any *any = (bjvmi_decode_any *)f->at;
  bool is_value;
  if (*p != '"') goto no_name;
  p = bjvmi_decode_any_member(vm, f, p, &is_value);
  if (__builtin_expect(!p, 0)) goto failed;
  if (!is_value) goto any_next;
  sub = any->plan;
  child = any->content;
  p = bjvmi_decode_token(vm, p);
  goto value;
}

any_next:
  p = bjvmi_decode_token(vm, p);
  if (*p == ',') {
    p = bjvmi_decode_token(vm, p + 1);
    goto any_member;
  }
  if (*p != '}') goto no_comma;
  {
    bjvmi_decode_any *any = (bjvmi_decode_any *)f->at;
    if (!any->value_seen) {
      bjvmi_decode_fail(vm, BJVM_ANY_FORM, p, "a member \"value\"");
      goto failed;
    }
    p++;
    if (!bjvmi_decode_any_close(vm, any)) goto failed_here;
    f--;
    goto resume;
  }

  /* -- Arrays and maps of messages: `child` is the slot, `sub` the elements' or the entry's plan -------- */

open_array : {
  upb_Array *array = bjvmi_decode_array_open(vm, child, BJVMI_KIND_MESSAGE);
  if (__builtin_expect(!array, 0)) goto failed_here;
  if (__builtin_expect(f + 1 >= vm->frame_limit, 0)) goto too_deep;
  f++;
  f->kind = BJVMI_DECODE_ARRAY;
  f->place = BJVMI_PLACE_LAST;
  f->pc = w;
  f->plan = sub;
  f->at = array;
  f->u.array.first = upb_Array_Size(array);
  p = bjvmi_decode_token(vm, p + 1);
  if (*p == ']') goto close_array;
}
element:
  sub = f->plan;
  if (__builtin_expect(*p == 'n', 0) && sub->kind != BJVMI_KIND_VALUE && bjvmi_decode_is_null(p)) {
    f->place = BJVMI_PLACE_NEXT;
    bjvmi_decode_fail(vm, BJVM_NULL_ELEMENT, p, "a value");
    goto failed;
  }
  child = bjvmi_decode_append(vm, f, sub->table);
  if (__builtin_expect(!child, 0)) goto failed_here;
  goto value;

next_element:
  p = bjvmi_decode_token(vm, p);
  if (__builtin_expect(*p == ',', 1)) {
    p = bjvmi_decode_token(vm, p + 1);
    goto element;
  }
  if (__builtin_expect(*p != ']', 0)) goto no_comma;
close_array:
  p++;
  f--;
  goto resume;

open_map:
  if (__builtin_expect(f + 1 >= vm->frame_limit, 0)) goto too_deep;
  f++;
  f->kind = BJVMI_DECODE_MAP;
  f->place = BJVMI_PLACE_NONE;
  f->pc = w;
  f->plan = sub;
  if (!bjvmi_decode_map_open(vm, f, child)) goto failed_here;
  if (BJVMI_OP_KIND(sub->words[1].op) < BJVMI_KIND_MESSAGE) {
    p = bjvmi_decode_map(vm, p, f);
    if (__builtin_expect(!p, 0)) goto failed;
    f--;
    goto resume;
  }
  p = bjvmi_decode_token(vm, p + 1);
  if (*p == '}') goto close_map;
entry : {
  if (__builtin_expect(*p != '"', 0)) goto no_name;
  p = bjvmi_decode_map_key(vm, f, p);
  if (__builtin_expect(!p, 0)) goto failed;
  p = bjvmi_decode_token(vm, p);
  sub = bjvmi_decode_sub(vm, f->plan, &f->plan->words[1]);
  if (__builtin_expect(!sub, 0)) goto failed_here;
  if (__builtin_expect(*p == 'n', 0) && sub->kind != BJVMI_KIND_VALUE && bjvmi_decode_is_null(p)) {
    bjvmi_decode_fail(vm, BJVM_NULL_ELEMENT, p, "a value");
    goto failed;
  }
  child = bjvmi_decode_new(vm, sub->table);
  if (__builtin_expect(!child, 0)) goto failed_here;
  bjvmi_decode_map_value(vm)->msg_val = (const upb_Message *)child;
  if (!bjvmi_decode_map_insert(vm, f)) goto failed_here;
  goto value;
}

next_entry:
  p = bjvmi_decode_token(vm, p);
  if (__builtin_expect(*p == ',', 1)) {
    p = bjvmi_decode_token(vm, p + 1);
    goto entry;
  }
  if (__builtin_expect(*p != '}', 0)) goto no_comma;
close_map:
  p++;
  if (!bjvmi_decode_map_close(vm, f)) goto failed_here;
  f--;
  goto resume;

  /* -- A value is finished: the current frame goes on --------------------------------------------------- */

resume:
  switch (f->kind) {
    case BJVMI_DECODE_MESSAGE:
      w = f->pc;
      plan = f->plan;
      msg = f->at;
      if (__builtin_expect(!(w >= plan->words && w < plan->words + plan->word_count), 0)) {
        w = plan->words + plan->word_count - 1; /* it was an extension */
      }
      goto next_member;
    case BJVMI_DECODE_ARRAY: goto next_element;
    case BJVMI_DECODE_MAP: goto next_entry;
    case BJVMI_DECODE_ANY_VALUE: goto any_next;
    default: return p;
  }

too_deep:
  bjvmi_decode_fail(vm, f + 1 < vm->frame_end ? BJVM_SCRATCH : BJVM_DEPTH, p, NULL);
  goto failed;
failed_here: /* status is set, the place is p */
  if (!vm->fault && p) bjvmi_decode_fail(vm, vm->status, p, NULL);
failed:
  vm->frame = f;
  return NULL;
}

#undef STORED
#undef ONEOF_TAKEN
#undef SLOT
#undef KIND
#undef ROW
#undef ROW_CONTROL
#undef ROW_MAP
#undef ROW_MESSAGE
#undef ROW_ENUM
#undef ROW_SCALAR
