/* The chain of blocks of a stream (exact/block_list.h), each searched from the last to the first: the time that remains
 * from the start is a bound. Where a block is too large, operators are deleted until the largest is small.
 * docs/theory/bounds/cut_vertex.md. */
#include "base/fail.h"
#include "bound/bound.h"
#include "exact/block_list.h"

/* Small problems are searched more widely; the smallest are solved as soon without. */
enum { WIDTH = 256, LARGEST_BLOCK = 16, SMALLER = 12, SMALL = 48, WIDER = 4 };
static const int64_t MAX_CHILDREN = 40000, OPERATORS_LIMIT = 4000;

static void keep_better(const block_list **best, const block_list *found) {
  if (found->n_blocks > 0 && (!*best || found->rest_ns[0] > (*best)->rest_ns[0])) *best = found;
}

static situ_status cut_vertex_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                      budget *b, situ_error *error) {
  *lower_ns = 0;
  if (!block_serves(p) || p->n_operators > OPERATORS_LIMIT) return SITU_STATUS_OK;
  block_machine machine;
  thin_graph whole, thin;
  block_list chain, wider, thinner;
  const block_list *best = NULL;
  block_finding *findings = NULL;
  block_list_limits limits = {.first_width = p->n_operators > SMALL ? WIDTH / WIDER : WIDTH,
                              .width = WIDTH,
                              .max_children = MAX_CHILDREN,
                              .upper_ns = BLOCK_FAR_NS,
                              .budget = b,
                              .findings = &findings};
  if (!block_machine_init(&machine, p, scratch) || !thin_first(&whole, p, scratch) ||
      !block_list_find(&chain, &machine, &whole, &limits, scratch))
    return fail_no_memory(error);
  keep_better(&best, &chain);
  if (!chain.exact && p->n_operators > SMALLER && p->n_operators <= SMALL && !budget_over(b)) {
    limits.width *= WIDER;
    limits.max_children *= WIDER;
    if (!block_list_find(&wider, &machine, &whole, &limits, scratch)) return fail_no_memory(error);
    keep_better(&best, &wider);
  }
  if (!chain.solved && !budget_over(b)) {
    bool *deleted = ARENA_NEW(scratch, bool, whole.n);
    if (!deleted || !thin_until(deleted, &whole, LARGEST_BLOCK, scratch) ||
        !thin_delete(&thin, &whole, deleted, scratch) || !block_list_find(&thinner, &machine, &thin, &limits, scratch))
      return fail_no_memory(error);
    keep_better(&best, &thinner);
  }
  *lower_ns = best ? best->rest_ns[0] : 0;
  if (*lower_ns >= BLOCK_FAR_NS) *lower_ns = 0; /* no plan exists; other bounds report that */
  return *lower_ns == 0 || block_list_certify(proof, best, scratch) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound cut_vertex_bound = {
    .name = "cut_vertex",
    .title = "exact search of each block between operators that separate the graph",
    .source = "",
    .models = MODEL_STREAM,
    .compute = cut_vertex_compute,
};
