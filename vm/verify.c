/* The verifier: decides once whether what stands in the sections of a plan file may be trusted.
 *
 * image.c has checked the frame; verify_names.c, verify_words.c and verify_tables.c check what this file
 * leads them to (verify_mini.c is apart: tables.c asks it). First all message records are checked by
 * themselves, so that words may then look at the record they refer to. Kept: when bjvmi_verify returns BJVM_OK, no index, offset or length in the
 * file leads outside its section, every look-up ends, and every name that is printed is a piece of valid
 * JSON. Nothing is written, nothing allocated; time is linear in the file.
 */
#include "verify.h"

bool bjvmi_check_fail(const bjvmi_check *c, const void *at, bjvmi_fault fault) {
  size_t offset = (size_t)((const char *)at - (const char *)c->image->header);
  bjvmi_image_report(c->error, BJVM_PLAN_CORRUPT, offset, c->what, c->index, fault);
  return false;
}

/* Message records that stand for a map entry, a type of another file, or a well-known type can do less. */
static bool check_message_kind(const bjvmi_check *c, const bjvmi_message *at, const bjvmi_message *m) {
  if (m->kind >= BJVMI_KIND_COUNT || bjvmi_shapes[m->kind] != BJVMI_SHAPE_MESSAGE)
    return bjvmi_check_fail(c, &at->kind, BJVMI_FAULT_MESSAGE_KIND);
  const int known = BJVMI_MESSAGE_EXTERNAL | BJVMI_MESSAGE_ENTRY | BJVMI_MESSAGE_EXTENDABLE;
  if (m->flags & ~known) return bjvmi_check_fail(c, &at->flags, BJVMI_FAULT_FLAGS);
  if (m->flags & BJVMI_MESSAGE_ENTRY) {
    if (m->flags != BJVMI_MESSAGE_ENTRY) return bjvmi_check_fail(c, &at->flags, BJVMI_FAULT_ENTRY_FLAGS);
    if (m->kind != BJVMI_KIND_MESSAGE) return bjvmi_check_fail(c, &at->kind, BJVMI_FAULT_ENTRY_KIND);
    if (m->word_count != 2) return bjvmi_check_fail(c, &at->word_count, BJVMI_FAULT_ENTRY_WORDS);
    if (m->keys.key_count) return bjvmi_check_fail(c, &at->keys.key_count, BJVMI_FAULT_ENTRY_KEYS);
  }
  if (m->flags & BJVMI_MESSAGE_EXTERNAL) {
    if (m->word_count) return bjvmi_check_fail(c, &at->word_count, BJVMI_FAULT_EXTERNAL_WORDS);
    if (m->keys.key_count) return bjvmi_check_fail(c, &at->keys.key_count, BJVMI_FAULT_EXTERNAL_KEYS);
  }
  if (m->flags & BJVMI_MESSAGE_EXTENDABLE && m->kind != BJVMI_KIND_MESSAGE)
    return bjvmi_check_fail(c, &at->flags, BJVMI_FAULT_WELL_KNOWN_EXTENDABLE);
  return true;
}

static bool check_message(bjvmi_check *c, bjvmi_cursor *words, bjvmi_table_cursors *tables,
                          const bjvmi_message *at) {
  const bjvmi_message m = bjvmi_message_native(at);
  bool entry = m.flags & BJVMI_MESSAGE_ENTRY;
  if (entry && (m.name || m.name_size)) return bjvmi_check_fail(c, &at->name, BJVMI_FAULT_ENTRY_NAME);
  if (!entry && !bjvmi_check_full_name(c, &at->name, m.name, m.name_size)) return false;
  if (!check_message_kind(c, at, &m)) return false;
  if (m.required_count > m.word_count)
    return bjvmi_check_fail(c, &at->required_count, BJVMI_FAULT_REQUIRED_COUNT);
  if (!(m.flags & BJVMI_MESSAGE_EXTERNAL) &&
      !bjvmi_cursor_take(words, m.first_word, m.word_count + 1u, c->image->word_count))
    return bjvmi_check_fail(c, &at->first_word, BJVMI_FAULT_WORDS_OUTSIDE);
  return bjvmi_check_table(c, tables, &at->keys, m.word_count);
}

static bool check_messages(bjvmi_check *c) {
  const bjvm_image *image = c->image;
  bjvmi_cursor words = {0};
  bjvmi_table_cursors tables = {{0}, {0}};
  for (uint32_t i = 0; i < image->message_count; i++) {
    c->what = "message";
    c->index = i;
    if (!check_message(c, &words, &tables, &image->messages[i])) return false;
  }
  for (uint32_t i = 0; i < image->message_count; i++)
    if (!bjvmi_check_words(c, &image->messages[i])) return false;
  return true;
}

static bool check_extensions(bjvmi_check *c) {
  const bjvm_image *image = c->image;
  bjvmi_cursor words = {0};
  for (uint32_t i = 0; i < image->extension_count; i++) {
    const bjvmi_extension *at = &image->extensions[i];
    const bjvmi_extension x = bjvmi_extension_native(at);
    c->what = "extension";
    c->index = i;
    if (!bjvmi_check_full_name(c, &at->name, x.name, x.name_size)) return false;
    if (x.extendee >= image->message_count)
      return bjvmi_check_fail(c, &at->extendee, BJVMI_FAULT_EXTENDEE_OUTSIDE);
    if (image->messages[x.extendee].flags & BJVMI_MESSAGE_ENTRY)
      return bjvmi_check_fail(c, &at->extendee, BJVMI_FAULT_EXTENDEE_ENTRY);
    if (!bjvmi_cursor_take(&words, x.first_word, 2, image->word_count))
      return bjvmi_check_fail(c, &at->first_word, BJVMI_FAULT_WORDS_OUTSIDE);
    if (!bjvmi_check_extension_words(c, at)) return false;
  }
  return true;
}

static bool check_roots(bjvmi_check *c) {
  const bjvm_image *image = c->image;
  c->what = "root";
  for (uint32_t i = 0; i < image->root_count; i++) {
    uint32_t root = bjvmi_le32(image->roots[i]);
    c->index = i;
    if (root >= image->message_count) return bjvmi_check_fail(c, &image->roots[i], BJVMI_FAULT_ROOT_OUTSIDE);
    if (image->messages[root].flags & BJVMI_MESSAGE_ENTRY)
      return bjvmi_check_fail(c, &image->roots[i], BJVMI_FAULT_ROOT_ENTRY);
  }
  return true;
}

bjvm_status bjvmi_verify(const bjvm_image *image, size_t size, bjvm_error *error) {
  bjvmi_check c = {
      .image = image,
      .error = error,
      .budget = (uint64_t)size * BJVMI_VERIFY_NAME_FACTOR + BJVMI_VERIFY_NAME_FLOOR,
  };
  bool sound = bjvmi_check_pool(&c) && bjvmi_check_enums(&c) && check_messages(&c) && check_extensions(&c) &&
               check_roots(&c);
  return sound ? BJVM_OK : BJVM_PLAN_CORRUPT;
}
