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
enum {
  NO_PLAN_NS = 1000,
  FINE = 1000
}; /* what says that there is no plan counts so much; in fine problems FINE times */

typedef struct mark {
  const char *bound;
  int64_t min_ns, proved_ns; /* sums over the problems of the family: what it says, and what its certificates do */
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
     .marks = {{"critical_path", 523906, 523906},
               {"unit_chain", 503803, 503803},
               {"area_price", 356496, 356496},
               {"join", 547051, 547051},
               {"destructive", 591532, 591532},
               {"cut_vertex", 569146, 569146},
               {"linear_relaxation", 1684, 1684}}},
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
     .marks = {{"critical_path", 805496, 805496},
               {"unit_chain", 526490, 526490},
               {"area_price", 690942, 690942},
               {"join", 842598, 842598},
               {"destructive", 591521, 591521},
               {"cut_vertex", 569146, 569146},
               {"linear_relaxation", 1818, 1818},
               {"visits", 758561, 758561}}},
    {.name = "thin streams",
     .problems = 72,
     .n = 9,
     .n_more = 6,
     .devices = 2,
     .more = 3,
     .density = 0.06,
     .denser = 0.03,
     .options = {STREAM},
     .marks = {{"critical_path", 658455, 658455},
               {"unit_chain", 655410, 655410},
               {"area_price", 637450, 637450},
               {"join", 669652, 669652},
               {"destructive", 782353, 782353},
               {"cut_vertex", 785192, 785192},
               {"linear_relaxation", 2311, 2311}}},
    {.name = "streams",
     .problems = 96,
     .n = 8,
     .n_more = 5,
     .devices = 2,
     .more = 3,
     .density = 0.15,
     .denser = 0.08,
     .options = {STREAM, .contention = SITU_CONTENTION_NONE},
     .marks = {{"critical_path", 1157638, 1157638},
               {"unit_chain", 1095395, 1095395},
               {"area_price", 823370, 823370},
               {"join", 1232158, 1232158},
               {"destructive", 1308515, 1308515},
               {"cut_vertex", 1316905, 1316905},
               {"linear_relaxation", 3923, 3923}}},
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
     .marks = {{"critical_path", 564098, 564098},
               {"unit_chain", 542832, 542832},
               {"area_price", 347968, 347968},
               {"join", 567128, 567128},
               {"destructive", 572701, 572701},
               {"cut_vertex", 592235, 592235},
               {"linear_relaxation", 1718, 1718}}},
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
     .marks = {{"packing", 1002000, 1002000},
               {"critical_path", 999748, 999748},
               {"unit_chain", 697137, 697137},
               {"area_price", 788500, 788500},
               {"join", 1037857, 1037857},
               {"destructive", 812315, 812315},
               {"cut_vertex", 831784, 831784},
               {"linear_relaxation", 2638, 2638},
               {"visits", 992572, 992572}}},
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
     .marks = {{"memory_price", 1001000, 1001000},
               {"packing", 7015000, 7015000},
               {"critical_path", 4740571, 4740571},
               {"unit_chain", 1574663, 1574663},
               {"area_price", 1754132, 1754132},
               {"join", 4742781, 4742781},
               {"destructive", 727203, 727203},
               {"cut_vertex", 764489, 764489},
               {"linear_relaxation", 2491, 2491},
               {"visits", 3806368, 3806368}}},
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
               {"packing", 11028000, 11028000},
               {"critical_path", 11316533, 11316533},
               {"unit_chain", 600779, 600779},
               {"area_price", 515398, 515398},
               {"join", 11316544, 11316544},
               {"destructive", 727203, 727203},
               {"cut_vertex", 764489, 764489},
               {"linear_relaxation", 2407, 2407},
               {"visits", 10304553, 10304553}}},
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
     .marks = {{"packing", 1001000, 1001000},
               {"critical_path", 1828499, 1828499},
               {"memory_cut", 1287108, 1287108},
               {"unit_chain", 1147297, 1147297},
               {"area_price", 749717, 749717},
               {"join", 1868760, 1868760},
               {"destructive", 712026, 712026},
               {"cut_vertex", 723618, 723618},
               {"linear_relaxation", 2282, 2282},
               {"visits", 1796253, 1796253}}},
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
     .marks = {{"critical_path", 518794, 518794},
               {"area_price", 480768, 480768},
               {"join", 559947, 559947},
               {"destructive", 551264, 551264},
               {"cut_vertex", 555396, 555396},
               {"linear_relaxation", 1696, 1696},
               {"visits", 476459, 476459}}},
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
               {"critical_path", 945694, 945694},
               {"call_price", 1174181, 0}}},
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
     .marks = {{"critical_path", 745570, 745570}, {"call_price", 871913, 0}}},
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
               {"balance", 458455, 458455},
               {"area_price", 479009, 479009},
               {"largest_operator", 382340, 382340},
               {"runs", 528151, 528151},
               {"configuration", 1079, 0}}},
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
     .marks = {{"balance", 498774, 498774},
               {"area_price", 466840, 466840},
               {"largest_operator", 445481, 445481},
               {"runs", 513084, 513084}}},
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
     .marks = {{"memory_price", 1001000, 1001000},
               {"packing", 1001000, 1001000},
               {"balance", 918395, 918395},
               {"area_price", 1844175, 1844175},
               {"largest_operator", 805353, 805353},
               {"runs", 1002911, 1002911},
               {"configuration", 721, 0}}},
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
               {"balance", 616055, 616055},
               {"area_price", 602427, 602427},
               {"largest_operator", 560139, 560139}}},
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
     .marks = {{"balance", 452897, 452897}, {"area_price", 530659, 530659}}},
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
     .marks = {{"balance", 670326, 670326},
               {"area_price", 637376, 637376},
               {"largest_operator", 608580, 608580},
               {"configuration", 1758, 0}}},
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
     .marks = {{"critical_path", 502660, 502660},
               {"unit_chain", 484765, 484765},
               {"area_price", 523220, 523220},
               {"join", 511744, 511744},
               {"destructive", 614460, 614460},
               {"cut_vertex", 502759, 502759},
               {"linear_relaxation", 2170, 2170}}},
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
     .marks = {{"memory_price", 1000000, 1000000},
               {"packing", 4011000, 4011000},
               {"critical_path", 2496886, 2496886},
               {"unit_chain", 651867, 651867},
               {"area_price", 645635, 645635},
               {"join", 2496890, 2496890},
               {"destructive", 510217, 510217},
               {"cut_vertex", 375630, 375630},
               {"linear_relaxation", 1870, 1870},
               {"visits", 2501806, 2501806}}},
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
               {"packing", 1002000, 1002000},
               {"balance", 551637, 551637},
               {"area_price", 585251, 585251},
               {"largest_operator", 462831, 462831}}},
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
     .marks = {{"packing", 1001000, 1001000}, {"critical_path", 838544, 838544}, {"call_price", 909597, 0}}},
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
               {"critical_path", 1576157, 1576157},
               {"unit_chain", 1073227, 1073227},
               {"area_price", 1943357, 1943357},
               {"join", 1687059, 1687059},
               {"destructive", 1548846, 1548846},
               {"cut_vertex", 1086398, 1086398},
               {"linear_relaxation", 4114, 4114},
               {"visits", 1301983, 1301983},
               {"call_price", 0, 0}}},
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
     .marks = {{"packing", 6011000, 6011000},
               {"critical_path", 3977465, 3977465},
               {"unit_chain", 863992, 863992},
               {"area_price", 1300077, 1300077},
               {"join", 4023529, 4023529},
               {"destructive", 1028889, 1028889},
               {"cut_vertex", 860945, 860945},
               {"linear_relaxation", 3096, 3096},
               {"visits", 4671700, 4671700}}},
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
               {"packing", 1002000, 1002000},
               {"balance", 1202274, 1202274},
               {"area_price", 1007442, 1007442},
               {"largest_operator", 1180641, 1180641},
               {"runs", 1445274, 1445274},
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
     .marks = {{"balance", 735832, 735832},
               {"area_price", 890895, 890895},
               {"largest_operator", 377966, 377966},
               {"runs", 424963, 424963}}},
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

static bool asks_engine(int32_t which) {
  return which == CONFIGURATION || (which < BOUNDS && bounds[which] == &linear_relaxation_bound);
}

/* The same problem in units of 1/1000, with times that are no multiples: rounding hides a bound that is a little
 * weaker. */
static situ_problem *make_fine(lab *l, const family *f) {
  situ_costs *c = l->costs;
  int64_t n = (int64_t)l->graph->n_operators * c->n_classes;
  for (int64_t i = 0; i < n; i++)
    if (c->time_ns[i] > 0 && c->time_ns[i] != SITU_NEVER_NS) c->time_ns[i] = c->time_ns[i] * FINE + i * 37 % 101;
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++) c->transfer_rows[i] *= FINE;
  costs_find_extremes(c);
  situ_problem_options options = f->options;
  options.size = sizeof options;
  options.pins = l->pins;
  options.unused = l->unused;
  options.max_latency_ns *= FINE;
  situ_problem *p;
  situ_error error;
  if (situ_problem_pose(&p, l->graph, l->platform, c, &options, &error)) fail_msg("%s", error.text);
  return p;
}

/* What is asked of an engine counts in whole units: the engine rounds. */
static void add(tally *sum, int32_t i, int64_t lower_ns, const certificate *proof, bool fine) {
  int64_t unit = fine && asks_engine(i) ? FINE : 1, none_ns = fine ? NO_PLAN_NS * FINE : NO_PLAN_NS;
  sum->lower_ns[i] += (lower_ns < none_ns ? lower_ns : none_ns) / unit;
  if (proof->kind) sum->proved_ns[i] += (proof->lower_ns < none_ns ? proof->lower_ns : none_ns) / unit;
}

static void add_bounds(tally *sum, const situ_problem *p, int64_t max_ns, const family *f, uint64_t seed, bool fine) {
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
    if (lower_ns > max_ns)
      fail_msg("%s, seed %d: %s says %" PRId64 ", the optimum is %" PRId64, f->name, (int)seed, name_of(i), lower_ns,
               max_ns);
    add(sum, i, lower_ns, &proof, fine);
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
  bool small = o.n_operators <= MOST_BRUTE, fine = !other && k % 3 == 1;
  if (fine) p = make_fine(&l, f);
  if (!situ_problem_conflict(p)) add_bounds(sum, p, small ? brute_force(p, NULL) : SITU_NEVER_NS, f, o.seed, fine);
  if (p != l.problem) situ_problem_free(p);
  lab_free(&l);
  situ_costs_free(other);
}

/* What has to add up; where no engine for linear programs is there, nothing of the bounds that ask one. */
static mark mark_of(const family *f, int32_t which) {
  for (int32_t i = 0; i < MOST_MARKS && f->marks[i].bound && !(asks_engine(which) && lp_missing()); i++)
    if (strcmp(f->marks[i].bound, name_of(which)) == 0) return f->marks[i];
  return (mark){0};
}

/* What is wrong with a sum; NULL where it is as it was. */
static const char *verdict(const tally *sum, int32_t which, mark m) {
  if (sum->lower_ns[which] < m.min_ns || sum->proved_ns[which] < m.proved_ns) return "WEAKER";
  bool rises = sum->lower_ns[which] > m.min_ns || sum->proved_ns[which] > m.proved_ns;
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
