/* A loaded image and a bound plan, in memory.
 *
 * Private to bjvm. image.c loads, verify.c checks, bind.c binds and links, both VMs read. An image and a
 * bound plan never change once published; what is found lazily lives in the slots and variant list beside
 * them.
 */
#ifndef BJVM_PLAN_INTERNAL_H_
#define BJVM_PLAN_INTERNAL_H_

#include "bjvm/codec.h"
#include "bjvm/plan.h"
#include "kernels.h"
#include "map_hashing.h"
#include "plan_format.h"

struct bjvm_image {
  const bjvmi_header *header;
  const bjvmi_message *messages;
  const bjvmi_word *words;
  const bjvmi_key *keys;
  const uint8_t *slots;
  const bjvmi_enum *enums;
  const bjvmi_value *values;
  const bjvmi_extension *extensions;
  const uint32_t *roots;
  const char *names;
  const uint8_t *mini;
  uint32_t message_count;
  uint32_t word_count;
  uint32_t key_count;
  uint32_t slot_count;
  uint32_t enum_count;
  uint32_t value_count;
  uint32_t extension_count;
  uint32_t root_count;
  uint32_t names_size;
  uint32_t mini_size; /* 0: the file has no mini descriptors */
};

/* Encode options that are compiled into the words: BJVM_ENCODE_* flags of which each set has its own bound
 * words. */
#define BJVMI_VARIANT_FLAGS                                                                                  \
  (BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_EMIT_DEFAULTS | BJVM_ENCODE_ENUMS_AS_INTS |                         \
   BJVM_ENCODE_INT64_AS_NUMBERS | BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE)

/* All flags that there are; another bit is a mistake, or means something to a newer library. */
#define BJVMI_ENCODE_FLAGS (2u * BJVM_ENCODE_CHECK_REQUIRED - 1)
#define BJVMI_DECODE_FLAGS (2u * BJVM_DECODE_PADDED - 1)

/* One message type of an image, as met: its plan, published once (acquire/release). */
typedef struct bjvmi_slot {
  const bjvm_plan *plan;
} bjvmi_slot;

/* What the plans bound from one image share. */
typedef struct bjvmi_binding {
  const bjvm_image *image;
  bjvmi_slot *slots; /* one per message record */
  const bjvmi_kernels *kernels;
#ifndef BJVM_SIZE_SMALL
  bjvmi_map_hashing hashing; /* of the maps that messages have */
#endif
  upb_Arena *arena;
  bool in_place_only; /* a word that had to be copied is a mismatch */
  /* Fills slots[message] when it is met first, or returns NULL (a status in *status); called without any
   * lock. NULL: everything is bound eagerly. `table` is the mini table of that message. */
  const bjvm_plan *(*link)(struct bjvmi_binding *binding, uint32_t message, const upb_MiniTable *table,
                           bjvm_status *status);
  /* Makes the words of `plan` for `flags`, publishes and returns them; NULL on failure. NULL function: only
   * what bjvm_plan_prepare has made is there. */
  const struct bjvmi_variant *(*make_variant)(const bjvm_plan *plan, uint32_t flags);
  void *context;
} bjvmi_binding;

struct bjvm_plan {
  const bjvmi_word *words; /* bound, native byte order, sorted by number, END last; in the file or copied */
  const char *names;
  const bjvmi_slot *slots;
  const upb_MiniTable *table;
  bjvmi_binding *binding;
  const bjvmi_message *record;          /* file byte order */
  const struct bjvmi_variant *variants; /* list, newest first, published atomically */
  const bjvmi_kernels *kernels;
  const struct bjvmi_sparse *sparse; /* which words are set, by the message's bytes (sparse.h); or NULL */
  uint16_t word_count;               /* without END */
  uint16_t required_count;
  uint8_t kind; /* how the message itself is read and printed */
  uint8_t flags;
  uint32_t derived_most;                   /* no derived .proto name is longer; 0: there is none */
  bjvmi_table keys;                        /* native byte order */
  const upb_MiniTableExtension *extension; /* of the pseudo-plan of an extension; else NULL */
};

/* A plan once more, for a set of options: its words are those behind this struct, and its names stand behind
 * them if one of them had to be derived. The encode VM runs it in the place of the plan that has it in its
 * list. */
typedef struct bjvmi_variant {
  bjvm_plan plan;
  uint32_t flags;
  const struct bjvmi_variant *next;
  bjvmi_word words[];
} bjvmi_variant;

struct bjvm_extension {
  const bjvm_plan *plan; /* a pseudo-plan: its words are the extension's two, table is the extendee's */
  const upb_MiniTableExtension *table;
  const char *name; /* full name */
  size_t name_size;
};

/* The index of the message record `full_name` that is no map entry (NULL: the first root), or -1. */
int bjvmi_image_find_message(const bjvm_image *image, const char *full_name);
int bjvmi_image_find_name(const bjvm_image *image, const char *full_name, size_t size);

/* Checks all of a loaded image but its mini descriptors; BJVM_OK or the code with error->offset = the first
 * fault. */
bjvm_status bjvmi_verify(const bjvm_image *image, size_t size, bjvm_error *error);

/* The same for the mini descriptors, which only building tables reads: a program that has its mini tables
 * from elsewhere does not link this. */
bjvm_status bjvmi_verify_mini(const bjvm_image *image, bjvm_error *error);

/* What did not fit when binding failed. */
typedef struct bjvmi_misfit {
  uint32_t message; /* the record */
  uint32_t field;   /* its number; 0: the message as a whole */
} bjvmi_misfit;

/* Binds record `message` of the binding's image to `table`; memory from binding->arena. Does not publish it.
 * Returns NULL and a status, and *bad, if it does not fit. */
bjvm_plan *bjvmi_bind_message(bjvmi_binding *binding, uint32_t message, const upb_MiniTable *table,
                              bjvm_status *status, bjvmi_misfit *bad);

/* A binding without plans yet; memory from `arena`. NULL: out of memory. Set link, make_variant and context
 * before use. */
bjvmi_binding *bjvmi_binding_new(const bjvm_image *image, upb_Arena *arena);

/* Binds an extension record to its mini table. */
bjvm_extension *bjvmi_bind_extension(bjvmi_binding *binding, uint32_t extension,
                                     const upb_MiniTableExtension *table, bjvm_status *status);

/* Cold path of both VMs: the plan of the message type that `w`, a word of `parent`, refers to. */
const bjvm_plan *bjvmi_plan_link(const bjvm_plan *parent, const bjvmi_word *w, bjvm_status *status);

/* Publishes a plan in its slot; if another thread was first, returns that thread's. */
const bjvm_plan *bjvmi_slot_publish(bjvmi_slot *slot, const bjvm_plan *plan);

/* The variant of the plan for `flags` (a subset of BJVMI_VARIANT_FLAGS, not 0) if it is there, else made by
 * the binding (cold). NULL: not there and cannot be made. */
const bjvm_plan *bjvmi_plan_variant(const bjvm_plan *plan, uint32_t flags);

/* Builds the variant in memory from `arena` (not thread-safe by itself: the binding's make_variant locks) and
 * publishes it. */
const bjvmi_variant *bjvmi_variant_build(const bjvm_plan *plan, uint32_t flags, upb_Arena *arena);

/* The shape of each kind, from ops.def. */
extern const uint8_t bjvmi_shapes[BJVMI_KIND_COUNT];

/* Bytes of a value of the kind in a message or array. */
size_t bjvmi_kind_size(bjvmi_kind kind);

/* The index of the word that a name in a text stands for, or -1. It is looked up among the names that are
 * stored, and if it is not there among the .proto names that are derived. */
int bjvmi_plan_find_key(const bjvm_plan *plan, const char *name, size_t size);
int bjvmi_plan_find_derived(const bjvm_plan *plan, const char *name, size_t size);

/* Exact look-up in a key table of the image (`table` in native byte order): what the name stands for, an
 * index relative to the first word or value of the table's owner, or -1. Linear probing from slot
 * `bjvmi_key_hash & (slots - 1)` on. */
int bjvmi_table_find(const bjvm_image *image, const bjvmi_table *table, const char *name, size_t size);

/* The same for the JSON name that `name` is derived from, if it is a name that can be (BJVMI_NAME_DERIVED).
 * Whether the name found says so is for the caller to ask. Linear in `size`. */
int bjvmi_table_find_json(const bjvm_image *image, const bjvmi_table *table, const char *name, size_t size);

/* Enum look-ups on the image's record. */
const char *bjvmi_enum_name(const bjvm_image *image, uint32_t index, int32_t number, uint32_t *size);
bool bjvmi_enum_number(const bjvm_image *image, uint32_t index, const char *name, size_t size, bool fold,
                       int32_t *number);
bool bjvmi_enum_is_closed(const bjvm_image *image, uint32_t index);

static inline const bjvm_plan *bjvmi_slot_load(const bjvmi_slot *slot) {
  return __atomic_load_n(&slot->plan, __ATOMIC_ACQUIRE);
}

#endif /* BJVM_PLAN_INTERNAL_H_ */
