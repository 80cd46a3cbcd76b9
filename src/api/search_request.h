/* api/search_request.h - the options of a verb that searches several times: its own, to change from one search to the
 * next, and one answer to "stop?" for all of them. */
#ifndef SITU_API_SEARCH_REQUEST_H
#define SITU_API_SEARCH_REQUEST_H

#include "situ/instance.h"
#include "situ/solve.h"

typedef struct search_request {
  situ_instance_options instance; /* points to the next three */
  situ_read_options read;
  situ_cost_options cost;
  situ_problem_options problem;
  situ_solve_options solve;         /* points to this struct, which must not move */
  situ_progress_callback *progress; /* the caller's */
  void *context;
  bool stopped; /* the caller stopped a search: no other is to start */
} search_request;

/* Takes the options of a caller of any version; texts and arrays are borrowed. Where `solve` limits neither steps nor
 * time, each search has limit_s seconds. */
situ_status search_request_take(search_request *r, const situ_instance_options *instance,
                                const situ_solve_options *solve, double limit_s, situ_error *error);

/* Opens the model, which must be a language model with caches, one copy of it: BAD_ARGUMENT that ends with `why` for
 * any other. */
situ_status search_request_open(situ_instance **out, const search_request *r, const char *why, situ_error *error);

#endif
