/* Plans of stages: the program against all plans there are, and the judge against both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "check/check_stages.h"
#include "stages/stage_program.h"
#include "stages/stage_sets.h"

static situ_status read_text(stage_network **x, const char *text, situ_error *error) {
  char path[] = "/tmp/situ-stages-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
  close(file);
  situ_status status = stage_network_read(x, path, error);
  unlink(path);
  return status;
}

static stage_network *network_of(const char *text) {
  stage_network *x = NULL;
  situ_error error = {0};
  if (read_text(&x, text, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return x;
}

typedef struct writing {
  char text[16384];
  size_t n;
} writing;

#define WRITE(w, ...) ((w)->n += (size_t)snprintf((w)->text + (w)->n, sizeof(w)->text - (w)->n, __VA_ARGS__))

/* A few layers with random edges from lower to higher numbers, two ways to run each, and now and then one less. */
static stage_network *random_network(rng *r, bool split) {
  writing w = {.n = 0};
  int n = 1 + (int)rng_below(r, 4);
  bool edge[4][4] = {{false}};
  WRITE(&w, "{\"maxDevices\": %d, \"maxMemoryPerDevice\": %d, \"bandwidth\": 1e9, \"mbsInBatch\": %d, \"nodes\": [",
        1 + (int)rng_below(r, 4), 10 + (int)rng_below(r, 80), 1 + (int)rng_below(r, 6));
  for (int v = 0; v < n; v++)
    for (int u = 0; u < v; u++) edge[u][v] = rng_below(r, 2) == 0;
  for (int v = 0; v < n; v++) {
    WRITE(&w, "%s{\"id\": %d, \"TMPCs\": {", v ? ", " : "", 10 * v);
    for (int t = 1; t <= (split ? 2 : 1); t++) {
      int n_ways = rng_below(r, 8) == 0 ? (int)rng_below(r, 2) : 2 + (int)rng_below(r, 2);
      WRITE(&w, "%s\"%d\": [", t > 1 ? ", " : "", t);
      for (int k = 0; k < n_ways; k++) {
        WRITE(&w, "%s{\"id\": \"%s\", \"timePerSample\": %d.0e-9, \"parameterSize\": %d, \"memoryUsageA\": %d, ",
              k ? ", " : "", k == 1 ? "activation recomp" : "vanilla", (int)rng_below(r, 30), (int)rng_below(r, 9),
              (int)rng_below(r, 12));
        WRITE(&w, "\"memoryUsageB\": %d, \"syncTimeFw\": {", (int)rng_below(r, 20));
        for (int u = 0, first = 1; u < v; u++)
          if (edge[u][v]) WRITE(&w, "%s\"%d\": %d", first ? "" : ", ", 10 * u, (int)rng_below(r, 3)), first = 0;
        WRITE(&w, "}, \"syncTimeBw\": {");
        for (int u = v + 1, first = 1; u < n; u++)
          if (edge[v][u]) WRITE(&w, "%s\"%d\": %d", first ? "" : ", ", 10 * u, (int)rng_below(r, 3)), first = 0;
        WRITE(&w, "}}");
      }
      WRITE(&w, "]");
    }
    WRITE(&w, "}}");
  }
  WRITE(&w, "], \"edges\": [");
  for (int u = 0, first = 1; u < n; u++)
    for (int v = u + 1; v < n; v++)
      if (edge[u][v])
        WRITE(&w, "%s{\"sourceId\": %d, \"destId\": %d, \"communicationCost\": %d}", first ? "" : ", ", 10 * u, 10 * v,
              (int)rng_below(r, 6)),
            first = 0;
  WRITE(&w, "]}");
  return network_of(w.text);
}

/* ---- all plans ---- */

typedef struct all_plans {
  const stage_network *x;
  const stage_rules *rules;
  int32_t stage[4], n_stages;
  stage_part part[4];
  int64_t best_ns;
} all_plans;

/* The least time of one stage over all ways of its layers, from layer v on; with a rate of a byte per nanosecond. */
static int64_t least_time(const all_plans *p, int32_t k, int64_t n_kept, int32_t v, int64_t ns, int64_t bytes) {
  const stage_network *x = p->x;
  int64_t best = INT64_MAX, n = p->part[k].n_replicas;
  if (v == x->n_layers) return bytes > p->rules->machine.memory_bytes ? best : (ns + n - 1) / n;
  if (p->stage[v] != k) return least_time(p, k, n_kept, v + 1, ns, bytes);
  for (int32_t g = 0; g < x->n_degrees; g++)
    for (int32_t i = x->variant_start[v * x->n_degrees + g]; i < x->variant_start[v * x->n_degrees + g + 1]; i++) {
      const stage_variant *w = &x->variant[i];
      int64_t sent = 0;
      if (x->degree[g] != p->part[k].degree || (p->rules->no_recompute && w->recomputes)) continue;
      for (int32_t j = x->edge_start[v]; j < x->edge_start[v + 1]; j++) {
        int32_t e = x->edge[j];
        if (p->stage[x->from[e]] != p->stage[x->to[e]])
          sent += 2 * (x->edge_bytes[e] + w->sync_bytes[j - x->edge_start[v]]);
      }
      int64_t n_inputs = p->rules->machine.n_inputs,
              gradients = (4 * (n - 1) * w->weight_bytes + n_inputs - 1) / n_inputs;
      best = min64(best, least_time(p, k, n_kept, v + 1, ns + w->time_ns + sent + gradients,
                                    bytes + w->kept_bytes * n_kept + w->fixed_bytes));
    }
  return best;
}

/* Parts for the stages from k on, on so many devices, with so many inputs under way before. */
static void try_parts(all_plans *p, int32_t k, int64_t n_devices) {
  const stage_rules *r = p->rules;
  if (k < p->n_stages) {
    for (int32_t t = 1; t <= (r->no_splits ? 1 : 2); t++)
      for (int32_t n = 1; n * t <= n_devices; n++) {
        if (r->machine.n_inputs % n != 0 || (n > 1 && r->no_replicas)) continue;
        p->part[k] = (stage_part){t, n};
        try_parts(p, k + 1, n_devices - n * t);
      }
    return;
  }
  int64_t n_inputs = 0, longest = 1;
  for (int32_t i = p->n_stages - 1; i >= 0; i--) {
    n_inputs += p->part[i].n_replicas;
    int64_t n = p->part[i].n_replicas;
    longest = max64(longest, least_time(p, i, (n_inputs + n - 1) / n, 0, 0, 0));
  }
  if (n_inputs <= r->machine.n_inputs) p->best_ns = min64(p->best_ns, longest);
}

/* All assignments of the layers from v on to stages none of which is empty, with no edge back. */
static void try_stages(all_plans *p, int32_t v) {
  const stage_network *x = p->x;
  if (v < x->n_layers) {
    for (p->stage[v] = 0; p->stage[v] < p->n_stages; p->stage[v]++) try_stages(p, v + 1);
    return;
  }
  for (int32_t k = 0; k < p->n_stages; k++) {
    int32_t n = 0;
    for (int32_t i = 0; i < x->n_layers; i++) n += p->stage[i] == k;
    if (n == 0) return;
  }
  for (int32_t e = 0; e < x->n_edges; e++)
    if (p->stage[x->from[e]] > p->stage[x->to[e]]) return;
  try_parts(p, 0, p->rules->machine.n_devices);
}

static int64_t best_of_all(const stage_network *x, const stage_rules *rules) {
  all_plans p = {.x = x, .rules = rules, .best_ns = INT64_MAX};
  for (p.n_stages = 1; p.n_stages <= x->n_layers; p.n_stages++) try_stages(&p, 0);
  return p.best_ns;
}

/* ---- tests ---- */

static stage_plan solved(const stage_network *x, const stage_rules *rules, arena *a) {
  stage_plan plan;
  situ_error error = {0};
  budget unlimited = budget_new(0, 0, NULL, NULL);
  assert_int_equal(stage_program_solve(&plan, x, rules, &unlimited, a, a, &error), SITU_STATUS_OK);
  return plan;
}

TEST(the_program_finds_the_best_of_all_plans) {
  int64_t n_without = 0, n_rounds = rounds_of(4000);
  for (int64_t round = 0; round < n_rounds; round++) {
    rng r = rng_new((uint64_t)round + 1);
    stage_network *x = random_network(&r, rng_below(&r, 2) == 0);
    stage_rules rules = {.machine = x->machine,
                         .no_splits = rng_below(&r, 5) == 0,
                         .no_replicas = rng_below(&r, 5) == 0,
                         .no_recompute = rng_below(&r, 5) == 0};
    OWN(arena) *a = arena_new();
    stage_plan plan = solved(x, &rules, a);
    int64_t best_ns = best_of_all(x, &rules);
    if (best_ns == INT64_MAX) {
      n_without++;
      assert_int_equal(plan.n_stages, 0);
      assert_int_equal(plan.lower_ns, STAGE_NEVER_NS);
    } else {
      assert_int_equal(plan.period_ns, best_ns);
      assert_int_equal(plan.lower_ns, best_ns);
      assert_null(check_stages_plan(x, &rules, &plan));
      assert_int_equal(check_stages_bound(x, &rules, best_ns + 1, INT64_MAX / 2), STAGES_REFUTED);
    }
    assert_int_equal(check_stages_bound(x, &rules, min64(best_ns, STAGE_NEVER_NS), INT64_MAX / 2), STAGES_PROVED);
    stage_network_free(x);
  }
  assert_true(n_without < n_rounds / 2); /* most cases have a plan */
}

/* Whatever is changed in a plan: where the judge has nothing to say the plan is one of all plans, so its period is no
 * shorter than the best. */
TEST(the_judge_finds_what_is_wrong) {
  int64_t n_found = 0, n_changed = 0;
  for (int64_t round = 0; round < rounds_of(2000); round++) {
    rng r = rng_new((uint64_t)round + 1);
    stage_network *x = random_network(&r, true);
    stage_rules rules = {.machine = x->machine};
    OWN(arena) *a = arena_new();
    stage_plan plan = solved(x, &rules, a);
    for (int k = 0; k < 10 && plan.n_stages > 0; k++) {
      int32_t stage[4], variant[4], v = (int32_t)rng_below(&r, (uint64_t)x->n_layers);
      stage_part part[4];
      stage_plan other = plan;
      memcpy(stage, plan.stage, sizeof *stage * (size_t)x->n_layers);
      memcpy(variant, plan.variant, sizeof *variant * (size_t)x->n_layers);
      memcpy(part, plan.part, sizeof *part * (size_t)plan.n_stages);
      other.stage = stage;
      other.variant = variant;
      other.part = part;
      int32_t s = (int32_t)rng_below(&r, (uint64_t)plan.n_stages), what = (int32_t)rng_below(&r, 5);
      if (what == 0) stage[v] = (int32_t)rng_below(&r, 5) - 1;
      if (what == 1) variant[v] += (int32_t)rng_below(&r, 3) - 1;
      if (what == 2) part[s].n_replicas = (int32_t)rng_below(&r, 4);
      if (what == 3) part[s].degree = (int32_t)rng_below(&r, 4);
      other.period_ns -= what == 4 || rng_below(&r, 2) == 0;
      n_changed++;
      if (check_stages_plan(x, &rules, &other))
        n_found++;
      else
        assert_true(other.period_ns >= plan.lower_ns);
    }
    stage_network_free(x);
  }
  assert_true(n_found > n_changed / 2);
}

/* Three layers of 6, 2 and 4 in a chain on two devices: 8 and 4 by one cut, 6 and 6 by the other, plus 2 * 1 for the
 * edge at both ends; 12 / 2 on two replicas of all, with gradients of 2 bytes, 4 * 1 * 2 / 4 bytes for each layer: (12
 * + 6) / 2 = 9. So the first cut is best, 8, where 10 bytes hold two inputs of the first layer; with 9 bytes the
 * replicas, which hold 7 each; with 6 nothing fits. */
static const char CHAIN[] =
    "{\"maxDevices\": 2, \"maxMemoryPerDevice\": %d, \"bandwidth\": 1e9, \"mbsInBatch\": 4, \"nodes\": ["
    "{\"id\": 1, \"TMPCs\": {\"1\": [{\"id\": \"vanilla\", \"timePerSample\": 6e-9, \"parameterSize\": 2, "
    "\"memoryUsageA\": 5, \"memoryUsageB\": 0, \"syncTimeFw\": {}, \"syncTimeBw\": {\"2\": 0}}]}},"
    "{\"id\": 2, \"TMPCs\": {\"1\": [{\"id\": \"vanilla\", \"timePerSample\": 2e-9, \"parameterSize\": 2, "
    "\"memoryUsageA\": 1, \"memoryUsageB\": 0, \"syncTimeFw\": {\"1\": 0}, \"syncTimeBw\": {\"3\": 0}}]}},"
    "{\"id\": 3, \"TMPCs\": {\"1\": [{\"id\": \"vanilla\", \"timePerSample\": 4e-9, \"parameterSize\": 2, "
    "\"memoryUsageA\": 1, \"memoryUsageB\": 0, \"syncTimeFw\": {\"2\": 0}, \"syncTimeBw\": {}}]}}],"
    "\"edges\": [{\"sourceId\": 1, \"destId\": 2, \"communicationCost\": 1}, "
    "{\"sourceId\": 2, \"destId\": 3, \"communicationCost\": 1}]}";

TEST(a_chain_by_hand) {
  const struct {
    int memory;
    int64_t best_ns;
  } rows[] = {{10, 8}, {9, 9}, {6, STAGE_NEVER_NS}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[2048];
    snprintf(text, sizeof text, CHAIN, rows[k].memory);
    stage_network *x = network_of(text);
    stage_rules rules = {.machine = x->machine};
    OWN(arena) *a = arena_new();
    stage_plan plan = solved(x, &rules, a);
    assert_int_equal(plan.lower_ns, rows[k].best_ns);
    stage_network_free(x);
  }
}

/* Layers of 1e14 ns in a chain, with so many bytes of weights each and 10^15 between them, at a byte a second. */
static stage_network *slow_network(int n_layers, const char *weights) {
  writing w = {.n = 0};
  WRITE(&w, "{\"maxDevices\": 100, \"maxMemoryPerDevice\": 9, \"bandwidth\": 1, \"mbsInBatch\": 100, \"nodes\": [");
  for (int v = 0; v < n_layers; v++) {
    WRITE(&w, "%s{\"id\": %d, \"TMPCs\": {\"1\": [{\"id\": \"vanilla\", \"timePerSample\": 1e5, ", v ? ", " : "", v);
    WRITE(&w, "\"parameterSize\": %s, \"memoryUsageA\": 0, \"memoryUsageB\": 0, \"syncTimeFw\": {", weights);
    if (v > 0) WRITE(&w, "\"%d\": 0", v - 1);
    WRITE(&w, "}, \"syncTimeBw\": {");
    if (v < n_layers - 1) WRITE(&w, "\"%d\": 0", v + 1);
    WRITE(&w, "}}]}}");
  }
  WRITE(&w, "], \"edges\": [");
  for (int v = 1; v < n_layers; v++)
    WRITE(&w, "%s{\"sourceId\": %d, \"destId\": %d, \"communicationCost\": 1e15}", v > 1 ? ", " : "", v - 1, v);
  WRITE(&w, "]}");
  return network_of(w.text);
}

/* No cut can be paid for. Twelve layers without weights take 12e14 ns, more than 2^50, on a hundred replicas a
 * hundredth of it. The gradients of 10^15 bytes take 4e24 (r - 1) / 100 ns on r replicas, so that one device is best.
 */
TEST(times_beyond_the_limit_of_a_layer_are_not_cut_short) {
  const struct {
    int n_layers;
    const char *weights;
    int64_t best_ns;
  } rows[] = {{12, "0", 12000000000000}, {1, "1e15", 100000000000000}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    stage_network *x = slow_network(rows[k].n_layers, rows[k].weights);
    stage_rules rules = {.machine = x->machine};
    OWN(arena) *a = arena_new();
    stage_plan plan = solved(x, &rules, a);
    assert_int_equal(plan.n_stages, 1);
    assert_int_equal(plan.period_ns, rows[k].best_ns);
    assert_int_equal(plan.lower_ns, rows[k].best_ns);
    assert_null(check_stages_plan(x, &rules, &plan));
    if (k == 1) { /* what was cut short was 2^50 ns on a hundred replicas */
      plan.part[0].n_replicas = 100;
      plan.period_ns = (((int64_t)1 << 50) + 99) / 100;
      assert_non_null(check_stages_plan(x, &rules, &plan));
    }
    stage_network_free(x);
  }
}

/* Nothing fits, so that no choice is ever listed. There are 6 pairs of sets, and for each 50 numbers of replicas, the
 * divisors of the inputs up to 100, for which each layer is looked at. */
TEST(what_the_judge_passes_over_counts_as_steps) {
  char text[2048];
  snprintf(text, sizeof text, CHAIN, 1);
  stage_network *x = network_of(text);
  stage_rules rules = {.machine = x->machine};
  rules.machine.n_devices = 100;
  rules.machine.n_inputs = 720720;
  rules.machine.memory_bytes = 0;
  assert_int_equal(check_stages_bound(x, &rules, STAGE_NEVER_NS, 500), STAGES_TOO_MANY);
  assert_int_equal(check_stages_bound(x, &rules, STAGE_NEVER_NS, 100000), STAGES_PROVED);
  stage_network_free(x);
}

/* What is replaced in the chain, and by what the message names it. */
TEST(what_a_file_lacks_is_named) {
  const struct {
    const char *old, *new, *named;
  } rows[] = {
      {"\"maxDevices\": 2", "\"maxDevices\": 0", "maxDevices"},
      {"\"mbsInBatch\": 4", "\"mbsInBatch\": 1.5", "mbsInBatch"},
      {"\"bandwidth\": 1e9", "\"bandwidth\": 0", "bandwidth"},
      {"\"maxMemoryPerDevice\": 9", "\"maxMemoryPerDevice\": \"9\"", "maxMemoryPerDevice"},
      {"\"id\": 2", "\"id\": 3", "two nodes have the id 3"},
      {"\"destId\": 2", "\"destId\": 7", "destId"},
      {"\"timePerSample\": 2e-9", "\"timePerSample\": -1", "timePerSample"},
      {"\"memoryUsageA\": 5", "\"memoryUsageA\": 1e300", "memoryUsageA"},
      {"\"syncTimeFw\": {\"1\": 0}", "\"syncTimeFw\": {}", "syncTimeFw: \"1\""},
      {"\"TMPCs\": {\"1\"", "\"TMPCs\": {\"one\"", "TMPCs"},
      {"\"TMPCs\": {\"1\"", "\"TMPCs\": {\"01\"", "TMPCs"},
      {"\"TMPCs\": {\"1\"", "\"TMPCs\": {\" 1\"", "TMPCs"},
      {"\"nodes\"", "\"layers\"", "nodes"},
      {"\"edges\": [", "\"edges\": [{\"sourceId\": 3, \"destId\": 1, \"communicationCost\": 1}, ", "form a cycle"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char whole[2048], text[4096];
    stage_network *x = NULL;
    situ_error error = {0};
    snprintf(whole, sizeof whole, CHAIN, 9);
    const char *at = strstr(whole, rows[k].old);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, rows[k].new, at + strlen(rows[k].old));
    assert_int_equal(read_text(&x, text, &error), SITU_STATUS_BAD_INPUT);
    assert_null(x);
    if (!strstr(error.text, rows[k].named)) fail_msg("%s is not in: %s", rows[k].named, error.text);
  }
}

/* Files with a few other bytes are refused, or have a plan that the judge accepts. */
TEST(spoilt_files_are_refused_or_solved) {
  for (int32_t round = 0; round < rounds_of(3000); round++) {
    char text[2048];
    rng r = rng_new((uint64_t)round + 1);
    stage_network *x = NULL;
    situ_error error = {0};
    snprintf(text, sizeof text, CHAIN, 10);
    for (int k = 0; k < 2; k++) text[rng_below(&r, strlen(text))] = "0123456789.e-\"{}[],: "[rng_below(&r, 22)];
    if (read_text(&x, text, &error) != SITU_STATUS_OK) {
      assert_true(*error.text && !strchr(error.text, '\n'));
      continue;
    }
    stage_rules rules = {.machine = x->machine};
    rules.machine.n_devices = min64(rules.machine.n_devices, 100);
    OWN(arena) *a = arena_new();
    stage_plan plan = solved(x, &rules, a);
    if (plan.n_stages > 0) assert_null(check_stages_plan(x, &rules, &plan));
    assert_int_not_equal(check_stages_bound(x, &rules, plan.lower_ns, 1 << 20), STAGES_REFUTED);
    stage_network_free(x);
  }
}

TEST_MAIN
