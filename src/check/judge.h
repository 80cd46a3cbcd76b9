/* check/judge.h - the judge's notebook: the plan and problem, the violations found, and the rules of every execution
 * model.
 *
 * The checker includes nothing of simulators and solvers: it recomputes everything from docs/model.md, in the simplest
 * way that takes at most O((V + E) log (V + E)). */
#ifndef SITU_CHECK_JUDGE_H
#define SITU_CHECK_JUDGE_H

#include "plan/plan.h"

enum { CHECK_KEPT = 100 };

struct situ_verdict {
  arena *arena; /* holds that of the plan */
  const situ_plan *plan;
  situ_violation kept[CHECK_KEPT];
  int32_t n_kept;
  int64_t n_found;
  bool failed;                    /* memory ran out */
  int64_t claimed_ns;             /* the lower bound of the plan */
  int64_t verified_ns;            /* the part of its claim that the certificate proves */
  unsigned recomputed, unchecked; /* CLAIM_...: what was recomputed, and what could not be */
  const int64_t *engine_bytes;    /* [device] what the engine says that the plan takes, -1: nothing; NULL: not asked */
  const char *certificate, *unverified; /* its kind; why the lower bound was not verified; "", static storage */
};

/* What a plan says of other plans, and of itself under secondary costs. */
enum { CLAIM_BEST_FOUND = 1, CLAIM_UNRESTRICTED = 2, CLAIM_ROBUSTNESS = 4 };

/* One judgement. Devices of the plan are in range when a model's part is called. */
typedef struct judge {
  const situ_problem *problem;
  const situ_graph *graph;
  const situ_platform *platform;
  const situ_plan *plan;
  situ_verdict *verdict;
  arena *scratch;
  const char *of;                  /* NULL, or the claim whose plan is judged, for messages */
  const int64_t *recomputed_bytes; /* [operator] that the recomputation of its segment keeps beside it */
} judge;

/* What the costs say: the time of operator v on device d, and of tensor t from one memory to another. */
static inline int64_t judge_time_ns(const judge *j, int32_t v, int32_t d) {
  const situ_costs *c = j->problem->costs;
  return c->time_ns[(int64_t)v * c->n_classes + j->platform->class_of[d]];
}
static inline int64_t judge_transfer_ns(const judge *j, int32_t t, int32_t from, int32_t to) {
  const situ_costs *c = j->problem->costs;
  return c->transfer_ns[t][c->pair_kind[(int64_t)from * c->n_memories + to]];
}

/* Claims as members of a plan file, with commas between; "" for none. */
const char *judge_claims(unsigned claims);
/* Notes a violation. `rule` is static storage. */
void judge_note(judge *j, const char *rule, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Compares the plan's use of devices and memories with the recomputed load_ns[device] and memory_bytes[memory], and
 * each memory with its limit. */
void judge_uses(judge *j, const int64_t *load_ns, const int64_t *memory_bytes);
/* Notes that a claim, which the plan has, was recomputed or could not be. */
void judge_claim(judge *j, unsigned claim, bool recomputed);
/* Bytes of the tensors that operator v reads and writes, with its workspace; saturates. */
int64_t judge_footprint(const situ_graph *g, int32_t v);
/* What an operator takes while it runs; in a pipeline that trains with what is recomputed, and without what is kept;
 * saturates. */
int64_t judge_running_bytes(const judge *j, int32_t v);
/* Fills recomputed_bytes. False without memory. */
bool judge_find_recomputed(judge *j);
/* Whether a copy makes tensor t for an operator that is none. */
bool judge_is_handed_on(const situ_graph *g, int32_t t);
/* Compares the value. */
void judge_value(judge *j, int64_t value_ns);

#endif
