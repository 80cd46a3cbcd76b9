/* situ.h - all of libsitu.
 *
 *     model --read--> graph --estimate(platform)--> costs --pose--> problem --solve--> plan --check, write-->
 *
 * Every arrow is one function, every noun one opaque, frozen object with one _free. Start with situ/instance.h for the
 * shortest way from names to a plan file. */
#ifndef SITU_H
#define SITU_H

#include "situ/costs.h"
#include "situ/error.h"
#include "situ/graph.h"
#include "situ/instance.h"
#include "situ/learn.h"
#include "situ/pareto.h"
#include "situ/plan.h"
#include "situ/platform.h"
#include "situ/problem.h"
#include "situ/read.h"
#include "situ/report.h"
#include "situ/solve.h"
#include "situ/types.h"
#include "situ/write.h"

#endif
