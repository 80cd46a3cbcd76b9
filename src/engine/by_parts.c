#include "engine/by_parts.h"

#include "base/checked.h"
#include "base/fail.h"

typedef struct predicting {
  const model_parts *p;
  const situ_problem *problem;
  const int64_t *bytes;
  const part_cost *costs; /* [class]; NULL: unknown */
} predicting;

static const part_cost *cost_of(const predicting *s, int32_t part) {
  return &s->costs[s->problem->class_of[s->p->parts[part].device]];
}

/* The part of another device that makes a value; -1: none does. */
static int32_t maker_elsewhere(const predicting *s, int32_t value, int32_t part) {
  int32_t from = s->p->value_part[value];
  return from >= 0 && s->p->parts[from].device != s->p->parts[part].device ? from : -1;
}

static int64_t share_ns(const part_cost *c, double bytes) {
  return c->bytes_per_s > 0 ? sat_round(0.5e9 * bytes / c->bytes_per_s) : 0;
}

static void add_operators(const predicting *s, int64_t *time_ns) {
  const situ_graph *g = s->problem->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t k = s->p->part_of[model_file_node(s->p->file, g->source_id[v])];
    if (k >= 0) time_ns[k] = sat_add(time_ns[k], problem_time_ns(s->problem, v, s->p->parts[k].device));
  }
}

/* Adds what parts take beyond their operators. */
static void add_part_costs(const predicting *s, int64_t *time_ns, int64_t *more_ns) {
  for (int32_t k = 0; k < s->p->n_parts; k++) {
    double bytes = 0;
    bool waits = false;
    for (int32_t i = 0; i < s->p->parts[k].n_inputs; i++) {
      int32_t value = s->p->parts[k].inputs[i], from = s->p->value_part[value];
      if (from < 0) continue;
      waits |= maker_elsewhere(s, value, k) >= 0;
      bytes += (double)s->bytes[value];
      more_ns[from] = sat_add(more_ns[from], share_ns(cost_of(s, from), (double)s->bytes[value]));
    }
    int64_t start_ns = waits ? min64(cost_of(s, k)->start_ns, time_ns[k]) : 0;
    more_ns[k] = sat_add(more_ns[k], sat_add(start_ns, share_ns(cost_of(s, k), bytes)));
  }
  for (int32_t k = 0; k < s->p->n_parts; k++) time_ns[k] = sat_add(time_ns[k], more_ns[k]);
}

/* From the end of a part to the start of one on another device that waited for that value alone, without what the parts
 * take. What the plan sends in no time because it is known before a run takes a message too. */
static int64_t hand_over_ns(const predicting *s, int32_t value, int32_t from, int32_t to) {
  const situ_problem *q = s->problem;
  int32_t a = s->p->parts[from].device, b = s->p->parts[to].device;
  int64_t t = string_map_get(s->p->tensor_of, s->p->file->values[value].name);
  double bytes = (double)s->bytes[value];
  int64_t parts_ns =
      sat_add(cost_of(s, to)->start_ns, share_ns(cost_of(s, from), bytes) + share_ns(cost_of(s, to), bytes));
  int64_t ns = t < 0 ? 0 : max64(0, problem_transfer_ns(q, (int32_t)t, a, b) - parts_ns);
  for (int32_t l = 0; l < q->costs->n_links; l++)
    if (q->costs->link[l].from_device == a && q->costs->link[l].to_device == b)
      ns = max64(ns, q->costs->link[l].latency_ns - cost_of(s, to)->start_ns);
  return ns;
}

static int64_t last_end_ns(const predicting *s, const int64_t *time_ns, int64_t *free_ns, int64_t *end_ns) {
  int64_t last_ns = 0;
  for (int32_t d = 0; d < s->problem->n_devices; d++) free_ns[d] = -1; /* has run nothing */
  for (int32_t k = 0; k < s->p->n_parts; k++) {
    int32_t d = s->p->parts[k].device;
    int64_t start_ns = free_ns[d] < 0 ? 0 : sat_add(free_ns[d], cost_of(s, k)->dispatch_ns);
    for (int32_t i = 0; i < s->p->parts[k].n_inputs; i++) {
      int32_t value = s->p->parts[k].inputs[i], from = maker_elsewhere(s, value, k);
      if (from >= 0) start_ns = max64(start_ns, sat_add(end_ns[from], hand_over_ns(s, value, from, k)));
    }
    end_ns[k] = free_ns[d] = sat_add(start_ns, time_ns[k]);
    last_ns = max64(last_ns, end_ns[k]);
  }
  return last_ns;
}

situ_status by_parts_predict(int64_t *latency_ns, int64_t *time_ns, const model_parts *parts,
                             const situ_problem *problem, const int64_t *bytes, situ_error *error) {
  predicting s = {.p = parts, .problem = problem, .bytes = bytes, .costs = problem->costs->part};
  int64_t *more_ns, *free_ns, *end_ns;
  *latency_ns = 0;
  for (int32_t k = 0; k < parts->n_parts; k++) time_ns[k] = 0;
  add_operators(&s, time_ns);
  if (problem->execution != SITU_EXECUTION_STREAM || !s.costs || parts->n_parts < 2) return SITU_STATUS_OK;
  arena *a = arena_new();
  bool room = a && ARENA_ARRAYS(a, ZEROS(more_ns, parts->n_parts), ARRAY(free_ns, problem->n_devices),
                                ARRAY(end_ns, parts->n_parts));
  if (room) {
    add_part_costs(&s, time_ns, more_ns);
    *latency_ns = last_end_ns(&s, time_ns, free_ns, end_ns);
  }
  arena_free(a);
  return room ? SITU_STATUS_OK : fail_no_memory(error);
}
