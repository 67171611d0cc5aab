/* A main for fuzz targets where there is no libFuzzer: runs every file given, and every file of every folder given.
 *
 * Ends with `N passed, M failed`. A target that finds something wrong aborts, so M is 0 or the program does not get there;
 * the name of the file that runs is printed first for that case, and only then.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char running[4096]; /* the file that runs */
static unsigned long passed;

static void tell(int signal_number) {
  static const char text[] = " is the input\n";
  ssize_t ignored = write(STDERR_FILENO, running, strlen(running));
  ignored = write(STDERR_FILENO, text, sizeof text - 1);
  (void)ignored;
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static int run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return perror(path), 1;
  long size = ftell(file);
  rewind(file);
  uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
  size_t got = data != NULL ? fread(data, 1, (size_t)size, file) : 0;
  fclose(file);
  if (got != (size_t)size) return fprintf(stderr, "%s: cannot be read\n", path), 1;
  snprintf(running, sizeof running, "%s", path);
  LLVMFuzzerTestOneInput(data, got);
  free(data);
  passed++;
  return 0;
}

static int run_folder(const char *path, DIR *folder) {
  int failed = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char name[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    failed += run_file(name);
  }
  closedir(folder);
  return failed;
}

int main(int argc, char **argv) {
  int failed = 0;
  signal(SIGABRT, tell);
  signal(SIGSEGV, tell);
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    failed += folder != NULL ? run_folder(argv[i], folder) : run_file(argv[i]);
  }
  printf("%lu passed, %d failed\n", passed, failed);
  return failed != 0 || passed == 0;
}
