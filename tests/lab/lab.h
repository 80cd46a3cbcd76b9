/* lab.h - whole problems for tests: random ones with everything that real ones have, and small ones from papers. */
#ifndef SITU_TESTS_LAB_H
#define SITU_TESTS_LAB_H

#include "problem/problem.h"

/* A problem with all that it borrows. */
typedef struct lab {
  situ_graph *graph;
  situ_platform *platform;
  situ_costs *costs;
  situ_problem *problem;
  int32_t *pins;
  bool *unused;
} lab;

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
  bool pinned;        /* some operators are pinned, sometimes a device is unused */
  bool unsupported;   /* some operators cannot run on some class (the host runs all) */
  bool equal;         /* accelerators are of one or two classes, each with a memory and equal links of its own */
  double memory;      /* room of each accelerator as a part of all weights and tensors; 0: unlimited */
  double host_memory; /* the same of the hosts */
  bool pools;         /* half of the devices that would share a memory share its capacity only */
  situ_problem_options options; /* pins and unused are made here */
} lab_options;

/* Times are 0 .. 20, transfers of the same order, so that ties and zeroes are common. Fails the test on any error. */
lab lab_random(const lab_options *options);
/* What a builder holds, which is freed, on a platform by name; costs without fusion, for the caller to change; no
 * problem yet. */
lab lab_of_builder(situ_graph_builder *builder, const char *platform);
/* A free, host-staged pipeline of 2 to max_operators operators on 2 to 4 devices, all else drawn too. */
lab lab_random_free_pipeline(uint64_t seed, int32_t max_operators);
/* A stream of 4 operators on 2 or 3 devices for its latency, with pins, unused devices, unsupported classes, colocation
 * and memories that are too small, each in some: brute force finds its best plan. */
lab lab_random_small_stream(uint64_t seed);
/* The ten tasks on three processors of Topcuoglu, Hariri, Wu, TPDS 2002, fig. 2, without contention: HEFT 80, CPOP 86.
 */
lab lab_topcuoglu(void);
void lab_free(lab *l);

#endif
