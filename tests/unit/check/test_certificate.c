/* What certificates prove, by hand arithmetic; what the checker says of those that do not. */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "check/judge.h"
#include "cost/cost_models.h"

/* Two operators without a tensor between them: 6 and 4 ns on d0, 3 and 8 ns on d1; 10 bytes of weights each. */
static lab two(situ_execution execution, int64_t room_bytes) {
  const situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = execution};
  lab s = lab_new();
  for (int d = 0; d < 2; d++) lab_device(&s, room_bytes, -1, d == 0);
  lab_star(&s);
  int32_t a = lab_operator(&s, "a", 6, 10, 0), b = lab_operator(&s, "b", 4, 10, 0);
  s.time_ns[a][1] = 3;
  s.time_ns[b][1] = 8;
  lab_pose(&s, &options);
  return s;
}

/* What is verified of a claim; `said` is the first violation of the rule, or why the bound is not verified. */
static int64_t judged(const lab *s, const certificate *c, int64_t lower_ns, situ_outcome outcome, char said[512]) {
  OWN(situ_plan) *plan = plan_new(s->problem);
  OWN(situ_verdict) *verdict = NULL;
  plan->proof = *c;
  plan->lower_bound_ns = lower_ns;
  plan->bound = "area_price";
  plan->outcome = outcome;
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  snprintf(said, 512, "%s", verdict->unverified);
  for (int32_t i = verdict->n_kept - 1; i >= 0; i--) {
    situ_violation v = situ_verdict_violation(verdict, i);
    if (strcmp(v.rule, "certificate") == 0 || outcome == SITU_OUTCOME_INFEASIBLE) snprintf(said, 512, "%s", v.text);
  }
  int64_t found = verdict->verified_ns;
  return found;
}

static certificate prices(lab *s, int64_t lower_ns, int64_t u0, int64_t u1, int64_t y0, int64_t y1) {
  certificate c;
  certificate_start(&c, "area_price", lower_ns);
  c.bound = "area_price";
  int64_t *time = certificate_add(&c, "time_prices", 2, s->arena),
          *byte = certificate_add(&c, "byte_prices", 2, s->arena);
  time[0] = u0, time[1] = u1, byte[0] = y0, byte[1] = y1;
  return c;
}

TEST(prices_of_time_prove_their_sum) {
  /* prices 1, 1: min(6, 3) + min(4, 8) = 7 over 2 devices: 4 ns. prices 2, 1: min(12, 3) + min(8, 8) = 11 over 3: 4. */
  OWN(lab) s = two(SITU_EXECUTION_STREAM, SITU_UNLIMITED_BYTES);
  char said[512];
  certificate c = prices(&s, 4, 1, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 4);
  assert_string_equal(said, "");
  c = prices(&s, 5, 1, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 5, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the certificate (area_price) claims 5 ns; it proves 4 ns");
  c = prices(&s, 4, 2, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 5, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the lower bound of area_price is 5 ns; its certificate is for 4 ns");
  c.bound = "another";
  assert_int_equal(judged(&s, &c, 5, SITU_OUTCOME_LIMIT, said), 4);
  assert_string_equal(said, "it was proved by a search, which leaves no certificate");
  assert_int_equal(judged(&s, &c, 3, SITU_OUTCOME_LIMIT, said), 0); /* less said than proved */
}

/* The plan of an earlier version is as good as before; its bound is not known any more, whatever it claims. */
TEST(a_kind_that_went_is_not_verified_and_breaks_no_rule) {
  OWN(lab) s = two(SITU_EXECUTION_STREAM, SITU_UNLIMITED_BYTES);
  char said[512];
  certificate c;
  certificate_start(&c, "visits", 4);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 0);
  assert_non_null(strstr(said, "no longer checked"));
  certificate_start(&c, "unheard of", 4);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 0);
  assert_non_null(strstr(said, "prove nothing"));
}

TEST(prices_of_bytes_count_the_room) {
  /* 20 bytes, room for 10 on each device: prices 1, 1 of time and 1, 1 of bytes give 7 + 20 - 20 over 2: 4 ns. */
  lab s = two(SITU_EXECUTION_STREAM, 10);
  char said[512];
  certificate c = prices(&s, 4, 1, 1, 1, 1);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 4);
  lab_free(&s);
  /* a memory without a limit has no price */
  s = two(SITU_EXECUTION_STREAM, SITU_UNLIMITED_BYTES);
  c = prices(&s, 4, 1, 1, 1, 1);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 0);
  lab_free(&s);
}

TEST(too_many_bytes_prove_that_there_is_no_plan) {
  /* 20 bytes and room for 9 + 9: prices of bytes alone, in every execution model */
  const situ_execution models[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};
  char said[512];
  for (int i = 0; i < 3; i++) {
    lab s = two(models[i], 9);
    certificate c = prices(&s, SITU_NEVER_NS, 0, 0, 1, 1);
    assert_true(judged(&s, &c, SITU_NEVER_NS, SITU_OUTCOME_INFEASIBLE, said) == SITU_NEVER_NS);
    assert_string_equal(said, ""); /* a plan without a placement, and no violation */
    lab_free(&s);
    s = two(models[i], 10); /* just enough */
    c = prices(&s, SITU_NEVER_NS, 0, 0, 1, 1);
    assert_true(judged(&s, &c, SITU_NEVER_NS, SITU_OUTCOME_INFEASIBLE, said) == 0);
    assert_string_not_equal(said, "");
    lab_free(&s);
  }
}

TEST(prices_of_time_say_nothing_of_calls) {
  OWN(lab) s = two(SITU_EXECUTION_CALLS, SITU_UNLIMITED_BYTES);
  char said[512];
  certificate c = prices(&s, 1, 1, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 1, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the certificate (area_price) claims 1 ns; it proves 0 ns");
}

TEST(one_operator_bounds_a_pipeline) {
  OWN(lab) s = two(SITU_EXECUTION_PIPELINE, SITU_UNLIMITED_BYTES);
  certificate c;
  char said[512];
  certificate_start(&c, "largest_operator", 4);
  c.bound = "largest_operator";
  int64_t *op = certificate_add_operators(&c, "operator", 1, s.arena);
  *op = 1; /* b: min(4, 8) */
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 4);
  *op = 0; /* a: min(6, 3) */
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the certificate (largest_operator) claims 4 ns; it proves 3 ns");
  *op = 2;
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(
      said, "a certificate of kind largest_operator was expected to hold operator, 1 operator; number 1 is 2");
}

/* ---- forms ---- */

enum { MAX_NUMBERS = 8 };

/* A certificate of each kind for `three`, whose lists have the length and hold numbers that their rule expects. */
static const struct form {
  const char *kind, *lists;
} forms[] = {
    {"area_price", "time_prices 1 1; byte_prices 0 0; instant 0"},
    {"largest_operator", "operator 0"},
    {"critical_path", "operator 0; instant 0"},
    {"join", "operator 0; window 1; instant 0"},
    {"destructive", "rounds 1; prices 1 1; interval 0 1 0; window 0; free_rounds 0"},
    {"linear_relaxation",
     "within_ns 9; edge_prices 0 0; tail_prices 1 0 0; time_prices 1 1; byte_prices 0 0; "
     "from_prices 0 0 0 0; to_prices 0 0 0 0"},
    {"memory_cut", "memory 0; byte_prices 0 0; out 0 0; in 0 0"},
    {"packing", "operators 0 1"},
    {"side_cut", "inside 1 0; time_prices 1 1; byte_prices 0 0; out 0 0; in 0 0"},
    {"runs", "chain 0 1 2"},
    {"unit_chain", "chain 0 1 2; byte_prices 0 0; other_price 0"},
    {"visit_labels", "chain 0 1 2; from 0; to 2; counts 0; beside; unit_bytes 1"},
    {"cut_vertex", "deleted 1; cuts 0; rests 0 0 0 0"},
};

static const int64_t ANY = INT64_MAX; /* no limit */

/* What number `at` of a list may be, the others being as above: the limits of docs/theory/bounds/certificates.md and of
 * what the judge says that it expects, three operators and two devices with a memory each. */
static const struct limit {
  const char *kind, *list;
  int at;
  int64_t least, most;
} limits[] = {
    {"area_price", "time_prices", 1, 0, (int64_t)1 << 52},
    {"area_price", "byte_prices", 1, 0, (int64_t)1 << 52},
    {"area_price", "instant", 0, 0, 2},
    {"largest_operator", "operator", 0, 0, 2},
    {"critical_path", "operator", 0, 0, 2},
    {"critical_path", "instant", 0, 0, 2},
    {"join", "operator", 0, 0, 2},
    {"join", "instant", 0, 0, 2},
    {"join", "window", 0, 1, 256},
    {"destructive", "rounds", 0, 0, 16},
    {"destructive", "free_rounds", 0, 0, 16},
    {"destructive", "window", 0, 0, 256},
    {"destructive", "prices", 1, 0, 1 << 20},
    {"destructive", "interval", 0, 0, 0}, /* before its end */
    {"destructive", "interval", 1, 1, ANY},
    {"destructive", "interval", 2, 0, 0}, /* there is one list of prices */
    {"linear_relaxation", "within_ns", 0, 0, ANY},
    {"linear_relaxation", "edge_prices", 1, 0, (int64_t)1 << 54},
    {"linear_relaxation", "tail_prices", 2, 0, (int64_t)1 << 54},
    {"linear_relaxation", "time_prices", 1, 0, (int64_t)1 << 54},
    {"linear_relaxation", "byte_prices", 1, 0, (int64_t)1 << 54},
    {"linear_relaxation", "from_prices", 3, 0, (int64_t)1 << 54},
    {"linear_relaxation", "to_prices", 3, 0, (int64_t)1 << 54},
    {"memory_cut", "memory", 0, 0, 1},
    {"memory_cut", "byte_prices", 1, 0, (int64_t)1 << 52},
    {"memory_cut", "out", 1, 0, (int64_t)1 << 54}, /* more than a tensor takes proves nothing */
    {"memory_cut", "in", 0, 0, (int64_t)1 << 54},
    {"packing", "operators", 1, 0, 2},
    {"runs", "chain", 0, 0, 2}, /* one twice is no chain, and proves nothing */
    {"side_cut", "inside", 1, 0, 1},
    {"side_cut", "time_prices", 1, 0, 1 << 24},
    {"side_cut", "byte_prices", 1, 0, (int64_t)1 << 52},
    {"side_cut", "out", 1, 0, (int64_t)1 << 58}, /* more than a crossing costs proves nothing */
    {"side_cut", "in", 0, 0, (int64_t)1 << 58},
    {"unit_chain", "chain", 0, 0, 0}, /* each makes something for the next */
    {"unit_chain", "chain", 2, 2, 2},
    {"unit_chain", "byte_prices", 1, 0, (int64_t)1 << 52},
    {"unit_chain", "other_price", 0, 0, (int64_t)1 << 58},
    {"visit_labels", "chain", 1, 0, 2}, /* one twice is no path, and proves nothing */
    {"visit_labels", "from", 0, 0, 0},  /* a bypass without operators skips one of the chain at least */
    {"visit_labels", "to", 0, 2, 2},
    {"visit_labels", "counts", 0, 0, 0}, /* beside lists none */
    {"visit_labels", "unit_bytes", 0, 1, ANY},
    {"cut_vertex", "deleted", 0, 1, 2}, /* no cut */
    {"cut_vertex", "cuts", 0, 0, 0},
    {"cut_vertex", "rests", 3, 0, ANY},
};

/* Three operators in a row on two devices with limited memories, one thing after the other, a limit by secondary costs;
 * for the kind that is of pipelines alone such a pipeline. */
static lab three(const char *kind, situ_costs **other) {
  lab s = lab_mesh(2, 100);
  for (int32_t v = 0; v < 3; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 5, 10, 0);
    if (v > 0) lab_tensor(&s, v - 1, 1, v, -1);
  }
  bool pipeline = strcmp(kind, "largest_operator") == 0 || strcmp(kind, "runs") == 0 || strcmp(kind, "side_cut") == 0;
  lab_pose(&s, NULL);
  situ_problem_free(s.problem);
  assert_non_null(*other = costs_copies(s.costs, 1));
  situ_problem_options o = {.size = sizeof o,
                            .execution = pipeline ? SITU_EXECUTION_PIPELINE : SITU_EXECUTION_STREAM,
                            .objective = pipeline ? SITU_OBJECTIVE_THROUGHPUT : SITU_OBJECTIVE_LATENCY,
                            .overlap = pipeline ? SITU_OVERLAP_DEFAULT : SITU_OVERLAP_NONE,
                            .secondary_costs = pipeline ? NULL : *other,
                            .max_secondary_ns = pipeline ? 0 : 1000};
  assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
  return s;
}

static certificate of_form(const struct form *f, arena *a) { return proved_lists(f->kind, f->lists, a); }

static certificate_list *list_of(certificate *c, const char *name) {
  for (int32_t i = 0; i < c->n_lists; i++)
    if (strcmp(c->list[i].name, name) == 0) return &c->list[i];
  fail_msg("%s has no list %s", c->kind, name);
  return NULL;
}

static void is_expected(const lab *s, const certificate *c, bool expected, const char *list, int64_t value) {
  if ((proved_by(s->problem, c) != PROVED_MALFORMED) != expected)
    fail_msg("%s, %s: %lld is %s", c->kind, list, (long long)value, expected ? "refused" : "not refused");
}

TEST(every_number_has_its_limits) {
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    OWN(situ_costs) *other = NULL;
    OWN(lab) s = three(forms[f].kind, &other);
    for (const struct limit *x = limits; x < limits + sizeof limits / sizeof *limits; x++) {
      if (strcmp(x->kind, forms[f].kind) != 0) continue;
      certificate c = of_form(&forms[f], s.arena);
      int64_t *value = &list_of(&c, x->list)->values[x->at];
      is_expected(&s, &c, true, x->list, *value);
      is_expected(&s, &c, true, x->list, *value = x->least);
      is_expected(&s, &c, false, x->list, *value = x->least - 1);
      is_expected(&s, &c, true, x->list, *value = x->most);
      if (x->most < ANY) is_expected(&s, &c, false, x->list, *value = x->most + 1);
    }
  }
}

/* Of the lists above only the operators of packing may be longer, and secondary_price and instant may lack. */
TEST(every_list_has_its_length) {
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    OWN(situ_costs) *other = NULL;
    OWN(lab) s = three(forms[f].kind, &other);
    bool packing = strcmp(forms[f].kind, "packing") == 0;
    for (int32_t i = 0; i < of_form(&forms[f], s.arena).n_lists; i++) {
      certificate c = of_form(&forms[f], s.arena);
      certificate_list *list = &c.list[i], was = *list;
      int64_t more[MAX_NUMBERS + 1] = {0};
      memcpy(more, list->values, (size_t)list->n * sizeof *more);
      *list = (certificate_list){.name = was.name, .n = was.n + 1, .values = more};
      is_expected(&s, &c, packing, was.name, was.n + 1);
      *list = was;
      list->name = "another";
      is_expected(&s, &c, strcmp(was.name, "other_price") == 0 || strcmp(was.name, "instant") == 0, was.name, 0);
    }
  }
}

/* Three operators of 5 ns, by the secondary costs too, so a plan takes 15 ns; the rent of the limit is at least as much
 * as what the price makes of their times, however large a price and a limit may be. Nothing is proved then, and nothing
 * overflows. */
TEST(the_price_of_a_limit_fits_whatever_the_limit) {
  const int64_t most[] = {15, 1000, (int64_t)1 << 54, (int64_t)1 << 58, (int64_t)1 << 62, SITU_NEVER_NS - 1};
  for (size_t i = 0; i < sizeof most / sizeof most[0]; i++)
    for (int bits = 0; bits <= 58; bits += 29) {
      OWN(situ_costs) *other = NULL;
      OWN(lab) s = three("unit_chain", &other);
      situ_problem_free(s.problem);
      situ_problem_options o = {.size = sizeof o,
                                .execution = SITU_EXECUTION_STREAM,
                                .overlap = SITU_OVERLAP_NONE,
                                .secondary_costs = other,
                                .max_secondary_ns = most[i]};
      assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
      certificate c = proved_lists("unit_chain", "chain 0 1 2; byte_prices 0 0; other_price 0", s.arena);
      list_of(&c, "other_price")->values[0] = (int64_t)1 << bits;
      int64_t found = proved_by(s.problem, &c);
      /* 15 - (limit - 15) * 2^(bits - 20), rounded down, if that is above 0 */
      int64_t expected = i == 0 || (i == 1 && bits == 0) ? 15 - (i == 1) : 0;
      if (found != expected) fail_msg("limit %lld, price 2^%d: %lld", (long long)most[i], bits, (long long)found);
    }
}

/* ---- sizes ---- */

/* n_operators in a row, 5 ns each, with 10 bytes between two; devices of one class, of which the first n_memories have
 * a memory of their own and the others that of the first. 1 byte a nanosecond from each memory to the first and back.
 * With two operators the first runs on the second device alone, the other on the last memory's. */
static lab wide(int32_t n_operators, int32_t n_devices, int32_t n_memories) {
  lab s = lab_new();
  situ_device *devices = arena_alloc(s.arena, n_devices, sizeof *devices);
  situ_link *links = arena_alloc(s.arena, 2 * n_memories, sizeof *links);
  char(*names)[16] = arena_alloc(s.arena, n_devices, sizeof *names);
  for (int32_t d = 0; d < n_devices; d++) {
    snprintf(names[d], sizeof *names, "d%d", (int)d);
    devices[d] = (situ_device){.name = names[d],
                               .class_name = n_operators == 2 ? names[d] : "all",
                               .memory_bytes_per_s = 1e9,
                               .peak_flops[SITU_DTYPE_F32] = 1e9,
                               .memory_bytes = SITU_UNLIMITED_BYTES,
                               .shares_memory_with = d < n_memories ? -1 : 0,
                               .is_host = d == 0};
  }
  for (int32_t m = 1; m < n_memories; m++) {
    links[2 * m - 2] = (situ_link){.from_device = m, .to_device = 0, .bytes_per_s = 1e9, .channel = -1};
    links[2 * m - 1] = (situ_link){.from_device = 0, .to_device = m, .bytes_per_s = 1e9, .channel = -1};
  }
  for (int32_t v = 0; v < n_operators; v++) {
    lab_add(&s, (situ_operator){.source_id = -1, .colocation = -1}, 0);
    if (v > 0) lab_tensor(&s, v - 1, 10, v, -1);
  }
  assert_int_equal(situ_graph_freeze(&s.graph, s.builder, NULL), SITU_STATUS_OK);
  assert_int_equal(platform_new(&s.platform, "wide", devices, n_devices, links, 2 * n_memories - 2, NULL),
                   SITU_STATUS_OK);
  assert_int_equal(costs_new_with_transfers(&s.costs, s.graph, s.platform, NULL, NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < n_operators; v++)
    for (int32_t d = 0; d < n_devices; d++) {
      bool may = n_operators != 2 || d == (v == 0 ? 1 : n_memories - 1);
      s.costs->time_ns[v * s.platform->n_classes + s.platform->class_of[d]] = may ? 5 : SITU_NEVER_NS;
    }
  situ_problem_options o = {.size = sizeof o, .execution = SITU_EXECUTION_STREAM};
  assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
  return s;
}

/* One operator takes 5 ns on whatever device, and a row of n of them 5 n; a memory more, a device more or an operator
 * more than a rule serves is too long to check, and nothing else is. */
TEST(what_is_too_large_is_not_judged) {
  static const struct {
    const char *kind;
    int32_t n_operators, n_devices, n_memories;
    bool served;
  } rows[] = {{"join", 1, 64, 9, true},
              {"join", 1, 65, 1, false},
              {"critical_path", 1, 65, 17, true},
              {"destructive", 1, 64, 9, true},
              {"destructive", 1, 65, 1, false},
              {"cut_vertex", 1, 64, 8, true},
              {"cut_vertex", 1, 65, 8, false},
              {"cut_vertex", 1, 9, 9, false},
              {"cut_vertex", 64, 1, 1, true},
              {"cut_vertex", 65, 1, 1, false},
              {"critical_path", 16385, 1024, 1, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OWN(lab) s = wide(rows[i].n_operators, rows[i].n_devices, rows[i].n_memories);
    int64_t min_ns = 5 * rows[i].n_operators;
    certificate c;
    certificate_start(&c, rows[i].kind, min_ns);
    *certificate_add(&c, "operator", 1, s.arena) = 0;
    *certificate_add(&c, "window", 1, s.arena) = 1;
    *certificate_add(&c, "rounds", 1, s.arena) = 1;
    *certificate_add(&c, "free_rounds", 1, s.arena) = 0;
    for (int k = 0; k < 4; k++)
      certificate_add(&c, (const char *[]){"prices", "interval", "deleted", "cuts"}[k], 0, s.arena);
    *certificate_add(&c, "rests", rows[i].n_devices, s.arena) = min_ns;
    char said[512];
    int64_t found = judged(&s, &c, min_ns, SITU_OUTCOME_LIMIT, said);
    const char *expected = rows[i].served ? "" : "checking its certificate would take too long";
    if (found != (rows[i].served ? min_ns : 0) || strcmp(said, expected) != 0)
      fail_msg("row %d: %d ns, %s", (int)i, (int)found, said);
  }
}

/* a on d1 and b on the last memory, over the first: 5 + 10 + 10 + 5 ns. Among more than 16 memories a tensor counts
 * with the least time of any way, 10 ns. */
TEST(many_memories_count_as_the_least_way) {
  for (int32_t n_memories = 16; n_memories < 18; n_memories++) {
    OWN(lab) s = wide(2, n_memories, n_memories);
    for (int32_t v = 0; v < 2; v++) { /* heads, and tails */
      certificate c;
      certificate_start(&c, "critical_path", 0);
      *certificate_add_operators(&c, "operator", 1, s.arena) = v;
      assert_int_equal(proved_by(s.problem, &c), n_memories == 16 ? 30 : 20);
    }
  }
}

/* 4096 memories of nearly 2^63 bytes at 2^52 each cost nearly 2^127, and a share of a transfer goes off too. A plan
 * takes 15 ns: what is proved of it may not be more. */
TEST(the_rent_of_the_largest_memories_fits) {
  if (!in_check()) skip(); /* routes between 4096 memories take seconds */
  OWN(lab) s = wide(3, SITU_MAX_DEVICES, SITU_MAX_DEVICES);
  situ_problem_free(s.problem);
  situ_problem_options o = {.size = sizeof o, .execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE};
  for (int32_t d = 0; d < SITU_MAX_DEVICES; d++)
    s.platform->devices[d].memory_bytes = s.platform->memory_bytes[d] = SITU_UNLIMITED_BYTES - 1;
  const int64_t way_ns = 1000000000000; /* 2^72 of 2^-32 ns: more than is left of 2^127 beside that rent */
  for (int64_t i = 0; i < (int64_t)s.costs->n_rows * s.costs->n_kinds; i++) s.costs->transfer_rows[i] *= way_ns / 10;
  costs_find_extremes(s.costs);
  assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
  for (int back = 0; back < 2; back++)
    for (int32_t memory = 0; memory < 2; memory++) {
      certificate c;
      certificate_start(&c, "memory_cut", 0);
      *certificate_add(&c, "memory", 1, s.arena) = memory;
      int64_t *byte = certificate_add(&c, "byte_prices", SITU_MAX_DEVICES, s.arena);
      for (int32_t m = 0; m < SITU_MAX_DEVICES; m++) byte[m] = (int64_t)1 << 52;
      int64_t *out = certificate_add(&c, "out", 2, s.arena), *in = certificate_add(&c, "in", 2, s.arena);
      (back ? in : out)[0] = (back ? in : out)[1] = way_ns;
      assert_int_equal(proved_by(s.problem, &c), 0);
    }
}

/* ---- what is said of a bound ---- */

/* What no certificate proves is not verified, and no fault of the plan, unless it has one that cannot be read or is of
 * another execution model. */
TEST(a_bound_without_a_certificate_is_not_verified) {
  OWN(lab) s = two(SITU_EXECUTION_CALLS, SITU_UNLIMITED_BYTES);
  char said[512];
  static const char of_streams[] = "certificates of kind 'join' prove nothing for calls problems",
                    unknown[] = "certificates of kind 'another' prove nothing for calls problems";
  const struct {
    certificate c;
    int64_t lower_ns;
    const char *said;
  } rows[] = {{{0}, 0, ""},
              {{0}, 1, "it has no certificate"},
              {{0}, 4, "it has no certificate"},
              {{.fault = "it cannot be read"}, 4, "it cannot be read"},
              {{.kind = "join", .lower_ns = 4}, 4, of_streams},
              {{.kind = "another", .lower_ns = 4}, 4, unknown}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(judged(&s, &rows[i].c, rows[i].lower_ns, SITU_OUTCOME_LIMIT, said), 0);
    assert_string_equal(said, rows[i].said);
  }
}

TEST_MAIN
