#include "learn/hsdag_net.h"

#include <math.h>

#include "base/contracts.h"

enum { WIDTH = 128 };
static const double dropout_rate = 0.2;

/* ---- Parameters ---- */

static bool add_dense(net_dense *out, params *p, const char *const name[2], int32_t rows, int32_t cols, rng *random) {
  out->weight = params_add(p, name[0], rows, cols, PARAMS_GLOROT, random);
  out->bias = params_add(p, name[1], 1, cols, PARAMS_ZERO, random);
  return out->weight >= 0 && out->bias >= 0;
}

static bool add_norm(net_norm *out, params *p, const char *const name[2], rng *random) {
  out->gain = params_add(p, name[0], 1, WIDTH, PARAMS_ONE, random);
  out->shift = params_add(p, name[1], 1, WIDTH, PARAMS_ZERO, random);
  return out->gain >= 0 && out->shift >= 0;
}

#define DENSE(field, name, rows, cols) \
  add_dense(&net->field, p, (const char *const[]){name ".weight", name ".bias"}, rows, cols, random)
#define NORM(field, name) add_norm(&net->field, p, (const char *const[]){name ".gain", name ".shift"}, random)

bool hsdag_net_make(hsdag_net *net, params *p, int32_t n_features, int32_t n_marks, rng *random) {
  *net = (hsdag_net){.params = p, .n_features = n_features};
  return DENSE(input[0], "input.0", n_features, WIDTH) && NORM(input_norm[0], "input.0.norm") &&
         DENSE(input[1], "input.1", WIDTH, WIDTH) && NORM(input_norm[1], "input.1.norm") &&
         DENSE(embed[0], "embed.0", WIDTH, WIDTH) && DENSE(embed[1], "embed.1", WIDTH, WIDTH) &&
         NORM(embed_norm, "embed.norm") && DENSE(pool, "pool", WIDTH, WIDTH) && NORM(pool_norm, "pool.norm") &&
         DENSE(edge[0], "edge.0", WIDTH, WIDTH) && NORM(edge_norm, "edge.norm") && DENSE(edge[1], "edge.1", WIDTH, 1) &&
         DENSE(before, "before", WIDTH, WIDTH) && NORM(before_norm, "before.norm") &&
         DENSE(after, "after", WIDTH, WIDTH) && NORM(after_norm, "after.norm") &&
         DENSE(output[0], "output.0", WIDTH, WIDTH) && DENSE(output[1], "output.1", WIDTH, n_features) &&
         DENSE(head[0], "head.0", n_features, WIDTH) && DENSE(head[1], "head.1", WIDTH, n_marks);
}

/* ---- Layers ---- */

typedef struct runner {
  const hsdag_net *net;
  const hsdag_pass *pass;
  tape *tape;
} runner;

static nn_var dense(const runner *r, nn_var x, net_dense layer) {
  const params *p = r->net->params;
  return nn_dense(r->tape, x, params_var(p, layer.weight, r->tape), params_var(p, layer.bias, r->tape));
}

static nn_var norm(const runner *r, nn_var x, net_norm layer) {
  const params *p = r->net->params;
  return nn_layer_norm(r->tape, x, params_var(p, layer.gain, r->tape), params_var(p, layer.shift, r->tape));
}

static nn_var relu_drop(const runner *r, nn_var x) {
  nn_var made = nn_relu(r->tape, x);
  return r->pass->random ? nn_dropout(r->tape, made, dropout_rate, r->pass->random) : made;
}

/* The rows of D^-1/2 (A + I) D^-1/2 as segments, where D holds the degrees of A + I (Kipf and Welling, ICLR 2017). */
static bool normalise(nn_segments *out, const parse_graph *g, tape *t) {
  int64_t n = g->n + 2 * (int64_t)g->n_edges, filled = 0, *start = TAPE_NEW(t, int64_t, (int64_t)g->n + 1);
  int32_t *item = TAPE_NEW(t, int32_t, n);
  nn_real *weight = TAPE_NEW(t, nn_real, n);
  if (!start || !item || !weight) return false;
  for (int32_t v = 0; v < g->n; v++) {
    double degree = g->near_start[v + 1] - g->near_start[v] + 1;
    start[v] = filled;
    item[filled] = v;
    weight[filled++] = (nn_real)(1 / degree);
    for (int32_t i = g->near_start[v]; i < g->near_start[v + 1]; i++) {
      int32_t u = g->near[i];
      item[filled] = u;
      weight[filled++] = (nn_real)(1 / sqrt(degree * (g->near_start[u + 1] - g->near_start[u] + 1)));
    }
  }
  start[g->n] = filled;
  *out = (nn_segments){.n = g->n, .start = start, .item = item, .weight = weight};
  return true;
}

/* Graph convolutions, with their input added at the end (residual). */
static nn_var convolve(const runner *r, nn_var x, const net_dense *layers, int32_t n, net_norm last,
                       const nn_segments *near) {
  const params *p = r->net->params;
  nn_var made = x;
  for (int32_t i = 0; i < n; i++) {
    nn_var spread = nn_segment_sum(r->tape, nn_matmul(r->tape, made, params_var(p, layers[i].weight, r->tape)), near);
    made = relu_drop(r, nn_add_row(r->tape, spread, params_var(p, layers[i].bias, r->tape)));
  }
  return norm(r, nn_add(r->tape, x, made), last);
}

static nn_var deep_set(const runner *r, nn_var x, net_dense layer, net_norm after) {
  return norm(r, nn_add(r->tape, x, dense(r, x, layer)), after);
}

/* ---- One level ---- */

/* A score for each edge, or for each edge in both directions. */
static nn_var score_edges(const runner *r, nn_var z, const parse_graph *g) {
  tape *t = r->tape;
  int32_t ways = r->pass->published ? 2 : 1;
  int32_t *from = g->from, *to = g->to;
  if (ways == 2) {
    from = TAPE_NEW(t, int32_t, 2 * (int64_t)g->n_edges);
    to = TAPE_NEW(t, int32_t, 2 * (int64_t)g->n_edges);
    if (!from || !to) return NN_NONE;
    for (int32_t e = 0; e < g->n_edges; e++) {
      from[2 * e] = to[2 * e + 1] = g->from[e];
      to[2 * e] = from[2 * e + 1] = g->to[e];
    }
  }
  nn_var both = nn_multiply(t, nn_gather(t, z, from, ways * g->n_edges), nn_gather(t, z, to, ways * g->n_edges));
  nn_var hidden = relu_drop(r, norm(r, dense(r, both, r->net->edge[0]), r->net->edge_norm));
  return nn_sigmoid(t, dense(r, hidden, r->net->edge[1]));
}

/* Multiplies each cluster's row by the sum of the scores inside it, both directions counted: their mean times their
 * number. Scores get a gradient only through this. A cluster without edges is unchanged. */
static nn_var scale_clusters(const runner *r, nn_var y, nn_var score, const parsing *p) {
  tape *t = r->tape;
  int64_t n_inside = p->inside_start[p->n];
  nn_real *weight = TAPE_NEW(t, nn_real, n_inside), *alone = TAPE_NEW(t, nn_real, p->n);
  if (!weight || !alone) return NN_NONE;
  for (int64_t i = 0; i < n_inside; i++) weight[i] = r->pass->published ? 1 : 2;
  for (int32_t c = 0; c < p->n; c++) alone[c] = p->inside_start[c] == p->inside_start[c + 1] ? 1 : 0;
  nn_segments inside = {.n = p->n, .start = p->inside_start, .item = p->inside, .weight = weight};
  nn_var by = nn_add(t, nn_segment_sum(t, score, &inside), tape_constant(t, p->n, 1, alone));
  return nn_multiply_column(t, y, by);
}

/* The threshold for each node: it follows an edge only with a higher score. NULL: no threshold. */
static bool find_thresholds(const runner *r, const nn_real **out, int32_t n) {
  nn_real *min = r->pass->declines ? TAPE_NEW(r->tape, nn_real, n) : NULL;
  for (int32_t v = 0; min && v < n; v++) min[v] = r->pass->random ? (nn_real)rng_unit(r->pass->random) : (nn_real)0.5;
  *out = min;
  return min || !r->pass->declines;
}

/* Computes clusters and their rows from nodes and theirs; *scores are those of the edges. */
static bool run_level(const runner *r, nn_var *h, const parse_graph *g, parsing *p, nn_var *scores) {
  tape *t = r->tape;
  nn_segments near;
  if (!normalise(&near, g, t)) return false;
  const hsdag_net *net = r->net;
  nn_var score = score_edges(r, convolve(r, *h, net->embed, 2, net->embed_norm, &near), g);
  if (score == NN_NONE) return false;
  const nn_real *value = tape_at(t, score).value, *min;
  *scores = score;
  if (!find_thresholds(r, &min, g->n)) return false;
  if (!(r->pass->published ? parse_level_published(p, g, value, t) : parse_level(p, g, value, min, t))) return false;
  nn_var y = deep_set(r, convolve(r, *h, &net->pool, 1, net->pool_norm, &near), net->before, net->before_norm);
  nn_segments members = {.n = p->n, .start = p->member_start, .item = p->member};
  *h = scale_clusters(r, deep_set(r, nn_segment_sum(t, y, &members), net->after, net->after_norm), score, p);
  return *h != NN_NONE;
}

/* ---- The whole net ---- */

static bool run_levels(const runner *r, nn_var *h, hsdag_view *out) {
  const parse_graph *first = r->pass->graph;
  parse_graph g = *first;
  out->cluster_of = TAPE_NEW(r->tape, int32_t, first->n);
  out->follow = NN_NONE;
  if (!out->cluster_of) return false;
  for (int32_t v = 0; v < first->n; v++) out->cluster_of[v] = v;
  for (int32_t level = 0; r->pass->levels == 0 || level < r->pass->levels; level++) {
    if (g.n <= r->pass->target || g.n_edges == 0) break;
    parsing p;
    parse_graph smaller;
    nn_var score;
    if (!run_level(r, h, &g, &p, &score) || !parse_pool(&smaller, &g, &p, r->tape)) return false;
    for (int32_t v = 0; v < first->n; v++) out->cluster_of[v] = p.cluster_of[out->cluster_of[v]];
    if (level == 0) out->follow = score;
    bool same = smaller.n == g.n;
    g = smaller;
    if (same) break;
  }
  out->n_clusters = g.n;
  out->class_of = g.class_of;
  return true;
}

bool hsdag_net_run(hsdag_view *out, const hsdag_net *net, const hsdag_pass *pass, tape *t) {
  REQUIRE(pass->n_devices > 0 && pass->graph->n > 0 && pass->levels >= 0 && pass->target >= 0);
  runner r = {net, pass, t};
  int32_t n_marks = params_at(net->params, net->head[1].bias).cols;
  nn_var h = tape_constant(t, pass->graph->n, net->n_features, pass->feature);
  for (int32_t i = 0; i < 2; i++) h = relu_drop(&r, norm(&r, dense(&r, h, net->input[i]), net->input_norm[i]));
  if (h == NN_NONE || !run_levels(&r, &h, out)) return false;
  nn_var state = relu_drop(&r, dense(&r, relu_drop(&r, dense(&r, h, net->output[0])), net->output[1]));
  out->state = nn_multiply_row(t, state, tape_constant(t, 1, net->n_features, pass->used));
  nn_var hidden = nn_relu(t, dense(&r, out->state, net->head[0]));
  out->score =
      nn_matmul_transposed(t, dense(&r, hidden, net->head[1]), tape_constant(t, pass->n_devices, n_marks, pass->mark));
  return out->score != NN_NONE;
}
