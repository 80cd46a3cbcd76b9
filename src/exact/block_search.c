/* The search of exact/block.h, layer by layer. */
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/sort.h"
#include "exact/block.h"

typedef struct block_state {
  struct block_state *next; /* of the same set */
  int64_t bound_ns, sum;
  int64_t vector[]; /* [devices + live tensors * memories] */
} block_state;

/* All schedules of one set of operators. */
typedef struct bucket {
  uint64_t mask;
  struct bucket *next, *chained; /* in order of creation; in the hash table */
  block_state *states, *spare;
  int32_t n_states, n_live, n_ready, length;
  int32_t *live;             /* [n_live] tensors */
  uint64_t *ready_users;     /* [n_live] bits are indices of ready[] */
  bool *waits;               /* [n_live] some user is not ready yet */
  int32_t *ready;            /* [n_ready] operators */
  int32_t *in_start, *in_at; /* [n_ready + 1]; positions in live[] */
  int64_t rest[BLOCK_PRICES];
  int32_t n_left; /* operators still to come before the last one */
} bucket;

enum {
  HASH_SIZE = 4096,
  POLL = 1024,
  SET_WORK = 8, /* one set costs as much as this many children, */
  COMPARED = 64 /* and one child as much as this many comparisons */
};

static const int64_t MAX_LAYER_BYTES = (int64_t)1 << 28; /* the search gives up beyond */

typedef struct layer {
  arena *arena;
  bucket *first, *last, *table[HASH_SIZE];
  int32_t n_buckets;
  int64_t n_states, n_bytes; /* of states */
} layer;

typedef struct block_run {
  const block *b;
  const block_machine *m;
  const block_limits *limits;
  const int32_t *memory_of;
  int32_t n_devices, n_memories;
  int64_t upper_ns; /* the best so far, which bounds the rest */
  int64_t n_children;
  int64_t end_ns; /* minimum time from the start of the last operator */
  int64_t *child; /* scratch vector */
  int64_t arrival[BLOCK_OPERATORS * BLOCK_DEVICES];
  bool exact, failed, stopped;
  bool merged; /* schedules of some layer were merged */
  uint64_t full;
} block_run;

/* ---- sets ---- */

static bool is_live(const block *b, int32_t j, uint64_t mask) {
  bool made = j < b->n_entry || (mask >> (b->source[j] - b->first) & 1);
  return made && (b->users[j] & ~mask);
}

static bool bucket_arrays(bucket *k, const block *b, arena *a) {
  return ARENA_ARRAYS(a, ARRAY(k->live, b->n_tensors), ARRAY(k->ready, b->n), ARRAY(k->in_start, b->n + 1),
                      ARRAY(k->in_at, b->in_start[b->n]), ZEROS(k->ready_users, b->n_tensors),
                      ZEROS(k->waits, b->n_tensors));
}

/* Fills the fields that depend on the set alone. */
static void bucket_fill(bucket *k, const block_run *s) {
  const block *b = s->b;
  int32_t at[BLOCK_TENSORS];
  for (int32_t j = 0; j < b->n_tensors; j++) {
    at[j] = k->n_live;
    if (is_live(b, j, k->mask)) k->live[k->n_live++] = j;
  }
  k->in_start[0] = 0;
  uint64_t ready = 0;
  for (int32_t i = 0; i < b->n; i++) {
    if (k->mask >> i & 1) continue;
    bool inner = !b->closed || i < b->n - 1;
    k->n_left += inner;
    for (int32_t q = 0; q < s->m->n_prices && inner; q++) k->rest[q] += b->rest[(int64_t)i * BLOCK_PRICES + q];
    if (b->before[i] & ~k->mask) continue;
    int32_t n = k->in_start[k->n_ready];
    for (int32_t e = b->in_start[i]; e < b->in_start[i + 1]; e++) {
      k->in_at[n++] = at[b->in[e]];
      k->ready_users[at[b->in[e]]] |= (uint64_t)1 << k->n_ready;
    }
    k->ready[k->n_ready++] = i;
    k->in_start[k->n_ready] = n;
    ready |= (uint64_t)1 << i;
  }
  for (int32_t j = 0; j < k->n_live; j++) {
    int32_t t = k->live[j];
    k->waits[j] = b->users[t] & ~k->mask & ~ready;
  }
  k->length = s->n_devices + k->n_live * s->n_memories;
}

static bucket *find_bucket(block_run *s, layer *l, uint64_t mask) {
  uint64_t hash = mask * 0x9e3779b97f4a7c15u;
  bucket **slot = &l->table[hash >> 52];
  for (bucket *k = *slot; k; k = k->chained)
    if (k->mask == mask) return k;
  bucket *k = ARENA_ZERO(l->arena, bucket, 1);
  if (!k || !bucket_arrays(k, s->b, l->arena)) return NULL;
  k->mask = mask;
  bucket_fill(k, s);
  k->chained = *slot;
  *slot = k;
  if (l->last)
    l->last->next = k;
  else
    l->first = k;
  l->last = k;
  l->n_buckets++;
  s->n_children += SET_WORK;
  return k;
}

/* ---- one schedule ---- */

/* Bound from the work that is left, at given prices, after what each device has done. Only useful devices share it. */
static int64_t area_bound(const block_run *s, const bucket *k, const int64_t *vector) {
  int64_t best = 0;
  for (int32_t q = 0; q < s->m->n_prices; q++) {
    __int128 sum = k->rest[q];
    int64_t price = 0;
    for (int32_t d = 0; d < s->n_devices; d++) {
      if (vector[d] >= BLOCK_FAR_NS) continue;
      sum += (__int128)s->m->price[q][d] * vector[d];
      price += s->m->price[q][d];
    }
    if (price == 0) return k->rest[q] > 0 ? BLOCK_FAR_NS : best + s->end_ns;
    best = max64(best, (int64_t)((sum + price - 1) / price));
  }
  return best + s->end_ns;
}

/* Drops useless times. A device on which no remaining operator could start and still beat the best counts as occupied
 * for ever. A tensor that nobody could use in a memory counts as never arriving there. */
static void drop_useless(const block_run *s, const bucket *k, int64_t *vector) {
  const block *b = s->b;
  int64_t *there = vector + s->n_devices;
  bool useful[BLOCK_DEVICES] = {false};
  for (int32_t d = 0; d < s->n_devices; d++) {
    for (uint64_t left = s->full & ~k->mask; left && !useful[d]; left &= left - 1) {
      int64_t at = (int64_t)__builtin_ctzll(left) * s->n_devices + d;
      useful[d] = vector[d] + b->time_ns[at] + b->tail_ns[at] < s->upper_ns;
    }
    if (!useful[d]) vector[d] = BLOCK_FAR_NS;
  }
  for (int32_t j = 0; j < k->n_live; j++, there += s->n_memories) {
    bool used[BLOCK_DEVICES] = {false};
    uint64_t users = b->users[k->live[j]] & ~k->mask;
    for (int32_t d = 0; d < s->n_devices; d++) {
      int32_t m = s->memory_of[d];
      int64_t start = max64(vector[d], there[m]);
      for (uint64_t left = useful[d] && !used[m] ? users : 0; left && !used[m]; left &= left - 1) {
        int64_t at = (int64_t)__builtin_ctzll(left) * s->n_devices + d;
        used[m] = start + b->time_ns[at] + b->tail_ns[at] < s->upper_ns;
      }
    }
    for (int32_t m = 0; m < s->n_memories; m++)
      if (!used[m]) there[m] = BLOCK_FAR_NS;
  }
}

/* Raises the time of d to the earliest start of any remaining operator there: all earlier times are equivalent. */
static void raise_devices(block_run *s, const bucket *k, int64_t *vector, int64_t soonest) {
  for (int32_t d = 0; d < s->n_devices; d++) {
    int64_t first = soonest;
    for (int32_t i = 0; i < k->n_ready; i++)
      if (s->b->time_ns[(int64_t)k->ready[i] * s->n_devices + d] < BLOCK_FAR_NS)
        first = min64(first, s->arrival[i * s->n_memories + s->memory_of[d]]);
    vector[d] = max64(vector[d], first);
  }
}

/* The earliest start of a ready operator in memory m that its inputs allow, one of them left out. */
static int64_t others_arrive(const block_run *s, const bucket *k, const int64_t *there, int32_t i, int32_t but,
                             int32_t m) {
  int64_t latest = 0;
  for (int32_t e = k->in_start[i]; e < k->in_start[i + 1]; e++)
    if (k->in_at[e] != but) latest = max64(latest, there[(int64_t)k->in_at[e] * s->n_memories + m]);
  return latest;
}

static void raise_arrivals(const block_run *s, const bucket *k, int64_t *vector, int64_t soonest) {
  int64_t free[BLOCK_DEVICES];
  for (int32_t m = 0; m < s->n_memories; m++) free[m] = BLOCK_FAR_NS;
  for (int32_t d = 0; d < s->n_devices; d++) free[s->memory_of[d]] = min64(free[s->memory_of[d]], vector[d]);
  int64_t *there = vector + s->n_devices;
  for (int32_t j = 0; j < k->n_live; j++)
    for (int32_t m = 0; m < s->n_memories; m++) {
      int64_t first = k->waits[j] ? soonest : BLOCK_FAR_NS;
      for (uint64_t users = k->ready_users[j]; users; users &= users - 1)
        first = min64(first, others_arrive(s, k, there, __builtin_ctzll(users), j, m));
      int64_t *here = &there[(int64_t)j * s->n_memories + m];
      *here = max64(*here, max64(first == BLOCK_FAR_NS ? 0 : first, free[m]));
    }
}

/* Normalises a vector: raises each time as far as that changes no schedule. Returns a bound on what it can lead to. */
static int64_t settle(block_run *s, const bucket *k, int64_t *vector) {
  const block *b = s->b;
  const int64_t *there = vector + s->n_devices;
  int64_t bound = 0, soonest = BLOCK_FAR_NS;
  for (int32_t i = 0; i < k->n_ready; i++) {
    int64_t *arrival = s->arrival + i * s->n_memories, finish = BLOCK_FAR_NS, through = BLOCK_FAR_NS;
    for (int32_t m = 0; m < s->n_memories; m++) arrival[m] = others_arrive(s, k, there, i, -1, m);
    for (int32_t d = 0; d < s->n_devices; d++) {
      int64_t at = (int64_t)k->ready[i] * s->n_devices + d;
      if (b->time_ns[at] == BLOCK_FAR_NS) continue;
      int64_t end = max64(vector[d], arrival[s->memory_of[d]]) + b->time_ns[at];
      finish = min64(finish, end);
      through = min64(through, end + b->tail_ns[at]);
    }
    soonest = min64(soonest, finish);
    bound = max64(bound, through);
  }
  if (k->n_ready == 0) return 0;
  raise_devices(s, k, vector, soonest);
  raise_arrivals(s, k, vector, soonest);
  drop_useless(s, k, vector);
  return k->n_left > 0 ? max64(bound, area_bound(s, k, vector)) : bound;
}

/* A bound from the earliest ends of all remaining operators, one after another: each waits for its device and for all
 * its inputs, and each of these comes over the cheapest route from where its producer ends soonest. */
static int64_t forward_bound(const block_run *s, const bucket *k, const int64_t *vector) {
  const block *b = s->b;
  int64_t there[BLOCK_TENSORS * BLOCK_DEVICES], bound = 0;
  int32_t n_devices = s->n_devices, n = s->n_memories;
  for (int32_t j = 0; j < k->n_live; j++)
    memcpy(there + (int64_t)k->live[j] * n, vector + n_devices + (int64_t)j * n, (size_t)n * sizeof *there);
  for (uint64_t left = s->full & ~k->mask; left; left &= left - 1) {
    int32_t i = __builtin_ctzll(left);
    int64_t ready[BLOCK_DEVICES] = {0}, through = BLOCK_FAR_NS;
    for (int32_t e = b->in_start[i]; e < b->in_start[i + 1]; e++)
      for (int32_t m = 0; m < n; m++) ready[m] = max64(ready[m], there[(int64_t)b->in[e] * n + m]);
    for (int32_t e = b->out_start[i]; e < b->out_start[i + 1]; e++)
      for (int32_t m = 0; m < n; m++) there[(int64_t)b->out[e] * n + m] = BLOCK_FAR_NS;
    for (int32_t d = 0; d < n_devices; d++) {
      int64_t at = (int64_t)i * n_devices + d, end = max64(vector[d], ready[s->memory_of[d]]) + b->time_ns[at];
      if (end >= BLOCK_FAR_NS) continue;
      through = min64(through, end + b->tail_ns[at]);
      for (int32_t e = b->out_start[i]; e < b->out_start[i + 1]; e++) {
        const int64_t *row = b->transfer_ns + ((int64_t)b->out[e] * n + s->memory_of[d]) * n;
        int64_t *to = there + (int64_t)b->out[e] * n;
        for (int32_t m = 0; m < n; m++) to[m] = min64(to[m], end + row[m]);
      }
    }
    bound = max64(bound, through);
    if (bound >= s->upper_ns) return bound;
  }
  return bound;
}

/* ---- identical devices ---- */

static int compare_devices(const block_run *s, const int64_t *vector, int32_t n_live, int32_t d, int32_t e) {
  if (vector[d] != vector[e]) return vector[d] < vector[e] ? -1 : 1;
  int32_t m = s->memory_of[d], w = s->memory_of[e];
  const int64_t *there = vector + s->n_devices;
  for (int32_t j = 0; j < n_live && m != w; j++, there += s->n_memories)
    if (there[m] != there[w]) return there[m] < there[w] ? -1 : 1;
  return 0;
}

static void swap_devices(const block_run *s, int64_t *vector, int32_t n_live, int32_t d, int32_t e) {
  int64_t swap = vector[d];
  vector[d] = vector[e];
  vector[e] = swap;
  int32_t m = s->memory_of[d], w = s->memory_of[e];
  int64_t *there = vector + s->n_devices;
  for (int32_t j = 0; j < n_live && m != w; j++, there += s->n_memories) {
    swap = there[m];
    there[m] = there[w];
    there[w] = swap;
  }
}

/* Sorts the times of equal devices. */
static void sort_devices(const block_run *s, int64_t *vector, int32_t n_live) {
  for (bool moved = true; moved;) {
    moved = false;
    for (int32_t d = 0; d < s->n_devices; d++) {
      int32_t e = s->m->twin[d];
      if (e < 0 || compare_devices(s, vector, n_live, d, e) <= 0) continue;
      swap_devices(s, vector, n_live, d, e);
      moved = true;
    }
  }
}

/* ---- keeping ---- */

static bool nowhere_later(const int64_t *a, const int64_t *b, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (a[i] > b[i]) return false;
  return true;
}

/* Finds room for a schedule unless a kept one dominates it (NULL), and drops those that it dominates. Where no operator
 * follows all others, one that has ended may be what ends last although its device is of no more use, so bounds are
 * compared too. The same goes for merged schedules, whose bounds hold for their parts only. */
static block_state *make_room(block_run *s, layer *l, bucket *k, int64_t bound_ns, int64_t sum) {
  const int64_t *vector = s->child;
  bool by_vector = s->b->closed && !s->merged;
  s->n_children += k->n_states / COMPARED;
  for (block_state **at = &k->states; *at;) {
    block_state *old = *at;
    if (old->sum <= sum && (by_vector || old->bound_ns <= bound_ns) && nowhere_later(old->vector, vector, k->length))
      return NULL;
    if (old->sum >= sum && (by_vector || old->bound_ns >= bound_ns) && nowhere_later(vector, old->vector, k->length)) {
      *at = old->next;
      old->next = k->spare;
      k->spare = old;
      k->n_states--;
      l->n_states--;
    } else {
      at = &old->next;
    }
  }
  block_state *made = k->spare;
  if (made)
    k->spare = made->next;
  else if ((l->n_bytes += (int64_t)k->length * 8) > MAX_LAYER_BYTES)
    s->stopped = true;
  else
    made = arena_alloc(l->arena, 1, sizeof *made + (size_t)k->length * sizeof(int64_t));
  if (!made) {
    s->failed = !s->stopped;
    return NULL;
  }
  made->next = k->states;
  k->states = made;
  k->n_states++;
  l->n_states++;
  return made;
}

static int64_t sum_of(const int64_t *vector, int32_t n) {
  int64_t sum = 0;
  for (int32_t i = 0; i < n; i++) sum += vector[i] >> 8; /* 200 values of 2^55 fit */
  return sum;
}

static void keep(block_run *s, layer *l, bucket *k, int64_t bound_ns) {
  int64_t sum = sum_of(s->child, k->length);
  block_state *made = make_room(s, l, k, bound_ns, sum);
  if (!made) return;
  memcpy(made->vector, s->child, (size_t)k->length * sizeof(int64_t));
  made->bound_ns = bound_ns;
  made->sum = sum;
}

/* ---- growing ---- */

/* Maps each live tensor of the larger set to its place in the smaller; -1 - j for new tensor j. */
static void map_live(int32_t *map, const bucket *from, const bucket *to) {
  int32_t i = 0;
  for (int32_t j = 0; j < to->n_live; j++) {
    while (i < from->n_live && from->live[i] < to->live[j]) i++;
    map[j] = i < from->n_live && from->live[i] == to->live[j] ? i : -1 - to->live[j];
  }
}

/* Derives the vector of the larger set from that of the smaller, after the operator ended on a device of memory m. */
static void pass_on(block_run *s, const bucket *to, const int32_t *map, const int64_t *before, int32_t m,
                    int64_t finish) {
  int32_t n = s->n_memories;
  int64_t *there = s->child + s->n_devices;
  memcpy(s->child, before, (size_t)s->n_devices * sizeof(int64_t));
  before += s->n_devices;
  for (int32_t j = 0; j < to->n_live; j++, there += n) {
    if (map[j] >= 0) {
      memcpy(there, before + (int64_t)map[j] * n, (size_t)n * sizeof(int64_t));
      continue;
    }
    const int64_t *row = s->b->transfer_ns + ((int64_t)(-1 - map[j]) * n + m) * n;
    for (int32_t w = 0; w < n; w++) there[w] = min64(finish + row[w], BLOCK_FAR_NS);
  }
}

static void grow(block_run *s, layer *l, bucket *to, const int32_t *map, const block_state *from, int32_t x, int32_t d,
                 int64_t start) {
  const block *b = s->b;
  int64_t at = (int64_t)x * s->n_devices + d, finish = start + b->time_ns[at];
  int64_t bound = max64(from->bound_ns, finish + b->tail_ns[at]);
  s->n_children++;
  if (bound >= s->upper_ns) return;
  pass_on(s, to, map, from->vector, s->memory_of[d], finish);
  for (int32_t e = 0; e < s->n_devices; e++) s->child[e] = e == d ? finish : max64(s->child[e], start);
  bound = max64(bound, settle(s, to, s->child));
  if (bound < s->upper_ns) bound = max64(bound, forward_bound(s, to, s->child));
  if (bound >= s->upper_ns) return;
  if (to->mask == s->full) {
    s->upper_ns = bound;
    for (int32_t e = 0; e < s->n_devices && b->closed; e++) s->child[e] = finish;
  }
  sort_devices(s, s->child, to->n_live);
  keep(s, l, to, bound);
}

static bool is_second_twin(const block_run *s, const block_state *from, int32_t n_live, int32_t d) {
  for (int32_t e = 0; e < d; e++)
    if (s->m->twin[e] == d && compare_devices(s, from->vector, n_live, e, d) == 0) return true;
  return false;
}

static bool is_over(block_run *s, int64_t before) {
  s->stopped |= s->n_children > s->limits->max_children;
  if (s->n_children / POLL != before / POLL) s->stopped |= budget_over(s->limits->budget);
  return s->stopped || s->failed;
}

static void expand(block_run *s, layer *l, const bucket *from) {
  int32_t map[BLOCK_TENSORS];
  for (int32_t i = 0; i < from->n_ready; i++) {
    int32_t x = from->ready[i];
    int64_t sets = s->n_children;
    bucket *to = find_bucket(s, l, from->mask | (uint64_t)1 << x);
    if (!to) {
      s->failed = true;
      return;
    }
    if (is_over(s, sets)) return;
    map_live(map, from, to);
    for (const block_state *one = from->states; one; one = one->next) {
      if (one->bound_ns >= s->upper_ns) continue;
      int64_t before = s->n_children;
      for (int32_t d = 0; d < s->n_devices; d++) {
        if (s->b->time_ns[(int64_t)x * s->n_devices + d] == BLOCK_FAR_NS || is_second_twin(s, one, from->n_live, d))
          continue;
        int64_t ready = others_arrive(s, from, one->vector + s->n_devices, i, -1, s->memory_of[d]);
        grow(s, l, to, map, one, x, d, max64(one->vector[d], ready));
      }
      if (is_over(s, before)) return;
    }
  }
}

/* ---- a layer that is too wide ---- */

/* Unlinks the worst states of a set: those above the threshold, and those at it once `ties` are used up. */
static block_state *take_worst(bucket *k, int64_t threshold, int64_t *ties) {
  block_state *worst = NULL;
  for (block_state **at = &k->states; *at;) {
    block_state *one = *at;
    if (one->bound_ns < threshold || (one->bound_ns == threshold && (*ties)-- > 0)) {
      at = &one->next;
      continue;
    }
    *at = one->next;
    one->next = worst;
    worst = one;
    k->n_states--;
  }
  return worst;
}

/* Replaces states by one schedule that is nowhere later than any of them. */
static void put_merged(bucket *k, block_state *worst) {
  block_state *merged = worst;
  for (const block_state *one = worst->next; one; one = one->next) {
    for (int32_t i = 0; i < k->length; i++) merged->vector[i] = min64(merged->vector[i], one->vector[i]);
    merged->bound_ns = min64(merged->bound_ns, one->bound_ns);
  }
  merged->sum = sum_of(merged->vector, k->length);
  merged->next = k->states;
  k->states = merged;
  k->n_states++;
}

static void narrow(block_run *s, layer *l) {
  if (l->n_states <= s->limits->width) return;
  arena_mark mark = arena_get_mark(l->arena);
  int64_t *bounds_ns = ARENA_NEW(l->arena, int64_t, l->n_states), n = 0, ties = 0;
  if (!bounds_ns) {
    s->failed = true;
    return;
  }
  for (bucket *k = l->first; k; k = k->next)
    for (block_state *one = k->states; one; one = one->next) bounds_ns[n++] = one->bound_ns;
  sort64(bounds_ns, n);
  int64_t threshold = bounds_ns[s->limits->width - 1];
  for (int64_t i = s->limits->width - 1; i >= 0 && bounds_ns[i] == threshold; i--) ties++;
  arena_release(l->arena, mark);
  for (bucket *k = l->first; k; k = k->next) {
    block_state *worst = take_worst(k, threshold, &ties);
    if (worst && s->limits->merge) put_merged(k, worst);
    s->merged |= worst && s->limits->merge;
  }
  s->exact = false;
}

static void clear(layer *l, arena_mark empty) {
  arena_release(l->arena, empty);
  l->first = l->last = NULL;
  memset(l->table, 0, sizeof l->table);
  l->n_buckets = 0;
  l->n_states = l->n_bytes = 0;
}

/* ---- the search ---- */

static void begin(block_run *s, layer *l, const int64_t *start) {
  bucket *k = find_bucket(s, l, 0);
  if (!k) {
    s->failed = true;
    return;
  }
  memcpy(s->child, start, (size_t)k->length * sizeof(int64_t));
  int64_t bound = settle(s, k, s->child);
  if (bound < s->upper_ns) keep(s, l, k, bound);
}

static bool make_search(block_run *s, layer *two, const block *b, arena *scratch) {
  s->child = ARENA_NEW(scratch, int64_t, s->n_devices + b->n_tensors * s->n_memories);
  s->end_ns = b->closed ? BLOCK_FAR_NS : 0;
  for (int32_t d = 0; d < s->n_devices && b->closed; d++) {
    int64_t at = (int64_t)(b->n - 1) * s->n_devices + d;
    s->end_ns = min64(s->end_ns, b->time_ns[at] + b->tail_ns[at]);
  }
  memset(two, 0, 2 * sizeof *two);
  two[0].arena = arena_new();
  two[1].arena = arena_new();
  return s->child && two[0].arena && two[1].arena;
}

bool block_search(block_result *out, const block *b, const int64_t *start, const block_limits *limits, arena *scratch) {
  const block_machine *m = b->machine;
  REQUIRE(limits->width >= 1);
  block_run s = {.b = b,
                 .m = m,
                 .limits = limits,
                 .memory_of = m->problem->memory_of,
                 .n_devices = m->n_devices,
                 .n_memories = m->n_memories,
                 .upper_ns = limits->upper_ns,
                 .exact = true};
  s.full = b->n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << b->n) - 1;
  arena_mark mark = arena_get_mark(scratch);
  layer *two = ARENA_NEW(scratch, layer, 2);
  if (!two) return false;
  s.failed = !make_search(&s, two, b, scratch);
  layer *now = &two[0], *next = &two[1];
  if (!s.failed) {
    arena_mark empty[2] = {arena_get_mark(now->arena), arena_get_mark(next->arena)};
    begin(&s, now, start);
    for (int32_t k = 0; k < b->n && !s.stopped && !s.failed; k++) {
      narrow(&s, now);
      clear(next, empty[next - two]);
      for (bucket *set = now->first; set && !s.stopped && !s.failed; set = set->next) expand(&s, next, set);
      layer *swap = now;
      now = next;
      next = swap;
    }
  }
  arena_free(two[0].arena);
  arena_free(two[1].arena);
  arena_release(scratch, mark);
  *out = (block_result){.value_ns = s.upper_ns, .exact = s.exact, .finished = !s.stopped, .n_children = s.n_children};
  return !s.failed;
}
