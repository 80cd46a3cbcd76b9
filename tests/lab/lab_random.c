/* Problems by chance. */
#include "cost/cost_models.h"
#include "lab.h"
#include "random_graph.h"
#include "test.h"

enum { MAX_DEVICES = 8 };

static const char *const device_names[MAX_DEVICES] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};
static const char *const class_names[MAX_DEVICES] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};

static int64_t all_bytes(const situ_graph *g) {
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) sum += g->weight_bytes[v] + g->workspace_bytes[v];
  for (int32_t t = 0; t < g->n_tensors; t++) sum += g->size_bytes[t];
  return sum;
}

/* Whether links end at the device. */
static bool is_linked(const situ_device *d) { return d->shares_memory_with < 0 || d->separate_address_space; }

/* Links from the host to each device and back; between accelerators sometimes too. Rates such that the largest
 * tensor takes about 20 ns. */
static void make_platform(lab *l, const lab_options *o, rng *r) {
  situ_device devices[MAX_DEVICES] = {0};
  situ_link links[MAX_DEVICES * MAX_DEVICES];
  int32_t n_links = 0, n = o->n_devices;
  int64_t largest = 1;
  for (int32_t t = 0; t < l->graph->n_tensors; t++)
    if (l->graph->size_bytes[t] > largest) largest = l->graph->size_bytes[t];
  double rate = (double)largest / 20 * 1e9;
  bool alike = rng_below(r, 2) == 0;
  rng pools = rng_new(o->seed * 77 + 5);
  for (int32_t d = 0; d < n; d++) {
    bool host = d == 0 || d < o->n_hosts;
    int32_t class = host ? 0 : 1 + (int32_t)rng_below(r, alike ? 1 : o->equal ? 2 : n);
    devices[d] = (situ_device){.name = device_names[d],
                               .class_name = class_names[class < n ? class : n - 1],
                               .memory_bytes_per_s = 1e9,
                               .memory_bytes = SITU_UNLIMITED_BYTES,
                               .shares_memory_with = d >= 2 && !o->equal && rng_below(r, 4) == 0 ? d - 1 : -1,
                               .is_host = host,
                               .server = o->seed / 2 % 3 == 0 ? 0 : d / 2};
    if (host && d > 0) devices[d].shares_memory_with = 0;
    devices[d].separate_address_space = o->pools && !host && devices[d].shares_memory_with > 0 && rng_below(&pools, 2);
    if (n == 2 && !host) devices[d].class_name = class_names[d];
    devices[d].peak_flops[SITU_DTYPE_F32] = 1e9;
    double part = host ? o->host_memory : o->memory;
    if (part > 0) devices[d].memory_bytes = (int64_t)((double)all_bytes(l->graph) * part) + 1;
    while (devices[d].shares_memory_with >= 0 && devices[devices[d].shares_memory_with].shares_memory_with >= 0)
      devices[d].shares_memory_with = devices[devices[d].shares_memory_with].shares_memory_with;
  }
  int64_t latency_ns = o->equal ? rng_below(r, 4) : 0;
  int32_t at[MAX_DEVICES]; /* where each device stands */
  for (int32_t d = 0; d < n; d++) at[d] = d;
  if (o->host_last && o->n_hosts < 2 && devices[n - 1].shares_memory_with < 0) {
    at[0] = n - 1;
    at[n - 1] = 0;
  }
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < n; b++) {
      if (a == b || !is_linked(&devices[a]) || !is_linked(&devices[b])) continue;
      if (a != 0 && b != 0 && rng_below(r, 2) == 0) continue;
      int64_t back_ns = o->ways_differ && b == 0 ? 1 + (int64_t)(o->seed % 2) : 0;
      links[n_links++] = (situ_link){.from_device = at[a],
                                     .to_device = at[b],
                                     .latency_ns = (o->equal ? latency_ns : rng_below(r, 4)) + back_ns,
                                     .bytes_per_s = rate * (alike || o->equal ? 1 : 0.5 + rng_unit(r)),
                                     .channel = !o->equal && rng_below(r, 4) == 0 ? 0 : -1};
    }
  situ_device first = devices[0];
  devices[0] = devices[at[0]];
  devices[at[0]] = first;
  situ_error error;
  must(platform_new(&l->platform, "lab", devices, n, links, n_links, &error), &error);
}

/* Fuses some operators at random, most of them with others of the same phase: no rule says which, so that whatever
 * holds here holds for any engine. The times of members stay as they are: nobody may assume that they are 0. */
static void fuse(lab *l, uint64_t seed) {
  rng r = rng_new(seed * 977 + 5);
  int32_t n = l->graph->n_operators, *group = l->costs->group = ARENA_NEW(l->costs->arena, int32_t, n);
  assert_non_null(group);
  for (int32_t v = 0; v < n; v++) {
    int32_t u = v > 0 ? (int32_t)rng_below(&r, v) : 0;
    bool fused = v > 0 && rng_below(&r, 4) == 0 && (l->graph->phase[u] == l->graph->phase[v] || rng_below(&r, 4) == 0);
    group[v] = fused ? group[u] : v;
  }
}

/* The step that trains a forward pass, which may learn nothing: then the pass itself. */
static void train(lab *l, const lab_options *o) {
  rng r = rng_new(o->seed * 31 + 11);
  training_options how = {.optimizer = (situ_optimizer)(SITU_OPTIMIZER_NONE + rng_below(&r, 4)),
                          .recompute = (int32_t)rng_below(&r, 3),
                          .micro_batches = o->step,
                          .offload_optimizer = rng_below(&r, 3) == 0};
  situ_graph *step;
  if (graph_training(&step, l->graph, how, NULL) != SITU_STATUS_OK) return;
  situ_graph_free(l->graph);
  l->graph = step;
}

lab lab_random(const lab_options *o) {
  lab l = {0};
  situ_error error;
  rng r = rng_new(o->seed * 1000003 + 17);
  graph_random_options wanted = {.n_operators = o->n_operators,
                                 .edge_density = o->density,
                                 .seed = o->seed,
                                 .n_colocations = o->n_colocations,
                                 .max_outputs = 2,
                                 .training = o->training};
  must(graph_random(&l.graph, &wanted, &error), &error);
  if (o->step > 0) train(&l, o);
  make_platform(&l, o, &r);
  must(costs_new_with_transfers(&l.costs, l.graph, l.platform, NULL, &error), &error);
  int32_t n = l.graph->n_operators, first_host = 0;
  while (!l.platform->devices[first_host].is_host) first_host++;
  int32_t host = l.platform->class_of[first_host];
  for (int32_t v = 0; v < n; v++)
    for (int32_t k = 0; k < l.costs->n_classes; k++) {
      bool never = o->unsupported && k != host && rng_below(&r, 6) == 0;
      int64_t time = rng_below(&r, 5) == 0 ? 0 : rng_below(&r, k == host ? 40 : 20);
      l.costs->time_ns[(int64_t)v * l.costs->n_classes + k] = never ? SITU_NEVER_NS : time;
    }
  if (o->n_colocations > 0 && !o->unfused && o->seed % 3 == 1) fuse(&l, o->seed);
  l.pins = malloc(((size_t)n + 1) * sizeof *l.pins);
  l.unused = calloc((size_t)o->n_devices, sizeof *l.unused);
  assert_non_null(l.pins);
  assert_non_null(l.unused);
  for (int32_t v = 0; v < n; v++) l.pins[v] = o->pinned && rng_below(&r, 8) == 0 ? (int32_t)rng_below(&r, 2) : -1;
  int32_t spare = first_host > 0 ? 0 : o->n_devices - 1;
  if (o->pinned && o->n_devices > 2) l.unused[spare] = rng_below(&r, 3) == 0;
  for (int32_t v = 0; v < n; v++)
    if (l.pins[v] == spare && l.unused[spare]) l.pins[v] = 1; /* a pin on a device that stays unused is a conflict */
  situ_problem_options posed = o->options;
  posed.size = sizeof posed;
  if (o->step > 0 && !l.graph->made_training) posed.micro_batches = posed.zero = 0;
  posed.pins = l.pins;
  posed.unused = l.unused;
  must(situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, &posed, &error), &error);
  return l;
}

lab lab_random_free_pipeline(uint64_t seed, int32_t max_operators) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, max_operators - 1)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 3)),
                   .density = 0.2 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .training = rng_below(&r, 3) == 0,
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .memory = rng_below(&r, 2) ? 0.2 + rng_unit(&r) : 0,
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                               .communication = SITU_COMMUNICATION_HOST_STAGED,
                               .free = true,
                               .async_copies = rng_below(&r, 3) == 0,
                               .in_flight = (int32_t)rng_below(&r, 3)}};
  return lab_random(&o);
}

lab lab_random_small_stream(uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 4,
                   .n_devices = 2 + (int32_t)(seed % 2),
                   .density = 0.2 + 0.1 * (double)(seed % 5),
                   .n_colocations = seed % 3 == 0,
                   .pinned = seed % 4 == 0,
                   .unsupported = seed % 5 == 0,
                   .memory = seed % 2 ? 0.5 : 0,
                   .options = {.execution = SITU_EXECUTION_STREAM,
                               .contention = seed % 7 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

lab lab_random_stream(uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 1 + (int32_t)(seed % 14),
                   .n_devices = 2 + (int32_t)(seed % 4),
                   .density = 0.3,
                   .n_colocations = (int32_t)(seed % 3),
                   .pinned = seed % 2,
                   .unsupported = seed % 3 == 0,
                   .memory = seed % 4 == 0 ? 0.7 : 0};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  return lab_random(&o);
}

void lab_damage(char *text, const char *whole, int64_t size, int64_t round, rng *r, const char *letters) {
  memcpy(text, whole, (size_t)size);
  if (round < size) {
    text[round] = '\0';
    return;
  }
  for (int64_t changes = 1 + rng_below(r, 3); changes > 0; changes--)
    text[rng_below(r, size - 1)] = letters[rng_below(r, 16)];
}

void lab_random_platform(lab *l, rng *r) {
  int32_t n = 1 + (int32_t)rng_below(r, 5), own[8], n_own = 0;
  int64_t max_latency = rng_below(r, 3);
  for (int32_t d = 0; d < n; d++) {
    bool shares = n_own > 0 && rng_below(r, 4) == 0;
    lab_device(l, rng_below(r, 2) ? SITU_UNLIMITED_BYTES : 5 + rng_below(r, 40), shares ? own[rng_below(r, n_own)] : -1,
               d == 0 || rng_below(r, 5) == 0);
    if (!shares) own[n_own++] = d;
  }
  int shape = (int)rng_below(r, 3); /* all to all, a star round the first, a ring in one direction */
  bool channels = rng_below(r, 2);
  for (int32_t a = 0; a < n_own; a++)
    for (int32_t b = 0; b < n_own; b++) {
      bool there = shape == 0 ? a != b : shape == 1 ? a != b && (a == 0 || b == 0) : n_own > 1 && b == (a + 1) % n_own;
      if (!there) continue;
      int32_t channel = channels && rng_below(r, 2) ? (int32_t)rng_below(r, 2) : -1;
      lab_link(l, own[a], own[b], rng_below(r, max_latency + 1), channel);
      l->links[l->n_links - 1].bytes_per_s = rng_below(r, 2) ? 1e9 : 2e9;
    }
}

lab lab_random_tiny(uint64_t seed, int32_t most, const situ_problem_options *options) {
  rng r = rng_new(seed);
  lab l = lab_new();
  lab_random_platform(&l, &r);
  int32_t n = 1 + (int32_t)rng_below(&r, most);
  int64_t density = 1 + rng_below(&r, 3), longest = rng_below(&r, 5);
  for (int32_t v = 0; v < n; v++) {
    char name[16];
    snprintf(name, sizeof name, "op%d", (int)v);
    lab_operator(&l, name, 0, rng_below(&r, 4) ? 0 : rng_below(&r, 6), rng_below(&r, 4) ? 0 : rng_below(&r, 6));
    for (int32_t d = 0; d < l.n_devices; d++) l.time_ns[v][d] = rng_below(&r, longest + 1);
  }
  for (int32_t v = 0; v < n; v++) {
    int64_t outputs = rng_below(&r, 3);
    for (int64_t k = 0; k < outputs; k++) {
      int32_t t = lab_tensor(&l, v, rng_below(&r, 6), -1);
      for (int32_t w = v + 1; w < n; w++)
        if (rng_below(&r, n) < density) builder_add_use(l.builder, w, t, NULL);
    }
  }
  lab_pose(&l, options);
  return l;
}

void lab_random_order(const situ_graph *g, rng *r, int32_t *order) {
  int32_t waiting[LAB_MAX_OPERATORS], ready[LAB_MAX_OPERATORS], n_ready = 0, n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    if (waiting[v] == 0) ready[n_ready++] = v;
  }
  while (n_ready > 0) {
    int32_t i = (int32_t)rng_below(r, n_ready), v = ready[i];
    ready[i] = ready[--n_ready];
    order[n++] = v;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++)
        if (--waiting[g->use[k]] == 0) ready[n_ready++] = g->use[k];
  }
  assert_int_equal(n, g->n_operators);
}

void lab_random_placement(const lab *l, rng *r, int32_t *device, int32_t *order) {
  for (int32_t v = 0; v < l->graph->n_operators; v++) device[v] = (int32_t)rng_below(r, l->n_devices);
  lab_random_order(l->graph, r, order);
}
