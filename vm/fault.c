/* The report of what is wrong with a plan file.
 *
 * Neighbours: fault.def has the sentences; image.c, verify*.c, bind.c and tables.c report. A small build has
 * no sentences: a report says `fault 83`, and docs/errors.md what that is.
 */
#include "image.h"
#include "text.h"

#ifdef BJVM_SIZE_SMALL

static void add_sentence(bjvmi_text *t, bjvmi_fault fault) {
  bjvmi_text_string(t, "fault ");
  bjvmi_text_unsigned(t, fault, 0);
}

#else

static void add_sentence(bjvmi_text *t, bjvmi_fault fault) {
  switch (fault) {
    case BJVMI_FAULT_NONE: break;
#define X(name, number, text)                                                                                \
  case BJVMI_FAULT_##name:                                                                                   \
    bjvmi_text_string(t, text);                                                                              \
    break;
#include "fault.def"
#undef X
  }
}

#endif

void bjvmi_image_report(bjvm_error *error, bjvm_status code, size_t offset, const char *what, uint32_t index,
                        bjvmi_fault fault) {
  if (!error) return;
  error->code = code;
  error->line = 0;
  error->column = 0;
  error->offset = offset;
  error->path[0] = 0;
  bjvmi_text message = bjvmi_text_init(error->message, sizeof error->message);
  if (what) {
    bjvmi_text_string(&message, what);
    bjvmi_text_string(&message, " ");
    bjvmi_text_unsigned(&message, index, 0);
    bjvmi_text_string(&message, ": ");
  }
  if (fault == BJVMI_FAULT_NONE) bjvmi_text_status(&message, code);
  else add_sentence(&message, fault);
}
