/* plan/scope_json.h - the scope of a proof, and the form of a plan, in JSON: for plan files and reports. */
#ifndef SITU_PLAN_SCOPE_JSON_H
#define SITU_PLAN_SCOPE_JSON_H

#include "base/json.h"
#include "problem/scope.h"

/* [{"code": "operators", "narrows": true, "words": "keep every operator whole on one device"}, ...]; NULL without
 * memory. */
json_value *scope_to_json(const scope *s);

/* Names of a form (situ_form): ["layers", "runs"]; NULL without memory. */
json_value *form_to_json(int32_t form);
/* False if it is no such list. */
bool form_from_json(int32_t *out, const json_value *list);

#endif
