/* What fits: the largest context of a language model, or the largest batch, by doubling and bisection. */
#include "api/fit.h"

#include "api/search_request.h"
#include "base/arguments.h"
#include "base/checked.h"
#include "base/fail.h"
#include "plan/plan.h"
#include "problem/scope.h"
#include "read/reader.h"

static const double DEFAULT_LIMIT_S = 1;
enum { CONTEXT_UNIT = 256, FIRST_CONTEXT = 4096, USUAL_MAX_CONTEXT = 131072, MAX_BATCH = 1024 };

/* What the dynamic dimension is called that says how many inputs a file takes at once. */
static const char *const batch_names[] = {"batch", "batch_size", "N", "n", "bs", "B"};

typedef struct fit_call {
  situ_fitting *into;
  search_request searches;
  situ_dim *dims; /* those of the call, then that of the batch; NULL where it is an option of the reader */
  int64_t unit;
  situ_error *error;
} fit_call;

const char *situ_fit_quantity_name(situ_fit_quantity quantity) {
  return quantity == SITU_FIT_CONTEXT ? "context" : quantity == SITU_FIT_BATCH ? "batch" : "unknown";
}

/* Inserts a row by its amount. */
static void insert(situ_fitting *f, const situ_fit_row *row, situ_instance *instance, const char *among) {
  int32_t at = f->n++;
  for (; at > 0 && f->rows[at - 1].amount > row->amount; at--) {
    f->rows[at] = f->rows[at - 1];
    f->instances[at] = f->instances[at - 1];
    f->scopes[at] = f->scopes[at - 1];
  }
  f->rows[at] = *row;
  f->instances[at] = instance;
  f->scopes[at] = among;
}

/* What is known of an amount after a search. */
static situ_fit_row row_of(const fit_call *q, int64_t amount, const situ_instance *i, situ_plan *plan) {
  const goal *g = &q->into->goal;
  double tokens = goal_tokens(i);
  int64_t value = plan_exists(plan) ? plan->value_ns : SITU_NEVER_NS;
  bool fits = goal_meets(g, tokens, value);
  bool impossible = i->problem->conflict || plan->outcome == SITU_OUTCOME_INFEASIBLE ||
                    (g->kind != GOAL_NONE && !goal_meets(g, tokens, plan->verified_ns));
  return (situ_fit_row){.amount = amount,
                        .finding = fits         ? SITU_FIT_FITS
                                   : impossible ? SITU_FIT_IMPOSSIBLE
                                                : SITU_FIT_MISSED,
                        .plan = plan_exists(plan) ? plan : NULL,
                        .model = i->model,
                        .reason = plan->reason};
}

static void set_amount(fit_call *q, int64_t amount) {
  situ_read_options *r = &q->searches.read;
  if (q->dims)
    q->dims[r->n_dims - 1].value = amount;
  else
    *(q->into->quantity == SITU_FIT_CONTEXT ? &r->context : &r->batch) = amount;
}

/* Opens the model with an amount and searches. */
static situ_status try_amount(fit_call *q, int64_t amount, bool *fits) {
  situ_instance *i = NULL;
  situ_plan *plan = NULL;
  set_amount(q, amount);
  situ_status status = situ_place(&plan, &i, &q->searches.instance, &q->searches.solve, q->error);
  *fits = false;
  if (status != SITU_STATUS_OK) return status;
  situ_fit_row row = row_of(q, amount, i, plan);
  *fits = row.finding == SITU_FIT_FITS;
  if (row.finding == SITU_FIT_MISSED && q->searches.stopped) { /* it was not tried to the end */
    situ_plan_free(plan);
    situ_instance_free(i);
    return SITU_STATUS_OK;
  }
  row.reason = arena_string(q->into->arena, row.reason);
  const char *among = scope_text(q->into->arena, i->problem);
  insert(q->into, &row, i, among);
  if (!row.plan) situ_plan_free(plan);
  return row.reason && among ? SITU_STATUS_OK : fail_no_memory(q->error);
}

/* Opens a file by one input, the size of its dimension of that name. */
static situ_status open_by_dimension(situ_instance **out, fit_call *q, const char *name) {
  situ_read_options *r = &q->searches.read;
  int32_t n = r->n_dims;
  const situ_dim *given = r->dims;
  q->dims = ARENA_NEW(q->into->arena, situ_dim, n + 1);
  if (!q->dims) return fail_no_memory(q->error);
  for (int32_t k = 0; k < n; k++) q->dims[k] = given[k];
  q->dims[n] = (situ_dim){.name = name, .value = 1};
  r->dims = q->dims;
  r->n_dims = n + 1;
  situ_status status = situ_instance_open(out, &q->searches.instance, q->error);
  q->into->dimension = name;
  if (status == SITU_STATUS_OK) return status;
  q->into->dimension = NULL;
  q->dims = NULL;
  r->dims = given;
  r->n_dims = n;
  return status;
}

/* Opens a model that has no caches by one input: a built-in or a language model by its batch, a file by a dimension. */
static situ_status open_by_batch(situ_instance **out, fit_call *q) {
  q->into->inputs = true;
  q->searches.read.batch = 1;
  situ_status status = situ_instance_open(out, &q->searches.instance, q->error);
  if (status != SITU_STATUS_BAD_ARGUMENT) return status;
  q->searches.read.batch = 0;
  for (size_t k = 0; k < sizeof batch_names / sizeof *batch_names && status == SITU_STATUS_BAD_ARGUMENT; k++)
    status = open_by_dimension(out, q, batch_names[k]);
  if (status != SITU_STATUS_BAD_ARGUMENT) return status;
  return fail_with(q->error, status, q->searches.instance.model,
                   "has neither a batch nor a dynamic dimension called batch, batch_size, N, n, bs or B");
}

/* A language model with caches, or a model whose batch is asked for. */
static situ_status open_model(situ_instance **out, fit_call *q) {
  TRY(situ_instance_open(out, &q->searches.instance, q->error));
  const situ_instance *i = *out;
  if (i->model->steps.other || q->into->quantity == SITU_FIT_CONTEXT) {
    situ_instance_free(*out);
    *out = NULL;
    return search_request_open(out, &q->searches, "--what batch asks for the largest batch of any model", q->error);
  }
  situ_instance_free(*out);
  *out = NULL;
  return open_by_batch(out, q);
}

/* The platform, what the model was trained for, and how its amount is given. */
static situ_status know_model(fit_call *q) {
  situ_instance *i = NULL;
  TRY(open_model(&i, q));
  q->into->model = arena_string(q->into->arena, i->graph->model);
  q->into->path = arena_string(q->into->arena, q->searches.instance.model);
  q->into->platform = arena_string(q->into->arena, i->platform->name);
  bool kept = q->into->model && q->into->platform && q->into->path;
  for (int32_t v = 0; v < i->graph->n_operators; v++)
    q->into->weight_bytes = sat_add(q->into->weight_bytes, graph_own_weight_bytes(i->graph, v));
  int64_t trained = i->model->steps.trained_context;
  if (trained <= 0) trained = USUAL_MAX_CONTEXT;
  if (q->into->max == 0) q->into->max = q->into->quantity == SITU_FIT_CONTEXT ? trained : MAX_BATCH;
  situ_instance_free(i);
  return kept ? SITU_STATUS_OK : fail_no_memory(q->error);
}

/* The smallest amount to try: what the request needs, at most what is allowed. */
static int64_t first_amount(const fit_call *q) {
  if (q->into->quantity == SITU_FIT_BATCH) return 1;
  int64_t asked = sat_add(max64(q->searches.read.prompt, 0), max64(q->searches.read.generate, 0));
  int64_t first = asked > FIRST_CONTEXT ? (asked + CONTEXT_UNIT - 1) / CONTEXT_UNIT * CONTEXT_UNIT : FIRST_CONTEXT;
  return min64(first, q->into->max);
}

/* The smallest amount at all: a cache holds the tokens of the request. */
static int64_t min_amount(const fit_call *q) {
  int64_t asked = sat_add(max64(q->searches.read.prompt, 0), max64(q->searches.read.generate, 0));
  if (q->into->quantity == SITU_FIT_BATCH) return 1;
  return max64(CONTEXT_UNIT, (asked + CONTEXT_UNIT - 1) / CONTEXT_UNIT * CONTEXT_UNIT);
}

static situ_status search(fit_call *q) {
  int64_t max = q->into->max, low = 0, high = 0; /* high: 0 until something does not fit */
  bool fits;
  for (int64_t amount = first_amount(q); !q->searches.stopped && high == 0;) {
    TRY(try_amount(q, amount, &fits));
    if (!fits) high = amount;
    if (fits) low = amount;
    if (fits && amount >= max) return SITU_STATUS_OK;
    amount = min64(sat_mul(amount, 2), max);
  }
  int64_t floor = min_amount(q) - q->unit; /* low: 0 where nothing fitted yet */
  while (!q->searches.stopped && high - max64(low, floor) > q->unit && q->into->n < FIT_ROWS) {
    int64_t from = max64(low, floor), middle = from + max64(1, (high - from) / q->unit / 2) * q->unit;
    TRY(try_amount(q, middle, &fits));
    *(fits ? &low : &high) = middle;
  }
  return SITU_STATUS_OK;
}

static situ_status fit(fit_call *q, const situ_fit_options *o) {
  situ_fitting *f = q->into;
  f->quantity = o->quantity;
  f->max = o->max;
  q->unit = o->quantity == SITU_FIT_CONTEXT ? CONTEXT_UNIT : 1;
  if ((o->quantity != SITU_FIT_CONTEXT && o->quantity != SITU_FIT_BATCH) || o->max < 0)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL, "quantity is context or batch, max at least 0");
  if (o->goal) TRY(goal_read(&f->goal, o->goal, f->arena, q->error));
  if (f->goal.kind == GOAL_TOKENS && o->quantity == SITU_FIT_BATCH)
    return fail_with(q->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "more streams have more tokens a second in all; ask for the time of a step, as in latency<=50ms");
  TRY(goal_take_objective(&f->goal, &q->searches.problem, q->error));
  TRY(know_model(q));
  return search(q);
}

situ_status situ_fit(situ_fitting **out, const situ_instance_options *instance, const situ_fit_options *options,
                     situ_error *error) {
  situ_fit_options o;
  fit_call q = {.error = error};
  if (out) *out = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(TAKE(o, options, SITU_FIT_OPTIONS_INIT, error));
  TRY(search_request_take(&q.searches, instance, o.solve, DEFAULT_LIMIT_S, error));
  q.into = NOUN_NEW(situ_fitting, NULL);
  if (!q.into) return fail_no_memory(error);
  HAND_OUT(out, q.into, fit(&q, &o), situ_fitting_free);
}

void situ_fitting_free(situ_fitting *f) {
  if (!f) return;
  for (int32_t k = 0; k < f->n; k++) {
    situ_plan_free((situ_plan *)(uintptr_t)f->rows[k].plan);
    situ_instance_free(f->instances[k]);
  }
  arena_free(f->arena);
}

int32_t situ_fitting_count(const situ_fitting *f) { return f ? f->n : 0; }

situ_fit_row situ_fitting_at(const situ_fitting *f, int32_t index) {
  return f && index >= 0 && index < f->n ? f->rows[index] : (situ_fit_row){.finding = SITU_FIT_MISSED, .reason = ""};
}

int32_t situ_fitting_answer(const situ_fitting *f) {
  int32_t answer = -1;
  for (int32_t k = 0; f && k < f->n; k++)
    if (f->rows[k].finding == SITU_FIT_FITS) answer = k;
  return answer;
}

int64_t situ_fitting_weight_bytes(const situ_fitting *f) { return f ? f->weight_bytes : 0; }

situ_fit_finding situ_fitting_finding(const situ_fitting *f, int64_t amount) {
  if (f && amount <= 0 && situ_fitting_answer(f) < 0) return situ_fitting_at(f, 0).finding;
  for (int32_t k = 0; f && k < f->n; k++) { /* by rising amount */
    const situ_fit_row *r = &f->rows[k];
    if (r->finding == SITU_FIT_FITS && r->amount >= amount) return SITU_FIT_FITS;
    if (r->finding == SITU_FIT_IMPOSSIBLE && r->amount <= amount) return SITU_FIT_IMPOSSIBLE;
  }
  return SITU_FIT_MISSED;
}

int32_t situ_fitting_largest(const situ_fitting *const *fittings, int32_t n, int64_t amount) {
  int32_t best = -1;
  for (int32_t k = 0; fittings && k < n; k++)
    if (situ_fitting_finding(fittings[k], amount) == SITU_FIT_FITS &&
        (best < 0 || fittings[k]->weight_bytes > fittings[best]->weight_bytes))
      best = k;
  return best;
}
