/* The judge of the lower bound: computes what the plan's certificate proves. */
#include "check/check_certificate.h"

#include <string.h>

#include "base/fail.h"

#define ADDRESS(NAME) &NAME##_rule,
static const certificate_rule *const rules[] = {CERTIFICATE_ROWS(ADDRESS) NULL};

static const certificate_rule *find_rule(const certificate *c, const situ_problem *p) {
  for (int32_t i = 0; rules[i]; i++)
    if (strcmp(rules[i]->kind, c->kind) == 0) return problem_is_of(p, rules[i]->models) ? rules[i] : NULL;
  return NULL;
}

/* Notes what is wrong with a certificate that was judged. */
static void hold_against(judge *j, const certificate *c, const certificate_rule *rule, int64_t proved_ns) {
  const situ_plan *plan = j->plan;
  if (proved_ns == CERTIFICATE_MALFORMED)
    judge_note(j, "certificate", "a certificate of kind %s was expected to hold %s", c->kind, rule->form);
  else if (proved_ns < c->lower_ns && c->lower_ns == SITU_NEVER_NS)
    judge_note(j, "certificate", "the certificate (%s) claims that there is no plan; it does not prove that", c->kind);
  else if (proved_ns < c->lower_ns)
    judge_note(j, "certificate", "the certificate (%s) claims %lld ns; it proves %lld ns", c->kind,
               (long long)c->lower_ns, (long long)proved_ns);
  else if (c->bound && strcmp(c->bound, plan->bound) == 0 && plan->lower_bound_ns > c->lower_ns)
    judge_note(j, "certificate", "the lower bound of %s is %lld ns; its certificate is for %lld ns", plan->bound,
               (long long)plan->lower_bound_ns, (long long)c->lower_ns);
  else if (plan->lower_bound_ns < c->lower_ns)
    judge_note(j, "certificate", "the lower bound is %lld ns; its certificate (%s) is for more, %lld ns",
               (long long)plan->lower_bound_ns, c->kind, (long long)c->lower_ns);
  else
    j->verdict->verified_ns = c->lower_ns;
}

static const char refused[] = "its certificate does not prove it";

situ_status check_certificate(judge *j, situ_error *error) {
  const certificate *c = &j->plan->proof;
  situ_verdict *v = j->verdict;
  if (c->fault) {
    judge_note(j, "certificate", "%s", c->fault);
    v->unverified = refused;
    return SITU_STATUS_OK;
  }
  if (!c->kind) {
    v->unverified = j->plan->lower_bound_ns > 0 ? "it has no certificate" : "";
    return SITU_STATUS_OK;
  }
  const certificate_rule *rule = find_rule(c, j->problem);
  if (strcmp(c->kind, "visits") == 0) { /* of situ 0.2, whose plans are fine but for this */
    v->unverified = "certificates of kind visits are of situ 0.2 and no longer checked; place again for another";
    return SITU_STATUS_OK;
  }
  if (!rule) {
    judge_note(j, "certificate", "certificates of kind '%s' prove nothing for %s problems", c->kind,
               situ_execution_name(j->problem->execution));
    v->unverified = refused;
    return SITU_STATUS_OK;
  }
  field_words wrong;
  if (c->lower_ns < 0 || !check_fields(c, j->problem, &wrong)) {
    judge_note(j, "certificate", "a certificate of kind %s was expected to hold %s", c->kind,
               c->lower_ns < 0 ? "a lower bound of at least 0 ns" : wrong.text);
    v->unverified = refused;
    return SITU_STATUS_OK;
  }
  int64_t proved_ns = 0;
  arena_mark mark = arena_get_mark(j->scratch);
  situ_status status = rule->prove(&proved_ns, j, c, error);
  arena_release(j->scratch, mark);
  TRY(status);
  v->certificate = rule->kind;
  if (proved_ns == CERTIFICATE_TOO_LONG) {
    v->unverified = "checking its certificate would take too long";
    return SITU_STATUS_OK;
  }
  int64_t before = v->n_found;
  hold_against(j, c, rule, proved_ns);
  if (v->verified_ns < j->plan->lower_bound_ns)
    v->unverified = v->n_found > before ? refused : "it was proved by a search, which leaves no certificate";
  return SITU_STATUS_OK;
}
