/* MPI, by the library that mpirun brings. It is found at run time and never linked: what is declared here are the few
 * entries used, in the binary form that Open MPI keeps for libmpi.so.40 (releases 3 to 5). */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "engine/driver.h"
#include "engine/ranks.h"

enum { ANY_SOURCE = -1, TAG_FAILURE = 1, TAG_TALK = 2 };
static const int64_t SPIN_NS = 1000000, NAP_NS = 50000, LOOK_NS = 10000000, FAREWELL_NS = 1000000000;

typedef void *handle; /* of Open MPI: a pointer, for communicators, types, requests */

#define MPI_ENTRIES(ENTRY)                                               \
  ENTRY(Init, (int *, char ***))                                         \
  ENTRY(Initialized, (int *))                                            \
  ENTRY(Finalize, (void))                                                \
  ENTRY(Finalized, (int *))                                              \
  ENTRY(Comm_dup, (handle, handle *))                                    \
  ENTRY(Comm_free, (handle *))                                           \
  ENTRY(Comm_rank, (handle, int *))                                      \
  ENTRY(Comm_size, (handle, int *))                                      \
  ENTRY(Comm_set_errhandler, (handle, handle))                           \
  ENTRY(Issend, (const void *, int, handle, int, int, handle, handle *)) \
  ENTRY(Irecv, (void *, int, handle, int, int, handle, handle *))        \
  ENTRY(Cancel, (handle *))                                              \
  ENTRY(Testsome, (int, handle *, int *, int *, void *))

struct ranks {
#define MEMBER(NAME, PARAMETERS) int(*NAME) PARAMETERS;
  MPI_ENTRIES(MEMBER)
  handle comm, byte;
  int rank, n;
  bool initialised; /* by this file */
  const patience *wait;
  int64_t looked_ns; /* when failures were last looked for, and the caller asked whether to stop */
  situ_error news;   /* what a rank told of its failure */
  ranks_message listening;
  bool failed; /* this rank or another, and all others were told */
  int slack;   /* of timers, as it was */
};

int32_t ranks_own(const ranks *r) { return r ? r->rank : 0; }

int32_t ranks_count(const ranks *r) { return r ? r->n : 1; }

static situ_status fail_mpi(const char *what, situ_error *error) {
  return fail_with(error, SITU_STATUS_ENGINE, "MPI", "failed in %s", what);
}

#define CALL(R, NAME, ...) \
  if ((R)->NAME(__VA_ARGS__) != 0) return fail_mpi("MPI_" #NAME, error)

/* ---- begin ---- */

static situ_status load(ranks *r, handle *world, handle *errors_return, situ_error *error) {
  const char *given = getenv("SITU_MPI"), *path = given && *given ? given : "libmpi.so.40";
  bool whole = true;
  void *library;
  TRY(driver_library(&library, path, true, error)); /* open: it has plug-ins */
#define FIND(NAME, PARAMETERS)                                       \
  *(void **)(void *)&r->NAME = driver_symbol(library, "MPI_" #NAME); \
  whole &= r->NAME != NULL;
  MPI_ENTRIES(FIND)
  *world = driver_symbol(library, "ompi_mpi_comm_world");
  *errors_return = driver_symbol(library, "ompi_mpi_errors_return");
  r->byte = driver_symbol(library, "ompi_mpi_byte");
  if (whole && *world && *errors_return && r->byte) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_ENGINE, path, "is not Open MPI, which alone is known here (SITU_MPI names it)");
}

static situ_status listen_for_failures(ranks *r, situ_error *error) {
  return ranks_receive(r, &r->listening, ANY_SOURCE, TAG_FAILURE, &r->news, sizeof r->news, error);
}

static situ_status begin(ranks *r, situ_error *error) {
  int begun = 0, ended = 0;
  handle world = NULL, errors_return = NULL;
  TRY(load(r, &world, &errors_return, error));
  CALL(r, Finalized, &ended);
  if (ended)
    return fail_with(error, SITU_STATUS_ENGINE, "MPI",
                     "has ended in this process; a program that runs several plans has to initialise it by itself");
  CALL(r, Initialized, &begun);
  if (!begun) CALL(r, Init, NULL, NULL);
  r->initialised = !begun;
  CALL(r, Comm_dup, world, &r->comm);
  CALL(r, Comm_set_errhandler, r->comm, errors_return);
  CALL(r, Comm_rank, r->comm, &r->rank);
  CALL(r, Comm_size, r->comm, &r->n);
  if (r->n > RANKS_MOST)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, "MPI", "started %d ranks, and at most %d can work together", r->n,
                     (int)RANKS_MOST);
  r->slack = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, 1000); /* ns: short naps are short */
  return listen_for_failures(r, error);
}

situ_status ranks_open(ranks **out, const patience *wait, situ_error *error) {
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  *out = NULL;
  if (!size || atoi(size) <= 1) return SITU_STATUS_OK;
  ranks *r = calloc(1, sizeof *r);
  if (!r) return fail_no_memory(error);
  r->wait = wait;
  situ_status status = begin(r, error);
  if (status == SITU_STATUS_OK)
    *out = r;
  else
    free(r);
  return status;
}

/* ---- messages ---- */

static situ_status check_bytes(int64_t n, situ_error *error) {
  if (n <= INT_MAX) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "a tensor of %lld bytes is too large for one message",
                   (long long)n);
}

situ_status ranks_send(ranks *r, ranks_message *out, int32_t to, int32_t tag, const void *bytes, int64_t n,
                       situ_error *error) {
  TRY(check_bytes(n, error));
  CALL(r, Issend, bytes, (int)n, r->byte, to, tag, r->comm, out);
  return SITU_STATUS_OK;
}

situ_status ranks_receive(ranks *r, ranks_message *out, int32_t from, int32_t tag, void *bytes, int64_t n,
                          situ_error *error) {
  TRY(check_bytes(n, error));
  CALL(r, Irecv, bytes, (int)n, r->byte, from, tag, r->comm, out);
  return SITU_STATUS_OK;
}

/* In batches: each call of MPI looks at all sockets once, whatever number of messages it is asked about. */
situ_status ranks_test(ranks *r, ranks_message *messages, int32_t n, int32_t *done, int32_t *n_done,
                       situ_error *error) {
  enum { BATCH = 128 };
  handle batch[BATCH];
  int32_t at[BATCH];
  int which[BATCH], n_batch = 0, n_ended;
  *n_done = 0;
  for (int32_t i = 0; i < n; i++) {
    if (messages[i]) {
      at[n_batch] = i;
      batch[n_batch++] = messages[i];
    }
    if (n_batch == 0 || (n_batch < BATCH && i < n - 1)) continue;
    CALL(r, Testsome, n_batch, batch, &n_ended, which, NULL);
    for (int k = 0; k < n_ended; k++) {
      done[(*n_done)++] = at[which[k]];
      messages[at[which[k]]] = NULL;
    }
    n_batch = 0;
  }
  return SITU_STATUS_OK;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL); }

/* Tells all others, and waits until each has heard or `most_ns` are over: then the first that has not, else -1. */
static int32_t tell_all(ranks *r, const situ_error *told, int64_t most_ns) {
  ranks_message messages[RANKS_MOST] = {NULL};
  int32_t done[RANKS_MOST], n_done = 0, n_left = 0, first = 0;
  for (int32_t to = 0; to < r->n; to++)
    if (to != r->rank && ranks_send(r, &messages[to], to, TAG_FAILURE, told, sizeof *told, NULL) == SITU_STATUS_OK)
      n_left++;
  for (int64_t until_ns = clock_now_ns() + most_ns; n_left > 0 && clock_now_ns() < until_ns; nap()) {
    if (ranks_test(r, messages, r->n, done, &n_done, NULL) != SITU_STATUS_OK) break;
    n_left -= n_done;
  }
  while (first < r->n && !messages[first]) first++;
  return first < r->n ? first : -1;
}

/* Who waits in vain may wait for one that waits itself: asks all whether they are there. */
static situ_status fail_late(ranks *r, int32_t whom, double limit_s, situ_error *error) {
  static const situ_error nothing;
  int32_t lost = tell_all(r, &nothing, FAREWELL_NS);
  return fail_with(error, SITU_STATUS_ENGINE, NULL, "heard nothing from rank %d for %g s",
                   (int)(lost >= 0 ? lost : whom), limit_s);
}

/* Takes what other ranks tell of failures; an empty message only asks whether this one is there. */
static situ_status hear_failures(ranks *r, situ_error *error) {
  int32_t which, n_done;
  TRY(ranks_test(r, &r->listening, 1, &which, &n_done, error));
  if (n_done == 0) return SITU_STATUS_OK;
  if (r->news.status == SITU_STATUS_OK) return listen_for_failures(r, error);
  r->failed = true;
  r->news.where[sizeof r->news.where - 1] = r->news.text[sizeof r->news.text - 1] = '\0';
  return fail_with(error, r->news.status, r->news.where, "%s", r->news.text);
}

situ_status ranks_watch(ranks *r, int32_t whom, double limit_s, int64_t since_ns, situ_error *error) {
  int64_t now_ns = clock_now_ns();
  if (now_ns - r->looked_ns < LOOK_NS) return SITU_STATUS_OK;
  r->looked_ns = now_ns;
  TRY(hear_failures(r, error));
  if (r->wait->stop && r->wait->stop(r->wait->context))
    return fail_with(error, SITU_STATUS_CANCELLED, NULL, "was stopped");
  return (double)(now_ns - since_ns) < limit_s * 1e9 ? SITU_STATUS_OK : fail_late(r, whom, limit_s, error);
}

static situ_status await(ranks *r, ranks_message message, int32_t whom, situ_error *error) {
  int64_t begun_ns = clock_now_ns();
  double limit_s = patience_limit_s(r->wait);
  for (int32_t which, n_done = 0;;) {
    TRY(ranks_test(r, &message, 1, &which, &n_done, error));
    if (n_done > 0) return SITU_STATUS_OK;
    TRY(ranks_watch(r, whom, 2 * limit_s, begun_ns, error));
    if (clock_now_ns() - begun_ns > SPIN_NS) nap();
  }
}

situ_status ranks_tell(ranks *r, int32_t to, const void *bytes, int64_t n, situ_error *error) {
  ranks_message message;
  TRY(ranks_send(r, &message, to, TAG_TALK, bytes, n, error));
  return await(r, message, to, error);
}

situ_status ranks_hear(ranks *r, int32_t from, void *bytes, int64_t n, situ_error *error) {
  ranks_message message;
  TRY(ranks_receive(r, &message, from, TAG_TALK, bytes, n, error));
  return await(r, message, from, error);
}

/* ---- end ---- */

void ranks_fail(ranks *r, const situ_error *error) {
  if (!r || r->failed) return;
  r->failed = true;
  if (error->status == SITU_STATUS_CANCELLED) return; /* mpirun stops all, and soon kills; some may be gone already */
  situ_error told = *error;
  snprintf(told.where, sizeof told.where, "rank %d%s%.*s", r->rank, *error->where ? ": " : "",
           (int)sizeof told.where - 16, error->where);
  tell_all(r, &told, FAREWELL_NS);
}

void ranks_close(ranks *r) {
  if (!r) return;
  prctl(PR_SET_TIMERSLACK, r->slack);
  if (!r->failed) {
    int32_t which, n_done = 0;
    r->Cancel(&r->listening);
    while (n_done == 0 && ranks_test(r, &r->listening, 1, &which, &n_done, NULL) == SITU_STATUS_OK) continue;
    r->Comm_free(&r->comm);
    if (r->initialised) r->Finalize();
  }
  free(r);
}
