/* Copies of messages in the decode VM: what a field held before a text under last_wins changes it.
 *
 * decode_key.c asks for them. A text changes in place only messages that it reaches through fields that are not
 * repeated, and the ends of arrays (decode_map.c makes a map anew). So only these are copied; strings, elements
 * and maps are shared with the original, of which and of the copies one is kept in the end. Nothing recurses:
 * messages whose fields are still those of the original wait in a list in scratch. Kept: all that is taken from
 * the message's arena has been counted.
 */
#include "decode.h"

/* A copy whose fields have not been looked at. */
typedef struct waiting {
  struct waiting *next;
  upb_Message *msg;
  const bjvm_plan *plan;
} waiting;

static void *lacking(bjvmi_decoder *vm) {
  vm->status = BJVM_OUT_OF_MEMORY;
  return NULL;
}

static upb_Message *copy_message(bjvmi_decoder *vm, const upb_Message *from, const bjvm_plan *plan,
                                 waiting **list) {
  size_t size = bjvmi_upb_message_size(plan->table) + bjvmi_upb_list_size(from);
  if (!bjvmi_decode_charge(vm, size)) return NULL;
  waiting *w = (waiting *)upb_Arena_Malloc(vm->scratch, sizeof *w);
  upb_Message *copy = bjvmi_upb_copy(from, plan->table, vm->arena);
  if (!w || !copy) return (upb_Message *)lacking(vm);
  *w = (waiting){*list, copy, plan};
  *list = w;
  return copy;
}

static upb_Array *copy_array(bjvmi_decoder *vm, const upb_Array *from) {
  size_t size = upb_Array_Size(from);
  if (!bjvmi_decode_charge(vm, sizeof(upb_Array) + (size << bjvmi_upb_array_lg2(from)))) return NULL;
  upb_Array *copy = bjvmi_upb_array_copy(from, vm->arena);
  return copy ? copy : (upb_Array *)lacking(vm);
}

/* Puts a copy of what the slot of `w`, a word of `plan`, points to in its place. */
static bool copy_slot(bjvmi_decoder *vm, void *slot, const bjvm_plan *plan, const bjvmi_word *w,
                      waiting **list) {
  void *had = bjvmi_upb_pointer(slot), *copy = NULL;
  if (!had) return true;
  if (bjvmi_word_is_array(w)) {
    copy = copy_array(vm, (const upb_Array *)had);
  } else {
    const bjvm_plan *sub = bjvmi_decode_sub(vm, plan, w);
    if (sub) copy = copy_message(vm, (const upb_Message *)had, sub, list);
  }
  if (copy) bjvmi_upb_set_pointer(slot, copy);
  return copy != NULL;
}

static bool copy_fields(bjvmi_decoder *vm, upb_Message *msg, const bjvm_plan *plan, waiting **list) {
  for (uint32_t i = 0; i < plan->word_count; i++) {
    const bjvmi_word *w = &plan->words[i];
    bool oneof = BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF;
    if (!bjvmi_word_is_array(w) && !bjvmi_word_is_message(w)) continue;
    if (oneof && bjvmi_upb_oneof_case(msg, w->presence) != w->number) continue;
    if (!copy_slot(vm, bjvmi_upb_mut(msg, w->offset), plan, w, list)) return false;
  }
  return true;
}

/* Extensions that the registry does not know cannot be changed by the text. */
static bool copy_extensions(bjvmi_decoder *vm, upb_Message *msg, waiting **list) {
  const bjvm_registry *r = vm->registry;
  if (!r || !r->find_extension_by_table) return true;
  for (uint32_t i = 0; i < bjvmi_upb_list_count(msg); i++) {
    const upb_MiniTableExtension *table = bjvmi_upb_list_extension(msg, i);
    bjvm_status status = BJVM_OK;
    const bjvm_extension *x = table ? r->find_extension_by_table(r->context, table, &status) : NULL;
    if (status != BJVM_OK) vm->status = status;
    if (status != BJVM_OK || (x && !bjvmi_decode_charge(vm, BJVMI_UPB_EXTENSION_SIZE))) return false;
    if (!x) continue;
    upb_MessageValue *value = bjvmi_upb_list_copy(msg, i, vm->arena);
    if (!value) return lacking(vm);
    const bjvmi_word *w = x->plan->words;
    bool held = bjvmi_word_is_array(w) || bjvmi_word_is_message(w);
    if (held && !copy_slot(vm, value, x->plan, w, list)) return false;
  }
  return true;
}

const upb_Message *bjvmi_decode_copy(bjvmi_decoder *vm, const bjvm_plan *plan, const upb_Message *from) {
  waiting *list = NULL;
  upb_Message *copy = copy_message(vm, from, plan, &list);
  if (!copy) return NULL;
  while (list) {
    const waiting *w = list;
    list = w->next;
    if (!copy_fields(vm, w->msg, w->plan, &list) || !copy_extensions(vm, w->msg, &list)) return NULL;
  }
  return copy;
}
