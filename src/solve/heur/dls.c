/* DLS: always the ready operator and device of greatest dynamic level: static level - earliest start + (mean time - time
 * there) (Sih, Lee, TPDS 1993, eq. 5). */
#include "solve/kit/list.h"

static situ_status solve(solve_run *run) { return list_solve_pairs(run, LIST_DYNAMIC_LEVEL); }

const solver dls_solver = {
    .name = "dls",
    .title = "dynamic level scheduling",
    .source = "Sih, Lee, TPDS 1993",
    .stream = true,
    .portfolio = 6,
    .solve = solve,
};
