/* The board, played by a process: commands are lines on standard input, what the node sends are lines on standard output.
 *
 * No stdio: it would ask malloc for its buffers. malloc and its kin are led here by the linker (--wrap) and end the program
 * from main on (before that the C library starts itself up), which shows that neither bjvm nor the part of upb that is linked
 * ever calls them. At the end the high-water marks of all
 * memory, the stack included, go to standard error.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node.h"
#include PLAN_HEADER

enum { STACK_PAINTED = 64 * 1024, STACK_PAINT = 0xA5, EXIT_TRAPPED = 99, EXIT_UNUSABLE = 98 };

/* -- The trap ------------------------------------------------------------------------------------------- */

static void put(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n <= 0) _exit(EXIT_UNUSABLE);
    data += n;
    size -= (size_t)n;
  }
}

static void put_text(int fd, const char *text) { put(fd, text, strlen(text)); }

static bool armed; /* from main on */

#ifndef FIRMWARE_NO_TRAP /* without it, link with -Wl,--wrap=malloc and so on */
static void trap(const char *name) {
  if (!armed) return;
  put_text(STDERR_FILENO, name);
  put_text(STDERR_FILENO, " was called\n");
  _exit(EXIT_TRAPPED);
}

/* The linker's names: __wrap_NAME is called for NAME, __real_NAME is the true one. */
#define TRAP(type, name, parameters, ...)                                                                    \
  type __real_##name parameters;                                                                             \
  type __wrap_##name parameters;                                                                             \
  type __wrap_##name parameters {                                                                            \
    trap(#name);                                                                                             \
    return __real_##name(__VA_ARGS__);                                                                       \
  }

TRAP(void *, malloc, (size_t size), size)
TRAP(void *, calloc, (size_t count, size_t size), count, size)
TRAP(void *, realloc, (void *p, size_t size), p, size)

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p) {
  trap("free");
  __real_free(p);
}
#endif

/* -- Stack ---------------------------------------------------------------------------------------------- */

/* Paints the stack below the caller, well away from what this function itself uses. */
__attribute__((noinline)) static void paint_stack(volatile unsigned char *top) {
  volatile unsigned char block[STACK_PAINTED];
  for (size_t i = 0; i < sizeof block; i++) block[i] = STACK_PAINT;
  (void)top;
}

/* How far below `top` the paint is gone. */
__attribute__((noinline)) static size_t stack_used(const volatile unsigned char *top) {
  const volatile unsigned char *p = top - STACK_PAINTED + 1024;
  while (p < top && *p == STACK_PAINT) p++;
  return (size_t)(top - p);
}

/* -- Input and output ----------------------------------------------------------------------------------- */

static void send_line(const char *line, size_t size) {
  put(STDOUT_FILENO, line, size);
  put(STDOUT_FILENO, "\n", 1);
}

static int64_t clock_seconds(void) {
  static int64_t now = 1767225600; /* 2026-01-01T00:00:00Z */
  return now++;
}

static void put_number(const char *name, size_t value) {
  char text[24], *p = text + sizeof text;
  do *--p = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  put_text(STDERR_FILENO, name);
  put(STDERR_FILENO, p, (size_t)(text + sizeof text - p));
}

/* Gives the node line after line. A line that is too long is cut, and the node says what it thinks of that. */
static void run(void) {
  static char input[NODE_LINE_MAX];
  size_t size = 0;
  for (char c; read(STDIN_FILENO, &c, 1) == 1;) {
    if (c != '\n' && size < sizeof input) input[size++] = c;
    if (c != '\n') continue;
    node_command(input, size);
    size = 0;
  }
}

int main(int argc, char **argv) {
  static const node_board board = {send_line, clock_seconds};
  void *(*volatile allocate)(size_t) = malloc;
  volatile unsigned char top = 0;
  armed = true;
  if (argc > 1 && strcmp(argv[1], "trap") == 0) return allocate(1) == NULL;
  paint_stack(&top);
  if (!node_start(&board, node_plan, NODE_PLAN_SIZE)) {
    put_text(STDERR_FILENO, "the plan in flash is not usable\n");
    return EXIT_UNUSABLE;
  }
  put_text(STDERR_FILENO, node_plans_in_place() ? "plans in place, " : "plans bound in RAM, ");
  run();
  size_t stack = stack_used(&top);
  node_usage usage = node_memory();
  put_number("stack ", stack);
  put_number(" schema ", usage.schema);
  put_number(" message ", usage.message);
  put_number(" scratch ", usage.scratch);
  put_text(STDERR_FILENO, "\n");
  _exit(0);
}
