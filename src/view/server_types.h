/* view/server_types.h - servers that are interchangeable in every plan, and equal devices within them. */
#ifndef SITU_VIEW_SERVER_TYPES_H
#define SITU_VIEW_SERVER_TYPES_H

#include "problem/problem.h"

/* Servers of one type have equal devices at equal places, with equal links inside and to all that is outside. Of each
 * memory one device counts: the one that operators are pinned to, else the first that may be used. */
typedef struct server_type {
  int32_t n_servers, n_places;
  int32_t *device;  /* [server * n_places + place] */
  int32_t n_types;  /* of devices */
  int32_t *type_of; /* [place] */
  int32_t *count;   /* [type] devices of it in one server */
  int32_t *place;   /* [type * n_places + k] the places of a type, ascending */
} server_type;

/* Devices of a type are equal at EQUAL_LINKED (view/equal_devices.h); one that operators are pinned to is alone in its
 * type, and so is its server. O(devices^2 * types). False without memory. */
bool server_types_find(server_type **types, int32_t *n_types, const situ_problem *problem, arena *a);

#endif
