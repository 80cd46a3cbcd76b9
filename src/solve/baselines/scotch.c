/* scotch: the recursive bipartitioning of the library Scotch (Pellegrini, Roman, HPCN Europe 1996), which balances time
 * over the accelerators and keeps the sum of the cut transfers small. It ignores memory, support and contiguity:
 * baselines/parts.h repairs that. */
#include "base/fail.h"
#include "solve/baselines/parts.h"

#ifdef SITU_SCOTCH

#include <scotch/scotch.h>

/* Describes the target: a complete graph of parts, weighted where devices differ. */
static int describe(SCOTCH_Arch *arch, const parts *g, SCOTCH_Num *weight) {
  bool equal = true;
  for (int32_t k = 0; k < g->n_parts; k++) {
    weight[k] = (SCOTCH_Num)(g->share[k] * 100000) + 1;
    equal &= weight[k] == weight[0];
  }
  return equal ? SCOTCH_archCmplt(arch, g->n_parts) : SCOTCH_archCmpltw(arch, g->n_parts, weight);
}

/* Maps in a context of its own, which separates random numbers and threads from other users of the library. Returns 0
 * on success. */
static int map_graph(const parts *g, SCOTCH_Num *start, SCOTCH_Num *to, SCOTCH_Num *time, SCOTCH_Num *transfer,
                     SCOTCH_Num *weight, SCOTCH_Num *part) {
  SCOTCH_Graph graph, bound_graph;
  SCOTCH_Context context;
  SCOTCH_Strat strategy;
  SCOTCH_Arch arch;
  SCOTCH_graphInit(&graph);
  SCOTCH_graphInit(&bound_graph);
  SCOTCH_contextInit(&context);
  SCOTCH_stratInit(&strategy);
  SCOTCH_archInit(&arch);
  SCOTCH_contextRandomSeed(&context, (SCOTCH_Num)(g->run->seed & 0x7fffffff));
  SCOTCH_contextRandomReset(&context);
  int failed = SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) ||
               SCOTCH_contextThreadSpawn(&context, 1, NULL) || describe(&arch, g, weight) ||
               SCOTCH_graphBuild(&graph, 0, g->classes.n_classes, start, start + 1, time, NULL, (SCOTCH_Num)g->n_edges,
                                 to, transfer) ||
               SCOTCH_contextBindGraph(&context, &graph, &bound_graph) ||
               SCOTCH_graphMap(&bound_graph, &arch, &strategy, part);
  SCOTCH_archExit(&arch);
  SCOTCH_stratExit(&strategy);
  SCOTCH_graphExit(&bound_graph);
  SCOTCH_contextExit(&context);
  SCOTCH_graphExit(&graph);
  return failed;
}

static situ_status scotch_solve(solve_run *run) {
  arena *a = run->arena;
  parts g;
  if (!parts_find(&g, run)) return fail_no_memory(run->error);
  int32_t n = g.classes.n_classes;
  if (g.n_parts == 0 || n == 0 || g.n_edges > SCOTCH_NUMMAX) return SITU_STATUS_OK;
  SCOTCH_Num *start = ARENA_COPY(a, g.start, SCOTCH_Num, (int64_t)n + 1);
  SCOTCH_Num *to = ARENA_COPY(a, g.to, SCOTCH_Num, g.n_edges);
  SCOTCH_Num *time = ARENA_NEW(a, SCOTCH_Num, n), *transfer = ARENA_NEW(a, SCOTCH_Num, g.n_edges);
  SCOTCH_Num *weight = ARENA_NEW(a, SCOTCH_Num, g.n_parts), *part = ARENA_ZERO(a, SCOTCH_Num, n);
  if (!start || !to || !time || !transfer || !weight || !part) return fail_no_memory(run->error);
  parts_scale(time, g.time_ns, n);
  parts_scale(transfer, g.transfer_ns, g.n_edges);
  if (g.n_parts > 1 && map_graph(&g, start, to, time, transfer, weight, part))
    return fail_with(run->error, SITU_STATUS_ENGINE, NULL, "the library Scotch failed; it does not say why");
  return parts_offer(&g, part);
}

_Static_assert(sizeof(SCOTCH_Num) == sizeof(int32_t), "a 32-bit Scotch is expected");
#endif

const solver scotch_solver = {
    .name = "scotch",
    .title = "recursive bipartitioning by Scotch, repaired",
    .source = "Pellegrini, Roman, HPCN Europe 1996",
    .models = MODEL_STREAM | MODEL_PIPELINE,
#ifdef SITU_SCOTCH
    .solve = scotch_solve,
#else
    .missing = "situ was built without the library Scotch (libscotch-dev)",
#endif
};
