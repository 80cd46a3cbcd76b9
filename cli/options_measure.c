/* The options of commands that measure. */
#include "cli.h"

static const char *const levels[] = {"all", "none", "basic", "extended", NULL};

#define MAP_ROW                                                                                                      \
  {                                                                                                                  \
    .name = "map", .kind = OPTION_TEXT, .offset = AT(run.map), .value = "NAME=THREADS[/SLOWER][@DEVICE],...",        \
    .about =                                                                                                         \
        "How devices of the platform map to the engine: number of threads, a factor that slows the device down by "  \
        "waiting (to try devices of different speed on one machine), and the name of the engine's device. Default: " \
        "all as --threads and --device say."                                                                         \
  }
static const option map_rows[] = {MAP_ROW, {0}};
const option_group map_options = {"Devices", map_rows};

static const option measure_rows[] = {
    {.name = "engine",
     .kind = OPTION_TEXT,
     .offset = AT(measure.engine),
     .value = "NAME",
     .family = "engines",
     .about = "The engine that runs the model (situ list engines). Default: onnxruntime; openvino for OpenVINO files."},
    {.name = "engine-path",
     .kind = OPTION_TEXT,
     .offset = AT(measure.library),
     .value = "PATH",
     .family = "file",
     .about =
         "The engine's library, the folder that holds it, or a Python environment. Default: search the usual places."},
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = AT(measure.device),
     .value = "NAME",
     .about = "The device that the engine runs on, by the engine's own name: CPU, GPU or NPU for OpenVINO; CPU, "
              "CUDA:0, WebGPU, ... for ONNX Runtime. Default: CPU."},
    {.name = "threads",
     .kind = OPTION_SMALL,
     .offset = AT(measure.threads),
     .value = "N",
     .min = 1,
     .about = "Threads of each device, on separate cores if there are enough. Default: 1, or those that the costs of "
              "this-host assume."},
    {.name = "level",
     .kind = OPTION_CHOICE,
     .offset = AT(measure.level),
     .choices = levels,
     .min = SITU_LEVEL_ALL,
     .about = "The engine's level of graph optimisation. Default: all."},
    {.name = "items",
     .kind = OPTION_SMALL,
     .offset = AT(measure.items),
     .value = "N",
     .min = 3,
     .about = "Number of inputs to measure. Default: 20."},
    {.name = "warm-up",
     .kind = OPTION_SMALL,
     .offset = AT(measure.warm_up),
     .value = "N",
     .min = 1,
     .about = "Number of unmeasured inputs that run first. Default: 3."},
    {.name = "queue",
     .kind = OPTION_SMALL,
     .offset = AT(run.queue),
     .value = "N",
     .min = 1,
     .about = "Pipelines: number of inputs in flight for each part. Default: 2."},
    {.name = "time-limit",
     .kind = OPTION_REAL,
     .offset = AT(measure.time_limit_s),
     .value = "SECONDS",
     .max = 1e6,
     .about = "Start no new input after this time, and fail if a single answer takes longer. Default: 60."},
    {.name = "seed",
     .kind = OPTION_SEED,
     .offset = AT(measure.seed),
     .value = "N",
     .about = "Seed of the random inputs. Default: 0."},
    {.name = "in-process",
     .kind = OPTION_ON,
     .offset = AT(run.in_process),
     .about = "Run engines inside the situ process, one part at a time, to measure the overhead of worker processes. A "
              "crash of an engine then ends situ. Not for pipelines."},
    {0}};
const option_group measure_options = {"Measuring", measure_rows};

static const option race_rows[] = {
    {.name = "measure",
     .kind = OPTION_SMALL,
     .offset = AT(n_measured),
     .value = "K",
     .min = 2,
     .about = "Race up to K distinct plans and the best single device on an engine: each runs one input per round, "
              "losers drop out, and the fastest is the answer. ONNX and OpenVINO files only."},
    {.name = "measure-on",
     .kind = OPTION_TEXT,
     .offset = AT(measure.engine),
     .value = "NAME",
     .family = "engines",
     .about = "The engine for --measure (situ list engines). Default: onnxruntime; openvino for OpenVINO files."},
    MAP_ROW,
    {.name = "rounds",
     .kind = OPTION_SMALL,
     .offset = AT(measure.items),
     .value = "N",
     .min = 3,
     .about = "Maximum number of rounds of the race. Default: 20."},
    {.name = "race-log",
     .kind = OPTION_TEXT,
     .offset = AT(race.log),
     .value = "FILE.json",
     .family = "file",
     .about = "Write the measurements to this file."},
    {.name = "race-from",
     .kind = OPTION_TEXT,
     .offset = AT(race.replay),
     .value = "FILE.json",
     .family = "file",
     .about = "Measure nothing: replay the measurements that --race-log wrote for the same search, which gives the "
              "same answer."},
    {0}};
const option_group race_options = {"Measured choice", race_rows};

static const option trial_rows[] = {
    {.name = "engine",
     .kind = OPTION_TEXT,
     .offset = AT(measure.engine),
     .value = "NAME",
     .family = "engines",
     .about = "Use times measured on this engine as rewards (situ list engines). Needs one ONNX or OpenVINO model and "
              "one platform. Default: simulated times."},
    {.name = "engine-path",
     .kind = OPTION_TEXT,
     .offset = AT(measure.library),
     .value = "PATH",
     .family = "file",
     .about =
         "The engine's library, the folder that holds it, or a Python environment. Default: search the usual places."},
    MAP_ROW,
    {.name = "level",
     .kind = OPTION_CHOICE,
     .offset = AT(measure.level),
     .choices = levels,
     .min = SITU_LEVEL_ALL,
     .about = "The engine's level of graph optimisation. Default: all."},
    {.name = "measurements",
     .kind = OPTION_SMALL,
     .offset = AT(n_measured),
     .value = "N",
     .min = 2,
     .about = "Maximum number of distinct placements to measure. Default: 500."},
    {.name = "rounds",
     .kind = OPTION_SMALL,
     .offset = AT(measure.items),
     .value = "N",
     .min = 3,
     .about = "Number of inputs that each placement runs, alternating with the best single device. Default: 7."},
    {.name = "trials-log",
     .kind = OPTION_TEXT,
     .offset = AT(race.log),
     .value = "FILE.json",
     .family = "file",
     .about = "Write the measurements to this file."},
    {.name = "trials-from",
     .kind = OPTION_TEXT,
     .offset = AT(race.replay),
     .value = "FILE.json",
     .family = "file",
     .about = "Measure nothing: replay the measurements that --trials-log wrote for the same training, which gives the "
              "same policy."},
    {.name = "plan",
     .kind = OPTION_TEXT,
     .offset = AT(measured_plan),
     .value = "PLAN.json",
     .family = "file",
     .about = "Write the fastest measured placement to this file."},
    {0}};
const option_group trial_options = {"Measured rewards", trial_rows};

static const option profile_rows[] = {{.name = "from",
                                       .kind = OPTION_TEXT,
                                       .offset = AT(profile_from),
                                       .value = "PROFILE",
                                       .family = "file",
                                       .about = "Run nothing: read the times from this existing profile."},
                                      {.name = "memory",
                                       .kind = OPTION_TEXT,
                                       .offset = AT(profile.memory),
                                       .value = "FILE.csv",
                                       .family = "file",
                                       .about = "Read the scratch memory of kernels from ONNX Runtime's statistics per "
                                                "node (session.collect_node_memory_stats_to_file)."},
                                      {0}};
const option_group profile_inputs = {"Profile", profile_rows};

static const option profile_output_rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = AT(out),
     .value = "COSTS.json",
     .family = "file",
     .about = "Write the times to this file, as a table for --cost-table."},
    {.name = "class",
     .kind = OPTION_TEXT,
     .offset = AT(device_class),
     .value = "NAME",
     .family = "devices",
     .about = "The class of devices that the times apply to. Default: cpu; with "
              "--device, that of the GPU of this machine which it names."},
    {0}};
const option_group profile_outputs = {"Files written", profile_output_rows};
