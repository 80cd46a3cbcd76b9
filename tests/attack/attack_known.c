#include "attack_known.h"

/* Open defects that the attack has found go here until they are mended. None is open. */
bool attack_is_known(const attack_problem *p, const attack_trial *trial) {
  (void)p;
  (void)trial;
  return false;
}
