/* situ/instance.h - the one-call interface: from names to a posed problem, and plan files that record their model,
 * platform and options.
 *
 * An instance is frozen: any number of threads may read it. It owns its problem and its model; plans of it may outlive
 * it. Everything that options point to is copied if it is needed after the call. */
#ifndef SITU_INSTANCE_H
#define SITU_INSTANCE_H

#include "situ/plan.h"
#include "situ/read.h"
#include "situ/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_instance situ_instance;

/* Which operators are placed as one unit, in addition to colocation groups. */
typedef enum situ_granularity {
  SITU_GRANULARITY_FUSED = 0, /* kernels that the cost estimate fuses */
  SITU_GRANULARITY_OPERATOR,  /* single operators: the estimate fuses nothing, unless its options name a fusion or an
                                 engine */
  SITU_GRANULARITY_LAYER,     /* also layers of the network (src/graph/layers.h describes how they are found) */
  SITU_GRANULARITY_BLOCK,     /* also everything before the first layer, and everything after the last */
  SITU_GRANULARITY_DEFAULT    /* LAYER for what looks like a language decoder (docs/model.md, "Granularity"), unless
                                 some layer fits nowhere: only for the latency of one input in the stream model, with
                                 estimated costs and without pins. Else FUSED. situ_place and situ_size fall back to
                                 FUSED where no plan that keeps layers whole is found */
} situ_granularity;

/* "operator", "layer", ...; static storage. */
SITU_API const char *situ_granularity_name(situ_granularity granularity);

typedef struct situ_instance_options {
  size_t size;
  const char *model;             /* path or "builtin:..." */
  const char *platform;          /* name or path; NULL: the model's own, else SITU_DEFAULT_PLATFORM */
  const situ_read_options *read; /* these three may be NULL: all defaults */
  const situ_cost_options *cost;
  const situ_problem_options *problem; /* if `fix` is given, it sets their pins */
  const char *fix;                     /* a file of pins, or NULL */
  const char *const *unused;           /* names of devices that must stay empty, in addition to problem->unused */
  int32_t n_unused;
  situ_log_callback *log; /* for reading and costs, if their own options have none; may be NULL */
  void *log_context;
  const char *start; /* situ_place: a file with a placement to start from, in the form of `fix`, that places every
                        operator; ignored if it breaks a constraint. May be NULL */
  situ_granularity granularity; /* 0: fused */
  int32_t n_rules;
  /* Rules about the machine (docs/formats/rules.md), applied in order. Each is the path of a "situ_rules" file, "not
   * KIND=DEVICE", "reserve DEVICE=SIZE", or "headroom SIZE" or "headroom 5%". For estimated costs only. */
  const char *const *rules;
  /* Language models with estimated times. max_ttft_ns: maximise the speed of decoding, with this limit on the time of
   * the prompt. min_speed: minimise the time of the prompt, with this minimum of tokens per second in decoding, summed
   * over all streams. 0: no limit. Either one implies SITU_OVERLAP_NONE. */
  int64_t max_ttft_ns;
  double min_speed;
  /* Names of writers (situ/write.h) that must be able to represent the plan. situ_place finds the best plan that all
   * their targets can run (situ_solve_options.form). UNSUPPORTED if one of them can represent no plan of this model. */
  int32_t n_writers;
  bool strict; /* fail with GUESSED, before any search, if more of the time is guessed than max_unknown_percent of the
                  problem's options allows (situ_problem_require_known) */
  const char *const *writers;
  /* Tensor parallelism (docs/theory/models/groups.md): "4" makes groups of 4 devices of a server, which split operators
   * among them and are devices of the problem: equal ones or, where no 4 are equal, one group with shares by the speed
   * of their memories; "3,1" makes one group with these shares; "1" and NULL: every operator is whole on one device;
   * "auto": situ_place tries 1, 2, 4, ... and, for engines with unequal shares, all unlike devices, and gives the best
   * plan with its groups. */
  const char *tensor_parallel;
} situ_instance_options;
#define SITU_INSTANCE_OPTIONS_INIT SITU_SIZED(situ_instance_options)

#define SITU_DEFAULT_PLATFORM "cpu+2*v100-16g"

/* Reads the model and the platform, estimates costs and poses the problem. */
SITU_API situ_status situ_instance_open(situ_instance **out, const situ_instance_options *options, situ_error *error);
SITU_API void situ_instance_free(situ_instance *instance);
SITU_API const situ_problem *situ_instance_problem(const situ_instance *instance);
SITU_API const situ_model *situ_instance_model(const situ_instance *instance);
/* The granularity that was chosen; never DEFAULT. */
SITU_API situ_granularity situ_instance_granularity(const situ_instance *instance);

/* The main path in one call: opens the instance and solves it. If every operator is pinned, the placement is only
 * evaluated (the plan's solver is "fix"). Pins that break a constraint give the outcome INFEASIBLE, and the reason
 * names the rule. */
SITU_API situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                                const situ_solve_options *solve, situ_error *error);

/* Simulates the placement, order and calls of `plan` again. The new plan has the simulated value and times. Its bound
 * and best single device are copied from `plan`, and its outcome is OPTIMAL if the value still equals the bound. If
 * `plan` was read from a file, these are claims, which situ_check verifies. BAD_ARGUMENT if it has no placement. */
SITU_API situ_status situ_replay(situ_plan **out, const situ_plan *plan, situ_error *error);

/* The content of a plan file for `plan`; free it with situ_text_free. */
SITU_API situ_status situ_plan_text(char **out, const situ_plan *plan, const situ_instance *instance,
                                    situ_error *error);
/* Writes a plan file, completely or not at all. */
SITU_API situ_status situ_plan_write(const situ_plan *plan, const situ_instance *instance, const char *path,
                                     situ_error *error);
/* Writes a plan in the format of any writer (situ/write.h). For a writer that makes several files, `path` is a folder,
 * which is created, and the model is read again. UNSUPPORTED if the writer cannot handle the format of the model. */
SITU_API situ_status situ_instance_export(const situ_instance *instance, const situ_plan *plan, const char *writer,
                                          const char *path, situ_error *error);
/* Reads a plan file and opens the instance that it names. Relative paths in it are resolved from the current folder,
 * then from the folder of the plan file. BAD_INPUT if the content of the model or the platform has changed. */
SITU_API situ_status situ_plan_read(situ_plan **out, situ_instance **instance, const char *path, situ_error *error);

/* The same under options that change no problem, only what is said of it: `strict`, and max_unknown_percent of the
 * problem's (0: that of the plan). All others are ignored; options may be NULL. */
SITU_API situ_status situ_plan_read_with(situ_plan **out, situ_instance **instance,
                                         const situ_instance_options *options, const char *path, situ_error *error);

/* Opens the model that `options` name and simulates the placement in a file, which may have any form that `fix` accepts
 * (a published split, an object from operator to device, a plan). If the file is a plan, its sequence, calls and
 * replicas are used too, and everything that `options` leave at its default is taken from the plan: platform, costs,
 * objective, execution model, constraints. Every operator must be placed. Constraints are not enforced; situ_check
 * names those that are broken. BAD_INPUT if the file is malformed or omits an operator. */
SITU_API situ_status situ_plan_import(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                                      const char *path, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
