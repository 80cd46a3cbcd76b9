/* llama.cpp with --fit (common/fit.cpp, August 2026): the split by memory where it fits. Otherwise devices are filled
 * from the last to the first, starting with the last layer, and the first layers stay on the host. With experts, layers
 * first count without them. Then, from the first device on, layers become whole again while there is room, and all
 * other experts stay on the host. Speed is ignored. The catalogue's sizes, in units of 10^9 bytes, already contain its
 * margin of 1 GiB. Layers split among their experts are not modelled. docs/theory/baselines/peers.md */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/baselines/llamacpp.h"

typedef struct fitting {
  const peer_layers *l;
  const situ_problem *p;
  int32_t *of_layer;
  bool *spilled;
  int32_t *start; /* [gpu] its first layer; [n_gpus] the end: n + 1, since the head counts */
} fitting;

static int64_t lean(const peer_layers *l, int32_t k) { return l->bytes[k] - (k < l->n ? l->experts[k] : 0); }

static bool fits_whole(const fitting *f) {
  for (int32_t i = 0; i < f->l->n_gpus; i++) {
    int64_t sum = 0;
    for (int32_t k = 0; k <= f->l->n; k++)
      if (f->of_layer[k] == f->l->gpu[i]) sum = sat_add(sum, f->l->bytes[k]);
    if (sum > peer_layers_memory(f->l, f->p, f->l->gpu[i])) return false;
  }
  return true;
}

/* Fills devices from last to first with as many of the last layers as fit, without experts. */
static void fill(const fitting *f) {
  const peer_layers *l = f->l;
  int32_t k = l->n + 1;
  f->start[l->n_gpus] = k;
  for (int32_t i = l->n_gpus - 1; i >= 0; i--) {
    int64_t left = peer_layers_memory(l, f->p, l->gpu[i]);
    while (k > 0 && lean(l, k - 1) <= left) left -= lean(l, --k);
    f->start[i] = k;
  }
}

/* Bytes of layers from .. to-1; those below `whole` include their experts. */
static int64_t bytes_of(const peer_layers *l, int32_t from, int32_t to, int32_t whole) {
  int64_t sum = 0;
  for (int32_t k = from; k < to; k++) sum = sat_add(sum, k < whole ? l->bytes[k] : lean(l, k));
  return sum;
}

/* From the first device to the last, makes as many layers whole as fit, taking layers from the devices after it. */
static void make_whole(const fitting *f) {
  const peer_layers *l = f->l;
  for (int32_t i = 0; i < l->n_gpus; i++) {
    int64_t room = peer_layers_memory(l, f->p, l->gpu[i]);
    int32_t whole = f->start[i], end = f->start[i + 1], max = i + 1 < l->n_gpus ? l->n : end;
    while (whole < max) {
      int32_t to = whole + 1 > end ? whole + 1 : end;
      if (bytes_of(l, f->start[i], to, whole + 1) > room) break;
      whole++;
      end = to;
    }
    for (int32_t j = i + 1; j < l->n_gpus; j++)
      if (f->start[j] < end) f->start[j] = end;
    for (int32_t k = f->start[i]; k < l->n && k < f->start[i + 1]; k++) f->spilled[k] = k >= whole;
  }
}

static void place(const fitting *f) {
  const peer_layers *l = f->l;
  for (int32_t k = 0; k < f->start[0]; k++) f->of_layer[k] = l->host;
  for (int32_t i = 0; i < l->n_gpus; i++)
    for (int32_t k = f->start[i]; k < f->start[i + 1]; k++) f->of_layer[k] = l->gpu[i];
}

static situ_status llamacpp_fit_solve(solve_run *run) {
  peer_layers l;
  if (!peer_layers_find(&l, run)) return fail_no_memory(run->error);
  fitting f = {.l = &l, .p = run->problem};
  if (!ARENA_ARRAYS(run->arena, ARRAY(f.of_layer, l.n + 1), ZEROS(f.spilled, l.n), ARRAY(f.start, l.n_gpus + 1)))
    return fail_no_memory(run->error);
  llamacpp_split(f.of_layer, &l, run->problem);
  if (l.n_gpus > 0 && !fits_whole(&f)) {
    bool experts = false;
    for (int32_t k = 0; k < l.n; k++) experts |= l.experts[k] > 0;
    fill(&f);
    if (experts) make_whole(&f);
    if (f.start[0] > 0 && l.host < 0) return SITU_STATUS_OK;
    place(&f);
  }
  peer_layers_offer(&l, run, f.of_layer, f.spilled, l.host >= 0 ? l.host : f.of_layer[0]);
  return SITU_STATUS_OK;
}

const solver llamacpp_fit_solver = {.name = "llamacpp_fit",
                                    .title = "layers fitted into memory as in llama.cpp, the rest on the host",
                                    .source = "llama.cpp, common/fit.cpp",
                                    .models = MODEL_STREAM,
                                    .serves = peer_layers_serve,
                                    .solve = llamacpp_fit_solve};
