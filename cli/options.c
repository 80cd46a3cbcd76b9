/* Every option of the tool, each written once. */
#include "cli.h"

static const char *const objectives[] = {"latency", "throughput", NULL};
static const char *const precisions[] = {"f32", "f16", "bf16", "i8", NULL};
static const char *const executions[] = {"stream", "calls", "pipeline", NULL};
static const char *const overlaps[] = {"full", "host-blocking", "none", NULL};
static const char *const contentions[] = {"link", "none", NULL};
static const char *const schedules[] = {"1f1b", "gpipe", NULL};
static const char *const granularities[] = {"fused", "operator", "layer", "block", NULL};
static const char *const communications[] = {"host-staged", "link", NULL};

static const option model_rows[] = {
    {.name = "reader",
     .kind = OPTION_TEXT,
     .offset = AT(read.reader),
     .value = "NAME",
     .family = "readers",
     .about = "File format of MODEL (situ list readers). Default: detected from the content."},
    {.name = "dim",
     .kind = OPTION_DIM,
     .value = "NAME=VALUE",
     .about = "Size of a dynamic dimension, as in batch=8. Repeatable."},
    {.name = "default-dim",
     .kind = OPTION_WHOLE,
     .offset = AT(read.default_dim),
     .value = "N",
     .min = 1,
     .about =
         "Size of all other dynamic dimensions. Default: assumed, with a note: 224 for the sides of images, 1 for all "
         "others, or larger values if operators would not fit."},
    {.name = "precision",
     .kind = OPTION_CHOICE,
     .offset = AT(read.precision),
     .choices = precisions,
     .min = SITU_PRECISION_F32,
     .about = "Estimate as if floating-point weights and activations had this type. Weights that are compressed in the "
              "file stay compressed. Default: the types in the file."},
    {.name = "prompt",
     .kind = OPTION_WHOLE,
     .offset = AT(read.prompt),
     .value = "N",
     .min = 1,
     .about = "Language models: number of tokens in the prompt. Alone: place for processing the prompt; with "
              "--generate: for a whole request."},
    {.name = "generate",
     .also = "n-predict max-tokens output-tokens max-new-tokens",
     .kind = OPTION_WHOLE,
     .offset = AT(read.generate),
     .value = "N",
     .min = 1,
     .about = "Language models: number of tokens to generate after the prompt. Default: one step of decoding."},
    {.name = "context",
     .also = "ctx ctx-size max-len max-model-len n-ctx",
     .kind = OPTION_WHOLE,
     .offset = AT(read.context),
     .value = "N",
     .min = 1,
     .about = "Language models: capacity of the KV cache in tokens; without --prompt the cache is full. Default: "
              "prompt plus generated tokens; without either, 4096 or the context that the model was trained for."},
    {.name = "batch",
     .also = "batch-size concurrency users",
     .kind = OPTION_WHOLE,
     .offset = AT(read.batch),
     .value = "N",
     .min = 1,
     .about = "Language models: number of requests served at once. Default: 1."},
    {.name = "kv-type",
     .kind = OPTION_TEXT,
     .offset = AT(read.kv_type),
     .value = "TYPE",
     .about = "Language models: element type of the KV cache: f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl. "
              "Default: f16."},
    {.name = "draft",
     .kind = OPTION_WHOLE,
     .offset = AT(read.draft),
     .value = "N",
     .min = 1,
     .about = "Language models: speculative decoding; each step also verifies N guessed tokens. The cost of guessing "
              "them is not included. Default: none."},
    {.name = "acceptance",
     .kind = OPTION_REAL,
     .offset = AT(read.acceptance),
     .value = "P",
     .max = 1,
     .about = "Language models: the probability that a guessed token is right, above 0, at most 1. Default: 0.7."},
    {.name = "training",
     .kind = OPTION_ON,
     .offset = AT(read.training),
     .about = "Place a training step instead of the forward pass in MODEL: adds backward and update operators, each on "
              "the device of its forward operator."},
    {0}};
const option_group model_options = {"Model", model_rows};

#define FUSION_ROW(FALLBACK)                                                                                  \
  {                                                                                                           \
    .name = "fusion", .kind = OPTION_TEXT, .offset = AT(cost.fusion), .value = "PROFILE", .family = "fusion", \
    .about =                                                                                                  \
        "Which operators the engine fuses into one kernel, which stays on one device (situ list fusion). "    \
        "Default: " FALLBACK "."                                                                              \
  }
static const option problem_rows[] = {
    {.name = "platform",
     .also = "on machine hardware device devices gpu gpus target system host",
     .kind = OPTION_TEXT,
     .offset = AT(instance.platform),
     .value = "NAME|FILE",
     .family = "devices",
     .about =
         "The machine: devices joined by '+' (cpu+2*a100-80g), servers in parentheses (2*(cpu+8*a100-80g)), this-host, "
         "or a platform file. Default: the platform in the model file, else " SITU_DEFAULT_PLATFORM "."},
    {.name = "objective",
     .also = "goal metric minimize optimize",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.objective),
     .choices = objectives,
     .min = SITU_OBJECTIVE_LATENCY,
     .about = "Minimise the time of one input (latency), or maximise the rate of many (throughput). Default: latency, "
              "or throughput for a workload file."},
    {.name = "execution",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.execution),
     .choices = executions,
     .min = SITU_EXECUTION_STREAM,
     .about = "How the machine runs the model: stream, one input with operators in sequence on each device; calls, one "
              "input with whole sub-graphs as single calls; pipeline, many inputs at once. Default: pipeline for "
              "throughput; for latency stream, or calls for a workload file."},
    {.name = "contiguous",
     .kind = OPTION_OFF,
     .offset = AT(problem.free),
     .about = "pipeline: each device holds one contiguous part of the model. The default."},
    {.name = "free",
     .kind = OPTION_ON,
     .offset = AT(problem.free),
     .about = "pipeline: a device may hold any operators; its part need not be contiguous."},
    {.name = "communication",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.communication),
     .choices = communications,
     .min = SITU_COMMUNICATION_HOST_STAGED,
     .about = "pipeline: whether the time of a transfer is charged to the accelerators at both ends (host-staged) or "
              "to the links. Default: link, or host-staged for a workload file."},
    {.name = "contention",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.contention),
     .choices = contentions,
     .about =
         "stream: a link serves one transfer at a time (link), or any number at full speed (none). Default: link."},
    {.name = "overlap",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.overlap),
     .choices = overlaps,
     .min = SITU_OVERLAP_FULL,
     .about = "stream: what may happen at the same time. full: all devices and links work at once; host-blocking: the "
              "same, but a copy to a host occupies that host; none: one operator or transfer at a time. Default: that "
              "of --cost-engine, else full."},
    {.name = "async-copies",
     .kind = OPTION_ON,
     .offset = AT(problem.async_copies),
     .about = "pipeline, host-staged: a device can compute, send and receive at the same time."},
    {.name = "schedule",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.schedule),
     .choices = schedules,
     .about = "pipeline, training: the schedule that defines the period. 1f1b: the maximum over resources of forward "
              "plus backward load; gpipe: the maximum forward load plus the maximum backward load. Default: 1f1b."},
    {.name = "replicate",
     .kind = OPTION_ON,
     .offset = AT(problem.replicate),
     .about = "pipeline: allow replicas: several equal devices that run the same part and share its inputs."},
    {.name = "in-flight",
     .kind = OPTION_SMALL,
     .offset = AT(problem.in_flight),
     .value = "N",
     .min = 1,
     .about = "pipeline: number of inputs whose activations are in memory at once. Default: 1."},
    {.name = "copies",
     .kind = OPTION_SMALL,
     .offset = AT(problem.copies),
     .value = "N",
     .min = 1,
     .about = "stream: place N inputs that run at once, each separately, with shared weights. Latency and period are "
              "those of all N together."},
    {.name = "calls",
     .kind = OPTION_SMALL,
     .offset = AT(problem.max_calls),
     .value = "Q",
     .min = 1,
     .about = "calls: an accelerator runs at most Q sub-graphs (calls) for one input; with 1, a single contiguous "
              "part. Default: any number."},
    {.name = "max-period",
     .kind = OPTION_MS,
     .offset = AT(problem.max_period_ns),
     .value = "MS",
     .max = 1e9,
     .about = "stream: minimise latency with this limit on the period, which is the maximum load of a device or link."},
    {.name = "max-latency",
     .kind = OPTION_MS,
     .offset = AT(problem.max_latency_ns),
     .value = "MS",
     .max = 1e9,
     .about = "stream: minimise the period with this limit on the latency of one input."},
    {.name = "max-ttft",
     .kind = OPTION_MS,
     .offset = AT(instance.max_ttft_ns),
     .value = "MS",
     .max = 1e9,
     .about = "Language models: maximise tokens per second in decoding with this limit on the time to first token (the "
              "time of the prompt), in ms or with a unit (500ms, 2s)."},
    {.name = "min-speed",
     .kind = OPTION_REAL,
     .offset = AT(instance.min_speed),
     .value = "N",
     .max = 1e12,
     .about = "Language models: minimise the time to first token with at least N tokens per second in decoding, summed "
              "over all requests."},
    {.name = "unused", .kind = OPTION_UNUSED, .value = "DEVICE", .about = "Leave this device empty. Repeatable."},
    {.name = "rules",
     .kind = OPTION_RULES,
     .value = "FILE",
     .family = "file",
     .about = "A file of rules about the machine: operators that a device cannot run, operators that stay together, "
              "allowed cuts, reserved memory, efficiency and precision of devices. Repeatable."},
    {.name = "not",
     .kind = OPTION_RULE,
     .value = "KIND=DEVICE",
     .about = "A rule: operators of this kind cannot run on this device, class or type of device (cpu, gpu, npu). "
              "Repeatable, or separated by commas."},
    {.name = "reserve",
     .kind = OPTION_RULE,
     .value = "DEVICE=SIZE",
     .about = "A rule: leave this much memory of this device, class or type unused, as in gpu0=1GiB. Repeatable, or "
              "separated by commas."},
    {.name = "granularity",
     .kind = OPTION_CHOICE,
     .offset = AT(instance.granularity),
     .choices = granularities,
     .min = SITU_GRANULARITY_FUSED,
     .about = "The unit of placement. fused: kernels that the engine fuses; operator: single operators (nothing is "
              "fused); layer: layers of the network, with routed experts as separate units; block: layers, everything "
              "before the first and everything after the last. Default of place: layer for the latency of language "
              "decoders, else fused."},
    {.name = "costs",
     .kind = OPTION_TEXT,
     .offset = AT(cost.model),
     .value = "NAME",
     .family = "costs",
     .about = "The cost model that estimates times (situ list costs). Default: roofline."},
    {.name = "cost-table",
     .kind = OPTION_TEXT,
     .offset = AT(cost.table_path),
     .value = "FILE",
     .family = "file",
     .about = "A table of measured times that replace estimates (situ costs, situ profile)."},
    {.name = "cost-engine",
     .old = "engine",
     .kind = OPTION_TEXT,
     .offset = AT(cost.engine),
     .value = "NAME",
     .family = "cost-engines",
     .about = "The engine whose behaviour the costs assume: its fusion, launch overhead and overlap (situ list "
              "cost-engines). Nothing runs. Default: llama.cpp for GGUF, else generic."},
    FUSION_ROW("the profile of --cost-engine"),
    {.name = "efficiency",
     .kind = OPTION_REAL,
     .offset = AT(cost.efficiency),
     .value = "SHARE",
     .max = 1,
     .about =
         "Share of its peak performance that a device reaches, above 0, at most 1. Default: by cost model and device."},
    {0}};
const option_group problem_options = {"Machine and objective", problem_rows};

static const option solve_rows[] = {
    {.name = "solver",
     .also = "algorithm method algo",
     .kind = OPTION_TEXT,
     .offset = AT(solve.solvers),
     .value = "NAME[,NAME...]",
     .family = "solvers",
     .about = "Solvers to run, one after another (situ list solvers). Default: auto, a portfolio."},
    {.name = "time-limit",
     .also = "timeout time budget max-time limit",
     .kind = OPTION_REAL,
     .offset = AT(solve.time_limit_s),
     .value = "SECONDS",
     .max = 1e9,
     .about = "Stop after this time with the best plan so far. Default: about 10 s; compare: 3 s for each solver; "
              "size: 2 s for each platform."},
    {.name = "steps",
     .also = "iterations iters max-steps",
     .kind = OPTION_WHOLE,
     .offset = AT(solve.max_steps),
     .value = "N",
     .min = 1,
     .about =
         "Stop after this many search steps instead of a time: the same seed then gives the same plan, byte for byte."},
    {.name = "seed",
     .kind = OPTION_SEED,
     .offset = AT(solve.seed),
     .value = "N",
     .about = "Seed of all random numbers. Default: 0."},
    {.name = "policy",
     .kind = OPTION_TEXT,
     .offset = AT(solve.policy),
     .value = "FILE",
     .family = "file",
     .about = "Learned solvers: a policy file made by situ learn, or none to learn from scratch. Default: the policy "
              "shipped with situ, if any."},
    {.name = "tune",
     .kind = OPTION_WHOLE,
     .offset = AT(solve.tune_steps),
     .value = "N",
     .min = 1,
     .about = "Learned solvers: train the policy on MODEL for this many steps first. Default: 0; without a policy, as "
              "many as the limits allow, or 100."},
    {.name = "threads",
     .kind = OPTION_SMALL,
     .offset = AT(solve.threads),
     .value = "N",
     .min = 1,
     .about = "Threads for bounds and searches. place and compare can also share the work among processes of Open MPI: "
              "mpirun -n 4 situ place MODEL --steps 100000. With --steps and without --time-limit the plan does not "
              "depend on the number of threads or processes. Default: 1."},
    {0}};
const option_group solve_options = {"Search", solve_rows};

static const option choice_rows[] = {
    {.name = "tolerance",
     .kind = OPTION_PERCENT,
     .offset = AT(solve.tolerance),
     .value = "PERCENT",
     .max = 1000,
     .about = "stream, latency: of the plans within this percentage of the best one found, choose the one with the "
              "fewest hand-overs. Default: 2 for auto with estimated costs, else 0."},
    {.name = "min-gain",
     .kind = OPTION_PERCENT,
     .offset = AT(solve.min_gain),
     .value = "PERCENT",
     .max = 1000,
     .about = "stream, latency: choose the best single device unless a plan is faster by at least this percentage. "
              "Default: 5 for auto with estimated costs, else 0."},
    {.name = "max-parts",
     .kind = OPTION_SMALL,
     .offset = AT(solve.max_parts),
     .value = "N",
     .min = 1,
     .about = "stream, latency: maximum number of parts. A part is a set of operators on one device that no path "
              "leaves and enters again (situ explain lists them). Default: any number."},
    {.name = "min-part",
     .kind = OPTION_SMALL,
     .offset = AT(solve.min_part),
     .value = "N",
     .min = 1,
     .about = "stream, latency: if there are several parts, the minimum number of units (operators, or groups that "
              "stay together) in each. Default: 1."},
    {.name = "uncertainty",
     .kind = OPTION_PERCENT,
     .offset = AT(solve.uncertainty),
     .value = "PERCENT",
     .max = 200,
     .about = "stream, latency: how uncertain the costs are. Draws random costs, reports how often the plan beats the "
              "best single device, and chooses that device unless the plan beats it in 9 of 10 draws. Default: 20 if "
              "--tolerance or --min-gain apply, else 0."},
    {.name = "robust",
     .kind = OPTION_ON,
     .offset = AT(solve.robust),
     .about = "stream, latency: of the plans found, choose the one whose speed-up over the best single device has the "
              "highest 10th percentile under uncertain costs."},
    {0}};
const option_group fewer_options = {"Choice", choice_rows};

static const option fix_rows[] = {
    {.name = "fix",
     .kind = OPTION_TEXT,
     .offset = AT(instance.fix),
     .value = "FILE",
     .family = "file",
     .about = "Pin the operators that FILE places: a plan file, a published split, or a JSON object that maps "
              "operators to devices. If FILE places all operators, the placement is only evaluated."},
    {0}};
const option_group fix_options = {"Pins", fix_rows};

static const option start_rows[] = {
    {.name = "start",
     .kind = OPTION_TEXT,
     .offset = AT(instance.start),
     .value = "PLAN",
     .family = "file",
     .about = "Start the search from this placement: a plan file, a published split, or a JSON object that maps "
              "operators to devices. Ignored if it breaks a constraint."},
    {0}};
const option_group start_options = {"Start", start_rows};

static const option judged_rows[] = {
    {.name = "model",
     .kind = OPTION_TEXT,
     .offset = AT(instance.model),
     .value = "MODEL",
     .family = "file",
     .about = "Apply PLAN to this model, on the machine that the options below describe. PLAN may then also be a "
              "published split or a JSON object that maps operators to devices. Options that are not given are taken "
              "from the plan file; with --objective or --execution, its constraints are ignored. Default: the model "
              "that the plan file names."},
    {0}};
const option_group judged_options = {"Placement", judged_rows};

static const option proof_rows[] = {
    {.name = "require-proof",
     .kind = OPTION_ON,
     .offset = AT(require_proof),
     .about = "Count a lower bound that its certificate does not prove, and a claim that "
              "cannot be recomputed, as a violation of the rule `proof`. Default: only "
              "report it."},
    {0}};
const option_group proof_options = {"Proof", proof_rows};

static const option explain_rows[] = {{.name = "no-what-if",
                                       .kind = OPTION_ON,
                                       .offset = AT(no_what_if),
                                       .about = "Explain only the plan itself; do not solve changed problems."},
                                      {0}};
const option_group explain_options = {"Explanation", explain_rows};

static const option costs_rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = AT(out),
     .value = "FILE",
     .family = "file",
     .about = "Write the table to this file: JSON if the name ends in .json, else CSV. Default: CSV to stdout."},
    {0}};
const option_group costs_outputs = {"Output", costs_rows};

#define SVG_ROW                                                                               \
  {                                                                                           \
    .name = "svg", .kind = OPTION_TEXT, .offset = AT(svg), .value = "FILE", .family = "file", \
    .about = "Draw the timeline of the plan as SVG."                                          \
  }
#define GRAPH_SVG_ROW                                                                                     \
  {                                                                                                       \
    .name = "graph-svg", .kind = OPTION_TEXT, .offset = AT(graph_svg), .value = "FILE", .family = "file", \
    .about = "Draw the parts of the plan and the data sent between them as SVG."                          \
  }
#define PAGE_ROW                                                                                       \
  {                                                                                                    \
    .name = "report", .kind = OPTION_TEXT, .offset = AT(page), .value = "FILE.html", .family = "file", \
    .about = "Write an HTML page about the plan, which a browser opens from disk (situ report)."       \
  }
#define GANTT_ROW                                                        \
  {                                                                      \
    .name = "gantt", .kind = OPTION_ON, .offset = AT(gantt),             \
    .about = "Print the timeline of the plan, one line for each device." \
  }

static const option page_rows[] = {
    {.name = "what-if",
     .kind = OPTION_ON,
     .offset = AT(what_if),
     .about =
         "Changes of the machine and their effect, as in situ explain. Each change takes about a second to solve."},
    {.name = "compare",
     .kind = OPTION_ON,
     .offset = AT(compare),
     .about = "A comparison of solvers, as in situ compare. Each runs for 3 s, or up to --time-limit or --steps."},
    {.name = "run",
     .kind = OPTION_TEXT,
     .offset = AT(run_result),
     .value = "FILE.json",
     .family = "file",
     .about = "Predicted against measured times: FILE is the output of situ run --json for this plan."},
    {0}};
const option_group page_options = {"Sections", page_rows};

static const option report_rows[] = {{.name = "output",
                                      .letter = 'o',
                                      .kind = OPTION_TEXT,
                                      .offset = AT(page),
                                      .value = "FILE.html",
                                      .family = "file",
                                      .about = "Write the page to this file. Default: report.html."},
                                     SVG_ROW,
                                     GRAPH_SVG_ROW,
                                     {0}};
const option_group report_outputs = {"Files written", report_rows};

static const option output_rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = AT(out),
     .value = "PLAN.json",
     .family = "file",
     .about = "Write the plan to this file."},
    SVG_ROW,
    GRAPH_SVG_ROW,
    PAGE_ROW,
    GANTT_ROW,
    {.name = "write",
     .also = "export format emit",
     .kind = OPTION_WRITE,
     .value = "NAME=FILE",
     .family = "writers",
     .about = "Write the plan in the format of another tool (situ list writers), and search only plans that this tool "
              "can run. Repeatable."},
    {.name = "trajectory",
     .kind = OPTION_TEXT,
     .offset = AT(trajectory),
     .value = "FILE.csv",
     .family = "file",
     .about =
         "Write the course of the search: seconds, CPU seconds of the process, steps, solver, value and bound in ns."},
    {0}};
const option_group plan_outputs = {"Files written", output_rows};

static const option trace_rows[] = {
    {.name = "trace",
     .kind = OPTION_TEXT,
     .offset = AT(trace),
     .value = "OUT.json",
     .family = "file",
     .about = "Write the timeline for https://ui.perfetto.dev or chrome://tracing."},
    SVG_ROW,
    GRAPH_SVG_ROW,
    PAGE_ROW,
    GANTT_ROW,
    {.name = "write",
     .also = "export format emit",
     .kind = OPTION_WRITE,
     .value = "NAME=FILE",
     .family = "writers",
     .about = "Write the plan in the format of another tool (situ list writers). Repeatable."},
    {0}};
const option_group trace_outputs = {"Files written", trace_rows};

static const option front_rows[] = {
    {.name = "points",
     .kind = OPTION_SMALL,
     .offset = AT(points),
     .value = "N",
     .min = 2,
     .about = "Number of solves: the two ends of the front, and limits on latency between them. Default: 8."},
    {.name = "svg",
     .kind = OPTION_TEXT,
     .offset = AT(svg),
     .value = "FILE",
     .family = "file",
     .about = "Draw the front as SVG."},
    {0}};
const option_group front_options = {"Front", front_rows};

static const option size_rows[] = {
    {.name = "goal",
     .kind = OPTION_TEXT,
     .offset = AT(size.goal),
     .value = "GOAL",
     .about = "latency<=50ms (units ns, us, ms, s), period<=2ms, or for language models tokens/s>=20: generated "
              "tokens, summed over all requests, divided by the total time, including the prompt."},
    {.name = "among",
     .kind = OPTION_TEXT,
     .offset = AT(size.platforms),
     .value = "NAME[,NAME...]",
     .family = "devices",
     .about = "The platforms to choose from, each written as for place --platform. Default: a list from cpu to "
              "cpu+8*h100-80g."},
    {.name = "prices",
     .kind = OPTION_TEXT,
     .offset = AT(size.prices),
     .value = "FILE.json",
     .family = "file",
     .about = "A JSON object that maps devices, or whole platforms, to prices per hour, as in {\"cpu\": 0.1, "
              "\"rtx4090-24g\": 0.4}."},
    {.name = "all",
     .kind = OPTION_ON,
     .offset = AT(size.all),
     .about = "Try every platform, for example to compare prices per token. Default: stop at the first that meets the "
              "goal."},
    {0}};
const option_group size_options = {"Goal", size_rows};

static const option fit_rows[] = {{.name = "from",
                                   .kind = OPTION_TEXT,
                                   .offset = AT(link_from),
                                   .value = "DEVICE",
                                   .about = "Name of the sending device in the entry. Default: gpu0."},
                                  {.name = "to",
                                   .kind = OPTION_TEXT,
                                   .offset = AT(link_to),
                                   .value = "DEVICE",
                                   .about = "Name of the receiving device in the entry. Default: gpu1."},
                                  {.name = "absolute",
                                   .kind = OPTION_ON,
                                   .offset = AT(absolute),
                                   .about = "Fit absolute instead of relative errors: the largest transfers dominate."},
                                  {0}};
const option_group fit_options = {"Line", fit_rows};

static const option learn_rows[] = {
    {.name = "platform",
     .also = "on machine hardware device devices gpu gpus target system host",
     .kind = OPTION_PLATFORM,
     .value = "NAME|FILE",
     .family = "devices",
     .about = "A machine to train on, written as for place. Repeatable: each model is trained on each machine. "
              "Default: the platform in the model file, else " SITU_DEFAULT_PLATFORM "."},
    {.name = "unused",
     .kind = OPTION_UNUSED,
     .value = "DEVICE",
     .about = "Leave this device empty on every machine. Repeatable."},
    FUSION_ROW("none for GGUF, else generic"),
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = AT(out),
     .value = "POLICY",
     .family = "file",
     .about = "Write the policy to this file, every 50 steps and at the end."},
    {.name = "from",
     .kind = OPTION_TEXT,
     .offset = AT(learn.from),
     .value = "POLICY",
     .family = "file",
     .about = "Start from this policy. Default: random parameters, drawn with --seed."},
    {.name = "resume",
     .kind = OPTION_ON,
     .offset = AT(learn.resume),
     .about = "Continue the training of the policy in -o where it stopped. The result is bit-identical to an "
              "uninterrupted run."},
    {.name = "steps",
     .also = "iterations iters max-steps",
     .kind = OPTION_WHOLE,
     .offset = AT(learn.steps),
     .value = "N",
     .min = 1,
     .about = "Total number of training steps, including those before --resume. Default: 1000."},
    {.name = "time-limit",
     .also = "timeout time budget max-time limit",
     .kind = OPTION_REAL,
     .offset = AT(learn.time_limit_s),
     .value = "SECONDS",
     .max = 1e9,
     .about = "Stop after this time and write the policy. Default: no limit."},
    {.name = "seed",
     .kind = OPTION_SEED,
     .offset = AT(learn.seed),
     .value = "N",
     .about = "Seed of all random numbers. Default: 0."},
    {.name = "forward",
     .kind = OPTION_ON,
     .offset = AT(forward),
     .about = "With --training: also train on the forward passes."},
    {.name = "teacher",
     .kind = OPTION_TEXT,
     .offset = AT(learn.teacher),
     .value = "NAME[,NAME...]",
     .family = "solvers",
     .about = "Begin the trials of each model with plans of these solvers, with three seeds and at most 2000 solver "
              "steps each; gdp imitates these plans before it learns from its own trials. Default: none."},
    {.name = "paper",
     .kind = OPTION_ON,
     .offset = AT(learn.paper),
     .about = "Use the published recipe wherever situ's differs."},
    {.name = "variant",
     .kind = OPTION_TEXT,
     .offset = AT(learn.variant),
     .value = "WORDS",
     .about =
         "Variants of the learner, separated by commas. gdp: without=attention, without=superposition, "
         "memory=still (no gradient into the previous segment), segments=short (16 units each), groups=none (each unit "
         "by itself). hsdag: levels=N of parsing (0: until nothing merges; default 1), target=N (stop parsing at N "
         "clusters), declines=0 (every node joins another), learns=0 (draws stay random), without=FEATURE, "
         "with=FEATURE (kinds, degrees, fractal, "
         "closeness, position, shape, index, times)."},
    {.name = "bare",
     .kind = OPTION_ON,
     .offset = AT(bare),
     .about =
         "Train nothing: write the policy of --from without its training state, which makes it a third of the size."},
    {0}};
const option_group learn_options = {"Training", learn_rows};

#define HELP_ROW \
  { .name = "help", .letter = 'h', .kind = OPTION_ON, .offset = AT(help), .about = "Show this help." }
static const option common_rows[] = {{.name = "json",
                                      .kind = OPTION_ON,
                                      .offset = AT(json),
                                      .about = "Print one JSON object to stdout; the tables go to stderr."},
                                     HELP_ROW,
                                     {0}};
const option_group common_options = {"Common", common_rows};

/* For commands whose output has no JSON form. */
static const option help_rows[] = {HELP_ROW, {0}};
const option_group help_options = {"Common", help_rows};
