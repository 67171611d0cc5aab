/* Timestamp and Duration between their fields and their text.
 *
 * The VM calls these between the quotes of a value; mask.c is the neighbour for FieldMask. A timestamp in one
 * of the forms that the printer makes is read by words; anything else, and every error, goes to the reader
 * that walks. The calendar is the Gregorian one in both directions, counted in 400-year cycles from 1 March
 * of year 0, so that the leap day is the last of its year.
 * Kept: reads inside [p, p + size); printing touches at most BJVMI_TIME_ROOM bytes.
 * Source: RFC 3339; the ProtoJSON page of the Protocol Buffers documentation.
 */
#include "time_text.h"
#include "num_wide.h"

#include <string.h>

enum {
  DAYS_400 = 146097,      /* days of 400 years: 400 * 365 + 97 */
  DAYS_TO_EPOCH = 719468, /* from 0000-03-01 to 1970-01-01 */
  DAY_SECONDS = 86400,
  NANOS = BJVMI_NANOS,
};

bool bjvmi_duration_valid(int64_t seconds, int32_t nanos) {
  if (seconds < -BJVMI_DURATION_MAX || seconds > BJVMI_DURATION_MAX) return false;
  if (nanos <= -NANOS || nanos >= NANOS) return false;
  return !(seconds < 0 && nanos > 0) && !(seconds > 0 && nanos < 0);
}

/* Printing. */

#ifdef BJVM_SIZE_SMALL

static void put2(char *o, uint32_t v) {
  o[0] = (char)('0' + v / 10);
  o[1] = (char)('0' + v % 10);
}

#else

static const char pairs[200] = {
#define TEN(t) t, '0', t, '1', t, '2', t, '3', t, '4', t, '5', t, '6', t, '7', t, '8', t, '9'
    TEN('0'), TEN('1'), TEN('2'), TEN('3'), TEN('4'), TEN('5'), TEN('6'), TEN('7'), TEN('8'), TEN('9'),
#undef TEN
};

static inline void put2(char *o, uint32_t v) { memcpy(o, pairs + 2 * v, 2); }

#endif

/* 0, 3, 6 or 9 digits behind a point, as few as hold the value. */
static char *put_fraction(char *o, uint32_t nanos) {
  if (nanos == 0) return o;
  uint32_t millis = nanos / 1000000, rest = nanos % 1000000, micros = rest / 1000, last = rest % 1000;
  o[0] = '.';
  o[1] = (char)('0' + millis / 100);
  put2(o + 2, millis % 100);
  if (rest == 0) return o + 4;
  o[4] = (char)('0' + micros / 100);
  put2(o + 5, micros % 100);
  if (last == 0) return o + 7;
  o[7] = (char)('0' + last / 100);
  put2(o + 8, last % 100);
  return o + 10;
}

/* "YYYY-MM-DD" of a day counted from 0000-03-01. Adding 3 to four times a day count puts the long year
 * (century) of each cycle last, where a plain division finds it. Years and months are then found by a multiplication
 * each: the high half of a product is the quotient, and the low half, taken back by the same factor, the rest; the
 * factors are exact for what is asked here (C. Neri, L. Schneider, "Euclidean affine functions and their application to
 * calendar algorithms", 2022). Without a branch on January and February, which belong to the next year. */
static void put_date(char *o, uint32_t day) {
  uint32_t n = 4 * day + 3, century = n / DAYS_400;
  uint64_t years = (uint64_t)(n % DAYS_400 | 3) * 2939745; /* 2^32 / 1461, rounded up */
  uint32_t year = (uint32_t)(years >> 32), of_year = (uint32_t)years / 2939745 / 4;
  uint32_t months = 2141 * of_year + 197913; /* from March, which is 3; 2^16 / 30.6 */
  uint32_t of_month = (months & 0xffff) / 2141;
  uint32_t late = of_year >= 306; /* January or February */
  year += late;
  uint32_t next = year == 100;
  put2(o, century + next);
  put2(o + 2, year - 100 * next);
  o[4] = '-';
  put2(o + 5, (months >> 16) - 12 * late);
  o[7] = '-';
  put2(o + 8, of_month + 1);
}

char *bjvmi_timestamp_print(char *o, int64_t seconds, int32_t nanos) {
  uint64_t since = (uint64_t)(seconds + (int64_t)DAYS_TO_EPOCH * DAY_SECONDS);
  uint32_t day = (uint32_t)(since / DAY_SECONDS), second = (uint32_t)(since % DAY_SECONDS),
           minute = second / 60;
  put_date(o, day);
  o[10] = 'T';
  put2(o + 11, minute / 60);
  o[13] = ':';
  put2(o + 14, minute % 60);
  o[16] = ':';
  put2(o + 17, second % 60);
  o = put_fraction(o + 19, (uint32_t)nanos);
  *o = 'Z';
  return o + 1;
}

char *bjvmi_duration_print(char *o, int64_t seconds, int32_t nanos) {
  char digits[20];
  unsigned n = sizeof digits;
  uint64_t left = (uint64_t)(seconds < 0 ? -seconds : seconds);
  if (seconds < 0 || nanos < 0) *o++ = '-';
  for (; left >= 100; left /= 100) put2(digits + (n -= 2), (uint32_t)(left % 100));
  put2(digits + (n -= 2), (uint32_t)left);
  if (left < 10) n++;
  memcpy(o, digits + n, sizeof digits - n);
  o = put_fraction(o + (sizeof digits - n), (uint32_t)(nanos < 0 ? -nanos : nanos));
  *o = 's';
  return o + 1;
}

/* Reading. */

static uint32_t month_days(uint32_t year, uint32_t month) {
  static const uint8_t days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month] + (month == 2 && leap ? 1u : 0u);
}

typedef struct moment {
  uint32_t year, month, day, hour, minute, second, nanos;
} moment;

BJVMI_NUM_HOT int64_t to_seconds(const moment *m) {
  uint32_t before = m->month <= 2;        /* then the year began in March of the year before */
  uint32_t year = m->year + 400 - before; /* 400 more: year 0 must not go below zero */
  uint32_t month = m->month + 12 * before - 3;
  uint32_t day = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + m->day - 1;
  int64_t days = (int64_t)day - DAYS_400 - DAYS_TO_EPOCH;
  return days * DAY_SECONDS + (int64_t)(m->hour * 3600 + m->minute * 60 + m->second);
}

#ifndef BJVM_SIZE_SMALL
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes against a form in which '0' stands for a digit. Leaves digits as 0..9 and the other places as
 * 0, and sets the high bit of *bad's bytes where it does not fit. `other` has 0xFF at the places that are not
 * digits. */
static inline uint64_t fit(const char *p, uint64_t form, uint64_t other, uint64_t *bad) {
  uint64_t v = bjvmi_num_load8(p) ^ form;
  /* A digit may be up to 9, so that 0x76 carries into bit 7 from 10 on; another place only 0, so 0x7F from 1
   * on. A carry out of a byte needs that byte >= 0x81, which is bad by itself. */
  *bad |= (v + (EACH(0x76) | (other & EACH(0x09)))) | v;
  return v;
}

/* At each byte, ten times the digit there plus the next one. */
static inline uint64_t join(uint64_t v) { return v * 10 + (v >> 8); }
static inline uint32_t byte_at(uint64_t v, unsigned i) { return (uint32_t)(v >> 8 * i) & 0xFF; }

/* The n digits at p, 3, 6 or 9, as nanoseconds; 8 bytes before p can be read. UINT32_MAX for a byte that is none. */
static uint32_t read_fraction(const char *p, unsigned n) {
  static const uint32_t unit[10] = {[3] = 1000000, [6] = 1000, [9] = 1};
  unsigned others = n < 8 ? 8 - n : 0;
  uint64_t digits = bjvmi_num_load8(p + n - 8) ^ EACH('0');
  digits = digits >> 8 * others << 8 * others; /* what stands before them becomes leading zeros */
  uint32_t first = n == 9 ? (uint32_t)(uint8_t)*p - '0' : 0;
  if ((((digits + EACH(0x76)) | digits) & EACH(0x80)) || first > 9) return UINT32_MAX;
  return ((uint32_t)bjvmi_num_join8(digits) + first * 100000000) * unit[n];
}

/* The forms of 20, 24, 27 and 30 bytes that end in Z. False: not one of them, or not right. */
static bool read_canonical(const char *p, size_t size, int64_t *seconds, int32_t *nanos) {
  if ((size != 20 && size != 24 && size != 27 && size != 30) || p[size - 1] != 'Z') return false;
  uint64_t bad = 0;
  /* As numbers with the first byte lowest: "0000-00-", "00T00:00", "00:00:00". */
  uint64_t date = fit(p, UINT64_C(0x2D30302D30303030), UINT64_C(0xFF0000FF00000000), &bad);
  uint64_t hour = fit(p + 8, UINT64_C(0x30303A3030543030), UINT64_C(0x0000FF0000FF0000), &bad);
  uint64_t time = fit(p + 11, UINT64_C(0x30303A30303A3030), UINT64_C(0x0000FF0000FF0000), &bad);
  if (bad & EACH(0x80)) return false;
  date = join(date);
  hour = join(hour);
  time = join(time);
  moment m = {byte_at(date, 0) * 100 + byte_at(date, 2),
              byte_at(date, 5),
              byte_at(hour, 0),
              byte_at(time, 0),
              byte_at(time, 3),
              byte_at(time, 6),
              0};
  if (m.year == 0 || m.month - 1 > 11 || m.hour > 23 || m.minute > 59 || m.second > 59) return false;
  if (m.day - 1 >= 28 && (m.day == 0 || m.day > month_days(m.year, m.month))) return false;
  if (size > 20) {
    if (p[19] != '.') return false;
    m.nanos = read_fraction(p + 20, (unsigned)size - 21);
    if (m.nanos == UINT32_MAX) return false;
  }
  *seconds = to_seconds(&m);
  *nanos = (int32_t)m.nanos;
  return true;
}

#endif

/* The walking reader. `p` is the next byte; on the first fault `bad` holds its place and p stays there. */
typedef struct reader {
  const char *p, *end, *bad;
} reader;

static void fail(reader *r, const char *place) {
  if (!r->bad) r->bad = place;
}

static void expect(reader *r, char c) {
  if (r->bad) return;
  if (r->p == r->end || *r->p != c) fail(r, r->p);
  else r->p++;
}

/* `n` digits with a value from low to high; a value out of range is a fault at its first digit. */
static uint32_t number(reader *r, unsigned n, uint32_t low, uint32_t high) {
  const char *start = r->p;
  uint32_t v = 0;
  for (; n > 0 && !r->bad; n--) {
    uint32_t digit = r->p == r->end ? 10 : (uint32_t)(uint8_t)*r->p - '0';
    if (digit > 9) {
      fail(r, r->p);
      return low;
    }
    v = v * 10 + digit;
    r->p++;
  }
  if (v < low || v > high) fail(r, start);
  return r->bad ? low : v;
}

/* Nothing, or a point and 1 to 9 digits. */
static uint32_t fraction(reader *r) {
  if (r->bad || r->p == r->end || *r->p != '.') return 0;
  r->p++;
  uint32_t v = number(r, 1, 0, 9), scale = NANOS / 10;
  for (; !r->bad && scale > 1 && r->p < r->end && (uint32_t)(uint8_t)*r->p - '0' <= 9; scale /= 10, r->p++)
    v = v * 10 + (uint32_t)(*r->p - '0');
  return v * scale;
}

/* Z, or a sign and hh:mm; seconds to take away. */
static int64_t offset(reader *r) {
  if (r->bad || r->p == r->end || (*r->p != '+' && *r->p != '-')) {
    expect(r, 'Z');
    return 0;
  }
  bool minus = *r->p++ == '-';
  uint32_t hours = number(r, 2, 0, 23);
  expect(r, ':');
  int64_t v = (int64_t)(hours * 3600 + number(r, 2, 0, 59) * 60);
  return minus ? -v : v;
}

static const char *read_walking(const char *p, size_t size, int64_t *seconds, int32_t *nanos) {
  reader r = {p, p + size, NULL};
  moment m = {0, 0, 0, 0, 0, 0, 0};
  m.year = number(&r, 4, 0, 9999); /* 0000 may be right with an offset */
  expect(&r, '-');
  m.month = number(&r, 2, 1, 12);
  expect(&r, '-');
  if (r.bad) return r.bad;
  m.day = number(&r, 2, 1, month_days(m.year, m.month));
  expect(&r, 'T');
  m.hour = number(&r, 2, 0, 23);
  expect(&r, ':');
  m.minute = number(&r, 2, 0, 59);
  expect(&r, ':');
  m.second = number(&r, 2, 0, 59);
  m.nanos = fraction(&r);
  const char *zone = r.p;
  int64_t shift = offset(&r);
  if (!r.bad && r.p != r.end) fail(&r, r.p);
  if (r.bad) return r.bad;
  int64_t local = to_seconds(&m), instant = local - shift;
  if (!bjvmi_timestamp_valid(instant, 0)) return bjvmi_timestamp_valid(local, 0) ? zone : p;
  *seconds = instant;
  *nanos = (int32_t)m.nanos;
  return NULL;
}

const char *bjvmi_timestamp_read(const char *p, size_t size, int64_t *seconds, int32_t *nanos) {
#ifndef BJVM_SIZE_SMALL
  if (read_canonical(p, size, seconds, nanos)) return NULL;
#endif
  return read_walking(p, size, seconds, nanos);
}

const char *bjvmi_duration_read(const char *p, size_t size, int64_t *seconds, int32_t *nanos) {
  reader r = {p, p + size, NULL};
  bool minus = size > 0 && *p == '-';
  if (minus) r.p++;
  const char *start = r.p;
  uint64_t whole = number(&r, 1, 0, 9);
  for (; !r.bad && r.p < r.end && (uint32_t)(uint8_t)*r.p - '0' <= 9; r.p++) {
    if (whole <= BJVMI_DURATION_MAX)
      whole = whole * 10 + (uint64_t)(*r.p - '0'); /* beyond, it stays too large */
  }
  uint32_t part = fraction(&r);
  expect(&r, 's');
  if (!r.bad && r.p != r.end) fail(&r, r.p);
  if (!r.bad && whole > BJVMI_DURATION_MAX) fail(&r, start);
  if (r.bad) return r.bad;
  *seconds = minus ? -(int64_t)whole : (int64_t)whole;
  *nanos = minus ? -(int32_t)part : (int32_t)part;
  return NULL;
}
