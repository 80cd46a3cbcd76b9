/* bound/linear_relaxation.h - the value of a linear program as a bound, proved in whole numbers (B5).
 *
 * An engine solves the program in floating point. The prices of its rows are rounded to whole numbers, and what they
 * prove is worked out exactly (program_bound in lp/program.h; Neumaier and Shcherbina, "Safe bounds in linear and
 * mixed-integer linear programming", Mathematical Programming 99, 2004). A poor solution makes a poor bound, never a
 * wrong one. */
#ifndef SITU_BOUND_LINEAR_RELAXATION_H
#define SITU_BOUND_LINEAR_RELAXATION_H

#include "base/budget.h"
#include "lp/program.h"

/* Raises *lower_ns to what the program proves. Without an engine, or time, it stays. False without memory. */
bool linear_relaxation_raise(int64_t *lower_ns, const program *p, arena *scratch, budget *b);

#endif
