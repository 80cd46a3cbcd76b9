/* The search of check/check_block.h. A state is a set of operators that have ended, when each device is free, and when
 * each tensor that is still needed is in each memory. States are grown by one operator at a time, in order of starts:
 * what comes later starts no sooner. One that is nowhere sooner than another of its set goes, and so does one whose
 * chains of operators to come reach the limit. */
#include "check/check_block.h"

#include <string.h>

#include "base/checked.h"

enum { DEVICES = 64, BUCKETS = 1024, LAYER = 1 << 16 };
static const int64_t FAR = (int64_t)1 << 55; /* later than anything: some of these may be added */

/* Times and tails are capped at FAR, and no more than three are added: below 2^57. Numbers by node and device are
 * int64_t, as n_devices is. There are at most two sendings of a tensor, so those in all memories, `length`, are at most
 * 2 * SITU_MAX_TENSORS * BLOCK_MEMORIES + DEVICES < 2^31. Prices of devices are at most 256: see work_left. */

/* One tensor on its way to some of its users. */
typedef struct sending {
  int32_t tensor, producer;    /* node, or -1: the cut */
  bool together;               /* its users share a device with its producer: a colocation group */
  uint64_t users;              /* kept ones */
  uint64_t waits;              /* it is needed until these have ended, on its way over deleted operators */
  int32_t first_user, n_users; /* of deleted ones, in `over` */
} sending;

/* An operator of the block. */
typedef struct node {
  int32_t op, bit;                          /* bit -1: deleted */
  uint64_t before;                          /* kept operators that it has to wait for */
  int32_t first_in, n_in, first_out, n_out; /* into block.in; sendings first_out .. are its own */
} node;

typedef struct state {
  struct state *next;
  uint64_t mask;
  int64_t time_ns[]; /* devices, then sendings x memories */
} state;

typedef struct block {
  const judge *j;
  const check_span *span;
  check_work *work;
  int32_t n_nodes, n_kept, n_sendings, length;
  int64_t n_devices, n_memories;
  int32_t from; /* device of the cut */
  node *nodes;
  int32_t kept[BLOCK_KEPT]; /* [bit] its node */
  sending *sendings;
  int32_t *in, *over, *node_of; /* node_of[operator - first] or -1 */
  int64_t *p_ns, *tail_ns;      /* [node * devices] */
  int64_t *min_ns;              /* [node * memories] */
  int64_t *need_ns;             /* [sending * memories] from there to the end */
  int64_t *scratch, *child;     /* [length] */
  uint64_t full;
  int64_t limit_ns;
  int64_t price[3][DEVICES];
  arena *arena;
} block;

static int64_t capped(int64_t time_ns) { return min64(time_ns, FAR); }

static int64_t transfer(const block *b, int32_t t, int32_t from, int32_t to) {
  return from == to ? 0 : capped(judge_transfer_ns(b->j, t, from, to));
}

static int32_t memory_of(const block *b, int32_t d) { return b->j->platform->memory_of[d]; }

/* ---- taking the block out of the graph ---- */

static bool share_group(const situ_graph *g, int32_t u, int32_t x) {
  return g->colocation[u] >= 0 && g->colocation[u] == g->colocation[x];
}

/* Deleted operators count only where a kept one of the block comes after them. */
static bool list_nodes(block *b) {
  const situ_graph *g = b->j->graph;
  int32_t first = b->span->first, n = b->span->last - first + 1;
  if (!ARENA_ARRAYS(b->arena, ARRAY(b->node_of, n), ZEROS(b->nodes, n))) return false;
  for (int32_t v = b->span->last; v >= first; v--) {
    bool useful = !b->span->deleted[v];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && !useful; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !useful; i++)
        useful = g->use[i] <= b->span->last && b->node_of[g->use[i] - first] >= 0;
    b->node_of[v - first] = useful ? 0 : -1;
  }
  for (int32_t v = first; v <= b->span->last; v++) {
    if (b->node_of[v - first] < 0) continue;
    b->node_of[v - first] = b->n_nodes;
    if (!b->span->deleted[v] && b->n_kept < BLOCK_KEPT) b->kept[b->n_kept] = b->n_nodes;
    b->nodes[b->n_nodes++] = (node){.op = v, .bit = b->span->deleted[v] ? -1 : b->n_kept++};
  }
  return true;
}

/* The sendings of the tensors that `u`, which is node `producer` or the cut, makes. */
static void list_ways(block *b, int32_t u, int32_t producer, int32_t *n_over) {
  const situ_graph *g = b->j->graph;
  for (int32_t t = g->out_start[u]; t < g->out_start[u + 1]; t++)
    for (int together = 0; together < 2; together++) {
      sending *w = &b->sendings[b->n_sendings];
      *w = (sending){.tensor = t, .producer = producer, .together = together, .first_user = *n_over};
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        int32_t x = g->use[i], at = x < b->span->first || x > b->span->last ? -1 : b->node_of[x - b->span->first];
        if (at < 0 || share_group(g, u, x) != (bool)together) continue;
        if (b->nodes[at].bit >= 0)
          w->users |= (uint64_t)1 << b->nodes[at].bit;
        else
          b->over[(*n_over)++] = at;
        b->nodes[at].n_in++;
      }
      w->n_users = *n_over - w->first_user;
      b->n_sendings += w->users || w->n_users;
    }
}

static bool find_sendings(block *b) {
  const situ_graph *g = b->j->graph;
  int64_t max = 0, uses = 0;
  int32_t n_over = 0, n_in = 0;
  for (int32_t i = -1; i < b->n_nodes; i++) {
    int32_t u = i < 0 ? b->span->cut : b->nodes[i].op;
    if (u < 0) continue;
    max += 2 * (g->out_start[u + 1] - g->out_start[u]);
    uses += g->use_start[g->out_start[u + 1]] - g->use_start[g->out_start[u]];
  }
  if (!ARENA_ARRAYS(b->arena, ARRAY(b->sendings, max + 1), ARRAY(b->over, uses), ARRAY(b->in, uses))) return false;
  if (b->span->cut >= 0) list_ways(b, b->span->cut, -1, &n_over);
  for (int32_t i = 0; i < b->n_nodes; i++) {
    b->nodes[i].first_out = b->n_sendings;
    list_ways(b, b->nodes[i].op, i, &n_over);
    b->nodes[i].n_out = b->n_sendings - b->nodes[i].first_out;
  }
  for (int32_t i = 0; i < b->n_nodes; i++) {
    b->nodes[i].first_in = n_in;
    n_in += b->nodes[i].n_in;
    b->nodes[i].n_in = 0;
  }
  for (int32_t k = 0; k < b->n_sendings; k++) {
    for (uint64_t left = b->sendings[k].users; left; left &= left - 1) {
      node *x = &b->nodes[b->kept[__builtin_ctzll(left)]];
      b->in[x->first_in + x->n_in++] = k;
    }
    for (int32_t i = 0; i < b->sendings[k].n_users; i++) {
      node *x = &b->nodes[b->over[b->sendings[k].first_user + i]];
      b->in[x->first_in + x->n_in++] = k;
    }
  }
  return true;
}

/* What each operator waits for, directly or over deleted ones, and until when sendings over deleted ones are needed. */
static void find_before(block *b) {
  for (int32_t i = 0; i < b->n_nodes; i++)
    for (int32_t k = 0; k < b->nodes[i].n_in; k++) {
      int32_t u = b->sendings[b->in[b->nodes[i].first_in + k]].producer;
      if (u >= 0) b->nodes[i].before |= b->nodes[u].bit >= 0 ? (uint64_t)1 << b->nodes[u].bit : b->nodes[u].before;
    }
  for (int32_t k = 0; k < b->n_sendings; k++)
    for (int32_t i = 0; i < b->sendings[k].n_users; i++)
      b->sendings[k].waits |= b->nodes[b->over[b->sendings[k].first_user + i]].before;
}

static void find_times(block *b) {
  for (int32_t i = 0; i < b->n_nodes; i++) {
    for (int32_t m = 0; m < b->n_memories; m++) b->min_ns[i * b->n_memories + m] = FAR;
    for (int32_t d = 0; d < b->n_devices; d++) {
      int32_t v = b->nodes[i].op;
      int64_t time = judge_time_ns(b->j, v, d);
      int64_t *min = &b->min_ns[i * b->n_memories + memory_of(b, d)];
      b->p_ns[i * b->n_devices + d] = check_may_run(b->j, v, d) ? capped(time) : FAR;
      *min = min64(*min, b->p_ns[i * b->n_devices + d]);
    }
  }
}

/* ---- times to the end ---- */

/* The least time from sending k's being in memory m to the end, by its user `at`. */
static int64_t time_through(const block *b, int32_t k, int32_t m, int32_t at) {
  const sending *w = &b->sendings[k];
  int64_t min = FAR;
  if (b->nodes[at].bit < 0) {
    for (int32_t to = 0; to < b->n_memories; to++) {
      int64_t there = w->together && to != m ? FAR : transfer(b, w->tensor, m, to), rest = 0;
      for (int32_t i = 0; i < b->nodes[at].n_out; i++)
        rest = max64(rest, b->need_ns[(b->nodes[at].first_out + i) * b->n_memories + to]);
      min = min64(min, capped(there + capped(b->min_ns[at * b->n_memories + to] + rest)));
    }
    return min;
  }
  for (int32_t d = 0; d < b->n_devices; d++) {
    int32_t to = memory_of(b, d);
    int64_t there = w->together && to != m ? FAR : transfer(b, w->tensor, m, to);
    min = min64(min, capped(there + capped(b->p_ns[at * b->n_devices + d] + b->tail_ns[at * b->n_devices + d])));
  }
  return min;
}

static void find_tails(block *b) {
  for (int32_t i = b->n_nodes - 1; i >= 0; i--) {
    const node *x = &b->nodes[i];
    for (int32_t k = x->first_out; k < x->first_out + x->n_out; k++)
      for (int32_t m = 0; m < b->n_memories; m++) {
        int64_t *need = &b->need_ns[k * b->n_memories + m];
        *need = 0;
        for (uint64_t left = b->sendings[k].users; left; left &= left - 1)
          *need = max64(*need, time_through(b, k, m, b->kept[__builtin_ctzll(left)]));
        for (int32_t u = 0; u < b->sendings[k].n_users; u++)
          *need = max64(*need, time_through(b, k, m, b->over[b->sendings[k].first_user + u]));
      }
    for (int32_t d = 0; d < b->n_devices; d++) {
      int64_t *tail = &b->tail_ns[i * b->n_devices + d];
      *tail = b->span->closed && x->op == b->span->last ? capped(b->span->end_ns[d]) : 0;
      for (int32_t k = x->first_out; k < x->first_out + x->n_out; k++)
        *tail = max64(*tail, b->need_ns[k * b->n_memories + memory_of(b, d)]);
    }
  }
}

/* ---- one state ---- */

static int64_t *times_of_way(const block *b, int64_t *time_ns, int32_t k) {
  return time_ns + b->n_devices + (int64_t)k * b->n_memories;
}

/* When a node that ends at end_ns[memory] lets its tensors be in each memory. */
static void hand_on(const block *b, int64_t *time_ns, int32_t k, const int64_t *end_ns) {
  int64_t *there = times_of_way(b, time_ns, k);
  for (int32_t to = 0; to < b->n_memories; to++) {
    there[to] = FAR;
    for (int32_t m = 0; m < b->n_memories; m++)
      if (!b->sendings[k].together || m == to)
        there[to] = min64(there[to], capped(end_ns[m] + transfer(b, b->sendings[k].tensor, m, to)));
  }
}

/* When all inputs of a node are in memory m. */
static int64_t inputs_at(const block *b, int64_t *time_ns, const node *x, int32_t m) {
  int64_t latest = 0;
  for (int32_t i = 0; i < x->n_in; i++) latest = max64(latest, times_of_way(b, time_ns, b->in[x->first_in + i])[m]);
  return latest;
}

/* A deleted operator whose inputs are known hands its tensors on. */
static void pass_deleted(const block *b, int64_t *time_ns, int32_t i) {
  int64_t end_ns[BLOCK_MEMORIES];
  const node *x = &b->nodes[i];
  for (int32_t m = 0; m < b->n_memories; m++)
    end_ns[m] = capped(inputs_at(b, time_ns, x, m) + b->min_ns[i * b->n_memories + m]);
  for (int32_t k = x->first_out; k < x->first_out + x->n_out; k++) hand_on(b, time_ns, k, end_ns);
}

static bool is_needed(const block *b, int32_t k, uint64_t mask) {
  return (b->sendings[k].users & ~mask) || (b->sendings[k].waits & ~mask);
}

/* Work at the given prices that is left, on devices that are free at the times given, before the last operator of a
 * closed block or the end. Of the prices `sum` is of, one is at least 1: what devices have done is at most FAR times
 * sum, and all operators take at most PROBLEM_MAX_NS, at 256: below 2^63 together, divided by sum. */
static int64_t work_left(const block *b, const int64_t *time_ns, uint64_t mask) {
  int64_t best = 0, last = b->span->closed ? FAR : 0;
  for (int32_t d = 0; d < b->n_devices && b->span->closed; d++) {
    int64_t at = (int64_t)(b->n_nodes - 1) * b->n_devices + d;
    last = min64(last, capped(b->p_ns[at] + b->tail_ns[at]));
  }
  for (int32_t q = 0; q < 3; q++) {
    __int128 work = 0, sum = 0;
    for (int32_t d = 0; d < b->n_devices; d++) {
      if (time_ns[d] >= FAR) continue;
      work += (__int128)time_ns[d] * b->price[q][d];
      sum += b->price[q][d];
    }
    if (sum == 0) continue;
    for (int32_t i = 0; i < b->n_nodes; i++) {
      if (b->nodes[i].bit < 0 || mask >> b->nodes[i].bit & 1) continue;
      if (b->span->closed && i == b->n_nodes - 1) continue;
      __int128 min = -1;
      for (int32_t d = 0; d < b->n_devices; d++) {
        __int128 here = (__int128)b->p_ns[i * b->n_devices + d] * b->price[q][d];
        if (b->p_ns[i * b->n_devices + d] < FAR && (min < 0 || here < min)) min = here;
      }
      work += min < 0 ? 0 : min;
    }
    best = max64(best, (int64_t)((work + sum - 1) / sum));
  }
  return capped(best + last);
}

/* Follows the chains of what is to come. Whether it may still end below the limit; raises the times of devices to
 * the first useful start there, but not beyond what all must wait for (work_left counts on that); to FAR where there is
 * no useful start. */
static bool may_be_below(block *b, int64_t *time_ns, uint64_t mask) {
  int64_t *guess = b->scratch, first[DEVICES], end_ns[BLOCK_MEMORIES], latest = 0;
  memcpy(guess, time_ns, (size_t)b->length * sizeof *guess);
  for (int32_t d = 0; d < b->n_devices; d++) first[d] = FAR;
  b->work->done += (int64_t)b->n_nodes * b->n_devices + (int64_t)b->n_sendings * b->n_memories * b->n_memories;
  for (int32_t i = 0; i < b->n_nodes; i++) {
    const node *x = &b->nodes[i];
    if (x->bit < 0) {
      if (x->before & ~mask) pass_deleted(b, guess, i);
      continue;
    }
    if (mask >> x->bit & 1) continue;
    int64_t soonest = FAR;
    for (int32_t m = 0; m < b->n_memories; m++) end_ns[m] = FAR;
    for (int32_t d = 0; d < b->n_devices; d++) {
      int64_t at = (int64_t)i * b->n_devices + d, start = max64(time_ns[d], inputs_at(b, guess, x, memory_of(b, d)));
      int64_t end = capped(start + b->p_ns[at]);
      if (capped(end + b->tail_ns[at]) >= b->limit_ns) continue;
      soonest = min64(soonest, end);
      first[d] = min64(first[d], start);
      end_ns[memory_of(b, d)] = min64(end_ns[memory_of(b, d)], end);
    }
    if (soonest == FAR) return false;
    if (!b->span->closed || i < b->n_nodes - 1) latest = max64(latest, soonest);
    for (int32_t k = x->first_out; k < x->first_out + x->n_out; k++) hand_on(b, guess, k, end_ns);
  }
  for (int32_t d = 0; d < b->n_devices; d++)
    time_ns[d] = max64(time_ns[d], first[d] == FAR ? FAR : min64(first[d], latest));
  return mask == b->full || work_left(b, time_ns, mask) < b->limit_ns;
}

/* ---- layers ---- */

typedef struct layer {
  arena *arena;
  arena_mark empty;
  state *bucket[BUCKETS];
  int32_t n;
} layer;

static bool nowhere_later(const int64_t *x, const int64_t *y, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (x[i] > y[i]) return false;
  return true;
}

/* Adds the child unless another of its set is nowhere later; drops those that it makes needless. False without
 * memory. */
static bool add_state(block *b, layer *l, uint64_t mask) {
  state **slot = &l->bucket[(mask * 0x9e3779b97f4a7c15u) >> 54];
  for (state **at = slot; *at;) {
    state *old = *at;
    b->work->done += 4;
    if (old->mask == mask && nowhere_later(old->time_ns, b->child, b->length)) return true;
    if (old->mask == mask && nowhere_later(b->child, old->time_ns, b->length)) {
      *at = old->next;
      l->n--;
    } else {
      at = &old->next;
    }
  }
  state *made = arena_alloc(l->arena, 1, sizeof *made + (size_t)b->length * sizeof(int64_t));
  if (!made) return false;
  *made = (state){.next = *slot, .mask = mask};
  memcpy(made->time_ns, b->child, (size_t)b->length * sizeof(int64_t));
  *slot = made;
  l->n++;
  return true;
}

/* The state after node i ran on d, in b->child. False when it cannot end below the limit. */
static bool grow(block *b, const state *from, int32_t i, int32_t d) {
  const node *x = &b->nodes[i];
  uint64_t mask = from->mask | (uint64_t)1 << x->bit;
  int64_t end_ns[BLOCK_MEMORIES], at = (int64_t)i * b->n_devices + d;
  memcpy(b->child, from->time_ns, (size_t)b->length * sizeof(int64_t));
  int64_t start = max64(b->child[d], inputs_at(b, b->child, x, memory_of(b, d))), end = capped(start + b->p_ns[at]);
  b->work->done += b->length;
  if (capped(end + b->tail_ns[at]) >= b->limit_ns) return false;
  for (int32_t e = 0; e < b->n_devices; e++) b->child[e] = e == d ? end : max64(b->child[e], start);
  for (int32_t m = 0; m < b->n_memories; m++) end_ns[m] = m == memory_of(b, d) ? end : FAR;
  for (int32_t k = x->first_out; k < x->first_out + x->n_out; k++) hand_on(b, b->child, k, end_ns);
  for (int32_t g = i + 1; g < b->n_nodes; g++)
    if (b->nodes[g].bit < 0 && !(b->nodes[g].before & ~mask) && (b->nodes[g].before & ~from->mask))
      pass_deleted(b, b->child, g);
  for (int32_t k = 0; k < b->n_sendings; k++)
    if (!is_needed(b, k, mask)) memset(times_of_way(b, b->child, k), 0, (size_t)b->n_memories * sizeof(int64_t));
  return may_be_below(b, b->child, mask);
}

static check_found grow_layer(block *b, layer *next, const layer *now) {
  for (int32_t slot = 0; slot < BUCKETS; slot++)
    for (const state *one = now->bucket[slot]; one; one = one->next)
      for (int32_t i = 0; i < b->n_nodes; i++) {
        const node *x = &b->nodes[i];
        if (x->bit < 0 || one->mask >> x->bit & 1 || (x->before & ~one->mask)) continue;
        for (int32_t d = 0; d < b->n_devices; d++) {
          if (b->work->done > b->work->max || next->n > LAYER) return CHECK_GAVE_UP;
          if (b->p_ns[i * b->n_devices + d] >= FAR || !grow(b, one, i, d)) continue;
          if (!add_state(b, next, one->mask | (uint64_t)1 << x->bit)) return CHECK_NO_MEMORY;
        }
      }
  return next->n == 0 ? CHECK_NONE_BELOW : CHECK_SOME_BELOW;
}

/* The state before all: devices are free, the output of the cut is on its way. */
static bool begin(block *b) {
  int64_t end_ns[BLOCK_MEMORIES];
  memset(b->child, 0, (size_t)b->length * sizeof(int64_t));
  for (int32_t m = 0; m < b->n_memories; m++) end_ns[m] = b->span->cut >= 0 && m == memory_of(b, b->from) ? 0 : FAR;
  for (int32_t k = 0; k < b->n_sendings && b->sendings[k].producer < 0; k++) hand_on(b, b->child, k, end_ns);
  for (int32_t i = 0; i < b->n_nodes; i++)
    if (b->nodes[i].bit < 0 && !b->nodes[i].before) pass_deleted(b, b->child, i);
  for (int32_t k = 0; k < b->n_sendings; k++)
    if (!is_needed(b, k, 0)) memset(times_of_way(b, b->child, k), 0, (size_t)b->n_memories * sizeof(int64_t));
  return may_be_below(b, b->child, 0);
}

static check_found search(block *b, layer *two) {
  layer *now = &two[0], *next = &two[1];
  if (!begin(b)) return CHECK_NONE_BELOW;
  if (!add_state(b, now, 0)) return CHECK_NO_MEMORY;
  for (int32_t k = 0; k < b->n_kept; k++) {
    memset(next->bucket, 0, sizeof next->bucket);
    arena_release(next->arena, next->empty);
    next->n = 0;
    check_found found = grow_layer(b, next, now);
    if (found != CHECK_SOME_BELOW) return found;
    layer *swap = now;
    now = next;
    next = swap;
  }
  return CHECK_SOME_BELOW;
}

/* Near the inverse of the time of all operators of the block on each device, flatter and steeper. */
static void choose_prices(block *b) {
  __int128 total[DEVICES], min = 0;
  for (int32_t d = 0; d < b->n_devices; d++) {
    total[d] = 0;
    for (int32_t i = 0; i < b->n_nodes; i++)
      if (b->nodes[i].bit >= 0 && b->p_ns[i * b->n_devices + d] < FAR) total[d] += b->p_ns[i * b->n_devices + d];
    if (total[d] > 0 && (min == 0 || total[d] < min)) min = total[d];
  }
  for (int32_t d = 0; d < b->n_devices; d++) {
    b->price[0][d] = 256;
    b->price[1][d] = total[d] > 0 ? (int64_t)(256 * min / total[d]) : 256;
    b->price[2][d] = b->price[1][d] * b->price[1][d] / 256;
  }
}

static bool make_block(block *b) {
  if (!list_nodes(b) || b->n_kept > BLOCK_KEPT || !find_sendings(b)) return false;
  b->length = (int32_t)(b->n_devices + b->n_sendings * b->n_memories);
  if (!ARENA_ARRAYS(b->arena, ARRAY(b->p_ns, (int64_t)b->n_nodes * b->n_devices),
                    ARRAY(b->tail_ns, (int64_t)b->n_nodes * b->n_devices),
                    ARRAY(b->min_ns, (int64_t)b->n_nodes * b->n_memories),
                    ARRAY(b->need_ns, (int64_t)b->n_sendings * b->n_memories), ARRAY(b->scratch, b->length),
                    ARRAY(b->child, b->length)))
    return false;
  b->full = b->n_kept == BLOCK_KEPT ? ~(uint64_t)0 : ((uint64_t)1 << b->n_kept) - 1;
  find_before(b);
  find_times(b);
  find_tails(b);
  choose_prices(b);
  return true;
}

check_found check_block(const judge *j, const check_span *span, int32_t from, int64_t limit_ns, check_work *work) {
  block b = {.j = j,
             .span = span,
             .work = work,
             .from = from,
             .n_devices = j->problem->n_devices,
             .n_memories = j->platform->n_memories,
             .limit_ns = min64(limit_ns, FAR),
             .arena = j->scratch};
  arena_mark mark = arena_get_mark(j->scratch);
  check_found found = CHECK_NO_MEMORY;
  layer *two = ARENA_ZERO(j->scratch, layer, 2);
  if (two && make_block(&b)) {
    two[0].arena = arena_new();
    two[1].arena = arena_new();
    if (two[0].arena && two[1].arena) {
      two[0].empty = arena_get_mark(two[0].arena);
      two[1].empty = arena_get_mark(two[1].arena);
      found = search(&b, two);
    }
    arena_free(two[0].arena);
    arena_free(two[1].arena);
  } else if (b.n_kept > BLOCK_KEPT) {
    found = CHECK_GAVE_UP;
  }
  arena_release(j->scratch, mark);
  return found;
}
