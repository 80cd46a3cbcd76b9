/* cost/fusion.h - which operators an engine runs as one kernel, and the work of such a kernel.
 *
 * Fusion is part of the costs: the head of a group carries the work of the whole group, all other members have none,
 * and every plan keeps a group on one device (problem/problem.h). docs/theory/models/fusion.md. */
#ifndef SITU_COST_FUSION_H
#define SITU_COST_FUSION_H

#include "base/arena.h"
#include "graph/graph.h"
#include "situ/costs.h"

/* What kinds of operators are to fusion. */
typedef enum fusion_class {
  FUSION_NONE,    /* never fused */
  FUSION_CONV,    /* heads: convolutions, */
  FUSION_MATMUL,  /* matrix products, */
  FUSION_POOL,    /* pooling, normalisation, resizing */
  FUSION_SOFTMAX, /* a head too, and the middle of attention */
  FUSION_REDUCE,  /* reductions: parts of decomposed normalisations */
  FUSION_EACH,    /* element by element: activations, casts, quantisation */
  FUSION_ADD,     /* the same of two inputs: bias, scale or residual */
  FUSION_SCALE,   /* by parameters of its own: batch normalisation */
  FUSION_DEQUANT, /* belongs to the operator that reads it */
  FUSION_LAYOUT,  /* transposes */
  FUSION_SHAPE    /* constants, and operators that depend only on the shape of an input */
} fusion_class;

/* The fusions of an engine: a set of these. */
enum {
  FUSE_FREE = 1,        /* operators without work join a neighbour */
  FUSE_BIAS = 2,        /* bias and batch normalisation after convolutions and matrix products; constant inputs before
                           them */
  FUSE_CONV = 4,        /* elementwise operators after convolutions */
  FUSE_MATMUL = 8,      /* ... after matrix products */
  FUSE_NORM = 16,       /* ... after pooling, normalisation, reductions */
  FUSE_CHAIN = 32,      /* ... after each other */
  FUSE_RESIDUAL = 64,   /* an elementwise operator after a head may read a second large tensor, once per kernel */
  FUSE_DIAMOND = 128,   /* decomposed LayerNorm, Softmax, GELU, Swish */
  FUSE_ATTENTION = 256, /* product, scale, mask, softmax, product */
  FUSE_LAYOUT = 512,    /* transposes after matrix products */
  FUSE_QDQ = 1024       /* DequantizeLinear in front of an operator */
};

/* One row of the table of profiles. */
typedef struct fusion_profile {
  const char *name, *title;
  unsigned rules;
} fusion_profile;
/* The profile by its name, NULL for the default; NULL when there is none. */
const fusion_profile *fusion_profile_find(const char *name);

/* What an engine adds to the link at each hand-over, to wait for the sender and to start the receiver: between a host
 * and an accelerator; between accelerators that have a link, or reach each other through the host; between machines.
 * The figures of llama.cpp are measured (docs/theory/models/language-models.md). */
typedef struct engine_sync {
  int64_t host_ns, peer_ns, relay_ns, network_ns;
} engine_sync;

/* One row of the table of engines: its fusion, its launch costs as a multiple of the device's, the share of the usual
 * efficiency that its kernels of 16 bits and less reach, and its overlap. */
typedef struct cost_engine {
  const char *name, *title, *fusion;
  double launch, narrow;
  double language_kernels; /* launches of an operator of a language model as our readers make it; 0: one */
  bool tf32;      /* convolutions of 32-bit numbers may run as TF32 where the device has it: PyTorch's default */
  bool own_rates; /* the efficiencies of devices with it are in a separate table (cost/efficiency.c) */
  double products, experts; /* factors on that table's for products on GPUs, and for those of routed experts */
  bool narrow_sums;         /* members of a group send sums of many 32-bit numbers in 16 bits */
  situ_overlap overlap;
  engine_sync sync;
  bool central;     /* results are chosen from where the step is asked for, so all of them go there, and what two other
                       machines hand over goes through there: llama.cpp over RPC */
  double streamed;  /* share of a link's rate at which weights on a host stream to the accelerator that computes with
                       them (cost/streamed.h); 0: hosts compute */
  double offloaded; /* share of a link's rate at which an accelerator fetches the weights of a product of many tokens
                       that a host has, and computes it (cost/offloaded.h); 0: hosts compute all that they have */
} cost_engine;
/* Overhead of each collective of a group in addition to the links (docs/results/parallel.md). */
enum { COLLECTIVE_NS = 15000 };

const cost_engine *cost_engine_find(const char *name);

/* The class of a kind of operator, by its name in ONNX or OpenVINO. */
fusion_class fusion_class_of(const char *kind);

/* Work by kernels instead of operators. Arrays of [operator]; those of a graph without fusion are its own. */
typedef struct fusion {
  int32_t *group; /* the head of its kernel; NULL: nothing is fused */
  const int64_t *flops, *moved_bytes;
  const uint8_t *dtype;
  bool *known;       /* its outputs are known before a run and never sent; NULL: none are */
  int32_t n_working; /* kernels with work */
} fusion;

/* Finds the kernels of a graph by a set of rules, in one pass in topological order; O(V + E). given[v] >= 0 forces v
 * into the kernel with the head given[v], regardless of the rules (v itself: separate from all other working
 * operators); NULL: nothing is given. Operators with different apart[v] share no kernel, but one without work and with
 * apart 0 may join any; NULL: all are equal. Arrays in the arena. False without memory. */
bool fusion_find(fusion *out, const situ_graph *graph, unsigned rules, const int32_t *given, const int32_t *apart,
                 arena *a);

#endif
