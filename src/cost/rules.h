/* cost/rules.h - users' rules about their machine: where operators must not run, which stay together, what devices
 * really offer. docs/formats/rules.md defines every rule.
 *
 * Rules are resolved once, for a graph and a platform: patterns to operators, words to devices. They change the
 * platform before costs are estimated, and then the costs. */
#ifndef SITU_COST_RULES_H
#define SITU_COST_RULES_H

#include "base/json.h"
#include "base/log.h"
#include "cost/costs.h"
#include "cost/fusion.h"

/* A set of operators, and the rule that applies to them. */
typedef struct rule_row {
  int32_t n, *member;
  bool *forbids;  /* [device]; NULL: none */
  double *factor; /* [device] of times; NULL: 1 everywhere */
} rule_row;

typedef struct rule_set {
  arena *arena;
  int32_t n_operators, n_devices;
  int32_t n_rows, n_kept; /* rows of operators; lists of what stays together */
  rule_row *rows, *kept;
  int32_t *apart;         /* [operator] operators with different numbers share no kernel; 0: not restricted. NULL: none
                             is */
  bool *cuts;             /* [operator] whose results may go to another device; NULL: all may */
  int64_t *reserve_bytes; /* [memory] */
  double *efficiency;     /* [device]; 0: as the device has it */
  uint32_t *precision;    /* [device] a bit for each element type; 0: all */
} rule_set;

/* One object of rules, and where it came from, for messages. */
typedef struct rule_source {
  const char *where;
  const json_value *root;
} rule_source;

/* Resolves rules. Rules of later sources apply after those of earlier ones. BAD_INPUT, with the position, for a
 * violation of docs/formats/rules.md, for a device that the platform does not have, and for a reserve larger than its
 * memory; a rule that matches nothing is a warning. Where devices of the platform are groups of those of `members`
 * (else NULL), the name of a member means its group. *out belongs to the caller and keeps no references. */
situ_status rules_read(rule_set **out, const rule_source *sources, int32_t n, const situ_graph *graph,
                       const situ_platform *platform, const situ_platform *members, log_to log, situ_error *error);
void rules_free(rule_set *r);

/* The platform with reserves and efficiencies. Devices of one class that rules treat differently get classes
 * "CLASS:DEVICE", by the first device of each. Numbers of devices, memories and links stay. *out is the caller's. */
situ_status rules_platform(situ_platform **out, const rule_set *r, const situ_platform *platform, situ_error *error);

/* Multiplies estimated times by the factors of rules, each kernel by those of its head. */
void rules_scale(const rule_set *r, situ_costs *costs, const situ_platform *platform);
/* Sets the times that rules forbid to SITU_NEVER_NS, marks them in costs->ruled and adds up what rules reserve. `work`
 * holds the estimates. False without memory. */
bool rules_forbid(const rule_set *r, situ_costs *costs, const situ_platform *platform, const fusion *work);

/* Joins operators that rules keep together, by lists and by cut points, in disjoint sets of [operator]
 * (base/disjoint.h). Tensors known before a run may be read anywhere. */
void rules_join(const rule_set *r, int32_t *into, const situ_graph *graph, const situ_costs *costs);

#endif
