/* read/safetensors_layers.h - what config.json of Hugging Face models says of single blocks. */
#ifndef SITU_READ_SAFETENSORS_LAYERS_H
#define SITU_READ_SAFETENSORS_LAYERS_H

#include "base/json.h"
#include "read/lm.h"

/* The first of several keys of an object that is a number, or a list of them, of which the middle one counts; others
 * count as absent, and so do numbers beyond all reason. */
int64_t hf_config_any(const json_value *object, const char *const *keys, int64_t default_value);
#define HF_ANY(o, default_value, ...) hf_config_any((o), (const char *const[]){__VA_ARGS__, NULL}, (default_value))

/* The layers of `model`, in its arena, which are as `usual` but for what `text` says of some of them. */
situ_status hf_config_layers(lm *model, lm_layer usual, const json_value *text, situ_error *error);
/* The states of its recurrent blocks. */
void hf_config_state(lm *model, const json_value *text);

#endif
