/* Fails one request for memory of a bound after another, in small problems of each execution model: each time the bound
 * must say NO_MEMORY, whatever it had found so far. test_allocation.c sees only the few requests at which an arena asks
 * the system; here each object that comes from an arena is one, since the functions of arenas are wrapped. */
#include "../lab/lab.h"
#include "../lab/test.h"
#include "bound/bound.h"
#include "bound/configuration.h"
#include "exact/call_price.h"

enum { ALL_FIRST = 150, MAX_LATER = 50 }; /* requests that fail: each of the first, and some of all others */

arena *__real_arena_new(void);
void *__real_arena_alloc(arena *a, int64_t count, size_t size);
void *__real_arena_zero(arena *a, int64_t count, size_t size);
void *__real_arena_copy(arena *a, const void *from, int64_t count, size_t size);
arena *__wrap_arena_new(void);
void *__wrap_arena_alloc(arena *a, int64_t count, size_t size);
void *__wrap_arena_zero(arena *a, int64_t count, size_t size);
void *__wrap_arena_copy(arena *a, const void *from, int64_t count, size_t size);
bool __wrap_arena_arrays(arena *a, const arena_array *rows);

static int64_t countdown = -1; /* requests left before one fails; -1: none fails */
static int64_t counted;

static bool fails(void) {
  counted++;
  return countdown >= 0 && countdown-- == 0;
}

arena *__wrap_arena_new(void) { return fails() ? NULL : __real_arena_new(); }
void *__wrap_arena_alloc(arena *a, int64_t count, size_t size) {
  return fails() ? NULL : __real_arena_alloc(a, count, size);
}
void *__wrap_arena_zero(arena *a, int64_t count, size_t size) {
  return fails() ? NULL : __real_arena_zero(a, count, size);
}
void *__wrap_arena_copy(arena *a, const void *from, int64_t count, size_t size) {
  return fails() ? NULL : __real_arena_copy(a, from, count, size);
}
bool __wrap_arena_arrays(arena *a, const arena_array *rows) {
  for (; rows->pointer; rows++) {
    void *made = (rows->zero ? __wrap_arena_zero : __wrap_arena_alloc)(a, rows->count, rows->size);
    if (!made) return false;
    memcpy(rows->pointer, &made, sizeof made);
  }
  return true;
}

/* Prices of calls, as solvers of calls use them. */
static situ_status call_price_status(int64_t *lower_ns, const situ_problem *p, arena *a, budget *b) {
  call_graph g;
  call_lattice l;
  call_price c;
  bool unsupported;
  if (!call_graph_find(&g, p, 0, a)) return SITU_STATUS_NO_MEMORY;
  call_lattice_result found = call_lattice_find(&l, &g, 1000, a, b);
  if (found != CALL_LATTICE_ALL) return found == CALL_LATTICE_NO_MEMORY ? SITU_STATUS_NO_MEMORY : SITU_STATUS_INTERNAL;
  if (!call_price_make(&c, &l, &unsupported, a)) return unsupported ? SITU_STATUS_INTERNAL : SITU_STATUS_NO_MEMORY;
  if (!call_price_improve(&c, b)) return SITU_STATUS_INTERNAL;
  *lower_ns = c.lower_ns;
  return SITU_STATUS_OK;
}

enum { CONFIGURATION = BOUNDS, CALL_PRICE, ALL };

static bool is_of(int32_t which, const situ_problem *p) {
  if (which == CONFIGURATION) return configuration_serves(p);
  return which == CALL_PRICE ? p->execution == SITU_EXECUTION_CALLS : problem_is_of(p, bounds[which]->models);
}

static situ_status run(int32_t which, int64_t *lower_ns, const situ_problem *p) {
  budget b = budget_new(0, 0, NULL, NULL);
  arena *a = __real_arena_new();
  assert_non_null(a);
  situ_status status;
  situ_error error = {0};
  certificate proof = {0};
  if (which == CONFIGURATION)
    status = configuration_raise(lower_ns, p, SITU_NEVER_NS, a, &b, &error);
  else if (which == CALL_PRICE)
    status = call_price_status(lower_ns, p, a, &b);
  else
    status = bounds[which]->compute(lower_ns, &proof, p, a, &b, &error);
  arena_free(a);
  return status;
}

static void fail_each(int32_t which, const situ_problem *p) {
  const char *name = which == CONFIGURATION ? "configuration"
                     : which == CALL_PRICE  ? "call_price"
                                            : bounds[which]->name;
  int64_t expected_ns = 0;
  countdown = -1;
  counted = 0;
  assert_int_equal(run(which, &expected_ns, p), SITU_STATUS_OK);
  int64_t total = counted;
  for (int64_t n = 0; n < total; n += n < ALL_FIRST ? 1 : 1 + (total - ALL_FIRST) / MAX_LATER) {
    int64_t lower_ns = 0;
    countdown = n;
    situ_status status = run(which, &lower_ns, p);
    countdown = -1;
    bool unproved = which < BOUNDS && bounds[which] == &linear_relaxation_bound && lower_ns == 0;
    if (unproved && status == SITU_STATUS_OK) continue; /* program_bound proves nothing without memory */
    if (status != SITU_STATUS_NO_MEMORY)
      fail_msg("%s: request %d of %d for memory fails, and the status is %s", name, (int)n, (int)total,
               situ_status_name(status));
  }
  if (total > 0) print_message("%s: %d requests\n", name, (int)total);
}

TEST(bounds_say_that_memory_is_out) {
  static const situ_problem_options options[] = {{.execution = SITU_EXECUTION_STREAM},
                                                 {.execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE},
                                                 {.execution = SITU_EXECUTION_PIPELINE,
                                                  .objective = SITU_OBJECTIVE_THROUGHPUT,
                                                  .communication = SITU_COMMUNICATION_HOST_STAGED},
                                                 {.execution = SITU_EXECUTION_CALLS, .max_calls = 2}};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    for (uint64_t seed = 1; seed <= 2; seed++) {
      lab_options o = {.seed = 100 * i + seed,
                       .n_operators = 7,
                       .n_devices = 3,
                       .density = 0.3,
                       .n_colocations = 1,
                       .memory = 0.6,
                       .options = options[i]};
      countdown = -1;
      lab l = lab_random(&o);
      for (int32_t which = 0; which < ALL; which++)
        if (is_of(which, l.problem)) fail_each(which, l.problem);
      lab_free(&l);
    }
}

TEST_MAIN
