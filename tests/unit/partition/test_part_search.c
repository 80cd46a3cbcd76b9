/* Sub-graphs for a runtime: every rule checked anew, and the cost against all partitions of small graphs. */
#include "situ/partition.h"

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"

enum { MAX_OPS = 6, MAX_KINDS = 3 };

typedef struct question {
  situ_graph *graph;
  int32_t n, k;
  bool supported[64 * MAX_KINDS];
  int64_t costs[64 * MAX_KINDS];
  int32_t min[MAX_KINDS];
  situ_partition_options options;
} question;

static void done(situ_status status, const situ_error *error) {
  if (status != SITU_STATUS_OK) fail_msg("%s: %s", error->where, error->text);
}

/* A random graph of n operators; some tensors have several readers, some operators are colocated. */
static situ_graph *random_dag(rng *r, int32_t n, bool colocated) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g = NULL;
  situ_error error = {0};
  int32_t tensor[64][2];
  done(situ_graph_builder_new(&b, "random", &error), &error);
  for (int32_t v = 0; v < n; v++) {
    situ_operator op = SITU_OPERATOR_INIT;
    situ_tensor t = SITU_TENSOR_INIT;
    if (colocated && rng_below(r, 3) == 0) op.colocation = (int32_t)rng_below(r, 2);
    assert_int_equal(situ_graph_builder_add_operator(b, &op), v);
    for (int k = 0; k < 2; k++) tensor[v][k] = situ_graph_builder_add_tensor(b, v, &t);
    for (int32_t u = v > 8 ? v - 8 : 0; u < v; u++)
      if (rng_below(r, 3) == 0) situ_graph_builder_add_use(b, v, tensor[u][rng_below(r, 2)]);
  }
  done(situ_graph_freeze(&g, b, &error), &error);
  return g;
}

static void draw_question(question *into, rng *r, int32_t n, int32_t k, bool small_parts) {
  question q = {.n = n, .k = k, .options = SITU_PARTITION_OPTIONS_INIT};
  q.graph = random_dag(r, n, rng_below(r, 4) == 0);
  for (int32_t i = 0; i < n * k; i++) {
    q.supported[i] = rng_below(r, 3) > 0;
    q.costs[i] = (int64_t)rng_below(r, 4);
  }
  if (rng_below(r, 2)) /* one that runs everything, as a CPU does */
    for (int32_t v = 0; v < n; v++) q.supported[v * k + k - 1] = true;
  for (int32_t d = 0; d < k; d++) q.min[d] = small_parts && d < k - 1 ? 1 + (int32_t)rng_below(r, 3) : 1;
  bool own_costs = rng_below(r, 2);
  q.options.crossing_cost = (int64_t)rng_below(r, 4);
  q.options.part_cost = (int64_t)rng_below(r, 3);
  *into = q;
  into->options.min_operators = into->min;
  into->options.costs = own_costs ? into->costs : NULL;
}

static int64_t cost_on(const question *q, int32_t v, int32_t d) {
  return q->options.costs ? q->costs[v * q->k + d] : d;
}

static int32_t group_of(const situ_graph *g, int32_t v) {
  situ_operator op = SITU_OPERATOR_INIT;
  assert_true(situ_graph_operator(g, v, &op));
  return op.colocation;
}

/* Tensors and the devices that receive them. */
static int64_t count_crossings(const question *q, const int32_t *device) {
  situ_graph_summary has = SITU_GRAPH_SUMMARY_INIT;
  int64_t n = 0;
  situ_graph_get_summary(q->graph, &has);
  for (int32_t t = 0; t < has.n_tensors; t++) {
    const int32_t *user;
    int32_t n_users = situ_graph_users(q->graph, t, &user), from = device[situ_graph_tensor_producer(q->graph, t)];
    for (int32_t d = 0; d < q->k; d++) {
      bool received = false;
      for (int32_t i = 0; i < n_users; i++) received = received || (device[user[i]] == d && d != from);
      n += received;
    }
  }
  return n;
}

/* ---- all partitions ---- */

/* The fewest parts of placed operators, over all sequences of sets; INT32_MAX if none keeps the minimum. */
static int32_t fewest_parts(const question *q, const int32_t *device) {
  int32_t n_sets = 1 << q->n, before[MAX_OPS] = {0}, least[1 << MAX_OPS];
  for (int32_t v = 0; v < q->n; v++) {
    const int32_t *tensor;
    int32_t n_inputs = situ_graph_inputs(q->graph, v, &tensor);
    for (int32_t i = 0; i < n_inputs; i++) before[v] |= 1 << situ_graph_tensor_producer(q->graph, tensor[i]);
  }
  for (int32_t s = 0; s < n_sets; s++) least[s] = s ? INT32_MAX : 0;
  for (int32_t s = 0; s < n_sets; s++)
    for (int32_t part = 1; part < n_sets && least[s] < INT32_MAX; part++) {
      int32_t d = -1, size = 0;
      bool good = (part & s) == 0;
      for (int32_t v = 0; v < q->n && good; v++) {
        if (!(part >> v & 1)) continue;
        good = (d < 0 || d == device[v]) && (before[v] & ~(s | part)) == 0;
        d = device[v];
        size++;
      }
      if (good && size >= q->min[d] && least[s] + 1 < least[s | part]) least[s | part] = least[s] + 1;
    }
  return least[n_sets - 1];
}

/* The least cost of all partitions; INT64_MAX if there is none. */
static int64_t least_cost(const question *q) {
  int32_t device[MAX_OPS] = {0};
  int64_t best = INT64_MAX, crossing = q->options.crossing_cost ? q->options.crossing_cost : 1;
  for (;;) {
    bool good = true;
    int64_t cost = 0;
    for (int32_t v = 0; v < q->n; v++) {
      good = good && q->supported[v * q->k + device[v]];
      cost += cost_on(q, v, device[v]);
      for (int32_t u = 0; u < v; u++)
        if (group_of(q->graph, v) >= 0 && group_of(q->graph, u) == group_of(q->graph, v))
          good = good && device[u] == device[v];
    }
    cost += crossing * count_crossings(q, device);
    if (good && cost + q->options.part_cost < best) {
      int32_t n_parts = fewest_parts(q, device);
      if (n_parts < INT32_MAX && cost + q->options.part_cost * n_parts < best)
        best = cost + q->options.part_cost * n_parts;
    }
    int32_t v = 0;
    while (v < q->n && ++device[v] == q->k) device[v++] = 0;
    if (v == q->n) return best;
  }
}

/* ---- the rules ---- */

static void check_acyclic(const question *q, const situ_partition *p, int32_t n_parts) {
  bool *edge = calloc((size_t)n_parts * (size_t)n_parts, sizeof *edge), *gone = calloc((size_t)n_parts, sizeof *gone);
  for (int32_t v = 0; v < q->n; v++) {
    const int32_t *tensor;
    int32_t n_inputs = situ_graph_inputs(q->graph, v, &tensor), mine = situ_partition_part_of(p, v);
    for (int32_t i = 0; i < n_inputs; i++) {
      int32_t theirs = situ_partition_part_of(p, situ_graph_tensor_producer(q->graph, tensor[i]));
      assert_true(theirs <= mine); /* the order of parts is one that runs */
      if (theirs != mine) edge[theirs * n_parts + mine] = true;
    }
  }
  for (int32_t n_gone = 0, found = 1; n_gone < n_parts; n_gone += found) { /* sources go, one by one */
    found = 0;
    for (int32_t k = 0; k < n_parts && !found; k++) {
      bool source = !gone[k];
      for (int32_t m = 0; m < n_parts && source; m++) source = gone[m] || !edge[m * n_parts + k];
      if (source) found = 1, gone[k] = true;
    }
    assert_true(found);
  }
  free(edge);
  free(gone);
}

static bool among(const int32_t *list, int32_t n, int32_t x) {
  for (int32_t i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

static void check_tensors(const question *q, const situ_partition *p, int32_t k, const situ_subgraph *part) {
  situ_graph_summary has = SITU_GRAPH_SUMMARY_INIT;
  situ_graph_get_summary(q->graph, &has);
  for (int32_t i = 1; i < part->n_inputs; i++) assert_true(part->inputs[i - 1] < part->inputs[i]);
  for (int32_t i = 1; i < part->n_outputs; i++) assert_true(part->outputs[i - 1] < part->outputs[i]);
  for (int32_t t = 0; t < has.n_tensors; t++) {
    const int32_t *user;
    int32_t n_users = situ_graph_users(q->graph, t, &user);
    bool made = situ_partition_part_of(p, situ_graph_tensor_producer(q->graph, t)) == k, here = false,
         away = n_users == 0;
    for (int32_t i = 0; i < n_users; i++) {
      here = here || situ_partition_part_of(p, user[i]) == k;
      away = away || situ_partition_part_of(p, user[i]) != k;
    }
    assert_int_equal(among(part->inputs, part->n_inputs, t), !made && here);
    assert_int_equal(among(part->outputs, part->n_outputs, t), made && away);
  }
}

static void check_partition(const question *q, const situ_partition *p) {
  situ_partition_summary says = SITU_PARTITION_SUMMARY_INIT;
  int32_t device[64], n = 0;
  int64_t cost = 0, crossing = q->options.crossing_cost ? q->options.crossing_cost : 1;
  assert_true(situ_partition_get_summary(p, &says));
  if (says.n_parts == 0) return;
  for (int32_t k = 0; k < says.n_parts; k++) {
    situ_subgraph part = SITU_SUBGRAPH_INIT;
    assert_true(situ_partition_part(p, k, &part));
    assert_true(part.n_operators >= q->min[part.device]);
    for (int32_t i = 0; i < part.n_operators; i++) {
      int32_t v = part.operators[i];
      assert_true(i == 0 || part.operators[i - 1] < v);
      assert_int_equal(situ_partition_part_of(p, v), k);
      assert_true(q->supported[v * q->k + part.device]);
      device[v] = part.device;
      cost += cost_on(q, v, part.device);
      n++;
    }
    check_tensors(q, p, k, &part);
  }
  assert_int_equal(n, q->n);
  check_acyclic(q, p, says.n_parts);
  for (int32_t v = 0; v < q->n; v++)
    for (int32_t u = 0; u < v; u++)
      if (group_of(q->graph, v) >= 0 && group_of(q->graph, u) == group_of(q->graph, v))
        assert_int_equal(device[u], device[v]);
  assert_int_equal(says.n_crossings, count_crossings(q, device));
  assert_int_equal(says.cost, cost + crossing * says.n_crossings + q->options.part_cost * says.n_parts);
  assert_true(says.lower_bound <= says.cost);
  assert_int_equal(says.outcome, says.cost == says.lower_bound ? SITU_OUTCOME_OPTIMAL : SITU_OUTCOME_FEASIBLE);
}

/* The partition of a question, checked; NULL if an operator has no device. */
static situ_partition *ask(const question *q) {
  situ_partition *p = NULL;
  situ_error error = {0};
  situ_status status = situ_partition_find(&p, q->graph, q->k, q->supported, &q->options, &error);
  if (status == SITU_STATUS_BAD_INPUT) {
    assert_null(p);
    return NULL;
  }
  done(status, &error);
  check_partition(q, p);
  return p;
}

TEST(small_graphs_are_held_against_all_partitions) {
  int32_t n_found = 0, n_least = 0, n_none = 0, n_proved = 0;
  for (int32_t round = 0; round < rounds_of(3000); round++) {
    rng r = rng_new((uint64_t)round + 1);
    question q;
    draw_question(&q, &r, 1 + (int32_t)rng_below(&r, MAX_OPS), 1 + (int32_t)rng_below(&r, MAX_KINDS), true);
    int64_t least = least_cost(&q);
    situ_partition *p = ask(&q);
    situ_partition_summary says = SITU_PARTITION_SUMMARY_INIT;
    if (!p) assert_true(least == INT64_MAX);
    if (p) {
      situ_partition_get_summary(p, &says);
      assert_true(says.lower_bound <= least);
      assert_true(says.cost >= least);
      if (says.outcome == SITU_OUTCOME_OPTIMAL) assert_int_equal(says.cost, least);
      if (says.outcome == SITU_OUTCOME_INFEASIBLE) assert_true(least == INT64_MAX);
      n_found += least < INT64_MAX;
      n_least += least < INT64_MAX && says.cost == least;
      n_none += says.outcome == SITU_OUTCOME_LIMIT && least < INT64_MAX;
      n_proved += says.outcome == SITU_OUTCOME_OPTIMAL;
    }
    situ_partition_free(p);
    situ_graph_free(q.graph);
  }
  print_message("%d of %d are of least cost, %d proved, %d not found\n", (int)n_least, (int)n_found, (int)n_proved,
                (int)n_none);
  assert_true(100 * n_least >= 99 * n_found);
}

/* The cut is the optimum of costs and crossings, and nothing else counts. */
TEST(two_devices_without_a_minimum_are_proved) {
  for (int32_t round = 0; round < rounds_of(1000); round++) {
    rng r = rng_new((uint64_t)round + 1);
    question q;
    draw_question(&q, &r, 1 + (int32_t)rng_below(&r, MAX_OPS), 2, false);
    q.options.part_cost = 0;
    situ_partition *p = ask(&q);
    situ_partition_summary says = SITU_PARTITION_SUMMARY_INIT;
    if (p) {
      situ_partition_get_summary(p, &says);
      assert_int_equal(says.outcome, SITU_OUTCOME_OPTIMAL);
      assert_int_equal(says.cost, least_cost(&q));
    }
    situ_partition_free(p);
    situ_graph_free(q.graph);
  }
}

TEST(larger_graphs_keep_every_rule) {
  for (int32_t round = 0; round < rounds_of(300); round++) {
    rng r = rng_new((uint64_t)round + 1);
    question q;
    draw_question(&q, &r, 20 + (int32_t)rng_below(&r, 44), 1 + (int32_t)rng_below(&r, MAX_KINDS), true);
    situ_partition *p = ask(&q), *repeated = ask(&q);
    for (int32_t v = 0; v < q.n && p; v++)
      assert_int_equal(situ_partition_part_of(p, v), situ_partition_part_of(repeated, v));
    situ_partition_free(p);
    situ_partition_free(repeated);
    situ_graph_free(q.graph);
  }
}

/* NPU, CPU, NPU, ...: in a chain of operators that alternate by support, parts alternate, unless they must be larger.
 */
TEST(a_chain_of_alternating_support_is_cut_at_every_change) {
  question q = {.n = 12, .k = 2, .min = {1, 1}, .options = SITU_PARTITION_OPTIONS_INIT};
  situ_graph_builder *b = NULL;
  situ_partition_summary says = SITU_PARTITION_SUMMARY_INIT;
  situ_tensor t = SITU_TENSOR_INIT;
  done(situ_graph_builder_new(&b, "chain", NULL), NULL);
  for (int32_t v = 0, last = -1; v < q.n; v++) {
    situ_operator op = SITU_OPERATOR_INIT;
    situ_graph_builder_add_operator(b, &op);
    if (v > 0) situ_graph_builder_add_use(b, v, last);
    last = situ_graph_builder_add_tensor(b, v, &t);
    q.supported[2 * v] = v % 4 < 3; /* three of four run on the NPU */
    q.supported[2 * v + 1] = true;
    q.costs[2 * v + 1] = 10; /* and are better there */
  }
  done(situ_graph_freeze(&q.graph, b, NULL), NULL);
  situ_graph_builder_free(b);
  q.options.min_operators = q.min;
  q.options.costs = q.costs;
  situ_partition *p = ask(&q);
  situ_partition_get_summary(p, &says);
  assert_int_equal(says.n_parts, 6);
  assert_int_equal(says.cost, 3 * 10 + 5); /* three operators on the CPU, five crossings */
  situ_partition_free(p);
  q.min[0] = 4; /* no three operators are enough */
  p = ask(&q);
  situ_partition_get_summary(p, &says);
  assert_int_equal(says.n_parts, 1);
  assert_int_equal(says.cost, 120);
  situ_partition_free(p);
  for (int32_t v = 0; v < q.n; v++) q.supported[2 * v + 1] = false;
  for (int32_t v = 0; v < q.n; v++) q.supported[2 * v] = true;
  q.min[0] = 13; /* more than there are */
  p = ask(&q);
  situ_partition_get_summary(p, &says);
  assert_int_equal(says.outcome, SITU_OUTCOME_INFEASIBLE);
  situ_partition_free(p);
  q.supported[0] = false;
  situ_error error = {0};
  assert_int_equal(situ_partition_find(&p, q.graph, q.k, q.supported, &q.options, &error), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, "Operator_0");
  situ_graph_free(q.graph);
}

TEST_MAIN
