#include "cli.h"

static const option_group *const groups[] = {&help_options, NULL};

static int run(arguments *a) {
  if (a->n_operands == 0) {
    help_tool(stdout);
    return EXIT_OK;
  }
  const command *c = command_find(a->operands[0]);
  if (!c) return command_unknown(a->operands[0]);
  print_help_of(stdout, c);
  return EXIT_OK;
}

const command help_command = {
    .name = "help",
    .summary = "show help for a command",
    .usage = "[COMMAND]",
    .about = "Shows the description, options and examples of a command; without COMMAND, the list of commands.",
    .examples = "situ help place\n",
    .operand = "command",
    .max_operands = 1,
    .groups = groups,
    .run = run,
};
