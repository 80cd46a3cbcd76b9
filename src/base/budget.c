#include "base/budget.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"

enum { LOOK_NS = 2000000, FIRST_STRIDE = 1, LAST_STRIDE = 1 << 16 };

budget budget_new(int64_t max_steps, int64_t limit_ns, budget_callback *callback, void *context) {
  int64_t now = clock_now_ns();
  return (budget){.max_steps = max_steps > 0 ? max_steps : INT64_MAX,
                  .start_ns = now,
                  .deadline_ns = limit_ns > 0 ? sat_add(now, limit_ns) : INT64_MAX,
                  .last_look_ns = now,
                  .stride = FIRST_STRIDE,
                  .callback = callback,
                  .context = context};
}

budget budget_part(const budget *whole, int64_t max_steps, int64_t limit_ns) {
  REQUIRE(whole);
  budget part = budget_new(max_steps, limit_ns, whole->callback, whole->context);
  if (whole->max_steps != INT64_MAX) part.max_steps = min64(part.max_steps, whole->max_steps - whole->steps);
  part.deadline_ns = min64(part.deadline_ns, whole->deadline_ns);
  part.stop = whole->stop;
  if (part.max_steps <= 0 && !part.stop) part.stop = BUDGET_STEPS;
  return part;
}

void budget_join(budget *whole, const budget *part) {
  REQUIRE(part->steps >= 0 && part != whole);
  whole->steps = sat_add(whole->steps, part->steps);
  if (part->stop == BUDGET_CANCELLED) whole->stop = BUDGET_CANCELLED;
}

int64_t budget_steps_left(const budget *b) {
  return b->max_steps == INT64_MAX ? INT64_MAX : max64(0, b->max_steps - b->steps);
}

int64_t budget_time_left(const budget *b) {
  return b->deadline_ns == INT64_MAX ? INT64_MAX : max64(0, b->deadline_ns - clock_now_ns());
}

bool budget_over(budget *b) {
  if (b->stop) return true;
  int64_t now = clock_now_ns();
  int64_t passed = now - b->last_look_ns;
  if (passed < LOOK_NS / 2 && b->stride < LAST_STRIDE) b->stride *= 2;
  if (passed > LOOK_NS && b->stride > 1) b->stride /= 2;
  b->last_look_ns = now;
  b->next_look_steps = sat_add(b->steps, b->stride);
  if (b->steps >= b->max_steps)
    b->stop = BUDGET_STEPS;
  else if (now >= b->deadline_ns)
    b->stop = BUDGET_TIME;
  if (b->callback && b->callback(b->context)) b->stop = BUDGET_CANCELLED;
  return b->stop != BUDGET_GOING;
}

bool budget_spend(budget *b, int64_t steps) {
  b->steps = sat_add(b->steps, steps);
  if (b->stop) return true;
  if (b->steps >= b->max_steps) {
    b->stop = BUDGET_STEPS;
    return true;
  }
  return b->steps >= b->next_look_steps && budget_over(b);
}
