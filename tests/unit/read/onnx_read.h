/* Reads what onnx_bytes.h wrote, for test_onnx.c and test_onnx_nested.c. */
#ifndef SITU_TESTS_ONNX_READ_H
#define SITU_TESTS_ONNX_READ_H

#include "../../lab/test.h"
#include "graph/graph.h"
#include "onnx_bytes.h"
#include "read/reader.h"

extern const reader onnx_reader;

static read_result result;
static situ_error error;

static inline void forget(void) {
  situ_graph_free(result.graph);
  text_free(&result.notes);
  free(result.dims);
  result = (read_result){0};
}

static inline int clean(void **state) {
  forget();
  return 0;
}

/* Reads and frees a model as if it were the file at `path`. */
static inline situ_status read_at(const char *path, bytes m, const situ_read_options *options) {
  situ_read_options none = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {.path = path,
                        .bytes = (const unsigned char *)m.bytes,
                        .size_bytes = m.length,
                        .options = options ? options : &none};
  forget();
  error = (situ_error){0};
  assert_false(m.failed);
  situ_status status = onnx_reader.read(&result, &source, &error);
  text_free(&m);
  assert_true((status == SITU_STATUS_OK) == (result.graph != NULL));
  return status;
}

static inline void read_good(bytes m) {
  situ_status status = read_at("made.onnx", m, NULL);
  if (status != SITU_STATUS_OK) print_error("%s: %s\n", error.where, error.text);
  assert_int_equal(status, SITU_STATUS_OK);
}

static inline void read_bad(bytes m, const char *where, const char *text) {
  assert_int_equal(read_at("made.onnx", m, NULL), SITU_STATUS_BAD_INPUT);
  assert_string_equal(error.where, where);
  if (!strstr(error.text, text)) print_error("%s\n", error.text);
  assert_non_null(strstr(error.text, text));
}

static inline situ_operator op(const char *name) {
  int32_t i = situ_graph_find(result.graph, name);
  if (i < 0) print_error("no operator %s\n", name);
  assert_true(i >= 0);
  return graph_operator(result.graph, i);
}

static inline situ_tensor made_by(const char *name) {
  int32_t first;
  assert_true(situ_graph_outputs(result.graph, situ_graph_find(result.graph, name), &first) > 0);
  return graph_tensor(result.graph, first);
}

static inline bool noted(const char *text) { return result.notes.bytes && strstr(result.notes.bytes, text); }

/* The tests of test_onnx_nested.c; the number of those that fail. */
int onnx_nested_tests(void);

#endif
