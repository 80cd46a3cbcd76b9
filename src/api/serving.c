/* What a machine serves: the front of the tokens per second of one stream and of all, over numbers of streams, groups
 * of devices that split operators, and copies of the model. */
#include "api/serving.h"

#include <stdio.h>
#include <string.h>

#include "api/search_request.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "base/fail.h"
#include "plan/plan.h"
#include "problem/scope.h"
#include "read/reader.h"
#include "sim/token_rates.h"
#include "situ/solve.h"

static const double DEFAULT_LIMIT_S = 1, MIN_GAIN = 0.01; /* of twice as many streams, in the rate of all */
enum { MAX_STREAMS = 1024 };

typedef struct serving_call {
  situ_serving *into;
  search_request searches;
  const char **unused; /* the caller's and those of the copies so far */
  int32_t n_given;     /* the caller's */
  int64_t max_streams;
  situ_error *error;
} serving_call;

/* What a number of streams and a size of groups gives, so far. */
typedef struct attempt {
  situ_serving_row row;
  serving_attempt *of;
  const char *among;
} attempt;

/* ---- rows ---- */

/* Inserts a row by its rate of a stream. */
static void insert(situ_serving *s, const attempt *a) {
  if (s->n == SERVING_ROWS) return;
  int32_t at = s->n++;
  for (; at > 0 && s->rows[at - 1].stream_tokens_per_s < a->row.stream_tokens_per_s; at--) {
    s->rows[at] = s->rows[at - 1];
    s->copies[at] = s->copies[at - 1];
    s->scopes[at] = s->scopes[at - 1];
  }
  s->rows[at] = a->row;
  s->copies[at] = a->of->copies;
  s->scopes[at] = a->among;
}

static double stream_rate(const serving_copy *c) { return c->tokens_per_s / (double)c->streams; }

/* Adds a copy, which the attempt owns. One that slows streams down begins another row. */
static void add_copy(attempt *a, const serving_copy *copy, situ_serving *s) {
  situ_serving_row *r = &a->row;
  double rate = stream_rate(copy);
  if (r->n_copies > 0 && rate < r->stream_tokens_per_s) insert(s, a);
  if (r->n_copies == 0 || rate < r->stream_tokens_per_s) r->stream_tokens_per_s = rate;
  a->of->copies[a->of->n++] = *copy;
  r->n_copies++;
  r->streams += copy->streams;
  r->tokens_per_s += copy->tokens_per_s;
}

/* ---- copies ---- */

/* A device of the same class that no copy uses; -1 without one. */
static int32_t find_equal(const situ_problem *p, const bool *used, int32_t d) {
  for (int32_t e = 0; e < p->n_devices; e++)
    if (!used[e] && !p->unused[e] && p->class_of[e] == p->class_of[d]) return e;
  return -1;
}

/* The first copy on equal devices instead: [operator] device. False where too few are left. */
static bool move_to_equals(int32_t *device, const situ_plan *first, bool *used, int32_t *to) {
  const situ_problem *p = first->problem;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (plan_use(first, d).n_operators == 0) continue;
    if ((to[d] = find_equal(p, used, d)) < 0) return false;
    used[to[d]] = true;
  }
  for (int32_t v = 0; v < p->n_operators; v++) device[v] = to[first->device[v]];
  return true;
}

/* Simulates a placement and checks it like any plan. *same: whether it takes as long as the first. */
static situ_status evaluate(situ_plan **out, bool *same, const situ_plan *first, const int32_t *device,
                            situ_error *error) {
  situ_verdict *verdict = NULL;
  situ_verdict_summary of = SITU_VERDICT_SUMMARY_INIT;
  *same = false;
  TRY(situ_simulate(out, first->problem, device, first->order, error));
  situ_status status = situ_check(&verdict, *out, error);
  if (status == SITU_STATUS_OK) situ_verdict_get_summary(verdict, &of);
  situ_verdict_free(verdict);
  *same = status == SITU_STATUS_OK && of.n_found == 0 && (*out)->value_ns == first->value_ns;
  if (*same) return SITU_STATUS_OK;
  situ_plan_free(*out);
  *out = NULL;
  return status;
}

/* The first copy again, on all equal devices that are left. */
static situ_status copy_on_equals(attempt *a, serving_call *q) {
  serving_copy copy = a->of->copies[0];
  const situ_plan *first = copy.plan;
  const situ_problem *p = first->problem;
  arena *scratch = arena_new();
  int32_t *to, *device;
  bool *used, same = true;
  situ_status status = scratch && ARENA_ARRAYS(scratch, ARRAY(to, p->n_devices), ARRAY(device, p->n_operators),
                                               ZEROS(used, p->n_devices))
                           ? SITU_STATUS_OK
                           : fail_no_memory(q->error);
  for (int32_t d = 0; status == SITU_STATUS_OK && d < p->n_devices; d++) used[d] = plan_use(first, d).n_operators > 0;
  while (status == SITU_STATUS_OK && same && move_to_equals(device, first, used, to)) {
    status = evaluate(&copy.plan, &same, first, device, q->error);
    if (same) add_copy(a, &copy, q->into);
  }
  arena_free(scratch);
  return status;
}

/* What is proved of one stream: its rate at the bound, or that there is no plan. Where a plan is of a whole request,
 * its bound says nothing of decoding alone. */
static void bound_stream(const situ_plan *plan, double rate, serving_call *q) {
  const situ_read_options *asked = &q->searches.read;
  situ_serving *s = q->into;
  if (!plan_exists(plan)) {
    s->unproved |= plan->outcome != SITU_OUTCOME_INFEASIBLE;
    s->reason = arena_string(s->arena, plan->reason);
    return;
  }
  if (plan->verified_ns <= 0 || asked->prompt > 0 || asked->generate > 0) s->unproved = true;
  if (s->unproved) return;
  double max = rate * (double)plan->value_ns / (double)plan->verified_ns;
  if (max > s->max_stream_tokens_per_s) s->max_stream_tokens_per_s = max;
}

/* The best single device for one stream, as the first size of groups has it: mostly without any. False
 * without memory. */
static bool keep_single(const situ_plan *plan, double rate, situ_serving *s) {
  int32_t d = plan->best_single_device;
  if (d < 0 || plan->best_single_ns <= 0 || !plan_exists(plan)) return true;
  s->single = arena_string(s->arena, plan->problem->platform->devices[d].name);
  s->single_tokens_per_s = rate * (double)plan->value_ns / (double)plan->best_single_ns;
  return s->single;
}

/* Searches on what the copies so far left idle. Without a plan copy->plan is NULL. */
static situ_status search_copy(serving_copy *copy, const char **among, int32_t group, serving_call *q) {
  situ_instance *i = NULL;
  char size[16];
  snprintf(size, sizeof size, "%d", (int)group);
  q->searches.read.batch = copy->streams;
  q->searches.instance.tensor_parallel = size;
  q->searches.instance.unused = q->unused;
  TRY(situ_place(&copy->plan, &i, &q->searches.instance, &q->searches.solve, q->error));
  copy->tokens_per_s = token_rates_of(copy->plan, i->model).decode;
  bool kept = true;
  if (!*among && copy->streams == 1) {
    bound_stream(copy->plan, copy->tokens_per_s, q);
    if (group == q->into->sizes[0]) kept = keep_single(copy->plan, copy->tokens_per_s, q->into);
  }
  if (!*among) *among = scope_text(q->into->arena, copy->plan->problem);
  if (!plan_exists(copy->plan) || copy->tokens_per_s <= 0) {
    situ_plan_free(copy->plan);
    copy->plan = NULL;
  }
  situ_instance_free(i);
  return *among && kept ? SITU_STATUS_OK : fail_no_memory(q->error);
}

/* The next copy: of as many streams as the first, or as few as make them as fast. */
static situ_status next_copy(serving_copy *copy, attempt *a, int64_t streams, serving_call *q) {
  *copy = (serving_copy){.streams = streams};
  TRY(search_copy(copy, &a->among, a->row.group, q));
  while (copy->plan && copy->streams > 1 && a->of->n > 0 && !q->searches.stopped &&
         stream_rate(copy) < stream_rate(&a->of->copies[0])) {
    serving_copy fewer = {.streams = copy->streams / 2};
    TRY(search_copy(&fewer, &a->among, a->row.group, q));
    if (!fewer.plan) break;
    situ_plan_free(copy->plan);
    *copy = fewer;
  }
  return SITU_STATUS_OK;
}

/* What the copies from `first` on use is not for those after them. */
static void leave_out(serving_call *q, const attempt *a, int32_t first) {
  for (int32_t k = first; k < a->of->n; k++) {
    const situ_plan *plan = a->of->copies[k].plan;
    for (int32_t d = 0; d < plan->n_devices; d++)
      if (plan_use(plan, d).n_operators > 0)
        q->unused[q->searches.instance.n_unused++] = plan->problem->platform->devices[d].name;
  }
}

/* *total: the rate of all, 0 where no copy fits. */
static situ_status try_streams(double *total, int32_t group, int64_t streams, serving_call *q) {
  attempt a = {.row = {.group = group}, .of = &q->into->attempts[q->into->n_attempts++]};
  a.of->copies = ARENA_ZERO(q->into->arena, serving_copy, SITU_MAX_DEVICES);
  if (!a.of->copies) return fail_no_memory(q->error);
  q->searches.instance.n_unused = q->n_given;
  for (bool more = true; more && !q->searches.stopped;) {
    serving_copy copy;
    int32_t before = a.of->n;
    TRY(next_copy(&copy, &a, streams, q));
    more = copy.plan != NULL;
    if (more) add_copy(&a, &copy, q->into);
    if (more && before == 0) TRY(copy_on_equals(&a, q));
    leave_out(q, &a, before);
  }
  *total = a.row.tokens_per_s;
  if (a.of->n > 0) insert(q->into, &a);
  return SITU_STATUS_OK;
}

/* ---- all ---- */

static situ_status know_model(serving_call *q, int32_t *max_group) {
  situ_instance *i = NULL;
  const char *groups = q->searches.instance.tensor_parallel;
  q->searches.instance.tensor_parallel = NULL;
  q->searches.read.batch = 1;
  TRY(search_request_open(&i, &q->searches, "only such a model serves streams", q->error));
  q->into->model = arena_string(q->into->arena, i->graph->model);
  q->into->platform = arena_string(q->into->arena, i->platform->name);
  *max_group = instance_max_group(i);
  situ_instance_free(i);
  q->searches.instance.tensor_parallel = groups;
  return q->into->model && q->into->platform ? SITU_STATUS_OK : fail_no_memory(q->error);
}

static void mark_front(situ_serving *s) {
  double max = 0;
  for (int32_t k = 0; k < s->n; k++) {
    bool tie = k > 0 && s->rows[k].stream_tokens_per_s == s->rows[k - 1].stream_tokens_per_s;
    s->rows[k].on_front = s->rows[k].tokens_per_s > max;
    if (tie && s->rows[k].on_front) s->rows[k - 1].on_front = false;
    if (s->rows[k].tokens_per_s > max) max = s->rows[k].tokens_per_s;
  }
}

/* The sizes of groups to try: the one that the options name, or all. */
static situ_status find_sizes(serving_call *q) {
  situ_serving *s = q->into;
  instance_options asked = {.call = q->searches.instance};
  s->n_sizes = 1;
  if (asked.call.tensor_parallel && strchr(asked.call.tensor_parallel, ','))
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "tensor-parallel states shares, but copies are on equal devices: expected a number, or auto");
  TRY(instance_group_size(&s->sizes[0], &asked, q->error));
  bool named = asked.call.tensor_parallel && s->sizes[0] != INSTANCE_AUTO_GROUPS;
  int32_t max_group;
  TRY(know_model(q, &max_group));
  if (!named) s->n_sizes = instance_group_sizes(s->sizes, max_group);
  return SITU_STATUS_OK;
}

static situ_status serve(serving_call *q, const situ_serving_options *o) {
  situ_serving *s = q->into;
  if (o->max_streams < 0)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL, "max_streams must be at least 1, or 0 for the default");
  if (q->searches.problem.objective == SITU_OBJECTIVE_THROUGHPUT)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "a step of all streams is to be short here; leave out the objective throughput");
  q->max_streams = o->max_streams > 0 ? o->max_streams : MAX_STREAMS;
  TRY(find_sizes(q));
  for (int32_t k = 0; k < s->n_sizes && !q->searches.stopped; k++) {
    double before = 0, total = 1;
    bool more = true;
    for (int64_t n = 1; more && n <= q->max_streams && s->n_attempts < SERVING_ROWS && !q->searches.stopped; n *= 2) {
      TRY(try_streams(&total, s->sizes[k], n, q));
      more = total >= before * (1 + MIN_GAIN) && total > 0;
      before = total;
    }
  }
  s->unproved |= q->searches.stopped;
  if (s->unproved) s->max_stream_tokens_per_s = 0;
  mark_front(s);
  return SITU_STATUS_OK;
}

situ_status situ_serve(situ_serving **out, const situ_instance_options *instance, const situ_serving_options *options,
                       situ_error *error) {
  situ_serving_options o;
  serving_call q = {.error = error};
  if (out) *out = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(TAKE(o, options, SITU_SERVING_OPTIONS_INIT, error));
  TRY(search_request_take(&q.searches, instance, o.solve, DEFAULT_LIMIT_S, error));
  q.into = NOUN_NEW(situ_serving, NULL);
  q.n_given = q.searches.instance.unused ? max64(q.searches.instance.n_unused, 0) : 0;
  q.unused = q.into ? ARENA_ZERO(q.into->arena, const char *, (int64_t)q.n_given + SITU_MAX_DEVICES) : NULL;
  if (!q.unused) {
    situ_serving_free(q.into);
    return fail_no_memory(error);
  }
  for (int32_t k = 0; k < q.n_given; k++) q.unused[k] = q.searches.instance.unused[k];
  HAND_OUT(out, q.into, serve(&q, &o), situ_serving_free);
}

void situ_serving_free(situ_serving *s) {
  if (!s) return;
  for (int32_t k = 0; k < s->n_attempts; k++)
    for (int32_t c = 0; c < s->attempts[k].n; c++) situ_plan_free(s->attempts[k].copies[c].plan);
  arena_free(s->arena);
}

int32_t situ_serving_count(const situ_serving *s) { return s ? s->n : 0; }

bool situ_serving_impossible(const situ_serving *s) { return s && s->n == 0 && !s->unproved; }

situ_serving_row situ_serving_at(const situ_serving *s, int32_t index) {
  return s && index >= 0 && index < s->n ? s->rows[index] : (situ_serving_row){0};
}

static const serving_copy *copy_at(const situ_serving *s, int32_t index, int32_t copy) {
  bool within = s && index >= 0 && index < s->n && copy >= 0 && copy < s->rows[index].n_copies;
  return within ? &s->copies[index][copy] : NULL;
}

const situ_plan *situ_serving_plan(const situ_serving *s, int32_t index, int32_t copy) {
  const serving_copy *c = copy_at(s, index, copy);
  return c ? c->plan : NULL;
}

int64_t situ_serving_streams(const situ_serving *s, int32_t index, int32_t copy) {
  const serving_copy *c = copy_at(s, index, copy);
  return c ? c->streams : 0;
}
