/* The parts that an engine cuts a placement into: a latency by hand, and random placements held against the rule. */
#include "sim/engine_parts.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/checked.h"

static const situ_problem_options stream = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};

/* s forks to a on d0 and b on d1, and j joins them on d0. Hand-overs take 5 ns of latency and 1 ns a byte; in the table
 * a start of 7 ns and 1 ns a byte, half at each end, which the transfers hold too. */
TEST(a_fork_by_hand) {
  const struct {
    int64_t dispatch_ns, latency_ns;
  } rows[] = {/* s takes 10 + 2 (its end of 4 bytes, for both readers), a 100 + 2 and 1 for the 2 bytes to j; b 100 + 7
               * + 2 + 1; j 10 + 7 + 1 + 1. b begins at 14 + 5 + 4 and ends at 133; j begins at 133 + 5 + 2. */
              {0, 159},
              /* a begins at 14 + 60 and ends at 177; j begins at 177 + 60. */
              {60, 256}};
  for (int i = 0; i < 2; i++) {
    OWN(lab) s = lab_new();
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
    lab_link(&s, 0, 1, 5 + 7, -1);
    lab_link(&s, 1, 0, 5 + 7, -1);
    int32_t from = lab_operator(&s, "s", 10, 0, 0), a = lab_operator(&s, "a", 100, 0, 0);
    int32_t b = lab_operator(&s, "b", 100, 0, 0), join = lab_operator(&s, "j", 10, 0, 0);
    lab_tensor(&s, from, 4, a, b, -1);
    lab_tensor(&s, a, 2, join, -1);
    lab_tensor(&s, b, 2, join, -1);
    lab_pose(&s, &stream);
    part_cost part[2] = {{.start_ns = 7, .bytes_per_s = 1e9, .dispatch_ns = rows[i].dispatch_ns}};
    part[1] = part[0];
    for (int32_t l = 0; l < 2; l++) s.costs->link[l].latency_ns = 5;
    for (int32_t t = 0; t < 3; t++)
      for (int32_t k = 1; k < s.costs->n_kinds; k++) s.costs->transfer_ns[t][k] = 5 + 7 + 2 * s.graph->size_bytes[t];
    int32_t device[] = {0, 0, 1, 0};
    placement where = {.device = device};
    simulation ran = simulator_run(s.simulator, &where, false);
    parts_model *m = parts_model_new(s.problem, s.arena);
    assert_non_null(m);
    assert_false(parts_known(s.problem));
    assert_int_equal(parts_value_ns(m, &where, &ran), ran.value_ns);
    s.costs->part = part;
    assert_true(parts_known(s.problem));
    s.problem->n_copies = 2; /* whose inputs overlap */
    assert_false(parts_known(s.problem));
    s.problem->n_copies = 1;
    assert_int_equal(parts_value_ns(m, &where, &ran), rows[i].latency_ns);
    assert_int_equal(m->n_parts, 4);
    assert_true(m->part_of[from] != m->part_of[a] && m->part_of[a] != m->part_of[join]);
    situ_plan *plan = lab_plan(&s, &where);
    assert_int_equal(situ_plan_by_parts_ns(plan), rows[i].latency_ns);
    assert_int_equal(situ_plan_by_parts_ns(NULL), SITU_NEVER_NS);
    situ_plan_free(plan);
    int32_t alone[] = {0, 0, 0, 0};
    where.device = alone;
    ran = simulator_run(s.simulator, &where, false);
    assert_int_equal(parts_value_ns(m, &where, &ran), 220);
    s.costs->part = NULL;
  }
}

static bool reads(const situ_graph *g, int32_t w, int32_t t) {
  for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++)
    if (g->in[i] == t) return true;
  return false;
}

/* Whether an operator on another device than v's reads from v. */
static bool is_read_elsewhere(const situ_graph *g, const int32_t *device, int32_t v) {
  for (int32_t w = 0; w < g->n_operators; w++)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      if (device[w] != device[v] && reads(g, w, t)) return true;
  return false;
}

/* Whether v reads what another device makes at position `at[since]` of the order or later, or has not made when
 * operator `since` starts. */
static bool waits_since(const situ_graph *g, const int32_t *device, const int32_t *at, int32_t v, int32_t since,
                        const simulation *ran) {
  for (int32_t u = 0; u < g->n_operators; u++)
    for (int32_t t = g->out_start[u]; t < g->out_start[u + 1]; t++)
      if (device[u] != device[v] && reads(g, v, t) && (at[u] >= at[since] || ran->finish_ns[u] > ran->start_ns[since]))
        return true;
  return false;
}

/* A part goes on until something forces its end: then nothing else may end it, and nothing less. */
static void hold_against_rule(const parts_model *m, const int32_t *device, const int32_t *order,
                              const simulation *ran) {
  const situ_graph *g = m->problem->graph;
  int32_t at[LAB_MAX_OPERATORS], last[8], first[LAB_MAX_OPERATORS], n_parts = 0;
  for (int32_t i = 0; i < g->n_operators; i++) at[order[i]] = i;
  for (int32_t d = 0; d < 8; d++) last[d] = -1;
  for (int32_t i = 0; i < g->n_operators; i++) {
    int32_t v = order[i], before = last[device[v]];
    if (m->part_of[v] < 0) continue;
    bool ends = before < 0 || is_read_elsewhere(g, device, before) ||
                waits_since(g, device, at, v, first[m->part_of[before]], ran);
    if (ends) {
      assert_int_equal(m->part_of[v], n_parts);
      assert_int_equal(m->device_of[n_parts++], device[v]);
      first[m->part_of[v]] = v;
    } else {
      assert_int_equal(m->part_of[v], m->part_of[before]);
    }
    last[device[v]] = v;
  }
  assert_int_equal(m->n_parts, n_parts);
}

/* The latency from the definition: for each part all tensors, for each tensor all operators. */
static int64_t naive_latency(const parts_model *m, const part_cost *cost) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  int64_t takes[LAB_MAX_OPERATORS] = {0}, end[LAB_MAX_OPERATORS], more[LAB_MAX_OPERATORS] = {0},
          ready[LAB_MAX_OPERATORS], value = 0;
  bool read[LAB_MAX_OPERATORS][4 * LAB_MAX_OPERATORS] = {{false}}, waits[LAB_MAX_OPERATORS] = {false};
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (m->part_of[v] < 0) continue;
    takes[m->part_of[v]] += problem_time_ns(p, v, m->device_of[m->part_of[v]]);
    for (int32_t t = 0; t < g->n_tensors; t++) read[m->part_of[v]][t] |= reads(g, v, t);
  }
  for (int32_t k = 0; k < m->n_parts; k++)
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int32_t from = m->part_of[g->producer[t]];
      read[k][t] = read[k][t] && from >= 0 && from != k;
      if (!read[k][t]) continue;
      more[k] += cost->bytes_per_s > 0 ? g->size_bytes[t] : 0; /* half of 2 ns a byte */
      more[from] += cost->bytes_per_s > 0 ? g->size_bytes[t] : 0;
      waits[k] |= m->device_of[from] != m->device_of[k];
    }
  for (int32_t k = 0; k < m->n_parts; k++) {
    ready[k] = 0;
    for (int32_t b = 0; b < k; b++)
      if (m->device_of[b] == m->device_of[k]) ready[k] = end[b] + cost->dispatch_ns;
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int32_t from = read[k][t] ? m->part_of[g->producer[t]] : k, a = m->device_of[from], b = m->device_of[k];
      if (a == b) continue;
      assert_true(from < k);
      int64_t ends = cost->bytes_per_s > 0 ? 2 * g->size_bytes[t] : 0, message = 0;
      for (int32_t l = 0; l < p->costs->n_links; l++)
        if (p->costs->link[l].from_device == a && p->costs->link[l].to_device == b)
          message = max64(message, p->costs->link[l].latency_ns);
      int64_t way = max64(0, problem_transfer_ns(p, t, a, b) - cost->start_ns - ends);
      if (message > 0) way = max64(way, message - cost->start_ns);
      ready[k] = max64(ready[k], end[from] + way);
    }
    end[k] = ready[k] + takes[k] + more[k] + (waits[k] ? min64(cost->start_ns, takes[k]) : 0);
    value = max64(value, end[k]);
  }
  return value;
}

TEST(parts_follow_the_rule) {
  int32_t split = 0;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    OWN(lab) s = lab_random_tiny(seed, 24, &stream);
    rng r = rng_new(seed + 77);
    int32_t n = s.graph->n_operators, device[LAB_MAX_OPERATORS];
    part_cost one = {
        .start_ns = rng_below(&r, 4), .bytes_per_s = rng_below(&r, 3) ? 5e8 : 0, .dispatch_ns = rng_below(&r, 3)};
    part_cost part[8];
    for (int32_t k = 0; k < 8; k++) part[k] = one;
    for (int32_t v = 0; v < n; v++) device[v] = (int32_t)rng_below(&r, s.n_devices);
    for (int32_t v = 1; v < n; v++)
      if (rng_below(&r, 2)) device[v] = device[v - 1];
    placement where = {.device = device};
    simulation ran = simulator_run(s.simulator, &where, false);
    parts_model *m = parts_model_new(s.problem, s.arena);
    assert_non_null(m);
    if (ran.value_ns < SITU_NEVER_NS) {
      s.costs->part = part;
      int64_t value = parts_value_ns(m, &where, &ran);
      hold_against_rule(m, device, m->order, &ran);
      assert_int_equal(value, m->n_parts < 2 ? ran.value_ns : naive_latency(m, &one));
      split += m->n_parts > 4;
      s.costs->part = NULL;
    }
  }
  assert_true(split > 100);
}

TEST_MAIN
