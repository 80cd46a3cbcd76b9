/* lp/mip_engine.h - engines for mixed-integer programs: each is one file that exports one const struct, and one row of
 * lp/mip.c. They search in a process of their own (base/child.h): an engine that crashes takes nothing with it. */
#ifndef SITU_LP_MIP_ENGINE_H
#define SITU_LP_MIP_ENGINE_H

#include "base/child.h"
#include "lp/program.h"

typedef struct mip_limits {
  double seconds;       /* of wall time, roughly kept; INFINITY: none */
  int64_t max_nodes;    /* of the search tree */
  int32_t seed;         /* of the engine's random numbers */
  const int64_t *start; /* [n_columns] a solution to start from, or NULL; only integer columns are used */
  bool (*stop)(void *); /* asked about every 10 ms, or NULL */
  void *context;
} mip_limits;

typedef struct mip_outcome {
  const char *engine; /* its name */
  bool is_ended;      /* the engine claims that its solution is optimal, or that there is none */
  int64_t n_nodes;
  int64_t bound;     /* that the engine claims on the cost; 0: none */
  int32_t n_crashes; /* 1 when only the search without its preprocessing came to an end, 2 when neither */
} mip_outcome;

/* Is given each solution that the engine kept, the best first: x[n_columns], as the engine rounds. */
typedef void mip_found(void *context, const double *x);

/* ---- for engines ---- */

typedef struct mip_task {
  const program *program;
  const program_table *table;
  const mip_limits *limits;
  mip_found *found;
  void *context;
  mip_outcome *outcome;
  int32_t n_start; /* whole columns to start from, and their values; engines work the others out */
  int32_t *start_column;
  double *start_value;
  bool preprocess; /* false once the engine has crashed with it */
  /* in the child */
  child_line *line;
  bool is_stopped; /* the child was asked to come to an end */
} mip_task;

typedef struct mip_engine {
  const char *name;
  const char *variable;         /* of the environment: where it is, or none; NULL: it has none */
  const char *(*missing)(void); /* NULL, or why it cannot be called */
  bool (*search)(mip_task *task);
} mip_engine;

extern const mip_engine mip_highs, mip_cbc;

/* Messages: a solution, [n_columns] numbers, or the outcome. */
typedef struct mip_message {
  bool is_outcome;
  mip_outcome outcome;
  double x[];
} mip_message;

/* In the child: reports a solution in the units of the table, and the end of the search. False when nobody listens. */
bool mip_report(const mip_task *task, const double *x);
bool mip_report_end(const mip_task *task, mip_outcome outcome);
/* In the child: the value that the engine claims no solution is below; 0 where it claims none. */
int64_t mip_bound_of(const mip_task *task, double bound);

#endif
