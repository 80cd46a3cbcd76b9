/* solve/answer/device_order.h - which of several equal devices is which. */
#ifndef SITU_SOLVE_ANSWER_DEVICE_ORDER_H
#define SITU_SOLVE_ANSWER_DEVICE_ORDER_H

#include "solve/answer/answer.h"

/* Renames equal devices (EQUAL_ALWAYS, without staged transfers also EQUAL_LINKED; none with pins) in the placements of
 * an answer, so that they begin in the order of the platform: the first GPU has the first layers. Values stay, and with
 * them what is proved, which is about all plans. A placement whose simulation or form would change stays as it is.
 * Arrays are in the arena of the run. At most 16 simulations. NO_MEMORY or OK. */
situ_status answer_order_devices(answer *chosen, solve_run *run);

#endif
