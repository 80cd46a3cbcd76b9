/* relabel.h - the same problem with its operators built in another order. For laws that numbers do not matter. */
#ifndef SITU_TESTS_RELABEL_H
#define SITU_TESTS_RELABEL_H

#include "lab.h"

/* A problem that differs from l's in the numbers of operators and tensors only: a random topological order drawn from
 * `seed`, with the same options, pins included. It borrows the platform of `l`: free it with relabel_free, before `l`.
 */
lab relabel(const lab *l, const situ_problem_options *options, uint64_t seed);
void relabel_free(lab *again);

#endif
