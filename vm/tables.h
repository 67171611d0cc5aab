/* Mini tables made from a plan file, as tables.c builds them and image_registry.c binds them.
 *
 * Private to bjvm.
 */
#ifndef BJVM_TABLES_H_
#define BJVM_TABLES_H_

#include "plan.h"
#include "upb/mini_table/enum.h"

struct bjvm_tables {
  const bjvm_image *image;
  upb_MiniTable **messages; /* by record; NULL: external */
  upb_MiniTableEnum **enums;
  upb_MiniTableExtension **extensions;
};

#endif /* BJVM_TABLES_H_ */
