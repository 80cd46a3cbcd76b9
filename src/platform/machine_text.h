/* platform/machine_text.h - the machine that outputs of system tools describe, as people paste them. */
#ifndef SITU_PLATFORM_MACHINE_TEXT_H
#define SITU_PLATFORM_MACHINE_TEXT_H

#include "platform/platform.h"

/* Builds a platform of the text of a file that is not JSON: outputs of nvidia-smi (its table, -L, --query-gpu as CSV,
 * topo -m), of llama-server --list-devices, of lspci (-vv), lscpu and free -b or /proc/meminfo, one after another. GPUs
 * have the memory that is free where that is known, else what the catalogue says, and the link of their lanes. The host
 * is that of lscpu, else the generic one. BAD_INPUT with the line of a device that the catalogue does not have, and if
 * no device is found at all. */
situ_status platform_from_text(situ_platform **out, const char *text, const char *path, situ_error *error);

#endif
