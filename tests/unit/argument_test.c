/* What every public function does with NULL, and what those with flags do with bits that mean nothing.
 *
 * The rule is in bjvm/plan.h: BAD_ARGUMENT where there is a status or an error, else NULL, 0 or false.
 * check_lists.py sees to it that each function is called here.
 */
#include "fixture.h"

#define REFUSED(call) cr_expect_eq(call, BJVM_BAD_ARGUMENT)

static bool ignore(void *context, const char *text, size_t size) {
  (void)context;
  (void)text;
  return size > 0;
}

Test(argument, null_images) {
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.Mini");
  const upb_MiniTable *table = upb_MessageDef_MiniTable(def);
  const void *data;
  size_t size = 1;
  const bjvm_image *image;
  const bjvm_plan *plan = NULL;
  const bjvm_tables *tables;
  bjvm_registry registry;
  cr_assert_eq(bjvm_compile(&def, 1, BJVM_COMPILE_MINI, f.arena, &data, &size, NULL), BJVM_OK);
  cr_assert_eq(bjvm_image_load(data, size, f.arena, &image, NULL), BJVM_OK);
  cr_assert_eq(bjvm_image_build_tables(image, f.arena, &tables, NULL), BJVM_OK);

  REFUSED(bjvm_image_load(NULL, size, f.arena, &image, NULL));
  REFUSED(bjvm_image_load(data, size, NULL, &image, NULL));
  REFUSED(bjvm_image_load(data, size, f.arena, NULL, NULL));
  REFUSED(bjvm_image_bind(NULL, NULL, table, f.arena, &plan, NULL));
  REFUSED(bjvm_image_bind(image, NULL, NULL, f.arena, &plan, NULL));
  REFUSED(bjvm_image_bind(image, NULL, table, NULL, &plan, NULL));
  REFUSED(bjvm_image_bind(image, NULL, table, f.arena, NULL, NULL));
  REFUSED(bjvm_image_bind_in_place(NULL, NULL, table, f.arena, &plan, NULL));
  REFUSED(bjvm_image_bind_own(NULL, NULL, f.arena, &plan, NULL));
  REFUSED(bjvm_image_bind_own(image, NULL, NULL, &plan, NULL));
  REFUSED(bjvm_image_bind_own(image, NULL, f.arena, NULL, NULL));
  REFUSED(bjvm_image_build_tables(NULL, f.arena, &tables, NULL));
  REFUSED(bjvm_image_build_tables(image, NULL, &tables, NULL));
  REFUSED(bjvm_image_build_tables(image, f.arena, NULL, NULL));
  REFUSED(bjvm_tables_registry(NULL, 0, f.arena, &registry, NULL));
  REFUSED(bjvm_tables_registry(tables, 0, NULL, &registry, NULL));
  REFUSED(bjvm_tables_registry(tables, 0, f.arena, NULL, NULL));

  cr_expect_eq(bjvm_image_root_count(NULL), 0);
  cr_expect_null(bjvm_image_root_name(NULL, 0, &size));
  cr_expect_eq(size, 0);
  cr_expect_null(bjvm_image_root_name(NULL, 0, NULL));
  cr_expect_not_null(bjvm_image_root_name(image, 0, NULL));
  cr_expect_not(bjvm_image_has_tables(NULL));
  cr_expect_not(bjvm_image_dump(NULL, ignore, NULL));
  cr_expect_not(bjvm_image_dump(image, NULL, NULL));
  cr_expect(bjvm_image_dump(image, ignore, NULL));
  cr_expect_null(bjvm_tables_message(NULL, NULL));
  cr_expect_eq(bjvm_tables_extension_count(NULL), 0);
  cr_expect_null(bjvm_tables_extension(NULL, 0));
  fixture_close(&f);
}

Test(argument, null_plans) {
  fixture f = fixture_open();
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Mini");
  const upb_Message *msg = fixture_new(&f, "cases.v3.Mini");
  upb_Message *into = fixture_new(&f, "cases.v3.Mini");
  bjvm_output out = bjvm_output_arena(f.arena);
  size_t size = 1;
  REFUSED(bjvm_plan_prepare(NULL, 0, f.arena));
  REFUSED(bjvm_plan_prepare(plan, 0, NULL));
  cr_expect_null(bjvm_plan_name(NULL, &size));
  cr_expect_eq(size, 0);
  cr_expect_null(bjvm_plan_name(NULL, NULL));
  cr_expect_not_null(bjvm_plan_name(plan, NULL));
  cr_expect_null(bjvm_plan_table(NULL));
  cr_expect_null(bjvm_plan_kernels(NULL));
  cr_expect_not(bjvm_plan_in_place(NULL));
  cr_expect_not_null(bjvm_dispatch_name());
  cr_expect_str_eq(bjvm_status_name(BJVM_OK), "OK");
  cr_expect_not_null(bjvm_status_text(BJVM_OK));

  REFUSED(bjvm_encode(NULL, msg, NULL, &out, NULL));
  REFUSED(bjvm_encode(plan, NULL, NULL, &out, NULL));
  REFUSED(bjvm_encode(plan, msg, NULL, NULL, NULL));
  REFUSED(bjvm_decode(NULL, "{}", 2, into, f.arena, NULL, NULL));
  REFUSED(bjvm_decode(plan, NULL, 2, into, f.arena, NULL, NULL));
  REFUSED(bjvm_decode(plan, "{}", 2, NULL, f.arena, NULL, NULL));
  REFUSED(bjvm_decode(plan, "{}", 2, into, NULL, NULL, NULL));
  REFUSED(bjvm_decode_prefix(NULL, "{}", 2, &size, into, f.arena, NULL, NULL));
  cr_expect_eq(bjvm_decode_prefix(plan, "{}x", 3, NULL, into, f.arena, NULL, NULL), BJVM_OK);
  fixture_close(&f);
}

/* One that cannot take anything. */
static bjvm_status print_to(const fixture *f, bjvm_output out) {
  return bjvm_encode(fixture_plan(f, "cases.v3.Mini"), fixture_new(f, "cases.v3.Mini"), NULL, &out, NULL);
}

Test(argument, null_outputs) {
  fixture f = fixture_open();
  char block[1024];
  bjvm_sink sink = {ignore, NULL}, no_write = {NULL, NULL};
  cr_expect_eq(print_to(&f, bjvm_output_fixed(NULL, 100)), BJVM_OVERFLOW);
  cr_expect_eq(print_to(&f, bjvm_output_arena(NULL)), BJVM_OUT_OF_MEMORY);
  cr_expect_eq(print_to(&f, bjvm_output_sink(NULL, sizeof block, &sink)), BJVM_SINK);
  bjvm_output full = bjvm_output_sink(block, sizeof block, NULL);
  full.size = sizeof block;
  cr_expect_eq(print_to(&f, full), BJVM_SINK);
  cr_expect_not(bjvm_output_flush(&full));
  full = bjvm_output_sink(block, sizeof block, &no_write);
  full.size = sizeof block;
  cr_expect_eq(print_to(&f, full), BJVM_SINK);
  cr_expect_not(bjvm_output_flush(&full));
  cr_expect_not(bjvm_output_flush(NULL));
  bjvm_output heap = bjvm_output_heap();
  cr_expect(bjvm_output_flush(&heap));
  bjvm_output_free(&heap);
  bjvm_output_free(NULL);
  fixture_close(&f);
}

Test(argument, null_caches) {
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.Mini");
  bjvm_error error = {.code = BJVM_OK};
  cr_expect_null(bjvm_cache_new(NULL));
  bjvm_cache_free(NULL);
  cr_expect_null(bjvm_cache_get(NULL, def, &error));
  cr_expect_eq(error.code, BJVM_BAD_ARGUMENT);
  cr_expect_null(bjvm_cache_get(f.cache, NULL, NULL));
  error.code = BJVM_OK;
  cr_expect_null(bjvm_cache_find(NULL, "a", 1, &error));
  cr_expect_eq(error.code, BJVM_BAD_ARGUMENT);
  cr_expect_null(bjvm_cache_find(f.cache, NULL, 0, NULL));
  cr_expect_null(bjvm_cache_registry(NULL));
  bjvm_cache_set_max_depth(NULL, 1);
  cr_expect_eq(bjvm_cache_size(NULL), 0);
  cr_expect_not(bjvm_cache_has(NULL, def));
  cr_expect_not(bjvm_cache_has(f.cache, NULL));
  fixture_close(&f);
}

Test(argument, null_types) {
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.Mini"), *none = NULL;
  const upb_FieldDef *extension = upb_DefPool_FindExtensionByName(f.pool, "cases.v2.ext_num");
  const void *data;
  size_t size;
  bjvm_error error = {.code = BJVM_OK};
  REFUSED(bjvm_compile(NULL, 1, 0, f.arena, &data, &size, &error));
  cr_expect_str_eq(error.message, "an argument is NULL");
  REFUSED(bjvm_compile(&none, 1, 0, f.arena, &data, &size, NULL));
  REFUSED(bjvm_compile(&def, 1, 0, NULL, &data, &size, NULL));
  REFUSED(bjvm_compile(&def, 1, 0, f.arena, NULL, &size, NULL));
  REFUSED(bjvm_compile(&def, 1, 0, f.arena, &data, NULL, NULL));
  REFUSED(bjvm_compile_extension(NULL, f.arena, &data, &size, NULL));
  REFUSED(bjvm_compile_extension(extension, NULL, &data, &size, NULL));
  cr_expect_eq(bjvm_compile_extension(extension, f.arena, &data, &size, NULL), BJVM_OK);
  fixture_close(&f);
}

/* -- Flags ---------------------------------------------------------------------------------------------- */

enum {
  ENCODE_FLAGS = BJVM_ENCODE_PROTO_NAMES | BJVM_ENCODE_EMIT_DEFAULTS | BJVM_ENCODE_ENUMS_AS_INTS |
                 BJVM_ENCODE_INT64_AS_NUMBERS | BJVM_ENCODE_ASCII | BJVM_ENCODE_HTML_SAFE |
                 BJVM_ENCODE_SORT_MAP_KEYS | BJVM_ENCODE_PRETTY | BJVM_ENCODE_CHECK_REQUIRED,
  DECODE_FLAGS = BJVM_DECODE_IGNORE_UNKNOWN | BJVM_DECODE_LAST_WINS | BJVM_DECODE_CASE_INSENSITIVE_ENUMS |
                 BJVM_DECODE_CHECK_REQUIRED | BJVM_DECODE_ALIAS | BJVM_DECODE_PADDED,
  COMPILE_FLAGS = BJVM_COMPILE_SHALLOW | BJVM_COMPILE_EXTENSIONS | BJVM_COMPILE_MINI | BJVM_COMPILE_ABI32 |
                  BJVM_COMPILE_ABI64,
};

/* What a flag that is there, or is not, comes to. */
static bjvm_status expected(uint32_t flag, uint32_t known) {
  return flag & known ? BJVM_OK : BJVM_BAD_ARGUMENT;
}

Test(argument, unknown_flags) {
  static const char json[2 + 64] = "{}";
  fixture f = fixture_open();
  const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.Mini");
  const void *data;
  size_t size;
  const bjvm_image *image;
  const bjvm_tables *tables;
  const bjvm_plan *plan;
  bjvm_registry registry;
  cr_assert_eq(bjvm_compile(&def, 1, BJVM_COMPILE_MINI, f.arena, &data, &size, NULL), BJVM_OK);
  cr_assert_eq(bjvm_image_load(data, size, f.arena, &image, NULL), BJVM_OK);
  cr_assert_eq(bjvm_image_build_tables(image, f.arena, &tables, NULL), BJVM_OK);
  cr_assert_eq(bjvm_image_bind_own(image, NULL, f.arena, &plan, NULL), BJVM_OK);
  upb_Message *msg = upb_Message_New(bjvm_plan_table(plan), f.arena);
  for (uint32_t bit = 0; bit < 32; bit++) {
    uint32_t flag = (uint32_t)1 << bit;
    bjvm_encode_options encode = {.size = sizeof encode, .flags = flag, .scratch = f.scratch};
    bjvm_decode_options decode = {.size = sizeof decode, .flags = flag, .scratch = f.scratch};
    bjvm_output out = bjvm_output_arena(f.arena);
    cr_expect_eq(bjvm_plan_prepare(plan, flag, f.arena), expected(flag, ENCODE_FLAGS), "bit %u", bit);
    cr_expect_eq(bjvm_tables_registry(tables, flag, f.arena, &registry, NULL), expected(flag, ENCODE_FLAGS),
                 "bit %u", bit);
    cr_expect_eq(bjvm_encode(plan, msg, &encode, &out, NULL), expected(flag, ENCODE_FLAGS), "bit %u", bit);
    cr_expect_eq(bjvm_decode(plan, json, 2, msg, f.arena, &decode, NULL), expected(flag, DECODE_FLAGS),
                 "bit %u", bit);
    cr_expect_eq(bjvm_compile(&def, 1, flag, f.arena, &data, &size, NULL), expected(flag, COMPILE_FLAGS),
                 "bit %u", bit);
  }
  fixture_close(&f);
}
