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
     .about = "Read MODEL as this kind of file. Default: recognised by its content."},
    {.name = "dim", .kind = OPTION_DIM, .value = "NAME=VALUE", .about = "Value of a dynamic dimension. Repeatable."},
    {.name = "default-dim",
     .kind = OPTION_WHOLE,
     .offset = AT(read.default_dim),
     .value = "N",
     .least = 1,
     .about = "Value of all other dynamic dimensions. Default: assumed, with a note: "
              "sides of images 224, all others 1, or larger values where operators would not fit."},
    {.name = "precision",
     .kind = OPTION_CHOICE,
     .offset = AT(read.precision),
     .choices = precisions,
     .least = SITU_PRECISION_F32,
     .about = "Count weights and activations of floating types in this one: what if? Weights that the file holds "
              "compressed stay so. Default: as the file has them."},
    {.name = "prompt",
     .kind = OPTION_WHOLE,
     .offset = AT(read.prompt),
     .value = "N",
     .least = 1,
     .about = "Language models: tokens of the prompt. Alone: the time to read it; with --generate: a whole request."},
    {.name = "generate",
     .also = "n-predict max-tokens output-tokens max-new-tokens",
     .kind = OPTION_WHOLE,
     .offset = AT(read.generate),
     .value = "N",
     .least = 1,
     .about = "Language models: tokens to generate after the prompt. Default: one step of decoding."},
    {.name = "context",
     .also = "ctx ctx-size max-len max-model-len n-ctx",
     .kind = OPTION_WHOLE,
     .offset = AT(read.context),
     .value = "N",
     .least = 1,
     .about = "Language models: tokens that the cache holds; without a prompt it is full. Default: prompt and what is "
              "generated, else 4096 or what the model was trained for."},
    {.name = "batch",
     .also = "batch-size concurrency users",
     .kind = OPTION_WHOLE,
     .offset = AT(read.batch),
     .value = "N",
     .least = 1,
     .about = "Language models: streams that are served at once. Default: 1."},
    {.name = "kv-type",
     .kind = OPTION_TEXT,
     .offset = AT(read.kv_type),
     .value = "TYPE",
     .about =
         "Language models: type of the elements of caches: f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl. "
         "Default: f16."},
    {.name = "draft",
     .kind = OPTION_WHOLE,
     .offset = AT(read.draft),
     .value = "N",
     .least = 1,
     .about = "Language models: speculative decoding; each step verifies N guessed tokens. What guesses them is not "
              "counted. Default: none."},
    {.name = "acceptance",
     .kind = OPTION_REAL,
     .offset = AT(read.acceptance),
     .value = "P",
     .most = 1,
     .about = "Language models: the probability that a guessed token is right, above 0, at most 1. Default: 0.7."},
    {.name = "training",
     .kind = OPTION_ON,
     .offset = AT(read.training),
     .about = "A training step instead of the forward pass that MODEL holds: backward and update operators are added, "
              "each on the device of its forward operator."},
    {0}};
const option_group model_options = {"Model", model_rows};

#define FUSION_ROW                                                                                            \
  {                                                                                                           \
    .name = "fusion", .kind = OPTION_TEXT, .offset = AT(cost.fusion), .value = "PROFILE", .family = "fusion", \
    .about =                                                                                                  \
        "What the engine runs as one kernel, which stays on one device (situ list fusion). Default: that of " \
        "the engine."                                                                                         \
  }
static const option problem_rows[] = {
    {.name = "platform",
     .also = "on machine hardware device devices gpu gpus target system host",
     .kind = OPTION_TEXT,
     .offset = AT(instance.platform),
     .value = "NAME|FILE",
     .family = "devices",
     .about = "The machine: devices joined by '+' (cpu+2*a100-80g), servers of them in brackets (2*(cpu+8*a100-80g)), "
              "this-host, or a platform file. Default: that of the model file, else " SITU_DEFAULT_PLATFORM "."},
    {.name = "objective",
     .also = "goal metric minimize optimize",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.objective),
     .choices = objectives,
     .least = SITU_OBJECTIVE_LATENCY,
     .about = "Time of one input, or rate of many. Default: latency, or throughput for a workload file."},
    {.name = "execution",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.execution),
     .choices = executions,
     .least = SITU_EXECUTION_STREAM,
     .about = "How the machine runs the model. Default: pipeline for throughput; for latency stream, or calls for a "
              "workload file."},
    {.name = "contiguous",
     .kind = OPTION_OFF,
     .offset = AT(problem.free),
     .about = "pipeline: devices hold contiguous parts, one after the other. The default."},
    {.name = "free",
     .kind = OPTION_ON,
     .offset = AT(problem.free),
     .about = "pipeline: any device may run any operator."},
    {.name = "communication",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.communication),
     .choices = communications,
     .least = SITU_COMMUNICATION_HOST_STAGED,
     .about = "pipeline: transfers load the accelerators at both ends, or the links. Default: link, or host-staged for "
              "a workload file."},
    {.name = "contention",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.contention),
     .choices = contentions,
     .about = "stream: a link serves one transfer at a time, or all at once. Default: link."},
    {.name = "overlap",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.overlap),
     .choices = overlaps,
     .least = SITU_OVERLAP_FULL,
     .about = "stream: what works at the same time: everything; everything, but a copy to a host keeps it busy; or one "
              "operator or transfer at a time. Default: that of the engine, else full."},
    {.name = "async-copies",
     .kind = OPTION_ON,
     .offset = AT(problem.async_copies),
     .about = "pipeline, host-staged: a device computes and transfers at the same time."},
    {.name = "schedule",
     .kind = OPTION_CHOICE,
     .offset = AT(problem.schedule),
     .choices = schedules,
     .about = "pipeline, training: the period is the maximum of forward plus backward load over all resources, or the "
              "maximum forward load plus the maximum backward load. Default: 1f1b."},
    {.name = "replicate",
     .kind = OPTION_ON,
     .offset = AT(problem.replicate),
     .about = "pipeline: equal devices may share the inputs of one part."},
    {.name = "in-flight",
     .kind = OPTION_SMALL,
     .offset = AT(problem.in_flight),
     .value = "N",
     .least = 1,
     .about = "pipeline: inputs whose activations are held at once. Default: 1."},
    {.name = "copies",
     .kind = OPTION_SMALL,
     .offset = AT(problem.copies),
     .value = "N",
     .least = 1,
     .about = "stream: N inputs at once, each placed by itself, weights shared; latency and period are those of all."},
    {.name = "calls",
     .kind = OPTION_SMALL,
     .offset = AT(problem.max_calls),
     .value = "Q",
     .least = 1,
     .about =
         "calls: an accelerator runs at most Q sub-graphs for one input; 1 is one contiguous part each. Default: any "
         "number."},
    {.name = "max-period",
     .kind = OPTION_MS,
     .offset = AT(problem.max_period_ns),
     .value = "MS",
     .most = 1e9,
     .about = "stream: minimise latency under this limit on the period, the maximum load of a device or link."},
    {.name = "max-latency",
     .kind = OPTION_MS,
     .offset = AT(problem.max_latency_ns),
     .value = "MS",
     .most = 1e9,
     .about = "stream: minimise the period under this limit on the latency of one input."},
    {.name = "max-ttft",
     .kind = OPTION_MS,
     .offset = AT(instance.max_ttft_ns),
     .value = "MS",
     .most = 1e9,
     .about =
         "Language models: maximise tokens per second in decoding under this limit on the time to first token, that "
         "of the prompt; in ms, or with its unit (500ms, 2s)."},
    {.name = "min-speed",
     .kind = OPTION_REAL,
     .offset = AT(instance.min_speed),
     .value = "N",
     .most = 1e12,
     .about = "Language models: minimise the time to first token with at least N tokens per second in decoding, of all "
              "streams together."},
    {.name = "unused", .kind = OPTION_UNUSED, .value = "DEVICE", .about = "Leave this device empty. Repeatable."},
    {.name = "rules",
     .kind = OPTION_RULES,
     .value = "FILE",
     .family = "file",
     .about =
         "What is known of the machine: kinds or names of operators that may not run somewhere, what stays together, "
         "where cuts may be, reserves of memory, efficiency and precision of devices. Repeatable."},
    {.name = "not",
     .kind = OPTION_RULE,
     .value = "KIND=DEVICE",
     .about = "A rule: operators of this kind do not run on this device, class or type of device (cpu, gpu, npu). "
              "Repeatable, or separated by commas."},
    {.name = "reserve",
     .kind = OPTION_RULE,
     .value = "DEVICE=SIZE",
     .about = "A rule: leave so much of the memory of this device, class or type free, as in gpu0=1GiB. Repeatable, or "
              "separated by commas."},
    {.name = "granularity",
     .kind = OPTION_CHOICE,
     .offset = AT(instance.granularity),
     .choices = granularities,
     .least = SITU_GRANULARITY_FUSED,
     .about = "What is placed as a whole: what the costs fuse; single operators (then they fuse nothing); layers of "
              "the network, routed experts apart; or blocks, which are layers and all that is before or after them. "
              "Default of place: layer "
              "for the latency of language decoders, else fused."},
    {.name = "costs",
     .kind = OPTION_TEXT,
     .offset = AT(cost.model),
     .value = "NAME",
     .family = "costs",
     .about = "How times are estimated. Default: roofline."},
    {.name = "cost-table",
     .kind = OPTION_TEXT,
     .offset = AT(cost.table_path),
     .value = "FILE",
     .family = "file",
     .about = "Measured times that replace estimates."},
    {.name = "engine",
     .kind = OPTION_TEXT,
     .offset = AT(cost.engine),
     .value = "NAME",
     .family = "cost-engines",
     .about = "The engine that runs the model: what it fuses, what its launches cost and what it overlaps (situ list "
              "cost-engines). Default: llama.cpp for GGUF, else generic."},
    FUSION_ROW,
    {.name = "efficiency",
     .kind = OPTION_REAL,
     .offset = AT(cost.efficiency),
     .value = "SHARE",
     .most = 1,
     .about = "Part of its peak that a device reaches, above 0, at most 1."},
    {0}};
const option_group problem_options = {"Machine and objective", problem_rows};

static const option solve_rows[] = {
    {.name = "solver",
     .also = "algorithm method algo",
     .kind = OPTION_TEXT,
     .offset = AT(solve.solvers),
     .value = "NAME[,NAME...]",
     .family = "solvers",
     .about = "Solvers that search for the plan. Default: auto, a portfolio."},
    {.name = "time-limit",
     .also = "timeout time budget max-time limit",
     .kind = OPTION_REAL,
     .offset = AT(solve.time_limit_s),
     .value = "SECONDS",
     .most = 1e9,
     .about = "Stop after this time with the best plan so far. Default: about 10 s; for compare 3 s for each solver, "
              "for size 2 s for each platform."},
    {.name = "steps",
     .also = "iterations iters max-steps",
     .kind = OPTION_WHOLE,
     .offset = AT(solve.max_steps),
     .value = "N",
     .least = 1,
     .about = "Stop after this many steps; with the same seed the plan is the same, byte for byte."},
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
     .about = "Learned solvers: the policy that places (situ learn), or none to learn from scratch. Default: the one "
              "shipped with situ, if there is one."},
    {.name = "tune",
     .kind = OPTION_WHOLE,
     .offset = AT(solve.tune_steps),
     .value = "N",
     .least = 1,
     .about = "Learned solvers: first train the policy on the model for this many steps. Default: 0; without a policy "
              "as many as the limits allow, or 100."},
    {.name = "threads",
     .kind = OPTION_SMALL,
     .offset = AT(solve.threads),
     .value = "N",
     .least = 1,
     .about = "Threads for bounds and searches. With --steps and without --time-limit the plan is the same with any "
              "number, and with any number of processes of Open MPI, which place and compare share them out to: mpirun "
              "-n 4 situ place MODEL --steps 100000. Default: 1."},
    {0}};
const option_group solve_options = {"Search", solve_rows};

static const option choice_rows[] = {
    {.name = "tolerance",
     .kind = OPTION_PERCENT,
     .offset = AT(solve.tolerance),
     .value = "PERCENT",
     .most = 1000,
     .about = "stream, latency: of the plans no worse than the best found by more than this, take the one with the "
              "fewest hand-overs. Default: 2 for auto with estimated costs, else 0."},
    {.name = "min-gain",
     .kind = OPTION_PERCENT,
     .offset = AT(solve.min_gain),
     .value = "PERCENT",
     .most = 1000,
     .about = "stream, latency: take the best single device unless a plan is faster by this. Default: 5 for auto with "
              "estimated costs, else 0."},
    {.name = "max-parts",
     .kind = OPTION_SMALL,
     .offset = AT(solve.max_parts),
     .value = "N",
     .least = 1,
     .about = "stream, latency: at most this many parts, each operators of one device that no path leaves and enters "
              "again (as "
              "`situ explain` shows them). Default: any number."},
    {.name = "min-part",
     .kind = OPTION_SMALL,
     .offset = AT(solve.min_part),
     .value = "N",
     .least = 1,
     .about =
         "stream, latency: where there are several parts, each has this many units (operators, or groups that stay "
         "together) at least. Default: 1."},
    {.name = "uncertainty",
     .kind = OPTION_PERCENT,
     .offset = AT(solve.uncertainty),
     .value = "PERCENT",
     .most = 200,
     .about =
         "stream, latency: how uncertain costs are. Draws costs, says how often the plan beats the best single "
         "device, and takes that device unless it is in 9 of 10 draws. Default: 20 where --tolerance or --min-gain "
         "count, else 0."},
    {.name = "robust",
     .kind = OPTION_ON,
     .offset = AT(solve.robust),
     .about = "stream, latency: of the plans found, take the one with the highest 10 % quantile of speed-up over the "
              "best single device."},
    {0}};
const option_group fewer_options = {"Choice", choice_rows};

static const option fix_rows[] = {
    {.name = "fix",
     .kind = OPTION_TEXT,
     .offset = AT(instance.fix),
     .value = "FILE",
     .family = "file",
     .about = "Pin the operators that FILE places: a plan, a published split, or an object from operator to device. "
              "When it places all of them they are only evaluated."},
    {0}};
const option_group fix_options = {"Pins", fix_rows};

static const option start_rows[] = {
    {.name = "start",
     .kind = OPTION_TEXT,
     .offset = AT(instance.start),
     .value = "PLAN",
     .family = "file",
     .about = "Start the search from this plan, a published split, or an object from operator to device. One that "
              "breaks a constraint is left aside."},
    {0}};
const option_group start_options = {"Start", start_rows};

static const option judged_rows[] = {
    {.name = "model",
     .kind = OPTION_TEXT,
     .offset = AT(instance.model),
     .value = "MODEL",
     .family = "file",
     .about = "Take PLAN as a placement of this model, on the machine that the options below describe. PLAN may then "
              "be a published split or an object from operator to device. What the options leave open is taken from "
              "the plan file; with --objective or --execution its constraints are ignored. Default: the model that the "
              "plan file names."},
    {0}};
const option_group judged_options = {"Placement", judged_rows};

static const option proof_rows[] = {
    {.name = "require-proof",
     .kind = OPTION_ON,
     .offset = AT(require_proof),
     .about =
         "A lower bound that its certificate does not prove breaks the rule `proof`. Default: it is only reported."},
    {0}};
const option_group proof_options = {"Proof", proof_rows};

static const option explain_rows[] = {{.name = "no-what-if",
                                       .kind = OPTION_ON,
                                       .offset = AT(no_what_if),
                                       .about = "Only what the plan itself shows; nothing is solved again."},
                                      {0}};
const option_group explain_options = {"Explanation", explain_rows};

static const option costs_rows[] = {{.name = "output",
                                     .letter = 'o',
                                     .kind = OPTION_TEXT,
                                     .offset = AT(out),
                                     .value = "FILE",
                                     .family = "file",
                                     .about = "Write the table to this file: JSON where the name ends in .json, else "
                                              "CSV. Default: stdout."},
                                    {0}};
const option_group costs_outputs = {"Output", costs_rows};

#define SVG_ROW                                                                               \
  {                                                                                           \
    .name = "svg", .kind = OPTION_TEXT, .offset = AT(svg), .value = "FILE", .family = "file", \
    .about = "Draw the plan over time."                                                       \
  }
#define GRAPH_SVG_ROW                                                                                     \
  {                                                                                                       \
    .name = "graph-svg", .kind = OPTION_TEXT, .offset = AT(graph_svg), .value = "FILE", .family = "file", \
    .about = "Draw the parts of the plan and what goes between them."                                     \
  }
#define PAGE_ROW                                                                                       \
  {                                                                                                    \
    .name = "report", .kind = OPTION_TEXT, .offset = AT(page), .value = "FILE.html", .family = "file", \
    .about = "Write a page about the plan, which a browser opens from disk (situ report)."             \
  }
#define GANTT_ROW                                               \
  {                                                             \
    .name = "gantt", .kind = OPTION_ON, .offset = AT(gantt),    \
    .about = "Show the plan over time, a line for each device." \
  }

static const option page_rows[] = {
    {.name = "what-if",
     .kind = OPTION_ON,
     .offset = AT(what_if),
     .about = "What would change the plan, as situ explain finds it: each change takes about a second."},
    {.name = "compare",
     .kind = OPTION_ON,
     .offset = AT(compare),
     .about = "Solvers on the same problem, as situ compare runs them: each takes 3 s, or --time-limit or --steps."},
    {.name = "run",
     .kind = OPTION_TEXT,
     .offset = AT(run_result),
     .value = "FILE.json",
     .family = "file",
     .about = "Predicted against measured: what situ run --json printed for this plan."},
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
     .about =
         "Write the plan in another format (situ list writers). The plan is then the best that its target can run. "
         "Repeatable."},
    {.name = "trajectory",
     .kind = OPTION_TEXT,
     .offset = AT(trajectory),
     .value = "FILE.csv",
     .family = "file",
     .about = "Write how value and bound moved: seconds, CPU seconds of the process, steps, solver, both in ns."},
    {0}};
const option_group plan_outputs = {"Files written", output_rows};

static const option trace_rows[] = {{.name = "trace",
                                     .kind = OPTION_TEXT,
                                     .offset = AT(trace),
                                     .value = "OUT.json",
                                     .family = "file",
                                     .about = "Write a timeline for https://ui.perfetto.dev or chrome://tracing."},
                                    SVG_ROW,
                                    GRAPH_SVG_ROW,
                                    PAGE_ROW,
                                    GANTT_ROW,
                                    {.name = "write",
                                     .also = "export format emit",
                                     .kind = OPTION_WRITE,
                                     .value = "NAME=FILE",
                                     .family = "writers",
                                     .about = "Write the plan in another format (situ list writers). Repeatable."},
                                    {0}};
const option_group trace_outputs = {"Files written", trace_rows};

static const option front_rows[] = {
    {.name = "points",
     .kind = OPTION_SMALL,
     .offset = AT(points),
     .value = "N",
     .least = 2,
     .about = "Number of solves: the two ends, and limits on latency between them. Default: 8."},
    {.name = "svg",
     .kind = OPTION_TEXT,
     .offset = AT(svg),
     .value = "FILE",
     .family = "file",
     .about = "Draw the front."},
    {0}};
const option_group front_options = {"Front", front_rows};

static const option size_rows[] = {
    {.name = "goal",
     .kind = OPTION_TEXT,
     .offset = AT(size.goal),
     .value = "GOAL",
     .about = "latency<=50ms (units ns, us, ms, s), period<=2ms, or for language models tokens/s>=20: tokens "
              "generated, of all streams together, over the time of all that is asked, the prompt included."},
    {.name = "among",
     .kind = OPTION_TEXT,
     .offset = AT(size.platforms),
     .value = "NAME[,NAME...]",
     .family = "devices",
     .about = "The platforms to choose from, as --platform of place takes them. Default: a list from cpu to "
              "cpu+8*h100-80g."},
    {.name = "prices",
     .kind = OPTION_TEXT,
     .offset = AT(size.prices),
     .value = "FILE.json",
     .family = "file",
     .about = "An object from names of devices, or of whole platforms, to prices per hour, as in {\"cpu\": 0.1, "
              "\"rtx4090-24g\": 0.4}."},
    {.name = "all",
     .kind = OPTION_ON,
     .offset = AT(size.all),
     .about = "Try every platform, to compare prices of tokens, not only up to the first that meets the goal."},
    {0}};
const option_group size_options = {"Goal", size_rows};

static const option fit_rows[] = {{.name = "from",
                                   .kind = OPTION_TEXT,
                                   .offset = AT(link_from),
                                   .value = "DEVICE",
                                   .about = "The sender's name in the entry. Default: gpu0."},
                                  {.name = "to",
                                   .kind = OPTION_TEXT,
                                   .offset = AT(link_to),
                                   .value = "DEVICE",
                                   .about = "The receiver's name in the entry. Default: gpu1."},
                                  {.name = "absolute",
                                   .kind = OPTION_ON,
                                   .offset = AT(absolute),
                                   .about = "Least squares of absolute errors: the largest transfers decide."},
                                  {0}};
const option_group fit_options = {"Line", fit_rows};

static const option learn_rows[] = {
    {.name = "platform",
     .also = "on machine hardware device devices gpu gpus target system host",
     .kind = OPTION_PLATFORM,
     .value = "NAME|FILE",
     .family = "devices",
     .about =
         "A machine to learn on, as for place. Repeatable: each model is trained on each machine. Default: that of the "
         "model file, else " SITU_DEFAULT_PLATFORM "."},
    {.name = "unused",
     .kind = OPTION_UNUSED,
     .value = "DEVICE",
     .about = "Leave this device empty, on each machine. Repeatable."},
    FUSION_ROW,
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
     .about = "Start from this policy. Default: random parameters, by the seed."},
    {.name = "resume",
     .kind = OPTION_ON,
     .offset = AT(learn.resume),
     .about = "Continue the training of POLICY where it stopped, with the same bits as a run without a stop."},
    {.name = "steps",
     .also = "iterations iters max-steps",
     .kind = OPTION_WHOLE,
     .offset = AT(learn.steps),
     .value = "N",
     .least = 1,
     .about = "Training steps in all, those before --resume included. Default: 1000."},
    {.name = "time-limit",
     .also = "timeout time budget max-time limit",
     .kind = OPTION_REAL,
     .offset = AT(learn.time_limit_s),
     .value = "SECONDS",
     .most = 1e9,
     .about = "Stop after this time, as after Ctrl-C. Default: none."},
    {.name = "seed",
     .kind = OPTION_SEED,
     .offset = AT(learn.seed),
     .value = "N",
     .about = "Seed of all random numbers. Default: 0."},
    {.name = "forward",
     .kind = OPTION_ON,
     .offset = AT(forward),
     .about = "With --training: on the forward passes too."},
    {.name = "teacher",
     .kind = OPTION_TEXT,
     .offset = AT(learn.teacher),
     .value = "NAME[,NAME...]",
     .family = "solvers",
     .about =
         "The first trials of each model are plans of this solver with three seeds, after at most 2000 of its steps "
         "each; gdp imitates them before it learns by trials. Default: none."},
    {.name = "paper",
     .kind = OPTION_ON,
     .offset = AT(learn.paper),
     .about = "Use the published recipe where that of situ differs."},
    {.name = "variant",
     .kind = OPTION_TEXT,
     .offset = AT(learn.variant),
     .value = "WORDS",
     .about = "Variants of the learner, separated by commas. gdp: without=attention, without=superposition, "
              "memory=still (no gradient into the segment before), segments=short (of 16 units), groups=none (each "
              "unit by itself). hsdag: levels=N of parsing (0: until nothing merges; default 1), target=N clusters to "
              "stop at, declines=0 (every node joins "
              "another), learns=0 (draws are random to the end), without=FEATURE, "
              "with=FEATURE (kinds, degrees, fractal, "
              "closeness, position, shape, index, times)."},
    {.name = "bare",
     .kind = OPTION_ON,
     .offset = AT(bare),
     .about = "Train nothing: write the policy of --from without the state of its training, a third of the size."},
    {0}};
const option_group learn_options = {"Training", learn_rows};

#define HELP_ROW \
  { .name = "help", .letter = 'h', .kind = OPTION_ON, .offset = AT(help), .about = "Show this help." }
static const option common_rows[] = {{.name = "json",
                                      .kind = OPTION_ON,
                                      .offset = AT(json),
                                      .about = "One JSON object on stdout; tables for people go to stderr."},
                                     HELP_ROW,
                                     {0}};
const option_group common_options = {"Common", common_rows};

/* Of commands whose output is a text that has no other form. */
static const option help_rows[] = {HELP_ROW, {0}};
const option_group help_options = {"Common", help_rows};
