/* base/wire.h - the wire form of protocol buffers: a message is a run of fields, each a number, a wire type and a value
 * (protobuf.dev, "Encoding"). Reading copies nothing and trusts nothing. */
#ifndef SITU_BASE_WIRE_H
#define SITU_BASE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { WIRE_VARINT = 1 << 0, WIRE_WORD64 = 1 << 1, WIRE_BYTES = 1 << 2, WIRE_WORD32 = 1 << 5 };
enum { WIRE_HEAD_BYTES = 20 }; /* at most: two varints, of tag and value or length */

typedef struct wire_span {
  const unsigned char *at, *end;
} wire_span;

typedef struct wire_field {
  uint32_t number;
  int wire;
  uint64_t varint;            /* of WIRE_VARINT */
  const unsigned char *start; /* of the tag */
  wire_span value;            /* without tag and length */
} wire_field;

/* Removes the next field from the front of a non-empty span. Returns NULL, or a description of what is wrong. */
const char *wire_next(wire_span *s, wire_field *f);

/* Adds a varint; a number as a field; bytes as a field. */
void wire_add_varint(text_buffer *out, uint64_t value);
void wire_add_number(text_buffer *out, uint32_t number, uint64_t value);
void wire_add_bytes(text_buffer *out, uint32_t number, const void *bytes, size_t n);

#endif
