/* The co-location coarsening of HSDAG against the rule as it was published: slow, and with constants as nodes. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "learn/hsdag_groups.h"

enum { N_DAGS = 300, MAX_N = 64 };

static lab draw_lab(uint64_t seed, bool plain) {
  lab_options o = {.seed = seed,
                   .n_operators = 1 + (int32_t)(seed % (MAX_N / 2)),
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = seed % 2 ? 0.08 : 0.25,
                   .n_colocations = plain ? 0 : (int32_t)(seed % 4),
                   .pinned = !plain && seed % 2,
                   .unsupported = !plain && seed % 3 == 0};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  return lab_random(&o);
}

/* The list of groups of the released code: a node that reads from one other joins the group of that, which moves to the
 * end of the list; any other node opens a group there. Nodes: operator v is v; n + v the constant that it reads. */
typedef struct published {
  int32_t n, node[2 * MAX_N][2 * MAX_N], size[2 * MAX_N];
} published;

static void add_node(published *p, int32_t v, const int32_t *from, int32_t n_from) {
  int32_t at = p->n;
  for (int32_t g = 0; g < p->n && n_from == 1; g++)
    for (int32_t i = 0; i < p->size[g]; i++)
      if (p->node[g][i] == from[0]) at = g;
  int32_t kept[2 * MAX_N], n = at < p->n ? p->size[at] : 0;
  memcpy(kept, p->node[at], (size_t)n * sizeof *kept);
  kept[n++] = v;
  if (at < p->n) {
    memmove(p->node[at], p->node[at + 1], (size_t)(p->n - at - 1) * sizeof *p->node);
    memmove(p->size + at, p->size + at + 1, (size_t)(p->n - at - 1) * sizeof *p->size);
    p->n--;
  }
  memcpy(p->node[p->n], kept, (size_t)n * sizeof *kept);
  p->size[p->n++] = n;
}

static void group_as_published(published *p, const situ_graph *g) {
  p->n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t from[MAX_N + 1], n = 0, constant = g->n_operators + v;
    for (int32_t u = 0; u < v; u++)
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
        if (g->producer[g->in[i]] == u) {
          from[n++] = u;
          break;
        }
    if (g->weight_bytes[v] > 0) {
      add_node(p, constant, NULL, 0);
      from[n++] = constant;
    }
    add_node(p, v, from, n);
  }
}

TEST(groups_are_those_of_the_published_rule_in_its_order) {
  static published p;
  int32_t joined = 0;
  for (uint64_t seed = 0; seed < N_DAGS; seed++) {
    OWN(lab) l = draw_lab(seed, true);
    OWN(arena) *a = arena_new();
    environment env;
    hsdag_groups found, all; /* without and with constants */
    assert_true(environment_init(&env, l.problem, a) && hsdag_groups_find(&found, &env, false, a));
    assert_true(hsdag_groups_find(&all, &env, true, a));
    group_as_published(&p, l.graph);
    int32_t next = 0;
    for (int32_t g = 0; g < p.n; g++) {
      int32_t n = 0;
      for (int32_t i = 0; i < p.size[g]; i++) {
        if (p.node[g][i] >= env.n_units) continue; /* a constant */
        assert_int_equal(found.group_of[p.node[g][i]], next);
        n++;
      }
      next += n > 0;
      joined += n > 1;
    }
    assert_int_equal(found.n, next);
    int32_t n_constants = 0;
    for (int32_t v = 0; v < l.graph->n_operators; v++) n_constants += l.graph->weight_bytes[v] > 0;
    assert_int_equal(all.n_constants, n_constants);
    assert_int_equal(all.n, next + n_constants);
    for (int32_t u = 0; u < env.n_units; u++) assert_int_equal(all.group_of[u], found.group_of[u] + all.n_constants);
    for (int32_t g = 0; g < all.n_constants; g++) {
      assert_int_equal(all.next.start[g + 1] - all.next.start[g], 1);
      assert_int_equal(all.before.start[g + 1] - all.before.start[g], 0);
    }
  }
  assert_true(joined > N_DAGS);
}

static bool has(const group_lists *lists, int32_t from, int32_t to) {
  int32_t n = 0;
  for (int32_t i = lists->start[from]; i < lists->start[from + 1]; i++) n += lists->to[i] == to;
  assert_in_range(n, 0, 1);
  return n == 1;
}

TEST(members_allow_the_same_devices_and_edges_are_those_between_groups) {
  for (uint64_t seed = 0; seed < N_DAGS; seed++) {
    OWN(lab) l = draw_lab(seed, false);
    OWN(arena) *a = arena_new();
    environment env;
    hsdag_groups g;
    bool edge[MAX_N][MAX_N] = {{false}};
    assert_true(environment_init(&env, l.problem, a) && hsdag_groups_find(&g, &env, false, a));
    for (int32_t u = 0; u < env.n_units; u++) {
      int32_t root = g.member[g.member_start[g.group_of[u]]];
      assert_memory_equal(env.allowed + u * env.n_devices, env.allowed + root * env.n_devices, (size_t)env.n_devices);
      assert_true(root <= u);
    }
    for (int32_t t = 0; t < l.graph->n_tensors; t++)
      for (int64_t i = l.graph->use_start[t]; i < l.graph->use_start[t + 1]; i++)
        edge[g.group_of[env.unit_of[l.graph->producer[t]]]][g.group_of[env.unit_of[l.graph->use[i]]]] = true;
    for (int32_t x = 0; x < g.n; x++)
      for (int32_t y = 0; y < g.n; y++) {
        assert_int_equal(has(&g.next, x, y), edge[x][y] && x != y);
        assert_int_equal(has(&g.before, y, x), edge[x][y] && x != y);
        if (x != y && edge[x][y] && l.graph->n_colocations == 0) assert_true(g.place[x] < g.place[y]);
        int32_t a_root = g.member[g.member_start[x]], b_root = g.member[g.member_start[y]];
        bool same = memcmp(env.allowed + a_root * env.n_devices, env.allowed + b_root * env.n_devices,
                           (size_t)env.n_devices) == 0;
        assert_int_equal(g.class_of[x] == g.class_of[y], same);
      }
  }
}

TEST_MAIN
