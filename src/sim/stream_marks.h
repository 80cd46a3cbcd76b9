/* sim/stream_marks.h - marks of a run with contention link: all that it holds at the end of some instants, so that
 * another run may go on from there. */
#ifndef SITU_SIM_STREAM_MARKS_H
#define SITU_SIM_STREAM_MARKS_H

#include "sim/stream.h"

typedef struct stream_mark stream_mark;

/* Room for marks; NULL without memory. */
stream_marks *stream_marks_new(const stream *s, arena *a);
/* Leaves a mark if it is time for one: the instant now_ns is over. */
void stream_marks_leave(stream *s, int64_t now_ns);
bool stream_marks_empty(const stream_marks *m);
/* The last mark before a time, NULL if there is none; and the time of that mark. */
const stream_mark *stream_marks_before(const stream_marks *m, int64_t time_ns);
int64_t stream_mark_ns(const stream_mark *mark);
/* Forgets all marks after `mark`, or all where it is NULL. */
void stream_marks_cut(stream_marks *m, const stream_mark *mark);
/* Takes the state back to a mark; the user lists, which only grow, come from the caller. */
void stream_go_to_mark(stream *s, const stream_mark *mark);

#endif
