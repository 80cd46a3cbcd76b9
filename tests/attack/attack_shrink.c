/* The smallest problem that still fails: parts go and numbers fall, one at a time, until nothing more can. */
#include <string.h>

#include "attack_edit.h"
#include "attack_trial.h"

bool trial_run(attack_failure *failure, const attack_problem *p, const attack_trial *trial) {
  failure->kind = NULL;
  switch (trial->kind) {
    case TRIAL_LAW: return verify_law(failure, p, trial->law, &trial->call);
    case TRIAL_TOOL: return verify_tool(failure, p, &trial->call);
    case TRIAL_SIMULATE: return verify_simulated(failure, p, &trial->call);
    case TRIAL_FILES: return verify_files(failure, p, &trial->call);
    default: return verify_call(failure, p, &trial->call, NULL);
  }
}

/* How often a problem is made smaller at most. */
enum { MAX_TRIALS = 20000 };

/* Edits are numbered through; `left` counts down to the one that is made. */
typedef struct edit {
  attack_problem *p;
  int32_t left;
  bool made;
} edit;

static bool turn(edit *e) {
  if (e->made || e->left-- > 0) return false;
  e->made = true;
  return true;
}

static void lower(edit *e, int64_t *x, int64_t least) {
  if (*x > least && turn(e)) *x = least;
  if (*x > least + 1 && *x != SITU_UNLIMITED_BYTES && turn(e)) *x = least + (*x - least) / 2;
  if (*x > least && *x < least + 100 && turn(e)) *x -= 1;
}

static void reset(edit *e, int32_t *x, int32_t plain) {
  if (*x != plain && turn(e)) *x = plain;
}

static void clear(edit *e, bool *x) {
  if (*x && turn(e)) *x = false;
}

static void drop_parts(edit *e) {
  attack_problem *p = e->p;
  if (p->copies > 1 && turn(e)) problem_drop_copies(p);
  for (int32_t v = p->n - 1; v >= 0 && p->n > 1 && p->copies == 1; v--)
    if (!e->made && turn(e)) problem_drop_operator(p, v);
  for (int32_t d = p->n_devices - 1; d >= 0 && p->n_devices > 1; d--)
    if (!e->made && turn(e)) problem_drop_device(p, d);
  for (int32_t i = p->n_links - 1; i >= 0; i--)
    if (!e->made && turn(e)) problem_drop_link(p, i);
  for (int32_t t = p->n_tensors - 1; t >= 0 && p->copies == 1; t--) {
    if (!e->made && turn(e)) problem_drop_tensor(p, t);
    for (int32_t v = 0; v < p->n && !e->made; v++)
      if ((p->tensor[t].users >> v & 1) && turn(e)) p->tensor[t].users &= ~(1U << v);
  }
}

static void plain_question(edit *e) {
  attack_problem *p = e->p;
  clear(e, &p->huge);
  clear(e, &p->free);
  clear(e, &p->async_copies);
  if (p->zero == 0) clear(e, &p->replicate);
  if (p->schedule != SITU_SCHEDULE_1F1B && turn(e)) p->schedule = SITU_SCHEDULE_1F1B;
  if (p->contention != SITU_CONTENTION_LINK && turn(e)) p->contention = SITU_CONTENTION_LINK;
  if (p->execution == SITU_EXECUTION_STREAM && p->overlap != SITU_OVERLAP_FULL && p->max_other_ns == 0 && turn(e))
    p->overlap = SITU_OVERLAP_FULL;
  if (p->in_flight > 1 && turn(e)) p->in_flight--;
  if (p->micro_batches > 0 && turn(e)) p->micro_batches--;
  if (p->zero > 0 && turn(e)) p->zero--;
  if (p->max_calls > 0 && turn(e)) p->max_calls = 0;
  if (p->max_period_ns > 0 && turn(e)) p->max_period_ns = 0;
  if (p->max_other_ns > 0 && turn(e)) p->max_other_ns = 0;
  if (p->max_latency_ns > 0 && turn(e)) {
    p->max_latency_ns = 0;
    p->objective = SITU_OBJECTIVE_LATENCY;
  }
  if (p->max_period_ns > 1) lower(e, &p->max_period_ns, 1);
  if (p->max_latency_ns > 1) lower(e, &p->max_latency_ns, 1);
  if (p->max_other_ns > 1) lower(e, &p->max_other_ns, 1);
}

static void plain_operators(edit *e) {
  attack_problem *p = e->p;
  for (int32_t v = 0; v < p->n && p->copies == 1; v++) {
    attack_operator *x = &p->op[v];
    reset(e, &x->colocation, -1);
    reset(e, &x->together, -1);
    reset(e, &x->kernel, -1);
    reset(e, &x->pin, -1);
    if (x->phase != SITU_PHASE_FORWARD && turn(e)) x->phase = SITU_PHASE_FORWARD;
    clear(e, &x->constant);
    lower(e, &x->weight_bytes, 0);
    lower(e, &x->workspace_bytes, 0);
    if (x->measured_bytes >= 0 && turn(e)) x->measured_bytes = -1;
    if (x->measured_bytes >= 0) lower(e, &x->measured_bytes, 0);
    for (int32_t k = 0; k < p->n_devices; k++) {
      if (x->time_ns[k] == SITU_NEVER_NS && turn(e)) x->time_ns[k] = x->other_ns[k] = 0;
      if (x->time_ns[k] == SITU_NEVER_NS) continue;
      lower(e, &x->time_ns[k], 0);
      if (p->max_other_ns > 0) lower(e, &x->other_ns[k], 0);
    }
  }
  for (int32_t t = 0; t < p->n_tensors && p->copies == 1; t++) {
    lower(e, &p->tensor[t].size_bytes, 0);
    lower(e, &p->tensor[t].hop_ns, 0);
  }
}

static void plain_machine(edit *e) {
  attack_problem *p = e->p;
  reset(e, &p->from_class, -1);
  reset(e, &p->part_class, -1);
  lower(e, &p->part_start_ns, 0);
  lower(e, &p->part_dispatch_ns, 0);
  lower(e, &p->measured_ns, 0);
  for (int32_t d = 0; d < p->n_devices; d++) {
    attack_device *x = &p->device[d];
    if (x->shares >= 0 && turn(e)) {
      x->shares = -1;
      x->apart = false;
    }
    clear(e, &x->unused);
    reset(e, &x->server, 0);
    clear(e, &x->is_host);
    if (x->class_index > 0 && turn(e)) x->class_index = 0;
    if (x->capacity_bytes != SITU_UNLIMITED_BYTES && turn(e)) x->capacity_bytes = SITU_UNLIMITED_BYTES;
    if (x->capacity_bytes != SITU_UNLIMITED_BYTES) lower(e, &x->capacity_bytes, 1);
  }
  for (int32_t i = 0; i < p->n_links; i++) {
    reset(e, &p->link[i].channel, -1);
    lower(e, &p->link[i].latency_ns, 0);
    if (p->link[i].bytes_per_s != 1e9 && turn(e)) p->link[i].bytes_per_s = 1e9;
  }
}

static bool make_edit(attack_problem *p, int32_t number) {
  edit e = {.p = p, .left = number};
  drop_parts(&e);
  if (!e.made) plain_question(&e);
  if (!e.made) plain_operators(&e);
  if (!e.made) plain_machine(&e);
  if (e.made && p->n_hosts > 0) workload_normal(p);
  return e.made;
}

void trial_shrink(attack_problem *p, attack_failure *failure, const attack_trial *trial) {
  int32_t left = MAX_TRIALS;
  for (bool again = true; again;) {
    again = false;
    attack_problem smaller = *p;
    for (int32_t k = 0; left > 0 && make_edit(&smaller, k); k++, left--, smaller = *p) {
      attack_failure now;
      if (memcmp(&smaller, p, sizeof smaller) == 0) continue; /* a workload takes its form back */
      if (trial_run(&now, &smaller, trial) || strcmp(now.kind, failure->kind) != 0) continue;
      *p = smaller;
      *failure = now;
      again = true;
      k--;
    }
  }
}
