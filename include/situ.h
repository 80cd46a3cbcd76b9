/* situ.h - all of libsitu.
 *
 *     model --read--> graph --estimate(platform)--> costs --pose--> problem --solve--> plan --check, write-->
 *
 * Every arrow is one function, every noun one opaque, frozen object with one _free. Start with situ/instance.h for the
 * shortest way from names to a plan file, and with docs/c-api.md.
 *
 * Threads: situ has no global state. Two threads may call anything on different objects, and read one frozen object at
 * the same time; builders, and situ_verdict_require_proof, change theirs. Callbacks run on the thread of the call.
 * Ownership: what a function returns through `out` is the caller's, to be freed by its _free or situ_text_free; every
 * other pointer returned is borrowed from the object that it was asked of. */
#ifndef SITU_H
#define SITU_H

#include "situ/costs.h"
#include "situ/engine.h"
#include "situ/error.h"
#include "situ/explain.h"
#include "situ/graph.h"
#include "situ/instance.h"
#include "situ/learn.h"
#include "situ/pareto.h"
#include "situ/plan.h"
#include "situ/platform.h"
#include "situ/problem.h"
#include "situ/ranks.h"
#include "situ/read.h"
#include "situ/report.h"
#include "situ/size.h"
#include "situ/solve.h"
#include "situ/types.h"
#include "situ/version.h"
#include "situ/what_if.h"
#include "situ/write.h"

#endif
