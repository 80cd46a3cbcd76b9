/* check/check.h - what the parts of the checker share. The checker includes nothing of simulators and solvers: it works
 * out everything again, from docs/model.md, in the plainest way that takes no more than O((V + E) log (V + E)). */
#ifndef SITU_CHECK_CHECK_H
#define SITU_CHECK_CHECK_H

#include "plan/plan.h"

enum { CHECK_KEPT = 100 };

struct situ_verdict {
  arena *arena;
  situ_violation kept[CHECK_KEPT];
  int32_t n_kept;
  int64_t n_found;
  bool failed;                          /* memory ran out */
  int64_t claimed_ns;                   /* the lower bound of the plan */
  int64_t verified_ns;                  /* what the certificate proves, of what it claims */
  const char *certificate, *unverified; /* its kind; why the lower bound was not verified; "", static storage */
};

/* One judgement. Devices of the plan are in range when a model's part is called. */
typedef struct judge {
  const situ_problem *problem;
  const situ_graph *graph;
  const situ_platform *platform;
  const situ_plan *plan;
  situ_verdict *verdict;
  arena *scratch;
} judge;

/* Notes a violation. `rule` is static storage. */
void judge_note(judge *j, const char *rule, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Compares what the plan says of a device's or memory's use with what was found, and the memory with its limit.
 * load_ns[device], memory_bytes[memory]. */
void judge_uses(judge *j, const int64_t *load_ns, const int64_t *memory_bytes);
/* Compares the value. */
void judge_value(judge *j, int64_t value_ns);

/* The rules of each execution model; they return NO_MEMORY or OK. */
situ_status check_stream(judge *j, situ_error *error);
situ_status check_calls(judge *j, situ_error *error);
situ_status check_pipeline(judge *j, situ_error *error);
/* stream: the period of the placement, the greatest load of a device or channel when inputs follow each other. */
situ_status check_period(judge *j, int64_t *period_ns, situ_error *error);
/* Works out the best single device again. */
situ_status check_single(judge *j, situ_error *error);
/* Works out what the certificate of the lower bound proves. */
situ_status check_certificate(judge *j, situ_error *error);

/* calls, pipeline: what each memory has to hold of the operators on its devices, in the scratch arena. */
situ_status check_static_memory(judge *j, int64_t **memory_bytes, situ_error *error);

/* stream: memory over time, given for each transfer of a tensor to a memory when its first hop ends and its last
 * starts. Fills peak_bytes[memory]. */
typedef struct check_copy {
  int32_t tensor, to_memory;
  int64_t left_ns, came_ns, arrived_ns;
} check_copy;
situ_status check_stream_memory(judge *j, const check_copy *copies, int32_t n_copies, int64_t *peak_bytes,
                                situ_error *error);

#endif
