/* What a plan says of other plans and of uncertain costs: what is recomputed of it, what cannot be true. */
#include "check/check_claims.h"
#include "check/judge.h"

#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "solve/answer/robust.h"

/* a takes 5 ns on d0 and 50 on d1, b the other way round, and the tensor between them 10 ns: 55 ns on either device, 20
 * on both. c, of no time, reads the same tensor, and d another one of no bytes. */
static lab two_ways(const situ_problem_options *options) {
  lab s = lab_mesh(2, 1000);
  int32_t a = lab_operator(&s, "a", 5, 10, 0), b = lab_operator(&s, "b", 50, 10, 0);
  int32_t c = lab_operator(&s, "c", 0, 0, 0), d = lab_operator(&s, "d", 0, 0, 0);
  s.time_ns[a][1] = 50;
  s.time_ns[b][1] = 5;
  lab_tensor(&s, a, 10, b, c, -1);
  lab_tensor(&s, a, 0, d, -1);
  lab_pose(&s, options);
  return s;
}

static situ_plan *plan_on(lab *s, int32_t a, int32_t b, int32_t c, int32_t d) {
  int32_t device[4], by_name[4] = {a, b, c, d};
  for (int32_t v = 0; v < 4; v++) device[v] = by_name[s->graph->name[v][0] - 'a'];
  situ_plan *plan = lab_plan(s, &(placement){.device = device});
  plan->outcome = SITU_OUTCOME_FEASIBLE;
  return plan;
}

/* The first violation, "RULE: TEXT", "" for none; how many there are. */
static int64_t judged(const situ_plan *plan, bool strictly, char said[600], const char *recomputed,
                      const char *unchecked) {
  situ_verdict *verdict;
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  if (recomputed) assert_string_equal(judge_claims(verdict->recomputed), recomputed);
  if (unchecked) assert_string_equal(judge_claims(verdict->unchecked), unchecked);
  if (strictly) situ_verdict_require_proof(verdict);
  situ_violation first = situ_verdict_violation(verdict, 0);
  snprintf(said, 600, "%s%s%s", first.rule, *first.rule ? ": " : "", first.text);
  int64_t n = verdict->n_found;
  situ_verdict_free(verdict);
  return n;
}

static void is_said(const situ_plan *plan, const char *expected) {
  char said[600];
  judged(plan, false, said, NULL, NULL);
  if (strcmp(said, expected) != 0) fail_msg("'%s' instead of '%s'", said, expected);
}

TEST(a_plan_that_is_shown_is_compared_with_the_claim) {
  OWN(lab) s = two_ways(NULL);
  char said[600];
  OWN(situ_plan) *plan = plan_on(&s, 0, 0, 0, 0);
  is_said(plan, "");
  assert_int_equal(judged(plan, true, said, "", ""), 0);
  assert_int_equal(plan_show(plan, &plan->best_found, plan_on(&s, 0, 1, 1, 1), NULL),
                   SITU_STATUS_OK); /* two tensors go to d1, one of no bytes */
  plan->best_found_ns = 20;
  plan->best_found_handovers = 2;
  assert_int_equal(judged(plan, true, said, "best_found", ""), 0);
  plan->best_found_handovers = 1;
  is_said(plan, "claim: best_found: 1 hand-overs are said; that plan has 2");
  plan->best_found_handovers = 0;
  is_said(plan, "claim: best_found: 0 hand-overs are said; that plan has 2");
  plan->best_found_handovers = 2;
  plan->best_found_ns = 21;
  is_said(plan, "claim: best_found: the value is said to be 21 ns; that plan has 20 ns");
  plan->best_found_ns = 20;
  plan->best_found->value_ns = 19; /* the judge of values says so too */
  assert_int_equal(judged(plan, false, said, "best_found", ""), 2);
  assert_string_equal(said, "value: best_found: the plan states 19 ns; its operators and transfers give 20 ns");
  plan->best_found->value_ns = 20;
  plan->best_found->start_ns[3]++;
  assert_int_not_equal(judged(plan, false, said, "best_found", ""), 0);
  assert_non_null(strstr(said, ": best_found: "));
  plan->best_found->start_ns[3]--;
  plan->best_found->device[1] = 2;
  is_said(plan, "placement: best_found: b is on device 2; there are devices 0 to 1");
  plan->best_found->device[1] = 1;
  assert_int_equal(plan_show(plan, &plan->unrestricted, plan_on(&s, 0, 1, 0, 0), NULL), SITU_STATUS_OK);
  plan->unrestricted_ns = 20;
  assert_int_equal(judged(plan, true, said, "best_found, without_form_ns", ""), 0);
  plan->unrestricted_ns = 22;
  is_said(plan, "claim: without_form_ns: the value is said to be 22 ns; that plan has 20 ns");
}

/* Constraints hold for it too. */
TEST(a_plan_that_is_shown_keeps_the_pins) {
  int32_t pins[4] = {0, 0, -1, -1};
  OWN(lab) s = two_ways(&(situ_problem_options){.pins = pins});
  OWN(situ_plan) *plan = plan_on(&s, 0, 0, 0, 0);
  assert_int_equal(plan_show(plan, &plan->best_found, plan_on(&s, 0, 1, 0, 0), NULL), SITU_STATUS_OK);
  plan->best_found_ns = 20;
  plan->best_found_handovers = 1;
  is_said(plan, "pin: best_found: b is on d1; it is pinned to d0");
}

/* Two devices that share their memory hand tensors over too. */
TEST(devices_of_one_memory_hand_over) {
  OWN(lab) s = lab_new();
  for (int32_t d = 0; d < 2; d++) lab_device(&s, 1000, d - 1, d == 0);
  lab_operator(&s, "a", 5, 0, 0);
  lab_operator(&s, "b", 5, 0, 0);
  lab_tensor(&s, 0, 10, 1, -1);
  lab_pose(&s, NULL);
  OWN(situ_plan) *plan = lab_plan(&s, &(placement){.device = (int32_t[]){0, 0}});
  plan->outcome = SITU_OUTCOME_FEASIBLE;
  assert_int_equal(plan_show(plan, &plan->best_found, lab_plan(&s, &(placement){.device = (int32_t[]){0, 1}}), NULL),
                   SITU_STATUS_OK);
  plan->best_found_ns = 10;
  plan->best_found_handovers = 1;
  is_said(plan, "");
}

/* A tensor that takes no time on any route is known everywhere, and not handed over. */
TEST(what_takes_no_time_is_not_handed_over) {
  OWN(lab) s = lab_mesh(2, 1000);
  lab_operator(&s, "a", 5, 10, 0);
  for (int k = 1; k < 4; k++) lab_operator(&s, (const char *[]){"b", "c", "d"}[k - 1], k == 1 ? 5 : 0, 0, 0);
  lab_tensor(&s, 0, 1, 1, 2, -1);
  lab_tensor(&s, 0, 0, 3, -1);
  lab_pose(&s, NULL);
  for (int64_t i = 0; i < (int64_t)s.costs->n_rows * s.costs->n_kinds; i++) s.costs->transfer_rows[i] = 0;
  costs_find_extremes(s.costs);
  OWN(situ_plan) *plan = plan_on(&s, 0, 0, 0, 0);
  assert_int_equal(plan_show(plan, &plan->best_found, plan_on(&s, 0, 1, 1, 1), NULL), SITU_STATUS_OK);
  plan->best_found_ns = 10;
  for (int32_t n = 0; n < 3; n++) { /* the one of no bytes remains */
    char said[600];
    plan->best_found_handovers = n;
    assert_int_equal(judged(plan, false, said, "best_found", ""), n != 1);
  }
}

TEST(a_claim_that_is_not_shown_is_not_checked) {
  OWN(lab) s = two_ways(NULL);
  char said[600];
  OWN(situ_plan) *plan = plan_on(&s, 0, 0, 0, 0);
  plan->best_found_ns = 40;
  plan->best_found_handovers = 7;
  assert_int_equal(judged(plan, false, said, "", "best_found"), 0);
  assert_int_equal(judged(plan, true, said, NULL, NULL), 1);
  assert_string_equal(said, "proof: best_found: what the plan file says of it cannot be recomputed");
  plan->unrestricted_ns = 54;
  assert_int_equal(judged(plan, false, said, "", "best_found, without_form_ns"), 0);
  plan->robustness.size = sizeof plan->robustness;
  judged(plan, false, said, "", "best_found, without_form_ns, robustness");
  plan->best_found_handovers = -1;
  judged(plan, false, said, "", "without_form_ns, robustness");
  plan->unrestricted_ns = SITU_NEVER_NS;
  judged(plan, false, said, "", "robustness");
  plan->best_found_handovers = 0;
  judged(plan, false, said, "", "best_found, robustness");
}

TEST(values_of_other_plans_are_between_bound_and_value) {
  OWN(lab) s = two_ways(NULL);
  situ_plan *plan = plan_on(&s, 0, 0, 0, 0);
  plan->lower_bound_ns = 10;
  plan->best_found_handovers = 1;
  plan->best_found_ns = 10;
  is_said(plan, "");
  plan->best_found_ns = 9;
  is_said(plan, "claim: best_found is 9 ns; no plan is below the lower bound, 10 ns");
  plan->best_found_ns = 55; /* the same value with more hand-overs */
  is_said(plan, "");
  plan->best_found_ns = 56;
  is_said(plan, "claim: best_found is 56 ns; expected no more than the value of the plan, 55 ns");
  plan->best_found_handovers = -1;
  is_said(plan, "");
  plan->unrestricted_ns = 10;
  is_said(plan, "");
  plan->unrestricted_ns = 9;
  is_said(plan, "claim: without_form_ns is 9 ns; no plan is below the lower bound, 10 ns");
  plan->unrestricted_ns = 54;
  is_said(plan, "");
  plan->unrestricted_ns = 55; /* then the form costs nothing, and there is nothing to say */
  is_said(plan, "claim: without_form_ns is 55 ns; expected less than the value of the plan, 55 ns");
  situ_plan_free(plan);
  plan = plan_new(s.problem); /* no plan was found: nothing to compare with */
  plan->best_found_handovers = 0;
  plan->best_found_ns = 56;
  is_said(plan, "placement: the plan has no placement; its outcome is limit");
  situ_plan_free(plan);
}

TEST(times_are_those_of_the_problem) {
  static const char period[] =
      "claim: latency_ns and period_ns are of streams under a limit of one of them; this is none";
  lab s = two_ways(NULL);
  situ_plan *plan = plan_on(&s, 0, 0, 0, 0);
  plan->latency_ns = 55;
  is_said(plan, period);
  plan->latency_ns = SITU_NEVER_NS;
  plan->period_ns = 55;
  is_said(plan, period);
  plan->period_ns = SITU_NEVER_NS;
  plan->secondary_ns = 55;
  is_said(plan, "claim: other_ns is of a limit by secondary costs; there is none");
  situ_plan_free(plan);
  situ_problem *own = s.problem;
  situ_costs *other = costs_copies(s.costs, 1);
  situ_problem_options limited = {.size = sizeof limited,
                                  .execution = SITU_EXECUTION_STREAM,
                                  .overlap = SITU_OVERLAP_NONE,
                                  .secondary_costs = other,
                                  .max_secondary_ns = 60};
  assert_int_equal(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &limited, NULL), SITU_STATUS_OK);
  s.simulator = simulator_new(s.problem, s.arena);
  plan = plan_on(&s, 0, 0, 0, 0);
  assert_int_equal(plan->secondary_ns, 55);
  is_said(plan, "");
  situ_plan_free(plan);
  situ_problem_free(own);
  lab_free(&s);
  situ_costs_free(other);
  s = two_ways(&(situ_problem_options){.max_period_ns = 55});
  plan = plan_on(&s, 0, 0, 0, 0);
  is_said(plan, "");
  situ_plan_free(plan);
  lab_free(&s);
}

/* ---- draws of costs ---- */

static const situ_robustness good = {.size = sizeof good,
                                     .uncertainty = 0.2,
                                     .draws = 8,
                                     .beats_single = 0.75,
                                     .speedup_5 = 0.5,
                                     .speedup_median = 1.5,
                                     .speedup_95 = 2,
                                     .regret_ns = 3,
                                     .flip_factor = 16,
                                     .flip_what = "d1"};

TEST(draws_say_what_draws_can) {
  static const char draws[] = "an uncertainty above 0, at most 2, and draws",
                    share[] = "beats_single, a share of the draws, from 0 to 1",
                    percentiles[] = "percentiles of a speed-up above 0 that ascend",
                    flip[] = "a flip_factor from 1/16 to 16 and its flip_what, or neither";
  enum { UNCERTAINTY, DRAWS, SHARE, LOW, MEDIAN, HIGH, REGRET, FACTOR };
  static const struct {
    int what;
    double value;
    const char *expected;
  } rows[] = {
      {UNCERTAINTY, 2, ""},
      {UNCERTAINTY, 2.01, draws},
      {UNCERTAINTY, 0, draws},
      {UNCERTAINTY, -1, draws},
      {UNCERTAINTY, (double)NAN, draws},
      {DRAWS, 4, ""},
      {DRAWS, 0, draws},
      {DRAWS, -1, draws},
      {DRAWS, 1, share}, /* no share of one draw */
      {SHARE, 0, ""},
      {SHARE, 1, ""},
      {SHARE, -0.125, share},
      {SHARE, 1.125, share},
      {SHARE, 0.7, share},
      {SHARE, (double)NAN, share},
      {LOW, 0, percentiles},
      {LOW, 1.5, ""},
      {LOW, 1.6, percentiles},
      {LOW, (double)NAN, percentiles},
      {MEDIAN, 2, ""},
      {MEDIAN, 2.1, percentiles},
      {MEDIAN, (double)NAN, percentiles},
      {HIGH, (double)INFINITY, percentiles},
      {HIGH, 1.4, percentiles},
      {REGRET, 0, ""},
      {REGRET, -1, "a regret of at least 0 ns"},
      {FACTOR, 0.0625, ""},
      {FACTOR, 0.062, flip},
      {FACTOR, 16.1, flip},
      {FACTOR, 0, flip},
      {FACTOR, -1, flip},
      {FACTOR, (double)NAN, flip},
  };
  OWN(lab) s = two_ways(NULL);
  OWN(situ_plan) *plan = plan_on(&s, 0, 1, 0, 0);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    situ_robustness *r = &plan->robustness;
    double *of[] = {&r->uncertainty, NULL, &r->beats_single, &r->speedup_5, &r->speedup_median,
                    &r->speedup_95,  NULL, &r->flip_factor};
    char said[600], expected[200] = "";
    *r = good;
    if (rows[i].what == DRAWS)
      r->draws = (int32_t)rows[i].value;
    else if (rows[i].what == REGRET)
      r->regret_ns = (int64_t)rows[i].value;
    else
      *of[rows[i].what] = rows[i].value;
    judged(plan, false, said, "", "robustness");
    if (*rows[i].expected) snprintf(expected, sizeof expected, "claim: robustness: expected %s", rows[i].expected);
    if (strcmp(said, expected) != 0) fail_msg("row %d: '%s'", (int)i, said);
  }
  plan->robustness = good;
  plan->robustness.flip_what[0] = 0;
  is_said(plan, "claim: robustness: expected a flip_factor from 1/16 to 16 and its flip_what, or neither");
  plan->robustness.flip_factor = 0;
  is_said(plan, "");
}

TEST(a_single_device_is_preferred_to_a_split) {
  OWN(lab) s = two_ways(NULL);
  char said[600];
  situ_plan *plan = plan_on(&s, 0, 1, 0, 0);
  plan->robustness = good;
  plan->robustness.preferred = true;
  is_said(plan, "claim: robustness: expected a plan on one device, which was preferred");
  situ_plan_free(plan);
  plan = plan_on(&s, 0, 0, 0, 0);
  plan->robustness = good;
  plan->robustness.preferred = true;
  is_said(plan, "");
  assert_int_equal(plan_show(plan, &plan->compared, plan_on(&s, 0, 1, 0, 0), NULL), SITU_STATUS_OK);
  is_said(plan, "");
  plan->compared->value_ns = 21;
  is_said(plan, "value: robustness: the plan states 21 ns; its operators and transfers give 20 ns");
  for (int32_t v = 0; v < 4; v++) { /* whichever of them is elsewhere */
    OWN(situ_plan) *split = plan_on(&s, v == 0, v == 1, v == 2, v == 3);
    split->robustness = plan->robustness;
    is_said(split, "claim: robustness: expected a plan on one device, which was preferred");
  }
  situ_plan *none = plan_new(s.problem);
  none->robustness = plan->robustness;
  none->best_single_device = 0;
  is_said(none, "placement: the plan has no placement; its outcome is limit");
  situ_plan_free(none);
  plan->best_single_device = -1;
  assert_int_not_equal(judged(plan, false, said, "", "robustness"), 0);
  assert_string_equal(said, "claim: robustness: expected a single device to compare with");
  situ_plan_free(plan);
}

/* The draws of a seed, or of the next one, give what the plan says: then it counts as recomputed. */
TEST(draws_are_repeated_from_the_seed) {
  for (uint64_t ahead = 0; ahead < 3; ahead++)
    for (int spoilt = 0; spoilt < 2; spoilt++) {
      OWN(lab) s = two_ways(NULL);
      OWN(situ_verdict) *verdict = NULL;
      OWN(situ_plan) *plan = plan_on(&s, 0, 1, 0, 0);
      budget b = budget_new(0, 0, NULL, NULL);
      int32_t single[4] = {0, 0, 0, 0};
      plan->best_single_device = 0;
      plan->seed = 5;
      plan->robustness.size = sizeof plan->robustness;
      assert_true(robust_compare(&plan->robustness, s.problem,
                                 &(placement){.device = plan->device, .order = plan->order},
                                 &(placement){.device = single}, 1.5, 50, 5 + ahead, &b, s.arena));
      plan->robustness.regret_ns += spoilt;
      assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
      assert_int_equal(verdict->n_found, 0);
      assert_int_equal(situ_verdict_recompute(verdict, NULL), SITU_STATUS_OK);
      bool same = ahead < 2 && !spoilt;
      assert_int_equal(verdict->n_found, !same);
      assert_string_equal(judge_claims(verdict->recomputed), "robustness");
      assert_string_equal(judge_claims(verdict->unchecked), "");
    }
}

TEST_MAIN
