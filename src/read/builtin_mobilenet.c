/* MobileNet-V2 at width 1: inverted residuals around depthwise convolutions (paper, tables 1 and 2). */
#include "read/builtin.h"

enum { BATCH, IMAGE, CLASSES, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"image", 224, 32, 8192, "height and width of the image"},
                                               {"classes", 1000, 1, 1000000, "number of classes"},
                                               BUILTIN_BITS,
                                               {0}};

static net_value conv_relu6(net *n, const char *name, net_value x, int64_t channels, net_window w) {
  net_enter(n, "%s", name);
  net_value y = net_conv(n, "conv", x, channels, w);
  y = net_op(n, "relu6", "Clip", NET_NO_ATTRS, NET_VALUES(y, net_scalar(n, 0), net_scalar(n, 6)));
  net_leave(n);
  return y;
}

static net_value block(net *n, net_value x, int64_t factor, int64_t channels, int64_t stride) {
  const net_window one = {.kernel = 1};
  int64_t in = net_dim(n, x, 1), inner = in * factor;
  net_value y = factor == 1 ? x : conv_relu6(n, "expand", x, inner, one);
  y = conv_relu6(n, "depthwise", y, inner, (net_window){.kernel = 3, .stride = stride, .pad = 1, .groups = inner});
  y = net_conv(n, "project", y, channels, one);
  return stride == 1 && in == channels ? net_op2(n, "add", "Add", x, y) : y;
}

static void generate(net *n, const int64_t *v) {
  static const struct {
    int64_t factor, channels, count, stride;
  } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  net_set_bits(n, v[BITS]);
  net_value x = net_input(n, NET_SHAPE(v[BATCH], 3, v[IMAGE], v[IMAGE]));
  x = conv_relu6(n, "first", x, 32, (net_window){.kernel = 3, .stride = 2, .pad = 1});
  int number = 0;
  for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
    for (int64_t i = 0; i < rows[row].count; i++) {
      net_enter(n, "block%d", ++number);
      x = block(n, x, rows[row].factor, rows[row].channels, i == 0 ? rows[row].stride : 1);
      net_leave(n);
    }
  x = conv_relu6(n, "last", x, 1280, (net_window){.kernel = 1});
  net_classify(n, x, v[CLASSES]);
}

const builtin builtin_mobilenet = {
    .name = "mobilenet-v2",
    .title = "MobileNet-V2 for images",
    .source = "Sandler, Howard, Zhu, Zhmoginov, Chen: MobileNetV2, CVPR 2018",
    .parameters = parameters,
    .generate = generate,
};
