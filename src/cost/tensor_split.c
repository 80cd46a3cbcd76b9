#include "cost/tensor_split.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/disjoint.h"
#include "cost/fusion.h"

/* What a kind of operator does with a split input. */
typedef enum rule {
  WHOLE,   /* needs its inputs whole, and runs whole on each member */
  PRODUCT, /* with weights: by columns of a whole input, by rows of a split one. Without: as its inputs */
  CONV,    /* the same by channels */
  LOOKUP,  /* rows of a table, which is split: terms of a sum */
  EACH,    /* as its inputs; of whole and split ones each member takes its part */
  SCALE,   /* the same, and a term times something whole is a term */
  SUM,     /* the same, and a sum of terms is one term */
  VIEW,    /* as its input, terms too; finds heads */
  ALONG    /* computes along some dimensions: as its input where heads or what it keeps is split, else whole */
} rule;

/* Kinds whose rule is not that of their class in fusion, each with a space before and after it. */
static const struct {
  rule rule;
  const char *kinds;
} rules[] = {
    {PRODUCT, " Attention ScaledDotProductAttention "},
    {LOOKUP, " Gather Embedding "},
    {SUM, " Sum Add "},
    {SCALE, " Mul Multiply ScatterND ScatterElements "},
    {EACH,
     " MaxPool AveragePool AvgPool Pooling GlobalAveragePool GlobalMaxPool AdaptiveAvgPool Resize Interpolate "
     "ExpertsMul StateSpace RotaryEmbedding RoPE "},
    {VIEW,
     " Reshape Squeeze Unsqueeze Slice StridedSlice Split VariadicSplit Concat Identity Expand Broadcast Flatten Pad "
     "Tile "},
    {ALONG, " LayerNormalization SimplifiedLayerNormalization RMSNormalization "},
};

static rule rule_of(const char *kind) {
  size_t n = strlen(kind);
  for (size_t i = 0; n > 0 && i < sizeof rules / sizeof *rules; i++)
    for (const char *at = strstr(rules[i].kinds, kind); at; at = strstr(at + 1, kind))
      if (at > rules[i].kinds && at[-1] == ' ' && at[n] == ' ') return rules[i].rule;
  switch (fusion_class_of(kind)) {
    case FUSION_CONV: return CONV;
    case FUSION_MATMUL: return PRODUCT;
    case FUSION_SOFTMAX:
    case FUSION_REDUCE: return ALONG;
    case FUSION_EACH:
    case FUSION_ADD:
    case FUSION_SCALE:
    case FUSION_DEQUANT: return EACH;
    case FUSION_LAYOUT: return VIEW;
    default: return WHOLE;
  }
}

typedef struct pass {
  const situ_graph *g;
  tensor_split *out;
  uint8_t *rule_of;      /* [kind] */
  uint8_t *made, *given; /* as in the result */
  bool *by_heads;        /* [operator] their parts are heads, not columns, */
  bool *by_channels;     /* or the channels of an image */
  bool *together;        /* [operator] some user needs its outputs whole */
} pass;

static rule rule_at(const pass *p, int32_t v) { return (rule)p->rule_of[p->g->kind[v]]; }

static int64_t last_dim(const situ_graph *g, int32_t t, int32_t before) {
  return g->rank[t] > before ? g->dims[g->dims_start[t] + g->rank[t] - 1 - before] : -1;
}

/* The inputs of v that members hold in each way, in how many parts, and whether all parts are heads or channels. */
typedef struct inputs {
  int32_t n[HOLDS_TERM + 1];
  int64_t ways;
  bool by_heads, by_channels;
} inputs;

static inputs inputs_of(const pass *p, int32_t v) {
  const situ_graph *g = p->g;
  inputs in = {.ways = INT64_MAX, .by_heads = true, .by_channels = true};
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    in.n[p->given[u]]++;
    if (p->given[u] != HOLDS_PART) continue;
    in.ways = min64(in.ways, p->out->ways[u]);
    in.by_heads &= p->by_heads[u];
    in.by_channels &= p->by_channels[u];
  }
  return in;
}

/* The inputs of v are put together: all that members have but a part or a term of. */
static void need_whole(pass *p, int32_t v, bool parts) {
  const situ_graph *g = p->g;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (p->given[u] == HOLDS_TERM || (parts && p->given[u] == HOLDS_PART)) p->together[u] = true;
  }
}

/* Into how many parts the outputs of v split: their columns, or the channels of an image. */
static int64_t columns_of(const situ_graph *g, int32_t v, bool image) {
  int32_t t = g->out_start[v];
  if (t == g->out_start[v + 1]) return 1;
  int64_t n = image && g->rank[t] > 1 ? g->dims[g->dims_start[t] + 1] : last_dim(g, t, 0);
  return n > 1 ? n : 1;
}

/* Whether a user of v could do nothing with a part of it. */
static bool is_for_whole(const pass *p, int32_t v) {
  const situ_graph *g = p->g;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      if (g->phase[g->use[i]] != SITU_PHASE_FORWARD) continue;
      rule r = rule_at(p, g->use[i]);
      if (r == WHOLE || (r == ALONG && g->rank[t] < 4)) return true;
    }
  return false;
}

/* Into how many parts the outputs of a view of that many columns split: heads where it makes a dimension of them, fewer
 * columns where it takes some. */
static int64_t parts_of_view(const situ_graph *g, int32_t v, int64_t columns) {
  int32_t t = g->out_start[v];
  int64_t width = t < g->out_start[v + 1] ? last_dim(g, t, 0) : -1;
  if (width < 2 || columns % width != 0) return columns;
  if (g->rank[t] < 4) return width;
  for (int32_t k = 1; k < 3; k++)
    if (last_dim(g, t, k) > 1 && last_dim(g, t, k) == columns / width) return columns / width;
  return columns;
}

/* Whether each output of v has as much in its second dimension (channels) as the first input has. */
static bool keeps_second(const situ_graph *g, int32_t v) {
  int32_t t = g->out_start[v];
  if (g->in_start[v] == g->in_start[v + 1] || t == g->out_start[v + 1]) return false;
  int32_t x = g->in[g->in_start[v]];
  return g->rank[x] >= 3 && g->rank[t] >= 2 && g->dims[g->dims_start[x] + 1] > 1 &&
         g->dims[g->dims_start[x] + 1] == g->dims[g->dims_start[t] + 1];
}

/* Whether v, which computes along some dimensions, can do so with parts of its inputs. */
static bool is_apart(const pass *p, int32_t v, const inputs *in) {
  bool reduces = strncmp(p->g->kind_name[p->g->kind[v]], "Reduce", 6) == 0;
  return in->n[HOLDS_PART] > 0 && (in->by_heads || (reduces && in->by_channels && keeps_second(p->g, v)));
}

/* Whether all users of v can compute with terms. */
static bool is_for_terms(const pass *p, int32_t v) {
  const situ_graph *g = p->g;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      if (g->phase[g->use[i]] != SITU_PHASE_FORWARD) continue;
      rule r = rule_at(p, g->use[i]);
      if (r != SUM && r != SCALE && r != VIEW) return false;
    }
  return true;
}

static void set(pass *p, int32_t v, tensor_holding made, int64_t ways) {
  p->out->ways[v] = ways > 1 ? ways : 1;
  p->made[v] = p->given[v] = ways > 1 ? (uint8_t)made : HOLDS_ALL;
}

/* A term of the outputs of v, which is added up at once unless all users go on with terms. */
static void set_term(pass *p, int32_t v, int64_t ways) {
  p->out->ways[v] = ways;
  p->made[v] = p->given[v] = HOLDS_TERM;
  if (is_for_terms(p, v)) return;
  p->together[v] = true;
  p->given[v] = HOLDS_ALL;
}

static void set_whole(pass *p, int32_t v) {
  need_whole(p, v, true);
  set(p, v, HOLDS_ALL, 1);
}

static void set_product(pass *p, int32_t v, const inputs *in) {
  const situ_graph *g = p->g;
  bool attention = strcmp(g->kind_name[g->kind[v]], "Attention") == 0, weights = g->weight_bytes[v] > 0;
  int64_t heads = g->split_ways[v];
  if (in->n[HOLDS_PART] > 0 && attention && heads != 1) {
    need_whole(p, v, false);
    set(p, v, HOLDS_PART, heads > 0 ? min64(heads, in->ways) : in->ways);
  } else if (in->n[HOLDS_PART] > 0 && !attention && (weights || in->by_heads)) {
    need_whole(p, v, false);
    if (weights)
      set_term(p, v, in->ways);
    else
      set(p, v, HOLDS_PART, in->ways);
    p->by_heads[v] = !weights;
  } else if (in->n[HOLDS_PART] == 0 && weights && !attention && !is_for_whole(p, v)) {
    need_whole(p, v, false);
    set(p, v, HOLDS_PART, columns_of(g, v, rule_at(p, v) == CONV));
    p->by_channels[v] = rule_at(p, v) == CONV;
  } else {
    set_whole(p, v);
  }
}

/* Whether a member's result is a term of the result: a sum of terms, or one term times what is whole. */
static bool is_term(const pass *p, int32_t v, rule r, const inputs *in) {
  int32_t terms = in->n[HOLDS_TERM], others = in->n[HOLDS_ALL] + in->n[HOLDS_PART];
  bool by_another = in->n[HOLDS_ALL] > 0 || p->g->weight_bytes[v] > 0; /* a tensor times itself is no term */
  if (r == SCALE) return terms == 1 && in->n[HOLDS_PART] == 0 && by_another;
  return terms > 0 && others == 0 && (r == SUM || r == VIEW);
}

/* Whether the parts that leave a view are heads: they were, or it makes a dimension of them. Merged with their width,
 * which leaves three dimensions, they are columns again. */
static bool views_heads(const situ_graph *g, int32_t v, int64_t ways, bool were_heads) {
  int32_t t = g->out_start[v];
  if (t == g->out_start[v + 1] || g->rank[t] < 4) return false;
  return were_heads || last_dim(g, t, 1) == ways || last_dim(g, t, 2) == ways;
}

static void split_operator(pass *p, int32_t v) {
  inputs in = inputs_of(p, v);
  rule r = rule_at(p, v);
  bool any = in.n[HOLDS_PART] > 0;
  int64_t ways = in.ways;
  if (r == ALONG) r = is_apart(p, v, &in) ? EACH : WHOLE;
  if (r == LOOKUP && (any || p->g->weight_bytes[v] == 0)) r = WHOLE;
  switch (r) {
    case PRODUCT:
    case CONV: set_product(p, v, &in); return;
    case LOOKUP:
      need_whole(p, v, true);
      set_term(p, v, columns_of(p->g, v, false));
      return;
    case SUM:
    case SCALE:
    case EACH:
    case VIEW:
      if (is_term(p, v, r, &in)) {
        set_term(p, v, 1); /* every member computes all of it, with its own terms */
        return;
      }
      need_whole(p, v, false);
      if (r == VIEW && any) ways = parts_of_view(p->g, v, in.ways);
      set(p, v, HOLDS_PART, any ? ways : 1);
      p->by_channels[v] = any && in.by_channels && keeps_second(p->g, v);
      p->by_heads[v] = any && (r == VIEW ? views_heads(p->g, v, ways, in.by_heads) : in.by_heads);
      return;
    default: set_whole(p, v);
  }
}

/* What stands before the network (caches, constants) is split where all of its users are. */
static void split_sources(pass *p) {
  const situ_graph *g = p->g;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    if (p->made[v] != HOLDS_ALL || g->in_start[v] < g->in_start[v + 1]) continue;
    int64_t ways = INT64_MAX;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        ways = min64(ways, p->given[g->use[i]] == HOLDS_PART ? p->out->ways[g->use[i]] : 1);
    if (ways != INT64_MAX) p->out->ways[v] = ways;
    p->out->scattered[v] = ways != INT64_MAX && ways > 1;
  }
}

/* Results of the network are whole at the end. */
static void count_bytes(pass *p) {
  const situ_graph *g = p->g;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (p->made[v] == HOLDS_ALL) continue;
    int64_t *bytes = p->made[v] == HOLDS_TERM ? &p->out->reduced_bytes[v] : &p->out->gathered_bytes[v];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      if (p->together[v] || g->use_start[t] == g->use_start[t + 1])
        *bytes = sat_add(*bytes, g->size_bytes[t]);
      else
        p->out->scattered[v] = true;
  }
}

bool tensor_split_find(tensor_split *out, const situ_graph *g, arena *a) {
  int32_t n = g->n_operators;
  pass p = {.g = g, .out = out};
  *out = (tensor_split){.graph = g};
  if (!ARENA_ARRAYS(a, ARRAY(out->ways, n), ZEROS(out->reduced_bytes, n), ZEROS(out->gathered_bytes, n),
                    ZEROS(out->scattered, n), ZEROS(out->made, n), ZEROS(out->given, n), ARRAY(p.rule_of, g->n_kinds),
                    ZEROS(p.together, n), ZEROS(p.by_heads, n), ZEROS(p.by_channels, n)))
    return false;
  p.made = out->made;
  p.given = out->given;
  for (int32_t v = 0; v < n; v++) out->ways[v] = 1;
  for (int32_t k = 0; k < g->n_kinds; k++) p.rule_of[k] = (uint8_t)rule_of(g->kind_name[k]);
  for (int32_t v = 0; v < n; v++)
    if (g->phase[v] == SITU_PHASE_FORWARD) split_operator(&p, v);
  split_sources(&p);
  count_bytes(&p);
  return true;
}

void tensor_split_join(const tensor_split *s, int32_t *into) {
  const situ_graph *g = s->graph;
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int32_t t = g->out_start[v]; s->scattered[v] && t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) disjoint_join(into, v, g->use[i]);
}

/* The maximum bytes of tensors and scratch memory at once, where one device runs the operators in their order; of
 * training steps scratch memory alone, since their tensors count one by one (cost/training_split.h). */
static int64_t alive_bytes(const situ_graph *g) {
  int64_t alive = 0, max = 0;
  for (int32_t v = 0; g->made_training && v < g->n_operators; v++) max = max64(max, g->workspace_bytes[v]);
  if (g->made_training) return max;
  for (int32_t v = 0; v < g->n_operators; v++) {
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) alive = sat_add(alive, g->size_bytes[t]);
    max = max64(max, sat_add(alive, g->workspace_bytes[v]));
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (g->use[g->use_start[g->in[i] + 1] - 1] == v) alive -= g->size_bytes[g->in[i]];
  }
  return max;
}

int64_t tensor_split_extra_bytes(const tensor_split *s, int32_t k) {
  const situ_graph *g = s->graph;
  double extra = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    extra += (double)g->weight_bytes[v] * (k * tensor_split_share(s, v, k) - 1);
  return sat_add(sat_round(ceil(extra)), sat_mul(k - 1, alive_bytes(g)));
}

double tensor_split_part(const tensor_split *s, int32_t v, const double *share, int32_t k, int32_t i) {
  double ways = (double)s->ways[v], before = 0;
  if (s->ways[v] == 1) return 1;
  for (int32_t j = 0; j < i; j++) before += share[j];
  double first = floor(ways * before + 0.5), end = i + 1 == k ? ways : floor(ways * (before + share[i]) + 0.5);
  return (end - first) / ways;
}

int64_t tensor_split_member_bytes(const tensor_split *s, const double *share, int32_t k, int32_t i) {
  const situ_graph *g = s->graph;
  double extra = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    extra += (double)g->weight_bytes[v] * fmax(0, tensor_split_part(s, v, share, k, i) - share[i]);
  return sat_add(sat_round(ceil(extra)), sat_round(ceil((1 - share[i]) * (double)alive_bytes(g))));
}

bool tensor_split_narrow(tensor_split *out, const tensor_split *s, int32_t k, arena *a) {
  const situ_graph *g = s->graph;
  const int64_t many = k < 3 ? 32768 : k == 3 ? 131072 : 262144; /* llama.cpp's limits */
  *out = *s;
  out->reduced_bytes = ARENA_COPY(a, s->reduced_bytes, int64_t, g->n_operators);
  for (int32_t v = 0; out->reduced_bytes && v < g->n_operators; v++) {
    int32_t t = g->out_start[v];
    bool wide = t < g->out_start[v + 1] && g->tensor_dtype[t] == SITU_DTYPE_F32;
    if (wide && s->reduced_bytes[v] / 4 >= many) out->reduced_bytes[v] /= 2;
  }
  return out->reduced_bytes != NULL || g->n_operators == 0;
}

/* Steps of `latency_ns` each, and bytes over the slowest link between members. */
static double steps_ns(double steps, double bytes, const situ_device *d) {
  return steps * (double)d->sync_latency_ns + bytes / d->sync_bytes_per_s * 1e9;
}

int64_t tensor_split_collective_ns(const tensor_split *s, int32_t v, const situ_device *d, int64_t engine_ns) {
  double k = d->members, rounds = ceil(log2(k)), reduced = (double)s->reduced_bytes[v];
  double gathered = (double)s->gathered_bytes[v], ns = 0;
  if (d->members < 2) return 0;
  if (reduced > 0)
    ns += (double)engine_ns +
          fmin(steps_ns(rounds, rounds * reduced, d), steps_ns(2 * rounds, 2 * (k - 1) / k * reduced, d));
  if (gathered > 0) ns += (double)engine_ns + steps_ns(rounds, (k - 1) / k * gathered, d);
  return sat_round(ceil(ns));
}
