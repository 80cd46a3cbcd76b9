/* solve/kit/start.h - a first plan for searches, where there is none yet. */
#ifndef SITU_SOLVE_KIT_START_H
#define SITU_SOLVE_KIT_START_H

#include "solve/solver.h"

situ_status start_stream(solve_run *run);   /* heft, single */
situ_status start_pipeline(solve_run *run); /* single, m_topo */

#endif
