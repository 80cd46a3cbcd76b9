/* problem/problem.h - the frozen problem, and the few lookups that every inner loop makes. */
#ifndef SITU_PROBLEM_PROBLEM_H
#define SITU_PROBLEM_PROBLEM_H

#include "cost/costs.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "problem/unit_list.h"
#include "problem/unknown.h"
#include "situ/problem.h"

struct situ_problem {
  arena *arena; /* holds those of graph, platform and costs */
  const situ_graph *given;
  const situ_graph *graph; /* the same, but its colocation groups are everything that must stay together */
  const situ_platform *platform;
  const situ_costs *costs;
  const char *conflict;       /* NULL, or why no plan can exist */
  unknown_list unknown;       /* what of it is guessed (problem/unknown.h) */
  double max_unknown_percent; /* as the options have it; 0: the default */
  bool guessed;               /* more is unknown than that */
  const char *scope; /* the plans that proofs speak of (problem/scope.h), in words; of views, that of their problem */

  situ_objective objective;
  situ_execution execution;
  situ_contention contention;
  situ_communication communication;
  situ_overlap overlap; /* never DEFAULT; FULL but for streams of one copy with contention link */
  bool contiguous, async_copies, replicate, training; /* training: some operator is not forward */
  bool of_stream; /* a view of a stream problem: memory use is still that of a stream */
  situ_schedule schedule;
  int32_t
      n_phases; /* of a period: 2 where forward and backward loads are two numbers (pipelines trained as GPipe does) */
  int32_t in_flight;     /* inputs in memory at once; with micro_batches, as many as every device surely keeps */
  int32_t micro_batches; /* of a step; 0: in_flight is a given number */
  int32_t
      chunks; /* parts of the model on each device, in the order of a schedule (view/chunks.h); 0: no such schedule */
  int32_t kept_inputs; /* of these, that all parts keep by GPipe and ZB-H1; 0: by 1F1B it depends on what follows */
  /* What replicas hold in shares: 0 nothing, 1 states of the optimizer, 2 gradients too, 3 weights too. Then the
   * weights of `graph` are the minimum that a device holds, those of `given` all. */
  int32_t zero;
  int32_t n_copies;  /* operator v belongs to copy v / (n_operators / n_copies); weight_bytes of others than the first
                        are 0 */
  int32_t max_calls; /* of an accelerator; INT32_MAX: no limit */
  int64_t max_period_ns, max_latency_ns; /* SITU_NEVER_NS: no limit */
  const situ_costs *secondary;           /* held; a plan takes at most max_secondary_ns by these; NULL: no such limit */
  int64_t max_secondary_ns;              /* SITU_NEVER_NS without one */
  const char *secondary_name;            /* what that is, for messages; never NULL */

  int32_t n_operators, n_devices, n_classes, n_memories;
  int32_t *pin;            /* [operator] device or -1; the pin of one member of a unit holds for all */
  bool *unused;            /* [device] */
  const int32_t *together; /* [operator] those of one key stay together for the caller's sake, -1 for none; or NULL */
  const char *keep_name;   /* what these are, for messages; never NULL */
  const char *names;       /* of devices, for writers, as given; NULL: the usual ones */
  bool keeps_given, keeps_kernels; /* some operators share such a key, or a kernel of the costs */
  int32_t host;    /* the first host device, or device 0 if there is none: transfers are staged through it */
  unit_list units; /* what every plan keeps on one device: colocation groups of `graph`, and operators alone */

  /* borrowed from costs and platform, copied here for fast loops */
  const int64_t *time_ns;      /* [operator * n_classes + class] */
  int64_t *const *transfer_ns; /* [tensor][kind] */
  int32_t n_kinds;
  const int32_t *class_of, *memory_of; /* [device] */
  int32_t *device_kind;                /* [from device * n_devices + to device] kind of route */
};

/* Upper limits of a posed problem: the sum of all times, each operator and transfer at its slowest (208 days), and the
 * sum of all bytes of all inputs in flight (64 PiB); see docs/model.md, "Limits". Sums and small multiples of both fit
 * into 64 bits, and constants that mean "later than everything" (2^55 ns and up) exceed every time. */
#define PROBLEM_MAX_NS ((int64_t)1 << 54)
enum { PROBLEM_MAX_CHUNKS = 64 };
#define PROBLEM_MAX_BYTES ((int64_t)1 << 56)

/* Fills a problem that has its arena, graph, platform and costs, from options of this version; all but the scope. */
situ_status problem_fill(situ_problem *p, const situ_problem_options *options, situ_error *error);

/* NULL, or which of the invariants above does not hold, of a problem or of a view (base/contracts.h); graph, platform
 * and costs have checks of their own. O(V + devices^2). */
const char *problem_check(const situ_problem *problem);

/* Sets of execution models, for tables. */
enum {
  MODEL_STREAM = 1 << SITU_EXECUTION_STREAM,
  MODEL_CALLS = 1 << SITU_EXECUTION_CALLS,
  MODEL_PIPELINE = 1 << SITU_EXECUTION_PIPELINE,
  MODEL_ALL = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE
};

/* Whether the execution model of the problem is one of a set. */
static inline bool problem_is_of(const situ_problem *p, unsigned models) { return models >> p->execution & 1; }

/* The time of everything run sequentially: each operator on its slowest class, each tensor over its slowest route to
 * each memory that may hold a user of it, plus `more`. */
int64_t problem_serial_ns(const situ_problem *p, int32_t more);

/* Time of an operator on a device; SITU_NEVER_NS where it cannot run. */
static inline int64_t problem_time_ns(const situ_problem *p, int32_t v, int32_t d) {
  return p->time_ns[(int64_t)v * p->n_classes + p->class_of[d]];
}

/* Whether some device of a memory may be used, and the bytes of all such memories, those of a pool once; saturates. */
bool problem_uses_memory(const situ_problem *p, int32_t m);
int64_t problem_room_bytes(const situ_problem *p);

/* Whether gradients of weights are passes of their own. */
static inline bool problem_delays(const situ_problem *p) {
  return p->schedule == SITU_SCHEDULE_ZB_H1 || p->schedule == SITU_SCHEDULE_ZB_V;
}

/* Inputs that a device keeps in memory at most. */
static inline int32_t problem_max_in_flight(const situ_problem *p) {
  return p->micro_batches > p->in_flight ? p->micro_batches : p->in_flight;
}
/* Whether how many inputs a device keeps depends on the parts after its own. */
static inline bool problem_keeps_by_depth(const situ_problem *p) {
  return p->micro_batches > 1 && (p->schedule == SITU_SCHEDULE_1F1B || p->replicate);
}

/* Whether devices that share a part hold the weights of operator v, which are of its phase, in shares. */
static inline bool problem_shards(const situ_problem *p, int32_t v) {
  situ_phase phase = p->graph->phase[v];
  return phase == SITU_PHASE_UPDATE     ? p->zero >= 1
         : phase == SITU_PHASE_BACKWARD ? p->zero >= 2
                                        : phase == SITU_PHASE_FORWARD && p->zero >= 3;
}
/* What of these is whole on such a device while v runs: a gradient that is made, with the weights that it is of. */
static inline int64_t problem_gathered_bytes(const situ_problem *p, int32_t v) {
  bool backward = p->graph->phase[v] == SITU_PHASE_BACKWARD;
  if (!problem_shards(p, v) || p->graph->phase[v] == SITU_PHASE_UPDATE) return 0;
  return p->given->weight_bytes[v] * (backward && p->zero == 3 ? 2 : 1);
}

/* Whether operator v has work on some device, or may have: constants, views and shapes have none. */
bool problem_works(const situ_problem *p, int32_t v);

/* Whether operator v may be placed on device d, as far as v alone is concerned. */
static inline bool problem_allows(const situ_problem *p, int32_t v, int32_t d) {
  return (p->pin[v] < 0 ? !p->unused[d] : p->pin[v] == d) && problem_time_ns(p, v, d) != SITU_NEVER_NS;
}

/* Whether all of some operators may be placed on device d. */
static inline bool problem_allows_all(const situ_problem *p, unit_members u, int32_t d) {
  for (int32_t i = 0; i < u.n; i++)
    if (!problem_allows(p, u.member[i], d)) return false;
  return true;
}

/* Time of a tensor from device a to device b without contention; 0 within one memory. */
static inline int64_t problem_transfer_ns(const situ_problem *p, int32_t t, int32_t a, int32_t b) {
  return p->transfer_ns[t][p->device_kind[(int64_t)a * p->n_devices + b]];
}

/* Whether sending a tensor takes no time on any route (of a platform that has routes): it is known before the run
 * (constants, shape arithmetic), so every device has it. Such a tensor is not handed over. */
static inline bool problem_is_everywhere(const situ_problem *p, int32_t t) {
  return p->n_kinds > 1 && p->graph->size_bytes[t] > 0 && p->costs->row_max_ns[costs_row(p->costs, t)] == 0;
}

/* The bytes of weights that copies share of operator v: those of the same operator in the first copy, which a memory
 * holds once. 0 for the first copy, whose own they are. */
static inline int64_t problem_shared_bytes(const situ_problem *p, int32_t v) {
  int32_t n = p->n_operators / p->n_copies;
  return v < n ? 0 : p->graph->weight_bytes[v % n];
}

/* The phase of the period to which the work of operator v counts: 0 .. n_phases-1. */
static inline int32_t problem_phase(const situ_problem *p, int32_t v) {
  return p->n_phases == 2 && p->graph->phase[v] != SITU_PHASE_FORWARD;
}

/* Whether the period of a stream plan matters: as its value or as a limit. */
static inline bool problem_has_period(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_STREAM &&
         (p->objective == SITU_OBJECTIVE_THROUGHPUT || p->max_period_ns < SITU_NEVER_NS);
}

/* Time of an operator on a device by the secondary costs. */
static inline int64_t problem_secondary_time_ns(const situ_problem *p, int32_t v, int32_t d) {
  return p->secondary->time_ns[(int64_t)v * p->n_classes + p->class_of[d]];
}

/* A variant of a problem is posed from these: the options that pose the same problem of its graph (`given`), platform
 * and costs, with what is to be different changed. They borrow the arrays of p. */
situ_problem_options problem_options_of(const situ_problem *p);

/* A number for everything that the problem is: graph, platform, costs, objective and constraints. Processes that solve
 * together compare it. O(V + E + devices^2 + costs). */
uint64_t problem_hash(const situ_problem *p);

/* Whether every plan of p is a plan of r, of at most the same value there, as far as the definitions of both show: a
 * lower bound for r then holds for p. True for p itself and for its views below that keep its objective. O(V). */
bool problem_is_relaxation(const situ_problem *r, const situ_problem *p);
/* The problem whose bounds are bounds on the value of p: p itself, or where period and latency both matter a view of
 * it without limits, which `view` becomes. */
const situ_problem *problem_of_value(situ_problem *view, const situ_problem *p);

/* Views of a problem as another problem: they borrow everything and are not freed.
 *
 * The first view of a stream problem is the free pipeline by links, whose value is the period of a placement; the
 * second is the latency without limits. A bound on the value of either holds for all plans of p. The third is the
 * contiguous pipeline, staged through the host, of the same graph and platform. */
void problem_view_pipeline(situ_problem *out, const situ_problem *p);
void problem_view_latency(situ_problem *out, const situ_problem *p);
void problem_view_contiguous(situ_problem *out, const situ_problem *p);
/* The same problem, without limits, by secondary costs of its graph and platform. */
void problem_view_costs(situ_problem *out, const situ_problem *p, const situ_costs *costs);
/* The problem whose bounds hold for the time by the secondary costs of every plan of p: the same without limits, by
 * these costs. Memory is that of a plan by the costs of p. An interval that these make 0 ns long holds nothing; where
 * the secondary costs do not, the view has unlimited memories, on a platform in the arena. False without memory. */
bool problem_view_secondary(situ_problem *out, const situ_problem *p, arena *a);
/* Turns a view into one of the first copy alone, whose operators and tensors come first: `graph` is where its graph
 * goes. */
void problem_view_copy(situ_problem *view, situ_graph *graph);

/* Whether device d is in the machine of the first host, which asks and answers. */
static inline bool problem_is_near(const situ_problem *p, int32_t d) {
  return p->platform->devices[d].server == p->platform->devices[p->host].server;
}

static inline bool problem_is_host(const situ_problem *p, int32_t d) { return p->platform->devices[d].is_host; }
/* And a host of it. */
static inline bool problem_is_home(const situ_problem *p, int32_t d) {
  return problem_is_host(p, d) && problem_is_near(p, d);
}

#endif
