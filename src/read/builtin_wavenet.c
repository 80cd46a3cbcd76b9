/* WaveNet: stacks of causal convolutions whose dilation doubles from layer to layer, with gated activations, residual
 * and skip connections (paper, sections 2.1 to 2.4). The paper gives no widths; the defaults, 64 residual and 256 skip
 * channels, are those of Deep Voice (Arik et al., ICML 2017). */
#include "read/builtin.h"

enum { BATCH, SAMPLES, STACKS, LAYERS, RESIDUAL, SKIP, CLASSES, BITS };

static const builtin_parameter parameters[] = {
    BUILTIN_BATCH,
    {"samples", 16000, 1, 16777216, "samples of audio"},
    {"stacks", 3, 1, 10000, "number of stacks; dilations restart at 1 in each"},
    {"layers", 10, 1, 20, "layers per stack; the last dilation is 2^(layers-1)"},
    {"residual", 64, 1, 65536, "residual channels"},
    {"skip", 256, 1, 65536, "skip channels"},
    {"classes", 256, 2, 65536, "quantisation levels per sample"},
    BUILTIN_BITS,
    {0}};

static void generate(net *n, const int64_t *v) {
  const net_window one = {.kernel = 1};
  net_set_bits(n, v[BITS]);
  net_value x = net_input(n, NET_SHAPE(v[BATCH], v[CLASSES], v[SAMPLES])), skips = NET_NONE;
  x = net_conv(n, "causal", x, v[RESIDUAL], (net_window){.kernel = 2, .causal = true});
  for (int64_t i = 0; i < v[STACKS] * v[LAYERS] && net_ok(n); i++) {
    net_window dilated = {.kernel = 2, .causal = true, .dilation = (int64_t)1 << (i % v[LAYERS])};
    net_enter(n, "stack%lld.layer%lld", (long long)(i / v[LAYERS]), (long long)(i % v[LAYERS]));
    net_value filter = net_op1(n, "tanh", "Tanh", net_conv(n, "filter", x, v[RESIDUAL], dilated));
    net_value gate = net_op1(n, "sigmoid", "Sigmoid", net_conv(n, "gate", x, v[RESIDUAL], dilated));
    net_value z = net_op2(n, "mul", "Mul", filter, gate);
    net_value skip = net_conv(n, "skip", z, v[SKIP], one);
    skips = skips == NET_NONE ? skip : net_op2(n, "skip_add", "Add", skips, skip);
    if (i + 1 < v[STACKS] * v[LAYERS]) /* the last residual is unused */
      x = net_op2(n, "add", "Add", net_conv(n, "residual", z, v[RESIDUAL], one), x);
    net_leave(n);
  }
  net_enter(n, "head");
  net_value y = net_conv(n, "conv1", net_op1(n, "relu1", "Relu", skips), v[SKIP], one);
  y = net_conv(n, "conv2", net_op1(n, "relu2", "Relu", y), v[CLASSES], one);
  net_softmax(n, y, 1);
  net_leave(n);
}

const builtin builtin_wavenet = {
    .name = "wavenet",
    .title = "WaveNet for audio: stacks of dilated causal convolutions",
    .source = "van den Oord et al.: WaveNet, 2016",
    .parameters = parameters,
    .generate = generate,
};
