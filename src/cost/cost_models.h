/* cost/cost_models.h - the table of cost models, and measured tables that correct them. */
#ifndef SITU_COST_COST_MODELS_H
#define SITU_COST_COST_MODELS_H

#include "base/json.h"
#include "cost/costs.h"
#include "cost/fusion.h"
#include "cost/rules.h"

/* One row of the table of cost models. */
typedef struct cost_model {
  const char *name, *title, *source;
  situ_status (*estimate)(situ_costs **out, const situ_graph *graph, const situ_platform *platform, const fusion *work,
                          const situ_cost_options *options, situ_error *error);
} cost_model;
extern const cost_model cost_roofline;

/* A step of work, and how often it is done: graphs of several steps have the same operators and tensors by number. */
typedef struct cost_step {
  const situ_graph *graph;
  int64_t repeats;
  bool prefill; /* of a language model: it processes a prompt */
} cost_step;

/* Rate of a device for an element type. A rate that is not stated is taken from a neighbour: F16 and BF16 from each
 * other, F8 from F16, small integers from I8, then F16; complex numbers from their parts; everything else, and
 * everything still unknown, from F32; without F32 from F16 or BF16 (an NPU that converts); and for integers finally
 * from I8. 0 for floating types on an integer-only device: it cannot run operators that compute with them. */
double roofline_peak(const situ_device *device, situ_dtype dtype);

/* New costs with route tables and transfer times, operator times all zero. Tensors of one key (their size, say) share
 * their times: `hop` gives the time of a key over a link, and those of the hops of a route are added up. `key` is
 * [n_tensors]. UNSUPPORTED where keys * kinds of route are above COSTS_MAX_CELLS. */
typedef int64_t (*transfer_hop)(int64_t key, const situ_link *link);
situ_status costs_new_with_hops(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                const int64_t *key, transfer_hop hop, situ_error *error);
/* The same by size: latency + ceil(bytes / rate) of each link. What operators make that are known ([operator], NULL:
 * none) takes no time: an engine works it out in each part that needs it. */
situ_status costs_new_with_transfers(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                     const bool *known, situ_error *error);

/* What of a problem costs depend on. */
typedef struct cost_scene {
  bool ends; /* the network between the requesting machine and the operators at the ends counts (cost/ends.h) */
  const bool *unused; /* [device] stays empty; NULL: none must */
  bool in_turn;       /* one input goes from device to device: none shares the host with others (cost/host_states.h) */
} cost_scene;

/* situ_costs_estimate for one step, or for the sum of two sequential steps: times of operators and transfers are added.
 * Fusion is that of the first step. Rules (NULL: none) were resolved for these graphs and for this platform's device
 * numbers; their factors apply to estimates, not to times from a table. `ends`: so does the network between the
 * requesting machine and the operators at the ends (cost/ends.h). */
situ_status costs_estimate(situ_costs **out, const cost_step *steps, int32_t n_steps, const situ_platform *platform,
                           const situ_cost_options *options, const rule_set *r, const cost_scene *scene,
                           situ_error *error);

/* Asks time_of of the options for all times, to *times in the arena: [operator * n_classes + class], negative where the
 * estimate stays. given[v] becomes v where operator v has one. */
situ_status costs_ask(int64_t **times, int32_t *given, const situ_graph *graph, const situ_platform *platform,
                      const situ_cost_options *options, arena *scratch, situ_error *error);
/* Replaces times by those. */
situ_status costs_take(situ_costs *costs, const int64_t *times, situ_error *error);

/* Whether a path names several tables: it has commas, and there is no such file. */
bool cost_tables_are_several(const char *paths);
/* Several tables as one in nanoseconds, to *root, the caller's: times, links and parts of all. Every operator has times
 * of its own; of a kernel those of its head. BAD_INPUT if two tables time an operator on one class. */
situ_status cost_tables_join(json_value **root, const char *paths, situ_error *error);
/* Nanoseconds in the unit of a table; 0 for an unknown one. */
double cost_table_unit_ns(const json_value *root);
/* Reads a cost table (docs/formats/costs.md), or several, to *root, the caller's. given[v] becomes the head of the
 * kernel that the table puts v into, v itself where it has a time of its own, and is left as it is where the table does
 * not name v. */
situ_status cost_table_read(json_value **root, int32_t *given, const situ_graph *graph, const char *path,
                            situ_error *error);
/* The same file as CSV in the JSON form. *out is the caller's, also on failure. */
situ_status cost_csv_read(json_value **out, const char *path, situ_error *error);
/* Replaces latency and rate of the platform's links ([n_links]) where the table has measured hand-overs between devices
 * of their classes; then stores the table's part costs, if it has any, in
 * part[n_classes], which may be NULL if not. */
situ_status cost_table_links(situ_link *links, part_cost *part, const situ_platform *platform, const char *path,
                             const json_value *root, situ_error *error);
/* BAD_INPUT where a table says that it was measured on the CPU of another machine than this-host. */
situ_status cost_table_check_machine(const situ_platform *platform, const char *path, const json_value *root,
                                     situ_error *error);
/* Whether all times of operators are those of the kinds of step of a language model, {"prefill": .., "decode": ..}. */
bool cost_table_is_by_step(const json_value *root);
/* Replaces times of one step by those that the table has for its kind; `group` is that of its fusion, or NULL. What is
 * wrong with the table is for cost_table_apply to say. */
void cost_table_apply_step(situ_costs *step, const situ_graph *graph, const situ_platform *platform,
                           const int32_t *group, const json_value *root, bool prefill);
/* Replaces times by those of the table, but for those by step, which are in the sum; and says so in the source. Where
 * one is not by step, costs->step go: nobody knows them. */
situ_status cost_table_apply(situ_costs *costs, const situ_graph *graph, const situ_platform *platform,
                             const char *path, const json_value *root, situ_error *error);

#endif
