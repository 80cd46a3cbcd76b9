/* read/ir_net.h - an OpenVINO IR as plain structs: what src/read/ir_xml.c makes of the XML, and what src/read/ir_link.c
 * adds. Everything lives in one arena. */
#ifndef SITU_READ_IR_NET_H
#define SITU_READ_IR_NET_H

#include "base/arena.h"
#include "ops/ops.h"

typedef struct ir_net ir_net;
struct read_source;

typedef struct ir_attr {
  const char *key, *value;
} ir_attr;

typedef struct ir_port {
  int64_t id;
  ops_tensor tensor;     /* of an input: as its producer says it */
  int32_t layer, output; /* of an input: which output of which layer it reads; -1 until linked, and in
                           bodies before version 10 where it comes from outside */
  int32_t made;          /* of an output: the graph's tensor, -1 for none */
  const char *names;     /* of an output: the names of its tensor in the file, separated by commas; NULL: none */
  const char *name;      /* of an output of the main net: the one that no other has; added by ir_link */
} ir_port;

/* Bytes [begin, end) of the file. */
typedef struct ir_place {
  int64_t begin, end;
} ir_place;

/* How a value enters or leaves a body. */
typedef struct ir_mapping {
  bool input;
  int64_t external_port; /* id of a port of the owner; -1 for none */
  bool sliced;           /* along an axis, a part for each iteration */
  int64_t axis, start, end, stride, part_size;
} ir_mapping;

typedef struct ir_layer {
  int64_t id;
  const char *name, *type;   /* never NULL */
  ir_attr *attrs;            /* of <data> */
  ir_port *inputs, *outputs; /* by ascending id */
  int64_t n_attrs, n_inputs, n_outputs;
  situ_dtype dtype;   /* of all outputs that do not say their own: IR versions before 10 */
  int64_t blob_bytes; /* weights within the layer: IR versions before 10 */
  ir_mapping *mappings;
  int64_t n_mappings;
  ir_net *bodies[2]; /* of TensorIterator and Loop one, of If two */
  int32_t n_bodies;
  bool constant;   /* the same at each run; added by ir_link, as are: */
  bool of_sources; /* a constant that is held as the constants that it is computed from (ops_hold) */
  bool charged;    /* a constant: an operator was charged with its bytes */
  ir_place place;  /* its element */
} ir_layer;

typedef struct ir_edge {
  int64_t from_layer, from_port, to_layer, to_port;
} ir_edge;

struct ir_net {
  const char *name;
  int64_t version;
  ir_layer *layers;
  ir_edge *edges;
  int64_t n_layers, n_edges;
  int32_t *order;   /* [n_layers] producers first; added by ir_link, as is: */
  int32_t *pending; /* [n_layers] scratch of ir_charge */
  /* Of the main net: the positions of the elements with its layers and edges; {0, 0}: none. */
  ir_place layers_place, edges_place;
};

/* Parses a file. BAD_INPUT, with the line, if it is not an IR of version 6 to 11 or contains impossible values; reads
 * nothing but the XML. Sizes of dimensions are -1 where they are dynamic. */
situ_status ir_parse(ir_net **out, arena *a, const struct read_source *source, situ_error *error);

/* Follows the edges of a net and of its bodies, orders the layers, finds constants and names outputs. BAD_INPUT, naming
 * the layer, if an edge leads nowhere, an input is given twice or never, or layers form a cycle. */
situ_status ir_link(ir_net *net, situ_dtype precision, arena *a, const char *path, situ_error *error);

/* Charges a constant to the operator that reads it: the bytes of everything that it is stored as and that were not
 * charged before. Bytes charged before are added to *shared_bytes. */
int64_t ir_charge(ir_net *net, int32_t constant, int64_t *shared_bytes);

/* Whether the layer multiplies activations that a FakeQuantize of at most 256 levels has made by weights of another one
 * or stored in at most 8 bits: engines run it in I8. */
bool ir_is_quantised(const ir_net *net, const ir_layer *layer);

/* How often the body of a layer runs, derived from its sliced inputs and outputs; -1 if unknown. */
int64_t ir_trips(const ir_layer *layer);

/* Whether the layer is an external value (Parameter, Const) or an end (Result), and does no work. */
bool ir_is_boundary(const ir_layer *layer);

/* Whole numbers of an attribute, at most `most`; returns how many. */
int32_t ir_ints(const ir_layer *layer, const char *key, int64_t *into, int32_t most);
/* The value of an attribute, or `otherwise`. */
int64_t ir_int(const ir_layer *layer, const char *key, int64_t otherwise);

/* The work of a layer without bodies whose inputs are linked. */
ops_work ir_count(const ir_layer *layer, arena *a);

#endif
