/* view/coplace.h - larger units than the problem's, for heuristics: an operator goes where its only consumer goes. */
#ifndef SITU_VIEW_COPLACE_H
#define SITU_VIEW_COPLACE_H

#include "problem/problem.h"

/* Co-placement (Jeon et al., "Baechi", SoCC 2020): an operator with exactly one consumer shares a unit with it. One
 * pass is the fixpoint, because joining changes no operator's consumers. Units are joined only while one device may run
 * all, and (here) while they take a small part of the largest memory, so that they still pack. No rule for proofs:
 * branches that meet share a device. *larger says whether anything was joined. False without memory. */
bool coplace_find(unit_list *out, bool *larger, const situ_problem *problem, arena *a);

#endif
