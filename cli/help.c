#include <string.h>

#include "cli.h"

enum { HELP_COLUMNS = 80, SPELLING_COLUMNS = 27 };

/* Prints words from `column` on, broken before HELP_COLUMNS, later lines indented. */
static void wrapped(FILE *to, const char *text, int column, int indent) {
  bool start = true;
  while (*text) {
    if (*text == '\n') {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
      start = true;
      text++;
      continue;
    }
    int n = (int)strcspn(text, " \n");
    if (!start && column + 1 + n > HELP_COLUMNS) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
      start = true;
    }
    fprintf(to, "%s%.*s", start ? "" : " ", n, text);
    column += n + !start;
    start = false;
    text += n;
    while (*text == ' ') text++;
  }
  fputc('\n', to);
}

/* "-o, --output PLAN.json", "--objective latency|throughput". */
static void spell(char *into, size_t n, const option *o) {
  char choices[128] = "";
  for (int i = 0; o->choices && o->choices[i]; i++) {
    size_t used = strlen(choices);
    snprintf(choices + used, sizeof choices - used, "%s%s", i ? "|" : "", o->choices[i]);
  }
  const char *value = o->choices ? choices : o->value ? o->value : "";
  char letter[8] = "";
  if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
  snprintf(into, n, "%s--%s%s%s", letter, o->name, *value ? " " : "", value);
}

static void show_group(FILE *to, const option_group *g) {
  fprintf(to, "\n%s:\n", g->title);
  for (const option *o = g->rows; o->name; o++) {
    char spelling[256];
    spell(spelling, sizeof spelling, o);
    fprintf(to, "  %-*s", SPELLING_COLUMNS - 2, spelling);
    if (strlen(spelling) > SPELLING_COLUMNS - 4) fprintf(to, "\n%*s", SPELLING_COLUMNS, "");
    wrapped(to, o->about, SPELLING_COLUMNS, SPELLING_COLUMNS);
  }
}

void print_help_of(FILE *to, const command *c) {
  fprintf(to, "usage: situ %s%s%s [OPTION...]\n\n", c->name, *c->usage ? " " : "", c->usage);
  wrapped(to, c->about, 0, 0);
  for (const option_group *const *g = c->groups; *g; g++) show_group(to, *g);
  fprintf(to, "\nExamples:\n");
  for (const char *line = c->examples; *line;) {
    int n = (int)strcspn(line, "\n");
    fprintf(to, "  %.*s\n", n, line);
    line += n + (line[n] == '\n');
  }
}

void help_tool(FILE *to) {
  fputs(
      "usage: situ COMMAND [ARGUMENT...] [OPTION...]\n\n"
      "Decides which device runs each operator of a neural network, and proves how\n"
      "good that is.\n\n"
      "Commands:\n",
      to);
  for (const command *const *c = commands; *c; c++) fprintf(to, "  %-12s%s\n", (*c)->name, (*c)->summary);
  fputs(
      "\n"
      "MODEL is a file (ONNX, OpenVINO IR, workload JSON, ...: situ list readers), - for\n"
      "standard input, or a built-in network, builtin:NAME?key=value&... (situ list\n"
      "models). A platform is a combination of known devices, such as cpu+2*a100-80g\n"
      "(situ list devices), this-host, or a platform file.\n\n"
      "Exit codes: 0 success, 2 usage, 3 bad input, 4 proved that no plan exists, 5 no\n"
      "plan within the limits, 6 an output could not be written, 7 check found\n"
      "violations, 8 an engine is missing or failed, 9 more is guessed than --strict\n"
      "allows, 130 interrupted (Ctrl-C, SIGTERM, SIGHUP) before a plan was found, 70 a\n"
      "defect of situ.\n\n"
      "Examples:\n"
      "  situ place builtin:inception-v3 --platform 'cpu+2*v100-16g'\n"
      "  situ compare builtin:bert-base --time-limit 1\n"
      "  situ COMMAND --help\n",
      to);
}
