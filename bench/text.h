/* A text that somebody else owns; for C++ too. */
#ifndef BJVM_BENCH_TEXT_H_
#define BJVM_BENCH_TEXT_H_

#include <stdbool.h>
#include <stddef.h>

/* Zero bytes behind each text of a case: what BJVM_DECODE_PADDED and simdjson ask for. */
enum { BENCH_PADDING = 64 };

typedef struct bench_text {
  const char *data;
  size_t size;
} bench_text;

#endif /* BJVM_BENCH_TEXT_H_ */
