/* What every search of streams has to do, on problems small enough for brute force. */
#ifndef SITU_TESTS_SMALL_STREAMS_H
#define SITU_TESTS_SMALL_STREAMS_H

#include <stdio.h>

#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../solved.h"

/* 200 problems with every kind of constraint: all plans pass the judge, and none is worse than those of `starts`, which
 * run first (NULL: none do). Of the problems for which there is such a start - any plan, if none do - at least
 * `percent` in 100 end with the best plan of all. */
static inline void check_small_streams(const char *starts, const char *solver, int32_t percent) {
  char both[64];
  snprintf(both, sizeof both, "%s%s%s", starts ? starts : "", starts ? "," : "", solver);
  int32_t n_best = 0, n_all = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    lab l = lab_random_small_stream(seed);
    int64_t best = brute_force(l.problem, NULL), found = solved_value(l.problem, both, 400, seed, NULL);
    int64_t start = starts ? solved_value(l.problem, starts, 0, seed, NULL) : SITU_NEVER_NS;
    assert_true(best <= found && found <= start);
    bool counts = (starts ? start : best) < SITU_NEVER_NS;
    n_all += counts;
    n_best += counts && found == best;
    lab_free(&l);
  }
  if (n_best * 100 < n_all * percent) fail_msg("%d of %d are the best", (int)n_best, (int)n_all);
}

/* Without a plan to start from, here because nothing runs x, there is nothing to do. */
static inline void check_nothing_runs(const char *solver) {
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "x", SITU_NEVER_NS, 0, 0);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  assert_int_equal(solved_value(s.problem, solver, 100, 1, NULL), SITU_NEVER_NS);
  lab_free(&s);
}

#endif
