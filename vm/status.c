/* Names and meanings of the status codes.
 *
 * Both come from status.def, as the enum in status.h does. Kept: no tables with holes, no state; a number
 * that is no status (from a newer library, say) gives "?", never a fault.
 */
#include "bjvm/status.h"

const char *bjvm_status_name(bjvm_status status) {
  switch (status) {
#define X(name, number, text)                                                                                \
  case BJVM_##name:                                                                                          \
    return #name;
#include "bjvm/status.def"
#undef X
  }
  return "?";
}

const char *bjvm_status_text(bjvm_status status) {
  switch (status) {
#define X(name, number, text)                                                                                \
  case BJVM_##name:                                                                                          \
    return text;
#include "bjvm/status.def"
#undef X
  }
  return "?";
}
