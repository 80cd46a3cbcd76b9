/* Training steps that recompute activations: what runs again, what is kept, and that nothing else changes. */
#include "../../lab/test.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/sort.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/segments.h"

static situ_graph_builder *builder(void) {
  situ_graph_builder *b;
  assert_int_equal(situ_graph_builder_new(&b, "test", NULL), SITU_STATUS_OK);
  return b;
}

static int32_t add(situ_graph_builder *b, const char *name, const char *kind, int64_t weight_bytes, int64_t flops) {
  situ_operator op = SITU_OPERATOR_INIT;
  int32_t v;
  op.name = name;
  op.kind = kind;
  op.dtype = SITU_DTYPE_F32;
  op.weight_bytes = weight_bytes;
  op.flops = flops;
  op.moved_bytes = 1;
  assert_int_equal(builder_add_operator(b, &op, &v, NULL), SITU_STATUS_OK);
  return v;
}

/* A tensor of u for v and w; -1: for none. */
static void join(situ_graph_builder *b, int32_t u, int32_t v, int32_t w, int64_t size) {
  situ_tensor tensor = {.dtype = SITU_DTYPE_F32, .rank = -1, .size_bytes = size};
  int32_t t;
  assert_int_equal(builder_add_tensor(b, u, &tensor, &t, NULL), SITU_STATUS_OK);
  if (v >= 0) assert_int_equal(builder_add_use(b, v, t, NULL), SITU_STATUS_OK);
  if (w >= 0) assert_int_equal(builder_add_use(b, w, t, NULL), SITU_STATUS_OK);
}

static situ_graph *freeze(situ_graph_builder *b) {
  situ_graph *g;
  situ_error error;
  if (situ_graph_freeze(&g, b, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  situ_graph_builder_free(b);
  return g;
}

static situ_graph *train(const situ_graph *forward, int32_t recompute) {
  situ_graph *step;
  situ_error error;
  if (graph_training(&step, forward, (training_options){.optimizer = SITU_OPTIMIZER_SGD, .recompute = recompute},
                     &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  return step;
}

static int64_t flops_of(const situ_graph *g, situ_phase phase) {
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) sum += g->phase[v] == phase ? g->flops[v] : 0;
  return sum;
}

/* The most bytes of tensors at once, operators run by number: made up to it, and used from it on. */
static int64_t peak_of(const situ_graph *g) {
  int64_t peak = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t live = 0;
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int64_t end = g->use_start[t + 1];
      bool used_later = end == g->use_start[t] || g->use[end - 1] >= v;
      if (g->producer[t] <= v && used_later) live += g->size_bytes[t];
    }
    if (live > peak) peak = live;
  }
  return peak;
}

static bool runs_again(const situ_graph *g, const char *name) {
  char copy[64];
  snprintf(copy, sizeof copy, "recompute(%s)", name);
  int32_t v = situ_graph_find(g, copy), original = situ_graph_find(g, name);
  if (v < 0) return false;
  assert_int_equal(g->phase[v], SITU_PHASE_RECOMPUTE);
  assert_int_equal(g->weight_bytes[v], 0);
  assert_int_equal(g->flops[v], g->flops[original]);
  assert_int_equal(g->moved_bytes[v], g->moved_bytes[original]);
  assert_int_equal(g->colocation[v], g->colocation[original]);
  assert_true(g->colocation[v] >= 0);
  return true;
}

/* Nine products of 1000 FLOPs with a Relu behind each; every tensor has 100 bytes. */
static situ_graph *perceptron(void) {
  situ_graph_builder *b = builder();
  int32_t before = -1;
  char name[16];
  for (int32_t k = 1; k <= 9; k++) {
    snprintf(name, sizeof name, "product%c", (int)('a' + k));
    int32_t product = add(b, name, "MatMul", 400, 1000);
    if (before >= 0) join(b, before, product, -1, 100);
    snprintf(name, sizeof name, "relu%c", (int)('a' + k));
    before = add(b, name, "Relu", 0, 10);
    join(b, product, before, -1, 100);
  }
  join(b, before, -1, -1, 100);
  return freeze(b);
}

/* Three segments of three products each. The third has the loss. The output of each Relu is read by its own gradient,
 * so the first two run again as a whole.
 *
 * Without, when the backward pass begins: the outputs of nine Relus, and the gradient that the last of them makes: 10
 * tensors. With: two kept, and of the last segment three, and this gradient: 6. When the second segment has run again:
 * the output of the first, the gradient that enters, three outputs of Relus, and the gradient that the last of them
 * makes: 6. */
TEST(a_perceptron_keeps_the_inputs_of_sqrt_n_segments) {
  OWN(situ_graph) *forward = perceptron(), *all = train(forward, 0), *less = train(forward, INT32_MAX);
  assert_int_equal(less->n_segments, 3);
  assert_int_equal(less->n_recomputed, 2);
  assert_int_equal(all->n_recomputed, 0);
  const char *again = "bcdefg";
  for (const char *c = "bcdefghij"; *c; c++) {
    char product[16], relu[16];
    snprintf(product, sizeof product, "product%c", *c);
    snprintf(relu, sizeof relu, "relu%c", *c);
    assert_int_equal(runs_again(less, product), strchr(again, *c) != NULL);
    assert_int_equal(runs_again(less, relu), strchr(again, *c) != NULL);
  }
  assert_int_equal(flops_of(less, SITU_PHASE_RECOMPUTE), 6 * 1010);
  assert_int_equal(flops_of(less, SITU_PHASE_FORWARD), 9 * 1010);
  assert_int_equal(flops_of(less, SITU_PHASE_BACKWARD), flops_of(all, SITU_PHASE_BACKWARD));
  assert_int_equal(peak_of(all), 1000);
  assert_int_equal(peak_of(less), 600);
  OWN(situ_graph) *one = train(forward, 1);
  assert_int_equal(one->n_recomputed, 1);
  assert_true(runs_again(one, "reluc") && !runs_again(one, "reluf"));
  /* The outputs of two Relus of the first segment are gone, then it runs beside nothing else. */
  assert_int_equal(peak_of(one), 800);
  /* What waits for the backward operators of the first segment are three outputs of Relus. */
  assert_int_equal(graph_recomputed_bytes(one, situ_graph_find(one, "recompute(productb)")), 300);
  assert_int_equal(graph_recomputed_bytes(one, situ_graph_find(one, "gradient(relub)")), 300);
  assert_int_equal(graph_recomputed_bytes(one, situ_graph_find(one, "gradient(productj)")), 0);
  assert_int_equal(graph_recomputed_bytes(one, situ_graph_find(one, "reluc")), 0);
}

enum { X = 1, QKV = 3, UP = 4 }; /* bytes: of a token in and out of a block, of its parts */

/* A transformer of two blocks between an embedding and a head. */
static situ_graph *transformer(void) {
  situ_graph_builder *b = builder();
  int32_t x = add(b, "embed", "Gather", 100, 0);
  for (int32_t k = 0; k < 2; k++) {
    char name[12][24];
    const char *words[] = {"norm1", "qkv", "attention", "out", "add1", "norm2", "up", "gelu", "down", "add2"};
    const char *kinds[] = {"LayerNorm", "MatMul", "Attention", "MatMul", "Add",
                           "LayerNorm", "MatMul", "Gelu",      "MatMul", "Add"};
    int32_t op[10];
    for (int32_t i = 0; i < 10; i++) {
      snprintf(name[i], sizeof name[i], "block.%d.%s", (int)k, words[i]);
      op[i] = add(b, name[i], kinds[i], strcmp(kinds[i], "MatMul") ? 0 : 100, (int64_t)1 << i);
    }
    join(b, x, op[0], op[4], X);
    join(b, op[0], op[1], -1, X);
    join(b, op[1], op[2], -1, QKV);
    join(b, op[2], op[3], -1, X);
    join(b, op[3], op[4], -1, X);
    join(b, op[4], op[5], op[9], X);
    join(b, op[5], op[6], -1, X);
    join(b, op[6], op[7], -1, UP);
    join(b, op[7], op[8], -1, UP);
    join(b, op[8], op[9], -1, X);
    x = op[9];
  }
  join(b, x, add(b, "head", "MatMul", 100, 0), -1, X);
  return freeze(b);
}

/* The last product of a block is read by a sum, whose gradient needs nothing: neither runs again, as PyTorch stops a
 * checkpointed function early. */
TEST(a_transformer_block_runs_again_up_to_what_is_needed_last) {
  OWN(situ_graph) *forward = transformer(), *all = train(forward, 0), *less = train(forward, INT32_MAX);
  assert_int_equal(less->n_segments, 2);
  assert_int_equal(less->n_recomputed, 2);
  for (int32_t k = 0; k < 2; k++) {
    const char *again[] = {"norm1", "qkv", "attention", "out", "add1", "norm2", "up", "gelu"};
    char name[24];
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
      snprintf(name, sizeof name, "block.%d.%s", (int)k, again[i]);
      if (!runs_again(less, name)) fail_msg("%s does not run again", name);
    }
    snprintf(name, sizeof name, "block.%d.down", (int)k);
    assert_false(runs_again(less, name));
    snprintf(name, sizeof name, "block.%d.add2", (int)k);
    assert_false(runs_again(less, name));
  }
  assert_int_equal(flops_of(less, SITU_PHASE_RECOMPUTE), 2 * 255);
  assert_false(runs_again(less, "embed") || runs_again(less, "head"));
  /* For the backward operators of a block: two norms, the products of three, the attention, the first sum, up, gelu;
   * the output of "out" is read by the copy of the sum alone. */
  int32_t v = situ_graph_find(less, "gradient(block.1.qkv)");
  assert_int_equal(graph_recomputed_bytes(less, v), 4 * X + QKV + 2 * UP);
  /* At gradient(block.1.down), when the input of the head is gone: without, these of both blocks and their inputs, the
   * gradient of the last sum for "down" and for the first sum, and that of gelu's output, which it makes. */
  int64_t kept = 4 * X + QKV + 2 * UP;
  assert_int_equal(peak_of(all), 2 * kept + 2 * X + 2 * X + UP);
  /* With: of one block. */
  assert_int_equal(peak_of(less), kept + 2 * X + 2 * X + UP);
}

/* ---- Values ---- */

/* A random network of layers, whose tensors all have other sizes. */
static situ_graph *random_network(rng *r) {
  static const char *const kinds[] = {"MatMul", "Relu", "Add", "LayerNorm", "Attention", "Reshape", "Softmax"};
  situ_graph_builder *b = builder();
  int32_t n = 6 + (int32_t)rng_below(r, 26), per_layer = 2 + (int32_t)rng_below(r, 5), size = 1;
  bool named = rng_below(r, 4) > 0;
  for (int32_t v = 0; v < n; v++) {
    char name[32];
    if (named && v > 0 && v + 1 < n)
      snprintf(name, sizeof name, "layer.%d.op%c%c", (int)((v - 1) / per_layer), 'a' + (int)(v / 26),
               'a' + (int)(v % 26));
    else
      snprintf(name, sizeof name, "op%c%c", 'a' + (int)(v / 26), 'a' + (int)(v % 26));
    add(b, name, kinds[rng_below(r, 7)], rng_below(r, 2) ? 10 : 0, 1 + (int64_t)rng_below(r, 9));
    for (int32_t k = 0; v > 0 && k < 1 + (int32_t)rng_below(r, 2); k++) {
      int32_t reach = rng_below(r, 6) == 0 ? v : v < 3 ? v : 3;
      join(b, v - 1 - (int32_t)rng_below(r, reach), v, -1, size++);
    }
  }
  return freeze(b);
}

/* Who computes it, in the forward pass: "x" of "recompute(x)". Any other name as it is. */
static uint64_t hash_of_name(const situ_graph *g, int32_t v) {
  const char *name = g->name[v];
  if (g->phase[v] != SITU_PHASE_RECOMPUTE) return hash_bytes(name, strlen(name), 0);
  const char *begin = strchr(name, '(') + 1;
  return hash_bytes(begin, strlen(begin) - 1, 0);
}

/* value[operator]: a hash of its name and of the values that it reads, in whatever order, each with the size of its
 * tensor, which says which output it is. A copy does not compute with the gradient that it waits for. */
static void find_values(uint64_t *value, const situ_graph *g) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    value[v] = hash_of_name(g, v);
    uint64_t sum = 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t t = g->in[i], u = g->producer[t];
      if (g->phase[v] == SITU_PHASE_RECOMPUTE && g->phase[u] == SITU_PHASE_BACKWARD) continue;
      uint64_t both[2] = {value[u], (uint64_t)g->size_bytes[t]};
      sum += hash_bytes(both, sizeof both, 1);
    }
    value[v] = hash_bytes(&sum, sizeof sum, value[v]);
  }
}

/* Gradients and updates come from the same values as without recomputation; what is computed again is what was; nothing
 * is computed for nobody; and weights are there once. */
TEST(recomputation_changes_no_value) {
  int32_t n_recomputed = 0, n_kept = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    rng r = rng_new(seed);
    situ_graph *forward = random_network(&r), *all, *less;
    training_options none = {.optimizer = SITU_OPTIMIZER_ADAM}, some = none;
    some.recompute = 1 + (int32_t)rng_below(&r, 5);
    if (rng_below(&r, 2)) some.recompute = INT32_MAX;
    bool also[6] = {false};
    if (rng_below(&r, 3) == 0) { /* some of them, not the first ones */
      for (int32_t k = 0; k < 6; k++) also[k] = rng_below(&r, 2);
      some.recompute = 0;
      some.n_also = 6;
      some.also = also;
    }
    if (graph_training(&all, forward, none, NULL) == SITU_STATUS_OK) {
      uint64_t before[256], value[256];
      assert_int_equal(graph_training(&less, forward, some, NULL), SITU_STATUS_OK);
      assert_true(all->n_operators <= 256 && less->n_operators <= 256);
      find_values(before, all);
      find_values(value, less);
      int64_t weights[2] = {0, 0};
      for (int32_t v = 0; v < all->n_operators; v++) {
        int32_t same = situ_graph_find(less, all->name[v]);
        if (same < 0 || value[same] != before[v]) fail_msg("seed %d: %s", (int)seed, all->name[v]);
        weights[0] += all->weight_bytes[v];
      }
      for (int32_t v = 0; v < less->n_operators; v++) {
        weights[1] += less->weight_bytes[v];
        if (less->phase[v] != SITU_PHASE_RECOMPUTE) continue;
        char original[64];
        snprintf(original, sizeof original, "%.*s", (int)strlen(less->name[v]) - 11, less->name[v] + 10);
        if (some.n_also > 0) assert_true(less->segment[v] < 6 && also[less->segment[v]]);
        if (value[v] != value[situ_graph_find(less, original)]) fail_msg("seed %d: %s", (int)seed, less->name[v]);
        bool waits = false;
        for (int64_t i = less->in_start[v]; i < less->in_start[v + 1]; i++)
          waits |= less->phase[less->producer[less->in[i]]] != SITU_PHASE_FORWARD;
        assert_true(waits); /* it would run at once */
        assert_true(less->out_start[v] < less->out_start[v + 1]);
        for (int32_t t = less->out_start[v]; t < less->out_start[v + 1]; t++)
          assert_true(less->use_start[t] < less->use_start[t + 1]);
        assert_true(runs_again(less, original));
        n_recomputed++;
      }
      assert_int_equal(weights[0], weights[1]);
      assert_true(flops_of(less, SITU_PHASE_RECOMPUTE) <= flops_of(less, SITU_PHASE_FORWARD));
      n_kept += less->n_recomputed == 0;
      situ_graph_free(all);
      situ_graph_free(less);
    }
    situ_graph_free(forward);
  }
  assert_true(n_recomputed > 3000 && n_kept > 100);
}

/* The published case: GPT-2 with 12 blocks, whose matrix products run once more but for the last of each block. */
TEST(blocks_of_gpt2_are_recomputed) {
  situ_model *model;
  situ_error error;
  situ_read_options o = {.size = sizeof o, .training = true, .recompute = "all"};
  if (situ_model_read(&model, "builtin:gpt2", &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  const situ_graph *g = situ_model_graph(model);
  assert_int_equal(g->n_recomputed, 12);
  int32_t n_last = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (!strstr(g->name[v], ".fc2") || g->phase[v] != SITU_PHASE_FORWARD) continue;
    assert_false(runs_again(g, g->name[v]));
    n_last++;
  }
  assert_int_equal(n_last, 24); /* with their biases */
  assert_true(runs_again(g, "layer0.fc1") && runs_again(g, "layer11.attention.output"));
  situ_model_free(model);
  static const struct {
    const char *recompute, *says;
    bool training;
  } wrong[] = {{"some", "recompute must be", true}, {"0", "recompute must be", true}, {"-1", "recompute must be", true},
               {"3x", "recompute must be", true},   {"auto", "situ place", true},     {"all", "training", false}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    o.recompute = wrong[k].recompute;
    o.training = wrong[k].training;
    assert_int_equal(situ_model_read(&model, "builtin:gpt2", &o, &error), SITU_STATUS_BAD_ARGUMENT);
    if (!strstr(error.text, wrong[k].says)) fail_msg("%s: %s", wrong[k].recompute, error.text);
  }
}

TEST_MAIN
