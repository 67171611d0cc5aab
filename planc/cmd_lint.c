/* planc lint: field names of a descriptor set that people and programs will mix up in JSON.
 *
 * Nothing found here is an error to the codec, which compares names byte by byte; all of it is a trap for
 * those who write JSON by hand or see it on a screen. descriptor_set.c loads the set, utf8proc knows Unicode.
 * Each finding is one line on standard output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "cli.h"

/* One spelling that a message accepts: the JSON name of a field, or its .proto name where that differs. */
typedef struct spelling {
  const upb_FieldDef *field;
  const char *name;
  const char *folded; /* without case and compatibility forms; from utf8proc, malloc'ed */
  bool is_json;
} spelling;

typedef struct lint {
  spelling *spellings;
  size_t count;
  size_t capacity;
  size_t findings;
  bool failed;
} lint;

static void find(lint *l, const upb_FieldDef *f, const char *name, const char *what, const char *other) {
  printf("%s: name '%s' %s%s\n", upb_FieldDef_FullName(f), name, what, other);
  l->findings++;
}

static const char *map_name(const char *name, utf8proc_option_t options) {
  utf8proc_uint8_t *result = NULL;
  utf8proc_map((const utf8proc_uint8_t *)name, 0, &result, UTF8PROC_NULLTERM | UTF8PROC_STABLE | options);
  return (const char *)result;
}

static void add_spelling(lint *l, const upb_FieldDef *f, const char *name, bool is_json) {
  if (l->count == l->capacity) {
    size_t capacity = l->capacity ? l->capacity * 2 : 64;
    spelling *larger = (spelling *)realloc(l->spellings, capacity * sizeof *larger);
    if (!larger) {
      l->failed = true;
      return;
    }
    l->spellings = larger;
    l->capacity = capacity;
  }
  const char *folded =
      map_name(name, UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  l->spellings[l->count++] = (spelling){f, name, folded, is_json};
}

/* -- What one name can be found guilty of --------------------------------------------------------------- */

static bool is_invisible(utf8proc_int32_t c) {
  utf8proc_category_t category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP ||
         (category == UTF8PROC_CATEGORY_ZS && c != ' ');
}

/* A quote, a backslash or a control character: upb's own JSON codec, for one, prints names as they are. */
static void check_escapes(lint *l, const upb_FieldDef *f, const char *name) {
  const char *p = name;
  while (*p && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ') p++;
  if (!*p) return;
  find(l, f, upb_FieldDef_Name(f), "has a JSON form that needs escapes, and some codecs print names without",
       "");
}

static void check_name(lint *l, const upb_FieldDef *f, const char *name) {
  check_escapes(l, f, name);
  if (strcmp(name, "@type") == 0)
    find(l, f, name, "is that of the type URL in an Any, where the field cannot be read", "");
  const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)name;
  utf8proc_int32_t c = 0;
  for (utf8proc_ssize_t n; *p; p += n) {
    n = utf8proc_iterate(p, -1, &c);
    if (n <= 0) {
      find(l, f, "", "is not UTF-8", "");
      return;
    }
    if (!is_invisible(c)) continue;
    char number[24];
    snprintf(number, sizeof number, "U+%04X", (unsigned)c);
    find(l, f, upb_FieldDef_Name(f), "has in its JSON form the invisible character ", number);
    return;
  }
  const char *composed = map_name(name, UTF8PROC_COMPOSE);
  if (composed && strcmp(composed, name) != 0) find(l, f, name, "is not in Unicode normal form C", "");
  free((void *)(uintptr_t)composed);
}

/* -- What two names can be found guilty of -------------------------------------------------------------- */

static int compare_spellings(const void *a, const void *b) {
  const spelling *x = (const spelling *)a, *y = (const spelling *)b;
  int order = strcmp(x->folded ? x->folded : "", y->folded ? y->folded : "");
  if (!order) order = strcmp(x->name, y->name);
  if (!order) order = y->is_json - x->is_json;
  return order ? order : (upb_FieldDef_Number(x->field) > upb_FieldDef_Number(y->field)) * 2 - 1;
}

/* `json` is the nearest JSON name before `s` in the order above, where equal names begin with a JSON name. */
static void check_pair(lint *l, const spelling *json, const spelling *s) {
  if (json->field == s->field || !json->folded || !s->folded || strcmp(json->folded, s->folded) != 0) return;
  if (strcmp(json->name, s->name) == 0) {
    find(l, s->field, s->name, s->is_json ? "is also the JSON name of " : "is taken in JSON by ",
         upb_FieldDef_FullName(json->field));
  } else if (s->is_json) {
    bool later = upb_FieldDef_Number(s->field) > upb_FieldDef_Number(json->field);
    const spelling *first = later ? json : s, *second = later ? s : json;
    find(l, second->field, second->name, "differs only in case or form from that of ",
         upb_FieldDef_FullName(first->field));
  }
}

static void check_message(lint *l, const upb_MessageDef *message) {
  l->count = 0;
  for (int i = 0; i < upb_MessageDef_FieldCount(message); i++) {
    const upb_FieldDef *f = upb_MessageDef_Field(message, i);
    const char *json = upb_FieldDef_JsonName(f), *proto = upb_FieldDef_Name(f);
    check_name(l, f, json);
    add_spelling(l, f, json, true);
    if (strcmp(json, proto) != 0) add_spelling(l, f, proto, false);
  }
  if (l->count) qsort(l->spellings, l->count, sizeof *l->spellings, compare_spellings);
  const spelling *json = l->spellings;
  for (size_t i = 1; i < l->count; i++) {
    if (json->is_json) check_pair(l, json, &l->spellings[i]);
    if (l->spellings[i].is_json) json = &l->spellings[i];
  }
  for (size_t i = 0; i < l->count; i++) free((void *)(uintptr_t)l->spellings[i].folded);
}

/* As deep as descriptors nest, which upb's decoder has bounded. */
static void check_nested(lint *l, const upb_MessageDef *message) {
  if (upb_MessageDef_IsMapEntry(message)) return;
  check_message(l, message);
  for (int i = 0; i < upb_MessageDef_NestedMessageCount(message); i++) {
    check_nested(l, upb_MessageDef_NestedMessage(message, i));
  }
}

int bjvmi_cmd_lint(const bjvmi_options *options) {
  if (!options->descriptor_set || options->file_count) {
    bjvmi_report("planc", "%s (see planc lint --help)",
                 options->file_count ? "lint takes no FILE" : "--descriptor-set is missing");
    return BJVMI_EXIT_BAD_USAGE;
  }
  bjvmi_descriptors set;
  lint l = {0};
  bool ok = bjvmi_descriptors_open(&set, options->descriptor_set);
  for (size_t i = 0; ok && i < set.file_count; i++) {
    for (int k = 0; k < upb_FileDef_TopLevelMessageCount(set.files[i]); k++) {
      check_nested(&l, upb_FileDef_TopLevelMessage(set.files[i], k));
    }
  }
  free(l.spellings);
  bjvmi_descriptors_close(&set);
  if (l.failed) bjvmi_report("planc", "out of memory");
  if (fflush(stdout) != 0 || ferror(stdout)) {
    bjvmi_report("<stdout>", "cannot write");
    ok = false;
  }
  return ok && !l.failed && !l.findings ? BJVMI_EXIT_DONE : BJVMI_EXIT_BAD_INPUT;
}
