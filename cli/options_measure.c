/* The options of commands that measure. */
#include "cli.h"

static const char *const levels[] = {"all", "none", "basic", "extended", NULL};

#define MAP_ROW                                                                                                   \
  {                                                                                                               \
    .name = "map", .kind = OPTION_TEXT, .offset = AT(measure.map), .value = "NAME=THREADS[/SLOWER][@DEVICE],...", \
    .about =                                                                                                      \
        "What devices of the platform are on the engine: threads, how many times slower by waiting (to try "      \
        "unlike devices on one machine), a device in its own words. Default: all alike."                          \
  }
static const option map_rows[] = {MAP_ROW, {0}};
const option_group map_options = {"Devices", map_rows};

static const option measure_rows[] = {
    {.name = "engine",
     .kind = OPTION_TEXT,
     .offset = AT(measure.engine),
     .value = "NAME",
     .family = "engines",
     .about = "What runs the model (situ list engines). Default: onnxruntime, and openvino for its own files."},
    {.name = "engine-path",
     .kind = OPTION_TEXT,
     .offset = AT(measure.library),
     .value = "PATH",
     .family = "file",
     .about = "Its library, the folder that holds it, or a Python environment. Default: it is looked for."},
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = AT(measure.device),
     .value = "NAME",
     .about = "What the engine runs on, in its own words: CPU, GPU, NPU of OpenVINO; CPU, CUDA:0, WebGPU, ... of ONNX "
              "Runtime. "
              "Default: its CPU."},
    {.name = "threads",
     .kind = OPTION_SMALL,
     .offset = AT(measure.threads),
     .value = "N",
     .least = 1,
     .about = "Threads of each device, on cores of their own where there are enough. Default: 1."},
    {.name = "level",
     .kind = OPTION_CHOICE,
     .offset = AT(measure.level),
     .choices = levels,
     .least = SITU_LEVEL_ALL,
     .about = "Graph optimisation of the engine. Default: all."},
    {.name = "items",
     .kind = OPTION_SMALL,
     .offset = AT(measure.items),
     .value = "N",
     .least = 3,
     .about = "Inputs that are measured. Default: 20."},
    {.name = "warm-up",
     .kind = OPTION_SMALL,
     .offset = AT(measure.warm_up),
     .value = "N",
     .least = 1,
     .about = "Inputs before that. Default: 3."},
    {.name = "queue",
     .kind = OPTION_SMALL,
     .offset = AT(measure.queue),
     .value = "N",
     .least = 1,
     .about = "Pipelines: inputs under way for each part. Default: 2."},
    {.name = "time-limit",
     .kind = OPTION_REAL,
     .offset = AT(measure.time_limit_s),
     .value = "SECONDS",
     .most = 1e6,
     .about = "Measure no new input after this time; no answer may take longer. Default: 60."},
    {.name = "seed",
     .kind = OPTION_SEED,
     .offset = AT(measure.seed),
     .value = "N",
     .about = "Seed of the inputs, which are random. Default: 0."},
    {.name = "in-process",
     .kind = OPTION_ON,
     .offset = AT(measure.in_process),
     .about = "Engines work in the process of situ, one part after the other: what workers cost is the difference. A "
              "crash ends situ. Not for pipelines."},
    {0}};
const option_group measure_options = {"Measuring", measure_rows};

static const option race_rows[] = {
    {.name = "measure",
     .kind = OPTION_SMALL,
     .offset = AT(n_measured),
     .value = "K",
     .least = 2,
     .about =
         "Run up to K distinct plans and the best single device on an engine, one input of each in turn, drop those "
         "that lose, and keep the fastest. ONNX and OpenVINO files only."},
    {.name = "measure-on",
     .kind = OPTION_TEXT,
     .offset = AT(measure.engine),
     .value = "NAME",
     .family = "engines",
     .about = "The engine (situ list engines). Default: onnxruntime, and openvino for its own files."},
    MAP_ROW,
    {.name = "rounds",
     .kind = OPTION_SMALL,
     .offset = AT(measure.items),
     .value = "N",
     .least = 3,
     .about = "Rounds of the measuring, at most. Default: 20."},
    {.name = "race-log",
     .kind = OPTION_TEXT,
     .offset = AT(measure.log),
     .value = "FILE.json",
     .family = "file",
     .about = "Write what was measured."},
    {.name = "race-from",
     .kind = OPTION_TEXT,
     .offset = AT(measure.replay),
     .value = "FILE.json",
     .family = "file",
     .about = "Measure nothing: take the measurements of a log of the same search, for the same answer."},
    {0}};
const option_group race_options = {"Measured choice", race_rows};

static const option trial_rows[] = {
    {.name = "engine",
     .kind = OPTION_TEXT,
     .offset = AT(measure.engine),
     .value = "NAME",
     .family = "engines",
     .about = "Rewards are times measured on this engine (situ list engines). One ONNX or OpenVINO model on one "
              "platform. Default: "
              "times are simulated."},
    {.name = "engine-path",
     .kind = OPTION_TEXT,
     .offset = AT(measure.library),
     .value = "PATH",
     .family = "file",
     .about = "Its library, the folder that holds it, or a Python environment. Default: it is looked for."},
    MAP_ROW,
    {.name = "level",
     .kind = OPTION_CHOICE,
     .offset = AT(measure.level),
     .choices = levels,
     .least = SITU_LEVEL_ALL,
     .about = "Graph optimisation of the engine. Default: all."},
    {.name = "measurements",
     .kind = OPTION_SMALL,
     .offset = AT(n_measured),
     .value = "N",
     .least = 2,
     .about = "Distinct placements to measure, at most. Default: 500."},
    {.name = "rounds",
     .kind = OPTION_SMALL,
     .offset = AT(measure.items),
     .value = "N",
     .least = 3,
     .about = "Inputs that one placement runs, each beside one of the best single device. Default: 7."},
    {.name = "trials-log",
     .kind = OPTION_TEXT,
     .offset = AT(measure.log),
     .value = "FILE.json",
     .family = "file",
     .about = "Write what was measured."},
    {.name = "trials-from",
     .kind = OPTION_TEXT,
     .offset = AT(measure.replay),
     .value = "FILE.json",
     .family = "file",
     .about = "Measure nothing: take the measurements of a log of the same training, for the same policy."},
    {.name = "plan",
     .kind = OPTION_TEXT,
     .offset = AT(measured_plan),
     .value = "PLAN.json",
     .family = "file",
     .about = "Write the fastest placement that was measured."},
    {0}};
const option_group trial_options = {"Measured rewards", trial_rows};

static const option profile_rows[] = {
    {.name = "from",
     .kind = OPTION_TEXT,
     .offset = AT(profile_from),
     .value = "PROFILE",
     .family = "file",
     .about = "Run nothing: take the times of this profile, which was made elsewhere."},
    {.name = "memory",
     .kind = OPTION_TEXT,
     .offset = AT(measure.memory),
     .value = "FILE.csv",
     .family = "file",
     .about = "What kernels need for themselves, from ONNX Runtime's statistics of nodes "
              "(session.collect_node_memory_stats_to_file)."},
    {0}};
const option_group profile_inputs = {"Profile", profile_rows};

static const option profile_output_rows[] = {{.name = "output",
                                              .letter = 'o',
                                              .kind = OPTION_TEXT,
                                              .offset = AT(out),
                                              .value = "COSTS.json",
                                              .family = "file",
                                              .about = "Write a table for --cost-table to this file."},
                                             {.name = "class",
                                              .kind = OPTION_TEXT,
                                              .offset = AT(device_class),
                                              .value = "NAME",
                                              .family = "devices",
                                              .about = "The class of devices that the times are of. Default: cpu."},
                                             {0}};
const option_group profile_outputs = {"Files written", profile_output_rows};
