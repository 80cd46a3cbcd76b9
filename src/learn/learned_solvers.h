/* learn/learned_solvers.h - solvers that learn, in the order in which people should read them. Each is one file that
 * exports one const struct called NAME_solver, and one line here. */
#ifndef SITU_LEARN_LEARNED_SOLVERS_H
#define SITU_LEARN_LEARNED_SOLVERS_H

#include "solve/common/solver.h"

#define LEARNED_ROWS(ROW) \
  ROW(gdp)                \
  ROW(hsdag)              \
  ROW(cross_entropy)      \
  ROW(rnn_placer)         \
  ROW(hdp)                \
  ROW(placeto)

LEARNED_ROWS(SOLVER_DECLARE)

#endif
