#include "solve/stream/layouts.h"

#include "solve/common/repair.h"
#include "solve/stream/sequence.h"
#include "view/unit.h"

enum { FEW_DEVICES = 16 };

int32_t layouts_fewer(int32_t n) { return n <= FEW_DEVICES ? n - 1 : n / 2; }

static double speed_of(const situ_problem *p, int32_t d) {
  double sum = 1; /* ns */
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t time = problem_time_ns(p, v, d);
    if (time < SITU_NEVER_NS) sum += (double)time;
  }
  return 1 / sum;
}

/* Lists the usable devices, the fastest first. Hosts come after equally fast devices. */
static void find_sequence(layouts *s) {
  const situ_problem *p = s->run->problem;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d]) continue;
    double speed = s->speed[d] = speed_of(p, d);
    int32_t at = s->n_sequence++;
    for (; at > 0; at--) {
      int32_t other = s->sequence[at - 1];
      if (s->speed[other] > speed || (s->speed[other] == speed && problem_is_host(p, other) <= problem_is_host(p, d)))
        break;
      s->sequence[at] = other;
    }
    s->sequence[at] = d;
  }
}

bool layouts_init(layouts *l, solve_run *run) {
  const situ_problem *p = run->problem;
  *l = (layouts){.run = run};
  if (!ARENA_ARRAYS(run->arena, ARRAY(l->device, p->n_operators), ARRAY(l->order, p->n_operators),
                    ARRAY(l->sequence, p->n_devices), ARRAY(l->speed, p->n_devices)))
    return false;
  find_sequence(l);
  return true;
}

/* The device at this place of the sequence, or the next one in turn that may run the unit of v; -1 where none may. */
static int32_t allowed_from(const layouts *s, int32_t v, int32_t at) {
  const situ_problem *p = s->run->problem;
  if (p->pin[v] >= 0) return p->pin[v];
  for (int32_t i = 0; i < s->n_sequence; i++) {
    int32_t d = s->sequence[(at + i) % s->n_sequence];
    if (unit_allows(p, v, d)) return d;
  }
  return -1;
}

int64_t layouts_offer(layouts *s, const int32_t *of, const int32_t *at, int64_t enough_ns) {
  const situ_problem *p = s->run->problem;
  for (int32_t v = 0; v < p->n_operators; v++) s->device[v] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (s->device[v] >= 0) continue;
    int32_t d = allowed_from(s, v, at[of[v]]);
    if (d < 0) return SITU_NEVER_NS;
    unit_members_put(unit_of(p, v), s->device, d);
  }
  int64_t value_ns;
  if (!sequence_time(&value_ns, s->order, s->run->simulator, p, s->device, s->run->arena)) return SITU_NEVER_NS;
  if (value_ns >= enough_ns) {
    budget_spend(s->run->budget, 1);
    return value_ns;
  }
  return repair_offer(s->run, &(placement){.device = s->device, .order = s->order});
}
