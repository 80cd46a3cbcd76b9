#include "ops/node.h"

#include <string.h>

#include "base/checked.h"

int64_t ops_elements(const ops_tensor *t, bool *exact) {
  int64_t n = 1;
  bool known = t->rank >= 0 && (t->rank == 0 || t->dims), empty = false;
  for (int32_t d = 0; known && d < t->rank; d++) {
    if (t->dims[d] < 0 && exact) *exact = false;
    if (t->dims[d] == 0) empty = true;
    if (t->dims[d] > 0) n = sat_mul(n, t->dims[d]);
  }
  if (!known && exact) *exact = false;
  return empty ? 0 : n;
}

int64_t ops_bytes(const ops_tensor *t, bool *exact) {
  int bits = situ_dtype_bits(t->dtype);
  if (bits == 0 && exact) *exact = false;
  int64_t n = ops_elements(t, exact);
  if (t->stored_bytes > 0) return t->stored_bytes;
  if (bits >= 8) return sat_mul(n, bits / 8);
  return bits == 0 ? 0 : n / 8 * bits + (n % 8 * bits + 7) / 8;
}

void ops_set_precision(ops_tensor *t, situ_dtype precision) {
  int from = situ_dtype_bits(t->dtype), to = situ_dtype_bits(precision);
  if (to == 0 || t->dtype < SITU_DTYPE_F64 || t->dtype > SITU_DTYPE_F8) return;
  if (t->reals && ops_elements(t, NULL) <= 16) return; /* scales of a Resize, ends of a Range: shapes depend on them */
  t->dtype = precision;
  t->stored_bytes = sat_add(sat_mul(t->stored_bytes / from, to), (t->stored_bytes % from * to + from - 1) / from);
}

bool ops_hold(ops_tensor *made, const ops_tensor *const *sources, int32_t n_sources) {
  int64_t elements = 0, bytes = 0;
  for (int32_t i = 0; i < n_sources; i++) {
    if (!sources[i]) continue;
    elements = sat_add(elements, ops_elements(sources[i], NULL));
    bytes = sat_add(bytes, ops_bytes(sources[i], NULL));
  }
  made->stored_bytes = 0;
  if (ops_elements(made, NULL) > elements) return false;
  if (bytes < ops_bytes(made, NULL)) made->stored_bytes = bytes;
  return true;
}

const ops_attr *ops_find_attr(const ops_node *node, const char *name) {
  for (int32_t i = 0; i < node->n_attrs; i++)
    if (node->attrs[i].name && strcmp(node->attrs[i].name, name) == 0) return &node->attrs[i];
  return NULL;
}

int64_t ops_attr_int(const ops_node *node, const char *name, int64_t default_value) {
  const ops_attr *attr = ops_find_attr(node, name);
  return attr && attr->type == OPS_INT ? attr->i : default_value;
}

double ops_attr_float(const ops_node *node, const char *name, double default_value) {
  const ops_attr *attr = ops_find_attr(node, name);
  return attr && attr->type == OPS_FLOAT ? attr->f : default_value;
}

const char *ops_attr_string(const ops_node *node, const char *name, const char *default_value) {
  const ops_attr *attr = ops_find_attr(node, name);
  return attr && attr->type == OPS_STRING && attr->s ? attr->s : default_value;
}

const int64_t *ops_attr_ints(const ops_node *node, const char *name, int64_t *n) {
  const ops_attr *attr = ops_find_attr(node, name);
  bool good = attr && attr->type == OPS_INTS && attr->n >= 0;
  *n = good ? attr->n : 0;
  static const int64_t none[1] = {0};
  return !good ? NULL : attr->ints ? attr->ints : (*n = 0, none);
}

situ_dtype ops_onnx_dtype(int64_t number) {
  static const uint8_t types[] = {
      SITU_DTYPE_UNKNOWN, SITU_DTYPE_F32,  SITU_DTYPE_U8,  SITU_DTYPE_I8,     SITU_DTYPE_U16,
      SITU_DTYPE_I16,     SITU_DTYPE_I32,  SITU_DTYPE_I64, SITU_DTYPE_STRING, SITU_DTYPE_BOOL,
      SITU_DTYPE_F16,     SITU_DTYPE_F64,  SITU_DTYPE_U32, SITU_DTYPE_U64,    SITU_DTYPE_C64,
      SITU_DTYPE_C128,    SITU_DTYPE_BF16, SITU_DTYPE_F8,  SITU_DTYPE_F8,     SITU_DTYPE_F8,
      SITU_DTYPE_F8,      SITU_DTYPE_I4,   SITU_DTYPE_I4,  SITU_DTYPE_I4,     SITU_DTYPE_F8};
  return number >= 0 && number < (int64_t)sizeof types ? (situ_dtype)types[number] : SITU_DTYPE_UNKNOWN;
}
