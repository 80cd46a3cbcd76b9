/* A chain of units, for streams with layers in sequence and memories too small for all of them.
 *
 * Take a chain of operators w_1, w_2, ..., each with a tensor for the next one. A run of it within one unit, from s to
 * t, is a segment: all operators of the unit that depend on s and that t depends on, these two included, run one after
 * the other on the unit's device between the start of s and the end of t. Segments follow one another, and between two
 * of them goes a tensor; other operators of the unit that wait for it begin when it is there, so what depends on them
 * and t depends on belongs to the segment too. So the latency is at least the sum over segments of these times on their
 * devices, and of the transfers of the tensors between their memories. Where a segment lies between two of one unit,
 * these two are on one device and form one element of the chain. The segment between them is a branch (experts, from
 * their layer). With prices y >= 0 of a byte in each memory, whose weights are at most its capacity,
 *
 *     latency  >=  min over devices of elements of (times + transfers + branches + y w of their units)
 *                  + sum over other units of min over d of y_m(d) w  -  sum over m of y_m cap_m.
 *
 * With overlap none the value is the sum of all operators and transfers, so units count with all their operators, those
 * off the chain too. A limit on what plans take by secondary costs then has a price z as well: times and transfers
 * become time + z other, and z times the limit is subtracted. The minimum is a dynamic program along the chain,
 * O(elements * devices^2). The right side is concave in y; prices move along its subgradient, what the plan of the
 * program holds too much of each memory. Equal devices have one price. docs/theory/chain.md. */
#include <string.h>

#include "base/fail.h"
#include "bound/bound.h"
#include "chain/branch_chain.h"

typedef struct proving {
  int64_t best_ns, *best_byte, best_secondary;
} proving;

static void keep(void *context, const branch_chain *s, int64_t lower_ns) {
  proving *best = context;
  if (lower_ns <= best->best_ns) return;
  best->best_ns = lower_ns;
  best->best_secondary = s->by.secondary;
  memcpy(best->best_byte, s->byte, (size_t)s->problem->n_memories * sizeof *s->byte);
}

static bool certify(const branch_chain *s, const proving *best, certificate *proof) {
  certificate_start(proof, "unit_chain", best->best_ns);
  int64_t *chain = certificate_add_operators(proof, "chain", s->n_chain, s->arena);
  int64_t *byte = certificate_add(proof, "byte_prices", s->problem->n_memories, s->arena);
  if (!chain || !byte) return false;
  if (best->best_secondary > 0) {
    int64_t *other = certificate_add(proof, "other_price", 1, s->arena);
    if (!other) return false;
    *other = best->best_secondary;
  }
  for (int32_t i = 0; i < s->n_chain; i++) chain[i] = s->chain[i];
  memcpy(byte, best->best_byte, (size_t)s->problem->n_memories * sizeof *byte);
  return true;
}

static situ_status unit_chain_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                      budget *b, situ_error *error) {
  branch_chain s;
  proving best = {.best_byte = ARENA_ZERO(scratch, int64_t, p->n_memories)};
  *lower_ns = 0;
  if (!branch_chain_serves(p)) return SITU_STATUS_OK;
  if (!best.best_byte) return fail_no_memory(error);
  TRY(branch_chain_find(&s, p, scratch, error));
  branch_chain_ascend(&s, b, keep, &best);
  *lower_ns = best.best_ns;
  return best.best_ns == 0 || certify(&s, &best, proof) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound unit_chain_bound = {
    .name = "unit_chain",
    .title = "sequential execution of a chain of units, with prices of memory",
    .source = "",
    .models = MODEL_STREAM,
    .compute = unit_chain_compute,
};
