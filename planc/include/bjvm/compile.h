/* The plan compiler: from upb_MessageDefs to the bytes of a plan file. */
#ifndef BJVM_COMPILE_H_
#define BJVM_COMPILE_H_

#include "bjvm/status.h"
#include "upb/mem/arena.h"
#include "upb/reflection/def.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BJVM_COMPILE_SHALLOW =
      1, /* only the types named; the types they refer to are left external (a cache links them lazily) */
  BJVM_COMPILE_EXTENSIONS = 2, /* also the extensions known to the DefPool of the types compiled */
  BJVM_COMPILE_MINI =
      4, /* mini descriptors, from which a program can build its own mini tables (bjvm_image_build_tables) */
  BJVM_COMPILE_ABI32 =
      8, /* prebound: laid out for machines with pointers of 32 bits, which then use the words in place */
  BJVM_COMPILE_ABI64 = 16, /* the same for 64 bits; at most one of the two */
};

/* Compiles the message types `roots` (count >= 1, one DefPool) and, unless SHALLOW, all types reachable from
 * them, each once. `flags`: BJVM_COMPILE_*.
 *
 * The file's bytes are allocated from `arena` (8-byte aligned) and stored in *data, *size. The output depends
 * only on the descriptors and flags: the same schema gives the same bytes on every machine. Errors:
 * PLAN_LIMIT (error->path names the type or field that exceeds a limit of the format), BAD_ARGUMENT (count is
 * 0, a root is a map entry, both ABIs, a flag that there is not, NULL), OUT_OF_MEMORY. `error` may be NULL. Thread-safe: DefPools are only
 * read. */
BJVM_API bjvm_status bjvm_compile(const upb_MessageDef *const *roots, size_t count, uint32_t flags,
                                  upb_Arena *arena, const void **data, size_t *size, bjvm_error *error);

/* Compiles one extension field (upb_FieldDef_IsExtension) into a file of its own, whose message records are
 * external or map entries. Results and errors as above; BAD_ARGUMENT: not an extension. */
BJVM_API bjvm_status bjvm_compile_extension(const upb_FieldDef *extension, upb_Arena *arena,
                                            const void **data, size_t *size, bjvm_error *error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_COMPILE_H_ */
