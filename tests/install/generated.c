/* A program with generated messages and no pool: the plan planc has compiled, bound to upb's generated mini tables, reads a
 * FileDescriptorSet, prints it and reads that again. */
#include <stdio.h>
#include <string.h>

#include "bjvm/codec.h"
#include "bjvm/plan.h"
#include "descriptor_plan.h"
#include "google/protobuf/descriptor.upb_minitable.h"
#include "upb/mem/arena.h"
#include "upb/message/compare.h"

static int fail(const char *what, const bjvm_error *error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  return 1;
}

int main(void) {
  static const char json[] = "{\"file\":[{\"name\":\"a.proto\",\"messageType\":[{\"name\":\"M\",\"field\":[{"
                             "\"name\":\"f\",\"number\":1,"
                             "\"label\":\"LABEL_REPEATED\",\"type\":\"TYPE_MESSAGE\",\"options\":{\"packed\":"
                             "true}}]}],\"syntax\":\"proto3\"}]}";
  static char text[4096];
  const upb_MiniTable *table = &google__protobuf__FileDescriptorSet_msg_init;
  upb_Arena *arena = upb_Arena_New();
  const bjvm_image *image;
  const bjvm_plan *plan;
  bjvm_error error;
  if (bjvm_image_load(plan_data, PLAN_DATA_SIZE, arena, &image, &error) != BJVM_OK)
    return fail("load", &error);
  if (bjvm_image_bind(image, PLAN_DATA_TYPE_GOOGLE_PROTOBUF_FILEDESCRIPTORSET, table, arena, &plan, &error) !=
      BJVM_OK)
    return fail("bind", &error);
  upb_Message *first = upb_Message_New(table, arena);
  if (bjvm_decode(plan, json, sizeof json - 1, first, arena, NULL, &error) != BJVM_OK)
    return fail("decode", &error);
  bjvm_output out = bjvm_output_fixed(text, sizeof text);
  if (bjvm_encode(plan, first, NULL, &out, &error) != BJVM_OK) return fail("encode", &error);
  upb_Message *second = upb_Message_New(table, arena);
  if (bjvm_decode(plan, text, out.size, second, arena, NULL, &error) != BJVM_OK)
    return fail("decode again", &error);
  bool same = upb_Message_IsEqual(first, second, table, 0) && out.size > 50;
  printf("generated mini tables: %s\n", same ? "the same message" : "ANOTHER MESSAGE");
  upb_Arena_Free(arena);
  return !same;
}
