/* The heap form of bjvm_output: a block that grows by realloc.
 *
 * vm/output.c has the other forms; this one is in lib because vm never touches the heap. Invariant: data is
 * NULL with capacity 0, or a malloc'ed block of `capacity` bytes.
 */
#include "bjvm/buffer.h"

#include <stdlib.h>

enum {
  HEAP_FIRST = 1024, /* bytes of the first block */
};

static bool grow_on_heap(bjvm_output *output, size_t room) {
  if (room > SIZE_MAX / 2 - output->size) return false;
  size_t least = output->size + room;
  size_t capacity = output->capacity < HEAP_FIRST / 2 ? HEAP_FIRST : output->capacity * 2;
  if (capacity < least) capacity = least;
  char *data = (char *)realloc(output->data, capacity);
  if (!data) {
    /* Twice as much may be refused where what is needed is not. */
    capacity = least;
    data = (char *)realloc(output->data, capacity);
    if (!data) return false;
  }
  output->data = data;
  output->capacity = capacity;
  return true;
}

bjvm_output bjvm_output_heap(void) { return (bjvm_output){.grow = grow_on_heap}; }

void bjvm_output_free(bjvm_output *output) {
  if (!output) return;
  free(output->data);
  *output = bjvm_output_heap();
}
