/* What a plan would gain or lose on a changed machine. A change is an excluded device, a copy of the platform with
 * other figures, on which the costs of the instance, estimated or measured, are scaled, or another model. The problem
 * is posed from the options of the one it varies, and solved again. */
#include "situ/what_if.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "api/what_if_groups.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "cost/cost_models.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "platform/routes.h"
#include "read/reader.h"

struct situ_what_if_list {
  arena *arena;
  int32_t n, room;
  situ_what_if *rows;
};

/* A class of equal things is asked about once, and of no kind more often than this. */
enum { MAX_OF_A_KIND = 8, FASTEST = 16, LINK_FACTOR = 2 };
static const char FASTER_CLASS[] = "faster "; /* no name of a class ends with a space */
static const double DEFAULT_LIMIT_S = 1.0, NEARLY_FULL = 0.8;

/* What is other than in the instance; -1 and NULL: as it is. */
typedef struct change {
  int32_t without;   /* a device that stays empty */
  int32_t link_kind; /* all links of this kind are twice as fast */
  int32_t memory;    /* that of this device holds twice as much; with replicas, which need equal devices, those of all
                        devices of its class */
  int32_t device;    /* `factor` times as fast */
  double factor;
  const char *model;
  const situ_link_kind_info *joint; /* members of each group have direct links of this kind */
  bool split;                       /* layers and blocks need not be whole */
} change;
static const change NO_CHANGE = {.without = -1, .link_kind = -1, .memory = -1, .device = -1};

typedef struct inquiry {
  const situ_instance *instance;
  const situ_plan *plan;
  situ_solve_options solve;
  situ_what_if_list *list;
  situ_progress_callback *progress;
  void *context;
  bool stopped;
  situ_error *error;
} inquiry;

/* ---- posing a change ---- */

/* Routes stay: those by faster links are the shortest for 1 MiB, and would make small tensors slower. */
static situ_status change_platform(situ_platform **out, const situ_instance *i, const change *c, situ_error *error) {
  const situ_platform *f = i->platform;
  arena *scratch = arena_new();
  situ_device *devices = scratch ? ARENA_COPY(scratch, f->devices, situ_device, f->n_devices) : NULL;
  situ_link *links = scratch ? ARENA_COPY(scratch, f->links, situ_link, f->n_links) : NULL;
  situ_status status = devices && links ? SITU_STATUS_OK : fail_no_memory(error);
  for (int32_t d = 0; status == SITU_STATUS_OK && d < f->n_devices; d++) {
    bool alike = c->memory >= 0 && i->problem->replicate && f->class_of[d] == f->class_of[c->memory];
    bool larger = c->memory >= 0 && (alike || f->memory_of[d] == f->memory_of[c->memory]);
    if (larger) devices[d].memory_bytes = sat_mul(devices[d].memory_bytes, 2);
    if (d != c->device) continue;
    devices[d].class_name = FASTER_CLASS; /* alone in it; its times are the costs' */
  }
  for (int32_t l = 0; status == SITU_STATUS_OK && l < f->n_links; l++) {
    if (c->link_kind < 0 || i->costs->link_kind[l] != c->link_kind) continue;
    links[l].latency_ns /= LINK_FACTOR;
    links[l].bytes_per_s = fmin(links[l].bytes_per_s * LINK_FACTOR, PLATFORM_MAX_RATE);
  }
  if (status == SITU_STATUS_OK) status = platform_new_like(out, f, devices, f->n_devices, links, f->n_links, error);
  if (status == SITU_STATUS_OK) status = routes_copy(*out, f, error);
  arena_free(scratch);
  return status;
}

/* The problem with another platform or one device less. */
typedef struct variant {
  situ_platform *platform;
  situ_costs *costs, *secondary_costs;
  situ_problem *problem;
  bool *unused;
} variant;

static void variant_free(variant *v) {
  situ_problem_free(v->problem);
  situ_costs_free(v->costs);
  situ_costs_free(v->secondary_costs);
  situ_platform_free(v->platform);
  free(v->unused);
}

static situ_status variant_pose(variant *v, const situ_instance *i, const change *c, situ_error *error) {
  const situ_problem *p = i->problem;
  situ_problem_options posed = problem_options_of(p);
  *v = (variant){0};
  if (c->split) posed.keep_together = NULL;
  if (c->without >= 0) {
    v->unused = calloc((size_t)p->n_devices, sizeof *v->unused);
    if (!v->unused) return fail_no_memory(error);
    for (int32_t d = 0; d < p->n_devices; d++) v->unused[d] = d == c->without || p->unused[d];
    posed.unused = v->unused;
    return situ_problem_pose(&v->problem, p->given, p->platform, p->costs, &posed, error);
  }
  if (c->joint) {
    TRY(what_if_join(&v->platform, i, c->joint, error));
    TRY(instance_estimate(&v->costs, &v->secondary_costs, i, v->platform, error));
    if (p->secondary) posed.secondary_costs = v->secondary_costs;
    return situ_problem_pose(&v->problem, p->given, v->platform, v->costs, &posed, error);
  }
  TRY(change_platform(&v->platform, i, c, error));
  cost_change faster = {v->platform, c->device, c->link_kind, c->device >= 0 ? c->factor : LINK_FACTOR};
  v->costs = costs_changed(p->costs, p->platform, &faster);
  if (p->secondary) posed.secondary_costs = v->secondary_costs = costs_changed(p->secondary, p->platform, &faster);
  if (!v->costs || (p->secondary && !v->secondary_costs)) return fail_no_memory(error);
  return situ_problem_pose(&v->problem, p->given, v->platform, v->costs, &posed, error);
}

/* ---- asking ---- */

static bool tell(void *context, const situ_progress *news) {
  inquiry *q = context;
  if (q->progress && q->progress(q->context, news)) q->stopped = true;
  return q->stopped;
}

static situ_status keep_row(inquiry *q, const char *words, const situ_plan *plan, int32_t inputs) {
  situ_what_if_list *list = q->list;
  if (list->n == list->room) {
    int32_t room = 2 * list->room + 16;
    situ_what_if *rows = ARENA_NEW(list->arena, situ_what_if, room);
    if (!rows) return fail_no_memory(q->error);
    if (list->n > 0) memcpy(rows, list->rows, sizeof *rows * (size_t)list->n);
    list->rows = rows;
    list->room = room;
  }
  situ_what_if row = {.change = arena_string(list->arena, words),
                      .outcome = plan->outcome,
                      .value_ns = plan->value_ns,
                      .lower_bound_ns = plan->lower_bound_ns,
                      .inputs = inputs};
  if (!row.change) return fail_no_memory(q->error);
  list->rows[list->n++] = row;
  return SITU_STATUS_OK;
}

/* A changed machine may have no plan that keeps layers whole although it has others. */
static situ_status ask_split(variant *v, situ_plan **found, inquiry *q, const change *c) {
  change split = *c;
  split.split = true;
  situ_plan_free(*found);
  *found = NULL;
  variant_free(v);
  TRY(variant_pose(v, q->instance, &split, q->error));
  return situ_solve(found, v->problem, &q->solve, q->error);
}

/* The value after the change; *uses says whether `device` has work in the plan found. */
static situ_status ask(inquiry *q, const change *c, const char *words, int32_t device, bool *uses) {
  variant v;
  situ_plan *found = NULL;
  situ_status status = variant_pose(&v, q->instance, c, q->error);
  if (status == SITU_STATUS_OK) status = situ_solve(&found, v.problem, &q->solve, q->error);
  const situ_instance *i = q->instance;
  bool split = status == SITU_STATUS_OK && !q->stopped && !plan_exists(found) && !i->rules &&
               i->options.call.granularity >= SITU_GRANULARITY_LAYER;
  if (split) status = ask_split(&v, &found, q, c);
  bool used = status == SITU_STATUS_OK && device >= 0 && plan_use(found, device).n_operators > 0;
  if (uses) *uses = used;
  /* A device that is still idle is asked about again, faster. */
  bool wanted = !uses || used || c->factor >= FASTEST;
  char line[256];
  snprintf(line, sizeof line, "%s%s%s", words, uses && !used ? ", still unused" : "", split ? ", layers split" : "");
  if (status == SITU_STATUS_OK && wanted && !q->stopped) status = keep_row(q, line, found, 1);
  situ_plan_free(found);
  variant_free(&v);
  return status;
}

static bool works(const situ_plan *plan, int32_t d) { return plan_use(plan, d).n_operators > 0; }

/* Whether an earlier device of the class of d is also used, or also idle. */
static bool seen_before(const situ_instance *i, const situ_plan *plan, int32_t d) {
  for (int32_t e = 0; e < d; e++)
    if (i->platform->class_of[e] == i->platform->class_of[d] && works(plan, e) == works(plan, d)) return true;
  return false;
}

static situ_status ask_without(inquiry *q) {
  const situ_platform *f = q->instance->platform;
  int32_t asked = 0;
  for (int32_t d = 0; d < f->n_devices && asked < MAX_OF_A_KIND && !q->stopped; d++) {
    char words[128];
    if (!works(q->plan, d) || seen_before(q->instance, q->plan, d) || f->n_devices < 2) continue;
    change c = NO_CHANGE;
    c.without = d;
    snprintf(words, sizeof words, "without %.64s", f->devices[d].name);
    TRY(ask(q, &c, words, -1, NULL));
    asked++;
  }
  return SITU_STATUS_OK;
}

/* Which kinds of link carry a tensor of the plan. */
static void mark_links(bool *carries, const situ_instance *i, const situ_plan *plan) {
  const situ_platform *f = i->platform;
  const situ_graph *g = i->graph;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = f->memory_of[plan->device[g->producer[t]]];
    for (int64_t u = g->use_start[t]; u < g->use_start[t + 1]; u++) {
      int64_t way = (int64_t)from * f->n_memories + f->memory_of[plan->device[g->use[u]]];
      for (int32_t h = f->route_start[way]; h < f->route_start[way + 1]; h++)
        carries[i->costs->link_kind[f->route_link[h]]] = true;
    }
  }
}

static situ_status ask_links(inquiry *q) {
  const situ_instance *i = q->instance;
  const situ_platform *f = i->platform;
  bool *carries = i->own_costs ? calloc((size_t)i->costs->n_kinds, sizeof *carries) : NULL;
  if (!i->own_costs) return SITU_STATUS_OK;
  if (!carries) return fail_no_memory(q->error);
  mark_links(carries, i, q->plan);
  int32_t asked = 0;
  situ_status status = SITU_STATUS_OK;
  for (int32_t l = 0; l < f->n_links && asked < MAX_OF_A_KIND && status == SITU_STATUS_OK && !q->stopped; l++) {
    int32_t kind = i->costs->link_kind[l];
    char words[192];
    if (!carries[kind]) continue;
    carries[kind] = false;
    change c = NO_CHANGE;
    c.link_kind = kind;
    snprintf(words, sizeof words, "links like %.64s - %.64s twice as fast", f->devices[f->links[l].from_device].name,
             f->devices[f->links[l].to_device].name);
    status = ask(q, &c, words, -1, NULL);
    asked++;
  }
  free(carries);
  return status;
}

/* Members of groups pay for their route to each other at every collective. */
static situ_status ask_joints(inquiry *q) {
  const situ_instance *i = q->instance;
  const situ_link_kind_info *kind[WHAT_IF_JOINTS];
  int32_t d = 0, n_devices = i->platform->n_devices;
  while (d < n_devices && (platform_members(i->platform, d) < 2 || !works(q->plan, d))) d++;
  int32_t n = d < n_devices ? what_if_joints(kind, i, d) : 0;
  for (int32_t k = 0; k < n && !q->stopped; k++) {
    char words[160];
    change c = NO_CHANGE;
    c.joint = kind[k];
    snprintf(words, sizeof words, "members of groups like %.64s joined by %s", i->platform->devices[d].name,
             kind[k]->name);
    TRY(ask(q, &c, words, -1, NULL));
  }
  return SITU_STATUS_OK;
}

static situ_status ask_memory(inquiry *q) {
  const situ_instance *i = q->instance;
  const situ_platform *f = i->platform;
  bool none_alone = q->plan->best_single_ns == SITU_NEVER_NS;
  int32_t asked = 0;
  for (int32_t d = 0; d < f->n_devices && asked < MAX_OF_A_KIND && !q->stopped; d++) {
    situ_device_use use = plan_use(q->plan, d);
    char words[128];
    if (f->devices[d].shares_memory_with >= 0 || use.memory_limit_bytes == SITU_UNLIMITED_BYTES ||
        seen_before(i, q->plan, d))
      continue;
    if (!none_alone && (double)use.memory_bytes < NEARLY_FULL * (double)use.memory_limit_bytes) continue;
    change c = NO_CHANGE;
    c.memory = d;
    snprintf(words, sizeof words, "%s%.64s with twice the memory", i->problem->replicate ? "all devices like " : "",
             f->devices[d].name);
    TRY(ask(q, &c, words, -1, NULL));
    asked++;
  }
  return SITU_STATUS_OK;
}

static situ_status ask_idle(inquiry *q) {
  const situ_instance *i = q->instance;
  const situ_platform *f = i->platform;
  if (!i->own_costs) return SITU_STATUS_OK;
  int32_t asked = 0;
  for (int32_t d = 0; d < f->n_devices && asked < MAX_OF_A_KIND && !q->stopped; d++) {
    if (works(q->plan, d) || plan_use(q->plan, d).replica_of >= 0 || (i->unused && i->unused[d]) ||
        seen_before(i, q->plan, d))
      continue;
    bool uses = false;
    for (int factor = 2; factor <= FASTEST && !uses && !q->stopped; factor *= 2) {
      char words[128];
      change c = NO_CHANGE;
      c.device = d;
      c.factor = factor;
      snprintf(words, sizeof words, "%.64s %d times as fast", f->devices[d].name, factor);
      TRY(ask(q, &c, words, d, &uses));
    }
    asked++;
  }
  return SITU_STATUS_OK;
}

/* "builtin:NAME?...": the same with twice the batch, as a new text in `into`; false where the model has no batch. */
static bool doubled_batch(char *into, size_t n, const char *model, int32_t *batch) {
  static const char prefix[] = "builtin:";
  if (strncmp(model, prefix, sizeof prefix - 1) != 0) return false;
  const char *mark = strchr(model, '?'), *at = mark ? strstr(mark, "batch=") : NULL;
  *batch = 1;
  if (!at) {
    int wrote = snprintf(into, n, "%s%cbatch=2", model, mark ? '&' : '?');
    return wrote > 0 && (size_t)wrote < n;
  }
  char *end;
  long now = strtol(at + 6, &end, 10);
  if (now < 1 || now > 1 << 20) return false;
  *batch = (int32_t)now;
  int wrote = snprintf(into, n, "%.*sbatch=%ld%s", (int)(at - model), model, 2 * now, end);
  return wrote > 0 && (size_t)wrote < n;
}

static situ_status ask_batch(inquiry *q) {
  char model[1024], words[128];
  int32_t batch;
  if (q->stopped || !doubled_batch(model, sizeof model, q->instance->options.call.model, &batch)) return SITU_STATUS_OK;
  instance_options options = q->instance->options;
  situ_instance *other = NULL;
  situ_plan *found = NULL;
  situ_error unread = {0};
  options.call.model = model;
  options.read.log = options.cost.log = NULL;
  if (options.call.fix || options.cost.table_path) return SITU_STATUS_OK; /* measured times are those of this batch */
  if (instance_open(&other, &options, &unread) != SITU_STATUS_OK) return SITU_STATUS_OK; /* no batch */
  situ_solve_options solve = q->solve;
  if (other->problem->n_operators != q->instance->problem->n_operators) solve.n_starts = 0;
  snprintf(words, sizeof words, "batch %d", (int)(2 * batch));
  situ_status status = situ_solve(&found, other->problem, &solve, q->error);
  other->may_split = other->options.call.granularity >= SITU_GRANULARITY_LAYER;
  if (status == SITU_STATUS_OK && !q->stopped && !plan_exists(found) && other->may_split) {
    situ_plan_free(found);
    found = NULL;
    snprintf(words, sizeof words, "batch %d, layers split", (int)(2 * batch));
    status = instance_split_layers(other, false, q->error);
    if (status == SITU_STATUS_OK) status = situ_solve(&found, other->problem, &solve, q->error);
  }
  if (status == SITU_STATUS_OK && !q->stopped) status = keep_row(q, words, found, 2);
  situ_plan_free(found);
  situ_instance_free(other);
  return status;
}

static situ_status ask_all(inquiry *q) {
  TRY(ask_without(q));
  TRY(ask_links(q));
  TRY(ask_joints(q));
  TRY(ask_memory(q));
  TRY(ask_idle(q));
  return ask_batch(q);
}

situ_status situ_what_if_find(situ_what_if_list **out, const situ_instance *instance, const situ_plan *plan,
                              const situ_solve_options *solve, situ_error *error) {
  inquiry q = {.instance = instance, .plan = plan, .error = error};
  if (out) *out = NULL;
  TRY(GIVEN(error, out, instance, plan));
  TRY(TAKE(q.solve, solve, SITU_SOLVE_OPTIONS_INIT, error));
  TRY(plan_belongs(plan, instance->problem, error));
  if (!plan->device || plan_check_shape(plan))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to compare with");
  q.list = NOUN_NEW(situ_what_if_list, NULL);
  if (!q.list) return fail_no_memory(error);
  q.progress = q.solve.progress;
  q.context = q.solve.context;
  q.solve.progress = tell;
  q.solve.context = &q;
  q.solve.starts = &plan;
  q.solve.n_starts = 1;
  if (q.solve.max_steps == 0 && q.solve.time_limit_s <= 0) q.solve.time_limit_s = DEFAULT_LIMIT_S;
  HAND_OUT(out, q.list, ask_all(&q), situ_what_if_free);
}

void situ_what_if_free(situ_what_if_list *list) {
  if (list) arena_free(list->arena);
}

int32_t situ_what_if_count(const situ_what_if_list *list) { return list ? list->n : 0; }

situ_what_if situ_what_if_at(const situ_what_if_list *list, int32_t index) {
  return list && index >= 0 && index < list->n ? list->rows[index]
                                               : (situ_what_if){.change = "", .value_ns = SITU_NEVER_NS};
}
