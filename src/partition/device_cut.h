/* partition/device_cut.h - devices of units by minimum cuts, crossings and costs counted, parts not.
 *
 * An expansion lets every unit move to one device or stay, all at once and at the minimum cost (Boykov, Veksler, Zabih,
 * "Fast approximate energy minimization via graph cuts", IEEE PAMI 23, 2001). A tensor is one net for each device that
 * receives it: an auxiliary node is cut once, however many of its readers are there. With two devices one expansion
 * from "everything on the other" is the optimum. */
#ifndef SITU_PARTITION_DEVICE_CUT_H
#define SITU_PARTITION_DEVICE_CUT_H

#include "base/max_flow.h"
#include "partition/part_request.h"

typedef struct device_cut {
  const part_request *request;
  max_flow flow;
  int32_t *other;    /* [unit] scratch */
  int32_t *cheapest; /* [unit] devices at the minimum cost, where the bound is exact */
  int32_t *received; /* [device] scratch */
} device_cut;

/* UNSUPPORTED if the network would be too large. */
situ_status device_cut_new(device_cut *x, const part_request *q, arena *a, situ_error *error);
/* The cost of devices of units; the crossings in *n_crossings unless it is NULL. */
int64_t device_cut_cost(device_cut *x, const int32_t *device, int64_t *n_crossings);
/* Moves units to device `to` where that costs less; whether it did. What is not allowed is never chosen. */
bool device_cut_expand(device_cut *x, int32_t *device, int32_t to, budget *b);
/* A lower bound on the cost of every choice: exact for up to two devices in use, else by what no choice avoids. */
int64_t device_cut_bound(device_cut *x, budget *b);

#endif
