/* Proofs for streams: the chain of blocks of cut_vertex (exact/block_list.h), searched below the incumbent again and
 * again with wider layers and larger blocks, until nothing had to be merged or deleted or the bound meets the
 * incumbent. docs/theory/exact/decision_diagram.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "exact/block_list.h"
#include "solve/common/solver.h"

enum { FIRST_WIDTH = 64, FIRST_UNCUT = 1024, LAST_WIDTH = 1 << 20, WIDER = 4 };
enum { FIRST_BLOCK = 24, LARGER = 8 }; /* operators of the largest block, by round */
static const int64_t OPERATORS_LIMIT = 4000;
static const int64_t CERTIFIED_WORK = 50000000; /* of the judge, who gives up at 400,000,000 */

typedef struct diagram {
  solve_run *run;
  block_machine machine;
  thin_graph whole, thin;
  const thin_graph *graph; /* of this round */
  int32_t largest;         /* operators of a block of it; then of none */
  bool *deleted;
  int64_t *head_ns, *tail_ns, *known_ns; /* [operator * devices] */
  block_finding *findings;
} diagram;

/* As many partial schedules as take about the time of a simulation. */
static int64_t children_per_step(const solve_run *run) { return max64(16, run->problem->n_operators / 4); }

/* Deletes operators where some block of the whole graph is larger than this round allows. */
static situ_status choose_graph(diagram *s, int32_t largest) {
  solve_run *run = s->run;
  if (s->graph == &s->whole || largest == s->largest) return SITU_STATUS_OK;
  s->largest = largest;
  if (!thin_until(s->deleted, &s->whole, largest, run->arena)) return fail_no_memory(run->error);
  bool any = false;
  for (int32_t v = 0; v < s->whole.n; v++) any |= s->deleted[v];
  s->graph = any ? &s->thin : &s->whole;
  return !any || thin_delete(&s->thin, &s->whole, s->deleted, run->arena) ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* In how many ways twins can be renamed: the judge tells them apart. */
static int64_t count_renamings(const block_machine *m) {
  int64_t n = 1;
  for (int32_t d = 0, k = 1; d < m->n_devices; d++)
    if (m->twin[d] >= 0) n *= ++k;
  return n;
}

/* Whether the judge can be expected to repeat the search: it merges nothing. */
static bool is_checkable(const diagram *s, const block_list *c) {
  int64_t m = s->machine.n_memories, work = (int64_t)s->graph->n * s->machine.n_devices + s->graph->n_tensors * m * m;
  return !c->merged && !c->raised && c->n_judged <= CERTIFIED_WORK / count_renamings(&s->machine) / work * c->n_blocks;
}

static situ_status prove(diagram *s, const block_list *c) {
  solve_run *run = s->run;
  int64_t lower_ns = c->rest_ns[0];
  if (lower_ns >= BLOCK_FAR_NS) return SITU_STATUS_OK; /* no plan exists; bounds report that */
  if (is_checkable(s, c) && lower_ns > run->incumbent->proof.lower_ns) {
    certificate proof;
    if (!block_list_certify(&proof, c, run->arena)) return fail_no_memory(run->error);
    proof.bound = "decision_diagram";
    TRY(solve_prove(run, &proof));
  }
  solve_bound(run, lower_ns, "decision_diagram");
  return SITU_STATUS_OK;
}

/* Small graphs are one block. */
static bool is_uncut(const diagram *s) { return s->graph->n <= BLOCK_OPERATORS; }

/* Searches the chain with layers of the given width for anything below the incumbent. */
static situ_status search_chain(diagram *s, int32_t width, bool *exact) {
  solve_run *run = s->run;
  block_list chain;
  block_list_limits limits = {
      .first_width = width == FIRST_WIDTH ? width / WIDER : width,
      .width = width,
      .max_children = min64(sat_mul(budget_steps_left(run->budget), children_per_step(run)), INT64_MAX / 2),
      .upper_ns = min64(run->incumbent->value_ns, BLOCK_FAR_NS),
      .head_ns = s->head_ns,
      .known_ns = s->known_ns,
      .uncut = is_uncut(s),
      .budget = run->budget,
      .findings = &s->findings};
  if (!block_list_find(&chain, &s->machine, s->graph, &limits, run->arena)) return fail_no_memory(run->error);
  budget_spend(run->budget, chain.n_children / children_per_step(run));
  solve_count(run, "states", chain.n_children);
  *exact = chain.exact && s->graph == &s->whole;
  return prove(s, &chain);
}

static situ_status decision_diagram_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  int64_t cells = (int64_t)p->n_operators * p->n_devices;
  diagram s = {.run = run};
  if (!block_machine_init(&s.machine, p, run->arena) || !thin_first(&s.whole, p, run->arena) ||
      !ARENA_ARRAYS(run->arena, ARRAY(s.deleted, s.whole.n), ARRAY(s.head_ns, cells), ARRAY(s.tail_ns, cells),
                    ZEROS(s.known_ns, cells)) ||
      !bound_heads_tails(s.head_ns, s.tail_ns, p))
    return fail_no_memory(run->error);
  TRY(choose_graph(&s, BLOCK_OPERATORS - 1));
  bool exact = false;
  int32_t largest = FIRST_BLOCK;
  for (int32_t width = is_uncut(&s) ? FIRST_UNCUT : FIRST_WIDTH; width <= LAST_WIDTH && !exact && !solve_done(run);
       width *= WIDER) {
    TRY(choose_graph(&s, largest));
    TRY(search_chain(&s, width, &exact));
    if (largest + LARGER < BLOCK_OPERATORS) largest += LARGER;
  }
  return SITU_STATUS_OK;
}

static bool decision_diagram_serves(const situ_problem *p) {
  return block_serves(p) && p->n_operators <= OPERATORS_LIMIT;
}

const solver decision_diagram_solver = {
    .name = "decision_diagram",
    .title = "proof for streams: layers of partial schedules of each block, merged where there are too many",
    .source = "Bergman, Cire, van Hoeve, Hooker, Decision Diagrams for Optimization, 2016",
    .models = MODEL_STREAM,
    .exact = true,
    .serves = decision_diagram_serves,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .solve = decision_diagram_solve,
};
