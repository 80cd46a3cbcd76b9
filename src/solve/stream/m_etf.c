/* m-ETF: always takes the ready operator and device with the earliest start, among devices whose memory has room (Hwang
 * et al. 1989; with memory as in Baechi, SoCC 2020: groups are placed, and their weights counted, whole). */
#include "solve/stream/baechi.h"

static situ_status m_etf_solve(solve_run *run) { return baechi_solve(run, NULL); }

const solver m_etf_solver = {
    .name = "m_etf",
    .title = "memory-aware earliest task first",
    .source = "Hwang, Chow, Anger, Lee, SICOMP 1989; Jeon et al. (Baechi), SoCC 2020",
    .models = MODEL_STREAM,
    .solve = m_etf_solve,
};
