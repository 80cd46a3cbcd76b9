/* The functions of nn/ in double precision: each one's value by its definition, each one's gradient against
 * differences; Adam, clipping and checkpoints. */
#include <math.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "nn/functions.h"
#include "nn/gemm.h"
#include "nn/params.h"

enum { MAX_N = 5 };

/* What a function gets in a test: inputs of these shapes, drawn from -1 .. 1. */
typedef struct setting {
  tape *t;
  nn_var in[MAX_N];
} setting;

typedef struct function_case {
  const char *name;
  int32_t rows[MAX_N], cols[MAX_N]; /* 0 ends the inputs */
  nn_var (*make)(setting *s);
  /* Number (r, c) of the result by its definition, from the values of the inputs. */
  double (*expected)(const nn_matrix *in, int32_t r, int32_t c);
} function_case;

static double at(const nn_matrix *x, int32_t r, int32_t c) { return (double)x->value[(int64_t)r * x->cols + c]; }

static const bool some_allowed[12] = {true, false, true, false, true, true, true, true, true, true, false, false};
static const int32_t some_rows[5] = {2, 0, 2, 1, 3}, some_columns[3] = {3, 0, 2};
static const int64_t some_starts[4] = {0, 2, 2, 5};
static const int32_t some_items[5] = {3, 1, 0, 3, 2};
static const double some_weights[5] = {0.5, -2, 1, 3, 0.25};
static const nn_segments unweighted = {.n = 3, .start = some_starts, .item = some_items};
static const nn_segments weighted = {.n = 3, .start = some_starts, .item = some_items, .weight = some_weights};
static const nn_segments in_order = {.n = 3, .start = some_starts};

#define MAKE(name, expression) \
  static nn_var make_##name(setting *s) { return expression; }
#define EXPECT(name, expression) \
  static double expect_##name(const nn_matrix *in, int32_t r, int32_t c) { return expression; }
#define X at(&in[0], r, c)
#define Y at(&in[1], r, c)

MAKE(add, nn_add(s->t, s->in[0], s->in[1]))
EXPECT(add, X + Y)
MAKE(multiply, nn_multiply(s->t, s->in[0], s->in[1]))
EXPECT(multiply, X *Y)
MAKE(square, nn_multiply(s->t, s->in[0], s->in[0]))
EXPECT(square, X *X)
MAKE(scale, nn_scale(s->t, s->in[0], -1.5))
EXPECT(scale, -1.5 * X)
MAKE(add_row, nn_add_row(s->t, s->in[0], s->in[1]))
EXPECT(add_row, X + at(&in[1], 0, c))
MAKE(multiply_row, nn_multiply_row(s->t, s->in[0], s->in[1]))
EXPECT(multiply_row, X *at(&in[1], 0, c))
MAKE(multiply_column, nn_multiply_column(s->t, s->in[0], s->in[1]))
EXPECT(multiply_column, X *at(&in[1], r, 0))
MAKE(relu, nn_relu(s->t, s->in[0]))
EXPECT(relu, fmax(X, 0))
MAKE(sigmoid, nn_sigmoid(s->t, s->in[0]))
EXPECT(sigmoid, 1 / (1 + exp(-X)))
MAKE(tanh, nn_tanh(s->t, s->in[0]))
EXPECT(tanh, (exp(2 * X) - 1) / (exp(2 * X) + 1))
MAKE(exp, nn_exp(s->t, s->in[0]))
EXPECT(exp, exp(X))
MAKE(dropout, nn_dropout(s->t, s->in[0], 0.4, &(rng){11}))

/* The chances of 0.4 in the order of the numbers. */
static double expect_dropout(const nn_matrix *in, int32_t r, int32_t c) {
  rng random = rng_new(11);
  double unit = 0;
  for (int64_t i = 0; i <= (int64_t)r * in[0].cols + c; i++) unit = rng_unit(&random);
  return unit < 0.4 ? 0 : X / 0.6;
}

static double inner(const nn_matrix *x, int32_t r, const nn_matrix *y, int32_t c, bool transposed) {
  double sum = 0;
  for (int32_t k = 0; k < x->cols; k++) sum += at(x, r, k) * (transposed ? at(y, c, k) : at(y, k, c));
  return sum;
}

MAKE(matmul, nn_matmul(s->t, s->in[0], s->in[1]))
EXPECT(matmul, inner(&in[0], r, &in[1], c, false))
MAKE(dense, nn_dense(s->t, s->in[0], s->in[1], s->in[2]))
EXPECT(dense, inner(&in[0], r, &in[1], c, false) + at(&in[2], 0, c))
MAKE(matmul_transposed, nn_matmul_transposed(s->t, s->in[0], s->in[1]))
EXPECT(matmul_transposed, inner(&in[0], r, &in[1], c, true))
MAKE(gather, nn_gather(s->t, s->in[0], some_rows, 5))
EXPECT(gather, at(&in[0], some_rows[r], c))
MAKE(join, nn_join(s->t, s->in[0], s->in[1]))
EXPECT(join, c < in[0].cols ? X : at(&in[1], r, c - in[0].cols))

static double collected(const nn_matrix *in, const nn_segments *s, int32_t r, int32_t c, int how) {
  double sum = 0, greatest = 0;
  for (int64_t i = s->start[r]; i < s->start[r + 1]; i++) {
    double x = at(&in[0], s->item ? s->item[i] : (int32_t)i, c) * (s->weight ? (double)s->weight[i] : 1);
    sum += x;
    greatest = i == s->start[r] ? x : fmax(greatest, x);
  }
  int64_t n = s->start[r + 1] - s->start[r];
  return how == 0 ? sum : how == 1 ? (n ? sum / (double)n : 0) : greatest;
}

MAKE(segment_sum, nn_segment_sum(s->t, s->in[0], &weighted))
EXPECT(segment_sum, collected(in, &weighted, r, c, 0))
MAKE(segment_mean, nn_segment_mean(s->t, s->in[0], &unweighted))
EXPECT(segment_mean, collected(in, &unweighted, r, c, 1))
MAKE(segment_greatest, nn_segment_greatest(s->t, s->in[0], &unweighted))
EXPECT(segment_greatest, collected(in, &unweighted, r, c, 2))
MAKE(segments_in_order, nn_segment_sum(s->t, s->in[0], &in_order))
EXPECT(segments_in_order, collected(in, &in_order, r, c, 0))
MAKE(reshape, nn_reshape(s->t, s->in[0], 2, 6))
EXPECT(reshape, at(&in[0], (6 * r + c) / 4, (6 * r + c) % 4))
MAKE(mean_row, nn_mean_row(s->t, s->in[0]))
EXPECT(mean_row, (at(&in[0], 0, c) + at(&in[0], 1, c) + at(&in[0], 2, c)) / 3)
MAKE(sum, nn_sum(s->t, s->in[0]))

static double expect_sum(const nn_matrix *in, int32_t r, int32_t c) {
  double sum = 0;
  for (int64_t i = 0; i < (int64_t)in[0].rows * in[0].cols; i++) sum += (double)in[0].value[i];
  return sum;
}

static double portion(const nn_matrix *x, int32_t r, int32_t c, const bool *allowed) {
  double sum = 0;
  for (int32_t k = 0; k < x->cols; k++) sum += !allowed || allowed[r * x->cols + k] ? exp(at(x, r, k)) : 0;
  return exp(at(x, r, c)) / sum;
}

MAKE(softmax, nn_softmax(s->t, s->in[0]))
EXPECT(softmax, portion(&in[0], r, c, NULL))
MAKE(log_softmax, nn_log_softmax(s->t, s->in[0], NULL))
EXPECT(log_softmax, log(portion(&in[0], r, c, NULL)))
MAKE(masked, nn_log_softmax(s->t, s->in[0], some_allowed))
EXPECT(masked, some_allowed[r * 4 + c] ? log(portion(&in[0], r, c, some_allowed)) : 0)
MAKE(pick, nn_pick(s->t, s->in[0], some_columns))
EXPECT(pick, at(&in[0], r, some_columns[r]))
MAKE(layer_norm, nn_layer_norm(s->t, s->in[0], s->in[1], s->in[2]))

static double expect_layer_norm(const nn_matrix *in, int32_t r, int32_t c) {
  double mean = 0, variance = 0;
  for (int32_t k = 0; k < in[0].cols; k++) mean += at(&in[0], r, k) / in[0].cols;
  for (int32_t k = 0; k < in[0].cols; k++) variance += pow(at(&in[0], r, k) - mean, 2) / in[0].cols;
  return (X - mean) / sqrt(variance + 1e-5) * at(&in[1], 0, c) + at(&in[2], 0, c);
}

/* Rows 0..2 are the first segment, 3..5 the second, 6 the third; two heads of two numbers. */
MAKE(attention, nn_attention(s->t, s->in[0], s->in[1], s->in[2], s->in[1], s->in[2], 2, 3))

static double expect_attention(const nn_matrix *in, int32_t r, int32_t c) {
  int32_t head = c / 2, from = r / 3 > 0 ? 3 * (r / 3 - 1) : 0, end = 3 * (r / 3) + 3 < 7 ? 3 * (r / 3) + 3 : 7;
  double sum = 0, made = 0;
  for (int32_t k = from; k < end; k++) {
    double weight = exp((at(&in[0], r, 2 * head) * at(&in[1], k, 2 * head) +
                         at(&in[0], r, 2 * head + 1) * at(&in[1], k, 2 * head + 1)) /
                        sqrt(2));
    sum += weight;
    made += weight * at(&in[2], k, c);
  }
  return made / sum;
}

/* The same values of a memory apart: in[3] and in[4] are read for the segment before. */
MAKE(attention_to_memory, nn_attention(s->t, s->in[0], s->in[1], s->in[2], s->in[3], s->in[4], 2, 3))

static double expect_attention_to_memory(const nn_matrix *in, int32_t r, int32_t c) {
  int32_t head = c / 2, first = 3 * (r / 3), from = first > 0 ? first - 3 : 0, end = first + 3 < 7 ? first + 3 : 7;
  double sum = 0, made = 0;
  for (int32_t k = from; k < end; k++) {
    const nn_matrix *key = &in[k < first ? 3 : 1], *value = &in[k < first ? 4 : 2];
    double weight =
        exp((at(&in[0], r, 2 * head) * at(key, k, 2 * head) + at(&in[0], r, 2 * head + 1) * at(key, k, 2 * head + 1)) /
            sqrt(2));
    sum += weight;
    made += weight * at(value, k, c);
  }
  return made / sum;
}

MAKE(gru, nn_gru(s->t, s->in[0], s->in[1], s->in[2]))

static double expect_gru(const nn_matrix *in, int32_t r, int32_t c) {
  int32_t n = in[2].cols;
  double reset = 1 / (1 + exp(-at(&in[0], r, c) - at(&in[1], r, c)));
  double update = 1 / (1 + exp(-at(&in[0], r, n + c) - at(&in[1], r, n + c)));
  double fresh = tanh(at(&in[0], r, 2 * n + c) + reset * at(&in[1], r, 2 * n + c));
  return (1 - update) * fresh + update * at(&in[2], r, c);
}

/* The state 0 goes through rows of [4 x 9], forward or backward, by steps of nn_gru's definition. */
MAKE(gru_forward, nn_gru_sequence(s->t, s->in[0], s->in[1], s->in[2], false))
MAKE(gru_backward, nn_gru_sequence(s->t, s->in[0], s->in[1], s->in[2], true))

static double sequence_state(const nn_matrix *in, int32_t r, int32_t c, int32_t first, int32_t way) {
  double state[3] = {0}, gates[9];
  for (int32_t row = first; row != r + way; row += way) {
    for (int32_t g = 0; g < 9; g++) {
      gates[g] = at(&in[2], 0, g);
      for (int32_t k = 0; k < 3; k++) gates[g] += state[k] * at(&in[1], k, g);
    }
    for (int32_t k = 0; k < 3; k++) {
      double reset = 1 / (1 + exp(-at(&in[0], row, k) - gates[k]));
      double update = 1 / (1 + exp(-at(&in[0], row, 3 + k) - gates[3 + k]));
      state[k] = (1 - update) * tanh(at(&in[0], row, 6 + k) + reset * gates[6 + k]) + update * state[k];
    }
  }
  return state[c];
}

EXPECT(gru_forward, sequence_state(in, r, c, 0, 1))
EXPECT(gru_backward, sequence_state(in, r, c, 3, -1))

#define CASE(name, ...) \
  { #name, __VA_ARGS__, make_##name, expect_##name }
static const function_case cases[] = {
    CASE(add, {3, 3}, {4, 4}),
    CASE(multiply, {3, 3}, {4, 4}),
    CASE(square, {3}, {4}),
    CASE(scale, {3}, {4}),
    CASE(add_row, {3, 1}, {4, 4}),
    CASE(multiply_row, {3, 1}, {4, 4}),
    CASE(multiply_column, {3, 3}, {4, 1}),
    CASE(relu, {3}, {4}),
    CASE(sigmoid, {3}, {4}),
    CASE(tanh, {3}, {4}),
    CASE(exp, {3}, {4}),
    CASE(dropout, {3}, {4}),
    CASE(matmul, {3, 5}, {5, 2}),
    CASE(dense, {3, 5, 1}, {5, 2, 2}),
    CASE(matmul_transposed, {3, 4}, {5, 5}),
    CASE(gather, {4}, {3}),
    CASE(join, {3, 3}, {2, 4}),
    CASE(segment_sum, {4}, {3}),
    CASE(segment_mean, {4}, {3}),
    CASE(segment_greatest, {4}, {3}),
    CASE(segments_in_order, {5}, {3}),
    CASE(reshape, {3}, {4}),
    CASE(mean_row, {3}, {4}),
    CASE(sum, {3}, {4}),
    CASE(softmax, {3}, {4}),
    CASE(log_softmax, {3}, {4}),
    CASE(masked, {3}, {4}),
    CASE(pick, {3}, {4}),
    CASE(layer_norm, {3, 1, 1}, {5, 5, 5}),
    CASE(attention, {7, 7, 7}, {4, 4, 4}),
    CASE(attention_to_memory, {7, 7, 7, 7, 7}, {4, 4, 4, 4, 4}),
    CASE(gru, {2, 2, 2}, {9, 9, 3}),
    CASE(gru_forward, {4, 3, 1}, {9, 9, 9}),
    CASE(gru_backward, {4, 3, 1}, {9, 9, 9}),
};
enum { N_CASES = sizeof cases / sizeof *cases, ROOM = 64 };

/* Inputs and their gradients of a case, drawn by a seed. */
typedef struct numbers {
  nn_real value[MAX_N][ROOM], grad[MAX_N][ROOM], by[ROOM];
  int32_t n;
} numbers;

static void draw(numbers *x, const function_case *f, uint64_t seed) {
  rng random = rng_new(seed);
  memset(x, 0, sizeof *x);
  while (x->n < MAX_N && f->rows[x->n] > 0) {
    for (int32_t i = 0; i < f->rows[x->n] * f->cols[x->n]; i++) x->value[x->n][i] = 2 * rng_unit(&random) - 1;
    x->n++;
  }
  for (int32_t i = 0; i < ROOM; i++) x->by[i] = 2 * rng_unit(&random) - 1;
}

/* The result, and the sum of its numbers each times its own factor: something of which every number matters. */
static nn_var run(const function_case *f, numbers *x, tape *t, nn_var *loss) {
  setting s = {.t = t};
  for (int32_t k = 0; k < x->n; k++) s.in[k] = tape_leaf(t, f->rows[k], f->cols[k], x->value[k], x->grad[k]);
  nn_var made = f->make(&s);
  nn_matrix shape = tape_at(t, made);
  *loss = nn_sum(t, nn_multiply(t, made, tape_constant(t, shape.rows, shape.cols, x->by)));
  return made;
}

TEST(every_function_has_the_value_of_its_definition) {
  tape *t = tape_new();
  for (int i = 0; i < N_CASES; i++)
    for (uint64_t seed = 0; seed < 20; seed++) {
      numbers x;
      nn_var loss;
      draw(&x, &cases[i], seed);
      tape_reset(t);
      nn_matrix out = tape_at(t, run(&cases[i], &x, t, &loss)), in[MAX_N];
      assert_true(out.rows > 0 && (int64_t)out.rows * out.cols <= ROOM);
      for (int32_t k = 0; k < x.n; k++) in[k] = (nn_matrix){cases[i].rows[k], cases[i].cols[k], x.value[k], NULL};
      for (int32_t r = 0; r < out.rows; r++)
        for (int32_t c = 0; c < out.cols; c++) {
          double expected = cases[i].expected(in, r, c);
          if (fabs(at(&out, r, c) - expected) > 1e-12 * (1 + fabs(expected)))
            fail_msg("%s(%d, %d) is %.15g, expected %.15g", cases[i].name, (int)r, (int)c, at(&out, r, c), expected);
        }
    }
  tape_free(t);
}

/* With a library and without: two programs for the definition. c is of a wider matrix, whose other numbers stay. */
TEST(products_with_and_without_a_library_agree) {
  enum { ROWS = 3, COLS = 4, INNER = 5, STRIDE = 6 };
  rng random = rng_new(7);
  for (int32_t k = 0; k < 16; k++) {
    nn_real a[STRIDE * STRIDE], b[STRIDE * STRIDE], c[2][ROWS * STRIDE], before[ROWS * STRIDE];
    nn_real scale = k & 4 ? 1 : -0.5, keep = k & 8 ? 0.25 : 0;
    for (int32_t i = 0; i < STRIDE * STRIDE; i++) a[i] = 2 * rng_unit(&random) - 1, b[i] = 2 * rng_unit(&random) - 1;
    for (int32_t i = 0; i < ROWS * STRIDE; i++) before[i] = c[0][i] = c[1][i] = rng_unit(&random);
    nn_factor one = {a, STRIDE, k & 1}, other = {b, STRIDE, k & 2};
    nn_gemm(c[0], STRIDE, ROWS, COLS, INNER, one, other, scale, keep);
    nn_gemm_plain(c[1], STRIDE, ROWS, COLS, INNER, one, other, scale, keep);
    for (int32_t r = 0; r < ROWS; r++)
      for (int32_t col = 0; col < STRIDE; col++) {
        double expected = before[r * STRIDE + col];
        if (col < COLS) {
          expected *= keep;
          for (int32_t i = 0; i < INNER; i++)
            expected += scale * (k & 1 ? a[i * STRIDE + r] : a[r * STRIDE + i]) *
                        (k & 2 ? b[col * STRIDE + i] : b[i * STRIDE + col]);
        }
        for (int32_t i = 0; i < 2; i++) assert_true(fabs(c[i][r * STRIDE + col] - expected) < 1e-12);
      }
  }
}

TEST(every_gradient_is_that_of_differences) {
  const double step = 1e-6;
  tape *t = tape_new();
  for (int i = 0; i < N_CASES; i++)
    for (uint64_t seed = 100; seed < 110; seed++) {
      numbers x;
      nn_var loss;
      draw(&x, &cases[i], seed);
      tape_reset(t);
      run(&cases[i], &x, t, &loss);
      assert_true(tape_backward(t, loss));
      for (int32_t k = 0; k < x.n; k++)
        for (int32_t n = 0; n < cases[i].rows[k] * cases[i].cols[k]; n++) {
          double kept = x.value[k][n], side[2];
          for (int by = 0; by < 2; by++) {
            x.value[k][n] = kept + (by ? step : -step);
            tape_reset(t);
            run(&cases[i], &x, t, &loss);
            side[by] = tape_number(t, loss);
          }
          x.value[k][n] = kept;
          double expected = (side[1] - side[0]) / (2 * step);
          if (fabs(x.grad[k][n] - expected) > 1e-6 * (1 + fabs(expected)))
            fail_msg("seed %d: gradient of %s by input %d, number %d is %.12g; differences say %.12g", (int)seed,
                     cases[i].name, (int)k, (int)n, x.grad[k][n], expected);
        }
    }
  tape_free(t);
}

/* d(x * x)/dx = 2 x; with one of the two standing still, x. */
TEST(nothing_flows_back_through_what_stands_still) {
  tape *t = tape_new();
  nn_real value = 1.75, grad = 0;
  nn_var x = tape_leaf(t, 1, 1, &value, &grad);
  nn_var product = nn_multiply(t, x, nn_still(t, x));
  assert_true(fabs((double)tape_number(t, product) - 1.75 * 1.75) < 1e-12);
  assert_true(tape_backward(t, product));
  assert_true(fabs((double)grad - 1.75) < 1e-12);
  tape_free(t);
}

/* One variable read by several functions gathers all their gradients: d(x * x + 3 x)/dx = 2 x + 3. */
TEST(gradients_of_several_uses_add_up) {
  tape *t = tape_new();
  nn_real value = 1.75, grad = 0;
  nn_var x = tape_leaf(t, 1, 1, &value, &grad);
  assert_true(tape_backward(t, nn_add(t, nn_multiply(t, x, x), nn_scale(t, x, 3))));
  assert_true(fabs((double)grad - 6.5) < 1e-12);
  tape_free(t);
}

TEST(a_step_after_the_first_allocates_nothing) {
  tape *t = tape_new();
  size_t held = 0;
  for (int step = 0; step < 50; step++) {
    tape_reset(t);
    for (int i = 0; i < N_CASES; i++) {
      numbers *x = TAPE_NEW(t, numbers, 1);
      nn_var loss;
      draw(x, &cases[i], (uint64_t)step);
      run(&cases[i], x, t, &loss);
      assert_true(tape_backward(t, loss));
    }
    if (step > 0) assert_int_equal(tape_held_bytes(t), held);
    held = tape_held_bytes(t);
  }
  tape_free(t);
}

TEST(too_much_memory_is_told_at_the_end) {
  tape *t = tape_new();
  assert_null(tape_alloc(t, INT64_MAX / 16, 8));
  nn_real one = 1;
  nn_var x = tape_constant(t, 1, 1, &one);
  assert_int_equal(nn_add(t, nn_relu(t, NN_NONE), x), NN_NONE);
  assert_false(tape_backward(t, nn_sum(t, x)));
  tape_reset(t);
  assert_true(tape_backward(t, nn_sum(t, tape_constant(t, 1, 1, &one))));
  tape_free(t);
}

/* ---- parameters ---- */

static params *small(arena *a, const char *second, int32_t cols) {
  rng random = rng_new(5);
  params *p = params_new(a);
  assert_int_equal(params_add(p, "w", 3, cols, PARAMS_GLOROT, &random), 0);
  assert_int_equal(params_add(p, second, 1, cols, PARAMS_ZERO, &random), 1);
  return p;
}

/* Two steps by hand: mean and square of the gradients as Kingma and Ba, algorithm 1. */
TEST(adam_steps_as_published) {
  OWN(arena) *a = arena_new();
  params *p = small(a, "b", 2);
  nn_matrix b = params_at(p, 1);
  const double gradients[2] = {0.5, -2};
  double m = 0, v = 0, x = 0;
  for (int step = 1; step <= 2; step++) {
    params_clear_gradients(p);
    b.grad[0] = gradients[step - 1];
    params_step(p, 0.1);
    m = 0.9 * m + 0.1 * gradients[step - 1];
    v = 0.999 * v + 0.001 * gradients[step - 1] * gradients[step - 1];
    x -= 0.1 * (m / (1 - pow(0.9, step))) / (sqrt(v / (1 - pow(0.999, step))) + 1e-8);
    assert_true(fabs((double)b.value[0] - x) < 1e-12 && b.value[1] == 0);
  }
  assert_int_equal(params_n_steps(p), 2);
}

TEST(clipping_keeps_the_direction) {
  OWN(arena) *a = arena_new();
  params *p = small(a, "b", 2);
  params_at(p, 0).grad[1] = 3;
  params_at(p, 1).grad[0] = -4;
  assert_true(fabs(params_clip(p, 10) - 5) < 1e-12);
  assert_true(fabs((double)params_at(p, 0).grad[1] - 3) < 1e-12);
  assert_true(fabs(params_clip(p, 1) - 5) < 1e-12);
  assert_true(fabs((double)params_at(p, 0).grad[1] - 0.6) < 1e-12 &&
              fabs((double)params_at(p, 1).grad[0] + 0.8) < 1e-12);
}

static const char *file = "nn-policy.tmp";

static void fill(params *p, uint64_t seed) {
  rng random = rng_new(seed);
  for (int step = 0; step < 3; step++) {
    for (int32_t k = 0; k < params_count(p); k++)
      for (int64_t i = 0; i < (int64_t)params_at(p, k).rows * params_at(p, k).cols; i++)
        params_at(p, k).grad[i] = (nn_real)(float)rng_unit(&random);
    params_step(p, 0.01);
  }
}

static bool is_equal(const params *p, const params *q) {
  bool equal = true;
  for (int32_t k = 0; k < params_count(p); k++)
    for (int64_t i = 0; i < (int64_t)params_at(p, k).rows * params_at(p, k).cols; i++)
      equal &= (float)params_at(p, k).value[i] == (float)params_at(q, k).value[i];
  return equal;
}

TEST(a_checkpoint_comes_back) {
  OWN(arena) *a = arena_new();
  params *p = small(a, "b", 4), *q = small(a, "b", 4);
  situ_error e = {0};
  const void *notes;
  int64_t n_notes;
  fill(p, 1);
  assert_int_equal(params_write(p, "test", "episode 7", 9, file, &e), SITU_STATUS_OK);
  assert_false(is_equal(p, q));
  if (params_read(q, "test", &notes, &n_notes, a, file, &e)) fail_msg("%s", e.text);
  assert_true(is_equal(p, q) && params_n_steps(q) == 3);
  assert_int_equal(n_notes, 9);
  assert_memory_equal(notes, "episode 7", 9);
  unlink(file);
}

TEST(a_foreign_checkpoint_is_refused) {
  OWN(arena) *a = arena_new();
  params *p = small(a, "b", 4);
  situ_error e = {0};
  const void *notes;
  int64_t n_notes;
  assert_int_equal(params_write(p, "test", "", 0, file, &e), SITU_STATUS_OK);
  assert_int_equal(params_read(p, "other", &notes, &n_notes, a, file, &e), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(e.text, "other"));
  assert_int_equal(params_read(small(a, "c", 4), "test", &notes, &n_notes, a, file, &e), SITU_STATUS_BAD_INPUT);
  assert_int_equal(params_read(small(a, "b", 5), "test", &notes, &n_notes, a, file, &e), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(e.text, "3 x 4"));
  unlink(file);
}

/* Cut at each length and with each byte changed: refused, in one line, and nothing changes. */
TEST(a_damaged_checkpoint_is_refused) {
  OWN(arena) *a = arena_new();
  params *p = small(a, "b", 2), *q = small(a, "b", 2);
  situ_error e = {0};
  static unsigned char bytes[4096];
  fill(p, 2);
  assert_int_equal(params_write(p, "test", "x", 1, file, &e), SITU_STATUS_OK);
  FILE *f = fopen(file, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  assert_true(n > 100 && n < sizeof bytes);
  for (size_t i = 0; i < 2 * n; i++) {
    unsigned char kept = bytes[i % n];
    bytes[i % n] ^= (unsigned char)(1 << i % 8);
    f = fopen(file, "wb");
    fwrite(bytes, 1, i < n ? i : n, f);
    fclose(f);
    bytes[i % n] = kept;
    const void *notes;
    int64_t n_notes;
    assert_int_equal(params_read(q, "test", &notes, &n_notes, a, file, &e), SITU_STATUS_BAD_INPUT);
    assert_true(is_equal(q, small(a, "b", 2)) && *e.text);
  }
  unlink(file);
}

TEST_MAIN
