#include "write/module_styles.h"

#include <string.h>

#include "base/disjoint.h"
#include "base/fail.h"
#include "cost/fusion.h"
#include "cost/training_split.h"

/* A region: operators that work on parts which they hand to each other without putting them together. */
typedef struct regions {
  int32_t *into;  /* [operator] disjoint sets */
  bool *gathered; /* [root] some part is put together */
  bool *mixes;    /* [root] parts meet in a product without weights, or in an attention */
} regions;

typedef struct finding {
  const situ_graph *g;
  tensor_split split;
  regions r;
  int32_t members;
  uint8_t *style;
  situ_error *error;
} finding;

static const char *kind_of(const situ_graph *g, int32_t v) { return g->kind_name[g->kind[v]]; }
static bool is_kind(const situ_graph *g, int32_t v, const char *kind) { return strcmp(kind_of(g, v), kind) == 0; }
static bool is_attention(const situ_graph *g, int32_t v) {
  return is_kind(g, v, "Attention") || is_kind(g, v, "ScaledDotProductAttention");
}

/* Files of language models, whose operators are their modules, have micro-batches. */
static bool is_language_model(const situ_graph *g) { return g->micro_batch > 0; }

static int64_t last_dim(const situ_graph *g, int32_t t) {
  return g->rank[t] > 0 ? g->dims[g->dims_start[t] + g->rank[t] - 1] : -1;
}

/* The operators of which v gets parts, the one after `*at`; -1: no more. */
static int32_t next_part(const finding *f, int32_t v, int64_t *at) {
  for (const situ_graph *g = f->g; *at < g->in_start[v + 1];) {
    int32_t u = g->producer[g->in[(*at)++]];
    if (f->split.made[v] != HOLDS_ALL && f->split.given[u] == HOLDS_PART) return u;
  }
  return -1;
}

static bool takes_parts(const finding *f, int32_t v) {
  int64_t at = f->g->in_start[v];
  return next_part(f, v, &at) >= 0;
}

static bool is_product(const situ_graph *g, int32_t v) {
  return fusion_class_of(kind_of(g, v)) == FUSION_MATMUL && !is_attention(g, v);
}

static void find_regions(finding *f) {
  const situ_graph *g = f->g;
  disjoint_init(f->r.into, g->n_operators);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t at = g->in_start[v];
    for (int32_t u; (u = next_part(f, v, &at)) >= 0;) disjoint_join(f->r.into, u, v);
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t root = disjoint_root(f->r.into, v);
    f->r.gathered[root] |= f->split.gathered_bytes[v] > 0;
    f->r.mixes[root] |= takes_parts(f, v) && (is_attention(g, v) || (is_product(g, v) && g->weight_bytes[v] == 0));
  }
}

static situ_status refuse(const finding *f, int32_t v, const char *why) {
  return fail_with(f->error, SITU_STATUS_UNSUPPORTED, f->g->name[v], "%s", why);
}

static bool is_plain(situ_dtype type) {
  return type == SITU_DTYPE_F32 || type == SITU_DTYPE_F16 || type == SITU_DTYPE_BF16 || type == SITU_DTYPE_F64 ||
         type == SITU_DTYPE_UNKNOWN;
}

/* An operator with weights that members share. */
static situ_status check_weights(const finding *f, int32_t v) {
  const situ_graph *g = f->g;
  fusion_class class = fusion_class_of(kind_of(g, v));
  if (class == FUSION_CONV)
    return refuse(f, v, "is a convolution split by channels; parallelize_module splits linear layers and embeddings");
  if (is_kind(g, v, "ExpertsMatMul"))
    return refuse(f, v, "is experts split by hidden units; parallelize_module splits linear layers and embeddings");
  if (is_product(g, v) && !is_plain((situ_dtype)g->dtype[v]))
    return refuse(f, v, "has packed weights; parallelize_module splits those of 16 bits and more");
  return SITU_STATUS_OK;
}

/* Even parts are all that parallelize_module makes between modules: it takes the shape of the whole from that of a
 * part. */
static situ_status check_shares(const finding *f, int32_t v) {
  int64_t ways = f->split.ways[v];
  if (ways % f->members == 0) return SITU_STATUS_OK;
  return fail_with(f->error, SITU_STATUS_UNSUPPORTED, f->g->name[v],
                   "splits into %lld equal parts (heads or columns), which %d devices do not share evenly; "
                   "parallelize_module needs equal shares",
                   (long long)ways, (int)f->members);
}

/* Whether weights of v, which works on parts, are alike for all members: those along a head, or the bias of a module
 * that is split. */
static bool has_own_weights(const finding *f, int32_t v) {
  const situ_graph *g = f->g;
  int32_t t = g->out_start[v];
  if (g->weight_bytes[v] == 0 || is_attention(g, v) || is_product(g, v)) return true;
  if (t < g->out_start[v + 1] && g->rank[t] > 3) return true;
  int64_t at = g->in_start[v];
  int32_t u = next_part(f, v, &at);
  const char *a = g->name[u], *b = g->name[v], *slash = strrchr(b, '/');
  size_t n = slash ? (size_t)(slash - b) : 0;
  return n > 0 && g->weight_bytes[u] > 0 && strncmp(a, b, n + 1) == 0 && !strchr(a + n + 1, '/');
}

/* Whether v takes some columns of several that one module makes: their parts are not the parts of these. */
static bool divides_columns(const finding *f, int32_t v) {
  const situ_graph *g = f->g;
  static const char *const kinds[] = {"Split", "VariadicSplit", "Slice", "StridedSlice"};
  bool takes = is_language_model(g) && fusion_class_of(kind_of(g, v)) != FUSION_MATMUL && !is_attention(g, v);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) takes |= is_kind(g, v, kinds[i]);
  int32_t t = g->out_start[v];
  if (!takes || t == g->out_start[v + 1] || g->rank[t] > 3) return false;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (f->split.given[g->producer[g->in[i]]] == HOLDS_PART && last_dim(g, g->in[i]) > last_dim(g, t)) return true;
  return false;
}

/* Queries, keys and values of a language model's file come from three modules, or from one that has all of them. */
static bool is_fused(const finding *f, int32_t v) {
  int64_t at = f->g->in_start[v];
  int32_t n = 0;
  if (!is_language_model(f->g) || !is_attention(f->g, v)) return false;
  while (next_part(f, v, &at) >= 0) n++;
  return n != 3;
}

/* An operator that works on parts. */
static situ_status check_between(const finding *f, int32_t v) {
  if (is_kind(f->g, v, "StateSpace"))
    return refuse(f, v, "is a recurrence split by channels, for which parallelize_module has no style");
  if (divides_columns(f, v))
    return refuse(f, v, "takes some of the columns that one module makes; parallelize_module would mix their parts");
  if (is_fused(f, v))
    return refuse(f, v,
                  "takes queries, keys and values that are not three modules; parallelize_module cannot split them");
  if (!has_own_weights(f, v))
    return refuse(f, v, "has weights of its own for parts; parallelize_module splits linear layers and embeddings");
  return check_shares(f, v);
}

/* A table of rows of a vocabulary. Modules for positions find their rows themselves, of which parallelize_module knows
 * nothing: their tables, which are small, stay whole. */
static bool is_table(const situ_graph *g, int32_t v) {
  return (is_kind(g, v, "Gather") || is_kind(g, v, "Embedding")) && !strstr(g->name[v], "position");
}

static situ_status find_style(finding *f, int32_t v) {
  const situ_graph *g = f->g;
  int32_t root = disjoint_root(f->r.into, v);
  tensor_holding made = (tensor_holding)f->split.made[v];
  bool whole = f->r.gathered[root], parts = takes_parts(f, v);
  if (made == HOLDS_ALL) return SITU_STATUS_OK;
  if (whole && f->r.mixes[root] && f->split.gathered_bytes[v] > 0)
    return refuse(f, v,
                  "is split by heads, but needed whole; parallelize_module puts together outputs of modules only");
  if (g->weight_bytes[v] > 0) TRY(check_weights(f, v));
  if (!whole && (parts || made == HOLDS_PART)) TRY(check_between(f, v));
  if (g->weight_bytes[v] == 0) return SITU_STATUS_OK;
  if (is_product(g, v))
    f->style[v] = made == HOLDS_PART ? (whole ? MODULE_GATHERED : MODULE_BY_COLUMNS)
                  : whole            ? MODULE_BY_ROWS_OF_ALL
                                     : MODULE_BY_ROWS;
  else if (made == HOLDS_TERM && is_table(g, v))
    f->style[v] = MODULE_TABLE;
  return SITU_STATUS_OK;
}

situ_status module_styles_find(module_styles *out, const situ_graph *g, int32_t members, arena *a, situ_error *error) {
  finding f = {.g = g, .members = members, .error = error};
  int32_t n = g->n_operators;
  *out = (module_styles){.graph = g};
  if (!training_split_find(&f.split, g, a) ||
      !ARENA_ARRAYS(a, ARRAY(f.r.into, n), ZEROS(f.r.gathered, n), ZEROS(f.r.mixes, n), ZEROS(f.style, n)))
    return fail_no_memory(error);
  find_regions(&f);
  for (int32_t v = 0; v < n; v++) TRY(find_style(&f, v));
  out->style = f.style;
  return SITU_STATUS_OK;
}

const char *module_styles_path(const module_styles *m, int32_t v, arena *a) {
  const char *name = m->graph->name[v];
  if (is_language_model(m->graph)) return name;
  size_t n = strlen(name);
  while (n > 0 && name[n - 1] != '.' && name[n - 1] != '/') n--;
  return arena_string_n(a, name, n > 0 ? n - 1 : 0);
}
