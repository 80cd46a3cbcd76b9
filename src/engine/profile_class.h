/* engine/profile_class.h - which class of devices an engine's device is. */
#ifndef SITU_ENGINE_PROFILE_CLASS_H
#define SITU_ENGINE_PROFILE_CLASS_H

#include "situ/error.h"

enum { PROFILE_CLASS_BYTES = 64 };
/* "cpu" for the CPU (NULL: too), else the class of the device of this-host that an engine calls `device`: CUDA:1 is an
 * NVIDIA GPU. BAD_ARGUMENT, naming the classes of this-host, where that is not known: there is none, or there are
 * several unlike ones, which engines and drivers number differently. */
situ_status profile_class_find(char into[PROFILE_CLASS_BYTES], const char *device, situ_error *error);

#endif
