#include "nn/tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/contracts.h"

enum { FIRST_BLOCK_BYTES = 1 << 20, ALIGNMENT = 64, MAX_BLOCKS = 64 };

typedef struct record {
  int32_t rows, cols;
  nn_real *value, *grad;
  bool wanted, leaf; /* some leaf is below it; it is one */
  int32_t n_inputs;
  nn_var input[NN_MAX_INPUTS];
  tape_backward_fn *backward;
  const void *extra;
} record;

static const size_t max_block_bytes = (size_t)1 << 40;

struct tape {
  void *made[MAX_BLOCKS];           /* by malloc, and in it, aligned: */
  unsigned char *block[MAX_BLOCKS]; /* each twice as large as the one before */
  size_t block_bytes[MAX_BLOCKS], used;
  int n_blocks, current;
  record *records;
  int32_t n_records, room;
  bool failed;
};

tape *tape_new(void) { return calloc(1, sizeof(tape)); }

void tape_free(tape *t) {
  if (!t) return;
  for (int i = 0; i < t->n_blocks; i++) free(t->made[i]);
  free(t->records);
  free(t);
}

void tape_reset(tape *t) {
  t->current = 0;
  t->used = 0;
  t->n_records = 0;
  t->failed = false;
}

size_t tape_held_bytes(const tape *t) {
  size_t held = (size_t)t->room * sizeof *t->records;
  for (int i = 0; i < t->n_blocks; i++) held += t->block_bytes[i];
  return held;
}

/* A block of at least `bytes` after the last one. */
static bool add_block(tape *t, size_t bytes) {
  if (t->n_blocks == MAX_BLOCKS) return false;
  size_t size = t->n_blocks > 0 ? 2 * t->block_bytes[t->n_blocks - 1] : FIRST_BLOCK_BYTES;
  while (size < bytes) {
    if (size > max_block_bytes / 2) return false;
    size *= 2;
  }
  unsigned char *made = malloc(size + ALIGNMENT);
  if (!made) return false;
  t->made[t->n_blocks] = made;
  t->block[t->n_blocks] = made + (ALIGNMENT - (uintptr_t)made % ALIGNMENT);
  t->block_bytes[t->n_blocks++] = size;
  return true;
}

void *tape_alloc(tape *t, int64_t count, size_t size) {
  if (count < 0 || (size > 0 && (uint64_t)count > (SIZE_MAX / 2 - ALIGNMENT) / size)) {
    t->failed = true;
    return NULL;
  }
  size_t bytes = ((size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (bytes == 0) bytes = ALIGNMENT;
  while (t->current < t->n_blocks && t->used + bytes > t->block_bytes[t->current]) {
    t->current++;
    t->used = 0;
  }
  if (t->current == t->n_blocks && !add_block(t, bytes)) {
    t->failed = true;
    return NULL;
  }
  void *at = t->block[t->current] + t->used;
  t->used += bytes;
  return at;
}

static bool tape_all(const nn_var *inputs, int32_t n_inputs) {
  for (int32_t i = 0; i < n_inputs; i++)
    if (inputs[i] == NN_NONE) return false;
  return true;
}

static record *add_record(tape *t, int32_t rows, int32_t cols) {
  if (t->n_records == t->room) {
    int32_t room = t->room > 0 ? 2 * t->room : 256;
    record *more = t->room <= INT32_MAX / 2 ? realloc(t->records, (size_t)room * sizeof *more) : NULL;
    if (!more) {
      t->failed = true;
      return NULL;
    }
    t->records = more;
    t->room = room;
  }
  record *r = &t->records[t->n_records++];
  *r = (record){.rows = rows, .cols = cols};
  return r;
}

nn_var tape_record(tape *t, int32_t rows, int32_t cols, const nn_var *inputs, int32_t n_inputs,
                   tape_backward_fn *backward, const void *extra) {
  if (!tape_all(inputs, n_inputs)) return NN_NONE;
  nn_real *value = TAPE_NEW(t, nn_real, (int64_t)rows * cols);
  record *r = value ? add_record(t, rows, cols) : NULL;
  if (!r) return NN_NONE;
  r->value = value;
  r->backward = backward;
  r->extra = extra;
  r->n_inputs = n_inputs;
  for (int32_t i = 0; i < n_inputs; i++) {
    r->input[i] = inputs[i];
    r->wanted |= t->records[inputs[i]].wanted;
  }
  return t->n_records - 1;
}

nn_var tape_leaf(tape *t, int32_t rows, int32_t cols, const nn_real *values, nn_real *grad) {
  record *r = add_record(t, rows, cols);
  if (!r) return NN_NONE;
  r->value = (nn_real *)(uintptr_t)values; /* the value of a leaf is never written */
  r->grad = grad;
  r->leaf = true;
  r->wanted = grad != NULL;
  return t->n_records - 1;
}

nn_var tape_constant(tape *t, int32_t rows, int32_t cols, const nn_real *values) {
  return tape_leaf(t, rows, cols, values, NULL);
}

static nn_matrix view(const record *r) { return (nn_matrix){r->rows, r->cols, r->value, r->grad}; }

nn_matrix tape_at(const tape *t, nn_var v) { return v == NN_NONE ? (nn_matrix){0} : view(&t->records[v]); }

nn_real tape_number(const tape *t, nn_var v) {
  REQUIRE(v == NN_NONE || (t->records[v].rows == 1 && t->records[v].cols == 1));
  return v == NN_NONE ? 0 : t->records[v].value[0];
}

/* Room for the gradients of all that lies between the leaves and the loss, all 0. */
static bool clear_gradients(tape *t, nn_var loss) {
  for (nn_var v = 0; v <= loss; v++) {
    record *r = &t->records[v];
    if (r->leaf || !r->wanted) continue;
    int64_t n = (int64_t)r->rows * r->cols;
    r->grad = TAPE_NEW(t, nn_real, n);
    if (!r->grad) return false;
    memset(r->grad, 0, (size_t)n * sizeof *r->grad);
  }
  return true;
}

bool tape_backward(tape *t, nn_var loss) {
  REQUIRE(loss == NN_NONE || (t->records[loss].rows == 1 && t->records[loss].cols == 1));
  if (t->failed || loss == NN_NONE || !clear_gradients(t, loss)) return false;
  if (!t->records[loss].wanted) return true;
  t->records[loss].grad[0] = 1;
  for (nn_var v = loss; v >= 0; v--) {
    const record *r = &t->records[v];
    if (r->leaf || !r->wanted) continue;
    nn_matrix in[NN_MAX_INPUTS];
    for (int32_t i = 0; i < r->n_inputs; i++) in[i] = view(&t->records[r->input[i]]);
    r->backward(t, view(r), in, r->extra);
  }
  return !t->failed;
}
