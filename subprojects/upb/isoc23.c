// The four C23 names under which glibc 2.38 and later export strtol and its kin. A libupb.a that was built there asks
// for them; an older glibc has none, so meson.build adds this file when its link test shows the need (and only
// then). C23 also accepts a binary prefix ("0b1"), which upb never relies on: it passes base 0 or 10 to read default
// values out of descriptors, and those are written in decimal.
#include <stdlib.h>

long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }

long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }

unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }

unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return strtoull(text, end, base);
}
