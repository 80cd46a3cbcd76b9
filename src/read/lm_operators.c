#include "read/lm_operators.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"

bool lm_is_of_another_input(const char *name) {
  static const char *const begins[] = {"v.",
                                       "mm.",
                                       "a.",
                                       "vision",
                                       "visual",
                                       "audio",
                                       "multi_modal",
                                       "model.vision",
                                       "model.visual",
                                       "model.audio",
                                       "model.multi_modal",
                                       "mtp.",
                                       "mlp1.",
                                       "image_newline",
                                       "model.image_newline",
                                       "connector",
                                       "model.connector",
                                       "aligner",
                                       "mm_projector",
                                       "model.mm_projector",
                                       "model.mtp", /* further tokens */
                                       "embed_vision",
                                       "embed_audio",
                                       "model.embed_vision",
                                       "model.embed_audio",
                                       "model.embed_tokens_extend"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(name, begins[i], strlen(begins[i])) == 0) return true;
  return false;
}

typedef struct folding {
  const lm *model;
  arena *a;
  lm_operators *o;
  string_map *by_name;
  lm_place *place;   /* [tensor] */
  const char *stack; /* that is wanted */
  bool encoder;
} folding;

/* The stack with the most tensors is the trunk. */
static const char *main_stack(const folding *f) {
  string_map *seen = string_map_new(f->a, 8);
  const char *best = "";
  int64_t max = 0;
  for (int32_t i = 0; seen && i < f->model->n_tensors; i++) {
    if (f->place[i].block < 0 || lm_is_of_another_input(f->model->tensors[i].name)) continue;
    int64_t n = string_map_get(seen, f->place[i].stack) + 1;
    string_map_set(seen, f->place[i].stack, n < 1 ? 1 : n);
    if (n > max || max == 0) {
      max = n < 1 ? 1 : n;
      best = f->place[i].stack;
    }
  }
  return best;
}

/* Whether a tensor belongs to the other one of encoder and decoder: by its stack, or where its name begins. */
static bool is_of_other(const folding *f, const lm_tensor *t, const lm_place *p) {
  const char *encoder = f->model->encoder;
  if (!encoder) return false;
  if (p->block >= 0) return strcmp(p->stack, f->encoder ? f->model->decoder : encoder) == 0;
  size_t n = strlen(encoder);
  while (n > 0 && encoder[n - 1] != '.') n--; /* "model.encoder." of "model.encoder.layers" */
  return (strncmp(t->name, encoder, n) == 0) != f->encoder;
}

static int64_t elements_of(const lm_tensor *t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t->rank; i++) n = sat_mul(n, t->dims[i]);
  return n;
}

/* Takes shape and role of an operator from the tensor that is its weight. */
static void set_shape(const folding *f, lm_operator *op, const lm_tensor *t, const lm_place *p) {
  int64_t n_embd = f->model->n_embd;
  op->group = lm_group_of(p->within);
  bool bank = t->rank == 3 && op->group == LM_DENSE && f->model->experts > 1 && t->dims[0] == f->model->experts;
  if (bank) op->group = LM_ROUTED;
  bool stacked = t->rank == 3 && op->group == LM_ROUTED;
  op->elements = elements_of(t);
  op->weight = t;
  op->dtype = t->dtype;
  op->in = t->rank >= 2 ? t->dims[t->rank - 1] : 0;
  op->out = t->rank >= 2 ? t->dims[t->rank - 2] : 0;
  if (stacked) op->experts = max64(t->dims[0], 1);
  if (t->rank == 3 && !stacked) op->out = sat_mul(op->out, t->dims[0]);
  op->role = lm_role_of(p->within, t->rank, op->in == n_embd, op->out == n_embd);
}

static situ_status fold(folding *f, int32_t i, situ_error *error) {
  const lm_tensor *t = &f->model->tensors[i];
  const lm_place *p = &f->place[i];
  lm_operators *o = f->o;
  if (is_of_other(f, t, p)) return SITU_STATUS_OK;
  bool elsewhere = p->block >= 0 && strcmp(p->stack, f->stack) != 0;
  if (elsewhere || lm_is_of_another_input(t->name)) {
    o->skipped_bytes = sat_add(o->skipped_bytes, t->bytes);
    return SITU_STATUS_OK;
  }
  if (p->block >= o->n_blocks) {
    o->beyond_bytes = sat_add(o->beyond_bytes, t->bytes);
    if (p->block - o->n_blocks >= o->n_beyond) o->n_beyond = p->block - o->n_blocks + 1;
    return SITU_STATUS_OK;
  }
  int64_t at = string_map_put(f->by_name, p->op, o->n);
  if (at < 0) return fail_no_memory(error);
  lm_operator *op = &o->all[at];
  if (at == o->n) {
    *op = (lm_operator){.name = p->op, .within = p->within, .block = p->block, .experts = 1, .role = LM_SMALL};
    op->group = lm_group_of(p->within);
    o->n++;
  }
  op->bytes = sat_add(op->bytes, t->bytes);
  if (p->part) return SITU_STATUS_OK;
  if (op->elements == 0)
    set_shape(f, op, t, p);
  else if (p->expert >= 0) {
    op->elements = sat_add(op->elements, elements_of(t));
    op->experts++;
  } else {
    op->elements = sat_add(op->elements, elements_of(t));
  }
  return SITU_STATUS_OK;
}

/* Sorts operators by block, those outside first, and finds where each block starts. */
static situ_status sort(lm_operators *o, arena *a, situ_error *error) {
  lm_operator *sorted;
  if (!ARENA_ARRAYS(a, ARRAY(sorted, o->n), ZEROS(o->start, (int64_t)o->n_blocks + 2))) return fail_no_memory(error);
  int32_t *next = o->start; /* [block + 1], those outside being block -1 */
  for (int32_t i = 0; i < o->n; i++) next[o->all[i].block + 1]++;
  for (int32_t b = 0, sum = 0; b <= o->n_blocks; b++) {
    int32_t n = next[b];
    next[b] = sum;
    sum += n;
  }
  for (int32_t i = 0; i < o->n; i++) sorted[next[o->all[i].block + 1]++] = o->all[i];
  /* next[b] is now the end of block b - 1, which is the start of block b */
  o->all = sorted;
  return SITU_STATUS_OK;
}

/* A router is of the part that has the experts, whatever module both are below (mixer.gate, mixer.experts). */
static void move_routers(lm_operators *o) {
  for (int32_t b = 0; b < o->n_blocks; b++) {
    bool routes = false;
    for (int32_t i = o->start[b]; i < o->start[b + 1]; i++) routes |= o->all[i].group == LM_ROUTED;
    for (int32_t i = o->start[b]; routes && i < o->start[b + 1]; i++)
      if (o->all[i].role == LM_ROUTER && o->all[i].group == LM_ATTENTION) o->all[i].group = LM_DENSE;
  }
}

situ_status lm_operators_find(lm_operators *out, const lm *model, bool encoder, arena *a, situ_error *error) {
  int32_t n_blocks = encoder ? model->n_encoder_blocks : model->n_blocks;
  *out = (lm_operators){0};
  folding f = {.model = model, .a = a, .o = out, .encoder = encoder, .by_name = string_map_new(a, model->n_tensors)};
  if (model->n_tensors == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, model->model, "holds no weights; expected at least one tensor");
  f.place = ARENA_NEW(a, lm_place, model->n_tensors);
  out->all = ARENA_NEW(a, lm_operator, model->n_tensors);
  if (!f.by_name || !f.place || !out->all) return fail_no_memory(error);
  for (int32_t i = 0; i < model->n_tensors; i++)
    if (!lm_find_place(&f.place[i], model->tensors[i].name, a)) return fail_no_memory(error);
  f.stack = out->stack = !model->encoder ? main_stack(&f) : encoder ? model->encoder : model->decoder;
  out->n_blocks = n_blocks;
  for (int32_t i = 0; n_blocks == 0 && i < model->n_tensors; i++)
    if (f.place[i].block >= out->n_blocks && strcmp(f.place[i].stack, f.stack) == 0)
      out->n_blocks = f.place[i].block + 1;
  for (int32_t i = 0; i < model->n_tensors; i++) TRY(fold(&f, i, error));
  if (out->n == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, model->model, "holds no weights of a network for text");
  TRY(sort(out, a, error));
  move_routers(out);
  return SITU_STATUS_OK;
}

double lm_distinct_experts(double experts, double used, double tokens) {
  return used >= experts ? experts : experts * (1 - pow(1 - used / experts, tokens));
}
