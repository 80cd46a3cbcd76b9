/* situ.hpp - the C interface in the manner of C++17: handles that free themselves, failures as exceptions, times from
 * anything that can be called. Everything else is called as it is: situ_plan_device(plan.get(), op). */
#ifndef SITU_HPP
#define SITU_HPP

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "situ.h"

namespace situ {

class failure : public std::exception {
 public:
  explicit failure(const situ_error &error) : error_(error), text_(error.text) {
    if (*error.where) text_ = std::string(error.where) + ": " + text_;
  }
  const char *what() const noexcept override { return text_.c_str(); }
  situ_status status() const noexcept { return error_.status; }

 private:
  situ_error error_;
  std::string text_;
};

template <class T, void (*Free)(T *)>
struct deleter {
  void operator()(T *p) const noexcept { Free(p); }
};
template <class T, void (*Free)(T *)>
using handle = std::unique_ptr<T, deleter<T, Free>>;

using graph = handle<situ_graph, situ_graph_free>;
using platform = handle<situ_platform, situ_platform_free>;
using costs = handle<situ_costs, situ_costs_free>;
using problem = handle<situ_problem, situ_problem_free>;
using plan = handle<situ_plan, situ_plan_free>;

/* Calls function(&out, arguments..., &error) and returns what it made: make<situ::plan>(situ_solve, p.get(), &options).
 * Throws a failure. */
template <class Handle, class Function, class... Arguments>
Handle make(Function *function, Arguments &&...arguments) {
  typename Handle::pointer made = nullptr;
  situ_error error{};
  if (function(&made, std::forward<Arguments>(arguments)..., &error) != SITU_STATUS_OK) throw failure(error);
  return Handle(made);
}

/* Builds a graph. Failures of single calls are thrown by freeze. */
class graph_builder {
 public:
  explicit graph_builder(const char *name) : builder_(make<own>(situ_graph_builder_new, name)) {}
  int32_t add(const situ_operator &op) { return situ_graph_builder_add_operator(builder_.get(), &op); }
  /* A tensor of so many bytes that `from` makes and each of `to` reads; returns its number. */
  int32_t connect(int32_t from, int64_t size_bytes, const std::vector<int32_t> &to) {
    situ_tensor tensor = SITU_TENSOR_INIT;
    tensor.size_bytes = size_bytes;
    int32_t made = situ_graph_builder_add_tensor(builder_.get(), from, &tensor);
    for (int32_t user : to) situ_graph_builder_add_use(builder_.get(), user, made);
    return made;
  }
  graph freeze() const { return make<graph>(situ_graph_freeze, builder_.get()); }

 private:
  using own = handle<situ_graph_builder, situ_graph_builder_free>;
  own builder_;
};

inline platform read_platform(const char *name_or_path) { return make<platform>(situ_platform_read, name_or_path); }

/* Costs whose times time_of(op, device) gives: nanoseconds, SITU_NEVER_NS, or a negative number to keep the estimate.
 */
template <class TimeOf>
costs estimate(const graph &g, const platform &p, TimeOf &&time_of,
               situ_cost_options options = SITU_COST_OPTIONS_INIT) {
  struct asked {
    std::remove_reference_t<TimeOf> *time_of;
    std::exception_ptr thrown;
  } ask{&time_of, nullptr};
  options.time_context = &ask;
  options.time_of = [](void *context, int32_t op, int32_t device) -> int64_t {
    auto *a = static_cast<asked *>(context);
    try {
      return a->thrown ? -1 : static_cast<int64_t>((*a->time_of)(op, device));
    } catch (...) { /* no exception passes through C */
      a->thrown = std::current_exception();
      return -1;
    }
  };
  costs made = make<costs>(situ_costs_estimate, g.get(), p.get(), &options);
  if (ask.thrown) std::rethrow_exception(ask.thrown);
  return made;
}

/* The same problem with other times of some operators. */
inline problem change(const problem &p, const std::vector<situ_operator_time> &times) {
  costs changed = make<costs>(situ_costs_change, situ_problem_costs(p.get()), situ_problem_platform(p.get()),
                              times.data(), static_cast<int32_t>(times.size()));
  return make<problem>(situ_problem_change, p.get(), changed.get());
}

inline situ_plan_summary summary(const plan &p) {
  situ_plan_summary found = SITU_PLAN_SUMMARY_INIT;
  situ_plan_get_summary(p.get(), &found);
  return found;
}

}  // namespace situ

#endif
