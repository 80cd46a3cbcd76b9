/* The invariants of a posed problem, and of its views. */
#include "base/contracts.h"
#include "problem/problem.h"

static const char *check_models(const situ_problem *p) {
  bool pipeline = p->execution == SITU_EXECUTION_PIPELINE, throughput = p->objective == SITU_OBJECTIVE_THROUGHPUT;
  EXPECT(p->execution > SITU_EXECUTION_DEFAULT && p->execution <= SITU_EXECUTION_PIPELINE, "an execution is chosen");
  EXPECT(p->objective == SITU_OBJECTIVE_LATENCY || throughput, "an objective is chosen");
  EXPECT(p->communication != SITU_COMMUNICATION_DEFAULT, "a communication is chosen");
  EXPECT(!pipeline || throughput, "pipelines are judged by their period");
  EXPECT(p->execution != SITU_EXECUTION_CALLS || !throughput, "calls are judged by their latency");
  EXPECT(p->execution == SITU_EXECUTION_STREAM ||
             (p->max_period_ns == SITU_NEVER_NS && p->max_latency_ns == SITU_NEVER_NS),
         "only streams have limits of time");
  EXPECT(p->max_period_ns > 0 && p->max_latency_ns > 0, "limits of time are above 0");
  EXPECT(p->secondary ? p->max_secondary_ns > 0 && p->overlap == SITU_OVERLAP_NONE && p->n_copies == 1 && !throughput
                      : p->max_secondary_ns == SITU_NEVER_NS,
         "a limit by secondary costs is of one input where nothing overlaps");
  EXPECT(pipeline || (!p->async_copies && !p->replicate && p->in_flight == 1),
         "only pipelines copy beside operators and replicate");
  EXPECT(p->in_flight >= 1 && p->max_calls >= 1, "one input is in flight at least, one call is allowed");
  EXPECT(p->micro_batches == 0 ||
             (pipeline && p->training && (p->contiguous || p->chunks > 0) && p->in_flight <= p->micro_batches),
         "micro-batches are those of training steps in contiguous parts");
  EXPECT(p->chunks == 0 || (p->micro_batches > 0 && !p->contiguous && !p->replicate && p->chunks > 1),
         "chunks are those of steps of micro-batches without replicas");
  EXPECT(p->zero == 0 || (p->replicate && p->training && p->zero <= 3), "replicas in training hold shares");
  EXPECT(p->n_phases == 1 || (p->n_phases == 2 && p->training && p->schedule == SITU_SCHEDULE_GPIPE),
         "two phases are those of training as GPipe does it");
  EXPECT(p->n_copies >= 1 && p->n_operators % p->n_copies == 0, "copies have as many operators each");
  return NULL;
}

static const char *check_borrowed(const situ_problem *p) {
  const situ_platform *q = p->platform;
  EXPECT(p->n_operators == p->graph->n_operators, "n_operators is the graph's");
  EXPECT(p->n_devices == q->n_devices && p->n_memories == q->n_memories, "devices and memories are the platform's");
  EXPECT(p->class_of == q->class_of && p->memory_of == q->memory_of, "device arrays are the platform's");
  EXPECT(p->time_ns == p->costs->time_ns && p->transfer_ns == p->costs->transfer_ns, "times are those of the costs");
  EXPECT(p->n_classes == p->costs->n_classes && p->n_kinds == p->costs->n_kinds, "sizes are those of the costs");
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < p->n_devices; b++) {
      int64_t pair = (int64_t)p->memory_of[a] * p->n_memories + p->memory_of[b];
      EXPECT(p->device_kind[(int64_t)a * p->n_devices + b] == p->costs->pair_kind[pair],
             "device_kind is the kind of route between memories");
    }
  return NULL;
}

static const char *check_constraints(const situ_problem *p) {
  const situ_graph *g = p->graph;
  EXPECT(contracts_within(p->pin, p->n_operators, -1, p->n_devices), "pins are devices or -1");
  EXPECT(p->host >= 0 && p->host < p->n_devices, "the host is a device");
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool is_host = p->platform->devices[d].is_host;
    EXPECT(!is_host || p->host <= d, "the host is the first host device");
    EXPECT(!is_host || p->platform->devices[p->host].is_host, "the host is a host where there is one");
  }
  EXPECT_CHECK(unit_list_check(&p->units, p->n_operators));
  for (int32_t u = 0; u < p->units.n; u++) {
    unit_members of = unit_list_members(&p->units, u);
    int32_t first = of.member[0];
    EXPECT(of.n == 1 || g->colocation[first] >= 0, "a unit is a colocation group or an operator alone");
    for (int32_t i = 1; i < of.n; i++) {
      EXPECT(g->colocation[of.member[i]] == g->colocation[first], "no unit has operators of two groups");
      EXPECT(p->conflict || p->pin[of.member[i]] == p->pin[first], "a unit has one pin");
    }
  }
  return NULL;
}

const char *problem_check(const situ_problem *p) {
  EXPECT(p && p->graph && p->platform && p->costs, "a problem has a graph, a platform and costs");
  EXPECT_CHECK(check_models(p));
  EXPECT_CHECK(check_borrowed(p));
  return check_constraints(p);
}
