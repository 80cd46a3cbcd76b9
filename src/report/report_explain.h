/* report/report_explain.h - what `place` and `explain` both say about the parts of a plan. */
#ifndef SITU_REPORT_REPORT_EXPLAIN_H
#define SITU_REPORT_REPORT_EXPLAIN_H

#include "report/report.h"
#include "situ/explain.h"

/* One line for each part ("gpu0   layers 0-23, lm_head"), at most `max` of them, then hand-overs and limit. */
void explain_short(const fact_lines *f, const situ_explanation *x, const situ_plan *plan, int32_t max);

/* What `explain` says below the table of parts, fact by fact ("limited by": "gpu0, whose ..."). The receiver frees the
 * words, NULL without memory. */
typedef void explain_receiver(void *to, const char *label, char *words);
void explain_facts(explain_receiver *receive, void *to, const situ_explanation *x, const situ_plan *plan);

/* "12 % shorter", "1.84x as long": a changed machine against the plan, for each input. */
const char *explain_against_plan(char into[64], const situ_what_if *w, int64_t value_ns);

/* The fields "n_parts", "n_handovers", "transfer_bytes", "limit" and, below them, "critical_path" and "what_if" (NULL:
 * left out). False without memory. */
bool explain_limit_fields(json_value *object, const situ_explanation *x, const situ_plan *plan);
bool explain_path_fields(json_value *object, const situ_explanation *x, const situ_plan *plan,
                         const situ_what_if_list *what_ifs);

/* The devices of all operators by name, for report_finish_with. */
typedef struct placement_listing {
  json_listing listing;
  const situ_plan *plan;
  const situ_problem *problem;
} placement_listing;

/* The fields "placement", which is to be printed from the listing, "parts", and those of explain_limit_fields. False
 * without memory. */
bool explain_fields(json_value *object, placement_listing *places, const situ_explanation *x, const situ_plan *plan);

#endif
