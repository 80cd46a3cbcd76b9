#include "solve/pipeline/stage_space.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"

bool stage_space_serves(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_PIPELINE && !p->replicate && p->n_phases == 1 &&
         p->communication == SITU_COMMUNICATION_HOST_STAGED && stages_serve(p);
}

/* Whether the maximum sum of all loads is small enough. */
static bool fits(const stages *s, int32_t n_stages) {
  for (int32_t t = 0; t < s->n_types; t++) {
    int64_t sum = 0;
    for (int32_t v = 0; v < s->n; v++)
      if (s->time_ns[(int64_t)t * s->n + v] != SITU_NEVER_NS) sum = sat_add(sum, s->time_ns[(int64_t)t * s->n + v]);
    for (int32_t e = 0; e < s->n_edges; e++) {
      int64_t in_ns = s->in_ns[(int64_t)t * s->n_edges + e], out_ns = s->out_ns[(int64_t)t * s->n_edges + e];
      sum = sat_add(sum, sat_mul(sat_add(in_ns, out_ns), n_stages));
    }
    if (sum > STAGE_MAX_NS) return false;
  }
  return true;
}

/* Lists all sequences that begin with `now` and go on with the devices left of each type. */
static void list_sequences(stage_space *g, device_sequence *now, int32_t *left) {
  bool complete = true;
  for (int32_t t = 0; t < g->s->n_types; t++) {
    if (left[t] == 0) continue;
    complete = false;
    left[t]--;
    now->type[now->n++] = t;
    if (g->n_sequences <= STAGE_MAX_SEQUENCES) list_sequences(g, now, left);
    now->n--;
    left[t]++;
  }
  if (!complete) return;
  if (g->n_sequences < STAGE_MAX_SEQUENCES) g->sequences[g->n_sequences] = *now;
  g->n_sequences++;
}

/* The only sequence where order does not matter. */
static void list_devices(stage_space *g) {
  device_sequence *all = &g->sequences[g->n_sequences++];
  *all = (device_sequence){0};
  for (int32_t t = 0; t < g->s->n_types; t++)
    for (int32_t i = 0; i < g->s->types[t].n_devices; i++) all->type[all->n++] = t;
}

static void find_around(stage_space *g) {
  const stages *s = g->s;
  for (int32_t v = 0; v < s->n; v++) {
    uint64_t *mine = g->before + (int64_t)v * s->n_words;
    for (int32_t i = g->order.start[v]; i < g->order.start[v + 1]; i++) {
      int32_t u = g->order.before[i];
      const uint64_t *its = g->before + (int64_t)u * s->n_words;
      for (int32_t k = 0; k <= u / 64; k++) mine[k] |= its[k];
      mine[u / 64] |= 1ull << (u % 64);
    }
  }
  for (int32_t v = s->n - 1; v >= 0; v--) {
    const uint64_t *mine = g->after + (int64_t)v * s->n_words;
    for (int32_t i = g->order.start[v]; i < g->order.start[v + 1]; i++) {
      uint64_t *its = g->after + (int64_t)g->order.before[i] * s->n_words;
      for (int32_t k = v / 64; k < s->n_words; k++) its[k] |= mine[k];
      its[v / 64] |= 1ull << (v % 64);
    }
  }
}

bool stage_space_init(stage_space *g, const stages *s, arena *a) {
  REQUIRE(!s->too_large);
  int32_t n_stages = 0, left[STAGES_MAX];
  *g = (stage_space){.s = s};
  for (int32_t t = 0; t < s->n_types; t++) n_stages += s->types[t].n_devices;
  if (n_stages > STAGES_MAX || s->n_types > STAGES_MAX || s->n > STAGE_MAX_CLASSES || s->n < 1 || !fits(s, n_stages))
    return true;
  int64_t words = (int64_t)s->n * s->n_words;
  if (!ARENA_ARRAYS(a, ARRAY(g->sequences, STAGE_MAX_SEQUENCES), ZEROS(g->before, words), ZEROS(g->after, words),
                    ARRAY(g->in_word, s->n_words), ARRAY(g->up, s->n), ARRAY(g->down, s->n), ARRAY(g->min, s->n)) ||
      !stage_order_find(&g->order, s, a))
    return false;
  for (int32_t t = 0; t < s->n_types; t++) left[t] = s->types[t].n_devices;
  find_around(g);
  if (s->free) {
    list_devices(g);
    memset(g->order.start, 0, ((size_t)s->n + 1) * sizeof *g->order.start);
    return true;
  }
  list_sequences(g, &(device_sequence){0}, left);
  if (g->n_sequences > STAGE_MAX_SEQUENCES) g->n_sequences = 0;
  return true;
}

void stage_space_open(const stage_space *g, const device_sequence *sequence, int64_t max_ns, uint16_t *may,
                      uint16_t *held) {
  const stages *s = g->s;
  memset(held, 0, (size_t)s->n_edges * sizeof *held);
  for (int32_t v = 0; v < s->n; v++) {
    may[v] = 0;
    for (int32_t k = 0; k < sequence->n; k++)
      if (s->time_ns[(int64_t)sequence->type[k] * s->n + v] <= max_ns) may[v] |= (uint16_t)(1u << k);
  }
}

bool stage_space_tighten(const stage_space *g, uint16_t *may, const uint16_t *held) {
  const stages *s = g->s;
  const int32_t *start = g->order.start, *before = g->order.before;
  for (int32_t v = 0; v < s->n; v++) { /* not before its predecessors */
    for (int32_t i = start[v]; i < start[v + 1]; i++) {
      uint16_t first = may[before[i]];
      may[v] &= (uint16_t) ~((first & -first) - 1);
    }
    if (!may[v]) return false;
  }
  for (int32_t v = s->n - 1; v >= 0; v--) { /* not after its successors */
    if (!may[v]) return false;
    uint16_t upto = (uint16_t)((2u << (31 - __builtin_clz(may[v]))) - 1);
    for (int32_t i = start[v]; i < start[v + 1]; i++) may[before[i]] &= upto;
  }
  for (int32_t e = 0; e < s->n_edges; e++) {
    uint16_t possible = 0;
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) possible |= may[s->pin[i]];
    if (held[e] & ~possible) return false;
  }
  return true;
}

/* The sum of min over a set of classes, by its complement in words that are mostly set. */
static int64_t sum_over(const stage_space *g, const uint64_t *set) {
  int64_t sum = 0;
  for (int32_t k = 0; k < g->s->n_words; k++) {
    if (set[k] == 0) continue;
    bool dense = __builtin_popcountll(set[k]) > 32;
    const int64_t *min = g->min + (int64_t)k * 64;
    int64_t part = 0;
    uint64_t all = k + 1 < g->s->n_words || g->s->n % 64 == 0 ? ~0ull : (1ull << (g->s->n % 64)) - 1;
    for (uint64_t left = dense ? all & ~set[k] : set[k]; left; left &= left - 1) part += min[__builtin_ctzll(left)];
    sum += dense ? g->in_word[k] - part : part;
  }
  return sum;
}

/* Sums min over the predecessors and successors of each undecided class. */
static void sum_around(stage_space *g, const uint16_t *may) {
  const stages *s = g->s;
  for (int32_t k = 0; k < s->n_words; k++) g->in_word[k] = 0;
  for (int32_t v = 0; v < s->n; v++) g->in_word[v / 64] += g->min[v];
  for (int32_t v = 0; v < s->n; v++) {
    if (!(may[v] & (may[v] - 1))) continue;
    g->up[v] = sum_over(g, g->before + (int64_t)v * s->n_words);
    g->down[v] = sum_over(g, g->after + (int64_t)v * s->n_words);
  }
}

void stage_space_weigh(stage_space *g, const device_sequence *sequence, const uint16_t *may) {
  const stages *s = g->s;
  for (int32_t v = 0; v < s->n; v++) {
    g->min[v] = may[v] & (may[v] - 1) ? INT64_MAX : 0;
    for (uint32_t left = may[v]; left; left &= left - 1)
      g->min[v] = min64(g->min[v], s->time_ns[(int64_t)sequence->type[__builtin_ctz(left)] * s->n + v]);
  }
  sum_around(g, may);
}

bool stage_space_drop(stage_space *g, const device_sequence *sequence, const stage_price *price, int64_t max_ns,
                      uint16_t *may, const uint16_t *held) {
  const stages *s = g->s;
  int64_t upto[STAGES_MAX + 1] = {0};
  if (s->free) return stage_space_tighten(g, may, held); /* nothing is before or after a class */
  for (int32_t k = 0; k < sequence->n; k++) upto[k + 1] = upto[k] + price->compute[k] * max_ns;
  for (int32_t v = 0; v < s->n; v++) {
    g->min[v] = INT64_MAX;
    for (uint32_t left = may[v]; left; left &= left - 1) {
      int32_t k = __builtin_ctz(left);
      g->min[v] = min64(g->min[v], price->compute[k] * s->time_ns[(int64_t)sequence->type[k] * s->n + v]);
    }
  }
  sum_around(g, may);
  for (int32_t v = 0; v < s->n; v++)
    for (uint32_t left = may[v] & (may[v] - 1) ? may[v] : 0; left; left &= left - 1) {
      int32_t k = __builtin_ctz(left);
      int64_t own = price->compute[k] * s->time_ns[(int64_t)sequence->type[k] * s->n + v];
      if (g->up[v] + own > upto[k + 1] || g->down[v] + own > upto[sequence->n] - upto[k])
        may[v] &= (uint16_t) ~(1u << k);
    }
  return stage_space_tighten(g, may, held);
}

bool stage_space_alike(const stage_space *g, int32_t a, int32_t b, const uint16_t *may, const uint16_t *held) {
  for (int32_t v = 0; v < g->s->n; v++)
    if ((may[v] >> a & 1) != (may[v] >> b & 1)) return false;
  for (int32_t e = 0; e < g->s->n_edges; e++)
    if ((held[e] >> a & 1) != (held[e] >> b & 1)) return false;
  return true;
}

void stage_space_break_symmetry(const stage_space *g, const device_sequence *sequence, int32_t v, uint16_t *may,
                                const uint16_t *held) {
  if (!g->s->free) return;
  uint16_t drop = 0;
  for (int32_t k = 1; k < sequence->n; k++)
    for (int32_t j = 0; j < k && (may[v] >> k & 1) && !(drop >> k & 1); j++)
      if (sequence->type[j] == sequence->type[k] && (may[v] >> j & 1) && stage_space_alike(g, j, k, may, held))
        drop |= (uint16_t)(1u << k);
  may[v] &= (uint16_t)~drop;
}

int64_t stage_period(const stages *s, const device_sequence *sequence, const stage_cost *loads) {
  int64_t max_ns = 0;
  for (int32_t k = 0; k < sequence->n; k++) max_ns = max64(max_ns, stages_load(s, &loads[k]));
  return max_ns;
}

situ_status stage_offer(solve_run *run, const stages *s, const device_sequence *sequence, const uint8_t *stage) {
  for (int32_t v = 0; v < s->n; v++) REQUIRE(stage[v] < sequence->n);
  arena_mark mark = arena_get_mark(run->arena);
  int32_t device_at[STAGES_MAX], taken[STAGES_MAX] = {0};
  for (int32_t k = 0; k < sequence->n; k++) {
    ENSURE(taken[sequence->type[k]] < s->types[sequence->type[k]].n_devices);
    device_at[k] = s->types[sequence->type[k]].devices[taken[sequence->type[k]]++];
  }
  int32_t *device_of_class = ARENA_NEW(run->arena, int32_t, s->n);
  int32_t *device = ARENA_NEW(run->arena, int32_t, s->problem->n_operators);
  if (!device_of_class || !device) return fail_no_memory(run->error);
  for (int32_t v = 0; v < s->n; v++) device_of_class[s->class_at[v]] = device_at[stage[v]];
  contraction_expand(&s->classes, device_of_class, device);
  solve_offer(run, &(placement){.device = device});
  arena_release(run->arena, mark);
  return SITU_STATUS_OK;
}
