/* vLLM's pipeline stages (distributed/utils.py, get_pp_indices, August 2026): the same number of layers on each GPU.
 * The remainder goes one each to the stages before the last, from the back. The embedding is with the first stage, the
 * head with the last. docs/theory/baselines/peers.md */
#include "base/fail.h"
#include "solve/baselines/peer_layers.h"

static situ_status vllm_equal_solve(solve_run *run) {
  peer_layers l;
  if (!peer_layers_find(&l, run)) return fail_no_memory(run->error);
  int32_t *of_layer = ARENA_NEW(run->arena, int32_t, (int64_t)l.n + 1), k = 0;
  if (!of_layer) return fail_no_memory(run->error);
  int32_t stages = l.n_gpus < l.n ? l.n_gpus : l.n, rest = l.n % stages;
  for (int32_t s = 0; s < stages; s++) {
    bool more = s < stages - 1 && s >= stages - 1 - rest;
    for (int32_t i = 0; i < l.n / stages + more; i++) of_layer[k++] = l.gpu[s];
  }
  of_layer[l.n] = l.gpu[stages - 1];
  peer_layers_offer(&l, run, of_layer, NULL, l.gpu[0]);
  return SITU_STATUS_OK;
}

const solver vllm_equal_solver = {.name = "vllm_equal",
                                  .title = "equally many layers on each GPU, as in vLLM's pipeline stages",
                                  .source = "vLLM, distributed/utils.py",
                                  .models = MODEL_STREAM,
                                  .serves = peer_layers_serve_gpus,
                                  .solve = vllm_equal_solve};
