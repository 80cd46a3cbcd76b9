/* Randomly wired networks: stages whose wiring is drawn by Watts-Strogatz, Erdos-Renyi or Barabasi-Albert (paper,
 * sections 3.2 to 3.4, table 1). An edge goes from the lower to the higher node. A node adds its inputs, each times a
 * weight of its edge, and applies ReLU and a separable 3x3 convolution; nodes without a predecessor read the stage's
 * input with stride 2; the output of a stage is the mean of the nodes that nobody reads. The sigmoids of the edge
 * weights are constants at inference, so only the products are operators.
 *
 * Three random stages (or fewer) are the paper's small regime (78 channels: 5.6 M parameters, 583 M multiply-adds),
 * four its regular one, where the first stage has half the nodes (109 channels: 31.9 M and 4.0 G). */
#include <string.h>

#include "base/rng.h"
#include "read/builtin.h"

enum { BATCH, NODES, STAGES, CHANNELS, IMAGE, SEED, BITS, SHAPE1, SHAPE2 };
enum { MAX_NODES = 1024 };

#define COMMON                                                                                         \
  BUILTIN_BATCH, {"nodes", 32, 4, MAX_NODES, "nodes per stage"}, {"stages", 3, 1, 4, "random stages"}, \
      {"channels", 78, 2, 4096, "channels of the first stage"},                                        \
      {"image", 224, 32, 8192, "height and width of the image"},                                       \
      {"seed", 0, 0, INT64_MAX, "seed of the random wiring"}, BUILTIN_BITS

/* Who reads whom: edge[i * n + j] for i < j. */
typedef struct wiring {
  int64_t n;
  unsigned char *edge;
} wiring;

typedef void draw_wiring(wiring *w, rng *r, const int64_t *v);

static void join(wiring *w, int64_t i, int64_t j) { w->edge[i < j ? i * w->n + j : j * w->n + i] = 1; }
static bool joined(const wiring *w, int64_t i, int64_t j) { return w->edge[i < j ? i * w->n + j : j * w->n + i]; }

/* A ring of k neighbours; then, going round once for each distance, the far end of an edge is redrawn with chance p. */
static void watts_strogatz(wiring *w, rng *r, const int64_t *v) {
  int64_t n = w->n, k = v[SHAPE1] < n - 1 ? v[SHAPE1] : n - 1;
  for (int64_t distance = 1; distance <= k / 2; distance++)
    for (int64_t i = 0; i < n; i++) join(w, i, (i + distance) % n);
  for (int64_t distance = 1; distance <= k / 2; distance++)
    for (int64_t i = 0; i < n; i++) {
      int64_t old = (i + distance) % n, fresh = rng_below(r, n), degree = 0;
      if (rng_unit(r) * 100 >= (double)v[SHAPE2] || !joined(w, i, old)) continue;
      for (int64_t j = 0; j < n; j++) degree += j != i && joined(w, i, j);
      if (degree >= n - 1) continue;
      while (fresh == i || joined(w, i, fresh)) fresh = (fresh + 1) % n;
      w->edge[i < old ? i * n + old : old * n + i] = 0;
      join(w, i, fresh);
    }
}

static void erdos_renyi(wiring *w, rng *r, const int64_t *v) {
  for (int64_t i = 0; i < w->n; i++)
    for (int64_t j = i + 1; j < w->n; j++)
      if (rng_unit(r) * 100 < (double)v[SHAPE1]) join(w, i, j);
}

/* The first m nodes are alone; each later one is joined to m of those before, with chances by their degrees (even ones
 * for the first, which finds no degrees). */
static void barabasi_albert(wiring *w, rng *r, const int64_t *v) {
  int64_t m = v[SHAPE1] < w->n - 1 ? v[SHAPE1] : w->n - 1, degrees[MAX_NODES] = {0};
  for (int64_t j = m; j < w->n; j++)
    for (int64_t made = 0; made < m; made++) {
      int64_t total = 0, i = 0;
      for (int64_t u = 0; u < j; u++) total += joined(w, u, j) ? 0 : degrees[u] + (j == m);
      for (int64_t at = rng_below(r, total);; i++) {
        int64_t share = joined(w, i, j) ? 0 : degrees[i] + (j == m);
        if (at < share) break;
        at -= share;
      }
      join(w, i, j);
      degrees[i]++;
      degrees[j]++;
    }
}

static net_value separable(net *n, net_value x, int64_t channels, int64_t stride) {
  net_window depthwise = {.kernel = 3, .stride = stride, .pad = 1, .groups = net_dim(n, x, 1), .no_bias = true};
  return net_conv(n, "pointwise", net_conv(n, "depthwise", x, net_dim(n, x, 1), depthwise), channels,
                  (net_window){.kernel = 1});
}

static net_value node(net *n, net_value x, const net_value *made, const wiring *w, int64_t j, int64_t channels) {
  net_value sum = NET_NONE;
  net_enter(n, "node%lld", (long long)j);
  for (int64_t i = 0; i < j; i++) {
    if (!w->edge[i * w->n + j]) continue;
    net_enter(n, "from%lld", (long long)i);
    net_value part = net_op2(n, "mul", "Mul", made[i], net_weight(n, NET_SHAPE(1)));
    sum = sum == NET_NONE ? part : net_op2(n, "add", "Add", sum, part);
    net_leave(n);
  }
  int64_t stride = sum == NET_NONE ? 2 : 1;
  net_value y = separable(n, net_op1(n, "relu", "Relu", sum == NET_NONE ? x : sum), channels, stride);
  net_leave(n);
  return y;
}

static net_value stage(net *n, net_value x, const wiring *w, int64_t channels) {
  net_value made[MAX_NODES], ends[MAX_NODES];
  int32_t n_ends = 0;
  for (int64_t j = 0; j < w->n && net_ok(n); j++) made[j] = node(n, x, made, w, j, channels);
  if (!net_ok(n)) return NET_NONE;
  for (int64_t i = 0; i < w->n; i++)
    if (!memchr(w->edge + i * w->n + i, 1, (size_t)(w->n - i))) ends[n_ends++] = made[i];
  return n_ends == 1 ? ends[0] : net_op(n, "mean", "Mean", NET_NO_ATTRS, ends, n_ends);
}

static void generate(net *n, const int64_t *v, draw_wiring *draw) {
  static const char *const names[] = {"conv2", "conv3", "conv4", "conv5"};
  unsigned char *edge = net_bytes(n, v[NODES] * v[NODES]);
  rng r = rng_new((uint64_t)v[SEED]);
  if (!net_ok(n)) return;
  net_set_bits(n, v[BITS]);
  net_value x = net_input(n, NET_SHAPE(v[BATCH], 3, v[IMAGE], v[IMAGE]));
  x = net_conv(n, "conv1", x, v[CHANNELS] / 2, (net_window){.kernel = 3, .stride = 2, .pad = 1});
  bool regular = v[STAGES] == 4;
  if (!regular) {
    x = net_op1(n, "relu1", "Relu", x);
    x = net_conv(n, "conv2", x, v[CHANNELS], (net_window){.kernel = 3, .stride = 2, .pad = 1});
  }
  for (int64_t s = 0; s < v[STAGES]; s++) {
    wiring w = {.n = regular && s == 0 ? v[NODES] / 2 : v[NODES], .edge = edge};
    memset(edge, 0, (size_t)(v[NODES] * v[NODES]));
    draw(&w, &r, v);
    net_enter(n, "%s", names[regular ? s : s + 1]);
    x = stage(n, x, &w, v[CHANNELS] << s);
    net_leave(n);
  }
  net_enter(n, "classifier");
  x = net_op1(n, "relu2", "Relu", net_conv(n, "conv", net_op1(n, "relu1", "Relu", x), 1280, (net_window){.kernel = 1}));
  x = net_reshape(n, "flatten", net_op1(n, "pool", "GlobalAveragePool", x), NET_SHAPE(v[BATCH], 1280));
  net_linear(n, "fc", x, 1000, true);
  net_leave(n);
}

static void generate_ws(net *n, const int64_t *v) { generate(n, v, watts_strogatz); }
static void generate_er(net *n, const int64_t *v) { generate(n, v, erdos_renyi); }
static void generate_ba(net *n, const int64_t *v) { generate(n, v, barabasi_albert); }

static const builtin_parameter ws_parameters[] = {
    COMMON, {"k", 4, 2, MAX_NODES, "neighbours in the ring"}, {"p", 75, 0, 100, "percentage of edges rewired"}, {0}};
static const builtin_parameter er_parameters[] = {COMMON, {"p", 20, 0, 100, "percentage of pairs joined"}, {0}};
static const builtin_parameter ba_parameters[] = {COMMON, {"m", 5, 1, MAX_NODES, "edges per new node"}, {0}};

static const char paper[] = "Xie, Kirillov, Girshick, He: Exploring Randomly Wired Neural Networks, ICCV 2019";

const builtin builtin_randwire_ws = {.name = "randwire-ws",
                                     .title = "randomly wired network for images, Watts-Strogatz",
                                     .source = paper,
                                     .parameters = ws_parameters,
                                     .generate = generate_ws};
const builtin builtin_randwire_er = {.name = "randwire-er",
                                     .title = "randomly wired network for images, Erdos-Renyi",
                                     .source = paper,
                                     .parameters = er_parameters,
                                     .generate = generate_er};
const builtin builtin_randwire_ba = {.name = "randwire-ba",
                                     .title = "randomly wired network for images, Barabasi-Albert",
                                     .source = paper,
                                     .parameters = ba_parameters,
                                     .generate = generate_ba};
