/* bound/area_search.h - prices of device time and memory that make the bound area_price high for some items. */
#ifndef SITU_BOUND_AREA_SEARCH_H
#define SITU_BOUND_AREA_SEARCH_H

#include "base/budget.h"
#include "view/items.h"

/* Prices in one unit, at least 0. A room that may hold everything has none. */
typedef struct area_prices {
  int64_t lower_ns;     /* what they prove: the devices work for at least as long */
  int64_t *time, *byte; /* [column], [room] */
} area_prices;

/* Items that are equal become one: `all` is changed. False without memory. */
bool area_search(area_prices *out, items *all, arena *a, budget *b);

#endif
