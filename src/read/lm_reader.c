/* From what is asked of a language model to its steps. */
#include "read/lm_reader.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "graph/graph.h"

enum { USUAL_CONTEXT = 4096, MOST_TOKENS = 1 << 28, MOST_STREAMS = 1 << 20 };

typedef struct load {
  int64_t prompt, context, streams, generate;
} load;

static situ_status find_load(load *out, const lm *m, const read_source *source, situ_error *error) {
  const situ_read_options *o = source->options;
  int64_t most = MOST_TOKENS, usual = m->trained_context > 0 ? min64(m->trained_context, USUAL_CONTEXT) : USUAL_CONTEXT;
  if (o->prompt > most || o->context > most || o->generate > most || o->batch > MOST_STREAMS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "prompt, context and generate are at most %d tokens, batch at most %d streams", MOST_TOKENS,
                     MOST_STREAMS);
  int64_t asked = o->prompt + o->generate;
  if (o->context > 0 && o->context < asked)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "a context of %" PRId64 " tokens does not hold a prompt of %" PRId64 " and %" PRId64
                     " to generate",
                     o->context, o->prompt, o->generate);
  *out = (load){o->prompt, o->context > 0 ? o->context : asked > 0 ? asked : usual, max64(o->batch, 1), o->generate};
  return SITU_STATUS_OK;
}

/* Prefill in micro-batches of equal size. */
static lm_step prefill_step(const load *l, int64_t *repeats) {
  int64_t prompt = l->prompt > 0 ? l->prompt : min64(LM_MICRO_BATCH, l->context);
  int64_t micro = (prompt + LM_MICRO_BATCH - 1) / LM_MICRO_BATCH, tokens = (prompt + micro - 1) / micro;
  int64_t streams = max64(1, min64(l->streams, LM_MICRO_BATCH / prompt));
  *repeats = micro * ((l->streams + streams - 1) / streams);
  return (lm_step){.streams = streams,
                   .tokens = tokens,
                   .context = (double)(prompt - tokens) / 2,
                   .cells = l->context,
                   .caches = l->streams,
                   .head_rows = 1 / (double)micro};
}

/* Decoding: one token of each stream, behind the mean of what the cache holds meanwhile. */
static lm_step decode_step(const load *l) {
  int64_t last = l->prompt > 0 ? l->prompt + l->generate : l->context, steps = max64(l->generate, 1);
  return (lm_step){.streams = l->streams,
                   .tokens = 1,
                   .context = (double)(last - steps) + (double)(steps - 1) / 2,
                   .cells = l->context,
                   .caches = l->streams,
                   .head_rows = 1};
}

/* Weights of floating types count in another one. */
static void set_precision(const lm *m, situ_dtype dtype) {
  for (int32_t i = 0; dtype && i < m->n_tensors; i++) {
    lm_tensor *t = &m->tensors[i];
    int64_t elements = 1;
    if (t->dtype != SITU_DTYPE_F32 && t->dtype != SITU_DTYPE_F16 && t->dtype != SITU_DTYPE_BF16) continue;
    for (int32_t k = 0; k < t->rank; k++) elements = sat_mul(elements, t->dims[k]);
    t->bytes = sat_mul(elements, situ_dtype_bits(dtype)) / 8;
    t->dtype = dtype;
  }
}

situ_status lm_read(read_result *result, const lm *m, const read_source *source, situ_error *error) {
  load l = {0};
  int64_t prefills = 1;
  TRY(find_load(&l, m, source, error));
  set_precision(m, read_precision(source->options->precision));
  lm_step prefill = prefill_step(&l, &prefills), decode = decode_step(&l);
  bool first = l.prompt > 0;
  text_add(&result->notes, "architecture %s: cache of %" PRId64 " tokens for %" PRId64 " stream%s, in F16\n",
           m->architecture, l.context, l.streams, l.streams == 1 ? "" : "s");
  read_steps *s = &result->steps;
  TRY(lm_build(&result->graph, m, first ? &prefill : &decode, &result->notes, error));
  TRY(lm_build(&s->other, m, first ? &decode : &prefill, NULL, error));
  ENSURE(s->other->n_operators == result->graph->n_operators && s->other->n_tensors == result->graph->n_tensors);
  s->prefill_first = first;
  s->repeats[0] = first ? prefills : max64(l.generate, 1);
  s->repeats[1] = first ? l.generate : 0;
  s->tokens[first ? 0 : 1] = prefill.streams * prefill.tokens;
  s->tokens[first ? 1 : 0] = l.streams;
  return SITU_STATUS_OK;
}
