/* What the files of the plan compiler share.
 *
 * Private to planc. compile.c runs the show and lays out the file; schema.c collects message types and makes
 * their words; wellknown.c judges well-known types; mini.c has to do with upb's mini descriptors; enums.c,
 * names.c and keys.c make the records that words refer to; grow.c holds arrays and maps. All state of one
 * compilation is a bjvmi_compiler, on the stack of its caller.
 *
 * Failure is sticky: the first bjvmi_fail is what the caller is told, and from then on every function may do
 * nothing, so that only loops need to look at `status`.
 *
 * Records under construction are in native byte order; what is in `sections` is little-endian already.
 */
#ifndef BJVM_COMPILER_H_
#define BJVM_COMPILER_H_

#include "bjvm/compile.h"
#include "plan_format.h"

#define BJVMI_NONE UINT32_MAX

/* Most records of a kind, words of a message, values of an enum, and keys of a table: their indexes have 16
 * bits. */
#define BJVMI_INDEX_MAX 65535u

/* A growing array in the temporary arena. All zero is an empty one. */
typedef struct bjvmi_bytes {
  char *data;
  size_t size;
  size_t capacity;
} bjvmi_bytes;

/* A growing map from hashes to numbers, with room for several of one hash. All zero is an empty one. */
typedef struct bjvmi_map {
  struct bjvmi_map_slot *slots;
  uint32_t count;
  uint32_t mask;
} bjvmi_map;

/* A raw name in the pool; each name is there once. `owner` numbers the key table that took it last. */
typedef struct bjvmi_raw {
  uint32_t offset;
  uint32_t size;
  uint32_t owner;
} bjvmi_raw;

/* An encoded name in the pool, with its ALT form where it has one. Offset 0 is none. */
typedef struct bjvmi_name {
  uint32_t offset;
  uint32_t length;      /* of the encoded form at `offset` */
  uint32_t start;       /* of its header */
  uint32_t record_size; /* of all there is of it, from its header on */
  uint32_t raw;         /* index of the raw JSON name */
  uint32_t alt;         /* index of the raw .proto name; the same if that does not differ */
} bjvmi_name;

/* The full name of a message or enum; placed in the pool when all are known. */
typedef struct bjvmi_full_name {
  const char *name;
  uint32_t size;
  uint32_t offset;
} bjvmi_full_name;

/* A message type met, and its record as far as it is known. */
typedef struct bjvmi_type {
  const upb_MessageDef *def;
  bjvmi_message record; /* `name` is the index of its full name until that is placed */
} bjvmi_type;

/* An enum met; `kind` is what a field of it is. */
typedef struct bjvmi_enum_type {
  const upb_EnumDef *def;
  uint8_t kind;
} bjvmi_enum_type;

typedef struct bjvmi_compiler {
  upb_Arena *temp;
  bjvm_error *error;
  bjvm_status status;
  uint32_t flags;         /* BJVM_COMPILE_* */
  const char *subject;    /* full name of what is being compiled, for errors */
  bjvmi_bytes types;      /* bjvmi_type, by index; a work list too */
  bjvmi_bytes enums;      /* bjvmi_enum_type, by index */
  bjvmi_bytes extensions; /* const upb_FieldDef * */
  bjvmi_map type_map;     /* upb_MessageDef pointers to indexes */
  bjvmi_map enum_map;     /* upb_EnumDef pointers to indexes */
  bjvmi_bytes raws;       /* bjvmi_raw */
  bjvmi_bytes encoded;    /* bjvmi_name */
  bjvmi_bytes full_names; /* bjvmi_full_name */
  bjvmi_map raw_map;      /* bytes to indexes of `raws` */
  bjvmi_map encoded_map;  /* bytes of a whole name record to indexes of `encoded` */
  bool derived;           /* a .proto name is derived */
  uint32_t key_owner;     /* number of the key table under construction */
  uint32_t first_key;     /* and its first key */
  uint64_t schema;        /* fingerprints for the header */
  uint64_t layout;
  bjvmi_bytes scratch; /* of whoever is at work; nothing in it outlives a call */
  bjvmi_bytes sections[BJVMI_SECTION_COUNT];
} bjvmi_compiler;

/* -- compile.c ------------------------------------------------------------------------------------------ */

/* Records the first failure; `subject` NULL: none. */
void bjvmi_fail(bjvmi_compiler *c, bjvm_status status, const char *subject, const char *message);

/* -- grow.c --------------------------------------------------------------------------------------------- */

/* Makes room for `size` more bytes and counts them in. NULL after a failure. */
void *bjvmi_bytes_add(bjvmi_compiler *c, bjvmi_bytes *bytes, size_t size);

/* Makes room for at least `size` bytes in all, without counting them in. NULL after a failure. */
void *bjvmi_bytes_reserve(bjvmi_compiler *c, bjvmi_bytes *bytes, size_t size);

/* Walks the numbers stored under `hash`: start with *at = hash, go on until BJVMI_NONE. */
uint32_t bjvmi_map_next(const bjvmi_map *map, uint32_t hash, uint32_t *at);

/* Stores `value` (not BJVMI_NONE) under `hash`. */
void bjvmi_map_insert(bjvmi_compiler *c, bjvmi_map *map, uint32_t hash, uint32_t value);

static inline uint32_t bjvmi_pointer_hash(const void *p) {
  return (uint32_t)((uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u >> 32);
}

/* -- names.c -------------------------------------------------------------------------------------------- */

/* Starts the pool. */
void bjvmi_names_begin(bjvmi_compiler *c);

/* Ends it with its padding. */
void bjvmi_names_end(bjvmi_compiler *c);

/* The encoded name of a field, `,"json":`, with that of its .proto name where the two differ and it cannot be
 * derived. */
bjvmi_name bjvmi_names_field(bjvmi_compiler *c, const char *json, const char *proto);

/* The encoded name of an extension, `,"[full.name]":`. */
bjvmi_name bjvmi_names_extension(bjvmi_compiler *c, const char *full_name);

/* The encoded name of an enum value, `"NAME"`. */
bjvmi_name bjvmi_names_value(bjvmi_compiler *c, const char *name);

/* Notes a full name, which must live as long as the compilation, and returns its index. BJVMI_NONE after a
 * failure. */
uint32_t bjvmi_names_full(bjvmi_compiler *c, const char *name);

/* Places the full names in the pool. */
void bjvmi_names_place_full(bjvmi_compiler *c);

static inline const bjvmi_full_name *bjvmi_full_name_at(const bjvmi_compiler *c, uint32_t index) {
  return (const bjvmi_full_name *)(const void *)c->full_names.data + index;
}

/* The index of a raw name. BJVMI_NONE after a failure. */
uint32_t bjvmi_names_raw(bjvmi_compiler *c, const char *name);

static inline bjvmi_raw *bjvmi_raw_at(const bjvmi_compiler *c, uint32_t index) {
  return (bjvmi_raw *)(void *)c->raws.data + index;
}

/* -- keys.c --------------------------------------------------------------------------------------------- */

/* Starts the key table of a message or an enum. */
void bjvmi_keys_begin(bjvmi_compiler *c);

/* Adds a raw name that stands for word or value `index`. A name that is there already keeps its meaning. */
void bjvmi_keys_add(bjvmi_compiler *c, uint32_t raw, uint32_t index);

/* Makes the slots and returns the table, in native byte order. */
bjvmi_table bjvmi_keys_end(bjvmi_compiler *c);

/* The table as it stands in a file. */
bjvmi_table bjvmi_keys_le(const bjvmi_table *table);

/* -- enums.c -------------------------------------------------------------------------------------------- */

/* The index of an enum, which is recorded when met first. */
uint32_t bjvmi_enums_index(bjvmi_compiler *c, const upb_EnumDef *def);

/* Whether `def` is google.protobuf.NullValue. */
bool bjvmi_enums_is_null(const upb_EnumDef *def);

/* What a field of enum `index` is: ENUM or NULL_VALUE. */
uint8_t bjvmi_enums_kind(const bjvmi_compiler *c, uint32_t index);

/* Makes the records of all enums met. Their names are indexes of full names. */
void bjvmi_enums_compile(bjvmi_compiler *c);

/* Puts the places of the names into the records. */
void bjvmi_enums_place_names(bjvmi_compiler *c);

/* The number of enums met, and one of them. */
uint32_t bjvmi_enum_count(const bjvmi_compiler *c);
const upb_EnumDef *bjvmi_enum_def(const bjvmi_compiler *c, uint32_t index);

/* -- schema.c ------------------------------------------------------------------------------------------- */

/* The index of a message type, which is put on the work list when met first. `external`: only its name is
 * wanted. */
uint32_t bjvmi_schema_type(bjvmi_compiler *c, const upb_MessageDef *def, bool external);

/* Notes an extension and the types it refers to. */
void bjvmi_schema_extension(bjvmi_compiler *c, const upb_FieldDef *extension);

/* Works off the list of message types, then makes the words of the extensions noted. */
void bjvmi_schema_compile(bjvmi_compiler *c);

/* The kind of a scalar field; BJVMI_KIND_COUNT for an enum or a message. */
uint8_t bjvmi_schema_scalar(const upb_FieldDef *f);

static inline bjvmi_type *bjvmi_type_at(const bjvmi_compiler *c, uint32_t index) {
  return (bjvmi_type *)(void *)c->types.data + index;
}

static inline uint32_t bjvmi_type_count(const bjvmi_compiler *c) {
  return (uint32_t)(c->types.size / sizeof(bjvmi_type));
}

/* -- mini.c --------------------------------------------------------------------------------------------- */

/* Makes the section of mini descriptors, if it is asked for. */
void bjvmi_mini_compile(bjvmi_compiler *c);

/* Puts offset and presence into the words, if a layout is asked for. */
void bjvmi_mini_prebind(bjvmi_compiler *c);

/* -- wellknown.c ---------------------------------------------------------------------------------------- */

/* The kind that prints and reads a message type: MESSAGE, or a well-known kind whose shape it really has. */
uint8_t bjvmi_wellknown_kind(const upb_MessageDef *def);

#endif /* BJVM_COMPILER_H_ */
