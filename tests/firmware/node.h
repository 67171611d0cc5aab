/* A sensor node's program: JSON commands in, JSON telemetry out, in memory that is all static.
 *
 * The sample of a firmware with libbjvm-vm. It has no generated code and no reflection: names and kinds come from a plan
 * file, layouts from the mini descriptors in it, and the program knows fields by number. Not for several threads.
 */
#ifndef BJVM_FIRMWARE_NODE_H_
#define BJVM_FIRMWARE_NODE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  NODE_LINE_MAX = 4096,        /* bytes of a command or of a line sent */
  NODE_PLAN_MAX = 8 * 1024,    /* bytes of a plan file received */
  NODE_SCHEMA_RAM = 16 * 1024, /* of one schema: its image, mini tables and bound plans */
  NODE_MESSAGE_RAM = 8 * 1024, /* of the messages of one command */
  NODE_SCRATCH_RAM = 2 * 1024, /* of one call: maps being sorted */
};

/* What the board gives the node. */
typedef struct node_board {
  void (*send)(const char *line, size_t size); /* without the newline */
  int64_t (*seconds)(void);                    /* since 1970 */
} node_board;

/* How much of each static block has ever been used, in bytes. */
typedef struct node_usage {
  size_t schema, message, scratch;
} node_usage;

/* Starts with the plan file `plan`, which stays where it is: in flash, aligned to 8 bytes. False: it is not usable. */
bool node_start(const node_board *board, const void *plan, size_t size);

/* One command. Whatever it is, the node answers with one line and stays in order. */
void node_command(const char *json, size_t size);

node_usage node_memory(void);

/* Whether the plans run from the file itself: it is prebound, and for this machine. */
bool node_plans_in_place(void);

#endif /* BJVM_FIRMWARE_NODE_H_ */
