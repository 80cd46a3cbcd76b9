#include "read/net_cell.h"

net_cell net_cell_new(net *n, int64_t batch, int64_t in, int64_t hidden) {
  net_share(n);
  net_cell k = {.matrix = net_weight(n, NET_SHAPE(in + hidden, 4 * hidden)),
                .bias = net_weight(n, NET_SHAPE(4 * hidden)),
                .h = net_input(n, NET_SHAPE(batch, hidden)),
                .c = net_input(n, NET_SHAPE(batch, hidden))};
  net_share_end(n);
  return k;
}

net_value net_cell_step(net *n, net_cell *k, int64_t step, net_value x, net_value y) {
  enum { IN, FORGET, OUT, NEW, GATES };
  net_value gates[GATES];
  const net_value inputs[] = {x, k->h, y};
  net_enter(n, "step%lld", (long long)step);
  net_value all = net_concat(n, "concat", 1, inputs, y == NET_NONE ? 2 : 3);
  all = net_op2(n, "bias", "Add", net_op2(n, "gates", "MatMul", all, k->matrix), k->bias);
  net_split(n, "split", all, 1, gates, GATES);
  net_value in = net_op1(n, "in", "Sigmoid", gates[IN]), forget = net_op1(n, "forget", "Sigmoid", gates[FORGET]);
  net_value out = net_op1(n, "out", "Sigmoid", gates[OUT]), new = net_op1(n, "new", "Tanh", gates[NEW]);
  net_value kept = net_op2(n, "kept", "Mul", forget, k->c), fresh = net_op2(n, "fresh", "Mul", in, new);
  k->c = net_op2(n, "c", "Add", kept, fresh);
  k->h = net_op2(n, "h", "Mul", out, net_op1(n, "tanh", "Tanh", k->c));
  net_leave(n);
  return k->h;
}

void net_embed_steps(net *n, const char *name, net_value *words, int64_t batch, int64_t steps, int64_t vocab,
                     int64_t hidden) {
  net_enter(n, "%s", name);
  net_value table = net_weight(n, NET_SHAPE(vocab, hidden));
  net_value all = net_gather(n, "gather", table, net_int_input(n, NET_SHAPE(batch, steps)));
  net_split(n, "split", all, 1, words, (int32_t)steps);
  for (int64_t i = 0; i < steps; i++) {
    net_enter(n, "step%lld", (long long)i);
    words[i] = net_squeeze(n, "squeeze", words[i], 1);
    net_leave(n);
  }
  net_leave(n);
}

net_value net_stack_steps(net *n, const char *name, const net_value *values, net_value *scratch, int64_t steps) {
  net_enter(n, "%s", name);
  for (int64_t i = 0; i < steps; i++) {
    net_enter(n, "step%lld", (long long)i);
    scratch[i] = net_unsqueeze(n, "unsqueeze", values[i], 1);
    net_leave(n);
  }
  net_value all = net_concat(n, "concat", 1, scratch, (int32_t)steps);
  net_leave(n);
  return all;
}
