/* cost/cpu_rates.h - how fast CPUs compute with each type of weights in llama.cpp.
 *
 * A product of T tokens brings each weight from memory into registers, and out of its packing, once, and computes T
 * times. So an operator computes for
 *
 *     (flops / share + bytes * unpack) / peak for F32
 *
 * while its bytes come from memory: one token is bound by the unpacking, many by the arithmetic.
 * docs/theory/models/language-models.md says where the figures come from. */
#ifndef SITU_COST_CPU_RATES_H
#define SITU_COST_CPU_RATES_H

#include "cost/efficiency.h"

typedef struct cpu_rate {
  double share;  /* of the peak for F32 */
  double unpack; /* operations of that peak that a byte of weights, or of a cache, takes */
} cpu_rate;

typedef struct cpu_scene {
  bool remote;           /* behind an RPC server, which does not store weights in the order of its kernels */
  int64_t stream_tokens; /* that each stream takes in the step */
} cpu_scene;

/* False where there is no such figure: for other devices, those without a peak for F32, other engines, operators and
 * types (`weight_type` as GGUF names it, in any case; may be NULL). */
bool cpu_rate_of(cpu_rate *out, const situ_device *device, const cost_engine *engine, efficiency_work work,
                 const char *weight_type, cpu_scene scene);

#endif
