#include "api/place_recompute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/variants.h"
#include "base/fail.h"
#include "plan/plan.h"
#include "read/reader.h"

enum { MAX_ROUNDS = 5, ALL = INT32_MAX };
/* Of the time limit: for each of the two ends. The rounds of the bisection share the rest. */
static const double SHARE_OF_END = 0.3;

typedef struct recompute_search {
  const instance_options *options;
  const situ_solve_options *solve;
  situ_plan *plan; /* the best so far, and its instance */
  situ_instance *instance;
  variant rows[MAX_ROUNDS + 2];
  int32_t n, n_layers;
  double limit_s, spent_s; /* 0: no limit */
  bool stopped;
} recompute_search;

bool place_recompute_is_open(const instance_options *o) {
  return o->read.recompute && strcmp(o->read.recompute, "auto") == 0;
}

/* Places with so many layers recomputed, in a share of the time. A model without such layers is no failure. */
static situ_status try_layers(recompute_search *s, int32_t n_layers, double share, situ_error *error) {
  char text[16];
  situ_plan *plan;
  situ_instance *instance;
  situ_error own = {0};
  instance_options o = *s->options;
  situ_solve_options solve = *s->solve;
  variant *row = &s->rows[s->n];
  snprintf(text, sizeof text, n_layers == ALL ? "all" : "%d", (int)n_layers);
  o.read.recompute = n_layers == 0 ? NULL : text;
  if (s->limit_s > 0) solve.time_limit_s = share * s->limit_s;
  if (s->n > 0) { /* plans to start from are of other operators */
    o.call.start = NULL;
    solve.n_starts = 0;
  }
  situ_status status = instance_open(&instance, &o, &own);
  if (status == SITU_STATUS_BAD_INPUT && n_layers == ALL) return SITU_STATUS_OK;
  if (status != SITU_STATUS_OK) {
    if (error) *error = own;
    return status;
  }
  status = place_instance(&plan, instance, &solve, error);
  if (status != SITU_STATUS_OK) {
    situ_instance_free(instance);
    return status;
  }
  s->spent_s += plan->seconds;
  s->stopped = plan->outcome == SITU_OUTCOME_CANCELLED;
  if (n_layers > 0) s->n_layers = instance->model->graph->n_segments;
  *row = (variant){.number = n_layers == ALL ? s->n_layers : n_layers};
  snprintf(row->name, sizeof row->name, "%d", (int)row->number);
  variants_keep_best(&s->plan, &s->instance, plan, instance, row);
  s->n++;
  return SITU_STATUS_OK;
}

static bool is_better(const variant *a, const variant *b) { return a->value_ns < b->value_ns; }

/* All layers are better than none: the fewest of which that still holds. */
static situ_status bisect(recompute_search *s, situ_error *error) {
  int32_t worse = 0, better = s->n_layers;
  const variant *best = &s->rows[s->n - 1];
  for (int round = 0; round < MAX_ROUNDS && worse + 1 < better && !s->stopped; round++) {
    int32_t middle = worse + (better - worse) / 2;
    TRY(try_layers(s, middle, (1 - 2 * SHARE_OF_END) / MAX_ROUNDS, error));
    if (is_better(&s->rows[s->n - 1], best)) {
      best = &s->rows[s->n - 1];
      better = middle;
    } else {
      worse = middle;
    }
  }
  return SITU_STATUS_OK;
}

static situ_status note_variants(recompute_search *s, situ_error *error) {
  text_buffer note = {0};
  char head[96];
  snprintf(head, sizeof head, "layers of %d whose activations are recomputed, and the best plan", (int)s->n_layers);
  variants_describe(&note, s->rows, s->n, head, "no plan with one of these takes");
  char *line = text_take(&note);
  situ_status status = line ? instance_add_note(s->instance, line, error) : fail_no_memory(error);
  free(line);
  return status;
}

situ_status place_best_recompute(situ_plan **out, situ_instance **instance, const instance_options *o,
                                 const situ_solve_options *solve, situ_error *error) {
  recompute_search s = {.options = o, .solve = solve};
  if (solve->time_limit_s > 0 || solve->max_steps == 0)
    s.limit_s = solve->time_limit_s > 0 ? solve->time_limit_s : PLACE_USUAL_S;
  situ_status status = try_layers(&s, 0, SHARE_OF_END, error);
  if (status == SITU_STATUS_OK && !s.stopped) status = try_layers(&s, ALL, SHARE_OF_END, error);
  if (status == SITU_STATUS_OK && s.n == 2 && is_better(&s.rows[1], &s.rows[0])) status = bisect(&s, error);
  if (status == SITU_STATUS_OK && s.n > 1) status = note_variants(&s, error);
  *out = s.plan;
  *instance = s.instance;
  if (s.plan) s.plan->seconds = s.spent_s;
  return status;
}
