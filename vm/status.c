/* Names and meanings of the status codes.
 *
 * Both come from status.def, as the enum in status.h does. Texts of one sort stand in one string, in the order
 * of the numbers: 100 pointers would be larger than the walk to the right one. Kept: no state; a number that is
 * no status (from a newer library, say) gives "?", never a fault.
 */
#include "bjvm/status.h"

#include <stdint.h>
#include <string.h>

static const uint8_t numbers[] = {
#define X(name, number, text) number,
#include "bjvm/status.def"
#undef X
};

/* The text of `status` among those in `texts`, one behind the other. */
static const char *find(const char *texts, bjvm_status status) {
  for (size_t i = 0; i < sizeof numbers; i++) {
    if (numbers[i] == (unsigned)status) return texts;
    texts += strlen(texts) + 1;
  }
  return "?";
}

const char *bjvm_status_name(bjvm_status status) {
  static const char names[] =
#define X(name, number, text) #name "\0"
#include "bjvm/status.def"
#undef X
      ;
  return find(names, status);
}

const char *bjvm_status_text(bjvm_status status) {
  static const char texts[] =
#define X(name, number, text) text "\0"
#include "bjvm/status.def"
#undef X
      ;
  return find(texts, status);
}
