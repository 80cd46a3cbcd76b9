#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "view/replicas.h"
#include "view/unit.h"

bool incumbent_init(incumbent *i, const situ_problem *p, arena *a) {
  REQUIRE(p->n_operators > 0);
  *i = (incumbent){.value_ns = SITU_NEVER_NS, .solver = "", .bound = ""};
  bool ordered = p->execution == SITU_EXECUTION_STREAM, called = p->execution == SITU_EXECUTION_CALLS;
  i->store.device = ARENA_NEW(a, int32_t, p->n_operators);
  i->store.order = ordered ? ARENA_NEW(a, int32_t, p->n_operators) : NULL;
  i->store.call = called ? ARENA_NEW(a, int32_t, p->n_operators) : NULL;
  i->store.replica_of = p->replicate ? ARENA_NEW(a, int32_t, p->n_devices) : NULL;
  return i->store.device && (!ordered || i->store.order) && (!called || i->store.call) &&
         (!p->replicate || i->store.replica_of);
}

void incumbent_free(incumbent *i) { arena_free(i->proof_arena); }

bool solve_allows(const situ_problem *p, const int32_t *device) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (device[v] < 0 || device[v] >= p->n_devices || !problem_allows(p, v, device[v])) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (device[v] != device[unit_of(p, v).member[0]]) return false;
  return true;
}

static void keep_array(int32_t **best, int32_t *store, const int32_t *from, int32_t n) {
  *best = from && store ? store : NULL;
  if (*best && n > 0) memcpy(store, from, (size_t)n * sizeof *store);
}

static void keep(incumbent *i, const placement *where, int64_t value_ns, const char *who, const situ_problem *p) {
  keep_array(&i->best.device, i->store.device, where->device, p->n_operators);
  keep_array(&i->best.order, i->store.order, where->order, p->n_operators);
  keep_array(&i->best.call, i->store.call, where->call, p->n_operators);
  keep_array(&i->best.replica_of, i->store.replica_of, where->replica_of, p->n_devices);
  i->value_ns = value_ns;
  i->solver = who;
  CONTRACT(incumbent_check(i, p));
}

void incumbent_take(incumbent *i, const incumbent *other, const situ_problem *p) {
  if (other->value_ns < i->value_ns) keep(i, &other->best, other->value_ns, other->solver, p);
}

/* Counts a step, and keeps the simulated plan if it is better and allowed. */
static void judge(solve_run *run, const placement *where, const simulation *found) {
  incumbent *best = run->incumbent;
  budget_spend(run->budget, 1);
  if (found->value_ns < best->value_ns && found->excess_bytes == 0 && found->over_ns == 0 &&
      solve_allows(run->problem, where->device) &&
      replicas_keep_rules(run->problem, where->device, where->replica_of) && solve_has_form(run, where->device))
    keep(best, where, found->value_ns, run->solver, run->problem);
}

simulation solve_try(solve_run *run, const placement *where) {
  simulation found = simulator_run(run->simulator, where, !run->memory_is_free);
  judge(run, where, &found);
  return found;
}

simulation solve_try_below(solve_run *run, simulator_base *base, const placement *where, double cost) {
  int64_t limit_ns =
      cost < (double)INT64_MAX / 2 ? max64((int64_t)ceil(cost), run->incumbent->value_ns) : SITU_NEVER_NS;
  simulation found = simulator_run_below(run->simulator, base, where, !run->memory_is_free, limit_ns);
  judge(run, where, &found);
  return found;
}

int64_t solve_offer(solve_run *run, const placement *where) {
  if (!solve_allows(run->problem, where->device)) return SITU_NEVER_NS;
  simulation found = solve_try(run, where);
  return found.excess_bytes > 0 || found.over_ns > 0 ? SITU_NEVER_NS : found.value_ns;
}

void solve_bound(solve_run *run, int64_t lower_bound_ns, const char *name) {
  REQUIRE(lower_bound_ns >= 0);
  if (lower_bound_ns <= run->incumbent->lower_bound_ns) return;
  REQUIRE(name);
  run->incumbent->lower_bound_ns = lower_bound_ns;
  run->incumbent->bound = name;
}

situ_status solve_prove(solve_run *run, const certificate *proof) {
  REQUIRE(!proof->kind || (proof->bound && !proof->fault));
  incumbent *i = run->incumbent;
  solve_bound(run, proof->lower_ns, proof->bound);
  if (!proof->kind || proof->lower_ns <= i->proof.lower_ns) return SITU_STATUS_OK;
  arena *a = arena_new();
  if (!a || !certificate_copy(&i->proof, proof, a)) {
    arena_free(a);
    return fail_no_memory(run->error);
  }
  arena_free(i->proof_arena);
  i->proof_arena = a;
  i->proof.bound = proof->bound;
  return SITU_STATUS_OK;
}

situ_status solve_adopt(solve_run *run, const bound_found *found) {
  REQUIRE(problem_is_relaxation(found->of, run->problem));
  TRY(solve_prove(run, &found->proof));
  solve_bound(run, found->lower_ns, found->name);
  return SITU_STATUS_OK;
}

void solve_count(solve_run *run, const char *name, int64_t n) {
  REQUIRE(name);
  incumbent *i = run->incumbent;
  int32_t k = 0;
  while (k < i->n_statistics && strcmp(i->statistics[k].name, name) != 0) k++;
  if (k == MAX_STATISTICS) return;
  if (k == i->n_statistics) i->statistics[i->n_statistics++] = (situ_statistic){name, 0};
  i->statistics[k].value = sat_add(i->statistics[k].value, n);
}

bool solve_done(solve_run *run) {
  return run->incumbent->value_ns <= run->incumbent->lower_bound_ns || budget_over(run->budget);
}

const char *incumbent_check(const incumbent *i, const situ_problem *p) {
  EXPECT(i->solver && i->bound, "names are texts");
  EXPECT(i->lower_bound_ns >= 0 && i->value_ns >= 0, "values are at least 0");
  EXPECT(i->n_statistics >= 0 && i->n_statistics <= MAX_STATISTICS, "statistics fit their table");
  EXPECT(!i->proof.kind || i->proof.lower_ns <= i->lower_bound_ns, "the proof is of no more than the bound");
  if (!i->best.device) {
    EXPECT(i->value_ns == SITU_NEVER_NS, "without a plan there is no value");
    return NULL;
  }
  EXPECT(i->value_ns < SITU_NEVER_NS, "a plan has a value");
  EXPECT_CHECK(placement_check(&i->best, p));
  EXPECT(solve_allows(p, i->best.device), "a plan keeps support, pins and colocation");
  return NULL;
}
