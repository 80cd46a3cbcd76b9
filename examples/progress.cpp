// A solve from C++ that tells what it finds, and stops by itself once the plan is within five per cent of the bound.
#include <situ.h>

#include <cstdio>
#include <memory>

namespace {

struct Watch {
  int calls = 0;
  double wanted_gap = 0.05;
};

bool tell(void *context, const situ_progress *now) {
  Watch *watch = static_cast<Watch *>(context);
  watch->calls++;
  if (now->value_ns == SITU_NEVER_NS) return false;
  double gap = double(now->value_ns - now->lower_bound_ns) / double(now->value_ns);
  std::printf("%.2f s, %s: %lld ns, gap %.1f %%\n", now->seconds, now->solver, static_cast<long long>(now->value_ns),
              100 * gap);
  return gap <= watch->wanted_gap;  // true asks for a stop
}

void log(void *, situ_log_level level, const char *text) {
  std::fprintf(stderr, "%s: %s\n", level == SITU_LOG_WARNING ? "warning" : "note", text);
}

}  // namespace

int main() {
  Watch watch;
  situ_instance_options options = SITU_INSTANCE_OPTIONS_INIT;
  options.model = "builtin:inception-v3";
  options.platform = "cpu+2*v100-16g";
  options.log = log;
  situ_solve_options effort = SITU_SOLVE_OPTIONS_INIT;
  effort.time_limit_s = 2;
  effort.progress = tell;
  effort.context = &watch;
  effort.log = log;

  situ_error error;
  situ_instance *opened = nullptr;
  situ_plan *found = nullptr;
  situ_status status = situ_place(&found, &opened, &options, &effort, &error);
  std::unique_ptr<situ_instance, void (*)(situ_instance *)> instance(opened, situ_instance_free);
  std::unique_ptr<situ_plan, void (*)(situ_plan *)> plan(found, situ_plan_free);
  if (status != SITU_STATUS_OK) {
    std::fprintf(stderr, "%s %s\n", error.where, error.text);
    return 1;
  }
  situ_plan_summary summary = SITU_PLAN_SUMMARY_INIT;
  situ_plan_get_summary(found, &summary);
  std::printf("%s by %s: %lld ns\n", situ_outcome_name(summary.outcome), summary.solver,
              static_cast<long long>(summary.value_ns));
  return summary.exists && watch.calls > 0 ? 0 : 1;
}
