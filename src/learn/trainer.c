#include <math.h>
#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "learn/learner.h"
#include "learn/shipped.h"

/* ---- A trainer and its cases ---- */

trainer *trainer_new(const learner *row, uint64_t seed, bool paper, arena *a, int32_t max_cases) {
  REQUIRE(row && max_cases >= 0);
  trainer *tr = ARENA_ZERO(a, trainer, 1);
  if (!tr) return NULL;
  *tr = (trainer){.learner = row,
                  .paper = paper,
                  .arena = a,
                  .random = rng_new(seed),
                  .room = max_cases,
                  .max_units = row->max_units};
  tr->params = params_new(a);
  tr->cases = ARENA_ZERO(a, train_case, max_cases);
  tr->tape = tape_new();
  if (tr->params && tr->cases && tr->tape) tr->own = row->make(tr);
  if (tr->own) return tr;
  trainer_free(tr);
  return NULL;
}

void trainer_free(trainer *tr) {
  if (tr) tape_free(tr->tape);
}

situ_status trainer_vary(trainer *tr, const char *words, situ_error *error) {
  const learner *row = tr->learner;
  for (const char *at = words ? words : ""; *at;) {
    size_t n = strcspn(at, ",");
    if (!row->vary || !row->vary(tr, at, n))
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%s has no variant '%.*s'; it has %s", row->name, (int)n,
                       at, row->variants ? row->variants : "none");
    at += n + (at[n] == ',');
  }
  return SITU_STATUS_OK;
}

/* A hash of a problem as a policy sees it: equal problems have equal hashes. */
static uint64_t hash_environment(const environment *env) {
  const situ_problem *p = env->problem;
  const situ_graph *g = p->graph;
  uint64_t hash = hash_number(hash_number(hash_number(0, p->n_operators), p->n_devices), env->n_units);
  hash = hash_bytes(p->time_ns, (size_t)p->n_operators * (size_t)p->n_classes * sizeof *p->time_ns, hash);
  for (int32_t t = 0; t < g->n_tensors; t++)
    hash = hash_bytes(p->transfer_ns[t], (size_t)p->n_kinds * sizeof(int64_t), hash);
  hash = hash_bytes(g->use, (size_t)g->n_uses * sizeof *g->use, hash);
  return hash_bytes(env->allowed, (size_t)env->n_units * (size_t)p->n_devices * sizeof *env->allowed, hash);
}

static train_case *add(trainer *tr, train_case *s, int32_t max_units, bool made) {
  if (!made || !environment_group(&s->env, max_units, tr->arena)) return NULL;
  if (!(s->seen = tr->learner->see(tr, &s->env))) return NULL;
  s->hash = hash_environment(&s->env);
  tr->n_cases++;
  return s;
}

train_case *trainer_add(trainer *tr, const situ_problem *problem) {
  if (tr->n_cases == tr->room) return NULL;
  train_case *s = &tr->cases[tr->n_cases];
  return add(tr, s, tr->max_units, environment_init(&s->env, problem, tr->arena));
}

train_case *trainer_set_run(trainer *tr, solve_run *run, int32_t max_units) {
  REQUIRE(tr->room > 0);
  train_case *s = tr->cases;
  *s = (train_case){0};
  tr->n_cases = 0;
  return add(tr, s, max_units, environment_init_run(&s->env, run));
}

bool train_case_follow(train_case *s, const int32_t *device, arena *a) {
  arena_mark mark = arena_get_mark(a);
  int32_t *of_unit = ARENA_NEW(a, int32_t, s->env.n_units);
  if (of_unit) {
    environment_follow(&s->env, device, of_unit);
    environment_try(&s->env, of_unit);
  }
  arena_release(a, mark);
  return of_unit != NULL;
}

bool train_case_teach(train_case *s, const int32_t *const *device, int32_t n, arena *a) {
  int64_t units = s->env.n_units;
  s->taught = ARENA_NEW(a, int32_t, n * units);
  s->n_taught = s->taught ? n : 0;
  for (int32_t k = 0; k < s->n_taught; k++) environment_follow(&s->env, device[k], s->taught + k * units);
  return s->taught != NULL;
}

bool trainer_imitates(const trainer *tr) { return tr->n_steps < (int64_t)IMITATED_STEPS * tr->n_cases; }

bool trainer_step(trainer *tr, train_step *step) {
  REQUIRE(tr->n_cases > 0);
  *step = (train_step){.index = (int32_t)(tr->n_steps % tr->n_cases), .best_ns = SITU_NEVER_NS};
  train_case *s = &tr->cases[step->index];
  if (!tr->learner->train(tr, s, step)) return false;
  tr->n_steps++;
  return true;
}

void train_case_note(train_case *s, double reward) {
  REQUIRE(isfinite(reward));
  s->n_rewards++;
  s->mean_reward += (reward - s->mean_reward) / (double)s->n_rewards;
}

/* ---- Checkpoints ---- */

/* The contents of a checkpoint besides the parameters: a header, one row for each case, then their best placements, in
 * little-endian memory layout. */
typedef struct note_head {
  uint64_t random;
  int64_t n_steps, n_cases;
} note_head;

typedef struct note_row {
  uint64_t hash;
  int64_t n_trials, best_ns, n_rewards;
  double mean_reward, note[CASE_NOTES];
} note_row;

static size_t notes_size(const trainer *tr) {
  size_t size = sizeof(note_head) + (size_t)tr->n_cases * sizeof(note_row);
  for (int32_t k = 0; k < tr->n_cases; k++) size += (size_t)tr->cases[k].env.n_units * sizeof(int32_t);
  return size;
}

situ_status trainer_write(const trainer *tr, const char *path, situ_error *error) {
  size_t size = notes_size(tr);
  arena_mark mark = arena_get_mark(tr->arena);
  unsigned char *notes = ARENA_NEW(tr->arena, unsigned char, (int64_t)size);
  if (!notes) return fail_no_memory(error);
  note_head head = {.random = tr->random.state, .n_steps = tr->n_steps, .n_cases = tr->n_cases};
  memcpy(notes, &head, sizeof head);
  unsigned char *best = notes + sizeof head + (size_t)tr->n_cases * sizeof(note_row);
  for (int32_t k = 0; k < tr->n_cases; k++) {
    const train_case *s = &tr->cases[k];
    note_row row = {.hash = s->hash,
                    .n_trials = s->env.n_trials,
                    .best_ns = s->env.best_ns,
                    .n_rewards = s->n_rewards,
                    .mean_reward = s->mean_reward};
    memcpy(row.note, s->note, sizeof row.note);
    memcpy(notes + sizeof head + (size_t)k * sizeof row, &row, sizeof row);
    memcpy(best, s->env.best, (size_t)s->env.n_units * sizeof(int32_t));
    best += (size_t)s->env.n_units * sizeof(int32_t);
  }
  /* without training steps there is no training state to save */
  situ_status status =
      params_write(tr->params, tr->learner->name, notes, tr->n_steps > 0 ? (int64_t)size : 0, path, error);
  arena_release(tr->arena, mark);
  return status;
}

/* The maximum of what a checkpoint counts, which a double holds exactly, and of the size of a reward. */
static const int64_t MAX_COUNTED = (int64_t)1 << 53;
static const double MAX_REWARD = 1e9; /* -sqrt(time / scale) is at least -sqrt(2^54) */

/* Checks what a checkpoint says of case k. */
static situ_status check_row(const note_row *row, const learner *l, const train_case *s, int32_t k, const char *path,
                             situ_error *error) {
  const char *what = NULL;
  if (row->n_trials < 0 || row->n_trials > MAX_COUNTED) what = "a number of trials";
  if (row->n_rewards < 0 || row->n_rewards > MAX_COUNTED) what = "a number of rewards";
  if (row->best_ns < 0) what = "a best time";
  if (!(row->mean_reward <= 0 && row->mean_reward >= -MAX_REWARD)) what = "a mean reward";
  for (int32_t i = 0; i < CASE_NOTES; i++)
    if (!(row->note[i] >= l->note_min[i] && row->note[i] <= (double)MAX_COUNTED)) what = "a number of the learner";
  if (!(row->note[CASE_GROUPS] <= s->env.n_units)) what = "a number of groups";
  if (!what) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, path, "has %s out of range in the state of problem %d", what,
                   (int)k + 1);
}

/* Takes the best placement of case k, whose time must be what the checkpoint says. */
static situ_status take_best(train_case *s, int64_t best_ns, const unsigned char *bytes, int32_t k, const char *path,
                             situ_error *error) {
  environment *env = &s->env;
  environment before = *env; /* trying counts in it */
  memcpy(env->best, bytes, (size_t)env->n_units * sizeof *env->best);
  for (int32_t u = 0; u < env->n_units; u++)
    if (env->best[u] < 0 || env->best[u] >= env->n_devices)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                       "has device %d for unit %d of problem %d, which has %d devices", (int)env->best[u], (int)u,
                       (int)k + 1, (int)env->n_devices);
  int64_t found_ns = best_ns < SITU_NEVER_NS ? environment_try(env, env->best) : best_ns;
  *env = before;
  env->best_ns = best_ns;
  if (found_ns == best_ns) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                   "has a best time of %lld ns for problem %d; its placement takes %s%lld ns", (long long)best_ns,
                   (int)k + 1, found_ns == SITU_NEVER_NS ? "more than " : "",
                   (long long)(found_ns == SITU_NEVER_NS ? best_ns : found_ns));
}

static situ_status take_notes(trainer *tr, const unsigned char *notes, int64_t size, const char *path,
                              situ_error *error) {
  note_head head;
  if (size < (int64_t)sizeof head)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "holds a policy without its training state; start from it (from) instead of resuming");
  memcpy(&head, notes, sizeof head);
  if (head.n_cases != tr->n_cases || size != (int64_t)notes_size(tr))
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "was trained on other problems; resume with the same models "
                     "and platforms");
  if (head.n_steps < 0 || head.n_steps > MAX_COUNTED)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "has done %lld steps; expected 0 to 2^53",
                     (long long)head.n_steps);
  const unsigned char *best = notes + sizeof head + (size_t)tr->n_cases * sizeof(note_row);
  for (int32_t k = 0; k < tr->n_cases; k++) {
    train_case *s = &tr->cases[k];
    note_row row;
    memcpy(&row, notes + sizeof head + (size_t)k * sizeof row, sizeof row);
    if (row.hash != s->hash)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                       "was trained on another problem in place of number %d; resume "
                       "with the same models and platforms",
                       (int)k + 1);
    TRY(check_row(&row, tr->learner, s, k, path, error));
    TRY(take_best(s, row.best_ns, best, k, path, error));
    s->env.n_trials = row.n_trials;
    s->n_rewards = row.n_rewards;
    s->mean_reward = row.mean_reward;
    memcpy(s->note, row.note, sizeof row.note);
    best += (size_t)s->env.n_units * sizeof(int32_t);
  }
  tr->random.state = head.random;
  tr->n_steps = head.n_steps;
  return SITU_STATUS_OK;
}

situ_status trainer_resume(trainer *tr, const char *path, situ_error *error) {
  const void *notes = NULL;
  int64_t size = 0;
  arena_mark mark = arena_get_mark(tr->arena);
  situ_status status = params_read(tr->params, tr->learner->name, &notes, &size, tr->arena, path, error);
  if (status == SITU_STATUS_OK) status = take_notes(tr, notes, size, path, error);
  arena_release(tr->arena, mark);
  return status;
}

/* ---- Policies ---- */

static const shipped_policy *find_shipped(const char *name) {
  const shipped_policy *p = shipped_policies;
  while (p->name && strcmp(p->name, name) != 0) p++;
  return p->name ? p : NULL;
}

situ_status trainer_load(trainer *tr, const char *path, bool *taken, situ_error *error) {
  const char *name = tr->learner->name;
  const shipped_policy *shipped = path ? NULL : find_shipped(name);
  const void *notes = NULL;
  int64_t size = 0;
  if (taken) *taken = false;
  if (path ? strcmp(path, "none") == 0 : !shipped) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(tr->arena);
  situ_status status = shipped ? params_read_bytes(tr->params, name, &notes, &size, tr->arena, shipped->bytes,
                                                   shipped->size, name, error)
                               : params_read(tr->params, name, &notes, &size, tr->arena, path, error);
  arena_release(tr->arena, mark);
  if (status != SITU_STATUS_OK) return status;
  params_restart(tr->params);
  if (taken) *taken = true;
  return SITU_STATUS_OK;
}
