/* How strong bounds are, as a ledger: what each adds up to over fixed sets of random problems of every execution model.
 * A weaker bound is no error and no other test may notice it; here its sum falls. The sums are no theory: where a bound
 * has become stronger, its sum here is raised in the same change, and none is lowered without a reason that the change
 * log can tell. A sum that rises fails as well: below a stale sum a bound could get weaker again, and nobody would see
 * it. On small problems, whose optimum brute force knows, no bound may be above that either, so no sum can be bought.
 *
 * Sums of bounds that ask an engine for linear programs may rise, since engines choose different prices. */
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
     .problems = 72,
     .n = 4,
     .n_more = 2,
     .devices = 2,
     .more = 2,
     .density = 0.3,
     .denser = 0.1,
     .options = {STREAM, .contention = SITU_CONTENTION_NONE},
     .marks = {{"critical_path", 1575, 1575},
               {"unit_chain", 1486, 1486},
               {"area_price", 1048, 1048},
               {"join", 1629, 1629},
               {"destructive", 1767, 1767},
               {"cut_vertex", 1692, 1692},
               {"linear_relaxation", 1692, 1692}}},
    {.name = "small memories by brute force",
     .problems = 72,
     .n = 4,
     .n_more = 2,
     .devices = 2,
     .more = 2,
     .density = 0.3,
     .denser = 0.1,
     .drawn = {.memory = 0.35, .unfused = true},
     .options = {STREAM},
     .marks = {{"critical_path", 2584, 2584},
               {"unit_chain", 1581, 1581},
               {"area_price", 2062, 2062},
               {"join", 2656, 2656},
               {"destructive", 1756, 1756},
               {"cut_vertex", 1692, 1692},
               {"linear_relaxation", 1828, 1828},
               {"visits", 2491, 2491}}},
    {.name = "thin streams",
     .problems = 72,
     .n = 9,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.06,
     .denser = 0.03,
     .options = {STREAM},
     .marks = {{"critical_path", 1989, 1989},
               {"unit_chain", 1958, 1958},
               {"area_price", 1988, 1988},
               {"join", 2039, 2039},
               {"destructive", 2251, 2251},
               {"cut_vertex", 2329, 2329},
               {"linear_relaxation", 2322, 2322}}},
    {.name = "streams",
     .problems = 96,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .options = {STREAM, .contention = SITU_CONTENTION_NONE},
     .marks = {{"critical_path", 3737, 3737},
               {"unit_chain", 3514, 3514},
               {"area_price", 2354, 2354},
               {"join", 3894, 3894},
               {"destructive", 4031, 4031},
               {"cut_vertex", 4055, 4055},
               {"linear_relaxation", 3937, 3937}}},
    {.name = "streams, equal devices",
     .problems = 48,
     .n = 8,
     .n_more = 5,
     .devices = 3,
     .more = 3,
     .density = 0.1,
     .denser = 0.08,
     .drawn = {.equal = true},
     .options = {STREAM},
     .marks = {{"critical_path", 1605, 1605},
               {"unit_chain", 1451, 1451},
               {"area_price", 969, 969},
               {"join", 1661, 1661},
               {"destructive", 1716, 1716},
               {"cut_vertex", 1740, 1740},
               {"linear_relaxation", 1720, 1720}}},
    {.name = "streams, little memory",
     .problems = 72,
     .n = 8,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.05,
     .drawn = {.memory = 0.3, .unfused = true},
     .options = {STREAM},
     .marks = {{"packing", 3000, 3000},
               {"critical_path", 5248, 5248},
               {"unit_chain", 2362, 2362},
               {"area_price", 2771, 2771},
               {"join", 5389, 5389},
               {"destructive", 2645, 2645},
               {"cut_vertex", 2686, 2686},
               {"linear_relaxation", 2648, 2648},
               {"visits", 4153, 4153}}},
    {.name = "streams, less memory",
     .problems = 72,
     .n = 8,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.05,
     .drawn = {.memory = 0.25, .host_memory = 0.8},
     .options = {STREAM},
     .marks = {{"memory_price", 2000, 2000},
               {"packing", 22000, 22000},
               {"critical_path", 12686, 12686},
               {"unit_chain", 3481, 3481},
               {"area_price", 3856, 3856},
               {"join", 12824, 12824},
               {"destructive", 2421, 2421},
               {"cut_vertex", 2461, 2461},
               {"linear_relaxation", 2513, 2513},
               {"visits", 12567, 12567}}},
    {.name = "streams, all memories small",
     .problems = 72,
     .n = 8,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.05,
     .drawn = {.memory = 0.5, .host_memory = 0.5},
     .options = {STREAM},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 39000, 39000},
               {"critical_path", 37963, 37963},
               {"unit_chain", 3099, 3099},
               {"area_price", 2704, 2704},
               {"join", 37974, 37974},
               {"destructive", 2421, 2421},
               {"cut_vertex", 2461, 2461},
               {"linear_relaxation", 2420, 2420},
               {"visits", 34044, 34044}}},
    {.name = "streams, other costs",
     .problems = 96,
     .other = true,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE},
     .marks = {{"critical_path", 3132, 3132},
               {"memory_cut", 6108, 6108},
               {"unit_chain", 5489, 5489},
               {"area_price", 2302, 2302},
               {"join", 3241, 3241},
               {"destructive", 3438, 3438},
               {"cut_vertex", 3469, 3469},
               {"linear_relaxation", 3394, 3394}}},
    {.name = "streams one by one, little memory",
     .problems = 72,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .drawn = {.memory = 0.3},
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE},
     .marks = {{"packing", 2000, 2000},
               {"critical_path", 4837, 4837},
               {"memory_cut", 3867, 3867},
               {"unit_chain", 3476, 3476},
               {"area_price", 2574, 2574},
               {"join", 4984, 4984},
               {"destructive", 2223, 2223},
               {"cut_vertex", 2243, 2243},
               {"linear_relaxation", 2294, 2294},
               {"visits", 4720, 4720}}},
    {.name = "streams, throughput",
     .problems = 48,
     .first = 60,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .drawn = {.memory = 0.5},
     .options = {STREAM, .objective = SITU_OBJECTIVE_THROUGHPUT, .max_latency_ns = 200},
     .marks = {{"critical_path", 1669, 1669},
               {"area_price", 1403, 1403},
               {"join", 1746, 1746},
               {"destructive", 1688, 1688},
               {"cut_vertex", 1745, 1745},
               {"linear_relaxation", 1706, 1706},
               {"visits", 1619, 1619}}},
    {.name = "calls",
     .problems = 96,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.memory = 0.4, .equal = true},
     .options = {.execution = SITU_EXECUTION_CALLS},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 2000, 2000},
               {"critical_path", 2880, 2880},
               {"call_price", 4516, 0}}},
    {.name = "few calls",
     .problems = 72,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 2,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.equal = true, .memory = 0.5},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 1},
     .marks = {{"critical_path", 2348, 2348}, {"call_price", 2707, 0}}},
    {.name = "staged pipelines",
     .problems = 72,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.memory = 0.4},
     .options = {PERIOD, STAGED},
     .marks = {{"memory_price", 2000, 2000},
               {"packing", 3000, 3000},
               {"balance", 1676, 1676},
               {"area_price", 1815, 1815},
               {"largest_operator", 1349, 1349},
               {"runs", 3841, 3841},
               {"configuration", 1080, 0}}},
    {.name = "linked pipelines",
     .problems = 72,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.equal = true},
     .options = {PERIOD, .communication = SITU_COMMUNICATION_LINK},
     .marks =
         {{"balance", 1622, 1622}, {"area_price", 1423, 1423}, {"largest_operator", 1353, 1353}, {"runs", 1624, 1624}}},
    {.name = "trained pipelines",
     .problems = 72,
     .n = 8,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.training = true, .equal = true, .memory = 0.5},
     .options = {PERIOD, STAGED, .in_flight = 2, .schedule = SITU_SCHEDULE_GPIPE},
     .marks = {{"memory_price", 2000, 2000},
               {"packing", 2000, 2000},
               {"balance", 2705, 2705},
               {"area_price", 2447, 2447},
               {"largest_operator", 2455, 2455},
               {"runs", 4051, 4051},
               {"configuration", 722, 0}}},
    {.name = "free pipelines",
     .problems = 96,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 4,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.memory = 0.5},
     .options = {PERIOD, STAGED, .free = true, .async_copies = true},
     .marks = {{"memory_price", 2000, 2000},
               {"packing", 2000, 2000},
               {"balance", 2094, 2094},
               {"area_price", 2127, 2127},
               {"largest_operator", 1815, 1815}}},
    {.name = "pipelines of replicas",
     .problems = 72,
     .n = 6,
     .n_more = 7,
     .devices = 3,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.equal = true, .training = true},
     .options = {PERIOD, STAGED, .replicate = true},
     .marks = {{"balance", 1356, 1356}, {"area_price", 1693, 1693}}},
    {.name = "free pipelines, trained",
     .problems = 72,
     .n = 6,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .drawn = {.training = true, .memory = 0.7},
     .options = {PERIOD, STAGED, .free = true},
     .marks = {{"balance", 2038, 2038},
               {"area_price", 1790, 1790},
               {"largest_operator", 1936, 1936},
               {"configuration", 1760, 0}}},
    {.name = "streams one by one, other costs, little memory",
     .problems = 96,
     .other = true,
     .n = 6,
     .n_more = 7,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.06,
     .drawn = {.memory = 0.3},
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE},
     .marks = {{"critical_path", 4017, 4017},
               {"memory_cut", 5748, 5748},
               {"unit_chain", 5343, 5343},
               {"area_price", 3572, 3572},
               {"join", 4107, 4107},
               {"destructive", 3088, 3088},
               {"cut_vertex", 3106, 3106},
               {"linear_relaxation", 3188, 3188},
               {"visits", 3836, 3836}}},
    {.name = "large streams",
     .problems = 40,
     .n = 20,
     .n_more = 21,
     .devices = 3,
     .more = 3,
     .density = 0.04,
     .denser = 0.02,
     .options = {STREAM},
     .marks = {{"critical_path", 1642, 1642},
               {"unit_chain", 1601, 1601},
               {"area_price", 1956, 1956},
               {"join", 1663, 1663},
               {"destructive", 1993, 1993},
               {"cut_vertex", 1697, 1697},
               {"linear_relaxation", 2178, 2178}}},
    {.name = "large streams, little memory",
     .problems = 40,
     .n = 20,
     .n_more = 21,
     .devices = 3,
     .more = 4,
     .density = 0.03,
     .denser = 0.02,
     .drawn = {.memory = 0.15, .host_memory = 0.6},
     .options = {STREAM},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 15000, 15000},
               {"critical_path", 4600, 4600},
               {"unit_chain", 1635, 1635},
               {"area_price", 2026, 2026},
               {"join", 4604, 4604},
               {"destructive", 1705, 1705},
               {"cut_vertex", 1409, 1409},
               {"linear_relaxation", 1853, 1853},
               {"visits", 5524, 5524}}},
    {.name = "large pipelines",
     .problems = 40,
     .n = 20,
     .n_more = 21,
     .devices = 3,
     .more = 4,
     .density = 0.05,
     .denser = 0.03,
     .drawn = {.memory = 0.3, .training = true},
     .options = {PERIOD, STAGED, .free = true},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 3000, 3000},
               {"balance", 1928, 1928},
               {"area_price", 3034, 3034},
               {"largest_operator", 1619, 1619}}},
    {.name = "many calls",
     .problems = 60,
     .n = 10,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.1,
     .denser = 0.05,
     .drawn = {.memory = 0.3, .equal = true, .n_colocations = 2},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 3},
     .marks =
         {{"memory_price", 0, 0}, {"packing", 2000, 2000}, {"critical_path", 2374, 2374}, {"call_price", 2680, 0}}},
    {.name = "training streams, little memory",
     .problems = 72,
     .n = 7,
     .n_more = 8,
     .devices = 2,
     .more = 3,
     .density = 0.2,
     .denser = 0.08,
     .drawn = {.training = true, .memory = 0.5, .n_colocations = 2},
     .options = {STREAM},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 2000, 2000},
               {"critical_path", 6479, 6479},
               {"unit_chain", 4003, 4003},
               {"area_price", 6975, 6975},
               {"join", 7101, 7101},
               {"destructive", 4213, 4213},
               {"cut_vertex", 3150, 3150},
               {"linear_relaxation", 4128, 4128},
               {"visits", 4813, 4813}}},
    {.name = "training streams, all memories small",
     .problems = 60,
     .n = 9,
     .n_more = 8,
     .devices = 3,
     .more = 2,
     .density = 0.15,
     .denser = 0.06,
     .drawn = {.training = true, .memory = 0.55, .host_memory = 0.75, .n_colocations = 1, .unfused = true},
     .options = {STREAM, .contention = SITU_CONTENTION_NONE},
     .marks = {{"packing", 17000, 17000},
               {"critical_path", 17176, 17176},
               {"unit_chain", 2453, 2453},
               {"area_price", 3390, 3390},
               {"join", 17247, 17247},
               {"destructive", 2956, 2956},
               {"cut_vertex", 2316, 2316},
               {"linear_relaxation", 3100, 3100},
               {"visits", 11989, 11989}}},
    {.name = "pipelines of groups",
     .problems = 72,
     .n = 8,
     .n_more = 9,
     .devices = 2,
     .more = 5,
     .density = 0.08,
     .denser = 0.05,
     .drawn = {.training = true, .memory = 0.6, .n_colocations = 1},
     .options = {PERIOD, STAGED, .in_flight = 2},
     .marks = {{"memory_price", 1000, 1000},
               {"packing", 3000, 3000},
               {"balance", 4276, 4276},
               {"area_price", 3473, 3473},
               {"largest_operator", 4270, 4270},
               {"runs", 6314, 6314},
               {"configuration", 708, 0}}},
    {.name = "long pipelines",
     .problems = 60,
     .n = 24,
     .n_more = 17,
     .devices = 3,
     .more = 4,
     .density = 0.02,
     .denser = 0.015,
     .drawn = {.memory = 0.5, .equal = true},
     .options = {PERIOD, STAGED},
     .marks =
         {{"balance", 2276, 2276}, {"area_price", 2589, 2589}, {"largest_operator", 1352, 1352}, {"runs", 1410, 1410}}},
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
  o.n_colocations += k % 4 == 1 ? 1 : 0;
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

static bool asks_engine(int32_t which) {
  return which == CONFIGURATION || (which < BOUNDS && bounds[which] == &linear_relaxation_bound);
}

/* What has to add up; where no engine for linear programs is there, nothing of the bounds that ask one. */
static mark mark_of(const family *f, int32_t which) {
  for (int32_t i = 0; i < MOST_MARKS && f->marks[i].bound && !(asks_engine(which) && lp_missing()); i++)
    if (strcmp(f->marks[i].bound, name_of(which)) == 0) return f->marks[i];
  return (mark){0};
}

/* What is wrong with a sum; NULL where it is as it was. */
static const char *verdict(const tally *sum, int32_t which, mark m) {
  if (sum->lower_ns[which] < m.least_ns || sum->proved_ns[which] < m.proved_ns) return "WEAKER";
  bool rises = sum->lower_ns[which] > m.least_ns || sum->proved_ns[which] > m.proved_ns;
  return rises && !asks_engine(which) ? "STRONGER: raise it here" : NULL;
}

static void bounds_are_as_strong_as_they_were(void **state) {
  (void)state;
  bool differs = false;
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    const family *f = &families[i];
    tally sum = {0};
    for (int32_t k = 0; k < f->problems; k++) add_problem(&sum, f, f->first + k);
    for (int32_t b = 0; b < SAID; b++) {
      const char *wrong = verdict(&sum, b, mark_of(f, b));
      if (sum.lower_ns[b] > 0 || wrong)
        print_message("%-34s {\"%s\", %" PRId64 ", %" PRId64 "} %s\n", f->name, name_of(b), sum.lower_ns[b],
                      sum.proved_ns[b], wrong ? wrong : "");
      differs |= wrong != NULL;
    }
  }
  assert_false(differs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_are_as_strong_as_they_were)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
