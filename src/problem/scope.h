/* problem/scope.h - the scope of a proof: which plans a bound, "optimal", "infeasible" and "impossible" speak of. Every
 * output that says one of these says the scope beside it. */
#ifndef SITU_PROBLEM_SCOPE_H
#define SITU_PROBLEM_SCOPE_H

#include "base/text.h"
#include "problem/problem.h"

/* Up to SCOPE_LIMIT what narrows the space of plans, in the order in which it is stated; then what the plan alone
 * keeps, while the bound holds without it; then what the model of the machine assumes. */
typedef enum scope_code {
  SCOPE_OPERATORS = 0, /* every operator is whole on one device, or split over one group of devices: always */
  SCOPE_GRANULARITY,   /* layers, blocks, groups of rules or of the caller stay together */
  SCOPE_KERNELS,       /* what the costs count as one kernel */
  SCOPE_COLOCATION,    /* colocation groups of the graph */
  SCOPE_ACTIVATIONS,   /* of a training step that situ made: what it keeps of them */
  SCOPE_RULES,         /* rules keep operators off devices */
  SCOPE_PINS,
  SCOPE_UNUSED,
  SCOPE_RESERVE, /* memory that rules keep free */
  SCOPE_CALLS,
  SCOPE_CONTIGUOUS,
  SCOPE_REPLICAS, /* there are none */
  SCOPE_LIMIT,    /* on period, latency, or time by secondary costs */
  SCOPE_FORM,
  SCOPE_OVERLAP,
  SCOPE_CONTENTION,
  SCOPE_HOSTS,   /* calls: a host runs any number of operators at once */
  SCOPE_OFFLOAD, /* an accelerator computes products of many tokens for hosts */
  SCOPE_COPIES
} scope_code;
enum { SCOPE_CODES = SCOPE_COPIES + 1 };

typedef struct scope {
  const situ_problem *problem; /* borrowed */
  int32_t form;                /* of the plan: situ_form, 0 for any */
  int32_t amount[SCOPE_CODES]; /* how many operators, groups, devices, ... it concerns; 0: it does not hold */
} scope;

/* O(operators * classes + devices). `form` is that of the plan, if there is one. */
void scope_find(scope *out, const situ_problem *problem, int32_t form);

/* "operators", "granularity", ...: stable names for programs (docs/formats/json.md); static storage. */
const char *scope_name(scope_code code);
/* Whether it excludes plans from what is proved. */
static inline bool scope_narrows(scope_code code) { return code <= SCOPE_LIMIT; }

/* One of them, in words: "keep layers whole", "overlap none". */
void scope_add_words(text_buffer *t, const scope *s, scope_code code);
/* All that narrows: "plans that keep every operator whole on one device and leave gpu1 unused", and the form. */
void scope_add_plans(text_buffer *t, const scope *s);
/* What the machine is taken to do, for outputs that tell it nowhere else: " (overlap none, 2 copies)"; nothing where
 * that is the default. */
void scope_add_machine(text_buffer *t, const scope *s);
/* Both, of any plan of the problem, in the arena; NULL without memory. */
const char *scope_text(arena *a, const situ_problem *problem);
/* The same as scope_add_plans of one plan, what is special first: "plan that leaves gpu1 unused and keeps every
 * operator whole on one device". */
void scope_add_plan(text_buffer *t, const scope *s);

#endif
