/* cost/relayed.h - hand-overs between accelerators of a machine that have no link of their own.
 *
 * An engine that waits at each hand-over waits less for its host than for another accelerator: what passes through the
 * host costs more than the two hand-overs that begin or end there. So such pairs get a link, whose time is that of the
 * route through the host, and the engine adds to it what it takes (cost_engine.sync).
 * docs/theory/models/language-models.md
 */
#ifndef SITU_COST_RELAYED_H
#define SITU_COST_RELAYED_H

#include "cost/fusion.h"
#include "platform/platform.h"

/* Whether the engine tells such hand-overs apart and the platform has any. */
bool relayed_matter(const cost_engine *engine, const situ_platform *platform);

/* The platform with these links behind its own (n_relayed). */
situ_status relayed_platform(situ_platform **out, const situ_platform *platform, situ_error *error);

/* What the engine adds to the latency of a link. */
int64_t relayed_sync_ns(const cost_engine *engine, const situ_platform *platform, int32_t link);

#endif
