/* The table of options: one row for each, from which command line, help, Python and plan files unfold. To add one: a
 * field of an options struct (include/situ) and a row here; tests/unit/option names whatever else is forgotten. */
#include "option/option.h"

#include "situ/instance.h"

static const char *const objectives[] = {"latency", "throughput", NULL};
static const char *const precisions[] = {"f32", "f16", "bf16", "i8", NULL};
static const char *const optimizers[] = {"none", "sgd", "momentum", "adam", "adam-mixed", "adafactor", "8bit", NULL};
static const char *const executions[] = {"stream", "calls", "pipeline", NULL};
static const char *const overlaps[] = {"full", "host-blocking", "none", NULL};
static const char *const contentions[] = {"link", "none", NULL};
static const char *const schedules[] = {"1f1b", "gpipe", "zb-h1", "interleaved", "zb-v", NULL};
static const char *const granularities[] = {"fused", "operator", "layer", "block", NULL};
static const char *const communications[] = {"host-staged", "link", NULL};

#define PART_READ situ_read_options
#define PART_COST situ_cost_options
#define PART_PROBLEM situ_problem_options
#define PART_INSTANCE situ_instance_options
#define PART_SOLVE situ_solve_options
#define ROW(NAME, PART, KIND, FIELD)                                                                            \
  .size = sizeof(option), .name = NAME, .group = GROUP, .part = SITU_OPTION_##PART, .kind = SITU_OPTION_##KIND, \
  .offset = offsetof(PART_##PART, FIELD)

const option option_rows[] = {
#define GROUP "Model"
    {ROW("reader", READ, TEXT, reader), .json = "reader", .value = "NAME", .family = "readers",
     .title = "File format of MODEL (situ list readers). Default: detected from the content."},
    {ROW("dim", READ, DIMS, dims), .value = "NAME=VALUE",
     .title = "Size of a dynamic dimension, as in batch=8. Repeatable."},
    {ROW("default-dim", READ, INT64, default_dim), .json = "default_dim", .value = "N", .min = 1,
     .title =
         "Size of all other dynamic dimensions. Default: assumed, with a note: 224 for the sides of images, 1 for all "
         "others, or larger values if operators would not fit."},
    {ROW("precision", READ, CHOICE, precision), .json = "precision", .choices = precisions, .min = SITU_PRECISION_F32,
     .title = "Estimate as if floating-point weights and activations had this type. Weights that are compressed in the "
              "file stay compressed. Default: the types in the file."},
    {ROW("prompt", READ, INT64, prompt), .json = "prompt", .value = "N", .min = 1,
     .title = "Language models: number of tokens in the prompt. Alone: place for processing the prompt; with "
              "--generate: for a whole request."},
    {ROW("generate", READ, INT64, generate), .json = "generate",
     .also = "n-predict max-tokens output-tokens max-new-tokens", .value = "N", .min = 1,
     .title = "Language models: number of tokens to generate after the prompt. Default: one step of decoding."},
    {ROW("context", READ, INT64, context), .json = "context", .also = "ctx ctx-size max-len max-model-len n-ctx",
     .value = "N", .min = 1,
     .title = "Language models: capacity of the KV cache in tokens; without --prompt the cache is full. Default: "
              "prompt plus generated tokens; without either, 4096 or the context that the model was trained for."},
    {ROW("batch", READ, INT64, batch), .json = "batch", .also = "batch-size concurrency users", .value = "N", .min = 1,
     .title = "Language models: number of requests served at once. Default: 1."},
    {ROW("kv-type", READ, TEXT, kv_type), .json = "kv_type", .value = "TYPE",
     .title = "Language models: element type of the KV cache: f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl. "
              "Default: f16."},
    {ROW("ubatch", READ, INT64, ubatch), .json = "ubatch", .also = "ub ubatch-size", .value = "N", .min = 1,
     .title =
         "Language models: number of tokens of the prompt that the engine processes at once (llama.cpp: -ub). More "
         "make prefill faster and take memory. Default: 512."},
    {ROW("draft", READ, INT64, draft), .json = "draft", .value = "N", .min = 1,
     .title = "Language models: speculative decoding; each step also verifies N guessed tokens. The cost of guessing "
              "them is not included. Default: none."},
    {ROW("acceptance", READ, REAL, acceptance), .json = "acceptance", .value = "P", .max = 1,
     .title = "Language models: the probability that a guessed token is right, above 0, at most 1. Default: 0.7."},
    {ROW("training", READ, ON, training), .json = "training",
     .title = "Place a training step instead of the forward pass in MODEL: adds backward and update operators, each on "
              "the device of its forward operator."},
    {ROW("optimizer", READ, CHOICE, optimizer), .json = "optimizer", .choices = optimizers, .min = SITU_OPTIMIZER_NONE,
     .title = "Training: what changes the weights, whose states take memory. Default: adam-mixed, which is adam where "
              "weights have 32 bits."},
    {ROW("offload-optimizer", READ, ON, offload_optimizer), .json = "offload_optimizer",
     .also = "zero-offload cpu-offload",
     .title =
         "Training: the host holds the states of the optimizer and makes the updates; gradients go there and weights "
         "come back once a step."},
    {ROW("recompute", READ, TEXT, recompute), .json = "recompute",
     .also = "recompute-activations recompute-num-layers activation-checkpointing gradient-checkpointing checkpoint",
     .value = "N|LIST|all|auto",
     .title =
         "Training: do not keep the activations of the first N layers, of those in a list (2-5,9), or of all, but "
         "compute them again in the backward pass (activation checkpointing). auto: what gives the best plan (place "
         "only). Default: none."},
#undef GROUP
#define GROUP "Machine and objective"
    {ROW("platform", INSTANCE, PATH, platform), .json = "platform",
     .also = "on machine hardware device devices gpu gpus target system host", .value = "NAME|FILE",
     .family = "devices",
     .title =
         "The machine: devices joined by '+' (cpu+2*a100-80g), servers in parentheses (2*(cpu+8*a100-80g)), this-host, "
         "a platform file, or a file of what nvidia-smi, lspci or lscpu print. Default: the platform in the model "
         "file, else " SITU_DEFAULT_PLATFORM "."},
    {ROW("tensor-parallel", INSTANCE, TEXT, tensor_parallel), .json = "tensor_parallel",
     .also = "tp tensor-parallel-size split-mode", .value = "N|SHARES|auto",
     .title = "Groups of N equal devices of a server split operators among them and act as one device (tensor "
              "parallelism). SHARES, as in 3,1: the first GPUs of a server, which may be unlike, are one group with "
              "these shares; for N unlike GPUs the shares follow the speed of their memories (llama.cpp). auto: the "
              "best of 1, 2, 4, ... "
              "and of all that are unlike (place only). Default: 1, every operator whole on one device."},
    {ROW("names", PROBLEM, TEXT, names), .json = "names", .value = "DEVICE=NAME,...",
     .title =
         "--write llama.cpp: what llama-server --list-devices calls the devices, as in gpu0=Vulkan0; RPC[HOST:PORT] "
         "for one that an RPC server has; or only a back end, as in Vulkan. Default: by vendor and order."},
    {ROW("objective", PROBLEM, CHOICE, objective), .json = "objective", .also = "goal metric minimize optimize",
     .choices = objectives, .min = SITU_OBJECTIVE_LATENCY,
     .title = "Minimise the time of one input (latency), or maximise the rate of many (throughput). Default: latency, "
              "or throughput for a workload file."},
    {ROW("execution", PROBLEM, CHOICE, execution), .json = "execution", .choices = executions,
     .min = SITU_EXECUTION_STREAM,
     .title = "How the machine runs the model: stream, one input with operators in sequence on each device; calls, one "
              "input with whole sub-graphs as single calls; pipeline, many inputs at once. Default: pipeline for "
              "throughput; for latency stream, or calls for a workload file."},
    {ROW("contiguous", PROBLEM, OFF, free), .json = "contiguous",
     .title = "pipeline: each device holds one contiguous part of the model. The default."},
    {ROW("free", PROBLEM, ON, free),
     .title = "pipeline: a device may hold any operators; its part need not be contiguous."},
    {ROW("communication", PROBLEM, CHOICE, communication), .json = "communication", .choices = communications,
     .min = SITU_COMMUNICATION_HOST_STAGED,
     .title = "pipeline: whether the time of a transfer is charged to the accelerators at both ends (host-staged) or "
              "to the links. Default: link, or host-staged for a workload file."},
    {ROW("contention", PROBLEM, CHOICE, contention), .json = "contention", .choices = contentions,
     .title =
         "stream: a link serves one transfer at a time (link), or any number at full speed (none). Default: link."},
    {ROW("overlap", PROBLEM, CHOICE, overlap), .json = "overlap", .choices = overlaps, .min = SITU_OVERLAP_FULL,
     .title = "stream: what may happen at the same time. full: all devices and links work at once; host-blocking: the "
              "same, but a copy to a host occupies that host; none: one operator or transfer at a time. Default: that "
              "of --cost-engine, else full."},
    {ROW("async-copies", PROBLEM, ON, async_copies), .json = "async_copies",
     .title = "pipeline, host-staged: a device can compute, send and receive at the same time."},
    {ROW("schedule", PROBLEM, CHOICE, schedule), .json = "schedule", .choices = schedules,
     .title = "pipeline, training: the schedule that defines the period. 1f1b: the maximum over resources of forward "
              "plus backward load; gpipe: the maximum forward load plus the maximum backward load; zb-h1, with "
              "--micro-batches: as 1f1b, but gradients of weights fill the waits; interleaved and zb-v, with "
              "--micro-batches: several chunks of the model on each device. Default: 1f1b."},
    {ROW("chunks", PROBLEM, INT32, chunks), .json = "chunks",
     .also = "virtual-stages virtual-pipeline-stages num-virtual-stages-per-pipeline-rank model-chunks", .value = "V",
     .min = 2, .max = 64,
     .title = "pipeline, --schedule interleaved: each device has V parts of the model, one in each of V rounds of all "
              "devices. Default: 2."},
    {ROW("replicate", PROBLEM, ON, replicate), .json = "replicate",
     .title = "pipeline: allow replicas: several equal devices that run the same part and share its inputs."},
    {ROW("zero", PROBLEM, INT32, zero), .json = "zero", .also = "zero-stage fsdp sharding", .value = "1|2|3", .min = 1,
     .max = 3,
     .title = "pipeline, training, --replicate: replicas hold shares, not all, of the states of the optimizer (1), of "
              "gradients too (2), of weights too (3), as ZeRO and FSDP do. Default: nothing."},
    {ROW("in-flight", PROBLEM, INT32, in_flight), .json = "in_flight", .value = "N", .min = 1,
     .title = "pipeline: number of inputs whose activations are in memory at once. Default: 1."},
    {ROW("micro-batches", PROBLEM, INT32, micro_batches), .json = "micro_batches",
     .also = "gradient-accumulation-steps accumulate-grad-batches num-microbatches micro-batch microbatches",
     .value = "M", .min = 1,
     .title = "pipeline, training: a step is M inputs (micro-batches) and one update. A stage keeps as many of them as "
              "--schedule says: 1f1b, one for each stage from it to the last; gpipe, all; zb-h1, as many as devices; "
              "interleaved and zb-v, as their order of passes needs. "
              "Default: one input, with --in-flight."},
    {ROW("copies", PROBLEM, INT32, copies), .json = "copies", .value = "N", .min = 1,
     .title = "stream: place N inputs that run at once, each separately, with shared weights. Latency and period are "
              "those of all N together."},
    {ROW("calls", PROBLEM, INT32, max_calls), .json = "max_calls", .value = "Q", .min = 1, .max = INT32_MAX - 1,
     .title = "calls: an accelerator runs at most Q sub-graphs (calls) for one input; with 1, a single contiguous "
              "part. Default: any number."},
    {ROW("max-period", PROBLEM, MS, max_period_ns), .json = "max_period_ns", .value = "MS", .max = 1e9,
     .title = "stream: minimise latency with this limit on the period, which is the maximum load of a device or link."},
    {ROW("max-latency", PROBLEM, MS, max_latency_ns), .json = "max_latency_ns", .value = "MS", .max = 1e9,
     .title = "stream: minimise the period with this limit on the latency of one input."},
    {ROW("max-ttft", INSTANCE, MS, max_ttft_ns), .json = "max_ttft_ns", .value = "MS", .max = 1e9,
     .title = "Language models: maximise tokens per second in decoding with this limit on the time to first token (the "
              "time of the prompt), in ms or with a unit (500ms, 2s)."},
    {ROW("min-speed", INSTANCE, REAL, min_speed), .json = "min_speed", .value = "N", .max = 1e12,
     .title = "Language models: minimise the time to first token with at least N tokens per second in decoding, summed "
              "over all requests."},
    {ROW("unused", INSTANCE, NAMES, unused), .value = "DEVICE", .title = "Leave this device empty. Repeatable."},
    {ROW("rules", INSTANCE, RULES, rules), .value = "FILE", .family = "file",
     .title = "A file of rules about the machine: operators that a device cannot run, operators that stay together, "
              "allowed cuts, reserved memory, efficiency and precision of devices. Repeatable."},
    {ROW("not", INSTANCE, RULE, rules), .value = "KIND=DEVICE",
     .title = "A rule: operators of this kind cannot run on this device, class or type of device (cpu, gpu, npu). "
              "Repeatable, or separated by commas."},
    {ROW("reserve", INSTANCE, RULE, rules), .value = "DEVICE=SIZE",
     .title = "A rule: leave this much memory of this device, class or type unused, as in gpu0=1GiB. Repeatable, or "
              "separated by commas."},
    {ROW("headroom", INSTANCE, RULE, rules), .value = "SIZE|PERCENT%",
     .title =
         "A rule: leave this much of every memory unused, as in 1GiB or 5%, but for devices of which --reserve says "
         "how much. Default: nothing beyond what drivers keep (situ list devices)."},
    {ROW("granularity", INSTANCE, CHOICE, granularity), .json = "granularity", .choices = granularities,
     .min = SITU_GRANULARITY_FUSED,
     .title = "The unit of placement. fused: kernels that the engine fuses; operator: single operators (nothing is "
              "fused); layer: layers of the network, with routed experts as separate units; block: layers, everything "
              "before the first and everything after the last. Default of place: layer for the latency of language "
              "decoders where whole layers fit, else fused."},
    {ROW("costs", COST, TEXT, model), .json = "model", .value = "NAME", .family = "costs",
     .title = "The cost model that estimates times (situ list costs). Default: roofline."},
    {ROW("cost-table", COST, PATH, table_path), .json = "table", .value = "FILE", .family = "file",
     .title =
         "A table of measured times that replace estimates (situ costs, situ profile). Several, of unlike devices, "
         "are joined: repeatable, or separated by commas."},
    {ROW("cost-engine", COST, TEXT, engine), .json = "engine", .old = "engine", .value = "NAME",
     .family = "cost-engines",
     .title = "The engine whose behaviour the costs assume: its fusion, launch overhead and overlap (situ list "
              "cost-engines). Nothing runs. Default: llama.cpp for GGUF, else generic."},
    {ROW("fusion", COST, TEXT, fusion), .json = "fusion", .value = "PROFILE", .family = "fusion",
     .title = "Which operators the engine fuses into one kernel, which stays on one device (situ list fusion). "
              "Default: the profile of --cost-engine."},
    {ROW("efficiency", COST, REAL, efficiency), .json = "efficiency", .value = "SHARE", .max = 1,
     .title =
         "Share of its peak performance that a device reaches, above 0, at most 1. Default: by cost model and device."},
#undef GROUP
#define GROUP "Unknown"
    {ROW("max-unknown", PROBLEM, REAL, max_unknown_percent), .json = "max_unknown_percent", .value = "PERCENT",
     .max = 100,
     .title =
         "How much of the time may be guessed (kinds of operators without a cost rule, assumed sizes, ...) before a "
         "plan is only \"optimal for guessed costs\". Default: 5; for a plan file, that of the plan."},
    {ROW("strict", INSTANCE, ON, strict),
     .title = "Refuse a model or plan of which more is guessed than --max-unknown, with exit code 9 and one line that "
              "says what is unknown."},
#undef GROUP
#define GROUP "Search"
    {ROW("solver", SOLVE, TEXT, solvers), .also = "algorithm method algo", .value = "NAME[,NAME...]",
     .family = "solvers",
     .title = "Solvers to run, one after another (situ list solvers). Default: auto, a portfolio. A solver or bound "
              "after a minus sign takes no part, as in auto,-tabu."},
    {ROW("time-limit", SOLVE, REAL, time_limit_s), .also = "timeout time budget max-time limit", .value = "SECONDS",
     .max = 1e9,
     .title = "Stop after this time with the best plan so far. Default: about 10 s; compare: 3 s for each solver; "
              "size: 2 s for each platform."},
    {ROW("steps", SOLVE, INT64, max_steps), .also = "iterations iters max-steps", .value = "N", .min = 1,
     .title =
         "Stop after this many search steps instead of a time: the same seed then gives the same plan, byte for byte."},
    {ROW("seed", SOLVE, SEED, seed), .value = "N", .title = "Seed of all random numbers. Default: 0."},
    {ROW("policy", SOLVE, TEXT, policy), .value = "FILE", .family = "file",
     .title = "Learned solvers: a policy file made by situ learn, or none to learn from scratch. Default: the policy "
              "shipped with situ, if any."},
    {ROW("tune", SOLVE, INT64, tune_steps), .value = "N", .min = 1,
     .title = "Learned solvers: train the policy on MODEL for this many steps first. Default: 0; without a policy, as "
              "many as the limits allow, or 100."},
    {ROW("threads", SOLVE, INT32, threads), .value = "N", .min = 1,
     .title = "Threads for bounds and searches. place and compare can also share the work among processes of Open MPI: "
              "mpirun -n 4 situ place MODEL --steps 100000. With --steps and without --time-limit the plan does not "
              "depend on the number of threads or processes. Default: 1."},
#undef GROUP
#define GROUP "Choice"
    {ROW("tolerance", SOLVE, PERCENT, tolerance), .value = "PERCENT", .max = 1000,
     .title = "stream, latency: of the plans within this percentage of the best one found, choose the one with the "
              "fewest hand-overs. Default: 2 for auto with estimated costs, else 0."},
    {ROW("min-gain", SOLVE, PERCENT, min_gain), .value = "PERCENT", .max = 1000,
     .title = "stream, latency: choose the best single device unless a plan is faster by at least this percentage. "
              "Default: 5 for auto with estimated costs, else 0."},
    {ROW("max-parts", SOLVE, INT32, max_parts), .value = "N", .min = 1,
     .title = "stream, latency: maximum number of parts. A part is a set of operators on one device that no path "
              "leaves and enters again (situ explain lists them). Default: any number."},
    {ROW("min-part", SOLVE, INT32, min_part), .value = "N", .min = 1,
     .title = "stream, latency: if there are several parts, the minimum number of units (operators, or groups that "
              "stay together) in each. Default: 1."},
    {ROW("uncertainty", SOLVE, PERCENT, uncertainty), .value = "PERCENT", .max = 200,
     .title = "stream, latency: how uncertain the costs are. Draws random costs, reports how often the plan beats the "
              "best single device, and chooses that device unless the plan beats it in 9 of 10 draws. Default: 20 if "
              "--tolerance or --min-gain apply, else 0."},
    {ROW("robust", SOLVE, ON, robust),
     .title = "stream, latency: of the plans found, choose the one whose speed-up over the best single device has the "
              "highest 10th percentile under uncertain costs."},
#undef GROUP
#define GROUP "Pins"
    {ROW("fix", INSTANCE, PATH, fix), .value = "FILE", .family = "file",
     .title = "Pin the operators that FILE places: a plan file, a published split, or a JSON object that maps "
              "operators to devices. If FILE places all operators, the placement is only evaluated."},
#undef GROUP
#define GROUP "Start"
    {ROW("start", INSTANCE, PATH, start), .value = "PLAN", .family = "file",
     .title = "Start the search from this placement: a plan file, a published split, or a JSON object that maps "
              "operators to devices. Ignored if it breaks a constraint."},
#undef GROUP
};
const int32_t option_n_rows = sizeof option_rows / sizeof option_rows[0];
