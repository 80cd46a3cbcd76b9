#include "solve/pipeline/elimination.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

/* The graph of the variables that are not yet eliminated, as bits. */
typedef struct variable_graph {
  int32_t n, n_words;
  uint64_t *adjacent; /* [variable * n_words] */
  bool *eliminated;
  double *weight; /* entries of the table that each would have now */
  const int32_t *size;
} variable_graph;

static uint64_t *row_of(const variable_graph *w, int32_t v) { return w->adjacent + (int64_t)v * w->n_words; }

static void update_weight(variable_graph *w, int32_t v) {
  const uint64_t *row = row_of(w, v);
  double weight = w->size[v];
  for (int32_t k = 0; k < w->n_words; k++)
    for (uint64_t left = row[k]; left; left &= left - 1) weight *= w->size[k * 64 + __builtin_ctzll(left)];
  w->weight[v] = weight;
}

static bool variable_graph_init(variable_graph *w, int32_t n, const int32_t *size, int32_t n_factors,
                                const factor *factors, arena *a) {
  *w = (variable_graph){.n = n, .n_words = (n + 63) / 64, .size = size};
  if (!ARENA_ARRAYS(a, ZEROS(w->adjacent, (int64_t)n * w->n_words), ZEROS(w->eliminated, n), ARRAY(w->weight, n)))
    return false;
  for (int32_t i = 0; i < n_factors; i++) {
    int32_t u = factors[i].variable[0], v = factors[i].variable[1];
    if (v < 0 || u == v) continue;
    row_of(w, u)[v / 64] |= 1ull << (v % 64);
    row_of(w, v)[u / 64] |= 1ull << (u % 64);
  }
  for (int32_t v = 0; v < n; v++) update_weight(w, v);
  return true;
}

/* Eliminates the variable with the smallest table and connects its neighbours. */
static int32_t eliminate_next(variable_graph *w) {
  int32_t v = -1;
  for (int32_t u = 0; u < w->n; u++)
    if (!w->eliminated[u] && (v < 0 || w->weight[u] < w->weight[v])) v = u;
  const uint64_t *mine = row_of(w, v);
  w->eliminated[v] = true;
  for (int32_t k = 0; k < w->n_words; k++)
    for (uint64_t left = mine[k]; left; left &= left - 1) {
      int32_t u = k * 64 + __builtin_ctzll(left);
      uint64_t *its = row_of(w, u);
      for (int32_t i = 0; i < w->n_words; i++) its[i] |= mine[i];
      its[u / 64] &= ~(1ull << (u % 64));
      its[v / 64] &= ~(1ull << (v % 64));
    }
  for (int32_t k = 0; k < w->n_words; k++)
    for (uint64_t left = mine[k]; left; left &= left - 1) update_weight(w, k * 64 + __builtin_ctzll(left));
  return v;
}

/* Sorts the neighbours of a table by the order of elimination. */
static void sort_neighbours(elimination_table *t, const int32_t *rank) {
  for (int32_t i = 1; i < t->n_neighbours; i++)
    for (int32_t j = i; j > 0 && rank[t->neighbours[j]] < rank[t->neighbours[j - 1]]; j--) {
      int32_t swap = t->neighbours[j];
      t->neighbours[j] = t->neighbours[j - 1];
      t->neighbours[j - 1] = swap;
    }
}

/* The tables without their terms, in order of elimination; rank[variable]: its place in that order. */
static elimination_made order_tables(elimination *e, variable_graph *w, int32_t *rank, int64_t max_entries, arena *a) {
  int64_t max_rows = 1;
  for (int32_t i = 0; i < e->n; i++) {
    int32_t v = eliminate_next(w);
    elimination_table *t = &e->tables[i];
    if (w->weight[v] > (double)(max_entries - e->n_entries)) return ELIMINATION_TOO_WIDE;
    *t = (elimination_table){.variable = v, .parent = -1, .n_rows = 1};
    const uint64_t *row = row_of(w, v);
    for (int32_t k = 0; k < w->n_words; k++) t->n_neighbours += __builtin_popcountll(row[k]);
    t->neighbours = ARENA_NEW(a, int32_t, t->n_neighbours);
    if (!t->neighbours) return ELIMINATION_NO_MEMORY;
    int32_t n = 0;
    for (int32_t k = 0; k < w->n_words; k++)
      for (uint64_t left = row[k]; left; left &= left - 1) t->neighbours[n++] = k * 64 + __builtin_ctzll(left);
    for (int32_t k = 0; k < n; k++) t->n_rows *= e->size[t->neighbours[k]];
    if (!ARENA_ARRAYS(a, ARRAY(t->sum, t->n_rows * e->size[v]), ARRAY(t->message, t->n_rows)))
      return ELIMINATION_NO_MEMORY;
    e->n_entries += t->n_rows * e->size[v];
    max_rows = max64(max_rows, t->n_rows);
    rank[v] = i;
  }
  e->scratch = ARENA_NEW(a, int64_t, max_rows);
  return e->scratch ? ELIMINATION_READY : ELIMINATION_NO_MEMORY;
}

/* Adds a term to a table: the function of these variables, the last one varying fastest. */
static bool add_term(const elimination *e, elimination_table *t, const int64_t *value, const int32_t *variables,
                     int32_t n, arena *a) {
  int32_t n_digits = t->n_neighbours + 1, own = e->size[t->variable];
  int32_t *stride = ARENA_ZERO(a, int32_t, n_digits), *digit = ARENA_ZERO(a, int32_t, n_digits);
  int64_t n_entries = t->n_rows * own;
  elimination_term *term = &t->terms[t->n_terms++];
  *term = (elimination_term){value, ARENA_NEW(a, int32_t, n_entries)};
  if (!stride || !digit || !term->at) return false;
  int32_t step = 1;
  for (int32_t k = n - 1; k >= 0; k--) {
    int32_t place = n_digits - 1;
    for (int32_t j = 0; j < t->n_neighbours; j++)
      if (t->neighbours[j] == variables[k]) place = j;
    stride[place] = step;
    step *= e->size[variables[k]];
  }
  int32_t at = 0;
  for (int64_t i = 0; i < n_entries; i++) {
    term->at[i] = at;
    for (int32_t j = n_digits - 1; j >= 0; j--) { /* the next entry */
      int32_t size = j == n_digits - 1 ? own : e->size[t->neighbours[j]];
      at += stride[j];
      if (++digit[j] < size) break;
      at -= stride[j] * size;
      digit[j] = 0;
    }
  }
  return true;
}

/* Adds each factor to the table of its variable that is eliminated first, and each message to that of the first
 * variable in it. */
static bool add_terms(elimination *e, const int32_t *rank, int32_t n_factors, const factor *factors, arena *a) {
  int32_t *n_terms = ARENA_ZERO(a, int32_t, e->n), *home = ARENA_NEW(a, int32_t, n_factors);
  if (!n_terms || !home) return false;
  for (int32_t i = 0; i < n_factors; i++) {
    const int32_t *v = factors[i].variable;
    home[i] = v[1] >= 0 && rank[v[1]] < rank[v[0]] ? rank[v[1]] : rank[v[0]];
    n_terms[home[i]]++;
  }
  for (int32_t i = 0; i < e->n; i++)
    if (e->tables[i].n_neighbours > 0) n_terms[e->tables[i].parent = rank[e->tables[i].neighbours[0]]]++;
  for (int32_t i = 0; i < e->n; i++) {
    e->tables[i].terms = ARENA_NEW(a, elimination_term, n_terms[i]);
    if (!e->tables[i].terms) return false;
    e->work += (n_terms[i] + 1) * e->tables[i].n_rows * e->size[e->tables[i].variable];
  }
  for (int32_t i = 0; i < n_factors; i++)
    if (!add_term(e, &e->tables[home[i]], factors[i].value, factors[i].variable, factors[i].variable[1] >= 0 ? 2 : 1,
                  a))
      return false;
  for (int32_t i = 0; i < e->n; i++) {
    elimination_table *t = &e->tables[i];
    if (t->parent < 0) continue;
    t->term_of_parent = e->tables[t->parent].n_terms;
    if (!add_term(e, &e->tables[t->parent], t->message, t->neighbours, t->n_neighbours, a)) return false;
  }
  return true;
}

elimination_made elimination_init(elimination *e, int32_t n, const int32_t *size, int32_t n_factors,
                                  const factor *factors, int64_t max_entries, arena *a) {
  variable_graph w;
  REQUIRE(contracts_within(size, n, 1, (int64_t)INT32_MAX + 1));
  for (int32_t i = 0; i < n_factors; i++)
    REQUIRE(factors[i].variable[0] >= 0 && contracts_within(factors[i].variable, 2, -1, n));
  *e = (elimination){.n = n, .size = size, .tables = ARENA_NEW(a, elimination_table, n)};
  int32_t *rank = ARENA_NEW(a, int32_t, n);
  if (!e->tables || !rank || !variable_graph_init(&w, n, size, n_factors, factors, a)) return ELIMINATION_NO_MEMORY;
  elimination_made made = order_tables(e, &w, rank, max_entries, a);
  if (made != ELIMINATION_READY) return made;
  for (int32_t i = 0; i < n; i++) sort_neighbours(&e->tables[i], rank);
  if (!add_terms(e, rank, n_factors, factors, a)) return ELIMINATION_NO_MEMORY;
  CONTRACT(elimination_check(e));
  return ELIMINATION_READY;
}

static void fill_table(elimination_table *t, int32_t size) {
  int64_t n = t->n_rows * size, *sum = t->sum;
  memset(sum, 0, (size_t)n * sizeof *sum);
  for (int32_t k = 0; k < t->n_terms; k++) {
    const int64_t *value = t->terms[k].value;
    const int32_t *at = t->terms[k].at;
    for (int64_t i = 0; i < n; i++) sum[i] = min64(sum[i] + value[at[i]], ELIMINATION_NEVER);
  }
  for (int64_t row = 0; row < t->n_rows; row++) {
    int64_t min = sum[row * size];
    for (int32_t v = 1; v < size; v++) min = min64(min, sum[row * size + v]);
    t->message[row] = min;
  }
}

int64_t elimination_minimise(elimination *e, int32_t *value) {
  int64_t total = 0;
  for (int32_t i = 0; i < e->n; i++) {
    elimination_table *t = &e->tables[i];
    fill_table(t, e->size[t->variable]);
    if (t->parent < 0) total = min64(total + t->message[0], ELIMINATION_NEVER);
  }
  if (total == ELIMINATION_NEVER) return total;
  for (int32_t i = e->n - 1; i >= 0; i--) {
    const elimination_table *t = &e->tables[i];
    int32_t size = e->size[t->variable], best = 0;
    int64_t row = 0;
    for (int32_t k = 0; k < t->n_neighbours; k++) row = row * e->size[t->neighbours[k]] + value[t->neighbours[k]];
    for (int32_t v = 1; v < size; v++)
      if (t->sum[row * size + v] < t->sum[row * size + best]) best = v;
    value[t->variable] = best;
  }
  return total;
}

/* Adds the minimum of all other tables, for each row of a table, to its sums. */
static void add_rest(const elimination *e, elimination_table *t) {
  const elimination_table *parent = &e->tables[t->parent];
  int64_t n = parent->n_rows * e->size[parent->variable], *rest = e->scratch;
  const int32_t *at = parent->terms[t->term_of_parent].at;
  int32_t size = e->size[t->variable];
  for (int64_t row = 0; row < t->n_rows; row++) rest[row] = ELIMINATION_NEVER;
  for (int64_t i = 0; i < n; i++) rest[at[i]] = min64(rest[at[i]], parent->sum[i]);
  for (int64_t row = 0; row < t->n_rows; row++) {
    bool never = rest[row] >= ELIMINATION_NEVER || t->message[row] >= ELIMINATION_NEVER;
    for (int32_t v = 0; v < size; v++) {
      int64_t *sum = &t->sum[row * size + v];
      *sum = never || *sum >= ELIMINATION_NEVER ? ELIMINATION_NEVER : *sum + rest[row] - t->message[row];
    }
  }
}

void elimination_marginals(elimination *e, const int64_t *start, int64_t *min) {
  int64_t total = 0; /* of the tables without parent, which share no variables */
  for (int32_t i = 0; i < e->n; i++)
    if (e->tables[i].parent < 0) total += e->tables[i].message[0];
  for (int32_t i = e->n - 1; i >= 0; i--) {
    elimination_table *t = &e->tables[i];
    int32_t size = e->size[t->variable];
    int64_t *mine = min + start[t->variable];
    if (t->parent >= 0)
      add_rest(e, t);
    else
      for (int32_t v = 0; v < size; v++)
        if (t->sum[v] < ELIMINATION_NEVER) t->sum[v] += total - t->message[0];
    for (int32_t v = 0; v < size; v++) mine[v] = ELIMINATION_NEVER;
    for (int64_t row = 0; row < t->n_rows; row++)
      for (int32_t v = 0; v < size; v++) mine[v] = min64(mine[v], t->sum[row * size + v]);
  }
}

/* Whether variable v is that of table t, or one of its neighbours. */
static bool has_variable(const elimination_table *t, int32_t v) {
  bool found = t->variable == v;
  for (int32_t k = 0; k < t->n_neighbours && !found; k++) found = t->neighbours[k] == v;
  return found;
}

const char *elimination_check(const elimination *e) {
  for (int32_t i = 0; i < e->n; i++) {
    const elimination_table *t = &e->tables[i];
    int64_t n_rows = 1;
    EXPECT(t->variable >= 0 && t->variable < e->n && e->size[t->variable] >= 1, "a table is of a variable");
    EXPECT(contracts_within(t->neighbours, t->n_neighbours, 0, e->n), "neighbours exist");
    EXPECT((t->parent < 0) == (t->n_neighbours == 0), "a table with neighbours has a parent");
    EXPECT(t->parent < e->n && (t->parent < 0 || t->parent > i), "the parent is eliminated later");
    for (int32_t k = 0; k < t->n_neighbours; k++) {
      EXPECT(t->neighbours[k] != t->variable, "a variable is not its own neighbour");
      EXPECT(has_variable(&e->tables[t->parent], t->neighbours[k]), "the parent has the neighbours of its children");
      n_rows *= e->size[t->neighbours[k]];
    }
    EXPECT(t->n_neighbours == 0 || e->tables[t->parent].variable == t->neighbours[0],
           "the parent is that of the first neighbour");
    EXPECT(t->n_rows == n_rows, "a table has a row for each combination of its neighbours");
    EXPECT(t->parent < 0 || t->term_of_parent < e->tables[t->parent].n_terms, "its message is a term of the parent");
  }
  return NULL;
}
