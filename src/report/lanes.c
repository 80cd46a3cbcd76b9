#include "report/lanes.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/text.h"

enum { MANY_DEVICES = 16 }; /* idle devices are drawn if there are no more than these */

typedef struct filling {
  lane_list *list;
  const situ_plan *plan;
  const situ_problem *p;
  bool failed;
} filling;

static void add_box(filling *f, int32_t at, lane_box b) {
  lane *l = &f->list->lanes[at];
  if (l->n == l->capacity) {
    int64_t capacity = l->capacity ? 2 * l->capacity : 32;
    lane_box *boxes = realloc(l->boxes, (size_t)capacity * sizeof *boxes);
    if (!boxes) {
      f->failed = true;
      return;
    }
    l->boxes = boxes;
    l->capacity = capacity;
  }
  l->boxes[l->n++] = b;
  l->load_ns = sat_add(l->load_ns, b.finish_ns - b.start_ns);
}

COMPARATOR(by_start, lane_box, UP(start_ns) UP(finish_ns) UP(op))

static bool name_lanes(lane_list *list, const situ_problem *p, arena *a) {
  const situ_platform *f = p->platform;
  int32_t n = p->n_devices + f->n_links;
  if (!ARENA_ARRAYS(a, ZEROS(list->lanes, n), ARRAY(list->drawn, n))) return false;
  list->n = n;
  for (int32_t i = 0; i < list->n; i++) {
    lane *at = &list->lanes[i];
    at->link = i >= p->n_devices;
    const situ_link *link = at->link ? &f->links[i - p->n_devices] : NULL;
    text_buffer name = {0};
    text_add(&name, "%s", f->devices[link ? link->from_device : i].name);
    if (link) text_add(&name, " > %s", f->devices[link->to_device].name);
    at->name = text_take(&name);
    if (!at->name) return false;
  }
  return true;
}

static void fill_timeline(filling *f) {
  const situ_problem *p = f->p;
  for (int32_t v = 0; v < p->n_operators; v++)
    add_box(f, situ_plan_device(f->plan, v),
            (lane_box){situ_plan_start_ns(f->plan, v), situ_plan_finish_ns(f->plan, v), v, -1});
  for (int32_t i = 0; i < f->plan->n_transfers; i++) {
    situ_transfer t = situ_plan_transfer(f->plan, i);
    add_box(f, p->n_devices + t.link, (lane_box){t.start_ns, t.finish_ns, -1, i});
  }
}

static void stack(filling *f, int32_t at, int64_t amount_ns, int32_t op, int32_t item) {
  int64_t load_ns = f->list->lanes[at].load_ns;
  if (amount_ns > 0) add_box(f, at, (lane_box){load_ns, sat_add(load_ns, amount_ns), op, item});
}

static void stack_route(filling *f, int32_t t, int32_t from, int32_t to, int64_t every) {
  const situ_problem *p = f->p;
  const situ_platform *q = p->platform;
  int64_t route = (int64_t)p->memory_of[from] * q->n_memories + p->memory_of[to];
  for (int32_t h = q->route_start[route]; h < q->route_start[route + 1]; h++) {
    int32_t link = q->route_link[h];
    int64_t time = p->transfer_ns[t][p->costs->link_kind[link]];
    stack(f, p->n_devices + link, time / every, -1, t);
  }
}

/* Loads of the links: each tensor once for each memory that uses it, hop by hop, shared by those that share its ends.
 */
static void stack_links(filling *f, int32_t *seen) {
  const situ_problem *p = f->p;
  for (int32_t t = 0; t < p->graph->n_tensors; t++) {
    int32_t a = situ_plan_device(f->plan, p->graph->producer[t]);
    for (int64_t i = p->graph->use_start[t]; i < p->graph->use_start[t + 1]; i++) {
      int32_t b = situ_plan_device(f->plan, p->graph->use[i]), to = p->memory_of[b];
      if (to == p->memory_of[a] || seen[to] == t) continue;
      seen[to] = t;
      int64_t every = (int64_t)plan_n_sharing(f->plan, a) * plan_n_sharing(f->plan, b);
      if (every == 1) stack_route(f, t, a, b, 1);
      for (int32_t x = 0; x < p->n_devices && every > 1; x++)
        for (int32_t y = 0; y < p->n_devices && plan_leader(f->plan, x) == a; y++)
          if (plan_leader(f->plan, y) == b) stack_route(f, t, x, y, every);
    }
  }
}

static bool fill_loads(filling *f, arena *a) {
  const situ_problem *p = f->p;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = situ_plan_device(f->plan, v), n = plan_n_sharing(f->plan, d);
    for (int32_t e = n > 1 ? 0 : d; e < (n > 1 ? p->n_devices : d + 1); e++)
      if (plan_leader(f->plan, e) == d) stack(f, e, problem_time_ns(p, v, d) / n, v, -1);
  }
  for (int32_t d = 0; d < p->n_devices; d++)
    stack(f, d, plan_use(f->plan, d).load_ns - f->list->lanes[d].load_ns, -1, -1);
  if (p->communication != SITU_COMMUNICATION_LINK) return true;
  int32_t *seen = ARENA_NEW(a, int32_t, p->n_memories);
  if (!seen) return false;
  for (int32_t m = 0; m < p->n_memories; m++) seen[m] = -1;
  stack_links(f, seen);
  return true;
}

bool lanes_find(lane_list *out, const situ_plan *plan, arena *a) {
  const situ_problem *p = plan->problem;
  *out = (lane_list){.span_ns = plan->value_ns};
  filling f = {.list = out, .plan = plan, .p = p};
  if (!name_lanes(out, p, a)) return false;
  if (p->execution != SITU_EXECUTION_PIPELINE)
    fill_timeline(&f);
  else if (!fill_loads(&f, a))
    return false;
  for (int32_t i = 0; i < out->n; i++) {
    lane *l = &out->lanes[i];
    if (!l->link) l->load_ns = plan_use(plan, i).load_ns;
    if (l->n > 1) qsort(l->boxes, (size_t)l->n, sizeof *l->boxes, by_start);
    for (int64_t k = 0; k < l->n; k++) out->span_ns = max64(out->span_ns, l->boxes[k].finish_ns);
    if (l->n > 0 || (!l->link && p->n_devices <= MANY_DEVICES)) out->drawn[out->n_drawn++] = i;
  }
  return !f.failed;
}

void lanes_free(lane_list *list) {
  for (int32_t i = 0; list->lanes && i < list->n; i++) {
    free(list->lanes[i].name);
    free(list->lanes[i].boxes);
  }
}
