#include "split/model_parts.h"

#include <string.h>

#include "base/contracts.h"
#include "base/csr.h"
#include "base/fail.h"
#include "base/heap.h"

typedef struct splitting {
  model_parts *parts;
  const model_file *file;
  arena *a;
  situ_error *error;
  bool *folded;        /* [node] */
  int32_t *device;     /* [node] */
  int32_t *user_start; /* consumers of each node, folded ones left out */
  int32_t *user;
  int32_t *n_waits;     /* [node] values of nodes that are not done, one for each reading */
  int32_t *queue, *log; /* scratch [n_nodes] and [n_reads] */
} splitting;

/* Draws random numbers, so it is not a weight even if it has no inputs. */
static bool draws(const char *kind) {
  return strncmp(kind, "Random", 6) == 0 || strcmp(kind, "Multinomial") == 0 || strcmp(kind, "Bernoulli") == 0;
}

/* ---- an order of all nodes, and what is folded ---- */

static situ_status order_nodes(splitting *s) {
  const model_file *f = s->file;
  int32_t n = f->n_nodes, n_ready = 0, *start = ARENA_ZERO(s->a, int32_t, (int64_t)n + 2);
  int32_t n_reads = f->reads.start[n], *user = ARENA_NEW(s->a, int32_t, n_reads), *order = s->parts->order;
  if (!start || !user) return fail_no_memory(s->error);
  for (int32_t i = 0; i < n_reads; i++)
    if (f->values[f->reads.item[i]].maker >= 0) csr_count(start, f->values[f->reads.item[i]].maker);
  csr_sum(start, n);
  for (int32_t v = 0; v < n; v++)
    for (int32_t i = f->reads.start[v]; i < f->reads.start[v + 1]; i++) {
      int32_t maker = f->values[f->reads.item[i]].maker;
      if (maker < 0) continue;
      user[csr_put(start, maker)] = v;
      s->n_waits[v]++;
    }
  for (int32_t v = 0; v < n; v++)
    if (s->n_waits[v] == 0) order[n_ready++] = v;
  for (int32_t i = 0; i < n_ready; i++)
    for (int32_t k = start[order[i]]; k < start[order[i] + 1]; k++)
      if (--s->n_waits[user[k]] == 0) order[n_ready++] = user[k];
  s->user_start = start;
  s->user = user;
  return n_ready == n ? SITU_STATUS_OK : fail_with(s->error, SITU_STATUS_BAD_INPUT, f->path, "its nodes form a cycle");
}

/* Whether a value is there before anything runs: a weight, or folded. */
static bool is_still(const splitting *s, int32_t value) {
  const model_value *v = &s->file->values[value];
  return v->maker >= 0 ? s->folded[v->maker] : v->weight >= 0;
}

static void find_folded(splitting *s) {
  const model_file *f = s->file;
  for (int32_t i = 0; i < f->n_nodes; i++) {
    int32_t v = s->parts->order[i];
    s->folded[v] = !f->has_body[v] && !draws(f->kind[v]);
    for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1]; k++)
      s->folded[v] = s->folded[v] && is_still(s, f->reads.item[k]);
  }
}

/* Nodes without a device go where the first value that they read is made, else where their first reader is. */
static void find_devices(splitting *s) {
  const model_file *f = s->file;
  for (int32_t i = 0; i < f->n_nodes; i++) {
    int32_t v = s->parts->order[i];
    for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1] && s->device[v] < 0; k++) {
      int32_t maker = f->values[f->reads.item[k]].maker;
      if (maker >= 0 && !s->folded[maker]) s->device[v] = s->device[maker];
    }
  }
  for (int32_t i = f->n_nodes - 1; i >= 0; i--) {
    int32_t v = s->parts->order[i];
    for (int32_t k = s->user_start[v]; k < s->user_start[v + 1] && s->device[v] < 0; k++)
      s->device[v] = s->device[s->user[k]];
    if (s->device[v] < 0) s->device[v] = 0;
  }
}

/* ---- grouping without a sequence ---- */

/* Runs on device d all that is ready and all that becomes so; returns how many. Without `part` nothing is changed. */
static int32_t closure(splitting *s, int32_t d, const int32_t *ready, int32_t n_ready, int32_t part) {
  int32_t n = 0, n_log = 0;
  for (int32_t i = 0; i < n_ready; i++)
    if (s->device[ready[i]] == d) s->queue[n++] = ready[i];
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = s->user_start[s->queue[i]]; k < s->user_start[s->queue[i] + 1]; k++) {
      int32_t u = s->user[k];
      s->log[n_log++] = u;
      if (--s->n_waits[u] == 0 && s->device[u] == d) s->queue[n++] = u;
    }
  for (int32_t i = 0; i < n && part >= 0; i++) s->parts->part_of[s->queue[i]] = part;
  for (int32_t i = 0; i < n_log && part < 0; i++) s->n_waits[s->log[i]]++;
  return n;
}

static void count_waits(splitting *s) {
  const model_file *f = s->file;
  for (int32_t v = 0; v < f->n_nodes; v++) {
    s->n_waits[v] = 0;
    for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1]; k++) {
      int32_t maker = f->values[f->reads.item[k]].maker;
      s->n_waits[v] += maker >= 0 && !s->folded[maker];
    }
  }
}

/* The device that can run all that it has left, else the one that can run most at once. */
static situ_status group_free(splitting *s) {
  int32_t n = s->file->n_nodes, max = 0, n_left = 0;
  for (int32_t v = 0; v < n; v++) {
    if (s->device[v] > max) max = s->device[v];
    n_left += !s->folded[v];
  }
  int32_t *ready = ARENA_NEW(s->a, int32_t, n), *left = ARENA_ZERO(s->a, int32_t, (int64_t)max + 1);
  bool *tried = ARENA_NEW(s->a, bool, (int64_t)max + 1);
  if (!ready || !left || !tried) return fail_no_memory(s->error);
  for (int32_t v = 0; v < n; v++) left[s->device[v]] += !s->folded[v];
  count_waits(s);
  while (n_left > 0) {
    int32_t n_ready = 0, best = -1, best_n = -1;
    for (int32_t v = 0; v < n; v++)
      if (!s->folded[v] && s->parts->part_of[v] < 0 && s->n_waits[v] == 0) ready[n_ready++] = v;
    memset(tried, 0, (size_t)max + 1);
    for (int32_t i = 0; i < n_ready; i++) {
      int32_t d = s->device[ready[i]];
      if (tried[d]) continue;
      tried[d] = true;
      int32_t can = closure(s, d, ready, n_ready, -1);
      if (can == left[d]) can = INT32_MAX;
      if (can > best_n) best = d, best_n = can;
    }
    REQUIRE(best >= 0);
    int32_t ran = closure(s, best, ready, n_ready, s->parts->n_parts++);
    left[best] -= ran;
    n_left -= ran;
  }
  return SITU_STATUS_OK;
}

/* ---- grouping by a sequence ---- */

/* Where in the sequence, and when, a part begins, and ends because another device waits for it. */
typedef struct stretch {
  int32_t begun, closed;
  int64_t begun_ns, closed_ns;
} stretch;

/* Whether node v must begin a part: it waits for a part of another device that had not ended when `part` began. */
static bool needs_new_part(const splitting *s, int32_t v, int32_t part, const stretch *at) {
  const model_file *f = s->file;
  for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1]; k++) {
    int32_t maker = f->values[f->reads.item[k]].maker;
    if (maker < 0 || s->folded[maker] || s->device[maker] == s->device[v]) continue;
    const stretch *other = &at[s->parts->part_of[maker]];
    if (other->closed > at[part].begun || other->closed_ns > at[part].begun_ns) return true;
  }
  return false;
}

static bool is_awaited(const splitting *s, int32_t v) {
  for (int32_t k = s->user_start[v]; k < s->user_start[v + 1]; k++)
    if (s->device[s->user[k]] != s->device[v]) return true;
  return false;
}

static situ_status group_by(splitting *s, const node_turn *turn) {
  int32_t n = s->file->n_nodes, max = 0, n_linear = 0;
  for (int32_t v = 0; v < n; v++) max = s->device[v] > max ? s->device[v] : max;
  double *key = ARENA_NEW(s->a, double, n);
  int32_t *open = ARENA_NEW(s->a, int32_t, (int64_t)max + 1);
  stretch *at = ARENA_ZERO(s->a, stretch, n);
  ready_heap heap = {.key = key, .at = s->queue};
  if (!key || !open || !at) return fail_no_memory(s->error);
  for (int32_t d = 0; d <= max; d++) open[d] = -1;
  for (int32_t v = 0; v < n; v++) key[v] = -(double)turn[v].rank;
  count_waits(s);
  for (int32_t v = 0; v < n; v++)
    if (!s->folded[v] && s->n_waits[v] == 0) heap_push(&heap, v);
  while (heap.n > 0) {
    int32_t v = heap_pop(&heap), d = s->device[v];
    if (open[d] < 0 || needs_new_part(s, v, open[d], at)) {
      open[d] = s->parts->n_parts++;
      at[open[d]] = (stretch){.begun = n_linear, .begun_ns = turn[v].start_ns};
    }
    s->parts->part_of[v] = open[d];
    n_linear++;
    if (is_awaited(s, v)) {
      at[open[d]].closed = n_linear;
      at[open[d]].closed_ns = turn[v].finish_ns;
      open[d] = -1;
    }
    for (int32_t k = s->user_start[v]; k < s->user_start[v + 1]; k++)
      if (--s->n_waits[s->user[k]] == 0 && !s->folded[s->user[k]]) heap_push(&heap, s->user[k]);
  }
  return SITU_STATUS_OK;
}

/* ---- what each part holds ---- */

/* Marks folded nodes that a value needs; `mark` is the part's number + 1. */
static void mark_folded(splitting *s, int32_t value, int32_t *seen, int32_t mark) {
  const model_file *f = s->file;
  int32_t n = 0, maker = f->values[value].maker;
  if (maker < 0 || !s->folded[maker] || seen[maker] == mark) return;
  seen[maker] = mark;
  s->queue[n++] = maker;
  while (n > 0) {
    int32_t v = s->queue[--n];
    for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1]; k++) {
      maker = f->values[f->reads.item[k]].maker;
      if (maker < 0 || seen[maker] == mark) continue;
      seen[maker] = mark;
      s->queue[n++] = maker;
    }
  }
}

/* The part that gives an output of the model: what makes it, else the first one. */
static int32_t giver(const model_parts *p, int32_t value) {
  return p->value_part[value] >= 0 ? p->value_part[value] : 0;
}

static situ_status fill_part(splitting *s, int32_t k, const int32_t *member, int32_t n, int32_t *seen, int32_t *taken,
                             const bool *leaves) {
  model_parts *p = s->parts;
  const model_file *f = s->file;
  int32_t n_nodes = 0, n_reads = 0, n_makes = 0, n_outputs = 0;
  for (int32_t i = 0; i < n; i++) {
    n_reads += f->reads.start[member[i] + 1] - f->reads.start[member[i]];
    n_makes += f->makes.start[member[i] + 1] - f->makes.start[member[i]];
  }
  int32_t *nodes = ARENA_NEW(p->arena, int32_t, f->n_nodes);
  int32_t *inputs = ARENA_NEW(p->arena, int32_t, n_reads + f->n_outputs);
  int32_t *outputs = ARENA_NEW(p->arena, int32_t, n_makes + f->n_outputs), n_inputs = 0;
  if (!nodes || !inputs || !outputs) return fail_no_memory(s->error);
  for (int32_t i = 0; i < n; i++) {
    seen[member[i]] = k + 1;
    for (int32_t r = f->reads.start[member[i]]; r < f->reads.start[member[i] + 1]; r++) {
      int32_t value = f->reads.item[r];
      mark_folded(s, value, seen, k + 1);
      if (is_still(s, value) || p->value_part[value] == k || taken[value] == k + 1) continue;
      taken[value] = k + 1;
      inputs[n_inputs++] = value;
    }
    for (int32_t r = f->makes.start[member[i]]; r < f->makes.start[member[i] + 1]; r++)
      if (leaves[f->makes.item[r]] && !f->values[f->makes.item[r]].is_output) outputs[n_outputs++] = f->makes.item[r];
  }
  for (int32_t i = 0; i < f->n_outputs; i++) {
    int32_t value = f->outputs[i];
    if (giver(p, value) != k) continue;
    mark_folded(s, value, seen, k + 1);
    if (f->values[value].maker < 0 && f->values[value].weight < 0 && taken[value] != k + 1) inputs[n_inputs++] = value;
    outputs[n_outputs++] = value;
  }
  for (int32_t i = 0; i < f->n_nodes; i++)
    if (seen[p->order[i]] == k + 1 && s->folded[p->order[i]]) nodes[n_nodes++] = p->order[i];
  for (int32_t i = 0; i < n; i++) nodes[n_nodes++] = member[i];
  p->parts[k] = (model_part){.device = n > 0 ? s->device[member[0]] : 0,
                             .n_nodes = n_nodes,
                             .n_inputs = n_inputs,
                             .n_outputs = n_outputs,
                             .nodes = nodes,
                             .inputs = inputs,
                             .outputs = outputs};
  return SITU_STATUS_OK;
}

/* Parts that give nothing to anybody hold dead nodes only: no engine runs a model without outputs. */
static void drop_empty(model_parts *p, int32_t *number) {
  int32_t n = 0;
  for (int32_t k = 0; k < p->n_parts; k++) {
    number[k] = p->parts[k].n_outputs > 0 || p->n_parts == 1 ? n : -1;
    if (number[k] >= 0) p->parts[n++] = p->parts[k];
  }
  p->n_parts = n;
  for (int32_t v = 0; v < p->file->n_nodes; v++)
    if (p->part_of[v] >= 0) p->part_of[v] = number[p->part_of[v]];
  for (int32_t v = 0; v < p->file->n_values; v++)
    if (p->value_part[v] >= 0) p->value_part[v] = number[p->value_part[v]];
}

static situ_status fill_parts(splitting *s) {
  model_parts *p = s->parts;
  const model_file *f = s->file;
  if (p->n_parts == 0) p->n_parts = 1; /* all is folded */
  int32_t *start = ARENA_ZERO(s->a, int32_t, (int64_t)p->n_parts + 2), *member = ARENA_NEW(s->a, int32_t, f->n_nodes);
  int32_t *seen = ARENA_ZERO(s->a, int32_t, f->n_nodes), *taken = ARENA_ZERO(s->a, int32_t, f->n_values);
  bool *leaves = ARENA_ZERO(s->a, bool, f->n_values);
  p->parts = ARENA_ZERO(p->arena, model_part, p->n_parts);
  p->value_part = ARENA_NEW(p->arena, int32_t, f->n_values);
  if (!start || !member || !seen || !taken || !leaves || !p->parts || !p->value_part) return fail_no_memory(s->error);
  for (int32_t v = 0; v < f->n_values; v++)
    p->value_part[v] = f->values[v].maker >= 0 ? p->part_of[f->values[v].maker] : -1;
  for (int32_t v = 0; v < f->n_nodes; v++) {
    if (p->part_of[v] >= 0) csr_count(start, p->part_of[v]);
    for (int32_t r = f->reads.start[v]; r < f->reads.start[v + 1]; r++) {
      int32_t from = p->value_part[f->reads.item[r]];
      if (from >= 0 && from != p->part_of[v]) leaves[f->reads.item[r]] = true;
    }
  }
  csr_sum(start, p->n_parts);
  for (int32_t i = 0; i < f->n_nodes; i++)
    if (p->part_of[p->order[i]] >= 0) member[csr_put(start, p->part_of[p->order[i]])] = p->order[i];
  for (int32_t k = 0; k < p->n_parts; k++)
    TRY(fill_part(s, k, member + start[k], start[k + 1] - start[k], seen, taken, leaves));
  drop_empty(p, start);
  return SITU_STATUS_OK;
}

situ_status model_devices_fill(int32_t *device, const model_file *file, situ_error *error) {
  arena *a = arena_new();
  model_parts parts = {.file = file};
  splitting s = {.parts = &parts, .file = file, .a = a, .error = error, .device = device};
  int32_t n = file->n_nodes;
  bool room = a && ARENA_ARRAYS(a, ARRAY(parts.order, n), ZEROS(s.folded, n), ZEROS(s.n_waits, n));
  situ_status status = room ? order_nodes(&s) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) {
    find_folded(&s);
    find_devices(&s);
  }
  arena_free(a);
  return status;
}

static situ_status split(splitting *s, const int32_t *device, const node_turn *turn) {
  model_parts *p = s->parts;
  const model_file *f = s->file;
  int32_t n = f->n_nodes;
  if (!ARENA_ARRAYS(p->arena, ARRAY(p->part_of, n), ARRAY(p->order, n)) ||
      !ARENA_ARRAYS(s->a, ZEROS(s->folded, n), ZEROS(s->n_waits, n), ARRAY(s->queue, n + 1),
                    ARRAY(s->log, f->reads.start[n] + n + 1)))
    return fail_no_memory(s->error);
  s->device = ARENA_COPY(s->a, device, int32_t, n);
  if (!s->device) return fail_no_memory(s->error);
  for (int32_t v = 0; v < n; v++) p->part_of[v] = -1;
  TRY(order_nodes(s));
  find_folded(s);
  find_devices(s);
  TRY(turn ? group_by(s, turn) : group_free(s));
  return fill_parts(s);
}

situ_status model_parts_find(model_parts **out, const model_file *file, const situ_graph *graph, const int32_t *device,
                             const node_turn *turn, situ_error *error) {
  *out = NULL;
  arena *kept = arena_new(), *scratch = arena_new();
  model_parts *p = kept && scratch ? ARENA_ZERO(kept, model_parts, 1) : NULL;
  situ_status status = p ? SITU_STATUS_OK : fail_no_memory(error);
  if (p) {
    *p = (model_parts){.arena = kept, .file = file, .graph = graph};
    p->tensor_of = string_map_new(kept, graph ? graph->n_tensors : 1);
    if (!p->tensor_of) status = fail_no_memory(error);
  }
  for (int32_t t = 0; status == SITU_STATUS_OK && graph && t < graph->n_tensors; t++)
    if (graph->tensor_name[t] && string_map_put(p->tensor_of, graph->tensor_name[t], t) < 0)
      status = fail_no_memory(error);
  splitting s = {.parts = p, .file = file, .a = scratch, .error = error};
  if (status == SITU_STATUS_OK) status = split(&s, device, turn);
  arena_free(scratch);
  if (status == SITU_STATUS_OK)
    *out = p;
  else
    arena_free(kept);
  return status;
}

void model_parts_free(model_parts *parts) {
  if (parts) arena_free(parts->arena);
}

/* ---- types and files ---- */

situ_status model_parts_port(const model_parts *p, int32_t value, model_port *out, situ_error *error) {
  const char *name = p->file->values[value].name;
  bool declared = p->file->format->port(p->file, value, out);
  int64_t t = string_map_get(p->tensor_of, name);
  if (declared && (out->rank >= 0 || t < 0)) return SITU_STATUS_OK;
  if (!declared && p->file->format->typed(p->file, value))
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name, "is not a tensor, so it cannot cross a cut");
  const situ_graph *g = p->graph;
  int32_t type = t >= 0 ? model_type_number((situ_dtype)g->tensor_dtype[t]) : 0;
  if (!declared && type == 0)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, name, "has an unknown element type, so it cannot cross a cut");
  if (!declared) out->type = type;
  out->rank = g->rank[t] > MODEL_MAX_RANK ? -1 : g->rank[t];
  for (int32_t d = 0; d < out->rank; d++) out->dims[d] = g->dims[g->dims_start[t] + d];
  return SITU_STATUS_OK;
}

situ_status model_part_write(const model_parts *p, int32_t k, const char *folder, bool named, situ_error *error) {
  return p->file->format->write_part(p, k, folder, named, error);
}

situ_status model_shared_write(const model_file *file, const char *folder, situ_error *error) {
  return file->format->write_shared ? file->format->write_shared(file, folder, error) : SITU_STATUS_OK;
}
