/* From a plan file to plans: verify, build the tables, bind, and compare with what the program was built for.
 *
 * The file may come from anywhere. After bjvm_image_load and the building of its tables it cannot harm bjvm; but node.c goes
 * by field numbers and upb's accessors believe their caller, so the last step is the program's own.
 */
#include "schema.h"

#include <string.h>

#include "upb/mini_table/field.h"
#include "upb/mini_table/message.h"

typedef enum mode { SINGLE, REPEATED, MAP } mode;

/* What the program takes a field for. */
typedef struct shape {
  uint8_t number, type, mode;
} shape;

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define IS(number, type)                                                                                     \
  { number, kUpb_FieldType_##type, SINGLE }

static const shape telemetry_shapes[] = {
    IS(TELEMETRY_DEVICE, String),
    IS(TELEMETRY_TIME, Message),
    IS(TELEMETRY_MODE, Enum),
    IS(TELEMETRY_SEQUENCE, UInt32),
    IS(TELEMETRY_TEMPERATURE, Double),
    IS(TELEMETRY_HUMIDITY, Float),
    {TELEMETRY_ACCELERATION, kUpb_FieldType_SInt32, REPEATED},
    IS(TELEMETRY_RAW, Bytes),
    {TELEMETRY_COUNTERS, kUpb_FieldType_Message, MAP},
    IS(TELEMETRY_DOOR_OPEN, Bool),
    IS(TELEMETRY_UPTIME_MS, UInt64),
};
static const shape time_shapes[] = {IS(TIME_SECONDS, Int64), IS(TIME_NANOS, Int32)};
static const shape config_shapes[] = {
    IS(CONFIG_DEVICE, String),
    IS(CONFIG_MODE, Enum),
    IS(CONFIG_INTERVAL_MS, UInt32),
    {CONFIG_LIMITS, kUpb_FieldType_Message, MAP},
    {CONFIG_EXTRA, kUpb_FieldType_Message, MAP},
};
static const shape command_shapes[] = {
    IS(COMMAND_CONFIGURE, Message),
    IS(COMMAND_REPORT, Message),
    IS(COMMAND_PLAN_PART, Message),
    IS(COMMAND_PLAN_COMMIT, Message),
};
static const shape report_shapes[] = {IS(REPORT_COUNT, UInt32)};
static const shape part_shapes[] = {IS(PART_OFFSET, UInt32), IS(PART_DATA, Bytes)};
static const shape commit_shapes[] = {IS(COMMIT_SIZE, UInt32)};
static const shape reply_shapes[] = {
    IS(REPLY_OK, Bool),     IS(REPLY_ERROR, String),  IS(REPLY_DETAIL, String),
    IS(REPLY_PATH, String), IS(REPLY_OFFSET, UInt32), IS(REPLY_CONFIG, Message),
};
static const shape counter_shapes[] = {IS(1, String), IS(2, UInt32)}; /* entries of counters and limits */
static const shape extra_shapes[] = {IS(1, UInt32), IS(2, Enum)};

static mode mode_of(const upb_MiniTableField *f) {
  return upb_MiniTableField_IsMap(f) ? MAP : upb_MiniTableField_IsArray(f) ? REPEATED : SINGLE;
}

static bool fits(const upb_MiniTable *table, const shape *shapes, size_t count) {
  for (size_t i = 0; table && i < count; i++) {
    const upb_MiniTableField *f = upb_MiniTable_FindFieldByNumber(table, shapes[i].number);
    if (f &&
        (upb_MiniTableField_Type(f) != (upb_FieldType)shapes[i].type || mode_of(f) != (mode)shapes[i].mode))
      return false;
  }
  return true;
}

/* NULL where there is no such field. */
static const upb_MiniTable *below(const upb_MiniTable *table, uint32_t number) {
  const upb_MiniTableField *f = table ? upb_MiniTable_FindFieldByNumber(table, number) : NULL;
  if (!f) return NULL;
  return upb_MiniTableField_IsMap(f) ? upb_MiniTable_MapEntrySubMessage(f) : upb_MiniTable_SubMessage(f);
}

static bool fits_program(const schema *s) {
  const upb_MiniTable *telemetry = bjvm_plan_table(s->telemetry), *command = bjvm_plan_table(s->command);
  const upb_MiniTable *reply = bjvm_plan_table(s->reply);
  if (!fits(telemetry, telemetry_shapes, COUNT(telemetry_shapes))) return false;
  if (!fits(command, command_shapes, COUNT(command_shapes))) return false;
  if (!fits(reply, reply_shapes, COUNT(reply_shapes))) return false;
  const upb_MiniTable *config = below(command, COMMAND_CONFIGURE);
  /* The answer shows the configuration of the command: the two must be one type. */
  if (below(reply, REPLY_CONFIG) != config || !fits(config, config_shapes, COUNT(config_shapes)))
    return false;
  return fits(below(telemetry, TELEMETRY_TIME), time_shapes, COUNT(time_shapes)) &&
         fits(below(telemetry, TELEMETRY_COUNTERS), counter_shapes, COUNT(counter_shapes)) &&
         fits(below(config, CONFIG_LIMITS), counter_shapes, COUNT(counter_shapes)) &&
         fits(below(config, CONFIG_EXTRA), extra_shapes, COUNT(extra_shapes)) &&
         fits(below(command, COMMAND_REPORT), report_shapes, COUNT(report_shapes)) &&
         fits(below(command, COMMAND_PLAN_PART), part_shapes, COUNT(part_shapes)) &&
         fits(below(command, COMMAND_PLAN_COMMIT), commit_shapes, COUNT(commit_shapes));
}

/* NULL where the file has no such type. */
static const bjvm_plan *plan_of(const bjvm_registry *registry, const char *name, bjvm_status *status) {
  return registry->find_message(registry->context, name, strlen(name), status);
}

static bjvm_status mismatch(bjvm_error *error) {
  static const char why[] = "the schema is not what the program was built for";
  memset(error, 0, sizeof *error);
  error->code = BJVM_PLAN_MISMATCH;
  memcpy(error->message, why, sizeof why);
  return BJVM_PLAN_MISMATCH;
}

bjvm_status schema_open(schema *s, const void *plan, size_t plan_size, void *block, size_t size,
                        bjvm_error *error) {
  upb_Arena *arena = upb_Arena_Init(block, size, NULL);
  const bjvm_image *image;
  const bjvm_tables *tables;
  bjvm_registry registry;
  bjvm_status status = bjvm_image_load(plan, plan_size, arena, &image, error);
  if (status == BJVM_OK) status = bjvm_image_build_tables(image, arena, &tables, error);
  if (status == BJVM_OK) status = bjvm_tables_registry(tables, 0, arena, &registry, error);
  if (status != BJVM_OK) return status;
  s->command = plan_of(&registry, "node.Command", &status);
  s->telemetry = plan_of(&registry, "node.Telemetry", &status);
  s->reply = plan_of(&registry, "node.Reply", &status);
  if (!s->command || !s->telemetry || !s->reply || !fits_program(s)) return mismatch(error);
  return BJVM_OK;
}
