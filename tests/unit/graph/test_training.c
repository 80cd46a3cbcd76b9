/* Training steps made of forward passes. */
#include "../../lab/test.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "read/reader.h"
#include "situ/read.h"

static situ_graph_builder *builder(void) {
  situ_graph_builder *b;
  situ_error error;
  assert_int_equal(situ_graph_builder_new(&b, "test", &error), SITU_STATUS_OK);
  return b;
}

static int32_t add(situ_graph_builder *b, situ_operator op) {
  situ_error error;
  int32_t v;
  op.source_id = -1;
  assert_int_equal(builder_add_operator(b, &op, &v, &error), SITU_STATUS_OK);
  return v;
}

/* A tensor of `size` bytes from u to v. */
static void join(situ_graph_builder *b, int32_t u, int32_t v, int64_t size, situ_dtype type) {
  situ_error error;
  int32_t t;
  situ_tensor tensor = {.dtype = type, .rank = -1, .size_bytes = size};
  assert_int_equal(builder_add_tensor(b, u, &tensor, &t, &error), SITU_STATUS_OK);
  assert_int_equal(builder_add_use(b, v, t, &error), SITU_STATUS_OK);
}

static situ_graph *train_with(situ_graph_builder *b, int32_t micro_batches) {
  situ_graph *forward, *step;
  situ_error error;
  assert_int_equal(situ_graph_freeze(&forward, b, &error), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  if (graph_training(&step, forward,
                     (training_options){.optimizer = SITU_OPTIMIZER_SGD, .micro_batches = micro_batches},
                     &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  situ_graph_free(forward);
  return step;
}

static situ_graph *train(situ_graph_builder *b) { return train_with(b, 0); }

static bool reads(const situ_graph *g, const char *user, const char *producer, int64_t size) {
  int32_t v = situ_graph_find(g, user), u = situ_graph_find(g, producer);
  assert_true(v >= 0 && u >= 0);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (g->producer[g->in[i]] == u && g->size_bytes[g->in[i]] == size) return true;
  return false;
}

/* look (no weights) -> first -> squash -> second; numbers (no floating point) -> second */
static situ_graph *small(void) {
  situ_graph_builder *b = builder();
  int32_t look = add(b, (situ_operator){.name = "look", .kind = "Resize", .dtype = SITU_DTYPE_F32, .colocation = -1});
  int32_t first = add(b, (situ_operator){.name = "first",
                                         .kind = "Gemm",
                                         .dtype = SITU_DTYPE_F32,
                                         .colocation = -1,
                                         .weight_bytes = 400,
                                         .flops = 1000,
                                         .moved_bytes = 500});
  int32_t squash = add(
      b,
      (situ_operator){
          .name = "squash", .kind = "Tanh", .dtype = SITU_DTYPE_F32, .colocation = -1, .flops = 10, .moved_bytes = 80});
  int32_t numbers =
      add(b, (situ_operator){.name = "numbers", .kind = "Range", .dtype = SITU_DTYPE_I64, .colocation = -1});
  int32_t second = add(b, (situ_operator){.name = "second",
                                          .kind = "Gemm",
                                          .dtype = SITU_DTYPE_F32,
                                          .colocation = -1,
                                          .weight_bytes = 800,
                                          .flops = 2000,
                                          .moved_bytes = 900});
  join(b, look, first, 11, SITU_DTYPE_F32);
  join(b, first, squash, 22, SITU_DTYPE_F32);
  join(b, squash, second, 33, SITU_DTYPE_F32);
  join(b, numbers, second, 44, SITU_DTYPE_I64);
  return train(b);
}

TEST(what_has_weights_before_it_gets_a_backward_operator) {
  OWN(situ_graph) *g = small();
  assert_int_equal(g->n_operators, 5 + 3 + 2);
  assert_true(situ_graph_find(g, "gradient(look)") < 0);
  assert_true(situ_graph_find(g, "gradient(numbers)") < 0);
  situ_operator first = graph_operator(g, situ_graph_find(g, "gradient(first)"));
  situ_operator second = graph_operator(g, situ_graph_find(g, "gradient(second)"));
  assert_int_equal(first.flops, 1000);      /* that of its weights alone */
  assert_int_equal(second.flops, 2 * 2000); /* of its weights and of its real input */
  assert_int_equal(first.phase, SITU_PHASE_BACKWARD);
  assert_int_equal(second.weight_bytes, 800);
  situ_operator update = graph_operator(g, situ_graph_find(g, "update(second)"));
  assert_int_equal(update.phase, SITU_PHASE_UPDATE);
  assert_int_equal(update.flops, 2 * 200);
  assert_int_equal(update.moved_bytes, 3 * 800);
  assert_int_equal(update.colocation, second.colocation);
  assert_int_equal(second.colocation, graph_operator(g, situ_graph_find(g, "second")).colocation);
}

/* An update of four inputs is a quarter of one of each: its states stay whole. */
TEST(inputs_of_a_step_share_its_update) {
  OWN(situ_graph_builder) *b = builder();
  OWN(situ_graph) *forward = NULL, *step = NULL;
  situ_error error;
  int32_t v = add(b, (situ_operator){.name = "first",
                                     .kind = "MatMul",
                                     .dtype = SITU_DTYPE_F32,
                                     .colocation = -1,
                                     .weight_bytes = 4000,
                                     .flops = 100});
  int32_t w = add(b, (situ_operator){.name = "last", .kind = "Relu", .dtype = SITU_DTYPE_F32, .colocation = -1});
  join(b, v, w, 10, SITU_DTYPE_F32);
  assert_int_equal(situ_graph_freeze(&forward, b, &error), SITU_STATUS_OK);
  training_options four = {.optimizer = SITU_OPTIMIZER_ADAM, .micro_batches = 4};
  assert_int_equal(graph_training(&step, forward, four, &error), SITU_STATUS_OK);
  situ_operator update = graph_operator(step, situ_graph_find(step, "update(first)"));
  assert_int_equal(update.moved_bytes, 7 * 4000 / 4); /* weight, gradient, two moments: read; all but it: written */
  assert_int_equal(update.flops, 12 * 1000 / 4);
  assert_int_equal(update.weight_bytes, 2 * 4000);
  assert_int_equal(graph_operator(step, situ_graph_find(step, "gradient(first)")).flops, 100);
}

/* 1000 weights of 16 bits, Adam in mixed precision: 12 bytes each stay on the host, which reads and writes these and
 * reads a gradient and writes a weight. The device reads its gradients and gets its weights once for 4 inputs. */
TEST(a_host_holds_the_states_and_makes_the_updates) {
  OWN(situ_graph_builder) *b = builder();
  OWN(situ_graph) *forward = NULL, *step = NULL;
  situ_error error;
  int32_t v =
      add(b, (situ_operator){
                 .name = "first", .kind = "MatMul", .dtype = SITU_DTYPE_F16, .weight_bytes = 2000, .colocation = -1});
  int32_t w = add(b, (situ_operator){.name = "last", .kind = "Relu", .dtype = SITU_DTYPE_F16, .colocation = -1});
  join(b, v, w, 10, SITU_DTYPE_F16);
  assert_int_equal(situ_graph_freeze(&forward, b, &error), SITU_STATUS_OK);
  training_options four = {.optimizer = SITU_OPTIMIZER_ADAM_MIXED, .micro_batches = 4, .offload_optimizer = true};
  assert_int_equal(graph_training(&step, forward, four, &error), SITU_STATUS_OK);
  int32_t update = situ_graph_find(step, "update(first)");
  assert_int_equal(graph_operator(step, update).weight_bytes, 0);
  assert_int_equal(graph_operator(step, update).moved_bytes, 2 * 2000 / 4);
  assert_int_equal(step->n_offloads, 1);
  assert_int_equal(step->offload_inputs, 4);
  assert_int_equal(step->offload[0].op, update);
  assert_int_equal(step->offload[0].weight_bytes, 2000);
  assert_int_equal(step->offload[0].state_bytes, 12 * 1000);
  assert_int_equal(step->offload[0].moved_bytes, (2 * 12 + 2 + 2) * 1000);
  assert_int_equal(graph_offloaded_bytes(step), 12 * 1000);
}

/* Bytes of each weight that PyTorch's optimizers keep beside it and its gradient; ZeRO (SC 2020), section 3.1: with
 * Adam in mixed precision 2 + 2 + 12 = 16 in all. */
TEST(an_optimizer_keeps_its_states_where_the_weights_are) {
  static const struct {
    situ_optimizer which;
    int64_t of_f32, of_f16;
  } rows[] = {{SITU_OPTIMIZER_DEFAULT, 8, 12},  {SITU_OPTIMIZER_SGD, 0, 0},         {SITU_OPTIMIZER_MOMENTUM, 4, 2},
              {SITU_OPTIMIZER_ADAM, 8, 4},      {SITU_OPTIMIZER_ADAM_MIXED, 8, 12}, {SITU_OPTIMIZER_ADAFACTOR, 0, 0},
              {SITU_OPTIMIZER_ADAM_8BIT, 2, 2}, {SITU_OPTIMIZER_NONE, -1, -1}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int half = 0; half < 2; half++) {
      OWN(situ_graph_builder) *b = builder();
      OWN(situ_graph) *forward = NULL, *step = NULL;
      situ_error error;
      situ_dtype type = half ? SITU_DTYPE_F16 : SITU_DTYPE_F32;
      int32_t v = add(
          b, (situ_operator){.name = "first", .kind = "MatMul", .dtype = type, .weight_bytes = 4000, .colocation = -1});
      int32_t w = add(
          b, (situ_operator){.name = "last", .kind = "MatMul", .dtype = type, .weight_bytes = 400, .colocation = -1});
      join(b, v, w, 10, type);
      assert_int_equal(situ_graph_freeze(&forward, b, &error), SITU_STATUS_OK);
      assert_int_equal(graph_training(&step, forward, (training_options){.optimizer = rows[k].which}, &error),
                       SITU_STATUS_OK);
      int32_t update = situ_graph_find(step, "update(first)");
      int64_t n = 4000 / (half ? 2 : 4), each = half ? rows[k].of_f16 : rows[k].of_f32;
      if (each < 0)
        assert_int_equal(update, -1);
      else
        assert_int_equal(graph_operator(step, update).weight_bytes, n * each);
    }
}

TEST(backward_reads_what_its_kind_needs) {
  OWN(situ_graph) *g = small();
  assert_true(reads(g, "gradient(second)", "squash", 33));
  assert_true(reads(g, "gradient(squash)", "gradient(second)", 33));
  assert_true(reads(g, "gradient(squash)", "squash", 33)); /* tanh' = 1 - tanh^2 */
  assert_false(reads(g, "gradient(squash)", "first", 22));
  assert_true(reads(g, "gradient(first)", "gradient(squash)", 22));
  assert_true(reads(g, "gradient(first)", "look", 11));
  assert_true(reads(g, "update(first)", "gradient(first)", 0));
}

TEST(shared_weights_are_updated_once_after_all_their_gradients) {
  situ_graph_builder *b = builder();
  situ_operator cell = {.kind = "MatMul", .dtype = SITU_DTYPE_F32, .colocation = 0, .flops = 100, .moved_bytes = 10};
  int32_t step[3];
  for (int32_t i = 0; i < 3; i++) {
    cell.name = (const char *const[]){"a", "b", "c"}[i];
    cell.weight_bytes = i == 0 ? 40 : 0;
    step[i] = add(b, cell);
    if (i > 0) join(b, step[i - 1], step[i], 8, SITU_DTYPE_F32);
  }
  OWN(situ_graph) *g = train(b);
  assert_int_equal(g->n_operators, 3 + 3 + 1);
  assert_true(reads(g, "update(a)", "gradient(a)", 0) && reads(g, "update(a)", "gradient(b)", 0) &&
              reads(g, "update(a)", "gradient(c)", 0));
  assert_int_equal(g->n_colocations, 1);
}

/* A table of 90 bytes, which `word` looks up and `head`, with a bias of 7, multiplies. */
static situ_graph *tied(int32_t micro_batches, bool third) {
  situ_graph_builder *b = builder();
  situ_operator op = {.dtype = SITU_DTYPE_F32, .colocation = 5, .flops = 100, .moved_bytes = 10};
  op.name = "word", op.kind = "Gather", op.weight_bytes = 90;
  int32_t word = add(b, op);
  op.name = "middle", op.kind = "Gemm", op.weight_bytes = 20, op.colocation = third ? 5 : -1;
  int32_t middle = add(b, op);
  op.name = "head", op.kind = "Gemm", op.weight_bytes = 7, op.colocation = 5;
  int32_t head = add(b, op);
  join(b, word, middle, 8, SITU_DTYPE_F32);
  join(b, middle, head, 8, SITU_DTYPE_F32);
  return train_with(b, micro_batches);
}

TEST(tied_tables_are_copied_in_pipelines) {
  situ_graph *g = tied(4, false);
  int32_t word = situ_graph_find(g, "word"), head = situ_graph_find(g, "head"),
          gradient = situ_graph_find(g, "gradient(head)");
  assert_int_equal(g->weight_bytes[word], 90);
  assert_int_equal(g->weight_bytes[head], 90 + 7);
  assert_int_equal(g->weight_bytes[gradient], 90 + 7);
  assert_true(g->colocation[word] != g->colocation[head] && g->colocation[gradient] == g->colocation[head]);
  for (int k = 0; k < 2; k++) /* 90 / 4, rounded up, each way */
    assert_true(reads(g, k ? "update(word)" : "update(head)", "gradient(word)", 23) &&
                reads(g, k ? "update(word)" : "update(head)", "gradient(head)", 23));
  situ_graph_free(g);
  for (int k = 0; k < 2; k++) { /* without micro-batches, or with a third reader, all stay together */
    g = tied(k ? 4 : 0, k == 1);
    assert_int_equal(g->weight_bytes[situ_graph_find(g, "head")], 7);
    assert_int_equal(g->colocation[situ_graph_find(g, "word")], g->colocation[situ_graph_find(g, "head")]);
    assert_int_equal(situ_graph_find(g, "update(head)"), -1);
    situ_graph_free(g);
  }
}

/* A group that a graph file states for other reasons: each has a table of its own. */
TEST(tables_of_their_own_are_not_copied) {
  situ_graph_builder *b = builder();
  situ_operator op = {.dtype = SITU_DTYPE_F32, .colocation = 5, .flops = 100, .moved_bytes = 10};
  op.name = "word", op.kind = "Gather", op.weight_bytes = 90;
  int32_t word = add(b, op);
  op.name = "head", op.kind = "MatMul", op.weight_bytes = 80;
  int32_t head = add(b, op);
  join(b, word, head, 8, SITU_DTYPE_F32);
  OWN(situ_graph) *g = train_with(b, 4);
  assert_int_equal(g->weight_bytes[situ_graph_find(g, "head")], 80);
  assert_int_equal(g->colocation[situ_graph_find(g, "word")], g->colocation[situ_graph_find(g, "head")]);
}

TEST(gradients_of_several_users_are_added_up) {
  situ_graph_builder *b = builder();
  situ_error error;
  int32_t t,
      u = add(b, (situ_operator){.name = "u", .kind = "Gemm", .colocation = -1, .weight_bytes = 4, .moved_bytes = 7});
  situ_tensor tensor = {.dtype = SITU_DTYPE_F32, .rank = -1, .size_bytes = 16};
  assert_int_equal(builder_add_tensor(b, u, &tensor, &t, &error), SITU_STATUS_OK);
  for (int32_t i = 0; i < 3; i++)
    assert_int_equal(builder_add_use(b, add(b, (situ_operator){.kind = "Relu", .colocation = -1}), t, &error), 0);
  OWN(situ_graph) *g = train(b);
  int32_t v = situ_graph_find(g, "gradient(u)");
  assert_int_equal(g->moved_bytes[v], 7 + 3 * 16);
  assert_int_equal(g->in_start[v + 1] - g->in_start[v], 3);
}

/* Kaplan et al., "Scaling laws for neural language models", 2020, section 2.1: backward takes twice what forward takes.
 */
TEST(a_transformer_takes_three_times_its_forward_pass) {
  OWN(situ_model) *forward = NULL, *step = NULL;
  situ_error error;
  situ_read_options o = {.size = sizeof(situ_read_options), .training = true};
  assert_int_equal(situ_model_read(&forward, "builtin:gpt2?layers=4", NULL, &error), SITU_STATUS_OK);
  assert_int_equal(situ_model_read(&step, "builtin:gpt2?layers=4", &o, &error), SITU_STATUS_OK);
  double once = 0, all = 0;
  for (int32_t v = 0; v < forward->graph->n_operators; v++) once += (double)forward->graph->flops[v];
  for (int32_t v = 0; v < step->graph->n_operators; v++) all += (double)step->graph->flops[v];
  assert_true(all > 2.95 * once && all < 3.05 * once);
}

TEST(a_training_step_is_not_made_twice) {
  situ_graph *once = small(), *twice = NULL;
  situ_error error;
  assert_int_equal(graph_training(&twice, once, (training_options){.optimizer = SITU_OPTIMIZER_SGD}, &error),
                   SITU_STATUS_BAD_ARGUMENT);
  assert_null(twice);
  assert_non_null(strstr(error.text, "already a training step"));
  situ_graph_free(once);
}

/* A forward pass would pass for a training step, at a third of its time. */
TEST(what_cannot_be_trained_is_no_training_step) {
  situ_graph_builder *b = builder();
  add(b, (situ_operator){.name = "only", .kind = "Relu", .dtype = SITU_DTYPE_F32, .colocation = -1});
  situ_graph *forward, *step;
  situ_model *model;
  situ_error error;
  assert_int_equal(situ_graph_freeze(&forward, b, &error), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  assert_int_equal(graph_training(&step, forward, (training_options){.optimizer = SITU_OPTIMIZER_SGD}, &error),
                   SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "weights"));
  assert_null(step);
  situ_graph_free(forward);
  situ_read_options o = {.size = sizeof(situ_read_options), .training = true, .precision = SITU_PRECISION_I8};
  assert_int_equal(situ_model_read(&model, "builtin:resnet50?image=32", &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "i8"));
  assert_null(model);
}

/* A cell multiplies inputs by some weights and its state by others: half of its work each, of which the gradients take
 * twice as much, however many states it has. */
TEST(the_gradient_of_a_cell_is_twice_its_work) {
  situ_graph_builder *b = builder();
  situ_operator gemm = {.kind = "Gemm", .dtype = SITU_DTYPE_F32, .colocation = -1, .flops = 10, .weight_bytes = 80};
  static const char *const names[] = {"x", "h", "c"};
  int32_t inputs[3];
  for (int k = 0; k < 3; k++) {
    gemm.name = names[k];
    inputs[k] = add(b, gemm);
  }
  int32_t cell = add(b, (situ_operator){.name = "cell",
                                        .kind = "LSTM",
                                        .dtype = SITU_DTYPE_F32,
                                        .colocation = -1,
                                        .flops = 1000,
                                        .weight_bytes = 800});
  for (int k = 0; k < 3; k++) join(b, inputs[k], cell, 40, SITU_DTYPE_F32);
  OWN(situ_graph) *step = train(b);
  assert_int_equal(graph_operator(step, situ_graph_find(step, "gradient(cell)")).flops, 2 * 1000);
}

/* first (weights) and table (none) -> scaled; first and scaled -> squared; a loss of that and of labels */
TEST(backward_reads_a_factor_only_for_another_that_learns) {
  situ_graph_builder *b = builder();
  int32_t v[5];
  static const char *const names[] = {"table", "first", "scaled", "product", "loss"}, *const kinds[] = {
                                                                                          "Range", "Gemm", "Mul", "Mul",
                                                                                          "cross_entropy_loss"};
  for (int k = 0; k < 5; k++)
    v[k] = add(b, (situ_operator){.name = names[k],
                                  .kind = kinds[k],
                                  .dtype = SITU_DTYPE_F32,
                                  .colocation = -1,
                                  .flops = 100,
                                  .weight_bytes = k == 1 ? 400 : 0});
  int32_t labels =
      add(b, (situ_operator){.name = "labels", .kind = "Range", .dtype = SITU_DTYPE_I64, .colocation = -1});
  join(b, v[0], v[2], 10, SITU_DTYPE_F32);
  join(b, v[1], v[2], 20, SITU_DTYPE_F32);
  join(b, v[1], v[3], 21, SITU_DTYPE_F32);
  join(b, v[2], v[3], 22, SITU_DTYPE_F32);
  join(b, v[3], v[4], 44, SITU_DTYPE_F32);
  join(b, labels, v[4], 8, SITU_DTYPE_I64);
  OWN(situ_graph) *step = train(b);
  assert_true(reads(step, "gradient(scaled)", "table", 10));
  assert_false(reads(step, "gradient(scaled)", "first", 20));
  assert_true(reads(step, "gradient(product)", "first", 21));
  assert_true(reads(step, "gradient(product)", "scaled", 22));
  assert_true(reads(step, "gradient(loss)", "product", 44));
  assert_int_equal(step->workspace_bytes[situ_graph_find(step, "gradient(loss)")], 44);
  assert_int_equal(step->workspace_bytes[situ_graph_find(step, "loss")], 0);
}

TEST_MAIN
