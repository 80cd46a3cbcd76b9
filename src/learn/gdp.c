/* The solver gdp: placements by the policy of the learner gdp (learn/gdp_learner.c). docs/theory/learned/gdp.md. */
#include "learn/learner.h"

static situ_status gdp_solve(solve_run *run) { return learned_solve(run, &gdp_learner); }

const solver gdp_solver = {
    .name = "gdp",
    .title = "a policy network that places the graph in one pass",
    .source = "Zhou et al., GDP, 2019",
    .models = MODEL_STREAM,
    .takes_policy = true,
    .solve = gdp_solve,
};
