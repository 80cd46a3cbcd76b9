/* lab.h - whole problems for tests: small ones by hand and from papers, with one byte a nanosecond on every link, and
 * random ones with everything that real ones have. */
#ifndef SITU_TESTS_LAB_H
#define SITU_TESTS_LAB_H

#include "base/rng.h"
#include "graph/builder.h"
#include "problem/problem.h"
#include "sim/simulate.h"
#include "situ/instance.h"

enum { LAB_MAX_DEVICES = 8, LAB_MAX_OPERATORS = 64 }; /* LAB_MAX_OPERATORS: operators of lab_random_tiny */

/* A problem with all that it borrows. */
typedef struct lab {
  situ_graph *graph;
  situ_platform *platform;
  situ_costs *costs;
  situ_problem *problem;
  int32_t *pins; /* with `unused`, of random problems only */
  bool *unused;
  /* What is made by hand, until it is posed. */
  situ_graph_builder *builder;
  situ_device devices[LAB_MAX_DEVICES];
  char device_name[LAB_MAX_DEVICES][8];
  situ_link links[32];
  int32_t n_devices, n_links, n_operators;
  int64_t (*time_ns)[LAB_MAX_DEVICES]; /* [operator][device], of the arena */
  bool alike;                          /* all devices that are no host are of one class */
  arena *arena;                        /* with `simulator`, of what was posed by hand */
  simulator *simulator;
} lab;

/* Fails the test with what the error says, unless the status is OK. */
void must(situ_status status, const situ_error *error);

/* ---- by hand: devices, links, operators and tensors, then posed ---- */

lab lab_new(void);
/* A device with a memory of its own (shares < 0) or that of an earlier device. Every device is a class of its own. */
int32_t lab_device(lab *l, int64_t memory_bytes, int32_t shares, bool is_host);
/* 1 byte a nanosecond. */
void lab_link(lab *l, int32_t from, int32_t to, int64_t latency_ns, int32_t channel);
/* Such links from the first device to each of the others and back, without latency. */
void lab_star(lab *l);
/* Devices with a memory of their own each, the first a host, and links between all. */
lab lab_mesh(int32_t n_devices, int64_t memory_bytes);
/* The same time on every device; l->time_ns may be changed until the problem is posed, and lies elsewhere after the
 * next call. */
int32_t lab_add(lab *l, situ_operator op, int64_t time_ns);
int32_t lab_operator(lab *l, const char *name, int64_t time_ns, int64_t weight_bytes, int64_t workspace_bytes);
/* An operator of a phase and of a colocation group; -1: of none. */
int32_t lab_of_phase(lab *l, const char *name, int64_t time_ns, situ_phase phase, int64_t group);
/* A tensor of operator v for the users listed, ended by -1. */
int32_t lab_tensor(lab *l, int32_t v, int64_t size_bytes, ...);
/* Makes the problem and a simulator of it; options may be NULL. */
void lab_pose(lab *l, const situ_problem_options *options);
/* What simulating a placement gives, with the best single device beside it: a plan that the judge has no fault to find
 * with, but those of the placement. */
situ_plan *lab_plan(lab *l, const placement *where);

/* What a builder holds, which is freed, on a platform by name; costs without fusion, for the caller to change; no
 * problem yet. */
lab lab_of_builder(situ_graph_builder *builder, const char *platform);
/* The ten tasks on three processors of Topcuoglu, Hariri, Wu, TPDS 2002, fig. 2, without contention: HEFT 80, CPOP 86.
 */
lab lab_topcuoglu(void);
void lab_free(lab *l);
static inline void lab_drop(lab *l) { lab_free(l); }

/* A published latency workload of the shared data ("LayerGraphs/bert24_inference"), posed as accelerator calls; the
 * caller's. The test is skipped without the data. */
situ_instance *lab_published_calls(const char *name);
/* The value of that solver's plan, which is *plan and the caller's. Fails the test without one. */
double lab_value_ms(situ_plan **plan, const situ_instance *instance, const char *solver);

/* ---- by chance ---- */

typedef struct lab_options {
  uint64_t seed;
  int32_t n_operators,
      n_devices;         /* devices: the first is a host; classes are shared, memories sometimes; most have servers */
  int32_t n_hosts;       /* 0 is 1; more share the memory of the first */
  bool ways_differ;      /* to the host each takes longer than from it, of equal devices too */
  bool host_last;        /* one host is the last device, not the first, if that shares no memory */
  double density;        /* chance of each possible edge */
  int32_t n_colocations; /* above 0: a third of all problems have fused kernels too */
  bool unfused;          /* ... unless this is set */
  bool training;
  int32_t step; /* above 0: a training step made of a forward pass, with so many micro-batches, some of it recomputed */
  bool pinned;  /* some operators are pinned, sometimes a device is unused */
  bool unsupported;   /* some operators cannot run on some class (the host runs all) */
  bool equal;         /* accelerators are of one or two classes, each with a memory and equal links of its own */
  double memory;      /* room of each accelerator as a part of all weights and tensors; 0: unlimited */
  double host_memory; /* the same of the hosts */
  bool pools;         /* half of the devices that would share a memory share its capacity only */
  situ_problem_options options; /* pins and unused are made here */
} lab_options;

/* Times are 0 .. 20, transfers of the same order, so that ties and zeroes are common. Fails the test on any error. */
lab lab_random(const lab_options *options);
/* A free, host-staged pipeline of 2 to max_operators operators on 2 to 4 devices, all else drawn too. */
lab lab_random_free_pipeline(uint64_t seed, int32_t max_operators);
/* A stream of 4 operators on 2 or 3 devices for its latency, with pins, unused devices, unsupported classes, colocation
 * and memories that are too small, each in some: brute force finds its best plan. */
lab lab_random_small_stream(uint64_t seed);
/* One of 1 to 14 operators on 2 to 5 devices, with colocation and some with all else. */
lab lab_random_stream(uint64_t seed);
/* A random graph of up to `most` operators on a platform of lab_random_platform, with times 0 to 4 and tensors of 0 to
 * 5 bytes, all by hand: ties, zeros and shared channels are common. */
lab lab_random_tiny(uint64_t seed, int32_t most, const situ_problem_options *options);
/* Adds up to five devices, joined all to all, as a star or as a ring in one direction. */
void lab_random_platform(lab *l, rng *r);
/* A text of `size` bytes with its end: in round k < size cut before byte k, later with up to three bytes changed to
 * some of the 16 `letters`. */
void lab_damage(char *text, const char *whole, int64_t size, int64_t round, rng *r, const char *letters);
/* A random topological order. */
void lab_random_order(const situ_graph *graph, rng *r, int32_t *order);
/* A random device for each operator, and such an order. Of problems by hand. */
void lab_random_placement(const lab *l, rng *r, int32_t *device, int32_t *order);

#endif
