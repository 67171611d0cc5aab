/* Output that grows on the heap. */
#ifndef BJVM_BUFFER_H_
#define BJVM_BUFFER_H_

#include "bjvm/codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty output that grows by realloc (doubling). Free it with bjvm_output_free; to use it again, set size
 * to 0. */
BJVM_API bjvm_output bjvm_output_heap(void);

/* Frees the memory of a heap output and makes it empty. NULL does nothing. */
BJVM_API void bjvm_output_free(bjvm_output *output);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_BUFFER_H_ */
