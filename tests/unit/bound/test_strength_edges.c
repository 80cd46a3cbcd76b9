/* The ledger of test_strength.c at the edges: a single operator or device, many equal numbers and memories that are
 * full to the byte, numbers near the limits of a problem, and budgets that end soon. */
#include "../../lab/test.h"
#include "ledger.h"

/* clang-format off */
static const family families[] = {
    {.name = "streams of a few operators", SIZES(60, 1, 3, 1, 3, 0.3, 0.15),
     .drawn = {.memory = 0.6, .host_memory = 0.8}, .options = {STREAM}},
    {.name = "pipelines of a few operators", SIZES(48, 1, 3, 1, 3, 0.3, 0.15),
     .drawn = {.memory = 0.6, .training = true}, .options = {PERIOD, STAGED, .in_flight = 2}},
    {.name = "calls of a few operators", SIZES(48, 1, 3, 1, 3, 0.3, 0.15), .drawn = {.memory = 0.6},
     .options = {.execution = SITU_EXECUTION_CALLS}},
    {.name = "dense streams - two hosts", SIZES(40, 6, 4, 3, 4, 0.5, 0.1),
     .drawn = {.n_hosts = 2, .memory = 0.4, .n_colocations = 1}, .options = {STREAM}},
    {.name = "streams of few values by brute force", .manner = FEW_VALUES, SIZES(60, 3, 3, 2, 2, 0.3, 0.15),
     .drawn = {.memory = 0.5, .host_memory = 0.8}, .options = {STREAM}},
    {.name = "streams of few values - little memory", .manner = FEW_VALUES, SIZES(60, 8, 6, 2, 3, 0.12, 0.06),
     .drawn = {.memory = 0.35, .host_memory = 0.7}, .options = {STREAM}},
    {.name = "streams of few values - equal devices", .manner = FEW_VALUES, SIZES(48, 8, 6, 3, 3, 0.12, 0.06),
     .drawn = {.equal = true}, .options = {STREAM, .contention = SITU_CONTENTION_NONE}},
    {.name = "one by one - few values - little memory", .manner = FEW_VALUES, SIZES(48, 7, 6, 2, 3, 0.1, 0.06),
     .drawn = {.memory = 0.35}, .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "pipelines of few values", .manner = FEW_VALUES, SIZES(60, 5, 6, 2, 4, 0.15, 0.08),
     .drawn = {.memory = 0.4, .training = true, .equal = true}, .options = {PERIOD, STAGED}},
    {.name = "free pipelines of few values", .manner = FEW_VALUES, SIZES(48, 5, 5, 2, 4, 0.15, 0.08),
     .drawn = {.memory = 0.5}, .options = {PERIOD, STAGED, .free = true}},
    {.name = "calls of few values", .manner = FEW_VALUES, SIZES(60, 6, 5, 2, 3, 0.15, 0.08),
     .drawn = {.memory = 0.4, .equal = true}, .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 2}},
    {.name = "streams near the limits", .manner = NEAR_LIMITS, SIZES(64, 4, 7, 2, 3, 0.15, 0.08),
     .drawn = {.memory = 0.4, .host_memory = 0.9}, .options = {STREAM}},
    {.name = "one by one - near the limits", .manner = NEAR_LIMITS, SIZES(48, 4, 7, 2, 3, 0.15, 0.08),
     .drawn = {.memory = 0.4}, .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "pipelines near the limits", .manner = NEAR_LIMITS, SIZES(48, 4, 5, 2, 3, 0.15, 0.08),
     .drawn = {.memory = 0.5, .training = true}, .options = {PERIOD, STAGED, .in_flight = 2}},
    {.name = "calls near the limits", .manner = NEAR_LIMITS, SIZES(48, 4, 6, 2, 3, 0.15, 0.08),
     .drawn = {.memory = 0.4}, .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 3}},
    {.name = "streams - stopped", .stopped = true, SIZES(80, 7, 8, 2, 3, 0.12, 0.05),
     .drawn = {.memory = 0.4, .host_memory = 0.8}, .options = {STREAM}},
    {.name = "one by one - stopped", .stopped = true, SIZES(48, 7, 8, 2, 3, 0.12, 0.05), .drawn = {.memory = 0.35},
     .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "one by one - other costs - stopped", .other = true, .stopped = true, SIZES(48, 6, 7, 2, 3, 0.1, 0.06),
     .drawn = {.memory = 0.3}, .options = {STREAM, .overlap = SITU_OVERLAP_NONE}},
    {.name = "pipelines - stopped", .stopped = true, SIZES(60, 5, 6, 2, 4, 0.15, 0.08),
     .drawn = {.memory = 0.5, .training = true}, .options = {PERIOD, STAGED}},
    {.name = "free pipelines - stopped", .stopped = true, SIZES(48, 6, 4, 2, 4, 0.15, 0.08), .drawn = {.memory = 0.5},
     .options = {PERIOD, STAGED, .free = true}},
    {.name = "streams in one memory", SIZES(60, 4, 2, 2, 1, 0.3, 0.15),
     .drawn = {.n_hosts = 2, .host_memory = 0.75, .n_colocations = 1}, .options = {STREAM}},
    {.name = "longer streams in one memory", SIZES(48, 7, 7, 2, 2, 0.15, 0.06),
     .drawn = {.n_hosts = 2, .host_memory = 0.7, .memory = 0.5}, .options = {STREAM}},
    {.name = "calls of few values - groups", .manner = FEW_VALUES, SIZES(60, 7, 6, 2, 2, 0.2, 0.08),
     .drawn = {.n_colocations = 3, .memory = 0.35, .equal = true},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 2}},
    {.name = "streams of few values - groups", .manner = FEW_VALUES, SIZES(60, 5, 6, 2, 3, 0.2, 0.08),
     .drawn = {.n_colocations = 3, .memory = 0.5, .training = true}, .options = {STREAM}},
    {.name = "pipelines of few values - groups", .manner = FEW_VALUES, SIZES(60, 5, 5, 2, 3, 0.15, 0.08),
     .drawn = {.n_colocations = 2, .memory = 0.5}, .options = {PERIOD, STAGED, .in_flight = 2}},
    {.name = "calls of few values - unlike links", .manner = FEW_VALUES, SIZES(96, 7, 6, 3, 3, 0.2, 0.08),
     .drawn = {.memory = 0.5, .n_colocations = 1}, .options = {.execution = SITU_EXECUTION_CALLS}},
    {.name = "calls - unlike links", SIZES(60, 6, 6, 3, 3, 0.15, 0.08), .drawn = {.memory = 0.4},
     .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 2}},
    {.name = "streams - all pinned", .all_pinned = true, SIZES(40, 4, 8, 2, 3, 0.2, 0.08), .drawn = {.memory = 0.6},
     .options = {STREAM}},
    {.name = "pipelines - all pinned", .all_pinned = true, SIZES(48, 5, 8, 2, 4, 0.15, 0.08),
     .drawn = {.memory = 0.7, .equal = true}, .options = {PERIOD, STAGED}},
    {.name = "calls - all pinned", .all_pinned = true, SIZES(40, 4, 6, 2, 3, 0.2, 0.08), .drawn = {.memory = 0.6},
     .options = {.execution = SITU_EXECUTION_CALLS}},
    {.name = "streams without a host", .no_host = true, SIZES(40, 5, 7, 2, 3, 0.2, 0.08), .drawn = {.memory = 0.5},
     .options = {STREAM}},
    {.name = "pipelines without a host", .no_host = true, SIZES(40, 5, 7, 2, 3, 0.15, 0.08), .drawn = {.memory = 0.6},
     .options = {PERIOD, STAGED, .free = true}},
    {.name = "calls without a host", .manner = FEW_VALUES, .no_host = true, SIZES(48, 5, 6, 2, 3, 0.2, 0.08),
     .drawn = {.memory = 0.5}, .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = 2}},
};
/* clang-format on */

TEST(bounds_are_as_strong_at_the_edges) { ledger_holds(families, sizeof families / sizeof families[0]); }

int main(int n_arguments, char **arguments) {
  ledger_updates = n_arguments > 1 && strcmp(arguments[1], "--update") == 0;
  return TEST_RUN(NULL, NULL);
}
