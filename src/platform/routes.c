#include "platform/routes.h"

#include <math.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/fail.h"

/* Routes of one platform together may have this many hops: 1 GiB of link numbers. */
#define MAX_ROUTE_HOPS ((int64_t)1 << 28)

enum { WEIGHT_BYTES = 1 << 20 };

int64_t link_time_ns(int64_t latency_ns, double bytes_per_s, int64_t size_bytes) {
  REQUIRE(latency_ns >= 0 && bytes_per_s > 0);
  if (size_bytes <= 0) return latency_ns;
  double whole_rate = floor(bytes_per_s);
  uint64_t nano_bytes;
  if (bytes_per_s == whole_rate && !__builtin_mul_overflow((uint64_t)size_bytes, (uint64_t)1000000000u, &nano_bytes)) {
    uint64_t rate = (uint64_t)whole_rate, time = nano_bytes / rate + (nano_bytes % rate != 0);
    return time >= (uint64_t)INT64_MAX ? INT64_MAX : sat_add(latency_ns, (int64_t)time);
  }
  /* Rates with a fraction are taken through a fixed point of 2^-20 bytes per second. */
  unsigned __int128 scaled = ((unsigned __int128)(uint64_t)size_bytes * 1000000000u) << 20;
  unsigned __int128 rate = (unsigned __int128)floor(bytes_per_s * 0x1p20);
  unsigned __int128 time = (scaled + rate - 1) / rate;
  return time >= (unsigned __int128)INT64_MAX ? INT64_MAX : sat_add(latency_ns, (int64_t)time);
}

/* The distance of a memory to the destination of a search. */
typedef struct label {
  int64_t weight_ns;
  int32_t hops, memory;
} label;

typedef struct search {
  int32_t n_memories;
  int64_t *weight;               /* [link] */
  int32_t *in_start, *in_link;   /* links that end in a memory */
  int32_t *out_start, *out_link; /* links that leave a memory, ascending */
  label *best;                   /* [memory]; hops < 0: not reached yet */
  bool *settled;
  label *heap; /* one entry for each improvement of a label: at most n_links + 1 */
  int32_t n_heap;
} search;

static bool before(label a, label b) {
  if (a.weight_ns != b.weight_ns) return a.weight_ns < b.weight_ns;
  if (a.hops != b.hops) return a.hops < b.hops;
  return a.memory < b.memory;
}

static void heap_push(search *s, label entry) {
  int32_t at = s->n_heap++;
  for (; at > 0 && before(entry, s->heap[(at - 1) / 2]); at = (at - 1) / 2) s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = entry;
}

static label heap_pop(search *s) {
  label top = s->heap[0], last = s->heap[--s->n_heap];
  int32_t at = 0;
  for (;;) {
    int32_t child = 2 * at + 1;
    if (child >= s->n_heap) break;
    if (child + 1 < s->n_heap && before(s->heap[child + 1], s->heap[child])) child++;
    if (!before(s->heap[child], last)) break;
    s->heap[at] = s->heap[child];
    at = child;
  }
  s->heap[at] = last;
  return top;
}

static bool search_new(search *s, arena *a, const situ_platform *p) {
  *s = (search){.n_memories = p->n_memories};
  if (!ARENA_ARRAYS(a, ARRAY(s->weight, p->n_links), ARRAY(s->best, p->n_memories), ARRAY(s->settled, p->n_memories),
                    ARRAY(s->heap, (int64_t)p->n_links + 1)))
    return false;
  for (int32_t l = 0; l < p->n_links; l++)
    s->weight[l] = link_time_ns(p->links[l].latency_ns, p->links[l].bytes_per_s, WEIGHT_BYTES);
  return csr_by_key(&s->in_start, &s->in_link, p->link_to, p->n_links, p->n_memories, a) &&
         csr_by_key(&s->out_start, &s->out_link, p->link_from, p->n_links, p->n_memories, a);
}

/* Labels every memory with its distance to `destination`. */
static void search_towards(search *s, const situ_platform *p, int32_t destination) {
  for (int32_t m = 0; m < s->n_memories; m++) s->best[m] = (label){0, -1, m}, s->settled[m] = false;
  s->n_heap = 0;
  s->best[destination].hops = 0;
  heap_push(s, s->best[destination]);
  while (s->n_heap > 0) {
    label from = heap_pop(s);
    if (s->settled[from.memory]) continue;
    s->settled[from.memory] = true;
    for (int32_t i = s->in_start[from.memory]; i < s->in_start[from.memory + 1]; i++) {
      int32_t l = s->in_link[i], m = p->link_from[l];
      label reached = {sat_add(from.weight_ns, s->weight[l]), from.hops + 1, m};
      if (s->settled[m] || (s->best[m].hops >= 0 && !before(reached, s->best[m]))) continue;
      s->best[m] = reached;
      heap_push(s, reached);
    }
  }
}

/* The first link of the route from `memory`, after search_towards: the lowest one on a best way. */
static int32_t first_link(const search *s, const situ_platform *p, int32_t memory) {
  label best = s->best[memory];
  for (int32_t i = s->out_start[memory]; i < s->out_start[memory + 1]; i++) {
    int32_t l = s->out_link[i];
    label next = s->best[p->link_to[l]];
    if (next.hops == best.hops - 1 && sat_add(next.weight_ns, s->weight[l]) == best.weight_ns) return l;
  }
  return -1;
}

static const char *memory_owner(const situ_platform *p, int32_t memory) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->memory_of[d] == memory) return p->devices[d].name;
  return "?";
}

/* For all pairs: next[m * n + w] = first link of the way from m to w, hops[m * n + w + 1] = its length. */
static situ_status find_first_links(int32_t *next, int32_t *hops, search *s, const situ_platform *p,
                                    situ_error *error) {
  int32_t n = p->n_memories;
  for (int32_t w = 0; w < n; w++) {
    search_towards(s, p, w);
    for (int32_t m = 0; m < n; m++) {
      int64_t pair = (int64_t)m * n + w;
      if (s->best[m].hops < 0)
        return fail_with(error, SITU_STATUS_BAD_INPUT, p->name,
                         "no route leads from the memory of \"%s\" to that of \"%s\"; every memory must be reachable "
                         "from every other",
                         memory_owner(p, m), memory_owner(p, w));
      hops[pair + 1] = s->best[m].hops;
      next[pair] = m == w ? -1 : first_link(s, p, m);
    }
  }
  return SITU_STATUS_OK;
}

static situ_status lay_out(situ_platform *p, const int32_t *next, situ_error *error) {
  int32_t n = p->n_memories;
  int64_t n_pairs = (int64_t)n * n, total = 0;
  for (int64_t pair = 0; pair < n_pairs; pair++) {
    total += p->route_start[pair + 1];
    if (total > MAX_ROUTE_HOPS)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->name, "the routes of this platform have more than %lld hops",
                       (long long)MAX_ROUTE_HOPS);
    p->route_start[pair + 1] = (int32_t)total;
  }
  p->route_link = ARENA_NEW(p->arena, int32_t, total);
  if (!p->route_link) return fail_no_memory(error);
  for (int64_t pair = 0; pair < n_pairs; pair++) {
    int32_t at = (int32_t)(pair / n), to = (int32_t)(pair % n);
    for (int32_t i = p->route_start[pair]; i < p->route_start[pair + 1]; i++) {
      p->route_link[i] = next[(int64_t)at * n + to];
      at = p->link_to[p->route_link[i]];
    }
  }
  return SITU_STATUS_OK;
}

situ_status routes_find(situ_platform *p, situ_error *error) {
  REQUIRE(contracts_within(p->link_from, p->n_links, 0, p->n_memories));
  REQUIRE(contracts_within(p->link_to, p->n_links, 0, p->n_memories));
  int64_t n_pairs = (int64_t)p->n_memories * p->n_memories;
  arena *scratch = arena_new();
  search s;
  p->route_start = ARENA_ZERO(p->arena, int32_t, n_pairs + 1);
  int32_t *next = ARENA_NEW(scratch, int32_t, n_pairs);
  situ_status status;
  if (!p->route_start || !next || !search_new(&s, scratch, p))
    status = fail_no_memory(error);
  else
    status = find_first_links(next, p->route_start, &s, p, error);
  if (status == SITU_STATUS_OK) status = lay_out(p, next, error);
  arena_free(scratch);
  return status;
}

situ_status routes_copy(situ_platform *p, const situ_platform *of, situ_error *error) {
  REQUIRE(p->n_memories == of->n_memories && p->n_links == of->n_links);
  int64_t n_pairs = (int64_t)of->n_memories * of->n_memories;
  int32_t *start = ARENA_COPY(p->arena, of->route_start, int32_t, n_pairs + 1);
  int32_t *link = ARENA_COPY(p->arena, of->route_link, int32_t, of->route_start[n_pairs]);
  if (!start || !link) return fail_no_memory(error);
  p->route_start = start;
  p->route_link = link;
  CONTRACT(platform_check(p));
  return SITU_STATUS_OK;
}
