/* attack_known.h - defects that are known and not yet fixed: trials that meet them are left out, and counted.
 *
 * A rule goes when its defect is fixed; the aim is a function that returns false. */
#ifndef SITU_ATTACK_KNOWN_H
#define SITU_ATTACK_KNOWN_H

#include "attack_trial.h"

bool attack_is_known(const attack_problem *p, const attack_trial *trial);

#endif
