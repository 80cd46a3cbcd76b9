#include "solve/pipeline/loads.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "view/footprint.h"

static const int64_t COUNTS_LIMIT = (int64_t)1 << 27;

static int32_t count_spots(const situ_problem *p) {
  return p->communication == SITU_COMMUNICATION_LINK ? p->n_memories : p->n_devices;
}

bool loads_serve(const situ_problem *p) { return (int64_t)p->graph->n_tensors * count_spots(p) <= COUNTS_LIMIT; }

static bool is_link(const loads *s) { return s->problem->communication == SITU_COMMUNICATION_LINK; }

static int32_t spot_of(const loads *s, int32_t d) { return is_link(s) ? s->problem->memory_of[d] : d; }

static void measure_operators(loads *s) {
  const situ_graph *g = s->problem->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    s->operator_running[v] = footprint_running_bytes(s->problem, v);
    s->operator_stash[v] = footprint_stash_bytes(g, v);
    s->max_running = max64(s->max_running, s->operator_running[v]);
  }
}

bool loads_init(loads *s, const situ_problem *p, arena *a) {
  REQUIRE(loads_serve(p));
  int32_t n = p->n_operators, d = p->n_devices;
  *s = (loads){.problem = p, .n_spots = count_spots(p), .scale = 1};
  int32_t n_channels = is_link(s) ? p->platform->n_channels : 0;
  s->n_resources = (d + n_channels) * p->n_phases;
  int64_t each = (int64_t)d * p->n_phases;
  if (!ARENA_ARRAYS(a, ARRAY(s->device, n), ARRAY(s->users, (int64_t)p->graph->n_tensors * s->n_spots),
                    ARRAY(s->compute_ns, each), ARRAY(s->in_ns, each), ARRAY(s->out_ns, each),
                    ARRAY(s->channel_ns, (int64_t)p->platform->n_channels * p->n_phases),
                    ARRAY(s->weights, p->n_memories), ARRAY(s->stashed, p->n_memories), ARRAY(s->operator_stash, n),
                    ARRAY(s->operator_running, n), ARRAY(s->energy, s->n_resources), ARRAY(s->touched, s->n_resources),
                    ZEROS(s->is_touched, s->n_resources)))
    return false;
  measure_operators(s);
  return true;
}

/* The first device, and the first channel, of the phase of a tensor's or operator's work. Resources go by phase:
 * devices of all phases, then channels of all phases. */
static int32_t device_row(const loads *s, int32_t v) { return problem_phase(s->problem, v) * s->problem->n_devices; }
static int32_t channel_row(const loads *s, int32_t v) {
  return problem_phase(s->problem, v) * s->problem->platform->n_channels;
}
static int32_t n_device_loads(const loads *s) { return s->problem->n_devices * s->problem->n_phases; }

static void touch(loads *s, int32_t resource) {
  if (s->is_touched[resource]) return;
  s->is_touched[resource] = true;
  s->touched[s->n_touched++] = resource;
}

/* The cost of tensor t on its way from device a to a spot; sign +1 charges it, -1 undoes that. */
static void charge_entry(loads *s, int32_t t, int32_t a, int32_t spot, int64_t sign) {
  const situ_problem *p = s->problem;
  if (!is_link(s)) {
    if (p->memory_of[spot] == p->memory_of[a] || problem_is_host(p, spot)) return;
    int32_t at = device_row(s, p->graph->producer[t]) + spot;
    s->in_ns[at] += sign * problem_transfer_ns(p, t, p->host, spot);
    touch(s, at);
    return;
  }
  const situ_platform *f = p->platform;
  int64_t route = (int64_t)p->memory_of[a] * p->n_memories + spot;
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
    int32_t link = f->route_link[k], channel = channel_row(s, p->graph->producer[t]) + f->links[link].channel;
    s->channel_ns[channel] += sign * p->transfer_ns[t][p->costs->link_kind[link]];
    touch(s, n_device_loads(s) + channel);
  }
}

/* host-staged: the cost of tensor t for the accelerator that made it, if a user is in another memory. */
static void charge_exit(loads *s, int32_t t, int32_t a, int64_t sign) {
  const situ_problem *p = s->problem;
  if (is_link(s) || problem_is_host(p, a)) return;
  const int32_t *users = s->users + (int64_t)t * s->n_spots;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (users[d] == 0 || p->memory_of[d] == p->memory_of[a]) continue;
    int32_t at = device_row(s, p->graph->producer[t]) + a;
    s->out_ns[at] += sign * problem_transfer_ns(p, t, a, p->host);
    touch(s, at);
    return;
  }
}

static void charge_all(loads *s, int32_t t, int32_t a, int64_t sign) {
  const int32_t *users = s->users + (int64_t)t * s->n_spots;
  for (int32_t spot = 0; spot < s->n_spots; spot++)
    if (users[spot] > 0) charge_entry(s, t, a, spot, sign);
  charge_exit(s, t, a, sign);
}

static void add_operator(loads *s, int32_t v, int32_t d, int64_t sign) {
  const situ_problem *p = s->problem;
  int32_t at = device_row(s, v) + d;
  s->compute_ns[at] += sign * problem_time_ns(p, v, d);
  s->weights[p->memory_of[d]] += sign * p->graph->weight_bytes[v];
  s->stashed[p->memory_of[d]] += sign * s->operator_stash[v];
  touch(s, at);
}

static int64_t loads_of(const loads *s, int32_t r) {
  const situ_problem *p = s->problem;
  if (r >= n_device_loads(s)) return s->channel_ns[r - n_device_loads(s)];
  return p->async_copies ? max64(s->compute_ns[r], max64(s->in_ns[r], s->out_ns[r]))
                         : s->compute_ns[r] + s->in_ns[r] + s->out_ns[r];
}

/* The phase of a resource. */
static int32_t phase_of(const loads *s, int32_t r) {
  const situ_problem *p = s->problem;
  if (p->n_phases == 1) return 0;
  return r < n_device_loads(s) ? r / p->n_devices : (r - n_device_loads(s)) / p->platform->n_channels;
}

int64_t loads_period(const loads *s) {
  int64_t max[2] = {0};
  for (int32_t r = 0; r < s->n_resources; r++) {
    int64_t *of = &max[phase_of(s, r)];
    *of = max64(*of, loads_of(s, r));
  }
  return max[0] + max[1];
}

static double energy_of(const loads *s, int32_t r) {
  double x = (double)loads_of(s, r) / s->scale;
  x *= x;
  x *= x;
  x *= x;
  return x * x;
}

double loads_settle(loads *s) {
  for (int32_t i = 0; i < s->n_touched; i++) {
    int32_t r = s->touched[i];
    s->is_touched[r] = false;
    s->energy[r] = energy_of(s, r);
  }
  s->n_touched = 0;
  double power[2] = {0}; /* summed from scratch: differences of 16th powers lose small terms */
  for (int32_t r = 0; r < s->n_resources; r++) power[phase_of(s, r)] += s->energy[r];
  return s->scale * (sqrt(sqrt(sqrt(sqrt(power[0])))) + sqrt(sqrt(sqrt(sqrt(power[1])))));
}

void loads_set(loads *s, const int32_t *device) {
  REQUIRE(contracts_within(device, s->problem->n_operators, 0, s->problem->n_devices));
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  size_t times = (size_t)n_device_loads(s) * sizeof(int64_t), bytes = (size_t)p->n_memories * sizeof(int64_t);
  memset(s->compute_ns, 0, times);
  memset(s->in_ns, 0, times);
  memset(s->out_ns, 0, times);
  memset(s->channel_ns, 0, (size_t)p->platform->n_channels * (size_t)p->n_phases * sizeof(int64_t));
  memset(s->weights, 0, bytes);
  memset(s->stashed, 0, bytes);
  memset(s->users, 0, (size_t)g->n_tensors * (size_t)s->n_spots * sizeof *s->users);
  for (int32_t v = 0; v < p->n_operators; v++) {
    s->device[v] = device[v];
    add_operator(s, v, device[v], 1);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      s->users[(int64_t)g->in[i] * s->n_spots + spot_of(s, device[v])]++;
  }
  for (int32_t t = 0; t < g->n_tensors; t++) charge_all(s, t, device[g->producer[t]], 1);
  s->scale = max64(loads_period(s), 1) * 1.0;
  for (int32_t r = 0; r < s->n_resources; r++) touch(s, r);
  loads_settle(s);
}

void loads_move(loads *s, int32_t v, int32_t to) {
  const situ_graph *g = s->problem->graph;
  int32_t from = s->device[v], spot_from = spot_of(s, from), spot_to = spot_of(s, to);
  add_operator(s, v, from, -1);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) charge_all(s, t, from, -1);
  s->device[v] = to;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) charge_all(s, t, to, 1);
  add_operator(s, v, to, 1);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && spot_from != spot_to; i++) {
    int32_t t = g->in[i], a = s->device[g->producer[t]];
    int32_t *users = s->users + (int64_t)t * s->n_spots;
    bool last = users[spot_from] == 1, first = users[spot_to] == 0;
    if (last || first) charge_exit(s, t, a, -1);
    if (last) charge_entry(s, t, a, spot_from, -1);
    users[spot_from]--;
    users[spot_to]++;
    if (first) charge_entry(s, t, a, spot_to, 1);
    if (last || first) charge_exit(s, t, a, 1);
  }
}

bool loads_fit(const loads *s, int32_t m) {
  REQUIRE(m >= 0 && m < s->problem->n_memories);
  const situ_problem *p = s->problem;
  int64_t limit = p->platform->memory_bytes[m];
  if (limit == SITU_UNLIMITED_BYTES) return true;
  int64_t fixed = sat_add(s->weights[m], sat_mul(p->in_flight, s->stashed[m]));
  if (fixed > limit) return false;
  if (sat_add(fixed, s->max_running) <= limit) return true;
  int64_t max = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->memory_of[s->device[v]] == m) max = max64(max, s->operator_running[v]);
  return sat_add(fixed, max) <= limit;
}
