/* Traffic: units with much traffic between them, for searches of large stream problems. First-choice clustering on
 * operators and tensors (view/first_choice.h), of units that all classes of devices treat alike. */
#include "base/checked.h"
#include "base/disjoint.h"
#include "view/first_choice.h"
#include "view/level.h"

enum { MAX_USERS = 64 }; /* tensors with more users tie nothing together */
enum { FEWEST = 32, FACTOR = 4, PER_DEVICE = 16, SLACK = 2, MAX_PASSES = 64 };

typedef struct clustering {
  const situ_problem *p;
  const unit_list *fine;
  const level_request *times;
  first_choice choice;
  int64_t *bytes;     /* [unit] weights and outputs of the cluster that it represents */
  bool *pinned;       /* [unit] */
  double max_work_ns; /* of a joined unit */
  int64_t max_bytes;
} clustering;

static void rate(clustering *c, int32_t u, int32_t v, double transfer_ns) {
  int32_t w = disjoint_root(c->choice.into, c->fine->of[v]);
  if (w != u) first_choice_rate(&c->choice, w, transfer_ns);
}

/* Rates the clusters near unit u by the cost of the tensors between them. */
static void rate_near(clustering *c, int32_t u) {
  const situ_graph *g = c->p->graph;
  const double *transfer_ns = c->times->transfer_ns;
  unit_members m = unit_list_members(c->fine, u);
  for (int32_t k = 0; k < m.n; k++) {
    int32_t v = m.member[k];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      rate(c, u, g->producer[g->in[i]], transfer_ns[g->in[i]]);
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      if (g->use_start[t + 1] - g->use_start[t] > MAX_USERS) continue;
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) rate(c, u, g->use[i], transfer_ns[t]);
    }
  }
}

/* Whether the same classes can run both clusters; a first member of each suffices to tell. */
static bool run_on_same_classes(const clustering *c, int32_t u, int32_t w) {
  const situ_problem *p = c->p;
  int64_t one = (int64_t)unit_list_members(c->fine, u).member[0] * p->n_classes;
  int64_t other = (int64_t)unit_list_members(c->fine, w).member[0] * p->n_classes;
  for (int32_t k = 0; k < p->n_classes; k++)
    if ((p->time_ns[one + k] == SITU_NEVER_NS) != (p->time_ns[other + k] == SITU_NEVER_NS)) return false;
  return true;
}

static bool may_join(const void *context, int32_t u, int32_t w) {
  const clustering *c = context;
  return !c->pinned[w] && sat_add(c->bytes[u], c->bytes[w]) <= c->max_bytes && run_on_same_classes(c, u, w);
}

/* Sums up unit u. If its members run on different classes, it counts as pinned. */
static void sum_unit(clustering *c, int32_t u) {
  const situ_problem *p = c->p;
  const situ_graph *g = p->graph;
  unit_members m = unit_list_members(c->fine, u);
  const int64_t *first = p->time_ns + (int64_t)m.member[0] * p->n_classes;
  for (int32_t k = 0; k < m.n; k++) {
    int32_t v = m.member[k];
    c->choice.work_ns[u] += c->times->work_ns[v];
    c->bytes[u] = sat_add(c->bytes[u], g->weight_bytes[v]);
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      c->bytes[u] = sat_add(c->bytes[u], g->size_bytes[t]);
    c->pinned[u] |= p->pin[v] >= 0;
    for (int32_t q = 0; q < p->n_classes; q++)
      c->pinned[u] |= (p->time_ns[(int64_t)v * p->n_classes + q] == SITU_NEVER_NS) != (first[q] == SITU_NEVER_NS);
  }
}

/* One pass: each unit of c->fine joins at most one other. */
static bool join_once(unit_list *out, clustering *c, arena *a) {
  int32_t n = c->fine->n, *key;
  if (!ARENA_ARRAYS(a, ARRAY(key, c->p->n_operators), ZEROS(c->bytes, n), ZEROS(c->pinned, n)) ||
      !first_choice_init(&c->choice, n, a))
    return false;
  for (int32_t u = 0; u < n; u++) sum_unit(c, u);
  first_choice_begin(&c->choice, n);
  for (int32_t u = 0; u < n; u++) {
    if (c->choice.into[u] != u || c->pinned[u]) continue;
    rate_near(c, u);
    int32_t w = first_choice_best(&c->choice, u, c->max_work_ns, NULL, may_join, c);
    if (w < 0) continue;
    first_choice_join(&c->choice, u, w);
    c->bytes[w] = sat_add(c->bytes[w], c->bytes[u]);
  }
  for (int32_t v = 0; v < c->p->n_operators; v++) key[v] = disjoint_root(c->choice.into, c->fine->of[v]);
  return unit_list_find(out, key, c->p->n_operators, n, a);
}

/* The smallest memory with a limit. */
static int64_t min_room(const situ_problem *p) {
  int64_t room = SITU_UNLIMITED_BYTES;
  for (int32_t m = 0; m < p->n_memories; m++) room = min64(room, p->platform->memory_bytes[m]);
  return room;
}

/* Levels of about 4^5 n_wanted, ..., 4 n_wanted, n_wanted units (32), as far as they are fewer than the fine ones.
 * O(V + E) for each, sorting aside. */
static bool traffic_find(level_list *out, const situ_problem *p, const level_request *request, arena *a) {
  const unit_list *fine = request->fine ? request->fine : &p->units;
  double work_ns = 0;
  unit_list now = *fine;
  int32_t fewest = request->n_wanted > 0 ? request->n_wanted : FEWEST;
  int64_t wanted = fewest;
  out->n = 0;
  for (int32_t v = 0; v < p->n_operators; v++) work_ns += request->work_ns[v];
  for (int32_t k = 1; k < LEVELS_MAX; k++) wanted *= FACTOR;
  for (int32_t passes = 0; wanted >= fewest && passes < MAX_PASSES; passes++) {
    if (now.n <= wanted * SLACK) {
      if (now.n < fine->n && out->n < LEVELS_MAX) out->of[out->n++] = now;
      wanted /= FACTOR;
      continue;
    }
    clustering c = {.p = p,
                    .fine = &now,
                    .times = request,
                    .max_work_ns = work_ns / (double)wanted,
                    .max_bytes = min_room(p) / PER_DEVICE};
    unit_list next;
    if (!join_once(&next, &c, a)) return false;
    if (next.n > now.n / 20 * 19) wanted /= FACTOR; /* these limits allow few joins */
    now = next;
  }
  return true;
}

const level_row level_traffic = {
    .name = "traffic",
    .title = "units with much traffic between them, joined level by level",
    .source = "Karypis, Kumar, DAC 1999",
    .find = traffic_find,
};
