/* The scope in words. */
#include <stdlib.h>
#include <string.h>

#include "problem/scope.h"
#include "situ/plan.h"

enum { NAMED_DEVICES = 3 };

static const char *plural(int32_t n) { return n == 1 ? "" : "s"; }

/* "gpu0, gpu1 and gpu2", or "5 of 8 devices". */
static void add_unused(text_buffer *t, const situ_problem *p, int32_t n) {
  if (n > NAMED_DEVICES) {
    text_add(t, "%d of %d devices", (int)n, (int)p->n_devices);
    return;
  }
  for (int32_t d = 0, k = 0; d < p->n_devices; d++) {
    if (!p->unused[d]) continue;
    text_add(t, "%s%.64s", k == 0 ? "" : k == n - 1 ? " and " : ", ", p->platform->devices[d].name);
    k++;
  }
}

static void add_limit(text_buffer *t, const situ_problem *p) {
  char time[TEXT_UNIT_BYTES];
  const struct {
    const char *what;
    int64_t ns;
  } limits[] = {{"period", p->max_period_ns}, {"latency", p->max_latency_ns}, {p->secondary_name, p->max_secondary_ns}};
  const char *between = "";
  for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
    if (limits[k].ns >= SITU_NEVER_NS - 1) continue;
    text_add(t, "%s%s (%s)", between, limits[k].what, text_time(time, limits[k].ns));
    between = " and ";
  }
}

static void add_form(text_buffer *t, int32_t form) {
  static const struct {
    int32_t form;
    const char *words;
  } rows[] = {{SITU_FORM_LAYERS, "whole layers"},
              {SITU_FORM_RUNS, "consecutive layers on each device"},
              {SITU_FORM_NO_HOST, "no layer on a host"},
              {SITU_FORM_ONE_SERVER, "one server"},
              {SITU_FORM_ALIKE, "groups of one size"}};
  const char *between = ": ";
  text_add(t, "the form that its writers need");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (!(form & rows[k].form)) continue;
    text_add(t, "%s%s", between, rows[k].words);
    between = ", ";
  }
}

/* "every operator whole on one device", and where devices are groups, "every operator on one group of 4 or whole on one
 * device outside groups": nothing is proved of their members alone, nor of other shares. */
static void add_operators(text_buffer *t, const situ_platform *p) {
  int32_t members = 1, n_groups = 0;
  bool same = true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t n = p->devices[d].members;
    if (n < 2) continue;
    same = same && (members == 1 || members == n);
    members = n;
    n_groups++;
  }
  text_add(t, "every operator ");
  if (n_groups > 0) text_add(t, "on one group");
  if (p->uneven.device >= 0)
    for (int32_t i = 0; i < p->devices[p->uneven.device].members; i++)
      text_add(t, "%s%.4g", i == 0 ? " with shares " : ":", 100 * p->uneven.share[i]);
  else if (n_groups > 0 && same)
    text_add(t, " of %d", (int)members);
  if (n_groups < p->n_devices)
    text_add(t, "%s", n_groups == 0 ? "whole on one device" : " or whole on one device outside groups");
}

/* What a training step keeps for its backward pass. */
static void add_activations(text_buffer *t, const situ_graph *g) {
  if (g->n_recomputed == 0)
    text_add(t, "all activations");
  else if (g->n_recomputed == g->n_segments)
    text_add(t, "only the inputs of layers");
  else
    text_add(t, "only the inputs of %d of %d layers", (int)g->n_recomputed, (int)g->n_segments);
  if (g->n_tied > 0)
    text_add(t, " and %s tied embeddings", g->n_tied == 1 ? "both copies of" : "two copies of each of the");
}

/* What follows the verb. */
static void add_rest(text_buffer *t, const scope *s, scope_code code) {
  const situ_problem *p = s->problem;
  int32_t n = s->amount[code];
  char size[TEXT_UNIT_BYTES];
  switch (code) {
    case SCOPE_OPERATORS: add_operators(t, p->platform); return;
    case SCOPE_GRANULARITY: text_add(t, "%s whole", p->keep_name); return;
    case SCOPE_KERNELS: text_add(t, "kernels whole"); return;
    case SCOPE_COLOCATION: text_add(t, "%d colocation group%s together", (int)n, plural(n)); return;
    case SCOPE_ACTIVATIONS: add_activations(t, p->given); return;
    case SCOPE_RULES: text_add(t, "%d operator%s where rules allow", (int)n, plural(n)); return;
    case SCOPE_PINS:
      if (n == p->n_operators)
        text_add(t, "all %d operator%s pinned", (int)n, plural(n));
      else
        text_add(t, "%d of %d operators pinned", (int)n, (int)p->n_operators);
      return;
    case SCOPE_UNUSED:
      add_unused(t, p, n);
      text_add(t, " unused");
      return;
    case SCOPE_RESERVE: text_add(t, "%s free over all memories", text_size(size, p->costs->reserved_bytes)); return;
    case SCOPE_CALLS: text_add(t, "at most %d call%s on each accelerator", (int)n, plural(n)); return;
    case SCOPE_CONTIGUOUS: text_add(t, "each device one contiguous part"); return;
    case SCOPE_REPLICAS: text_add(t, "no replicas"); return;
    case SCOPE_LIMIT:
      text_add(t, "within the limit on ");
      add_limit(t, p);
      return;
    case SCOPE_FORM: add_form(t, s->form); return;
    case SCOPE_OVERLAP: text_add(t, "overlap %s", situ_overlap_name(p->overlap)); return;
    case SCOPE_CONTENTION: text_add(t, "links without contention"); return;
    case SCOPE_HOSTS: text_add(t, "hosts run independent operators at once"); return;
    case SCOPE_OFFLOAD: text_add(t, "a GPU computes products of many tokens for hosts"); return;
    case SCOPE_COPIES: text_add(t, "%d copies", (int)n); return;
  }
}

static const char *const verbs[SCOPE_LIMIT + 1] = {"keep",  "keep",  "keep", "keep", "keep", "keep", "keep",
                                                   "leave", "leave", "make", "give", "use",  "stay"};

void scope_add_words(text_buffer *t, const scope *s, scope_code code) {
  if (scope_narrows(code)) text_add(t, "%s ", verbs[code]);
  add_rest(t, s, code);
}

/* All that narrows, in the order of `codes`: "keep A, B and C". A verb stands once for those that follow each other. */
static void add_list(text_buffer *t, const scope *s, const scope_code *codes, int n, bool singular) {
  for (int i = 0; i < n; i++) {
    bool same = i > 0 && strcmp(verbs[codes[i]], verbs[codes[i - 1]]) == 0;
    text_add(t, "%s", i == 0 ? "" : i == n - 1 && (singular || !same) ? " and " : ", ");
    if (!same) text_add(t, "%s%s ", verbs[codes[i]], singular ? "s" : "");
    add_rest(t, s, codes[i]);
  }
}

void scope_add_plans(text_buffer *t, const scope *s) {
  scope_code codes[SCOPE_CODES];
  int n = 0;
  for (int k = 0; k <= SCOPE_LIMIT; k++)
    if (s->amount[k] > 0) codes[n++] = (scope_code)k;
  text_add(t, "plans that ");
  add_list(t, s, codes, n, false);
  if (s->amount[SCOPE_FORM] == 0) return;
  text_add(t, "; the plan, not the bound, has ");
  add_rest(t, s, SCOPE_FORM);
}

void scope_add_plan(text_buffer *t, const scope *s) {
  scope_code codes[SCOPE_CODES];
  int n = 0;
  for (int k = SCOPE_LIMIT; k > SCOPE_PINS; k--)
    if (s->amount[k] > 0) codes[n++] = (scope_code)k;
  for (int k = SCOPE_GRANULARITY; k <= SCOPE_PINS; k++)
    if (s->amount[k] > 0) codes[n++] = (scope_code)k;
  codes[n++] = SCOPE_OPERATORS;
  text_add(t, "plan that ");
  add_list(t, s, codes, n, true);
}

void scope_add_machine(text_buffer *t, const scope *s) {
  int n = 0;
  for (int k = SCOPE_OVERLAP; k < SCOPE_CODES; k++) {
    if (s->amount[k] == 0) continue;
    text_add(t, "%s", n++ == 0 ? " (" : ", ");
    add_rest(t, s, (scope_code)k);
  }
  if (n > 0) text_add(t, ")");
}
