/* A made-up network of any size, for tests of scale: layers of `width` operators, each of which reads from near
 * columns of the layer before and now and then from anywhere in it. The mix is that of transformers and recurrent
 * networks after export: a quarter matrix products, a third sums and products of two, the rest on one input. All
 * tensors have one shape, so that any operator may read any other. */
#include "base/rng.h"
#include "read/builtin.h"

enum { OPERATORS, WIDTH, ROWS, HIDDEN, FAR, SEED, BITS };
enum { MAX_WIDTH = 65536, LOCALITY = 2 };

static const builtin_parameter parameters[] = {
    {"operators", 10000, 1, 10000000, "total number of operators"},
    {"width", 16, 1, MAX_WIDTH, "operators per layer"},
    {"rows", 1024, 1, 65536, "rows of a tensor"},
    {"hidden", 128, 1, 65536, "columns of a tensor"},
    {"far", 5, 0, 100, "percentage of inputs from anywhere in the previous layer"},
    {"seed", 0, 0, INT64_MAX, "seed of the wiring and the operator kinds"},
    BUILTIN_BITS,
    {0}};

/* A value of the layer before, near the column or, in `far` of 100 cases, anywhere. */
static net_value pick(rng *r, const net_value *before, int64_t column, const int64_t *v) {
  if (rng_below(r, 100) < v[FAR]) return before[rng_below(r, v[WIDTH])];
  int64_t near = column - LOCALITY + rng_below(r, 2 * LOCALITY + 1);
  return before[near < 0 ? 0 : near >= v[WIDTH] ? v[WIDTH] - 1 : near];
}

static net_value draw(net *n, rng *r, const net_value *before, int64_t column, const int64_t *v) {
  static const char *const unary[] = {"Relu", "Sigmoid", "Tanh", "Erf"};
  net_value x = pick(r, before, column, v);
  int64_t kind = rng_below(r, 100);
  if (kind < 25) return net_op2(n, "matmul", "MatMul", x, net_weight(n, NET_SHAPE(v[HIDDEN], v[HIDDEN])));
  if (kind < 50) return net_op2(n, "add", "Add", x, pick(r, before, column, v));
  if (kind < 58) return net_op2(n, "mul", "Mul", x, pick(r, before, column, v));
  if (kind < 63) return net_softmax(n, x, -1);
  if (kind < 68) return net_layer_norm(n, "norm", x);
  return net_op1(n, "act", unary[kind % 4], x);
}

static void generate(net *n, const int64_t *v) {
  net_set_bits(n, v[BITS]);
  rng r = rng_new((uint64_t)v[SEED]);
  net_value *before = net_array(n, v[WIDTH]), *now = net_array(n, v[WIDTH]);
  net_value input = net_input(n, NET_SHAPE(v[ROWS], v[HIDDEN]));
  for (int64_t i = 0; i < v[WIDTH] && net_ok(n); i++) before[i] = input;
  for (int64_t i = 0; i < v[OPERATORS] && net_ok(n); i++) {
    int64_t column = i % v[WIDTH];
    net_enter(n, "layer%lld", (long long)(i / v[WIDTH]));
    net_enter(n, "%lld", (long long)column);
    now[column] = draw(n, &r, before, column, v);
    net_leave(n);
    net_leave(n);
    if (column + 1 < v[WIDTH]) continue;
    net_value *swap = before;
    before = now;
    now = swap;
  }
}

const builtin builtin_layered = {
    .name = "layered",
    .title = "a synthetic network of any size, for scaling tests",
    .source = "situ",
    .parameters = parameters,
    .generate = generate,
};
