#include "ranks/islands.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/parallel.h"
#include "base/resize.h"
#include "ranks/mpi_port.h"

_Static_assert((int)ISLANDS_MAX >= (int)MPI_PORT_MAX, "all ranks have room");
enum { HUB = 0, TAG_BEAT = 1, TAG_HEAD = 2, TAG_BODY = 3 };
static const int64_t BEAT_NS = 200000000, LOST_NS = 10000000000, LOOK_NS = 10000000;
static const int64_t HURRY_NS = 300000000,
                     FOLLOWER_HURRY_NS = 900000000; /* mpirun kills 1 s after it has stopped all */
static const int64_t MAX_BYTES = (int64_t)1 << 40;  /* of a gather */
static const int64_t SPIN_NS = 1000000, SECOND_NS = 1000000000, FAREWELL_NS = 1000000000;

typedef enum peer_state { ALIVE = 0, LEFT, LOST } peer_state;

/* Before the bytes of a gather. */
typedef struct head {
  int64_t number, kind, n;
} head;

/* The messages from and to another rank. */
typedef struct peer {
  peer_state state;
  int64_t heard_ns;       /* when something came last */
  int32_t beat, own_beat; /* a peer_state: ALIVE or LEFT */
  mpi_message beat_in, beat_out;
  head head;
  mpi_message head_in, head_out, body_in, body_out;
  unsigned char *bytes; /* of its part of a gather, or from rank 0 the whole */
  int64_t capacity;
  bool given; /* it has come */
} peer;

typedef struct name {
  struct name *next;
  char text[];
} name;

struct situ_ranks {
  mpi_port *port;
  int32_t own, n;
  parallel_aside *beating;
  pthread_mutex_t lock; /* of the port, of peers, and of: */
  pthread_cond_t ended;
  bool ending;
  bool alive[ISLANDS_MAX]; /* as of the last gather */
  head head;               /* of the gather at hand */
  unsigned char *answer;   /* of rank 0, to all */
  int64_t capacity;
  name *names;
  peer peer[ISLANDS_MAX];
};

int32_t islands_own(const islands *all) { return all ? all->own : 0; }
int32_t islands_count(const islands *all) { return all ? all->n : 1; }
bool islands_is_alive(const islands *all, int32_t rank) { return !all || all->alive[rank]; }

int32_t islands_place(const islands *all) {
  int32_t place = 0;
  for (int32_t r = 0; r < islands_own(all); r++) place += islands_is_alive(all, r);
  return place;
}

int32_t islands_alive(const islands *all) {
  int32_t alive = 0;
  for (int32_t r = 0; r < islands_count(all); r++) alive += islands_is_alive(all, r);
  return alive;
}

const char *islands_name(islands *all, const char *text) {
  for (name *at = all->names; at; at = at->next)
    if (strcmp(at->text, text) == 0) return at->text;
  size_t n = strlen(text) + 1;
  name *made = malloc(sizeof *made + n);
  if (!made) return NULL;
  memcpy(made->text, text, n);
  made->next = all->names;
  all->names = made;
  return made->text;
}

/* ---- who is there; under the lock ---- */

static bool done(islands *all, mpi_message *message) {
  int32_t which, n_done = 0;
  return !*message || (mpi_port_test(all->port, message, 1, &which, &n_done, NULL) == SITU_STATUS_OK && n_done > 0);
}

/* Rank 0 and each other rank exchange signs of life. */
static bool is_neighbour(const islands *all, int32_t rank) {
  return rank != all->own && (rank == HUB || all->own == HUB) && all->peer[rank].state != LOST;
}

static void beat(islands *all, int32_t rank, peer_state state) {
  peer *p = &all->peer[rank];
  if (!done(all, &p->beat_out)) return;
  p->own_beat = (int32_t)state;
  mpi_port_send(all->port, &p->beat_out, rank, TAG_BEAT, &p->own_beat, sizeof p->own_beat, NULL);
}

static void listen(islands *all, int32_t rank) {
  peer *p = &all->peer[rank];
  mpi_port_receive(all->port, &p->beat_in, rank, TAG_BEAT, &p->beat, sizeof p->beat, NULL);
}

static void hear(islands *all) {
  for (int32_t r = 0; r < all->n; r++) {
    peer *p = &all->peer[r];
    if (!is_neighbour(all, r) || !p->beat_in || !done(all, &p->beat_in)) continue;
    p->heard_ns = clock_now_ns();
    if (p->beat == LEFT && all->own == HUB) p->state = LEFT;
    if (p->state == ALIVE) listen(all, r);
  }
}

/* Of the thread aside. */
static void keep_beating(void *context) {
  islands *all = context;
  pthread_mutex_lock(&all->lock);
  while (!all->ending) {
    hear(all);
    for (int32_t r = 0; r < all->n; r++)
      if (is_neighbour(all, r)) beat(all, r, ALIVE);
    clock_wait(&all->ended, &all->lock, BEAT_NS);
  }
  pthread_mutex_unlock(&all->lock);
}

/* ---- begin and end ---- */

static situ_status begin(islands *all, situ_error *error) {
  TRY(mpi_port_open(&all->port, true, error));
  all->own = mpi_port_own(all->port);
  all->n = mpi_port_count(all->port);
  int64_t now_ns = clock_now_ns();
  for (int32_t r = 0; r < all->n; r++) {
    all->peer[r].heard_ns = now_ns;
    all->alive[r] = true;
    if (is_neighbour(all, r)) listen(all, r);
  }
  all->beating = parallel_begin(keep_beating, all);
  if (all->beating) return SITU_STATUS_OK;
  mpi_port_close(all->port, true);
  return fail_no_memory(error);
}

situ_status situ_ranks_open(situ_ranks **out, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  if (!mpi_port_wanted()) return SITU_STATUS_OK;
  islands *all = calloc(1, sizeof *all);
  if (!all) return fail_no_memory(error);
  pthread_mutex_init(&all->lock, NULL);
  clock_condition(&all->ended);
  situ_status status = begin(all, error);
  if (status == SITU_STATUS_OK)
    *out = all;
  else
    free(all);
  return status;
}

static void stop_beating(islands *all) {
  pthread_mutex_lock(&all->lock);
  all->ending = true;
  pthread_cond_signal(&all->ended);
  pthread_mutex_unlock(&all->lock);
  parallel_end(all->beating);
}

/* Notifies rank 0, and cancels messages that will not be answered. */
static void leave(islands *all) {
  mpi_message *out = &all->peer[HUB].beat_out;
  int64_t until_ns = clock_now_ns() + FAREWELL_NS;
  if (all->own != HUB) {
    while (!done(all, out) && clock_now_ns() < until_ns) mpi_port_nap();
    beat(all, HUB, LEFT);
    while (!done(all, out) && clock_now_ns() < until_ns) mpi_port_nap();
  }
  for (int32_t r = 0; r < all->n; r++) {
    if (r == all->own) continue;
    mpi_port_cancel(all->port, &all->peer[r].beat_in);
    mpi_port_cancel(all->port, &all->peer[r].head_in);
  }
}

static int32_t n_lost(const situ_ranks *ranks) {
  int32_t n = 0;
  for (int32_t r = 0; r < islands_count(ranks) && ranks; r++) n += ranks->peer[r].state == LOST;
  return n;
}

void situ_ranks_free(situ_ranks *ranks) {
  if (!ranks) return;
  stop_beating(ranks);
  leave(ranks);
  bool broken = n_lost(ranks) > 0;
  mpi_port_close(ranks->port, broken);
  for (name *at = ranks->names, *next; at; at = next) {
    next = at->next;
    free(at);
  }
  if (broken) return; /* a message to a lost rank never completes: memory that it may still read is kept */
  for (int32_t r = 0; r < ranks->n; r++) free(ranks->peer[r].bytes);
  free(ranks->answer);
  pthread_cond_destroy(&ranks->ended);
  pthread_mutex_destroy(&ranks->lock);
  free(ranks);
}

bool situ_ranks_get_summary(const situ_ranks *ranks, situ_ranks_summary *out) {
  situ_ranks_summary summary = {.own = islands_own(ranks), .count = islands_count(ranks), .lost = n_lost(ranks)};
  return GIVE(out, summary);
}

/* ---- a gather ---- */

typedef struct waiting {
  islands *all;
  islands_stop *stop;
  void *context;
  int64_t begun_ns, looked_ns, stopped_ns; /* when the caller asked to stop; 0: not yet */
} waiting;

/* One look at everything, by `look`, under the lock; *over: whether it is complete. */
typedef situ_status look_function(waiting *w, bool *over, situ_error *error);

static situ_status wait_for(waiting *w, look_function *look, situ_error *error) {
  bool over = false;
  w->begun_ns = clock_now_ns();
  for (;;) {
    pthread_mutex_lock(&w->all->lock);
    hear(w->all);
    situ_status status = look(w, &over, error);
    pthread_mutex_unlock(&w->all->lock);
    if (status != SITU_STATUS_OK || over) return status;
    int64_t now_ns = clock_now_ns();
    if (now_ns - w->looked_ns >= LOOK_NS) {
      w->looked_ns = now_ns;
      if (w->stopped_ns == 0 && w->stop && w->stop(w->context)) w->stopped_ns = now_ns;
    }
    if (now_ns - w->begun_ns > SPIN_NS) mpi_port_nap();
  }
}

static bool in_a_hurry(const waiting *w) {
  int64_t max_ns = w->all->own == HUB ? HURRY_NS : FOLLOWER_HURRY_NS;
  return w->stopped_ns > 0 && clock_now_ns() - w->stopped_ns > max_ns;
}

static bool is_silent(const peer *p) { return clock_now_ns() - p->heard_ns > LOST_NS; }

/* Rank 0 gives up on a rank: its further messages are not received. */
static void lose(islands *all, peer *p) {
  if (p->state == ALIVE) p->state = LOST;
  mpi_port_cancel(all->port, &p->head_in);
  mpi_port_cancel(all->port, &p->body_in);
  mpi_port_cancel(all->port, &p->beat_in);
}

/* Room for n bytes. */
static bool make_room(unsigned char **bytes, int64_t *capacity, int64_t n) {
  if (*bytes && n <= *capacity) return true;
  if (!array_resize(bytes, n > 0 ? n : 1, 1)) return false;
  *capacity = n;
  return true;
}

/* Takes the next message of a part: its head, then its bytes. */
static situ_status take_part(islands *all, int32_t rank, situ_error *error) {
  peer *p = &all->peer[rank];
  bool was_head = p->head_in;
  bool waits = was_head || p->body_in;
  if (!waits || !done(all, was_head ? &p->head_in : &p->body_in)) return SITU_STATUS_OK;
  p->heard_ns = clock_now_ns();
  p->given = !was_head;
  if (p->given) return SITU_STATUS_OK;
  if (p->head.number != all->head.number || p->head.kind != all->head.kind)
    return fail_with(error, SITU_STATUS_INTERNAL, NULL, "rank %d makes another call than rank %d", (int)rank,
                     (int)all->own);
  if (p->head.n < 0 || p->head.n > MAX_BYTES)
    return fail_with(error, SITU_STATUS_INTERNAL, NULL, "rank %d announces %lld bytes; expected 0 to %lld", (int)rank,
                     (long long)p->head.n, (long long)MAX_BYTES);
  if (!make_room(&p->bytes, &p->capacity, p->head.n)) return fail_no_memory(error);
  return mpi_port_receive(all->port, &p->body_in, rank, TAG_BODY, p->bytes, p->head.n, error);
}

static situ_status look_for_parts(waiting *w, bool *over, situ_error *error) {
  islands *all = w->all;
  *over = true;
  for (int32_t r = 0; r < all->n; r++) {
    peer *p = &all->peer[r];
    if (r == HUB || p->given || p->state == LOST) continue;
    if (take_part(all, r, NULL) != SITU_STATUS_OK || p->state == LEFT || is_silent(p) || in_a_hurry(w))
      lose(all, p);
    else if (!p->given)
      *over = false;
  }
  return SITU_STATUS_OK;
}

static situ_status look_whether_told(waiting *w, bool *over, situ_error *error) {
  islands *all = w->all;
  *over = true;
  for (int32_t r = 0; r < all->n; r++) {
    peer *p = &all->peer[r];
    if (r == HUB || p->state != ALIVE || (done(all, &p->head_out) && done(all, &p->body_out))) continue;
    if (is_silent(p) || in_a_hurry(w))
      lose(all, p);
    else
      *over = false;
  }
  return SITU_STATUS_OK;
}

/* The answer: how many bytes of each rank, less than 0: minus its state; then the bytes. */
static bool write_answer(islands *all, const void *bytes, int64_t n) {
  int64_t at = all->n * (int64_t)sizeof at, total = at, *sizes;
  for (int32_t r = 0; r < all->n; r++) total += r == HUB ? n : all->peer[r].given ? all->peer[r].head.n : 0;
  if (!make_room(&all->answer, &all->capacity, total)) return false;
  sizes = (int64_t *)(void *)all->answer;
  for (int32_t r = 0; r < all->n; r++) {
    const peer *p = &all->peer[r];
    bool given = r == HUB || p->given;
    sizes[r] = r == HUB ? n : given ? p->head.n : -(int64_t)p->state;
    if (given && sizes[r] > 0) memcpy(all->answer + at, r == HUB ? bytes : p->bytes, (size_t)sizes[r]);
    at += given ? sizes[r] : 0;
  }
  all->head.n = total;
  return true;
}

static situ_status send_to(islands *all, int32_t rank, const void *bytes, situ_error *error) {
  peer *p = &all->peer[rank];
  TRY(mpi_port_send(all->port, &p->head_out, rank, TAG_HEAD, &all->head, sizeof all->head, error));
  return mpi_port_send(all->port, &p->body_out, rank, TAG_BODY, bytes, all->head.n, error);
}

/* Everything of rank 0. */
static situ_status lead(waiting *w, const void *bytes, int64_t n, situ_error *error) {
  islands *all = w->all;
  pthread_mutex_lock(&all->lock);
  for (int32_t r = 1; r < all->n; r++) {
    peer *p = &all->peer[r];
    p->given = false;
    if (p->state == ALIVE &&
        mpi_port_receive(all->port, &p->head_in, r, TAG_HEAD, &p->head, sizeof p->head, NULL) != SITU_STATUS_OK)
      lose(all, p);
  }
  pthread_mutex_unlock(&all->lock);
  TRY(wait_for(w, look_for_parts, error));
  if (!write_answer(all, bytes, n)) return fail_no_memory(error);
  pthread_mutex_lock(&all->lock);
  for (int32_t r = 1; r < all->n; r++)
    if (all->peer[r].given && send_to(all, r, all->answer, NULL) != SITU_STATUS_OK) lose(all, &all->peer[r]);
  pthread_mutex_unlock(&all->lock);
  return wait_for(w, look_whether_told, error);
}

static situ_status look_for_answer(waiting *w, bool *over, situ_error *error) {
  peer *hub = &w->all->peer[HUB];
  TRY(take_part(w->all, HUB, error));
  *over = hub->given;
  if (*over) return SITU_STATUS_OK;
  if (in_a_hurry(w)) return fail_with(error, SITU_STATUS_CANCELLED, NULL, "was stopped");
  if (!is_silent(hub)) return SITU_STATUS_OK;
  hub->state = LOST;
  return fail_with(error, SITU_STATUS_ENGINE, NULL,
                   "heard nothing from rank %d for %d s: it is lost, or continued without this one", HUB,
                   (int)(LOST_NS / SECOND_NS));
}

/* Everything of another rank. */
static situ_status follow(waiting *w, const void *bytes, int64_t n, situ_error *error) {
  islands *all = w->all;
  peer *hub = &all->peer[HUB];
  hub->given = false;
  pthread_mutex_lock(&all->lock);
  situ_status status = mpi_port_receive(all->port, &hub->head_in, HUB, TAG_HEAD, &hub->head, sizeof hub->head, error);
  if (status == SITU_STATUS_OK) status = send_to(all, HUB, bytes, error);
  pthread_mutex_unlock(&all->lock);
  TRY(status);
  TRY(wait_for(w, look_for_answer, error));
  pthread_mutex_lock(&all->lock);
  while (!done(all, &hub->head_out) || !done(all, &hub->body_out)) continue; /* answered, so read */
  pthread_mutex_unlock(&all->lock);
  return SITU_STATUS_OK;
}

/* An answer begins with a size for each rank, or minus why it gave nothing; the bytes of all fill the rest. */
static bool is_answer(const islands *all, const unsigned char *answer, int64_t n) {
  int64_t left = n - all->n * (int64_t)sizeof(int64_t);
  for (int32_t r = 0; r < all->n && left >= 0; r++) {
    int64_t size;
    memcpy(&size, answer + r * (int64_t)sizeof size, sizeof size);
    if (size < -(int64_t)LOST || size > left) return false;
    if (size > 0) left -= size;
  }
  return left == 0;
}

situ_status islands_gather(islands *all, islands_given *given, int32_t kind, const void *bytes, int64_t n,
                           islands_stop *stop, void *context, situ_error *error) {
  REQUIRE(given && n >= 0);
  if (!all) {
    given[0] = (islands_given){bytes, n};
    return SITU_STATUS_OK;
  }
  waiting w = {.all = all, .stop = stop, .context = context, .looked_ns = clock_now_ns()};
  all->head = (head){all->head.number + 1, kind, n};
  TRY(all->own == HUB ? lead(&w, bytes, n, error) : follow(&w, bytes, n, error));
  const unsigned char *answer = all->own == HUB ? all->answer : all->peer[HUB].bytes;
  if (all->own != HUB && !is_answer(all, answer, all->peer[HUB].head.n))
    return fail_with(error, SITU_STATUS_INTERNAL, NULL, "rank %d sent an answer whose parts do not fill it", HUB);
  const int64_t *sizes = (const int64_t *)(const void *)answer;
  const unsigned char *at = answer + all->n * (int64_t)sizeof *sizes;
  for (int32_t r = 0; r < all->n; r++) {
    given[r] = (islands_given){sizes[r] < 0 ? NULL : at, sizes[r] < 0 ? 0 : sizes[r]};
    if (sizes[r] < 0 && all->own != HUB) all->peer[r].state = (peer_state)-sizes[r];
    all->alive[r] = sizes[r] >= 0;
    at += given[r].n;
  }
  return SITU_STATUS_OK;
}
