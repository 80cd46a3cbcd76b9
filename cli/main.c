/* The entry point of the tool: finds the command in the table and runs it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "console.h"

#define ADDRESS(NAME) &NAME##_command,
const command *const commands[] = {COMMAND_ROWS(ADDRESS) NULL};

const command *command_find(const char *name) {
  for (const command *const *c = commands; *c; c++)
    if (strcmp((*c)->name, name) == 0) return *c;
  return NULL;
}

int command_unknown(const char *word) {
  const char *names[32];
  int n = 0;
  for (; commands[n] && n < 32; n++) names[n] = commands[n]->name;
  bool is_option = word[0] == '-';
  const char *kind = is_option ? "option" : "command", *close = is_option ? NULL : situ_nearest_name(word, names, n);
  if (strcmp(word, "version") == 0) close = "--version";
  if (close) return fail_usage("there is no %s %s; did you mean `situ %s`?", kind, word, close);
  return fail_usage("there is no %s %s; `situ --help` lists the commands", kind, word);
}

/* Rejects options before the command, which some other tools require there. */
static int options_first(char **words, int n) {
  for (int i = 1; i < n; i++)
    if (command_find(words[i])) return fail_usage("options go after the command: `situ %s ... %s`", words[i], words[0]);
  return command_unknown(words[0]);
}

/* Runs the command, alone or as one of the processes that mpirun started; all of them stay until the last is done. */
static int carry_out(const command *c, arguments *a) {
  situ_error error;
  if (c->ranks && situ_ranks_open(&a->solve.ranks, &error) != SITU_STATUS_OK) return fail_reading(&error);
  situ_ranks_summary ranks = ranks_summary(a);
  if (ranks.own > 0) be_silent(a, ranks.own);
  int code = finish(c->run(a));
  int lost = (int)ranks_summary(a).lost;
  if (ranks.own == 0 && lost > 0)
    fprintf(stderr, "situ: %d of %d ranks %s lost; the others continued\n", lost, ranks.count,
            lost > 1 ? "were" : "was");
  situ_ranks_free(a->solve.ranks);
  return code;
}

int main(int argc, char **argv) {
  argv = console_begin(argc, argv);
  options_load();
  if (argc < 2) {
    help_tool(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    help_tool(stdout);
    return finish(EXIT_OK);
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("situ %s\n", situ_version());
    return finish(EXIT_OK);
  }
  const command *c = command_find(argv[1]);
  if (!c) return argv[1][0] == '-' ? options_first(argv + 1, argc - 1) : command_unknown(argv[1]);
  arguments *a = calloc(1, sizeof *a);
  if (!a) return fail_reading(&(situ_error){.status = SITU_STATUS_NO_MEMORY, .text = "out of memory"});
  arguments_init(a);
  if (c->defaults) c->defaults(a);
  int code = arguments_parse(a, c, argc - 2, argv + 2);
  if (code == EXIT_OK && a->help)
    print_help_of(stdout, c);
  else if (code == EXIT_OK && (code = take_standard_input(a)) == EXIT_OK)
    code = carry_out(c, a);
  free(a);
  return finish(code);
}
