#include "solve/pipeline/class_loads.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "view/footprint.h"
#include "view/nets.h"

static bool sum_classes(class_loads *l, arena *a) {
  const situ_problem *p = l->problem;
  int32_t n = l->classes->n_classes;
  if (!ARENA_ARRAYS(a, ZEROS(l->time_ns, (int64_t)n * p->n_phases * p->n_classes),
                    ARRAY(l->allowed, (int64_t)n * p->n_devices), ZEROS(l->class_bytes, n),
                    ZEROS(l->footprint_bytes, n)))
    return false;
  for (int64_t i = 0; i < (int64_t)n * p->n_devices; i++) l->allowed[i] = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t c = l->classes->class_of[v];
    int64_t *row = l->time_ns + ((int64_t)problem_phase(p, v) * n + c) * p->n_classes;
    for (int32_t k = 0; k < p->n_classes; k++) row[k] = sat_add(row[k], p->time_ns[(int64_t)v * p->n_classes + k]);
    for (int32_t d = 0; d < p->n_devices; d++) l->allowed[(int64_t)c * p->n_devices + d] &= problem_allows(p, v, d);
    l->class_bytes[c] = sat_add(l->class_bytes[c], footprint_held_bytes(p, v));
    l->footprint_bytes[c] = max64(l->footprint_bytes[c], footprint_running_bytes(p, v));
  }
  return true;
}

/* The tensors that leave their class, and those that touch each class. */
static bool list_tensors(class_loads *l, arena *a) {
  const situ_graph *g = l->problem->graph;
  int32_t n = l->classes->n_classes, *seen;
  if (!ARENA_ARRAYS(a, ARRAY(l->tensor, g->n_tensors), ZEROS(l->pin_start, (int64_t)g->n_tensors + 1),
                    ARRAY(l->pin, g->n_uses + g->n_tensors), ZEROS(seen, n)))
    return false;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t at = l->pin_start[l->n_nets], n_pins = nets_pins(g, t, l->classes->class_of, seen, l->pin + at);
    if (n_pins < 2) continue;
    l->tensor[l->n_nets++] = t;
    l->pin_start[l->n_nets] = at + n_pins;
  }
  return csr_transpose(&l->touch_start, &l->touch, l->pin_start, l->pin, l->n_nets, n, a);
}

/* Upper bound on the changes while everything is placed: four cells for each class and phase, and for each user of a
 * tensor the hops of the longest route, or in and out; each may raise the maximum load too. */
static int64_t max_changes(const class_loads *l) {
  const situ_problem *p = l->problem;
  int64_t longest = 2;
  for (int64_t r = 0; r < (int64_t)p->n_memories * p->n_memories; r++)
    longest = max64(longest, p->platform->route_start[r + 1] - p->platform->route_start[r]);
  int64_t n_users = l->pin_start[l->n_nets] - l->n_nets;
  return 2 * (sat_mul(longest, n_users) + 4 * (int64_t)l->classes->n_classes * p->n_phases);
}

bool class_loads_init(class_loads *l, const situ_problem *p, const contraction *classes, arena *a) {
  *l = (class_loads){.problem = p, .classes = classes};
  int64_t each = (int64_t)p->n_devices * p->n_phases;
  if (!sum_classes(l, a) || !list_tensors(l, a)) return false;
  if (!ARENA_ARRAYS(a, ARRAY(l->device, classes->n_classes), ZEROS(l->compute_ns, each), ZEROS(l->in_ns, each),
                    ZEROS(l->out_ns, each), ZEROS(l->channel_ns, (int64_t)p->platform->n_channels * p->n_phases),
                    ZEROS(l->held_bytes, p->n_memories), ZEROS(l->max_footprint_bytes, p->n_memories),
                    ARRAY(l->change, max_changes(l))))
    return false;
  for (int32_t c = 0; c < classes->n_classes; c++) l->device[c] = -1;
  return true;
}

static void set(class_loads *l, int64_t *cell, int64_t value) {
  if (*cell == value) return;
  l->change[l->n_changes++] = (class_change){cell, *cell};
  *cell = value;
}

static void raise_max(class_loads *l, int32_t phase, int64_t load_ns) {
  if (load_ns > l->max_load_ns[phase]) set(l, &l->max_load_ns[phase], load_ns);
}

/* Adds to one of the three sums of a device. */
static void charge_device(class_loads *l, int64_t *sums, int32_t phase, int32_t d, int64_t time_ns) {
  const situ_problem *p = l->problem;
  int32_t i = phase * p->n_devices + d;
  set(l, &sums[i], sat_add(sums[i], time_ns));
  raise_max(l, phase,
            p->async_copies ? max64(l->compute_ns[i], max64(l->in_ns[i], l->out_ns[i]))
                            : sat_add(l->compute_ns[i], sat_add(l->in_ns[i], l->out_ns[i])));
}

/* Tensor t goes from device a to the memory of device b for the first time; `leaves`: it leaves a for the first time.
 */
static void charge_transfer(class_loads *l, int32_t t, int32_t a, int32_t b, bool leaves) {
  const situ_problem *p = l->problem;
  const situ_platform *f = p->platform;
  int32_t phase = problem_phase(p, p->graph->producer[t]);
  if (p->communication == SITU_COMMUNICATION_HOST_STAGED) {
    if (!problem_is_host(p, b)) charge_device(l, l->in_ns, phase, b, problem_transfer_ns(p, t, p->host, b));
    if (leaves && !problem_is_host(p, a)) charge_device(l, l->out_ns, phase, a, problem_transfer_ns(p, t, a, p->host));
    return;
  }
  int64_t route = (int64_t)p->memory_of[a] * p->n_memories + p->memory_of[b];
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
    int32_t link = f->route_link[k];
    int64_t *cell = &l->channel_ns[phase * f->n_channels + f->links[link].channel];
    set(l, cell, sat_add(*cell, p->transfer_ns[t][p->costs->link_kind[link]]));
    raise_max(l, phase, *cell);
  }
}

/* Whether a user of net e before `end` in its list, except `apart`, is at the place of device b; *left: whether any of
 * them is in another memory than device a. Places are devices, or with links memories. */
static bool is_there(const class_loads *l, int32_t e, int32_t end, int32_t apart, int32_t a, int32_t b, bool *left) {
  const situ_problem *p = l->problem;
  bool staged = p->communication == SITU_COMMUNICATION_HOST_STAGED, there = false;
  *left = false;
  for (int32_t i = l->pin_start[e] + 1; i < end; i++) {
    int32_t d = l->device[l->pin[i]];
    if (d < 0 || l->pin[i] == apart) continue;
    there |= staged ? d == b : p->memory_of[d] == p->memory_of[b];
    *left |= p->memory_of[d] != p->memory_of[a];
  }
  return there;
}

/* Charges net e after class c, one of its pins, was placed. */
static void charge_net(class_loads *l, int32_t e, int32_t c) {
  const situ_problem *p = l->problem;
  int32_t producer = l->pin[l->pin_start[e]], a = l->device[producer];
  bool left;
  if (a < 0) return;
  for (int32_t i = l->pin_start[e] + 1; i < l->pin_start[e + 1]; i++) {
    int32_t user = l->pin[i], b = l->device[user];
    if (b < 0 || p->memory_of[b] == p->memory_of[a] || (c != producer && c != user)) continue;
    int32_t end = c == producer ? i : l->pin_start[e + 1];
    if (!is_there(l, e, end, user, a, b, &left)) charge_transfer(l, l->tensor[e], a, b, !left);
  }
}

bool class_loads_add(class_loads *l, int32_t c, int32_t d) {
  REQUIRE(l->device[c] < 0 && l->allowed[(int64_t)c * l->problem->n_devices + d]);
  const situ_problem *p = l->problem;
  int32_t m = p->memory_of[d];
  l->device[c] = d;
  for (int32_t phase = 0; phase < p->n_phases; phase++)
    charge_device(l, l->compute_ns, phase, d,
                  l->time_ns[((int64_t)phase * l->classes->n_classes + c) * p->n_classes + p->class_of[d]]);
  for (int32_t i = l->touch_start[c]; i < l->touch_start[c + 1]; i++) charge_net(l, l->touch[i], c);
  set(l, &l->held_bytes[m], sat_add(l->held_bytes[m], l->class_bytes[c]));
  set(l, &l->max_footprint_bytes[m], max64(l->max_footprint_bytes[m], l->footprint_bytes[c]));
  return sat_add(l->held_bytes[m], l->max_footprint_bytes[m]) <= p->platform->memory_bytes[m];
}

void class_loads_undo(class_loads *l, int32_t c, int64_t mark) {
  REQUIRE(l->device[c] >= 0 && mark >= 0 && mark <= l->n_changes);
  while (l->n_changes > mark) {
    class_change last = l->change[--l->n_changes];
    *last.cell = last.before;
  }
  l->device[c] = -1;
}

int64_t class_loads_value(const class_loads *l) { return sat_add(l->max_load_ns[0], l->max_load_ns[1]); }
