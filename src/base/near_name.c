/* Slips: which of some names are near to a word, by the distance of V. I. Levenshtein (Soviet Physics Doklady 10,
 * 1966).
 */
#include "base/near_name.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/contracts.h"
#include "situ/types.h"

enum { LONGEST = 64, SHORT = 3 };

int name_distance(const char *word, const char *name) {
  if (word[0] && ascii_same_n(name, word, strlen(word))) return 0;
  int row[LONGEST + 1];
  int n = (int)strnlen(name, LONGEST);
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; i <= LONGEST && word[i - 1]; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int swap = corner + (ascii_lower(word[i - 1]) != ascii_lower(name[j - 1]));
      corner = row[j];
      int step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = swap < step ? swap : step;
    }
  }
  const char *dash = strchr(word, '-') ? NULL : memchr(name, '-', (size_t)n);
  int short_name = dash && dash - name > SHORT ? row[dash - name] : row[n];
  return short_name < row[n] ? short_name : row[n];
}

/* "known: heft, peft, ..." with as many as there is room for. */
static void list_known(char *into, size_t capacity, const char *const *names, int32_t n) {
  static const char more[] = ", ...";
  size_t at = (size_t)snprintf(into, capacity, "known:");
  for (int32_t i = 0; i < n && at < capacity; i++) {
    size_t room = capacity - at, needed = strlen(names[i]) + 2 + (i + 1 < n ? sizeof more : 1);
    if (needed > room) {
      snprintf(into + at, room, "%s", more);
      return;
    }
    at += (size_t)snprintf(into + at, room, "%s %s", i ? "," : "", names[i]);
  }
}

/* Half of the letters, and at most 3. */
static int max_distance(const char *word) {
  size_t half = strnlen(word, LONGEST) / 2;
  return half < 3 ? (int)half : 3;
}

const char *situ_nearest_name(const char *word, const char *const *names, int32_t n) {
  const char *best = NULL;
  int below = word ? max_distance(word) + 1 : 0;
  for (int32_t i = 0; word && names && i < n; i++) {
    int distance = names[i] ? name_distance(word, names[i]) : below;
    if (distance >= below) continue;
    below = distance;
    best = names[i];
  }
  return best;
}

const char *near_names(char *into, size_t capacity, const char *word, const char *const *names, int32_t n) {
  REQUIRE(capacity > 0 && n >= 0);
  int nearest = max_distance(word);
  size_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    if (name_distance(word, names[i]) > nearest) continue;
    int added = snprintf(into + at, capacity - at, "%s%s", at ? " or " : "did you mean ", names[i]);
    if (added < 0 || (size_t)added >= capacity - at - 1) break; /* what is cut is not added */
    at += (size_t)added;
  }
  if (at)
    snprintf(into + at, capacity - at, "?");
  else
    list_known(into, capacity, names, n);
  return into;
}
