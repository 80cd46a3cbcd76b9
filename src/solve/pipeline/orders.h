/* solve/pipeline/orders.h - linear orders of the classes of a contraction in which F goes forward. */
#ifndef SITU_SOLVE_PIPELINE_ORDERS_H
#define SITU_SOLVE_PIPELINE_ORDERS_H

#include "base/rng.h"
#include "view/contract.h"

/* The order of the published code: Kahn's algorithm with a stack, which finishes one branch before it begins the next.
 * Classes are compared by the least identity that an operator of theirs has in its file (then by number): sources come
 * in ascending order, and of the classes that become ready together the greatest comes first. These ties give the
 * values that the published code reaches on all published workloads. False without memory. */
bool order_published(int32_t *order, const contraction *c, const situ_graph *g, arena *a);

/* Scratch for further orders of one graph, which must be acyclic and is borrowed. */
typedef struct order_maker {
  const constraint_graph *forward;
  constraint_graph backward;
  int32_t *waiting, *ready, *later, *next;
} order_maker;

/* False without memory. O(V + E). */
bool order_maker_init(order_maker *m, const constraint_graph *forward, arena *a);

/* How to choose among the classes that are ready: the one that became ready last, so that branches stay together. */
typedef struct order_style {
  bool backward;        /* the order is made from its end */
  bool descending;      /* of the classes that become ready together the lowest number comes first, not the greatest */
  bool loose;           /* now and then any ready class comes next; asks for random */
  rng *random;          /* ties are drawn; NULL: by number */
  const int32_t *place; /* [class] below n_places, never decreasing along an edge: lower places come first; or NULL */
  int32_t n_places;     /* at most the number of classes */
} order_style;

/* O(V + E). */
void order_make(order_maker *m, int32_t *order, const order_style *style);

#endif
