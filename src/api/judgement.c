/* A command of another program against the best plan that this program can run. */
#include "api/judgement.h"

#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "api/search_request.h"
#include "base/arguments.h"
#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "plan/plan.h"
#include "read/reader.h"
#include "sim/token_rates.h"
#include "write/writer.h"

static const double DEFAULT_LIMIT_S = 5;
enum { MEGABYTE = 1000000 };

typedef struct judge_call {
  situ_judgement *into;
  search_request searches;
  const writer *format;
  plan_request asked;
  bool fixed_group; /* an option says how many devices split operators */
  const char *command;
  situ_error *error;
} judge_call;

/* The devices of the machine of the first host, or of all where there is none, that a group of all of them has. */
static int32_t count_accelerators(const situ_platform *m) {
  int32_t n = 0, home = m->devices[0].server;
  for (int32_t d = 0; d < m->n_devices; d++) n += !m->devices[d].is_host && m->devices[d].server == home;
  return n;
}

/* A rule of memory beside those of the caller, who has the last word on it. */
static situ_status add_rule(judge_call *q, const char *rule) {
  situ_instance_options *o = &q->searches.instance;
  for (int32_t k = 0; k < o->n_rules; k++)
    if (strncmp(o->rules[k], "headroom ", 9) == 0 || strncmp(o->rules[k], "reserve ", 8) == 0) return SITU_STATUS_OK;
  const char **rules = ARENA_NEW(q->into->arena, const char *, (int64_t)o->n_rules + 1);
  if (!rules) return fail_no_memory(q->error);
  for (int32_t k = 0; k < o->n_rules; k++) rules[k] = o->rules[k];
  rules[o->n_rules] = arena_string(q->into->arena, rule);
  if (!rules[o->n_rules]) return fail_no_memory(q->error);
  o->rules = rules;
  o->n_rules++;
  return SITU_STATUS_OK;
}

/* The memory that the program leaves unused by its own limit, and that of files beside the model. */
static situ_status leave_memory(judge_call *q) {
  const char *name = q->searches.instance.platform;
  situ_platform *m = NULL;
  char rule[160] = "";
  if (q->asked.unused_share > 0)
    c_locale_print(rule, sizeof rule, "headroom %.2f%%", 100 * q->asked.unused_share);
  else if (q->asked.beside_bytes > 0 && name && situ_platform_read(&m, name, NULL) == SITU_STATUS_OK)
    for (int32_t d = m->n_devices - 1; d >= 0; d--)
      if (!m->devices[d].is_host)
        c_locale_print(rule, sizeof rule, "reserve %.80s=%.3f MB", m->devices[d].name,
                       (double)min64(q->asked.beside_bytes, m->memory_bytes[m->memory_of[d]] - MEGABYTE) / 1e6);
  situ_platform_free(m);
  return *rule ? add_rule(q, rule) : SITU_STATUS_OK;
}

/* The devices that split operators: with the shares of the command, or even ones. */
static situ_status take_group(judge_call *q) {
  text_buffer t = {0};
  int64_t k = q->asked.group;
  if (k <= 1) return SITU_STATUS_OK;
  for (const char *at = q->asked.shares; at && *at; at++) text_add(&t, "%c", *at == '/' ? ',' : *at);
  for (int64_t i = 0; !q->asked.shares && i < k && k <= INSTANCE_MAX_SHARES; i++) text_add(&t, "%s1", i > 0 ? "," : "");
  if (t.length == 0) text_add(&t, "%lld", (long long)k);
  q->searches.instance.tensor_parallel = t.failed ? NULL : arena_string(q->into->arena, t.bytes);
  text_free(&t);
  return q->searches.instance.tensor_parallel ? SITU_STATUS_OK : fail_no_memory(q->error);
}

/* What the caller left open is as the command says. */
static situ_status take_request(judge_call *q) {
  const plan_request *asked = &q->asked;
  situ_instance *i = NULL;
  q->fixed_group = q->searches.instance.tensor_parallel != NULL;
  if (!q->searches.instance.model) q->searches.instance.model = asked->model;
  if (!q->searches.instance.model)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, q->format->name,
                     "the command names no model; name its file beside the command");
  if (!q->searches.read.context) q->searches.read.context = asked->context;
  if (!q->searches.cost.engine) q->searches.cost.engine = q->format->engine;
  if (!q->searches.read.batch && asked->streams > 1) q->searches.read.batch = asked->streams;
  if (!q->searches.read.ubatch) q->searches.read.ubatch = asked->micro_batch;
  if (!q->searches.read.prompt && !q->searches.read.generate) {
    q->searches.read.prompt = asked->prompt;
    q->searches.read.generate = asked->generate;
  }
  if (!q->searches.read.kv_type && asked->kv_type) q->searches.read.kv_type = asked->kv_type;
  TRY(leave_memory(q));
  bool open_context = asked->trained && !q->searches.read.context, open_group = asked->group == 0;
  if (open_context || open_group) {
    TRY(situ_instance_open(&i, &q->searches.instance, q->error));
    if (open_context) q->searches.read.context = i->model->steps.trained_context;
    q->asked.group = open_group ? count_accelerators(i->platform) : asked->group;
    situ_instance_free(i);
  }
  return q->searches.instance.tensor_parallel ? SITU_STATUS_OK : take_group(q);
}

/* An engine that computes on hosts only where nothing is on an accelerator, or a command without accelerators, whose
 * hosts compute all that they have: then none may be used. */
static situ_status leave_unused(judge_call *q, situ_instance_options *own, const situ_instance *i,
                                const int32_t *device) {
  const situ_platform *m = i->platform;
  const char **unused = ARENA_NEW(q->into->arena, const char *, (int64_t)m->n_devices + own->n_unused);
  if (!unused) return fail_no_memory(q->error);
  for (int32_t v = 0; v < i->problem->n_operators; v++)
    if (!m->devices[device[v]].is_host) return SITU_STATUS_OK;
  for (int32_t k = 0; k < own->n_unused; k++) unused[k] = own->unused[k];
  for (int32_t d = 0; d < m->n_devices; d++)
    if (!m->devices[d].is_host) unused[own->n_unused++] = arena_string(q->into->arena, m->devices[d].name);
  for (int32_t k = 0; k < own->n_unused; k++)
    if (!unused[k]) return fail_no_memory(q->error);
  own->unused = unused;
  return SITU_STATUS_OK;
}

/* Opens the model twice: for the names of its operators, and with all of them pinned. */
static situ_status judge_given(judge_call *q) {
  situ_judgement *j = q->into;
  situ_instance *i = NULL;
  situ_instance_options own = q->searches.instance;
  situ_problem_options pinned = q->searches.problem;
  own.granularity = SITU_GRANULARITY_FUSED; /* what programs cut is not cut finer */
  if (!own.tensor_parallel) own.tensor_parallel = "1";
  TRY(situ_instance_open(&i, &own, q->error));
  int32_t *device = ARENA_NEW(j->arena, int32_t, i->problem->n_operators);
  const plan_reading *r = q->format->reading;
  situ_status status = !device            ? fail_no_memory(q->error)
                       : r->model_devices ? r->model_devices(device, i->problem, q->command, own.model, q->error)
                                          : r->devices(device, i->problem, q->command, q->error);
  if (status == SITU_STATUS_OK && (q->format->engine || q->asked.hosts_alone))
    status = leave_unused(q, &own, i, device);
  situ_instance_free(i);
  if (status != SITU_STATUS_OK) return status;
  pinned.pins = device;
  own.problem = &pinned;
  return situ_place(&j->given, &j->given_instance, &own, &q->searches.solve, q->error);
}

/* A placement of nodes may cut what costs take for one kernel; then no kernels are joined, in what it is compared with
 * either. */
static situ_status judge_cut_kernels(judge_call *q) {
  static const char cut[] = "fusion: ";
  situ_judgement *j = q->into;
  const char *why = j->given_instance->problem->conflict;
  if (!why || strncmp(why, cut, strlen(cut)) != 0 || q->searches.cost.fusion) return SITU_STATUS_OK;
  const char *kept = q->asked.notes ? q->asked.notes : "";
  text_buffer notes = {0};
  text_add(&notes, "%sit cuts kernels that engines join: judged with every node as one (--fusion none)\n", kept);
  q->asked.notes = notes.failed ? NULL : arena_string(j->arena, notes.bytes);
  text_free(&notes);
  if (!q->asked.notes) return fail_no_memory(q->error);
  q->searches.cost.fusion = "none";
  situ_plan_free(j->given);
  situ_instance_free(j->given_instance);
  j->given = NULL;
  j->given_instance = NULL;
  return judge_given(q);
}

/* A plan of the form: the one that `situ place` takes, or the fastest one. With the groups of the command it starts
 * from its plan; `groups` is "auto" for those of all sizes. */
static situ_status find_best_by(judge_call *q, bool fastest, const char *groups) {
  situ_judgement *j = q->into;
  situ_instance_options own = q->searches.instance;
  situ_solve_options solve = q->searches.solve;
  const situ_plan *start = j->given;
  bool starts = plan_exists(start) && own.tensor_parallel == groups;
  own.writers = &q->format->name;
  own.n_writers = 1;
  own.tensor_parallel = groups;
  solve.starts = starts ? &start : NULL;
  solve.n_starts = starts;
  if (fastest) solve.tolerance = solve.min_gain = solve.uncertainty = 0;
  return situ_place(&j->best, &j->best_instance, &own, &solve, q->error);
}

/* Where the program can split operators, and no option says over how many devices, groups of all sizes are tried.
 * Whoever splits already has chosen to; a slower plan that is surer is no answer then. */
static situ_status find_best(judge_call *q) {
  situ_judgement *j = q->into;
  const char *given = q->searches.instance.tensor_parallel;
  const situ_instance *i = j->given_instance;
  bool any = i->ungrouped || instance_max_group(i) > 1 || instance_max_together(i) > 1;
  TRY(find_best_by(q, false, any && q->format->groups && !q->fixed_group ? "auto" : given));
  if (!plan_exists(j->given) || !plan_exists(j->best) || j->best->value_ns <= j->given->value_ns) return SITU_STATUS_OK;
  situ_plan_free(j->best);
  situ_instance_free(j->best_instance);
  j->best = NULL;
  j->best_instance = NULL;
  return find_best_by(q, true, given);
}

/* The rate of decoding of a placement before the cache fills, which people measure; that of the plan is at its end. */
static situ_status rate_when_empty(double *rate, const situ_plan *plan, const situ_instance *of, situ_error *error) {
  enum { FEW = 512 };
  const situ_graph *g = of->graph;
  instance_options o = of->options;
  situ_instance *i = NULL;
  situ_plan *short_plan = NULL;
  bool decodes = o.read.prompt == 0 && o.read.generate == 0 && g->streams > 0 && g->cache_tokens / g->streams > FEW;
  if (!decodes || !plan_exists(plan) || plan->problem->objective != SITU_OBJECTIVE_LATENCY) return SITU_STATUS_OK;
  o.read.context = 1;
  o.call.fix = NULL;
  o.call.n_writers = 0;
  o.call.max_ttft_ns = 0;
  o.call.min_speed = 0;
  o.problem = (situ_problem_options){.size = sizeof o.problem};
  situ_status status = instance_open(&i, &o, error);
  if (status == SITU_STATUS_OK && i->problem->n_operators == plan->problem->n_operators)
    status = situ_simulate(&short_plan, i->problem, plan->device, NULL, error);
  if (status == SITU_STATUS_OK && short_plan) *rate = token_rates_of(short_plan, i->model).decode;
  situ_plan_free(short_plan);
  situ_instance_free(i);
  return status;
}

static situ_status describe(judge_call *q) {
  situ_judgement *j = q->into;
  char *text = NULL;
  j->format = q->format->name;
  j->notes = q->asked.notes ? q->asked.notes : "";
  j->better = "";
  if (!plan_exists(j->best) || (plan_exists(j->given) && j->given->value_ns <= j->best->value_ns))
    return SITU_STATUS_OK;
  if (q->format->write_folder) return SITU_STATUS_OK; /* a folder, which `situ place` writes */
  TRY(situ_write(&text, q->format->name, j->best, q->error));
  j->better = arena_string(j->arena, text);
  free(text);
  return j->better ? SITU_STATUS_OK : fail_no_memory(q->error);
}

static situ_status judge(judge_call *q, const situ_judge_options *o) {
  TRY(writer_of_text(&q->format, o->format, o->command, q->error));
  q->command = o->command;
  if (q->format->reading->request)
    TRY(q->format->reading->request(&q->asked, o->command, q->into->arena, q->error));
  else
    q->asked.group = 1;
  TRY(take_request(q));
  TRY(judge_given(q));
  TRY(judge_cut_kernels(q));
  TRY(find_best(q));
  TRY(rate_when_empty(&q->into->given_when_empty, q->into->given, q->into->given_instance, q->error));
  TRY(rate_when_empty(&q->into->best_when_empty, q->into->best, q->into->best_instance, q->error));
  return describe(q);
}

situ_status situ_judge(situ_judgement **out, const situ_instance_options *instance, const situ_judge_options *options,
                       situ_error *error) {
  situ_judge_options o;
  judge_call q = {.error = error};
  if (out) *out = NULL;
  TRY(GIVEN(error, out, instance, options));
  TRY(TAKE(o, options, SITU_JUDGE_OPTIONS_INIT, error));
  TRY(search_request_take(&q.searches, instance, o.solve, DEFAULT_LIMIT_S, error));
  if (!o.command) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "situ_judge: options.command is NULL");
  q.into = NOUN_NEW(situ_judgement, NULL);
  if (!q.into) return fail_no_memory(error);
  HAND_OUT(out, q.into, judge(&q, &o), situ_judgement_free);
}

void situ_judgement_free(situ_judgement *j) {
  if (!j) return;
  situ_plan_free(j->given);
  situ_plan_free(j->best);
  situ_instance_free(j->given_instance);
  situ_instance_free(j->best_instance);
  arena_free(j->arena);
}

const situ_plan *situ_judgement_given(const situ_judgement *j) { return j ? j->given : NULL; }
const situ_plan *situ_judgement_best(const situ_judgement *j) { return j && plan_exists(j->best) ? j->best : NULL; }
const situ_model *situ_judgement_model(const situ_judgement *j) {
  return j ? situ_instance_model(j->given_instance) : NULL;
}

bool situ_judgement_get_summary(const situ_judgement *j, situ_judgement_summary *out) {
  if (!j) return false;
  situ_judgement_summary own = {.format = j->format, .better = j->better, .notes = j->notes};
  return GIVE(out, own);
}
