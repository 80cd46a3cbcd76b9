/* view/level.h - levels: units larger than those of a problem, so that a search moves many operators at once.
 *
 * A level is a unit list whose units are unions of finer units. Only units are coarse, not the graph: a plan in which
 * each unit of a level is on one device is a plan of the problem, with its times, memory and links. A row finds the
 * levels of one kind; searches get the units that they move as an argument (solve_run.units), or draw among levels. No
 * level is a rule for proofs. docs/theory/level.md has a section for each row. */
#ifndef SITU_VIEW_LEVEL_H
#define SITU_VIEW_LEVEL_H

#include "problem/problem.h"

enum { LEVELS_MAX = 6 };

typedef struct level_list {
  unit_list of[LEVELS_MAX];
  int32_t n;
} level_list;

typedef struct level_request {
  const unit_list *fine;               /* what is joined; NULL: the units of the problem */
  int32_t n_wanted;                    /* units of the coarsest level; 0: the row decides */
  const double *work_ns, *transfer_ns; /* [operator], [tensor] mean times; of traffic and groups */
} level_request;

typedef struct level_row {
  const char *name, *title, *source;
  /* Finds the levels, none if nothing can be joined; everything lives in the arena. False without memory. */
  bool (*find)(level_list *out, const situ_problem *problem, const level_request *request, arena *a);
} level_row;

/* The table of levels. A row is one file that exports one const struct called level_NAME, and one line here.
 * - traffic: units with much traffic between them, joined level by level; the finest level first. A unit of a level
 * with about k units has at most 1/k of all work, and at most 1/16 of the smallest memory. Units with pins stay as they
 * are.
 * - repeats: similar units, wherever they are: the same operator of all steps of an unrolled network, or of all layers
 *   of a repetitive one. The coarsest level first.
 * - coplaced: an operator and its only consumer.
 * - groups: at most n_wanted units, or more where constraints keep them separate. */
#define LEVEL_ROWS(ROW) \
  ROW(traffic)          \
  ROW(repeats)          \
  ROW(coplaced)         \
  ROW(groups)
#define LEVEL_DECLARE(NAME) extern const level_row level_##NAME;
LEVEL_ROWS(LEVEL_DECLARE)

#define LEVEL_COUNT(NAME) +1
enum { N_LEVEL_ROWS = 0 LEVEL_ROWS(LEVEL_COUNT) };
extern const level_row *const level_rows[N_LEVEL_ROWS];

/* Puts each unit on the device of most of its work if that is allowed, else on that of its first operator. work_ns:
 * [operator]. */
void level_gather(int32_t *device, const situ_problem *problem, const unit_list *units, const double *work_ns,
                  double *scratch /* [device] */);

#endif
