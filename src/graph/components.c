#include "graph/components.h"

typedef struct search {
  const int32_t *start, *to;
  int32_t *component, *found, *low, *stack, *path, *next;
  int32_t n_found, n_stack, n_path, n_components;
} search;

static void enter(search *s, int32_t v) {
  s->found[v] = s->low[v] = s->n_found++;
  s->next[v] = s->start[v];
  s->stack[s->n_stack++] = s->path[s->n_path++] = v;
}

static void leave(search *s, int32_t v) {
  if (--s->n_path > 0 && s->low[v] < s->low[s->path[s->n_path - 1]]) s->low[s->path[s->n_path - 1]] = s->low[v];
  if (s->low[v] != s->found[v]) return;
  int32_t w;
  do {
    w = s->stack[--s->n_stack];
    s->component[w] = s->n_components;
  } while (w != v);
  s->n_components++;
}

bool components_find(int32_t *component, int32_t *n_components, const int32_t *start, const int32_t *to, int32_t n,
                     arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  search s = {.start = start, .to = to, .component = component};
  if (!ARENA_ARRAYS(scratch, ARRAY(s.found, n), ARRAY(s.low, n), ARRAY(s.stack, n), ARRAY(s.path, n), ARRAY(s.next, n)))
    return false;
  for (int32_t v = 0; v < n; v++) component[v] = s.found[v] = -1;
  for (int32_t root = 0; root < n; root++) {
    if (s.found[root] < 0) enter(&s, root);
    while (s.n_path > 0) {
      int32_t v = s.path[s.n_path - 1];
      if (s.next[v] == start[v + 1]) {
        leave(&s, v);
        continue;
      }
      int32_t w = to[s.next[v]++];
      if (s.found[w] < 0)
        enter(&s, w);
      else if (component[w] < 0 && s.found[w] < s.low[v])
        s.low[v] = s.found[w];
    }
  }
  *n_components = s.n_components;
  arena_release(scratch, mark);
  return true;
}
