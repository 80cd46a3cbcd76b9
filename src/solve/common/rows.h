/* solve/common/rows.h - the only list of solvers, in the order in which they should be read. A solver is one file that
 * exports one const struct called NAME_solver, and one line here, which the build reads too. A solver that builds on
 * another names it from here (solver.starts, solver_run, solver_borrow in solve/common/solver.h); there is no other
 * interface. */
#ifndef SITU_SOLVE_COMMON_ROWS_H
#define SITU_SOLVE_COMMON_ROWS_H

typedef struct solver solver;

#define SOLVER_ROWS(ROW) \
  ROW(auto)              \
  ROW(single)            \
  ROW(m_topo)            \
  ROW(families)          \
  ROW(layers)            \
  ROW(priced_chain)      \
  ROW(chain_labels)      \
  ROW(visit_plan)        \
  ROW(contiguous)        \
  ROW(heft)              \
  ROW(peft)              \
  ROW(lookahead)         \
  ROW(cpop)              \
  ROW(dls)               \
  ROW(m_etf)             \
  ROW(m_sct)             \
  ROW(splitting)         \
  ROW(server_dp)         \
  ROW(server_heft)       \
  ROW(multilevel)        \
  ROW(slices)            \
  ROW(regions)           \
  ROW(tabu)              \
  ROW(tradeoff)          \
  ROW(iterated_greedy)   \
  ROW(min_cut)           \
  ROW(branch_and_bound)  \
  ROW(decision_diagram)  \
  ROW(greedy)            \
  ROW(call_dp)           \
  ROW(call_search)       \
  ROW(pipedream)         \
  ROW(steepest_descent)  \
  ROW(scotch)            \
  ROW(metis)             \
  ROW(chunk_cuts)        \
  ROW(linear_dp)         \
  ROW(local_search)      \
  ROW(free_search)       \
  ROW(potential)         \
  ROW(ideal_dp)          \
  ROW(stage_prices)      \
  ROW(stage_lns)         \
  ROW(chain_search)      \
  ROW(configuration)     \
  ROW(milp)              \
  ROW(llamacpp_default)  \
  ROW(llamacpp_fit)      \
  ROW(accelerate_auto)   \
  ROW(vllm_equal)        \
  ROW(exo_ring)          \
  ROW(random)

#define SOLVER_DECLARE(NAME) extern const solver NAME##_solver;
SOLVER_ROWS(SOLVER_DECLARE)

#endif
