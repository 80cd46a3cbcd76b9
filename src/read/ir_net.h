/* read/ir_net.h - an OpenVINO IR as plain structs: what src/read/ir_xml.c makes of the XML, and what src/read/ir_link.c
 * adds. Everything lives in one arena. */
#ifndef SITU_READ_IR_NET_H
#define SITU_READ_IR_NET_H

#include "base/arena.h"
#include "ops/ops.h"
#include "situ/graph.h"

typedef struct ir_net ir_net;
struct read_source;
struct read_result;
struct ir_call;

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
  const char *name;      /* of an output of the main net: the one that no other has; added by ir_join */
  bool open;             /* the file leaves a dimension of it open; added by ir_shape, for outputs and linked inputs */
} ir_port;

/* Bytes [begin, end) of the file. */
typedef struct ir_place {
  int64_t begin, end;
} ir_place;

/* How a value enters or leaves a body. */
typedef struct ir_mapping {
  bool input;
  int64_t external_port;  /* id of a port of the owner; -1 for none */
  int64_t internal_layer; /* id of the Parameter or Result of the body; -1 for none */
  bool default_value;     /* of the body of an If that runs when the condition is false */
  bool sliced;            /* along an axis, a part for each iteration */
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
  bool constant;   /* the same at each run; added by ir_settle, as are: */
  bool of_sources; /* a constant that is held as the constants that it is computed from (ops_hold) */
  bool charged;    /* a constant: an operator was charged with its bytes */
  bool unsized;    /* a dimension of a port follows from nothing; it counts as 1, or as the caller's default */
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
  bool default_value; /* a body: the one of an If that runs when the condition is false */
  int32_t *order;     /* [n_layers] producers first; added by ir_join, as is: */
  int32_t *pending;   /* [n_layers] scratch of ir_charge */
  /* Of the main net: the positions of the elements with its layers and edges; {0, 0}: none. */
  ir_place layers_place, edges_place;
};

/* Parses a file. BAD_INPUT, with the line, if it is not an IR of version 6 to 11 or contains impossible values; reads
 * nothing but the XML. Sizes of dimensions are -1 where they are dynamic. */
situ_status ir_parse(ir_net **out, arena *a, const struct read_source *source, situ_error *error);

/* Follows the edges of a net and of its bodies, orders the layers and names outputs. BAD_INPUT, naming the layer, if an
 * edge leads nowhere, an input is given twice or never, or layers form a cycle. */
situ_status ir_join(ir_net *net, arena *a, const char *path, situ_error *error);

/* Finds the constants of a joined net, by its current shapes, and how they are held. */
situ_status ir_settle(ir_net *net, situ_dtype precision, arena *a, situ_error *error);

/* Both, for a net whose shapes stay as the file states them. */
situ_status ir_link(ir_net *net, situ_dtype precision, arena *a, const char *path, situ_error *error);

/* The file with the elements of constants that belongs to a path; NULL without memory. */
const char *ir_data_path(arena *a, const char *path);

/* The index of the port with this id among n sorted ones, or -1. */
int64_t ir_find_port(const ir_port *ports, int64_t n, int64_t id);

/* Gives the open dimensions of inputs a size (given, by default or assumed) and fills the others that follow from it,
 * in a joined net; sizes that the file states stay. Assumed sizes go into the result and its notes, guesses to the
 * builder. A net without open
 * dimensions stays as it is, and its constants are not read. BAD_ARGUMENT for sizes of dimensions that do not exist;
 * BAD_INPUT if sizes that were all given do not fit a layer. */
situ_status ir_shape(ir_net *net, const struct read_source *source, struct read_result *result,
                     situ_graph_builder *builder, arena *a, situ_error *error);

/* The outputs of a layer without bodies whose inputs are linked: shapes, and values where these are few and known.
 * `outputs` holds what the file states, with rank -1 where it states nothing. Unknown kinds leave it unchanged.
 * BAD_INPUT, with text, if the inputs contradict each other. */
situ_status ir_infer(const ir_layer *layer, ops_tensor *outputs, arena *a, situ_error *error);

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

/* Whole numbers of an attribute, at most `max`; returns how many. */
int32_t ir_ints(const ir_layer *layer, const char *key, int64_t *into, int32_t max);
/* The value of an attribute, or the default. */
int64_t ir_int(const ir_layer *layer, const char *key, int64_t default_value);

const char *ir_text(const ir_layer *layer, const char *key, const char *default_value);
bool ir_is_true(const ir_layer *layer, const char *key);

/* A tensor of weights with its groups, the first dimension, put into the second. Without memory it stays as it is. */
ops_tensor ir_without_groups(const ops_tensor *t, arena *a);

/* How the work of a kind is counted. */
typedef enum ir_rule {
  IR_BY_NAME,       /* no rule: as the ONNX kind of the same name, if there is one */
  IR_AS_ONNX,       /* as the ONNX kind of the row */
  IR_EACH,          /* `cost` FLOPs for each element of the first output */
  IR_MATRIX,        /* MatMul with transpose_a, transpose_b */
  IR_CONVOLUTION,   /* weights as an input; before version 10 within the layer */
  IR_GROUPED,       /* weights with a dimension of groups in front */
  IR_DECONVOLUTION, /* the same two, backward */
  IR_GROUPED_BACK,
  IR_POOL,     /* the kernel as "3,3" */
  IR_DENSE,    /* FullyConnected, weights within the layer */
  IR_CELL,     /* one step of a recurrent layer with `cost` gates */
  IR_SEQUENCE, /* all steps: the input is batch, steps, features */
  IR_ATTENTION /* scaled dot products of query, key, value */
} ir_rule;

/* A kind of layer: a row of ir_kinds.csv. */
typedef struct ir_kind {
  const char *type, *onnx; /* onnx: the kind of ONNX that does the same; NULL: of the same name, or none */
  situ_status (*infer)(const struct ir_call *call); /* ir_rules.c; NULL: shapes stay as the file states them */
  ir_rule rule;
  int cost;
} ir_kind;
const ir_kind *ir_kind_of(const char *type);

/* Whether there is a rule for the work of layers of this kind. */
bool ir_is_known(const ir_layer *layer);
/* The work of a layer without bodies whose inputs are linked. */
ops_work ir_count(const ir_layer *layer, arena *a);

#endif
