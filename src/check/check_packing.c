/* The judge of a packing: that the listed items, given by one operator each, fit into the memories in no way. It
 * recomputes the size of each (docs/model.md) and tries all assignments, in the order of the list. The result is valid
 * for any list, since omitted items only free memory. docs/theory/bounds/packing.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

static const int64_t MAX_NODES = (int64_t)1 << 21, MAX_CELLS = (int64_t)1 << 23;
enum { MAX_ITEMS = 8192 };

/* No sum of bytes here saturates: weights, and in_flight times all workspaces and tensors, are at most
 * PROBLEM_MAX_BYTES together, and an operator reads a tensor once. Only room without limit does. */

/* Bytes of a memory: permanent, at the end, and the additional maximum of running operators. */
typedef struct fill {
  int64_t always, last, running;
} fill;

typedef struct packer {
  const judge *j;
  bool stream;
  int32_t n, n_memories;
  fill *item;       /* [item] always and last */
  int64_t *running; /* [item * n_memories + memory]; -1: not there */
  int32_t *twin;    /* [memory] the last one before it that is the same to all items, or -1 */
  fill *memory;     /* [memory] as filled now */
  int32_t *at;      /* [item] its memory */
  int64_t nodes;
} packer;

/* Weights; in a pipeline also the stash for other phases, for each input in flight; in a stream, at the end, unused
 * outputs. */
static void add_operator(const packer *x, fill *of, int32_t v) {
  const situ_graph *g = x->j->graph;
  of->always = sat_add(of->always, check_held_bytes(x->j, v));
  of->last = sat_add(of->last, g->weight_bytes[v]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1] && x->stream; t++)
    if (g->use_start[t] == g->use_start[t + 1]) of->last = sat_add(of->last, g->size_bytes[t]);
}

/* The additional bytes of item i on device d while it runs; -1 if it must not run there. */
static int64_t running_on(const packer *x, const check_items *items, int32_t i, int32_t d) {
  int64_t max = 0;
  for (int32_t k = items->start[i]; k < items->start[i + 1]; k++) {
    int32_t v = items->member[k];
    if (!check_may_run(x->j, v, d)) return -1;
    bool instant = x->stream && judge_time_ns(x->j, v, d) == 0;
    if (!instant) max = max64(max, judge_running_bytes(x->j, v));
  }
  return max;
}

static void read_item(packer *x, const check_items *items, int32_t item) {
  const situ_platform *f = x->j->platform;
  int64_t *running = x->running + (int64_t)x->n * x->n_memories;
  for (int32_t m = 0; m < x->n_memories; m++) running[m] = -1;
  for (int32_t d = 0; d < f->n_devices; d++) {
    int64_t here = running_on(x, items, item, d), *there = &running[f->memory_of[d]];
    if (here >= 0) *there = *there < 0 ? here : min64(*there, here);
  }
  x->item[x->n] = (fill){0};
  for (int32_t k = items->start[item]; k < items->start[item + 1]; k++)
    add_operator(x, &x->item[x->n], items->member[k]);
  x->n++;
}

static void find_twins(packer *x) {
  const int64_t *limit = x->j->platform->memory_bytes;
  for (int32_t m = 0; m < x->n_memories; m++) {
    x->twin[m] = -1;
    for (int32_t w = 0; w < m; w++) {
      bool same = limit[w] == limit[m];
      for (int64_t i = 0; same && i < x->n; i++)
        same = x->running[i * x->n_memories + w] == x->running[i * x->n_memories + m];
      if (same) x->twin[m] = w;
    }
  }
}

/* Whether the item before i is the same in all: then i goes into no memory before its. */
static bool repeats(const packer *x, int32_t i) {
  if (i == 0) return false;
  bool same = x->item[i].always == x->item[i - 1].always && x->item[i].last == x->item[i - 1].last;
  const int64_t *row = x->running + (int64_t)i * x->n_memories;
  for (int32_t m = 0; same && m < x->n_memories; m++) same = row[m] == row[m - x->n_memories];
  return same;
}

/* Whether the permanent bytes of item i and all later items exceed the free memory. */
static bool is_short(const packer *x, int32_t i) {
  int64_t room = 0, wanted = 0;
  for (int32_t m = 0; m < x->n_memories; m++) {
    const fill *f = &x->memory[m];
    room = sat_add(room, x->j->platform->memory_bytes[m] - f->always - f->running);
  }
  for (int32_t k = i; k < x->n; k++) wanted = sat_add(wanted, x->item[k].always);
  return wanted > room;
}

/* 1: items from i on go in; 0: in no way; -1: too many ways. */
static int go_in(packer *x, int32_t i) {
  if (i == x->n) return 1;
  if (++x->nodes > MAX_NODES) return -1;
  if (is_short(x, i)) return 0;
  for (int32_t m = repeats(x, i) ? x->at[i - 1] : 0; m < x->n_memories; m++) {
    int64_t running = x->running[(int64_t)i * x->n_memories + m], limit = x->j->platform->memory_bytes[m];
    fill was = x->memory[m], now = was;
    now.always = sat_add(was.always, x->item[i].always);
    now.last = sat_add(was.last, x->item[i].last);
    now.running = max64(was.running, running);
    if (running < 0 || sat_add(now.always, now.running) > limit || now.last > limit) continue;
    const fill *twin = x->twin[m] >= 0 ? &x->memory[x->twin[m]] : NULL;
    if (twin && twin->always == was.always && twin->last == was.last && twin->running == was.running) continue;
    x->memory[m] = now;
    x->at[i] = m;
    int found = go_in(x, i + 1);
    x->memory[m] = was;
    if (found != 0) return found;
  }
  return 0;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  const situ_problem *p = j->problem;
  const int64_t *operators = certificate_get(c, "operators", -1);
  int64_t n = certificate_size(c, "operators");
  packer x = {.j = j, .n_memories = p->n_memories};
  x.stream = p->execution == SITU_EXECUTION_STREAM || p->of_stream;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (n > MAX_ITEMS || n * (p->n_memories + p->n_devices) > MAX_CELLS) return SITU_STATUS_OK;
  check_items items;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  bool *listed;
  if (!ARENA_ARRAYS(j->scratch, ZEROS(listed, items.n), ARRAY(x.item, n), ARRAY(x.running, n * p->n_memories),
                    ARRAY(x.twin, p->n_memories), ZEROS(x.memory, p->n_memories), ARRAY(x.at, n)))
    return fail_no_memory(error);
  for (int64_t i = 0; i < n; i++) {
    int32_t item = items.of[operators[i]];
    if (!listed[item]) read_item(&x, &items, item);
    listed[item] = true;
  }
  find_twins(&x);
  int found = go_in(&x, 0);
  *proved_ns = found == 0 ? SITU_NEVER_NS : found > 0 ? 0 : CERTIFICATE_TOO_LONG;
  return SITU_STATUS_OK;
}

const certificate_rule packing_rule = {.kind = "packing", .models = MODEL_ALL, .prove = prove};
