/* Random small problems: every option of docs/model.md, alone and together with others. */
#include <string.h>

#include "attack_problem.h"

uint64_t dice_next(attack_dice *dice) {
  uint64_t z = dice->state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

int32_t dice_below(attack_dice *dice, int32_t n) { return (int32_t)(dice_next(dice) >> 33) % n; }

bool dice_chance(attack_dice *dice, int32_t percent) { return dice_below(dice, 100) < percent; }

/* A small number, often 0 or one that others have too, seldom large. */
static int64_t small(attack_dice *dice, int32_t zero_percent) {
  if (dice_chance(dice, zero_percent)) return 0;
  return dice_chance(dice, 10) ? 10 + dice_below(dice, 90) : 1 + dice_below(dice, 9);
}

/* ---- the machine ---- */

static void draw_devices(attack_problem *p, attack_dice *dice) {
  int32_t n_classes = 1 + dice_below(dice, p->n_devices);
  bool servers = dice_chance(dice, 25), sharing = dice_chance(dice, 40), limited = dice_chance(dice, 60),
       equal = dice_chance(dice, 30);
  int64_t scale = p->n > 8 ? 5 : 1 + dice_below(dice, 2), usual = (5 + dice_below(dice, 40)) * scale;
  for (int32_t d = 0; d < p->n_devices; d++) {
    attack_device *x = &p->device[d];
    *x = (attack_device){.class_index = dice_below(dice, n_classes), .shares = -1};
    x->is_host = d == 0 ? dice_chance(dice, 85) : dice_chance(dice, 15);
    x->capacity_bytes = SITU_UNLIMITED_BYTES;
    if (limited && dice_chance(dice, 75)) x->capacity_bytes = equal ? usual : 3 + dice_below(dice, 50) * scale;
    if (d > 0 && sharing && dice_chance(dice, 45)) {
      x->shares = dice_below(dice, d);
      x->apart = dice_chance(dice, 50);
    }
    x->unused = dice_chance(dice, 4);
    if (servers) x->server = dice_below(dice, 2);
  }
  if (dice_chance(dice, 20)) /* the host is not always the first */
    for (int32_t d = 0; d < p->n_devices; d++) p->device[d].is_host = d == p->n_devices - 1;
}

static void add_link(attack_problem *p, attack_dice *dice, int32_t from, int32_t to, bool equal) {
  static const double rates[] = {1e9, 1e9, 5e8, 2e9, 3e8, 4e17};
  if (p->n_links == MAX_LINKS || from == to) return;
  situ_link *x = &p->link[p->n_links++];
  *x = (situ_link){from, to, 0, 1e9, -1};
  if (equal) return;
  x->latency_ns = small(dice, 40);
  x->bytes_per_s = rates[dice_below(dice, 6)];
  if (dice_chance(dice, 25)) x->channel = dice_below(dice, 2);
}

/* Memory of its own, by the first device that has it. */
static int32_t owner_of(const attack_problem *p, int32_t d) {
  while (p->device[d].shares >= 0 && !p->device[d].apart) d = p->device[d].shares;
  return d;
}

/* A machine whose accelerators, and the links to them, are all alike: what breaks symmetry is tried here. */
static void draw_alike(attack_problem *p, attack_dice *dice) {
  attack_device usual = {.class_index = 1, .shares = -1, .capacity_bytes = SITU_UNLIMITED_BYTES};
  if (dice_chance(dice, 50)) usual.capacity_bytes = 5 + dice_below(dice, 40);
  int32_t channels = dice_below(dice, 3), hosts = p->n_devices > 3 && dice_chance(dice, 30) ? 2 : 1;
  int64_t latency = small(dice, 50);
  for (int32_t d = 0; d < p->n_devices; d++) {
    p->device[d] = usual;
    p->device[d].class_index = d >= hosts;
    p->device[d].is_host = d < hosts;
    p->device[d].server = hosts == 2 ? d % 2 : 0;
    if (d < hosts) p->device[d].capacity_bytes = SITU_UNLIMITED_BYTES;
    int32_t hub = hosts == 2 && d >= hosts ? d % 2 : 0;
    if (d == 0) continue;
    p->link[p->n_links++] = (situ_link){hub, d, latency, 1e9, channels == 1 ? 0 : channels == 2 ? d : -1};
    p->link[p->n_links++] = (situ_link){d, hub, latency, 1e9, channels == 1 ? 0 : channels == 2 ? d : -1};
  }
}

static void draw_links(attack_problem *p, attack_dice *dice) {
  int32_t owner[MAX_DEVICES], n = 0, shape = dice_below(dice, 4);
  bool equal = dice_chance(dice, 25);
  for (int32_t d = 0; d < p->n_devices; d++)
    if (owner_of(p, d) == d) owner[n++] = d;
  int32_t hub = dice_chance(dice, 75) ? 0 : dice_below(dice, n);
  for (int32_t i = 0; i < n; i++) {
    if (shape == 0) { /* a ring of one direction */
      if (n > 1) add_link(p, dice, owner[i], owner[(i + 1) % n], equal);
    } else if (shape == 1 && i > 0) { /* a line */
      add_link(p, dice, owner[i - 1], owner[i], equal);
      add_link(p, dice, owner[i], owner[i - 1], equal);
    } else if (shape > 1 && i != hub) { /* a star */
      add_link(p, dice, owner[hub], owner[i], equal);
      add_link(p, dice, owner[i], owner[hub], equal);
    }
  }
  for (int32_t more = dice_below(dice, 3); more > 0 && n > 1; more--)
    add_link(p, dice, owner[dice_below(dice, n)], owner[dice_below(dice, n)], equal);
}

static void draw_machine(attack_problem *p, attack_dice *dice) {
  static const double rates[] = {1e9, 5e8, 2e9, 3e8};
  if (p->n_devices > 1 && dice_chance(dice, 20)) {
    draw_alike(p, dice);
  } else {
    draw_devices(p, dice);
    draw_links(p, dice);
  }
  p->from_class = p->part_class = -1;
  if (dice_chance(dice, 8)) {
    p->part_class = p->device[dice_below(dice, p->n_devices)].class_index;
    p->part_start_ns = small(dice, 30);
    p->part_dispatch_ns = small(dice, 30);
  }
  if (!dice_chance(dice, 10)) return;
  p->from_class = p->device[dice_below(dice, p->n_devices)].class_index;
  p->to_class = p->device[dice_below(dice, p->n_devices)].class_index;
  p->measured_ns = small(dice, 30);
  p->measured_bytes_per_s = rates[dice_below(dice, 4)];
}

/* ---- the graph ---- */

static void draw_operator(attack_problem *p, attack_dice *dice, int32_t v, int32_t never_percent, bool weighty) {
  attack_operator *x = &p->op[v];
  *x = (attack_operator){.colocation = -1, .kernel = -1, .together = -1, .pin = -1, .measured_bytes = -1};
  if (weighty) x->weight_bytes = small(dice, 50);
  if (weighty) x->workspace_bytes = small(dice, 70);
  bool uniform = dice_chance(dice, 20);
  int64_t time = small(dice, 15);
  for (int32_t k = 0; k < MAX_DEVICES; k++) {
    x->time_ns[k] = uniform ? time : small(dice, 15);
    x->other_ns[k] = small(dice, 20);
    if (dice_chance(dice, never_percent)) x->time_ns[k] = x->other_ns[k] = SITU_NEVER_NS;
  }
}

/* Shapes of networks, which chance alone seldom makes. */
typedef enum graph_shape { SHAPE_RANDOM = 0, SHAPE_CHAIN, SHAPE_FORK, SHAPE_LAYERS, SHAPES } graph_shape;

/* Whether w uses what v produces, in a shape other than SHAPE_RANDOM. */
static bool is_edge(graph_shape shape, int32_t n, int32_t v, int32_t w) {
  if (shape == SHAPE_CHAIN) return w == v + 1;
  if (shape == SHAPE_FORK) return v == 0 || w == n - 1;
  return v / 2 + 1 == w / 2;
}

static void draw_shape(attack_problem *p, attack_dice *dice, int32_t n, graph_shape shape) {
  for (int32_t v = 0; v < n && p->n_tensors < MAX_TENSORS; v++) {
    attack_tensor t = {.from = v, .size_bytes = small(dice, 20)};
    for (int32_t w = v + 1; w < n; w++)
      if (is_edge(shape, n, v, w) ? dice_chance(dice, 95) : dice_chance(dice, 5)) t.users |= 1U << w;
    if (t.users || dice_chance(dice, 25)) p->tensor[p->n_tensors++] = t;
  }
}

static void draw_tensors(attack_problem *p, attack_dice *dice, int32_t n) {
  graph_shape shape = dice_chance(dice, 60) ? SHAPE_RANDOM : (graph_shape)dice_below(dice, SHAPES);
  if (shape != SHAPE_RANDOM) {
    draw_shape(p, dice, n, shape);
    return;
  }
  int32_t max = n <= 8 ? 12 : MAX_TENSORS;
  int32_t density = n <= 8 ? 15 + dice_below(dice, 60) : 5 + dice_below(dice, 20);
  bool heavy = dice_chance(dice, 80);
  for (int32_t v = 0; v < n && p->n_tensors < max; v++) {
    for (int32_t k = dice_chance(dice, 15) ? 2 : 1; k > 0 && p->n_tensors < max; k--) {
      attack_tensor t = {.from = v, .size_bytes = heavy ? small(dice, 20) : 0};
      for (int32_t w = v + 1; w < n; w++)
        if (dice_chance(dice, w == v + 1 ? density + 20 : density)) t.users |= 1U << w;
      if (t.users || dice_chance(dice, 25)) p->tensor[p->n_tensors++] = t;
    }
  }
}

/* Groups, kernels, pins. */
static void draw_ties(attack_problem *p, attack_dice *dice) {
  bool groups = dice_chance(dice, 25), kernels = dice_chance(dice, 15), together = dice_chance(dice, 15);
  bool pins = dice_chance(dice, 15);
  for (int32_t v = 0; v < p->n; v++) {
    attack_operator *x = &p->op[v];
    if (groups && dice_chance(dice, 50)) x->colocation = dice_below(dice, 2);
    if (together && dice_chance(dice, 40)) x->together = dice_below(dice, p->n);
    int32_t d = dice_below(dice, p->n_devices);
    if (pins && dice_chance(dice, 30) && !p->device[d].unused) x->pin = d;
  }
  if (!kernels || p->n < 3) return;
  int32_t head = dice_below(dice, p->n - 1);
  for (int32_t v = head + 1; v < p->n; v++) {
    if (p->op[v].phase != p->op[head].phase || !dice_chance(dice, 40)) continue;
    p->op[head].kernel = p->op[v].kernel = head;
    p->op[head].measured_bytes = p->op[v].measured_bytes = -1;
    for (int32_t k = 0; k < MAX_DEVICES; k++) p->op[v].time_ns[k] = p->op[v].other_ns[k] = 0;
  }
}

/* Forward, then backward, recomputation and update, or any mixture that workloads do not have but graphs may. */
static void draw_phases(attack_problem *p, attack_dice *dice) {
  if (!dice_chance(dice, 45)) return;
  bool mixed = dice_chance(dice, 30);
  int32_t forward = 1 + dice_below(dice, p->n);
  for (int32_t v = 0; v < p->n; v++) {
    if (mixed)
      p->op[v].phase = (situ_phase)dice_below(dice, 4);
    else if (v >= forward)
      p->op[v].phase = dice_chance(dice, 60)   ? SITU_PHASE_BACKWARD
                       : dice_chance(dice, 60) ? SITU_PHASE_RECOMPUTE
                                               : SITU_PHASE_UPDATE;
  }
}

/* Repeats what there is `copies` times; weights stay with the first. */
static void copy_all(attack_problem *p, int32_t copies) {
  int32_t n = p->n, n_tensors = p->n_tensors;
  p->copies = copies;
  for (int32_t k = 1; k < copies; k++) {
    for (int32_t v = 0; v < n; v++) {
      p->op[k * n + v] = p->op[v];
      p->op[k * n + v].weight_bytes = 0;
    }
    for (int32_t t = 0; t < n_tensors; t++) {
      attack_tensor *x = &p->tensor[p->n_tensors++];
      *x = p->tensor[t];
      x->from += k * n;
      x->users <<= k * n;
    }
  }
  p->n = n * copies;
}

/* A training step as it is derived from a network: gradients in the reverse order, each with its forward operator, and
 * now and then an update. */
static void draw_training(attack_problem *p, attack_dice *dice) {
  int32_t n = p->n < 4 ? p->n : 4, updates = dice_chance(dice, 40);
  p->n = n * (updates ? 3 : 2);
  for (int32_t v = 0; v < n; v++) {
    attack_operator *backward = &p->op[2 * n - 1 - v], *update = &p->op[2 * n + v];
    p->op[v].phase = SITU_PHASE_FORWARD;
    p->op[v].colocation = v;
    *backward = p->op[v];
    backward->phase = SITU_PHASE_BACKWARD;
    backward->weight_bytes = 0;
    for (int32_t k = 0; k < MAX_DEVICES; k++)
      if (backward->time_ns[k] != SITU_NEVER_NS) backward->time_ns[k] *= 2;
    if (!updates) continue;
    *update = *backward;
    update->phase = SITU_PHASE_UPDATE;
  }
  draw_tensors(p, dice, n);
  for (int32_t t = 0, n_tensors = p->n_tensors; t < n_tensors; t++) {
    attack_tensor *x = &p->tensor[t], gradient = {.from = -1, .size_bytes = x->size_bytes};
    for (int32_t w = 0; w < n; w++) {
      if (!(x->users >> w & 1)) continue;
      if (dice_chance(dice, 60)) x->users |= 1U << (2 * n - 1 - w); /* kept for the gradient */
      if (gradient.from < 0) gradient.from = 2 * n - 1 - w;
    }
    gradient.users = 1U << (2 * n - 1 - x->from);
    if (gradient.from >= 0 && p->n_tensors < MAX_TENSORS - n) p->tensor[p->n_tensors++] = gradient;
  }
  for (int32_t v = 0; v < n && updates; v++)
    p->tensor[p->n_tensors++] = (attack_tensor){.from = 2 * n - 1 - v, .users = 1U << (2 * n + v), .size_bytes = 2};
}

/* Tensors by producer, as a graph numbers them. */
static void sort_tensors(attack_problem *p) {
  for (int32_t t = 1; t < p->n_tensors; t++)
    for (int32_t k = t; k > 0 && p->tensor[k - 1].from > p->tensor[k].from; k--) {
      attack_tensor x = p->tensor[k];
      p->tensor[k] = p->tensor[k - 1];
      p->tensor[k - 1] = x;
    }
}

static int64_t times(int64_t x, int64_t k) { return x == INT64_MAX ? x : x * k; }

/* The same in units that bring sums near the limits of problems; rates stay whole numbers. */
static void enlarge(attack_problem *p, attack_dice *dice) {
  int32_t longer = dice_below(dice, 45), faster = dice_below(dice, 25) - 8;
  if (longer + faster < 0 || longer + faster > 48) return;
  int64_t time = (int64_t)1 << longer, bytes = (int64_t)1 << (longer + faster);
  p->huge = true;
  for (int32_t v = 0; v < p->n; v++) {
    attack_operator *x = &p->op[v];
    x->weight_bytes *= bytes;
    x->workspace_bytes *= bytes;
    if (x->measured_bytes > 0) x->measured_bytes *= bytes;
    for (int32_t k = 0; k < MAX_DEVICES; k++) {
      x->time_ns[k] = times(x->time_ns[k], time);
      x->other_ns[k] = times(x->other_ns[k], time);
    }
  }
  for (int32_t t = 0; t < p->n_tensors; t++) p->tensor[t].size_bytes *= bytes;
  for (int32_t d = 0; d < p->n_devices; d++) p->device[d].capacity_bytes = times(p->device[d].capacity_bytes, bytes);
  double rate = faster < 0 ? 1.0 / (1 << -faster) : 1 << faster;
  for (int32_t i = 0; i < p->n_links; i++) {
    p->link[i].latency_ns *= time;
    if (p->link[i].bytes_per_s < 1e17) p->link[i].bytes_per_s *= rate;
  }
  p->measured_ns *= time;
  p->part_start_ns *= time;
  p->part_dispatch_ns *= time;
  p->measured_bytes_per_s *= rate;
  p->max_period_ns *= time;
  p->max_latency_ns *= time;
  p->max_other_ns *= time;
}

/* ---- the question ---- */

static void draw_stream(attack_problem *p, attack_dice *dice) {
  p->contention = dice_chance(dice, 20) ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK;
  p->overlap = SITU_OVERLAP_FULL;
  if (p->contention == SITU_CONTENTION_LINK && p->copies == 1) {
    if (dice_chance(dice, 25)) p->overlap = SITU_OVERLAP_HOST_BLOCKING;
    if (dice_chance(dice, 20)) p->overlap = SITU_OVERLAP_NONE;
  }
  if (p->overlap == SITU_OVERLAP_NONE && dice_chance(dice, 40)) {
    p->max_other_ns = 1 + dice_below(dice, 10 * p->n);
  } else if (dice_chance(dice, 15)) {
    p->max_period_ns = 1 + dice_below(dice, 8 * p->n);
  } else if (dice_chance(dice, 15)) {
    p->objective = SITU_OBJECTIVE_THROUGHPUT;
    p->max_latency_ns = 1 + dice_below(dice, 12 * p->n);
  }
}

static void draw_pipeline(attack_problem *p, attack_dice *dice) {
  p->objective = SITU_OBJECTIVE_THROUGHPUT;
  p->communication = dice_chance(dice, 50) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED;
  p->free = dice_chance(dice, 40);
  p->async_copies = dice_chance(dice, 30);
  p->schedule = dice_chance(dice, 50) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
  p->replicate = dice_chance(dice, 35);
  p->in_flight = 1 + (dice_chance(dice, 30) ? dice_below(dice, 3) : 0);
  bool training = false;
  for (int32_t v = 0; v < p->n; v++) training = training || p->op[v].phase != SITU_PHASE_FORWARD;
  if (training && p->replicate && dice_chance(dice, 70)) p->zero = 1 + dice_below(dice, 3);
  if (!training || p->free || !dice_chance(dice, 60)) return;
  p->micro_batches = 1 + dice_below(dice, 5);
  p->in_flight = 1;
}

/* A workload file now and then, which brings its own machine and times. */
static void make_workload(attack_problem *p, attack_dice *dice) {
  if (p->execution == SITU_EXECUTION_STREAM || !dice_chance(dice, 15)) return;
  p->n_hosts = dice_chance(dice, 70) ? 1 : 2;
  for (int32_t t = 0; t < p->n_tensors; t++) p->tensor[t].hop_ns = small(dice, 20);
  for (int32_t v = 0; v < p->n; v++) p->op[v].pin = -1;
  workload_normal(p);
}

/* The most operators for which all plans can be counted. */
static int32_t max_operators(const attack_problem *p) {
  if (p->execution == SITU_EXECUTION_PIPELINE) return p->n_devices > 3 ? 6 : p->n_devices > 2 ? 7 : 8;
  return p->n_devices > 3 ? 5 : p->n_devices > 2 ? 6 : 7;
}

static void draw_any(attack_problem *p, attack_dice *dice, bool large) {
  memset(p, 0, sizeof *p);
  p->copies = p->in_flight = 1;
  p->objective = SITU_OBJECTIVE_LATENCY;
  int32_t kind = dice_below(dice, 5);
  p->execution = kind < 2 ? SITU_EXECUTION_STREAM : kind < 4 ? SITU_EXECUTION_PIPELINE : SITU_EXECUTION_CALLS;
  p->n_devices = 1 + dice_below(dice, MAX_DEVICES - 1);
  bool copied = p->execution == SITU_EXECUTION_STREAM && dice_chance(dice, 10);
  int32_t max = large ? MAX_OPS - 1 : max_operators(p);
  p->n = copied ? 1 + dice_below(dice, max / 2) : large ? 5 + dice_below(dice, max - 5) : 1 + dice_below(dice, max);
  draw_machine(p, dice);
  int32_t never = dice_chance(dice, 30) ? 20 : 0;
  bool weighty = dice_chance(dice, 70);
  bool alike = dice_chance(dice, 10), scratch = weighty && dice_chance(dice, 10), constants = dice_chance(dice, 8);
  for (int32_t v = 0; v < p->n; v++) {
    draw_operator(p, dice, v, never, weighty);
    if (scratch && dice_chance(dice, 50)) p->op[v].measured_bytes = small(dice, 30);
    if (alike && v > 0) p->op[v] = p->op[0];
  }
  bool training = !copied && dice_chance(dice, p->execution == SITU_EXECUTION_PIPELINE ? 15 : 3);
  if (p->execution == SITU_EXECUTION_PIPELINE || dice_chance(dice, 10)) draw_phases(p, dice);
  if (training)
    draw_training(p, dice);
  else
    draw_tensors(p, dice, p->n);
  sort_tensors(p);
  for (int32_t v = 0; v < p->n && constants; v++)
    p->op[v].constant = p->op[v].phase == SITU_PHASE_FORWARD && dice_chance(dice, 30);
  int32_t copies = p->n <= 2 && dice_chance(dice, 40) ? 3 : 2;
  if (copied && p->n_tensors * copies <= MAX_TENSORS)
    copy_all(p, copies);
  else if (!training)
    draw_ties(p, dice);
  if (p->execution == SITU_EXECUTION_STREAM) draw_stream(p, dice);
  if (p->execution == SITU_EXECUTION_PIPELINE) draw_pipeline(p, dice);
  if (p->execution == SITU_EXECUTION_CALLS && dice_chance(dice, 40)) p->max_calls = 1 + dice_below(dice, 2);
  if (!large) make_workload(p, dice);
  if (p->n_hosts == 0 && dice_chance(dice, 5)) enlarge(p, dice);
}

void problem_draw(attack_problem *p, uint64_t seed) {
  attack_dice dice = {.state = seed * 0x2545f4914f6cdd1dULL + 1};
  draw_any(p, &dice, false);
}

void problem_draw_large(attack_problem *p, uint64_t seed) {
  attack_dice dice = {.state = seed * 0x9fb21c651e98df25ULL + 3};
  draw_any(p, &dice, true);
}

/* The ways in which devices can differ or be bound to each other, each by a bit of the number of a problem: in 256
 * numbers in a row each combination occurs. */
typedef enum device_bit {
  POOLED = 1,
  SHARED = 2,
  SMALLER = 4,
  RESERVED = 8,
  PINNED = 16,
  UNUSED = 32,
  OTHER_CLASS = 64,
  OTHER_ROUTE = 128
} device_bit;

/* Accelerators that are all alike, then one of them by chance for each bit. */
static void draw_bits(attack_problem *p, attack_dice *dice, uint64_t bits) {
  int64_t usual = (bits & SMALLER) || dice_chance(dice, 50) ? 8 + dice_below(dice, 30) : SITU_UNLIMITED_BYTES;
  for (int32_t d = 0; d < p->n_devices; d++)
    p->device[d] = (attack_device){.class_index = d > 0, .is_host = d == 0, .shares = -1, .capacity_bytes = usual};
  int32_t last = p->n_devices - 1, some = 1 + dice_below(dice, last);
  if (bits & POOLED)
    p->device[some] = (attack_device){.class_index = 1, .shares = dice_below(dice, some), .apart = true};
  int32_t other = 1 + dice_below(dice, last);
  if ((bits & SHARED) && p->device[other].shares < 0)
    p->device[other] = (attack_device){.class_index = 1, .shares = dice_below(dice, other)};
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->device[d].shares >= 0) p->device[d].capacity_bytes = usual;
  if (bits & SMALLER) p->device[1 + dice_below(dice, last)].capacity_bytes = usual - 2;
  if ((bits & RESERVED) && usual != SITU_UNLIMITED_BYTES) p->device[0].capacity_bytes = usual - 1;
  if (bits & UNUSED) p->device[1 + dice_below(dice, last)].unused = true;
  if (bits & OTHER_CLASS) p->device[1 + dice_below(dice, last)].class_index = 2;
}

void problem_draw_equal(attack_problem *p, uint64_t seed) {
  attack_dice dice = {.state = seed * 0xd1342543de82ef95ULL + 7};
  memset(p, 0, sizeof *p);
  p->copies = 1;
  p->from_class = p->part_class = -1;
  p->execution = SITU_EXECUTION_PIPELINE;
  p->n_devices = 3 + dice_below(&dice, MAX_DEVICES - 3);
  p->n = 1 + dice_below(&dice, 4);
  draw_bits(p, &dice, seed);
  int64_t latency = small(&dice, 50);
  for (int32_t d = 1; d < p->n_devices; d++) {
    if (owner_of(p, d) != d) continue;
    bool other = (seed & OTHER_ROUTE) && dice_chance(&dice, 40);
    p->link[p->n_links++] = (situ_link){0, d, latency + other, 1e9, -1};
    p->link[p->n_links++] = (situ_link){d, 0, latency, other && dice_chance(&dice, 50) ? 5e8 : 1e9, -1};
  }
  for (int32_t v = 0; v < p->n; v++) draw_operator(p, &dice, v, dice_chance(&dice, 10) ? 25 : 0, true);
  if (dice_chance(&dice, 40)) draw_phases(p, &dice);
  draw_tensors(p, &dice, p->n);
  int32_t v = dice_below(&dice, p->n), d = 1 + dice_below(&dice, p->n_devices - 1);
  if ((seed & PINNED) && !p->device[d].unused) p->op[v].pin = d;
  draw_pipeline(p, &dice);
  p->replicate = true;
}
