/* Shell completion, unfolded from the tables of commands and options: nothing is written twice. */
#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {&help_options, NULL};
static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* Prints the names of a table of the library, each between `before` and a blank. */
static void print_names(const char *family, const char *before) {
  char *text = NULL;
  situ_report_names(&text, family, NULL);
  for (const char *line = text ? text : ""; *line;) {
    int n = (int)strcspn(line, "\n");
    printf("%s%.*s ", before, n, line);
    line += n + (line[n] == '\n');
  }
  situ_text_free(text);
}

static bool takes_value(const option *o) { return o->kind != OPTION_ON && o->kind != OPTION_OFF; }

static void print_values(const option *o) {
  for (int i = 0; o->choices && o->choices[i]; i++) printf("%s ", o->choices[i]);
  if (o->family && strcmp(o->family, "devices") == 0) printf("this-host ");
  if (o->family && strcmp(o->family, "solvers") == 0) printf("auto ");
  if (o->family && strcmp(o->family, "file") != 0) print_names(o->family, "");
}

static void print_operands(const command *c) {
  const char *kind = c->operand ? c->operand : "";
  if (strcmp(kind, "model") == 0) print_names("models", "builtin:");
  for (int i = 0; strcmp(kind, "shell") == 0 && shells[i]; i++) printf("%s ", shells[i]);
  for (int i = 0; strcmp(kind, "command") == 0 && commands[i]; i++) printf("%s ", commands[i]->name);
  for (int i = 0; strcmp(kind, "family") == 0 && situ_report_family(i); i++) printf("%s ", situ_report_family(i));
  if (strcmp(kind, "family") == 0) printf("commands ");
}

static bool completes_files(const command *c) {
  return c->operand && (strcmp(c->operand, "model") == 0 || strcmp(c->operand, "file") == 0);
}

static void bash_values(const command *c) {
  printf("    case $before in\n");
  for (const option_group *const *g = c->groups; *g; g++)
    for (const option *o = (*g)->rows; o->name; o++) {
      if (!takes_value(o)) continue;
      printf("      --%s", o->name);
      if (o->letter) printf("|-%c", o->letter);
      printf(") words='");
      print_values(o);
      printf("'; files=%d ;;\n", o->family && (strcmp(o->family, "file") == 0 || strcmp(o->family, "devices") == 0));
    }
  printf("      *) words='");
  print_operands(c);
  for (const option_group *const *g = c->groups; *g; g++)
    for (const option *o = (*g)->rows; o->name; o++) printf("--%s ", o->name);
  printf("'; files=%d ;;\n    esac\n", completes_files(c));
}

static void bash(void) {
  printf(
      "# bash completion for situ; made by `situ completion bash`\n"
      "_situ() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= files=0\n"
      "  if type _get_comp_words_by_ref >/dev/null 2>&1; then\n"
      "    _get_comp_words_by_ref -n := -c word -p before\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n");
  for (int i = 0; commands[i]; i++) {
    printf("  %s)\n", commands[i]->name);
    bash_values(commands[i]);
    printf("    ;;\n");
  }
  printf("  *) words='");
  for (int i = 0; commands[i]; i++) printf("%s ", commands[i]->name);
  printf(
      "--help --version' ;;\n"
      "  esac\n"
      "  [ \"$COMP_CWORD\" -eq 1 ] && words='");
  for (int i = 0; commands[i]; i++) printf("%s ", commands[i]->name);
  printf(
      "--help --version' files=0\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  [ $files -eq 1 ] && COMPREPLY+=($(compgen -f -- \"$word\"))\n"
      "  type __ltrim_colon_completions >/dev/null 2>&1 && __ltrim_colon_completions \"$word\"\n"
      "  return 0\n"
      "}\n"
      "complete -o filenames -o bashdefault -F _situ situ\n");
}

/* A text inside single quotes, as the shells read it; `stop` is left out (zsh's brackets, colons). */
static void quoted(const char *text, const char *stop) {
  for (; *text; text++) {
    if (strchr(stop, *text)) continue;
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*text);
  }
}

static void zsh(void) {
  printf(
      "#compdef situ\n# zsh completion for situ; made by `situ completion zsh`\n_situ() {\n"
      "  local -a all=(\n");
  for (int i = 0; commands[i]; i++) {
    printf("    '%s:", commands[i]->name);
    quoted(commands[i]->summary, ":");
    printf("'\n");
  }
  printf(
      "  )\n  if (( CURRENT == 2 )); then _describe command all; return; fi\n"
      "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in\n");
  for (int i = 0; commands[i]; i++) {
    const command *c = commands[i];
    printf("  %s) _arguments", c->name);
    for (const option_group *const *g = c->groups; *g; g++)
      for (const option *o = (*g)->rows; o->name; o++) {
        printf(" \\\n    '%s--%s%s[", o->kind >= OPTION_DIM ? "*" : "", o->name, takes_value(o) ? "=" : "");
        quoted(o->about, "[]:");
        printf("]");
        if (takes_value(o) && o->family && strcmp(o->family, "file") == 0)
          printf(":file:_files");
        else if (takes_value(o)) {
          printf(":value:(");
          print_values(o);
          printf(")");
        }
        printf("'");
      }
    if (c->most_operands > 0) {
      printf(" \\\n    '1:argument:");
      if (completes_files(c)) {
        printf("{compadd -- ");
        print_operands(c);
        printf("; _files}'");
      } else {
        printf("(");
        print_operands(c);
        printf(")'");
      }
    }
    printf(" ;;\n");
  }
  printf("  esac\n}\n_situ \"$@\"\n");
}

static void fish_option(const command *c, const option *o) {
  printf("complete -c situ -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (o->letter) printf(" -s %c", o->letter);
  bool file = o->family && (strcmp(o->family, "file") == 0 || strcmp(o->family, "devices") == 0);
  if (takes_value(o)) {
    printf(file ? " -r -F -a '" : " -x -a '");
    print_values(o);
    printf("'");
  }
  printf(" -d '");
  quoted(o->about, "");
  printf("'\n");
}

static void fish(void) {
  printf("# fish completion for situ; made by `situ completion fish`\n");
  for (int i = 0; commands[i]; i++) {
    const command *c = commands[i];
    printf("complete -c situ -n __fish_use_subcommand %s -a %s -d '", "-f", c->name);
    quoted(c->summary, "");
    printf("'\n");
    if (c->operand && strcmp(c->operand, "file") != 0) {
      printf("complete -c situ -n '__fish_seen_subcommand_from %s' %s-a '", c->name, completes_files(c) ? "" : "-f ");
      print_operands(c);
      printf("'\n");
    }
    for (const option_group *const *g = c->groups; *g; g++)
      for (const option *o = (*g)->rows; o->name; o++) fish_option(c, o);
  }
}

static int run(arguments *a) {
  const char *shell = a->operands[0];
  if (strcmp(shell, "bash") == 0)
    bash();
  else if (strcmp(shell, "zsh") == 0)
    zsh();
  else if (strcmp(shell, "fish") == 0)
    fish();
  else
    return fail_usage("there is no completion for %s; expected bash, zsh or fish", shell);
  return EXIT_OK;
}

const command completion_command = {
    .name = "completion",
    .summary = "print a completion script for bash, zsh or fish",
    .usage = "bash|zsh|fish",
    .about =
        "Prints a script that completes commands, options, built-in models, solvers and devices. `make install` "
        "puts the scripts where the shells look for them.",
    .examples = "situ completion bash\n",
    .operand = "shell",
    .least_operands = 1,
    .most_operands = 1,
    .groups = groups,
    .run = run,
};
