/* One plan file for each check of the loader and the verifier, which that check alone refuses:
 *
 *     bad_plans --write DIR    writes the files and their table
 *     bad_plans --check DIR    exit 1 if they are not what --write would write, or a check has no file
 *
 * The files are made of the rows in bad_plans.h. This program is linked with copies of the verifier's sources
 * in which every check has a number and can be switched off (mask.py): a file is taken for the check that
 * refuses it, if it is accepted once that check is off. Where that cannot be asked, `reasons` says why. What
 * the library itself reports for the files is compared in verify_test.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdbool.h>

#include "bad_plans.h"
#include "check_sites.h"
#include "plan.h"

enum {
  SITES = sizeof sites / sizeof sites[0],
  ROWS = sizeof bad_rows / sizeof bad_rows[0],
  MINI_ROWS = sizeof bad_mini_rows / sizeof bad_mini_rows[0],
  FILES = sizeof bad_files / sizeof bad_files[0],
  CANDIDATES = ROWS + MINI_ROWS + FILES,
  TABLE_SIZE = 1 << 16,
#ifdef BJVM_SIZE_SMALL
  HAS_SENTENCES = 0, /* nor can the table have them */
#else
  HAS_SENTENCES = 1,
#endif
};

/* Why no file is accepted, or may be tried, with that check off. */
static const struct {
  const char *fault, *why;
} reasons[] = {
    {"HEADER_CUT", "the header would be read beyond the file"},
    {"SECTION_COUNT",
     "eleven sections cannot have ascending kinds: SECTION_KIND or SECTION_ORDER refuses them too"},
    {"SECTION_TABLE_CUT", "the section table would be read beyond the file"},
    {"SECTION_KIND", "the kind is the index of what is known of sections"},
    {"SECTION_OUTSIDE", "the section would be read beyond the file"},
    {"POOL_SMALL", "the end of the names is told from the padding"},
    {"NAME_OUTSIDE", "the name would be read beyond the pool"},
    {"NAME_BEYOND", "the name would be read beyond the pool"},
    {"NAME_ESCAPE", "the length of the escape leads on to what follows"},
    {"EXTERNAL_KEYS", "without words the keys lead nowhere: KEY_INDEX refuses them too"},
    {"EXTENDEE_OUTSIDE", "the record is looked at next"},
    {"ROOT_OUTSIDE", "the record is looked at next"},
    {"OPCODE", "a kind is an index; a form that is not one is refused by FORM too"},
    {"SUB_OUTSIDE", "the record is looked at next"},
    {"SLOTS_MANY", "so many slots take a file of more than 256 KiB; SLOTS_OUTSIDE refuses a smaller one too"},
    {"SLOTS_FEW", "a key without a slot is not found: KEY_UNREACHED refuses it too"},
    {"MINI_MISSING", "there is nothing to read"},
    {"MINI_NO_FIELD", "the character would be read as a field"},
    {"MINI_TYPE_UNKNOWN", "the type is the index of what is known of types"},
    {"MINI_ONEOF_EMPTY", "no field has number 0: MINI_ONEOF_MEMBER refuses it too"},
    {"MINI_ENUM_CHARACTER", "reading a character leads on to what follows"},
};

/* Checks that no small file can meet. */
static const struct {
  const char *fault, *why;
} without_file[] = {
    {"MINI_FIELDS_MANY", "65,001 words take a file of more than 1 MB"},
};

static const char *why_not(const char *fault) {
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    if (strcmp(reasons[i].fault, fault) == 0) return reasons[i].why;
  return NULL;
}

static bool needs_file(const char *fault) {
  for (size_t i = 0; i < sizeof without_file / sizeof without_file[0]; i++)
    if (strcmp(without_file[i].fault, fault) == 0) return false;
  return true;
}

/* -- Switching checks off ------------------------------------------------------------------------------- */

static int switched_off = -1; /* number of the check */
static int refused_by = -1;   /* the check asked last that was not off: when the file was refused, it did */

bool bjvmi_masked(int site);
bool bjvmi_masked(int site) {
  if (site == switched_off) return true;
  refused_by = site;
  return false;
}

static bjvm_status verify(const blob *b, int off, bjvm_error *error) {
  upb_Arena *arena = upb_Arena_New();
  char *copy = (char *)malloc(b->size);
  const bjvm_image *image;
  if (!arena || !copy) abort();
  memcpy(copy, b->file, b->size);
  memset(error, 0, sizeof *error);
  switched_off = off;
  refused_by = -1;
  bjvm_status status = bjvm_image_load(copy, b->size, arena, &image, error);
  if (status == BJVM_OK) status = bjvmi_verify_mini(image, error);
  free(copy);
  upb_Arena_Free(arena);
  return status;
}

/* -- Candidates ----------------------------------------------------------------------------------------- */

static blob *candidate(size_t i) {
  if (i < FILES) return bad_made(&bad_files[i]);
  i -= FILES;
  if (i < ROWS) {
    blob *b = blob_sample();
    bad_apply(b, &bad_rows[i].first);
    bad_apply(b, &bad_rows[i].second);
    blob_seal(b->file, b->size);
    return b;
  }
  char mini[256];
  bad_mini(&bad_mini_rows[i - ROWS], mini, sizeof mini);
  return blob_sample_mini(bad_mini_rows[i - ROWS].which, mini);
}

/* The file of each check. */
typedef struct choice {
  blob *file; /* NULL: none */
  bjvm_status status;
  bjvm_error error;
  bjvm_error other; /* what was said with the check off, when no file was accepted */
  bool accepted;
} choice;

static choice choices[SITES];

static void offer(blob *b) {
  bjvm_error error, other = {.code = BJVM_OK};
  bjvm_status status = verify(b, -1, &error);
  choice *c = &choices[refused_by >= 0 ? refused_by : 0];
  if (status == BJVM_OK || refused_by < 0) bad_stop("a file without fault", error.message);
  int site = refused_by;
  bool asked = !c->accepted && !why_not(sites[site].fault);
  bool accepted = asked && verify(b, site, &other) == BJVM_OK;
  if (c->file && !accepted) {
    free(b);
    return;
  }
  free(c->file);
  *c = (choice){.file = b, .status = status, .error = error, .other = other, .accepted = accepted};
}

/* -- The table ------------------------------------------------------------------------------------------ */

/* `fault.function.bjp`, with a number where one function has several such checks. */
static void file_name(int site, char *to, size_t size) {
  int again = 1;
  for (int i = 0; i < site; i++)
    again += strcmp(sites[i].fault, sites[site].fault) == 0 &&
             strcmp(sites[i].function, sites[site].function) == 0 &&
             strcmp(sites[i].file, sites[site].file) == 0;
  char number[12] = "";
  if (again > 1) snprintf(number, sizeof number, ".%d", again);
  int n = snprintf(to, size, "%s.%.*s.%s%s.bjp", sites[site].fault, (int)strcspn(sites[site].file, "."),
                   sites[site].file, sites[site].function, number);
  for (int i = 0; i < n; i++)
    if (to[i] >= 'A' && to[i] <= 'Z') to[i] = (char)(to[i] - 'A' + 'a');
}

static size_t write_table(char *to, size_t size) {
  size_t n = (size_t)snprintf(to, size, "# file\tstatus\toffset\talone\tmessage (written by bad_plans.c)\n");
  for (int i = 0; i < SITES; i++) {
    const choice *c = &choices[i];
    char name[128];
    if (!c->file) continue;
    file_name(i, name, sizeof name);
    n += (size_t)snprintf(to + n, size - n, "%s\t%s\t%zu\t%s\t%s\n", name, bjvm_status_name(c->status),
                          c->error.offset, c->accepted ? "yes" : why_not(sites[i].fault), c->error.message);
  }
  return n;
}

/* Every check has a file, and the file is alone with it. Returns the number of complaints. */
static unsigned complain(void) {
  unsigned count = 0;
  for (int i = 0; i < SITES; i++) {
    const choice *c = &choices[i];
    bool settled = c->file ? c->accepted || why_not(sites[i].fault) : !needs_file(sites[i].fault);
    if (settled) continue;
    printf("%s, %s, %s: %s%s\n", sites[i].file, sites[i].function, sites[i].fault,
           c->file ? "refused with the check off: " : "no file", c->file ? c->other.message : "");
    count++;
  }
  return count;
}

/* -- Files ---------------------------------------------------------------------------------------------- */

static FILE *open_in(const char *folder, const char *name, const char *mode) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopen(path, mode);
}

static bool is_same(const char *folder, const char *name, const char *data, size_t size) {
  FILE *f = open_in(folder, name, "rb");
  char *there = (char *)malloc(size + 1);
  if (!there) abort();
  bool same = f && fread(there, 1, size + 1, f) == size && memcmp(there, data, size) == 0;
  if (f) fclose(f);
  free(there);
  if (!same) printf("%s/%s: not what bad_plans --write writes\n", folder, name);
  return same;
}

static bool put(const char *folder, const char *name, const char *data, size_t size) {
  FILE *f = open_in(folder, name, "wb");
  bool ok = f && fwrite(data, 1, size, f) == size;
  if (f && fclose(f) != 0) ok = false;
  if (!ok) printf("%s/%s: cannot be written\n", folder, name);
  return ok;
}

static unsigned count_files(const char *folder) {
  unsigned count = 0;
  DIR *d = opendir(folder);
  for (const struct dirent *e; d && (e = readdir(d));) count += strstr(e->d_name, ".bjp") != NULL;
  if (d) closedir(d);
  return count;
}

int main(int argc, char **argv) {
  static char table[TABLE_SIZE];
  bool writes = argc == 3 && strcmp(argv[1], "--write") == 0;
  if (!writes && (argc != 3 || strcmp(argv[1], "--check") != 0)) {
    fprintf(stderr, "usage: bad_plans --write DIR | --check DIR\n");
    return 2;
  }
  for (size_t i = 0; i < CANDIDATES; i++) offer(candidate(i));
  unsigned failed = complain(), made = 0;
  bool (*visit)(const char *, const char *, const char *, size_t) = writes ? put : is_same;
  size_t size = write_table(table, sizeof table);
  if (HAS_SENTENCES) failed += !visit(argv[2], "table.tsv", table, size);
  for (int i = 0; i < SITES; i++) {
    char name[128];
    if (!choices[i].file) continue;
    file_name(i, name, sizeof name);
    failed += !visit(argv[2], name, choices[i].file->file, choices[i].file->size);
    free(choices[i].file);
    made++;
  }
  if (count_files(argv[2]) != made) {
    printf("%s: %u files, not %u\n", argv[2], count_files(argv[2]), made);
    failed++;
  }
  printf("%u passed, %u failed\n", made - (failed < made ? failed : made), failed);
  return failed != 0;
}
