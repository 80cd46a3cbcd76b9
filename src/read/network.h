/* read/network.h - networks for pictures and sound in weight files: the families that situ knows.
 *
 * Files of weights do not say in which order their modules work. A family knows that: its generator writes the network
 * with the calls of read/module_net.h. A network is only taken for one of a family if every module that the family
 * needs is there and no other one is left. Sources: the modelling files of transformers, timm and diffusers. */
#ifndef SITU_READ_NETWORK_H
#define SITU_READ_NETWORK_H

#include "read/module_net.h"
#include "read/safetensors_config.h"

typedef struct network {
  const char *name, *title;
  const char *types; /* of config.json: model_type, class of diffusers, architecture of timm up to '_' or '.'; a blank
                        before and after each */
  const char *marks; /* modules by which one of another name is known, or NULL; the paths end so */
  void (*generate)(module_net *m);
} network;

/* The table of families: one struct network_NAME, and one line here. */
#define NETWORK_ROWS(ROW) \
  ROW(patches)            \
  ROW(pairs)              \
  ROW(segformer)          \
  ROW(swin)               \
  ROW(convnext)           \
  ROW(resnet)             \
  ROW(detection)          \
  ROW(yolos)              \
  ROW(efficientnet)       \
  ROW(mobilenet_v1)       \
  ROW(mobilenet_v2)       \
  ROW(sound)              \
  ROW(unet)               \
  ROW(autoencoder)        \
  ROW(diffusion)
#define NETWORK_DECLARE(NAME) extern const network network_##NAME;
NETWORK_ROWS(NETWORK_DECLARE)

/* The last map of a ResNet whose first convolution reads the picture x. */
net_value network_resnet_map(module_net *m, net_value x);

/* Two matrices that make a row of what is said of a step of diffusion (its time, ...). */
net_value network_embed_step(module_net *m, const char *path);

/* The family that the configuration names; NULL: none. */
const network *network_find(const json_value *config);
/* The family that the tensors look like; NULL: none. */
const network *network_like(const lm *file);

/* Reads `file` as a network of the family. UNSUPPORTED, naming what is missing or left, if it is none. `named`: the
 * configuration names the family. */
situ_status network_read(read_result *result, const network *family, const lm *file, const json_value *config,
                         const read_source *source, bool named, situ_error *error);

#endif
