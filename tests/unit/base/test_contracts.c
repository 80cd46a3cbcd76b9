/* Contracts: what a broken one does, and the parts that check functions are made of. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/contracts.h"

/* How a child ends that breaks a contract; 0 when it goes on. */
static int signal_of(void (*breaks)(void)) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    breaks();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int n_evaluated;
static const char *counted(const char *broken) {
  n_evaluated++;
  return broken;
}

static void keep_all(void) {
  REQUIRE(1 + 1 == 2);
  ENSURE(1 + 1 == 2);
  CONTRACT(counted(NULL));
}
static void break_require(void) { REQUIRE(1 + 1 == 3); }
static void break_ensure(void) { ENSURE(1 + 1 == 3); }
static void break_contract(void) { CONTRACT(counted("one and one are three")); }

TEST(a_broken_contract_aborts_where_contracts_are_in) {
#ifdef SITU_CONTRACTS
  int expected = SIGABRT;
#else
  int expected = 0;
#endif
  assert_int_equal(signal_of(keep_all), 0);
  assert_int_equal(signal_of(break_require), expected);
  assert_int_equal(signal_of(break_ensure), expected);
  assert_int_equal(signal_of(break_contract), expected);
}

TEST(nothing_is_evaluated_where_contracts_are_out) {
  n_evaluated = 0;
  keep_all();
#ifdef SITU_CONTRACTS
  assert_int_equal(n_evaluated, 1);
#else
  assert_int_equal(n_evaluated, 0);
#endif
}

TEST(lists_begin_at_0_never_fall_and_end_at_the_total) {
  assert_true(contracts_lists((int32_t[]){0, 2, 2, 5}, 3, 5));
  assert_true(contracts_lists((int32_t[]){0}, 0, 0));
  assert_false(contracts_lists((int32_t[]){1, 2, 2, 5}, 3, 5));
  assert_false(contracts_lists((int32_t[]){0, 3, 2, 5}, 3, 5));
  assert_false(contracts_lists((int32_t[]){0, 2, 2, 5}, 3, 6));
  assert_true(contracts_long_lists((int64_t[]){0, 2, 2, 5}, 3, 5));
  assert_false(contracts_long_lists((int64_t[]){1, 2, 2, 5}, 3, 5));
  assert_false(contracts_long_lists((int64_t[]){0, 3, 2, 5}, 3, 5));
  assert_false(contracts_long_lists((int64_t[]){0, 2, 2, 5}, 3, 4));
}

TEST(ranges_begin_at_low_and_end_before_end) {
  assert_true(contracts_within((int32_t[]){-1, 0, 4}, 3, -1, 5));
  assert_false(contracts_within((int32_t[]){-2, 0, 4}, 3, -1, 5));
  assert_false(contracts_within((int32_t[]){-1, 0, 5}, 3, -1, 5));
  assert_true(contracts_within(NULL, 0, 0, 0));
}

TEST(rising_means_greater_than_the_one_before) {
  assert_true(contracts_rise((int32_t[]){1, 3, 7}, 3));
  assert_false(contracts_rise((int32_t[]){1, 3, 3}, 3));
  assert_false(contracts_rise((int32_t[]){3, 1, 7}, 3));
  assert_true(contracts_rise(NULL, 0));
}

TEST(amounts_are_at_least_0) {
  assert_true(contracts_amounts((int64_t[]){0, INT64_MAX}, 2));
  assert_false(contracts_amounts((int64_t[]){0, -1}, 2));
}

TEST(a_permutation_has_each_number_once) {
  assert_true(contracts_permutation((int32_t[]){2, 0, 1}, 3));
  assert_true(contracts_permutation(NULL, 0));
  assert_false(contracts_permutation((int32_t[]){2, 0, 0}, 3));
  assert_false(contracts_permutation((int32_t[]){1, 1, 1}, 3)); /* the sum of 0, 1 and 2 */
  assert_false(contracts_permutation((int32_t[]){3, 0, 1}, 3));
  assert_false(contracts_permutation((int32_t[]){-1, 0, 1}, 3));
}

TEST_MAIN
