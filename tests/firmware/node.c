/* The node: what it does with a command, and what it sends.
 *
 * Neighbours: schema.c turns a plan file into plans, board.c is the board (or, in the tests, a process). Kept: two banks of
 * memory for schemas, so that a new plan file is verified, bound and tried while the old one is still in use; a command
 * that fails anywhere leaves configuration and schema as they were.
 */
#include "node.h"

#include "fields.h"
#include "schema.h"

enum { SENSOR_BATTERY_MILLIVOLT = 1, SENSOR_SIGNAL_DBM };
enum { DEVICE_MAX = 31, EXTRA_MAX = 4, REPORT_MAX = 8 };

typedef struct extra {
  uint32_t number;
  int32_t sensor;
} extra;

/* What a configuration leaves behind: no pointer into a message, which lives for one command. */
typedef struct settings {
  char device[DEVICE_MAX + 1];
  int32_t mode;
  uint32_t interval_ms;
  uint32_t door_limit;
  extra extras[EXTRA_MAX];
  size_t extra_count;
} settings;

static struct {
  const node_board *board;
  schema schema;
  unsigned bank; /* of the schema in use */
  settings settings;
  uint32_t sequence;
} node;

static _Alignas(16) char schema_ram[2][NODE_SCHEMA_RAM];
static _Alignas(16) char message_ram[NODE_MESSAGE_RAM];
static _Alignas(16) char scratch_ram[NODE_SCRATCH_RAM];
static _Alignas(8) char incoming_plan[2][NODE_PLAN_MAX]; /* one receives while the other may be in use */
static unsigned incoming;
static char line[NODE_LINE_MAX];

/* -- Memory --------------------------------------------------------------------------------------------- */

/* Blocks are painted, so that what was never used shows. */
enum { PAINT = 0x5A };

static void paint(void) {
  memset(schema_ram, PAINT, sizeof schema_ram);
  memset(message_ram, PAINT, sizeof message_ram);
  memset(scratch_ram, PAINT, sizeof scratch_ram);
}

static size_t used(const char *block, size_t size) {
  while (size > 0 && block[size - 1] == PAINT) size--;
  return size;
}

node_usage node_memory(void) {
  size_t a = used(schema_ram[0], NODE_SCHEMA_RAM), b = used(schema_ram[1], NODE_SCHEMA_RAM);
  return (node_usage){a > b ? a : b, used(message_ram, sizeof message_ram),
                      used(scratch_ram, sizeof scratch_ram)};
}

/* A fresh arena over the block; what was in it is gone. It has no allocator behind it and needs no freeing. */
static upb_Arena *message_arena(void) { return upb_Arena_Init(message_ram, sizeof message_ram, NULL); }

static upb_Arena *scratch_arena(void) { return upb_Arena_Init(scratch_ram, sizeof scratch_ram, NULL); }

/* -- Sending -------------------------------------------------------------------------------------------- */

static bjvm_status send_message(const bjvm_plan *plan, record r, bjvm_error *error) {
  bjvm_encode_options options = {
      .size = sizeof options, .flags = BJVM_ENCODE_SORT_MAP_KEYS, .scratch = scratch_arena()};
  bjvm_output out = bjvm_output_fixed(line, sizeof line);
  bjvm_status status = bjvm_encode(plan, r.msg, &options, &out, error);
  if (status == BJVM_OK) node.board->send(out.data, out.size);
  return status;
}

/* The answer: `error` tells what went wrong, or is NULL. `config` is the configuration to show, or has no message. */
static void reply(const bjvm_error *error, record config, upb_Arena *arena) {
  static const char no_memory[] = "{\"error\":\"OUT_OF_MEMORY\"}";
  record r = record_new(node.schema.reply, arena);
  if (r.msg) {
    set_bool(r, REPLY_OK, !error);
    if (error) {
      set_text(r, REPLY_ERROR, bjvm_status_name(error->code));
      set_text(r, REPLY_DETAIL, error->message);
      set_text(r, REPLY_PATH, error->path);
      set_u32(r, REPLY_OFFSET, (uint32_t)error->offset);
    } else if (config.msg) {
      upb_Message_SetBaseFieldMessage(r.msg, field(r, REPLY_CONFIG), config.msg);
    }
  }
  if (!r.msg || send_message(node.schema.reply, r, NULL) != BJVM_OK)
    node.board->send(no_memory, sizeof no_memory - 1);
}

static bjvm_status refuse(bjvm_error *error, bjvm_status status, const char *why) {
  memset(error, 0, sizeof *error);
  error->code = status;
  memcpy(error->message, why, strlen(why) + 1);
  return status;
}

/* -- Telemetry ------------------------------------------------------------------------------------------ */

/* The sensors, made up: what they say follows from the sequence number, so that every machine says the same. */
static void fill_sensors(record t, upb_Arena *arena) {
  static const uint8_t raw[] = {0x00, 0xFF, 0x10, 0x80, 0x7F};
  uint32_t n = node.sequence;
  set_double(t, TELEMETRY_TEMPERATURE, 20 + n * 0.1);
  set_float(t, TELEMETRY_HUMIDITY, (float)(40 + n) / 3);
  for (int32_t axis = -1; axis <= 1; axis++)
    add_i32(t, TELEMETRY_ACCELERATION, axis * 981 + (int32_t)n, arena);
  set_bytes(t, TELEMETRY_RAW, raw, sizeof raw);
  put_counter(t, TELEMETRY_COUNTERS, "door", n, arena);
  put_counter(t, TELEMETRY_COUNTERS, "\"boot\"", 1, arena);
  set_bool(t, TELEMETRY_DOOR_OPEN, n > node.settings.door_limit);
  set_u64(t, TELEMETRY_UPTIME_MS, UINT64_C(18446744073709000000) + n);
}

/* Fields that the program does not know but the configuration does; only of the types the sensors have. */
static void fill_extras(record t) {
  for (size_t i = 0; i < node.settings.extra_count; i++) {
    const extra *e = &node.settings.extras[i];
    const upb_MiniTableField *f = field(t, e->number);
    if (!f || e->number <= TELEMETRY_LAST || !upb_MiniTableField_IsScalar(f)) continue;
    upb_FieldType type = upb_MiniTableField_Type(f);
    if (e->sensor == SENSOR_BATTERY_MILLIVOLT && type == kUpb_FieldType_UInt32) set_u32(t, e->number, 3300);
    if (e->sensor == SENSOR_SIGNAL_DBM && type == kUpb_FieldType_SInt32) set_i32(t, e->number, -71);
  }
}

static bjvm_status send_telemetry(upb_Arena *arena, bjvm_error *error) {
  record t = record_new(node.schema.telemetry, arena);
  if (!t.msg) return refuse(error, BJVM_OUT_OF_MEMORY, "no memory for telemetry");
  node.sequence++;
  set_text(t, TELEMETRY_DEVICE, node.settings.device);
  record time = add_message(t, TELEMETRY_TIME, arena);
  if (time.msg) {
    set_i64(time, TIME_SECONDS, node.board->seconds());
    set_i32(time, TIME_NANOS, (int32_t)(node.sequence * 250000000u % 1000000000u));
  }
  set_i32(t, TELEMETRY_MODE, node.settings.mode);
  set_u32(t, TELEMETRY_SEQUENCE, node.sequence);
  fill_sensors(t, arena);
  fill_extras(t);
  return send_message(node.schema.telemetry, t, error);
}

/* -- Commands ------------------------------------------------------------------------------------------- */

static uint32_t limit_of(const upb_Map *limits, const char *name) {
  upb_MessageValue key = {.str_val = upb_StringView_FromDataAndSize(name, strlen(name))}, v;
  return limits && upb_Map_Get(limits, key, &v) ? v.uint32_val : UINT32_MAX;
}

static bjvm_status configure(record c, bjvm_error *error) {
  settings next = node.settings;
  upb_StringView device = get_string(c, CONFIG_DEVICE);
  if (device.size > DEVICE_MAX) return refuse(error, BJVM_BAD_ARGUMENT, "the device's name is too long");
  memset(next.device, 0, sizeof next.device);
  if (device.size > 0) memcpy(next.device, device.data, device.size);
  next.mode = get_enum(c, CONFIG_MODE);
  next.interval_ms = get_u32(c, CONFIG_INTERVAL_MS);
  next.door_limit = limit_of(get_map(c, CONFIG_LIMITS), "door");
  next.extra_count = 0;
  const upb_Map *extras = get_map(c, CONFIG_EXTRA);
  size_t at = kUpb_Map_Begin;
  for (upb_MessageValue key, value; extras && upb_Map_Next(extras, &key, &value, &at);) {
    if (next.extra_count == EXTRA_MAX) return refuse(error, BJVM_BAD_ARGUMENT, "too many extra fields");
    next.extras[next.extra_count++] = (extra){key.uint32_val, value.int32_val};
  }
  node.settings = next;
  return BJVM_OK;
}

static bjvm_status receive_part(record part, bjvm_error *error) {
  uint32_t offset = get_u32(part, PART_OFFSET);
  upb_StringView data = get_string(part, PART_DATA);
  if (offset > NODE_PLAN_MAX || data.size > NODE_PLAN_MAX - offset)
    return refuse(error, BJVM_BAD_ARGUMENT, "the plan is too large");
  if (data.size > 0) memcpy(incoming_plan[incoming] + offset, data.data, data.size);
  return BJVM_OK;
}

/* A schema update: into the bank that is not in use, which then is. */
static bjvm_status commit_plan(record commit, bjvm_error *error) {
  uint32_t size = get_u32(commit, COMMIT_SIZE);
  unsigned bank = 1 - node.bank;
  schema next;
  if (size > NODE_PLAN_MAX) return refuse(error, BJVM_BAD_ARGUMENT, "the plan is too large");
  bjvm_status status =
      schema_open(&next, incoming_plan[incoming], size, schema_ram[bank], NODE_SCHEMA_RAM, error);
  if (status != BJVM_OK) return status;
  node.schema = next;
  node.bank = bank;
  incoming = 1 - incoming;
  return BJVM_OK;
}

static bjvm_status report(record r, upb_Arena *arena, bjvm_error *error) {
  uint32_t count = get_u32(r, REPORT_COUNT);
  bjvm_status status = BJVM_OK;
  if (count > REPORT_MAX) return refuse(error, BJVM_BAD_ARGUMENT, "too many reports at once");
  while (status == BJVM_OK && count-- > 0) status = send_telemetry(arena, error);
  return status;
}

static bjvm_status obey(record command, upb_Arena *arena, bjvm_error *error, record *config) {
  record sub;
  if ((sub = get_message(command, COMMAND_CONFIGURE)).msg) {
    *config = sub;
    return configure(sub, error);
  }
  if ((sub = get_message(command, COMMAND_REPORT)).msg) return report(sub, arena, error);
  if ((sub = get_message(command, COMMAND_PLAN_PART)).msg) return receive_part(sub, error);
  if ((sub = get_message(command, COMMAND_PLAN_COMMIT)).msg) return commit_plan(sub, error);
  return refuse(error, BJVM_BAD_ARGUMENT, "an empty command");
}

void node_command(const char *json, size_t size) {
  static bjvm_error error;
  static const bjvm_decode_options options = {.size = sizeof options, .flags = BJVM_DECODE_ALIAS};
  upb_Arena *arena = message_arena();
  record command = record_new(node.schema.command, arena), config = {NULL, NULL};
  bjvm_status status = bjvm_decode(node.schema.command, json, size, command.msg, arena, &options, &error);
  if (status == BJVM_OK) status = obey(command, arena, &error, &config);
  if (status != BJVM_OK || !config.msg) {
    /* Nothing of the command is needed any more, and the answer must not fail for want of memory. */
    arena = message_arena();
    config.msg = NULL;
  }
  reply(status != BJVM_OK ? &error : NULL, config, arena);
}

bool node_plans_in_place(void) {
  return bjvm_plan_in_place(node.schema.command) && bjvm_plan_in_place(node.schema.telemetry) &&
         bjvm_plan_in_place(node.schema.reply);
}

bool node_start(const node_board *board, const void *plan, size_t size) {
  paint();
  node.board = board;
  static bjvm_error error;
  return schema_open(&node.schema, plan, size, schema_ram[0], NODE_SCHEMA_RAM, &error) == BJVM_OK;
}
