/* The command line: `situ place` and `situ check` of its plan, then `situ compare`; exit codes and numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_trial.h"

/* Exit codes that the manual page names. */
enum { TOOL_PLAN = 0, TOOL_INFEASIBLE = 4, TOOL_NO_PLAN = 5 };

static char *read_all(const char *folder, const char *name) {
  char path[512], *text = NULL;
  size_t size = 0, n;
  char block[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
  while (in && out && (n = fread(block, 1, sizeof block, in)) > 0) fwrite(block, 1, n, out);
  if (in) fclose(in);
  if (out) fclose(out);
  return text;
}

/* Runs the tool in the folder; its exit code, or -1. */
static int run_tool(const char *folder, const char *tool, const char *arguments) {
  char command[2400];
  snprintf(command, sizeof command, "cd '%s' && '%s' %s > out.json 2> err.txt", folder, tool, arguments);
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Every number behind a key, as far as it is one. */
static bool verify_numbers(attack_failure *failure, const char *text, int64_t optimum) {
  for (const char *at = text; (at = strstr(at, "\"value_ns\": ")); at++) {
    int64_t value = at[12] == 'n' ? SITU_NEVER_NS : strtoll(at + 12, NULL, 10);
    if (value < optimum)
      return failure_set(failure, "tool-value", "the value %lld is below the optimum %lld", (long long)value,
                         (long long)optimum);
  }
  for (const char *at = text; (at = strstr(at, "\"lower_bound_ns\": ")); at++) {
    int64_t bound = at[18] == 'n' ? 0 : strtoll(at + 18, NULL, 10);
    if (bound > optimum)
      return failure_set(failure, "tool-bound", "the bound %lld is above the optimum %lld", (long long)bound,
                         (long long)optimum);
  }
  return true;
}

static bool verify_command(attack_failure *failure, const char *folder, const attack_call *call, const char *arguments,
                           const attack_optimum *optimum) {
  int code = run_tool(folder, call->tool, arguments);
  char *text = read_all(folder, "out.json"), *errors = read_all(folder, "err.txt");
  bool good = true;
  if (code != TOOL_PLAN && code != TOOL_INFEASIBLE && code != TOOL_NO_PLAN)
    good = failure_set(failure, "tool-exit", "exit code %d: %.250s", code, errors ? errors : "");
  else if (code == TOOL_INFEASIBLE && optimum->value_ns != SITU_NEVER_NS)
    good = failure_set(failure, "tool-infeasible", "there is a plan of %lld ns", (long long)optimum->value_ns);
  else if (code == TOOL_PLAN && optimum->value_ns == SITU_NEVER_NS)
    good = failure_set(failure, "tool-plan", "there is no plan");
  else
    good = verify_numbers(failure, text ? text : "", optimum->value_ns);
  if (good && code == TOOL_PLAN && strstr(arguments, "plan.json")) {
    code = run_tool(folder, call->tool, "check plan.json");
    free(errors);
    errors = read_all(folder, "out.json");
    if (code != 0) good = failure_set(failure, "tool-check", "exit code %d: %.250s", code, errors ? errors : "");
  }
  free(text);
  free(errors);
  return good;
}

/* The arguments behind the command of cmd.txt, without those of one solver. */
static void arguments_of(char *out, size_t size, const char *text, const char *command, const char *more) {
  const char *at = strchr(text + 5, ' ');
  size_t n = at ? strcspn(at, "\n") : 0;
  snprintf(out, size, "%s%.*s%s", command, (int)n, at ? at : "", more);
  char *solver = strstr(out, " --solver auto");
  if (solver && strcmp(command, "compare") == 0) memset(solver, ' ', strlen(" --solver auto"));
}

bool verify_tool(attack_failure *failure, const attack_problem *p, const attack_call *call) {
  attack_facts f;
  attack_posed posed;
  attack_optimum optimum;
  situ_error error;
  char folder[400], arguments[2000];
  failure->kind = NULL;
  if (p->max_other_ns > 0 || p->copies > 1) return true; /* names of copies differ, and so do pins */
  bool posing = problem_pose(&posed, p, &error) == SITU_STATUS_OK;
  posed_free(&posed);
  if (!posing)
    return pose_may_fail(p, &error) ||
           failure_set(failure, "pose", "%s: %s", situ_status_name(error.status), error.text);
  facts_find(&f, p);
  optimum_find(&optimum, &f);
  if (!optimum.complete) return true;
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/situ-attack-XXXXXX", parent ? parent : "/tmp");
  if (!mkdtemp(folder) || !problem_write(p, folder, call))
    return failure_set(failure, "files-io", "cannot write into %s", folder);
  char *text = read_all(folder, "cmd.txt");
  bool pinned = false;
  for (int32_t v = 0; v < p->n; v++) pinned = pinned || p->op[v].pin >= 0;
  arguments_of(arguments, sizeof arguments, text ? text : "", "place", " -o plan.json");
  bool good = verify_command(failure, folder, call, arguments, &optimum);
  char *choices = text ? strstr(text, " --tolerance") : NULL;
  if (choices) snprintf(choices, strlen(choices) + 1, "\n");
  arguments_of(arguments, sizeof arguments, text ? text : "", "compare", "");
  if (good && !pinned) good = verify_command(failure, folder, call, arguments, &optimum);
  free(text);
  problem_remove(folder);
  return good;
}
