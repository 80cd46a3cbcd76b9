/* The verb of situ/partition.h: what a caller supports becomes a request, and the parts found become sub-graphs. */
#include "situ/partition.h"

#include "base/arguments.h"
#include "base/checked.h"
#include "base/csr.h"
#include "partition/part_search.h"

static const int64_t DEFAULT_STEPS = 800000, MORE_STEPS = 200, MAX_COST = (int64_t)1 << 54;

struct situ_partition {
  arena *arena;
  situ_partition_summary summary;
  int32_t n_operators;
  int32_t *part_of;
  situ_subgraph *part;
};

/* ---- the request ---- */

static situ_status out_of_range(situ_error *error, const char *what, int64_t value, int64_t min) {
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%s is %lld; expected %lld to %lld", what, (long long)value,
                   (long long)min, (long long)MAX_COST);
}

static situ_status take_options(part_request *q, const situ_partition_options *o, situ_error *error) {
  q->crossing_cost = o->crossing_cost ? o->crossing_cost : 1;
  q->part_cost = o->part_cost;
  if (q->crossing_cost < 0 || q->crossing_cost > MAX_COST)
    return out_of_range(error, "crossing_cost", q->crossing_cost, 0);
  if (q->part_cost < 0 || q->part_cost > MAX_COST) return out_of_range(error, "part_cost", q->part_cost, 0);
  if (o->max_steps < 0) return out_of_range(error, "max_steps", o->max_steps, 0);
  if (!(o->time_limit_s >= 0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "time_limit_s must be a number of seconds");
  for (int32_t d = 0; d < q->n_devices; d++) {
    int32_t min = o->min_operators ? o->min_operators[d] : 1;
    if (min < 0) return out_of_range(error, "min_operators", min, 0);
    q->min_operators[d] = min > 1 ? min : 1;
  }
  return SITU_STATUS_OK;
}

/* Colocation groups are units, each numbered where its first member is. */
static void number_units(part_request *q, int32_t *of_group) {
  const situ_graph *g = q->graph;
  for (int32_t k = 0; k < g->n_colocations; k++) of_group[k] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t *group = g->colocation[v] >= 0 ? &of_group[g->colocation[v]] : NULL;
    q->unit[v] = group && *group >= 0 ? *group : q->n_units++;
    if (group) *group = q->unit[v];
  }
}

/* Where units may run and what that costs. */
static situ_status fill_units(part_request *q, const bool *supported, const int64_t *costs, situ_error *error) {
  const situ_graph *g = q->graph;
  int64_t k = q->n_devices,
          total = sat_add(sat_mul(q->crossing_cost, g->n_uses), sat_mul(q->part_cost, g->n_operators));
  for (int64_t i = 0; i < q->n_units * k; i++) q->allowed[i] = true;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t max = 0;
    bool any = false;
    for (int32_t d = 0; d < k; d++) {
      int64_t cost = costs ? costs[v * k + d] : d, i = q->unit[v] * k + d;
      q->allowed[i] = q->allowed[i] && supported[v * k + d];
      any = any || q->allowed[i];
      if (!supported[v * k + d]) continue;
      if (cost < 0 || cost > MAX_COST) return out_of_range(error, "the cost of an operator", cost, 0);
      q->cost[i] = sat_add(q->cost[i], cost);
      max = max64(max, cost);
    }
    if (!any)
      return fail_with(error, SITU_STATUS_BAD_INPUT, g->name[v], "no device supports this operator%s",
                       g->colocation[v] >= 0 ? " and its colocation group" : "");
    total = sat_add(total, max);
  }
  if (total > MAX_COST) return out_of_range(error, "the sum of all costs", total, 0);
  return SITU_STATUS_OK;
}

static situ_status make_request(part_request *q, const bool *supported, const situ_partition_options *o, arena *a,
                                situ_error *error) {
  const situ_graph *g = q->graph;
  int32_t n = g->n_operators, *of_group = ARENA_NEW(a, int32_t, g->n_colocations);
  if (!of_group || !ARENA_ARRAYS(a, ARRAY(q->unit, n), ARRAY(q->min_operators, q->n_devices)))
    return fail_no_memory(error);
  TRY(take_options(q, o, error));
  number_units(q, of_group);
  int64_t cells = (int64_t)q->n_units * q->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(q->allowed, cells), ZEROS(q->cost, cells)) ||
      !csr_by_key(&q->unit_start, &q->member, q->unit, n, q->n_units, a))
    return fail_no_memory(error);
  return fill_units(q, supported, o->costs, error);
}

/* ---- the sub-graphs ---- */

/* Tensors by part, ascending: those that a part reads of others, or makes for them or for nobody. */
typedef struct tensor_lists {
  const situ_graph *graph;
  const int32_t *part_of;
  int32_t *seen; /* [part] */
  int32_t *in_start, *in, *out_start, *out;
} tensor_lists;

/* Counts the lists or, in a second pass, fills them. */
static void pass_over(tensor_lists *l, bool fill) {
  const situ_graph *g = l->graph;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t mine = l->part_of[g->producer[t]];
    bool leaves = g->use_start[t] == g->use_start[t + 1];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t part = l->part_of[g->use[i]];
      if (part == mine || l->seen[part] == t) continue;
      leaves = true;
      l->seen[part] = t;
      if (fill)
        l->in[csr_put(l->in_start, part)] = t;
      else
        csr_count(l->in_start, part);
    }
    if (leaves && fill)
      l->out[csr_put(l->out_start, mine)] = t;
    else if (leaves)
      csr_count(l->out_start, mine);
  }
}

static bool list_tensors(tensor_lists *l, int32_t n_parts, arena *a) {
  const situ_graph *g = l->graph;
  if (!ARENA_ARRAYS(a, ARRAY(l->seen, n_parts), ZEROS(l->in_start, (int64_t)n_parts + 2), ARRAY(l->in, g->n_uses),
                    ZEROS(l->out_start, (int64_t)n_parts + 2), ARRAY(l->out, g->n_tensors)))
    return false;
  for (int fill = 0; fill < 2; fill++) {
    for (int32_t k = 0; k < n_parts; k++) l->seen[k] = -1;
    pass_over(l, fill);
    if (fill) break;
    csr_sum(l->in_start, n_parts);
    csr_sum(l->out_start, n_parts);
  }
  return true;
}

static bool keep_parts(situ_partition *p, const situ_graph *g, const part_answer *found) {
  int32_t *start, *operators, n = g->n_operators;
  p->part_of = ARENA_COPY(p->arena, found->part, int32_t, n);
  p->part = ARENA_ZERO(p->arena, situ_subgraph, found->n_parts);
  tensor_lists l = {.graph = g, .part_of = p->part_of};
  if (!p->part_of || !p->part || !csr_by_key(&start, &operators, p->part_of, n, found->n_parts, p->arena) ||
      !list_tensors(&l, found->n_parts, p->arena))
    return false;
  for (int32_t k = 0; k < found->n_parts; k++)
    p->part[k] = (situ_subgraph){.size = sizeof *p->part,
                                 .device = found->device[k],
                                 .n_operators = start[k + 1] - start[k],
                                 .n_inputs = l.in_start[k + 1] - l.in_start[k],
                                 .n_outputs = l.out_start[k + 1] - l.out_start[k],
                                 .operators = operators + start[k],
                                 .inputs = l.in + l.in_start[k],
                                 .outputs = l.out + l.out_start[k]};
  return true;
}

/* ---- the verb ---- */

static situ_status find(situ_partition *p, part_request *q, const bool *supported, const situ_partition_options *o,
                        arena *scratch, situ_error *error) {
  part_answer found;
  TRY(make_request(q, supported, o, scratch, error));
  int64_t usual = DEFAULT_STEPS + MORE_STEPS * (q->graph->n_operators + q->graph->n_uses);
  budget b = budget_new(o->max_steps ? o->max_steps : usual, sat_round(o->time_limit_s * 1e9), NULL, NULL);
  TRY(part_search_run(&found, q, &b, scratch, error));
  p->n_operators = q->graph->n_operators;
  p->summary = (situ_partition_summary){.size = sizeof p->summary,
                                        .outcome = found.outcome,
                                        .n_parts = found.n_parts,
                                        .n_devices = q->n_devices,
                                        .n_crossings = found.n_crossings,
                                        .cost = found.cost,
                                        .lower_bound = found.lower_bound};
  if (found.n_parts > 0 && !keep_parts(p, q->graph, &found)) return fail_no_memory(error);
  return SITU_STATUS_OK;
}

situ_status situ_partition_find(situ_partition **out, const situ_graph *graph, int32_t n_devices, const bool *supported,
                                const situ_partition_options *options, situ_error *error) {
  situ_partition_options o;
  TRY(GIVEN(error, out));
  *out = NULL;
  TRY(GIVEN(error, graph, supported));
  TRY(TAKE(o, options, SITU_PARTITION_OPTIONS_INIT, error));
  if (n_devices < 1 || n_devices > SITU_PARTITION_MAX_DEVICES)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_devices is %d; expected 1 to %d", (int)n_devices,
                     SITU_PARTITION_MAX_DEVICES);
  part_request q = {.graph = graph, .n_devices = n_devices};
  situ_partition *p = NOUN_NEW(situ_partition, graph->arena);
  arena *scratch = arena_new();
  situ_status status = p && scratch ? find(p, &q, supported, &o, scratch, error) : fail_no_memory(error);
  arena_free(scratch);
  HAND_OUT(out, p, status, situ_partition_free);
}

void situ_partition_free(situ_partition *p) {
  if (p) arena_free(p->arena);
}

bool situ_partition_get_summary(const situ_partition *p, situ_partition_summary *out) {
  return p && GIVE(out, p->summary);
}

bool situ_partition_part(const situ_partition *p, int32_t k, situ_subgraph *out) {
  return p && k >= 0 && k < p->summary.n_parts && GIVE(out, p->part[k]);
}

int32_t situ_partition_part_of(const situ_partition *p, int32_t op) {
  return p && p->part_of && op >= 0 && op < p->n_operators ? p->part_of[op] : -1;
}
