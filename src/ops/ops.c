#include "ops/ops.h"

#include <string.h>

#include "ops/kind.h"

#define ADDRESS(NAME) &ops_family_##NAME,
static const ops_family *const families[] = {OPS_FAMILY_ROWS(ADDRESS)};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

static const ops_kind *find(const char *domain, const char *kind) {
  if (!domain || strcmp(domain, "ai.onnx") == 0) domain = KIND_ONNX;
  if (!kind) return NULL;
  for (int32_t f = 0; f < N_FAMILIES; f++) {
    const ops_kind *row = families[f]->rows, *end = row + families[f]->n;
    for (; row < end; row++)
      if (row->kind[0] == kind[0] && strcmp(row->kind, kind) == 0 && strcmp(row->domain, domain) == 0) return row;
  }
  return NULL;
}

bool ops_known(const char *domain, const char *kind) { return find(domain, kind) != NULL; }

int32_t ops_n_kinds(void) {
  int32_t n = 0;
  for (int32_t f = 0; f < N_FAMILIES; f++) n += families[f]->n;
  return n;
}

void ops_kind_at(int32_t index, const char **domain, const char **kind) {
  *domain = *kind = NULL;
  for (int32_t f = 0; f < N_FAMILIES && index >= 0; index -= families[f++]->n)
    if (index < families[f]->n) {
      *domain = families[f]->rows[index].domain;
      *kind = families[f]->rows[index].kind;
      return;
    }
}

static situ_status check_tensor(const kind_call *c, const ops_tensor *t, const char *side, int32_t i) {
  if (t->rank < -1 || t->rank > OPS_MAX_RANK)
    return kind_fail(c, "%s %d has %d dimensions, at most %d are allowed", side, (int)i, (int)t->rank, OPS_MAX_RANK);
  if (t->rank > 0 && !t->dims) return kind_fail(c, "%s %d has a rank but no dimensions", side, (int)i);
  for (int32_t d = 0; d < t->rank; d++)
    if (t->dims[d] < -1)
      return kind_fail(c, "%s %d has dimension %d of size %lld", side, (int)i, (int)d, (long long)t->dims[d]);
  return SITU_STATUS_OK;
}

/* A node of no inputs is constant unless it is random: Constant, and Range or Shape of weights. */
static bool is_constant(const ops_node *node, const ops_kind *row) {
  if (row->flags & KIND_RANDOM) return false;
  for (int32_t i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] && !node->inputs[i]->constant) return false;
  return true;
}

situ_status ops_infer(const ops_node *node, arena *a, situ_error *error) {
  const ops_kind *row = find(node->domain, node->kind);
  kind_call c = {node, row, a, error};
  for (int32_t i = 0; i < node->n_inputs; i++)
    if (node->inputs[i]) TRY(check_tensor(&c, node->inputs[i], "input", i));
  for (int32_t i = 0; i < node->n_outputs; i++) TRY(check_tensor(&c, &node->outputs[i], "declared output", i));
  if (!row) return SITU_STATUS_OK;
  bool constant = is_constant(node, row);
  for (int32_t i = 0; i < node->n_outputs; i++) node->outputs[i].constant = constant;
  return row->infer ? row->infer(&c) : SITU_STATUS_OK;
}

static situ_dtype compute_type(const ops_node *node, const ops_kind *row) {
  if (row && row->flags & KIND_QUANTISED) return SITU_DTYPE_I8;
  situ_dtype first = kind_in_dtype(node, 0);
  situ_dtype made = node->n_outputs > 0 ? node->outputs[0].dtype : SITU_DTYPE_UNKNOWN;
  if (row && row->flags & KIND_OF_OUTPUT && made != SITU_DTYPE_UNKNOWN) return made;
  return first != SITU_DTYPE_UNKNOWN ? first : made;
}

ops_work ops_count(const ops_node *node) {
  const ops_kind *row = find(node->domain, node->kind);
  ops_work work = {.exact = row && !(row->flags & KIND_NOT_TENSORS), .dtype = compute_type(node, row)};
  for (int32_t i = 0; i < node->n_inputs; i++)
    if (kind_in(node, i)) work.read_bytes = sat_add(work.read_bytes, ops_bytes(node->inputs[i], &work.exact));
  for (int32_t i = 0; i < node->n_outputs; i++)
    if (!node->outputs[i].absent)
      work.written_bytes = sat_add(work.written_bytes, ops_bytes(&node->outputs[i], &work.exact));
  if (!row) return work;
  if (row->count)
    row->count(node, row, &work);
  else
    kind_count_each(node, row, &work);
  return work;
}
