/* What it costs to hand a tensor from one worker to another on this host. */
#include "engine/handover.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "engine/cores.h"
#include "engine/profile.h"

enum { ROUNDS = 41, WARM_UP = 5, SMALL_BYTES = 64, BIG_BYTES = 1 << 22 };

/* What both workers do: run n > 0 writes n bytes, run n < 0 reads them. */
static situ_status touch(void *context, int32_t n, situ_error *error) {
  unsigned char *shared = context;
  uint64_t sum = 0, word;
  if (n > 0) {
    memset(shared, 1, (size_t)n);
    return SITU_STATUS_OK;
  }
  for (int32_t i = 0; i < -n; i += (int32_t)sizeof word) {
    memcpy(&word, shared + i, sizeof word);
    sum += word;
  }
  shared[BIG_BYTES] = (unsigned char)sum; /* so that the sum is formed */
  return SITU_STATUS_OK;
}

static situ_status run(worker *w, int32_t binding, worker_ran *ran, const patience *wait, situ_error *error) {
  TRY(worker_run(w, binding, error));
  return worker_await(ran, &w, 1, wait, error);
}

/* From the end of the writing to the start of the reading, and what the reading takes longer than the second time. */
static situ_status measure(int64_t *out_ns, worker *const *w, int32_t bytes, const patience *wait, situ_error *error) {
  int64_t times_ns[ROUNDS];
  for (int32_t i = -WARM_UP; i < ROUNDS; i++) {
    worker_ran wrote, first, again;
    TRY(run(w[0], bytes, &wrote, wait, error));
    TRY(run(w[1], -bytes, &first, wait, error));
    TRY(run(w[1], -bytes, &again, wait, error));
    int64_t longer_ns = first.finish_ns - first.start_ns - (again.finish_ns - again.start_ns);
    if (i >= 0) times_ns[i] = first.start_ns - wrote.finish_ns + (longer_ns > 0 ? longer_ns : 0);
  }
  *out_ns = median_of(times_ns, ROUNDS, NULL);
  return SITU_STATUS_OK;
}

situ_status handover_measure(handover *out, int32_t threads, const patience *wait, situ_error *error) {
  size_t room = BIG_BYTES + SMALL_BYTES;
  unsigned char *shared = shared_new(room);
  worker *w[2] = {NULL};
  worker_duty duty = {.run = touch, .context = shared};
  int64_t small_ns = 0, big_ns = 0;
  core_set cores = cores_allowed();
  int32_t core[2];
  cores_take(&cores, core, 2, threads);
  if (!shared) return fail_no_memory(error);
  situ_status status = SITU_STATUS_OK;
  for (int32_t i = 0; i < 2 && status == SITU_STATUS_OK; i++)
    status = worker_start(&w[i], &duty, &(worker_options){.name = "a hand-over", .core = core[i], .n_cores = threads},
                          error);
  if (status == SITU_STATUS_OK) status = measure(&small_ns, w, SMALL_BYTES, wait, error);
  if (status == SITU_STATUS_OK) status = measure(&big_ns, w, BIG_BYTES, wait, error);
  for (int32_t i = 0; i < 2; i++) worker_stop(w[i]);
  shared_free(shared, room);
  int64_t more_ns = big_ns > small_ns ? big_ns - small_ns : 1;
  *out = (handover){.latency_ns = small_ns, .bytes_per_s = 1e9 * (BIG_BYTES - SMALL_BYTES) / (double)more_ns};
  return status;
}
