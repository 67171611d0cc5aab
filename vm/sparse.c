/* The index of a wide message's words by the bits that tell whether they are set, and lists of words made with it.
 *
 * Neighbours: bind.c makes the index, encode_vm.c runs the lists. Invariant: each bit that is looked at stands for one
 * word, or for one oneof, and every word for one bit; so a word that prints something is in the list, once.
 *
 * Which fields are set is random, and a branch that depends on it costs as much as forty instructions; where few are set
 * there are next to none.
 */
#include "sparse.h"

#ifndef BJVM_SIZE_SMALL

#include <string.h>

#include "sparse_rows.h"
#include "upb_layout.h"

#ifdef BJVMI_HAVE_SSE2
#include <emmintrin.h>
#endif

enum { FEW = 8 }; /* words that are put in order without branches */

/* log2 of the bits of a unit */
static const uint8_t unit_lg2[BJVMI_ROW_SORTS] = {0, 3, 5, 6, 5};

struct bjvmi_sparse {
  bjvmi_rows rows;
  uint32_t message_size;
};

/* -- Making ---------------------------------------------------------------------------------------------- */

/* The bits of a message that tell whether a word is set. */
typedef struct place {
  bjvmi_row_sort sort;
  uint32_t first; /* from the start of the message; a multiple of how many there are */
} place;

static bjvmi_row_sort sort_of_size(size_t size) {
  return size == 1 ? BJVMI_ROW_UNITS_1 : size == 4 ? BJVMI_ROW_UNITS_4 : BJVMI_ROW_UNITS_8;
}

static place place_of(const bjvmi_word *w) {
  bjvmi_kind kind = BJVMI_OP_KIND(w->op);
  uint32_t at = 8 * (uint32_t)w->offset;
  switch (BJVMI_OP_FORM(w->op)) {
    case BJVMI_FORM_HASBIT: return (place){BJVMI_ROW_HASBITS, w->presence};
    case BJVMI_FORM_ONEOF: return (place){BJVMI_ROW_CASES, 8 * (uint32_t)w->presence};
    case BJVMI_FORM_IMPLICIT:
      if (kind != BJVMI_KIND_STRING && kind != BJVMI_KIND_BYTES)
        return (place){sort_of_size(bjvmi_kind_size(kind)), at};
      return (place){sort_of_size(sizeof(size_t)), at + 8 * (uint32_t)sizeof(char *)}; /* the size */
    default: return (place){sort_of_size(sizeof(void *)), at}; /* a pointer to an array or map */
  }
}

/* Words that print whatever is set have no place: only variants have them. */
static bool is_found_by_bits(const bjvm_plan *plan) {
  for (uint32_t i = 0; i < plan->word_count; i++) {
    bjvmi_form form = (bjvmi_form)BJVMI_OP_FORM(plan->words[i].op);
    if (form == BJVMI_FORM_ALWAYS || form == BJVMI_FORM_ARRAY_ALWAYS) return false;
  }
  return true;
}

/* The bits [low, end) of the message in which the places of each sort lie. */
typedef struct zones {
  uint32_t low[BJVMI_ROW_SORTS];
  uint32_t end[BJVMI_ROW_SORTS];
} zones;

static zones find_zones(const bjvm_plan *plan) {
  zones z;
  memset(z.low, 0xff, sizeof z.low);
  memset(z.end, 0, sizeof z.end);
  for (uint32_t i = 0; i < plan->word_count; i++) {
    place p = place_of(&plan->words[i]);
    if (p.first < z.low[p.sort]) z.low[p.sort] = p.first;
    if (p.first >= z.end[p.sort]) z.end[p.sort] = p.first + 1;
  }
  z.low[BJVMI_ROW_HASBITS] &= ~(uint32_t)7;
  return z;
}

static uint32_t row_bits(uint32_t sort) { return (uint32_t)BJVMI_ROW << unit_lg2[sort]; }

/* Sets the starts of the sorts; returns how many rows there are, or 0: too many. */
static uint32_t count_rows(const zones *z, uint8_t *starts) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < BJVMI_ROW_SORTS; s++) {
    starts[s] = (uint8_t)count;
    if (z->end[s]) count += (z->end[s] - z->low[s] - 1) / row_bits(s) + 1;
    if (count > BJVMI_ROWS_MOST) return 0;
  }
  starts[BJVMI_ROW_SORTS] = (uint8_t)count;
  return count;
}

/* Where a row would reach past the end of the message it starts earlier; what it has in common with the row before is not
 * in its mask. */
static void place_rows(const zones *z, uint32_t message_size, const uint8_t *starts, bjvmi_row *rows) {
  uint32_t size = message_size > BJVMI_ROW_BYTES_MOST ? message_size : BJVMI_ROW_BYTES_MOST;
  for (uint32_t s = 0; s < BJVMI_ROW_SORTS; s++) {
    uint32_t bytes = row_bits(s) / 8;
    uint32_t offset = z->low[s] / 8;
    for (uint32_t i = starts[s]; i < starts[s + 1]; i++, offset += bytes)
      rows[i] = (bjvmi_row){0, offset + bytes <= size ? offset : size - bytes};
  }
}

/* False: a word has no bit of its own. upb lays out no such message. */
static bool place_words(const bjvm_plan *plan, const zones *z, const uint8_t *starts, bjvmi_row *rows,
                        uint16_t *words) {
  for (uint32_t i = 0; i < plan->word_count; i++) {
    place p = place_of(&plan->words[i]);
    uint32_t in_row = starts[p.sort] + (p.first - z->low[p.sort]) / row_bits(p.sort);
    uint32_t from = p.first - 8 * rows[in_row].offset;
    uint32_t bit = from >> unit_lg2[p.sort];
    uint64_t mask = (uint64_t)1 << bit;
    bool taken = p.sort != BJVMI_ROW_CASES && (rows[in_row].mask & mask);
    if (taken || bit << unit_lg2[p.sort] != from) return false;
    rows[in_row].mask |= mask;
    words[in_row * BJVMI_ROW + bit] = (uint16_t)i;
  }
  return true;
}

static bool make_rows(const bjvm_plan *plan, uint32_t message_size, bjvmi_rows *made, upb_Arena *arena) {
  zones z = find_zones(plan);
  size_t count = count_rows(&z, made->starts);
  if (count == 0) return false;
  size_t word_count = count * BJVMI_ROW;
  bjvmi_row *rows =
      (bjvmi_row *)upb_Arena_Malloc(arena, count * sizeof *rows + word_count * sizeof(uint16_t));
  if (!rows) return false;
  uint16_t *words = (uint16_t *)(rows + count);
  memset(words, 0, word_count * sizeof *words);
  made->rows = rows;
  made->words = words;
  place_rows(&z, message_size, made->starts, rows);
  return place_words(plan, &z, made->starts, rows, words);
}

const bjvmi_sparse *bjvmi_sparse_new(const bjvm_plan *plan, upb_Arena *arena) {
  size_t size = bjvmi_upb_message_size(plan->table);
  if (plan->kind != BJVMI_KIND_MESSAGE || plan->word_count < BJVMI_SPARSE_LEAST ||
      plan->word_count > BJVMI_SPARSE_MOST || size % 8 != 0 || !is_found_by_bits(plan))
    return NULL;
  bjvmi_sparse *s = (bjvmi_sparse *)upb_Arena_Malloc(arena, sizeof *s);
  if (!s || !make_rows(plan, (uint32_t)size, &s->rows, arena)) return NULL;
  s->message_size = (uint32_t)size;
  return s;
}

/* Up to three lines behind the message come too. Of one larger than FETCHED the processor has seen by then where the reading
 * goes. */
void bjvmi_sparse_fetch(const bjvmi_sparse *s, const void *msg) {
  enum { LINE = 64, FETCHED = 4096 };
  const char *p = (const char *)msg;
  const char *end = p + (s->message_size < FETCHED ? s->message_size : FETCHED);
  for (; p < end; p += 4 * LINE) {
    __builtin_prefetch(p);
    __builtin_prefetch(p + LINE);
    __builtin_prefetch(p + 2 * LINE);
    __builtin_prefetch(p + 3 * LINE);
  }
}

/* -- From bits to words, in any order --------------------------------------------------------------------- */

/* Writes the places of all bits of `rows` rows, from the first on, to `places`; returns how many. One loop for all rows:
 * its end is the one branch that is not foreseen. */
static size_t take_all(uint64_t *bits, size_t rows, uint16_t *places) {
  uint8_t used[BJVMI_ROWS_MOST + 1];
  size_t used_count = 0;
  size_t count = 0;
  for (size_t i = 0; i < rows; i++) {
    used[used_count] = (uint8_t)i;
    used_count += bits[i] != 0;
  }
  for (size_t i = 0; i < used_count;) {
    size_t r = used[i];
    uint64_t b = bits[r];
    places[count++] = (uint16_t)(r * BJVMI_ROW + (size_t)__builtin_ctzll(b));
    bits[r] = b & (b - 1);
    i += bits[r] == 0;
  }
  return count;
}

/* The word with this number that is a member of the oneof with its case at `presence`, or `count`. */
static size_t find_member(const bjvmi_word *words, size_t count, uint32_t number, uint32_t presence) {
  size_t low = number - 1;
  if (low >= count || words[low].number != number) {
    low = 0;
    for (size_t n = count; n > 1; n -= n / 2)
      if (words[low + n / 2].number <= number) low += n / 2;
  }
  const bjvmi_word *w = &words[low];
  bool is_member = w->number == number && BJVMI_OP_FORM(w->op) == BJVMI_FORM_ONEOF && w->presence == presence;
  return is_member ? low : count;
}

static size_t take_members(const bjvmi_rows *r, size_t word_count, const bjvmi_word *words, const char *msg,
                           const uint64_t *bits, uint16_t *found, size_t count) {
  for (size_t i = r->starts[BJVMI_ROW_CASES]; i < r->starts[BJVMI_ROW_CASES + 1]; i++) {
    for (uint64_t b = bits[i]; b != 0; b &= b - 1) {
      uint32_t presence = r->rows[i].offset + 4 * (uint32_t)__builtin_ctzll(b);
      size_t member = find_member(words, word_count, bjvmi_upb_oneof_case(msg, presence), presence);
      found[count] = (uint16_t)member;
      count += member != word_count;
    }
  }
  return count;
}

static size_t find_words(const bjvmi_rows *r, const bjvmi_kernels *kernels, size_t word_count,
                         const bjvmi_word *words, const char *msg, uint16_t *found) {
  uint64_t bits[BJVMI_ROWS_MOST];
  bjvmi_rows_found first = kernels->read_rows(r, msg, bits, found);
  size_t count = first.count;
  if (first.left) {
    size_t end = count + take_all(bits, r->starts[BJVMI_ROW_CASES], found + count);
    for (; count < end; count++) found[count] = r->words[found[count]];
  }
  return take_members(r, word_count, words, msg, bits, found, count);
}

/* -- In the order of output -------------------------------------------------------------------------------- */

#ifdef BJVMI_HAVE_SSE2
/* Element by element, as they were stored: a load of all would have to wait until the stores are in the cache. */
static inline __m128i four(const uint16_t *p) {
  __m128i v = _mm_cvtsi32_si128(p[0]);
  v = _mm_insert_epi16(v, p[1], 1);
  v = _mm_insert_epi16(v, p[2], 2);
  return _mm_insert_epi16(v, p[3], 3);
}
#endif

/* Copies the FEW words at `found`, of which those that are greatest need not be told apart; list has room for FEW. Each goes
 * where as many are in front of it as are less than it. */
static void put_few(const bjvmi_word *words, const uint16_t *found, bjvmi_word *list) {
#ifdef BJVMI_HAVE_SSE2
  __m128i v = four(found);
  __m128i high = four(found + 4);
  __m128i low = _mm_unpacklo_epi16(v, v);
  v = _mm_unpacklo_epi64(v, high);
  high = _mm_unpacklo_epi16(high, high);
  __m128i rank = _mm_set1_epi16(FEW - 1);
#define COUNT(half, i) rank = _mm_add_epi16(rank, _mm_cmpgt_epi16(_mm_shuffle_epi32(half, (i)*0x55), v))
  COUNT(low, 0);
  COUNT(low, 1);
  COUNT(low, 2);
  COUNT(low, 3);
  COUNT(high, 0);
  COUNT(high, 1);
  COUNT(high, 2);
  COUNT(high, 3);
#undef COUNT
  uint16_t ranks[FEW];
  _mm_storeu_si128((__m128i *)(void *)ranks, rank);
#else
  uint16_t ranks[FEW];
  for (size_t i = 0; i < FEW; i++) {
    unsigned greater = 0;
    for (size_t k = 0; k < FEW; k++) greater += found[k] > found[i];
    ranks[i] = (uint16_t)(FEW - 1 - greater);
  }
#endif
  for (size_t i = 0; i < FEW; i++) list[ranks[i]] = words[found[i]];
}

static void put_many(const bjvmi_word *words, uint16_t *found, size_t count, size_t word_count,
                     bjvmi_word *list) {
  uint64_t marks[BJVMI_SPARSE_MOST / 64];
  size_t rows = (word_count + 63) / 64;
  memset(marks, 0, rows * sizeof *marks);
  for (size_t i = 0; i < count; i++) marks[found[i] / 64] |= (uint64_t)1 << (found[i] % 64);
  take_all(marks, rows, found);
  for (size_t i = 0; i < count; i++) list[i] = words[found[i]];
}

/* Not inlined: where gcc knows that the size is small it makes string instructions of these, which take longer. */
static __attribute__((noinline)) void pad(char *to, size_t room, const void *from, size_t size) {
  memcpy(to, from, size);
  memset(to + size, 0, room - size);
}

size_t bjvmi_sparse_list(const bjvmi_sparse *s, const bjvmi_kernels *kernels, uint32_t word_count,
                         const bjvmi_word *words, const void *msg, bjvmi_word *list, size_t room) {
  uint16_t found[BJVMI_SPARSE_MOST + FEW];
  char padded[BJVMI_ROW_BYTES_MOST]; /* rows may be longer than a small message */
  const char *bytes = (const char *)msg;
  if (s->message_size < sizeof padded) {
    pad(padded, sizeof padded, msg, s->message_size);
    bytes = padded;
  }
  size_t count = find_words(&s->rows, kernels, word_count, words, bytes, found);
  if (count >= room) return room;
  if (count <= FEW && room >= FEW) {
    for (size_t i = 0; i < FEW; i++) found[count + i] = (uint16_t)word_count;
    put_few(words, found, list);
  } else {
    put_many(words, found, count, word_count, list);
  }
  return count;
}

#endif
