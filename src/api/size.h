/* api/size.h - the contents of a sizing. */
#ifndef SITU_API_SIZE_H
#define SITU_API_SIZE_H

#include "api/goal.h"
#include "problem/unknown.h"
#include "situ/size.h"

struct situ_sizing {
  arena *arena;
  const char *model;
  goal goal;
  double tokens; /* that the value of a plan is the time of; 0: no language model */
  bool priced;
  situ_size_row *rows;
  struct size_scope {
    const char *plans; /* the scope of the row, and what its machine is taken to do */
    bool split;        /* layers are whole by default, but no such plan was found */
    bool guessed;      /* more is unknown than claims allow */
    unknown_list unknown;
  } * scopes;                          /* [row] */
  int32_t n, n_candidates, n_unpriced; /* tried; to try; left out, since they have no price */
  int32_t answer;
};

#endif
