// A compiler that has a graph of its own and knows its times: which device runs what, as sub-graphs; then
// again after a measurement, from the plan that is there.
#include <situ.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

// What the compiler has: operators in order, the producers of each, its time on CPU and GPU, and whether the GPU can
// run it.
struct Node {
  std::string name;
  std::vector<int32_t> reads;
  int64_t bytes, cpu_ns, gpu_ns;
  bool on_gpu;
};

std::vector<Node> network() {
  std::vector<Node> nodes = {{"input", {}, 600000, 1000, 1000, true}};
  for (int32_t k = 0; k < 60; k++) {
    const int32_t last = static_cast<int32_t>(nodes.size()) - 1;
    nodes.push_back({"conv" + std::to_string(k), {last}, 600000, 2000000, 90000, true});
    nodes.push_back(
        {"norm" + std::to_string(k), {last + 1}, 600000, 60000, 20000, k % 20 != 10});  // every 20th: CPU only
    nodes.push_back({"add" + std::to_string(k), {last, last + 2}, 600000, 40000, 15000, true});
  }
  return nodes;
}

situ::graph graph_of(const std::vector<Node> &nodes) {
  situ::graph_builder builder("from memory");
  std::vector<std::vector<int32_t>> users(nodes.size());
  for (size_t v = 0; v < nodes.size(); v++) {
    situ_operator op = SITU_OPERATOR_INIT;
    op.name = nodes[v].name.c_str();
    op.kind = "Own";
    op.moved_bytes = nodes[v].bytes;  // it has work: what it makes is no constant
    builder.add(op);
    for (int32_t u : nodes[v].reads) users[static_cast<size_t>(u)].push_back(static_cast<int32_t>(v));
  }
  for (size_t v = 0; v < nodes.size(); v++) builder.connect(static_cast<int32_t>(v), nodes[v].bytes, users[v]);
  return builder.freeze();
}

situ::plan solve(const situ::problem &problem, const situ_plan *start) {
  situ_solve_options options = SITU_SOLVE_OPTIONS_INIT;
  options.time_limit_s = 0.1;  // a plan is there after some milliseconds
  options.starts = &start;
  options.n_starts = start ? 1 : 0;
  return situ::make<situ::plan>(situ_solve, problem.get(), &options);
}

// Consecutive operators of the plan's order on one device are a sub-graph that a back end compiles.
int show(const situ::plan &plan) {
  const situ_platform *platform = situ_problem_platform(situ_plan_problem(plan.get()));
  const int32_t *order = nullptr;
  const int32_t n = situ_plan_order(plan.get(), &order);
  int parts = 0;
  for (int32_t i = 0, first = 0; i < n; i++) {
    const int32_t device = situ_plan_device(plan.get(), order[i]);
    if (i + 1 < n && situ_plan_device(plan.get(), order[i + 1]) == device) continue;
    std::printf("%-5s %3d operators\n", situ_platform_device_name(platform, device), static_cast<int>(i + 1 - first));
    first = i + 1;
    parts++;
  }
  return parts;
}

}  // namespace

int main() try {
  std::vector<Node> nodes = network();
  const situ::graph graph = graph_of(nodes);
  const situ::platform platform = situ::read_platform("cpu+v100-16g");
  const int32_t cpu = situ_platform_find(platform.get(), "cpu");
  const situ::costs costs = situ::estimate(graph, platform, [&](int32_t op, int32_t device) {
    const Node &node =
        nodes[static_cast<size_t>(situ_graph_find(graph.get(), situ_graph_operator_name(graph.get(), op)))];
    return device == cpu ? node.cpu_ns : node.on_gpu ? node.gpu_ns : SITU_NEVER_NS;
  });
  const auto problem = situ::make<situ::problem>(situ_problem_pose, graph.get(), platform.get(), costs.get(), nullptr);
  const situ::plan plan = solve(problem, nullptr);
  const int parts = show(plan);

  // conv0 is measured: on the GPU it takes 5 ms.
  const int32_t conv0 = situ_graph_find(graph.get(), "conv0"), gpu = 1 - cpu;
  const situ::problem changed = situ::change(problem, {{conv0, gpu, 5000000}});
  const situ::plan again = solve(changed, plan.get());
  std::printf("%lld ns, then %lld ns\n", static_cast<long long>(situ::summary(plan).value_ns),
              static_cast<long long>(situ::summary(again).value_ns));
  const bool moved = situ_plan_device(plan.get(), conv0) == gpu && situ_plan_device(again.get(), conv0) == cpu;
  return parts == 7 && moved ? 0 : 1;
} catch (const situ::failure &failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
