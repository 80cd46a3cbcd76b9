/* The builder, freezing, and the random graphs of the tests. */
#include "../../lab/random_graph.h"
#include "../../lab/test.h"
#include "base/dtype.h"
#include "base/rng.h"
#include "graph/ancestors.h"
#include "graph/builder.h"
#include "graph/components.h"
#include "graph/neighbours.h"
#include "graph/topological.h"

static situ_graph_builder *builder(void) {
  situ_graph_builder *b;
  assert_int_equal(situ_graph_builder_new(&b, "test", NULL), SITU_STATUS_OK);
  return b;
}

/* An operator with one tensor; returns the tensor's number, which is the operator's too if all are made by this. */
static int32_t op(situ_graph_builder *b, const char *name) {
  int32_t v, t;
  situ_operator o = {.name = name, .kind = "Add", .colocation = -1, .source_id = -1};
  situ_tensor made = {.rank = -1, .size_bytes = 8};
  assert_int_equal(builder_add_operator(b, &o, &v, NULL), SITU_STATUS_OK);
  assert_int_equal(builder_add_tensor(b, v, &made, &t, NULL), SITU_STATUS_OK);
  return t;
}

static void use(situ_graph_builder *b, int32_t consumer, int32_t tensor) {
  assert_int_equal(builder_add_use(b, consumer, tensor, NULL), SITU_STATUS_OK);
}

static situ_graph *freeze(situ_graph_builder *b) {
  situ_graph *g;
  situ_error error;
  if (situ_graph_freeze(&g, b, &error) != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
  situ_graph_builder_free(b);
  return g;
}

TEST(an_order_that_is_topological_is_kept) {
  situ_graph_builder *b = builder();
  const char *names[] = {"c", "a", "d", "b", "e"};
  for (int i = 0; i < 5; i++) op(b, names[i]);
  use(b, 3, 0); /* c -> b */
  use(b, 4, 1); /* a -> e */
  OWN(situ_graph) *g = freeze(b);
  for (int32_t v = 0; v < 5; v++) {
    assert_string_equal(graph_operator(g, v).name, names[v]);
    assert_int_equal(g->built_index[v], v);
    assert_int_equal(situ_graph_find(g, names[v]), v);
  }
  assert_int_equal(situ_graph_find(g, "f"), -1);
}

TEST(an_order_that_is_not_is_changed_as_little_as_needed) {
  situ_graph_builder *b = builder();
  for (int i = 0; i < 4; i++) op(b, (const char *[]){"a", "b", "c", "d"}[i]);
  use(b, 0, 2); /* c -> a: only a has to wait; the smallest ready number goes first: b c a d */
  OWN(situ_graph) *g = freeze(b);
  const char *expected[] = {"b", "c", "a", "d"};
  for (int32_t v = 0; v < 4; v++) assert_string_equal(graph_operator(g, v).name, expected[v]);
  const int32_t *list;
  assert_int_equal(situ_graph_inputs(g, 2, &list), 1);
  assert_int_equal(situ_graph_tensor_producer(g, list[0]), 1);
}

TEST(an_operator_on_the_cycle_is_named_not_one_behind_it) {
  situ_graph_builder *b = builder();
  op(b, "behind"); /* reads from the cycle and comes first */
  op(b, "source");
  op(b, "x");
  op(b, "y");
  use(b, 0, 3);
  use(b, 2, 1);
  use(b, 2, 3);
  use(b, 3, 2);
  situ_graph *g;
  situ_error error;
  assert_int_equal(situ_graph_freeze(&g, b, &error), SITU_STATUS_BAD_INPUT);
  assert_null(g);
  assert_true(strcmp(error.where, "x") == 0 || strcmp(error.where, "y") == 0);
  assert_non_null(strstr(error.text, "cycle of 2 operators"));
  situ_graph_builder_free(b);

  b = builder();
  op(b, "alone");
  use(b, 0, 0);
  assert_int_equal(situ_graph_freeze(&g, b, &error), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, "alone");
  situ_graph_builder_free(b);
}

TEST(two_operators_of_one_name_are_refused) {
  OWN(situ_graph_builder) *b = builder();
  op(b, "twin");
  op(b, "other");
  op(b, "twin");
  situ_graph *g;
  situ_error error;
  assert_int_equal(situ_graph_freeze(&g, b, &error), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, "twin");
}

TEST(a_made_name_gives_way_to_given_ones) {
  situ_graph_builder *b = builder();
  op(b, NULL);
  op(b, "");
  op(b, "Add_1");
  op(b, "Add_1_2");
  OWN(situ_graph) *g = freeze(b);
  assert_string_equal(graph_operator(g, 0).name, "Add_0");
  assert_string_equal(graph_operator(g, 1).name, "Add_1_3");
  assert_string_equal(graph_operator(g, 2).name, "Add_1");
  assert_int_equal(situ_graph_find(g, "Add_1_3"), 1);
}

TEST(a_name_that_is_no_text_is_made_anew) {
  situ_graph_builder *b = builder();
  op(b, "\xff\xfe");     /* bytes of no character */
  op(b, "na\xc3\xafve"); /* U+00EF */
  op(b, "\xed\xa0\x80"); /* half of a pair of UTF-16 */
  OWN(situ_graph) *g = freeze(b);
  assert_string_equal(graph_operator(g, 0).name, "Add_0");
  assert_string_equal(graph_operator(g, 1).name, "na\xc3\xafve");
  assert_string_equal(graph_operator(g, 2).name, "Add_2");
}

TEST(a_use_said_twice_counts_once) {
  situ_graph_builder *b = builder();
  op(b, "a");
  op(b, "b");
  op(b, "c");
  situ_tensor second = {.rank = -1, .size_bytes = 4};
  int32_t t;
  assert_int_equal(builder_add_tensor(b, 0, &second, &t, NULL), SITU_STATUS_OK);
  for (int i = 0; i < 3; i++) {
    use(b, 2, t);
    use(b, 2, 0);
    use(b, 1, 0);
  }
  OWN(situ_graph) *g = freeze(b);
  assert_int_equal(g->n_uses, 3);  /* (a.0, b), (a.0, c), (a.1, c) */
  assert_int_equal(g->n_edges, 2); /* a -> b, a -> c */
  const int32_t *list;
  assert_int_equal(situ_graph_users(g, 0, &list), 2);
  assert_int_equal(list[0], 1);
  assert_int_equal(list[1], 2);
  assert_int_equal(situ_graph_inputs(g, 2, &list), 2);
  int32_t first;
  assert_int_equal(situ_graph_outputs(g, 0, &first), 2);
}

TEST(what_is_out_of_range_is_refused) {
  situ_graph_builder *b = builder();
  OWN(situ_graph) *g = NULL;
  situ_error error;
  assert_int_equal(situ_graph_freeze(&g, b, &error), SITU_STATUS_BAD_INPUT); /* empty */
  op(b, "good");
  situ_operator bad[] = {{.name = "o", .weight_bytes = -1, .colocation = -1},
                         {.name = "o", .workspace_bytes = -1, .colocation = -1},
                         {.name = "o", .flops = INT64_MIN, .colocation = -1},
                         {.name = "o", .moved_bytes = -1, .colocation = -1},
                         {.name = "o", .colocation = -2},
                         {.name = "o", .dtype = (situ_dtype)DTYPE_COUNT, .colocation = -1},
                         {.name = "o", .phase = (situ_phase)4, .colocation = -1}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_not_equal(builder_add_operator(b, &bad[i], NULL, &error), SITU_STATUS_OK);
    assert_string_equal(error.where, "o");
  }
  int64_t negative = -2;
  situ_tensor odd[] = {{.name = "t", .size_bytes = -1},
                       {.name = "t", .rank = -2},
                       {.name = "t", .rank = 1 << 30},
                       {.name = "t", .rank = 1, .dims = &negative}};
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
    assert_int_equal(builder_add_tensor(b, 0, &odd[i], NULL, &error), SITU_STATUS_BAD_INPUT);
    assert_string_equal(error.where, "t");
  }
  situ_tensor fine = {.size_bytes = 1};
  assert_int_equal(builder_add_tensor(b, 1, &fine, NULL, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(builder_add_tensor(b, -1, &fine, NULL, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(builder_add_use(b, 0, 1, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(builder_add_use(b, -1, 0, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(builder_add_use(b, 1, 0, NULL), SITU_STATUS_BAD_ARGUMENT);
  g = freeze(b); /* nothing of it was added */
  assert_int_equal(g->n_operators, 1);
  assert_int_equal(g->n_tensors, 1);
}

TEST(what_was_said_comes_back) {
  situ_graph_builder *b = builder();
  char name[] = "conv", layer[] = "stem";
  int64_t dims[] = {2, -1, 7};
  situ_operator o = {.name = name,
                     .kind = "Conv",
                     .layer = layer,
                     .phase = SITU_PHASE_BACKWARD,
                     .dtype = SITU_DTYPE_F16,
                     .weight_bytes = INT64_MAX,
                     .workspace_bytes = 2,
                     .flops = 3,
                     .moved_bytes = 4,
                     .source_id = 5,
                     .colocation = -1,
                     .inferred = true};
  situ_tensor t = {.name = name, .dtype = SITU_DTYPE_I8, .rank = 3, .dims = dims, .size_bytes = INT64_MAX};
  assert_int_equal(builder_add_operator(b, &o, NULL, NULL), SITU_STATUS_OK);
  assert_int_equal(builder_add_tensor(b, 0, &t, NULL, NULL), SITU_STATUS_OK);
  name[0] = layer[0] = '?'; /* the builder has copied */
  dims[0] = 99;
  OWN(situ_graph) *g = freeze(b);
  situ_operator got = graph_operator(g, 0);
  assert_string_equal(got.name, "conv");
  assert_string_equal(got.kind, "Conv");
  assert_string_equal(got.layer, "stem");
  assert_int_equal(got.phase, SITU_PHASE_BACKWARD);
  assert_int_equal(got.dtype, SITU_DTYPE_F16);
  assert_true(got.weight_bytes == INT64_MAX);
  assert_int_equal(got.workspace_bytes, 2);
  assert_int_equal(got.flops, 3);
  assert_int_equal(got.moved_bytes, 4);
  assert_int_equal(got.source_id, 5);
  assert_true(got.inferred);
  situ_tensor back = graph_tensor(g, 0);
  assert_string_equal(back.name, "conv");
  assert_int_equal(back.rank, 3);
  assert_int_equal(back.dims[0], 2);
  assert_int_equal(back.dims[1], -1);
  assert_int_equal(back.dims[2], 7);
  assert_true(back.size_bytes == INT64_MAX);
  assert_string_equal(g->model, "test");
}

TEST(groups_are_numbered_densely_and_lone_members_dropped) {
  situ_graph_builder *b = builder();
  const int32_t given[] = {INT32_MAX, 7, -1, 3, 7, INT32_MAX, INT32_MAX - 1};
  const int32_t expected[] = {0, 1, -1, -1, 1, 0, -1};
  for (int i = 0; i < 7; i++) {
    situ_operator o = {.colocation = given[i]};
    assert_int_equal(builder_add_operator(b, &o, NULL, NULL), SITU_STATUS_OK);
  }
  OWN(situ_graph) *g = freeze(b);
  for (int32_t v = 0; v < 7; v++) assert_int_equal(g->colocation[v], expected[v]);
  assert_int_equal(g->n_colocations, 2);
}

/* The invariants of graph/graph.h, each recomputed in the plainest way. */
static void check_invariants(const situ_graph *g) {
  int64_t n_uses = 0, n_edges = 0;
  char *edge = calloc((size_t)g->n_operators, (size_t)g->n_operators);
  char *pair = calloc((size_t)g->n_tensors + 1, (size_t)g->n_operators);
  for (int32_t v = 0; v < g->n_operators; v++) {
    const int32_t *in;
    int32_t first, n = situ_graph_inputs(g, v, &in);
    for (int32_t i = 0; i < n; i++) {
      if (i > 0) assert_true(in[i] > in[i - 1]);
      int32_t u = situ_graph_tensor_producer(g, in[i]);
      assert_true(u < v);
      n_uses++;
      n_edges += !edge[u * g->n_operators + v];
      edge[u * g->n_operators + v] = 1;
      pair[in[i] * g->n_operators + v] = 1;
    }
    n = situ_graph_outputs(g, v, &first);
    for (int32_t t = first; t < first + n; t++) assert_int_equal(situ_graph_tensor_producer(g, t), v);
    assert_int_equal(first + n, g->out_start[v + 1]);
    assert_int_equal(situ_graph_find(g, graph_operator(g, v).name), v);
  }
  assert_int_equal(g->out_start[g->n_operators], g->n_tensors);
  int64_t seen = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    const int32_t *users;
    int32_t n = situ_graph_users(g, t, &users);
    for (int32_t i = 0; i < n; i++, seen++) {
      if (i > 0) assert_true(users[i] > users[i - 1]);
      assert_int_equal(pair[t * g->n_operators + users[i]], 1);
    }
  }
  assert_int_equal(seen, n_uses);
  assert_int_equal(g->n_uses, n_uses);
  assert_int_equal(g->n_edges, n_edges);
  free(edge);
  free(pair);
}

TEST(random_graphs_keep_the_invariants) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    graph_random_options o = {.n_operators = 1 + (int32_t)(seed % 60),
                              .edge_density = 0.02 * (double)(seed % 50),
                              .seed = seed,
                              .n_colocations = (int32_t)(seed % 5),
                              .max_outputs = (int32_t)(seed % 4),
                              .training = seed % 3 == 0};
    OWN(situ_graph) *g = NULL;
    assert_int_equal(graph_random(&g, &o, NULL), SITU_STATUS_OK);
    assert_int_equal(g->n_operators, o.n_operators);
    check_invariants(g);
    for (int32_t v = 0; v < g->n_operators; v++) assert_int_equal(g->built_index[v], v);
  }
}

/* A random graph given in a random order, with uses in a random order: every relation must survive renumbering. */
/* Against paths and neighbours that are looked for anew. */
static bool leads(const situ_graph *g, int32_t u, int32_t v) {
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (g->producer[g->in[i]] == u || leads(g, u, g->producer[g->in[i]])) return true;
  return false;
}

TEST(questions_about_neighbours_and_paths_are_answered) {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    graph_random_options o = {.n_operators = 14, .edge_density = 0.15, .seed = seed, .max_outputs = 2};
    OWN(situ_graph) *g = NULL;
    assert_int_equal(graph_random(&g, &o, NULL), SITU_STATUS_OK);
    OWN(arena) *a = arena_new();
    bit_rows above;
    int32_t order[14], place[14];
    rng r = rng_new(seed);
    assert_true(ancestors_find(&above, g, a));
    for (int32_t v = 0; v < 14; v++) {
      int32_t user = -1, producer = -1, n_users = 0, n_producers = 0;
      for (int32_t w = 0; w < 14; w++) {
        bool next = false;
        for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++) next |= g->producer[g->in[i]] == v;
        if (next) user = w;
        n_users += next;
        next = false;
        for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) next |= g->producer[g->in[i]] == w;
        if (next) producer = w;
        n_producers += next;
        assert_int_equal(bit_rows_has(&above, v, w), leads(g, w, v));
      }
      assert_int_equal(neighbours_only_user(g, v), n_users == 1 ? user : -1);
      assert_int_equal(neighbours_only_producer(g, v), n_producers == 1 ? producer : -1);
    }
    assert_true(topological_deep(order, g, seed % 2 ? &r : NULL, a));
    for (int32_t v = 0; v < 14; v++) place[v] = -1;
    for (int32_t k = 0; k < 14; k++) place[order[k]] = k;
    for (int32_t v = 0; v < 14; v++) {
      assert_true(place[v] >= 0);
      for (int32_t w = 0; w < 14; w++)
        if (bit_rows_has(&above, v, w)) assert_true(place[w] < place[v]);
    }
  }
}

/* Nodes of any directed graph share a component exactly where each reaches the other, which Warshall's closure says. */
TEST(components_are_what_reaches_each_other) {
  enum { N = 12 };
  int32_t n_joined = 0;
  for (uint64_t seed = 1; seed <= 500; seed++) {
    rng r = rng_new(seed);
    bool reaches[N][N] = {{false}};
    int32_t start[N + 1] = {0}, to[N * N], component[N], n, edges = 0;
    for (int32_t u = 0; u < N; u++) {
      for (int32_t v = 0; v < N; v++)
        if (rng_below(&r, 9) == 0) {
          reaches[u][v] = true;
          to[edges++] = v;
        }
      start[u + 1] = edges;
    }
    for (int32_t k = 0; k < N; k++)
      for (int32_t u = 0; u < N; u++)
        for (int32_t v = 0; v < N; v++) reaches[u][v] |= reaches[u][k] && reaches[k][v];
    OWN(arena) *a = arena_new();
    assert_true(components_find(component, &n, start, to, N, a));
    for (int32_t u = 0; u < N; u++) {
      assert_in_range(component[u], 0, n - 1);
      for (int32_t v = 0; v < u; v++) {
        assert_int_equal(component[u] == component[v], reaches[u][v] && reaches[v][u]);
        n_joined += component[u] == component[v];
      }
      for (int32_t i = start[u]; i < start[u + 1]; i++) assert_true(component[u] >= component[to[i]]);
    }
  }
  assert_true(n_joined > 1000);
}

TEST(any_order_of_building_gives_the_same_relations) {
  enum { N = 40 };
  for (uint64_t seed = 0; seed < 100; seed++) {
    rng r = rng_new(seed);
    int32_t place[N]; /* the builder's number of operator i, where i -> j only if i < j */
    for (int32_t i = 0; i < N; i++) {
      int32_t j = (int32_t)rng_below(&r, i + 1);
      place[i] = place[j];
      place[j] = i;
    }
    situ_graph_builder *b = builder();
    char name[16];
    for (int32_t i = 0; i < N; i++) {
      snprintf(name, sizeof name, "p%d", i);
      op(b, name);
    }
    char edge[N][N] = {{0}};
    for (int k = 0; k < 150; k++) {
      int32_t i = (int32_t)rng_below(&r, N), j = (int32_t)rng_below(&r, N);
      if (i >= j) continue;
      edge[i][j] = 1;
      use(b, place[j], place[i]);
    }
    OWN(situ_graph) *g = freeze(b);
    check_invariants(g);
    for (int32_t j = 0; j < N; j++) {
      snprintf(name, sizeof name, "p%d", place[j]);
      const int32_t *in;
      int32_t v = situ_graph_find(g, name), n = situ_graph_inputs(g, v, &in), expected = 0;
      assert_int_equal(g->built_index[v], place[j]);
      for (int32_t i = 0; i < N; i++) expected += edge[i][j];
      assert_int_equal(n, expected);
      for (int32_t i = 0; i < n; i++) {
        int32_t from = g->built_index[situ_graph_tensor_producer(g, in[i])], k = 0;
        while (place[k] != from) k++;
        assert_int_equal(edge[k][j], 1);
      }
    }
  }
}

TEST(a_seed_gives_one_random_graph) {
  graph_random_options o = {.n_operators = 100, .edge_density = 0.1, .seed = 1, .n_colocations = 5, .max_outputs = 3};
  OWN(situ_graph) *a = NULL, *b = NULL, *c = NULL;
  assert_int_equal(graph_random(&a, &o, NULL), SITU_STATUS_OK);
  assert_int_equal(graph_random(&b, &o, NULL), SITU_STATUS_OK);
  o.seed = 2;
  assert_int_equal(graph_random(&c, &o, NULL), SITU_STATUS_OK);
  size_t bytes = (size_t)a->n_operators * sizeof(int64_t);
  assert_int_equal(a->n_uses, b->n_uses);
  assert_memory_equal(a->flops, b->flops, bytes);
  assert_memory_equal(a->in_start, b->in_start, bytes);
  assert_memory_not_equal(a->flops, c->flops, bytes);
}

TEST(random_graphs_have_what_is_easily_forgotten) {
  graph_random_options o = {
      .n_operators = 300, .edge_density = 0.03, .seed = 3, .n_colocations = 10, .max_outputs = 3, .training = true};
  situ_graph *g;
  assert_int_equal(graph_random(&g, &o, NULL), SITU_STATUS_OK);
  int phases[3] = {0}, empty = 0, unread = 0, shared = 0, several = 0, none = 0, idle = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    phases[g->phase[v]]++;
    int32_t first, n = situ_graph_outputs(g, v, &first);
    several += n > 1;
    none += n == 0;
    idle += g->flops[v] == 0 && g->moved_bytes[v] == 0;
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    const int32_t *users;
    int32_t n = situ_graph_users(g, t, &users);
    unread += n == 0;
    shared += n > 1;
    empty += g->size_bytes[t] == 0;
  }
  assert_int_equal(phases[0], 120); /* two fifths of 300, mirrored; the rest updates */
  assert_int_equal(phases[1], 120);
  assert_int_equal(phases[2], 60);
  assert_true(g->n_colocations >= 10 && empty && unread && shared && several && none && idle);
  for (int32_t v = 0; v < g->n_operators; v++)
    if (g->phase[v] == SITU_PHASE_UPDATE) assert_true(g->colocation[v] >= 0);
  situ_graph_free(g);
  o.edge_density = 1.5;
  situ_error error;
  assert_int_equal(graph_random(&g, &o, &error), SITU_STATUS_BAD_ARGUMENT);
}

TEST_MAIN
