/* bound/linear_relaxation.h - the linear program of bound/latency_program.h as a bound, proved in integers.
 *
 * An engine solves the program in floating point. The prices of its rows are rounded to integers, and the bound that
 * they prove is computed exactly (program_bound in lp/program.h; Neumaier and Shcherbina, "Safe bounds in linear and
 * mixed-integer linear programming", Mathematical Programming 99, 2004). A poor solution gives a poor bound, never a
 * wrong one. docs/theory/bounds/linear_relaxation.md. */
#ifndef SITU_BOUND_LINEAR_RELAXATION_H
#define SITU_BOUND_LINEAR_RELAXATION_H

#include "base/budget.h"
#include "problem/certificate.h"
#include "problem/problem.h"

/* Proves that no plan of a stream problem is better than *lower_ns, or than known_ns (SITU_NEVER_NS: none is known), in
 * which case it is at most that. 0 without an engine, without time, and where the program has more than about
 * `max_entries`. The proof is left in scratch memory. False without memory. */
bool linear_relaxation_find(int64_t *lower_ns, certificate *proof, const situ_problem *problem, int64_t known_ns,
                            int64_t max_entries, arena *scratch, const budget *b);

#endif
