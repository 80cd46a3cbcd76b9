#include <inttypes.h>

#include "../../lab/brute.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "bound/bound.h"
#include "bound/configuration.h"
#include "cost/costs.h"
#include "exact/call_price.h"
#include "ledger.h"
#include "lp/lp.h"

enum { MAX_BRUTE = 5, MAX_SETS = 9, FIRST_SETS = 40 };
enum {
  NO_PLAN_NS = 1000,
  FINE = 1000
}; /* what says that there is no plan counts so much; in fine problems FINE times */

/* What adds up, for each bound, and for those that are none of the table: of pipelines, with the engine for linear
 * programs and without, where no other prices hide what the first ones prove, and of calls. */
enum { CONFIGURATION = BOUNDS, FIRST_PRICES, CALL_PRICE, SAID };
typedef struct tally {
  int64_t lower_ns[SAID], proved_ns[SAID];
} tally;

static const char *name_of(int32_t i) {
  static const char *const others[] = {"configuration", "configuration - first prices", "call_price"};
  return i < BOUNDS ? bounds[i]->name : others[i - BOUNDS];
}

/* Linked instead of lp_missing. */
static bool engine_is_off;
const char *__real_lp_missing(void);
const char *__wrap_lp_missing(void);
const char *__wrap_lp_missing(void) { return engine_is_off ? "switched off" : __real_lp_missing(); }

/* What solvers of calls know from the start: by prices of bytes and calls. */
static int64_t call_price_of(const situ_problem *p, budget *b, arena *a) {
  call_graph g;
  call_lattice l;
  call_price c;
  bool unsupported;
  assert_true(call_graph_find(&g, p, 0, a));
  assert_int_equal(call_lattice_find(&l, &g, 100000, a, b), CALL_LATTICE_ALL);
  bool made = call_price_make(&c, &l, &unsupported, a);
  if (unsupported) return 0; /* nothing to place, or times too long */
  assert_true(made && call_price_improve(&c, b));
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

/* The times of the operators that run somewhere, changed one by one. */
static void change_times(lab *l, int64_t change(int64_t time_ns, int64_t i, int64_t factor), int64_t factor) {
  situ_costs *c = l->costs;
  int64_t n = (int64_t)l->graph->n_operators * c->n_classes;
  for (int64_t i = 0; i < n; i++)
    if (c->time_ns[i] > 0 && c->time_ns[i] != SITU_NEVER_NS) c->time_ns[i] = change(c->time_ns[i], i, factor);
}

static int64_t longer(int64_t time_ns, int64_t i, int64_t factor) { return time_ns * factor + i * 37 % 101; }
static int64_t one_of_three(int64_t time_ns, int64_t i, int64_t factor) {
  (void)i;
  return factor * (time_ns % 3);
}

/* Units of 1/factor, with times that are no multiples: rounding hides a bound that is a little weaker. */
static void make_longer(lab *l, int64_t factor) {
  situ_costs *c = l->costs;
  change_times(l, longer, factor);
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++) c->transfer_rows[i] *= factor;
  costs_find_extremes(c);
}

static int64_t all_bytes(const situ_graph *g) {
  int64_t sum = 1;
  for (int32_t v = 0; v < g->n_operators; v++) sum += g->weight_bytes[v] + g->workspace_bytes[v];
  for (int32_t t = 0; t < g->n_tensors; t++) sum += g->size_bytes[t];
  return sum;
}

/* Every second problem: all bytes that a problem may have. */
static void make_heavier(lab *l, const family *f) {
  situ_graph *g = l->graph;
  int64_t factor = PROBLEM_MAX_BYTES / all_bytes(g) / (f->options.in_flight > 1 ? f->options.in_flight : 1);
  for (int32_t v = 0; v < g->n_operators; v++) {
    g->weight_bytes[v] *= factor;
    g->workspace_bytes[v] *= factor;
  }
  for (int32_t t = 0; t < g->n_tensors; t++) g->size_bytes[t] *= factor;
  for (int32_t m = 0; m < l->platform->n_memories; m++)
    if (l->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES) l->platform->memory_bytes[m] *= factor;
}

/* Sizes of a few bytes, and memories of as much of them as before. */
static void make_small(lab *l) {
  situ_graph *g = l->graph;
  double before = (double)all_bytes(g);
  for (int32_t v = 0; v < g->n_operators; v++) {
    g->weight_bytes[v] %= 4;
    g->workspace_bytes[v] %= 2;
  }
  for (int32_t t = 0; t < g->n_tensors; t++)
    if (g->size_bytes[t] > 0) g->size_bytes[t] = 1 + g->size_bytes[t] % 2;
  double after = (double)all_bytes(g);
  for (int32_t m = 0; m < l->platform->n_memories; m++)
    if (l->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES)
      l->platform->memory_bytes[m] = (int64_t)((double)l->platform->memory_bytes[m] * after / before);
}

static situ_problem *pose(const lab *l, const family *f, int64_t factor) {
  situ_problem_options options = f->options;
  options.size = sizeof options;
  options.pins = l->pins;
  options.unused = l->unused;
  options.max_latency_ns *= factor;
  options.max_period_ns *= factor;
  situ_problem *p;
  situ_error error;
  if (situ_problem_pose(&p, l->graph, l->platform, l->costs, &options, &error)) fail_msg("%s", error.text);
  return p;
}

/* By how much times grow until together they are 2^54 ns, which is the limit of a problem, or 2^50, 2^49 or 2^42 ns,
 * those of some bounds; sometimes just above these. */
static int64_t factor_of(const lab *l, int32_t k) {
  static const int bits[] = {54, 50, 49, 42};
  int64_t serial_ns = problem_serial_ns(l->problem, 1) + 1, most_ns = (int64_t)1 << bits[k % 4];
  if (k % 4 > 0 && k / 4 % 2) most_ns += most_ns / 8;
  return (most_ns - 101 * l->graph->n_operators) / serial_ns;
}

/* The same problem with other numbers. */
static situ_problem *change_numbers(lab *l, const family *f, bool fine, int32_t k) {
  int64_t factor = f->manner == NEAR_LIMITS ? factor_of(l, k) : fine ? FINE : 1;
  if (f->manner == FEW_VALUES) change_times(l, one_of_three, 5);
  if (f->manner == FEW_VALUES) make_small(l);
  if (factor > 1) make_longer(l, factor);
  if (f->manner == NEAR_LIMITS && k % 2 == 0) make_heavier(l, f);
  costs_find_extremes(l->costs);
  return pose(l, f, factor);
}

/* What is asked of an engine counts in whole units: the engine rounds. */
static void add(tally *sum, int32_t i, int64_t lower_ns, const certificate *proof, const family *f, bool fine) {
  int64_t unit = fine && asks_engine(i) ? FINE : 1, none_ns = fine ? NO_PLAN_NS * FINE : NO_PLAN_NS;
  if (f->manner == NEAR_LIMITS) none_ns = PROBLEM_MAX_NS;
  sum->lower_ns[i] += (lower_ns < none_ns ? lower_ns : none_ns) / unit;
  if (proof->kind) sum->proved_ns[i] += (proof->lower_ns < none_ns ? proof->lower_ns : none_ns) / unit;
}

/* A callback of budgets: the looks that are left. */
static bool look(void *context) {
  int32_t *left = context;
  return (*left)-- <= 0;
}

static void add_bounds(tally *sum, const situ_problem *p, int64_t max_ns, const family *f, uint64_t seed, bool fine) {
  static const int32_t looks[] = {0, 2, 7, 25};
  OWN(arena) *a = arena_new();
  for (int32_t i = 0; i < SAID; i++) {
    int64_t lower_ns = 0;
    int32_t left = looks[seed % 4];
    budget b = budget_new(0, 0, f->stopped && i < BOUNDS ? look : NULL, &left);
    if (i == FIRST_PRICES) b.max_steps = FIRST_SETS;
    if (f->stopped && i >= BOUNDS) b.max_steps = 10 * left + 1;
    certificate proof = {0};
    situ_status found = SITU_STATUS_OK;
    arena_mark before = arena_get_mark(a);
    if (asks_engine(i) && f->manner == NEAR_LIMITS) continue; /* what engines make of such numbers differs */
    engine_is_off = i == FIRST_PRICES;
    if (i < BOUNDS && problem_is_of(p, bounds[i]->models))
      found = bounds[i]->compute(&lower_ns, &proof, p, a, &b, NULL);
    else if (i == CALL_PRICE && p->execution == SITU_EXECUTION_CALLS && !f->stopped)
      lower_ns = call_price_of(p, &b, a);
    else if ((i == CONFIGURATION || i == FIRST_PRICES) && p->n_operators <= MAX_SETS && configuration_serves(p))
      found = configuration_raise(&lower_ns, p, SITU_NEVER_NS, a, &b, NULL);
    engine_is_off = false;
    assert_int_equal(found, SITU_STATUS_OK);
    if (lower_ns > max_ns)
      fail_msg("%s, seed %d: %s says %" PRId64 ", the optimum is %" PRId64, f->name, (int)seed, name_of(i), lower_ns,
               max_ns);
    if (lower_ns > PROBLEM_MAX_NS && lower_ns != SITU_NEVER_NS)
      fail_msg("%s, seed %d: %s says %" PRId64 ", which is no time", f->name, (int)seed, name_of(i), lower_ns);
    add(sum, i, lower_ns, &proof, f, fine);
    arena_release(a, before);
  }
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
  o.pinned = k % 7 == 3 && o.n_devices > 1;
  o.unsupported = k % 4 == 2;
  o.pools = k % 2 == 0;
  o.options = f->options;
  OWN(lab) l = lab_random(&o);
  situ_problem *p = l.problem;
  OWN(situ_costs) *other = f->other ? other_costs_of(&l) : NULL;
  if (other) {
    situ_problem_options options = f->options;
    options.size = sizeof options;
    options.secondary_costs = other;
    options.max_secondary_ns = 12 * l.graph->n_operators;
    situ_error error;
    if (situ_problem_pose(&p, l.graph, l.platform, l.costs, &options, &error)) fail_msg("%s", error.text);
  }
  bool small = o.n_operators <= MAX_BRUTE, fine = f->manner == AS_DRAWN && !other && k % 3 == 1;
  for (int32_t v = 0; v < o.n_operators && f->all_pinned; v++) l.pins[v] = v * o.n_devices / o.n_operators;
  for (int32_t d = 0; d < o.n_devices && f->all_pinned; d++) l.unused[d] = false;
  for (int32_t d = 0; d < o.n_devices && f->no_host; d++) l.platform->devices[d].is_host = false;
  if (fine || f->manner != AS_DRAWN || f->all_pinned || f->no_host) p = change_numbers(&l, f, fine, k);
  if (!p->conflict) add_bounds(sum, p, small ? brute_force(p, NULL) : SITU_NEVER_NS, f, o.seed, fine);
  if (p != l.problem) situ_problem_free(p);
}

/* ---- the file of sums: problems, bound, what the bound says, what its certificates prove ---- */

enum { MAX_MARKS = 512, NAME_BYTES = 64 };

typedef struct mark {
  char problems[NAME_BYTES], bound[NAME_BYTES];
  int64_t lower_ns, proved_ns;
} mark;

typedef struct marks {
  mark of[MAX_MARKS];
  int32_t n;
} marks;

static void read_marks(marks *out) {
  char line[256];
  out->n = 0;
  FILE *file = fopen(STRENGTH_CSV, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file)); /* the titles */
  while (fgets(line, sizeof line, file)) {
    mark *m = &out->of[out->n++];
    assert_true(out->n < MAX_MARKS);
    assert_int_equal(
        sscanf(line, "%63[^,],%63[^,],%" SCNd64 ",%" SCNd64, m->problems, m->bound, &m->lower_ns, &m->proved_ns), 4);
  }
  assert_int_equal(fclose(file), 0);
}

/* What has to add up; where no engine for linear programs is there, nothing of the bounds that ask one. */
static const mark *find_mark(const marks *in, const family *f, int32_t which) {
  for (int32_t i = 0; i < in->n && !(asks_engine(which) && lp_missing()); i++)
    if (strcmp(in->of[i].problems, f->name) == 0 && strcmp(in->of[i].bound, name_of(which)) == 0) return &in->of[i];
  return NULL;
}

bool ledger_updates = false;

void ledger_holds(const family *families, size_t n) {
  static marks known;
  int32_t n_weaker = 0, n_found = 0;
  bool all = in_check() || ledger_updates;
  read_marks(&known);
  FILE *out = ledger_updates ? fopen(STRENGTH_CSV, "w") : NULL;
  if (out) fprintf(out, "problems,bound,lower_ns,proved_ns\n");
  for (size_t i = 0; i < n; i += all ? 1 : 5) {
    const family *f = &families[i];
    tally sum = {0};
    for (int32_t k = 0; k < f->problems; k++) add_problem(&sum, f, f->first + k);
    for (int32_t b = 0; b < SAID; b++) {
      const mark *m = find_mark(&known, f, b);
      n_found += m != NULL;
      bool weaker = m && (sum.lower_ns[b] < m->lower_ns || sum.proved_ns[b] < m->proved_ns);
      bool stronger = sum.lower_ns[b] > (m ? m->lower_ns : 0) || sum.proved_ns[b] > (m ? m->proved_ns : 0);
      if (weaker || stronger)
        print_message("%s: %s of %s: %" PRId64 " (certified %" PRId64 ")\n", weaker ? "WEAKER" : "stronger", name_of(b),
                      f->name, sum.lower_ns[b], sum.proved_ns[b]);
      if (out && sum.lower_ns[b] > 0)
        fprintf(out, "%s,%s,%" PRId64 ",%" PRId64 "\n", f->name, name_of(b), sum.lower_ns[b], sum.proved_ns[b]);
      n_weaker += weaker;
    }
  }
  if (out) assert_int_equal(fclose(out), 0);
  if (!ledger_updates) assert_int_equal(n_weaker, 0);
  if (all && !ledger_updates && !lp_missing())
    assert_int_equal(n_found, known.n); /* a row that nobody asks for is stale */
}
