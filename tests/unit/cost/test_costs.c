/* The roofline, transfer tables and measured tables. */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/dtype.h"
#include "base/file.h"
#include "base/rng.h"
#include "cost/cost_models.h"
#include "cost/costs.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "platform/platform.h"

typedef struct work {
  int64_t flops, moved_bytes, out_bytes;
  situ_dtype dtype;
} work;

/* A chain op0 -> op1 -> ... with one tensor each. */
static situ_graph *chain(const work *works, int n) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  assert_int_equal(situ_graph_builder_new(&b, "chain", NULL), SITU_STATUS_OK);
  int32_t last = -1;
  for (int i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "op%d", i);
    situ_operator op = {.name = name,
                        .dtype = works[i].dtype,
                        .flops = works[i].flops,
                        .moved_bytes = works[i].moved_bytes,
                        .colocation = -1,
                        .source_id = -1};
    situ_tensor tensor = {.dtype = works[i].dtype, .rank = -1, .size_bytes = works[i].out_bytes};
    int32_t v, t;
    assert_int_equal(builder_add_operator(b, &op, &v, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(b, v, &tensor, &t, NULL), SITU_STATUS_OK);
    if (last >= 0) assert_int_equal(builder_add_use(b, v, last, NULL), SITU_STATUS_OK);
    last = t;
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  return g;
}

static situ_platform *named(const char *name) {
  situ_platform *p;
  situ_error error = {0};
  if (situ_platform_read(&p, name, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  return p;
}

static situ_costs *costs_of(const situ_graph *g, const situ_platform *p, const situ_cost_options *options) {
  situ_costs *c;
  situ_error error = {0};
  if (situ_costs_estimate(&c, g, p, options, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_int_equal(costs_check(c, g, p, NULL), SITU_STATUS_OK);
  return c;
}

TEST(roofline_takes_the_slower_of_arithmetic_and_traffic) {
  work works[] = {
      {19500000000, 0, 0, SITU_DTYPE_F32},       /* 19.5 GFLOP / (0.75 * 19.5 TFLOP/s) = 1.33 ms */
      {312000000000, 1000, 0, SITU_DTYPE_F16},   /* 312 G / (0.55 * 312 T) = 1.82 ms on tensor cores */
      {1000, 1631200000, 0, SITU_DTYPE_F32},     /* 1.6312 GB / (0.75 * 2039 GB/s) = 1.067 ms */
      {1, 0, 0, SITU_DTYPE_F32},                 /* rounded up to 1 ns */
      {0, 0, 4096, SITU_DTYPE_F32},              /* no work: 0, without launch */
      {INT64_MAX, INT64_MAX, 0, SITU_DTYPE_F32}, /* traffic: 9223372036854775807 / 1.52925e12 = 6031304.3 s */
  };
  OWN(situ_graph) *g = chain(works, 6);
  OWN(situ_platform) *p = named("cpu+a100-80g");
  situ_costs *c = costs_of(g, p, &(situ_cost_options){.size = sizeof(situ_cost_options), .fusion = "none"});
  assert_int_equal(situ_costs_time_ns(c, p, 0, 1), 1333334 + 8000);
  assert_int_equal(situ_costs_time_ns(c, p, 1, 1), 1818182 + 8000);
  assert_int_equal(situ_costs_time_ns(c, p, 2, 1), 1066667 + 8000);
  assert_int_equal(situ_costs_time_ns(c, p, 3, 1), 1 + 8000);
  assert_int_equal(situ_costs_time_ns(c, p, 4, 1), 0);
  assert_int_equal(situ_costs_time_ns(c, p, 4, 0), 0);
  assert_int_equal(situ_costs_time_ns(c, p, 5, 1) / 1000000000, 6031304);
  /* The CPU: 19.5 G / (0.7 * 2.6624 T) = 10.4631695 ms, and 8 us of launch. */
  assert_int_equal(situ_costs_time_ns(c, p, 0, 0), 10463170 + 8000);
  assert_string_equal(c->source, "roofline at usual efficiencies");
  assert_int_equal(c->unit_ns, 0);
  situ_costs_free(c);

  c = costs_of(g, p, &(situ_cost_options){.size = sizeof(situ_cost_options), .model = "roofline", .efficiency = 1.0});
  assert_int_equal(situ_costs_time_ns(c, p, 0, 1), 1000000 + 8000);
  assert_int_equal(situ_costs_time_ns(c, p, 2, 1), 800000 + 8000); /* 1.6312 / 2039 */
  situ_costs_free(c);
}

TEST(types_without_a_rate_take_their_neighbours) {
  situ_device d = {.peak_flops = {[SITU_DTYPE_F32] = 1, [SITU_DTYPE_F64] = 0.5, [SITU_DTYPE_BF16] = 8}};
  assert_true(roofline_peak(&d, SITU_DTYPE_F16) == 8);
  assert_true(roofline_peak(&d, SITU_DTYPE_F8) == 8);
  assert_true(roofline_peak(&d, SITU_DTYPE_U8) == 8);
  assert_true(roofline_peak(&d, SITU_DTYPE_I4) == 8);
  assert_true(roofline_peak(&d, SITU_DTYPE_C128) == 0.5);
  assert_true(roofline_peak(&d, SITU_DTYPE_UNKNOWN) == 1);
  d.peak_flops[SITU_DTYPE_I8] = 16;
  assert_true(roofline_peak(&d, SITU_DTYPE_U8) == 16);
  situ_device only = {.peak_flops = {[SITU_DTYPE_F32] = 3}};
  for (int t = 0; t < DTYPE_COUNT; t++) assert_true(roofline_peak(&only, (situ_dtype)t) == 3);
  situ_device half = {.peak_flops = {[SITU_DTYPE_F16] = 5, [SITU_DTYPE_I8] = 10}};
  assert_true(roofline_peak(&half, SITU_DTYPE_F32) == 5 && roofline_peak(&half, SITU_DTYPE_I64) == 5);
  situ_device whole = {.peak_flops = {[SITU_DTYPE_I8] = 7}};
  assert_true(roofline_peak(&whole, SITU_DTYPE_I32) == 7 && roofline_peak(&whole, SITU_DTYPE_U8) == 7);
  assert_true(roofline_peak(&whole, SITU_DTYPE_F32) == 0 && roofline_peak(&whole, SITU_DTYPE_F16) == 0);
}

TEST(transfers_add_up_over_their_hops) {
  work works[] = {{1, 1, 25200000, SITU_DTYPE_F32}, {1, 1, 1, SITU_DTYPE_F32}, {1, 1, 0, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 3);
  OWN(situ_platform) *p = named("cpu+2*a100-80g+uhd770");
  OWN(situ_costs) *c = costs_of(g, p, NULL);
  /* 25.2 MB / 25.2 GB/s = 1 ms for each hop over PCIe 4, and 10 us of latency from the host, 20 us back. */
  assert_int_equal(situ_costs_transfer_ns(c, p, 0, 0, 1), 1010000);
  assert_int_equal(situ_costs_transfer_ns(c, p, 0, 1, 2), 2030000);
  assert_int_equal(situ_costs_transfer_ns(c, p, 1, 1, 0), 20001);
  assert_int_equal(situ_costs_transfer_ns(c, p, 2, 1, 0), 20000);
  assert_int_equal(situ_costs_transfer_ns(c, p, 0, 1, 1), 0);
  /* An integrated GPU: 25.2 MB at 10 GB/s = 2.52 ms, 15 us to it and 25 us back. */
  assert_int_equal(situ_costs_transfer_ns(c, p, 0, 0, 3), 2535000);
  assert_int_equal(situ_costs_transfer_ns(c, p, 0, 3, 2), 2545000 + 1010000);
  assert_int_equal(c->n_kinds, 8); /* none; to a GPU, back; to the integrated one, back; three ways by the host */
}

TEST(equal_routes_are_one_kind_and_say_their_hops) {
  OWN(situ_platform) *p = named("cpu+100*v100-16g+t4-16g+2*h100-80g@nvlink");
  OWN(arena) *a = arena_new();
  route_kinds kinds;
  assert_true(route_kinds_find(&kinds, a, p));
  /* none; PCIe 3 and 5 in both directions, NVLink 4; PCIe 3-3, 3-5 and 5-3. */
  assert_int_equal(kinds.n_kinds, 9);
  int64_t n = p->n_memories;
  for (int64_t from = 0; from < n; from++)
    for (int64_t to = 0; to < n; to++) {
      int64_t pair = from * n + to;
      int32_t k = kinds.pair_kind[pair], length = p->route_start[pair + 1] - p->route_start[pair];
      for (int32_t i = 0; i < length; i++, k = kinds.rest[k]) {
        int32_t stands = kinds.first_link[k], real = p->route_link[p->route_start[pair] + i];
        assert_int_equal(kinds.link_kind[stands], kinds.link_kind[real]);
        assert_true(p->links[stands].bytes_per_s == p->links[real].bytes_per_s);
        assert_true(kinds.rest[k] < k);
      }
      assert_int_equal(k, 0);
    }
}

/* Law: making one link faster makes no transfer slower that goes the weighed size, 1 MiB. */
TEST(a_faster_link_never_slows_a_transfer) {
  work works[] = {{1, 1, 1 << 20, SITU_DTYPE_F32}, {1, 1, 1, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 2);
  rng r = rng_new(3);
  for (int round = 0; round < 100; round++) {
    enum { N = 6, L = 16 };
    char names[N][4];
    situ_device d[N];
    situ_link l[L];
    for (int i = 0; i < N; i++) {
      snprintf(names[i], sizeof names[i], "d%d", i);
      d[i] = (situ_device){.name = names[i],
                           .class_name = "k",
                           .peak_flops[SITU_DTYPE_F32] = 1e12,
                           .memory_bytes_per_s = 1e11,
                           .shares_memory_with = -1};
    }
    for (int i = 0; i < L; i++) {
      int from = i < N ? i : (int)rng_below(&r, N), to = (from + 1 + (i < N ? 0 : (int)rng_below(&r, N - 1))) % N;
      l[i] = (situ_link){from, to, rng_below(&r, 100000), 1e8 * (double)(1 + rng_below(&r, 100)), -1};
    }
    OWN(situ_platform) *p = NULL, *q = NULL;
    assert_int_equal(platform_new(&p, "slow", d, N, l, L, NULL), SITU_STATUS_OK);
    int changed = (int)rng_below(&r, L);
    l[changed].bytes_per_s *= 1.0 + rng_unit(&r);
    l[changed].latency_ns -= l[changed].latency_ns / 3;
    assert_int_equal(platform_new(&q, "fast", d, N, l, L, NULL), SITU_STATUS_OK);
    OWN(situ_costs) *before = costs_of(g, p, NULL), *after = costs_of(g, q, NULL);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        assert_true(situ_costs_transfer_ns(after, q, 0, i, j) <= situ_costs_transfer_ns(before, p, 0, i, j));
  }
}

TEST(wrong_options_are_refused) {
  work works[] = {{1, 1, 1, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 1);
  OWN(situ_platform) *p = named("cpu");
  situ_costs *c;
  situ_error error;
  assert_int_equal(
      situ_costs_estimate(&c, g, p, &(situ_cost_options){.size = sizeof(situ_cost_options), .model = "magic"}, &error),
      SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "magic"));
  double wrong[] = {-0.1, 1.1, (double)NAN};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(
        situ_costs_estimate(&c, g, p, &(situ_cost_options){.size = sizeof(situ_cost_options), .efficiency = wrong[i]},
                            &error),
        SITU_STATUS_BAD_ARGUMENT);
    assert_null(c);
  }
}

TEST(tables_of_another_graph_are_found_out) {
  work works[] = {{1, 1, 1, SITU_DTYPE_F32}, {1, 1, 1, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 1), *h = chain(works, 2);
  OWN(situ_platform) *p = named("cpu+t4-16g"), *q = named("cpu+2*t4-16g");
  OWN(situ_costs) *c = costs_of(g, p, NULL);
  assert_int_equal(costs_check(c, h, p, NULL), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(costs_check(c, g, q, NULL), SITU_STATUS_BAD_ARGUMENT);
  c->time_ns[0] = -1;
  assert_int_equal(costs_check(c, g, p, NULL), SITU_STATUS_INTERNAL);
}

static situ_status with_table(situ_costs **out, const char *text, situ_error *error) {
  work works[] = {{1000, 0, 0, SITU_DTYPE_F32}, {1000, 0, 0, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 2);
  OWN(situ_platform) *p = named("cpu+t4-16g");
  char path[64];
  snprintf(path, sizeof path, "costs-%ld.json", (long)getpid());
  assert_int_equal(file_write(path, text, strlen(text), NULL), SITU_STATUS_OK);
  situ_status status = situ_costs_estimate(
      out, g, p, &(situ_cost_options){.size = sizeof(situ_cost_options), .table_path = path, .fusion = "none"}, error);
  unlink(path);
  if (status == SITU_STATUS_OK) assert_int_equal(costs_check(*out, g, p, NULL), SITU_STATUS_OK);
  return status;
}

TEST(measured_times_replace_estimates) {
  OWN(situ_costs) *c = NULL;
  situ_error error = {0};
  situ_status status =
      with_table(&c,
                 "{\"situ_costs\": 1, \"unit\": \"ms\", \"source\": \"a stopwatch\", \"classes\": [\"k80\"],"
                 " \"operators\": {\"op1\": {\"t4-16g\": 0.0025, \"cpu\": null, \"k80\": 7}}}",
                 &error);
  if (status != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
  assert_int_equal(c->time_ns[0 * 2 + 1], 8001); /* still the roofline: 8 us and 1000 / 4.05e12 s */
  assert_int_equal(c->time_ns[1 * 2 + 1], 2500); /* 0.0025 ms */
  assert_true(c->time_ns[1 * 2 + 0] == SITU_NEVER_NS);
  assert_string_equal(c->source, "roofline at usual efficiencies; 1 of 2 operators by the table \"a stopwatch\"");
}

/* Who measured one device must see that the times of the other are still estimates. */
TEST(devices_without_a_time_in_the_table_are_named) {
  OWN(situ_costs) *c = NULL;
  situ_error error = {0};
  situ_status status = with_table(&c,
                                  "{\"situ_costs\": 1, \"unit\": \"ms\", \"source\": \"a stopwatch\","
                                  " \"operators\": {\"op0\": {\"cpu\": 1}, \"op1\": {\"cpu\": 2}}}",
                                  &error);
  if (status != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
  assert_string_equal(
      c->source, "roofline at usual efficiencies; 2 of 2 operators by the table \"a stopwatch\", estimates for t4-16g");
}

TEST(measured_hand_overs_replace_those_of_the_platforms_links) {
  OWN(situ_costs) *c = NULL;
  situ_error error = {0};
  situ_status status = with_table(&c,
                                  "{\"situ_costs\": 1, \"unit\": \"us\", \"operators\": {}, \"links\": ["
                                  "{\"from\": \"cpu\", \"to\": \"t4-16g\", \"latency\": 50, \"bytes_per_s\": 1e18}]}",
                                  &error);
  if (status != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
  assert_int_equal(c->n_memories, 2);
  assert_in_range(c->transfer_ns[0][c->pair_kind[0 * 2 + 1]], 50000,
                  50001);                                          /* 50 us, and less than 1 ns for its bytes */
  assert_true(c->transfer_ns[0][c->pair_kind[1 * 2 + 0]] < 50000); /* the other way is as it was */
}

TEST(malformed_tables_are_refused) {
#define HEAD "{\"situ_costs\": 1, \"unit\": \"us\", "
  static const char *const cases[][2] = {
      {"[]", "must be an object"},
      {"{\"unit\": \"ms\", \"operators\": {}}", "\"situ_costs\" must be 1"},
      {"{\"situ_costs\": 1, \"operators\": {}}", "\"unit\" must be"},
      {"{\"situ_costs\": 1, \"unit\": \"h\", \"operators\": {}}", "\"unit\" must be"},
      {HEAD "\"operators\": []}", "\"operators\" must be an object"},
      {HEAD "\"operators\": {}, \"ops\": 1}", "\"ops\" is not a key"},
      {HEAD "\"operators\": {\"op7\": {}}}", "no operator of this name"},
      {HEAD "\"operators\": {\"op1\": 3}}", "object of class"},
      {HEAD "\"operators\": {\"op1\": {\"t5\": 3}}}", "\"t5\" is not a class"},
      {HEAD "\"operators\": {\"op1\": {\"cpu\": -3}}}", "time from 0 to 2^54 ns"},
      {HEAD "\"operators\": {}, \"groups\": {}}", "\"groups\" must be a list"},
      {HEAD "\"operators\": {}, \"links\": {}}", "\"links\" must be a list"},
      {HEAD "\"operators\": {}, \"links\": [{\"from\": \"cpu\", \"to\": \"t5\"}]}", "\"t5\" is not a class"},
      {HEAD "\"operators\": {}, \"links\": [{\"from\": \"cpu\", \"to\": \"cpu\", \"latency\": 1}]}", "must have a"},
      {HEAD "\"operators\": {}, \"groups\": [7]}", "\"groups\" must hold objects"},
      {HEAD "\"operators\": {}, \"groups\": [{\"operators\": [], \"times\": {}}]}", "\"groups\" must hold objects"},
      {HEAD "\"operators\": {}, \"groups\": [{\"operators\": [\"op9\"], \"times\": {}}]}", "no operator of this name"},
      {HEAD "\"operators\": {}, \"groups\": [{\"operators\": [7], \"times\": {}}]}", "no operator of this name"},
      {HEAD "\"operators\": {}, \"groups\": [{\"operators\": [\"op1\"], \"times\": {\"cpu\": -1}}]}",
       "time from 0 to 2^54 ns"},
      {HEAD "\"operators\": {\"op1\": {}}, \"groups\": [{\"operators\": [\"op1\"], \"times\": {}}]}",
       "in the table twice"},
      {HEAD "\"operators\": {\"op1\": {\"cpu\": \"3\"}}}", "time from 0 to 2^54 ns"},
      {HEAD "\"operators\": {\"op1\": {\"cpu\": 1e999}}}", "not valid JSON"},
      /* 2^63 - 1 ns would read as never */
      {HEAD "\"operators\": {\"op1\": {\"cpu\": 9223372036854775807}}}", "time from 0 to 2^54 ns"},
      {HEAD "\"operators\": {\"op1\": {\"cpu\": 1e30}}}", "time from 0 to 2^54 ns"},
      {HEAD "\"operators\": {}, \"parts\": [{\"class\": \"cpu\", \"start\": 1e300}]}", "from 0 to 2^54 ns"},
      {HEAD
       "\"operators\": {}, \"links\": [{\"from\": \"cpu\", \"to\": \"cpu\", \"latency\": 1, \"bytes_per_s\": 1e-7}]}",
       "from 1 to 1e18"}, /* a rate of less than 2^-20 was a division by 0 */
      {HEAD "\"operators\": {}, \"parts\": [{\"class\": \"cpu\", \"start\": 1, \"dispatch\": 1e300}]}", "2^54 ns"},
      {HEAD "\"operators\": {}, \"workspace_bytes\": {\"op1\": 72057594037927937}}", "64 PiB"}, /* 2^56 + 1 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    situ_costs *c;
    situ_error error = {0};
    assert_int_equal(with_table(&c, cases[i][0], &error), SITU_STATUS_BAD_INPUT);
    assert_null(c);
    if (!strstr(error.text, cases[i][1])) fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i][1]);
  }
}

/* The aim is 0.3 s; the limit leaves room for sanitizers and slow machines. */
TEST(a_million_operators_cost_little) {
  const int n = rounds_of(1000000);
  situ_graph_builder *b;
  OWN(situ_graph) *g = NULL;
  assert_int_equal(situ_graph_builder_new(&b, "big", NULL), SITU_STATUS_OK);
  rng r = rng_new(1);
  for (int i = 0; i < n; i++) {
    situ_operator op = {.dtype = SITU_DTYPE_F32,
                        .flops = rng_below(&r, 1000000000),
                        .moved_bytes = rng_below(&r, 10000000),
                        .colocation = -1,
                        .source_id = -1};
    situ_tensor tensor = {.dtype = SITU_DTYPE_F32, .rank = -1, .size_bytes = rng_below(&r, 100000000)};
    int32_t v;
    assert_int_equal(builder_add_operator(b, &op, &v, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(b, v, &tensor, NULL, NULL), SITU_STATUS_OK);
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  OWN(situ_platform) *p = named("cpu+a100-80g+v100-16g+t4-16g");
  OWN(situ_costs) *c = NULL;
  clock_t start = clock(); /* of the processor: others may use it too */
  assert_int_equal(situ_costs_estimate(&c, g, p, NULL, NULL), SITU_STATUS_OK);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  printf("costs of %d operators on 4 classes: %.3f s\n", n, seconds);
  assert_true(seconds < 3.0 * n / 1e6 + 0.1);
}

static void hear(void *context, situ_log_level level, const char *text) {
  if (level == SITU_LOG_WARNING) snprintf(context, 200, "%s", text);
}

/* What was understood says nothing, two of three operators that were not are a warning. */
TEST(operators_that_were_not_understood_are_a_warning) {
  work works[] = {{1, 1, 1, SITU_DTYPE_F32}, {1, 1, 1, SITU_DTYPE_F32}, {1, 1, 1, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 3);
  OWN(situ_platform) *p = named("cpu");
  char warning[200] = "";
  situ_cost_options o = {.size = sizeof o, .log = hear, .log_context = warning};
  for (int v = 0; v < 3; v++) g->inferred[v] = true;
  situ_costs_free(costs_of(g, p, &o));
  assert_string_equal(warning, "");
  g->inferred[0] = g->inferred[2] = false;
  situ_costs_free(costs_of(g, p, &o));
  assert_ptr_equal(strstr(warning, "2 of 3 operators "), warning);
}

typedef struct known_times {
  int32_t asked;
  int64_t time_ns[2]; /* of operators 0 and 1, on device 1 */
} known_times;

static int64_t tell_time(void *context, int32_t op, int32_t device) {
  known_times *known = context;
  known->asked++;
  return op < 2 && device == 1 ? known->time_ns[op] : -1;
}

/* Two equal GPUs are one class, so three operators on cpu+2*a100-80g are asked for six times. */
TEST(times_from_memory_replace_estimates) {
  work works[] = {{1000, 1, 8, SITU_DTYPE_F32}, {1000, 1, 8, SITU_DTYPE_F32}, {1000, 1, 8, SITU_DTYPE_F32}};
  OWN(situ_graph) *g = chain(works, 3);
  OWN(situ_platform) *p = named("cpu+2*a100-80g");
  known_times known = {.time_ns = {77, SITU_NEVER_NS}};
  situ_cost_options o = {.size = sizeof o, .fusion = "none"};
  situ_costs *without = costs_of(g, p, &o);
  o.time_of = tell_time;
  o.time_context = &known;
  situ_costs *c = costs_of(g, p, &o);
  assert_int_equal(known.asked, 6);
  for (int32_t d = 1; d < 3; d++) {
    assert_int_equal(situ_costs_time_ns(c, p, 0, d), 77);
    assert_true(situ_costs_time_ns(c, p, 1, d) == SITU_NEVER_NS);
  }
  for (int32_t v = 0; v < 3; v++)
    assert_int_equal(situ_costs_time_ns(c, p, v, 0), situ_costs_time_ns(without, p, v, 0));
  assert_int_equal(situ_costs_time_ns(c, p, 2, 1), situ_costs_time_ns(without, p, 2, 1));
  situ_costs_free(without);

  situ_costs *changed;
  situ_error error;
  const situ_operator_time times[] = {{1, 2, 5}, {0, 0, 9}};
  assert_int_equal(situ_costs_change(&changed, c, p, times, 2, &error), SITU_STATUS_OK);
  assert_int_equal(situ_costs_time_ns(changed, p, 1, 1), 5);
  assert_int_equal(situ_costs_time_ns(changed, p, 0, 0), 9);
  assert_int_equal(situ_costs_time_ns(changed, p, 0, 1), 77);
  assert_true(situ_costs_time_ns(c, p, 1, 1) == SITU_NEVER_NS); /* the old ones stay */
  situ_costs_free(changed);
  situ_platform *others[] = {named("cpu+2*v100-16g"), named("cpu+2*a100-40g")}; /* as many classes and memories */
  for (int k = 0; k < 2; k++) {
    assert_int_equal(situ_costs_change(&changed, c, others[k], times, 2, &error), SITU_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "not of this platform"));
    situ_platform_free(others[k]);
  }
  situ_costs_free(c);
  known.time_ns[0] = ((int64_t)1 << 54) + 1;
  assert_int_equal(situ_costs_estimate(&c, g, p, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_string_equal(error.where, "op0");
}

TEST_MAIN
