/* The encode VM's window: where handlers write, and how it is moved on.
 *
 * Neighbours: encode.h. The window is the free part of the caller's block while that leaves a slack, else (a
 * fixed block almost full, a formatter in between) the staging block, which is copied on when full.
 * Invariant: nothing is written at or past data + capacity of the output, and the number of bytes a fixed
 * output lacked is exact.
 */
#include "encode.h"
#include "pretty.h"

void bjvmi_encode_stage(bjvmi_encoder *vm) {
  vm->staged = true;
  bjvmi_encode_window(vm, vm->staging, vm->staging + sizeof vm->staging);
}

static size_t room(const bjvm_output *o) { return o->size < o->capacity ? o->capacity - o->size : 0; }

static bool ask(bjvmi_encoder *vm, size_t n) {
  bjvm_output *o = vm->output;
  if (o->grow(o, n) && room(o) >= n) return true;
  vm->status = bjvmi_output_is_sink(o) ? BJVM_SINK : BJVM_OUT_OF_MEMORY;
  return false;
}

/* Appends bytes to the output, whatever it is. */
bool bjvmi_encode_put(bjvmi_encoder *vm, const char *data, size_t size) {
  bjvm_output *o = vm->output;
  vm->position += size;
  while (size > 0) {
    size_t n = room(o) < size ? room(o) : size;
    if (n == 0 && !o->grow) return true; /* counted only */
    if (n == 0 && !ask(vm, size < BJVMI_ENCODE_STAGING ? size : BJVMI_ENCODE_STAGING)) return false;
    if (n == 0) continue;
    memcpy(o->data + o->size, data, n);
    o->size += n;
    data += n;
    size -= n;
  }
  return true;
}

static bool put_staged(bjvmi_encoder *vm, const char *end) {
  size_t n = (size_t)(end - vm->begin);
  if (vm->pretty) return bjvmi_pretty_put(vm, vm->begin, n);
  return bjvmi_encode_put(vm, vm->begin, n);
}

/* Asks a growing output for a slack and goes on in it; on refusal sets the status. */
static char *grow_window(bjvmi_encoder *vm) {
  bjvm_output *o = vm->output;
  if (room(o) < BJVMI_ENCODE_STAGING && !ask(vm, BJVMI_ENCODE_STAGING)) return NULL;
  vm->staged = false;
  bjvmi_encode_window(vm, o->data + o->size, o->data + o->capacity);
  return vm->begin;
}

char *bjvmi_encode_grow(bjvmi_encoder *vm, char *out) {
  bjvm_output *o = vm->output;
  if (vm->staged) {
    if (!put_staged(vm, out)) return NULL;
    if (!vm->pretty && o->grow) return grow_window(vm);
    return vm->begin;
  }
  vm->position += (size_t)(out - vm->begin);
  o->size = (size_t)(out - o->data);
  if (o->grow) return grow_window(vm);
  bjvmi_encode_stage(vm);
  return vm->begin;
}

bjvm_status bjvmi_encode_unstage(bjvmi_encoder *vm, char *out) {
  bjvm_output *o = vm->output;
  if (!put_staged(vm, out)) return vm->status;
  if (o->grow) return BJVM_OK;
  o->needed = vm->position;
  return vm->position > o->capacity ? BJVM_OVERFLOW : BJVM_OK;
}

void bjvmi_encode_abandon(bjvmi_encoder *vm) {
  bjvm_output *o = vm->output;
  if (o->size > vm->start && !bjvmi_output_is_sink(o)) o->size = vm->start;
}
