/* situ/learn.h - training of learned policies: they place a model in one pass, without a search, once they are trained.
 *
 * Any number of threads may train at once, into different files. The callback runs on the thread of the call.
 *
 * A policy file holds one policy. Solvers of the learners' names use it (situ_solve_options.policy). */
#ifndef SITU_LEARN_H
#define SITU_LEARN_H

#include "situ/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a training step. Rewards are -sqrt(time / time of the best single device), -10 for a trial that cannot
 * run. */
typedef struct situ_learn_progress {
  size_t size;          /* bytes that the library filled */
  int64_t step, trials; /* done so far, this step included; those before a resume too */
  int32_t problem;      /* index of the one that it trained on */
  double reward;        /* mean of its trials */
  double mean_reward;   /* of all trials of that problem so far */
  int64_t value_ns;     /* its best trial, SITU_NEVER_NS when none was valid */
  int64_t best_ns;      /* best trial of that problem so far */
  double seconds;       /* since the call */
  int64_t groups;       /* parts that the learner made of that problem for its best trial (hsdag); else 0 */
} situ_learn_progress;

/* Called after each step, on the thread that called. Returns true to stop: the policy is then written as it is, and
 * training can be resumed from it. */
typedef bool situ_learn_callback(void *context, const situ_learn_progress *progress);

typedef struct situ_learn_options {
  size_t size;
  const char *out;  /* the policy file to write, every save_every steps and at the end */
  const char *from; /* a policy file to start from; NULL: random parameters, by the seed */
  bool resume;   /* continue where `out` was left, with the same bits as a run without a stop; without such a file start
                    from the beginning */
  int64_t steps; /* in all, those before a resume included; 0 trains nothing and writes the numbers of `from` alone */
  int64_t save_every;  /* steps between two writes of `out`; 0 means 50 */
  double time_limit_s; /* 0: none */
  uint64_t seed;
  /* Solvers, as in situ_solve_options, whose plans of each problem, of three seeds, are its first trials, and what gdp
   * imitates in its first steps; NULL: none. To resume, give the same with the same seed. */
  const char *teacher;
  bool paper; /* use the published recipe where that of situ differs */
  /* Variants of the learner, separated by commas; NULL: none. For hsdag: levels=N of parsing (0: until nothing merges),
   * target=N clusters, declines=0: every node joins another, learns=0: draws stay random, without=FEATURE and
   * with=FEATURE (docs/theory/learned/hsdag.md). A policy keeps its variant, but for learns. For gdp:
   * groups=none: each unit by itself; without=attention, without=superposition, memory=still, segments=short
   * (docs/theory/learned/gdp.md). A policy of the last four is read by a variant alone. */
  const char *variant;
  situ_learn_callback *progress; /* may be NULL */
  void *context;
} situ_learn_options;
#define SITU_LEARN_OPTIONS_INIT SITU_SIZED(situ_learn_options)

typedef struct situ_learn_report {
  size_t size;
  int64_t steps, trials; /* in all */
  int64_t n_numbers;     /* of the policy */
  bool stopped;          /* before all steps, by the callback or the time limit */
  double seconds;
} situ_learn_report;
#define SITU_LEARN_REPORT_INIT SITU_SIZED(situ_learn_report)

/* Trains the policy of a learner on stream problems, in turn, one a step, and writes it. best_ns[n_problems] (may be
 * NULL) is the best trial of each, SITU_NEVER_NS where none was valid. BAD_ARGUMENT for a learner that does not exist
 * or a problem of another execution model; BAD_INPUT when `from` or the file to resume is damaged, of another kind or,
 * to resume, of other problems; IO when a file cannot be read or written. */
SITU_API situ_status situ_learn(situ_learn_report *out, int64_t *best_ns, const char *learner,
                                const situ_problem *const *problems, int32_t n_problems,
                                const situ_learn_options *options, situ_error *error);

/* The table of learners, for lists and for choosing. */
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
