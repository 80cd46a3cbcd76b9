/* report/report_explain.h - what `place` and `explain` both say about the parts of a plan. */
#ifndef SITU_REPORT_REPORT_EXPLAIN_H
#define SITU_REPORT_REPORT_EXPLAIN_H

#include "report/report.h"
#include "situ/explain.h"

/* "gpu0, busy 97 % of the time", "the link cpu - gpu0, ...", "a chain through 3 parts; ...". */
void explain_limit_text(text_buffer *t, const situ_explanation *x, const situ_problem *problem);

/* One line for each part ("gpu0   layers 0-23, lm_head"), at most `most` of them, then hand-overs and limit. */
void explain_short(text_buffer *t, const situ_explanation *x, const situ_plan *plan, const situ_problem *problem,
                   int32_t most, const situ_report_options *options);

/* The fields "placement", "parts", "n_parts", "n_handovers", "transfer_bytes" and "limit". False without memory. */
bool explain_fields(json_value *object, const situ_explanation *x, const situ_plan *plan, const situ_problem *problem);

#endif
