#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "console.h"

situ_report_options report_options(FILE *to) {
  situ_report_options o = SITU_REPORT_OPTIONS_INIT;
  o.unicode = console_is_unicode();
  const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
  if (!console_is_terminal(to) || getenv("OMPI_COMM_WORLD_SIZE")) return o; /* mpirun's terminals may end in a file */
  o.colour = !(no_colour && *no_colour) && !(kind && strcmp(kind, "dumb") == 0);
  int width = console_width(to);
  if (width > 0) o.width = width;
  return o;
}

/* The rank of this process if it is not the one that reports (else 0); its failures name it. */
static int teller;

void be_silent(arguments *a, int rank) {
  teller = rank;
  a->out = a->svg = a->graph_svg = a->page = a->trace = a->trajectory = NULL; /* writers still say what plans may be */
  if (!freopen("/dev/null", "w", stdout)) fclose(stdout);
}

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* How many outputs go to stdout, --json included. */
static int count_to_stdout(const arguments *a) {
  int n = a->json + is_stdout(a->out) + is_stdout(a->svg) + is_stdout(a->graph_svg) + is_stdout(a->page) +
          is_stdout(a->trace) + is_stdout(a->trajectory);
  for (int i = 0; i < a->n_writes; i++) n += is_stdout(a->writes[i].path);
  return n;
}

FILE *people(const arguments *a) { return teller == 0 && count_to_stdout(a) > 0 ? stderr : stdout; }

/* Warnings kept until the work begins. A call that fails before that prints only the failure. */
static char *warnings;

void tell_warning(void *context, situ_log_level level, const char *text) {
  (void)context;
  if (level != SITU_LOG_WARNING) return;
  size_t had = warnings ? strlen(warnings) : 0, more = strlen(text) + 8;
  char *grown = realloc(warnings, had + more);
  if (!grown) return;
  warnings = grown;
  snprintf(warnings + had, more, "situ: %s\n", text);
}

void print_warnings(void) {
  if (warnings && teller == 0) fputs(warnings, stderr);
  free(warnings);
  warnings = NULL;
}

static void say(const char *where, const char *text) {
  bool colour = report_options(stderr).colour;
  char rank[32] = "";
  if (teller > 0) snprintf(rank, sizeof rank, "rank %d: ", teller);
  fprintf(stderr, "%ssitu:%s %s%s%s%s\n", colour ? "\033[31m" : "", colour ? "\033[0m" : "", rank, where,
          *where ? ": " : "", text);
}

int fail_usage(const char *format, ...) {
  char line[1024];
  va_list rest;
  va_start(rest, format);
  vsnprintf(line, sizeof line, format, rest);
  va_end(rest);
  for (unsigned char *c = (unsigned char *)line; *c; c++)
    if (*c < 0x20 || *c == 0x7f) *c = '?';
  say("", line);
  return EXIT_USAGE;
}

int fail_reading(const situ_error *error) {
  if (error->status == SITU_STATUS_CANCELLED && *error->where)
    say("", "interrupted; nothing was written"); /* which worker it was is nothing to the user who stopped it */
  else
    say(error->where, error->text);
  switch (error->status) {
    case SITU_STATUS_BAD_ARGUMENT: return EXIT_USAGE;
    case SITU_STATUS_BAD_INPUT:
    case SITU_STATUS_UNSUPPORTED:
    case SITU_STATUS_IO: return EXIT_INPUT;
    case SITU_STATUS_NO_MEMORY: return EXIT_LIMIT;
    case SITU_STATUS_ENGINE: return EXIT_ENGINE;
    case SITU_STATUS_CANCELLED: return EXIT_INTERRUPTED;
    case SITU_STATUS_GUESSED: return EXIT_UNKNOWN;
    default: return EXIT_INTERNAL;
  }
}

int fail_writing(const situ_error *error) {
  say(error->where, error->text);
  return error->status == SITU_STATUS_BAD_ARGUMENT ? EXIT_USAGE
         : error->status == SITU_STATUS_INTERNAL   ? EXIT_INTERNAL
                                                   : EXIT_OUTPUT;
}

int fail_memory(void) {
  say("", "out of memory");
  return EXIT_LIMIT;
}

int print_report(FILE *to, report *r, situ_status status) {
  if (status != SITU_STATUS_OK) return fail_reading(&r->error);
  fputs(r->text, to);
  situ_text_free(r->text);
  r->text = NULL;
  return EXIT_OK;
}

void tell_stand_ins(const arguments *a, const situ_plan *plan, const situ_platform *platform, const char *meaning) {
  char names[200] = "";
  size_t at = 0;
  int n = 0;
  if (a->measure.device || (a->run.map && strchr(a->run.map, '@'))) return;
  situ_device device = SITU_DEVICE_INIT;
  situ_device_use use = SITU_DEVICE_USE_INIT;
  for (int32_t d = 0; situ_platform_device(platform, d, &device) && at < sizeof names; d++) {
    if (device.is_host || (plan && (!situ_plan_device_use(plan, d, &use) || use.n_operators == 0))) continue;
    at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", n++ ? ", " : "", device.name);
  }
  if (n > 0)
    fprintf(people(a), "%s  note: %s ran on the CPU, %s\n%s", plan ? "\n" : "", names, meaning, plan ? "" : "\n");
}

static int known_writer(const char *name, bool *folder) {
  const char *names[MAX_NAMES];
  int n = 0;
  situ_writer_info info = SITU_WRITER_INFO_INIT;
  for (; n < MAX_NAMES && situ_writer_at(n, &info); n++) {
    names[n] = info.name;
    *folder = info.folder;
    if (strcmp(names[n], name) == 0) return EXIT_OK;
  }
  const char *close = situ_nearest_name(name, names, n);
  if (close) return fail_usage("--write %s: there is no such writer; did you mean %s?", name, close);
  return fail_usage("--write %s: there is no such writer; `situ list writers` lists them", name);
}

/* A writer of several files makes the folder, but not the folders above it. */
static int probe_folder(const char *writer, const char *path) {
  situ_error error = {.status = SITU_STATUS_IO, .text = ""};
  console_kind kind = console_look(path);
  snprintf(error.where, sizeof error.where, "%.255s", path ? path : "");
  if (kind != CONSOLE_ABSENT) {
    if (kind == CONSOLE_FOLDER) return EXIT_OK;
    snprintf(error.text, sizeof error.text, "is a file, but %.60s writes a folder; name another", writer);
    return fail_writing(&error);
  }
  size_t n = strlen(path);
  while (n > 0 && path[n - 1] == '/') n--;
  while (n > 0 && path[n - 1] != '/') n--;
  while (n > 1 && path[n - 1] == '/') n--;
  char *above = strdup(path);
  if (above) above[n] = '\0';
  bool there = n == 0 || (above && console_look(above) == CONSOLE_FOLDER);
  if (!there)
    snprintf(error.text, sizeof error.text, "cannot be made: there is no folder \"%.160s\"", above ? above : "");
  free(above);
  return there ? EXIT_OK : fail_writing(&error);
}

/* Whether writing to one path would overwrite the file at the other. Devices and pipes do not count. */
static bool same_file(const char *one, const char *other) {
  console_kind kind = console_look(one);
  if (kind == CONSOLE_FOLDER || kind == CONSOLE_SPECIAL) return false;
  return strcmp(one, other) == 0 || console_is_same(one, other);
}

/* Outputs must not overwrite inputs; only a plan may replace its own --fix file. */
static int check_clashes(const arguments *a, const char *const *paths, int n) {
  const char *inputs[] = {a->operands[0],       a->n_operands > 1 ? a->operands[1] : NULL,
                          a->run_result,        a->instance.model,
                          a->instance.platform, a->cost.table_path};
  for (int i = 0; i < n; i++) {
    if (!paths[i]) continue;
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
      if (inputs[k] && same_file(paths[i], inputs[k]))
        return fail_usage("%s: this file is an input, so it cannot also be an output; name another file", paths[i]);
    for (int j = 0; j < i; j++)
      if (paths[j] && same_file(paths[i], paths[j]))
        return fail_usage("%s: two outputs cannot go to the same file; name another file for one of them", paths[i]);
  }
  return EXIT_OK;
}

int probe_outputs(const arguments *a) {
  enum { ALONE = 6 };
  const char *paths[MAX_WRITES + ALONE] = {a->out, a->svg, a->graph_svg, a->page, a->trace, a->trajectory};
  int n = ALONE + a->n_writes;
  situ_error error = {0};
  if (teller != 0) return EXIT_OK;
  for (int i = 0; i < a->n_writes; i++) {
    bool folder = false;
    int code = known_writer(a->writes[i].name, &folder);
    if (code != EXIT_OK) return code;
    if (folder && !is_stdout(a->writes[i].path)) code = probe_folder(a->writes[i].name, a->writes[i].path);
    if (code != EXIT_OK) return code;
    paths[ALONE + i] = folder ? NULL : a->writes[i].path;
  }
  if (count_to_stdout(a) > 1)
    return fail_usage(
        "only one of --json and the outputs named \"-\" can go to standard output; name a file for the others");
  for (int i = 0; i < n; i++) {
    if (is_stdout(paths[i])) paths[i] = NULL;
    if (paths[i] && situ_path_check_writable(paths[i], &error) != SITU_STATUS_OK) return fail_writing(&error);
  }
  return check_clashes(a, paths, n);
}

int probe_writers(const arguments *a, const situ_plan *plan) {
  situ_error error = {0};
  for (int i = 0; i < a->n_writes && plan_summary(plan).exists; i++) {
    bool folder = false;
    char *text = NULL;
    int code = known_writer(a->writes[i].name, &folder);
    if (code == EXIT_OK && !folder && situ_write(&text, a->writes[i].name, plan, &error) != SITU_STATUS_OK)
      code = fail_writing(&error);
    situ_text_free(text);
    if (code != EXIT_OK) return code;
  }
  return EXIT_OK;
}

/* The width of the column of names: that of the report, or of the longest writer. */
static int label_columns(const arguments *a) {
  size_t max = 11;
  for (int i = 0; i < a->n_writes; i++)
    if (strlen(a->writes[i].name) > max) max = strlen(a->writes[i].name);
  return (int)max;
}

static int written(const arguments *a, situ_status status, const situ_error *error, const char *what,
                   const char *path) {
  if (status != SITU_STATUS_OK) return fail_writing(error);
  fprintf(people(a), "  %-*s  %s\n", label_columns(a), what, is_stdout(path) ? "standard output" : path);
  return EXIT_OK;
}

int write_text(const arguments *a, char *text, situ_status status, situ_error *error, const char *what,
               const char *path) {
  if (status == SITU_STATUS_OK && is_stdout(path))
    fputs(text, stdout); /* finish() sees failures */
  else if (status == SITU_STATUS_OK)
    status = situ_text_write(text, path, error);
  situ_text_free(text);
  return written(a, status, error, what, path);
}

/* The pictures of a plan: timeline, parts, page. */
static int write_drawings(const arguments *a, const situ_plan *plan, const situ_instance *instance) {
  situ_error error = {.status = SITU_STATUS_OK};
  char *text = NULL;
  int code = EXIT_OK;
  if (a->svg) {
    situ_status status = situ_report_plan(&text, plan, NULL, SITU_REPORT_SVG, NULL, &error);
    code = write_text(a, text, status, &error, "picture", a->svg);
  }
  if (a->graph_svg && code == EXIT_OK) {
    situ_status status = situ_report_plan(&text, plan, NULL, SITU_REPORT_PARTS, NULL, &error);
    code = write_text(a, text, status, &error, "parts", a->graph_svg);
  }
  if (a->page && code == EXIT_OK) {
    situ_status status = situ_report_page(&text, plan, situ_instance_model(instance), NULL, &error);
    code = write_text(a, text, status, &error, "page", a->page);
  }
  return code;
}

int fail_opening(arguments *a, const situ_error *error) {
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  bool opens = false;
  if (error->status != SITU_STATUS_UNSUPPORTED || a->n_writes == 0) return fail_reading(error);
  a->instance.writers = NULL;
  a->instance.n_writers = 0;
  if (a->instance.model == a->operands[0])
    opens = situ_instance_open(&instance, &a->instance, NULL) == SITU_STATUS_OK;
  else
    opens = open_plan(&plan, &instance, a, NULL) == SITU_STATUS_OK;
  situ_plan_free(plan);
  situ_instance_free(instance);
  return opens ? fail_writing(error) : fail_reading(error);
}

/* In the format of one of the writers. */
static int write_format(const arguments *a, const situ_plan *plan, const situ_instance *instance, const char *writer,
                        const char *path) {
  situ_error error = {0};
  char *text = NULL;
  if (!is_stdout(path)) /* a writer of folders makes no text */
    return written(a, situ_instance_export(instance, plan, writer, path, &error), &error, writer, path);
  situ_status status = situ_write(&text, writer, plan, &error);
  return write_text(a, text, status, &error, writer, path);
}

situ_plan_summary plan_summary(const situ_plan *plan) {
  situ_plan_summary summary = SITU_PLAN_SUMMARY_INIT;
  summary.outcome = SITU_OUTCOME_LIMIT;
  situ_plan_get_summary(plan, &summary);
  return summary;
}

situ_ranks_summary ranks_summary(const arguments *a) {
  situ_ranks_summary summary = SITU_RANKS_SUMMARY_INIT;
  situ_ranks_get_summary(a->solve.ranks, &summary);
  return summary;
}

/* Whoever writes flags for llama.cpp is warned where it says itself that they take another memory than planned. */
static void warn_of_memory(const situ_plan *plan, const situ_instance *instance) {
  enum { MIN_BYTES = 64 << 20 };
  static const double TOLERANCE = 0.1;
  situ_verdict *verdict = NULL;
  char line[256];
  const situ_platform *m = situ_problem_platform(situ_plan_problem(plan));
  if (situ_check(&verdict, plan, NULL) != SITU_STATUS_OK ||
      situ_verdict_ask_engine(verdict, instance, NULL, NULL) != SITU_STATUS_OK) {
    situ_verdict_free(verdict);
    return;
  }
  situ_device_use use = SITU_DEVICE_USE_INIT;
  for (int32_t d = 0; situ_plan_device_use(plan, d, &use); d++) {
    double theirs = (double)situ_verdict_engine_bytes(verdict, d), ours = (double)use.memory_bytes;
    double off = theirs < ours ? ours - theirs : theirs - ours;
    if (theirs < 0 || off <= MIN_BYTES || off <= TOLERANCE * theirs) continue;
    snprintf(line, sizeof line, "llama.cpp itself takes %.2f GB on %.60s; planned are %.2f GB", theirs / 1e9,
             situ_platform_device_name(m, d), ours / 1e9);
    tell_warning(NULL, SITU_LOG_WARNING, line);
  }
  situ_verdict_free(verdict);
  print_warnings();
}

int write_outputs(const arguments *a, const situ_plan *plan, const situ_instance *instance) {
  situ_error error = {0};
  char *text = NULL;
  int code = EXIT_OK;
  if (teller != 0 || (!a->out && !a->svg && !a->graph_svg && !a->page && !a->trace && a->n_writes == 0)) return code;
  situ_plan_summary summary = plan_summary(plan);
  situ_problem_summary problem = SITU_PROBLEM_SUMMARY_INIT;
  situ_problem_get_summary(situ_plan_problem(plan), &problem);
  bool exists = summary.exists;
  bool proved = summary.outcome == SITU_OUTCOME_INFEASIBLE && /* and `check` will see it too */
                (summary.verified_ns == SITU_NEVER_NS || problem.conflict);
  if (!exists && !(proved && a->out)) {
    fputs("situ: there is no plan, so no file was written\n", stderr);
    return code;
  }
  fputc('\n', people(a));
  if (a->out) {
    situ_status status = situ_plan_text(&text, plan, instance, &error);
    code = write_text(a, text, status, &error, exists ? "plan" : "proof", a->out);
  }
  if (!exists) return code; /* only the proof that there is no plan can be written */
  if (code == EXIT_OK) code = write_drawings(a, plan, instance);
  if (a->trace && code == EXIT_OK) code = write_format(a, plan, instance, "trace", a->trace);
  for (int i = 0; i < a->n_writes && code == EXIT_OK; i++)
    code = write_format(a, plan, instance, a->writes[i].name, a->writes[i].path);
  for (int i = 0; i < a->n_writes && code == EXIT_OK; i++)
    if (strcmp(a->writes[i].name, "llama.cpp") == 0) warn_of_memory(plan, instance);
  return code;
}

int outcome_code(const situ_plan *plan) {
  switch (plan_summary(plan).outcome) {
    case SITU_OUTCOME_OPTIMAL:
    case SITU_OUTCOME_FEASIBLE: return EXIT_OK;
    case SITU_OUTCOME_INFEASIBLE: return EXIT_INFEASIBLE;
    case SITU_OUTCOME_CANCELLED: return EXIT_INTERRUPTED;
    default: return EXIT_LIMIT;
  }
}

int finish(int code) {
  bool bad = fflush(stdout) != 0 || ferror(stdout);
  if (!bad || code != EXIT_OK) return code;
  say("stdout", "cannot be written");
  return EXIT_OUTPUT;
}

situ_status open_plan(situ_plan **plan, situ_instance **instance, const arguments *a, situ_error *error) {
  const char *path = a->operands[0];
  if (a->instance.model || a->describes) return situ_plan_import(plan, instance, &a->instance, path, error);
  return situ_plan_read_with(plan, instance, &a->instance, path, error);
}
