/* How strong bounds are: what each adds up to over fixed sets of random problems of every execution model. A weaker
 * bound is no error and no other test may notice it; here its sum falls below that of bench/bound_strength.csv. Where a
 * bound has become stronger, `test-bound-strength --update` writes the new sums. On small problems, whose optimum brute
 * force knows, no bound may be above that, so no sum can be bought. */
#include "../../lab/test.h"
#include "ledger.h"

/* clang-format off */
static const family families[] = {
    {.name = "streams by brute force", SIZES(72, 4, 2, 2, 2, 0.3, 0.1),
     .options = {STREAM, .contention = SITU_CONTENTION_NONE}},
    {.name = "small memories by brute force", SIZES(72, 4, 2, 2, 2, 0.3, 0.1),
     .drawn = {.memory = 0.35, .unfused = true}, .options = {STREAM}},
    {.name = "thin streams", SIZES(72, 9, 6, 2, 3, 0.06, 0.03), .options = {STREAM}},
    {.name = "streams", SIZES(96, 8, 5, 2, 3, 0.15, 0.08), .options = {STREAM, .contention = SITU_CONTENTION_NONE}},
    {.name = "streams - equal devices", SIZES(48, 8, 5, 3, 3, 0.1, 0.08), .drawn = {.equal = true},
     .options = {STREAM}},
    {.name = "streams - little memory", SIZES(72, 8, 6, 2, 3, 0.15, 0.05), .drawn = {.memory = 0.3, .unfused = true},
     .options = {STREAM}},
    {.name = "streams - less memory", SIZES(72, 8, 6, 2, 3, 0.1, 0.05), .drawn = {.memory = 0.25, .host_memory = 0.8},
     .options = {STREAM}},
    {.name = "streams - all memories small", SIZES(72, 8, 6, 2, 3, 0.1, 0.05),
     .drawn = {.memory = 0.5, .host_memory = 0.5}, .options = {STREAM}},
    {.name = "streams - other costs", .other = true, SIZES(96, 8, 5, 2, 3, 0.1, 0.06),
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "streams one by one - little memory", SIZES(72, 6, 5, 2, 3, 0.1, 0.06), .drawn = {.memory = 0.3},
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "streams - throughput", .first = 60, SIZES(48, 8, 5, 2, 3, 0.1, 0.06), .drawn = {.memory = 0.5},
     .options = {STREAM, .objective = SITU_OBJECTIVE_THROUGHPUT, .max_latency_ns = 200}},
    {.name = "calls", SIZES(96, 6, 5, 2, 3, 0.15, 0.08), .drawn = {.memory = 0.4, .equal = true},
     .options = {.execution = SITU_EXECUTION_CALLS}},
    {.name = "few calls", SIZES(72, 6, 5, 2, 2, 0.15, 0.08), .drawn = {.equal = true, .memory = 0.5},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 1}},
    {.name = "staged pipelines", SIZES(72, 6, 7, 2, 4, 0.15, 0.08), .drawn = {.memory = 0.4},
     .options = {PERIOD, STAGED}},
    {.name = "linked pipelines", SIZES(72, 6, 7, 2, 4, 0.15, 0.08), .drawn = {.equal = true},
     .options = {PERIOD, .communication = SITU_COMMUNICATION_LINK}},
    {.name = "trained pipelines", SIZES(72, 8, 7, 2, 4, 0.15, 0.08),
     .drawn = {.training = true, .equal = true, .memory = 0.5},
     .options = {PERIOD, STAGED, .in_flight = 2, .schedule = SITU_SCHEDULE_GPIPE}},
    {.name = "free pipelines", SIZES(96, 6, 7, 2, 4, 0.15, 0.08), .drawn = {.memory = 0.5},
     .options = {PERIOD, STAGED, .free = true, .async_copies = true}},
    {.name = "pipelines of replicas", SIZES(72, 6, 7, 3, 3, 0.15, 0.08), .drawn = {.equal = true, .training = true},
     .options = {PERIOD, STAGED, .replicate = true}},
    {.name = "free pipelines - trained", SIZES(72, 6, 5, 2, 3, 0.15, 0.08), .drawn = {.training = true, .memory = 0.7},
     .options = {PERIOD, STAGED, .free = true}},
    {.name = "streams one by one - other costs - little memory", .other = true, SIZES(96, 6, 7, 2, 3, 0.1, 0.06),
     .drawn = {.memory = 0.3}, .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "large streams", SIZES(40, 20, 21, 3, 3, 0.04, 0.02), .options = {STREAM}},
    {.name = "large streams - little memory", SIZES(40, 20, 21, 3, 4, 0.03, 0.02),
     .drawn = {.memory = 0.15, .host_memory = 0.6}, .options = {STREAM}},
    {.name = "large pipelines", SIZES(40, 20, 21, 3, 4, 0.05, 0.03), .drawn = {.memory = 0.3, .training = true},
     .options = {PERIOD, STAGED, .free = true}},
    {.name = "many calls", SIZES(60, 10, 6, 2, 3, 0.1, 0.05),
     .drawn = {.memory = 0.3, .equal = true, .n_colocations = 2},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 3}},
    {.name = "training streams - little memory", SIZES(72, 7, 8, 2, 3, 0.2, 0.08),
     .drawn = {.training = true, .memory = 0.5, .n_colocations = 2}, .options = {STREAM}},
    {.name = "training streams - all memories small", SIZES(60, 9, 8, 3, 2, 0.15, 0.06),
     .drawn = {.training = true, .memory = 0.55, .host_memory = 0.75, .n_colocations = 1, .unfused = true},
     .options = {STREAM, .contention = SITU_CONTENTION_NONE}},
    {.name = "pipelines of groups", SIZES(72, 8, 9, 2, 5, 0.08, 0.05),
     .drawn = {.training = true, .memory = 0.6, .n_colocations = 1}, .options = {PERIOD, STAGED, .in_flight = 2}},
    {.name = "long pipelines", SIZES(60, 24, 17, 3, 4, 0.02, 0.015), .drawn = {.memory = 0.5, .equal = true},
     .options = {PERIOD, STAGED}},
};
/* clang-format on */

TEST(bounds_are_as_strong_as_they_were) { ledger_holds(families, sizeof families / sizeof families[0]); }

int main(int n_arguments, char **arguments) {
  ledger_updates = n_arguments > 1 && strcmp(arguments[1], "--update") == 0;
  return TEST_RUN(NULL, NULL);
}
