/* The ONNX reader on real models (SITU_SHARED), on damaged copies of them, and on files of gigabytes. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "onnx_bytes.h"
#include "read/reader.h"

extern const reader onnx_reader;

static const char *shared(void) {
  const char *at = getenv("SITU_SHARED");
  char probe[512];
  if (!at) return NULL;
  snprintf(probe, sizeof probe, "%s/data/INDEX.md", at);
  return file_exists(probe) ? at : NULL;
}

static const situ_read_options none = {.size = sizeof(situ_read_options), .default_dim = 1};

static situ_status read_bytes(const char *path, const void *at, size_t n, read_result *result, situ_error *error) {
  read_source source = {.path = path, .bytes = at, .size_bytes = n, .options = &none};
  *result = (read_result){0};
  *error = (situ_error){0};
  return onnx_reader.read(result, &source, error);
}

static void drop(read_result *result) {
  situ_graph_free(result->graph);
  text_free(&result->notes);
}

static situ_status read_file(const char *path, read_result *result, situ_error *error) {
  file_view view;
  situ_status status = file_begin(&view, path, error);
  if (status != SITU_STATUS_OK) return status;
  read_source source = {
      .path = path, .bytes = view.bytes, .size_bytes = view.size_bytes, .view = &view, .options = &none};
  *result = (read_result){0};
  *error = (situ_error){0};
  status = onnx_reader.read(result, &source, error);
  if (status == SITU_STATUS_OK && onnx_reader.recognise(&source) < 1) status = SITU_STATUS_INTERNAL;
  if (status == SITU_STATUS_OK) status = file_result(&view, path, error);
  file_close(&view);
  return status;
}

/* Finds the row of a file in INDEX.md ("| name | bytes | nodes/edges/total | ... |"): operators of the main graph and
 * in all, or -1. */
static void indexed(const char *index, const char *name, int *n_main, int *n_all) {
  char key[300];
  int n_edges;
  *n_main = *n_all = -1;
  snprintf(key, sizeof key, "\n| %s | ", name);
  const char *row = strstr(index, key);
  if (!row) return;
  const char *counts = strstr(row + strlen(key), "| ");
  if (counts && sscanf(counts, "| %d/%d/%d", n_main, &n_edges, n_all) != 3) *n_main = *n_all = -1;
}

static bool has_functions(const char *index, const char *name) {
  char key[300];
  snprintf(key, sizeof key, "\n| %s | ", name);
  const char *row = strstr(index, key), *at = row ? strstr(row, "local functions") : NULL;
  return at && at < strchr(row + 1, '\n');
}

static int check_folder(const char *base, const char *folder, const char *index) {
  char path[512];
  int n_read = 0;
  snprintf(path, sizeof path, "%s/data/%s", base, folder);
  DIR *d = opendir(path);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    size_t n = strlen(e->d_name);
    if (n < 5 || strcmp(e->d_name + n - 5, ".onnx") != 0) continue;
    snprintf(path, sizeof path, "%s/data/%s/%s", base, folder, e->d_name);
    read_result result;
    situ_error error;
    situ_status status = read_file(path, &result, &error);
    bool invalid = strcmp(e->d_name, "polygraphy_bad_graph.onnx") == 0;
    if ((status == SITU_STATUS_OK) == invalid) print_error("%s: %s: %s\n", e->d_name, error.where, error.text);
    assert_int_equal(status, invalid ? SITU_STATUS_BAD_INPUT : SITU_STATUS_OK);
    int n_main, n_all;
    indexed(index, e->d_name, &n_main, &n_all);
    if (invalid) {
      assert_string_equal(error.where, "MatMul_0");
    } else {
      assert_int_equal(result.graph->n_operators, n_main);
      if (!has_functions(index, e->d_name)) assert_int_equal(result.n_nested_operators, n_all - n_main);
    }
    drop(&result);
    n_read++;
  }
  closedir(d);
  return n_read;
}

TEST(every_shared_model_is_read_with_the_operators_of_the_index) {
  const char *base = shared();
  if (!base) skip();
  char path[512];
  file_view view;
  snprintf(path, sizeof path, "%s/data/INDEX.md", base);
  assert_int_equal(file_open(&view, path, NULL), SITU_STATUS_OK);
  char *index = malloc(view.size_bytes + 1);
  assert_non_null(index);
  memcpy(index, view.bytes, view.size_bytes);
  index[view.size_bytes] = '\0';
  file_close(&view);
  assert_true(check_folder(base, "onnx", index) >= 40);
  assert_true(check_folder(base, "onnx-small", index) >= 20);
  free(index);
}

/* Multiply-adds of convolutions and fully connected layers at 224 x 224, as published: torchvision's model tables
 * ("GFLOPS", which are multiply-adds: ResNet-50 4.09, VGG-19 19.63, SqueezeNet 1.1 0.35, DenseNet-121 2.83); the light
 * SqueezeNet is version 1.1, as its first 3x3 convolution with 64 filters shows. BN-Inception: 2.048 in the table of
 * osmr/imgclsmob, and "~2 billion" in Ioffe and Szegedy's own comparison. Weights: parameters in the same tables, with
 * the running mean and variance of batch normalisation (53,120 in ResNet-50), 4 bytes each; ResNet and VGG reshape
 * once, by two int64. */
TEST(the_light_models_have_their_published_multiply_adds) {
  static const struct {
    const char *name;
    double multiply_adds;
    int64_t weight_bytes; /* 0: not checked */
  } published[] = {
      {"light_resnet50", 4.089e9, (25557032LL + 53120) * 4 + 16},
      {"light_vgg19", 19.632e9, 143667240LL * 4 + 16},
      {"light_squeezenet", 0.349e9, 1235496LL * 4},
      {"light_densenet121", 2.834e9, 0},
      {"light_inception_v2", 2.048e9, 0},
  };
  const char *base = shared();
  if (!base) skip();
  for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
    char path[512];
    read_result result;
    situ_error error;
    snprintf(path, sizeof path, "%s/data/onnx/%s.onnx", base, published[i].name);
    assert_int_equal(read_file(path, &result, &error), SITU_STATUS_OK);
    double flops = 0;
    int64_t weight_bytes = 0;
    for (int32_t v = 0; v < result.graph->n_operators; v++) {
      situ_operator op = graph_operator(result.graph, v);
      weight_bytes += op.weight_bytes;
      if (strcmp(op.kind, "Conv") == 0 || strcmp(op.kind, "Gemm") == 0) flops += (double)op.flops;
    }
    double ratio = flops / 2 / published[i].multiply_adds;
    if (ratio < 0.97 || ratio > 1.03) print_error("%s: %.4f of the published count\n", published[i].name, ratio);
    assert_true(ratio >= 0.97 && ratio <= 1.03);
    if (published[i].weight_bytes) assert_int_equal(weight_bytes, published[i].weight_bytes);
    drop(&result);
  }
}

/* ---- damage ---- */

static const char *const damaged[] = {"onnx/mnist",
                                      "onnx/scan_1",
                                      "onnx/qlstm_scan",
                                      "onnx/lstm_with_loop",
                                      "onnx-small/nested_ifs",
                                      "onnx-small/three_layer_nested_subgraph",
                                      "onnx-small/custom_ops_local_function",
                                      "onnx-small/stream_swiglu",
                                      "onnx-small/conv_qdq_external_ini",
                                      "onnx-small/optional_sequence_tensor",
                                      "onnx-small/polygraphy_unbounded_dds",
                                      "onnx/synthetic_paged_decoder"};

/* What comes of damaged bytes does not matter, as long as it is a graph or one line that says why not. */
static void try_bytes(const char *path, const unsigned char *at, size_t n) {
  read_result result;
  situ_error error;
  situ_status status = read_bytes(path, at, n, &result, &error);
  assert_true(status == SITU_STATUS_OK || status == SITU_STATUS_BAD_INPUT || status == SITU_STATUS_UNSUPPORTED);
  assert_true((status == SITU_STATUS_OK) == (result.graph != NULL));
  if (status != SITU_STATUS_OK) assert_true(error.text[0] && !strchr(error.text, '\n'));
  drop(&result);
}

static void damage(const char *path, rng *r, int n_cuts, int n_flips) {
  file_view view;
  assert_int_equal(file_open(&view, path, NULL), SITU_STATUS_OK);
  size_t n = view.size_bytes;
  unsigned char *copy = malloc(n ? n : 1);
  assert_non_null(copy);
  for (int i = 0; i < n_cuts; i++) {
    /* A copy of its own, so that a sanitizer sees each byte read too many. */
    size_t cut = (size_t)rng_below(r, (int64_t)n);
    unsigned char *part = malloc(cut ? cut : 1);
    assert_non_null(part);
    memcpy(part, view.bytes, cut);
    try_bytes(path, part, cut);
    free(part);
  }
  for (int i = 0; i < n_flips; i++) {
    memcpy(copy, view.bytes, n);
    int64_t n_hits = 1 + rng_below(r, 8);
    for (int64_t k = 0; k < n_hits; k++) {
      size_t at = (size_t)rng_below(r, (int64_t)n);
      copy[at] = (unsigned char)(rng_below(r, 2) ? copy[at] ^ (1 << rng_below(r, 8)) : rng_below(r, 256));
    }
    try_bytes(path, copy, n);
  }
  free(copy);
  file_close(&view);
}

TEST(damaged_models_are_read_or_refused) {
  const char *base = shared();
  if (!base) skip();
  rng r = rng_new(20240607);
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/data/%s.onnx", base, damaged[i]);
    damage(path, &r, 60, 300);
  }
}

/* ---- size ---- */

static const int64_t GIGABYTE = 1 << 30;

enum { N_WEIGHTS = 16 };

/* x[1,1024] times weight i, of `size_bytes`; the header of the weight as it lies in a graph, without its data. */
static bytes weight_header(bytes *graph, int i, int64_t size_bytes, bool outside) {
  char name[16], made[16], inputs[32], dims[40], offset[24];
  snprintf(name, sizeof name, "w%d", i);
  snprintf(made, sizeof made, "y%d", i);
  snprintf(inputs, sizeof inputs, "x %s", name);
  snprintf(dims, sizeof dims, "1024 %lld", (long long)size_bytes / 4096);
  snprintf(offset, sizeof offset, "%lld", (long long)size_bytes * i);
  add_node(graph, node("MatMul", made, inputs, made));
  bytes t = tensor(name, F32, dims), header = {0};
  if (outside) external(&t, "weights.bin", offset, NULL);
  if (!outside) {
    put_varint(&t, 9 << 3 | 2);
    put_varint(&t, (uint64_t)size_bytes);
  }
  put_varint(&header, 5 << 3 | 2);
  put_varint(&header, t.length + (outside ? 0 : (uint64_t)size_bytes));
  text_add_bytes(&header, t.bytes, t.length);
  text_free(&t);
  return header;
}

/* A model with N_WEIGHTS weights of `size_bytes` each: holes of a sparse file, or said to lie in weights.bin. */
static bool write_sparse(const char *path, int64_t size_bytes, bool outside) {
  int handle = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (handle < 0) return false;
  bytes g = {0}, m = {0}, headers[N_WEIGHTS];
  add_input(&g, "x", F32, "1 1024");
  uint64_t payload = 0;
  for (int i = 0; i < N_WEIGHTS; i++) {
    headers[i] = weight_header(&g, i, size_bytes, outside);
    payload += headers[i].length + (outside ? 0 : (uint64_t)size_bytes);
  }
  put_int(&m, 1, 8);
  put(&m, 8, opset("", 17));
  put_varint(&m, 7 << 3 | 2);
  put_varint(&m, g.length + payload);
  text_add_bytes(&m, g.bytes, g.length);
  bool good = write(handle, m.bytes, m.length) == (ssize_t)m.length;
  for (int i = 0; i < N_WEIGHTS; i++) {
    good &= write(handle, headers[i].bytes, headers[i].length) == (ssize_t)headers[i].length;
    if (!outside) good &= lseek(handle, size_bytes, SEEK_CUR) >= 0;
    text_free(&headers[i]);
  }
  good &= ftruncate(handle, lseek(handle, 0, SEEK_CUR)) == 0;
  text_free(&g);
  text_free(&m);
  close(handle);
  return good;
}

/* Reads in a process of its own and returns its peak of memory in KB; -1 when the weights are wrong, -2 when it took
 * a second or more. */
static long peak_of_reading(const char *path, int64_t weight_bytes) {
  int talk[2];
  long peak = -1;
  assert_int_equal(pipe(talk), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    situ_error error;
    struct rusage usage;
    int64_t start = clock_now_ns();
    read_result result;
    situ_status status = read_file(path, &result, &error);
    bool fast = clock_now_ns() - start < 1000000000;
    int64_t sum = 0;
    for (int32_t i = 0; status == SITU_STATUS_OK && i < result.graph->n_operators; i++)
      sum += graph_operator(result.graph, i).weight_bytes;
    getrusage(RUSAGE_SELF, &usage);
    peak = status != SITU_STATUS_OK || sum != weight_bytes ? -1 : !fast ? -2 : usage.ru_maxrss;
    if (write(talk[1], &peak, sizeof peak) != sizeof peak) _exit(1);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(read(talk[0], &peak, sizeof peak), sizeof peak);
  close(talk[0]);
  close(talk[1]);
  return peak;
}

TEST(gigabytes_of_weights_are_never_loaded) {
  char folder[] = "/tmp/situ-test-XXXXXX", model_path[64], data_path[64];
  if (!mkdtemp(folder)) skip();
  snprintf(model_path, sizeof model_path, "%s/m.onnx", folder);
  snprintf(data_path, sizeof data_path, "%s/weights.bin", folder);
  int64_t inside = GIGABYTE * 3 / 2 / N_WEIGHTS, outside = GIGABYTE * 2 / N_WEIGHTS;
  bool room = write_sparse(model_path, inside, false);
  long peak = room ? peak_of_reading(model_path, inside * N_WEIGHTS) : 0;
  room = room && write_sparse(model_path, outside, true);
  int handle = room ? open(data_path, O_CREAT | O_WRONLY, 0600) : -1;
  room = room && handle >= 0 && ftruncate(handle, 2 * GIGABYTE) == 0;
  if (handle >= 0) close(handle);
  long external_peak = room ? peak_of_reading(model_path, outside * N_WEIGHTS) : 0;
  unlink(model_path);
  unlink(data_path);
  rmdir(folder);
  if (!room) skip();
  assert_true(peak > 0 && external_peak > 0);
  print_message("peak of memory: %ld KB with 1.5 GB inside, %ld KB with 2 GB outside\n", peak, external_peak);
#if !defined(__SANITIZE_ADDRESS__)
  assert_true(peak < 200 * 1024 && external_peak < 200 * 1024);
#endif
}

TEST_MAIN
