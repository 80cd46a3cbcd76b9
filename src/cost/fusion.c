/* Fusion in one pass in topological order.
 *
 * A kernel grows at its exit, the member that was added last and has work: an operator c may follow if it is the only
 * outside user of the kernel's tensors. So everything that leaves a kernel leaves from its exit, which all members
 * reach, and kernels cannot form a cycle (proof in docs/theory/models/fusion.md). Operators without work whose inputs
 * all come from one kernel may join it at any time: they add no input from elsewhere. */
#include "cost/fusion.h"

#include "base/checked.h"
#include "base/csr.h"
#include "base/disjoint.h"
#include "graph/neighbours.h"

enum {
  HAS_RESIDUAL = 1, /* a second large tensor was added */
  IS_SCORES = 2,    /* a product of two activations: attention may follow */
  IS_PROBS = 4,     /* ... and its softmax did */
  IS_FED = 8,       /* its output depends on inputs of the model */
  IS_FIXED = 16,    /* the caller chose its members */
  IS_INT8 = 32      /* the head reads quantised data */
};

/* The data of a set of operators, stored at its root. */
typedef struct kernel {
  int32_t exit, head; /* head: -1 where no member has work */
  int32_t open;       /* uses of its tensors by other kernels */
  uint8_t flags;
} kernel;

typedef struct pass {
  const situ_graph *g;
  unsigned rules;
  uint8_t *kind_class;  /* [kind] */
  int32_t *into;        /* disjoint sets, with their data at the roots */
  kernel *of;           /* [root] */
  bool *free, *source;  /* [operator] without work; without work and computed from constants alone */
  bool *done;           /* [operator] taken by a pattern before its turn */
  const int32_t *apart; /* [operator], or NULL */
} pass;

static fusion_class class_of(const pass *p, int32_t v) { return (fusion_class)p->kind_class[p->g->kind[v]]; }

static fusion_class head_class(const pass *p, const kernel *k) {
  return k->head < 0 ? FUSION_NONE : class_of(p, k->head);
}

static int32_t root_of(pass *p, int32_t v) { return disjoint_root(p->into, v); }

static int64_t uses_of(const situ_graph *g, int32_t v) {
  return g->use_start[g->out_start[v + 1]] - g->use_start[g->out_start[v]];
}

static int64_t output_bytes(const situ_graph *g, int32_t v) {
  int64_t sum = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) sum = sat_add(sum, g->size_bytes[t]);
  return sum;
}

/* How many inputs of v come from the set of this root. */
static int32_t links(pass *p, int32_t v, int32_t root) {
  const situ_graph *g = p->g;
  int32_t n = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) n += root_of(p, g->producer[g->in[i]]) == root;
  return n;
}

/* Whether the operators may share a kernel, whatever the engine's rules say. */
static bool may_share(const pass *p, int32_t u, int32_t v) {
  const situ_graph *g = p->g;
  const int32_t *apart = p->apart;
  bool idle = apart && ((p->free[u] && apart[u] == 0) || (p->free[v] && apart[v] == 0));
  if (apart && apart[u] != apart[v] && !idle) return false;
  return g->phase[u] == SITU_PHASE_FORWARD && g->phase[v] == SITU_PHASE_FORWARD && g->colocation[u] == g->colocation[v];
}

static bool is_weightless_product(const pass *p, int32_t v) {
  return class_of(p, v) == FUSION_MATMUL && p->g->weight_bytes[v] == 0;
}

/* Whether a product follows the softmax c, with only elementwise operators between. */
static bool ends_in_product(const pass *p, int32_t c) {
  for (int32_t step = 0; step < 5; step++) {
    c = neighbours_only_user(p->g, c);
    if (c < 0 || is_weightless_product(p, c)) return c >= 0;
    if (class_of(p, c) != FUSION_EACH && !p->free[c]) return false;
  }
  return false;
}

/* Whether c reads a large tensor that comes from elsewhere. */
static bool reads_another(pass *p, int32_t c, int32_t root) {
  const situ_graph *g = p->g;
  int64_t large = output_bytes(g, c);
  for (int64_t i = g->in_start[c]; i < g->in_start[c + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (!p->source[u] && root_of(p, u) != root && g->size_bytes[g->in[i]] >= large) return true;
  }
  return false;
}

/* Whether an engine lets an elementwise operator of class `class` follow in a kernel. */
static bool takes_elementwise(const pass *p, const kernel *k, fusion_class class, bool another) {
  fusion_class head = head_class(p, k);
  bool bias = (class == FUSION_ADD || class == FUSION_SCALE) && !another;
  if (head == FUSION_EACH || head == FUSION_ADD || head == FUSION_SCALE) return p->rules & FUSE_CHAIN;
  if (another && (!(p->rules & FUSE_RESIDUAL) || (k->flags & HAS_RESIDUAL))) return false;
  switch (head) {
    case FUSION_CONV: return p->rules & (bias ? FUSE_BIAS | FUSE_CONV : FUSE_CONV);
    case FUSION_MATMUL: return p->rules & (bias ? FUSE_BIAS | FUSE_MATMUL : FUSE_MATMUL);
    case FUSION_POOL:
    case FUSION_SOFTMAX:
    case FUSION_REDUCE: return p->rules & FUSE_NORM;
    default: return false;
  }
}

/* Whether c may follow at the exit of the kernel of this root. */
static bool follows(pass *p, int32_t c, int32_t root) {
  const kernel *k = &p->of[root];
  if (k->head < 0 || ((k->flags | p->of[c].flags) & IS_FIXED) || !may_share(p, k->exit, c)) return false;
  if (k->open != links(p, c, root)) return false;
  fusion_class class = class_of(p, c);
  switch (class) {
    case FUSION_EACH:
    case FUSION_ADD:
    case FUSION_SCALE: return takes_elementwise(p, k, class, reads_another(p, c, root));
    case FUSION_SOFTMAX: return (p->rules & FUSE_ATTENTION) && (k->flags & IS_SCORES) && ends_in_product(p, c);
    case FUSION_MATMUL: return (k->flags & IS_PROBS) && is_weightless_product(p, c);
    case FUSION_LAYOUT: return (p->rules & FUSE_LAYOUT) && head_class(p, k) == FUSION_MATMUL;
    default: return false;
  }
}

/* Whether the kernel, which only c reads, may run inside that of c. Before a head this may be dequantisation or what
 * constants determine; before others, elementwise operators. */
static bool precedes(pass *p, int32_t c, int32_t root) {
  const kernel *k = &p->of[root];
  if (k->head < 0 || ((k->flags | p->of[root_of(p, c)].flags) & IS_FIXED) || !may_share(p, k->exit, c)) return false;
  if (k->open != links(p, c, root)) return false;
  fusion_class class = class_of(p, c), head = head_class(p, k);
  bool elementwise = head == FUSION_EACH || head == FUSION_ADD || head == FUSION_SCALE || head == FUSION_DEQUANT;
  if (class == FUSION_NONE || (!elementwise && head != FUSION_LAYOUT)) return false;
  if (head == FUSION_DEQUANT && (p->rules & FUSE_QDQ)) return true;
  if (!(k->flags & IS_FED)) return p->rules & FUSE_BIAS;
  bool each = class == FUSION_EACH || class == FUSION_ADD || class == FUSION_SCALE;
  return each && elementwise && (p->rules & FUSE_CHAIN);
}

/* Appends the set of c, of which c is the exit, to that of `root`. */
static void append(pass *p, int32_t c, int32_t root) {
  int32_t own = root_of(p, c);
  kernel *k = &p->of[root], *last = &p->of[own];
  p->into[own] = root;
  k->exit = last->exit;
  k->open = last->open;
  k->flags |= last->flags & (uint8_t)~IS_SCORES;
  if (k->head < 0) k->head = last->head;
}

/* Puts the kernel before that of c, which remains its head. */
static void prepend(pass *p, int32_t c, int32_t root) {
  kernel *k = &p->of[root_of(p, c)];
  if (head_class(p, &p->of[root]) == FUSION_DEQUANT && (p->of[root].flags & IS_FED)) k->flags |= IS_INT8;
  k->flags |= p->of[root].flags & IS_FED;
  p->into[root] = root_of(p, c);
}

/* ---- operators without work ---- */

/* Joins v to the one kernel from which all its inputs come, apart from those computed from constants. */
static void join_producer(pass *p, int32_t v) {
  const situ_graph *g = p->g;
  int32_t root = -1, n = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (p->source[u]) continue;
    int32_t of = root_of(p, u);
    if (root >= 0 && of != root) return;
    root = of;
    n++;
  }
  if (root < 0 || p->of[root].head < 0 || !may_share(p, p->of[root].exit, v)) return;
  p->into[v] = root;
  p->of[root].open += p->of[v].open - n;
}

/* Joins each remaining operator without work to the first kernel that reads it. Kernels are ordered by their exits, so
 * no cycle arises. */
static void join_consumer(pass *p, int32_t v) {
  const situ_graph *g = p->g;
  int32_t first = -1;
  for (int64_t i = g->use_start[g->out_start[v]]; i < g->use_start[g->out_start[v + 1]]; i++) {
    int32_t root = root_of(p, g->use[i]);
    if (first < 0 || p->of[root].exit < p->of[first].exit) first = root;
  }
  if (first < 0 || !may_share(p, v, p->of[first].exit)) return;
  p->into[v] = first;
}

/* ---- patterns: a tensor read several times inside ---- */

enum { PATTERN_MAX = 16, PATTERN_USES = 8 };

typedef struct pattern {
  int32_t member[PATTERN_MAX], n;
  int64_t uses;  /* all uses of what members make */
  int64_t inner; /* of these, uses by members */
  bool reduces, diamond;
} pattern;

static bool in_pattern(const pattern *x, int32_t v) {
  for (int32_t i = x->n - 1; i >= 0; i--)
    if (x->member[i] == v) return true;
  return false;
}

/* Whether t is an input of the pattern's first operator. */
static bool is_seed(const pass *p, const pattern *x, int32_t t) {
  const situ_graph *g = p->g;
  for (int64_t i = g->in_start[x->member[0]]; i < g->in_start[x->member[0] + 1]; i++)
    if (g->in[i] == t) return true;
  return false;
}

/* Whether v can be the next member: it is elementwise or a reduction, and reads only the pattern and its seed. */
static bool may_grow(pass *p, const pattern *x, int32_t v, int32_t *inner, bool *again) {
  const situ_graph *g = p->g;
  fusion_class class = class_of(p, v);
  bool each = class == FUSION_EACH || class == FUSION_ADD || class == FUSION_SCALE || class == FUSION_REDUCE;
  if ((!each && !p->free[v]) || p->done[v] || (p->of[v].flags & IS_FIXED) || uses_of(g, v) > PATTERN_USES) return false;
  if (!may_share(p, x->member[0], v)) return false;
  *inner = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    bool inside = in_pattern(x, u);
    *inner += inside;
    if (inside && uses_of(g, u) > 1) *again = true;
    if (!inside && is_seed(p, x, g->in[i])) *again |= !p->source[u];
    if (!inside && !p->source[u] && !is_seed(p, x, g->in[i])) return false;
  }
  return true;
}

/* The lowest operator above `after` that uses outputs of the pattern, or -1. */
static int32_t next_user(const situ_graph *g, const pattern *x, int32_t after) {
  int32_t next = -1;
  for (int32_t m = 0; m < x->n; m++)
    for (int64_t i = g->use_start[g->out_start[x->member[m]]]; i < g->use_start[g->out_start[x->member[m] + 1]]; i++)
      if (g->use[i] > after && (next < 0 || g->use[i] < next)) next = g->use[i];
  return next;
}

/* The largest pattern that starts at c and is left only from its last member. n = 0 when there is none. */
static pattern pattern_at(pass *p, int32_t c) {
  const situ_graph *g = p->g;
  pattern best = {0}, x = {.member = {c}, .n = 1, .uses = uses_of(g, c), .reduces = class_of(p, c) == FUSION_REDUCE};
  if (x.uses > PATTERN_USES) return best;
  for (int32_t v = c; x.n < PATTERN_MAX;) {
    int32_t inner;
    v = next_user(g, &x, v);
    if (v < 0 || !may_grow(p, &x, v, &inner, &x.diamond)) break;
    x.member[x.n++] = v;
    x.uses += uses_of(g, v);
    x.inner += inner;
    x.reduces |= class_of(p, v) == FUSION_REDUCE;
    if (x.diamond && x.uses - x.inner == uses_of(g, v)) best = x;
  }
  return best;
}

/* The kernel whose exit produces the input of the pattern, if nothing else reads it and the engine lets the pattern
 * follow; else -1. */
static int32_t pattern_front(pass *p, const pattern *x) {
  const situ_graph *g = p->g;
  int32_t root = -1, n = 0;
  for (int64_t i = g->in_start[x->member[0]]; i < g->in_start[x->member[0] + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (p->source[u]) continue;
    if (root >= 0 && root != root_of(p, u)) return -1;
    root = root_of(p, u);
  }
  if (root < 0 || x->reduces || (p->of[root].flags & IS_FIXED)) return -1;
  for (int32_t i = 0; i < x->n; i++) n += links(p, x->member[i], root);
  if (p->of[root].open != n || !may_share(p, p->of[root].exit, x->member[0])) return -1;
  return takes_elementwise(p, &p->of[root], FUSION_EACH, false) ? root : -1;
}

/* Takes the pattern that starts at c, if there is one. */
static bool take_pattern(pass *p, int32_t c) {
  fusion_class class = class_of(p, c);
  bool starts = class == FUSION_EACH || class == FUSION_ADD || class == FUSION_REDUCE;
  if (!(p->rules & FUSE_DIAMOND) || !starts || (p->of[c].flags & IS_FIXED)) return false;
  pattern x = pattern_at(p, c);
  if (x.n == 0) return false;
  int32_t root = pattern_front(p, &x);
  for (int32_t i = 0; i < x.n; i++) p->done[x.member[i]] = true;
  for (int32_t i = root < 0 ? 1 : 0; i < x.n; i++) append(p, x.member[i], root < 0 ? root_of(p, c) : root);
  return true;
}

/* ---- the pass ---- */

/* Whether c moves more than its weights, its outputs and the inputs that operators produce: the rest is a model
 * input. */
static bool reads_model_input(const pass *p, int32_t c) {
  const situ_graph *g = p->g;
  int64_t own = sat_add(g->weight_bytes[c], output_bytes(g, c));
  for (int64_t i = g->in_start[c]; i < g->in_start[c + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (!p->source[u] || class_of(p, u) == FUSION_SHAPE) own = sat_add(own, g->size_bytes[g->in[i]]);
  }
  return g->moved_bytes[c] > own;
}

static void visit(pass *p, int32_t c) {
  const situ_graph *g = p->g;
  int32_t best = -1;
  if (reads_model_input(p, c)) p->of[c].flags |= IS_FED;
  for (int64_t i = g->in_start[c]; i < g->in_start[c + 1]; i++) {
    int32_t u = g->producer[g->in[i]];
    if (p->source[u]) continue;
    int32_t root = root_of(p, u);
    p->of[c].flags |= p->of[root].flags & IS_FED;
    if ((best < 0 || p->of[root].exit > p->of[best].exit) && follows(p, c, root)) best = root;
  }
  if (is_weightless_product(p, c)) p->of[c].flags |= IS_SCORES;
  if (best < 0 && take_pattern(p, c)) return;
  if (best >= 0) {
    kernel *k = &p->of[best];
    bool behind_head = head_class(p, k) != FUSION_EACH && head_class(p, k) != FUSION_ADD;
    if (behind_head && reads_another(p, c, best)) k->flags |= HAS_RESIDUAL;
    if (class_of(p, c) == FUSION_SOFTMAX) k->flags = (uint8_t)((k->flags & ~IS_SCORES) | IS_PROBS);
    if (class_of(p, c) == FUSION_MATMUL) k->flags &= (uint8_t)~IS_PROBS;
    append(p, c, best);
  }
  for (int64_t i = g->in_start[c]; i < g->in_start[c + 1]; i++) {
    int32_t root = root_of(p, g->producer[g->in[i]]);
    if (root != root_of(p, c) && precedes(p, c, root)) prepend(p, c, root);
  }
}

/* Fills the properties of each operator alone. False without memory. */
static bool open_pass(pass *p, fusion *out, const int32_t *given, arena *a) {
  const situ_graph *g = p->g;
  int32_t n = g->n_operators;
  if (!ARENA_ARRAYS(a, ARRAY(p->kind_class, g->n_kinds), ARRAY(p->into, n), ARRAY(p->of, n), ARRAY(p->free, n),
                    ARRAY(p->source, n), ZEROS(p->done, n)))
    return false;
  for (int32_t k = 0; k < g->n_kinds; k++) p->kind_class[k] = (uint8_t)fusion_class_of(g->kind_name[k]);
  disjoint_init(p->into, n);
  for (int32_t v = 0; v < n; v++) {
    bool again = g->phase[v] == SITU_PHASE_RECOMPUTE; /* at the costs of the forward pass */
    bool free = g->flops[v] <= 0 && g->moved_bytes[v] <= 0 && g->inferred[v] &&
                (again || g->phase[v] == SITU_PHASE_FORWARD) &&
                !g->has_idle; /* what rests in this step works in the other one */
    bool source = free, known = free;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      source = source && p->source[g->producer[g->in[i]]];
      known = known && out->known[g->producer[g->in[i]]];
    }
    p->free[v] = free;
    p->source[v] = source;
    out->known[v] = known || (free && class_of(p, v) == FUSION_SHAPE);
    p->of[v] = (kernel){.exit = v, .head = free ? -1 : v, .open = (int32_t)uses_of(g, v)};
    if (given && given[v] >= 0) p->of[v].flags = IS_FIXED;
  }
  for (int32_t v = 0; given && v < n; v++)
    if (given[v] >= 0) disjoint_join(p->into, v, given[v]);
  return true;
}

/* Prepares the sets that the caller gave: stores their data at their roots. */
static void close_given(pass *p, const int32_t *given) {
  for (int32_t v = 0; given && v < p->g->n_operators; v++) {
    int32_t root = root_of(p, v);
    if (given[v] < 0 || root == v) continue;
    p->of[root].exit = v;
    p->of[root].open += p->of[v].open;
    p->of[root].head = given[v];
  }
}

/* ---- the work of kernels ---- */

/* Whether each tensor leaves its kernel, and whether the kernel computed it. Operators without work pass both on. */
static void follow_tensors(pass *p, bool *leaves, bool *made) {
  const situ_graph *g = p->g;
  for (int32_t v = g->n_operators - 1; v >= 0; v--)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      leaves[t] = g->use_start[t] == g->use_start[t + 1];
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !leaves[t]; i++) {
        int32_t w = g->use[i];
        leaves[t] = root_of(p, w) != root_of(p, v);
        for (int32_t o = g->out_start[w]; p->free[w] && o < g->out_start[w + 1]; o++) leaves[t] |= leaves[o];
      }
    }
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool own = !p->free[v];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && !own; i++)
      own = made[g->in[i]] && root_of(p, g->producer[g->in[i]]) == root_of(p, v);
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) made[t] = own;
  }
}

/* The bytes that v moves as a member of its kernel. Tensors that other members produce are neither written nor read,
 * and tensors that several members read are read once. reader[t] is the latest kernel seen to read t. */
static int64_t bytes_moved(pass *p, int32_t v, const bool *leaves, const bool *made, int32_t *reader) {
  const situ_graph *g = p->g;
  int64_t bytes = g->moved_bytes[v];
  if (p->free[v]) return 0;
  int32_t root = root_of(p, v);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    if (!leaves[t]) bytes -= min64(bytes, g->size_bytes[t]);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i];
    bool inside = made[t] && root_of(p, g->producer[t]) == root;
    if (inside || reader[t] == root) bytes -= min64(bytes, g->size_bytes[t]);
    reader[t] = root;
  }
  return max64(bytes, min64(g->weight_bytes[v], g->moved_bytes[v]));
}

static bool sum_work(fusion *out, pass *p, arena *a) {
  const situ_graph *g = p->g;
  int32_t n = g->n_operators, *start, *member, *reader = ARENA_NEW(a, int32_t, g->n_tensors);
  int64_t *flops, *bytes;
  uint8_t *dtype;
  bool *leaves, *made;
  if (!reader || !ARENA_ARRAYS(a, ARRAY(out->group, n), ZEROS(flops, n), ZEROS(bytes, n), ARRAY(dtype, n),
                               ARRAY(leaves, g->n_tensors), ARRAY(made, g->n_tensors)))
    return false;
  for (int32_t v = 0; v < n; v++) {
    const kernel *k = &p->of[root_of(p, v)];
    out->group[v] = k->head >= 0 ? k->head : root_of(p, v);
    dtype[v] = k->flags & IS_INT8 ? SITU_DTYPE_I8 : g->dtype[v];
  }
  if (!csr_by_key(&start, &member, out->group, n, n, a)) return false;
  for (int32_t t = 0; t < g->n_tensors; t++) reader[t] = -1;
  follow_tensors(p, leaves, made);
  for (int32_t head = 0; head < n; head++) {
    for (int32_t i = start[head]; i < start[head + 1]; i++) {
      flops[head] = sat_add(flops[head], g->flops[member[i]]);
      bytes[head] = sat_add(bytes[head], bytes_moved(p, member[i], leaves, made, reader));
    }
    out->n_working += flops[head] > 0 || bytes[head] > 0;
  }
  out->flops = flops;
  out->moved_bytes = bytes;
  out->dtype = dtype;
  return true;
}

bool fusion_find(fusion *out, const situ_graph *g, unsigned rules, const int32_t *given, const int32_t *apart,
                 arena *a) {
  *out = (fusion){.flops = g->flops, .moved_bytes = g->moved_bytes, .dtype = g->dtype};
  int32_t n = g->n_operators;
  if (!rules && !given) {
    for (int32_t v = 0; v < n; v++) out->n_working += g->flops[v] > 0 || g->moved_bytes[v] > 0;
    return true;
  }
  pass p = {.g = g, .rules = rules, .apart = apart};
  out->known = ARENA_ZERO(a, bool, n);
  if (!out->known || !open_pass(&p, out, given, a)) return false;
  close_given(&p, given);
  for (int32_t v = 0; rules && v < n; v++) {
    if (p.done[v] || p.source[v]) continue;
    if (!p.free[v])
      visit(&p, v);
    else if (!(p.of[v].flags & IS_FIXED))
      join_producer(&p, v);
  }
  for (int32_t v = n - 1; rules && v >= 0; v--)
    if (p.free[v] && p.into[v] == v && !(p.of[v].flags & IS_FIXED)) join_consumer(&p, v);
  if (!rules) out->known = NULL;
  return sum_work(out, &p, a);
}
