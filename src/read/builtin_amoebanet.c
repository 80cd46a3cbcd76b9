/* AmoebaNet-D as GPipe scales it: a stem of two reduction cells, then three groups of layers/3 normal cells with
 * reduction cells between. A cell reads the two cells before; its wiring is that of the evolved architecture (figure 2
 * of the paper, with the outputs 0, 3, 4, 6 of the authors' implementation, which gives the sizes of GPipe's table 1).
 */
#include "read/builtin.h"

enum { BATCH, IMAGE, LAYERS, FILTERS, CLASSES, BITS };

static const builtin_parameter parameters[] = {
    BUILTIN_BATCH,
    {"image", 224, 32, 8192, "height and width of the image, a multiple of 32"},
    {"layers", 18, 3, 3000, "normal cells, a multiple of 3"},
    {"filters", 208, 16, 65536, "width, a multiple of 16"},
    {"classes", 1000, 1, 1000000, "number of classes"},
    BUILTIN_BITS,
    {0}};

typedef enum step { CONV_1X1, CONV_3X3, CONV_7X7, MAX_2X2, MAX_3X3, MEAN_3X3, NOTHING } step;

/* State i + 2 is the sum of the two steps of row i on the states that they name. */
typedef struct genotype {
  struct {
    int state;
    step step;
  } rows[5][2];
  int outputs[4], n_outputs;
} genotype;

static const genotype normal = {{{{1, CONV_1X1}, {1, MAX_3X3}},
                                 {{1, NOTHING}, {0, CONV_7X7}},
                                 {{0, CONV_1X1}, {0, CONV_7X7}},
                                 {{2, MAX_3X3}, {2, NOTHING}},
                                 {{1, MEAN_3X3}, {5, CONV_1X1}}},
                                {0, 3, 4, 6},
                                4};
static const genotype reduction = {{{{0, MAX_2X2}, {0, MAX_3X3}},
                                    {{2, NOTHING}, {1, CONV_3X3}},
                                    {{2, CONV_7X7}, {2, MAX_3X3}},
                                    {{3, NOTHING}, {1, MAX_2X2}},
                                    {{2, MEAN_3X3}, {3, CONV_1X1}}},
                                   {4, 5, 6, 0},
                                   3};

static net_value relu_conv(net *n, const char *name, net_value x, int64_t channels, net_window w) {
  net_enter(n, "%s", name);
  net_value y = net_conv(n, "conv", net_op1(n, "relu", "Relu", x), channels, w);
  net_leave(n);
  return y;
}

/* A quarter of the channels between two 1x1 convolutions. */
static net_value bottleneck(net *n, net_value x, int64_t stride, bool seven) {
  const net_window one = {.kernel = 1};
  int64_t channels = net_dim(n, x, 1);
  net_value y = relu_conv(n, "squeeze", x, channels / 4, one);
  if (seven) {
    y = relu_conv(n, "row", y, channels / 4, (net_window){.kernel = 1, .kernel_w = 7, .pad_w = 3});
    y = relu_conv(n, "column", y, channels / 4, (net_window){.kernel = 7, .kernel_w = 1, .pad = 3});
  } else {
    y = relu_conv(n, "square", y, channels / 4, (net_window){.kernel = 3, .stride = stride, .pad = 1});
  }
  return relu_conv(n, "expand", y, channels, one);
}

static net_value apply(net *n, step s, net_value x, int64_t stride) {
  switch (s) {
    case CONV_1X1: return relu_conv(n, "conv1x1", x, net_dim(n, x, 1), (net_window){.kernel = 1, .stride = stride});
    case CONV_3X3: return bottleneck(n, x, stride, false);
    case CONV_7X7: return bottleneck(n, x, 1, true);
    case MAX_2X2: return net_max_pool(n, "max", x, (net_window){.kernel = 2, .stride = stride});
    case MAX_3X3: return net_max_pool(n, "max", x, (net_window){.kernel = 3, .stride = stride, .pad = 1});
    case MEAN_3X3: return net_average_pool(n, "mean", x, (net_window){.kernel = 3, .stride = stride, .pad = 1});
    default: return x;
  }
}

/* Halves an image by two convolutions of stride 2, one of them on the image moved by a pixel. */
static net_value halve(net *n, net_value x, int64_t channels) {
  const net_window skip = {.kernel = 1, .stride = 2};
  int64_t size = net_dim(n, x, 2);
  net_enter(n, "halve");
  x = net_op1(n, "relu", "Relu", x);
  net_value moved = net_slice(n, "slice_w", net_slice(n, "slice_h", x, 2, 1, size), 3, 1, size);
  moved = net_op2(n, "pad", "Pad", moved, net_ints(n, NET_SHAPE(0, 0, 0, 0, 0, 0, 1, 1)));
  net_value a = net_conv(n, "conv1", x, channels / 2, skip), b = net_conv(n, "conv2", moved, channels / 2, skip);
  net_value both = net_concat(n, "concat", 1, NET_VALUES(a, b));
  net_leave(n);
  return both;
}

/* The last two cells' outputs, and the width and kind of the last. */
typedef struct progress {
  net_value before, last;
  int64_t channels;
  bool reduced;
} progress;

static void add_cell(net *n, progress *p, const genotype *g) {
  net_value states[7], outputs[4];
  bool reduces = g == &reduction;
  if (reduces) p->channels *= 2;
  states[0] = relu_conv(n, "reduce1", p->last, p->channels, (net_window){.kernel = 1});
  states[1] = p->before;
  if (p->reduced)
    states[1] = halve(n, p->before, p->channels);
  else if (net_dim(n, p->before, 1) != p->channels)
    states[1] = relu_conv(n, "reduce2", p->before, p->channels, (net_window){.kernel = 1});
  for (int row = 0; row < 5; row++) {
    net_value parts[2];
    for (int side = 0; side < 2; side++) {
      int state = g->rows[row][side].state;
      net_enter(n, "state%d.%c", row + 2, "ab"[side]);
      parts[side] = apply(n, g->rows[row][side].step, states[state], reduces && state < 2 ? 2 : 1);
      net_leave(n);
    }
    net_enter(n, "state%d", row + 2);
    states[row + 2] = net_op2(n, "add", "Add", parts[0], parts[1]);
    net_leave(n);
  }
  for (int i = 0; i < g->n_outputs; i++) outputs[i] = states[g->outputs[i]];
  p->before = p->last;
  p->last = net_concat(n, "concat", 1, outputs, g->n_outputs);
  p->reduced = reduces;
}

static void add_cells(net *n, progress *p, const genotype *g, const char *name, int64_t count) {
  for (int64_t i = 0; i < count && net_ok(n); i++) {
    net_enter(n, "%s%lld", name, (long long)(i + 1));
    add_cell(n, p, g);
    net_leave(n);
  }
}

static void generate(net *n, const int64_t *v) {
  if (v[IMAGE] % 32 != 0 || v[LAYERS] % 3 != 0 || v[FILTERS] % 16 != 0)
    net_refuse(n, "image must be a multiple of 32, layers of 3, filters of 16");
  net_set_bits(n, v[BITS]);
  net_value x = net_input(n, NET_SHAPE(v[BATCH], 3, v[IMAGE], v[IMAGE]));
  x = net_conv(n, "stem1", x, v[FILTERS] / 4, (net_window){.kernel = 3, .stride = 2, .pad = 1});
  progress p = {.before = x, .last = x, .channels = v[FILTERS] / 4};
  add_cells(n, &p, &reduction, "stem2.reduction", 2);
  add_cells(n, &p, &normal, "cell1.normal", v[LAYERS] / 3);
  add_cells(n, &p, &reduction, "cell2.reduction", 1);
  add_cells(n, &p, &normal, "cell3.normal", v[LAYERS] / 3);
  add_cells(n, &p, &reduction, "cell4.reduction", 1);
  add_cells(n, &p, &normal, "cell5.normal", v[LAYERS] / 3);
  net_classify(n, p.last, v[CLASSES]);
}

const builtin builtin_amoebanet = {
    .name = "amoebanet-d",
    .title = "AmoebaNet-D (18, 208) for images, as scaled by GPipe",
    .source = "Real et al.: Regularized Evolution, AAAI 2019; Huang et al.: GPipe, NeurIPS 2019",
    .parameters = parameters,
    .generate = generate,
};
