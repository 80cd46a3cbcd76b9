/* The best of all plans by counting: placements, and of each all sequences, all calls or all replicas. */
#include <string.h>

#include "attack_model.h"

/* Beyond so many plans a problem is left alone. */
enum { MAX_PLANS = 100000 };

typedef struct count {
  const attack_facts *f;
  attack_optimum *out;
  attack_placement at;
  uint32_t placed;
  uint32_t ancestors_or_self[MAX_OPS];
} count;

static void consider(count *c) {
  attack_value value;
  if (++c->out->n_plans > MAX_PLANS) c->out->complete = false;
  value_find(&value, c->f, &c->at, false);
  if (!value_valid(&value) || value.value_ns >= c->out->value_ns) return;
  c->out->value_ns = value.value_ns;
  c->out->best = c->at;
}

/* What one device computes is below every value; the period does not depend on the order. */
static int64_t least_value(const count *c) {
  int64_t load[MAX_DEVICES] = {0}, max = 0;
  if (c->f->p->max_latency_ns > 0) return stream_period_ns(c->f, &c->at);
  for (int32_t v = 0; v < c->f->p->n; v++) {
    int32_t d = c->at.device[v];
    load[d] += facts_time(c->f, v, d);
    bool at_once = c->f->p->execution == SITU_EXECUTION_CALLS && c->f->p->device[d].is_host;
    if (!at_once && load[d] > max) max = load[d];
  }
  return max;
}

/* ---- streams ---- */

/* Whether v may come next. Neighbours on different devices without an edge between them can change places; of the
 * orders that differ by that alone only the one with the lowest numbers first is taken. */
static bool is_normal(const count *c, int32_t n, int32_t v) {
  const attack_facts *f = c->f;
  if (f->p->overlap == SITU_OVERLAP_NONE) return true; /* here the order of different devices matters */
  for (int32_t i = n - 1; i >= 0; i--) {
    int32_t u = c->at.order[i];
    if (c->at.device[u] == c->at.device[v] || (f->before[v] >> u & 1) || (f->before[u] >> v & 1)) return true;
    if (u > v) return false;
  }
  return true;
}

static void count_orders(count *c, int32_t n) {
  if (!c->out->complete || least_value(c) >= c->out->value_ns) return;
  if (n == c->f->p->n) {
    consider(c);
    return;
  }
  for (int32_t v = 0; v < c->f->p->n; v++) {
    if ((c->placed >> v & 1) || (c->f->before[v] & ~c->placed) || !is_normal(c, n, v)) continue;
    c->at.order[n] = v;
    c->placed |= 1U << v;
    count_orders(c, n + 1);
    c->placed &= ~(1U << v);
  }
}

/* ---- calls ---- */

/* Numbers the calls of all devices: those of device d from 0, as found in `rank`. */
static void number_calls(count *c, const int32_t *rank) {
  int32_t first[MAX_DEVICES] = {0}, n = 0;
  for (int32_t d = 0; d < c->f->p->n_devices; d++) {
    int32_t most = 0;
    for (int32_t v = 0; v < c->f->p->n; v++)
      if (c->at.device[v] == d && rank[v] >= most) most = rank[v] + 1;
    first[d] = n;
    n += most;
  }
  for (int32_t v = 0; v < c->f->p->n; v++) c->at.call[v] = rank[v] < 0 ? -1 : first[c->at.device[v]] + rank[v];
}

/* No call of a device is empty while a later one is not. */
static bool ranks_are_dense(const count *c, const int32_t *rank) {
  uint32_t used[MAX_DEVICES] = {0};
  for (int32_t v = 0; v < c->f->p->n; v++)
    if (rank[v] >= 0) used[c->at.device[v]] |= 1U << rank[v];
  for (int32_t d = 0; d < c->f->p->n_devices; d++)
    if (used[d] & (used[d] + 1)) return false;
  return true;
}

static void count_calls(count *c, int32_t v, int32_t *rank) {
  const attack_problem *p = c->f->p;
  if (!c->out->complete) return;
  if (v == p->n) {
    if (!ranks_are_dense(c, rank)) return;
    number_calls(c, rank);
    consider(c);
    return;
  }
  int32_t d = c->at.device[v], low = 0, on_device = 0;
  rank[v] = -1;
  if (p->device[d].is_host) {
    count_calls(c, v + 1, rank);
    return;
  }
  for (int32_t u = 0; u < p->n; u++) {
    if (c->at.device[u] != d) continue;
    on_device++;
    if (u < v && (c->f->ancestors[v] >> u & 1) && rank[u] > low) low = rank[u]; /* else it waits for itself */
  }
  for (int32_t k = low; k < on_device && (p->max_calls == 0 || k < p->max_calls); k++) {
    rank[v] = k;
    count_calls(c, v + 1, rank);
  }
}

/* ---- pipelines ---- */

static void count_replicas(count *c, int32_t d) {
  const attack_problem *p = c->f->p;
  if (!c->out->complete) return;
  if (d == p->n_devices) {
    consider(c);
    return;
  }
  c->at.replica_of[d] = -1;
  count_replicas(c, d + 1);
  uint32_t used = 0;
  for (int32_t v = 0; v < p->n; v++) used |= 1U << c->at.device[v];
  for (int32_t leader = 0; p->replicate && leader < p->n_devices; leader++) {
    if ((used >> d & 1) || !(used >> leader & 1) || !facts_may_share(c->f, leader, d)) continue;
    c->at.replica_of[d] = leader;
    count_replicas(c, d + 1);
    c->at.replica_of[d] = -1;
  }
}

static void count_placements(count *c, int32_t v) {
  const attack_facts *f = c->f;
  if (!c->out->complete) return;
  if (v == f->p->n) {
    int32_t rank[MAX_OPS];
    if (f->p->execution == SITU_EXECUTION_STREAM) count_orders(c, 0);
    if (f->p->execution == SITU_EXECUTION_CALLS && least_value(c) < c->out->value_ns) count_calls(c, 0, rank);
    if (f->p->execution == SITU_EXECUTION_PIPELINE) count_replicas(c, 0);
    return;
  }
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    if (f->unit_of[v] != v ? d != c->at.device[f->unit_of[v]] : !f->allowed[v][d]) continue;
    c->at.device[v] = d;
    count_placements(c, v + 1);
  }
}

int64_t single_value_ns(const attack_facts *f, int32_t d) {
  attack_placement at;
  attack_value value;
  for (int32_t v = 0; v < f->p->n; v++) {
    at.device[v] = d;
    at.order[v] = v;
    at.call[v] = f->p->device[d].is_host ? -1 : 0;
  }
  for (int32_t k = 0; k < MAX_DEVICES; k++) at.replica_of[k] = -1;
  value_find(&value, f, &at, false);
  return value.runs && value.fits ? value.value_ns : SITU_NEVER_NS;
}

void optimum_find(attack_optimum *out, const attack_facts *f) {
  count c = {.f = f, .out = out};
  *out = (attack_optimum){.complete = true, .value_ns = SITU_NEVER_NS, .single_ns = SITU_NEVER_NS};
  for (int32_t d = 0; d < MAX_DEVICES; d++) c.at.replica_of[d] = -1;
  for (int32_t v = 0; v < MAX_OPS; v++) {
    c.at.order[v] = v;
    c.at.call[v] = -1;
  }
  count_placements(&c, 0);
  for (int32_t d = 0; d < f->p->n_devices; d++) {
    int64_t alone = f->p->device[d].unused ? SITU_NEVER_NS : single_value_ns(f, d);
    if (alone < out->single_ns) out->single_ns = alone;
  }
}
