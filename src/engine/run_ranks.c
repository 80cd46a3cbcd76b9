#include "engine/run_ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/os.h"

enum { RANK_0 = 0, CLOCK_ROUNDS = 20 };
enum { LINK_ROUNDS = 21, LINK_BIG_ROUNDS = 3, LINK_LONG_NS = 30000000 };
enum { LINK_MIN_BYTES = 1 << 15, LINK_MAX_BYTES = 1 << 24 };

situ_status run_ranks_map(int32_t *rank_of, const situ_platform *p, int32_t n_ranks, situ_error *error) {
  bool by_device = p->n_servers == 1;
  int32_t wanted = by_device ? p->n_devices : p->n_servers;
  for (int32_t d = 0; d < p->n_devices; d++) rank_of[d] = by_device ? d : p->devices[d].server;
  if (n_ranks == wanted) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->name,
                   "has %d %s, each of which needs a rank, but mpirun started %d", (int)wanted,
                   by_device ? "devices of one server" : "servers", (int)n_ranks);
}

/* ---- machines and cores ---- */

typedef struct introduction {
  uint64_t mark;
  char machine[64]; /* id of the running kernel, the same for all containers and namespaces of a machine */
  core_set cores;
} introduction;

/* Sends n bytes of each rank to all others: all[rank * n]. */
static situ_status share(void *all, const void *own, int64_t n, ranks *r, situ_error *error) {
  char *at = all;
  int32_t n_ranks = ranks_count(r), me = ranks_own(r);
  memcpy(at + me * n, own, (size_t)n);
  if (me != RANK_0) {
    TRY(ranks_send_wait(r, RANK_0, own, n, error));
    return ranks_receive_wait(r, RANK_0, all, n * n_ranks, error);
  }
  for (int32_t q = 1; q < n_ranks; q++) TRY(ranks_receive_wait(r, q, at + q * n, n, error));
  for (int32_t q = 1; q < n_ranks; q++) TRY(ranks_send_wait(r, q, all, n * n_ranks, error));
  return SITU_STATUS_OK;
}

situ_status run_ranks_meet(core_set *cores, ranks *r, uint64_t mark, const int32_t *n_workers, int32_t threads,
                           situ_error *error) {
  introduction all[RANKS_MAX], own = {.mark = mark, .cores = *cores};
  int32_t me = ranks_own(r);
  os_machine_id(own.machine, sizeof own.machine);
  TRY(share(all, &own, sizeof own, r, error));
  for (int32_t q = 0; q < ranks_count(r); q++) all[q].machine[sizeof all[q].machine - 1] = '\0';
  for (int32_t q = 0; q < ranks_count(r); q++)
    if (all[q].mark != all[RANK_0].mark)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                       "rank %d has a different plan, model or options from rank 0", (int)q);
  core_set taken = {{0}};
  for (int32_t q = 0; q < me; q++) { /* lower ranks of the same machine choose first */
    core_set has = all[q].cores;
    if (strcmp(all[q].machine, own.machine) != 0) continue;
    cores_remove(&has, &taken);
    core_set left = has;
    cores_take(&left, NULL, n_workers[q], threads);
    cores_remove(&has, &left);
    cores_add(&taken, &has);
  }
  cores_remove(cores, &taken);
  return SITU_STATUS_OK;
}

/* ---- clocks ---- */

static situ_status compare_clock(run_clock *out, ranks *r, int32_t q, situ_error *error) {
  int64_t shortest_ns = INT64_MAX;
  for (int32_t i = 0; i < CLOCK_ROUNDS; i++) {
    int64_t theirs_ns = 0, begun_ns = clock_now_ns();
    TRY(ranks_send_wait(r, q, &theirs_ns, sizeof theirs_ns, error));
    TRY(ranks_receive_wait(r, q, &theirs_ns, sizeof theirs_ns, error));
    int64_t ended_ns = clock_now_ns(), middle_ns = begun_ns + (ended_ns - begun_ns) / 2;
    if (ended_ns - begun_ns >= shortest_ns) continue;
    shortest_ns = ended_ns - begun_ns;
    *out = (run_clock){.at_ns = middle_ns, .more_ns = theirs_ns - middle_ns};
  }
  return SITU_STATUS_OK;
}

situ_status run_ranks_clocks(run_clock *clocks, ranks *r, situ_error *error) {
  clocks[RANK_0] = (run_clock){.at_ns = clock_now_ns()};
  if (ranks_own(r) == RANK_0) {
    for (int32_t q = 1; q < ranks_count(r); q++) TRY(compare_clock(&clocks[q], r, q, error));
    return SITU_STATUS_OK;
  }
  for (int32_t i = 0; i < CLOCK_ROUNDS; i++) {
    int64_t now_ns;
    TRY(ranks_receive_wait(r, RANK_0, &now_ns, sizeof now_ns, error));
    now_ns = clock_now_ns();
    TRY(ranks_send_wait(r, RANK_0, &now_ns, sizeof now_ns, error));
  }
  return SITU_STATUS_OK;
}

int64_t run_clock_own_ns(run_clock early, run_clock late, int64_t time_ns) {
  double apart_ns = (double)(late.at_ns - early.at_ns), since_ns = (double)(time_ns - early.more_ns - early.at_ns);
  double drift = apart_ns > 0 ? (double)(late.more_ns - early.more_ns) / apart_ns : 0;
  return time_ns - early.more_ns - (int64_t)(drift * since_ns);
}

/* ---- links ---- */

/* A message of n bytes to another rank, and an answer of 8 bytes. */
static situ_status round_trip(int64_t *out_ns, ranks *r, int32_t to, void *bytes, int64_t n, situ_error *error) {
  int64_t begun_ns = clock_now_ns();
  TRY(ranks_send_wait(r, to, &n, sizeof n, error)); /* 0 ends */
  if (n > 0) TRY(ranks_send_wait(r, to, bytes, n, error));
  if (n > 0) TRY(ranks_receive_wait(r, to, &n, sizeof n, error));
  *out_ns = clock_now_ns() - begun_ns;
  return SITU_STATUS_OK;
}

/* The shortest of several, since other work on the machines only adds time. */
static situ_status shortest_trip(int64_t *out_ns, ranks *r, int32_t to, void *bytes, int64_t n, int32_t rounds,
                                 situ_error *error) {
  int64_t took_ns;
  *out_ns = INT64_MAX;
  for (int32_t i = 0; i < rounds; i++) {
    TRY(round_trip(&took_ns, r, to, bytes, n, error));
    *out_ns = min64(*out_ns, took_ns);
  }
  return SITU_STATUS_OK;
}

/* Measures the rate by a message so long that half of it takes much less time. */
static situ_status probe(run_link *link, ranks *r, void *bytes, situ_error *error) {
  int64_t small_ns, half_ns, big_ns = 0, n = LINK_MIN_BYTES;
  TRY(shortest_trip(&small_ns, r, link->to, bytes, 8, LINK_ROUNDS, error));
  TRY(shortest_trip(&half_ns, r, link->to, bytes, n, LINK_BIG_ROUNDS, error));
  while ((big_ns < LINK_LONG_NS || 2 * big_ns < 3 * half_ns) && n < LINK_MAX_BYTES) {
    if (big_ns > 0) half_ns = big_ns;
    n *= 2;
    TRY(shortest_trip(&big_ns, r, link->to, bytes, n, LINK_BIG_ROUNDS, error));
  }
  link->latency_ns = small_ns / 4; /* two messages, each with its receipt */
  link->bytes_per_s = 1e9 * (double)n / (double)max64(big_ns - small_ns, 1);
  return round_trip(&small_ns, r, link->to, bytes, 0, error);
}

static situ_status answer(ranks *r, int32_t from, void *bytes, situ_error *error) {
  for (int64_t n = 1;;) {
    TRY(ranks_receive_wait(r, from, &n, sizeof n, error));
    if (n <= 0) return SITU_STATUS_OK;
    TRY(ranks_receive_wait(r, from, bytes, min64(n, LINK_MAX_BYTES), error));
    TRY(ranks_send_wait(r, from, &n, sizeof n, error));
  }
}

static situ_status measure_link(run_link *link, ranks *r, void *bytes, situ_error *error) {
  int32_t me = ranks_own(r);
  if (me == link->from) TRY(probe(link, r, bytes, error));
  if (me == link->to) TRY(answer(r, link->from, bytes, error));
  if (link->from == RANK_0) return SITU_STATUS_OK;
  if (me == link->from) return ranks_send_wait(r, RANK_0, link, sizeof *link, error);
  return me == RANK_0 ? ranks_receive_wait(r, link->from, link, sizeof *link, error) : SITU_STATUS_OK;
}

situ_status run_ranks_links(run_link *links, int32_t *n_links, executor *x, situ_error *error) {
  arena_mark mark = arena_get_mark(x->arena);
  unsigned char *bytes = ARENA_ZERO(x->arena, unsigned char, LINK_MAX_BYTES);
  situ_status status = bytes ? SITU_STATUS_OK : fail_no_memory(error);
  for (int32_t i = 0; i < x->n_channels && status == SITU_STATUS_OK; i++) {
    run_link link = {.from = x->channels[i].from, .to = x->channels[i].to};
    bool again = false;
    for (int32_t k = 0; k < *n_links; k++) again |= links[k].from == link.from && links[k].to == link.to;
    if (again) continue;
    links[*n_links] = link;
    status = measure_link(&links[(*n_links)++], x->options.ranks, bytes, error);
  }
  if (status == SITU_STATUS_OK) arena_release(x->arena, mark);
  return status;
}

/* ---- results ---- */

static bool comes_anyway(const executor *x, int32_t value) {
  for (int32_t i = 0; i < x->n_channels; i++)
    if (x->channels[i].value == value && x->channels[i].to == RANK_0) return true;
  return false;
}

situ_status run_ranks_outputs(executor *x, situ_error *error) {
  for (int32_t k = 0; k < x->parts->n_parts; k++) {
    const model_part *part = &x->parts->parts[k];
    int32_t from = executor_rank(x, k);
    for (int32_t i = 0; i < part->n_outputs && from != RANK_0; i++)
      if (x->parts->file->values[part->outputs[i]].is_output && !comes_anyway(x, part->outputs[i]))
        TRY(channels_send_value(x, 0, part->outputs[i], from, RANK_0, error));
  }
  return SITU_STATUS_OK;
}

/* Times of a part that rank q owns, moved to the clock of rank 0. */
static void merge(run_results *all, const run_results *theirs, const executor *x, int32_t q, run_clock early,
                  run_clock late) {
  int32_t n = x->parts->n_parts;
  for (int32_t k = 0; k < n; k++) {
    if (executor_rank(x, k) != q) continue;
    all->sum_ns[k] = theirs->sum_ns[k];
    all->cores[k] = theirs->cores[k];
    for (int32_t i = 0; i < all->n_items; i++) {
      run_times t = theirs->times[(int64_t)i * n + k];
      all->times[(int64_t)i * n + k] =
          (run_times){run_clock_own_ns(early, late, t.start_ns), run_clock_own_ns(early, late, t.finish_ns)};
    }
  }
  for (int32_t i = 0; i < all->n_finish && theirs->finish_ns[i] > 0; i++) /* 0: it has no parts */
    all->finish_ns[i] = max64(all->finish_ns[i], run_clock_own_ns(early, late, theirs->finish_ns[i]));
  all->tolerance = fmax(all->tolerance, theirs->tolerance);
}

/* Each array of the results by ranks_send_wait or ranks_receive_wait. */
static situ_status pass(run_results *p, ranks *r, int32_t n_parts, int32_t to, int32_t from, situ_error *error) {
  struct {
    void *at;
    int64_t n;
  } all[] = {{p->times, (int64_t)sizeof *p->times * p->n_items * n_parts},
             {p->finish_ns, (int64_t)sizeof *p->finish_ns * p->n_finish},
             {p->sum_ns, (int64_t)sizeof *p->sum_ns * n_parts},
             {p->cores, (int64_t)sizeof *p->cores * n_parts},
             {&p->tolerance, sizeof p->tolerance}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    TRY(from < 0 ? ranks_send_wait(r, to, all[i].at, all[i].n, error)
                 : ranks_receive_wait(r, from, all[i].at, all[i].n, error));
  return SITU_STATUS_OK;
}

situ_status run_ranks_gather(run_results *results, executor *x, const run_clock *early, const run_clock *late,
                             situ_error *error) {
  ranks *r = x->options.ranks;
  int32_t n = x->parts->n_parts;
  run_results theirs = *results;
  for (int32_t k = 0; k < n; k++)
    if (executor_owns(x, k)) results->cores[k] = x->cores[x->worker_of[k]];
  if (ranks_own(r) != RANK_0) return pass(results, r, n, RANK_0, -1, error);
  if (!ARENA_ARRAYS(x->arena, ARRAY(theirs.times, (int64_t)results->n_items * n),
                    ARRAY(theirs.finish_ns, results->n_finish), ARRAY(theirs.sum_ns, n), ARRAY(theirs.cores, n)))
    return fail_no_memory(error);
  for (int32_t q = 1; q < ranks_count(r); q++) {
    TRY(pass(&theirs, r, n, -1, q, error));
    merge(results, &theirs, x, q, early[q], late[q]);
  }
  return SITU_STATUS_OK;
}
