/* The solver hsdag: placements by the policy of the learner hsdag (learn/hsdag_learner.c).
 * docs/theory/learned/hsdag.md. */
#include "learn/learner.h"

static situ_status hsdag_solve(solve_run *run) { return learned_solve(run, &hsdag_learner); }

const solver hsdag_solver = {
    .name = "hsdag",
    .title = "a policy that parses the graph into groups and places them",
    .source = "Duan et al., HSDAG, NeurIPS 2024",
    .models = MODEL_STREAM,
    .anytime = true,
    .takes_policy = true,
    .solve = hsdag_solve,
};
