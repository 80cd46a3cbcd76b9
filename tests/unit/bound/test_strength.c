/* How strong bounds are, as a ledger: what each adds up to over fixed sets of random problems of every execution model.
 * A weaker bound is no error and no other test may notice it; here its sum falls. The sums are no theory: where a bound
 * has become stronger, its sum here is raised, and none is lowered without a reason that the change log can tell. On
 * small problems, whose optimum brute force knows, no bound may be above that either, so no sum can be bought. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "bound/bound.h"
#include "bound/configuration.h"
#include "cost/costs.h"
#include "lp/lp.h"

enum {
  MOST_BRUTE = 5,
  MOST_SETS = 9,
  MOST_MARKS = 12,
  NO_PLAN_NS = 1000
}; /* what says that there is no plan counts so much */

typedef struct mark {
  const char *bound;
  int64_t least_ns, proved_ns; /* sums over the problems of the family: what it says, and what its certificates do */
} mark;

/* What adds up, for each bound and at last for `configuration`, which is none of the table. */
typedef struct tally {
  int64_t lower_ns[BOUNDS + 1], proved_ns[BOUNDS + 1];
} tally;

typedef struct family {
  const char *name;
  int32_t problems;
  bool other;             /* a limit by other costs */
  int32_t n, n_more;      /* operators: n .. n + n_more - 1 */
  int32_t devices, more;  /* devices: the same */
  double density, denser; /* chance of an edge, and by how much it differs */
  lab_options drawn;
  situ_problem_options options;
  mark marks[MOST_MARKS];
} family;

#define STREAM .execution = SITU_EXECUTION_STREAM
#define PERIOD .objective = SITU_OBJECTIVE_THROUGHPUT, .execution = SITU_EXECUTION_PIPELINE
#define STAGED .communication = SITU_COMMUNICATION_HOST_STAGED
static const family families[] = {
#include "strength_marks.h"
};

static const char *name_of(int32_t i) { return bounds[i] ? bounds[i]->name : "configuration"; }

/* Costs of another step: other times, the same transfers. */
static situ_costs *other_costs_of(const lab *l) {
  situ_costs *c = costs_copies(l->costs, 1);
  assert_non_null(c);
  int64_t n = (int64_t)l->graph->n_operators * c->n_classes;
  for (int64_t i = 0; i < n; i++) {
    int64_t t = l->costs->time_ns[i];
    c->time_ns[i] = t == SITU_NEVER_NS ? t : (t * 7 + i) % 23;
  }
  costs_find_extremes(c);
  return c;
}

static void add(tally *sum, int32_t i, int64_t lower_ns, const certificate *proof) {
  sum->lower_ns[i] += lower_ns < NO_PLAN_NS ? lower_ns : NO_PLAN_NS;
  if (proof->kind) sum->proved_ns[i] += proof->lower_ns < NO_PLAN_NS ? proof->lower_ns : NO_PLAN_NS;
}

static void add_bounds(tally *sum, const situ_problem *p, int64_t most_ns, const family *f, uint64_t seed) {
  budget unlimited = budget_new(0, 0, NULL, NULL);
  arena *a = arena_new();
  for (int32_t i = 0; i <= BOUNDS; i++) {
    int64_t lower_ns = 0;
    certificate proof = {0};
    situ_status found = SITU_STATUS_OK;
    arena_mark before = arena_get_mark(a);
    if (bounds[i] && problem_is_of(p, bounds[i]->models))
      found = bounds[i]->compute(&lower_ns, &proof, p, a, &unlimited, NULL);
    else if (!bounds[i] && p->n_operators <= MOST_SETS && configuration_serves(p))
      found = configuration_raise(&lower_ns, p, SITU_NEVER_NS, a, &unlimited, NULL);
    assert_int_equal(found, SITU_STATUS_OK);
    if (lower_ns > most_ns)
      fail_msg("%s, seed %d: %s says %" PRId64 ", the optimum is %" PRId64, f->name, (int)seed, name_of(i), lower_ns,
               most_ns);
    add(sum, i, lower_ns, &proof);
    arena_release(a, before);
  }
  arena_free(a);
}

static void add_problem(tally *sum, const family *f, int32_t k) {
  lab_options o = f->drawn;
  o.seed = 70000 + (uint64_t)k;
  o.n_operators = f->n + k % f->n_more;
  o.n_devices = f->devices + k / 2 % f->more;
  o.density = f->density + f->denser * (k % 5);
  o.n_colocations = k % 4 == 1 ? 1 : 0;
  o.ways_differ = k % 3 == 0;
  o.host_last = k % 5 == 2;
  o.pinned = k % 7 == 3;
  o.unsupported = k % 4 == 2;
  o.pools = k % 2 == 0;
  o.options = f->options;
  lab l = lab_random(&o);
  situ_problem *p = l.problem;
  situ_costs *other = f->other ? other_costs_of(&l) : NULL;
  if (other) {
    situ_problem_options options = f->options;
    options.size = sizeof options;
    options.other_costs = other;
    options.max_other_ns = 12 * l.graph->n_operators;
    situ_error error;
    if (situ_problem_pose(&p, l.graph, l.platform, l.costs, &options, &error)) fail_msg("%s", error.text);
  }
  bool small = o.n_operators <= MOST_BRUTE;
  if (!situ_problem_conflict(p)) add_bounds(sum, p, small ? brute_force(p, NULL) : SITU_NEVER_NS, f, o.seed);
  if (other) situ_problem_free(p);
  lab_free(&l);
  situ_costs_free(other);
}

/* What has to add up; where no engine for linear programs is there, nothing of the bounds that ask one. */
static mark least_of(const family *f, int32_t which) {
  bool asks = !bounds[which] || bounds[which] == &linear_relaxation_bound;
  for (int32_t i = 0; i < MOST_MARKS && f->marks[i].bound && !(asks && lp_missing()); i++)
    if (strcmp(f->marks[i].bound, name_of(which)) == 0) return f->marks[i];
  return (mark){0};
}

static void no_bound_is_weaker_than_it_was(void **state) {
  (void)state;
  bool weaker = false;
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    const family *f = &families[i];
    tally sum = {0};
    for (int32_t k = 0; k < f->problems; k++) add_problem(&sum, f, k);
    for (int32_t b = 0; b <= BOUNDS; b++) {
      mark least = least_of(f, b);
      bool falls = sum.lower_ns[b] < least.least_ns || sum.proved_ns[b] < least.proved_ns;
      if (sum.lower_ns[b] > 0 || falls)
        print_message("%-34s {\"%s\", %" PRId64 ", %" PRId64 "}%s\n", f->name, name_of(b), sum.lower_ns[b],
                      sum.proved_ns[b], falls ? " WEAKER" : "");
      weaker |= falls;
    }
  }
  assert_false(weaker);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_bound_is_weaker_than_it_was)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
