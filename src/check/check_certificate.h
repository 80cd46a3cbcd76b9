/* check/check_certificate.h - the judges of certificates. Each kind is one file with one const struct, listed in
 * check/check_certificate.c. They include nothing of the bounds: what a certificate proves is computed from the problem
 * and its numbers alone, in integers, whatever the numbers are. See docs/theory/bounds/certificates.md. */
#ifndef SITU_CHECK_CHECK_CERTIFICATE_H
#define SITU_CHECK_CHECK_CERTIFICATE_H

#include "check/check_fields.h"
#include "check/judge.h"

/* Computes what the certificate of the lower bound proves, and reports claims beyond that. */
situ_status check_certificate(judge *j, situ_error *error);

typedef struct certificate_rule {
  const char *kind;
  const char *form; /* what its lists must be together, beyond their fields (check_fields.h), for messages; or NULL */
  unsigned models;  /* the execution models it proves something of: MODEL_... */
  /* *proved_ns: a bound that no plan of the problem beats (SITU_NEVER_NS: there is no plan); 0 if the numbers prove
   * nothing, -1 if the lists do not have the form, -2 if checking would take too long. All fields are in range.
   * NO_MEMORY or OK. */
  situ_status (*prove)(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error);
} certificate_rule;

/* The table of kinds. A kind is one file that exports one const struct called NAME_rule, and one line here. */
#define CERTIFICATE_ROWS(ROW) \
  ROW(area_price)             \
  ROW(critical_path)          \
  ROW(cut_vertex)             \
  ROW(destructive)            \
  ROW(join)                   \
  ROW(largest_operator)       \
  ROW(linear_relaxation)      \
  ROW(memory_cut)             \
  ROW(packing)                \
  ROW(runs)                   \
  ROW(side_cut)               \
  ROW(unit_chain)             \
  ROW(visit_labels)
#define CERTIFICATE_DECLARE(NAME) extern const certificate_rule NAME##_rule;
CERTIFICATE_ROWS(CERTIFICATE_DECLARE)

enum { CERTIFICATE_MALFORMED = -1, CERTIFICATE_TOO_LONG = -2 };

/* ---- shared by several kinds ---- */

/* Operators that no allowed plan parts. */
typedef struct check_items {
  int32_t n;
  int32_t *of;             /* [operator] its item */
  int32_t *start, *member; /* operators of item i: member[start[i] .. start[i+1]) */
} check_items;
bool check_items_find(check_items *out, const judge *j);
/* The edges of F between items of a contiguous pipeline: f->to[f->start[i] .. f->start[i + 1]), some more than once;
 * and an order of the items in which all edges go forward. False without memory. */
typedef struct check_edges {
  int64_t *start;
  int32_t *to;
} check_edges;
bool check_edges_find(check_edges *f, int32_t *order, const check_items *items, const judge *j);
/* Whether a pipeline keeps tensor t for another phase, for each input in flight. */
bool check_is_stashed(const situ_graph *g, int32_t t);
/* What the memory of an operator holds whatever else a plan does: its weights, in a pipeline the stash of all inputs in
 * flight. Saturates. */
int64_t check_held_bytes(const judge *j, int32_t v);
/* Time of all operators of an item on a device, SITU_NEVER_NS where one may not run. */
int64_t check_item_time(const check_items *items, const judge *j, int32_t item, int32_t d);
/* The operator that a certificate names as `instant`: -1 where it names none. */
int64_t check_alive_instant(const certificate *c);
/* Adds to bytes ([item], sums saturate) the tensors that the memory of an item is certain to hold while operator `at`
 * of a stream runs: docs/theory/bounds/alive.md. With `once` each tensor counts with one item. False without memory. */
bool check_alive_add(int64_t *bytes, const check_items *items, const judge *j, int32_t at, bool once);
/* may: [operator * n_devices + device] where it may run and its item has room, with what is certain to be there while
 * `at` runs (< 0: that does not matter, nor what room there is). False without memory. */
bool check_alive_rooms(bool *may, const judge *j, int64_t at);
/* What the capacities of all memories cost at these prices of a byte, of a field that holds such: at most 2^122. */
__int128 check_rent(const judge *j, const int64_t *byte_prices);
/* check_held_bytes of all operators of each item; sums saturate. NULL without memory. */
int64_t *check_items_held(const check_items *items, const judge *j);

/* Prices of time and of bytes, and what tensors that cross between two sides of the memories give to the items. */
typedef struct check_prices {
  const int64_t *time; /* [device] of a nanosecond; NULL: 1 */
  const int64_t *byte; /* [memory] of a byte, in 2^-bits of that */
  int32_t bits;
  const int64_t *bytes;    /* [item] that its memory holds */
  const bool *may;         /* [operator * n_devices + device], or NULL: wherever its operators run */
  const int64_t *inside;   /* [memory] not 0 on that side; or NULL: no tensors count */
  const int64_t *out, *in; /* [use] the shares of a tensor that leaves the inside, and of one that enters it */
} check_prices;
/* Whether the shares of all uses of a tensor add up to 0, or to `max` at the most. */
bool check_shares_keep(const judge *j, int32_t t, const int64_t *share, __int128 max);
/* *work: the priced time and bytes of all items, each where that is least, what their uses give on the inside included,
 * less the rent of the memories, in 2^-bits. *nowhere: some item can be on no device. False without memory. */
bool check_priced_work(__int128 *work, bool *nowhere, const check_prices *x, const check_items *items, const judge *j);
/* The time that devices at these prices need at least for so much work: the work by the sum of all prices of time,
 * rounded up; SITU_NEVER_NS where there is work and no time has a price. */
int64_t check_priced_bound(__int128 work, const check_prices *x, const judge *j);
/* Whether support, pins and unused devices let the operator run there. */
bool check_may_run(const judge *j, int32_t v, int32_t d);

/* Earliest ends and minimum tails along chains of tensors. head[v * n_devices + d] holds on entry a time before which v
 * does not start on d, and on return the earliest time at which it can have ended there. tail holds on entry a minimum
 * time from then to the end of everything, and is raised where chains prove more. SITU_NEVER_NS where may[...] is
 * false. For stream and calls; only times of operators and transfers, as in docs/theory/bounds/critical_path.md. */
bool check_chains(int64_t *head, int64_t *tail, const bool *may, const judge *j);

/* The same for streams, computed from scratch, where up to `window` operators before an operator (and after it) either
 * share its device sequentially or pay transfers: docs/theory/bounds/joins.md. Never weaker than chains. */
bool check_joins(int64_t *head, int64_t *tail, const bool *may, int32_t window, const judge *j);
/* What such a certificate of one operator proves, by earliest ends and minimum tails that start at 0. */
typedef bool check_ends(int64_t *head, int64_t *tail, const bool *may, int32_t window, const judge *j);
situ_status check_operator(int64_t *proved_ns, judge *j, const certificate *c, check_ends *find, int32_t window,
                           situ_error *error);
/* Whether that takes no longer than a judge takes, for 0 <= window <= FIELD_WINDOW. */
bool check_joins_are_short(int64_t window, const judge *j);

#endif
