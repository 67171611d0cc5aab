/* Stands in for Criterion where it is not packaged (foreign architectures): the macros that our tests use,
 * and a main.
 *
 * Put this folder in front of the include path and the same *_test.c files become plain programs, one process
 * each, that print what failed and end with `N passed, M failed`. An assertion leaves its test, an
 * expectation goes on, and both take a printf text as Criterion's do. A first argument selects one test as
 * `suite/name`. Of the options of Test and TestSuite there are .init and .fini (a file has one suite). There
 * are no forks: a crash ends the program, and what a test leaves in a static variable the next one finds.
 */
#ifndef BJVM_TESTS_PLAIN_CRITERION_H_
#define BJVM_TESTS_PLAIN_CRITERION_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct plain_options {
  void (*unused)(void); /* takes the first initialiser, so that there may be no other */
  void (*init)(void);
  void (*fini)(void);
} plain_options;

typedef struct plain_test {
  const char *suite, *name;
  void (*run)(void);
  plain_options options;
  struct plain_test *next;
} plain_test;

static plain_options plain_suite;
static plain_test *plain_first;
static plain_test **plain_last = &plain_first;
static unsigned plain_failures; /* of the test that runs */
static jmp_buf plain_leave;

static inline void plain_add(plain_test *test) {
  *plain_last = test;
  plain_last = &test->next;
}

/* Reports one failure; `format` may be empty. Does not return if it is fatal. */
static inline void plain_fail(bool fatal, const char *file, int line, const char *text, const char *format,
                              ...) {
  va_list args;
  plain_failures++;
  printf("%s:%d: %s", file, line, text);
  if (format[0] != 0) {
    printf(": ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
  }
  printf("\n");
  if (fatal) longjmp(plain_leave, 1);
}

#define Test(suite_name, test_name, ...)                                                                     \
  static void plain_run_##suite_name##_##test_name(void);                                                    \
  __attribute__((constructor)) static void plain_add_##suite_name##_##test_name(void) {                      \
    static plain_test test = {                                                                               \
        #suite_name, #test_name, plain_run_##suite_name##_##test_name, {.unused = NULL, __VA_ARGS__}, NULL}; \
    plain_add(&test);                                                                                        \
  }                                                                                                          \
  static void plain_run_##suite_name##_##test_name(void)
#define TestSuite(suite_name, ...)                                                                           \
  __attribute__((constructor)) static void plain_options_##suite_name(void) {                                \
    plain_suite = (plain_options){.unused = NULL, __VA_ARGS__};                                              \
  }                                                                                                          \
  struct plain_test

/* Every macro takes its operands and then, perhaps, a format with its arguments. The empty string put behind
 * them is the format when there is none, and one argument too many when there is, which printf passes
 * over. */
#define PLAIN_FIRST_(a, ...) (a)
#define PLAIN_REST_(a, ...) __VA_ARGS__
#define PLAIN_PAIR_(op, a, b, ...) ((a)op(b))
#define PLAIN_STRINGS_(a, b, ...) (strcmp((a), (b)) == 0)
#define PLAIN_REST2_(a, b, ...) __VA_ARGS__
#define PLAIN_CHECK_(fatal, text, ok, ...)                                                                   \
  do {                                                                                                       \
    if (!(ok)) plain_fail(fatal, __FILE__, __LINE__, text, __VA_ARGS__);                                     \
  } while (0)
#define PLAIN_ONE_(fatal, is, ...)                                                                           \
  PLAIN_CHECK_(fatal, #is " " #__VA_ARGS__, is(PLAIN_FIRST_(__VA_ARGS__, "")), PLAIN_REST_(__VA_ARGS__, ""))
#define PLAIN_TWO_(fatal, op, ...)                                                                           \
  PLAIN_CHECK_(fatal, #op " " #__VA_ARGS__, PLAIN_PAIR_(op, __VA_ARGS__, ""), PLAIN_REST2_(__VA_ARGS__, ""))
#define PLAIN_STR_(fatal, ...)                                                                               \
  PLAIN_CHECK_(fatal, #__VA_ARGS__, PLAIN_STRINGS_(__VA_ARGS__, ""), PLAIN_REST2_(__VA_ARGS__, ""))
#define PLAIN_IS_NULL_(p) ((p) == NULL)
#define PLAIN_IS_NOT_NULL_(p) ((p) != NULL)

#define cr_assert(...) PLAIN_ONE_(true, , __VA_ARGS__)
#define cr_assert_not(...) PLAIN_ONE_(true, !, __VA_ARGS__)
#define cr_assert_null(...) PLAIN_ONE_(true, PLAIN_IS_NULL_, __VA_ARGS__)
#define cr_assert_not_null(...) PLAIN_ONE_(true, PLAIN_IS_NOT_NULL_, __VA_ARGS__)
#define cr_assert_eq(...) PLAIN_TWO_(true, ==, __VA_ARGS__)
#define cr_assert_neq(...) PLAIN_TWO_(true, !=, __VA_ARGS__)
#define cr_assert_lt(...) PLAIN_TWO_(true, <, __VA_ARGS__)
#define cr_assert_leq(...) PLAIN_TWO_(true, <=, __VA_ARGS__)
#define cr_assert_gt(...) PLAIN_TWO_(true, >, __VA_ARGS__)
#define cr_assert_geq(...) PLAIN_TWO_(true, >=, __VA_ARGS__)
#define cr_assert_str_eq(...) PLAIN_STR_(true, __VA_ARGS__)
#define cr_assert_fail(...) plain_fail(true, __FILE__, __LINE__, "fail", __VA_ARGS__)

#define cr_expect(...) PLAIN_ONE_(false, , __VA_ARGS__)
#define cr_expect_not(...) PLAIN_ONE_(false, !, __VA_ARGS__)
#define cr_expect_null(...) PLAIN_ONE_(false, PLAIN_IS_NULL_, __VA_ARGS__)
#define cr_expect_not_null(...) PLAIN_ONE_(false, PLAIN_IS_NOT_NULL_, __VA_ARGS__)
#define cr_expect_eq(...) PLAIN_TWO_(false, ==, __VA_ARGS__)
#define cr_expect_neq(...) PLAIN_TWO_(false, !=, __VA_ARGS__)
#define cr_expect_lt(...) PLAIN_TWO_(false, <, __VA_ARGS__)
#define cr_expect_leq(...) PLAIN_TWO_(false, <=, __VA_ARGS__)
#define cr_expect_gt(...) PLAIN_TWO_(false, >, __VA_ARGS__)
#define cr_expect_geq(...) PLAIN_TWO_(false, >=, __VA_ARGS__)
#define cr_expect_str_eq(...) PLAIN_STR_(false, __VA_ARGS__)
#define cr_expect_fail(...) plain_fail(false, __FILE__, __LINE__, "fail", __VA_ARGS__)

static inline void plain_call(void (*function)(void)) {
  if (function != NULL) function();
}

/* Whether the test passed. */
static inline bool plain_run(const plain_test *t) {
  plain_failures = 0;
  if (setjmp(plain_leave) == 0) {
    plain_call(plain_suite.init);
    plain_call(t->options.init);
    t->run();
  }
  plain_call(t->options.fini);
  plain_call(plain_suite.fini);
  if (plain_failures != 0) printf("FAILED %s/%s\n", t->suite, t->name);
  return plain_failures == 0;
}

int main(int argc, char **argv) {
  unsigned count[2] = {0, 0};
  for (const plain_test *t = plain_first; t != NULL; t = t->next) {
    char name[256];
    snprintf(name, sizeof name, "%s/%s", t->suite, t->name);
    if (argc < 2 || strcmp(argv[1], name) == 0) count[plain_run(t)]++;
  }
  printf("%u passed, %u failed\n", count[true], count[false]);
  return count[false] != 0 || count[true] == 0;
}

#endif /* BJVM_TESTS_PLAIN_CRITERION_H_ */
