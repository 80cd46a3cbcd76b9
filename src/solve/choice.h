/* solve/choice.h - which of the plans found is the answer. */
#ifndef SITU_SOLVE_CHOICE_H
#define SITU_SOLVE_CHOICE_H

#include "solve/common/best_single.h"
#include "solve/common/solver.h"

/* The answer of a solve: the incumbent, or another plan that was chosen by the options tolerance, min_gain, max_parts
 * and min_part. */
typedef struct choice {
  placement where; /* borrowed from the run; device NULL: no plan */
  int64_t value_ns;
  const char *solver, *reason; /* reason: why none was chosen, or "" */
  int64_t best_found_ns;       /* SITU_NEVER_NS where the incumbent is the answer */
  int32_t best_found_handovers;
  int64_t without_form_ns;    /* of the answer without the form that is asked for, where it is better; else NEVER */
  situ_robustness robustness; /* size 0: not asked for, or nothing to compare */
} choice;

/* Refuses options out of range, and such as the problem has no use for; fills in what SITU_BY_PURPOSE stands for. */
situ_status choice_options(situ_solve_options *options, const situ_problem *problem, bool portfolio, situ_error *error);

/* Whether the options ask for a choice: else the incumbent is the answer. */
bool choice_wanted(const situ_solve_options *options);
/* What the search for plans with fewer hand-overs has at least where there is a time limit, and the draws too. */
int64_t choice_least_ns(const situ_solve_options *options);
/* Chooses. The search for plans with fewer hand-overs and the draws of costs each take at most what the budget has left
 * (half a second or a tenth of the time limit even where it has ended; without a limit the search takes 1 s), and
 * numbers of simulations that fall with the size of the graph. */
situ_status choice_make(choice *out, solve_run *run, const best_single *single, const situ_solve_options *options);

#endif
