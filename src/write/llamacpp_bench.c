/* Options for llama-bench, which separates lists in its own way and takes no cache size. */
#include "write/llamacpp_options.h"

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  static const llamacpp_program bench = {.name = "llama-bench", .servers = "-rpc", .list = "/", .rules = ";"};
  return llamacpp_write(out, plan, &bench, error);
}

const writer llamacpp_bench_writer = {.name = "llama-bench",
                                      .title = "options for llama-bench, which measures",
                                      .groups = true,
                                      .suffix = ".txt",
                                      .write = write,
                                      .form = LLAMACPP_FORM,
                                      .serves = llamacpp_serves};
