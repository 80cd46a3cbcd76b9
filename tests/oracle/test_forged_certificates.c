/* Forged certificates of all kinds against brute force (tests/lab/forger.h). As a test a fixed number of them; with
 * arguments as many as wanted:
 *
 *     test-oracle-forged_certificates 1000000 7      number of forgeries, seed
 *
 * prints one line and fails if one of them proves more than is true. */
#include "../lab/forger.h"
#include "../lab/test.h"
#include "../lab/tier.h"

static void tell(const forger_count *n, uint64_t seed) {
  printf(
      "%lld forged certificates of %lld problems, %lld with a plan, seed %llu: %lld out of range, %lld prove less, "
      "%lld too long to "
      "check, %lld true; %lld wrong\n",
      (long long)n->all, (long long)n->problems, (long long)n->feasible, (unsigned long long)seed,
      (long long)n->out_of_range, (long long)n->less, (long long)n->too_long, (long long)n->verified,
      (long long)n->wrong);
}

/* Of each kind some certificates hold too, so that refusing them all would be noticed. */
TEST(no_forgery_proves_what_is_not_true) {
  forger_count n;
  forger_run(&n, rounds_of(200000), 1);
  tell(&n, 1);
  assert_int_equal(n.wrong, 0);
  assert_null(forger_kind(FORGER_KINDS));
  for (int32_t k = 0; k < FORGER_KINDS; k++)
    if (n.verified_of[k] == 0) fail_msg("nothing of kind %s is verified", forger_kind(k));
}

int main(int argc, char **argv) {
  if (argc > 1) {
    forger_count n;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    forger_run(&n, strtoll(argv[1], NULL, 10), seed);
    tell(&n, seed);
    return n.wrong > 0;
  }
  return TEST_RUN(NULL, NULL);
}
