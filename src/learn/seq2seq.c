#include "learn/seq2seq.h"
#include "base/contracts.h"
#include "learn/softmax_draw.h"

bool seq2seq_init(seq2seq *s, params *p, int32_t width, int32_t hidden, int32_t n_devices, rng *random) {
  REQUIRE(width > 0 && hidden > 0 && n_devices > 0);
  *s = (seq2seq){.params = p, .hidden = hidden, .n_devices = n_devices};
  static const char *const names[2][4] = {
      {"encoder.into", "encoder.into_shift", "encoder.around", "encoder.around_shift"},
      {"reverse.into", "reverse.into_shift", "reverse.around", "reverse.around_shift"}};
  int32_t last = 0;
  for (int k = 0; k < 2; k++) {
    s->into[k] = params_add(p, names[k][0], width, 3 * hidden, PARAMS_GLOROT, random);
    s->into_shift[k] = params_add(p, names[k][1], 1, 3 * hidden, PARAMS_ZERO, random);
    s->around[k] = params_add(p, names[k][2], hidden, 3 * hidden, PARAMS_GLOROT, random);
    last = s->around_shift[k] = params_add(p, names[k][3], 1, 3 * hidden, PARAMS_ZERO, random);
    if (last < 0) return false;
  }
  s->key = params_add(p, "attention.key", 2 * hidden, hidden, PARAMS_GLOROT, random);
  s->query = params_add(p, "attention.query", hidden, hidden, PARAMS_GLOROT, random);
  s->score = params_add(p, "attention.score", 1, hidden, PARAMS_GLOROT, random);
  s->read = params_add(p, "decoder.read", 2 * hidden, 3 * hidden, PARAMS_GLOROT, random);
  s->chosen = params_add(p, "decoder.chosen", n_devices + 1, 3 * hidden, PARAMS_GLOROT, random);
  s->shift = params_add(p, "decoder.shift", 1, 3 * hidden, PARAMS_ZERO, random);
  s->state = params_add(p, "decoder.state", hidden, 3 * hidden, PARAMS_GLOROT, random);
  s->state_shift = params_add(p, "decoder.state_shift", 1, 3 * hidden, PARAMS_ZERO, random);
  s->out = params_add(p, "decoder.out", 3 * hidden, n_devices, PARAMS_ZERO, random); /* uniform at first */
  s->out_shift = params_add(p, "decoder.out_shift", 1, n_devices, PARAMS_ZERO, random);
  return s->out_shift >= 0;
}

/* Parameters that decoding uses in every step, as variables of the tape. */
typedef struct decoder {
  tape *t;
  nn_var encoded, keys, read, chosen; /* of all rows; of all devices */
  nn_var query, score, state, state_shift, out, out_shift;
  nn_var now; /* the state, 1 x hidden */
} decoder;

static nn_var encode(const seq2seq *s, tape *t, nn_var x) {
  nn_var way[2];
  for (int k = 0; k < 2; k++) {
    nn_var gates = nn_dense(t, x, params_var(s->params, s->into[k], t), params_var(s->params, s->into_shift[k], t));
    way[k] = nn_gru_sequence(t, gates, params_var(s->params, s->around[k], t),
                             params_var(s->params, s->around_shift[k], t), k == 1);
  }
  return nn_join(t, way[0], way[1]);
}

static decoder seq2seq_start(const seq2seq *s, tape *t, nn_var x) {
  const params *p = s->params;
  decoder d = {.t = t, .encoded = encode(s, t, x)};
  d.keys = nn_matmul(t, d.encoded, params_var(p, s->key, t));
  d.read = nn_dense(t, d.encoded, params_var(p, s->read, t), params_var(p, s->shift, t));
  d.chosen = params_var(p, s->chosen, t);
  d.query = params_var(p, s->query, t);
  d.score = params_var(p, s->score, t);
  d.state = params_var(p, s->state, t);
  d.state_shift = params_var(p, s->state_shift, t);
  d.out = params_var(p, s->out, t);
  d.out_shift = params_var(p, s->out_shift, t);
  nn_real *zero = TAPE_NEW(t, nn_real, s->hidden);
  for (int32_t i = 0; zero && i < s->hidden; i++) zero[i] = 0;
  d.now = zero ? tape_constant(t, 1, s->hidden, zero) : NN_NONE;
  return d;
}

/* Scores of all devices for row u, after device `before` (n_devices: none). */
static nn_var seq2seq_step(decoder *d, int32_t u, int32_t before) {
  tape *t = d->t;
  int32_t *index = TAPE_NEW(t, int32_t, 2);
  if (!index) return NN_NONE;
  index[0] = u;
  index[1] = before;
  nn_var gates = nn_add(t, nn_gather(t, d->read, index, 1), nn_gather(t, d->chosen, index + 1, 1));
  d->now = nn_gru(t, gates, nn_dense(t, d->now, d->state, d->state_shift), d->now);
  nn_var looked = nn_tanh(t, nn_add_row(t, d->keys, nn_matmul(t, d->now, d->query)));
  nn_var weights = nn_softmax(t, nn_matmul_transposed(t, d->score, looked));
  return nn_dense(t, nn_join(t, d->now, nn_matmul(t, weights, d->encoded)), d->out, d->out_shift);
}

decision seq2seq_decide(const seq2seq *s, tape *t, nn_var x, environment *env, rng *random, int32_t *device) {
  REQUIRE(x == NN_NONE || tape_at(t, x).rows == env->n_units);
  decoder d = seq2seq_start(s, t, x);
  decision made = {NN_NONE, NN_NONE};
  int32_t before = s->n_devices;
  environment_empty(env);
  for (int32_t u = 0; u < env->n_units; u++) {
    nn_var score = seq2seq_step(&d, u, before);
    bool *open = TAPE_NEW(t, bool, s->n_devices);
    if (score == NN_NONE || !open) return (decision){NN_NONE, NN_NONE};
    environment_open(env, u, open);
    before = device[u] = softmax_choose(tape_at(t, score).value, open, s->n_devices, random);
    environment_put(env, u, before);
    nn_var chances = nn_log_softmax(t, score, open), chance = nn_pick(t, chances, &device[u]);
    nn_var entropy = reinforce_entropy(t, chances);
    made.log_chance = u == 0 ? chance : nn_add(t, made.log_chance, chance);
    made.entropy = u == 0 ? entropy : nn_add(t, made.entropy, entropy);
  }
  return made;
}
