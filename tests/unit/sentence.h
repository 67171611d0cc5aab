/* What a report says of a fault in a plan file: the sentence of fault.def, or in a small build its number. */
#ifndef SENTENCE_H_
#define SENTENCE_H_

#include <stdio.h>
#include <string.h>

static const struct {
  int number;
  const char *text;
} sentences[] = {
#define X(name, number, text) {number, text},
#include "fault.def"
#undef X
};

/* The report that is expected where a full build says `report`: a sentence, or `what index: sentence`. Valid
 * until the next call. NULL: there is no such sentence. */
static const char *report_of(const char *report) {
  static char numbered[64];
  const char *colon = strstr(report, ": ");
  size_t front = colon ? (size_t)(colon + 2 - report) : 0;
  for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
    if (strcmp(report + front, sentences[i].text) != 0) continue;
    snprintf(numbered, sizeof numbered, "%.*sfault %d", (int)front, report, sentences[i].number);
#ifdef BJVM_SIZE_SMALL
    return numbered;
#else
    return report;
#endif
  }
  return NULL;
}

#endif /* SENTENCE_H_ */
