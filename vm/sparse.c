/* The index of a wide message's words by the bytes that tell whether they are set, and lists of words made with it.
 *
 * Neighbours: bind.c makes the index, encode_vm.c runs the lists. Invariant: a word that prints something is in the
 * list; one in the list need not print anything (its unit may hold a neighbour's value).
 */
#include "sparse.h"

#ifndef BJVM_SIZE_SMALL

#include <string.h>

#include "upb_layout.h"

#ifdef BJVMI_HAVE_SSE2
#include <emmintrin.h>
#endif

enum {
  UNIT = 4,
  UNIT_BITS = 8 * UNIT,
  ROW = 64,  /* units whose bits are held together */
  ROWS = 16, /* rows read at once: 4 KB */
};

/* -- Making ---------------------------------------------------------------------------------------------- */

/* The units [*first, *end) that are not all zero when the word's field is set; none for one with a hasbit. */
static void units_of(const bjvmi_word *w, uint32_t *first, uint32_t *end) {
  uint32_t at = w->offset;
  uint32_t size = (uint32_t)sizeof(void *);
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_IMPLICIT: size = (uint32_t)bjvmi_kind_size(BJVMI_OP_KIND(w->op)); break;
    case BJVMI_FORM_ONEOF:
      at = w->presence;
      size = 4;
      break;
    case BJVMI_FORM_HASBIT: size = 0; break;
    default: break; /* a pointer to an array or map */
  }
  *first = at / UNIT;
  *end = size ? (at + size - 1) / UNIT + 1 : *first;
}

/* Words that print whatever is set have no place: only variants have them. */
static bool is_found_by_bytes(const bjvm_plan *plan) {
  for (uint32_t i = 0; i < plan->word_count; i++) {
    bjvmi_form form = (bjvmi_form)BJVMI_OP_FORM(plan->words[i].op);
    if (form == BJVMI_FORM_ALWAYS || form == BJVMI_FORM_ARRAY_ALWAYS) return false;
  }
  return true;
}

/* The units with hasbits; what else lies in them has no word there. */
static void find_hasbits(const bjvm_plan *plan, bjvmi_sparse *s) {
  uint32_t low = UINT32_MAX;
  uint32_t end = 0;
  for (uint32_t i = 0; i < plan->word_count; i++) {
    const bjvmi_word *w = &plan->words[i];
    uint32_t unit = w->presence / UNIT_BITS;
    if (BJVMI_OP_FORM(w->op) != BJVMI_FORM_HASBIT) continue;
    if (unit < low) low = unit;
    if (unit + 1 > end) end = unit + 1;
  }
  s->first_bits = end ? low : 0;
  s->bits_end = end;
}

/* Counts the words of each unit into starts[unit + 1], then makes places of the counts. */
static uint32_t place_units(const bjvm_plan *plan, uint16_t *starts, uint32_t unit_count) {
  uint32_t first;
  uint32_t end;
  memset(starts, 0, (unit_count + 1) * sizeof *starts);
  for (uint32_t i = 0; i < plan->word_count; i++) {
    units_of(&plan->words[i], &first, &end);
    for (; first < end; first++) starts[first + 1]++;
  }
  for (uint32_t i = 0; i < unit_count; i++) starts[i + 1] = (uint16_t)(starts[i] + starts[i + 1]);
  return starts[unit_count];
}

static size_t bit_count(const bjvmi_sparse *s) { return (size_t)(s->bits_end - s->first_bits) * UNIT_BITS; }

static void fill(const bjvm_plan *plan, const bjvmi_sparse *s, uint16_t *of_bit, uint16_t *starts,
                 uint16_t *words) {
  uint32_t first;
  uint32_t end;
  memset(of_bit, 0xff, bit_count(s) * sizeof *of_bit);
  for (uint32_t i = 0; i < plan->word_count; i++) {
    const bjvmi_word *w = &plan->words[i];
    if (BJVMI_OP_FORM(w->op) == BJVMI_FORM_HASBIT)
      of_bit[w->presence - s->first_bits * UNIT_BITS] = (uint16_t)i;
    units_of(w, &first, &end);
    for (; first < end; first++) words[starts[first]++] = (uint16_t)i;
  }
  /* every start is now the next one's */
  memmove(starts + 1, starts, s->unit_count * sizeof *starts);
  starts[0] = 0;
}

const bjvmi_sparse *bjvmi_sparse_new(const bjvm_plan *plan, upb_Arena *arena) {
  size_t size = bjvmi_upb_message_size(plan->table);
  if (plan->kind != BJVMI_KIND_MESSAGE || plan->word_count < BJVMI_SPARSE_LEAST ||
      plan->word_count > BJVMI_SPARSE_MOST || !is_found_by_bytes(plan))
    return NULL;
  bjvmi_sparse *s = (bjvmi_sparse *)upb_Arena_Malloc(arena, sizeof *s);
  if (!s) return NULL;
  find_hasbits(plan, s);
  s->unit_count = (uint32_t)(size / UNIT); /* upb's messages are multiples of 8 bytes */
  uint16_t *starts = (uint16_t *)upb_Arena_Malloc(arena, (s->unit_count + 1) * sizeof *starts);
  if (!starts) return NULL;
  uint32_t count = place_units(plan, starts, s->unit_count);
  uint16_t *of_bit = (uint16_t *)upb_Arena_Malloc(arena, (bit_count(s) + count + 1) * sizeof *of_bit);
  if (!of_bit) return NULL;
  uint16_t *words = of_bit + bit_count(s);
  fill(plan, s, of_bit, starts, words);
  s->of_bit = of_bit;
  s->starts = starts;
  s->words = words;
  return s;
}

/* -- Using ----------------------------------------------------------------------------------------------- */

static inline void mark(uint64_t *marks, uint32_t word) { marks[word / 64] |= (uint64_t)1 << (word % 64); }

static inline uint32_t unit_at(const char *msg, size_t unit) {
  uint32_t v;
  memcpy(&v, msg + unit * UNIT, UNIT);
  return v;
}

static void mark_hasbits(const bjvmi_sparse *s, const char *msg, uint64_t *marks) {
  const uint16_t *of_bit = s->of_bit;
  for (uint32_t i = s->first_bits; i < s->bits_end; i++, of_bit += UNIT_BITS) {
    for (uint32_t v = bjvmi_le32(unit_at(msg, i)); v != 0; v &= v - 1) {
      uint16_t word = of_bit[__builtin_ctz(v)];
      if (word != UINT16_MAX) mark(marks, word);
    }
  }
}

/* Bit i: unit `first` + i is not zero. Without a branch: which ones are is random. */
static uint64_t units_in_use(const char *msg, size_t first, size_t count) {
  uint64_t bits = 0;
  size_t i = 0;
#ifdef BJVMI_HAVE_SSE2
  const __m128i zero = _mm_setzero_si128();
  const __m128i *v = (const __m128i *)(const void *)(msg + first * UNIT);
  for (; i + 16 <= count; i += 16, v += 4) {
    __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(v), zero),
                                _mm_cmpeq_epi32(_mm_loadu_si128(v + 1), zero));
    __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(v + 2), zero),
                                _mm_cmpeq_epi32(_mm_loadu_si128(v + 3), zero));
    bits |= (uint64_t)((uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b)) ^ 0xffff) << i;
  }
#endif
  for (; i < count; i++) bits |= (uint64_t)(unit_at(msg, first + i) != 0) << i;
  return bits;
}

static void mark_row(const bjvmi_sparse *s, size_t first, uint64_t bits, uint64_t *marks) {
  for (; bits != 0; bits &= bits - 1) {
    const uint16_t *start = &s->starts[first + (size_t)__builtin_ctzll(bits)];
    for (uint32_t i = start[0]; i < start[1]; i++) mark(marks, s->words[i]);
  }
}

/* Many rows are read before the first is asked: a branch on bytes that are not in the cache yet would keep the next row's
 * from being fetched meanwhile. */
static void mark_units(const bjvmi_sparse *s, const char *msg, uint64_t *marks) {
  uint64_t bits[ROWS];
  for (size_t first = 0; first < s->unit_count; first += ROWS * ROW) {
    size_t rows = 0;
    for (size_t at = first; rows < ROWS && at < s->unit_count; at += ROW, rows++) {
      size_t count = s->unit_count - at < ROW ? s->unit_count - at : ROW;
      bits[rows] = units_in_use(msg, at, count);
    }
    for (size_t i = 0; i < rows; i++) mark_row(s, first + i * ROW, bits[i], marks);
  }
}

size_t bjvmi_sparse_list(const bjvmi_sparse *s, uint32_t word_count, const bjvmi_word *words, const void *msg,
                         bjvmi_word *list, size_t room) {
  uint64_t marks[BJVMI_SPARSE_MOST / 64];
  size_t rows = ((size_t)word_count + 63) / 64;
  size_t count = 0;
  memset(marks, 0, rows * sizeof *marks);
  mark_hasbits(s, (const char *)msg, marks);
  mark_units(s, (const char *)msg, marks);
  for (size_t row = 0; row < rows; row++) {
    for (uint64_t m = marks[row]; m != 0; m &= m - 1) {
      if (count == room) return room;
      list[count++] = words[row * 64 + (size_t)__builtin_ctzll(m)];
    }
  }
  return count;
}

#endif
