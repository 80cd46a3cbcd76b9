/* learn/learn_judged.h - what situ_learn does, with other judges of trials than the simulator. */
#ifndef SITU_LEARN_LEARN_JUDGED_H
#define SITU_LEARN_LEARN_JUDGED_H

#include "situ/learn.h"
#include "solve/stream/environment.h"

/* judge NULL: the simulator. Else n_problems is 1, and training ends when the judge is over. UNSUPPORTED in a build
 * without learning. */
situ_status learn_judged(situ_learn_report *out, int64_t *best_ns, const char *learner_name,
                         const situ_problem *const *problems, int32_t n_problems, const situ_learn_options *options,
                         environment_judge *judge, situ_error *error);

#endif
