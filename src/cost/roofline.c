/* The roofline model: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
 * multicore architectures", Communications of the ACM 52(4), 2009. See docs/theory/models/roofline.md.
 *
 *     time = launch + max(flops / (e_compute * peak), moved_bytes / (e_memory * bandwidth)), up to whole ns
 *
 * On a group of devices, the work of its busiest member, plus collectives (cost/tensor_split.h). Operators without work
 * (reshapes, constants) take 0 ns: engines fold them away. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/contracts.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "cost/cost_models.h"
#include "cost/cpu_rates.h"
#include "cost/efficiency.h"
#include "cost/training_split.h"
#include "graph/graph.h"
#include "platform/catalogue.h"
#include "platform/platform.h"

/* Subtracted before rounding up, so that floating-point error does not add a nanosecond to an exact quotient. */
static const double SLACK = 1e-12;

static const situ_dtype next_choice[DTYPE_COUNT] = {
    [SITU_DTYPE_UNKNOWN] = SITU_DTYPE_F32, [SITU_DTYPE_F64] = SITU_DTYPE_F32,    [SITU_DTYPE_F32] = SITU_DTYPE_F32,
    [SITU_DTYPE_F16] = SITU_DTYPE_BF16,    [SITU_DTYPE_BF16] = SITU_DTYPE_F16,   [SITU_DTYPE_F8] = SITU_DTYPE_F16,
    [SITU_DTYPE_I64] = SITU_DTYPE_F32,     [SITU_DTYPE_I32] = SITU_DTYPE_F32,    [SITU_DTYPE_I16] = SITU_DTYPE_F32,
    [SITU_DTYPE_I8] = SITU_DTYPE_F16,      [SITU_DTYPE_I4] = SITU_DTYPE_I8,      [SITU_DTYPE_U64] = SITU_DTYPE_F32,
    [SITU_DTYPE_U32] = SITU_DTYPE_F32,     [SITU_DTYPE_U16] = SITU_DTYPE_F32,    [SITU_DTYPE_U8] = SITU_DTYPE_I8,
    [SITU_DTYPE_BOOL] = SITU_DTYPE_F32,    [SITU_DTYPE_STRING] = SITU_DTYPE_F32, [SITU_DTYPE_C64] = SITU_DTYPE_F32,
    [SITU_DTYPE_C128] = SITU_DTYPE_F64,
};

double roofline_peak(const situ_device *device, situ_dtype dtype) {
  REQUIRE((unsigned)dtype < DTYPE_COUNT);
  bool real = dtype == SITU_DTYPE_UNKNOWN || (dtype >= SITU_DTYPE_F64 && dtype <= SITU_DTYPE_F8) ||
              dtype == SITU_DTYPE_C64 || dtype == SITU_DTYPE_C128;
  /* The longest chain of fallbacks is U8, I8, F16, BF16. F16 and BF16 name each other, so only F32 remains. */
  for (int step = 0; step < 4; step++) {
    if (device->peak_flops[dtype] > 0.0) return device->peak_flops[dtype];
    dtype = next_choice[dtype];
  }
  static const situ_dtype last[] = {SITU_DTYPE_F32, SITU_DTYPE_F16, SITU_DTYPE_BF16, SITU_DTYPE_I8};
  for (int i = 0; i < (real ? 3 : 4); i++)
    if (device->peak_flops[last[i]] > 0.0) return device->peak_flops[last[i]];
  return 0.0;
}

/* Nanoseconds per operation and per byte; those of unpacking count beside the operations. */
typedef struct rate {
  double ns_per_flop, ns_per_byte, unpack_ns_per_byte;
} rate;

/* The rates of one class, by limiting resource and type. */
typedef struct roof {
  rate by_dtype[EFFICIENCY_WORKS][DTYPE_COUNT];
  double *share_of_type; /* [n_weight_types] of the rates by dtype */
  rate *by_weights;      /* [n_weight_types * EFFICIENCY_WORKS]; ns_per_flop is 0 where the element type decides */
  int64_t launch_ns;
  bool tiles; /* experts with few tokens compute longer for each */
} roof;

static bool set_rates_by_weights(roof *r, const situ_graph *g, const situ_platform *p, const situ_device *d,
                                 const situ_cost_options *options, arena *a) {
  const cost_engine *engine = cost_engine_find(options->engine);
  cpu_scene scene = {.remote = d->server != p->devices[platform_home(p)].server,
                     .stream_tokens = g->step_tokens / max64(g->streams, 1)};
  cpu_rate found;
  if (!ARENA_ARRAYS(a, ZEROS(r->by_weights, (int64_t)g->n_weight_types * EFFICIENCY_WORKS),
                    ARRAY(r->share_of_type, g->n_weight_types)))
    return false;
  for (int32_t i = 0; i < g->n_weight_types; i++)
    r->share_of_type[i] = options->efficiency > 0.0 ? 1 : efficiency_of_type(d, engine, g->weight_type_name[i]);
  if (options->efficiency > 0.0) return true;
  double ns_per_peak_flop = 1e9 / roofline_peak(d, SITU_DTYPE_F32);
  for (int32_t i = 0; i < g->n_weight_types * EFFICIENCY_WORKS; i++) {
    efficiency_work w = (efficiency_work)(i % EFFICIENCY_WORKS);
    if (!cpu_rate_of(&found, d, engine, w, g->weight_type_name[i / EFFICIENCY_WORKS], scene)) continue;
    r->by_weights[i] = (rate){.ns_per_flop = ns_per_peak_flop / found.share,
                              .ns_per_byte = r->by_dtype[w][SITU_DTYPE_F32].ns_per_byte,
                              .unpack_ns_per_byte = ns_per_peak_flop * found.unpack};
  }
  return true;
}

static bool set_roof(roof *r, const situ_graph *g, const situ_platform *p, const situ_device *device,
                     const situ_cost_options *options, arena *a) {
  const cost_engine *engine = cost_engine_find(options->engine);
  r->tiles = engine->own_rates && !(options->efficiency > 0.0) && !(device->efficiency > 0.0);
  r->launch_ns = efficiency_launch_ns(device, engine, g->streams > 0);
  for (int w = 0; w < EFFICIENCY_WORKS; w++)
    for (int t = 0; t < DTYPE_COUNT; t++) {
      efficiency e = {options->efficiency, options->efficiency};
      if (!(options->efficiency > 0.0)) e = efficiency_of(device, engine, (efficiency_work)w, (situ_dtype)t);
      r->by_dtype[w][t] = (rate){.ns_per_flop = 1e9 / (e.compute * roofline_peak(device, (situ_dtype)t)),
                                 .ns_per_byte = 1e9 / (e.memory * device->memory_bytes_per_s)};
    }
  rate *conv = r->by_dtype[EFFICIENCY_CONV];
  if (engine->tf32 && catalogue_has_tf32(device->class_name))
    conv[SITU_DTYPE_F32].ns_per_flop = fmin(conv[SITU_DTYPE_F32].ns_per_flop, 2 * conv[SITU_DTYPE_BF16].ns_per_flop);
  return set_rates_by_weights(r, g, p, device, options, a);
}

/* Of a product of routed experts the tokens that each has whose weights it moves. Bits of a weight are in the name of
 * its type, before those of scales: "q4_K". */
static double tokens_of_experts(const situ_graph *g, int32_t v) {
  double bits = (double)situ_dtype_bits((situ_dtype)g->dtype[v]);
  double bytes = (double)min64(graph_own_weight_bytes(g, v), g->moved_bytes[v]);
  const char *type = g->weight_type[v] >= 0 ? g->weight_type_name[g->weight_type[v]] : "";
  size_t digit = strcspn(type, "0123456789");
  if (type[digit]) bits = (double)strtol(type + digit, NULL, 10);
  return bytes > 0 ? (double)g->flops[v] / 2 * (bits / 8) / bytes : 0;
}

/* Of operator v, the head of a kernel that computes in a type. */
static rate rate_of(const roof *r, const situ_graph *g, int32_t v, efficiency_work w, situ_dtype dtype) {
  rate by_weights = {0};
  if (g->weight_type[v] >= 0) by_weights = r->by_weights[g->weight_type[v] * EFFICIENCY_WORKS + (int32_t)w];
  if (by_weights.ns_per_flop > 0) return by_weights;
  rate of_type = r->by_dtype[w][dtype];
  if (w == EFFICIENCY_EXPERTS && r->tiles) of_type.ns_per_flop *= efficiency_tiles(tokens_of_experts(g, v));
  if (g->weight_type[v] >= 0) of_type.ns_per_flop /= r->share_of_type[g->weight_type[v]];
  return of_type;
}

/* The bytes of operator v that are unpacked: its weights, of experts those that are read, or its cache. */
static double unpack_bytes_of(const situ_graph *g, int32_t v, efficiency_work w) {
  if (w == EFFICIENCY_ATTENTION) return (double)g->moved_bytes[v];
  return (double)min64(graph_own_weight_bytes(g, v), g->moved_bytes[v]);
}

static int64_t time_under(rate r, int64_t launch_ns, int64_t flops, int64_t moved_bytes, double unpack_bytes) {
  if (flops <= 0 && moved_bytes <= 0) return 0;
  if (flops > 0 && isinf(r.ns_per_flop)) return SITU_NEVER_NS;
  double compute_ns = flops > 0 ? (double)flops * r.ns_per_flop : 0.0;
  compute_ns += unpack_bytes * r.unpack_ns_per_byte;
  double whole = ceil(fmax(compute_ns, (double)moved_bytes * r.ns_per_byte) * (1.0 - SLACK));
  return whole >= 0x1p63 ? INT64_MAX : sat_add(launch_ns, (int64_t)whole);
}

/* The members of a group: one that stands for all where they are equal. */
typedef struct group_members {
  const situ_device *device; /* [n] */
  const double *share;       /* [n]; NULL: all have equal shares */
  int32_t n, k;              /* k: how many they are */
} group_members;

static group_members members_of(const situ_platform *p, int32_t device) {
  const situ_device *d = &p->devices[device];
  if (p->uneven.device != device) return (group_members){d, NULL, 1, d->members};
  return (group_members){p->uneven.member, p->uneven.share, d->members, d->members};
}

/* What a member of a group does of each kernel, at its head; with equal shares, the busiest. */
typedef struct member_work {
  double *flops, *moved_bytes; /* shares of the kernel's */
} member_work;

static bool find_member_work(member_work *m, const situ_graph *g, const fusion *work, const tensor_split *split,
                             const group_members *of, int32_t member, arena *a) {
  double *flops, *moved;
  int32_t n = g->n_operators;
  if (!ARENA_ARRAYS(a, ZEROS(m->flops, n), ZEROS(m->moved_bytes, n), ZEROS(flops, n), ZEROS(moved, n))) return false;
  for (int32_t v = 0; v < n; v++) {
    int32_t head = work->group ? work->group[v] : v;
    double share =
        of->share ? tensor_split_part(split, v, of->share, of->k, member) : tensor_split_share(split, v, of->k);
    m->flops[head] += share * (double)g->flops[v];
    m->moved_bytes[head] += share * (double)g->moved_bytes[v];
    flops[head] += (double)g->flops[v];
    moved[head] += (double)g->moved_bytes[v];
  }
  for (int32_t v = 0; v < n; v++) {
    m->flops[v] = flops[v] > 0 ? m->flops[v] / flops[v] : 1;
    m->moved_bytes[v] = moved[v] > 0 ? m->moved_bytes[v] / moved[v] : 1;
  }
  return true;
}

typedef struct splitting {
  situ_costs *c;
  const situ_graph *g;
  const situ_platform *platform;
  const fusion *work;
  const situ_cost_options *options;
  const uint8_t *kind_work;
  tensor_split split;
  arena *arena;
} splitting;

/* The times of a kernel on the slowest member, with its part, and on the fastest one alone. */
static bool add_member(splitting *s, int32_t class, const group_members *of, int32_t member, const roof *r) {
  const situ_graph *g = s->g;
  member_work m;
  if (!find_member_work(&m, g, s->work, &s->split, of, member, s->arena)) return false;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t at = (int64_t)v * s->c->n_classes + class, flops = s->work->flops[v], moved = s->work->moved_bytes[v];
    efficiency_work w = (efficiency_work)s->kind_work[g->kind[v]];
    rate own = rate_of(r, g, v, w, (situ_dtype)s->work->dtype[v]);
    double unpacked = unpack_bytes_of(g, v, w);
    int64_t part_ns = time_under(own, r->launch_ns, sat_round(ceil(m.flops[v] * (double)flops)),
                                 sat_round(ceil(m.moved_bytes[v] * (double)moved)), m.moved_bytes[v] * unpacked);
    int64_t whole_ns = time_under(own, r->launch_ns, flops, moved, unpacked);
    s->c->time_ns[at] = member == 0 ? part_ns : max64(s->c->time_ns[at], part_ns);
    s->c->one_member_ns[at] = member == 0 ? whole_ns : min64(s->c->one_member_ns[at], whole_ns);
    s->c->each_member_ns[at] = max64(s->c->each_member_ns[at], whole_ns);
  }
  return true;
}

/* Adds the collectives of each operator to the time of its kernel. */
static void add_collectives(splitting *s, int32_t class, const tensor_split *sent, const situ_device *device) {
  situ_costs *c = s->c;
  for (int32_t v = 0; v < c->n_operators; v++) {
    int64_t *sum = &c->collective_ns[(int64_t)(s->work->group ? s->work->group[v] : v) * c->n_classes + class];
    *sum = sat_add(*sum, tensor_split_collective_ns(sent, v, device, COLLECTIVE_NS));
  }
  for (int32_t v = 0; v < c->n_operators; v++) {
    int64_t at = (int64_t)v * c->n_classes + class;
    if (c->time_ns[at] != SITU_NEVER_NS) c->time_ns[at] = sat_add(c->time_ns[at], c->collective_ns[at]);
  }
}

/* Replaces the times on the classes that are groups. */
static bool split_times(splitting *s, const roof *roofs) {
  bool narrow = cost_engine_find(s->options->engine)->narrow_sums;
  situ_costs *c = s->c;
  int64_t n_times = (int64_t)c->n_operators * c->n_classes;
  bool ok = true;
  for (int32_t k = 0; ok && k < c->n_classes; k++) {
    int32_t device = s->platform->class_device[k];
    group_members of = members_of(s->platform, device);
    if (of.k < 2) continue;
    if (!s->arena)
      ok = (s->arena = arena_new()) && training_split_find(&s->split, s->g, s->arena) &&
           ARENA_ARRAYS(c->arena, ZEROS(c->collective_ns, n_times), ZEROS(c->one_member_ns, n_times),
                        ZEROS(c->each_member_ns, n_times));
    for (int32_t i = 0; ok && i < of.n; i++) {
      roof own = roofs[k];
      ok = (!of.share || set_roof(&own, s->g, s->platform, &of.device[i], s->options, s->arena)) &&
           add_member(s, k, &of, i, &own);
    }
    tensor_split sent = s->split;
    ok = ok && (!narrow || tensor_split_narrow(&sent, &s->split, of.k, s->arena));
    if (ok) add_collectives(s, k, &sent, &s->platform->devices[device]);
  }
  arena_free(s->arena);
  return ok;
}

static situ_status estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                            const fusion *work, const situ_cost_options *options, situ_error *error) {
  situ_costs *c;
  TRY(costs_new_with_transfers(&c, graph, platform, work->known, error));
  char source[96] = "roofline at usual efficiencies";
  if (options->efficiency > 0.0)
    c_locale_print(source, sizeof source, "roofline at %g %% of peak and bandwidth", 100.0 * options->efficiency);
  c->source = arena_string(c->arena, source);
  roof *roofs = ARENA_NEW(c->arena, roof, c->n_classes);
  uint8_t *kind_work = ARENA_NEW(c->arena, uint8_t, graph->n_kinds);
  if (!c->source || !roofs || !kind_work) {
    situ_costs_free(c);
    return fail_no_memory(error);
  }
  for (int32_t k = 0; k < graph->n_kinds; k++) kind_work[k] = (uint8_t)efficiency_work_of(graph->kind_name[k]);
  bool ok = true;
  for (int32_t k = 0; ok && k < c->n_classes; k++)
    ok = set_roof(&roofs[k], graph, platform, &platform->devices[platform->class_device[k]], options, c->arena);
  for (int32_t v = 0; ok && v < c->n_operators; v++)
    for (int32_t k = 0; k < c->n_classes; k++) {
      efficiency_work w = (efficiency_work)kind_work[graph->kind[v]];
      rate r = rate_of(&roofs[k], graph, v, w, (situ_dtype)work->dtype[v]);
      c->time_ns[(int64_t)v * c->n_classes + k] =
          time_under(r, roofs[k].launch_ns, work->flops[v], work->moved_bytes[v], unpack_bytes_of(graph, v, w));
    }
  splitting s = {.c = c, .g = graph, .platform = platform, .work = work, .options = options, .kind_work = kind_work};
  if (!ok || !split_times(&s, roofs)) {
    situ_costs_free(c);
    return fail_no_memory(error);
  }
  *out = c;
  return SITU_STATUS_OK;
}

const cost_model cost_roofline = {
    .name = "roofline",
    .title = "maximum of arithmetic and memory time, each at a share of the peak, plus launch overhead",
    .source = "Williams, Waterman, Patterson, CACM 52(4), 2009",
    .estimate = estimate,
};
