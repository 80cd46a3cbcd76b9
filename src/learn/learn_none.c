/* A build without learned policies. Their rows stay in the table of solvers and report that they are missing. */
#include "base/arguments.h"
#include "learn/learn_judged.h"
#include "learn/learned_solvers.h"

#define MISSING "situ was built without learned policies (meson option learn)"
#define ROW_OF(NAME)                          \
  const solver NAME##_solver = {              \
      .name = #NAME,                          \
      .title = "not in this build: " MISSING, \
      .source = "docs/theory",                \
      .models = MODEL_STREAM,                 \
      .missing = MISSING,                     \
  };
LEARNED_ROWS(ROW_OF)

int32_t situ_learner_count(void) { return 0; }

bool situ_learner_at(int32_t index, situ_learner_info *out) { return false; }

situ_status situ_learn(situ_learn_report *out, int64_t *best_ns, const char *learner,
                       const situ_problem *const *problems, int32_t n_problems, const situ_learn_options *options,
                       situ_error *error) {
  return learn_judged(out, best_ns, learner, problems, n_problems, options, NULL, error);
}

situ_status learn_judged(situ_learn_report *out, int64_t *best_ns, const char *learner,
                         const situ_problem *const *problems, int32_t n_problems, const situ_learn_options *options,
                         environment_judge *judge, situ_error *error) {
  TRY(GIVEN(error, out, learner));
  return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "learner %s is not in this build: " MISSING, learner);
}
