/* Sources of the rows: mlx.core.quantize, AutoGPTQ and GPTQModel, AutoAWQ, bitsandbytes, hqq, compressed-tensors,
 * modelopt, torchao (safetensors_support.py), transformers; docs/formats/language-models.md. */
#include "read/quantisers.h"

#include <string.h>

static const char bitsandbytes_state[] =
    " .weight.quant_map .weight.nested_absmax .weight.nested_quant_map .weight.quant_state.bitsandbytes__nf4 "
    ".weight.quant_state.bitsandbytes__fp4 ";
static const char hqq_state[] =
    " .zero .nbits .group_size .shape .axis .packing .unpack_view_dtype .view_as_float .quant_scale .quant_zero "
    ".compute_dtype .channel_wise .optimize .round_zero .stores_quant_config .encoded_state_dict .offload_meta "
    ".zero_scale .scale_q .scale_zero ";
static const char torchao_state[] =
    " ._weight_zero_point ._weight_act_pre_scale ._weight_per_tensor_scale ._weight_act_per_tensor_scale ";

const quantiser quantisers[] = {
    {"MLX", ".weight", " U32 ", ".scales", " .biases ", QUANTISER_SAME_ROWS, QUANTISER_IN_COLUMNS, 0, false, false},
    {"GPTQ", ".qweight", " I32 ", ".scales", " .qzeros .g_idx ", QUANTISER_SAME_COLUMNS, QUANTISER_IN_ROWS, 0, true,
     false},
    {"AWQ", ".qweight", " I32 ", ".scales", " .qzeros ", QUANTISER_COLUMNS_PACKED, QUANTISER_IN_COLUMNS, 0, true, true},
    {"AWQ (gemv)", ".qweight", " I32 ", ".scales", " .qzeros ", QUANTISER_SAME_ROWS, QUANTISER_IN_COLUMNS, 0, false,
     true},
    {"AWQ (gemv_fast)", ".qweight", " I16 ", ".scales", " .qzeros ", QUANTISER_ANY, QUANTISER_IN_ROWS, 4, false, true},
    {"bitsandbytes 4-bit", ".weight", " U8 BF16 F16 F32 ", ".weight.absmax", bitsandbytes_state, QUANTISER_ANY,
     QUANTISER_FLAT, 4, false, true},
    {"bitsandbytes int8", ".weight", " I8 ", ".SCB", " .weight_format ", QUANTISER_ANY, QUANTISER_NOWHERE, 8, false,
     true},
    {"HQQ", ".W_q", " U8 I32 BF16 F16 F32 ", ".scale", hqq_state, QUANTISER_ANY, QUANTISER_FLAT, 0, false, true},
    {"compressed-tensors int", ".weight_packed", " I32 ", ".weight_scale",
     " .weight_shape .weight_zero_point .weight_g_idx ", QUANTISER_ANY, QUANTISER_IN_COLUMNS, 0, false, true},
    {"compressed-tensors fp4", ".weight_packed", " U8 ", ".weight_scale", " .weight_global_scale .input_global_scale ",
     QUANTISER_SAME_ROWS, QUANTISER_IN_COLUMNS, 4, false, true},
    {"4-bit floats", ".weight", " U8 ", ".weight_scale", " .weight_scale_2 .input_scale ", QUANTISER_SAME_ROWS,
     QUANTISER_IN_COLUMNS, 4, false, true},
    {"modelopt int4", ".weight", " U8 ", ".weight_scale", " .weight_scale_2 .pre_quant_scale ", QUANTISER_ROWS_PACKED,
     QUANTISER_IN_ROWS, 4, false, true},
    {"BitNet", ".weight", " U8 ", ".weight_scale", "", QUANTISER_ONE_NUMBER, QUANTISER_IN_ROWS, 2, false, true},
    {"int8", ".weight", " I8 ", ".weight_scale", " .weight_zero_point .input_scale .input_zero_point .output_scale ",
     QUANTISER_ANY, QUANTISER_NOWHERE, 8, false, true},
    {"EETQ", ".weight", " I8 ", ".weight_scales", "", QUANTISER_ANY, QUANTISER_NOWHERE, 8, true, true},
    {"quanto 8-bit", ".weight._data", " I8 F8_E4M3 F8_E5M2 ", ".weight._scale", "", QUANTISER_ANY, QUANTISER_NOWHERE, 8,
     false, true},
    {"quanto in few bits", ".weight._data._data", " U8 ", ".weight._scale", " .weight._shift ", QUANTISER_ANY,
     QUANTISER_FLAT, 0, false, true},
    {"MXFP4 of gpt-oss", "_blocks", " U8 ", "_scales", " _bias ", QUANTISER_ANY, QUANTISER_IN_BLOCKS, 4, false, true},
    {"torchao int4 in tiles", "._weight_qdata", " I32 ", "._weight_scale_and_zero", "", QUANTISER_ANY, QUANTISER_FLAT,
     4, false, true},
    {"torchao 4-bit", "._weight_qdata", " U8 I32 ", "._weight_scale", torchao_state, QUANTISER_ANY,
     QUANTISER_IN_COLUMNS, 4, false, true},
    {"torchao 8-bit", "._weight_qdata", " I8 F8_E4M3 F8_E5M2 ", "._weight_scale", "", QUANTISER_ANY, QUANTISER_NOWHERE,
     8, false, true},
    {.name = NULL}};

/* Companions of weights that are not packed. */
static const char *const plain[] = {
    ".weight", ".bias", ".scale", ".weight_scale_inv", "_scale_inv", "_bias", ".e_score_correction_bias"};

/* Of a name of n bytes. */
static size_t end_length(const char *name, size_t n, const char *end, size_t n_end) {
  bool last = n > n_end && n_end > 0 && name[n - 1] == end[n_end - 1];
  return last && memcmp(name + n - n_end, end, n_end) == 0 ? n_end : 0;
}

bool quantisers_ends(const char *name, const char *end) { return end_length(name, strlen(name), end, strlen(end)) > 0; }

/* Keeps the longer of the ends. */
static void take_end(size_t n, bool is_companion, size_t *longest, bool *companion) {
  if (n <= *longest) return;
  *longest = n;
  *companion = is_companion;
}

bool quantisers_cut(char *name, bool *companion) {
  size_t longest = 0, length = strlen(name);
  *companion = false;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    take_end(end_length(name, length, plain[i], strlen(plain[i])), i > 0, &longest, companion);
  for (const quantiser *q = quantisers; q->name; q++) {
    take_end(end_length(name, length, q->weight, strlen(q->weight)), false, &longest, companion);
    take_end(end_length(name, length, q->mark, strlen(q->mark)), true, &longest, companion);
    for (const char *at = q->others; *at;) {
      size_t blanks = strspn(at, " "), n = strcspn(at + blanks, " ");
      if (n > 0) take_end(end_length(name, length, at + blanks, n), true, &longest, companion);
      at += blanks + n;
    }
  }
  if (longest > 0) name[length - longest] = '\0';
  return longest > 0;
}
