/* The choice among the kernel forms.
 *
 * Each form's table stands in its own file: string_portable.c, string_sse2.c, string_avx2.c, string_neon.c.
 * The question to the machine is asked anew at each call (the compiler's run-time library holds the answer),
 * so nothing here is written.
 */
#include "kernels_impl.h"

#ifdef BJVMI_HAVE_AVX2
/* No processor has the one without the other, but an emulator may. */
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"); }
#else
static bool has_avx2(void) { return false; }
#endif

static const bjvmi_kernels *const forms[] = {
    &bjvmi_kernels_portable,
#ifdef BJVMI_HAVE_SSE2
    &bjvmi_kernels_sse2,
#endif
#ifdef BJVMI_HAVE_NEON
    &bjvmi_kernels_neon,
#endif
    NULL,
};

#ifdef BJVMI_HAVE_AVX2
static const bjvmi_kernels *const forms_avx2[] = {
    &bjvmi_kernels_portable,
    &bjvmi_kernels_sse2,
    &bjvmi_kernels_avx2,
    NULL,
};
#else
#define forms_avx2 forms
#endif

const bjvmi_kernels *const *bjvmi_kernels_all(void) { return has_avx2() ? forms_avx2 : forms; }

const bjvmi_kernels *bjvmi_kernels_best(void) {
  const bjvmi_kernels *const *form = bjvmi_kernels_all();
  while (form[1]) form++;
  return *form;
}
