/* llama.cpp without --fit: layers by free memory (src/llama-model.cpp, load_tensors, August 2026). The head counts as
 * one more layer. Layer i goes to the first device whose cumulative share of memory exceeds i / (layers + 1). The
 * embedding stays on the host. docs/theory/baselines/peers.md */
#include "base/fail.h"
#include "solve/baselines/llamacpp.h"

void llamacpp_split(int32_t *of_layer, const peer_layers *l, const situ_problem *p) {
  float sum = 0;
  for (int32_t i = 0; i < l->n_gpus; i++) sum += (float)p->platform->memory_bytes[p->memory_of[l->gpu[i]]];
  for (int32_t k = 0; k <= l->n; k++) {
    float up_to = 0;
    of_layer[k] = l->n_gpus > 0 ? l->gpu[l->n_gpus - 1] : l->host;
    for (int32_t i = 0; i < l->n_gpus; i++) {
      up_to += (float)p->platform->memory_bytes[p->memory_of[l->gpu[i]]];
      if (up_to / sum <= (float)k / (float)(l->n + 1)) continue;
      of_layer[k] = l->gpu[i];
      break;
    }
  }
}

static situ_status llamacpp_default_solve(solve_run *run) {
  peer_layers l;
  if (!peer_layers_find(&l, run)) return fail_no_memory(run->error);
  int32_t *of_layer = ARENA_NEW(run->arena, int32_t, (int64_t)l.n + 1);
  if (!of_layer) return fail_no_memory(run->error);
  llamacpp_split(of_layer, &l, run->problem);
  peer_layers_offer(&l, run, of_layer, NULL, l.host >= 0 ? l.host : of_layer[0]);
  return SITU_STATUS_OK;
}

const solver llamacpp_default_solver = {.name = "llamacpp_default",
                                        .title = "layers in proportion to memory, as in llama.cpp",
                                        .source = "llama.cpp, src/llama-model.cpp",
                                        .models = MODEL_STREAM,
                                        .serves = peer_layers_serve,
                                        .solve = llamacpp_default_solve};
