/* The smallest platform that meets a goal. Every goal is a limit on the value of a plan, so the proved lower bound of
 * the value shows where no plan can meet it. */
#include "api/size.h"

#include <string.h>

#include "api/instance.h"
#include "api/search_request.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "base/json.h"
#include "plan/plan.h"
#include "platform/catalogue.h"
#include "platform/grouped.h"
#include "platform/platform.h"
#include "problem/scope.h"
#include "read/reader.h"

static const double DEFAULT_LIMIT_S = 2, HOUR_NS = 3600e9;

/* Candidates where the caller names none: what people put into one machine, from a CPU to eight GPUs. */
static const char BUILT_IN[] =
    "cpu,cpu+rtx3060-12g,cpu+t4-16g,cpu+rtx3090-24g,cpu+rtx4090-24g,cpu+l4-24g,cpu+a100-40g,cpu+l40s-48g,cpu+a100-80g,"
    "cpu+h100-80g,cpu+h200-141g,cpu+2*rtx3060-12g,cpu+2*rtx3090-24g,cpu+2*rtx4090-24g,cpu+2*l4-24g,cpu+2*a100-80g,"
    "cpu+2*h100-80g,cpu+4*l4-24g,cpu+4*a100-80g,cpu+4*h100-80g,cpu+8*a100-80g,cpu+8*h100-80g";

typedef struct candidate {
  const char *name;
  int32_t n_devices;
  int64_t memory_bytes;
  double price; /* negative: not known */
} candidate;

typedef struct sizing_call {
  situ_sizing *into;
  search_request searches;
  json_value *prices; /* NULL: none */
  const char *prices_path;
  candidate *candidates;
  bool all;
  situ_error *error;
} sizing_call;

/* ---- prices ---- */

static situ_status read_prices(sizing_call *q, const char *path) {
  TRY(json_read(&q->prices, path, q->error));
  q->prices_path = path;
  json_member m = {0};
  bool ok = json_kind_of(q->prices) == JSON_OBJECT_KIND;
  if (!ok)
    return fail_with(q->error, SITU_STATUS_BAD_INPUT, path, "expected an object that maps names to prices per hour");
  while (json_next(q->prices, &m))
    if (!(json_number(m.value, -1) >= 0))
      return fail_with(q->error, SITU_STATUS_BAD_INPUT, path, "the price of \"%.60s\" must be a number, at least 0",
                       m.key);
  return SITU_STATUS_OK;
}

/* Of a device by its class, whichever of its names the file uses; negative where it has none. */
static double device_price(const json_value *prices, const char *class_name) {
  json_member m = {0};
  while (json_next(prices, &m)) {
    const situ_device_kind_info *row = catalogue_find(m.key);
    if (strcmp(row ? row->name : m.key, class_name) == 0) return json_number(m.value, -1);
  }
  return -1;
}

/* That of the whole where the file has it, else the sum over the devices; *lacking is a device without a price. */
static double price_of(const json_value *prices, const char *name, const situ_platform *f, const char **lacking) {
  const json_value *whole = json_get(prices, name);
  double sum = 0;
  *lacking = NULL;
  if (!prices || whole) return json_number(whole, -1);
  for (int32_t d = 0; d < f->n_devices; d++) {
    double one = device_price(prices, f->devices[d].class_name);
    if (one < 0) *lacking = f->devices[d].class_name;
    sum += one;
  }
  return *lacking ? -1 : sum;
}

/* ---- candidates ---- */

static bool cheaper(const candidate *a, const candidate *b) {
  if (a->price != b->price) return a->price < b->price;
  if (a->n_devices != b->n_devices) return a->n_devices < b->n_devices;
  return a->memory_bytes < b->memory_bytes;
}

/* Inserts a candidate after those that are not more expensive. */
static void insert(sizing_call *q, const candidate *c) {
  int32_t at = q->into->n_candidates++;
  for (; at > 0 && cheaper(c, &q->candidates[at - 1]); at--) q->candidates[at] = q->candidates[at - 1];
  q->candidates[at] = *c;
}

/* A built-in platform without groups of the size that is asked for is no candidate; one that is named is refused. */
static situ_status add_candidate(sizing_call *q, const char *name, bool named) {
  situ_platform *f = NULL;
  const char *lacking;
  int32_t group_size;
  candidate c = {.name = name};
  const instance_options asked = {.call = q->searches.instance};
  TRY(instance_group_size(&group_size, &asked, q->error));
  TRY(situ_platform_read(&f, name, q->error));
  if (!named && group_size > platform_max_group(f, NULL)) {
    situ_platform_free(f);
    return SITU_STATUS_OK;
  }
  c.n_devices = f->n_devices;
  for (int32_t m = 0; m < f->n_memories; m++)
    c.memory_bytes = sat_add(c.memory_bytes, situ_platform_memory_bytes(f, m));
  c.price = price_of(q->prices, name, f, &lacking);
  situ_status status = SITU_STATUS_OK;
  if (!lacking)
    insert(q, &c);
  else if (named)
    status = fail_with(q->error, SITU_STATUS_BAD_INPUT, q->prices_path, "no price for %.60s, which is part of %.120s",
                       lacking, name);
  else
    q->into->n_unpriced++;
  situ_platform_free(f);
  return status;
}

static bool is_class_of(const char *key, const char *platform) {
  situ_platform *f = NULL;
  bool found = false;
  if (situ_platform_read(&f, platform, NULL) != SITU_STATUS_OK) return false;
  for (int32_t k = 0; k < f->n_classes && !found; k++) found = strcmp(f->class_name[k], key) == 0;
  situ_platform_free(f);
  return found;
}

/* Every name in the price file is a device, a platform, or a class of a candidate. A misspelt one would silently take
 * candidates out of the list. */
static situ_status check_price_names(sizing_call *q) {
  json_member m = {0};
  while (q->prices && json_next(q->prices, &m)) {
    situ_platform *f = NULL;
    situ_error why = {.text = ""};
    bool known = catalogue_find(m.key) || situ_platform_read(&f, m.key, &why) == SITU_STATUS_OK;
    situ_platform_free(f);
    for (int32_t i = 0; !known && i < q->into->n_candidates; i++) known = is_class_of(m.key, q->candidates[i].name);
    if (!known)
      return fail_with(q->error, SITU_STATUS_BAD_INPUT, q->prices_path, "the price of \"%.60s\": %s", m.key, why.text);
  }
  return SITU_STATUS_OK;
}

static situ_status take_candidates(sizing_call *q, const char *names) {
  arena *a = q->into->arena;
  const char *list = names ? names : BUILT_IN;
  int64_t max = 1;
  for (const char *c = list; *c; c++) max += *c == ',';
  if (!ARENA_ARRAYS(a, ARRAY(q->candidates, max), ZEROS(q->into->rows, max), ZEROS(q->into->scopes, max)))
    return fail_no_memory(q->error);
  for (const char *at = list; at; at = *at ? at + 1 : NULL) {
    at += strspn(at, " ");
    size_t n = 0, end;
    for (int depth = 0; at[n] && (at[n] != ',' || depth > 0); n++) /* figures of a device have commas in parentheses */
      depth += at[n] == '(' ? 1 : at[n] == ')' ? -1 : 0;
    end = n;
    while (end > 0 && at[end - 1] == ' ') end--;
    if (end == 0) return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL, "the list of platforms has an empty name");
    const char *name = arena_string_n(a, at, end);
    if (!name) return fail_no_memory(q->error);
    TRY(add_candidate(q, name, names != NULL));
    at += n;
  }
  TRY(check_price_names(q));
  if (q->into->n_candidates > 0) return SITU_STATUS_OK;
  if (!q->prices)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL, "no built-in platform has groups of %s equal devices",
                     q->searches.instance.tensor_parallel);
  return fail_with(q->error, SITU_STATUS_BAD_INPUT, q->prices_path, "it has prices for none of the built-in platforms");
}

/* ---- trying one ---- */

static situ_status know_model(sizing_call *q, const situ_instance *i) {
  situ_sizing *s = q->into;
  if (s->model) return SITU_STATUS_OK;
  s->model = arena_string(s->arena, i->graph->model);
  s->tokens = goal_tokens(i);
  if (!s->model) return fail_no_memory(q->error);
  if (s->goal.kind != GOAL_TOKENS || s->tokens > 0) return SITU_STATUS_OK;
  return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                   "the goal %s needs a language model, one copy of it; for others use a goal such as latency<=50ms or "
                   "period<=2ms",
                   s->goal.text);
}

/* Whether it is proved that no plan meets the goal. */
static bool is_impossible(const situ_sizing *s, const situ_problem *p, const situ_plan *plan) {
  return p->conflict || !goal_meets(&s->goal, s->tokens, plan ? plan->verified_ns : 0);
}

/* The result of a candidate. A value counts only after a search: the best single device says little about a machine. */
static situ_status keep_row(sizing_call *q, const candidate *c, const situ_problem *p, const situ_plan *plan,
                            bool searched) {
  situ_sizing *s = q->into;
  situ_size_row *row = &s->rows[s->n];
  int64_t value = searched && plan_exists(plan) ? plan->value_ns : SITU_NEVER_NS;
  double rate = s->tokens > 0 && value > 0 && value != SITU_NEVER_NS ? s->tokens * 1e9 / (double)value : 0;
  *row = (situ_size_row){.platform = c->name,
                         .reason = arena_string(s->arena, plan ? plan->reason : ""),
                         .finding = goal_meets(&s->goal, s->tokens, value) ? SITU_SIZE_MET
                                    : is_impossible(s, p, plan)            ? SITU_SIZE_IMPOSSIBLE
                                                                           : SITU_SIZE_MISSED,
                         .value_ns = value,
                         .lower_bound_ns = plan ? plan->lower_bound_ns : 0,
                         .tokens_per_second = rate,
                         .price = c->price,
                         .price_of_a_million = -1};
  s->scopes[s->n].plans = scope_text(s->arena, p);
  if (c->price >= 0 && rate > 0) row->price_of_a_million = c->price / (rate * HOUR_NS / 1e9) * 1e6;
  s->scopes[s->n].guessed = p->guessed;
  bool copied = unknown_copy(&s->scopes[s->n].unknown, &p->unknown, s->arena);
  if (!row->reason || !s->scopes[s->n].plans || !copied) return fail_no_memory(q->error);
  if (q->searches.stopped && row->finding == SITU_SIZE_MISSED) return SITU_STATUS_OK; /* it was not tried to the end */
  if (row->finding == SITU_SIZE_MET && s->answer < 0) s->answer = s->n;
  s->n++;
  return SITU_STATUS_OK;
}

/* First the bounds and the best single device; a search only if they leave the goal open. */
static situ_status try_posed(sizing_call *q, const situ_problem *p, situ_plan **plan, bool *searched) {
  situ_solve_options bounds = q->searches.solve;
  bounds.solvers = "single";
  *searched = false;
  if (!q->searches.solve.no_bounds) TRY(situ_solve(plan, p, &bounds, q->error));
  if (q->searches.stopped || (*plan && is_impossible(q->into, p, *plan))) return SITU_STATUS_OK;
  situ_plan_free(*plan);
  *plan = NULL;
  *searched = true;
  return situ_solve(plan, p, &q->searches.solve, q->error);
}

/* Layers that are whole by default make no goal impossible: without them the candidate is tried once more. */
static situ_status try_candidate(sizing_call *q, const candidate *c) {
  situ_instance *i = NULL;
  situ_plan *plan = NULL;
  bool searched = false, split = false;
  q->searches.instance.platform = c->name;
  situ_status status = situ_instance_open(&i, &q->searches.instance, q->error);
  if (status == SITU_STATUS_OK) status = know_model(q, i);
  if (status == SITU_STATUS_OK) status = try_posed(q, i->problem, &plan, &searched);
  bool impossible = status == SITU_STATUS_OK && plan && is_impossible(q->into, i->problem, plan);
  if (status == SITU_STATUS_OK && i->may_split && !q->searches.stopped && (impossible || !plan_exists(plan))) {
    situ_plan_free(plan);
    plan = NULL;
    split = true;
    status = instance_split_layers(i, impossible, q->error);
    if (status == SITU_STATUS_OK) status = try_posed(q, i->problem, &plan, &searched);
  }
  q->into->scopes[q->into->n].split = split;
  if (status == SITU_STATUS_OK) status = keep_row(q, c, i->problem, plan, searched);
  situ_plan_free(plan);
  situ_instance_free(i);
  return status;
}

static situ_status size_all(sizing_call *q, const situ_size_options *o) {
  situ_sizing *s = q->into;
  TRY(goal_read(&s->goal, o->goal, s->arena, q->error));
  TRY(goal_take_objective(&s->goal, &q->searches.problem, q->error));
  if (o->prices) TRY(read_prices(q, o->prices));
  s->priced = o->prices;
  TRY(take_candidates(q, o->platforms));
  for (int32_t k = 0; k < s->n_candidates && !q->searches.stopped && (q->all || s->answer < 0); k++)
    TRY(try_candidate(q, &q->candidates[k]));
  return SITU_STATUS_OK;
}

situ_status situ_size(situ_sizing **out, const situ_instance_options *instance, const situ_size_options *options,
                      situ_error *error) {
  situ_size_options o;
  sizing_call q = {.error = error};
  if (out) *out = NULL;
  TRY(GIVEN(error, out, instance, options));
  TRY(TAKE(o, options, SITU_SIZE_OPTIONS_INIT, error));
  TRY(search_request_take(&q.searches, instance, o.solve, DEFAULT_LIMIT_S, error));
  if (!o.goal) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "situ_size: options.goal is NULL");
  q.into = NOUN_NEW(situ_sizing, NULL);
  if (!q.into) return fail_no_memory(error);
  q.into->answer = -1;
  q.all = o.all;
  situ_status status = size_all(&q, &o);
  json_free(q.prices);
  HAND_OUT(out, q.into, status, situ_sizing_free);
}

void situ_sizing_free(situ_sizing *sizing) {
  if (sizing) arena_free(sizing->arena);
}

int32_t situ_sizing_count(const situ_sizing *s) { return s ? s->n : 0; }

situ_size_row situ_sizing_at(const situ_sizing *s, int32_t index) {
  return s && index >= 0 && index < s->n
             ? s->rows[index]
             : (situ_size_row){
                   .platform = "", .reason = "", .finding = SITU_SIZE_MISSED, .price = -1, .price_of_a_million = -1};
}

int32_t situ_sizing_answer(const situ_sizing *s) { return s ? s->answer : -1; }
