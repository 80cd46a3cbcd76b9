/* Options for llama-bench, which separates lists in its own way and takes no cache size. */
#include "write/llamacpp_options.h"

static situ_status write_layers(text_buffer *out, const layer_plan *l, const situ_plan *plan, situ_error *error) {
  static const llamacpp_program bench = {.name = "llama-bench", .servers = "-rpc", .list = "/", .rules = ";"};
  return llamacpp_write(out, l, plan->problem, &bench, error);
}

const writer llamacpp_bench_writer = {.name = "llama-bench",
                                      .title = "options for llama-bench, which measures",
                                      .groups = true,
                                      .shares = true,
                                      .suffix = ".txt",
                                      .target = "llama.cpp",
                                      .write_layers = write_layers,
                                      .form = LLAMACPP_FORM,
                                      .serves = llamacpp_serves};
