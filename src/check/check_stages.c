#include "check/check_stages.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/resize.h"

enum { MAX_CHOICES = 1 << 16, NONE = INT32_MAX };
/* So many entries that are looked at and passed over take as long as a step. */
enum { SCANNED = 16 };

/* ---- the rules, from docs/theory/exact/stage_program.md ---- */

static bool is_allowed(const stage_rules *r, const stage_variant *w, int32_t degree) {
  return !(degree > 1 && r->no_splits) && !(w->recomputes && r->no_recompute);
}

static bool may_replicate(const stage_rules *r, int64_t n) {
  return n >= 1 && r->machine.n_inputs % n == 0 && (n == 1 || !r->no_replicas);
}

static int64_t round_up(__int128 a, __int128 b) {
  __int128 q = a / b + (a % b != 0);
  return q > STAGE_NEVER_NS ? STAGE_NEVER_NS : (int64_t)q;
}

/* What a layer adds to the time of one input on n replicas: its own, what crosses the edges in `cut`, there and back,
 * and its share of the gradients; and to memory. */
static int64_t time_of(const stage_network *x, const stage_rules *r, int32_t v, const stage_variant *w, int64_t n,
                       const bool *inside) {
  __int128 bytes = 0, n_inputs = r->machine.n_inputs;
  __int128 gradients = ((__int128)4 * (n - 1) * w->weight_bytes + n_inputs - 1) / n_inputs;
  for (int32_t i = x->edge_start[v]; i < x->edge_start[v + 1]; i++) {
    int32_t e = x->edge[i];
    if (!inside[x->from[e]] || !inside[x->to[e]]) bytes += x->edge_bytes[e] + w->sync_bytes[i - x->edge_start[v]];
  }
  int64_t rate = r->machine.bytes_per_s;
  return min64(w->time_ns + round_up(2 * bytes * 1000000000, rate) + round_up(gradients * 1000000000, rate),
               STAGE_NEVER_NS);
}

static __int128 size_of(const stage_variant *w, int64_t n_kept) {
  return (__int128)w->kept_bytes * n_kept + w->fixed_bytes;
}

/* ---- a plan ---- */

static const char *judge_stage(const stage_network *x, const stage_rules *r, const stage_plan *plan, int32_t k,
                               int64_t n_inputs, bool *inside, int64_t *longest_ns) {
  int64_t degree = plan->part[k].degree, n = plan->part[k].n_replicas, n_kept = round_up(n_inputs, n), n_layers = 0;
  __int128 size = 0, time = 0;
  for (int32_t v = 0; v < x->n_layers; v++) n_layers += inside[v] = plan->stage[v] == k;
  if (n_layers == 0) return "a stage is empty";
  for (int32_t v = 0; v < x->n_layers; v++) {
    int32_t g = 0, i = plan->variant[v];
    if (!inside[v]) continue;
    while (g < x->n_degrees && x->degree[g] != degree) g++;
    int64_t at = (int64_t)v * x->n_degrees + g;
    if (g == x->n_degrees || i < x->variant_start[at] || i >= x->variant_start[at + 1])
      return "a layer cannot be run so on these devices";
    if (!is_allowed(r, &x->variant[i], x->degree[g])) return "a layer is run by a variant that is ruled out";
    int64_t ns = time_of(x, r, v, &x->variant[i], n, inside);
    if (ns >= STAGE_NEVER_NS) return "a layer takes too long";
    size += size_of(&x->variant[i], n_kept);
    time += ns;
  }
  *longest_ns = max64(*longest_ns, round_up(time, n));
  return size > r->machine.memory_bytes ? "a stage does not fit into memory" : NULL;
}

const char *check_stages_plan(const stage_network *x, const stage_rules *r, const stage_plan *plan) {
  int64_t n_inputs = 0, n_devices = 0, longest_ns = 1;
  const char *wrong = NULL;
  if (plan->n_stages < 1 || plan->n_stages > x->n_layers) return "there are no stages";
  for (int32_t k = 0; k < plan->n_stages; k++) {
    if (plan->part[k].degree < 1 || !may_replicate(r, plan->part[k].n_replicas)) return "a number of replicas";
    n_inputs += plan->part[k].n_replicas;
    n_devices += (int64_t)plan->part[k].n_replicas * plan->part[k].degree;
  }
  if (n_devices > r->machine.n_devices) return "there are not so many devices";
  if (n_inputs > r->machine.n_inputs) return "more inputs are under way than a step has";
  for (int32_t v = 0; v < x->n_layers; v++)
    if (plan->stage[v] < 0 || plan->stage[v] >= plan->n_stages) return "a layer has no stage";
  for (int32_t e = 0; e < x->n_edges; e++)
    if (plan->stage[x->from[e]] > plan->stage[x->to[e]]) return "an edge goes back";
  bool *inside = calloc((size_t)x->n_layers, sizeof *inside);
  if (!inside) return "";
  for (int32_t k = 0; k < plan->n_stages && !wrong; k++) {
    wrong = judge_stage(x, r, plan, k, n_inputs, inside, &longest_ns);
    n_inputs -= plan->part[k].n_replicas;
  }
  free(inside);
  return wrong ? wrong : longest_ns != plan->period_ns ? "the period is another" : NULL;
}

/* ---- no plan is shorter ----
 *
 * Layers get numbers from the end on, and a set is their binary number, so that all that is within a set has a smaller
 * one. For each set and number of devices: the least number of inputs under way in a plan within max_ns.
 */

typedef struct choice {
  int64_t ns;
  __int128 bytes;
} choice;

typedef struct proof {
  const stage_network *x;
  const stage_rules *r;
  int64_t max_ns, n_steps, max_steps;
  int32_t n, n_devices, *least; /* sets; [set][devices] */
  bool *set;                    /* [set][layer] */
  bool *inside;                 /* [layer] of the stage */
  choice *found, *next;
} proof;

static int compare_choices(const void *left, const void *right) {
  const choice *a = left, *b = right;
  if (a->ns != b->ns) return a->ns > b->ns ? 1 : -1;
  return a->bytes != b->bytes ? (a->bytes > b->bytes ? 1 : -1) : 0;
}

static bool list_sets(proof *p, int64_t max_sets) {
  const stage_network *x = p->x;
  int64_t room = 64;
  p->n = 1;
  p->set = calloc((size_t)(room * x->n_layers), sizeof *p->set);
  for (int32_t k = x->n_layers - 1; p->set && k >= 0; k--)
    for (int32_t i = 0, n = p->n, v = x->order[k]; i < n; i++) {
      bool may = true;
      p->n_steps += 1 + (x->edge_start[v + 1] - x->edge_start[v]) / SCANNED;
      if (p->n_steps > p->max_steps) return false;
      for (int32_t j = x->edge_start[v]; j < x->edge_start[v + 1]; j++)
        may &= x->from[x->edge[j]] != v || p->set[(int64_t)i * x->n_layers + x->to[x->edge[j]]];
      if (!may) continue;
      if (p->n >= max_sets || (p->n == room && !array_resize(&p->set, (room *= 2) * x->n_layers, sizeof *p->set)))
        return false;
      const bool *old = &p->set[(int64_t)i * x->n_layers];
      bool *made = &p->set[(int64_t)p->n++ * x->n_layers];
      for (int32_t w = 0; w < x->n_layers; w++) made[w] = old[w] || w == v;
    }
  return p->set != NULL;
}

/* Whether the layers inside fit into memory and max_ns on n replicas of a degree that keep so many inputs each: all
 * choices that no other one beats in time and memory, layer by layer. */
static bool fits(proof *p, int32_t g, int64_t n, int64_t n_kept) {
  const stage_network *x = p->x;
  int64_t n_found = 1;
  p->n_steps += 1 + x->n_layers / SCANNED;
  p->found[0] = (choice){0};
  for (int32_t v = 0; v < x->n_layers; v++) {
    int64_t n_next = 0, at = (int64_t)v * x->n_degrees + g;
    if (!p->inside[v]) continue;
    for (int32_t i = x->variant_start[at]; i < x->variant_start[at + 1]; i++) {
      const stage_variant *w = &x->variant[i];
      int64_t ns = time_of(x, p->r, v, w, n, p->inside);
      p->n_steps += 1 + (x->edge_start[v + 1] - x->edge_start[v]) / SCANNED;
      if (ns >= STAGE_NEVER_NS || !is_allowed(p->r, w, x->degree[g])) continue;
      for (int64_t j = 0; j < n_found && n_next < MAX_CHOICES; j++) {
        choice c = {sat_add(p->found[j].ns, ns), p->found[j].bytes + size_of(w, n_kept)};
        if (c.bytes <= p->r->machine.memory_bytes && round_up(c.ns, n) <= p->max_ns) p->next[n_next++] = c;
      }
    }
    p->n_steps += n_next;
    if (n_next == MAX_CHOICES) p->n_steps = p->max_steps + 1;
    qsort(p->next, (size_t)n_next, sizeof *p->next, compare_choices);
    n_found = 0;
    for (int64_t j = 0; j < n_next; j++)
      if (n_found == 0 || p->next[j].bytes < p->found[n_found - 1].bytes) p->found[n_found++] = p->next[j];
  }
  return n_found > 0;
}

/* A stage of n replicas and this degree before all plans of `rest`. */
static void try_stage(proof *p, int32_t all, int32_t rest, int32_t g, int64_t n) {
  int64_t fitting = 0, too_many = INT64_MAX, own = n * p->x->degree[g];
  for (int64_t k = own; k <= p->n_devices && p->n_steps++ <= p->max_steps; k++) {
    int64_t after = p->least[(int64_t)rest * (p->n_devices + 1) + k - own];
    int32_t *best = &p->least[(int64_t)all * (p->n_devices + 1) + k];
    if (after == NONE || after + n > p->r->machine.n_inputs || after + n >= *best) continue;
    int64_t n_kept = round_up(after + n, n);
    if (n_kept > fitting && n_kept < too_many) {
      if (fits(p, g, n, n_kept))
        fitting = n_kept;
      else
        too_many = n_kept;
    }
    if (n_kept <= fitting) *best = (int32_t)(after + n);
  }
}

static void try_stages(proof *p, int32_t all, int32_t rest) {
  const stage_network *x = p->x;
  const bool *outer = &p->set[(int64_t)all * x->n_layers], *inner = &p->set[(int64_t)rest * x->n_layers];
  p->n_steps += x->n_layers;
  for (int32_t v = 0; v < x->n_layers; v++) {
    p->inside[v] = outer[v] && !inner[v];
    if (inner[v] && !outer[v]) return;
  }
  for (int32_t g = 0; g < x->n_degrees; g++) {
    p->n_steps += 1 + p->n_devices / x->degree[g] / SCANNED;
    for (int64_t n = 1; n * x->degree[g] <= p->n_devices && p->n_steps <= p->max_steps; n++)
      if (may_replicate(p->r, n) && fits(p, g, n, 1)) try_stage(p, all, rest, g, n);
  }
}

check_stages_finding check_stages_bound(const stage_network *x, const stage_rules *r, int64_t lower_ns,
                                        int64_t max_steps) {
  proof p = {
      .x = x, .r = r, .max_ns = lower_ns - 1, .max_steps = max_steps, .n_devices = (int32_t)r->machine.n_devices};
  int64_t max_sets = min64(max_steps, (int64_t)1 << 26) / (x->n_layers + p.n_devices + 1), n_cells = 0;
  check_stages_finding finding = STAGES_TOO_MANY;
  if (lower_ns <= 1) return STAGES_PROVED;
  p.inside = calloc((size_t)x->n_layers, sizeof *p.inside);
  p.found = malloc(MAX_CHOICES * sizeof *p.found);
  p.next = malloc(MAX_CHOICES * sizeof *p.next);
  if (p.inside && p.found && p.next && list_sets(&p, max_sets)) {
    n_cells = (int64_t)p.n * (p.n_devices + 1);
    p.least = malloc((size_t)n_cells * sizeof *p.least);
  }
  for (int64_t i = 0; p.least && i < n_cells; i++) p.least[i] = i <= p.n_devices ? 0 : NONE;
  for (int32_t all = 1; p.least && all < p.n; all++)
    for (int32_t rest = 0; rest < all && p.n_steps <= max_steps; rest++) try_stages(&p, all, rest);
  if (p.least && p.n_steps <= max_steps) finding = p.least[n_cells - 1] == NONE ? STAGES_PROVED : STAGES_REFUTED;
  free(p.inside);
  free(p.found);
  free(p.next);
  free(p.set);
  free(p.least);
  return finding;
}
