/* learn/learner.h - learned policies: a table of learners, and the trainer of a policy.
 *
 * A learner is one file that exports one const struct; learners.c lists them. A trainer is a policy with its training
 * cases, the environments that it learns in. trainer.c has what all learners share: parameters, checkpoints, turns.
 * `situ learn` (learn.c) trains on many problems, the solvers of the same names (learned_solve) on their own.
 */
#ifndef SITU_LEARN_LEARNER_H
#define SITU_LEARN_LEARNER_H

#include "nn/params.h"
#include "situ/learn.h"
#include "solve/stream/environment.h"

typedef struct learner learner;

/* A training case: one environment, and what is known of it. */
enum { CASE_NOTES = 8, CASE_GROUPS = CASE_NOTES - 1 };
typedef struct train_case {
  environment env;
  void *seen;        /* what the learner made of the environment */
  uint64_t hash;     /* of the problem: a checkpoint continues with the same problems only */
  int64_t n_rewards; /* of all trials of training steps */
  double mean_reward;
  double note[CASE_NOTES]; /* the learner's own numbers; checkpoints keep them, like the fields above; CASE_GROUPS:
                               clusters of the best placement, where the learner makes them */
  int32_t *taught;         /* [n_taught * n_units] what teachers do, best first, to be imitated; checkpoints do not
                              keep it */
  int32_t n_taught;
} train_case;

/* What a training step found. */
typedef struct train_step {
  int32_t index; /* whose turn it was */
  int32_t n_trials;
  double reward;   /* mean of its trials */
  int64_t best_ns; /* of its trials; SITU_NEVER_NS when none was valid */
} train_step;

typedef struct trainer {
  const learner *learner;
  bool paper;   /* the published recipe where ours differs */
  arena *arena; /* holds everything but the tape */
  params *params;
  tape *tape;
  rng random;      /* of training; checkpoints keep it */
  int64_t n_steps; /* done */
  void *own;       /* of the learner: the numbers of its parameters */
  train_case *cases;
  int32_t n_cases, room;
  int32_t max_units; /* of a case that is added: the learner's, unless a variant says otherwise */
} trainer;

struct learner {
  const char *name, *title, *source;
  /* Adds the parameters, drawn from tr->random; returns what tr->own shall be. NULL without memory. */
  void *(*make)(trainer *tr);
  /* What the policy sees of an environment, in the trainer's arena: computed once, before any training. NULL without
   * memory. */
  void *(*see)(trainer *tr, const environment *env);
  /* One training step: trials (environment_try) each of which train_case_note records, and an update. It may end
   * early when environment_over says so. False without memory. */
  bool (*train)(trainer *tr, train_case *s, train_step *step);
  /* Tries the policy's likeliest placement and draws - 1 drawn from `random`, as far as environment_over lets it. The
   * policy stays as it is. False without memory. */
  bool (*serve)(trainer *tr, train_case *s, int32_t draws, rng *random);
  /* May be NULL: tries so many placements near the best of the case, by the policy's scores, as far as
   * environment_over lets it. The policy stays as it is. False without memory. */
  bool (*refine)(trainer *tr, train_case *s, int32_t trials, rng *random);
  /* May be NULL: takes one word of a variant (situ_learn_options), n bytes; false when it knows no such word. */
  bool (*vary)(trainer *tr, const char *word, size_t n);
  const char *variants;        /* the variants that vary accepts, for messages; NULL: none */
  int32_t max_units;           /* units are joined until at most so many are left (environment_group) */
  double note_min[CASE_NOTES]; /* the minimum of each of a case's numbers: a checkpoint with less is refused */
};

/* The table, ended by NULL; the row of that name, or NULL. */
/* The table of learners: one file that exports NAME_learner, and one line here. */
#define LEARNER_ROWS(ROW) \
  ROW(gdp)                \
  ROW(hsdag)
#define LEARNER_DECLARE(NAME) extern const learner NAME##_learner;
LEARNER_ROWS(LEARNER_DECLARE)

extern const learner *const learners[];
const learner *learner_find(const char *name);

/* A trainer without cases; the policy is drawn from the seed. NULL without memory. */
trainer *trainer_new(const learner *row, uint64_t seed, bool paper, arena *a, int32_t max_cases);
void trainer_free(trainer *tr);
/* Parses the words of a variant, separated by commas; NULL: none. BAD_ARGUMENT for a word that the learner does not
 * know.
 */
situ_status trainer_vary(trainer *tr, const char *words, situ_error *error);
/* Adds the environment of a problem (trials are simulated), its units joined as the learner wants. NULL without memory
 * or room. */
train_case *trainer_add(trainer *tr, const situ_problem *problem);
/* Makes the environment of a running solver the only case, its units joined to at most so many. NULL without memory.
 */
train_case *trainer_set_run(trainer *tr, solve_run *run, int32_t max_units);
/* Tries device[operator] in a case: a start, a teacher's plan. False without memory. */
bool train_case_follow(train_case *s, const int32_t *device, arena *a);
/* Makes the plans of a teacher, device[n][operator] with the best first, the ones to imitate. False without memory. */
bool train_case_teach(train_case *s, const int32_t *const *device, int32_t n, arena *a);
/* Whether the next training step is one of imitation: each case that was taught has IMITATED_STEPS of them at first.
 */
enum { IMITATED_STEPS = 60 };
bool trainer_imitates(const trainer *tr);
/* One training step in the environment whose turn it is. False without memory. */
bool trainer_step(trainer *tr, train_step *step);
/* For learners: a trial of a training step was worth this. Call it when all trials of the step are made. */
void train_case_note(train_case *s, double reward);

/* Writes everything that training needs to continue bit for bit; reads it back into a trainer of the same learner and
 * the same problems. BAD_INPUT as params_read says, and when the problems are others. */
situ_status trainer_write(const trainer *tr, const char *path, situ_error *error);
situ_status trainer_resume(trainer *tr, const char *path, situ_error *error);
/* Loads only a policy, to use it or to start training from it: path, or NULL for the one shipped with situ (if there is
 * none, the policy keeps its random parameters); "none" keeps the random parameters. *taken (may be NULL) returns
 * whether one was read. */
situ_status trainer_load(trainer *tr, const char *path, bool *taken, situ_error *error);

/* The solver of a learner: tries the best single device, loads run->policy, uses it and trains it for run->tune_steps
 * on the problem, first on groups and then on their parts. A loaded policy is used together with human layouts; a
 * policy from scratch is trained as long as the limits allow, or for 100 steps without limits. */
situ_status learned_solve(solve_run *run, const learner *row);

#endif
