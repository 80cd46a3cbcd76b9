/* What the nouns of solvers promise: one broken field is named. */
#include "../../lab/lab.h"
#include "../broken.h"
#include "chain/chain.h"
#include "solve/common/solver.h"
#include "solve/pipeline/elimination.h"
#include "solve/pipeline/stages.h"
#include "solve/stream/environment.h"
#include "solve/stream/modules.h"
#include "solve/stream/partial.h"

enum { N = 24 };

static lab draw(situ_execution execution, uint64_t seed) {
  lab_options o = {.seed = seed, .n_operators = N, .n_devices = 3, .density = 0.2, .n_colocations = 2};
  o.options.execution = execution;
  if (execution == SITU_EXECUTION_PIPELINE) o.options.communication = SITU_COMMUNICATION_HOST_STAGED;
  return lab_random(&o);
}

TEST(broken_stages_are_named) {
  lab l;
  OWN(arena) *a = arena_new();
  stages s;
  int32_t c = 0;
  for (uint64_t seed = 0;; seed++) {
    l = draw(SITU_EXECUTION_PIPELINE, seed);
    if (stages_serve(l.problem) && stages_find(&s, l.problem, a) && s.n > 8) {
      for (c = 0; c < s.n && s.touch_start[c + 1] - s.touch_start[c] < 2;) c++;
      if (c < s.n) break;
    }
    lab_free(&l);
  }
  int32_t *touch = s.touch + s.touch_start[c];
  BREAKS(stages_check(&s), s.n_rows, s.n_rows + 1, "a row for each");
  BREAKS(stages_check(&s), s.class_at[0], s.class_at[1], "numbers all classes");
  BREAKS(stages_check(&s), s.n_words, 0, "n_words");
  BREAKS(stages_check(&s), s.predecessors[0], 2, "upwards");
  BREAKS(stages_check(&s), s.time_ns[0], -1, "times");
  BREAKS(stages_check(&s), s.footprint_bytes[0], -1, "sizes");
  BREAKS(stages_check(&s), s.in_ns[0], -1, "prices");
  BREAKS(stages_check(&s), s.out_ns[0], -1, "prices");
  BREAKS(stages_check(&s), s.pin_start[1], -1, "pin_start");
  BREAKS(stages_check(&s), s.touch_start[1], -1, "touch_start");
  BREAKS(stages_check(&s), s.pin[0], s.n, "pins are classes");
  BREAKS(stages_check(&s), touch[0], s.n_edges, "touch edges");
  BREAKS(stages_check(&s), touch[0], touch[1], "edges of a class ascend");
  BREAKS(stages_check(&s), s.types[0].n_devices, 0, "has devices");
  lab_free(&l);
}

/* A triangle of variables with 2, 3 and 2 values, one more at its corner. */
TEST(a_broken_elimination_is_named) {
  OWN(arena) *a = arena_new();
  int64_t zero[6] = {0};
  int32_t size[] = {2, 3, 2, 2};
  factor factors[] = {{{0, 1}, zero}, {{1, 2}, zero}, {{0, 2}, zero}, {{2, 3}, zero}};
  elimination e;
  assert_int_equal(elimination_init(&e, 4, size, 4, factors, 1000, a), ELIMINATION_READY);
  elimination_table *t = e.tables;
  while (t->n_neighbours < 2) t++;
  BREAKS(elimination_check(&e), t->variable, 4, "of a variable");
  BREAKS(elimination_check(&e), t->neighbours[0], -1, "neighbours exist");
  BREAKS(elimination_check(&e), t->parent, -1, "has a parent");
  BREAKS(elimination_check(&e), t->parent, 0, "eliminated later");
  BREAKS(elimination_check(&e), t->neighbours[1], t->variable, "its own neighbour");
  BREAKS(elimination_check(&e), t->neighbours[0], t->neighbours[1], "the first neighbour");
  BREAKS(elimination_check(&e), t->n_rows, t->n_rows + 1, "a row for each combination");
  BREAKS(elimination_check(&e), t->term_of_parent, e.tables[t->parent].n_terms, "a term of the parent");
}

TEST(a_broken_partial_schedule_is_named) {
  OWN(lab) l = draw(SITU_EXECUTION_STREAM, 5);
  OWN(arena) *a = arena_new();
  partial_schedule s;
  assert_true(partial_init(&s, l.problem, a));
  assert_null(partial_check(&s)); /* nothing is placed */
  for (int32_t v = 0; v < N; v++) {
    assert_true(partial_candidates(&s, v) > 0);
    partial_arrive(&s, v);
    int32_t d = s.candidates[0];
    partial_place(&s, v, d, partial_start(&s, v, d, true));
  }
  int32_t v = 0, grouped = 0;
  while (l.graph->in_start[v] == l.graph->in_start[v + 1] || problem_time_ns(l.problem, v, s.device[v]) == 0) v++;
  while (l.graph->colocation[grouped] < 0) grouped++;
  int32_t *unit_device = &s.unit_device[l.problem->units.of[grouped]];
  int32_t producer = l.graph->producer[l.graph->in[l.graph->in_start[v]]];
  BREAKS(partial_check(&s), s.device[v], 3, "on devices");
  BREAKS(partial_check(&s), s.start_ns[v], -1, "starts");
  BREAKS(partial_check(&s), s.finish_ns[v], s.finish_ns[v] + 1, "takes its time");
  BREAKS(partial_check(&s), s.lines[s.device[v]].end, 0, "covers its operators");
  BREAKS(partial_check(&s), *unit_device, *unit_device + 1, "shares a device");
  BREAKS(partial_check(&s), s.device[producer], -1, "producers are placed");
}

TEST(a_broken_chain_is_named) {
  lab l;
  OWN(arena) *a = arena_new();
  chain c;
  for (uint64_t seed = 0;; seed++) {
    l = draw(SITU_EXECUTION_STREAM, seed);
    assert_true(chain_find(&c, l.problem, 8, 4, a));
    if (c.n >= 3 && c.first[1] >= 2) break;
    lab_free(&l);
  }
  BREAKS(chain_check(&c), c.element[0], c.n, "in an element");
  BREAKS(chain_check(&c), c.first[1], -1, "first lists operators");
  BREAKS(chain_check(&c), c.order[0], c.order[1], "has every operator");
  BREAKS(chain_check(&c), c.weight_bytes[1], -1, "sums rise");
  BREAKS(chain_check(&c), c.main_ns[l.problem->n_kinds], SITU_NEVER_NS, "a part of what crosses");
  BREAKS(chain_check(&c), c.column_of[0], c.n_columns, "of a column");
  lab_free(&l);
}

TEST(broken_strands_and_modules_are_named) {
  lab l;
  OWN(arena) *a = arena_new();
  strand_graph u;
  modules m;
  for (uint64_t seed = 0;; seed++) { /* one in which some strand has several operators */
    l = draw(SITU_EXECUTION_STREAM, seed);
    assert_true(strand_graph_find(&u, l.problem, STRANDS_COARSE, a));
    if (u.n < N && u.n > 10) break;
    lab_free(&l);
  }
  assert_true(modules_find(&m, &u, &(module_rules){.way = MODULES_GROWN, .max_size = 4, .resolution = 1}, a));
  int32_t x = 0, k = 0, y = 0;
  while (u.member_start[x + 1] - u.member_start[x] < 2) x++;
  while (u.next_start[y + 1] == u.next_start[y]) y++;
  while (m.start[k + 1] - m.start[k] < 2) k++;
  int32_t *member = u.member + u.member_start[x], *strand = m.strand + m.start[k];
  BREAKS(strand_graph_check(&u, N), u.strand_of[0], u.n, "in a strand");
  BREAKS(strand_graph_check(&u, N), u.member_start[1], -1, "member_start");
  BREAKS(strand_graph_check(&u, N), u.next_start[1], -1, "next_start");
  BREAKS(strand_graph_check(&u, N), u.near_start[1], -1, "near_start");
  BREAKS(strand_graph_check(&u, N), u.near[0], u.n, "neighbours are strands");
  BREAKS(strand_graph_check(&u, N), member[0], member[1], "members ascend");
  BREAKS(strand_graph_check(&u, N), u.next[u.next_start[y]], y, "topological");
  BREAKS(strand_graph_check(&u, N), u.weight[0], 0, "above 0");
  BREAKS(modules_check(&m, &u), m.of[0], m.n, "in a module");
  BREAKS(modules_check(&m, &u), m.start[1], -1, "start lists strands");
  BREAKS(modules_check(&m, &u), strand[0], strand[1], "strands ascend");
  while (m.of[y] == 0 || u.next_start[y + 1] == u.next_start[y]) y++; /* from a later module into the first one */
  BREAKS(modules_check(&m, &u), u.next[u.next_start[y]], m.strand[0], "topological");
  lab_free(&l);
}

TEST(a_broken_environment_is_named) {
  OWN(lab) l = draw(SITU_EXECUTION_STREAM, 5);
  OWN(arena) *a = arena_new();
  environment e;
  assert_true(environment_init(&e, l.problem, a));
  int32_t u = 0;
  while (e.member_start[u + 1] - e.member_start[u] < 2) u++;
  int32_t *member = e.member + e.member_start[u];
  int32_t *of_unit = l.problem->units.member + l.problem->units.start[u];
  BREAKS(environment_check(&e), e.scale_ns, 0, "scale");
  BREAKS(environment_check(&e), e.unit_of[0], e.n_units, "in a unit");
  BREAKS(environment_check(&e), e.unit_of[0], 1, "by their first operator");
  BREAKS(environment_check(&e), e.n_units, e.n_units + 1, "no unit is empty");
  BREAKS(environment_check(&e), e.member_start[1], -1, "member_start");
  BREAKS(environment_check(&e), member[0], member[1], "members of a unit ascend");
  BREAKS(environment_check(&e), of_unit[0], member[0] == 0 ? N - 1 : 0, "unit of the problem");
  BREAKS(environment_check(&e), e.weight_bytes[0], -1, "sizes");
}

TEST(a_broken_incumbent_is_named) {
  OWN(lab) l = draw(SITU_EXECUTION_STREAM, 5);
  OWN(arena) *a = arena_new();
  incumbent i, other;
  const situ_problem *p = l.problem;
  assert_true(incumbent_init(&i, p, a) && incumbent_init(&other, p, a));
  BREAKS(incumbent_check(&i, p), i.value_ns, 7, "there is no value");
  for (int32_t v = 0; v < N; v++) other.store.device[v] = 0; /* the host runs all */
  other.best.device = other.store.device;
  other.value_ns = 100;
  incumbent_take(&i, &other, p);
  assert_int_equal(i.value_ns, 100);
  certificate proof = {.kind = "x", .lower_ns = 5};
  BREAKS(incumbent_check(&i, p), i.solver, NULL, "texts");
  BREAKS(incumbent_check(&i, p), i.lower_bound_ns, -1, "at least 0");
  BREAKS(incumbent_check(&i, p), i.n_statistics, -1, "statistics");
  BREAKS(incumbent_check(&i, p), i.proof, proof, "no more than the bound");
  BREAKS(incumbent_check(&i, p), i.value_ns, SITU_NEVER_NS, "has a value");
  BREAKS(incumbent_check(&i, p), i.best.device[0], 3, "on a device");
  int32_t u = 0;
  while (unit_list_members(&p->units, u).n < 2) u++;
  BREAKS(incumbent_check(&i, p), i.best.device[unit_list_members(&p->units, u).member[0]], 1, "colocation");
}

TEST_MAIN
