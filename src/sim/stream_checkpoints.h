/* sim/stream_checkpoints.h - checkpoints of a run with contention link: its state at the end of some instants, from
 * which another run may continue. */
#ifndef SITU_SIM_STREAM_CHECKPOINTS_H
#define SITU_SIM_STREAM_CHECKPOINTS_H

#include "sim/stream.h"

typedef struct stream_checkpoint stream_checkpoint;

/* Allocates; NULL without memory. */
stream_checkpoints *stream_checkpoints_new(const stream *s, arena *a);
/* Saves a checkpoint after the instant now_ns if enough operators have ended since the last one. */
void stream_checkpoints_save(stream *s, int64_t now_ns);
bool stream_checkpoints_empty(const stream_checkpoints *c);
/* The last checkpoint before a time, NULL if there is none; the time of a checkpoint. */
const stream_checkpoint *stream_checkpoints_before(const stream_checkpoints *c, int64_t time_ns);
int64_t stream_checkpoint_ns(const stream_checkpoint *point);
/* Drops all checkpoints after `point`, or all if it is NULL. */
void stream_checkpoints_cut(stream_checkpoints *c, const stream_checkpoint *point);
/* Restores the state of a checkpoint, except the user lists, which the caller restores. */
void stream_restore(stream *s, const stream_checkpoint *point);

#endif
