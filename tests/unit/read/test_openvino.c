/* OpenVINO IR: small files by hand, bad ones, and real ones when they are there (SITU_SHARED). */
#include "../../lab/test.h"
#include "base/file.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "read/reader.h"

extern const reader openvino_reader;

static situ_status read_bytes(read_result *result, const void *bytes, size_t n, int64_t default_dim,
                              situ_error *error) {
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = default_dim};
  read_source source = {.path = "m.xml", .bytes = bytes, .size_bytes = n, .options = &options};
  *result = (read_result){0};
  *error = (situ_error){0};
  return openvino_reader.read(result, &source, error);
}

static void drop(read_result *r) {
  situ_graph_free(r->graph);
  free(r->dims);
  text_free(&r->notes);
}

static situ_operator find(const situ_graph *g, const char *name) {
  int32_t v = situ_graph_find(g, name);
  if (v < 0) fail_msg("there is no operator %s", name);
  return graph_operator(g, v);
}

#define NET(version, layers, edges)                                                                           \
  "<?xml version=\"1.0\"?>\n<net name=\"n\" version=\"" version "\"><layers>" layers "</layers><edges>" edges \
  "</edges></net>"
#define DIMS1(a) "<dim>" #a "</dim>"
#define DIMS2(a, b) DIMS1(a) DIMS1(b)
#define DIMS3(a, b, c) DIMS2(a, b) DIMS1(c)
#define DIMS4(a, b, c, d) DIMS2(a, b) DIMS2(c, d)
#define LAYER(id, name, type, rest) "<layer id=\"" #id "\" name=\"" name "\" type=\"" type "\">" rest "</layer>\n"
#define IN(id, dims) "<port id=\"" #id "\">" dims "</port>"
#define OUT(id, dims) "<output><port id=\"" #id "\" precision=\"FP32\">" dims "</port></output>"
#define EDGE(from, from_port, to, to_port) \
  "<edge from-layer=\"" #from "\" from-port=\"" #from_port "\" to-layer=\"" #to "\" to-port=\"" #to_port "\"/>"
#define PARAMETER(id, dims) LAYER(id, "p" #id, "Parameter", OUT(0, dims))
#define CONST(id, size, dims) LAYER(id, "k" #id, "Const", "<data offset=\"0\" size=\"" #size "\"/>" OUT(0, dims))

/* Two convolutions share their weights, which are stored in half precision behind a Convert; the second one has them in
 * groups. The ReLU between reads a view. */
static const char shared_weights[] = NET(
    "11",
    PARAMETER(0, DIMS4(1, 8, 4, 4)) CONST(1, 1152, DIMS4(8, 8, 3, 3))
        LAYER(2, "up", "Convert", "<input>" IN(0, DIMS4(8, 8, 3, 3)) "</input>" OUT(1, DIMS4(8, 8, 3, 3)))
            LAYER(3, "conv", "Convolution",
                  "<data strides=\"1,1\" pads_begin=\"1,1\"/><input>" IN(0, DIMS4(1, 8, 4, 4))
                      IN(1, DIMS4(8, 8, 3, 3)) "</input>" OUT(2, DIMS4(1, 8, 4, 4)))
                LAYER(4, "relu", "ReLU", "<input>" IN(0, DIMS4(1, 8, 4, 4)) "</input>" OUT(1, DIMS4(1, 8, 4, 4))) LAYER(
                    5, "again", "Convolution",
                    "<input>" IN(0, DIMS4(1, 8, 4, 4)) IN(1, DIMS4(8, 8, 3, 3)) "</input>" OUT(2, DIMS4(1, 8, 2, 2)))
                    LAYER(6, "end", "Result", "<input>" IN(0, DIMS4(1, 8, 2, 2)) "</input>"),
    EDGE(0, 0, 3, 0) EDGE(1, 0, 2, 0) EDGE(2, 1, 3, 1) EDGE(3, 2, 4, 0) EDGE(4, 1, 5, 0) EDGE(2, 1, 5, 1)
        EDGE(5, 2, 6, 0));

TEST(layers_become_operators_and_constants_weights) {
  read_result r;
  situ_error e;
  if (read_bytes(&r, shared_weights, sizeof shared_weights - 1, 1, &e)) fail_msg("%s", e.text);
  assert_int_equal(r.graph->n_operators, 4); /* without Parameter, Const, Result */
  assert_int_equal(r.graph->n_edges, 2);     /* conv -> relu -> again; the folded Convert joins nobody */
  situ_operator conv = find(r.graph, "conv"), again = find(r.graph, "again"), up = find(r.graph, "up");
  assert_int_equal(conv.flops, 2 * (8 * 4 * 4) * (8 * 3 * 3));
  assert_int_equal(again.flops, 2 * (8 * 2 * 2) * (8 * 3 * 3));
  assert_int_equal(conv.weight_bytes, 1152); /* as stored, charged once */
  assert_int_equal(again.weight_bytes, 0);
  assert_int_equal(up.flops + up.moved_bytes + up.weight_bytes, 0);
  assert_true(conv.inferred && again.inferred && conv.dtype == SITU_DTYPE_F32);
  assert_int_equal(conv.source_id, 3);
  assert_string_equal(conv.kind, "Convolution");
  assert_int_equal(r.graph->size_bytes[r.graph->out_start[situ_graph_find(r.graph, "conv")]], 4 * 8 * 4 * 4);
  assert_non_null(strstr(r.notes.bytes, "weights are read again"));
  drop(&r);
}

/* One operator on parameters of the given shapes. */
static situ_operator one(const char *type, const char *data, const char *shapes[], int n, const char *out) {
  char text[8192];
  size_t at = (size_t)snprintf(text, sizeof text, "<net name=\"n\" version=\"10\"><layers>");
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "<layer id=\"%d\" name=\"p%d\" type=\"Parameter\"><output><port id=\"0\" "
                           "precision=\"FP32\">%s</port></output></layer>",
                           i, i, shapes[i]);
  at += (size_t)snprintf(text + at, sizeof text - at, "<layer id=\"%d\" name=\"x\" type=\"%s\"><data %s/><input>", n,
                         type, data);
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "<port id=\"%d\">%s</port>", i, shapes[i]);
  at += (size_t)snprintf(
      text + at, sizeof text - at,
      "</input><output><port id=\"%d\" precision=\"FP32\">%s</port></output></layer></layers><edges>", n, out);
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "<edge from-layer=\"%d\" from-port=\"0\" to-layer=\"%d\" to-port=\"%d\"/>", i, n, i);
  at += (size_t)snprintf(text + at, sizeof text - at, "</edges></net>");
  read_result r;
  situ_error e;
  if (read_bytes(&r, text, at, 1, &e)) fail_msg("%s: %s", type, e.text);
  situ_operator found = find(r.graph, "x");
  drop(&r);
  return found;
}

/* FLOPs by hand from the definition of each kind (docs.openvino.ai, operation sets). */
TEST(work_is_counted_by_kind) {
  const struct {
    const char *type, *data, *shapes[3];
    int n;
    const char *out;
    int64_t flops;
  } cases[] = {
      {"MatMul",
       "transpose_a=\"false\" transpose_b=\"true\"",
       {DIMS2(4, 16), DIMS2(8, 16)},
       2,
       DIMS2(4, 8),
       2 * 4 * 8 * 16},
      {"MatMul",
       "transpose_a=\"true\" transpose_b=\"false\"",
       {DIMS2(16, 4), DIMS2(16, 8)},
       2,
       DIMS2(4, 8),
       2 * 4 * 8 * 16},
      {"GroupConvolution",
       "",
       {DIMS4(1, 6, 5, 5), "<dim>3</dim><dim>4</dim><dim>2</dim><dim>3</dim><dim>3</dim>"},
       2,
       DIMS4(1, 12, 3, 3),
       2 * (12 * 9) * (2 * 9)},
      {"ConvolutionBackpropData",
       "",
       {DIMS4(1, 2, 4, 4), DIMS4(2, 3, 2, 2)},
       2,
       DIMS4(1, 3, 8, 8),
       2 * (2 * 16) * (3 * 4)},
      {"AvgPool", "kernel=\"3,3\"", {DIMS4(1, 2, 6, 6)}, 1, DIMS4(1, 2, 4, 4), 2 * 16 * 9},
      {"Multiply", "", {DIMS2(4, 8), DIMS2(4, 8)}, 2, DIMS2(4, 8), 32},
      {"ReduceMean", "", {DIMS2(4, 8), DIMS1(1)}, 2, DIMS1(4), 32},
      {"Reshape", "", {DIMS2(4, 8), DIMS1(1)}, 2, DIMS1(32), 0},
      {"LSTMCell",
       "hidden_size=\"8\"",
       {DIMS2(2, 5), DIMS2(2, 8), DIMS2(2, 8)},
       3,
       DIMS2(2, 8),
       2 * 4 * 8 * (5 + 8) * 2},
      {"GRUSequence",
       "hidden_size=\"8\" direction=\"bidirectional\"",
       {DIMS3(2, 7, 5)},
       1,
       DIMS4(2, 2, 7, 8),
       2 * 3 * 8 * (5 + 8) * 2 * 7 * 2},
      {"ScaledDotProductAttention",
       "",
       {DIMS3(2, 6, 4), DIMS3(2, 9, 4), DIMS3(2, 9, 4)},
       3,
       DIMS3(2, 6, 4),
       2 * 2 * (2 * 6 * 9 * 4)},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *shapes[3] = {cases[i].shapes[0], cases[i].shapes[1], cases[i].shapes[2]};
    situ_operator x = one(cases[i].type, cases[i].data, shapes, cases[i].n, cases[i].out);
    if (x.flops != cases[i].flops || !x.inferred)
      fail_msg("%s has %lld FLOPs, expected %lld", cases[i].type, (long long)x.flops, (long long)cases[i].flops);
  }
  assert_false(one("Oracle", "", (const char *[]){DIMS1(3)}, 1, DIMS1(3)).inferred);
}

#define BODY                                                                                                     \
  "<body><layers>" LAYER(0, "in", "Parameter", OUT(0, DIMS2(1, 8)))                                              \
      LAYER(1, "half", "ReLU", "<input>" IN(0, DIMS2(1, 8)) "</input>" OUT(1, DIMS2(1, 8)))                      \
          LAYER(2, "out", "Result", "<input>" IN(0, DIMS2(1, 8)) "</input>") "</layers><edges>" EDGE(0, 0, 1, 0) \
              EDGE(1, 1, 2, 0) "</edges></body>"

TEST(a_body_counts_as_often_as_it_runs) {
  const struct {
    const char *mapping;
    int64_t trips;
    bool known;
  } cases[] = {
      {"<input external_port_id=\"0\" axis=\"0\"/>", 6, true},
      {"<input external_port_id=\"0\" axis=\"-2\" stride=\"2\" part_size=\"2\"/>", 3, true},
      {"<input external_port_id=\"0\" axis=\"0\" start=\"-1\" end=\"0\" stride=\"-1\"/>", 6, true},
      {"<input external_port_id=\"0\" axis=\"0\" start=\"1\" end=\"5\"/>", 4, true},
      {"<output external_port_id=\"1\" axis=\"0\"/>", 6, true},
      {"<input external_port_id=\"0\"/>", 1, false},
      {"<input external_port_id=\"0\" axis=\"0\" stride=\"0\"/>", 1, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[4096];
    int n = snprintf(text, sizeof text,
                     NET("11",
                         PARAMETER(0, DIMS2(6, 8)) LAYER(1, "loop", "TensorIterator",
                                                         "<input>" IN(0, DIMS2(6, 8)) "</input>" OUT(
                                                             1, DIMS2(6, 8)) "<port_map>%s</port_map>" BODY),
                         EDGE(0, 0, 1, 0)),
                     cases[i].mapping);
    read_result r;
    situ_error e;
    if (read_bytes(&r, text, (size_t)n, 1, &e)) fail_msg("%s", e.text);
    situ_operator loop = find(r.graph, "loop");
    assert_int_equal(loop.flops, 8 * cases[i].trips);
    assert_int_equal(loop.inferred, cases[i].known);
    assert_int_equal(r.n_nested_operators, 1);
    drop(&r);
  }
}

TEST(dynamic_dimensions_get_the_default_size) {
  static const char text[] = NET("11",
                                 PARAMETER(0, DIMS2(-1, 8)) LAYER(
                                     1, "relu", "ReLU", "<input>" IN(0, DIMS2(-1, 8)) "</input>" OUT(1, DIMS2(-1, 8))),
                                 EDGE(0, 0, 1, 0));
  read_result r;
  situ_error e;
  assert_int_equal(read_bytes(&r, text, sizeof text - 1, 5, &e), SITU_STATUS_OK);
  assert_int_equal(find(r.graph, "relu").flops, 40);
  assert_non_null(strstr(r.notes.bytes, "dimension p0[0] = 5 "));
  assert_int_equal(r.n_dims, 0); /* the caller's default is given, not assumed */
  drop(&r);
}

TEST(what_is_wrong_is_said) {
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"<net name=\"n\" version=\"5\"><layers/></net>", "version 5"},
      {"<net name=\"n\"><layers/></net>", "version"},
      {"<model version=\"10\"/>", "<net>"},
      {"<net name=\"n\" version=\"10\"><layers>", "well-formed"},
      {"<!DOCTYPE net [<!ENTITY a \"aaaa\">]><net name=\"&a;\" version=\"10\"/>", "document type"},
      {NET("10", "<layer id=\"x\" name=\"a\" type=\"ReLU\"/>", ""), "whole number"},
      {NET("10", "<layer id=\"1\" name=\"a\"/>", ""), "type"},
      {NET("10", PARAMETER(0, DIMS1(-2)), ""), "size of at least 0"},
      {NET("10", PARAMETER(0, DIMS1(99999999999999999999)), ""), "size of at least 0"},
      {NET("10", PARAMETER(0, DIMS1(1)) PARAMETER(0, DIMS1(1)), ""), "id 0"},
      {NET("10", PARAMETER(0, DIMS1(1)), EDGE(0, 0, 7, 0)), "no layer 7"},
      {NET("10", PARAMETER(0, DIMS1(1)), EDGE(0, 3, 0, 0)), "3"},
      {NET("10", LAYER(0, "a", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1))), ""), "no edge"},
      {NET("10", LAYER(0, "a", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1))), EDGE(0, 1, 0, 0)),
       "cycle"},
      {NET("10", PARAMETER(0, DIMS1(1)) LAYER(1, "a", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1))),
           EDGE(0, 0, 1, 0) EDGE(0, 0, 1, 0)),
       "two edges"},
      {NET("10", LAYER(1, "a", "Split", "<output>" IN(4, DIMS1(1)) IN(4, DIMS1(1)) "</output>"), ""), "two ports 4"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    read_result r;
    situ_error e;
    assert_int_equal(read_bytes(&r, cases[i].text, strlen(cases[i].text), 1, &e), SITU_STATUS_BAD_INPUT);
    if (!strstr(e.text, cases[i].said)) fail_msg("case %d says \"%s\", not \"%s\"", (int)i, e.text, cases[i].said);
    drop(&r);
  }
}

TEST(layers_of_one_name_are_told_apart) {
  static const char text[] =
      NET("10",
          PARAMETER(0, DIMS1(1)) LAYER(1, "a", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1)))
              LAYER(2, "a", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1)))
                  LAYER(3, "a_2", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1)))
                      LAYER(4, "", "ReLU", "<input>" IN(0, DIMS1(1)) "</input>" OUT(1, DIMS1(1))),
          EDGE(0, 0, 1, 0) EDGE(0, 0, 2, 0) EDGE(0, 0, 3, 0) EDGE(0, 0, 4, 0));
  read_result r;
  situ_error e;
  if (read_bytes(&r, text, sizeof text - 1, 1, &e)) fail_msg("%s", e.text);
  assert_int_equal(find(r.graph, "a").source_id, 1);
  assert_int_equal(r.graph->n_operators, 4);
  drop(&r);
}

/* ---- real files ---- */

static bool load(const char *name, file_view *view) {
  const char *at = getenv("SITU_SHARED");
  char path[600];
  situ_error e;
  snprintf(path, sizeof path, "%s/data/openvino/%s", at ? at : ".", name);
  return file_exists(path) && file_open(view, path, &e) == SITU_STATUS_OK;
}

static int64_t occurrences(const file_view *view, const char *word) {
  int64_t n = 0;
  size_t length = strlen(word);
  for (size_t at = 0; at + length <= view->size_bytes; at++) n += memcmp(view->bytes + at, word, length) == 0;
  return n;
}

/* Layers without bodies: all but those that only bring or take values are operators. FLOPs and bytes of weights against
 * what is published: Inception-v3 5.73 G multiply-adds; MPNet-base 109,486,464 parameters less 590,592 of a pooler that
 * this export lacks. */
TEST(real_models_have_their_published_size) {
  static const char *const names[] = {
      "all_mpnet_base_v2.xml", "face_detection_adas_0001.xml", "face_reidentification_retail_0095.xml",
      "inception_v3_i8.xml",   "npu_dynamic_reshape.xml",      "resnet_v1_50_i8.xml",
      "samplenet.xml",         "test_model_fp32.xml",          "npu_shape-of-gather-strided-slice-test.xml"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    file_view view;
    if (!load(names[i], &view)) skip();
    read_result r;
    situ_error e;
    assert_int_equal(openvino_reader.recognise(&(read_source){.bytes = view.bytes, .size_bytes = view.size_bytes}), 2);
    if (read_bytes(&r, view.bytes, view.size_bytes, 1, &e)) fail_msg("%s: %s", names[i], e.text);
    int64_t layers = occurrences(&view, "<layer "), outside = occurrences(&view, "type=\"Const\"") +
                                                              occurrences(&view, "type=\"Parameter\"") +
                                                              occurrences(&view, "type=\"Result\"");
    assert_int_equal(r.graph->n_operators, layers - outside);
    double flops = 0, weight_bytes = 0;
    for (int32_t v = 0; v < r.graph->n_operators; v++) {
      situ_operator op = graph_operator(r.graph, v);
      flops += strstr(op.kind, "Convolution") || strcmp(op.kind, "MatMul") == 0 ? (double)op.flops : 0;
      weight_bytes += (double)op.weight_bytes;
    }
    if (i == 0)
      assert_true(weight_bytes >= 4.0 * (109486464 - 590592) && weight_bytes < 1.001 * 4 * (109486464 - 590592));
    if (i == 3) assert_true(flops / 2 > 0.99 * 5.73e9 && flops / 2 < 1.01 * 5.73e9);
    drop(&r);
    file_close(&view);
  }
}

TEST(real_models_with_bodies_are_read) {
  static const struct {
    const char *name;
    int32_t n_operators;
    int64_t n_nested;
  } cases[] = {{"gru_bidirectional_irv6.xml", 16, 6},
               {"loop_2d_add.xml", 3, 2},
               {"npu_loop.xml", 1, 2},
               {"ti_negative_stride.xml", 1, 3},
               {"ti_resnet.xml", 1, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    file_view view;
    if (!load(cases[i].name, &view)) skip();
    read_result r;
    situ_error e;
    if (read_bytes(&r, view.bytes, view.size_bytes, 1, &e)) fail_msg("%s: %s", cases[i].name, e.text);
    assert_int_equal(r.graph->n_operators, cases[i].n_operators); /* counted in the files by eye */
    assert_int_equal(r.n_nested_operators, cases[i].n_nested);
    drop(&r);
    file_close(&view);
  }
}

/* Bytes changed at random: an answer or an error, never a crash. */
TEST(damaged_files_are_read_or_refused) {
  rng random = rng_new(7);
  size_t n = sizeof shared_weights - 1;
  char *copy = malloc(n);
  for (int round = 0; round < 5000; round++) {
    memcpy(copy, shared_weights, n);
    size_t length = rng_below(&random, 8) ? n : (size_t)rng_below(&random, (uint64_t)n);
    for (int64_t k = rng_below(&random, 4); k >= 0; k--)
      copy[rng_below(&random, (uint64_t)n)] = "0123456789-<>/\" abc\xff"[rng_below(&random, 20)];
    read_result r;
    situ_error e;
    situ_status status = read_bytes(&r, copy, length, 1, &e);
    assert_true(status == SITU_STATUS_OK || (status == SITU_STATUS_BAD_INPUT && *e.text));
    drop(&r);
  }
  free(copy);
}

TEST_MAIN
