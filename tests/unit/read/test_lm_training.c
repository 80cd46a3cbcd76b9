/* The training step of a language model: all tokens of the prompt at once, and three times the work of reading them. */
#include "../../lab/test.h"
#include "base/text.h"
#include "graph/graph.h"
#include "read/reader.h"

extern const reader safetensors_reader;

enum { WIDTH = 64, INNER = 128, VOCAB = 1000, BLOCKS = 2, MAX_BYTES = 1 << 16 };
/* Elements of the matrices of a block: query, key, value, output; gate, up, down. */
enum { BLOCK_ELEMENTS = 4 * WIDTH * WIDTH + 3 * WIDTH * INNER };

static void add_tensor(text_buffer *t, const char *name, int64_t rows, int64_t cols, int64_t *at) {
  int64_t n = 4 * rows * (cols > 0 ? cols : 1);
  text_add(t, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%lld", t->length > 8 + 1 ? "," : "", name, (long long)rows);
  if (cols > 0) text_add(t, ",%lld", (long long)cols);
  text_add(t, "],\"data_offsets\":[%lld,%lld]}", (long long)*at, (long long)(*at + n));
  *at += n;
}

/* The header of a small decoder of the kind llama; without weights, which are never read. */
static text_buffer decoder(void) {
  static const char *const names[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"};
  text_buffer t = {0};
  int64_t at = 0;
  char name[80];
  text_add_bytes(&t, "\0\0\0\0\0\0\0\0{", 9);
  add_tensor(&t, "model.embed_tokens.weight", VOCAB, WIDTH, &at);
  for (int b = 0; b < BLOCKS; b++) {
    for (int i = 0; i < 4; i++) {
      snprintf(name, sizeof name, "model.layers.%d.%s.weight", b, names[i]);
      add_tensor(&t, name, WIDTH, WIDTH, &at);
    }
    snprintf(name, sizeof name, "model.layers.%d.input_layernorm.weight", b);
    add_tensor(&t, name, WIDTH, 0, &at);
    snprintf(name, sizeof name, "model.layers.%d.post_attention_layernorm.weight", b);
    add_tensor(&t, name, WIDTH, 0, &at);
    snprintf(name, sizeof name, "model.layers.%d.mlp.gate_proj.weight", b);
    add_tensor(&t, name, INNER, WIDTH, &at);
    snprintf(name, sizeof name, "model.layers.%d.mlp.up_proj.weight", b);
    add_tensor(&t, name, INNER, WIDTH, &at);
    snprintf(name, sizeof name, "model.layers.%d.mlp.down_proj.weight", b);
    add_tensor(&t, name, WIDTH, INNER, &at);
  }
  add_tensor(&t, "model.norm.weight", WIDTH, 0, &at);
  add_tensor(&t, "lm_head.weight", VOCAB, WIDTH, &at);
  text_add(&t, "}");
  uint64_t n = t.length - 8;
  for (int i = 0; i < 8; i++) t.bytes[i] = (char)(n >> (8 * i));
  return t;
}

static read_result read_decoder(int64_t prompt, bool training) {
  situ_read_options o = {.size = sizeof o, .default_dim = 1, .prompt = prompt, .training = training};
  text_buffer t = decoder();
  read_source source = {
      .path = "m.safetensors", .bytes = (const unsigned char *)t.bytes, .size_bytes = t.length, .options = &o};
  read_result r = {0};
  situ_error error = {0};
  if (safetensors_reader.read(&r, &source, &error) != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
  text_free(&t);
  return r;
}

static void result_free(read_result *r) {
  situ_graph_free(r->graph);
  situ_graph_free(r->steps.other);
  text_free(&r->notes);
}

/* FLOPs of all operators of a kind. */
static int64_t flops_of(const situ_graph *g, const char *kind) {
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (strcmp(g->kind_name[g->kind[v]], kind) == 0) sum += g->flops[v];
  return sum;
}

static int64_t all_flops(const situ_graph *g) {
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) sum += g->flops[v];
  return sum;
}

TEST(a_training_step_reads_all_tokens_of_the_prompt_once) {
  for (int64_t n = 256; n <= 8192; n *= 2) {
    read_result whole = read_decoder(n, true), parts = read_decoder(n, false);
    OWN(situ_graph) *step = NULL;
    situ_error error = {0};
    if (graph_training(&step, whole.graph, (training_options){.optimizer = SITU_OPTIMIZER_SGD}, &error) !=
        SITU_STATUS_OK)
      fail_msg("%s", error.text);
    /* 2 FLOP for each weight and token forward, as many for each of two gradients. */
    int64_t matrices = 2 * n * ((int64_t)BLOCKS * BLOCK_ELEMENTS + (int64_t)VOCAB * WIDTH);
    assert_int_equal(flops_of(step, "MatMul"), matrices);
    assert_int_equal(flops_of(step, "MatMulGrad"), 2 * matrices);
    /* Token i sees i tokens: n (n + 1) / 2 pairs, 2 FLOP for each element of key and value; the gradients of two
     * products of two inputs each are twice that. */
    int64_t pairs = n * (n + 1) / 2, attention = BLOCKS * pairs * 4 * WIDTH;
    assert_int_equal(flops_of(step, "Attention"), attention);
    assert_int_equal(flops_of(step, "AttentionGrad"), 2 * attention);
    /* Forward, the same tokens in parts of 512, of which only the last token has its logits computed. */
    int64_t forward = all_flops(parts.graph) * parts.steps.whole[0] + 2 * (n - 1) * (int64_t)VOCAB * WIDTH;
    double ratio = (double)all_flops(step) / (double)forward;
    if (!(ratio > 2.9 && ratio < 3.1)) fail_msg("%lld tokens: %.3f times", (long long)n, ratio);
    /* Nothing is cached: weights are those of the file, and nothing but weights is updated. */
    int64_t weights = 0, updated = 0;
    for (int32_t v = 0; v < step->n_operators; v++) {
      if (step->phase[v] == SITU_PHASE_FORWARD) weights += step->weight_bytes[v];
      if (step->phase[v] == SITU_PHASE_UPDATE) updated += step->flops[v];
    }
    int64_t elements = (int64_t)BLOCKS * (BLOCK_ELEMENTS + 2 * WIDTH) + 2 * (int64_t)VOCAB * WIDTH + WIDTH;
    assert_int_equal(weights, 4 * elements);
    assert_int_equal(updated, 2 * elements); /* plain descent: 2 FLOP for each */
    result_free(&whole);
    result_free(&parts);
  }
}

TEST(what_only_serving_has_is_refused_in_training) {
  text_buffer t = decoder();
  for (int k = 0; k < 4; k++) {
    situ_read_options o = {.size = sizeof o, .default_dim = 1, .training = true};
    if (k == 0) o.context = 1024;
    if (k == 1) o.generate = 10;
    if (k == 2) o.draft = 4;
    if (k == 3) o.kv_type = "q8_0";
    read_source source = {
        .path = "m.safetensors", .bytes = (const unsigned char *)t.bytes, .size_bytes = t.length, .options = &o};
    read_result r = {0};
    situ_error error = {0};
    assert_int_equal(safetensors_reader.read(&r, &source, &error), SITU_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "a training step"));
    result_free(&r);
  }
  text_free(&t);
}

TEST_MAIN
