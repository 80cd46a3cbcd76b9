/* Layers as people place them by hand: equally many of each family (encoder.layer0, encoder.layer1, ...) on each
 * device. Layers are counted by their names, and nothing is minimised, so this is no call of a chain.
 * docs/theory/heuristics/layers.md. */
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "graph/layers.h"
#include "solve/stream/layouts.h"

/* The length of a layer's name without its number: "encoder.layer3" belongs to the family "encoder.layer". */
static size_t family_length(const char *name) {
  size_t n = strlen(name);
  while (n > 0 && (ascii_is_digit(name[n - 1]) || strchr("._/", name[n - 1]))) n--;
  return n;
}

typedef struct family_place {
  int32_t index, size; /* of the layer in its family; all encoders form one, and all decoders */
} family_place;

/* Finds the position of each layer in its family. False without memory. */
static bool find_families(family_place *place, const layer_list *l, arena *a) {
  string_map *families = string_map_new(a, l->n);
  int32_t *size = ARENA_ZERO(a, int32_t, l->n), *family = ARENA_NEW(a, int32_t, l->n);
  if (!families || !size || !family) return false;
  for (int32_t k = 0; k < l->n; k++) {
    const char *name = l->name && l->name[k] ? l->name[k] : "", *of = arena_string_n(a, name, family_length(name));
    int64_t at = of ? string_map_put(families, of, string_map_count(families)) : -1;
    if (at < 0) return false;
    family[k] = (int32_t)at;
    place[k].index = size[at]++;
  }
  for (int32_t k = 0; k < l->n; k++) place[k].size = size[family[k]];
  return true;
}

/* The layer that the name of v belongs to; l->n: none. */
static int32_t layer_by_name(const layer_list *l, const situ_graph *g, int32_t v) {
  const char *name = l->of[v] >= 0 && l->name ? l->name[l->of[v]] : NULL;
  return l->of[v] >= 0 && (!name || strncmp(g->name[v], name, strlen(name)) == 0) ? l->of[v] : l->n;
}

/* The layer of each operator by its name, or with `follow` else the lowest layer that depends on it: attention goes
 * with the first layer of the decoder. l->n: what comes after the layers. */
static void find_layers(int32_t *layer, const layer_list *l, const situ_graph *g, bool follow) {
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    bool free = (layer[v] = layer_by_name(l, g, v)) == l->n && follow;
    for (int64_t i = g->use_start[g->out_start[v]]; free && i < g->use_start[g->out_start[v + 1]]; i++)
      if (layer[g->use[i]] < layer[v]) layer[v] = layer[g->use[i]];
  }
}

/* Offers equally many layers of each family on each of n devices, and the rest on device `rest` of the sequence. */
static int64_t offer_family(layouts *s, const int32_t *layer, const layer_list *l, const family_place *place, int32_t n,
                            int32_t rest, int32_t *at) {
  for (int32_t k = 0; k < l->n; k++) at[k] = (int32_t)((int64_t)place[k].index * n / place[k].size);
  at[l->n] = rest;
  return layouts_offer(s, layer, at, SITU_NEVER_NS);
}

/* Tries layered networks as people place them, on all devices and on fewer, with what comes after the layers on the
 * last one. Where that does not fit (the attention of a long training step fills any accelerator), layers go on all
 * devices but the slowest, or on all, and the rest on the slowest. False without memory. */
static bool offer_families(layouts *s) {
  arena *a = s->run->arena;
  layer_list l;
  family_place *place;
  int32_t n_operators = s->run->problem->n_operators, max = s->n_sequence;
  int32_t *layer, *named, *at;
  if (!layers_find(&l, s->run->problem->graph, a)) return false;
  if (l.n < 2) return true;
  if (!ARENA_ARRAYS(a, ARRAY(layer, n_operators), ARRAY(named, n_operators), ZEROS(place, l.n), ARRAY(at, l.n + 1)) ||
      !find_families(place, &l, a))
    return false;
  find_layers(layer, &l, s->run->problem->graph, true);
  find_layers(named, &l, s->run->problem->graph, false);
  for (int32_t n = max; n >= 2 && !solve_done(s->run); n = layouts_fewer(n)) {
    bool fits = offer_family(s, layer, &l, place, n, n - 1, at) < SITU_NEVER_NS;
    for (int32_t on = n - 1; n == max && !fits && on <= n && !solve_done(s->run); on++)
      offer_family(s, named, &l, place, on, n - 1, at);
  }
  return true;
}

static situ_status families_solve(solve_run *run) {
  layouts s;
  return layouts_init(&s, run) && offer_families(&s) ? SITU_STATUS_OK : fail_no_memory(run->error);
}

const solver families_solver = {
    .name = "families",
    .title = "human layouts: equally many layers of each kind on each device",
    .source = "Sutskever, Vinyals, Le, NeurIPS 2014; Wu et al., GNMT, 2016",
    .models = MODEL_STREAM,
    .solve = families_solve,
};
