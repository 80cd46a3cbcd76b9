#include "api/place_recompute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/variants.h"
#include "base/fail.h"
#include "check/judge.h"
#include "exact/recompute_chain.h"
#include "plan/plan.h"
#include "read/reader.h"

enum { MAX_ROUNDS = 5 };
/* Of the time limit: for each of the two ends, and for the program along a chain. The rounds of the bisection share the
 * rest, or the choice of the program has it. */
static const double SHARE_OF_END = 0.3, SHARE_OF_PROGRAM = 0.1, SHARE_OF_CHOICE = 0.6;

typedef struct recompute_search {
  const instance_options *options;
  const situ_solve_options *solve;
  situ_plan *plan; /* the best so far, and its instance */
  situ_instance *instance;
  variant rows[MAX_ROUNDS + 2];
  int32_t n, n_layers;
  double limit_s, spent_s; /* 0: no limit */
  bool stopped;

  /* Of the program along a chain, where it serves. */
  situ_instance *kept, *all; /* without recomputation, and with that of all layers */
  recompute_plan best;
  char *choice;        /* its layers, as the option says them */
  bool serves, coarse; /* coarse: of whole blocks, which plans may cut: it proves nothing about these */
  bool placed, broken; /* the choice is a row; the program knows too few rules: nothing is as good as it says */
} recompute_search;

bool place_recompute_is_open(const instance_options *o) {
  return o->read.recompute && strcmp(o->read.recompute, "auto") == 0;
}

static situ_status open_choice(situ_instance **out, const recompute_search *s, const char *text, situ_error *error) {
  instance_options o = *s->options;
  o.read.recompute = text;
  if (s->n > 0) o.call.start = NULL; /* plans to start from are of other operators */
  return instance_open(out, &o, error);
}

/* The plan of the program on the problem of its choice; NULL in *out: it breaks a rule there. */
static situ_status make_start(situ_plan **out, const recompute_search *s, const situ_instance *i, situ_error *error) {
  const situ_problem *p = i->problem;
  situ_verdict *verdict = NULL;
  int32_t *device = calloc((size_t)p->n_operators + 1, sizeof *device);
  situ_status status = device ? SITU_STATUS_OK : fail_no_memory(error);
  *out = NULL;
  for (int32_t v = 0; device && v < p->n_operators; v++) {
    int32_t same = situ_graph_find(s->all->problem->graph, p->graph->name[v]);
    device[v] = same < 0 ? 0 : s->best.device[same];
  }
  if (status == SITU_STATUS_OK) status = situ_simulate(out, p, device, NULL, error);
  if (status == SITU_STATUS_OK) status = situ_check(&verdict, *out, error);
  if (status == SITU_STATUS_OK && verdict->n_found > 0) {
    situ_plan_free(*out);
    *out = NULL;
  }
  situ_verdict_free(verdict);
  free(device);
  return status;
}

/* Places an instance, which becomes a row, in a share of the time. */
static situ_status place_row(recompute_search *s, situ_instance *instance, const situ_plan *start, double share,
                             situ_error *error) {
  situ_plan *plan;
  situ_solve_options solve = *s->solve;
  variant *row = &s->rows[s->n];
  if (s->limit_s > 0) solve.time_limit_s = share * s->limit_s;
  if (s->n > 0) {
    solve.n_starts = start != NULL;
    solve.starts = &start;
  }
  situ_status status = place_instance(&plan, instance, &solve, error);
  if (status != SITU_STATUS_OK) {
    situ_instance_free(instance);
    return status;
  }
  const situ_graph *g = instance->model->graph;
  s->spent_s += plan->seconds;
  s->stopped = plan->outcome == SITU_OUTCOME_CANCELLED;
  if (g->n_segments > 0) s->n_layers = g->n_segments;
  *row = (variant){.number = g->n_recomputed};
  snprintf(row->name, sizeof row->name, "%d", (int)row->number);
  variants_keep_best(&s->plan, &s->instance, plan, instance, row);
  s->n++;
  return SITU_STATUS_OK;
}

/* Places with so many layers recomputed, or all. A model without such layers is no failure. */
static situ_status try_layers(recompute_search *s, const char *text, double share, situ_error *error) {
  situ_instance *instance;
  situ_error own = {0};
  situ_status status = open_choice(&instance, s, text, &own);
  if (status == SITU_STATUS_OK) return place_row(s, instance, NULL, share, error);
  if (status == SITU_STATUS_BAD_INPUT && text && strcmp(text, "all") == 0) return SITU_STATUS_OK;
  if (error) *error = own;
  return status;
}

/* ---- chains: each layer by itself ---- */

static situ_status name_choice(recompute_search *s, situ_error *error) {
  recompute_choice *c = calloc(1, sizeof *c);
  free(s->choice);
  s->choice = NULL;
  for (int32_t k = 0; c && k < s->n_layers; k++) {
    c->also[k] = s->best.again[k];
    if (c->also[k]) c->n_also = k + 1;
  }
  if (c) s->choice = recompute_choice_text(c);
  free(c);
  return s->choice ? SITU_STATUS_OK : fail_no_memory(error);
}

/* Runs the program; with `strict` its plan is one, and what it proved before remains. */
static situ_status run_program(recompute_search *s, bool strict, situ_error *error) {
  recompute_plan found;
  budget b = budget_new(s->solve->max_steps, (int64_t)(SHARE_OF_PROGRAM * s->limit_s * 1e9), NULL, NULL);
  if (!recompute_chain_solve(&found, s->kept->problem, s->all->problem, strict, &b, s->all->arena))
    return fail_no_memory(error);
  if (strict) {
    found.lower_ns = s->best.lower_ns;
    found.infeasible = s->best.infeasible;
    found.unfit = s->best.unfit;
  }
  s->best = found;
  if (!strict) s->serves = !found.unfit && (found.infeasible || found.value_ns < SITU_NEVER_NS); /* else stopped */
  return found.value_ns == SITU_NEVER_NS ? SITU_STATUS_OK : name_choice(s, error);
}

/* Places with the choice of the program, from its plan, unless keeping all is as good. */
static situ_status try_choice(recompute_search *s, situ_error *error) {
  situ_instance *instance = NULL;
  situ_plan *start = NULL;
  situ_status status = SITU_STATUS_OK;
  int64_t wanted_ns = s->best.value_ns;
  for (int round = 0; round < 2 && status == SITU_STATUS_OK && !start; round++) {
    if (round == 1) status = run_program(s, true, error);
    bool longer = s->best.value_ns >= (s->coarse ? SITU_NEVER_NS : s->rows[0].value_ns);
    if (status != SITU_STATUS_OK || !s->choice || longer || strcmp(s->choice, "none") == 0) break;
    situ_instance_free(instance);
    instance = NULL;
    status = open_choice(&instance, s, s->choice, error);
    if (status == SITU_STATUS_OK) status = make_start(&start, s, instance, error);
  }
  s->broken = !start && wanted_ns < s->rows[0].value_ns;
  s->placed = status == SITU_STATUS_OK && start;
  if (s->placed)
    status = place_row(s, instance, start, SHARE_OF_CHOICE, error);
  else
    situ_instance_free(instance);
  situ_plan_free(start);
  return status;
}

/* Opens both ends, in blocks if that is asked for, and runs the program. */
static situ_status open_program(recompute_search *s, bool blocks, situ_error *error) {
  situ_error own = {0};
  recompute_search of = *s;
  instance_options o = *s->options;
  if (blocks) o.call.granularity = SITU_GRANULARITY_BLOCK;
  of.options = &o;
  situ_status status = open_choice(&s->all, &of, "all", &own);
  if (status == SITU_STATUS_BAD_INPUT) return SITU_STATUS_OK;
  if (status != SITU_STATUS_OK && error) *error = own;
  if (status == SITU_STATUS_OK) status = open_choice(&s->kept, &of, NULL, error);
  if (status != SITU_STATUS_OK) return status;
  s->n_layers = s->all->problem->given->n_segments;
  return s->n_layers > READ_MAX_SEGMENTS ? SITU_STATUS_OK : run_program(s, false, error);
}

static situ_status try_program(recompute_search *s, situ_error *error) {
  situ_granularity g = s->options->call.granularity;
  if (s->options->problem.objective != SITU_OBJECTIVE_THROUGHPUT) return SITU_STATUS_OK;
  TRY(open_program(s, false, error));
  if (s->best.unfit && (g == SITU_GRANULARITY_FUSED || g == SITU_GRANULARITY_DEFAULT)) {
    const char *unfit = s->best.unfit;
    situ_instance_free(s->kept);
    situ_instance_free(s->all);
    s->kept = s->all = NULL;
    s->coarse = true;
    TRY(open_program(s, true, error));
    s->serves = s->serves && s->best.value_ns < SITU_NEVER_NS;
    s->best.unfit = unfit;
  }
  return s->serves && s->best.value_ns < SITU_NEVER_NS ? try_choice(s, error) : SITU_STATUS_OK;
}

/* ---- other networks: the first layers ---- */

static bool is_better(const variant *a, const variant *b) { return a->value_ns < b->value_ns; }

/* All layers are better than none: the fewest of which that still holds. */
static situ_status bisect(recompute_search *s, situ_error *error) {
  int32_t worse = 0, better = s->n_layers;
  const variant *best = &s->rows[s->n - 1];
  for (int round = 0; round < MAX_ROUNDS && worse + 1 < better && !s->stopped; round++) {
    char text[16];
    int32_t middle = worse + (better - worse) / 2;
    snprintf(text, sizeof text, "%d", (int)middle);
    TRY(try_layers(s, text, (1 - 2 * SHARE_OF_END) / MAX_ROUNDS, error));
    if (is_better(&s->rows[s->n - 1], best)) {
      best = &s->rows[s->n - 1];
      better = middle;
    } else {
      worse = middle;
    }
  }
  return SITU_STATUS_OK;
}

/* What the program says of all choices of layers. */
static void add_program(text_buffer *note, const recompute_search *s) {
  char a[TEXT_UNIT_BYTES];
  if (s->coarse)
    text_add(note, "; layers are chosen for stages of whole blocks, and nothing is proved of other choices: %s",
             s->best.unfit);
  else if (s->best.infeasible)
    text_add(note, "; no choice of layers has a plan");
  else if (s->best.lower_ns > 0)
    text_add(note, "; no plan with any choice of layers takes less than %s", text_time(a, s->best.lower_ns));
  if (s->placed) text_add(note, " (%d: layers %s)", (int)s->rows[s->n - 1].number, s->choice);
}

static situ_status note_variants(recompute_search *s, situ_error *error) {
  text_buffer note = {0};
  char head[96];
  snprintf(head, sizeof head, "layers of %d whose activations are recomputed, and the best plan", (int)s->n_layers);
  variants_describe(&note, s->rows, s->n, head, "no plan with one of these takes");
  if (s->serves)
    add_program(&note, s);
  else if (s->best.unfit)
    text_add(&note, "; layers are not chosen one by one: %s", s->best.unfit);
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
  situ_status status = try_layers(&s, NULL, SHARE_OF_END, error);
  if (status == SITU_STATUS_OK && !s.stopped) status = try_program(&s, error);
  bool open = status == SITU_STATUS_OK && !s.stopped && (!s.serves || s.broken);
  if (open) status = try_layers(&s, "all", SHARE_OF_END, error);
  if (open && status == SITU_STATUS_OK && s.n == 2 && is_better(&s.rows[1], &s.rows[0])) status = bisect(&s, error);
  if (status == SITU_STATUS_OK && (s.n > 1 || s.serves)) status = note_variants(&s, error);
  situ_instance_free(s.kept);
  situ_instance_free(s.all);
  free(s.choice);
  *out = s.plan;
  *instance = s.instance;
  if (s.plan) s.plan->seconds = s.spent_s;
  return status;
}
