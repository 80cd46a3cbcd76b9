/* As a row of the table: the program of bound/latency_program.h, where it is small. */
#include "bound/linear_relaxation.h"

#include <math.h>

#include "base/clock.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/latency_program.h"
#include "lp/lp.h"

enum { MOST_ENTRIES = 20000 };

static double seconds_left(const budget *b) {
  return b->deadline_ns == INT64_MAX ? 1e9 : fmax(0.001, (double)(b->deadline_ns - clock_now_ns()) / 1e9);
}

bool linear_relaxation_raise(int64_t *lower_ns, const program *p, arena *scratch, budget *b) {
  program_table t;
  int64_t *price = ARENA_NEW(scratch, int64_t, p->n_rows), found;
  int32_t shift;
  if (!price || !program_tabulate(&t, p, scratch)) return false;
  if (lp_missing()) return true;
  lp *model = lp_load(&t, p->n_columns, p->n_rows);
  if (!model) return false;
  lp_solve(model, seconds_left(b)); /* prices prove what they prove, solved to the end or not */
  program_round_prices(price, &shift, p, &t, lp_prices(model));
  if (program_bound(&found, p, price, shift) && found > *lower_ns) *lower_ns = found;
  lp_free(model);
  return true;
}

static situ_status compute(int64_t *lower_ns, certificate *proof, const situ_problem *problem, arena *scratch, budget *b,
                           situ_error *error) {
  *lower_ns = 0;
  if (lp_missing() || !latency_program_fits(problem, MOST_ENTRIES)) return SITU_STATUS_OK;
  latency_program latency;
  program p = program_new(scratch);
  if (!latency_program_write(&latency, &p, problem, SITU_NEVER_NS, false, scratch) ||
      !linear_relaxation_raise(lower_ns, &p, scratch, b))
    return fail_no_memory(error);
  return SITU_STATUS_OK;
}

const bound linear_relaxation_bound = {
    .name = "linear_relaxation",
    .title = "the linear program of placement and start times",
    .source = "Neumaier, Shcherbina, Mathematical Programming 2004",
    .stream = true,
    .compute = compute,
};
