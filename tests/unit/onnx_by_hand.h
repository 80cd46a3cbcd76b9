/* onnx_by_hand.h - ONNX models written by hand, field by field. */
#ifndef SITU_TESTS_ONNX_BY_HAND_H
#define SITU_TESTS_ONNX_BY_HAND_H

#include <stdio.h>
#include <string.h>

#include "base/wire.h"

static inline void add_text(text_buffer *to, uint32_t field, const char *text) {
  wire_add_bytes(to, field, text, strlen(text));
}

static inline void add_message(text_buffer *to, uint32_t field, text_buffer *message) {
  wire_add_bytes(to, field, message->bytes, message->length);
  text_free(message);
}

/* Inputs and outputs apart by blanks. `body`: a graph that the attribute "then_branch" holds, or NULL. */
static inline void add_node(text_buffer *graph, const char *kind, const char *inputs, const char *outputs,
                            text_buffer *body) {
  text_buffer node = {0};
  char words[128], *rest, *word;
  snprintf(words, sizeof words, "%s", inputs);
  for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) add_text(&node, 1, word);
  snprintf(words, sizeof words, "%s", outputs);
  for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) add_text(&node, 2, word);
  add_text(&node, 3, kind);
  add_text(&node, 4, kind);
  if (body) {
    text_buffer attribute = {0};
    add_text(&attribute, 1, "then_branch");
    add_message(&attribute, 6, body);
    add_message(&node, 5, &attribute);
  }
  add_text(&node, 77, "a field of the future");
  add_message(graph, 1, &node);
}

static inline void add_weight(text_buffer *graph, const char *name, const char *location) {
  text_buffer tensor = {0};
  wire_add_number(&tensor, 1, 1);
  wire_add_number(&tensor, 2, 1);
  add_text(&tensor, 8, name);
  if (location) {
    text_buffer entry = {0};
    add_text(&entry, 1, "location");
    add_text(&entry, 2, location);
    add_message(&tensor, 13, &entry);
    wire_add_number(&tensor, 14, 1);
  } else {
    wire_add_bytes(&tensor, 9, "\0\0\0\0", 4);
  }
  add_message(graph, 5, &tensor);
}

/* A float of one dimension of 4. */
static inline void add_value(text_buffer *graph, uint32_t field, const char *name) {
  text_buffer dim = {0}, shape = {0}, tensor = {0}, type = {0}, info = {0};
  wire_add_number(&dim, 1, 4);
  add_message(&shape, 1, &dim);
  wire_add_number(&tensor, 1, 1);
  add_message(&tensor, 2, &shape);
  add_message(&type, 1, &tensor);
  add_text(&info, 1, name);
  add_message(&info, 2, &type);
  add_message(graph, field, &info);
}

#endif
