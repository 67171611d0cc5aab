/* Linked and never run: what a firmware needs that loads and binds a plan and encodes (-DENCODE), decodes (-DDECODE), or
 * both. What remains of the libraries after --gc-sections is what it costs. */
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
