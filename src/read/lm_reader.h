/* read/lm_reader.h - what readers of language models share: from a description and the options to the model. */
#ifndef SITU_READ_LM_READER_H
#define SITU_READ_LM_READER_H

#include "read/lm.h"
#include "read/reader.h"

/* Builds the steps that the options ask for (docs/formats/language-models.md) and adds notes. */
situ_status lm_read(read_result *result, const lm *model, const read_source *source, situ_error *error);

#endif
