#include "read/joined_networks.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "graph/builder.h"

enum { NAME_BYTES = 1024 };

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* What does no work that counts, or is left out: a check of pictures. */
static bool is_no_network(const char *name, const char *kind) {
  static const char *const words[] = {"Scheduler", "Tokenizer", "Processor", "FeatureExtractor", "SafetyChecker"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strstr(kind, words[k])) return true;
  return strcmp(name, "safety_checker") == 0;
}

static pipeline_part part_of(const char *name, const char *kind) {
  pipeline_part p = {0};
  snprintf(p.name, sizeof p.name, "%s", name);
  p.ends = begins(name, "vae") || begins(name, "vqvae") || begins(name, "movq");
  bool named = begins(name, "unet") || begins(name, "transformer") || begins(name, "controlnet");
  p.repeats =
      !p.ends && (named || strstr(kind, "UNet") || strstr(kind, "Transformer2D") || strstr(kind, "Transformer3D"));
  return p;
}

situ_status pipeline_find(pipeline_part parts[PIPELINE_PARTS], int32_t *n, const json_value *index, const char *where,
                          situ_error *error) {
  *n = 0;
  for (int32_t rank = 0; rank < 3; rank++) {
    json_member m = {0};
    while (json_next(index, &m)) {
      const char *kind = json_text(json_at(m.value, 1), NULL); /* [library, class] */
      if (!kind || !m.key[0] || m.key[0] == '.' || is_no_network(m.key, kind) || strlen(m.key) >= PIPELINE_NAME ||
          strpbrk(m.key, "/\\"))
        continue;
      pipeline_part p = part_of(m.key, kind);
      if (rank != (p.ends ? 2 : p.repeats ? 1 : 0)) continue;
      if (*n == PIPELINE_PARTS)
        return fail_with(error, SITU_STATUS_UNSUPPORTED, where, "has more than %d networks", PIPELINE_PARTS);
      parts[(*n)++] = p;
    }
  }
  return *n > 0 ? SITU_STATUS_OK
                : fail_with(error, SITU_STATUS_UNSUPPORTED, where, "is a pipeline that names no network");
}

static situ_status add_part(situ_graph_builder *b, const situ_graph *g, const pipeline_part *part, int32_t number,
                            int32_t first, int64_t steps, situ_error *error) {
  int64_t runs = part->repeats ? steps : 1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    char name[NAME_BYTES];
    situ_operator op = graph_operator(g, v);
    bool idle = part->ends && (begins(op.name, "encoder.") || begins(op.name, "quant_conv"));
    if (snprintf(name, sizeof name, "%s.%s", part->name, op.name) >= NAME_BYTES)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, op.name, "has a name that is too long for a pipeline");
    op.name = name;
    op.layer = part->name;
    op.colocation = number;
    op.flops = idle ? 0 : sat_mul(op.flops, runs);
    op.moved_bytes = idle ? 0 : sat_mul(op.moved_bytes, runs);
    TRY(builder_add_operator(b, &op, NULL, error));
  }
  TRY(builder_add_tensors_of(b, g, first, error));
  return builder_add_guesses_of(b, g, NULL, first, error);
}

/* What the last operator of a part makes is read by the first one of the next. */
static situ_status join(situ_graph_builder *b, const situ_graph *from, int32_t first, int32_t to, situ_error *error) {
  situ_tensor made = {.rank = -1, .dtype = SITU_DTYPE_F32};
  int32_t tensor;
  for (int32_t t = 0; t < from->n_tensors; t++)
    if (from->producer[t] == from->n_operators - 1) made = graph_tensor(from, t);
  TRY(builder_add_tensor(b, first + from->n_operators - 1, &made, &tensor, error));
  return builder_add_use(b, to, tensor, error);
}

situ_status pipeline_join(situ_graph **out, const char *model, const pipeline_part *parts,
                          const situ_graph *const *graphs, int32_t n, int64_t steps, situ_error *error) {
  situ_graph_builder *b = NULL;
  int32_t first[PIPELINE_PARTS + 1] = {0};
  *out = NULL;
  TRY(situ_graph_builder_new(&b, model, error));
  situ_status status = SITU_STATUS_OK;
  for (int32_t k = 0; k < n && status == SITU_STATUS_OK; k++) {
    first[k + 1] = first[k] + graphs[k]->n_operators;
    status = add_part(b, graphs[k], &parts[k], k, first[k], steps, error);
  }
  for (int32_t k = 0; k < n; k++) { /* all that encodes feeds the first part behind it */
    int32_t next = k + 1;
    while (next < n && !parts[k].repeats && !parts[k].ends && !parts[next].repeats && !parts[next].ends) next++;
    if (next < n && status == SITU_STATUS_OK) status = join(b, graphs[k], first[k], first[next], error);
  }
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(out, b, error);
  situ_graph_builder_free(b);
  return status;
}
