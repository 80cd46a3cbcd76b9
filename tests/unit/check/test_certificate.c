/* What certificates prove, by hand arithmetic; what the checker says of those that do not. */
#include "../scenario.h"

/* Two operators without a tensor between them: 6 and 4 ns on d0, 3 and 8 ns on d1; 10 bytes of weights each. */
static scenario two(situ_execution execution, int64_t room_bytes) {
  const situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = execution};
  scenario s = scenario_new();
  for (int d = 0; d < 2; d++) scenario_device(&s, room_bytes, -1, d == 0);
  scenario_link(&s, 0, 1, 0, -1);
  scenario_link(&s, 1, 0, 0, -1);
  int32_t a = scenario_operator(&s, "a", 6, 10, 0), b = scenario_operator(&s, "b", 4, 10, 0);
  s.time_ns[a][1] = 3;
  s.time_ns[b][1] = 8;
  scenario_pose(&s, &options);
  return s;
}

/* What is verified of a claim; `said` is the first violation of the rule, or why the bound is not verified. */
static int64_t judged(const scenario *s, const certificate *c, int64_t lower_ns, situ_outcome outcome, char said[512]) {
  situ_plan *plan = plan_new(s->problem);
  situ_verdict *verdict;
  plan->proof = *c;
  plan->lower_bound_ns = lower_ns;
  plan->bound = "area_price";
  plan->outcome = outcome;
  assert_int_equal(situ_check(&verdict, s->problem, plan, NULL), SITU_STATUS_OK);
  snprintf(said, 512, "%s", situ_verdict_unverified(verdict));
  for (int32_t i = situ_verdict_n_violations(verdict) - 1; i >= 0; i--) {
    situ_violation v = situ_verdict_violation(verdict, i);
    if (strcmp(v.rule, "certificate") == 0 || outcome == SITU_OUTCOME_INFEASIBLE) snprintf(said, 512, "%s", v.text);
  }
  int64_t found = situ_verdict_verified_ns(verdict);
  situ_verdict_free(verdict);
  situ_plan_free(plan);
  return found;
}

static certificate prices(scenario *s, int64_t lower_ns, int64_t u0, int64_t u1, int64_t y0, int64_t y1) {
  certificate c;
  certificate_start(&c, "area_price", lower_ns);
  c.bound = "area_price";
  int64_t *time = certificate_add(&c, "time_prices", 2, s->arena),
          *byte = certificate_add(&c, "byte_prices", 2, s->arena);
  time[0] = u0, time[1] = u1, byte[0] = y0, byte[1] = y1;
  return c;
}

static void prices_of_time_prove_their_sum(void **state) {
  (void)state;
  /* prices 1, 1: min(6, 3) + min(4, 8) = 7 over 2 devices: 4 ns. prices 2, 1: min(12, 3) + min(8, 8) = 11 over 3: 4. */
  scenario s = two(SITU_EXECUTION_STREAM, SITU_UNLIMITED_BYTES);
  char said[512];
  certificate c = prices(&s, 4, 1, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 4);
  assert_string_equal(said, "");
  c = prices(&s, 5, 1, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 5, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the certificate (area_price) claims 5 ns; it proves 4 ns");
  c = prices(&s, 4, 2, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 5, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the lower bound of area_price is 5 ns; its certificate is of 4 ns");
  c.bound = "another";
  assert_int_equal(judged(&s, &c, 5, SITU_OUTCOME_LIMIT, said), 4);
  assert_string_equal(said, "its proof is a search, which left no certificate");
  assert_int_equal(judged(&s, &c, 3, SITU_OUTCOME_LIMIT, said), 0); /* less said than proved */
  scenario_free(&s);
}

static void prices_of_bytes_count_the_room(void **state) {
  (void)state;
  /* 20 bytes, room for 10 on each device: prices 1, 1 of time and 1, 1 of bytes give 7 + 20 - 20 over 2: 4 ns. */
  scenario s = two(SITU_EXECUTION_STREAM, 10);
  char said[512];
  certificate c = prices(&s, 4, 1, 1, 1, 1);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 4);
  scenario_free(&s);
  /* a memory without a limit has no price */
  s = two(SITU_EXECUTION_STREAM, SITU_UNLIMITED_BYTES);
  c = prices(&s, 4, 1, 1, 1, 1);
  assert_int_equal(judged(&s, &c, 4, SITU_OUTCOME_LIMIT, said), 0);
  scenario_free(&s);
}

static void too_many_bytes_prove_that_there_is_no_plan(void **state) {
  (void)state;
  /* 20 bytes and room for 9 + 9: prices of bytes alone, in every execution model */
  const situ_execution models[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};
  char said[512];
  for (int i = 0; i < 3; i++) {
    scenario s = two(models[i], 9);
    certificate c = prices(&s, SITU_NEVER_NS, 0, 0, 1, 1);
    assert_true(judged(&s, &c, SITU_NEVER_NS, SITU_OUTCOME_INFEASIBLE, said) == SITU_NEVER_NS);
    assert_string_equal(said, ""); /* a plan without a placement, and no violation */
    scenario_free(&s);
    s = two(models[i], 10); /* just enough */
    c = prices(&s, SITU_NEVER_NS, 0, 0, 1, 1);
    assert_true(judged(&s, &c, SITU_NEVER_NS, SITU_OUTCOME_INFEASIBLE, said) == 0);
    assert_string_not_equal(said, "");
    scenario_free(&s);
  }
}

static void prices_of_time_say_nothing_of_calls(void **state) {
  (void)state;
  scenario s = two(SITU_EXECUTION_CALLS, SITU_UNLIMITED_BYTES);
  char said[512];
  certificate c = prices(&s, 1, 1, 1, 0, 0);
  assert_int_equal(judged(&s, &c, 1, SITU_OUTCOME_LIMIT, said), 0);
  assert_string_equal(said, "the certificate (area_price) claims 1 ns; it proves 0 ns");
  scenario_free(&s);
}

static void one_operator_bounds_a_pipeline(void **state) {
  (void)state;
  scenario s = two(SITU_EXECUTION_PIPELINE, SITU_UNLIMITED_BYTES);
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
  assert_string_equal(said, "a certificate of kind largest_operator was expected to hold operator, one");
  scenario_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prices_of_time_prove_their_sum),
      cmocka_unit_test(prices_of_bytes_count_the_room),
      cmocka_unit_test(too_many_bytes_prove_that_there_is_no_plan),
      cmocka_unit_test(prices_of_time_say_nothing_of_calls),
      cmocka_unit_test(one_operator_bounds_a_pipeline),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
