/* A message as rows of 64 bits, most of them zero: what sparse.c looks for words with, and its kernels read.
 *
 * Private to the two and the tables of kernels.
 */
#ifndef BJVM_SPARSE_ROWS_H_
#define BJVM_SPARSE_ROWS_H_

#include <stddef.h>
#include <stdint.h>

/* What the bits of a row are. A row starts anywhere in the message, and ends in it. */
typedef enum bjvmi_row_sort {
  BJVMI_ROW_HASBITS, /* themselves: 8 bytes */
  BJVMI_ROW_UNITS_1, /* whether bytes are not zero: 64 */
  BJVMI_ROW_UNITS_4, /* whether 4 bytes each are not all zero: 256 */
  BJVMI_ROW_UNITS_8, /* 8 bytes: 512 */
  BJVMI_ROW_CASES,   /* as UNITS_4, of oneofs; which word it is says their value */
  BJVMI_ROW_SORTS,
} bjvmi_row_sort;

enum {
  BJVMI_ROW = 64,
  BJVMI_ROW_BYTES_MOST = 512,
  BJVMI_ROWS_MOST = 64,
};

typedef struct bjvmi_row {
  uint64_t mask;   /* the bits that stand for something */
  uint32_t offset; /* in the message */
} bjvmi_row;

typedef struct bjvmi_rows {
  uint8_t starts[BJVMI_ROW_SORTS + 1]; /* for each sort where its rows start in */
  const bjvmi_row *rows;
  const uint16_t *words; /* for each bit of each row the index of its word */
} bjvmi_rows;

typedef struct bjvmi_rows_found {
  size_t count;
  uint64_t left; /* not 0: some rows had more than was taken, CASES not counted */
} bjvmi_rows_found;

/* The forms of bjvmi_kernels.read_rows. */
bjvmi_rows_found bjvmi_rows_read_portable(const bjvmi_rows *r, const char *msg, uint64_t *bits,
                                          uint16_t *found);
bjvmi_rows_found bjvmi_rows_read_sse2(const bjvmi_rows *r, const char *msg, uint64_t *bits, uint16_t *found);
bjvmi_rows_found bjvmi_rows_read_avx2(const bjvmi_rows *r, const char *msg, uint64_t *bits, uint16_t *found);
bjvmi_rows_found bjvmi_rows_read_neon(const bjvmi_rows *r, const char *msg, uint64_t *bits, uint16_t *found);

#endif /* BJVM_SPARSE_ROWS_H_ */
