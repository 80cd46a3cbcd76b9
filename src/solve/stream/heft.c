/* HEFT: operators by upward rank, each to the device where it ends first, gaps included (Topcuoglu, Hariri, Wu, TPDS
 * 2002). Run once for each way of making ranks out of unlike devices, and where links serve one transfer at a time once
 * more with channels followed; the best by simulation stays. */
#include "solve/stream/list.h"

static situ_status heft_solve(solve_run *run) { return list_by_rank(run, NULL); }

const solver heft_solver = {
    .name = "heft",
    .title = "heterogeneous earliest finish time",
    .source = "Topcuoglu, Hariri, Wu, TPDS 2002",
    .models = MODEL_STREAM,
    .solve = heft_solve,
};
