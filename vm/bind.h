/* What the files of binding share: bind.c matches words with fields, table_check.c looks at a mini table
 * alone, image_registry.c binds all there is in a file.
 *
 * Private to bjvm.
 */
#ifndef BJVM_BIND_H_
#define BJVM_BIND_H_

#include <stdbool.h>

#include "plan.h"
#include "upb/mini_table/message.h"

/* Whether the fields of a mini table are sorted, lie inside the message and apart from each other. */
bool bjvmi_table_is_sound(const upb_MiniTable *table);

/* Binds every message of an image that has a table in `tables` (by record), with the map entries they refer
 * to. */
bool bjvmi_bind_all(bjvmi_binding *binding, const upb_MiniTable *const *tables, bjvm_status *status,
                    bjvmi_misfit *bad);

#endif /* BJVM_BIND_H_ */
