/* bjvm_decode: checks the options, runs the decode VM, reports.
 *
 * Neighbours: decode_vm.c (the loop), error.c (text of reports). The place, path and sentence of a failure
 * are worked out here from what the loop left, never while it runs.
 */
#include "decode.h"
#include "call.h"
#include "error.h"

/* For what bjvm_decode and bjvm_decode_prefix share: into both of them, as a call here is several % of decoding a
 * short text. */
#if defined(__GNUC__) && !defined(BJVM_SIZE_SMALL)
#define HOT inline __attribute__((always_inline))
#else
#define HOT
#endif

/* -- The window ----------------------------------------------------------------------------------------- */

/* Opens the window on the text, and copies the last BJVMI_DECODE_PAD bytes of it, or all of it, to `tail`, with as many
 * zeros behind them. By copies of fixed size, as most texts are short and every one comes here; and before all else,
 * as a load that spans stores still under way waits for them (on a text of 100 bytes, 10 to 15 % of the whole call when
 * the copy was made at its end). For the same reason a text is never read in the tail from the start, but
 * behind a branch: where it is longer, and that is predicted, nothing waits for the copy (10 % of a text of 63 bytes). */
static inline void open_window(bjvmi_decoder *vm, const char *json, size_t size) {
  size_t n = size < BJVMI_DECODE_PAD ? size : BJVMI_DECODE_PAD;
  const char *end = json + size;
  if (n == BJVMI_DECODE_PAD) {
    memcpy(vm->tail, end - BJVMI_DECODE_PAD, BJVMI_DECODE_PAD);
  } else if (n > 0 && bjvmi_short_in_page(json, BJVMI_DECODE_PAD)) {
    memcpy(vm->tail, json, BJVMI_DECODE_PAD);
  } else if (n > 0) {
    memcpy(vm->tail, json, n);
  }
  memset(vm->tail + n, 0, BJVMI_DECODE_PAD);
  vm->tail_at = size - n;
  vm->end = end;
  vm->safe = n == BJVMI_DECODE_PAD ? (uintptr_t)(end - BJVMI_DECODE_PAD) : 0;
}

const char *bjvmi_decode_refill(bjvmi_decoder *vm, const char *p) {
  size_t left = (size_t)(vm->end - p); /* < BJVMI_DECODE_PAD: the window is the text, and p is past safe */
  vm->end = vm->tail + (vm->size - vm->tail_at);
  vm->safe = UINTPTR_MAX;
  return vm->end - left;
}

const char *bjvmi_decode_blanks(bjvmi_decoder *vm, const char *p) {
  while (p < vm->end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
  return bjvmi_decode_check(vm, p);
}

/* -- Failures ------------------------------------------------------------------------------------------- */

/* Whether a JSON value starts at p, so that it can be called one of the wrong type. */
static bool starts_value(const bjvmi_decoder *vm, const char *p) {
  if (p >= vm->end) return false;
  switch (*p) {
    case 't': return memcmp(p, "true", 4) == 0;
    case 'f': return memcmp(p, "false", 5) == 0;
    case 'n': return bjvmi_decode_is_null(p);
    case '{':
    case '[':
    case '"':
    case '-': return true;
    default: return (uint8_t)(*p - '0') <= 9;
  }
}

const char *bjvmi_decode_fail(bjvmi_decoder *vm, bjvm_status status, const char *fault,
                              const char *expected) {
  if (status == BJVM_WRONG_TYPE && !starts_value(vm, fault))
    return bjvmi_decode_unexpected(vm, fault, expected);
  vm->status = status;
  vm->fault = fault;
  vm->fault_at = bjvmi_decode_offset(vm, fault);
  vm->expected = expected;
  return NULL;
}

const char *bjvmi_decode_fail_key(bjvmi_decoder *vm, bjvm_status status) {
  return bjvmi_decode_fail(vm, status, vm->key, NULL);
}

const char *bjvmi_decode_unexpected(bjvmi_decoder *vm, const char *p, const char *expected) {
  if (p >= vm->end) return bjvmi_decode_fail(vm, BJVM_TRUNCATED, vm->end, expected);
  /* A literal that the end of the text cuts short is cut, not wrong. */
  size_t left = (size_t)(vm->end - p);
  bool cut = (left < 4 && (memcmp(p, "true", left) == 0 || memcmp(p, "null", left) == 0)) ||
             (left < 5 && memcmp(p, "false", left) == 0);
  if (cut) return bjvmi_decode_fail(vm, BJVM_TRUNCATED, vm->end, expected);
  return bjvmi_decode_fail(vm, BJVM_SYNTAX, p, expected);
}

/* -- The report ----------------------------------------------------------------------------------------- */

/* The plan of the member that is being read: the message's, or that of an extension in the list of open objects. */
static const bjvm_plan *member_plan(const bjvmi_decoder *vm, const bjvmi_decode_frame *f) {
  const bjvmi_word *w = f->pc;
  if (w >= f->plan->words && w < f->plan->words + f->plan->word_count) return f->plan;
  for (uint32_t i = 0; i < vm->extension_count; i++) {
    if (vm->extensions[i]->plan->words == w) return vm->extensions[i]->plan;
  }
  return NULL;
}

static void add_member(bjvmi_text *path, const bjvmi_decoder *vm, const bjvmi_decode_frame *f) {
  const bjvm_plan *plan = member_plan(vm, f);
  if (plan && f->pc->name) bjvmi_error_add_name(path, plan->names, f->pc->name);
}

static void add_path(bjvmi_text *path, const bjvmi_decoder *vm) {
  for (const bjvmi_decode_frame *f = vm->frames + 1; f <= vm->frame; f++) {
    switch (f->kind) {
      case BJVMI_DECODE_MESSAGE:
        if (f->place) add_member(path, vm, f);
        break;
      case BJVMI_DECODE_ARRAY: {
        size_t n = upb_Array_Size((const upb_Array *)f->at) - f->u.array.first;
        if (f->place) bjvmi_error_add_index(path, n - (f->place == BJVMI_PLACE_LAST && n));
        break;
      }
      case BJVMI_DECODE_MAP:
        if (f->place) bjvmi_error_add_key(path, BJVMI_OP_KIND(f->plan->words[0].op), &f->u.map.key);
        break;
      default: break;
    }
  }
}

/* The message type that has no field of that name. */
static void add_type(bjvmi_text *t, const bjvmi_decode_frame *f) {
  if (!f || f->kind != BJVMI_DECODE_MESSAGE) return;
  size_t size;
  const char *name = bjvm_plan_name(f->plan, &size);
  bjvmi_text_string(t, " in ");
  bjvmi_text_bytes(t, name, size);
}

/* The enum that has no value of that name or number: a member's, of elements, of the values of a map. */
static void add_enum(bjvmi_text *t, const bjvmi_decoder *vm, const bjvmi_decode_frame *f) {
  const bjvm_plan *plan = f->kind == BJVMI_DECODE_MESSAGE ? member_plan(vm, f) : f->plan;
  const bjvmi_word *w = f->kind == BJVMI_DECODE_MAP ? &f->plan->words[1] : f->pc;
  if (!plan) return;
  const bjvmi_enum *e = &plan->binding->image->enums[w->sub];
  bjvmi_text_string(t, " in ");
  bjvmi_text_bytes(t, plan->names + bjvmi_le32(e->name), bjvmi_le16(e->name_size));
}

/* Statuses whose sentence says what was found instead. */
static bool tells_token(bjvm_status s) {
  return (s >= BJVM_TRUNCATED && s <= BJVM_CONTROL_CHAR) ||
         (s >= BJVM_UNKNOWN_FIELD && s <= BJVM_EXTENSION_RANGE);
}

static void add_sentence(bjvmi_text *t, const bjvmi_decoder *vm, size_t offset) {
  bjvmi_text_status(t, vm->status);
  if (vm->status == BJVM_UNKNOWN_FIELD) add_type(t, vm->frame);
  if (vm->status == BJVM_UNKNOWN_ENUM) add_enum(t, vm, vm->frame);
  if (vm->expected) {
    bjvmi_text_string(t, ": expected ");
    bjvmi_text_string(t, vm->expected);
  }
  if (!tells_token(vm->status)) return;
  bjvmi_text_string(t, vm->expected ? ", found " : ": ");
  bjvmi_error_add_token(t, vm->json, vm->size, offset);
}

/* A bare number that is wrong so far, but runs into the end of a text that is not complete, is cut. */
static bool is_cut_number(const bjvmi_decoder *vm) {
  if (vm->status != BJVM_NOT_INTEGER && vm->status != BJVM_OUT_OF_RANGE) return false;
  if (!vm->frame || vm->frame == vm->frames || vm->json[vm->fault_at] == '"') return false;
  for (size_t i = vm->fault_at; i < vm->size; i++) {
    char c = vm->json[i];
    if ((uint8_t)(c - '0') > 9 && c != '-' && c != '+' && c != '.' && (c | 0x20) != 'e') return false;
  }
  return true;
}

static bjvm_status report(bjvmi_decoder *vm, bjvm_error *error) {
  bjvmi_text t;
  if (is_cut_number(vm)) {
    vm->status = BJVM_TRUNCATED;
    vm->fault_at = vm->size;
  }
  if (!error) return vm->status;
  memset(error, 0, sizeof *error);
  error->code = vm->status;
  error->offset = vm->fault_at;
  if (vm->json) bjvmi_error_place(error, vm->json, vm->size);
  t = bjvmi_text_init(error->path, sizeof error->path);
  if (vm->frame) add_path(&t, vm);
  t = bjvmi_text_init(error->message, sizeof error->message);
  add_sentence(&t, vm, error->offset);
  return vm->status;
}

/* -- The call ------------------------------------------------------------------------------------------- */

/* Whether options are ones that this library knows, and what else is refused before the text is looked at. */
static bjvm_status check_options(const bjvm_decode_options *o, size_t size, const upb_Message *msg) {
  if (o->size == 0 || o->flags & ~BJVMI_DECODE_FLAGS || o->max_depth > BJVMI_MAX_DEPTH_OPTION ||
      !bjvmi_call_registry(o->registry))
    return BJVM_BAD_ARGUMENT;
  if (o->max_input && size > o->max_input) return BJVM_INPUT_LIMIT;
  return upb_Message_IsFrozen(msg) ? BJVM_FROZEN : BJVM_OK;
}

static bool take_options(bjvmi_decoder *vm, const bjvm_decode_options *o) {
  vm->flags = o->flags;
  vm->registry = o->registry;
  vm->scratch = o->scratch;
  if (o->flags & BJVM_DECODE_LAST_WINS) vm->plain_members = 0;
  if (o->max_elements) vm->elements_left = o->max_elements;
  if (o->max_memory) vm->memory_left = o->max_memory;
  if (o->max_depth == 0) return true;
  vm->frames = (bjvmi_decode_frame *)bjvmi_call_frames(vm->inline_frames, sizeof *vm->frames, o->max_depth,
                                                       vm->scratch, &vm->status);
  if (!vm->frames) return false;
  vm->frame_limit = vm->frame_end = vm->frames + o->max_depth + 1;
  return true;
}

/* All of the decoder but its window. */
static void set_up(bjvmi_decoder *vm, const char *json, size_t size, upb_Arena *arena) {
  enum {
    FIRST = offsetof(bjvmi_decoder, scratch),
    SIZE = offsetof(bjvmi_decoder, waiting_count) + sizeof vm->waiting_count - FIRST,
    HALF = 64
  };
  _Static_assert(SIZE >= HALF, "there are two halves");
  memset((char *)vm + FIRST, 0, HALF); /* in two, as gcc makes the slow `rep stos` of one */
  memset((char *)vm + FIRST + HALF, 0, SIZE - HALF);
  vm->json = vm->key = json;
  vm->size = size;
  vm->arena = arena;
  vm->frames = vm->inline_frames;
  vm->frame_limit = vm->frame_end = vm->frames + BJVM_DEFAULT_MAX_DEPTH + 1;
  vm->elements_left = vm->memory_left = SIZE_MAX;
  vm->plain_members = 64;
}

/* What a call begins with; false with status set. */
static HOT bool begin(bjvmi_decoder *vm, const bjvm_plan *plan, const char *json, size_t size,
                      const upb_Message *msg, upb_Arena *arena, const bjvm_decode_options *options) {
  bjvm_decode_options copy;
  const bjvm_decode_options *o = NULL;
  bjvm_status status = BJVM_BAD_ARGUMENT;
  if (plan && (json || size == 0) && msg && arena) {
    if (options) {
      o = (const bjvm_decode_options *)bjvmi_call_options(options, &copy, sizeof copy);
      status = check_options(o, size, msg);
    } else {
      status = upb_Message_IsFrozen(msg) ? BJVM_FROZEN : BJVM_OK;
    }
  }
  if (__builtin_expect(status != BJVM_OK, 0)) {
    set_up(vm, json, size, arena);
    vm->status = status;
    return false;
  }
  if (!json) json = "";
  if (o && o->flags & BJVM_DECODE_PADDED) {
    vm->end = json + size;
    vm->safe = UINTPTR_MAX;
  } else {
    open_window(vm, json, size);
  }
  set_up(vm, json, size, arena);
  vm->kernels = plan->kernels;
  return !o || take_options(vm, o);
}

/* The place of the value; NULL with status set where there is none. */
static HOT const char *run(bjvmi_decoder *vm, const bjvm_plan *plan, upb_Message *msg) {
  const char *p = bjvmi_decode_check(vm, vm->json);
  if (__builtin_expect((uint8_t)*p <= ' ', 0)) p = bjvmi_decode_blanks(vm, p);
  if (__builtin_expect(p >= vm->end, 0)) return bjvmi_decode_fail(vm, BJVM_TRUNCATED, p, "a value");
  p = bjvmi_decode_run(vm, plan, msg, p);
  if (__builtin_expect(!p, 0)) bjvmi_decode_map_settle(vm);
  return p;
}

bjvm_status bjvm_decode(const bjvm_plan *plan, const char *json, size_t size, upb_Message *msg,
                        upb_Arena *arena, const bjvm_decode_options *options, bjvm_error *error) {
  bjvmi_decoder vm;
  if (!begin(&vm, plan, json, size, msg, arena, options)) return report(&vm, error);
  const char *p = run(&vm, plan, msg);
  if (__builtin_expect(p == vm.end, 1)) return BJVM_OK;
  if (!p) return report(&vm, error);
  p = bjvmi_decode_token(&vm, p);
  if (p >= vm.end) return BJVM_OK;
  bjvmi_decode_fail(&vm, BJVM_TRAILING, p, "the end of the text");
  return report(&vm, error);
}

bjvm_status bjvm_decode_prefix(const bjvm_plan *plan, const char *json, size_t size, size_t *used,
                               upb_Message *msg, upb_Arena *arena, const bjvm_decode_options *options,
                               bjvm_error *error) {
  bjvmi_decoder vm;
  if (used) *used = 0;
  if (!begin(&vm, plan, json, size, msg, arena, options)) return report(&vm, error);
  const char *p = run(&vm, plan, msg);
  if (!p) return report(&vm, error);
  if (used) *used = bjvmi_decode_offset(&vm, p);
  return BJVM_OK;
}
