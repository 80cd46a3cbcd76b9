/* learn/learner.h - learned policies: a table of learners, and the lesson that one of them takes.
 *
 * A learner is one file that exports one const struct; learners.c lists them. A lesson is a policy with its studies,
 * the environments that it learns in; lesson.c has what all learners share: parameters, checkpoints, turns. `situ
 * learn` (learn.c) gives a lesson of many problems; the solvers of the same names (learned_solve) one of the problem at
 * hand.
 */
#ifndef SITU_LEARN_LEARNER_H
#define SITU_LEARN_LEARNER_H

#include "nn/params.h"
#include "situ/learn.h"
#include "solve/stream/environment.h"

typedef struct learner learner;

/* One environment of a lesson, and what is known of it. */
enum { STUDY_NOTES = 8, STUDY_GROUPS = STUDY_NOTES - 1 };
typedef struct study {
  environment env;
  void *seen;        /* what the learner made of the environment */
  uint64_t hash;     /* of the problem: a checkpoint goes on with the same problems only */
  int64_t n_rewards; /* of all trials of training steps */
  double mean_reward;
  double note[STUDY_NOTES]; /* the learner's own numbers; checkpoints keep them, like the fields above; STUDY_GROUPS:
                               clusters of the best placement, where the learner makes them */
  int32_t *taught;          /* [n_taught * n_units] what teachers do, best first, to be imitated; checkpoints do not
                               keep it */
  int32_t n_taught;
} study;

/* What a training step found. */
typedef struct lesson_step {
  int32_t study; /* whose turn it was */
  int32_t n_trials;
  double reward;   /* mean of its trials */
  int64_t best_ns; /* of its trials; SITU_NEVER_NS when none was valid */
} lesson_step;

typedef struct lesson {
  const learner *learner;
  bool paper;   /* the published recipe where ours differs */
  arena *arena; /* holds everything but the tape */
  params *params;
  tape *tape;
  rng random;      /* of training; checkpoints keep it */
  int64_t n_steps; /* done */
  void *own;       /* of the learner: the numbers of its parameters */
  study *studies;
  int32_t n_studies, room;
  int32_t most_units; /* of a study that is added: the learner's, unless a variant says otherwise */
} lesson;

struct learner {
  const char *name, *title, *source;
  /* Adds the parameters, drawn from l->random; returns what l->own shall be. NULL without memory. */
  void *(*make)(lesson *l);
  /* What the policy is told of an environment, in the lesson's arena: found once, before any training. NULL without
   * memory. */
  void *(*see)(lesson *l, const environment *env);
  /* One training step: trials (environment_try) of which each is told by study_note, and an update. It may end early
   * when environment_over says so. False without memory. */
  bool (*train)(lesson *l, study *s, lesson_step *told);
  /* Tries the policy's likeliest placement and draws - 1 drawn from `random`, as far as environment_over lets it. The
   * policy stays as it is. False without memory. */
  bool (*serve)(lesson *l, study *s, int32_t draws, rng *random);
  /* May be NULL: tries so many placements near the best of the study, by the policy's scores, as far as
   * environment_over lets it. The policy stays as it is. False without memory. */
  bool (*refine)(lesson *l, study *s, int32_t trials, rng *random);
  /* May be NULL: takes one word of a variant (situ_learn_options), n bytes; false when it knows no such word. */
  bool (*vary)(lesson *l, const char *word, size_t n);
  const char *variants; /* the variants that vary accepts, for messages; NULL: none */
  int32_t most_units;   /* units are joined until at most so many are left (learn/group.h) */
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

/* A lesson without studies; the policy is drawn from the seed. NULL without memory. */
lesson *lesson_new(const learner *row, uint64_t seed, bool paper, arena *a, int32_t most_studies);
void lesson_free(lesson *l);
/* Parses the words of a variant, separated by commas; NULL: none. BAD_ARGUMENT for a word that the learner does not
 * know.
 */
situ_status lesson_vary(lesson *l, const char *words, situ_error *error);
/* Adds the environment of a problem (trials are simulated), its units joined as the learner wants. NULL without memory
 * or room. */
study *lesson_add(lesson *l, const situ_problem *problem);
/* Makes the environment of a running solver the only study, its units joined to at most so many. NULL without memory.
 */
study *lesson_set_run(lesson *l, solve_run *run, int32_t most_units);
/* Tries device[operator] in a study: a start, a teacher's plan. False without memory. */
bool study_follow(study *s, const int32_t *device, arena *a);
/* Makes the plans of a teacher, device[n][operator] with the best first, the ones to imitate. False without memory. */
bool study_teach(study *s, const int32_t *const *device, int32_t n, arena *a);
/* Whether the next training step is one of imitation: each study that was taught has IMITATED_STEPS of them at first.
 */
enum { IMITATED_STEPS = 60 };
bool lesson_imitates(const lesson *l);
/* One training step in the environment whose turn it is. False without memory. */
bool lesson_train(lesson *l, lesson_step *told);
/* For learners: a trial of a training step was worth this. Call it when all trials of the step are made. */
void study_note(study *s, double reward);

/* Writes all that training needs to go on to the same bits; reads it back into a lesson of the same learner and the
 * same problems. BAD_INPUT as params_read says, and when the problems are others. */
situ_status lesson_write(const lesson *l, const char *path, situ_error *error);
situ_status lesson_resume(lesson *l, const char *path, situ_error *error);
/* Loads only a policy, to use it or to start training from it: path, or NULL for the one shipped with situ (if there is
 * none, the policy keeps its random parameters); "none" keeps the random parameters. *taken (may be NULL) returns
 * whether one was read. */
situ_status lesson_take(lesson *l, const char *path, bool *taken, situ_error *error);

/* The solver of a learner: tries the best single device, loads run->policy, uses it and trains it for run->tune_steps
 * on the problem, first on groups and then on their parts. A loaded policy is used together with human layouts; a
 * policy from scratch is trained as long as the limits allow, or for 100 steps without limits. */
situ_status learned_solve(solve_run *run, const learner *row);

#endif
