/* exo's ring (placement_utils.py, June 2026): the fewest devices whose memory together holds the model, those with the
 * most memory first. Layers are split in proportion to memory, rounded down, with the rest by largest fraction and at
 * least one each. It gives up if a device cannot hold its part of the bytes. docs/theory/baselines/peers.md */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/baselines/peer_layers.h"

typedef struct ring {
  int32_t n, *device, *layers; /* in the order of the platform */
  int64_t *memory;
} ring;

/* Chooses the k devices with the most memory. False where these cannot hold the model. */
static bool choose(ring *r, const peer_layers *l, const situ_problem *p, int32_t k, int64_t bytes) {
  int64_t sum = 0;
  r->n = 0;
  for (int32_t i = 0; i < l->n_gpus; i++) {
    int64_t own = p->platform->memory_bytes[p->memory_of[l->gpu[i]]];
    int32_t larger = 0;
    for (int32_t j = 0; j < l->n_gpus; j++) {
      int64_t other = p->platform->memory_bytes[p->memory_of[l->gpu[j]]];
      larger += other > own || (other == own && j < i);
    }
    if (larger >= k) continue;
    r->device[r->n] = l->gpu[i];
    r->memory[r->n++] = own;
    sum = sat_add(sum, own);
  }
  return sum >= bytes;
}

static void share(const ring *r, int32_t n_layers) {
  double sum = 0;
  int32_t given = 0;
  for (int32_t i = 0; i < r->n; i++) sum += (double)r->memory[i];
  for (int32_t i = 0; i < r->n; i++) given += r->layers[i] = (int32_t)((double)r->memory[i] / sum * n_layers);
  for (; given < n_layers; given++) {
    int32_t best = 0;
    double max = -1;
    for (int32_t i = 0; i < r->n; i++) {
      double fraction = (double)r->memory[i] / sum * n_layers - r->layers[i];
      if (fraction > max) max = fraction, best = i;
    }
    r->layers[best]++;
  }
  for (int32_t i = 0; i < r->n; i++) {
    int32_t largest = 0;
    for (int32_t j = 0; j < r->n; j++)
      if (r->layers[j] > r->layers[largest]) largest = j;
    if (r->layers[i] > 0 || r->layers[largest] <= 1) continue;
    r->layers[i]++;
    r->layers[largest]--;
  }
}

static situ_status exo_ring_solve(solve_run *run) {
  peer_layers l;
  ring r = {0};
  if (!peer_layers_find(&l, run)) return fail_no_memory(run->error);
  int32_t *of_layer = ARENA_NEW(run->arena, int32_t, (int64_t)l.n + 1);
  if (!of_layer ||
      !ARENA_ARRAYS(run->arena, ARRAY(r.device, l.n_gpus), ARRAY(r.layers, l.n_gpus), ARRAY(r.memory, l.n_gpus)))
    return fail_no_memory(run->error);
  int64_t bytes = l.first_bytes;
  for (int32_t k = 0; k <= l.n; k++) bytes = sat_add(bytes, l.weights[k]);
  int32_t max = l.n_gpus < l.n ? l.n_gpus : l.n;
  for (int32_t k = 1; k <= max; k++)
    if (choose(&r, &l, run->problem, k, bytes))
      break;
    else if (k == max)
      return SITU_STATUS_OK;
  share(&r, l.n);
  for (int32_t i = 0, k = 0; i < r.n; i++) {
    if ((double)bytes * r.layers[i] / l.n > (double)r.memory[i]) return SITU_STATUS_OK;
    for (int32_t j = 0; j < r.layers[i]; j++) of_layer[k++] = r.device[i];
  }
  of_layer[l.n] = r.device[r.n - 1];
  peer_layers_offer(&l, run, of_layer, NULL, r.device[0]);
  return SITU_STATUS_OK;
}

const solver exo_ring_solver = {.name = "exo_ring",
                                .title = "layers in proportion to memory around a ring, as in exo",
                                .source = "exo, placement_utils.py",
                                .models = MODEL_STREAM,
                                .serves = peer_layers_serve_gpus,
                                .solve = exo_ring_solve};
