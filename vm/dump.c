/* The listing of an image, for people and for golden tests.
 *
 * Runs over a verified image (image.c, verify.c) and prints it line by line through the caller's function.
 * How a word is printed follows from its kind's shape; mnemonics come from ops.def. Kept: the text depends on
 * the file only, no memory is taken, and names of any length pass through without being cut.
 */
#include "camel.h"
#include "image.h"
#include "text.h"

enum { BUFFER_SIZE = 256 };

typedef struct listing {
  const bjvm_image *image;
  bjvm_write_func *write;
  void *context;
  bool ok;
  bjvmi_text text;
  char buffer[BUFFER_SIZE];
} listing;

static const char *const mnemonics[BJVMI_KIND_COUNT] = {
#define KIND(name, number, shape, mnemonic, synopsis) [number] = mnemonic,
#include "ops.def"
#undef KIND
};

static const char *const suffixes[BJVMI_FORM_COUNT] = {
#define FORM(name, number, suffix, synopsis) [number] = suffix,
#include "ops.def"
#undef FORM
};

static const char *const end_suffixes[BJVMI_END_COUNT] = {
#define END_FORM(name, number, suffix, synopsis) [number] = suffix,
#include "ops.def"
#undef END_FORM
};

/* -- Pieces of text ------------------------------------------------------------------------------------- */

static void flush(listing *l) {
  if (l->text.size && l->ok) l->ok = l->write(l->context, l->text.data, l->text.size);
  l->text.size = 0;
}

/* Makes room for `size` bytes, at most BUFFER_SIZE - 1. */
static void reserve(listing *l, size_t size) {
  if (size >= BUFFER_SIZE - l->text.size) flush(l);
}

static void put_bytes(listing *l, const char *bytes, size_t size) {
  reserve(l, size);
  if (size < BUFFER_SIZE) bjvmi_text_bytes(&l->text, bytes, size);
  else if (l->ok) l->ok = l->write(l->context, bytes, size);
}

static void put(listing *l, const char *string) { put_bytes(l, string, strlen(string)); }

static void put_number(listing *l, int64_t value, size_t width) {
  reserve(l, 32);
  bjvmi_text_signed(&l->text, value, width);
}

/* "12 fields" */
static void put_count(listing *l, uint32_t count, const char *noun) {
  put_number(l, count, 0);
  put(l, " ");
  put(l, noun);
  if (count != 1) put(l, "s");
}

static void put_hex(listing *l, uint64_t value) {
  reserve(l, 16);
  bjvmi_text_hex(&l->text, value);
}

static void put_padding(listing *l, size_t used, size_t width) {
  reserve(l, 32);
  if (used < width) bjvmi_text_fill(&l->text, ' ', width - used);
}

/* A string at the left of a column. */
static void put_column(listing *l, const char *string, size_t width) {
  put(l, string);
  put_padding(l, strlen(string), width);
}

static void put_pool(listing *l, uint32_t name, uint32_t size) { put_bytes(l, l->image->names + name, size); }

/* -- Records -------------------------------------------------------------------------------------------- */

static void put_table(listing *l, const bjvmi_table *t) {
  put(l, ", ");
  put_count(l, t->key_count, "key");
  if (t->key_count) {
    put(l, " in ");
    put_count(l, 1u << t->slots_log2, "slot");
    put(l, ", at most ");
    put_count(l, t->max_probe + 1u, "probe");
  }
}

/* The message or enum that `w` refers to. */
static void put_type(listing *l, const bjvmi_word *w) {
  const bjvm_image *image = l->image;
  bjvmi_shape shape = (bjvmi_shape)bjvmi_shapes[BJVMI_OP_KIND(w->op)];
  if (shape == BJVMI_SHAPE_ENUM) {
    put(l, " -> ");
    put_pool(l, bjvmi_le32(image->enums[w->sub].name), bjvmi_le16(image->enums[w->sub].name_size));
  } else if (shape == BJVMI_SHAPE_MESSAGE) {
    put(l, " -> ");
    put_pool(l, bjvmi_le32(image->messages[w->sub].name), bjvmi_le16(image->messages[w->sub].name_size));
  }
}

/* "entry 3, string to message -> acme.Order" */
static void put_entry(listing *l, uint32_t index) {
  const bjvmi_message m = bjvmi_message_native(&l->image->messages[index]);
  const bjvmi_word value = bjvmi_word_native(&l->image->words[m.first_word + 1]);
  put(l, "entry ");
  put_number(l, index, 0);
  put(l, ", ");
  put(l, mnemonics[BJVMI_OP_KIND(l->image->words[m.first_word].op)]);
  put(l, " to ");
  put(l, mnemonics[BJVMI_OP_KIND(value.op)]);
  put_type(l, &value); /* no entry has a map for its value */
}

/* The message, entry or enum that `w` refers to. */
static void put_sub(listing *l, const bjvmi_word *w) {
  if (bjvmi_shapes[BJVMI_OP_KIND(w->op)] != BJVMI_SHAPE_MAP) {
    put_type(l, w);
    return;
  }
  put(l, " -> ");
  put_entry(l, w->sub);
}

/* The name that is derived from `size` bytes of the pool. */
static void put_derived(listing *l, uint32_t name, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) {
    char c = l->image->names[name + i];
    const char bytes[2] = {'_', bjvmi_to_lower(c)};
    if (bjvmi_is_upper(c)) put_bytes(l, bytes, 2);
    else put_bytes(l, &c, 1);
  }
}

/* The encoded name without its comma and colon: a JSON string. */
static void put_field_name(listing *l, uint32_t name) {
  const char *names = l->image->names;
  uint32_t length = bjvmi_name_length(names, name);
  put(l, "  ");
  put_pool(l, name + 1, length - 2);
  if (bjvmi_name_flags(names, name) & BJVMI_NAME_ALT) {
    uint32_t alt = bjvmi_name_alt(names, name);
    put(l, " or ");
    put_pool(l, alt + 1, bjvmi_name_length(names, alt) - 2);
  } else if (bjvmi_name_flags(names, name) & BJVMI_NAME_DERIVED) {
    put(l, " or ");
    put_derived(l, name + 1, length - 2);
  }
}

static void put_word(listing *l, uint32_t index) {
  const bjvmi_word w = bjvmi_word_native(&l->image->words[index]);
  unsigned kind = BJVMI_OP_KIND(w.op), form = BJVMI_OP_FORM(w.op);
  bool control = bjvmi_shapes[kind] == BJVMI_SHAPE_CONTROL;
  const char *suffix = control ? end_suffixes[form] : suffixes[form];
  put_number(l, index, 6);
  put(l, "  ");
  put(l, mnemonics[kind]);
  if (control) {
    put(l, suffix);
  } else {
    put_column(l, suffix, 18 - strlen(mnemonics[kind]));
    put_number(l, w.number, 9);
    if (l->image->header->layout) {
      put(l, "  at ");
      put_number(l, w.offset, 5);
      put(l, " / ");
      put_number(l, w.presence, 5);
    }
    if (w.name) put_field_name(l, w.name);
    put_sub(l, &w);
  }
  put(l, "\n");
}

/* `count` words and the END word behind them. */
static void put_words(listing *l, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i <= count; i++) put_word(l, first + i);
}

static void put_message(listing *l, uint32_t index) {
  const bjvmi_message m = bjvmi_message_native(&l->image->messages[index]);
  put(l, "\nmessage ");
  put_number(l, index, 0);
  if (m.name_size) put(l, " ");
  put_pool(l, m.name, m.name_size);
  put(l, ": ");
  put(l, m.flags & BJVMI_MESSAGE_ENTRY ? "entry" : mnemonics[m.kind]);
  if (m.flags & BJVMI_MESSAGE_EXTENDABLE) put(l, ", extendable");
  if (m.flags & BJVMI_MESSAGE_EXTERNAL) {
    put(l, ", external\n");
    return;
  }
  put(l, ", ");
  put_count(l, m.word_count, "word");
  if (m.required_count) {
    put(l, ", ");
    put_number(l, m.required_count, 0);
    put(l, " required");
  }
  put_table(l, &m.keys);
  put(l, "\n");
  put_words(l, m.first_word, m.word_count);
}

static void put_enum(listing *l, uint32_t index) {
  const bjvmi_enum e = bjvmi_enum_native(&l->image->enums[index]);
  put(l, "\nenum ");
  put_number(l, index, 0);
  put(l, " ");
  put_pool(l, e.name, e.name_size);
  put(l, e.flags & BJVMI_ENUM_CLOSED ? ": closed, " : ": open, ");
  put_count(l, e.value_count, "value");
  if (e.dense_count) {
    put(l, ", dense from ");
    put_number(l, e.dense_min, 0);
    put(l, " to ");
    put_number(l, (int64_t)e.dense_min + e.dense_count - 1, 0);
  }
  put_table(l, &e.keys);
  put(l, "\n");
  for (uint32_t i = 0; i < e.value_count; i++) {
    const bjvmi_value v = bjvmi_value_native(&l->image->values[e.first_value + i]);
    put_number(l, v.number, 13);
    put(l, "  ");
    if (v.name) put_pool(l, v.name, bjvmi_name_length(l->image->names, v.name));
    else put(l, "hole");
    put(l, "\n");
  }
}

static void put_extension(listing *l, uint32_t index) {
  const bjvmi_extension x = bjvmi_extension_native(&l->image->extensions[index]);
  const bjvmi_message m = bjvmi_message_native(&l->image->messages[x.extendee]);
  put(l, "\nextension ");
  put_number(l, index, 0);
  put(l, " ");
  put_pool(l, x.name, x.name_size);
  put(l, " of ");
  put_pool(l, m.name, m.name_size);
  put(l, "\n");
  put_words(l, x.first_word, 1);
}

/* -- The whole ------------------------------------------------------------------------------------------ */

static void put_header(listing *l) {
  const bjvmi_header *h = l->image->header;
  uint64_t layout = bjvmi_le64(h->layout);
  put(l, "plan file: format ");
  put_number(l, bjvmi_le16(h->major), 0);
  put(l, ".");
  put_number(l, bjvmi_le16(h->minor), 0);
  put(l, ", ");
  put_count(l, bjvmi_le32(h->total_size), "byte");
  put(l, ", schema ");
  put_hex(l, bjvmi_le64(h->schema));
  if (layout) {
    put(l, bjvmi_le32(h->flags) & BJVMI_HEADER_32BIT ? ", prebound for 32 bits, layout "
                                                     : ", prebound for 64 bits, layout ");
    put_hex(l, layout);
  } else {
    put(l, ", portable");
  }
  put(l, "\n");
  size_t count = bjvm_image_root_count(l->image);
  for (size_t i = 0; i < count; i++) {
    size_t size;
    const char *name = bjvm_image_root_name(l->image, i, &size);
    put(l, "root ");
    put_bytes(l, name, size);
    put(l, "\n");
  }
}

static uint32_t count_fields(const bjvm_image *image) {
  uint32_t fields = image->extension_count;
  for (uint32_t i = 0; i < image->message_count; i++)
    if (!(image->messages[i].flags & BJVMI_MESSAGE_ENTRY))
      fields += bjvmi_le16(image->messages[i].word_count);
  return fields;
}

const char *bjvmi_section_name(bjvmi_section section) {
  static const char *const names[BJVMI_SECTION_COUNT] = {
      [BJVMI_SECTION_MESSAGES] = "messages",
      [BJVMI_SECTION_WORDS] = "words",
      [BJVMI_SECTION_KEYS] = "keys",
      [BJVMI_SECTION_SLOTS] = "slots",
      [BJVMI_SECTION_ENUMS] = "enums",
      [BJVMI_SECTION_VALUES] = "values",
      [BJVMI_SECTION_EXTENSIONS] = "extensions",
      [BJVMI_SECTION_ROOTS] = "roots",
      [BJVMI_SECTION_NAMES] = "names",
      [BJVMI_SECTION_MINI] = "mini",
  };
  return names[section];
}

static void put_section(listing *l, bjvmi_section section, uint32_t records) {
  const bjvmi_section_format *format = &bjvmi_section_formats[section];
  put(l, "  ");
  put_column(l, bjvmi_section_name(section), 10);
  put_number(l, (int64_t)records * format->record, 10);
  put(l, " bytes");
  if (format->record > 1) {
    put_number(l, records, 10);
    put(l, " of ");
    put_number(l, format->record, 0);
  }
  put(l, "\n");
}

static void put_sizes(listing *l) {
  const bjvm_image *image = l->image;
  put(l, "\nsections\n");
  put_section(l, BJVMI_SECTION_MESSAGES, image->message_count);
  put_section(l, BJVMI_SECTION_WORDS, image->word_count);
  put_section(l, BJVMI_SECTION_KEYS, image->key_count);
  put_section(l, BJVMI_SECTION_SLOTS, image->slot_count);
  put_section(l, BJVMI_SECTION_ENUMS, image->enum_count);
  put_section(l, BJVMI_SECTION_VALUES, image->value_count);
  put_section(l, BJVMI_SECTION_EXTENSIONS, image->extension_count);
  put_section(l, BJVMI_SECTION_ROOTS, image->root_count);
  put_section(l, BJVMI_SECTION_NAMES, image->names_size);
  if (image->mini_size) put_section(l, BJVMI_SECTION_MINI, image->mini_size);

  uint32_t fields = count_fields(image);
  put_count(l, fields, "field");
  if (fields) {
    uint64_t tenths = (uint64_t)bjvmi_le32(image->header->total_size) * 10 / fields;
    put(l, ", ");
    put_number(l, (int64_t)(tenths / 10), 0);
    put(l, ".");
    put_number(l, (int64_t)(tenths % 10), 0);
    put(l, " bytes a field");
  }
  put(l, "\n");
}

bool bjvm_image_dump(const bjvm_image *image, bjvm_write_func *write, void *context) {
  if (!image || !write) return false;
  listing l = {.image = image, .write = write, .context = context, .ok = true};
  l.text = bjvmi_text_init(l.buffer, sizeof l.buffer);
  put_header(&l);
  for (uint32_t i = 0; i < image->message_count && l.ok; i++) put_message(&l, i);
  for (uint32_t i = 0; i < image->enum_count && l.ok; i++) put_enum(&l, i);
  for (uint32_t i = 0; i < image->extension_count && l.ok; i++) put_extension(&l, i);
  put_sizes(&l);
  flush(&l);
  return l.ok;
}
