/* What is declared here are the few entries used, in the binary form that Open MPI keeps for libmpi.so.40 (releases 3
 * to 5). */
#include "ranks/mpi_port.h"

#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/library.h"
#include "base/os.h"

enum { SERIALIZED = 2, MULTIPLE = 3, NAP_NS = 50000 };

typedef void *handle; /* of Open MPI: a pointer, for communicators, types, requests */

#define MPI_ENTRIES(ENTRY)                                               \
  ENTRY(Init_thread, (int *, char ***, int, int *))                      \
  ENTRY(Query_thread, (int *))                                           \
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

struct mpi_port {
#define MEMBER(NAME, PARAMETERS) int(*NAME) PARAMETERS;
  MPI_ENTRIES(MEMBER)
  handle comm, byte;
  int rank, n;
  bool initialised; /* by this file */
  int slack;        /* of timers, as it was */
};

int32_t mpi_port_own(const mpi_port *p) { return p->rank; }

int32_t mpi_port_count(const mpi_port *p) { return p->n; }

static situ_status fail_mpi(const char *what, situ_error *error) {
  return fail_with(error, SITU_STATUS_ENGINE, "MPI", "failed in %s", what);
}

#define CALL(P, NAME, ...)                                                 \
  do {                                                                     \
    if ((P)->NAME(__VA_ARGS__) != 0) return fail_mpi("MPI_" #NAME, error); \
  } while (0)

/* ---- begin ---- */

static situ_status load(mpi_port *p, handle *world, handle *errors_return, situ_error *error) {
  const char *given = getenv("SITU_MPI"), *path = given && *given ? given : OS_LIBRARY("mpi", ".40");
  bool whole = true;
  void *library;
  TRY(library_load(&library, path, true, error)); /* open: it has plug-ins */
#define FIND(NAME, PARAMETERS)                                       \
  *(void **)(void *)&p->NAME = library_entry(library, "MPI_" #NAME); \
  whole &= p->NAME != NULL;
  MPI_ENTRIES(FIND)
  *world = library_entry(library, "ompi_mpi_comm_world");
  *errors_return = library_entry(library, "ompi_mpi_errors_return");
  p->byte = library_entry(library, "ompi_mpi_byte");
  if (whole && *world && *errors_return && p->byte) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_ENGINE, path,
                   "is not Open MPI, the only MPI that situ supports (set SITU_MPI to its path)");
}

/* Who initialises MPI, and for which threads. */
static situ_status initialise(mpi_port *p, bool threads, situ_error *error) {
  int begun = 0, ended = 0, level = 0;
  CALL(p, Finalized, &ended);
  if (ended)
    return fail_with(
        error, SITU_STATUS_ENGINE, "MPI",
        "was already finalised in this process; a program that uses it several times must initialise it itself");
  CALL(p, Initialized, &begun);
  p->initialised = !begun;
  if (begun) CALL(p, Query_thread, &level);
  if (!begun) CALL(p, Init_thread, NULL, NULL, threads ? SERIALIZED : 0, &level);
  if (!threads || level >= (begun ? MULTIPLE : SERIALIZED)) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, "MPI", "%s",
                   begun ? "was initialised without MPI_THREAD_MULTIPLE" : "supports only one thread");
}

static situ_status begin(mpi_port *p, bool threads, situ_error *error) {
  handle world = NULL, errors_return = NULL;
  TRY(load(p, &world, &errors_return, error));
  TRY(initialise(p, threads, error));
  CALL(p, Comm_dup, world, &p->comm);
  CALL(p, Comm_set_errhandler, p->comm, errors_return);
  CALL(p, Comm_rank, p->comm, &p->rank);
  CALL(p, Comm_size, p->comm, &p->n);
  if (p->n > MPI_PORT_MAX)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, "MPI", "started %d ranks; at most %d can work together", p->n,
                     (int)MPI_PORT_MAX);
  p->slack = os_nap_slack(1000); /* ns: short naps are short */
  return SITU_STATUS_OK;
}

bool mpi_port_wanted(void) {
  const char *size = getenv("OMPI_COMM_WORLD_SIZE");
  return size && atoi(size) > 1;
}

situ_status mpi_port_open(mpi_port **out, bool threads, situ_error *error) {
  *out = calloc(1, sizeof **out);
  if (!*out) return fail_no_memory(error);
  situ_status status = begin(*out, threads, error);
  if (status == SITU_STATUS_OK) return status;
  free(*out);
  *out = NULL;
  return status;
}

/* ---- messages ---- */

static situ_status check_bytes(int64_t n, situ_error *error) {
  if (n <= INT_MAX) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "%lld bytes are too many for one message", (long long)n);
}

situ_status mpi_port_send(mpi_port *p, mpi_message *out, int32_t to, int32_t tag, const void *bytes, int64_t n,
                          situ_error *error) {
  TRY(check_bytes(n, error));
  CALL(p, Issend, bytes, (int)n, p->byte, to, tag, p->comm, out);
  return SITU_STATUS_OK;
}

situ_status mpi_port_receive(mpi_port *p, mpi_message *out, int32_t from, int32_t tag, void *bytes, int64_t n,
                             situ_error *error) {
  TRY(check_bytes(n, error));
  CALL(p, Irecv, bytes, (int)n, p->byte, from, tag, p->comm, out);
  return SITU_STATUS_OK;
}

/* In batches: each MPI call polls all sockets once, however many messages it tests. */
situ_status mpi_port_test(mpi_port *p, mpi_message *messages, int32_t n, int32_t *done, int32_t *n_done,
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
    CALL(p, Testsome, n_batch, batch, &n_ended, which, NULL);
    for (int k = 0; k < n_ended; k++) {
      done[(*n_done)++] = at[which[k]];
      messages[at[which[k]]] = NULL;
    }
    n_batch = 0;
  }
  return SITU_STATUS_OK;
}

void mpi_port_cancel(mpi_port *p, mpi_message *message) {
  int32_t which, n_done = 0;
  if (!*message) return;
  p->Cancel(message);
  while (n_done == 0 && mpi_port_test(p, message, 1, &which, &n_done, NULL) == SITU_STATUS_OK) continue;
}

void mpi_port_nap(void) { os_nap(NAP_NS); }

/* ---- end ---- */

void mpi_port_close(mpi_port *p, bool broken) {
  if (!p) return;
  os_nap_slack(p->slack);
  if (!broken) {
    p->Comm_free(&p->comm);
    if (p->initialised) p->Finalize();
  }
  free(p);
}
