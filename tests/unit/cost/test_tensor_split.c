/* Operators split over groups of devices: random networks are run in numbers, member by member, with no more work and
 * no more communication than the split counts, and give what one device gives. */
#include "cost/tensor_split.h"

#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "read/reader.h"

enum { MOST = 14, WIDTH = 12, MEMBERS = 4, PRIME = 1000003 };

typedef enum step { LOOK, WEIGH, CONTRACT, SUM, TIMES, BEND, NORM, TURN, VIEW, STEPS } step;
static const char *const kinds[STEPS] = {"Gather", "MatMul",  "MatMul", "Add", "Mul", "Relu", "LayerNormalization",
                                         "TopK",   "Identity"};

typedef int64_t vector[WIDTH];
typedef int64_t matrix[WIDTH][WIDTH];

/* What a member has of the output of an operator. */
typedef struct holding {
  bool all, part, term;
  vector value[3]; /* all, part (zero elsewhere), term */
} holding;
enum { ALL, PART, TERM };

typedef struct world {
  int32_t n, k;
  double share[MEMBERS];  /* unequal in each second round */
  int32_t first[MEMBERS]; /* column of a member; those of the next follow */
  step step[MOST];
  int32_t input[MOST][2];
  matrix weight[MOST];
  vector table[MOST], truth[MOST];
  holding has[MOST][MEMBERS];
} world;

static int64_t mod(int64_t x) { return (x % PRIME + PRIME) % PRIME; }
static int32_t inputs_of(step s) { return s == LOOK ? 0 : s == CONTRACT || s == SUM || s == TIMES ? 2 : 1; }

static int64_t total(const vector x) {
  int64_t sum = 0;
  for (int j = 0; j < WIDTH; j++) sum = mod(sum + x[j]);
  return sum;
}

static void multiply(vector out, const matrix w, const vector x) {
  for (int j = 0; j < WIDTH; j++) {
    int64_t sum = 0;
    for (int i = 0; i < WIDTH; i++) sum = mod(sum + w[i][j] * x[i]);
    out[j] = sum;
  }
}

/* Operator v of whole inputs. */
static void compute(const world *w, int32_t v, vector out, const vector a, const vector b) {
  if (w->step[v] == WEIGH) {
    multiply(out, w->weight[v], a);
    return;
  }
  for (int j = 0; j < WIDTH; j++) switch (w->step[v]) {
      case LOOK: out[j] = w->table[v][j]; break;
      case CONTRACT: out[j] = mod(total(a) * b[j]); break;
      case SUM: out[j] = mod(a[j] + b[j]); break;
      case TIMES: out[j] = mod(a[j] * b[j]); break;
      case BEND: out[j] = mod(a[j] * a[j] + 1); break;
      case NORM: out[j] = mod(a[j] * total(a)); break;
      case TURN: out[j] = mod(a[WIDTH - 1 - j] + total(a)); break;
      default: out[j] = a[j];
    }
}

/* The columns of member i where there are as many parts as columns. */
static bool is_mine(const world *w, int32_t i, int j) {
  return j >= w->first[i] && j < (i + 1 < w->k ? w->first[i + 1] : WIDTH);
}

/* Gives out columns: the busiest of equal members has what they say, those with shares what theirs say, and no column
 * is left over. */
static void give_columns(world *w, const tensor_split *s, int32_t v, bool uneven) {
  double busiest = 0, sum = 0;
  for (int32_t i = 0; i < w->k; i++) {
    double columns = WIDTH * (uneven ? tensor_split_part(s, v, w->share, w->k, i) : 0);
    int32_t even = (WIDTH + w->k - 1) / w->k;
    if (!uneven) columns = i * even > WIDTH ? 0 : WIDTH - i * even < even ? WIDTH - i * even : even;
    w->first[i] = (int32_t)(sum + 0.5);
    assert_true(!uneven || fabs(columns - WIDTH * w->share[i]) <= 1.0001);
    busiest = fmax(busiest, columns);
    sum += columns;
  }
  assert_int_equal((int32_t)(sum + 0.5), WIDTH);
  if (!uneven) assert_true(fabs(busiest - WIDTH * tensor_split_share(s, v, w->k)) < 0.001);
}

static void keep_mine(const world *w, int32_t i, vector x) {
  for (int j = 0; j < WIDTH; j++)
    if (!is_mine(w, i, j)) x[j] = 0;
}

static holding *of(world *w, int32_t v, int32_t input, int32_t i) { return &w->has[w->input[v][input]][i]; }

/* A split operator: member i does its part of the work. */
static void run_split(world *w, int32_t v, int32_t i) {
  holding *mine = &w->has[v][i], *a = of(w, v, 0, i), *b = of(w, v, inputs_of(w->step[v]) == 2, i);
  vector x, y;
  if (w->step[v] == LOOK) { /* its rows of the table: some term of the sum */
    mine->term = true;
    for (int j = 0; j < WIDTH; j++) mine->value[TERM][j] = i == j % w->k ? w->table[v][j] : 0;
    return;
  }
  if (w->step[v] == WEIGH && a->part) {
    mine->term = true;
    multiply(mine->value[TERM], w->weight[v], a->value[PART]);
    return;
  }
  assert_true(w->step[v] == WEIGH ? a->all : (a->part || a->all) && (b->part || b->all));
  memcpy(x, a->value[a->part ? PART : ALL], sizeof x);
  memcpy(y, b->value[b->part ? PART : ALL], sizeof y);
  assert_true(w->step[v] != NORM && w->step[v] != TURN && w->step[v] != CONTRACT);
  mine->part = true;
  compute(w, v, mine->value[PART], x, y);
  keep_mine(w, i, mine->value[PART]);
}

/* An operator that runs whole on each member, of whole inputs, of terms, or of both. */
static void run_whole(world *w, int32_t v, int32_t i) {
  holding *mine = &w->has[v][i], *a = of(w, v, 0, i), *b = of(w, v, inputs_of(w->step[v]) == 2, i);
  bool linear = w->step[v] == VIEW ? a->term : w->step[v] == SUM && a->term && b->term;
  assert_true(w->step[v] != LOOK);
  if (a->all && b->all) {
    mine->all = true;
    compute(w, v, mine->value[ALL], a->value[ALL], b->value[ALL]);
  }
  if (w->step[v] == TIMES && ((a->term && b->all) || (b->term && a->all))) {
    const bool first = a->term && b->all;
    const holding *term = first ? a : b, *other = first ? b : a;
    mine->term = true;
    compute(w, v, mine->value[TERM], term->value[TERM], other->value[ALL]);
  } else if (linear) {
    mine->term = true;
    compute(w, v, mine->value[TERM], a->value[TERM], b->value[TERM]);
  }
  assert_true(mine->all || mine->term);
}

/* The collectives after v. */
static void put_together(world *w, int32_t v, bool reduce, bool gather) {
  vector sum = {0};
  bool had = w->has[v][0].all;
  if (!reduce && !gather) return;
  assert_true(had || (reduce && w->has[v][0].term) || (gather && w->has[v][0].part));
  for (int32_t i = 0; i < w->k; i++)
    for (int j = 0; j < WIDTH; j++) sum[j] = mod(sum[j] + w->has[v][i].value[reduce ? TERM : PART][j]);
  for (int32_t i = 0; i < w->k; i++) {
    w->has[v][i].all = true;
    memcpy(w->has[v][i].value[ALL], sum, sizeof sum);
  }
}

static void build(world *w, situ_graph **out, rng *r) {
  OWN(situ_graph_builder) *b = NULL;
  situ_error error = {0};
  int64_t dims[] = {1, WIDTH};
  *w = (world){.n = 2 + (int32_t)rng_below(r, MOST - 1), .k = 2 + (int32_t)rng_below(r, MEMBERS - 1)};
  must(situ_graph_builder_new(&b, "random", &error), &error);
  double sum = 0;
  for (int32_t i = 0; i < w->k; i++) sum += w->share[i] = 1 + (double)rng_below(r, 9);
  for (int32_t i = 0; i < w->k; i++) w->share[i] /= sum;
  for (int32_t v = 0; v < w->n; v++) {
    step s = w->step[v] = v == 0 ? LOOK : (step)rng_below(r, STEPS);
    situ_operator op = SITU_OPERATOR_INIT;
    situ_tensor t = SITU_TENSOR_INIT;
    op.kind = kinds[s];
    op.weight_bytes = s == LOOK || s == WEIGH ? 100 : 0;
    assert_int_equal(situ_graph_builder_add_operator(b, &op), v);
    for (int32_t i = 0; i < inputs_of(s); i++) {
      w->input[v][i] = (int32_t)rng_below(r, v);
      situ_graph_builder_add_use(b, v, w->input[v][i]);
    }
    t.rank = 2;
    t.dims = dims;
    t.size_bytes = WIDTH;
    assert_int_equal(situ_graph_builder_add_tensor(b, v, &t), v);
    for (int j = 0; j < WIDTH; j++) w->table[v][j] = rng_below(r, PRIME);
    for (int i = 0; i < WIDTH; i++)
      for (int j = 0; j < WIDTH; j++) w->weight[v][i][j] = rng_below(r, PRIME);
    compute(w, v, w->truth[v], w->truth[w->input[v][0]], w->truth[w->input[v][inputs_of(s) == 2]]);
  }
  must(situ_graph_freeze(out, b, &error), &error);
}

TEST(members_together_give_what_one_device_gives) {
  int64_t n_split = 0, n_reduced = 0, n_gathered = 0;
  static world w;
  for (int32_t round = 0; round < rounds_of(20000); round++) {
    rng r = rng_new((uint64_t)round);
    OWN(situ_graph) *g = NULL;
    tensor_split split;
    OWN(arena) *a = arena_new();
    build(&w, &g, &r);
    assert_true(tensor_split_find(&split, g, a));
    for (int32_t v = 0; v < w.n; v++) {
      assert_true(split.ways[v] == 1 || split.ways[v] == WIDTH);
      if (split.ways[v] > 1) give_columns(&w, &split, v, round % 2 == 1);
      if (split.ways[v] == 1) assert_true(tensor_split_part(&split, v, w.share, w.k, 0) == 1);
      for (int32_t i = 0; i < w.k; i++) (split.ways[v] > 1 ? run_split : run_whole)(&w, v, i);
      put_together(&w, v, split.reduced_bytes[v] > 0, split.gathered_bytes[v] > 0);
      n_split += split.ways[v] > 1;
      n_reduced += split.reduced_bytes[v] > 0;
      n_gathered += split.gathered_bytes[v] > 0;
      if (!split.scattered[v]) assert_true(w.has[v][0].all);
      if (g->use_start[v] == g->use_start[v + 1]) assert_true(w.has[v][0].all);
      if (w.has[v][0].all) assert_memory_equal(w.has[v][w.k - 1].value[ALL], w.truth[v], sizeof(vector));
    }
  }
  assert_true(n_split > n_reduced && n_reduced > n_gathered && n_gathered > 0);
}

/* Whatever is on a group: what each member holds of it fits, where all together are within the memory of the group. */
TEST(members_hold_what_the_group_holds) {
  static world w;
  int64_t n_full = 0;
  for (int32_t round = 0; round < rounds_of(4000); round++) {
    rng r = rng_new((uint64_t)round);
    OWN(situ_graph) *g = NULL;
    tensor_split split;
    OWN(arena) *a = arena_new();
    build(&w, &g, &r);
    assert_true(tensor_split_find(&split, g, a));
    int64_t memory[MEMBERS], held = 0;
    double group = 1e18;
    for (int32_t i = 0; i < w.k; i++) {
      memory[i] = 200 + rng_below(&r, 1000);
      int64_t extra_bytes = tensor_split_member_bytes(&split, w.share, w.k, i);
      group = fmin(group, (double)(memory[i] - extra_bytes) / w.share[i]);
    }
    double own[MEMBERS] = {0};
    for (int32_t v = 0; v < w.n; v++) { /* any operators, one after the other */
      if (rng_below(&r, 3) == 0 || (double)(held + g->weight_bytes[v] + w.n * WIDTH) > group) continue;
      held += g->weight_bytes[v];
      for (int32_t i = 0; i < w.k; i++)
        own[i] += (double)g->weight_bytes[v] * tensor_split_part(&split, v, w.share, w.k, i);
    }
    n_full += held > 0;
    for (int32_t i = 0; i < w.k && held > 0; i++) assert_true(own[i] <= (double)memory[i] + 0.001);
  }
  assert_true(n_full > 0);
}

/* Megatron-LM, section 3: two all-reduces in each layer, and one after the lookup; no other but that of the logits. */
TEST(a_decoder_reduces_twice_in_each_layer) {
  static const struct {
    const char *model;
    int32_t reduces;
  } rows[] = {{"builtin:llama?layers=3&hidden=64&heads=8&kv_heads=4&ffn=96&vocab=50&tokens=1&context=16", 7},
              {"builtin:moe?layers=3&hidden=64&heads=8&kv_heads=4&ffn=96&vocab=50&tokens=1&context=16", 7},
              {"builtin:gpt2?layers=3&hidden=64&heads=8&seq=16&vocab=50", 7}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    OWN(situ_model) *m = NULL;
    situ_error error = {0};
    situ_read_options options = SITU_READ_OPTIONS_INIT;
    tensor_split split;
    OWN(arena) *a = arena_new();
    must(situ_model_read(&m, rows[k].model, &options, &error), &error);
    const situ_graph *g = m->graph;
    assert_true(tensor_split_find(&split, g, a));
    int32_t reduces = 0, gathers = 0;
    for (int32_t v = 0; v < g->n_operators; v++) {
      reduces += split.reduced_bytes[v] > 0;
      gathers += split.gathered_bytes[v] > 0;
      if (strstr(g->name[v], "attention.scores")) assert_int_equal(split.ways[v], k == 2 ? 8 : 4);
    }
    if (reduces != rows[k].reduces || gathers > 1) fail_msg("%s: %d, %d", rows[k].model, reduces, gathers);
  }
}

typedef struct chain_link {
  const char *kind;
  int32_t rank;
  int64_t dims[4];
} chain_link;

/* How a chain of operators splits, of which the first has weights and each makes a tensor of 64 bytes. */
static void split_chain(tensor_split *out, const chain_link *links, int32_t n, arena *a, situ_graph **g) {
  situ_graph_builder *b;
  situ_error error = {0};
  must(situ_graph_builder_new(&b, "chain", &error), &error);
  for (int32_t v = 0; v < n; v++) {
    situ_operator op = SITU_OPERATOR_INIT;
    situ_tensor t = SITU_TENSOR_INIT;
    op.kind = links[v].kind;
    op.weight_bytes = v == 0 ? 100 : 0;
    t.rank = links[v].rank;
    t.dims = links[v].dims;
    t.size_bytes = 64;
    situ_graph_builder_add_operator(b, &op);
    if (v > 0) situ_graph_builder_add_use(b, v, v - 1);
    situ_graph_builder_add_tensor(b, v, &t);
  }
  must(situ_graph_freeze(g, b, &error), &error);
  situ_graph_builder_free(b);
  assert_true(tensor_split_find(out, *g, a));
}

/* Heads that a view has merged are columns again: a norm along them needs them all, a softmax along each head does not.
 */
TEST(merged_heads_are_columns) {
  static const chain_link links[] = {{"MatMul", 3, {1, 2, 32}},
                                     {"Reshape", 4, {1, 2, 4, 8}},
                                     {"Transpose", 4, {1, 4, 2, 8}},
                                     {"Softmax", 4, {1, 4, 2, 8}},
                                     {"Transpose", 4, {1, 2, 4, 8}},
                                     {"Reshape", 3, {1, 2, 32}},
                                     {"LayerNormalization", 3, {1, 2, 32}}};
  enum { LINKS = sizeof links / sizeof *links };
  OWN(situ_graph) *g = NULL;
  tensor_split split;
  OWN(arena) *a = arena_new();
  split_chain(&split, links, LINKS, a, &g);
  for (int32_t v = 0; v < LINKS; v++) assert_int_equal(split.gathered_bytes[v], v == LINKS - 2 ? 64 : 0);
  assert_int_equal(split.ways[3], 4);
  assert_int_equal(split.ways[LINKS - 1], 1);
}

/* A mean over an image treats its channels apart, whatever their number; one over columns needs them all, also where
 * the second dimension, tokens, stays. */
TEST(a_mean_along_columns_needs_them_all) {
  static const chain_link rows[][3] = {
      {{"Conv", 4, {1, 32, 5, 5}}, {"Relu", 4, {1, 32, 5, 5}}, {"ReduceMean", 4, {1, 32, 1, 1}}},
      {{"MatMul", 3, {1, 5, 32}}, {"Pow", 3, {1, 5, 32}}, {"ReduceMean", 3, {1, 5, 1}}}};
  for (int32_t k = 0; k < 2; k++) {
    OWN(situ_graph) *g = NULL;
    tensor_split split;
    OWN(arena) *a = arena_new();
    split_chain(&split, rows[k], 3, a, &g);
    assert_int_equal(split.ways[2], k == 0 ? 32 : 1);
    assert_int_equal(split.gathered_bytes[1], k == 0 ? 0 : 64);
    assert_int_equal(split.made[1], HOLDS_PART);
  }
}

/* By hand: 4 members, steps of 10 us and 10 GB/s. 16 kB by doubling: 2 (10 us + 1.6384 us). 1 MB by halving and
 * doubling: 4 x 10 us + 2 x 3/4 x 100 us. Gathering 16 kB: 2 x 10 us + 3/4 x 1.6384 us. The engine adds 5 us to each.
 */
TEST(collectives_take_the_faster_way) {
  int64_t ways = 8, reduced = 16384, gathered = 0, none = 0;
  tensor_split s = {.ways = &ways, .reduced_bytes = &reduced, .gathered_bytes = &gathered};
  situ_device d = SITU_DEVICE_INIT;
  d.members = 4;
  d.sync_latency_ns = 10000;
  d.sync_bytes_per_s = 1e10;
  assert_int_equal(tensor_split_collective_ns(&s, 0, &d, 5000), 5000 + 23277);
  reduced = 1000000;
  assert_int_equal(tensor_split_collective_ns(&s, 0, &d, 5000), 5000 + 40000 + 150000);
  gathered = 16384;
  assert_int_equal(tensor_split_collective_ns(&s, 0, &d, 5000), 195000 + 5000 + 20000 + 1229);
  s.reduced_bytes = s.gathered_bytes = &none;
  assert_int_equal(tensor_split_collective_ns(&s, 0, &d, 5000), 0);
  d.members = 1;
  s.reduced_bytes = &reduced;
  assert_int_equal(tensor_split_collective_ns(&s, 0, &d, 5000), 0);
  assert_true(tensor_split_share(&s, 0, 3) == 3.0 / 8 && tensor_split_share(&s, 0, 4) == 2.0 / 8);
  assert_true(tensor_split_share(&s, 0, 16) == 1.0 / 8);
}

/* A product of 64 rows and 1,024 columns of F32 is a sum of 65,536 numbers: many for two members, not for three. Of F16
 * it stays as it is. */
TEST(sums_of_many_numbers_are_sent_in_16_bits) {
  for (int wide = 0; wide < 2; wide++) {
    situ_graph_builder *b;
    assert_int_equal(situ_graph_builder_new(&b, "sum", NULL), SITU_STATUS_OK);
    situ_operator op = SITU_OPERATOR_INIT;
    op.name = "product";
    op.kind = "MatMul";
    int32_t v = situ_graph_builder_add_operator(b, &op);
    int64_t dims[] = {64, 1024};
    situ_tensor tensor = SITU_TENSOR_INIT;
    tensor.dtype = wide ? SITU_DTYPE_F32 : SITU_DTYPE_F16;
    tensor.rank = 2;
    tensor.dims = dims;
    tensor.size_bytes = 65536 * (wide ? 4 : 2);
    situ_graph_builder_add_tensor(b, v, &tensor);
    OWN(situ_graph) *g = NULL;
    assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
    situ_graph_builder_free(b);
    int64_t reduced = tensor.size_bytes, ways = 1024, gathered = 0;
    tensor_split s = {.graph = g, .ways = &ways, .reduced_bytes = &reduced, .gathered_bytes = &gathered}, sent;
    OWN(arena) *a = arena_new();
    assert_true(tensor_split_narrow(&sent, &s, 2, a));
    assert_int_equal(sent.reduced_bytes[0], 65536 * 2);
    assert_true(tensor_split_narrow(&sent, &s, 3, a));
    assert_int_equal(sent.reduced_bytes[0], reduced);
    assert_int_equal(s.reduced_bytes[0], tensor.size_bytes);
  }
}

TEST_MAIN
