/* attack_verify.h - what the library says of a problem, against what counting says. */
#ifndef SITU_ATTACK_VERIFY_H
#define SITU_ATTACK_VERIFY_H

#include "attack_model.h"

/* One call of the library. */
typedef struct attack_call {
  const char *solver;
  int64_t steps;
  uint64_t seed;
  double tolerance, min_gain; /* 0 unless answers are chosen among near-equal plans */
  int32_t max_parts, min_part;
  double uncertainty;
  bool robust, no_bounds;
  int32_t threads;
  bool start;       /* from a placement by chance, which may break rules */
  const char *tool; /* the command, by an absolute path; NULL where it is not asked */
  bool pareto;      /* situ_pareto instead of situ_solve */
} attack_call;

/* The first disagreement. */
typedef struct attack_failure {
  const char *kind; /* static; NULL: none */
  char text[MAX_TEXT];
} attack_failure;

bool failure_set(attack_failure *failure, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Poses, counts, calls, compares. True if everything agrees or nothing can be said. `optimum` (may be NULL) gets the
 * truth. */
bool verify_call(attack_failure *failure, const attack_problem *p, const attack_call *call, attack_optimum *optimum);
/* The same for a problem that is posed and counted already. */
bool verify_posed(attack_failure *failure, const attack_facts *f, const attack_posed *posed,
                  const attack_optimum *optimum, const attack_call *call);
/* Whether that is an error which posing this problem may give: it is beyond the limits. */
bool pose_may_fail(const attack_problem *p, const situ_error *error);
/* The conflict of a posed problem, which must be real. */
bool verify_conflict(attack_failure *failure, const attack_posed *posed, const attack_optimum *optimum);
/* A plan with a placement: rules of the problem, value, times, memory. */
bool verify_plan(attack_failure *failure, const attack_facts *f, const situ_plan *plan, attack_placement *at);
/* Every point of the front of a stream problem. */
bool verify_front(attack_failure *failure, const attack_problem *p, const attack_posed *posed, const attack_call *call);

#endif
