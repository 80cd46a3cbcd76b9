#include "solve/pipeline/loads.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "view/footprint.h"
#include "view/nets.h"

static const int64_t COUNTS_LIMIT = (int64_t)1 << 27;

static int32_t count_spots(const situ_problem *p) {
  return p->communication == SITU_COMMUNICATION_LINK ? p->n_memories : p->n_devices;
}

bool loads_serve(const situ_problem *p) { return (int64_t)p->graph->n_tensors * count_spots(p) <= COUNTS_LIMIT; }

static int32_t spot_of(const loads *s, int32_t d) { return s->is_link ? s->problem->memory_of[d] : d; }

/* ---- what does not change ---- */

static bool sum_units(loads *s, arena *a) {
  const situ_problem *p = s->problem;
  int32_t n = s->units->n_classes;
  if (!ARENA_ARRAYS(a, ZEROS(s->time_ns, (int64_t)n * p->n_phases * p->n_classes),
                    ARRAY(s->allowed, (int64_t)n * p->n_devices), ZEROS(s->held_bytes, n), ZEROS(s->running_bytes, n)))
    return false;
  for (int64_t i = 0; i < (int64_t)n * p->n_devices; i++) s->allowed[i] = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = s->units->class_of[v];
    int64_t *row = s->time_ns + ((int64_t)problem_phase(p, v) * n + u) * p->n_classes;
    for (int32_t k = 0; k < p->n_classes; k++) row[k] = sat_add(row[k], p->time_ns[(int64_t)v * p->n_classes + k]);
    for (int32_t d = 0; d < p->n_devices; d++) s->allowed[(int64_t)u * p->n_devices + d] &= problem_allows(p, v, d);
    s->held_bytes[u] = sat_add(s->held_bytes[u], footprint_held_bytes(p, v));
    s->running_bytes[u] = max64(s->running_bytes[u], footprint_running_bytes(p, v));
    s->max_running_bytes = max64(s->max_running_bytes, s->running_bytes[u]);
  }
  return true;
}

/* The tensors that leave their unit, by producer's unit, and those that each unit uses. */
static bool list_nets(loads *s, arena *a) {
  const situ_graph *g = s->problem->graph;
  const contraction *units = s->units;
  int32_t n = units->n_classes, *seen, *pin_start, *pin, *distinct;
  if (!ARENA_ARRAYS(a, ARRAY(s->tensor, g->n_tensors), ARRAY(s->maker, g->n_tensors),
                    ARRAY(s->own_start, (int64_t)n + 1), ZEROS(pin_start, (int64_t)g->n_tensors + 1),
                    ARRAY(pin, g->n_uses), ZEROS(seen, n), ARRAY(distinct, (int64_t)n + 1)))
    return false;
  for (int32_t u = 0; u < n; u++) {
    s->own_start[u] = s->n_nets;
    for (int32_t i = units->member_start[u]; i < units->member_start[u + 1]; i++)
      for (int32_t t = g->out_start[units->member[i]]; t < g->out_start[units->member[i] + 1]; t++) {
        int32_t n_users = nets_pins(g, t, units->class_of, seen, distinct) - 1, at = pin_start[s->n_nets];
        if (n_users == 0) continue;
        memcpy(pin + at, distinct + 1, (size_t)n_users * sizeof *pin);
        s->tensor[s->n_nets] = t;
        s->maker[s->n_nets++] = u;
        pin_start[s->n_nets] = at + n_users;
      }
  }
  s->own_start[n] = s->n_nets;
  return csr_transpose(&s->use_start, &s->use, pin_start, pin, s->n_nets, n, a);
}

/* Empties what loads_move fills. */
static void clear(loads *s) {
  const situ_problem *p = s->problem;
  size_t times = (size_t)p->n_devices * (size_t)p->n_phases * sizeof(int64_t);
  memset(s->compute_ns, 0, times);
  memset(s->in_ns, 0, times);
  memset(s->out_ns, 0, times);
  memset(s->channel_ns, 0, (size_t)p->platform->n_channels * (size_t)p->n_phases * sizeof(int64_t));
  memset(s->used_bytes, 0, (size_t)p->n_memories * sizeof(int64_t));
  memset(s->users, 0, (size_t)s->n_nets * (size_t)s->n_spots * sizeof *s->users);
  memset(s->n_places, 0, (size_t)s->n_nets * sizeof *s->n_places);
  for (int32_t u = 0; u < s->units->n_classes; u++) s->device[u] = -1;
}

bool loads_init(loads *s, const situ_problem *p, const contraction *units, arena *a) {
  REQUIRE(loads_serve(p));
  *s = (loads){.problem = p,
               .units = units,
               .is_link = p->communication == SITU_COMMUNICATION_LINK,
               .n_spots = count_spots(p),
               .scale = 1};
  int32_t n_channels = s->is_link ? p->platform->n_channels : 0;
  int64_t each = (int64_t)p->n_devices * p->n_phases;
  s->n_resources = (p->n_devices + n_channels) * p->n_phases;
  if (!sum_units(s, a) || !list_nets(s, a) ||
      !ARENA_ARRAYS(a, ARRAY(s->device, units->n_classes), ARRAY(s->users, (int64_t)s->n_nets * s->n_spots),
                    ARRAY(s->n_places, s->n_nets), ARRAY(s->compute_ns, each), ARRAY(s->in_ns, each),
                    ARRAY(s->out_ns, each), ARRAY(s->channel_ns, (int64_t)p->platform->n_channels * p->n_phases),
                    ARRAY(s->used_bytes, p->n_memories), ARRAY(s->energy, s->n_resources),
                    ARRAY(s->touched, s->n_resources), ZEROS(s->is_touched, s->n_resources)))
    return false;
  clear(s);
  return true;
}

/* ---- loads ---- */

static int32_t n_device_loads(const loads *s) { return s->problem->n_devices * s->problem->n_phases; }

/* The phase of the transfers of net e. */
static int32_t net_phase(const loads *s, int32_t e) {
  return problem_phase(s->problem, s->problem->graph->producer[s->tensor[e]]);
}

static void touch(loads *s, int32_t resource) {
  if (s->is_touched[resource]) return;
  s->is_touched[resource] = true;
  s->touched[s->n_touched++] = resource;
}

/* The cost of net e on its way from device a to a spot in another memory; sign +1 charges it, -1 undoes that. */
static void charge_entry(loads *s, int32_t e, int32_t a, int32_t spot, int64_t sign) {
  const situ_problem *p = s->problem;
  const situ_platform *f = p->platform;
  int32_t t = s->tensor[e], phase = net_phase(s, e);
  if (!s->is_link) {
    if (problem_is_host(p, spot)) return;
    int32_t at = phase * p->n_devices + spot;
    s->in_ns[at] += sign * problem_transfer_ns(p, t, p->host, spot);
    touch(s, at);
    return;
  }
  int64_t route = (int64_t)p->memory_of[a] * p->n_memories + spot;
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
    int32_t link = f->route_link[k], channel = phase * f->n_channels + f->links[link].channel;
    s->channel_ns[channel] += sign * p->transfer_ns[t][p->costs->link_kind[link]];
    touch(s, n_device_loads(s) + channel);
  }
}

/* host-staged: the cost of net e for the accelerator that made it. */
static void charge_exit(loads *s, int32_t e, int32_t a, int64_t sign) {
  const situ_problem *p = s->problem;
  int32_t at = net_phase(s, e) * p->n_devices + a;
  if (problem_is_host(p, a)) return;
  s->out_ns[at] += sign * problem_transfer_ns(p, s->tensor[e], a, p->host);
  touch(s, at);
}

static bool is_away(const loads *s, int32_t a, int32_t spot) {
  return s->problem->memory_of[a] != (s->is_link ? spot : s->problem->memory_of[spot]);
}

/* Whether a user of net e at another spot than this is in another memory than device a. */
static bool leaves_beside(const loads *s, int32_t e, int32_t a, int32_t spot) {
  const int32_t *users = s->users + (int64_t)e * s->n_spots;
  int32_t rest = s->n_places[e] - (users[spot] > 0);
  for (int32_t k = 0; rest > 0; k++) {
    if (users[k] == 0 || k == spot) continue;
    if (is_away(s, a, k)) return true;
    rest--;
  }
  return false;
}

/* Net e from device a to all its users. */
static void charge_all(loads *s, int32_t e, int32_t a, int64_t sign) {
  const int32_t *users = s->users + (int64_t)e * s->n_spots;
  bool any = false;
  for (int32_t spot = 0; spot < s->n_spots; spot++) {
    if (users[spot] == 0 || !is_away(s, a, spot)) continue;
    charge_entry(s, e, a, spot, sign);
    any = true;
  }
  if (any && !s->is_link) charge_exit(s, e, a, sign);
}

static void charge_unit(loads *s, int32_t u, int32_t d, int64_t sign) {
  const situ_problem *p = s->problem;
  for (int32_t phase = 0; phase < p->n_phases; phase++) {
    int32_t at = phase * p->n_devices + d;
    int64_t row = (int64_t)phase * s->units->n_classes + u;
    s->compute_ns[at] += sign * s->time_ns[row * p->n_classes + p->class_of[d]];
    touch(s, at);
  }
  s->used_bytes[p->memory_of[d]] += sign * s->held_bytes[u];
}

/* Counts one user more (or less) of net e at the spot; the first one there, or the last, changes what it costs. */
static void count_user(loads *s, int32_t e, int32_t spot, int32_t sign) {
  int32_t *users = s->users + (int64_t)e * s->n_spots + spot, a = s->device[s->maker[e]];
  bool changes = *users == (sign > 0 ? 0 : 1);
  *users += sign;
  if (!changes) return;
  s->n_places[e] += sign;
  if (a < 0 || !is_away(s, a, spot)) return;
  charge_entry(s, e, a, spot, sign);
  if (!s->is_link && !leaves_beside(s, e, a, spot)) charge_exit(s, e, a, sign);
}

void loads_move(loads *s, int32_t u, int32_t to) {
  int32_t from = s->device[u], spot_from = from < 0 ? -1 : spot_of(s, from), spot_to = to < 0 ? -1 : spot_of(s, to);
  if (from >= 0) charge_unit(s, u, from, -1);
  if (to >= 0) charge_unit(s, u, to, 1);
  s->device[u] = to;
  for (int32_t e = s->own_start[u]; e < s->own_start[u + 1]; e++) {
    if (s->n_places[e] == 0) continue;
    if (from >= 0) charge_all(s, e, from, -1);
    if (to >= 0) charge_all(s, e, to, 1);
  }
  for (int32_t i = s->use_start[u]; i < s->use_start[u + 1] && spot_from != spot_to; i++) {
    if (spot_from >= 0) count_user(s, s->use[i], spot_from, -1);
    if (spot_to >= 0) count_user(s, s->use[i], spot_to, 1);
  }
}

void loads_set(loads *s, const int32_t *device) {
  clear(s);
  for (int32_t u = 0; u < s->units->n_classes; u++) loads_move(s, u, device[u]);
  s->scale = (double)max64(loads_period(s), 1);
  for (int32_t r = 0; r < s->n_resources; r++) touch(s, r);
  loads_settle(s);
}

static int64_t load_of(const loads *s, int32_t r) {
  if (r >= n_device_loads(s)) return s->channel_ns[r - n_device_loads(s)];
  return s->problem->async_copies ? max64(s->compute_ns[r], max64(s->in_ns[r], s->out_ns[r]))
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
    *of = max64(*of, load_of(s, r));
  }
  return max[0] + max[1];
}

void loads_raise(loads *s, int64_t max_ns[2]) {
  for (int32_t i = 0; i < s->n_touched; i++) {
    int32_t r = s->touched[i];
    int64_t *of = &max_ns[phase_of(s, r)];
    s->is_touched[r] = false;
    *of = max64(*of, load_of(s, r));
  }
  s->n_touched = 0;
}

static double energy_of(const loads *s, int32_t r) {
  double x = (double)load_of(s, r) / s->scale;
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

bool loads_fit(const loads *s, int32_t m) {
  REQUIRE(m >= 0 && m < s->problem->n_memories);
  const situ_problem *p = s->problem;
  int64_t limit = p->platform->memory_bytes[m], max = 0;
  if (limit == SITU_UNLIMITED_BYTES) return true;
  if (s->used_bytes[m] > limit) return false;
  if (sat_add(s->used_bytes[m], s->max_running_bytes) <= limit) return true;
  for (int32_t u = 0; u < s->units->n_classes; u++)
    if (s->device[u] >= 0 && p->memory_of[s->device[u]] == m) max = max64(max, s->running_bytes[u]);
  return sat_add(s->used_bytes[m], max) <= limit;
}
