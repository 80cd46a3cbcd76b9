/* Options for llama-server. */
#include "write/llamacpp_options.h"

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  static const llamacpp_program server = {
      .name = "llama-server", .servers = "--rpc", .list = ",", .rules = ",", .serves = true};
  return llamacpp_write(out, l, plan->problem, &server, error);
}

const writer llamacpp_writer = {.name = "llama.cpp",
                                .title = "options for llama-server",
                                .groups = true,
                                .shares = true,
                                .suffix = ".txt",
                                .target = "llama.cpp",
                                .write_layers = write_layers,
                                .form = LLAMACPP_FORM,
                                .serves = llamacpp_serves,
                                .reading = &llamacpp_reading};
