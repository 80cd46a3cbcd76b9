/* Equal devices: every level against its definition, pair by pair, and against what it promises: in random placements,
 * devices of one type change places and nothing changes. */
#include "../../lab/lab.h"
#include "../../lab/random_graph.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "cost/cost_models.h"
#include "view/equal_devices.h"

static const device_equality levels[] = {EQUAL_ALONE, EQUAL_LOADS,  EQUAL_STAGED,
                                         EQUAL_TIMED, EQUAL_LINKED, EQUAL_ALWAYS};
enum { N_LEVELS = sizeof levels / sizeof levels[0], MAX_N = 7 };

/* Few kinds of everything, so that equal devices are common: two classes, two sizes of memory, two kinds of link, two
 * shared channels, shared memories, pins and unused devices. A star, a star and some more links, or all to all. */
static lab draw(uint64_t seed, const situ_problem_options *options) {
  static const char *const names[MAX_N] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6"}, *const classes[2] = {"c0", "c1"};
  rng r = rng_new(seed);
  lab l = {0};
  situ_error error = {0};
  graph_random_options wanted = {.n_operators = 2 + (int32_t)rng_below(&r, 8),
                                 .edge_density = 0.4,
                                 .seed = seed,
                                 .n_colocations = (int32_t)rng_below(&r, 2),
                                 .max_outputs = 2};
  assert_int_equal(graph_random(&l.graph, &wanted, &error), SITU_STATUS_OK);
  situ_device devices[MAX_N] = {0};
  situ_link links[MAX_N * MAX_N];
  int32_t n = 2 + (int32_t)rng_below(&r, MAX_N - 1), n_links = 0, shape = (int32_t)rng_below(&r, 3);
  int32_t odd = 1 + (int32_t)rng_below(&r, 12); /* one in so many is unlike the others */
  int64_t bytes = 0;
  for (int32_t v = 0; v < l.graph->n_operators; v++) bytes += l.graph->weight_bytes[v];
  for (int32_t d = 0; d < n; d++) {
    devices[d] = (situ_device){.name = names[d],
                               .class_name = classes[d == 0 || rng_below(&r, odd) == 0],
                               .memory_bytes_per_s = 1e9,
                               .memory_bytes = rng_below(&r, odd) ? SITU_UNLIMITED_BYTES : bytes / 2 + 1,
                               .shares_memory_with = d > 0 && rng_below(&r, 6) == 0 ? 0 : -1,
                               .is_host = d == 0 || rng_below(&r, odd) == 0};
    if (devices[d].shares_memory_with >= 0) devices[d].memory_bytes = devices[0].memory_bytes;
    devices[d].peak_flops[SITU_DTYPE_F32] = 1e9;
  }
  for (int32_t a = 0; a < n; a++)
    for (int32_t b = 0; b < n; b++) {
      if (a == b || devices[a].shares_memory_with >= 0 || devices[b].shares_memory_with >= 0) continue;
      if (a != 0 && b != 0 && (shape == 0 || (shape == 1 && rng_below(&r, 3)))) continue;
      links[n_links++] = (situ_link){.from_device = a,
                                     .to_device = b,
                                     .latency_ns = rng_below(&r, odd) ? 1 : 7,
                                     .bytes_per_s = 1e9,
                                     .channel = rng_below(&r, odd) ? -1 : (int32_t)rng_below(&r, 2)};
    }
  if (platform_new(&l.platform, "drawn", devices, n, links, n_links, &error)) fail_msg("%s", error.text);
  assert_int_equal(costs_new_with_transfers(&l.costs, l.graph, l.platform, NULL, &error), SITU_STATUS_OK);
  for (int32_t i = 0; i < l.graph->n_operators * l.costs->n_classes; i++)
    l.costs->time_ns[i] = rng_below(&r, 12) ? rng_below(&r, 50) : SITU_NEVER_NS;
  l.pins = malloc(sizeof *l.pins * (size_t)l.graph->n_operators);
  l.unused = calloc((size_t)n, sizeof *l.unused);
  for (int32_t v = 0; v < l.graph->n_operators; v++) l.pins[v] = rng_below(&r, 20) ? -1 : (int32_t)rng_below(&r, n);
  if (rng_below(&r, 3) == 0) l.unused[rng_below(&r, n)] = true;
  situ_problem_options posed = *options;
  posed.pins = l.pins;
  posed.unused = l.unused;
  if (situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, &posed, &error)) fail_msg("%s", error.text);
  return l;
}

/* ---- by definition ---- */

static bool has_pin(const situ_problem *p, int32_t d) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] == d) return true;
  return false;
}

static bool is_apart(const situ_problem *p, int32_t d) {
  int32_t n = 0;
  for (int32_t e = 0; e < p->n_devices; e++) n += p->memory_of[e] == p->memory_of[d];
  return n == 1;
}

static bool pays(const situ_problem *p, int32_t d) {
  bool shares = false;
  for (int32_t e = 0; e < p->n_devices; e++)
    shares |= e != d && p->memory_of[e] == p->memory_of[d] && (!p->unused[e] || has_pin(p, e));
  return !problem_is_host(p, d) && !shares;
}

static int32_t kind(const situ_problem *p, int32_t a, int32_t b) { return p->device_kind[a * p->n_devices + b]; }

static bool agree_with_host(const situ_problem *p, int32_t a, int32_t b) {
  return kind(p, a, p->host) == kind(p, b, p->host) && kind(p, p->host, a) == kind(p, p->host, b);
}

static bool agree_with_all(const situ_problem *p, int32_t a, int32_t b) {
  bool same = kind(p, a, b) == kind(p, b, a);
  for (int32_t e = 0; e < p->n_devices; e++)
    if (e != a && e != b) same &= kind(p, a, e) == kind(p, b, e) && kind(p, e, a) == kind(p, e, b);
  return same;
}

/* Every route against its image, and every channel against where all routes say that it goes. */
static bool agree_in_channels(const situ_problem *p, int32_t a, int32_t b) {
  const situ_platform *m = p->platform;
  int32_t one = p->memory_of[a], other = p->memory_of[b], n = p->n_memories, to[64], from[64];
  memset(to, -1, sizeof to);
  memset(from, -1, sizeof from);
  for (int32_t x = 0; x < n; x++)
    for (int32_t y = 0; y < n; y++) {
      int32_t u = x == one ? other : x == other ? one : x, v = y == one ? other : y == other ? one : y;
      int32_t first = m->route_start[x * n + y], image = m->route_start[u * n + v];
      if (m->route_start[x * n + y + 1] - first != m->route_start[u * n + v + 1] - image) return false;
      for (int32_t k = 0; first + k < m->route_start[x * n + y + 1]; k++) {
        int32_t l = m->route_link[first + k], il = m->route_link[image + k];
        int32_t c = m->links[l].channel, ic = m->links[il].channel;
        if (p->costs->link_kind[l] != p->costs->link_kind[il]) return false;
        if ((to[c] >= 0 && to[c] != ic) || (from[ic] >= 0 && from[ic] != c)) return false;
        to[c] = ic;
        from[ic] = c;
      }
    }
  return true;
}

static bool agree(const situ_problem *p, device_equality level, int32_t a, int32_t b) {
  bool class = p->class_of[a] == p->class_of[b], host = problem_is_host(p, a) == problem_is_host(p, b);
  bool room = p->platform->memory_bytes[p->memory_of[a]] == p->platform->memory_bytes[p->memory_of[b]];
  bool memory = p->memory_of[a] == p->memory_of[b] || (is_apart(p, a) && is_apart(p, b));
  if (p->unused[a] != p->unused[b]) return false;
  if (level == EQUAL_ALONE) return class && host && room;
  if (has_pin(p, a) || has_pin(p, b)) return false;
  bool staged =
      class && host && room && agree_with_host(p, a, b) && (!p->replicate || is_apart(p, a) == is_apart(p, b));
  bool timed = class && memory && agree_with_all(p, a, b);
  switch (level) {
    case EQUAL_LOADS: return class && pays(p, a) == pays(p, b) && (!pays(p, a) || agree_with_host(p, a, b));
    case EQUAL_STAGED: return staged;
    case EQUAL_TIMED: return timed;
    case EQUAL_LINKED: return timed && host && room;
    default: return staged && timed && agree_in_channels(p, a, b);
  }
}

TEST(every_level_is_its_definition) {
  int32_t n_equal[N_LEVELS] = {0}, n_unequal[N_LEVELS] = {0}, n_channels = 0;
  for (uint64_t seed = 0; seed < (in_check() ? 6000 : 2000); seed++) {
    situ_problem_options options = {
        .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .replicate = seed % 3 == 0};
    OWN(lab) l = draw(seed, &options);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    for (int32_t k = 0; k < N_LEVELS; k++) {
      equal_devices equal;
      int32_t n_listed = 0, last = -1;
      assert_true(equal_devices_find(&equal, p, levels[k], a));
      for (int32_t t = 0; t < equal.n_all; t++) {
        const device_type *type = &equal.types[t];
        if (t == equal.n_types) last = -1;
        assert_true(type->n_devices > 0 && type->devices[0] > last); /* in order of first devices */
        last = type->devices[0];
        assert_true(equal_devices_first(&equal, last));
        assert_int_equal(type->is_host, problem_is_host(p, last));
        assert_int_equal(type->memory_bytes, p->platform->memory_bytes[p->memory_of[last]]);
        bool shares = levels[k] == EQUAL_STAGED && p->replicate && is_apart(p, last);
        assert_int_equal(type->pays, levels[k] == EQUAL_LOADS && pays(p, last));
        if (levels[k] == EQUAL_STAGED) assert_int_equal(type->max_sharing, shares ? type->n_devices : 1);
        for (int32_t i = 0; i < type->n_devices; i++, n_listed++) {
          int32_t d = type->devices[i];
          assert_true(i == 0 || d > type->devices[i - 1]);
          assert_int_equal(equal.type_of[d], t);
          bool usable = !p->unused[d] || (k > 0 && has_pin(p, d));
          assert_int_equal(usable, t < equal.n_types);
        }
      }
      assert_int_equal(n_listed, p->n_devices);
      for (int32_t d = 0; d < p->n_devices; d++)
        for (int32_t e = 0; e < d; e++) {
          bool expected = agree(p, levels[k], d, e);
          if (expected != (equal.type_of[d] == equal.type_of[e]))
            fail_msg("seed %d, level %d: devices %d and %d", (int)seed, (int)k, (int)d, (int)e);
          *(expected ? &n_equal[k] : &n_unequal[k]) += 1;
          n_channels +=
              levels[k] == EQUAL_ALWAYS && !expected && agree(p, EQUAL_LINKED, d, e) && agree(p, EQUAL_STAGED, d, e);
          if (levels[k] == EQUAL_STAGED && !has_pin(p, d) && !has_pin(p, e) && p->unused[d] == p->unused[e])
            assert_int_equal(equal_devices_staged(p, d, e), expected);
        }
    }
  }
  for (int32_t k = 0; k < N_LEVELS; k++) assert_true(n_equal[k] > 300 && n_unequal[k] > 300);
  assert_true(n_channels > 100);
}

/* ---- by promise ---- */

typedef struct promise {
  device_equality level;
  situ_problem_options options;
  bool alone, memory; /* everything on one device; memory is part of the promise */
} promise;

static const promise promises[] = {
    {EQUAL_ALONE, {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM}, true, true},
    {EQUAL_ALONE, {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT}, true, true},
    {EQUAL_ALONE, {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS}, true, true},
    {EQUAL_LOADS,
     {.size = sizeof(situ_problem_options),
      .objective = SITU_OBJECTIVE_THROUGHPUT,
      .communication = SITU_COMMUNICATION_HOST_STAGED,
      .free = true},
     false,
     false},
    {EQUAL_STAGED,
     {.size = sizeof(situ_problem_options),
      .objective = SITU_OBJECTIVE_THROUGHPUT,
      .communication = SITU_COMMUNICATION_HOST_STAGED,
      .free = true},
     false,
     true},
    {EQUAL_STAGED,
     {.size = sizeof(situ_problem_options),
      .objective = SITU_OBJECTIVE_THROUGHPUT,
      .communication = SITU_COMMUNICATION_HOST_STAGED},
     false,
     true},
    {EQUAL_STAGED, {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS}, false, true},
    {EQUAL_TIMED,
     {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
     false,
     false},
    {EQUAL_LINKED,
     {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
     false,
     true},
    {EQUAL_ALWAYS,
     {.size = sizeof(situ_problem_options),
      .objective = SITU_OBJECTIVE_THROUGHPUT,
      .communication = SITU_COMMUNICATION_LINK},
     false,
     true},
    {EQUAL_ALWAYS,
     {.size = sizeof(situ_problem_options),
      .objective = SITU_OBJECTIVE_THROUGHPUT,
      .communication = SITU_COMMUNICATION_HOST_STAGED},
     false,
     true},
    {EQUAL_ALWAYS, {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS}, false, true},
};

/* Whether level EQUAL_LOADS or EQUAL_STAGED says anything: accelerators that share a memory hand tensors over. */
static bool memories_are_apart(const situ_problem *p) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!is_apart(p, d)) return false;
  return true;
}

static void check_swap(const promise *x, const lab *l, const equal_devices *equal, rng *r, int32_t *n_moved) {
  const situ_problem *p = l->problem;
  OWN(arena) *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t device[16], swapped[16], order[16], all = (int32_t)rng_below(r, p->n_devices);
  for (int32_t v = 0; v < p->n_operators; v++) {
    device[v] = x->alone ? all : (int32_t)rng_below(r, p->n_devices);
    order[v] = v;
  }
  for (int32_t t = 0; t < equal->n_types; t++) {
    const device_type *type = &equal->types[t];
    int32_t one = type->devices[rng_below(r, type->n_devices)], other = type->devices[rng_below(r, type->n_devices)];
    if (one == other || (x->alone && one != all && other != all)) continue;
    for (int32_t v = 0; v < p->n_operators; v++)
      swapped[v] = device[v] == one ? other : device[v] == other ? one : device[v];
    int32_t *sequence = p->execution == SITU_EXECUTION_STREAM ? order : NULL;
    simulation before = simulator_run(s, &(placement){.device = device, .order = sequence}, x->memory);
    simulation after = simulator_run(s, &(placement){.device = swapped, .order = sequence}, x->memory);
    assert_int_equal(before.value_ns, after.value_ns);
    assert_int_equal(before.excess_bytes, after.excess_bytes);
    *n_moved += memcmp(device, swapped, sizeof *device * (size_t)p->n_operators) != 0 && after.value_ns < SITU_NEVER_NS;
  }
}

TEST(devices_of_one_type_may_change_places) {
  for (size_t k = 0; k < sizeof promises / sizeof promises[0]; k++) {
    const promise *x = &promises[k];
    int32_t n_moved = 0;
    for (uint64_t seed = 0; seed < (in_check() ? 3000 : 1500); seed++) {
      rng r = rng_new(seed + 77);
      OWN(lab) l = draw(seed, &x->options);
      OWN(arena) *a = arena_new();
      equal_devices equal;
      assert_true(equal_devices_find(&equal, l.problem, x->level, a));
      bool staged = x->level == EQUAL_LOADS || x->level == EQUAL_STAGED;
      for (int32_t i = 0; i < 4 && (!staged || memories_are_apart(l.problem)); i++)
        check_swap(x, &l, &equal, &r, &n_moved);
    }
    if (n_moved < 200) fail_msg("promise %d was put to the test %d times only", (int)k, (int)n_moved);
  }
}

/* A star of three like devices round a host, with a channel that the links from two of them share, or a slower link. */
TEST(devices_are_always_equal_when_no_channel_tells_them_apart) {
  for (int kind = 0; kind < 3; kind++) {
    OWN(lab) s = lab_new();
    s.alike = true;
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    for (int32_t d = 1; d < 4; d++) {
      lab_device(&s, 100, -1, false);
      lab_link(&s, 0, d, kind == 2 && d == 1 ? 5 : 0, -1);
      lab_link(&s, d, 0, 0, kind == 1 && d < 3 ? 0 : -1);
    }
    lab_operator(&s, "a", 1, 0, 0);
    lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT});
    equal_devices equal;
    assert_true(equal_devices_find(&equal, s.problem, EQUAL_ALWAYS, s.arena));
    for (int32_t a = 1; a < 4; a++)
      for (int32_t b = 0; b < a; b++) {
        bool expected = b > 0;
        if (kind == 1) expected &= a != 3; /* 1 and 2 share what 3 does not */
        if (kind == 2) expected &= b != 1;
        assert_int_equal(equal.type_of[a] == equal.type_of[b], expected);
      }
  }
}

/* 900 devices round a host, all equal and all unlike: comparing every route for every pair would take minutes. */
TEST(a_thousand_devices_are_no_trouble) {
  enum { N = 900 };
  for (int unlike = 0; unlike < 2; unlike++) {
    situ_device *devices = calloc(N, sizeof *devices);
    situ_link *links = calloc(2 * N, sizeof *links);
    char(*names)[8] = calloc(N, sizeof *names);
    lab l = {0};
    for (int32_t d = 0; d < N; d++) {
      snprintf(names[d], sizeof names[d], "d%d", (int)d);
      devices[d] = (situ_device){.name = names[d],
                                 .class_name = d == 0 ? "host" : "all",
                                 .memory_bytes_per_s = 1e9,
                                 .memory_bytes = 1 << 20,
                                 .shares_memory_with = -1,
                                 .is_host = d == 0};
      devices[d].peak_flops[SITU_DTYPE_F32] = 1e9;
      if (d == 0) continue;
      links[2 * d - 2] = (situ_link){0, d, unlike ? d : 1, 1e9, -1};
      links[2 * d - 1] = (situ_link){d, 0, unlike ? d : 1, 1e9, -1};
    }
    graph_random_options wanted = {.n_operators = 2};
    assert_int_equal(graph_random(&l.graph, &wanted, NULL), SITU_STATUS_OK);
    assert_int_equal(platform_new(&l.platform, "star", devices, N, links, 2 * N - 2, NULL), SITU_STATUS_OK);
    assert_int_equal(costs_new_with_transfers(&l.costs, l.graph, l.platform, NULL, NULL), SITU_STATUS_OK);
    assert_int_equal(situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, NULL, NULL), SITU_STATUS_OK);
    arena *a = arena_new();
    equal_devices equal;
    assert_true(equal_devices_find(&equal, l.problem, EQUAL_ALWAYS, a));
    assert_int_equal(equal.n_types, unlike ? N : 2);
    arena_free(a);
    lab_free(&l);
    free(devices);
    free(links);
    free(names);
  }
}

TEST_MAIN
