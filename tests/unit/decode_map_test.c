/* bjvm_decode: maps. Entries wait until their map closes, so what is asked here is that nobody notices: which failure
 * is reported, and that all entries are there however many there are and however maps lie in each other.
 */
#include "fixture.h"

/* -- Which failure is the first ------------------------------------------------------------------------- */

/* `at` marks the key that is the duplicate, by how many times `key` stands before it. */
Test(decode_map, a_duplicate_is_reported_before_what_follows_it) {
  static const struct {
    const char *type, *json, *key;
    int before;
    const char *path;
  } rows[] = {
      {"google.protobuf.Value", "{\"a\":1,\"a\":2,", "\"a\"", 1, "[\"a\"]"},
      {"google.protobuf.Value", "{\"a\":1,\"a\":2,}", "\"a\"", 1, "[\"a\"]"},
      {"google.protobuf.Value", "{\"a\":1,\"a\":tru}", "\"a\"", 1, "[\"a\"]"},
      {"google.protobuf.Value", "{\"a\":1,\"a\":{\"x\":1,\"x\":2}}", "\"a\"", 1, "[\"a\"]"},
      {"google.protobuf.Value", "{\"a\":1,\"b\":{\"x\":1,\"x\":2},\"a\":3}", "\"x\"", 1, "[\"x\"]"},
      {"google.protobuf.Value", "{\"a\":1,\"b\":{\"x\":1,\"y\":2,\"x\":[[", "\"x\"", 1, "[\"x\"]"},
      {"google.protobuf.Value", "{\"a\":1,\"a\":{\"x\":1,\"y\":2,\"x\":[[", "\"a\"", 1, "[\"a\"]"},
      {"google.protobuf.Value", "[{\"a\":1,\"\\u0061\":[{\"b\":1}]},", "\"\\u0061\"", 0, "[\"a\"]"},
      {"cases.v3.Maps", "{\"kStr\":{\"a\":1,\"b\":2,\"b\":3,\"c\":x}}", "\"b\"", 1, "kStr[\"b\"]"},
      {"cases.v3.Maps", "{\"kI32\":{\"7\":1,\"7\":2,\"8\":99999999999}}", "\"7\"", 1, "kI32[\"7\"]"},
      {"cases.v3.Maps", "{\"kI64\":{\"-7\":1,\"-7\":2,\"8\":99999999999}}", "\"-7\"", 1, "kI64[\"-7\"]"},
      {"cases.v3.Maps", "{\"kOk\":{\"true\":1,\"true\":2,\"yes\":1}}", "\"true\"", 1, "kOk[\"true\"]"},
      {"cases.v3.Maps", "{\"vMini\":{\"a\":{},\"a\":{\"n\":\"x\"}}}", "\"a\"", 1, "vMini[\"a\"]"},
      {"cases.v3.Maps", "{\"vDeep\":{\"1\":{\"kStr\":{\"a\":1}},\"1\":{\"kStr\":{\"b\":1,\"b\":2}}}}",
       "\"1\"", 1, "vDeep[\"1\"]"},
      {"cases.v3.Maps",
       "{\"vAny\":{\"a\":{\"@type\":\"t/cases.v3.Maps\",\"kStr\":{\"b\":1}},\"a\":{\"@type\":\"t/"
       "cases.v3.Maps\","
       "\"kStr\":{\"b\":1,\"c\":?",
       "\"a\"", 1, "vAny[\"a\"]"},
  };
  fixture f = fixture_open();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bjvm_error error = {0};
    const char *at = strstr(rows[i].json, rows[i].key);
    for (int n = rows[i].before; n > 0; n--) at = strstr(at + 1, rows[i].key);
    bjvm_status s =
        fixture_decode_with(&f, rows[i].type, rows[i].json, fixture_decode_options(&f, 0), &error);
    cr_expect_eq(s, BJVM_DUPLICATE_KEY, "%s: %s", rows[i].json, bjvm_status_name(s));
    cr_expect_eq(error.offset, (size_t)(at - rows[i].json), "%s: byte %zu", rows[i].json, error.offset);
    size_t size = strlen(rows[i].path);
    size_t found = strlen(error.path);
    cr_expect(found >= size && strcmp(error.path + found - size, rows[i].path) == 0, "%s: %s", rows[i].json,
              error.path);
    /* The last one wins: then what follows is the failure, or there is none. */
    s = fixture_decode_with(&f, rows[i].type, rows[i].json, fixture_decode_options(&f, BJVM_DECODE_LAST_WINS),
                            NULL);
    cr_expect_neq(s, BJVM_DUPLICATE_KEY, "%s", rows[i].json);
  }
  fixture_close(&f);
}

/* -- Objects made by chance, beside a plain account of their keys --------------------------------------- */

typedef struct account {
  uint64_t state;
  char text[40000];
  size_t size;
  size_t duplicate;       /* offset of the first key that its object has already; SIZE_MAX: none */
  size_t duplicate_known; /* behind its colon */
} account;

static uint32_t pick(account *a, uint32_t below) {
  a->state = a->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(a->state >> 33) % below;
}

static void add(account *a, const char *text) {
  size_t n = strlen(text);
  memcpy(a->text + a->size, text, n + 1);
  a->size += n;
}

/* An object of up to `most` entries. `rare`: one key in so many is drawn from all, and may be there already. */
static void add_object(account *a, uint32_t most, uint32_t rare, int depth) {
  bool there[400] = {false};
  add(a, "{");
  uint32_t count = pick(a, most + 1);
  for (uint32_t i = 0; i < count && a->size < sizeof a->text - 10000; i++) {
    char key[40];
    uint32_t name = pick(a, rare) == 0 ? pick(a, most) : i;
    snprintf(key, sizeof key, "%s\"%s%u\"", i ? "," : "", name % 3 ? "k" : "a-longer-key-", name);
    if (there[name] && a->duplicate == SIZE_MAX) a->duplicate = a->size + (i > 0);
    add(a, key);
    add(a, pick(a, 9) ? ":" : " : ");
    if (a->duplicate != SIZE_MAX && a->duplicate_known == SIZE_MAX) a->duplicate_known = a->size;
    there[name] = true;
    if (depth > 0 && pick(a, 12) == 0) add_object(a, pick(a, 3) ? 8 : most, rare, depth - 1);
    else add(a, pick(a, 2) ? "1" : pick(a, 2) ? "\"text\"" : "[true,null]");
  }
  add(a, "}");
}

static size_t entries(const upb_Message *msg, const upb_MessageDef *def) {
  const upb_FieldDef *fields = upb_MessageDef_FindFieldByName(def, "fields");
  const upb_Map *map = upb_Message_GetFieldByDef(msg, fields).map_val;
  return map ? upb_Map_Size(map) : 0;
}

/* Whole, the text is read or its first duplicate reported; cut anywhere, the duplicate is reported if it is in
 * front of the cut, else the cut is. */
Test(decode_map, chance) {
  fixture f = fixture_open();
  account *a = (account *)malloc(sizeof *a);
  a->state = 20261130;
  int seen[2] = {0, 0};
  for (int round = 0; round < 3000; round++) {
    static const uint32_t sizes[] = {3, 10, 63, 64, 65, 66, 130, 390};
    a->size = 0;
    a->duplicate = a->duplicate_known = SIZE_MAX;
    add_object(a, sizes[pick(a, 8)], round % 3 ? 100000 : 40, 3);
    bool twice = a->duplicate != SIZE_MAX;
    seen[twice]++;
    for (int cut = 0; cut < 4; cut++) {
      size_t size = cut == 0 ? a->size : pick(a, (uint32_t)a->size);
      bjvm_error error = {0};
      bjvm_decode_options options = fixture_decode_options(&f, 0);
      upb_Message *msg = fixture_new(&f, "google.protobuf.Struct");
      char *text = (char *)malloc(size + 1); /* of its own, so that reading on is found out */
      memcpy(text, a->text, size);
      bjvm_status s =
          bjvm_decode(fixture_plan(&f, "google.protobuf.Struct"), text, size, msg, f.arena, &options, &error);
      if (twice && size >= a->duplicate_known) {
        cr_assert_eq(s, BJVM_DUPLICATE_KEY, "round %d, %zu bytes: %s", round, size, error.message);
        cr_assert_eq(error.offset, a->duplicate, "round %d: byte %zu, not %zu", round, error.offset,
                     a->duplicate);
      } else {
        cr_assert_eq(s, size < a->size ? BJVM_TRUNCATED : BJVM_OK, "round %d, %zu bytes: %s", round, size,
                     error.message);
      }
      free(text);
    }
    if (round % 100 == 0) {
      upb_Arena_Free(f.arena);
      f.arena = upb_Arena_New();
    }
  }
  cr_assert(seen[0] > 500 && seen[1] > 500, "%d without, %d with a duplicate", seen[0], seen[1]);
  free(a);
  fixture_close(&f);
}

/* -- All entries are there ------------------------------------------------------------------------------ */

static void add_entries(account *a, const char *name, size_t count, const char *value, bool integers) {
  char entry[80];
  snprintf(entry, sizeof entry, "\"%s\":{", name);
  add(a, entry);
  for (size_t i = 0; i < count; i++) {
    snprintf(entry, sizeof entry, integers ? "%s\"%zu\":%s" : "%s\"key %zu\":%s", i ? "," : "", i, value);
    add(a, entry);
  }
  add(a, "}");
}

/* Every kind of key and of value, in every number around those at which something changes; printed sorted, by the
 * order of upb's own iterator and look-up, it is the text again. */
Test(decode_map, every_number_of_entries) {
  static const struct {
    const char *name, *value;
    bool integers;
  } rows[] = {
      {"kI32", "1", true},
      {"kU64", "7", true},
      {"kStr", "5", false},
      {"vStr", "\"v\"", false},
      {"vRaw", "\"AA==\"", false},
      {"vDb", "1.5", false},
      {"vMini", "{\"n\":3}", false},
      {"vOk", "true", false},
      {"vI64", "\"9\"", false},
      {"vVal", "[1]", false},
      {"vTs", "\"1970-01-01T00:00:01Z\"", false},
  };
  static const size_t counts[] = {1,  2,  3,  4,  7,  8,   15,  31,  55,  56,
                                  57, 63, 64, 65, 66, 127, 128, 129, 130, 200};
  fixture f = fixture_open();
  account *a = (account *)malloc(sizeof *a);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      a->size = 0;
      add(a, "{");
      add_entries(a, rows[r].name, counts[c], rows[r].value, rows[r].integers);
      add(a, "}");
      upb_Message *msg = fixture_read_ok(&f, "cases.v3.Maps", a->text);
      const upb_MessageDef *def = test_find_message(f.pool, "cases.v3.Maps");
      const upb_FieldDef *field = upb_MessageDef_FindByJsonName(def, rows[r].name);
      const upb_Map *map = upb_Message_GetFieldByDef(msg, field).map_val;
      cr_assert_eq(upb_Map_Size(map), counts[c], "%s", rows[r].name);
      const char *text = fixture_json(&f, "cases.v3.Maps", msg);
      upb_Message *again = fixture_read_ok(&f, "cases.v3.Maps", text);
      cr_assert_str_eq(text, fixture_json(&f, "cases.v3.Maps", again));
      cr_assert_eq(strlen(text), a->size, "%s, %zu: %s", rows[r].name, counts[c], text);
      for (size_t i = 0; i < counts[c]; i++) {
        char key[40];
        snprintf(key, sizeof key, rows[r].integers ? "%zu" : "key %zu", i);
        upb_MessageValue k = {0};
        if (rows[r].integers) k.uint64_val = i;
        else k.str_val = upb_StringView_FromString(key);
        cr_assert(upb_Map_Get(map, k, NULL), "%s: %s", rows[r].name, key);
      }
    }
  }
  free(a);
  fixture_close(&f);
}

/* A table takes seven eighths of its slots. Made for exactly as many entries it is as large as it must be, not twice that:
 * the bytes a fixed block needs do not shrink when there is an entry more. */
Test(decode_map, table_of_the_right_size) {
  static const size_t counts[] = {14, 28, 56};
  static _Alignas(16) char block[16384];
  fixture f = fixture_open();
  account *a = (account *)malloc(sizeof *a);
  const bjvm_plan *plan = fixture_plan(&f, "cases.v3.Maps");
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    size_t least[2] = {0, 0}; /* for one entry less, and for all */
    for (size_t i = 0; i < 2; i++) {
      a->size = 0;
      add(a, "{");
      add_entries(a, "kI32", counts[c] - 1 + i, "1", true);
      add(a, "}");
      bjvm_status s = BJVM_OUT_OF_MEMORY;
      for (size_t room = 64; s != BJVM_OK && room <= sizeof block; room += 8) {
        bjvm_decode_options options = fixture_decode_options(&f, 0);
        upb_Arena *arena = upb_Arena_Init(block, room, NULL);
        upb_Message *msg = arena ? upb_Message_New(bjvm_plan_table(plan), arena) : NULL;
        least[i] = room;
        if (msg) s = bjvm_decode(plan, a->text, a->size, msg, arena, &options, NULL);
      }
      cr_assert_eq(s, BJVM_OK);
    }
    cr_expect_eq(least[0], least[1], "%zu entries: %zu bytes; %zu: %zu", counts[c] - 1, least[0], counts[c],
                 least[1]);
  }
  free(a);
  fixture_close(&f);
}

/* Maps in maps, the outer ones with as many entries as may wait, and with one more and less: those inside find no
 * place to wait. */
Test(decode_map, no_place_to_wait) {
  fixture f = fixture_open();
  account *a = (account *)malloc(sizeof *a);
  const upb_MessageDef *def = test_find_message(f.pool, "google.protobuf.Struct");
  for (size_t outer = 62; outer < 68; outer++) {
    for (size_t inner = 0; inner < 90; inner += inner < 4 ? 1 : 29) {
      upb_MessageValue v;
      a->size = 0;
      add(a, "{");
      for (size_t i = 0; i + 1 < outer; i++) {
        char entry[40];
        snprintf(entry, sizeof entry, "\"%zu\":0,", i);
        add(a, entry);
      }
      add_entries(a, "last", inner, "{\"x\":1,\"y\":2}", false);
      add(a, "}");
      upb_Message *msg = fixture_read_ok(&f, "google.protobuf.Struct", a->text);
      cr_assert_eq(entries(msg, def), outer);
      const upb_Map *map =
          upb_Message_GetFieldByDef(msg, upb_MessageDef_FindFieldByName(def, "fields")).map_val;
      cr_assert(upb_Map_Get(map, (upb_MessageValue){.str_val = upb_StringView_FromString("last")}, &v));
      const upb_MessageDef *value = test_find_message(f.pool, "google.protobuf.Value");
      v = upb_Message_GetFieldByDef(v.msg_val, upb_MessageDef_FindFieldByName(value, "struct_value"));
      cr_assert_eq(entries(v.msg_val, def), inner);
      cr_assert_eq(strlen(fixture_json(&f, "google.protobuf.Struct", msg)), a->size);
    }
  }
  free(a);
  fixture_close(&f);
}
