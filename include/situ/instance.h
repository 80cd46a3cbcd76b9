/* situ/instance.h - the one-call face: names in, a posed problem out, and plans to and from files that remember where
 * they came from.
 *
 * An instance is frozen: any number of threads may read it. It owns its problem and its model. What options point to is
 * copied where it is needed after the call. */
#ifndef SITU_INSTANCE_H
#define SITU_INSTANCE_H

#include "situ/plan.h"
#include "situ/read.h"
#include "situ/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_instance situ_instance;

/* What is placed as a whole, beside colocation groups. */
typedef enum situ_granularity {
  SITU_GRANULARITY_FUSED = 0, /* what the cost estimate fuses */
  SITU_GRANULARITY_OPERATOR,  /* nothing: the estimate fuses nothing, unless its options name a fusion or an engine */
  SITU_GRANULARITY_LAYER,     /* layers of the network too (src/graph/layers.h says how they are found) */
  SITU_GRANULARITY_BLOCK,     /* also all that comes before the first layer, and all that comes after the last */
  SITU_GRANULARITY_DEFAULT    /* latency of one input in streams, estimated costs, no pins: layer for what looks like a
                                 decoder of language (docs/model.md, "Granularity"), unless whole layers fit nowhere; else
                                 fused */
} situ_granularity;

/* "operator", "layer", ...; static storage. */
SITU_API const char *situ_granularity_name(situ_granularity granularity);

typedef struct situ_instance_options {
  size_t size;
  const char *model;             /* path or "builtin:..." */
  const char *platform;          /* name or path; NULL: the model's own, else SITU_DEFAULT_PLATFORM */
  const situ_read_options *read; /* these three may be NULL: all defaults */
  const situ_cost_options *cost;
  const situ_problem_options *problem; /* its pins are set from `fix` when that is given */
  const char *fix;                     /* a file of pins, or NULL */
  const char *const *unused;           /* names of devices that must stay empty; joined to problem->unused */
  int32_t n_unused;
  situ_log_callback *log; /* for reading and costs, where their own options have none; may be NULL */
  void *log_context;
  const char *start; /* situ_place: a file of a placement to start from, as for `fix`, that places every operator;
                        one that breaks a constraint is left aside. May be NULL */
  situ_granularity granularity; /* 0: fused */
  int32_t n_rules;
  /* What is known of the machine (docs/formats/rules.md), later ones after earlier ones: each a path to a file of
   * "situ_rules", "not KIND=DEVICE", or "reserve DEVICE=SIZE". For estimated costs only. */
  const char *const *rules;
  /* Language models, estimated times: what counts is the speed of decoding, under this limit on the time of the prompt;
   * or the time of the prompt, under this minimum of tokens a second in decoding, of all streams together. 0: none.
   * Then nothing overlaps (SITU_OVERLAP_NONE). */
  int64_t max_ttft_ns;
  double min_speed;
  /* Names of writers (situ/write.h) that are to hold the plan: UNSUPPORTED where one can hold no plan of this model,
   * and situ_place finds the best plan that the targets of all of them can run (situ_solve_options.form). */
  const char *const *writers;
  int32_t n_writers;
  int32_t reserved; /* 0 */
} situ_instance_options;
#define SITU_INSTANCE_OPTIONS_INIT SITU_SIZED(situ_instance_options)

#define SITU_DEFAULT_PLATFORM "cpu+2*v100-16g"

/* Reads the model and the platform, estimates costs and poses the problem. */
SITU_API situ_status situ_instance_open(situ_instance **out, const situ_instance_options *options, situ_error *error);
SITU_API void situ_instance_free(situ_instance *instance);
SITU_API const situ_problem *situ_instance_problem(const situ_instance *instance);
SITU_API const situ_model *situ_instance_model(const situ_instance *instance);
/* What was chosen; never DEFAULT. */
SITU_API situ_granularity situ_instance_granularity(const situ_instance *instance);

/* The main path in one call: opens the instance and solves it. When every operator is pinned the placement is only
 * evaluated (the plan's solver is "fix"); pins that break a constraint give the outcome INFEASIBLE, with the rule named
 * in the reason. *instance outlives *out and is freed after it. */
SITU_API situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                                const situ_solve_options *solve, situ_error *error);

/* Simulates the placement, order and calls of `plan` again. The new plan has the simulated value and times; bound and
 * best single device are copied from `plan`, and the outcome OPTIMAL where the value is still that of
 * the bound: of a plan from a file these are claims, which situ_check judges. BAD_ARGUMENT when it has no placement. */
SITU_API situ_status situ_replay(situ_plan **out, const situ_instance *instance, const situ_plan *plan,
                                 situ_error *error);

/* What a plan file of the plan holds; freed with situ_text_free. */
SITU_API situ_status situ_plan_text(char **out, const situ_plan *plan, const situ_instance *instance,
                                    situ_error *error);
/* Writes a plan file, completely or not at all. */
SITU_API situ_status situ_plan_write(const situ_plan *plan, const situ_instance *instance, const char *path,
                                     situ_error *error);
/* Writes a plan in the format of any writer (situ/write.h), those of several files included: then `path` is a folder,
 * which is made, and the model is read again. UNSUPPORTED where the model is not of the writer's format. */
SITU_API situ_status situ_instance_export(const situ_instance *instance, const situ_plan *plan, const char *writer,
                                          const char *path, situ_error *error);
/* Reads a plan file and opens the instance that it names again. Relative paths in it are looked up from the current
 * folder, then from the folder of the plan file. A model or a platform whose content has changed is BAD_INPUT. */
SITU_API situ_status situ_plan_read(situ_plan **out, situ_instance **instance, const char *path, situ_error *error);

/* Opens the model that `options` name and simulates the placement that a file gives it: anything that a fix may be (a
 * published split, an object from operator to device, a plan). Where the file is a plan, its sequence, calls and
 * replicas count too, and what `options` leave at their defaults is taken from the plan: platform, costs, objective,
 * execution model, constraints. Every operator must be placed; constraints are not enforced, situ_check names what is
 * broken. BAD_INPUT when the file is malformed or leaves an operator out. *instance outlives *out and is freed after
 * it.
 */
SITU_API situ_status situ_plan_import(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                                      const char *path, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
