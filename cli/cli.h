/* cli/cli.h - the tool around the library: a table of commands, tables of options, and what they share.
 *
 * Options are written once, in the library's table or, those of the tool alone, in cli/options.c: parsing, --help and
 * shell completion unfold from these rows. A command is
 * one file cmd_NAME.c with one const struct that cli/main.c lists. The tool sees public headers only. */
#ifndef SITU_CLI_H
#define SITU_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "situ.h"

/* Exit codes; documented, and scripts rely on them. */
enum {
  EXIT_OK = 0,
  EXIT_USAGE = 2,        /* an invalid command line */
  EXIT_INPUT = 3,        /* a file that cannot be read or is malformed */
  EXIT_INFEASIBLE = 4,   /* proved: there is no plan */
  EXIT_LIMIT = 5,        /* a limit was reached without a plan */
  EXIT_OUTPUT = 6,       /* something could not be written */
  EXIT_VIOLATIONS = 7,   /* check found violations, or with --require-proof a bound that is not proved */
  EXIT_ENGINE = 8,       /* an engine is missing, rejected the model, crashed or hung */
  EXIT_UNKNOWN = 9,      /* --strict: more of the costs is guessed than --max-unknown allows */
  EXIT_INTERNAL = 70,    /* a defect of situ */
  EXIT_INTERRUPTED = 130 /* stopped by Ctrl-C, SIGTERM or SIGHUP without a plan */
};

enum { MAX_OPERANDS = 64, MAX_DIMS = 64, MAX_NAMES = 64, MAX_WRITES = 16, MAX_PLATFORMS = 16, MAX_NAME_BYTES = 128 };

/* NAME=FILE of --write. */
typedef struct write_request {
  char name[MAX_NAME_BYTES];
  const char *path;
} write_request;

/* Everything that a command line can contain. */
typedef struct arguments {
  situ_instance_options instance; /* points to the next three */
  situ_read_options read;
  situ_cost_options cost;
  situ_problem_options problem;
  situ_solve_options solve;
  char dim_names[MAX_DIMS][MAX_NAME_BYTES];
  situ_dim dims[MAX_DIMS];
  const char *unused[MAX_NAMES];
  const char *rules[MAX_NAMES];
  char rule_words[MAX_NAMES][2 * MAX_NAME_BYTES];
  char cost_tables[4096]; /* several, with commas between them */
  write_request writes[MAX_WRITES];
  int n_writes;
  const char *out, *svg, *graph_svg, *page, *trace, *trajectory, *run_result;
  int32_t points;
  situ_learn_options learn;
  situ_measure_options measure;
  situ_profile_options profile;
  situ_run_options run;
  situ_race_options race;
  situ_size_options size;
  situ_fit_options fit;
  situ_staging_options staging;
  situ_serving_options serving;
  bool disaggregate;
  situ_judge_options judge;
  int32_t n_measured;
  const char *device_class, *profile_from, *measured_plan;
  bool bare, forward;
  const char *platforms[MAX_PLATFORMS];
  int n_platforms;
  const char *link_from, *link_to;
  const char *machine; /* of platform: a file */
  bool absolute;
  bool require_proof, no_what_if, what_if, compare, gantt;
  bool describes; /* an option of the model, the machine or the objective was given */
  bool json, help;
  const char *operands[MAX_OPERANDS];
  int n_operands;
} arguments;

typedef enum option_kind {
  OPTION_ON,       /* sets a bool */
  OPTION_OFF,      /* clears it */
  OPTION_TEXT,     /* const char * */
  OPTION_CHOICE,   /* an enum: `min` + index into `choices` */
  OPTION_WHOLE,    /* int64_t >= min */
  OPTION_SMALL,    /* int32_t >= min */
  OPTION_SEED,     /* uint64_t */
  OPTION_MS,       /* int64_t nanoseconds from milliseconds > 0 */
  OPTION_PERCENT,  /* double >= 0, a share given as a percentage, which is at most `max` */
  OPTION_REAL,     /* double > 0, and <= max */
  OPTION_DIM,      /* NAME=VALUE, repeatable */
  OPTION_UNUSED,   /* NAME, repeatable */
  OPTION_RULES,    /* a path, repeatable */
  OPTION_RULE,     /* LEFT=RIGHT[,LEFT=RIGHT...], repeatable: short forms of rules, by the name of the option */
  OPTION_PLATFORM, /* NAME, repeatable */
  OPTION_WRITE     /* NAME=FILE, repeatable */
} option_kind;

typedef struct option {
  const char *name; /* "platform"; NULL ends a table */
  char letter;      /* 'o', or 0 */
  option_kind kind;
  size_t offset;              /* of the field in `arguments` */
  const char *value;          /* placeholder of the value in help, or NULL */
  const char *about;          /* a line or two for help */
  const char *const *choices; /* of OPTION_CHOICE, ended by NULL */
  long long min;
  double max;
  const char *old;    /* an earlier name, which still works but is not shown; or NULL */
  const char *also;   /* other words that users type for it, separated by spaces, so that an error can suggest this
                         option; or NULL */
  const char *family; /* shell completion of the value: the name of a table of the library, "file", or NULL */
} option;

/* The field that a row sets. */
#define AT(field) offsetof(arguments, field)

typedef struct option_group {
  const char *title;
  const option *rows;
} option_group;
enum { MAX_GROUPS = 10 };

typedef struct command {
  const char *name, *summary;
  const char *usage;    /* the operands after the name, without options: "MODEL" */
  const char *about;    /* a paragraph or more */
  const char *examples; /* lines that work as they are; tests run them */
  const char *operand;  /* shell completion of operands: "model", "file", "family", "shell", "command" or NULL */
  int min_operands, max_operands;
  bool quotes;                       /* an operand may be the options of another program, in quotes */
  const option_group *const *groups; /* ended by NULL */
  void (*defaults)(arguments *a);    /* sets fields that differ from the library's defaults, before the line is parsed;
                                        or NULL */
  int (*run)(arguments *a);
  bool ranks; /* processes started by mpirun run it together; the first of them reports */
} command;

/* ---- cli/main.c, cli/options.c, cli/parse.c ---- */

/* The table of commands: one file that exports NAME_command, and one line here. */
#define COMMAND_ROWS(ROW) \
  ROW(place)              \
  ROW(check)              \
  ROW(simulate)           \
  ROW(explain)            \
  ROW(report)             \
  ROW(run)                \
  ROW(profile)            \
  ROW(compare)            \
  ROW(pareto)             \
  ROW(size)               \
  ROW(fit)                \
  ROW(stages)             \
  ROW(judge)              \
  ROW(learn)              \
  ROW(inspect)            \
  ROW(costs)              \
  ROW(list)               \
  ROW(platform)           \
  ROW(fit_link)           \
  ROW(completion)         \
  ROW(help)
#define COMMAND_DECLARE(NAME) extern const command NAME##_command;
COMMAND_ROWS(COMMAND_DECLARE)

extern const command *const commands[]; /* ended by NULL */
const command *command_find(const char *name);
/* Reports that there is no such command and suggests a similar one; EXIT_USAGE. */
int command_unknown(const char *word);

extern const option_group model_options, problem_options, unknown_options, solve_options, fewer_options, fix_options,
    start_options, judged_options, proof_options, explain_options, page_options, report_outputs, plan_outputs,
    costs_outputs, trace_outputs, front_options, size_options, stage_options, amount_options, command_options,
    fit_options, learn_options, measure_options, map_options, race_options, trial_options, profile_inputs,
    profile_outputs, platform_options, common_options, help_options;

/* Fills the groups of options that the library has; once, before anything else. */
void options_load(void);
/* Everything at its default. */
void arguments_init(arguments *a);
/* Parses a command line (without the names of tool and command). Prints one line and returns EXIT_USAGE if it is
 * invalid. */
int arguments_parse(arguments *a, const command *c, int argc, char **argv);

/* Replaces an operand or a --model that is "-" by a temporary file with the content of standard input. The file has no
 * name and vanishes with the process. EXIT_USAGE if two of them are "-", EXIT_INPUT if standard input cannot be
 * read. */
int take_standard_input(arguments *a);

/* ---- cli/help.c ---- */

void help_tool(FILE *to);
void print_help_of(FILE *to, const command *c);

/* ---- cli/output.c ---- */

/* A situ_log_callback that keeps warnings; print_warnings prints them to stderr, once. */
void tell_warning(void *context, situ_log_level level, const char *text);
void print_warnings(void);
/* How reports should look on a stream. */
situ_report_options report_options(FILE *to);
/* The stream for tables: stdout, or stderr with --json or if an output goes to stdout ("-"). */
FILE *people(const arguments *a);
typedef struct report {
  char *text;
  situ_error error;
} report;
/* From now on only failures are printed, and nothing is written: for all processes of mpirun but the first. */
void be_silent(arguments *a, int rank);
/* Prints a report that was made with `status` and frees it, or prints the failure. Returns EXIT_OK or the exit code:
 *
 *     report r = {0};
 *     int code = print_report(stdout, &r, situ_report_list(&r.text, "solvers", SITU_REPORT_JSON, NULL, &r.error)); */
int print_report(FILE *to, report *r, situ_status status);
/* Names the accelerators of the platform, or those that `plan` uses unless it is NULL, whose work an engine did on its
 * CPU for want of --device and --map, and what this means. */
void tell_stand_ins(const arguments *a, const situ_plan *plan, const situ_platform *platform, const char *meaning);
/* Reports that memory ran out; returns the exit code for it. */
int fail_memory(void);
/* Print "situ: where: text" to stderr and return the exit code: for a failure of reading or computing, and of
 * writing. */
int fail_reading(const situ_error *error);
int fail_writing(const situ_error *error);
/* One line on stderr in the same form; returns EXIT_USAGE. */
int fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Checks before any long work that all outputs can be written and all writers exist. */
int probe_outputs(const arguments *a);
/* Checks before any output that the writers can express this plan. */
int probe_writers(const arguments *a, const situ_plan *plan);
/* A failure to open the operand with the writers of --write: of writing, if without them it opens, else of reading. */
int fail_opening(arguments *a, const situ_error *error);
/* Writes a text to a file, or to stdout if the path is "-", reports that, and frees the text. The text is NULL after a
 * failure, which `status` and `error` describe. */
int write_text(const arguments *a, char *text, situ_status status, situ_error *error, const char *what,
               const char *path);
/* What a plan says as a whole; outcome LIMIT and no placement for NULL. */
situ_plan_summary plan_summary(const situ_plan *plan);
/* This process among those that mpirun started. */
situ_ranks_summary ranks_summary(const arguments *a);
/* Writes all outputs and reports each. */
int write_outputs(const arguments *a, const situ_plan *plan, const situ_instance *instance);
/* Opens the first operand: a plan file or, with --model, any placement of that model. */
situ_status open_plan(situ_plan **plan, situ_instance **instance, const arguments *a, situ_error *error);
/* Exit code of a plan. */
int outcome_code(const situ_plan *plan);
/* Ends a command: flushes stdout, and turns success into EXIT_OUTPUT if that fails. */
int finish(int code);

/* ---- cli/progress.c ---- */

typedef struct progress {
  bool shown, terminal;
  double last_s; /* when the line was last drawn, in seconds of the solve */
  bool records;  /* --trajectory was requested: */
  char *text;    /* the content of its file; NULL: out of memory */
  size_t length;
  int64_t value_ns, lower_bound_ns; /* of the last row */
} progress;

/* From here on the first SIGINT (Ctrl-C), SIGTERM or SIGHUP ends the search with the best plan so far; the second ends
 * the process. A SIGHUP that is ignored (nohup) stays ignored. */
void interrupt_catch(void);
bool interrupted(void);
progress progress_start(void);
/* Starts it, has a solve report to it, which must not move, and catches interrupts. */
void progress_of_solve(progress *p, situ_solve_options *solve);
void progress_stop(progress *p);
bool progress_measure(void *context, const char *phase, int32_t done, int32_t total); /* a situ_measure_callback */
/* From here on each change of value or bound becomes a row, at most one about every 10 ms. */
int progress_record(progress *p);
/* Adds the result (plan: NULL if the solve failed) and writes the rows to a file. Returns an exit code. */
int progress_write(progress *p, const situ_plan *plan, const char *path);

#endif
