/* situ/engine.h - inference engines: measuring costs, and running plans.
 *
 * An engine is a third-party library that is loaded at run time in processes of its own, so that its failures do not
 * affect the caller: a crash, a hang or a malformed answer gives the status ENGINE. Measurements need an otherwise idle
 * machine; two at once disturb each other. docs/engines.md lists the folders that are searched for libraries. The
 * environment variables SITU_ONNXRUNTIME, SITU_OPENVINO, SITU_PYTORCH and SITU_LLAMACPP override the search. */
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
  char version[64];    /* "" if it was not found */
  char library[512];   /* path of the library that was found */
  char providers[512]; /* the devices it can run on, by its own names, separated by spaces */
  char missing[1024];  /* why it cannot be used; "" if it can */
} situ_engine_info;
#define SITU_ENGINE_INFO_INIT SITU_SIZED(situ_engine_info)
SITU_API int32_t situ_engine_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_engine_at(int32_t index, situ_engine_info *out);

/* How much the engine may optimise the graph before it runs it. */
typedef enum situ_level {
  SITU_LEVEL_ALL = 0, /* the engine's default graph optimisation */
  SITU_LEVEL_NONE,    /* none: nodes run as they are in the file */
  SITU_LEVEL_BASIC,
  SITU_LEVEL_EXTENDED
} situ_level;

/* Called about every 10 ms on the calling thread. Return true to stop: the call then fails with CANCELLED. */
typedef bool situ_measure_callback(void *context, const char *phase, int32_t done, int32_t total);

/* How an engine runs, whatever is measured. */
typedef struct situ_measure_options {
  size_t size;
  const char *engine;              /* by name; NULL: the first in the table that can read the model */
  const char *library;             /* path of its library; NULL: situ searches for it */
  const char *device;              /* of the engine, by its own name ("CPU", "GPU"); NULL: its CPU */
  double time_limit_s;             /* for the whole measurement; 0: 60 s. Also the limit for any single answer */
  situ_measure_callback *progress; /* may be NULL */
  void *context;
  uint64_t seed; /* for the inputs, which are random */
  situ_level level;
  int32_t threads; /* of each device; 0: 1 */
  int32_t items;   /* inputs to measure; 0: 20. Fewer if the time limit is reached first, but at least 3 */
  int32_t warm_up; /* unmeasured inputs before those; 0: 3 */
} situ_measure_options;
#define SITU_MEASURE_OPTIONS_INIT SITU_SIZED(situ_measure_options)

typedef struct situ_profile_options {
  size_t size;
  const situ_measure_options *measure; /* not used for a profile that is read from a file; may be NULL */
  const situ_read_options *read;       /* how to read the model; may be NULL */
  /* A file of memory statistics per node written by ONNX Runtime (session.collect_node_memory_stats_to_file), from
   * which the scratch memory of each kernel is read. May be NULL. */
  const char *memory;
} situ_profile_options;
#define SITU_PROFILE_OPTIONS_INIT SITU_SIZED(situ_profile_options)

/* Operator times of a model as the engine measures them. */
typedef struct situ_profile situ_profile;
/* Of a GGUF file, llama-bench of llama.cpp measures each kind of step that the read options ask for; the estimates of
 * its operators are scaled to that. Others: runs an ONNX or OpenVINO model twice: with the engine's profiler, then
 * without. The times are medians of each operator's kernels, scaled so that they add up to the median time of the whole
 * model without the profiler. Operators that the engine folds away or fuses into another have 0. UNSUPPORTED if the
 * engine rejects the model. */
SITU_API situ_status situ_profile_model(situ_profile **out, const char *model, const situ_profile_options *options,
                                        situ_error *error);
/* The same from an existing profile, without an engine: ONNX Runtime's JSON trace, TensorRT's layer times, OpenVINO's
 * average counters, or a trace of PyTorch's profiler. Of the options `measure` is not used. The first run in a trace is
 * skipped; kernels are attributed to the nodes that they name. BAD_INPUT if the file is none of these.
 */
SITU_API situ_status situ_profile_read(situ_profile **out, const char *model, const char *path,
                                       const situ_profile_options *options, situ_error *error);
SITU_API void situ_profile_free(situ_profile *profile);
typedef struct situ_profile_summary {
  size_t size;
  int64_t whole_ns, half_ns; /* latency of the whole model: the median, and half the interquartile range */
} situ_profile_summary;
#define SITU_PROFILE_SUMMARY_INIT SITU_SIZED(situ_profile_summary)
/* False, and nothing is written, if the profile or `out` is NULL or `out` has no size. */
SITU_API bool situ_profile_get_summary(const situ_profile *profile, situ_profile_summary *out);
/* The time of operator `op` of the model; 0 if there is no such operator. */
SITU_API int64_t situ_profile_time_ns(const situ_profile *profile, int32_t op);
/* The class of devices that a profile of an engine's device (situ_measure_options.device; NULL: the CPU) is for: "cpu",
 * or the class of this machine's only kind of GPU that the engine can mean. *out is for situ_text_free. BAD_ARGUMENT
 * where that is not known. */
SITU_API situ_status situ_profile_class(char **out, const char *device, situ_error *error);
/* Writes the times as a cost table (docs/formats/costs.md) for a class of devices (NULL: as situ_profile_class says).
 * It names the machine and the device that were measured, and is refused for this-host on another machine. */
SITU_API situ_status situ_profile_write(const situ_profile *profile, const char *device_class, const char *path,
                                        situ_error *error);

/* Asks llama.cpp itself (llama-fit-params -fitp, which allocates nothing) what memory a plan of a GGUF file takes, with
 * the options that the writer llama.cpp has for it. Does nothing for other models and where there is no plan. `library`
 * is its folder; else SITU_LLAMACPP, else PATH. ENGINE where it is not found or cannot say, as of a device that this
 * machine lacks; the verdict stays as it is. */
SITU_API situ_status situ_verdict_ask_engine(situ_verdict *verdict, const situ_instance *instance, const char *library,
                                             situ_error *error);
/* What it said that the plan takes on a device; -1: nothing. */
SITU_API int64_t situ_verdict_engine_bytes(const situ_verdict *verdict, int32_t device);

typedef struct situ_run_options {
  size_t size;
  const situ_measure_options *measure; /* may be NULL */
  int32_t queue;                       /* pipelines: inputs in flight for each part; 0: 2 */
  /* Run engines on the calling thread instead of each in a process of its own; comparing the two measures the overhead
   * of separate processes. Parts then run sequentially, on any core. No time limit ends a run, and an engine that
   * crashes takes the caller down with it. Pipeline plans, MPI ranks and a second library of the same engine are
   * UNSUPPORTED. */
  bool in_process;
  /* Maps devices of the platform to threads and devices of the engine: "cpu0=2,gpu0=1@GPU". "cpu1=1/3" slows that
   * device down 3 times by waiting, so that devices of one machine can differ in speed. Devices that are not named have
   * `threads` and `device` of `measure`. May be NULL. */
  const char *map;
} situ_run_options;
#define SITU_RUN_OPTIONS_INIT SITU_SIZED(situ_run_options)

/* The result of running a plan. */
typedef struct situ_run situ_run;
/* Plans of GGUF files: starts llama-server of llama.cpp with the options of the writer llama.cpp (which must be able to
 * represent the plan) and measures requests of the plan's prompt and generated tokens (else 200 + 64), of one stream.
 * Compares the times with those predicted for such requests, and where its log puts layers and how large its buffers
 * are with the plan. `library` is its folder; else SITU_LLAMACPP, else PATH. ENGINE if an option that is needed is not
 * in its --help.
 *
 * Others: cuts the model of the plan into parts (like the writers onnx-parts and openvino-parts), runs each part in a
 * worker process of its device, compares the outputs with those of the whole model, and measures: the latency of single
 * inputs, and for pipeline plans also the period of many. Every device runs on the engine's CPU provider, on cores of
 * its own if there are enough.
 *
 * If the program was started by Open MPI's mpirun on several machines, each process runs the devices of one server, and
 * all processes must make this call with the same arguments. The MPI library is libmpi.so.40, or the one that the
 * environment variable SITU_MPI names. A program that runs several plans in this way must initialise MPI itself. If any
 * process fails, the call fails in all of them, and they should exit. */
SITU_API situ_status situ_run_plan(situ_run **out, const situ_plan *plan, const situ_instance *instance,
                                   const situ_run_options *options, situ_error *error);
SITU_API void situ_run_free(situ_run *run);
typedef struct situ_run_summary {
  size_t size;
  int32_t rank; /* of this process if mpirun started several, else 0. Only rank 0 has the results */
  bool served;  /* a language model, whose whole plan llama.cpp ran on the devices that its options name */
  int64_t predicted_ns, measured_ns; /* the latency or the period: the plan's prediction, and the measured median */
  double difference; /* the maximum difference of an output from that of the whole model, relative to the maximum
                        magnitude of that output */
} situ_run_summary;
#define SITU_RUN_SUMMARY_INIT SITU_SIZED(situ_run_summary)
/* False, and nothing is written, if the run or `out` is NULL or `out` has no size. */
SITU_API bool situ_run_get_summary(const situ_run *run, situ_run_summary *out);

/* For plans measured side by side. */
typedef struct situ_race_options {
  size_t size;
  const situ_run_options *run; /* may be NULL */
  const char *log;             /* the file to write measurements to, or NULL */
  const char *replay;          /* the file to read them from instead of running an engine, or NULL */
} situ_race_options;
#define SITU_RACE_OPTIONS_INIT SITU_SIZED(situ_race_options)

/* A race: several plans measured side by side. */
typedef struct situ_race situ_race;
/* Calls situ_place, then runs up to `n_plans` (2 to 16) distinct plans on an engine: the answer, the best single
 * device, the best plans found with and without limits on the parts, and those of simple rules. In each round every
 * plan runs one input; `items` of the measurement is the number of rounds. A plan that loses by a sign test is dropped
 * early. *out is the plan with the lowest median. *race is NULL if there is no plan. The same search with `replay` of
 * the log gives the same result. */
SITU_API situ_status situ_place_measured(situ_plan **out, situ_instance **instance, situ_race **race,
                                         const situ_instance_options *options, const situ_solve_options *solve,
                                         int32_t n_plans, const situ_race_options *race_options, situ_error *error);
SITU_API void situ_race_free(situ_race *race);
typedef struct situ_race_summary {
  size_t size;
  int32_t n_plans, winner;
} situ_race_summary;
#define SITU_RACE_SUMMARY_INIT SITU_SIZED(situ_race_summary)
/* False, and nothing is written, if the race or `out` is NULL or `out` has no size. */
SITU_API bool situ_race_get_summary(const situ_race *race, situ_race_summary *out);
/* The median of plan `plan`; SITU_NEVER_NS if it was not measured. */
SITU_API int64_t situ_race_measured_ns(const situ_race *race, int32_t plan);

/* Statistics of measurements during the training of a policy. */
typedef struct situ_trials_report {
  size_t size;
  int32_t measured; /* distinct placements, including single devices */
  int32_t repeated; /* trials of a placement that had already been measured */
  int32_t rejected; /* placements that the engine rejected */
  int32_t single_device;
  int64_t single_ns, best_ns; /* the best single device and the best placement: medians of the final race */
  char engine[128];
} situ_trials_report;
#define SITU_TRIALS_REPORT_INIT SITU_SIZED(situ_trials_report)
/* situ_learn on one instance of an ONNX or OpenVINO model, rewarded with times measured on an engine instead of
 * simulated ones, as in HSDAG (Duan et al. 2024). Training ends after n_measured distinct placements, after
 * options->steps, or after n_measured trials in a row that had already been measured. Then the best few placements race
 * against the best single device. The winner is *plan, which the caller frees; it never measured worse than the best
 * single device. `items` of the measurement is the number of rounds of a trial, 7 by default. `log` receives all times;
 * `replay` of it repeats the training bit by bit. In each round the best single device runs too; the result of a trial
 * is the median of the ratios of their times. A trial that loses every round to the best so far ends after 3. If the
 * engine fails, training ends with the status ENGINE; the log is still written. */
SITU_API situ_status situ_learn_measured(situ_learn_report *out, situ_trials_report *trials_report, situ_plan **plan,
                                         const char *learner, const situ_instance *instance,
                                         const situ_learn_options *options, int32_t n_measured,
                                         const situ_race_options *race_options, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
