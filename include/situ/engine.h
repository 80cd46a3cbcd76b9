/* situ/engine.h - engines that run models: measured costs, and plans that run.
 *
 * An engine is a library of others that is found at run time and works in processes of its own, so that whatever
 * becomes of it, the caller goes on: a crash, a hang or nonsense is the status ENGINE. Measurements need the machine
 * for themselves; two at once disturb each other. docs/engines.md says where libraries are looked for; the environment
 * variables SITU_ONNXRUNTIME, SITU_OPENVINO and SITU_PYTORCH name them. */
#ifndef SITU_ENGINE_H
#define SITU_ENGINE_H

#include "situ/instance.h"
#include "situ/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The table of engines. Filling a row starts the engine once, which takes some 100 ms. */
typedef struct situ_engine_info {
  size_t size;
  const char *name, *title;
  char version[64];    /* "" where it was not found */
  char library[512];   /* where it was found */
  char providers[512]; /* what it can run on, in its own words, apart by blanks */
  char missing[1024];  /* why it cannot be used; "" where it can */
} situ_engine_info;
#define SITU_ENGINE_INFO_INIT SITU_SIZED(situ_engine_info)
SITU_API int32_t situ_engine_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_engine_at(int32_t index, situ_engine_info *out);

/* How to measure. All 0 is a sensible default. */
typedef enum situ_level {
  SITU_LEVEL_ALL = 0, /* graph optimisation as the engine does by default */
  SITU_LEVEL_NONE,    /* none: nodes run as they are in the file */
  SITU_LEVEL_BASIC,
  SITU_LEVEL_EXTENDED
} situ_level;

/* Called about every 10 ms, on the thread that called. Returns true to stop: the call is CANCELLED. */
typedef bool situ_measure_callback(void *context, const char *phase, int32_t done, int32_t total);

typedef struct situ_measure_options {
  size_t size;
  const char *engine;              /* by name; NULL: the first of the table that reads the model */
  const char *library;             /* where it is; NULL: it is looked for */
  const char *device;              /* of the engine, in its words ("CPU", "GPU"); NULL: its CPU */
  const situ_read_options *read;   /* of the model, where the call reads one; may be NULL */
  double time_limit_s;             /* of the whole measuring; 0: 60 s. Also the most that one answer may take */
  situ_measure_callback *progress; /* may be NULL */
  void *context;
  uint64_t seed; /* of the inputs, which are random */
  situ_level level;
  int32_t threads; /* of each device; 0: 1 */
  int32_t items;   /* inputs that are measured; 0: 20. Fewer when the time limit comes first, never fewer than 3 */
  int32_t warm_up; /* inputs before that; 0: 3 */
  const char *log, *replay; /* races: the file to write measurements to; the one to take them from, instead of an
                               engine. Either may be NULL */
  /* Devices of the platform as threads and devices of the engine, "cpu0=2,gpu0=1@GPU"; "cpu1=1/3" is made 3 times
   * slower by waiting, so that devices can be unlike on one machine. Those that are not named have `threads` and
   * `device`. May be NULL. Profiles do not read it. */
  const char *map;
  int32_t queue; /* pipelines: inputs under way for each part; 0: 2 */
  /* Engines work on the thread of the caller, not each in a process of its own: what that costs is the difference.
   * Parts then run one after the other, on any core; no limit of time ends a run, and an engine that crashes ends the
   * caller. Plans of pipelines, ranks of MPI and a second library of an engine are UNSUPPORTED. */
  bool in_process;
  bool reserved[3];
  /* Profiles: a file that ONNX Runtime wrote of the memory of nodes (session.collect_node_memory_stats_to_file), which
   * says what kernels need for themselves while they run. May be NULL. */
  const char *memory;
} situ_measure_options;
#define SITU_MEASURE_OPTIONS_INIT SITU_SIZED(situ_measure_options)

/* Operator times of a model as the engine measures them. */
typedef struct situ_profile situ_profile;
/* Runs an ONNX or OpenVINO model with the engine's profile, then by itself: medians of each operator's kernels, scaled
 * so that they sum to the median of the whole without a profile. Operators that the engine folds or fuses into another
 * have 0. UNSUPPORTED where the engine refuses the model. */
SITU_API situ_status situ_profile_model(situ_profile **out, const char *model, const situ_measure_options *options,
                                        situ_error *error);
/* The same from a profile that was made elsewhere, without an engine: ONNX Runtime's JSON trace, TensorRT's layer
 * times, OpenVINO's average counters, a trace of PyTorch's profiler. Of the options `read` counts. The first run of a
 * trace is left out; kernels count to the nodes that they name. BAD_INPUT where it is no such profile.
 */
SITU_API situ_status situ_profile_read(situ_profile **out, const char *model, const char *path,
                                       const situ_measure_options *options, situ_error *error);
SITU_API void situ_profile_free(situ_profile *profile);
/* Latency of the whole model: median and half the distance between the quartiles. */
SITU_API int64_t situ_profile_whole_ns(const situ_profile *profile);
SITU_API int64_t situ_profile_half_ns(const situ_profile *profile);
/* The time of operator `op` of the model; 0 when there is none. */
SITU_API int64_t situ_profile_time_ns(const situ_profile *profile, int32_t op);
/* Writes them as a cost table (docs/formats/costs.md) for a class of devices. */
SITU_API situ_status situ_profile_write(const situ_profile *profile, const char *device_class, const char *path,
                                        situ_error *error);

/* A plan that ran. */
typedef struct situ_run situ_run;
/* Cuts the model of the plan into parts (as the writers onnx-parts and openvino-parts), runs each in a worker of its
 * device, compares the outputs with those of the whole model, and measures: the latency of inputs one by one, and for
 * plans of pipelines the period of many. Every device runs on the engine's CPU provider, on cores of its own where
 * there are enough.
 *
 * Where Open MPI's mpirun started the program on several machines (libmpi.so.40, or what the environment variable
 * SITU_MPI names, is loaded then), each process runs the devices of one server, and all have to
 * call this with the same arguments. A program that runs several plans so has to initialise MPI itself. After a failure
 * of any process the call fails in all of them, and they should end. */
SITU_API situ_status situ_run_plan(situ_run **out, const situ_plan *plan, const situ_instance *instance,
                                   const situ_measure_options *options, situ_error *error);
SITU_API void situ_run_free(situ_run *run);
/* Where mpirun started several processes, which of them this is: results are with rank 0 only. Otherwise 0. */
SITU_API int32_t situ_run_rank(const situ_run *run);
/* The latency or the period: as the plan predicts it, and the median as measured. */
SITU_API int64_t situ_run_predicted_ns(const situ_run *run);
SITU_API int64_t situ_run_measured_ns(const situ_run *run);
/* The greatest difference of an output from that of the whole model, by the greatest magnitude of that output. */
SITU_API double situ_run_difference(const situ_run *run);

/* Plans that were measured beside each other. */
typedef struct situ_race situ_race;
/* situ_place, then up to `n_plans` (2 to 16) distinct plans - its answer, the best single device, the best found with
 * and without limits on the parts, those of simple rules - run on an engine, one input of each in turn. Plans that lose
 * by a sign test are dropped early; options->items are the rounds. *out is the fastest by its median. *race is NULL
 * where there is no plan. The same search with `replay` of the log gives the same. */
SITU_API situ_status situ_place_measured(situ_plan **out, situ_instance **instance, situ_race **race,
                                         const situ_instance_options *options, const situ_solve_options *solve,
                                         int32_t n_plans, const situ_measure_options *measure, situ_error *error);
SITU_API void situ_race_free(situ_race *race);
SITU_API int32_t situ_race_n_plans(const situ_race *race);
SITU_API int32_t situ_race_winner(const situ_race *race);
/* The median of plan `plan`; SITU_NEVER_NS where it was not measured. */
SITU_API int64_t situ_race_measured_ns(const situ_race *race, int32_t plan);

/* What was measured while a policy learned. */
typedef struct situ_trials_report {
  size_t size;
  int32_t measured; /* distinct placements, those of one device each included */
  int32_t again;    /* trials of a placement that was measured before */
  int32_t refused;  /* by the engine */
  int32_t single_device;
  int64_t single_ns, best_ns; /* the best single device and the best placement: medians of the last race */
  char engine[128];
} situ_trials_report;
#define SITU_TRIALS_REPORT_INIT SITU_SIZED(situ_trials_report)
/* situ_learn on one instance of an ONNX or OpenVINO model, with times that an engine measures in place of the
 * simulator's, as HSDAG (Duan et al. 2024) is rewarded. Training ends after n_measured distinct placements (or
 * options->steps, or once as many trials in a row were known); then the best few and the best single device race, and
 * *plan, which the caller frees, is the winner: never one that measured worse than the best single device.
 * measure->items are the rounds of a trial, 7 by default; `log` gets all times, from which `replay` repeats the
 * training to the same bits. A trial has the median of its times by those of the best single device in turn; one that
 * loses every round to the best is ended after 3. Failures of the engine end the training with the status ENGINE; the
 * log is written all the same. */
SITU_API situ_status situ_learn_measured(situ_learn_report *out, situ_trials_report *told, situ_plan **plan,
                                         const char *learner, const situ_instance *instance,
                                         const situ_learn_options *options, int32_t n_measured,
                                         const situ_measure_options *measure, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
