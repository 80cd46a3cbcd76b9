#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static bool is_word(const char *word, const char *text, size_t n) {
  return word && strlen(word) == n && strncmp(word, text, n) == 0;
}

/* By its name of n bytes, or by its letter unless that is 0. An earlier name yields to the current name of another. */
static const option *find_option(const command *c, const char *name, size_t n, char letter) {
  const option *renamed = NULL;
  for (const option_group *const *g = c->groups; *g; g++)
    for (const option *o = (*g)->rows; o->name; o++) {
      if (letter ? o->letter == letter : is_word(o->name, name, n)) return o;
      if (!letter && is_word(o->old, name, n)) renamed = o;
    }
  return renamed;
}

static bool is_row_of(const option_group *g, const option *row) {
  for (const option *o = g->rows; o->name; o++)
    if (o == row) return true;
  return false;
}

/* Whether one of the words between blanks is this one. */
static bool has_word(const char *words, const char *word) {
  size_t n = strlen(word);
  for (const char *at = words; at && *at; at += strcspn(at, " "), at += *at == ' ')
    if (strcspn(at, " ") == n && strncmp(at, word, n) == 0) return true;
  return false;
}

static int unknown_option(const command *c, const char *word) {
  const char *names[128], *close;
  int n = 0;
  for (const option_group *const *g = c->groups; *g; g++)
    for (const option *o = (*g)->rows; o->name && n < 128; o++) names[n++] = o->name;
  char bare[64];
  snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + strspn(word, "-"), "="), word + strspn(word, "-"));
  close = situ_nearest_name(bare, names, n);
  for (const option_group *const *g = c->groups; *g; g++)
    for (const option *o = (*g)->rows; o->name; o++)
      if (has_word(o->also, bare)) close = o->name;
  if (close) return fail_usage("%s has no option %s; did you mean --%s?", c->name, word, close);
  return fail_usage("%s has no option %s; `situ %s --help` lists its options", c->name, word, c->name);
}

static int bad_value(const option *o, const char *value, const char *expected) {
  return fail_usage("--%s %s: expected %s", o->name, value, expected);
}

/* "latency or throughput" */
static const char *choices_text(const option *o, char into[256]) {
  into[0] = '\0';
  for (int i = 0; o->choices[i]; i++) {
    size_t n = strlen(into);
    snprintf(into + n, 256 - n, "%s%s", i == 0 ? "" : o->choices[i + 1] ? ", " : " or ", o->choices[i]);
  }
  return into;
}

static int set_choice(const option *o, int *field, const char *value) {
  char list[256];
  for (int i = 0; o->choices[i]; i++) {
    if (strcmp(o->choices[i], value) != 0) continue;
    *field = (int)o->min + i;
    return EXIT_OK;
  }
  return bad_value(o, value, choices_text(o, list));
}

static bool whole(const char *text, long long *out) {
  char *end;
  errno = 0;
  *out = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == '\0';
}

static int set_whole(const option *o, void *field, const char *value) {
  long long number, most = o->kind != OPTION_SMALL ? INT64_MAX : o->max > 0 ? (long long)o->max : INT32_MAX;
  char expected[64];
  bool read = whole(value, &number), large = read ? number > most : errno == ERANGE && number > 0;
  snprintf(expected, sizeof expected, "a whole number, at %s %lld", large ? "most" : "least", large ? most : o->min);
  if (!read || large || number < o->min) return bad_value(o, value, expected);
  if (o->kind == OPTION_SMALL)
    *(int32_t *)field = (int32_t)number;
  else
    *(int64_t *)field = number;
  return EXIT_OK;
}

static int set_seed(const option *o, uint64_t *field, const char *value) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(value, &end, 10);
  if (end == value || *end || value[0] == '-') return bad_value(o, value, "a whole number, at least 0");
  if (errno) return bad_value(o, value, "a whole number, at most 18446744073709551615");
  *field = number;
  return EXIT_OK;
}

static bool real(const char *text, double max, double *out) {
  char *end;
  errno = 0;
  *out = strtod(text, &end);
  return errno == 0 && end != text && *end == '\0' && *out > 0 && *out <= max;
}

static int set_real(const option *o, double *field, const char *value) {
  char expected[64];
  double number;
  bool seconds = o->value && strcmp(o->value, "SECONDS") == 0;
  snprintf(expected, sizeof expected, "a number%s above 0, at most %g", seconds ? " of seconds" : "", o->max);
  if (!real(value, o->max, &number)) return bad_value(o, value, expected);
  *field = number;
  return EXIT_OK;
}

static int set_percent(const option *o, double *field, const char *value) {
  char *end, expected[64];
  errno = 0;
  double number = strtod(value, &end);
  snprintf(expected, sizeof expected, "a percentage from 0 to %g", o->max);
  if (errno || end == value || *end || !(number >= 0) || number > o->max) return bad_value(o, value, expected);
  *field = number / 100;
  return EXIT_OK;
}

/* Milliseconds, or a time with its unit, kept as whole nanoseconds, at least 1. */
static int set_ms(const option *o, int64_t *field, const char *value) {
  static const struct {
    const char *name;
    double ms;
  } units[] = {{"ns", 1e-6}, {"us", 1e-3}, {"ms", 1}, {"s", 1e3}};
  char *end, expected[96], number[64];
  double ms, scale = 1;
  (void)strtod(value, &end);
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    if (end > value && strcmp(end, units[u].name) == 0) scale = units[u].ms;
  snprintf(expected, sizeof expected, "a time above 0 in milliseconds, or with a unit, as in 500us; at most %g ms",
           o->max);
  if (*end && scale == 1 && strcmp(end, "ms") != 0) return bad_value(o, value, expected);
  snprintf(number, sizeof number, "%.*s", (int)(end - value), value);
  if ((size_t)(end - value) >= sizeof number || !real(number, o->max, &ms)) return bad_value(o, value, expected);
  ms *= scale;
  if (ms > o->max) return bad_value(o, value, expected);
  *field = ms < 1e-6 ? 1 : (int64_t)(ms * 1e6 + 0.5);
  return EXIT_OK;
}

/* Splits NAME=REST; false when there is no name or no '='. */
static bool split(const char *value, char name[MAX_NAME_BYTES], const char **rest) {
  const char *equals = strchr(value, '=');
  if (!equals || equals == value || equals - value >= MAX_NAME_BYTES || !equals[1]) return false;
  memcpy(name, value, (size_t)(equals - value));
  name[equals - value] = '\0';
  *rest = equals + 1;
  return true;
}

static int add_dim(arguments *a, const option *o, const char *value) {
  const char *rest;
  long long number;
  int n = a->read.n_dims;
  if (n == MAX_DIMS) return fail_usage("--dim: at most %d dimensions", (int)MAX_DIMS);
  if (!split(value, a->dim_names[n], &rest) || !whole(rest, &number) || number < 0)
    return bad_value(o, value, "NAME=VALUE with a whole number, as in batch=8");
  a->dims[n] = (situ_dim){a->dim_names[n], number};
  a->read.dims = a->dims;
  a->read.n_dims = n + 1;
  return EXIT_OK;
}

static int add_write(arguments *a, const option *o, const char *value) {
  if (a->n_writes == MAX_WRITES) return fail_usage("--write: at most %d files", (int)MAX_WRITES);
  write_request *w = &a->writes[a->n_writes];
  if (!split(value, w->name, &w->path)) return bad_value(o, value, "NAME=FILE, as in trace=out.json");
  a->n_writes++;
  return EXIT_OK;
}

/* A path of --rules, or short forms as the library takes them: "reserve gpu0=1GiB". */
static int add_rule(arguments *a, const option *o, const char *value) {
  for (const char *at = value, *end; at; at = *end ? end + 1 : NULL) {
    int32_t n = a->instance.n_rules;
    bool is_path = o->kind == OPTION_RULES;
    char left[MAX_NAME_BYTES], *words = a->rule_words[n % MAX_NAMES];
    const char *right;
    end = is_path ? at + strlen(at) : at + strcspn(at, ",");
    if (n == MAX_NAMES) return fail_usage("--%s: at most %d rules", o->name, (int)MAX_NAMES);
    snprintf(words, sizeof a->rule_words[0], "%s %.*s", o->name, (int)(end - at), at);
    bool pair = !is_path && strchr(o->value, '=');
    if (pair && (end - at >= MAX_NAME_BYTES || !split(strchr(words, ' ') + 1, left, &right)))
      return bad_value(o, value, o->value);
    a->rules[n] = is_path ? value : words;
    a->instance.n_rules = n + 1;
    a->instance.rules = a->rules;
  }
  return EXIT_OK;
}

/* One more table of costs. */
static int add_table(arguments *a, const char *value) {
  size_t n = strlen(a->cost_tables);
  if (n + strlen(value) + 2 > sizeof a->cost_tables) return fail_usage("--cost-table: the paths are too long");
  snprintf(a->cost_tables + n, sizeof a->cost_tables - n, "%s%s", n > 0 ? "," : "", value);
  a->cost.table_path = a->cost_tables;
  return EXIT_OK;
}

static int set_option(arguments *a, const option *o, const char *value) {
  void *field = (char *)a + o->offset;
  if (field == &a->cost.table_path) return add_table(a, value);
  switch (o->kind) {
    case OPTION_ON: *(bool *)field = true; return EXIT_OK;
    case OPTION_OFF: *(bool *)field = false; return EXIT_OK;
    case OPTION_TEXT: *(const char **)field = value; return EXIT_OK;
    case OPTION_CHOICE: return set_choice(o, field, value);
    case OPTION_WHOLE:
    case OPTION_SMALL: return set_whole(o, field, value);
    case OPTION_SEED: return set_seed(o, field, value);
    case OPTION_PERCENT: return set_percent(o, field, value);
    case OPTION_REAL: return set_real(o, field, value);
    case OPTION_MS: return set_ms(o, field, value);
    case OPTION_DIM: return add_dim(a, o, value);
    case OPTION_WRITE: return add_write(a, o, value);
    case OPTION_UNUSED:
      if (a->instance.n_unused == MAX_NAMES) return fail_usage("--unused: at most %d devices", (int)MAX_NAMES);
      a->unused[a->instance.n_unused++] = value;
      a->instance.unused = a->unused;
      return EXIT_OK;
    case OPTION_RULES:
    case OPTION_RULE: return add_rule(a, o, value);
    case OPTION_PLATFORM:
      if (a->n_platforms == MAX_PLATFORMS) return fail_usage("--platform: at most %d platforms", (int)MAX_PLATFORMS);
      a->platforms[a->n_platforms++] = value;
      return EXIT_OK;
  }
  return EXIT_INTERNAL;
}

/* One word that begins with '-'; may take the next as its value. */
static int parse_option(arguments *a, const command *c, int argc, char **argv, int *at) {
  const char *word = argv[*at], *value = NULL;
  const option *o;
  if (word[1] == '-') {
    size_t n = strcspn(word + 2, "=");
    o = find_option(c, word + 2, n, 0);
    if (word[2 + n] == '=') value = word + 3 + n;
  } else {
    o = find_option(c, NULL, 0, word[1]);
    if (word[2]) value = word + 2;
  }
  if (!o) return unknown_option(c, word);
  bool takes = o->kind != OPTION_ON && o->kind != OPTION_OFF;
  if (!takes && value) return fail_usage("--%s takes no value", o->name);
  if (takes && !value) {
    char list[256];
    if (*at + 1 >= argc)
      return fail_usage("--%s needs a value: %s", o->name, o->choices ? choices_text(o, list) : o->value);
    value = argv[++*at];
  }
  if (takes && !*value) return fail_usage("--%s: the value is empty", o->name);
  a->describes |= is_row_of(&model_options, o) || is_row_of(&problem_options, o);
  return set_option(a, o, value);
}

void arguments_init(arguments *a) {
  *a = (arguments){.instance = SITU_INSTANCE_OPTIONS_INIT,
                   .read = SITU_READ_OPTIONS_INIT,
                   .cost = SITU_COST_OPTIONS_INIT,
                   .problem = SITU_PROBLEM_OPTIONS_INIT,
                   .solve = SITU_SOLVE_OPTIONS_INIT,
                   .learn = SITU_LEARN_OPTIONS_INIT,
                   .measure = SITU_MEASURE_OPTIONS_INIT,
                   .profile = SITU_PROFILE_OPTIONS_INIT,
                   .run = SITU_RUN_OPTIONS_INIT,
                   .race = SITU_RACE_OPTIONS_INIT,
                   .size = SITU_SIZE_OPTIONS_INIT,
                   .fit = SITU_FIT_OPTIONS_INIT,
                   .staging = SITU_STAGING_OPTIONS_INIT,
                   .serving = SITU_SERVING_OPTIONS_INIT,
                   .judge = SITU_JUDGE_OPTIONS_INIT};
  a->profile.measure = a->run.measure = &a->measure;
  a->profile.read = &a->read;
  a->race.run = &a->run;
  a->instance.read = &a->read;
  a->instance.cost = &a->cost;
  a->instance.problem = &a->problem;
}

/* Some give a platform as a second argument. */
static int one_too_many(const command *c, const char *word) {
  bool platform = find_option(c, "platform", strlen("platform"), 0) != NULL;
  return fail_usage("%s: unexpected argument `%s`; usage: situ %s %s%s", c->name, word, c->name, c->usage,
                    platform ? " --platform PLATFORM" : "");
}

/* A word with a blank in it that no '=' precedes is no option: the options of another program, in quotes. */
static bool is_text(const char *word) {
  const char *blank = strchr(word, ' ');
  return blank && !memchr(word, '=', (size_t)(blank - word));
}

int arguments_parse(arguments *a, const command *c, int argc, char **argv) {
  bool options = true;
  for (int i = 0; i < argc; i++) {
    if (options && strcmp(argv[i], "--") == 0) {
      options = false;
    } else if (options && argv[i][0] == '-' && argv[i][1] && !(c->quotes && is_text(argv[i]))) {
      int code = parse_option(a, c, argc, argv, &i);
      if (code != EXIT_OK) return code;
    } else if (a->n_operands == c->max_operands || a->n_operands == MAX_OPERANDS) {
      return one_too_many(c, argv[i]);
    } else if (!*argv[i]) {
      return fail_usage("%s: an argument is empty; usage: situ %s %s", c->name, c->name, c->usage);
    } else {
      a->operands[a->n_operands++] = argv[i];
    }
  }
  if (!a->help && a->n_operands < c->min_operands)
    return fail_usage("%s needs %s; `situ %s --help` shows examples", c->name, c->usage, c->name);
  return EXIT_OK;
}
