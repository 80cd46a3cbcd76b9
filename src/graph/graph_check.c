/* The invariants of a frozen graph. */
#include "base/contracts.h"
#include "base/dtype.h"
#include "graph/graph.h"

static const char *check_operators(const situ_graph *g) {
  int32_t n = g->n_operators;
  EXPECT(n > 0 && n <= SITU_MAX_OPERATORS, "a graph has 1 to SITU_MAX_OPERATORS operators");
  EXPECT(contracts_within(g->kind, n, 0, g->n_kinds), "every operator has a kind");
  EXPECT(contracts_within(g->layer, n, -1, g->n_layers), "the layer of an operator exists or is -1");
  EXPECT(contracts_within(g->weight_type, n, -1, g->n_weight_types),
         "the type of an operator's weights exists or is -1");
  EXPECT(contracts_amounts(g->weight_bytes, n) && contracts_amounts(g->workspace_bytes, n), "sizes are at least 0");
  EXPECT(contracts_amounts(g->flops, n) && contracts_amounts(g->moved_bytes, n), "work is at least 0");
  for (int32_t v = 0; v < n; v++) {
    EXPECT(g->phase[v] <= SITU_PHASE_RECOMPUTE && g->dtype[v] < DTYPE_COUNT, "phases and element types exist");
    EXPECT(g->name[v] && situ_graph_find(g, g->name[v]) == v, "every operator has a name of its own");
  }
  return NULL;
}

/* Groups are numbered by their first member, and have more than one. */
static const char *check_colocations(const situ_graph *g) {
  int32_t opened = 0;
  int64_t members = 0;
  EXPECT(contracts_within(g->colocation, g->n_operators, -1, g->n_colocations), "colocation groups exist");
  for (int32_t v = 0; v < g->n_operators; v++) {
    EXPECT(g->colocation[v] <= opened, "colocation groups are numbered in order of their first operator");
    opened += g->colocation[v] == opened;
    members += g->colocation[v] >= 0;
  }
  EXPECT(opened == g->n_colocations && members >= 2 * (int64_t)opened, "a colocation group has two members or more");
  return NULL;
}

static const char *check_tensors(const situ_graph *g) {
  int32_t n = g->n_operators, m = g->n_tensors;
  EXPECT(contracts_lists(g->out_start, n, m), "out_start lists all tensors by producer");
  EXPECT(contracts_amounts(g->size_bytes, m), "tensors have sizes of at least 0");
  for (int32_t v = 0; v < n; v++)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      EXPECT(g->producer[t] == v, "producer agrees with out_start");
  for (int32_t t = 0; t < m; t++) {
    int64_t n_dims = g->dims_start[t + 1] - g->dims_start[t];
    EXPECT(g->rank[t] >= -1 && n_dims == (g->rank[t] > 0 ? g->rank[t] : 0), "a tensor has as many dims as its rank");
  }
  return NULL;
}

static const char *check_uses(const situ_graph *g) {
  int64_t n_edges = 0;
  EXPECT(contracts_long_lists(g->use_start, g->n_tensors, g->n_uses), "use_start lists all uses by tensor");
  EXPECT(contracts_long_lists(g->in_start, g->n_operators, g->n_uses), "in_start lists all uses by operator");
  EXPECT(contracts_within(g->use, g->n_uses, 0, g->n_operators), "users exist");
  EXPECT(contracts_within(g->in, g->n_uses, 0, g->n_tensors), "inputs exist");
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int64_t first = g->use_start[t], n = g->use_start[t + 1] - first;
    EXPECT(contracts_rise(g->use + first, n), "the users of a tensor ascend");
    EXPECT(n == 0 || g->use[first] > g->producer[t], "operators are numbered in a topological order");
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t first = g->in_start[v], n = g->in_start[v + 1] - first;
    EXPECT(contracts_rise(g->in + first, n), "the inputs of an operator ascend");
    for (int64_t i = first; i < first + n; i++)
      n_edges += i == first || g->producer[g->in[i]] != g->producer[g->in[i - 1]];
  }
  EXPECT(n_edges == g->n_edges, "n_edges counts pairs of producer and user");
  return NULL;
}

/* Both families have n_uses entries, without repeats: so they are the same if one is part of the other. */
static const char *check_lists_agree(const situ_graph *g) {
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int64_t low = g->use_start[g->in[i]], high = g->use_start[g->in[i] + 1];
      while (low < high) { /* v among the users, which ascend */
        int64_t middle = low + (high - low) / 2;
        if (g->use[middle] < v)
          low = middle + 1;
        else
          high = middle;
      }
      EXPECT(low < g->use_start[g->in[i] + 1] && g->use[low] == v, "an operator is among the users of its inputs");
    }
  return NULL;
}

const char *graph_check(const situ_graph *g) {
  EXPECT(g && g->arena && g->model && g->by_name, "a graph has an arena, the name of a model, and a map of names");
  EXPECT_CHECK(check_operators(g));
  EXPECT_CHECK(check_colocations(g));
  EXPECT_CHECK(check_tensors(g));
  EXPECT_CHECK(check_uses(g));
  for (int32_t i = 0; i < g->n_guesses; i++) {
    const graph_guess *guess = &g->guesses[i];
    bool all = guess->n_operators == GUESS_OF_ALL;
    EXPECT(guess->subject && (all || guess->n_operators > 0), "a guess has a subject, and operators that it is about");
    EXPECT(all || contracts_within(guess->operators, guess->n_operators, 0, g->n_operators), "these operators exist");
    EXPECT(all || contracts_rise(guess->operators, guess->n_operators), "the operators of a guess ascend");
  }
  return check_lists_agree(g);
}
