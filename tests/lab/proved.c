#include "proved.h"
#include "check/judge.h"

#include "plan/plan.h"
#include "test.h"

/* The verdict of a plan that has nothing but the certificate with this claim. */
static situ_verdict *judged(const situ_problem *problem, certificate c, int64_t claim_ns) {
  situ_plan *plan = plan_new(problem);
  situ_verdict *verdict;
  assert_non_null(plan);
  c.lower_ns = claim_ns;
  c.bound = "nobody";
  plan->proof = c;
  plan->lower_bound_ns = claim_ns;
  plan->bound = "another";
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  situ_plan_free(plan);
  return verdict;
}

static const char *complaint(const situ_verdict *verdict) {
  for (int32_t i = 0; i < verdict->n_kept; i++)
    if (strcmp(situ_verdict_violation(verdict, i).rule, "certificate") == 0)
      return situ_verdict_violation(verdict, i).text;
  return "";
}

certificate proved_lists(const char *kind, const char *lists, arena *a) {
  certificate c;
  char name[32];
  int used;
  certificate_start(&c, kind, 0);
  for (const char *at = lists; *at;) {
    int64_t values[32], n = 0;
    assert_int_equal(sscanf(at, "%31[^ ;]%n", name, &used), 1);
    char *end;
    for (at += used; *at && *at != ';'; at = end) {
      assert_true(n < 32);
      values[n++] = strtoll(at, &end, 10);
    }
    at += strspn(at, "; ");
    int64_t *list = certificate_add(&c, arena_string(a, name), n, a);
    for (int64_t i = 0; i < n; i++) list[i] = values[i];
  }
  return c;
}

int64_t proved_of_claim(const situ_problem *problem, const certificate *c, bool *objected) {
  situ_verdict *verdict = judged(problem, *c, c->lower_ns);
  int64_t found = verdict->verified_ns;
  *objected = *complaint(verdict);
  situ_verdict_free(verdict);
  return found;
}

bool proved_claim(const situ_problem *problem, const certificate *c) {
  bool objected;
  return proved_of_claim(problem, c, &objected) == c->lower_ns && !objected;
}

int64_t proved_bound(certificate *proof, const bound *row, const situ_problem *problem, arena *a) {
  budget unlimited = budget_new(0, 0, NULL, NULL);
  certificate unwanted;
  int64_t lower_ns = -1;
  if (!proof) proof = &unwanted;
  *proof = (certificate){0};
  assert_int_equal(row->compute(&lower_ns, proof, problem, a, &unlimited, NULL), SITU_STATUS_OK);
  return lower_ns;
}

int64_t proved_by(const situ_problem *problem, const certificate *c) {
  static const char says[] = "it proves ";
  situ_verdict *verdict = judged(problem, *c, SITU_NEVER_NS);
  bool none = verdict->verified_ns == SITU_NEVER_NS;
  situ_verdict_free(verdict);
  if (none) return SITU_NEVER_NS;
  verdict = judged(problem, *c, SITU_NEVER_NS - 1);
  const char *text = complaint(verdict), *at = strstr(text, says);
  int64_t found = at                                     ? strtoll(at + strlen(says), NULL, 10)
                  : strstr(text, "was expected to hold") ? PROVED_MALFORMED
                  : strstr(verdict->unverified, "long")  ? PROVED_TOO_LONG
                                                         : verdict->verified_ns;
  situ_verdict_free(verdict);
  return found;
}
