/* How near bounds come to the optimum of small random problems, by brute force. A weaker bound is no error, and no
 * other test notices one; here its mean falls below what docs/theory says of it. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "bound/bound.h"
#include "lp/lp.h"

typedef struct mark {
  const char *bound;
  double least; /* mean of bound / optimum */
} mark;

enum { MAX_BOUNDS = 24 };

static void measure(const situ_problem_options *options, const lab_options *drawn, int32_t problems,
                    const mark *marks) {
  double sum[MAX_BOUNDS] = {0};
  int32_t n = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)problems; seed++) {
    lab_options o = *drawn;
    o.seed = seed + 40000;
    o.density = 0.15 + 0.1 * (double)(seed % 5);
    o.options = *options;
    lab l = lab_random(&o);
    int64_t optimum = l.problem->conflict ? SITU_NEVER_NS : brute_force(l.problem, NULL);
    arena *a = arena_new();
    n += optimum > 0 && optimum < SITU_NEVER_NS;
    for (int32_t i = 0; bounds[i] && optimum > 0 && optimum < SITU_NEVER_NS; i++) {
      if (!problem_is_of(l.problem, bounds[i]->models)) continue;
      int64_t lower = proved_bound(NULL, bounds[i], l.problem, a);
      assert_true(lower <= optimum);
      sum[i] += (double)lower / (double)optimum;
    }
    arena_free(a);
    lab_free(&l);
  }
  for (int32_t i = 0; bounds[i]; i++) {
    if (sum[i] > 0) print_message("%-18s %.4f of %d optima\n", bounds[i]->name, sum[i] / n, (int)n);
    for (const mark *m = marks; m->bound; m++)
      if (strcmp(m->bound, bounds[i]->name) == 0 && sum[i] / n < m->least &&
          !(lp_missing() && strcmp(m->bound, "linear_relaxation") == 0))
        fail_msg("%s reaches %.4f of the optimum in the mean; it did %.4f", m->bound, sum[i] / n, m->least);
  }
}

TEST(bounds_of_streams_stay_as_strong) {
  measure(
      &(situ_problem_options){
          .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
      &(lab_options){.n_operators = 5, .n_devices = 3}, 300,
      (mark[]){{"critical_path", 0.972},
               {"area_price", 0.530},
               {"join", 0.981},
               {"destructive", 0.993},
               {"cut_vertex", 0.9987},
               {"linear_relaxation", 0.981},
               {0}});
}

TEST(bounds_that_know_memory_stay_as_strong) {
  measure(&(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM},
          &(lab_options){.n_operators = 5, .n_devices = 3, .memory = 0.35, .n_colocations = 1, .unfused = true}, 200,
          (mark[]){{"critical_path", 0.4848},
                   {"area_price", 0.312},
                   {"join", 0.490},
                   {"destructive", 0.5478},
                   {"cut_vertex", 0.4935},
                   {"linear_relaxation", 0.567},
                   {"visit_labels", 0.749},
                   {0}});
}

TEST(bounds_of_calls_stay_as_strong) {
  measure(&(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
          &(lab_options){.n_operators = 5, .n_devices = 3, .memory = 0.5}, 200,
          (mark[]){{"critical_path", 0.700}, {0}});
}

TEST(bounds_of_pipelines_stay_as_strong) {
  static const mark marks[][3] = {{{"area_price", 0.4408}, {"largest_operator", 0.697}, {0}},
                                  {{"area_price", 0.5317}, {"largest_operator", 0.836}, {0}},
                                  {{"area_price", 0.4456}, {"largest_operator", 0.705}, {0}},
                                  {{"area_price", 0.540}, {"largest_operator", 0.850}, {0}}};
  for (int32_t variant = 0; variant < 4; variant++)
    measure(
        &(situ_problem_options){.size = sizeof(situ_problem_options),
                                .objective = SITU_OBJECTIVE_THROUGHPUT,
                                .communication = variant & 1 ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED,
                                .free = variant & 2},
        &(lab_options){.n_operators = 6, .n_devices = 4, .equal = true, .training = false}, 200, marks[variant]);
}

TEST_MAIN
