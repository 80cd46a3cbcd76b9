/* solve/stream/worlds.h - plans under costs that are drawn at random about the estimates: how sure is it that one is
 * better than another? docs/theory/models/uncertainty.md. */
#ifndef SITU_SOLVE_STREAM_WORLDS_H
#define SITU_SOLVE_STREAM_WORLDS_H

#include "sim/engine_parts.h"

/* A stream problem whose times are redrawn; it borrows all else. */
typedef struct worlds {
  situ_problem problem; /* with times of its own */
  const situ_problem *from;
  simulator *simulator;
  parts_model *parts;                                /* NULL: the costs do not know of parts */
  int64_t *time_ns, *rows, **transfer_ns, *fixed_ns; /* fixed_ns: [kind] the minimum time of a tensor */
  double *of_class, *of_kind, *fixed_factor, *rate_factor;
} worlds;

/* In the arena. False without memory. */
bool worlds_new(worlds *out, const situ_problem *problem, arena *a);

/* Draws costs, world number `index` of a seed: time(v, class) is multiplied by exp(a + b + c), with independent normals
 * a for each class of devices (standard deviation s), b for each kind of operator on a class (s), and c for each
 * operator on a class (0.75 s); a transfer's fixed part by exp(2 s x), the rest by exp(0.75 s y), with x and y for each
 * kind of link. The same index gives the same costs. */
void worlds_draw(worlds *w, double s, uint64_t seed, int32_t index);

/* Sets the estimates, with those of one class, or of one kind of route, multiplied by a factor; -1: none. */
void worlds_scale(worlds *w, int32_t class, int32_t kind, double factor);

/* The value of a placement under the current costs, by parts where they know of parts; devices and order are kept,
 * memory limits are ignored. */
int64_t worlds_value_ns(worlds *w, const placement *where);

#endif
