/* The judge of joins: an operator that starts on d by s has those before it on devices from which they are in time,
 * and those that must share d's memory take turns there. What is so for no smaller s is the least start; both ways.
 * docs/theory/bounds/joins.md. Sums of times saturate. What is subtracted is part of what it is taken from: an end that
 * is not never is a sum with the time that goes off, and a release is not after the start that is tried. */
#include "base/checked.h"
#include "check/check_certificate.h"

enum { DEVICES = 64 };
static const double WORK = 1e9;

/* The graph with its arrows as they are or turned round: those to x are first[x] .. first[x+1]. */
typedef struct arrows {
  int32_t *first, *from, *tensor;
  bool turned;
} arrows;

typedef struct look {
  const judge *j;
  arrows to;
  const bool *may;
  int64_t *end; /* [operator * devices] */
  int32_t n, devices, window;
  int32_t *near, *n_arrows,
      n_near;              /* the operators considered, nearest first; the number of arrows from them to each other and
                              v */
  int32_t *place, *open;   /* [n] place in near or -1; those that may come next */
  int64_t *first;          /* [n] of those, when they can start */
  int64_t *ends, *after;   /* [window * devices] of the operators considered */
  int64_t *release, *work; /* [window] of those that have no choice */
  int32_t twin[DEVICES];   /* the first device that differs from d in nothing but its name */
  bool *usable;            /* [window * devices] in time while nobody is held */
} look;

static int64_t sent(const look *l, int32_t t, int32_t a, int32_t b) {
  const int32_t *m = l->j->platform->memory_of;
  return judge_transfer_ns(l->j, t, m[l->to.turned ? b : a], m[l->to.turned ? a : b]);
}

static bool arrows_find(arrows *to, const judge *j, bool turned) {
  const situ_graph *g = j->graph;
  int32_t n = g->n_operators;
  *to = (arrows){.first = ARENA_ZERO(j->scratch, int32_t, (int64_t)n + 2),
                 .from = ARENA_NEW(j->scratch, int32_t, g->n_uses),
                 .tensor = ARENA_NEW(j->scratch, int32_t, g->n_uses),
                 .turned = turned};
  if (!to->first || !to->from || !to->tensor) return false;
  for (int fill = 0; fill < 2; fill++) { /* counted, then filled: first[x+1] runs along the arrows to x */
    for (int32_t t = 0; t < g->n_tensors; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t x = turned ? g->producer[t] : g->use[i], u = turned ? g->use[i] : g->producer[t];
        if (fill) to->from[to->first[x + 1]] = u;
        if (fill) to->tensor[to->first[x + 1]] = t;
        to->first[x + (fill ? 1 : 2)]++;
      }
    for (int32_t x = 0; x < n && !fill; x++) to->first[x + 2] += to->first[x + 1];
  }
  return true;
}

static bool comes_nearer(const look *l, int32_t x, int32_t y) { return l->to.turned ? x < y : x > y; }

/* The window of v: of those before v, or before one in the window, time and again the one of the latest first start. */
static void open_window(look *l, int32_t v) {
  int32_t n_open = 0, x = v;
  l->n_near = 0;
  for (;;) {
    for (int32_t i = l->to.first[x]; i < l->to.first[x + 1]; i++) {
      int32_t u = l->to.from[i];
      if (l->place[u] != -1) continue;
      l->place[u] = -2;
      l->open[n_open++] = u;
      l->first[u] = SITU_NEVER_NS;
      for (int32_t d = 0; d < l->devices; d++)
        if (l->may[(int64_t)u * l->devices + d])
          l->first[u] = min64(l->first[u], l->end[(int64_t)u * l->devices + d] - judge_time_ns(l->j, u, d));
    }
    if (n_open == 0 || l->n_near == l->window) break;
    int32_t at = 0;
    for (int32_t i = 1; i < n_open; i++) {
      int32_t u = l->open[i], best = l->open[at];
      if (l->first[u] > l->first[best] || (l->first[u] == l->first[best] && comes_nearer(l, u, best))) at = i;
    }
    x = l->open[at];
    l->open[at] = l->open[--n_open];
    int32_t k = l->n_near++; /* into its place by nearness */
    for (; k > 0 && comes_nearer(l, x, l->near[k - 1]); k--) l->near[k] = l->near[k - 1];
    l->near[k] = x;
  }
  while (n_open > 0) l->place[l->open[--n_open]] = -1;
  for (int32_t k = 0; k < l->n_near; k++) l->place[l->near[k]] = k;
}

static void count_arrows(look *l, int32_t to) {
  for (int32_t i = l->to.first[to]; i < l->to.first[to + 1]; i++)
    if (l->place[l->to.from[i]] >= 0) l->n_arrows[l->place[l->to.from[i]]]++;
}

/* When tensor t can be on d, by the ends of what makes it. */
static int64_t arrives(const look *l, const int64_t *ends, int32_t t, int32_t d) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t a = 0; a < l->devices; a++) min = min64(min, sat_add(ends[a], sent(l, t, a, d)));
  return min;
}

/* The ends of those in the window; with the one at `held` on device b, of those nearer to v by what they wait for. */
static void set_ends(look *l, int32_t held, int32_t b) {
  for (int32_t k = l->n_near - 1; k >= 0; k--)
    for (int32_t a = 0; a < l->devices; a++) {
      int64_t *own = &l->ends[k * l->devices + a], time = judge_time_ns(l->j, l->near[k], a);
      *own = l->end[(int64_t)l->near[k] * l->devices + a];
      if (k == held && a != b) *own = SITU_NEVER_NS;
      for (int32_t i = l->to.first[l->near[k]]; k < held && i < l->to.first[l->near[k] + 1]; i++) {
        int32_t from = l->place[l->to.from[i]];
        if (from >= 0 && *own != SITU_NEVER_NS)
          *own = max64(*own, sat_add(arrives(l, l->ends + from * l->devices, l->to.tensor[i], a), time));
      }
    }
}

static bool is_in_time(const look *l, int32_t k, int32_t a, int64_t s) {
  int64_t end = l->ends[k * l->devices + a];
  return end != SITU_NEVER_NS && sat_add(end, l->after[k * l->devices + a]) <= s;
}

/* What comes of x for those before it in the window, where x is v on the device `only` or, for only < 0, in the window
 * on the devices from which it is in time for s. */
static void hand_back(look *l, int32_t x, int32_t only, int64_t s) {
  for (int32_t i = l->to.first[x]; i < l->to.first[x + 1]; i++) {
    int32_t k = l->place[l->to.from[i]];
    for (int32_t a = 0; a < l->devices && k >= 0; a++) {
      int64_t min = only < 0 ? SITU_NEVER_NS : sent(l, l->to.tensor[i], a, only);
      for (int32_t b = 0; b < l->devices && only < 0; b++)
        if (is_in_time(l, l->place[x], b, s))
          min = min64(min, sat_add(sat_add(sent(l, l->to.tensor[i], a, b), judge_time_ns(l->j, x, b)),
                                   l->after[l->place[x] * l->devices + b]));
      l->after[k * l->devices + a] = max64(l->after[k * l->devices + a], min);
    }
  }
}

/* Whether the ends that are set allow it that v starts on d by s. */
static bool can_start(look *l, int32_t v, int32_t d, int64_t s) {
  const int32_t *memory_of = l->j->platform->memory_of;
  int32_t n = 0, turns = 0;
  for (int32_t e = 0; e < l->devices; e++) turns += memory_of[e] == memory_of[d];
  for (int32_t i = 0; i < l->n_near * l->devices; i++) l->after[i] = 0;
  hand_back(l, v, d, s);
  for (int32_t k = 0; k < l->n_near; k++) {
    bool any = false, elsewhere = false;
    l->release[n] = l->work[n] = SITU_NEVER_NS;
    for (int32_t a = 0; a < l->devices; a++) {
      if (!is_in_time(l, k, a, s)) continue;
      any = true;
      elsewhere |= memory_of[a] != memory_of[d];
      l->release[n] = min64(l->release[n], l->ends[k * l->devices + a] - judge_time_ns(l->j, l->near[k], a));
      l->work[n] = min64(l->work[n], judge_time_ns(l->j, l->near[k], a));
    }
    if (!any) return false;
    n += !elsewhere;
    hand_back(l, l->near[k], -1, s);
  }
  for (int32_t i = 0; i < n; i++) {
    int64_t sum = 0;
    for (int32_t k = 0; k < n; k++)
      if (l->release[k] >= l->release[i]) sum = sat_add(sum, l->work[k]);
    if (sum > sat_mul(turns, s - l->release[i])) return false;
  }
  return true;
}

/* The same, and each one of the window that several arrows leave may be somewhere. */
static bool can_start_with_all(look *l, int32_t v, int32_t d, int64_t s) {
  set_ends(l, -1, 0);
  if (!can_start(l, v, d, s)) return false;
  for (int32_t i = 0; i < l->n_near * l->devices; i++) l->usable[i] = is_in_time(l, i / l->devices, i % l->devices, s);
  for (int32_t k = 0; k < l->n_near; k++) {
    bool some = l->n_arrows[k] < 2;
    for (int32_t b = 0; b < l->devices && !some; b++) {
      if (!l->usable[k * l->devices + b]) continue;
      set_ends(l, k, b);
      some = can_start(l, v, d, s);
    }
    if (!some) return false;
  }
  return true;
}

static int64_t min_start(look *l, int32_t v, int32_t d, int64_t chain) {
  int64_t no = chain - 1, yes = chain;
  while (yes != SITU_NEVER_NS && !can_start_with_all(l, v, d, yes)) {
    int64_t by = yes - chain;
    no = yes;
    yes = sat_add(yes, sat_add(by, 1));
  }
  while (yes != SITU_NEVER_NS && yes - no > 1) {
    int64_t half = no + (yes - no) / 2;
    if (can_start_with_all(l, v, d, half))
      yes = half;
    else
      no = half;
  }
  return yes;
}

/* Whether d and e are equal in all respects. */
static bool are_twins(const look *l, int32_t d, int32_t e) {
  const situ_costs *c = l->j->problem->costs;
  const int32_t *m = l->j->platform->memory_of, *class_of = l->j->platform->class_of;
  int64_t n = c->n_memories;
  bool same = class_of[d] == class_of[e] && c->pair_kind[m[d] * n + m[e]] == c->pair_kind[m[e] * n + m[d]];
  for (int32_t f = 0; f < l->devices && same; f++)
    if (f != d && f != e)
      same = (m[f] == m[d]) == (m[f] == m[e]) && c->pair_kind[m[d] * n + m[f]] == c->pair_kind[m[e] * n + m[f]] &&
             c->pair_kind[m[f] * n + m[d]] == c->pair_kind[m[f] * n + m[e]];
  for (int32_t v = 0; v < l->n && same; v++)
    same = l->may[(int64_t)v * l->devices + d] == l->may[(int64_t)v * l->devices + e];
  return same;
}

static void find_twins(look *l) {
  for (int32_t d = 0; d < l->devices; d++) {
    l->twin[d] = d;
    for (int32_t e = d - 1; e >= 0; e--)
      if (l->twin[e] == e && are_twins(l, d, e)) l->twin[d] = e;
  }
}

/* From the inputs on (or the outputs); what may be anywhere can start at once. */
static void find_ends(look *l) {
  for (int32_t k = 0; k < l->n; k++) {
    int32_t v = l->to.turned ? l->n - 1 - k : k;
    open_window(l, v);
    for (int32_t i = 0; i < l->n_near; i++) l->n_arrows[i] = 0;
    for (int32_t i = -1; i < l->n_near; i++) count_arrows(l, i < 0 ? v : l->near[i]);
    for (int32_t d = 0; d < l->devices; d++) {
      int64_t *own = &l->end[(int64_t)v * l->devices + d];
      if (l->twin[d] != d) {
        *own = *(own - d + l->twin[d]);
        continue;
      }
      for (int32_t i = l->to.first[v]; i < l->to.first[v + 1]; i++)
        *own = max64(*own, arrives(l, l->end + (int64_t)l->to.from[i] * l->devices, l->to.tensor[i], d));
      if (l->may[(int64_t)v * l->devices + d])
        *own = sat_add(min_start(l, v, d, *own), judge_time_ns(l->j, v, d));
      else
        *own = SITU_NEVER_NS;
    }
    for (int32_t i = 0; i < l->n_near; i++) l->place[l->near[i]] = -1;
  }
}

bool check_joins_are_short(int64_t window, const judge *j) {
  double devices = j->problem->n_devices;
  return devices <= DEVICES &&
         (double)(j->graph->n_operators + j->graph->n_uses) * devices * devices * devices * (double)window <= WORK;
}

bool check_joins(int64_t *head, int64_t *tail, const bool *may, int32_t window, const judge *j) {
  arena *a = j->scratch;
  int32_t n = j->graph->n_operators, devices = j->problem->n_devices;
  look l = {.j = j, .may = may, .n = n, .devices = devices, .window = window};
  if (!ARENA_ARRAYS(a, ARRAY(l.near, window), ARRAY(l.n_arrows, window), ARRAY(l.place, n), ARRAY(l.open, n),
                    ARRAY(l.first, n), ARRAY(l.ends, (int64_t)window * devices),
                    ARRAY(l.after, (int64_t)window * devices), ARRAY(l.usable, (int64_t)window * devices),
                    ARRAY(l.release, window), ARRAY(l.work, window)))
    return false;
  for (int32_t v = 0; v < n; v++) l.place[v] = -1;
  for (int64_t i = 0; i < (int64_t)n * devices; i++) head[i] = tail[i] = 0;
  find_twins(&l);
  for (int turned = 0; turned < 2; turned++) {
    if (!arrows_find(&l.to, j, turned)) return false;
    l.end = turned ? tail : head;
    find_ends(&l);
  }
  for (int64_t i = 0; i < (int64_t)n * devices; i++)
    if (tail[i] != SITU_NEVER_NS) tail[i] -= judge_time_ns(j, (int32_t)(i / devices), (int32_t)(i % devices));
  return true;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  const int64_t *window = certificate_get(c, "window", 1);
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (!check_joins_are_short(*window, j)) return SITU_STATUS_OK;
  return check_operator(proved_ns, j, c, check_joins, (int32_t)*window, error);
}

const certificate_rule join_rule = {.kind = "join", .models = MODEL_STREAM, .prove = prove};
