/* Where JSON goes: the fixed, arena and sink forms of bjvm_output. The heap form is lib/buffer.c.
 *
 * The encode VM (encode_vm.c) writes into [data + size, data + capacity) and calls `grow` when that is too
 * small; nothing here runs per value. Invariant: after a grow that returned true, capacity - size >= room,
 * and the text that was in [data, data + size) is still there or has been consumed; after false nothing has
 * moved.
 */
#include "bjvm/codec.h"
#include "encode.h"

enum {
  ARENA_FIRST = 512, /* bytes of an arena output's first block: most messages of a service fit */
};

bjvm_output bjvm_output_fixed(char *data, size_t capacity) {
  return (bjvm_output){.data = data, .capacity = data ? capacity : 0};
}

static bool grow_in_arena(bjvm_output *output, size_t room) {
  upb_Arena *arena = (upb_Arena *)output->context;
  if (!arena || room > SIZE_MAX / 2 - output->size) return false;
  size_t least = output->size + room;
  size_t capacity = output->capacity < ARENA_FIRST / 2 ? ARENA_FIRST : output->capacity * 2;
  if (capacity < least) capacity = least;
  char *data = (char *)upb_Arena_Realloc(arena, output->data, output->capacity, capacity);
  if (!data) {
    /* A fixed-block arena may have what is needed but not twice as much. */
    capacity = least;
    data = (char *)upb_Arena_Realloc(arena, output->data, output->capacity, capacity);
    if (!data) return false;
  }
  output->data = data;
  output->capacity = capacity;
  return true;
}

bjvm_output bjvm_output_arena(upb_Arena *arena) {
  return (bjvm_output){.grow = grow_in_arena, .context = arena};
}

static bool empty_into_sink(bjvm_output *output) {
  const bjvm_sink *sink = (const bjvm_sink *)output->context;
  if (!sink || !sink->write) return false;
  if (output->size && !sink->write(sink->context, output->data, output->size)) return false;
  output->size = 0;
  return true;
}

static bool grow_by_sink(bjvm_output *output, size_t room) {
  return room <= output->capacity && empty_into_sink(output);
}

bjvm_output bjvm_output_sink(char *data, size_t capacity, bjvm_sink *sink) {
  return (bjvm_output){.data = data, .capacity = data ? capacity : 0, .grow = grow_by_sink, .context = sink};
}

bool bjvm_output_flush(bjvm_output *output) {
  return output && (output->grow != grow_by_sink || empty_into_sink(output));
}

bool bjvmi_output_is_sink(const bjvm_output *output) { return output->grow == grow_by_sink; }
