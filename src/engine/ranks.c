/* The processes of one run: messages through the MPI port, and the failures that ranks report to each other. */
#include "engine/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"

enum { TAG_FAILURE = 1, TAG_TALK = 2 };
static const int64_t SPIN_NS = 1000000, LOOK_NS = 10000000, FAREWELL_NS = 1000000000;

struct ranks {
  mpi_port *port;
  const wait_limit *wait;
  int64_t looked_ns; /* when failures and the callback of the caller were last polled */
  situ_error news;   /* the failure that a rank reported */
  ranks_message listening;
  bool failed; /* this rank or another, and all others were notified */
};

int32_t ranks_own(const ranks *r) { return r ? mpi_port_own(r->port) : 0; }

int32_t ranks_count(const ranks *r) { return r ? mpi_port_count(r->port) : 1; }

static situ_status listen_for_failures(ranks *r, situ_error *error) {
  return ranks_receive(r, &r->listening, MPI_PORT_ANY, TAG_FAILURE, &r->news, sizeof r->news, error);
}

situ_status ranks_open(ranks **out, const wait_limit *wait, situ_error *error) {
  *out = NULL;
  if (!mpi_port_wanted()) return SITU_STATUS_OK;
  ranks *r = calloc(1, sizeof *r);
  if (!r) return fail_no_memory(error);
  r->wait = wait;
  situ_status status = mpi_port_open(&r->port, false, error);
  if (status == SITU_STATUS_OK) status = listen_for_failures(r, error);
  HAND_OUT(out, r, status, free);
}

/* ---- messages ---- */

situ_status ranks_send(ranks *r, ranks_message *out, int32_t to, int32_t tag, const void *bytes, int64_t n,
                       situ_error *error) {
  return mpi_port_send(r->port, out, to, tag, bytes, n, error);
}

situ_status ranks_receive(ranks *r, ranks_message *out, int32_t from, int32_t tag, void *bytes, int64_t n,
                          situ_error *error) {
  return mpi_port_receive(r->port, out, from, tag, bytes, n, error);
}

situ_status ranks_test(ranks *r, ranks_message *messages, int32_t n, int32_t *done, int32_t *n_done,
                       situ_error *error) {
  return mpi_port_test(r->port, messages, n, done, n_done, error);
}

/* Notifies all others, and waits until each has received it or `max_ns` have passed. Returns the first that has not, or
 * -1. */
static int32_t notify_all(ranks *r, const situ_error *failure, int64_t max_ns) {
  ranks_message messages[RANKS_MAX] = {NULL};
  int32_t done[RANKS_MAX], n_done = 0, n_left = 0, first = 0, own = ranks_own(r), n = ranks_count(r);
  for (int32_t to = 0; to < n; to++)
    if (to != own && ranks_send(r, &messages[to], to, TAG_FAILURE, failure, sizeof *failure, NULL) == SITU_STATUS_OK)
      n_left++;
  for (int64_t until_ns = clock_now_ns() + max_ns; n_left > 0 && clock_now_ns() < until_ns; mpi_port_nap()) {
    if (ranks_test(r, messages, n, done, &n_done, NULL) != SITU_STATUS_OK) break;
    n_left -= n_done;
  }
  while (first < n && !messages[first]) first++;
  return first < n ? first : -1;
}

/* The rank that was waited for may itself wait for a lost one: finds out which rank does not answer. */
static situ_status fail_late(ranks *r, int32_t whom, double limit_s, situ_error *error) {
  static const situ_error nothing;
  int32_t lost = notify_all(r, &nothing, FAREWELL_NS);
  return fail_with(error, SITU_STATUS_ENGINE, NULL, "heard nothing from rank %d for %g s",
                   (int)(lost >= 0 ? lost : whom), limit_s);
}

/* Receives failures of other ranks; an empty message only checks that this one is alive. */
static situ_status receive_failures(ranks *r, situ_error *error) {
  int32_t which, n_done;
  TRY(ranks_test(r, &r->listening, 1, &which, &n_done, error));
  if (n_done == 0) return SITU_STATUS_OK;
  if (r->news.status == SITU_STATUS_OK) return listen_for_failures(r, error);
  r->failed = true;
  if ((unsigned)r->news.status > SITU_STATUS_CANCELLED) r->news.status = SITU_STATUS_ENGINE;
  r->news.where[sizeof r->news.where - 1] = r->news.text[sizeof r->news.text - 1] = '\0';
  return fail_with(error, r->news.status, r->news.where, "%s", r->news.text);
}

situ_status ranks_watch(ranks *r, int32_t whom, double limit_s, int64_t since_ns, situ_error *error) {
  int64_t now_ns = clock_now_ns();
  if (now_ns - r->looked_ns < LOOK_NS) return SITU_STATUS_OK;
  r->looked_ns = now_ns;
  TRY(receive_failures(r, error));
  if (r->wait->stop && r->wait->stop(r->wait->context))
    return fail_with(error, SITU_STATUS_CANCELLED, NULL, "was stopped");
  return (double)(now_ns - since_ns) < limit_s * 1e9 ? SITU_STATUS_OK : fail_late(r, whom, limit_s, error);
}

static situ_status await(ranks *r, ranks_message message, int32_t whom, situ_error *error) {
  int64_t begun_ns = clock_now_ns();
  double limit_s = wait_limit_s(r->wait);
  for (int32_t which, n_done = 0;;) {
    TRY(ranks_test(r, &message, 1, &which, &n_done, error));
    if (n_done > 0) return SITU_STATUS_OK;
    TRY(ranks_watch(r, whom, 2 * limit_s, begun_ns, error));
    if (clock_now_ns() - begun_ns > SPIN_NS) mpi_port_nap();
  }
}

situ_status ranks_send_wait(ranks *r, int32_t to, const void *bytes, int64_t n, situ_error *error) {
  ranks_message message;
  TRY(ranks_send(r, &message, to, TAG_TALK, bytes, n, error));
  return await(r, message, to, error);
}

situ_status ranks_receive_wait(ranks *r, int32_t from, void *bytes, int64_t n, situ_error *error) {
  ranks_message message;
  TRY(ranks_receive(r, &message, from, TAG_TALK, bytes, n, error));
  return await(r, message, from, error);
}

/* ---- end ---- */

void ranks_fail(ranks *r, const situ_error *error) {
  if (!r || r->failed) return;
  r->failed = true;
  if (error->status == SITU_STATUS_CANCELLED)
    return; /* mpirun stops all and soon kills them; some may have ended already */
  situ_error failure = *error;
  snprintf(failure.where, sizeof failure.where, "rank %d%s%.*s", (int)ranks_own(r), *error->where ? ": " : "",
           (int)sizeof failure.where - 16, error->where);
  notify_all(r, &failure, FAREWELL_NS);
}

void ranks_close(ranks *r) {
  if (!r) return;
  if (!r->failed) mpi_port_cancel(r->port, &r->listening);
  mpi_port_close(r->port, r->failed);
  free(r);
}
