#include "platform/grouped.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/text.h"

/* A step of a collective takes a third of the latency of its route: kernels write to each other's memory and poll it,
 * where a hand-over also waits for calls, for the end of a kernel and for a thread. Fitted: docs/results/parallel.md.
 */
enum { STEP_LATENCY_DIVISOR = 3 };

typedef struct grouping {
  const situ_platform *from;
  arena *arena;
  int32_t k;
  int32_t *lead;       /* [device] the first of its group; itself where it is in none */
  int32_t *number;     /* [device] in the grouped platform, of those that stand for a group or themselves; else -1 */
  situ_device *device; /* of the grouped platform */
  situ_link *link;
  int32_t n_devices, n_links, n_groups;
  const double *share;        /* [k] of the members of the only group; NULL: all are equal */
  const bool *named;          /* [device] that are in no group; NULL: none */
  const int64_t *extra_bytes; /* [k] that they hold beyond it; without shares one number, of all together */
} grouping;

/* Devices of which the memory is that of others too, and those that the caller names. */
static bool *find_alone(const situ_platform *p, const bool *named, arena *a) {
  bool *alone = ARENA_ZERO(a, bool, p->n_devices);
  for (int32_t d = 0; alone && d < p->n_devices; d++) {
    int32_t owner = p->devices[d].shares_memory_with;
    if (owner >= 0) alone[d] = alone[owner] = true;
    if (named && named[d]) alone[d] = true;
  }
  return alone;
}

static bool may_join(const situ_platform *p, const bool *alone, int32_t d) {
  return !alone[d] && !p->devices[d].is_host && p->devices[d].members < 2;
}

static bool are_equal(const situ_platform *p, int32_t d, int32_t e) {
  return p->class_of[d] == p->class_of[e] && p->devices[d].server == p->devices[e].server &&
         p->devices[d].memory_bytes == p->devices[e].memory_bytes;
}

/* The equal devices, at most `max`, that follow each other from d on and may be in a group; 0 where d may not. */
static int32_t count_equal(const situ_platform *p, const bool *alone, int32_t d, int32_t max) {
  int32_t n = 0;
  while (n < max && d + n < p->n_devices && are_equal(p, d, d + n) && may_join(p, alone, d + n)) n++;
  return n;
}

int32_t platform_max_group(const situ_platform *p, const bool *named) {
  int32_t max = 1;
  arena *a = arena_new();
  const bool *alone = a ? find_alone(p, named, a) : NULL;
  for (int32_t d = 0, n; alone && d<p->n_devices; d += n> 1 ? n : 1) {
    n = count_equal(p, alone, d, INT32_MAX);
    if (n > max) max = n;
  }
  arena_free(a);
  return max;
}

static bool is_nvidia(const situ_device *d) { /* or of unknown vendor */
  return d->family == SITU_FAMILY_NONE || d->family == SITU_FAMILY_GPU || d->family == SITU_FAMILY_GPU_LOW_POWER;
}

/* GPUs of one vendor, which one program drives. */
static bool are_of_one_make(const situ_device *a, const situ_device *b) {
  bool gpu = a->family >= SITU_FAMILY_GPU && a->family < SITU_FAMILY_NPU;
  return (is_nvidia(a) && is_nvidia(b)) || (gpu && a->family == b->family);
}

/* The most devices, equal or not, that follow each other in a server and may be in a group, and the first of them. */
static int32_t longest_run(const situ_platform *p, const bool *named, int32_t *first) {
  int32_t max = 0;
  arena *a = arena_new();
  const bool *alone = a ? find_alone(p, named, a) : NULL;
  *first = -1;
  for (int32_t d = 0; alone && d < p->n_devices; d++) {
    int32_t n = 0;
    while (d + n < p->n_devices && may_join(p, alone, d + n) && p->devices[d + n].server == p->devices[d].server &&
           are_of_one_make(&p->devices[d], &p->devices[d + n]))
      n++;
    if (n > max) *first = d;
    if (n > max) max = n;
  }
  arena_free(a);
  return max;
}

int32_t platform_max_together(const situ_platform *p, const bool *alone) {
  int32_t first;
  int32_t n = longest_run(p, alone, &first);
  return n > 1 ? n : 1;
}

int32_t platform_first_together(const situ_platform *p, int32_t k, const bool *alone) {
  int32_t first;
  return longest_run(p, alone, &first) >= k ? first : -1;
}

/* The time and the rate of the slowest route between two members of the group of d. */
static void find_step(const grouping *g, int32_t d, situ_device *group) {
  const situ_platform *p = g->from;
  double slowest = 0;
  for (int32_t e = d; e < d + g->k; e++)
    for (int32_t f = d; f < d + g->k; f++) {
      if (e == f) continue;
      int64_t pair = (int64_t)p->memory_of[e] * p->n_memories + p->memory_of[f], latency_ns = 0;
      int32_t n_links = p->route_start[pair + 1] - p->route_start[pair];
      double s_per_byte = 0;
      for (int32_t i = p->route_start[pair]; i < p->route_start[pair + 1]; i++) {
        latency_ns += p->links[p->route_link[i]].latency_ns;
        s_per_byte += 1 / p->links[p->route_link[i]].bytes_per_s;
      }
      if (n_links > group->sync_links) group->sync_links = n_links;
      group->sync_latency_ns = max64(group->sync_latency_ns, latency_ns / STEP_LATENCY_DIVISOR);
      if (s_per_byte > slowest) slowest = s_per_byte;
    }
  group->sync_bytes_per_s = 1 / slowest;
}

/* "gpu0-3" of gpu0 and gpu3, else "big-small". */
static const char *group_name(const grouping *g, int32_t d) {
  const situ_platform *p = g->from;
  const char *first = p->devices[d].name, *last = p->devices[d + g->k - 1].name;
  size_t same = 0, n = strlen(first) + strlen(last) + 2;
  while (first[same] && first[same] == last[same] && !ascii_is_digit(first[same])) same++;
  if (!ascii_is_digit(first[same]) || !ascii_is_digit(last[same])) same = 0;
  char *name = ARENA_NEW(g->arena, char, (int64_t)n);
  if (name) snprintf(name, n, "%s-%s", first, last + same);
  return name;
}

/* "2*v100", of unlike devices "rtx3090+rtx4090". */
static const char *group_class(const grouping *g, int32_t d) {
  text_buffer t = {0};
  if (!g->share) text_add(&t, "%d*%s", (int)g->k, g->from->devices[d].class_name);
  for (int32_t i = 0; g->share && i < g->k; i++)
    text_add(&t, "%s%s", i > 0 ? "+" : "", g->from->devices[d + i].class_name);
  const char *name = t.failed ? NULL : arena_string(g->arena, t.bytes);
  text_free(&t);
  return name;
}

/* What operators on the group may hold together: with shares, as much as makes the first of its members full. */
static int64_t group_memory(const grouping *g, int32_t d) {
  const situ_device *devices = g->from->devices + d;
  double min = (double)SITU_UNLIMITED_BYTES;
  if (!g->share && devices->memory_bytes == SITU_UNLIMITED_BYTES) return SITU_UNLIMITED_BYTES;
  if (!g->share) return max64(sat_mul(devices->memory_bytes, g->k) - *g->extra_bytes, 0);
  for (int32_t i = 0; i < g->k; i++)
    if (devices[i].memory_bytes != SITU_UNLIMITED_BYTES)
      min = fmin(min, (double)(devices[i].memory_bytes - g->extra_bytes[i]) / g->share[i]);
  return min <= 0 ? 0 : min >= (double)SITU_UNLIMITED_BYTES ? SITU_UNLIMITED_BYTES : (int64_t)min;
}

static bool add_device(grouping *g, int32_t d) {
  const situ_platform *p = g->from;
  situ_device *made = &g->device[g->n_devices];
  *made = p->devices[d];
  g->number[d] = g->n_devices++;
  if (made->shares_memory_with >= 0) made->shares_memory_with = g->number[made->shares_memory_with];
  if (d + 1 == p->n_devices || g->lead[d + 1] != d) return true;
  made->class_name = group_class(g, d);
  made->name = group_name(g, d);
  made->members = g->k;
  made->memory_bytes = group_memory(g, d);
  find_step(g, d, made);
  return made->name && made->class_name;
}

static void add_link(grouping *g, const situ_link *link) {
  int32_t from = g->number[link->from_device], to = g->number[link->to_device], rounds = 0;
  if (from < 0 || to < 0) return;
  situ_link *made = &g->link[g->n_links++];
  *made = *link;
  made->from_device = from;
  made->to_device = to;
  const situ_device *end = &g->device[to];
  while (end->members > 1 && 1 << rounds < g->k) rounds++;
  made->latency_ns = sat_add(made->latency_ns, sat_mul(rounds, end->sync_latency_ns));
}

/* Finds the leads of groups of equal devices. False without memory. */
static bool find_equal(grouping *g) {
  const bool *alone = find_alone(g->from, g->named, g->arena);
  for (int32_t d = 0, n; alone && d < g->from->n_devices; d += n) {
    n = count_equal(g->from, alone, d, g->k) == g->k ? g->k : 1;
    for (int32_t i = 0; i < n; i++) g->lead[d + i] = d;
    g->n_groups += n > 1;
  }
  return alone != NULL;
}

static situ_status make(grouping *g, situ_platform **out, situ_error *error) {
  const situ_platform *p = g->from;
  if (!ARENA_ARRAYS(g->arena, ARRAY(g->lead, p->n_devices), ARRAY(g->number, p->n_devices),
                    ARRAY(g->device, p->n_devices), ARRAY(g->link, p->n_links)))
    return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) g->number[d] = -1;
  int32_t first = g->share ? platform_first_together(p, g->k, g->named) : -1;
  for (int32_t d = 0; d < p->n_devices; d++) g->lead[d] = d >= first && d < first + g->k && first >= 0 ? first : d;
  g->n_groups = first >= 0;
  if (!g->share && !find_equal(g)) return fail_no_memory(error);
  if (g->n_groups == 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->name,
                     "has no %d %sdevices in one server that could split operators; at most %d can", (int)g->k,
                     g->share ? "" : "equal ",
                     (int)(g->share ? platform_max_together(p, g->named) : platform_max_group(p, g->named)));
  for (int32_t d = 0; d < p->n_devices; d++)
    if (g->lead[d] == d && !add_device(g, d)) return fail_no_memory(error);
  for (int32_t l = 0; l < p->n_links; l++) add_link(g, &p->links[l]);
  TRY(platform_new_like(out, p, g->device, g->n_devices, g->link, g->n_links, error));
  const uneven_group uneven = {g->share ? g->number[first] : -1, g->share ? p->devices + first : NULL, g->share};
  if (platform_keep_uneven(*out, &uneven)) return SITU_STATUS_OK;
  situ_platform_free(*out);
  *out = NULL;
  return fail_no_memory(error);
}

static situ_status make_groups(situ_platform **out, grouping g, situ_error *error) {
  *out = NULL;
  g.arena = arena_new();
  situ_status status = g.arena ? make(&g, out, error) : fail_no_memory(error);
  arena_free(g.arena);
  return status;
}

situ_status platform_grouped(situ_platform **out, const situ_platform *platform, int32_t k, int64_t extra_bytes,
                             const bool *alone, situ_error *error) {
  REQUIRE(k >= 2 && extra_bytes >= 0);
  return make_groups(out, (grouping){.from = platform, .k = k, .named = alone, .extra_bytes = &extra_bytes}, error);
}

situ_status platform_grouped_by_shares(situ_platform **out, const situ_platform *platform, int32_t k,
                                       const double *share, const int64_t *extra_bytes, const bool *alone,
                                       situ_error *error) {
  REQUIRE(k >= 2);
  return make_groups(
      out, (grouping){.from = platform, .k = k, .named = alone, .share = share, .extra_bytes = extra_bytes}, error);
}
