/* The options of the tool alone, each written once: those of the library are in its table (options_library.c). */
#include "cli.h"

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
    {.name = "streams",
     .kind = OPTION_WHOLE,
     .offset = AT(serving.max_streams),
     .value = "N",
     .min = 1,
     .about = "Language models: the front of the tokens per second of one stream and of all, with up to N streams on "
              "each copy of the model."},
    {.name = "disaggregate",
     .also = "prefill decode apart splitwise distserve",
     .kind = OPTION_ON,
     .offset = AT(disaggregate),
     .about = "Language models, with --streams, --prompt and --generate: prompts on some devices, decoding on others. "
              "Time of a request against requests per second, beside the best where each copy of the model does both."},
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

static const option stage_rows[] = {
    {.name = "devices",
     .kind = OPTION_WHOLE,
     .offset = AT(staging.n_devices),
     .value = "N",
     .min = 1,
     .about = "How many equal devices there are. Default, as for the next three: what the file says."},
    {.name = "memory",
     .kind = OPTION_WHOLE,
     .offset = AT(staging.memory_bytes),
     .value = "BYTES",
     .min = 1,
     .about = "The memory of each device."},
    {.name = "bandwidth",
     .kind = OPTION_WHOLE,
     .offset = AT(staging.bytes_per_s),
     .value = "BYTES",
     .min = 1,
     .about = "What each device sends and receives in a second."},
    {.name = "micro-batches",
     .kind = OPTION_WHOLE,
     .offset = AT(staging.micro_batches),
     .value = "M",
     .min = 1,
     .about = "A step is M inputs; the number of replicas of a stage divides M."},
    {.name = "no-splits",
     .kind = OPTION_ON,
     .offset = AT(staging.no_splits),
     .about = "Every layer whole on a device."},
    {.name = "no-replicas", .kind = OPTION_ON, .offset = AT(staging.no_replicas), .about = "Every stage once."},
    {.name = "no-recompute",
     .kind = OPTION_ON,
     .offset = AT(staging.no_recompute),
     .about = "All activations are kept (ways to run a layer that are not called `activation recomp`)."},
    {.name = "time-limit",
     .kind = OPTION_REAL,
     .offset = AT(staging.time_limit_s),
     .value = "SECONDS",
     .max = 1e9,
     .about = "Stop after so long, with the best plan and bound so far. Default: 60."},
    {0}};
const option_group stage_options = {"Stages", stage_rows};

static const char *const quantities[] = {"context", "batch", NULL};
static const option amount_rows[] = {
    {.name = "what",
     .kind = OPTION_CHOICE,
     .offset = AT(fit.quantity),
     .choices = quantities,
     .min = SITU_FIT_CONTEXT,
     .about = "What is to be as large as possible: the tokens of the context, or the number of streams (with --context "
              "for each), of other models of inputs. Default: context."},
    {.name = "max",
     .kind = OPTION_WHOLE,
     .offset = AT(fit.max),
     .value = "N",
     .min = 1,
     .about =
         "The largest amount to try. Default: the context that the model was trained for, or 1024 streams or inputs."},
    {.name = "goal",
     .kind = OPTION_TEXT,
     .offset = AT(fit.goal),
     .value = "GOAL",
     .about = "What plans must also meet: latency<=50ms (units ns, us, ms, s), period<=2ms, or with --what "
              "context tokens/s>=20."},
    {0}};
const option_group amount_options = {"What fits", amount_rows};

static const option command_rows[] = {{.name = "format",
                                       .kind = OPTION_TEXT,
                                       .offset = AT(judge.format),
                                       .value = "NAME",
                                       .family = "writers",
                                       .about = "The writer whose format the text has. Default: recognised."},
                                      {0}};
const option_group command_options = {"Command", command_rows};

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

static const option platform_rows[] = {
    {.name = "from",
     .kind = OPTION_TEXT,
     .offset = AT(machine),
     .value = "FILE",
     .family = "file",
     .about = "A platform file, or outputs of nvidia-smi, llama-server --list-devices, lspci -vv, lscpu and free -b, "
              "logs of llama.cpp, and lines such as \"GPU: RTX 3090\", one after another. \"-\" is standard input."},
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = AT(out),
     .value = "FILE.json",
     .family = "file",
     .about = "Write the platform file."},
    {0}};
const option_group platform_options = {"Machine", platform_rows};

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
    {.name = "fusion",
     .kind = OPTION_TEXT,
     .offset = AT(cost.fusion),
     .value = "PROFILE",
     .family = "fusion",
     .about = "Which operators the engine fuses into one kernel, which stays on one device (situ list fusion). "
              "Default: none for GGUF, else generic."},
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
         "clusters), declines=0 (every node joins another), learns=0 (draws stay random), constants=0 (of --paper: "
         "constants are no nodes), without=FEATURE, with=FEATURE (kinds, degrees, fractal, closeness, position, shape, "
         "index, times)."},
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
