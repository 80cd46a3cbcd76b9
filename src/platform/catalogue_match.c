/* The catalogue by the names that systems give to devices. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "platform/catalogue.h"

enum { MAX_WORDS = 24, MODEL_BYTES = 128 };

typedef struct word_list {
  int n;
  char text[MODEL_BYTES];
  const char *word[MAX_WORDS];
} word_list;

static void split_words(word_list *list, const char *text) {
  list->n = 0;
  snprintf(list->text, sizeof list->text, "%s", text);
  bool inside = false;
  for (char *c = list->text; *c; c++) {
    if (!ascii_is_alnum(*c)) {
      *c = '\0', inside = false;
      continue;
    }
    *c = ascii_lower(*c);
    if (!inside && list->n < MAX_WORDS) list->word[list->n++] = c;
    inside = true;
    if (!c[1]) break;
  }
  int kept = 0; /* a generation stands between model and variant: "RTX PRO 4000 Blackwell SFF" */
  for (int w = 0; w < list->n; w++)
    if (strcmp(list->word[w], "blackwell") != 0) list->word[kept++] = list->word[w];
  list->n = kept;
}

/* Whether some words in a row spell `token`: "RTX", "3090" spell "rtx3090". */
static bool spells(const word_list *list, const char *token) {
  for (int first = 0; first < list->n; first++) {
    const char *rest = token;
    for (int w = first; w < list->n && *rest; w++) {
      size_t n = strlen(list->word[w]);
      if (strncmp(rest, list->word[w], n) != 0) break;
      rest += n;
    }
    if (!*rest) return true;
  }
  return false;
}

static bool some_word_begins(const word_list *list, const char *token) {
  for (int w = 0; w < list->n; w++)
    if (strncmp(list->word[w], token, strlen(token)) == 0) return true;
  return false;
}

const situ_device_kind_info *catalogue_match(const char *model) {
  word_list model_words, key_words;
  split_words(&model_words, model);
  const situ_device_kind_info *best = NULL;
  int best_score = 0;
  situ_device_kind_info row = SITU_DEVICE_KIND_INFO_INIT;
  for (int32_t i = 0; situ_device_kind_at(i, &row); i++) {
    split_words(&key_words, row.name);
    if (strcmp(row.kind, "cpu") == 0 || key_words.n == 0 || !spells(&model_words, key_words.word[0])) continue;
    int score = 2 * (int)strlen(key_words.word[0]); /* "gtx1080ti" rather than "gtx1080" */
    for (int w = 1; w < key_words.n; w++) score += some_word_begins(&model_words, key_words.word[w]) ? 1 : -1;
    if (best && score <= best_score) continue;
    best = catalogue_find(row.name);
    best_score = score;
  }
  return best;
}
