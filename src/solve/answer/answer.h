/* solve/answer/answer.h - which of the plans found is the answer. */
#ifndef SITU_SOLVE_ANSWER_ANSWER_H
#define SITU_SOLVE_ANSWER_ANSWER_H

#include "solve/common/best_single.h"
#include "solve/common/solver.h"

/* The answer of a solve: the incumbent, or another plan that was chosen by the options tolerance, min_gain, max_parts
 * and min_part. */
typedef struct answer {
  placement where; /* borrowed from the run; device NULL: no plan */
  int64_t value_ns;
  const char *solver, *reason; /* reason: why none was chosen, or "" */
  int64_t best_found_ns;       /* SITU_NEVER_NS where the incumbent is the answer */
  int32_t best_found_handovers;
  int64_t unrestricted_ns; /* of the answer without the form that is asked for, where it is better; else NEVER */
  placement best_found, unrestricted; /* of these two; no device where the answer has them */
  placement compared;                 /* the split to which the single device was preferred, likewise */
  situ_robustness robustness;         /* size 0: not asked for, or nothing to compare */
} answer;

/* Rejects options that are out of range or do not apply to the problem; replaces SITU_AUTO by its values. */
situ_status answer_options(situ_solve_options *options, const situ_problem *problem, bool portfolio, situ_error *error);

/* Whether the options ask for a choice: else the incumbent is the answer. */
bool answer_wanted(const situ_solve_options *options);
/* The minimum time of the search for plans with fewer hand-overs if there is a time limit, and of the draws. */
int64_t answer_min_ns(const situ_solve_options *options);
/* Chooses the answer. The search for plans with fewer hand-overs and the draws of costs each use at most the rest of
 * the budget (half a second or a tenth of the time limit even if it has ended; without a limit the search takes 1 s),
 * and numbers of simulations that decrease with the size of the graph. */
situ_status answer_select(answer *out, solve_run *run, const best_single *single, const situ_solve_options *options);

/* The plan of the answer, with its bound and all that the run knows, after the independent checker; where there is
 * none, a plan with the outcome and the reason. INTERNAL if the checker rejects it. */
situ_status answer_plan(situ_plan **out, const solve_run *run, const answer *chosen, const best_single *single);

/* Renames equal devices (EQUAL_ALWAYS, without staged transfers also EQUAL_LINKED; none with pins) in the placements of
 * an answer, so that they begin in the order of the platform: the first GPU has the first layers. Values stay, and with
 * them what is proved, which is about all plans. A placement whose simulation or form would change stays as it is.
 * Arrays are in the arena of the run. At most 16 simulations. NO_MEMORY or OK. */
situ_status answer_order_devices(answer *chosen, solve_run *run);

/* Why there is no plan, in words, "BEFORE plan that keeps ... AFTER", with the plans that the proof is about. NULL
 * without memory. */
const char *reason_of_plans(arena *a, const situ_problem *problem, const char *before, const char *after);

/* What all units need at one instant, and the units that need most, where that is more than half of what memories
 * hold; then the claim. Every figure is a lower bound. NULL without memory. */
const char *short_of_memory(arena *a, const situ_problem *p, const char *claim);

#endif
