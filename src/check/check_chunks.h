/* check/check_chunks.h - the judge of schedules with several chunks on each device (docs/model.md, "Chunks"). */
#ifndef SITU_CHECK_CHECK_CHUNKS_H
#define SITU_CHECK_CHECK_CHUNKS_H

#include "check/judge.h"

/* Notes a placement whose operators have no chunks in order. Else adds to stash_bytes ([memory]) what each device keeps
 * at its worst time. NO_MEMORY or OK. */
situ_status check_chunks(judge *j, int64_t *stash_bytes, situ_error *error);

#endif
