#include "exact/block.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "view/equal_devices.h"

static int64_t capped(int64_t time_ns) { return min64(time_ns, BLOCK_FAR_NS); }
static int64_t plus(int64_t a, int64_t b) { return capped(a + b); } /* saturating, like its operands */

bool block_serves(const situ_problem *p) {
  return p->n_devices <= BLOCK_DEVICES && p->execution == SITU_EXECUTION_STREAM && p->n_operators > 0;
}

/* ---- the machine ---- */

/* Prices that balance the work of all operators: the inverse of the total time on each device, and flatter and steeper
 * variants. */
static void find_prices(block_machine *m) {
  static const double scale[BLOCK_PRICES] = {0, 0.5, 1, 2};
  const situ_problem *p = m->problem;
  double total[BLOCK_DEVICES] = {0}, min = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    for (int32_t v = 0; v < p->n_operators; v++)
      if (problem_allows(p, v, d)) total[d] += (double)problem_time_ns(p, v, d);
    if (!p->unused[d] && total[d] > 0 && (min == 0 || total[d] < min)) min = total[d];
  }
  m->n_prices = min > 0 ? BLOCK_PRICES : 0;
  for (int32_t k = 0; k < m->n_prices; k++)
    for (int32_t d = 0; d < p->n_devices; d++)
      m->price[k][d] = total[d] == 0 ? 0 : total[d] <= min ? 128 : (int32_t)(128 * scale[k] * min / total[d]);
}

bool block_machine_init(block_machine *m, const situ_problem *p, arena *a) {
  REQUIRE(block_serves(p));
  equal_devices equal;
  *m = (block_machine){.problem = p, .n_devices = p->n_devices, .n_memories = p->n_memories};
  if (!equal_devices_find(&equal, p, EQUAL_TIMED, a)) return false;
  for (int32_t t = 0; t < equal.n_all; t++)
    for (int32_t i = 0, n = equal.types[t].n_devices; i < n; i++)
      m->twin[equal.types[t].devices[i]] = i + 1 < n ? equal.types[t].devices[i + 1] : -1;
  find_prices(m);
  return true;
}

/* ---- taking a block out of the graph ---- */

typedef struct taking {
  block *b;
  const thin_graph *g;
  int32_t first, last;
} taking;

/* The users of tensor t of the thin graph in the block. */
static uint64_t users_of(const taking *s, int32_t t) {
  const thin_graph *g = s->g;
  uint64_t users = 0;
  if (g->producer[t] > s->last) return 0;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t x = g->use[i];
    if (x >= s->first && x <= s->last) users |= (uint64_t)1 << (x - s->first);
  }
  return users;
}

static bool make_arrays(block *b, arena *a) {
  int64_t d = b->machine->n_devices, m = b->machine->n_memories;
  return ARENA_ARRAYS(a, ARRAY(b->operator_of, b->n), ARRAY(b->time_ns, b->n * d), ARRAY(b->tail_ns, b->n * d),
                      ZEROS(b->before, b->n), ZEROS(b->rest, (int64_t)b->n * BLOCK_PRICES),
                      ZEROS(b->in_start, b->n + 1), ZEROS(b->out_start, b->n + 1), ARRAY(b->out, b->n_tensors),
                      ARRAY(b->source, b->n_tensors), ZEROS(b->transfer_ns, b->n_tensors * m * m),
                      ARRAY(b->users, b->n_tensors));
}

static void fill_ways(block *b, int32_t j, int32_t t) {
  const situ_problem *p = b->machine->problem;
  int32_t n = p->n_memories;
  for (int32_t m = 0; m < n && t >= 0; m++)
    for (int32_t w = 0; w < n; w++)
      if (m != w)
        b->transfer_ns[((int64_t)j * n + m) * n + w] = capped(p->transfer_ns[t][p->costs->pair_kind[m * n + w]]);
}

static void fill_operators(const taking *s) {
  block *b = s->b;
  const block_machine *m = b->machine;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i] = s->g->operator_of[s->first + i];
    for (int32_t d = 0; d < m->n_devices; d++)
      b->time_ns[i * m->n_devices + d] =
          problem_allows(m->problem, v, d) ? capped(problem_time_ns(m->problem, v, d)) : BLOCK_FAR_NS;
    for (int32_t k = 0; k < m->n_prices; k++) {
      int64_t min = INT64_MAX;
      for (int32_t d = 0; d < m->n_devices; d++) {
        int64_t time = b->time_ns[i * m->n_devices + d];
        if (time < BLOCK_FAR_NS) min = min64(min, min64(time, (int64_t)1 << 40) * m->price[k][d]);
      }
      b->rest[(int64_t)i * BLOCK_PRICES + k] = min == INT64_MAX ? 0 : min;
    }
  }
}

static bool fill_inputs(block *b, arena *a) {
  int32_t n = 0;
  for (int32_t j = 0; j < b->n_tensors; j++) n += __builtin_popcountll(b->users[j]);
  b->in = ARENA_NEW(a, int32_t, n);
  if (!b->in) return false;
  n = 0;
  for (int32_t i = 0; i < b->n; i++) {
    for (int32_t j = 0; j < b->n_tensors; j++)
      if (b->users[j] >> i & 1) b->in[n++] = j;
    b->in_start[i + 1] = n;
  }
  return true;
}

bool block_take(block *out, bool *fits, const block_machine *m, const thin_graph *g, int32_t first, int32_t last,
                arena *a) {
  REQUIRE(0 <= first && first <= last && last < g->n);
  taking s = {.b = out, .g = g, .first = first, .last = last};
  *out = (block){.machine = m, .n = last - first + 1, .first = first};
  *fits = out->n <= BLOCK_OPERATORS;
  if (!*fits) return false;
  for (int32_t t = 0; t < g->n_tensors && g->producer[t] <= last; t++) out->n_tensors += users_of(&s, t) != 0;
  *fits = out->n_tensors <= BLOCK_TENSORS;
  if (!*fits || !make_arrays(out, a)) return false;
  fill_operators(&s);
  int32_t j = 0, n_out = 0;
  for (int32_t t = 0; t < g->n_tensors && g->producer[t] <= last; t++) {
    uint64_t users = users_of(&s, t);
    if (!users) continue;
    int32_t from = g->producer[t] - first;
    out->users[j] = users;
    if (g->transfer_ns[t])
      memcpy(out->transfer_ns + (int64_t)j * m->n_memories * m->n_memories, g->transfer_ns[t],
             sizeof(int64_t) * (size_t)m->n_memories * (size_t)m->n_memories);
    else
      fill_ways(out, j, g->tensor_of[t]);
    out->source[j] = g->producer[t];
    if (from < 0) {
      out->n_entry++;
    } else {
      out->out[n_out++] = j;
      out->out_start[from + 1] = n_out;
      for (int32_t i = 0; i < out->n; i++)
        if (out->users[j] >> i & 1) out->before[i] |= (uint64_t)1 << from;
    }
    j++;
  }
  for (int32_t i = 0; i < out->n; i++)
    if (out->out_start[i + 1] < out->out_start[i]) out->out_start[i + 1] = out->out_start[i];
  if (!fill_inputs(out, a)) return false;
  CONTRACT(block_check(out));
  return true;
}

/* ---- tails ---- */

/* The minimum time from when a tensor is in memory m to the end of everything, through its user i. */
static int64_t way_through(const block *b, int32_t j, int32_t m, int32_t i) {
  const block_machine *machine = b->machine;
  const int64_t *row = b->transfer_ns + ((int64_t)j * machine->n_memories + m) * machine->n_memories;
  int64_t min = BLOCK_FAR_NS;
  for (int32_t e = 0; e < machine->n_devices; e++) {
    int64_t at = (int64_t)i * machine->n_devices + e;
    int64_t there = plus(row[machine->problem->memory_of[e]], plus(b->time_ns[at], b->tail_ns[at]));
    min = min64(min, there);
  }
  return min;
}

static int64_t way_through_all(const block *b, int32_t j, int32_t m) {
  int64_t longest = 0;
  for (int32_t i = 0; i < b->n; i++)
    if (b->users[j] >> i & 1) longest = max64(longest, way_through(b, j, m, i));
  return longest;
}

/* Raises tail_ns, which so far covers what comes after the block, by the paths through the block. */
static void add_ways_through(block *b) {
  const block_machine *m = b->machine;
  for (int32_t i = b->n - 1; i >= 0; i--)
    for (int32_t d = 0; d < m->n_devices; d++) {
      int64_t *tail = &b->tail_ns[(int64_t)i * m->n_devices + d];
      if (b->time_ns[(int64_t)i * m->n_devices + d] == BLOCK_FAR_NS) *tail = BLOCK_FAR_NS;
      for (int32_t k = b->out_start[i]; k < b->out_start[i + 1]; k++)
        *tail = max64(*tail, way_through_all(b, b->out[k], m->problem->memory_of[d]));
    }
}

void block_set_tails(block *b, const int64_t *end_ns) {
  int32_t n = b->machine->n_devices;
  b->closed = end_ns;
  for (int32_t i = 0; i < b->n; i++)
    for (int32_t d = 0; d < n; d++) b->tail_ns[(int64_t)i * n + d] = end_ns && i == b->n - 1 ? capped(end_ns[d]) : 0;
  add_ways_through(b);
}

int64_t block_tail_before(const block *b, int32_t source, int32_t a) {
  REQUIRE(a >= 0 && a < b->machine->n_devices);
  int64_t longest = 0;
  for (int32_t j = 0; j < b->n_entry; j++)
    if (b->source[j] == source) longest = max64(longest, way_through_all(b, j, b->machine->problem->memory_of[a]));
  for (int32_t i = 0; i < b->n; i++) {
    int64_t min = BLOCK_FAR_NS;
    for (int32_t d = 0; d < b->machine->n_devices; d++) {
      int64_t at = (int64_t)i * b->machine->n_devices + d;
      min = min64(min, plus(b->time_ns[at], b->tail_ns[at]));
    }
    longest = max64(longest, min);
  }
  return longest;
}

/* ---- contracts ---- */

const char *block_check(const block *b) {
  const block_machine *m = b->machine;
  EXPECT(b->n >= 0 && b->n <= BLOCK_OPERATORS && m->n_devices <= BLOCK_DEVICES, "a block is small");
  uint64_t all = b->n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << b->n) - 1;
  int32_t n_in = b->in_start[b->n], n_out = b->out_start[b->n];
  EXPECT(b->n_entry >= 0 && b->n_entry <= b->n_tensors && b->n_tensors <= BLOCK_TENSORS, "a block has few tensors");
  EXPECT(contracts_within(b->operator_of, b->n, 0, m->problem->n_operators), "operators are the problem's");
  EXPECT(contracts_lists(b->in_start, b->n, n_in) && contracts_within(b->in, n_in, 0, b->n_tensors), "inputs exist");
  EXPECT(contracts_lists(b->out_start, b->n, n_out) && n_out == b->n_tensors - b->n_entry, "outputs are listed");
  for (int32_t j = 0; j < b->n_tensors; j++) {
    int32_t from = b->source[j] - b->first;
    EXPECT((from < 0) == (j < b->n_entry) && from < b->n, "tensors from before the block come first");
    EXPECT((b->users[j] & ~all) == 0 && b->users[j], "a tensor is of use, by operators of the block");
    EXPECT(from < 0 || (b->users[j] & (((uint64_t)2 << from) - 1)) == 0, "users come after the producer");
  }
  for (int32_t i = 0; i < b->n; i++)
    EXPECT((b->before[i] & ~(((uint64_t)1 << i) - 1)) == 0, "operators are in a topological order");
  for (int64_t i = 0; i < (int64_t)b->n * m->n_devices; i++)
    EXPECT(b->time_ns[i] >= 0 && b->time_ns[i] <= BLOCK_FAR_NS, "times are at most BLOCK_FAR_NS");
  return NULL;
}
