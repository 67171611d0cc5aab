/* The verifier's checks of names: raw ones (full names, keys) and encoded ones, which are copied to the
 * output as they stand.
 *
 * An encoded name must be a piece of valid JSON and nothing more, or a forged plan could write what it likes
 * into the documents of its host. Kept: every name ends in front of the pool's padding, so that a wide copy
 * or compare of it stays inside the pool.
 */
#include "camel.h"
#include "verify.h"

/* What stands around a name that is printed. */
typedef struct quotes {
  const char *open, *close;
  uint32_t size; /* of each */
} quotes;

static const quotes field_quotes = {",\"", "\":", 2};
static const quotes value_quotes = {"\"", "\"", 1};

/* Flags that tell of a .proto name. */
enum { SECOND_NAME = BJVMI_NAME_ALT | BJVMI_NAME_ALT_LONG | BJVMI_NAME_DERIVED };

bool bjvmi_check_pool(bjvmi_check *c) {
  const bjvm_image *image = c->image;
  c->what = NULL;
  if (image->names_size < BJVMI_NAME_PAD) return bjvmi_check_fail(c, image->names, BJVMI_FAULT_POOL_SMALL);
  for (uint32_t i = image->names_size - BJVMI_NAME_PAD; i < image->names_size; i++)
    if (image->names[i]) return bjvmi_check_fail(c, image->names + i, BJVMI_FAULT_POOL_PADDING);
  return true;
}

/* Counts `size` bytes that are about to be read. */
bool bjvmi_check_charge(bjvmi_check *c, const void *at, uint32_t size) {
  if (size > c->budget) return bjvmi_check_fail(c, at, BJVMI_FAULT_NAMES_SHARED);
  c->budget -= size;
  return true;
}

bool bjvmi_check_raw_name(bjvmi_check *c, const void *at, uint32_t name, uint32_t size) {
  if ((uint64_t)name + size > c->image->names_size - BJVMI_NAME_PAD)
    return bjvmi_check_fail(c, at, BJVMI_FAULT_NAME_OUTSIDE);
  return bjvmi_check_charge(c, at, size);
}

static bool is_identifier_byte(char b) {
  return bjvmi_is_lower(b) || bjvmi_is_upper(b) || (b >= '0' && b <= '9') || b == '_' || b == '.';
}

/* The full name of a message, enum or extension. It goes into error messages, hence the plain bytes. */
bool bjvmi_check_full_name(bjvmi_check *c, const void *at, uint32_t name, uint32_t size) {
  if (!bjvmi_check_raw_name(c, at, name, size)) return false;
  if (size == 0) return bjvmi_check_fail(c, at, BJVMI_FAULT_FULL_NAME_EMPTY);
  const char *p = c->image->names + name;
  for (uint32_t i = 0; i < size; i++)
    if (!is_identifier_byte(p[i])) return bjvmi_check_fail(c, p + i, BJVMI_FAULT_FULL_NAME_BYTES);
  return true;
}

static int hex_digit(char b) {
  if (b >= '0' && b <= '9') return b - '0';
  if (b >= 'a' && b <= 'f') return b - 'a' + 10;
  if (b >= 'A' && b <= 'F') return b - 'A' + 10;
  return -1;
}

/* The length of the escape at `p`, or 0. Surrogates have no place here: names are written in UTF-8. */
static uint32_t escape_length(const char *p, const char *end) {
  if (end - p < 2) return 0;
  if (memchr("\"\\/bfnrt", p[1], 8)) return 2;
  if (p[1] != 'u' || end - p < 6) return 0;
  int point = 0;
  for (int i = 2; i < 6; i++) {
    int digit = hex_digit(p[i]);
    if (digit < 0) return 0;
    point = point << 4 | digit;
  }
  return point >= 0xd800 && point < 0xe000 ? 0 : 6;
}

/* Checks the inside of a JSON string; *flags: what its header must say of it. */
static bool check_inside(const bjvmi_check *c, const char *p, const char *end, uint32_t *flags) {
  const char *from = p;
  bool ascii = true;
  *flags = 0;
  while (p < end) {
    uint8_t b = (uint8_t)*p;
    if (b < 0x20) return bjvmi_check_fail(c, p, BJVMI_FAULT_NAME_CONTROL);
    if (b == '"') return bjvmi_check_fail(c, p, BJVMI_FAULT_NAME_QUOTE);
    if (b == '<' || b == '>' || b == '&') *flags |= BJVMI_NAME_SPECIAL;
    ascii &= b < 0x80;
    if (b != '\\') {
      p++;
      continue;
    }
    uint32_t length = escape_length(p, end);
    if (length == 0) return bjvmi_check_fail(c, p, BJVMI_FAULT_NAME_ESCAPE);
    *flags |= BJVMI_NAME_ESCAPED;
    p += length;
  }
  if (ascii) return true;
  *flags |= BJVMI_NAME_SPECIAL;
  const char *bad = bjvmi_kernels_portable.utf8(from, (size_t)(end - from));
  return bad ? bjvmi_check_fail(c, bad, BJVMI_FAULT_NAME_UTF8) : true;
}

/* Whether the header in front of a name has the form its length asks for. */
static bool check_name_header(const bjvmi_check *c, const char *p, uint32_t length, bool is_long) {
  if (is_long && p[-2]) return bjvmi_check_fail(c, p - 2, BJVMI_FAULT_NAME_TWO_LENGTHS);
  if (is_long != (length > BJVMI_NAME_SHORT_MAX))
    return bjvmi_check_fail(c, p - 2, BJVMI_FAULT_NAME_LENGTH_SIZE);
  if (length > BJVMI_NAME_MAX) return bjvmi_check_fail(c, p - BJVMI_NAME_LONG_HEADER, BJVMI_FAULT_NAME_LONG);
  return true;
}

/* The header in front of a name and the name; *length, *flags: from its header. */
static bool check_encoded(bjvmi_check *c, const void *at, uint64_t name, const quotes *q, uint32_t *length,
                          uint32_t *flags) {
  const char *names = c->image->names;
  uint32_t end = c->image->names_size - BJVMI_NAME_PAD;
  if (name < BJVMI_NAME_LONG_HEADER || name > end) return bjvmi_check_fail(c, at, BJVMI_FAULT_NAME_OUTSIDE);
  *length = bjvmi_name_length(names, (uint32_t)name);
  *flags = bjvmi_name_flags(names, (uint32_t)name);
  if (*length > end - name) return bjvmi_check_fail(c, at, BJVMI_FAULT_NAME_BEYOND);
  if (!bjvmi_check_charge(c, at, *length)) return false;

  const char *p = names + name;
  const char *close = p + *length - q->size;
  if (!check_name_header(c, p, *length, *flags & BJVMI_NAME_LONG)) return false;
  if (*length < 2 * q->size || memcmp(p, q->open, q->size) != 0 || memcmp(close, q->close, q->size) != 0)
    return bjvmi_check_fail(c, p, BJVMI_FAULT_NAME_QUOTES);

  uint32_t expected;
  if (!check_inside(c, p + q->size, close, &expected)) return false;
  const uint32_t form = BJVMI_NAME_LONG | SECOND_NAME;
  if ((*flags & ~form) != expected) return bjvmi_check_fail(c, p - 1, BJVMI_FAULT_NAME_FLAGS);
  return true;
}

/* A JSON name that its .proto name is derived from. The bytes it may have make the way back unique: no other
 * JSON name gives that .proto name. */
static bool check_derived(const bjvmi_check *c, const char *p, uint32_t length, uint32_t flags) {
  uint32_t extra = 0;
  if (bjvmi_le16(c->image->header->minor) <= BJVMI_FORMAT_MINOR_MINI)
    return bjvmi_check_fail(c, p - 1, BJVMI_FAULT_DERIVED_TOO_NEW);
  if (flags & (BJVMI_NAME_ALT | BJVMI_NAME_ALT_LONG))
    return bjvmi_check_fail(c, p - 1, BJVMI_FAULT_DERIVED_SECOND_NAME);
  for (uint32_t i = field_quotes.size; i < length - field_quotes.size; i++) {
    if (!is_identifier_byte(p[i]) || p[i] == '_' || p[i] == '.')
      return bjvmi_check_fail(c, p + i, BJVMI_FAULT_DERIVED_BYTES);
    extra += bjvmi_is_upper(p[i]);
  }
  if (extra == 0) return bjvmi_check_fail(c, p - 1, BJVMI_FAULT_DERIVED_SAME);
  return length + extra > BJVMI_NAME_MAX ? bjvmi_check_fail(c, p - 1, BJVMI_FAULT_DERIVED_LONG) : true;
}

/* The encoded JSON name of a field and, behind it, its .proto name. `name_len` is 0 exactly for long
 * names. */
bool bjvmi_check_field_name(bjvmi_check *c, const void *at, uint32_t name, uint8_t name_len) {
  const char *names = c->image->names;
  uint32_t length, alt_length, flags, alt_flags;
  if (!check_encoded(c, at, name, &field_quotes, &length, &flags)) return false;
  if (name_len != (length > UINT8_MAX ? 0 : length)) return bjvmi_check_fail(c, at, BJVMI_FAULT_NAME_LENGTH);
  if (flags & BJVMI_NAME_DERIVED) return check_derived(c, names + name, length, flags);
  bool alt_long = flags & BJVMI_NAME_ALT_LONG;
  if (!(flags & BJVMI_NAME_ALT))
    return alt_long ? bjvmi_check_fail(c, names + name - 1, BJVMI_FAULT_NO_SECOND_NAME) : true;
  uint32_t other = bjvmi_name_alt(names, name);
  if (!check_encoded(c, at, other, &field_quotes, &alt_length, &alt_flags)) return false;
  if (alt_long != (alt_length > BJVMI_NAME_SHORT_MAX))
    return bjvmi_check_fail(c, names + name - 1, BJVMI_FAULT_SECOND_NAME_SIZE);
  return alt_flags & SECOND_NAME ? bjvmi_check_fail(c, names + other - 1, BJVMI_FAULT_THIRD_NAME) : true;
}

bool bjvmi_check_value_name(bjvmi_check *c, const void *at, uint32_t name) {
  uint32_t length, flags;
  if (!check_encoded(c, at, name, &value_quotes, &length, &flags)) return false;
  return flags & SECOND_NAME ? bjvmi_check_fail(c, c->image->names + name - 1, BJVMI_FAULT_VALUE_SECOND_NAME)
                             : true;
}
