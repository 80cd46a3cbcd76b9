/* Reads operators, one a line, and writes what is inferred: for ops_against_onnx.py.
 *
 * In: kind|operator set|attributes|inputs|number of outputs, as tests/unit/ops/ops_text.h writes them.
 * Out: the outputs, "type[dims]" each, or "BAD" and why. */
#include <stdio.h>

#include "../unit/ops/ops_text.h"

enum { MAX_N = 32 };

static void print_tensor(const ops_tensor *t) {
  printf("%s", situ_dtype_name(t->dtype));
  for (int32_t d = 0; d < t->rank; d++) printf("%c%lld", d ? ',' : '[', (long long)t->dims[d]);
  printf(t->rank < 0 ? "* " : t->rank == 0 ? "[] " : "] ");
}

static void answer(char *fields[5], arena *a) {
  ops_attr attrs[MAX_N];
  ops_tensor inputs[MAX_N], outputs[MAX_N];
  const ops_tensor *pointers[MAX_N];
  situ_error error = {0};
  ops_node node = {.domain = "",
                   .kind = fields[0],
                   .opset = atoi(fields[1]),
                   .attrs = attrs,
                   .inputs = pointers,
                   .outputs = outputs,
                   .n_outputs = atoi(fields[4])};
  for (at = fields[2]; *at && node.n_attrs < MAX_N; take(' ')) attrs[node.n_attrs++] = take_attr(a);
  for (at = fields[3]; *at && node.n_inputs < MAX_N; take(' ')) {
    bool left_out = take('-');
    if (!left_out) inputs[node.n_inputs] = take_tensor(a);
    pointers[node.n_inputs] = left_out ? NULL : &inputs[node.n_inputs];
    node.n_inputs++;
  }
  for (int i = 0; i < node.n_outputs; i++) outputs[i] = (ops_tensor){.rank = -1};
  if (ops_infer(&node, a, &error) != SITU_STATUS_OK)
    printf("BAD %s", error.text);
  else
    for (int i = 0; i < node.n_outputs; i++) print_tensor(&outputs[i]);
  printf("\n");
}

int main(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    char *fields[5], *rest = line;
    line[strcspn(line, "\n")] = '\0';
    int n = 0;
    for (; n < 5 && rest; n++) fields[n] = strsep(&rest, "|");
    if (n < 5 || atoi(fields[4]) > MAX_N) return 1;
    arena *a = arena_new();
    answer(fields, a);
    arena_free(a);
  }
  return 0;
}
