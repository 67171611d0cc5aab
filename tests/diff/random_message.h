/* Random messages by reflection, with the values that are hard for a JSON codec. */
#ifndef BJVM_TESTS_RANDOM_MESSAGE_H_
#define BJVM_TESTS_RANDOM_MESSAGE_H_

#include <stdbool.h>
#include <stdint.h>

#include "upb/mem/arena.h"
#include "upb/message/message.h"
#include "upb/reflection/def.h"

/* What a message has that matters to whoever compares texts. */
typedef struct traits {
  bool floats;     /* a float or double that is set */
  bool extensions; /* an extension that is set */
  bool empty_any;  /* an Any without a type */
} traits;

typedef struct generator {
  uint64_t state; /* of the random numbers; any value */
  const upb_DefPool *pool;
  upb_Arena *arena;
  int max_depth; /* of messages below the top */
  traits has;    /* of the messages made since it was last cleared */
} generator;

/* A message of `def` in the generator's arena. Every message it makes can be printed as JSON. */
upb_Message *random_message(generator *g, const upb_MessageDef *def);

/* A number below `limit` (> 0). */
uint32_t random_below(generator *g, uint32_t limit);

#endif /* BJVM_TESTS_RANDOM_MESSAGE_H_ */
