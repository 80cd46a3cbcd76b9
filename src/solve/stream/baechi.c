#include "solve/stream/baechi.h"

#include "base/fail.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"
#include "view/level.h"

enum { ALL_WAYS_UP_TO = 100000 }; /* operators; above this, one schedule is made */

static bool has_both_kinds(const situ_problem *p) {
  int32_t hosts = 0, others = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!p->unused[d]) *(problem_is_host(p, d) ? &hosts : &others) += 1;
  return hosts > 0 && others > 0;
}

/* Makes all schedules with one choice of units. *going is cleared when the budget ends. */
static situ_status schedule(bool *going, solve_run *run, const list_pair_policy *policy, const unit_list *units) {
  const situ_problem *p = run->problem;
  bool all_ways = p->n_operators <= ALL_WAYS_UP_TO;
  partial_schedule s;
  if (!partial_init_units(&s, p, units, run->arena)) return fail_no_memory(run->error);
  for (int32_t channels = 0; channels < 2; channels++) {
    if (channels && (!all_ways || p->contention == SITU_CONTENTION_NONE || !partial_follow_links(&s, run->arena)))
      break;
    for (int32_t spare = 0; spare < 2 && *going; spare++) {
      if (spare && (!all_ways || !has_both_kinds(p))) break;
      partial_clear(&s);
      s.spare_hosts = spare;
      *going = list_pairs(&s, policy, run->budget, run->arena);
      if (*going) list_offer(run, &s);
      *going = *going && !solve_done(run);
    }
  }
  return SITU_STATUS_OK;
}

situ_status baechi_solve(solve_run *run, favourites_finder *find) {
  const situ_problem *p = run->problem;
  double *level = ARENA_NEW(run->arena, double, p->n_operators);
  int32_t *favourite = find ? ARENA_NEW(run->arena, int32_t, p->n_operators) : NULL;
  rank_costs costs;
  if (!level || (find && !favourite) || !rank_costs_find(&costs, run->arena, p, RANK_NO_TRANSFER))
    return fail_no_memory(run->error);
  rank_upward(level, p, &costs);
  list_pair_policy policy = {.rule = LIST_EARLIEST_START, .level = level, .favourite = favourite};
  bool going = true;
  level_list coplaced = {.n = 0};
  for (int32_t joined = 0; joined < 2 && going; joined++) {
    if (joined && p->n_operators <= ALL_WAYS_UP_TO &&
        !level_coplaced.find(&coplaced, p, &(level_request){0}, run->arena))
      return fail_no_memory(run->error);
    if (joined && coplaced.n == 0) break;
    const unit_list *units = joined ? &coplaced.of[0] : &p->units;
    if (find) TRY(find(favourite, run, units));
    TRY(schedule(&going, run, &policy, units));
  }
  return SITU_STATUS_OK;
}
