/* Timestamps, durations and field masks: round trips over the whole range, borders, and the place of each
 * fault. */
#define _DEFAULT_SOURCE
#include "time_text.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guard.h"

static unsigned days_of(unsigned year, unsigned month) {
  if (month == 2) return year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static char *text_end;

static void setup(void) { text_end = guard_end(256); }

/* Reads a copy that ends at a guard page. Returns the bad place, -1 when right. */
static ptrdiff_t read_at(bool duration, const char *text, size_t size, int64_t *seconds, int32_t *nanos) {
  char *p = memcpy(text_end - size, text, size);
  const char *bad = (duration ? bjvmi_duration_read : bjvmi_timestamp_read)(p, size, seconds, nanos);
  return bad ? bad - p : -1;
}

static void check_stamp(const char *want, int64_t seconds, int32_t nanos) {
  char out[BJVMI_TIME_ROOM];
  size_t n = (size_t)(bjvmi_timestamp_print(out, seconds, nanos) - out);
  cr_assert(n == strlen(want) && memcmp(out, want, n) == 0, "%" PRId64 ": printed %.*s, want %s", seconds,
            (int)n, out, want);
  int64_t s = 0;
  int32_t ns = 0;
  ptrdiff_t bad = read_at(false, want, n, &s, &ns);
  cr_assert(bad < 0 && s == seconds && ns == nanos, "%s: bad place %td, %" PRId64 " %" PRId32, want, bad, s,
            ns);
}

static void put_number(char *o, size_t digits, unsigned v) {
  for (; digits > 0; v /= 10) o[--digits] = (char)('0' + v % 10);
}

/* Counts the calendar day by day; the day after the last one of a month is refused. */
Test(time, every_day, .init = setup) {
  int64_t seconds = BJVMI_TIMESTAMP_MIN, s;
  int32_t ns;
  char text[] = "yyyy-mm-ddT00:00:00Z";
  for (unsigned year = 1; year <= 9999; year++) {
    put_number(text, 4, year);
    for (unsigned month = 1; month <= 12; month++) {
      unsigned days = days_of(year, month);
      put_number(text + 5, 2, month);
      for (unsigned day = 1; day <= days; day++, seconds += 86400) {
        put_number(text + 8, 2, day);
        check_stamp(text, seconds, 0);
      }
      put_number(text + 8, 2, days + 1);
      cr_assert(read_at(false, text, strlen(text), &s, &ns) == 8, "%s is no day", text);
    }
  }
  cr_assert(seconds == INT64_C(253402300800));
}

Test(time, every_second_of_a_day_and_fractions, .init = setup) {
  for (unsigned s = 0; s < 86400; s++) {
    char want[64];
    snprintf(want, sizeof want, "1969-12-31T%02u:%02u:%02uZ", s / 3600, s / 60 % 60, s % 60);
    check_stamp(want, (int64_t)s - 86400, 0);
  }
  for (unsigned k = 0; k < 20000; k++) {
    char want[64];
    unsigned v = k < 1000 ? k : (k * 2654435761u >> 3) % 1000000000u;
    snprintf(want, sizeof want, "2000-02-29T23:59:59.%09uZ", v);
    if (v % 1000) check_stamp(want, 951868799, (int32_t)v);
    unsigned micros = 1 + v % 999999, millis = 1 + v % 999;
    snprintf(want, sizeof want, micros % 1000 ? "2000-02-29T23:59:59.%06uZ" : "2000-02-29T23:59:59.%03uZ",
             micros % 1000 ? micros : micros / 1000);
    check_stamp(want, 951868799, (int32_t)micros * 1000);
    snprintf(want, sizeof want, "2000-02-29T23:59:59.%03uZ", millis);
    check_stamp(want, 951868799, (int32_t)millis * 1000000);
  }
}

static void check_read(bool duration, size_t row, const char *text, int bad, int64_t seconds, int32_t nanos) {
  int64_t s = 0;
  int32_t ns = 0;
  ptrdiff_t got = read_at(duration, text, strlen(text), &s, &ns);
  cr_assert(got == bad, "row %zu, %s: bad place %td, want %d", row, text, got, bad);
  cr_assert(bad >= 0 || (s == seconds && ns == nanos), "row %zu, %s: got %" PRId64 " %" PRId32, row, text, s,
            ns);
}

Test(time, timestamp_read, .init = setup) {
  static const struct {
    const char *text;
    int bad;
    int64_t seconds;
    int32_t nanos;
  } table[] = {
      {"0001-01-01T00:00:00Z", -1, BJVMI_TIMESTAMP_MIN, 0},
      {"9999-12-31T23:59:59.999999999Z", -1, BJVMI_TIMESTAMP_MAX, 999999999},
      {"0001-01-01T14:00:00+14:00", -1, BJVMI_TIMESTAMP_MIN, 0},
      {"0000-12-31T23:30:00-00:30", -1, BJVMI_TIMESTAMP_MIN, 0}, /* the instant counts, not the local year */
      {"0001-01-01T00:00:00+00:01", 19, 0, 0},
      {"9999-12-31T23:59:59-00:01", 19, 0, 0},
      {"9999-12-31T23:59:59.5-00:01", 21, 0, 0},
      {"9999-12-31T23:59:59+23:59", -1, BJVMI_TIMESTAMP_MAX - 86340, 0},
      {"0000-12-31T23:59:59Z", 0, 0, 0},
      {"0000-01-01T00:00:00-23:59", 0, 0, 0},
      {"1970-01-01T00:00:00-00:00", -1, 0, 0},
      {"1970-01-01T05:45:00+05:45", -1, 0, 0},
      {"1969-12-31T23:59:59.9Z", -1, -1, 900000000},
      {"1970-01-01T00:00:00.12Z", -1, 0, 120000000},
      {"1970-01-01T00:00:00.1234Z", -1, 0, 123400000},
      {"1970-01-01T00:00:00.00000001Z", -1, 0, 10},
      {"2000-02-29T00:00:00Z", -1, 951782400, 0},
      {"1900-02-29T00:00:00Z", 8, 0, 0},
      {"2021-02-30T00:00:00Z", 8, 0, 0},
      {"2021-04-31T00:00:00Z", 8, 0, 0},
      {"2021-07-00T00:00:00Z", 8, 0, 0},
      {"2021-13-10T00:00:00Z", 5, 0, 0},
      {"2021-00-10T00:00:00Z", 5, 0, 0},
      {"2021-07-10T24:00:00Z", 11, 0, 0},
      {"2021-07-10T10:60:00Z", 14, 0, 0},
      {"2016-12-31T23:59:60Z", 17, 0, 0},
      {"10000-01-01T00:00:00Z", 4, 0, 0},
      {"2021-03-04T05:06:07+0545", 22, 0, 0},
      {"2021-03-04T05:06:07+05", 22, 0, 0},
      {"2021-03-04T05:06:07+24:00", 20, 0, 0},
      {"2021-03-04T05:06:07-05:60", 23, 0, 0},
      {"2021-03-04T05:06:07", 19, 0, 0},
      {"2021-03-04T05:06:07z", 19, 0, 0},
      {"2021-03-04t05:06:07Z", 10, 0, 0},
      {"2021-03-04T05:06:07.Z", 20, 0, 0},
      {"2021-03-04T05:06:07.", 20, 0, 0},
      {"2021-03-04T05:06:07.1234567890Z", 29, 0, 0},
      {"2021-03-04T05:06:07,5Z", 19, 0, 0},
      {"2021-03-04T05:06:07Z ", 20, 0, 0},
      {"2021-03-04T05:06:07ZZ", 20, 0, 0},
      {" 2021-03-04T05:06:07Z", 0, 0, 0},
      {"2021-3-04T05:06:07Z", 6, 0, 0},
      {"-021-03-04T05:06:07Z", 0, 0, 0},
      {"+021-03-04T05:06:07Z", 0, 0, 0},
      {"", 0, 0, 0},
      {"2021-0", 6, 0, 0},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    check_read(false, i, table[i].text, table[i].bad, table[i].seconds, table[i].nanos);
  /* Cut short: the fault is at the end. */
  const char *whole = "2021-03-04T05:06:07.123456789+05:45";
  for (size_t n = 0; n < strlen(whole); n++) {
    int64_t s;
    int32_t ns;
    ptrdiff_t bad = read_at(false, whole, n, &s, &ns);
    cr_assert(bad == (ptrdiff_t)n, "cut to %zu: bad place %td", n, bad);
  }
}

/* The quick reader knows forms that end in Z; the same text with +00:00 is read by the walking one. */
Test(time, quick_and_walking_readers_agree, .init = setup) {
  static const char *const forms[] = {"2024-02-29T23:59:59Z",        "1999-12-31T00:00:00.123Z",
                                      "0001-03-30T19:09:08.123456Z", "9999-11-30T10:20:30.123456789Z",
                                      "2023-02-28T00:00:00Z",        "1900-01-19T09:49:50.999Z"};
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    size_t n = strlen(forms[f]) - 1;
    for (size_t at = 0; at < n; at++) {
      for (unsigned c = 0; c < 256; c++) {
        for (size_t second = 0; second < 3; second++) { /* one byte changed, or the next one with it */
          char quick[64], walking[64];
          memcpy(quick, forms[f], n + 1);
          quick[at] = (char)c;
          if (second && at + 1 < n) quick[at + 1] = (char)(second == 1 ? '0' : c + 0x80);
          memcpy(walking, quick, n);
          memcpy(walking + n, "+00:00", 6);
          int64_t s[2] = {0, 0};
          int32_t ns[2] = {0, 0};
          ptrdiff_t bad[2] = {read_at(false, quick, n + 1, &s[0], &ns[0]),
                              read_at(false, walking, n + 6, &s[1], &ns[1])};
          cr_assert(bad[0] == bad[1] && s[0] == s[1] && ns[0] == ns[1],
                    "%s with byte %zu = %02X (%zu): %td %td", forms[f], at, c, second, bad[0], bad[1]);
        }
      }
    }
  }
}

Test(time, valid) {
  static const struct {
    int64_t seconds;
    int32_t nanos;
    bool timestamp, duration;
  } table[] = {
      {0, 0, true, true},
      {0, -1, false, true},
      {0, 999999999, true, true},
      {0, 1000000000, false, false},
      {0, -1000000000, false, false},
      {0, INT32_MIN, false, false},
      {1, -1, false, false},
      {-1, 1, true, false},
      {-1, -1, false, true},
      {BJVMI_TIMESTAMP_MIN, 0, true, true},
      {BJVMI_TIMESTAMP_MIN - 1, 999999999, false, false},
      {BJVMI_TIMESTAMP_MAX, 999999999, true, true},
      {BJVMI_TIMESTAMP_MAX + 1, 0, false, true},
      {BJVMI_DURATION_MAX, 999999999, false, true},
      {BJVMI_DURATION_MAX + 1, 0, false, false},
      {-BJVMI_DURATION_MAX, -999999999, false, true},
      {-BJVMI_DURATION_MAX - 1, 0, false, false},
      {INT64_MIN, 0, false, false},
      {INT64_MAX, 0, false, false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    cr_assert(bjvmi_timestamp_valid(table[i].seconds, table[i].nanos) == table[i].timestamp,
              "timestamp, row %zu", i);
    cr_assert(bjvmi_duration_valid(table[i].seconds, table[i].nanos) == table[i].duration,
              "duration, row %zu", i);
  }
}

Test(time, durations, .init = setup) {
  static const struct {
    const char *text;
    int bad;
    int64_t seconds;
    int32_t nanos;
    bool canonical; /* prints as read */
  } table[] = {
      {"0s", -1, 0, 0, true},
      {"-0s", -1, 0, 0, false},
      {"-0.000s", -1, 0, 0, false},
      {"1.5s", -1, 1, 500000000, false},
      {"1.500s", -1, 1, 500000000, true},
      {"-0.5s", -1, 0, -500000000, false},
      {"-0.500s", -1, 0, -500000000, true},
      {"-1.000001s", -1, -1, -1000, true},
      {"3.000000001s", -1, 3, 1, true},
      {"007s", -1, 7, 0, false},
      {"0000000000000000000000000000001s", -1, 1, 0, false},
      {"315576000000.999999999s", -1, BJVMI_DURATION_MAX, 999999999, true},
      {"-315576000000.999999999s", -1, -BJVMI_DURATION_MAX, -999999999, true},
      {"315576000001s", 0, 0, 0, false},
      {"-315576000001s", 1, 0, 0, false},
      {"-99999999999999999999999999999999999999999999999999s", 1, 0, 0, false},
      {"18446744073709551617s", 0, 0, 0, false},
      {"", 0, 0, 0, false},
      {"s", 0, 0, 0, false},
      {"-", 1, 0, 0, false},
      {"-s", 1, 0, 0, false},
      {"--1s", 1, 0, 0, false},
      {"+1s", 0, 0, 0, false},
      {".5s", 0, 0, 0, false},
      {"1.s", 2, 0, 0, false},
      {"1.-5s", 2, 0, 0, false},
      {"1.5", 3, 0, 0, false},
      {"1", 1, 0, 0, false},
      {"1S", 1, 0, 0, false},
      {"1ss", 2, 0, 0, false},
      {"1s ", 2, 0, 0, false},
      {" 1s", 0, 0, 0, false},
      {"1 s", 1, 0, 0, false},
      {"1e3s", 1, 0, 0, false},
      {"1.1234567890s", 11, 0, 0, false},
      {"1.5.5s", 3, 0, 0, false},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    check_read(true, i, table[i].text, table[i].bad, table[i].seconds, table[i].nanos);
    if (!table[i].canonical) continue;
    char out[BJVMI_TIME_ROOM];
    size_t n = (size_t)(bjvmi_duration_print(out, table[i].seconds, table[i].nanos) - out);
    cr_assert(n == strlen(table[i].text) && memcmp(out, table[i].text, n) == 0, "row %zu: printed %.*s", i,
              (int)n, out);
  }
  uint64_t state = 7;
  for (size_t i = 0; i < 200000; i++) {
    int64_t s =
        (int64_t)(((uint64_t)guard_random(&state) << 16 ^ guard_random(&state)) % BJVMI_DURATION_MAX) >>
        i % 40;
    int32_t ns = (int32_t)(guard_random(&state) % 1000000000), unit = i % 3 == 0   ? 1
                                                                      : i % 3 == 1 ? 1000
                                                                                   : 1000000;
    ns -= ns % unit;
    bool minus = i % 2 != 0;
    char want[64], out[BJVMI_TIME_ROOM];
    int digits = ns % 1000000 == 0 ? (ns ? 3 : 0) : ns % 1000 == 0 ? 6 : 9;
    snprintf(want, sizeof want, "%s%" PRId64 ".%09" PRId32, minus && (s || ns) ? "-" : "", s, ns);
    strcpy(want + strlen(want) - 9 + digits - (digits == 0), "s");
    size_t n = (size_t)(bjvmi_duration_print(out, minus ? -s : s, minus ? -ns : ns) - out);
    cr_assert(n == strlen(want) && memcmp(out, want, n) == 0, "row %zu: %.*s, want %s", i, (int)n, out, want);
    check_read(true, i, want, -1, minus ? -s : s, minus ? -ns : ns);
  }
}

static void check_mask(size_t row, bool to_camel, const char *text, const char *want, int want_bad) {
  size_t size = strlen(text);
  char *p = memcpy(text_end - size, text, size), *out = guard_end(256) - (to_camel ? size : 2 * size);
  const char *bad = NULL;
  char *got = (to_camel ? bjvmi_mask_to_camel : bjvmi_mask_to_snake)(out, p, size, &bad);
  if (!want) {
    cr_assert(!got && bad - p == want_bad, "row %zu, %s: bad place %td", row, text, bad ? bad - p : -1);
  } else {
    cr_assert(got && (size_t)(got - out) == strlen(want) && memcmp(out, want, strlen(want)) == 0,
              "row %zu, %s", row, text);
  }
}

Test(time, masks, .init = setup) {
  static const struct {
    const char *snake, *camel;
    int bad; /* in the side that is not NULL when the other is */
  } table[] = {
      {"", "", 0},
      {"plum", "plum", 0},
      {"plum_stone", "plumStone", 0},
      {"a_b_c.d_e", "aBC.dE", 0},
      {"_a", "A", 0},
      {"a1.b2", "a1.b2", 0},
      {"caf\xC3\xA9_x", "caf\xC3\xA9X", 0},
      {"plum_", NULL, 4},
      {"_", NULL, 0},
      {"a_.b", NULL, 1},
      {"a__b", NULL, 1},
      {"a_1", NULL, 1},
      {"a_B", NULL, 1},
      {"aB", NULL, 1},
      {"Z", NULL, 0},
      {NULL, "plum_stone", 4},
      {NULL, "aB_", 2},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].snake) check_mask(i, true, table[i].snake, table[i].camel, table[i].bad);
    if (table[i].camel) check_mask(i, false, table[i].camel, table[i].snake, table[i].bad);
  }
  /* Whatever one side accepts comes back the same from the other. */
  static const char bytes[] = "aZ_z1.";
  for (size_t i = 0; i < 6 * 6 * 6 * 6 * 6; i++) {
    char text[] = {bytes[i % 6], bytes[i / 6 % 6], bytes[i / 36 % 6], bytes[i / 216 % 6], bytes[i / 1296]};
    char there[10], back[20];
    const char *bad;
    char *end = bjvmi_mask_to_camel(there, text, 5, &bad);
    if (end) {
      end = bjvmi_mask_to_snake(back, there, (size_t)(end - there), &bad);
      cr_assert(end == back + 5 && memcmp(back, text, 5) == 0, "camel, %.5s", text);
    }
    end = bjvmi_mask_to_snake(there, text, 5, &bad);
    if (end) {
      end = bjvmi_mask_to_camel(back, there, (size_t)(end - there), &bad);
      cr_assert(end == back + 5 && memcmp(back, text, 5) == 0, "snake, %.5s", text);
    }
  }
}
