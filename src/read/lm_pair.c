#include "read/lm_pair.h"

#include <string.h>

#include "base/fail.h"
#include "read/lm_operators.h"

situ_status lm_pair_find(lm *model, arena *a, situ_error *error) {
  const char *stacks[2] = {NULL, NULL};
  bool crosses[2] = {false, false};
  model->encoder = model->decoder = NULL;
  for (int32_t i = 0; i < model->n_tensors; i++) {
    lm_place p;
    if (lm_is_of_another_input(model->tensors[i].name)) continue;
    if (!lm_find_place(&p, model->tensors[i].name, a)) return fail_no_memory(error);
    if (p.block < 0) continue;
    int32_t k = 0;
    while (k < 2 && stacks[k] && strcmp(stacks[k], p.stack) != 0) k++;
    if (k == 2) return SITU_STATUS_OK; /* more than two */
    stacks[k] = p.stack;
    crosses[k] |= lm_group_of(p.within) == LM_CROSS;
  }
  int32_t decoder = crosses[1];
  if (!stacks[1] || crosses[0] == crosses[1]) return SITU_STATUS_OK;
  if (!strstr(stacks[decoder], "decoder") || !strstr(stacks[1 - decoder], "encoder")) return SITU_STATUS_OK;
  model->decoder = stacks[decoder];
  model->encoder = stacks[1 - decoder];
  return SITU_STATUS_OK;
}

bool lm_pair_listens(const lm *model, const lm_place *place) {
  if (!model->encoder || place->block >= 0) return false;
  size_t n = strlen(model->encoder);
  while (n > 0 && model->encoder[n - 1] != '.') n--;
  const char *rest = place->op + n;
  return strncmp(place->op, model->encoder, n) == 0 && (strcmp(rest, "conv1") == 0 || strcmp(rest, "conv2") == 0);
}
