/* solve/stream/window.h - exact search for a few strands while everything else is fixed: branch and bound over devices
 * and sequence, in the context of the rest of a stream schedule.
 *
 * The context consists of what comes before (when each device is free, when each external input is available) and what
 * comes after (the time from the end of each strand on each device to the end of everything through its external users,
 * and the remaining work of each device). Strands are appended to devices in any topological order; of two partial
 * schedules of the same strands, one that is nowhere later dominates the other. Links have no contention here: values
 * are exact without contention, and never too high. The search ends by itself or at its node limit. */
#ifndef SITU_SOLVE_STREAM_WINDOW_H
#define SITU_SOLVE_STREAM_WINDOW_H

#include "base/arena.h"
#include "problem/problem.h"
#include "solve/stream/strands.h"

enum { WINDOW_STRANDS = 24, WINDOW_DEVICES = 16, WINDOW_EDGES = 256 };

/* Later than anything; sums of several do not overflow. */
#define WINDOW_FAR_NS ((int64_t)1 << 55)

/* A tensor from one strand of the window to another. */
typedef struct window_edge {
  int32_t from, tensor;
} window_edge;

typedef struct window {
  const situ_problem *problem;
  int32_t n, n_devices;
  int32_t strand[WINDOW_STRANDS];                    /* ascending */
  int64_t time_ns[WINDOW_STRANDS][WINDOW_DEVICES];   /* FAR: not allowed */
  int64_t arrive_ns[WINDOW_STRANDS][WINDOW_DEVICES]; /* inputs from outside */
  int64_t leave_ns[WINDOW_STRANDS][WINDOW_DEVICES];  /* from its end on, outside the window; -1: no user outside */
  int64_t free_ns[WINDOW_DEVICES], after_ns[WINDOW_DEVICES];
  int32_t group[WINDOW_STRANDS]; /* colocation group, or -1 */
  int64_t weight_bytes[WINDOW_STRANDS];
  int64_t room_bytes[WINDOW_DEVICES]; /* [memory] for weights of the window */
  int32_t in_start[WINDOW_STRANDS + 1];
  window_edge in[WINDOW_EDGES];
} window;

/* Strands (ascending) with their data that does not depend on the context: times, edges, weights. arrive_ns is 0,
 * leave_ns -1, free_ns and after_ns 0, room_bytes unlimited. False if there are too many strands, or too many edges
 * between them. */
bool window_take(window *w, const situ_problem *problem, const strand_graph *g, const int32_t *strand, int32_t n);

/* A full schedule of the window. */
typedef struct window_schedule {
  int64_t value_ns; /* when everything ends, by the context */
  int32_t device[WINDOW_STRANDS];
  int32_t sequence[WINDOW_STRANDS]; /* indices into strand[], in which they are appended */
} window_schedule;

/* Called for each schedule that ends before `upper_ns`; returns the time below which further schedules are of
 * interest. */
typedef int64_t window_visitor(void *context, const window_schedule *found, int64_t upper_ns);

/* Searches only for schedules with a value below upper_ns. Returns whether the search was complete; *n_nodes counts
 * partial schedules. (Also false without memory.) */
bool window_search(const window *w, int64_t upper_ns, int64_t max_nodes, window_visitor *visit, void *context,
                   int64_t *n_nodes, arena *scratch);

/* A signature of everything that the schedules depend on, with times relative to the first possible start and tails
 * relative to the minimum, to recognise equal windows; for windows after which devices have nothing to do. Returns the
 * number of bytes written to `bytes`, which has room for WINDOW_SIGNATURE; 0 if there are too many kinds of routes. */
enum { WINDOW_SIGNATURE = sizeof(window) + WINDOW_EDGES * 16 * sizeof(int64_t) };
size_t window_signature(const window *w, uint8_t *bytes);

#endif
