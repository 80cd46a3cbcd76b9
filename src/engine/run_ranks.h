/* engine/run_ranks.h - what the ranks of a run exchange in addition to tensors: their tasks, clocks, links, results.
 * All ranks must make each of these calls together; the results are on all ranks, or on rank 0 if the comment says
 * so. */
#ifndef SITU_ENGINE_RUN_RANKS_H
#define SITU_ENGINE_RUN_RANKS_H

#include "engine/measure.h"

/* Rank r runs the devices of server r. Where all devices are one server, it runs device r. BAD_ARGUMENT where there are
 * not as many ranks as servers (devices). rank_of[device]. */
situ_status run_ranks_map(int32_t *rank_of, const situ_platform *platform, int32_t n_ranks, situ_error *error);

/* Each rank sends a hash of its settings and its cores: ranks on one machine divide its cores. n_workers[rank], of
 * `threads` cores each. *cores are those of this rank. BAD_ARGUMENT if hashes differ. */
situ_status run_ranks_meet(core_set *cores, ranks *r, uint64_t settings, const int32_t *n_workers, int32_t threads,
                           situ_error *error);

/* Clocks of other machines differ in time and rate. On rank 0: the offset of clock [rank] to that of rank 0, at one
 * moment of rank 0. The error is half the shortest of several round trips (Cristian 1989). */
typedef struct run_clock {
  int64_t at_ns, more_ns;
} run_clock;
situ_status run_ranks_clocks(run_clock *clocks, ranks *r, situ_error *error);
/* Converts a time of another rank's clock to that of rank 0, on the line through two comparisons. */
int64_t run_clock_own_ns(run_clock early, run_clock late, int64_t time_ns);

/* On rank 0: links[n_links], one for each pair of ranks with channels. The array has room for n_channels. */
situ_status run_ranks_links(run_link *links, int32_t *n_links, executor *x, situ_error *error);

/* Sends outputs of the model that other ranks made to rank 0. */
situ_status run_ranks_outputs(executor *x, situ_error *error);

/* The measurements of a rank for its parts; on rank 0 those of all ranks, on its clock. */
typedef struct run_results {
  run_times *times;   /* [item * n_parts + part] */
  int64_t *finish_ns; /* [n_finish] the latest of any rank */
  int64_t *sum_ns;    /* [part] */
  int32_t *cores;     /* [part] */
  double tolerance;   /* the maximum over all ranks */
  int32_t n_items, n_finish;
} run_results;
/* early, late: [rank] as run_ranks_clocks gave them. */
situ_status run_ranks_gather(run_results *results, executor *x, const run_clock *early, const run_clock *late,
                             situ_error *error);

#endif
