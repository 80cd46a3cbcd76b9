/* read/quantisers.h - the table of ways to pack weights: one row for each, and how tensors of one weight are named. A
 * row is recognised by the end of the weight's name, the type in which it is stored, and one companion with its shape,
 * not by what the configuration calls it: names of methods are many, and tools write each other's formats. */
#ifndef SITU_READ_QUANTISERS_H
#define SITU_READ_QUANTISERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the shape of the companion must compare with that of the weight. */
typedef enum quantiser_relation {
  QUANTISER_ANY,
  QUANTISER_SAME_ROWS,      /* the last but one */
  QUANTISER_SAME_COLUMNS,   /* the last */
  QUANTISER_COLUMNS_PACKED, /* the weight has fewer columns, by the number of values in an element */
  QUANTISER_ROWS_PACKED,
  QUANTISER_ONE_NUMBER
} quantiser_relation;

/* Where several values make one element. */
typedef enum quantiser_packing {
  QUANTISER_NOWHERE,
  QUANTISER_IN_COLUMNS,
  QUANTISER_IN_ROWS,
  QUANTISER_IN_BLOCKS, /* the last two dimensions are one */
  QUANTISER_FLAT       /* the shape is lost */
} quantiser_packing;

typedef struct quantiser {
  const char *name, *weight; /* the end of the weight's name */
  const char *types;         /* in which it is stored; a blank before and after each */
  const char *mark;          /* the end of the companion's name by which it is known */
  const char *others;        /* of other companions */
  quantiser_relation relation;
  quantiser_packing packing;
  int bits;    /* of a value; 0: the zero points, the groups or the configuration tell */
  bool turned; /* stored as [in, out] */
  bool whole;  /* a value never lies in two elements */
} quantiser;

extern const quantiser quantisers[]; /* ended by a row without a name */

/* Whether `name` ends so, and has more. */
bool quantisers_ends(const char *name, const char *end);

/* Removes from `name` the suffix that distinguishes the tensors of one operator; *companion: it is a scale, a zero
 * point, ... of the weight. False where nothing is cut. */
bool quantisers_cut(char *name, bool *companion);

#endif
