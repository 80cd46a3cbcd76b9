/* The guesses of a graph: stated to a builder, kept through freezing, copies and training steps. */
#include "../../lab/test.h"
#include "graph/builder.h"
#include "graph/graph.h"

static int32_t add(situ_graph_builder *b, const char *name, const char *kind, int64_t weight_bytes, bool inferred) {
  int32_t v, t;
  situ_operator o = {.name = name,
                     .kind = kind,
                     .weight_bytes = weight_bytes,
                     .dtype = SITU_DTYPE_F32,
                     .flops = 10,
                     .source_id = -1,
                     .colocation = -1,
                     .inferred = inferred};
  situ_tensor made = {.rank = -1, .size_bytes = 8, .dtype = SITU_DTYPE_F32};
  assert_int_equal(builder_add_operator(b, &o, &v, NULL), SITU_STATUS_OK);
  assert_int_equal(builder_add_tensor(b, v, &made, &t, NULL), SITU_STATUS_OK);
  assert_int_equal(v, t);
  return v;
}

static void guess(situ_graph_builder *b, situ_guess_kind kind, const char *subject, int32_t op) {
  assert_int_equal(builder_add_guess(b, kind, subject, op, NULL), SITU_STATUS_OK);
}

static void use(situ_graph_builder *b, int32_t consumer, int32_t tensor) {
  assert_int_equal(builder_add_use(b, consumer, tensor, NULL), SITU_STATUS_OK);
}

static const graph_guess *find(const situ_graph *g, situ_guess_kind kind, const char *subject) {
  for (int32_t i = 0; i < g->n_guesses; i++)
    if (g->guesses[i].kind == kind && strcmp(g->guesses[i].subject, subject) == 0) return &g->guesses[i];
  fail_msg("there is no guess %s of %s", situ_guess_kind_name(kind), subject);
  return NULL;
}

/* c is built before b, from which it reads, so that the graph numbers them otherwise; a and c are of one guess. */
static situ_graph *three(void) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  assert_int_equal(situ_graph_builder_new(&b, "three", NULL), SITU_STATUS_OK);
  int32_t a = add(b, "a", "MatMul", 8, true), c = add(b, "c", "MatMul", 8, true), last = add(b, "b", "Relu", 0, true);
  use(b, last, a);
  use(b, c, last);
  guess(b, SITU_GUESS_TYPE, "T", c);
  guess(b, SITU_GUESS_TYPE, "T", a);
  guess(b, SITU_GUESS_TYPE, "T", c); /* said twice, it is one */
  guess(b, SITU_GUESS_ROLE, "T", last);
  guess(b, SITU_GUESS_SIZE, "seq", GUESS_OF_ALL);
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  return g;
}

TEST(guesses_have_the_numbers_of_the_graph) {
  OWN(situ_graph) *g = three();
  assert_int_equal(g->n_guesses, 3);
  const graph_guess *type = find(g, SITU_GUESS_TYPE, "T"), *role = find(g, SITU_GUESS_ROLE, "T");
  assert_int_equal(type->n_operators, 2);
  assert_int_equal(type->operators[0], situ_graph_find(g, "a"));
  assert_int_equal(type->operators[1], situ_graph_find(g, "c"));
  assert_int_equal(type->operators[1], 2); /* not the 1 of the builder */
  assert_int_equal(role->n_operators, 1);
  assert_int_equal(role->operators[0], situ_graph_find(g, "b"));
  assert_int_equal(find(g, SITU_GUESS_SIZE, "seq")->n_operators, GUESS_OF_ALL);
}

TEST(what_was_not_understood_is_a_guess_without_a_word) {
  situ_graph_builder *b;
  OWN(situ_graph) *g = NULL;
  assert_int_equal(situ_graph_builder_new(&b, "silent", NULL), SITU_STATUS_OK);
  add(b, "known", "Relu", 0, true);
  add(b, "kind", "Frobnicate", 0, false);
  add(b, "shape", "MatMul", 0, false);
  guess(b, SITU_GUESS_CONTROL, "loop", add(b, "told", "Loop", 0, false));
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  assert_int_equal(g->n_guesses, 3);
  assert_int_equal(find(g, SITU_GUESS_KIND, "Frobnicate")->operators[0], situ_graph_find(g, "kind"));
  assert_int_equal(find(g, SITU_GUESS_SHAPE, "MatMul")->operators[0], situ_graph_find(g, "shape"));
  assert_int_equal(find(g, SITU_GUESS_CONTROL, "loop")->operators[0], situ_graph_find(g, "told"));
}

TEST(guesses_are_told_by_index) {
  OWN(situ_graph) *g = three();
  situ_guess guess = SITU_GUESS_INIT;
  assert_int_equal(situ_graph_guess_count(g), 3);
  assert_true(situ_graph_guess_at(g, 0, &guess));
  assert_true(guess.kind == SITU_GUESS_TYPE && strcmp(guess.subject, "T") == 0 && guess.n_operators == 2);
  assert_true(guess.operators[0] == 0 && guess.operators[1] == 2);
  assert_true(situ_graph_guess_at(g, 2, &guess));
  assert_true(guess.kind == SITU_GUESS_SIZE && guess.n_operators == -1 && !guess.operators);
}

TEST(every_copy_is_guessed_as_the_first) {
  OWN(situ_graph) *g = three(), *two = NULL;
  assert_int_equal(graph_copies(&two, g, 2, NULL), SITU_STATUS_OK);
  assert_int_equal(two->n_guesses, 3);
  const graph_guess *type = find(two, SITU_GUESS_TYPE, "T");
  const int32_t operators[] = {0, 2, 3, 5};
  assert_int_equal(type->n_operators, 4);
  assert_memory_equal(type->operators, operators, sizeof operators);
  assert_int_equal(find(two, SITU_GUESS_SIZE, "seq")->n_operators, GUESS_OF_ALL);
}

TEST(a_gradient_is_guessed_as_its_operator) {
  OWN(situ_graph) *g = three(), *step = NULL;
  assert_int_equal(graph_training(&step, g, (training_options){.optimizer = SITU_OPTIMIZER_SGD}, NULL), SITU_STATUS_OK);
  const graph_guess *type = find(step, SITU_GUESS_TYPE, "T"), *role = find(step, SITU_GUESS_ROLE, "T");
  assert_int_equal(type->n_operators, 4); /* a, c and their gradients */
  assert_int_equal(role->n_operators, 2);
  int32_t gradient = situ_graph_find(step, "gradient(b)");
  assert_true(gradient > 0 && role->operators[1] == gradient);
}

TEST_MAIN
