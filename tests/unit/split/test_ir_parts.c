#define _GNU_SOURCE
/* OpenVINO IR by hand, cut into parts: what is copied, what is added, where weights lie. */
#include <unistd.h>

#include "../../lab/test.h"
#include "read/reader.h"
#include "split/ir_file.h"

extern const reader openvino_reader;

#define DIMS "<dim>1</dim><dim>4</dim>"
#define IN(id) "<port id=\"" #id "\">" DIMS "</port>"
#define OUT(id, more) "<output><port id=\"" #id "\" precision=\"FP32\"" more ">" DIMS "</port></output>"
#define EDGE(from, from_port, to, to_port) \
  "<edge from-layer=\"" #from "\" from-port=\"" #from_port "\" to-layer=\"" #to "\" to-port=\"" #to_port "\"/>"
#define CONST(id, at)                                                \
  "<layer id=\"" #id "\" name=\"k" #id                               \
  "\" type=\"Const\" version=\"opset1\"><data element_type=\"f32\" " \
  "shape=\"1,4\" offset=\"" #at "\" size=\"16\"/>" OUT(0, "") "</layer>\n"
#define SUM(id, name, more)                                                                       \
  "<layer id=\"" #id "\" name=\"" name "\" type=\"Add\" version=\"opset1\"" more "><input>" IN(0) \
      IN(1) "</input>" OUT(2, "") "</layer>\n"

/* y = ((x + k1) + k3) + k1: the weights k1 are read by the first and the last sum. */
#define HEAD "<?xml version=\"1.0\"?>\n<net name=\"n\" version=\"10\" own=\"kept\">\n"
#define LAYERS \
  "<layers><layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,4\" "                  \
  "element_type=\"f32\"/>" OUT(0, "") "</layer>\n" CONST(1, 16) SUM(2, "first &amp; last", " future='a > b'")      \
      CONST(3, 0) SUM(4, "middle", "") SUM(5, "end", "") "<layer id=\"6\" name=\"y\" type=\"Result\" "             \
  "version=\"opset1\"><input>" IN(0) "</input><rt_info><attribute name=\"z\" value=\"1\"/></rt_info></layer>"
#define EDGES \
  EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 4, 0) EDGE(3, 0, 4, 1) EDGE(4, 2, 5, 0) EDGE(1, 0, 5, 1) EDGE(5, 2, 6, 0)
static const char whole[] =
    HEAD LAYERS "</layers><!-- <edges> --><edges>" EDGES "</edges><rt_info><of_the_future/></rt_info></net>\n";

static const float weights[8] = {1, 2, 3, 4, 10, 20, 30, 40}; /* k3, then k1 */

static void put(const char *name, const void *bytes, size_t n) {
  situ_error error = {0};
  if (file_write(name, bytes, n, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
}

/* The text of a file of the folder, freed by the caller; "" where there is none. */
static char *get(const char *folder, const char *name, size_t *n) {
  char path[256];
  file_view view = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  *n = 0;
  if (!file_exists(path)) return calloc(1, 1);
  assert_int_equal(file_open(&view, path, NULL), SITU_STATUS_OK);
  char *text = calloc(view.size_bytes + 1, 1);
  memcpy(text, view.bytes, view.size_bytes);
  *n = view.size_bytes;
  file_close(&view);
  unlink(path);
  return text;
}

static int count(const char *text, const char *what) {
  int n = 0;
  for (; (text = strstr(text, what)); text += strlen(what)) n++;
  return n;
}

/* Operators of a part, as situ reads them: "middle end". */
static void read_back(char into[256], const char *text) {
  situ_read_options options = {.size = sizeof options, .default_dim = 1};
  read_source source = {
      .path = "part.xml", .bytes = (const unsigned char *)text, .size_bytes = strlen(text), .options = &options};
  read_result r = {0};
  situ_error error = {0};
  if (openvino_reader.read(&r, &source, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  into[0] = '\0';
  for (int32_t v = 0; v < r.graph->n_operators; v++) {
    strcat(into, v ? " " : "");
    strcat(into, r.graph->name[v]);
  }
  situ_graph_free(r.graph);
  text_free(&r.notes);
}

typedef struct cut_file {
  char folder[32];
  model_file *file;
  model_parts *parts;
} cut_file;

/* The model at m.xml, with nodes 0 and 1 on device 0 and node 2 on device 1. */
static cut_file cut(void) {
  cut_file c = {.folder = "ir-XXXXXX"};
  situ_error error = {0};
  const int32_t device[] = {0, 0, 1};
  assert_non_null(mkdtemp(c.folder));
  if (model_file_open(&c.file, "m.xml", &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_int_equal(c.file->n_nodes, 3);
  assert_int_equal(model_parts_find(&c.parts, c.file, NULL, device, NULL, &error), SITU_STATUS_OK);
  assert_int_equal(c.parts->n_parts, 2);
  return c;
}

static void end(cut_file *c) {
  model_parts_free(c->parts);
  model_file_free(c->file);
  rmdir(c->folder);
  unlink("m.xml");
  unlink("m.bin");
}

TEST(a_cut_gets_a_result_and_a_parameter_and_all_else_stays) {
  char names[256];
  size_t n;
  situ_error error = {0};
  put("m.xml", whole, sizeof whole - 1);
  put("m.bin", weights, sizeof weights);
  cut_file c = cut();
  for (int32_t k = 0; k < 2; k++)
    if (model_part_write(c.parts, k, c.folder, false, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  char *first = get(c.folder, "part0.xml", &n), *last = get(c.folder, "part1.xml", &n);
  read_back(names, first);
  assert_string_equal(names, "first & last middle");
  read_back(names, last);
  assert_string_equal(names, "end");
  assert_int_equal(count(first, "future='a > b'"), 1);
  assert_int_equal(count(first, "own=\"kept\"") + count(last, "own=\"kept\""), 2);
  assert_int_equal(count(first, "<of_the_future/>") + count(last, "<!-- <edges> -->"), 2);
  assert_int_equal(count(first, "version=\"10\"") + count(last, "version=\"10\""), 0); /* 11: see ir_emit.c */
  assert_int_equal(count(first, "type=\"Result\""), 1);
  assert_int_equal(count(first, "name=\"z\""), 0); /* the model's own result is in the last part */
  assert_int_equal(count(last, "name=\"z\""), 1);
  assert_int_equal(count(last, "type=\"Parameter\""), 1);
  /* "middle" has no tensor name in the file, and goes by that of its layer on both sides of the cut */
  assert_int_equal(count(first, "names=\"middle\"") + count(last, "names=\"middle\""), 2);
  assert_int_equal(count(last, "shape=\"1,4\" element_type=\"f32\""), 1);
  free(first);
  free(last);
  char *data[2] = {get(c.folder, "part0.bin", &n), NULL};
  assert_int_equal(n, 64 + 16); /* k1 and k3, the second at a multiple of 64 */
  assert_memory_equal(data[0], weights + 4, 16);
  assert_memory_equal(data[0] + 64, weights, 16);
  data[1] = get(c.folder, "part1.bin", &n);
  assert_int_equal(n, 16); /* k1 alone */
  assert_memory_equal(data[1], weights + 4, 16);
  free(data[0]);
  free(data[1]);
  end(&c);
}

TEST(nodes_are_called_by_their_numbers_where_that_is_asked) {
  char names[256];
  size_t n;
  put("m.xml", whole, sizeof whole - 1);
  put("m.bin", weights, sizeof weights);
  cut_file c = cut();
  assert_int_equal(model_part_write(c.parts, 0, c.folder, true, NULL), SITU_STATUS_OK);
  char *text = get(c.folder, "part0.xml", &n);
  read_back(names, text);
  assert_string_equal(names, "n0 n1");
  free(text);
  free(get(c.folder, "part0.bin", &n));
  end(&c);
}

TEST(weights_that_are_not_there_are_the_same_in_all_parts) {
  size_t n;
  put("m.xml", whole, sizeof whole - 1);
  cut_file c = cut();
  assert_string_equal(c.file->made_up, "m.bin");
  for (int32_t k = 0; k < 2; k++) assert_int_equal(model_part_write(c.parts, k, c.folder, false, NULL), SITU_STATUS_OK);
  char *first = get(c.folder, "part0.bin", &n);
  assert_int_equal(n, 64 + 16);
  char *last = get(c.folder, "part1.bin", &n);
  assert_int_equal(n, 16);
  assert_memory_equal(first, last, 16); /* k1 */
  assert_memory_not_equal(first, first + 64, 16);
  for (int i = 0; i < 4; i++) assert_true(((float *)last)[i] >= 0.5f && ((float *)last)[i] <= 1.0f);
  free(first);
  free(last);
  free(get(c.folder, "part0.xml", &n));
  free(get(c.folder, "part1.xml", &n));
  end(&c);
}

/* A constant of a reshape is the shape that the file says comes out of it. */
TEST(made_up_whole_numbers_fit_the_shapes_of_the_file) {
  const int64_t in[] = {2, 3, 4}, out[] = {4, 6}, turned[] = {4, 2, 3}, wide[] = {1, 2, 3, 4};
  ir_port constant = {.tensor = {.dtype = SITU_DTYPE_I64, .rank = 1}};
  ir_port ports[] = {{.tensor = {.rank = 3, .dims = in}, .layer = -1}, {.layer = 0}}, made = {.id = 0};
  ir_layer layers[2] = {{.type = "Const", .outputs = &constant, .n_outputs = 1},
                        {.type = "Reshape", .inputs = ports, .n_inputs = 2, .outputs = &made, .n_outputs = 1}};
  ir_net net = {.layers = layers, .n_layers = 2};
  int64_t shape[4] = {0};
  made.tensor = (ops_tensor){.rank = 2, .dims = out};
  ir_make_up((unsigned char *)shape, 16, &net, &layers[0]);
  assert_true(shape[0] == 4 && shape[1] == 6);
  layers[1].type = "Transpose"; /* dimension 0 of the result is dimension 2 of what is read, and so on */
  made.tensor = (ops_tensor){.rank = 3, .dims = turned};
  ir_make_up((unsigned char *)shape, 24, &net, &layers[0]);
  assert_true(shape[0] == 2 && shape[1] == 0 && shape[2] == 1);
  layers[1].type = "Unsqueeze";
  made.tensor = (ops_tensor){.rank = 4, .dims = wide};
  ir_make_up((unsigned char *)shape, 8, &net, &layers[0]);
  assert_int_equal(shape[0], 0);
}

static void expect(const char *text, size_t n_data, situ_status status, const char *message) {
  situ_error error = {0};
  model_file *file = NULL;
  model_parts *parts = NULL;
  const int32_t device[] = {0, 0, 1};
  put("m.xml", text, strlen(text));
  if (n_data > 0) put("m.bin", weights, n_data);
  situ_status got = model_file_open(&file, "m.xml", &error);
  if (got == SITU_STATUS_OK) got = model_parts_find(&parts, file, NULL, device, NULL, &error);
  if (got == SITU_STATUS_OK) got = model_part_write(parts, 0, ".", false, &error);
  if (got != status || !strstr(error.text, message)) fail_msg("%d: %s", (int)got, error.text);
  model_parts_free(parts);
  model_file_free(file);
  unlink("m.xml");
  unlink("m.bin");
  assert_false(file_exists("part0.xml"));
}

TEST(what_cannot_be_cut_says_why) {
  expect(whole, 31, SITU_STATUS_BAD_INPUT, "16 bytes at 16, are not in m.bin, which has 31");
  expect(HEAD LAYERS "<layer id=\"7\" name=\"s\" type=\"ReadValue\"/></layers><edges>" EDGES "</edges></net>", 32,
         SITU_STATUS_UNSUPPORTED, "keeps state");
  expect(HEAD LAYERS "</layers><edges>" EDGES "</edges><edges/></net>", 32, SITU_STATUS_BAD_INPUT, "a second list");
}

TEST_MAIN
