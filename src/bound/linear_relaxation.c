#include "bound/linear_relaxation.h"

#include <math.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/latency_program.h"
#include "lp/lp.h"

enum { MAX_ENTRIES = 20000 }; /* the most for a row of the table, which has to be quick */
static const double LONGEST_S = 1e9;

static double seconds_left(const budget *b) {
  return b->deadline_ns == INT64_MAX ? LONGEST_S : fmax(0.001, (double)(b->deadline_ns - clock_now_ns()) / 1e9);
}

/* Balances prices so that what flows into an operator flows out again. Rounding leaves start times a residual price,
 * which would be charged at their maximum value. The rows of the operator's tail and head absorb the difference. flow
 * is scratch. */
static void balance_flows(const latency_program *l, int64_t *price, int64_t *flow) {
  const situ_graph *g = l->problem->graph;
  for (int32_t v = 0; v < g->n_operators; v++) flow[v] = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
      if (l->edge_row[k] < 0) continue;
      flow[v] -= price[l->edge_row[k]];
      flow[g->producer[g->in[k]]] += price[l->edge_row[k]];
    }
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t *tail = &price[l->tail_row[v]], *head = tail + 1;
    *tail = max64(*tail, -flow[v]);
    *head = *tail + flow[v];
  }
}

/* Prices of tails and devices for one nanosecond of the value. */
static int64_t unit_of_value(const latency_program *l, const int64_t *price) {
  int64_t sum = 0;
  for (int32_t v = 0; v < l->problem->n_operators; v++) sum = sat_add(sum, price[l->tail_row[v]]);
  for (int32_t d = 0; d < l->problem->n_devices; d++) sum = sat_add(sum, price[l->area_row[d]]);
  return sum;
}

/* Makes prices of rows (2), which may have either sign, nonnegative: the prices of all memories at one end of a use
 * move up together. Exactly one of them is used, so the bound is unchanged. */
static void lift(int64_t *into, const int64_t *price, int32_t n) {
  int64_t min = price[0];
  for (int32_t m = 1; m < n; m++) min = min64(min, price[m]);
  for (int32_t m = 0; m < n; m++) into[m] = price[m] - min;
}

static bool linear_relaxation_certify(certificate *c, const latency_program *l, const int64_t *price, arena *a) {
  const situ_problem *p = l->problem;
  int64_t n_uses = p->graph->n_uses, nm = p->n_memories;
  int64_t *max = certificate_add(c, "within_ns", 1, a);
  int64_t *edge = certificate_add(c, "edge_prices", n_uses, a);
  int64_t *tail = certificate_add(c, "tail_prices", p->n_operators, a);
  int64_t *area = certificate_add(c, "time_prices", p->n_devices, a);
  int64_t *byte = certificate_add(c, "byte_prices", nm, a);
  int64_t *from = certificate_add(c, "from_prices", n_uses * nm, a);
  int64_t *to = certificate_add(c, "to_prices", n_uses * nm, a);
  if (!max || !edge || !tail || !area || !byte || !from || !to) return false;
  max[0] = l->upper_ns;
  for (int64_t k = 0; k < n_uses; k++) {
    if (l->edge_row[k] >= 0) edge[k] = price[l->edge_row[k]];
    if (l->from_row[k] < 0) continue;
    lift(from + k * nm, price + l->from_row[k], p->n_memories);
    lift(to + k * nm, price + l->from_row[k] + nm, p->n_memories);
  }
  for (int32_t v = 0; v < p->n_operators; v++) tail[v] = price[l->tail_row[v]];
  for (int32_t d = 0; d < p->n_devices; d++) area[d] = price[l->area_row[d]];
  for (int32_t m = 0; m < nm; m++)
    if (l->room_row[m] >= 0) byte[m] = -price[l->room_row[m]];
  return true;
}

/* Gets prices of the program's rows from the engine. False without memory. */
static bool find_prices(int64_t *price, const program *p, arena *scratch, const budget *b) {
  program_table t;
  int64_t scale;
  lp *model = program_tabulate(&t, p, scratch) ? lp_load(&t, p->n_columns, p->n_rows) : NULL;
  if (!model) return false;
  lp_solve(model, seconds_left(b)); /* prices are valid even if the solve was cut short */
  program_round_prices(price, &scale, p, &t, lp_prices(model));
  lp_free(model);
  return true;
}

bool linear_relaxation_find(int64_t *lower_ns, certificate *proof, const situ_problem *problem, int64_t known_ns,
                            int64_t max_entries, arena *scratch, const budget *b) {
  REQUIRE(known_ns >= 0 && max_entries > 0);
  *lower_ns = 0;
  if (lp_missing() || known_ns == 0 || !latency_program_fits(problem, max_entries)) return true;
  latency_program l;
  program p = program_new(scratch);
  if (!latency_program_write(&l, &p, problem, known_ns == SITU_NEVER_NS ? known_ns : known_ns - 1, false, scratch))
    return false;
  int64_t *price = ARENA_NEW(scratch, int64_t, p.n_rows), *flow = ARENA_NEW(scratch, int64_t, problem->n_operators);
  int64_t found;
  if (!price || !flow || !find_prices(price, &p, scratch, b)) return false;
  balance_flows(&l, price, flow);
  int64_t unit = unit_of_value(&l, price);
  if (unit == INT64_MAX || !program_bound(&found, &p, price, unit) || found <= 0) return true;
  *lower_ns = min64(found, l.upper_ns + 1);
  certificate_start(proof, "linear_relaxation", *lower_ns);
  return linear_relaxation_certify(proof, &l, price, scratch);
}

static situ_status linear_relaxation_compute(int64_t *lower_ns, certificate *proof, const situ_problem *problem,
                                             arena *scratch, budget *b, situ_error *error) {
  bool made = linear_relaxation_find(lower_ns, proof, problem, SITU_NEVER_NS, MAX_ENTRIES, scratch, b);
  return made ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound linear_relaxation_bound = {
    .name = "linear_relaxation",
    .title = "linear relaxation of placement and start times",
    .source = "Neumaier, Shcherbina, Mathematical Programming 2004",
    .models = MODEL_STREAM,
    .compute = linear_relaxation_compute,
};
