/* Training steps of models that were read: the optimizer, and what is computed again instead of kept. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "graph/graph.h"
#include "read/reader.h"

/* Whether more is asked for than there is: says so if nothing at all can be recomputed. */
static situ_status check_recomputed(const situ_graph *g, const situ_read_options *o, situ_error *error) {
  int32_t wanted;
  TRY(read_recompute(&wanted, o, error));
  if (wanted == 0 || g->n_recomputed > 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, g->model,
                   "has no layers whose activations can be recomputed: nothing to keep between them was found");
}

/* Whether tensor t is the gradient of weights that goes to another copy of them. */
static bool sends_gradient(const situ_graph *g, int32_t t) {
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (g->phase[g->use[i]] != SITU_PHASE_UPDATE) return false;
  return true;
}

/* Says which optimizer a training step has, and what it keeps; and what is recomputed. */
static situ_status note_training(situ_model *model, const situ_read_options *o, situ_error *error) {
  const situ_graph *g = model->graph;
  text_buffer notes = {0};
  int64_t kept = 0, forward = 0, again = 0;
  char size[TEXT_UNIT_BYTES];
  TRY(check_recomputed(g, o, error));
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (g->phase[v] == SITU_PHASE_UPDATE) kept = sat_add(kept, g->weight_bytes[v]);
    if (g->phase[v] == SITU_PHASE_FORWARD) forward = sat_add(forward, g->flops[v]);
    if (g->phase[v] == SITU_PHASE_RECOMPUTE) again = sat_add(again, g->flops[v]);
  }
  text_add(&notes, "%s", model->notes);
  text_add(&notes, "optimizer %s: %s of states beside weights and gradients\n",
           situ_optimizer_name(o->optimizer ? o->optimizer : SITU_OPTIMIZER_ADAM_MIXED), text_size(size, kept));
  if (g->n_recomputed > 0)
    text_add(&notes,
             "activations of %d of %d layers are recomputed: %.0f %% of the work of the forward pass once more\n",
             (int)g->n_recomputed, (int)g->n_segments, forward > 0 ? 100.0 * (double)again / (double)forward : 0.0);
  bool tied = false;
  for (int32_t t = 0; t < g->n_tensors && !tied; t++)
    tied = g->size_bytes[t] > 0 && g->use_start[t + 1] > g->use_start[t] && sends_gradient(g, t);
  if (tied)
    text_add(&notes, "tied embeddings: the table counts at both ends, and its gradients are exchanged once a step\n");
  char *both = text_take(&notes);
  if (!both) return fail_no_memory(error);
  free((void *)(uintptr_t)model->notes);
  model->notes = both;
  return SITU_STATUS_OK;
}

situ_status read_recompute(int32_t *out, const situ_read_options *o, situ_error *error) {
  char *end;
  *out = 0;
  if (!o->recompute || strcmp(o->recompute, "none") == 0) return SITU_STATUS_OK;
  if (!o->training)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "recompute is for training steps; add training");
  *out = INT32_MAX;
  if (strcmp(o->recompute, "all") == 0) return SITU_STATUS_OK;
  if (strcmp(o->recompute, "auto") == 0)
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, NULL,
        "only situ place chooses what is recomputed; name it instead of auto: none, all, or how many layers");
  long n = strtol(o->recompute, &end, 10);
  if (end == o->recompute || *end || n < 1 || n > INT32_MAX)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "recompute must be none, all, auto or a number of layers from 1 on, not \"%.40s\"", o->recompute);
  *out = (int32_t)n;
  return SITU_STATUS_OK;
}

situ_status read_make_training(situ_model *model, const char *path, const situ_read_options *o, situ_error *error) {
  training_options options = {.optimizer = o->optimizer, .micro_batches = o->micro_batches};
  if (model->trained) return note_training(model, o, error);
  if (model->costs)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, path, "has its own times, which a training step would lack");
  situ_graph *forward = model->graph;
  TRY(read_recompute(&options.recompute, o, error));
  TRY(graph_training(&model->graph, forward, options, error));
  situ_graph_free(forward);
  situ_graph_free(model->steps.other); /* one step is trained */
  model->steps = (read_steps){.engine = model->steps.engine};
  return note_training(model, o, error);
}
