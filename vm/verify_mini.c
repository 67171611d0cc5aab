/* The verifier's checks of mini descriptors: that upb's builder can be given them, and that they say what the
 * words say.
 *
 * upb trusts a mini descriptor further than a file from elsewhere deserves (characters outside of its
 * alphabet, numbers that run over, an extension that declares itself extendable). So the whole grammar is
 * read here first, field by field beside the words: same number, a type that the word's kind holds, and the
 * presence its form asks for. Kept: what passes is a well-formed mini descriptor of exactly the record's
 * fields. tables.c builds from it, and bind.c checks what upb made of it.
 */
#include "mini.h"
#include "verify.h"

#define K(kind) (1u << BJVMI_KIND_##kind)
#define MESSAGES ((1u << BJVMI_KIND_MAP) - (1u << BJVMI_KIND_MESSAGE))
#define ENUMS (K(ENUM) | K(NULL_VALUE))

/* upb's encoding of types, and what each may be here. */
enum {
  TYPE_OPEN_ENUM = 12,
  TYPE_BYTES = 14,
  TYPE_STRING,
  TYPE_GROUP,
  TYPE_MESSAGE,
  TYPE_CLOSED_ENUM,
  TYPE_COUNT,
  TYPE_REPEATED
};

static const uint32_t type_kinds[TYPE_COUNT] = {
    K(DOUBLE), K(FLOAT),  K(UINT32), K(UINT64),         K(INT32), K(INT64), K(INT32),
    K(UINT32), K(INT32),  K(INT64),  K(UINT64),         K(INT64), ENUMS,    K(BOOL),
    K(BYTES),  K(STRING), MESSAGES,  MESSAGES | K(MAP), ENUMS,
};

enum {
  MODIFIER_FLIP_PACKED = 1,
  MODIFIER_REQUIRED = 2,
  MODIFIER_SINGULAR = 4,
  MODIFIER_FLIP_UTF8 = 8,
  MODIFIER_MAX = 15
};
enum { MESSAGE_EXTENDABLE = 4, MESSAGE_MAX = 7 };
enum { REQUIRED_MAX = 63 }; /* upb's limit: they have the low hasbits of one word */

/* -- Characters ----------------------------------------------------------------------------------------- */

typedef struct reader {
  const bjvmi_check *check;
  const char *at;
  const char *end;
} reader;

/* A range of digits, and how many bits one of them holds in a number. */
typedef struct range {
  char min, max;
  uint8_t bits;
} range;

static const range fields = {' ', 'I', 0};
static const range modifiers = {'L', '[', 4};
static const range skips = {'_', '~', 5};
static const range masks = {' ', 'A', 5};
static const range members = {' ', 'b', 6};

static bool fail(const reader *r, bjvmi_fault fault) { return bjvmi_check_fail(r->check, r->at, fault); }

/* The value of a digit of base 92: the printable ASCII characters but for quotes and the backslash. -1: it is
 * none. */
static int digit(char ch) {
  if (ch < ' ' || ch > '~' || ch == '"' || ch == '\'' || ch == '\\') return -1;
  return ch - ' ' - (ch > '"') - (ch > '\'') - (ch > '\\');
}

/* Whether a digit of the range comes next. */
static bool is_next(const reader *r, const range *of) {
  return r->at < r->end && *r->at >= of->min && *r->at <= of->max && digit(*r->at) >= 0;
}

static uint32_t take(reader *r, const range *of) { return (uint32_t)(digit(*r->at++) - digit(of->min)); }

/* A number, low digits first, the first of which is next. */
static bool read_number(reader *r, const range *of, uint32_t *number) {
  uint64_t value = 0;
  for (unsigned shift = 0; is_next(r, of); shift += of->bits) {
    if (shift >= 32) return fail(r, BJVMI_FAULT_MINI_NUMBER_LONG);
    value |= (uint64_t)take(r, of) << shift;
  }
  *number = (uint32_t)value;
  return value <= UINT32_MAX ? true : fail(r, BJVMI_FAULT_MINI_NUMBER_LARGE);
}

/* -- Fields --------------------------------------------------------------------------------------------- */

typedef struct field {
  uint32_t number;
  uint32_t type;
  uint32_t modifiers;
  bool repeated;
} field;

static bool check_modifiers(const reader *r, const field *f) {
  bool packable = f->type < TYPE_BYTES || f->type == TYPE_CLOSED_ENUM;
  if (f->modifiers > MODIFIER_MAX) return fail(r, BJVMI_FAULT_MINI_MODIFIER);
  if (f->modifiers & MODIFIER_FLIP_PACKED && !(f->repeated && packable))
    return fail(r, BJVMI_FAULT_MINI_PACKED);
  if (f->modifiers & MODIFIER_FLIP_UTF8 && f->type != TYPE_STRING) return fail(r, BJVMI_FAULT_MINI_UTF8);
  uint32_t presence = f->modifiers & (MODIFIER_REQUIRED | MODIFIER_SINGULAR);
  if (presence && (f->repeated || presence == (MODIFIER_REQUIRED | MODIFIER_SINGULAR)))
    return fail(r, BJVMI_FAULT_MINI_CONTRADICTION);
  return true;
}

/* The next field: a number to skip, a type, modifiers. `last` is the number of the one before. */
static bool read_field(reader *r, uint32_t last, field *f) {
  uint32_t skip = 1;
  if (is_next(r, &skips) && !read_number(r, &skips, &skip)) return false;
  if (!is_next(r, &fields)) return fail(r, BJVMI_FAULT_MINI_NO_FIELD);
  uint32_t type = take(r, &fields);
  *f = (field){.number = last + skip, .type = type, .repeated = type >= TYPE_REPEATED};
  if (f->repeated) f->type -= TYPE_REPEATED;
  if (f->type >= TYPE_COUNT) return fail(r, BJVMI_FAULT_MINI_TYPE_UNKNOWN);
  if (is_next(r, &modifiers) && !read_number(r, &modifiers, &f->modifiers)) return false;
  return check_modifiers(r, f);
}

static bool is_closed(const bjvmi_check *c, const bjvmi_word *w) {
  return bjvmi_enum_is_closed(c->image, bjvmi_le16(w->sub));
}

/* Whether number, type and repetition of a field are those of its word. */
static bool fits_word(const reader *r, const field *f, const bjvmi_word *w) {
  unsigned kind = BJVMI_OP_KIND(w->op);
  if (f->number != bjvmi_le32(w->number)) return fail(r, BJVMI_FAULT_MINI_NUMBER);
  if (!(type_kinds[f->type] >> kind & 1)) return fail(r, BJVMI_FAULT_MINI_TYPE);
  if (bjvmi_shapes[kind] == BJVMI_SHAPE_ENUM && is_closed(r->check, w) != (f->type == TYPE_CLOSED_ENUM))
    return fail(r, BJVMI_FAULT_MINI_CLOSED);
  if (f->repeated != (BJVMI_OP_FORM(w->op) == BJVMI_FORM_ARRAY)) return fail(r, BJVMI_FAULT_MINI_REPEATED);
  return true;
}

/* The same of its presence. Members of oneofs look like fields with a hasbit at first. */
static bool fits_form(const reader *r, const field *f, const bjvmi_word *w) {
  bjvmi_form form = BJVMI_OP_FORM(w->op);
  bool singular = f->modifiers & MODIFIER_SINGULAR, required = f->modifiers & MODIFIER_REQUIRED;
  if (form != BJVMI_FORM_ARRAY && singular != (form == BJVMI_FORM_IMPLICIT))
    return fail(r, BJVMI_FAULT_MINI_PRESENCE);
  return required && form != BJVMI_FORM_HASBIT ? fail(r, BJVMI_FAULT_MINI_REQUIRED) : true;
}

/* -- Messages ------------------------------------------------------------------------------------------- */

static const bjvmi_word *find_word(const bjvmi_word *words, uint32_t count, uint32_t number) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    uint32_t there = bjvmi_le32(words[middle].number);
    if (there == number) return &words[middle];
    if (there < number) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

/* The oneofs: groups of members, parted by ~, the members of a group by |. Each names a field of form ONEOF,
 * and there are as many as such fields. (One that is named twice is refused by upb.) */
static bool check_oneofs(reader *r, const bjvmi_word *words, uint32_t count, uint32_t expected) {
  uint32_t seen = 0, number;
  if (expected == 0) return r->at == r->end ? true : fail(r, BJVMI_FAULT_MINI_FIELDS_LEFT);
  if (r->at == r->end || *r->at != '^') return fail(r, BJVMI_FAULT_MINI_NO_ONEOFS);
  do {
    r->at++;
    if (!is_next(r, &members)) return fail(r, BJVMI_FAULT_MINI_ONEOF_EMPTY);
    if (!read_number(r, &members, &number)) return false;
    const bjvmi_word *w = find_word(words, count, number);
    if (!w || BJVMI_OP_FORM(w->op) != BJVMI_FORM_ONEOF) return fail(r, BJVMI_FAULT_MINI_ONEOF_MEMBER);
    seen++;
  } while (r->at < r->end && (*r->at == '|' || *r->at == '~'));
  if (r->at < r->end) return fail(r, BJVMI_FAULT_MINI_ONEOFS_LEFT);
  return seen == expected ? true : fail(r, BJVMI_FAULT_MINI_ONEOF_SHORT);
}

static bool check_fields(reader *r, const bjvmi_message *m, const bjvmi_word *words) {
  field f = {0};
  uint32_t oneof = 0, required = 0;
  for (uint32_t i = 0; i < m->word_count; i++) {
    if (!read_field(r, f.number, &f) || !fits_word(r, &f, &words[i]) || !fits_form(r, &f, &words[i]))
      return false;
    oneof += BJVMI_OP_FORM(words[i].op) == BJVMI_FORM_ONEOF;
    required += (f.modifiers & MODIFIER_REQUIRED) != 0;
  }
  if (required != m->required_count || required > REQUIRED_MAX)
    return fail(r, BJVMI_FAULT_MINI_REQUIRED_COUNT);
  return check_oneofs(r, words, m->word_count, oneof);
}

/* A map entry has fields 1 and 2, as the words have been found to be; what presence they have means
 * nothing. */
static bool check_entry(reader *r, const bjvmi_word *words) {
  field f = {0};
  for (uint32_t i = 0; i < 2; i++) {
    if (!read_field(r, f.number, &f) || !fits_word(r, &f, &words[i])) return false;
    if (f.modifiers & MODIFIER_REQUIRED) return fail(r, BJVMI_FAULT_MINI_ENTRY_REQUIRED);
    if (f.type == TYPE_GROUP) return fail(r, BJVMI_FAULT_MINI_ENTRY_GROUP);
  }
  return r->at == r->end ? true : fail(r, BJVMI_FAULT_MINI_FIELDS_LEFT);
}

static bool check_message(reader *r, const bjvmi_message *m) {
  const bjvmi_word *words = r->check->image->words + m->first_word;
  bool extendable = m->flags & BJVMI_MESSAGE_EXTENDABLE;
  uint32_t its_modifiers = 0;
  if (m->flags & BJVMI_MESSAGE_EXTERNAL) return r->at == r->end ? true : fail(r, BJVMI_FAULT_MINI_EXTERNAL);
  char version = r->at < r->end ? *r->at++ : 0;
  if (m->flags & BJVMI_MESSAGE_ENTRY)
    return version == '%' ? check_entry(r, words) : fail(r, BJVMI_FAULT_MINI_NO_ENTRY);
  if (version == '&' && r->at == r->end)
    return extendable && m->word_count == 0 ? true : fail(r, BJVMI_FAULT_MINI_SET_FIELDS);
  if (version != '$') return fail(r, BJVMI_FAULT_MINI_NO_MESSAGE);
  if (m->word_count > BJVMI_MINI_FIELDS_MAX) return fail(r, BJVMI_FAULT_MINI_FIELDS_MANY);
  if (is_next(r, &modifiers) && !read_number(r, &modifiers, &its_modifiers)) return false;
  if (its_modifiers > MESSAGE_MAX) return fail(r, BJVMI_FAULT_MINI_MODIFIER);
  if (extendable != ((its_modifiers & MESSAGE_EXTENDABLE) != 0)) return fail(r, BJVMI_FAULT_MINI_EXTENDABLE);
  return check_fields(r, m, words);
}

/* -- Enums ---------------------------------------------------------------------------------------------- */

/* The numbers of an enum in the order of a mini descriptor: by their unsigned value. */
typedef struct numbers {
  const bjvmi_value *values;
  uint32_t count, first, seen; /* `first`: the first that is not negative */
} numbers;

/* The next number. False: there is none. */
static bool next_number(numbers *n, uint32_t *number) {
  while (n->seen < n->count) {
    const bjvmi_value v = bjvmi_value_native(&n->values[(n->first + n->seen++) % n->count]);
    *number = (uint32_t)v.number;
    if (v.name) return true; /* not a hole */
  }
  return false;
}

static numbers numbers_of(const bjvm_image *image, const bjvmi_enum *e) {
  numbers n = {image->values + e->first_value, e->value_count, 0, 0};
  while (n.first < n.count && bjvmi_value_native(&n.values[n.first]).number < 0) n.first++;
  return n;
}

/* Reads five bits that stand for `base` and the numbers behind it. */
static bool check_mask(reader *r, numbers *n, uint64_t base) {
  uint32_t mask = take(r, &masks), number;
  for (uint32_t i = 0; i < 5; i++)
    if (mask >> i & 1 && !(next_number(n, &number) && number == base + i))
      return fail(r, BJVMI_FAULT_MINI_ENUM_NUMBER);
  return true;
}

static bool check_enum(reader *r, const bjvmi_enum *e) {
  numbers n = numbers_of(r->check->image, e);
  uint64_t base = 0;
  uint32_t skip;
  if (!(e->flags & BJVMI_ENUM_CLOSED)) return r->at == r->end ? true : fail(r, BJVMI_FAULT_MINI_OPEN_ENUM);
  if (r->at == r->end || *r->at != '!') return fail(r, BJVMI_FAULT_MINI_NO_ENUM);
  r->at++;
  while (r->at < r->end) {
    if (is_next(r, &masks)) {
      if (!check_mask(r, &n, base)) return false;
      base += 5;
    } else if (is_next(r, &skips)) {
      if (!read_number(r, &skips, &skip)) return false;
      base += skip;
    } else {
      return fail(r, BJVMI_FAULT_MINI_ENUM_CHARACTER);
    }
  }
  return next_number(&n, &skip) ? fail(r, BJVMI_FAULT_MINI_ENUM_LACKS) : true;
}

/* -- Extensions, and all of them ------------------------------------------------------------------------ */

static bool check_extension(reader *r, const bjvmi_extension *x) {
  const bjvmi_word *w = r->check->image->words + x->first_word;
  field f;
  if (r->at == r->end || *r->at != '#') return fail(r, BJVMI_FAULT_MINI_NO_EXTENSION);
  r->at++;
  if (!read_field(r, 0, &f) || !fits_word(r, &f, w)) return false;
  if (f.modifiers & (MODIFIER_REQUIRED | MODIFIER_SINGULAR))
    return fail(r, BJVMI_FAULT_MINI_EXTENSION_MODIFIER);
  return r->at == r->end ? true : fail(r, BJVMI_FAULT_MINI_FIELD_LEFT);
}

static bool next(bjvmi_check *c, bjvmi_mini_walk *walk, const char *what, uint32_t index, reader *r) {
  bjvmi_mini mini;
  c->what = what;
  c->index = index;
  if (!bjvmi_mini_next(walk, &mini)) return bjvmi_check_fail(c, walk->at, BJVMI_FAULT_MINI_MISSING);
  *r = (reader){c, mini.data, mini.data + mini.size};
  return true;
}

static bool check_all(bjvmi_check *c) {
  const bjvm_image *image = c->image;
  bjvmi_mini_walk walk = bjvmi_mini_begin(image);
  reader r;
  for (uint32_t i = 0; i < image->message_count; i++) {
    const bjvmi_message m = bjvmi_message_native(&image->messages[i]);
    if (!next(c, &walk, "message", i, &r) || !check_message(&r, &m)) return false;
  }
  for (uint32_t i = 0; i < image->enum_count; i++) {
    const bjvmi_enum e = bjvmi_enum_native(&image->enums[i]);
    if (!next(c, &walk, "enum", i, &r) || !check_enum(&r, &e)) return false;
  }
  for (uint32_t i = 0; i < image->extension_count; i++) {
    const bjvmi_extension x = bjvmi_extension_native(&image->extensions[i]);
    if (!next(c, &walk, "extension", i, &r) || !check_extension(&r, &x)) return false;
  }
  c->what = NULL;
  return walk.at == walk.end ? true : bjvmi_check_fail(c, walk.at, BJVMI_FAULT_MINI_LEFT);
}

bjvm_status bjvmi_verify_mini(const bjvm_image *image, bjvm_error *error) {
  bjvmi_check c = {.image = image, .error = error};
  return image->mini_size == 0 || check_all(&c) ? BJVM_OK : BJVM_PLAN_CORRUPT;
}
