/* Status codes and the error report. */
#ifndef BJVM_STATUS_H_
#define BJVM_STATUS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports; everything else is hidden. */
#if defined(_WIN32)
#define BJVM_API
#else
#define BJVM_API __attribute__((visibility("default")))
#endif

/* What a call came to. BJVM_OK is 0; the rest are listed in status.def and docs/errors.md. */
typedef enum bjvm_status {
#define X(name, number, text) BJVM_##name = number,
#include "bjvm/status.def"
#undef X
} bjvm_status;

enum {
  BJVM_ERROR_PATH_SIZE = 256,    /* bytes of bjvm_error.path, with its NUL */
  BJVM_ERROR_MESSAGE_SIZE = 192, /* bytes of bjvm_error.message, with its NUL */
};

/* The report of one failure. The caller owns it; a call that fails fills it, a call that succeeds
 * leaves it as it is. Not shared by threads while a call that was given it runs. */
typedef struct bjvm_error {
  bjvm_status code;
  uint32_t line;   /* 1-based; 0 where there is no text (printing, plans) */
  uint32_t column; /* 1-based, in characters (code points) of that line; 0 as above */
  size_t offset;   /* bytes from the start of the text to the offending token; for a plan, into its file */
  char path[BJVM_ERROR_PATH_SIZE];       /* `orders[3].items["k"].price`; "" at the top; cut with "..." */
  char message[BJVM_ERROR_MESSAGE_SIZE]; /* one sentence: what was expected, what was found */
} bjvm_error;

/* The name of a code without its prefix, "UNKNOWN_FIELD"; "?" for a number that is none. Static. */
BJVM_API const char *bjvm_status_name(bjvm_status status);

/* The meaning of a code in a few words; "?" for a number that is none. Static. */
BJVM_API const char *bjvm_status_text(bjvm_status status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BJVM_STATUS_H_ */
