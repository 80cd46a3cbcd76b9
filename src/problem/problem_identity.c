/* What makes a problem the one it is: its hash, and whether one problem is a relaxation of another. */
#include <string.h>

#include "base/contracts.h"
#include "base/hash.h"
#include "problem/problem.h"

static uint64_t mix_numbers(uint64_t h, const int64_t *values, int64_t n) {
  return hash_bytes(values, sizeof *values * (size_t)n, hash_number(h, n));
}

static uint64_t mix_indices(uint64_t h, const int32_t *values, int64_t n) {
  return hash_bytes(values, sizeof *values * (size_t)n, hash_number(h, n));
}

static uint64_t mix_real(uint64_t h, double value) { return hash_bytes(&value, sizeof value, h); }

static uint64_t mix_text(uint64_t h, const char *text) { return hash_bytes(text, strlen(text), h); }

/* Names, kinds and layers too: solvers find layers by them, and answers name operators. */
static uint64_t mix_graph(uint64_t h, const situ_graph *g) {
  int32_t n = g->n_operators, t = g->n_tensors;
  h = hash_number(hash_number(hash_number(h, n), t), g->n_colocations);
  for (int32_t v = 0; v < n; v++) h = hash_number(mix_text(h, g->name[v]), g->inferred[v]);
  for (int32_t k = 0; k < g->n_kinds; k++) h = mix_text(h, g->kind_name[k]);
  for (int32_t k = 0; k < g->n_layers; k++) h = mix_text(h, g->layer_name[k]);
  h = mix_indices(h, g->kind, n);
  h = mix_indices(h, g->layer, n);
  h = mix_numbers(h, g->flops, n);
  h = mix_numbers(h, g->moved_bytes, n);
  h = mix_indices(h, g->colocation, n);
  h = hash_bytes(g->phase, (size_t)n, h);
  h = mix_numbers(h, g->weight_bytes, n);
  h = mix_numbers(h, g->workspace_bytes, n);
  h = mix_numbers(h, g->size_bytes, t);
  h = mix_indices(h, g->producer, t);
  h = mix_numbers(h, g->use_start, (int64_t)t + 1);
  return mix_indices(h, g->use, g->n_uses);
}

static uint64_t mix_costs(uint64_t h, const situ_costs *c) {
  h = hash_number(hash_number(hash_number(h, c->n_classes), c->n_kinds), c->unit_ns);
  h = mix_numbers(h, c->time_ns, (int64_t)c->n_operators * c->n_classes);
  h = mix_indices(h, c->pair_kind, (int64_t)c->n_memories * c->n_memories);
  h = mix_indices(h, c->link_kind, c->n_links);
  for (int32_t t = 0; t < c->n_tensors; t++) h = mix_numbers(h, c->transfer_ns[t], c->n_kinds);
  if (c->group) h = mix_indices(h, c->group, c->n_operators);
  for (int32_t l = 0; l < c->n_links; l++)
    h = mix_real(hash_number(h, c->link[l].latency_ns), c->link[l].bytes_per_s); /* gradients of replicas */
  for (int32_t k = 0; c->part && k < c->n_classes; k++) {
    h = hash_number(hash_number(h, c->part[k].start_ns), c->part[k].dispatch_ns);
    h = mix_real(h, c->part[k].bytes_per_s);
  }
  return h;
}

uint64_t problem_hash(const situ_problem *p) {
  int64_t asked[] = {p->objective,     p->execution,     p->contention,     p->communication,    p->overlap,
                     p->contiguous,    p->async_copies,  p->replicate,      p->training,         p->of_stream,
                     p->schedule,      p->n_phases,      p->in_flight,      p->n_copies,         p->max_calls,
                     p->host,          p->max_period_ns, p->max_latency_ns, p->max_secondary_ns, p->conflict != NULL,
                     p->micro_batches, p->zero,          p->chunks};
  uint64_t h = mix_numbers(0, asked, (int64_t)(sizeof asked / sizeof *asked));
  h = mix_indices(h, p->pin, p->n_operators);
  for (int32_t d = 0; d < p->n_devices; d++) h = hash_number(h, p->unused[d]);
  h = mix_graph(h, p->graph);
  if (p->zero > 0) h = mix_numbers(h, p->given->weight_bytes, p->n_operators);
  h = hash_number(h, (int64_t)platform_hash(p->platform, true));
  h = mix_costs(h, p->costs);
  return p->secondary ? mix_costs(h, p->secondary) : h;
}

/* Whether the plans of p, of the same graph and machine, keep the constraints of r. */
static bool keeps(const situ_problem *p, const situ_problem *r) {
  if (r->max_period_ns < p->max_period_ns || r->max_latency_ns < p->max_latency_ns || r->max_calls < p->max_calls)
    return false;
  if (r->secondary && (r->secondary != p->secondary || r->max_secondary_ns < p->max_secondary_ns)) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (r->pin[v] >= 0 && r->pin[v] != p->pin[v]) return false;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (r->unused[d] && !p->unused[d]) return false;
  for (int32_t u = 0; u < r->units.n; u++) {
    unit_members of = unit_list_members(&r->units, u);
    int32_t group = p->graph->colocation[of.member[0]];
    for (int32_t i = 1; i < of.n; i++)
      if (group < 0 || p->graph->colocation[of.member[i]] != group) return false;
  }
  return true;
}

bool problem_is_relaxation(const situ_problem *r, const situ_problem *p) {
  if (r == p) return true;
  bool same = r->given == p->given && r->platform == p->platform && r->costs == p->costs &&
              r->n_copies == p->n_copies && r->n_operators == p->n_operators && r->objective == p->objective;
  if (!same || !keeps(p, r)) return false;
  bool period = r->execution == SITU_EXECUTION_PIPELINE && r->of_stream && !r->contiguous && !r->replicate &&
                r->communication == SITU_COMMUNICATION_LINK;
  if (r->execution != p->execution) return p->execution == SITU_EXECUTION_STREAM && period;
  return r->contention == p->contention && r->communication == p->communication && r->overlap == p->overlap &&
         r->async_copies == p->async_copies && r->schedule == p->schedule && r->in_flight == p->in_flight &&
         r->micro_batches == p->micro_batches && r->zero == p->zero && r->chunks == p->chunks &&
         r->n_phases == p->n_phases && (p->contiguous || !r->contiguous) && (r->replicate || !p->replicate);
}

/* Whether everything that takes 0 ns by the costs takes 0 ns by the secondary costs. */
static bool keeps_zeroes(const situ_costs *own, const situ_costs *other, int32_t n_tensors) {
  for (int64_t i = 0; i < (int64_t)own->n_operators * own->n_classes; i++)
    if (own->time_ns[i] == 0 && other->time_ns[i] > 0) return false;
  for (int32_t t = 0; t < n_tensors; t++)
    for (int32_t k = 0; k < own->n_kinds; k++)
      if (own->transfer_ns[t][k] == 0 && other->transfer_ns[t][k] > 0) return false;
  return true;
}

bool problem_view_secondary(situ_problem *out, const situ_problem *p, arena *a) {
  REQUIRE(p->secondary);
  problem_view_costs(out, p, p->secondary);
  bool comparable = p->secondary->n_kinds == p->costs->n_kinds && p->secondary->n_classes == p->costs->n_classes;
  if (comparable && keeps_zeroes(p->costs, p->secondary, p->graph->n_tensors)) return true;
  situ_platform *unlimited = ARENA_COPY(a, p->platform, situ_platform, 1);
  int64_t *bytes = ARENA_NEW(a, int64_t, p->n_memories);
  if (!unlimited || !bytes) return false;
  for (int32_t m = 0; m < p->n_memories; m++) bytes[m] = SITU_UNLIMITED_BYTES;
  unlimited->memory_bytes = bytes;
  out->platform = unlimited;
  return true;
}

const situ_problem *problem_of_value(situ_problem *view, const situ_problem *p) {
  if (!problem_has_period(p)) return p;
  if (p->objective == SITU_OBJECTIVE_THROUGHPUT)
    problem_view_pipeline(view, p);
  else
    problem_view_latency(view, p);
  return view;
}
