/* situ.h - includes every public header of libsitu.
 *
 *     model --read--> graph --estimate(platform)--> costs --pose--> problem --solve--> plan --check, write-->
 *
 * Every arrow is one function. Every noun is one opaque, frozen object with one _free function. To get from names to a
 * plan file in the fewest calls, start with situ/instance.h and docs/c-api.md.
 *
 * Threads: situ has no global state. Two threads may call any functions on different objects, and may read one frozen
 * object at the same time. Only builders and situ_verdict_require_proof modify their object. Callbacks run on the
 * calling thread. Ownership: an object or text returned through `out` belongs to the caller, who frees it with its
 * _free function or with situ_text_free. Every other returned pointer is borrowed from the object it was requested
 * from. */
#ifndef SITU_H
#define SITU_H

#include "situ/compare.h"
#include "situ/costs.h"
#include "situ/disaggregation.h"
#include "situ/engine.h"
#include "situ/error.h"
#include "situ/explain.h"
#include "situ/fit.h"
#include "situ/graph.h"
#include "situ/instance.h"
#include "situ/judge.h"
#include "situ/learn.h"
#include "situ/options.h"
#include "situ/pareto.h"
#include "situ/partition.h"
#include "situ/plan.h"
#include "situ/platform.h"
#include "situ/problem.h"
#include "situ/ranks.h"
#include "situ/read.h"
#include "situ/report.h"
#include "situ/serving.h"
#include "situ/size.h"
#include "situ/solve.h"
#include "situ/stages.h"
#include "situ/types.h"
#include "situ/version.h"
#include "situ/what_if.h"
#include "situ/write.h"

#endif
