/* view/first_choice.h - first-choice clustering: units are visited one by one, and each joins the cluster to which the
 * most expensive tensors connect it, relative to the work of both (Karypis, Kumar, "Multilevel k-way hypergraph
 * partitioning", DAC 1999). The caller rates the clusters near a unit and says which may be joined. */
#ifndef SITU_VIEW_FIRST_CHOICE_H
#define SITU_VIEW_FIRST_CHOICE_H

#include "base/arena.h"
#include "base/rng.h"

typedef struct first_choice {
  int32_t *into;   /* [unit] a forest (base/disjoint.h): the unit it joined, or itself */
  double *work_ns; /* [unit] of the cluster that it represents; the caller fills it before first_choice_begin */
  double *rating;  /* [unit] of the clusters near the current unit; 0 elsewhere */
  int32_t *near, n_near;
  double mean_ns;
} first_choice;

/* Every unit alone, without work. False without memory. */
bool first_choice_init(first_choice *c, int32_t n_units, arena *a);
/* Sums up the work of all units; call it once. */
void first_choice_begin(first_choice *c, int32_t n_units);
/* Rates cluster w, a root, for the current unit. */
static inline void first_choice_rate(first_choice *c, int32_t w, double cost_ns) {
  if (c->rating[w] == 0) c->near[c->n_near++] = w;
  c->rating[w] += 1e-9 + cost_ns;
}
/* The near cluster of best rating that u may join without exceeding max_ns of work, -1 for none; clears the ratings.
 * `random`: NULL, or ratings are up to doubled at random. */
int32_t first_choice_best(first_choice *c, int32_t u, double max_ns, rng *random,
                          bool (*may_join)(const void *context, int32_t u, int32_t w), const void *context);
/* u joins w. */
static inline void first_choice_join(first_choice *c, int32_t u, int32_t w) {
  c->into[u] = w;
  c->work_ns[w] += c->work_ns[u];
}

#endif
