/* Parts for IREE: ONNX models, and a function that calls them in sequence and moves tensors between devices with
 * flow.tensor.transfer. Affinities of operations do not survive IREE's import, but transfers do: operations between two
 * transfers run on the device of their inputs. docs/run-your-plan.md */
#include <string.h>

#include "base/ascii.h"
#include "base/fail.h"
#include "split/onnx_file.h"
#include "split/plan_parts.h"
#include "write/writer.h"

typedef struct calling {
  text_buffer *out;
  const model_parts *parts;
  const situ_platform *platform;
  bool *is_there; /* [device * n_values + value] it was moved there */
  situ_error *error;
} calling;

/* How IREE calls a kind of devices; NULL: it has no such target. */
static const char *target_word(const situ_device *d) {
  switch (d->family) {
    case SITU_FAMILY_CPU:
    case SITU_FAMILY_CPU_AVX512:
    case SITU_FAMILY_CPU_AMX: return "local";
    case SITU_FAMILY_GPU_AMD: return "hip";
    case SITU_FAMILY_GPU_APPLE: return "metal";
    case SITU_FAMILY_GPU_INTEL:
    case SITU_FAMILY_GPU_INTEGRATED: return "vulkan";
    case SITU_FAMILY_NPU: return NULL;
    case SITU_FAMILY_NONE: return d->is_host ? "local" : "cuda";
    default: return "cuda";
  }
}

/* The name of a device as a symbol: its own where it is one. */
static void add_symbol(text_buffer *out, const situ_platform *p, int32_t device) {
  const char *name = p->devices[device].name;
  bool plain = ascii_is_letter(*name);
  for (const char *c = name; *c; c++) plain = plain && (ascii_is_alnum(*c) || *c == '_');
  if (plain)
    text_add(out, "%s", name);
  else
    text_add(out, "device_%d", (int)device);
}

static situ_status add_flags(text_buffer *out, const model_parts *parts, const situ_platform *p, situ_error *error) {
  for (int32_t d = 0; d < p->n_devices; d++) {
    const char *word = target_word(&p->devices[d]);
    int32_t before = 0;
    bool used = false;
    for (int32_t k = 0; k < parts->n_parts; k++) used |= parts->parts[k].device == d;
    if (!used) continue;
    if (!word)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->devices[d].name, "is of a kind that IREE does not have");
    for (int32_t i = 0; i < d; i++) {
      const char *other = target_word(&p->devices[i]);
      before += other && strcmp(other, word) == 0;
    }
    text_add(out, "--iree-hal-target-device=");
    add_symbol(out, p, d);
    text_add(out, "=%s[%d]\n", word, (int)before);
  }
  return SITU_STATUS_OK;
}

/* ---- types ---- */

/* Adds the type of a value, as torch has it ("!torch.vtensor<[4,?],si64>") or as MLIR has it ("tensor<4x?xi64>"). */
static situ_status add_type(calling *c, int32_t value, bool torch) {
  /* TensorProto.DataType */
  static const char *const words[] = {"",   "f32", "ui8", "si8",  "ui16", "si16", "si32", "si64", "",
                                      "i1", "f16", "f64", "ui32", "ui64", "",     "",     "bf16"};
  model_port port;
  TRY(model_parts_port(c->parts, value, &port, c->error));
  const char *word = port.type > 0 && port.type < (int32_t)(sizeof words / sizeof *words) ? words[port.type] : "";
  if (!*word || port.rank < 0)
    return fail_with(c->error, SITU_STATUS_UNSUPPORTED, c->parts->file->values[value].name,
                     "has a type or a shape that IREE cannot transfer");
  if (!torch) word += *word == 's' || *word == 'u'; /* numbers without sign */
  text_add(c->out, torch ? "!torch.vtensor<[" : "tensor<");
  for (int32_t d = 0; d < port.rank; d++) {
    if (torch && d > 0) text_add(c->out, ",");
    if (port.dims[d] >= 0)
      text_add(c->out, "%lld", (long long)port.dims[d]);
    else
      text_add(c->out, "?");
    if (!torch) text_add(c->out, "x");
  }
  text_add(c->out, torch ? "],%s>" : "%s>", word);
  return SITU_STATUS_OK;
}

static situ_status add_types(calling *c, const int32_t *values, int32_t n) {
  text_add(c->out, "(");
  for (int32_t i = 0; i < n; i++) {
    if (i > 0) text_add(c->out, ", ");
    TRY(add_type(c, values[i], true));
  }
  text_add(c->out, ")");
  return SITU_STATUS_OK;
}

/* ---- the function ---- */

static void add_name(calling *c, int32_t value, int32_t device) {
  text_add(c->out, device < 0 ? "%%v%d" : "%%v%d_%d", (int)value, (int)device);
}

/* Moves a value to a device, by way of a tensor of MLIR. */
static situ_status add_transfer(calling *c, int32_t value, int32_t device) {
  text_add(c->out, "    %%a%d_%d = torch_c.to_builtin_tensor ", (int)value, (int)device);
  add_name(c, value, -1);
  text_add(c->out, " : ");
  TRY(add_type(c, value, true));
  text_add(c->out, " -> ");
  TRY(add_type(c, value, false));
  text_add(c->out, "\n    %%b%d_%d = flow.tensor.transfer %%a%d_%d : ", (int)value, (int)device, (int)value,
           (int)device);
  TRY(add_type(c, value, false));
  model_port port;
  TRY(model_parts_port(c->parts, value, &port, c->error));
  for (int32_t d = 0; d < port.rank; d++)
    if (port.dims[d] < 0)
      return fail_with(c->error, SITU_STATUS_UNSUPPORTED, c->parts->file->values[value].name,
                       "has an unknown dimension; a tensor that goes to another device must have a known shape");
  text_add(c->out, " to #hal.device.promise<@");
  add_symbol(c->out, c->platform, device);
  text_add(c->out, ">\n    ");
  add_name(c, value, device);
  text_add(c->out, " = torch_c.from_builtin_tensor %%b%d_%d : ", (int)value, (int)device);
  TRY(add_type(c, value, false));
  text_add(c->out, " -> ");
  TRY(add_type(c, value, true));
  text_add(c->out, "\n");
  return SITU_STATUS_OK;
}

static int32_t home_of(const model_parts *p, int32_t value) {
  return p->value_part[value] < 0 ? -1 : p->parts[p->value_part[value]].device;
}

static situ_status add_call(calling *c, int32_t k) {
  const model_part *part = &c->parts->parts[k];
  for (int32_t i = 0; i < part->n_inputs; i++) {
    int32_t value = part->inputs[i];
    bool *there = &c->is_there[(int64_t)part->device * c->parts->file->n_values + value];
    if (home_of(c->parts, value) == part->device || *there) continue;
    TRY(add_transfer(c, value, part->device));
    *there = true;
  }
  text_add(c->out, "    ");
  for (int32_t i = 0; i < part->n_outputs; i++) {
    if (i > 0) text_add(c->out, ", ");
    add_name(c, part->outputs[i], -1);
  }
  text_add(c->out, " = func.call @part%d(", (int)k);
  for (int32_t i = 0; i < part->n_inputs; i++) {
    if (i > 0) text_add(c->out, ", ");
    add_name(c, part->inputs[i], home_of(c->parts, part->inputs[i]) == part->device ? -1 : part->device);
  }
  text_add(c->out, ") : ");
  TRY(add_types(c, part->inputs, part->n_inputs));
  text_add(c->out, " -> ");
  TRY(add_types(c, part->outputs, part->n_outputs));
  text_add(c->out, "\n");
  return SITU_STATUS_OK;
}

static situ_status add_main(calling *c) {
  const model_parts *p = c->parts;
  const model_file *f = p->file;
  text_add(c->out, "module {\n");
  for (int32_t k = 0; k < p->n_parts; k++) {
    text_add(c->out, "  func.func private @part%d", (int)k);
    TRY(add_types(c, p->parts[k].inputs, p->parts[k].n_inputs));
    text_add(c->out, " -> ");
    TRY(add_types(c, p->parts[k].outputs, p->parts[k].n_outputs));
    text_add(c->out, "\n");
  }
  text_add(c->out, "  func.func @main(");
  for (int32_t i = 0; i < f->n_inputs; i++) {
    if (i > 0) text_add(c->out, ", ");
    add_name(c, f->inputs[i], -1);
    text_add(c->out, ": ");
    TRY(add_type(c, f->inputs[i], true));
  }
  text_add(c->out, ") -> ");
  TRY(add_types(c, f->outputs, f->n_outputs));
  text_add(c->out, " attributes {torch.onnx_meta.opset_version = 17 : si64} {\n"); /* there are none of ONNX in it */
  for (int32_t k = 0; k < p->n_parts; k++) TRY(add_call(c, k));
  text_add(c->out, "    return ");
  for (int32_t i = 0; i < f->n_outputs; i++) {
    const model_value *value = &f->values[f->outputs[i]];
    if (!value->is_input && home_of(p, f->outputs[i]) < 0)
      return fail_with(c->error, SITU_STATUS_UNSUPPORTED, value->name, "is an output that no part produces");
    if (i > 0) text_add(c->out, ", ");
    add_name(c, f->outputs[i], -1);
  }
  text_add(c->out, " : ");
  for (int32_t i = 0; i < f->n_outputs; i++) {
    if (i > 0) text_add(c->out, ", ");
    TRY(add_type(c, f->outputs[i], true));
  }
  text_add(c->out, "\n  }\n}\n");
  return SITU_STATUS_OK;
}

static situ_status write_parts(const model_parts *parts, const char *folder, const situ_platform *platform,
                               situ_error *error) {
  text_buffer text = {0}, flags = {0};
  arena *a = arena_new();
  calling c = {.out = &text, .parts = parts, .platform = platform, .error = error};
  c.is_there = a ? ARENA_ZERO(a, bool, (int64_t)platform->n_devices * parts->file->n_values) : NULL;
  situ_status status = c.is_there ? add_flags(&flags, parts, platform, error) : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = add_main(&c);
  if (status == SITU_STATUS_OK && (text.failed || flags.failed)) status = fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = plan_parts_write(parts, folder, platform, error);
  if (status == SITU_STATUS_OK) status = onnx_joined_write(folder, "main.mlir", text.bytes, text.length, error);
  if (status == SITU_STATUS_OK) status = onnx_joined_write(folder, "flags.txt", flags.bytes, flags.length, error);
  text_free(&text);
  text_free(&flags);
  arena_free(a);
  return status;
}

static situ_status write_folder(const char *folder, const situ_plan *plan, const char *model, situ_error *error) {
  return plan_parts_write_by(write_parts, folder, plan, model, error);
}

const writer iree_writer = {.name = "iree",
                            .title = "a folder: ONNX parts for IREE, and MLIR that calls each on its device",
                            .suffix = "",
                            .write_folder = write_folder};
