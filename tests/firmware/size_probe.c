/* Linked and never run: what a firmware needs that loads and binds a plan and encodes (-DENCODE), decodes (-DDECODE), or
 * both; with -DTABLES its mini tables and its registry for Any and extensions come from the plan file too. What remains of
 * the libraries after --gc-sections is what it costs. */
#include "bjvm/codec.h"

static _Alignas(16) char memory[4096];
void *volatile size_probe_input; /* everything comes from here, so that nothing is known in advance */

int main(void) {
  upb_Arena *arena = upb_Arena_Init(memory, sizeof memory, NULL);
  const bjvm_image *image;
  const bjvm_plan *plan;
  static bjvm_error error;
  bool ok = bjvm_image_load(size_probe_input, 1000, arena, &image, &error) == BJVM_OK;
  ok = ok &&
       bjvm_image_bind(image, NULL, (const upb_MiniTable *)size_probe_input, arena, &plan, &error) == BJVM_OK;
  upb_Message *msg = (upb_Message *)size_probe_input;
#ifdef TABLES
  const bjvm_tables *tables;
  static bjvm_registry registry;
  ok = ok && bjvm_image_build_tables(image, arena, &tables, &error) == BJVM_OK &&
       bjvm_tables_registry(tables, 0, arena, &registry, &error) == BJVM_OK;
  size_probe_input = &registry;
#endif
#ifdef ENCODE
  bjvm_output output = bjvm_output_fixed(memory, sizeof memory);
  ok =
      ok && bjvm_encode(plan, msg, (const bjvm_encode_options *)size_probe_input, &output, &error) == BJVM_OK;
#endif
#ifdef DECODE
  ok = ok && bjvm_decode(plan, memory, sizeof memory, msg, arena,
                         (const bjvm_decode_options *)size_probe_input, &error) == BJVM_OK;
#endif
  (void)msg;
  return ok;
}
