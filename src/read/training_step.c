/* Training steps of models that were read: the optimizer, and what is computed again instead of kept. */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "graph/graph.h"
#include "read/reader.h"

/* Whether more is asked for than there is: says so if nothing at all can be recomputed. */
static situ_status check_recomputed(const situ_graph *g, const situ_read_options *o, situ_error *error) {
  bool wants = o->recompute && strcmp(o->recompute, "none") != 0;
  if (!wants || g->n_recomputed > 0) return SITU_STATUS_OK;
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
  kept = sat_add(kept, graph_offloaded_bytes(g));
  text_add(
      &notes, "optimizer %s: %s of states %s\n",
      situ_optimizer_name(o->optimizer ? o->optimizer : SITU_OPTIMIZER_ADAM_MIXED), text_size(size, kept),
      o->offload_optimizer ? "in the memory of the host, which makes the updates" : "beside weights and gradients");
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

/* A number from 1 on, whose end *text becomes; 0: there is none. */
static int32_t read_number(const char **text) {
  char *end;
  if (!ascii_is_digit(**text)) return 0;
  long n = strtol(*text, &end, 10);
  *text = end;
  return n > INT32_MAX ? 0 : (int32_t)n;
}

/* "2-5,9": layers counted from 1; a number alone is that of the first layers. */
static bool read_list(recompute_choice *out, const char *text) {
  for (bool single = !strpbrk(text, ",-");; text++) {
    int32_t begin = read_number(&text), end = begin;
    if (begin == 0) return false;
    if (single) out->first = begin;
    if (single) return *text == '\0';
    if (*text == '-') {
      text++;
      end = read_number(&text);
    }
    if (end < begin || end > READ_MAX_SEGMENTS) return false;
    for (int32_t k = begin; k <= end; k++) out->also[k - 1] = true;
    if (end > out->n_also) out->n_also = end;
    if (*text != ',') return *text == '\0';
  }
}

situ_status read_recompute(recompute_choice *out, const situ_read_options *o, situ_error *error) {
  *out = (recompute_choice){0};
  if (!o->recompute || strcmp(o->recompute, "none") == 0) return SITU_STATUS_OK;
  if (!o->training)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "recompute is for training steps; add training");
  out->first = INT32_MAX;
  if (strcmp(o->recompute, "all") == 0) return SITU_STATUS_OK;
  if (strcmp(o->recompute, "auto") == 0)
    return fail_with(
        error, SITU_STATUS_BAD_ARGUMENT, NULL,
        "only situ place chooses what is recomputed; name it instead of auto: none, all, how many layers, or which");
  out->first = 0;
  if (read_list(out, o->recompute)) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                   "recompute must be none, all, auto, a number of layers from 1 on or a list of layers (2-5,9), not "
                   "\"%.40s\"",
                   o->recompute);
}

char *recompute_choice_text(const recompute_choice *c) {
  text_buffer t = {0};
  if (c->first == INT32_MAX)
    text_add(&t, "all");
  else if (c->first > 0)
    text_add(&t, "%d", (int)c->first);
  for (int32_t k = 0, end; k < c->n_also && c->first == 0; k = end + 1) {
    for (end = k; end < c->n_also && c->also[end]; end++) continue;
    if (end > k) text_add(&t, "%s%d-%d", t.length > 0 ? "," : "", (int)k + 1, (int)end);
  }
  if (t.length == 0) text_add(&t, "none");
  return text_take(&t);
}

situ_status read_make_training(situ_model *model, const char *path, const situ_read_options *o, situ_error *error) {
  training_options options = {
      .optimizer = o->optimizer, .micro_batches = o->micro_batches, .offload_optimizer = o->offload_optimizer};
  if (model->trained && o->offload_optimizer)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, path,
                     "has measured times, which those of offloaded updates lack");
  if (model->trained) return note_training(model, o, error);
  if (model->costs)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, path, "has its own times, which a training step would lack");
  situ_graph *forward = model->graph;
  recompute_choice choice;
  TRY(read_recompute(&choice, o, error));
  options.recompute = choice.first;
  options.n_also = choice.n_also;
  options.also = choice.also;
  TRY(graph_training(&model->graph, forward, options, error));
  situ_graph_free(forward);
  situ_graph_free(model->steps.other); /* one step is trained */
  model->steps = (read_steps){0};      /* nor by the engine of a file that is made for one */
  return note_training(model, o, error);
}
