/* Binding: matches the words of an image with the mini tables of the running program.
 *
 * Neighbours: image.c has loaded and verified the words, table_check.c looks at the tables; both VMs run what
 * comes out of here. The invariant: a bound word's kind, form, offset and presence agree with the live mini
 * table, so the VMs need no check of their own. Words that say so already in the file (prebound ones on the
 * machine they were made for, and those of map entries and extensions, which have no place) are used there;
 * others are copied. A bound plan never changes; slots and variants beside it are filled once, by an atomic
 * publish.
 */
#include "bind.h"

#include "bjvm/plan.h"
#include "camel.h"
#include "image.h"
#include "sparse.h"
#include "text.h"
#include "time_text.h"
#include "upb_map.h"

/* -- One field ------------------------------------------------------------------------------------------ */

static bool kind_fits(bjvmi_kind kind, upb_FieldType type) {
  switch (kind) {
    case BJVMI_KIND_BOOL: return type == kUpb_FieldType_Bool;
    case BJVMI_KIND_INT32:
      return type == kUpb_FieldType_Int32 || type == kUpb_FieldType_SInt32 || type == kUpb_FieldType_SFixed32;
    case BJVMI_KIND_UINT32: return type == kUpb_FieldType_UInt32 || type == kUpb_FieldType_Fixed32;
    case BJVMI_KIND_INT64:
      return type == kUpb_FieldType_Int64 || type == kUpb_FieldType_SInt64 || type == kUpb_FieldType_SFixed64;
    case BJVMI_KIND_UINT64: return type == kUpb_FieldType_UInt64 || type == kUpb_FieldType_Fixed64;
    case BJVMI_KIND_FLOAT: return type == kUpb_FieldType_Float;
    case BJVMI_KIND_DOUBLE: return type == kUpb_FieldType_Double;
    case BJVMI_KIND_STRING: return type == kUpb_FieldType_String;
    case BJVMI_KIND_BYTES: return type == kUpb_FieldType_Bytes;
    case BJVMI_KIND_ENUM:
    case BJVMI_KIND_NULL_VALUE: return type == kUpb_FieldType_Enum;
    default: return type == kUpb_FieldType_Message || type == kUpb_FieldType_Group;
  }
}

size_t bjvmi_kind_size(bjvmi_kind kind) {
  switch (kind) {
    case BJVMI_KIND_BOOL: return 1;
    case BJVMI_KIND_INT32:
    case BJVMI_KIND_UINT32:
    case BJVMI_KIND_FLOAT:
    case BJVMI_KIND_ENUM:
    case BJVMI_KIND_NULL_VALUE: return 4;
    case BJVMI_KIND_INT64:
    case BJVMI_KIND_UINT64:
    case BJVMI_KIND_INT64_NUMBER:
    case BJVMI_KIND_UINT64_NUMBER:
    case BJVMI_KIND_DOUBLE: return 8;
    case BJVMI_KIND_STRING:
    case BJVMI_KIND_BYTES: return sizeof(upb_StringView);
    default: return sizeof(void *);
  }
}

/* Whether the field is repeated, a map or single as the word says, and is stored as the kind wants it. */
static bool mode_fits(const bjvmi_word *w, const upb_MiniTableField *f) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  bjvmi_form form = BJVMI_OP_FORM(w->op);
  size_t size = bjvmi_upb_value_size(f);
  if (kind == BJVMI_KIND_MAP) return upb_MiniTableField_IsMap(f) && size == sizeof(void *);
  if (form == BJVMI_FORM_ARRAY) return upb_MiniTableField_IsArray(f) && size == sizeof(void *);
  return upb_MiniTableField_IsScalar(f) && size == bjvmi_kind_size(kind);
}

static bool presence_fits(const bjvmi_word *w, const upb_MiniTableField *f) {
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: return bjvmi_upb_has_hasbit(f);
    case BJVMI_FORM_ONEOF: return bjvmi_upb_has_oneof(f);
    default: return !bjvmi_upb_has_hasbit(f) && !bjvmi_upb_has_oneof(f);
  }
}

static bool bind_word(bjvmi_word *w, const upb_MiniTable *table) {
  const upb_MiniTableField *f = upb_MiniTable_FindFieldByNumber(table, w->number);
  if (!f || !kind_fits(BJVMI_OP_KIND(w->op), upb_MiniTableField_Type(f)) || !mode_fits(w, f)) return false;
  if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ALWAYS) return true; /* map key or value: not stored in a message */
  if (!presence_fits(w, f)) return false;
  w->offset = bjvmi_upb_offset(f);
  w->presence = bjvmi_upb_presence(f);
  return true;
}

/* -- One message ---------------------------------------------------------------------------------------- */

/* A plan with room for `copies` words behind it. */
static bjvm_plan *plan_new(bjvmi_binding *b, size_t copies) {
  bjvm_plan *p = (bjvm_plan *)upb_Arena_Malloc(b->arena, sizeof *p + copies * sizeof(bjvmi_word));
  if (!p) return NULL;
  memset(p, 0, sizeof *p);
  p->names = b->image->names;
  p->slots = b->slots;
  p->binding = b;
  p->kernels = b->kernels;
  return p;
}

/* Whether the `count` words and their END stand in the file as binding would make them. */
static bool are_bound(const bjvmi_word *words, uint32_t count, const upb_MiniTable *table) {
  for (uint32_t i = 0; i <= count; i++) {
    bjvmi_word w = bjvmi_word_native(&words[i]);
    if (i < count && !bind_word(&w, table)) return false;
    if (memcmp(&w, &words[i], sizeof w) != 0) return false;
  }
  return true;
}

/* A plan with bound copies of the words. NULL: no memory, or *bad_field does not fit. */
static bjvm_plan *copy_words(bjvmi_binding *b, const bjvmi_word *words, uint32_t count,
                             const upb_MiniTable *table, bjvm_status *status, uint32_t *bad_field) {
  *status = BJVM_OUT_OF_MEMORY;
  bjvm_plan *p = plan_new(b, (size_t)count + 1);
  if (!p) return NULL;
  bjvmi_word *copy = (bjvmi_word *)(p + 1);
  *status = BJVM_PLAN_MISMATCH;
  for (uint32_t i = 0; i <= count; i++) {
    copy[i] = bjvmi_word_native(&words[i]);
    *bad_field = copy[i].number;
    if (i < count && !bind_word(&copy[i], table)) return NULL;
  }
  p->words = copy;
  return p;
}

/* A plan with bound words, in place or copied. */
static bjvm_plan *bind_words(bjvmi_binding *b, const bjvmi_message *rec, const upb_MiniTable *table,
                             bjvm_status *status, uint32_t *bad_field) {
  const bjvmi_word *words = &b->image->words[bjvmi_le32(rec->first_word)];
  uint32_t count = bjvmi_le16(rec->word_count);
  bool entry = rec->flags & BJVMI_MESSAGE_ENTRY;
  *status = BJVM_PLAN_MISMATCH;
  if (!entry && !bjvmi_table_is_sound(table)) return NULL;
  bool in_place = (entry || b->image->header->layout || b->in_place_only) && are_bound(words, count, table);
  if (!in_place && b->in_place_only) return NULL;
  if (!in_place) return copy_words(b, words, count, table, status, bad_field);
  *status = BJVM_OUT_OF_MEMORY;
  bjvm_plan *p = plan_new(b, 0);
  if (p) p->words = words;
  return p;
}

/* A bound on the lengths of derived names, by the words alone: the names are not in the cache. Each letter of one may become
 * two; of a long name the word does not say the length. */
static uint32_t derived_most(const bjvm_plan *p) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < p->word_count; i++) {
    uint32_t length = p->words[i].name_len ? p->words[i].name_len : BJVMI_NAME_MAX;
    if (length > most) most = length;
  }
  return 2 * most;
}

bjvm_plan *bjvmi_bind_message(bjvmi_binding *b, uint32_t message, const upb_MiniTable *table,
                              bjvm_status *status, bjvmi_misfit *bad) {
  const bjvmi_message *rec = &b->image->messages[message];
  *status = BJVM_PLAN_UNBOUND;
  *bad = (bjvmi_misfit){message, 0};
  if (rec->flags & BJVMI_MESSAGE_EXTERNAL) return NULL;
  bjvm_plan *p = bind_words(b, rec, table, status, &bad->field);
  if (!p) return NULL;
  p->table = table;
  p->record = rec;
  p->word_count = bjvmi_le16(rec->word_count);
  p->required_count = bjvmi_le16(rec->required_count);
  p->kind = rec->kind;
  p->flags = rec->flags;
  p->keys = bjvmi_table_native(&rec->keys);
  p->derived_most = derived_most(p);
#ifndef BJVM_SIZE_SMALL
  p->sparse = bjvmi_sparse_new(p, b->arena);
#endif
  *status = BJVM_OK;
  return p;
}

/* The two words of an extension have no place in a message; only the byte order can ask for a copy. */
static bjvm_plan *extension_words(bjvmi_binding *b, const bjvmi_word *words) {
  const bjvmi_word native[2] = {bjvmi_word_native(&words[0]), bjvmi_word_native(&words[1])};
  bool in_place = memcmp(native, words, sizeof native) == 0;
  bjvm_plan *p = plan_new(b, in_place ? 0 : 2);
  if (!p) return NULL;
  if (!in_place) memcpy(p + 1, native, sizeof native);
  p->words = in_place ? words : (const bjvmi_word *)(p + 1);
  return p;
}

static bool extension_fits(const bjvmi_word *w, const upb_MiniTableField *f) {
  return w->number == upb_MiniTableField_Number(f) && upb_MiniTableField_IsExtension(f) &&
         kind_fits(BJVMI_OP_KIND(w->op), upb_MiniTableField_Type(f)) && mode_fits(w, f);
}

bjvm_extension *bjvmi_bind_extension(bjvmi_binding *b, uint32_t extension,
                                     const upb_MiniTableExtension *table, bjvm_status *status) {
  const bjvmi_extension *rec = &b->image->extensions[extension];
  const upb_MiniTableField *f = upb_MiniTableExtension_ToField(table);
  *status = BJVM_OUT_OF_MEMORY;
  bjvm_extension *e = (bjvm_extension *)upb_Arena_Malloc(b->arena, sizeof *e);
  bjvm_plan *p = extension_words(b, &b->image->words[bjvmi_le32(rec->first_word)]);
  if (!e || !p) return NULL;
  *status = BJVM_PLAN_MISMATCH;
  if (!extension_fits(p->words, f)) return NULL;
  p->extension = table;
  p->word_count = 1;
  p->kind = BJVMI_KIND_MESSAGE;
  p->record = &b->image->messages[bjvmi_le16(rec->extendee)];
  p->table = upb_MiniTableExtension_Extendee(table);
  e->plan = p;
  e->table = table;
  e->name = b->image->names + bjvmi_le32(rec->name);
  e->name_size = bjvmi_le16(rec->name_size);
  *status = BJVM_OK;
  return e;
}

/* -- Linking -------------------------------------------------------------------------------------------- */

static bool has_sub_message(const bjvmi_word *w) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  return kind >= BJVMI_KIND_MESSAGE && kind <= BJVMI_KIND_MAP;
}

/* The mini table of the message (or map entry) that `w`, a word of `plan`, refers to. */
static const upb_MiniTable *sub_table(const bjvm_plan *plan, const bjvmi_word *w) {
  if (plan->extension) return upb_MiniTableExtension_GetSubMessage(plan->extension);
  const upb_MiniTableField *f = upb_MiniTable_FindFieldByNumber(plan->table, w->number);
  return f ? upb_MiniTable_SubMessage(f) : NULL;
}

const bjvm_plan *bjvmi_slot_publish(bjvmi_slot *slot, const bjvm_plan *plan) {
  const bjvm_plan *expected = NULL;
  if (__atomic_compare_exchange_n(&slot->plan, &expected, plan, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return plan;
  return expected;
}

const bjvm_plan *bjvmi_plan_link(const bjvm_plan *parent, const bjvmi_word *w, bjvm_status *status) {
  bjvmi_binding *b = parent->binding;
  const upb_MiniTable *table = sub_table(parent, w);
  const bjvm_plan *p = bjvmi_slot_load(&b->slots[w->sub]);
  *status = BJVM_PLAN_UNBOUND;
  if (!p && table && b->link) p = b->link(b, w->sub, table, status);
  if (p && p->table != table) {
    *status = BJVM_PLAN_MISMATCH;
    return NULL;
  }
  if (p) *status = BJVM_OK;
  return p;
}

/* Whether every message that `plan` refers to sits in its slot with the right table; binds and queues the
 * missing. A map whose entry does not fit is a field that does not. */
static bool bind_children(const bjvm_plan *plan, uint16_t *queue, uint32_t *queued, bjvm_status *status,
                          bjvmi_misfit *bad) {
  bjvmi_binding *b = plan->binding;
  for (uint32_t i = 0; i < plan->word_count; i++) {
    const bjvmi_word *w = &plan->words[i];
    if (!has_sub_message(w)) continue;
    const upb_MiniTable *table = sub_table(plan, w);
    const bjvm_plan *had = b->slots[w->sub].plan;
    const bjvmi_misfit field = {(uint32_t)(plan->record - b->image->messages), w->number};
    *bad = field;
    *status = BJVM_PLAN_MISMATCH;
    if (!table || (had && had->table != table)) return false;
    if (had) continue;
    const bjvm_plan *p = bjvmi_bind_message(b, w->sub, table, status, bad);
    if (!p && b->image->messages[w->sub].flags & BJVMI_MESSAGE_ENTRY) *bad = field;
    if (!p) return false;
    b->slots[w->sub].plan = p;
    queue[(*queued)++] = w->sub;
  }
  return true;
}

static bool bind_closure(bjvmi_binding *b, uint32_t root, const upb_MiniTable *table, bjvm_status *status,
                         bjvmi_misfit *bad) {
  uint32_t queued = 0;
  *status = BJVM_OUT_OF_MEMORY;
  uint16_t *queue = (uint16_t *)upb_Arena_Malloc(b->arena, b->image->message_count * sizeof *queue);
  if (!queue) return false;
  const bjvm_plan *p = bjvmi_bind_message(b, root, table, status, bad);
  if (!p) return false;
  b->slots[root].plan = p;
  queue[queued++] = (uint16_t)root;
  for (uint32_t i = 0; i < queued; i++) {
    if (!bind_children(b->slots[queue[i]].plan, queue, &queued, status, bad)) return false;
  }
  return true;
}

bool bjvmi_bind_all(bjvmi_binding *b, const upb_MiniTable *const *tables, bjvm_status *status,
                    bjvmi_misfit *bad) {
  const uint32_t count = b->image->message_count;
  uint32_t queued = 0;
  *status = BJVM_OUT_OF_MEMORY;
  uint16_t *queue = (uint16_t *)upb_Arena_Malloc(b->arena, count * sizeof *queue);
  if (!queue) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (!tables[i] || b->image->messages[i].flags & BJVMI_MESSAGE_ENTRY) continue;
    b->slots[i].plan = bjvmi_bind_message(b, i, tables[i], status, bad);
    if (!b->slots[i].plan) return false;
    queue[queued++] = (uint16_t)i;
  }
  for (uint32_t i = 0; i < queued; i++)
    if (!bind_children(b->slots[queue[i]].plan, queue, &queued, status, bad)) return false;
  return true;
}

bjvmi_binding *bjvmi_binding_new(const bjvm_image *image, upb_Arena *arena) {
  size_t slots = image->message_count * sizeof(bjvmi_slot);
  bjvmi_binding *b = (bjvmi_binding *)upb_Arena_Malloc(arena, sizeof *b + slots);
  if (!b) return NULL;
  memset(b, 0, sizeof *b + slots);
  b->image = image;
  b->slots = (bjvmi_slot *)(b + 1);
  b->kernels = bjvmi_kernels_best();
#ifndef BJVM_SIZE_SMALL
  b->hashing = bjvmi_upb_map_hashing();
#endif
  b->arena = arena;
  return b;
}

static bjvm_status bind_failed(bjvm_error *error, bjvm_status status, bjvmi_fault fault) {
  bjvmi_image_report(error, status, 0, NULL, 0, fault);
  return status;
}

/* Adds `: field 3 of pkg.Message`. */
static void add_misfit(bjvm_error *error, const bjvm_image *image, const bjvmi_misfit *bad) {
  const bjvmi_message *rec = &image->messages[bad->message];
  bjvmi_text t = {error->message, strlen(error->message), sizeof error->message};
  bjvmi_text_string(&t, ": ");
  if (bad->field) {
    bjvmi_text_string(&t, "field ");
    bjvmi_text_unsigned(&t, bad->field, 0);
    bjvmi_text_string(&t, " of ");
  }
  bjvmi_text_bytes(&t, image->names + bjvmi_le32(rec->name), bjvmi_le16(rec->name_size));
}

static bjvm_status bind_image(const bjvm_image *image, const char *full_name, const upb_MiniTable *table,
                              upb_Arena *arena, bool in_place_only, const bjvm_plan **plan,
                              bjvm_error *error) {
  bjvm_status status = BJVM_OK;
  bjvmi_misfit bad;
  if (!image || !table || !arena || !plan) return bind_failed(error, BJVM_BAD_ARGUMENT, BJVMI_FAULT_NONE);
  *plan = NULL;
  int root = bjvmi_image_find_message(image, full_name);
  if (root < 0) return bind_failed(error, BJVM_PLAN_UNBOUND, BJVMI_FAULT_NO_TYPE);
  bjvmi_binding *b = bjvmi_binding_new(image, arena);
  if (!b) return bind_failed(error, BJVM_OUT_OF_MEMORY, BJVMI_FAULT_NONE);
  b->in_place_only = in_place_only;
  if (!bind_closure(b, (uint32_t)root, table, &status, &bad)) {
    if (in_place_only && status == BJVM_PLAN_MISMATCH)
      return bind_failed(error, status, BJVMI_FAULT_NOT_IN_PLACE);
    bind_failed(error, status, BJVMI_FAULT_NONE);
    if (error && status != BJVM_OUT_OF_MEMORY) add_misfit(error, image, &bad);
    return status;
  }
  *plan = b->slots[root].plan;
  return BJVM_OK;
}

bjvm_status bjvm_image_bind(const bjvm_image *image, const char *full_name, const upb_MiniTable *table,
                            upb_Arena *arena, const bjvm_plan **plan, bjvm_error *error) {
  return bind_image(image, full_name, table, arena, false, plan, error);
}

bjvm_status bjvm_image_bind_in_place(const bjvm_image *image, const char *full_name,
                                     const upb_MiniTable *table, upb_Arena *arena, const bjvm_plan **plan,
                                     bjvm_error *error) {
  return bind_image(image, full_name, table, arena, true, plan, error);
}

/* -- Variants: words rewritten for a set of encode options ---------------------------------------------- */

/* Where the name stands that is printed under `flags`, or has to be derived from. */
static uint32_t printed_name(const char *names, uint32_t name, uint32_t flags) {
  bool alt = (flags & BJVM_ENCODE_PROTO_NAMES) && (bjvmi_name_flags(names, name) & BJVMI_NAME_ALT);
  return alt ? bjvmi_name_alt(names, name) : name;
}

static uint8_t short_length(uint32_t length) { return (uint8_t)(length <= UINT8_MAX ? length : 0); }

static void word_for_names(bjvmi_word *w, const char *names, uint32_t flags) {
  if (!w->name) return;
  w->name = printed_name(names, w->name, flags);
  w->name_len = short_length(bjvmi_name_length(names, w->name));
  uint32_t bits = bjvmi_name_flags(names, w->name);
  if ((flags & (BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE)) && (bits & BJVMI_NAME_SPECIAL)) w->name_len = 0;
}

static void word_for_options(bjvmi_word *w, uint32_t flags) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  bjvmi_form form = BJVMI_OP_FORM(w->op);
  if (kind == BJVMI_KIND_END) return;
  if (flags & BJVM_ENCODE_EMIT_DEFAULTS) {
    if (form == BJVMI_FORM_IMPLICIT) form = BJVMI_FORM_ALWAYS;
    if (form == BJVMI_FORM_ARRAY) form = BJVMI_FORM_ARRAY_ALWAYS;
  }
  if ((flags & BJVM_ENCODE_ENUMS_AS_INTS) && kind == BJVMI_KIND_ENUM) kind = BJVMI_KIND_INT32;
  if (flags & BJVM_ENCODE_INT64_AS_NUMBERS) {
    if (kind == BJVMI_KIND_INT64) kind = BJVMI_KIND_INT64_NUMBER;
    if (kind == BJVMI_KIND_UINT64) kind = BJVMI_KIND_UINT64_NUMBER;
  }
  w->op = BJVMI_OP(kind, form);
}

static bool is_derived(const char *names, uint32_t name) {
  return bjvmi_name_flags(names, name) & BJVMI_NAME_DERIVED;
}

/* The length of a name once it is derived, if it has to be. */
static uint32_t own_length(const char *names, uint32_t name) {
  uint32_t length = bjvmi_name_length(names, name);
  uint32_t extra = 0;
  if (!is_derived(names, name)) return length;
  for (uint32_t i = 0; i < length; i++) extra += bjvmi_is_upper(names[name + i]);
  return length + extra;
}

/* Bytes of a pool with the names of all words of `plan`; 0: none of them has to be derived. */
static uint64_t own_names_size(const bjvm_plan *plan, size_t count, uint32_t flags) {
  uint64_t size = BJVMI_NAME_PAD;
  bool derived = false;
  if (!(flags & BJVM_ENCODE_PROTO_NAMES)) return 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t name = plan->words[i].name;
    if (!name) continue;
    name = printed_name(plan->names, name, flags);
    derived |= is_derived(plan->names, name);
    size += (uint64_t)BJVMI_NAME_LONG_HEADER + own_length(plan->names, name);
  }
  return derived ? size : 0;
}

/* Writes a name behind a header, and says so in *w. Returns its end. */
static char *put_own_name(char *pool, char *to, const char *names, bjvmi_word *w) {
  uint32_t length = own_length(names, w->name);
  uint32_t flags = bjvmi_name_flags(names, w->name);
  const uint16_t long_length = bjvmi_le16((uint16_t)length);
  const char *from = names + w->name;
  const char *bad;
  bool is_long = length > BJVMI_NAME_SHORT_MAX;
  memcpy(to, &long_length, sizeof long_length); /* unused before a short name */
  to[2] = (char)(is_long ? 0 : length);
  to[3] = (char)((flags & (BJVMI_NAME_SPECIAL | BJVMI_NAME_ESCAPED)) | (is_long ? BJVMI_NAME_LONG : 0));
  to += BJVMI_NAME_LONG_HEADER;
  if (is_derived(names, w->name)) {
    bjvmi_mask_to_snake(to, from, bjvmi_name_length(names, w->name), &bad);
    w->name_len = short_length(length);
  } else {
    memcpy(to, from, length);
  }
  w->name = (uint32_t)(to - pool);
  return to + length;
}

/* Gives the words a pool of their own. */
static void own_names(bjvmi_variant *v, size_t count, char *pool) {
  char *to = pool;
  for (size_t i = 0; i < count; i++)
    if (v->words[i].name) to = put_own_name(pool, to, v->plan.names, &v->words[i]);
  memset(to, 0, BJVMI_NAME_PAD);
  v->plan.names = pool;
}

static const bjvmi_variant *find_variant(const bjvm_plan *plan, uint32_t flags) {
  const bjvmi_variant *v = __atomic_load_n(&plan->variants, __ATOMIC_ACQUIRE);
  while (v && v->flags != flags) v = v->next;
  return v;
}

const bjvmi_variant *bjvmi_variant_build(const bjvm_plan *plan, uint32_t flags, upb_Arena *arena) {
  size_t count = (size_t)plan->word_count + 1;
  const bjvmi_variant *had = find_variant(plan, flags);
  if (had) return had;
  size_t size = sizeof(bjvmi_variant) + count * sizeof(bjvmi_word);
  uint64_t names_size = own_names_size(plan, count, flags);
  if (names_size > UINT32_MAX / 2) return NULL;
  bjvmi_variant *v = (bjvmi_variant *)upb_Arena_Malloc(arena, size + (size_t)names_size);
  if (!v) return NULL;
  v->plan = *plan;
  v->plan.words = v->words;
  v->plan.variants = NULL;
  v->flags = flags;
  memcpy(v->words, plan->words, count * sizeof(bjvmi_word));
  for (size_t i = 0; i < count; i++) {
    word_for_options(&v->words[i], plan->extension ? flags & ~(uint32_t)BJVM_ENCODE_EMIT_DEFAULTS : flags);
    word_for_names(&v->words[i], plan->names, flags);
  }
  if (names_size) own_names(v, count, (char *)v + size);
  v->next = plan->variants;
  __atomic_store_n(&((bjvm_plan *)(uintptr_t)plan)->variants, v, __ATOMIC_RELEASE);
  return v;
}

const bjvm_plan *bjvmi_plan_variant(const bjvm_plan *plan, uint32_t flags) {
  const bjvmi_variant *v = find_variant(plan, flags);
  if (!v && plan->binding->make_variant) v = plan->binding->make_variant(plan, flags);
  return v ? &v->plan : NULL;
}

bjvm_status bjvm_plan_prepare(const bjvm_plan *plan, uint32_t encode_flags, upb_Arena *arena) {
  uint32_t flags = encode_flags & BJVMI_VARIANT_FLAGS;
  if (!plan || !arena || encode_flags & ~BJVMI_ENCODE_FLAGS) return BJVM_BAD_ARGUMENT;
  if (!flags) return BJVM_OK;
  const bjvmi_binding *b = plan->binding;
  for (uint32_t i = 0; i < b->image->message_count; i++) {
    const bjvm_plan *p = bjvmi_slot_load(&b->slots[i]);
    if (p && !bjvmi_variant_build(p, flags, arena)) return BJVM_OUT_OF_MEMORY;
  }
  return bjvmi_variant_build(plan, flags, arena) ? BJVM_OK : BJVM_OUT_OF_MEMORY;
}

/* -- What a plan tells ---------------------------------------------------------------------------------- */

const char *bjvm_plan_name(const bjvm_plan *plan, size_t *size) {
  if (size) *size = plan ? bjvmi_le16(plan->record->name_size) : 0;
  if (!plan) return NULL;
  return plan->names + bjvmi_le32(plan->record->name);
}

const upb_MiniTable *bjvm_plan_table(const bjvm_plan *plan) { return plan ? plan->table : NULL; }

bool bjvm_plan_in_place(const bjvm_plan *plan) {
  return plan && plan->words != (const bjvmi_word *)(plan + 1);
}

const char *bjvm_plan_kernels(const bjvm_plan *plan) { return plan ? plan->kernels->name : NULL; }

int bjvmi_plan_find_key(const bjvm_plan *plan, const char *name, size_t size) {
  return bjvmi_table_find(plan->binding->image, &plan->keys, name, size);
}

int bjvmi_plan_find_derived(const bjvm_plan *plan, const char *name, size_t size) {
  if (size > plan->derived_most) return -1;
  int index = bjvmi_table_find_json(plan->binding->image, &plan->keys, name, size);
  return index >= 0 && is_derived(plan->names, plan->words[index].name) ? index : -1;
}
