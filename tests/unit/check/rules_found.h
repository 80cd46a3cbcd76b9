/* What the judge finds in a plan, for the tests of its rules: test_rules.c, test_rules_whole.c. */
#ifndef SITU_TESTS_RULES_FOUND_H
#define SITU_TESTS_RULES_FOUND_H

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "check/judge.h"

/* The violations of a plan, "rule: text" in lines. */
static inline const char *found(char into[4096], const situ_plan *plan) {
  situ_verdict *verdict;
  size_t n = 0;
  into[0] = '\0';
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  for (int32_t i = 0; i < verdict->n_kept && n < 4096; i++)
    n += (size_t)snprintf(into + n, 4096 - n, "%s: %s\n", situ_verdict_violation(verdict, i).rule,
                          situ_verdict_violation(verdict, i).text);
  situ_verdict_free(verdict);
  return into;
}

static inline void expect(const situ_plan *plan, const char *expected) {
  char text[4096];
  if (strcmp(found(text, plan), expected) != 0) fail_msg("found\n%sexpected\n%s", text, expected);
}

static inline void expect_within(const situ_plan *plan, const char *part) {
  char text[4096];
  if (!strstr(found(text, plan), part)) fail_msg("found\n%sexpected in it\n%s", text, part);
}

/* Devices of their own memory, each joined to the first both ways, 1 byte a nanosecond; the first is the host. */
static inline lab star(int32_t n, int64_t memory_bytes) {
  lab s = lab_new();
  for (int32_t d = 0; d < n; d++) lab_device(&s, memory_bytes, -1, d == 0);
  lab_star(&s);
  return s;
}

static inline situ_plan *plan_on(lab *s, int32_t *device) { return lab_plan(s, &(placement){.device = device}); }

/* The tests of test_rules_whole.c; the number of those that fail. */
int rules_of_whole_plans(void);

#endif
