/* The text of error reports: field paths and sentences.
 *
 * Private to bjvm. Used after a run has failed, never while it runs.
 */
#ifndef BJVM_ERROR_H_
#define BJVM_ERROR_H_

#include "plan.h"
#include "text.h"
#include "upb/message/value.h"

/* Adds `.name` (without the dot at the start of the path) of an encoded name in the pool. */
void bjvmi_error_add_name(bjvmi_text *path, const char *names, uint32_t name);

/* Adds `["key"]` of a map key, in quotes for every kind. */
void bjvmi_error_add_key(bjvmi_text *path, bjvmi_kind kind, const upb_MessageValue *key);

/* Adds `[index]`. */
void bjvmi_error_add_index(bjvmi_text *path, uint64_t index);

/* Fills line and column of error->offset in a text: lines end with \n, \r\n or \r; columns count code
 * points. */
void bjvmi_error_place(bjvm_error *error, const char *text, size_t size);

/* Adds a sentence's `found ...` part: the token at `offset` of the text, cut to a few words. */
void bjvmi_error_add_token(bjvmi_text *message, const char *text, size_t size, size_t offset);

#endif /* BJVM_ERROR_H_ */
