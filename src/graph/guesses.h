/* graph/guesses.h - the guesses of a graph while it is built: (kind, subject) and the operators they are about. */
#ifndef SITU_GRAPH_GUESSES_H
#define SITU_GRAPH_GUESSES_H

#include "graph/graph.h"

typedef struct built_guess {
  situ_guess_kind kind;
  const char *subject;
} built_guess;

/* Guess number `guess` is about operator `op` of the builder, or about all (GUESS_OF_ALL). */
typedef struct guess_pair {
  int32_t guess, op;
} guess_pair;

/* All zero when new. */
typedef struct guess_list {
  string_map *numbers; /* of guesses, by kind and subject */
  built_guess *all;
  guess_pair *pairs;
  int64_t n_pairs, capacity, pair_capacity;
} guess_list;

/* Texts and the map are in the arena. False without memory. */
bool guess_list_add(guess_list *list, arena *a, situ_guess_kind kind, const char *subject, int32_t op);
/* Gives a graph, whose operators are filled, its guesses; new_of[v] is the number that operator v got. Operators that
 * are not inferred get one where the list has none of them alone. False without memory. */
bool guess_list_freeze(situ_graph *graph, const guess_list *list, const int32_t *new_of, arena *scratch);
void guess_list_free(guess_list *list);

#endif
