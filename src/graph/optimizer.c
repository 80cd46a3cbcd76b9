/* Bytes by weight as PyTorch's optimizers and Megatron-LM keep them: momenta in the type of the weights, or in F32 with
 * a copy of the weights in F32 where these have 16 bits ("mixed": S. Rajbhandari et al., "ZeRO: Memory Optimizations
 * Toward Training Trillion Parameter Models", SC 2020, section 3.1: 16 bytes a weight in all). */
#include "graph/optimizer.h"

#include "base/checked.h"

static const struct {
  const char *name;
  int32_t flops; /* of each weight */
  /* Of each weight: elements of its own type and further bytes that stay, and that are read and written. */
  struct {
    int32_t elements, bytes;
  } kept, moved;
} rows[] = {
    [SITU_OPTIMIZER_DEFAULT] = {"default", 12, {2, 0}, {7, 0}},
    [SITU_OPTIMIZER_NONE] = {"none", 0, {0, 0}, {0, 0}},
    [SITU_OPTIMIZER_SGD] = {"sgd", 2, {0, 0}, {3, 0}},
    [SITU_OPTIMIZER_MOMENTUM] = {"momentum", 4, {1, 0}, {5, 0}},
    [SITU_OPTIMIZER_ADAM] = {"adam", 12, {2, 0}, {7, 0}},
    [SITU_OPTIMIZER_ADAM_MIXED] = {"adam-mixed", 12, {2, 0}, {7, 0}},
    [SITU_OPTIMIZER_ADAFACTOR] = {"adafactor", 10, {0, 0}, {3, 0}}, /* rows and columns of moments: next to nothing */
    [SITU_OPTIMIZER_ADAM_8BIT] = {"8bit", 12, {0, 2}, {3, 4}},
};

const char *situ_optimizer_name(situ_optimizer which) {
  return (unsigned)which < sizeof rows / sizeof *rows ? rows[which].name : "unknown";
}

optimizer_cost optimizer_cost_of(situ_optimizer which, int64_t weight_bytes, int64_t element_bytes) {
  int64_t n = element_bytes > 0 ? weight_bytes / element_bytes : 0;
  bool mixed = (which == SITU_OPTIMIZER_DEFAULT || which == SITU_OPTIMIZER_ADAM_MIXED) && element_bytes < 4;
  int64_t kept = rows[which].kept.elements * element_bytes + rows[which].kept.bytes;
  int64_t moved = rows[which].moved.elements * element_bytes + rows[which].moved.bytes;
  if (mixed) { /* copy and two moments in F32, each read and written; the gradient read, the weight written */
    kept = 12;
    moved = 24 + 2 * element_bytes;
  }
  return (optimizer_cost){
      .flops = sat_mul(rows[which].flops, n), .moved_bytes = sat_mul(moved, n), .state_bytes = sat_mul(kept, n)};
}
