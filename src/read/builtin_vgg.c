/* VGG with 16 or 19 layers (configurations D and E of the paper). */
#include "read/builtin.h"

enum { BATCH, IMAGE, DEPTH, CLASSES, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"image", 224, 32, 8192, "height and width of the image"},
                                               {"depth", 16, 16, 19, "layers with weights, 16 or 19"},
                                               {"classes", 1000, 1, 1000000, "number of classes"},
                                               BUILTIN_BITS,
                                               {0}};

static void generate(net *n, const int64_t *v) {
  static const int64_t widths[] = {64, 128, 256, 512, 512};
  if (v[DEPTH] != 16 && v[DEPTH] != 19) net_refuse(n, "depth is 16 or 19, not %lld", (long long)v[DEPTH]);
  net_set_bits(n, v[BITS]);
  net_value x = net_input(n, NET_SHAPE(v[BATCH], 3, v[IMAGE], v[IMAGE]));
  for (int stage = 0; stage < 5; stage++) {
    int convolutions = stage < 2 ? 2 : v[DEPTH] == 16 ? 3 : 4;
    net_enter(n, "stage%d", stage + 1);
    for (int i = 0; i < convolutions; i++) {
      net_enter(n, "%d", i + 1);
      x = net_conv(n, "conv", x, widths[stage], (net_window){.kernel = 3, .pad = 1});
      x = net_op1(n, "relu", "Relu", x);
      net_leave(n);
    }
    x = net_max_pool(n, "maxpool", x, (net_window){.kernel = 2, .stride = 2});
    net_leave(n);
  }
  net_enter(n, "classifier");
  x = net_reshape(n, "flatten", x, NET_SHAPE(v[BATCH], 512 * net_dim(n, x, 2) * net_dim(n, x, 3)));
  x = net_op1(n, "relu1", "Relu", net_linear(n, "fc1", x, 4096, true));
  x = net_op1(n, "relu2", "Relu", net_linear(n, "fc2", x, 4096, true));
  net_linear(n, "fc3", x, v[CLASSES], true);
  net_leave(n);
}

const builtin builtin_vgg = {
    .name = "vgg16",
    .title = "VGG with 16 (or 19) layers for images",
    .source = "Simonyan, Zisserman: Very Deep Convolutional Networks, ICLR 2015",
    .parameters = parameters,
    .generate = generate,
};
