/* Balance: a pipeline of period T gives each device at most T of work, so that T times the speed of all devices
 * together covers all work. For a class r of devices, let another class k be at most s_k times as fast as r on any
 * item; then
 *
 *     T * (sum over devices of s) >= sum over items of the minimum of s_k * p(item, k) over the classes that can run
 * it,
 *
 * which is the sum of p(item, r) where r can run everything: sum p / (k + l * max p / q) for k accelerators and l CPUs
 * (Tarnawski et al., NeurIPS 2020). The inequality holds for any factors s >= 0, so rounding them can only weaken the
 * bound. The ratio of the sums is tried too, since one odd item can spoil the maximum ratio. Items are what every plan
 * keeps on one device: colocation groups, and in contiguous pipelines the classes of view/contract.h; a single item is
 * a bound too. Communication, memory and pins can only add to the load. Replicas of a part share its work, so the sum
 * still holds; a single item is then divided among all devices of its class. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "view/contract.h"

static const int64_t one = 1 << 20;          /* the factor of the class r itself */
static const int64_t max = (int64_t)1 << 36; /* 2^36 * 2^63 * 2^26 items stay below 2^127 */

typedef struct balance {
  int32_t n_items, n_classes;
  int64_t *time_ns;        /* [item * n_classes + class] */
  int64_t *devices;        /* [class] that may be used */
  int64_t *factor;         /* [class] */
  bool replicate;          /* all devices of a class may share one item */
  int64_t *best;           /* [class] the factors of the best bound */
  const int32_t *class_of; /* [operator] item */
  bool *usable;            /* [device] */
} balance;

static bool weigh(balance *b, const situ_problem *p, arena *a) {
  contraction items;
  if (!contract(&items, p, p->contiguous, a)) return false;
  b->n_items = items.n_classes;
  b->n_classes = p->n_classes;
  b->replicate = p->replicate;
  b->time_ns = ARENA_ZERO(a, int64_t, (int64_t)b->n_items * b->n_classes);
  b->devices = ARENA_ZERO(a, int64_t, b->n_classes);
  b->factor = ARENA_NEW(a, int64_t, b->n_classes);
  b->best = ARENA_ZERO(a, int64_t, b->n_classes);
  b->class_of = items.class_of;
  bool *usable = b->usable = ARENA_NEW(a, bool, p->n_devices);
  if (!b->time_ns || !b->devices || !b->factor || !b->best || !usable) return false;
  for (int32_t d = 0; d < p->n_devices; d++) usable[d] = !p->unused[d];
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (p->pin[v] >= 0) usable[p->pin[v]] = true;
    int64_t *row = b->time_ns + (int64_t)items.class_of[v] * b->n_classes;
    for (int32_t k = 0; k < b->n_classes; k++) row[k] = sat_add(row[k], p->time_ns[(int64_t)v * b->n_classes + k]);
  }
  for (int32_t d = 0; d < p->n_devices; d++) b->devices[p->class_of[d]] += usable[d];
  return true;
}

/* a / b in units of 1 / one, rounded up and clamped to 1 .. most. */
static int64_t ratio(__int128 a, __int128 b) {
  if (b == 0) return 1;
  __int128 quotient = (a * one + b - 1) / b; /* a is below 2^63 * 2^26 */
  return quotient > max ? max : quotient < 1 ? 1 : (int64_t)quotient;
}

/* factor[k]: how many times as fast as class r class k is: the maximum over the items that both can run (`at_best`), or
 * the ratio of their sums. */
static void compare_with(balance *b, int32_t r, bool at_best) {
  for (int32_t k = 0; k < b->n_classes; k++) {
    __int128 sum_r = 0, sum_k = 0;
    b->factor[k] = b->devices[k] > 0 ? 1 : 0;
    for (int32_t i = 0; i < b->n_items && b->devices[k] > 0; i++) {
      const int64_t *row = b->time_ns + (int64_t)i * b->n_classes;
      if (row[r] == SITU_NEVER_NS || row[k] == SITU_NEVER_NS) continue;
      sum_r += row[r];
      sum_k += row[k];
      if (at_best && row[k] > 0) b->factor[k] = max64(b->factor[k], ratio(row[r], row[k]));
    }
    if (!at_best && b->devices[k] > 0) b->factor[k] = ratio(sum_r, sum_k);
  }
}

/* The bound that the current factors give. */
static int64_t evaluate(const balance *b) {
  __int128 speed = 0, work = 0;
  for (int32_t k = 0; k < b->n_classes; k++) speed += (__int128)b->factor[k] * b->devices[k];
  if (speed == 0) return 0;
  for (int32_t i = 0; i < b->n_items; i++) {
    const int64_t *row = b->time_ns + (int64_t)i * b->n_classes;
    __int128 min = -1;
    for (int32_t k = 0; k < b->n_classes; k++) {
      if (b->devices[k] == 0 || row[k] == SITU_NEVER_NS) continue;
      __int128 cost = (__int128)row[k] * b->factor[k];
      if (min < 0 || cost < min) min = cost;
    }
    if (min > 0) work += min; /* an item that no class can run means that there is no plan */
  }
  __int128 value = (work + speed - 1) / speed;
  return value >= SITU_NEVER_NS ? SITU_NEVER_NS - 1 : (int64_t)value;
}

static int64_t shared(int64_t time_ns, int64_t n) { return time_ns / n + (time_ns % n > 0); }

static int64_t largest_item(const balance *b, int32_t *item) {
  int64_t largest = 0;
  for (int32_t i = 0; i < b->n_items; i++) {
    const int64_t *row = b->time_ns + (int64_t)i * b->n_classes;
    int64_t min = SITU_NEVER_NS;
    for (int32_t k = 0; k < b->n_classes; k++)
      if (b->devices[k] > 0 && row[k] != SITU_NEVER_NS)
        min = min64(min, shared(row[k], b->replicate ? b->devices[k] : 1));
    if (min == SITU_NEVER_NS || min <= largest) continue;
    largest = min;
    *item = i;
  }
  return largest;
}

/* Certifies the bound of the largest item, or of the best factors used as prices of time. */
static bool balance_certify(certificate *proof, const balance *b, const situ_problem *p, int64_t lower_ns, int32_t item,
                            arena *a) {
  if (lower_ns == 0) return true;
  certificate_start(proof, item >= 0 ? "largest_operator" : "area_price", lower_ns);
  if (item >= 0) {
    int64_t *operator_ = certificate_add_operators(proof, "operator", 1, a);
    while (operator_ && b->class_of[*operator_] != item) ++*operator_;
    return operator_;
  }
  int64_t *time = certificate_add(proof, "time_prices", p->n_devices, a);
  if (!time || !certificate_add(proof, "byte_prices", p->n_memories, a)) return false;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (b->usable[d]) time[d] = b->best[p->class_of[d]];
  return true;
}

static situ_status balance_compute(int64_t *lower_ns, certificate *proof, const situ_problem *problem, arena *scratch,
                                   budget *budget_, situ_error *error) {
  balance b = {0};
  int32_t item = -1;
  *lower_ns = 0;
  if (!weigh(&b, problem, scratch)) return fail_no_memory(error);
  *lower_ns = largest_item(&b, &item);
  for (int32_t r = 0; r < b.n_classes && !budget_over(budget_); r++) {
    if (b.devices[r] == 0) continue;
    for (int at_best = 0; at_best < 2; at_best++) {
      compare_with(&b, r, at_best);
      int64_t found = evaluate(&b);
      if (found <= *lower_ns) continue;
      *lower_ns = found;
      item = -1;
      for (int32_t k = 0; k < b.n_classes; k++) b.best[k] = b.factor[k];
    }
  }
  return balance_certify(proof, &b, problem, *lower_ns, item, scratch) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound balance_bound = {.name = "balance",
                             .title = "total work divided by the speed of all devices",
                             .source =
                                 "Tarnawski et al., NeurIPS 2020; Graham, Bounds on multiprocessing timing "
                                 "anomalies, 1969",
                             .models = MODEL_PIPELINE,
                             .compute = balance_compute};
