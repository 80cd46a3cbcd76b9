/* ResNet-50, version 1.5: the stride of a bottleneck is in its 3x3 convolution (as in torchvision and MLPerf), which
 * takes 4.09 instead of 3.86 G multiply-adds. */
#include "read/builtin.h"

enum { BATCH, IMAGE, CLASSES, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"image", 224, 32, 8192, "height and width of the image"},
                                               {"classes", 1000, 1, 1000000, "number of classes"},
                                               BUILTIN_BITS,
                                               {0}};

static net_value bottleneck(net *n, net_value x, int64_t width, int64_t stride, bool project) {
  net_value y = net_op1(n, "relu1", "Relu", net_conv(n, "conv1", x, width, (net_window){.kernel = 1}));
  y = net_conv(n, "conv2", y, width, (net_window){.kernel = 3, .stride = stride, .pad = 1});
  y = net_conv(n, "conv3", net_op1(n, "relu2", "Relu", y), 4 * width, (net_window){.kernel = 1});
  if (project) x = net_conv(n, "downsample", x, 4 * width, (net_window){.kernel = 1, .stride = stride});
  return net_op1(n, "relu3", "Relu", net_op2(n, "add", "Add", y, x));
}

static void generate(net *n, const int64_t *values) {
  static const int depths[] = {3, 4, 6, 3};
  net_set_bits(n, values[BITS]);
  net_value x = net_input(n, NET_SHAPE(values[BATCH], 3, values[IMAGE], values[IMAGE]));
  x = net_conv(n, "conv1", x, 64, (net_window){.kernel = 7, .stride = 2, .pad = 3});
  x = net_op1(n, "relu", "Relu", x);
  x = net_max_pool(n, "maxpool", x, (net_window){.kernel = 3, .stride = 2, .pad = 1});
  for (int stage = 0; stage < 4; stage++)
    for (int block = 0; block < depths[stage]; block++) {
      net_enter(n, "layer%d.%d", stage + 1, block);
      x = bottleneck(n, x, (int64_t)64 << stage, stage > 0 && block == 0 ? 2 : 1, block == 0);
      net_leave(n);
    }
  net_classify(n, x, values[CLASSES]);
}

const builtin builtin_resnet50 = {
    .name = "resnet50",
    .title = "residual network of 50 layers (v1.5) for images",
    .source = "He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, CVPR 2016",
    .parameters = parameters,
    .generate = generate,
};
