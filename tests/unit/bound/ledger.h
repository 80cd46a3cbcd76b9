/* ledger.h - what bounds add up to over fixed sets of random problems, for test_strength.c and test_strength_edges.c.
 */
#ifndef SITU_TESTS_BOUND_LEDGER_H
#define SITU_TESTS_BOUND_LEDGER_H

#include "../../lab/lab.h"

/* What is done to the numbers of each problem that is drawn. */
typedef enum manner {
  AS_DRAWN,    /* times of 0 .. 40; a third of the problems in units of 1/1000 */
  NEAR_LIMITS, /* times and bytes whose sums are just within what a problem may have, or what one of the bounds serves
                */
  FEW_VALUES   /* times of 0, 5 and 10 and sizes of 0 .. 3: many are equal, and memories are full to the byte */
} manner;

typedef struct family {
  const char *name;
  int32_t problems, first; /* how many, and the number of the first */
  bool other;              /* a limit by secondary costs */
  manner manner;
  bool no_host;           /* transfers are staged through the first device */
  bool all_pinned;        /* each operator, those of a device in a row */
  bool stopped;           /* the budget is over at its first look, or a few later */
  int32_t n, n_more;      /* operators: n .. n + n_more - 1 */
  int32_t devices, more;  /* devices: the same */
  double density, denser; /* chance of an edge, and by how much it differs */
  lab_options drawn;
  situ_problem_options options;
} family;

/* problems; operators, devices: from, and how many numbers of them; density, denser */
#define SIZES(count, from, numbers, from_devices, numbers_of_devices, dense, dens)                      \
  .problems = count, .n = from, .n_more = numbers, .devices = from_devices, .more = numbers_of_devices, \
  .density = dense, .denser = dens
#define STREAM .execution = SITU_EXECUTION_STREAM
#define PERIOD .objective = SITU_OBJECTIVE_THROUGHPUT, .execution = SITU_EXECUTION_PIPELINE
#define STAGED .communication = SITU_COMMUNICATION_HOST_STAGED

/* Whether ledger_holds writes the sums to the file STRENGTH_CSV instead of comparing them with it. */
extern bool ledger_updates;
/* Of every fifth family in the fast tier. Fails where a sum is below that of STRENGTH_CSV, or where a bound is above an
 * optimum that brute force finds. */
void ledger_holds(const family *families, size_t n);

#endif
