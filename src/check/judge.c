#include "check/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "base/format.h"
#include "base/text.h"

void judge_note(judge *j, const char *rule, const char *format, ...) {
  situ_verdict *v = j->verdict;
  v->n_found++;
  if (v->n_kept == CHECK_KEPT) return;
  char line[512], whole[544];
  FORMAT_INTO(line, format);
  snprintf(whole, sizeof whole, "%s%s%s", j->of ? j->of : "", j->of ? ": " : "", line);
  text_make_line(whole);
  const char *text = arena_string(v->arena, whole);
  if (text)
    v->kept[v->n_kept++] = (situ_violation){rule, text};
  else
    v->failed = true;
}

void judge_claim(judge *j, unsigned claim, bool recomputed) {
  j->verdict->recomputed &= ~claim;
  j->verdict->unchecked &= ~claim;
  *(recomputed ? &j->verdict->recomputed : &j->verdict->unchecked) |= claim;
}

void judge_value(judge *j, int64_t value_ns) {
  if (j->plan->value_ns != value_ns)
    judge_note(j, "value", "the plan states %lld ns; its operators and transfers give %lld ns",
               (long long)j->plan->value_ns, (long long)value_ns);
}

/* The first device that uses a memory. */
static const char *memory_name(const judge *j, int32_t m) {
  for (int32_t d = 0; d < j->problem->n_devices; d++)
    if (j->problem->memory_of[d] == m) return j->platform->devices[d].name;
  return "";
}

/* Whose capacity a device's memory draws from: the first that does. */
static int32_t owner_of(const judge *j, int32_t d) {
  while (j->platform->devices[d].shares_memory_with >= 0) d = j->platform->devices[d].shares_memory_with;
  return d;
}

/* In units that people read, or exactly where both would look equal. */
static void note_excess(judge *j, const char *what, const char *whose, int64_t needed, int64_t capacity) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  if (strcmp(text_size(a, needed), text_size(b, capacity)) == 0) {
    snprintf(a, sizeof a, "%lld B", (long long)needed);
    snprintf(b, sizeof b, "%lld B", (long long)capacity);
  }
  judge_note(j, "memory", "%s of %s must hold %s; the capacity is %s", what, whose, a, b);
}

/* Memories that share a capacity must keep it together. */
static void judge_pools(judge *j, const int64_t *memory_bytes) {
  for (int32_t o = 0; o < j->problem->n_devices; o++) {
    int32_t before = -1, n = 0; /* memories are numbered in order of their first devices */
    int64_t sum = 0;
    for (int32_t d = o; d < j->problem->n_devices; d++) {
      int32_t m = j->problem->memory_of[d];
      if (owner_of(j, d) != o || m <= before) continue;
      sum = sat_add(sum, memory_bytes[m]);
      before = m;
      n++;
    }
    if (n > 1 && sum > j->platform->devices[o].memory_bytes)
      note_excess(j, "the memories that share the capacity", j->platform->devices[o].name, sum,
                  j->platform->devices[o].memory_bytes);
  }
}

void judge_uses(judge *j, const int64_t *load_ns, const int64_t *memory_bytes) {
  const situ_problem *p = j->problem;
  for (int32_t m = 0; m < p->n_memories; m++)
    if (memory_bytes[m] > j->platform->memory_bytes[m])
      note_excess(j, "the memory", memory_name(j, m), memory_bytes[m], j->platform->memory_bytes[m]);
  judge_pools(j, memory_bytes);
  if (!j->plan->uses) {
    judge_note(j, "use", "the plan does not state the use of its devices");
    return;
  }
  for (int32_t d = 0; d < p->n_devices; d++) {
    const situ_device_use *said = &j->plan->uses[d];
    const char *name = j->platform->devices[d].name;
    int32_t m = p->memory_of[d];
    if (said->load_ns != load_ns[d])
      judge_note(j, "use", "%s: the plan states a load of %lld ns; it is %lld ns", name, (long long)said->load_ns,
                 (long long)load_ns[d]);
    if (said->memory_bytes != memory_bytes[m])
      judge_note(j, "use", "%s: the plan states that it uses %lld bytes of memory; it uses %lld", name,
                 (long long)said->memory_bytes, (long long)memory_bytes[m]);
    if (said->memory_limit_bytes != j->platform->memory_bytes[m])
      judge_note(j, "use", "%s: the plan states a memory of %lld bytes; it has %lld", name,
                 (long long)said->memory_limit_bytes, (long long)j->platform->memory_bytes[m]);
  }
}

void situ_verdict_free(situ_verdict *verdict) {
  if (verdict) arena_free(verdict->arena);
}

const char *judge_claims(unsigned claims) {
  static const char *const names[] = {"",
                                      "best_found",
                                      "without_form_ns",
                                      "best_found, without_form_ns",
                                      "robustness",
                                      "best_found, robustness",
                                      "without_form_ns, robustness",
                                      "best_found, without_form_ns, robustness"};
  return names[claims];
}

void situ_verdict_require_proof(situ_verdict *v) {
  if (!v) return;
  judge j = {.verdict = v};
  if (v->verified_ns < v->claimed_ns)
    judge_note(&j, "proof", "the lower bound of %lld ns is not proved: %s", (long long)v->claimed_ns,
               *v->unverified ? v->unverified : "its certificate is none");
  if (v->unchecked)
    judge_note(&j, "proof", "%s: what the plan file says of it cannot be recomputed", judge_claims(v->unchecked));
}

bool situ_verdict_get_summary(const situ_verdict *v, situ_verdict_summary *out) {
  if (!v) return false;
  situ_verdict_summary summary = {.n_violations = v->n_kept,
                                  .n_found = v->n_found,
                                  .verified_ns = v->verified_ns,
                                  .certificate = v->certificate,
                                  .unverified = v->unverified,
                                  .recomputed = judge_claims(v->recomputed),
                                  .unchecked = judge_claims(v->unchecked)};
  return GIVE(out, summary);
}

situ_violation situ_verdict_violation(const situ_verdict *v, int32_t index) {
  return v && index >= 0 && index < v->n_kept ? v->kept[index] : (situ_violation){.rule = "", .text = ""};
}

int64_t judge_running_bytes(const judge *j, int32_t v) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  bool trained = p->execution == SITU_EXECUTION_PIPELINE && !p->of_stream && p->training;
  if (!trained) return sat_mul(p->in_flight, judge_footprint(g, v));
  if (g->phase[v] == SITU_PHASE_FORWARD) return sat_add(judge_footprint(g, v), j->recomputed_bytes[v]);
  int64_t bytes = sat_add(g->workspace_bytes[v], j->recomputed_bytes[v]);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i];
    /* one of another phase reads it: what forward operators and copies make is counted as kept */
    bool forward = g->phase[g->producer[t]] == SITU_PHASE_FORWARD;
    if (!forward && !judge_is_handed_on(g, t)) bytes = sat_add(bytes, g->size_bytes[t]);
  }
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (!judge_is_handed_on(g, t)) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

int64_t judge_footprint(const situ_graph *g, int32_t v) {
  int64_t bytes = g->workspace_bytes[v];
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) bytes = sat_add(bytes, g->size_bytes[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}
