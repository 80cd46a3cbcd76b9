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
#include "bound/call_price.h"
#include "bound/configuration.h"
#include "cost/costs.h"
#include "lp/lp.h"

enum { MOST_BRUTE = 5, MOST_SETS = 9, MOST_MARKS = 12 };
enum { NO_PLAN_NS = 1000 }; /* what says that there is no plan counts so much */

typedef struct mark {
  const char *bound;
  int64_t least_ns, proved_ns; /* sums over the problems of the family: what it says, and what its certificates do */
} mark;

/* What adds up, for each bound, and for two that are none of the table: of pipelines and of calls. */
enum { CONFIGURATION = BOUNDS, CALL_PRICE, SAID };
typedef struct tally {
  int64_t lower_ns[SAID], proved_ns[SAID];
} tally;

typedef struct family {
  const char *name;
  int32_t problems, first; /* how many, and the number of the first */
  bool other;              /* a limit by other costs */
  int32_t n, n_more;       /* operators: n .. n + n_more - 1 */
  int32_t devices, more;   /* devices: the same */
  double density, denser;  /* chance of an edge, and by how much it differs */
  lab_options drawn;
  situ_problem_options options;
  mark marks[MOST_MARKS];
} family;

#define STREAM .execution = SITU_EXECUTION_STREAM
#define PERIOD .objective = SITU_OBJECTIVE_THROUGHPUT, .execution = SITU_EXECUTION_PIPELINE
#define STAGED .communication = SITU_COMMUNICATION_HOST_STAGED
static const family families[] = {
    {.name = "streams by brute force",
     .problems = 24,
     .n = 4,
     .n_more = 2,
     .devices = 2,
     .more = 2,
     .density = 0.3,
     .denser = 0.1,
     .options = {STREAM, .contention = SITU_CONTENTION_NONE},
     .marks = {{"critical_path", 576, 576},
               {"unit_chain", 547, 547},
               {"area_price", 318, 318},
               {"join", 588, 588},
               {"destructive", 645, 645},
               {"cut_vertex", 601, 601},
               {"linear_relaxation", 618, 618}}},
    {.name = "small memories by brute force",
     .problems = 24,
     .n = 4,
     .n_more = 2,
     .devices = 2,
     .more = 2,
     .density = 0.3,
     .denser = 0.1,
     .drawn = {.memory = 0.35, .unfused = true},
     .options = {STREAM},
     .marks = {{"critical_path", 1040, 1040},
               {"unit_chain", 582, 582},
               {"area_price", 778, 778},
               {"join", 1076, 1076},
               {"destructive", 634, 634},
               {"cut_vertex", 601, 601},
               {"linear_relaxation", 657, 657},
               {"visits", 1022, 1022}}},
    {.name = "thin streams",
     .problems = 24,
     .n = 9,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.06,
     .denser = 0.03,
     .options = {STREAM},
     .marks = {{"critical_path", 640, 640},
               {"unit_chain", 630, 630},
               {"area_price", 628, 628},
               {"join", 649, 649},
               {"destructive", 709, 709},
               {"cut_vertex", 761, 761},
               {"linear_relaxation", 743, 743}}},
    {.name = "streams",
     .problems = 32,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .options = {STREAM, .contention = SITU_CONTENTION_NONE},
     .marks = {{"critical_path", 1327, 1327},
               {"unit_chain", 1202, 1202},
               {"area_price", 803, 803},
               {"join", 1419, 1419},
               {"destructive", 1473, 1473},
               {"cut_vertex", 1485, 1485},
               {"linear_relaxation", 1407, 1407}}},
    {.name = "streams, equal devices",
     .problems = 16,
     .n = 8,
     .n_more = 5,
     .devices = 3,
     .more = 3,
     .density = 0.1,
     .denser = 0.08,
     .drawn = {.equal = true},
     .options = {STREAM},
     .marks = {{"critical_path", 569, 569},
               {"unit_chain", 481, 481},
               {"area_price", 338, 338},
               {"join", 588, 588},
               {"destructive", 618, 618},
               {"cut_vertex", 622, 622},
               {"linear_relaxation", 603, 603}}},
    {.name = "streams, little memory",
     .problems = 24,
     .n = 8,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.05,
     .drawn = {.memory = 0.3, .unfused = true},
     .options = {STREAM},
     .marks = {{"packing", 1000, 1000},
               {"critical_path", 1999, 1999},
               {"unit_chain", 724, 724},
               {"area_price", 741, 741},
               {"join", 2012, 2012},
               {"destructive", 844, 844},
               {"cut_vertex", 869, 869},
               {"linear_relaxation", 826, 826},
               {"visits", 1034, 1034}}},
    {.name = "streams, less memory",
     .problems = 24,
     .n = 8,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.05,
     .drawn = {.memory = 0.25, .host_memory = 0.8},
     .options = {STREAM},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 6000, 6000},
               {"critical_path", 1065, 1065},
               {"unit_chain", 997, 997},
               {"area_price", 864, 864},
               {"join", 1098, 1098},
               {"destructive", 754, 754},
               {"cut_vertex", 790, 790},
               {"linear_relaxation", 767, 767},
               {"visits", 1048, 1048}}},
    {.name = "streams, all memories small",
     .problems = 24,
     .n = 8,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.05,
     .drawn = {.memory = 0.5, .host_memory = 0.5},
     .options = {STREAM},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 14000, 14000},
               {"critical_path", 14250, 14250},
               {"unit_chain", 1616, 1616},
               {"area_price", 1484, 1484},
               {"join", 14252, 14252},
               {"destructive", 754, 754},
               {"cut_vertex", 790, 790},
               {"linear_relaxation", 738, 738},
               {"visits", 13207, 13207}}},
    {.name = "streams, other costs",
     .problems = 32,
     .other = true,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE},
     .marks = {{"critical_path", 1022, 1022},
               {"memory_cut", 2081, 2081},
               {"unit_chain", 1838, 1838},
               {"area_price", 787, 787},
               {"join", 1082, 1082},
               {"destructive", 1154, 1154},
               {"cut_vertex", 1181, 1181},
               {"linear_relaxation", 1136, 1136}}},
    {.name = "streams one by one, little memory",
     .problems = 24,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .drawn = {.memory = 0.3},
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE},
     .marks = {{"packing", 1000, 1000},
               {"critical_path", 1987, 1987},
               {"memory_cut", 1260, 1260},
               {"unit_chain", 1109, 1109},
               {"area_price", 836, 836},
               {"join", 2007, 2007},
               {"destructive", 682, 682},
               {"cut_vertex", 702, 702},
               {"linear_relaxation", 711, 711},
               {"visits", 1947, 1947}}},
    {.name = "streams, throughput",
     .problems = 16,
     .first = 60,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .drawn = {.memory = 0.5},
     .options = {STREAM, .objective = SITU_OBJECTIVE_THROUGHPUT, .max_latency_ns = 200},
     .marks = {{"critical_path", 557, 557},
               {"area_price", 406, 406},
               {"join", 585, 585},
               {"destructive", 531, 531},
               {"cut_vertex", 519, 519},
               {"linear_relaxation", 510, 510},
               {"visits", 533, 533}}},
    {.name = "calls",
     .problems = 32,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.memory = 0.4, .equal = true},
     .options = {.execution = SITU_EXECUTION_CALLS},
     .marks = {{"critical_path", 1075, 1075}, {"call_price", 1322, 0}}},
    {.name = "few calls",
     .problems = 24,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 2,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.equal = true, .memory = 0.5},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 1},
     .marks = {{"critical_path", 883, 883}, {"call_price", 1031, 0}}},
    {.name = "staged pipelines",
     .problems = 24,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.memory = 0.4},
     .options = {PERIOD, STAGED},
     .marks = {{"packing", 1000, 1000},
               {"balance", 541, 541},
               {"area_price", 542, 542},
               {"largest_operator", 446, 446},
               {"configuration", 459, 0},
               {"runs", 606, 606}}},
    {.name = "linked pipelines",
     .problems = 24,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.equal = true},
     .options = {PERIOD, .communication = SITU_COMMUNICATION_LINK},
     .marks = {{"balance", 580, 580}, {"area_price", 490, 490}, {"largest_operator", 473, 473}, {"runs", 607, 607}}},
    {.name = "trained pipelines",
     .problems = 24,
     .n = 8,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.training = true, .equal = true, .memory = 0.5},
     .options = {PERIOD, STAGED, .in_flight = 2, .schedule = SITU_SCHEDULE_GPIPE},
     .marks = {{"balance", 936, 936},
               {"area_price", 813, 813},
               {"largest_operator", 830, 830},
               {"configuration", 295, 0},
               {"runs", 1128, 1128}}},
    {.name = "free pipelines",
     .problems = 32,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.memory = 0.5},
     .options = {PERIOD, STAGED, .free = true, .async_copies = true},
     .marks = {{"balance", 691, 691}, {"area_price", 730, 730}, {"largest_operator", 621, 621}}},
    {.name = "pipelines of replicas",
     .problems = 24,
     .n = 6,
     .n_more = 7,
     .devices = 3,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.equal = true, .training = true},
     .options = {PERIOD, STAGED, .replicate = true},
     .marks = {{"balance", 503, 503}, {"area_price", 648, 648}}},
    {.name = "free pipelines, trained",
     .problems = 24,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.training = true, .memory = 0.7},
     .options = {PERIOD, STAGED, .free = true},
     .marks =
         {{"balance", 640, 640}, {"area_price", 490, 490}, {"largest_operator", 573, 573}, {"configuration", 581, 0}}},
};

static const char *name_of(int32_t i) {
  return i < BOUNDS ? bounds[i]->name : i == CONFIGURATION ? "configuration" : "call_price";
}

/* What solvers of calls know from the start: by prices of bytes and calls. */
static int64_t call_price_of(const situ_problem *p, budget *b, arena *a) {
  call_graph g;
  call_lattice l;
  call_price c;
  bool unfit;
  assert_true(call_graph_find(&g, p, 0, a));
  assert_int_equal(call_lattice_find(&l, &g, 100000, a, b), CALL_LATTICE_ALL);
  assert_true(call_price_make(&c, &l, &unfit, a) && call_price_improve(&c, b));
  return c.lower_ns;
}

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
  for (int32_t i = 0; i < SAID; i++) {
    int64_t lower_ns = 0;
    certificate proof = {0};
    situ_status found = SITU_STATUS_OK;
    arena_mark before = arena_get_mark(a);
    if (i < BOUNDS && problem_is_of(p, bounds[i]->models))
      found = bounds[i]->compute(&lower_ns, &proof, p, a, &unlimited, NULL);
    else if (i == CALL_PRICE && p->execution == SITU_EXECUTION_CALLS)
      lower_ns = call_price_of(p, &unlimited, a);
    else if (i == CONFIGURATION && p->n_operators <= MOST_SETS && configuration_serves(p))
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
  bool asks = which == CONFIGURATION || (which < BOUNDS && bounds[which] == &linear_relaxation_bound);
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
    for (int32_t k = 0; k < f->problems; k++) add_problem(&sum, f, f->first + k);
    for (int32_t b = 0; b < SAID; b++) {
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
