#include "problem/scope.h"

#include <stdlib.h>

static int32_t count_ruled(const situ_problem *p) {
  int32_t n = 0;
  for (int32_t v = 0; p->costs->ruled && v < p->n_operators; v++) {
    bool ruled = false;
    for (int32_t k = 0; k < p->n_classes; k++) ruled |= costs_is_ruled(p->costs, v, k);
    n += ruled;
  }
  return n;
}

/* A limit just below "never" only asks for both values (api/pareto.c). */
static bool limits(int64_t ns) { return ns < SITU_NEVER_NS - 1; }

void scope_find(scope *out, const situ_problem *p, int32_t form) {
  bool pipeline = p->execution == SITU_EXECUTION_PIPELINE;
  *out = (scope){.problem = p, .form = form};
  int32_t *n = out->amount;
  n[SCOPE_OPERATORS] = p->n_operators > 0 ? p->n_operators : 1;
  n[SCOPE_GRANULARITY] = p->keeps_given;
  n[SCOPE_KERNELS] = p->keeps_kernels;
  n[SCOPE_COLOCATION] = p->given->n_colocations;
  n[SCOPE_ACTIVATIONS] = p->given->made_training;
  n[SCOPE_RULES] = count_ruled(p);
  for (int32_t v = 0; v < p->n_operators; v++) n[SCOPE_PINS] += p->pin[v] >= 0;
  for (int32_t d = 0; d < p->n_devices; d++) n[SCOPE_UNUSED] += p->unused[d];
  n[SCOPE_RESERVE] = p->costs->reserved_bytes > 0;
  n[SCOPE_CALLS] = p->max_calls < INT32_MAX ? p->max_calls : 0;
  n[SCOPE_CONTIGUOUS] = pipeline && p->contiguous;
  n[SCOPE_REPLICAS] = pipeline && !p->replicate;
  n[SCOPE_LIMIT] = limits(p->max_period_ns) + limits(p->max_latency_ns) + (p->secondary != NULL);
  n[SCOPE_FORM] = form != 0;
  n[SCOPE_OVERLAP] = p->overlap != SITU_OVERLAP_FULL;
  n[SCOPE_CONTENTION] = p->execution == SITU_EXECUTION_STREAM && p->contention == SITU_CONTENTION_NONE;
  for (int32_t d = 0; d < p->n_devices && p->execution == SITU_EXECUTION_CALLS; d++)
    n[SCOPE_HOSTS] += p->platform->devices[d].is_host && !p->unused[d];
  n[SCOPE_OFFLOAD] = p->costs->offloads;
  n[SCOPE_COPIES] = p->n_copies > 1 ? p->n_copies : 0;
}

const char *scope_name(scope_code code) {
  static const char *const names[SCOPE_CODES] = {"operators",  "granularity", "kernels", "colocation", "activations",
                                                 "rules",      "pins",        "unused",  "reserve",    "calls",
                                                 "contiguous", "replicas",    "limit",   "form",       "overlap",
                                                 "contention", "hosts",       "offload", "copies"};
  return (unsigned)code < SCOPE_CODES ? names[code] : "unknown";
}

const char *scope_text(arena *a, const situ_problem *problem) {
  text_buffer t = {0};
  scope of;
  scope_find(&of, problem, 0);
  scope_add_plans(&t, &of);
  scope_add_machine(&t, &of);
  char *text = text_take(&t);
  const char *kept = text ? arena_string(a, text) : NULL;
  free(text);
  return kept;
}
