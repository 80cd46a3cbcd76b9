/* The skim: protobuf's wire form (varints, lengths, fixed words), walked by a table of the messages. */
#include "read/onnx_skim.h"

#include <string.h>

#include "base/fail.h"
#include "base/wire.h"

typedef enum message {
  MODEL,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  SPARSE,
  VALUE,
  TYPE,
  TENSOR_TYPE,
  SHAPE,
  DIMENSION,
  FUNCTION,
  OPERATOR_SET,
  ENTRY,
  N_MESSAGES
} message;

/* What to do with a field. */
typedef enum action {
  KEEP,    /* copy as it is */
  ONE,     /* a message, at most once */
  EACH,    /* a message, any number of times */
  PAYLOAD, /* copy when all payload of the message together is small */
  LABEL    /* an entry of metadata: copy when its key is one that situ reads */
} action;

enum { VARINT = WIRE_VARINT, WORD64 = WIRE_WORD64, BYTES = WIRE_BYTES, WORD32 = WIRE_WORD32 };

typedef struct rule {
  uint8_t number, wires, action, inner;
} rule;

typedef struct rules {
  const char *name;
  uint32_t last; /* field of the schema (IR version 13): later ones are not known */
  rule rule[16]; /* ended by number 0 */
} rules;

static const rules table[N_MESSAGES] = {
    [MODEL] =
        {"model",
         26,
         {{1, VARINT, KEEP, 0}, {7, BYTES, ONE, GRAPH}, {8, BYTES, EACH, OPERATOR_SET}, {25, BYTES, EACH, FUNCTION}}},
    [GRAPH] = {"graph",
               16,
               {{1, BYTES, EACH, NODE},
                {2, BYTES, KEEP, 0},
                {5, BYTES, EACH, TENSOR},
                {11, BYTES, EACH, VALUE},
                {12, BYTES, EACH, VALUE},
                {13, BYTES, EACH, VALUE},
                {15, BYTES, EACH, SPARSE}}},
    [NODE] = {"node",
              10,
              {{1, BYTES, KEEP, 0},
               {2, BYTES, KEEP, 0},
               {3, BYTES, KEEP, 0},
               {4, BYTES, KEEP, 0},
               {5, BYTES, EACH, ATTRIBUTE},
               {7, BYTES, KEEP, 0},
               {8, BYTES, KEEP, 0},
               {9, BYTES, LABEL, ENTRY}}},
    [ATTRIBUTE] = {"attribute",
                   23,
                   {{1, BYTES, KEEP, 0},
                    {2, WORD32, KEEP, 0},
                    {3, VARINT, KEEP, 0},
                    {4, BYTES, PAYLOAD, 0},
                    {5, BYTES, ONE, TENSOR},
                    {6, BYTES, ONE, GRAPH},
                    {7, WORD32 | BYTES, PAYLOAD, 0},
                    {8, VARINT | BYTES, PAYLOAD, 0},
                    {9, BYTES, PAYLOAD, 0},
                    {11, BYTES, EACH, GRAPH},
                    {20, VARINT, KEEP, 0},
                    {21, BYTES, KEEP, 0},
                    {22, BYTES, ONE, SPARSE}}},
    [TENSOR] = {"tensor",
                16,
                {{1, VARINT | BYTES, KEEP, 0},
                 {2, VARINT, KEEP, 0},
                 {4, WORD32 | BYTES, PAYLOAD, 0},
                 {5, VARINT | BYTES, PAYLOAD, 0},
                 {7, VARINT | BYTES, PAYLOAD, 0},
                 {8, BYTES, KEEP, 0},
                 {9, BYTES, PAYLOAD, 0},
                 {10, WORD64 | BYTES, PAYLOAD, 0},
                 {11, VARINT | BYTES, PAYLOAD, 0},
                 {13, BYTES, EACH, ENTRY},
                 {14, VARINT, KEEP, 0}}},
    [SPARSE] = {"sparse tensor", 3, {{1, BYTES, ONE, TENSOR}, {2, BYTES, ONE, TENSOR}, {3, VARINT | BYTES, KEEP, 0}}},
    [VALUE] = {"value", 4, {{1, BYTES, KEEP, 0}, {2, BYTES, ONE, TYPE}}},
    [TYPE] = {"type", 9, {{1, BYTES, ONE, TENSOR_TYPE}}},
    [TENSOR_TYPE] = {"tensor type", 2, {{1, VARINT, KEEP, 0}, {2, BYTES, ONE, SHAPE}}},
    [SHAPE] = {"shape", 1, {{1, BYTES, EACH, DIMENSION}}},
    [DIMENSION] = {"dimension", 3, {{1, VARINT, KEEP, 0}, {2, BYTES, KEEP, 0}}},
    [FUNCTION] = {"function",
                  14,
                  {{1, BYTES, KEEP, 0},
                   {4, BYTES, KEEP, 0},
                   {5, BYTES, KEEP, 0},
                   {7, BYTES, EACH, NODE},
                   {9, BYTES, EACH, OPERATOR_SET},
                   {10, BYTES, KEEP, 0},
                   {11, BYTES, EACH, ATTRIBUTE},
                   {12, BYTES, EACH, VALUE},
                   {13, BYTES, KEEP, 0}}},
    [OPERATOR_SET] = {"operator set", 2, {{1, BYTES, KEEP, 0}, {2, VARINT, KEEP, 0}}},
    [ENTRY] = {"entry", 2, {{1, BYTES, KEEP, 0}, {2, BYTES, KEEP, 0}}},
};

enum { LABEL_BYTES = 32 }; /* more than any label has */
static const char *const labels[] = {"layer_ann", "pkg.torch.onnx.name_scopes", "namespace"};

typedef struct skimming {
  const read_source *source;
  text_buffer *out;
  onnx_newer *newer;
  situ_error *error;
} skimming;

/* The next field; NULL, or what is wrong with it. */
static const char *next_field(const read_source *source, wire_span *s, wire_field *f) {
  size_t left = (size_t)(s->end - s->at);
  read_need(source, s->at, left < WIRE_HEAD_BYTES ? left : WIRE_HEAD_BYTES);
  return wire_next(s, f);
}

static situ_status fail_here(const skimming *k, const unsigned char *at, message m, const char *what) {
  return fail_with(k->error, SITU_STATUS_BAD_INPUT, k->source->path,
                   "is not a valid ONNX file: at byte %zu, in a %s, %s", (size_t)(at - k->source->bytes), table[m].name,
                   what);
}

static const rule *find_rule(message m, uint32_t number) {
  for (const rule *r = table[m].rule; r->number; r++)
    if (r->number == number) return r;
  return NULL;
}

static bool is_label(const read_source *source, wire_span entry) {
  wire_field f;
  while (entry.at < entry.end && !next_field(source, &entry, &f)) {
    if (f.number != 1 || f.wire != BYTES) continue;
    size_t n = (size_t)(f.value.end - f.value.at);
    if (n <= LABEL_BYTES) read_need(source, f.value.at, n);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
      if (strlen(labels[i]) == n && memcmp(labels[i], f.value.at, n) == 0) return true;
  }
  return false;
}

/* Measures the payload of a tensor or attribute, writes it as a number, and says whether to keep the payload too. */
static bool keep_payload(const skimming *k, message m, wire_span s) {
  enum { RAW_DATA = 9, DATA_TYPE = 2, INT32 = 6, INT64 = 7, BOOL = 9 };
  if (m != TENSOR && m != ATTRIBUTE) return false;
  uint64_t payload = 0, raw = 0, type = 0;
  wire_field f;
  while (s.at < s.end && !next_field(k->source, &s, &f)) {
    const rule *r = find_rule(m, f.number);
    uint64_t n = (uint64_t)(f.value.end - f.value.at);
    if (r && r->action == PAYLOAD) payload += n;
    if (m == TENSOR && f.number == RAW_DATA && f.wire == BYTES) raw = n;
    if (m == TENSOR && f.number == DATA_TYPE && f.wire == VARINT) type = f.varint;
  }
  bool whole = m == ATTRIBUTE || type == INT32 || type == INT64 || type == BOOL;
  bool keep = payload <= (whole ? ONNX_KEPT_WHOLE_BYTES : ONNX_KEPT_OTHER_BYTES);
  if (payload > 0 && (m == TENSOR || !keep)) wire_add_number(k->out, 1000, payload);
  if (raw > 0) wire_add_number(k->out, 1001, raw);
  return keep;
}

static situ_status skim_message(const skimming *k, message m, wire_span s, int depth);

/* A message within a message. Its length is written in five bytes, the last ones padding, since it is known late. */
static situ_status skim_inner(const skimming *k, const wire_field *f, message inner, int depth) {
  wire_add_varint(k->out, (uint64_t)f->number << 3 | 2);
  size_t at = k->out->length;
  text_add_bytes(k->out, "\0\0\0\0\0", 5);
  TRY(skim_message(k, inner, f->value, depth));
  if (k->out->failed) return fail_no_memory(k->error);
  size_t length = k->out->length - at - 5;
  if (length > INT32_MAX)
    return fail_with(k->error, SITU_STATUS_UNSUPPORTED, k->source->path,
                     "has a %s of more than 2 GB without its weights", table[inner].name);
  for (int i = 0; i < 5; i++) k->out->bytes[at + (size_t)i] = (char)((length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  return SITU_STATUS_OK;
}

static situ_status skim_message(const skimming *k, message m, wire_span s, int depth) {
  if (m == GRAPH && ++depth > ONNX_MAX_NESTING + 1)
    return fail_with(k->error, SITU_STATUS_BAD_INPUT, k->source->path, "nests sub-graphs more than %d deep",
                     ONNX_MAX_NESTING);
  bool keep = keep_payload(k, m, s);
  uint32_t seen = 0;
  while (s.at < s.end) {
    wire_field f;
    const char *wrong = next_field(k->source, &s, &f);
    if (wrong) return fail_here(k, f.start, m, wrong);
    const rule *r = find_rule(m, f.number);
    if (!r && f.number > table[m].last && !k->newer->message)
      *k->newer = (onnx_newer){.message = table[m].name, .field = f.number};
    if (!r) continue;
    if (!(r->wires & f.wire)) return fail_here(k, f.start, m, "a field has the wrong wire type");
    bool copy = r->action == KEEP || (r->action == PAYLOAD && keep);
    bool inner = r->action == ONE || r->action == EACH || (r->action == LABEL && is_label(k->source, f.value));
    if (r->action == ONE && (seen >> f.number & 1))
      return fail_here(k, f.start, m, "a field that is single comes twice");
    if (r->action == ONE) seen |= (uint32_t)1 << f.number;
    size_t n = (size_t)(f.value.end - f.start);
    if (copy) read_need(k->source, f.start, n);
    bool is_text = r->action == KEEP && r->wires == BYTES; /* all such fields are strings of the schema */
    if (is_text && memchr(f.value.at, '\0', (size_t)(f.value.end - f.value.at)))
      return fail_here(k, f.start, m, "a text holds a zero byte");
    if (copy) text_add_bytes(k->out, (const char *)f.start, n);
    if (inner) TRY(skim_inner(k, &f, (message)r->inner, depth));
  }
  return SITU_STATUS_OK;
}

situ_status onnx_skim(text_buffer *out, onnx_newer *newer, const read_source *source, situ_error *error) {
  skimming k = {.source = source, .out = out, .newer = newer, .error = error};
  *newer = (onnx_newer){0};
  TRY(skim_message(&k, MODEL, (wire_span){source->bytes, source->bytes + source->size_bytes}, 0));
  if (out->failed) return fail_no_memory(error);
  return SITU_STATUS_OK;
}

int onnx_skim_recognise(const read_source *source) {
  enum { LAST_FIELD = 40, FIELDS_LOOKED_AT = 64, LAST_IR = 255 };
  wire_span s = {source->bytes, source->bytes + source->size_bytes};
  bool version = false, graph = false;
  wire_field f = {0};
  for (int i = 0; i < FIELDS_LOOKED_AT && s.at < s.end; i++) {
    if (next_field(source, &s, &f)) return version ? 1 : 0;
    if (f.number > LAST_FIELD) return 0;
    if (f.number == 1 && (f.wire != VARINT || f.varint < 1 || f.varint > LAST_IR)) return 0;
    version |= f.number == 1;
    graph |= f.number == 7 && f.wire == BYTES;
    if (version && graph) return 2;
  }
  return version && source->size_bytes > 2 ? 1 : 0;
}
