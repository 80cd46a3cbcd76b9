#include "graph/guesses.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/contracts.h"
#include "base/resize.h"
#include "base/text.h"
#include "ops/ops.h"

enum { SUBJECT_BYTES = 200 };

static bool add_guess(guess_list *list, arena *a, situ_guess_kind kind, const char *subject, int64_t *at) {
  char key[SUBJECT_BYTES + 16], short_subject[SUBJECT_BYTES];
  snprintf(short_subject, sizeof short_subject, "%s", subject);
  text_make_utf8(short_subject);
  int start = snprintf(key, sizeof key, "%d ", (int)kind);
  snprintf(key + start, sizeof key - (size_t)start, "%s", short_subject);
  if (!list->numbers) list->numbers = string_map_new(a, 16);
  *at = list->numbers ? string_map_get(list->numbers, key) : -1;
  if (!list->numbers || *at >= 0) return list->numbers;
  int64_t n = string_map_count(list->numbers);
  if (n == list->capacity) {
    int64_t wanted = list->capacity ? 2 * list->capacity : 16;
    if (!array_resize(&list->all, wanted, sizeof *list->all)) return false;
    list->capacity = wanted;
  }
  const char *kept = arena_string(a, key);
  if (!kept) return false;
  list->all[n] = (built_guess){kind, kept + start};
  *at = string_map_put(list->numbers, kept, n);
  return *at >= 0;
}

bool guess_list_add(guess_list *list, arena *a, situ_guess_kind kind, const char *subject, int32_t op) {
  int64_t guess;
  REQUIRE(subject && op >= GUESS_OF_ALL);
  if (!add_guess(list, a, kind, subject, &guess)) return false;
  if (list->n_pairs == list->pair_capacity) {
    int64_t wanted = list->pair_capacity ? 2 * list->pair_capacity : 64;
    if (!array_resize(&list->pairs, wanted, sizeof *list->pairs)) return false;
    list->pair_capacity = wanted;
  }
  list->pairs[list->n_pairs++] = (guess_pair){(int32_t)guess, op};
  return true;
}

void guess_list_free(guess_list *list) {
  free(list->all);
  free(list->pairs);
}

COMPARATOR(by_guess, guess_pair, UP(guess) UP(op))

/* The pairs with the graph's numbers of operators, and one for each operator that is not understood and has none. */
static bool number_pairs(guess_list *own, const situ_graph *g, const guess_list *list, const int32_t *new_of,
                         arena *scratch) {
  bool *named = ARENA_ZERO(scratch, bool, g->n_operators);
  if (!named) return false;
  for (int64_t i = 0; i < list->n_pairs; i++) {
    int32_t op = list->pairs[i].op;
    REQUIRE(op < g->n_operators);
    if (op >= 0) named[new_of[op]] = true;
    if (!guess_list_add(own, scratch, list->all[list->pairs[i].guess].kind, list->all[list->pairs[i].guess].subject,
                        op < 0 ? op : new_of[op]))
      return false;
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    const char *kind = g->kind_name[g->kind[v]];
    if (g->inferred[v] || named[v]) continue;
    if (!guess_list_add(own, scratch, ops_known("", kind) ? SITU_GUESS_SHAPE : SITU_GUESS_KIND, kind, v)) return false;
  }
  return true;
}

/* Takes the sorted pairs from `at` on that are of guess `number`. */
static bool take_guess(situ_graph *g, const guess_list *own, int32_t number, int64_t *at) {
  int64_t from = *at;
  int32_t n = 0;
  graph_guess *guess = &g->guesses[number];
  *guess = (graph_guess){.kind = own->all[number].kind, .subject = arena_string(g->arena, own->all[number].subject)};
  while (*at < own->n_pairs && own->pairs[*at].guess == number) ++*at;
  int32_t *operators = ARENA_NEW(g->arena, int32_t, *at - from);
  if (!guess->subject || !operators) return false;
  bool all = own->pairs[from].op < 0;
  for (int64_t i = from; i < *at && !all; i++)
    if (n == 0 || operators[n - 1] != own->pairs[i].op) operators[n++] = own->pairs[i].op;
  guess->operators = operators;
  guess->n_operators = all ? GUESS_OF_ALL : n;
  return true;
}

bool guess_list_freeze(situ_graph *g, const guess_list *list, const int32_t *new_of, arena *scratch) {
  guess_list own = {0};
  int64_t at = 0;
  bool ok = number_pairs(&own, g, list, new_of, scratch);
  int64_t n = ok && own.numbers ? string_map_count(own.numbers) : 0;
  ok = ok && (g->guesses = ARENA_NEW(g->arena, graph_guess, n));
  if (ok && own.n_pairs > 0) qsort(own.pairs, (size_t)own.n_pairs, sizeof *own.pairs, by_guess);
  for (int32_t k = 0; ok && k < n; k++) ok = take_guess(g, &own, k, &at);
  g->n_guesses = ok ? (int32_t)n : 0;
  guess_list_free(&own);
  return ok;
}
