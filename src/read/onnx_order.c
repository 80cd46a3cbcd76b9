/* The order of nodes, and what is captured from outside. Files should list producers first, but nothing relies on it.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "read/onnx_model.h"

typedef struct ordering {
  arena *a;
  const char *path;
  situ_error *error;
} ordering;

/* Names of one graph: the node that makes each, or n_nodes for inputs and weights. */
typedef struct makers {
  string_map *by_name;
  string_map *captured;
  int64_t captures_capacity;
} makers;

/* Exporters of 2020 wrote some Constants twice. Engines take the later one for all that read it, so both become that.
 */
static situ_status put(const ordering *o, makers *m, const onnx_graph *g, const char *name, int64_t maker) {
  if (!*name) return SITU_STATUS_OK;
  const onnx_node *node = maker < g->n_nodes ? &g->nodes[maker] : NULL;
  int64_t before = string_map_count(m->by_name), first = string_map_put(m->by_name, name, maker);
  if (first < 0) return fail_no_memory(o->error);
  if (!node || string_map_count(m->by_name) > before) return SITU_STATUS_OK;
  if (first < g->n_nodes && strcmp(node->kind, "Constant") == 0 && strcmp(g->nodes[first].kind, "Constant") == 0) {
    const char *own = g->nodes[first].name;
    g->nodes[first] = *node;
    g->nodes[first].name = own;
    return SITU_STATUS_OK;
  }
  return fail_with(o->error, SITU_STATUS_BAD_INPUT, onnx_node_label(node),
                   "produces value '%s', which an input, a weight or another node already provides (in %s)", name,
                   o->path);
}

static situ_status find_makers(const ordering *o, makers *m, const onnx_graph *g) {
  m->by_name = string_map_new(o->a, (int64_t)g->n_nodes + g->n_weights + g->n_inputs);
  m->captured = string_map_new(o->a, 8);
  if (!m->by_name || !m->captured) return fail_no_memory(o->error);
  for (int32_t i = 0; i < g->n_inputs; i++) TRY(put(o, m, g, g->inputs[i].name, g->n_nodes));
  for (int32_t i = 0; i < g->n_weights; i++) TRY(put(o, m, g, g->weights[i].name, g->n_nodes));
  for (int32_t i = 0; i < g->n_nodes; i++)
    for (int32_t k = 0; k < g->nodes[i].n_outputs; k++) TRY(put(o, m, g, g->nodes[i].outputs[k], i));
  return SITU_STATUS_OK;
}

static situ_status capture(const ordering *o, makers *m, onnx_graph *g, const char *name) {
  int64_t n = g->n_captures;
  int64_t at = string_map_put(m->captured, name, n);
  if (at < 0) return fail_no_memory(o->error);
  if (at < n) return SITU_STATUS_OK;
  if (n == m->captures_capacity) {
    int64_t wanted = n ? 2 * n : 8;
    const char **grown = ARENA_NEW(o->a, const char *, wanted);
    if (!grown) return fail_no_memory(o->error);
    if (n) memcpy(grown, g->captures, (size_t)n * sizeof *grown);
    g->captures = grown;
    m->captures_capacity = wanted;
  }
  g->captures[g->n_captures++] = name;
  return SITU_STATUS_OK;
}

/* Calls for each name that a node reads, itself or through its sub-graphs: index k from 0; NULL at the end. */
static const char *name_read(const onnx_node *n, int32_t *body, int32_t *k) {
  for (;;) {
    bool own = *body < 0;
    int32_t end = own ? n->n_inputs : *body < n->n_bodies ? n->bodies[*body].graph->n_captures : 0;
    if (*k < end) {
      const char *name = own ? n->inputs[*k] : n->bodies[*body].graph->captures[*k];
      (*k)++;
      if (*name) return name;
    } else if (++*body >= n->n_bodies) {
      return NULL;
    } else {
      *k = 0;
    }
  }
}

/* Depth-first, without recursion. State of a node: the position in its inputs. */
typedef struct visit {
  int32_t node, body, k;
} visit;

enum { NEW = 0, OPEN, DONE };

static situ_status walk(const ordering *o, const makers *m, onnx_graph *g, visit *stack, unsigned char *state) {
  int32_t n_done = 0;
  for (int32_t root = 0; root < g->n_nodes; root++) {
    if (state[root] == DONE) continue;
    int32_t top = 0;
    stack[0] = (visit){root, -1, 0};
    state[root] = OPEN;
    while (top >= 0) {
      visit *v = &stack[top];
      const char *name = name_read(&g->nodes[v->node], &v->body, &v->k);
      if (!name) {
        state[v->node] = DONE;
        g->order[n_done++] = v->node;
        top--;
        continue;
      }
      int64_t maker = string_map_get(m->by_name, name);
      if (maker < 0 || maker >= g->n_nodes || state[maker] == DONE) continue;
      if (state[maker] == OPEN)
        return fail_with(o->error, SITU_STATUS_BAD_INPUT, onnx_node_label(&g->nodes[maker]),
                         "is part of a cycle: it needs value '%s', which depends on its own outputs (in %s)", name,
                         o->path);
      state[maker] = OPEN;
      stack[++top] = (visit){(int32_t)maker, -1, 0};
    }
  }
  return SITU_STATUS_OK;
}

/* A name read in `g` that `g` does not produce: captured, or an error if there is no outer graph. */
static situ_status read_name(const ordering *o, makers *m, onnx_graph *g, const onnx_node *node, const char *name,
                             bool outermost) {
  if (!*name || string_map_get(m->by_name, name) >= 0) return SITU_STATUS_OK;
  if (!outermost) return capture(o, m, g, name);
  return fail_with(o->error, SITU_STATUS_BAD_INPUT, node ? onnx_node_label(node) : o->path,
                   "reads value '%s', which no input, weight or node provides%s%s", name, node ? " in " : "",
                   node ? o->path : "");
}

static situ_status find_declared(const ordering *o, onnx_graph *g) {
  int64_t n = (int64_t)g->n_inputs + g->n_outputs + g->n_values;
  g->declared = string_map_new(o->a, n);
  if (!g->declared) return fail_no_memory(o->error);
  for (int64_t i = 0; i < n; i++)
    if (string_map_put(g->declared, onnx_declared(g, i)->name, i) < 0) return fail_no_memory(o->error);
  return SITU_STATUS_OK;
}

/* Recursion is as deep as sub-graphs are nested, which the skim limits. */
static situ_status order_graph(const ordering *o, onnx_graph *g, bool outermost) {
  makers m = {0};
  g->n_all_nodes = g->n_nodes;
  for (int32_t i = 0; i < g->n_nodes; i++)
    for (int32_t b = 0; b < g->nodes[i].n_bodies; b++) {
      TRY(order_graph(o, g->nodes[i].bodies[b].graph, false));
      g->n_all_nodes += g->nodes[i].bodies[b].graph->n_all_nodes;
    }
  TRY(find_declared(o, g));
  TRY(find_makers(o, &m, g));
  for (int32_t i = 0; i < g->n_nodes; i++) {
    int32_t body = -1, k = 0;
    for (const char *name; (name = name_read(&g->nodes[i], &body, &k));)
      TRY(read_name(o, &m, g, &g->nodes[i], name, outermost));
  }
  for (int32_t i = 0; i < g->n_outputs; i++) TRY(read_name(o, &m, g, NULL, g->outputs[i].name, outermost));
  g->order = ARENA_NEW(o->a, int32_t, g->n_nodes);
  visit *stack = ARENA_NEW(o->a, visit, (int64_t)g->n_nodes + 1);
  unsigned char *state = ARENA_ZERO(o->a, unsigned char, g->n_nodes);
  if (!g->order || !stack || !state) return fail_no_memory(o->error);
  return walk(o, &m, g, stack, state);
}

situ_status onnx_order(onnx_model *model, arena *a, const char *path, situ_error *error) {
  ordering o = {a, path, error};
  model->function_of = string_map_new(a, model->n_functions);
  if (!model->function_of) return fail_no_memory(error);
  for (int32_t i = 0; i < model->n_functions; i++) {
    onnx_function *f = &model->functions[i];
    size_t n = strlen(f->domain) + strlen(f->name) + strlen(f->overload) + 3;
    char *key = ARENA_NEW(a, char, (int64_t)n);
    if (!key) return fail_no_memory(error);
    snprintf(key, n, "%s\n%s\n%s", f->domain, f->name, f->overload);
    if (string_map_put(model->function_of, key, i) < 0) return fail_no_memory(error);
    TRY(order_graph(&o, &f->body, true));
  }
  return order_graph(&o, model->graph, true);
}
