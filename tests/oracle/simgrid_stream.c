/* A cross-check of the stream simulator against SimGrid (Casanova et al., JPDC 2014), which shares no code with it.
 *
 *   simgrid_stream [number of DAGs]
 *
 * Each random DAG is run in a process of its own, since SimGrid starts once per process, first without contention, then
 * with. One second of SimGrid is one nanosecond of ours: hosts make 1 flop/s, links carry 1 byte/s, so every time is a
 * whole number. Network model CM02 without TCP window and cross traffic takes latency + bytes / bandwidth.
 *
 *   device           an actor on a host of its own, runs its operators in order
 *   tensor to memory without contention: an actor that sends it hop by hop over links without contention (FATPIPE)
 *   channel          with contention: an actor that serves a queue, one hop after the other
 *
 * Readiness is signalled by semaphores, which take no time. Contention is by channel and first come first served, which
 * SimGrid's links do not have, hence the actors; durations are drawn from 1 to 1,000,000, so that two tensors of
 * different operators hardly ever become ready for one channel at one instant: there the order is ours to define.
 *
 * Exit code 0 when all agree, 1 when not. */
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "graph/builder.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>

/* One run. Actors get numbers as arguments and look here. */
static struct {
  lab *s;
  const int32_t *device, *order;
  bool contention;
  sg_sem_t input[LAB_MAX_OPERATORS];        /* [operator] released once for each input that is there */
  sg_sem_t ready[2 * LAB_MAX_OPERATORS][8]; /* [tensor][memory] without contention: made */
  sg_sem_t work[32];                        /* [channel] */
  int32_t queue[32][1024][3];               /* [channel] tensor, memory, hop */
  int32_t first[32], end[32];
  double finish[LAB_MAX_OPERATORS];
} run;

static sg_host_t memory_host(int32_t m) {
  char name[16];
  snprintf(name, sizeof name, "m%d", (int)m);
  return sg_host_by_name(name);
}

static const int32_t *route(int32_t t, int32_t to) {
  const situ_platform *p = run.s->platform;
  int32_t from = p->memory_of[run.device[run.s->graph->producer[t]]];
  return &p->route_start[from * p->n_memories + to];
}

static void hop(int32_t t, int32_t link) {
  const situ_platform *p = run.s->platform;
  sg_host_sendto(memory_host(p->link_from[link]), memory_host(p->link_to[link]), (double)run.s->graph->size_bytes[t]);
}

static void deliver(int32_t t, int32_t m) {
  const situ_graph *g = run.s->graph;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (run.s->platform->memory_of[run.device[g->use[i]]] == m) sg_sem_release(run.input[g->use[i]]);
}

static bool used_in(int32_t t, int32_t m) {
  const situ_graph *g = run.s->graph;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
    if (run.s->platform->memory_of[run.device[g->use[i]]] == m) return true;
  return false;
}

static void enqueue(int32_t t, int32_t m, int32_t at) {
  int32_t c = run.s->platform->links[run.s->platform->route_link[at]].channel;
  int32_t *entry = run.queue[c][run.end[c]++];
  entry[0] = t;
  entry[1] = m;
  entry[2] = at;
  sg_sem_release(run.work[c]);
}

static void run_device(int argc, char **argv) {
  (void)argc;
  int32_t d = atoi(argv[1]);
  const situ_graph *g = run.s->graph;
  const situ_platform *p = run.s->platform;
  for (int32_t i = 0; i < g->n_operators; i++) {
    int32_t v = run.order[i];
    if (run.device[v] != d) continue;
    for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) sg_sem_acquire(run.input[v]);
    sg_actor_execute((double)run.s->costs->time_ns[v * p->n_classes + p->class_of[d]]);
    run.finish[v] = simgrid_get_clock();
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int32_t m = 0; m < p->n_memories; m++) {
        if (!used_in(t, m)) continue;
        if (m == p->memory_of[d])
          deliver(t, m);
        else if (run.contention)
          enqueue(t, m, route(t, m)[0]);
        else
          sg_sem_release(run.ready[t][m]);
      }
  }
}

static void run_way(int argc, char **argv) {
  (void)argc;
  int32_t t = atoi(argv[1]), m = atoi(argv[2]);
  sg_sem_acquire(run.ready[t][m]);
  for (int32_t at = route(t, m)[0]; at < route(t, m)[1]; at++) hop(t, run.s->platform->route_link[at]);
  deliver(t, m);
}

static void run_channel(int argc, char **argv) {
  (void)argc;
  int32_t c = atoi(argv[1]);
  for (;;) {
    sg_sem_acquire(run.work[c]);
    const int32_t *entry = run.queue[c][run.first[c]++];
    hop(entry[0], run.s->platform->route_link[entry[2]]);
    if (entry[2] + 1 < route(entry[0], entry[1])[1])
      enqueue(entry[0], entry[1], entry[2] + 1);
    else
      deliver(entry[0], entry[1]);
  }
}

static void write_platform(const char *path) {
  const situ_platform *p = run.s->platform;
  FILE *f = fopen(path, "w");
  if (!f) exit(2);
  fputs(
      "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n",
      f);
  for (int32_t d = 0; d < p->n_devices; d++) fprintf(f, "<host id=\"d%d\" speed=\"1f\"/>\n", (int)d);
  for (int32_t m = 0; m < p->n_memories; m++) fprintf(f, "<host id=\"m%d\" speed=\"1f\"/>\n", (int)m);
  for (int32_t l = 0; l < p->n_links; l++)
    fprintf(f, "<link id=\"l%d\" bandwidth=\"1Bps\" latency=\"%llds\" sharing_policy=\"%s\"/>\n", (int)l,
            (long long)p->links[l].latency_ns, run.contention ? "SHARED" : "FATPIPE");
  for (int32_t l = 0; l < p->n_links; l++)
    fprintf(f, "<route src=\"m%d\" dst=\"m%d\" symmetrical=\"NO\"><link_ctn id=\"l%d\"/></route>\n",
            (int)p->link_from[l], (int)p->link_to[l], (int)l);
  fputs("</zone></platform>\n", f);
  fclose(f);
}

static sg_actor_t act(const char *host, xbt_main_func_t code, int32_t a, int32_t b) {
  char first[16], second[16];
  snprintf(first, sizeof first, "%d", (int)a);
  snprintf(second, sizeof second, "%d", (int)b);
  const char *arguments[] = {"actor", first, second, NULL};
  return sg_actor_create_("actor", sg_host_by_name(host), code, 3, arguments);
}

/* SimGrid's makespan, in this process. */
static double simulate(void) {
  char program[] = "simgrid_stream", *options[] = {program,
                                                   (char[]){"--cfg=network/model:CM02"},
                                                   (char[]){"--cfg=network/TCP-gamma:0"},
                                                   (char[]){"--cfg=network/crosstraffic:0"},
                                                   (char[]){"--cfg=contexts/stack-size:256"},
                                                   (char[]){"--log=root.thresh:warning"},
                                                   NULL};
  int n_options = 6;
  simgrid_init(&n_options, options);
  char path[] = "/tmp/situ-simgrid-XXXXXX.xml";
  int file = mkstemps(path, 4);
  if (file < 0) exit(2);
  close(file);
  write_platform(path);
  simgrid_load_platform(path);
  unlink(path);
  const situ_graph *g = run.s->graph;
  const situ_platform *p = run.s->platform;
  for (int32_t v = 0; v < g->n_operators; v++) run.input[v] = sg_sem_init(0);
  for (int32_t c = 0; run.contention && c < p->n_channels; c++) {
    run.work[c] = sg_sem_init(0);
    sg_actor_daemonize(act("m0", run_channel, c, 0));
  }
  for (int32_t t = 0; !run.contention && t < g->n_tensors; t++)
    for (int32_t m = 0; m < p->n_memories; m++) {
      if (!used_in(t, m) || m == p->memory_of[run.device[g->producer[t]]]) continue;
      run.ready[t][m] = sg_sem_init(0);
      act("m0", run_way, t, m);
    }
  for (int32_t d = 0; d < p->n_devices; d++) {
    char host[16];
    snprintf(host, sizeof host, "d%d", (int)d);
    act(host, run_device, d, 0);
  }
  simgrid_run();
  double value = 0;
  for (int32_t v = 0; v < g->n_operators; v++) value = fmax(value, run.finish[v]);
  return value;
}

/* As lab_random_tiny, with durations and sizes from 1 to 1,000,000 and one rate. */
static lab draw(uint64_t seed, const situ_problem_options *options) {
  rng r = rng_new(seed);
  lab s = lab_new();
  lab_random_platform(&s, &r);
  for (int32_t l = 0; l < s.n_links; l++) {
    s.links[l].bytes_per_s = 1e9;
    s.links[l].latency_ns = rng_below(&r, 1000);
  }
  int32_t n = 2 + (int32_t)rng_below(&r, 59);
  for (int32_t v = 0; v < n; v++) {
    lab_operator(&s, NULL, 0, 0, 0);
    for (int32_t d = 0; d < s.n_devices; d++) s.time_ns[v][d] = 1 + rng_below(&r, 1000000);
  }
  int64_t density = 1 + rng_below(&r, 4);
  for (int32_t v = 0; v < n; v++)
    for (int64_t k = rng_below(&r, 3); k > 0; k--) {
      int32_t t = lab_tensor(&s, v, 1 + rng_below(&r, 1000000), -1);
      for (int32_t w = v + 1; w < n; w++)
        if (rng_below(&r, n) < density) builder_add_use(s.builder, w, t, NULL);
    }
  lab_pose(&s, options);
  return s;
}

/* Whether one DAG agrees; in a child process. */
static int compare(uint64_t seed, bool contention) {
  situ_problem_options options = {.size = sizeof(situ_problem_options),
                                  .execution = SITU_EXECUTION_STREAM,
                                  .contention = contention ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE};
  int32_t device[LAB_MAX_OPERATORS], order[LAB_MAX_OPERATORS];
  lab s = draw(seed, &options);
  rng r = rng_new(seed + 1000003);
  lab_random_placement(&s, &r, device, order);
  simulation ours = simulator_run(s.simulator, &(placement){.device = device, .order = order}, false);
  run.s = &s;
  run.device = device;
  run.order = order;
  run.contention = contention;
  double theirs = simulate();
  bool agree = fabs(theirs - (double)ours.value_ns) <= 1e-9 * theirs + 1e-3;
  for (int32_t v = 0; v < s.graph->n_operators; v++)
    agree = agree && fabs(run.finish[v] - (double)ours.finish_ns[v]) <= 1e-9 * theirs + 1e-3;
  if (!agree)
    printf("seed %llu, contention %s: situ %lld ns, SimGrid %.6f ns\n", (unsigned long long)seed,
           contention ? "link" : "none", (long long)ours.value_ns, theirs);
  return agree ? 0 : 1;
}

int main(int argc, char **argv) {
  int32_t n = rounds_of(argc > 1 ? atoi(argv[1]) : 300);
  int agreed[2] = {0, 0};
  for (uint64_t seed = 0; seed < (uint64_t)n; seed++)
    for (int contention = 0; contention < 2; contention++) {
      fflush(stdout);
      pid_t child = fork();
      if (child < 0) return 2;
      if (child == 0) {
        int code = compare(seed, contention == 1);
        fflush(stdout);
        _exit(code);
      }
      int status = 0;
      waitpid(child, &status, 0);
      agreed[contention] += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
  printf("%d of %d DAGs agree without contention, %d of %d with contention on links\n", agreed[0], (int)n, agreed[1],
         (int)n);
  return agreed[0] == (int)n && agreed[1] == (int)n ? 0 : 1;
}
