#include "graph/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bit_rows.h"
#include "base/compare.h"
#include "graph/topological.h"

enum { MAX_STEPS = 64, MAX_ROUNDS = 64, LONG_LIVED_SHARE = 3, MAX_PERIOD = 64, MAX_WORDS = 1 << 22 };

/* ---- A topological order in which an operator comes just before its first user ---- */

typedef struct late_order {
  int32_t *at, *place; /* operator at a place, place of an operator */
} late_order;

static bool find_order(late_order *out, const situ_graph *g, arena *a) {
  if (!ARENA_ARRAYS(a, ARRAY(out->at, g->n_operators), ARRAY(out->place, g->n_operators))) return false;
  if (!topological_late(out->at, g, a)) return false;
  for (int32_t i = 0; i < g->n_operators; i++) out->place[out->at[i]] = i;
  return true;
}

/* ---- Names ---- */

/* A step of a path: where it ends, where its number begins, or NULL without one. */
typedef struct path_step {
  const char *begin, *number, *end;
} path_step;

static bool separates(char c) { return c == '/' || c == '.' || c == ':'; }

/* Words whose numbers count other things than layers. */
static bool counts_other(const char *word, size_t length) {
  static const char *const words[] = {"step", "expert", "experts", "head", "heads", "branch", "time"};
  while (length > 0 && (word[length - 1] == '_' || word[length - 1] == '-')) length--;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strlen(words[i]) != length) continue;
    size_t k = 0;
    while (k < length && ascii_lower(word[k]) == words[i][k]) k++;
    if (k == length) return true;
  }
  return false;
}

/* The number at the end of a step, with one letter behind it at most ("Mixed_5d"); the word before has no digits. */
static const char *number_of(const char *begin, const char *end) {
  const char *at = end;
  if (at - begin > 1 && ascii_is_letter(at[-1]) && ascii_is_digit(at[-2])) at--;
  if (at == begin || !ascii_is_digit(at[-1])) return NULL;
  while (at > begin && ascii_is_digit(at[-1])) at--;
  for (const char *c = begin; c < at; c++)
    if (ascii_is_digit(*c)) return NULL;
  return counts_other(begin, (size_t)(at - begin)) ? NULL : at;
}

/* The steps of a path but its last, which names the operator itself. */
static int32_t split_path(path_step steps[MAX_STEPS], const char *name) {
  int32_t n = 0;
  const char *at = name;
  while (n < MAX_STEPS) {
    while (separates(*at)) at++;
    const char *begin = at;
    while (*at && !separates(*at)) at++;
    if (!*at) break;
    steps[n++] = (path_step){begin, number_of(begin, at), at};
  }
  return n;
}

typedef struct families {
  string_map *map; /* the path up to a number -> what follows; values index `number` */
  const char **number;
  int32_t *length; /* of that number */
  bool *several;
} families;

/* Whether a number directly below a layer's is part of it. */
static bool is_part(const path_step *s) {
  size_t length = (size_t)(s->number ? s->number - s->begin : 0);
  while (length > 0 && s->begin[length - 1] == '_') length--;
  return s->number && (length == 0 || (length == 4 && strncmp(s->begin, "unit", 4) == 0) ||
                       (length == 5 && strncmp(s->begin, "block", 5) == 0));
}

/* Notes each number in the path of an operator. */
static bool note_numbers(families *f, const char *name, arena *a) {
  path_step steps[MAX_STEPS];
  int32_t n = split_path(steps, name);
  for (int32_t i = 0; i < n; i++) {
    if (!steps[i].number) continue;
    const char *prefix = arena_string_n(a, name, (size_t)(steps[i].number - name));
    int64_t count = string_map_count(f->map), at = prefix ? string_map_put(f->map, prefix, count) : -1;
    int32_t length = (int32_t)(steps[i].end - steps[i].number);
    if (at < 0) return false;
    if (at == count) {
      f->number[at] = steps[i].number;
      f->length[at] = length;
      f->several[at] = false;
    } else if (f->length[at] != length || strncmp(f->number[at], steps[i].number, (size_t)length) != 0) {
      f->several[at] = true;
    }
  }
  return true;
}

/* How long the beginning of a name is that names its layer; 0 for none. */
static size_t layer_length(const families *f, const char *name, arena *a) {
  path_step steps[MAX_STEPS];
  int32_t n = split_path(steps, name);
  for (int32_t i = 0; i < n; i++) {
    if (!steps[i].number) continue;
    arena_mark mark = arena_get_mark(a);
    const char *prefix = arena_string_n(a, name, (size_t)(steps[i].number - name));
    int64_t at = prefix ? string_map_get(f->map, prefix) : -1;
    arena_release(a, mark);
    if (at < 0 || !f->several[at]) continue;
    const path_step *last = &steps[i + 1 < n && is_part(&steps[i + 1]) ? i + 1 : i];
    return (size_t)(last->end - name);
  }
  return 0;
}

/* Layers derived from names, not yet ordered. */
static bool read_names(layer_list *out, const situ_graph *g, arena *a) {
  int32_t n = g->n_operators;
  families f = {.map = string_map_new(a, 64)};
  string_map *layers = string_map_new(a, 64);
  int64_t max = (int64_t)n * 4 + MAX_STEPS; /* families: more are none of layers */
  if (!f.map || !layers ||
      !ARENA_ARRAYS(a, ARRAY(f.number, max), ARRAY(f.length, max), ARRAY(f.several, max), ARRAY(out->name, n)))
    return false;
  for (int32_t v = 0; v < n && string_map_count(f.map) < max - MAX_STEPS; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD && !note_numbers(&f, g->name[v], a)) return false;
  for (int32_t v = 0; v < n; v++) {
    size_t length = g->phase[v] == SITU_PHASE_FORWARD ? layer_length(&f, g->name[v], a) : 0;
    out->of[v] = -1;
    if (length == 0) continue;
    const char *name = arena_string_n(a, g->name[v], length);
    int64_t at = name ? string_map_put(layers, name, out->n) : -1;
    if (at < 0) return false;
    if (at == out->n) out->name[out->n++] = name;
    out->of[v] = (int32_t)at;
  }
  return true;
}

/* ---- Layers in the order of the network ---- */

typedef struct layer_place {
  int32_t layer, n, median;
} layer_place;

COMPARATOR(by_median, layer_place, UP(median) UP(layer))

/* Numbers the layers that have operators by the median place of these. */
static bool number_layers(layer_list *l, const situ_graph *g, const late_order *order, arena *a) {
  layer_place *places = ARENA_ZERO(a, layer_place, l->n);
  int32_t *number = ARENA_NEW(a, int32_t, l->n), *seen = ARENA_ZERO(a, int32_t, l->n), n_kept = 0;
  const char **name = ARENA_ZERO(a, const char *, l->n);
  if (!places || !number || !seen || !name) return false;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (l->of[v] >= 0) places[l->of[v]].n++;
  for (int32_t i = 0; i < g->n_operators; i++) {
    int32_t k = l->of[order->at[i]];
    if (k >= 0 && seen[k]++ == places[k].n / 2) places[k].median = i;
  }
  for (int32_t k = 0; k < l->n; k++) {
    number[k] = -1;
    places[k].layer = k;
    if (places[k].n == 0) places[k].median = INT32_MAX;
  }
  qsort(places, (size_t)l->n, sizeof *places, by_median);
  for (; n_kept < l->n && places[n_kept].n > 0; n_kept++) {
    number[places[n_kept].layer] = n_kept;
    name[n_kept] = l->name ? l->name[places[n_kept].layer] : NULL;
  }
  for (int32_t v = 0; v < g->n_operators; v++) l->of[v] = l->of[v] < 0 ? -1 : number[l->of[v]];
  l->name = name;
  l->n = n_kept;
  return true;
}

/* ---- Names that contradict the order ---- */

/* above[v]: the highest layer among v and its ancestors, -1 for none. below[v]: the lowest among v and its
 * descendants, n for none. */
static void find_ranges(const layer_list *l, const situ_graph *g, int32_t *above, int32_t *below) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    above[v] = l->of[v];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (above[u] > above[v]) above[v] = above[u];
    }
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    below[v] = l->of[v] >= 0 ? l->of[v] : l->n;
    for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
      if (below[g->use[i]] < below[v]) below[v] = below[g->use[i]];
  }
}

static bool contradicts(const layer_list *l, int32_t v, const int32_t *above, const int32_t *below) {
  return l->of[v] >= 0 && (above[v] > l->of[v] || below[v] < l->of[v]);
}

/* How many layers are in row v from `from` up to `end`. */
static int32_t count_bits(const bit_rows *r, int32_t v, int32_t from, int32_t end) {
  const uint64_t *row = r->bits + (int64_t)v * r->words;
  int32_t n = 0;
  for (int32_t w = from / 64; w * 64 < end; w++) {
    uint64_t bits = row[w];
    if (w == from / 64) bits &= ~(uint64_t)0 << from % 64;
    if (w == end / 64) bits &= ((uint64_t)1 << end % 64) - 1;
    n += __builtin_popcountll(bits);
  }
  return n;
}

static void join_words(uint64_t *into, const uint64_t *from, int64_t words) {
  for (int64_t i = 0; i < words; i++) into[i] |= from[i];
}

/* For each operator the number of layers on the wrong side of it; returns the maximum. */
static int32_t count_contradictions(int32_t *wrong, const layer_list *l, const situ_graph *g, bit_rows *up,
                                    bit_rows *down) {
  int32_t max = 0;
  int64_t words = up->words, all = (int64_t)g->n_operators * words;
  memset(up->bits, 0, (size_t)all * sizeof *up->bits);
  memset(down->bits, 0, (size_t)all * sizeof *down->bits);
  for (int32_t v = 0; v < g->n_operators; v++) {
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      join_words(up->bits + v * words, up->bits + g->producer[g->in[i]] * words, words);
    if (l->of[v] >= 0) bit_rows_add(up, v, l->of[v]);
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
      join_words(down->bits + v * words, down->bits + g->use[i] * words, words);
    if (l->of[v] >= 0) bit_rows_add(down, v, l->of[v]);
    wrong[v] = l->of[v] < 0 ? 0 : count_bits(down, v, 0, l->of[v]) + count_bits(up, v, l->of[v] + 1, l->n);
    if (wrong[v] > max) max = wrong[v];
  }
  return max;
}

/* Takes the layer from those whose names most layers contradict, until none does. False where that takes too long. */
static bool drop_wrong_names(layer_list *l, const situ_graph *g, int32_t *above, int32_t *below, bool *agree,
                             arena *a) {
  bit_rows up = {.words = l->n / 64 + 1}, down = up;
  int64_t words = (int64_t)g->n_operators * up.words;
  int32_t *wrong = NULL;
  *agree = false;
  for (int32_t round = 0; round < MAX_ROUNDS; round++) {
    bool any = false;
    find_ranges(l, g, above, below);
    for (int32_t v = 0; v < g->n_operators && !any; v++) any = contradicts(l, v, above, below);
    *agree = !any;
    if (!any || words > MAX_WORDS) return true;
    if (!wrong && !ARENA_ARRAYS(a, ARRAY(wrong, g->n_operators), ARRAY(up.bits, words), ARRAY(down.bits, words)))
      return false;
    int32_t max = count_contradictions(wrong, l, g, &up, &down);
    for (int32_t v = 0; v < g->n_operators; v++)
      if (wrong[v] == max) l->of[v] = -1;
  }
  return true;
}

static int32_t count_members(const layer_list *l, const situ_graph *g) {
  int32_t n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) n += l->of[v] >= 0;
  return n;
}

/* Layers by names; none where they contradict each other too often. */
static bool find_by_names(layer_list *l, const situ_graph *g, const late_order *order, arena *a) {
  int32_t *above, *below;
  bool agree;
  if (!ARENA_ARRAYS(a, ARRAY(above, g->n_operators), ARRAY(below, g->n_operators)) || !read_names(l, g, a) ||
      !number_layers(l, g, order, a) || !drop_wrong_names(l, g, above, below, &agree, a))
    return false;
  for (int32_t v = 0; v < g->n_operators; v++) { /* who follows from a layer and precedes one */
    if (!agree || g->phase[v] != SITU_PHASE_FORWARD)
      l->of[v] = -1;
    else if (l->of[v] < 0 && below[v] < l->n)
      l->of[v] = above[v];
  }
  return number_layers(l, g, order, a);
}

/* ---- Structure ---- */

typedef struct piece {
  int32_t begin, end; /* places */
  int32_t n_weighted;
  uint64_t hash; /* of kinds and weights of those that have weights, whatever their order */
} piece;

/* The pieces between places that at most one tensor's producer crosses, those without weights joined to the one before.
 * Returns how many. */
static int32_t cut_order(piece *pieces, const situ_graph *g, const late_order *order, int32_t *ends) {
  int32_t n = g->n_operators, n_pieces = 0, crossing = 0, begin = 0;
  memset(ends, 0, (size_t)n * sizeof *ends);
  for (int32_t i = 0; i < n; i++) {
    int32_t v = order->at[i], last = i;
    for (int64_t k = g->use_start[g->out_start[v]]; k < g->use_start[g->out_start[v + 1]]; k++)
      if (order->place[g->use[k]] > last) last = order->place[g->use[k]];
    crossing -= ends[i]; /* those last used here */
    if (last > i && last - i <= n / LONG_LIVED_SHARE) {
      crossing++;
      ends[last]++;
    }
    if (crossing > 1 && i + 1 < n) continue;
    piece p = {.begin = begin, .end = i + 1};
    for (int32_t k = begin; k <= i; k++) {
      int64_t about[2] = {g->kind[order->at[k]], g->weight_bytes[order->at[k]]};
      if (about[1] == 0) continue;
      p.n_weighted++;
      p.hash += hash_bytes(about, sizeof about, 0);
    }
    begin = i + 1;
    if (p.n_weighted > 0 || n_pieces == 0)
      pieces[n_pieces++] = p;
    else
      pieces[n_pieces - 1].end = p.end;
  }
  return n_pieces;
}

/* The period, in pieces, at which most pieces are like those one period on; the shortest of equals. 0 for none. */
static int32_t find_period(const piece *pieces, int32_t n) {
  int32_t best = 0, max = 0;
  for (int32_t q = 1; q <= n / 2 && q <= MAX_PERIOD; q++) {
    int32_t same = 0;
    for (int32_t i = 0; i + q < n; i++) same += pieces[i].hash == pieces[i + q].hash;
    if (same <= max) continue;
    max = same;
    best = q;
  }
  return best;
}

static void give_layer(layer_list *l, const situ_graph *g, const late_order *order, piece from, piece to) {
  for (int32_t i = from.begin; i < to.end; i++)
    if (g->phase[order->at[i]] == SITU_PHASE_FORWARD) l->of[order->at[i]] = l->n;
  l->n++;
}

static bool find_by_structure(layer_list *l, const situ_graph *g, const late_order *order, arena *a) {
  int32_t n = g->n_operators, *ends;
  piece *pieces;
  l->n = 0;
  l->name = NULL;
  for (int32_t v = 0; v < n; v++) l->of[v] = -1;
  if (!ARENA_ARRAYS(a, ARRAY(pieces, n), ARRAY(ends, n))) return false;
  int32_t n_pieces = cut_order(pieces, g, order, ends), q = find_period(pieces, n_pieces), blocks = 0;
  for (int32_t k = 0; k < n_pieces; k++) blocks += pieces[k].n_weighted > 1;
  for (int32_t k = 0; q == 1 && k < n_pieces; k++) /* blocks, or single operators with weights where there are none */
    if (pieces[k].n_weighted > (blocks > 1)) give_layer(l, g, order, pieces[k], pieces[k]);
  for (int32_t k = 0; q > 1 && k + q < n_pieces; k++) { /* runs of whole periods */
    int32_t run = 0;
    while (k + run + q < n_pieces && pieces[k + run].hash == pieces[k + run + q].hash) run++;
    if (run < q) continue;
    int32_t end = k + run / q * q + q;
    for (; k < end; k += q) give_layer(l, g, order, pieces[k], pieces[k + q - 1]);
    k--;
  }
  return number_layers(l, g, order, a);
}

/* ---- Both ---- */

static void find_before(layer_list *l, const situ_graph *g) {
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    l->before[v] = false;
    for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++)
      l->before[v] |= l->of[g->use[i]] >= 0 || l->before[g->use[i]];
  }
  for (int32_t v = 0; v < g->n_operators; v++) l->before[v] &= l->of[v] < 0;
}

bool layers_find(layer_list *out, const situ_graph *g, arena *a) {
  int32_t n = g->n_operators, n_forward = 0;
  layer_list built = {0};
  late_order order;
  *out = (layer_list){0};
  if (!ARENA_ARRAYS(a, ARRAY(out->of, n), ARRAY(built.of, n), ARRAY(out->before, n)) || !find_order(&order, g, a) ||
      !find_by_names(out, g, &order, a))
    return false;
  for (int32_t v = 0; v < n; v++) n_forward += g->phase[v] == SITU_PHASE_FORWARD;
  if (out->n < 2 || count_members(out, g) < n_forward / 2) {
    if (!find_by_structure(&built, g, &order, a)) return false;
    if (built.n > 1 && count_members(&built, g) > count_members(out, g)) {
      out->n = built.n;
      out->of = built.of;
      out->name = built.name;
    }
  }
  if (out->n < 2) { /* one layer is none */
    out->n = 0;
    for (int32_t v = 0; v < n; v++) out->of[v] = -1;
  }
  find_before(out, g);
  return true;
}
