#include "learn/gdp_net.h"

#include <math.h>
#include <stdio.h>

#include "base/contracts.h"

/* ---- parameters ---- */

typedef struct maker {
  params *params;
  rng *random;
  arena *arena;
  bool failed;
} maker;

/* A parameter called "PREFIX.NAME". */
static int32_t add(maker *m, const char *prefix, const char *name, int32_t rows, int32_t cols, params_start start) {
  char text[64];
  snprintf(text, sizeof text, "%s.%s", prefix, name);
  const char *kept = arena_string(m->arena, text);
  int32_t number = kept ? params_add(m->params, kept, rows, cols, start, m->random) : -1;
  m->failed |= number < 0;
  return number;
}

static gdp_dense add_dense(maker *m, const char *prefix, const char *name, int32_t rows, int32_t cols) {
  char bias[32];
  snprintf(bias, sizeof bias, "%s_bias", name);
  gdp_dense made = {.weight = add(m, prefix, name, rows, cols, PARAMS_GLOROT)};
  made.bias = add(m, prefix, bias, 1, cols, PARAMS_ZERO);
  return made;
}

static gdp_norm add_norm(maker *m, const char *prefix, const char *name) {
  char gain[32], shift[32];
  snprintf(gain, sizeof gain, "%s_gain", name);
  snprintf(shift, sizeof shift, "%s_shift", name);
  gdp_norm made = {.gain = add(m, prefix, gain, 1, GDP_WIDTH, PARAMS_ONE)};
  made.shift = add(m, prefix, shift, 1, GDP_WIDTH, PARAMS_ZERO);
  return made;
}

static void add_sage(maker *m, struct gdp_sage *s, const char *prefix) {
  s->own = add_dense(m, prefix, "own", GDP_WIDTH, GDP_WIDTH);
  s->pool_before = add_dense(m, prefix, "pool_before", GDP_WIDTH, GDP_WIDTH);
  s->pool_after = add_dense(m, prefix, "pool_after", GDP_WIDTH, GDP_WIDTH);
  s->before = add(m, prefix, "before", GDP_WIDTH, GDP_WIDTH, PARAMS_GLOROT);
  s->after = add(m, prefix, "after", GDP_WIDTH, GDP_WIDTH, PARAMS_GLOROT);
  s->norm = add_norm(m, prefix, "norm");
}

static void add_attention(maker *m, struct gdp_attention *s, const char *prefix) {
  s->gate = add(m, prefix, "gate", GDP_WIDTH, GDP_WIDTH, PARAMS_GLOROT);
  s->gated = add_norm(m, prefix, "gated");
  s->query = add_dense(m, prefix, "query", GDP_WIDTH, GDP_WIDTH);
  s->key = add_dense(m, prefix, "key", GDP_WIDTH, GDP_WIDTH);
  s->value = add_dense(m, prefix, "value", GDP_WIDTH, GDP_WIDTH);
  s->out = add_dense(m, prefix, "out", GDP_WIDTH, GDP_WIDTH);
  s->middle = add_norm(m, prefix, "middle");
  s->wide = add_dense(m, prefix, "wide", GDP_WIDTH, GDP_HIDDEN);
  s->narrow = add_dense(m, prefix, "narrow", GDP_HIDDEN, GDP_WIDTH);
}

gdp_net *gdp_net_make(params *p, rng *random, arena *a) {
  gdp_net *net = ARENA_NEW(a, gdp_net, 1);
  if (!net) return NULL;
  maker m = {.params = p, .random = random, .arena = a};
  char prefix[16];
  net->kinds = add(&m, "unit", "kinds", GDP_KINDS, GDP_KIND_WIDTH, PARAMS_GLOROT);
  net->unit = add_dense(&m, "unit", "features", GDP_UNIT_FEATURES, GDP_WIDTH);
  net->of_kind = add(&m, "unit", "of_kind", GDP_KIND_WIDTH, GDP_WIDTH, PARAMS_GLOROT);
  for (int k = 0; k < GDP_SAGES; k++) {
    snprintf(prefix, sizeof prefix, "sage%d", k);
    add_sage(&m, &net->sage[k], prefix);
  }
  for (int k = 0; k < GDP_ATTENTIONS; k++) {
    snprintf(prefix, sizeof prefix, "attention%d", k);
    add_attention(&m, &net->attention[k], prefix);
  }
  net->last = add_norm(&m, "unit", "last");
  net->device = add_dense(&m, "device", "features", GDP_DEVICE_FEATURES, GDP_WIDTH);
  net->device_out = add_dense(&m, "device", "out", GDP_WIDTH, GDP_WIDTH);
  net->of_graph = add(&m, "device", "of_graph", GDP_WIDTH, GDP_WIDTH, PARAMS_GLOROT);
  net->of_latent = add(&m, "device", "of_latent", GDP_LATENT, GDP_WIDTH, PARAMS_GLOROT);
  net->slowness = add(&m, "device", "slowness", 1, 1, PARAMS_ONE);
  net->agree_before = add(&m, "device", "agree_before", 1, 1, PARAMS_ONE);
  net->agree_after = add(&m, "device", "agree_after", 1, 1, PARAMS_ONE);
  net->recipe = -1;
  return m.failed ? NULL : net;
}

bool gdp_net_vary(gdp_net *net, params *p, rng *random, gdp_change change) {
  if (net->recipe < 0) net->recipe = params_add(p, "recipe", 1, GDP_RECIPE, PARAMS_ZERO, random);
  if (net->recipe >= 0) params_at(p, net->recipe).value[change] = 1;
  return net->recipe >= 0;
}

/* ---- layers ---- */

typedef struct pass {
  const params *params;
  tape *tape;
  const nn_real *recipe; /* [GDP_RECIPE] the recipe of a variant, or NULL */
} pass;

static nn_var dense(const pass *p, nn_var x, gdp_dense by) {
  return nn_dense(p->tape, x, params_var(p->params, by.weight, p->tape), params_var(p->params, by.bias, p->tape));
}

static nn_var matmul(const pass *p, nn_var x, int32_t by) {
  return nn_matmul(p->tape, x, params_var(p->params, by, p->tape));
}

static nn_var norm(const pass *p, nn_var x, gdp_norm by) {
  return nn_layer_norm(p->tape, x, params_var(p->params, by.gain, p->tape), params_var(p->params, by.shift, p->tape));
}

/* The elementwise maximum over the neighbours, or 0 without neighbours. */
static nn_var pool(const pass *p, nn_var h, gdp_dense by, const nn_segments *side) {
  nn_segments all = *side;
  all.weight = NULL;
  return nn_segment_greatest(p->tape, nn_sigmoid(p->tape, dense(p, h, by)), &all);
}

static nn_var sage_layer(const pass *p, nn_var h, const struct gdp_sage *s, const gdp_view *view) {
  tape *t = p->tape;
  nn_var before = matmul(p, pool(p, h, s->pool_before, &view->before), s->before);
  nn_var after = matmul(p, pool(p, h, s->pool_after, &view->after), s->after);
  return norm(p, nn_add(t, h, nn_relu(t, nn_add(t, nn_add(t, dense(p, h, s->own), before), after))), s->norm);
}

static bool varied(const pass *p, int column) { return p->recipe && p->recipe[column] > (nn_real)0.5; }

static nn_var attend(const pass *p, nn_var z, const struct gdp_attention *s) {
  nn_var k = dense(p, z, s->key), v = dense(p, z, s->value), k_before = k, v_before = v;
  if (varied(p, GDP_STILL_MEMORY)) {
    nn_var memory = nn_still(p->tape, z);
    k_before = dense(p, memory, s->key);
    v_before = dense(p, memory, s->value);
  }
  int32_t length = varied(p, GDP_SHORT_SEGMENTS) ? GDP_SHORT_SEGMENT : GDP_SEGMENT;
  nn_var seen = nn_attention(p->tape, dense(p, z, s->query), k, v, k_before, v_before, GDP_HEADS, length);
  return dense(p, seen, s->out);
}

/* One attention layer. graph is the mean row of the graph embedding, which gates each layer (superposition). */
static nn_var attention_layer(const pass *p, nn_var x, nn_var graph, const struct gdp_attention *s) {
  tape *t = p->tape;
  nn_var z = x;
  if (!varied(p, GDP_WITHOUT_GATE)) z = nn_multiply_row(t, x, nn_sigmoid(t, matmul(p, graph, s->gate)));
  if (!varied(p, GDP_WITHOUT_ATTENTION)) x = nn_add(t, x, attend(p, norm(p, z, s->gated), s));
  nn_var wide = nn_relu(t, dense(p, norm(p, x, s->middle), s->wide));
  return nn_add(t, x, dense(p, wide, s->narrow));
}

/* One row for each device and draw. */
static nn_var device_rows(const pass *p, const gdp_net *net, const gdp_view *view, nn_var graph, const nn_real *latent,
                          int32_t n_draws) {
  tape *t = p->tape;
  int32_t n = view->n_devices;
  nn_var x = tape_constant(t, n, GDP_DEVICE_FEATURES, view->device);
  x = nn_relu(t, nn_add_row(t, dense(p, x, net->device), matmul(p, graph, net->of_graph)));
  x = dense(p, x, net->device_out);
  int32_t *row = TAPE_NEW(t, int32_t, (int64_t)n * n_draws);
  for (int32_t k = 0; row && k < n * n_draws; k++) row[k] = k % n;
  if (!row) return NN_NONE;
  return nn_add(t, nn_gather(t, x, row, n * n_draws),
                matmul(p, tape_constant(t, n * n_draws, GDP_LATENT, latent), net->of_latent));
}

/* ---- scores ---- */

/* out = scale * x * devices transposed - slope * slowness. The columns of the draws lie side by side. */
static void scores_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const gdp_view *view = extra;
  nn_matrix x = in[0], devices = in[1];
  nn_real scale = 1 / (nn_real)sqrt((double)x.cols), slope = 0;
  if (x.grad)
    nn_gemm(x.grad, x.cols, x.rows, x.cols, out.cols, (nn_factor){out.grad, out.cols, false},
            (nn_factor){devices.value, x.cols, false}, scale, 1);
  if (devices.grad)
    nn_gemm(devices.grad, x.cols, devices.rows, x.cols, out.rows, (nn_factor){out.grad, out.cols, true},
            (nn_factor){x.value, x.cols, false}, scale, 1);
  for (int32_t u = 0; in[2].grad && u < out.rows; u++)
    for (int32_t c = 0; c < out.cols; c++)
      slope += out.grad[(int64_t)u * out.cols + c] * view->slowness[(int64_t)u * view->n_devices + c % view->n_devices];
  if (in[2].grad) in[2].grad[0] -= slope;
}

static nn_var scores(const pass *p, nn_var x, nn_var devices, nn_var slope, const gdp_view *view) {
  nn_matrix left = tape_at(p->tape, x), right = tape_at(p->tape, devices);
  nn_var made = tape_record(p->tape, left.rows, right.rows, (nn_var[]){x, devices, slope}, 3, scores_backward, view);
  nn_matrix out = tape_at(p->tape, made);
  nn_real by = made == NN_NONE ? 0 : tape_number(p->tape, slope);
  for (int32_t u = 0; u < out.rows; u++)
    for (int32_t c = 0; c < out.cols; c++) {
      int64_t pair = (int64_t)u * view->n_devices + c % view->n_devices;
      out.value[(int64_t)u * out.cols + c] = view->allowed[pair] ? -by * view->slowness[pair] : -30;
    }
  if (made != NN_NONE)
    nn_gemm(out.value, out.cols, out.rows, out.cols, left.cols, (nn_factor){left.value, left.cols, false},
            (nn_factor){right.value, left.cols, true}, 1 / (nn_real)sqrt((double)left.cols), 1);
  return made;
}

/* The preference of the neighbours on one side, times a learned factor. */
static nn_var opinion(const pass *p, nn_var chances, const nn_segments *side, int32_t strength) {
  nn_var heard = nn_segment_sum(p->tape, chances, side);
  nn_matrix shape = tape_at(p->tape, heard);
  if (heard == NN_NONE) return heard;
  nn_var column = nn_reshape(p->tape, heard, shape.rows * shape.cols, 1);
  return nn_reshape(p->tape, matmul(p, column, strength), shape.rows, shape.cols);
}

/* Rounds in which each unit hears what its neighbours prefer: mean-field inference in a random field whose neighbours
 * attract each other. */
static nn_var agree(const pass *p, const gdp_net *net, nn_var first, const gdp_view *view, const nn_real *firmness) {
  tape *t = p->tape;
  nn_matrix shape = tape_at(t, first);
  nn_var now = first;
  for (int round = 0; round < GDP_ROUNDS && now != NN_NONE; round++) {
    nn_var chances = nn_softmax(t, nn_reshape(t, now, shape.rows * (shape.cols / view->n_devices), view->n_devices));
    if (chances == NN_NONE) return chances;
    chances = nn_reshape(t, chances, shape.rows, shape.cols);
    nn_var before = opinion(p, chances, &view->before, net->agree_before);
    nn_var after = opinion(p, chances, &view->after, net->agree_after);
    if (firmness) {
      nn_var by = tape_constant(t, 1, shape.cols, firmness);
      before = nn_multiply_row(t, before, by);
      after = nn_multiply_row(t, after, by);
    }
    now = nn_add(t, nn_add(t, first, before), after);
  }
  return now;
}

nn_var gdp_net_scores(const gdp_net *net, const params *all, tape *t, const gdp_view *view, const nn_real *latent,
                      const nn_real *firmness, int32_t n_draws) {
  REQUIRE(n_draws > 0 && view->n_units > 0 && view->n_devices > 0);
  pass p = {all, t, net->recipe < 0 ? NULL : params_at(all, net->recipe).value};
  nn_var kinds = nn_segment_mean(t, params_var(all, net->kinds, t), &view->kinds);
  nn_var x = dense(&p, tape_constant(t, view->n_units, GDP_UNIT_FEATURES, view->unit), net->unit);
  x = nn_add(t, x, matmul(&p, kinds, net->of_kind));
  for (int k = 0; k < GDP_SAGES; k++) x = sage_layer(&p, x, &net->sage[k], view);
  nn_var graph = nn_mean_row(t, x);
  for (int k = 0; k < GDP_ATTENTIONS; k++) x = attention_layer(&p, x, graph, &net->attention[k]);
  x = norm(&p, x, net->last);
  nn_var devices = device_rows(&p, net, view, graph, latent, n_draws);
  return agree(&p, net, scores(&p, x, devices, params_var(all, net->slowness, t), view), view, firmness);
}
