/* lab/test.h - what test programs include: cmocka with the headers that it asks for, and tests that list themselves. */
#ifndef SITU_LAB_TEST_H
#define SITU_LAB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after the others, which it needs */

#include "own.h"

/* TEST(a_cycle_is_named) { ... } is a test; `state` is what a set-up left. TEST_MAIN is the main of a file: it runs the
 * tests of the file in their order. With a set-up, a tear-down (or NULL) or more to do, main calls TEST_RUN. */
#define TEST(name)                                                                                \
  static void name(void **state);                                                                 \
  __attribute__((constructor)) static void name##_test(void) { test_add(#name, name, __LINE__); } \
  static void name(void **state)
#define TEST_RUN(set_up, tear_down) cmocka_run_group_tests(test_rows, set_up, tear_down)
#define TEST_MAIN \
  int main(void) { return TEST_RUN(NULL, NULL); }

enum { TEST_MAX = 100 };
static struct CMUnitTest test_rows[TEST_MAX] __attribute__((unused)); /* cmocka passes over rows without a name */
static int test_lines[TEST_MAX] __attribute__((unused));

/* Compilers may call constructors in any order. */
static inline void test_add(const char *name, CMUnitTestFunction run, int line) {
  int at = TEST_MAX - 1;
  if (test_rows[at].name) abort(); /* the table is full */
  for (; at > 0 && (!test_rows[at - 1].name || test_lines[at - 1] > line); at--) {
    test_rows[at] = test_rows[at - 1];
    test_lines[at] = test_lines[at - 1];
  }
  test_rows[at] = (struct CMUnitTest){.name = name, .test_func = run};
  test_lines[at] = line;
}

/* For a main: a tear-down after each test. */
static inline void test_end_each(CMFixtureFunction tear_down) {
  for (int i = 0; i < TEST_MAX; i++)
    if (test_rows[i].name) test_rows[i].teardown_func = tear_down;
}

#endif
