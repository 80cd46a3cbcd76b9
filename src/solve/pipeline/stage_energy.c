#include "solve/pipeline/stage_energy.h"

#include <string.h>

#include "base/bit_rows.h"
#include "base/checked.h"
#include "base/contracts.h"

enum { MAX_RECEIVERS = 10 }; /* open stages of one tensor: 2^10 values */

static bool is_before(const stages *s, int32_t u, int32_t v) {
  return bits_have(s->predecessors + (int64_t)v * s->n_words, u);
}

static uint16_t stages_upto(int32_t k) { return (uint16_t)((2u << k) - 1); }

/* The priced cost of an edge that is made at stage `maker` and received at `holders`. */
static int64_t price_edge(const stage_energy *e, const stage_price *price, int32_t edge, uint16_t maker,
                          uint16_t holders) {
  const stages *s = e->s;
  int32_t made = __builtin_ctz(maker);
  int64_t sum = 0;
  holders &= (uint16_t)~maker;
  if (holders) sum += price->out[made] * s->out_ns[(int64_t)e->sequence->type[made] * s->n_edges + edge];
  for (uint32_t left = holders; left; left &= left - 1) {
    int32_t k = __builtin_ctz(left);
    sum += price->in[k] * s->in_ns[(int64_t)e->sequence->type[k] * s->n_edges + edge];
  }
  return sum;
}

static void add_edge(stage_cost *loads, const stages *s, const device_sequence *sequence, int32_t edge, int32_t made,
                     uint16_t holders) {
  holders &= (uint16_t) ~(1u << made);
  if (holders) loads[made].out_ns += s->out_ns[(int64_t)sequence->type[made] * s->n_edges + edge];
  for (uint32_t left = holders; left; left &= left - 1) {
    int32_t k = __builtin_ctz(left);
    loads[k].in_ns += s->in_ns[(int64_t)sequence->type[k] * s->n_edges + edge];
  }
}

void stage_loads(stage_cost *loads, const stages *s, const device_sequence *sequence, const uint8_t *stage,
                 const uint16_t *held) {
  for (int32_t k = 0; k < sequence->n; k++) loads[k] = (stage_cost){0};
  for (int32_t v = 0; v < s->n; v++)
    loads[stage[v]].compute_ns += s->time_ns[(int64_t)sequence->type[stage[v]] * s->n + v];
  for (int32_t e = 0; e < s->n_edges; e++) {
    uint32_t holders = held ? held[e] : 0;
    for (int32_t i = s->pin_start[e] + 1; i < s->pin_start[e + 1]; i++) holders |= 1u << stage[s->pin[i]];
    add_edge(loads, s, sequence, e, stage[s->pin[s->pin_start[e]]], (uint16_t)holders);
  }
}

/* The users of an edge, by whether their stage is decided. */
typedef struct edge_users {
  int32_t producer, n_open, first_open;
  uint16_t decided, open; /* stages of users */
  uint16_t unpaid;        /* stages that receive it at no cost */
  bool forward;           /* F goes from the producer to each open user */
} edge_users;

static uint16_t unpaid_stages(const stage_energy *e, int32_t edge) {
  uint32_t unpaid = 0;
  for (int32_t k = 0; k < e->sequence->n; k++)
    if (e->s->in_ns[(int64_t)e->sequence->type[k] * e->s->n_edges + edge] == 0) unpaid |= 1u << k;
  return (uint16_t)unpaid;
}

static edge_users find_users(const stage_energy *e, int32_t edge) {
  const stages *s = e->s;
  edge_users users = {
      .producer = s->pin[s->pin_start[edge]], .first_open = -1, .forward = true, .decided = e->held[edge]};
  for (int32_t i = s->pin_start[edge] + 1; i < s->pin_start[edge + 1]; i++) {
    int32_t u = s->pin[i];
    if (e->variable_of[u] < 0) {
      users.decided |= e->may[u];
      continue;
    }
    if (users.n_open++ == 0) users.first_open = u;
    users.open |= e->may[u];
    users.forward &= !s->free && is_before(s, users.producer, u);
  }
  users.unpaid = unpaid_stages(e, edge);
  return users;
}

/* The undecided stages that may receive the edge if it is made at `maker`. */
static uint16_t receivers_at(const edge_users *users, uint16_t maker) {
  uint16_t open = (uint16_t)(users->open & ~users->decided & ~maker);
  return users->forward ? (uint16_t)(open & ~(maker - 1)) : open;
}

/* Those of them that pay nothing, if the tensor leaves its producer anyway. */
static uint16_t free_receivers(const edge_users *users, uint16_t maker) {
  return users->decided & ~maker ? receivers_at(users, maker) & users->unpaid : 0;
}

static uint16_t open_receivers(const edge_users *users, uint16_t maker) {
  return receivers_at(users, maker) & (uint16_t)~free_receivers(users, maker);
}

/* Whether the receivers of an edge need a variable of their own, because they depend on several users. */
static bool needs_variable(const stage_energy *e, const edge_users *users) {
  bool some = false;
  for (uint32_t left = e->may[users->producer]; left && users->n_open > 1; left &= left - 1)
    some |= open_receivers(users, (uint16_t)(left & -left)) != 0;
  return some;
}

static int64_t n_values_of(const stage_energy *e, const edge_users *users) {
  int64_t n = 0;
  for (uint32_t left = e->may[users->producer]; left; left &= left - 1) {
    int32_t n_open = __builtin_popcount(open_receivers(users, (uint16_t)(left & -left)));
    n += (int64_t)1 << (n_open < MAX_RECEIVERS ? n_open : MAX_RECEIVERS + 1);
  }
  return n;
}

/* Numbers the variables and their values. */
static elimination_made list_variables(stage_energy *e, arena *a) {
  const stages *s = e->s;
  if (!ARENA_ARRAYS(a, ARRAY(e->variable_of, s->n), ARRAY(e->class_of, s->n + s->n_edges),
                    ARRAY(e->size, s->n + s->n_edges), ZEROS(e->start, (int64_t)s->n + s->n_edges + 1)))
    return ELIMINATION_NO_MEMORY;
  for (int32_t v = 0; v < s->n; v++) {
    int32_t n = __builtin_popcount(e->may[v]);
    e->variable_of[v] = n > 1 ? e->n_variables : -1;
    if (n < 2) continue;
    e->class_of[e->n_variables] = v;
    e->size[e->n_variables++] = n;
  }
  for (int32_t edge = 0; edge < s->n_edges; edge++) {
    edge_users users = find_users(e, edge);
    if (!needs_variable(e, &users)) continue;
    int64_t n = n_values_of(e, &users);
    if (n > (int64_t)1 << MAX_RECEIVERS) return ELIMINATION_TOO_WIDE;
    e->class_of[e->n_variables] = ~edge;
    e->size[e->n_variables++] = (int32_t)n;
  }
  for (int32_t v = 0; v < e->n_variables; v++) e->start[v + 1] = e->start[v] + e->size[v];
  e->n_values = e->start[e->n_variables];
  if (!ARENA_ARRAYS(a, ARRAY(e->maker, e->n_values), ZEROS(e->holders, e->n_values))) return ELIMINATION_NO_MEMORY;
  for (int32_t v = 0; v < s->n; v++) {
    int32_t x = e->variable_of[v], i = 0;
    for (uint32_t left = e->may[v]; x >= 0 && left; left &= left - 1)
      e->maker[e->start[x] + i++] = (uint16_t)(left & -left);
  }
  return ELIMINATION_READY;
}

static factor *add_factor(stage_energy *e, int32_t source, int32_t u, int32_t v, arena *a) {
  factor *f = &e->factors[e->n_factors];
  int64_t n = (int64_t)e->size[u] * (v >= 0 ? e->size[v] : 1);
  *f = (factor){.variable = {u, v}, .value = ARENA_ZERO(a, int64_t, n)};
  e->source[e->n_factors++] = source;
  return f->value ? f : NULL;
}

/* Lists the values of variable x, that of an edge, and adds constraints that link it to producer and users. */
static bool add_receivers(stage_energy *e, int32_t edge, const edge_users *users, int32_t x, arena *a) {
  const stages *s = e->s;
  int64_t n = e->start[x];
  for (uint32_t left = e->may[users->producer]; left; left &= left - 1) {
    uint16_t maker = (uint16_t)(left & -left), open = open_receivers(users, maker), chosen = 0;
    do {
      e->maker[n] = maker;
      e->holders[n++] = (uint16_t)((chosen | users->decided | free_receivers(users, maker)) & ~maker);
      chosen = (uint16_t)((chosen - open) & open); /* the next subset */
    } while (chosen);
  }
  if (!add_factor(e, s->n + edge, x, -1, a)) return false;
  for (int32_t i = s->pin_start[edge]; i < s->pin_start[edge + 1]; i++) {
    int32_t y = e->variable_of[s->pin[i]];
    if (y < 0) continue;
    factor *f = add_factor(e, -1, x, y, a);
    if (!f) return false;
    for (int32_t j = 0; j < e->size[x]; j++)
      for (int32_t k = 0; k < e->size[y]; k++) {
        uint16_t at = e->maker[e->start[y] + k], made = e->maker[e->start[x] + j];
        bool fits = i == s->pin_start[edge] ? at == made : (at & (made | e->holders[e->start[x] + j])) != 0;
        if (users->forward && at < made && i > s->pin_start[edge])
          fits = false; /* the tensor may be held there for others */
        if (!fits) f->value[(int64_t)j * e->size[y] + k] = ELIMINATION_NEVER;
      }
  }
  return true;
}

/* Adds the priced functions of classes and edges. */
static bool add_priced(stage_energy *e, arena *a) {
  const stages *s = e->s;
  int32_t x = 0;
  for (int32_t v = 0; v < s->n; v++) {
    if (e->variable_of[v] >= 0) {
      if (!add_factor(e, v, x++, -1, a)) return false;
      continue;
    }
    int32_t k = __builtin_ctz(e->may[v]);
    e->base[k].compute_ns += s->time_ns[(int64_t)e->sequence->type[k] * s->n + v];
  }
  for (int32_t edge = 0; edge < s->n_edges; edge++) {
    edge_users users = find_users(e, edge);
    int32_t maker = e->variable_of[users.producer], user = users.n_open == 1 ? e->variable_of[users.first_open] : -1;
    bool good = true;
    if (needs_variable(e, &users))
      good = add_receivers(e, edge, &users, x++, a);
    else if (maker >= 0)
      good = add_factor(e, s->n + edge, maker, user, a) != NULL;
    else if (user >= 0)
      good = add_factor(e, s->n + edge, user, -1, a) != NULL;
    else
      add_edge(e->base, s, e->sequence, edge, __builtin_ctz(e->may[users.producer]), users.decided);
    if (!good) return false;
  }
  return true;
}

/* Marks the classes whose order with class v is implied by an edge with a variable of its own. */
static void mark_ordered(const stage_energy *e, int32_t v, int32_t *mark) {
  const stages *s = e->s;
  for (int32_t i = s->touch_start[v]; i < s->touch_start[v + 1]; i++) {
    edge_users users = find_users(e, s->touch[i]);
    if (needs_variable(e, &users) && users.forward && users.producer != v) mark[users.producer] = v + 1;
  }
}

/* Adds constraints: F between undecided classes. */
static bool add_order(stage_energy *e, arena *a) {
  const stages *s = e->s;
  int32_t *mark = ARENA_ZERO(a, int32_t, s->n);
  if (!mark) return false;
  for (int32_t v = 0; v < s->n; v++) {
    int32_t y = e->variable_of[v];
    if (y < 0) continue;
    mark_ordered(e, v, mark);
    for (int32_t k = e->order->start[v]; k < e->order->start[v + 1]; k++) {
      int32_t u = e->order->before[k], x = e->variable_of[u];
      /* Not needed where the last stage of u is not after the first of v. */
      if (x < 0 || mark[u] == v + 1 || stages_upto(__builtin_ctz(e->may[v])) >= e->may[u]) continue;
      factor *f = add_factor(e, -1, x, y, a);
      if (!f) return false;
      for (int32_t i = 0; i < e->size[x]; i++)
        for (int32_t j = 0; j < e->size[y]; j++)
          if (e->maker[e->start[x] + i] > e->maker[e->start[y] + j])
            f->value[(int64_t)i * e->size[y] + j] = ELIMINATION_NEVER;
    }
  }
  return true;
}

elimination_made stage_energy_init(stage_energy *e, const stages *s, const stage_order *order,
                                   const device_sequence *sequence, const uint16_t *may, const uint16_t *held,
                                   int64_t max_entries, arena *a) {
  REQUIRE(sequence->n >= 1 && sequence->n <= STAGES_MAX);
  for (int32_t v = 0; v < s->n; v++) REQUIRE(may[v] != 0 && may[v] >> sequence->n == 0);
  *e = (stage_energy){.s = s, .order = order, .sequence = sequence, .may = may, .held = held};
  elimination_made made = list_variables(e, a);
  if (made != ELIMINATION_READY) return made;
  int64_t max = (int64_t)s->n + s->n_edges + s->pin_start[s->n_edges] + order->start[s->n];
  if (!ARENA_ARRAYS(a, ARRAY(e->factors, max), ARRAY(e->source, max)) || !add_priced(e, a) || !add_order(e, a))
    return ELIMINATION_NO_MEMORY;
  return elimination_init(&e->tables, e->n_variables, e->size, e->n_factors, e->factors, max_entries, a);
}

/* The values of one priced function. */
static void price_factor(stage_energy *e, const stage_price *price, int32_t i) {
  const stages *s = e->s;
  factor *f = &e->factors[i];
  int32_t x = f->variable[0], y = f->variable[1], edge = e->source[i] - s->n;
  const uint16_t *maker = e->maker + e->start[x];
  if (edge < 0) {
    for (int32_t j = 0; j < e->size[x]; j++) {
      int32_t k = __builtin_ctz(maker[j]);
      f->value[j] = price->compute[k] * s->time_ns[(int64_t)e->sequence->type[k] * s->n + e->source[i]];
    }
    return;
  }
  if (e->class_of[x] < 0) { /* the edge's own variable */
    for (int32_t j = 0; j < e->size[x]; j++)
      f->value[j] = price_edge(e, price, edge, maker[j], e->holders[e->start[x] + j]);
    return;
  }
  edge_users users = find_users(e, edge);
  bool made_here = e->class_of[x] == users.producer;
  for (int32_t j = 0; j < e->size[x]; j++) {
    if (!made_here)
      f->value[j] = price_edge(e, price, edge, e->may[users.producer], users.decided | maker[j]);
    else if (y < 0)
      f->value[j] = price_edge(e, price, edge, maker[j], users.decided);
    for (int32_t k = 0; made_here && y >= 0 && k < e->size[y]; k++)
      f->value[(int64_t)j * e->size[y] + k] =
          price_edge(e, price, edge, maker[j], users.decided | e->maker[e->start[y] + k]);
  }
}

static int64_t price_base(const stage_energy *e, const stage_price *price) {
  int64_t sum = 0;
  for (int32_t k = 0; k < e->sequence->n; k++)
    sum +=
        price->compute[k] * e->base[k].compute_ns + price->in[k] * e->base[k].in_ns + price->out[k] * e->base[k].out_ns;
  return sum;
}

int64_t stage_energy_minimise(stage_energy *e, const stage_price *price, int32_t *value, uint8_t *stage) {
  for (int32_t i = 0; i < e->n_factors; i++)
    if (e->source[i] >= 0) price_factor(e, price, i);
  int64_t min = elimination_minimise(&e->tables, value);
  if (min >= ELIMINATION_NEVER) return ELIMINATION_NEVER;
  for (int32_t v = 0; v < e->s->n; v++) {
    int32_t x = e->variable_of[v];
    stage[v] = (uint8_t)__builtin_ctz(x < 0 ? e->may[v] : e->maker[e->start[x] + value[x]]);
  }
  return min + price_base(e, price);
}

/* Drops the stages of a class that cost more than `max`. */
static int64_t drop_stages(const stage_energy *e, int32_t x, const int64_t *min, int64_t max, uint16_t *may) {
  int64_t n = 0;
  for (int64_t i = e->start[x]; i < e->start[x + 1]; i++) {
    if (min[i] <= max) continue;
    n += (*may & e->maker[i]) != 0;
    *may &= (uint16_t)~e->maker[i];
  }
  return n;
}

/* Adds the stages that hold the tensor of an edge in every assignment of at most `max`, and drops stages of its pins
 * that hold it in none. */
static int64_t hold(const stage_energy *e, int32_t x, int32_t edge, const int64_t *min, int64_t max, uint16_t *may,
                    uint16_t *held) {
  const stages *s = e->s;
  uint16_t all = (uint16_t)((1u << e->sequence->n) - 1), some = 0, before = held[edge];
  int64_t n = 0;
  for (int64_t i = e->start[x]; i < e->start[x + 1]; i++) {
    if (min[i] > max) continue;
    some |= e->maker[i] | e->holders[i];
    all &= e->maker[i] | e->holders[i];
  }
  held[edge] |= all & (uint16_t)~unpaid_stages(e, edge);
  for (int32_t i = s->pin_start[edge]; i < s->pin_start[edge + 1]; i++) {
    n += __builtin_popcount(may[s->pin[i]] & (uint16_t)~some);
    may[s->pin[i]] &= some;
  }
  return n + __builtin_popcount(held[edge] & (uint16_t)~before);
}

int64_t stage_energy_drop(stage_energy *e, const stage_price *price, int64_t max, uint16_t *may, uint16_t *held,
                          int64_t *scratch) {
  int64_t n = 0;
  max -= price_base(e, price);
  elimination_marginals(&e->tables, e->start, scratch);
  for (int32_t x = 0; x < e->n_variables; x++) {
    int32_t c = e->class_of[x];
    n += c >= 0 ? drop_stages(e, x, scratch, max, &may[c]) : hold(e, x, ~c, scratch, max, may, held);
  }
  return n;
}
