#include "sim/engine_parts.h"

#include <string.h>

#include "base/checked.h"
#include "base/csr.h"

bool parts_known(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_STREAM && p->costs->part && !problem_has_period(p) && !p->training &&
         p->n_copies == 1;
}

parts_model *parts_model_new(const situ_problem *p, arena *a) {
  int64_t n = p->n_operators, n_devices = p->n_devices;
  parts_model *m = ARENA_ZERO(a, parts_model, 1);
  if (!m || !ARENA_ARRAYS(a, ARRAY(m->part_of, n), ARRAY(m->device_of, n), ARRAY(m->time_ns, n), ARRAY(m->end_ns, n),
                          ARRAY(m->read_start, n + 1), ARRAY(m->read, p->graph->n_uses), ARRAY(m->rows, n),
                          ARRAY(m->order, n), ARRAY(m->begun, n), ARRAY(m->closed, n), ARRAY(m->begun_ns, n),
                          ARRAY(m->closed_ns, n), ARRAY(m->open, n_devices), ARRAY(m->member_start, n + 2),
                          ARRAY(m->member, n), ARRAY(m->taken, p->graph->n_tensors), ARRAY(m->more_ns, n),
                          ARRAY(m->free_ns, n_devices), ZEROS(m->message_ns, n_devices * n_devices)))
    return NULL;
  m->problem = p;
  for (int32_t l = 0; l < p->costs->n_links; l++) {
    const situ_link *link = &p->costs->link[l];
    int64_t *ns = &m->message_ns[link->from_device * n_devices + link->to_device];
    *ns = max64(*ns, link->latency_ns);
  }
  return m;
}

/* ---- the parts ---- */

/* Whether v is computed from weights alone, before any run. */
static bool is_folded(const situ_graph *g, int32_t v) {
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (g->size_bytes[t] > 0 || g->use_start[t] < g->use_start[t + 1]) return false;
  return g->in_start[v] == g->in_start[v + 1];
}

static bool is_awaited(const situ_graph *g, const int32_t *device, int32_t v) {
  for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
    if (device[g->use[i]] != device[v]) return true;
  return false;
}

/* Whether v must begin a new part: it waits for a part of another device that had not ended when `part` began. */
static bool needs_new_part(const parts_model *m, const int32_t *device, int32_t v, int32_t part) {
  const situ_graph *g = m->problem->graph;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (device[u] == device[v]) continue;
    int32_t other = m->part_of[u];
    if (m->closed[other] > m->begun[part] || m->closed_ns[other] > m->begun_ns[part]) return true;
  }
  return false;
}

/* Assigns every operator to a part. */
static void fill_parts(parts_model *m, const placement *where, const int64_t *start_ns, const int64_t *finish_ns) {
  const situ_graph *g = m->problem->graph;
  int32_t position = 0;
  order_by_start(m->order, m->rows, start_ns, where->order, m->problem->n_operators);
  for (int32_t d = 0; d < m->problem->n_devices; d++) m->open[d] = -1;
  m->n_parts = 0;
  for (int32_t i = 0; i < m->problem->n_operators; i++) {
    int32_t v = m->order[i], d = where->device[v];
    m->part_of[v] = -1;
    if (is_folded(g, v)) continue;
    if (m->open[d] < 0 || needs_new_part(m, where->device, v, m->open[d])) {
      m->begun[m->n_parts] = position;
      m->begun_ns[m->n_parts] = start_ns[v];
      m->closed[m->n_parts] = 0;
      m->closed_ns[m->n_parts] = 0;
      m->device_of[m->n_parts] = d;
      m->open[d] = m->n_parts++;
    }
    m->part_of[v] = m->open[d];
    position++;
    if (!is_awaited(g, where->device, v)) continue;
    m->closed[m->open[d]] = position;
    m->closed_ns[m->open[d]] = finish_ns[v];
    m->open[d] = -1;
  }
}

/* Lists what the parts read from each other. */
static void fill_reads(parts_model *m) {
  const situ_graph *g = m->problem->graph;
  int32_t n_reads = 0;
  memset(m->member_start, 0, ((size_t)m->n_parts + 2) * sizeof *m->member_start);
  csr_fill(m->member_start, m->member, m->part_of, m->problem->n_operators, m->n_parts);
  for (int32_t t = 0; t < g->n_tensors; t++) m->taken[t] = -1;
  for (int32_t k = 0; k < m->n_parts; k++) {
    m->read_start[k] = n_reads;
    for (int32_t i = m->member_start[k]; i < m->member_start[k + 1]; i++)
      for (int64_t j = g->in_start[m->member[i]]; j < g->in_start[m->member[i] + 1]; j++) {
        int32_t t = g->in[j], from = m->part_of[g->producer[t]];
        if (from < 0 || from == k || m->taken[t] == k) continue;
        m->taken[t] = k;
        m->read[n_reads++] = t;
      }
  }
  m->read_start[m->n_parts] = n_reads;
}

static void cut_parts(parts_model *m, const placement *where, const int64_t *start_ns, const int64_t *finish_ns) {
  fill_parts(m, where, start_ns, finish_ns);
  fill_reads(m);
}

void parts_set(parts_model *m, const int32_t *part_of, const int32_t *device_of, int32_t n_parts) {
  memcpy(m->part_of, part_of, (size_t)m->problem->n_operators * sizeof *part_of);
  memcpy(m->device_of, device_of, (size_t)n_parts * sizeof *device_of);
  m->n_parts = n_parts;
  fill_reads(m);
}

/* ---- their times ---- */

static const part_cost *cost_of(const parts_model *m, int32_t part) {
  return &m->problem->costs->part[m->problem->class_of[m->device_of[part]]];
}

/* Half of the time of the bytes of a hand-over: the part of one end. */
static int64_t share_ns(const parts_model *m, int32_t part, int32_t t) {
  double rate = cost_of(m, part)->bytes_per_s;
  return rate > 0 ? sat_round(0.5e9 * (double)m->problem->graph->size_bytes[t] / rate) : 0;
}

/* From the end of a part to the start of one on another device that waited only for that tensor, without the costs of
 * the parts. A tensor that the plan sends in no time, because it is known before a run, needs a message too. */
static int64_t hand_over_ns(const parts_model *m, int32_t t, int32_t from, int32_t to) {
  const situ_problem *p = m->problem;
  int32_t a = m->device_of[from], b = m->device_of[to];
  int64_t start_ns = cost_of(m, to)->start_ns;
  int64_t parts_ns = sat_add(start_ns, sat_add(share_ns(m, from, t), share_ns(m, to, t)));
  int64_t ns = max64(0, problem_transfer_ns(p, t, a, b) - parts_ns);
  int64_t message_ns = m->message_ns[(int64_t)a * p->n_devices + b];
  return message_ns > 0 ? max64(ns, message_ns - start_ns) : ns;
}

static int32_t maker_of(const parts_model *m, int32_t t) { return m->part_of[m->problem->graph->producer[t]]; }

/* The times of parts: their operators and their own costs. */
static void fill_times(parts_model *m) {
  const situ_problem *p = m->problem;
  for (int32_t k = 0; k < m->n_parts; k++) m->time_ns[k] = m->more_ns[k] = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = m->part_of[v];
    if (k >= 0) m->time_ns[k] = sat_add(m->time_ns[k], problem_time_ns(p, v, m->device_of[k]));
  }
  for (int32_t k = 0; k < m->n_parts; k++) {
    bool waits = false;
    for (int32_t i = m->read_start[k]; i < m->read_start[k + 1]; i++) {
      int32_t t = m->read[i], from = maker_of(m, t);
      waits |= m->device_of[from] != m->device_of[k];
      m->more_ns[from] = sat_add(m->more_ns[from], share_ns(m, from, t));
      m->more_ns[k] = sat_add(m->more_ns[k], share_ns(m, k, t));
    }
    if (waits) m->more_ns[k] = sat_add(m->more_ns[k], min64(cost_of(m, k)->start_ns, m->time_ns[k]));
  }
  for (int32_t k = 0; k < m->n_parts; k++) m->time_ns[k] = sat_add(m->time_ns[k], m->more_ns[k]);
}

int64_t parts_latency_ns(parts_model *m) {
  int64_t last_ns = 0;
  fill_times(m);
  for (int32_t d = 0; d < m->problem->n_devices; d++) m->free_ns[d] = -1;
  for (int32_t k = 0; k < m->n_parts; k++) {
    int32_t d = m->device_of[k];
    int64_t start_ns = m->free_ns[d] < 0 ? 0 : sat_add(m->free_ns[d], cost_of(m, k)->dispatch_ns);
    for (int32_t i = m->read_start[k]; i < m->read_start[k + 1]; i++) {
      int32_t t = m->read[i], from = maker_of(m, t);
      if (m->device_of[from] != d) start_ns = max64(start_ns, sat_add(m->end_ns[from], hand_over_ns(m, t, from, k)));
    }
    m->end_ns[k] = m->free_ns[d] = sat_add(start_ns, m->time_ns[k]);
    last_ns = max64(last_ns, m->end_ns[k]);
  }
  return last_ns;
}

int64_t parts_value_ns(parts_model *m, const placement *where, const simulation *ran) {
  if (!parts_known(m->problem) || ran->value_ns == SITU_NEVER_NS) return ran->value_ns;
  cut_parts(m, where, ran->start_ns, ran->finish_ns);
  return m->n_parts < 2 ? ran->value_ns : parts_latency_ns(m);
}

int64_t situ_plan_by_parts_ns(const situ_plan *plan) {
  if (!plan) return SITU_NEVER_NS;
  if (!plan->start_ns || !parts_known(plan->problem)) return plan->value_ns;
  placement where = {.device = plan->device, .order = plan->order};
  simulation ran = {.value_ns = plan->value_ns, .start_ns = plan->start_ns, .finish_ns = plan->finish_ns};
  arena *a = arena_new();
  parts_model *m = a ? parts_model_new(plan->problem, a) : NULL;
  int64_t ns = m ? parts_value_ns(m, &where, &ran) : SITU_NEVER_NS;
  arena_free(a);
  return ns;
}
