/* The table of learners. */
#include <string.h>

#include "learn/learner.h"

#define ADDRESS(NAME) &NAME##_learner,
const learner *const learners[] = {LEARNER_ROWS(ADDRESS) NULL};

const learner *learner_find(const char *name) {
  for (int32_t i = 0; learners[i]; i++)
    if (strcmp(learners[i]->name, name) == 0) return learners[i];
  return NULL;
}

int32_t situ_n_learners(void) { return (int32_t)(sizeof learners / sizeof learners[0]) - 1; }

situ_learner_info situ_learner_at(int32_t index) {
  if (index < 0 || index >= situ_n_learners()) return (situ_learner_info){.name = "", .title = "", .source = ""};
  const learner *l = learners[index];
  return (situ_learner_info){.name = l->name, .title = l->title, .source = l->source};
}
