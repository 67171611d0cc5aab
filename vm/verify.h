/* The verifier's own seam: verify.c drives, and each other file checks one sort of thing.
 *
 * Private to vm/verify*.c. A check returns false when it has found a fault and reported it; the first fault
 * ends the run.
 */
#ifndef BJVM_VERIFY_H_
#define BJVM_VERIFY_H_

#include "image.h"

enum {
  /* Names may be shared, so a small file could make us read its pool over and over. The bytes of all names
   * that records refer to, each counted as often as it is referred to, are bounded by this many times the
   * file's size (plus a constant that no small file reaches). A record for a name costs 24 bytes and more, so
   * only a file in which most names are shared and hundreds of bytes long could be refused. */
  BJVMI_VERIFY_NAME_FACTOR = 16,
  BJVMI_VERIFY_NAME_FLOOR = 1 << 20,
};

/* One run. `what` and `index` name the record being checked. */
typedef struct bjvmi_check {
  const bjvm_image *image;
  bjvm_error *error;
  uint64_t budget; /* bytes of names that may still be read */
  const char *what;
  uint32_t index;
} bjvmi_check;

/* Where a word stands: it decides which forms it may have. */
typedef enum bjvmi_place {
  BJVMI_PLACE_FIELD,
  BJVMI_PLACE_ENTRY,
  BJVMI_PLACE_EXTENSION,
  BJVMI_PLACE_COUNT
} bjvmi_place;

/* A cursor over a section whose runs (words of a message, keys of a table) must ascend without overlap: with
 * that, no element is checked twice, and the whole takes time in proportion to the file. */
typedef struct bjvmi_cursor {
  uint64_t next;
} bjvmi_cursor;

/* Reports "what index: sentence" at `at`, a place in the file. Returns false. */
bool bjvmi_check_fail(const bjvmi_check *c, const void *at, bjvmi_fault fault);

/* verify_names.c. `at`: the field of the record that refers to the name. */
bool bjvmi_check_raw_name(bjvmi_check *c, const void *at, uint32_t name, uint32_t size);
bool bjvmi_check_full_name(bjvmi_check *c, const void *at, uint32_t name, uint32_t size);
bool bjvmi_check_field_name(bjvmi_check *c, const void *at, uint32_t name, uint8_t name_len);
bool bjvmi_check_value_name(bjvmi_check *c, const void *at, uint32_t name);
bool bjvmi_check_pool(bjvmi_check *c);
bool bjvmi_check_charge(bjvmi_check *c, const void *at, uint32_t size);

/* verify_words.c */
bool bjvmi_check_words(bjvmi_check *c, const bjvmi_message *file_record);
bool bjvmi_check_extension_words(bjvmi_check *c, const bjvmi_extension *file_record);

/* verify_tables.c */
typedef struct bjvmi_table_cursors {
  bjvmi_cursor keys, slots;
} bjvmi_table_cursors;
bool bjvmi_check_table(bjvmi_check *c, bjvmi_table_cursors *cursors, const bjvmi_table *file_table,
                       uint32_t owned);
bool bjvmi_check_enums(bjvmi_check *c);

/* Takes [first, first + count) of a section with `total` elements: inside it, behind what was taken
 * before. */
static inline bool bjvmi_cursor_take(bjvmi_cursor *cursor, uint64_t first, uint64_t count, uint64_t total) {
  if (first < cursor->next || first + count > total) return false;
  cursor->next = first + count;
  return true;
}

#endif /* BJVM_VERIFY_H_ */
