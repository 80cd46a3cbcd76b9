/* Libraries that are loaded when they are first needed. The C library's mathematics stands for one: its values are
 * known. */
#include <math.h>

#include "../../lab/test.h"
#include "base/library.h"
#include "base/parallel.h"
#include "lp/lp.h"
#include "lp/mip.h"

#define CALLS(CALL) CALL(c, eil) CALL(, floor)

static struct { CALLS(LIBRARY_POINTER) } m;
static const char *const names[] = {CALLS(LIBRARY_NAME)};

TEST(functions_are_found_by_their_names) {
  lazy_library l = LAZY_LIBRARY("libm.so.6", m, names);
  assert_null(library_missing(&l));
  assert_null(library_missing(&l));
  assert_true(m.eil(1.5) == 2 && m.floor(1.5) == 1);
}

TEST(a_library_that_is_absent_is_named_each_time) {
  lazy_library l = LAZY_LIBRARY("libno_such_library.so.1", m, names);
  for (int32_t i = 0; i < 2; i++) assert_non_null(strstr(library_missing(&l), "cannot be loaded"));
  assert_string_equal(l.why.where, "libno_such_library.so.1");
}

TEST(a_function_that_it_lacks_is_named) {
  static const char *const others[] = {"floor", "no_such_function"};
  lazy_library l = LAZY_LIBRARY("libm.so.6", m, others);
  assert_non_null(strstr(library_missing(&l), "no_such_function"));
}

typedef struct asked {
  lazy_library *l;
  int32_t n_missing[8];
} asked;

static void ask(void *context, int32_t i, bool here) {
  asked *a = context;
  a->n_missing[i] = library_missing(a->l) != NULL;
}

static void watch(void *context) {}

TEST(threads_that_ask_at_once_all_find_it) {
  for (int32_t round = 0; round < 20; round++) {
    lazy_library l = LAZY_LIBRARY("libm.so.6", m, names);
    asked a = {.l = &l};
    parallel_run(8, 8, ask, watch, &a);
    for (int32_t i = 0; i < 8; i++) assert_int_equal(a.n_missing[i], 0);
  }
}

/* Where the build found their headers, the libraries that it was made for must be there, too. */
TEST(engines_that_were_built_in_are_found) {
#ifdef SITU_LP
  assert_null(lp_missing());
#endif
#ifdef SITU_CBC
  assert_null(mip_missing());
#endif
  assert_true(!lp_missing() || strstr(lp_missing(), "Clp") || strstr(lp_missing(), "loaded"));
}

TEST_MAIN
