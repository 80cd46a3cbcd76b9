/* Side cut, for pipelines that are staged through the host: area_price with the transfers between two sides.
 *
 * Let the memories be parted into an inner and an outer side, and s_v be 1 for operators of the inner one. At prices
 * u_d >= 0 of a nanosecond of each device, a tensor whose producer is inside and one of whose users is not adds at
 * least out = (the minimum price of leaving a device inside) + (that of entering one outside) to the priced loads; one
 * that crosses in the other direction at least in, likewise. So for f, g >= 0 of its uses i with sum f_i <= out and
 * sum g_i <= in
 *
 *     what it adds  >=  sum over i of f_i (s_producer - s_i) + g_i (s_i - s_producer),
 *
 * and, with prices y >= 0 of a byte of each memory, every plan of period T has
 *
 *     T sum of u  >=  sum over items of min over d of (u_d p(item,d) + y_m(d) w(item) + [d inside] h_item)
 *                     -  sum of y_m cap_m,
 *
 * h collecting what f and g give the operators of an item. For given prices the best f and g are a maximum flow; the
 * right side over the sum of u is quasi-concave in the prices, which are improved one by one.
 * docs/theory/bounds/side_cut.md. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/max_flow.h"
#include "bound/area_search.h"
#include "bound/bound.h"

enum { BYTE_BITS = 20, MAX_SIDES = 8, MAX_SWEEPS = 3, MAX_STEPS = 12, MAX_ARCS = 1 << 21 };
static const int64_t MAX_TIME_PRICE = (int64_t)1 << 24, MAX_BYTE_PRICE = (int64_t)1 << 52;
static const double MAX_PRICED = 0x1p57; /* all that one price list charges: flows stay below MAX_FLOW_ENDLESS */
static const double STEP = 2, CLOSE = 1e-6, GAINED = 1e-5;
static const int64_t FAR = (int64_t)1 << 58; /* where an item cannot be */

typedef struct side_search {
  const situ_problem *problem;
  const situ_graph *graph;
  arena *arena;
  budget *budget;
  items all;
  int32_t n;                   /* prices: of the sorts of devices, then of the rooms */
  double *price, *use;         /* [n] being tried; what the cut uses at them */
  double max_time_price;       /* as an integer */
  int64_t *time, *byte;        /* [column], [room] the prices as integers; a byte's in 2^-20 */
  bool *inside;                /* [room] */
  int64_t *in_cost, *out_cost; /* [item] its minimum priced cost inside and outside; FAR where it cannot be */
  int64_t *shift;              /* [item] h */
  int32_t *out_arc, *in_arc;   /* [use] */
  int64_t *out, *in;           /* [use] f and g */
  max_flow flow;
  int64_t best_ns; /* the best bound, and what proves it: */
  double *best_price;
  int64_t *best_time, *best_byte, *best_out, *best_in;
  bool *best_inside;
} side_search;

/* Integers for the prices; the highest one of time is max_time_price. False if no time has a price. */
static bool make_whole(side_search *s) {
  const items *all = &s->all;
  double max = 0;
  for (int32_t k = 0; k < all->n_columns; k++)
    if (all->devices[k] > 0) max = fmax(max, s->price[k]);
  if (!(max > 0)) return false;
  for (int32_t k = 0; k < all->n_columns; k++)
    s->time[k] = all->devices[k] > 0 ? (int64_t)(s->price[k] / max * s->max_time_price) : 0;
  for (int32_t r = 0; r < all->n_rooms; r++) {
    double y = s->price[all->n_columns + r] / max * s->max_time_price * (1 << BYTE_BITS);
    s->byte[r] = all->room_bytes[r] == SITU_UNLIMITED_BYTES ? 0
                 : y < (double)MAX_BYTE_PRICE               ? (int64_t)y
                                                            : MAX_BYTE_PRICE;
  }
  return true;
}

/* The price of an item at column k without shares, in 2^-20; < 0 where it cannot be. */
static __int128 price_at(const side_search *s, int32_t i, int32_t k) {
  int64_t time_ns = s->all.time_ns[(int64_t)i * s->all.n_columns + k];
  if (time_ns == SITU_NEVER_NS || s->all.devices[k] == 0) return -1;
  return ((__int128)time_ns * s->time[k] << BYTE_BITS) + (__int128)s->all.weight_bytes[i] * s->byte[s->all.room_of[k]];
}

static void price_items(side_search *s) {
  for (int32_t i = 0; i < s->all.n; i++) {
    s->in_cost[i] = s->out_cost[i] = FAR;
    for (int32_t k = 0; k < s->all.n_columns; k++) {
      __int128 price = price_at(s, i, k) >> BYTE_BITS;
      if (price < 0) continue;
      int64_t *min = s->inside[s->all.room_of[k]] ? &s->in_cost[i] : &s->out_cost[i];
      if (price < *min) *min = (int64_t)price;
    }
  }
}

/* What tensor t pays at least to leave one side (`from_inside`: the inner one) and to enter the other; unless use is
 * NULL, what it takes of a sort of devices is added to use[column]. */
static int64_t crossing(const side_search *s, int32_t t, bool from_inside, double *use) {
  const situ_problem *p = s->problem;
  int64_t price[2] = {INT64_MAX, INT64_MAX}, taken_ns[2] = {0, 0};
  int32_t at[2] = {0, 0};
  for (int32_t d = 0; d < p->n_devices && (price[0] > 0 || price[1] > 0); d++) {
    int32_t k = s->all.column_of[d];
    if (k < 0 || p->unused[d]) continue;
    bool enters = s->inside[s->all.room_of[k]] != from_inside;
    int64_t ns = problem_is_host(p, d) ? 0
                 : enters              ? problem_transfer_ns(p, t, p->host, d)
                                       : problem_transfer_ns(p, t, d, p->host);
    if (ns * s->time[k] >= price[enters]) continue;
    price[enters] = ns * s->time[k];
    taken_ns[enters] = ns;
    at[enters] = k;
  }
  if (price[0] == INT64_MAX || price[1] == INT64_MAX) return 0;
  for (int32_t i = 0; i < 2 && use; i++) use[at[i]] += (double)taken_ns[i];
  return price[0] + price[1];
}

/* Builds the network: an item on the side of the source is inside. */
static void build(side_search *s) {
  const situ_graph *g = s->graph;
  const int32_t *of = s->problem->units.of;
  int32_t n = s->all.n, source = n, sink = n + 1, node = n + 2;
  max_flow_clear(&s->flow, n + 2 + 2 * g->n_tensors);
  for (int32_t i = 0; i < n; i++) {
    int64_t min = min64(s->in_cost[i], s->out_cost[i]); /* common to all cuts */
    max_flow_add(&s->flow, source, i, s->out_cost[i] - min);
    max_flow_add(&s->flow, i, sink, s->in_cost[i] - min);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    if (g->use_start[t] == g->use_start[t + 1]) continue; /* never crosses, and prices do not allow for its size */
    int32_t from = of[g->producer[t]], leaving = node++, entering = node++;
    int64_t out = crossing(s, t, true, NULL), in = crossing(s, t, false, NULL);
    if (out > 0) max_flow_add(&s->flow, from, leaving, out);
    if (in > 0) max_flow_add(&s->flow, entering, from, in);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = of[g->use[i]];
      s->out_arc[i] = to != from && out > 0 ? max_flow_add(&s->flow, leaving, to, MAX_FLOW_ENDLESS) : -1;
      s->in_arc[i] = to != from && in > 0 ? max_flow_add(&s->flow, to, entering, MAX_FLOW_ENDLESS) : -1;
    }
  }
  (void)max_flow_run(&s->flow, source, sink, s->budget);
}

/* Reads f, g and h from the flow. */
static void share(side_search *s) {
  const situ_graph *g = s->graph;
  const int32_t *of = s->problem->units.of;
  for (int32_t i = 0; i < s->all.n; i++) s->shift[i] = 0;
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      s->out[i] = s->out_arc[i] < 0 ? 0 : max_flow_on(&s->flow, s->out_arc[i]);
      s->in[i] = s->in_arc[i] < 0 ? 0 : max_flow_on(&s->flow, s->in_arc[i]);
      s->shift[of[g->producer[t]]] += s->out[i] - s->in[i];
      s->shift[of[g->use[i]]] += s->in[i] - s->out[i];
    }
}

/* What prices and shares prove, exactly. */
static int64_t evaluate(const side_search *s) {
  const items *all = &s->all;
  __int128 sum = 0, divisor = 0;
  for (int32_t i = 0; i < all->n; i++) {
    __int128 min = -1;
    bool somewhere = false;
    for (int32_t k = 0; k < all->n_columns; k++) {
      __int128 price = price_at(s, i, k);
      if (price < 0) continue;
      if (s->inside[all->room_of[k]]) price += (__int128)s->shift[i] * (1 << BYTE_BITS);
      if (!somewhere || price < min) min = price;
      somewhere = true;
    }
    if (!somewhere) return 0; /* no plan exists; other bounds report that */
    sum += min;
  }
  for (int32_t r = 0; r < all->n_rooms; r++)
    if (s->byte[r] > 0) sum -= (__int128)s->byte[r] * all->room_bytes[r];
  for (int32_t k = 0; k < all->n_columns; k++) divisor += (__int128)s->time[k] * all->devices[k];
  divisor <<= BYTE_BITS;
  return sum <= 0 || divisor == 0 ? 0 : (int64_t)((sum + divisor - 1) / divisor);
}

#define COPY(to, from, count) memcpy((to), (from), (size_t)(count) * sizeof *(to))

/* Cuts at the current prices and keeps what proves more than before. */
static void cut(side_search *s) {
  if (!make_whole(s)) return;
  price_items(s);
  build(s);
  share(s);
  int64_t lower_ns = evaluate(s);
  if (lower_ns <= s->best_ns) return;
  s->best_ns = lower_ns;
  COPY(s->best_price, s->price, s->n);
  COPY(s->best_time, s->time, s->all.n_columns);
  COPY(s->best_byte, s->byte, s->all.n_rooms);
  COPY(s->best_inside, s->inside, s->all.n_rooms);
  COPY(s->best_out, s->out, s->graph->n_uses);
  COPY(s->best_in, s->in, s->graph->n_uses);
}

/* What the minimum cut uses of each sort and room: its items at their cheapest sorts, and its crossings. */
static void find_use(side_search *s) {
  const situ_graph *g = s->graph;
  const items *all = &s->all;
  const int32_t *of = s->problem->units.of;
  for (int32_t k = 0; k < s->n; k++) s->use[k] = 0;
  for (int32_t i = 0; i < all->n; i++) {
    __int128 min = -1;
    int32_t at = -1;
    for (int32_t k = 0; k < all->n_columns; k++) {
      __int128 price = price_at(s, i, k);
      if (price < 0 || s->inside[all->room_of[k]] != max_flow_with_source(&s->flow, i) || (at >= 0 && price >= min))
        continue;
      min = price;
      at = k;
    }
    if (at < 0) continue;
    s->use[at] += (double)all->time_ns[(int64_t)i * all->n_columns + at];
    s->use[all->n_columns + all->room_of[at]] += (double)all->weight_bytes[i];
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    bool from = max_flow_with_source(&s->flow, of[g->producer[t]]), crosses = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      crosses |= max_flow_with_source(&s->flow, of[g->use[i]]) != from;
    if (crosses) (void)crossing(s, t, from, s->use);
  }
}

/* A linear function of one price that no cut's numerator is above, and the bound there. */
typedef struct line {
  double at, slope, height, value; /* height: of the numerator at price 0 */
  bool rises;                      /* the bound grows with the price */
} line;

/* The cut at price x of k, the others being as they are. */
static line line_at(side_search *s, int32_t k, double x) {
  const items *all = &s->all;
  s->price[k] = x;
  cut(s);
  find_use(s);
  double sum = 0, divisor = 0;
  for (int32_t i = 0; i < s->n; i++) {
    bool room = i >= all->n_columns;
    if (room && all->room_bytes[i - all->n_columns] == SITU_UNLIMITED_BYTES) continue;
    sum += s->price[i] * (s->use[i] - (room ? (double)all->room_bytes[i - all->n_columns] : 0));
    divisor += room ? 0 : s->price[i] * all->devices[i];
  }
  bool room = k >= all->n_columns;
  line found = {.at = x, .value = sum / divisor};
  found.slope = s->use[k] - (room ? (double)all->room_bytes[k - all->n_columns] : 0);
  found.height = sum - found.slope * x;
  found.rises = found.slope > (room ? 0 : all->devices[k] * found.value);
  return found;
}

/* Improves one price: first a bracket, then where the lines of its ends meet, which no bound in it is above. */
static void improve_price(side_search *s, int32_t k) {
  line first = line_at(s, k, s->price[k]), other = first;
  for (int32_t i = 0; i < MAX_STEPS && other.rises == first.rises && !budget_over(s->budget); i++) {
    first = other;
    other = line_at(s, k, first.rises ? first.at * STEP : first.at / STEP);
  }
  line low = first.rises ? first : other, high = first.rises ? other : first;
  for (int32_t i = 0; i < MAX_STEPS && low.rises && !high.rises && !budget_over(s->budget); i++) {
    double x = (high.height - low.height) / (low.slope - high.slope);
    if (!(x > low.at * (1 + CLOSE) && x < high.at * (1 - CLOSE))) break;
    line middle = line_at(s, k, x);
    if (fabs(middle.height + middle.slope * x - low.height - low.slope * x) <
        CLOSE * fabs(middle.height + middle.slope * x))
      break;
    *(middle.rises ? &low : &high) = middle;
  }
}

/* Improves the prices one by one, from those given, for the side that is set. */
static void improve(side_search *s, const double *start) {
  int64_t before_ns = s->best_ns;
  int32_t n_priced = 0;
  COPY(s->price, start, s->n);
  for (int32_t k = 0; k < s->n; k++) n_priced += start[k] > 0;
  for (int32_t sweep = 0; sweep < MAX_SWEEPS && !budget_over(s->budget); sweep++) {
    int32_t n_seen = 0;
    for (int32_t k = 0; k < s->n; k++) {
      if (!(start[k] > 0) || n_seen++ == 0) continue; /* only their ratios matter */
      if (s->best_ns > before_ns) COPY(s->price, s->best_price, s->n);
      improve_price(s, k);
    }
    if (n_priced == 2 || (double)(s->best_ns - before_ns) < GAINED * (double)s->best_ns) break;
    before_ns = s->best_ns;
  }
}

static bool certify(const side_search *s, certificate *proof) {
  const situ_problem *p = s->problem;
  certificate_start(proof, "side_cut", s->best_ns);
  int64_t *inside = certificate_add(proof, "inside", p->n_memories, s->arena);
  int64_t *time = certificate_add(proof, "time_prices", p->n_devices, s->arena);
  int64_t *byte = certificate_add(proof, "byte_prices", p->n_memories, s->arena);
  int64_t *out = certificate_add(proof, "out", s->graph->n_uses, s->arena);
  int64_t *in = certificate_add(proof, "in", s->graph->n_uses, s->arena);
  if (!inside || !time || !byte || !out || !in) return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t k = s->all.column_of[d], m = p->memory_of[d];
    if (k < 0) continue;
    time[d] = s->best_time[k];
    byte[m] = s->best_byte[s->all.room_of[k]];
    inside[m] = s->best_inside[s->all.room_of[k]];
  }
  COPY(out, s->best_out, s->graph->n_uses);
  COPY(in, s->best_in, s->graph->n_uses);
  return true;
}

static int64_t arcs_of(const situ_problem *p) {
  return 2 * (p->units.n + (int64_t)p->graph->n_tensors + p->graph->n_uses);
}

static bool make(side_search *s) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int32_t n = s->all.n, columns = s->all.n_columns, rooms = s->all.n_rooms;
  s->n = columns + rooms;
  s->max_time_price = fmin((double)MAX_TIME_PRICE, fmax(1, MAX_PRICED / (double)problem_serial_ns(p, 1)));
  return ARENA_ARRAYS(s->arena, ARRAY(s->price, s->n), ARRAY(s->use, s->n), ARRAY(s->best_price, s->n),
                      ARRAY(s->time, columns), ARRAY(s->best_time, columns), ARRAY(s->byte, rooms),
                      ARRAY(s->best_byte, rooms), ARRAY(s->inside, rooms), ARRAY(s->best_inside, rooms)) &&
         ARENA_ARRAYS(s->arena, ARRAY(s->in_cost, n), ARRAY(s->out_cost, n), ARRAY(s->shift, n),
                      ARRAY(s->out_arc, g->n_uses), ARRAY(s->in_arc, g->n_uses), ARRAY(s->out, g->n_uses),
                      ARRAY(s->in, g->n_uses), ARRAY(s->best_out, g->n_uses), ARRAY(s->best_in, g->n_uses)) &&
         max_flow_new(&s->flow, n + 2 + 2 * g->n_tensors, (int32_t)arcs_of(p), s->arena);
}

/* Prices to start from: those of area_price. */
static bool start_prices(double **start, const side_search *s, situ_error *error, situ_status *status) {
  items merged;
  area_prices found;
  *start = NULL;
  *status = items_list(&merged, s->problem, s->arena, error);
  if (*status != SITU_STATUS_OK) return false;
  if (!area_search(&found, &merged, s->arena, s->budget) || !(*start = ARENA_NEW(s->arena, double, s->n))) return false;
  for (int32_t k = 0; k < s->n; k++)
    (*start)[k] = k < s->all.n_columns ? (double)found.time[k] : (double)found.byte[k - s->all.n_columns];
  return true;
}

static situ_status side_cut_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                    budget *b, situ_error *error) {
  side_search s = {.problem = p, .graph = p->graph, .arena = scratch, .budget = b};
  double *start;
  situ_status status;
  *lower_ns = 0;
  if (p->communication != SITU_COMMUNICATION_HOST_STAGED || p->async_copies || p->replicate || arcs_of(p) > MAX_ARCS)
    return SITU_STATUS_OK;
  TRY(items_list(&s.all, p, scratch, error));
  if (s.all.n_rooms < 2) return SITU_STATUS_OK;
  if (!make(&s)) return fail_no_memory(error);
  if (!start_prices(&start, &s, error, &status)) return status != SITU_STATUS_OK ? status : fail_no_memory(error);
  int32_t n_sides = s.all.n_rooms == 2 ? 1 : (int32_t)min64(s.all.n_rooms, MAX_SIDES);
  for (int32_t r = 0; r < n_sides && !budget_over(b); r++) {
    for (int32_t k = 0; k < s.all.n_rooms; k++) s.inside[k] = k == r;
    improve(&s, start);
  }
  *lower_ns = s.best_ns;
  return s.best_ns == 0 || certify(&s, proof) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound side_cut_bound = {
    .name = "side_cut",
    .title =
        "work and memory at optimal prices, with the transfers between two sides (pipelines staged through the host)",
    .source = "Stone 1977",
    .models = MODEL_PIPELINE,
    .compute = side_cut_compute,
};
