/* From what is asked of a language model to its steps. */
#include "read/lm_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "graph/graph.h"

enum { USUAL_CONTEXT = 4096, MAX_TOKENS = 1 << 28, MAX_STREAMS = 1 << 20, MAX_DRAFT = 1024 };
static const double USUAL_ACCEPTANCE = 0.7;

typedef struct load {
  int64_t prompt, context, streams, generate, draft, micro_batch;
  double gained;     /* tokens that a step of decoding is expected to add to a stream */
  double cell_bytes; /* of an element of a cache */
  const char *cells; /* its type */
} load;

/* Types of caches of llama.cpp: elements and bytes of a block. */
typedef struct cell_type {
  const char *name;
  int elements, bytes;
} cell_type;
static const cell_type cell_types[] = {{"f16", 1, 2},    {"f32", 1, 4},    {"bf16", 1, 2},
                                       {"q8_0", 32, 34}, {"q5_1", 32, 24}, {"q5_0", 32, 22},
                                       {"q4_1", 32, 20}, {"q4_0", 32, 18}, {"iq4_nl", 32, 18}};

static situ_status find_cells(load *l, const read_source *source, situ_error *error) {
  const char *asked = source->options->kv_type;
  for (size_t i = 0; i < sizeof cell_types / sizeof *cell_types; i++) {
    const cell_type *t = &cell_types[i];
    if (asked && strcmp(asked, t->name) != 0) continue;
    l->cells = t->name;
    l->cell_bytes = (double)t->bytes / t->elements;
    return SITU_STATUS_OK;
  }
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                   "%.20s is not a cache type; expected f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl", asked);
}

/* A step with n guesses, each right with probability a, adds the right ones before the first wrong one and one more:
 * (1 - a^(n+1)) / (1 - a) tokens. Leviathan, Kalman, Matias, "Fast inference from transformers via speculative
 * decoding", ICML 2023, equation 1. */
static situ_status find_draft(load *l, const read_source *source, situ_error *error) {
  const situ_read_options *o = source->options;
  double a = o->acceptance > 0 ? o->acceptance : USUAL_ACCEPTANCE;
  if (o->acceptance < 0 || !(a <= 1) || o->draft > MAX_DRAFT || (o->acceptance > 0 && o->draft == 0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "expected a draft of 1 to %d tokens, each right with a probability above 0, at most 1", MAX_DRAFT);
  l->draft = o->draft;
  l->gained = a < 1 ? (1 - pow(a, (double)o->draft + 1)) / (1 - a) : (double)o->draft + 1;
  return SITU_STATUS_OK;
}

static situ_status find_load(load *out, const lm *m, const read_source *source, situ_error *error) {
  const situ_read_options *o = source->options;
  int64_t max = MAX_TOKENS, usual = m->trained_context > 0 ? min64(m->trained_context, USUAL_CONTEXT) : USUAL_CONTEXT;
  if (o->prompt > max || o->context > max || o->generate > max || o->ubatch > max || o->batch > MAX_STREAMS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "prompt, context, generate and ubatch are at most %d tokens, batch at most %d streams", MAX_TOKENS,
                     MAX_STREAMS);
  int64_t asked = o->prompt + o->generate;
  if (o->context > 0 && o->context < asked)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "a context of %" PRId64 " tokens does not hold a prompt of %" PRId64 " and %" PRId64
                     " to generate",
                     o->context, o->prompt, o->generate);
  *out = (load){.prompt = o->prompt,
                .context = o->context > 0 ? o->context
                           : asked > 0    ? asked
                                          : usual,
                .streams = max64(o->batch, 1),
                .generate = o->generate,
                .micro_batch = o->ubatch > 0 ? o->ubatch : LM_MICRO_BATCH};
  TRY(find_cells(out, source, error));
  return find_draft(out, source, error);
}

/* Prefill in micro-batches of equal size. */
static lm_step prefill_step(const load *l, int64_t *repeats) {
  int64_t most = l->micro_batch, prompt = l->prompt > 0 ? l->prompt : min64(most, l->context);
  int64_t micro = (prompt + most - 1) / most, tokens = (prompt + micro - 1) / micro;
  int64_t streams = max64(1, min64(l->streams, most / prompt));
  *repeats = micro * ((l->streams + streams - 1) / streams);
  return (lm_step){.streams = streams,
                   .tokens = tokens,
                   .context = (double)(prompt - tokens) / 2,
                   .cells = l->context,
                   .caches = l->streams,
                   .prompt = l->prompt,
                   .generate = l->generate,
                   .head_rows = 1 / (double)micro,
                   .cell_bytes = l->cell_bytes,
                   .cell_type = l->cells == cell_types[0].name ? NULL : l->cells,
                   .micro_batch = l->micro_batch};
}

/* Decoding: one token of each stream followed by the draft, with the mean number of cached tokens. */
static lm_step decode_step(const load *l) {
  int64_t last = l->prompt > 0 ? l->prompt + l->generate : l->context, steps = max64(l->generate, 1);
  return (lm_step){.streams = l->streams,
                   .tokens = 1 + l->draft,
                   .context = (double)(last - steps) + (double)(steps - 1) / 2,
                   .cells = l->context,
                   .caches = l->streams,
                   .prompt = l->prompt,
                   .generate = l->generate,
                   .head_rows = (double)(1 + l->draft),
                   .cell_bytes = l->cell_bytes,
                   .cell_type = l->cells == cell_types[0].name ? NULL : l->cells,
                   .micro_batch = l->micro_batch};
}

/* Weights of floating types count in another one. */
static void set_precision(const lm *m, situ_dtype dtype) {
  for (int32_t i = 0; dtype && i < m->n_tensors; i++) {
    lm_tensor *t = &m->tensors[i];
    int64_t elements = 1;
    if (t->packed || (t->dtype != SITU_DTYPE_F32 && t->dtype != SITU_DTYPE_F16 && t->dtype != SITU_DTYPE_BF16))
      continue;
    for (int32_t k = 0; k < t->rank; k++) elements = sat_mul(elements, t->dims[k]);
    t->bytes = sat_mul(elements, situ_dtype_bits(dtype)) / 8;
    t->dtype = dtype;
  }
}

/* The bytes of an element of activations where a model is trained: those of most of its weights, at least 2. */
static int64_t trained_bytes(const lm *m) {
  int64_t wide = 0, narrow = 0;
  for (int32_t i = 0; i < m->n_tensors; i++) {
    int64_t *sum = m->tensors[i].dtype == SITU_DTYPE_F32 && !m->tensors[i].packed ? &wide : &narrow;
    *sum = sat_add(*sum, m->tensors[i].bytes);
  }
  return wide > narrow ? 4 : 2;
}

/* All tokens of a text at once, of each stream: they are read for the first time, and no cache is kept. */
static situ_status read_whole(read_result *result, const lm *m, const read_source *source, bool both_ways,
                              situ_error *error) {
  const situ_read_options *o = source->options;
  int64_t max = m->trained_context > 0 && both_ways ? min64(m->trained_context, MAX_TOKENS) : MAX_TOKENS;
  int64_t usual = m->trained_context > 0 ? min64(m->trained_context, LM_MICRO_BATCH) : LM_MICRO_BATCH;
  if (o->context || o->generate || o->draft || o->acceptance > 0 || o->kv_type)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "is %s (%.40s), which keeps no cache and generates nothing; expected only prompt and batch",
                     both_ways ? "an encoder" : "a training step", m->architecture);
  if (o->prompt > max || o->batch > MAX_STREAMS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "reads at most %" PRId64 " tokens at once, of at most %d streams", max, MAX_STREAMS);
  lm_step step = {.streams = max64(o->batch, 1),
                  .tokens = o->prompt > 0 ? o->prompt : usual,
                  .cell_bytes = 2,
                  .both_ways = both_ways};
  step.head_rows = (double)step.tokens;
  set_precision(m, read_precision(o->precision));
  text_add(&result->notes, "architecture %s: %s %" PRId64 " tokens at once (set them with --prompt)\n", m->architecture,
           both_ways ? "an encoder, which reads" : "a training step of", step.tokens);
  lm made = *m;
  if (o->training) made.activation_bytes = trained_bytes(m);
  return lm_build(&result->graph, &made, &step, &result->notes, error);
}

/* The two steps of a request, of which `prefill` comes first where there is a prompt. */
typedef struct request {
  lm_step prefill, decode;
  int64_t prefills;      /* steps for the whole prompt */
  double prefill_tokens; /* of one of them */
  bool first;
} request;

static situ_status build_steps(read_result *result, const lm *m, const load *l, const request *r, situ_error *error) {
  read_steps *s = &result->steps;
  bool first = r->first;
  if (l->draft > 0)
    text_add(&result->notes,
             "each step verifies %" PRId64 " guesses and adds %.2f tokens; the cost of guessing is not included\n",
             l->draft, l->gained);
  TRY(lm_build(&result->graph, m, first ? &r->prefill : &r->decode, &result->notes, error));
  TRY(lm_build(&s->other, m, first ? &r->decode : &r->prefill, NULL, error));
  ENSURE(s->other->n_operators == result->graph->n_operators && s->other->n_tensors == result->graph->n_tensors);
  s->prefill_first = first;
  s->trained_context = m->trained_context;
  int64_t steps = (int64_t)ceil((double)l->generate / l->gained);
  s->repeats[0] = first ? r->prefills : max64(steps, 1);
  s->repeats[1] = first ? steps : 0;
  s->whole[first ? 0 : 1] = r->prefills;
  s->whole[first ? 1 : 0] = max64(steps, 1);
  s->tokens[first ? 0 : 1] = r->prefill_tokens;
  s->tokens[first ? 1 : 0] = (double)l->streams * l->gained;
  return SITU_STATUS_OK;
}

/* An encoder reads the prompt at once; the decoder's cache begins empty. */
static situ_status find_pair_load(load *out, const lm *m, const read_source *source, situ_error *error) {
  const situ_read_options *o = source->options;
  int64_t max = m->source_trained > 0 ? m->source_trained : MAX_TOKENS;
  int64_t usual = m->trained_context > 0 ? min64(m->trained_context, USUAL_CONTEXT) : LM_MICRO_BATCH;
  if (o->training)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, source->path,
                     "is an encoder-decoder (%.40s), whose training step cannot be read; its steps of inference can",
                     m->architecture);
  if (o->prompt > max || o->context > MAX_TOKENS || o->generate > MAX_TOKENS || o->batch > MAX_STREAMS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "has an encoder that reads at most %" PRId64 " tokens, of at most %d streams", max, MAX_STREAMS);
  if (o->context > 0 && o->context < o->generate)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "a context of %" PRId64 " tokens does not hold %" PRId64 " to generate", o->context, o->generate);
  *out = (load){.prompt = o->prompt > 0           ? o->prompt
                          : m->source_trained > 0 ? m->source_trained
                                                  : LM_MICRO_BATCH,
                .context = o->context > 0    ? o->context
                           : o->generate > 0 ? o->generate
                                             : usual,
                .streams = max64(o->batch, 1),
                .generate = o->generate};
  TRY(find_cells(out, source, error));
  return find_draft(out, source, error);
}

static situ_status read_pair(read_result *result, const lm *m, const read_source *source, situ_error *error) {
  load l = {0};
  TRY(find_pair_load(&l, m, source, error));
  set_precision(m, read_precision(source->options->precision));
  int64_t last = l.generate > 0 ? l.generate : l.context, steps = max64(l.generate, 1);
  lm_step decode = {.streams = l.streams,
                    .tokens = 1 + l.draft,
                    .context = (double)(last - steps) + (double)(steps - 1) / 2,
                    .cells = l.context,
                    .caches = l.streams,
                    .prompt = source->options->prompt,
                    .generate = l.generate,
                    .head_rows = (double)(1 + l.draft),
                    .cell_bytes = l.cell_bytes,
                    .cell_type = l.cells == cell_types[0].name ? NULL : l.cells,
                    .source = l.prompt};
  lm_step encode = decode;
  encode.encodes = true;
  encode.head_rows = 0;
  text_add(&result->notes,
           "architecture %s: an encoder reads %" PRId64
           " tokens (--prompt), then a decoder generates behind a cache of "
           "%" PRId64 " for %" PRId64 " stream%s, in %s\n",
           m->architecture, l.prompt, l.context, l.streams, l.streams == 1 ? "" : "s", l.cells);
  request r = {.prefill = encode,
               .decode = decode,
               .prefills = 1,
               .prefill_tokens = (double)(l.streams * l.prompt),
               .first = source->options->prompt > 0};
  return build_steps(result, m, &l, &r, error);
}

situ_status lm_read(read_result *result, const lm *m, const read_source *source, situ_error *error) {
  load l = {0};
  if (m->encoder) return read_pair(result, m, source, error);
  if (m->reads_whole || source->options->training) return read_whole(result, m, source, m->reads_whole, error);
  TRY(find_load(&l, m, source, error));
  set_precision(m, read_precision(source->options->precision));
  request r = {.decode = decode_step(&l), .first = l.prompt > 0};
  r.prefill = prefill_step(&l, &r.prefills);
  r.prefill_tokens = (double)(r.prefill.streams * r.prefill.tokens);
  text_add(&result->notes, "architecture %s: cache of %" PRId64 " tokens for %" PRId64 " stream%s, in %s\n",
           m->architecture, l.context, l.streams, l.streams == 1 ? "" : "s", l.cells);
  return build_steps(result, m, &l, &r, error);
}
