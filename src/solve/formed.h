/* solve/formed.h - the best plan of a form (situ_form) that the target of a writer can run. */
#ifndef SITU_SOLVE_FORMED_H
#define SITU_SOLVE_FORMED_H

#include "solve/common/solver.h"

typedef struct formed {
  layer_plan form;
  incumbent best; /* of the problem of the run, of plans that have the form */
} formed;

/* For the bits of a form. UNSUPPORTED if the graph lacks the layers that the form refers to. Call formed_free even
 * after a failure; the rest is in the arena of the run. */
situ_status formed_open(formed *out, solve_run *run, int32_t form);
void formed_free(formed *f);

/* Looks for the best plan of the form and offers it to the run. The problem is posed again: operators that the form
 * keeps together become one unit, devices that it excludes are unused (once for each server if it needs a single
 * server), and if layers must form runs, labels along the chain (chain_labels) ensure that. Takes at most half of the
 * rest of the budget. */
situ_status formed_search(formed *f, solve_run *run);

/* Whether the incumbent of the run beats the best of the form, which takes it over if it has the form. */
bool formed_costs(formed *f, const solve_run *run);

/* Why there is no plan of the form, in the arena of the run; NULL without memory. */
const char *formed_reason(const formed *f, const solve_run *run);

#endif
