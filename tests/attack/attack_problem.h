/* attack_problem.h - small problems of the whole space of docs/model.md, as plain arrays.
 *
 * Nothing in this folder uses code of src/: problems are posed, and plans read back, through the public headers. */
#ifndef SITU_ATTACK_PROBLEM_H
#define SITU_ATTACK_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "situ.h"

enum { MAX_OPS = 20, MAX_DEVICES = 5, MAX_TENSORS = 40, MAX_LINKS = 16, MAX_TEXT = 400 };

/* Random numbers that are the same everywhere (splitmix64). */
typedef struct attack_dice {
  uint64_t state;
} attack_dice;
uint64_t dice_next(attack_dice *dice);
/* A number of 0 .. n-1. */
int32_t dice_below(attack_dice *dice, int32_t n);
/* True with a probability of percent / 100. */
bool dice_chance(attack_dice *dice, int32_t percent);

typedef struct attack_operator {
  int64_t weight_bytes, workspace_bytes;
  int64_t time_ns[MAX_DEVICES];  /* [class] SITU_NEVER_NS: never; that of a kernel stands at its head, others have 0 */
  int64_t other_ns[MAX_DEVICES]; /* [class] by the second costs */
  situ_phase phase;
  int32_t colocation, kernel, together; /* keys of what shares a device; -1: none */
  int32_t pin;                          /* a device or -1 */
  int64_t measured_bytes;               /* the workspace by the cost table; -1: as in the graph */
  bool constant;                        /* known before a run: its tensors take no time to send */
} attack_operator;

typedef struct attack_tensor {
  int32_t from;
  uint32_t users; /* bit v: operator v */
  int64_t size_bytes;
  int64_t hop_ns; /* workload files: what each hop takes, whatever the size */
} attack_tensor;

typedef struct attack_device {
  int32_t class_index;
  bool is_host, unused;
  int32_t server;
  int32_t shares;         /* an earlier device whose memory it uses, or -1 */
  bool apart;             /* with shares: only the capacity is shared */
  int64_t capacity_bytes; /* that of its own memory; SITU_UNLIMITED_BYTES: none */
} attack_device;

typedef struct attack_problem {
  bool huge;       /* near the limits of a problem, and perhaps beyond them: it may be refused */
  int32_t n_hosts; /* above 0: a workload file, with that many hosts and the form of attack_workload.c */
  int32_t n, n_devices, n_tensors, n_links; /* n counts the operators of all copies */
  attack_operator op[MAX_OPS];              /* in a topological order */
  attack_tensor tensor[MAX_TENSORS];        /* by producer */
  attack_device device[MAX_DEVICES];
  situ_link link[MAX_LINKS];
  /* A measured link of the cost table: between these classes, within a server; from_class -1: none. */
  int32_t from_class, to_class;
  int64_t measured_ns;
  double measured_bytes_per_s;
  /* What parts take by the cost table: a start on devices of this class; -1: it does not know of parts. */
  int32_t part_class;
  int64_t part_start_ns, part_dispatch_ns;

  situ_execution execution;
  situ_objective objective;
  situ_contention contention;
  situ_overlap overlap;
  situ_communication communication;
  situ_schedule schedule;
  bool free, async_copies, replicate;
  int32_t in_flight, micro_batches, zero, copies, max_calls; /* micro_batches: 0, or in_flight is 1 */
  int64_t max_period_ns, max_latency_ns, max_other_ns;       /* 0: no limit */
} attack_problem;

/* Problem number `seed`, small enough to count all plans. */
void problem_draw(attack_problem *p, uint64_t seed);
/* One with more operators, for laws. */
void problem_draw_large(attack_problem *p, uint64_t seed);
/* A pipeline whose devices may be equal in all ways but some: with pools, shared memories, pins, unused devices. */
void problem_draw_equal(attack_problem *p, uint64_t seed);

/* The problem through the public interface. */
typedef struct attack_posed {
  situ_model *model; /* of a workload file, which then owns graph, platform and costs */
  situ_graph *graph;
  situ_platform *platform;
  situ_costs *costs, *other;
  situ_problem *problem;
} attack_posed;
situ_status problem_pose(attack_posed *out, const attack_problem *p, situ_error *error);
void posed_free(attack_posed *posed);

/* Gives a problem with n_hosts the form that workload files have. */
void workload_normal(attack_problem *p);
/* The text of its file, into memory that the caller frees with free. */
char *workload_text(const attack_problem *p);

/* The profile of fusion by which a problem is posed: constants are known only where there is fusion. With a time of its
 * own in the table each operator is a kernel of its own all the same. */
const char *problem_fusion(const attack_problem *p);
/* The text of a cost table, into memory that the caller frees with free. `other`: the second costs. */
char *problem_costs_text(const attack_problem *p, bool other, int32_t n_named);

#endif
