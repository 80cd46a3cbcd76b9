#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {&common_options, NULL};

enum { MAX_FAMILIES = 32 };
static const char *const COMMANDS = "commands";

static void show_families(FILE *to) {
  fputs("Tables that situ can list:\n", to);
  for (int32_t i = 0; situ_report_family(i); i++)
    fprintf(to, "  %-12s  %s\n", situ_report_family(i), situ_report_family_about(i));
  fprintf(to, "  %-12s  the commands of situ\n", COMMANDS);
}

static int list_commands(bool json) {
  if (json) fputs("{\n  \"commands\": [", stdout);
  for (int i = 0; commands[i]; i++) {
    const command *c = commands[i];
    if (json)
      printf("%s\n    {\"name\": \"%s\", \"summary\": \"%s\"}", i ? "," : "", c->name, c->summary);
    else
      printf("  %-12s%s\n", c->name, c->summary);
  }
  if (json) fputs("\n  ]\n}\n", stdout);
  return EXIT_OK;
}

static int run(arguments *a) {
  if (a->n_operands == 0) {
    show_families(stdout);
    return EXIT_OK;
  }
  const char *name = a->operands[0], *names[MAX_FAMILIES];
  if (strcmp(name, COMMANDS) == 0) return list_commands(a->json);
  int n = 0;
  bool known = false;
  for (; situ_report_family(n) && n < MAX_FAMILIES - 2; n++) {
    names[n] = situ_report_family(n);
    known |= strcmp(name, names[n]) == 0;
  }
  names[n++] = COMMANDS;
  if (!known) {
    const char *close = situ_nearest_name(name, names, n);
    if (close) return fail_usage("there is no table %s; did you mean %s?", name, close);
    return fail_usage("there is no table %s; `situ list` shows all tables", name);
  }
  report r = {0};
  situ_report_options look = report_options(stdout);
  return print_report(stdout, &r,
                      a->json ? situ_report_list(&r.text, name, SITU_REPORT_JSON, NULL, &r.error)
                              : situ_report_list(&r.text, name, SITU_REPORT_TABLE, &look, &r.error));
}

const command list_command = {
    .name = "list",
    .summary = "list solvers, readers, devices, built-in models, ...",
    .usage = "[TABLE]",
    .about =
        "Prints one of the tables of situ: solvers, readers, writers, costs, fusion, cost-engines, devices, links, "
        "models, bounds, engines or commands. Without TABLE, describes each of them.",
    .examples = "situ list solvers\nsitu list devices --json\n",
    .operand = "family",
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
