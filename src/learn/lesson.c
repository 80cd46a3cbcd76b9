#include <math.h>
#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "base/file.h"
#include "learn/group.h"
#include "learn/learner.h"
#include "learn/shipped.h"

/* ---- A trainer and its cases ---- */

lesson *lesson_new(const learner *row, uint64_t seed, bool paper, arena *a, int32_t most_studies) {
  REQUIRE(row && most_studies >= 0);
  lesson *l = ARENA_ZERO(a, lesson, 1);
  if (!l) return NULL;
  *l = (lesson){.learner = row,
                .paper = paper,
                .arena = a,
                .random = rng_new(seed),
                .room = most_studies,
                .most_units = row->most_units};
  l->params = params_new(a);
  l->studies = ARENA_ZERO(a, study, most_studies);
  l->tape = tape_new();
  if (l->params && l->studies && l->tape) l->own = row->make(l);
  if (l->own) return l;
  lesson_free(l);
  return NULL;
}

void lesson_free(lesson *l) {
  if (l) tape_free(l->tape);
}

situ_status lesson_vary(lesson *l, const char *words, situ_error *error) {
  const learner *row = l->learner;
  for (const char *at = words ? words : ""; *at;) {
    size_t n = strcspn(at, ",");
    if (!row->vary || !row->vary(l, at, n))
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

static study *add(lesson *l, study *s, int32_t most_units, bool made) {
  if (!made || !environment_group(&s->env, most_units, l->arena)) return NULL;
  if (!(s->seen = l->learner->see(l, &s->env))) return NULL;
  s->hash = hash_environment(&s->env);
  l->n_studies++;
  return s;
}

study *lesson_add(lesson *l, const situ_problem *problem) {
  if (l->n_studies == l->room) return NULL;
  study *s = &l->studies[l->n_studies];
  return add(l, s, l->most_units, environment_init(&s->env, problem, l->arena));
}

study *lesson_set_run(lesson *l, solve_run *run, int32_t most_units) {
  REQUIRE(l->room > 0);
  study *s = l->studies;
  *s = (study){0};
  l->n_studies = 0;
  return add(l, s, most_units, environment_init_run(&s->env, run));
}

bool study_follow(study *s, const int32_t *device, arena *a) {
  arena_mark mark = arena_get_mark(a);
  int32_t *of_unit = ARENA_NEW(a, int32_t, s->env.n_units);
  if (of_unit) {
    environment_follow(&s->env, device, of_unit);
    environment_try(&s->env, of_unit);
  }
  arena_release(a, mark);
  return of_unit != NULL;
}

bool study_teach(study *s, const int32_t *const *device, int32_t n, arena *a) {
  int64_t units = s->env.n_units;
  s->taught = ARENA_NEW(a, int32_t, n * units);
  s->n_taught = s->taught ? n : 0;
  for (int32_t k = 0; k < s->n_taught; k++) environment_follow(&s->env, device[k], s->taught + k * units);
  return s->taught != NULL;
}

bool lesson_imitates(const lesson *l) { return l->n_steps < (int64_t)IMITATED_STEPS * l->n_studies; }

bool lesson_train(lesson *l, lesson_step *told) {
  REQUIRE(l->n_studies > 0);
  *told = (lesson_step){.study = (int32_t)(l->n_steps % l->n_studies), .best_ns = SITU_NEVER_NS};
  study *s = &l->studies[told->study];
  if (!l->learner->train(l, s, told)) return false;
  l->n_steps++;
  return true;
}

void study_note(study *s, double reward) {
  REQUIRE(isfinite(reward));
  s->n_rewards++;
  s->mean_reward += (reward - s->mean_reward) / (double)s->n_rewards;
}

/* ---- Checkpoints ---- */

/* The contents of a checkpoint besides the parameters: a header, one row for each case, then their best placements, in
 * little-endian memory layout. */
typedef struct note_head {
  uint64_t random;
  int64_t n_steps, n_studies;
} note_head;

typedef struct note_row {
  uint64_t hash;
  int64_t n_trials, best_ns, n_rewards;
  double mean_reward, note[STUDY_NOTES];
} note_row;

static size_t notes_size(const lesson *l) {
  size_t size = sizeof(note_head) + (size_t)l->n_studies * sizeof(note_row);
  for (int32_t k = 0; k < l->n_studies; k++) size += (size_t)l->studies[k].env.n_units * sizeof(int32_t);
  return size;
}

situ_status lesson_write(const lesson *l, const char *path, situ_error *error) {
  size_t size = notes_size(l);
  arena_mark mark = arena_get_mark(l->arena);
  unsigned char *notes = ARENA_NEW(l->arena, unsigned char, (int64_t)size);
  if (!notes) return fail_no_memory(error);
  note_head head = {.random = l->random.state, .n_steps = l->n_steps, .n_studies = l->n_studies};
  memcpy(notes, &head, sizeof head);
  unsigned char *best = notes + sizeof head + (size_t)l->n_studies * sizeof(note_row);
  for (int32_t k = 0; k < l->n_studies; k++) {
    const study *s = &l->studies[k];
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
      params_write(l->params, l->learner->name, notes, l->n_steps > 0 ? (int64_t)size : 0, path, error);
  arena_release(l->arena, mark);
  return status;
}

static situ_status take_notes(lesson *l, const unsigned char *notes, int64_t size, const char *path,
                              situ_error *error) {
  note_head head;
  if (size < (int64_t)sizeof head)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "holds a policy without its training state; start from it (from) instead of resuming");
  memcpy(&head, notes, sizeof head);
  if (head.n_studies != l->n_studies || size != (int64_t)notes_size(l))
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "was trained on other problems; resume with the same models "
                     "and platforms");
  const unsigned char *best = notes + sizeof head + (size_t)l->n_studies * sizeof(note_row);
  for (int32_t k = 0; k < l->n_studies; k++) {
    study *s = &l->studies[k];
    note_row row;
    memcpy(&row, notes + sizeof head + (size_t)k * sizeof row, sizeof row);
    if (row.hash != s->hash)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                       "was trained on another problem in place of number %d; resume "
                       "with the same models and platforms",
                       (int)k + 1);
    s->env.n_trials = row.n_trials;
    s->env.best_ns = row.best_ns;
    s->n_rewards = row.n_rewards;
    s->mean_reward = row.mean_reward;
    memcpy(s->note, row.note, sizeof row.note);
    memcpy(s->env.best, best, (size_t)s->env.n_units * sizeof(int32_t));
    best += (size_t)s->env.n_units * sizeof(int32_t);
  }
  l->random.state = head.random;
  l->n_steps = head.n_steps;
  return SITU_STATUS_OK;
}

situ_status lesson_resume(lesson *l, const char *path, situ_error *error) {
  const void *notes = NULL;
  int64_t size = 0;
  arena_mark mark = arena_get_mark(l->arena);
  situ_status status = params_read(l->params, l->learner->name, &notes, &size, l->arena, path, error);
  if (status == SITU_STATUS_OK) status = take_notes(l, notes, size, path, error);
  arena_release(l->arena, mark);
  return status;
}

/* ---- Policies ---- */

static const shipped_policy *find_shipped(const char *name) {
  const shipped_policy *p = shipped_policies;
  while (p->name && strcmp(p->name, name) != 0) p++;
  return p->name ? p : NULL;
}

situ_status lesson_take(lesson *l, const char *path, bool *taken, situ_error *error) {
  const char *name = l->learner->name;
  const shipped_policy *shipped = path ? NULL : find_shipped(name);
  const void *notes = NULL;
  int64_t size = 0;
  if (taken) *taken = false;
  if (path ? strcmp(path, "none") == 0 : !shipped) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(l->arena);
  situ_status status =
      shipped ? params_read_bytes(l->params, name, &notes, &size, l->arena, shipped->bytes, shipped->size, name, error)
              : params_read(l->params, name, &notes, &size, l->arena, path, error);
  arena_release(l->arena, mark);
  if (status != SITU_STATUS_OK) return status;
  params_restart(l->params);
  if (taken) *taken = true;
  return SITU_STATUS_OK;
}
