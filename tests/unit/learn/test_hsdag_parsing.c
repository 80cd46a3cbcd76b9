/* Graph parsing: one level is one round of Boruvka's algorithm; what the released procedure does. */
#include "../../lab/test.h"
#include "learn/hsdag_parsing.h"

enum { MAX_NODES = 60, N_GRAPHS = 200 };

/* A graph with scores of 1, 2, ... in a random order: for each edge, or for each direction. */
typedef struct drawn {
  parse_graph g;
  int32_t from[MAX_NODES * MAX_NODES], to[MAX_NODES * MAX_NODES], class_of[MAX_NODES];
  nn_real score[2 * MAX_NODES * MAX_NODES];
} drawn;

static void draw_scores(drawn *d, rng *random, bool symmetric) {
  int32_t n = symmetric ? d->g.n_edges : 2 * d->g.n_edges;
  for (int32_t i = 0; i < n; i++) {
    int32_t other = (int32_t)rng_below(random, i + 1);
    d->score[i] = d->score[other];
    d->score[other] = (nn_real)(i + 1);
  }
}

static void draw_graph(drawn *d, uint64_t seed, bool connected, int32_t n_classes, tape *t) {
  rng random = rng_new(seed);
  int32_t n = 1 + (int32_t)rng_below(&random, MAX_NODES), n_edges = 0;
  double density = rng_unit(&random) * 0.2;
  for (int32_t u = 0; u < n; u++) {
    d->class_of[u] = (int32_t)rng_below(&random, n_classes);
    for (int32_t v = u + 1; v < n; v++) {
      if (!(connected && v == u + 1) && rng_unit(&random) >= density) continue;
      d->from[n_edges] = u;
      d->to[n_edges++] = v;
    }
  }
  d->g = (parse_graph){.n = n, .n_edges = n_edges, .from = d->from, .to = d->to, .class_of = d->class_of};
  draw_scores(d, &random, true);
  assert_true(parse_graph_link(&d->g, t));
}

/* Labels spread along the best edges of all nodes that do not decline them until nothing changes. */
static void best_edge_components(const drawn *d, const nn_real *least, int32_t *label) {
  for (int32_t v = 0; v < d->g.n; v++) label[v] = v;
  for (bool more = true; more;) {
    more = false;
    for (int32_t v = 0; v < d->g.n; v++) {
      int32_t best = -1;
      for (int32_t e = 0; e < d->g.n_edges; e++)
        if ((d->from[e] == v || d->to[e] == v) && d->class_of[d->from[e]] == d->class_of[d->to[e]] &&
            (best < 0 || d->score[e] > d->score[best]))
          best = e;
      if (best < 0 || (least && d->score[best] <= least[v])) continue;
      int32_t u = d->from[best] + d->to[best] - v, lower = label[u] < label[v] ? label[u] : label[v];
      more |= label[u] != label[v];
      label[u] = label[v] = lower;
    }
  }
}

TEST(one_level_is_one_round_of_boruvka) {
  static drawn d;
  tape *t = tape_new();
  for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
    tape_reset(t);
    draw_graph(&d, seed, false, seed % 2 ? 3 : 1, t);
    int32_t label[MAX_NODES];
    parsing p;
    rng random = rng_new(seed);
    nn_real drawn_least[MAX_NODES], *least = seed % 3 ? drawn_least : NULL;
    for (int32_t v = 0; v < d.g.n; v++) drawn_least[v] = (nn_real)rng_unit(&random);
    best_edge_components(&d, least, label);
    assert_true(parse_level(&p, &d.g, d.score, least, t));
    for (int32_t u = 0; u < d.g.n; u++)
      for (int32_t v = 0; v < u; v++) assert_int_equal(p.cluster_of[u] == p.cluster_of[v], label[u] == label[v]);
    int64_t n_inside = 0;
    for (int32_t e = 0; e < d.g.n_edges; e++) {
      assert_int_equal(p.is_inside[e], p.cluster_of[d.from[e]] == p.cluster_of[d.to[e]]);
      n_inside += p.is_inside[e];
    }
    assert_int_equal(p.inside_start[p.n], n_inside);
    for (int32_t c = 0; c < p.n; c++) {
      assert_true(p.member_start[c] < p.member_start[c + 1]);
      for (int64_t i = p.inside_start[c]; i < p.inside_start[c + 1]; i++)
        assert_int_equal(p.cluster_of[d.from[p.inside[i]]], c);
    }
  }
  tape_free(t);
}

TEST(the_smaller_graph_has_an_edge_for_each_pair_of_clusters_that_touch) {
  static drawn d;
  tape *t = tape_new();
  for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
    tape_reset(t);
    draw_graph(&d, seed, false, 1, t);
    parsing p;
    parse_graph small;
    bool touch[MAX_NODES][MAX_NODES] = {{false}};
    int32_t n = 0;
    assert_true(parse_level(&p, &d.g, d.score, NULL, t) && parse_pool(&small, &d.g, &p, t));
    for (int32_t e = 0; e < d.g.n_edges; e++) {
      int32_t x = p.cluster_of[d.from[e]], y = p.cluster_of[d.to[e]];
      if (x != y) touch[x < y ? x : y][x < y ? y : x] = true;
    }
    for (int32_t x = 0; x < p.n; x++)
      for (int32_t y = 0; y < p.n; y++) n += touch[x][y];
    assert_int_equal(small.n_edges, n);
    for (int32_t e = 0; e < n; e++) {
      assert_true(touch[small.from[e]][small.to[e]]);
      touch[small.from[e]][small.to[e]] = false; /* no edge twice */
    }
  }
  tape_free(t);
}

/* Both directions of an edge get the score of the edge. */
static void mirror(drawn *d, const nn_real *score) {
  for (int32_t e = d->g.n_edges - 1; e >= 0; e--) d->score[2 * e] = d->score[2 * e + 1] = score[e];
}

TEST(the_released_procedure_is_the_same_where_both_directions_agree) {
  static drawn d;
  static nn_real score[MAX_NODES * MAX_NODES];
  tape *t = tape_new();
  for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
    tape_reset(t);
    draw_graph(&d, seed, false, seed % 2 ? 3 : 1, t);
    parsing ours, theirs;
    memcpy(score, d.score, sizeof score);
    assert_true(parse_level(&ours, &d.g, score, NULL, t));
    mirror(&d, score);
    assert_true(parse_level_published(&theirs, &d.g, d.score, t));
    assert_int_equal(ours.n, theirs.n);
    for (int32_t u = 0; u < d.g.n; u++)
      for (int32_t v = 0; v < u; v++)
        assert_int_equal(ours.cluster_of[u] == ours.cluster_of[v], theirs.cluster_of[u] == theirs.cluster_of[v]);
    assert_memory_equal(ours.is_inside, theirs.is_inside, (size_t)d.g.n_edges * sizeof(bool));
    assert_int_equal(theirs.inside_start[theirs.n], 2 * ours.inside_start[ours.n]);
  }
  tape_free(t);
}

/* Levels until clusters get no fewer, with new scores at each, as the released loop goes; the number that is left. */
static int32_t parse_to_the_end(drawn *d, uint64_t seed, bool symmetric, tape *t) {
  rng random = rng_new(seed);
  for (;;) {
    static nn_real score[MAX_NODES * MAX_NODES];
    parsing p;
    parse_graph small;
    draw_scores(d, &random, symmetric);
    memcpy(score, d->score, sizeof score);
    if (symmetric) mirror(d, score);
    assert_true(parse_level_published(&p, &d->g, d->score, t) && parse_pool(&small, &d->g, &p, t));
    bool end = small.n == d->g.n;
    d->g = small;
    if (end) return d->g.n;
  }
}

TEST(the_released_loop_makes_one_cluster_of_a_connected_graph) {
  static drawn d;
  tape *t = tape_new();
  for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
    tape_reset(t);
    draw_graph(&d, seed, true, 1, t);
    assert_int_equal(parse_to_the_end(&d, seed, true, t), 1);
  }
  tape_free(t);
}

/* The accident that is left of it: a node that is joined twice loses an edge. */
TEST(only_directions_that_disagree_leave_more_than_one) {
  static drawn d;
  tape *t = tape_new();
  int32_t several = 0;
  for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
    tape_reset(t);
    draw_graph(&d, seed, true, 1, t);
    several += parse_to_the_end(&d, seed, false, t) > 1;
  }
  assert_true(several > 0 && several < N_GRAPHS);
  tape_free(t);
}

/* A path of four nodes with scores 0.9, 0.2, 0.4: above a half is the first edge alone. */
TEST(nodes_that_decline_all_their_edges_stay_alone) {
  tape *t = tape_new();
  int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3}, class_of[4] = {0};
  nn_real score[] = {(nn_real)0.9, (nn_real)0.2, (nn_real)0.4}, half[4], none[4];
  for (int32_t v = 0; v < 4; v++) {
    half[v] = (nn_real)0.5;
    none[v] = 1;
  }
  parse_graph g = {.n = 4, .n_edges = 3, .from = from, .to = to, .class_of = class_of};
  parsing p;
  assert_true(parse_graph_link(&g, t) && parse_level(&p, &g, score, half, t));
  assert_memory_equal(p.cluster_of, ((int32_t[]){0, 0, 1, 2}), sizeof class_of);
  assert_true(p.is_inside[0] && !p.is_inside[1] && !p.is_inside[2]);
  assert_true(parse_level(&p, &g, score, none, t));
  assert_int_equal(p.n, 4);
  assert_true(parse_level(&p, &g, score, NULL, t)); /* 2 follows 0.4, 1 follows 0.9 */
  assert_int_equal(p.n, 2);
  tape_free(t);
}

TEST_MAIN
