/* The table of solvers. */
#include "solve/solve.h"

#define ADDRESS(NAME) &NAME##_solver,
const solver *const solvers[] = {SOLVER_ROWS(ADDRESS) NULL};
