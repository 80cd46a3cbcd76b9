/* Training steps split over groups of devices, against the counts of Megatron-LM (Shoeybi et al., 2019, section 3, and
 * Korthikanti et al., 2023, section 4): two all-reduces forward and two backward in each layer. */
#include "cost/training_split.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "read/reader.h"

enum { LAYERS = 3, TOKENS = 16, HIDDEN = 64 };

typedef struct sums {
  int32_t n[SITU_PHASE_RECOMPUTE + 1]; /* [phase] all-reduces */
} sums;

static situ_model *step_of(const char *recompute) {
  situ_model *m;
  situ_error error = {0};
  situ_read_options options = SITU_READ_OPTIONS_INIT;
  options.training = true;
  options.recompute = recompute;
  options.optimizer = SITU_OPTIMIZER_ADAM;
  must(situ_model_read(&m, "builtin:llama?layers=3&hidden=64&heads=8&kv_heads=4&ffn=96&vocab=52&tokens=16&context=0",
                       &options, &error),
       &error);
  return m;
}

static sums count_sums(const tensor_split *s) {
  sums found = {{0}};
  const situ_graph *g = s->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (s->reduced_bytes[v] == 0) continue;
    found.n[g->phase[v]]++;
    int32_t t = g->out_start[v];
    if (s->reduced_bytes[v] % (TOKENS * HIDDEN) != 0 || t == g->out_start[v + 1])
      fail_msg("%s sends %lld bytes", g->name[v], (long long)s->reduced_bytes[v]);
  }
  return found;
}

TEST(backward_passes_reduce_twice_in_each_layer) {
  for (int again = 0; again < 2; again++) {
    OWN(situ_model) *m = step_of(again ? "all" : NULL);
    tensor_split s;
    OWN(arena) *a = arena_new();
    assert_true(training_split_find(&s, m->graph, a));
    sums found = count_sums(&s);
    /* after attention and feed-forward part, and of the lookup; backward of their inputs, and of the head's input;
     * where a layer is computed again, after its attention: what its last product makes is no input of its backward
     * pass */
    assert_int_equal(found.n[SITU_PHASE_FORWARD], 2 * LAYERS + 1);
    assert_int_equal(found.n[SITU_PHASE_BACKWARD], 2 * LAYERS + 1);
    assert_int_equal(found.n[SITU_PHASE_RECOMPUTE], again ? LAYERS : 0);
  }
}

TEST(gradients_and_updates_split_as_their_operators) {
  OWN(situ_model) *m = step_of("2");
  const situ_graph *g = m->graph;
  tensor_split s;
  OWN(arena) *a = arena_new();
  int32_t n_split = 0, n_whole = 0;
  assert_true(training_split_find(&s, g, a));
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t x = training_split_forward(g, v);
    assert_true(x >= 0 && g->phase[x] == SITU_PHASE_FORWARD && s.ways[v] == s.ways[x]);
    bool weights = g->weight_bytes[x] > 0 && g->phase[v] == SITU_PHASE_UPDATE;
    n_split += weights && s.ways[v] > 1;
    n_whole += weights && s.ways[v] == 1;
  }
  assert_int_equal(n_split, 7 * LAYERS + 2); /* q, k, v, o, gate, up, down; embedding and head */
  assert_int_equal(n_whole, 2 * LAYERS + 1); /* norms */
}

/* Of heads each of four members has a quarter, of the residual stream all. */
TEST(members_hold_parts_once_and_whole_tensors_each) {
  OWN(situ_model) *m = step_of(NULL);
  const situ_graph *g = m->graph;
  tensor_split s;
  OWN(arena) *a = arena_new();
  assert_true(training_split_find(&s, g, a));
  int32_t n_parts = 0, n_whole = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    const char *name = g->name[g->producer[t]];
    int64_t held = training_split_held_bytes(&s, t, 4);
    if (strstr(name, "attention.scores") || strstr(name, "mlp.gate")) {
      n_parts += g->phase[g->producer[t]] == SITU_PHASE_FORWARD;
      if (g->phase[g->producer[t]] == SITU_PHASE_FORWARD) assert_int_equal(held, g->size_bytes[t]);
    } else if (strstr(name, "mlp_add") || strstr(name, "attention_add")) {
      n_whole++;
      assert_int_equal(held, 4 * g->size_bytes[t]);
    }
  }
  assert_true(n_parts >= 2 * LAYERS && n_whole >= 2 * LAYERS);
}

TEST_MAIN
