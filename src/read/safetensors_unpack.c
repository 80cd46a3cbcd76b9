/* The shapes of packed weights: by their companions, by config.json, or assumed with a note. */
#include "read/safetensors_unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "read/lm_operators.h"
#include "read/quantisers.h"

/* Types of whole numbers: a weight of them that is in no row is in a packing that is not known. */
static const char packed_types[] = " U8 I8 U16 I16 U32 I32 ";

enum { MAX_NAME = 512 };

typedef struct unpacking {
  const stored_tensors *stored;
  const char *where;
  text_buffer *notes;
  situ_error *error;
  const quantiser *row;
  const stored_type *type;
  lm_tensor *t;
  const lm_tensor *mark;
  char base[MAX_NAME];           /* the name without the end */
  int32_t expected_rank;         /* by the configuration; 0: unknown */
  int64_t expected[LM_MAX_RANK]; /* the same */
  bool noted;                    /* that bits were assumed */
} unpacking;

static bool is_listed(const char *list, const char *word) {
  char padded[64];
  int n = snprintf(padded, sizeof padded, " %s ", word);
  return n > 0 && (size_t)n < sizeof padded && strstr(list, padded);
}

static const lm_tensor *companion_of(const unpacking *u, const char *end) {
  char name[MAX_NAME + 64];
  int n = snprintf(name, sizeof name, "%s%s", u->base, end);
  int64_t at = n > 0 && (size_t)n < sizeof name ? string_map_get(u->stored->by_name, name) : -1;
  return at >= 0 ? &u->stored->model->tensors[at] : NULL;
}

static int64_t columns(const lm_tensor *t) { return t->rank > 0 ? t->dims[t->rank - 1] : 1; }
static int64_t matrix_rows(const lm_tensor *t) { return t->rank > 1 ? t->dims[t->rank - 2] : 1; }
static int64_t elements_of(const lm_tensor *t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t->rank; i++) n = sat_mul(n, t->dims[i]);
  return n;
}

/* The values in n elements; 0 where that is no whole number. */
static int64_t values_in(const unpacking *u, int64_t n, int64_t bits) {
  if (bits < 1 || bits > u->type->bits) return 0;
  if (u->row->whole) return sat_mul(n, u->type->bits / bits);
  int64_t all = sat_mul(n, u->type->bits);
  return all % bits == 0 ? all / bits : 0;
}

static bool fits(const unpacking *u, const quantiser *q) {
  int64_t word = u->type->bits / (q->bits > 0 ? q->bits : 4);
  switch (q->relation) {
    case QUANTISER_SAME_ROWS: return matrix_rows(u->mark) == matrix_rows(u->t);
    case QUANTISER_SAME_COLUMNS: return columns(u->mark) == columns(u->t);
    case QUANTISER_COLUMNS_PACKED:
      return columns(u->mark) % max64(columns(u->t), 1) == 0 &&
             columns(u->mark) / max64(columns(u->t), 1) >= word / 2 && columns(u->mark) > columns(u->t);
    case QUANTISER_ROWS_PACKED: return matrix_rows(u->mark) == sat_mul(matrix_rows(u->t), word);
    case QUANTISER_ONE_NUMBER: return elements_of(u->mark) == 1;
    default: return true;
  }
}

/* The row of a weight, with its companion; false where there is none. */
static bool find_row(unpacking *u) {
  for (const quantiser *q = quantisers; q->name; q++) {
    size_t n = strlen(u->t->name) - strlen(q->weight);
    if (!quantisers_ends(u->t->name, q->weight) || !is_listed(q->types, u->type->name) || n >= sizeof u->base) continue;
    memcpy(u->base, u->t->name, n);
    u->base[n] = '\0';
    u->mark = companion_of(u, q->mark);
    u->row = q;
    if (u->mark && fits(u, q)) return true;
  }
  return false;
}

/* ---- bits of a value ---- */

/* Whether values of so many bits, in groups of so many, fit companion and configuration. */
static bool agrees(const unpacking *u, int64_t bits, int64_t group) {
  int64_t last = columns(u->t), out = u->expected_rank > 1 ? u->expected[u->expected_rank - 2] : 0;
  int64_t in = u->expected_rank > 1 ? u->expected[u->expected_rank - 1] : 0;
  if (u->row->packing == QUANTISER_FLAT) {
    int64_t n = values_in(u, elements_of(u->t), bits), wanted = sat_mul(out, in);
    return n > 0 && (wanted == 0 || (n >= wanted && n - wanted <= wanted / 8));
  }
  if (u->row->packing != QUANTISER_IN_COLUMNS || u->row->turned) return values_in(u, 1, bits) > 0 || !u->row->whole;
  int64_t values = values_in(u, last, bits), groups = columns(u->mark);
  if (values == 0) return false;
  if (groups > 1 && group > 0) return sat_mul(groups, group) == values;
  return in == 0 || in == values;
}

/* What a part of the configuration says. */
static bool says(const json_value *part, int64_t *bits, int64_t *group) {
  int64_t b =
      json_int(json_get(part, "bits"), json_int(json_get(part, "num_bits"), json_int(json_get(part, "nbits"), 0)));
  if (b < 1 || b > 32) return false;
  *bits = b;
  *group = json_int(json_get(part, "group_size"), 0);
  return true;
}

/* The bits by the configuration: of this weight, of all, or of the first set of weights; of those that `agree`, or of
 * any. */
static int64_t bits_by_config(const unpacking *u, bool agree) {
  const json_value *q = u->stored->config ? u->stored->config->quantization : NULL;
  const json_value *hqq = json_get(json_get(q, "quant_config"), "weight_quant_params");
  const json_value *candidates[] = {json_get(q, u->base), q, hqq, json_get(q, "weight_quant_params")};
  int64_t bits, group;
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
    if (says(candidates[i], &bits, &group) && (!agree || agrees(u, bits, group))) return bits;
  json_member m = {0};
  while (json_next(json_get(q, "config_groups"), &m))
    if (says(json_get(m.value, "weights"), &bits, &group) && (!agree || agrees(u, bits, group))) return bits;
  return 0;
}

/* Zero points are packed as the values are, scales are not. */
static int64_t bits_by_zero_points(const unpacking *u) {
  const lm_tensor *zeros = companion_of(u, ".qzeros");
  if (!zeros || u->row->packing == QUANTISER_FLAT || columns(u->mark) == 0) return 0;
  int64_t all = sat_mul(columns(zeros), u->type->bits);
  return all % columns(u->mark) == 0 ? all / columns(u->mark) : 0;
}

/* The bits that every shape agrees to, tried in the order of how common they are. */
static int64_t bits_by_shapes(const unpacking *u) {
  static const int64_t usual[] = {4, 8, 6, 5, 3, 2, 1}, groups[] = {64, 32, 128, 16};
  bool known = u->expected_rank > 1;
  for (size_t k = 0; k < (known ? 1 : sizeof groups / sizeof *groups); k++)
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
      if (agrees(u, usual[i], groups[k])) return usual[i];
  return 0;
}

static int64_t bits_of(unpacking *u) {
  if (u->row->bits > 0) return u->row->bits;
  int64_t bits = bits_by_zero_points(u);
  if (bits == 0) bits = bits_by_config(u, true);
  if (bits == 0 && u->expected_rank > 1) bits = bits_by_shapes(u);
  if (bits == 0) bits = bits_by_config(u, false);
  if (bits > 0) return bits;
  bits = bits_by_shapes(u);
  if (bits > 0 && !u->noted)
    text_add(u->notes, "%s: the bits of packed weights are not stated; %" PRId64 " are assumed\n", u->t->name, bits);
  u->noted |= bits > 0;
  return bits;
}

/* ---- shapes ---- */

static void turn(lm_tensor *t) {
  int64_t last = columns(t);
  t->dims[t->rank - 1] = matrix_rows(t);
  t->dims[t->rank - 2] = last;
}

/* The shape of values that lie one after another: by the configuration, or with the width of the model on one side. */
static void shape_flat(const unpacking *u, int64_t values) {
  lm_tensor *t = u->t;
  int64_t wanted = u->expected_rank > 1 ? sat_mul(u->expected[0], u->expected[1]) : 0;
  int64_t width = max64(u->stored->model->n_embd, 1);
  t->rank = 2;
  if (u->expected_rank == 2 && wanted <= values) {
    memcpy(t->dims, u->expected, sizeof t->dims);
    return;
  }
  if (values % width != 0) width = 1;
  bool back = lm_has_word(u->base, " o_proj out_proj down_proj w2 fc2 wo dense_4h_to_h ");
  t->dims[0] = back ? width : values / width;
  t->dims[1] = back ? values / width : width;
}

static situ_status refuse(const unpacking *u) {
  const json_value *q = u->stored->config ? u->stored->config->quantization : NULL;
  const char *method = json_text(json_get(q, "quant_method"), NULL);
  return fail_with(u->error, SITU_STATUS_UNSUPPORTED, u->where,
                   "has weights in a packing that is not known%s%.40s: %.120s is %s [%" PRId64 ", ...%" PRId64
                   "]; expected one of MLX, GPTQ, AWQ, bitsandbytes, HQQ, compressed-tensors, modelopt, torchao, FP8, "
                   "MXFP4",
                   method ? ", of " : "", method ? method : "", u->t->name, u->type->name, u->t->dims[0],
                   columns(u->t));
}

static situ_status unpack(unpacking *u) {
  lm_tensor *t = u->t;
  int64_t bits = bits_of(u);
  t->packed = true;
  if (u->row->packing == QUANTISER_FLAT) {
    int64_t values = values_in(u, elements_of(t), bits);
    if (values == 0) return refuse(u);
    shape_flat(u, values);
    return SITU_STATUS_OK;
  }
  if (u->row->packing == QUANTISER_IN_BLOCKS) {
    if (t->rank < 3) return refuse(u);
    t->dims[t->rank - 2] = sat_mul(t->dims[t->rank - 2], values_in(u, columns(t), bits));
    t->rank--;
    return SITU_STATUS_OK;
  }
  if (t->rank < 2) return refuse(u);
  if (u->row->packing != QUANTISER_NOWHERE) {
    int32_t packed = u->row->packing == QUANTISER_IN_COLUMNS ? t->rank - 1 : t->rank - 2;
    int64_t values = values_in(u, t->dims[packed], bits);
    if (values == 0 && t->dims[packed] > 0) return refuse(u);
    t->dims[packed] = values;
  }
  if (u->row->turned) turn(t);
  return SITU_STATUS_OK;
}

/* The shape by the configuration, of the weight that these tensors are. */
static void expect(unpacking *u) {
  char name[MAX_NAME + 16];
  snprintf(name, sizeof name, "%s.weight", u->base);
  u->expected_rank = 0;
  memset(u->expected, 0, sizeof u->expected);
  if (u->stored->config && !hf_config_shape(&u->expected_rank, u->expected, u->stored->config, name))
    u->expected_rank = 0;
}

/* Whole numbers that nobody takes for a weight: positions, masks. */
static bool is_weight(const unpacking *u) {
  char name[MAX_NAME];
  bool companion;
  if (u->t->rank < 2 || strlen(u->t->name) >= sizeof name) return false;
  snprintf(name, sizeof name, "%s", u->t->name);
  if (quantisers_cut(name, &companion) && companion) return false;
  return !lm_has_word(name, " position_ids relative_position_index token_type_ids masked_bias attention_mask tid2eid ");
}

situ_status safetensors_unpack(const stored_tensors *stored, const char *where, text_buffer *notes, situ_error *error) {
  unpacking u = {.stored = stored, .where = where, .notes = notes, .error = error};
  for (int32_t i = 0; i < stored->model->n_tensors; i++) {
    u.t = &stored->model->tensors[i];
    u.type = stored->types[i];
    if (!u.type || lm_is_of_another_input(u.t->name)) continue;
    if (find_row(&u)) {
      expect(&u);
      TRY(unpack(&u));
    } else if (is_listed(packed_types, u.type->name) && is_weight(&u)) {
      return refuse(&u);
    }
  }
  return SITU_STATUS_OK;
}
