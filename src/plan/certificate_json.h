/* plan/certificate_json.h - certificates in plan files (docs/formats/plan.md, "certificate"). */
#ifndef SITU_PLAN_CERTIFICATE_JSON_H
#define SITU_PLAN_CERTIFICATE_JSON_H

#include "plan/plan_source.h"

/* The member "certificate" (docs/formats/plan.md). Reading gives no kind if there is no certificate, and a fault if it
 * is malformed; NO_MEMORY or OK. Everything lives in the arena. */
json_value *certificate_to_json(const certificate *c, const situ_problem *problem);
situ_status certificate_from_json(certificate *out, const plan_source *s, const json_value *v, arena *a,
                                  situ_error *error);

#endif
