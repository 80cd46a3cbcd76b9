/* solve/common/search.h - local search: one loop for all searches that go from one solution to a neighbouring one.
 *
 * A row proposes a neighbour of its current solution and evaluates it; the loop accepts or rejects it, counts steps and
 * cycles, cools, and restarts. What differs is data: the neighbourhood (propose), the evaluation (evaluate, accept),
 * the acceptance rule, the schedule, and the parameters, which tests and benchmarks may set. The state of a row is one
 * struct that begins with a `search`. Rows hold no random source but search.random, and draw from it neither in
 * `evaluate` nor in `accept`. */
#ifndef SITU_SOLVE_COMMON_SEARCH_H
#define SITU_SOLVE_COMMON_SEARCH_H

#include <math.h>

#include "solve/common/solver.h"

typedef struct search search;

/* Which neighbours become the current solution; `rise` is how much more than the current solution they cost. */
typedef enum search_rule {
  SEARCH_BETTER,     /* rise < 0 */
  SEARCH_METROPOLIS, /* with probability exp(-rise / temperature) (Metropolis et al., 1953) */
  SEARCH_THRESHOLD,  /* the same, but the highest rise is drawn first, so that the evaluation may stop at it */
  SEARCH_BEST        /* the best candidate of a list, even if worse, unless it is tabu (Glover, 1986) */
} search_rule;

enum { SEARCH_SWEEP = 64 };

/* Where cycles end and temperatures fall these are the first parameters of a row. */
enum { SEARCH_FIRST, SEARCH_LONGEST, SEARCH_HOT, SEARCH_COLD, N_SEARCH_CYCLES };
#define SEARCH_CYCLES(FIRST, LONGEST, HOT, COLD)                                                    \
  [SEARCH_FIRST] = {"first_cycle", FIRST, 1, 1e18, "moves of the first cycle"},                     \
  [SEARCH_LONGEST] = {"longest_cycle", LONGEST, 1, 1e18, "cycles of so many moves do not grow"},    \
  [SEARCH_HOT] = {"hot", HOT, 1e-9, 10, "first temperature of a cycle, in units of the best cost"}, \
  [SEARCH_COLD] = {"cold", COLD, 1e-9, 10, "last temperature of a cycle, in units of the best cost"}

typedef struct search_row {
  size_t size; /* bytes of its state */
  search_rule rule;
  int32_t unchanged;   /* so many moves that evaluate nothing count as a step; 0: one */
  double growth;       /* of cycles, from restart to restart; 0: one cycle that never ends */
  int32_t per_restart; /* cycles from one restart to the next; 0: one */
  bool fills;          /* a cycle takes all moves that are left, rather than leave fewer than its own length */
  const solver_parameter *parameters;
  int32_t n_parameters;
  bool constructs; /* it needs no plan to start from */
  /* Allocates, once; the state is zero except for its `search`. Sets `patience`. */
  situ_status (*init)(search *s);
  /* Begins a cycle: sets `scale`, and on `restart` (the first cycle included) the current solution and `cost`. False:
   * there is nothing to search. */
  bool (*begin)(search *s, bool restart);
  /* SEARCH_BEST: lists the candidates of the current solution and returns how many there are. */
  int32_t (*list)(search *s);
  /* Makes a neighbour: candidate i of SEARCH_BEST, else a random one (i is 0). False: there is none this time. */
  bool (*propose)(search *s, int32_t i);
  /* Its cost; any value of at least `below` if it is not below that, SEARCH_NONE if it is no solution. */
  double (*evaluate)(search *s, double below);
  /* The neighbour becomes the current solution; or, which may be NULL, it does not. */
  void (*accept)(search *s, double cost);
  void (*reject)(search *s);
  /* SEARCH_BEST: whether candidate i, just proposed, is tabu; puts the proposed candidate aside as the best so far. */
  bool (*is_tabu)(search *s, int32_t i);
  void (*choose)(search *s, int32_t i);
  /* May be NULL: changes the current solution at random after `patience` steps without a new best cost, or where
   * nothing can move. */
  void (*perturb)(search *s);
  /* In place of propose to choose: tries SEARCH_SWEEP moves itself and counts a step, for evaluations so short that
   * calls would cost as much. */
  void (*sweep)(search *s);
  /* May be NULL: frees what is not in the arena of the run, also after a failed init. */
  void (*finish)(search *s);
} search_row;

struct search {
  const search_row *row;
  solve_run *run;
  const situ_problem *problem;
  const unit_list *units; /* what moves as one (solve_run.units) */
  rng random;
  const double *set; /* [parameter] values */
  int64_t patience;  /* steps; 0: `perturb` runs only where nothing can move */
  double cost;       /* of the current solution */
  double best_cost;  /* the lowest after any step, whether within the limits or not; the row sets it in `begin` if that
                        of the first current solution is not the one to start with */
  double hot, cold;  /* temperatures of a cycle, in units of scale; 0: none */
  double scale, temperature; /* temperature: of the current step */
  int64_t n_steps, n_stale;  /* n_stale: without a new best cost */
  situ_status status;        /* anything but OK ends the search */
  bool ended;                /* set by a row that must stop */
};

/* More than any solution costs. */
#define SEARCH_NONE 1e301

/* Runs a row: solver.solve of those that have solver.search. */
situ_status search_run(solve_run *run, const search_row *row);
/* A search inside another solver: fills the `search` of a state, which it clears, and calls init. Then search_cycle
 * runs one cycle of n_moves without `begin`. NO_MEMORY or OK. */
situ_status search_init(search *s, const search_row *row, solve_run *run, rng random);
void search_cycle(search *s, int64_t n_moves);

/* Fills values[n] for the running solver: what solve_run.settings sets for it, else defaults. */
void search_parameters_get(double *values, const solve_run *run, const solver_parameter *parameters, int32_t n);
/* The value of a parameter as an integer. */
static inline int64_t search_get(const search *s, int32_t parameter) { return (int64_t)s->set[parameter]; }

/* ---- acceptance, for rows that sweep ---- */

/* Whether a move with a positive rise is accepted. */
static inline bool search_metropolis(rng *random, double rise, double temperature) {
  return rng_unit(random) < exp(-rise / temperature);
}
/* The rise below which a move is accepted: the same rule, drawn first. */
static inline double search_threshold(rng *random, double temperature) {
  return -temperature * log(1 - rng_unit(random));
}

/* ---- draws ---- */

/* A random member of 0 .. n-1. */
static inline int32_t search_draw(search *s, int64_t n) { return (int32_t)rng_below(&s->random, n); }
/* The producer of a random input of v; a random user of a tensor; a random user of a random output of v; -1: none. */
int32_t search_draw_producer(search *s, int32_t v);
int32_t search_draw_user_of(search *s, int32_t tensor);
int32_t search_draw_user(search *s, int32_t v);

/* ---- units ---- */

/* What moves with v. */
static inline unit_members search_unit(const search *s, int32_t v) {
  return unit_list_members(s->units, s->units->of[v]);
}
/* Puts v and what moves with it on d; false if some of it may not run there. */
bool search_put(const search *s, int32_t *device, int32_t v, int32_t d);

#endif
