/* The name pool: encoded names behind their headers, and raw names.
 *
 * Full names of messages and enums come last, sorted: one that another begins with (as that of a message
 * begins those of the types nested in it) is a part of it. A name is appended at the end of the pool first
 * and then looked for; one that is there already is taken off again. So equal encoded names (with equal ALT
 * forms) are in the pool once, and so are equal raw names; a raw name lies inside an encoded one unless it
 * had to be escaped. A .proto name that follows from the JSON name is not in the pool. The pool's order is
 * the order in which names are asked for.
 */
#include "camel.h"
#include "compiler.h"

#include <stdlib.h>
#include <string.h>

/* What stands around a name in its encoded form. */
typedef struct affix {
  const char *before;
  const char *after;
  uint32_t before_size;
  uint32_t after_size;
} affix;

static const affix field_affix = {",\"", "\":", 2, 2};
static const affix extension_affix = {",\"[", "]\":", 3, 3};
static const affix value_affix = {"\"", "\"", 1, 1};

static const bjvmi_name no_name = {0, 0, 0, 0, BJVMI_NONE, BJVMI_NONE};

static bjvmi_bytes *pool_of(bjvmi_compiler *c) { return &c->sections[BJVMI_SECTION_NAMES]; }

void bjvmi_names_begin(bjvmi_compiler *c) {
  /* Offset 0 is no name, and a header can be read in front of any offset that is one. */
  const size_t size = BJVMI_NAME_LONG_HEADER - BJVMI_NAME_HEADER;
  void *start = bjvmi_bytes_add(c, pool_of(c), size);
  if (start != NULL) memset(start, 0, size);
}

void bjvmi_names_end(bjvmi_compiler *c) {
  void *pad = bjvmi_bytes_add(c, pool_of(c), BJVMI_NAME_PAD);
  if (pad != NULL) memset(pad, 0, BJVMI_NAME_PAD);
}

/* -- Escapes -------------------------------------------------------------------------------------------- */

/* The letter behind the backslash of a short escape, or 0. */
static char short_escape(unsigned char ch) {
  switch (ch) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

/* The size of `name` once it is escaped; adds what it finds to *flags. */
static size_t escaped_size(const char *name, size_t size, uint32_t *flags) {
  size_t extra = 0;
  for (size_t i = 0; i < size; i++) {
    unsigned char ch = (unsigned char)name[i];
    if (ch >= 0x80 || ch == '<' || ch == '>' || ch == '&') *flags |= BJVMI_NAME_SPECIAL;
    if (ch >= 0x20 && ch != '"' && ch != '\\') continue;
    *flags |= BJVMI_NAME_ESCAPED;
    extra += short_escape(ch) ? 1 : 5;
  }
  return size + extra;
}

static char *escape(char *to, const char *name, size_t size) {
  for (size_t i = 0; i < size; i++) {
    unsigned char ch = (unsigned char)name[i];
    char letter = short_escape(ch);
    if (letter != 0) {
      *to++ = '\\';
      *to++ = letter;
    } else if (ch < 0x20) {
      memcpy(to, ch < 0x10 ? "\\u000" : "\\u001", 5);
      to[5] = "0123456789abcdef"[ch & 15];
      to += 6;
    } else {
      *to++ = (char)ch;
    }
  }
  return to;
}

/* The length of the encoded form; adds what the header says of it to *flags. */
static size_t encoded_length(const affix *around, const char *name, size_t size, uint32_t *flags) {
  size_t length = around->before_size + escaped_size(name, size, flags) + around->after_size;
  if (length > BJVMI_NAME_SHORT_MAX) *flags |= BJVMI_NAME_LONG;
  return length;
}

static char *put_header(char *to, size_t length, uint32_t flags) {
  uint16_t long_length = bjvmi_le16((uint16_t)length);
  if (flags & BJVMI_NAME_LONG) {
    memcpy(to, &long_length, sizeof long_length);
    to += sizeof long_length;
  }
  *to++ = (char)(flags & BJVMI_NAME_LONG ? 0 : length);
  *to++ = (char)flags;
  return to;
}

/* Appends header and encoded form, whose length and flags are known. Returns where the form stands, 0 on
 * failure. */
static uint32_t append_encoded(bjvmi_compiler *c, const affix *around, const char *name, size_t size,
                               size_t length, uint32_t flags) {
  if (length > BJVMI_NAME_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "its name is longer than a plan can hold");
    return 0;
  }
  size_t header = flags & BJVMI_NAME_LONG ? BJVMI_NAME_LONG_HEADER : BJVMI_NAME_HEADER;
  uint32_t at = (uint32_t)(pool_of(c)->size + header);
  char *to = bjvmi_bytes_add(c, pool_of(c), header + length);
  if (to == NULL) return 0;
  to = put_header(to, length, flags);
  memcpy(to, around->before, around->before_size);
  to += around->before_size;
  if (flags & BJVMI_NAME_ESCAPED) {
    to = escape(to, name, size);
  } else {
    memcpy(to, name, size);
    to += size;
  }
  memcpy(to, around->after, around->after_size);
  return at;
}

/* -- Raw names ------------------------------------------------------------------------------------------ */

/* The index of a raw name, which also stands in the pool at `inside` (0: nowhere yet). */
static uint32_t raw_index(bjvmi_compiler *c, const char *name, size_t size, uint32_t inside) {
  const bjvmi_bytes *pool = pool_of(c);
  uint32_t hash = bjvmi_key_hash(0, name, size);
  uint32_t at = hash;
  for (uint32_t i; (i = bjvmi_map_next(&c->raw_map, hash, &at)) != BJVMI_NONE;) {
    const bjvmi_raw *known = bjvmi_raw_at(c, i);
    if (known->size == size && memcmp(pool->data + known->offset, name, size) == 0) return i;
  }
  if (inside == 0) {
    inside = (uint32_t)pool->size;
    char *to = bjvmi_bytes_add(c, pool_of(c), size);
    if (to == NULL) return BJVMI_NONE;
    memcpy(to, name, size);
  }
  uint32_t index = (uint32_t)(c->raws.size / sizeof(bjvmi_raw));
  bjvmi_raw *raw = bjvmi_bytes_add(c, &c->raws, sizeof *raw);
  if (raw == NULL) return BJVMI_NONE;
  *raw = (bjvmi_raw){inside, (uint32_t)size, 0};
  bjvmi_map_insert(c, &c->raw_map, hash, index);
  return index;
}

uint32_t bjvmi_names_raw(bjvmi_compiler *c, const char *name) {
  size_t size = strlen(name);
  if (size > BJVMI_NAME_MAX) {
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "its name is longer than a plan can hold");
    return BJVMI_NONE;
  }
  return raw_index(c, name, size, 0);
}

/* -- Encoded names -------------------------------------------------------------------------------------- */

/* The name whose record has just been appended at `start`, if it is known from earlier. */
static const bjvmi_name *find_encoded(bjvmi_compiler *c, size_t start, uint32_t hash) {
  const bjvmi_bytes *pool = pool_of(c);
  size_t size = pool->size - start;
  uint32_t at = hash;
  for (uint32_t i; (i = bjvmi_map_next(&c->encoded_map, hash, &at)) != BJVMI_NONE;) {
    const bjvmi_name *known = (const bjvmi_name *)(const void *)c->encoded.data + i;
    const char *record = pool->data + known->start;
    if (known->record_size == size && memcmp(record, pool->data + start, size) == 0) return known;
  }
  return NULL;
}

/* `alt` NULL: there is no ALT form. `flags`: DERIVED or 0. */
static bjvmi_name encode(bjvmi_compiler *c, const affix *around, const char *name, const char *alt,
                         uint32_t flags) {
  bjvmi_bytes *pool = pool_of(c);
  size_t start = pool->size;
  size_t size = strlen(name);
  size_t alt_size = alt ? strlen(alt) : 0;
  if (alt) flags |= BJVMI_NAME_ALT;
  uint32_t alt_flags = 0;
  size_t length = encoded_length(around, name, size, &flags);
  size_t alt_length = alt ? encoded_length(around, alt, alt_size, &alt_flags) : 0;
  if (alt_flags & BJVMI_NAME_LONG) flags |= BJVMI_NAME_ALT_LONG;
  uint32_t name_at = append_encoded(c, around, name, size, length, flags);
  uint32_t alt_at = alt ? append_encoded(c, around, alt, alt_size, alt_length, alt_flags) : 0;
  if (c->status != BJVM_OK) return no_name;

  uint32_t hash = bjvmi_key_hash(0, pool->data + start, pool->size - start);
  const bjvmi_name *known = find_encoded(c, start, hash);
  if (known != NULL) {
    pool->size = start;
    return *known;
  }
  bjvmi_name made = {name_at, (uint32_t)length, (uint32_t)start, (uint32_t)(pool->size - start), 0, 0};
  made.raw = raw_index(c, name, size, flags & BJVMI_NAME_ESCAPED ? 0 : made.offset + around->before_size);
  made.alt = made.raw;
  if (alt != NULL)
    made.alt = raw_index(c, alt, alt_size, alt_flags & BJVMI_NAME_ESCAPED ? 0 : alt_at + around->before_size);

  uint32_t index = (uint32_t)(c->encoded.size / sizeof made);
  bjvmi_name *kept = bjvmi_bytes_add(c, &c->encoded, sizeof made);
  if (kept == NULL) return no_name;
  *kept = made;
  bjvmi_map_insert(c, &c->encoded_map, hash, index);
  return made;
}

/* ASCII letters and digits. */
static bool is_plain(char c) { return bjvmi_is_lower(c) || bjvmi_is_upper(c) || (c >= '0' && c <= '9'); }

/* Whether `proto` is `json`, letters and digits, with `_x` in the place of each X, and another name. */
static bool is_derived(const char *json, const char *proto) {
  bool differs = false;
  if (strlen(proto) + field_affix.before_size + field_affix.after_size > BJVMI_NAME_MAX) return false;
  for (; *json; json++, proto++) {
    if (!is_plain(*json)) return false;
    if (bjvmi_is_upper(*json)) {
      if (*proto++ != '_') return false;
      differs = true;
    }
    if (*proto != bjvmi_to_lower(*json)) return false;
  }
  return differs && *proto == 0;
}

/* What is derived leads to its field by way of the JSON name, which is no other field's: upb takes no message
 * in which two have the same. */
bjvmi_name bjvmi_names_field(bjvmi_compiler *c, const char *json, const char *proto) {
  if (strcmp(json, proto) == 0) return encode(c, &field_affix, json, NULL, 0);
  if (!is_derived(json, proto)) return encode(c, &field_affix, json, proto, 0);
  c->derived = true;
  return encode(c, &field_affix, json, NULL, BJVMI_NAME_DERIVED);
}

bjvmi_name bjvmi_names_extension(bjvmi_compiler *c, const char *full_name) {
  return encode(c, &extension_affix, full_name, NULL, 0);
}

bjvmi_name bjvmi_names_value(bjvmi_compiler *c, const char *name) {
  return encode(c, &value_affix, name, NULL, 0);
}

/* -- Full names ----------------------------------------------------------------------------------------- */

uint32_t bjvmi_names_full(bjvmi_compiler *c, const char *name) {
  size_t size = strlen(name);
  if (size > BJVMI_NAME_MAX)
    bjvmi_fail(c, BJVM_PLAN_LIMIT, c->subject, "its name is longer than a plan can hold");
  bjvmi_full_name *full = bjvmi_bytes_add(c, &c->full_names, sizeof *full);
  if (full == NULL) return BJVMI_NONE;
  *full = (bjvmi_full_name){name, (uint32_t)size, 0};
  return (uint32_t)(c->full_names.size / sizeof *full) - 1;
}

static int compare_full(const void *a, const void *b) {
  const bjvmi_full_name *x = *(const bjvmi_full_name *const *)a;
  const bjvmi_full_name *y = *(const bjvmi_full_name *const *)b;
  return strcmp(x->name, y->name);
}

/* In their order a name stands in front of those that begin with it, and whatever lies between them begins
 * with it too. */
void bjvmi_names_place_full(bjvmi_compiler *c) {
  bjvmi_full_name *full = (bjvmi_full_name *)(void *)c->full_names.data;
  size_t count = c->full_names.size / sizeof *full;
  bjvmi_full_name **sorted = bjvmi_bytes_reserve(c, &c->scratch, count * sizeof *sorted);
  if (sorted == NULL) return;
  for (size_t i = 0; i < count; i++) sorted[i] = &full[i];
  if (count > 1) qsort(sorted, count, sizeof *sorted, compare_full);
  for (size_t i = count; i-- > 0;) {
    bjvmi_full_name *name = sorted[i];
    bool inside = i + 1 < count && strncmp(sorted[i + 1]->name, name->name, name->size) == 0;
    name->offset = inside ? sorted[i + 1]->offset : (uint32_t)pool_of(c)->size;
    char *to = inside ? NULL : bjvmi_bytes_add(c, pool_of(c), name->size);
    if (to != NULL) memcpy(to, name->name, name->size);
  }
}
