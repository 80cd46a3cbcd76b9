/* What the nouns of learned policies promise: one broken field is named. */
#include "../../lab/lab.h"
#include "../broken.h"
#include "learn/hsdag_groups.h"
#include "learn/hsdag_parsing.h"

TEST(broken_groups_are_named) {
  lab l = {0};
  OWN(arena) *a = arena_new();
  environment env;
  hsdag_groups x;
  int32_t g = 0, many = 0;
  for (uint64_t seed = 0;; seed++) {
    lab_options o = {.seed = seed, .n_operators = 24, .n_devices = 3, .density = 0.1};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    l = lab_random(&o);
    assert_true(environment_init(&env, l.problem, a) && hsdag_groups_find(&x, &env, false, a));
    for (g = 0; g < x.n && x.member_start[g + 1] - x.member_start[g] < 2;) g++;
    for (many = 0; many < x.n && x.next.start[many + 1] - x.next.start[many] < 2;) many++;
    if (g < x.n && many < x.n) break;
    lab_free(&l);
  }
  int32_t *member = x.member + x.member_start[g], *next = x.next.to + x.next.start[many];
  BREAKS(hsdag_groups_check(&x, &env), x.group_of[0], x.n, "in a group");
  BREAKS(hsdag_groups_check(&x, &env), x.member_start[1], -1, "member_start");
  BREAKS(hsdag_groups_check(&x, &env), member[0], member[1], "members ascend");
  BREAKS(hsdag_groups_check(&x, &env), x.place[0], x.place[1], "has a place");
  BREAKS(hsdag_groups_check(&x, &env), x.class_of[0], -1, "has a class");
  BREAKS(hsdag_groups_check(&x, &env), x.before.start[1], -1, "start lists groups");
  BREAKS(hsdag_groups_check(&x, &env), next[0], x.n, "lists are of groups");
  BREAKS(hsdag_groups_check(&x, &env), next[0], next[1], "lists ascend");
  lab_free(&l);
}

/* A square with one diagonal. */
TEST(a_broken_parse_graph_is_named) {
  tape *t = tape_new();
  int32_t from[] = {0, 0, 0, 1, 2}, to[] = {1, 2, 3, 2, 3}, class_of[4] = {0};
  parse_graph g = {.n = 4, .n_edges = 5, .from = from, .to = to, .class_of = class_of};
  assert_true(parse_graph_link(&g, t));
  BREAKS(parse_graph_check(&g), from[1], -1, "ends exist");
  BREAKS(parse_graph_check(&g), to[0], 0, "from the lower to the higher");
  BREAKS(parse_graph_check(&g), from[1], 1, "ascend by their lower node");
  BREAKS(parse_graph_check(&g), g.near_start[1], -1, "near_start");
  BREAKS(parse_graph_check(&g), g.near_edge[0], 5, "over edges");
  BREAKS(parse_graph_check(&g), g.near[0], 3, "the other end");
  nn_real score[] = {5, 1, 2, 3, 4};
  parsing p;
  assert_true(parse_level(&p, &g, score, NULL, t)); /* 0 and 1, 2 and 3, and 2 goes to 3: edges 0 and 4 are inside */
  assert_int_equal(p.n, 2);
  BREAKS(parsing_check(&p, &g), p.cluster_of[0], 2, "in a cluster");
  BREAKS(parsing_check(&p, &g), p.member_start[1], -1, "member_start");
  BREAKS(parsing_check(&p, &g), p.inside_start[1], -1, "inside_start");
  BREAKS(parsing_check(&p, &g), p.member[0], 1, "members ascend");
  BREAKS(parsing_check(&p, &g), p.member[1], 3, "of their cluster");
  BREAKS(parsing_check(&p, &g), class_of[1], 1, "of one class");
  tape_free(t);
}

TEST_MAIN
