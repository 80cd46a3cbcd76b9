/* The pipeline model: by hand, and against a naive reading of docs/model.md on random problems. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "graph/builder.h"

static situ_problem_options pipeline(situ_communication communication) {
  return (situ_problem_options){
      .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .communication = communication};
}

/* A host and two accelerators; a (10 ns) makes 3 bytes for b (20 ns) and c (30 ns). */
static lab fork_of_three(situ_problem_options options) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, 100, -1, false);
  lab_device(&s, 100, -1, false);
  lab_star(&s);
  lab_operator(&s, "a", 10, 5, 1);
  lab_operator(&s, "b", 20, 6, 0);
  lab_operator(&s, "c", 30, 7, 0);
  lab_tensor(&s, 0, 3, 1, 2, -1);
  lab_pose(&s, &options);
  return s;
}

TEST(an_accelerator_pays_once_for_each_tensor_in_and_out) {
  OWN(lab) s = fork_of_three(pipeline(SITU_COMMUNICATION_HOST_STAGED));
  int32_t device[3] = {1, 2, 2};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.load_ns[0], 0);
  assert_int_equal(r.load_ns[1], 10 + 3);
  assert_int_equal(r.load_ns[2], 20 + 30 + 3); /* one tensor, two users, one payment */
  assert_int_equal(r.value_ns, 53);
  assert_int_equal(r.worst_device, 2);
  assert_int_equal(r.peak_bytes[1], 5 + (1 + 3)); /* weights, then workspace and output */
  assert_int_equal(r.peak_bytes[2], 6 + 7 + 3);
  int32_t through_the_host[3] = {1, 0, 2};
  r = simulator_run(s.simulator, &(placement){.device = through_the_host}, true);
  assert_int_equal(r.load_ns[0], 20);     /* a host pays for no transfer */
  assert_int_equal(r.load_ns[1], 10 + 3); /* out once, whoever receives */
  assert_int_equal(r.load_ns[2], 30 + 3);
}

TEST(overlap_takes_the_greatest_of_three) {
  situ_problem_options options = pipeline(SITU_COMMUNICATION_HOST_STAGED);
  options.async_copies = true;
  OWN(lab) s = fork_of_three(options);
  int32_t device[3] = {1, 2, 2};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.load_ns[1], 10);
  assert_int_equal(r.value_ns, 50);
}

TEST(links_are_resources_of_their_own) {
  OWN(lab) s = fork_of_three(pipeline(SITU_COMMUNICATION_LINK));
  s.costs->time_ns[0] = s.costs->time_ns[1] = s.costs->time_ns[2] = 1; /* a is short everywhere */
  int32_t device[3] = {1, 0, 2};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.load_ns[1], 1);
  assert_int_equal(r.value_ns, 30);
  for (int32_t v = 1; v < 3; v++)
    for (int32_t k = 0; k < 3; k++) s.costs->time_ns[v * 3 + k] = 1;
  r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.value_ns, 6); /* the link from 1 to the host: once to the host, once towards 2 */
}

/* A host and three accelerators of one class, every way 1 byte a nanosecond; f (forward, 8 ns, 6 bytes of weights)
 * makes 3 bytes for b (backward, 13 ns, 4 bytes of weights), and b 5 bytes for f's update u (1 ns) on the host. */
static lab training_of_three(situ_problem_options options) {
  lab s = lab_new();
  s.alike = true;
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  for (int32_t d = 1; d < 4; d++) {
    lab_device(&s, 100, -1, false);
    lab_link(&s, 0, d, 0, -1);
    lab_link(&s, d, 0, 0, -1);
  }
  lab_operator(&s, "f", 8, 6, 0);
  const situ_operator later[2] = {
      {.name = "b", .source_id = 1, .colocation = -1, .weight_bytes = 4, .phase = SITU_PHASE_BACKWARD},
      {.name = "u", .source_id = 2, .colocation = -1, .phase = SITU_PHASE_UPDATE}};
  for (int32_t v = 1; v < 3; v++) {
    lab_add(&s, later[v - 1], v == 1 ? 13 : 1);
  }
  lab_tensor(&s, 0, 3, 1, -1);
  lab_tensor(&s, 1, 5, 2, -1);
  lab_pose(&s, &options);
  return s;
}

TEST(gpipe_adds_the_greatest_forward_and_the_greatest_backward_load) {
  for (int gpipe = 0; gpipe < 2; gpipe++) {
    situ_problem_options options = pipeline(SITU_COMMUNICATION_HOST_STAGED);
    options.schedule = gpipe ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
    OWN(lab) s = training_of_three(options);
    int32_t device[3] = {1, 2, 0};
    simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
    assert_int_equal(r.load_ns[0], 1);
    assert_int_equal(r.load_ns[1], 8 + 3);      /* forward: all of it */
    assert_int_equal(r.load_ns[2], 3 + 13 + 5); /* forward: the tensor that f made; backward: the rest */
    assert_int_equal(r.value_ns, gpipe ? 11 + 18 : 21);
  }
}

/* f makes 3 bytes, which r reads when it runs for the backward pass; r makes 5 for b and 7 for q, which makes 2 for b.
 */
TEST(what_is_recomputed_counts_for_one_input) {
  OWN(lab) s = lab_new();
  lab_device(&s, 100, -1, true);
  lab_operator(&s, "f", 8, 6, 0);
  lab_of_phase(&s, "r", 8, SITU_PHASE_RECOMPUTE, -1);
  lab_of_phase(&s, "q", 8, SITU_PHASE_RECOMPUTE, -1);
  lab_of_phase(&s, "b", 13, SITU_PHASE_BACKWARD, -1);
  lab_tensor(&s, 0, 3, 1, -1);
  lab_tensor(&s, 1, 5, 3, -1);
  lab_tensor(&s, 1, 7, 2, -1);
  lab_tensor(&s, 2, 2, 3, -1);
  situ_problem_options options = pipeline(SITU_COMMUNICATION_LINK);
  options.in_flight = 3;
  lab_pose(&s, &options);
  int32_t device[4] = {0, 0, 0, 0};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  /* weights; the stash of three inputs; of one what waits for b, and the 7 bytes that r makes for q alone */
  assert_int_equal(r.peak_bytes[0], 6 + 3 * 3 + (5 + 2) + 7);
}

TEST(replicas_share_the_inputs_and_exchange_gradients) {
  for (int overlap = 0; overlap < 2; overlap++) {
    situ_problem_options options = pipeline(SITU_COMMUNICATION_HOST_STAGED);
    options.replicate = true;
    options.async_copies = overlap == 1;
    OWN(lab) s = training_of_three(options);
    int32_t device[3] = {2, 2, 0}, replica_of[4] = {-1, 2, -1, 2};
    simulation r = simulator_run(s.simulator, &(placement){.device = device, .replica_of = replica_of}, true);
    /* 21 computed, 5 out; 2 (3 - 1) / 3 * 6 = 8 bytes of gradients sent and 8 received; by three */
    int64_t expected = overlap ? 21 / 3 : (21 + 5 + 8 + 8) / 3;
    for (int32_t d = 1; d < 4; d++) {
      assert_int_equal(r.load_ns[d], expected);
      assert_int_equal(r.peak_bytes[d], 6 + 4 + 3 + 5); /* weights; the stash of f; the output of b */
    }
    assert_int_equal(r.value_ns, expected);
    replica_of[3] = -1; /* 2 (2 - 1) / 2 * 6 = 6 */
    r = simulator_run(s.simulator, &(placement){.device = device, .replica_of = replica_of}, true);
    assert_int_equal(r.load_ns[1], overlap ? 11 : 19); /* 21 / 2 and (21 + 5 + 12) / 2, rounded up */
    assert_int_equal(r.load_ns[3], 0);
  }
}

/* A host between two equal accelerators: a, 11 ns, on the last with the first as its replica takes 5.5 ns of each. */
TEST(the_first_device_may_be_a_replica) {
  OWN(lab) s = lab_new();
  s.alike = true;
  for (int32_t d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 1);
  for (int32_t d = 0; d < 3; d += 2) {
    lab_link(&s, d, 1, 0, -1);
    lab_link(&s, 1, d, 0, -1);
  }
  lab_operator(&s, "a", 11, 7, 0);
  situ_problem_options options = pipeline(SITU_COMMUNICATION_HOST_STAGED);
  options.replicate = true;
  lab_pose(&s, &options);
  int32_t device[1] = {2}, replica_of[3] = {2, -1, -1};
  simulation r = simulator_run(s.simulator, &(placement){.device = device, .replica_of = replica_of}, true);
  assert_int_equal(r.load_ns[0], 6); /* rounded up */
  assert_int_equal(r.load_ns[1], 0);
  assert_int_equal(r.load_ns[2], 6);
  assert_int_equal(r.value_ns, 6);
  assert_int_equal(r.peak_bytes[0], 7); /* the weights, like the other */
}

/* The same host and accelerators; a way to the host takes 40 ns more than one from it. f, forward, 11 ns and 6 bytes of
 * weights, and b, backward, 4 ns, are on the first, and the last is its replica: 2 (2 - 1) / 2 * 6 bytes of gradients
 * take 6 ns in and 46 out. */
TEST(the_first_device_may_lead_and_ways_differ) {
  OWN(lab) s = lab_new();
  s.alike = true;
  for (int32_t d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 1);
  for (int32_t d = 0; d < 3; d += 2) {
    lab_link(&s, d, 1, 40, -1);
    lab_link(&s, 1, d, 0, -1);
  }
  lab_add(&s, (situ_operator){.name = "f", .colocation = -1, .weight_bytes = 6}, 11);
  lab_of_phase(&s, "b", 4, SITU_PHASE_BACKWARD, -1);
  situ_problem_options options = pipeline(SITU_COMMUNICATION_HOST_STAGED);
  options.replicate = true;
  lab_pose(&s, &options);
  int32_t device[2] = {0, 0}, replica_of[3] = {-1, -1, 0};
  simulation r = simulator_run(s.simulator, &(placement){.device = device, .replica_of = replica_of}, true);
  assert_int_equal(r.value_ns, 34); /* (11 + 4 + 6 + 46) / 2, rounded up */
  assert_int_equal(r.load_ns[2], 34);
}

/* The same whose operators take no time: links are all that counts. */
static lab free_training_of_three(void) {
  situ_problem_options options = pipeline(SITU_COMMUNICATION_LINK);
  options.replicate = true;
  lab s = training_of_three(options);
  for (int32_t v = 0; v < 3; v++)
    for (int32_t k = 0; k < s.problem->n_classes; k++) s.costs->time_ns[v * s.problem->n_classes + k] = 0;
  return s;
}

/* f on 1 and 2, the rest on 3: each sender has half of the inputs; the ring of f goes over the host. */
TEST(replicas_load_the_links_of_their_inputs) {
  OWN(lab) s = free_training_of_three();
  int32_t device[3] = {1, 3, 3}, replica_of[4] = {-1, -1, 1, -1};
  simulation r = simulator_run(s.simulator, &(placement){.device = device, .replica_of = replica_of}, true);
  /* from 1: 3 bytes every second time, rounded up to 2, and 6 bytes of gradients every second time; 3 receives 2 + 2 */
  assert_int_equal(r.value_ns, 2 + 3);
}

/* The same, but gradients take 10 more on each link by what was measured of it: from 1 (6 + 10) / 2 = 8 for them. */
TEST(gradients_go_over_links_as_the_costs_have_them) {
  OWN(lab) s = free_training_of_three();
  for (int32_t l = 0; l < s.costs->n_links; l++) s.costs->link[l].latency_ns += 10;
  int32_t device[3] = {1, 3, 3}, replica_of[4] = {-1, -1, 1, -1};
  simulation r = simulator_run(s.simulator, &(placement){.device = device, .replica_of = replica_of}, true);
  assert_int_equal(r.value_ns, 2 + 8);
}

TEST(a_part_that_is_left_and_entered_again_is_not_contiguous) {
  situ_problem_options options = pipeline(SITU_COMMUNICATION_HOST_STAGED);
  for (int free_of_rule = 0; free_of_rule < 2; free_of_rule++) {
    options.free = free_of_rule;
    OWN(lab) s = lab_new();
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
    lab_star(&s);
    for (int32_t v = 0; v < 3; v++) lab_operator(&s, NULL, 1, 0, 0);
    lab_tensor(&s, 0, 1, 1, -1);
    lab_tensor(&s, 1, 1, 2, -1);
    lab_pose(&s, &options);
    int32_t device[3] = {1, 0, 1};
    simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
    assert_true(r.value_ns == (free_of_rule ? 1 + 1 + 1 + 1 : SITU_NEVER_NS)); /* two computed, one in, one out */
  }
}

/* ---- the same again, naively ---- */

static bool uses(const situ_graph *g, int32_t t, int32_t v) {
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (g->use[i] == v) return true;
  return false;
}

static bool same_memory(const situ_problem *p, int32_t a, int32_t b) { return p->memory_of[a] == p->memory_of[b]; }

/* Whether tensor t, made elsewhere, is used on device d. */
static bool enters(const situ_problem *p, const int32_t *device, int32_t t, int32_t d) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (uses(p->graph, t, v) && device[v] == d && !same_memory(p, device[p->graph->producer[t]], d)) return true;
  return false;
}

static int64_t naive_load(const situ_problem *p, const int32_t *device, int32_t d) {
  int64_t compute = 0, in = 0, out = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (device[v] == d) compute += problem_time_ns(p, v, d);
  for (int32_t t = 0; t < p->graph->n_tensors && !problem_is_host(p, d); t++) {
    if (p->communication == SITU_COMMUNICATION_LINK) break;
    if (enters(p, device, t, d)) in += problem_transfer_ns(p, t, p->host, d);
    bool leaves = false;
    for (int32_t e = 0; e < p->n_devices; e++) leaves |= enters(p, device, t, e);
    if (leaves && device[p->graph->producer[t]] == d) out += problem_transfer_ns(p, t, d, p->host);
  }
  if (!p->async_copies) return compute + in + out;
  return compute > in && compute > out ? compute : in > out ? in : out;
}

static int64_t naive_channel(const situ_problem *p, const int32_t *device, int32_t channel) {
  const situ_platform *f = p->platform;
  int64_t sum = 0;
  for (int32_t t = 0; t < p->graph->n_tensors; t++)
    for (int32_t w = 0; w < p->n_memories; w++) {
      bool sent = false;
      for (int32_t d = 0; d < p->n_devices; d++) sent |= p->memory_of[d] == w && enters(p, device, t, d);
      int32_t from = p->memory_of[device[p->graph->producer[t]]];
      for (int32_t i = f->route_start[from * p->n_memories + w];
           sent && i < f->route_start[from * p->n_memories + w + 1]; i++)
        if (f->links[f->route_link[i]].channel == channel)
          sum += p->transfer_ns[t][p->costs->link_kind[f->route_link[i]]];
    }
  return sum;
}

static bool class_has_forward(const situ_graph *g, int32_t v) {
  for (int32_t w = 0; w < g->n_operators; w++)
    if ((w == v || (g->colocation[w] >= 0 && g->colocation[w] == g->colocation[v])) &&
        g->phase[w] == SITU_PHASE_FORWARD)
      return true;
  return false;
}

/* Contiguity by the transitive closure of the devices. */
static bool naive_contiguous(const situ_problem *p, const int32_t *device) {
  const situ_graph *g = p->graph;
  bool before[8][8] = {{false}};
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int32_t v = 0; v < g->n_operators; v++) {
      int32_t u = g->producer[t];
      if (!uses(g, t, v) || device[u] == device[v]) continue;
      if (g->phase[u] == SITU_PHASE_FORWARD && g->phase[v] == SITU_PHASE_FORWARD) before[device[u]][device[v]] = true;
      if (g->phase[u] == SITU_PHASE_BACKWARD && g->phase[v] == SITU_PHASE_BACKWARD &&
          (!class_has_forward(g, u) || !class_has_forward(g, v)))
        before[device[v]][device[u]] = true;
    }
  for (int k = 0; k < 8; k++)
    for (int a = 0; a < 8; a++)
      for (int b = 0; b < 8; b++) before[a][b] |= before[a][k] && before[k][b];
  for (int a = 0; a < 8; a++)
    if (before[a][a]) return false;
  return true;
}

static int64_t naive_peak(const situ_problem *p, const int32_t *device, int32_t memory) {
  const situ_graph *g = p->graph;
  int64_t weights = 0, stash = 0, greatest = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (p->memory_of[device[v]] != memory) continue;
    weights += g->weight_bytes[v];
    int64_t footprint = g->workspace_bytes[v];
    for (int32_t t = 0; t < g->n_tensors; t++) {
      bool stashed = p->training && g->phase[v] != SITU_PHASE_FORWARD && g->phase[g->producer[t]] == SITU_PHASE_FORWARD;
      if (g->producer[t] == v || (uses(g, t, v) && !stashed)) footprint += g->size_bytes[t];
      bool other_phase = false;
      for (int32_t w = 0; w < g->n_operators; w++) other_phase |= uses(g, t, w) && g->phase[w] != SITU_PHASE_FORWARD;
      if (g->producer[t] == v && g->phase[v] == SITU_PHASE_FORWARD && other_phase) stash += g->size_bytes[t];
    }
    if (footprint > greatest) greatest = footprint;
  }
  return weights + p->in_flight * stash + (p->training ? 1 : p->in_flight) * greatest;
}

TEST(random_placements_agree_with_the_naive_formulas) {
  int32_t n_contiguous = 0, n_not = 0;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    rng r = rng_new(seed + 77);
    lab_options o = {.seed = seed,
                     .n_operators = 2 + (int32_t)rng_below(&r, 9),
                     .n_devices = 2 + (int32_t)rng_below(&r, 4),
                     .density = 0.3,
                     .ways_differ = seed % 3 == 1,
                     .host_last = seed % 4 == 1,
                     .n_colocations = (int32_t)rng_below(&r, 3),
                     .training = rng_below(&r, 2),
                     .memory = rng_below(&r, 2) ? 0.5 : 0};
    o.options = pipeline(rng_below(&r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED);
    o.options.async_copies = rng_below(&r, 2);
    o.options.in_flight = 1 + (int32_t)rng_below(&r, 3);
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(p, a);
    int32_t device[64];
    for (int32_t round = 0; round < 4; round++) {
      for (int32_t v = 0; v < p->n_operators; v++) device[v] = (int32_t)rng_below(&r, p->n_devices);
      simulation got = simulator_run(s, &(placement){.device = device}, true);
      int64_t value = 0, excess = 0;
      for (int32_t d = 0; d < p->n_devices; d++) {
        int64_t load = naive_load(p, device, d);
        assert_int_equal(got.load_ns[d], load);
        value = load > value ? load : value;
      }
      for (int32_t c = 0; p->communication == SITU_COMMUNICATION_LINK && c < p->platform->n_channels; c++) {
        int64_t load = naive_channel(p, device, c);
        value = load > value ? load : value;
      }
      for (int32_t w = 0; w < p->n_memories; w++) {
        int64_t peak = naive_peak(p, device, w), limit = p->platform->memory_bytes[w];
        assert_int_equal(got.peak_bytes[w], peak);
        excess += peak > limit ? peak - limit : 0;
      }
      bool contiguous = naive_contiguous(p, device);
      n_contiguous += contiguous;
      n_not += !contiguous;
      assert_true(got.value_ns == (contiguous ? value : SITU_NEVER_NS));
      assert_true(got.excess_bytes == excess);
    }
  }
  assert_true(n_contiguous > 500 && n_not > 500);
}

/* Parts a -> b -> d and a -> c, each with a forward operator of 10 bytes for the next and 1 byte that its own backward
 * operator reads (7 bytes of weights). */
TEST(a_device_keeps_an_input_for_each_part_to_the_end) {
  situ_problem_options options = pipeline(SITU_COMMUNICATION_LINK);
  for (options.micro_batches = 1; options.micro_batches < 5; options.micro_batches++)
    for (int schedule = 0; schedule < 2; schedule++) {
      options.schedule = schedule ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
      OWN(lab) s = lab_mesh(5, SITU_UNLIMITED_BYTES);
      for (int32_t v = 0; v < 8; v++) {
        char name[2] = {(char)('a' + v), 0};
        situ_phase phase = v < 4 ? SITU_PHASE_FORWARD : SITU_PHASE_BACKWARD;
        lab_add(&s,
                (situ_operator){
                    .name = name, .source_id = -1, .colocation = v % 4, .phase = phase, .weight_bytes = v < 4 ? 7 : 0},
                1);
      }
      lab_tensor(&s, 0, 10, 1, 2, -1); /* to b and c */
      lab_tensor(&s, 1, 10, 3, -1);    /* to d */
      for (int32_t v = 0; v < 4; v++) lab_tensor(&s, v, 1, v + 4, -1);
      lab_pose(&s, &options);
      int32_t device[8] = {1, 2, 3, 4, 1, 2, 3, 4};
      simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
      int64_t m = options.micro_batches, deep[4] = {3, 2, 1, 1}, running[4] = {11, 21, 11, 11};
      for (int32_t k = 0; k < 4; k++) { /* weights, what its backward operator reads, what the largest one takes */
        int64_t kept = schedule || deep[k] > m ? m : deep[k];
        assert_int_equal(r.peak_bytes[s.problem->memory_of[k + 1]], 7 + kept * 1 + running[k]);
      }
    }
}

TEST_MAIN
