/* Prompts on some devices and decoding on others: P. Patel et al., "Splitwise", ISCA 2024; Y. Zhong et al.,
 * "DistServe", OSDI 2024. The model is in docs/model.md. */
#include "api/disaggregation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/search_request.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "platform/grouped.h"
#include "problem/problem.h"
#include "read/reader.h"
#include "sim/token_rates.h"

static const double DEFAULT_LIMIT_S = 1, MIN_GAIN = 0.01; /* of twice as many streams, in requests */
enum { MAX_STREAMS = 1024, PREFILL = 0, DECODE = 1, NEITHER = 2 };

/* Equal devices of one server. */
typedef struct kind {
  int32_t device[SITU_MAX_DEVICES], n;
} kind;

typedef struct search {
  situ_disaggregation *into;
  search_request searches;
  const situ_platform *platform; /* without groups */
  kind *kinds;
  int32_t n_kinds;
  int32_t *side; /* [device] PREFILL, DECODE or NEITHER */
  const char **unused;
  int32_t n_given; /* of these, the caller's */
  int64_t max_streams;
  int32_t group_size; /* INSTANCE_AUTO_GROUPS: all */
  arena *scratch;
  situ_error *error;
} search;

/* ---- sides ---- */

/* Whether the caller leaves the device unused. */
static bool is_given(const search *q, const char *name) {
  for (int32_t k = 0; k < q->n_given; k++)
    if (q->unused[k] && strcmp(q->unused[k], name) == 0) return true;
  return false;
}

static bool has_accelerator(const search *q, int32_t server) {
  const situ_platform *p = q->platform;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->devices[d].server == server && !p->devices[d].is_host && !is_given(q, p->devices[d].name)) return true;
  return false;
}

static situ_status find_kinds(search *q) {
  const situ_platform *p = q->platform;
  q->kinds = ARENA_ZERO(q->scratch, kind, p->n_devices);
  q->side = ARENA_ZERO(q->scratch, int32_t, p->n_devices);
  if (!q->kinds || !q->side) return fail_no_memory(q->error);
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = 0;
    if (is_given(q, p->devices[d].name)) continue;
    if (p->devices[d].is_host && has_accelerator(q, p->devices[d].server)) continue;
    while (k < q->n_kinds && (p->class_of[q->kinds[k].device[0]] != p->class_of[d] ||
                              p->devices[q->kinds[k].device[0]].server != p->devices[d].server))
      k++;
    q->n_kinds = k == q->n_kinds ? k + 1 : q->n_kinds;
    q->kinds[k].device[q->kinds[k].n++] = d;
  }
  int64_t ways = 1;
  for (int32_t k = 0; k < q->n_kinds; k++) ways = sat_mul(ways, q->kinds[k].n + 1);
  if (ways - 2 > DISAGGREGATION_WAYS)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, p->name,
                     "has more than %d ways to assign its devices to prompts and decoding; leave some of them unused",
                     DISAGGREGATION_WAYS);
  return SITU_STATUS_OK;
}

/* The way of that number: of each kind the first devices are for prompts. False where a side has none. */
static bool assign(search *q, int64_t way) {
  const situ_platform *p = q->platform;
  int32_t n[2] = {0, 0};
  for (int32_t d = 0; d < p->n_devices; d++) q->side[d] = NEITHER;
  for (int32_t k = 0; k < q->n_kinds; k++) {
    int32_t here = (int32_t)(way % (q->kinds[k].n + 1));
    way /= q->kinds[k].n + 1;
    for (int32_t i = 0; i < q->kinds[k].n; i++) {
      int32_t side = i < here ? PREFILL : DECODE;
      q->side[q->kinds[k].device[i]] = side;
      n[side]++;
    }
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool on[2] = {false, false};
    if (is_given(q, p->devices[d].name) || !p->devices[d].is_host || !has_accelerator(q, p->devices[d].server))
      continue;
    for (int32_t e = 0; e < p->n_devices; e++)
      if (p->devices[e].server == p->devices[d].server && e != d && q->side[e] != NEITHER && !p->devices[e].is_host)
        on[q->side[e]] = true;
    if (on[PREFILL] != on[DECODE]) q->side[d] = on[PREFILL] ? PREFILL : DECODE;
  }
  return n[PREFILL] > 0 && n[DECODE] > 0;
}

/* The largest group that the devices of a side can be. */
static int32_t size_of_groups(const search *q, int32_t side) {
  bool alone[SITU_MAX_DEVICES];
  for (int32_t d = 0; d < q->platform->n_devices; d++) alone[d] = q->side[d] != side;
  int32_t equal = platform_max_group(q->platform, alone), together = platform_max_together(q->platform, alone);
  return equal > together ? equal : together;
}

/* "gpu0, gpu1": the devices of a side that may run operators. */
static const char *names_of(const search *q, int32_t side) {
  text_buffer t = {0};
  for (int32_t d = 0; d < q->platform->n_devices; d++)
    if (q->side[d] == side) text_add(&t, "%s%.64s", t.length > 0 ? ", " : "", q->platform->devices[d].name);
  char *text = text_take(&t);
  const char *kept = text ? arena_string(q->into->arena, text) : NULL;
  free(text);
  return kept;
}

/* ---- plans ---- */

/* A plan on the devices of a side; NULL without one. *bound_ns: what is proved of its value, SITU_NEVER_NS that there
 * is none, 0 nothing. */
static situ_status place_side(situ_plan **out, double *rate, int64_t *bound_ns, int32_t side, search *q) {
  situ_instance *i = NULL;
  const situ_platform *p = q->platform;
  q->searches.instance.n_unused = q->n_given;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (q->side[d] != side && !is_given(q, p->devices[d].name))
      q->unused[q->searches.instance.n_unused++] = p->devices[d].name;
  q->searches.instance.unused = q->unused;
  TRY(situ_place(out, &i, &q->searches.instance, &q->searches.solve, q->error));
  bool none = (*out)->outcome == SITU_OUTCOME_INFEASIBLE;
  *bound_ns = i->all_verified_ns >= 0 ? i->all_verified_ns : none ? SITU_NEVER_NS : max64((*out)->verified_ns, 0);
  *rate = token_rates_of(*out, i->model).decode;
  situ_instance_free(i);
  situ_verdict *verdict = NULL;
  situ_verdict_summary of = SITU_VERDICT_SUMMARY_INIT;
  situ_status status = SITU_STATUS_OK;
  if (plan_exists(*out)) status = situ_check(&verdict, *out, q->error);
  if (verdict) situ_verdict_get_summary(verdict, &of);
  situ_verdict_free(verdict);
  if (plan_exists(*out) && status == SITU_STATUS_OK && of.n_found == 0 && (*out)->value_ns < SITU_NEVER_NS) {
    q->into->made[q->into->n_made++] = *out;
    return SITU_STATUS_OK;
  }
  situ_plan_free(*out);
  *out = NULL;
  return status;
}

/* ---- caches ---- */

/* The device of the platform without groups that a device of a plan is, or the first of its group: "gpu0-3". */
static int32_t original(const situ_platform *p, const char *name) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (strcmp(p->devices[d].name, name) == 0) return d;
  for (int32_t d = 0; d < p->n_devices; d++) {
    size_t n = strlen(p->devices[d].name);
    if (strncmp(p->devices[d].name, name, n) == 0 && name[n] == '-') return d;
  }
  return -1;
}

/* The caches of the prompt go from where it was processed to where it goes on, all links at once: the longest latency
 * of a route and the busiest link. */
static bool find_transfer(situ_disaggregation_row *row, const situ_plan *from, const situ_plan *to, search *q) {
  const situ_platform *p = q->platform;
  const situ_graph *g = from->problem->graph, *h = to->problem->graph;
  double *bytes = ARENA_ZERO(q->scratch, double, p->n_links);
  int64_t latency_ns = 0;
  double busiest_s = 0;
  row->transfer_bytes = 0;
  if (!bytes || g->n_operators != h->n_operators) return false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t cached = g->weight_bytes[v] - graph_own_weight_bytes(g, v), route_ns = 0;
    if (cached <= 0) continue;
    int32_t a = original(p, from->problem->platform->devices[from->device[v]].name),
            b = original(p, to->problem->platform->devices[to->device[v]].name);
    if (a < 0 || b < 0) return false;
    row->transfer_bytes = sat_add(row->transfer_bytes, cached);
    int64_t pair = (int64_t)p->memory_of[a] * p->n_memories + p->memory_of[b];
    for (int32_t r = p->route_start[pair]; r < p->route_start[pair + 1]; r++) {
      int32_t l = p->route_link[r];
      bytes[l] += (double)cached;
      route_ns = sat_add(route_ns, p->links[l].latency_ns);
      if (bytes[l] / p->links[l].bytes_per_s > busiest_s) busiest_s = bytes[l] / p->links[l].bytes_per_s;
    }
    latency_ns = max64(latency_ns, route_ns);
  }
  row->transfer_ns = sat_add(latency_ns, sat_round(busiest_s * 1e9));
  return true;
}

/* ---- rows ---- */

/* Rows are in order of a request's time, and of equal ones the highest rate first. */
static bool is_behind(const situ_disaggregation_row *a, const situ_disaggregation_row *b) {
  return a->request_ns > b->request_ns || (a->request_ns == b->request_ns && a->requests_per_s < b->requests_per_s);
}

static void insert(situ_disaggregation *s, const situ_disaggregation_row *row, const situ_plan *first,
                   const situ_plan *then) {
  if (s->n == DISAGGREGATION_ROWS) return;
  int32_t at = s->n++;
  for (; at > 0 && is_behind(&s->rows[at - 1], row); at--) {
    s->rows[at] = s->rows[at - 1];
    memcpy(s->plan[at], s->plan[at - 1], sizeof s->plan[at]);
  }
  s->rows[at] = *row;
  s->plan[at][PREFILL] = first;
  s->plan[at][DECODE] = then;
}

/* What is asked of the next plan. */
static void ask(search *q, int64_t prompt, int64_t context, int64_t streams) {
  q->searches.read.prompt = prompt;
  q->searches.read.generate = 0;
  q->searches.read.context = context;
  q->searches.read.batch = streams;
}

/* Requests a second that plans at the bounds would let through. */
static double max_rate(const int64_t bound_ns[2], const situ_plan *then, double rate, int64_t generate) {
  if (bound_ns[PREFILL] == SITU_NEVER_NS || bound_ns[DECODE] == SITU_NEVER_NS || bound_ns[PREFILL] == 0 ||
      bound_ns[DECODE] == 0)
    return 0;
  double decode = rate * (double)then->value_ns / (double)bound_ns[DECODE] / (double)generate;
  return fmin(1e9 / (double)bound_ns[PREFILL], decode);
}

/* Rows of one way: prompts once, then more and more streams until prompts limit, or memory. */
static situ_status try_way(search *q, int64_t prompt_tokens, int64_t generate) {
  situ_disaggregation *s = q->into;
  situ_disaggregation_row row = {.prefill_devices = names_of(q, PREFILL), .decode_devices = names_of(q, DECODE)};
  situ_plan *first, *then;
  double rate, best_rate = 0;
  int64_t bound_ns[2];
  if (!row.prefill_devices || !row.decode_devices) return fail_no_memory(q->error);
  ask(q, prompt_tokens, 0, 1);
  TRY(place_side(&first, &rate, &bound_ns[PREFILL], PREFILL, q));
  if (!first) s->unproved |= bound_ns[PREFILL] != SITU_NEVER_NS;
  bool more = first != NULL;
  for (int64_t n = 1; more && n <= q->max_streams && !q->searches.stopped && s->n < DISAGGREGATION_ROWS; n *= 2) {
    ask(q, 0, sat_add(prompt_tokens, generate), n);
    TRY(place_side(&then, &rate, &bound_ns[DECODE], DECODE, q));
    if (!then) s->unproved |= bound_ns[DECODE] != SITU_NEVER_NS;
    if (!then || !(rate > 0)) break;
    if (!find_transfer(&row, first, then, q)) return fail_no_memory(q->error);
    row.streams = n;
    row.prefill_ns = first->value_ns;
    row.stream_tokens_per_s = rate / (double)n;
    row.request_ns =
        sat_add(sat_add(row.prefill_ns, row.transfer_ns), sat_round((double)generate / row.stream_tokens_per_s * 1e9));
    double prompts = 1e9 / (double)row.prefill_ns, answers = rate / (double)generate;
    row.requests_per_s = fmin(prompts, answers);
    if (row.transfer_ns > 0) row.requests_per_s = fmin(row.requests_per_s, 1e9 / (double)row.transfer_ns);
    row.max_requests_per_s = max_rate(bound_ns, then, rate, generate);
    s->unproved |= row.max_requests_per_s == 0;
    s->max_requests_per_s = fmax(s->max_requests_per_s, row.max_requests_per_s);
    insert(s, &row, first, then);
    more = row.requests_per_s < prompts && row.requests_per_s > best_rate * (1 + MIN_GAIN);
    best_rate = row.requests_per_s;
  }
  s->unproved |= q->searches.stopped;
  return SITU_STATUS_OK;
}

/* The best with each copy doing both. A plan of whole requests of its streams takes its value for all of them. */
static situ_status find_together(search *q, const situ_serving_options *o) {
  situ_serving *serving = NULL;
  situ_disaggregation_summary *best = &q->into->summary;
  q->searches.instance.n_unused = q->n_given;
  q->searches.read.prompt = q->into->prompt;
  q->searches.read.generate = q->into->generate;
  q->searches.read.context = 0;
  situ_serving_options own = *o;
  own.solve = &q->searches.solve;
  TRY(situ_serve(&serving, &q->searches.instance, &own, q->error));
  for (int32_t k = 0; k < situ_serving_count(serving); k++) {
    double rate = 0;
    for (int32_t c = 0; c < situ_serving_at(serving, k).n_copies; c++) {
      const situ_plan *plan = situ_serving_plan(serving, k, c);
      int64_t streams = situ_serving_streams(serving, k, c);
      rate += (double)streams / (double)plan->value_ns * 1e9;
      if (streams == 1 && (best->together_request_ns == 0 || plan->value_ns < best->together_request_ns))
        best->together_request_ns = plan->value_ns;
    }
    best->together_requests_per_s = fmax(best->together_requests_per_s, rate);
  }
  situ_serving_free(serving);
  return SITU_STATUS_OK;
}

static void mark_front(situ_disaggregation *s) {
  double max = 0;
  for (int32_t k = 0; k < s->n; k++) {
    s->rows[k].on_front = s->rows[k].requests_per_s > max;
    max = fmax(max, s->rows[k].requests_per_s);
  }
}

static situ_status try_all(search *q, const situ_serving_options *o) {
  situ_disaggregation *s = q->into;
  situ_instance *i = NULL;
  int64_t ways = 1;
  if (o->max_streams < 0)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL, "max_streams must be at least 1, or 0 for the default");
  if (s->prompt <= 0 || s->generate <= 0)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "a request needs a prompt and tokens to generate; expected both to be at least 1");
  if (q->searches.problem.objective == SITU_OBJECTIVE_THROUGHPUT)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "prompts and steps are to be short here; leave out the objective throughput");
  q->max_streams = o->max_streams > 0 ? o->max_streams : MAX_STREAMS;
  const char *groups = q->searches.instance.tensor_parallel;
  instance_options asked = {.call = q->searches.instance};
  if (groups && strchr(groups, ','))
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "tensor-parallel states shares, which are for one group; expected a number of devices, or auto");
  TRY(instance_group_size(&q->group_size, &asked, q->error));
  if (!groups) q->group_size = INSTANCE_AUTO_GROUPS;
  q->searches.instance.tensor_parallel = NULL;
  TRY(search_request_open(&i, &q->searches, "only such a model has prompts and decodes", q->error));
  q->platform = i->platform;
  s->model = arena_string(s->arena, i->graph->model);
  s->platform = arena_string(s->arena, i->platform->name);
  q->searches.instance.tensor_parallel = groups ? groups : "auto";
  situ_status status = s->model && s->platform ? find_kinds(q) : fail_no_memory(q->error);
  for (int32_t k = 0; k < q->n_kinds; k++) ways *= q->kinds[k].n + 1;
  for (int64_t way = 0; status == SITU_STATUS_OK && way < ways && !q->searches.stopped; way++)
    if (assign(q, way) && size_of_groups(q, PREFILL) >= q->group_size && size_of_groups(q, DECODE) >= q->group_size)
      status = try_way(q, s->prompt, s->generate);
  q->searches.instance.tensor_parallel = groups;
  if (status == SITU_STATUS_OK && !q->searches.stopped) status = find_together(q, o);
  s->summary.max_requests_per_s = s->unproved || q->searches.stopped ? 0 : s->max_requests_per_s;
  mark_front(s);
  situ_instance_free(i);
  return status;
}

situ_status situ_disaggregate(situ_disaggregation **out, const situ_instance_options *instance,
                              const situ_serving_options *options, situ_error *error) {
  situ_serving_options o;
  search q = {.error = error};
  if (out) *out = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(TAKE(o, options, SITU_SERVING_OPTIONS_INIT, error));
  TRY(search_request_take(&q.searches, instance, o.solve, DEFAULT_LIMIT_S, error));
  q.scratch = arena_new();
  q.into = NOUN_NEW(situ_disaggregation, NULL);
  q.n_given = q.searches.instance.unused ? (int32_t)max64(q.searches.instance.n_unused, 0) : 0;
  q.unused = q.scratch ? ARENA_ZERO(q.scratch, const char *, (int64_t)q.n_given + SITU_MAX_DEVICES) : NULL;
  if (!q.into || !q.unused) {
    situ_disaggregation_free(q.into);
    arena_free(q.scratch);
    return fail_no_memory(error);
  }
  for (int32_t k = 0; k < q.n_given; k++) q.unused[k] = q.searches.instance.unused[k];
  q.into->prompt = q.searches.read.prompt;
  q.into->generate = q.searches.read.generate;
  q.into->summary = (situ_disaggregation_summary)SITU_DISAGGREGATION_SUMMARY_INIT;
  situ_status status = try_all(&q, &o);
  arena_free(q.scratch);
  HAND_OUT(out, q.into, status, situ_disaggregation_free);
}

void situ_disaggregation_free(situ_disaggregation *s) {
  if (!s) return;
  for (int32_t k = 0; k < s->n_made; k++) situ_plan_free(s->made[k]);
  arena_free(s->arena);
}

int32_t situ_disaggregation_count(const situ_disaggregation *s) { return s ? s->n : 0; }

situ_disaggregation_row situ_disaggregation_at(const situ_disaggregation *s, int32_t index) {
  return s && index >= 0 && index < s->n ? s->rows[index] : (situ_disaggregation_row){0};
}

const situ_plan *situ_disaggregation_plan(const situ_disaggregation *s, int32_t index, bool decodes) {
  return s && index >= 0 && index < s->n ? s->plan[index][decodes ? DECODE : PREFILL] : NULL;
}

bool situ_disaggregation_get_summary(const situ_disaggregation *s, situ_disaggregation_summary *out) {
  return s && GIVE(out, s->summary);
}
