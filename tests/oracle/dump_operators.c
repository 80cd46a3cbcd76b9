/* Prints the operators of a model, one a line: name, kind, weight bytes, FLOPs, moved bytes. Notes go to standard
 * error. Usage: dump_operators MODEL [prompt [context [batch [generate]]]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "read/reader.h"
#include "situ/read.h"

int main(int argc, char **argv) {
  situ_read_options options = SITU_READ_OPTIONS_INIT;
  int64_t *const to[] = {&options.prompt, &options.context, &options.batch, &options.generate};
  if (argc < 2) return 2;
  for (int i = 2; i < argc && i < 6; i++) *to[i - 2] = atoll(argv[i]);
  situ_error error = {0};
  situ_model *model;
  situ_status status = situ_model_read(&model, argv[1], &options, &error);
  if (status != SITU_STATUS_OK) {
    printf("error\t%s\t%s\n", situ_status_name(status), error.text);
    return 3;
  }
  const situ_graph *g = model->graph;
  for (int32_t v = 0; v < g->n_operators; v++) {
    situ_operator op = graph_operator(g, v);
    printf("%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", op.name, op.kind, op.weight_bytes, op.flops,
           op.moved_bytes);
  }
  fputs(model->notes, stderr);
  situ_model_free(model);
  return 0;
}
