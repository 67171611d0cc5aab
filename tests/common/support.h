/* What the plain-main test programs share: files, schemas, and comparing messages as the case tables define
 * it. */
#ifndef BJVM_TESTS_SUPPORT_H_
#define BJVM_TESTS_SUPPORT_H_

#include <stdbool.h>
#include <stddef.h>

#include "upb/mem/arena.h"
#include "upb/message/message.h"
#include "upb/reflection/def.h"

enum { TEST_DEPTH = 1000 }; /* for upb's binary codec: deeper than any limit the tests set */

/* The bytes of a file, with a NUL behind them, from malloc. Ends the program if it cannot be read. */
char *test_read_file(const char *path, size_t *size);

/* Adds the files of a FileDescriptorSet to `pool`. Ends the program on failure. */
void test_pool_add(upb_DefPool *pool, const char *data, size_t size);

/* A pool of the FileDescriptorSet in a file. Ends the program on failure. */
upb_DefPool *test_pool_load(const char *path);

/* The message type of that name; ends the program if there is none. */
const upb_MessageDef *test_find_message(const upb_DefPool *pool, const char *full_name);

/* upb's binary codec with the pool's extensions and a depth of TEST_DEPTH. NULL and false: it failed. */
upb_Message *test_parse(const upb_DefPool *pool, const upb_MessageDef *def, const char *data, size_t size,
                        upb_Arena *arena);
bool test_serialize(const upb_Message *msg, const upb_MessageDef *def, upb_Arena *arena, char **data,
                    size_t *size);

/* Whether two messages are the same: presence and the sign of zero matter, every NaN equals every NaN, the
 * contents of an Any are compared as messages, unknown fields count. If not, `where` (of `size` bytes) tells
 * the first difference. */
bool test_same(const upb_DefPool *pool, const upb_MessageDef *def, const upb_Message *a, const upb_Message *b,
               char *where, size_t size);

/* Undoes \hh in place (hh: two hex digits, the only use of a backslash); returns the new size. */
size_t test_unescape(char *text);

/* Turns hex digits into bytes in place; returns the new size. */
size_t test_unhex(char *text);

#endif /* BJVM_TESTS_SUPPORT_H_ */
