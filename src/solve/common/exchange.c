#include "solve/common/exchange.h"

#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"

enum { CANCELLED = 2 }; /* sent instead of 1: the budget is spent, or the gap is closed */

/* ---- an incumbent as bytes ---- */

static void pack_numbers(text_buffer *to, const int32_t *values, int32_t n) {
  pack_array(to, values, n, sizeof *values);
}

void exchange_pack(text_buffer *to, const incumbent *i, const situ_problem *p) {
  pack_numbers(to, i->best.device, p->n_operators);
  pack_numbers(to, i->best.order, p->n_operators);
  pack_numbers(to, i->best.call, p->n_operators);
  pack_numbers(to, i->best.replica_of, p->n_devices);
  pack_int(to, i->value_ns);
  pack_int(to, i->lower_bound_ns);
  pack_text(to, i->solver);
  pack_text(to, i->bound);
  pack_text(to, i->reason);
  certificate_pack(to, &i->proof);
  pack_int(to, i->n_statistics);
  for (int32_t k = 0; k < i->n_statistics; k++) {
    pack_text(to, i->statistics[k].name);
    pack_int(to, i->statistics[k].value);
  }
}

/* Numbers from `min` to below `end`. */
static void unpack_numbers(int32_t **best, unpack *from, int32_t *store, int32_t n, int32_t min, int32_t end) {
  *best = unpack_within(from, store, n, min, end) ? store : NULL;
}

/* A text that outlives the message: names of solvers and bounds are static on the rank that sent them. */
static const char *unpack_name(unpack *from, islands *all, arena *scratch) {
  const char *text = unpack_text(from, scratch);
  if (text) text = islands_name(all, text);
  return text;
}

static void unpack_texts(incumbent *i, unpack *from, islands *all, arena *scratch) {
  i->solver = unpack_name(from, all, scratch);
  i->bound = unpack_name(from, all, scratch);
  i->reason = unpack_name(from, all, scratch);
  certificate_unpack(&i->proof, from, i->proof_arena);
  if (i->proof.kind) i->proof.bound = islands_name(all, i->proof.bound ? i->proof.bound : "");
  int64_t n = unpack_int(from);
  from->failed |= n < 0 || n > MAX_STATISTICS || !i->solver || !i->bound;
  for (i->n_statistics = 0; i->n_statistics < n && !from->failed; i->n_statistics++) {
    situ_statistic *s = &i->statistics[i->n_statistics];
    s->name = unpack_name(from, all, scratch);
    s->value = unpack_int(from);
    from->failed |= !s->name;
  }
}

situ_status exchange_unpack(incumbent *i, unpack *from, const situ_problem *p, islands *all, situ_error *error) {
  arena *scratch = arena_new();
  if (!i->proof_arena) i->proof_arena = arena_new();
  if (!scratch || !i->proof_arena) {
    arena_free(scratch);
    return fail_no_memory(error);
  }
  unpack_numbers(&i->best.device, from, i->store.device, p->n_operators, 0, p->n_devices);
  unpack_numbers(&i->best.order, from, i->store.order, p->n_operators, 0, p->n_operators);
  unpack_numbers(&i->best.call, from, i->store.call, p->n_operators, -1, p->n_operators);
  unpack_numbers(&i->best.replica_of, from, i->store.replica_of, p->n_devices, -1, p->n_devices);
  i->value_ns = unpack_int(from);
  i->lower_bound_ns = unpack_int(from);
  if (!from->failed) unpack_texts(i, from, all, scratch);
  arena_free(scratch);
  if (!from->failed) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_ENGINE, NULL, "a rank sent a plan that is malformed, or memory ran out");
}

/* ---- gathers ---- */

/* Rank 0 waits no longer than this for a late rank. */
static const int64_t LATE_NS = 2000000000;

static bool is_stopped(void *context) {
  solve_run *run = context;
  budget *b = run->budget;
  if (islands_own(run->islands) == 0 && b->deadline_ns != INT64_MAX && clock_now_ns() > b->deadline_ns + LATE_NS)
    return true;
  if (b->callback && b->callback(b->context)) b->stop = BUDGET_CANCELLED;
  return b->stop == BUDGET_CANCELLED;
}

situ_status exchange_gather(solve_run *run, islands_given *given, exchange_kind kind, const text_buffer *bytes) {
  islands *all = run->islands;
  bool before[ISLANDS_MAX];
  if (bytes->failed) return fail_no_memory(run->error);
  for (int32_t r = 0; r < islands_count(all); r++) before[r] = islands_is_alive(all, r);
  TRY(islands_gather(all, given, (int32_t)kind, bytes->bytes, (int64_t)bytes->length, is_stopped, run, run->error));
  for (int32_t r = 0; r < islands_count(all); r++)
    if (before[r] && !islands_is_alive(all, r))
      log_line(run->watch->log, SITU_LOG_NOTE, "rank %d is lost: the others continue without it", (int)r);
  return SITU_STATUS_OK;
}

/* Gathers `mine`, which is freed. */
static situ_status gather(solve_run *run, islands_given *given, exchange_kind kind, text_buffer *mine) {
  situ_status status = exchange_gather(run, given, kind, mine);
  text_free(mine);
  return status;
}

situ_status exchange_int(solve_run *run, int64_t *value) {
  islands_given given[ISLANDS_MAX];
  text_buffer mine = {0};
  if (!run->islands) return SITU_STATUS_OK;
  pack_int(&mine, *value);
  TRY(gather(run, given, EXCHANGE_INT, &mine));
  *value = unpack_int(&(unpack){.at = given[0].bytes, .n_left = given[0].n});
  return SITU_STATUS_OK;
}

situ_status exchange_meet(solve_run *run, uint64_t more) {
  islands_given given[ISLANDS_MAX];
  text_buffer mine = {0};
  run->at_once = run->threads;
  if (!run->islands) return SITU_STATUS_OK;
  int64_t mark = (int64_t)hash_number(problem_hash(run->problem), (int64_t)more), threads = 0;
  pack_int(&mine, mark);
  pack_int(&mine, run->threads);
  TRY(gather(run, given, EXCHANGE_MEET, &mine));
  for (int32_t r = 0; r < islands_count(run->islands); r++) {
    unpack from = {.at = given[r].bytes, .n_left = given[r].n};
    if (!given[r].bytes) continue;
    int64_t theirs = unpack_int(&from);
    if (r == 0) mark = theirs;
    if (mark != theirs)
      return fail_with(run->error, SITU_STATUS_BAD_ARGUMENT, NULL,
                       "rank %d has a different model, platform or options from rank 0", (int)r);
    threads += unpack_int(&from);
  }
  run->at_once = (int32_t)min64(threads, INT32_MAX / 2);
  return SITU_STATUS_OK;
}

/* Takes over what a rank has if it is better. */
static situ_status take(solve_run *run, unpack *from, incumbent *theirs) {
  TRY(exchange_unpack(theirs, from, run->problem, run->islands, run->error));
  incumbent_take(run->incumbent, theirs, run->problem);
  if (theirs->reason && theirs->lower_bound_ns > run->incumbent->lower_bound_ns)
    run->incumbent->reason = theirs->reason;
  if (theirs->proof.kind) TRY(solve_prove(run, &theirs->proof));
  solve_bound(run, theirs->lower_bound_ns, theirs->bound);
  return SITU_STATUS_OK;
}

static situ_status take_all(solve_run *run, const islands_given *given, bool *done) {
  situ_status status = SITU_STATUS_OK;
  for (int32_t r = 0; r < islands_count(run->islands) && status == SITU_STATUS_OK; r++) {
    unpack from = {.at = given[r].bytes, .n_left = given[r].n};
    incumbent theirs;
    if (!given[r].bytes || r == islands_own(run->islands)) continue;
    int64_t stop = unpack_int(&from);
    if (stop == CANCELLED) run->budget->stop = BUDGET_CANCELLED;
    *done |= stop != 0;
    if (!incumbent_init(&theirs, run->problem, run->arena)) return fail_no_memory(run->error);
    status = take(run, &from, &theirs);
    incumbent_free(&theirs);
  }
  return status;
}

situ_status exchange_best(solve_run *run, bool *done) {
  islands_given given[ISLANDS_MAX];
  text_buffer mine = {0};
  *done = solve_done(run);
  if (!run->islands) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(run->arena);
  pack_int(&mine, run->budget->stop == BUDGET_CANCELLED ? CANCELLED : *done);
  exchange_pack(&mine, run->incumbent, run->problem);
  TRY(gather(run, given, EXCHANGE_BEST, &mine));
  situ_status status = take_all(run, given, done);
  *done |= run->incumbent->value_ns <=
           run->incumbent->lower_bound_ns; /* what a rank has learned since then is for the next exchange */
  arena_release(run->arena, mark);
  return status;
}

/* ---- bounds ---- */

/* Shares out the bounds that nobody has run yet, rank by rank in turn. False where there are none. */
static bool share_out(bool mine[BOUNDS], const bound_result results[BOUNDS], const islands *all) {
  int32_t n = 0;
  for (int32_t i = 0; i < BOUNDS; i++) mine[i] = !results[i].known && n++ % islands_alive(all) == islands_place(all);
  return n > 0;
}

static void unpack_bounds(bound_result results[BOUNDS], unpack *from, arena *proofs) {
  for (int32_t i = 0; i < BOUNDS && !from->failed; i++) {
    if (!unpack_int(from)) continue;
    results[i].known = true;
    results[i].lower_ns = unpack_int(from);
    certificate_unpack(&results[i].proof, from, proofs);
    results[i].proof.bound = bounds[i]->name;
  }
}

static situ_status tell_bounds(bound_result results[BOUNDS], const bool mine[BOUNDS], solve_run *run, arena *proofs) {
  islands_given given[ISLANDS_MAX];
  text_buffer bytes = {0};
  for (int32_t i = 0; i < BOUNDS; i++) {
    pack_int(&bytes, mine[i]);
    if (!mine[i]) continue;
    pack_int(&bytes, results[i].lower_ns);
    certificate_pack(&bytes, &results[i].proof);
  }
  TRY(gather(run, given, EXCHANGE_BOUNDS, &bytes));
  for (int32_t r = 0; r < islands_count(run->islands); r++) {
    unpack from = {.at = given[r].bytes, .n_left = given[r].n};
    if (!given[r].bytes || r == islands_own(run->islands)) continue;
    unpack_bounds(results, &from, proofs);
    if (from.failed) return fail_no_memory(run->error);
  }
  return SITU_STATUS_OK;
}

situ_status exchange_bounds(bound_result results[BOUNDS], solve_run *run, const situ_problem *problem, arena *proofs) {
  bool mine[BOUNDS], repeats = run->budget->deadline_ns == INT64_MAX;
  while (share_out(mine, results, run->islands)) {
    TRY(bound_compute(results, mine, problem, run->threads, proofs, run->budget, run->error));
    if (run->islands) TRY(tell_bounds(results, mine, run, proofs));
    if (!repeats) break;
  }
  return SITU_STATUS_OK;
}
