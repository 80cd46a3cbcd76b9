#include "solve/answer/answer.h"

#include <stdlib.h>

#include "base/text.h"
#include "problem/scope.h"

const char *reason_of_plans(arena *a, const situ_problem *p, const char *before, const char *after) {
  text_buffer t = {0};
  scope found;
  scope_find(&found, p, 0);
  text_add(&t, "%s ", before);
  scope_add_plan(&t, &found);
  text_add(&t, " %s", after);
  char *text = text_take(&t);
  const char *kept = text ? arena_string(a, text) : NULL;
  free(text);
  return kept;
}
