#include "random_graph.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/rng.h"
#include "graph/builder.h"

enum { MAX_OPERATORS = 20000, MAX_OUTPUTS = 64 };

/* The outputs of an operator that was drawn: consecutive numbers in the builder. */
typedef struct drawn {
  int32_t first_tensor, n_tensors;
} drawn;

/* A graph while it is drawn. Backward operator of forward v and the update of its weights are remembered by v. */
typedef struct drawing {
  const graph_random_options *options;
  situ_graph_builder *builder;
  rng rng;
  int32_t n_forward, n_backward, n_update, n_operators;
  drawn *made;          /* of each operator */
  int32_t *colocation;  /* of each forward operator */
  int32_t *backward;    /* of each forward operator: its mirror, or -1 */
  unsigned char *reads; /* n_forward x n_forward: whether the column reads the row; only when training */
} drawing;

static bool chance(drawing *d, double p) { return rng_unit(&d->rng) < p; }

/* About log-uniform in 2^least .. 2^most, or 0 with the given chance. Whole numbers throughout: the mathematical
 * functions of libraries differ in their last bits. */
static int64_t amount(drawing *d, int least, int most, double zero) {
  if (chance(d, zero)) return 0;
  int64_t power = (int64_t)1 << (least + (int)rng_below(&d->rng, most - least));
  return power + rng_below(&d->rng, power);
}

static situ_status add_operator(drawing *d, situ_phase phase, int32_t colocation, bool weights, int32_t n_outputs,
                                situ_error *error) {
  static const char *const kinds[] = {"Conv", "MatMul", "Add", "Relu", "Split", "Reshape"};
  static const char letters[] = {'f', 'b', 'u'};
  int32_t v = d->n_operators;
  char name[32], layer[32];
  snprintf(name, sizeof name, "%c%d", letters[phase], v);
  snprintf(layer, sizeof layer, "layer%d", v / 8);
  situ_operator op = {.name = name,
                      .kind = kinds[rng_below(&d->rng, 6)],
                      .layer = layer,
                      .phase = phase,
                      .dtype = SITU_DTYPE_F32,
                      .weight_bytes = amount(d, 10, 27, weights ? 0 : 1),
                      .workspace_bytes = amount(d, 10, 24, 0.8),
                      .flops = amount(d, 13, 37, 0.15),
                      .moved_bytes = amount(d, 10, 30, 0.15),
                      .source_id = v,
                      .colocation = colocation,
                      .inferred = true};
  TRY(builder_add_operator(d->builder, &op, NULL, error));
  d->made[v] = (drawn){.first_tensor = -1, .n_tensors = n_outputs};
  for (int32_t i = 0; i < n_outputs; i++) {
    int32_t index;
    int64_t elements = amount(d, 0, 23, 0.12);
    situ_tensor tensor = {.dtype = SITU_DTYPE_F32, .rank = 1, .dims = &elements, .size_bytes = 4 * elements};
    TRY(builder_add_tensor(d->builder, v, &tensor, &index, error));
    if (i == 0) d->made[v].first_tensor = index;
  }
  d->n_operators++;
  return SITU_STATUS_OK;
}

/* Lets `consumer` read one tensor of `producer`, more of them now and then, and one twice now and then. */
static situ_status add_edge(drawing *d, int32_t producer, int32_t consumer, situ_error *error) {
  drawn made = d->made[producer];
  if (made.n_tensors == 0) return SITU_STATUS_OK;
  do {
    int32_t tensor = made.first_tensor + (int32_t)rng_below(&d->rng, made.n_tensors);
    TRY(builder_add_use(d->builder, consumer, tensor, error));
  } while (chance(d, 0.2));
  return SITU_STATUS_OK;
}

/* Deals forward operators into groups; with training each of those whose weights are updated gets one at least. */
static void draw_colocations(drawing *d) {
  int32_t group = 0;
  for (int32_t v = 0; v < d->n_forward; v++) d->colocation[v] = -1;
  for (; group < d->options->n_colocations && 2 * (group + 1) <= d->n_forward; group++) {
    int32_t members = 2 + (int32_t)rng_below(&d->rng, 3);
    for (int32_t i = 0; i < members; i++) {
      int32_t v = (int32_t)rng_below(&d->rng, d->n_forward);
      for (int32_t tries = 0; i < 2 && d->colocation[v] >= 0 && tries < d->n_forward; tries++)
        v = (v + 1) % d->n_forward;
      if (d->colocation[v] < 0) d->colocation[v] = group;
    }
  }
  for (int32_t v = d->n_forward - d->n_update; v < d->n_forward; v++)
    if (d->colocation[v] < 0) d->colocation[v] = group++;
}

static situ_status draw_forward(drawing *d, situ_error *error) {
  int32_t most = d->options->max_outputs > 1 ? d->options->max_outputs : 1;
  for (int32_t v = 0; v < d->n_forward; v++) {
    bool updated = v >= d->n_forward - d->n_update;
    int32_t n_outputs = chance(d, 1.0 / 16) ? 0 : 1 + (int32_t)rng_below(&d->rng, most);
    TRY(add_operator(d, SITU_PHASE_FORWARD, d->colocation[v], updated || chance(d, 0.4), n_outputs, error));
    for (int32_t u = 0; u < v; u++) {
      if (!chance(d, d->options->edge_density)) continue;
      TRY(add_edge(d, u, v, error));
      if (d->reads && d->made[u].n_tensors > 0) d->reads[(int64_t)u * d->n_forward + v] = 1;
    }
  }
  return SITU_STATUS_OK;
}

/* The backward operator of v reads what v made (stashed) and the gradients of all who read v. */
static situ_status draw_backward(drawing *d, situ_error *error) {
  for (int32_t v = d->n_forward - 1; v >= d->n_forward - d->n_backward; v--) {
    int32_t b = d->n_operators;
    TRY(add_operator(d, SITU_PHASE_BACKWARD, d->colocation[v], false, 2, error));
    TRY(add_edge(d, v, b, error));
    for (int32_t w = v + 1; w < d->n_forward; w++)
      if (d->reads[(int64_t)v * d->n_forward + w]) TRY(add_edge(d, d->backward[w], b, error));
    d->backward[v] = b;
  }
  for (int32_t v = d->n_forward - d->n_update; v < d->n_forward; v++) {
    int32_t u = d->n_operators;
    TRY(add_operator(d, SITU_PHASE_UPDATE, d->colocation[v], false, 0, error));
    TRY(add_edge(d, d->backward[v], u, error));
  }
  return SITU_STATUS_OK;
}

static situ_status draw(drawing *d, arena *scratch, situ_error *error) {
  int32_t n = d->options->n_operators;
  d->n_forward = d->options->training ? (2 * n + 4) / 5 : n;
  d->n_backward = n - d->n_forward < d->n_forward ? n - d->n_forward : d->n_forward;
  d->n_update = n - d->n_forward - d->n_backward;
  d->made = ARENA_NEW(scratch, drawn, n);
  d->colocation = ARENA_NEW(scratch, int32_t, d->n_forward);
  d->backward = ARENA_NEW(scratch, int32_t, d->n_forward);
  d->reads = d->options->training ? ARENA_ZERO(scratch, unsigned char, (int64_t)d->n_forward * d->n_forward) : NULL;
  if (!d->made || !d->colocation || !d->backward || (d->options->training && !d->reads)) return fail_no_memory(error);
  draw_colocations(d);
  TRY(draw_forward(d, error));
  return draw_backward(d, error);
}

situ_status graph_random(situ_graph **out, const graph_random_options *o, situ_error *error) {
  *out = NULL;
  if (o->n_operators < 1 || o->n_operators > MAX_OPERATORS || !(o->edge_density >= 0 && o->edge_density <= 1) ||
      o->n_colocations < 0 || o->max_outputs < 0 || o->max_outputs > MAX_OUTPUTS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, "random graph",
                     "expected 1 to %d operators, a density in 0 .. 1 and at most %d outputs", MAX_OPERATORS,
                     MAX_OUTPUTS);
  drawing d = {.options = o, .rng = rng_new(o->seed)};
  arena *scratch = arena_new();
  situ_status status = scratch ? situ_graph_builder_new(&d.builder, "random", error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = draw(&d, scratch, error);
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(out, d.builder, error);
  situ_graph_builder_free(d.builder);
  arena_free(scratch);
  return status;
}
