/* solve/answer/cost_sample.h - plans under costs drawn at random around the estimates: how sure is it that one plan is
 * better than another? docs/theory/models/uncertainty.md. */
#ifndef SITU_SOLVE_ANSWER_COST_SAMPLE_H
#define SITU_SOLVE_ANSWER_COST_SAMPLE_H

#include "sim/engine_parts.h"

/* A stream problem with one sample of its times; it borrows all else. */
typedef struct cost_sample {
  situ_problem problem; /* with times of its own */
  const situ_problem *from;
  simulator *simulator;
  parts_model *parts;                                /* NULL: the costs do not know of parts */
  int64_t *time_ns, *rows, **transfer_ns, *fixed_ns; /* fixed_ns: [kind] the minimum time of a tensor */
  double *of_class, *of_kind, *fixed_factor, *rate_factor;
} cost_sample;

/* In the arena. False without memory. */
bool cost_sample_new(cost_sample *out, const situ_problem *problem, arena *a);

/* Draws costs, sample number `index` of a seed: time(v, class) is multiplied by exp(a + b + c), with independent
 * normals a for each class of devices (standard deviation s), b for each kind of operator on a class (s), and c for
 * each operator on a class (0.75 s); a transfer's fixed part by exp(2 s x), the rest by exp(0.75 s y), with x and y for
 * each kind of link. The same index gives the same costs. */
void cost_sample_draw(cost_sample *w, double s, uint64_t seed, int32_t index);

/* Sets the estimates, with those of one class, or of one kind of route, multiplied by a factor; -1: none. */
void cost_sample_scale(cost_sample *w, int32_t class, int32_t kind, double factor);

/* The value of a placement under the current costs, by parts where they know of parts; devices and order are kept,
 * memory limits are ignored. */
int64_t cost_sample_value_ns(cost_sample *w, const placement *where);

#endif
