#include "base/text.h"
#include "plan/parts.h"

#include <stdlib.h>

/* "Conv_0", or "Conv_0 to Relu_7": the operators with the lowest and the highest number. */
static char *range_text(const situ_graph *g, const situ_part *part) {
  text_buffer t = {0};
  text_add(&t, "%s", g->name[part->first_operator]);
  if (part->last_operator != part->first_operator) text_add(&t, " to %s", g->name[part->last_operator]);
  return text_take(&t);
}

bool plan_parts_name(const char ***out, const plan_parts *parts, const situ_problem *problem, arena *a) {
  *out = ARENA_NEW(a, const char *, parts->n);
  for (int32_t k = 0; *out && k < parts->n; k++) {
    char *text = range_text(problem->graph, &parts->part[k]);
    (*out)[k] = text ? arena_string(a, text) : NULL;
    free(text);
    if (!(*out)[k]) return false;
  }
  return *out != NULL;
}
