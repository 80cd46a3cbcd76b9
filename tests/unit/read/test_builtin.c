/* The built-in models against published numbers of parameters and of multiply-adds. */
#include <sys/resource.h>

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/clock.h"
#include "graph/graph.h"
#include "read/builtin.h"
#include "read/reader.h"

static situ_graph *generate(const char *path, int64_t *parameters) {
  situ_graph *g;
  situ_error error;
  if (builtin_generate(&g, path, SITU_DTYPE_UNKNOWN, parameters, &error) != SITU_STATUS_OK)
    fail_msg("%s: %s: %s", path, error.where, error.text);
  return g;
}

static int64_t total(const situ_graph *g, const int64_t *of_each) {
  int64_t sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) sum += of_each[v];
  return sum;
}

static bool multiplies(const situ_graph *g, int32_t v) {
  const char *kind = g->kind_name[g->kind[v]];
  return strcmp(kind, "Conv") == 0 || strcmp(kind, "MatMul") == 0 || strcmp(kind, "Gemm") == 0;
}

/* Multiply-adds of convolutions and matrix products, as the literature counts. */
static double multiply_adds(const situ_graph *g) {
  double sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++) sum += multiplies(g, v) ? (double)g->flops[v] / 2 : 0;
  return sum;
}

static void near(double value, double expected, double tolerance) {
  if (!(value > expected * (1 - tolerance) && value < expected * (1 + tolerance)))
    fail_msg("%.6g is not within %g %% of %.6g", value, 100 * tolerance, expected);
}

static void exactly(int64_t value, int64_t expected) {
  if (value != expected) fail_msg("%lld is not %lld", (long long)value, (long long)expected);
}

TEST(resnet50_has_its_published_size) {
  int64_t parameters;
  OWN(situ_graph) *g = generate("builtin:resnet50", &parameters);
  /* torchvision's resnet50: 25,557,032 parameters, 4.09 G multiply-adds. Folding turns scale and bias of each
   * normalised channel into one bias; channels: 64 + 1,408 + 3,584 + 10,240 + 11,264 = 26,560. */
  exactly(parameters, 25557032 - 26560);
  exactly(total(g, g->weight_bytes), 4 * parameters);
  near(multiply_adds(g), 4.09e9, 0.01);
  /* 53 convolutions, 49 ReLUs, 16 additions, 2 pools, a reshape, a Gemm */
  exactly(g->n_operators, 53 + 49 + 16 + 2 + 1 + 1);
  int32_t v = situ_graph_find(g, "layer3.2.conv1");
  assert_true(v >= 0);
  assert_string_equal(graph_operator(g, v).layer, "layer3.2");
  situ_tensor t = graph_tensor(g, g->out_start[v]);
  exactly(t.rank, 4);
  exactly(t.dims[1], 256); /* the third stage works on 256 channels of 14 x 14 */
  exactly(t.dims[2], 14);
  exactly(t.size_bytes, 256 * 14 * 14 * 4);
}

TEST(inception_v3_has_its_published_size) {
  int64_t parameters;
  OWN(situ_graph) *g = generate("builtin:inception-v3", &parameters);
  /* torchvision: 27,161,264 parameters with the auxiliary classifier of 3,326,696; 5.71 G multiply-adds. Of
   * the 94 convolutions each has a norm, of whose two parameters per channel folding leaves one. */
  int64_t channels = 0;
  int convolutions = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (strcmp(g->kind_name[g->kind[v]], "Conv") != 0) continue;
    channels += graph_tensor(g, g->out_start[v]).dims[1];
    convolutions++;
  }
  exactly(convolutions, 94);
  exactly(parameters, 27161264 - 3326696 - channels);
  near(multiply_adds(g), 5.71e9, 0.01);
}

TEST(bert_base_has_its_published_size) {
  int64_t parameters;
  OWN(situ_graph) *g = generate("builtin:bert-base", &parameters);
  exactly(parameters, 109482240); /* BertModel of bert-base-uncased (transformers library); 110 M in the paper */
  /* MobileBERT (Sun et al., ACL 2020), table 1: 22.5 G operations of BERT-base at 128 tokens, two per multiply-add */
  near(2 * multiply_adds(g), 22.5e9, 0.01);
}

TEST(gnmt_has_its_published_size) {
  int64_t parameters;
  OWN(situ_graph) *g = generate("builtin:gnmt?steps=10", &parameters);
  /* Shazeer et al., Outrageously Large Neural Networks, ICLR 2017, table 3: GNMT has 278 M parameters and
   * 214 M multiply-adds per time step. */
  near((double)parameters, 278e6, 0.02);
  near(multiply_adds(g) / 10, 214e6, 0.02);
  /* Weights count once though ten steps read them, and their readers sit together: 17 layers and the attention. */
  exactly(total(g, g->weight_bytes), 4 * parameters);
  exactly(g->n_colocations, 18);
  OWN(situ_graph) *longer = generate("builtin:gnmt?steps=20", &parameters);
  exactly(total(longer, longer->weight_bytes), total(g, g->weight_bytes));
}

TEST(transformer_xl_has_its_published_size) {
  int64_t parameters;
  OWN(situ_graph) *g = generate("builtin:transformer-xl?batch=2&length=512&memory=512", &parameters);
  near((double)parameters, 41e6, 0.01); /* paper, table 2: the 12-layer model for enwik8 has 41 M */
  /* Of a layer, with T = 512 new and S = 1024 seen tokens of width h = 512: q, k, v of all seen; positions once for
   * the whole batch; scores by content and by position, and the context; projection; feed-forward. */
  double t = 512, s = 1024, h = 512,
         layer = 2 * s * h * 3 * h + s * h * h + 2 * 3 * t * s * h + 2 * t * h * h + 2 * 2 * t * h * 2048;
  near(multiply_adds(g), 12 * layer + 2 * t * h * 204, 1e-6);
  OWN(situ_graph) *three = generate("builtin:transformer-xl?batch=2&length=512&memory=512&segments=3", &parameters);
  exactly(total(three, three->weight_bytes), total(g, g->weight_bytes));
  near(multiply_adds(three), 3 * multiply_adds(g), 1e-6);
}

TEST(wavenet_is_the_sum_of_its_layers) {
  int64_t parameters, samples = 16000;
  OWN(situ_graph) *g = generate("builtin:wavenet", &parameters);
  /* In 2*256 x 64; 30 layers of two gated 2*64 x 64 and a skip 64 x 256; 29 residual 64 x 64; out 256 x 256 twice. */
  int64_t products = 2 * 256 * 64 + 30 * (2 * 2 * 64 * 64 + 64 * 256) + 29 * 64 * 64 + 2 * 256 * 256;
  int64_t biases = 64 + 30 * (2 * 64 + 256) + 29 * 64 + 2 * 256;
  exactly(parameters, products + biases);
  /* Half an operation of adding a bias counts with the multiply-adds here. */
  near(multiply_adds(g), (double)(samples * products) + (double)(samples * biases) / 2, 1e-9);
  for (int32_t t = 0; t < g->n_tensors; t++) exactly(graph_tensor(g, t).dims[2], samples); /* causal */
}

TEST(randomly_wired_networks_have_about_their_published_sizes) {
  /* Paper, tables 2 and 3: C = 78 in the small regime 5.6 M and 583 M, C = 109 in the regular one 31.9 M and 4.0 G.
   * The numbers depend on the wiring a little. */
  static const char *const small[] = {"builtin:randwire-ws", "builtin:randwire-er", "builtin:randwire-ba"};
  char path[80];
  for (int i = 0; i < 9; i++) {
    int64_t parameters;
    snprintf(path, sizeof path, "%s?seed=%d", small[i % 3], i);
    situ_graph *g = generate(path, &parameters);
    near((double)parameters, 5.6e6, 0.05);
    near(multiply_adds(g), 583e6, 0.03);
    situ_graph_free(g);
    snprintf(path, sizeof path, "%s?seed=%d&stages=4&channels=109", small[i % 3], i);
    g = generate(path, &parameters);
    near((double)parameters, 31.9e6, 0.05);
    near(multiply_adds(g), 4.0e9, 0.05);
    situ_graph_free(g);
  }
}

/* Edges inside the stages of a randomly wired network: each is one product by its weight. */
static int64_t wires(const char *path) {
  OWN(situ_graph) *g = generate(path, NULL);
  int64_t n = 0;
  for (int32_t v = 0; v < g->n_operators; v++) n += strcmp(g->kind_name[g->kind[v]], "Mul") == 0;
  return n;
}

TEST(random_wirings_have_the_edges_of_their_models) {
  exactly(wires("builtin:randwire-ws?seed=5"), 3 * 32 * 4 / 2); /* rewiring keeps the number: n k / 2 */
  exactly(wires("builtin:randwire-ws?k=6&seed=5&p=0"), 3 * 32 * 6 / 2);
  exactly(wires("builtin:randwire-ba?seed=5"), 3 * (32 - 5) * 5); /* m for each but the first m */
  exactly(wires("builtin:randwire-er?p=100"), 3 * 32 * 31 / 2);   /* all pairs */
  exactly(wires("builtin:randwire-er?p=0"), 0);
  exactly(wires("builtin:randwire-ws?nodes=8&stages=1"), 8 * 4 / 2);
  near((double)wires("builtin:randwire-er?nodes=300&p=20"), 3 * 0.2 * 300 * 299 / 2, 0.03);
}

TEST(llamas_have_their_published_sizes) {
  int64_t parameters;
  situ_graph *g = generate("builtin:llama?tokens=256", &parameters);
  exactly(parameters, 6738415616); /* Llama 2 7B, model.safetensors.index of the release */
  exactly(total(g, g->weight_bytes), 2 * parameters);
  /* All but the embedding and the 65 norms multiply each token; scores and context are 256 x 256 x 4096 per layer. */
  double t = 256, products = 6738415616.0 - 32000.0 * 4096 - 65 * 4096;
  near(multiply_adds(g), t * products + 32 * 2 * t * t * 4096, 1e-6);
  situ_graph_free(g);
  g = generate("builtin:llama?layers=80&hidden=8192&heads=64&kv_heads=8&ffn=28672", &parameters);
  exactly(parameters, 68976648192); /* Llama 2 70B */
  situ_graph_free(g);
  g = generate("builtin:llama?kv_heads=8&ffn=14336&vocab=128256", &parameters);
  exactly(parameters, 8030261248); /* Llama 3 8B */
  situ_graph_free(g);
}

TEST(decoding_keeps_the_cache_with_its_layer) {
  int64_t parameters;
  OWN(situ_graph) *g = generate("builtin:llama?tokens=1&context=1000&kv_heads=8", &parameters);
  /* keys and values: 2 x 1000 tokens x 8 heads x 128 x 2 bytes in each of 32 layers */
  exactly(total(g, g->weight_bytes) - 2 * parameters, 32LL * 2 * 1000 * 8 * 128 * 2);
  int32_t v = situ_graph_find(g, "layer7.attention.scores");
  situ_tensor t = graph_tensor(g, g->out_start[v]);
  exactly(t.dims[2], 1);
  exactly(t.dims[3], 1001);
}

TEST(other_image_networks_have_their_published_sizes) {
  int64_t parameters;
  situ_graph *g = generate("builtin:vgg16", &parameters);
  exactly(parameters, 138357544); /* torchvision; 15.47 G multiply-adds */
  near(multiply_adds(g), 15.47e9, 0.005);
  situ_graph_free(g);
  g = generate("builtin:vgg16?depth=19", &parameters);
  exactly(parameters, 143667240); /* torchvision; 19.63 G */
  near(multiply_adds(g), 19.63e9, 0.005);
  situ_graph_free(g);
  g = generate("builtin:mobilenet-v2", &parameters);
  int64_t channels = 0; /* with norms 3,504,872 in torchvision, of which folding takes one per channel */
  for (int32_t v = 0; v < g->n_operators; v++)
    if (strcmp(g->kind_name[g->kind[v]], "Conv") == 0) channels += graph_tensor(g, g->out_start[v]).dims[1];
  exactly(parameters, 3504872 - channels);
  near(multiply_adds(g), 300e6, 0.02); /* paper, table 4 */
  situ_graph_free(g);
  /* GPipe, table 1: AmoebaNet-D (18, 208) 82 M, (18, 416) 318 M, (36, 544) 1.05 G parameters */
  static const char *const amoeba[] = {"builtin:amoebanet-d", "builtin:amoebanet-d?filters=416",
                                       "builtin:amoebanet-d?layers=36&filters=544"};
  static const double published[] = {82e6, 318e6, 1.05e9};
  for (int i = 0; i < 3; i++) {
    situ_graph_free(generate(amoeba[i], &parameters));
    near((double)parameters, published[i], 0.01);
  }
}

TEST(other_language_models_have_their_published_sizes) {
  int64_t parameters;
  situ_graph *g = generate("builtin:gpt2?seq=512", &parameters);
  exactly(parameters, 124439808); /* the released small model, its table of words counted once */
  exactly(total(g, g->weight_bytes), 4 * parameters);
  int32_t word = situ_graph_find(g, "word"), head = situ_graph_find(g, "head");
  assert_true(g->colocation[word] >= 0 && g->colocation[word] == g->colocation[head]);
  /* 12 layers of 12 h^2 for each token, scores and context, and the head */
  double t = 512, h = 768;
  near(multiply_adds(g), 12 * (12 * t * h * h + 2 * t * t * h) + t * h * 50257, 1e-6);
  situ_graph_free(g);
  g = generate("builtin:rnnlm?steps=4", &parameters);
  near((double)parameters, 66e6, 0.01); /* paper, section 4.1: the large network has 66 M */
  /* two layers of (1500 + 1500) x 6000 and the softmax for each word */
  near(multiply_adds(g), 4 * (2 * 3000.0 * 6000 + 1500.0 * 10000), 1e-6);
  situ_graph_free(g);
  g = generate("builtin:moe?tokens=64", &parameters);
  exactly(parameters, 46702792704); /* Mixtral 8x7B; 12.9 G work on a token */
  near(multiply_adds(g), 64 * (12.88e9 - 32000 * 4096), 0.01);
  situ_graph_free(g);
}

/* Distinct experts among E when T tokens choose k each: spec/llm.md, section 3, from E (1 - (1 - k/E)^T). The memory
 * holds all; gate, up and down of each are 64 x 64 of 2 bytes. Besides weights, k T rows of 64 go into each product and
 * out. */
TEST(tokens_read_the_experts_that_they_are_expected_to_choose) {
  static const struct {
    int experts, chosen, tokens;
    double distinct;
  } rows[] = {{128, 8, 1, 8.0}, {128, 8, 8, 51.6}, {128, 8, 32, 111.8}, {32, 4, 8, 21.0},
              {8, 2, 1, 2.0},   {8, 2, 512, 8.0},  {4, 4, 1, 4.0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char path[160];
    snprintf(path, sizeof path,
             "builtin:moe?layers=1&hidden=64&heads=2&kv_heads=2&ffn=64&experts=%d&chosen=%d&tokens=%d", rows[i].experts,
             rows[i].chosen, rows[i].tokens);
    OWN(situ_graph) *g = generate(path, NULL);
    double held = 0, moved = 0, flops = 0;
    for (int32_t v = 0; v < g->n_operators; v++) {
      if (g->layer[v] < 0 || !strstr(g->layer_name[g->layer[v]], "expert") || !multiplies(g, v)) continue;
      held += (double)g->weight_bytes[v];
      moved += (double)g->moved_bytes[v];
      flops += (double)g->flops[v];
    }
    double each = 3 * 64 * 64 * 2, rows_chosen = rows[i].chosen * rows[i].tokens;
    near(held, rows[i].experts * each, 1e-9);
    near(moved, rows[i].distinct * each + rows_chosen * 3 * 128 * 2, 0.002);
    near(flops, rows_chosen * 3 * 2 * 64 * 64, 0.001);
  }
}

TEST(every_model_takes_half_precision_and_batches) {
  for (const builtin *const *b = builtins; *b; b++) {
    char path[3][128];
    bool batches = strcmp((*b)->parameters[0].name, "batch") == 0;
    snprintf(path[0], sizeof path[0], "builtin:%s?bits=32", (*b)->name);
    snprintf(path[1], sizeof path[1], "builtin:%s?bits=16", (*b)->name);
    snprintf(path[2], sizeof path[2], "builtin:%s?bits=32&batch=2", (*b)->name);
    OWN(situ_graph) *single = generate(path[0], NULL), *half = generate(path[1], NULL);
    exactly(half->n_operators, single->n_operators);
    exactly(2 * total(half, half->weight_bytes), total(single, single->weight_bytes));
    exactly(total(half, half->flops), total(single, single->flops));
    for (int32_t v = 0; v < single->n_operators; v++) assert_true(single->inferred[v]);
    if (batches) {
      OWN(situ_graph) *twice = generate(path[2], NULL);
      exactly(twice->n_operators, single->n_operators);
      exactly(total(twice, twice->weight_bytes), total(single, single->weight_bytes));
      near(multiply_adds(twice), 2 * multiply_adds(single), 0.05); /* positions of transformer-xl count once: 4 % */
    }
  }
}

static bool same(const situ_graph *a, const situ_graph *b) {
  size_t n = (size_t)a->n_operators;
  return a->n_operators == b->n_operators && a->n_tensors == b->n_tensors && a->n_uses == b->n_uses &&
         memcmp(a->flops, b->flops, n * sizeof *a->flops) == 0 &&
         memcmp(a->in_start, b->in_start, n * sizeof *a->in_start) == 0 &&
         memcmp(a->in, b->in, (size_t)a->n_uses * sizeof *a->in) == 0;
}

TEST(a_seed_gives_one_network_and_another_seed_another) {
  static const char *const drawn[] = {"randwire-ws", "randwire-er", "randwire-ba", "layered"};
  for (int i = 0; i < 4; i++) {
    char path[2][64];
    for (int seed = 0; seed < 2; seed++)
      snprintf(path[seed], sizeof path[seed], "builtin:%s?seed=%d", drawn[i], 7 + seed);
    OWN(situ_graph) *a = generate(path[0], NULL), *b = generate(path[0], NULL), *c = generate(path[1], NULL);
    assert_true(same(a, b));
    assert_false(same(a, c));
  }
}

TEST(a_million_operators_take_seconds_and_little_memory) {
  int64_t start = clock_now_ns(), n = rounds_of(1000000);
  char path[80];
  snprintf(path, sizeof path, "builtin:layered?operators=%d&width=100", (int)n);
  OWN(situ_graph) *g = generate(path, NULL);
  exactly(g->n_operators, n);
  assert_true(clock_now_ns() - start < 30000000000); /* about 1 s; the limit is for slow and sanitised runs */
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
#if !defined(__SANITIZE_ADDRESS__)
  assert_true(usage.ru_maxrss < 300 * 1000 + n * 12 / 10); /* KiB: below 1.5 GB for a million */
#endif
}

TEST(wrong_names_and_values_are_refused_with_a_list) {
  static const struct {
    const char *path, *mentions;
  } bad[] = {{"builtin:resnet51", "did you mean resnet50?"},
             {"builtin:", "known: resnet50, inception-v3, "},
             {"builtin:resnet", "did you mean resnet50?"},
             {"builtin:resnet50?images=3", "image=32..8192"},
             {"builtin:resnet50?batch=0", "batch=1..65536"},
             {"builtin:resnet50?batch=-1", "batch=1..65536"},
             {"builtin:resnet50?batch=99999999999999999999", "batch=1..65536"},
             {"builtin:resnet50?batch=9223372036854775808", "batch=1..65536"},
             {"builtin:resnet50?batch=", "batch=1..65536"},
             {"builtin:resnet50?batch", "batch=1..65536"},
             {"builtin:resnet50?=3", "batch=1..65536"},
             {"builtin:resnet50?batch=2x", "batch=1..65536"},
             {"builtin:resnet50?batch=2&&image=64", "batch=1..65536"},
             {"builtin:resnet50?bits=17", "16 or 32"},
             {"builtin:bert-base?heads=7", "divide"},
             {"builtin:llama?heads=32&kv_heads=5", "multiple"},
             {"builtin:transformer-xl?hidden=513", "multiple"},
             {"builtin:moe?experts=2&chosen=3", "at most experts"},
             {"builtin:amoebanet-d?image=250", "multiple of 32"},
             {"builtin:vgg16?depth=17", "16 or 19"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    situ_graph *g;
    situ_error error = {0};
    if (builtin_generate(&g, bad[i].path, SITU_DTYPE_UNKNOWN, NULL, &error) != SITU_STATUS_BAD_INPUT)
      fail_msg("%s was not refused", bad[i].path);
    assert_null(g);
    assert_string_equal(error.where, bad[i].path);
    if (!strstr(error.text, bad[i].mentions)) fail_msg("%s: %s", bad[i].path, error.text);
    assert_null(strchr(error.text, '\n'));
  }
}

TEST(the_largest_values_end_in_an_answer) {
  /* Sizes saturate; nothing overflows. What is more than a graph may hold is refused. */
  static const char *const huge[] = {
      "builtin:resnet50?batch=65536&image=8192&classes=1000000",
      "builtin:bert-base?batch=65536&seq=65536&hidden=65536&heads=1024&layers=1&vocab=10000000",
      "builtin:llama?layers=1&batch=65536&tokens=1048576&context=1048576&hidden=65536&ffn=1048576",
      "builtin:gnmt?steps=1&layers=64&hidden=65536&batch=65536",
      "builtin:gnmt?steps=1&layers=2",
      "builtin:randwire-ws?nodes=4&k=1024&image=32",
      "builtin:randwire-ba?nodes=4&m=1024",
      "builtin:layered?operators=1&width=65536"};
  for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
    OWN(situ_graph) *g = generate(huge[i], NULL);
    for (int32_t v = 0; v < g->n_operators; v++) assert_true(g->flops[v] >= 0 && g->weight_bytes[v] >= 0);
  }
}

extern const reader builtin_reader;

TEST(the_reader_and_the_list_agree_with_the_table) {
  read_result result = {0};
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {.path = "builtin:resnet50?image=64", .options = &options};
  assert_int_equal(builtin_reader.read(&result, &source, NULL), SITU_STATUS_OK);
  assert_string_equal(result.graph->model, "resnet50");
  situ_graph_free(result.graph);
  situ_builtin_info info = SITU_BUILTIN_INFO_INIT;
  assert_false(situ_builtin_at(situ_builtin_count(), &info));
  assert_false(situ_builtin_at(-1, &info));
  assert_true(situ_builtin_at(0, &info));
  assert_string_equal(info.name, "resnet50");
  assert_string_equal(info.parameters, "batch=1 image=224 classes=1000 bits=32");
  for (int32_t i = 0; situ_builtin_at(i, &info); i++) {
    situ_builtin_parameter p = SITU_BUILTIN_PARAMETER_INIT;
    int32_t n = 0;
    for (; situ_builtin_parameter_at(i, n, &p); n++) assert_true(p.min <= p.default_value && p.default_value <= p.max);
    assert_true(n > 0 && n <= BUILTIN_MAX_PARAMETERS);
    assert_true(info.title && info.source && strlen(info.parameters) < sizeof info.parameters - 1);
  }
}

TEST_MAIN
