/* attack_model.h - docs/model.md once more: the value of a placement, and the best of all placements by counting. */
#ifndef SITU_ATTACK_MODEL_H
#define SITU_ATTACK_MODEL_H

#include "attack_problem.h"

/* What follows from a problem before anything is placed. A memory has the number of its first device in order, as in
 * situ_platform_summary.n_memories. */
typedef struct attack_facts {
  const attack_problem *p;
  int32_t n_memories, n_channels, n_pools;
  int32_t memory_of[MAX_DEVICES], pool_of[MAX_DEVICES]; /* [device]; [memory] */
  int64_t capacity_bytes[MAX_DEVICES];                  /* [pool] */
  bool limited;                                         /* some pool has a capacity */
  uint32_t hosts_of[MAX_DEVICES];                       /* [memory] bits of its host devices */
  int32_t host;                                         /* transfers are staged through it */
  int32_t channel_of[MAX_LINKS];
  situ_link link[MAX_LINKS]; /* with the latencies and rates of the cost table */
  int32_t route[MAX_DEVICES][MAX_DEVICES][MAX_DEVICES], n_hops[MAX_DEVICES][MAX_DEVICES]; /* [memory][memory] links */
  int64_t hop_ns[MAX_TENSORS][MAX_LINKS];
  int64_t route_ns[MAX_TENSORS][MAX_DEVICES][MAX_DEVICES]; /* c(t, a, b) by memories */
  bool training;
  int32_t unit_of[MAX_OPS]; /* the first operator of its unit */
  uint32_t before[MAX_OPS]; /* bits of the producers of its inputs */
  uint32_t ancestors[MAX_OPS];
  bool allowed[MAX_OPS][MAX_DEVICES]; /* [unit][device] */
  int64_t recomputed_bytes[MAX_OPS];
} attack_facts;

void facts_find(attack_facts *f, const attack_problem *p);
/* Time of an operator on a device, and on a class by the second costs. */
static inline int64_t facts_time(const attack_facts *f, int32_t v, int32_t d) {
  return f->p->op[v].time_ns[f->p->device[d].class_index];
}
/* Scratch memory of an operator: that of the cost table, where it has one. */
static inline int64_t facts_workspace(const attack_facts *f, int32_t v) {
  const attack_operator *x = &f->p->op[v];
  return x->measured_bytes >= 0 ? x->measured_bytes : x->workspace_bytes;
}
/* Bytes to send over a link: latency + bytes / rate, rounded up. */
int64_t link_ns(const situ_link *link, int64_t bytes);
/* Whether the devices may run one part of a pipeline together. */
bool facts_may_share(const attack_facts *f, int32_t a, int32_t b);

typedef struct attack_placement {
  int32_t device[MAX_OPS];
  int32_t order[MAX_OPS];          /* stream: all operators, in the sequence that each device follows */
  int32_t call[MAX_OPS];           /* calls: the number of the call, -1 on hosts */
  int32_t replica_of[MAX_DEVICES]; /* pipeline: -1 */
} attack_placement;

typedef struct attack_value {
  bool runs;  /* no operator is where it cannot run, no wait is circular */
  bool fits;  /* in all capacities */
  bool keeps; /* limits on period, latency, other costs, calls; contiguity */
  int64_t value_ns;
  int64_t latency_ns, period_ns, other_ns; /* stream */
  int64_t start_ns[MAX_OPS], finish_ns[MAX_OPS];
  int64_t load_ns[MAX_DEVICES];
  int64_t peak_bytes[MAX_DEVICES]; /* [memory] */
} attack_value;

static inline bool value_valid(const attack_value *x) { return x->runs && x->fits && x->keeps; }

/* One placement by the rules of its execution model. Colocation, pins and the like are not looked at. `memory`: find
 * the bytes even where no capacity is known. */
void stream_evaluate(attack_value *out, const attack_facts *f, const attack_placement *at, bool memory);
void calls_evaluate(attack_value *out, const attack_facts *f, const attack_placement *at);
void pipeline_evaluate(attack_value *out, const attack_facts *f, const attack_placement *at);
/* The calls of the published rule, for the devices of a placement. */
void calls_by_rule(attack_placement *at, const attack_facts *f);
/* The period of a stream placement: that of the free pipeline by links. */
int64_t stream_period_ns(const attack_facts *f, const attack_placement *at);
void value_find(attack_value *out, const attack_facts *f, const attack_placement *at, bool memory);
/* Sets `fits` from the peaks. */
void value_judge_memory(attack_value *out, const attack_facts *f);

/* The best of all plans. */
typedef struct attack_optimum {
  bool complete;    /* false: too many plans to count; nothing else holds */
  int64_t value_ns; /* SITU_NEVER_NS: no plan is valid */
  attack_placement best;
  int64_t n_plans;   /* evaluated */
  int64_t single_ns; /* best single device, limits, pins and replicas aside */
} attack_optimum;
void optimum_find(attack_optimum *out, const attack_facts *f);
/* Everything on one device in the order of the numbers; SITU_NEVER_NS if it does not run there. */
int64_t single_value_ns(const attack_facts *f, int32_t d);

/* What a plan, a verdict and a problem say as a whole. */
static inline situ_plan_summary plan_says(const situ_plan *plan) {
  situ_plan_summary summary = SITU_PLAN_SUMMARY_INIT;
  situ_plan_get_summary(plan, &summary);
  return summary;
}
static inline situ_verdict_summary verdict_says(const situ_verdict *verdict) {
  situ_verdict_summary summary = SITU_VERDICT_SUMMARY_INIT;
  situ_verdict_get_summary(verdict, &summary);
  return summary;
}
static inline situ_problem_summary problem_says(const situ_problem *problem) {
  situ_problem_summary summary = SITU_PROBLEM_SUMMARY_INIT;
  situ_problem_get_summary(problem, &summary);
  return summary;
}

#endif
