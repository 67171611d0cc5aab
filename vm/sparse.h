/* Wide messages with few fields set: which of its words have something to print, by the message's bytes.
 *
 * Private to the encode VM and bind.c. The VM tests one field after the other, which for a message of hundreds of
 * fields takes longer than printing the few that are set. But what is not set is zero, so the message read as rows of
 * 64 bits, each of them a hasbit or telling whether so many bytes are zero, says where it is worth looking; an index
 * from those bits to words is made when the plan is bound. The VM then runs a list of the words found alone.
 */
#ifndef BJVM_SPARSE_H_
#define BJVM_SPARSE_H_

#include "plan.h"

enum {
  BJVMI_SPARSE_LEAST = 32,  /* words from which on an index is worth its memory, */
  BJVMI_SPARSE_MOST = 1024, /* up to which a list can be made */
  BJVMI_SPARSE_LIST = 128,  /* words of all lists that a call has in use at a time, ends included */
};

typedef struct bjvmi_sparse bjvmi_sparse;

/* The index for the bound words of a message; NULL: they are too few or too many, or there is no memory, which only
 * makes printing slower. */
const bjvmi_sparse *bjvmi_sparse_new(const bjvm_plan *plan, upb_Arena *arena);

/* Has the bytes of `msg` brought to the cache meanwhile, to be called as soon as it is known. */
void bjvmi_sparse_fetch(const bjvmi_sparse *sparse, const void *msg);

/* Copies those of `words` (the plan's own or a variant, but not one with BJVM_ENCODE_EMIT_DEFAULTS; END last) that have
 * something to print in `msg`, and those whose array or map is there but empty, to `list`, without END; returns how many,
 * or `room` where they are as many or more. What lies in `list` behind them, up to `room`, may be overwritten. */
size_t bjvmi_sparse_list(const bjvmi_sparse *sparse, const bjvmi_kernels *kernels, uint32_t word_count,
                         const bjvmi_word *words, const void *msg, bjvmi_word *list, size_t room);

#endif /* BJVM_SPARSE_H_ */
