/* What bjvm_encode and bjvm_decode begin with: options of any length, frames for the depth asked.
 *
 * Private to encode.c and decode.c.
 */
#ifndef BJVM_CALL_H_
#define BJVM_CALL_H_

#include <string.h>

#include "bjvm/codec.h"

enum {
  BJVMI_MAX_DEPTH_OPTION = 1000000
}; /* frames of 64 bytes and more: beyond this an option is a mistake */

/* The caller's options, whose first member is their size, or a copy of them where his struct is shorter than
 * ours: zero behind. */
static inline const void *bjvmi_call_options(const void *given, void *copy, size_t size) {
  size_t given_size;
  memcpy(&given_size, given, sizeof given_size);
  if (given_size >= size) return given;
  memset(copy, 0, size);
  memcpy(copy, given, given_size);
  return copy;
}

/* Frames for `depth` levels and one more: `own` up to the default depth, scratch memory beyond it. NULL with
 * a status: there is none. */
static inline void *bjvmi_call_frames(void *own, size_t frame_size, uint32_t depth, upb_Arena *scratch,
                                      bjvm_status *status) {
  if (depth <= BJVM_DEFAULT_MAX_DEPTH) return own;
  void *frames = scratch ? upb_Arena_Malloc(scratch, ((size_t)depth + 1) * frame_size) : NULL;
  if (!frames) *status = scratch ? BJVM_OUT_OF_MEMORY : BJVM_SCRATCH;
  return frames;
}

/* A registry of an older, shorter form would be read beyond its end. */
static inline bool bjvmi_call_registry(const bjvm_registry *registry) {
  return !registry || registry->size >= sizeof *registry;
}

#endif
