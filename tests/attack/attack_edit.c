#include "attack_edit.h"

#include <string.h>

void problem_drop_tensor(attack_problem *p, int32_t t) {
  memmove(&p->tensor[t], &p->tensor[t + 1], (size_t)(p->n_tensors - t - 1) * sizeof *p->tensor);
  p->n_tensors--;
}

static int32_t key_without(int32_t key, int32_t v) { return key == v ? -1 : key > v ? key - 1 : key; }

void problem_drop_operator(attack_problem *p, int32_t v) {
  for (int32_t t = p->n_tensors - 1; t >= 0; t--) {
    attack_tensor *x = &p->tensor[t];
    if (x->from == v) {
      problem_drop_tensor(p, t);
      continue;
    }
    uint32_t below = (1U << v) - 1;
    x->users = (x->users & below) | (x->users >> 1 & ~below);
    if (x->from > v) x->from--;
  }
  memmove(&p->op[v], &p->op[v + 1], (size_t)(p->n - v - 1) * sizeof *p->op);
  p->n--;
  for (int32_t w = 0; w < p->n; w++) {
    p->op[w].kernel = key_without(p->op[w].kernel, v);
    if (p->op[w].together >= p->n) p->op[w].together = -1;
  }
}

void problem_drop_link(attack_problem *p, int32_t i) {
  memmove(&p->link[i], &p->link[i + 1], (size_t)(p->n_links - i - 1) * sizeof *p->link);
  p->n_links--;
}

void problem_drop_device(attack_problem *p, int32_t d) {
  for (int32_t i = p->n_links - 1; i >= 0; i--) {
    situ_link *x = &p->link[i];
    if (x->from_device == d || x->to_device == d) {
      problem_drop_link(p, i);
      continue;
    }
    x->from_device -= x->from_device > d;
    x->to_device -= x->to_device > d;
  }
  for (int32_t v = 0; v < p->n; v++) p->op[v].pin = key_without(p->op[v].pin, d);
  memmove(&p->device[d], &p->device[d + 1], (size_t)(p->n_devices - d - 1) * sizeof *p->device);
  p->n_devices--;
  for (int32_t e = 0; e < p->n_devices; e++) {
    p->device[e].shares = key_without(p->device[e].shares, d);
    if (p->device[e].shares < 0) p->device[e].apart = false;
  }
}

void problem_drop_copies(attack_problem *p) {
  int32_t n = p->n / p->copies;
  while (p->n > n) problem_drop_operator(p, p->n - 1);
  p->copies = 1;
}
