/* The plan format: what stands in a .bjp file, byte for byte, and in memory once loaded.
 *
 * Private to bjvm (docs/plan-format.md is its public description). All integers are little-endian in a file.
 * On a big-endian machine words are swapped when they are bound and the other records are read through
 * bjvmi_le16/32. No pointers: offsets and indexes only, all checked by the verifier before anything runs.
 *
 *   header | section table | messages | words | keys | slots | enums | values | extensions | roots | names | mini
 *
 * A word, 16 bytes, is one field, for both directions:
 *
 *    0        1          2         4           6        8              12             16
 *    +--------+----------+---------+-----------+--------+--------------+--------------+
 *    |   op   | name_len |  offset | presence  |  sub   |    number    |     name     |
 *    +--------+----------+---------+-----------+--------+--------------+--------------+
 *
 *    op        kind << 3 | form (ops.def)
 *    name_len  length of the encoded name at `name`; 0: it is long or special, ask the name's header
 *    offset    bound or prebound: byte offset of the value in the message. portable: 0
 *    presence  bound or prebound: hasbit index (HASBIT) or byte offset of the oneof case (ONEOF). portable: 0
 *    sub       index of the message or enum record the kind needs
 *    number    field number; the words of a message are sorted by it
 *    name      offset in the name pool of the encoded name  ,"jsonName":  (the comma is patched while copying)
 *
 * In front of each encoded name in the pool stands its header: u8 length, u8 flags (BJVMI_NAME_*). A name of
 * more than 255 bytes is LONG: in front of these two, which say length 0, stands its length as u16. If ALT is
 * set, the header (LONG if ALT_LONG) and encoded form of the .proto name follow right behind the JSON name. If
 * DERIVED is set, it is not stored: it is the JSON name, of ASCII letters and digits, with `_x` in the place
 * of each upper case X.
 *
 * The mini section, which may be missing, holds upb's mini descriptors: one of each message record (none of an
 * external one), each enum record (none of an open one) and each extension, in this order. Each is its length
 * (7 bits a byte, low ones first, the top bit says that more follow) and its bytes. What they are linked to is
 * told by the words.
 */
#ifndef BJVM_PLAN_FORMAT_H_
#define BJVM_PLAN_FORMAT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  BJVMI_FORMAT_MAJOR = 1,
  BJVMI_FORMAT_MINOR = 2,       /* newest: 1.2 has derived names */
  BJVMI_FORMAT_MINOR_MINI = 1,  /* 1.1 has the mini section and the layout flags */
  BJVMI_FORMAT_MINOR_PLAIN = 0, /* what a file without all this says */
  BJVMI_HEADER_SIZE = 64,
  BJVMI_CHECKSUM_FROM = 24, /* the checksum covers the bytes from here to the end of the file */
  BJVMI_PLAN_ALIGN = 8,     /* a file must be aligned so in memory */
  BJVMI_NAME_PAD = 32,   /* zero bytes after the last name: wide copies and compares stay inside the pool */
  BJVMI_NAME_HEADER = 2, /* bytes in front of a name */
  BJVMI_NAME_LONG_HEADER = 4, /* of a name of more than BJVMI_NAME_SHORT_MAX bytes */
  BJVMI_NAME_SHORT_MAX = 255,
  BJVMI_NAME_MAX = 65000, /* longest encoded name: its length has 16 bits */
};

#define BJVMI_MAGIC "BJVM"

/* The opcode space, from ops.def. */
typedef enum bjvmi_kind {
#define KIND(name, number, shape, mnemonic, synopsis) BJVMI_KIND_##name = number,
#include "ops.def"
#undef KIND
  BJVMI_KIND_COUNT
} bjvmi_kind;

typedef enum bjvmi_form {
#define FORM(name, number, suffix, synopsis) BJVMI_FORM_##name = number,
#include "ops.def"
#undef FORM
  BJVMI_FORM_COUNT
} bjvmi_form;

typedef enum bjvmi_end_form {
#define END_FORM(name, number, suffix, synopsis) BJVMI_END_##name = number,
#include "ops.def"
#undef END_FORM
  BJVMI_END_COUNT
} bjvmi_end_form;

typedef enum bjvmi_shape {
  BJVMI_SHAPE_SCALAR,
  BJVMI_SHAPE_ENUM,
  BJVMI_SHAPE_MESSAGE,
  BJVMI_SHAPE_MAP,
  BJVMI_SHAPE_CONTROL,
} bjvmi_shape;

#define BJVMI_OP(kind, form) ((uint8_t)((kind) << 3 | (form)))
#define BJVMI_OP_KIND(op) ((op) >> 3)
#define BJVMI_OP_FORM(op) ((op)&7)

/* One field. See the diagram above. */
typedef struct bjvmi_word {
  uint8_t op;
  uint8_t name_len;
  uint16_t offset;
  uint16_t presence;
  uint16_t sub;
  uint32_t number;
  uint32_t name;
} bjvmi_word;

/* Flags in a name's header. */
enum {
  BJVMI_NAME_ALT = 1,       /* the .proto name differs and follows */
  BJVMI_NAME_SPECIAL = 2,   /* non-ASCII or one of < > &: printed otherwise under `ascii` or `html_safe` */
  BJVMI_NAME_ESCAPED = 4,   /* the encoded form has backslashes: it is not the raw name */
  BJVMI_NAME_LONG = 8,      /* the length stands in the two bytes before */
  BJVMI_NAME_ALT_LONG = 16, /* the same of the .proto name */
  BJVMI_NAME_DERIVED = 32,  /* since 1.2; the .proto name differs and follows from the JSON name */
};

/* A hash table over names: open addressing, linear probing, exact compare. A slot holds 1 + key index
 * (relative to first_key), 0 for free; it is a byte, or two of them in a table of more than BJVMI_KEYS_NARROW
 * keys. A look-up gives up after max_probe + 1 slots. */
enum { BJVMI_KEYS_NARROW = 255 };

typedef struct bjvmi_table {
  uint32_t first_key;
  uint32_t first_slot; /* bytes from the start of the section; even if slots have two bytes */
  uint32_t seed;
  uint16_t key_count;
  uint8_t slots_log2;
  uint8_t max_probe;
} bjvmi_table;

/* A name that may stand in a text: raw bytes in the pool, and what it names (a word of the message, a
 * value of the enum; relative to the owner's first). */
typedef struct bjvmi_key {
  uint32_t name;
  uint16_t size;
  uint16_t index;
} bjvmi_key;

/* Flags of a message record. */
enum {
  BJVMI_MESSAGE_EXTERNAL = 1,   /* only named here; its words are in another plan */
  BJVMI_MESSAGE_ENTRY = 2,      /* a map entry: words key and value; neither it nor they have names */
  BJVMI_MESSAGE_EXTENDABLE = 4, /* may have extensions */
};

typedef struct bjvmi_message {
  uint32_t name; /* full name, raw, in the pool; 0 of a map entry */
  uint16_t name_size;
  uint8_t kind; /* BJVMI_KIND_MESSAGE, or the well-known kind that reads and prints it */
  uint8_t flags;
  uint32_t first_word;
  uint16_t word_count;     /* without the END word that follows them */
  uint16_t required_count; /* how many of the words are required fields */
  bjvmi_table keys;
} bjvmi_message;

/* Flags of an enum record. */
enum {
  BJVMI_ENUM_CLOSED = 1,
};

/* An enum: its values sorted by number. A run of them, dense_count from index dense_first on, has the
 * consecutive numbers dense_min, dense_min + 1, ... and is found by subtraction; a hole in it has name 0. The
 * others are found by bisection. A hole costs 8 bytes and the compiler allows only as many holes as there are
 * values in the run. */
typedef struct bjvmi_enum {
  uint32_t name;
  uint16_t name_size;
  uint16_t flags;
  uint32_t first_value;
  uint32_t value_count;
  int32_t dense_min;
  uint32_t dense_first; /* relative to first_value */
  uint32_t dense_count;
  uint32_t reserved;
  bjvmi_table keys;
} bjvmi_enum;

typedef struct bjvmi_value {
  int32_t number;
  uint32_t name; /* the encoded name `"NAME"` in the pool, behind a header as all names; 0: a hole */
} bjvmi_value;

/* An extension: two words (the field, offset 0 and form ALWAYS or ARRAY; an END word of form EXTENSION). */
typedef struct bjvmi_extension {
  uint32_t first_word;
  uint16_t extendee; /* message record */
  uint16_t name_size;
  uint32_t name; /* full name without brackets, raw, in the pool */
} bjvmi_extension;

typedef enum bjvmi_section {
  BJVMI_SECTION_MESSAGES,
  BJVMI_SECTION_WORDS,
  BJVMI_SECTION_KEYS,
  BJVMI_SECTION_SLOTS, /* bytes, of narrow and wide tables */
  BJVMI_SECTION_ENUMS,
  BJVMI_SECTION_VALUES,
  BJVMI_SECTION_EXTENSIONS,
  BJVMI_SECTION_ROOTS, /* uint32_t message indexes: what the file was compiled for */
  BJVMI_SECTION_NAMES,
  BJVMI_SECTION_MINI, /* since 1.1 */
  BJVMI_SECTION_COUNT
} bjvmi_section;

typedef struct bjvmi_section_entry {
  uint32_t kind; /* bjvmi_section; ascending */
  uint32_t offset;
  uint32_t size; /* bytes */
} bjvmi_section_entry;

/* Flags of the header: what a prebound file was laid out for. */
enum {
  BJVMI_HEADER_32BIT = 1,
  BJVMI_HEADER_64BIT = 2,
};

typedef struct bjvmi_header {
  char magic[4]; /* BJVM */
  uint16_t major;
  uint16_t minor;
  uint32_t flags; /* since 1.1; one of them exactly if `layout` is not 0 */
  uint32_t total_size;
  uint64_t checksum;
  uint64_t schema; /* fingerprint: equal schemas, equal numbers */
  uint64_t layout; /* hint: fingerprint of the layout a prebound file was made for; 0: portable */
  uint32_t section_count;
  uint32_t reserved[5];
} bjvmi_header;

_Static_assert(sizeof(bjvmi_word) == 16, "a word is 16 bytes");
_Static_assert(sizeof(bjvmi_table) == 16 && sizeof(bjvmi_key) == 8, "key tables have no padding");
_Static_assert(sizeof(bjvmi_message) == 32, "a message record is 32 bytes");
_Static_assert(sizeof(bjvmi_enum) == 48 && sizeof(bjvmi_value) == 8, "enum records have no padding");
_Static_assert(sizeof(bjvmi_extension) == 12, "an extension record is 12 bytes");
_Static_assert(sizeof(bjvmi_header) == BJVMI_HEADER_SIZE, "the header is 64 bytes");
_Static_assert(BJVMI_KIND_COUNT <= 32 && BJVMI_FORM_COUNT <= 8, "an opcode is one byte");

static inline uint16_t bjvmi_le16(uint16_t v) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap16(v);
#else
  return v;
#endif
}

static inline uint32_t bjvmi_le32(uint32_t v) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap32(v);
#else
  return v;
#endif
}

static inline uint64_t bjvmi_le64(uint64_t v) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(v);
#else
  return v;
#endif
}

/* A word in the machine's byte order. */
static inline bjvmi_word bjvmi_word_native(const bjvmi_word *w) {
  bjvmi_word n = *w;
  n.offset = bjvmi_le16(w->offset);
  n.presence = bjvmi_le16(w->presence);
  n.sub = bjvmi_le16(w->sub);
  n.number = bjvmi_le32(w->number);
  n.name = bjvmi_le32(w->name);
  return n;
}

/* Flags and length of the encoded name at `name`, which the verifier has checked. */
static inline uint32_t bjvmi_name_flags(const char *names, uint32_t name) { return (uint8_t)names[name - 1]; }

static inline uint32_t bjvmi_name_length(const char *names, uint32_t name) {
  uint16_t v;
  if (!(bjvmi_name_flags(names, name) & BJVMI_NAME_LONG)) return (uint8_t)names[name - 2];
  memcpy(&v, names + name - BJVMI_NAME_LONG_HEADER, 2);
  return bjvmi_le16(v);
}

/* Where the .proto name of a name with ALT stands. */
static inline uint32_t bjvmi_name_alt(const char *names, uint32_t name) {
  bool is_long = bjvmi_name_flags(names, name) & BJVMI_NAME_ALT_LONG;
  return name + bjvmi_name_length(names, name) + (is_long ? BJVMI_NAME_LONG_HEADER : BJVMI_NAME_HEADER);
}

/* The pieces of the hash below: its start, 8 bytes of a name, and the last 8 of it. */
static inline uint64_t bjvmi_key_hash_begin(uint32_t seed, size_t size) {
  return (seed ^ (uint64_t)size) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t bjvmi_key_hash_block(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccdu;
  return h ^ h >> 32;
}

static inline uint32_t bjvmi_key_hash_end(uint64_t h, uint64_t v) {
  /* Twice, with the high bits folded down in between: names that differ in their last bytes alone (item_01,
   * item_02, ...) must not share a slot under every seed. */
  h = (h ^ v) * 0xff51afd7ed558ccdu;
  h = (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
  return (uint32_t)(h >> 32);
}

/* The hash of the key tables, over every byte of the name. Not secret: only an exact compare accepts a name,
 * and a look-up is bounded by max_probe, so colliding input costs no more than any other. */
static inline uint32_t bjvmi_key_hash(uint32_t seed, const char *p, size_t size) {
  uint64_t h = bjvmi_key_hash_begin(seed, size);
  uint64_t v = 0;
  if (size >= 8) {
    const char *last = p + size - 8; /* it may overlap the words before it */
    for (; p < last; p += 8) {
      memcpy(&v, p, 8);
      h = bjvmi_key_hash_block(h, bjvmi_le64(v));
    }
    memcpy(&v, last, 8);
    v = bjvmi_le64(v);
  } else if (size >= 4) {
    uint32_t low;
    uint32_t high;
    memcpy(&low, p, 4);
    memcpy(&high, p + size - 4, 4);
    v = (uint64_t)bjvmi_le32(high) << 32 | bjvmi_le32(low);
  } else if (size > 0) {
    v = (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[size / 2] << 8 | (uint8_t)p[size - 1];
  }
  return bjvmi_key_hash_end(h, v);
}

/* The checksum of a plan file: 64-bit multiply-xor over little-endian words of 8 bytes. It finds damage; it
 * is no signature, and the verifier does not rely on it. */
static inline uint64_t bjvmi_checksum(const void *data, size_t size) {
  const char *p = (const char *)data;
  uint64_t h = 0x243f6a8885a308d3u ^ size;
  uint64_t v;
  for (; size >= 8; p += 8, size -= 8) {
    memcpy(&v, p, 8);
    h = (h ^ bjvmi_le64(v)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  v = 0;
  for (size_t i = 0; i < size; i++) v |= (uint64_t)(uint8_t)p[i] << (8 * i);
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

#endif /* BJVM_PLAN_FORMAT_H_ */
