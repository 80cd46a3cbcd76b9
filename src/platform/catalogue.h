/* platform/catalogue.h - looking up known devices and kinds of link. */
#ifndef SITU_PLATFORM_CATALOGUE_H
#define SITU_PLATFORM_CATALOGUE_H

#include "situ/platform.h"

/* Row `index` over all tables, or NULL. */
const situ_device_kind_info *catalogue_row(int32_t index);
/* The row of that name, else the only row whose name continues with "-" after it: "rtx4090" is rtx4090-24g, and so are
 * "RTX 4090" and "NVIDIA GeForce RTX 4090". NULL if there is none, or more than one. */
const situ_device_kind_info *catalogue_find(const char *key);
/* The only row of that kind ("cpu") that the longest run of words in a text names: i7-8700 of "Intel(R) Core(TM)
 * i7-8700 CPU @ 3.20GHz". NULL: none, or several. */
const situ_device_kind_info *catalogue_find_within(const char *text, const char *kind);
/* The row for an accelerator that a system calls `model` ("NVIDIA A100-SXM4-80GB"), or NULL. */
const situ_device_kind_info *catalogue_match(const char *model);
const situ_link_kind_info *link_kind_find(const char *key);

/* A hint for an unknown key, written into `into` and returned: "did you mean a100-40g or a100-80g?" with at most three
 * similar keys, by edit distance and common prefix; else where all keys are listed. */
enum { CATALOGUE_HINT_BYTES = 200 };
const char *catalogue_nearest_device(char into[CATALOGUE_HINT_BYTES], const char *key);
const char *catalogue_nearest_link(char into[CATALOGUE_HINT_BYTES], const char *key);

/* What the driver lets programs use of the memory that a machine with this device is sold with; all of it unless it is
 * known to be less. Metal: the working set that it recommends, as llama.cpp prints it (16 GB 11453 MB, 32 GB 22906 MB,
 * 36 GB 28991 MB, 64 GB 51540 MB, 192 GB 154619 MB): two thirds of up to 32 GiB, three quarters of more. */
int64_t catalogue_granted_bytes(const situ_device_kind_info *row, int64_t installed_bytes);

/* Whether the device of that class is a GPU with TF32, half as fast as its BF16: NVIDIA, from Ampere on. */
bool catalogue_has_tf32(const char *class_name);

/* The device of a row, with the memory that its driver grants: no name yet, no shared memory, a host when the row is a
 * cpu. */
situ_device catalogue_device(const situ_device_kind_info *row);

#endif
