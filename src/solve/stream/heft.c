/* HEFT: operators by upward rank, each on the device where it ends first, gaps included (Topcuoglu, Hariri, Wu, TPDS
 * 2002). It runs once for each way of ranking with unequal devices, and where links serve one transfer at a time, again
 * with channels simulated. The best plan by simulation is kept. */
#include "solve/stream/list.h"

static situ_status heft_solve(solve_run *run) { return list_by_rank(run, NULL); }

const solver heft_solver = {
    .name = "heft",
    .title = "heterogeneous earliest finish time",
    .source = "Topcuoglu, Hariri, Wu, TPDS 2002",
    .models = MODEL_STREAM,
    .solve = heft_solve,
};
