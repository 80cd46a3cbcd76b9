/* "Did you mean": the nearest of some names. */
#include <string.h>

#include "cli.h"

enum { LONGEST_NAME = 40 };

/* Levenshtein distance with exchanged neighbours; words longer than LONGEST_NAME are far from everything. */
static int distance(const char *a, const char *b) {
  int n = (int)strlen(a), m = (int)strlen(b), d[LONGEST_NAME + 1][LONGEST_NAME + 1];
  if (n > LONGEST_NAME || m > LONGEST_NAME) return LONGEST_NAME;
  for (int i = 0; i <= n; i++) d[i][0] = i;
  for (int j = 0; j <= m; j++) d[0][j] = j;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[n][m];
}

const char *closest_name(const char *word, const char *const *names) {
  const char *best = NULL;
  int least = (int)strlen(word) / 3 + 1;
  for (; *names; names++) {
    int d = distance(word, *names);
    bool begins = strlen(word) >= 3 && strncmp(word, *names, strlen(word)) == 0;
    if (begins) d = 0;
    if (d > least || (best && d == least)) continue;
    least = d;
    best = *names;
  }
  return best;
}
