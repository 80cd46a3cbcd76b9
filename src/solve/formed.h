/* solve/formed.h - the best plan of a form (situ_form): what the target of a writer can run. */
#ifndef SITU_SOLVE_FORMED_H
#define SITU_SOLVE_FORMED_H

#include "solve/common/solver.h"

typedef struct formed {
  layer_plan form;
  incumbent best; /* of the problem of the run, of plans that have the form */
} formed;

/* For the bits of a form. UNSUPPORTED where the graph lacks what the form is about. Call formed_free after failures
 * too; the rest is in the arena of the run. */
situ_status formed_open(formed *out, solve_run *run, int32_t form);
void formed_free(formed *f);

/* Looks for the best plan of the form and offers it to the run. The problem is posed again: what the form keeps
 * together is one unit there, what it leaves empty may not be used (once for each server where it wants one), and where
 * runs of layers count, labels along the chain (chain_labels) see to them. Takes at most half of what the budget has
 * left. */
situ_status formed_search(formed *f, solve_run *run);

/* Whether the incumbent of the run beats the best of the form, which takes it over if it has the form. */
bool formed_costs(formed *f, const solve_run *run);

/* Why there is no plan of the form, in the arena of the run; NULL without memory. */
const char *formed_reason(const formed *f, const solve_run *run);

#endif
