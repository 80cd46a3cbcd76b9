/* report/chart.h - where the parts of a plan lie in a picture: a lane for each device, from left to right in the order
 * of the data flow. */
#ifndef SITU_REPORT_CHART_H
#define SITU_REPORT_CHART_H

#include "plan/plan.h"
#include "situ/explain.h"

enum { CHART_PARTS = 240 }; /* drawn, those with the most work; the others and their edges are not in a chart */

typedef struct chart_edge {
  int32_t from, to, n_tensors; /* parts; each tensor once */
  int64_t bytes;
} chart_edge;

typedef struct chart {
  int32_t n, n_edges, n_columns, n_lanes;
  chart_edge *edges;     /* by from, then to */
  int32_t *column, *row; /* [part] its column, -1 if it is not drawn, and its row in the lane */
  int32_t *rows;         /* [device] of its lane, 0 if it has none */
  int32_t *lane;         /* [n_lanes] devices from top to bottom: of a pipeline in the order of the data flow */
} chart;

/* In the arena. False without memory. */
bool chart_find(chart *out, const situ_explanation *why, const situ_plan *plan, arena *a);

#endif
