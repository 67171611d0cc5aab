/* Reading simple fields of the binary form, ahead of upb_Decode. Private to lib. */
#ifndef BJVM_WIRE_READ_H_
#define BJVM_WIRE_READ_H_

#include <stddef.h>

#include "upb/message/message.h"
#include "upb/mini_table/message.h"

/* Values are taken out of 8 bytes and put into 8 bytes of the message. Elsewhere upb_Decode reads all, and so it does in
 * the small build. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(BJVM_SIZE_SMALL)
#define BJVMI_WIRE_READS 1
#else
#define BJVMI_WIRE_READS 0
#endif

/* Reads fields into `msg` as upb_Decode with kUpb_DecodeOption_AliasString does, up to the first that is not simple:
 * `data` itself at worst, `data + size` when all are read. From there on upb_Decode has to read, into the same
 * message.
 *
 * Simple are single scalars, strings and bytes that the table has, in a spelling that is beyond doubt. Whatever is
 * malformed is left to upb_Decode, and so are the statuses. Strings point into `data`. */
const char *bjvmi_wire_read(const char *data, size_t size, upb_Message *msg, const upb_MiniTable *table);

#endif /* BJVM_WIRE_READ_H_ */
