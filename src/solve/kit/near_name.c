#include "solve/kit/near_name.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

/* Levenshtein's distance of two names, cut to LONGEST letters. */
static int distance(const char *a, const char *b) {
  int row[LONGEST + 1];
  int n = (int)strlen(b);
  if (n > LONGEST) n = LONGEST;
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; a[i - 1] && i <= LONGEST; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int best = corner + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      corner = row[j];
      row[j] = best;
    }
  }
  return row[n];
}

static size_t add(char *into, size_t capacity, size_t at, const char *text) {
  int n = at < capacity ? snprintf(into + at, capacity - at, "%s", text) : 0;
  return at + (n > 0 ? (size_t)n : 0);
}

const char *near_names(char *into, size_t capacity, const char *name, const char *const *names, int32_t n) {
  int nearest = (int)strlen(name) / 2 < 3 ? (int)strlen(name) / 2 : 3;
  size_t at = 0;
  into[0] = '\0';
  for (int32_t i = 0; i < n; i++) {
    if (distance(name, names[i]) > nearest) continue;
    at = add(into, capacity, at, at ? " or " : "did you mean ");
    at = add(into, capacity, at, names[i]);
  }
  if (at) {
    add(into, capacity, at, "?");
    return into;
  }
  for (int32_t i = 0; i < n; i++) {
    at = add(into, capacity, at, i ? ", " : "there are: ");
    at = add(into, capacity, at, names[i]);
  }
  return into;
}
