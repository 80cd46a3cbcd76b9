/* base/contracts.h - the promises between parts of situ, as code that a build may omit.
 *
 *     REQUIRE(condition)  a precondition of a function, as its header states it: the caller's duty
 *     ENSURE(condition)   what a function has seen to when it gets there: its own duty
 *     CONTRACT(broken)    a noun keeps its invariants, as its header states them; `broken` is the value of its check
 *                         function (graph_check, problem_check, ...): NULL, or the invariant that does not hold
 *
 * A broken contract is a bug of situ, never of its input (invalid input is an error, base/fail.h): it prints a line to
 * stderr and aborts. The meson option `contracts` enables contracts; the default is on, except in builds of type
 * release. Disabled contracts evaluate nothing. Contracts check what one folder of src/ hands to another, and are not
 * placed in loops over the operators of every trial; CONTRIBUTING.md states their cost. */
#ifndef SITU_BASE_CONTRACTS_H
#define SITU_BASE_CONTRACTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SITU_CONTRACTS
#define REQUIRE(condition) ((condition) ? (void)0 : contracts_broken(__FILE__, __LINE__, "required", #condition))
#define ENSURE(condition) ((condition) ? (void)0 : contracts_broken(__FILE__, __LINE__, "ensured", #condition))
#define CONTRACT(broken) contracts_keep(__FILE__, __LINE__, (broken))
#else
#define REQUIRE(condition) ((void)sizeof((condition) ? 1 : 0))
#define ENSURE(condition) ((void)sizeof((condition) ? 1 : 0))
#define CONTRACT(broken) ((void)sizeof(broken))
#endif

/* Prints one line and aborts. */
_Noreturn void contracts_broken(const char *file, int line, const char *duty, const char *what);
/* The same unless `broken` is NULL. */
void contracts_keep(const char *file, int line, const char *broken);

/* ---- for check functions, which return NULL or the invariant that does not hold ---- */

#define EXPECT(condition, invariant)      \
  do {                                    \
    if (!(condition)) return (invariant); \
  } while (0)

/* The same for what another check function says. */
#define EXPECT_CHECK(check)                    \
  do {                                         \
    const char *expect_broken_ = (check);      \
    if (expect_broken_) return expect_broken_; \
  } while (0)

/* Whether start[0] = 0, no entry is less than the one before it, and start[n] = total: lists of n owners laid end to
 * end. */
bool contracts_lists(const int32_t *start, int64_t n, int64_t total);
bool contracts_long_lists(const int64_t *start, int64_t n, int64_t total);
/* Whether low <= value[i] < end for all n. */
bool contracts_within(const int32_t *value, int64_t n, int64_t low, int64_t end);
/* Whether each of n values is greater than the one before it. */
bool contracts_rise(const int32_t *value, int64_t n);
/* Whether all of n values are at least 0. */
bool contracts_amounts(const int64_t *value, int64_t n);
/* Whether value[0 .. n) are 0 .. n-1 in some order; others pass with a chance of 2^-64. */
bool contracts_permutation(const int32_t *value, int64_t n);

#endif
