/* bjvm_encode: checks the options, runs the encode VM, reports.
 *
 * Neighbours: encode_vm.c (the loop), encode_output.c (the window), error.c (text of reports). The field path
 * of a failure is worked out here from the frames the loop left, never while it runs.
 */
#include "encode.h"
#include "call.h"
#include "error.h"
#include "pretty.h"

enum { MAX_INDENT = 16 };

const char *bjvm_dispatch_name(void) {
#if defined(BJVM_DISPATCH_SWITCH) || !defined(__GNUC__)
  return "switch";
#else
  return "goto";
#endif
}

/* -- The field path of a failure ------------------------------------------------------------------------ */

static void add_map_key(bjvmi_text *t, const bjvmi_encode_frame *f) {
  upb_MessageValue key;
  upb_MessageValue value;
  uint32_t taken = f->extension; /* the last of these is the one */
  if (taken == 0) return;
  if (f->entries) {
    key = f->entries[taken - 1].key;
  } else {
    bjvmi_map_walk walk = {0, 0, 0};
    while (taken-- > 0) (void)bjvmi_upb_map_next((const upb_Map *)f->at, &walk, &key, &value);
  }
  bjvmi_error_add_key(t, BJVMI_OP_KIND(f->plan->words[0].op), &key);
}

/* Adds the name of the field whose word is `w`, unless it is a member of a well-known type, which has no name
 * in JSON. */
static void add_field(bjvmi_text *t, const bjvm_plan *plan, const bjvmi_word *w) {
  if (plan->kind == BJVMI_KIND_MESSAGE && w->name) bjvmi_error_add_name(t, plan->names, w->name);
}

static void add_path(bjvmi_text *t, const bjvmi_encoder *vm) {
  for (const bjvmi_encode_frame *f = vm->frames + 1; f <= vm->frame; f++) {
    bool top = f == vm->frame;
    switch (f->kind) {
      case BJVMI_ENCODE_ARRAY: bjvmi_error_add_index(t, f->u.index - (f->u.index != 0)); break;
      case BJVMI_ENCODE_MAP: add_map_key(t, f); break;
      case BJVMI_ENCODE_MESSAGE: {
        const bjvmi_word *w = top ? vm->pc : f->pc - 1;
        const bjvm_plan *plan = top ? vm->plan : f->plan;
        if (!w) break; /* no memory for the words of these options */
        if (top && vm->status == BJVM_REQUIRED) w--;
        add_field(t, plan, w);
        break;
      }
      default: break;
    }
  }
}

static bjvm_status fail(bjvmi_encoder *vm, bjvm_error *error) {
  if (!error) return vm->status;
  bjvmi_text path;
  memset(error, 0, sizeof *error);
  error->code = vm->status;
  path = bjvmi_text_init(error->path, sizeof error->path);
  if (vm->frame) add_path(&path, vm);
  bjvmi_text message;
  message = bjvmi_text_init(error->message, sizeof error->message);
  bjvmi_text_status(&message, vm->status);
  return vm->status;
}

/* -- The call ------------------------------------------------------------------------------------------- */

/* What the options say; false with status set. */
static bool take_options(bjvmi_encoder *vm, const bjvm_encode_options *options, bjvmi_pretty *pretty) {
  bjvm_encode_options copy;
  const bjvm_encode_options *o = (const bjvm_encode_options *)bjvmi_call_options(options, &copy, sizeof copy);
  if (o->size == 0 || o->flags & ~BJVMI_ENCODE_FLAGS || o->indent > MAX_INDENT ||
      o->max_depth > BJVMI_MAX_DEPTH_OPTION || !bjvmi_call_registry(o->registry)) {
    vm->status = BJVM_BAD_ARGUMENT;
    return false;
  }
  vm->flags = o->flags;
  vm->variant = o->flags & BJVMI_VARIANT_FLAGS;
  vm->escape_flags = (o->flags & BJVM_ENCODE_ASCII ? BJVMI_ESCAPE_ASCII : 0) |
                     (o->flags & BJVM_ENCODE_HTML_SAFE ? BJVMI_ESCAPE_HTML : 0);
  vm->registry = o->registry;
  vm->scratch = o->scratch;
  if (o->flags & BJVM_ENCODE_PRETTY) {
    memset(pretty, 0, sizeof *pretty);
    pretty->indent = o->indent ? o->indent : 2;
    vm->pretty = pretty;
  }
  if (o->max_depth == 0) return true;
  vm->frames = (bjvmi_encode_frame *)bjvmi_call_frames(vm->inline_frames, sizeof *vm->frames, o->max_depth,
                                                       vm->scratch, &vm->status);
  if (!vm->frames) return false;
  vm->frame_end = vm->frames + o->max_depth + 1;
  return true;
}

/* What a call without options begins with; the window is not open yet. */
static inline void set_up(bjvmi_encoder *vm, bjvm_output *output) {
  enum {
    FIRST = offsetof(bjvmi_encoder, escape_flags),
    END = offsetof(bjvmi_encoder, list_size) + sizeof vm->list_size
  };
  memset((char *)vm + FIRST, 0, END - FIRST);
  vm->output = output;
  vm->frames = vm->inline_frames;
  vm->frame_end = vm->frames + BJVM_DEFAULT_MAX_DEPTH + 1;
}

bjvm_status bjvm_encode(const bjvm_plan *plan, const upb_Message *msg, const bjvm_encode_options *options,
                        bjvm_output *output, bjvm_error *error) {
  bjvmi_encoder vm;
  bjvmi_pretty pretty;
  set_up(&vm, output);
  if (!plan || !msg || !output) {
    vm.status = BJVM_BAD_ARGUMENT;
    return fail(&vm, error);
  }
#ifndef BJVM_SIZE_SMALL
  if (plan->sparse) bjvmi_sparse_fetch(plan->sparse, msg);
#endif
  vm.kernels = plan->kernels;
  if (options && !take_options(&vm, options, &pretty)) return fail(&vm, error);
  bjvmi_encode_open(&vm);
  char *out = bjvmi_encode_run(&vm, plan, msg, vm.begin);
  if (__builtin_expect(out != NULL, 1)) {
    vm.status = bjvmi_encode_close(&vm, out);
    if (vm.status == BJVM_OK) return BJVM_OK;
  }
  bjvmi_encode_abandon(&vm);
  if (vm.status == BJVM_OVERFLOW || out) vm.frame = NULL;
  return fail(&vm, error);
}
