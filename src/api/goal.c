#include "api/goal.h"

#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "base/text.h"
#include "read/reader.h"

static const int64_t MAX_GOAL_NS = 1000000000000000000;

situ_status goal_read(goal *out, const char *text, arena *a, situ_error *error) {
  static const struct {
    const char *words;
    goal_kind kind;
  } kinds[] = {{"latency<=", GOAL_LATENCY}, {"period<=", GOAL_PERIOD}, {"tokens/s>=", GOAL_TOKENS}};
  static const struct {
    const char *name;
    int power; /* of ten, in ns */
  } units[] = {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}};
  char bare[64];
  *out = (goal){0};
  size_t n = 0;
  for (const char *c = text; *c && n + 1 < sizeof bare; c++)
    if (!ascii_is_space(*c)) bare[n++] = *c;
  bare[n] = '\0';
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    size_t length = strlen(kinds[k].words);
    if (strncmp(bare, kinds[k].words, length) != 0) continue;
    double number = 0;
    const char *unit = text_scan_number(bare + length, &number);
    bool tokens = kinds[k].kind == GOAL_TOKENS, good = tokens && unit && !*unit;
    for (size_t u = 0; unit && !tokens && u < sizeof units / sizeof *units; u++)
      if (strcmp(unit, units[u].name) == 0) good = text_scan_int(bare + length, units[u].power, &out->limit_ns);
    if (tokens) out->tokens_per_s = number;
    out->kind = kinds[k].kind;
    out->text = arena_string(a, bare);
    if (good && number > 0 && number < 1e18 && out->limit_ns < MAX_GOAL_NS)
      return out->text ? SITU_STATUS_OK : fail_no_memory(error);
  }
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                   "goal \"%.60s\": expected one such as latency<=50ms, period<=2ms or tokens/s>=20%s", text,
                   strpbrk(text, "<>") ? "" : ", in quotes, or the shell takes < and > for files");
}

bool goal_meets(const goal *g, double tokens, int64_t value_ns) {
  if (value_ns == SITU_NEVER_NS) return false;
  if (g->kind == GOAL_NONE) return true;
  return g->kind == GOAL_TOKENS ? g->tokens_per_s * (double)value_ns <= 1e9 * tokens : value_ns <= g->limit_ns;
}

situ_status goal_take_objective(const goal *g, situ_problem_options *problem, situ_error *error) {
  situ_objective wanted = g->kind == GOAL_LATENCY  ? SITU_OBJECTIVE_LATENCY
                          : g->kind == GOAL_PERIOD ? SITU_OBJECTIVE_THROUGHPUT
                                                   : problem->objective;
  if (problem->objective == SITU_OBJECTIVE_DEFAULT) problem->objective = wanted;
  if (problem->objective == wanted) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the goal %s contradicts the objective %s", g->text,
                   situ_objective_name(problem->objective));
}

double goal_tokens(const situ_instance *i) {
  const read_steps *s = &i->model->steps;
  int decoding = s->prefill_first ? 1 : 0;
  if (!s->other || i->problem->n_copies > 1) return 0;
  if (s->repeats[decoding] == 0) decoding = 1 - decoding;
  return s->tokens[decoding] * (double)s->repeats[decoding];
}
