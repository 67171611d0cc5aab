/* A schema in use: the plans of the three messages that the node sends and receives. */
#ifndef BJVM_FIRMWARE_SCHEMA_H_
#define BJVM_FIRMWARE_SCHEMA_H_

#include "bjvm/codec.h"

/* Field numbers of node.proto. */
enum { TELEMETRY_DEVICE = 1, TELEMETRY_TIME, TELEMETRY_MODE, TELEMETRY_SEQUENCE, TELEMETRY_TEMPERATURE };
enum {
  TELEMETRY_HUMIDITY = 6,
  TELEMETRY_ACCELERATION,
  TELEMETRY_RAW,
  TELEMETRY_COUNTERS,
  TELEMETRY_DOOR_OPEN
};
enum { TELEMETRY_UPTIME_MS = 11, TELEMETRY_LAST = TELEMETRY_UPTIME_MS };
enum { CONFIG_DEVICE = 1, CONFIG_MODE, CONFIG_INTERVAL_MS, CONFIG_KEY, CONFIG_LIMITS, CONFIG_EXTRA };
enum { COMMAND_CONFIGURE = 1, COMMAND_REPORT, COMMAND_PLAN_PART, COMMAND_PLAN_COMMIT };
enum { REPLY_OK = 1, REPLY_ERROR, REPLY_DETAIL, REPLY_PATH, REPLY_OFFSET, REPLY_CONFIG };
enum { REPORT_COUNT = 1, PART_OFFSET = 1, PART_DATA, COMMIT_SIZE = 1, TIME_SECONDS = 1, TIME_NANOS };

typedef struct schema {
  const bjvm_plan *command, *telemetry, *reply;
} schema;

/* Verifies a plan file, builds its mini tables, binds the node's messages to them, and makes sure that every field the program
 * touches is absent or has the type it was built for (else PLAN_MISMATCH). `block` of `size` bytes holds what
 * comes of it and must live as long as the schema, as must `plan`. */
bjvm_status schema_open(schema *s, const void *plan, size_t plan_size, void *block, size_t size,
                        bjvm_error *error);

#endif /* BJVM_FIRMWARE_SCHEMA_H_ */
