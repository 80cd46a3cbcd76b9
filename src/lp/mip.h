/* lp/mip.h - a narrow interface to mixed-integer programming engines. Their results are floating point: they provide
 * solutions, which others must check, and never a proof.
 *
 * HiGHS is searched for at run time, as engines that run models are; where it is absent Cbc serves, if SITU_CBC is
 * defined. */
#ifndef SITU_LP_MIP_H
#define SITU_LP_MIP_H

#include "lp/mip_engine.h"

/* NULL, or why there is no engine. */
const char *mip_missing(void);
/* Searches, in a process of its own (base/child.h): an engine that crashes takes nothing with it. The arena is scratch.
 * False without memory, engine or process. */
bool mip_search(mip_outcome *out, const program *p, const mip_limits *limits, mip_found *found, void *context,
                arena *a);

#endif
