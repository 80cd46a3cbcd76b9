/* situ/judge.h - what a command or a file of another program places, whether it fits, and what would be better.
 *
 * A judgement is frozen: any number of threads may read it. Its texts, plans and model belong to it. */
#ifndef SITU_JUDGE_H
#define SITU_JUDGE_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_judgement situ_judgement;

typedef struct situ_judge_options {
  size_t size;
  const char *command; /* the text: a command line of llama.cpp, vLLM, Megatron-LM or torchtitan with its variables, a
                          device_map, shards of exo, split points of PyTorch, stages of torchtitan, session settings of
                          ONNX Runtime, affinities of OpenVINO */
  const char *format;  /* the writer whose format it has (situ_writer_info.marks); NULL: recognised */
  const situ_solve_options *solve; /* of the search for a better one; about 5 s if NULL or without limits */
} situ_judge_options;
#define SITU_JUDGE_OPTIONS_INIT SITU_SIZED(situ_judge_options)

/* Reads the placement, simulates it, and searches for the best plan of the same form. `instance` names platform and
 * model; the command names the latter, the context, streams, cache type and groups of devices where `instance` does
 * not. BAD_ARGUMENT if no format is recognised or no model is named; BAD_INPUT with the option in question if the
 * command is malformed or names what the platform has not. */
SITU_API situ_status situ_judge(situ_judgement **out, const situ_instance_options *instance,
                                const situ_judge_options *options, situ_error *error);
SITU_API void situ_judgement_free(situ_judgement *judgement);
/* The plan of the command. Without a placement it does not run: `reason` of its summary says why, as a memory that it
 * would overfill. */
SITU_API const situ_plan *situ_judgement_given(const situ_judgement *judgement);
/* The best plan found that the same program can run; NULL if none was. */
SITU_API const situ_plan *situ_judgement_best(const situ_judgement *judgement);
SITU_API const situ_model *situ_judgement_model(const situ_judgement *judgement);

typedef struct situ_judgement_summary {
  size_t size;
  const char *format; /* the name of the writer */
  const char *better; /* the best plan in that format; "" if the command is as good, nothing was found, or that format
                          is a folder, which situ_instance_export writes */
  const char *notes;  /* what is not modelled or was taken for granted, a line each; "" */
} situ_judgement_summary;
#define SITU_JUDGEMENT_SUMMARY_INIT SITU_SIZED(situ_judgement_summary)
/* False, and nothing is written, if the judgement or `out` is NULL or `out` has no size. */
SITU_API bool situ_judgement_get_summary(const situ_judgement *judgement, situ_judgement_summary *out);

#ifdef __cplusplus
}
#endif
#endif
