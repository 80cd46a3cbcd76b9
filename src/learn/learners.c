/* The table of learners. */
#include <string.h>

#include "base/arguments.h"
#include "learn/learner.h"

#define ADDRESS(NAME) &NAME##_learner,
const learner *const learners[] = {LEARNER_ROWS(ADDRESS) NULL};

const learner *learner_find(const char *name) {
  for (int32_t i = 0; learners[i]; i++)
    if (strcmp(learners[i]->name, name) == 0) return learners[i];
  return NULL;
}

int32_t situ_learner_count(void) { return (int32_t)(sizeof learners / sizeof learners[0]) - 1; }

bool situ_learner_at(int32_t index, situ_learner_info *out) {
  if (index < 0 || index >= situ_learner_count()) return false;
  const learner *l = learners[index];
  situ_learner_info info = {.name = l->name, .title = l->title, .source = l->source};
  return GIVE(out, info);
}
