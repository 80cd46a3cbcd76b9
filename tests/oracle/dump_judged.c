/* dump_judged WHAT FIRST LAST: one line of JSON for each seed from FIRST to LAST. It has a random small problem and
 *   WHAT = plans      a plan file of a random placement, whole or with one claim changed, and the rules that the
 *                     checker sees broken; judge_plans.py works all of it out again from docs/model.md
 *   WHAT = limits     the same of streams in which nothing overlaps, most with a limit by secondary costs
 *   WHAT = proofs, cuts, packings, chains   certificates, and what the checker sees proved by them;
 * judge_proofs.py does so from docs/theory/bounds/certificates.md */
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "base/json.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "check/judge.h"
#include "plan/plan.h"
#include "sim/simulate.h"
#include "solve/common/best_single.h"

enum { MAX_SIZE = 40, DEVICES = 8 };

typedef struct draw {
  lab l;
  situ_graph *copies;
  situ_costs *copied_costs;
  situ_problem *posed; /* of the copies; NULL where there is one input */
  const situ_problem *problem;
} draw;

/* ---- the problem ---- */

static situ_problem_options draw_options(rng *r, situ_execution execution, int32_t copies) {
  situ_problem_options o = {.size = sizeof(situ_problem_options), .execution = execution, .copies = copies};
  if (execution == SITU_EXECUTION_CALLS && rng_below(r, 3) == 0) o.max_calls = 1 + (int32_t)rng_below(r, 3);
  if (execution == SITU_EXECUTION_STREAM) {
    o.contention = rng_below(r, 3) ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE;
    if (o.contention == SITU_CONTENTION_LINK && copies == 1) o.overlap = (situ_overlap)rng_below(r, 4);
    if (rng_below(r, 4) == 0) o.max_period_ns = 20 + rng_below(r, 200);
    if (o.max_period_ns == 0 && rng_below(r, 4) == 0) o.max_latency_ns = 20 + rng_below(r, 300);
  }
  if (execution != SITU_EXECUTION_PIPELINE) return o;
  o.communication = rng_below(r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED;
  o.schedule = rng_below(r, 2) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
  o.free = rng_below(r, 2);
  o.async_copies = rng_below(r, 3) == 0;
  o.replicate = rng_below(r, 2);
  o.in_flight = (int32_t)rng_below(r, 4);
  return o;
}

/* A tight one has few operators, and memories that often have no room for them. */
static draw draw_problem(uint64_t seed, rng *r, bool tight) {
  const situ_execution models[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};
  situ_execution execution = models[seed % 3];
  int32_t copies = execution == SITU_EXECUTION_STREAM && rng_below(r, 4) == 0 ? 2 + (int32_t)rng_below(r, 2) : 1;
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(r, 9),
                   .n_devices = 2 + (int32_t)rng_below(r, 4),
                   .n_hosts = 1 + (rng_below(r, 5) == 0),
                   .ways_differ = seed / 3 % 2,
                   .host_last = seed / 3 % 3 == 1,
                   .pools = true,
                   .density = 0.1 + 0.4 * rng_unit(r),
                   .n_colocations = (int32_t)rng_below(r, 3),
                   .training = execution == SITU_EXECUTION_PIPELINE && rng_below(r, 2),
                   .pinned = rng_below(r, 4) == 0,
                   .unsupported = rng_below(r, 4) == 0,
                   .equal = rng_below(r, 2),
                   .memory = rng_below(r, 2) ? 0.2 + rng_unit(r) : 0};
  if (tight) {
    o.n_operators = 2 + (int32_t)rng_below(r, 5);
    o.memory = 0.1 + 0.6 * rng_unit(r);
    o.host_memory = 0.1 + 0.6 * rng_unit(r);
  }
  situ_error error;
  draw x = {0};
  o.options = draw_options(r, execution, 1);
  if (o.training && o.options.replicate) o.options.zero = (int32_t)rng_below(r, 4);
  if (o.training && !o.options.free && rng_below(r, 3) > 0) {
    o.options.micro_batches = 1 + (int32_t)rng_below(r, 5);
    o.options.in_flight = 0;
  }
  x.l = lab_random(&o);
  x.problem = x.l.problem;
  if (copies == 1) return x;
  situ_problem_options posed = o.options;
  int32_t n = x.l.graph->n_operators, pins[MAX_SIZE];
  must(graph_copies(&x.copies, x.l.graph, copies, &error), &error);
  x.copied_costs = costs_copies(x.l.costs, copies);
  for (int32_t v = 0; v < n * copies; v++) pins[v] = x.l.pins[v % n];
  memcpy(x.l.pins = realloc(x.l.pins, sizeof pins), pins, sizeof pins);
  posed.copies = copies;
  posed.overlap = SITU_OVERLAP_DEFAULT;
  posed.pins = pins;
  posed.unused = x.l.unused;
  must(situ_problem_pose(&x.posed, x.copies, x.l.platform, x.copied_costs, &posed, &error), &error);
  x.problem = x.posed;
  return x;
}

/* A stream in which nothing overlaps, mostly with a limit on what a plan takes by secondary costs: other times, and
 * ways that are up to three times as long. */
static draw draw_limited(uint64_t seed, rng *r) {
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(r, 9),
                   .n_devices = 2 + (int32_t)rng_below(r, 3),
                   .pools = true,
                   .density = 0.2 + 0.5 * rng_unit(r),
                   .n_colocations = (int32_t)rng_below(r, 4),
                   .pinned = rng_below(r, 4) == 0,
                   .unsupported = rng_below(r, 4) == 0,
                   .equal = rng_below(r, 2),
                   .memory = rng_below(r, 3) ? 0.2 + rng_unit(r) : 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE}};
  draw x = {.l = lab_random(&o)};
  x.problem = x.l.problem;
  if (rng_below(r, 5) == 0) return x;
  situ_costs *c = x.copied_costs = costs_copies(x.l.costs, 1);
  for (int64_t i = 0; i < (int64_t)c->n_operators * c->n_classes; i++)
    if (c->time_ns[i] != SITU_NEVER_NS) c->time_ns[i] = rng_below(r, 40);
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++) c->transfer_rows[i] *= (int64_t)rng_below(r, 4);
  costs_find_extremes(c);
  situ_error error;
  situ_problem_options posed = o.options;
  posed.size = sizeof posed;
  posed.pins = x.l.pins;
  posed.unused = x.l.unused;
  posed.secondary_costs = c;
  posed.max_secondary_ns = 1 + rng_below(r, 60 * o.n_operators);
  must(situ_problem_pose(&x.posed, x.l.graph, x.l.platform, x.l.costs, &posed, &error), &error);
  x.problem = x.posed;
  return x;
}

static json_value *amount(int64_t value) { return value == INT64_MAX ? json_new_null() : json_new_int(value); }

static json_value *operators_json(const draw *x) {
  const situ_problem *p = x->problem;
  const situ_graph *g = p->graph;
  json_value *list = json_new_array();
  for (int32_t v = 0; v < g->n_operators; v++) {
    json_value *o = json_new_object(), *times = json_new_array(), *in = json_new_array();
    for (int32_t d = 0; d < p->n_devices; d++)
      json_push(times, amount(p->costs->time_ns[v * p->n_classes + p->platform->class_of[d]]));
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) json_push(in, json_new_int(g->in[i]));
    json_set(o, "name", json_new_text(g->name[v]));
    json_set(o, "phase", json_new_int(g->phase[v]));
    json_set(o, "weight_bytes", json_new_int(p->given->weight_bytes[v]));
    json_set(o, "workspace_bytes", json_new_int(g->workspace_bytes[v]));
    json_set(o, "colocation", json_new_int(g->colocation[v]));
    json_set(o, "pin", json_new_int(x->l.pins[v]));
    json_set(o, "time_ns", times);
    json_value *other = json_new_array();
    for (int32_t d = 0; p->secondary && d < p->n_devices; d++)
      json_push(other, amount(problem_secondary_time_ns(p, v, d)));
    json_set(o, "other_time_ns", other);
    json_set(o, "in", in);
    json_push(list, o);
  }
  return list;
}

static json_value *platform_json(const draw *x) {
  const situ_platform *q = x->problem->platform;
  json_value *o = json_new_object(), *devices = json_new_array(), *links = json_new_array(), *routes = json_new_array();
  for (int32_t d = 0; d < q->n_devices; d++) {
    json_value *row = json_new_object();
    json_set(row, "name", json_new_text(q->devices[d].name));
    json_set(row, "class", json_new_text(q->devices[d].class_name));
    json_set(row, "host", json_new_bool(q->devices[d].is_host));
    json_set(row, "memory", json_new_int(q->memory_of[d]));
    int32_t owner = d;
    while (q->devices[owner].shares_memory_with >= 0) owner = q->devices[owner].shares_memory_with;
    json_set(row, "capacity_of", json_new_int(owner));
    json_set(row, "capacity_bytes", amount(q->memory_bytes[q->memory_of[d]]));
    json_set(row, "unused", json_new_bool(x->l.unused[d]));
    json_push(devices, row);
  }
  for (int32_t l = 0; l < q->n_links; l++) {
    json_value *row = json_new_object();
    json_set(row, "latency_ns", json_new_int(q->links[l].latency_ns));
    json_set(row, "bytes_per_s", json_new_number(q->links[l].bytes_per_s));
    json_set(row, "channel", json_new_int(q->links[l].channel));
    json_set(row, "from_memory", json_new_int(q->link_from[l]));
    json_set(row, "to_memory", json_new_int(q->link_to[l]));
    json_push(links, row);
  }
  for (int32_t from = 0; from < q->n_memories; from++) {
    json_value *row = json_new_array();
    for (int32_t to = 0; to < q->n_memories; to++) {
      json_value *way = json_new_array();
      for (int32_t i = q->route_start[from * q->n_memories + to]; i < q->route_start[from * q->n_memories + to + 1];
           i++)
        json_push(way, json_new_int(q->route_link[i]));
      json_push(row, way);
    }
    json_push(routes, row);
  }
  json_set(o, "devices", devices);
  json_set(o, "links", links);
  json_set(o, "routes", routes);
  return o;
}

static json_value *problem_json(const draw *x) {
  const situ_problem *p = x->problem;
  const situ_graph *g = p->graph;
  json_value *o = json_new_object(), *tensors = json_new_array();
  for (int32_t t = 0; t < g->n_tensors; t++) {
    json_value *row = json_new_object();
    json_set(row, "producer", json_new_int(g->producer[t]));
    json_set(row, "output", json_new_int(t - g->out_start[g->producer[t]]));
    json_set(row, "bytes", json_new_int(g->size_bytes[t]));
    int64_t n = p->n_memories; /* by the secondary costs, from memory to memory, row by row */
    json_value *other = json_new_array();
    for (int64_t way = 0; p->secondary && way < n * n; way++)
      json_push(other, json_new_int(p->secondary->transfer_ns[t][p->secondary->pair_kind[way]]));
    json_set(row, "other_ns", other);
    json_push(tensors, row);
  }
  json_set(o, "execution", json_new_text(situ_execution_name(p->execution)));
  json_set(o, "objective", json_new_text(situ_objective_name(p->objective)));
  json_set(o, "contention", json_new_text(situ_contention_name(p->contention)));
  json_set(o, "overlap", json_new_text(situ_overlap_name(p->overlap)));
  json_set(o, "communication", json_new_text(situ_communication_name(p->communication)));
  json_set(o, "schedule", json_new_text(situ_schedule_name(p->schedule)));
  json_set(o, "contiguous", json_new_bool(p->contiguous));
  json_set(o, "async_copies", json_new_bool(p->async_copies));
  json_set(o, "replicate", json_new_bool(p->replicate));
  json_set(o, "in_flight", json_new_int(p->in_flight));
  json_set(o, "zero", json_new_int(p->zero));
  json_set(o, "micro_batches", json_new_int(p->micro_batches));
  json_set(o, "copies", json_new_int(p->n_copies));
  json_set(o, "max_calls", p->max_calls == INT32_MAX ? json_new_null() : json_new_int(p->max_calls));
  json_set(o, "max_period_ns", amount(p->max_period_ns));
  json_set(o, "max_latency_ns", amount(p->max_latency_ns));
  json_set(o, "max_other_ns", p->secondary ? json_new_int(p->max_secondary_ns) : json_new_null());
  json_set(o, "operators", operators_json(x));
  json_set(o, "tensors", tensors);
  json_set(o, "platform", platform_json(x));
  return o;
}

/* ---- the plan ---- */

/* Mostly where operators may be, and members of a group together. */
static void draw_devices(const situ_problem *p, rng *r, int32_t *device) {
  int32_t used = 1 + (int32_t)rng_below(r, p->n_devices), of_group[MAX_SIZE];
  bool careful = rng_below(r, 6) > 0;
  for (int32_t k = 0; k < MAX_SIZE; k++) of_group[k] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t group = p->graph->colocation[v];
    device[v] = (int32_t)rng_below(r, used);
    for (int tries = 0; careful && tries < 20 && !problem_allows(p, v, device[v]); tries++)
      device[v] = (int32_t)rng_below(r, p->n_devices);
    if (careful && group >= 0 && of_group[group] >= 0) device[v] = of_group[group];
    if (group >= 0) of_group[group] = device[v];
  }
}

static bool draw_replicas(const situ_problem *p, rng *r, const int32_t *device, int32_t *replica_of) {
  bool empty[DEVICES], any = false;
  for (int32_t d = 0; d < p->n_devices; d++) empty[d] = true;
  for (int32_t v = 0; v < p->n_operators; v++) empty[device[v]] = false;
  for (int32_t d = 0; d < p->n_devices; d++) replica_of[d] = -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t of = (int32_t)rng_below(r, p->n_devices);
    if (of == d || replica_of[of] >= 0 || rng_below(r, 3) == 0 || (!empty[d] && rng_below(r, 10))) continue;
    bool led = false;
    for (int32_t e = 0; e < p->n_devices; e++) led |= replica_of[e] == d;
    if (led || (p->class_of[of] != p->class_of[d] && rng_below(r, 10))) continue;
    replica_of[d] = of;
    any = true;
  }
  return any;
}

static int64_t other(rng *r, int64_t value) {
  int64_t by[] = {1, -1, 2, value, -value, 7};
  int64_t changed = value + by[rng_below(r, 6)];
  return changed < 0 || changed == value ? value + 1 : changed;
}

/* One claim becomes another one. */
static void damage(situ_plan *plan, const situ_problem *p, rng *r) {
  int32_t v = (int32_t)rng_below(r, p->n_operators), d = (int32_t)rng_below(r, p->n_devices);
  switch (rng_below(r, 15)) {
    case 0: plan->value_ns = other(r, plan->value_ns); return;
    case 1: plan->uses[d].load_ns = other(r, plan->uses[d].load_ns); return;
    case 2: plan->uses[d].memory_bytes = other(r, plan->uses[d].memory_bytes); return;
    case 3: plan->uses[d].n_operators = (plan->uses[d].n_operators + 1) % (p->n_operators + 1); return;
    case 4: plan->device[v] = (plan->device[v] + 1) % p->n_devices; return;
    case 5: plan->best_single_ns = other(r, plan->best_single_ns == INT64_MAX ? 5 : plan->best_single_ns); return;
    case 6: plan->best_single_device = (plan->best_single_device + 1) % p->n_devices; return;
    case 7:
      if (plan->start_ns) plan->start_ns[v] = other(r, plan->start_ns[v]);
      return;
    case 8:
      if (plan->finish_ns) plan->finish_ns[v] = other(r, plan->finish_ns[v]);
      return;
    case 9:
      if (plan->n_transfers == 0) return;
      situ_transfer *x = &plan->transfers[rng_below(r, plan->n_transfers)];
      if (rng_below(r, 2)) x->start_ns = other(r, x->start_ns);
      x->finish_ns = other(r, x->finish_ns);
      return;
    case 10:
      if (plan->n_transfers > 0) plan->n_transfers--;
      return;
    case 11:
      if (plan->call) plan->call[v] = plan->call[v] < 0 ? 0 : (plan->call[v] + 1) % p->n_operators;
      return;
    case 12:
      if (!plan->order || p->n_operators < 2) return;
      int32_t i = (int32_t)rng_below(r, p->n_operators - 1), was = plan->order[i];
      plan->order[i] = plan->order[i + 1];
      plan->order[i + 1] = was;
      return;
    case 13:
      if (plan->latency_ns < SITU_NEVER_NS) plan->latency_ns = other(r, plan->latency_ns);
      return;
    default:
      if (plan->period_ns < SITU_NEVER_NS) plan->period_ns = other(r, plan->period_ns);
  }
}

static situ_plan *draw_plan(const situ_problem *p, rng *r, arena *a) {
  int32_t device[MAX_SIZE], order[MAX_SIZE], call[MAX_SIZE], replica_of[DEVICES];
  simulator *s = simulator_new(p, a);
  situ_error error;
  situ_plan *plan;
  best_single single;
  placement where = {.device = device};
  draw_devices(p, r, device);
  lab_random_order(p->graph, r, order);
  if (p->execution == SITU_EXECUTION_STREAM) where.order = order;
  if (p->execution == SITU_EXECUTION_CALLS && rng_below(r, 3) == 0) {
    for (int32_t v = 0; v < p->n_operators; v++)
      call[v] =
          problem_is_host(p, device[v]) ? -1 : (device[v] + p->n_devices * (int32_t)rng_below(r, 2)) % p->n_operators;
    where.call = call;
  }
  if (p->execution == SITU_EXECUTION_PIPELINE && rng_below(r, 2) && draw_replicas(p, r, device, replica_of))
    where.replica_of = replica_of;
  must(best_single_find(&single, s, p, a, &error), &error);
  must(simulator_plan(&plan, s, &where, &error), &error);
  plan->best_single_ns = single.value_ns;
  plan->best_single_device = single.device;
  if (p->secondary && rng_below(r, 8) == 0 && plan->secondary_ns != SITU_NEVER_NS)
    plan->secondary_ns = other(r, plan->secondary_ns);
  if (rng_below(r, 2) && plan->value_ns != SITU_NEVER_NS) damage(plan, p, r);
  return plan;
}

/* Through the text of a file, so that reading is judged too. */
static json_value *judged(const draw *x, const situ_plan *plan) {
  situ_error error = {0};
  json_value *said = plan_to_json(plan), *line = json_new_object(), *rules = json_new_array();
  situ_plan *again;
  situ_verdict *verdict;
  must(plan_from_json(&again, x->problem, said, "plan", &error), &error);
  must(situ_check(&verdict, again, &error), &error);
  for (int32_t i = 0; i < verdict->n_kept; i++)
    json_push(rules, json_new_text(situ_verdict_violation(verdict, i).rule));
  json_set(line, "problem", problem_json(x));
  json_set(line, "plan", said);
  json_set(line, "rules", rules);
  situ_verdict_free(verdict);
  situ_plan_free(again);
  return line;
}

/* ---- proofs ---- */

static json_value *lists_json(const certificate *c) {
  json_value *o = json_new_object();
  for (int32_t k = 0; k < c->n_lists; k++) {
    json_value *row = json_new_array();
    for (int64_t i = 0; i < c->list[k].n; i++) json_push(row, amount(c->list[k].values[i]));
    json_set(o, c->list[k].name, row);
  }
  return o;
}

/* What the judge makes of the numbers; of kinds that go by the claim, whether that is verified. */
static void add_proof(json_value *list, const situ_problem *p, const certificate *c) {
  json_value *o = json_new_object();
  json_set(o, "kind", json_new_text(c->kind));
  json_set(o, "lists", lists_json(c));
  json_set(o, "claim_ns", amount(c->lower_ns));
  if (strcmp(c->kind, "destructive") == 0)
    json_set(o, "verified", json_new_bool(proved_claim(p, c)));
  else
    json_set(o, "proved_ns", amount(proved_by(p, c)));
  json_push(list, o);
}

/* Other numbers in some places, and another claim. */
static void spoil(json_value *list, const situ_problem *p, const certificate *c, rng *r) {
  for (int32_t round = 0; round < 6; round++) {
    certificate other = *c;
    int32_t k = c->n_lists > 0 ? (int32_t)rng_below(r, c->n_lists) : 0;
    int64_t kept = 0, *value = NULL, many = c->n_lists > 0 ? c->list[k].n : 0;
    if (many > 0) {
      value = &c->list[k].values[rng_below(r, (int32_t)many)];
      kept = *value;
      *value = kept + (int64_t[]){1, -1, 3, kept, -kept, 20}[rng_below(r, 6)];
    }
    if (rng_below(r, 2) && c->lower_ns < SITU_NEVER_NS - 9) other.lower_ns += rng_below(r, 4) - 1;
    add_proof(list, p, &other);
    if (value) *value = kept;
  }
}

/* Prices from nowhere: the judge must make of them what they prove. */
static void make_up(json_value *list, const situ_problem *p, rng *r, arena *a) {
  const situ_graph *g = p->graph;
  bool stream = p->execution == SITU_EXECUTION_STREAM;
  const struct {
    const char *name;
    int64_t n, most;
  } lists[] = {{"within_ns", 1, 200},
               {"edge_prices", g->n_uses, rng_below(r, 2) ? 1 : 3},
               {"tail_prices", g->n_operators, 6},
               {"time_prices", p->n_devices, 4},
               {"byte_prices", p->n_memories, rng_below(r, 3) ? 1 : 3},
               {"from_prices", g->n_uses * p->n_memories, rng_below(r, 3) ? 1 : 12},
               {"to_prices", g->n_uses * p->n_memories, rng_below(r, 3) ? 1 : 12},
               {"inside", p->n_memories, 2},
               {"out", g->n_uses, rng_below(r, 3) ? 1 : 30},
               {"in", g->n_uses, rng_below(r, 3) ? 1 : 30},
               {"operator", 1, g->n_operators},
               {"window", 1, 12},
               {"chain", 1 + rng_below(r, g->n_operators), g->n_operators},
               {"instant", stream && rng_below(r, 3) ? 1 : rng_below(r, 9) == 0, g->n_operators}};
  static const char *const kinds[] = {"area_price", "linear_relaxation", "critical_path", "largest_operator", "join",
                                      "runs",       "side_cut"};
  certificate c;
  certificate_start(&c, "", 0);
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
    int64_t *values = certificate_add(&c, lists[k].name, lists[k].n, a);
    for (int64_t i = 0; i < lists[k].n; i++) values[i] = rng_below(r, (int32_t)lists[k].most);
  }
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    bool of_streams = k == 1 || k == 4, of_pipelines = k == 3 || k >= 5;
    c.kind = kinds[k];
    if (of_streams && p->execution != SITU_EXECUTION_STREAM) continue;
    if (of_pipelines != (p->execution == SITU_EXECUTION_PIPELINE) && k > 1) continue;
    add_proof(list, p, &c);
  }
}

/* The greatest number in this place of the rests with which the certificate still holds. */
static int64_t greatest_rest(const situ_problem *p, certificate *c, int64_t *rests, int64_t at) {
  int64_t good = 0, bad = 1 << 12;
  while (bad - good > 1) {
    rests[at] = (good + bad) / 2;
    c->lower_ns = rests[0];
    if (proved_claim(p, c))
      good = rests[at];
    else
      bad = rests[at];
  }
  return good;
}

/* Cuts of our own, which may be none, with modest rests but for one, which is as great as it can be, and one more. */
static void cut_up(json_value *list, const situ_problem *p, rng *r, arena *a) {
  int32_t n = p->n_operators, n_cuts = 0, cut[MAX_SIZE], deleted[MAX_SIZE], n_deleted = 0;
  for (int32_t v = 0; v < n; v++) {
    if (rng_below(r, 4) == 0)
      deleted[n_deleted++] = v;
    else if (rng_below(r, 4) == 0)
      cut[n_cuts++] = v;
  }
  int64_t n_rests = (int64_t)p->n_devices * (n_cuts + (n_cuts == 0 || cut[n_cuts - 1] < n - 1 || rng_below(r, 2)));
  certificate c;
  certificate_start(&c, "cut_vertex", 0);
  int64_t *values = certificate_add_operators(&c, "deleted", n_deleted, a);
  for (int32_t i = 0; i < n_deleted; i++) values[i] = deleted[i];
  values = certificate_add_operators(&c, "cuts", n_cuts, a);
  for (int32_t i = 0; i < n_cuts; i++) values[i] = cut[i];
  int64_t *rests = certificate_add(&c, "rests", n_rests, a);
  for (int64_t i = p->n_devices; i < n_rests; i++) rests[i] = rng_below(r, 3) ? rng_below(r, 6) : 0;
  rests[0] = 1;
  int64_t at = rng_below(r, 2) ? 0 : rng_below(r, (int32_t)n_rests);
  int64_t most = greatest_rest(p, &c, rests, at);
  for (int64_t more = 0; more < 2; more++) {
    rests[at] = most + more;
    c.lower_ns = rests[0];
    add_proof(list, p, &c);
  }
}

static json_value *proofs(const draw *x, rng *r, arena *a) {
  const situ_problem *p = x->problem;
  json_value *line = json_new_object(), *list = json_new_array();
  budget unlimited = budget_new(0, 0, NULL, NULL);
  situ_error error;
  /* Bounds under a limit are those of a view; of contradictory pins the problem keeps the first alone. */
  bool left_out = problem_has_period(p) || p->max_latency_ns < SITU_NEVER_NS || p->conflict;
  for (int32_t i = 0; bounds[i] && !left_out; i++) {
    certificate c = {0};
    int64_t lower;
    if (!problem_is_of(p, bounds[i]->models)) continue;
    must(bounds[i]->compute(&lower, &c, p, a, &unlimited, &error), &error);
    if (!c.kind) continue;
    add_proof(list, p, &c);
    spoil(list, p, &c, r);
  }
  if (!left_out)
    for (int32_t round = 0; round < 3; round++) make_up(list, p, r, a);
  json_set(line, "problem", problem_json(x));
  json_set(line, "proofs", list);
  return line;
}

/* Problems so small that every schedule of a block can be tried. */
static json_value *cuts(uint64_t seed, rng *r, arena *a) {
  draw x = {.l = lab_random(&(lab_options){.seed = seed,
                                           .n_operators = 3 + (int32_t)rng_below(r, 3),
                                           .n_devices = 2 + (int32_t)rng_below(r, 2),
                                           .density = 0.2 + 0.5 * rng_unit(r),
                                           .n_colocations = (int32_t)rng_below(r, 3),
                                           .pinned = rng_below(r, 4) == 0,
                                           .unsupported = rng_below(r, 4) == 0,
                                           .equal = rng_below(r, 2),
                                           .options = {.execution = SITU_EXECUTION_STREAM}})};
  json_value *line = json_new_object(), *list = json_new_array();
  x.problem = x.l.problem;
  for (int32_t round = 0; round < 6 && !x.problem->conflict; round++) cut_up(list, x.problem, r, a);
  json_set(line, "problem", problem_json(&x));
  json_set(line, "proofs", list);
  lab_free(&x.l);
  return line;
}

/* Lists of all operators, which the judge may refute, and of a few, which mostly go in. */
static json_value *packings(const draw *x, rng *r, arena *a) {
  const situ_problem *p = x->problem;
  json_value *line = json_new_object(), *list = json_new_array();
  int64_t n = p->n_operators / p->n_copies;
  for (int32_t round = 0; round < 4 && !p->conflict; round++) {
    certificate c;
    certificate_start(&c, "packing", SITU_NEVER_NS);
    int64_t n_listed = round == 0 ? n : 1 + rng_below(r, n), *listed;
    listed = certificate_add_operators(&c, "operators", n_listed, a);
    for (int64_t i = 0; i < n_listed; i++)
      listed[i] = round == 0 ? i : rng_below(r, round == 3 ? p->n_operators + 1 : n);
    add_proof(list, p, &c);
  }
  json_set(line, "problem", problem_json(x));
  json_set(line, "proofs", list);
  return line;
}

/* Any chain of the graph, found backwards, with any prices. */
static void chain_up(json_value *list, const situ_problem *p, rng *r, arena *a) {
  const situ_graph *g = p->graph;
  int32_t way[MAX_SIZE], n = 0;
  certificate c;
  for (way[n++] = (int32_t)rng_below(r, g->n_operators); n < MAX_SIZE && rng_below(r, 9) > 0;) {
    int32_t v = way[n - 1], many = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    if (many == 0) break;
    way[n++] = g->producer[g->in[g->in_start[v] + rng_below(r, many)]];
  }
  certificate_start(&c, "unit_chain", 1);
  int64_t *chain = certificate_add_operators(&c, "chain", n, a);
  int64_t *byte = certificate_add(&c, "byte_prices", p->n_memories, a);
  for (int32_t i = 0; i < n; i++) chain[i] = way[n - 1 - i];
  for (int32_t m = 0; m < p->n_memories; m++)
    if ((p->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES || rng_below(r, 20) == 0) && rng_below(r, 2))
      byte[m] = (int64_t)rng_below(r, INT64_C(1) << (1 + rng_below(r, 34)));
  if (rng_below(r, p->secondary ? 4 : 12) == 0) byte = NULL;
  int64_t *price = byte && (p->secondary || rng_below(r, 12) == 0) ? certificate_add(&c, "other_price", 1, a) : NULL;
  if (price) *price = (int64_t)rng_below(r, INT64_C(1) << (1 + rng_below(r, 24)));
  add_proof(list, p, &c);
}

/* The certificate of unit_chain, whole and spoilt, and some that are made up. */
static json_value *proofs_of_chains(const draw *x, rng *r, arena *a) {
  enum { MADE_UP = 6 };
  const situ_problem *p = x->problem;
  json_value *line = json_new_object(), *list = json_new_array();
  budget unlimited = budget_new(0, 0, NULL, NULL);
  certificate c = {0};
  int64_t lower;
  situ_error error;
  if (!p->conflict) must(unit_chain_bound.compute(&lower, &c, p, a, &unlimited, &error), &error);
  if (c.kind) add_proof(list, p, &c);
  if (c.kind) spoil(list, p, &c, r);
  for (int32_t round = 0; round < MADE_UP && !p->conflict; round++) chain_up(list, p, r, a);
  json_set(line, "problem", problem_json(x));
  json_set(line, "proofs", list);
  return line;
}

static json_value *line_of(const char *what, uint64_t seed, arena *a) {
  rng r = rng_new(seed * 7919 + 3);
  if (strcmp(what, "cuts") == 0) return cuts(seed, &r, a);
  bool tight = strcmp(what, "packings") == 0, chained = strcmp(what, "chains") == 0;
  bool limited = strcmp(what, "limits") == 0;
  draw x = chained || limited ? draw_limited(seed, &r) : draw_problem(seed, &r, tight);
  situ_plan *plan = limited || strcmp(what, "plans") == 0 ? draw_plan(x.problem, &r, a) : NULL;
  json_value *line = plan      ? judged(&x, plan)
                     : chained ? proofs_of_chains(&x, &r, a)
                     : tight   ? packings(&x, &r, a)
                               : proofs(&x, &r, a);
  situ_plan_free(plan);
  situ_problem_free(x.posed);
  situ_costs_free(x.copied_costs);
  situ_graph_free(x.copies);
  lab_free(&x.l);
  return line;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  for (uint64_t seed = strtoull(argv[2], NULL, 10); seed <= strtoull(argv[3], NULL, 10); seed++) {
    arena *a = arena_new();
    json_value *line = line_of(argv[1], seed, a);
    char *text = json_print(line, 0);
    puts(text);
    free(text);
    json_free(line);
    arena_free(a);
  }
  return 0;
}
