/* A recurrent language model, unrolled over its steps: the large network of the paper (2 layers of 1500, 66 M
 * parameters for the 10,000 words of the Penn Treebank). */
#include "read/builtin.h"
#include "read/net_cell.h"

enum { BATCH, STEPS, LAYERS, HIDDEN, VOCAB, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"steps", 35, 1, 4000, "consecutive words"},
                                               {"layers", 2, 1, 1000, "layers"},
                                               {"hidden", 1500, 1, 65536, "width of a cell"},
                                               {"vocab", 10000, 1, 10000000, "words"},
                                               BUILTIN_BITS,
                                               {0}};

static void generate(net *n, const int64_t *v) {
  net_set_bits(n, v[BITS]);
  net_value *x = net_array(n, v[STEPS]), *scratch = net_array(n, v[STEPS]);
  if (!net_ok(n)) return;
  net_embed_steps(n, "embedding", x, v[BATCH], v[STEPS], v[VOCAB], v[HIDDEN]);
  for (int64_t layer = 0; layer < v[LAYERS]; layer++) {
    net_enter(n, "layer%lld", (long long)layer);
    net_cell k = net_cell_new(n, v[BATCH], v[HIDDEN], v[HIDDEN]);
    for (int64_t i = 0; i < v[STEPS] && net_ok(n); i++) x[i] = net_cell_step(n, &k, i, x[i], NET_NONE);
    net_leave(n);
  }
  net_value tops = net_stack_steps(n, "stack", x, scratch, v[STEPS]);
  net_softmax(n, net_linear(n, "projection", tops, v[VOCAB], true), -1);
}

const builtin builtin_rnnlm = {
    .name = "rnnlm",
    .title = "recurrent language model (2 layers of 1500), unrolled",
    .source = "Zaremba, Sutskever, Vinyals: Recurrent Neural Network Regularization, 2014",
    .parameters = parameters,
    .generate = generate,
};
