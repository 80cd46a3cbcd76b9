/* base/budget.h - the one object that long work polls: counted steps, wall clock, and a callback that asks to stop.
 *
 * A step is a unit of work that a solver states in its docs (one evaluation of a plan unless it says otherwise).
 * With a step limit and no time limit a run is repeatable byte for byte. */
#ifndef SITU_BASE_BUDGET_H
#define SITU_BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

typedef enum budget_stop { BUDGET_GOING = 0, BUDGET_STEPS, BUDGET_TIME, BUDGET_CANCELLED } budget_stop;

/* Returns true to ask for a stop; called at most about every 10 ms. */
typedef bool budget_callback(void *context);

typedef struct budget {
  int64_t steps, max_steps;      /* INT64_MAX: no limit */
  int64_t start_ns, deadline_ns; /* INT64_MAX: no limit */
  int64_t next_look_steps;       /* the clock is read when steps reach this */
  int64_t last_look_ns, stride;
  budget_callback *callback;
  void *context;
  budget_stop stop;
} budget;

/* max_steps <= 0 and limit_ns <= 0 mean no limit. */
budget budget_new(int64_t max_steps, int64_t limit_ns, budget_callback *callback, void *context);
/* A share of the rest of `whole`: its steps and time count against both (call budget_join afterwards). */
budget budget_part(const budget *whole, int64_t max_steps, int64_t limit_ns);
void budget_join(budget *whole, const budget *part);
/* The nanoseconds that are left, at least 0; INT64_MAX without a limit. */
int64_t budget_time_left(const budget *b);
/* Counts `steps` done and says whether to stop. Cheap enough for inner loops. */
bool budget_spend(budget *b, int64_t steps);
/* The steps that are left; INT64_MAX without a limit. */
int64_t budget_steps_left(const budget *b);
/* Whether it is over, looking at the clock now. */
bool budget_over(budget *b);

#endif
