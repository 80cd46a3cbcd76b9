/* api/goal.h - a limit on the value of a plan that a caller states: "latency<=50ms", "period<=2ms", "tokens/s>=20". */
#ifndef SITU_API_GOAL_H
#define SITU_API_GOAL_H

#include "api/instance.h"

typedef enum goal_kind { GOAL_NONE, GOAL_LATENCY, GOAL_PERIOD, GOAL_TOKENS } goal_kind;

typedef struct goal {
  goal_kind kind;
  const char *text;    /* without blanks */
  int64_t limit_ns;    /* of GOAL_LATENCY and GOAL_PERIOD */
  double tokens_per_s; /* of GOAL_TOKENS */
} goal;

/* Units of time: ns, us, ms, s. BAD_ARGUMENT for anything else. The text is copied into the arena. */
situ_status goal_read(goal *out, const char *text, arena *a, situ_error *error);

/* Sets the objective that the goal is about. BAD_ARGUMENT if the caller's is another. */
situ_status goal_take_objective(const goal *g, situ_problem_options *problem, situ_error *error);

/* Whether a plan of that value, which is the time of so many tokens, meets the goal. GOAL_NONE: whether there is one.
 */
bool goal_meets(const goal *g, double tokens, int64_t value_ns);

/* The tokens that the value of a plan is the time of: those generated, else those of the prompt; 0 if the model is no
 * language model or is copied. */
double goal_tokens(const situ_instance *i);

#endif
