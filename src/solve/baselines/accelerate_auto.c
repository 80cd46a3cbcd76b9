/* accelerate with device_map="auto" (utils/modeling.py, July 2026): modules fill the GPUs in order, then the host, by
 * the bytes of their weights alone. Every GPU but the last takes at most an even share plus 1.25 layers; a single GPU
 * takes nine tenths of its memory. The first GPU and the host reserve room for the largest layer still to come.
 * docs/theory/baselines/peers.md */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/baselines/peer_layers.h"

typedef struct filling {
  const peer_layers *l;
  int32_t *of_layer; /* [n + 1] */
  int64_t limit[SITU_MAX_DEVICES + 1], used[SITU_MAX_DEVICES + 1];
  int32_t n, at; /* number of devices, the host last; the one being filled */
} filling;

static int64_t largest_layer(const peer_layers *l, int32_t from) {
  int64_t max = 0;
  for (int32_t k = from; k < l->n; k++) max = max64(max, l->weights[k]);
  return max;
}

static void set_limits(filling *f, const situ_problem *p) {
  const peer_layers *l = f->l;
  int64_t total = l->first_bytes;
  for (int32_t k = 0; k <= l->n; k++) total = sat_add(total, l->weights[k]);
  int64_t even = l->n_gpus > 0 ? total / l->n_gpus + (int64_t)(1.25 * (double)largest_layer(l, 0)) : 0;
  for (int32_t i = 0; i < l->n_gpus; i++) {
    int64_t memory = p->platform->memory_bytes[p->memory_of[l->gpu[i]]];
    f->limit[i] = l->n_gpus == 1 ? (int64_t)(0.9 * (double)memory) : i + 1 < l->n_gpus ? min64(memory, even) : memory;
  }
  f->n = l->n_gpus;
  if (l->host >= 0) f->limit[f->n++] = p->platform->memory_bytes[p->memory_of[l->host]];
}

/* The device that takes `bytes` next, where `layer` is the next layer; -1 when none is left. */
static int32_t take(filling *f, int64_t bytes, int32_t layer) {
  const peer_layers *l = f->l;
  for (; f->at < f->n; f->at++) {
    bool keeps = f->at == 0 || f->at == l->n_gpus;
    int64_t reserve = keeps ? largest_layer(l, layer) : 0;
    if (sat_add(sat_add(f->used[f->at], bytes), reserve) > f->limit[f->at]) continue;
    f->used[f->at] += bytes;
    return f->at < l->n_gpus ? l->gpu[f->at] : l->host;
  }
  return -1;
}

static situ_status accelerate_auto_solve(solve_run *run) {
  peer_layers l;
  if (!peer_layers_find(&l, run)) return fail_no_memory(run->error);
  filling *f = ARENA_ZERO(run->arena, filling, 1);
  if (!f) return fail_no_memory(run->error);
  f->l = &l;
  f->of_layer = ARENA_NEW(run->arena, int32_t, (int64_t)l.n + 1);
  if (!f->of_layer) return fail_no_memory(run->error);
  set_limits(f, run->problem);
  int32_t first = take(f, l.first_bytes, 0);
  if (first < 0) return SITU_STATUS_OK;
  for (int32_t k = 0; k <= l.n; k++) {
    f->of_layer[k] = take(f, l.weights[k], k + 1);
    if (f->of_layer[k] < 0) return SITU_STATUS_OK;
  }
  peer_layers_offer(&l, run, f->of_layer, NULL, first);
  return SITU_STATUS_OK;
}

const solver accelerate_auto_solver = {.name = "accelerate_auto",
                                       .title = "modules in order until a device is full, as in accelerate",
                                       .source = "accelerate, utils/modeling.py",
                                       .models = MODEL_STREAM,
                                       .serves = peer_layers_serve,
                                       .solve = accelerate_auto_solve};
