/* view/interchangeable.h - devices that may change places without any plan noticing, channels included. */
#ifndef SITU_VIEW_INTERCHANGEABLE_H
#define SITU_VIEW_INTERCHANGEABLE_H

#include "base/arena.h"
#include "problem/problem.h"

/* (*twin)[a * n_devices + b]: whether swapping a and b maps every route onto one with the same kinds of links, and
 * channels onto channels, one to one; neither has pins, and both are of one class and size of memory. O(devices^2 x
 * routes). False without memory. */
bool interchangeable_find(bool **twin, const situ_problem *problem, arena *a);

#endif
