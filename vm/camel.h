/* The rule between lowerCamelCase and snake_case, byte by byte: an upper case letter stands for `_` and the lower case one.
 *
 * Private to bjvm. FieldMask paths (mask.c) and derived .proto names (plan_format.h) follow it, in ASCII alone.
 */
#ifndef BJVM_CAMEL_H_
#define BJVM_CAMEL_H_

#include <stdbool.h>

static inline bool bjvmi_is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool bjvmi_is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline char bjvmi_to_upper(char c) { return (char)(c - 'a' + 'A'); } /* of a lower case letter */
static inline char bjvmi_to_lower(char c) { return bjvmi_is_upper(c) ? (char)(c - 'A' + 'a') : c; }

#endif /* BJVM_CAMEL_H_ */
