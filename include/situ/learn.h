/* situ/learn.h - training of policies, which then place a model in one pass, without a search.
 *
 * Any number of threads may train at once, into different files. The callback runs on the thread of the call.
 *
 * A policy file holds one policy. The solver with the name of the learner uses it (situ_solve_options.policy). */
#ifndef SITU_LEARN_H
#define SITU_LEARN_H

#include "situ/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a training step. A reward is -sqrt(time / time of the best single device), or -10 for a trial that
 * cannot run. */
typedef struct situ_learn_progress {
  size_t size;          /* bytes that the library filled */
  int64_t step, trials; /* done so far, including this step and those before a resume */
  int32_t problem;      /* index of the problem that the step trained on */
  double reward;        /* mean over the trials of this step */
  double mean_reward;   /* of all trials of that problem so far */
  int64_t value_ns;     /* the best trial of this step, SITU_NEVER_NS if none was valid */
  int64_t best_ns;      /* best trial of that problem so far */
  double seconds;       /* since the call began */
  int64_t groups;       /* hsdag: number of groups that the learner formed in its best trial of that problem; else 0 */
} situ_learn_progress;

/* Called after each step on the calling thread. Return true to stop: the policy is then written as it is, and training
 * can be resumed from it. */
typedef bool situ_learn_callback(void *context, const situ_learn_progress *progress);

typedef struct situ_learn_options {
  size_t size;
  const char *out;  /* the policy file to write, every save_every steps and at the end */
  const char *from; /* a policy file to start from; NULL: random parameters, by the seed */
  bool resume;   /* continue from `out`, with bit-identical results to an uninterrupted run; if there is no such file,
                    start from the beginning */
  int64_t steps; /* total, including those before a resume; 0 trains nothing and only writes the parameters of `from` */
  int64_t save_every;  /* steps between writes of `out`; 0 means 50 */
  double time_limit_s; /* 0: none */
  uint64_t seed;
  /* Solvers, as in situ_solve_options. Their plans for each problem, with three seeds, are its first trials, and gdp
   * imitates them in its first steps. NULL: none. To resume, give the same teacher and the same seed. */
  const char *teacher;
  bool paper; /* use the published recipe wherever situ's differs */
  /* Variants of the learner, separated by commas; NULL: none. For hsdag: levels=N of parsing (0: until nothing merges),
   * target=N clusters, declines=0 (every node joins another), learns=0 (draws stay random), constants=0 (of the
   * published recipe: constants are no nodes), without=FEATURE and with=FEATURE (docs/theory/learned/hsdag.md). A
   * policy records its variant, except for learns. For gdp: groups=none (each unit by itself), without=attention,
   * without=superposition, memory=still, segments=short (docs/theory/learned/gdp.md). A policy trained with one of the
   * last four can only be read with the same variant. */
  const char *variant;
  situ_learn_callback *progress; /* may be NULL */
  void *context;
} situ_learn_options;
#define SITU_LEARN_OPTIONS_INIT SITU_SIZED(situ_learn_options)

typedef struct situ_learn_report {
  size_t size;
  int64_t steps, trials; /* total */
  int64_t n_numbers;     /* parameters of the policy */
  bool stopped;          /* by the callback or the time limit, before all steps were done */
  double seconds;
} situ_learn_report;
#define SITU_LEARN_REPORT_INIT SITU_SIZED(situ_learn_report)

/* Trains the policy of a learner on stream problems, cycling through them one per step, and writes it.
 * best_ns[n_problems] (may be NULL) receives the best trial of each, SITU_NEVER_NS if none was valid. BAD_ARGUMENT for
 * an unknown learner or a problem of another execution model; BAD_INPUT if `from` or the file to resume is damaged or
 * of another kind, or if the file to resume was trained on other problems; IO if a file cannot be read or written. */
SITU_API situ_status situ_learn(situ_learn_report *out, int64_t *best_ns, const char *learner,
                                const situ_problem *const *problems, int32_t n_problems,
                                const situ_learn_options *options, situ_error *error);

/* The table of learners. */
typedef struct situ_learner_info {
  size_t size;
  const char *name, *title, *source;
} situ_learner_info;
#define SITU_LEARNER_INFO_INIT SITU_SIZED(situ_learner_info)
/* 0 in a build without learning. */
SITU_API int32_t situ_learner_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_learner_at(int32_t index, situ_learner_info *out);

#ifdef __cplusplus
}
#endif
#endif
