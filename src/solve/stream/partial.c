#include "solve/stream/partial.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "solve/common/solver.h"
#include "view/footprint.h"

static const int64_t CELLS_LIMIT = (int64_t)1 << 25;

typedef struct timed {
  int64_t start_ns, finish_ns;
  int32_t v;
} timed;

static int64_t min_time(const situ_problem *p, int32_t class) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t time = p->time_ns[(int64_t)v * p->n_classes + class];
    if (time > 0) min = min64(min, time);
  }
  return min;
}

static void sum_units(partial_schedule *s) {
  const situ_problem *p = s->problem;
  bool large = solve_is_large(p) && s->limited;
  for (int32_t k = 0; k < s->units->n; k++) {
    unit_members u = unit_list_members(s->units, k);
    bool *runs = s->unit_runs + (int64_t)k * p->n_classes;
    memset(runs, true, (size_t)p->n_classes * sizeof *runs);
    s->unit_pin[k] = -1;
    for (int32_t i = 0; i < u.n; i++) {
      int32_t v = u.member[i];
      s->unit_weights[k] = sat_add(s->unit_weights[k], p->graph->weight_bytes[v]);
      if (large) s->unit_weights[k] = sat_add(s->unit_weights[k], footprint_staying_bytes(p->graph, v));
      s->unit_footprint[k] = max64(s->unit_footprint[k], footprint_bytes(p->graph, v));
      if (p->pin[v] >= 0) s->unit_pin[k] = p->pin[v];
      for (int32_t c = 0; c < p->n_classes; c++) runs[c] &= p->time_ns[(int64_t)v * p->n_classes + c] != SITU_NEVER_NS;
    }
  }
}

bool partial_init(partial_schedule *s, const situ_problem *p, arena *a) {
  return partial_init_units(s, p, &p->units, a);
}

bool partial_init_units(partial_schedule *s, const situ_problem *p, const unit_list *units, arena *a) {
  int32_t n = p->n_operators, n_devices = p->n_devices;
  int64_t *min;
  timed *sorting;
  *s = (partial_schedule){.problem = p, .units = units};
  if (!ARENA_ARRAYS(a, ARRAY(s->device, n), ARRAY(s->order, n), ARRAY(s->start_ns, n), ARRAY(s->finish_ns, n),
                    ARRAY(s->lines, n_devices), ZEROS(s->arrival_ns, p->n_memories), ARRAY(s->candidates, n_devices),
                    ARRAY(s->weights, p->n_memories), ARRAY(s->footprint, p->n_memories),
                    ZEROS(s->unit_weights, units->n), ZEROS(s->unit_footprint, units->n),
                    ARRAY(s->unit_device, units->n), ARRAY(s->unit_pin, units->n),
                    ARRAY(s->unit_runs, (int64_t)units->n * p->n_classes), ARRAY(sorting, 2 * (int64_t)n),
                    ARRAY(min, p->n_classes)) ||
      !timeline_pool_init(&s->pool, a, (int64_t)n + n_devices))
    return false;
  s->sorting = sorting;
  for (int32_t k = 0; k < p->n_classes; k++) min[k] = min_time(p, k);
  for (int32_t d = 0; d < n_devices; d++) s->lines[d].min = min[p->class_of[d]];
  s->limited = !footprint_fits_always(p);
  sum_units(s);
  partial_clear(s);
  return true;
}

void partial_clear(partial_schedule *s) {
  const situ_problem *p = s->problem;
  for (int32_t v = 0; v < p->n_operators; v++) s->device[v] = -1;
  for (int32_t k = 0; k < s->units->n; k++) s->unit_device[k] = -1;
  for (int32_t m = 0; m < p->n_memories; m++) s->weights[m] = s->footprint[m] = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    s->lines[d].root = 0;
    s->lines[d].end = 0;
  }
  timeline_pool_clear(&s->pool);
  s->short_of_room = false;
  for (int32_t c = 0; s->links && c < p->platform->n_channels; c++) s->channel_ns[c] = 0;
  for (int64_t i = 0; s->links && i < (int64_t)p->graph->n_tensors * p->n_memories; i++) s->sent_ns[i] = -1;
}

bool partial_follow_links(partial_schedule *s, arena *a) {
  const situ_problem *p = s->problem;
  int64_t cells = (int64_t)p->graph->n_tensors * p->n_memories;
  if (cells > CELLS_LIMIT) return false;
  if (!s->sent_ns) {
    s->sent_ns = ARENA_NEW(a, int64_t, cells);
    s->channel_ns = ARENA_NEW(a, int64_t, p->platform->n_channels);
  }
  s->links = s->sent_ns && s->channel_ns;
  partial_clear(s);
  return s->links;
}

/* When tensor t, sent from memory a at `ready`, arrives in memory m over channels as they are occupied now. With
 * `commit` the transfer then occupies them. */
static int64_t arrival_over_links(partial_schedule *s, int32_t t, int32_t a, int32_t m, int64_t ready, bool commit) {
  const situ_problem *p = s->problem;
  const situ_platform *f = p->platform;
  int64_t route = (int64_t)a * p->n_memories + m;
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
    int32_t link = f->route_link[k];
    int64_t *busy = &s->channel_ns[f->links[link].channel];
    ready = sat_add(max64(ready, *busy), p->transfer_ns[t][p->costs->link_kind[link]]);
    if (commit) *busy = ready;
  }
  return ready;
}

static void arrive_over_links(partial_schedule *s, int32_t v, int32_t first, int32_t last) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t], a = p->memory_of[s->device[u]];
    for (int32_t m = first; m <= last; m++) {
      int64_t there = s->sent_ns[(int64_t)t * p->n_memories + m];
      if (there < 0) there = arrival_over_links(s, t, a, m, s->finish_ns[u], false);
      s->arrival_ns[m] = max64(s->arrival_ns[m], there);
    }
  }
}

void partial_send(partial_schedule *s, int32_t v, int32_t d) {
  if (!s->links) return;
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t m = p->memory_of[d];
  s->arrival_ns[m] = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    int64_t *there = &s->sent_ns[(int64_t)t * p->n_memories + m];
    if (*there < 0) *there = arrival_over_links(s, t, p->memory_of[s->device[u]], m, s->finish_ns[u], true);
    s->arrival_ns[m] = max64(s->arrival_ns[m], *there);
  }
}

/* Fills arrival_ns[first .. last]. */
static void arrive(partial_schedule *s, int32_t v, int32_t first, int32_t last) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  for (int32_t m = first; m <= last; m++) s->arrival_ns[m] = 0;
  if (s->links) {
    arrive_over_links(s, v, first, last);
    return;
  }
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    const int32_t *kind = p->costs->pair_kind + (int64_t)p->memory_of[s->device[u]] * p->n_memories;
    const int64_t *transfer = p->transfer_ns[t];
    for (int32_t m = first; m <= last; m++)
      s->arrival_ns[m] = max64(s->arrival_ns[m], sat_add(s->finish_ns[u], transfer[kind[m]]));
  }
}

void partial_arrive(partial_schedule *s, int32_t v) { arrive(s, v, 0, s->problem->n_memories - 1); }

void partial_arrive_at(partial_schedule *s, int32_t v, int32_t d) {
  int32_t m = s->problem->memory_of[d];
  arrive(s, v, m, m);
}

/* Bytes free on d's memory with the unit of v there; negative when it is too small. */
static int64_t room_with(const partial_schedule *s, int32_t v, int32_t d) {
  const situ_problem *p = s->problem;
  int32_t m = p->memory_of[d], u = s->units->of[v];
  int64_t limit = p->platform->memory_bytes[m];
  if (limit == SITU_UNLIMITED_BYTES) return limit;
  if (s->spare_bytes) limit -= s->spare_bytes[m];
  return limit - sat_add(sat_add(s->weights[m], s->unit_weights[u]), max64(s->footprint[m], s->unit_footprint[u]));
}

/* Keeps the candidates that are not hosts, if there are any. Returns how many remain. */
static int32_t leave_out_hosts(partial_schedule *s, int32_t n) {
  int32_t kept = 0;
  for (int32_t i = 0; i < n; i++)
    if (!problem_is_host(s->problem, s->candidates[i])) s->candidates[kept++] = s->candidates[i];
  return kept > 0 ? kept : n;
}

/* Whether v may run on d: support and pins of its unit, and the server that v must stay in. */
static bool allows(const partial_schedule *s, int32_t v, int32_t d) {
  const situ_problem *p = s->problem;
  int32_t u = s->units->of[v], pin = s->unit_pin[u], server = s->only_server ? s->only_server[v] : -1;
  return (pin < 0 ? !p->unused[d] : pin == d) && s->unit_runs[(int64_t)u * p->n_classes + p->class_of[d]] &&
         (server < 0 || p->platform->devices[d].server == server);
}

bool partial_takes(const partial_schedule *s, int32_t v, int32_t d) {
  int32_t u = s->units->of[v];
  if (s->unit_device[u] >= 0) return d == s->unit_device[u];
  return allows(s, v, d) && !(s->closed && s->closed[s->problem->memory_of[d]]) &&
         !(s->spare_hosts && problem_is_host(s->problem, d)) && (!s->limited || room_with(s, v, d) >= 0);
}

int64_t partial_price_ns(const partial_schedule *s, int32_t v, int32_t d) {
  int32_t u = s->units->of[v];
  if (!s->byte_ns || s->unit_device[u] >= 0) return 0;
  return sat_round(s->byte_ns[s->problem->memory_of[d]] * (double)s->unit_weights[u]);
}

int32_t partial_candidates(partial_schedule *s, int32_t v) {
  REQUIRE(v >= 0 && v < s->problem->n_operators && s->device[v] < 0);
  const situ_problem *p = s->problem;
  int32_t u = s->units->of[v], n = 0, roomiest = -1;
  if (s->unit_device[u] >= 0) {
    s->candidates[0] = s->unit_device[u];
    return 1;
  }
  int64_t max = INT64_MIN;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!allows(s, v, d)) continue;
    int64_t room = s->limited ? room_with(s, v, d) : 0;
    bool closed = s->closed && s->closed[p->memory_of[d]];
    if (room >= 0 && !closed) s->candidates[n++] = d;
    s->short_of_room |= room < 0;
    if (closed) room = sat_add(min64(room, 0), INT64_MIN / 2);
    if (room > max) {
      max = room;
      roomiest = d;
    }
  }
  if (n == 0 && roomiest >= 0) s->candidates[n++] = roomiest;
  return s->spare_hosts ? leave_out_hosts(s, n) : n;
}

int64_t partial_start(const partial_schedule *s, int32_t v, int32_t d, bool in_gaps) {
  int64_t arrival = s->arrival_ns[s->problem->memory_of[d]];
  if (!in_gaps) return max64(arrival, s->lines[d].end);
  return timeline_find(&s->pool, &s->lines[d], arrival, problem_time_ns(s->problem, v, d));
}

void partial_place(partial_schedule *s, int32_t v, int32_t d, int64_t start_ns) {
  const situ_problem *p = s->problem;
  int32_t u = s->units->of[v], m = p->memory_of[d];
  int64_t time = problem_time_ns(p, v, d);
  REQUIRE(s->device[v] < 0 && d >= 0 && d < p->n_devices && start_ns >= 0);
  s->device[v] = d;
  s->start_ns[v] = start_ns;
  s->finish_ns[v] = sat_add(start_ns, time);
  timeline_put(&s->pool, &s->lines[d], start_ns, time);
  if (s->unit_device[u] >= 0) return;
  s->weights[m] = sat_add(s->weights[m], s->unit_weights[u]);
  s->footprint[m] = max64(s->footprint[m], s->unit_footprint[u]);
  s->unit_device[u] = d;
}

COMPARATOR(by_end, timed, UP(finish_ns) UP(v))

/* Radix sort by start, in linear time; `spare` has the same size. Returns the array that holds the result. */
static timed *sort_by_start(timed *all, timed *spare, int32_t n) {
  enum { FEW = 1024, MAX_DIGITS = 1 << 11 };
  int32_t bits = n < FEW ? 8 : 11, digits = 1 << bits; /* few operators sort faster with small digits */
  int64_t max = 0;
  for (int32_t k = 0; k < n; k++) max = max64(max, all[k].start_ns);
  for (int32_t shift = 0; shift < 63 && max >> shift > 0; shift += bits) {
    int32_t at[MAX_DIGITS + 1];
    memset(at, 0, (size_t)(digits + 1) * sizeof *at);
    for (int32_t k = 0; k < n; k++) at[((all[k].start_ns >> shift) & (digits - 1)) + 1]++;
    for (int32_t digit = 0; digit < digits; digit++) at[digit + 1] += at[digit];
    for (int32_t k = 0; k < n; k++) spare[at[(all[k].start_ns >> shift) & (digits - 1)]++] = all[k];
    timed *swap = all;
    all = spare;
    spare = swap;
  }
  return all;
}

/* A consumer starts no earlier than its producer ends, and if both have no duration its number is higher. So sorting by
 * start, end and number gives a topological order. */
placement partial_placement(partial_schedule *s) {
  int32_t n = s->problem->n_operators;
  REQUIRE(contracts_within(s->device, n, 0, s->problem->n_devices));
  timed *all = s->sorting;
  for (int32_t v = 0; v < n; v++) all[v] = (timed){s->start_ns[v], s->finish_ns[v], v};
  all = sort_by_start(all, all + n, n);
  for (int32_t first = 0, last; first < n; first = last) {
    for (last = first + 1; last < n && all[last].start_ns == all[first].start_ns;) last++;
    if (last - first > 1) qsort(all + first, (size_t)(last - first), sizeof *all, by_end);
  }
  for (int32_t k = 0; k < n; k++) s->order[k] = all[k].v;
  return (placement){.device = s->device, .order = s->order};
}

const char *partial_check(const partial_schedule *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  EXPECT(contracts_within(s->device, p->n_operators, -1, p->n_devices), "operators are on devices, or not placed");
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = s->device[v], u = s->units->of[v];
    if (d < 0) continue;
    EXPECT(s->start_ns[v] >= 0, "starts are at least 0");
    EXPECT(s->finish_ns[v] == sat_add(s->start_ns[v], problem_time_ns(p, v, d)), "an operator takes its time");
    EXPECT(s->finish_ns[v] <= s->lines[d].end || problem_time_ns(p, v, d) == 0, "a device's line covers its operators");
    EXPECT(s->unit_device[u] == d, "a unit shares a device");
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t from = g->producer[g->in[i]];
      EXPECT(s->device[from] >= 0 && s->finish_ns[from] <= s->start_ns[v], "producers are placed, and end before");
    }
  }
  return NULL;
}
