/* Plans: loading a plan file, binding it to mini tables. Needs neither reflection nor a heap.
 *
 * A plan *file* (an image, once loaded) describes one or more message types by field number. *Binding*
 * matches it with the upb_MiniTables of the running program and gives a bjvm_plan for a message type, which
 * bjvm_encode and bjvm_decode run (bjvm/codec.h). Hosts with reflection get plans from the cache in
 * bjvm/cache.h instead.
 *
 * NULL where an object, a place for a result or a callback is wanted, in all headers of bjvm: a function that
 * has a status or an error answers BAD_ARGUMENT, any other NULL, 0 or false. What may be NULL says so; a
 * place for a size always may.
 */
#ifndef BJVM_PLAN_H_
#define BJVM_PLAN_H_

#include <stdbool.h>

#include "bjvm/status.h"
#include "upb/mem/arena.h"
#include "upb/mini_table/extension.h"
#include "upb/mini_table/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loaded and verified plan file. Immutable; shared by threads. Lives as long as the arena it was loaded
 * with and the bytes it was loaded from, which must not change. */
typedef struct bjvm_image bjvm_image;

/* The plan of one message type, bound to its mini table. Immutable to its users and shared by threads: what
 * it finds out lazily (plans of nested types) is published atomically. Lives as long as the arena or cache it
 * came from. */
typedef struct bjvm_plan bjvm_plan;

/* Verifies a plan file and loads it. (Mini descriptors are checked when tables are built from them.)
 *
 * `data` points to `size` bytes, 8-byte aligned, untrusted; they are used in place. The image itself is
 * allocated from `arena`. On success stores it in *image. Errors: PLAN_MAGIC, PLAN_VERSION, PLAN_CORRUPT
 * (error->offset names the first fault), BAD_ARGUMENT (misaligned, NULL), OUT_OF_MEMORY. `error` may be NULL.
 * Thread-safe for different arenas. */
BJVM_API bjvm_status bjvm_image_load(const void *data, size_t size, upb_Arena *arena,
                                     const bjvm_image **image, bjvm_error *error);

/* The number of root types a file was compiled for, and the full name of one (not NUL-terminated; its length
 * goes to *size; lives as long as the image). NULL if `index` is out of range. */
BJVM_API size_t bjvm_image_root_count(const bjvm_image *image);
BJVM_API const char *bjvm_image_root_name(const bjvm_image *image, size_t index, size_t *size);

/* Binds the message type `full_name` (NULL: the first root) of `image` and everything reachable from it to
 * `table`, the mini table of that type with all its sub-tables linked.
 *
 * Tables are not trusted: fields that lie outside of their message or over one another, or are not stored as
 * their kind asks, are a mismatch. Words that stand in the file as this machine needs them
 * (bjvm_plan_in_place) are used there, others copied. Memory comes from `arena`, which the plan lives as long
 * as (and which may be a fixed block). On success stores the plan in *plan. Errors: PLAN_MISMATCH (a field
 * has another kind, or is missing), PLAN_UNBOUND (the image has no such type, or refers to one it does not
 * hold), OUT_OF_MEMORY, BAD_ARGUMENT. `error` may be NULL. */
BJVM_API bjvm_status bjvm_image_bind(const bjvm_image *image, const char *full_name,
                                     const upb_MiniTable *table, upb_Arena *arena, const bjvm_plan **plan,
                                     bjvm_error *error);

/* The same, but refuses to make copies: a word that is not in the file as this machine needs it (a file that
 * is portable, or prebound for another layout) is PLAN_MISMATCH. RAM is then taken for the plans themselves
 * only. */
BJVM_API bjvm_status bjvm_image_bind_in_place(const bjvm_image *image, const char *full_name,
                                              const upb_MiniTable *table, upb_Arena *arena,
                                              const bjvm_plan **plan, bjvm_error *error);

/* Whether the plan runs the words in the file itself: they have been found equal to what its mini table asks
 * for. False: they were copied to RAM and bound there. Tells of this message type alone, not of those it
 * refers to. */
BJVM_API bool bjvm_plan_in_place(const bjvm_plan *plan);

/* -- Mini tables from the file itself ------------------------------------------------------------------- */

/* The mini tables of an image that has mini descriptors (planc compile --mini-descriptors): what a program
 * needs that has neither generated code nor reflection for its messages. Immutable; shared by threads; lives
 * as long as the image and the arena. */
typedef struct bjvm_tables bjvm_tables;

/* Whether the file has mini descriptors. */
BJVM_API bool bjvm_image_has_tables(const bjvm_image *image);

/* Builds the mini tables of all message types and extensions of `image` and links them.
 *
 * Memory comes from `arena` (which may be a fixed block); the heap is not used by bjvm and upb, but glibc's
 * qsort, which upb calls, takes some for a message of more than about 80 fields. Stores them in *tables.
 * Checks the mini descriptors first, which no one else reads. Errors: PLAN_UNBOUND (no mini descriptors),
 * PLAN_CORRUPT (at error->offset), PLAN_LIMIT (a message that upb's mini tables cannot hold, as one of more
 * than 64 KB), OUT_OF_MEMORY, BAD_ARGUMENT. `error` may be NULL. */
BJVM_API bjvm_status bjvm_image_build_tables(const bjvm_image *image, upb_Arena *arena,
                                             const bjvm_tables **tables, bjvm_error *error);

/* The mini table of the message type `full_name` (NULL: the first root), to make messages with and for
 * bjvm_image_bind. NULL: the file has no such type, or only its name. */
BJVM_API const upb_MiniTable *bjvm_tables_message(const bjvm_tables *tables, const char *full_name);

/* The number of extensions in the file, and the mini table of one (for an upb_ExtensionRegistry). NULL:
 * `index` is out of range, or the file has only the name of the message it extends. */
BJVM_API size_t bjvm_tables_extension_count(const bjvm_tables *tables);
BJVM_API const upb_MiniTableExtension *bjvm_tables_extension(const bjvm_tables *tables, size_t index);

/* Builds the mini tables and binds the message type `full_name` (NULL: the first root) to its own;
 * bjvm_plan_table tells it. For several types of one file build the tables once instead and use
 * bjvm_image_bind. Errors: those of both. */
BJVM_API bjvm_status bjvm_image_bind_own(const bjvm_image *image, const char *full_name, upb_Arena *arena,
                                         const bjvm_plan **plan, bjvm_error *error);

/* -- Plans ---------------------------------------------------------------------------------------------- */

/* Makes the words of `plan`, and of every type reachable from it, for a set of BJVM_ENCODE_* flags, so that
 * bjvm_encode with these flags finds them. Only needed for plans from bjvm_image_bind (a cache makes them
 * when first asked for), before the plan is shared by threads. Memory comes from `arena`, which must live as
 * long as the plan. Errors: OUT_OF_MEMORY, BAD_ARGUMENT (NULL; a flag that there is not). */
BJVM_API bjvm_status bjvm_plan_prepare(const bjvm_plan *plan, uint32_t encode_flags, upb_Arena *arena);

/* The full name of the plan's message type (not NUL-terminated; its length goes to *size). */
BJVM_API const char *bjvm_plan_name(const bjvm_plan *plan, size_t *size);

/* The mini table the plan is bound to. */
BJVM_API const upb_MiniTable *bjvm_plan_table(const bjvm_plan *plan);

/* The name of the kernel form the plan runs with: "portable", "sse2", ... Static. */
BJVM_API const char *bjvm_plan_kernels(const bjvm_plan *plan);

/* How this library dispatches: "goto" or "switch". Static. */
BJVM_API const char *bjvm_dispatch_name(void);

/* Writes a listing of all of `image` through `write` (chunks of text, not NUL-terminated), for people.
 * Returns false when `write` did. */
typedef bool bjvm_write_func(void *context, const char *text, size_t size);
BJVM_API bool bjvm_image_dump(const bjvm_image *image, bjvm_write_func *write, void *context);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_PLAN_H_ */
