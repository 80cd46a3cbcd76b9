/* situ/disaggregation.h - a language model in use with prompts on some devices and decoding on others.
 *
 * A disaggregation is frozen: any number of threads may read it. Its texts and plans belong to it. */
#ifndef SITU_DISAGGREGATION_H
#define SITU_DISAGGREGATION_H

#include "situ/serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two copies of the model on disjoint devices: one for prompts, one that decodes. Closed: it never grows. */
typedef struct situ_disaggregation_row {
  const char *prefill_devices, *decode_devices; /* names, ", " between them; NULL past the end */
  int64_t streams;                              /* that decode at once */
  int64_t prefill_ns;                           /* of the prompt of a request, its micro-batches in turn */
  int64_t transfer_ns, transfer_bytes;          /* of its caches, to the devices that decode */
  double stream_tokens_per_s;                   /* in decoding, of one stream */
  int64_t request_ns;                           /* a prompt, its transfer, and its tokens */
  double requests_per_s;                        /* the minimum of what prefill, transfers and decoding let through */
  double max_requests_per_s;                    /* no plans on these devices let more through; 0: not proved */
  bool on_front; /* no other row is as good in request_ns and requests_per_s and better in one */
} situ_disaggregation_row;

typedef struct situ_disaggregation_summary {
  size_t size;
  double together_requests_per_s; /* the best with each copy doing both (situ_serve); 0: none was found */
  int64_t together_request_ns;    /* of one request there, alone; 0: none was found */
  double max_requests_per_s;      /* no row lets more through; 0: not proved */
} situ_disaggregation_summary;
#define SITU_DISAGGREGATION_SUMMARY_INIT SITU_SIZED(situ_disaggregation_summary)

typedef struct situ_disaggregation situ_disaggregation;

/* Tries every way to assign the accelerators (of servers without any, the hosts) to the two copies, where equal devices
 * of one server are interchangeable; the host of a server whose accelerators are on both sides runs nothing. Each copy
 * is placed like any model, with groups as the options say (all sizes by default): the one for a prompt of
 * `read.prompt` tokens, the other for 1, 2, 4, ... streams of so many and `read.generate` more in the cache, until
 * prompts, memory or their number limit. BAD_ARGUMENT unless both are stated, for models that do not decode, and for
 * more than 128 ways. Both plans are checked like any plan. options may be NULL. If the progress callback returns true,
 * the rows found so far are the result. */
SITU_API situ_status situ_disaggregate(situ_disaggregation **out, const situ_instance_options *instance,
                                       const situ_serving_options *options, situ_error *error);
SITU_API void situ_disaggregation_free(situ_disaggregation *disaggregation);
SITU_API int32_t situ_disaggregation_count(const situ_disaggregation *disaggregation);
/* Rows by rising time of a request. */
SITU_API situ_disaggregation_row situ_disaggregation_at(const situ_disaggregation *disaggregation, int32_t index);
/* The plan for prompts of a row, or the one that decodes; NULL outside. */
SITU_API const situ_plan *situ_disaggregation_plan(const situ_disaggregation *disaggregation, int32_t index,
                                                   bool decodes);
SITU_API bool situ_disaggregation_get_summary(const situ_disaggregation *disaggregation,
                                              situ_disaggregation_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
