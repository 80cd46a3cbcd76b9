/* solve/answer/form_search.h - the best plan of a form (situ_form) that the target of a writer can run. */
#ifndef SITU_SOLVE_ANSWER_FORM_SEARCH_H
#define SITU_SOLVE_ANSWER_FORM_SEARCH_H

#include "solve/common/solver.h"

typedef struct form_search {
  layer_plan form;
  incumbent best; /* of the problem of the run, of plans that have the form */
} form_search;

/* For the bits of a form. UNSUPPORTED if the graph lacks the layers that the form refers to. Call form_search_free even
 * after a failure; the rest is in the arena of the run. */
situ_status form_search_open(form_search *out, solve_run *run, int32_t form);
void form_search_free(form_search *f);

/* Looks for the best plan of the form and offers it to the run. The problem is posed again: operators that the form
 * keeps together become one unit, devices that it excludes are unused (once for each server if it needs a single
 * server), and if layers must form runs, labels along the chain (chain_labels) ensure that. Takes at most half of the
 * rest of the budget. */
situ_status form_search_run(form_search *f, solve_run *run);

/* Whether the incumbent of the run beats the best of the form, which takes it over if it has the form. */
bool form_search_costs(form_search *f, const solve_run *run);

/* Why there is no plan of the form, in the arena of the run; NULL without memory. */
const char *form_search_reason(const form_search *f, const solve_run *run);

#endif
