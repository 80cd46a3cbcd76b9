/* engine/profile_served.h - times of the operators of a language model, as llama-bench measures the whole. */
#ifndef SITU_ENGINE_PROFILE_SERVED_H
#define SITU_ENGINE_PROFILE_SERVED_H

#include "engine/measure.h"

/* Fills a profile that has its arena and its model, which was read from a GGUF file at `path`. llama-bench measures
 * each kind of step, on the CPU or on the device of the options by llama.cpp's name ("CUDA0", "RPC[host:port]"); the
 * estimates of the step's operators, those of this host or of a GPU, are scaled to that. UNSUPPORTED for several
 * streams. */
situ_status profile_served(situ_profile *p, const char *path, measuring *m, situ_error *error);

#endif
