/* solve/pipeline/orders.h - linear orders of the classes of a contraction in which F goes forward. */
#ifndef SITU_SOLVE_PIPELINE_ORDERS_H
#define SITU_SOLVE_PIPELINE_ORDERS_H

#include "base/rng.h"
#include "view/contract.h"

/* The order of the published code: Kahn's algorithm with a stack, which finishes one branch before it begins the next.
 * Classes are compared by the minimum identity of their operators in the file (then by number): sources come in
 * ascending order, and of classes that become ready together the last comes first. Ties broken in this way give the
 * published values on all published workloads. False without memory. */
bool order_published(int32_t *order, const contraction *c, const situ_graph *g, arena *a);

/* Scratch for further orders of one graph, which must be acyclic and is borrowed. */
typedef struct order_maker {
  const constraint_graph *forward;
  constraint_graph backward;
  int32_t *waiting, *ready, *later, *next;
} order_maker;

/* False without memory. O(V + E). */
bool order_maker_init(order_maker *m, const constraint_graph *forward, arena *a);

/* How to choose among ready classes. By default the one that became ready last, so that branches stay together. */
typedef struct order_style {
  bool backward;        /* the order is made from its end */
  bool descending;      /* of classes that become ready together the lowest number comes first, not the highest */
  bool loose;           /* a random ready class comes next, with a probability of 1/4; needs `random` */
  rng *random;          /* breaks ties; NULL: by number */
  const int32_t *place; /* [class] below n_places, never decreasing along an edge: lower places come first; or NULL */
  int32_t n_places;     /* at most the number of classes */
} order_style;

/* O(V + E). */
void order_make(order_maker *m, int32_t *order, const order_style *style);

#endif
