/* Open dimensions of OpenVINO IR: small files by hand. Shapes that are expected were worked out from the pages of the
 * operation sets (docs.openvino.ai); each case says how. */
#include <unistd.h>

#include "../../lab/test.h"
#include "graph/graph.h"
#include "read/reader.h"

extern const reader openvino_reader;

static read_result result;
static situ_error error;
static char folder[] = "/tmp/situ-ir-XXXXXX", model_path[64], data_path[64];

/* ---- files ---- */

typedef struct file {
  text_buffer layers, edges;
  int64_t constants[256]; /* of the .bin file */
  int n_constants, n_layers;
} file;

static file made;

/* A list "1 3 -1 -1" as elements. */
static void add_dims(text_buffer *to, const char *dims) {
  for (const char *at = dims; *at;) {
    size_t n = strcspn(at, " ");
    text_add(to, "<dim>%.*s</dim>", (int)n, at);
    at += n + strspn(at + n, " ");
  }
}

static int begin_layer(const char *name, const char *type, const char *data) {
  text_add(&made.layers, "<layer id=\"%d\" name=\"%s\" type=\"%s\"><data %s/>", made.n_layers, name, type, data);
  return made.n_layers++;
}

static void end_layer(const char *precision, const char *const *outputs, int n_outputs) {
  text_add(&made.layers, "<output>");
  for (int k = 0; k < n_outputs; k++) {
    text_add(&made.layers, "<port id=\"%d\" precision=\"%s\">", 50 + k, precision);
    add_dims(&made.layers, outputs[k]);
    text_add(&made.layers, "</port>");
  }
  text_add(&made.layers, "</output></layer>\n");
}

static int input(const char *name, const char *precision, const char *dims) {
  int id = begin_layer(name, "Parameter", "");
  end_layer(precision, &dims, 1);
  return id;
}

/* Weights: their elements are of no interest, and lie beyond the end of the .bin file. */
static int weights(const char *dims) {
  int id = begin_layer("w", "Const", "offset=\"100000\" size=\"4\"");
  end_layer("FP32", &dims, 1);
  return id;
}

/* A list "0 -1" of I64 that the .bin file holds; "s2" is a scalar, "empty" a list of none. */
static int numbers(const char *list) {
  char data[64], n[16];
  bool scalar = *list == 's';
  int first = made.n_constants;
  if (strcmp(list, "empty") == 0) list = "";
  for (const char *at = list + scalar; *at;) {
    char *end;
    made.constants[made.n_constants++] = strtoll(at, &end, 10);
    at = end + strspn(end, " ");
  }
  snprintf(data, sizeof data, "offset=\"%d\" size=\"%d\"", 8 * first, 8 * (made.n_constants - first));
  snprintf(n, sizeof n, "%d", made.n_constants - first);
  int id = begin_layer("k", "Const", data);
  const char *dims = scalar ? "" : n;
  end_layer("I64", &dims, 1);
  return id;
}

/* A layer that reads output `id % 1000`'s output number id / 1000. */
static int layer_of(const char *name, const char *type, const char *data, const char *precision, const int *from,
                    int n_from, const char *const *outputs, int n_outputs) {
  int id = begin_layer(name, type, data);
  text_add(&made.layers, "<input>");
  for (int k = 0; k < n_from; k++) text_add(&made.layers, "<port id=\"%d\"/>", k);
  text_add(&made.layers, "</input>");
  for (int k = 0; k < n_from; k++) {
    bool boundary = from[k] < 0;
    if (!boundary)
      text_add(&made.edges, "<edge from-layer=\"%d\" from-port=\"%d\" to-layer=\"%d\" to-port=\"%d\"/>", from[k] % 1000,
               50 + from[k] / 1000, id, k);
  }
  end_layer(precision, outputs, n_outputs);
  return id;
}

#define FROM(...) (const int[]){__VA_ARGS__}, (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int))
static int layer(const char *name, const char *type, const char *data, const int *from, int n, const char *out) {
  return layer_of(name, type, data, "FP32", from, n, &out, 1);
}

static int whole(const char *name, const char *type, const char *data, const int *from, int n, const char *out) {
  return layer_of(name, type, data, "I64", from, n, &out, 1);
}

/* ---- reading them ---- */

static void forget_result(void) {
  situ_graph_free(result.graph);
  text_free(&result.notes);
  free(result.dims);
  result = (read_result){0};
  error = (situ_error){0};
}

static void begin(void) {
  text_free(&made.layers);
  text_free(&made.edges);
  made = (file){0};
}

static int forget(void **state) {
  forget_result();
  begin();
  unlink(data_path);
  return 0;
}

/* Reads what was made; dims are "x[0]=2 x[1]=3", written into room. The .bin file is there unless `alone`. */
static situ_status read_with(const char *dims, int64_t default_dim, bool alone) {
  char room[256];
  situ_dim given[8];
  text_buffer text = {0};
  situ_read_options options = {.size = sizeof options, .dims = given, .default_dim = default_dim};
  snprintf(room, sizeof room, "%s", dims);
  for (char *at = strtok(room, " "); at; at = strtok(NULL, " ")) {
    char *sign = strchr(at, '=');
    *sign = '\0';
    given[options.n_dims++] = (situ_dim){at, strtoll(sign + 1, NULL, 10)};
  }
  text_add(&text, "<net name=\"n\" version=\"11\"><layers>%s</layers><edges>%s</edges></net>", made.layers.bytes,
           made.edges.bytes ? made.edges.bytes : "");
  assert_false(text.failed || made.layers.failed || made.edges.failed);
  unlink(data_path);
  if (!alone) {
    FILE *f = fopen(data_path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(made.constants, sizeof *made.constants, (size_t)made.n_constants, f), made.n_constants);
    fclose(f);
  }
  forget_result();
  read_source source = {
      .path = model_path, .bytes = (unsigned char *)text.bytes, .size_bytes = text.length, .options = &options};
  situ_status status = openvino_reader.read(&result, &source, &error);
  text_free(&text);
  return status;
}

static void read_well(const char *dims) {
  if (read_with(dims, 0, false) != SITU_STATUS_OK) fail_msg("%s: %s", error.where, error.text);
}

/* The shape of output k of an operator, as "1 3 224 224". */
static const char *shape_of(const char *name, int k) {
  static char text[256];
  int32_t first, v = situ_graph_find(result.graph, name);
  if (v < 0) fail_msg("there is no operator %s", name);
  assert_true(situ_graph_outputs(result.graph, v, &first) > k);
  situ_tensor t = graph_tensor(result.graph, first + k);
  size_t at = 0;
  text[0] = '\0';
  for (int32_t d = 0; d < t.rank; d++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", d ? " " : "", (long long)t.dims[d]);
  return text;
}

static bool noted(const char *text) { return result.notes.bytes && strstr(result.notes.bytes, text); }

static int64_t assumed(const char *name) {
  for (int32_t i = 0; i < result.n_dims; i++)
    if (strcmp(result.dims[i].name, name) == 0) return result.dims[i].value;
  return 1;
}

/* ---- sizes of inputs ---- */

/* A window of 3 that is moved by 2 over a padding of 1: half of the image. */
static void make_image_model(const char *out) {
  begin();
  int x = input("x", "FP32", "-1 3 -1 -1");
  layer("conv", "Convolution", "strides=\"2,2\" dilations=\"1,1\" pads_begin=\"1,1\" pads_end=\"1,1\"",
        FROM(x, weights("16 3 3 3")), out);
}

TEST(images_get_a_usual_size) {
  make_image_model("-1 16 -1 -1");
  read_well("");
  assert_string_equal(shape_of("conv", 0), "1 16 112 112");
  assert_true(noted("dimension x[0] = 1 (set it with --dim 'x[0]=N')\n"));
  assert_true(noted("dimension x[3] = 224 "));
  assert_false(noted("without a size"));
  assert_int_equal(result.n_dims, 2); /* sizes of 1 are those that everybody takes */
  assert_string_equal(result.dims[0].name, "x[2]");
  assert_int_equal(assumed("x[3]"), 224);
}

TEST(sizes_that_are_given_win) {
  make_image_model("-1 16 -1 -1");
  read_well("x[0]=2 x[2]=32 x[3]=49");
  assert_string_equal(shape_of("conv", 0), "2 16 16 25"); /* (49 + 2 - 3) / 2 + 1 */
  assert_int_equal(result.n_dims, 0);
  assert_false(noted("dimension"));
  assert_int_equal(read_with("x[0]=2", 64, false), SITU_STATUS_OK);
  assert_string_equal(shape_of("conv", 0), "2 16 32 32");
  assert_int_equal(result.n_dims, 0); /* the caller's default is given, not assumed */
}

TEST(a_size_of_no_dimension_is_refused) {
  make_image_model("-1 16 -1 -1");
  assert_int_equal(read_with("y[2]=8", 0, false), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "no dynamic dimension y[2]"));
  assert_non_null(strstr(error.text, "x[2]"));
  assert_int_equal(read_with("x[1]=3", 0, false), SITU_STATUS_BAD_ARGUMENT); /* the file states it */
  begin();
  layer("a", "ReLU", "", FROM(input("x", "FP32", "2 3")), "2 3");
  assert_int_equal(read_with("x[0]=2", 0, false), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "all its sizes are fixed"));
}

/* 24 x 24 pixels of 16 channels are 9216 numbers, which sides of 48 make: all others of the list make more or less. */
TEST(other_sizes_are_tried_where_layers_do_not_fit) {
  make_image_model("-1 16 -1 -1");
  layer("flat", "Reshape", "special_zero=\"true\"", FROM(2, numbers("1 9216")), "1 9216");
  read_well("");
  assert_string_equal(shape_of("conv", 0), "1 16 24 24");
  assert_int_equal(assumed("x[2]"), 48);
  assert_false(noted("fit"));
  assert_false(noted("x[2] = 224"));
  /* Given, the sizes are the caller's to answer for. */
  assert_int_equal(read_with("x[0]=1 x[2]=32 x[3]=32", 0, false), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, "flat");
  /* No size makes 9217. */
  make_image_model("-1 16 -1 -1");
  layer("flat", "Reshape", "special_zero=\"true\"", FROM(2, numbers("1 9217")), "1 9217");
  read_well("");
  assert_true(noted("layer 'flat' does not fit the assumed dimensions"));
  assert_true(noted("layers that do not fit the assumed dimensions: 1; set these with --dim"));
  assert_string_equal(shape_of("flat", 0), "1 9217");
}

TEST(sizes_that_the_file_states_stay) {
  make_image_model("-1 16 7 -1"); /* 7 rows of a window that makes 112 of 224 */
  read_well("");
  assert_string_equal(shape_of("conv", 0), "1 16 7 1"); /* where all sizes are 1 there is one place: not 7 */
  assert_true(noted("the file states other sizes"));
  begin(); /* no open dimension: the file is right, whatever the layers are */
  layer("a", "ReLU", "", FROM(input("x", "FP32", "2 3")), "5 7");
  read_well("");
  assert_string_equal(shape_of("a", 0), "5 7");
  assert_false(noted("fit"));
}

/* ---- layers ---- */

/* One layer on an input of the given shape, whose open dimensions have the given sizes, and on constants. */
typedef struct layer_case {
  const char *type, *data, *x, *dims;
  const char *constants[4];
  const char *out[3], *expected[3];
} layer_case;

static void expect(const layer_case *c) {
  int from[5], n = 1, n_out = 0;
  begin();
  from[0] = input("x", "FP32", c->x);
  for (int k = 0; k < 4 && c->constants[k]; k++)
    from[n++] = *c->constants[k] == 'w' ? weights(c->constants[k] + 1) : numbers(c->constants[k]);
  while (n_out < 3 && c->out[n_out]) n_out++;
  layer_of("a", c->type, c->data, "FP32", from, n, c->out, n_out);
  read_well(c->dims);
  for (int k = 0; k < n_out; k++)
    if (strcmp(shape_of("a", k), c->expected[k]) != 0)
      fail_msg("%s %s, output %d: %s, not %s", c->type, c->data, k, shape_of("a", k), c->expected[k]);
}

#define WINDOW(strides, begin, end) "strides=\"" strides "\" pads_begin=\"" begin "\" pads_end=\"" end "\" "

TEST(windows_slide) {
  static const layer_case cases[] = {
      /* (10 + 1 + 0 - 3) / 2 + 1; (11 - (3 - 1) * 2 - 1) + 1 */
      {"Convolution",
       WINDOW("2,1", "1,0", "0,0") "dilations=\"1,2\"",
       "1 4 -1 -1",
       "x[2]=10 x[3]=11",
       {"w8 4 3 3"},
       {"1 8 -1 -1"},
       {"1 8 5 7"}},
      /* same: a third of 10, rounded up; the pads of the file do not count */
      {"Convolution",
       WINDOW("3", "9", "9") "auto_pad=\"same_upper\"",
       "1 4 -1",
       "x[2]=10",
       {"w8 4 3"},
       {"1 8 -1"},
       {"1 8 4"}},
      {"Convolution",
       WINDOW("1", "9", "9") "auto_pad=\"valid\"",
       "1 4 -1",
       "x[2]=10",
       {"w8 4 3"},
       {"1 8 -1"},
       {"1 8 8"}},
      /* 3 groups of 4 channels from 2 each */
      {"GroupConvolution",
       WINDOW("1,1", "0,0", "0,0"),
       "1 6 -1 -1",
       "x[2]=5 x[3]=6",
       {"w3 4 2 3 3"},
       {"1 12 -1 -1"},
       {"1 12 3 4"}},
      /* 2 * (7 - 1) + 3 - 1 - 1, and one more for the output padding */
      {"ConvolutionBackpropData",
       WINDOW("2,2", "1,1", "1,1") "output_padding=\"0,1\"",
       "1 4 -1 -1",
       "x[2]=7 x[3]=7",
       {"w4 8 3 3"},
       {"1 8 -1 -1"},
       {"1 8 13 14"}},
      {"ConvolutionBackpropData",
       WINDOW("2,2", "1,1", "1,1"),
       "-1 4 7 7",
       "x[0]=2",
       {"w4 8 3 3", "14 15"},
       {"-1 8 -1 -1"},
       {"2 8 14 15"}},
      {"GroupConvolutionBackpropData",
       WINDOW("2", "0", "0"),
       "1 6 -1",
       "x[2]=4",
       {"w2 3 5 2"},
       {"1 10 -1"},
       {"1 10 8"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

TEST(pools_round_as_they_say) {
  static const layer_case cases[] = {
      /* 8 elements, windows of 3 by 3: two whole ones and a rest, which ceil counts */
      {"MaxPool",
       WINDOW("3", "0", "0") "kernel=\"3\" rounding_type=\"floor\"",
       "1 4 -1",
       "x[2]=8",
       {NULL},
       {"1 4 -1"},
       {"1 4 2"}},
      {"MaxPool",
       WINDOW("3", "0", "0") "kernel=\"3\" rounding_type=\"ceil\"",
       "1 4 -1",
       "x[2]=8",
       {NULL},
       {"1 4 -1", "1 4 -1"},
       {"1 4 3", "1 4 3"}},
      /* 9 elements by 3 and windows of 2: the next window would begin at 9, behind all of them */
      {"AvgPool",
       WINDOW("3", "0", "1") "kernel=\"2\" rounding_type=\"ceil_torch\"",
       "1 4 -1",
       "x[2]=9",
       {NULL},
       {"1 4 -1"},
       {"1 4 3"}},
      {"AvgPool",
       WINDOW("3", "0", "1") "kernel=\"2\" rounding_type=\"ceil\"",
       "1 4 -1",
       "x[2]=9",
       {NULL},
       {"1 4 -1"},
       {"1 4 4"}},
      {"AdaptiveAvgPool", "", "-1 4 9 9", "x[0]=3", {"2 5"}, {"-1 4 -1 -1"}, {"3 4 2 5"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

TEST(views_and_moves_keep_their_elements) {
  static const layer_case cases[] = {
      {"Reshape", "special_zero=\"true\"", "-1 6 4", "x[0]=2", {"0 -1"}, {"-1 -1"}, {"2 24"}},
      {"Reshape", "special_zero=\"false\"", "-1 6 4", "x[0]=2", {"-1 12"}, {"-1 12"}, {"4 12"}},
      {"Transpose", "", "-1 6 -1", "x[0]=2 x[2]=5", {"2 0 1"}, {"-1 -1 6"}, {"5 2 6"}},
      {"Transpose", "", "-1 6 -1", "x[0]=2 x[2]=5", {"empty"}, {"-1 6 -1"}, {"5 6 2"}}, /* turned around */
      {"Squeeze", "", "-1 1 7", "x[0]=2", {"1"}, {"-1 7"}, {"2 7"}},
      {"Unsqueeze", "", "-1 7", "x[0]=2", {"0 -1"}, {"1 -1 7 1"}, {"1 2 7 1"}},
      {"Gather", "batch_dims=\"0\"", "-1 7", "x[0]=2", {"1 2 3", "s1"}, {"-1 3"}, {"2 3"}},
      {"Split", "num_splits=\"3\"", "4 -1", "x[1]=9", {"s1"}, {"4 -1", "4 -1", "4 -1"}, {"4 3", "4 3", "4 3"}},
      {"VariadicSplit", "", "4 -1", "x[1]=9", {"s1", "2 -1 3"}, {"4 2", "4 -1", "4 3"}, {"4 2", "4 4", "4 3"}},
      {"Slice", "", "-1 9", "x[0]=8", {"1", "7", "2", "0"}, {"-1 9"}, {"3 9"}}, /* rows 1, 3, 5 */
      {"Tile", "", "-1 3", "x[0]=2", {"4 1 2"}, {"4 -1 6"}, {"4 2 6"}},
      {"Pad", "pad_mode=\"constant\"", "-1 3", "x[0]=2", {"1 0", "2 -1"}, {"-1 2"}, {"5 2"}},
      {"DepthToSpace", "block_size=\"2\"", "1 8 -1 3", "x[2]=5", {NULL}, {"1 2 -1 6"}, {"1 2 10 6"}},
      {"Broadcast", "mode=\"numpy\"", "1 -1", "x[1]=7", {"3 7"}, {"3 -1"}, {"3 7"}},
      {"Broadcast", "mode=\"bidirectional\"", "-1 7", "x[0]=5", {"2 1 1"}, {"2 -1 7"}, {"2 5 7"}},
      {"Interpolate",
       "shape_calculation_mode=\"sizes\"",
       "1 2 -1 -1",
       "x[2]=5 x[3]=6",
       {"10 12", "2 3"},
       {"1 2 -1 -1"},
       {"1 2 10 12"}},
      {"Interpolate", "axes=\"2,3\"", "-1 2 5 6", "x[0]=2", {"10 12"}, {"-1 2 10 12"}, {"2 2 10 12"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

/* Of [5, 6, 7, 8]. A bit of begin_mask or end_mask says that the number is not used. */
TEST(strided_slices_obey_their_masks) {
#define MASKS(begin, end, new_axis, shrink, ellipsis)                                                       \
  "begin_mask=\"" begin "\" end_mask=\"" end "\" new_axis_mask=\"" new_axis "\" shrink_axis_mask=\"" shrink \
  "\" ellipsis_mask=\"" ellipsis "\""
  static const layer_case cases[] = {
      {"StridedSlice",
       MASKS("0,0", "0,0", "0,0", "0,0", "0,0"),
       "-1 6 7 8",
       "x[0]=5",
       {"1 2", "3 4"},
       {"-1 2 7 8"},
       {"2 2 7 8"}},
      {"StridedSlice",
       MASKS("1,0", "0,1", "0,0", "0,0", "0,0"),
       "-1 6 7 8",
       "x[0]=5",
       {"1 2", "3 4"},
       {"-1 4 7 8"},
       {"3 4 7 8"}}, /* 0..3 and 2..6 */
      {"StridedSlice",
       MASKS("0,0", "0,0", "0,0", "0,1", "0,0"),
       "-1 6 7 8",
       "x[0]=5",
       {"1 2", "3 4"},
       {"-1 7 8"},
       {"2 7 8"}},
      {"StridedSlice",
       MASKS("0,0", "0,0", "1,0", "0,0", "0,0"),
       "-1 6 7 8",
       "x[0]=5",
       {"1 2", "3 4"},
       {"1 -1 6 7 8"},
       {"1 2 6 7 8"}}, /* a new axis, and 2..4 of the first */
      {"StridedSlice",
       MASKS("0,0", "0,0", "0,0", "0,0", "1,0"),
       "-1 6 7 8",
       "x[0]=5",
       {"1 2", "3 4"},
       {"-1 6 7 2"},
       {"5 6 7 2"}},
      {"StridedSlice",
       MASKS("1", "1", "", "", ""),
       "-1 6 7 8",
       "x[0]=5",
       {"0", "0", "-2"},
       {"-1 6 7 8"},
       {"3 6 7 8"}},                                                                                /* 4, 2, 0 */
      {"StridedSlice", MASKS("0", "0", "", "1", ""), "6 -1", "x[1]=9", {"-1", "0"}, {"-1"}, {"9"}}, /* the last row */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

TEST(the_rest_follows_its_page) {
  static const layer_case cases[] = {
      {"MatMul", "transpose_a=\"false\" transpose_b=\"true\"", "-1 5 16", "x[0]=3", {"w8 16"}, {"-1 5 8"}, {"3 5 8"}},
      {"MatMul", "transpose_a=\"true\"", "-1 16 5", "x[0]=3", {"w16 8"}, {"-1 5 8"}, {"3 5 8"}},
      {"Concat", "axis=\"-1\"", "2 -1", "x[1]=5", {"w2 4"}, {"2 -1"}, {"2 9"}},
      {"Add", "", "-1 1 4", "x[0]=2", {"w3 1"}, {"-1 3 4"}, {"2 3 4"}},
      {"Select", "", "-1 1", "x[0]=2", {"w1 3", "w5 1 1"}, {"5 -1 3"}, {"5 2 3"}},
      {"ReduceMean", "keep_dims=\"true\"", "-1 4 -1 -1", "x[0]=2 x[2]=5 x[3]=6", {"2 3"}, {"-1 4 1 1"}, {"2 4 1 1"}},
      {"ReduceMax", "keep_dims=\"false\"", "-1 4 -1", "x[0]=2 x[2]=5", {"s1"}, {"-1 -1"}, {"2 5"}},
      {"TopK", "axis=\"1\"", "-1 9", "x[0]=2", {"s3"}, {"-1 3", "-1 3"}, {"2 3", "2 3"}},
      {"LSTMSequence",
       "hidden_size=\"7\" direction=\"bidirectional\"",
       "-1 -1 4",
       "x[0]=2 x[1]=9",
       {NULL},
       {"-1 2 -1 7", "-1 2 7", "-1 2 7"},
       {"2 2 9 7", "2 2 7", "2 2 7"}},
      {"GRUCell", "hidden_size=\"7\"", "-1 4", "x[0]=2", {NULL}, {"-1 7"}, {"2 7"}},
      {"ScaledDotProductAttention", "", "-1 5 16", "x[0]=2", {"w2 9 16", "w2 9 8"}, {"-1 5 8"}, {"2 5 8"}},
      {"Swish", "", "-1 4", "x[0]=2", {NULL}, {"-1 4"}, {"2 4"}},
      {"Einsum", "equation=\"abc,cd-&gt;bad\"", "-1 5 16", "x[0]=2", {"w16 8"}, {"5 -1 8"}, {"5 2 8"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

/* ---- values ---- */

/* [batch, heads * 4] as [batch, heads, 4]: the pattern is {batch of the input, -1, 4}. */
TEST(shapes_that_are_computed_are_followed) {
  begin();
  int x = input("x", "FP32", "-1 -1");
  int shape = whole("shape", "ShapeOf", "", FROM(x), "2");
  int batch = whole("batch", "Gather", "batch_dims=\"0\"", FROM(shape, numbers("0"), numbers("s0")), "1");
  int pattern = whole("pattern", "Concat", "axis=\"0\"", FROM(batch, numbers("-1 4")), "3");
  layer("y", "Reshape", "special_zero=\"false\"", FROM(x, pattern), "-1 -1 4");
  read_well("x[0]=3 x[1]=20");
  assert_string_equal(shape_of("y", 0), "3 5 4");
  /* The shape is known before anything runs: so it is no work, as in a file that states the sizes. */
  assert_int_equal(result.graph->n_edges, 0);
}

/* Half the length, as an image is scaled: Floor(Convert(shape) * 0.5) would need floats; here in integers. */
TEST(lengths_may_be_arithmetic) {
  begin();
  int x = input("x", "FP32", "1 -1");
  int n = whole("n", "Gather", "", FROM(whole("shape", "ShapeOf", "", FROM(x), "2"), numbers("1"), numbers("s0")), "1");
  int half = whole("half", "Divide", "", FROM(n, numbers("2")), "1");
  layer("y", "Slice", "", FROM(x, numbers("0"), half, numbers("1"), numbers("1")), "1 -1");
  int end = whole("end", "Squeeze", "", FROM(half, numbers("0")), "");
  whole("range", "Range", "", FROM(numbers("s0"), end, numbers("s3")), "-1");
  read_well("x[1]=15");
  assert_string_equal(shape_of("y", 0), "1 7");
  assert_string_equal(shape_of("range", 0), "3"); /* 0, 3, 6 */
}

TEST(without_constants_the_number_of_elements_helps) {
  begin();
  int x = input("x", "FP32", "-1 4 6");
  layer("y", "Reshape", "special_zero=\"false\"", FROM(x, numbers("-1 12")), "-1 12");
  layer("z", "Transpose", "", FROM(x, numbers("2 0 1")), "6 -1 4");
  layer("mean", "ReduceMean", "keep_dims=\"true\"", FROM(x, numbers("1")), "-1 1 6");
  layer("tile", "Tile", "", FROM(x, numbers("2 1 1")), "-1 4 6");
  assert_int_equal(read_with("x[0]=5", 0, true), SITU_STATUS_OK);
  assert_string_equal(shape_of("y", 0), "10 12");
  assert_string_equal(shape_of("z", 0), "6 5 4");
  assert_string_equal(shape_of("mean", 0), "5 1 6");
  assert_string_equal(shape_of("tile", 0), "1 4 6"); /* as before: nothing says it */
  assert_true(noted("dimensions without a size, 1, count as 1"));
  assert_true(noted("no file m.bin"));
  read_well("x[0]=5");
  assert_string_equal(shape_of("tile", 0), "10 4 6");
  assert_false(noted("m.bin"));
}

/* ---- bodies ---- */

/* A body whose Parameter has the id 70, and its Result the id 72. */
static void add_body(const char *element, const char *in, const char *type, const char *out) {
  text_add(&made.layers,
           "<%s><layers><layer id=\"70\" name=\"p\" type=\"Parameter\"><output><port id=\"0\" "
           "precision=\"FP32\">",
           element);
  add_dims(&made.layers, in);
  text_add(&made.layers,
           "</port></output></layer><layer id=\"71\" name=\"b\" type=\"%s\"><input><port id=\"0\"/></input>"
           "<output><port id=\"1\" precision=\"FP32\">",
           type);
  add_dims(&made.layers, out);
  text_add(&made.layers,
           "</port></output></layer><layer id=\"72\" name=\"r\" type=\"Result\"><input><port id=\"0\"/></input></layer>"
           "</layers><edges><edge from-layer=\"70\" from-port=\"0\" to-layer=\"71\" to-port=\"0\"/>"
           "<edge from-layer=\"71\" from-port=\"1\" to-layer=\"72\" to-port=\"0\"/></edges></%s>",
           element);
}

/* Each of 6 rows of 8 by itself: a ReLU of 8 elements, 6 times. */
TEST(a_body_gets_the_part_of_its_input) {
  begin();
  int x = input("x", "FP32", "-1 -1"), id = begin_layer("loop", "TensorIterator", "");
  text_add(&made.layers, "<input><port id=\"0\"/></input>");
  text_add(&made.edges, "<edge from-layer=\"%d\" from-port=\"50\" to-layer=\"%d\" to-port=\"0\"/>", x, id);
  text_add(&made.layers,
           "<port_map><input external_port_id=\"0\" internal_layer_id=\"70\" axis=\"0\"/>"
           "<output external_port_id=\"50\" internal_layer_id=\"72\" axis=\"0\"/></port_map>");
  add_body("body", "1 -1", "ReLU", "1 -1");
  end_layer("FP32", &(const char *){"-1 -1"}, 1);
  layer("after", "ReLU", "", FROM(id), "-1 -1");
  read_well("x[0]=6 x[1]=8");
  assert_string_equal(shape_of("loop", 0), "6 8");
  assert_string_equal(shape_of("after", 0), "6 8");
  assert_int_equal(graph_operator(result.graph, situ_graph_find(result.graph, "loop")).flops, 6 * 8);
  assert_false(noted("without a size"));
}

/* One branch has a ReLU; the other one a Tanh, which counts 4 for each element. Each has its own input. */
TEST(branches_have_inputs_of_their_own) {
  begin();
  int x = input("x", "FP32", "-1"), y = input("y", "FP32", "-1"), test = input("t", "BOOL", "");
  int id = begin_layer("if", "If", ""), from[] = {test, x, y};
  text_add(&made.layers,
           "<else_port_map><input external_port_id=\"2\" internal_layer_id=\"70\"/>"
           "<output external_port_id=\"50\" internal_layer_id=\"72\"/></else_port_map>"
           "<then_port_map><input external_port_id=\"1\" internal_layer_id=\"70\"/>"
           "<output external_port_id=\"50\" internal_layer_id=\"72\"/></then_port_map><input>");
  for (int k = 0; k < 3; k++) {
    text_add(&made.layers, "<port id=\"%d\"/>", k);
    text_add(&made.edges, "<edge from-layer=\"%d\" from-port=\"50\" to-layer=\"%d\" to-port=\"%d\"/>", from[k], id, k);
  }
  text_add(&made.layers, "</input>");
  add_body("then_body", "-1", "ReLU", "-1");
  add_body("else_body", "-1", "Tanh", "-1");
  end_layer("FP32", &(const char *){"-1"}, 1);
  read_well("x[0]=100 y[0]=30");
  assert_string_equal(shape_of("if", 0), "100"); /* the larger one */
  assert_int_equal(graph_operator(result.graph, situ_graph_find(result.graph, "if")).flops, 4 * 30);
}

/* ---- harm ---- */

TEST(hostile_sizes_saturate) {
  make_image_model("-1 16 -1 -1");
  read_well("x[0]=9000000000000000000 x[2]=9000000000000000 x[3]=9000000000000000");
  assert_true(graph_operator(result.graph, situ_graph_find(result.graph, "conv")).flops == INT64_MAX);
  begin();
  int x = input("x", "FP32", "-1 4");
  layer("big", "Tile", "", FROM(x, numbers("4000000000000000000 1")), "-1 4");
  layer("wide", "Pad", "", FROM(x, numbers("9223372036854775807 0"), numbers("1 0")), "-1 4");
  layer("many", "Reshape", "", FROM(x, numbers("-1 -1")), "-1 4");
  layer("slice", "StridedSlice", "begin_mask=\"0\" end_mask=\"0\" shrink_axis_mask=\"1\"",
        FROM(x, numbers("9223372036854775807"), numbers("-9223372036854775807")), "4");
  assert_int_equal(read_with("", 8, false), SITU_STATUS_OK);
  assert_true(noted("layer 'big' does not fit"));
  assert_true(noted("layer 'many' does not fit"));
}

TEST(constants_outside_of_their_file_are_not_read) {
  static const char *const places[] = {"offset=\"9223372036854775807\" size=\"16\"",
                                       "offset=\"-8\" size=\"16\"",
                                       "offset=\"8\" size=\"16\"",
                                       "offset=\"0\" size=\"8\"",
                                       "size=\"16\"",
                                       "offset=\"0\" size=\"999999999999999999\""};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    begin();
    int x = input("x", "FP32", "-1 4");
    numbers("2 6");
    int k = begin_layer("k", "Const", places[i]);
    end_layer("I64", &(const char *){"2"}, 1);
    layer("a", "Tile", "", FROM(x, k), "-1 -1");
    assert_int_equal(read_with("x[0]=2", 0, false), SITU_STATUS_OK);
    assert_string_equal(shape_of("a", 0), "1 1");
  }
}

static int make_folder(void **state) {
  if (!mkdtemp(folder)) return -1;
  snprintf(model_path, sizeof model_path, "%s/m.xml", folder);
  snprintf(data_path, sizeof data_path, "%s/m.bin", folder);
  return 0;
}

static int drop_folder(void **state) { return rmdir(folder); }

/* States of a language model begin without tokens: how many they hold is asked for, and is not silently none. */
TEST(states_and_past_keys_have_a_length_that_is_asked_for) {
  for (int given = 0; given < 2; given++) {
    begin();
    int key = input("new_key", "FP32", "-1 8 -1 64"), start = weights("1 8 0 64");
    int held = layer("held", "ReadValue", "variable_id=\"a\"", FROM(start), "-1 8 -1 64");
    layer("all", "Concat", "axis=\"2\"", FROM(held, key), "-1 8 -1 64");
    int past = input("past_key_values.0.key", "FP32", "-1 8 -1 64");
    layer("both", "Concat", "axis=\"2\"", FROM(past, key), "-1 8 -1 64");
    read_well(given ? "past=100 new_key[0]=1 new_key[2]=3 past_key_values.0.key[0]=1" : "");
    assert_string_equal(shape_of("all", 0), given ? "1 8 103 64" : "1 8 2 64"); /* else one token of each is assumed */
    assert_string_equal(shape_of("both", 0), given ? "1 8 103 64" : "1 8 2 64");
    assert_int_equal(strstr(result.notes.bytes ? result.notes.bytes : "", "dimension past = 1") != NULL, !given);
  }
  begin();
  layer("relu", "ReLU", "", FROM(input("x", "FP32", "-1 8")), "-1 8");
  assert_int_equal(read_with("past=100", 0, false), SITU_STATUS_BAD_ARGUMENT); /* no state, no such dimension */
}

int main(void) {
  test_end_each(forget);
  return TEST_RUN(make_folder, drop_folder);
}
