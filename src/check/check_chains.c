/* The judge of the device-indexed critical path: everything that one operator waits for and everything that waits for
 * it, with the operator on one and the same device. Sums of times saturate: SITU_NEVER_NS stays what it is. Numbers of
 * operators and devices are below SITU_MAX_OPERATORS * SITU_MAX_DEVICES, 2^38. */
#include "base/checked.h"
#include "check/check_certificate.h"

/* Above this many memories a tensor takes the least time of any route. */
enum { MEMORIES = 16 };
static const int64_t CELLS = (int64_t)1 << 24;

typedef struct ways {
  const judge *j;
  int64_t *here, *there; /* [device] */
  int64_t *at, *ready;   /* [memory] */
} ways;

static bool ways_init(ways *w, const judge *j) {
  int32_t devices = j->problem->n_devices, memories = j->platform->n_memories;
  *w = (ways){.j = j,
              .here = ARENA_NEW(j->scratch, int64_t, devices),
              .there = ARENA_NEW(j->scratch, int64_t, devices),
              .at = ARENA_NEW(j->scratch, int64_t, memories),
              .ready = ARENA_NEW(j->scratch, int64_t, memories)};
  return w->here && w->there && w->at && w->ready;
}

/* Between a device and the host, in the direction that is asked for; hosts pay nothing. */
static int64_t over_host(const judge *j, int32_t t, int32_t d, bool into) {
  int32_t own = j->platform->memory_of[d], host = j->platform->memory_of[j->problem->host];
  if (j->platform->devices[d].is_host) return 0;
  return into ? judge_transfer_ns(j, t, host, own) : judge_transfer_ns(j, t, own, host);
}

/* calls: a tensor stays on its device for nothing, or leaves it and enters another. */
static void carry_staged(ways *w, int32_t t, bool backward) {
  int64_t soonest = SITU_NEVER_NS;
  for (int32_t d = 0; d < w->j->problem->n_devices; d++)
    soonest = min64(soonest, sat_add(w->here[d], over_host(w->j, t, d, backward)));
  for (int32_t d = 0; d < w->j->problem->n_devices; d++)
    w->there[d] = min64(w->here[d], sat_add(soonest, over_host(w->j, t, d, !backward)));
}

/* there[d]: the least over e of here[e] and the time of tensor t from e to d; backward from d to e. */
static void carry(ways *w, int32_t t, bool backward) {
  const judge *j = w->j;
  int32_t memories = j->platform->n_memories;
  if (j->problem->execution == SITU_EXECUTION_CALLS) {
    carry_staged(w, t, backward);
    return;
  }
  int64_t any = SITU_NEVER_NS, min = SITU_NEVER_NS;
  for (int32_t m = 0; m < memories; m++) w->at[m] = SITU_NEVER_NS;
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    int32_t m = j->platform->memory_of[d];
    w->at[m] = min64(w->at[m], w->here[d]);
    any = min64(any, w->here[d]);
  }
  if (memories > MEMORIES) min = j->problem->costs->row_min_ns[costs_row(j->problem->costs, t)];
  for (int32_t m = 0; m < memories; m++) {
    w->ready[m] = memories > MEMORIES ? min64(w->at[m], sat_add(any, min)) : w->at[m];
    for (int32_t from = 0; from < memories && memories <= MEMORIES; from++)
      w->ready[m] = min64(w->ready[m], sat_add(w->at[from], backward ? judge_transfer_ns(j, t, m, from)
                                                                     : judge_transfer_ns(j, t, from, m)));
  }
  for (int32_t d = 0; d < j->problem->n_devices; d++) w->there[d] = w->ready[j->platform->memory_of[d]];
}

bool check_chains(int64_t *head, int64_t *tail, const bool *may, const judge *j) {
  const situ_graph *g = j->graph;
  int64_t devices = j->problem->n_devices;
  ways w;
  if (!ways_init(&w, j)) return false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    for (int32_t d = 0; d < devices; d++) {
      int64_t *own = &head[v * devices + d], time = judge_time_ns(j, v, d);
      w.here[d] = *own = may[v * devices + d] ? sat_add(*own, time) : SITU_NEVER_NS;
    }
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      carry(&w, t, false);
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        for (int32_t d = 0; d < devices; d++)
          head[g->use[i] * devices + d] = max64(head[g->use[i] * devices + d], w.there[d]);
    }
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    for (int32_t d = 0; d < devices; d++) {
      int64_t *own = &tail[v * devices + d], time = judge_time_ns(j, v, d);
      if (!may[v * devices + d]) *own = SITU_NEVER_NS;
      w.here[d] = sat_add(*own, time);
    }
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int64_t *before = tail + g->producer[g->in[i]] * devices;
      carry(&w, g->in[i], true);
      for (int32_t d = 0; d < devices; d++) before[d] = max64(before[d], w.there[d]);
    }
  }
  return true;
}

static bool by_chains(int64_t *head, int64_t *tail, const bool *may, int32_t window, const judge *j) {
  return check_chains(head, tail, may, j);
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  *proved_ns = CERTIFICATE_TOO_LONG;
  if ((int64_t)j->problem->n_devices * j->problem->n_operators > CELLS) return SITU_STATUS_OK;
  return check_operator(proved_ns, j, c, by_chains, 0, error);
}

const certificate_rule critical_path_rule = {
    .kind = "critical_path", .models = MODEL_STREAM | MODEL_CALLS, .prove = prove};
