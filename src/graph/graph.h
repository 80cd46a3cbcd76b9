/* graph/graph.h - the frozen operator graph as flat arrays.
 *
 * Operators are numbered in a topological order: every tensor goes from a lower to a higher number, so a loop from 0 up
 * sees producers first and a loop from n-1 down sees consumers first. Tensors are numbered by producer. The three CSR
 * families are
 *
 *     outputs of v    tensors out_start[v] .. out_start[v+1]-1
 *     users of t      use[use_start[t] .. use_start[t+1])        ascending, distinct
 *     inputs of v     in[in_start[v] .. in_start[v+1])           tensors, ascending, distinct
 */
#ifndef SITU_GRAPH_GRAPH_H
#define SITU_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/hash.h"
#include "situ/graph.h"
#include "situ/read.h"

struct situ_graph {
  arena *arena;
  const char *model;
  int32_t n_operators, n_tensors;
  int64_t n_uses, n_edges;
  int32_t n_kinds, n_layers, n_weight_types, n_colocations;
  int64_t cache_tokens;   /* that the caches of a language model hold; 0 for others */
  bool has_idle;          /* operators rest in this step, as a decoder while its encoder works: their tensors, of 0
                             bytes, are not sent */
  const char *cache_type; /* element type of caches, as llama.cpp names it; static; NULL for f16 and for other models */
  int64_t streams, prompt, generate, micro_batch; /* of such a model: served at once; tokens of each; 0 as above */
  int64_t step_tokens; /* that such a model takes in this step, of all streams; 0 for others */
  int32_t n_ahead;     /* blocks behind its layers that predict further tokens: the file has them, the graph has not */
  int64_t pipelining_bytes; /* scratch memory more of each operator with any where an engine overlaps micro-batches */
  const char *architecture; /* of such a model, as its file says ("llama"); NULL for others */
  bool tied_head;           /* its head has the weights of its embedding */
  int32_t n_ends;           /* of such a model; 0 for others */
  struct graph_end *end;    /* [n_ends] */
  bool made_training;       /* graph_training made it */
  int32_t n_offloads, offload_inputs; /* of a training step: updates that a host makes, once for so many inputs; or 0 */
  struct graph_offload *offload;      /* [n_offloads] */
  int32_t n_segments, n_recomputed;   /* of a training step made with recomputation: in all, recomputed; else 0 */
  int32_t n_tied;                     /* of a training step: tables that two operators hold a copy of each */

  /* of each operator */
  const char **name;
  int32_t *kind;        /* index into kind_name */
  int32_t *layer;       /* index into layer_name, or -1 */
  int32_t *weight_type; /* index into weight_type_name, or -1 */
  int32_t *colocation;  /* group 0 .. n_colocations-1, or -1; groups of one member are dropped */
  uint8_t *phase, *dtype;
  bool *inferred;
  int64_t *weight_bytes, *workspace_bytes, *flops, *moved_bytes, *split_ways;
  int64_t *source_id;
  int32_t *built_index;      /* the number it had in the builder */
  int64_t *recomputed_bytes; /* see graph_recomputed_bytes; NULL: nothing is recomputed */
  int32_t *segment; /* of a training step made with recomputation: of what is recomputed, from 0 on; else -1, or NULL */

  /* of each tensor */
  const char **tensor_name; /* entries may be NULL */
  int64_t *size_bytes;
  int32_t *producer;
  uint8_t *tensor_dtype;
  int32_t *rank;       /* -1 unknown */
  int64_t *dims_start; /* into dims */
  int64_t *dims;

  int32_t *out_start;
  int64_t *use_start;
  int32_t *use;
  int64_t *in_start;
  int32_t *in;

  const char **kind_name, **layer_name, **weight_type_name;
  string_map *by_name;

  struct graph_guess *guesses; /* [n_guesses] in the order in which readers stated them */
  int32_t n_guesses;
};

/* An update that a host makes (J. Ren et al., "ZeRO-Offload: Democratizing Billion-Scale Model Training", USENIX ATC
 * 2021): the device sends the gradients of its weights and gets the new weights, as many bytes each. Of one step. */
typedef struct graph_offload {
  int32_t op;
  int64_t weight_bytes, moved_bytes, state_bytes; /* sent each way; that the host moves; that it holds */
} graph_offload;
/* What hosts hold of all of them; saturates. */
int64_t graph_offloaded_bytes(const situ_graph *g);

/* An operator that reads tokens, or makes what the next ones are chosen from. */
typedef struct graph_end {
  int32_t op;
  bool leaves;                       /* it makes them */
  int64_t token_bytes, result_bytes; /* of the tokens, and of what they are chosen from; of inputs 0 */
  double often;                      /* how often in a step, at most 1 */
} graph_end;

/* Something that a reader guessed, and the operators whose work depends on it. */
typedef struct graph_guess {
  situ_guess_kind kind;
  const char *subject;
  int32_t n_operators;      /* GUESS_OF_ALL: every operator */
  const int32_t *operators; /* ascending, distinct */
} graph_guess;
enum { GUESS_OF_ALL = -1 };

/* What is in memory beside an operator of a training step that recomputes activations. Operators of the phase RECOMPUTE
 * that read from each other, directly or through others, run for one segment of the network. Each of them, and each
 * operator that reads what they make, has the bytes of all tensors that they make for operators of other phases: these
 * wait for the backward operators of the segment. The maximum over segments where it reads of several; 0 for all
 * others. */
static inline int64_t graph_recomputed_bytes(const situ_graph *g, int32_t v) {
  return g->recomputed_bytes ? g->recomputed_bytes[v] : 0;
}
/* Fills that of a graph that has all else. False without memory. */
bool graph_find_recomputed(situ_graph *g, arena *scratch);

/* The weights of an operator without the caches of a language model, which graphs count among the weights of the
 * operators that keep them. */
int64_t graph_own_weight_bytes(const situ_graph *graph, int32_t v);

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V + E log E). */
const char *graph_check(const situ_graph *graph);

/* Operator v, tensor t as public structs, with `size` set. */
situ_operator graph_operator(const situ_graph *graph, int32_t v);
situ_tensor graph_tensor(const situ_graph *graph, int32_t t);

/* The same graph n times, unconnected: operator v of copy k (0 .. n-1) has number k * n_operators + v and the name
 * NAME@k+1; tensors likewise. The copies are of one network: the first has all weights, the others 0; problem/problem.h
 * defines how they are shared. */
situ_status graph_copies(situ_graph **out, const situ_graph *graph, int32_t n, situ_error *error);

/* A training step out of a forward pass, by reverse-mode differentiation operator by operator (as Griewank and Walther,
 * Evaluating Derivatives, 2008, section 3.2, count it): every operator v whose outputs change with some weight and
 * change the outputs of the network gets a backward operator gradient(v). It reads the gradients of v's outputs and the
 * inputs of v (or its outputs: sigmoid, softmax, ...; sums and views need neither), and produces the gradients of v's
 * inputs. It costs as much as v for each weight and input that is differentiated; its weight_bytes are those of the
 * gradients, which are kept in addition to the weights. update(v) changes the weights of v's colocation group; its
 * weight_bytes are the states of the optimizer (graph/optimizer.h), and with NONE there is no such operator. All of
 * these are colocated with v. Operators without users are taken as the loss.
 *
 * With `recompute` the first so many segments (graph/segments.h; INT32_MAX: all), and those in `also`, keep only their
 * inputs (activation checkpointing): an operator v of such a segment gets a copy recompute(v), of the phase RECOMPUTE
 * and colocated with v, if a backward operator of the segment needs what v makes, directly or through other copies;
 * that one reads the copy's tensor. Operators outside the segment read the original, which is kept if they read it in
 * the backward pass. Copies have no weights of their own. Those that would be ready before read the gradients that
 * enter the segment, so that they run late; a segment that no gradient enters, since the loss is in it, is not
 * recomputed.
 *
 * With `micro_batches`, for pipelines, a table that a lookup and a matrix product share, in a colocation group of these
 * two (tied embeddings) of which one has at most a bias of its own, is copied: both have its weights, gradients and
 * updates, and need not share a device. Each update also reads the gradient of the other copy, a tensor of the table's
 * bytes / micro_batches: it is sent once a step.
 *
 * BAD_ARGUMENT if the graph already has phases other than forward, BAD_INPUT if no operator would get a backward
 * operator. */
typedef struct training_options {
  bool offload_optimizer; /* a host holds the states and makes the updates: these keep nothing, see graph_offload */
  situ_optimizer optimizer;
  int32_t recompute;     /* at least 0 */
  int32_t micro_batches; /* an update for so many inputs, each of which has that share of its work; 0 means 1 */
  int32_t n_also;
  const bool *also; /* [n_also] whether that segment, too */
} training_options;
situ_status graph_training(situ_graph **out, const situ_graph *graph, training_options options, situ_error *error);

/* For loops: `for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) { t = g->in[i]; u = g->producer[t]; }` */

#endif
