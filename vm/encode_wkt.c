/* Well-known types in the encode VM: the forms that are no objects of fields, and the envelope of Any.
 *
 * Neighbours: encode_vm.c calls with a slack of room; time_text.c and mask.c know the text forms. The fields
 * are read at the offsets of the type's own bound words, whose shape the verifier has checked.
 */
#include "encode.h"
#include "time_text.h"

#define ROOM()                                                                                               \
  if (__builtin_expect(out > vm->soft, 0)) {                                                                 \
    out = bjvmi_encode_grow(vm, out);                                                                        \
    if (!out) return NULL;                                                                                   \
  }

static int64_t seconds_of(const bjvm_plan *sub, const void *msg) {
  return (int64_t)bjvmi_upb_u64(bjvmi_upb_at(msg, sub->words[0].offset));
}

static int32_t nanos_of(const bjvm_plan *sub, const void *msg) {
  return (int32_t)bjvmi_upb_u32(bjvmi_upb_at(msg, sub->words[1].offset));
}

char *bjvmi_encode_timestamp(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg) {
  int64_t seconds = seconds_of(sub, msg);
  int32_t nanos = nanos_of(sub, msg);
  if (!bjvmi_timestamp_valid(seconds, nanos)) {
    vm->status = BJVM_BAD_TIMESTAMP;
    return NULL;
  }
  *out++ = '"';
  out = bjvmi_timestamp_print(out, seconds, nanos);
  *out++ = '"';
  return out;
}

char *bjvmi_encode_duration(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg) {
  int64_t seconds = seconds_of(sub, msg);
  int32_t nanos = nanos_of(sub, msg);
  if (!bjvmi_duration_valid(seconds, nanos)) {
    vm->status = BJVM_BAD_DURATION;
    return NULL;
  }
  *out++ = '"';
  out = bjvmi_duration_print(out, seconds, nanos);
  *out++ = '"';
  return out;
}

/* One path: converted in pieces, since it may be of any length. A piece never ends in an underscore, which
 * belongs to what follows. */
static char *put_path(bjvmi_encoder *vm, char *out, upb_StringView path) {
  enum { PIECE = 128 };
  char camel[PIECE];
  const char *p = path.data;
  size_t left = path.size;
  while (left > 0) {
    const char *bad;
    size_t n = left < PIECE ? left : PIECE;
    if (n < left && p[n - 1] == '_') n--;
    while (n > 1 && n < left && ((uint8_t)p[n] & 0xc0) == 0x80) n--; /* whole characters */
    char *end = bjvmi_mask_to_camel(camel, p, n, &bad);
    if (!end) {
      vm->status = BJVM_BAD_FIELD_MASK;
      return NULL;
    }
    out = bjvmi_encode_inside(vm, out, camel, (size_t)(end - camel));
    if (!out) return NULL;
    p += n;
    left -= n;
  }
  return out;
}

char *bjvmi_encode_field_mask(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg) {
  const upb_Array *paths = (const upb_Array *)bjvmi_upb_pointer(bjvmi_upb_at(msg, sub->words[0].offset));
  size_t count = paths ? upb_Array_Size(paths) : 0;
  *out++ = '"';
  for (size_t i = 0; i < count; i++) {
    upb_StringView path = ((const upb_StringView *)upb_Array_DataPtr(paths))[i];
    bool comma = path.size && memchr(path.data, ',', path.size);
    if (path.size == 0 || comma) { /* neither would come back the same */
      vm->status = BJVM_BAD_FIELD_MASK;
      return NULL;
    }
    ROOM();
    *out = ',';
    out += i != 0;
    out = put_path(vm, out, path);
    if (!out) return NULL;
  }
  ROOM();
  *out++ = '"';
  return out;
}

/* -- Any ------------------------------------------------------------------------------------------------ */

/* The full name behind the last slash of a type URL; false when there is none. */
static bool type_name(upb_StringView url, const char **name, size_t *size) {
  if (url.size == 0) return false; /* data may be NULL */
  size_t i = bjvmi_short_behind_last(url.data, url.size, '/');
  *name = url.data + i;
  *size = url.size - i;
  return i > 1 && *size > 0;
}

static const upb_Message *unpack(bjvmi_encoder *vm, upb_StringView value, const bjvm_plan *plan) {
  const bjvm_registry *r = vm->registry;
  upb_Message *msg = bjvmi_upb_new(plan->table, vm->scratch);
  if (!msg) {
    vm->status = BJVM_OUT_OF_MEMORY;
    return NULL;
  }
  vm->status = r->decode(r->context, value.data, value.size, msg, plan->table, vm->scratch);
  return vm->status == BJVM_OK ? msg : NULL;
}

char *bjvmi_encode_any(bjvmi_encoder *vm, char *out, const bjvm_plan *sub, const void *msg,
                       const bjvm_plan **plan, const upb_Message **content) {
  upb_StringView url = bjvmi_upb_string(bjvmi_upb_at(msg, sub->words[0].offset));
  upb_StringView value = bjvmi_upb_string(bjvmi_upb_at(msg, sub->words[1].offset));
  const char *name;
  size_t name_size;
  *plan = NULL;
  if (url.size == 0 && value.size == 0) {
    memcpy(out, "{}", 2);
    return out + 2;
  }
  vm->status = BJVM_NO_REGISTRY;
  if (!vm->registry || !vm->registry->find_message || !vm->registry->decode) return NULL;
  vm->status = BJVM_SCRATCH;
  if (!vm->scratch) return NULL;
  vm->status = BJVM_ANY_TYPE;
  if (!type_name(url, &name, &name_size)) return NULL;
  const bjvm_plan *found = vm->registry->find_message(vm->registry->context, name, name_size, &vm->status);
  if (!found) return NULL;
  *content = unpack(vm, value, found);
  if (!*content) return NULL;
  vm->status = BJVM_OK;
  memcpy(out, "{\"@type\":", 9);
  out = bjvmi_encode_string(vm, out + 9, url.data, url.size);
  if (!out) return NULL;
  *plan = found;
  ROOM();
  return out;
}

#undef ROOM
