/* attack_edit.h - a problem without one of its parts. */
#ifndef SITU_ATTACK_EDIT_H
#define SITU_ATTACK_EDIT_H

#include "attack_problem.h"

/* Each keeps what remains as it is, under new numbers. */
void problem_drop_operator(attack_problem *p, int32_t v);
void problem_drop_device(attack_problem *p, int32_t d);
void problem_drop_tensor(attack_problem *p, int32_t t);
void problem_drop_link(attack_problem *p, int32_t i);
/* All copies but the first. */
void problem_drop_copies(attack_problem *p);

#endif
