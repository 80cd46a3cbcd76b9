/* Ranges: units of a network that repeats itself, such as a stack of equal layers, merged along the repetition: the
 * same unit of consecutive layers becomes one. A plan of few layers, each stretched over many, is then a plan of few
 * units. Which units are the same is found by colour refinement (the coarsest classes of the row repeats), not from
 * names. */
#include "base/checked.h"
#include "base/csr.h"
#include "view/level.h"

enum { FEW_REPEATS = 8 }; /* a network that repeats itself less often has no ranges */

typedef struct repeats {
  const situ_problem *problem;
  const unit_list *fine;
  int32_t n;           /* how often the network repeats itself: the most common size of a class */
  int32_t *order;      /* [place] units in runs; a run is a class of alike units, along the network */
  bool *first;         /* [place] whether a run begins, or units whose pins are not those of the unit before */
  int32_t *at, *among; /* [place] the number of the unit in its run; the length of the run */
} repeats;

/* The size whose classes hold the most units; the smallest of these. units_of_size: [n_units + 1], all 0. */
static int32_t common_size(const int32_t *class_start, int32_t n_classes, int32_t *units_of_size, int32_t n_units) {
  int32_t best = 0;
  for (int32_t c = 0; c < n_classes; c++) {
    int32_t size = class_start[c + 1] - class_start[c];
    units_of_size[size] += size;
  }
  for (int32_t size = 1; size <= n_units; size++)
    if (units_of_size[size] > units_of_size[best]) best = size;
  return best;
}

static int32_t first_operator(const unit_list *units, int32_t u) { return unit_list_members(units, u).member[0]; }

/* The members of a class as `n_runs` runs, each of every n_runs-th. Returns the next free place. */
static int32_t add_class(repeats *r, const int32_t *member, int32_t n, int32_t n_runs, int32_t place) {
  const situ_problem *p = r->problem;
  for (int32_t run = 0; run < n_runs; run++)
    for (int32_t i = run; i < n; i += n_runs, place++) {
      int32_t pin = p->pin[first_operator(r->fine, member[i])];
      r->order[place] = member[i];
      r->at[place] = i / n_runs;
      r->among[place] = (n - run + n_runs - 1) / n_runs;
      r->first[place] = i == run || p->pin[first_operator(r->fine, member[i - n_runs])] != pin;
    }
  return place;
}

/* Finds what repeats; out->n is 0 if nothing does. A class with k times as many members (experts of a layer) becomes k
 * runs. */
static bool find_runs(repeats *out, const situ_problem *p, const unit_list *fine, arena *a) {
  int32_t n = fine->n, place = 0, *class_of, *class_start, *member, *units_of_size;
  level_list alike;
  *out = (repeats){.problem = p, .fine = fine};
  if (!level_repeats.find(&alike, p, &(level_request){.fine = fine}, a)) return false;
  if (alike.n == 0) return true;
  const unit_list *classes = &alike.of[alike.n - 1];
  if (!ARENA_ARRAYS(a, ARRAY(out->order, n), ARRAY(out->first, n), ARRAY(out->at, n), ARRAY(out->among, n),
                    ARRAY(class_of, n), ZEROS(units_of_size, n + 1)))
    return false;
  for (int32_t u = 0; u < n; u++) class_of[u] = classes->of[first_operator(fine, u)];
  if (!csr_by_key(&class_start, &member, class_of, n, classes->n, a)) return false;
  out->n = common_size(class_start, classes->n, units_of_size, n);
  for (int32_t c = 0; c < classes->n; c++) {
    int32_t size = class_start[c + 1] - class_start[c], n_runs = (size + out->n / 2) / out->n;
    place = add_class(out, member + class_start[c], size, n_runs > 1 ? n_runs : 1, place);
  }
  return true;
}

static int64_t range_of(const repeats *r, int32_t place, int32_t n_ranges) {
  return (int64_t)r->at[place] * n_ranges / r->among[place];
}

/* Divides each run into n_ranges equal ranges, and merges the units of a range. */
static bool merge(unit_list *out, const repeats *r, int32_t n_ranges, arena *a) {
  const situ_problem *p = r->problem;
  int32_t n = 0, *of, *key, *number;
  if (!ARENA_ARRAYS(a, ARRAY(of, r->fine->n), ARRAY(key, p->n_operators), ARRAY(number, r->fine->n))) return false;
  for (int32_t k = 0; k < r->fine->n; k++) {
    n += r->first[k] || range_of(r, k, n_ranges) != range_of(r, k - 1, n_ranges);
    of[r->order[k]] = n - 1;
  }
  for (int32_t v = 0; v < p->n_operators; v++) key[v] = of[r->fine->of[v]];
  n = csr_number_keys(key, key, p->n_operators, number, n);
  return unit_list_find(out, key, p->n_operators, n, a);
}

/* O(V + E), sorting aside. */
static bool ranges_find(level_list *out, const situ_problem *p, const level_request *request, arena *a) {
  repeats r;
  out->n = 0;
  if (!find_runs(&r, p, request->fine ? request->fine : &p->units, a)) return false;
  if (r.n < FEW_REPEATS) return true;
  int64_t n_ranges = r.n / 2;
  if (request->n_wanted > 0) n_ranges = min64(n_ranges, request->n_wanted);
  return merge(&out->of[out->n++], &r, (int32_t)n_ranges, a);
}

const level_row level_ranges = {
    .name = "ranges",
    .title = "the same unit of consecutive layers",
    .source = "Weisfeiler, Leman, 1968",
    .find = ranges_find,
};
