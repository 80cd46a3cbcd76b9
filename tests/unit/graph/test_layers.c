/* Layers by names and by structure. */
#include "../../lab/random_graph.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "graph/builder.h"
#include "graph/components.h"
#include "graph/layers.h"
#include "read/builtin.h"

/* Contracting each layer to a node must leave no cycle: every strongly connected component is one node. */
static void check_acyclic(const situ_graph *g, const layer_list *l) {
  OWN(arena) *a = arena_new();
  int32_t n = g->n_operators, n_nodes = l->n + n, n_components;
  int32_t *start = ARENA_ZERO(a, int32_t, n_nodes + 1), *to = ARENA_NEW(a, int32_t, g->n_uses), at = 0;
  int32_t *component = ARENA_NEW(a, int32_t, n_nodes);
  assert_true(start && to && component);
  for (int32_t node = 0; node < n_nodes; node++) {
    start[node] = at;
    for (int32_t v = 0; v < n; v++) {
      if ((l->of[v] >= 0 ? l->of[v] : l->n + v) != node) continue;
      for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++) {
        int32_t u = g->use[i], other = l->of[u] >= 0 ? l->of[u] : l->n + u;
        if (other != node) to[at++] = other;
      }
    }
  }
  start[n_nodes] = at;
  assert_true(components_find(component, &n_components, start, to, n_nodes, a));
  assert_int_equal(n_components, n_nodes);
}

static situ_graph *generate(const char *path) {
  situ_graph *g;
  situ_error error;
  int64_t parameters;
  if (builtin_generate(&g, path, SITU_DTYPE_UNKNOWN, &parameters, &error) != SITU_STATUS_OK)
    fail_msg("%s: %s", path, error.text);
  return g;
}

/* Gives every operator a name without a number in its path. */
static void forget_names(situ_graph *g) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    char name[32];
    snprintf(name, sizeof name, "node_%d", v);
    g->name[v] = arena_string(g->arena, name);
  }
}

static void expect_layers(situ_graph *g, int32_t expected) {
  OWN(arena) *a = arena_new();
  layer_list l;
  assert_true(layers_find(&l, g, a));
  if (l.n != expected) fail_msg("%s has %d layers, not %d", g->model, (int)l.n, (int)expected);
  check_acyclic(g, &l);
}

/* The numbers of layers are those of the papers; 3 + 4 + 6 + 3 bottlenecks in a residual network of 50 layers. */
static const struct {
  const char *model;
  int32_t n;
} published[] = {{"builtin:llama", 32},
                 {"builtin:llama?tokens=1&context=512", 32},
                 {"builtin:gpt2", 12},
                 {"builtin:bert-base", 12},
                 {"builtin:resnet50", 3 + 4 + 6 + 3}};

TEST(layers_of_networks_are_found_by_names) {
  for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
    OWN(situ_graph) *g = generate(published[i].model);
    expect_layers(g, published[i].n);
  }
}

TEST(layers_of_networks_are_found_without_names) {
  for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
    OWN(situ_graph) *g = generate(published[i].model);
    forget_names(g);
    expect_layers(g, published[i].n);
  }
}

/* A chain of operators of these names. */
static situ_graph *chain(const char *const *names, int32_t n) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  assert_int_equal(situ_graph_builder_new(&b, "chain", NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < n; v++) {
    int32_t at, t;
    situ_operator o = {.name = names[v], .kind = "Add", .colocation = -1, .source_id = -1};
    situ_tensor made = {.rank = -1, .size_bytes = 8};
    assert_int_equal(builder_add_operator(b, &o, &at, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(b, at, &made, &t, NULL), SITU_STATUS_OK);
    if (v > 0) assert_int_equal(builder_add_use(b, at, t - 1, NULL), SITU_STATUS_OK);
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  return g;
}

static void expect_chain(const char *const *names, int32_t n, const int32_t *expected) {
  OWN(situ_graph) *g = chain(names, n);
  OWN(arena) *a = arena_new();
  layer_list l;
  assert_true(layers_find(&l, g, a));
  for (int32_t v = 0; v < n; v++)
    if (l.of[v] != expected[v]) fail_msg("%s is in layer %d, not %d", names[v], (int)l.of[v], (int)expected[v]);
  check_acyclic(g, &l);
}

#define EXPECT_CHAIN(expected, ...)                                                    \
  do {                                                                                 \
    const char *const names[] = {__VA_ARGS__};                                         \
    expect_chain(names, (int32_t)(sizeof names / sizeof *names), (int32_t[])expected); \
  } while (0)
#define LAYERS(...) \
  { __VA_ARGS__ }

TEST(names_of_exporters_are_understood) {
  EXPECT_CHAIN(LAYERS(-1, 0, 0, 1, 1, -1), "token_embd", "blk.0.attn_q", "blk.0.ffn_down", "blk.1.attn_q",
               "blk.1.ffn_down", "output"); /* llama.cpp */
  EXPECT_CHAIN(LAYERS(-1, 0, 0, 1, 1, -1), "/model/embed_tokens/Gather", "/model/layers.0/mlp/Mul",
               "/model/layers.0/Add_1", "/model/layers.1/mlp/Mul", "/model/layers.1/Add_1",
               "/lm_head/MatMul"); /* PyTorch to ONNX */
  EXPECT_CHAIN(LAYERS(0, 0, 1, 1), "encoder.layer_0/attention/x", "encoder.layer_0/y", "encoder.layer_1/attention/x",
               "encoder.layer_1/y"); /* JAX */
  EXPECT_CHAIN(LAYERS(0, 1, 2), "/_original_module/transformer/h.0/Add", "/_original_module/transformer/h.1/Add",
               "/_original_module/transformer/h.2/Add"); /* ORT training */
  EXPECT_CHAIN(LAYERS(0, 0, 1, 1), "bert/encoder/layer_._22/intermediate/dense", "bert/encoder/layer_._22/output/add",
               "bert/encoder/layer_._23/intermediate/dense", "bert/encoder/layer_._23/output/add"); /* TensorFlow */
  EXPECT_CHAIN(LAYERS(0, 0, 1, 1, 2), "__module.encoder.layer.0.attention.attn/aten::div/Divide",
               "__module.encoder.layer.0.output/aten::add/Add", "__module.encoder.layer.1.attention.attn/aten::div/Div",
               "__module.encoder.layer.1.output/aten::add/Add", "__module.encoder.layer.2.output/aten::add/Add");
  EXPECT_CHAIN(LAYERS(0, 0, 1, 2), "net/block1/unit_1/conv1/Conv2D", "net/block1/unit_1/conv2/Conv2D",
               "net/block1/unit_2/conv1/Conv2D", "net/block2/unit_1/conv1/Conv2D"); /* TensorFlow slim */
  EXPECT_CHAIN(LAYERS(0, 0, 1), "InceptionV3/Mixed_5b/Branch_0/Conv2D", "InceptionV3/Mixed_5b/Branch_1/Conv2D",
               "InceptionV3/Mixed_5c/Branch_0/Conv2D");
}

TEST(the_number_of_an_operator_is_no_layer) {
  EXPECT_CHAIN(LAYERS(-1, -1, -1, -1), "MatMul_1", "Add_2", "MatMul_3", "Mul_4");
}

TEST(an_operator_without_layer_belongs_to_the_one_before) {
  EXPECT_CHAIN(LAYERS(-1, 0, 0, 1, -1), "scale", "h.0.x", "fused", "h.1.x", "end");
}

TEST(one_wrong_name_does_not_move_the_others) {
  EXPECT_CHAIN(LAYERS(-1, 0, 0, 1, 1, 2, 2), "h.2.early", "h.0.x", "h.0.y", "h.1.x", "h.1.y", "h.2.x", "h.2.y");
  EXPECT_CHAIN(LAYERS(0, 0, 1, 1, 2, 2, -1), "h.0.x", "h.0.y", "h.1.x", "h.1.y", "h.2.x", "h.2.y", "h.0.late");
  EXPECT_CHAIN(LAYERS(0, 0, 1, 1, 2, 2, 2), "h.0.x", "h.0.y", "h.1.x", "h.1.y", "h.2.x", "h.0.lost", "h.2.y");
}

TEST(layers_that_run_from_high_to_low_numbers_keep_their_order) {
  EXPECT_CHAIN(LAYERS(0, 0, 1, 1, 2), "up.3.x", "up.3.y", "up.2.x", "up.2.y", "up.1.x"); /* a diffusion decoder */
}

/* Names drawn at random on random graphs: whatever comes out must be acyclic. */
TEST(random_names_leave_no_cycle) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    OWN(situ_graph) *g = NULL;
    rng r = rng_new(seed);
    graph_random_options o = {.n_operators = 2 + (int32_t)rng_below(&r, 60),
                              .edge_density = 0.02 + 0.1 * (double)rng_below(&r, 4),
                              .seed = seed,
                              .max_outputs = 2,
                              .training = seed % 4 == 0};
    assert_int_equal(graph_random(&g, &o, NULL), SITU_STATUS_OK);
    for (int32_t v = 0; v < g->n_operators; v++) {
      char name[32];
      int32_t near = v / 8; /* mostly in order, some lost */
      int32_t k = rng_below(&r, 5) == 0 ? (int32_t)rng_below(&r, 8) : near;
      if (rng_below(&r, 6) == 0)
        snprintf(name, sizeof name, "lost%d", v);
      else
        snprintf(name, sizeof name, "h.%d.x%d", k, v);
      g->name[v] = arena_string(g->arena, name);
    }
    OWN(arena) *a = arena_new();
    layer_list l;
    assert_true(layers_find(&l, g, a));
    check_acyclic(g, &l);
  }
}

TEST_MAIN
