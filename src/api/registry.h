/* api/registry.h - all solvers that there are: those of src/solve and those that learn. */
#ifndef SITU_API_REGISTRY_H
#define SITU_API_REGISTRY_H

#include "solve/common/solver.h"

extern const solver *const all_solvers[]; /* ended by NULL */

#endif
