/* Inception-v3 without its auxiliary classifier, with the names and widths of the torchvision network. */
#include "read/builtin.h"

enum { BATCH, IMAGE, CLASSES, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"image", 299, 75, 8192, "height and width of the image"},
                                               {"classes", 1000, 1, 1000000, "number of classes"},
                                               BUILTIN_BITS,
                                               {0}};

static const net_window one = {.kernel = 1}, three = {.kernel = 3, .pad = 1}, five = {.kernel = 5, .pad = 2},
                        reduce = {.kernel = 3, .stride = 2};
static const net_window row3 = {.kernel = 1, .kernel_w = 3, .pad_w = 1},
                        column3 = {.kernel = 3, .kernel_w = 1, .pad = 1},
                        row7 = {.kernel = 1, .kernel_w = 7, .pad_w = 3},
                        column7 = {.kernel = 7, .kernel_w = 1, .pad = 3};

static net_value conv(net *n, const char *name, net_value x, int64_t width, net_window w) {
  net_enter(n, "%s", name);
  net_value y = net_op1(n, "relu", "Relu", net_conv(n, "conv", x, width, w));
  net_leave(n);
  return y;
}

static net_value pooled(net *n, net_value x, int64_t width) {
  net_value mean = net_average_pool(n, "branch_pool_mean", x, (net_window){.kernel = 3, .pad = 1, .pad_counts = true});
  return conv(n, "branch_pool", mean, width, one);
}

static net_value block_a(net *n, net_value x, int64_t pool_width) {
  net_value a = conv(n, "branch1x1", x, 64, one);
  net_value b = conv(n, "branch5x5_2", conv(n, "branch5x5_1", x, 48, one), 64, five);
  net_value c = conv(n, "branch3x3dbl_2", conv(n, "branch3x3dbl_1", x, 64, one), 96, three);
  c = conv(n, "branch3x3dbl_3", c, 96, three);
  return net_concat(n, "concat", 1, NET_VALUES(a, b, c, pooled(n, x, pool_width)));
}

static net_value block_b(net *n, net_value x) {
  net_value a = conv(n, "branch3x3", x, 384, reduce);
  net_value b = conv(n, "branch3x3dbl_2", conv(n, "branch3x3dbl_1", x, 64, one), 96, three);
  b = conv(n, "branch3x3dbl_3", b, 96, reduce);
  return net_concat(n, "concat", 1, NET_VALUES(a, b, net_max_pool(n, "branch_pool", x, reduce)));
}

static net_value block_c(net *n, net_value x, int64_t width) {
  net_value a = conv(n, "branch1x1", x, 192, one);
  net_value b = conv(n, "branch7x7_2", conv(n, "branch7x7_1", x, width, one), width, row7);
  b = conv(n, "branch7x7_3", b, 192, column7);
  net_value c = conv(n, "branch7x7dbl_2", conv(n, "branch7x7dbl_1", x, width, one), width, column7);
  c = conv(n, "branch7x7dbl_4", conv(n, "branch7x7dbl_3", c, width, row7), width, column7);
  c = conv(n, "branch7x7dbl_5", c, 192, row7);
  return net_concat(n, "concat", 1, NET_VALUES(a, b, c, pooled(n, x, 192)));
}

static net_value block_d(net *n, net_value x) {
  net_value a = conv(n, "branch3x3_2", conv(n, "branch3x3_1", x, 192, one), 320, reduce);
  net_value b = conv(n, "branch7x7x3_2", conv(n, "branch7x7x3_1", x, 192, one), 192, row7);
  b = conv(n, "branch7x7x3_4", conv(n, "branch7x7x3_3", b, 192, column7), 192, reduce);
  return net_concat(n, "concat", 1, NET_VALUES(a, b, net_max_pool(n, "branch_pool", x, reduce)));
}

static net_value block_e(net *n, net_value x) {
  net_value a = conv(n, "branch1x1", x, 320, one);
  net_value b = conv(n, "branch3x3_1", x, 384, one);
  net_value b1 = conv(n, "branch3x3_2a", b, 384, row3), b2 = conv(n, "branch3x3_2b", b, 384, column3);
  b = net_concat(n, "concat3x3", 1, NET_VALUES(b1, b2));
  net_value c = conv(n, "branch3x3dbl_2", conv(n, "branch3x3dbl_1", x, 448, one), 384, three);
  net_value c1 = conv(n, "branch3x3dbl_3a", c, 384, row3), c2 = conv(n, "branch3x3dbl_3b", c, 384, column3);
  c = net_concat(n, "concat3x3dbl", 1, NET_VALUES(c1, c2));
  return net_concat(n, "concat", 1, NET_VALUES(a, b, c, pooled(n, x, 192)));
}

static net_value stem(net *n, net_value x) {
  x = conv(n, "Conv2d_1a_3x3", x, 32, reduce);
  x = conv(n, "Conv2d_2a_3x3", x, 32, (net_window){.kernel = 3});
  x = conv(n, "Conv2d_2b_3x3", x, 64, three);
  x = net_max_pool(n, "maxpool1", x, reduce);
  x = conv(n, "Conv2d_3b_1x1", x, 80, one);
  x = conv(n, "Conv2d_4a_3x3", x, 192, (net_window){.kernel = 3});
  return net_max_pool(n, "maxpool2", x, reduce);
}

static void generate(net *n, const int64_t *values) {
  static const struct {
    const char *name;
    char block;
    int width; /* of the pooled branch (A), of the 7x7 branches (C) */
  } blocks[] = {{"Mixed_5b", 'a', 32},  {"Mixed_5c", 'a', 64},  {"Mixed_5d", 'a', 64},  {"Mixed_6a", 'b', 0},
                {"Mixed_6b", 'c', 128}, {"Mixed_6c", 'c', 160}, {"Mixed_6d", 'c', 160}, {"Mixed_6e", 'c', 192},
                {"Mixed_7a", 'd', 0},   {"Mixed_7b", 'e', 0},   {"Mixed_7c", 'e', 0}};
  net_set_bits(n, values[BITS]);
  net_value x = stem(n, net_input(n, NET_SHAPE(values[BATCH], 3, values[IMAGE], values[IMAGE])));
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    net_enter(n, "%s", blocks[i].name);
    switch (blocks[i].block) {
      case 'a': x = block_a(n, x, blocks[i].width); break;
      case 'b': x = block_b(n, x); break;
      case 'c': x = block_c(n, x, blocks[i].width); break;
      case 'd': x = block_d(n, x); break;
      default: x = block_e(n, x);
    }
    net_leave(n);
  }
  net_classify(n, x, values[CLASSES]);
}

const builtin builtin_inception = {
    .name = "inception-v3",
    .title = "Inception-v3 for images",
    .source = "Szegedy, Vanhoucke, Ioffe, Shlens, Wojna: Rethinking the Inception Architecture, CVPR 2016",
    .parameters = parameters,
    .generate = generate,
};
