#include "solve/pipeline/stage_ascent.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"

enum { MAX_ENTRIES = 1 << 21, MAX_ROUNDS = 4, FIRST_PASSES = 40, LATER_PASSES = 15, PATIENCE = 4 };
static const double SHRINK = 0.6, MIN_STEP = 0.05, BEYOND = 1.002, MUCH = 0.05;

static int32_t n_prices(const stages *s, const device_sequence *sequence) {
  return (s->overlaps ? 3 : 1) * sequence->n;
}

bool stage_ascent_init(stage_ascent *a, solve_run *run, stage_space *space) {
  const stages *s = space->s;
  *a = (stage_ascent){.run = run, .space = space};
  return ARENA_ARRAYS(run->arena, ARRAY(a->share, ((int64_t)s->n + s->n_edges) * STAGES_MAX), ARRAY(a->stage, s->n));
}

void stage_price_start(double *price, const device_sequence *sequence, const int64_t *rate) {
  REQUIRE(sequence->n >= 1 && sequence->n <= STAGES_MAX);
  double sum = 0;
  for (int32_t k = 0; k < STAGE_PRICES; k++) price[k] = 0;
  for (int32_t k = 0; k < sequence->n; k++) sum += (double)rate[sequence->type[k]];
  for (int32_t k = 0; k < sequence->n; k++)
    price[k] = sum > 0 ? (double)rate[sequence->type[k]] / sum : 1.0 / sequence->n;
}

void stage_price_round(stage_price *out, const stages *s, const device_sequence *sequence, const double *price) {
  int64_t whole[STAGE_PRICES], left = STAGE_PRICE_ONE;
  for (int32_t k = 0; k < n_prices(s, sequence); k++) {
    double wanted = floor(price[k] * (double)STAGE_PRICE_ONE);
    whole[k] = wanted > 0 ? min64((int64_t)wanted, left) : 0;
    left -= whole[k]; /* the sum stays at most 1, whatever was rounded before */
  }
  ENSURE(left >= 0);
  for (int32_t k = 0; k < sequence->n; k++) {
    out->compute[k] = whole[k];
    out->in[k] = whole[s->overlaps ? sequence->n + k : k];
    out->out[k] = whole[s->overlaps ? 2 * sequence->n + k : k];
  }
}

/* The point of the simplex nearest to p. */
static void project(double *p, int32_t n) {
  double sorted[STAGE_PRICES], sum = 0, shift = 0;
  memcpy(sorted, p, (size_t)n * sizeof *p);
  for (int32_t i = 1; i < n; i++)
    for (int32_t j = i; j > 0 && sorted[j] > sorted[j - 1]; j--) {
      double swap = sorted[j];
      sorted[j] = sorted[j - 1];
      sorted[j - 1] = swap;
    }
  for (int32_t i = 0; i < n; i++) {
    sum += sorted[i];
    if (sorted[i] - (sum - 1) / (i + 1) > 0) shift = (sum - 1) / (i + 1);
  }
  for (int32_t i = 0; i < n; i++) p[i] = p[i] > shift ? p[i] - shift : 0;
}

/* The state of the ascent for one subproblem. */
typedef struct climb {
  stage_energy energy;
  int32_t *value;
  int64_t *marginal;
  double slope[STAGE_PRICES];                          /* subgradient at the prices of the last pass */
  double best[STAGE_PRICES], best_slope[STAGE_PRICES]; /* of the maximum sum */
  int64_t best_sum;
  double step;
  int32_t n_idle, n_passes;
  int32_t like[STAGES_MAX]; /* the first stage like each */
  bool some_held;           /* a tensor is held at a stage whatever its users do */
} climb;

/* Counts the stages of classes, and of tensors with several users. */
static void count_shares(stage_ascent *a) {
  const stages *s = a->space->s;
  for (int32_t v = 0; v < s->n; v++) a->share[(int64_t)v * STAGES_MAX + a->stage[v]]++;
  for (int32_t e = 0; e < s->n_edges; e++) {
    if (s->pin_start[e + 1] - s->pin_start[e] < 3) continue;
    uint32_t at = 0;
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) at |= 1u << a->stage[s->pin[i]];
    for (; at; at &= at - 1) a->share[((int64_t)s->n + e) * STAGES_MAX + __builtin_ctz(at)]++;
  }
}

/* One pass: the assignment of minimum cost at the prices of the subproblem. */
static situ_status pass(int64_t *sum, stage_ascent *a, climb *c, const stage_subproblem *sub) {
  const stages *s = a->space->s;
  stage_price price;
  stage_cost loads[STAGES_MAX];
  stage_price_round(&price, s, sub->sequence, sub->price);
  *sum = stage_energy_minimise(&c->energy, &price, c->value, a->stage);
  a->passes++;
  a->work += c->energy.tables.work + s->n;
  c->n_passes++;
  if (*sum >= ELIMINATION_NEVER) return SITU_STATUS_OK;
  count_shares(a);
  stage_loads(loads, s, sub->sequence, a->stage, NULL);
  if (stage_period(s, sub->sequence, loads) < a->run->incumbent->value_ns)
    TRY(stage_offer(a->run, s, sub->sequence, a->stage));
  if (c->some_held) stage_loads(loads, s, sub->sequence, a->stage, sub->held);
  for (int32_t k = 0; k < sub->sequence->n; k++) {
    c->slope[k] = s->overlaps ? (double)loads[k].compute_ns : (double)stages_load(s, &loads[k]);
    c->slope[sub->sequence->n + k] = (double)loads[k].in_ns;
    c->slope[2 * sub->sequence->n + k] = (double)loads[k].out_ns;
  }
  return SITU_STATUS_OK;
}

/* Gives stages that are alike the same prices: of compute, and with overlap of in and of out. */
static void even_out(double *price, const climb *c, int32_t n_stages, int32_t n_all) {
  for (int32_t from = 0; from < n_all; from += n_stages)
    for (int32_t k = 0; k < n_stages; k++) {
      double sum = 0;
      int32_t count = 0;
      for (int32_t j = k; j < n_stages && c->like[k] == k; j++) {
        sum += c->like[j] == k ? price[from + j] : 0;
        count += c->like[j] == k;
      }
      for (int32_t j = k; j < n_stages && count > 1; j++)
        if (c->like[j] == k) price[from + j] = sum / count;
    }
}

/* Finds the equal devices of a free pipeline that are alike in a subproblem: at equal prices the minimum sum is no
 * less, since it is concave, and does not change when such devices are exchanged. */
static void find_alike(climb *c, const stage_ascent *a, const stage_subproblem *sub) {
  const device_sequence *sequence = sub->sequence;
  for (int32_t k = 0; k < sequence->n; k++) {
    c->like[k] = k;
    for (int32_t j = 0; a->space->s->free && j < k && c->like[k] == k; j++)
      if (sequence->type[j] == sequence->type[k] && stage_space_alike(a->space, j, k, sub->may, sub->held))
        c->like[k] = c->like[j];
  }
}

/* Keeps the best prices, and takes a step from them or from those of the last pass. */
static void move(climb *c, const stage_subproblem *sub, int64_t sum, int32_t n, int64_t max_ns) {
  size_t bytes = (size_t)n * sizeof *c->best;
  if (sum > c->best_sum) {
    c->n_idle = 0;
    c->best_sum = sum;
    memcpy(c->best, sub->price, bytes);
    memcpy(c->best_slope, c->slope, bytes);
  } else if (++c->n_idle >= PATIENCE) {
    c->n_idle = 0;
    c->step *= SHRINK;
    sum = c->best_sum;
    memcpy(sub->price, c->best, bytes);
    memcpy(c->slope, c->best_slope, bytes);
  }
  double mean = 0, norm = 1;
  for (int32_t k = 0; k < n; k++) mean += c->slope[k] / n;
  for (int32_t k = 0; k < n; k++) norm += (c->slope[k] - mean) * (c->slope[k] - mean);
  double step = c->step * ((double)max_ns * BEYOND - (double)sum / (double)STAGE_PRICE_ONE) / norm;
  for (int32_t k = 0; k < n; k++) sub->price[k] += step * (c->slope[k] - mean);
  project(sub->price, n);
  even_out(sub->price, c, sub->sequence->n, n);
}

/* Tries prices until the subproblem is refuted or they no longer improve. */
static situ_status ascend(stage_verdict *verdict, stage_ascent *a, climb *c, const stage_subproblem *sub,
                          int64_t max_ns, int32_t max_passes) {
  *verdict = STAGE_OPEN;
  c->best_sum = -1;
  c->step = 1;
  memcpy(c->best, sub->price, sizeof c->best);
  while (*verdict == STAGE_OPEN && c->n_passes < max_passes && c->step >= MIN_STEP) {
    int64_t sum;
    TRY(pass(&sum, a, c, sub));
    /* If all classes are decided there is only one assignment, which was offered. */
    if (a->run->incumbent->value_ns <= max_ns)
      *verdict = STAGE_BETTER;
    else if (sum > max_ns * STAGE_PRICE_ONE || c->energy.n_variables == 0)
      *verdict = STAGE_REFUTED;
    else if (budget_spend(a->run->budget, 1))
      *verdict = STAGE_STOPPED;
    else
      move(c, sub, sum, n_prices(a->space->s, sub->sequence), max_ns);
  }
  memcpy(sub->price, c->best, sizeof c->best);
  return SITU_STATUS_OK;
}

/* Drops the stages that the best prices refute. *much: whether these are many. */
static bool filter(stage_ascent *a, climb *c, const stage_subproblem *sub, int64_t max_ns, bool *much) {
  const stages *s = a->space->s;
  stage_price price;
  stage_price_round(&price, s, sub->sequence, sub->price);
  stage_energy_minimise(&c->energy, &price, c->value, a->stage);
  a->work += 3 * c->energy.tables.work;
  int64_t n = stage_energy_drop(&c->energy, &price, max_ns * STAGE_PRICE_ONE, sub->may, sub->held, c->marginal);
  *much = (double)n > MUCH * (double)c->energy.n_values;
  return n == 0 || stage_space_tighten(a->space, sub->may, sub->held);
}

/* Where tables are too wide, each class counts equally at all its stages. */
static void share_evenly(stage_ascent *a, const stage_subproblem *sub) {
  for (int32_t v = 0; v < a->space->s->n; v++)
    for (int32_t k = 0; k < sub->sequence->n; k++)
      a->share[(int64_t)v * STAGES_MAX + k] = (sub->may[v] >> k & 1) / (double)__builtin_popcount(sub->may[v]);
}

static situ_status look_once(stage_verdict *verdict, stage_ascent *a, const stage_subproblem *sub, int64_t max_ns,
                             int32_t max_passes, bool *again) {
  const stages *s = a->space->s;
  arena *scratch = a->run->arena;
  int64_t n_shares = ((int64_t)s->n + s->n_edges) * STAGES_MAX;
  climb c = {.n_passes = 0};
  for (int32_t e = 0; e < s->n_edges; e++) c.some_held |= sub->held[e] != 0;
  find_alike(&c, a, sub);
  *again = false;
  *verdict = STAGE_OPEN;
  a->lower_ns = 0;
  memset(a->share, 0, (size_t)n_shares * sizeof *a->share);
  elimination_made made =
      stage_energy_init(&c.energy, s, &a->space->order, sub->sequence, sub->may, sub->held, MAX_ENTRIES, scratch);
  if (made == ELIMINATION_NO_MEMORY) return fail_no_memory(a->run->error);
  if (made == ELIMINATION_TOO_WIDE) {
    share_evenly(a, sub);
    a->work += MAX_ENTRIES;
    /* Without an order of stages little is decided at first, and splits alone do not make tables narrow. */
    if (budget_spend(a->run->budget, 1) || s->free) *verdict = STAGE_STOPPED;
    return SITU_STATUS_OK;
  }
  if (!ARENA_ARRAYS(scratch, ARRAY(c.value, c.energy.n_variables), ARRAY(c.marginal, c.energy.n_values)))
    return fail_no_memory(a->run->error);
  TRY(ascend(verdict, a, &c, sub, max_ns, max_passes));
  for (int64_t i = 0; i < n_shares; i++) a->share[i] /= c.n_passes;
  a->lower_ns = (double)c.best_sum / (double)STAGE_PRICE_ONE;
  if (*verdict == STAGE_OPEN && !filter(a, &c, sub, max_ns, again)) *verdict = STAGE_REFUTED;
  return SITU_STATUS_OK;
}

situ_status stage_ascent_run(stage_verdict *verdict, stage_ascent *a, const stage_subproblem *sub, int64_t max_ns) {
  bool again = true;
  stage_price price;
  *verdict = STAGE_OPEN;
  stage_price_round(&price, a->space->s, sub->sequence, sub->price);
  if (!stage_space_tighten(a->space, sub->may, sub->held) ||
      !stage_space_drop(a->space, sub->sequence, &price, max_ns, sub->may, sub->held))
    *verdict = STAGE_REFUTED;
  for (int32_t round = 0; round < MAX_ROUNDS && again && *verdict == STAGE_OPEN; round++) {
    arena_mark mark = arena_get_mark(a->run->arena);
    situ_status status = look_once(verdict, a, sub, max_ns, round == 0 ? FIRST_PASSES : LATER_PASSES, &again);
    arena_release(a->run->arena, mark);
    TRY(status);
  }
  return SITU_STATUS_OK;
}
